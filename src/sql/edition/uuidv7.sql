-- UUIDs of version 7

-- With CASE, the planner does not estimate that few UUIDs are of version 7.
CREATE FUNCTION snowdrift.is_uuidv7(id uuid) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN substr(id::text, 15, 1) = '7' AND substr(id::text, 20, 1) IN ('8', '9', 'a', 'b') THEN true
        WHEN id IS NOT NULL THEN false END;

CREATE FUNCTION public.uuidv7_timestamp(id uuid) RETURNS timestamptz
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN snowdrift.is_uuidv7(id)
        THEN snowdrift.time_of(('x0000' || translate(left(id::text, 13), '-', ''))::bit(64)::bigint) END;
COMMENT ON FUNCTION public.uuidv7_timestamp(uuid) IS 'extract timestamp of UUID version 7; null for other versions';

CREATE FUNCTION public.uuidv7_boundary("timestamp" timestamptz) RETURNS uuid
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN snowdrift.uuid_of(snowdrift.check_time("timestamp", ceil(snowdrift.unix_ms_of("timestamp")),
        0, 281474976710655, 1, 'UUID version 7')::bit(48) || X'70008000000000000000');
COMMENT ON FUNCTION public.uuidv7_boundary(timestamptz) IS 'smallest UUID version 7 at or after a time';

CREATE FUNCTION snowdrift.first_uuidv7_within(range tstzrange) RETURNS uuid LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN coalesce(snowdrift.uuid_of((snowdrift.ms_within(range, 0, 281474976710655))[1]::bit(48) || X'70008000000000000000'),
        'ffffffff-ffff-7fff-bfff-ffffffffffff');

CREATE FUNCTION snowdrift.last_uuidv7_within(range tstzrange) RETURNS uuid LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN coalesce(snowdrift.uuid_of((snowdrift.ms_within(range, 0, 281474976710655))[2]::bit(48) || X'7FFFBFFFFFFFFFFFFFFF'),
        '00000000-0000-7000-8000-000000000000');

-- For a null range, all three conditions are null.
CREATE FUNCTION public.uuidv7_within(id uuid, range tstzrange) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN id >= snowdrift.first_uuidv7_within(range) AND id <= snowdrift.last_uuidv7_within(range)
        AND (snowdrift.is_uuidv7(id) OR range IS NULL);
COMMENT ON FUNCTION public.uuidv7_within(uuid, tstzrange)
    IS 'true if UUID is of version 7 and its time is within a given range; can use indexes on the ID';

-- Bits 52 and 53 make version 7 of version 4.
CREATE FUNCTION snowdrift.random_uuidv7(unix_ms bigint) RETURNS uuid LANGUAGE sql VOLATILE PARALLEL SAFE
    RETURN encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid()) PLACING substring(int8send(unix_ms) FROM 3) FROM 1 FOR 6),
        52, 1), 53, 1), 'hex')::uuid;

CREATE FUNCTION public.uuidv7_at("timestamp" timestamptz) RETURNS uuid
    LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
    RETURN snowdrift.random_uuidv7(snowdrift.check_time("timestamp", floor(snowdrift.unix_ms_of("timestamp")),
        0, 281474976710655, 1, 'UUID version 7'));
COMMENT ON FUNCTION public.uuidv7_at(timestamptz) IS 'generate random UUID version 7 for given time';

CREATE FUNCTION public.next_uuidv7() RETURNS uuid
    LANGUAGE sql VOLATILE PARALLEL SAFE
    RETURN snowdrift.random_uuidv7(floor(snowdrift.unix_ms_of(statement_timestamp()))::bigint);
COMMENT ON FUNCTION public.next_uuidv7() IS 'generate random UUID version 7 for the start time of the statement';
