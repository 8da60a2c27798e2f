-- What only the SQL edition has. ./dev test sql-edition installs it in this database, whose owner runs this file.
-- The owner is no superuser; snowdrift_user has no privileges.
SET TIME ZONE 'UTC';
SELECT rolsuper, (SELECT count(*) FROM pg_extension WHERE extname = 'snowdrift') AS extensions FROM pg_roles WHERE rolname = current_user;

-- ULIDs as UUIDs
SELECT ulid_to_uuid('01AR295ZG3KRC245DAXR3A5NJB'), ulid_to_uuid('01ar295zg3krc245daxr3a5njb'),
    ulid_to_text('01560492-fe03-9e18-2115-aaec06a2d64b');
SELECT ulid_to_text('00000000-0000-0000-0000-000000000000'), ulid_to_text('ffffffff-ffff-ffff-ffff-ffffffffffff'),
    ulid_to_uuid('7ZZZZZZZZZZZZZZZZZZZZZZZZZ'), ulid_to_text(NULL), ulid_to_uuid(NULL);
SELECT bool_and(ulid_to_uuid(ulid_to_text(id)) = id AND ulid_to_uuid(lower(ulid_to_text(id))) = id) AS back,
    bool_and(by_id = by_text) AS sorted
FROM (SELECT id, row_number() OVER (ORDER BY id) AS by_id, row_number() OVER (ORDER BY ulid_to_text(id) COLLATE "C") AS by_text
      FROM (SELECT md5(n::text)::uuid AS id FROM generate_series(1, 300) AS n) AS ids) AS ranks;
\pset format unaligned
\pset tuples_only on
SELECT error_of(format('SELECT ulid_to_uuid(%L)', id))
FROM (VALUES (''), ('01AR295ZG3KRC245DAXR3A5NJ'), ('01AR295ZG3KRC245DAXR3A5NJBB'), ('01AR295ZG3KRC245DAXR3A5NJU'), ('8ZZZZZZZZZZZZZZZZZZZZZZZZZ'))
    AS invalid(id);

-- next_uuidv7() has one time per statement.
SELECT count(DISTINCT id), count(DISTINCT uuidv7_timestamp(id)) AS times,
    bool_and(uuidv7_timestamp(id) = date_trunc('milliseconds', statement_timestamp())) AS of_statement
FROM (SELECT next_uuidv7() AS id FROM generate_series(1, 1000)) AS ids;

-- A layout is checked when a function uses it, not when it is stored.
SELECT 'nonsense'::snowflake_layout;
SELECT error_of($$SELECT snowflake_timestamp(1, 'nonsense')$$) LIKE '22P02: %';
SELECT split_part(error_of($$SELECT snowdrift.create_generator('x', 'sno')$$), E'\n', 1);

-- The default generator has node 0.
SELECT snowflake_datacenter(id), snowflake_worker(id) FROM next_snowflake() AS id;
SELECT name IS NULL AS unnamed, layout, datacenter, worker FROM snowdrift.generators;
SELECT error_of($$SELECT snowdrift.drop_generator('')$$);

-- advance() accepts times up to 60 s ahead of the clock, and never sets a state back.
SELECT left(error_of(format('SELECT snowdrift.advance(%L)', clock_timestamp() + interval '70 s')), 5);
SELECT left(error_of(format('SELECT snowdrift.advance(%L)', time)), 5) FROM (VALUES ('infinity'), ('294276-01-01'), ('9999-01-01')) AS times(time);
SELECT next_snowflake() AS last, clock_timestamp() + interval '2 s' AS mark \gset
SELECT error_of(format('SELECT snowdrift.advance(%L)', time)) FROM (VALUES ('4714-11-24 BC'), ('1970-01-01'), ('2021-01-01'), ('2021-01-01 00:00:00.001')) AS times(time);
SELECT next_snowflake() > :last;
SELECT snowdrift.advance(:'mark'), snowdrift.advance(:'mark'::timestamptz - interval '1 s'), snowdrift.advance(NULL);
SELECT snowflake_timestamp(next_snowflake()) > :'mark'::timestamptz, lead BETWEEN '1 us' AND '2 s' FROM snowdrift.generators WHERE name IS NULL;

