-- snowflake_at(): IDs of past times, for back-filling tables
SET client_min_messages = warning;    -- equal_ids.sql has the notices of new generators
SET TIME ZONE 'UTC';

-- An ID has the fields of its generator. IDs of one time ascend.
SELECT parts.* FROM generate_series(1, 3) AS i, snowflake_parts(snowflake_at(timestamptz '2022-01-01 00:00:00.1239Z' + i * interval '0')) AS parts;
SELECT snowdrift.create_generator('past', 'snowflake', datacenter => 2, worker => 3, sequence_min => 10, sequence_max => 19);
SELECT parts.* FROM generate_series(1, 2) AS i, snowflake_parts(snowflake_at(timestamptz '2022-01-01Z' + i * interval '0', 'past')) AS parts;
SET snowdrift.node = 67;
SELECT * FROM snowflake_parts(snowflake_at('2022-01-02Z'));
RESET snowdrift.node;
SELECT * FROM snowflake_parts(snowflake_at('2022-01-02Z'));

-- The part of a sequence that a generator has
SELECT count(DISTINCT id), min(snowflake_sequence(id)), max(snowflake_sequence(id)), max(snowflake_timestamp(id))
FROM (SELECT snowflake_at('2022-03-01Z', 'past') AS id FROM generate_series(1, 95)) AS ids;

-- Numbers of a transaction that is rolled back can be used again; those of others cannot.
CREATE TABLE ids (n bigserial, id bigint);
CREATE FUNCTION take(n int) RETURNS void LANGUAGE sql AS
    $$INSERT INTO ids (id) SELECT snowflake_at('2022-04-01Z', 'past') FROM generate_series(1, n)$$;
BEGIN;
SELECT take(7);
SAVEPOINT a;
SELECT take(20);
ROLLBACK TO a;
SELECT take(20);
SAVEPOINT b;
SELECT take(3);
RELEASE b;
SAVEPOINT c;
SELECT take(1);
SELECT snowflake_at('infinity', 'past');
ROLLBACK TO c;
SELECT take(3);
COMMIT;
SELECT take(1);
DO $$ BEGIN
    PERFORM take(50);
    RAISE division_by_zero;
EXCEPTION WHEN division_by_zero THEN
    PERFORM take(5);
END $$;
SELECT take(4);
SELECT count(*), count(DISTINCT id), bool_and(ascends) AS ascending, max(snowflake_timestamp(id))
FROM (SELECT id, id > lag(id) OVER (ORDER BY n) AS ascends FROM ids) AS ids;

-- A generator accepts times before its origin only; the default ones have that of the extension.
SELECT name, kind, origin < now() AS past, origin IS NOT NULL AS known FROM snowdrift.generators
WHERE name = 'past' OR name IS NULL ORDER BY name, kind;
SELECT origin AS default_origin FROM snowdrift.generators WHERE name IS NULL AND kind = 'snowflake' \gset
SELECT origin AS past_origin FROM snowdrift.generators WHERE name = 'past' \gset
SELECT snowflake_at(timestamptz :'default_origin' - interval '1 us') < snowflake_boundary(:'default_origin') AS last,
    snowflake_at(timestamptz :'past_origin' - interval '1 us', 'past') < snowflake_boundary(:'past_origin') AS last;
\pset format unaligned
\pset tuples_only on
-- error_of_past(CALL): its error, without the times
CREATE FUNCTION error_of_past(call text) RETURNS text LANGUAGE sql
    RETURN regexp_replace(error_of('SELECT ' || call), '\d{4}-\d\d-\d\d [\d:.]+\+00', 'TIME', 'g');
