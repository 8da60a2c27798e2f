-- The five transactions that have held back readers of new rows the longest, if for more than five seconds
-- label datname: database
-- label pid: process; empty for a prepared transaction
-- label gid: identifier of a prepared transaction; otherwise empty
-- label usename: role that runs or has prepared the transaction
-- label application_name: application of the session
-- label kind: kind of the generator's IDs
-- label generator: name of the first generator that it has drawn from; empty for a default one
-- gauge held_seconds: time for which the transaction has held back the generator's watermark
SELECT pg_catalog.current_database()::pg_catalog.text AS datname,
    COALESCE(h.pid::pg_catalog.text, '') AS pid, COALESCE(h.gid, '') AS gid,
    COALESCE(a.usename, p.owner, '')::pg_catalog.text AS usename,
    COALESCE(a.application_name, '') AS application_name,
    h.kind, COALESCE(h.generator, '') AS generator, h.held_seconds
FROM (
        SELECT DISTINCT ON (w.pid, w.gid) w.pid, w.gid, w.kind, w.generator,
            EXTRACT(epoch FROM pg_catalog.clock_timestamp()
                OPERATOR(pg_catalog.-) CASE WHEN pg_catalog.isfinite(w.lowest) THEN w.lowest ELSE w.since END)
                ::pg_catalog.float8 AS held_seconds
        FROM snowdrift.watermark_holders AS w
        ORDER BY w.pid, w.gid, w.lowest
    ) AS h
    LEFT JOIN pg_catalog.pg_stat_activity AS a ON a.pid OPERATOR(pg_catalog.=) h.pid
    LEFT JOIN pg_catalog.pg_prepared_xacts AS p ON p.gid OPERATOR(pg_catalog.=) h.gid
WHERE h.held_seconds OPERATOR(pg_catalog.>) 5::pg_catalog.float8
ORDER BY h.held_seconds DESC
LIMIT 5