-- In a read-only transaction, drawing fails, and reading works.
BEGIN READ ONLY;
SELECT left(error_of('SELECT next_snowflake()'), 5), left(error_of('SELECT * FROM next_snowflakes(2)'), 5), next_uuidv7() IS NOT NULL;
SELECT count(*) FROM snowdrift.generators;
ROLLBACK;

-- Generators are not changed with an older snapshot, which lacks what others have done.
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT left(error_of(format('SELECT snowdrift.%s', call)), 5)
FROM (VALUES ('create_generator(''x'', ''snowflake'')'), ('drop_generator(''x'')'), ('advance(now())')) AS calls(call);
ROLLBACK;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT error_of('SELECT snowdrift.advance(now())');
ROLLBACK;

-- Rows are neither truncated nor changed as those of another server.
SELECT error_of('TRUNCATE snowdrift_tables.generator');
SELECT left(error_of($$INSERT INTO snowdrift_tables.generator SELECT 'x', layout, 0, 0, fields, 'snowdrift_tables.x' FROM snowdrift_tables.default_generator()$$), 5);

-- A state after all IDs of a time unit, which snowdrift.advance() sets, is its last ID, also if the sequence is spread.
SELECT snowdrift.create_generator('spread', 'snowflake', worker => 9, spread => true);
SELECT min(snowflake_sequence(id)), max(snowflake_sequence(id))
FROM snowdrift_tables.generator AS g, generate_series(1900000000000, 1900000000099) AS unix_ms,
    snowdrift_tables.id_of(snowdrift_tables.last_state_at(unix_ms, g.fields), g, g.fields) AS id WHERE name = 'spread';
SELECT snowdrift.drop_generator('spread');

-- No call leaves a lock behind, whether it succeeds or fails.
BEGIN;
SELECT next_snowflake() > 0, (SELECT count(*) FROM next_snowflakes(10));
SELECT left(error_of('SELECT next_snowflake(''nobody'')'), 5);
SET TRANSACTION READ ONLY;
SELECT left(error_of('SELECT next_snowflake()'), 5);
SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'advisory';
COMMIT;

-- the end of a layout, and a clock behind the last ID: states that the owner sets by hand
SELECT snowdrift.create_generator('future', 'snowflake', worker => 9);
SELECT state AS future FROM snowdrift_tables.generator WHERE name = 'future' \gset
SELECT setval(:'future', (snowflake_boundary(now() + interval '10 minutes') >> 22) << 12) > 0;
SELECT regexp_replace(error_of($$SELECT next_snowflake('future')$$), '\d{6} ms', 'N ms');
SELECT setval(:'future', (snowflake_boundary(now() + interval '20 seconds') >> 22) << 12) AS state \gset
SELECT snowflake_sequence(id), snowflake_timestamp(id) > now() + interval '10 seconds' FROM next_snowflakes(2, 'future') AS id;
SELECT snowdrift.drop_generator('future');
-- A generator begins after a dropped one.
SET client_min_messages = warning;
SELECT snowdrift.create_generator('future', 'snowflake', worker => 10);
SELECT snowflake_timestamp(next_snowflake('future')) > now() + interval '10 seconds';
SELECT snowdrift.drop_generator('future');

-- Session settings change no result.
SET array_nulls = off;
SET DateStyle = 'SQL, DMY';
SET IntervalStyle = 'sql_standard';
SET extra_float_digits = -15;
SET quote_all_identifiers = on;
SELECT snowflake_timestamp(132271570944274432, 'epoch=2021-01-01T00:00:00Z timestamp=41 datacenter=5 worker=5 sequence=12') = '2022-01-01',
    snowflake_boundary('2022-01-01') = 132271570944000000 AS boundary, uuidv7_timestamp(uuidv7_boundary('2022-01-01')) = '2022-01-01' AS uuid;
