-- Steps of the clock back behind a generator's last ID
-- label datname: database
-- label kind: kind of the generator's IDs
-- label generator: name of the generator; empty for a default one
-- counter total: how often the clock was set back behind the last ID since the server started
SELECT pg_catalog.current_database()::pg_catalog.text AS datname, g.kind, COALESCE(g.name, '') AS generator,
    COALESCE(g.regressions, 0)::pg_catalog.float8 AS total
FROM snowdrift.generators AS g
WHERE (g.kind OPERATOR(pg_catalog.=) 'snowflake' OR g.kind OPERATOR(pg_catalog.=) 'sno')
