-- Snowflake IDs: decoding, composing, boundaries, generating
SET TIME ZONE 'UTC';

-- the golden ID
SELECT make_snowflake('2022-01-01T00:00:00Z', 2, 3, 0);
SELECT snowflake_timestamp(132271570944274432), snowflake_datacenter(132271570944274432),
    snowflake_worker(132271570944274432), snowflake_sequence(132271570944274432);
SELECT * FROM snowflake_parts(132271570944274432);

-- the limits of the format
SELECT * FROM snowflake_parts(0);
SELECT * FROM snowflake_parts(9223372036854775807);
SELECT make_snowflake('2021-01-01T00:00:00Z', 0, 0, 0),
    make_snowflake('2090-09-07T15:47:35.551Z', 31, 31, 4095);

-- the time is truncated to the millisecond
SELECT snowflake_timestamp(make_snowflake('2024-02-29 12:34:56.789999Z', 1, 2, 3));

-- a boundary is the smallest ID at or after a time
SELECT snowflake_boundary('2022-01-01T00:00:00Z');
SELECT * FROM snowflake_parts(snowflake_boundary('2022-01-01T00:00:00.000001Z'));
SELECT snowflake_boundary('2021-01-01T00:00:00Z'), snowflake_boundary('2090-09-07T15:47:35.551Z');

-- NULL in, NULL out
SELECT snowflake_timestamp(NULL), snowflake_parts(NULL), snowflake_boundary(NULL),
    make_snowflake(NULL, 0, 0, 0);

-- a new ID contains the current time and the server's node
SELECT snowflake_timestamp(id) BETWEEN before AND clock_timestamp() AS now,
    snowflake_datacenter(id), snowflake_worker(id)
FROM (SELECT date_trunc('milliseconds', clock_timestamp()) AS before, next_snowflake() AS id OFFSET 0) AS new;

-- ascending and distinct, drawn one at a time and many at once
SELECT count(*), count(DISTINCT id), bool_and(id > previous OR previous IS NULL) AS ascending
FROM (SELECT id, lag(id) OVER (ORDER BY n) AS previous
      FROM (SELECT n, next_snowflake() AS id FROM generate_series(1, 20000) AS n) AS ids) AS pairs;
SELECT count(*), count(DISTINCT id), bool_and(id > previous OR previous IS NULL) AS ascending
FROM (SELECT id, lag(id) OVER (ORDER BY n) AS previous
      FROM next_snowflakes(20000) WITH ORDINALITY AS ids(id, n)) AS pairs;
SELECT count(*) FROM next_snowflakes(0);
SELECT count(*) FROM (SELECT next_snowflakes(10) LIMIT 3) AS few;
SELECT count(*) FROM next_snowflakes(NULL);

-- After these IDs, too, a new one is not older than the clock.
SELECT snowflake_timestamp(next_snowflake()) >= before AS now
FROM (SELECT date_trunc('milliseconds', clock_timestamp()) AS before OFFSET 0) AS clock;