CREATE TABLE defaults (id bigint DEFAULT next_snowflake('it''s\a'));
SELECT snowdrift.create_generator('it''s\a', 'snowflake', worker => 11);
CREATE TABLE named_notation (id bigint DEFAULT next_snowflake(generator => 'it''s\a'), other bigint DEFAULT next_snowflake('it''s\a'::varchar),
    at timestamptz DEFAULT snowflake_timestamp(1, snowdrift.generator_layout('it''s\a')), unrelated text DEFAULT 'it''s\a'::text);
CREATE DOMAIN numbers AS bigint DEFAULT next_snowflake('it''s\a');
SELECT error_of($$SELECT snowdrift.drop_generator('it''s\a')$$);
DROP TABLE defaults, named_notation;
DROP DOMAIN numbers;
SELECT snowdrift.drop_generator('it''s\a');
RESET ALL;
SET TIME ZONE 'UTC';

-- The planner inlines calls with a constant layout: the plan calls no function of the edition, but for errors.
CREATE TABLE ids (id bigint, uuid uuid);
CREATE FUNCTION output_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
    EXECUTE 'EXPLAIN (VERBOSE, FORMAT json) ' || query INTO plan;
    RETURN plan->0->'Plan'->'Output'->>0;
END $$;
SELECT output_of($$SELECT snowflake_worker(id, 'twitter') FROM ids$$);
SELECT call, regexp_matches(output_of(format('SELECT %s FROM ids', call)), '(snowflake_\w+|uuidv7_\w+|fields_of|time_of|check_id|is_uuidv7)') AS not_inlined
FROM (VALUES ('snowflake_timestamp(id)'), ('snowflake_timestamp(id, ''si'')'), ('snowflake_datacenter(id)'), ('snowflake_worker(id, ''baidu'')'),
    ('snowflake_sequence(id)'), ('uuidv7_timestamp(uuid)'), ('snowflake_within(id, ''[2026-01-01,)'')')) AS calls(call);

-- Objects of others are not called: neither those in the search path before pg_catalog nor those in public.
CREATE SCHEMA evil;
DO $$
DECLARE
    o record;
    types CONSTANT oidvector := '16 20 23 25 701 1114 1184 1186 1560 1562 1700 2950 3910';
BEGIN
    FOR o IN SELECT oprname, format_type(oprleft, NULL) AS l, format_type(oprright, NULL) AS r, format_type(oprresult, NULL) AS result
        FROM pg_operator WHERE oprnamespace = 'pg_catalog'::regnamespace AND oprkind = 'b' AND oprcode <> 0
            AND oprleft = ANY (types) AND oprright = ANY (types) LOOP
        EXECUTE format('CREATE FUNCTION evil.%I(%s, %s) RETURNS %s LANGUAGE plpgsql AS $f$ BEGIN RAISE ''called''; END $f$',
            'operator_' || md5(o::text), o.l, o.r, o.result);
        EXECUTE format('CREATE OPERATOR evil.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = evil.%I)',
            o.oprname, o.l, o.r, 'operator_' || md5(o::text));
    END LOOP;
    FOR o IN SELECT proname, pg_get_function_identity_arguments(oid) AS arguments, format_type(prorettype, NULL) AS result
        FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND prokind = 'f' AND NOT proretset AND '"any"'::regtype <> ALL (proargtypes)
            AND proname IN ('floor', 'ceil', 'lower', 'upper', 'lpad', 'to_hex', 'substr', 'substring', 'replace', 'translate', 'left',
                'right', 'length', 'strpos', 'ltrim', 'rtrim', 'btrim', 'nextval', 'setval', 'now', 'clock_timestamp', 'statement_timestamp',
                'pg_advisory_xact_lock', 'pg_sleep', 'pg_sequence_last_value', 'isempty', 'lower_inc', 'upper_inc', 'md5', 'sha256',
                'encode', 'format', 'to_char', 'timezone', 'extract', 'gen_random_uuid') LOOP
        EXECUTE format('CREATE FUNCTION evil.%I(%s) RETURNS %s LANGUAGE plpgsql AS $f$ BEGIN RAISE ''called''; END $f$',
            o.proname, o.arguments, o.result);
    END LOOP;
