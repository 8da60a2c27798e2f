-- Uses of the types ulid and sno throughout PostgreSQL
SET TIME ZONE 'UTC';

-- primary and foreign keys, generated columns
CREATE TABLE authors (id ulid PRIMARY KEY, name text);
CREATE TABLE posts (
    id sno PRIMARY KEY,
    author ulid REFERENCES authors ON DELETE CASCADE,
    created_at timestamptz GENERATED ALWAYS AS (sno_timestamp(id)) STORED
);
INSERT INTO authors VALUES ('01AR295ZG3KRC245DAXR3A5NJB', 'ada'), ('01AR295ZG3KRC245DAXR3A5NJC', 'bob');
INSERT INTO posts VALUES ('cg89x7njekxjp7vt', '01ar295zg3krc245daxr3a5njb'),
    ('cg89x7njekxjp7vu', '01AR295ZG3KRC245DAXR3A5NJC');
INSERT INTO authors VALUES ('01AR295ZG3KRC245DAXR3A5NJB', 'eve');
INSERT INTO posts VALUES ('cg89x7njekxjp7vv', ulid_max());
DELETE FROM authors WHERE name = 'bob';
SELECT posts.*, name FROM posts JOIN authors ON author = authors.id;

-- arrays
SELECT '{01AR295ZG3KRC245DAXR3A5NJB,NULL}'::ulid[], ARRAY['cg89x7njekxjp7vt'::sno, sno_nil()];
SELECT name FROM authors WHERE id = ANY ('{01AR295ZG3KRC245DAXR3A5NJB,00000000000000000000000000}');
SELECT array_agg(id ORDER BY id DESC) FROM (VALUES (ulid_nil()), (ulid_max())) AS ids(id);
SELECT ARRAY[sno_nil()] < ARRAY['cg89x7njekxjp7vt'::sno], hash_array(ARRAY[ulid_nil()]) IS NOT NULL AS hashed;
SELECT array_send(ARRAY['cg89x7njekxjp7vt'::sno]) LIKE '%' || 'cg89x7njekxjp7vt'::sno::bytea AS binary;

-- jsonb
SELECT to_jsonb(id), jsonb_build_object('id', id) ->> 'id' = id::text AS same,
    (jsonb_build_object('id', id) ->> 'id')::ulid = id AS back
FROM authors;
SELECT * FROM jsonb_populate_record(NULL::posts, '{"id": "cg89x7njekxjp7vt", "author": null}');
SELECT * FROM jsonb_populate_record(NULL::posts, '{"id": "cg89"}');
DROP TABLE posts, authors;

-- DISTINCT, GROUP BY and set operations, with hashing and with sorting
CREATE TABLE ids AS
SELECT make_ulid('2024-01-01Z', noise(n % 100)) AS u, noise(n % 50)::sno AS s
FROM generate_series(1, 10000) AS n;
ANALYZE ids;
SET enable_sort = off;
SELECT plan_of('SELECT u, count(*) FROM ids GROUP BY u');
SELECT count(*), min(n), max(n) FROM (SELECT count(*) AS n FROM ids GROUP BY u) AS groups;
SELECT count(*), min(n), max(n) FROM (SELECT count(*) AS n FROM ids GROUP BY s) AS groups;
RESET enable_sort;
SET enable_hashagg = off;
SELECT plan_of('SELECT u, count(*) FROM ids GROUP BY u');
SELECT count(*), min(n), max(n) FROM (SELECT count(*) AS n FROM ids GROUP BY u) AS groups;
SELECT count(*), min(n), max(n) FROM (SELECT count(*) AS n FROM ids GROUP BY s) AS groups;
RESET enable_hashagg;
SELECT count(*) FROM (SELECT DISTINCT u, s FROM ids) AS pairs;
SELECT count(*) FROM (SELECT s FROM ids EXCEPT SELECT noise(n)::sno FROM generate_series(0, 9) AS n) AS rest;

-- parallel aggregates return the same as serial ones
SELECT min(u), max(u), min(s), max(s) FROM ids;
SELECT min(u), max(s) FROM ids WHERE false;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT plan_of('SELECT max(u), max(s) FROM ids');
SELECT min(u), max(u), min(s), max(s) FROM ids;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
DROP TABLE ids;

-- partitions by time, one of them partitioned by the hash of another ID
CREATE TABLE events (id ulid, device sno) PARTITION BY RANGE (id);
CREATE TABLE events_2024 PARTITION OF events
    FOR VALUES FROM ('01HK153X000000000000000000') TO ('01JGFJJZ000000000000000000')
    PARTITION BY HASH (device);
CREATE TABLE events_2024_0 PARTITION OF events_2024 FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE events_2024_1 PARTITION OF events_2024 FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE TABLE events_2025 PARTITION OF events
    FOR VALUES FROM ('01JGFJJZ000000000000000000') TO (MAXVALUE);
SELECT ulid_boundary('2024-01-01Z') AS "2024", ulid_boundary('2025-01-01Z') AS "2025";
INSERT INTO events
SELECT make_ulid('2024-01-01Z'::timestamptz + n * interval '10 hours', noise(n)), noise(n)::sno
FROM generate_series(0, 999) AS n;
-- The hash partition of a row depends on the machine's byte order.
SELECT min(ulid_timestamp(id)), max(ulid_timestamp(id)), count(DISTINCT tableoid) AS partitions FROM events_2024;
SELECT min(ulid_timestamp(id)), max(ulid_timestamp(id)) FROM events_2025;
SELECT count(*) BETWEEN 350 AND 530 AS even FROM events_2024 GROUP BY tableoid;
SELECT plan_of($$SELECT FROM events WHERE id >= ulid_boundary('2025-06-01Z')$$);
SELECT plan_of($$SELECT FROM events WHERE id < ulid_boundary('2025-01-01Z')
    AND device = 'cg89x7njekxjp7vt'$$) ~ '^Seq Scan on events_2024_[01]$' AS one_partition;
INSERT INTO events VALUES (ulid_nil(), sno_nil());
DROP TABLE events;

-- converting a uuid column to ulid
CREATE TABLE migrated (id uuid PRIMARY KEY);
INSERT INTO migrated VALUES ('01560492-fe03-9e18-2215-aaee06a2d64b');
ALTER TABLE migrated ALTER id TYPE ulid;
SELECT id FROM migrated WHERE id = '01AR295ZG3KRC245DAXR3A5NJB';
INSERT INTO migrated SELECT '01560492-fe03-9e18-2215-aaee06a2d64c'::uuid;
TABLE migrated;
DROP TABLE migrated;

-- domains, prepared statements, records
CREATE DOMAIN recent AS ulid CHECK (VALUE >= ulid_boundary('2024-01-01Z'));
SELECT '01JGFJJZ000000000000000000'::recent;
SELECT '01AR295ZG3KRC245DAXR3A5NJB'::recent;
DROP DOMAIN recent;
PREPARE one (ulid, sno) AS SELECT $1, $2;
EXECUTE one ('01AR295ZG3KRC245DAXR3A5NJB', 'cg89x7njekxjp7vt');
DEALLOCATE one;
SELECT (ROW(ulid_nil(), sno_nil()) = ROW(ulid_nil(), sno_nil())) AS equal,
    ROW(ulid_nil(), sno_nil()) < ROW(ulid_nil(), 'cg89x7njekxjp7vt'::sno) AS less;
