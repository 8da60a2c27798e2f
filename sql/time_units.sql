-- Layouts whose time unit is longer than 1 ms, or whose sequence is above the worker: generators, snapshots,
-- snowdrift.advance() and partitions
SET client_min_messages = warning;    -- equal_ids.sql has the notices of new generators
SET TIME ZONE 'UTC';
\set tens 'epoch=2024-01-01T00:00:00Z unit=10ms timestamp=39 sequence=4 worker=5 datacenter=6'
\set seconds 'epoch=2024-01-01T00:00:00Z unit=1s timestamp=31 sequence=10 worker=5 datacenter=6'
SELECT snowdrift.create_generator('tens', 'snowflake', :'tens', datacenter => 11, worker => 22);
SELECT snowdrift.create_generator('seconds', 'snowflake', :'seconds', datacenter => 11, worker => 22);
SELECT snowdrift.create_generator('sonyflake', 'snowflake', 'sonyflake');
SELECT name, layout, datacenter, worker, sequence_max FROM snowdrift.generators
WHERE name IN ('tens', 'seconds', 'sonyflake') ORDER BY name;
SELECT name, ends FROM snowdrift.generators WHERE name IN ('tens', 'seconds', 'sonyflake') ORDER BY name;

-- IDs ascend and have their generator's fields. A unit has no more IDs than its sequence.
CREATE TABLE ids (n serial, generator text, layout snowflake_layout, id bigint);
SET snowdrift.node = 4660;
SELECT clock_timestamp() AS began \gset
INSERT INTO ids (generator, layout, id)
SELECT 'tens', :'tens'::snowflake_layout, id FROM next_snowflakes(200, 'tens') AS id
UNION ALL SELECT 'seconds', :'seconds', id FROM next_snowflakes(200, 'seconds') AS id
UNION ALL SELECT 'sonyflake', 'sonyflake', id FROM next_snowflakes(1000, 'sonyflake') AS id;
RESET snowdrift.node;
SELECT generator, count(DISTINCT id), bool_and(id > previous) AS ascending, min(datacenter) AS datacenter,
    max(datacenter) AS datacenter, min(worker) AS worker, max(worker) AS worker,
    count(DISTINCT timestamp) >= count(*) / 256 AND (generator <> 'tens' OR count(DISTINCT timestamp) >= 200 / 16) AS units,
    bool_and(timestamp BETWEEN :'began'::timestamptz - interval '10 s' AND clock_timestamp() + interval '10 s') AS now
FROM (SELECT generator, id, lag(id) OVER (PARTITION BY generator ORDER BY n) AS previous,
          (snowflake_parts(id, layout)).* FROM ids) AS parts
GROUP BY generator ORDER BY generator;
SELECT name, last_timestamp = (SELECT max(snowflake_timestamp(id, ids.layout)) FROM ids WHERE generator = name) AS last
FROM snowdrift.generators WHERE name IN ('tens', 'seconds', 'sonyflake') ORDER BY name;

-- snapshots
CREATE TABLE snapshots AS
SELECT generator, max(id) AS last_id, snowdrift.snapshot(generator) AS snapshot FROM ids GROUP BY generator;
SELECT generator, (snapshot->>'last_timestamp')::timestamptz = snowflake_timestamp(last_id, (snapshot->>'layout')::snowflake_layout) AS time,
    (snapshot->>'sequence')::int = snowflake_sequence(last_id, (snapshot->>'layout')::snowflake_layout) AS sequence,
    snapshot->>'layout' AS layout, snapshot->'datacenter' AS datacenter, snapshot->'worker' AS worker
FROM snapshots ORDER BY generator;
SELECT generator, snowdrift.restore(generator, snapshot) FROM snapshots ORDER BY generator;
SELECT generator, snowdrift.restore(generator || ' 2', snapshot) FROM snapshots ORDER BY generator;
SELECT generator, next_snowflake(generator) > last_id AS later, next_snowflake(generator || ' 2') > last_id AS later
FROM snapshots ORDER BY generator;

-- all further IDs are later than a time, or than the time of an ID
SELECT clock_timestamp() + interval '5.0051 s' AS target \gset
SELECT snowdrift.advance(:'target'::timestamptz);
SELECT generator, snowflake_timestamp(next_snowflake(generator), (snapshot->>'layout')::snowflake_layout) > :'target' AS later
FROM snapshots ORDER BY generator;
SELECT make_snowflake(clock_timestamp() + interval '20 s', 1, 2, 3, :'seconds') AS id \gset
SELECT snowdrift.advance(:id, :'seconds');
SELECT next_snowflake('seconds') > :id AS later,
    snowflake_timestamp(next_snowflake('tens'), :'tens') > snowflake_timestamp(:id, :'seconds') AS later;
SELECT name, regressions FROM snowdrift.generators WHERE name IN ('tens', 'seconds', 'sonyflake') ORDER BY name;

-- partitions begin with the first unit of their step
CREATE TABLE parts (id bigint PRIMARY KEY) PARTITION BY RANGE (id);
\set minutes 'epoch=2024-01-01T00:00:42.500Z unit=60s timestamp=31 sequence=20 worker=5'
SELECT snowdrift.create_partitions('parts', '2 minutes', '2026-01-01 12:00Z', '2026-01-01 12:03Z', :'minutes');
SELECT * FROM snowdrift.partitions('parts', :'minutes') ORDER BY times;
INSERT INTO parts SELECT make_snowflake(time, 0, 1, 2, :'minutes') FROM
    (VALUES ('2026-01-01 12:01:42.499999Z'::timestamptz), ('2026-01-01 12:02:42.499999Z'), ('2026-01-01 12:02:42.5Z')) AS times(time);
SELECT tableoid::regclass, snowflake_timestamp(id, :'minutes') FROM parts ORDER BY id;
SELECT plan LIKE '%parts_2026_01_01_1202%' AND plan NOT LIKE '%parts_2026_01_01_1200%' AS pruned
FROM plan_of(format('SELECT * FROM parts WHERE snowflake_within(id, %L, %L)',
    '[2026-01-01 12:02Z,2026-01-01 12:03Z)', :'minutes')) AS plan;

DROP TABLE ids, snapshots, parts;
SELECT count(snowdrift.drop_generator(name)::text) FROM snowdrift.generators
WHERE name ~ '^(tens|seconds|sonyflake)';
-- for the tests that follow: the generators continue at the clock's time, however long this test took
SELECT snowdrift.advance(clock_timestamp() + interval '30 s');
SET snowdrift.max_clock_lead = 0;
SELECT snowdrift.reset_clock();
