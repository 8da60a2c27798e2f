-- The mark is the time after which no ID was ever issued. The table has one row, which confirm_node() below
-- inserts, and which generators change in place.
CREATE TABLE snowdrift_tables.mark (
    unix_ms bigint NOT NULL
        CHECK (unix_ms OPERATOR(pg_catalog.>=) '0'::bigint AND unix_ms OPERATOR(pg_catalog.<=) '140737488355327'::bigint),
    system_identifier bigint NOT NULL,
    origin_ms bigint NOT NULL,
    watermark_ms bigint NOT NULL DEFAULT '0'::bigint,
    server_start timestamptz NOT NULL,
    creation_xid xid NOT NULL,
    number integer NOT NULL,
    origin_generators integer NOT NULL,
    writer integer NOT NULL,
    timeline integer NOT NULL,
    citus_group integer NOT NULL,
    structure integer NOT NULL,
    confirmed boolean NOT NULL
) USING heap;
COMMENT ON TABLE snowdrift_tables.mark
    IS 'time after which no ID was ever issued, and server that issued the IDs; do not change by hand';
COMMENT ON COLUMN snowdrift_tables.mark.unix_ms IS 'time in milliseconds since 1970';
COMMENT ON COLUMN snowdrift_tables.mark.system_identifier IS 'system identifier of the server';
COMMENT ON COLUMN snowdrift_tables.mark.origin_ms
    IS 'time from which the default Snowflake generator issues IDs, in milliseconds since 1970';
COMMENT ON COLUMN snowdrift_tables.mark.watermark_ms IS 'time in milliseconds since 1970; no later watermark was returned';
COMMENT ON COLUMN snowdrift_tables.mark.server_start IS 'start time of the server when the row was last written';
COMMENT ON COLUMN snowdrift_tables.mark.creation_xid
    IS 'transaction that created this table; distinguishes a copy of a server from an upgraded server';
COMMENT ON COLUMN snowdrift_tables.mark.number
    IS 'server''s configured number in its last IDs; 0 if none was configured; -1 before the first ID that contains a number';
COMMENT ON COLUMN snowdrift_tables.mark.origin_generators
    IS 'greatest id of the named generators whose origin is not later than origin_ms because of snowdrift.reset_clock; 0 if there are none';
COMMENT ON COLUMN snowdrift_tables.mark.writer
    IS 'writer of the time: 0 for installation, restore or reset; 1 for a generator; 2 for a generator in the transaction that created the file';
COMMENT ON COLUMN snowdrift_tables.mark.timeline
    IS 'timeline of the server''s WAL; distinguishes a promoted clone from its source';
COMMENT ON COLUMN snowdrift_tables.mark.citus_group IS 'server''s group in its Citus cluster; -1 if it is in none';
COMMENT ON COLUMN snowdrift_tables.mark.structure
    IS 'version of the shared memory of the library that has issued IDs since server_start; 0 if none has';
COMMENT ON COLUMN snowdrift_tables.mark.confirmed
    IS 'whether the server may generate Snowflake and sno IDs; false on copy or clone until snowdrift.confirm_node()';
GRANT SELECT, INSERT ON TABLE snowdrift_tables.mark TO @extowner@;
SELECT pg_catalog.pg_extension_config_dump('snowdrift_tables.mark'::pg_catalog.regclass, '');

CREATE FUNCTION snowdrift_tables.restore_mark() RETURNS trigger
    AS 'MODULE_PATHNAME', 'snowdrift_restore_mark'
    LANGUAGE C;
REVOKE ALL ON FUNCTION snowdrift_tables.restore_mark() FROM PUBLIC;
COMMENT ON FUNCTION snowdrift_tables.restore_mark()
    IS 'advance the mark to that of a restored dump; skip rows of another server';
CREATE TRIGGER restore_mark
    BEFORE INSERT ON snowdrift_tables.mark
    FOR EACH ROW EXECUTE FUNCTION snowdrift_tables.restore_mark();
ALTER TABLE snowdrift_tables.mark ENABLE ALWAYS TRIGGER restore_mark;
COMMENT ON TRIGGER restore_mark ON snowdrift_tables.mark
    IS 'advance the mark to that of a restored dump; skip rows of another server';

CREATE FUNCTION snowdrift_tables.refuse_mark_change() RETURNS trigger
    AS 'MODULE_PATHNAME', 'snowdrift_refuse_mark_change'
    LANGUAGE C;
REVOKE ALL ON FUNCTION snowdrift_tables.refuse_mark_change() FROM PUBLIC;
COMMENT ON FUNCTION snowdrift_tables.refuse_mark_change() IS 'raise an error, because changing the mark could repeat IDs';
CREATE TRIGGER refuse_mark_change
    BEFORE UPDATE OR DELETE OR TRUNCATE ON snowdrift_tables.mark
    FOR EACH STATEMENT EXECUTE FUNCTION snowdrift_tables.refuse_mark_change();
ALTER TABLE snowdrift_tables.mark ENABLE ALWAYS TRIGGER refuse_mark_change;
COMMENT ON TRIGGER refuse_mark_change ON snowdrift_tables.mark IS 'raise an error, because changing the mark could repeat IDs';

CREATE FUNCTION snowdrift.read_clock(OUT wall_clock timestamptz, OUT mark timestamptz,
        OUT lead interval, OUT waiting integer, OUT detail text)
    AS 'MODULE_PATHNAME', 'snowdrift_read_clock'
    LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowdrift.read_clock() IS 'implementation of view snowdrift.clock';

CREATE VIEW snowdrift.clock AS SELECT wall_clock, mark, lead, waiting, detail FROM snowdrift.read_clock();
COMMENT ON VIEW snowdrift.clock
    IS 'server''s clock, mark (time after which no ID was ever issued), how far the mark is ahead of the clock, and what delays or prevents its advance';
COMMENT ON COLUMN snowdrift.clock.wall_clock IS 'time of the server''s clock';
COMMENT ON COLUMN snowdrift.clock.mark IS 'time after which no ID was ever issued; null if no ID was';
COMMENT ON COLUMN snowdrift.clock.lead IS 'how far the mark is ahead of the clock';
COMMENT ON COLUMN snowdrift.clock.waiting IS 'number of calls that currently wait until the mark is durable: for the disk or for a synchronous standby';
COMMENT ON COLUMN snowdrift.clock.detail IS 'why the mark cannot be advanced now, such as a full disk; null if nothing prevents it, and on a standby';
GRANT SELECT ON snowdrift.clock TO PUBLIC;

CREATE FUNCTION snowdrift.reset_clock() RETURNS void
    AS 'MODULE_PATHNAME', 'snowdrift_reset_clock'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION snowdrift.reset_clock() FROM PUBLIC;
COMMENT ON FUNCTION snowdrift.reset_clock()
    IS 'restart generation at the current time after the clock had jumped into the future; replace the IDs issued since the jump, because they can be issued again when their times come';
