-- Named generators of Snowflakes
SET client_min_messages = warning;    -- equal_ids.sql has the extension's notices of new generators
SET TIME ZONE 'UTC';

-- generators with their own node, or another layout
SELECT snowdrift.create_generator('orders', 'snowflake', datacenter => 2, worker => 3);
SELECT snowdrift.create_generator('toots', 'snowflake', layout => 'mastodon');
SELECT snowdrift.create_generator('links', 'snowflake', 'si', worker => 31);
SELECT snowdrift.create_generator('shared', 'snowflake', 'twitter');
SELECT name, kind, layout, ends FROM snowdrift.generators WHERE name IS NOT NULL ORDER BY name;
SELECT datacenter, worker FROM snowdrift.generators WHERE name = 'orders';

SELECT snowflake_datacenter(id), snowflake_worker(id) FROM next_snowflake('orders') AS id;
SELECT snowflake_worker(id, 'si'), id < 9007199254740992 AS safe FROM next_snowflake('links') AS id;
SELECT abs(extract(epoch FROM snowflake_timestamp(next_snowflake('toots'), 'mastodon') - clock_timestamp())) < 2 AS now;

-- ascending and distinct, also when a time unit has few sequence numbers
SELECT name, count(*), count(DISTINCT id), bool_and(id > previous OR previous IS NULL) AS ascending
FROM (SELECT name, id, lag(id) OVER (PARTITION BY name ORDER BY n) AS previous
      FROM (VALUES ('toots'), ('links')) AS names(name), LATERAL next_snowflakes(1000, name) WITH ORDINALITY AS ids(id, n)) AS pairs
GROUP BY name ORDER BY name;

-- Generators without a node draw, too; by default with node 0.
SELECT snowflake_datacenter(id, 'twitter'), snowflake_worker(id, 'twitter') FROM next_snowflake('shared') AS id;

-- the state of the generators
SELECT name, kind, last_timestamp IS NOT NULL AS used, lead >= interval '0' AS has_lead
FROM snowdrift.generators WHERE name IS NOT NULL ORDER BY name;
SELECT next_snowflake('orders') AS id \gset
SELECT last_timestamp = snowflake_timestamp(:id) AS shown FROM snowdrift.generators WHERE name = 'orders';

-- definitions are transactional
BEGIN;
SELECT snowdrift.create_generator('brief', 'snowflake');
SELECT next_snowflake('brief') > 0 AS generated;
ROLLBACK;
BEGIN;
SELECT snowdrift.drop_generator('orders');
SAVEPOINT dropped;
SELECT left(error_of($$SELECT next_snowflake('orders')$$), 5) AS sqlstate;
ROLLBACK;
SELECT next_snowflake('orders') > 0 AS generated;

-- A generator that is dropped and created again does not repeat an ID.
SELECT next_snowflake('orders') AS last \gset
SELECT snowdrift.drop_generator('orders');
SELECT snowdrift.create_generator('orders', 'snowflake', datacenter => 2, worker => 3);
SELECT next_snowflake('orders') > :last AS greater;
-- The same applies under another name and in another text of the layout, and after a rollback, within one time unit.
\set seconds 'epoch=2026-01-01T00:00:00Z unit=1s timestamp=32 worker=10 sequence=12'
SELECT snowdrift.create_generator('old', 'snowflake', :'seconds', worker => 5);
SELECT next_snowflake('old') AS last \gset
SELECT snowdrift.drop_generator('old');
SELECT snowdrift.create_generator('new', 'snowflake', replace(:'seconds', 'worker=10', 'datacenter=5 worker=5')::snowflake_layout, worker => 5);
SELECT next_snowflake('new') > :last AS greater;
SELECT snowdrift.drop_generator('new');
BEGIN;
SELECT snowdrift.create_generator('new', 'snowflake', :'seconds', worker => 6);
SELECT next_snowflake('new') AS last \gset
ROLLBACK;
SELECT snowdrift.create_generator('new', 'snowflake', :'seconds', worker => 6);
SELECT next_snowflake('new') > :last AS greater;
SELECT snowdrift.drop_generator('new');

-- advance() makes all further IDs later than a time, and changes nothing if they already are.
SELECT clock_timestamp() + interval '1 s' AS mark \gset
SELECT snowdrift.advance(:'mark'::timestamptz);
SELECT snowdrift.advance('2022-01-01Z'::timestamptz);
SELECT snowflake_timestamp(next_snowflake()) > :'mark' AS default_later, snowflake_timestamp(next_snowflake('toots'), 'mastodon') > :'mark' AS later;

-- as a column default
CREATE TABLE toots (id bigint PRIMARY KEY DEFAULT next_snowflake('toots'), body text);
INSERT INTO toots (body) VALUES ('hello'), ('world');
SELECT count(*) FROM toots WHERE snowflake_timestamp(id, 'mastodon') > '2026-01-01';