END $$;
-- in public: operators that fit better than those of pg_catalog
CREATE FUNCTION public.trap(numeric, integer) RETURNS numeric LANGUAGE plpgsql AS $$ BEGIN RAISE 'called'; END $$;
CREATE OPERATOR public.* (LEFTARG = numeric, RIGHTARG = integer, FUNCTION = public.trap);
CREATE OPERATOR public.+ (LEFTARG = numeric, RIGHTARG = integer, FUNCTION = public.trap);
CREATE FUNCTION public.trap(bigint, bigint) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RAISE 'called'; END $$;
CREATE OPERATOR public.>> (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = public.trap);
CREATE OPERATOR public.<< (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = public.trap);
CREATE FUNCTION public.trap(text, numeric) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE 'called'; END $$;
CREATE OPERATOR public.|| (LEFTARG = text, RIGHTARG = numeric, FUNCTION = public.trap);
-- in any schema of the search path, also the temporary one: a type with the name of a built-in one
CREATE FUNCTION evil.trap(anyelement) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE 'called'; END $$;
CREATE DOMAIN evil.text AS pg_catalog.text CHECK (evil.trap(VALUE));
CREATE DOMAIN pg_temp.text AS pg_catalog.text CHECK (evil.trap(VALUE));
CREATE TABLE parted (id bigint PRIMARY KEY DEFAULT next_snowflake(), other bigint REFERENCES parted) PARTITION BY RANGE (id);
SELECT set_config('search_path', 'evil, public, pg_catalog', false);
\set VERBOSITY terse
SELECT 1 + 1;    -- These objects are called.
SELECT lower('A');
SELECT ''::text;
SELECT public.snowflake_timestamp(132271570944274432), public.snowflake_worker(132271570944274432, 'twitter'), public.snowflake_parts(132271570944274432);
SELECT public.snowflake_boundary('2022-01-01'), public.make_snowflake('2022-01-01', 2, 3, 4, 'epoch=2021-01-01T00:00:00Z unit=10ms timestamp=39 datacenter=4 worker=4 sequence=8');
SELECT public.snowflake_within(132271570944274432, '[2022-01-01,2023-01-01)'), public.snowflake_to_text(132271570944274432), public.snowflake_from_text('03NFC9C008C00');
SELECT public.uuidv7_timestamp('017F22E2-79B0-7CC3-98C4-DC0C0C07398F'), public.uuidv7_boundary('2022-01-01'), public.uuidv7_within('017F22E2-79B0-7CC3-98C4-DC0C0C07398F', '(,)');
SELECT public.typeid_to_text('user', '01890a5d-ac96-774b-bcce-b302099a8057'), public.typeid_to_uuid('user_01h455vb4pex5vsknk084sn02q'), public.ulid_to_uuid('01AR295ZG3KRC245DAXR3A5NJB');
SELECT public.next_uuidv7() IS NOT NULL, public.uuidv7_at('2022-01-01') IS NOT NULL, public.next_snowflake() IS NOT NULL;
SELECT pg_catalog.count(*) FROM public.next_snowflakes(3);
SELECT snowdrift.create_generator('safe', 'snowflake', worker => 12);
SELECT snowdrift.generator_layout('safe');
CREATE TABLE public.audited (id bigint DEFAULT public.next_snowflake('safe'), u uuid DEFAULT public.next_uuidv7());
INSERT INTO public.audited DEFAULT VALUES;
INSERT INTO public.audited VALUES (1793491200500, '00000000-0000-0000-0000-000000000000');
SELECT pg_catalog.sum(count) FROM snowdrift.audit('public.audited', 'id', sample => 100);
SELECT pg_catalog.sum(count) FROM snowdrift.audit('public.audited', 'u', since => '2022-01-01Z');
DROP TABLE public.audited;
SELECT snowdrift.advance('2022-01-01'), pg_catalog.count(*) FROM snowdrift.generators;
SELECT snowdrift.drop_generator('safe');
SELECT pg_catalog.count(*) FROM snowdrift.create_partitions('public.parted', '1 month', '2022-01-01Z', '2022-04-01Z');
SELECT pg_catalog.count(*) FROM snowdrift.create_partitions('public.parted', '1 day');
INSERT INTO public.parted SELECT public.snowflake_boundary(t) FROM (VALUES ('2022-01-02Z'::pg_catalog.timestamptz), ('2022-02-02Z'), ('2022-03-02Z'), ('2022-04-02Z')) AS times(t);
SELECT partition FROM snowdrift.drop_partitions('public.parted', '63 days');
SELECT partition FROM snowdrift.drop_partitions_before('public.parted', '2022-03-01Z');
SELECT pg_catalog.count(*) FROM snowdrift.partitions('public.parted');
SELECT public.make_snowflake('2022-01-01', 99, 0, 0);
SELECT public.snowflake_timestamp(1, 'epoch=0 timestamp=41 sequence=32');
SELECT public.typeid_to_uuid('User_01h455vb4pex5vsknk084sn02q');
\set VERBOSITY default
RESET search_path;
SET client_min_messages = warning;
DROP TABLE parted;
DROP DOMAIN pg_temp.text;
DROP SCHEMA evil CASCADE;
DROP FUNCTION public.trap(numeric, integer), public.trap(bigint, bigint), public.trap(text, numeric) CASCADE;
-- All functions have a fixed search path, or a body that was parsed when they were created; next_snowflake(text), and those
-- that execute statements on users' tables, have qualified names, which the statements above test.
SELECT oid::regprocedure FROM pg_proc
WHERE (pronamespace IN ('snowdrift'::regnamespace, 'snowdrift_tables'::regnamespace) OR oid IN (SELECT objoid FROM pg_description
        WHERE classoid = 'pg_proc'::regclass AND pronamespace = 'public'::regnamespace))
    AND prosqlbody IS NULL AND NOT coalesce(proconfig @> ARRAY['search_path=pg_catalog, pg_temp'], false)
