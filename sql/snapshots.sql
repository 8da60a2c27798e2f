-- Snapshots of generators, and generators restored from them
SET client_min_messages = warning;    -- equal_ids.sql has the notices of new generators
SET TIME ZONE 'UTC';

-- The first ID sets the mark, which becomes the safe mark of generators created later.
SELECT next_snowflake() > 0 AS first_id;

-- the fields of a snapshot
SELECT snowdrift.create_generator('orders', 'snowflake', 'twitter', worker => 3, sequence_min => 100);
SELECT snowdrift.create_generator('people', 'sno', partition => 4242, sequence_min => 10, sequence_max => 5000);
SELECT snowdrift.create_generator('shared', 'snowflake');
SELECT next_snowflake('orders') AS last_order, next_sno('people', 7) AS last_person,
    clock_timestamp() AS before \gset
SELECT snowdrift.snapshot('orders') AS orders, snowdrift.snapshot('people') AS people \gset
SELECT jsonb_typeof(value), key, CASE WHEN value::text !~ '\dZ' THEN value END AS value
FROM jsonb_each(:'orders') ORDER BY key COLLATE "C";
SELECT jsonb_typeof(value), key, CASE WHEN value::text !~ '\dZ' AND key <> 'sequence' THEN value END AS value
FROM jsonb_each(:'people') ORDER BY key COLLATE "C";
SELECT snowflake_timestamp(:last_order, 'twitter') = (:'orders'::jsonb->>'last_timestamp')::timestamptz AS last_timestamp,
    sno_timestamp(:'last_person') = (:'people'::jsonb->>'last_timestamp')::timestamptz AS last_timestamp,
    (:'people'::jsonb->>'sequence')::int >= sno_sequence(:'last_person') AS sequence,
    (:'people'::jsonb->>'safe_mark')::timestamptz < (:'people'::jsonb->>'highest_wall_clock')::timestamptz AS safe_mark,
    (:'people'::jsonb->>'now')::timestamptz BETWEEN date_trunc('milliseconds', :'before'::timestamptz)
        AND clock_timestamp() AS now;
SELECT snowdrift.snapshot('shared')->'worker' AS the_servers_worker;

-- restored as new generators, under the same name and under another one
SELECT snowdrift.drop_generator('orders'), snowdrift.drop_generator('people');
SELECT snowdrift.restore('orders', :'orders'), snowdrift.restore('people', :'people'),
    snowdrift.restore('orders too', :'orders');
SELECT name, kind, layout, datacenter, worker, partition, sequence_min, sequence_max
FROM snowdrift.generators WHERE name IS NOT NULL ORDER BY name;
SELECT next_snowflake('orders') > :last_order AS later, next_snowflake('orders too') > :last_order AS later,
    next_sno('people', 7) > :'last_person' AS later;

-- restored into an existing generator with the same definition; an omitted datacenter is 0
SELECT snowdrift.create_generator('orders 3', 'snowflake', 'twitter', 0, 3, sequence_min => 100);
SELECT snowdrift.restore('orders 3', :'orders');
SELECT next_snowflake('orders 3') > :last_order AS later;

-- A generator that spreads its sequence. Snapshots of others do not say so, and earlier ones did not.
SELECT snowdrift.create_generator('spread', 'snowflake', worker => 7, spread => true);
SELECT next_snowflake('spread') AS last \gset
SELECT snowdrift.snapshot('spread') AS spread, :'orders'::jsonb ? 'spread' AS others \gset
SELECT :'others' AS others, :'spread'::jsonb -> 'spread' AS spread,
    snowflake_sequence(:last) - (:'spread'::jsonb ->> 'sequence')::int BETWEEN 0 AND 255 AS start;
SELECT snowdrift.restore('spread too', :'spread'), snowdrift.restore('not spread', :'spread'::jsonb || '{"spread": false}');
SELECT name, spread FROM snowdrift.generators WHERE name ~ 'spread' ORDER BY name;
SELECT next_snowflake('spread too') > :last AS later;
SELECT snowdrift.restore('not spread', :'spread');
SELECT snowdrift.restore('spread', snowdrift.snapshot('not spread'));
SELECT snowdrift.restore('spread 3', :'spread'::jsonb || '{"spread": 1}');
SELECT snowdrift.restore('spread 3', :'spread'::jsonb || '{"spread": true, "sequence_max": 30, "sequence": 30}');
SELECT snowdrift.restore('spread 3', snowdrift.snapshot('people') || '{"spread": true}');

