-- Auditing a column of IDs
SET TimeZone = 'UTC';

-- A column that was converted from a serial key: the old keys are in one row. The clock of worker 3 of datacenter 0
-- was ahead.
CREATE TABLE orders (id bigint, body text);
INSERT INTO orders SELECT generate_series(1, 5000);
INSERT INTO orders SELECT make_snowflake('2024-01-01Z'::timestamptz + n * interval '1 s', n % 2, 3, n) FROM generate_series(1, 1000) AS n;
INSERT INTO orders VALUES (make_snowflake('2080-01-01Z', 0, 3, 1)), (make_snowflake('2080-01-01Z', 1, 31, 1)), (-1), (-1000), (NULL);
SELECT * FROM snowdrift.audit('orders', 'id');
SELECT * FROM snowdrift.audit('orders', 'id', since => '2024-01-01 00:16:00Z');
-- without the row of small numbers
SELECT finding, count(*), sum(count) FROM snowdrift.audit('orders', 'id', since => '-infinity') GROUP BY finding ORDER BY min(min::bigint);
-- The counts agree with those of the table.
SELECT sum(count) = (SELECT count(*) FROM orders) AS complete FROM snowdrift.audit('orders', 'id');
SELECT a.count = t.count AND a.min::bigint = t.min AND a.max::bigint = t.max AS same
FROM snowdrift.audit('orders', 'id') AS a, (SELECT count(*), min(id), max(id) FROM orders
    WHERE id > 1::bigint << 32 AND snowflake_datacenter(id) = 1 AND snowflake_worker(id) = 3) AS t
WHERE a.finding = 'ID' AND a.datacenter = 1;

-- small numbers: less than 2^32, rounded up to a time unit, but at most a day after the epoch
CREATE TABLE numbers (id bigint);
INSERT INTO numbers SELECT (1::bigint << n) + d FROM generate_series(1, 62) AS n, (VALUES (-1), (0)) AS differences(d);
SELECT layouts.layout, max(max::bigint) AS last, (max(max::bigint) + 1) / (1::bigint << 32) AS "· 2^32"
FROM (VALUES ('snowflake'), ('si'), ('instagram'), ('baidu'), ('epoch=2021-01-01T00:00:00Z unit=1s timestamp=32 sequence=8'),
        ('epoch=2021-01-01T00:00:00Z timestamp=10 sequence=10')) AS layouts(layout),
    snowdrift.audit('numbers', 'id', layouts.layout::snowflake_layout) WHERE finding = 'small number'
GROUP BY layouts.layout ORDER BY layouts.layout COLLATE "C";

-- Values that are not IDs: a negative number is a time before the epoch, unless the layout's timestamps use the
-- sign bit; a number above the layout's largest ID has bits above its fields.
TRUNCATE numbers;
INSERT INTO numbers VALUES (-9223372036854775808), (-1), ((1::bigint << 53) - 1), (1::bigint << 53), (9223372036854775807);
SELECT layouts.layout, finding, count, min, max FROM (VALUES ('si'), ('snowflake'), ('mastodon')) AS layouts(layout),
    snowdrift.audit('numbers', 'id', layouts.layout::snowflake_layout) ORDER BY layouts.layout COLLATE "C", min::bigint;
-- a layout whose last time has passed, and one whose epoch is in the future
SELECT finding, min, max FROM snowdrift.audit('numbers', 'id', 'epoch=2021-01-01T00:00:00Z timestamp=30 sequence=23');
TRUNCATE numbers;
INSERT INTO numbers VALUES (1::bigint << 40);
SELECT finding FROM snowdrift.audit('numbers', 'id', 'epoch=2100-01-01T00:00:00Z timestamp=41 sequence=12');

-- Unix times: numbers of seconds and milliseconds from 2001-09-09 to ten years from now
CREATE TABLE times (id bigint);
INSERT INTO times SELECT (extract(epoch FROM time) * unit)::bigint FROM (VALUES (1), (1000)) AS units(unit),
    (VALUES ('2001-09-09 01:46:40Z'::timestamptz), ('2026-11-01 00:00:00.5Z'), (date_trunc('day', now()) + interval '3640 days')) AS t(time);
