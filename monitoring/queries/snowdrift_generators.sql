-- Room for generators
-- label datname: database
-- gauge in_use: number of named generators in use, of at most 1000
SELECT pg_catalog.current_database()::pg_catalog.text AS datname,
    pg_catalog.count(g.name) FILTER (WHERE g.waiting IS NOT NULL)::pg_catalog.float8 AS in_use
FROM snowdrift.generators AS g
