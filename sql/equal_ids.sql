-- Generators whose IDs can be equal
\pset format unaligned
\pset tuples_only on

-- Uniqueness is per generator: two generators with the same definition issue equal IDs.
SELECT snowdrift.create_generator('a', 'snowflake');
SELECT snowdrift.create_generator('b', 'snowflake');
-- Ahead of the clock, both continue from the same time.
SELECT snowdrift.advance(clock_timestamp() + interval '5 s');
SELECT next_snowflake('a') = next_snowflake('b') AS equal;

-- A different node, or another part of the sequence, makes the IDs different.
SELECT snowdrift.create_generator('node', 'snowflake', worker => 1);
SELECT snowdrift.create_generator('node, low half', 'snowflake', worker => 2, sequence_max => 2047);
SELECT snowdrift.create_generator('node, high half', 'snowflake', worker => 2, sequence_min => 2048);
SELECT snowdrift.create_generator('node, middle', 'snowflake', worker => 2, sequence_min => 1000, sequence_max => 3000);
SELECT snowdrift.create_generator('up to 100', 'snowflake', worker => 8, sequence_max => 100);
SELECT snowdrift.create_generator('from 100', 'snowflake', worker => 8, sequence_min => 100);
SELECT snowdrift.create_generator('up to 100 again', 'snowflake', worker => 8, sequence_max => 100);
-- The present number of the server counts. Without one, it is 0.
SET snowdrift.node = 34;
SELECT snowdrift.create_generator('34', 'snowflake', datacenter => 1, worker => 2);
SELECT snowdrift.create_generator('0', 'snowflake', worker => 0);
SET snowdrift.node = 1024;
SELECT snowdrift.create_generator('1024', 'snowflake', worker => 3);
SET snowdrift.node = 'citus';
SELECT snowdrift.create_generator('no number', 'snowflake', worker => 4);
SELECT snowdrift.create_generator('no number either', 'snowflake', datacenter => 0);
RESET snowdrift.node;

-- A layout is another number space if its epoch, its unit or the place of its timestamp differs ...
SELECT snowdrift.create_generator('discord', 'snowflake', 'discord');
SELECT snowdrift.create_generator('twitter', 'snowflake', 'twitter', datacenter => 1, worker => 2);
SELECT snowdrift.create_generator('unit', 'snowflake', 'epoch=2021-01-01T00:00:00Z unit=2ms timestamp=41 datacenter=5 worker=5 sequence=12');
SELECT snowdrift.create_generator('place', 'snowflake', 'epoch=2021-01-01T00:00:00Z timestamp=41 datacenter=5 worker=5 sequence=11');
-- ... but not if only its fields have other names, another order or another width of the timestamp.
SELECT snowdrift.create_generator('leaf', 'snowflake', 'leaf', worker => 34);
SELECT snowdrift.create_generator('leaf of another node', 'snowflake', 'leaf', worker => 35);
SELECT snowdrift.create_generator('width', 'snowflake', 'epoch=2021-01-01T00:00:00Z timestamp=40 worker=10 sequence=12', worker => 1);
SELECT snowdrift.create_generator('js', 'snowflake', 'si', worker => 3);
SELECT snowdrift.create_generator('not js', 'snowflake', 'epoch=2021-01-01T00:00:00Z timestamp=40 worker=5 sequence=8', worker => 3);
SELECT snowdrift.create_generator('order', 'snowflake', 'epoch=2021-01-01T00:00:00Z timestamp=40 sequence=8 worker=5', worker => 3);
SELECT snowdrift.create_generator('another order', 'snowflake', 'epoch=2021-01-01T00:00:00Z timestamp=40 sequence=11 worker=2', worker => 3);
SELECT snowdrift.create_generator('no node', 'snowflake', 'mastodon');
SELECT snowdrift.create_generator('no node either', 'snowflake', 'mastodon', sequence_max => 99);

-- sno values
SELECT snowdrift.create_generator('sno', 'sno');
SELECT snowdrift.create_generator('sno 7', 'sno', partition => 7);
SELECT snowdrift.create_generator('sno 7 again', 'sno', partition => 7, sequence_max => 9);
SELECT snowdrift.create_generator('sno 7, others', 'sno', partition => 8, sequence_min => 10);

-- restore() raises the notice, too, if it creates a generator.
SELECT snowdrift.restore('copy', snowdrift.snapshot('sno 7'));

-- A notice names at most ten generators, and ignores invalid definitions.
INSERT INTO snowdrift_tables.generator VALUES ('invalid', 1000000001, 'snowflake', 'mastodon', 1, -2, NULL, 0, 70000),
    ('invalid too', 1000000002, 'sno', 'mastodon', 1, 2, -1, -5, 70000);
SET client_min_messages = warning;
SELECT count(*) FROM (SELECT snowdrift.create_generator(format('many %s', n), 'snowflake', 'pgedge') FROM generate_series(1, 11) AS n) AS created;
RESET client_min_messages;
SELECT snowdrift.create_generator('many 12', 'snowflake', 'pgedge');
SELECT snowdrift.create_generator('valid', 'snowflake', 'mastodon');
SELECT snowdrift.drop_generator(name) FROM snowdrift_tables.generator WHERE id > 1000000000;

SELECT count(*) FROM (SELECT snowdrift.drop_generator(name) FROM snowdrift_tables.generator) AS dropped;