SELECT finding, worker, count, first_timestamp, min FROM snowdrift.audit('times', 'id');
SELECT bool_and(last_timestamp = date_trunc('day', now()) + interval '3640 days') AS last FROM snowdrift.audit('times', 'id');
-- in the layouts of all presets; as IDs, they would have these times since the epoch
SELECT finding, count(*), min(age), max(age)
FROM unnest('{snowflake,twitter,discord,mastodon,instagram,pgedge,mastic,si,sonyflake,sonyflake_v2,hazelcast,tsid,clickhouse,baidu,leaf,cosid}'::text[]) AS preset,
    LATERAL (SELECT snowflake_timestamp(1793491200500, preset::snowflake_layout) - snowflake_timestamp(0, preset::snowflake_layout) AS age) AS ages,
    snowdrift.audit('times', 'id', preset::snowflake_layout) GROUP BY finding ORDER BY finding COLLATE "C";
-- in layouts in which they can be IDs, and with since, they are IDs
SELECT layouts.layout, finding, count(*), sum(count) FROM (VALUES ('epoch=2021-01-01T00:00:00Z timestamp=41 sequence=10'),
        ('epoch=2021-01-01T00:00:00Z unit=1s timestamp=32 sequence=8'), ('epoch=2100-01-01T00:00:00Z timestamp=41 sequence=12')) AS layouts(layout),
    snowdrift.audit('times', 'id', layouts.layout::snowflake_layout) GROUP BY layouts.layout, finding ORDER BY layouts.layout COLLATE "C", finding COLLATE "C";
SELECT finding, sum(count) FROM snowdrift.audit('times', 'id', since => '2021-01-01Z') GROUP BY finding;
-- Other IDs of the first week show that the column has IDs of that time; other small numbers, that it has keys of a sequence.
-- Later IDs, and 0, show neither.
BEGIN;
INSERT INTO times VALUES (0), (make_snowflake('2026-11-01Z', 1, 2, 3)), (-1), (NULL);
SELECT finding, worker, count, min FROM snowdrift.audit('times', 'id');
SAVEPOINT a;
INSERT INTO times VALUES (make_snowflake('2021-01-07 23:59:59.999Z', 1, 2, 3));
SELECT finding, sum(count), count(*) > 1 AS nodes FROM snowdrift.audit('times', 'id') GROUP BY finding ORDER BY finding COLLATE "C";
ROLLBACK TO a;
INSERT INTO times VALUES (make_snowflake('2021-01-08Z', 1, 2, 3)), (1);
SELECT finding, sum(count) FROM snowdrift.audit('times', 'id') GROUP BY finding ORDER BY finding COLLATE "C";
ROLLBACK TO a;
INSERT INTO times VALUES (999999999999), (2500000000);
SELECT finding, sum(count) FROM snowdrift.audit('times', 'id') GROUP BY finding ORDER BY finding COLLATE "C";
ROLLBACK;

-- The layout is that of the column's default, and the column "layout" shows it. In the default layout, these IDs would seem
-- to be others.
SELECT snowdrift.create_generator('web', 'snowflake', layout => 'si', worker => 3);
CREATE DOMAIN web_id AS bigint;
CREATE TABLE visits (dropped int, id bigint DEFAULT next_snowflake('web'), other web_id DEFAULT next_snowflake('web'));
ALTER TABLE visits DROP dropped;
INSERT INTO visits SELECT make_snowflake('2024-01-01Z', 0, 3, n, 'si'), make_snowflake('2024-01-01Z', 0, 4, n, 'si') FROM generate_series(1, 5) AS n;
SELECT finding, worker, count, first_timestamp, layout FROM snowdrift.audit('visits', 'id');
SELECT finding, worker, count, layout FROM snowdrift.audit('visits', 'other', sample => 100);
-- An argument overrides it, to read the values in any layout.
SELECT finding, datacenter, worker, count, layout FROM snowdrift.audit('visits', 'id', 'snowflake');
SELECT finding, worker, count, layout FROM snowdrift.audit('visits', 'id', layout => 'si');
-- Without a default of a known layout, a column is read in the default layout.
CREATE VIEW seen_visits AS SELECT id FROM visits;
CREATE TABLE clicks (visit_id bigint, n bigint DEFAULT 1, id bigint GENERATED ALWAYS AS IDENTITY);
INSERT INTO clicks (visit_id) SELECT make_snowflake('2024-01-01Z', 1, 2, 3) FROM generate_series(1, 2);
SELECT audited, finding, datacenter, worker, count, layout FROM (VALUES ('clicks', 'visit_id'), ('clicks', 'n'), ('clicks', 'id'), ('seen_visits', 'id')) AS columns(audited, name),
    snowdrift.audit(audited::regclass, name::name);
