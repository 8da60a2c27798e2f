-- Generating sno values, for the current time and for given times
SET TIME ZONE 'UTC';

SELECT sno_timestamp(id) BETWEEN before - interval '4 ms' AND clock_timestamp() + interval '1 s' AS now,
    sno_tick(id), sno_metabyte(id), sno_partition(id)
FROM (SELECT clock_timestamp() AS before, next_sno() AS id OFFSET 0) AS new;
SELECT sno_metabyte(next_sno(7)), sno_metabyte(next_sno(255));

-- ascending and distinct
SELECT count(*), count(DISTINCT id), bool_and(id > previous OR previous IS NULL) AS ascending
FROM (SELECT id, lag(id) OVER (ORDER BY n) AS previous
      FROM (SELECT n, next_sno(1) AS id FROM generate_series(1, 200000) AS n) AS ids) AS pairs;

-- the partition is snowdrift.node
SET snowdrift.node = 65535;
SELECT sno_partition(next_sno());
SET snowdrift.node = 4242;
SELECT sno_partition(next_sno()), sno_partition(sno_at('2020-01-01'));
RESET snowdrift.node;

-- for a given time: the sequence advances independently of the time, and the tick is 0
SELECT sno_timestamp(a) AS a_time, sno_timestamp(b) AS b_time, sno_metabyte(b),
    sno_sequence(b) - sno_sequence(a) & 65535 AS next, sno_tick(a) + sno_tick(b) AS ticks
FROM (SELECT sno_at('2020-01-01 00:00:00.007Z') AS a OFFSET 0) AS first,
    LATERAL (SELECT sno_at(sno_timestamp(a) - interval '1 year', 9) AS b OFFSET 0) AS second;
SELECT count(DISTINCT id), count(DISTINCT sno_sequence(id))
FROM (SELECT sno_at('2020-01-01Z') AS id FROM generate_series(1, 65537)) AS rolled_over;

-- as a column default
CREATE TABLE documents (id sno PRIMARY KEY DEFAULT next_sno(3), body text);
INSERT INTO documents (body) SELECT 'text' FROM generate_series(1, 1000);
SELECT count(*), min(sno_metabyte(id)), max(sno_metabyte(id)) FROM documents;
DROP TABLE documents;

\pset format unaligned
\pset tuples_only on
SELECT error_of('SELECT next_sno(256)');
SELECT error_of('SELECT next_sno(-1)');
SELECT error_of($$SELECT sno_at('2009-12-31 23:59:59.999Z')$$);
SELECT error_of($$SELECT sno_at('2079-09-07 15:47:35.549Z')$$);
SELECT error_of($$SELECT sno_at('2020-01-01', 256)$$);
SELECT error_of($$SELECT sno_at('-infinity')$$);
