-- Snowdrift, SQL edition: for servers on which no C library can be installed. docs/managed-clouds.md describes it.
-- make scripts puts this script together from src/sql; change it there.
-- Run it as a role with CREATE on the database and on the schema public, such as the owner of the database:
--     psql -X --single-transaction -v ON_ERROR_STOP=1 -f snowdrift.sql
-- The functions for all roles are in the schema public; those for administration and implementation are in the schema
-- snowdrift; the generators are in snowdrift_tables. Unqualified names are those of pg_catalog. Functions in PL/pgSQL
-- set the search path.
--
-- The file is a single statement: everything is installed, or nothing. It can also be run over an older version of
-- itself, and after some of its objects were dropped. It then replaces the functions and creates what is missing. Users'
-- defaults, indexes and views depend on the functions, so it drops no function, and privileges stay.
DO $edition$
DECLARE
    path CONSTANT pg_catalog.text := pg_catalog.current_setting('search_path');
    quoting CONSTANT pg_catalog.text := pg_catalog.current_setting('quote_all_identifiers');
    strings CONSTANT pg_catalog.text := pg_catalog.current_setting('standard_conforming_strings');
    installer pg_catalog.oid;
    -- What existed before: each function, with the place of its row, and the relations in the schemas
    functions pg_catalog.jsonb;
    relations pg_catalog.oid[];
    columns pg_catalog.jsonb;    -- of each of these relations
    is_repeated pg_catalog.bool;    -- an edition, or some of its objects, existed before
    is_new pg_catalog.bool;
    place pg_catalog.text;
    grantee pg_catalog.text;
    problem pg_catalog.record;
    definitions pg_catalog.jsonb;    -- rows of snowdrift_tables.generator whose table or sequence must be created again
    are_definitions_lost pg_catalog.bool := false;
    lock_timeout CONSTANT pg_catalog.text := pg_catalog.current_setting('lock_timeout');
    creators pg_catalog.aclitem[];    -- who may call create_generator of an earlier version, with other parameters
    are_keys_lost pg_catalog.bool;    -- of seals
    is_restored pg_catalog.bool;    -- A dump has created the objects, with what ALTER DEFAULT PRIVILEGES grants.
    defaults pg_catalog.text[];    -- kinds of objects with roles to which ALTER DEFAULT PRIVILEGES grants something, and functions with PUBLIC
    privileges pg_catalog.text;
    options pg_catalog.text;
    grantor pg_catalog.text;
    grants pg_catalog.jsonb := '[]';
    is_by_default pg_catalog.bool;
    now_ms pg_catalog.int8;
    given_ms pg_catalog.numeric;
    drawing pg_catalog.record;
    greatest_id pg_catalog.int8;
    unread pg_catalog.text[];
BEGIN
PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true), pg_catalog.set_config('quote_all_identifiers', 'off', true),
    pg_catalog.set_config('standard_conforming_strings', 'on', true), pg_catalog.set_config('lock_timeout', '3s', true);    -- because others wait behind the file

-- What an earlier installation has left

installer := (SELECT oid FROM pg_roles WHERE rolname = current_user);
functions := (SELECT jsonb_object_agg(oid::text, ctid::text) FROM pg_proc);
relations := ARRAY(SELECT oid FROM pg_class WHERE relnamespace IN (to_regnamespace('snowdrift'), to_regnamespace('snowdrift_tables')));
columns := (SELECT jsonb_object_agg(attrelid::regclass, names)
    FROM (SELECT attrelid, string_agg(attname, ',' ORDER BY attnum) FROM pg_attribute WHERE attrelid = ANY (relations) AND attnum > 0 AND NOT attisdropped GROUP BY attrelid) AS a(attrelid, names));
is_repeated := to_regnamespace('snowdrift') IS NOT NULL OR to_regnamespace('snowdrift_tables') IS NOT NULL
    OR to_regtype('public.snowflake_layout') IS NOT NULL
    OR EXISTS (SELECT FROM pg_proc WHERE strpos(prosrc, 'snowdrift_tables.') > 0
        AND oid IN (to_regprocedure('public.next_snowflake(text)'), to_regprocedure('public.snowflake_seal(bigint,text)'), to_regprocedure('public.snowflake_unseal(uuid,text,boolean)')));

FOR problem IN SELECT extname FROM pg_depend JOIN pg_extension AS e ON e.oid = refobjid
        WHERE deptype = 'e' AND (classid, objid) IN (('pg_namespace'::regclass, to_regnamespace('snowdrift')),
            ('pg_namespace'::regclass, to_regnamespace('snowdrift_tables')), ('pg_type'::regclass, to_regtype('public.snowflake_layout')),
            ('pg_proc'::regclass, to_regprocedure('public.next_snowflake(text)'))) LOOP
    RAISE 'extension "%" is installed in this database', problem.extname USING ERRCODE = '42710', HINT = 'Use either the extension or the SQL edition.';
END LOOP;
-- Another role could change an object that it owns, which would then run with the rights of this role.
FOR problem IN
    SELECT pg_describe_object(class, object, 0) AS object, owner::regrole AS owner
    FROM (SELECT 'pg_namespace'::regclass, oid, nspowner, oid FROM pg_namespace
          UNION ALL SELECT 'pg_class'::regclass, oid, relowner, relnamespace FROM pg_class
          UNION ALL SELECT 'pg_proc'::regclass, oid, proowner, pronamespace FROM pg_proc
          UNION ALL SELECT 'pg_type'::regclass, oid, typowner, typnamespace FROM pg_type) AS objects(class, object, owner, schema)
    WHERE (schema IN (to_regnamespace('snowdrift'), to_regnamespace('snowdrift_tables'))
            OR class = 'pg_type'::regclass AND object = to_regtype('public.snowflake_layout'))
        AND owner <> installer LOOP
    RAISE '% belongs to role %', problem.object, problem.owner USING ERRCODE = '42501',
        HINT = format('If role %s has installed or restored the SQL edition, run the file as this role, or give it the objects with REASSIGN OWNED. Drop the object only if it is not one of the SQL edition.', problem.owner);
END LOOP;
-- Its owner has installed the file with another schema in place of "public.".
FOR problem IN SELECT t.typnamespace::regnamespace AS schema FROM pg_type AS t JOIN pg_namespace AS n ON n.oid = to_regnamespace('snowdrift') AND n.nspowner = t.typowner
        WHERE t.typname = 'snowflake_layout' AND t.typtype = 'd' AND to_regtype('public.snowflake_layout') IS NULL LOOP
    RAISE 'the SQL edition is installed in schema %', problem.schema USING ERRCODE = '42710',
        HINT = format('Run the output of sed ''s/public\./%s./g'' snowdrift.sql.', problem.schema);
END LOOP;
-- After a restore with default privileges, other roles can have created triggers and foreign keys, which call their functions as the owner
-- of the table: also in a condition, or in a cast.
FOR problem IN SELECT format('trigger %I of table %s', t.tgname, t.tgrelid::regclass) AS object, p.oid::regprocedure::text AS detail, format('Run DROP TRIGGER %I ON %s', t.tgname, t.tgrelid::regclass) AS remedy
        FROM pg_trigger AS t JOIN pg_proc AS p ON p.oid = t.tgfoid
        WHERE t.tgrelid = ANY (relations) AND NOT t.tgisinternal AND NOT (t.tgqual IS NULL AND p.pronamespace::regnamespace::text IN ('snowdrift', 'snowdrift_tables')
            AND (t.tgrelid::regclass::text, t.tgname) IN (('snowdrift_tables.generator', 'create_state'), ('snowdrift_tables.generator', 'skip_row'), ('snowdrift_tables.generator', 'refuse_truncate'), ('snowdrift_tables.published_watermark', 'skip_row')))
        UNION ALL SELECT format('constraint %I of table %s', conname, conrelid::regclass), confrelid::regclass::text, format('Let role %s or a superuser run ALTER TABLE %s DROP CONSTRAINT %I', relowner::regrole, conrelid::regclass, conname)
        FROM pg_constraint JOIN pg_class AS c ON c.oid = conrelid WHERE contype = 'f' AND confrelid = ANY (relations) LOOP
    RAISE '% is not one of the SQL edition', problem.object USING ERRCODE = '42501', DETAIL = format('It uses %s.', problem.detail),
        HINT = problem.remedy || ', and then this file again. Afterwards, rotate the keys of seals that may have been copied, and drop their old versions.';
END LOOP;
FOR problem IN
    SELECT relnamespace::regnamespace AS schema, relname FROM pg_class
    WHERE oid = ANY (relations) AND relnamespace::regnamespace || '.' || relname
        !~ '^(snowdrift[.](generators|key_copies|watermark_holders|published_watermarks|fields|key_column|dependent|conversion)|snowdrift_tables[.]((generator|published_watermark|seal_key)(_pkey)?|dropped_ms|state(_[0-9a-f]{32})?))$' LOOP
    RAISE 'schema "%" already exists', problem.schema USING ERRCODE = '42P06',
        DETAIL = format('It contains "%s", which is not an object of the SQL edition.', problem.relname);
END LOOP;
IF is_repeated AND current_setting('transaction_isolation') IN ('repeatable read', 'serializable') THEN
    RAISE 'cannot repeat the installation in a transaction with isolation level "%"', current_setting('transaction_isolation')
        USING ERRCODE = '25001', HINT = 'Use READ COMMITTED.';    -- An older snapshot would not contain the last IDs.
END IF;

-- The rows of a table that has lost columns, or of generators whose sequence was dropped, are inserted again at the end.
IF to_regclass('snowdrift_tables.generator') IS NULL THEN
    are_definitions_lost := is_repeated;
ELSIF columns ->> 'snowdrift_tables.generator' ~ '^name,layout,datacenter,worker,fields,state(,spread)?$' THEN
    WITH lost AS (DELETE FROM snowdrift_tables.generator WHERE to_regclass(state) IS NULL RETURNING *)
    SELECT jsonb_agg(to_jsonb(l)) INTO definitions FROM lost AS l;
ELSE
    EXECUTE 'SELECT jsonb_agg(to_jsonb(g)) FROM snowdrift_tables.generator AS g' INTO definitions;
    DROP TABLE snowdrift_tables.generator CASCADE;    -- also drops functions that are created again below
END IF;

-- An earlier version has no column "spread". With a default, it could not be added, because functions use the type of the table.
IF columns ->> 'snowdrift_tables.generator' = 'name,layout,datacenter,worker,fields,state' THEN
    ALTER TABLE snowdrift_tables.generator ADD spread boolean;
END IF;

IF columns ->> 'snowdrift_tables.published_watermark' <> 'kind,source,watermark,server,origin,published_at' THEN
    DROP TABLE snowdrift_tables.published_watermark CASCADE;
END IF;

are_keys_lost := to_regclass('snowdrift_tables.seal_key') IS NULL AND to_regprocedure('public.snowflake_seal(bigint,text)') IS NOT NULL;

FOREACH place IN ARRAY '{snowdrift,snowdrift_tables}'::text[] LOOP
    is_new := to_regnamespace(place) IS NULL;
    IF is_new THEN
        EXECUTE format('CREATE SCHEMA %s', place);
    END IF;
    -- Revoke what ALTER DEFAULT PRIVILEGES has granted: functions that other roles create here could run as the owner.
    FOR grantee IN SELECT DISTINCT CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END
            FROM pg_namespace, aclexplode(nspacl) AS a WHERE nspname = place AND a.grantee <> nspowner LOOP
        EXECUTE format('REVOKE %s ON SCHEMA %s FROM %s CASCADE', CASE WHEN is_new THEN 'ALL' ELSE 'CREATE' END, place, grantee);
    END LOOP;
    IF is_new AND place = 'snowdrift' THEN
        GRANT USAGE ON SCHEMA snowdrift TO PUBLIC;
    END IF;
END LOOP;
COMMENT ON SCHEMA snowdrift IS 'administration of Snowdrift''s ID generators, and implementation of its functions';

-- The domain has no constraint, so that PostgreSQL can evaluate calls with a constant layout when it plans a query.
-- Each function that takes a layout checks it.
IF to_regtype('public.snowflake_layout') IS NULL THEN
    CREATE DOMAIN public.snowflake_layout AS text;
ELSIF (SELECT typbasetype FROM pg_type WHERE oid = 'public.snowflake_layout'::regtype) <> 'text'::regtype THEN
    RAISE 'type "snowflake_layout" already exists' USING ERRCODE = '42710';
END IF;
COMMENT ON DOMAIN public.snowflake_layout
    IS 'layout of Snowflake IDs: the name of a preset, or an epoch, a time unit, and the order and widths of the fields';

CREATE OR REPLACE FUNCTION snowdrift.reject(sqlstate text, message text, detail text DEFAULT NULL) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF detail IS NULL THEN
        RAISE '%', message USING ERRCODE = sqlstate;
    END IF;
    RAISE '%', message USING ERRCODE = sqlstate, DETAIL = detail;
END $$;

-- Times. Multiplying an interval converts the number to double precision. Seconds and milliseconds are multiplied
-- separately, so that the sum is exact up to the year 10889.

CREATE OR REPLACE FUNCTION snowdrift.time_of(unix_ms bigint) RETURNS timestamptz LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (timestamp '1970-01-01' + interval '1 s' * (unix_ms / 1000) + interval '1 ms' * (unix_ms % 1000))
        AT TIME ZONE interval '0';

CREATE OR REPLACE FUNCTION snowdrift.unix_ms_of("timestamp" timestamptz) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN extract(epoch FROM "timestamp" AT TIME ZONE interval '0') * 1000;

-- SECURITY DEFINER: while a dump is restored, indexes that call functions of PL/pgSQL are built with the rights of tables' owners, which
-- cannot use the schema yet.

-- unix_ms is the time, rounded by the caller; the error shows the time itself.
CREATE OR REPLACE FUNCTION snowdrift.check_time("timestamp" timestamptz, unix_ms numeric, first_ms bigint, last_ms bigint,
        unit_ms bigint, subject text) RETURNS bigint
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET datestyle = ISO AS $$
BEGIN
    IF unix_ms < first_ms OR unix_ms >= last_ms + unit_ms THEN
        RAISE 'timestamp out of range for %: %', subject, "timestamp" USING ERRCODE = '22008',
            DETAIL = format('Valid times are from %s to %s.', snowdrift.time_of(first_ms), snowdrift.time_of(last_ms));
    END IF;
    RETURN unix_ms;
END $$;

-- The first and the last millisecond, from first_ms to last_ms, that begin within a range; null if there is none.
CREATE OR REPLACE FUNCTION snowdrift.ms_within(range tstzrange, first_ms bigint, last_ms bigint) RETURNS bigint[]
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    a numeric := snowdrift.unix_ms_of(lower(range));    -- null if the range has no such bound
    b numeric := snowdrift.unix_ms_of(upper(range));
BEGIN
    a := greatest(first_ms, CASE WHEN lower_inc(range) THEN ceil(a) ELSE floor(a) + 1 END);
    b := least(last_ms, CASE WHEN upper_inc(range) THEN floor(b) ELSE ceil(b) - 1 END);
    RETURN CASE WHEN a <= b AND NOT isempty(range) THEN ARRAY[a::bigint, b::bigint] END;
END $$;

-- Snowflake: layouts

-- last_ms is the beginning of the last time unit; a shift is the number of bits below a field.
IF to_regtype('snowdrift.fields') IS NULL THEN
CREATE TYPE snowdrift.fields AS (
    epoch_ms bigint, last_ms bigint, unit_ms bigint, max_id bigint,
    timestamp_shift integer,
    datacenter_bits integer, datacenter_shift integer,
    worker_bits integer, worker_shift integer,
    sequence_bits integer, sequence_shift integer
);
END IF;

CREATE OR REPLACE FUNCTION snowdrift.ones(bits integer) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ~((-1)::bigint << bits);

CREATE OR REPLACE FUNCTION snowdrift.preset_layout(name text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE name
        WHEN 'snowflake' THEN 'epoch=1609459200000 timestamp=41 datacenter=5 worker=5 sequence=12'
        WHEN 'twitter' THEN 'epoch=1288834974657 timestamp=41 datacenter=5 worker=5 sequence=12'
        WHEN 'discord' THEN 'epoch=1420070400000 timestamp=42 datacenter=5 worker=5 sequence=12'
        WHEN 'mastodon' THEN 'epoch=0 timestamp=48 sequence=16'
        WHEN 'instagram' THEN 'epoch=1314220021721 timestamp=41 worker=13 sequence=10'
        WHEN 'pgedge' THEN 'epoch=1672531200000 timestamp=41 worker=10 sequence=12'
        WHEN 'mastic' THEN 'epoch=1767225600000 timestamp=48 sequence=16'
        WHEN 'si' THEN 'epoch=1609459200000 timestamp=40 worker=5 sequence=8 js'
        WHEN 'sonyflake' THEN 'epoch=1409529600000 unit=10ms timestamp=39 sequence=8 worker=16'
        WHEN 'sonyflake_v2' THEN 'epoch=1735689600000 unit=10ms timestamp=39 sequence=8 worker=16'
        WHEN 'hazelcast' THEN 'epoch=1514764800000 timestamp=41 sequence=6 worker=16'
        WHEN 'tsid' THEN 'epoch=1577836800000 timestamp=42 worker=10 sequence=12'
        WHEN 'clickhouse' THEN 'epoch=0 timestamp=41 worker=10 sequence=12'
        WHEN 'baidu' THEN 'epoch=1463673600000 unit=1s timestamp=28 worker=22 sequence=13'
        WHEN 'leaf' THEN 'epoch=1288834974657 timestamp=41 worker=10 sequence=12'
        WHEN 'cosid' THEN 'epoch=1577203200000 timestamp=41 worker=10 sequence=12'
    END;

CREATE OR REPLACE FUNCTION snowdrift.check_layout_value(name text, value bigint, min bigint, max bigint, reason text DEFAULT NULL)
        RETURNS void
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF value NOT BETWEEN min AND max THEN
        PERFORM snowdrift.reject('22023', format('%s %s is out of range %s .. %s for type snowflake_layout', VARIADIC name || array_agg(CASE
            WHEN name = 'epoch' AND n BETWEEN 0 AND 253402300799999
                THEN replace(to_char(snowdrift.time_of(n) AT TIME ZONE interval '0', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), '.000', '')
            WHEN name = 'unit' AND n > 0 AND n % 1000 = 0 THEN n / 1000 || 's'
            WHEN name = 'unit' AND n >= 0 THEN n || 'ms'
            ELSE n::text END ORDER BY i)), reason)
        FROM unnest(ARRAY[value, min, max]) WITH ORDINALITY AS numbers(n, i);
    END IF;
END $$;

CREATE OR REPLACE FUNCTION snowdrift.fields_of(layout public.snowflake_layout) RETURNS snowdrift.fields
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    spaces CONSTANT text := E' \t\n\x0b\f\r';    -- as in C
    names CONSTANT text[] := '{epoch,unit,timestamp,datacenter,worker,sequence}';
    numbers bigint[] := ARRAY[NULL, 1, NULL, 0, 0, NULL];    -- in the order of names; 4 to 6 are the fields below the timestamp
    given text[] := '{}';
    has_fields CONSTANT boolean := strpos(layout, '=') > 0;
    example CONSTANT text := '"epoch=2024-01-01T00:00:00Z unit=1ms timestamp=41 datacenter=5 worker=5 sequence=12", in the order of their bits.';
    word text;
    name text;
    value text;
    problem text;
    below integer := 0;    -- bits below the current field
    place integer;
    shifts integer[] := '{0,0,0,0,0,0}';
    max_id bigint;
    is_js boolean;
BEGIN
    FOREACH word IN ARRAY regexp_split_to_array(
        btrim(coalesce(snowdrift.preset_layout(btrim(layout, spaces)), layout), spaces), '[' || spaces || ']+')
    LOOP
        name := split_part(word, '=', 1);
        value := substr(word, length(name) + 2);
        problem := CASE
            WHEN word = 'js' OR name = ANY (names) AND word <> name THEN CASE
                WHEN name = ANY (given) THEN format('"%s" is specified more than once.', name)
                WHEN value !~ CASE name
                        WHEN 'js' THEN ''
                        WHEN 'unit' THEN '^-?[0-9]{1,15}m?s$'
                        WHEN 'epoch' THEN '^(-?[0-9]{1,18}|(?!0000)[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3])(:[0-5][0-9]){2}([.][0-9]{3})?Z)$'
                        ELSE '^-?[0-9]{1,18}$' END
                    THEN format('The value in "%s" is not a valid %s.', word, CASE name
                        WHEN 'epoch' THEN 'time' WHEN 'unit' THEN 'number of milliseconds or seconds' ELSE 'number of bits' END)
                WHEN value LIKE '%Z'    -- is the day in the month?
                        AND extract(month FROM make_date(left(value, 4)::integer, substr(value, 6, 2)::integer, 1)
                            + substr(value, 9, 2)::integer - 1) <> substr(value, 6, 2)::integer
                    THEN format('The value in "%s" is not a valid time.', word)
                END
            WHEN word = '' THEN NULL
            WHEN snowdrift.preset_layout(word) IS NOT NULL THEN format('The preset "%s" cannot be combined with other words.', word)
            WHEN has_fields THEN format('"%s" is not a field.', word)
            ELSE format('"%s" is neither a field nor a preset.', word)
            END;
        EXIT WHEN problem IS NOT NULL OR word = '';
        given := given || name;
        CONTINUE WHEN word = 'js';
        numbers[array_position(names, name)] := CASE
            WHEN value LIKE '%Z' THEN snowdrift.unix_ms_of((rtrim(value, 'Z') || '+00')::timestamptz)
            WHEN value LIKE '%ms' THEN rtrim(value, 'ms')::bigint
            WHEN value LIKE '%s' THEN rtrim(value, 's')::bigint * 1000
            ELSE value::bigint END;
    END LOOP;
    FOREACH name IN ARRAY '{epoch,timestamp,sequence}'::text[] LOOP
        problem := coalesce(problem, CASE WHEN name <> ALL (given) THEN format('"%s" is missing.', name) END);
    END LOOP;
    FOREACH name IN ARRAY given LOOP
        EXIT WHEN name = 'timestamp' OR problem IS NOT NULL;
        IF name IN ('datacenter', 'worker', 'sequence') THEN
            problem := format('"%s" precedes "timestamp", so IDs would not sort by time.', name);
        END IF;
    END LOOP;
    IF problem IS NOT NULL THEN
        RAISE 'invalid input syntax for type snowflake_layout: "%"', layout USING ERRCODE = '22P02', DETAIL = problem,
            HINT = CASE WHEN has_fields
                THEN 'Fields are epoch, unit, timestamp, datacenter, worker, sequence and js, as in ' || example
                ELSE 'Valid presets are snowflake, twitter, discord, mastodon, instagram, pgedge, mastic, si, sonyflake, sonyflake_v2, hazelcast, tsid, clickhouse, baidu, leaf, cosid. Fields are written as in ' || example END;
    END IF;

    PERFORM snowdrift.check_layout_value('epoch', numbers[1], 0, 253402300799999);
    PERFORM snowdrift.check_layout_value('unit', numbers[2], 1, 60000);
    is_js := 'js' = ANY (given);
    -- Timestamps span at most 2^48 milliseconds.
    PERFORM snowdrift.check_layout_value('timestamp', numbers[3], 1, 48 - length(ltrim((numbers[2] - 1)::bit(16)::text, '0')));
    PERFORM snowdrift.check_layout_value(names[i], numbers[i], 0, 31) FROM generate_series(4, 6) AS i;
    PERFORM snowdrift.check_layout_value('datacenter+worker', numbers[4] + numbers[5], 0, 31);
    PERFORM snowdrift.check_layout_value('timestamp+datacenter+worker+sequence', numbers[3] + numbers[4] + numbers[5] + numbers[6],
        1, CASE WHEN is_js THEN 53 ELSE 64 END,
        CASE WHEN is_js THEN 'The IDs of a layout declared "js" must be exact as JavaScript numbers.' END);
    IF is_js THEN
        PERFORM snowdrift.check_layout_value('epoch', numbers[1], 2147483647000 - snowdrift.ones(numbers[3]::integer) * numbers[2],
            253402300799999, 'The timestamp of a layout declared "js" must reach 2038-01-19T03:14:07Z.');
    END IF;

    FOR i IN REVERSE cardinality(given) .. 1 LOOP
        place := array_position(names, given[i]);
        CONTINUE WHEN place IS NULL OR place < 4;
        shifts[place] := below;
        below := below + numbers[place];
    END LOOP;
    max_id := snowdrift.ones(least(numbers[3] + below, 63)::integer);
    RETURN ROW(numbers[1], numbers[1] + (max_id >> below) * numbers[2], numbers[2], max_id, below,
        numbers[4]::integer, shifts[4], numbers[5]::integer, shifts[5], numbers[6]::integer, shifts[6]);
END $$;

-- Snowflake: decoding. If the layout is a constant, PostgreSQL inlines the functions.

-- COST 1: the planner does not inline expensive arguments, and this function is called only for errors.
CREATE OR REPLACE FUNCTION snowdrift.reject_id(id bigint, max_id bigint) RETURNS bigint
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1 SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE 'Snowflake ID % is out of range 0 .. %', id, max_id USING ERRCODE = '22003';
END $$;

CREATE OR REPLACE FUNCTION snowdrift.check_id(id bigint, max_id bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN id BETWEEN 0 AND max_id THEN id ELSE snowdrift.reject_id(id, max_id) END;

CREATE OR REPLACE FUNCTION snowdrift.timestamp_of(id bigint, f snowdrift.fields) RETURNS timestamptz LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN snowdrift.time_of((f).epoch_ms + (snowdrift.check_id(id, (f).max_id) >> (f).timestamp_shift) * (f).unit_ms);

CREATE OR REPLACE FUNCTION snowdrift.field_of(id bigint, f snowdrift.fields, field text) RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ((snowdrift.check_id(id, (f).max_id) >> CASE field WHEN 'datacenter' THEN (f).datacenter_shift
            WHEN 'worker' THEN (f).worker_shift ELSE (f).sequence_shift END)
        & snowdrift.ones(CASE field WHEN 'datacenter' THEN (f).datacenter_bits
            WHEN 'worker' THEN (f).worker_bits ELSE (f).sequence_bits END))::integer;

CREATE OR REPLACE FUNCTION public.snowflake_timestamp(id bigint, layout public.snowflake_layout DEFAULT 'snowflake') RETURNS timestamptz
    LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN snowdrift.timestamp_of(id, snowdrift.fields_of(layout));
COMMENT ON FUNCTION public.snowflake_timestamp(bigint, public.snowflake_layout) IS 'extract timestamp of Snowflake ID';

CREATE OR REPLACE FUNCTION public.snowflake_datacenter(id bigint, layout public.snowflake_layout DEFAULT 'snowflake') RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN snowdrift.field_of(id, snowdrift.fields_of(layout), 'datacenter');
COMMENT ON FUNCTION public.snowflake_datacenter(bigint, public.snowflake_layout) IS 'extract datacenter of Snowflake ID';

CREATE OR REPLACE FUNCTION public.snowflake_worker(id bigint, layout public.snowflake_layout DEFAULT 'snowflake') RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN snowdrift.field_of(id, snowdrift.fields_of(layout), 'worker');
COMMENT ON FUNCTION public.snowflake_worker(bigint, public.snowflake_layout) IS 'extract worker of Snowflake ID';

CREATE OR REPLACE FUNCTION public.snowflake_sequence(id bigint, layout public.snowflake_layout DEFAULT 'snowflake') RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN snowdrift.field_of(id, snowdrift.fields_of(layout), 'sequence');
COMMENT ON FUNCTION public.snowflake_sequence(bigint, public.snowflake_layout) IS 'extract sequence of Snowflake ID';

EXECUTE $sql$
CREATE OR REPLACE FUNCTION public.snowflake_parts(id bigint, layout public.snowflake_layout DEFAULT 'snowflake',
        OUT "timestamp" timestamptz, OUT datacenter integer, OUT worker integer, OUT sequence integer)
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
    SELECT snowdrift.timestamp_of(id, f), snowdrift.field_of(id, f, 'datacenter'), snowdrift.field_of(id, f, 'worker'),
        snowdrift.field_of(id, f, 'sequence')
    FROM snowdrift.fields_of(layout) AS f;
END
$sql$;
COMMENT ON FUNCTION public.snowflake_parts(bigint, public.snowflake_layout) IS 'extract all fields of Snowflake ID, as a row';

-- Snowflake: composing

CREATE OR REPLACE FUNCTION snowdrift.check_field(field text, value integer, bits integer) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN value BETWEEN 0 AND snowdrift.ones(bits) THEN value
        WHEN bits = 0 THEN snowdrift.reject('22003', format('%s must be 0, not %s', field, value), 'The layout has no bits for it.')::bigint
        ELSE snowdrift.reject('22003', format('%s %s is out of range 0 .. %s', field, value, snowdrift.ones(bits)))::bigint END;

CREATE OR REPLACE FUNCTION snowdrift.compose("timestamp" timestamptz, datacenter integer, worker integer, sequence integer,
        f snowdrift.fields) RETURNS bigint
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN ((snowdrift.check_time("timestamp", floor(snowdrift.unix_ms_of("timestamp")), (f).epoch_ms, (f).last_ms, (f).unit_ms,
            'a Snowflake ID') - (f).epoch_ms) / (f).unit_ms << (f).timestamp_shift)
        | (snowdrift.check_field('datacenter', datacenter, (f).datacenter_bits) << (f).datacenter_shift)
        | (snowdrift.check_field('worker', worker, (f).worker_bits) << (f).worker_shift)
        | (snowdrift.check_field('sequence', sequence, (f).sequence_bits) << (f).sequence_shift);

CREATE OR REPLACE FUNCTION public.make_snowflake("timestamp" timestamptz, datacenter integer, worker integer, sequence integer,
        layout public.snowflake_layout DEFAULT 'snowflake') RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN snowdrift.compose("timestamp", datacenter, worker, sequence, snowdrift.fields_of(layout));
COMMENT ON FUNCTION public.make_snowflake(timestamptz, integer, integer, integer, public.snowflake_layout)
    IS 'construct Snowflake ID from its fields; the time is truncated to the layout''s time unit';

CREATE OR REPLACE FUNCTION snowdrift.boundary("timestamp" timestamptz, f snowdrift.fields) RETURNS bigint
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN (snowdrift.check_time("timestamp", ceil(snowdrift.unix_ms_of("timestamp")), (f).epoch_ms, (f).last_ms, 1,
        'a Snowflake ID') - (f).epoch_ms + (f).unit_ms - 1) / (f).unit_ms << (f).timestamp_shift;

CREATE OR REPLACE FUNCTION public.snowflake_boundary("timestamp" timestamptz, layout public.snowflake_layout DEFAULT 'snowflake')
        RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN snowdrift.boundary("timestamp", snowdrift.fields_of(layout));
COMMENT ON FUNCTION public.snowflake_boundary(timestamptz, public.snowflake_layout)
    IS 'smallest Snowflake ID at or after a time; id >= boundary(a) AND id < boundary(b) selects the times >= a and < b';

-- Time ranges. If a range contains no ID, the first ID is the largest of the layout, and the last ID is the smallest.

CREATE OR REPLACE FUNCTION snowdrift.first_within(range tstzrange, f snowdrift.fields) RETURNS bigint
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN coalesce(((snowdrift.ms_within(range, (f).epoch_ms, (f).last_ms))[1] - (f).epoch_ms + (f).unit_ms - 1) / (f).unit_ms
        << (f).timestamp_shift, (f).max_id);

CREATE OR REPLACE FUNCTION snowdrift.last_within(range tstzrange, f snowdrift.fields) RETURNS bigint
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN coalesce((((snowdrift.ms_within(range, (f).epoch_ms, (f).last_ms))[2] - (f).epoch_ms) / (f).unit_ms
        << (f).timestamp_shift) | snowdrift.ones((f).timestamp_shift), 0);

CREATE OR REPLACE FUNCTION snowdrift.first_snowflake_within(range tstzrange, layout public.snowflake_layout DEFAULT 'snowflake') RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN snowdrift.first_within(range, snowdrift.fields_of(layout));

CREATE OR REPLACE FUNCTION snowdrift.last_snowflake_within(range tstzrange, layout public.snowflake_layout DEFAULT 'snowflake') RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN snowdrift.last_within(range, snowdrift.fields_of(layout));

CREATE OR REPLACE FUNCTION public.snowflake_within(id bigint, range tstzrange, layout public.snowflake_layout DEFAULT 'snowflake') RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN id >= snowdrift.first_snowflake_within(range, layout) AND id <= snowdrift.last_snowflake_within(range, layout);
COMMENT ON FUNCTION public.snowflake_within(bigint, tstzrange, public.snowflake_layout)
    IS 'true if the time of Snowflake ID is within a given range; can use indexes on the ID';

-- Text form in Crockford's base32

CREATE OR REPLACE FUNCTION snowdrift.base32_of(bits bit varying) RETURNS text
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    result text := '';
BEGIN
    FOR i IN 1 .. length(bits) BY 5 LOOP
        result := result || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substring(bits FROM i FOR 5)::bit(5)::integer + 1, 1);
    END LOOP;
    RETURN result;
END $$;

CREATE OR REPLACE FUNCTION snowdrift.base32_problem(input text, alphabet text, size integer, kind text,
        part text DEFAULT 'input', before integer DEFAULT 0) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE
        WHEN length(input) <> size THEN format('The %s has %s characters instead of %s.', part, length(input), size)
        WHEN strpos(alphabet, left(input, 1)) > 8
            THEN format('The %s exceeds %s bits, because its first character is greater than "7".', part, 5 * size - 2)
        WHEN ltrim(input, alphabet) <> '' THEN format('The character "%s" at position %s is not in the alphabet of %s.',
            left(ltrim(input, alphabet), 1), before + size - length(ltrim(input, alphabet)) + 1, kind)
    END;

CREATE OR REPLACE FUNCTION snowdrift.base32_bits(input text, size integer, kind text, error text) RETURNS bit varying
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    problem CONSTANT text := snowdrift.base32_problem(input, '0123456789ABCDEFGHJKMNPQRSTVWXYZabcdefghjkmnpqrstvwxyz', size, kind);
    result bit varying := '';
BEGIN
    IF problem IS NOT NULL THEN
        RAISE '%: "%"', error, input USING ERRCODE = '22P02', DETAIL = problem;
    END IF;
    FOR i IN 1 .. size LOOP
        result := result || (strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', upper(substr(input, i, 1))) - 1)::bit(5);
    END LOOP;
    RETURN result;
END $$;

CREATE OR REPLACE FUNCTION public.snowflake_to_text(id bigint) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN snowdrift.base32_of('0'::bit || snowdrift.check_id(id, 9223372036854775807)::bit(64));
COMMENT ON FUNCTION public.snowflake_to_text(bigint)
    IS 'convert Snowflake ID to 13 characters of base32, which sort as the IDs do in collation C';

CREATE OR REPLACE FUNCTION public.snowflake_from_text(id text) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN substring(snowdrift.base32_bits(id, 13, 'Snowflake IDs', 'invalid text of a Snowflake ID') FROM 2)::bit(64)::bigint;
COMMENT ON FUNCTION public.snowflake_from_text(text) IS 'convert 13 characters of base32 to Snowflake ID';

-- UUIDs: ULIDs and TypeIDs

CREATE OR REPLACE FUNCTION snowdrift.bits_of(id uuid) RETURNS bit varying LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ('x' || replace(id::text, '-', ''))::bit(128);

CREATE OR REPLACE FUNCTION snowdrift.uuid_of(bits bit varying) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN encode(substr(varbit_send(bits), 5), 'hex')::uuid;    -- varbit_send: 4 bytes of length, then the bits

CREATE OR REPLACE FUNCTION public.ulid_to_text(id uuid) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN snowdrift.base32_of('00'::bit(2) || snowdrift.bits_of(id));
COMMENT ON FUNCTION public.ulid_to_text(uuid) IS 'convert UUID to text form of ULID, 26 characters of base32';

CREATE OR REPLACE FUNCTION public.ulid_to_uuid(id text) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN snowdrift.uuid_of(substring(snowdrift.base32_bits(id, 26, 'type ulid', 'invalid input syntax for type ulid') FROM 3));
COMMENT ON FUNCTION public.ulid_to_uuid(text) IS 'convert text form of ULID to UUID';

CREATE OR REPLACE FUNCTION snowdrift.typeid_prefix_problem(prefix text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE
        WHEN prefix ~ '[^a-z_]'
            THEN format('The character "%s" at position %s of the prefix is neither a lower-case letter from "a" to "z" nor an underscore.',
                substring(prefix FROM '[^a-z_]'), strpos(prefix, substring(prefix FROM '[^a-z_]')))
        WHEN length(prefix) > 63 THEN 'A prefix has at most 63 characters.'
        WHEN left(prefix, 1) = '_' OR right(prefix, 1) = '_' THEN 'A prefix cannot begin or end with an underscore.'
    END;

CREATE OR REPLACE FUNCTION public.typeid_to_text(prefix text, id uuid) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN CASE WHEN snowdrift.typeid_prefix_problem(prefix) IS NULL
            THEN concat_ws('_', nullif(prefix, ''), lower(public.ulid_to_text(id)))
        ELSE snowdrift.reject('22023', format('invalid prefix of a TypeID: "%s"', prefix), snowdrift.typeid_prefix_problem(prefix)) END;
COMMENT ON FUNCTION public.typeid_to_text(text, uuid) IS 'convert UUID to TypeID: prefix, underscore and 26 characters of base32';

-- The last underscore is the separator.
CREATE OR REPLACE FUNCTION snowdrift.typeid_problem(id text, suffix text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN coalesce(
        CASE WHEN length(id) = length(suffix) + 1 THEN 'A TypeID without a prefix has no underscore.' END,
        snowdrift.typeid_prefix_problem(left(id, greatest(length(id) - length(suffix) - 1, 0))),
        snowdrift.base32_problem(suffix, '0123456789abcdefghjkmnpqrstvwxyz', 26, 'TypeIDs', 'suffix', length(id) - length(suffix)));

CREATE OR REPLACE FUNCTION public.typeid_prefix(id text) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN CASE WHEN snowdrift.typeid_problem(id, substring(id FROM '[^_]*$')) IS NULL THEN rtrim(left(id, -26), '_')
        ELSE snowdrift.reject('22P02', format('invalid TypeID: "%s"', id), snowdrift.typeid_problem(id, substring(id FROM '[^_]*$'))) END;
COMMENT ON FUNCTION public.typeid_prefix(text) IS 'extract prefix of TypeID';

CREATE OR REPLACE FUNCTION public.typeid_to_uuid(id text) RETURNS uuid
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN CASE WHEN public.typeid_prefix(id) IS NOT NULL THEN public.ulid_to_uuid(right(id, 26)) END;
COMMENT ON FUNCTION public.typeid_to_uuid(text) IS 'extract UUID of TypeID';

-- UUIDs of version 7

-- With CASE, the planner does not estimate that few UUIDs are of version 7.
CREATE OR REPLACE FUNCTION snowdrift.is_uuidv7(id uuid) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN substr(id::text, 15, 1) = '7' AND substr(id::text, 20, 1) IN ('8', '9', 'a', 'b') THEN true
        WHEN id IS NOT NULL THEN false END;

CREATE OR REPLACE FUNCTION public.uuidv7_timestamp(id uuid) RETURNS timestamptz
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN snowdrift.is_uuidv7(id)
        THEN snowdrift.time_of(('x0000' || translate(left(id::text, 13), '-', ''))::bit(64)::bigint) END;
COMMENT ON FUNCTION public.uuidv7_timestamp(uuid) IS 'extract timestamp of UUID version 7; null for other versions';

CREATE OR REPLACE FUNCTION public.uuidv7_boundary("timestamp" timestamptz) RETURNS uuid
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN snowdrift.uuid_of(snowdrift.check_time("timestamp", ceil(snowdrift.unix_ms_of("timestamp")),
        0, 281474976710655, 1, 'UUID version 7')::bit(48) || X'70008000000000000000');
COMMENT ON FUNCTION public.uuidv7_boundary(timestamptz) IS 'smallest UUID version 7 at or after a time';

CREATE OR REPLACE FUNCTION snowdrift.first_uuidv7_within(range tstzrange) RETURNS uuid LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN coalesce(snowdrift.uuid_of((snowdrift.ms_within(range, 0, 281474976710655))[1]::bit(48) || X'70008000000000000000'),
        'ffffffff-ffff-7fff-bfff-ffffffffffff');

CREATE OR REPLACE FUNCTION snowdrift.last_uuidv7_within(range tstzrange) RETURNS uuid LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN coalesce(snowdrift.uuid_of((snowdrift.ms_within(range, 0, 281474976710655))[2]::bit(48) || X'7FFFBFFFFFFFFFFFFFFF'),
        '00000000-0000-7000-8000-000000000000');

-- For a null range, all three conditions are null.
CREATE OR REPLACE FUNCTION public.uuidv7_within(id uuid, range tstzrange) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN id >= snowdrift.first_uuidv7_within(range) AND id <= snowdrift.last_uuidv7_within(range)
        AND (snowdrift.is_uuidv7(id) OR range IS NULL);
COMMENT ON FUNCTION public.uuidv7_within(uuid, tstzrange)
    IS 'true if UUID is of version 7 and its time is within a given range; can use indexes on the ID';

-- Bits 52 and 53 make version 7 of version 4.
CREATE OR REPLACE FUNCTION snowdrift.random_uuidv7(unix_ms bigint) RETURNS uuid LANGUAGE sql VOLATILE PARALLEL SAFE
    RETURN encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid()) PLACING substring(int8send(unix_ms) FROM 3) FROM 1 FOR 6),
        52, 1), 53, 1), 'hex')::uuid;

CREATE OR REPLACE FUNCTION public.uuidv7_at("timestamp" timestamptz) RETURNS uuid
    LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
    RETURN snowdrift.random_uuidv7(snowdrift.check_time("timestamp", floor(snowdrift.unix_ms_of("timestamp")),
        0, 281474976710655, 1, 'UUID version 7'));
COMMENT ON FUNCTION public.uuidv7_at(timestamptz) IS 'generate random UUID version 7 for given time';

CREATE OR REPLACE FUNCTION public.next_uuidv7() RETURNS uuid
    LANGUAGE sql VOLATILE PARALLEL SAFE
    RETURN snowdrift.random_uuidv7(floor(snowdrift.unix_ms_of(statement_timestamp()))::bigint);
COMMENT ON FUNCTION public.next_uuidv7() IS 'generate random UUID version 7 for the start time of the statement';

-- Tables whose rows belong to this server: a trigger that is enabled as REPLICA keeps those of other servers out.

-- Logical replication applies no row of another server. Its workers run no query.
CREATE OR REPLACE FUNCTION snowdrift_tables.skip_row() RETURNS trigger
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF current_setting('session_replication_role') = 'replica' THEN
        IF current_query() IS NOT NULL THEN
            RAISE 'cannot change table "%" while session_replication_role is "replica"', TG_RELID::regclass USING ERRCODE = '55000',
                HINT = 'To restore a dump, set session_replication_role to "origin".';
        END IF;
        RETURN NULL;
    END IF;
    RETURN coalesce(NEW, OLD);    -- after ENABLE TRIGGER ALL, as of pg_dump --disable-triggers
END $$;
COMMENT ON FUNCTION snowdrift_tables.skip_row() IS 'trigger: skip rows of another server';

-- Snowflake: generating. The state of a generator is the value of a sequence object, so that all sessions share it, and
-- no restart or rollback sets it back. The value is an ID without a node: the timestamp above the sequence number. If a
-- generator spreads its sequence, the number in an ID is greater by an offset that depends on the time unit: see start_of().

IF to_regclass('snowdrift_tables.generator') IS NULL THEN
    CREATE TABLE snowdrift_tables.generator (
        name text PRIMARY KEY,
        layout public.snowflake_layout NOT NULL,
        datacenter integer NOT NULL,
        worker integer NOT NULL,
        fields snowdrift.fields NOT NULL,    -- stored because parsing the layout takes longer than drawing an ID
        state text NOT NULL CHECK (state ~ '^snowdrift_tables[.]state_[0-9a-f]{32}$'),
            -- the sequence; no regclass, because a subscriber reads the rows that it skips
        spread boolean    -- null for generators of a version without it
    );
END IF;

-- The default generator, whose name is '', is not in the table, so that it needs no data of a dump.
IF to_regclass('snowdrift_tables.state') IS NULL THEN
    CREATE SEQUENCE snowdrift_tables.state MINVALUE 0 MAXVALUE 9007199254740991;    -- MAXVALUE: the end of the layout
END IF;
CREATE OR REPLACE FUNCTION snowdrift_tables.default_generator() RETURNS snowdrift_tables.generator LANGUAGE sql IMMUTABLE
    RETURN ROW('', 'snowflake', 0, 0, snowdrift.fields_of('snowflake'), 'snowdrift_tables.state', false)::snowdrift_tables.generator;

-- The time of the last ID of all dropped generators, in Unix milliseconds. Those that are created later begin after it.
IF to_regclass('snowdrift_tables.dropped_ms') IS NULL THEN
    CREATE SEQUENCE snowdrift_tables.dropped_ms MINVALUE 0;
END IF;

-- An old snapshot can contain the row of a dropped generator.
EXECUTE $sql$
CREATE OR REPLACE FUNCTION snowdrift_tables.generators() RETURNS SETOF snowdrift_tables.generator LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT * FROM snowdrift_tables.default_generator()
    UNION ALL SELECT * FROM snowdrift_tables.generator WHERE to_regclass(state) IS NOT NULL;
END
$sql$;

CREATE OR REPLACE FUNCTION snowdrift_tables.unix_ms() RETURNS bigint LANGUAGE sql VOLATILE
    RETURN floor(extract(epoch FROM clock_timestamp()) * 1000);

-- What a spread sequence adds to the number in a state: 0 to a sixteenth of all numbers, depending on the time unit. This is
-- Fibonacci hashing: the factor is 2^32 divided by the golden ratio.
CREATE OR REPLACE FUNCTION snowdrift_tables.start_of(state bigint, f snowdrift.fields) RETURNS bigint LANGUAGE sql IMMUTABLE
    RETURN ((((state >> (f).sequence_bits) & 2147483647) * 2654435769) & 4294967295) >> (36 - (f).sequence_bits);

-- The state itself, or the first one of the next time unit if the sum could exceed the sequence.
CREATE OR REPLACE FUNCTION snowdrift_tables.next_spread_state(state bigint, f snowdrift.fields) RETURNS bigint LANGUAGE sql IMMUTABLE
    RETURN CASE WHEN state & snowdrift.ones((f).sequence_bits) > snowdrift.ones((f).sequence_bits) - snowdrift.ones((f).sequence_bits - 4)
        THEN (state | snowdrift.ones((f).sequence_bits)) + 1 ELSE state END;

-- The greater of last + 1 and the clock.
CREATE OR REPLACE FUNCTION snowdrift_tables.next_state(last bigint, f snowdrift.fields) RETURNS bigint LANGUAGE sql VOLATILE
    RETURN greatest(last + 1, (snowdrift_tables.unix_ms() - (f).epoch_ms) / (f).unit_ms * (1::bigint << (f).sequence_bits), 0);

CREATE OR REPLACE FUNCTION snowdrift_tables.lead_ms(state bigint, f snowdrift.fields) RETURNS bigint LANGUAGE sql VOLATILE
    RETURN ((state >> (f).sequence_bits) - (snowdrift_tables.unix_ms() - (f).epoch_ms) / (f).unit_ms) * (f).unit_ms;

-- The bits of an ID that the sequence can set.
CREATE OR REPLACE FUNCTION snowdrift_tables.sequence_mask(f snowdrift.fields) RETURNS bigint LANGUAGE sql IMMUTABLE
    RETURN snowdrift.ones((f).sequence_bits) << (f).sequence_shift;

CREATE OR REPLACE FUNCTION snowdrift_tables.id_of(state bigint, g snowdrift_tables.generator, f snowdrift.fields) RETURNS bigint
    LANGUAGE sql IMMUTABLE
    RETURN (state >> (f).sequence_bits << (f).timestamp_shift)
        | ((CASE WHEN (g).spread THEN least(state + snowdrift_tables.start_of(state, f), state | snowdrift.ones((f).sequence_bits)) ELSE state END
            << (f).sequence_shift) & snowdrift_tables.sequence_mask(f))
        | ((g).datacenter::bigint << (f).datacenter_shift) | ((g).worker::bigint << (f).worker_shift);

-- The last state in the time unit that contains a time, or in the first or last time unit of the layout.
CREATE OR REPLACE FUNCTION snowdrift_tables.last_state_at(unix_ms numeric, f snowdrift.fields) RETURNS bigint LANGUAGE sql IMMUTABLE
    RETURN (greatest(0, least(floor((unix_ms - (f).epoch_ms) / (f).unit_ms), (f).max_id >> (f).timestamp_shift))::bigint
        << (f).sequence_bits) | snowdrift.ones((f).sequence_bits);

-- The time of a generator's last ID; null if it has issued none, or was dropped meanwhile.
CREATE OR REPLACE FUNCTION snowdrift_tables.last_ms(g snowdrift_tables.generator) RETURNS bigint
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (g.fields).epoch_ms + (pg_sequence_last_value(g.state::regclass) >> (g.fields).sequence_bits) * (g.fields).unit_ms;
EXCEPTION WHEN undefined_table OR internal_error THEN
    IF to_regclass(g.state) IS NOT NULL THEN
        RAISE;
    END IF;
    RETURN NULL;
END $$;

-- The clock is behind a state, or the sequence numbers of its time unit are used up.
CREATE OR REPLACE FUNCTION snowdrift_tables.wait_for_clock(state bigint, f snowdrift.fields) RETURNS void
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    lead_ms CONSTANT bigint := snowdrift_tables.lead_ms(state, f);
BEGIN
    IF lead_ms > 60000 + f.unit_ms THEN
        RAISE 'clock moved backwards by % ms; refusing to generate IDs', lead_ms USING ERRCODE = '55000',
            DETAIL = 'The last ID is ahead of the server''s clock by that much; at most 60000 ms are allowed.',
            HINT = 'Correct the clock, or wait until it has caught up.';
    ELSIF state & snowdrift.ones(f.sequence_bits) = 0 THEN
        PERFORM pg_sleep(f.unit_ms / 1000.0);    -- so that the lead does not grow under load
    END IF;
END $$;

-- Called by the first draw of a transaction: holds the watermark of a generator as snowdrift.hold_sequence() does, if a watched table
-- draws from it. Otherwise, the setting refuses rows of a table that is watched meanwhile.
CREATE OR REPLACE FUNCTION snowdrift_tables.hold(sequence regclass, setting text, g snowdrift_tables.generator, f snowdrift.fields) RETURNS void
    LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    last pg_catalog.int8 := 9223372036854775807;
BEGIN
    IF EXISTS (SELECT FROM pg_catalog.pg_depend AS d WHERE d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass
            AND d.refobjid OPERATOR(pg_catalog.=) sequence AND d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_trigger'::pg_catalog.regclass) THEN
        last := coalesce(pg_catalog.pg_sequence_last_value(sequence) OPERATOR(pg_catalog.>>) f.sequence_bits, '-1'::pg_catalog.int8);    -- before the first unit
        WHILE NOT pg_catalog.pg_try_advisory_xact_lock_shared(snowdrift.hold_key(sequence::pg_catalog.oid, last)) LOOP    -- Another role has locked this key.
            last := last OPERATOR(pg_catalog.-) 1::pg_catalog.int8;
        END LOOP;
        last := coalesce(snowdrift_tables.id_of(pg_catalog.pg_sequence_last_value(sequence), g, f), 0);
    END IF;
    IF pg_catalog.set_config(setting, last::pg_catalog.text, true) IS NULL THEN    -- never; faster than PERFORM
    END IF;
END $$;

-- The block that takes the lock always ends with an error, so that PostgreSQL releases the lock. The error does not undo
-- setval(). All names are qualified, because setting the search path takes long.
CREATE OR REPLACE FUNCTION public.next_snowflake(generator text) RETURNS bigint
    LANGUAGE plpgsql VOLATILE STRICT SECURITY DEFINER AS $$
DECLARE
    g snowdrift_tables.generator;
    f snowdrift.fields;
    sequence pg_catalog.regclass;
    setting pg_catalog.text;
    state bigint;
BEGIN
    IF generator OPERATOR(pg_catalog.=) ''::pg_catalog.text COLLATE pg_catalog."C" THEN
        g := snowdrift_tables.default_generator();
    ELSE
        SELECT * INTO g FROM snowdrift_tables.generator AS d WHERE d.name OPERATOR(pg_catalog.=) generator COLLATE pg_catalog."C";
        IF NOT FOUND THEN
            RAISE 'ID generator "%" does not exist', generator USING ERRCODE = '42704';
        END IF;
    END IF;
    f := g.fields;
    sequence := pg_catalog.to_regclass(g.state);
    setting := snowdrift.hold_setting(sequence::pg_catalog.oid);
    IF sequence IS NOT NULL AND coalesce(pg_catalog.current_setting(setting, true), '') OPERATOR(pg_catalog.=) '' THEN    -- before the block whose end releases its locks
        IF snowdrift_tables.hold(sequence, setting, g, f) IS NULL THEN
        END IF;
    END IF;
    BEGIN
        sequence := g.state;
        state := pg_catalog.pg_sequence_last_value(sequence);    -- waits for a drop before it can block other calls
        IF pg_catalog.pg_advisory_xact_lock(1397641047, sequence::integer) IS NULL THEN    -- never; faster than PERFORM
        END IF;
        state := snowdrift_tables.next_state(pg_catalog.pg_sequence_last_value(sequence), f);
        IF g.spread THEN
            state := snowdrift_tables.next_spread_state(state, f);
        END IF;
        IF snowdrift_tables.lead_ms(state, f) OPERATOR(pg_catalog.>) 0::bigint THEN
            PERFORM snowdrift_tables.wait_for_clock(state, f);
        END IF;
        state := pg_catalog.setval(sequence, state);
        RAISE SQLSTATE 'SNOWD';
    EXCEPTION
        WHEN SQLSTATE 'SNOWD' THEN
        WHEN undefined_table OR internal_error THEN    -- by the cast to regclass, or after waiting for the sequence
            IF pg_catalog.to_regclass(g.state) IS NOT NULL THEN
                RAISE;
            END IF;
            RAISE 'ID generator "%" was dropped', generator USING ERRCODE = '42704', HINT = 'Repeat the transaction. If the error remains, run the SQL edition''s file again.';
    END;
    RETURN snowdrift_tables.id_of(state, g, f);
END $$;
COMMENT ON FUNCTION public.next_snowflake(text) IS 'generate new Snowflake ID from named generator';

CREATE OR REPLACE FUNCTION public.next_snowflake() RETURNS bigint
    LANGUAGE sql VOLATILE RETURN public.next_snowflake(''::text);
COMMENT ON FUNCTION public.next_snowflake() IS 'generate new Snowflake ID from default generator';

EXECUTE $sql$
CREATE OR REPLACE FUNCTION public.next_snowflakes(n integer, generator text DEFAULT '') RETURNS SETOF bigint
    LANGUAGE sql VOLATILE STRICT
BEGIN ATOMIC
    SELECT public.next_snowflake(generator) FROM generate_series(1,
        CASE WHEN n >= 0 THEN n ELSE snowdrift.reject('22023', 'number of IDs must not be negative: ' || n::text)::integer END);
END
$sql$;
COMMENT ON FUNCTION public.next_snowflakes(integer, text) IS 'generate n new Snowflake IDs, in ascending order';

-- Revokes what ALTER DEFAULT PRIVILEGES has granted: who can set a state can repeat IDs.
CREATE OR REPLACE FUNCTION snowdrift_tables.revoke_grants(class regclass) RETURNS void
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    grantee oid;
BEGIN
    FOR grantee IN SELECT a.grantee FROM pg_class AS c, aclexplode(c.relacl) AS a WHERE c.oid = class AND a.grantee <> c.relowner LOOP
        EXECUTE format('REVOKE ALL ON %s FROM %s', class, CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END);
    END LOOP;
END $$;

-- A generator's row is inserted by create_generator, or by a dump of the data alone, which doesn't create the sequence.
CREATE OR REPLACE FUNCTION snowdrift_tables.create_state() RETURNS trigger
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_RELID <> 'snowdrift_tables.generator'::regclass THEN    -- Casts of another table's columns would run with the owner's rights.
        RAISE 'trigger of table "%"', TG_RELID::regclass USING ERRCODE = '42501';
    END IF;
    IF to_regclass(NEW.state) IS NULL THEN
        EXECUTE format('CREATE SEQUENCE snowdrift_tables.%I MINVALUE 0 MAXVALUE %s',
            split_part(NEW.state, '.', 2), snowdrift_tables.last_state_at((NEW.fields).last_ms, NEW.fields));
        PERFORM snowdrift_tables.revoke_grants(NEW.state);
    END IF;
    RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER create_state BEFORE INSERT ON snowdrift_tables.generator
    FOR EACH ROW EXECUTE FUNCTION snowdrift_tables.create_state();

-- Each server has its own generators.
CREATE OR REPLACE TRIGGER skip_row BEFORE INSERT OR UPDATE OR DELETE ON snowdrift_tables.generator
    FOR EACH ROW EXECUTE FUNCTION snowdrift_tables.skip_row();
ALTER TABLE snowdrift_tables.generator ENABLE REPLICA TRIGGER skip_row;

-- Logical replication would remove this server's rows.
CREATE OR REPLACE FUNCTION snowdrift_tables.refuse_truncate() RETURNS trigger
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE 'cannot truncate table "snowdrift_tables.generator"' USING ERRCODE = '0A000', HINT = 'Use snowdrift.drop_generator() for each generator.';
END $$;
CREATE OR REPLACE TRIGGER refuse_truncate BEFORE TRUNCATE ON snowdrift_tables.generator
    FOR EACH STATEMENT EXECUTE FUNCTION snowdrift_tables.refuse_truncate();
ALTER TABLE snowdrift_tables.generator ENABLE ALWAYS TRIGGER refuse_truncate;

-- Creations, drops and advances wait for each other, and then see what the others have done.
CREATE OR REPLACE FUNCTION snowdrift_tables.lock_generators() RETURNS void
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF current_setting('transaction_isolation') IN ('repeatable read', 'serializable') THEN
        RAISE 'cannot create, drop or advance ID generators in a transaction with isolation level "%"', current_setting('transaction_isolation')
            USING ERRCODE = '25001', HINT = 'Use READ COMMITTED.';
    END IF;
    LOCK TABLE snowdrift_tables.generator IN SHARE ROW EXCLUSIVE MODE;
END $$;

creators := (SELECT proacl FROM pg_proc WHERE oid = to_regprocedure('snowdrift.create_generator(text,text,public.snowflake_layout,integer,integer)'));
IF to_regprocedure('snowdrift.create_generator(text,text,public.snowflake_layout,integer,integer)') IS NOT NULL THEN    -- of an earlier version
    DROP FUNCTION snowdrift.create_generator(text, text, public.snowflake_layout, integer, integer);
END IF;

-- A generator begins after the present time unit, and after the last IDs of all others, also of dropped ones.
CREATE OR REPLACE FUNCTION snowdrift.create_generator(name text, kind text, layout public.snowflake_layout DEFAULT 'snowflake',
        datacenter integer DEFAULT 0, worker integer DEFAULT 0, spread boolean DEFAULT false) RETURNS void
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    now_ms CONSTANT bigint := snowdrift_tables.unix_ms();
    sequence CONSTANT text := 'snowdrift_tables.state_' || replace(gen_random_uuid()::text, '-', '');
    f snowdrift.fields;
    created snowdrift_tables.generator;
    others text;
BEGIN
    layout := coalesce(layout, 'snowflake');
    datacenter := coalesce(datacenter, 0);
    worker := coalesce(worker, 0);
    spread := coalesce(spread, false);
    f := snowdrift.fields_of(layout);
    PERFORM snowdrift_tables.lock_generators();
    IF name IS NULL OR kind IS NULL THEN
        RAISE 'ID generator % must not be null', CASE WHEN name IS NULL THEN 'name' ELSE 'kind' END USING ERRCODE = '22004';
    ELSIF kind <> 'snowflake' THEN
        RAISE 'unrecognized ID generator kind: "%"', kind USING ERRCODE = '22023', HINT = 'The only valid kind in the SQL edition is "snowflake".';
    ELSIF octet_length(name) NOT BETWEEN 1 AND 63 THEN
        RAISE 'invalid ID generator name: "%"', name USING ERRCODE = '42602', DETAIL = 'A name must be 1 to 63 bytes long.';
    ELSIF EXISTS (SELECT FROM snowdrift_tables.generator AS g WHERE g.name = create_generator.name) THEN
        RAISE 'ID generator "%" already exists', name USING ERRCODE = '42710';
    ELSIF now_ms NOT BETWEEN f.epoch_ms AND f.last_ms + f.unit_ms - 1 THEN
        RAISE 'layout "%" has %', layout, CASE WHEN now_ms < f.epoch_ms THEN 'not begun' ELSE 'ended' END
            USING ERRCODE = '22023';
    ELSIF spread AND f.sequence_bits < 5 THEN
        RAISE 'sequence range 0 .. % is too narrow', snowdrift.ones(f.sequence_bits) USING ERRCODE = '22023',
            DETAIL = 'A generator needs at least 4 sequence numbers, and 32 to spread them.';
    END IF;
    PERFORM snowdrift.check_field('datacenter', datacenter, f.datacenter_bits);
    PERFORM snowdrift.check_field('worker', worker, f.worker_bits);
    created := (name, layout, datacenter, worker, f, sequence, spread);
    SELECT string_agg(CASE g.name WHEN '' THEN 'the default generator' ELSE format('"%s"', g.name) END, ', ' ORDER BY g.name) INTO others
    FROM snowdrift_tables.generators() AS g
    WHERE ((g.fields).epoch_ms, (g.fields).unit_ms, (g.fields).timestamp_shift) = (f.epoch_ms, f.unit_ms, f.timestamp_shift)
        AND (snowdrift_tables.id_of(0, g, g.fields) # snowdrift_tables.id_of(0, created, f))
            & ~(snowdrift_tables.sequence_mask(g.fields) | snowdrift_tables.sequence_mask(f)) = 0;
    INSERT INTO snowdrift_tables.generator VALUES (created.*);
    PERFORM setval(sequence, snowdrift_tables.last_state_at(
        greatest(now_ms, pg_sequence_last_value('snowdrift_tables.dropped_ms'), max(snowdrift_tables.last_ms(g))), f))
    FROM snowdrift_tables.generators() AS g;
    IF others IS NOT NULL THEN
        RAISE NOTICE 'ID generator "%" can issue the same IDs as other generators', name
            USING DETAIL = format('The other generators are: %s.', others),
                HINT = 'If their IDs are stored in one column, give each generator its own node (datacenter and worker).';
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.create_generator IS 'create named generator; by default with layout snowflake and node 0';

CREATE OR REPLACE FUNCTION snowdrift.drop_generator(name text, force boolean DEFAULT false) RETURNS void
    LANGUAGE plpgsql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    SET quote_all_identifiers = off SET standard_conforming_strings = on AS $$
DECLARE
    dependents text;
    g snowdrift_tables.generator;
BEGIN
    IF NOT force THEN
        SELECT string_agg(description, E'\n' ORDER BY classid, object, adnum) INTO dependents
        FROM (SELECT DISTINCT classid, objid FROM pg_depend
              WHERE classid IN ('pg_attrdef'::regclass, 'pg_type'::regclass) AND refclassid = 'pg_proc'::regclass
                  AND refobjid IN ('public.next_snowflake(text)'::regprocedure, 'snowdrift.generator_layout(text)'::regprocedure)) AS users,
            LATERAL (SELECT format('default of column %I of table %s', attname, adrelid::regclass), pg_get_expr(adbin, 0), adrelid, adnum
                     FROM pg_attrdef AS a JOIN pg_attribute ON attrelid = adrelid AND attnum = adnum
                     WHERE classid = 'pg_attrdef'::regclass AND a.oid = objid
                     UNION ALL SELECT format('default of domain %s', t.oid::regtype), pg_get_expr(typdefaultbin, 0), t.oid, 0
                     FROM pg_type AS t WHERE classid = 'pg_type'::regclass AND t.oid = objid) AS defaults(description, expression, object, adnum)
        WHERE strpos(expression, format('''%s''::', replace(name, '''', ''''''))) > 0;
        dependents := concat_ws(E'\n', dependents, (SELECT string_agg(DISTINCT format('watch of table %s', tgrelid::regclass), E'\n') FROM pg_depend JOIN pg_trigger AS t ON t.oid = objid
            WHERE classid = 'pg_trigger'::regclass AND tgparentid = 0 AND refclassid = 'pg_class'::regclass
                AND refobjid = (SELECT to_regclass(d.state) FROM snowdrift_tables.generator AS d WHERE d.name = drop_generator.name)));
    END IF;
    IF dependents <> '' THEN
        RAISE 'cannot drop ID generator "%" because other objects depend on it', name USING ERRCODE = '2BP01', DETAIL = dependents,
            HINT = 'Change these objects first, or drop the generator with force => true to keep them, without watches. They then raise an error when used.';
    END IF;
    PERFORM snowdrift_tables.lock_generators();
    DELETE FROM snowdrift_tables.generator AS d WHERE d.name = drop_generator.name RETURNING * INTO g;
    IF NOT FOUND THEN
        RAISE 'ID generator "%" does not exist', name USING ERRCODE = '42704';
    END IF;
    EXECUTE format('ALTER SEQUENCE %s NO CYCLE', g.state::regclass);    -- waits until the transactions that drew have ended
    PERFORM setval('snowdrift_tables.dropped_ms',
        greatest(snowdrift_tables.last_ms(g), pg_sequence_last_value('snowdrift_tables.dropped_ms')));
    EXECUTE format('DROP SEQUENCE %s CASCADE', g.state::regclass);    -- and watches
END $$;
COMMENT ON FUNCTION snowdrift.drop_generator IS 'drop named generator; by default only if no default of a column or a domain names it';

-- COST 1, so that the planner inlines predicates that call it.
CREATE OR REPLACE FUNCTION snowdrift.generator_layout(generator text) RETURNS public.snowflake_layout
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE COST 1 SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    layout CONSTANT text := (SELECT g.layout FROM snowdrift_tables.generator AS g WHERE g.name = generator COLLATE "C");
BEGIN
    IF layout IS NULL THEN
        RAISE 'ID generator "%" does not exist', generator USING ERRCODE = '42704';
    END IF;
    RETURN layout;
END $$;
COMMENT ON FUNCTION snowdrift.generator_layout(text) IS 'layout of named generator, for functions that decode its Snowflake IDs';

EXECUTE $sql$
CREATE OR REPLACE FUNCTION snowdrift.read_generators(OUT name text, OUT kind text, OUT layout public.snowflake_layout, OUT datacenter integer,
        OUT worker integer, OUT ends timestamptz, OUT last_timestamp timestamptz) RETURNS SETOF record
    LANGUAGE sql VOLATILE SECURITY DEFINER
BEGIN ATOMIC
    SELECT nullif(g.name, ''), 'snowflake', g.layout, g.datacenter, g.worker, snowdrift.time_of((g.fields).last_ms),
        snowdrift.time_of(snowdrift_tables.last_ms(g))
    FROM snowdrift_tables.generators() AS g;
END
$sql$;

EXECUTE $sql$
CREATE OR REPLACE FUNCTION snowdrift.has_spread(generator text) RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER
BEGIN ATOMIC
    SELECT coalesce(g.spread, false) FROM snowdrift_tables.generators() AS g WHERE g.name = coalesce(generator, '') COLLATE "C";
END
$sql$;
COMMENT ON FUNCTION snowdrift.has_spread(text) IS 'whether a generator varies the first number of each time unit';

CREATE OR REPLACE VIEW snowdrift.generators AS
    SELECT *, greatest(last_timestamp - clock_timestamp(), interval '0') AS lead, snowdrift.has_spread(name) AS spread FROM snowdrift.read_generators();
COMMENT ON VIEW snowdrift.generators IS 'definition of each generator, time of its last ID, and how far it is ahead of the clock';

CREATE OR REPLACE FUNCTION snowdrift.advance("timestamp" timestamptz) RETURNS void
    LANGUAGE plpgsql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    unix_ms CONSTANT numeric := snowdrift.unix_ms_of("timestamp");
    lead_ms CONSTANT numeric := ceil(unix_ms - snowdrift_tables.unix_ms());
    g snowdrift_tables.generator;
BEGIN
    IF lead_ms > 60000 THEN
        RAISE 'time is % ms ahead of the server''s clock', lead_ms USING ERRCODE = '55000',
            DETAIL = 'At most 60000 ms are allowed.';
    END IF;
    PERFORM snowdrift_tables.lock_generators();
    FOR g IN SELECT * FROM snowdrift_tables.generators() AS d ORDER BY d.name LOOP
        BEGIN    -- as in next_snowflake
            PERFORM pg_advisory_xact_lock(1397641047, g.state::regclass::integer);
            PERFORM setval(g.state, greatest(snowdrift_tables.last_state_at(unix_ms, g.fields), pg_sequence_last_value(g.state)));
            RAISE SQLSTATE 'SNOWD';
        EXCEPTION WHEN SQLSTATE 'SNOWD' THEN
        END;
    END LOOP;
END $$;
COMMENT ON FUNCTION snowdrift.advance(timestamptz) IS 'make all further IDs of all generators later than a time';

-- The IDs in a column, for the tools. The extension has the same functions for its types.

CREATE OR REPLACE FUNCTION snowdrift.id_kind(type regtype) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN CASE type WHEN 'bigint'::regtype THEN 'snowflake' WHEN 'uuid'::regtype THEN 'uuidv7' END;

EXECUTE $sql$
CREATE OR REPLACE FUNCTION snowdrift.id_times(kind text, layout public.snowflake_layout, OUT first timestamptz, OUT last timestamptz)
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT CASE kind WHEN 'snowflake' THEN snowdrift.time_of((snowdrift.fields_of(layout)).epoch_ms)
            ELSE public.uuidv7_timestamp(snowdrift.first_uuidv7_within('(,)'::tstzrange)) END,
        CASE kind WHEN 'snowflake' THEN snowdrift.time_of((snowdrift.fields_of(layout)).last_ms)
            ELSE public.uuidv7_timestamp(snowdrift.last_uuidv7_within('(,)'::tstzrange)) END;
END
$sql$;

CREATE OR REPLACE FUNCTION snowdrift.id_boundary(kind text, "timestamp" timestamptz, layout public.snowflake_layout) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE kind WHEN 'snowflake' THEN public.snowflake_boundary("timestamp", layout)::text
        WHEN 'uuidv7' THEN public.uuidv7_boundary("timestamp")::text END;

CREATE OR REPLACE FUNCTION snowdrift.id_timestamp(kind text, id text, layout public.snowflake_layout) RETURNS timestamptz
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE kind WHEN 'snowflake' THEN CASE WHEN id::bigint BETWEEN 0 AND (snowdrift.fields_of(layout)).max_id
            THEN public.snowflake_timestamp(id::bigint, layout) END
        WHEN 'uuidv7' THEN public.uuidv7_timestamp(id::uuid) END;

CREATE OR REPLACE FUNCTION snowdrift.is_same_layout(a public.snowflake_layout, b public.snowflake_layout) RETURNS boolean
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN snowdrift.fields_of(a) = snowdrift.fields_of(b);

-- Executes a statement as the owner of a table, and returns the first value of a query. Functions in the table's constraints
-- and indexes do not get the caller's privileges, unless they reset the role, which only the extension can prevent.
CREATE OR REPLACE FUNCTION snowdrift.run_as_owner("table" regclass, statement text) RETURNS text
    LANGUAGE plpgsql VOLATILE STRICT SET row_security = off AS $$
DECLARE
    role CONSTANT pg_catalog.text := snowdrift.become_owner("table");
    result pg_catalog.text;
BEGIN
    IF pg_catalog.starts_with(statement, 'SELECT') THEN
        EXECUTE statement INTO result;
    ELSE
        EXECUTE statement;
    END IF;
    PERFORM pg_catalog.set_config('role', role, true) WHERE role IS NOT NULL;
    RETURN result;
END $$;

-- Returns the setting role as it was, if it has changed. A function with SECURITY DEFINER cannot change it.
CREATE OR REPLACE FUNCTION snowdrift.become_owner("table" regclass) RETURNS text
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    owner CONSTANT name := (SELECT pg_get_userbyid(c.relowner) FROM pg_class AS c WHERE c.oid = "table");
    previous CONSTANT text := current_setting('role');
BEGIN
    IF owner = current_user THEN
        RETURN NULL;
    END IF;
    PERFORM set_config('role', owner, true);
    RETURN previous;
END $$;

EXECUTE $sql$
CREATE OR REPLACE FUNCTION snowdrift.layout_of(generator text) RETURNS public.snowflake_layout LANGUAGE sql STABLE PARALLEL RESTRICTED SECURITY DEFINER
BEGIN ATOMIC
    SELECT g.layout FROM snowdrift_tables.generator AS g WHERE g.name = generator COLLATE "C";
END
$sql$;

-- What reading new rows needs to know of generators. The state of a generator is a sequence, so that it is held as sequences are,
-- but by next_snowflake() itself, and at a time unit, which is the same number for longer than a state.

CREATE OR REPLACE FUNCTION snowdrift.kinds_with_watermarks() RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN '{snowflake}'::text[];

EXECUTE $sql$
CREATE OR REPLACE FUNCTION snowdrift.draw(kind text, generator text) RETURNS boolean LANGUAGE sql VOLATILE
BEGIN ATOMIC
    SELECT public.next_snowflake(coalesce(generator, '')) IS NOT NULL;
END
$sql$;

CREATE OR REPLACE FUNCTION snowdrift.drawn_ids("table" regclass, attnum smallint, OUT kind text, OUT generator text)
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    generator := snowdrift.drawn_generator("table", attnum);
    kind := CASE WHEN generator IS NOT NULL THEN 'snowflake' END;
END $$;

EXECUTE $sql$
CREATE OR REPLACE FUNCTION snowdrift.state_of(generator text) RETURNS oid LANGUAGE sql STABLE SECURITY DEFINER
BEGIN ATOMIC
    SELECT to_regclass(g.state) FROM snowdrift_tables.generators() AS g WHERE g.name = generator COLLATE "C";
END
$sql$;

CREATE OR REPLACE FUNCTION snowdrift.generator_identity(generator text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN NULL::text;

CREATE OR REPLACE FUNCTION snowdrift.generator_watermark(kind text, generator text, OUT last bigint, OUT watermark text)
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    g snowdrift_tables.generator;
    f snowdrift.fields;
    state bigint;
BEGIN
    SELECT * INTO g FROM snowdrift_tables.generators() AS d WHERE d.name = generator COLLATE "C";
    IF NOT FOUND THEN
        RAISE 'ID generator "%" does not exist', generator USING ERRCODE = '42704';
    END IF;
    f := g.fields;
    state := pg_sequence_last_value(g.state::regclass);    -- before the holds
    last := coalesce(snowdrift_tables.id_of(state, g, f), 0);
    watermark := least(last + 1, snowdrift.lowest_hold(g.state::regclass, coalesce(state, 0) >> f.sequence_bits) << f.timestamp_shift);
    last := snowdrift_tables.id_of(snowdrift_tables.next_state(coalesce(state, 0), f), g, f);    -- a position can be that of the present time
END $$;

-- The time of a hold is that of the last ID before the transaction, which can be much earlier than the transaction.
CREATE OR REPLACE FUNCTION snowdrift.read_watermark_holders(OUT pid integer, OUT transaction xid, OUT kind text, OUT generator text, OUT lowest timestamptz)
    RETURNS SETOF record LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT h.pid, h.transaction, 'snowflake', nullif(g.name, ''), NULL::timestamptz
    FROM snowdrift.holding_transactions() AS h JOIN snowdrift_tables.generators() AS g ON h.key = snowdrift.hold_key(g.state::regclass, h.key);
END $$;

-- What the tools check before they change tables, and how they lock the tables.
--
-- Functions that read the catalog and build statements set the search path. Those that execute statements on users' tables
-- do not: functions in indexes, defaults and triggers rely on the caller's path. These functions qualify all names.

CREATE OR REPLACE FUNCTION snowdrift.check_can_change(function text, dry_run boolean) RETURNS void
    LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT dry_run AND current_setting('transaction_read_only')::boolean THEN
        RAISE 'cannot execute % in a read-only transaction', function USING ERRCODE = '25006';
    ELSIF current_setting('transaction_isolation') IN ('repeatable read', 'serializable') THEN
        RAISE 'cannot execute % in a transaction with isolation level "%"', function, current_setting('transaction_isolation')
            USING ERRCODE = '25001', DETAIL = 'Tables can have changed since the transaction''s snapshot.', HINT = 'Use READ COMMITTED.';
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.check_can_change(text, boolean) IS 'ensure that the transaction is neither read-only nor has an old snapshot of the catalog';

CREATE OR REPLACE FUNCTION snowdrift.check_owner("table" regclass) RETURNS pg_class
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    t pg_class;
BEGIN
    SELECT * INTO t FROM pg_class AS c WHERE c.oid = "table";
    IF "table" IS NULL THEN
        RAISE 'table must not be null' USING ERRCODE = '22004';
    ELSIF NOT FOUND THEN
        RAISE 'relation with OID % does not exist', "table"::oid USING ERRCODE = '42P01';
    ELSIF NOT pg_has_role(t.relowner, 'USAGE') THEN
        RAISE 'must be owner of table %', t.relname USING ERRCODE = '42501', HINT = format('Use SET ROLE %s.', t.relowner::regrole);
    END IF;
    RETURN t;
END $$;
COMMENT ON FUNCTION snowdrift.check_owner(regclass) IS 'ensure that a table exists, and that the caller is its owner or a member of that role; returns its row of pg_class';

-- The names of temporary tables can be those of others on the caller's search path.
CREATE OR REPLACE FUNCTION snowdrift.check_parent(parent regclass) RETURNS void
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    t CONSTANT pg_class := snowdrift.check_owner(parent);
BEGIN
    IF t.relpersistence = 't' THEN
        RAISE 'table "%" is temporary', t.relname USING ERRCODE = '0A000', HINT = 'Create and drop its partitions by hand.';
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.check_parent(regclass)
    IS 'ensure that a table exists and is not temporary, and that the caller is its owner or a member of that role';

CREATE OR REPLACE FUNCTION snowdrift.qualified_name(relation regclass) RETURNS text
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    name CONSTANT text := (pg_identify_object('pg_class'::regclass, relation, 0)).identity;    -- the present one, not the snapshot's
BEGIN
    IF name IS NULL THEN
        RAISE 'relation with OID % does not exist', relation::oid USING ERRCODE = '42P01';
    END IF;
    RETURN name;
END $$;
COMMENT ON FUNCTION snowdrift.qualified_name(regclass) IS 'name of relation with its schema, quoted';

-- The type of which a domain is made, also through other domains
CREATE OR REPLACE FUNCTION snowdrift.base_type(type oid) RETURNS oid LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    base oid := type;
BEGIN
    WHILE base <> 0 LOOP
        type := base;
        base := (SELECT t.typbasetype FROM pg_type AS t WHERE t.oid = type);
    END LOOP;
    RETURN type;
END $$;
COMMENT ON FUNCTION snowdrift.base_type(oid) IS 'type of which a domain is made, also through other domains; any other type itself';

CREATE OR REPLACE FUNCTION snowdrift.with_partitions(tables regclass[]) RETURNS regclass[]
    LANGUAGE sql STABLE STRICT SET search_path = pg_catalog, pg_temp AS $$
    SELECT array_agg(t) FROM (SELECT t FROM unnest(tables) AS t UNION SELECT p.relid FROM unnest(tables) AS t, pg_partition_tree(t) AS p) AS trees
$$;
COMMENT ON FUNCTION snowdrift.with_partitions(regclass[]) IS 'tables and their partitions, also those of partitions';

-- A superuser who owns a table is a member of all roles, but has not decided to trust them.
CREATE OR REPLACE FUNCTION snowdrift.tables_of_others("table" regclass, tables regclass[]) RETURNS regclass[]
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT array_agg(c.oid::regclass ORDER BY c.oid) FROM pg_class AS c, pg_class AS t JOIN pg_roles AS r ON r.oid = t.relowner
    WHERE t.oid = "table" AND c.oid = ANY (tables) AND c.relowner <> r.oid AND (r.rolsuper OR NOT pg_has_role(r.oid, c.relowner, 'USAGE'))
$$;
COMMENT ON FUNCTION snowdrift.tables_of_others(regclass, regclass[])
    IS 'those of tables that belong to roles whose privileges the owner of a table does not have';

CREATE OR REPLACE FUNCTION snowdrift.check_owners("table" regclass, tables regclass[]) RETURNS void
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    owner CONSTANT regrole := (SELECT c.relowner FROM pg_class AS c WHERE c.oid = "table");
    others CONSTANT text := (SELECT string_agg(format('%s (%s)', c.oid::regclass, c.relowner::regrole), ', ' ORDER BY c.oid)
        FROM pg_class AS c WHERE c.oid = ANY (snowdrift.tables_of_others("table", tables)));
BEGIN
    IF others IS NOT NULL THEN
        RAISE 'must be owner of all tables that are read' USING ERRCODE = '42501', DETAIL = format('Tables of other roles than %s: %s.', owner, others),
            HINT = format('Functions in their expressions, constraints and policies would have the privileges of %1$s. '
                'Give all of these tables the same owner, or grant the other roles to %1$s.', owner);
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.check_owners(regclass, regclass[])
    IS 'ensure that no function in the expressions of tables gets privileges that the table''s owner lacks';

CREATE OR REPLACE FUNCTION snowdrift.lock_against_changes("table" regclass) RETURNS void
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    EXECUTE format('LOCK TABLE ONLY %s IN SHARE UPDATE EXCLUSIVE MODE', "table");
END $$;
COMMENT ON FUNCTION snowdrift.lock_against_changes(regclass)
    IS 'lock a table against concurrent changes of its definition and its partitions, but not of its rows';

-- The statements that lock relations, in steps: views first, as queries do, then tables against writers, then sequences, and
-- finally tables against readers. LOCK TABLE rejects sequences and foreign tables, and locks the tables of a view with it. To
-- lock only these relations, set their owner to its current value.
CREATE OR REPLACE FUNCTION snowdrift.lock_requests(relations regclass[], OUT step integer, OUT n bigint, OUT request text) RETURNS SETOF record
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT r.step, u.n, r.request FROM unnest(relations) WITH ORDINALITY AS u(relation, n) JOIN pg_class AS c ON c.oid = u.relation, LATERAL (VALUES
        (1, '{v}', format('ALTER VIEW %s OWNER TO %s', u.relation, c.relowner::regrole)),
        (2, '{r,p}', format('LOCK TABLE ONLY %s IN SHARE ROW EXCLUSIVE MODE', u.relation)),
        (3, '{S}', format('ALTER SEQUENCE %s OWNER TO %s', u.relation, c.relowner::regrole)),
        (3, '{f}', format('ALTER FOREIGN TABLE %s OWNER TO %s', u.relation, c.relowner::regrole)),
        (4, '{r,p}', format('LOCK TABLE ONLY %s IN ACCESS EXCLUSIVE MODE', u.relation))) AS r(step, kinds, request)
    WHERE c.relkind = ANY (r.kinds::"char"[]) ORDER BY r.step, u.n
$$;
COMMENT ON FUNCTION snowdrift.lock_requests(regclass[]) IS 'statements that lock tables, views and sequences exclusively, in the order of their steps';

-- While a session waits for a strong lock, all others wait behind it. So each request is short, and between requests the
-- function waits for the transactions that use the relations, unless one of these waits for this one: PostgreSQL does not see
-- such a deadlock. The first lock blocks neither readers nor writers. It may wait for longer, which makes the server cancel an
-- autovacuum; a request that is shorter than deadlock_timeout does not.
CREATE OR REPLACE FUNCTION snowdrift.lock_exclusively(relations regclass[]) RETURNS void
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict error
DECLARE
    given CONSTANT text := current_setting('lock_timeout');
    given_ms CONSTANT integer := (SELECT setting FROM pg_settings WHERE name = 'lock_timeout');
    deadline timestamptz;
    wait_ms integer := 50;
    statement text;
    began timestamptz;
    users text[];
    blocked integer;
    try integer := 0;
BEGIN
    FOR statement IN SELECT format('LOCK TABLE ONLY %s IN SHARE UPDATE EXCLUSIVE MODE', r) FROM unnest(relations) AS r JOIN pg_class AS c ON c.oid = r
            WHERE c.relkind IN ('r', 'p') LOOP
        EXECUTE statement;
    END LOOP;
    deadline := CASE given_ms WHEN 0 THEN 'infinity' ELSE clock_timestamp() + make_interval(secs => given_ms / 1000.0) END;
    LOOP
        try := try + 1;
        BEGIN
            began := clock_timestamp();
            -- In alternating order: other sessions lock the relations in one of the two.
            FOR statement IN SELECT r.request FROM snowdrift.lock_requests(relations) AS r ORDER BY r.step, CASE try % 2 WHEN 1 THEN r.n ELSE -r.n END LOOP
                PERFORM set_config('lock_timeout', greatest(1, extract(epoch FROM
                    least(deadline, began + make_interval(secs => wait_ms / 1000.0)) - clock_timestamp()) * 1000)::integer::text, true);
                EXECUTE statement;
            END LOOP;
            PERFORM set_config('lock_timeout', given, true);
            RAISE DEBUG 'relations are locked in attempt %', try;
            RETURN;
        EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
            IF clock_timestamp() >= deadline THEN
                RAISE;
            END IF;
        END;
        users := ARRAY(SELECT DISTINCT virtualtransaction FROM pg_locks WHERE relation = ANY (relations) AND granted AND pid IS DISTINCT FROM pg_backend_pid()
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database()));
        LOOP
            PERFORM pg_sleep_for(least(deadline, clock_timestamp() + interval '100 ms') - clock_timestamp());
            EXIT WHEN clock_timestamp() >= deadline OR NOT EXISTS (SELECT FROM pg_locks
                WHERE relation = ANY (relations) AND granted AND virtualtransaction = ANY (users));
            WITH RECURSIVE waiting(pid) AS (
                SELECT pid FROM pg_locks WHERE NOT granted AND virtualtransaction = ANY (users) UNION SELECT unnest(pg_blocking_pids(pid)) FROM waiting
            )
            SELECT min(w.pid) INTO blocked FROM waiting AS w WHERE pg_backend_pid() = ANY (pg_blocking_pids(w.pid));
            IF blocked IS NOT NULL THEN
                RAISE 'deadlock detected' USING ERRCODE = '40P01', DETAIL = format('Process %s waits for a lock of process %s, which waits for transactions that use the same relations.',
                    blocked, pg_backend_pid()), HINT = 'Repeat the transaction.';
            END IF;
        END LOOP;
        wait_ms := least(wait_ms * 3 / 2, 400);
    END LOOP;
END $$;
COMMENT ON FUNCTION snowdrift.lock_exclusively(regclass[])
    IS 'lock tables, views and sequences exclusively, in short requests until lock_timeout, so that other sessions don''t queue behind a long one';

-- Partitions by time: the key and its layout, listing and creating. A plan is made with a fixed search path; the statements
-- run with the caller's, as the table's owner.

-- What a column's default draws from: the name of a generator of Snowflakes, '' for the default generator, null if neither.
CREATE OR REPLACE FUNCTION snowdrift.drawn_generator("table" regclass, attnum smallint) RETURNS text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp
    SET quote_all_identifiers = off SET standard_conforming_strings = on AS $$
DECLARE
    call text := coalesce((SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = "table" AND adnum = attnum),
        (SELECT pg_get_expr(typdefaultbin, 0) FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid
         WHERE a.attrelid = "table" AND a.attnum = drawn_generator.attnum));
    own CONSTANT text[] := snowdrift.next_snowflake_names();
    inner_call text;
    literal text;
BEGIN
    LOOP    -- casts to the column's type
        inner_call := substring(call FROM '^[(](.*)[)]::[^()'']+([(][0-9,]+[)])?$');
        EXIT WHEN inner_call IS NULL;
        call := inner_call;
    END LOOP;
    IF call = own[1] THEN
        RETURN '';
    ELSIF starts_with(call, split_part(own[2], '(', 1) || '(') THEN
        literal := (regexp_match(substr(call, strpos(own[2], '(') + 1),
            '^(?:generator => )?[(]*(E?''(?:[^'']|'''')*'')(?:::[a-z ]+[)]?)*[)]$'))[1];
        RETURN CASE WHEN literal LIKE 'E%' THEN replace(replace(substr(literal, 3, length(literal) - 3), '''''', ''''), E'\\\\', E'\\')
            ELSE replace(substr(literal, 2, length(literal) - 2), '''''', '''') END;
    END IF;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION snowdrift.drawn_generator(regclass, smallint)
    IS 'name of generator of Snowflakes that a column''s default calls; empty for the default generator, null if it calls none';

CREATE OR REPLACE FUNCTION snowdrift.next_snowflake_names() RETURNS text[]
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN ARRAY['public.next_snowflake()'::regprocedure::text, 'public.next_snowflake(text)'::regprocedure::text];
COMMENT ON FUNCTION snowdrift.next_snowflake_names() IS 'names of next_snowflake() and next_snowflake(text)';

-- The layout of a column's Snowflakes: that of the default, or else the stated one. Rows that are inserted into a table of
-- which this one is a partition have the default of that table.
CREATE OR REPLACE FUNCTION snowdrift.column_layout("table" regclass, attnum smallint, stated public.snowflake_layout)
        RETURNS public.snowflake_layout
    LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict error
DECLARE
    col CONSTANT text := (SELECT a.attname FROM pg_attribute AS a WHERE a.attrelid = "table" AND a.attnum = column_layout.attnum);
    generator text;
    drawn stated%TYPE;
    found_layout stated%TYPE := stated;
    t record;
BEGIN
    FOR t IN SELECT c.oid, c.relname, a.attnum FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
            LEFT JOIN pg_partition_ancestors("table") WITH ORDINALITY AS p(relid, n) ON p.relid = c.oid
            WHERE a.attname = col AND (c.oid = "table" OR p.relid IS NOT NULL) ORDER BY coalesce(p.n, 0) LOOP
        generator := snowdrift.drawn_generator(t.oid, t.attnum);
        drawn := CASE generator WHEN '' THEN 'snowflake' ELSE snowdrift.layout_of(generator) END;
        IF t.oid = "table" AND drawn IS NULL AND stated IS NULL THEN
            IF generator IS NOT NULL AND NOT EXISTS (SELECT FROM snowdrift.generators AS g WHERE g.name = generator) THEN
                RAISE 'ID generator "%" does not exist', generator USING ERRCODE = '42704';
            END IF;
            RAISE 'layout of column "%" of table "%" is unknown', col, t.relname USING ERRCODE = '22023',
                DETAIL = 'The column''s default does not call a generator of Snowflake IDs.', HINT = 'Specify the layout of the column''s IDs.';
        END IF;
        found_layout := coalesce(found_layout, drawn);
        IF NOT snowdrift.is_same_layout(found_layout, drawn) THEN
            RAISE 'layout "%" is not the layout of column "%" of table "%"', found_layout, col, t.relname USING ERRCODE = '22023',
                DETAIL = CASE generator WHEN '' THEN format('The column''s default calls next_snowflake(), whose layout is "%s".', drawn)
                    ELSE format('The column''s default draws from generator "%s", whose layout is "%s".', generator, drawn) END,
                HINT = CASE t.oid WHEN "table" THEN 'Omit the layout.' ELSE 'Give this column and that of the partition the same default.' END;
        END IF;
    END LOOP;
    RETURN found_layout;
END $$;
COMMENT ON FUNCTION snowdrift.column_layout(regclass, smallint, public.snowflake_layout)
    IS 'layout of the Snowflakes in a column, from its default; otherwise, the layout that the caller has stated';

CREATE OR REPLACE FUNCTION snowdrift.partition_key(parent regclass, stated public.snowflake_layout,
        OUT "column" name, OUT kind text, OUT layout public.snowflake_layout)
    LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict error
DECLARE
    attnum smallint;
    type oid;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_class AS c WHERE c.oid = parent) THEN
        RAISE 'relation with OID % does not exist', parent::oid USING ERRCODE = '42P01';
    END IF;
    SELECT a.attnum, a.attname, a.atttypid INTO attnum, "column", type FROM pg_partitioned_table AS p
        JOIN pg_attribute AS a ON a.attrelid = p.partrelid AND a.attnum = p.partattrs[0]
        WHERE p.partrelid = parent AND p.partstrat = 'r' AND p.partnatts = 1;
    kind := snowdrift.id_kind(snowdrift.base_type(type));
    IF kind IS NULL THEN
        RAISE 'table "%" is not partitioned by a range of IDs', (SELECT c.relname FROM pg_class AS c WHERE c.oid = parent)
            USING ERRCODE = '42809', HINT = 'The partition key must be a single column of type bigint, ulid, sno or uuid.';
    END IF;
    layout := CASE kind WHEN 'snowflake' THEN snowdrift.column_layout(parent, attnum, stated) END;
END $$;
COMMENT ON FUNCTION snowdrift.partition_key(regclass, public.snowflake_layout)
    IS 'partition key of a table, the kind of its IDs and their layout';

CREATE OR REPLACE FUNCTION snowdrift.announce_layout(parent regclass, layout public.snowflake_layout, stated public.snowflake_layout) RETURNS void
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF stated IS NULL AND NOT snowdrift.is_same_layout(layout, 'snowflake') THEN
        RAISE NOTICE 'using layout "%" for the IDs in table "%"', layout, (SELECT c.relname FROM pg_class AS c WHERE c.oid = parent)
            USING DETAIL = 'The default of the partition key draws IDs of this layout.';
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.announce_layout(regclass, public.snowflake_layout, public.snowflake_layout)
    IS 'notice with a layout that the caller has not stated';

-- A bound is the text of an ID, or MINVALUE or MAXVALUE. If an upper bound is not the first ID of its time, the partition can
-- contain IDs of that time. of_times: the bounds are first IDs of times, or the upper one is MAXVALUE. Other numbers can be keys of a sequence from before
-- the table had Snowflakes; so can those of the layout's first day, except its first number.
CREATE OR REPLACE FUNCTION snowdrift.list_partitions(parent regclass, kind text, layout public.snowflake_layout,
        OUT partition regclass, OUT lower text, OUT upper text, OUT times tstzrange, OUT of_times boolean) RETURNS SETOF record
    LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    WITH bounds AS MATERIALIZED (
        SELECT c.oid, (b.m)[1] AS lower, (b.m)[2] AS upper,
            CASE WHEN (b.m)[1] <> 'MINVALUE' THEN snowdrift.id_timestamp(kind, (b.m)[1], layout) END AS first,
            CASE WHEN (b.m)[2] <> 'MAXVALUE' THEN snowdrift.id_timestamp(kind, (b.m)[2], layout) END AS last
        FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid CROSS JOIN LATERAL regexp_match(pg_get_expr(c.relpartbound, c.oid),
            '^FOR VALUES FROM [(]''?([^'')]*)''?[)] TO [(]''?([^'')]*)''?[)]$') AS b(m)
        WHERE i.inhparent = parent AND NOT i.inhdetachpending
    ), ends AS MATERIALIZED (
        SELECT t.first, snowdrift.id_boundary(kind, t.first, layout) AS first_id,
            CASE kind WHEN 'snowflake' THEN snowdrift.id_boundary(kind, least(t.first + interval '24:00', t.last), layout)::bigint END AS second_day
        FROM snowdrift.id_times(kind, layout) AS t
    ), timed AS MATERIALIZED (
        SELECT b.*, snowdrift.id_boundary(kind, b.first, layout) = b.lower AS is_first, snowdrift.id_boundary(kind, b.last, layout) = b.upper AS is_last
        FROM bounds AS b
    )
    SELECT t.oid, t.lower, t.upper,
        CASE WHEN (t.lower = 'MINVALUE' OR t.first IS NOT NULL) AND (t.upper = 'MAXVALUE' OR t.last IS NOT NULL)
            THEN tstzrange(t.first, t.last, CASE WHEN t.is_last THEN '[)' ELSE '[]' END) END,
        CASE WHEN kind <> 'snowflake' THEN t.first IS NOT NULL ELSE
            CASE WHEN t.is_first THEN t.lower = e.first_id OR t.lower::bigint >= e.second_day ELSE false END
            AND CASE WHEN t.upper = 'MAXVALUE' THEN true WHEN t.is_last THEN t.upper::bigint >= e.second_day ELSE false END END
    FROM timed AS t, ends AS e ORDER BY t.oid
$$;
COMMENT ON FUNCTION snowdrift.list_partitions(regclass, text, public.snowflake_layout)
    IS 'partitions of a table, their bounds, the times of their IDs, and whether all bounds are those of times';

CREATE OR REPLACE FUNCTION snowdrift.partitions(parent regclass, layout public.snowflake_layout DEFAULT NULL,
        OUT partition regclass, OUT times tstzrange) RETURNS SETOF record
    LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict error
DECLARE
    key record;
BEGIN
    IF parent IS NOT NULL THEN
        key := snowdrift.partition_key(parent, layout);
        PERFORM snowdrift.announce_layout(parent, key.layout, layout);
        RETURN QUERY SELECT p.partition, p.times FROM snowdrift.list_partitions(parent, key.kind, key.layout) AS p;
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.partitions(regclass, public.snowflake_layout)
    IS 'partitions of a table, each with the times of its IDs; times are null for a default partition and if a bound is not an ID';

-- Creating partitions

-- Steps are in UTC. Months are counted from January of the year 0, minutes from Monday, 2001-01-01.
CREATE OR REPLACE FUNCTION snowdrift.step_months(step interval) RETURNS integer
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    months CONSTANT integer := extract(year FROM step) * 12 + extract(month FROM step);
    seconds CONSTANT numeric := extract(epoch FROM step - make_interval(months => months));
BEGIN
    IF NOT (months > 0 AND seconds = 0 OR months = 0 AND seconds > 0 AND seconds % 60 = 0) THEN
        RAISE 'invalid partition step: "%"', step USING ERRCODE = '22023',
            HINT = 'The step must be a positive whole number of months, or of minutes, hours or days.';
    END IF;
    RETURN months;
END $$;
COMMENT ON FUNCTION snowdrift.step_months(interval) IS 'months in step of partitions; 0 if it is in minutes, hours or days';

CREATE OR REPLACE FUNCTION snowdrift.step_begin(step interval, "timestamp" timestamptz) RETURNS timestamp
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    months CONSTANT integer := snowdrift.step_months(step);
    t CONSTANT timestamp := "timestamp" AT TIME ZONE 'UTC';
    n bigint;
BEGIN
    IF months > 0 THEN
        n := extract(year FROM t) * 12 + extract(month FROM t) - 1;
        RETURN timestamp '0001-01-01' + make_interval(months => (n - n % months - 12)::integer);
    END IF;
    n := floor(extract(epoch FROM t - timestamp '2001-01-01') / extract(epoch FROM step)) * (extract(epoch FROM step) / 60);
    RETURN timestamp '2001-01-01' + make_interval(days => (n / 1440)::integer, mins => (n % 1440)::integer);
END $$;
COMMENT ON FUNCTION snowdrift.step_begin(interval, timestamptz) IS 'beginning, in UTC, of the step that contains a time';

CREATE OR REPLACE FUNCTION snowdrift.step_end(step interval, "begin" timestamp, n integer) RETURNS timestamp
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN CASE WHEN n * step > interval '100000 years' THEN 'infinity'
        WHEN snowdrift.step_months(step) > 0 THEN "begin" + make_interval(months => n * snowdrift.step_months(step)) ELSE "begin" + n * step END;
COMMENT ON FUNCTION snowdrift.step_end(interval, timestamp, integer)
    IS 'end of the n-th step from one that begins at a time; infinity if it is beyond the times of all IDs';

-- The partitions that do not exist, with the statements that create them. By default, first is now(), and last is three
-- steps later. The first and the last step may extend beyond the times of IDs.
CREATE OR REPLACE FUNCTION snowdrift.missing_partitions(parent regclass, step interval, first timestamptz, last timestamptz, kind text,
        layout public.snowflake_layout, OUT partition text, OUT statements text[], OUT relations regclass[]) RETURNS SETOF record
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict error
DECLARE
    months CONSTANT integer := snowdrift.step_months(step);
    referred CONSTANT regclass[] := ARRAY(SELECT f.confrelid FROM pg_constraint AS f WHERE f.conrelid = parent AND f.contype = 'f');
    is_exclusive CONSTANT boolean := snowdrift.tables_of_others(parent, snowdrift.with_partitions(referred)) IS NOT NULL
        OR EXISTS (SELECT FROM pg_class AS c WHERE c.oid = ANY (referred) AND c.relrowsecurity AND c.relforcerowsecurity);
    -- The times whose IDs all have a partition: without that of a lower bound that is not the first ID of its time.
    covered CONSTANT tstzmultirange := (SELECT range_agg(CASE WHEN lower_inf(p.times) OR p.lower = snowdrift.id_boundary(kind, lower(p.times), layout) THEN p.times
        ELSE p.times - tstzrange(lower(p.times), lower(p.times), '[]') END) FROM snowdrift.list_partitions(parent, kind, layout) AS p WHERE p.times IS NOT NULL);
    t record;
    "begin" timestamp;
    "end" timestamp;
    final timestamp;
    year text;
    name text;
    lower text;
    upper text;
BEGIN
    first := coalesce(first, now());
    PERFORM snowdrift.id_boundary(kind, date_trunc('milliseconds', first), layout),
        snowdrift.id_boundary(kind, date_trunc('milliseconds', last), layout);    -- raise 22008
    SELECT c.relname, (SELECT bool_or(r.relrowsecurity) FROM pg_partition_ancestors(parent) AS a JOIN pg_class AS r ON r.oid = a.relid) AS has_policies, n.nspname, coalesce(a.amname, s.reset_val) AS method, ts.spcname, i.first, i.last INTO STRICT t
        FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace LEFT JOIN pg_am AS a ON a.oid = c.relam
            LEFT JOIN pg_tablespace AS ts ON ts.oid = c.reltablespace, pg_settings AS s, snowdrift.id_times(kind, layout) AS i
        WHERE c.oid = parent AND s.name = 'default_table_access_method';
    -- The rows of a default partition are read, with an exclusive lock.
    relations := CASE WHEN is_exclusive THEN ARRAY[parent] ELSE '{}' END
        || coalesce(snowdrift.with_partitions(ARRAY(SELECT partdefid::regclass FROM pg_partitioned_table WHERE partrelid = parent AND partdefid <> 0)), '{}');
    "begin" := snowdrift.step_begin(step, first);
    final := coalesce(last AT TIME ZONE 'UTC', least(snowdrift.step_end(step, "begin", 3), t.last AT TIME ZONE 'UTC'));
    WHILE "begin" <= final LOOP
        "end" := snowdrift.step_end(step, "begin", 1);
        lower := snowdrift.id_boundary(kind, greatest("begin" AT TIME ZONE 'UTC', t.first), layout);
        upper := CASE WHEN "end" > t.last AT TIME ZONE 'UTC' THEN 'MAXVALUE' ELSE snowdrift.id_boundary(kind, "end" AT TIME ZONE 'UTC', layout) END;
        IF covered @> tstzrange(snowdrift.id_timestamp(kind, lower, layout), CASE WHEN upper <> 'MAXVALUE' THEN snowdrift.id_timestamp(kind, upper, layout) END) IS NOT TRUE THEN
            year := greatest(extract(year FROM "begin"), 0);
            name := format('%s_%s', t.relname, lpad(year, greatest(length(year), 4), '0')) || to_char("begin", CASE WHEN months > 0 THEN '_MM'
                WHEN extract(epoch FROM step) % 86400 = 0 THEN '_MM_DD' ELSE '_MM_DD_HH24MI' END);
            IF octet_length(name) > 63 THEN
                RAISE 'partition name "%" is too long', name USING ERRCODE = '42622';
            END IF;
            partition := format('%I.%I', t.nspname, name);
            upper := CASE upper WHEN 'MAXVALUE' THEN upper ELSE quote_literal(upper) END;
            -- Attaching a separate table does not block readers and writers of the parent. But it queries the tables to which
            -- foreign keys refer: the planner may call functions in their expressions, and forced policies apply.
            statements := CASE WHEN is_exclusive THEN ARRAY[format('CREATE TABLE %s PARTITION OF %s FOR VALUES FROM (%L) TO (%s) USING %I%s',
                    partition, parent, lower, upper, t.method, ' TABLESPACE ' || quote_ident(t.spcname))]
                ELSE ARRAY[format('CREATE TABLE %s (LIKE %s INCLUDING ALL EXCLUDING COMMENTS EXCLUDING IDENTITY EXCLUDING INDEXES EXCLUDING STATISTICS) USING %I%s',
                    partition, parent, t.method, ' TABLESPACE ' || quote_ident(t.spcname)),
                    format('ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM (%L) TO (%s)', parent, partition, lower, upper)] END
                -- Queries of the partition itself do not apply the parent's policies.
                || CASE WHEN t.has_policies THEN ARRAY[format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', partition)] END;
            RETURN NEXT;
        END IF;
        "begin" := "end";
    END LOOP;
END $$;
COMMENT ON FUNCTION snowdrift.missing_partitions(regclass, interval, timestamptz, timestamptz, text, public.snowflake_layout)
    IS 'partitions that do not exist, and the statements that create them';

CREATE OR REPLACE FUNCTION snowdrift.ancestors_and_default(parent regclass) RETURNS regclass[]
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT ARRAY(SELECT pg_partition_ancestors(parent))
        || snowdrift.with_partitions(ARRAY(SELECT partdefid::regclass FROM pg_partitioned_table WHERE partrelid = parent AND partdefid <> 0))
$$;
COMMENT ON FUNCTION snowdrift.ancestors_and_default(regclass)
    IS 'tables above a table and its default partition, whose expressions are in the constraints of new and old partitions';

CREATE OR REPLACE FUNCTION snowdrift.check_times(first timestamptz, last timestamptz) RETURNS void
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET datestyle = ISO AS $$
BEGIN
    IF first > last THEN
        RAISE 'first must not be later than last' USING ERRCODE = '22023',
            DETAIL = format('The first time is %s, and the last time is %s.', first, last);
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.check_times(timestamptz, timestamptz) IS 'ensure that times are in order';

CREATE OR REPLACE FUNCTION snowdrift.create_partitions(parent regclass, step interval, first timestamptz DEFAULT NULL,
        last timestamptz DEFAULT NULL, layout public.snowflake_layout DEFAULT NULL) RETURNS SETOF regclass
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET default_tablespace = '' AS $$
#variable_conflict error
DECLARE
    key pg_catalog.record;
    p pg_catalog.record;
    statement pg_catalog.text;
    has_created pg_catalog.bool := false;
BEGIN
    IF parent IS NULL OR step IS NULL THEN
        RETURN;
    END IF;
    PERFORM snowdrift.step_months(step), snowdrift.check_times(coalesce(first, pg_catalog.now()), last),
        snowdrift.check_can_change('snowdrift.create_partitions()', false);
    PERFORM snowdrift.check_parent(parent);
    PERFORM snowdrift.lock_against_changes(parent);    -- blocks sessions that create or detach partitions
    key := snowdrift.partition_key(parent, layout);
    FOR p IN SELECT * FROM snowdrift.missing_partitions(parent, step, first, last, key.kind, key.layout) LOOP
        IF NOT has_created THEN
            PERFORM snowdrift.check_owners(parent, snowdrift.ancestors_and_default(parent));
        END IF;
        PERFORM snowdrift.lock_exclusively(p.relations) WHERE NOT has_created;
        FOREACH statement IN ARRAY p.statements LOOP
            PERFORM snowdrift.run_as_owner(parent, statement);
        END LOOP;
        RETURN NEXT p.partition::pg_catalog.regclass;
        has_created := true;
    END LOOP;
    IF has_created THEN    -- If all partitions exist, a job prints nothing.
        PERFORM snowdrift.announce_layout(parent, key.layout, layout);
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.create_partitions(regclass, interval, timestamptz, timestamptz,
        public.snowflake_layout)
    IS 'create missing partitions, from the one that contains first to the one that contains last, and return them; by default, from now() to three steps later';

-- Dropping partitions by time: which ones are old, what the rows say about that, and the statements.

CREATE OR REPLACE FUNCTION snowdrift.check_age(age interval) RETURNS void
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF extract(year FROM age) = 0 AND extract(month FROM age) = 0 AND extract(day FROM age) = 0 AND extract(epoch FROM age) <> 0 THEN
        RAISE 'older_than must be in days, months or years: "%"', age USING ERRCODE = '22023',
            DETAIL = 'A number without a unit is in seconds, and "m" means minutes.',
            HINT = 'Write for example ''90 days''. For a date, use snowdrift.drop_partitions_before().';
    ELSIF now() - age > now() THEN
        RAISE 'older_than must not be negative: "%"', age USING ERRCODE = '22023';
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.check_age(interval) IS 'ensure that age is in days or longer units, and not negative';

CREATE OR REPLACE FUNCTION snowdrift.time_of_age(age interval, newest timestamptz) RETURNS timestamptz
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET timezone = 'UTC'
    RETURN least(now(), newest) - age;
COMMENT ON FUNCTION snowdrift.time_of_age(interval, timestamptz)
    IS 'time that is earlier by an age than now() and than the time of the greatest ID, if it is not null';

CREATE OR REPLACE FUNCTION snowdrift.check_past("timestamp" timestamptz) RETURNS void
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF date_trunc('milliseconds', "timestamp") > clock_timestamp() THEN
        RAISE 'timestamp must not be in the future: "%"', "timestamp" USING ERRCODE = '22023';
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.check_past(timestamptz) IS 'ensure that a time is not in the future';

-- New IDs can have a timestamp before now, but not before its time unit.
CREATE OR REPLACE FUNCTION snowdrift.present(kind text, layout public.snowflake_layout) RETURNS timestamptz
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    t CONSTANT timestamptz := date_trunc('milliseconds', clock_timestamp());
    times CONSTANT record := snowdrift.id_times(kind, layout);
    id text;
BEGIN
    IF t NOT BETWEEN times.first AND times.last THEN
        RETURN t;
    END IF;
    id := snowdrift.id_boundary(kind, t, layout);
    RETURN CASE WHEN snowdrift.id_timestamp(kind, id, layout) = t THEN t
        WHEN kind = 'snowflake' THEN snowdrift.id_timestamp(kind, (id::bigint - 1)::text, layout)
        ELSE snowdrift.id_timestamp(kind, id, layout) - interval '4 ms' END;    -- a sno
END $$;
COMMENT ON FUNCTION snowdrift.present(text, public.snowflake_layout) IS 'earliest time of IDs that are generated from now on';

-- A domain can have operators of its own. Operators of anyarray and the like are in pg_catalog.
EXECUTE $sql$
CREATE OR REPLACE FUNCTION snowdrift.cast_to(type oid) RETURNS text LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT CASE typtype WHEN 'p' THEN '' ELSE '::' || format_type(oid, NULL) END FROM pg_type WHERE oid = type;
END
$sql$;
COMMENT ON FUNCTION snowdrift.cast_to(oid) IS 'cast to an operator''s type';

-- The partitions that are older than a time and than new IDs, oldest first, with the query that finds a row that refers to
-- one of their rows, and the statements that drop them. Detaching a partition first makes PostgreSQL look for such rows,
-- except, before 15.13, 16.9 and 17.5, for those of the same partitioned table; what these have created stays so.
CREATE OR REPLACE FUNCTION snowdrift.old_partitions(parent regclass, "timestamp" timestamptz, kind text, layout public.snowflake_layout,
        OUT partition regclass, OUT times tstzrange, OUT constraints text[], OUT queries text[], OUT statements text[]) RETURNS SETOF record
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict error
DECLARE
    present CONSTANT timestamptz := snowdrift.present(kind, layout);
    cutoff CONSTANT tstzrange := tstzrange(least("timestamp", present), NULL);
    has_present boolean := kind <> 'snowflake';
    p record;
BEGIN
    FOR p IN SELECT l.*, c.relkind, l.of_times AND l.times << cutoff AS is_old
            FROM snowdrift.list_partitions(parent, kind, layout) AS l JOIN pg_class AS c ON c.oid = l.partition
            ORDER BY is_old, upper(l.times) LOOP
        has_present := has_present OR coalesce(NOT p.times << tstzrange(present, NULL), false);
        CONTINUE WHEN p.is_old IS NOT TRUE;
        IF NOT has_present THEN
            RAISE 'no partition of table "%" contains the present time or later times', (SELECT c.relname FROM pg_class AS c WHERE c.oid = parent)
                USING ERRCODE = '55000', DETAIL = format('In layout "%s", all of its partitions are old.', layout),
                    HINT = 'Check the layout. If it is right, first create partitions with snowdrift.create_partitions().';
        END IF;
        partition := p.partition;
        times := p.times;
        SELECT array_agg(q.conname), array_agg(q.query) INTO constraints, queries FROM (
            SELECT f.conname, format('SELECT pg_catalog.concat(%L, pg_catalog.concat_ws('', '', %s), %L) FROM %s AS r JOIN %s AS p ON %s LIMIT 1',
                format('Key (%s)=(', string_agg(a.attname, ', ' ORDER BY k.n)), string_agg(format('p.%I', b.attname), ', ' ORDER BY k.n),
                format(') is still referenced from table "%s".', c.relname), f.conrelid::regclass, p.partition,
                string_agg(format('p.%I%s OPERATOR(%I.%s) r.%I%s', b.attname, snowdrift.cast_to(o.oprleft), n.nspname, o.oprname, a.attname, snowdrift.cast_to(o.oprright)), ' AND ')) AS query
            FROM pg_constraint AS f CROSS JOIN LATERAL unnest(f.conkey, f.confkey, f.conpfeqop) WITH ORDINALITY AS k(own, other, operator, n)
                JOIN pg_class AS c ON c.oid = f.conrelid
                JOIN pg_attribute AS a ON a.attrelid = f.conrelid AND a.attnum = k.own
                JOIN pg_attribute AS b ON b.attrelid = f.confrelid AND b.attnum = k.other
                JOIN pg_operator AS o ON o.oid = k.operator JOIN pg_namespace AS n ON n.oid = o.oprnamespace
            WHERE f.contype = 'f' AND f.conparentid = 0 AND f.conrelid = f.confrelid
                AND f.confrelid IN (SELECT relid FROM pg_partition_ancestors(parent) AS s(relid))
            GROUP BY f.oid, f.conname, f.conrelid, c.relname) AS q;
        statements := ARRAY[format('ALTER TABLE %s DETACH PARTITION %s', parent, p.partition),
            format('DROP %s %s', CASE p.relkind WHEN 'f' THEN 'FOREIGN TABLE' ELSE 'TABLE' END, p.partition)];
        RETURN NEXT;
    END LOOP;
END $$;
COMMENT ON FUNCTION snowdrift.old_partitions(regclass, timestamptz, text, public.snowflake_layout)
    IS 'partitions whose IDs are all older than a time, and the statements that drop them';

-- How to read the rows of the partitions that contain IDs of times, from the top: the greatest ID, by index if there is one.
CREATE OR REPLACE FUNCTION snowdrift.row_queries(parent regclass, "column" name, kind text, layout public.snowflake_layout,
        OUT partition regclass, OUT begins timestamptz, OUT greatest_id text, OUT any_row text) RETURNS SETOF record
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT p.partition, lower(p.times), format('SELECT p.%1$I::pg_catalog.text FROM %2$s AS p ORDER BY p.%1$I DESC LIMIT 1', "column", p.partition),
        format('SELECT ''''::pg_catalog.text FROM %s LIMIT 1', p.partition)
    FROM snowdrift.list_partitions(parent, kind, layout) AS p
    WHERE p.times IS NOT NULL AND p.of_times ORDER BY lower(p.times) DESC
$$;
COMMENT ON FUNCTION snowdrift.row_queries(regclass, name, text, public.snowflake_layout)
    IS 'queries for the greatest ID in each partition, newest first, and for whether it holds rows';

CREATE OR REPLACE FUNCTION snowdrift.find_rows(parent regclass, "column" name, kind text, layout public.snowflake_layout,
        OUT newest timestamptz, OUT partitions regclass[])
    LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict error
DECLARE
    p pg_catalog.record;
    id pg_catalog.text;
BEGIN
    FOR p IN SELECT * FROM snowdrift.row_queries(parent, "column", kind, layout) LOOP
        id := snowdrift.run_as_owner(parent, CASE WHEN newest IS NULL THEN p.greatest_id ELSE p.any_row END);
        IF id IS NOT NULL THEN
            newest := COALESCE(newest, snowdrift.id_timestamp(kind, id, layout), p.begins);
            partitions := pg_catalog.array_append(partitions, p.partition);
        END IF;
    END LOOP;
END $$;
COMMENT ON FUNCTION snowdrift.find_rows(regclass, name, text, public.snowflake_layout)
    IS 'time of the greatest ID in the partitions of a table, and the partitions that hold rows';

-- The clock can be wrong, and so can the IDs of rows that were inserted meanwhile. Neither moves most of the rows.
CREATE OR REPLACE FUNCTION snowdrift.check_share(parent regclass, "timestamp" timestamptz, kind text, layout public.snowflake_layout,
        partitions regclass[]) RETURNS void
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict error
DECLARE
    old CONSTANT regclass[] := ARRAY(SELECT p.partition FROM snowdrift.old_partitions(parent, "timestamp", kind, layout) AS p
        WHERE p.partition = ANY (partitions));
    kept CONSTANT regclass[] := ARRAY(SELECT p FROM unnest(partitions) AS p WHERE p <> ALL (old));
BEGIN
    IF cardinality(old) > 0 AND cardinality(old) >= cardinality(kept) THEN
        RAISE 'an age must not drop half or more of the partitions that hold rows: % of %', cardinality(old), cardinality(partitions)
            USING ERRCODE = '55000', DETAIL = format('Partitions to drop: %s. Partitions to keep: %s.', array_to_string(old, ', '), array_to_string(kept, ', ')),
                HINT = format('Check the clock and the rows. If these partitions are old, name the time: snowdrift.drop_partitions_before(%L, %L, dry_run => true).',
                    parent, to_char("timestamp" AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS"Z"'));
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.check_share(regclass, timestamptz, text, public.snowflake_layout, regclass[])
    IS 'ensure that more partitions with rows are kept than dropped';

-- Detaching a partition reads the tables that refer to the parent, and locks all tables at the other end of its foreign keys.
CREATE OR REPLACE FUNCTION snowdrift.tables_to_lock(parent regclass, old regclass[]) RETURNS regclass[]
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    ancestors CONSTANT regclass[] := ARRAY(SELECT pg_partition_ancestors(parent));
    -- With foreign keys of the partitioned table to itself, these are also the partitions that are kept: read, but not locked.
    referring CONSTANT regclass[] := ARRAY(SELECT DISTINCT conrelid::regclass FROM pg_constraint
        WHERE contype = 'f' AND confrelid = ANY (ancestors || old) AND conrelid <> ALL (ancestors || old));
    locked CONSTANT regclass[] := parent || ARRAY(SELECT partdefid::regclass FROM pg_partitioned_table WHERE partrelid = parent AND partdefid <> 0)
        || coalesce(snowdrift.with_partitions(old), '{}') || ARRAY(SELECT DISTINCT t::regclass FROM pg_constraint, unnest(ARRAY[conrelid, confrelid]) AS t
            WHERE contype = 'f' AND conparentid = 0 AND (conrelid = ANY (ancestors) OR confrelid = ANY (ancestors || old)) AND t <> ALL (ancestors || old));
BEGIN
    PERFORM snowdrift.check_owners(parent, ancestors || snowdrift.with_partitions(old || referring));
    RETURN ARRAY(SELECT t FROM unnest(locked) WITH ORDINALITY AS u(t, n) JOIN pg_class AS c ON c.oid = t
        WHERE c.relkind IN ('r', 'p') AND t <> ALL (coalesce(snowdrift.tables_of_others(parent, locked), '{}')) ORDER BY n);
END $$;
COMMENT ON FUNCTION snowdrift.tables_to_lock(regclass, regclass[])
    IS 'tables that detaching partitions locks; ensures that those that it reads belong to the current role';

CREATE OR REPLACE FUNCTION snowdrift.drop_listed(parent regclass, "timestamp" timestamptz, stated public.snowflake_layout, dry_run boolean,
        OUT partition text, OUT times tstzrange) RETURNS SETOF record
    LANGUAGE plpgsql VOLATILE SET quote_all_identifiers = off AS $$
#variable_conflict error
DECLARE
    key pg_catalog.record := snowdrift.partition_key(parent, stated);
    old pg_catalog.regclass[];
    p pg_catalog.record;
    detail pg_catalog.text;
BEGIN
    IF NOT dry_run THEN
        PERFORM snowdrift.lock_against_changes(parent);    -- waits for sessions that create and drop partitions
        old := ARRAY(SELECT o.partition FROM snowdrift.old_partitions(parent, "timestamp", key.kind, key.layout) AS o);
        PERFORM snowdrift.lock_exclusively(snowdrift.tables_to_lock(parent, old)) WHERE pg_catalog.cardinality(old) OPERATOR(pg_catalog.>) 0;
        key := snowdrift.partition_key(parent, stated);    -- until then, other sessions could replace its generator
    END IF;
    FOR p IN SELECT * FROM snowdrift.old_partitions(parent, "timestamp", key.kind, key.layout) LOOP
        IF partition IS NULL THEN
            PERFORM snowdrift.announce_layout(parent, key.layout, stated);
        END IF;
        partition := p.partition::pg_catalog.text;
        times := p.times;
        RETURN NEXT;
        CONTINUE WHEN dry_run;
        FOR n IN 1 .. COALESCE(pg_catalog.cardinality(p.queries), 0) LOOP
            detail := snowdrift.run_as_owner(parent, p.queries[n]);
            IF detail IS NOT NULL THEN
                RAISE 'removing partition "%" violates foreign key constraint "%"', partition, p.constraints[n] USING ERRCODE = '23503', DETAIL = detail;
            END IF;
        END LOOP;
        PERFORM snowdrift.run_as_owner(parent, p.statements[1]);
        PERFORM snowdrift.run_as_owner(parent, p.statements[2]);
    END LOOP;
END $$;
COMMENT ON FUNCTION snowdrift.drop_listed(regclass, timestamptz, public.snowflake_layout, boolean)
    IS 'drop partitions whose IDs are all older than a time; implementation of snowdrift.drop_partitions() and drop_partitions_before()';

-- The functions have different names, because a call with an untyped literal could not choose between overloads.
CREATE OR REPLACE FUNCTION snowdrift.drop_partitions(parent regclass, older_than interval,
        layout public.snowflake_layout DEFAULT NULL, dry_run boolean DEFAULT false,
        OUT partition text, OUT times tstzrange) RETURNS SETOF record
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE AS $$
#variable_conflict error
DECLARE
    key pg_catalog.record;
    found_rows pg_catalog.record;
    "timestamp" pg_catalog.timestamptz;
BEGIN
    IF parent IS NULL OR older_than IS NULL OR dry_run IS NULL THEN
        RETURN;
    END IF;
    PERFORM snowdrift.check_age(older_than);
    IF NOT dry_run THEN
        PERFORM snowdrift.check_can_change('snowdrift.drop_partitions()', false);
    END IF;
    PERFORM snowdrift.check_parent(parent);
    key := snowdrift.partition_key(parent, layout);
    "timestamp" := snowdrift.time_of_age(older_than, NULL);
    IF NOT dry_run THEN    -- before the rows are read: two calls that have read partitions could not lock them
        PERFORM snowdrift.lock_against_changes(parent);
    END IF;
    IF EXISTS (SELECT FROM snowdrift.old_partitions(parent, "timestamp", key.kind, key.layout)) THEN
        PERFORM snowdrift.check_owners(parent, snowdrift.ancestors_and_default(parent)),
            snowdrift.check_owners(parent, snowdrift.with_partitions(ARRAY(
                SELECT p.partition FROM snowdrift.row_queries(parent, key."column", key.kind, key.layout) AS p)));
        found_rows := snowdrift.find_rows(parent, key."column", key.kind, key.layout);
        "timestamp" := snowdrift.time_of_age(older_than, found_rows.newest);
        PERFORM snowdrift.check_share(parent, "timestamp", key.kind, key.layout, found_rows.partitions);
        RETURN QUERY SELECT d.partition, d.times FROM snowdrift.drop_listed(parent, "timestamp", layout, dry_run) AS d;
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.drop_partitions(regclass, interval, public.snowflake_layout, boolean)
    IS 'drop partitions whose IDs are all older than an age, and return them; a dry run only returns them';

CREATE OR REPLACE FUNCTION snowdrift.drop_partitions_before(parent regclass, "timestamp" timestamptz,
        layout public.snowflake_layout DEFAULT NULL, dry_run boolean DEFAULT false,
        OUT partition text, OUT times tstzrange) RETURNS SETOF record
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE AS $$
BEGIN
    IF parent IS NULL OR "timestamp" IS NULL OR dry_run IS NULL THEN
        RETURN;
    END IF;
    PERFORM snowdrift.check_past("timestamp");
    IF NOT dry_run THEN
        PERFORM snowdrift.check_can_change('snowdrift.drop_partitions_before()', false);
    END IF;
    PERFORM snowdrift.check_parent(parent);
    RETURN QUERY SELECT d.partition, d.times FROM snowdrift.drop_listed(parent, "timestamp", layout, dry_run) AS d;
END $$;
COMMENT ON FUNCTION snowdrift.drop_partitions_before(regclass, timestamptz, public.snowflake_layout, boolean)
    IS 'drop partitions whose IDs are all older than a time, and return them; a dry run only returns them';

-- Conversion of keys: what must change, and what stands in the way. These functions read the catalog and change nothing.
-- Those in PL/pgSQL set the search path, with which PostgreSQL qualifies the names in definitions.

IF to_regtype('snowdrift.key_column') IS NULL THEN
CREATE TYPE snowdrift.key_column AS ("table" oid, number smallint);
END IF;

-- An object that depends on another one, with the greatest number of steps from a column whose type changes. part: the
-- number of a column, or 0.
IF to_regtype('snowdrift.dependent') IS NULL THEN
CREATE TYPE snowdrift.dependent AS (
    class oid, object oid, part integer,
    needed_class oid, needed oid, needed_part integer,
    is_smallint boolean, level integer
);
END IF;

IF to_regtype('snowdrift.conversion') IS NULL THEN
CREATE TYPE snowdrift.conversion AS (
    call text,                             -- the new default
    keys snowdrift.key_column[],
    new_keys snowdrift.key_column[],       -- those whose defaults change
    widened snowdrift.key_column[],        -- the smallint and integer columns among the keys and all that refer to them; none is inherited
    members snowdrift.key_column[],        -- these, and the same columns of inheriting tables
    "tables" oid[],                        -- to lock, ascending, without inheriting tables
    dependents snowdrift.dependent[]       -- views, triggers and policies to create again
);
END IF;

-- The setting keeps PostgreSQL from inlining this function and the next two, which would give queries bad plans.
-- The columns, and the same columns of the tables that inherit them. Partitions inherit from partitioned tables.
EXECUTE $sql$
CREATE OR REPLACE FUNCTION snowdrift.with_inheriting(columns snowdrift.key_column[], OUT root snowdrift.key_column, OUT member snowdrift.key_column)
    RETURNS SETOF record LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    WITH RECURSIVE tree(root, relation) AS (
        SELECT c, c."table" FROM unnest(columns) AS c
        UNION SELECT root, inhrelid FROM tree JOIN pg_inherits ON inhparent = relation
    )
    SELECT root, ROW(a.attrelid, a.attnum)::snowdrift.key_column FROM tree
        JOIN pg_attribute AS o ON o.attrelid = (root)."table" AND o.attnum = (root).number
        JOIN pg_attribute AS a ON a.attrelid = relation AND a.attname = o.attname;
END
$sql$;

-- For each column, the columns from which it is inherited, and which are not inherited themselves.
EXECUTE $sql$
CREATE OR REPLACE FUNCTION snowdrift.origins(columns snowdrift.key_column[]) RETURNS SETOF snowdrift.key_column LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    WITH RECURSIVE ancestors("table", number) AS (
        SELECT "table", number FROM unnest(columns)
        UNION SELECT p.attrelid, p.attnum FROM ancestors AS c
            JOIN pg_attribute AS a ON a.attrelid = c."table" AND a.attnum = c.number
            JOIN pg_inherits ON inhrelid = c."table"
            JOIN pg_attribute AS p ON p.attrelid = inhparent AND p.attname = a.attname
        WHERE a.attinhcount > 0
    )
    SELECT attrelid, attnum FROM ancestors JOIN pg_attribute ON attrelid = "table" AND attnum = number WHERE attinhcount = 0;
END
$sql$;

-- The columns of foreign keys
EXECUTE $sql$
CREATE OR REPLACE FUNCTION snowdrift.key_references(OUT source snowdrift.key_column, OUT target snowdrift.key_column)
    RETURNS SETOF record LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT ROW(conrelid, f)::snowdrift.key_column, ROW(confrelid, t)::snowdrift.key_column
    FROM pg_constraint, unnest(conkey, confkey) AS u(f, t) WHERE contype = 'f';
END
$sql$;

-- What generates the values of columns: 'sequence', 'identity', 'generator' (the call), 'other' (a call of another
-- generator), 'expression', or null. Patterns contain no backslash, whose meaning is a setting.
EXECUTE $sql$
CREATE OR REPLACE FUNCTION snowdrift.key_defaults(columns snowdrift.key_column[], call text,
        OUT key snowdrift.key_column, OUT kind text, OUT sequence oid, OUT expression text)
    RETURNS SETOF record LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT ROW(attrelid, attnum)::snowdrift.key_column,
        CASE WHEN attidentity <> '' THEN 'identity'
            WHEN text IS NULL THEN NULL
            WHEN attgenerated <> '' THEN 'expression'
            WHEN starts_with(text, 'nextval(')
                AND text ~ '^nextval[(][(]*''([^'']|'''')*''::[a-z ]+[)]*(::regclass)?([)]|::[a-z ]+)*$' THEN 'sequence'
            WHEN replace(rtrim(regexp_replace(text, '(::(smallint|integer|bigint|numeric)|[)])*$', ''), ')'), '::pg_catalog.text', '::text')
                = replace(rtrim(call, ')'), '::pg_catalog.text', '::text') THEN 'generator'
            WHEN starts_with(text, split_part(call, '(', 1) || '(')
                AND substr(text, length(split_part(call, '(', 1)) + 2) ~ '^(''([^'']|'''')*''::text)?[)]([)]|::[a-z ]+)*$' THEN 'other'
            ELSE 'expression'
        END,
        (SELECT refobjid FROM pg_depend JOIN pg_class AS s ON s.oid = refobjid AND relkind = 'S'
            WHERE classid = 'pg_attrdef'::regclass AND objid = d.oid AND refclassid = 'pg_class'::regclass LIMIT 1),
        pg_get_expr(adbin, adrelid)
    FROM unnest(columns) AS u("table", number)
        JOIN pg_attribute ON attrelid = u."table" AND attnum = u.number
        LEFT JOIN pg_attrdef AS d ON adrelid = attrelid AND adnum = attnum,
        LATERAL (SELECT ltrim(pg_get_expr(adbin, adrelid), '(')) AS e(text);
END
$sql$;

-- Tables, and those that inherit from them
EXECUTE $sql$
CREATE OR REPLACE FUNCTION snowdrift.with_heirs(tables oid[]) RETURNS SETOF oid LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    WITH RECURSIVE relations(relation) AS (
        SELECT unnest(tables) UNION SELECT inhrelid FROM relations JOIN pg_inherits ON inhparent = relation
    )
    SELECT relation FROM relations;
END
$sql$;

-- The roles, except the owner, that may insert into a table, an inheriting table, or a view of these; 0 is PUBLIC
EXECUTE $sql$
CREATE OR REPLACE FUNCTION snowdrift.inserting_roles("table" oid) RETURNS SETOF oid LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    WITH RECURSIVE relations(relation) AS (
        SELECT h FROM snowdrift.with_heirs(ARRAY["table"]) AS h
        UNION SELECT ev_class FROM relations JOIN pg_depend ON refclassid = 'pg_class'::regclass AND refobjid = relation
            JOIN pg_rewrite AS r ON classid = 'pg_rewrite'::regclass AND objid = r.oid
    ), acls(acl) AS (
        SELECT relacl FROM relations JOIN pg_class ON oid = relation UNION ALL SELECT attacl FROM relations JOIN pg_attribute ON attrelid = relation
    )
    SELECT DISTINCT grantee FROM acls, aclexplode(acl)
    WHERE privilege_type = 'INSERT' AND grantee <> (SELECT relowner FROM pg_class WHERE oid = "table") ORDER BY grantee;
END
$sql$;

-- Ensure that the caller may evaluate the expressions of tables: the functions in them run with the caller's rights, so
-- that the owner of each table must have all of these.
CREATE OR REPLACE FUNCTION snowdrift.check_table_owners(tables oid[]) RETURNS void
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
    foreign_tables text;
    owners oid[];
BEGIN
    SELECT string_agg(format('%s belongs to role %s', pg_describe_object('pg_class'::regclass, c.oid, 0), relowner::regrole), E'\n' ORDER BY c.oid)
            FILTER (WHERE NOT snowdrift.is_trusted_owner(relowner)),
        array_agg(DISTINCT relowner)
    INTO foreign_tables, owners FROM snowdrift.with_heirs(tables) AS relation JOIN pg_class AS c ON c.oid = relation;
    IF foreign_tables IS NULL THEN
        RETURN;
    END IF;
    RAISE 'cannot convert keys because other roles own tables that the conversion changes or checks' USING ERRCODE = '42501',
        DETAIL = foreign_tables,
        HINT = CASE WHEN cardinality(owners) = 1 THEN format('Run SET ROLE %s first.', owners[1]::regrole)
            ELSE format('If you trust the functions in their constraints and indexes, make %I the owner of these tables first.', current_user) END;
END $$;

-- Whether the caller has the rights of a role, and the role all rights of the caller.
EXECUTE $sql$
CREATE OR REPLACE FUNCTION snowdrift.is_trusted_owner(role oid) RETURNS boolean LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT rolname = current_user OR (rolsuper AND pg_has_role(oid, 'USAGE')) FROM pg_roles WHERE oid = role;
END
$sql$;

-- The key columns of primary keys that are serial or identity columns, or draw from the generator.
EXECUTE $sql$
CREATE OR REPLACE FUNCTION snowdrift.find_keys(tables oid[], call text) RETURNS snowdrift.key_column[] LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT coalesce(array_agg(key ORDER BY key), '{}') FROM snowdrift.key_defaults((
        SELECT coalesce(array_agg(ROW(attrelid, attnum)::snowdrift.key_column), '{}') FROM pg_constraint
            JOIN pg_attribute ON attrelid = conrelid AND attnum = ANY (conkey)
        WHERE contype = 'p' AND conrelid = ANY (tables) AND attinhcount = 0
            AND snowdrift.base_type(atttypid) IN ('int2'::regtype, 'int4'::regtype, 'int8'::regtype)), call)
    WHERE kind IN ('identity', 'sequence', 'generator');
END
$sql$;

-- The column of a table, which must be usable as a key.
CREATE OR REPLACE FUNCTION snowdrift.find_key(relation oid, name name) RETURNS snowdrift.key_column
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
    a record;
BEGIN
    SELECT attnum, relname, atttypid, attinhcount, snowdrift.base_type(atttypid) AS base INTO a
    FROM pg_attribute JOIN pg_class AS c ON c.oid = attrelid
    WHERE attrelid = relation AND attname = name AND NOT attisdropped;
    IF NOT FOUND THEN
        RAISE 'column "%" of relation "%" does not exist', name, (SELECT relname FROM pg_class WHERE oid = relation) USING ERRCODE = '42703';
    ELSIF a.base NOT IN ('int2'::regtype, 'int4'::regtype, 'int8'::regtype) THEN
        RAISE 'column "%" of table "%" must be of type smallint, integer or bigint', name, a.relname
            USING ERRCODE = '42804', DETAIL = format('The column is of type %s.', format_type(a.atttypid, NULL));
    ELSIF a.attinhcount > 0 THEN
        RAISE 'cannot alter inherited column "%"', name
            USING ERRCODE = '42P16', HINT = format('Convert the column of the table that "%s" inherits from.', a.relname);
    END IF;
    RETURN (relation, a.attnum);
END $$;

-- The keys, and the columns that refer to them, directly or through other columns. None of them is inherited.
CREATE OR REPLACE FUNCTION snowdrift.with_referring(keys snowdrift.key_column[]) RETURNS snowdrift.key_column[]
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    result snowdrift.key_column[] := keys;
    latest snowdrift.key_column[] := keys;
BEGIN
    WHILE cardinality(latest) > 0 LOOP
        latest := ARRAY(SELECT o FROM snowdrift.origins(ARRAY(SELECT source
                FROM snowdrift.with_inheriting(latest) JOIN snowdrift.key_references() ON target = member)) AS o
            EXCEPT SELECT r FROM unnest(result) AS r);
        result := result || latest;
    END LOOP;
    RETURN ARRAY(SELECT r FROM unnest(result) AS r ORDER BY r);
END $$;

CREATE OR REPLACE FUNCTION snowdrift.check_tables(tables oid[]) RETURNS void LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    r record;
BEGIN
    IF array_position(tables, NULL) IS NOT NULL THEN
        RAISE 'tables must not contain nulls' USING ERRCODE = '22004';
    END IF;
    FOR r IN SELECT t, relname, relkind FROM unnest(tables) AS t LEFT JOIN pg_class ON oid = t ORDER BY t LOOP
        IF r.relkind IS NULL THEN
            RAISE 'relation with OID % does not exist', r.t USING ERRCODE = '42P01';
        ELSIF r.relkind NOT IN ('r', 'p') THEN
            RAISE '"%" is not a table', r.relname USING ERRCODE = '42809';
        END IF;
    END LOOP;
END $$;

CREATE OR REPLACE FUNCTION snowdrift.plan_conversion(tables oid[], "column" name, call text) RETURNS snowdrift.conversion
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
    plan snowdrift.conversion;
    r record;
BEGIN
    PERFORM snowdrift.check_tables($1);
    plan.call := call;
    plan.keys := CASE WHEN $2 IS NULL THEN snowdrift.find_keys($1, call) ELSE ARRAY[snowdrift.find_key($1[1], $2)] END;
    -- A key that refers to another table has the values of that table's key.
    FOR r IN SELECT root, (SELECT relname FROM pg_class WHERE oid = (root)."table") AS relname, attname,
            string_agg(DISTINCT (SELECT relname FROM pg_class WHERE oid = (target)."table"), '", "') AS target
        FROM snowdrift.with_inheriting(plan.keys) JOIN snowdrift.key_references() ON source = member
            JOIN pg_attribute ON attrelid = (root)."table" AND attnum = (root).number
        GROUP BY root, attname ORDER BY root LOOP
        IF $2 IS NOT NULL THEN
            RAISE 'cannot convert column "%" of table "%" because it refers to table "%"', r.attname, r.relname, r.target USING ERRCODE = '42830',
                HINT = 'Convert the referenced column instead. If the columns refer to each other, drop one of the foreign keys first.';
        END IF;
        plan.keys := array_remove(plan.keys, r.root);
    END LOOP;

    plan.widened := ARRAY(SELECT c FROM unnest(snowdrift.with_referring(plan.keys)) AS c
        JOIN pg_attribute ON attrelid = c."table" AND attnum = c.number
        WHERE snowdrift.base_type(atttypid) IN ('int2'::regtype, 'int4'::regtype) ORDER BY c);
    plan.members := ARRAY(SELECT DISTINCT member FROM snowdrift.with_inheriting(plan.widened) ORDER BY 1);
    PERFORM snowdrift.check_table_owners(snowdrift.tables_of_keys(plan.keys, plan));
    FOR r IN SELECT attname, relname, attgenerated, expression FROM snowdrift.with_inheriting(plan.keys), snowdrift.key_defaults(ARRAY[member], call)
            JOIN pg_attribute ON attrelid = (key)."table" AND attnum = (key).number JOIN pg_class AS c ON c.oid = attrelid
        WHERE kind = 'expression' ORDER BY key LOOP
        RAISE 'column "%" of table "%" is not a serial or identity column', r.attname, r.relname USING ERRCODE = '55000',
            DETAIL = format('The column''s values are generated by the expression %s.', r.expression),
            HINT = CASE r.attgenerated WHEN '' THEN 'If the expression is not needed, drop the default.' ELSE 'Choose another column.' END;
    END LOOP;
    plan.new_keys := ARRAY(SELECT DISTINCT root FROM snowdrift.with_inheriting(plan.keys), snowdrift.key_defaults(ARRAY[member], call)
        WHERE kind IS DISTINCT FROM 'generator' ORDER BY root);
    plan.dependents := snowdrift.find_dependents(plan.members);
    plan."tables" := snowdrift.tables_to_convert(plan);
    RETURN plan;
END $$;

-- The tables of keys with new defaults, of the columns whose types change, and at the other ends of the foreign keys that
-- PostgreSQL creates again; ascending, as all conversions lock them.
EXECUTE $sql$
CREATE OR REPLACE FUNCTION snowdrift.tables_of_keys(keys snowdrift.key_column[], plan snowdrift.conversion) RETURNS oid[] LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT coalesce(array_agg(DISTINCT "table" ORDER BY "table"), '{}') FROM (
        SELECT "table" FROM unnest(keys) UNION SELECT "table" FROM unnest((plan).widened)
        UNION SELECT "table" FROM snowdrift.origins((
            SELECT coalesce(array_agg(other), '{}') FROM unnest((plan).members) AS m JOIN (
                SELECT source, target FROM snowdrift.key_references() UNION ALL SELECT target, source FROM snowdrift.key_references()) AS r(one, other)
                ON one = m))) AS all_tables;
END
$sql$;

-- Those of tables_of_keys, and the tables of the triggers and policies to create again
EXECUTE $sql$
CREATE OR REPLACE FUNCTION snowdrift.tables_to_convert(plan snowdrift.conversion) RETURNS oid[] LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT coalesce(array_agg(t ORDER BY t), '{}') FROM (
        SELECT unnest(snowdrift.tables_of_keys((plan).new_keys, plan))
        UNION SELECT tgrelid FROM unnest((plan).dependents) AS d JOIN pg_trigger AS t ON class = 'pg_trigger'::regclass AND t.oid = object
            JOIN pg_class AS c ON c.oid = tgrelid WHERE relkind IN ('r', 'p')
        UNION SELECT polrelid FROM unnest((plan).dependents) AS d JOIN pg_policy AS p ON class = 'pg_policy'::regclass AND p.oid = object) AS all_tables(t);
END
$sql$;

-- The sequences that columns own
EXECUTE $sql$
CREATE OR REPLACE FUNCTION snowdrift.owned_sequences(columns snowdrift.key_column[], OUT key snowdrift.key_column, OUT sequence oid, OUT is_identity boolean)
    RETURNS SETOF record LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT u, objid, deptype = 'i' FROM unnest(columns) AS u JOIN pg_depend ON refclassid = 'pg_class'::regclass AND refobjid = u."table"
            AND refobjsubid = u.number AND classid = refclassid AND deptype IN ('a', 'i')
        JOIN pg_class AS c ON c.oid = objid AND relkind = 'S' ORDER BY u, objid;
END
$sql$;

-- The sequences that have no use after the conversion: those of identities, and those that a new key owns and draws from,
-- unless another object uses them, too.
CREATE OR REPLACE FUNCTION snowdrift.unused_sequences(plan snowdrift.conversion, OUT sequence oid, OUT is_identity boolean) RETURNS SETOF record
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    members CONSTANT snowdrift.key_column[] := ARRAY(SELECT member FROM snowdrift.with_inheriting(plan.new_keys));
BEGIN
    RETURN QUERY SELECT o.sequence, o.is_identity FROM snowdrift.owned_sequences(members) AS o
    WHERE o.is_identity OR (o.sequence IN (SELECT d.sequence FROM snowdrift.key_defaults(members, plan.call) AS d)
        AND NOT EXISTS (SELECT FROM snowdrift.other_users(o.sequence, members)))
    ORDER BY o.key, o.sequence;
END $$;

-- The name for GRANT and REVOKE. 0 stands for all roles.
CREATE OR REPLACE FUNCTION snowdrift.grantee_name(grantee oid) RETURNS text LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
    RETURN CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END;

-- The objects that use a sequence, apart from the defaults of the given columns
EXECUTE $sql$
CREATE OR REPLACE FUNCTION snowdrift.other_users(sequence oid, columns snowdrift.key_column[]) RETURNS SETOF text LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT pg_describe_object(classid, d.objid, objsubid) FROM pg_depend AS d LEFT JOIN pg_attrdef AS a ON classid = 'pg_attrdef'::regclass AND a.oid = d.objid
    WHERE refclassid = 'pg_class'::regclass AND refobjid = sequence AND deptype = 'n'
        AND (a.oid IS NULL OR (adrelid, adnum) NOT IN (SELECT c."table", c.number FROM unnest(columns) AS c));
END
$sql$;

-- The relations that a conversion locks: views, beginning with those that read others, tables, and sequences to drop
CREATE OR REPLACE FUNCTION snowdrift.relations_to_lock(plan snowdrift.conversion) RETURNS regclass[]
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN
    RETURN ARRAY(SELECT object FROM (SELECT object, max(level) AS level FROM unnest(plan.dependents)
            WHERE class = 'pg_class'::regclass GROUP BY object) AS v ORDER BY level DESC, object)
        || ARRAY(SELECT t FROM snowdrift.with_heirs(plan."tables") AS t ORDER BY t)
        || ARRAY(SELECT sequence FROM snowdrift.unused_sequences(plan));
END $$;

-- Conversion of keys: the objects that depend on columns whose types change

-- The objects that depend on others and that PostgreSQL does not change itself, as users know them: the view of a rule,
-- the generated column of an expression. needed: what they depend on.
EXECUTE $sql$
CREATE OR REPLACE FUNCTION snowdrift.dependents_of(objects snowdrift.dependent[]) RETURNS SETOF snowdrift.dependent LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT DISTINCT shown.class, shown.object,
        CASE WHEN shown.class = 'pg_class'::regclass AND (SELECT relkind FROM pg_class WHERE oid = shown.object) = 'v' THEN 0 ELSE shown.part END,
        o.class, o.object, o.part, o.is_smallint, o.level + 1
    FROM unnest(objects) AS o
        LEFT JOIN pg_class AS c ON o.class = 'pg_class'::regclass AND o.part = 0 AND c.oid = o.object
        LEFT JOIN pg_type AS t ON t.oid = c.reltype
        LEFT JOIN pg_constraint AS k ON o.class = 'pg_constraint'::regclass AND k.oid = o.object AND contype <> 'f',
        LATERAL (VALUES (o.class, o.object, o.part), ('pg_type'::regclass, t.oid, 0), ('pg_type'::regclass, t.typarray, 0),
            ('pg_class'::regclass, k.conindid, 0)) AS n(class, object, part)    -- foreign keys depend on the index of the key to which they refer
        JOIN pg_depend AS d ON refclassid = n.class AND refobjid = n.object AND (n.part = 0 OR refobjsubid = n.part),
        LATERAL (SELECT refclassid, refobjid, refobjsubid FROM pg_depend AS whole
            WHERE whole.classid = d.classid AND whole.objid = d.objid AND deptype IN ('i', 'P')
            UNION ALL SELECT d.classid, d.objid, d.objsubid LIMIT 1) AS shown(class, object, part)
    WHERE (shown.class, shown.object, shown.part) IS DISTINCT FROM (o.class, o.object, o.part)
        AND (shown.class, shown.object, shown.part) IS DISTINCT FROM (n.class, n.object, n.part)
        AND NOT (shown.class = 'pg_class'::regclass AND shown.object = o.object AND 0 IN (o.part, shown.part))
        AND NOT (shown.class = 'pg_type'::regclass AND shown.object IN (t.oid, t.typarray))
        AND NOT (shown.class = 'pg_constraint'::regclass AND EXISTS (SELECT FROM pg_constraint WHERE oid = shown.object AND NOT conislocal AND conrelid <> 0))
        AND NOT (shown.class = d.classid AND shown.object <> d.objid)    -- a copy, such as that of a partition
        AND NOT (shown.class = 'pg_trigger'::regclass AND EXISTS (SELECT FROM pg_trigger WHERE oid = shown.object AND (tgisinternal OR tgparentid <> 0)));
END
$sql$;

-- Whether PostgreSQL changes an object together with the type of a column, and evaluates it, if at all, for the rows of its
-- table. An expression of another table, which can have another owner, can read the column of a row value.
CREATE OR REPLACE FUNCTION snowdrift.is_rebuilt(class oid, object oid, relation oid) RETURNS boolean LANGUAGE sql STABLE
    RETURN CASE class
        WHEN 'pg_class'::regclass THEN EXISTS (SELECT FROM pg_class WHERE oid = object AND relkind = 'S')
            OR EXISTS (SELECT FROM pg_index WHERE indexrelid = object AND indrelid = relation)
        WHEN 'pg_constraint'::regclass THEN EXISTS (SELECT FROM pg_constraint WHERE oid = object AND (contype = 'f' OR conrelid = relation))
        WHEN 'pg_statistic_ext'::regclass THEN EXISTS (SELECT FROM pg_statistic_ext WHERE oid = object AND stxrelid = relation)
        WHEN 'pg_attrdef'::regclass THEN EXISTS (SELECT FROM pg_attrdef WHERE oid = object AND adrelid = relation)
        ELSE false
    END;

-- Whether an object converts a smallint to integer. Built again, it would convert a bigint to integer, which fails for IDs.
CREATE OR REPLACE FUNCTION snowdrift.converts_smallint(class oid, object oid) RETURNS boolean LANGUAGE sql STABLE
    RETURN strpos(CASE class
        WHEN 'pg_constraint'::regclass THEN coalesce((SELECT conbin::text FROM pg_constraint WHERE oid = object),
            (SELECT concat(indexprs::text, indpred::text) FROM pg_constraint JOIN pg_index ON indexrelid = conindid WHERE pg_constraint.oid = object))
        WHEN 'pg_statistic_ext'::regclass THEN (SELECT stxexprs::text FROM pg_statistic_ext WHERE oid = object)
        WHEN 'pg_class'::regclass THEN coalesce((SELECT concat(indexprs::text, indpred::text) FROM pg_index WHERE indexrelid = object),
            (SELECT ev_action::text FROM pg_rewrite WHERE ev_class = object AND rulename = '_RETURN'))
        WHEN 'pg_trigger'::regclass THEN (SELECT tgqual::text FROM pg_trigger WHERE oid = object)
        WHEN 'pg_policy'::regclass THEN (SELECT concat(polqual::text, polwithcheck::text) FROM pg_policy WHERE oid = object)
    END, format(':funcid %s ', 'int4(int2)'::regprocedure::oid)) > 0;

-- Why an object, built again for a bigint, could fail; null if there is no reason. Functions of extensions rarely take keys.
CREATE OR REPLACE FUNCTION snowdrift.needs_integers(class oid, object oid, is_smallint boolean) RETURNS text LANGUAGE sql STABLE
    RETURN CASE WHEN is_smallint AND snowdrift.converts_smallint(class, object) THEN 'converts a smallint to integer'
        ELSE (SELECT format('calls %s, which takes integers', min(p.oid)::regprocedure) FROM pg_depend JOIN pg_proc AS p ON refclassid = 'pg_proc'::regclass AND p.oid = refobjid
            WHERE (classid, objid) IN (SELECT class, object
                    UNION ALL SELECT 'pg_rewrite'::regclass, r.oid FROM pg_rewrite AS r WHERE class = 'pg_class'::regclass AND ev_class = object AND rulename = '_RETURN'
                    UNION ALL SELECT 'pg_class'::regclass, conindid FROM pg_constraint AS c WHERE class = 'pg_constraint'::regclass AND c.oid = object AND contype = 'x')
                AND proargtypes::oid[] && '{int2,int4}'::regtype[]::oid[] AND pronamespace <> 'pg_catalog'::regnamespace
                AND NOT EXISTS (SELECT FROM pg_depend AS e WHERE e.classid = 'pg_proc'::regclass AND e.objid = p.oid AND deptype = 'e')
            HAVING count(*) > 0)
        END;

-- All objects that depend on the columns, directly or through other objects, apart from those that PostgreSQL changes.
CREATE OR REPLACE FUNCTION snowdrift.find_dependents(columns snowdrift.key_column[]) RETURNS snowdrift.dependent[]
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    roots CONSTANT snowdrift.dependent[] := ARRAY(
        SELECT ('pg_class'::regclass::oid, c."table", c.number::integer, 0, 0, 0, atttypid = 'int2'::regtype, 0)::snowdrift.dependent
        FROM unnest(columns) AS c JOIN pg_attribute ON attrelid = c."table" AND attnum = c.number);
    result snowdrift.dependent[];
    latest snowdrift.dependent[];
BEGIN
    -- Of the objects that PostgreSQL changes, those that need integers, and what names a constraint, as in
    -- ON CONFLICT ON CONSTRAINT.
    result := ARRAY(
        WITH direct AS MATERIALIZED (
            SELECT r.object AS relation, r.part, r.is_smallint, d.classid, d.objid FROM unnest(roots) AS r
                JOIN pg_depend AS d ON refclassid = 'pg_class'::regclass AND refobjid = r.object AND refobjsubid = r.part
            WHERE snowdrift.is_rebuilt(d.classid, d.objid, r.object)
        ), constraints AS (
            SELECT objid AS oid FROM direct WHERE classid = 'pg_constraint'::regclass
            UNION SELECT c.oid FROM direct JOIN pg_constraint AS c ON conindid = objid WHERE classid = 'pg_class'::regclass AND contype <> 'f'
        )
        SELECT (classid, objid, 0, 'pg_class'::regclass, relation, part, is_smallint, 1)::snowdrift.dependent
        FROM (SELECT relation, part, is_smallint, coalesce(i.refclassid, direct.classid) AS classid, coalesce(i.refobjid, direct.objid) AS objid
            FROM direct LEFT JOIN pg_depend AS i ON direct.classid = 'pg_class'::regclass AND i.classid = direct.classid AND i.objid = direct.objid
                AND i.deptype = 'i' AND i.refclassid = 'pg_constraint'::regclass) AS shown
        WHERE snowdrift.needs_integers(classid, objid, is_smallint) IS NOT NULL
            AND NOT EXISTS (SELECT FROM pg_constraint WHERE classid = 'pg_constraint'::regclass AND oid = objid AND NOT conislocal)
            AND NOT EXISTS (SELECT FROM pg_inherits WHERE classid = 'pg_class'::regclass AND inhrelid = objid)
        UNION ALL
        SELECT d FROM snowdrift.dependents_of(ARRAY(SELECT ('pg_constraint'::regclass::oid, oid, 0, 0, 0, 0, false, 0)::snowdrift.dependent FROM constraints)) AS d
        WHERE class IN ('pg_proc'::regclass, 'pg_rewrite'::regclass) OR (class = 'pg_class'::regclass AND (SELECT relkind FROM pg_class WHERE oid = object) = 'v')
    );
    latest := result || ARRAY(SELECT d FROM snowdrift.dependents_of(roots) AS d
        WHERE NOT snowdrift.is_rebuilt(class, object, needed));
    result := '{}';
    WHILE cardinality(latest) > 0 LOOP
        result := ARRAY(
            SELECT (class, object, part, needed_class, needed, needed_part, bool_or(is_smallint), max(level))::snowdrift.dependent
            FROM unnest(result || latest) GROUP BY class, object, part, needed_class, needed, needed_part);
        latest := ARRAY(SELECT d FROM snowdrift.dependents_of(ARRAY(
                SELECT DISTINCT ON (class, object, part) (class, object, part, 0, 0, 0, is_smallint, level)::snowdrift.dependent
                FROM unnest(latest) ORDER BY class, object, part, level DESC, is_smallint DESC)) AS d);
    END LOOP;
    RETURN result;
END $$;

-- Why an object cannot be dropped and created again with all its properties: '' if it is no view, trigger or policy; null
-- if it can.
-- A view's definition would be found by names again, perhaps with other objects: PostgreSQL prints JOIN USING, CASE, NULLIF
-- and IS DISTINCT FROM without their operators, and the types of arguments change.
CREATE OR REPLACE FUNCTION snowdrift.obstacle_to_create(class oid, object oid, is_smallint boolean) RETURNS text LANGUAGE sql STABLE
    RETURN CASE
        WHEN class = 'pg_policy'::regclass THEN (SELECT CASE
            WHEN NOT snowdrift.is_trusted_owner(relowner) THEN format('its table belongs to role %s', relowner::regrole)
            WHEN EXISTS (SELECT FROM pg_depend WHERE classid = class AND objid = object AND deptype IN ('e', 'x')) THEN 'belongs to an extension'
            ELSE snowdrift.needs_integers(class, object, is_smallint)
            END FROM pg_policy JOIN pg_class AS c ON c.oid = polrelid WHERE pg_policy.oid = object)
        WHEN class = 'pg_trigger'::regclass THEN (SELECT CASE
            WHEN relkind NOT IN ('r', 'p') THEN ''
            WHEN NOT snowdrift.is_trusted_owner(relowner) THEN format('its table belongs to role %s', relowner::regrole)
            WHEN EXISTS (SELECT FROM pg_depend WHERE classid = class AND objid = object AND deptype IN ('e', 'x')) THEN 'belongs to an extension'
            WHEN NOT has_function_privilege(tgfoid, 'EXECUTE') THEN 'its function may not be called'
            ELSE snowdrift.needs_integers(class, object, is_smallint)
            END FROM pg_trigger JOIN pg_class AS c ON c.oid = tgrelid WHERE pg_trigger.oid = object)
        WHEN class <> 'pg_class'::regclass OR (SELECT relkind FROM pg_class WHERE oid = object) <> 'v' THEN ''
        ELSE (SELECT CASE
            WHEN NOT snowdrift.is_trusted_owner(relowner) THEN format('belongs to role %s', relowner::regrole)
            WHEN relpersistence = 't' THEN 'temporary'
            WHEN EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = c.oid AND deptype = 'e')
                THEN 'belongs to an extension'
            WHEN NOT has_schema_privilege(relowner, relnamespace, 'CREATE')
                THEN format('its owner may not create it in schema %s', relnamespace::regnamespace)
            WHEN EXISTS (SELECT FROM aclexplode(relacl) WHERE grantor <> relowner)
                OR EXISTS (SELECT FROM pg_attribute, aclexplode(attacl) WHERE attrelid = c.oid AND grantor <> relowner)
                THEN 'has privileges that another role granted'
            WHEN EXISTS (SELECT FROM pg_type WHERE oid = reltype AND typacl IS NOT NULL)
                THEN 'its row type has privileges'
            WHEN EXISTS (SELECT FROM pg_seclabel WHERE classoid = 'pg_class'::regclass AND objoid = c.oid)
                OR EXISTS (SELECT FROM pg_seclabel WHERE classoid = 'pg_type'::regclass AND objoid = reltype)
                THEN 'has a security label'
            WHEN EXISTS (SELECT FROM pg_description WHERE classoid = 'pg_type'::regclass AND objoid = reltype)
                THEN 'its row type has a comment'
            WHEN EXISTS (SELECT FROM pg_description JOIN pg_rewrite AS r ON objoid = r.oid
                    WHERE classoid = 'pg_rewrite'::regclass AND ev_class = c.oid AND rulename = '_RETURN')
                THEN 'its rule has a comment'
            WHEN EXISTS (SELECT FROM pg_depend JOIN pg_rewrite AS r ON objid = r.oid
                    WHERE classid = 'pg_rewrite'::regclass AND ev_class = c.oid AND rulename = '_RETURN' AND refclassid = 'pg_operator'::regclass)
                THEN 'uses an operator that is not PostgreSQL''s own, which its definition may not show'
            WHEN EXISTS (SELECT FROM pg_depend JOIN pg_rewrite AS r ON objid = r.oid
                    JOIN pg_proc AS p ON refobjid = p.oid JOIN pg_proc AS other USING (pronamespace, proname)
                    WHERE classid = 'pg_rewrite'::regclass AND ev_class = c.oid AND rulename = '_RETURN'
                        AND refclassid = 'pg_proc'::regclass AND other.oid <> p.oid AND NOT EXISTS (    -- variants of Snowdrift differ in other arguments than keys
                            SELECT FROM pg_depend AS e JOIN pg_extension AS x ON x.oid = e.refobjid
                            WHERE e.classid = 'pg_proc'::regclass AND e.objid = p.oid AND e.deptype = 'e' AND extname = 'snowdrift'))
                THEN 'uses a function that has variants with other arguments'
            ELSE snowdrift.needs_integers(class, object, is_smallint)
            END FROM pg_class AS c WHERE oid = object)
    END;

-- The statements that drop an object and create it again; null if there is none to copy.
CREATE OR REPLACE FUNCTION snowdrift.statements_for(class oid, object oid, part integer, OUT dropped text, OUT created text)
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off
    SET timezone = 'UTC' SET datestyle = ISO SET intervalstyle = postgres SET extra_float_digits = 3 AS $$
#variable_conflict use_column
DECLARE
    o record;
BEGIN
    SELECT * INTO o FROM pg_identify_object(class, object, part);
    dropped := format('DROP %s %s', upper(o.type), o.identity);
    CASE o.type
    WHEN 'view', 'materialized view', 'trigger', 'policy' THEN
        created := (SELECT string_agg(s, E';\n' ORDER BY n) FROM snowdrift.statements_to_create((class, object, part, 0, 0, 0, false, 0)::snowdrift.dependent) WITH ORDINALITY AS t(s, n));
    WHEN 'index' THEN
        created := replace(pg_get_indexdef(object), ' ON ONLY ', ' ON ');
    WHEN 'function', 'procedure' THEN
        SELECT rtrim(pg_get_functiondef(oid), E'\n') || (SELECT string_agg(E';\n' || s, '' ORDER BY n)
            FROM snowdrift.ownership_statements(upper(o.type), o.identity, 'f', pronamespace, proowner, proacl) WITH ORDINALITY AS t(s, n))
        INTO created FROM pg_proc WHERE oid = object;
    WHEN 'rule' THEN
        SELECT rtrim(pg_get_ruledef(oid), ';') || CASE ev_enabled WHEN 'O' THEN '' ELSE format(E';\nALTER TABLE %s %s RULE %I', snowdrift.qualified_name(ev_class),
            CASE ev_enabled WHEN 'D' THEN 'DISABLE' WHEN 'R' THEN 'ENABLE REPLICA' ELSE 'ENABLE ALWAYS' END, rulename) END INTO created FROM pg_rewrite WHERE oid = object;
    WHEN 'statistics object' THEN
        dropped := format('DROP STATISTICS %s', o.identity);
        created := pg_get_statisticsobjdef(object);
    WHEN 'table constraint' THEN
        SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', snowdrift.qualified_name(conrelid), conname),
            format('ALTER TABLE %s ADD CONSTRAINT %I %s', snowdrift.qualified_name(conrelid), conname, pg_get_constraintdef(oid))
        INTO dropped, created FROM pg_constraint WHERE oid = object;
    WHEN 'default value' THEN
        SELECT format('ALTER TABLE %s ALTER COLUMN %I DROP DEFAULT', snowdrift.qualified_name(adrelid), attname),
            format('ALTER TABLE %s ALTER COLUMN %I SET DEFAULT %s', snowdrift.qualified_name(adrelid), attname, pg_get_expr(adbin, adrelid))
        INTO dropped, created FROM pg_attrdef AS d JOIN pg_attribute ON attrelid = adrelid AND attnum = adnum WHERE d.oid = object;
    WHEN 'table column' THEN
        SELECT format('ALTER TABLE %s DROP COLUMN %I', snowdrift.qualified_name(attrelid), attname),
            format('ALTER TABLE %s ADD COLUMN %I %s%s GENERATED ALWAYS AS (%s) %s%s', snowdrift.qualified_name(attrelid), attname,
                CASE WHEN snowdrift.base_type(atttypid) IN ('int2'::regtype, 'int4'::regtype) THEN 'bigint' ELSE format_type(atttypid, atttypmod) END,
                (SELECT format(' COLLATE %I.%I', nspname, collname) FROM pg_collation AS l JOIN pg_namespace AS n ON n.oid = collnamespace JOIN pg_type AS y ON y.oid = atttypid WHERE l.oid = attcollation AND l.oid <> typcollation),
                pg_get_expr(adbin, adrelid), CASE attgenerated WHEN 'v' THEN 'VIRTUAL' ELSE 'STORED' END, CASE WHEN attnotnull THEN ' NOT NULL' END)
        INTO dropped, created FROM pg_attribute JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
        WHERE attrelid = object AND attnum = part AND attgenerated <> '' AND attinhcount = 0;    -- no others, which have data or are the parent's
    WHEN 'publication relation' THEN
        SELECT format('ALTER PUBLICATION %I DROP TABLE %s', pubname, snowdrift.qualified_name(prrelid)),
            format('ALTER PUBLICATION %I ADD TABLE %s%s%s', pubname, snowdrift.qualified_name(prrelid),
                (SELECT format(' (%s)', string_agg(quote_ident(attname), ', ' ORDER BY attnum)) FROM pg_attribute
                    WHERE attrelid = prrelid AND attnum = ANY (prattrs) HAVING count(*) > 0),
                ' WHERE (' || pg_get_expr(prqual, prrelid) || ')')
        INTO dropped, created FROM pg_publication_rel AS r JOIN pg_publication AS p ON p.oid = prpubid WHERE r.oid = object;
    ELSE
    END CASE;
    IF snowdrift.converts_smallint(class, object) THEN    -- to a type that can contain IDs
        created := replace(created, '::integer', '::bigint');
    END IF;
END $$;

-- Ensure that the types of the columns can be changed: one error lists all that stands in the way, with the statements to
-- copy. refusals: what else stands in the way while applications write; null if the tables are locked meanwhile.
CREATE OR REPLACE FUNCTION snowdrift.check_obstacles(plan snowdrift.conversion, refusals text[] DEFAULT NULL) RETURNS void
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
    listed snowdrift.dependent[];
    previous integer := -1;
    first_lines text;
    lines text;
    drops text;
    creates text;
    sequence regclass;
BEGIN
    first_lines := (SELECT string_agg(line, E'\n' ORDER BY c, line) FROM (SELECT c, line FROM snowdrift.column_obstacles(plan) AS o(c, line)
        UNION ALL SELECT NULL, unnest(refusals)) AS all_lines(c, line));
    -- What depends on a listed object is listed, too.
    WHILE coalesce(cardinality(listed), 0) <> previous LOOP
        previous := coalesce(cardinality(listed), 0);
        listed := ARRAY(SELECT d FROM unnest(plan.dependents) AS d
            WHERE snowdrift.obstacle_to_create(class, object, is_smallint) IS NOT NULL
                OR (class, object, part) IN (SELECT class, object, part FROM unnest(listed))
                OR (needed_class, needed, needed_part) IN (SELECT class, object, part FROM unnest(listed)));
    END LOOP;
    SELECT string_agg(pg_describe_object(class, object, part) || coalesce(' (' || nullif(reason, '') || ')', '')
            || ' depends on ' || pg_describe_object(needed_class, needed, needed_part), E'\n' ORDER BY level DESC, class, object, part),
        string_agg(dropped || ';', E'\n' ORDER BY level DESC, class, object, part),
        concat_ws(E'\n', string_agg(created || ';', E'\n' ORDER BY level, class DESC, object DESC, part),
            -- The owner of a materialized view may read these rows; a policy can be created after the view.
            string_agg(format('REFRESH MATERIALIZED VIEW %s;', snowdrift.qualified_name(filled.oid)), E'\n' ORDER BY level, object DESC) FILTER (WHERE filled.oid IS NOT NULL))
    INTO lines, drops, creates
    FROM (SELECT DISTINCT ON (class, object, part) *,
                coalesce(nullif(snowdrift.obstacle_to_create(class, object, is_smallint), ''), snowdrift.needs_integers(class, object, is_smallint)) AS reason
            FROM unnest(listed) ORDER BY class, object, part, level DESC, needed_class, needed, needed_part) AS l
        LEFT JOIN pg_class AS filled ON class = 'pg_class'::regclass AND filled.oid = object AND relkind = 'm' AND relispopulated,
        snowdrift.statements_for(class, object, part);
    IF lines IS NULL AND first_lines IS NULL THEN
        RETURN;
    END IF;
    -- Once these objects are dropped, nothing else uses the keys' sequences, and the conversion drops them.
    FOR sequence IN SELECT o.sequence FROM snowdrift.owned_sequences(ARRAY(SELECT member FROM snowdrift.with_inheriting(plan.new_keys))) AS o LOOP
        creates := replace(creates, format('nextval(%L::regclass)', sequence), plan.call);
    END LOOP;
    RAISE '%', CASE WHEN refusals IS NULL THEN 'cannot convert keys because other objects depend on columns whose types must change'
            ELSE 'cannot convert keys while applications write' END
        USING ERRCODE = '0A000', DETAIL = concat_ws(E'\n', first_lines, lines),
        HINT = CASE WHEN lines IS NULL AND refusals IS NULL THEN 'Change these columns first.'
            WHEN lines IS NULL THEN 'Change these first, or use snowdrift.convert_keys(), which locks the tables until it ends; if a conversion has begun, run abandon_script() before.'
            ELSE concat_ws(E'\n', concat(CASE WHEN refusals IS NULL THEN 'In one transaction that begins with SET LOCAL lock_timeout = ''2s'', drop' ELSE 'Drop' END,
                    ' these objects in this order, convert the keys, and create the objects again in the reverse order:'),
                drops, '-- convert the keys here', creates,
                CASE WHEN creates ~ '[[:<:]](integer|smallint)[[:>:]]' OR lines ~ 'which takes integers' THEN 'First, let these statements, and the functions that they call, use bigint instead of integer.' END,
                CASE WHEN drops ~ 'DROP POLICY' THEN 'Without a policy, rows are hidden or, if it is restrictive, visible: rather let it call functions of bigint, with a cast of the key to bigint, by ALTER POLICY.' END,
                (SELECT format('New keys can be shortened in %s, so that they become equal, or show ##: use 19 digits there.', string_agg(object, ', ' ORDER BY object))
                    FROM snowdrift.narrow_expressions(plan) WHERE reason = 'width' HAVING count(*) > 0),
                'Also give the objects again what is not in these statements, such as privileges on columns, comments, options and replica identities.',
                CASE WHEN creates ~ ' ADD COLUMN ' THEN 'The columns are then the last ones of their tables: change what relies on their order, such as functions that return rows.' END) END;
END $$;

-- What prevents a change of a column's type, apart from objects that depend on it
EXECUTE $sql$
CREATE OR REPLACE FUNCTION snowdrift.column_obstacles(plan snowdrift.conversion, OUT member snowdrift.key_column, OUT line text) RETURNS SETOF record
    LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT m, pg_describe_object('pg_class'::regclass, c.oid, attnum) || ' ' || problem
    FROM (SELECT m, true FROM unnest((plan).members) AS m UNION ALL SELECT k, false FROM unnest((plan).new_keys) AS k) AS columns(m, is_member)
        JOIN pg_attribute ON attrelid = (m)."table" AND attnum = (m).number
        JOIN pg_class AS c ON c.oid = attrelid JOIN pg_type AS t ON t.oid = atttypid,
        LATERAL (
            SELECT format('is of the domain type %s; change its type to bigint first', format_type(atttypid, NULL)) WHERE typbasetype <> 0
            UNION ALL
            SELECT CASE WHEN other ~ '^trigger snowdrift_hold_' THEN 'is watched; call snowdrift.unwatch() first, and snowdrift.watch() afterwards'
                ELSE format('has an identity, whose sequence is also used by %s; change that first', other) END
            FROM snowdrift.owned_sequences(ARRAY[m]) AS i, snowdrift.other_users(i.sequence, ARRAY(SELECT member FROM snowdrift.with_inheriting((plan).keys))) AS other
            WHERE i.is_identity AND other !~ '^trigger snowdrift_(insert|update)_'    -- of the same watch
            UNION ALL
            SELECT 'is in a typed table' WHERE reloftype <> 0 AND is_member
            UNION ALL
            SELECT 'is part of the partition key of its table; move the rows to a partitioned table in which the column is of type bigint'
            FROM pg_partitioned_table WHERE partrelid = c.oid AND is_member
                AND (attnum = ANY (partattrs) OR EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = c.oid AND objsubid = 0
                    AND refclassid = 'pg_class'::regclass AND refobjid = c.oid AND refobjsubid = attnum AND deptype = 'i'))
            UNION ALL
            SELECT format('is in the type of %s; change that first', pg_describe_object('pg_class'::regclass, u.attrelid, u.attnum))
            FROM pg_type AS row_type, pg_depend, pg_attribute AS u JOIN pg_class AS uc ON uc.oid = u.attrelid AND uc.relkind IN ('r', 'p', 'm')
            WHERE is_member AND row_type.oid = c.reltype AND refclassid = 'pg_type'::regclass AND refobjid IN (row_type.oid, row_type.typarray)
                AND classid = 'pg_class'::regclass AND u.attrelid = objid AND u.attnum = objsubid AND objsubid > 0
            UNION ALL
            SELECT format('is in the replica identity of its table; run ALTER TABLE %s REPLICA IDENTITY FULL first, and set the index again afterwards',
                snowdrift.qualified_name(c.oid))
            FROM pg_index AS i JOIN pg_class AS ic ON ic.oid = indexrelid
            WHERE indrelid = c.oid AND is_member AND indisreplident AND ic.relispartition AND attnum = ANY (indkey) AND c.relreplident = 'i'
        ) AS p(problem)
    GROUP BY m, c.oid, attnum, problem;
END
$sql$;

-- Conversion of keys: what can fail afterwards. These are guesses from names and texts: code outside of the database, and
-- statements that functions put together, are not seen.

-- The columns in partition keys that will get new keys
EXECUTE $sql$
CREATE OR REPLACE FUNCTION snowdrift.partitioned_by_new_keys(plan snowdrift.conversion) RETURNS SETOF snowdrift.key_column LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT DISTINCT ON (root) member FROM snowdrift.with_inheriting(snowdrift.with_referring((plan).new_keys))
        JOIN pg_partitioned_table ON partrelid = (member)."table"
    WHERE partstrat IN ('r', 'l') AND ((member).number = ANY (partattrs) OR EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass
        AND objid = partrelid AND objsubid = 0 AND refclassid = 'pg_class'::regclass AND refobjid = partrelid AND refobjsubid = (member).number AND deptype = 'i'))
    ORDER BY root, member;
END
$sql$;

-- A name in lower case, with "_" before, between and after its words
CREATE OR REPLACE FUNCTION snowdrift.words_of(name text) RETURNS text LANGUAGE sql IMMUTABLE
    RETURN concat('_', lower(regexp_replace(name, '([a-z0-9])([A-Z])', E'\\1_\\2', 'g')), '_');

-- A pattern for the names of the tables with new keys, in all forms that can be the singular; null if there are none
EXECUTE $sql$
CREATE OR REPLACE FUNCTION snowdrift.key_words(plan snowdrift.conversion) RETURNS text LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT format('(%s)_', string_agg(DISTINCT regexp_replace(singular, '[^[:alnum:]_]', '.', 'g'), '|')) FROM unnest((plan).new_keys) AS k JOIN pg_class AS t ON t.oid = k."table",
        LATERAL (SELECT snowdrift.words_of(relname)) AS w(word), LATERAL (VALUES (substring(word FROM '^(.*[^s]|.*ss)_$')),
            (substring(word FROM '^(.*[^s])s_$')), (substring(word FROM '^(.*(s|x|z|ch|sh))es_$')), (substring(word FROM '^(.*)ies_$') || 'y')) AS v(singular)
    WHERE length(singular) > 3 HAVING count(*) > 0;
END
$sql$;

-- Whether a name seems to be a reference's: it is a table's or, unless excluded, ends like a reference, or contains a table's and is no
-- count, position or status
CREATE OR REPLACE FUNCTION snowdrift.is_reference(name text, key_words text) RETURNS boolean LANGUAGE sql STABLE
    RETURN snowdrift.words_of(name) ~ ('^' || key_words || '$') IS TRUE OR snowdrift.words_of(name) !~ '_(paid|valid|void|bid|grid|line_no|house_no)_$' AND (
        name ~* '(.ids?|by|_from|_to|_ref|_key|_no|parent|user|usr|creator|owner|author|editor|sender|receiver|recipient|assignee|approver|member)$'
        OR (snowdrift.words_of(name) ~ key_words
            AND name !~* '(^(num|number|count|total)_|(count|counter|number|num|total|position|rank|size|limit|length|duration|percent|score|version|year|status|type|cents|amount|sort_order|display_order)s?$)'));

-- Columns of integers without a foreign key. is_reference: has the name of a reference; in a schema without new keys, also that
-- of a table with new keys
EXECUTE $sql$
CREATE OR REPLACE FUNCTION snowdrift.narrow_columns(plan snowdrift.conversion, OUT column_of oid, OUT number smallint, OUT name name, OUT is_reference boolean)
    RETURNS SETOF record LANGUAGE sql STABLE
BEGIN ATOMIC
    WITH words(key_words) AS MATERIALIZED (SELECT snowdrift.key_words(plan)), schemas AS MATERIALIZED (
        SELECT DISTINCT relnamespace AS schema FROM unnest((plan).new_keys) AS k JOIN pg_class AS t ON t.oid = k."table"
    )
    SELECT attrelid, attnum, attname, CASE WHEN relnamespace IN (SELECT schema FROM schemas) THEN snowdrift.is_reference(attname, key_words)
        ELSE snowdrift.words_of(attname) ~ key_words AND snowdrift.is_reference(attname, NULL) IS TRUE END
    FROM pg_attribute JOIN pg_class AS c ON c.oid = attrelid JOIN pg_namespace AS n ON n.oid = relnamespace JOIN pg_type AS y ON y.oid = atttypid
        LEFT JOIN pg_attrdef AS d ON adrelid = attrelid AND adnum = attnum, words
    WHERE relkind IN ('r', 'p', 'f') AND NOT relispartition AND attnum > 0 AND NOT attisdropped AND attinhcount = 0 AND attidentity = '' AND attgenerated = ''
        AND CASE typbasetype WHEN 0 THEN atttypid ELSE snowdrift.base_type(atttypid) END IN ('int2'::regtype, 'int4'::regtype, 'int2[]'::regtype, 'int4[]'::regtype)
        AND nspname NOT LIKE 'pg!_%' ESCAPE '!' AND nspname NOT IN ('information_schema', 'snowdrift', 'snowdrift_tables') AND EXISTS (SELECT FROM schemas)
        AND (attrelid, attnum) NOT IN (SELECT m."table", m.number FROM unnest((plan).members) AS m)
        AND coalesce(pg_get_expr(adbin, adrelid), '') NOT LIKE '%nextval(%'
        AND NOT EXISTS (SELECT FROM pg_constraint WHERE contype = 'f' AND conrelid = attrelid AND attnum = ANY (conkey))
        AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = attrelid AND deptype = 'e');
END
$sql$;

-- Columns that have the name of an ID of a table with new keys, and room for fewer than 19 digits
EXECUTE $sql$
CREATE OR REPLACE FUNCTION snowdrift.short_columns(plan snowdrift.conversion, OUT column_of oid, OUT number smallint, OUT digits integer) RETURNS SETOF record LANGUAGE sql STABLE
BEGIN ATOMIC
    WITH words(key_words) AS MATERIALIZED (
        SELECT snowdrift.key_words(plan)
    ), named AS MATERIALIZED (
        SELECT attrelid, attnum, atttypid, atttypmod FROM pg_attribute JOIN pg_class AS c ON c.oid = attrelid, words
        WHERE relkind IN ('r', 'p') AND NOT relispartition AND attnum > 0 AND NOT attisdropped AND attinhcount = 0
            AND atttypid IN ('text'::regtype, 'varchar'::regtype, 'bpchar'::regtype, 'numeric'::regtype)
            AND attname ~* '.id$' AND snowdrift.words_of(attname) ~ key_words
    )
    SELECT attrelid, attnum, min(room) FROM named, LATERAL (
        SELECT atttypmod - 4 WHERE atttypid IN ('varchar'::regtype, 'bpchar'::regtype) AND atttypmod > 4
        UNION ALL SELECT (atttypmod - 4 >> 16) - (atttypmod - 4 & 65535) WHERE atttypid = 'numeric'::regtype AND atttypmod > 4
        UNION ALL SELECT bound[2]::integer - (bound[1] = '<')::integer FROM pg_constraint, regexp_match(pg_get_constraintdef(oid), 'length[(][^<]*[)] (<=?) ([0-9]{1,3})[)]') AS bound
            WHERE conrelid = attrelid AND contype = 'c' AND conkey = ARRAY[attnum]) AS r(room)
    WHERE room < 19 AND NOT EXISTS (SELECT FROM pg_constraint WHERE contype = 'f' AND conrelid = attrelid AND attnum = ANY (conkey))
    GROUP BY attrelid, attnum;
END
$sql$;

-- The functions of triggers on the tables of a conversion, and those whose texts or arguments name such a table, or a view of
-- one. is_rewritten: the types of the table's rows change.
EXECUTE $sql$
CREATE OR REPLACE FUNCTION snowdrift.functions_near(plan snowdrift.conversion, OUT function oid, OUT is_rewritten boolean) RETURNS SETOF record LANGUAGE sql STABLE
BEGIN ATOMIC
    WITH RECURSIVE relations("table", is_member) AS (
        SELECT "table", true FROM unnest((plan).members)
        UNION SELECT (member)."table", false FROM snowdrift.with_inheriting(snowdrift.with_referring((plan).new_keys))
        UNION SELECT ev_class, is_member FROM relations JOIN pg_depend ON refclassid = 'pg_class'::regclass AND refobjid = "table"
            JOIN pg_rewrite AS r ON classid = 'pg_rewrite'::regclass AND objid = r.oid AND rulename = '_RETURN'
    ), near AS MATERIALIZED (
        SELECT "table", bool_or(is_member) AS is_rewritten FROM relations GROUP BY "table"
    ), words AS MATERIALIZED (    -- where a table can be: in a FROM clause, in a type, as the type of a variable
        SELECT DISTINCT p.oid, coalesce(word[1], word[2], word[3]) AS word FROM pg_proc AS p JOIN pg_language AS l ON l.oid = prolang,
            regexp_matches(lower(prosrc), '(?:(?:[[:<:]](?:from|join|into|update|only|using|table)[[:space:]]+|,[[:space:]]*)(?:"?[[:alnum:]_$]+"?[.])?"?([[:alnum:]_$]+))'
                '|(?:([[:alnum:]_$]+)"?(?:[.]"?[[:alnum:]_$]+"?)?%(?:row)?type)|(?:([[:alnum:]_$]+)"?[[:space:]]*(?:;|:=))', 'g') AS word
        WHERE lanname IN ('plpgsql', 'sql') AND prosqlbody IS NULL AND pronamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace,
                'snowdrift'::regnamespace, 'snowdrift_tables'::regnamespace)
            AND prosrc NOT LIKE '%snowdrift%_tables.%' AND NOT starts_with(proname, '_snowdrift_')
            AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = p.oid AND deptype = 'e')
            AND EXISTS (SELECT FROM near)
    )
    SELECT function, bool_or(is_rewritten) FROM (
        SELECT tgfoid, is_rewritten FROM near JOIN pg_trigger ON tgrelid = "table" JOIN pg_proc AS p ON p.oid = tgfoid
        WHERE NOT tgisinternal AND tgname <> '~snowdrift' AND pronamespace <> 'snowdrift'::regnamespace
        UNION ALL SELECT words.oid, is_rewritten FROM near JOIN pg_class AS c ON c.oid = "table" JOIN words ON word = lower(relname)
        UNION ALL SELECT p.oid, is_rewritten FROM near JOIN pg_type AS t ON typrelid = "table" JOIN pg_depend ON refclassid = 'pg_type'::regclass
                AND refobjid IN (t.oid, typarray) AND classid = 'pg_proc'::regclass JOIN pg_proc AS p ON p.oid = objid) AS f(function, is_rewritten)
    GROUP BY function;
END
$sql$;

-- PL/pgSQL functions that sessions must plan again. Changing a property to what it is does so, and needs the function's owner.
EXECUTE $sql$
CREATE OR REPLACE FUNCTION snowdrift.functions_to_replan(plan snowdrift.conversion, OUT function oid, OUT statement text, OUT owner oid, OUT is_allowed boolean)
    RETURNS SETOF record LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT p.oid, CASE prokind WHEN 'p' THEN format('ALTER PROCEDURE %s SECURITY %s', p.oid::regprocedure, CASE WHEN prosecdef THEN 'DEFINER' ELSE 'INVOKER' END)
            ELSE format('ALTER FUNCTION %s COST %s', p.oid::regprocedure, procost) END, proowner, pg_has_role(proowner, 'USAGE')
    FROM snowdrift.functions_near(plan) JOIN pg_proc AS p ON p.oid = function JOIN pg_language AS l ON l.oid = prolang
    WHERE is_rewritten AND lanname = 'plpgsql' AND prokind IN ('f', 'p');
END
$sql$;

-- Why functions of triggers, those that name a table or are called by what depends on a key, and those that take an integer with
-- the name of a reference, can fail with new keys
EXECUTE $sql$
CREATE OR REPLACE FUNCTION snowdrift.integers_in_functions(plan snowdrift.conversion, OUT function oid, OUT reason text) RETURNS SETOF record LANGUAGE sql STABLE
BEGIN ATOMIC
    WITH words_of_keys(key_words) AS MATERIALIZED (
        SELECT snowdrift.key_words(plan)
    ), keys AS MATERIALIZED (
        SELECT attrelid AS "table", attnum AS number, regexp_replace(attname, '[^[:alnum:]_]', '.', 'g') AS name
        FROM snowdrift.with_inheriting(snowdrift.with_referring((plan).new_keys)) JOIN pg_attribute ON attrelid = (member)."table" AND attnum = (member).number
    ), near AS MATERIALIZED (
        SELECT p.oid, prosrc, coalesce(proallargtypes, proargtypes::oid[]) || prorettype AS types FROM pg_proc AS p
        WHERE p.oid IN (SELECT f.function FROM snowdrift.functions_near(plan) AS f
            UNION ALL SELECT objid FROM keys JOIN pg_depend ON refclassid = 'pg_class'::regclass AND refobjid = "table" AND refobjsubid = number AND classid = 'pg_proc'::regclass)
    ), narrow AS MATERIALIZED (
        SELECT column_of, string_agg(name::text, ', ' ORDER BY number) AS names FROM snowdrift.narrow_columns(plan)
        WHERE is_reference OR column_of NOT IN (SELECT m."table" FROM unnest((plan).members) AS m) GROUP BY column_of
    ), named AS MATERIALIZED (    -- by its own name, or by that of a view
        SELECT DISTINCT lower(relname) AS relname, format('names %s%s, whose columns %s are integers', CASE c.oid WHEN column_of THEN 'table ' ELSE format('view %s of table ', c.oid::regclass) END,
            column_of::regclass, names) AS reason
        FROM narrow, LATERAL (SELECT column_of UNION SELECT ev_class FROM pg_depend JOIN pg_rewrite AS r ON classid = 'pg_rewrite'::regclass AND objid = r.oid
            WHERE refclassid = 'pg_class'::regclass AND refobjid = column_of AND ev_class <> column_of) AS v(relation)
            JOIN pg_class AS c ON c.oid = relation
    ), words AS MATERIALIZED (
        SELECT DISTINCT near.oid, lower(word[1]) AS word FROM near, regexp_matches(prosrc, '[[:alnum:]_$]+', 'g') AS word
    ), calls AS MATERIALIZED (
        SELECT DISTINCT near.oid, lower(word[1]) AS name FROM near, regexp_matches(prosrc, '([[:alnum:]_$]+)"?[[:space:]]*[(]', 'g') AS word
    )
    SELECT oid, string_agg(reason, '; ' ORDER BY n, reason) FROM (
        SELECT oid, 1, 'declares, takes or returns integers' FROM near WHERE prosrc ~* '[[:<:]](smallint|int2|integer|int|int4)[[:>:]]'
            OR types && '{int2,int4,int2[],int4[]}'::regtype[]::oid[]
        UNION ALL
        SELECT calls.oid, 2, 'calls ' || q.oid::regprocedure FROM calls JOIN pg_proc AS q ON lower(proname) = calls.name
        WHERE q.oid <> calls.oid AND pronamespace <> 'pg_catalog'::regnamespace AND proargtypes::oid[] && '{int2,int4,int2[],int4[]}'::regtype[]::oid[]
        UNION ALL
        SELECT DISTINCT near.oid, 2, format('calls %s(integer,integer)', lower(word[1])) FROM near, regexp_matches(prosrc,
            '(pg_(?:try_)?advisory_(?:xact_)?(?:un)?lock(?:_shared)?)[[:space:]]*[(](?:[^(),]|[(](?:[^()]|[(][^()]*[)])*[)])*,(?![[:space:]]*(?:hashtext|[0-9]))', 'gi') AS word
        UNION ALL
        SELECT p.oid, 1, 'takes integers' FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = pronamespace, words_of_keys
        WHERE key_words IS NOT NULL AND p.oid NOT IN (SELECT near.oid FROM near) AND nspname NOT LIKE 'pg!_%' ESCAPE '!'
            AND nspname NOT IN ('information_schema', 'snowdrift', 'snowdrift_tables') AND prokind IN ('f', 'p')
            AND EXISTS (SELECT FROM unnest(coalesce(proallargtypes, proargtypes::oid[]), proargnames, proargmodes) AS a(type, name, mode)
                WHERE type IN ('int2'::regtype, 'int4'::regtype) AND coalesce(mode, 'i') IN ('i', 'b', 'v') AND snowdrift.is_reference(regexp_replace(name, '^(p|in|v)?_', ''), key_words))
            AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = p.oid AND deptype = 'e')
        UNION ALL
        SELECT p.oid, 1, format('returns integers, and is called by %s', min(regexp_replace(pg_describe_object(d.classid, d.objid, d.objsubid), '^rule "?_RETURN"? on ', '')))
        FROM keys JOIN pg_depend AS d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = "table" AND d.refobjsubid = number
            JOIN pg_depend AS f ON f.classid = d.classid AND f.objid = d.objid AND f.refclassid = 'pg_proc'::regclass JOIN pg_proc AS p ON p.oid = f.refobjid
            LEFT JOIN pg_rewrite AS r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid AND rulename = '_RETURN'
        WHERE prorettype IN ('int2'::regtype, 'int4'::regtype, 'int2[]'::regtype, 'int4[]'::regtype) AND pronamespace <> 'pg_catalog'::regnamespace AND p.oid NOT IN (SELECT near.oid FROM near)
            AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = p.oid AND deptype = 'e')
            AND (ev_class IS NULL OR pg_get_viewdef(ev_class) ~ format('[[:<:]]%1$s"?[)]* (%2$s|IN)( ANY)? [( ]*(SELECT |COALESCE[(])?([^ ().]+[.])?"?%3$s"?[(]'
                || '|[[:<:]]%3$s"?[(]([^()]|[(]([^()]|[(][^()]*[)])*[)])*[)]( AS [^ ()]+)?[ )]*(%2$s) [( ]*([^ ().]+[.])?"?%1$s[[:>:]]',
                keys.name, '[<=>]+|IS (NOT )?DISTINCT FROM', regexp_replace(proname, '[^[:alnum:]_]', '.', 'g')))    -- compared with a key
        GROUP BY p.oid
        UNION ALL
        SELECT words.oid, 3, reason FROM words JOIN named ON relname = word
    ) AS r(oid, n, reason)
    GROUP BY oid;
END
$sql$;

-- Views that name a table with new keys, and declare integers for the rows of a function, as crosstab() needs
EXECUTE $sql$
CREATE OR REPLACE FUNCTION snowdrift.views_of_integers(plan snowdrift.conversion, OUT view oid, OUT "table" oid) RETURNS SETOF record LANGUAGE sql STABLE
BEGIN ATOMIC
    WITH near AS MATERIALIZED (
        SELECT DISTINCT (member)."table" AS oid FROM snowdrift.with_inheriting(snowdrift.with_referring((plan).new_keys))
    )
    SELECT DISTINCT ON (ev_class) ev_class, c.oid FROM pg_rewrite, regexp_matches(pg_get_viewdef(ev_class), '[[:alnum:]_$]+', 'g') AS word
        JOIN pg_class AS c ON relname = word[1] JOIN near ON near.oid = c.oid
    WHERE rulename = '_RETURN' AND ev_action::text ~ ':funccoltypes [(]o [^)]*[[:<:]](21|23)[[:>:]]' ORDER BY ev_class, c.oid;
END
$sql$;

-- Functions that use a sequence that the conversion drops: by its name, or with a function that finds it without its name
EXECUTE $sql$
CREATE OR REPLACE FUNCTION snowdrift.functions_of_sequences(plan snowdrift.conversion, OUT function oid, OUT reason text) RETURNS SETOF record LANGUAGE sql STABLE
BEGIN ATOMIC
    WITH sequences AS MATERIALIZED (
        SELECT c.oid, lower(relname) AS relname FROM snowdrift.unused_sequences(plan) JOIN pg_class AS c ON c.oid = sequence
    ), words AS MATERIALIZED (
        SELECT DISTINCT p.oid, lower(word[1]) AS word FROM pg_proc AS p JOIN pg_language AS l ON l.oid = prolang,
            regexp_matches(prosrc, '[[:alnum:]_$]+', 'g') AS word
        WHERE lanname NOT IN ('internal', 'c') AND prosqlbody IS NULL AND EXISTS (SELECT FROM sequences)
            AND pronamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace, 'snowdrift'::regnamespace, 'snowdrift_tables'::regnamespace)
    )
    SELECT words.oid, 'uses ' || string_agg(s.oid::regclass::text, ', ' ORDER BY s.oid) FROM words JOIN sequences AS s ON relname = word GROUP BY words.oid
    UNION ALL
    SELECT f.function, 'calls ' || string_agg(word, ' and ' ORDER BY word) FROM snowdrift.functions_near(plan) AS f JOIN words ON words.oid = f.function
    WHERE word IN ('lastval', 'pg_get_serial_sequence') GROUP BY f.function;
END
$sql$;

-- Whether an expression casts a text, a JSON value, or a column of a longer integer type (or its max or min) to smallint or integer, or
-- to an array of them. Counts, truth values and parts of times are no keys. Casts of other expressions of keys are not found.
CREATE OR REPLACE FUNCTION snowdrift.casts_to_integer(expression text) RETURNS boolean LANGUAGE sql STABLE
    RETURN expression ~ (SELECT format(':resulttype (21|23|1005|1007) :resultcollid|:funcid (%s|%s) |:funcid (%s|%s|%s) [^{]*:args [(][{](VAR|AGGREF :aggfnoid (%s|%s)) ',
        'int2(jsonb)'::regprocedure::oid, 'int4(jsonb)'::regprocedure::oid, 'int2(int4)'::regprocedure::oid, 'int2(int8)'::regprocedure::oid,
        'int4(int8)'::regprocedure::oid, 'max(int8)'::regprocedure::oid, 'min(int8)'::regprocedure::oid));

-- The parsed expressions of an object
CREATE OR REPLACE FUNCTION snowdrift.expressions_of(class oid, object oid) RETURNS text LANGUAGE sql STABLE
    RETURN CASE class WHEN 'pg_rewrite'::regclass THEN (SELECT concat(ev_action, ev_qual) FROM pg_rewrite WHERE oid = object)
        WHEN 'pg_attrdef'::regclass THEN (SELECT adbin::text FROM pg_attrdef WHERE oid = object)
        WHEN 'pg_constraint'::regclass THEN (SELECT conbin::text FROM pg_constraint WHERE oid = object)
        WHEN 'pg_policy'::regclass THEN (SELECT concat(polqual, polwithcheck) FROM pg_policy WHERE oid = object)
        WHEN 'pg_trigger'::regclass THEN (SELECT tgqual::text FROM pg_trigger WHERE oid = object)
        WHEN 'pg_proc'::regclass THEN (SELECT prosqlbody::text FROM pg_proc WHERE oid = object)
        WHEN 'pg_class'::regclass THEN coalesce((SELECT concat(indexprs, indpred) FROM pg_index WHERE indexrelid = object),
            (SELECT ev_action::text FROM pg_rewrite WHERE ev_class = object AND rulename = '_RETURN')) END;

-- What casts keys and their references to integers, compares them with a number that is less than new keys, formats them to a width,
-- or asks for the last number of a sequence
EXECUTE $sql$
CREATE OR REPLACE FUNCTION snowdrift.narrow_expressions(plan snowdrift.conversion, OUT object text, OUT reason text) RETURNS SETOF record LANGUAGE sql STABLE
BEGIN ATOMIC
    WITH keys AS MATERIALIZED (
        SELECT member, concat('[[:<:]]', name, '"?([)]::[a-z ]+|, [0-9]+|[)])* <=? [(]*''?[0-9]{1,17}([^0-9.]|$)|[( ][0-9]{1,17}[)]*(::[a-z]+)? >=? [(]*([^ ().]+[.])?"?', name, '[[:>:]]') AS limited,
            '(lpad|to_char|"?left"?|"?right"?|"?substr(ing)?"?)[[:space:]]*[(]([([:space:]]|(cast|max|min)[(])*([[:alnum:]_$"]+[)]?[.])?"?' || name
            || '"?([)[:space:]]|::[a-z ]+|as [a-z ]+)*(,|[[:<:]]from)(?![[:space:]]*(1(,| for)[[:space:]]*)?(19|[2-9][0-9]|1[0-9][0-9]|''([^''09]*[09]){19}))' AS formatted
        FROM snowdrift.with_inheriting(snowdrift.with_referring((plan).new_keys)) JOIN pg_attribute ON attrelid = (member)."table" AND attnum = (member).number,
            LATERAL (SELECT regexp_replace(attname, '[^[:alnum:]_]', '.', 'g')) AS n(name)
    ), bodies AS MATERIALIZED (
        SELECT p.oid, coalesce(pg_get_function_sqlbody(p.oid), prosrc) AS body FROM snowdrift.functions_near(plan) JOIN pg_proc AS p ON p.oid = function
    )
    SELECT DISTINCT CASE WHEN ev_class IS NULL THEN pg_describe_object(classid, objid, objsubid) WHEN rulename = '_RETURN' THEN pg_describe_object('pg_class'::regclass, ev_class, 0)
            ELSE pg_describe_object('pg_rewrite'::regclass, objid, 0) END, reason
    FROM keys
        JOIN pg_depend AS d ON refclassid = 'pg_class'::regclass AND refobjid = (member)."table" AND refobjsubid = (member).number
        LEFT JOIN pg_rewrite AS r ON classid = 'pg_rewrite'::regclass AND r.oid = objid
        LEFT JOIN pg_attrdef AS a ON classid = 'pg_attrdef'::regclass AND a.oid = objid
        LEFT JOIN pg_attribute AS g ON attrelid = adrelid AND attnum = adnum AND (attgenerated <> '' OR member <> ALL ((plan).new_keys))
        LEFT JOIN pg_constraint AS c ON classid = 'pg_constraint'::regclass AND c.oid = objid AND contype = 'c',
        LATERAL (SELECT coalesce(pg_get_constraintdef(c.oid), CASE WHEN g.attnum IS NOT NULL THEN pg_get_expr(adbin, adrelid) END, CASE classid WHEN 'pg_class'::regclass THEN pg_get_indexdef(objid) WHEN 'pg_proc'::regclass THEN pg_get_function_sqlbody(objid)
                WHEN 'pg_trigger'::regclass THEN pg_get_triggerdef(objid)
                WHEN 'pg_policy'::regclass THEN (SELECT concat(pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid)) FROM pg_policy WHERE oid = objid) END,
            CASE rulename WHEN '_RETURN' THEN pg_get_viewdef(ev_class) END)) AS t(text),
        LATERAL (VALUES (snowdrift.casts_to_integer(snowdrift.expressions_of(classid, objid)), 'cast'),
            (attgenerated <> '' AND g.atttypid IN ('int2'::regtype, 'int4'::regtype), 'cast'),
            (c.oid IS NOT NULL AND text ~ limited AND text !~ '[[:<:]]num_(non)?nulls[(]', 'limit'),
            (text ~* formatted, 'width')) AS e(is_narrow, reason)
    WHERE is_narrow AND coalesce(c.coninhcount, g.attinhcount, 0) = 0 AND NOT EXISTS (SELECT FROM pg_inherits WHERE classid = 'pg_class'::regclass AND inhrelid = objid)
    UNION SELECT pg_describe_object(class, object, part), 'cast' FROM unnest((plan).dependents) WHERE snowdrift.casts_to_integer(snowdrift.expressions_of(class, object))    -- also views of views
    UNION SELECT pg_describe_object('pg_proc'::regclass, bodies.oid, 0), 'width' FROM bodies JOIN keys ON body ~* formatted
    UNION SELECT pg_describe_object(class, e.oid, 0), 'last number' FROM (SELECT DISTINCT (member)."table" FROM keys) AS t,
        LATERAL (SELECT 'pg_attrdef'::regclass, oid, pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = "table"
            UNION ALL SELECT 'pg_rewrite'::regclass, oid, pg_get_ruledef(oid) FROM pg_rewrite WHERE ev_class = "table") AS e(class, oid, text)
    WHERE text ~ '[[:<:]]lastval[(]' OR text ~ '[[:<:]]currval[(]' AND EXISTS (SELECT FROM snowdrift.owned_sequences(ARRAY(SELECT member FROM snowdrift.with_inheriting((plan).new_keys))) AS o
        JOIN pg_depend ON classid = class AND objid = e.oid AND refclassid = 'pg_class'::regclass AND refobjid = o.sequence);
END
$sql$;

-- The function that new keys call, and the one that it calls in the SQL edition
EXECUTE $sql$
CREATE OR REPLACE FUNCTION snowdrift.generator_functions(plan snowdrift.conversion) RETURNS regprocedure[] LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT f || ARRAY(SELECT refobjid::regprocedure FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = f AND refclassid = classid)
    FROM (VALUES (CASE WHEN (plan).call LIKE '%()' THEN 'public.next_snowflake()'::regprocedure ELSE 'public.next_snowflake(text)'::regprocedure END)) AS v(f);
END
$sql$;

-- The roles that may insert into a table with new keys, but not call the generator
EXECUTE $sql$
CREATE OR REPLACE FUNCTION snowdrift.roles_without_generator(plan snowdrift.conversion, OUT "table" oid, OUT role text) RETURNS SETOF record LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT k."table", snowdrift.grantee_name(r) FROM unnest((plan).new_keys) AS k, snowdrift.inserting_roles(k."table") AS r
    WHERE EXISTS (SELECT FROM unnest(snowdrift.generator_functions(plan)) AS f
        WHERE NOT CASE r WHEN 0 THEN has_function_privilege('public', f::oid, 'EXECUTE') ELSE has_function_privilege(r, f::oid, 'EXECUTE') END);
END
$sql$;

-- One line per risk, as a comment in SQL: the kind, the object, what will happen, and what to do.
CREATE OR REPLACE FUNCTION snowdrift.conversion_risks(plan snowdrift.conversion, dry_run boolean) RETURNS SETOF text
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off SET jit = off AS $$
#variable_conflict use_column
BEGIN
    IF cardinality(plan."tables") = 0 THEN
        RETURN;
    END IF;
    RETURN QUERY SELECT regexp_replace('-- warning: ' || text, '[[:cntrl:]]', ' ', 'g') FROM (
        SELECT 1 AS kind, m."table" AS o, m.number::text AS n, format('partition key: column %I of table %s: new keys are far above the old ones; create partitions for them%s, before or in the same transaction',
            attname, attrelid::regclass, CASE partstrat WHEN 'r' THEN ' with snowdrift.create_partitions() and its argument layout' END) AS text
        FROM snowdrift.partitioned_by_new_keys(plan) AS m JOIN pg_attribute ON attrelid = m."table" AND attnum = m.number JOIN pg_partitioned_table ON partrelid = attrelid
        UNION ALL
        SELECT 2, column_of, number::text, format('no foreign key: column %I of table %s: new keys raise 22003; if it refers to a converted key, run ALTER TABLE %s ALTER COLUMN %I TYPE %s;',
            name, column_of::regclass, column_of::regclass, name,
            CASE WHEN atttypid IN ('int2[]'::regtype, 'int4[]'::regtype) THEN 'bigint[]' ELSE 'bigint' END)
        FROM snowdrift.narrow_columns(plan) JOIN pg_attribute ON attrelid = column_of AND attnum = number WHERE is_reference
        UNION ALL
        SELECT 2, column_of, number::text, format('short column: column %I of table %s: it has room for %s digits, and new keys can have 19', attname, column_of::regclass, digits)
        FROM snowdrift.short_columns(plan) JOIN pg_attribute ON attrelid = column_of AND attnum = number
        UNION ALL
        SELECT 3, function, '', format('integers in a function: %s: new keys can raise an error, because it %s; use bigint there', function::regprocedure, reason)
        FROM snowdrift.integers_in_functions(plan)
        UNION ALL
        SELECT 4, function, '', format('open connections: %s: sessions that have run it raise 42804 until they reconnect; as role %s, run %s;',
            function::regprocedure, owner::regrole, statement)
        FROM snowdrift.functions_to_replan(plan) WHERE NOT is_allowed
        UNION ALL
        SELECT 3, view, '', format('integers in a view: %s: new keys can raise an error there, because it names table %s and declares integers for the result of a function; use bigint there',
            view::regclass, v."table"::regclass)
        FROM snowdrift.views_of_integers(plan) AS v
        UNION ALL
        SELECT 3, function, 'sequence', format('dropped sequence: %s: it can fail after the conversion, because it %s; use RETURNING, or %s',
            function::regprocedure, reason, plan.call)
        FROM snowdrift.functions_of_sequences(plan)
        UNION ALL
        SELECT 5, NULL, object, format(CASE reason WHEN 'cast' THEN 'cast to integer: %s: casting a new key there, or comparing one with the result, raises 22003; use bigint there before the conversion'
            WHEN 'limit' THEN 'limit: %s: its number is small, so new keys can violate it; raise the number'
            WHEN 'last number' THEN 'last number: %s: it calls currval or lastval, which raise 55000 or return an old number; use a trigger with the new row'
            ELSE 'fixed width: %s: it can shorten new keys, so that they become equal, or show ##; use 19 digits' END, object)
        FROM snowdrift.narrow_expressions(plan)
        UNION ALL
        SELECT 0, p."table", role, format('privilege: table %s: role %s may insert rows, but not draw keys; run GRANT EXECUTE ON FUNCTION %s TO %s;',
            p."table"::regclass, role, array_to_string(snowdrift.generator_functions(plan), ', '), role)
        FROM snowdrift.roles_without_generator(plan) AS p
        UNION ALL
        SELECT 6, k."table", '', format('keys not checked: table %s: row-level security hides rows from a dry run; the conversion compares the keys', k."table"::regclass)
        FROM unnest(plan.new_keys) AS k WHERE dry_run AND k."table" IN (SELECT snowdrift.forced_tables(plan))
    ) AS r ORDER BY kind, o, n;
END $$;

-- Conversion of keys: the statements. These functions read the catalog and change nothing.

-- The statements that give a new object its owner and privileges. It has the default privileges of the role that creates it,
-- which can be any role, so those of all roles are revoked first. type: as in ALTER; kind: as in pg_default_acl.
EXECUTE $sql$
CREATE OR REPLACE FUNCTION snowdrift.ownership_statements(type text, name text, kind "char", namespace oid, owner oid, acl aclitem[]) RETURNS SETOF text
    LANGUAGE sql STABLE
BEGIN ATOMIC
    WITH default_acl AS (
        SELECT defaclacl FROM pg_default_acl WHERE defaclobjtype = kind AND defaclnamespace IN (0, namespace)
    ), revoked AS (
        SELECT grantee FROM aclexplode(acldefault(kind, owner))
        UNION SELECT grantee FROM default_acl, aclexplode(defaclacl)
    ), granted AS (
        SELECT grantee, is_grantable, string_agg(privilege_type, ', ' ORDER BY privilege_type) AS privileges
        FROM aclexplode(coalesce(acl, acldefault(kind, owner))) GROUP BY grantee, is_grantable
    ), object(name) AS (    -- none if it keeps the privileges of new objects
        SELECT concat(CASE kind WHEN 'f' THEN type || ' ' END, name) WHERE acl IS NOT NULL OR EXISTS (SELECT FROM default_acl)
    ), statements(step, grantee, statement) AS (
        SELECT 1, 0::oid, format('ALTER %s %s OWNER TO %s', type, name, owner::regrole)
        UNION ALL
        SELECT 2, 0::oid, format('REVOKE ALL ON %s FROM %s', object.name,
            (SELECT string_agg(snowdrift.grantee_name(grantee), ', ' ORDER BY grantee) FROM revoked))
        FROM object
        UNION ALL
        SELECT 3, grantee, format('GRANT %s ON %s TO %s%s', privileges, object.name, snowdrift.grantee_name(grantee),
            CASE WHEN is_grantable THEN ' WITH GRANT OPTION' END)
        FROM object, granted
    )
    SELECT statement FROM statements ORDER BY step, grantee, statement;
END
$sql$;

-- The statements that create a view, a materialized view, a trigger or a policy with all its properties.
CREATE OR REPLACE FUNCTION snowdrift.statements_to_create(d snowdrift.dependent) RETURNS SETOF text
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off
    SET timezone = 'UTC' SET datestyle = ISO SET intervalstyle = postgres SET extra_float_digits = 3 AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY WITH view AS (
        SELECT *, oid::regclass AS name, CASE relkind WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE 'VIEW' END AS type
        FROM pg_class WHERE d.class = 'pg_class'::regclass AND oid = d.object
    ), statements(step, subject, statement) AS (
        SELECT 1, 0::oid, format(E'CREATE %s %s%s AS\n%s%s', type, name,
            (SELECT format(' WITH (%s)', string_agg(format('%I = %L', option_name, option_value), ', '))
                FROM pg_options_to_table(reloptions) HAVING count(*) > 0),
            rtrim(pg_get_viewdef(oid), ';'), CASE relkind WHEN 'm' THEN E'\nWITH NO DATA' END) FROM view
        UNION ALL
        SELECT 2, n::oid, s
        FROM view, snowdrift.ownership_statements(type, name::text, 'r', relnamespace, relowner, relacl) WITH ORDINALITY AS t(s, n)
        UNION ALL
        SELECT 3, grantee, format('GRANT %s ON %s TO %s%s',
            string_agg(format('%s (%I)', privilege_type, attname), ', ' ORDER BY attnum, privilege_type), name,
            snowdrift.grantee_name(grantee), CASE WHEN is_grantable THEN ' WITH GRANT OPTION' END)
        FROM view JOIN pg_attribute ON attrelid = oid, aclexplode(attacl) GROUP BY name, grantee, is_grantable
        UNION ALL
        SELECT 4, objsubid::oid, format('COMMENT ON %s IS %L', CASE objsubid WHEN 0 THEN format('%s %s', type, name) ELSE
            format('COLUMN %s.%I', name, (SELECT attname FROM pg_attribute WHERE attrelid = oid AND attnum = objsubid)) END,
            description)
        FROM pg_description JOIN view ON objoid = oid WHERE classoid = 'pg_class'::regclass
    )
    SELECT statement FROM statements ORDER BY step, subject, statement;

    RETURN QUERY SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE d.class = 'pg_trigger'::regclass AND oid = d.object;
    RETURN QUERY WITH RECURSIVE copies AS (
        SELECT * FROM pg_trigger WHERE d.class = 'pg_trigger'::regclass AND oid = d.object
        UNION ALL SELECT t.* FROM pg_trigger AS t JOIN copies ON t.tgparentid = copies.oid
    )
    SELECT format('ALTER TABLE ONLY %s %s TRIGGER %I', snowdrift.qualified_name(tgrelid),
        CASE tgenabled WHEN 'D' THEN 'DISABLE' WHEN 'R' THEN 'ENABLE REPLICA' WHEN 'A' THEN 'ENABLE ALWAYS' ELSE 'ENABLE' END, tgname)
    FROM copies WHERE tgenabled <> 'O' OR EXISTS (SELECT FROM copies AS c WHERE tgenabled <> 'O');

    RETURN QUERY SELECT concat(format('CREATE POLICY %I ON %s AS %s FOR %s TO %s', polname, snowdrift.qualified_name(polrelid),
            CASE WHEN polpermissive THEN 'PERMISSIVE' ELSE 'RESTRICTIVE' END,
            CASE polcmd WHEN 'r' THEN 'SELECT' WHEN 'a' THEN 'INSERT' WHEN 'w' THEN 'UPDATE' WHEN 'd' THEN 'DELETE' ELSE 'ALL' END,
            (SELECT string_agg(snowdrift.grantee_name(role), ', ') FROM unnest(polroles) AS role)),
        ' USING (' || pg_get_expr(polqual, polrelid) || ')', ' WITH CHECK (' || pg_get_expr(polwithcheck, polrelid) || ')')
    FROM pg_policy WHERE d.class = 'pg_policy'::regclass AND oid = d.object;

    RETURN QUERY SELECT format('COMMENT ON %s IS %L', CASE d.class WHEN 'pg_trigger'::regclass
            THEN (SELECT format('TRIGGER %I ON %s', tgname, snowdrift.qualified_name(tgrelid)) FROM pg_trigger WHERE oid = d.object)
            ELSE (SELECT format('POLICY %I ON %s', polname, snowdrift.qualified_name(polrelid)) FROM pg_policy WHERE oid = d.object) END,
        description)
    FROM pg_description WHERE classoid = d.class AND objoid = d.object AND d.class <> 'pg_class'::regclass;
END $$;

-- The statements that change what generates the keys. They take little time, and run before those that rewrite tables, so
-- that their errors occur early. Several keys can use a sequence, so all defaults change before a sequence is dropped.
-- DROP IDENTITY drops one while defaults change, so the defaults that use it are dropped first.
CREATE OR REPLACE FUNCTION snowdrift.default_statements(plan snowdrift.conversion) RETURNS SETOF text
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
    members CONSTANT snowdrift.key_column[] := ARRAY(SELECT member FROM snowdrift.with_inheriting(plan.new_keys));
BEGIN
    RETURN QUERY SELECT format('ALTER TABLE %s ALTER COLUMN %I DROP DEFAULT', snowdrift.qualified_name(attrelid), attname)
    FROM snowdrift.key_defaults(members, plan.call) JOIN pg_attribute ON attrelid = (key)."table" AND attnum = (key).number
    WHERE sequence IN (SELECT u.sequence FROM snowdrift.unused_sequences(plan) AS u WHERE is_identity) ORDER BY key;

    RETURN QUERY SELECT format('ALTER TABLE %s %sALTER COLUMN %I %s', snowdrift.qualified_name(attrelid),
        CASE WHEN member = root AND attidentity <> '' THEN format('ALTER COLUMN %I DROP IDENTITY, ', attname) END, attname,
        CASE WHEN member = root THEN 'SET DEFAULT ' || plan.call ELSE 'DROP IDENTITY' END)
    FROM snowdrift.with_inheriting(plan.new_keys) JOIN pg_attribute ON attrelid = (member)."table" AND attnum = (member).number
        JOIN pg_class AS c ON c.oid = attrelid
    WHERE member = root OR (attidentity <> '' AND NOT (relispartition AND current_setting('server_version_num')::integer >= 170000))
    ORDER BY root, member = root, member;

    RETURN QUERY SELECT format('DROP SEQUENCE %s', snowdrift.qualified_name(sequence)) FROM snowdrift.unused_sequences(plan) WHERE NOT is_identity;
END $$;

-- The tables whose row-level security hides rows from the caller, who owns them
EXECUTE $sql$
CREATE OR REPLACE FUNCTION snowdrift.forced_tables(plan snowdrift.conversion) RETURNS SETOF oid LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT relation FROM snowdrift.with_heirs((plan)."tables") AS relation JOIN pg_class ON pg_class.oid = relation
    WHERE relrowsecurity AND relforcerowsecurity AND NOT (SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user) ORDER BY relation;
END
$sql$;

-- The views, triggers and policies to create again, in this order
EXECUTE $sql$
CREATE OR REPLACE FUNCTION snowdrift.again(plan snowdrift.conversion, OUT n bigint, OUT again snowdrift.dependent) RETURNS SETOF record LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT row_number() OVER (ORDER BY max(level), class = 'pg_class'::regclass DESC, class, object DESC),
        ROW(class, object, part, 0, 0, 0, false, max(level))::snowdrift.dependent
    FROM unnest((plan).dependents) GROUP BY class, object, part;
END
$sql$;

-- Drop the views, triggers and policies that depend on the columns.
CREATE OR REPLACE FUNCTION snowdrift.statements_before(plan snowdrift.conversion) RETURNS SETOF text
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
BEGIN
    RETURN QUERY SELECT dropped FROM snowdrift.again(plan), snowdrift.statements_for((again).class, (again).object, (again).part)
        ORDER BY (again).level DESC, n DESC;
END $$;

-- Create them again, and let sessions plan functions again. path: the caller's search path.
CREATE OR REPLACE FUNCTION snowdrift.statements_after(plan snowdrift.conversion, path text) RETURNS SETOF text
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
BEGIN
    IF cardinality(plan.dependents) > 0 THEN
        RETURN NEXT 'SET LOCAL search_path = pg_catalog, pg_temp';
        RETURN QUERY SELECT s FROM snowdrift.again(plan), snowdrift.statements_to_create(again) WITH ORDINALITY AS t(s, m) ORDER BY n, m;
        RETURN NEXT format('SELECT pg_catalog.set_config(''search_path'', %L, true)', path);
    END IF;
    -- Sessions that have run a PL/pgSQL function plan it again after this, and otherwise raise 42804.
    RETURN QUERY SELECT statement FROM snowdrift.functions_to_replan(plan) WHERE is_allowed ORDER BY statement;
END $$;

-- All statements of a conversion. path: the caller's search path.
CREATE OR REPLACE FUNCTION snowdrift.conversion_statements(plan snowdrift.conversion, path text) RETURNS SETOF text
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
    rewritten CONSTANT oid[] := ARRAY(SELECT DISTINCT "table" FROM unnest(plan.members));
BEGIN
    IF cardinality(plan."tables") = 0 THEN
        RETURN;
    END IF;
    RETURN QUERY SELECT * FROM snowdrift.statements_before(plan);
    RETURN NEXT snowdrift.lock_statement(plan, 'ACCESS EXCLUSIVE');
    -- Forced row-level security would hide rows when PostgreSQL checks foreign keys again.
    RETURN QUERY SELECT format('ALTER TABLE %s NO FORCE ROW LEVEL SECURITY', snowdrift.qualified_name(oid)) FROM snowdrift.forced_tables(plan) AS oid;
    RETURN QUERY SELECT * FROM snowdrift.default_statements(plan);
    RETURN QUERY SELECT format('ALTER TABLE %s %s', snowdrift.qualified_name(attrelid),
        string_agg(format('ALTER COLUMN %I TYPE bigint', attname), ', ' ORDER BY attnum))
    FROM unnest(plan.widened) AS w JOIN pg_attribute ON attrelid = w."table" AND attnum = w.number GROUP BY attrelid ORDER BY attrelid;
    RETURN QUERY SELECT format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', snowdrift.qualified_name(oid)) FROM snowdrift.forced_tables(plan) AS oid;
    -- PostgreSQL does not keep these when it builds objects again.
    RETURN QUERY SELECT format('ALTER INDEX %s ALTER COLUMN %s SET STATISTICS %s', snowdrift.qualified_name(indexrelid), attnum, attstattarget)
    FROM pg_index JOIN pg_attribute ON attrelid = indexrelid JOIN pg_class AS c ON c.oid = indexrelid
    WHERE indrelid = ANY (rewritten) AND attstattarget >= 0 AND indexprs IS NOT NULL AND NOT relispartition ORDER BY indexrelid, attnum;
    RETURN QUERY SELECT format('ALTER STATISTICS %I.%I SET STATISTICS %s', nspname, stxname, stxstattarget)
    FROM pg_statistic_ext AS s JOIN pg_namespace AS n ON n.oid = stxnamespace
    WHERE stxrelid = ANY (rewritten) AND stxstattarget >= 0 ORDER BY s.oid;
    RETURN QUERY SELECT * FROM snowdrift.statements_after(plan, path);
    RETURN QUERY SELECT * FROM snowdrift.watch_statements(plan.new_keys);
END $$;

-- A watch depends on what draws the key.
CREATE OR REPLACE FUNCTION snowdrift.watch_statements(keys snowdrift.key_column[]) RETURNS SETOF text
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
    heir regclass;
BEGIN
    SELECT (member)."table" INTO heir FROM snowdrift.with_inheriting(keys)
    WHERE member <> root AND EXISTS (SELECT FROM snowdrift.watches((member)."table") AS w WHERE w.number = (member).number) ORDER BY member LIMIT 1;
    IF FOUND THEN
        RAISE 'table "%" is watched', snowdrift.plain_name(heir) USING ERRCODE = '0A000',
            HINT = format('Call snowdrift.unwatch(%L) first. Afterwards, watch it again, or its partitioned table.', heir);
    END IF;
    RETURN QUERY SELECT format('SELECT snowdrift.watch(%L, %L)', snowdrift.qualified_name(attrelid), attname)
    FROM unnest(keys) AS k JOIN pg_attribute ON attrelid = k."table" AND attnum = k.number
    WHERE EXISTS (SELECT FROM snowdrift.watches(attrelid) AS w WHERE w.number = attnum) ORDER BY k;
END $$;

CREATE OR REPLACE FUNCTION snowdrift.lock_statement(plan snowdrift.conversion, mode text) RETURNS text
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
BEGIN
    RETURN (SELECT format('LOCK TABLE %s IN %s MODE', string_agg(snowdrift.qualified_name(t), ', ' ORDER BY n), mode)
        FROM unnest(plan."tables") WITH ORDINALITY AS u(t, n) HAVING count(*) > 0);
END $$;

-- Conversion of keys: what users call, and the execution of the statements. They run with the caller's rights and search
-- path, on which the functions of users' indexes, triggers and constraints rely. Functions that execute them therefore set
-- no search path, and qualify all names.

-- The schemas whose names the statements contain, as "OID name"
CREATE OR REPLACE FUNCTION snowdrift.schemas_of(plan snowdrift.conversion) RETURNS text[]
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN
    RETURN ARRAY(
        WITH names(nspname) AS (
            SELECT nspname FROM snowdrift.with_heirs(plan."tables" || ARRAY(SELECT object FROM unnest(plan.dependents)
                WHERE class = 'pg_class'::regclass)) AS relation JOIN pg_class AS c ON c.oid = relation JOIN pg_namespace AS n ON n.oid = relnamespace
            UNION SELECT (parse_ident(schema))[1] FROM unnest(plan.dependents) AS d
                JOIN pg_rewrite AS r ON class = 'pg_class'::regclass AND ev_class = object
                JOIN pg_depend ON classid = 'pg_rewrite'::regclass AND objid = r.oid, pg_identify_object(refclassid, refobjid, 0)
            WHERE schema IS NOT NULL
            UNION SELECT (parse_ident(plan.call, false))[1]
        )
        SELECT format('%s %s', n.oid, n.nspname) FROM names JOIN pg_namespace AS n ON n.nspname = names.nspname WHERE NOT pg_is_other_temp_schema(n.oid) ORDER BY n.oid);
END $$;

-- Ensure that schemas still have their names: ALTER SCHEMA ... RENAME does not wait for locks of the tables in it.
CREATE OR REPLACE FUNCTION snowdrift.check_schemas(schemas text[]) RETURNS void
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    renamed CONSTANT text := (SELECT min(s) FROM unnest(schemas) AS s
        WHERE NOT EXISTS (SELECT FROM pg_namespace WHERE oid = split_part(s, ' ', 1)::oid AND nspname = substr(s, strpos(s, ' ') + 1)));
BEGIN
    IF renamed IS NOT NULL THEN
        RAISE 'schema "%" was renamed during the conversion', substr(renamed, strpos(renamed, ' ') + 1)
            USING ERRCODE = '55000', HINT = 'Convert the keys again.';
    END IF;
END $$;

-- Estimate the locks that a conversion needs: those of tables, indexes and TOAST tables, of their new versions, and of the
-- objects that PostgreSQL drops to create them again.
-- PostgreSQL keeps some room above the nominal size, which all databases of the server share.
CREATE OR REPLACE FUNCTION snowdrift.check_locks(plan snowdrift.conversion) RETURNS void
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    slots CONSTANT integer := current_setting('max_connections')::integer + current_setting('max_prepared_transactions')::integer
        + coalesce(current_setting('autovacuum_worker_slots', true), current_setting('autovacuum_max_workers'))::integer + 1
        + current_setting('max_worker_processes')::integer + current_setting('max_wal_senders')::integer;
    size CONSTANT integer := slots * current_setting('max_locks_per_transaction')::integer;
    needed bigint;
BEGIN
    SELECT count(*) + 2 * cardinality(plan.new_keys)    -- with their sequences and defaults
        + sum(CASE WHEN is_rewritten THEN 6 + indexes + changed + CASE WHEN reltoastrelid <> 0 THEN 4 ELSE 0 END ELSE indexes END)
        + 13 * (SELECT count(DISTINCT c.oid) FROM pg_constraint AS c, unnest(conkey, confkey) AS u(f, t)    -- 5 constraints, 8 triggers
            WHERE contype = 'f' AND ((conrelid, f) IN (SELECT m."table", m.number FROM unnest(plan.members) AS m)
                OR (confrelid, t) IN (SELECT m."table", m.number FROM unnest(plan.members) AS m)))
    INTO needed
    FROM (SELECT reltoastrelid, relation = ANY (ARRAY(SELECT m."table" FROM unnest(plan.members) AS m)) AS is_rewritten,
            (SELECT count(*) FROM pg_index WHERE indrelid = relation) AS indexes,
            (SELECT count(*) FROM pg_index WHERE indrelid = relation AND (indexprs IS NOT NULL OR indpred IS NOT NULL
                OR EXISTS (SELECT FROM unnest(plan.members) AS m WHERE m."table" = relation AND m.number = ANY (indkey)))) AS changed
        FROM snowdrift.with_heirs(plan."tables") AS relation JOIN pg_class ON oid = relation) AS r;
    IF needed > size THEN
        RAISE 'the conversion needs about % locks, and the server has room for %', needed, size USING ERRCODE = '53200',
            HINT = format('Set max_locks_per_transaction to %s or more and restart the server, or convert the tables in several calls.', needed * 2 / slots);
    ELSIF needed > size / 2 THEN
        RAISE NOTICE 'the conversion needs about % locks, and the server has room for %', needed, size
            USING DETAIL = 'Statements of other sessions, also in other databases, raise an error when the room is used up.',
                HINT = format('Set max_locks_per_transaction to %s or more and restart the server, or convert the tables in several calls.', needed * 2 / slots);
    END IF;
END $$;

-- Report the effects that users must know.
CREATE OR REPLACE FUNCTION snowdrift.report_conversion(plan snowdrift.conversion, tables oid[], risks text[]) RETURNS void
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
    members CONSTANT snowdrift.key_column[] := ARRAY(SELECT member FROM snowdrift.with_inheriting(plan.new_keys));
    keys CONSTANT snowdrift.key_column[] := snowdrift.find_keys(tables, plan.call);    -- those that refer to others, too
    r record;
BEGIN
    FOR r IN SELECT DISTINCT c.oid, relname FROM unnest(tables) AS t JOIN pg_class AS c ON c.oid = t
        WHERE c.oid <> ALL (ARRAY(SELECT k."table" FROM unnest(plan.keys) AS k)) ORDER BY c.oid LOOP
        IF EXISTS (SELECT FROM unnest(keys) AS k WHERE k."table" = r.oid) THEN
            RAISE NOTICE 'table "%" is skipped', r.relname
                USING DETAIL = 'Its primary key refers to the key of another table, whose values it has.',
                    HINT = format('Drop what generates its values, if nothing uses it: %s;', (SELECT string_agg(format('ALTER TABLE %s ALTER COLUMN %I DROP %s',
                            snowdrift.qualified_name(r.oid), attname, CASE attidentity WHEN '' THEN 'DEFAULT' ELSE 'IDENTITY' END), '; ')
                        FROM unnest(keys) AS k JOIN pg_attribute ON attrelid = k."table" AND attnum = k.number WHERE k."table" = r.oid));
        ELSE
            RAISE NOTICE 'table "%" is skipped', r.relname USING DETAIL = 'Its primary key has no serial or identity column of its own.',
                HINT = 'snowdrift.convert_column() converts other columns.';
        END IF;
    END LOOP;
    IF cardinality(plan."tables") = 0 THEN
        FOR r IN SELECT attname, relname FROM unnest(plan.keys) AS k JOIN pg_attribute ON attrelid = k."table" AND attnum = k.number
                JOIN pg_class AS c ON c.oid = attrelid ORDER BY attrelid, attnum LOOP
            RAISE NOTICE 'column "%" of table "%" is already converted', r.attname, r.relname;
        END LOOP;
    END IF;
    FOR r IN SELECT sequence, attname, relname, other, is_used FROM (SELECT DISTINCT ON (sequence) sequence, key FROM snowdrift.key_defaults(members, plan.call)
                WHERE kind = 'sequence' AND sequence IS NOT NULL AND sequence NOT IN (SELECT u.sequence FROM snowdrift.unused_sequences(plan) AS u)
                ORDER BY sequence, key) AS s
            JOIN pg_attribute ON attrelid = (key)."table" AND attnum = (key).number JOIN pg_class AS c ON c.oid = attrelid
            LEFT JOIN LATERAL (SELECT min(o) FILTER (WHERE o !~ '^trigger snowdrift_(hold|insert|update)_'), count(*) > 0 FROM snowdrift.other_users(sequence, members) AS o) AS o(other, is_used) ON true
            ORDER BY key LOOP
        RAISE NOTICE 'sequence % is kept', snowdrift.qualified_name(r.sequence)
            USING DETAIL = coalesce('Another object uses the sequence: ' || r.other || '.',
                CASE WHEN r.is_used THEN 'The table''s watch used the sequence. Drop it after the conversion if no program uses it.' END,
                format('Column "%s" of table "%s" uses the sequence, but does not own it.', r.attname, r.relname));
    END LOOP;
    FOR r IN SELECT attname, relname, expression FROM (
                SELECT key, expression, lag(expression) OVER (PARTITION BY root ORDER BY member <> root, member) IS DISTINCT FROM expression AS is_first
                FROM snowdrift.with_inheriting(plan.new_keys), snowdrift.key_defaults(ARRAY[member], plan.call) WHERE kind = 'other') AS d
            JOIN pg_attribute ON attrelid = (key)."table" AND attnum = (key).number JOIN pg_class AS c ON c.oid = attrelid
        WHERE is_first ORDER BY key LOOP
        RAISE NOTICE 'default of column "%" of table "%" is replaced', r.attname, r.relname
            USING DETAIL = format('It was %s. IDs of another generator can have another layout, and can equal earlier ones; readers of new rows miss those below their positions.', r.expression);
    END LOOP;
    IF cardinality(risks) > 0 THEN
        RAISE WARNING 'new keys can cause errors after the conversion' USING DETAIL = replace(array_to_string(risks, E'\n'), '-- warning: ', ''),
            HINT = 'The lines are guesses from the names and texts in the catalog. Check them before the conversion.';
    END IF;
END $$;

-- The queries for the greatest keys, of new keys; also those that their sequences have drawn, because readers of new rows may have passed
-- rows that were deleted. is_forced: row-level security would hide rows from the caller.
CREATE OR REPLACE FUNCTION snowdrift.key_checks(plan snowdrift.conversion, OUT attname name, OUT relname name, OUT name text, OUT query text, OUT is_forced boolean)
    RETURNS SETOF record LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT a.attname, c.relname, snowdrift.qualified_name(c.oid),
        format('SELECT GREATEST(pg_catalog.max(%I)%s)::pg_catalog.int8 FROM %s', a.attname, (SELECT string_agg(format(', pg_catalog.pg_sequence_last_value(%s)', d.sequence), '')
            FROM snowdrift.drawing_columns(c.oid) AS d WHERE d.number = a.attnum AND d.kind = 'sequence' AND has_sequence_privilege(d.sequence, 'SELECT, USAGE')), snowdrift.qualified_name(c.oid)),
        c.oid IN (SELECT snowdrift.forced_tables(plan))
    FROM unnest(plan.new_keys) AS k JOIN pg_attribute AS a ON attrelid = k."table" AND attnum = k.number JOIN pg_class AS c ON c.oid = attrelid ORDER BY k;
END $$;

-- Ensure that keys are below a new ID.
CREATE OR REPLACE FUNCTION snowdrift.check_keys(plan snowdrift.conversion, first_id bigint, dry_run boolean) RETURNS void
    LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_variable
DECLARE
    key_check pg_catalog.record;
    last_id pg_catalog.int8;
BEGIN
    FOR key_check IN SELECT * FROM snowdrift.key_checks(plan) LOOP
        CONTINUE WHEN key_check.is_forced AND dry_run;    -- checked in the run, which can see all rows
        IF key_check.is_forced THEN
            EXECUTE pg_catalog.format('ALTER TABLE %s NO FORCE ROW LEVEL SECURITY', key_check.name);
        END IF;
        EXECUTE key_check.query INTO last_id;
        IF key_check.is_forced THEN
            EXECUTE pg_catalog.format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', key_check.name);
        END IF;
        IF last_id OPERATOR(pg_catalog.>=) first_id THEN
            RAISE 'keys in column "%" of table "%" are not below new IDs', key_check.attname, key_check.relname USING ERRCODE = '55000',
                DETAIL = pg_catalog.format('The largest key, stored or drawn, is %s, and a new ID is %s.', last_id, first_id),
                HINT = 'Correct wrong keys, or set the sequence back if no reader has passed its numbers.';
        END IF;
    END LOOP;
END $$;

CREATE OR REPLACE FUNCTION snowdrift.generator_call(name text) RETURNS text
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
BEGIN
    RETURN (SELECT format('%I.next_snowflake(%s)', nspname, quote_literal(name) || '::pg_catalog.text')
        FROM pg_proc JOIN pg_namespace AS n ON n.oid = pronamespace WHERE pg_proc.oid = 'public.next_snowflake()'::regprocedure);
END $$;

-- A conversion while applications write has added columns, which only its own statements replace or remove.
CREATE OR REPLACE FUNCTION snowdrift.check_not_begun(tables oid[]) RETURNS void LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    begun CONSTANT text := (SELECT string_agg(DISTINCT attrelid::regclass::text, ', ') FROM pg_attribute JOIN pg_trigger ON tgrelid = attrelid AND tgname = '~snowdrift'
        WHERE attrelid = ANY (tables) AND starts_with(attname, '_snowdrift_') AND NOT attisdropped);
BEGIN
    IF begun IS NOT NULL THEN
        RAISE 'a conversion of tables has begun, and has not ended' USING ERRCODE = '55000', DETAIL = format('The tables are: %s.', begun),
            HINT = 'Run conversion_script() to its end, or abandon_script().';
    END IF;
END $$;

-- Plan the conversion, lock the relations, and plan it again. If the second plan needs other locks, because the tables have
-- changed during the wait, release the locks and begin again.
-- The risks are found before the relations are locked, because reading a view's definition locks what the view reads.
CREATE OR REPLACE FUNCTION snowdrift.lock_and_plan(tables oid[], "column" name, call text, dry_run boolean, OUT plan snowdrift.conversion, OUT risks text[])
    LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_variable
DECLARE
    relations pg_catalog.regclass[];
    requests pg_catalog.text[];
BEGIN
    LOOP
        plan := snowdrift.plan_conversion(tables, "column", call);
        PERFORM snowdrift.check_not_begun(plan."tables");
        PERFORM snowdrift.check_obstacles(plan);
        PERFORM snowdrift.check_locks(plan) WHERE requests IS NULL;
        risks := ARRAY(SELECT * FROM snowdrift.conversion_risks(plan, dry_run));
        relations := snowdrift.relations_to_lock(plan);
        requests := ARRAY(SELECT request FROM snowdrift.lock_requests(relations));
        BEGIN
            IF NOT dry_run THEN
                PERFORM snowdrift.check_not_reserved(plan."tables"::pg_catalog.regclass[], true);
                PERFORM snowdrift.lock_exclusively(relations);
            ELSIF pg_catalog.cardinality(plan."tables") OPERATOR(pg_catalog.>) 0 THEN
                EXECUTE snowdrift.lock_statement(plan, 'ACCESS SHARE');
            END IF;
            plan := snowdrift.plan_conversion(tables, "column", call);
            PERFORM snowdrift.check_not_begun(plan."tables");
            PERFORM snowdrift.check_obstacles(plan);
            IF requests OPERATOR(pg_catalog.=) ARRAY(SELECT request FROM snowdrift.lock_requests(snowdrift.relations_to_lock(plan))) THEN
                RETURN;
            END IF;
            RAISE SQLSTATE 'SN001';
        EXCEPTION WHEN SQLSTATE 'SN001' THEN
        END;
    END LOOP;
END $$;

CREATE OR REPLACE FUNCTION snowdrift.run_conversion(tables oid[], "column" name, generator_name text, dry_run boolean) RETURNS SETOF text
    LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_variable
DECLARE
    call CONSTANT pg_catalog.text := snowdrift.generator_call(generator_name);
    locked pg_catalog.record;
    plan snowdrift.conversion;
    schemas pg_catalog.text[];
    statements pg_catalog.text[];
    risks pg_catalog.text[];
    statement pg_catalog.text;
    first_id pg_catalog.int8;
BEGIN
    PERFORM snowdrift.generator_layout(generator_name);    -- raises an error, before this function waits for locks, if there is no such generator
    locked := snowdrift.lock_and_plan(tables, "column", call, dry_run);
    plan := locked.plan;
    risks := locked.risks;
    schemas := snowdrift.schemas_of(plan);
    BEGIN
        EXECUTE pg_catalog.concat('SELECT ', call) INTO first_id;    -- not before the wait: it holds back the watermark
    EXCEPTION WHEN read_only_sql_transaction THEN    -- of the SQL edition, in a dry run: the keys are not compared
    END;
    PERFORM snowdrift.check_keys(plan, first_id, dry_run);
    PERFORM snowdrift.report_conversion(plan, tables, risks);
    statements := ARRAY(SELECT * FROM snowdrift.conversion_statements(plan, pg_catalog.current_setting('search_path')));
    FOREACH statement IN ARRAY risks LOOP
        RETURN NEXT statement;
    END LOOP;
    FOREACH statement IN ARRAY statements LOOP
        IF NOT dry_run THEN
            PERFORM snowdrift.check_schemas(schemas);
            EXECUTE statement;
        END IF;
        RETURN NEXT pg_catalog.concat(statement, ';');
    END LOOP;
    IF NOT dry_run THEN
        PERFORM snowdrift.check_schemas(schemas);
    END IF;
END $$;

CREATE OR REPLACE FUNCTION snowdrift.convert_keys(tables regclass[], generator text DEFAULT NULL,
        dry_run boolean DEFAULT false) RETURNS SETOF text
    LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_variable
BEGIN
    IF tables IS NULL OR dry_run IS NULL THEN
        RAISE 'tables and dry_run must not be null' USING ERRCODE = '22004';
    END IF;
    PERFORM snowdrift.check_can_change('snowdrift.convert_keys()', dry_run);
    RETURN QUERY SELECT * FROM snowdrift.run_conversion(tables::pg_catalog.oid[], NULL, generator, dry_run);
END $$;
COMMENT ON FUNCTION snowdrift.convert_keys(regclass[], text, boolean)
    IS 'make Snowflake IDs the default of the serial and identity columns of primary keys, and return the statements; a dry run only returns them';

CREATE OR REPLACE FUNCTION snowdrift.convert_column("table" regclass, "column" name, generator text DEFAULT NULL,
        dry_run boolean DEFAULT false) RETURNS SETOF text
    LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_variable
BEGIN
    IF "table" IS NULL OR "column" IS NULL OR dry_run IS NULL THEN
        RAISE 'table, column and dry_run must not be null' USING ERRCODE = '22004';
    END IF;
    PERFORM snowdrift.check_can_change('snowdrift.convert_column()', dry_run);
    RETURN QUERY SELECT * FROM snowdrift.run_conversion(ARRAY["table"::pg_catalog.oid], "column", generator, dry_run);
END $$;
COMMENT ON FUNCTION snowdrift.convert_column(regclass, name, text, boolean)
    IS 'make Snowflake IDs the default of a serial or identity key, and return the statements; a dry run only returns them';

-- Conversion of keys while applications write: the shadows. Each smallint or integer column whose type must change gets
-- a shadow: a bigint column that a trigger keeps equal to it. Shadows get indexes, checks and foreign keys like those
-- of their originals, and finally, all of these replace the originals. Their names derive from those of the originals.
-- Therefore, the catalog shows what is missing, also after a crash and in a restored dump, and what has no original any more.

CREATE OR REPLACE FUNCTION snowdrift.shadow_name(name text) RETURNS name LANGUAGE sql IMMUTABLE
    RETURN ('_snowdrift_' || CASE WHEN octet_length(name) > 52 THEN md5(name) ELSE name END)::name;

-- The condition that two columns are equal, for checks and queries. IS NOT NULL lets SET NOT NULL rely on the check.
CREATE OR REPLACE FUNCTION snowdrift.equality(shadow text, original text, is_required boolean) RETURNS text LANGUAGE sql IMMUTABLE
    RETURN format(CASE WHEN is_required THEN '(%1$s IS NOT NULL AND %1$s OPERATOR(pg_catalog.=) %2$s)'
        ELSE 'coalesce(%1$s OPERATOR(pg_catalog.=) %2$s, %1$s IS NULL AND %2$s IS NULL)' END, shadow, original);

-- The name of the check that a shadow is equal
CREATE OR REPLACE FUNCTION snowdrift.equality_name(original text, is_required boolean) RETURNS name LANGUAGE sql IMMUTABLE
    RETURN snowdrift.shadow_name(CASE WHEN is_required THEN 'equal ' ELSE 'equal or null ' END || original);

-- The plan of a conversion, without the triggers that it has added
CREATE OR REPLACE FUNCTION snowdrift.plan_live(tables oid[], call text, keep_sequences boolean) RETURNS snowdrift.conversion
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    plan snowdrift.conversion := snowdrift.plan_conversion(tables, NULL, call);
BEGIN
    plan.dependents := ARRAY(SELECT d FROM unnest(plan.dependents) AS d WHERE NOT (class = 'pg_trigger'::regclass
        AND EXISTS (SELECT FROM pg_trigger AS t WHERE t.oid = object AND tgname = '~snowdrift')));
    IF keep_sequences THEN
        plan.new_keys := '{}';
    END IF;
    plan."tables" := snowdrift.tables_to_convert(plan);
    RETURN plan;
END $$;

-- A call that executes statements while tables are locked
CREATE OR REPLACE FUNCTION snowdrift.brief_call(tables oid[], statements text) RETURNS text LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
    RETURN format('CALL snowdrift.change_briefly(%L::pg_catalog.regclass[], %L)', ARRAY(SELECT DISTINCT t::regclass FROM unnest(tables) AS t ORDER BY 1), statements);

-- shadow_number: null if the shadow does not exist yet
EXECUTE $sql$
CREATE OR REPLACE FUNCTION snowdrift.shadows(plan snowdrift.conversion, OUT "table" oid, OUT number smallint, OUT name name, OUT shadow name,
        OUT shadow_number smallint, OUT is_required boolean)
    RETURNS SETOF record LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT a.attrelid, a.attnum, a.attname, snowdrift.shadow_name(a.attname), s.attnum, a.attnotnull
    FROM unnest((plan).members) AS m JOIN pg_attribute AS a ON a.attrelid = m."table" AND a.attnum = m.number
        LEFT JOIN pg_attribute AS s ON s.attrelid = a.attrelid AND s.attname = snowdrift.shadow_name(a.attname)
    ORDER BY a.attrelid, a.attnum;
END
$sql$;

-- The definition of an index from its method on
CREATE OR REPLACE FUNCTION snowdrift.index_definition(index oid) RETURNS text
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
BEGIN
    RETURN (SELECT substr(pg_get_indexdef(index), length(format('CREATE %sINDEX %I ON %s ', CASE WHEN indisunique THEN 'UNIQUE ' END,
        relname, snowdrift.qualified_name(indrelid))) + 1) FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid WHERE indexrelid = index);
END $$;

-- The indexes that have names of shadows, and contain shadows
EXECUTE $sql$
CREATE OR REPLACE FUNCTION snowdrift.indexes_of_shadows(tables oid[]) RETURNS SETOF oid LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT indexrelid FROM pg_index JOIN pg_class AS c ON c.oid = indexrelid WHERE indrelid = ANY (tables) AND starts_with(relname, '_snowdrift_')
        AND EXISTS (SELECT FROM pg_depend JOIN pg_attribute ON attrelid = refobjid AND attnum = refobjsubid
            WHERE classid = 'pg_class'::regclass AND objid = indexrelid AND refclassid = classid AND starts_with(attname, '_snowdrift_'));
END
$sql$;

-- The valid indexes and checks of columns with shadows, their definitions with the shadows, and how PostgreSQL shows what these
-- make. PostgreSQL itself writes all of this, for an empty copy of the table in which the columns are renamed, and then bigint.
CREATE OR REPLACE FUNCTION snowdrift.shadow_definitions(plan snowdrift.conversion, OUT "table" oid, OUT class oid, OUT object oid, OUT name name, OUT definition text, OUT made text)
    RETURNS SETOF record LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off SET client_min_messages = warning
    SET timezone = 'UTC' SET datestyle = ISO SET intervalstyle = postgres SET extra_float_digits = 3 AS $$
#variable_conflict use_column
DECLARE
    original oid;
    copy oid;
    r record;
    copies jsonb;    -- of indexes, by their definitions
    indexes jsonb;
    checks jsonb;
    problems text;
BEGIN
    FOR original IN SELECT DISTINCT m."table" FROM unnest(plan.members) AS m ORDER BY 1 LOOP
        BEGIN
            EXECUTE format('CREATE TEMPORARY TABLE _snowdrift_copy (LIKE %s INCLUDING INDEXES INCLUDING CONSTRAINTS)', snowdrift.qualified_name(original));
            FOR r IN SELECT s.shadow FROM snowdrift.shadows(plan) AS s WHERE s."table" = original AND shadow_number IS NOT NULL LOOP
                EXECUTE format('ALTER TABLE pg_temp._snowdrift_copy DROP COLUMN %I CASCADE', r.shadow);
            END LOOP;
            copy := 'pg_temp._snowdrift_copy'::regclass;
            copies := (SELECT jsonb_object_agg(snowdrift.index_definition(indexrelid), relname) FROM pg_index JOIN pg_class AS c ON c.oid = indexrelid WHERE indrelid = copy);
            FOR r IN SELECT s.name, s.shadow FROM snowdrift.shadows(plan) AS s WHERE s."table" = original LOOP
                EXECUTE format('ALTER TABLE pg_temp._snowdrift_copy RENAME COLUMN %I TO %I', r.name, r.shadow);
            END LOOP;
            indexes := (SELECT jsonb_object_agg(relname, snowdrift.index_definition(indexrelid)) FROM pg_index JOIN pg_class AS c ON c.oid = indexrelid WHERE indrelid = copy);
            checks := (SELECT jsonb_object_agg(conname, pg_get_constraintdef(c.oid)) FROM pg_constraint AS c WHERE contype = 'c' AND conrelid = copy);
            FOR r IN SELECT s.shadow FROM snowdrift.shadows(plan) AS s WHERE s."table" = original LOOP
                EXECUTE format('ALTER TABLE pg_temp._snowdrift_copy ALTER COLUMN %I TYPE pg_catalog.int8', r.shadow);
            END LOOP;
            RETURN QUERY SELECT original, 'pg_class'::regclass::oid, o.indexrelid, c.relname, indexes ->> k.relname, snowdrift.index_definition(k.oid)
            FROM pg_index AS o JOIN pg_class AS c ON c.oid = o.indexrelid, LATERAL (SELECT snowdrift.index_definition(o.indexrelid)) AS d(old),
                pg_index AS n JOIN pg_class AS k ON k.oid = n.indexrelid
            WHERE o.indrelid = original AND o.indisvalid AND n.indrelid = copy AND k.relname = copies ->> old AND old <> indexes ->> k.relname;
            RETURN QUERY SELECT original, 'pg_constraint'::regclass::oid, o.oid, o.conname, checks ->> o.conname, pg_get_constraintdef(n.oid) FROM pg_constraint AS o
                JOIN pg_constraint AS n ON n.conname = o.conname AND n.contype = 'c' AND n.conrelid = copy
            WHERE o.conrelid = original AND o.contype = 'c' AND o.convalidated AND pg_get_constraintdef(o.oid) <> checks ->> o.conname;
            RAISE SQLSTATE 'SN001';    -- undoes the copy, and releases its locks
        EXCEPTION WHEN SQLSTATE 'SN001' THEN
            WHEN OTHERS THEN
                IF left(SQLSTATE, 2) IN ('40', '53', '55', '57') THEN    -- not because of the table
                    RAISE;
                END IF;
                problems := concat_ws(E'\n', problems, format('The indexes and checks of table %s cannot be created for bigint columns: %s', original::regclass, SQLERRM));
        END;
    END LOOP;
    IF problems IS NOT NULL THEN
        RAISE 'cannot convert keys while applications write' USING ERRCODE = '0A000', DETAIL = problems, HINT = 'Change or drop what does not work for bigint, or while search_path is pg_catalog.';
    END IF;
END $$;

-- The foreign keys of columns with shadows, and their definitions with the shadows
CREATE OR REPLACE FUNCTION snowdrift.shadow_references(plan snowdrift.conversion, OUT "table" oid, OUT other oid, OUT object oid, OUT name name, OUT definition text)
    RETURNS SETOF record LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY WITH s AS MATERIALIZED (
        SELECT * FROM snowdrift.shadows(plan)
    ), parts AS (
        SELECT c.oid, is_source, string_agg(quote_ident(attname), ', ' ORDER BY n) AS old, string_agg(quote_ident(coalesce(shadow, attname)), ', ' ORDER BY n) AS new,
            bool_or(shadow IS NOT NULL) AS is_changed
        FROM pg_constraint AS c CROSS JOIN LATERAL (VALUES (true, conrelid, conkey), (false, confrelid, confkey)) AS v(is_source, relation, numbers)
            CROSS JOIN unnest(numbers) WITH ORDINALITY AS u(number, n) JOIN pg_attribute ON attrelid = relation AND attnum = u.number
            LEFT JOIN s ON s."table" = relation AND s.number = u.number
        WHERE contype = 'f' AND NOT starts_with(conname, '_snowdrift_') GROUP BY c.oid, is_source
    )
    SELECT conrelid, confrelid, c.oid, conname, format('FOREIGN KEY (%s) REFERENCES %s(%s)', f.new, confrelid::regclass, t.new)
        || regexp_replace(substr(pg_get_constraintdef(c.oid), length(format('FOREIGN KEY (%s) REFERENCES %s(%s)', f.old, confrelid::regclass, t.old)) + 1), ' NOT VALID$', '')
        || CASE WHEN condeferrable AND NOT condeferred THEN ' INITIALLY DEFERRED' ELSE '' END    -- SET CONSTRAINTS does not name it
    FROM pg_constraint AS c JOIN parts AS f ON f.oid = c.oid AND f.is_source JOIN parts AS t ON t.oid = c.oid AND NOT t.is_source
    WHERE f.is_changed OR t.is_changed ORDER BY conrelid, c.oid;
END $$;

-- What prevents a conversion while applications write, with the remedies, except for what also prevents convert_keys
CREATE OR REPLACE FUNCTION snowdrift.live_refusals(plan snowdrift.conversion, fire_triggers boolean) RETURNS SETOF text
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
    members CONSTANT oid[] := ARRAY(SELECT DISTINCT m."table" FROM unnest(plan.members) AS m);
BEGIN
    RETURN QUERY WITH references_of AS MATERIALIZED (
        SELECT * FROM snowdrift.shadow_references(plan)
    ), shadows AS MATERIALIZED (
        SELECT * FROM snowdrift.shadows(plan)
    ), used AS MATERIALIZED (    -- what depends on columns with shadows
        SELECT DISTINCT classid, objid FROM shadows AS s JOIN pg_depend ON refclassid = 'pg_class'::regclass AND refobjid = s."table" AND refobjsubid = s.number
    ), used_indexes AS MATERIALIZED (
        SELECT objid AS index FROM used WHERE classid = 'pg_class'::regclass
        UNION SELECT conindid FROM used JOIN pg_constraint ON classid = 'pg_constraint'::regclass AND oid = objid AND contype IN ('p', 'u', 'x')
    ), changed AS MATERIALIZED (
        SELECT c.*, oid::regclass AS name, oid = ANY (members) AS is_member FROM pg_class AS c WHERE oid = ANY (members)
            OR oid IN (SELECT "table" FROM references_of) OR oid IN (SELECT other FROM references_of)
    )
    SELECT format('table %s is partitioned; use convert_keys()', name) FROM changed WHERE relkind = 'p' OR relispartition
    UNION ALL SELECT format('table %s inherits, or is inherited from; use convert_keys()', name) FROM changed
        WHERE NOT relispartition AND relkind = 'r' AND EXISTS (SELECT FROM pg_inherits WHERE oid IN (inhrelid, inhparent))
    UNION ALL SELECT format('table %s is temporary; use convert_keys()', name) FROM changed WHERE is_member AND relpersistence = 't'
    UNION ALL SELECT format('row-level security hides rows of table %s from its owner; use convert_keys()', f::regclass) FROM snowdrift.forced_tables(plan) AS f
    UNION ALL SELECT DISTINCT format('role %s may not create objects in schema %s; run GRANT CREATE ON SCHEMA %s TO %s;', current_user, s, s, quote_ident(current_user))
        FROM changed, LATERAL (SELECT relnamespace::regnamespace) AS n(s) WHERE NOT has_schema_privilege(relnamespace, 'CREATE')
    UNION ALL SELECT format('role %s may not create temporary tables, which are needed to copy definitions; run GRANT TEMPORARY ON DATABASE %I TO %I;', current_user, current_database(), current_user)
        WHERE cardinality(members) > 0 AND NOT has_database_privilege(current_database(), 'TEMPORARY')
    UNION ALL SELECT format('table %s is published (%s), and subscribers lack the new columns; let no publication contain it, and let the subscribers copy it again afterwards',
            name, string_agg(DISTINCT pubname, ', ')) FROM changed JOIN pg_namespace AS n ON n.oid = relnamespace
            JOIN pg_publication_tables ON schemaname = nspname AND tablename = relname WHERE is_member GROUP BY name
    UNION ALL SELECT format(CASE contype WHEN 'x' THEN 'constraint %I of table %s is an exclusion constraint; drop it, and add it again afterwards'
            ELSE 'constraint %I of table %s is deferrable, and permits equal keys for a while; replace it by one that is not, and change it back afterwards' END, conname, name)
        FROM changed AS c JOIN pg_constraint AS k ON conrelid = c.oid
        WHERE (contype = 'x' OR contype IN ('p', 'u') AND condeferrable) AND conindid IN (SELECT index FROM used_indexes)
    UNION ALL SELECT format('check %I of table %s is not valid, and rows that violate it cannot be copied; run ALTER TABLE %s VALIDATE CONSTRAINT %I;', conname, name, name, conname)
        FROM changed AS c JOIN pg_constraint ON conrelid = c.oid WHERE is_member AND contype = 'c' AND NOT convalidated AND NOT starts_with(conname, '_snowdrift_')
    UNION ALL SELECT format('foreign key %I of table %s sets only some of its columns; drop it, and add it again afterwards', k.conname, k.conrelid::regclass)
        FROM references_of JOIN pg_constraint AS k ON k.oid = object WHERE confdelsetcols IS NOT NULL
    -- PostgreSQL runs the actions of foreign keys in the order of OIDs as texts, so that those of the shadow can be first.
    UNION ALL SELECT format('foreign key %I of table %s %s; replace it by one with NO ACTION until the swap', k.conname, k.conrelid::regclass,
            CASE WHEN 'd' IN (confdeltype, confupdtype) THEN 'sets a default' ELSE 'also changes columns that stay' END)
        FROM references_of JOIN pg_constraint AS k ON k.oid = object, LATERAL (SELECT count(*) FROM shadows AS s WHERE s."table" = conrelid AND s.number = ANY (conkey)) AS n(shadowed)
        WHERE shadowed > 0 AND ('d' IN (confdeltype, confupdtype) OR shadowed < cardinality(conkey) AND (confdeltype = 'n' OR confupdtype IN ('c', 'n')))
    UNION ALL SELECT format('statistics object %1$s belongs to %2$s, and would be created again; run ALTER STATISTICS %1$s OWNER TO %4$I; and GRANT CREATE ON SCHEMA %3$I TO %4$I;',
            format('%I.%I', nspname, stxname), stxowner::regrole, nspname, current_user)
        FROM used JOIN pg_statistic_ext AS x ON classid = 'pg_statistic_ext'::regclass AND x.oid = objid JOIN pg_namespace AS n ON n.oid = stxnamespace
        WHERE NOT pg_has_role(stxowner, 'USAGE') OR NOT has_schema_privilege(n.oid, 'CREATE') OR NOT has_schema_privilege(stxowner, n.oid, 'CREATE')
    UNION ALL SELECT DISTINCT format('sequence %s is not of type bigint, and belongs to %s; run ALTER SEQUENCE %1$s AS bigint;', seqrelid::regclass, relowner::regrole)
        FROM shadows AS s JOIN pg_attrdef AS a ON adrelid = s."table" AND adnum = s.number JOIN pg_depend AS d ON d.classid = 'pg_attrdef'::regclass AND d.objid = a.oid
            JOIN pg_sequence ON d.refclassid = 'pg_class'::regclass AND d.refobjid = seqrelid JOIN pg_class AS c ON c.oid = seqrelid
        WHERE seqtypid <> 'int8'::regtype AND NOT pg_has_role(relowner, 'USAGE') AND (s."table", s.number)::snowdrift.key_column <> ALL (plan.new_keys)
    UNION ALL SELECT DISTINCT format('%s depends on column %I of table %s, which the conversion has added; drop it', pg_describe_object(d.classid, d.objid, d.objsubid), s.shadow, s."table"::regclass)
        FROM shadows AS s JOIN pg_depend AS d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = s."table" AND d.refobjsubid = s.shadow_number
        WHERE d.classid IN ('pg_rewrite'::regclass, 'pg_policy'::regclass, 'pg_publication_rel'::regclass, 'pg_statistic_ext'::regclass)
            OR d.objid IN (SELECT k.oid FROM pg_constraint AS k WHERE contype = 'f' AND NOT starts_with(conname, '_snowdrift_'))
    UNION ALL SELECT format('table %s has columns that these keys do not need; name all tables of the conversion, or run abandon_script(''{%s}'')', name, name) FROM changed
        WHERE is_member AND EXISTS (SELECT FROM pg_attribute WHERE attrelid = changed.oid AND NOT attisdropped AND starts_with(attname, '_snowdrift_')
            AND NOT EXISTS (SELECT FROM shadows AS s WHERE s."table" = attrelid AND shadow_number = attnum))
    UNION ALL SELECT DISTINCT format('table %s no longer refers to table %s, but has columns of its conversion; run abandon_script(''{%s}'')', conrelid::regclass, confrelid::regclass, conrelid::regclass)
        FROM pg_constraint JOIN pg_class AS c ON c.oid = conrelid WHERE contype = 'f' AND starts_with(conname, '_snowdrift_') AND confrelid = ANY (members) AND conrelid <> ALL (members)
            AND conrelid NOT IN (SELECT "table" FROM references_of) AND pg_has_role(relowner, 'USAGE')
            AND EXISTS (SELECT FROM pg_attribute WHERE attrelid = conrelid AND starts_with(attname, '_snowdrift_') AND NOT attisdropped)
    UNION ALL SELECT format('column %I of table %s refers to a key, and is generated; drop the foreign key, and add it again afterwards', attname, attrelid::regclass)
        FROM unnest(plan.members) AS m JOIN pg_attribute ON attrelid = m."table" AND attnum = m.number WHERE attgenerated <> ''
    UNION ALL SELECT format('table %s is watched; call snowdrift.unwatch(''%1$s'') first, and snowdrift.watch(''%1$s'') after the conversion', name) FROM changed WHERE EXISTS (SELECT FROM snowdrift.watches(changed.oid::regclass))
    UNION ALL SELECT format('trigger %I of table %s would fire for each row that is copied; disable it meanwhile, grant SET ON PARAMETER session_replication_role, or set fire_triggers', tgname, name)
        FROM changed JOIN pg_trigger ON tgrelid = changed.oid WHERE is_member AND NOT fire_triggers AND NOT tgisinternal AND tgname <> '~snowdrift' AND tgfoid NOT IN (SELECT p.oid FROM pg_proc AS p WHERE pronamespace = 'snowdrift'::regnamespace)
            AND tgtype & 16 > 0 AND tgattr = '' AND tgenabled <> 'D'
            AND NOT (tgenabled = 'O' AND has_parameter_privilege('session_replication_role', 'SET'))
    UNION ALL SELECT format('function %s, whose name the conversion needs, belongs to role %s; let it be renamed, or run ALTER FUNCTION %1$s OWNER TO %3$I;', p.oid::regprocedure, proowner::regrole, current_user)
        FROM changed JOIN pg_proc AS p ON pronamespace = relnamespace AND proname = snowdrift.shadow_name(relname) AND pronargs = 0
        WHERE is_member AND NOT pg_has_role(proowner, 'USAGE')
    UNION ALL SELECT format('relation %s has a name that the conversion needs; drop or rename it', other.oid::regclass)
        FROM changed JOIN pg_index ON indrelid = changed.oid JOIN pg_class AS i ON i.oid = indexrelid
            JOIN pg_class AS other ON other.relnamespace = i.relnamespace AND other.relname = snowdrift.shadow_name(i.relname)
        WHERE is_member AND NOT EXISTS (SELECT FROM pg_index AS x WHERE x.indexrelid = other.oid AND x.indrelid = changed.oid)
    UNION ALL SELECT format('foreign key %I of table %s needs index %s, which contains another key; drop it, and add it again afterwards', conname, conrelid::regclass, conindid::regclass)
        FROM pg_constraint WHERE contype = 'f' AND NOT starts_with(conname, '_snowdrift_') AND oid NOT IN (SELECT object FROM references_of)
            AND conindid IN (SELECT index FROM used_indexes)
    UNION ALL SELECT format('rule %I of table %s would change or replace the copy of each row; disable it meanwhile', rulename, name)
        FROM changed JOIN pg_rewrite ON ev_class = changed.oid WHERE is_member AND ev_type = '2' AND ev_enabled <> 'D'
            AND NOT (ev_enabled = 'O' AND has_parameter_privilege('session_replication_role', 'SET'))
    UNION ALL SELECT format('trigger %I of table %s would fire after the one that fills the new columns; rename it so that it sorts before "~snowdrift"', tgname, name)
        FROM changed JOIN pg_trigger ON tgrelid = changed.oid WHERE is_member AND tgtype & 3 = 3 AND tgname COLLATE "C" > '~snowdrift'
    ORDER BY 1;
END $$;

-- The functions that can fail, or confuse columns, because columns are added at the end of a table
CREATE OR REPLACE FUNCTION snowdrift.column_order_risks(plan snowdrift.conversion) RETURNS SETOF text
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT DISTINCT format('-- warning: column order: %s: it can fail or confuse columns, because it %s; name the columns there', function::regprocedure, reason)
    FROM snowdrift.functions_near(plan) JOIN pg_proc AS p ON p.oid = function, unnest(plan.members) AS m JOIN pg_class AS c ON c.oid = m."table",
        LATERAL (VALUES (format('inserts into %s without a list of columns', c.oid::regclass), lower(prosrc)
                ~ format('[[:<:]](insert[[:space:]]+into|copy)[[:space:]]+("?[[:alnum:]_$]+"?[.])?"?%s"?[[:space:]]+(overriding|values|select|table|with|from|[(][[:space:]]*(select|values|with))[[:>:]]',
                    regexp_replace(lower(relname), '[^[:alnum:]_]', '.', 'g'))),
            (format('inserts all columns of rows, which can be those of %s', c.oid::regclass), lower(prosrc)
                ~ '[[:<:]]insert[[:>:]][^;]*([[:alnum:]_$"][)]?[.][*]|[[:<:]](select|returning)[[:space:]]+[*])'),
            (format('declares variables with %%ROWTYPE of %s', c.oid::regclass), lower(prosrc)
                ~ format('[[:<:]]%s"?[[:space:]]*%%[[:space:]]*rowtype', regexp_replace(lower(relname), '[^[:alnum:]_]', '.', 'g'))),
            (format('returns or takes rows of %s', c.oid::regclass), c.reltype = ANY (coalesce(proallargtypes, proargtypes::oid[]) || prorettype))) AS r(reason, is_at_risk)
    WHERE is_at_risk ORDER BY 1;
END $$;

-- Conversion of keys while applications write: the statements of the script that take long, or that lock. They run with the
-- caller's rights.

CREATE OR REPLACE FUNCTION snowdrift.reservation_key("table" regclass) RETURNS bigint LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
    RETURN hashtextextended('snowdrift.conversion_script ' || "table"::oid, 0);

-- That no script of another session converts the keys of tables, until the transaction ends. Calls of convert_keys() wait for each
-- other by the locks of the tables, and share this one.
CREATE OR REPLACE FUNCTION snowdrift.check_not_reserved(tables regclass[], is_shared boolean DEFAULT false) RETURNS void LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    t regclass;
    key bigint;
BEGIN
    FOREACH t IN ARRAY tables LOOP
        key := snowdrift.reservation_key(t);
        IF NOT (is_shared AND pg_try_advisory_xact_lock_shared(key) OR NOT is_shared AND pg_try_advisory_xact_lock(key)) THEN
            RAISE 'another session converts the keys of table "%"', (SELECT relname FROM pg_class WHERE oid = t) USING ERRCODE = '55006',
                DETAIL = format('Its process ID is %s.', (SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1
                    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
                    AND (classid::bigint << 32) | objid::bigint = key LIMIT 1)),
                HINT = 'Wait until it has finished, or end it with pg_terminate_backend().';
        END IF;
    END LOOP;
END $$;

-- Reserve tables for the script of this session, or release them. Two scripts at once would lose no rows, but would
-- drop each other's unfinished indexes.
CREATE OR REPLACE PROCEDURE snowdrift.reserve_tables(tables regclass[], is_reserved boolean) LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp SET client_min_messages = error AS $$
DECLARE
    t regclass;
    key bigint;
BEGIN
    PERFORM snowdrift.check_not_reserved(tables);
    FOREACH t IN ARRAY tables LOOP
        key := snowdrift.reservation_key(t);
        WHILE pg_advisory_unlock(key) LOOP
        END LOOP;
        IF is_reserved THEN
            PERFORM pg_advisory_lock(key);
        END IF;
    END LOOP;
END $$;
COMMENT ON PROCEDURE snowdrift.reserve_tables(regclass[], boolean) IS 'reserve tables for the script of this session until it ends, or release them';

-- Lock tables exclusively, with short requests, and execute statements. These contain definitions that PostgreSQL has
-- written for this search path.
CREATE OR REPLACE PROCEDURE snowdrift.change_briefly(tables regclass[], statements text) LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM snowdrift.check_not_reserved(tables);
    PERFORM snowdrift.lock_exclusively(tables);
    PERFORM set_config('lock_timeout', '400ms', true);    -- for locks of other relations
    EXECUTE statements;
END $$;
COMMENT ON PROCEDURE snowdrift.change_briefly(regclass[], text) IS 'lock tables exclusively in short requests, and execute statements';

-- Fill the shadows of a table's rows, in short transactions. In one of the parts of the table, skip rows that others
-- have locked; in the whole table, wait until their transactions have ended. An interrupted copy begins again at the
-- start of its part, but does not write rows again that have been filled. The trigger fills rows that are written
-- later. duty: the share of the time in which the procedure works.
CREATE OR REPLACE PROCEDURE snowdrift.copy_keys("table" regclass, duty double precision DEFAULT 0.5, part integer DEFAULT NULL, parts integer DEFAULT NULL)
    LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
    path CONSTANT pg_catalog.text := pg_catalog.current_setting('search_path');
    c pg_catalog.record;
    file pg_catalog.oid;
    blocks pg_catalog.int8;
    first pg_catalog.int8;
    last pg_catalog.int8;
    until pg_catalog.int8;    -- the end of the part
    size pg_catalog.int8 := 50;    -- of a transaction, in blocks, so that it takes 0.05 s
    found pg_catalog.int8;
    copied pg_catalog.int8;
    missed pg_catalog.int8;
    total pg_catalog.int8 := 0;
    begun pg_catalog.timestamptz;
    noted pg_catalog.timestamptz;
    seconds pg_catalog.float8;
BEGIN
    LOOP
        PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);    -- until COMMIT
        begun := clock_timestamp();
        IF pg_relation_filenode("table") IS DISTINCT FROM file THEN    -- also if VACUUM FULL or CLUSTER has moved the rows
            SELECT * INTO c FROM snowdrift.copy_statements("table");
            EXIT WHEN c.columns IS NULL;
            PERFORM snowdrift.check_table_owners(ARRAY["table"::oid]);
            file := pg_relation_filenode("table");
            blocks := pg_relation_size("table") / current_setting('block_size')::integer;
            first := coalesce(blocks * (part - 1) / parts, 0);
            until := coalesce(blocks * part / parts, blocks);
        END IF;
        last := least(first + size, until);
        EXIT WHEN first >= last;
        -- Triggers of the table fire unless the role may suppress them: that of the shadows always does.
        IF has_parameter_privilege('session_replication_role', 'SET') THEN
            PERFORM set_config('session_replication_role', 'replica', true);
        END IF;
        PERFORM set_config('search_path', path, true);
        EXECUTE c.fill INTO found, copied USING pg_catalog.format('(%s,0)', first), pg_catalog.format('(%s,0)', last);
        missed := 0;
        IF part IS NULL AND copied OPERATOR(pg_catalog.=) 0 THEN
            EXECUTE c.count_missed INTO missed USING pg_catalog.format('(%s,0)', first), pg_catalog.format('(%s,0)', last);
        END IF;
        PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
        IF copied < found THEN
            RAISE 'a trigger of table % keeps rows from being changed', "table" USING ERRCODE = '55000', HINT = 'Disable it, and run the script again.';
        END IF;
        IF missed = 0 AND (part IS NOT NULL OR copied = 0) THEN
            first := last;
        END IF;
        total := total + copied;
        IF (part IS NOT NULL OR parts IS NULL)    -- not if all parts have been copied
                AND (noted IS NULL OR clock_timestamp() > noted + interval '5 s' OR first >= until) THEN
            IF snowdrift.note_progress("table", first, blocks, total, coalesce(part, 1) = 1 AND noted IS NULL) THEN
                total := 0;
            END IF;
            noted := clock_timestamp();
        END IF;
        seconds := extract(epoch FROM clock_timestamp() - begun);
        size := greatest(1, least(size * 2, size * 0.05 / greatest(seconds, 0.001), 200));
        seconds := CASE WHEN missed > 0 THEN 0.2 ELSE seconds * (1 / duty - 1) END;
        COMMIT;
        PERFORM pg_catalog.pg_sleep(seconds);
    END LOOP;
    COMMIT;
END $$;
COMMENT ON PROCEDURE snowdrift.copy_keys(regclass, double precision, integer, integer)
    IS 'copy keys to the columns that will replace them, in short transactions';

-- The statements of copy_keys for the blocks from $1 to $2. They do not wait for a row that another transaction has
-- locked, because that transaction could wait for a row that is already locked here.
CREATE OR REPLACE FUNCTION snowdrift.copy_statements("table" regclass, OUT columns text, OUT fill text, OUT count_missed text)
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
    missing text;
BEGIN
    SELECT string_agg(format('%I = %I', s.attname, o.attname), ', '),
        format('FROM ONLY %s WHERE ctid OPERATOR(pg_catalog.>=) $1::pg_catalog.tid AND ctid OPERATOR(pg_catalog.<) $2::pg_catalog.tid AND NOT (%s)',
            snowdrift.qualified_name($1), string_agg(snowdrift.equality(quote_ident(s.attname), quote_ident(o.attname), o.attnotnull), ' AND '))
    INTO columns, missing FROM pg_attribute AS o JOIN pg_attribute AS s ON s.attrelid = o.attrelid AND s.attname = snowdrift.shadow_name(o.attname)
    WHERE o.attrelid = $1 AND o.attnum > 0 AND NOT o.attisdropped;
    fill := format('WITH found AS MATERIALIZED (SELECT ctid %3$s FOR NO KEY UPDATE SKIP LOCKED), '
        'filled AS (UPDATE ONLY %1$s SET %2$s WHERE ctid OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT ctid FROM found)) RETURNING 1) '
        'SELECT (SELECT pg_catalog.count(*) FROM found), (SELECT pg_catalog.count(*) FROM filled)', snowdrift.qualified_name($1), columns, missing);
    count_missed := 'SELECT pg_catalog.count(*) ' || missing;
END $$;

-- Store the progress in the comment of the table's first shadow, for key_copies. Nothing else depends on it: if another
-- transaction locks the table against this, the progress is not stored.
CREATE OR REPLACE FUNCTION snowdrift.note_progress("table" regclass, done bigint, blocks bigint, copied bigint, is_first boolean) RETURNS boolean
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_variable
DECLARE
    given CONSTANT text := current_setting('lock_timeout');
    before record;
BEGIN
    SELECT * INTO before FROM snowdrift.key_copies AS k WHERE k."table" = note_progress."table" AND NOT is_first;
    PERFORM set_config('lock_timeout', '10ms', true);
    EXECUTE (SELECT format('COMMENT ON COLUMN %s.%I IS %L', snowdrift.qualified_name("table"), attname, format('%s of %s blocks, %s rows, from %s to %s us', done, blocks, coalesce(before.rows, 0) + copied,
            (extract(epoch FROM coalesce(before.started_at, clock_timestamp())) * 1000000)::bigint, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint))
        FROM pg_attribute WHERE attrelid = "table" AND starts_with(attname, '_snowdrift_') AND NOT attisdropped ORDER BY attnum LIMIT 1);
    PERFORM set_config('lock_timeout', given, true);
    RETURN true;
EXCEPTION WHEN lock_not_available THEN
    RETURN false;
END $$;

-- Any role can write such a comment, on a table of its own, so no number may be out of range.
CREATE OR REPLACE VIEW snowdrift.key_copies AS
    SELECT "table", round(100.0 * done / greatest(blocks, 1), 1) AS percent, rows,
        CASE WHEN done > 0 THEN date_trunc('second'::text, make_interval(secs => greatest(0::float8, least(1e9::float8,
            extract(epoch FROM updated_at - started_at)::float8 * (blocks - done) / done)))) END AS time_left, started_at, updated_at
    FROM (SELECT attrelid::regclass AS "table", p[1]::bigint AS done, p[2]::bigint AS blocks, p[3]::bigint AS rows, to_timestamp(p[4]::float8 / 1e6::float8) AS started_at,
            to_timestamp(p[5]::float8 / 1e6::float8) AS updated_at
        FROM pg_attribute, LATERAL regexp_match(col_description(attrelid, attnum),
            '^([0-9]{1,10}) of ([0-9]{1,10}) blocks, ([0-9]{1,18}) rows, from ([0-9]{1,16}) to ([0-9]{1,16}) us$'::text) AS p
        WHERE starts_with(attname::text, '_snowdrift_'::text) AND NOT attisdropped AND p IS NOT NULL) AS c;
COMMENT ON VIEW snowdrift.key_copies IS 'progress of the copies of keys to the columns that will replace them, in conversions that have not ended';

-- Conversion of keys while applications write: the steps before the swap.

-- The checks that tables need until the swap: that shadows are equal, and those like the checks of their originals. made: how
-- PostgreSQL shows them; null if the name determines the definition
CREATE OR REPLACE FUNCTION snowdrift.wanted_checks(plan snowdrift.conversion, definitions jsonb, OUT "table" oid, OUT name name, OUT definition text, OUT made text, OUT is_equality boolean)
    RETURNS SETOF record LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT s."table", snowdrift.equality_name(s.name, s.is_required),
        format('CHECK (%s)', snowdrift.equality(quote_ident(s.shadow), quote_ident(s.name), s.is_required)), NULL::text, true
    FROM snowdrift.shadows(plan) AS s
    UNION ALL SELECT d."table", snowdrift.shadow_name(d.name), d.definition, d.made, false
    FROM jsonb_to_recordset(definitions) AS d("table" oid, class oid, name name, definition text, made text) WHERE d.class = 'pg_constraint'::regclass;
END $$;

-- The shadows of constraints and indexes whose originals were dropped or changed since: the statements that drop them
CREATE OR REPLACE FUNCTION snowdrift.stale_shadows(plan snowdrift.conversion, definitions jsonb, OUT object oid, OUT statement text) RETURNS SETOF record
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off
    SET timezone = 'UTC' SET datestyle = ISO SET intervalstyle = postgres SET extra_float_digits = 3 AS $$
#variable_conflict use_column
DECLARE
    changed CONSTANT oid[] := plan."tables" || ARRAY(SELECT m."table" FROM unnest(plan.members) AS m);
BEGIN
    RETURN QUERY WITH wanted("table", name, made) AS MATERIALIZED (
        SELECT k."table", k.name, k.made FROM snowdrift.wanted_checks(plan, definitions) AS k
        UNION ALL SELECT d."table", snowdrift.shadow_name(d.name), concat(CASE WHEN indisunique THEN 'UNIQUE ' END, d.made, ' ' || nullif(reltablespace, 0))
        FROM jsonb_to_recordset(definitions) AS d("table" oid, class oid, object oid, name name, made text)
            JOIN pg_index ON indexrelid = d.object JOIN pg_class AS c ON c.oid = indexrelid WHERE d.class = 'pg_class'::regclass
        UNION ALL SELECT r."table", snowdrift.shadow_name(r.name), r.definition FROM snowdrift.shadow_references(plan) AS r
    ), shadow(relation, number) AS MATERIALIZED (
        SELECT attrelid, attnum FROM pg_attribute WHERE starts_with(attname, '_snowdrift_') AND NOT attisdropped
    ), existing(step, object, "table", other, name, made, index) AS MATERIALIZED (
        SELECT CASE contype WHEN 'f' THEN 1 ELSE 2 END, c.oid, conrelid, confrelid, conname, regexp_replace(pg_get_constraintdef(c.oid), ' NOT VALID$', ''), conindid
        FROM pg_constraint AS c JOIN pg_class AS t ON t.oid = conrelid
        WHERE starts_with(conname, '_snowdrift_') AND EXISTS (SELECT FROM shadow WHERE relation = conrelid AND number = ANY (conkey) OR relation = confrelid AND number = ANY (confkey))
            AND (contype IN ('c', 'f') AND conrelid = ANY (changed)
                OR contype = 'f' AND confrelid = ANY (changed) AND NOT EXISTS (SELECT FROM shadow WHERE relation = conrelid) AND pg_has_role(relowner, 'USAGE'))
        UNION ALL SELECT 3, indexrelid, indrelid, 0, relname, concat(CASE WHEN indisunique THEN 'UNIQUE ' END, snowdrift.index_definition(indexrelid), ' ' || nullif(reltablespace, 0)), 0
        FROM snowdrift.indexes_of_shadows(changed) AS x JOIN pg_index ON indexrelid = x JOIN pg_class AS c ON c.oid = x
    ), stale AS MATERIALIZED (
        SELECT * FROM existing AS e WHERE NOT EXISTS (SELECT FROM wanted AS w WHERE w."table" = e."table" AND w.name = e.name AND (w.made IS NULL OR w.made = e.made))
    )
    SELECT e.object, CASE step WHEN 3 THEN format('DROP INDEX CONCURRENTLY %s', snowdrift.qualified_name(e.object))
        ELSE snowdrift.brief_call(array_remove(ARRAY["table", other], 0::oid), format('ALTER TABLE %s DROP CONSTRAINT %I', snowdrift.qualified_name("table"), name)) END
    FROM existing AS e WHERE e.object IN (SELECT s.object FROM stale AS s) OR index IN (SELECT s.object FROM stale AS s) ORDER BY step, e.object;
END $$;

-- What remains to be done before the swap, in order
CREATE OR REPLACE FUNCTION snowdrift.preparing_statements(plan snowdrift.conversion, duty double precision) RETURNS SETOF text
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
    definitions CONSTANT jsonb := (SELECT jsonb_agg(d) FROM snowdrift.shadow_definitions(plan) AS d);
    stale oid[];    -- constraints and indexes
    t record;
    parts integer;
BEGIN
    FOR t IN SELECT * FROM snowdrift.stale_shadows(plan, definitions) LOOP
        stale := stale || t.object;
        RETURN NEXT t.statement;
    END LOOP;
    stale := coalesce(stale, '{}');

    -- All shadows and checks of a table, with its trigger
    FOR t IN SELECT c.oid, snowdrift.qualified_name(c.oid) AS name, relname, relnamespace
            FROM pg_class AS c WHERE c.oid IN (SELECT m."table" FROM unnest(plan.members) AS m) ORDER BY c.oid LOOP
        RETURN QUERY WITH s AS MATERIALIZED (
            SELECT * FROM snowdrift.shadows(plan) WHERE "table" = t.oid
        ), changes(n, number, change) AS (
            SELECT 1, number, format('ADD COLUMN %I pg_catalog.int8', shadow) FROM s WHERE shadow_number IS NULL
            UNION ALL SELECT 2, NULL, format('ADD CONSTRAINT %I %s NOT VALID', w.name, w.definition) FROM snowdrift.wanted_checks(plan, definitions) AS w
            WHERE w."table" = t.oid AND NOT EXISTS (SELECT FROM pg_constraint AS c WHERE conrelid = t.oid AND c.conname = w.name AND c.oid <> ALL (stale))
        ), callers(grantees) AS (
            SELECT concat_ws(', ', 'PUBLIC', string_agg(DISTINCT snowdrift.grantee_name(grantee), ', ') FILTER (WHERE grantee NOT IN (0, defaclrole)))
            FROM pg_default_acl, aclexplode(defaclacl) WHERE pg_get_userbyid(defaclrole) = current_user AND defaclobjtype = 'f' AND defaclnamespace IN (0, t.relnamespace)
        ), filling(function, body, condition) AS (
            SELECT format('%s.%I()', t.relnamespace::regnamespace, snowdrift.shadow_name(t.relname)),
                concat('BEGIN ', string_agg(format('NEW.%I := NEW.%I; ', shadow, name), '' ORDER BY number), 'RETURN NEW; END'),
                string_agg(snowdrift.equality('NEW.' || quote_ident(shadow), 'NEW.' || quote_ident(name), false), ' AND ' ORDER BY number) FROM s
        ), state(has_trigger, functions, is_current) AS (
            SELECT count(tgrelid) > 0, (SELECT string_agg(DISTINCT format('DROP FUNCTION %s', f::regprocedure), '; ')
                    FROM unnest(array_agg(p.oid) FILTER (WHERE starts_with(proname, '_snowdrift_')) || min(to_regprocedure(function)::oid)) AS f WHERE f IS NOT NULL), coalesce(bool_or(tgenabled = 'A' AND p.oid = to_regprocedure(function) AND prosrc = body AND NOT has_function_privilege('public', p.oid, 'EXECUTE')), false)
            FROM filling LEFT JOIN (pg_trigger JOIN pg_proc AS p ON p.oid = tgfoid) ON tgrelid = t.oid AND tgname = '~snowdrift'
        ), all_changes(changes, is_current) AS (
            SELECT string_agg(change, ', ' ORDER BY n, number, change), bool_and(is_current) AND NOT coalesce(bool_or(n = 1), false) FROM state LEFT JOIN changes ON true
        )
        SELECT snowdrift.brief_call(ARRAY[t.oid], concat_ws('; ',
            format('ALTER TABLE %s ', t.name) || changes,
            -- Not CREATE OR REPLACE: a function of another owner would keep this owner.
            CASE WHEN NOT c.is_current THEN concat_ws('; ',
                CASE WHEN has_trigger THEN format('DROP TRIGGER "~snowdrift" ON %s', t.name) END,
                functions,
                format('CREATE FUNCTION %s RETURNS trigger LANGUAGE plpgsql AS %L', function, body),
                format('CREATE TRIGGER "~snowdrift" BEFORE INSERT OR UPDATE ON %s FOR EACH ROW WHEN (NOT (%s)) EXECUTE FUNCTION %s', t.name, condition, function),
                format('REVOKE ALL ON FUNCTION %s FROM %s', function, grantees),    -- so that no trigger of another role depends on it
                format('ALTER TABLE %s ENABLE ALWAYS TRIGGER "~snowdrift"', t.name)) END))    -- also while session_replication_role is replica
        FROM all_changes AS c, state, filling, callers WHERE changes IS NOT NULL OR NOT c.is_current;
    END LOOP;

    -- The copy of a table is complete when its checks of equality are valid.
    FOR t IN SELECT c.oid, snowdrift.qualified_name(c.oid) AS name, snowdrift.shadows_to_validate(plan, c.oid, definitions, stale) AS checks
            FROM pg_class AS c WHERE c.oid IN (SELECT m."table" FROM unnest(plan.members) AS m) ORDER BY c.oid LOOP
        IF EXISTS (SELECT FROM snowdrift.wanted_checks(plan, definitions) AS w WHERE w."table" = t.oid AND w.is_equality AND w.name = ANY (t.checks)) THEN
            parts := CASE WHEN pg_relation_size(t.oid) > 8000000 THEN 10 END;
            FOR part IN 1 .. coalesce(parts, 0) LOOP
                RETURN NEXT format('CALL snowdrift.copy_keys(%L::pg_catalog.regclass, %s, %s, %s)', t.name, duty, part, parts);
                RETURN NEXT format('VACUUM (TRUNCATE false) %s', t.name);    -- the next part uses the space of the rows' former versions
            END LOOP;
            RETURN NEXT format('CALL snowdrift.copy_keys(%L::pg_catalog.regclass, %s%s)', t.name, duty, ', parts => ' || parts);
            RETURN NEXT format('VACUUM (ANALYZE, TRUNCATE false) %s', t.name);
        END IF;
        IF cardinality(t.checks) > 0 THEN
            RETURN NEXT format('ALTER TABLE %s %s', t.name, (SELECT string_agg(format('VALIDATE CONSTRAINT %I', k), ', ') FROM unnest(t.checks) AS k));
        END IF;
    END LOOP;

    -- After the copy: if there were unique indexes before, the updates of the copy would block checks of foreign keys.
    FOR t IN SELECT x.indexrelid AS oid, c.relnamespace::regnamespace AS schema, shadow, o.indisunique, spcname, snowdrift.qualified_name(d."table") AS name, d.definition
            FROM jsonb_to_recordset(definitions) AS d("table" oid, class oid, object oid, name name, definition text)
                JOIN pg_class AS c ON c.oid = d.object JOIN pg_index AS o ON o.indexrelid = d.object LEFT JOIN pg_tablespace AS s ON s.oid = c.reltablespace
                CROSS JOIN LATERAL (SELECT snowdrift.shadow_name(d.name)) AS n(shadow)
                LEFT JOIN pg_class AS i ON i.relname = shadow AND i.relnamespace = c.relnamespace LEFT JOIN pg_index AS x ON x.indexrelid = i.oid AND x.indrelid = d."table" AND x.indexrelid <> ALL (stale)
            WHERE d.class = 'pg_class'::regclass AND x.indisvalid IS NOT TRUE ORDER BY o.indisunique, d."table", d.object LOOP
        IF t.oid IS NOT NULL THEN    -- the rest of a statement that was interrupted
            RETURN NEXT format('DROP INDEX CONCURRENTLY %s.%I', t.schema, t.shadow);
        END IF;
        RETURN QUERY SELECT format('SET default_tablespace = %L', t.spcname) WHERE t.spcname IS NOT NULL;
        RETURN NEXT format('CREATE %sINDEX CONCURRENTLY %I ON %s %s', CASE WHEN t.indisunique THEN 'UNIQUE ' END, t.shadow, t.name, t.definition);
        RETURN QUERY SELECT 'SET default_tablespace = '''''::text WHERE t.spcname IS NOT NULL;
    END LOOP;

    FOR t IN SELECT r.*, c.oid AS added, shadow, snowdrift.qualified_name(r."table") AS source, o.convalidated
            FROM snowdrift.shadow_references(plan) AS r JOIN pg_constraint AS o ON o.oid = r.object CROSS JOIN LATERAL (SELECT snowdrift.shadow_name(r.name)) AS n(shadow)
                LEFT JOIN pg_constraint AS c ON c.conrelid = r."table" AND c.conname = shadow AND c.oid <> ALL (stale)
            WHERE c.oid IS NULL OR (o.convalidated AND NOT c.convalidated) ORDER BY r."table", r.object LOOP
        IF t.added IS NULL THEN
            RETURN NEXT snowdrift.brief_call(ARRAY[t."table", t.other],
                format('ALTER TABLE %s ADD CONSTRAINT %I %s NOT VALID', t.source, t.shadow, t.definition));
        END IF;
        IF t.convalidated THEN
            RETURN NEXT format('ALTER TABLE %s VALIDATE CONSTRAINT %I', t.source, t.shadow);
        END IF;
    END LOOP;
END $$;

-- The checks of a table's shadows that are not valid
CREATE OR REPLACE FUNCTION snowdrift.shadows_to_validate(plan snowdrift.conversion, "table" oid, definitions jsonb, stale oid[]) RETURNS text[]
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN
    RETURN ARRAY(SELECT w.name FROM snowdrift.wanted_checks(plan, definitions) AS w
        WHERE w."table" = $2 AND NOT EXISTS (SELECT FROM pg_constraint AS c WHERE conrelid = $2 AND conname = w.name AND convalidated AND c.oid <> ALL (stale)) ORDER BY w.name);
END $$;

-- Conversion of keys while applications write: the swap, in which the shadows take the places of their originals.

-- The statements of the swap. Dropping an original also drops its indexes, checks and statistics objects, and the
-- sequences that it owns.
CREATE OR REPLACE FUNCTION snowdrift.swap_statements(plan snowdrift.conversion, keep_sequences boolean, path text) RETURNS SETOF text
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off
    SET timezone = 'UTC' SET datestyle = ISO SET intervalstyle = postgres SET extra_float_digits = 3 AS $$
#variable_conflict use_column
DECLARE
    later text[] := '{}';
    t record;
    r record;
BEGIN
    RETURN QUERY SELECT * FROM snowdrift.statements_before(plan);
    RETURN QUERY SELECT * FROM snowdrift.default_statements(plan);
    FOR r IN SELECT *, snowdrift.qualified_name("table") AS source FROM snowdrift.shadow_references(plan) LOOP
        RETURN NEXT format('ALTER TABLE %s DROP CONSTRAINT %I', r.source, r.name);
        later := later || format('ALTER TABLE %s RENAME CONSTRAINT %I TO %I', r.source, snowdrift.shadow_name(r.name), r.name)
            || ARRAY(SELECT format('ALTER TABLE %s ALTER CONSTRAINT %I DEFERRABLE INITIALLY IMMEDIATE', r.source, r.name) FROM pg_constraint AS c
                WHERE c.oid = r.object AND condeferrable AND NOT condeferred)
            || ARRAY(SELECT format('COMMENT ON CONSTRAINT %I ON %s IS %L', r.name, r.source, d) FROM obj_description(r.object, 'pg_constraint') AS d WHERE d IS NOT NULL);
    END LOOP;

    RETURN QUERY SELECT DISTINCT format('ALTER SEQUENCE %s AS pg_catalog.int8', snowdrift.qualified_name(seqrelid))    -- those of defaults that are not owned
    FROM unnest(plan.members) AS m JOIN pg_attrdef AS a ON adrelid = m."table" AND adnum = m.number JOIN pg_depend AS d ON d.classid = 'pg_attrdef'::regclass AND d.objid = a.oid
        JOIN pg_sequence ON d.refclassid = 'pg_class'::regclass AND d.refobjid = seqrelid JOIN pg_class AS c ON c.oid = seqrelid
    WHERE keep_sequences AND seqtypid <> 'int8'::regtype AND pg_has_role(relowner, 'USAGE');

    FOR r IN SELECT s.*, a.*, snowdrift.qualified_name(s."table") AS table_name, (s."table", s.number)::snowdrift.key_column = ANY (plan.new_keys) AS is_new,
                CASE WHEN attidentity = '' THEN pg_get_expr(adbin, adrelid) END AS value, col_description(attrelid, attnum) AS comment, conname
            FROM snowdrift.shadows(plan) AS s JOIN pg_attribute AS a ON attrelid = s."table" AND attnum = s.number
                LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum LEFT JOIN pg_constraint AS c ON conrelid = attrelid AND contype = 'n' AND conkey = ARRAY[attnum] LOOP
        IF r.conname IS NOT NULL THEN    -- from PostgreSQL 18 on
            RETURN NEXT format('ALTER TABLE %s ADD CONSTRAINT %I NOT NULL %I', r.table_name, snowdrift.shadow_name(r.conname), r.shadow);
            later := later || format('ALTER TABLE %s RENAME CONSTRAINT %I TO %I', r.table_name, snowdrift.shadow_name(r.conname), r.conname);
        ELSIF r.is_required THEN
            RETURN NEXT format('ALTER TABLE %s ALTER COLUMN %I SET NOT NULL', r.table_name, r.shadow);
        END IF;
        FOR t IN SELECT o.*, snowdrift.qualified_name(o.sequence) AS name, q.* FROM snowdrift.owned_sequences(ARRAY[(r."table", r.number)::snowdrift.key_column]) AS o
                JOIN pg_sequence AS q ON q.seqrelid = o.sequence WHERE o.sequence NOT IN (SELECT u.sequence FROM snowdrift.unused_sequences(plan) AS u) LOOP
            IF t.is_identity THEN    -- cannot be given to another column: a new sequence continues after it
                later := later || format('ALTER TABLE %s ALTER COLUMN %I ADD GENERATED %s AS IDENTITY (SEQUENCE NAME %s INCREMENT BY %s MINVALUE %s %s START WITH %s CACHE %s %sCYCLE)',
                    r.table_name, r.name, CASE r.attidentity WHEN 'a' THEN 'ALWAYS' ELSE 'BY DEFAULT' END, t.name, t.seqincrement, t.seqmin,
                    CASE WHEN t.seqmax NOT IN (32767, 2147483647) THEN format('MAXVALUE %s', t.seqmax) END, t.seqstart, t.seqcache, CASE WHEN NOT t.seqcycle THEN 'NO ' END)
                    || ARRAY(SELECT format('REVOKE ALL ON SEQUENCE %s FROM %s', t.name, snowdrift.grantee_name(grantee))
                        FROM pg_class AS c JOIN pg_default_acl ON defaclrole = relowner AND defaclobjtype = 'S' AND defaclnamespace IN (0, relnamespace), aclexplode(defaclacl)
                        WHERE c.oid = t.sequence AND grantee <> relowner)
                    || ARRAY(SELECT format('GRANT %s ON SEQUENCE %s TO %s%s', privilege_type, t.name, snowdrift.grantee_name(grantee),
                        CASE WHEN is_grantable THEN ' WITH GRANT OPTION' END) FROM pg_class AS c, aclexplode(relacl) WHERE c.oid = t.sequence AND grantee <> relowner)
                    || ARRAY(SELECT format('COMMENT ON SEQUENCE %s IS %L', t.name, d) FROM obj_description(t.sequence, 'pg_class') AS d WHERE d IS NOT NULL);
            ELSE
                RETURN NEXT format('ALTER SEQUENCE %s OWNED BY NONE', t.name);
                later := later || format('ALTER SEQUENCE %s OWNED BY %s.%I', t.name, r.table_name, r.name);
            END IF;
        END LOOP;
        later := format('ALTER TABLE %s RENAME COLUMN %I TO %I', r.table_name, r.shadow, r.name) || later    -- before all others
            || CASE WHEN r.is_new OR r.value IS NOT NULL THEN ARRAY[format('ALTER TABLE %s ALTER COLUMN %I SET DEFAULT %s', r.table_name, r.name, CASE WHEN r.is_new THEN plan.call ELSE coalesce(substring(r.value FROM '^[(](nextval[(].*[)])[)]::(?:smallint|integer)$'), r.value) END)] ELSE '{}' END
            || CASE WHEN r.attstattarget >= 0 THEN ARRAY[format('ALTER TABLE %s ALTER COLUMN %I SET STATISTICS %s', r.table_name, r.name, r.attstattarget)] ELSE '{}' END
            || ARRAY(SELECT format('ALTER TABLE %s ALTER COLUMN %I SET (%s)', r.table_name, r.name, o) FROM unnest(r.attoptions) AS o WHERE starts_with(o, 'n_distinct'))
            || ARRAY(SELECT format('SECURITY LABEL FOR %I ON COLUMN %s.%I IS %L', provider, r.table_name, r.name, label)
                FROM pg_seclabel WHERE classoid = 'pg_class'::regclass AND objoid = r."table" AND objsubid = r.number)
            || format('COMMENT ON COLUMN %s.%I IS %L', r.table_name, r.name, r.comment);    -- removes the progress, too
    END LOOP;
    RETURN QUERY SELECT s FROM pg_trigger, unnest(ARRAY[format('DROP TRIGGER "~snowdrift" ON %s', snowdrift.qualified_name(tgrelid)), format('DROP FUNCTION %s', tgfoid::regprocedure)])
        WITH ORDINALITY AS t(s, n) WHERE tgname = '~snowdrift' AND tgrelid IN (SELECT m."table" FROM unnest(plan.members) AS m) ORDER BY tgrelid, n;

    FOR r IN SELECT d.*, snowdrift.qualified_name(d."table") AS table_name, nspname, k.oid AS constraint_oid, k.contype, i.*, snowdrift.shadow_name(d.name) AS shadow
            FROM snowdrift.shadow_definitions(plan) AS d JOIN pg_class AS c ON c.oid = d."table" JOIN pg_namespace AS n ON n.oid = c.relnamespace
                LEFT JOIN pg_index AS i ON indexrelid = d.object
                LEFT JOIN pg_constraint AS k ON d.object IN (k.oid, k.conindid) AND k.contype IN ('p', 'u', 'c') AND k.conrelid = d."table" ORDER BY d."table", d.object LOOP
        later := later
            || CASE WHEN r.class = 'pg_constraint'::regclass THEN ARRAY[format('ALTER TABLE %s RENAME CONSTRAINT %I TO %I', r.table_name, r.shadow, r.name)] ELSE
                ARRAY(SELECT format('ALTER TABLE %I.%I RENAME COLUMN %I TO %I', r.nspname, r.shadow, s.shadow, s.name) FROM pg_attribute
                    JOIN snowdrift.shadows(plan) AS s ON s."table" = r."table" AND s.shadow = attname WHERE attrelid = to_regclass(format('%I.%I', r.nspname, r.shadow)))
                || format('ALTER INDEX %I.%I RENAME TO %I', r.nspname, r.shadow, r.name)
                || ARRAY(SELECT format('ALTER INDEX %I.%I ALTER COLUMN %s SET STATISTICS %s', r.nspname, r.name, attnum, attstattarget) FROM pg_attribute
                    WHERE attrelid = r.object AND attstattarget >= 0
                        AND EXISTS (SELECT FROM pg_index AS x WHERE x.indexrelid = to_regclass(format('%I.%I', r.nspname, r.shadow)) AND x.indkey[attnum - 1] = 0)) END
            || ARRAY(SELECT x FROM (VALUES
                (1, r.contype IN ('p', 'u'), format('ALTER TABLE %s ADD CONSTRAINT %I %s USING INDEX %I', r.table_name, r.name, CASE r.contype WHEN 'p' THEN 'PRIMARY KEY' ELSE 'UNIQUE' END, r.name)),
                (2, r.indisreplident, format('ALTER TABLE %s REPLICA IDENTITY USING INDEX %I', r.table_name, r.name)),
                (3, r.indisclustered, format('ALTER TABLE %s CLUSTER ON %I', r.table_name, r.name)),
                (4, r.constraint_oid IS NOT NULL, format('COMMENT ON CONSTRAINT %I ON %s IS %L', r.name, r.table_name, obj_description(r.constraint_oid, 'pg_constraint'))),
                (5, r.class = 'pg_class'::regclass, format('COMMENT ON INDEX %I.%I IS %L', r.nspname, r.name, obj_description(r.object, 'pg_class')))) AS v(n, is_used, x)
                WHERE is_used AND x NOT LIKE '% IS NULL' ORDER BY n);
    END LOOP;
    FOR r IN SELECT DISTINCT ON (s.oid) s.*, format('%I.%I', nspname, stxname) AS name, obj_description(s.oid, 'pg_statistic_ext') AS comment
            FROM pg_statistic_ext AS s JOIN pg_namespace AS n ON n.oid = stxnamespace JOIN pg_depend ON classid = 'pg_statistic_ext'::regclass AND objid = s.oid
                JOIN unnest(plan.members) AS m ON refclassid = 'pg_class'::regclass AND refobjid = m."table" AND refobjsubid = m.number ORDER BY s.oid LOOP
        later := later || pg_get_statisticsobjdef(r.oid) || ARRAY(SELECT format('ALTER STATISTICS %s OWNER TO %s', r.name, r.stxowner::regrole) WHERE pg_get_userbyid(r.stxowner) <> current_user)
            || CASE WHEN r.stxstattarget >= 0 THEN ARRAY[format('ALTER STATISTICS %s SET STATISTICS %s', r.name, r.stxstattarget)] ELSE '{}' END
            || format('COMMENT ON STATISTICS %s IS %L', r.name, r.comment);
    END LOOP;

    RETURN QUERY SELECT format('ALTER TABLE %s %s', snowdrift.qualified_name(s."table"), string_agg(format('DROP COLUMN %I', s.name), ', ' ORDER BY number))
    FROM snowdrift.shadows(plan) AS s GROUP BY s."table" ORDER BY s."table";
    RETURN QUERY SELECT unnest(later);
    RETURN QUERY SELECT * FROM snowdrift.statements_after(plan, path);
END $$;

-- The statements that can be made only under the exclusive locks, because weaker locks do not protect what they copy:
-- the privileges on columns, and the positions of the sequences of identities
CREATE OR REPLACE FUNCTION snowdrift.late_statements(plan snowdrift.conversion) RETURNS SETOF text
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
    name text;
    last record;
BEGIN
    RETURN QUERY SELECT format('GRANT %s (%I) ON %s TO %s%s', privilege_type, attname, snowdrift.qualified_name(attrelid),
        snowdrift.grantee_name(grantee), CASE WHEN is_grantable THEN ' WITH GRANT OPTION' END)
    FROM unnest(plan.members) AS m JOIN pg_attribute ON attrelid = m."table" AND attnum = m.number, aclexplode(attacl)
    ORDER BY attrelid, attnum, grantee, privilege_type;
    FOR name IN SELECT snowdrift.qualified_name(sequence) FROM snowdrift.owned_sequences(plan.members) AS o
            WHERE is_identity AND o.key <> ALL (plan.new_keys) LOOP
        EXECUTE format('SELECT last_value, is_called FROM %s', name) INTO last;
        RETURN NEXT format('SELECT pg_catalog.setval(%L::pg_catalog.regclass, %s, %L)', name, last.last_value, last.is_called);
    END LOOP;
END $$;

-- The swap is planned while the tables are locked only against changes of their definitions. If another object begins to
-- depend on a column meanwhile, dropping the column fails, and nothing is changed.
CREATE OR REPLACE PROCEDURE snowdrift.swap_keys(tables regclass[], generator text DEFAULT NULL, keep_sequences boolean DEFAULT false) LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
    call CONSTANT pg_catalog.text := snowdrift.generator_call(generator);
    plan snowdrift.conversion := snowdrift.plan_live(tables::pg_catalog.oid[], call, keep_sequences);
    locked CONSTANT pg_catalog.oid[] := plan."tables";
    relation pg_catalog.regclass;
    relations pg_catalog.regclass[];
    privileges pg_catalog.text;
    first_id pg_catalog.int8;
    path CONSTANT pg_catalog.text := pg_catalog.current_setting('search_path');
    schemas pg_catalog.text[];
    statements pg_catalog.text[];
    statement pg_catalog.text;
BEGIN
    FOREACH relation IN ARRAY locked LOOP
        PERFORM snowdrift.lock_against_changes(relation);
    END LOOP;
    plan := snowdrift.plan_live(tables::pg_catalog.oid[], call, keep_sequences);
    IF locked OPERATOR(pg_catalog.=) '{}'::pg_catalog.oid[] THEN
        RAISE 'the keys of the tables are already converted' USING ERRCODE = '55000', HINT = 'If columns whose names begin with _snowdrift_ are left, run abandon_script().';
    ELSIF plan."tables" OPERATOR(pg_catalog.<>) locked OR EXISTS (SELECT FROM snowdrift.preparing_statements(plan, 1)) THEN
        RAISE 'steps before the swap are missing, or tables have changed since' USING ERRCODE = '55000', HINT = 'Run the script again.';
    END IF;
    PERFORM snowdrift.check_obstacles(plan, ARRAY(SELECT * FROM snowdrift.live_refusals(plan, true)));
    IF NOT keep_sequences THEN
        EXECUTE pg_catalog.concat('SELECT ', call) INTO first_id;
        PERFORM snowdrift.check_keys(plan, first_id, false);
    END IF;
    schemas := snowdrift.schemas_of(plan);
    relations := snowdrift.relations_to_swap(plan);
    privileges := snowdrift.privileges_of(relations);
    statements := ARRAY(SELECT * FROM snowdrift.swap_statements(plan, keep_sequences, path));
    PERFORM snowdrift.check_not_reserved(plan."tables"::pg_catalog.regclass[]);
    PERFORM snowdrift.lock_exclusively(relations);
    IF snowdrift.privileges_of(relations) OPERATOR(pg_catalog.<>) privileges THEN
        RAISE 'tables have changed during the conversion' USING ERRCODE = '55000', HINT = 'Run the script again.';
    END IF;
    PERFORM pg_catalog.set_config('lock_timeout', '400ms', true);    -- for locks of other relations
    PERFORM snowdrift.check_schemas(schemas);
    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);    -- for which the definitions are written
    FOREACH statement IN ARRAY statements OPERATOR(pg_catalog.||) ARRAY(SELECT * FROM snowdrift.late_statements(plan)) LOOP
        EXECUTE statement;
    END LOOP;
    PERFORM pg_catalog.set_config('search_path', path, true);
    PERFORM snowdrift.check_schemas(schemas);
END $$;
COMMENT ON PROCEDURE snowdrift.swap_keys(regclass[], text, boolean) IS 'replace keys by the columns to which they have been copied, in one short transaction';

-- What statements of the swap restore, and no weaker lock protects: the privileges and comments of views and sequences
EXECUTE $sql$
CREATE OR REPLACE FUNCTION snowdrift.privileges_of(relations regclass[]) RETURNS text LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT coalesce(string_agg(concat_ws(' ', oid, relacl, reloptions, (SELECT string_agg(concat(attnum, attacl), ' ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = c.oid),
        (SELECT string_agg(description, ' ' ORDER BY objsubid) FROM pg_description WHERE objoid = c.oid AND classoid = 'pg_class'::regclass)), ' ' ORDER BY oid), '')
    FROM pg_class AS c WHERE oid = ANY (relations) AND relkind IN ('v', 'S');
END
$sql$;

-- The relations that a conversion locks, and the sequences that stay
CREATE OR REPLACE FUNCTION snowdrift.relations_to_swap(plan snowdrift.conversion) RETURNS regclass[]
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN snowdrift.relations_to_lock(plan) || ARRAY(SELECT sequence::regclass FROM snowdrift.owned_sequences(plan.members)
        WHERE sequence NOT IN (SELECT u.sequence FROM snowdrift.unused_sequences(plan) AS u));
END $$;

-- Conversion of keys while applications write: what users call. A script contains only what remains to be done.

-- The settings that long statements need. Statements that lock tables set lock_timeout themselves.
EXECUTE $sql$
CREATE OR REPLACE FUNCTION snowdrift.script_settings(duty double precision, OUT name text, OUT setting text) RETURNS SETOF record
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT v.name, v.setting FROM (VALUES ('statement_timeout', '0'), ('transaction_timeout', '0'), ('lock_timeout', '0'), ('default_tablespace', ''),
        ('max_parallel_maintenance_workers', CASE WHEN duty < 1 THEN '0' END), ('vacuum_cost_delay', CASE WHEN duty < 1 THEN '2ms' END)) AS v(name, setting)
    WHERE v.setting IS NOT NULL AND current_setting(v.name, true) IS NOT NULL;    -- transaction_timeout: since PostgreSQL 17
END
$sql$;

-- A comment on the order of columns, an estimate if there is something to copy, and then the statements
CREATE OR REPLACE FUNCTION snowdrift.script_statements(plan snowdrift.conversion, tables oid[], generator_name text, keep_sequences boolean, duty double precision)
    RETURNS SETOF text LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_variable
DECLARE
    names CONSTANT text := format('%L::pg_catalog.regclass[]', ARRAY(SELECT t::regclass FROM unnest(plan."tables") AS t));
    statements CONSTANT text[] := ARRAY(SELECT * FROM snowdrift.preparing_statements(plan, duty));
BEGIN
    RETURN QUERY SELECT format('-- column order: new columns come last, from the first statement on, in %s; name the columns in INSERT and COPY, and prepare SELECT * again',
        regexp_replace(string_agg(DISTINCT m."table"::regclass::text, ', '), '[[:cntrl:]]', ' ', 'g')) FROM unnest(plan.members) AS m HAVING count(*) > 0;
    RETURN QUERY SELECT format('-- estimate: %s of tables and indexes to copy: about %s minutes on an idle server (%s if duty is 1), %s of WAL, and %s of disk until the end', pg_size_pretty(bytes),
        ceil(bytes / 600e6 / duty), ceil(bytes / 600e6), pg_size_pretty(bytes * 4), pg_size_pretty(bytes * 6 / 10))
    FROM (SELECT sum(pg_total_relation_size(t))::bigint FROM (SELECT DISTINCT m."table" FROM unnest(plan.members) AS m) AS m(t)) AS s(bytes)
    WHERE array_to_string(statements, ' ') LIKE '%CALL snowdrift.copy_keys(%';
    RETURN QUERY SELECT format('SET %s = %L', s.name, s.setting) FROM snowdrift.script_settings(duty) AS s;
    RETURN NEXT format('CALL snowdrift.reserve_tables(%s, true)', names);
    RETURN QUERY SELECT unnest(statements);
    RETURN NEXT format('CALL snowdrift.swap_keys(%L::pg_catalog.regclass[]%s%s)', tables::regclass[], ', generator => ' || quote_literal(generator_name) || '::pg_catalog.text',
        CASE WHEN keep_sequences THEN ', keep_sequences => true' END);
    RETURN QUERY SELECT format('ANALYZE %s', snowdrift.qualified_name(t)) FROM (SELECT DISTINCT m."table" FROM unnest(plan.members) AS m) AS m(t) ORDER BY t;
    RETURN NEXT format('CALL snowdrift.reserve_tables(%s, false)', names);
    RETURN QUERY SELECT format('RESET %s', s.name) FROM snowdrift.script_settings(duty) AS s;
END $$;

CREATE OR REPLACE FUNCTION snowdrift.conversion_script(tables regclass[], generator text DEFAULT NULL, keep_sequences boolean DEFAULT false,
        duty double precision DEFAULT 0.5, fire_triggers boolean DEFAULT false) RETURNS SETOF text
    LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_variable
DECLARE
    call CONSTANT pg_catalog.text := snowdrift.generator_call(generator);
    plan snowdrift.conversion;
    first_id pg_catalog.int8;
    risks pg_catalog.text[];
BEGIN
    IF tables IS NULL OR keep_sequences IS NULL OR duty IS NULL OR fire_triggers IS NULL THEN
        RAISE 'tables, keep_sequences, duty and fire_triggers must not be null' USING ERRCODE = '22004';
    ELSIF keep_sequences AND generator IS NOT NULL THEN
        RAISE 'keep_sequences and a generator exclude each other' USING ERRCODE = '22023';
    ELSIF NOT duty OPERATOR(pg_catalog.>) 0.0::pg_catalog.float8 OR NOT duty OPERATOR(pg_catalog.<=) 1.0::pg_catalog.float8 THEN
        RAISE 'duty must be greater than 0 and at most 1' USING ERRCODE = '22023';
    ELSIF pg_catalog.array_position(pg_catalog.current_schemas(false), 'pg_catalog'::pg_catalog.name) OPERATOR(pg_catalog.>) 1 THEN
        RAISE 'search_path has other schemas before pg_catalog' USING ERRCODE = '55000',
            DETAIL = 'Definitions of indexes could refer to objects in these.', HINT = 'Set search_path without pg_catalog, which then comes first.';
    END IF;
    PERFORM snowdrift.check_can_change('snowdrift.conversion_script()', false);
    IF NOT keep_sequences THEN
        EXECUTE pg_catalog.concat('SELECT ', call) INTO first_id;
    END IF;
    plan := snowdrift.plan_live(tables::pg_catalog.oid[], call, keep_sequences);
    PERFORM snowdrift.check_not_begun(ARRAY(SELECT t::pg_catalog.oid FROM pg_catalog.unnest(tables) AS t EXCEPT SELECT m."table" FROM pg_catalog.unnest(plan.members) AS m));
    PERFORM snowdrift.check_obstacles(plan, ARRAY(SELECT * FROM snowdrift.live_refusals(plan, fire_triggers)));
    PERFORM snowdrift.check_locks(plan);
    IF NOT keep_sequences THEN
        PERFORM snowdrift.check_keys(plan, first_id, true);
    END IF;
    risks := ARRAY(SELECT * FROM snowdrift.column_order_risks(plan)) OPERATOR(pg_catalog.||) ARRAY(SELECT * FROM snowdrift.conversion_risks(plan, true));
    PERFORM snowdrift.report_conversion(plan, tables::pg_catalog.oid[], risks);
    IF pg_catalog.cardinality(plan."tables") OPERATOR(pg_catalog.>) 0 THEN
        -- A name that contains a line feed would end the comment.
        RETURN QUERY SELECT pg_catalog.regexp_replace(r, '[[:cntrl:]]'::pg_catalog.text, ' '::pg_catalog.text, 'g'::pg_catalog.text) FROM pg_catalog.unnest(risks) AS r;
        RETURN QUERY SELECT * FROM snowdrift.script_statements(plan, tables::pg_catalog.oid[], generator, keep_sequences, duty);
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.conversion_script(regclass[], text, boolean, double precision, boolean)
    IS 'statements that remain to convert keys to bigint, and to Snowflake IDs, while applications write, for \gexec of psql';

CREATE OR REPLACE FUNCTION snowdrift.abandon_script(tables regclass[]) RETURNS SETOF text
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
    -- These, and those that refer to them and have shadows
    changed CONSTANT oid[] := ARRAY(WITH RECURSIVE referring("table") AS (
            SELECT t::oid FROM unnest(tables) AS t
            UNION SELECT conrelid FROM referring JOIN pg_constraint ON confrelid = "table" AND contype = 'f' JOIN pg_class AS c ON c.oid = conrelid
            WHERE pg_has_role(relowner, 'USAGE')
        ) SELECT "table" FROM referring WHERE "table" = ANY (tables::oid[])
            OR EXISTS (SELECT FROM pg_attribute WHERE attrelid = "table" AND starts_with(attname, '_snowdrift_') AND NOT attisdropped) ORDER BY 1);
    names CONSTANT text := format('%L::pg_catalog.regclass[]', changed::regclass[]);
BEGIN
    IF tables IS NULL THEN
        RAISE 'tables must not be null' USING ERRCODE = '22004';
    END IF;
    PERFORM snowdrift.check_tables(tables::oid[]);
    PERFORM snowdrift.check_table_owners(changed);
    IF NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = ANY (changed) AND starts_with(attname, '_snowdrift_') AND NOT attisdropped) THEN
        RAISE NOTICE 'no conversion of these tables has begun';
        RETURN;
    END IF;
    RETURN QUERY SELECT format('SET %s = %L', s.name, s.setting) FROM snowdrift.script_settings(1) AS s;
    RETURN NEXT format('CALL snowdrift.reserve_tables(%s, true)', names);
    RETURN QUERY SELECT snowdrift.brief_call(ARRAY[conrelid, confrelid],
        format('ALTER TABLE %s DROP CONSTRAINT %I', snowdrift.qualified_name(conrelid), conname))
    FROM pg_constraint JOIN pg_class AS c ON c.oid = conrelid
    WHERE contype = 'f' AND (conrelid = ANY (changed) OR confrelid = ANY (changed)) AND pg_has_role(relowner, 'USAGE') AND starts_with(conname, '_snowdrift_') ORDER BY conrelid, pg_constraint.oid;
    RETURN QUERY SELECT format('DROP INDEX CONCURRENTLY %s', snowdrift.qualified_name(x)) FROM snowdrift.indexes_of_shadows(changed) AS x ORDER BY x;
    RETURN QUERY SELECT snowdrift.brief_call(ARRAY[c.oid], concat_ws('; ',
        CASE WHEN EXISTS (SELECT FROM pg_trigger WHERE tgrelid = c.oid AND tgname = '~snowdrift') THEN format('DROP TRIGGER "~snowdrift" ON %s', t.name) END,
        'DROP FUNCTION ' || coalesce((SELECT p.oid::regprocedure FROM pg_trigger JOIN pg_proc AS p ON p.oid = tgfoid WHERE tgrelid = c.oid AND tgname = '~snowdrift' AND starts_with(proname, '_snowdrift_')),
            to_regprocedure(format('%s.%I()', relnamespace::regnamespace, snowdrift.shadow_name(relname)))), format('ALTER TABLE %s %s', t.name, s.drops)))
    FROM pg_class AS c, LATERAL (SELECT snowdrift.qualified_name(c.oid)) AS t(name),
        LATERAL (SELECT string_agg(format('DROP COLUMN %I', attname), ', ' ORDER BY attnum) FROM pg_attribute
            WHERE attrelid = c.oid AND starts_with(attname, '_snowdrift_') AND NOT attisdropped) AS s(drops)
    WHERE c.oid = ANY (changed) AND s.drops IS NOT NULL ORDER BY c.oid;
    RETURN NEXT format('CALL snowdrift.reserve_tables(%s, false)', names);
    RETURN QUERY SELECT format('RESET %s', s.name) FROM snowdrift.script_settings(1) AS s;
END $$;
COMMENT ON FUNCTION snowdrift.abandon_script(regclass[]) IS 'statements that remove what a conversion while applications write has added, for \gexec of psql';

-- The way back: keys that draw Snowflakes draw from a sequence again. New keys are greater than all existing ones.

-- The keys that draw Snowflakes, and their tables.
CREATE OR REPLACE FUNCTION snowdrift.plan_reversal(tables oid[]) RETURNS snowdrift.conversion
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
    plan snowdrift.conversion;
BEGIN
    PERFORM snowdrift.check_tables(tables);
    plan.keys := ARRAY(SELECT key FROM snowdrift.key_defaults(ARRAY(
            SELECT (attrelid, attnum)::snowdrift.key_column FROM pg_constraint JOIN pg_attribute ON attrelid = conrelid AND attnum = ANY (conkey)
            WHERE contype = 'p' AND conrelid = ANY (tables) AND attinhcount = 0 AND atttypid = 'int8'::regtype), snowdrift.generator_call(NULL))
        WHERE kind IN ('generator', 'other') ORDER BY key);
    plan."tables" := ARRAY(SELECT DISTINCT k."table" FROM unnest(plan.keys) AS k ORDER BY 1);
    PERFORM snowdrift.check_table_owners(plan."tables");
    RETURN plan;
END $$;

-- A qualified name like that of a serial column's sequence. A kept sequence can have the name already, so it can end with a
-- number.
CREATE OR REPLACE FUNCTION snowdrift.free_sequence_name(schema name, stem text, used text[]) RETURNS text
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
DECLARE
    n text := '';
BEGIN
    LOOP
        IF octet_length(stem || '_seq' || n) > 63 THEN
            stem := left(stem, -1);
        ELSIF format('%I.%I', schema, stem || '_seq' || n) = ANY (used)
                OR to_regclass(format('%I.%I', schema, stem || '_seq' || n)) IS NOT NULL THEN
            n := coalesce(nullif(n, '')::integer, 0) + 1;
        ELSE
            RETURN format('%I.%I', schema, stem || '_seq' || n);
        END IF;
    END LOOP;
END $$;

-- The numbers follow all IDs that were drawn: those of deleted rows can be positions of readers, and open transactions can insert others.
-- A sequence of an identity needs no privileges, but before PostgreSQL 17, partitions and inheriting tables have no part in
-- the identity. If a table has these, the keys get a default, which they inherit.
CREATE OR REPLACE FUNCTION snowdrift.reversal_statements(plan snowdrift.conversion) RETURNS SETOF text
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
    r record;
    sequence text;
    sequences text[] := '{}';
BEGIN
    RETURN QUERY SELECT s FROM snowdrift.lock_statement(plan, 'ACCESS EXCLUSIVE') AS s WHERE s IS NOT NULL;
    RETURN QUERY SELECT format('ALTER TABLE %s NO FORCE ROW LEVEL SECURITY', snowdrift.qualified_name(oid)) FROM snowdrift.forced_tables(plan) AS oid;
    -- pg_get_serial_sequence() would return an earlier sequence.
    RETURN QUERY SELECT format('ALTER SEQUENCE %s OWNED BY NONE', snowdrift.qualified_name(o.sequence)) FROM snowdrift.owned_sequences(plan.keys) AS o;
    FOR r IN SELECT attname, snowdrift.qualified_name(c.oid) AS name, c.oid, relname, nspname,
                (SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = attrelid AND adnum = attnum) AS expression,
                EXISTS (SELECT FROM snowdrift.watches(attrelid) AS w WHERE w.number = attnum) AS is_watched,
                (SELECT d.generator FROM snowdrift.drawn_ids(attrelid, attnum) AS d WHERE d.generator <> ''
                    AND NOT EXISTS (SELECT FROM snowdrift.generators AS g WHERE (g.kind, g.name) = ('snowflake', d.generator))) AS lost_generator,
                EXISTS (SELECT FROM pg_inherits WHERE inhparent = c.oid) AND NOT (relkind = 'p' AND current_setting('server_version_num')::integer >= 170000) AS has_default
            FROM unnest(plan.keys) AS k JOIN pg_attribute ON attrelid = k."table" AND attnum = k.number
                JOIN pg_class AS c ON c.oid = attrelid JOIN pg_namespace AS n ON n.oid = relnamespace ORDER BY k LOOP
        IF r.lost_generator IS NOT NULL AND r.is_watched THEN
            RAISE 'ID generator "%" of watched table "%" does not exist', r.lost_generator, r.relname USING ERRCODE = '42704',
                HINT = format('Run snowdrift.unwatch(%L), and set positions of readers back to the greatest key at most.', r.name);
        END IF;
        sequence := snowdrift.free_sequence_name(r.nspname, format('%s_%s', r.relname, r.attname), sequences);
        sequences := sequences || sequence;
        IF r.has_default THEN
            RETURN NEXT format('CREATE SEQUENCE %s OWNED BY %s.%I', sequence, r.name, r.attname);
            RETURN QUERY SELECT format('GRANT USAGE ON SEQUENCE %s TO %s', sequence, snowdrift.grantee_name(grantee))
            FROM snowdrift.inserting_roles(r.oid) AS grantee;
            RETURN NEXT format('ALTER TABLE %s ALTER COLUMN %I SET DEFAULT pg_catalog.nextval(%L::pg_catalog.regclass)', r.name, r.attname, sequence);
        ELSE
            RETURN NEXT format('ALTER TABLE %s ALTER COLUMN %I DROP DEFAULT, ALTER COLUMN %I ADD GENERATED BY DEFAULT AS IDENTITY (SEQUENCE NAME %s)',
                r.name, r.attname, r.attname, sequence);
        END IF;
        RETURN NEXT format(CASE WHEN r.lost_generator IS NULL THEN 'SELECT pg_catalog.setval(%L::pg_catalog.regclass, GREATEST(pg_catalog.max(%I), %4$s)) FROM %3$s'
            ELSE 'SELECT pg_catalog.setval(%L::pg_catalog.regclass, pg_catalog.max(%I)) FROM %s HAVING pg_catalog.max(%2$I) > 0' END, sequence, r.attname, r.name, r.expression);
    END LOOP;
    RETURN QUERY SELECT * FROM snowdrift.watch_statements(plan.keys);
    RETURN QUERY SELECT format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', snowdrift.qualified_name(oid)) FROM snowdrift.forced_tables(plan) AS oid;
END $$;

CREATE OR REPLACE FUNCTION snowdrift.report_skipped(tables oid[], plan snowdrift.conversion) RETURNS void
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    r record;
BEGIN
    FOR r IN SELECT relname FROM unnest(tables) AS t JOIN pg_class AS c ON c.oid = t WHERE c.oid <> ALL (plan."tables") ORDER BY c.oid LOOP
        RAISE NOTICE 'table "%" is skipped', r.relname USING DETAIL = 'Its primary key draws no Snowflakes.';
    END LOOP;
END $$;

CREATE OR REPLACE FUNCTION snowdrift.revert_keys(tables regclass[], dry_run boolean DEFAULT false) RETURNS SETOF text
    LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_variable
DECLARE
    plan snowdrift.conversion;
    statements pg_catalog.text[];
    statement pg_catalog.text;
BEGIN
    IF tables IS NULL OR dry_run IS NULL THEN
        RAISE 'tables and dry_run must not be null' USING ERRCODE = '22004';
    END IF;
    PERFORM snowdrift.check_can_change('snowdrift.revert_keys()', dry_run);
    LOOP
        plan := snowdrift.plan_reversal(tables::pg_catalog.oid[]);
        PERFORM snowdrift.report_skipped(tables::pg_catalog.oid[], plan) WHERE statements IS NULL;
        statements := ARRAY(SELECT * FROM snowdrift.reversal_statements(plan));
        EXIT WHEN dry_run OR pg_catalog.cardinality(statements) OPERATOR(pg_catalog.=) 0;
        BEGIN
            PERFORM snowdrift.lock_exclusively(snowdrift.relations_to_lock(plan) OPERATOR(pg_catalog.||) ARRAY(SELECT o.sequence::pg_catalog.regclass FROM snowdrift.owned_sequences(plan.keys) AS o));
            EXIT WHEN statements OPERATOR(pg_catalog.=)
                ARRAY(SELECT * FROM snowdrift.reversal_statements(snowdrift.plan_reversal(tables::pg_catalog.oid[])));
            RAISE SQLSTATE 'SN001';    -- the tables have changed during the wait
        EXCEPTION WHEN SQLSTATE 'SN001' THEN
        END;
    END LOOP;
    FOREACH statement IN ARRAY statements LOOP
        IF NOT dry_run THEN
            EXECUTE statement;
        END IF;
        RETURN NEXT pg_catalog.concat(statement, ';');
    END LOOP;
END $$;
COMMENT ON FUNCTION snowdrift.revert_keys(regclass[], boolean)
    IS 'make keys of primary keys that draw Snowflake IDs draw from sequences, and return the statements; a dry run only returns them';

-- Audits of columns. The query is made with a fixed search path. It runs with the caller's path and privileges, because
-- views, policies and indexes of the table can call functions.

-- A layout that the caller has stated overrides that of the column's default. If the default has none, as in foreign keys, views
-- and tables of imported IDs, the layout is the same as in functions for single IDs.
CREATE OR REPLACE FUNCTION snowdrift.audited_layout("table" regclass, "column" name, type regtype, stated public.snowflake_layout)
        RETURNS public.snowflake_layout
    LANGUAGE sql STABLE
    RETURN CASE type WHEN 'bigint'::regtype THEN coalesce(stated,
        (SELECT snowdrift.generator_layout(generator)
         FROM pg_attribute AS a, snowdrift.drawn_generator(a.attrelid, a.attnum) AS generator
         WHERE a.attrelid = "table" AND a.attname = "column" AND generator <> ''),
        'snowflake'::public.snowflake_layout) END;
COMMENT ON FUNCTION snowdrift.audited_layout(regclass, name, regtype, public.snowflake_layout)
    IS 'layout in which snowdrift.audit() reads a column; null for other IDs than Snowflakes';

-- All fields of the last ID have their greatest values.
CREATE OR REPLACE FUNCTION snowdrift.last_snowflake(layout public.snowflake_layout) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN snowdrift.last_snowflake_within('(,)'::tstzrange, layout);
COMMENT ON FUNCTION snowdrift.last_snowflake(public.snowflake_layout) IS 'largest Snowflake ID of a layout';

-- Null if all numbers of the layout are smaller.
CREATE OR REPLACE FUNCTION snowdrift.end_of_small_numbers(layout public.snowflake_layout) RETURNS timestamptz
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN snowdrift.last_snowflake(layout) >= 4294967295
        THEN public.snowflake_timestamp(4294967295, layout) + interval '1 us' END;
COMMENT ON FUNCTION snowdrift.end_of_small_numbers(public.snowflake_layout) IS 'time after that of the number 2^32 - 1';

CREATE OR REPLACE FUNCTION snowdrift.node_mask(layout public.snowflake_layout) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN public.make_snowflake(public.snowflake_timestamp(0::bigint, layout),
        public.snowflake_datacenter(snowdrift.last_snowflake(layout), layout),
        public.snowflake_worker(snowdrift.last_snowflake(layout), layout), 0, layout);
COMMENT ON FUNCTION snowdrift.node_mask(public.snowflake_layout) IS 'bits of datacenter and worker in Snowflake IDs of a layout';

-- The parts of the values, in the order of the result:
--     1 before the first ID, 2 before since, 3 Unix seconds, 4 Unix milliseconds, 5 ID, 6 ID later than now, 7 after the last ID,
--     8 UUID that is not of version 7, null for nulls
-- The node is that of IDs, as bits of a Snowflake or the partition of a sno. For a UUID that is not of version 7, it is the
-- version, or 16 for another variant, 17 for the nil UUID, 18 for the max UUID.
-- PostgreSQL inlines a function of this form, and then evaluates what depends only on the layout once per query.
EXECUTE $sql$
CREATE OR REPLACE FUNCTION snowdrift.describe_values(kind text, part integer, node bigint, smallest text, largest text,
        layout public.snowflake_layout, has_since boolean,
        OUT finding text, OUT datacenter integer, OUT worker integer, OUT partition integer,
        OUT first_timestamp timestamptz, OUT last_timestamp timestamptz) RETURNS SETOF record
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT CASE WHEN part = 2 AND has_since THEN 'ID earlier than since'
            WHEN part = 8 THEN CASE node WHEN 16 THEN 'UUID of another variant' WHEN 17 THEN 'nil UUID' WHEN 18 THEN 'max UUID'
                ELSE 'UUID of version ' || node END
            ELSE coalesce((ARRAY['earlier than the epoch', 'small number', 'Unix seconds', 'Unix milliseconds', 'ID', 'ID later than now',
                'not an ID'])[part], 'null') END,
        CASE WHEN is_id AND kind = 'snowflake' AND public.snowflake_datacenter(snowdrift.last_snowflake(layout), layout) > 0
            THEN public.snowflake_datacenter(smallest::bigint, layout) END,
        CASE WHEN is_id AND kind = 'snowflake' AND public.snowflake_worker(snowdrift.last_snowflake(layout), layout) > 0
            THEN public.snowflake_worker(smallest::bigint, layout) END,
        CASE kind WHEN 'sno' THEN node END,
        CASE WHEN is_id OR part = 2 AND has_since THEN snowdrift.id_timestamp(kind, smallest, layout)
            WHEN part IN (3, 4) THEN timestamptz '1970-01-01 00:00:00Z' + unit * smallest::bigint END,
        CASE WHEN is_id OR part = 2 AND has_since THEN snowdrift.id_timestamp(kind, largest, layout)
            WHEN part IN (3, 4) THEN timestamptz '1970-01-01 00:00:00Z' + unit * largest::bigint END
    FROM (SELECT part IN (5, 6) AS is_id, CASE part WHEN 3 THEN interval '1 s' WHEN 4 THEN interval '1 ms' END AS unit) AS known;
END
$sql$;
COMMENT ON FUNCTION snowdrift.describe_values(text, integer, bigint, text, text, public.snowflake_layout, boolean)
    IS 'what snowdrift.audit() shows about values of the same part and node';

-- Each part begins at one or two bounds. Without since, numbers below 2^32, but at most those of the first day, are small.
-- Unix times are those from 2001-09-09, when they got 10 digits as seconds and 13 as milliseconds, to ten years from now.
-- There are none if IDs from after the layout's first week can be such numbers, or if that week is not over.
CREATE OR REPLACE FUNCTION snowdrift.audit_bounds(kind text, layout public.snowflake_layout, since timestamptz,
        OUT first text, OUT seconds bigint[], OUT past text, OUT milliseconds bigint[], OUT week text, OUT future text, OUT after text)
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    times CONSTANT record := snowdrift.id_times(kind, layout);
    end_of_week CONSTANT timestamptz := least(times.first + interval '168:00', times.last);
    next_ms CONSTANT timestamptz := date_trunc('milliseconds', clock_timestamp()) + interval '1 ms';
    end_s CONSTANT bigint := floor(extract(epoch FROM next_ms)) + 3650 * 86400;
    certain timestamptz := greatest(since, times.first);
BEGIN
    IF kind = 'snowflake' AND since IS NULL THEN
        certain := least(snowdrift.end_of_small_numbers(layout), times.first + interval '24:00', times.last);
    END IF;
    first := snowdrift.id_boundary(kind, times.first, layout);
    past := snowdrift.id_boundary(kind, certain, layout);
    IF greatest(next_ms, certain) <= times.last THEN
        future := snowdrift.id_boundary(kind, greatest(next_ms, certain), layout);
    END IF;
    IF kind = 'snowflake' THEN
        after := nullif(snowdrift.last_snowflake(layout), 9223372036854775807) + 1;
        week := snowdrift.id_boundary(kind, end_of_week, layout);
        IF since IS NULL AND next_ms > end_of_week AND end_s <= past::bigint AND past::bigint <= 1000000000000
                AND end_s * 1000 <= week::bigint THEN
            seconds := ARRAY[1000000000, end_s];
            milliseconds := ARRAY[1000000000000, end_s * 1000];
        END IF;
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.audit_bounds(text, public.snowflake_layout, timestamptz)
    IS 'first values of the parts into which snowdrift.audit() divides the values of a column';

-- PostgreSQL inlines this function.
CREATE OR REPLACE FUNCTION snowdrift.uuid_form(id uuid, bytes bytea) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN get_byte(bytes, 8) >> 6 = 2 THEN get_byte(bytes, 6) >> 4
        WHEN id = '00000000-0000-0000-0000-000000000000' THEN 17
        WHEN id = 'ffffffff-ffff-ffff-ffff-ffffffffffff' THEN 18
        WHEN id IS NOT NULL THEN 16 END;
COMMENT ON FUNCTION snowdrift.uuid_form(uuid, bytea) IS 'version of UUID, or 16 for another variant, 17 for the nil UUID, 18 for the max UUID';

-- If the column contains other small numbers than 0, Unix seconds are small numbers, too. If it contains other IDs of the layout's
-- first week, Unix milliseconds are IDs. In the query, $1 is the layout, and $2 the sample; all names are qualified. With OFFSET 0,
-- PostgreSQL evaluates the expressions once per row, and does not expect a group per row.
CREATE OR REPLACE FUNCTION snowdrift.audit_query(name text, "column" name, type regtype, layout public.snowflake_layout,
        since timestamptz, is_sample boolean) RETURNS text
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    kind CONSTANT text := snowdrift.id_kind(type);
    b CONSTANT record := snowdrift.audit_bounds(kind, layout, since);
    schema CONSTANT text := (SELECT t.typnamespace::regnamespace FROM pg_type AS t WHERE t.oid = type);    -- of its functions, too
    source text := format('SELECT %I::%s AS id FROM %s%s', "column", type, name,
        CASE WHEN is_sample THEN ' TABLESAMPLE pg_catalog.system($2)' END);
    part text := (SELECT string_agg(format('WHEN id OPERATOR(%s.>=) %L::%s THEN %s ', schema, bound, type, p), E'\n            ' ORDER BY n)
        FROM unnest(ARRAY[b.after, b.future, b.milliseconds[2]::text, b.milliseconds[1]::text, b.past, b.seconds[2]::text,
            b.seconds[1]::text, b.first], '{7,6,5,4,5,2,3,2}'::integer[]) WITH ORDINALITY AS bounds(bound, p, n)
        WHERE bound IS NOT NULL);
    node text := 'NULL::bigint';
    value text := 'id';
    groups text := 'groups';
BEGIN
    CASE kind
        WHEN 'snowflake' THEN
            node := format('CASE WHEN id OPERATOR(pg_catalog.>=) %L::bigint THEN NULL'
                ' WHEN id OPERATOR(pg_catalog.>=) %L::bigint THEN id OPERATOR(pg_catalog.&) %L::bigint END',
                b.after, b.past, snowdrift.node_mask(layout));
            groups := format($q$(
    SELECT c.part, CASE WHEN c.part OPERATOR(pg_catalog.<>) 4 THEN g.node END AS node, pg_catalog.sum(g.n)::bigint AS n,
        pg_catalog.min(g.min) AS min, pg_catalog.max(g.max) AS max
    FROM groups AS g, LATERAL (SELECT CASE
        WHEN g.part OPERATOR(pg_catalog.=) 3 AND EXISTS (SELECT FROM groups AS o
            WHERE o.part OPERATOR(pg_catalog.=) 2 AND o.max OPERATOR(pg_catalog.>) 0::bigint) THEN 2
        WHEN g.part OPERATOR(pg_catalog.=) 4 AND EXISTS (SELECT FROM groups AS o
            WHERE o.part OPERATOR(pg_catalog.=) 5 AND o.min OPERATOR(pg_catalog.<) %L::bigint) THEN 5
        ELSE g.part END AS part) AS c
    GROUP BY 1, 2)$q$, b.week);
        WHEN 'sno' THEN
            node := format('CASE WHEN id OPERATOR(%1$s.>=) %2$L::%3$s THEN %1$s.sno_partition(id) END::bigint', schema, b.past, type);
        WHEN 'uuidv7' THEN
            source := format('SELECT id, pg_catalog.uuid_send(id) AS bytes, id::pg_catalog.text COLLATE pg_catalog."C" AS shown'
                ' FROM (%s) AS ids OFFSET 0', source);
            part := 'WHEN snowdrift.uuid_form(id, bytes) OPERATOR(pg_catalog.<>) 7::bigint THEN 8 ' || part;
            node := 'CASE WHEN snowdrift.uuid_form(id, bytes) OPERATOR(pg_catalog.<>) 7::bigint'
                ' THEN snowdrift.uuid_form(id, bytes) END';
            value := 'shown';    -- before version 18, PostgreSQL has no min(uuid)
        ELSE
    END CASE;
    RETURN format($q$WITH groups AS MATERIALIZED (
    SELECT part, node, pg_catalog.count(*) AS n, %1$s.min(value) AS min, %1$s.max(value) AS max
    FROM (SELECT %2$s AS value, %3$s AS node,
        CASE %4$sWHEN id IS NOT NULL THEN 1 END AS part
        FROM (%5$s) AS ids OFFSET 0) AS parts
    GROUP BY part, node)
SELECT d.finding, d.datacenter, d.worker, d.partition, g.n, d.first_timestamp, d.last_timestamp,
    g.min::pg_catalog.text, g.max::pg_catalog.text, $1
FROM %6$s AS g, snowdrift.describe_values(%7$L::pg_catalog.text, g.part, g.node,
    g.min::pg_catalog.text, g.max::pg_catalog.text, $1, %8$L::boolean) AS d
ORDER BY g.part, g.node$q$,
        schema, value, node, part, source, groups, kind, since IS NOT NULL);
END $$;
COMMENT ON FUNCTION snowdrift.audit_query(text, name, regtype, public.snowflake_layout, timestamptz, boolean)
    IS 'query of snowdrift.audit()';

CREATE OR REPLACE FUNCTION snowdrift.check_audited_type("table" regclass, "column" name, type regtype) RETURNS regtype
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    base CONSTANT oid := snowdrift.base_type(type);
BEGIN
    IF snowdrift.id_kind(base) IS NULL THEN
        RAISE 'values of column "%" of relation "%" cannot be IDs', "column",
                (SELECT c.relname FROM pg_class AS c WHERE c.oid = "table")
            USING ERRCODE = '42804', DETAIL = format('The column is of type %s.', type);
    END IF;
    RETURN base;
END $$;
COMMENT ON FUNCTION snowdrift.check_audited_type(regclass, name, regtype)
    IS 'type of IDs of which type is a domain, or the type itself';

-- STABLE: the query has the snapshot of the calling query, which was taken before the clock was read, so IDs that are issued
-- during the audit are not later than now. The first query locks the table, so that its name does not change until the second.
CREATE OR REPLACE FUNCTION snowdrift.read_audit("table" regclass, "column" name, stated public.snowflake_layout, sample real,
        since timestamptz, OUT finding text, OUT datacenter integer, OUT worker integer, OUT partition integer, OUT count bigint,
        OUT first_timestamp timestamptz, OUT last_timestamp timestamptz, OUT min text, OUT max text,
        OUT layout public.snowflake_layout) RETURNS SETOF record
    LANGUAGE plpgsql STABLE AS $$
DECLARE
    name pg_catalog.text;
    type pg_catalog.regtype;
BEGIN
    IF "table" IS NULL OR "column" IS NULL THEN
        RAISE 'table and column must not be null' USING ERRCODE = '22004';
    END IF;
    LOOP
        name := snowdrift.qualified_name("table");
        EXECUTE pg_catalog.format('SELECT pg_catalog.pg_typeof((SELECT %I FROM %s LIMIT 0))', "column", name) INTO type;
        EXIT WHEN pg_catalog.to_regclass(name) OPERATOR(pg_catalog.=) "table";
    END LOOP;
    type := snowdrift.check_audited_type("table", "column", type);
    layout := snowdrift.audited_layout("table", "column", type, stated);
    RETURN QUERY EXECUTE snowdrift.audit_query(name, "column", type, layout, since, sample IS NOT NULL) USING layout, sample;
END $$;
COMMENT ON FUNCTION snowdrift.read_audit(regclass, name, public.snowflake_layout, real, timestamptz)
    IS 'implementation of snowdrift.audit()';

-- A function in PL/pgSQL cannot have an argument and a result of the same name.
EXECUTE $sql$
CREATE OR REPLACE FUNCTION snowdrift.audit("table" regclass, "column" name,
        layout public.snowflake_layout DEFAULT NULL, sample real DEFAULT NULL, since timestamptz DEFAULT NULL,
        OUT finding text, OUT datacenter integer, OUT worker integer, OUT partition integer, OUT count bigint,
        OUT first_timestamp timestamptz, OUT last_timestamp timestamptz, OUT min text, OUT max text,
        OUT layout public.snowflake_layout) RETURNS SETOF record
    LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT * FROM snowdrift.read_audit($1, $2, $3, $4, $5);
END
$sql$;
COMMENT ON FUNCTION snowdrift.audit(regclass, name, public.snowflake_layout, real, timestamptz)
    IS 'summary of a column of IDs: a row for the IDs of each node, and rows for values that are too small, Unix times, later than now, not IDs, or UUIDs of another version; sample is a percentage';

-- Watched tables: the holds of sequences, snowdrift.watch() and its triggers.
--
-- A watermark over a sequence, as over a generator, is a number below which no row can appear any more. Its rule is in
-- docs/guarantees.md. A transaction that inserts rows first takes a hold, which is a shared advisory lock, and then draws. The
-- lock's key has the sign bit, so that small numbers of applications differ, 24 bits of the sequence's OID, and 39 bits of a
-- number that is below all numbers that the transaction draws. Locks of others with equal keys can only delay readers. The
-- setting snowdrift_hold.s<OID> is the number above which the transaction's rows are accepted. The lock and the setting end
-- together, with the transaction or at ROLLBACK TO, and with them the rows.

EXECUTE $sql$
CREATE OR REPLACE FUNCTION snowdrift.plain_name(relation regclass) RETURNS name LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT relname FROM pg_class WHERE oid = relation;
END
$sql$;
COMMENT ON FUNCTION snowdrift.plain_name(regclass) IS 'name of relation, for messages';

CREATE OR REPLACE FUNCTION snowdrift.hold_key(sequence oid, number bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (1::bigint << 63) | ((sequence::bigint & 16777215) << 39) | (number & 549755813887);
COMMENT ON FUNCTION snowdrift.hold_key(oid, bigint) IS 'key of the advisory lock that holds a sequence''s watermark back at a number';

CREATE OR REPLACE FUNCTION snowdrift.hold_setting(sequence oid) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN 'snowdrift_hold.s' || sequence::text;
COMMENT ON FUNCTION snowdrift.hold_setting(oid) IS 'setting that contains the number above which a transaction''s rows are accepted';

CREATE OR REPLACE FUNCTION snowdrift.number_before(number bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN greatest(number, -9223372036854775807) - 1;
COMMENT ON FUNCTION snowdrift.number_before(bigint) IS 'number before another one; the smallest for itself';

-- The holds that transactions have taken. Prepared transactions have no process.
EXECUTE $sql$
CREATE OR REPLACE FUNCTION snowdrift.holds(OUT pid integer, OUT virtualtransaction text, OUT key bigint) RETURNS SETOF record LANGUAGE sql VOLATILE
BEGIN ATOMIC
    SELECT pid, virtualtransaction, (classid::bigint << 32) | objid::bigint FROM pg_locks
    WHERE locktype = 'advisory' AND objsubid = 1 AND mode = 'ShareLock' AND classid::bigint >= 2147483648
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database());
END
$sql$;
COMMENT ON FUNCTION snowdrift.holds() IS 'advisory locks that can be holds of watermarks';

-- A key has 39 bits of a number: of the one that is nearest to the last number, or of one before the first, at which a sequence is held
-- that has returned no number since it was created or set. Read the last number before the holds.
CREATE OR REPLACE FUNCTION snowdrift.lowest_hold(sequence oid, last bigint) RETURNS bigint LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    before_first CONSTANT bigint := (SELECT greatest(seqmin, -9223372036854775744) - 1 FROM pg_sequence WHERE seqrelid = sequence);
BEGIN
    RETURN (SELECT min(least(last - ((((last & 549755813887) - (key & 549755813887) + 274877906944) & 549755813887) - 274877906944),
            CASE WHEN ((before_first - key) & 549755813887) < 64 THEN before_first - 63 END))
        FROM snowdrift.holds() WHERE key = snowdrift.hold_key(sequence, key));
END $$;
COMMENT ON FUNCTION snowdrift.lowest_hold(oid, bigint) IS 'lowest number at which a transaction holds a sequence''s watermark back; null if none does';

-- The trigger that takes the hold. It has the rights of its owner, because those who insert into an identity column have none on its
-- sequence. The sequence is the one that the trigger's condition names, so that it follows renames and dumps; the table's owner must
-- be allowed to read it. The lock's key has the last number from before the lock was taken, and the setting the one from after: a
-- reader that does not find the lock has read a last number that is not above the setting.
CREATE OR REPLACE FUNCTION snowdrift.hold_sequence() RETURNS trigger LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    sequence oid;    -- as the parameters are: a function for another type could be another role's
    before_first bigint;
    is_allowed boolean;
    held bigint;
BEGIN
    SELECT s.seqrelid, snowdrift.number_before(s.seqmin), has_sequence_privilege(c.relowner, s.seqrelid, 'SELECT') AND has_sequence_privilege(s.seqrelid, 'SELECT')
    INTO sequence, before_first, is_allowed
    FROM pg_trigger AS t JOIN pg_depend AS d ON d.classid = t.tableoid AND d.objid = t.oid JOIN pg_sequence AS s ON s.seqrelid = d.refobjid
        JOIN pg_class AS c ON c.oid = t.tgrelid AND c.tableoid = d.refclassid
    WHERE t.tgrelid = TG_RELID AND t.tgname = TG_NAME;
    IF sequence IS NULL OR NOT is_allowed THEN
        RAISE 'cannot hold the watermark of table "%"', TG_TABLE_NAME USING ERRCODE = '55000',
            DETAIL = 'The trigger names no sequence that the table''s owner and that of the function may read, or is later than the transaction''s snapshot.',
            HINT = 'Repeat the transaction, or let the table''s owner call snowdrift.watch() again.';
    END IF;
    held := coalesce(pg_sequence_last_value(sequence), before_first);
    WHILE NOT pg_try_advisory_xact_lock_shared(snowdrift.hold_key(sequence, held)) LOOP    -- Another role has locked this key.
        held := held - 1;
    END LOOP;
    PERFORM set_config(snowdrift.hold_setting(sequence), coalesce(pg_sequence_last_value(sequence), before_first)::text, true);
    RETURN NULL;
END $$;
COMMENT ON FUNCTION snowdrift.hold_sequence() IS 'trigger of snowdrift.watch: hold the watermark back before the statement draws from the sequence';

-- The trigger whose condition finds the rows that readers may have passed. A row that an UPDATE moves to another partition is inserted there.
CREATE OR REPLACE FUNCTION snowdrift.refuse_row() RETURNS trigger LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    watched CONSTANT regclass := coalesce((SELECT a.relid FROM pg_partition_ancestors(TG_RELID) AS a JOIN pg_trigger AS t ON t.tgrelid = a.relid
        WHERE t.tgfoid = 'snowdrift.refuse_row()'::regprocedure AND t.tgparentid = 0 LIMIT 1), TG_RELID);
BEGIN
    RAISE '% of table "%" was not drawn after the transaction held the watermark back', coalesce('ID ' || (to_jsonb(NEW) ->> TG_ARGV[0]), 'an ID'), snowdrift.plain_name(watched) USING ERRCODE = '55000',
        DETAIL = 'Readers of new rows may have passed it, and would miss the row.',
        HINT = format(CASE WHEN current_setting('session_replication_role') = 'replica' THEN 'On a subscriber of logical replication, call snowdrift.unwatch(%L).'
            ELSE 'Let the column''s default draw the ID, or call snowdrift.hold(%1$L) before drawing it. If the default has changed, call snowdrift.watch(%1$L) again.' || CASE WHEN watched = TG_RELID THEN ''
                ELSE ' Insert rows into that table, not into its partitions. An UPDATE cannot move rows to another partition: delete them, and insert them without their IDs.' END END, watched);
END $$;
COMMENT ON FUNCTION snowdrift.refuse_row() IS 'trigger of snowdrift.watch: raise an error for a row that readers may have passed';

-- The columns whose defaults draw: from a sequence, or from a generator whose watermark can be read. `sequence` is also the
-- state of a generator that is one.
CREATE OR REPLACE FUNCTION snowdrift.drawing_columns("table" regclass, OUT number smallint, OUT kind text, OUT generator text, OUT sequence oid) RETURNS SETOF record
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT attnum, 'sequence', NULL::text, objid FROM pg_attribute
        JOIN pg_depend ON refclassid = 'pg_class'::regclass AND refobjid = attrelid AND refobjsubid = attnum AND classid = refclassid AND deptype = 'i'
    WHERE attrelid = "table" AND attidentity <> ''
    UNION ALL SELECT adnum, 'sequence', NULL, refobjid FROM pg_attrdef AS a
        JOIN pg_depend ON classid = 'pg_attrdef'::regclass AND objid = a.oid AND refclassid = 'pg_class'::regclass
        JOIN pg_class AS s ON s.oid = refobjid AND relkind = 'S'
    WHERE adrelid = "table" AND pg_get_expr(adbin, adrelid) ~ '^[(]?nextval[(]''([^'']|'''')*''::regclass[)]([)]::[a-z]+)?$'
    UNION ALL SELECT attnum, d.kind, d.generator, snowdrift.state_of(d.generator)
    FROM pg_attribute JOIN pg_type AS t ON t.oid = atttypid, snowdrift.drawn_ids(attrelid, attnum) AS d
    WHERE attrelid = "table" AND attnum > 0 AND NOT attisdropped AND (atthasdef OR typdefaultbin IS NOT NULL) AND d.kind IS NOT NULL;
END $$;
COMMENT ON FUNCTION snowdrift.drawing_columns(regclass) IS 'columns whose defaults draw from a sequence or a generator';

-- The triggers of watches, without those that a partition has from its parent. `part`: watermark, the one of the library, or hold,
-- insert and update. The names of triggers differ after a dump is restored.
CREATE OR REPLACE FUNCTION snowdrift.watches("table" regclass, OUT name name, OUT part text, OUT number smallint, OUT sequence oid, OUT generator text, OUT is_enabled boolean)
    RETURNS SETOF record LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT t.tgname, w.part,
        coalesce(t.tgattr[0], (SELECT min(refobjsubid) FROM pg_depend WHERE classid = t.tableoid AND objid = t.oid AND refobjid = t.tgrelid AND refobjsubid > 0))::smallint,
        (SELECT refobjid FROM pg_depend JOIN pg_sequence ON seqrelid = refobjid WHERE classid = t.tableoid AND objid = t.oid AND refclassid = 'pg_class'::regclass),
        CASE WHEN w.part = 'watermark' OR t.tgnargs = 2
            THEN convert_from(decode(split_part(encode(t.tgargs, 'escape'), E'\\000', greatest(1, t.tgnargs)), 'escape'), getdatabaseencoding()) END,
        t.tgenabled = 'A'
    FROM pg_trigger AS t JOIN pg_proc AS p ON p.oid = t.tgfoid, LATERAL (SELECT CASE p.proname WHEN 'hold_row' THEN 'watermark' WHEN 'hold_sequence' THEN 'hold'
        ELSE CASE t.tgtype & 4 WHEN 0 THEN 'update' ELSE 'insert' END END) AS w(part)
    WHERE t.tgrelid = "table" AND t.tgparentid = 0 AND p.pronamespace = 'snowdrift'::regnamespace AND p.proname IN ('hold_row', 'hold_sequence', 'refuse_row');
END $$;
COMMENT ON FUNCTION snowdrift.watches(regclass) IS 'triggers of snowdrift.watch() on a table';

CREATE OR REPLACE FUNCTION snowdrift.sequence_problem(sequence oid) RETURNS text LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (SELECT CASE WHEN seqincrement < 0 THEN format('Sequence %s descends.', seqrelid::regclass)
        WHEN seqcycle THEN format('Sequence %s cycles.', seqrelid::regclass)
        WHEN seqcache > 1 THEN format('Sequence %1$s caches numbers: ALTER SEQUENCE %1$s CACHE 1.', seqrelid::regclass) END
    FROM pg_sequence WHERE seqrelid = sequence);
END $$;
COMMENT ON FUNCTION snowdrift.sequence_problem(oid) IS 'why the numbers of a sequence do not ascend in the order in which they are drawn';

CREATE OR REPLACE FUNCTION snowdrift.relation_problem("table" regclass) RETURNS text LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM snowdrift.qualified_name("table");    -- which raises an error if it does not exist
    RETURN (SELECT CASE WHEN relkind NOT IN ('r', 'p', 'f') THEN 'It is not a table.'
        WHEN relkind = 'f' THEN 'It is a foreign table, which another server reads with a snapshot of its own.'
        WHEN relkind = 'r' AND EXISTS (SELECT FROM pg_inherits WHERE inhparent = c.oid) THEN 'Other tables inherit from the table.'
        WHEN relkind = 'p' THEN (SELECT format('Its partition %s is a foreign table.', min(relid::text)) FROM pg_partition_tree(c.oid) JOIN pg_class AS p ON p.oid = relid WHERE p.relkind = 'f' HAVING count(*) > 0) END
    FROM pg_class AS c WHERE c.oid = "table");
END $$;
COMMENT ON FUNCTION snowdrift.relation_problem(regclass) IS 'why new rows of a table cannot be read, however their IDs are drawn';

-- For a column whose default is none of those in which drawing_columns() finds what draws. What draws without a default is not known.
CREATE OR REPLACE FUNCTION snowdrift.default_problem("table" regclass, number smallint) RETURNS text LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
BEGIN
    RETURN (SELECT CASE WHEN a.attgenerated <> '' THEN 'It is a generated column.'
        WHEN b.kind <> ALL (snowdrift.kinds_with_watermarks()) THEN format('IDs in a column of type %s have no watermark.', format_type(b.type, NULL))
        ELSE format('%s, %s, does not draw from a known sequence or generator alone', CASE WHEN d.oid IS NULL THEN 'The default of its domain' ELSE 'Its default' END, e.expression)
            || coalesce(format(': ALTER TABLE %s ALTER COLUMN %I SET DEFAULT ', a.attrelid::regclass, a.attname) || CASE
                WHEN b.kind = 'snowflake' AND e.expression !~ 'nextval' THEN coalesce(substring(e.expression FROM '[[:<:]]next_snowflake[(][^)]*[)]'),
                    CASE WHEN e.expression ~ '[(]' THEN 'next_snowflake(''generator'')' ELSE 'next_snowflake()' END)
                WHEN b.type IN ('int2'::regtype, 'int4'::regtype, 'int8'::regtype) THEN format('nextval(''%s'')', coalesce(substring(e.expression FROM 'nextval[(]+''((?:[^'']|'''')+)'''), 'sequence'))
                WHEN b.kind = ANY (snowdrift.kinds_with_watermarks()) THEN format('next_%s()', b.kind) END, '') || '.' END
        FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum,
            LATERAL (SELECT pg_get_expr(coalesce(d.adbin, t.typdefaultbin), a.attrelid)) AS e(expression),
            LATERAL (SELECT base, snowdrift.id_kind(base) FROM snowdrift.base_type(a.atttypid) AS base) AS b(type, kind)
        WHERE a.attrelid = "table" AND a.attnum = number AND e.expression IS NOT NULL);
END $$;
COMMENT ON FUNCTION snowdrift.default_problem(regclass, smallint) IS 'why it is not known from what a column''s default draws';

-- The key by which new rows are read: the given column, or one of the `n` columns whose defaults draw. Without a default, programs draw
-- from `drawn`; without such a generator, `kind` is null. `problem`: why rows could be missed.
CREATE OR REPLACE FUNCTION snowdrift.feed_key("table" regclass, given smallint, drawn text, OUT number smallint, OUT "column" name, OUT kind text, OUT generator text, OUT sequence oid, OUT is_default boolean, OUT problem text, OUT n bigint)
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    type oid;
    kind_of_type text;
BEGIN
    SELECT d.number, d.kind, d.generator, d.sequence, count(*) OVER () INTO number, kind, generator, sequence, n
    FROM snowdrift.drawing_columns("table") AS d WHERE d.number = coalesce(given, d.number) LIMIT 1;
    is_default := kind IS NOT NULL;
    number := coalesce(given, number);
    SELECT a.attname, snowdrift.base_type(a.atttypid) INTO "column", type FROM pg_attribute AS a WHERE a.attrelid = "table" AND a.attnum = number;
    kind_of_type := snowdrift.id_kind(type);
    IF kind IS NULL THEN
        problem := CASE WHEN type IN ('int2'::regtype, 'int4'::regtype) OR kind_of_type = ANY (snowdrift.kinds_with_watermarks()) THEN snowdrift.default_problem("table", number) END;
        IF problem IS NULL AND drawn IS NOT NULL AND kind_of_type = ANY (snowdrift.kinds_with_watermarks()) THEN
            kind := kind_of_type;
            generator := drawn;
            sequence := snowdrift.state_of(drawn);
        END IF;
    ELSIF kind = 'sequence' AND type IN ('int2'::regtype, 'int4'::regtype, 'int8'::regtype) THEN
        problem := snowdrift.sequence_problem(sequence);
    ELSIF kind IS DISTINCT FROM kind_of_type THEN
        problem := format('It is of type %s. The IDs that its default draws must be in a column of type %s.', format_type(type, NULL),
            CASE kind WHEN 'sequence' THEN 'smallint, integer or bigint' WHEN 'snowflake' THEN 'bigint' WHEN 'uuidv7' THEN 'uuid' ELSE kind END);
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.feed_key(regclass, smallint, text) IS 'column by which new rows of a table are read, and what draws its values';

-- The triggers that a watch needs. Their conditions call built-in functions alone, because PostgreSQL plans them in each statement.
CREATE OR REPLACE FUNCTION snowdrift.wanted_triggers("table" regclass, "column" name, kind text, generator text, sequence oid, OUT part text, OUT definition text)
    RETURNS SETOF record LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    held CONSTANT text := format('nullif(current_setting(%L || %L::regclass::oid::text, true), %L)', 'snowdrift_hold.s', sequence, '');
    passed CONSTANT text := format('NEW.%I <= coalesce(%s::bigint, 9223372036854775807)', "column", held);
    arguments CONSTANT text := concat_ws(', ', quote_literal("column"), quote_literal(generator));
BEGIN
    IF sequence IS NULL THEN
        RETURN QUERY VALUES ('watermark', format('AFTER INSERT OR UPDATE OF %I ON %s FOR EACH ROW EXECUTE FUNCTION snowdrift.hold_row(%s)',
            "column", "table", quote_literal(nullif(generator, ''))));
        RETURN;
    END IF;
    IF kind = 'sequence' THEN
        RETURN QUERY VALUES ('hold', format('BEFORE INSERT OR UPDATE OF %I ON %s FOR EACH STATEMENT WHEN (%s IS NULL) EXECUTE FUNCTION snowdrift.hold_sequence()',
            "column", "table", held));
    END IF;
    RETURN QUERY VALUES ('insert', format('AFTER INSERT ON %s FOR EACH ROW WHEN (%s) EXECUTE FUNCTION snowdrift.refuse_row(%s)', "table", passed, arguments)),
        ('update', format('AFTER UPDATE ON %s FOR EACH ROW WHEN (NEW.%I IS DISTINCT FROM OLD.%2$I AND %s) EXECUTE FUNCTION snowdrift.refuse_row(%s)', "table", "column", passed, arguments));
END $$;
COMMENT ON FUNCTION snowdrift.wanted_triggers(regclass, name, text, text, oid) IS 'definitions of the triggers of snowdrift.watch()';

CREATE OR REPLACE FUNCTION snowdrift.watch("table" regclass, "column" name DEFAULT NULL) RETURNS void
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    relation pg_class;
    name text;
    owner oid;
    problem text;
    watchable CONSTANT text := 'Columns whose defaults draw from a sequence can be watched, and those with IDs of generators of kind ' || array_to_string(snowdrift.kinds_with_watermarks(), ', ') || '.';
    a pg_attribute;
    k record;
    w record;
    wanted text[];
BEGIN
    PERFORM snowdrift.check_can_change('snowdrift.watch()', false);
    relation := snowdrift.check_owner("table");
    owner := relation.relowner;
    name := snowdrift.qualified_name("table");
    problem := snowdrift.relation_problem("table");
    IF problem IS NOT NULL THEN
        RAISE 'table "%" cannot be watched', snowdrift.plain_name("table") USING ERRCODE = CASE WHEN relation.relkind IN ('r', 'p', 'f') THEN '0A000' ELSE '42809' END,
            DETAIL = problem, HINT = 'Watch the table of a view, a foreign table on its own server, and partitions instead of inheritance.';
    END IF;
    -- As CREATE TRIGGER does, but before the catalog is read. A watch is replaced with DROP TRIGGER, which needs the stronger lock.
    EXECUTE format('LOCK TABLE %s IN %s MODE', name, CASE WHEN EXISTS (SELECT FROM snowdrift.watches("table")) THEN 'ACCESS EXCLUSIVE' ELSE 'SHARE ROW EXCLUSIVE' END);
    SELECT * INTO a FROM pg_attribute WHERE attrelid = "table" AND attname = "column" AND attnum > 0 AND NOT attisdropped;
    k := snowdrift.feed_key("table", a.attnum, '');
    problem := CASE WHEN relation.relispartition AND (k.kind = 'sequence' OR NOT k.is_default AND EXISTS (SELECT FROM snowdrift.drawing_columns(pg_partition_root("table")) AS d
            JOIN pg_attribute AS r ON r.attrelid = pg_partition_root("table") AND r.attnum = d.number WHERE r.attname = k.column AND d.kind = 'sequence')) THEN 'The table is a partition. Watch the partitioned table.'
        ELSE k.problem END;
    IF a.attnum IS NULL AND "column" IS NOT NULL THEN
        RAISE 'column "%" of relation "%" does not exist', "column", snowdrift.plain_name("table") USING ERRCODE = '42703';
    ELSIF a.attnum IS NULL AND k.n IS DISTINCT FROM 1 THEN
        RAISE 'table "%" has % columns whose defaults draw IDs', snowdrift.plain_name("table"), coalesce(k.n, 0) USING ERRCODE = '22023',
            DETAIL = coalesce((SELECT format('Columns %s.', string_agg(quote_ident(c.attname), ', ' ORDER BY c.attnum)) FROM snowdrift.drawing_columns("table") AS d
                    JOIN pg_attribute AS c ON c.attrelid = "table" AND c.attnum = d.number HAVING count(*) > 0),
                (SELECT string_agg(format('Column "%s": ', c.attname) || snowdrift.default_problem("table", c.attnum), ' ')
                 FROM pg_index JOIN pg_attribute AS c ON c.attrelid = indrelid AND c.attnum = ANY (indkey) WHERE indrelid = "table" AND indisprimary),
                'No default calls nextval or a function of Snowdrift.'),
            HINT = CASE WHEN relation.relispartition THEN format('Watch the partitioned table: SELECT snowdrift.watch(%L).', pg_partition_root("table"))
                WHEN EXISTS (SELECT FROM pg_index JOIN pg_attribute AS c ON c.attrelid = indrelid AND c.attnum = ANY (indkey)
                    WHERE indrelid = "table" AND indisprimary AND snowdrift.id_kind(snowdrift.base_type(c.atttypid)) <> ALL (snowdrift.kinds_with_watermarks())) THEN watchable
                ELSE format('Name the column to watch: SELECT snowdrift.watch(%L, ''column'').', "table") END;
    ELSIF problem IS NOT NULL THEN
        RAISE 'column "%" of table "%" cannot be watched', k.column, snowdrift.plain_name("table") USING ERRCODE = CASE WHEN a.attgenerated <> '' THEN '0A000' ELSE '55000' END, DETAIL = problem;
    ELSIF k.kind IS NULL THEN
        RAISE 'column "%" of table "%" contains no IDs that have a watermark', k.column, snowdrift.plain_name("table") USING ERRCODE = '42804',
            DETAIL = format('The column is of type %s, and no sequence draws its values.', format_type(snowdrift.base_type(a.atttypid), NULL)),
            HINT = watchable;
    ELSIF k.generator <> '' AND NOT EXISTS (SELECT FROM snowdrift.generators AS g WHERE (g.kind, g.name) = (k.kind, k.generator)) THEN
        RAISE 'ID generator "%" does not exist', k.generator USING ERRCODE = '42704', DETAIL = format('The default of column "%s" draws from it.', k.column);
    ELSIF k.kind = 'snowflake' AND NOT k.is_default THEN
        RAISE NOTICE 'column "%" of table "%" is watched with the default generator', k.column, snowdrift.plain_name("table")
            USING DETAIL = 'The column has no default.',
                HINT = format('If a sequence or a named generator draws the column''s IDs, set a default that draws from it, and watch the column again: ALTER TABLE %s ALTER COLUMN %I SET DEFAULT nextval(''sequence'').', "table", k.column);
    END IF;
    IF k.kind = 'sequence' AND NOT has_sequence_privilege(owner, k.sequence, 'SELECT') THEN
        RAISE 'permission denied for sequence %', k.sequence::regclass USING ERRCODE = '42501',
            DETAIL = format('The table''s owner %s must be allowed to SELECT from it.', owner::regrole);
    END IF;
    FOR w IN SELECT t.part, t.definition, own.name IS NOT NULL AS exists, coalesce(own.name, snowdrift.new_trigger_name("table", t.part, k.number)) AS name
            FROM snowdrift.wanted_triggers("table", k.column, k.kind, k.generator, k.sequence) AS t
                LEFT JOIN snowdrift.watches("table") AS own ON own.part = t.part AND own.number = k.number LOOP
        EXECUTE format('CREATE %s TRIGGER %I %s', CASE WHEN w.exists THEN 'OR REPLACE' END, w.name, w.definition);
        EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', name, w.name);
        wanted := wanted || w.part;
    END LOOP;
    FOR w IN SELECT own.name FROM snowdrift.watches("table") AS own WHERE own.number = k.number AND own.part <> ALL (wanted) LOOP
        EXECUTE format('DROP TRIGGER %I ON %s', w.name, name);    -- of what the column drew from before
    END LOOP;
    IF k.sequence IS NULL THEN
        PERFORM snowdrift.generator_watermark(k.kind, k.generator);    -- so that IDs that readers have passed are refused
    END IF;
    -- If this transaction has drawn before, its next draw takes a hold.
    IF k.kind = 'snowflake' AND current_setting(snowdrift.hold_setting(k.sequence), true) = '9223372036854775807' THEN
        PERFORM set_config(snowdrift.hold_setting(k.sequence), '', true);
    END IF;
    -- The trigger reads the sequence with the rights of its function's owner.
    owner := (SELECT p.proowner FROM pg_proc AS p WHERE p.oid = 'snowdrift.hold_sequence()'::regprocedure);
    IF k.kind = 'sequence' AND NOT has_sequence_privilege(owner, k.sequence, 'SELECT') THEN
        EXECUTE format('GRANT SELECT ON SEQUENCE %s TO %s', k.sequence::regclass, owner::regrole);
        IF NOT has_sequence_privilege(owner, k.sequence, 'SELECT') THEN    -- GRANT has raised a warning
            RAISE 'permission denied for sequence %', k.sequence::regclass USING ERRCODE = '42501',
                HINT = format('Let its owner run GRANT SELECT ON SEQUENCE %s TO %s;', k.sequence::regclass, owner::regrole);
        END IF;
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.watch(regclass, name)
    IS 'let new rows of a table be read without missing any: create triggers that hold the watermark back, and raise an error for rows that readers may have passed';

-- The table's OID distinguishes the triggers of a partition from those of its parent.
EXECUTE $sql$
CREATE OR REPLACE FUNCTION snowdrift.new_trigger_name("table" regclass, part text, number smallint) RETURNS name LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT n::name FROM (SELECT concat_ws('_', 'snowdrift', part, "table"::oid, number, nullif(i, 0)), i FROM generate_series(0, 999) AS i) AS names(n, i)
    WHERE NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = "table" AND tgname = n) ORDER BY i LIMIT 1;
END
$sql$;
COMMENT ON FUNCTION snowdrift.new_trigger_name(regclass, text, smallint) IS 'name for a trigger of snowdrift.watch() that the table does not have yet';

CREATE OR REPLACE FUNCTION snowdrift.unwatch("table" regclass, "column" name DEFAULT NULL) RETURNS void
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    relation text;
    found_name name;
    is_found boolean := false;
BEGIN
    PERFORM snowdrift.check_can_change('snowdrift.unwatch()', false), snowdrift.check_owner("table");
    relation := snowdrift.qualified_name("table");
    EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', relation);    -- before its partitions, which DROP TRIGGER locks first
    FOR found_name IN SELECT w.name FROM snowdrift.watches("table") AS w JOIN pg_attribute AS a ON a.attrelid = "table" AND a.attnum = w.number
            WHERE "column" IS NULL OR a.attname = "column" LOOP
        EXECUTE format('DROP TRIGGER %I ON %s', found_name, relation);
        is_found := true;
    END LOOP;
    IF NOT is_found THEN
        RAISE '%table "%" is not watched', CASE WHEN "column" IS NULL THEN '' ELSE format('column "%s" of ', "column") END, snowdrift.plain_name("table") USING ERRCODE = '42704',
            HINT = coalesce((SELECT 'If the partitioned table is watched, unwatch that one.' FROM pg_class AS c WHERE c.oid = "table" AND c.relispartition), 'There is nothing to remove.');
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.unwatch(regclass, name) IS 'remove the triggers of snowdrift.watch()';

-- Reading new rows: snowdrift.read_new() and hold(), and the transactions that hold watermarks back. The holds are in watches.sql.

-- What read_new() reads: everything on which its promise relies.
CREATE OR REPLACE FUNCTION snowdrift.feed("table" regclass, OUT number smallint, OUT "column" name, OUT kind text, OUT generator text, OUT sequence oid, OUT is_watched boolean)
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_variable
DECLARE
    watched smallint[];
    parts text[];    -- of triggers that are enabled
    watched_generator text;
    watched_sequence oid;
    problem text;
    n bigint;
BEGIN
    SELECT array_agg(DISTINCT w.number), array_agg(w.part) FILTER (WHERE w.is_enabled), max(w.generator) FILTER (WHERE w.is_enabled), max(w.sequence) FILTER (WHERE w.is_enabled)
    INTO watched, parts, watched_generator, watched_sequence FROM snowdrift.watches("table") AS w;
    is_watched := watched IS NOT NULL;
    problem := snowdrift.relation_problem("table");
    IF problem IS NULL THEN
        SELECT k.number, k.column, k.kind, k.generator, k.sequence, k.problem, k.n INTO number, "column", kind, generator, sequence, problem, n FROM snowdrift.feed_key("table", watched[1], watched_generator) AS k;
        IF cardinality(watched) > 1 OR n > 1 THEN
            RAISE 'table "%" has several columns whose new rows could be read', snowdrift.plain_name("table") USING ERRCODE = '22023',
                HINT = format(CASE WHEN is_watched THEN 'Watch only one: SELECT snowdrift.unwatch(%L, ''column'').' ELSE 'Choose one: SELECT snowdrift.watch(%L, ''column'').' END, "table");
        ELSIF NOT is_watched AND (n IS NULL OR sequence IS NOT NULL OR (SELECT c.relispartition FROM pg_class AS c WHERE c.oid = "table")) THEN
            RAISE 'new rows of table "%" are not watched', snowdrift.plain_name("table") USING ERRCODE = '55000',
                HINT = (SELECT CASE WHEN c.relispartition THEN format('Read the partitioned table, %s.', pg_partition_root(c.oid)) ELSE format('Call snowdrift.watch(%L).', "table") END FROM pg_class AS c WHERE c.oid = "table");
        END IF;
    END IF;
    IF problem IS NOT NULL THEN
    ELSIF NOT is_watched THEN
        problem := (SELECT 'The default of a partition''s column is not that of the table.'
            FROM pg_partition_tree("table") JOIN pg_attribute AS a ON a.attrelid = relid AND a.attname = "column" JOIN pg_attrdef AS d ON d.adrelid = relid AND d.adnum = a.attnum
            WHERE pg_get_expr(d.adbin, relid) <> (SELECT pg_get_expr(o.adbin, o.adrelid) FROM pg_attrdef AS o WHERE o.adrelid = "table" AND o.adnum = number) LIMIT 1);
    ELSIF parts IS NULL OR NOT parts @> (CASE WHEN 'watermark' = ANY (parts) THEN '{watermark}' WHEN watched_generator IS NULL THEN '{hold,insert,update}' ELSE '{insert,update}' END)::text[] THEN
        problem := 'A trigger of the watch was dropped or disabled.';
    ELSIF EXISTS (SELECT FROM pg_trigger AS t JOIN pg_proc AS p ON p.oid = t.tgfoid
            WHERE t.tgrelid = ANY (ARRAY(SELECT relid FROM pg_partition_tree("table"))) AND t.tgparentid <> 0 AND t.tgenabled <> 'A' AND p.pronamespace = 'snowdrift'::regnamespace AND p.proname IN ('hold_row', 'refuse_row')) THEN
        problem := 'A trigger of the watch was disabled in a partition.';
    ELSIF kind IS NULL THEN
        problem := 'The column''s default does not draw from a sequence or a generator.';
    ELSIF (generator, sequence) IS DISTINCT FROM (watched_generator, watched_sequence) THEN
        problem := 'The column''s default draws from another sequence or generator than the one that is watched.';
    ELSIF kind = 'sequence' THEN
        problem := CASE WHEN NOT has_sequence_privilege((SELECT c.relowner FROM pg_class AS c WHERE c.oid = "table"), sequence, 'SELECT') THEN format('The table''s owner may not read sequence %s.', sequence::regclass)
            WHEN NOT has_sequence_privilege((SELECT p.proowner FROM pg_proc AS p WHERE p.oid = 'snowdrift.hold_sequence()'::regprocedure), sequence, 'SELECT') THEN format('The owner of the watch''s function may not read sequence %s.', sequence::regclass) END;
    END IF;
    IF problem IS NOT NULL THEN
        RAISE 'new rows of table "%" cannot be read without missing any', snowdrift.plain_name("table") USING ERRCODE = '55000', DETAIL = problem,
            HINT = CASE WHEN number IS NULL THEN 'Watch the table of a view, a foreign table on its own server, and partitions instead of inheritance.'
                ELSE format('Correct this, and call snowdrift.watch(%L)%s.', "table", CASE WHEN is_watched THEN ' again' END) END;
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.feed(regclass) IS 'column by which new rows of a table are read, and what draws its values';

-- An INSERT of no rows takes the hold of a sequence as any other does, and needs the same privilege. A generator takes its hold when it
-- draws. Nobody can read new rows of a sequence's table that is not watched, as during a conversion: there is nothing to hold.
CREATE OR REPLACE FUNCTION snowdrift.hold("table" regclass) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    f pg_catalog.record;
BEGIN
    IF "table" IS NULL THEN
        RAISE 'table must not be null' USING ERRCODE = '22004';
    ELSIF NOT EXISTS (SELECT FROM snowdrift.watches("table")) AND EXISTS (SELECT FROM snowdrift.drawing_columns("table") AS d
            JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) "table" WHERE d.sequence IS NOT NULL AND NOT c.relispartition) THEN
        RETURN;
    END IF;
    f := snowdrift.feed("table");
    IF f.kind OPERATOR(pg_catalog.=) 'sequence' THEN
        EXECUTE pg_catalog.format('INSERT INTO %s (%I) OVERRIDING SYSTEM VALUE SELECT NULL LIMIT 0', snowdrift.qualified_name("table"), f."column");
    ELSE
        PERFORM snowdrift.draw(f.kind, f.generator);
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.hold(regclass)
    IS 'hold back the watermark of a table until the transaction ends, so that it can draw numbers before it inserts rows; does nothing if the key is a sequence''s and the table is not watched';

-- The number before the one that a sequence returns next if it has returned none since it was created or set. Only for a caller's own
-- rights, because it reads the sequence by its name. The last number is read again: a number that is being drawn can be seen half.
CREATE OR REPLACE FUNCTION snowdrift.uncalled_number(sequence oid) RETURNS bigint LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    number bigint;
BEGIN
    EXECUTE format('SELECT last_value FROM %s', sequence::regclass) INTO number;
    RETURN coalesce(pg_sequence_last_value(sequence), snowdrift.number_before(number));
END $$;
COMMENT ON FUNCTION snowdrift.uncalled_number(oid) IS 'number before the next one of a sequence that has not returned it yet';

-- The watermark of a table's key, and the last number that was drawn. Null for generators of the library, which can be ahead of
-- the last one.
CREATE OR REPLACE FUNCTION snowdrift.current_watermark(kind text, generator text, sequence oid, is_for_caller boolean, OUT last bigint, OUT watermark text)
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
BEGIN
    IF kind <> 'sequence' THEN
        SELECT w.last, w.watermark INTO STRICT last, watermark FROM snowdrift.generator_watermark(kind, generator) AS w;
    ELSIF has_sequence_privilege(sequence, 'SELECT') THEN
        last := coalesce(pg_sequence_last_value(sequence), CASE WHEN is_for_caller THEN snowdrift.uncalled_number(sequence) END,
            (SELECT snowdrift.number_before(seqmin) FROM pg_sequence WHERE seqrelid = sequence));
        watermark := least(last, snowdrift.lowest_hold(sequence, last), 9223372036854775806) + 1;
    ELSE
        RAISE 'permission denied for sequence %', sequence::regclass USING ERRCODE = '42501',
            HINT = format('Run GRANT SELECT ON SEQUENCE %s TO %s;', sequence::regclass, quote_ident(current_user));
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.current_watermark(text, text, oid, boolean) IS 'watermark of a generator or a sequence, as text, and the last number that was drawn';

-- The watermark for read_new(). Raises an error if it is unknown, or if the position is above all numbers that were drawn. A
-- standby does not compare them, because its watermark can be older than a position that was read on the primary.
CREATE OR REPLACE FUNCTION snowdrift.feed_watermark("table" regclass, kind text, generator text, sequence oid, after text) RETURNS text
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    w record;
BEGIN
    IF sequence IS NOT NULL AND pg_is_in_recovery() THEN
        RETURN snowdrift.published_watermark('table', "table"::oid::text, sequence);
    ELSIF sequence IS NOT NULL AND current_setting('transaction_isolation') IN ('repeatable read', 'serializable') THEN    -- Their snapshot is older than the locks.
        RAISE 'cannot read new rows of table "%" in a transaction with isolation level "%"', snowdrift.plain_name("table"), current_setting('transaction_isolation')
            USING ERRCODE = '25001', HINT = 'Use READ COMMITTED.';
    END IF;
    w := snowdrift.current_watermark(kind, generator, sequence, true);
    IF w.last IS NOT NULL THEN
        IF after::bigint > w.last THEN
            RAISE 'position % of table "%" is ahead of the last ID, %', after, snowdrift.plain_name("table"), w.last USING ERRCODE = '55000',
                DETAIL = 'The sequence or the clock was set back, or the position is of another table or server.',
                HINT = format('Set the position back, to read all rows again; or, before rows are inserted, %s.',
                    CASE kind WHEN 'sequence' THEN 'set the sequence to the position, as setval does' ELSE 'call snowdrift.advance with the position''s time' END);
        END IF;
    END IF;
    RETURN w.watermark;
END $$;
COMMENT ON FUNCTION snowdrift.feed_watermark(regclass, text, text, oid, text) IS 'watermark of a table''s key, as text';

-- The query of read_new(), with the parameters watermark, max and after, which are texts and a number. Its operators are those of the
-- key's base type, because a domain can have others; for an integer, those with bigint, which the watermark at its end needs.
CREATE OR REPLACE FUNCTION snowdrift.new_rows_query("table" regclass, number smallint, has_position boolean) RETURNS text
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (SELECT format('SELECT * FROM %1$s WHERE %2$I::%6$s OPERATOR(%3$I.<) $1::%4$s%5$s ORDER BY %2$I LIMIT $2', snowdrift.qualified_name("table"), attname, nspname, format_type(t.oid, NULL),
        CASE WHEN has_position THEN format(' AND %I::%s OPERATOR(%I.>) $3::%s', attname, format_type(b.type, NULL), nspname, format_type(t.oid, NULL)) END, format_type(b.type, NULL))
    FROM pg_attribute, LATERAL (SELECT snowdrift.base_type(atttypid)) AS b(type)
        JOIN pg_type AS t ON t.oid = CASE WHEN b.type IN ('int2'::regtype, 'int4'::regtype) THEN 'int8'::regtype ELSE b.type END JOIN pg_namespace AS n ON n.oid = typnamespace
    WHERE attrelid = "table" AND attnum = number);
END $$;
COMMENT ON FUNCTION snowdrift.new_rows_query(regclass, smallint, boolean) IS 'query of snowdrift.read_new()';

CREATE OR REPLACE FUNCTION snowdrift.table_of_row(type regtype) RETURNS regclass LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    relation CONSTANT regclass := (SELECT c.oid FROM pg_type AS t JOIN pg_class AS c ON c.oid = t.typrelid WHERE t.oid = type AND c.relkind IN ('r', 'p'));
BEGIN
    IF relation IS NULL THEN
        RAISE 'type % is not that of a table''s rows', type USING ERRCODE = '22023', HINT = 'Specify the table by a null row: NULL::table.';
    END IF;
    RETURN relation;
END $$;
COMMENT ON FUNCTION snowdrift.table_of_row(regtype) IS 'table whose rows have a type';

-- The notice of read_new(), once in each session
CREATE OR REPLACE FUNCTION snowdrift.notice_unwatched("table" regclass) RETURNS void LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    setting CONSTANT text := 'snowdrift_notice.t' || "table"::oid;
BEGIN
    IF current_setting(setting, true) = 'seen' THEN
        RETURN;
    END IF;
    PERFORM set_config(setting, 'seen', false);
    RAISE NOTICE 'table "%" is not watched', snowdrift.plain_name("table") USING DETAIL = 'Rows whose IDs were drawn in an earlier transaction, or not from the generator of the column''s default, are missed, without an error.',
        HINT = format('Call snowdrift.watch(%L), so that such an INSERT raises an error.', "table");
END $$;
COMMENT ON FUNCTION snowdrift.notice_unwatched(regclass) IS 'tell once in a session that a table is not watched';

-- VOLATILE: in READ COMMITTED, each of its queries has a new snapshot, and that of the rows is later than the watermark. It keeps
-- the caller's search path, because functions in policies and views rely on it. The position may have any type.
CREATE OR REPLACE FUNCTION snowdrift.read_new("table" anyelement, after anycompatible DEFAULT NULL, max bigint DEFAULT 1000) RETURNS SETOF anyelement
    LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    "class" CONSTANT pg_catalog.regclass := snowdrift.table_of_row(pg_catalog.pg_typeof("table"));
    f pg_catalog.record;
    watermark pg_catalog.text;
BEGIN
    EXECUTE pg_catalog.format('SELECT FROM %s LIMIT 0', snowdrift.qualified_name("class"));    -- locks it: DDL ends before the catalog and the rows are read
    f := snowdrift.feed("class");
    IF NOT f.is_watched THEN
        PERFORM snowdrift.notice_unwatched("class");
    END IF;
    watermark := snowdrift.feed_watermark("class", f.kind, f.generator, f.sequence, after::pg_catalog.text);
    RETURN QUERY EXECUTE snowdrift.new_rows_query("class", f.number, after IS NOT NULL) USING watermark, max, after::pg_catalog.text;
END $$;
COMMENT ON FUNCTION snowdrift.read_new(anyelement, anycompatible, bigint)
    IS 'new rows of the table whose null row is the first argument, in the order of their IDs: none is missed and none is returned twice if after is the ID of the last row';

-- The holds, with the IDs of prepared transactions. Transactions in progress have a process instead.
EXECUTE $sql$
CREATE OR REPLACE FUNCTION snowdrift.holding_transactions(OUT pid integer, OUT transaction xid, OUT key bigint) RETURNS SETOF record LANGUAGE sql VOLATILE
BEGIN ATOMIC
    SELECT h.pid, x.transactionid, h.key FROM snowdrift.holds() AS h
        LEFT JOIN pg_locks AS x ON h.pid IS NULL AND x.virtualtransaction = h.virtualtransaction AND x.locktype = 'transactionid' AND x.mode = 'ExclusiveLock' AND x.pid IS NULL;
END
$sql$;
COMMENT ON FUNCTION snowdrift.holding_transactions() IS 'transactions that have taken holds; null for those in progress, which have a process';

EXECUTE $sql$
CREATE OR REPLACE FUNCTION snowdrift.read_sequence_holders(OUT pid integer, OUT transaction xid, OUT sequence oid) RETURNS SETOF record LANGUAGE sql VOLATILE
BEGIN ATOMIC
    SELECT h.pid, h.transaction, s.sequence
    FROM snowdrift.holding_transactions() AS h
        JOIN (SELECT DISTINCT refobjid FROM pg_trigger JOIN pg_depend ON classid = 'pg_trigger'::regclass AND objid = pg_trigger.oid JOIN pg_sequence ON seqrelid = refobjid
              WHERE tgfoid = 'snowdrift.hold_sequence()'::regprocedure AND refclassid = 'pg_class'::regclass) AS s(sequence) ON h.key = snowdrift.hold_key(s.sequence, h.key);
END
$sql$;
COMMENT ON FUNCTION snowdrift.read_sequence_holders() IS 'transactions that hold back the watermarks of sequences';

-- The transactions that hold back watermarks: those of generators, and those of sequences
CREATE OR REPLACE VIEW snowdrift.watermark_holders AS
    SELECT h.pid, p.gid, COALESCE(a.xact_start, p.prepared) AS since, h.kind, h.generator,
        COALESCE(h.lowest, a.xact_start, p.prepared) AS lowest, a.query
    FROM (SELECT pid, transaction::xid, kind, generator, lowest FROM snowdrift.read_watermark_holders()
          UNION ALL
          SELECT pid, transaction, 'sequence', sequence::regclass::text, NULL FROM snowdrift.read_sequence_holders()) AS h(pid, transaction, kind, generator, lowest)
        LEFT JOIN pg_stat_activity AS a ON a.pid = h.pid
        LEFT JOIN pg_prepared_xacts AS p ON p.transaction = h.transaction;
COMMENT ON VIEW snowdrift.watermark_holders
    IS 'transactions in progress that hold back watermarks, with a row for each generator or sequence';

-- Watermarks on hot standbys: snowdrift.publish_watermarks() writes a row for each on the primary. All transactions that can have
-- drawn below a watermark ended before it was read, so their commits precede that of its row in the WAL: a snapshot of a standby
-- that contains the row contains their rows. The row names its server and database, because dumps and copies bring rows of others.

IF to_regclass('snowdrift_tables.published_watermark') IS NULL THEN
CREATE TABLE snowdrift_tables.published_watermark (
    kind text,    -- of the generator's IDs, or table
    source text,    -- name of the generator, or OID of the watched table
    watermark text NOT NULL,
    server text NOT NULL,
    origin text NOT NULL,    -- what draws: a later one of the same name, or of the table, is another one
    published_at timestamptz NOT NULL,
    PRIMARY KEY (kind, source)
);
END IF;

EXECUTE $sql$
CREATE OR REPLACE FUNCTION snowdrift_tables.server() RETURNS text LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT concat_ws('/', c.system_identifier, d.oid, 'snowdrift_tables.published_watermark'::regclass::oid)
    FROM pg_control_system() AS c, pg_database AS d WHERE d.datname = current_database();
END
$sql$;
COMMENT ON FUNCTION snowdrift_tables.server() IS 'the server, the database and the table to which a published watermark belongs';

CREATE OR REPLACE TRIGGER skip_row BEFORE INSERT OR UPDATE OR DELETE ON snowdrift_tables.published_watermark
    FOR EACH ROW EXECUTE FUNCTION snowdrift_tables.skip_row();
ALTER TABLE snowdrift_tables.published_watermark ENABLE REPLICA TRIGGER skip_row;

-- What messages call the source of a watermark
CREATE OR REPLACE FUNCTION snowdrift.watermark_source(kind text, source text) RETURNS text LANGUAGE sql STABLE
    RETURN CASE WHEN kind = 'table' THEN format('table "%s"', snowdrift.plain_name(source::oid::regclass)) WHEN source = '' THEN format('the default %s generator', kind)
        ELSE format('ID generator "%s"', source) END;
COMMENT ON FUNCTION snowdrift.watermark_source(text, text) IS 'table or generator of a watermark, for messages';

-- A sequence and its file, which RESTART and TRUNCATE with RESTART IDENTITY replace, or the definition of a generator.
CREATE OR REPLACE FUNCTION snowdrift.watermark_origin(source text, sequence oid) RETURNS text LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN CASE WHEN sequence <> 0 THEN (SELECT concat_ws('/', c.oid, c.relfilenode) FROM pg_class AS c WHERE c.oid = sequence)
        ELSE snowdrift.generator_identity(source) END;
END $$;
COMMENT ON FUNCTION snowdrift.watermark_origin(text, oid) IS 'identity of the sequence or the generator whose watermark is published';

-- The watermarks of generators of the library, and of tables whose watch depends on a sequence, which includes the generators of the
-- SQL edition. What cannot be read now raises a warning: null if a lock is in the way, so that the earlier one stays; otherwise, none.
CREATE OR REPLACE FUNCTION snowdrift.current_watermarks(OUT kind text, OUT source text, OUT watermark text, OUT origin text) RETURNS SETOF record
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET lock_timeout = '100ms' AS $$
#variable_conflict use_variable
DECLARE
    f record;
    detail text;
BEGIN
    FOR kind, source IN
        SELECT g.kind, coalesce(g.name, '') FROM snowdrift.generators AS g
        WHERE g.kind = ANY (snowdrift.kinds_with_watermarks()) AND snowdrift.state_of(coalesce(g.name, '')) IS NULL
        UNION ALL SELECT DISTINCT 'table', tgrelid::oid::text FROM pg_trigger JOIN pg_class AS c ON c.oid = tgrelid
        WHERE tgfoid = 'snowdrift.refuse_row()'::regprocedure AND tgparentid = 0 AND relpersistence = 'p'
        ORDER BY 1, 2 LOOP
        BEGIN
            watermark := NULL;
            SELECT kind AS kind, source AS generator, NULL::oid AS sequence INTO f;
            IF kind = 'table' THEN
                f := snowdrift.feed(source::oid::regclass);
            END IF;
            origin := snowdrift.watermark_origin(source, f.sequence);
            watermark := (SELECT w.watermark FROM snowdrift.current_watermark(f.kind, f.generator, f.sequence, false) AS w);
            RETURN NEXT;
        EXCEPTION WHEN lock_not_available THEN
            RAISE WARNING 'watermark of % is not published now: %', snowdrift.watermark_source(kind, source), SQLERRM;
            PERFORM set_config('lock_timeout', '1ms', true);    -- so that many locked sequences do not add up
            RETURN NEXT;
        WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            RAISE WARNING 'watermark of % is not published: %', snowdrift.watermark_source(kind, source), concat_ws('; ', SQLERRM, nullif(detail, ''));
        END;
    END LOOP;
END $$;
COMMENT ON FUNCTION snowdrift.current_watermarks() IS 'watermarks that standbys can read';

CREATE OR REPLACE FUNCTION snowdrift.publish_watermarks() RETURNS void
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM snowdrift.check_can_change('snowdrift.publish_watermarks()', false);
    WITH present AS MATERIALIZED (
        SELECT * FROM snowdrift.current_watermarks()
    ), written AS (
        INSERT INTO snowdrift_tables.published_watermark AS p (kind, source, watermark, server, origin, published_at)
        SELECT kind, source, watermark, snowdrift_tables.server(), origin, clock_timestamp() FROM present WHERE watermark IS NOT NULL
        ON CONFLICT (kind, source) DO UPDATE
        SET watermark = excluded.watermark, server = excluded.server, origin = excluded.origin, published_at = excluded.published_at
    )
    DELETE FROM snowdrift_tables.published_watermark AS p WHERE NOT EXISTS (SELECT FROM present WHERE (present.kind, present.source) = (p.kind, p.source));
END $$;
COMMENT ON FUNCTION snowdrift.publish_watermarks() IS 'let hot standbys read new rows up to the present watermarks; call it regularly on the primary';

-- Other roles read the table only through functions. The view hides the watermarks of tables that the role
-- may not read, because the last number of a sequence tells how many rows there are.
EXECUTE $sql$
CREATE OR REPLACE FUNCTION snowdrift_tables.published_watermarks() RETURNS SETOF snowdrift_tables.published_watermark
    LANGUAGE sql STABLE SECURITY DEFINER
BEGIN ATOMIC
    SELECT p.* FROM snowdrift_tables.published_watermark AS p WHERE p.server = snowdrift_tables.server();
END
$sql$;
COMMENT ON FUNCTION snowdrift_tables.published_watermarks() IS 'watermarks that this server has published';

CREATE OR REPLACE VIEW snowdrift.published_watermarks AS
    SELECT kind, CASE WHEN kind <> 'table' THEN nullif(source, '') END AS generator, CASE kind WHEN 'table' THEN source::oid::regclass END AS "table",
        CASE WHEN kind <> 'table' OR has_any_column_privilege(source::oid, 'SELECT') THEN watermark END AS watermark, published_at, origin
    FROM snowdrift_tables.published_watermarks();
COMMENT ON VIEW snowdrift.published_watermarks IS 'watermarks up to which hot standbys can read new rows';

-- STABLE: it reads with the snapshot of the statement, which therefore contains the rows below the watermark.
CREATE OR REPLACE FUNCTION snowdrift.published_watermark(kind text, source text, sequence oid) RETURNS text
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    published record;
BEGIN
    SELECT * INTO published FROM snowdrift.published_watermarks AS p
    WHERE p.kind = published_watermark.kind AND coalesce(p.generator, p."table"::oid::text, '') = source AND p.origin = snowdrift.watermark_origin(source, sequence);
    IF NOT FOUND THEN
        RAISE 'no watermark of % is published', snowdrift.watermark_source(kind, source) USING ERRCODE = '55000',
            HINT = 'A standby can read new rows if snowdrift.publish_watermarks() is called regularly on the primary.';
    ELSIF published.watermark IS NULL THEN
        RAISE 'permission denied for table %', snowdrift.plain_name(source::oid) USING ERRCODE = '42501';
    END IF;
    RETURN published.watermark;
END $$;
COMMENT ON FUNCTION snowdrift.published_watermark(text, text, oid) IS 'watermark that the primary has published; raises an error if there is none';

-- Keys of seals: creation, rotation and removal. include/snowdrift/seal.hpp describes sealed IDs.

-- The newest key of a name seals; all unseal. Neither errors nor statistics may show a key: so no constraint can fail with one, there is no
-- trigger BEFORE INSERT, with which the errors of COPY show rows, and the primary key, by which logical replication finds rows, contains
-- none. A subscriber adds and drops the keys that the publisher does, beside its own of the same name and version.
IF to_regclass('snowdrift_tables.seal_key') IS NULL THEN
CREATE TABLE snowdrift_tables.seal_key (
    name text COLLATE "C",
    version integer,
    id uuid DEFAULT pg_catalog.gen_random_uuid(),
    key bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (name, version, id)
);
END IF;
ALTER TABLE snowdrift_tables.seal_key ALTER key SET STATISTICS 0;
COMMENT ON TABLE snowdrift_tables.seal_key IS 'keys of seals; roles that can read it can seal and unseal';

-- PL/pgSQL, because parameters of SQL functions can be logged. gen_random_uuid() is core's only source of cryptographically strong random
-- bytes; each UUID has 122 random bits.
CREATE OR REPLACE FUNCTION snowdrift_tables.add_seal_key(name text, version integer, key bytea) RETURNS void
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF length(key) <> 32 THEN
        RAISE 'invalid seal key' USING ERRCODE = '22023', DETAIL = format('A seal key must have 32 bytes, not %s.', length(key));
    END IF;
    INSERT INTO snowdrift_tables.seal_key (name, version, key)
    VALUES (name, version, coalesce(key, sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))));
END $$;
COMMENT ON FUNCTION snowdrift_tables.add_seal_key(text, integer, bytea) IS 'add a key of a seal; a random one if it is null';

-- A restore creates functions that PUBLIC may call, and grants and revokes afterwards, unless a role of a grant does not exist.
CREATE OR REPLACE FUNCTION snowdrift_tables.report_not_private(function regprocedure) RETURNS void LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE 'function % must not be executable by PUBLIC', function USING ERRCODE = '42501',
        HINT = (SELECT format('In the SQL edition, after a restore, run its file again. Otherwise, let role %s run REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC.', string_agg(a.grantor::regrole::text, ' and role '), function)
            FROM pg_proc AS p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) AS a WHERE p.oid = function AND a.grantee = 0);
END $$;
COMMENT ON FUNCTION snowdrift_tables.report_not_private(regprocedure) IS 'raise an error because all roles may execute function';

CREATE OR REPLACE FUNCTION snowdrift_tables.check_seals_are_private() RETURNS void LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM snowdrift_tables.report_not_private(min(oid)) FROM pg_proc WHERE pronamespace = 'snowdrift'::regnamespace
        AND proname IN ('create_seal', 'rotate_seal', 'drop_seal', 'seal_keys') AND has_function_privilege('public', oid, 'EXECUTE') HAVING count(*) > 0;
END $$;
COMMENT ON FUNCTION snowdrift_tables.check_seals_are_private() IS 'raise an error if all roles may read or change keys';

CREATE OR REPLACE FUNCTION snowdrift_tables.lock_seal(name text) RETURNS integer LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM snowdrift_tables.check_seals_are_private();
    IF name IS NULL THEN
        RAISE 'seal name must not be null' USING ERRCODE = '22004';
    END IF;
    IF current_setting('transaction_isolation') IN ('repeatable read', 'serializable') THEN    -- An older snapshot lacks the newest key.
        RAISE 'cannot change seals in a transaction with isolation level "%"', current_setting('transaction_isolation') USING ERRCODE = '25001', HINT = 'Use READ COMMITTED.';
    END IF;
    LOCK TABLE snowdrift_tables.seal_key IN SHARE ROW EXCLUSIVE MODE;
    RETURN (SELECT max(k.version) FROM snowdrift_tables.seal_key AS k WHERE k.name = lock_seal.name COLLATE "C");
END $$;
COMMENT ON FUNCTION snowdrift_tables.lock_seal(text)
    IS 'let no other session change keys until the transaction ends; returns the version of the newest one of a seal, or null if there is none';

CREATE OR REPLACE FUNCTION snowdrift.create_seal(name text, key bytea DEFAULT NULL) RETURNS void
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF name !~ '^[ -~]{1,63}$' COLLATE "C" THEN
        RAISE 'invalid seal name: "%"', name USING ERRCODE = '42602', DETAIL = 'A seal name must have 1 to 63 printable ASCII characters.';
    ELSIF snowdrift_tables.lock_seal(name) IS NOT NULL THEN
        RAISE 'seal "%" already exists', name USING ERRCODE = '42710', HINT = 'Use snowdrift.rotate_seal() to add a key.';
    END IF;
    PERFORM snowdrift_tables.add_seal_key(name, 1, key);
END $$;
COMMENT ON FUNCTION snowdrift.create_seal(text, bytea) IS 'create the key of a seal; by default, a random one';

CREATE OR REPLACE FUNCTION snowdrift.rotate_seal(name text, key bytea DEFAULT NULL) RETURNS integer
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    version CONSTANT integer := snowdrift_tables.lock_seal(name) + 1;
BEGIN
    IF version IS NULL THEN
        RAISE 'seal "%" does not exist', name USING ERRCODE = '42704', HINT = 'Check the name. If its keys were lost, restore them from a backup; otherwise, call snowdrift.create_seal().';
    END IF;
    PERFORM snowdrift_tables.add_seal_key(name, version, key);
    RETURN version;
END $$;
COMMENT ON FUNCTION snowdrift.rotate_seal(text, bytea) IS 'add a key, which seals from now on, and return its version; earlier keys still unseal';

CREATE OR REPLACE FUNCTION snowdrift.drop_seal(name text) RETURNS void
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM snowdrift_tables.lock_seal(name);
    DELETE FROM snowdrift_tables.seal_key AS k WHERE k.name = drop_seal.name COLLATE "C";
    IF NOT FOUND THEN
        RAISE 'seal "%" does not exist', name USING ERRCODE = '42704';
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.drop_seal(text) IS 'drop all keys of a seal; IDs that they have sealed can no longer be unsealed';

CREATE OR REPLACE FUNCTION snowdrift.drop_seal(name text, version integer) RETURNS void
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF version IS NULL THEN
        RAISE 'version must not be null' USING ERRCODE = '22004';
    END IF;
    PERFORM snowdrift_tables.lock_seal(name);
    DELETE FROM snowdrift_tables.seal_key AS k WHERE k.name = drop_seal.name COLLATE "C" AND k.version = drop_seal.version;
    IF NOT FOUND THEN
        RAISE 'version % of seal "%" does not exist', version, name USING ERRCODE = '42704';
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.drop_seal(text, integer) IS 'drop a key of a seal; IDs that it has sealed can no longer be unsealed';

CREATE OR REPLACE FUNCTION snowdrift.seal_keys(name text, OUT version integer, OUT key bytea, OUT created_at timestamptz) RETURNS SETOF record
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN
    PERFORM snowdrift_tables.check_seals_are_private();
    RETURN QUERY SELECT k.version, k.key, k.created_at FROM snowdrift_tables.seal_key AS k WHERE k.name = seal_keys.name COLLATE "C" ORDER BY k.version DESC, k.id DESC;
END $$;
COMMENT ON FUNCTION snowdrift.seal_keys(text) IS 'keys of a seal, the newest first, for other services and servers';

-- Sealed IDs

-- The padded keys of HMAC: a key, completed by zeros, XOR a byte. bit_send() begins with the length.
CREATE OR REPLACE FUNCTION snowdrift.padded_key(key bytea, byte text) RETURNS bytea LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN substr(bit_send(('x' || rpad(encode(key, 'hex'), 128, '0'))::bit(512) # ('x' || repeat(byte, 64))::bit(512)), 5);
COMMENT ON FUNCTION snowdrift.padded_key(bytea, text) IS 'key of HMAC-SHA-256, padded with a byte';
IF (SELECT count(*) FROM pg_attribute WHERE attrelid = 'snowdrift_tables.seal_key'::regclass AND attname IN ('inner_key', 'outer_key')) < 2 THEN
    ALTER TABLE snowdrift_tables.seal_key ADD IF NOT EXISTS inner_key bytea NOT NULL GENERATED ALWAYS AS (snowdrift.padded_key(key, '36')) STORED,
        ADD IF NOT EXISTS outer_key bytea NOT NULL GENERATED ALWAYS AS (snowdrift.padded_key(key, '5c')) STORED;
    ALTER TABLE snowdrift_tables.seal_key ALTER inner_key SET STATISTICS 0, ALTER outer_key SET STATISTICS 0;
END IF;

-- HMAC-SHA-256 is inlined, because a function call costs more than a hash. As with the keys, both functions
-- raise an error while PUBLIC may call them.
CREATE OR REPLACE FUNCTION public.snowflake_seal(id bigint, name text) RETURNS uuid
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    name_bytes CONSTANT bytea := convert_to(name, 'SQL_ASCII');
    inner_key bytea;
    outer_key bytea;
    tag bigint;
    body bigint;
BEGIN
    IF has_function_privilege('public', 'public.snowflake_seal(bigint,text)'::regprocedure, 'EXECUTE') THEN
        PERFORM snowdrift_tables.report_not_private('public.snowflake_seal(bigint,text)'::regprocedure);
    END IF;
    SELECT k.inner_key, k.outer_key INTO inner_key, outer_key FROM snowdrift_tables.seal_key AS k WHERE k.name = snowflake_seal.name COLLATE "C" ORDER BY k.version DESC, k.id DESC LIMIT 1;
    IF inner_key IS NULL THEN
        RAISE 'seal "%" does not exist', name USING ERRCODE = '42704', HINT = 'Check the name. If its keys were lost, restore them from a backup; otherwise, call snowdrift.create_seal().';
    END IF;
    tag := (('x' || encode(sha256(outer_key || sha256(inner_key || decode('01', 'hex') || int8send(id) || name_bytes)), 'hex'))::bit(64)::bigint >> 6) & 288230376151711743;    -- 2^58 - 1
    body := id # ('x' || encode(sha256(outer_key || sha256(inner_key || decode('02', 'hex') || int8send(tag) || name_bytes)), 'hex'))::bit(64)::bigint;
    RETURN encode(int8send((tag >> 10 << 16) | 32768 | ((tag & 1023) << 2) | ((body >> 62) & 3))
        || int8send((body & 4611686018427387903) | (-9223372036854775808)), 'hex')::uuid;    -- 2^62 - 1
END $$;
COMMENT ON FUNCTION public.snowflake_seal(bigint, text) IS 'seal ID: return UUID of version 8 that can be read only with the key';

CREATE OR REPLACE FUNCTION public.snowflake_unseal(sealed uuid, name text, invalid_ok boolean DEFAULT false) RETURNS bigint
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    name_bytes CONSTANT bytea := convert_to(name, 'SQL_ASCII');
    high CONSTANT bigint := ('x' || encode(uuid_send(sealed), 'hex'))::bit(64)::bigint;
    low CONSTANT bigint := ('x' || encode(substr(uuid_send(sealed), 9), 'hex'))::bit(64)::bigint;
    tag CONSTANT bigint := (((high >> 16) & 281474976710655) << 10) | ((high >> 2) & 1023);    -- 2^48 - 1
    body CONSTANT bigint := (high << 62) | (low & 4611686018427387903);
    last integer := 2147483647;    -- version
    last_id uuid := '00000000-0000-0000-0000-000000000000';
    inner_key bytea;
    outer_key bytea;
    id bigint;
BEGIN
    IF has_function_privilege('public', 'public.snowflake_unseal(uuid,text,boolean)'::regprocedure, 'EXECUTE') THEN
        PERFORM snowdrift_tables.report_not_private('public.snowflake_unseal(uuid,text,boolean)'::regprocedure);
    END IF;
    LOOP    -- newest key first; a cursor would cost more than a hash. Parameters are in plans, which can be logged, so no key is one.
        SELECT k.version, k.id, k.inner_key, k.outer_key INTO last, last_id, inner_key, outer_key FROM snowdrift_tables.seal_key AS k
        WHERE k.name = snowflake_unseal.name COLLATE "C" AND (k.version, k.id) < (last, last_id) ORDER BY k.version DESC, k.id DESC LIMIT 1;
        EXIT WHEN NOT FOUND;
        id := body # ('x' || encode(sha256(outer_key || sha256(inner_key || decode('02', 'hex') || int8send(tag) || name_bytes)), 'hex'))::bit(64)::bigint;
        IF (('x' || encode(sha256(outer_key || sha256(inner_key || decode('01', 'hex') || int8send(id) || name_bytes)), 'hex'))::bit(64)::bigint >> 6) & 288230376151711743 = tag
                AND (high >> 12) & 15 = 8 AND (low >> 62) & 3 = 2 THEN
            RETURN id;
        END IF;
    END LOOP;
    IF id IS NULL THEN
        RAISE 'seal "%" does not exist', name USING ERRCODE = '42704', HINT = 'Check the name. If its keys were lost, restore them from a backup; otherwise, call snowdrift.create_seal().';
    ELSIF invalid_ok THEN
        RETURN NULL;
    END IF;
    RAISE 'invalid sealed ID for "%"', name USING ERRCODE = '22023', DETAIL = 'The UUID was not made with a key of this seal.';
END $$;
COMMENT ON FUNCTION public.snowflake_unseal(uuid, text, boolean)
    IS 'unseal ID; if it was not made with a key of the seal, raise an error, or return null if invalid_ok';

-- Privileges of new objects

-- From new objects, and from all after a restore, which creates them with the default privileges of the role that restores, all privileges
-- are revoked that ALTER DEFAULT PRIVILEGES can have granted. PUBLIC may call functions of a restore without privileges, which
-- have no list of privileges, and may never call those of seals. A dump does not bring the place of a dropped column, which pg_upgrade and
-- copies of the database keep.
is_restored := is_repeated AND NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'snowdrift_tables.seal_key'::regclass AND attisdropped);
defaults := ARRAY(SELECT concat(defaclobjtype, d.grantee) FROM pg_default_acl, aclexplode(defaclacl) AS d
    WHERE d.grantee <> defaclrole AND defaclnamespace IN (0, 'snowdrift'::regnamespace, 'snowdrift_tables'::regnamespace, (SELECT pronamespace FROM pg_proc WHERE oid = 'public.next_snowflake()'::regprocedure))) || 'f0'::text;
-- A grantee's own grants end with the privilege, by CASCADE, so the second pass finds which ones are left.
FOR pass IN 1..2 LOOP
    FOR place, grantee, privileges, is_new, options, grantor, is_by_default IN
        WITH objects(kind, name, owner, acl, is_open, is_new) AS (
            SELECT 'f', 'FUNCTION ' || oid::regprocedure, proowner, coalesce(proacl, acldefault('f', proowner)), proacl IS NULL OR proname ~ 'seal', NOT functions ? oid::text FROM pg_proc
            WHERE pronamespace = 'snowdrift'::regnamespace AND proname IN ('create_generator', 'drop_generator', 'advance', 'publish_watermarks', 'create_seal', 'rotate_seal', 'drop_seal', 'seal_keys')
                OR oid IN ('public.snowflake_seal(bigint,text)'::regprocedure, 'public.snowflake_unseal(uuid,text,boolean)'::regprocedure)
            UNION ALL SELECT relkind, CASE relkind WHEN 'S' THEN 'SEQUENCE ' ELSE 'TABLE ' END || oid::regclass, relowner, relacl, false, oid <> ALL (relations) FROM pg_class
            WHERE relnamespace = 'snowdrift_tables'::regnamespace AND relkind IN ('r', 'S')
            UNION ALL SELECT 'n', 'SCHEMA snowdrift_tables', nspowner, nspacl, false, false FROM pg_namespace WHERE nspname = 'snowdrift_tables'
        )
        SELECT o.name, snowdrift.grantee_name(a.grantee), string_agg(a.privilege_type, ', ' ORDER BY a.privilege_type), o.is_new,
            CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION, and grant again what this role has granted to others' ELSE '' END,
            a.grantor::regrole::text, o.is_new OR concat(o.kind, a.grantee) = ANY (defaults)
        FROM objects AS o, aclexplode(o.acl) AS a
        WHERE a.grantee <> o.owner AND (o.is_new OR is_restored OR o.is_open AND a.grantee = 0)
        GROUP BY o.kind, o.name, o.owner, a.grantee, a.grantor, a.is_grantable, o.is_new ORDER BY o.name, a.grantor <> o.owner, a.grantee LOOP
        IF pass = 1 THEN
            grants := grants || jsonb_build_object('place', place, 'grantee', grantee, 'privileges', privileges, 'is_new', is_new, 'options', options, 'grantor', grantor);
            IF is_by_default THEN
                EXECUTE format('REVOKE ALL ON %s FROM %s CASCADE', place, grantee);
            END IF;
        ELSE
            grants := (SELECT coalesce(jsonb_agg(g ORDER BY n), '[]') FROM jsonb_array_elements(grants) WITH ORDINALITY AS e(g, n)
                WHERE (g ->> 'place', g ->> 'grantee', g ->> 'grantor', g ->> 'options') <> (place, grantee, grantor, options));
            RAISE NOTICE 'kept % on % for %', privileges, place, grantee USING HINT = format('If it is not intended, let role %s run REVOKE ALL ON %s FROM %s CASCADE.', grantor, place, grantee);
        END IF;
    END LOOP;
END LOOP;
FOR place, grantee, privileges, options IN
    SELECT g ->> 'place', g ->> 'grantee', g ->> 'privileges', g ->> 'options' FROM jsonb_array_elements(grants) WITH ORDINALITY AS e(g, n) WHERE NOT (g ->> 'is_new')::boolean ORDER BY n LOOP
    IF grantee = 'PUBLIC' THEN
        RAISE NOTICE 'revoked % on % from PUBLIC', privileges, place;
    ELSE
        RAISE NOTICE 'revoked % on % from %, because a restore may have granted it', privileges, place, grantee
            USING HINT = format('If you have granted it, run GRANT %s ON %s TO %s%s.', privileges, place, grantee, options);
    END IF;
END LOOP;
-- No privilege on a view but SELECT is of use.
FOR place, grantee IN
    SELECT DISTINCT oid::regclass::text, snowdrift.grantee_name(a.grantee) FROM pg_class, aclexplode(relacl) AS a
    WHERE relnamespace = 'snowdrift'::regnamespace AND relkind = 'v' AND a.grantee <> relowner AND a.privilege_type <> 'SELECT' LOOP
    EXECUTE format('REVOKE INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER ON %s FROM %s CASCADE', place, grantee);
END LOOP;
-- Privileges on columns that a role has granted by a privilege on the table, which it no longer has: CASCADE leaves them.
FOR problem IN
    SELECT DISTINCT attrelid::regclass::text AS "table", quote_ident(attname) AS "column", a.grantor::regrole::text AS role
    FROM pg_class AS c JOIN pg_attribute ON attrelid = c.oid, aclexplode(attacl) AS a
    WHERE relnamespace = 'snowdrift_tables'::regnamespace AND relkind = 'r' AND NOT attisdropped AND NOT has_column_privilege(a.grantor, attrelid, attnum, a.privilege_type || ' WITH GRANT OPTION') ORDER BY 1, 2, 3 LOOP
    EXECUTE format('GRANT ALL (%s) ON TABLE %s TO %s WITH GRANT OPTION', problem."column", problem."table", problem.role);
    EXECUTE format('REVOKE ALL (%s) ON TABLE %s FROM %s CASCADE', problem."column", problem."table", problem.role);
    RAISE NOTICE 'revoked privileges on column % of table % that role % has granted, or had', problem."column", problem."table", problem.role;
END LOOP;
IF is_restored OR NOT is_repeated THEN
    BEGIN
        ALTER TABLE snowdrift_tables.seal_key ADD place_of_no_dump boolean;
        ALTER TABLE snowdrift_tables.seal_key DROP place_of_no_dump;
    EXCEPTION WHEN lock_not_available THEN
        RAISE WARNING 'table "snowdrift_tables.seal_key" is in use' USING HINT = 'The file revokes privileges again when it is run again.';
    END;
END IF;
FOR grantee, options, is_new IN
    SELECT snowdrift.grantee_name(a.grantee), CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END, is_restored AND concat('f', a.grantee) = ANY (defaults)
    FROM aclexplode(creators) AS a WHERE a.grantee <> installer LOOP
    IF grantee = 'PUBLIC' THEN
        RAISE NOTICE 'revoked EXECUTE on FUNCTION snowdrift.create_generator from PUBLIC';
    ELSIF is_new THEN
        RAISE NOTICE 'revoked EXECUTE on FUNCTION snowdrift.create_generator from %, because a restore may have granted it', grantee
            USING HINT = format('If you have granted it, run GRANT EXECUTE ON FUNCTION snowdrift.create_generator TO %s%s.', grantee, options);
    ELSE
        EXECUTE 'GRANT EXECUTE ON FUNCTION snowdrift.create_generator TO ' || grantee || options;
    END IF;
END LOOP;
FOR place, is_new IN
    SELECT 'SELECT ON ' || name, name::regclass <> ALL (relations)
    FROM unnest('{snowdrift.generators,snowdrift.key_copies,snowdrift.watermark_holders,snowdrift.published_watermarks}'::text[]) AS name
    WHERE NOT has_table_privilege('public', name, 'SELECT')
    UNION ALL SELECT 'USAGE ON SCHEMA snowdrift', false WHERE NOT has_schema_privilege('public', 'snowdrift', 'USAGE') LOOP
    IF is_new OR is_restored THEN
        EXECUTE format('GRANT %s TO PUBLIC', place);
    END IF;
    IF is_restored AND NOT is_new THEN
        RAISE NOTICE 'granted % to PUBLIC, because a restore may not have granted it', place USING HINT = format('If you have revoked it, run REVOKE %s FROM PUBLIC.', place);
    END IF;
END LOOP;
BEGIN
    PERFORM pg_extension_config_dump('snowdrift_tables.generator', '');
    PERFORM pg_extension_config_dump('snowdrift_tables.state', '');
    PERFORM pg_extension_config_dump('snowdrift_tables.dropped_ms', '');
    PERFORM pg_extension_config_dump('snowdrift_tables.seal_key', '');
EXCEPTION WHEN FEATURE_NOT_SUPPORTED THEN    -- This is not the script of an extension.
END;

-- A function that is replaced keeps its owner.
FOR problem IN SELECT oid::regprocedure AS function, proowner FROM pg_proc
        WHERE functions ->> oid::text <> ctid::text AND xmin = pg_current_xact_id()::xid AND (proowner <> installer OR NOT is_repeated) LOOP
    RAISE 'function % already exists', problem.function USING ERRCODE = '42723',
        DETAIL = format('It belongs to role %s.', problem.proowner::regrole);
END LOOP;

-- Lost states

IF are_keys_lost THEN
    RAISE WARNING 'table "snowdrift_tables.seal_key" was lost'
        USING HINT = 'If you use sealed IDs, restore its rows from a backup. With a new key, IDs that were sealed before cannot be unsealed.';
END IF;
IF is_repeated THEN
    now_ms := snowdrift_tables.unix_ms();
    given_ms := snowdrift.unix_ms_of(nullif(current_setting('snowdrift.last_timestamp', true), '')::timestamptz);
    INSERT INTO snowdrift_tables.generator
    SELECT name, layout, datacenter, worker, snowdrift.fields_of(layout),
        coalesce(state, 'snowdrift_tables.state_' || replace(gen_random_uuid()::text, '-', '')), coalesce(spread, false)
    FROM jsonb_to_recordset(definitions) AS d(name text, layout text, datacenter integer, worker integer, state text, spread boolean)
    WHERE name || layout || datacenter || worker IS NOT NULL;
    are_definitions_lost := are_definitions_lost OR coalesce(jsonb_array_length(definitions), 0) > (SELECT count(*) FROM snowdrift_tables.generator);
    -- If the clock has not been set back since, calls before this millisecond have returned no later IDs.
    PERFORM setval(g.state, snowdrift_tables.last_state_at(greatest(now_ms + 59999 + (g.fields).unit_ms, given_ms), g.fields))
    FROM snowdrift_tables.generators() AS g WHERE g.state::regclass <> ALL (relations);
    IF are_definitions_lost OR 'snowdrift_tables.dropped_ms'::regclass <> ALL (relations) THEN
        PERFORM setval('snowdrift_tables.dropped_ms',
            greatest(now_ms + 60000, given_ms::bigint, pg_sequence_last_value('snowdrift_tables.dropped_ms')));
    END IF;
    FOR place IN SELECT oid::regclass::text FROM pg_class WHERE oid = ANY (relations) AND relname ~ '^state_'
            AND oid::regclass::text NOT IN (SELECT state FROM snowdrift_tables.generator)
            AND NOT EXISTS (SELECT FROM pg_depend WHERE refclassid = 'pg_class'::regclass AND refobjid = pg_class.oid AND classid = 'pg_trigger'::regclass) LOOP
        EXECUTE format('DROP SEQUENCE %s', place);    -- of a lost definition, which no watch needs
    END LOOP;
END IF;
-- If the clock has been set back, only the columns whose defaults draw IDs contain the last ones. Reading a table of another
-- role could run that role's functions, for example those of an index.
FOR drawing IN
    WITH RECURSIVE defaults AS (
        SELECT attrelid, attname, calls.refobjid = 'public.next_snowflake()'::regprocedure AS is_default,
            pg_get_expr(coalesce(adbin, typdefaultbin), 0) AS expression
        FROM pg_attribute JOIN pg_class AS c ON c.oid = attrelid JOIN pg_type AS t ON t.oid = atttypid
            LEFT JOIN pg_attrdef AS d ON adrelid = attrelid AND adnum = attnum
            JOIN pg_depend AS calls ON (classid, objid) = (CASE WHEN d.oid IS NULL THEN 'pg_type' ELSE 'pg_attrdef' END::regclass, coalesce(d.oid, t.oid))
        WHERE is_repeated AND attnum > 0 AND NOT attisdropped AND relkind IN ('r', 'p', 'f') AND relpersistence <> 't'
            AND refclassid = 'pg_proc'::regclass
            AND refobjid IN ('public.next_snowflake()'::regprocedure, 'public.next_snowflake(text)'::regprocedure)
    ), columns AS (
        SELECT attrelid, attname, name FROM defaults,
            LATERAL (SELECT '' WHERE is_default
                     UNION SELECT replace(m[1], '''''', '''') FROM regexp_matches(expression, '''((?:[^'']|'''')*)''::text', 'g') AS m) AS names(name)
        UNION SELECT inhrelid, attname, name FROM columns JOIN pg_inherits ON inhparent = attrelid
    )
    SELECT attrelid, format('%s.%I', attrelid::regclass, attname) AS column, attname, columns.name, g.state, g.fields,
        relkind = 'r' AND relowner = installer AND NOT row_security_active(attrelid) AND coalesce(nullif(typbasetype, 0), t.oid) = 'bigint'::regtype AS is_readable
    FROM columns JOIN pg_class AS c ON c.oid = attrelid JOIN pg_attribute USING (attrelid, attname) JOIN pg_type AS t ON t.oid = atttypid
        LEFT JOIN snowdrift_tables.generators() AS g ON g.name = columns.name
    WHERE relkind <> 'p' AND (state IS NULL AND are_definitions_lost OR state::regclass <> ALL (relations))
LOOP
    IF drawing.state IS NULL THEN
        RAISE WARNING 'definition of ID generator "%" is lost', drawing.name USING DETAIL = format('Column %s draws from it.', drawing.column),
            HINT = 'In one transaction, create it again with the same layout, datacenter and worker, and call snowdrift.advance with the time of the column''s greatest ID. If the table is watched, then call snowdrift.watch() again.';
    ELSIF NOT drawing.is_readable THEN
        unread := unread || drawing.column;
    ELSE    -- in a function, so that the table is known by its OID: names can change meanwhile
        EXECUTE format('CREATE FUNCTION snowdrift_tables.greatest_id() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT max(%I) FROM ONLY %s; END',
            drawing.attname, drawing.attrelid::regclass);
        IF NOT EXISTS (SELECT FROM pg_depend WHERE (classid, objid) = ('pg_proc'::regclass, to_regprocedure('snowdrift_tables.greatest_id()'))
                AND (refclassid, refobjid) = ('pg_class'::regclass, drawing.attrelid)) THEN
            RAISE 'table of column % was renamed', drawing.column USING ERRCODE = '40001';
        END IF;
        EXECUTE 'SELECT snowdrift_tables.greatest_id()' INTO greatest_id;
        DROP FUNCTION snowdrift_tables.greatest_id();
        PERFORM setval(drawing.state, greatest(pg_sequence_last_value(drawing.state), snowdrift_tables.last_state_at((drawing.fields).epoch_ms
            + (least(greatest(greatest_id, 0), (drawing.fields).max_id) >> (drawing.fields).timestamp_shift) * (drawing.fields).unit_ms, drawing.fields)));
    END IF;
END LOOP;
IF unread IS NOT NULL AND given_ms IS NULL THEN
    RAISE 'the last IDs of lost ID generators are unknown' USING ERRCODE = '55000',
        DETAIL = format('These columns were not read, because they are in tables of other roles, in foreign tables, restricted by row-level security, or not of type bigint: %s.', array_to_string(unread, ', ')),
        HINT = 'Set snowdrift.last_timestamp to the time of their greatest ID, or a later one, and run the file again.';
END IF;

PERFORM set_config('lock_timeout', lock_timeout, true), set_config('quote_all_identifiers', quoting, true),
    set_config('standard_conforming_strings', strings, true), set_config('search_path', path, true);
END $edition$;
