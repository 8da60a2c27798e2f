-- snowflake_at() for many rows. test/t/027_migrate.pl runs the statements of docs/migrate.md, "Back-filling a table".
SET TIME ZONE 'UTC';

-- Many IDs of one time are distinct, and continue in the next milliseconds.
CREATE TABLE ids (n bigserial, id bigint, at timestamptz);
INSERT INTO ids (id, at) SELECT snowflake_at('2022-02-01Z'), '2022-02-01Z' FROM generate_series(1, 100000);
SELECT count(DISTINCT id), min(snowflake_timestamp(id)), max(snowflake_timestamp(id)), min(snowflake_sequence(id)),
    max(snowflake_sequence(id)), (SELECT bool_and(ascends) FROM (SELECT id > lag(id) OVER (ORDER BY n) AS ascends FROM ids) AS o) AS ascending
FROM ids;
-- Times in any order, repeated and interleaved, also in milliseconds that other times have used
INSERT INTO ids (id, at) SELECT snowflake_at(t), t
FROM (SELECT timestamptz '2022-02-01Z' + (i * 7919 % 1000 - 500) * interval '0.3 ms' AS t FROM generate_series(1, 20000) AS i) AS times;
SELECT count(DISTINCT id), bool_and(snowflake_timestamp(id) >= date_trunc('milliseconds', at)) AS never_earlier,
    max(snowflake_timestamp(id) - at) < interval '200 ms' AS hardly_later FROM ids;
-- A unit with many IDs takes few rows.
SELECT count(*) < 50 AS few, max(sequence), bool_and(generator = 0) AS of_the_default_generator
FROM snowdrift_tables.backfill WHERE unit BETWEEN 34214400000 AND 34214400023;
DROP TABLE ids;
