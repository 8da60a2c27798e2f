-- Calls that wait for the clock
-- label datname: database
-- label kind: kind of the generator's IDs
-- label generator: name of the generator; empty for a default one
-- label reason: sequence if the sequence is used up, clock if the clock is behind
-- gauge calls: number of calls that wait
SELECT pg_catalog.current_database()::pg_catalog.text AS datname, g.kind, COALESCE(g.name, '') AS generator, r.reason,
    CASE WHEN (g.overflow_duration OPERATOR(pg_catalog.>) '0'::pg_catalog.interval) OPERATOR(pg_catalog.=) r.is_overflow THEN g.waiting ELSE 0 END
        ::pg_catalog.float8 AS calls
FROM snowdrift.generators AS g
    CROSS JOIN (VALUES ('sequence'::pg_catalog.text, true), ('clock'::pg_catalog.text, false))
        AS r (reason, is_overflow)
