-- Sealed IDs

-- The padded keys of HMAC: a key, completed by zeros, XOR a byte. bit_send() begins with the length.
CREATE FUNCTION snowdrift.padded_key(key bytea, byte text) RETURNS bytea LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN substr(bit_send(('x' || rpad(encode(key, 'hex'), 128, '0'))::bit(512) # ('x' || repeat(byte, 64))::bit(512)), 5);
COMMENT ON FUNCTION snowdrift.padded_key(bytea, text) IS 'key of HMAC-SHA-256, padded with a byte';
IF (SELECT count(*) FROM pg_attribute WHERE attrelid = 'snowdrift_tables.seal_key'::regclass AND attname IN ('inner_key', 'outer_key')) < 2 THEN
    ALTER TABLE snowdrift_tables.seal_key ADD IF NOT EXISTS inner_key bytea NOT NULL GENERATED ALWAYS AS (snowdrift.padded_key(key, '36')) STORED,
        ADD IF NOT EXISTS outer_key bytea NOT NULL GENERATED ALWAYS AS (snowdrift.padded_key(key, '5c')) STORED;
    ALTER TABLE snowdrift_tables.seal_key ALTER inner_key SET STATISTICS 0, ALTER outer_key SET STATISTICS 0;
END IF;

-- HMAC-SHA-256 is inlined, because a function call costs more than a hash. As with the keys, both functions
-- raise an error while PUBLIC may call them.
CREATE FUNCTION public.snowflake_seal(id bigint, name text) RETURNS uuid
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

CREATE FUNCTION public.snowflake_unseal(sealed uuid, name text, invalid_ok boolean DEFAULT false) RETURNS bigint
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