-- Values of sno_at() continue in the restored generator.
SELECT snowdrift.create_generator('past', 'sno', partition => 5);
SELECT next_sno('past') IS NOT NULL AS drawn, sno_sequence(sno_at('2020-01-01Z', 0, 'past')) FROM generate_series(1, 3);
SELECT snowdrift.restore('heir', snowdrift.snapshot('past'));
SELECT sno_sequence(sno_at('2020-01-01Z', 0, 'heir'));

-- A layout that has not begun makes no new generator.
SELECT split_part(error_of($$SELECT snowdrift.restore('future', snowdrift.snapshot('orders') || '{"layout": "epoch=9000-01-01T00:00:00Z timestamp=41 worker=10 sequence=12", "last_timestamp": null, "sequence": null}')$$), E'\n', 1);

-- after a rollback, the previous generator continues
SELECT next_sno('people') AS before \gset
SELECT snowdrift.snapshot('people') AS people \gset
BEGIN;
SELECT snowdrift.drop_generator('people');
SELECT snowdrift.restore('people', :'people');
SELECT next_sno('people') > :'before' AS later;
ROLLBACK;
SELECT next_sno('people') > :'before' AS later;
BEGIN;
SELECT snowdrift.restore('brief', :'people');
ROLLBACK;
SELECT count(*) FROM snowdrift.generators WHERE name = 'brief';

-- The clock may be a little behind the snapshot. The mark is advanced before restore returns.
SELECT jsonb_set(jsonb_set(:'people', '{last_timestamp}', ahead), '{highest_wall_clock}', ahead) AS people_ahead,
    jsonb_set(:'orders', '{last_timestamp}', ahead) AS orders_ahead, ahead->>0 AS ahead