ORDER BY oid::regprocedure::text COLLATE "C";

-- privileges: any role can draw, decode and read the definitions; only the owner creates, drops and advances generators
SELECT snowdrift.create_generator('shared', 'snowflake', worker => 13);
SET ROLE snowdrift_user;
SELECT next_snowflake() > 0, snowflake_worker(next_snowflake('shared')), (SELECT count(*) FROM next_snowflakes(3, 'shared')), snowflake_worker(132271570944274432),
    snowflake_timestamp(132271570944274432, snowdrift.generator_layout('shared')), next_uuidv7() IS NOT NULL;
SELECT string_agg(name, ' ') FROM snowdrift.generators;
SELECT split_part(error_of(query), E'\n', 1) FROM (VALUES
    ($$SELECT snowdrift.create_generator('mine', 'snowflake')$$), ($$SELECT snowdrift.drop_generator('shared')$$),
    ($$SELECT snowdrift.advance(now())$$), ($$SELECT * FROM snowdrift_tables.generator$$), ($$LOCK snowdrift_tables.generator$$),
    ($$SELECT nextval('snowdrift_tables.state')$$), ($$SELECT snowdrift_tables.unix_ms()$$), ($$CREATE TABLE snowdrift.mine ()$$),
    ($$INSERT INTO snowdrift.generators (name) VALUES ('mine')$$), ($$LOCK snowdrift.generators$$)) AS queries(query);
RESET ROLE;
SELECT snowdrift.drop_generator('shared');
-- next_snowflake() calls next_snowflake(text), and both need EXECUTE.
CREATE TABLE granted (id bigserial PRIMARY KEY);
GRANT INSERT ON granted TO snowdrift_user;
REVOKE EXECUTE ON FUNCTION next_snowflake(text) FROM PUBLIC;
SELECT line FROM snowdrift.convert_keys('{granted}') AS line WHERE line ~ 'privilege';
GRANT EXECUTE ON FUNCTION next_snowflake(text) TO PUBLIC;
DROP TABLE granted;
-- The sequence of the default generator was dropped.
BEGIN;
DROP SEQUENCE snowdrift_tables.state;
SELECT error_of('SELECT next_snowflake()');
ROLLBACK;

