-- ULIDs and sno values in indexes, sorts and joins
SET TIME ZONE 'UTC';

-- one ID of each type per minute, in ascending order
CREATE TABLE events AS
SELECT n, make_ulid(t, noise(n)) AS ulid, make_sno(t, n % 256, 7, n) AS sno
FROM (SELECT n, '2024-01-01Z'::timestamptz + n * interval '1 minute' AS t FROM generate_series(1, 20000) AS n) AS times;
-- for_each_type(QUERY): the row that the query returns for each type; ID stands for the type, and for the column of this type
CREATE FUNCTION for_each_type(query text) RETURNS TABLE (type text, result text) LANGUAGE plpgsql AS $$
BEGIN
    FOREACH type IN ARRAY ARRAY['ulid', 'sno'] LOOP
        EXECUTE format('SELECT r::text FROM (%s) AS r', replace(query, 'ID', type)) INTO result;
        RETURN NEXT;
    END LOOP;
END $$;
-- plans_of(QUERY): the plan for each type
CREATE FUNCTION plans_of(query text) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT plan_of(replace(query, 'ID', type)) FROM unnest(ARRAY['ulid', 'sno']) AS type $$;
SET enable_seqscan = off;
SET max_parallel_workers_per_gather = 0;
\set day 'SELECT count(*), min(n), max(n) FROM events WHERE ID >= ID_boundary(''2024-01-07Z'') AND ID < ID_boundary(''2024-01-08Z'')'
\set one 'SELECT n FROM events WHERE ID = (SELECT ID FROM events WHERE n = 4711)'
\set none 'SELECT count(*) FROM events WHERE ID = ID_nil()'
\set both 'SELECT count(*), bool_and(a.n = b.n) FROM events AS a FULL JOIN events AS b USING (ID)'

-- btree: ranges, single values, both directions, and min and max without a scan
CREATE UNIQUE INDEX ulid_btree ON events (ulid);
CREATE UNIQUE INDEX sno_btree ON events (sno);
VACUUM ANALYZE events;
SET enable_bitmapscan = off;
SELECT plans_of(:'day');
SELECT * FROM for_each_type(:'day');
SELECT * FROM for_each_type(:'one');
SELECT plans_of('SELECT ID FROM events ORDER BY ID DESC LIMIT 1');
SELECT plans_of('SELECT min(ID), max(ID) FROM events');
SELECT * FROM for_each_type('SELECT min(ID), max(ID), min(n), max(n) FROM events');

-- joins
SET enable_nestloop = off;
SET enable_hashjoin = off;
SELECT plans_of(:'both');
SELECT * FROM for_each_type(:'both');
DROP INDEX ulid_btree, sno_btree;
RESET enable_hashjoin;
SET enable_mergejoin = off;
SELECT plans_of(:'both');
SELECT * FROM for_each_type(:'both');
RESET enable_mergejoin;
RESET enable_nestloop;

-- hash
CREATE INDEX ulid_hash ON events USING hash (ulid);
CREATE INDEX sno_hash ON events USING hash (sno);
SELECT plans_of(:'one');
SELECT * FROM for_each_type(:'one');
SELECT * FROM for_each_type(:'none');
DROP INDEX ulid_hash, sno_hash;
SELECT * FROM for_each_type($$SELECT bool_and(snowdrift.ID_hash(ID)::bit(32) = snowdrift.ID_hash_extended(ID, 0)::bit(32)) AS hashes_agree,
    bool_and(snowdrift.ID_hash_extended(ID, 0) <> snowdrift.ID_hash_extended(ID, 1)) AS seeded, count(DISTINCT snowdrift.ID_hash(ID)) > 19900 AS distinct
    FROM events$$);

-- BRIN, with each operator class
RESET enable_bitmapscan;
CREATE INDEX ulid_minmax ON events USING brin (ulid) WITH (pages_per_range = 4);
CREATE INDEX sno_minmax ON events USING brin (sno) WITH (pages_per_range = 4);
SELECT plans_of(:'day');
SELECT * FROM for_each_type(:'day');
DROP INDEX ulid_minmax, sno_minmax;
CREATE INDEX ulid_multi ON events USING brin (ulid ulid_minmax_multi_ops (values_per_range = 16)) WITH (pages_per_range = 16);
CREATE INDEX sno_multi ON events USING brin (sno sno_minmax_multi_ops (values_per_range = 16)) WITH (pages_per_range = 16);
SELECT plans_of(:'day');
SELECT * FROM for_each_type(:'day');
DROP INDEX ulid_multi, sno_multi;
CREATE INDEX ulid_bloom ON events USING brin (ulid ulid_bloom_ops) WITH (pages_per_range = 4);
CREATE INDEX sno_bloom ON events USING brin (sno sno_bloom_ops) WITH (pages_per_range = 4);
SELECT plans_of(:'none');
SELECT * FROM for_each_type(:'one');
SELECT * FROM for_each_type(:'none');
DROP TABLE events;