SELECT error_of_past(format('snowflake_at(%L)', :'default_origin'));
SELECT error_of_past(format('snowflake_at(%L, %L)', :'past_origin', 'past'));
SELECT error_of_past(format('snowflake_at(%L)', now() + interval '1 hour'));
SELECT error_of_past($$snowflake_at('2020-12-31 23:59:59.999Z')$$);
SELECT error_of_past($$snowflake_at('infinity')$$);
SELECT error_of_past($$snowflake_at('-infinity', 'past')$$);
-- Units that are used up are not looked at again, whether the calls are for one time or for many.
SELECT snowdrift.create_generator('dense', 'snowflake', sequence_max => 15);
BEGIN;
SELECT pg_stat_get_xact_numscans('snowdrift_tables.backfill_used'::regclass) AS scans_before \gset
SELECT count(DISTINCT snowflake_at(timestamptz '2022-05-01Z' + i / 64 * interval '1 ms', 'dense')) FROM generate_series(0, 12799) AS i;
SELECT pg_stat_get_xact_numscans('snowdrift_tables.backfill_used'::regclass) - :scans_before < 12000 AS few_scans;
COMMIT;
BEGIN;
SELECT pg_stat_get_xact_numscans('snowdrift_tables.backfill_used'::regclass) AS scans_before \gset
SELECT count(snowflake_at('2022-05-01Z', 'dense'));
SELECT pg_stat_get_xact_numscans('snowdrift_tables.backfill_used'::regclass) - :scans_before < 10 AS few_scans;
COMMIT;
SELECT snowdrift.drop_generator('dense');

-- When all IDs up to the origin are used up
SELECT error_of_past(format('count(snowflake_at(%L, %L)) FROM generate_series(1, 100)',
    timestamptz :'past_origin' - interval '9 ms', 'past'));
\pset format aligned
\pset tuples_only off
SELECT count(DISTINCT snowflake_at(timestamptz :'past_origin' - interval '9 ms', 'past')) FROM generate_series(1, 80);
-- snowdrift.advance() moves the mark, but not the origin.
SELECT snowdrift.advance(now());
SELECT origin = :'default_origin' AS same FROM snowdrift.generators WHERE name IS NULL AND kind = 'snowflake';
SELECT snowflake_at(NULL) IS NULL AS null, snowflake_at(now(), NULL) IS NULL AS null, snowflake_at(NULL, 'nobody') IS NULL AS null;

-- A generator whose origin is unknown
SELECT snowdrift.restore('restored', snowdrift.snapshot('past'));
SELECT snowdrift.create_generator('continued', 'snowflake', worker => 4);
SELECT snowflake_at('2022-01-01Z', 'continued') > 0 AS known;
SELECT snowdrift.restore('continued', snowdrift.snapshot('continued')), snowdrift.restore('continued', snowdrift.snapshot('continued'));
INSERT INTO snowdrift_tables.generator VALUES ('by hand', 1000000001, 'snowflake', 'snowflake', 1, 2, NULL, 0, 4095);
SELECT name, origin FROM snowdrift.generators WHERE name IN ('restored', 'continued', 'by hand') ORDER BY name;
\pset format unaligned
\pset tuples_only on
SELECT error_of_past($$snowflake_at('2022-01-01Z', 'restored')$$);
SELECT error_of_past($$snowflake_at('2022-01-01Z', 'continued')$$);
SELECT error_of_past($$snowflake_at('2022-01-01Z', 'by hand')$$);
\pset format aligned
\pset tuples_only off
SELECT next_snowflake('continued') > 0 AS drawn;
SELECT snowdrift.drop_generator('by hand');

-- A spread sequence: 31 IDs in a unit, from its start
SELECT snowdrift.create_generator('spread', 'snowflake', worker => 7, sequence_min => 100, sequence_max => 131, spread => true);
SELECT count(*), min(snowflake_sequence(id)), max(snowflake_sequence(id)), snowflake_timestamp(id)
FROM (SELECT snowflake_at('2021-01-01 00:00:00Z', 'spread') AS id FROM generate_series(1, 90)) AS ids GROUP BY 4 ORDER BY 4;
SELECT snowdrift.drop_generator('spread');

-- Layouts: longer units, another order of fields, no bits for a node, and one whose times have ended
SELECT snowdrift.create_generator(layout, 'snowflake', layout::snowflake_layout)
FROM unnest(ARRAY['sonyflake', 'mastodon', 'hazelcast']) AS layout;
INSERT INTO snowdrift_tables.generator (name, kind, layout, sequence_min, sequence_max, origin)
    VALUES ('baidu', 'snowflake', 'baidu', 0, 8191, now());
