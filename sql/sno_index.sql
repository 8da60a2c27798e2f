-- Snos in indexes, sorts and joins
SET TIME ZONE 'UTC';

-- one ID per minute, in ascending order
CREATE TABLE events AS
SELECT n, make_sno('2024-01-01Z'::timestamptz + n * interval '1 minute', n % 256, 7, n) AS id
FROM generate_series(1, 20000) AS n;
SET enable_seqscan = off;
SET max_parallel_workers_per_gather = 0;
\set day 'SELECT count(*), min(n), max(n) FROM events WHERE id >= sno_boundary(\'2024-01-07Z\') AND id < sno_boundary(\'2024-01-08Z\')'
\set one 'SELECT n FROM events WHERE id = (SELECT id FROM events WHERE n = 4711)'

-- btree: ranges, single values, both directions, and min and max without a scan
CREATE UNIQUE INDEX events_btree ON events (id);
VACUUM ANALYZE events;
SET enable_bitmapscan = off;
SELECT plan_of(:'day');
:day;
:one;
SELECT plan_of('SELECT id FROM events ORDER BY id DESC LIMIT 1');
SELECT plan_of('SELECT min(id), max(id) FROM events');
SELECT min(id), max(id), min(n), max(n) FROM events;

-- the planner estimates the rows of a range
CREATE FUNCTION estimate(query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    RETURN plan #>> '{0,Plan,Plan Rows}';
END $$;
SELECT estimate($$SELECT FROM events WHERE id = 'cg89x7njekxjp7vt'$$) = 1 AS one,
    estimate($$SELECT FROM events WHERE id < 'xxxxxxxxxxxxxxxx'$$) > 19000 AS all,
    estimate($$SELECT FROM events WHERE id > 'xxxxxxxxxxxxxxxx'$$) < 1000 AS none;
DROP FUNCTION estimate;

-- joins
SET enable_nestloop = off;
SET enable_hashjoin = off;
SELECT plan_of('SELECT FROM events AS a FULL JOIN events AS b USING (id)');
SELECT count(*), bool_and(a.n = b.n) FROM events AS a FULL JOIN events AS b USING (id);
DROP INDEX events_btree;
RESET enable_hashjoin;
SET enable_mergejoin = off;
SELECT plan_of('SELECT FROM events AS a FULL JOIN events AS b USING (id)');
SELECT count(*), bool_and(a.n = b.n) FROM events AS a FULL JOIN events AS b USING (id);
RESET enable_mergejoin;
RESET enable_nestloop;

-- hash
CREATE INDEX events_hash ON events USING hash (id);
SELECT plan_of($$SELECT n FROM events WHERE id = 'cg89x7njekxjp7vt'$$);
:one;
SELECT count(*) FROM events WHERE id = sno_nil();
DROP INDEX events_hash;
SELECT bool_and(sno_hash(id)::bit(32) = sno_hash_extended(id, 0)::bit(32)) AS hashes_agree,
    bool_and(sno_hash_extended(id, 0) <> sno_hash_extended(id, 1)) AS seeded,
    count(DISTINCT sno_hash(id)) > 19900 AS distinct
FROM events;

-- BRIN, with each operator class
RESET enable_bitmapscan;
CREATE INDEX events_minmax ON events USING brin (id) WITH (pages_per_range = 4);
SELECT plan_of(:'day');
:day;
DROP INDEX events_minmax;
CREATE INDEX events_multi ON events
    USING brin (id sno_minmax_multi_ops (values_per_range = 16)) WITH (pages_per_range = 16);
SELECT plan_of(:'day');
:day;
DROP INDEX events_multi;
CREATE INDEX events_bloom ON events USING brin (id sno_bloom_ops) WITH (pages_per_range = 4);
SELECT plan_of($$SELECT n FROM events WHERE id = 'cg89x7njekxjp7vt'$$);
:one;
SELECT count(*) FROM events WHERE id = sno_nil();
DROP TABLE events;

-- minmax-multi merges the closest ranges
SELECT sno_distance(sno_nil(), sno_nil()),
    sno_distance(sno_nil(), 'xxxxxxxxxxxxxxxx') = 2 ^ 80 AS all,
    sno_distance('2222222222222222', '222222222222222x'),
    sno_distance('xxxxxxxxxxxxxxxx', 'xxxxxxxxxxxxxxxw'),
    sno_distance('\x0000000000000001ffff'::bytea::sno, '\x00000000000000020000'::bytea::sno);

-- a btree index deduplicates equal values
CREATE TABLE repeated AS
SELECT make_sno('2024-01-01Z', 0, 0, n % 100) AS id FROM generate_series(1, 20000) AS n;
CREATE INDEX repeated_once ON repeated (id);
CREATE INDEX repeated_each ON repeated (id) WITH (deduplicate_items = off);
SELECT pg_relation_size('repeated_once') * 2 < pg_relation_size('repeated_each') AS smaller;
DROP TABLE repeated;

-- sorts: by the first eight bytes, by all bytes if those are equal, and with so many equal values that the sort
-- aborts abbreviation; in memory and on disk
CREATE TABLE unsorted AS
SELECT n, noise(n)::sno AS scattered,
    make_sno('2024-01-01Z', n % 8, 0, get_byte(noise(n), 0) * 256 + get_byte(noise(n), 1)) AS crowded,
    CASE WHEN n % 2 = 0 THEN noise(n)::sno
         ELSE sno_set_sequence(sno_nil(), get_byte(noise(n), 0) * 256 + get_byte(noise(n), 1)) END AS mixed
FROM generate_series(1, 200000) AS n;
CREATE VIEW sorted AS
SELECT count(DISTINCT scattered) AS ids, bool_and(scattered >= lag_scattered) AS scattered,
    count(DISTINCT crowded) AS crowded_ids, bool_and(crowded >= lag_crowded) AS crowded,
    count(DISTINCT mixed) AS mixed_ids, bool_and(mixed <= lag_mixed) AS mixed_descending
FROM (SELECT scattered, lag(scattered) OVER (ORDER BY scattered) AS lag_scattered,
          crowded, lag(crowded) OVER (ORDER BY crowded) AS lag_crowded,
          mixed, lag(mixed) OVER (ORDER BY mixed DESC) AS lag_mixed
      FROM unsorted) AS pairs;
SET work_mem = '64MB';
TABLE sorted;
SET work_mem = '256kB';
TABLE sorted;
RESET work_mem;
DROP VIEW sorted;
DROP TABLE unsorted;
RESET enable_seqscan;
RESET max_parallel_workers_per_gather;
