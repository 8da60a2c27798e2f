-- Snowdrift, SQL edition: for servers on which no C library can be installed. docs/managed-clouds.md describes it.
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
    installer pg_catalog.oid;
    -- What existed before: each function, with the place of its row, and the relations in the schemas
    functions pg_catalog.jsonb;
    relations pg_catalog.oid[];
    is_repeated pg_catalog.bool;    -- an edition, or some of its objects, existed before
    is_new pg_catalog.bool;
    place pg_catalog.text;
    grantee pg_catalog.text;
    problem pg_catalog.record;
    definitions pg_catalog.jsonb;    -- rows of snowdrift_tables.generator whose table or sequence must be created again
    are_definitions_lost pg_catalog.bool := false;
    now_ms pg_catalog.int8;
    given_ms pg_catalog.numeric;
    drawing pg_catalog.record;
    greatest_id pg_catalog.int8;
    unread pg_catalog.text[];
BEGIN
PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true), pg_catalog.set_config('quote_all_identifiers', 'off', true);

-- What an earlier installation has left

installer := (SELECT oid FROM pg_roles WHERE rolname = current_user);
functions := (SELECT jsonb_object_agg(oid::text, ctid::text) FROM pg_proc);
relations := ARRAY(SELECT oid FROM pg_class WHERE relnamespace IN (to_regnamespace('snowdrift'), to_regnamespace('snowdrift_tables')));
is_repeated := to_regnamespace('snowdrift') IS NOT NULL OR to_regnamespace('snowdrift_tables') IS NOT NULL
    OR to_regtype('public.snowflake_layout') IS NOT NULL
    OR EXISTS (SELECT FROM pg_proc WHERE oid = to_regprocedure('public.next_snowflake(text)') AND strpos(prosrc, 'snowdrift_tables.') > 0);

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
        HINT = 'Run the file as the role that has installed it before.';
END LOOP;
FOR problem IN
    SELECT relnamespace::regnamespace AS schema, relname FROM pg_class
    WHERE oid = ANY (relations) AND relnamespace::regnamespace || '.' || relname
        !~ '^(snowdrift[.](generators|fields)|snowdrift_tables[.](generator(_pkey)?|dropped_ms|state(_[0-9a-f]{32})?))$' LOOP
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
ELSIF 'name,layout,datacenter,worker,fields,state' = (SELECT string_agg(attname, ',' ORDER BY attnum) FROM pg_attribute
        WHERE attrelid = 'snowdrift_tables.generator'::regclass AND attnum > 0 AND NOT attisdropped) THEN
    WITH lost AS (DELETE FROM snowdrift_tables.generator WHERE to_regclass(state) IS NULL RETURNING *)
    SELECT jsonb_agg(to_jsonb(l)) INTO definitions FROM lost AS l;
ELSE
    EXECUTE 'SELECT jsonb_agg(to_jsonb(g)) FROM snowdrift_tables.generator AS g' INTO definitions;
    DROP TABLE snowdrift_tables.generator CASCADE;    -- also drops functions that are created again below
END IF;

FOREACH place IN ARRAY '{snowdrift,snowdrift_tables}'::text[] LOOP
    is_new := to_regnamespace(place) IS NULL;
    IF is_new THEN
        EXECUTE format('CREATE SCHEMA %s', place);
    END IF;
    -- Revoke what ALTER DEFAULT PRIVILEGES has granted: functions that other roles create here could run as the owner.
    FOR grantee IN SELECT DISTINCT CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END
            FROM pg_namespace, aclexplode(nspacl) AS a WHERE nspname = place AND a.grantee <> nspowner LOOP
        EXECUTE format('REVOKE %s ON SCHEMA %s FROM %s', CASE WHEN is_new THEN 'ALL' ELSE 'CREATE' END, place, grantee);
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

-- unix_ms is the time, rounded by the caller; the error shows the time itself.
CREATE OR REPLACE FUNCTION snowdrift.check_time("timestamp" timestamptz, unix_ms numeric, first_ms bigint, last_ms bigint,
        unit_ms bigint, subject text) RETURNS bigint
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET datestyle = ISO AS $$
BEGIN
    IF unix_ms < first_ms OR unix_ms >= last_ms + unit_ms THEN
        RAISE 'timestamp out of range for %: %', subject, "timestamp" USING ERRCODE = '22008',
            DETAIL = format('Valid times are from %s to %s.', snowdrift.time_of(first_ms), snowdrift.time_of(last_ms));
    END IF;
    RETURN unix_ms;
