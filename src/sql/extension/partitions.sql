-- Partitions. These functions run with the caller's privileges.

CREATE FUNCTION snowdrift.create_partitions(parent regclass, step interval, first timestamptz DEFAULT NULL,
        last timestamptz DEFAULT NULL, layout @extschema@.snowflake_layout DEFAULT NULL) RETURNS SETOF regclass
    AS 'MODULE_PATHNAME', 'snowdrift_create_partitions'
    LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowdrift.create_partitions(regclass, interval, timestamptz, timestamptz,
        @extschema@.snowflake_layout)
    IS 'create missing partitions, from the one that contains first to the one that contains last, and return them; by default, from now() to three steps later';

CREATE FUNCTION snowdrift.partitions(parent regclass, layout @extschema@.snowflake_layout DEFAULT NULL,
        OUT partition regclass, OUT times tstzrange) RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'snowdrift_partitions'
    LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.partitions(regclass, @extschema@.snowflake_layout)
    IS 'partitions of a table, each with the times of its IDs; times are null for a default partition and if a bound is not an ID';

-- The functions have different names, because a call with an untyped literal could not choose between overloads.
CREATE FUNCTION snowdrift.drop_partitions(parent regclass, older_than interval,
        layout @extschema@.snowflake_layout DEFAULT NULL, dry_run boolean DEFAULT false,
        OUT partition text, OUT times tstzrange) RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'snowdrift_drop_partitions_by_age'
    LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowdrift.drop_partitions(regclass, interval, @extschema@.snowflake_layout, boolean)
    IS 'drop partitions whose IDs are all older than an age, and return them; a dry run only returns them';

CREATE FUNCTION snowdrift.drop_partitions_before(parent regclass, "timestamp" timestamptz,
        layout @extschema@.snowflake_layout DEFAULT NULL, dry_run boolean DEFAULT false,
        OUT partition text, OUT times tstzrange) RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'snowdrift_drop_partitions_before'
    LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowdrift.drop_partitions_before(regclass, timestamptz, @extschema@.snowflake_layout, boolean)
    IS 'drop partitions whose IDs are all older than a time, and return them; a dry run only returns them';