SET snowdrift.node = 5;
SELECT name, parts.*, origin < now() AS past
FROM snowdrift.generators, snowflake_parts(snowflake_at('2024-03-01 12:00:00.129Z', name), layout) AS parts
WHERE name IN ('sonyflake', 'mastodon', 'baidu', 'hazelcast') ORDER BY name COLLATE "C";
SELECT count(DISTINCT id), max(snowflake_timestamp(id, 'sonyflake'))
FROM (SELECT snowflake_at('2024-04-01Z', 'sonyflake') AS id FROM generate_series(1, 1000)) AS ids;
SELECT next_snowflake('sonyflake') > snowflake_at(origin - interval '1 us', 'sonyflake') AS later
FROM snowdrift.generators WHERE name = 'sonyflake';
SET snowdrift.node = 2000;
SELECT snowflake_at('2022-01-01Z');
RESET snowdrift.node;
SELECT snowdrift.create_generator('sno', 'sno');
SELECT snowflake_at('2022-01-01Z', 'sno');
SELECT snowflake_at('2022-01-01Z', 'nobody');

-- Another role needs EXECUTE, but no privilege on the table. Triggers, rules, policies and schemas of other roles have no
-- effect.
CREATE ROLE snowdrift_filler;
SET ROLE snowdrift_filler;
SELECT snowflake_at('2022-05-01Z');
SELECT snowflake_at('2022-05-01Z', 'past');
RESET ROLE;
GRANT EXECUTE ON FUNCTION snowflake_at(timestamptz) TO snowdrift_filler;
BEGIN;
ALTER TABLE snowdrift_tables.backfill ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE RULE no AS ON INSERT TO snowdrift_tables.backfill DO INSTEAD NOTHING;
SET LOCAL ROLE snowdrift_filler;
SET LOCAL search_path = pg_temp;
CREATE TEMPORARY TABLE backfill (generator int, sequence int, unit bigint);
SELECT count(DISTINCT public.snowflake_at('2022-05-01Z')) FROM generate_series(1, 10);
SELECT count(*) FROM pg_temp.backfill;
RESET ROLE;
SELECT count(*) > 1 AS recorded FROM snowdrift_tables.backfill WHERE unit = 41904000000;
ROLLBACK;
SET ROLE snowdrift_filler;
SELECT snowflake_at('2022-05-01Z', 'past');
SELECT FROM snowdrift_tables.backfill;
DELETE FROM snowdrift_tables.backfill;
INSERT INTO snowdrift_tables.backfill VALUES (0, 0, 0);
RESET ROLE;
REVOKE EXECUTE ON FUNCTION snowflake_at(timestamptz) FROM snowdrift_filler;
DROP ROLE snowdrift_filler;
TRUNCATE snowdrift_tables.backfill;
BEGIN READ ONLY;
SELECT snowflake_at('2022-01-01Z');
ROLLBACK;

-- A row replaces those that an earlier command has added for its unit. A rollback restores them.
CREATE VIEW recorded AS SELECT sequence, count(*) FROM snowdrift_tables.backfill WHERE unit = 43200000000 GROUP BY 1 ORDER BY 1;
SELECT snowflake_sequence(snowflake_at('2022-05-16Z'));
SELECT snowflake_sequence(snowflake_at('2022-05-16Z'));
SELECT * FROM recorded;
BEGIN;
SELECT snowflake_sequence(snowflake_at('2022-05-16Z'));
SAVEPOINT a;
SELECT max(snowflake_sequence(snowflake_at('2022-05-16Z'))) FROM generate_series(1, 4);
SELECT * FROM recorded;
SELECT max(snowflake_sequence(snowflake_at('2022-05-16Z'))) FROM generate_series(1, 4);
SELECT * FROM recorded;
ROLLBACK TO a;
SELECT * FROM recorded;
SELECT snowflake_sequence(snowflake_at('2022-05-16Z'));
COMMIT;
SELECT * FROM recorded;
BEGIN;
SELECT snowflake_sequence(snowflake_at('2022-05-16Z'));
ROLLBACK;
SELECT * FROM recorded;
SELECT snowflake_sequence(snowflake_at('2022-05-16Z'));
-- The rows of other units and generators stay.
SELECT snowflake_sequence(snowflake_at('2022-05-16 00:00:00.001Z')), snowflake_sequence(snowflake_at('2022-05-16Z', 'past'));
SELECT snowflake_sequence(snowflake_at('2022-05-16Z'));
SELECT generator = 0 AS of_the_default_generator, unit, sequence FROM snowdrift_tables.backfill WHERE unit IN (43200000000, 43200000001) ORDER BY 1, 2;
DROP VIEW recorded;

