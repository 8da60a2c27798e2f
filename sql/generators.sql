-- Named generators, beyond what snowflake_generators.sql tests
SET client_min_messages = warning;    -- equal_ids.sql has the notices of new generators
SET TIME ZONE 'UTC';

-- generators with their own node, another layout or a part of the sequence
SELECT snowdrift.create_generator('orders', 'snowflake', datacenter => 2, worker => 3);
SELECT snowdrift.create_generator('toots', 'snowflake', layout => 'mastodon');
SELECT snowdrift.create_generator('people', 'sno', partition => 4242, sequence_min => 10, sequence_max => 13);
SELECT snowdrift.create_generator('shared', 'snowflake', sequence_min => 100, sequence_max => 199);
SELECT name, kind, layout, datacenter, worker, partition, sequence_min, sequence_max
FROM snowdrift.generators ORDER BY name, kind;

SELECT sno_partition(id), sno_metabyte(id), sno_sequence(id) FROM next_sno('people', 7) AS id;
SELECT sno_partition(id), sno_metabyte(id), sno_sequence(id) FROM sno_at('2020-01-01', 9, 'people') AS id;
SELECT sno_metabyte(next_sno('people'));
SELECT bool_and(snowflake_sequence(id) BETWEEN 100 AND 199) AS in_bounds, count(DISTINCT id)
FROM next_snowflakes(1000, 'shared') AS id;
SELECT bool_and(sno_sequence(id) BETWEEN 10 AND 13) AS in_bounds, count(DISTINCT id)
FROM (SELECT next_sno('people') AS id FROM generate_series(1, 50)) AS ids;

-- A spread sequence needs 32 numbers. Sno values have none.
SELECT snowdrift.create_generator('spread', 'snowflake', worker => 7, sequence_min => 10, sequence_max => 41, spread => true);
SELECT max(snowflake_sequence(id)) <= 41 AS in_bounds, min(snowflake_sequence(id)) >= 10 AS in_bounds,
    count(DISTINCT id) FROM next_snowflakes(1000, 'spread') AS id;
SELECT snowdrift.create_generator('narrow', 'snowflake', worker => 7, sequence_min => 10, sequence_max => 40, spread => true);
SELECT snowdrift.create_generator('narrow', 'sno', spread => true);
SELECT snowdrift.create_generator('narrow', 'sno', spread => false);
SELECT name, spread FROM snowdrift.generators WHERE name IN ('narrow', 'spread') OR kind = 'ulid' ORDER BY name;
SELECT snowdrift.drop_generator('narrow'), snowdrift.drop_generator('spread');

-- A generator without its own node uses snowdrift.node, unless its layout has no bits for it.
SET snowdrift.node = 67;
SELECT snowflake_datacenter(id), snowflake_worker(id) FROM next_snowflake('shared') AS id;
SELECT snowflake_datacenter(id), snowflake_worker(id) FROM next_snowflake('orders') AS id;
SET snowdrift.node = 2000;
SELECT snowflake_datacenter(id), snowflake_worker(id) FROM next_snowflake('orders') AS id;
SELECT next_snowflake('toots') > 0 AS without_a_node;
RESET snowdrift.node;

-- the state of the generators
SELECT name, kind, last_timestamp IS NOT NULL AS used, lead IS NOT NULL AS has_lead, waiting,
    regressions
FROM snowdrift.generators WHERE name IS NOT NULL ORDER BY name;

-- the time of the last ID that a format can represent, whether or not its generator has been used
SELECT name, kind, ends, ends = CASE kind
        WHEN 'snowflake' THEN snowflake_timestamp(9223372036854775807, layout)
        WHEN 'sno' THEN sno_timestamp(sno_max())
        WHEN 'ulid' THEN ulid_timestamp(ulid_max())
        ELSE uuidv7_timestamp('ffffffff-ffff-7fff-bfff-ffffffffffff') END AS last
FROM snowdrift.generators ORDER BY name, kind;

-- the used share of the sequence; 015_regressions.pl has its values
SELECT count(*) FROM snowdrift.generators
WHERE sequence_used IS NOT NULL AND (sequence_used NOT BETWEEN 0 AND 1 OR kind IN ('ulid', 'uuidv7'));

-- If a generator is dropped and created again, and that is rolled back, the previous generator does not repeat the IDs of the other one.
BEGIN;
SELECT snowdrift.drop_generator('orders');
SELECT snowdrift.create_generator('orders', 'snowflake', datacenter => 2, worker => 3);
SELECT next_snowflake('orders') AS last \gset
ROLLBACK;
SELECT next_snowflake('orders') > :last AS greater;
BEGIN;
SAVEPOINT before;
SELECT snowdrift.drop_generator('orders');
SELECT snowdrift.create_generator('orders', 'snowflake', datacenter => 2, worker => 3);
SELECT next_snowflake('orders') AS last \gset
ROLLBACK TO before;
SELECT next_snowflake('orders') > :last AS greater;
COMMIT;
-- Definitions can be inserted, as by a dump, but not changed by hand.
SELECT error_of($$UPDATE snowdrift_tables.generator SET worker = 4 WHERE name = 'orders'$$);
SELECT error_of($$DELETE FROM snowdrift_tables.generator WHERE name = 'orders'$$);
SELECT snowdrift.drop_generator('orders');
SELECT snowdrift.create_generator('orders', 'sno');
SELECT length(next_sno('orders')::text);

