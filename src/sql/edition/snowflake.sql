-- Times. Multiplying an interval converts the number to double precision. Seconds and milliseconds are multiplied
-- separately, so that the sum is exact up to the year 10889.

CREATE FUNCTION snowdrift.time_of(unix_ms bigint) RETURNS timestamptz LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (timestamp '1970-01-01' + interval '1 s' * (unix_ms / 1000) + interval '1 ms' * (unix_ms % 1000))
        AT TIME ZONE interval '0';

CREATE FUNCTION snowdrift.unix_ms_of("timestamp" timestamptz) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN extract(epoch FROM "timestamp" AT TIME ZONE interval '0') * 1000;

-- SECURITY DEFINER: while a dump is restored, indexes that call functions of PL/pgSQL are built with the rights of tables' owners, which
-- cannot use the schema yet.

-- unix_ms is the time, rounded by the caller; the error shows the time itself.
CREATE FUNCTION snowdrift.check_time("timestamp" timestamptz, unix_ms numeric, first_ms bigint, last_ms bigint,
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
CREATE FUNCTION snowdrift.ms_within(range tstzrange, first_ms bigint, last_ms bigint) RETURNS bigint[]
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
CREATE TYPE snowdrift.fields AS (
    epoch_ms bigint, last_ms bigint, unit_ms bigint, max_id bigint,
    timestamp_shift integer,
    datacenter_bits integer, datacenter_shift integer,
    worker_bits integer, worker_shift integer,
    sequence_bits integer, sequence_shift integer
);

CREATE FUNCTION snowdrift.ones(bits integer) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ~((-1)::bigint << bits);

CREATE FUNCTION snowdrift.preset_layout(name text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
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

CREATE FUNCTION snowdrift.check_layout_value(name text, value bigint, min bigint, max bigint, reason text DEFAULT NULL)
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

CREATE FUNCTION snowdrift.fields_of(layout public.snowflake_layout) RETURNS snowdrift.fields
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
CREATE FUNCTION snowdrift.reject_id(id bigint, max_id bigint) RETURNS bigint
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1 SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE 'Snowflake ID % is out of range 0 .. %', id, max_id USING ERRCODE = '22003';
END $$;

CREATE FUNCTION snowdrift.check_id(id bigint, max_id bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN id BETWEEN 0 AND max_id THEN id ELSE snowdrift.reject_id(id, max_id) END;

CREATE FUNCTION snowdrift.timestamp_of(id bigint, f snowdrift.fields) RETURNS timestamptz LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN snowdrift.time_of((f).epoch_ms + (snowdrift.check_id(id, (f).max_id) >> (f).timestamp_shift) * (f).unit_ms);

CREATE FUNCTION snowdrift.field_of(id bigint, f snowdrift.fields, field text) RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ((snowdrift.check_id(id, (f).max_id) >> CASE field WHEN 'datacenter' THEN (f).datacenter_shift
            WHEN 'worker' THEN (f).worker_shift ELSE (f).sequence_shift END)
        & snowdrift.ones(CASE field WHEN 'datacenter' THEN (f).datacenter_bits
            WHEN 'worker' THEN (f).worker_bits ELSE (f).sequence_bits END))::integer;

CREATE FUNCTION public.snowflake_timestamp(id bigint, layout public.snowflake_layout DEFAULT 'snowflake') RETURNS timestamptz
    LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN snowdrift.timestamp_of(id, snowdrift.fields_of(layout));
COMMENT ON FUNCTION public.snowflake_timestamp(bigint, public.snowflake_layout) IS 'extract timestamp of Snowflake ID';

CREATE FUNCTION public.snowflake_datacenter(id bigint, layout public.snowflake_layout DEFAULT 'snowflake') RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN snowdrift.field_of(id, snowdrift.fields_of(layout), 'datacenter');
COMMENT ON FUNCTION public.snowflake_datacenter(bigint, public.snowflake_layout) IS 'extract datacenter of Snowflake ID';

CREATE FUNCTION public.snowflake_worker(id bigint, layout public.snowflake_layout DEFAULT 'snowflake') RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN snowdrift.field_of(id, snowdrift.fields_of(layout), 'worker');
COMMENT ON FUNCTION public.snowflake_worker(bigint, public.snowflake_layout) IS 'extract worker of Snowflake ID';

CREATE FUNCTION public.snowflake_sequence(id bigint, layout public.snowflake_layout DEFAULT 'snowflake') RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN snowdrift.field_of(id, snowdrift.fields_of(layout), 'sequence');
COMMENT ON FUNCTION public.snowflake_sequence(bigint, public.snowflake_layout) IS 'extract sequence of Snowflake ID';

CREATE FUNCTION public.snowflake_parts(id bigint, layout public.snowflake_layout DEFAULT 'snowflake',
        OUT "timestamp" timestamptz, OUT datacenter integer, OUT worker integer, OUT sequence integer)
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
    SELECT snowdrift.timestamp_of(id, f), snowdrift.field_of(id, f, 'datacenter'), snowdrift.field_of(id, f, 'worker'),
        snowdrift.field_of(id, f, 'sequence')
    FROM snowdrift.fields_of(layout) AS f;
END;
COMMENT ON FUNCTION public.snowflake_parts(bigint, public.snowflake_layout) IS 'extract all fields of Snowflake ID, as a row';

-- Snowflake: composing

CREATE FUNCTION snowdrift.check_field(field text, value integer, bits integer) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN value BETWEEN 0 AND snowdrift.ones(bits) THEN value
        WHEN bits = 0 THEN snowdrift.reject('22003', format('%s must be 0, not %s', field, value), 'The layout has no bits for it.')::bigint
        ELSE snowdrift.reject('22003', format('%s %s is out of range 0 .. %s', field, value, snowdrift.ones(bits)))::bigint END;

CREATE FUNCTION snowdrift.compose("timestamp" timestamptz, datacenter integer, worker integer, sequence integer,
        f snowdrift.fields) RETURNS bigint
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN ((snowdrift.check_time("timestamp", floor(snowdrift.unix_ms_of("timestamp")), (f).epoch_ms, (f).last_ms, (f).unit_ms,
            'a Snowflake ID') - (f).epoch_ms) / (f).unit_ms << (f).timestamp_shift)
        | (snowdrift.check_field('datacenter', datacenter, (f).datacenter_bits) << (f).datacenter_shift)
        | (snowdrift.check_field('worker', worker, (f).worker_bits) << (f).worker_shift)
        | (snowdrift.check_field('sequence', sequence, (f).sequence_bits) << (f).sequence_shift);

CREATE FUNCTION public.make_snowflake("timestamp" timestamptz, datacenter integer, worker integer, sequence integer,
        layout public.snowflake_layout DEFAULT 'snowflake') RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN snowdrift.compose("timestamp", datacenter, worker, sequence, snowdrift.fields_of(layout));
COMMENT ON FUNCTION public.make_snowflake(timestamptz, integer, integer, integer, public.snowflake_layout)
    IS 'construct Snowflake ID from its fields; the time is truncated to the layout''s time unit';

CREATE FUNCTION snowdrift.boundary("timestamp" timestamptz, f snowdrift.fields) RETURNS bigint
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN (snowdrift.check_time("timestamp", ceil(snowdrift.unix_ms_of("timestamp")), (f).epoch_ms, (f).last_ms, 1,
        'a Snowflake ID') - (f).epoch_ms + (f).unit_ms - 1) / (f).unit_ms << (f).timestamp_shift;

CREATE FUNCTION public.snowflake_boundary("timestamp" timestamptz, layout public.snowflake_layout DEFAULT 'snowflake')
        RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN snowdrift.boundary("timestamp", snowdrift.fields_of(layout));
COMMENT ON FUNCTION public.snowflake_boundary(timestamptz, public.snowflake_layout)
    IS 'smallest Snowflake ID at or after a time; id >= boundary(a) AND id < boundary(b) selects the times >= a and < b';

-- Time ranges. If a range contains no ID, the first ID is the largest of the layout, and the last ID is the smallest.

CREATE FUNCTION snowdrift.first_within(range tstzrange, f snowdrift.fields) RETURNS bigint
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN coalesce(((snowdrift.ms_within(range, (f).epoch_ms, (f).last_ms))[1] - (f).epoch_ms + (f).unit_ms - 1) / (f).unit_ms
        << (f).timestamp_shift, (f).max_id);

CREATE FUNCTION snowdrift.last_within(range tstzrange, f snowdrift.fields) RETURNS bigint
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN coalesce((((snowdrift.ms_within(range, (f).epoch_ms, (f).last_ms))[2] - (f).epoch_ms) / (f).unit_ms
        << (f).timestamp_shift) | snowdrift.ones((f).timestamp_shift), 0);

CREATE FUNCTION snowdrift.first_snowflake_within(range tstzrange, layout public.snowflake_layout DEFAULT 'snowflake') RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN snowdrift.first_within(range, snowdrift.fields_of(layout));

CREATE FUNCTION snowdrift.last_snowflake_within(range tstzrange, layout public.snowflake_layout DEFAULT 'snowflake') RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN snowdrift.last_within(range, snowdrift.fields_of(layout));

CREATE FUNCTION public.snowflake_within(id bigint, range tstzrange, layout public.snowflake_layout DEFAULT 'snowflake') RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN id >= snowdrift.first_snowflake_within(range, layout) AND id <= snowdrift.last_snowflake_within(range, layout);
COMMENT ON FUNCTION public.snowflake_within(bigint, tstzrange, public.snowflake_layout)
    IS 'true if the time of Snowflake ID is within a given range; can use indexes on the ID';
