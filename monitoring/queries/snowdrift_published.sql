-- Watermarks that were published for hot standbys: none if snowdrift.publish_watermarks() was never called
-- label datname: database
-- gauge age_seconds: time since the oldest of them was published
SELECT pg_catalog.current_database()::pg_catalog.text AS datname,
    EXTRACT(epoch FROM pg_catalog.clock_timestamp() OPERATOR(pg_catalog.-) pg_catalog.min(p.published_at))::pg_catalog.float8
        AS age_seconds
FROM snowdrift.published_watermarks AS p
HAVING pg_catalog.min(p.published_at) IS NOT NULL