-- names that sessions keep in the same place: 33 * 'a' + 'B' = 33 * 'b' + '!'
SELECT snowdrift.create_generator('aB', 'snowflake', worker => 1), snowdrift.create_generator('b!', 'snowflake', worker => 2);
SELECT snowflake_worker(next_snowflake(name)) FROM unnest(ARRAY['aB', 'b!', 'aB']) AS name;
SELECT snowdrift.drop_generator('aB'), snowdrift.drop_generator('b!');

\pset format unaligned
\pset tuples_only on
SELECT error_of($$SELECT next_snowflake('people')$$);
SELECT error_of($$SELECT next_sno('toots')$$);
SELECT error_of($$TRUNCATE snowdrift_tables.generator$$);
SELECT error_of($$SELECT snowdrift.create_generator(NULL, 'sno')$$);
SELECT error_of($$SELECT snowdrift.create_generator('x', 'uuid')$$);
SELECT error_of($$SELECT snowdrift.create_generator('x', 'snowflake', partition => 1)$$);
SELECT error_of($$SELECT snowdrift.create_generator('x', 'snowflake', sequence_max => 4096)$$);
SELECT error_of($$SELECT snowdrift.create_generator('x', 'snowflake', sequence_min => 4093)$$);
SELECT error_of($$SELECT snowdrift.create_generator('x', 'sno', 'twitter')$$);
SELECT error_of($$SELECT snowdrift.create_generator('x', 'sno', worker => 1)$$);
SELECT error_of($$SELECT snowdrift.create_generator('x', 'sno', partition => 65536)$$);
SELECT error_of($$SELECT snowdrift.create_generator('x', 'sno', sequence_min => 5, sequence_max => 7)$$);
SELECT error_of($$SELECT snowdrift.create_generator('x', 'snowflake', sequence_min => 100, sequence_max => 10)$$);
SELECT error_of($$SELECT snowdrift.create_generator('x', 'sno', sequence_min => 65536)$$);

-- A layout that has ended or has not begun: no generator is created, and existing ones raise an error that states the
-- layout's times. The output replaces the present time.
CREATE FUNCTION layout_error_of(query text) RETURNS text LANGUAGE sql BEGIN ATOMIC
    SELECT regexp_replace(error_of(query), 'clock is at \S+Z\.', 'clock is at PRESENT.');
END;
SELECT layout_error_of($$SELECT snowdrift.create_generator('x', 'snowflake', 'epoch=1970-01-01T00:00:00Z timestamp=39 worker=10 sequence=12')$$);
SELECT layout_error_of($$SELECT snowdrift.create_generator('x', 'snowflake', 'epoch=9000-01-01T00:00:00Z timestamp=41 worker=10 sequence=12')$$);
SELECT layout_error_of($$SELECT snowdrift.create_generator('x', 'snowflake', 'epoch=1970-01-01T00:00:00Z unit=1s timestamp=28 worker=22 sequence=13')$$);
INSERT INTO snowdrift_tables.generator VALUES
    ('ended', 1000000001, 'snowflake', 'epoch=1970-01-01T00:00:00Z timestamp=39 worker=10 sequence=12', NULL, NULL, NULL, 0, 4095),
    ('ended, long unit', 1000000002, 'snowflake', 'epoch=1970-01-01T00:00:00Z unit=1s timestamp=28 worker=22 sequence=13', NULL, NULL, NULL, 0, 4095),
    ('not begun', 1000000003, 'snowflake', 'epoch=9000-01-01T00:00:00Z timestamp=41 worker=10 sequence=12', NULL, NULL, NULL, 0, 4095);
SELECT layout_error_of(format('SELECT next_snowflake(%L)', name)) FROM snowdrift.generators WHERE name ~ 'ended|begun' ORDER BY 1;
SELECT layout_error_of($$SELECT next_snowflakes(3, 'ended')$$);
SELECT snowdrift.drop_generator(name) FROM snowdrift_tables.generator WHERE id > 1000000000;
DROP FUNCTION layout_error_of(text);

-- a view in place of the table
BEGIN;
ALTER TABLE snowdrift_tables.generator RENAME TO generator_table;
CREATE VIEW snowdrift_tables.generator AS SELECT * FROM snowdrift_tables.generator_table;
SELECT error_of($$SELECT next_snowflake('toots')$$);
SELECT error_of($$SELECT snowdrift.create_generator('y', 'sno')$$);
SELECT error_of($$SELECT * FROM snowdrift.generators$$);
ROLLBACK;

-- The view shows a definition that was inserted by hand, whether or not it is valid.
INSERT INTO snowdrift_tables.generator VALUES (repeat('long ', 400), 1000000001, 'sno', 'mastodon', 1, 2, -1, 5, 4, true, '2022-01-01Z'),
    ('undefined', 1000000002, 'snowflake', NULL, NULL, NULL, NULL, 0, 9, false, NULL);
SELECT left(name, 9) AS name, length(name), kind, layout, datacenter, worker, partition, sequence_min, sequence_max, this_node_only,
    origin AT TIME ZONE 'UTC' AS origin, last_timestamp, lead, waiting, overflow_episodes, overflow_duration, regressions
FROM snowdrift.generators WHERE name ~ 'long|undefined' ORDER BY 1;
SELECT snowdrift.drop_generator(name) FROM snowdrift_tables.generator WHERE id > 1000000000;

SELECT count(*) FROM (SELECT snowdrift.drop_generator(name) FROM snowdrift_tables.generator) AS dropped;
