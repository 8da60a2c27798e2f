-- Migration. audit() runs with the caller's privileges, the other functions with those of the tables' owner.

CREATE FUNCTION snowdrift.convert_keys(tables regclass[], generator text DEFAULT NULL,
        dry_run boolean DEFAULT false) RETURNS SETOF text
    AS 'MODULE_PATHNAME', 'snowdrift_convert_keys'
    LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowdrift.convert_keys(regclass[], text, boolean)
    IS 'make Snowflake IDs the default of the serial and identity columns of primary keys, and return the statements; a dry run only returns them';

CREATE FUNCTION snowdrift.convert_column("table" regclass, "column" name, generator text DEFAULT NULL,
        dry_run boolean DEFAULT false) RETURNS SETOF text
    AS 'MODULE_PATHNAME', 'snowdrift_convert_column'
    LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowdrift.convert_column(regclass, name, text, boolean)
    IS 'make Snowflake IDs the default of a serial or identity key, and return the statements; a dry run only returns them';
