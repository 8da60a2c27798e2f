-- UUIDs of version 7: their order, and their random bits, which only the extension takes apart
SET TIME ZONE 'UTC';

-- in successive transactions: ascending
SELECT next_uuidv7() AS first \gset
SELECT next_uuidv7() AS second \gset
SELECT :'first'::uuid < :'second'::uuid AS ascending;
SELECT last_timestamp = uuidv7_timestamp(:'second') AS shown, waiting, overflow_episodes, regressions
FROM snowdrift.generators WHERE kind = 'uuidv7';

-- decoding: the example of RFC 9562, appendix A.6
SELECT uuidv7_timestamp(id), uuidv7_randomness(id), make_uuidv7(uuidv7_timestamp(id), uuidv7_randomness(id)) = id AS same
FROM (VALUES ('017F22E2-79B0-7CC3-98C4-DC0C0C07398F'::uuid)) AS example(id);
\pset format unaligned
SELECT uuidv7_diagram('017F22E2-79B0-7CC3-98C4-DC0C0C07398F');
\pset format aligned
-- null for UUIDs of other versions and variants
SELECT uuidv7_randomness(id), uuidv7_diagram(id)
FROM (VALUES ('00000000-0000-0000-0000-000000000000'::uuid), ('919108f7-52d1-4320-9bac-f847db4148a8'),
    ('017f22e2-79b0-7cc3-78c4-dc0c0c07398f'), ('017f22e2-79b0-7cc3-c8c4-dc0c0c07398f')) AS others(id);

-- composing from the parts of other UUIDs, also of those that core generates in PostgreSQL 18 and later
CREATE TABLE ids AS SELECT next_uuidv7() AS id
UNION ALL SELECT uuidv7_at('1970-01-01Z'::timestamptz + n * interval '80 days 1.001 s') FROM generate_series(0, 10000) AS n;
SELECT count(*), bool_and(make_uuidv7(uuidv7_timestamp(id), uuidv7_randomness(id)) = id) AS back FROM ids;
DROP TABLE ids;
SELECT current_setting('server_version_num')::int >= 180000 AS has_core \gset
\set same t
\if :has_core
SELECT bool_and(make_uuidv7(uuid_extract_timestamp(id), uuidv7_randomness(id)) = id) AS same
FROM (SELECT uuidv7() AS id FROM generate_series(1, 1000)) AS core \gset
\endif
SELECT :'same' AS same;
SELECT make_uuidv7('2024-02-29 12:34:56.789999Z', '\x00010203040506070809'),
    make_uuidv7('1970-01-01Z', '\x03ffffffffffffffffff'), make_uuidv7('1970-01-01Z', '\x00000000000000000000');
SELECT bool_and(uuidv7_boundary(t) <= make_uuidv7(t, '\x00000000000000000000')
    AND make_uuidv7(t, '\x03ffffffffffffffffff') < uuidv7_boundary(t + interval '1 ms')) AS split
FROM generate_series('2026-01-01Z'::timestamptz, '2026-01-02Z', '7 minutes 1.234 s') AS t;
SELECT uuidv7_randomness(NULL), uuidv7_diagram(NULL), make_uuidv7(NULL, '\x'), make_uuidv7(now(), NULL);

\pset format unaligned
\pset tuples_only on
SELECT error_of($$SELECT make_uuidv7('-infinity', '\x00000000000000000000')$$);
SELECT error_of($$SELECT make_uuidv7('2024-01-01Z', '\x000102030405060708')$$);
SELECT error_of($$SELECT make_uuidv7('2024-01-01Z', '\x0001020304050607080900')$$);
SELECT error_of($$SELECT make_uuidv7('2024-01-01Z', '\x04000000000000000000')$$);
\pset format aligned
\pset tuples_only off
