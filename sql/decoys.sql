-- The extension uses no objects of other roles, even if these have the names of its own or PostgreSQL's objects.
-- The decoys are in the extension's schema and in public; some exist before CREATE EXTENSION, others are added
-- later. Each raises an error when called.
CREATE DATABASE snowdrift_decoys TEMPLATE template0;
\c snowdrift_decoys
CREATE SCHEMA ids;
CREATE FUNCTION public.trap(text) RETURNS text
LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN RAISE EXCEPTION 'decoy % was called', $1; END $$;

-- decoys(SCHEMA, NAMES): creates functions of these names, one for each list of argument types
CREATE FUNCTION public.decoys(schema text, names text[]) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog AS $do$
DECLARE
    name text;
    types text;
    count bigint = 0;
BEGIN
    FOREACH name IN ARRAY names LOOP
        FOREACH types IN ARRAY ARRAY['', 'text', 'text, text', 'text, text, text', 'text, integer', 'integer',
            'text, anyelement', 'anyelement', 'anyelement, text', 'anyelement, anyelement', 'regclass', 'name',
            'timestamptz', 'timestamptz, text', 'timestamptz, timestamptz', 'tstzrange', 'tstzrange, text',
            'bigint', 'bigint, text', 'bigint, tstzrange, text', 'bigint, text, text', 'text, text, text, text',
            'numeric', 'interval', 'timestamp, interval', 'text, boolean', 'VARIADIC text[]'] LOOP
            BEGIN
                EXECUTE format('CREATE FUNCTION %I.%I(%s) RETURNS text LANGUAGE sql AS %L', schema, name, types,
                    format('SELECT public.trap(%L)', format('%s.%s(%s)', schema, name, types)));
                count = count + 1;
            EXCEPTION WHEN duplicate_function THEN NULL; -- a function of the extension
            END;
        END LOOP;
    END LOOP;
    RETURN count;
END $do$;

-- decoy_operators(SCHEMA, TYPES): creates operators between these types, with the names of PostgreSQL's own
CREATE FUNCTION public.decoy_operators(schema text, types text[]) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog AS $do$
DECLARE
    operator text;
    "left" text;
    "right" text;
    count bigint = 0;
BEGIN
    FOREACH "left" IN ARRAY types LOOP FOREACH "right" IN ARRAY types LOOP
        EXECUTE format('CREATE FUNCTION %I.trap_operator(%s, %s) RETURNS boolean LANGUAGE sql AS %L',
            schema, "left", "right", $$SELECT public.trap('operator') = ''$$);
        FOREACH operator IN ARRAY ARRAY['<', '<=', '=', '<>', '>=', '>', '<@', '@>', '||', '+', '-', '*', '%', '~'] LOOP
            BEGIN
                EXECUTE format('CREATE OPERATOR %I.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = %I.trap_operator)',
                    schema, operator, "left", "right", schema);
                count = count + 1;
            EXCEPTION WHEN duplicate_function THEN NULL;
            END;
        END LOOP;
    END LOOP; END LOOP;
    RETURN count;
END $do$;

-- Before: functions and operators that the script calls, or could call.
SELECT public.decoys(schema, ARRAY['nextval', 'setval', 'set_config', 'pg_extension_config_dump', 'format',
        'length', 'upper', 'lower', 'coalesce', 'concat', 'to_char',
        'date_trunc', 'date_bin', 'extract', 'isfinite', 'make_interval', 'generate_series', 'array_agg',
        'count', 'sum', 'pg_typeof', 'to_regclass', 'get_byte', 'uuid_send', 'regexp_match', 'pg_get_expr', 'quote_ident', 'current_setting', 'octet_length', 'tstzrange',
        'timezone', 'eqsel', 'neqsel', 'scalarltsel', 'btequalimage', 'brin_minmax_opcinfo', 'now']) > 0 AS planted
FROM (VALUES ('ids'), ('public')) AS schemas(schema);
SELECT public.decoy_operators(schema, ARRAY['text', 'integer', 'bigint', 'regtype', 'oid', 'name', 'timestamptz',
        'timestamp', 'interval', 'numeric', 'uuid', 'bytea', 'tstzrange']) > 0 AS planted