FROM to_jsonb(to_char(clock_timestamp() + interval '5s', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')) AS ahead \gset
SELECT snowdrift.restore('ahead', :'orders_ahead');
SELECT mark >= :'ahead' AS covered FROM snowdrift.clock;
SELECT snowflake_timestamp(next_snowflake('ahead'), 'twitter') >= :'ahead' AS goes_on;
SELECT regressions FROM snowdrift.generators WHERE name = 'ahead';
SELECT snowdrift.restore('people ahead', :'people_ahead');
SELECT (snowdrift.snapshot('people ahead')->>'highest_wall_clock')::timestamptz >= :'ahead' AS goes_on;

-- They also continue if the generator resumes after a newer snapshot.
SELECT sno_sequence(sno_at('2020-01-01Z', 0, 'past')) FROM generate_series(1, 3);
SELECT snowdrift.restore('heir', snowdrift.snapshot('past') || jsonb_build_object('last_timestamp', :'ahead', 'highest_wall_clock', :'ahead'));
SELECT sno_sequence(sno_at('2020-01-01Z', 0, 'heir'));

\pset format unaligned
\pset tuples_only on

CREATE TEMP TABLE snapshot AS SELECT :'orders'::jsonb AS orders,
    jsonb_set(:'people', '{last_timestamp}', '"2026-02-01T00:00:00Z"')
    || '{"highest_wall_clock": "2026-02-01T00:00:00Z", "safe_mark": "2026-01-01T00:00:00Z", "sequence": 12}' AS people;

-- error_with(WHICH, FIELD, VALUE): the error of restoring this snapshot with another value of the field
CREATE FUNCTION error_with(which text, field text, value jsonb, name text DEFAULT 'new')
RETURNS text LANGUAGE sql AS $$
    SELECT error_of(format('SELECT snowdrift.restore(%L, %L)', name, CASE which
        WHEN 'orders' THEN jsonb_set(orders, ARRAY[field], value)
        ELSE jsonb_set(people, ARRAY[field], value) END)) FROM snapshot
$$;

-- invalid snapshots
SELECT error_of($$SELECT snowdrift.restore('new', '[1]')$$);
SELECT error_of($$SELECT snowdrift.restore('new', 'null')$$);
SELECT error_of($$SELECT snowdrift.restore('new', '{}')$$);
SELECT error_with('orders', 'version', '2');
SELECT error_with('orders', 'kind', '"ulid"');
SELECT error_with('orders', 'kind', '"sno"');
SELECT error_with('people', 'kind', '"snowflake"');
SELECT error_with('orders', 'kind', '7');
SELECT error_with('orders', 'color', '"red"');
SELECT error_with('orders', 'partition', '7');
SELECT key, error_of(format('SELECT snowdrift.restore(%L, %L)', 'new', people - key))
FROM snapshot, jsonb_object_keys(people) AS key ORDER BY key COLLATE "C";
SELECT key, error_of(format('SELECT snowdrift.restore(%L, %L)', 'new', orders - key))
FROM snapshot, jsonb_object_keys(orders) AS key ORDER BY key COLLATE "C";

-- fields of a wrong type
SELECT error_with('orders', 'sequence', '"7"');
SELECT error_with('orders', 'sequence', '107.5');
SELECT error_with('orders', 'sequence_max', 'null');
SELECT error_with('orders', 'last_timestamp', '1767225600000');
SELECT error_with('orders', 'last_timestamp', '"2026-01-01 00:00:00+00"');
SELECT error_with('orders', 'last_timestamp', '"2026-02-30T00:00:00Z"');
SELECT error_with('orders', 'now', 'null');
SELECT error_with('orders', 'layout', '"classic"');
SELECT error_with('people', 'tick', 'true');

-- values out of range
SELECT error_with('orders', 'worker', '32');
SELECT error_with('orders', 'datacenter', '-1');
SELECT error_with('orders', 'sequence_max', '4096');
SELECT error_with('orders', 'last_timestamp', '"2010-11-03T00:00:00Z"');
SELECT error_with('orders', 'last_timestamp', '"2081-01-01T00:00:00Z"');
SELECT error_with('people', 'partition', '65536');
SELECT error_with('people', 'sequence', '99999999999999999999');
SELECT error_with('people', 'tick', '2');
SELECT error_with('people', 'highest_wall_clock', '"2080-01-01T00:00:00Z"');
SELECT error_with('people', 'safe_mark', '"2009-12-31T00:00:00Z"');

-- contradictions
SELECT error_with('orders', 'sequence', '99');
SELECT error_with('people', 'sequence', '5001');
SELECT error_with('orders', 'sequence', 'null');
SELECT error_with('people', 'last_timestamp', 'null');
SELECT error_with('orders', 'worker', 'null');
SELECT error_with('orders', 'datacenter', 'null');
SELECT error_with('orders', 'sequence_max', '102');
SELECT error_with('people', 'sequence_min', '5000');
SELECT error_with('people', 'safe_mark', '"2026-02-01T00:00:00.004Z"');
SELECT error_with('people', 'last_timestamp', '"2026-02-01T00:00:00.004Z"');
SELECT error_with('people', 'highest_wall_clock', '"2026-02-02T00:00:00Z"');
SELECT error_with('orders', 'layout', '"mastodon"');

-- a snapshot too far ahead of the clock; restoring it would block every generator of the database
SELECT mark AS mark_before FROM snowdrift.clock \gset
SELECT regexp_replace(error_with('orders', 'last_timestamp', '"2080-01-01T00:00:00Z"'), '\d{10,}', 'MANY');
SET snowdrift.max_clock_lead = '1s';
SELECT regexp_replace(error_of(format('SELECT snowdrift.restore(%L, %L)', 'new', people
    || jsonb_build_object('highest_wall_clock', in_a_minute, 'last_timestamp', in_a_minute))), 'is \d+', 'is SOME')
FROM snapshot, to_char(clock_timestamp() + interval '1min', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS in_a_minute;
RESET snowdrift.max_clock_lead;
SELECT mark = :'mark_before' AS mark_stays FROM snowdrift.clock;

-- snapshots that differ from the existing generator's definition
SELECT error_of(format('SELECT snowdrift.restore(%L, %L)', 'people', orders)) FROM snapshot;
SELECT error_with('orders', 'layout', '"snowflake"', 'orders');
SELECT error_with('orders', 'worker', '4', 'orders');
SELECT error_with('orders', 'sequence_max', '4000', 'orders');
SELECT error_with('people', 'partition', 'null', 'people');
SELECT error_of(format('SELECT snowdrift.restore(%L, %L)', repeat('x', 64), orders)) FROM snapshot;
SELECT error_of($$SELECT snowdrift.snapshot('nobody')$$);

-- snapshots that are behind the IDs issued here
SELECT error_of(format('SELECT snowdrift.restore(%L, %L)', 'orders', orders)) FROM snapshot;
SELECT error_of(format('SELECT snowdrift.restore(%L, %L)', 'people', people)) FROM snapshot;

-- none of these calls created a generator
SELECT count(*) FROM snowdrift.generators WHERE name = 'new';

SELECT count(*) FROM (SELECT snowdrift.drop_generator(name) FROM snowdrift_tables.generator) AS dropped;
DROP FUNCTION error_with(text, text, jsonb, text);
