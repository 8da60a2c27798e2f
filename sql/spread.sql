-- Generators whose first sequence number varies with the time unit, so that the low bits of their IDs vary
SET client_min_messages = warning;    -- equal_ids.sql has the notices of new generators
SET TIME ZONE 'UTC';
\getenv abs_srcdir PG_ABS_SRCDIR
\set vectors '''' :abs_srcdir '/test/vectors/spread.tsv'' (HEADER)'
\set read_vectors '\\copy vectors FROM ' :vectors
CREATE TABLE vectors (unit bigint, sequence_min bigint, sequence_max bigint, start bigint);
:read_vectors
CREATE FUNCTION start_of(unit numeric, sequence_max bigint, sequence_min bigint DEFAULT 0) RETURNS bigint LANGUAGE sql IMMUTABLE
    RETURN sequence_min + div(unit % 2147483648 * 2654435769 % 4294967296 * ((sequence_max - sequence_min + 1) / 16), 4294967296);
SELECT count(*) > 100 AS read, count(*) FILTER (WHERE start IS DISTINCT FROM start_of(unit, sequence_max, sequence_min)) AS different FROM vectors;

SELECT snowdrift.create_generator('spread', 'snowflake', worker => 7, spread => true);
SELECT snowdrift.create_generator('links', 'snowflake', 'si', worker => 7, spread => true);
SELECT snowdrift.create_generator('plain', 'snowflake', worker => 8, spread => NULL);
SELECT name, spread FROM snowdrift.generators WHERE name IS NOT NULL ORDER BY name;

-- IDs ascend. Each time unit, except the first one, begins at its start, and has consecutive numbers.
CREATE TABLE ids AS
SELECT name, snowflake_timestamp(id, layout::snowflake_layout) AS time, snowflake_sequence(id, layout::snowflake_layout) AS sequence, id, n
FROM (VALUES ('spread', 'snowflake', 20000), ('links', 'si', 3000)) AS names(name, layout, n_ids),
    LATERAL next_snowflakes(n_ids, name) WITH ORDINALITY AS drawn(id, n);
SELECT name, count(DISTINCT id), bool_and(id > previous OR previous IS NULL) AS ascending
FROM (SELECT *, lag(id) OVER (PARTITION BY name ORDER BY n) AS previous FROM ids) AS i GROUP BY name ORDER BY name;
CREATE VIEW units AS
SELECT name, time, CASE name WHEN 'links' THEN 255 ELSE 4095 END AS sequence_max, min(sequence) AS first, max(sequence) AS last, count(*) AS n,
    row_number() OVER (PARTITION BY name ORDER BY time) > 1 AS is_whole,
    (id >> CASE name WHEN 'links' THEN 13 ELSE 22 END) AS unit
FROM ids GROUP BY name, time, unit;
SELECT name, count(*) > 1 AS several, bool_and(first - start_of(unit, sequence_max) BETWEEN 0 AND CASE WHEN is_whole THEN 0 ELSE 1 END) AS begin_at_start,
    bool_and(last - first + 1 = n) AS consecutive, max(n) <= max(sequence_max) * 15 / 16 + 2 AS within_capacity
FROM units GROUP BY name ORDER BY name;

-- At a low rate, each remainder gets its share: at least half of it, and at most twice.
-- (While IDs are ahead of the clock, as after a restart, they are those of one time unit.)
DO $$ BEGIN WHILE (SELECT max(lead) > '0' FROM snowdrift.generators WHERE name IN ('spread', 'plain')) LOOP PERFORM pg_sleep(0.01); END LOOP; END $$;
CREATE TABLE quiet (id bigint DEFAULT next_snowflake('spread'), plain bigint DEFAULT next_snowflake('plain'));
DO $$ BEGIN FOR i IN 1 .. 1000 LOOP INSERT INTO quiet DEFAULT VALUES; PERFORM pg_sleep(0.001); END LOOP; END $$;
CREATE FUNCTION has_even_shares(ids bigint[], n int) RETURNS boolean LANGUAGE sql IMMUTABLE
    RETURN (SELECT count(*) = n AND min(s) * n * 2 >= cardinality(ids) AND max(s) * n <= 2 * cardinality(ids)
            FROM (SELECT count(*) FROM unnest(ids) AS id GROUP BY id % n) AS shares(s));
SELECT n, has_even_shares(array_agg(plain), n) AS plain, has_even_shares(array_agg(id), n) AS spread
FROM quiet, unnest('{2,8,10}'::int[]) AS n GROUP BY n ORDER BY n;

-- Too few numbers
SELECT error_of($$SELECT snowdrift.create_generator('narrow', 'snowflake', 'epoch=2024-01-01T00:00:00Z timestamp=41 worker=10 sequence=4', spread => true)$$);
SELECT snowdrift.create_generator('narrow', 'snowflake', 'epoch=2024-01-01T00:00:00Z timestamp=41 worker=10 sequence=5', worker => 7, spread => true);
SELECT count(DISTINCT id) FROM next_snowflakes(1000, 'narrow') AS id;
-- A unit that is long enough to use up 61 of 64 numbers
SELECT snowdrift.create_generator('slow', 'snowflake', 'epoch=2024-01-01T00:00:00Z unit=500ms timestamp=38 worker=10 sequence=6', worker => 7, spread => true);
SELECT max(n) AS capacity, sum(n) AS distinct FROM (SELECT count(DISTINCT id) AS n FROM next_snowflakes(150, 'slow') AS id GROUP BY id >> 16) AS units;

SELECT snowdrift.drop_generator(name, true) FROM snowdrift.generators WHERE name IS NOT NULL ORDER BY name;
DROP TABLE vectors, ids, quiet CASCADE;
DROP FUNCTION start_of, has_even_shares;