SELECT finding, worker, layout FROM snowdrift.audit('seen_visits', 'id', 'si');
-- The default generator has the default layout. The layout of a generator that does not exist is unknown.
ALTER TABLE visits ALTER id SET DEFAULT next_snowflake();
SELECT finding, layout FROM snowdrift.audit('visits', 'id');
ALTER TABLE visits ALTER id SET DEFAULT next_snowflake('missing');
SELECT split_part(error_of($$SELECT snowdrift.audit('visits', 'id')$$), E'\n', 1) AS error;
SELECT finding, worker, layout FROM snowdrift.audit('visits', 'id', 'si');
DROP VIEW seen_visits;
DROP TABLE visits, clicks;
DROP DOMAIN web_id;
SELECT snowdrift.drop_generator('web');

-- layouts: the order of the fields, and fields that a layout lacks
CREATE TABLE flakes (id bigint);
INSERT INTO flakes SELECT make_snowflake('2024-01-01Z', 0, n, 0, 'sonyflake') FROM generate_series(1, 3) AS n, generate_series(1, n);
SELECT finding, datacenter, worker, partition, count, first_timestamp FROM snowdrift.audit('flakes', 'id', 'sonyflake');
TRUNCATE flakes;
INSERT INTO flakes SELECT make_snowflake('2024-01-01Z', 1, 2, n, 'epoch=2021-01-01T00:00:00Z timestamp=41 sequence=12 worker=5 datacenter=5')
FROM generate_series(1, 10) AS n;
SELECT datacenter, worker, count FROM snowdrift.audit('flakes', 'id', 'epoch=2021-01-01T00:00:00Z timestamp=41 sequence=12 worker=5 datacenter=5');

-- UUIDs of version 7; those of other versions are not IDs, whatever their time would be
CREATE TABLE keys (id uuid);
INSERT INTO keys SELECT uuidv7_boundary('2024-01-01Z'::timestamptz + n * interval '1 day') FROM generate_series(0, 9) AS n;
INSERT INTO keys VALUES ('018cc251-f400-4000-8000-000000000000'), ('00000000-0000-0000-0000-000000000000'),
    ('ffffffff-ffff-ffff-ffff-ffffffffffff'), (uuidv7_boundary('2200-01-01Z')), (NULL);
SELECT * FROM snowdrift.audit('keys', 'id');
SELECT finding, count FROM snowdrift.audit('keys', 'id', since => '2024-01-05Z');
-- UUIDs of other versions, each with its count, and those without a version
INSERT INTO keys VALUES ('018cc251-f400-4000-b000-000000000001'), ('c232ab00-9414-11ec-b3c8-9f6bdeced846'), ('1ec9414c-232a-6b00-b3c8-9f6bdeced846'),
    ('2489e9ad-2ee2-8e00-8ec9-32d5f69181c0'), ('00000000-0000-0000-8000-000000000000'), ('ffffffff-ffff-ffff-bfff-ffffffffffff'),
    ('018cc251-f400-7000-0000-000000000000'), ('018cc251-f400-7000-c000-000000000000'), ('ffffffff-ffff-ffff-ffff-fffffffffffe'), ('00000000-0000-0000-0000-000000000000');