-- minmax-multi merges the closest ranges
SELECT snowdrift.ulid_distance(ulid_nil(), ulid_nil()), snowdrift.ulid_distance(ulid_nil(), ulid_max()) = 2 ^ 128 AS all,
    snowdrift.ulid_distance('00000000000000000000000000', '0000000000000000000000000Z'),
    snowdrift.ulid_distance('7ZZZZZZZZZZZZZZZZZZZZZZZZZ', '7ZZZZZZZZZZZZZZZZZZZZZZZZY'),
    snowdrift.ulid_distance('0000000000000FZZZZZZZZZZZZ', '0000000000000G000000000000');
SELECT snowdrift.sno_distance(sno_nil(), sno_nil()), snowdrift.sno_distance(sno_nil(), sno_max()) = 2 ^ 80 AS all,
    snowdrift.sno_distance('2222222222222222', '222222222222222x'),
    snowdrift.sno_distance('xxxxxxxxxxxxxxxx', 'xxxxxxxxxxxxxxxw'),
    snowdrift.sno_distance('\x0000000000000001ffff'::bytea::sno, '\x00000000000000020000'::bytea::sno);

-- a btree index deduplicates equal values
CREATE TABLE repeated AS
SELECT make_ulid('2024-01-01Z', noise(n % 100)) AS ulid, make_sno('2024-01-01Z', 0, 0, n % 100) AS sno
FROM generate_series(1, 20000) AS n;
CREATE INDEX ulid_once ON repeated (ulid);
CREATE INDEX ulid_each ON repeated (ulid) WITH (deduplicate_items = off);
CREATE INDEX sno_once ON repeated (sno);
CREATE INDEX sno_each ON repeated (sno) WITH (deduplicate_items = off);
SELECT * FROM for_each_type('SELECT pg_relation_size(''ID_once'') * 2 < pg_relation_size(''ID_each'') AS smaller');
DROP TABLE repeated;

-- sorts: by the first eight bytes, by all bytes if those are equal, and with so many equal values that the sort
-- aborts abbreviation; in memory and on disk
CREATE TABLE unsorted AS
SELECT make_ulid('2024-01-01Z'::timestamptz + (n % 1000) * interval '1 ms', noise(n)) AS scattered_ulid, noise(n)::sno AS scattered_sno,
    crowded_ulid, crowded_sno,
    CASE WHEN n % 2 = 0 THEN make_ulid('2024-01-01Z', noise(n)) ELSE crowded_ulid END AS mixed_ulid,
    CASE WHEN n % 2 = 0 THEN noise(n)::sno ELSE sno_set_metabyte(crowded_sno, 0) END AS mixed_sno
FROM (SELECT n, make_ulid('2024-01-01Z', '\x0000'::bytea || substr(noise(n), 1, 8)) AS crowded_ulid,
          make_sno('2024-01-01Z', n % 8, 0, get_byte(noise(n), 0) * 256 + get_byte(noise(n), 1)) AS crowded_sno
      FROM generate_series(1, 200000) AS n) AS crowded;
CREATE VIEW sorted AS SELECT * FROM for_each_type($$
    SELECT count(DISTINCT scattered_ID) AS ids, bool_and(scattered_ID >= lag_scattered) AS scattered,
        count(DISTINCT crowded_ID) AS crowded_ids, bool_and(crowded_ID >= lag_crowded) AS crowded,
        count(DISTINCT mixed_ID) AS mixed_ids, bool_and(mixed_ID <= lag_mixed) AS mixed_descending
    FROM (SELECT *, lag(scattered_ID) OVER (ORDER BY scattered_ID) AS lag_scattered,
              lag(crowded_ID) OVER (ORDER BY crowded_ID) AS lag_crowded,
              lag(mixed_ID) OVER (ORDER BY mixed_ID DESC) AS lag_mixed
          FROM unsorted) AS pairs$$);
SET work_mem = '64MB';
TABLE sorted;
SET work_mem = '256kB';
TABLE sorted;
RESET work_mem;
DROP VIEW sorted;
DROP TABLE unsorted;
DROP FUNCTION for_each_type, plans_of;
RESET enable_seqscan;
RESET max_parallel_workers_per_gather;
