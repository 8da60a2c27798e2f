-- Generating ULIDs, monotonic and random
SET TIME ZONE 'UTC';

-- in a transaction: one time, ascending
BEGIN;
CREATE TEMP TABLE drawn (n serial, id ulid);
INSERT INTO drawn (id) SELECT next_ulid() FROM generate_series(1, 1000);
SAVEPOINT a;
CREATE TEMP TABLE undone AS SELECT next_ulid() AS id FROM generate_series(1, 10);
ROLLBACK TO a;
INSERT INTO drawn (id) SELECT gen_monotonic_ulid() FROM generate_series(1, 1000);
COMMIT;
SELECT count(*), count(DISTINCT id), count(DISTINCT ulid_timestamp(id)) AS times,
    bool_and(id > previous OR previous IS NULL) AS ascending
FROM (SELECT id, lag(id) OVER (ORDER BY n) AS previous FROM drawn) AS pairs;
-- rolling back to the savepoint leaves a gap of ten
SELECT get_byte(b.id::bytea, 15) - get_byte(a.id::bytea, 15) & 255 AS distance
FROM drawn AS a, drawn AS b WHERE a.n = 1000 AND b.n = 1001;

-- in successive transactions: ascending
SELECT next_ulid() AS first \gset
SELECT next_ulid() AS second \gset
SELECT gen_monotonic_ulid() AS third \gset
SELECT :'first'::ulid < :'second'::ulid AND :'second'::ulid < :'third'::ulid AS ascending;

-- the time is the present one; in a fresh state, after the mark that earlier tests have left
SELECT ulid_timestamp(id) BETWEEN before AND clock_timestamp() + interval '3 s' AS now
FROM (SELECT date_trunc('milliseconds', clock_timestamp()) AS before, next_ulid() AS id OFFSET 0) AS new;

-- random ULIDs
SELECT ulid_timestamp(id) BETWEEN before AND clock_timestamp() AS now
FROM (SELECT date_trunc('milliseconds', clock_timestamp()) AS before, gen_ulid() AS id OFFSET 0) AS new;
SELECT count(DISTINCT id), count(DISTINCT ulid_randomness(id))
FROM (SELECT gen_ulid() AS id FROM generate_series(1, 10000)) AS ids;
SELECT ulid_timestamp(ulid_at('2024-02-29 12:34:56.789999Z')),
    ulid_at('2024-02-29 12:34:56.789Z') <> ulid_at('2024-02-29 12:34:56.789Z') AS random;
SELECT ulid_at('1970-01-01Z') < ulid_boundary('1970-01-01 00:00:00.001Z') AS first;
-- all 80 bits are random
SELECT count(*) AS random_bits FROM (
    SELECT FROM (SELECT gen_ulid()::bytea AS bytes FROM generate_series(1, 100) OFFSET 0) AS ids,
        generate_series(48, 127) AS bit
    GROUP BY bit HAVING count(DISTINCT get_bit(bytes, bit)) = 2) AS seen_both_ways;

\pset format unaligned
\pset tuples_only on
SELECT error_of($$SELECT ulid_at('1969-12-31 23:59:59.999Z')$$);
SELECT error_of($$SELECT ulid_at('infinity')$$);
\pset format aligned
\pset tuples_only off

-- as a column default
CREATE TABLE notes (id ulid PRIMARY KEY DEFAULT next_ulid(), other ulid DEFAULT gen_ulid(), body text);
INSERT INTO notes (body) SELECT 'note' FROM generate_series(1, 100);
SELECT count(DISTINCT id), count(DISTINCT other), count(DISTINCT ulid_timestamp(id)) AS times FROM notes;
DROP TABLE notes;