SELECT finding, count, first_timestamp, min, max FROM snowdrift.audit('keys', 'id');
SELECT sum(count) = (SELECT count(*) FROM keys) AS complete FROM snowdrift.audit('keys', 'id');
INSERT INTO keys SELECT gen_random_uuid() FROM generate_series(1, 1000);
SELECT finding, count FROM snowdrift.audit('keys', 'id', since => '2024-01-05Z') WHERE finding ~ 'version';

-- domains, and names that need quotes
CREATE SCHEMA "Odd ""schema";
CREATE DOMAIN post_id AS bigint;
CREATE DOMAIN "Odd ""type" AS post_id CHECK (VALUE > 0);
CREATE TABLE "Odd ""schema"."Odd ""name" ("Odd ""column" "Odd ""type");
INSERT INTO "Odd ""schema"."Odd ""name" SELECT make_snowflake('2024-01-01Z', 0, n % 2, 0) FROM generate_series(1, 50) AS n;
SELECT finding, worker, count FROM snowdrift.audit('"Odd ""schema"."Odd ""name"', 'Odd "column');
DROP TABLE "Odd ""schema"."Odd ""name";
DROP DOMAIN "Odd ""type", post_id;

-- The query runs with the caller's path: functions of views and indexes can call others without their schema. When a session
-- first plans a query of a table, PostgreSQL evaluates constant calls in its indexes. The table is found with any path.
CREATE FUNCTION "Odd ""schema".helper(integer) RETURNS integer IMMUTABLE LANGUAGE sql AS 'SELECT $1';
CREATE FUNCTION caller(integer) RETURNS integer IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN $1; END';
SET search_path = public, "Odd ""schema";
CREATE TABLE indexed (id bigint);
CREATE INDEX ON indexed ((id + caller(1)));    -- from PostgreSQL 17 on, with a safe path
CREATE OR REPLACE FUNCTION caller(integer) RETURNS integer IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN helper($1); END';
INSERT INTO indexed VALUES (1);
CREATE VIEW called AS SELECT id * caller(2) AS id FROM indexed;
\c
SELECT split_part(error_of($$SELECT snowdrift.audit('indexed', 'id')$$), E'\n', 1) AS without_path;
SET search_path = public, "Odd ""schema", pg_temp;
CREATE TEMP TABLE indexed (id bigint);
SELECT finding, count, max FROM snowdrift.audit('indexed', 'id');
SELECT finding, count, max FROM snowdrift.audit('called', 'id');
SELECT finding, count, max FROM snowdrift.audit('pg_temp.indexed', 'id');
RESET search_path;
DROP TABLE pg_temp.indexed;
DROP VIEW called;
DROP TABLE indexed;
DROP FUNCTION caller, "Odd ""schema".helper;
DROP SCHEMA "Odd ""schema";

-- The caller's settings change how a result is written, not the result. PL/pgSQL reads its own settings when it compiles a
-- function. Of these, only a superuser can set variable_conflict.
SELECT snowdrift.create_generator('it''s \ "odd"', 'snowflake', layout => 'si', worker => 3);
CREATE TABLE drawn (id bigint DEFAULT next_snowflake('it''s \ "odd"'));
INSERT INTO drawn SELECT make_snowflake('2024-01-01Z', 0, 3, 1, 'si');
CREATE FUNCTION audits() RETURNS TABLE (n bigint, name text, finding text, worker integer, count bigint, first_s numeric, last_s numeric, min text, max text,
    layout text) LANGUAGE sql AS $$
    SELECT row_number() OVER (), t.name, a.finding, a.worker, a.count, extract(epoch FROM a.first_timestamp), extract(epoch FROM a.last_timestamp),
        a.min, a.max, a.layout::text
    FROM (VALUES ('orders'), ('times'), ('flakes'), ('keys'), ('drawn')) AS t(name),
        (VALUES (NULL), (timestamptz '2024-01-01 00:16:00Z')) AS s(since), snowdrift.audit(t.name::regclass, 'id', sample => 100, since => s.since) AS a