-- Isolation levels do not matter.
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT snowflake_sequence(snowflake_at('2022-06-01Z')) FROM generate_series(1, 3);
COMMIT;

-- Rows of a restored dump add to existing rows. Invalid rows do not change other fields of an ID.
INSERT INTO snowdrift_tables.backfill VALUES (0, 2, 44582400000), (0, 9, 44582400000), (0, -5, 44582400001), (0, 2147483647, 44582400002);
SELECT * FROM snowflake_parts(snowflake_at('2022-06-01Z'));
SELECT * FROM snowflake_parts(snowflake_at('2022-06-01 00:00:00.001Z'));
SELECT * FROM snowflake_parts(snowflake_at('2022-06-01 00:00:00.002Z'));

-- Dropping a generator removes its rows, and a rollback restores them.
SELECT id AS past_id FROM snowdrift_tables.generator WHERE name = 'past' \gset
SELECT snowflake_at('2022-07-01Z', 'past') AS first \gset
BEGIN;
SELECT snowdrift.drop_generator('past');
SELECT count(*) FROM snowdrift_tables.backfill WHERE generator = :past_id;
ROLLBACK;
SELECT snowflake_at('2022-07-01Z', 'past') > :first AS goes_on;
SELECT snowdrift.drop_generator('past');
SELECT count(*) FROM snowdrift_tables.backfill WHERE generator = :past_id;
SELECT count(*) > 0 AS others FROM snowdrift_tables.backfill;

-- The origin of a generator is earlier after a reset of the clock, so an ID of a transaction can be after it.
SELECT origin AS first_origin FROM snowdrift.generators WHERE kind = 'snowflake' AND name IS NULL \gset
SELECT snowdrift.create_generator('ahead', 'snowflake', worker => 31, sequence_max => 3);
SET snowdrift.max_clock_lead = '1h';
SELECT snowdrift.advance(clock_timestamp() + interval '30 min');
RESET snowdrift.max_clock_lead;
BEGIN;
SELECT snowflake_timestamp(max(snowflake_at(:'first_origin'::timestamptz - interval '1 ms', 'ahead'))) > :'first_origin' AS after
FROM generate_series(1, 10);
SELECT snowdrift.reset_clock();
SELECT left(error_of(format('SELECT snowflake_at(%L, ''ahead'')', :'first_origin'::timestamptz - interval '1 ms')), 5) AS sqlstate;
COMMIT;

-- A table that was altered is an error.
BEGIN;
ALTER TABLE snowdrift_tables.backfill SET UNLOGGED;
SELECT snowflake_at('2022-01-01Z');
ROLLBACK;
BEGIN;
ALTER TABLE snowdrift_tables.backfill ALTER unit TYPE text;
SELECT snowflake_at('2022-01-01Z');
ROLLBACK;
ALTER INDEX snowdrift_tables.backfill_used RENAME TO renamed;
\c
SELECT snowflake_at('2022-01-01Z');
ALTER INDEX snowdrift_tables.renamed RENAME TO backfill_used;
SELECT snowflake_at('2022-01-01Z') > 0 AS issued;
BEGIN;
ALTER TABLE snowdrift_tables.backfill ADD note text NOT NULL DEFAULT '';
SELECT snowflake_at('2022-01-01Z');
ROLLBACK;
BEGIN;
ALTER TABLE snowdrift_tables.backfill ADD note text;
SELECT snowflake_sequence(snowflake_at('2022-08-01Z'));
ROLLBACK;
BEGIN;
REINDEX INDEX snowdrift_tables.backfill_used;
SELECT snowflake_sequence(snowflake_at('2022-08-01Z')) FROM generate_series(1, 2);
ROLLBACK;
SELECT snowflake_sequence(snowflake_at('2022-08-01Z'));

DROP FUNCTION take, error_of_past;
DROP TABLE ids;
SELECT count(*) FROM (SELECT snowdrift.drop_generator(name) FROM snowdrift_tables.generator) AS dropped;