-- A trigger function of the owner's runs on its own table only: members of pg_read_all_data can use the schema.
GRANT USAGE ON SCHEMA snowdrift_tables TO snowdrift_user;
SET ROLE snowdrift_user;
CREATE TYPE pg_temp.trap AS ENUM ('snowdrift_tables.x');
CREATE FUNCTION pg_temp.trap(pg_temp.trap) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE 'called'; END $$;
CREATE CAST (pg_temp.trap AS text) WITH FUNCTION pg_temp.trap(pg_temp.trap) AS IMPLICIT;
CREATE TEMP TABLE trap_rows (state pg_temp.trap);
CREATE TRIGGER trap BEFORE INSERT ON trap_rows FOR EACH ROW EXECUTE FUNCTION snowdrift_tables.create_state();
SELECT error_of($$INSERT INTO trap_rows VALUES ('snowdrift_tables.x')$$);
DROP TABLE pg_temp.trap_rows;
DROP TYPE pg_temp.trap CASCADE;
RESET ROLE;
REVOKE USAGE ON SCHEMA snowdrift_tables FROM snowdrift_user;

-- The IDs of two generators can be equal if their timestamps have the same place, and the node bits that neither sequence can set are equal.
SET client_min_messages = notice;
SELECT snowdrift.create_generator('wide', 'snowflake', 'epoch=2021-01-01T00:00:00Z timestamp=41 worker=8 sequence=14', worker => 12);
SELECT snowdrift.create_generator('equal', 'snowflake', worker => 16, datacenter => 1);
SELECT snowdrift.create_generator('narrow', 'snowflake', worker => 17, datacenter => 1);
SELECT snowdrift.create_generator('another', 'snowflake', worker => 12);
RESET client_min_messages;
SELECT count(*) FROM (SELECT snowdrift.drop_generator(name) FROM unnest('{wide,equal,narrow,another}'::text[]) AS name) AS dropped;

-- Default privileges give nobody a right on the state of a generator.
ALTER DEFAULT PRIVILEGES GRANT ALL ON SEQUENCES TO snowdrift_user, PUBLIC;
SELECT snowdrift.create_generator('guarded', 'snowflake', worker => 14);
SELECT count(*) AS states, bool_or(has_sequence_privilege('snowdrift_user', oid, 'UPDATE, SELECT, USAGE')) AS granted
FROM pg_class WHERE relnamespace = 'snowdrift_tables'::regnamespace AND relkind = 'S' AND oid = (SELECT max(oid) FROM pg_class WHERE relkind = 'S');
SELECT snowdrift.drop_generator('guarded');
ALTER DEFAULT PRIVILEGES REVOKE ALL ON SEQUENCES FROM snowdrift_user, PUBLIC;

-- objects.txt has a line for each object of the edition, its comment and its privileges, as pg_restore -l shows them.
\getenv abs_srcdir PG_ABS_SRCDIR
\set objects '''' :abs_srcdir '/sql-edition/objects.txt'''
\set read_objects '\\copy objects FROM ' :objects
CREATE TABLE objects (line text);
:read_objects
SET search_path = pg_catalog;
CREATE TEMP VIEW expected AS
WITH schemas(oid, name) AS (SELECT oid, nspname::text FROM pg_namespace WHERE nspname IN ('snowdrift', 'snowdrift_tables')),
functions(oid, name, kind, signature, identity, acl) AS (
    SELECT p.oid, pronamespace::regnamespace::text, CASE prokind WHEN 'p' THEN 'PROCEDURE' ELSE 'FUNCTION' END, format('%s(%s)', proname,
            (SELECT string_agg(format_type(type, NULL), ', ' ORDER BY n) FROM unnest(proargtypes) WITH ORDINALITY AS types(type, n))),
        format('%s(%s)', proname, pg_get_function_identity_arguments(p.oid)), proacl
    FROM pg_proc AS p LEFT JOIN pg_description AS d ON d.classoid = 'pg_proc'::regclass AND d.objoid = p.oid
    WHERE pronamespace IN (SELECT oid FROM schemas) OR pronamespace = 'public'::regnamespace AND d.description IS NOT NULL),
