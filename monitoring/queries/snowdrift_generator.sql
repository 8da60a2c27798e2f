-- The state of each generator
-- label datname: database
-- label kind: kind of the generator's IDs
-- label generator: name of the generator; empty for a default one
-- gauge lead_seconds: how far the last ID is ahead of the clock
-- gauge overflow_seconds: duration of the current overflow episode; 0 if there is none
-- counter overflow_episodes_total: number of overflow episodes since the server started
-- gauge end_timestamp_seconds: time of the last ID that the format can represent
SELECT pg_catalog.current_database()::pg_catalog.text AS datname, g.kind, COALESCE(g.name, '') AS generator,
    COALESCE(EXTRACT(epoch FROM g.lead), 0)::pg_catalog.float8 AS lead_seconds,
    COALESCE(EXTRACT(epoch FROM g.overflow_duration), 0)::pg_catalog.float8 AS overflow_seconds,
    COALESCE(g.overflow_episodes, 0)::pg_catalog.float8 AS overflow_episodes_total,
    EXTRACT(epoch FROM g.ends)::pg_catalog.float8 AS end_timestamp_seconds
FROM snowdrift.generators AS g
