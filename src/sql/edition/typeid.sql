-- Text form in Crockford's base32

CREATE FUNCTION snowdrift.base32_of(bits bit varying) RETURNS text
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    result text := '';
BEGIN
    FOR i IN 1 .. length(bits) BY 5 LOOP
        result := result || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substring(bits FROM i FOR 5)::bit(5)::integer + 1, 1);
    END LOOP;
    RETURN result;
END $$;

CREATE FUNCTION snowdrift.base32_problem(input text, alphabet text, size integer, kind text,
        part text DEFAULT 'input', before integer DEFAULT 0) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE
        WHEN length(input) <> size THEN format('The %s has %s characters instead of %s.', part, length(input), size)
        WHEN strpos(alphabet, left(input, 1)) > 8
            THEN format('The %s exceeds %s bits, because its first character is greater than "7".', part, 5 * size - 2)
        WHEN ltrim(input, alphabet) <> '' THEN format('The character "%s" at position %s is not in the alphabet of %s.',
            left(ltrim(input, alphabet), 1), before + size - length(ltrim(input, alphabet)) + 1, kind)
    END;

CREATE FUNCTION snowdrift.base32_bits(input text, size integer, kind text, error text) RETURNS bit varying
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

CREATE FUNCTION public.snowflake_to_text(id bigint) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN snowdrift.base32_of('0'::bit || snowdrift.check_id(id, 9223372036854775807)::bit(64));
COMMENT ON FUNCTION public.snowflake_to_text(bigint)
    IS 'convert Snowflake ID to 13 characters of base32, which sort as the IDs do in collation C';

CREATE FUNCTION public.snowflake_from_text(id text) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN substring(snowdrift.base32_bits(id, 13, 'Snowflake IDs', 'invalid text of a Snowflake ID') FROM 2)::bit(64)::bigint;
COMMENT ON FUNCTION public.snowflake_from_text(text) IS 'convert 13 characters of base32 to Snowflake ID';

-- UUIDs: ULIDs and TypeIDs

CREATE FUNCTION snowdrift.bits_of(id uuid) RETURNS bit varying LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ('x' || replace(id::text, '-', ''))::bit(128);

CREATE FUNCTION snowdrift.uuid_of(bits bit varying) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN encode(substr(varbit_send(bits), 5), 'hex')::uuid;    -- varbit_send: 4 bytes of length, then the bits

CREATE FUNCTION public.ulid_to_text(id uuid) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN snowdrift.base32_of('00'::bit(2) || snowdrift.bits_of(id));
COMMENT ON FUNCTION public.ulid_to_text(uuid) IS 'convert UUID to text form of ULID, 26 characters of base32';

CREATE FUNCTION public.ulid_to_uuid(id text) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN snowdrift.uuid_of(substring(snowdrift.base32_bits(id, 26, 'type ulid', 'invalid input syntax for type ulid') FROM 3));
COMMENT ON FUNCTION public.ulid_to_uuid(text) IS 'convert text form of ULID to UUID';

CREATE FUNCTION snowdrift.typeid_prefix_problem(prefix text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE
        WHEN prefix ~ '[^a-z_]'
            THEN format('The character "%s" at position %s of the prefix is neither a lower-case letter from "a" to "z" nor an underscore.',
                substring(prefix FROM '[^a-z_]'), strpos(prefix, substring(prefix FROM '[^a-z_]')))
        WHEN length(prefix) > 63 THEN 'A prefix has at most 63 characters.'
        WHEN left(prefix, 1) = '_' OR right(prefix, 1) = '_' THEN 'A prefix cannot begin or end with an underscore.'
    END;

CREATE FUNCTION public.typeid_to_text(prefix text, id uuid) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN CASE WHEN snowdrift.typeid_prefix_problem(prefix) IS NULL
            THEN concat_ws('_', nullif(prefix, ''), lower(public.ulid_to_text(id)))
        ELSE snowdrift.reject('22023', format('invalid prefix of a TypeID: "%s"', prefix), snowdrift.typeid_prefix_problem(prefix)) END;
COMMENT ON FUNCTION public.typeid_to_text(text, uuid) IS 'convert UUID to TypeID: prefix, underscore and 26 characters of base32';

-- The last underscore is the separator.
CREATE FUNCTION snowdrift.typeid_problem(id text, suffix text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN coalesce(
        CASE WHEN length(id) = length(suffix) + 1 THEN 'A TypeID without a prefix has no underscore.' END,
        snowdrift.typeid_prefix_problem(left(id, greatest(length(id) - length(suffix) - 1, 0))),
        snowdrift.base32_problem(suffix, '0123456789abcdefghjkmnpqrstvwxyz', 26, 'TypeIDs', 'suffix', length(id) - length(suffix)));

CREATE FUNCTION public.typeid_prefix(id text) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN CASE WHEN snowdrift.typeid_problem(id, substring(id FROM '[^_]*$')) IS NULL THEN rtrim(left(id, -26), '_')
        ELSE snowdrift.reject('22P02', format('invalid TypeID: "%s"', id), snowdrift.typeid_problem(id, substring(id FROM '[^_]*$'))) END;
COMMENT ON FUNCTION public.typeid_prefix(text) IS 'extract prefix of TypeID';

CREATE FUNCTION public.typeid_to_uuid(id text) RETURNS uuid
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN CASE WHEN public.typeid_prefix(id) IS NOT NULL THEN public.ulid_to_uuid(right(id, 26)) END;
COMMENT ON FUNCTION public.typeid_to_uuid(text) IS 'extract UUID of TypeID';