END $$;

-- The first and the last millisecond, from first_ms to last_ms, that begin within a range; null if there is none.
CREATE OR REPLACE FUNCTION snowdrift.ms_within(range tstzrange, first_ms bigint, last_ms bigint) RETURNS bigint[]
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
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
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
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
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
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
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
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

-- Snowflake: generating. The state of a generator is the value of a sequence object, so that all sessions share it, and
-- no restart or rollback sets it back. The value is an ID without a node: the timestamp above the sequence number.

IF to_regclass('snowdrift_tables.generator') IS NULL THEN
    CREATE TABLE snowdrift_tables.generator (
        name text PRIMARY KEY,
        layout public.snowflake_layout NOT NULL,
        datacenter integer NOT NULL,
        worker integer NOT NULL,
        fields snowdrift.fields NOT NULL,    -- stored because parsing the layout takes longer than drawing an ID
        state text NOT NULL CHECK (state ~ '^snowdrift_tables[.]state_[0-9a-f]{32}$')
            -- the sequence; no regclass, because a subscriber reads the rows that it skips
    );
END IF;

-- The default generator, whose name is '', is not in the table, so that it needs no data of a dump.
IF to_regclass('snowdrift_tables.state') IS NULL THEN
    CREATE SEQUENCE snowdrift_tables.state MINVALUE 0 MAXVALUE 9007199254740991;    -- MAXVALUE: the end of the layout
END IF;
CREATE OR REPLACE FUNCTION snowdrift_tables.default_generator() RETURNS snowdrift_tables.generator LANGUAGE sql IMMUTABLE
    RETURN ROW('', 'snowflake', 0, 0, snowdrift.fields_of('snowflake'), 'snowdrift_tables.state')::snowdrift_tables.generator;

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
        | ((state << (f).sequence_shift) & snowdrift_tables.sequence_mask(f))
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

-- The block that takes the lock always ends with an error, so that PostgreSQL releases the lock. The error does not undo
-- setval(). All names are qualified, because setting the search path takes long.
CREATE OR REPLACE FUNCTION public.next_snowflake(generator text) RETURNS bigint
    LANGUAGE plpgsql VOLATILE STRICT SECURITY DEFINER AS $$
DECLARE
    g snowdrift_tables.generator;
    f snowdrift.fields;
    sequence pg_catalog.regclass;
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
    BEGIN
        sequence := g.state;
        state := pg_catalog.pg_sequence_last_value(sequence);    -- waits for a drop before it can block other calls
        IF pg_catalog.pg_advisory_xact_lock(1397641047, sequence::integer) IS NULL THEN    -- never; faster than PERFORM
        END IF;
        state := snowdrift_tables.next_state(pg_catalog.pg_sequence_last_value(sequence), f);
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
            RAISE 'ID generator "%" was dropped', generator USING ERRCODE = '42704', HINT = 'Repeat the transaction.';
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

-- Each server has its own generators: logical replication applies no row of another server. Its workers run no query.
CREATE OR REPLACE FUNCTION snowdrift_tables.skip_row() RETURNS trigger
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF current_setting('session_replication_role') = 'replica' THEN
        IF current_query() IS NOT NULL THEN
            RAISE 'cannot change table "snowdrift_tables.generator" while session_replication_role is "replica"' USING ERRCODE = '55000',
                HINT = 'To restore a dump, set session_replication_role to "origin".';
        END IF;
        RETURN NULL;
    END IF;
    RETURN coalesce(NEW, OLD);    -- after ENABLE TRIGGER ALL, as of pg_dump --disable-triggers
END $$;
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

