-- Watermarks

CREATE FUNCTION snowdrift.read_watermark_holders(OUT pid integer, OUT transaction xid8, OUT kind text, OUT generator text,
        OUT lowest timestamptz)
        RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'snowdrift_read_watermark_holders'
    LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowdrift.read_watermark_holders() IS 'implementation of view snowdrift.watermark_holders';

CREATE VIEW snowdrift.watermark_holders AS
    SELECT h.pid, p.gid, COALESCE(a.xact_start, p.prepared) AS since, h.kind, h.generator, h.lowest, a.query
    FROM snowdrift.read_watermark_holders() AS h
        LEFT JOIN pg_catalog.pg_stat_activity AS a ON a.pid OPERATOR(pg_catalog.=) h.pid
        LEFT JOIN pg_catalog.pg_prepared_xacts AS p ON p.transaction OPERATOR(pg_catalog.=) h.transaction::pg_catalog.xid;
COMMENT ON VIEW snowdrift.watermark_holders
    IS 'transactions in progress that hold back watermarks, with a row for each generator';
COMMENT ON COLUMN snowdrift.watermark_holders.pid IS 'process; null for a prepared transaction';
COMMENT ON COLUMN snowdrift.watermark_holders.gid IS 'identifier of a prepared transaction; otherwise null';
COMMENT ON COLUMN snowdrift.watermark_holders.since IS 'when the transaction began, or was prepared';
COMMENT ON COLUMN snowdrift.watermark_holders.kind IS 'kind of IDs of the generator';
COMMENT ON COLUMN snowdrift.watermark_holders.generator IS 'name of the generator; null for a default one';
COMMENT ON COLUMN snowdrift.watermark_holders.lowest IS 'lower bound of the times of the transaction''s IDs; -infinity if unknown';
COMMENT ON COLUMN snowdrift.watermark_holders.query IS 'last query of the process';
GRANT SELECT ON snowdrift.watermark_holders TO PUBLIC;

CREATE FUNCTION snowdrift.hold_row() RETURNS trigger
    AS 'MODULE_PATHNAME', 'snowdrift_hold_row'
    LANGUAGE C;
COMMENT ON FUNCTION snowdrift.hold_row()
    IS 'trigger of snowdrift.watch: hold back the watermark at the row''s ID, or raise an error if readers may have passed it';

CREATE FUNCTION snowdrift.watch("table" regclass, "column" name) RETURNS void
    AS 'MODULE_PATHNAME', 'snowdrift_watch'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION snowdrift.watch(regclass, name)
    IS 'create trigger that holds back the watermark at IDs that were not drawn in the inserting transaction, and raises an error for rows that readers may have passed';

CREATE FUNCTION snowdrift.unwatch("table" regclass, "column" name) RETURNS void
    AS 'MODULE_PATHNAME', 'snowdrift_unwatch'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION snowdrift.unwatch(regclass, name)
    IS 'remove the trigger of snowdrift.watch';