FROM (VALUES ('ids'), ('public')) AS schemas(schema);
CREATE TYPE public.ulid AS ENUM ('decoy');
CREATE TYPE public.sno AS (decoy text);
CREATE DOMAIN public.snowflake_layout AS text;
CREATE TYPE public.timestamptz AS ENUM ('decoy');
CREATE DOMAIN ids.bigint AS text;
CREATE DOMAIN ids.regclass AS text;
CREATE DOMAIN ids.text AS integer;
SET search_path = ids, public;
CREATE EXTENSION snowdrift SCHEMA ids;

-- After: functions with the names and arguments of those of the extension, in the schemas that do not have these.
CREATE FUNCTION public.twins(VARIADIC schemas text[]) RETURNS bigint LANGUAGE plpgsql SET search_path = pg_catalog AS $do$
DECLARE
    schema text;
    f record;
    count bigint = 0;
BEGIN
    FOREACH schema IN ARRAY schemas LOOP
        FOR f IN SELECT proname, oidvectortypes(proargtypes) AS types, prorettype::regtype AS result
            FROM pg_proc AS p JOIN pg_depend ON classid = 'pg_proc'::regclass AND objid = p.oid AND deptype = 'e'
            WHERE refclassid = 'pg_extension'::regclass AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'snowdrift')
        LOOP
            BEGIN
                EXECUTE format('CREATE FUNCTION %I.%I(%s) RETURNS %s IMMUTABLE LANGUAGE plpgsql AS %L', schema, f.proname, f.types,
                    f.result, format('BEGIN RAISE EXCEPTION ''decoy of %s was called''; END', f.proname));
                count = count + 1;
            EXCEPTION WHEN duplicate_function OR feature_not_supported THEN
                NULL; -- the function itself, or one that PL/pgSQL cannot define
            END;
        END LOOP;
    END LOOP;
    RETURN count;
END $do$;
SELECT public.twins('ids', 'public') > 150 AS planted;
-- Overloads of all functions of the extension. A call with untyped literals could resolve to them.
SELECT public.decoys(schema, names) > 0 AS planted
FROM (VALUES ('ids'), ('public')) AS schemas(schema),
    (SELECT pg_catalog.array_agg(DISTINCT proname::pg_catalog.text) AS names
     FROM pg_catalog.pg_proc JOIN pg_catalog.pg_depend ON classid OPERATOR(pg_catalog.=) 'pg_proc'::pg_catalog.regclass
        AND objid OPERATOR(pg_catalog.=) pg_proc.oid AND deptype OPERATOR(pg_catalog.=) 'e'
     WHERE refclassid OPERATOR(pg_catalog.=) 'pg_extension'::pg_catalog.regclass
        AND refobjid OPERATOR(pg_catalog.=) (SELECT oid FROM pg_catalog.pg_extension WHERE extname OPERATOR(pg_catalog.=) 'snowdrift'::pg_catalog.name)) AS own;