-- The layout of a generator, for functions that take an ID alone: functions without a layout read each bigint in the default one.
SELECT snowdrift.generator_layout('links'), snowdrift.generator_layout(NULL) IS NULL AS strict;
SELECT name, layout = snowdrift.generator_layout(name) AS same FROM snowdrift.generators WHERE name IS NOT NULL ORDER BY name;
CREATE TABLE visits (id bigint PRIMARY KEY DEFAULT next_snowflake('links'));
INSERT INTO visits SELECT make_snowflake('2024-01-01Z'::timestamptz + n * interval '10 minutes', 0, 3, 0, 'si') FROM generate_series(0, 999) AS n;
SELECT min(snowflake_timestamp(id)) AS wrong, min(snowflake_timestamp(id, snowdrift.generator_layout('links'))) AS right FROM visits;
SELECT count(*) FROM visits WHERE snowflake_within(id, '[2024-01-02Z, 2024-01-03Z)');
SELECT count(*) FROM visits WHERE snowflake_within(id, '[2024-01-02Z, 2024-01-03Z)', snowdrift.generator_layout('links'));
-- It can be used in a view, but not in an index, because it can change.
CREATE VIEW dated AS SELECT id, snowflake_timestamp(id, snowdrift.generator_layout('links')) AS created_at FROM visits;
SELECT max(created_at) FROM dated;
SELECT left(error_of($$CREATE INDEX ON visits (snowflake_timestamp(id, snowdrift.generator_layout('links')))$$), 5) AS sqlstate;
-- It is the present layout, also within a transaction.
BEGIN;
DO $$
DECLARE layout text;
BEGIN
    FOREACH layout IN ARRAY ARRAY['si', 'twitter', 'pgedge'] LOOP
        PERFORM snowdrift.drop_generator('links', force => true);
        PERFORM snowdrift.create_generator('links', 'snowflake', layout => layout::snowflake_layout);
        IF snowdrift.generator_layout('links') <> layout::snowflake_layout THEN
            RAISE 'the layout is outdated';
        END IF;
    END LOOP;
END $$;
ROLLBACK;
SELECT snowdrift.generator_layout('links');
DROP VIEW dated;

\pset format unaligned
\pset tuples_only on
SELECT split_part(error_of(query), E'\n', 1) FROM (VALUES
    ($$SELECT next_snowflake('nobody')$$), ($$SELECT next_snowflakes(1, 'nobody')$$), ($$SELECT snowdrift.generator_layout('nobody')$$),
    ($$SELECT snowdrift.drop_generator('nobody')$$), ($$SELECT next_snowflake('Toots')$$),
    ($$SELECT next_snowflakes(-1, 'toots')$$)) AS queries(query);
SELECT split_part(error_of(format(query, name)), E'\n', 1)
FROM (VALUES (''), (repeat('x', 64))) AS names(name), (VALUES ('SELECT snowdrift.generator_layout(%L)'), ('SELECT snowdrift.drop_generator(%L)'))
    AS queries(query);
SELECT error_of($$SELECT snowdrift.create_generator('toots', 'snowflake')$$);
SELECT error_of($$SELECT snowdrift.create_generator('', 'snowflake')$$);
SELECT error_of($$SELECT snowdrift.create_generator(repeat('x', 64), 'snowflake')$$);
SELECT left(error_of($$SELECT snowdrift.create_generator(NULL, 'snowflake')$$), 5);
SELECT split_part(error_of($$SELECT snowdrift.create_generator('x', 'uuid')$$), E'\n', 1);
SELECT error_of($$SELECT snowdrift.create_generator('x', 'snowflake', datacenter => 32)$$);
SELECT error_of($$SELECT snowdrift.create_generator('x', 'snowflake', worker => -1)$$);
SELECT error_of($$SELECT snowdrift.create_generator('x', 'snowflake', 'mastodon', worker => 1)$$);
SELECT error_of($$SELECT snowdrift.create_generator('x', 'snowflake', 'twiter')$$) LIKE '22P02: %';

-- A layout that has ended or has not begun
SELECT split_part(error_of(format('SELECT snowdrift.create_generator(''x'', ''snowflake'', %L)', layout)), E'\n', 1)
FROM (VALUES ('epoch=1970-01-01T00:00:00Z timestamp=39 worker=10 sequence=12'), ('epoch=9000-01-01T00:00:00Z timestamp=41 worker=10 sequence=12'),
    ('epoch=1970-01-01T00:00:00Z unit=1s timestamp=28 worker=22 sequence=13')) AS layouts(layout);

-- A generator that a default names is not dropped, unless that is forced. The default stays, and raises an error.
SELECT split_part(error_of($$SELECT snowdrift.drop_generator('toots')$$), E'\n', 1);
DROP TABLE visits;
SELECT snowdrift.drop_generator('links');
SELECT snowdrift.drop_generator('toots', force => true);
SELECT split_part(error_of('INSERT INTO toots DEFAULT VALUES'), E'\n', 1);
SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = 'toots'::regclass;

DROP TABLE toots;
SELECT count(*) FROM (SELECT snowdrift.drop_generator(name) FROM snowdrift.generators WHERE name IS NOT NULL) AS dropped;
\pset format aligned
\pset tuples_only off
