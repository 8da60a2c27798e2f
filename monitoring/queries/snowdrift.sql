-- The server's number in Snowflake and sno IDs; no row if it has none
-- label datname: database
-- label source: setting snowdrift.node
-- gauge node_number: number of the server in its IDs
SELECT pg_catalog.current_database()::pg_catalog.text AS datname, n.source,
    n.number::pg_catalog.float8 AS node_number
FROM snowdrift.node AS n
WHERE n.number IS NOT NULL