relations(oid, name, kind, acl) AS (
    SELECT oid, format('%s %s', relnamespace::regnamespace, relname), CASE relkind WHEN 'v' THEN 'VIEW' WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, relacl
    FROM pg_class WHERE relnamespace IN (SELECT oid FROM schemas) AND relkind IN ('r', 'v', 'S') AND relname NOT LIKE 'state\_%'),
types(oid, name, kind) AS (
    SELECT t.oid, format('%s %s', typnamespace::regnamespace, typname), CASE typtype WHEN 'd' THEN 'DOMAIN' ELSE 'TYPE' END
    FROM pg_type AS t LEFT JOIN pg_class AS c ON c.oid = typrelid
    WHERE typtype = 'd' AND typnamespace = 'public'::regnamespace OR typnamespace IN (SELECT oid FROM schemas) AND c.relkind = 'c'),
objects(classoid, objoid, line, comment, acl) AS (
    SELECT 'pg_namespace'::regclass, n.oid, 'SCHEMA - ' || name, '- SCHEMA ' || name, '- SCHEMA ' || name
        FROM schemas JOIN pg_namespace AS n USING (oid)
    UNION ALL SELECT 'pg_proc'::regclass, oid, format('%s %s %s', kind, name, signature), format('%s %s %s', name, kind, identity),
        format('%s %s %s', name, kind, identity) FROM functions    -- which ALTER DEFAULT PRIVILEGES can give privileges
    UNION ALL SELECT 'pg_class'::regclass, oid, kind || ' ' || name, regexp_replace(name, ' ', format(' %s ', kind)),
        CASE WHEN acl IS NOT NULL THEN regexp_replace(name, ' ', ' TABLE ') END FROM relations
    UNION ALL SELECT 'pg_type'::regclass, oid, kind || ' ' || name, regexp_replace(name, ' ', format(' %s ', kind)), regexp_replace(name, ' ', ' TYPE ') FROM types)
SELECT line || ' ' AS line FROM objects WHERE line <> 'SEQUENCE snowdrift_tables state'
UNION ALL SELECT format('COMMENT %s ', comment) FROM objects WHERE EXISTS
    (SELECT FROM pg_description AS d WHERE (d.classoid, d.objoid) = (objects.classoid, objects.objoid))
UNION ALL SELECT format('ACL %s ', acl) FROM objects WHERE acl IS NOT NULL
UNION ALL SELECT format('CONSTRAINT %s %s ', regexp_replace(conrelid::regclass::text, '[.]', ' '), conname) FROM pg_constraint
    WHERE connamespace IN (SELECT oid FROM schemas) AND contype IN ('p', 'u')
UNION ALL SELECT format('TRIGGER %s %s ', regexp_replace(tgrelid::regclass::text, '[.]', ' '), tgname) FROM pg_trigger JOIN pg_class AS c ON c.oid = tgrelid
    WHERE relnamespace IN (SELECT oid FROM schemas)
-- data and statistics; the beginnings of names, for the sequences of named generators
UNION ALL VALUES ('ACL snowdrift_tables '), ('TABLE DATA snowdrift_tables generator '), ('TABLE DATA snowdrift_tables published_watermark '), ('STATISTICS DATA snowdrift_tables '),
    ('SEQUENCE snowdrift_tables state'), ('SEQUENCE SET snowdrift_tables state'), ('SEQUENCE SET snowdrift_tables dropped_ms ');
SELECT 'missing: ' || line FROM expected EXCEPT SELECT 'missing: ' || line FROM public.objects ORDER BY 1;
SELECT 'superfluous: ' || line FROM public.objects EXCEPT SELECT 'superfluous: ' || line FROM expected ORDER BY 1;
RESET search_path;
DROP TABLE objects;
DROP FUNCTION output_of;
DROP TABLE ids;
\pset format aligned
\pset tuples_only off