-- A generator begins after the present time unit, and after the last IDs of all others, also of dropped ones.
CREATE OR REPLACE FUNCTION snowdrift.create_generator(name text, kind text, layout public.snowflake_layout DEFAULT 'snowflake',
        datacenter integer DEFAULT 0, worker integer DEFAULT 0) RETURNS void
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
    END IF;
    PERFORM snowdrift.check_field('datacenter', datacenter, f.datacenter_bits);
    PERFORM snowdrift.check_field('worker', worker, f.worker_bits);
    created := (name, layout, datacenter, worker, f, sequence);
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
    END IF;
    IF dependents IS NOT NULL THEN
        RAISE 'cannot drop ID generator "%" because other objects depend on it', name USING ERRCODE = '2BP01', DETAIL = dependents,
            HINT = 'Change these objects first, or drop the generator with force => true to keep them. They then raise an error when used.';
    END IF;
    PERFORM snowdrift_tables.lock_generators();
    DELETE FROM snowdrift_tables.generator AS d WHERE d.name = drop_generator.name RETURNING * INTO g;
    IF NOT FOUND THEN
        RAISE 'ID generator "%" does not exist', name USING ERRCODE = '42704';
    END IF;
    EXECUTE format('ALTER SEQUENCE %s NO CYCLE', g.state::regclass);    -- waits until the transactions that drew have ended
    PERFORM setval('snowdrift_tables.dropped_ms',
        greatest(snowdrift_tables.last_ms(g), pg_sequence_last_value('snowdrift_tables.dropped_ms')));
    EXECUTE format('DROP SEQUENCE %s', g.state::regclass);
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

CREATE OR REPLACE VIEW snowdrift.generators AS
    SELECT *, greatest(last_timestamp - clock_timestamp(), interval '0') AS lead FROM snowdrift.read_generators();
COMMENT ON VIEW snowdrift.generators IS 'definition of each generator, time of its last ID, and how far it is ahead of the clock';
IF 'snowdrift.generators'::regclass <> ALL (relations) THEN
    GRANT SELECT ON snowdrift.generators TO PUBLIC;
END IF;

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

-- Privileges of new objects

FOR place IN SELECT oid::regprocedure FROM pg_proc WHERE pronamespace = 'snowdrift'::regnamespace
        AND proname IN ('create_generator', 'drop_generator', 'advance') AND NOT functions ? oid::text LOOP
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', place);
END LOOP;
PERFORM snowdrift_tables.revoke_grants(class)
FROM unnest('{snowdrift_tables.generator,snowdrift_tables.state,snowdrift_tables.dropped_ms}'::regclass[]) AS class
WHERE class <> ALL (relations);
BEGIN
    PERFORM pg_extension_config_dump('snowdrift_tables.generator', '');
    PERFORM pg_extension_config_dump('snowdrift_tables.state', '');
    PERFORM pg_extension_config_dump('snowdrift_tables.dropped_ms', '');
EXCEPTION WHEN FEATURE_NOT_SUPPORTED THEN    -- This is not the script of an extension.
END;

-- A function that is replaced keeps its owner.
FOR problem IN SELECT oid::regprocedure AS function, proowner FROM pg_proc
        WHERE functions ->> oid::text <> ctid::text AND xmin = pg_current_xact_id()::xid AND (proowner <> installer OR NOT is_repeated) LOOP
    RAISE 'function % already exists', problem.function USING ERRCODE = '42723',
        DETAIL = format('It belongs to role %s.', problem.proowner::regrole);
END LOOP;

-- Lost states

IF is_repeated THEN
    now_ms := snowdrift_tables.unix_ms();
    given_ms := snowdrift.unix_ms_of(nullif(current_setting('snowdrift.last_timestamp', true), '')::timestamptz);
    INSERT INTO snowdrift_tables.generator
    SELECT name, layout, datacenter, worker, snowdrift.fields_of(layout),
        coalesce(state, 'snowdrift_tables.state_' || replace(gen_random_uuid()::text, '-', ''))
    FROM jsonb_to_recordset(definitions) AS d(name text, layout text, datacenter integer, worker integer, state text)
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
            AND oid::regclass::text NOT IN (SELECT state FROM snowdrift_tables.generator) LOOP
        EXECUTE format('DROP SEQUENCE %s', place);    -- of a lost definition
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
            HINT = 'In one transaction, create it again with the same layout, datacenter and worker, and call snowdrift.advance with the time of the column''s greatest ID.';
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

PERFORM set_config('quote_all_identifiers', quoting, true), set_config('search_path', path, true);
END $edition$;