$$;
CREATE TABLE audited AS SELECT * FROM audits();
SELECT count(*) > 40 AS enough, count(*) FILTER (WHERE layout = 'si') AS si FROM audited;
-- differences(VARIABLE_CONFLICT): the number of rows that differ with other settings
CREATE FUNCTION differences(variable_conflict text) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config(name, value, true) FROM (VALUES ('TimeZone', 'America/St_Johns'), ('DateStyle', 'German'), ('IntervalStyle', 'sql_standard'),
        ('quote_all_identifiers', 'on'), ('row_security', 'off'), ('plpgsql.extra_errors', 'all'), ('standard_conforming_strings', 'off'),
        ('extra_float_digits', '-5'), ('bytea_output', 'escape')) AS settings(name, value)
    WHERE name <> 'standard_conforming_strings' OR current_setting('server_version_num')::int < 190000;    -- 19 has only standard literals
    IF current_setting('is_superuser')::boolean THEN
        PERFORM set_config('plpgsql.variable_conflict', variable_conflict, true);
    END IF;
    RETURN (SELECT count(*) FROM ((TABLE audited EXCEPT ALL SELECT * FROM audits()) UNION ALL (SELECT * FROM audits() EXCEPT ALL TABLE audited)) AS d);
END $$;
\c
SELECT differences('use_variable');
\c
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
SELECT differences('use_column');
COMMIT;
SET TimeZone = 'UTC';
DROP TABLE audited, drawn;
DROP FUNCTION differences, audits;
SELECT snowdrift.drop_generator('it''s \ "odd"');

-- a view, a materialized view, and a table without rows
CREATE VIEW seen AS SELECT id AS key FROM orders WHERE id < 100;
SELECT finding, count FROM snowdrift.audit('seen', 'key');
CREATE MATERIALIZED VIEW few AS SELECT id AS key FROM orders WHERE id < 10;
SELECT finding, count FROM snowdrift.audit('few', 'key');
CREATE TABLE nothing (id uuid);
SELECT * FROM snowdrift.audit('nothing', 'id');

-- samples
SELECT finding, sum(count) FROM snowdrift.audit('orders', 'id', sample => 100) GROUP BY finding ORDER BY min(min::bigint);
SELECT * FROM snowdrift.audit('orders', 'id', sample => 0);
SELECT coalesce(sum(count), 0) < 6000 AS fewer FROM snowdrift.audit('orders', 'id', 'snowflake', 5);
SELECT error_of(format('SELECT snowdrift.audit(''orders'', ''id'', sample => %L)', sample))
FROM (VALUES ('-1'), ('100.1'), ('NaN'), ('infinity')) AS samples(sample);
SELECT left(error_of($$SELECT snowdrift.audit('seen', 'key', sample => 1)$$), 5) AS sqlstate;

-- an audit in a read-only transaction, and an audit of rows that the same transaction has written
BEGIN READ ONLY;
SELECT count(*) FROM snowdrift.audit('orders', 'id');
COMMIT;
BEGIN;
INSERT INTO nothing SELECT uuidv7_at('2024-01-01Z');
SELECT finding, count FROM snowdrift.audit('nothing', 'id');
ROLLBACK;

-- errors
SELECT error_of(format('SELECT snowdrift.audit(%L, %L)', name, attribute)) FROM (VALUES
    ('orders', 'body'), ('orders', 'missing'), ('orders', 'ctid'), ('4000000000', 'id'), (NULL, 'id'), ('orders', NULL)) AS columns(name, attribute);
SELECT DISTINCT layout FROM snowdrift.audit('orders', 'id', NULL);
SELECT error_of($$SELECT snowdrift.audit('orders', 'id', since => '2100-01-01Z')$$);
SELECT error_of($$SELECT snowdrift.audit('orders', 'id', since => 'infinity')$$);
CREATE INDEX orders_id ON orders (id);
SELECT left(error_of($$SELECT snowdrift.audit('orders_id', 'id')$$), 5) AS sqlstate;

DROP VIEW seen;
DROP MATERIALIZED VIEW few;
DROP TABLE orders, numbers, times, flakes, keys, nothing;
