-- The IDs of past times that snowflake_at() has returned. A row states that a generator has used the sequence numbers
-- of a unit up to a number; the row with the greatest number applies. The library adds rows without triggers, and
-- removes rows with lower numbers and the rows of dropped generators.
CREATE TABLE snowdrift_tables.backfill (
    generator integer NOT NULL,
    sequence integer NOT NULL,
    unit bigint NOT NULL
) USING heap;
COMMENT ON TABLE snowdrift_tables.backfill
    IS 'sequence numbers in the IDs that snowflake_at has returned; do not change by hand';
COMMENT ON COLUMN snowdrift_tables.backfill.generator IS 'id of generator; 0 for the default one';
COMMENT ON COLUMN snowdrift_tables.backfill.sequence IS 'sequence number up to which the time unit is used up';
COMMENT ON COLUMN snowdrift_tables.backfill.unit IS 'time unit, counted from the epoch of the layout';
CREATE INDEX backfill_used ON snowdrift_tables.backfill USING btree (generator, unit, sequence);
COMMENT ON INDEX snowdrift_tables.backfill_used IS 'finds the greatest sequence number of a time unit';
GRANT SELECT, INSERT ON TABLE snowdrift_tables.backfill TO @extowner@;
SELECT pg_catalog.pg_extension_config_dump('snowdrift_tables.backfill'::pg_catalog.regclass, '');

-- Logical replication does not apply the records of another server.
CREATE FUNCTION snowdrift_tables.guard_backfill() RETURNS trigger
    AS 'MODULE_PATHNAME', 'snowdrift_guard_backfill'
    LANGUAGE C;
REVOKE ALL ON FUNCTION snowdrift_tables.guard_backfill() FROM PUBLIC;
COMMENT ON FUNCTION snowdrift_tables.guard_backfill() IS 'refuse changes; skip rows of another server';
CREATE TRIGGER guard_backfill
    BEFORE INSERT OR UPDATE OR DELETE ON snowdrift_tables.backfill
    FOR EACH ROW EXECUTE FUNCTION snowdrift_tables.guard_backfill();
ALTER TABLE snowdrift_tables.backfill ENABLE ALWAYS TRIGGER guard_backfill;
COMMENT ON TRIGGER guard_backfill ON snowdrift_tables.backfill IS 'refuse changes; skip rows of another server';
CREATE TRIGGER refuse_truncate
    BEFORE TRUNCATE ON snowdrift_tables.backfill
    FOR EACH STATEMENT EXECUTE FUNCTION snowdrift_tables.refuse_truncate();
ALTER TABLE snowdrift_tables.backfill ENABLE ALWAYS TRIGGER refuse_truncate;
COMMENT ON TRIGGER refuse_truncate ON snowdrift_tables.backfill
    IS 'raise an error, because logical replication would remove records of other servers';

CREATE FUNCTION @extschema@.snowflake_at("timestamp" timestamptz) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowdrift_snowflake_at'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.snowflake_at(timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION @extschema@.snowflake_at(timestamptz) TO @extowner@ WITH GRANT OPTION;
COMMENT ON FUNCTION @extschema@.snowflake_at(timestamptz)
    IS 'generate Snowflake ID for a time before the extension was installed, for back-filling tables';

CREATE FUNCTION @extschema@.snowflake_at("timestamp" timestamptz, generator text) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowdrift_snowflake_at_of'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.snowflake_at(timestamptz, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION @extschema@.snowflake_at(timestamptz, text) TO @extowner@ WITH GRANT OPTION;
COMMENT ON FUNCTION @extschema@.snowflake_at(timestamptz, text)
    IS 'generate Snowflake ID from named generator for a time before its creation, for back-filling tables';

CREATE FUNCTION @extschema@.snowflake_watermark(generator text) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowdrift_snowflake_watermark_of'
    LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION @extschema@.snowflake_watermark(text)
    IS 'watermark of named generator: all transactions that have drawn lower Snowflake IDs from it have ended';

CREATE FUNCTION @extschema@.next_snowflake(generator text) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowdrift_next_snowflake_of'
    LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION @extschema@.next_snowflake(text)
    IS 'generate new Snowflake ID from named generator';

CREATE FUNCTION @extschema@.next_snowflakes(n integer, generator text) RETURNS SETOF bigint
    AS 'MODULE_PATHNAME', 'snowdrift_next_snowflakes_of'
    LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION @extschema@.next_snowflakes(integer, text)
    IS 'generate n new Snowflake IDs from named generator, in ascending order';

CREATE FUNCTION @extschema@.next_sno(generator text, metabyte integer DEFAULT 0)
        RETURNS @extschema@.sno
    AS 'MODULE_PATHNAME', 'snowdrift_next_sno_of'
    LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION @extschema@.next_sno(text, integer) IS 'generate new sno from named generator';

CREATE FUNCTION @extschema@.sno_at("timestamp" timestamptz, metabyte integer, generator text)
        RETURNS @extschema@.sno
    AS 'MODULE_PATHNAME', 'snowdrift_sno_at_of'
    LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION @extschema@.sno_at(timestamptz, integer, text)
    IS 'generate sno for given time from named generator; for migrating older IDs';
