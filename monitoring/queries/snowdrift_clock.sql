-- The mark, and the calls that wait until it is durable
-- label datname: database
-- gauge lead_seconds: how far the mark is ahead of the clock
-- gauge waiting_calls: number of calls that wait for the disk, or for a synchronous standby, until the mark is durable
-- gauge can_advance: 0 if the mark cannot be advanced, for example because the disk is full; otherwise 1
SELECT pg_catalog.current_database()::pg_catalog.text AS datname,
    EXTRACT(epoch FROM c.lead)::pg_catalog.float8 AS lead_seconds,
    c.waiting::pg_catalog.float8 AS waiting_calls,
    (c.detail IS NULL)::pg_catalog.int4::pg_catalog.float8 AS can_advance
FROM snowdrift.clock AS c