-- Functions that the planner could mistake for those of a predicate, such as first_ulid_before(ulid) for
-- now() > id.
CREATE FUNCTION ids.pair(prefix pg_catalog.text, type pg_catalog.text, name pg_catalog.text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE pg_catalog.format('CREATE FUNCTION ids.%1$s_%2$s_%3$s(ids.%2$s) RETURNS ids.%2$s IMMUTABLE LANGUAGE plpgsql AS %4$L',
        prefix, type, name, 'BEGIN RAISE EXCEPTION ''decoy of a pair was called''; END');
END $$;
SELECT ids.pair(prefix, type, name) FROM
    (VALUES ('first'), ('last')) AS prefixes(prefix), (VALUES ('ulid'), ('sno')) AS types(type),
    (VALUES ('before'), ('until'), ('after'), ('since'), ('within')) AS names(name);
CREATE CAST (ids.ulid AS pg_catalog.text) WITH INOUT AS IMPLICIT;
CREATE CAST (ids.sno AS pg_catalog.text) WITH INOUT AS IMPLICIT;
-- A domain with an operator of its own, which fits better than that of its type
CREATE DOMAIN ids.key AS ids.ulid DEFAULT ids.next_ulid();
CREATE TABLE public.keyed (id ids.key PRIMARY KEY);
INSERT INTO public.keyed DEFAULT VALUES;
CREATE FUNCTION ids.trap_key(ids.key, ids.ulid) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'decoy of an operator was called'; END $$;
CREATE OPERATOR ids.< (LEFTARG = ids.key, RIGHTARG = ids.ulid, FUNCTION = ids.trap_key);
CREATE OPERATOR ids.> (LEFTARG = ids.key, RIGHTARG = ids.ulid, FUNCTION = ids.trap_key);
CREATE SCHEMA elsewhere;
CREATE SEQUENCE elsewhere.mark;
CREATE TABLE elsewhere.generator (name pg_catalog.text);

-- All calls work with any search_path, if they name the schema and cast literals to their types.
CREATE FUNCTION public.everything() RETURNS SETOF pg_catalog.text LANGUAGE plpgsql AS $do$
DECLARE
    statement pg_catalog.text;
BEGIN
    FOREACH statement IN ARRAY ARRAY[
        $$SELECT ids.next_snowflake(), ids.next_ulid(), ids.next_sno(1), ids.gen_ulid(), ids.next_uuidv7()$$,
        $$SELECT snowdrift.create_generator('g'::pg_catalog.text, 'snowflake'::pg_catalog.text)$$,
        $$SELECT ids.next_snowflake('g'::pg_catalog.text)$$,
        $$SELECT snowdrift.restore('copy'::pg_catalog.text, snowdrift.snapshot('g'::pg_catalog.text))$$,
        $$SELECT * FROM snowdrift.generators$$,
        $$SELECT * FROM snowdrift.clock$$,
        $$SELECT snowdrift.hold('public.keyed'::pg_catalog.regclass) IS NULL, pg_catalog.count(*) OPERATOR(pg_catalog.>=) 0::pg_catalog.int8 FROM snowdrift.read_new(NULL::public.keyed, after => '00000000000000000000000000'::ids.ulid)$$,
        $$SELECT snowdrift.drop_generator('g'::pg_catalog.text)$$,
        $$SELECT snowdrift.drop_generator('copy'::pg_catalog.text)$$,
        $$SELECT snowdrift.create_generator('s'::pg_catalog.text, 'sno'::pg_catalog.text)$$,
        $$SELECT ids.next_sno('s'::pg_catalog.text, 1), ids.sno_at(pg_catalog.now(), 1, 's'::pg_catalog.text)$$,
        $$SELECT snowdrift.drop_generator('s'::pg_catalog.text)$$,
        $$SELECT snowdrift.create_generator('parts'::pg_catalog.text, 'snowflake'::pg_catalog.text)$$,
        $$SELECT * FROM snowdrift.partitions('public.snowflake_parts'::pg_catalog.regclass)$$,
        $$INSERT INTO public.snowflakes DEFAULT VALUES$$,
        $$INSERT INTO public.ulids DEFAULT VALUES$$,
        $$INSERT INTO public.snos DEFAULT VALUES$$,
        $$SELECT id FROM public.ulids WHERE pg_catalog.now() OPERATOR(ids.>) id$$,
        $$SELECT id FROM public.ulids WHERE id OPERATOR(ids.>=) pg_catalog.now()$$,
        $$SELECT id FROM public.snos WHERE pg_catalog.now() OPERATOR(ids.<=) id$$,
        $$SELECT id FROM public.ulids WHERE ids.ulid_within(id, pg_catalog.tstzrange(pg_catalog.now(), NULL))$$,
        $$SELECT id FROM public.snos WHERE ids.sno_within(id, pg_catalog.tstzrange(pg_catalog.now(), NULL))$$,
        $$SELECT id FROM public.snowflakes WHERE ids.snowflake_within(id, pg_catalog.tstzrange(pg_catalog.now(), NULL))$$,
        $$SELECT id FROM public.snowflakes WHERE ids.snowflake_within(id, pg_catalog.tstzrange(pg_catalog.now(), NULL), 'si'::ids.snowflake_layout)$$,
        $$SELECT id FROM public.uuids WHERE ids.uuidv7_within(id, pg_catalog.tstzrange(pg_catalog.now(), NULL))$$,
        $$SELECT ids.min(id), ids.max(id) FROM public.ulids$$,
        $$SELECT ids.min(id), ids.max(id) FROM public.snos$$,
        $$SELECT id FROM public.ulids ORDER BY id USING OPERATOR(ids.<)$$,
        $$ANALYZE public.ulids$$,
        $$SELECT snowdrift.create_partitions('public.parts'::pg_catalog.regclass, '1 mon'::pg_catalog.interval, '2026-01-01Z'::pg_catalog.timestamptz, '2026-02-01Z'::pg_catalog.timestamptz)$$,
        $$SELECT * FROM snowdrift.partitions('public.parts'::pg_catalog.regclass)$$,
        $$SELECT * FROM snowdrift.partitions('public.snowflake_parts'::pg_catalog.regclass, 'snowflake'::ids.snowflake_layout)$$,
        $$SELECT snowdrift.convert_keys(ARRAY['public.articles'::pg_catalog.regclass])$$,
        $$SELECT snowdrift.convert_column('public.users'::pg_catalog.regclass, 'id'::pg_catalog.name)$$,
        $$SELECT * FROM public.all_users$$,
        $$SELECT * FROM snowdrift.drop_partitions_before('public.parts'::pg_catalog.regclass, '2026-02-01Z'::pg_catalog.timestamptz)$$,
        $$SELECT * FROM snowdrift.drop_partitions('public.parts'::pg_catalog.regclass, '0'::pg_catalog.interval, dry_run => true)$$,
        $$SELECT * FROM snowdrift.audit('public.snowflakes'::pg_catalog.regclass, 'id'::pg_catalog.name)$$,
        $$SELECT * FROM snowdrift.audit('public.snowflake_parts'::pg_catalog.regclass, 'id'::pg_catalog.name)$$,
        $$SELECT * FROM snowdrift.audit('public.uuids'::pg_catalog.regclass, 'id'::pg_catalog.name, sample => 50)$$,
        $$SELECT * FROM snowdrift.audit('public.ulids'::pg_catalog.regclass, 'id'::pg_catalog.name, sample => 50)$$,
        $$SELECT * FROM snowdrift.audit('public.snos'::pg_catalog.regclass, 'id'::pg_catalog.name, since => '2020-01-01Z'::pg_catalog.timestamptz)$$,
        $$SELECT snowdrift.drop_generator('parts'::pg_catalog.text, true)$$,
        $$SELECT snowdrift.ulid_time_decoder(snowdrift.ulid_time_encoder(pg_catalog.now())::pg_catalog.text)$$,
        $$SELECT snowdrift.sno_time_decoder(snowdrift.sno_time_encoder(pg_catalog.now())::pg_catalog.text)$$,
        $$SELECT ids.uuidv7_diagram(id), ids.make_uuidv7(ids.uuidv7_timestamp(id), ids.uuidv7_randomness(id)) FROM ids.uuidv7_at(pg_catalog.now()) AS id$$,
        $$SELECT ids.ulid_diagram(ids.ulid_nil()), ids.sno_diagram(ids.sno_nil()), ids.snowflake_diagram(0::pg_catalog.int8)$$,
        $$SELECT ids.ulid_nil()::pg_catalog.uuid::ids.ulid::pg_catalog.bytea::ids.ulid::pg_catalog.timestamptz$$,
        $$SELECT ids.sno_nil()::pg_catalog.uuid::ids.sno::pg_catalog.bytea::ids.sno::pg_catalog.timestamptz$$
    ] LOOP
        BEGIN
            EXECUTE statement;
        EXCEPTION WHEN OTHERS THEN
            RETURN NEXT pg_catalog.format('%s: %s', statement, SQLERRM);
        END;
    END LOOP;
END $do$;
CREATE TABLE public.ulids (id ids.ulid PRIMARY KEY DEFAULT ids.next_ulid());
CREATE TABLE public.snos (id ids.sno PRIMARY KEY DEFAULT ids.next_sno(1));
CREATE TABLE public.snowflakes (id pg_catalog.int8 PRIMARY KEY DEFAULT ids.next_snowflake());
CREATE TABLE public.uuids (id pg_catalog.uuid PRIMARY KEY DEFAULT ids.next_uuidv7()) PARTITION BY RANGE (id);
CREATE TABLE public.uuids_default PARTITION OF public.uuids DEFAULT;
CREATE TABLE public.users (id pg_catalog.int4 PRIMARY KEY);
CREATE TABLE public.orders (user_id pg_catalog.int4 REFERENCES public.users);
CREATE TABLE public.articles (id serial PRIMARY KEY);
CREATE VIEW public.all_users AS SELECT id OPERATOR(pg_catalog.+) 1 AS next, pg_catalog.lower('A') AS a FROM public.users WHERE id OPERATOR(pg_catalog.>) 0;
COMMENT ON VIEW public.all_users IS 'users';
GRANT SELECT ON public.all_users TO PUBLIC;
CREATE TABLE public.parts (id ids.ulid) PARTITION BY RANGE (id);
CREATE TABLE public.snowflake_parts (id pg_catalog.int8 DEFAULT ids.next_snowflake('parts'::pg_catalog.text)) PARTITION BY RANGE (id);
CREATE TABLE public.live (id serial PRIMARY KEY, n pg_catalog.int4 DEFAULT pg_catalog.length('ab') REFERENCES public.live, CHECK (pg_catalog.length(id::pg_catalog.text) OPERATOR(pg_catalog.>) 0));
CREATE INDEX ON public.live (pg_catalog.lower(id::pg_catalog.text));
INSERT INTO public.live (n) SELECT 1 FROM pg_catalog.generate_series(1, 3);
INSERT INTO public.ulids SELECT ids.next_ulid() FROM pg_catalog.generate_series(1, 1000);
INSERT INTO public.uuids SELECT ids.next_uuidv7() FROM pg_catalog.generate_series(1, 1000);
SET search_path = pg_catalog;
SELECT * FROM public.everything();
-- Definitions that contain names could be read for another search path.
SET search_path = ids, public, pg_catalog;
\set SHOW_CONTEXT never
SELECT snowdrift.conversion_script('{public.live}'::pg_catalog.regclass[]);
SET search_path = ids, public;
SELECT statement FROM snowdrift.conversion_script('{public.live}'::pg_catalog.regclass[]) AS statement
WHERE pg_catalog.starts_with(statement, 'CALL snowdrift.change') LIMIT 1 \gexec
SELECT statement FROM snowdrift.abandon_script('{public.live}'::pg_catalog.regclass[]) AS statement WHERE statement OPERATOR(pg_catalog.!~) '^-- estimate|transaction_timeout'::pg_catalog.text \gexec
SELECT statement FROM snowdrift.conversion_script('{public.live}'::pg_catalog.regclass[]) AS statement WHERE statement OPERATOR(pg_catalog.!~) '^-- estimate|transaction_timeout|swap_keys|^ANALYZE'::pg_catalog.text \gexec
-- These statements do not depend on the search path.
SET search_path = ids, public, pg_catalog;
CALL snowdrift.change_briefly('{public.live}'::pg_catalog.regclass[], 'ALTER TABLE public.live ADD COLUMN name pg_catalog.varchar, ADD CHECK (length(name) > 0)');
CALL snowdrift.swap_keys('{public.live}'::pg_catalog.regclass[]);
SET search_path = ids, public;
SELECT * FROM snowdrift.key_copies;
INSERT INTO public.live DEFAULT VALUES RETURNING id OPERATOR(pg_catalog.>) 1000000000000000 AS is_snowflake, n;
SET search_path = pg_catalog;
DROP VIEW public.all_users;
DROP TABLE public.users, public.orders, public.articles;    -- to be converted again
CREATE TABLE public.users (id pg_catalog.int4 PRIMARY KEY);
CREATE TABLE public.articles (id serial PRIMARY KEY);
CREATE VIEW public.all_users AS SELECT id OPERATOR(pg_catalog.+) 1 AS next, pg_catalog.lower('A') AS a FROM public.users WHERE id OPERATOR(pg_catalog.>) 0;
COMMENT ON VIEW public.all_users IS 'users';
GRANT SELECT ON public.all_users TO PUBLIC;
SET search_path = ids, public, pg_catalog;
SELECT * FROM public.everything();
DROP TABLE public.parts;
CREATE TABLE public.parts (id ids.ulid) PARTITION BY RANGE (id);

-- While the schema of the tables has another name, the extension uses neither these tables nor those in a new schema
-- that has the old name. Other functions find their schema.
SET search_path = pg_catalog;
ALTER SCHEMA snowdrift_tables RENAME TO "Renamed";
ALTER SCHEMA elsewhere RENAME TO snowdrift_tables;
CREATE FUNCTION snowdrift_tables.partition_key_type(regclass) RETURNS regtype LANGUAGE sql AS $$SELECT public.trap('')::regtype$$;
\c
SET search_path = pg_catalog;
SELECT ids.next_snowflake();
SELECT snowdrift.create_generator('g', 'snowflake');
SELECT count(*) AS in_the_decoy FROM snowdrift_tables.generator;
SELECT snowdrift.create_partitions('public.parts', '1 month', '2026-01-01Z', '2026-01-01Z');
ALTER SCHEMA snowdrift_tables RENAME TO elsewhere;
-- Before version 1.0, the schema snowdrift contained the tables.
ALTER SCHEMA snowdrift RENAME TO administration;
ALTER SCHEMA "Renamed" RENAME TO snowdrift;
SELECT ids.next_snowflake();
ALTER SCHEMA snowdrift RENAME TO snowdrift_tables;
ALTER SCHEMA administration RENAME TO snowdrift;
-- The schema of the other functions may have any name.
ALTER SCHEMA ids RENAME TO renamed;
CREATE SCHEMA ids;
CREATE FUNCTION ids.ulid_boundary(timestamptz) RETURNS text LANGUAGE sql AS $$SELECT public.trap('')$$;
SELECT renamed.next_snowflake() > 0 AS drawn, snowdrift.create_generator('g', 'snowflake');
SELECT renamed.next_snowflake('g') > 0 AS drawn, snowdrift.restore('copy', snowdrift.snapshot('g')), snowdrift.drop_generator('g');
SELECT name, kind FROM snowdrift.generators ORDER BY name;
SELECT snowdrift.create_partitions('public.parts', '1 month', '2026-02-01Z', '2026-02-01Z');
SELECT count(*) FROM snowdrift.partitions('public.parts');
SELECT name, sum(count) FROM (VALUES ('snowflakes'), ('ulids'), ('snos'), ('uuids')) AS tables(name), snowdrift.audit(('public.' || name)::regclass, 'id')
GROUP BY name ORDER BY name;
SELECT snowdrift.ulid_time_decoder(snowdrift.ulid_time_encoder('2026-02-01Z')::text) = '2026-02-01Z' AS same;
SELECT count(*) FROM public.ulids WHERE now() OPERATOR(renamed.>) id;
-- The schema snowdrift may also be renamed, although only by a superuser.
ALTER SCHEMA snowdrift RENAME TO machinery;
CREATE SCHEMA snowdrift;
SELECT public.twins('snowdrift') > 50 AS planted;
SELECT count(*) FROM public.ulids WHERE now() OPERATOR(renamed.>) id;
SELECT count(*) FROM public.uuids WHERE renamed.uuidv7_within(id, tstzrange(NULL, now()));
EXPLAIN (COSTS OFF) SELECT FROM public.ulids WHERE now() OPERATOR(renamed.>) id;
CREATE TABLE public.watched (id bigint DEFAULT renamed.next_snowflake());
CREATE TRIGGER watch AFTER INSERT OR UPDATE OF id ON public.watched FOR EACH ROW EXECUTE FUNCTION machinery.hold_row();
INSERT INTO public.watched DEFAULT VALUES;

\c contrib_regression
DROP DATABASE snowdrift_decoys;
