-- The used part of each generator's sequence; no row while its IDs are ahead of the clock, and for ULIDs and UUIDs, which
-- have no sequence
-- label datname: database
-- label kind: kind of the generator's IDs
-- label generator: name of the generator; empty for a default one
-- gauge used_ratio: share of the sequence numbers of the clock's time unit that is used now; on average, half of what the unit will use
SELECT pg_catalog.current_database()::pg_catalog.text AS datname, g.kind, COALESCE(g.name, '') AS generator,
    COALESCE(g.sequence_used, 0)::pg_catalog.float8 AS used_ratio
FROM snowdrift.generators AS g
WHERE (g.kind OPERATOR(pg_catalog.=) 'snowflake' OR g.kind OPERATOR(pg_catalog.=) 'sno') AND (g.sequence_used IS NOT NULL OR g.last_timestamp IS NULL)
