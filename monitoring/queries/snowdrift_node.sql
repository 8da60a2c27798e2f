-- Whether the server has a number, and whether it needs one
-- label datname: database
-- label source: setting snowdrift.node
-- label detail: where the number comes from, or why there is none
-- gauge has_number: 1 if the server has a number for its IDs; otherwise 0
-- gauge needs_number: 1 if snowdrift.node is auto, but the database may take part in logical replication; otherwise 0
SELECT pg_catalog.current_database()::pg_catalog.text AS datname, n.source, n.detail,
    (n.number IS NOT NULL)::pg_catalog.int4::pg_catalog.float8 AS has_number,
    (n.source OPERATOR(pg_catalog.=) 'auto' AND pg_catalog.to_regclass('pg_catalog.pg_dist_node') IS NULL AND (
        EXISTS (SELECT FROM pg_catalog.pg_replication_slots AS s
            WHERE s.slot_type OPERATOR(pg_catalog.=) 'logical' AND s.database OPERATOR(pg_catalog.=) pg_catalog.current_database())
        OR EXISTS (SELECT FROM pg_catalog.pg_publication)
        OR EXISTS (SELECT FROM pg_catalog.pg_subscription AS s
            JOIN pg_catalog.pg_database AS d ON d.oid OPERATOR(pg_catalog.=) s.subdbid AND d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database())
        OR EXISTS (SELECT FROM pg_catalog.pg_replication_origin AS o
            WHERE NOT pg_catalog.starts_with(o.roname, 'pg_'))
    ))::pg_catalog.int4::pg_catalog.float8 AS needs_number
FROM snowdrift.node AS n
