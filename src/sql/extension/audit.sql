CREATE FUNCTION snowdrift.audit("table" regclass, "column" name,
        layout @extschema@.snowflake_layout DEFAULT NULL, sample real DEFAULT NULL,
        since timestamptz DEFAULT NULL,
        OUT finding text, OUT datacenter integer, OUT worker integer, OUT partition integer, OUT count bigint,
        OUT first_timestamp timestamptz, OUT last_timestamp timestamptz, OUT min text, OUT max text,
        OUT layout @extschema@.snowflake_layout)
        RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'snowdrift_audit'
    LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowdrift.audit(regclass, name, @extschema@.snowflake_layout, real, timestamptz)
    IS 'summary of a column of IDs: a row for the IDs of each node, and rows for values that are too small, later than now, not IDs, or UUIDs of another version; sample is a percentage';
