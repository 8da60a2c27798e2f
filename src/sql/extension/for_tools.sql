-- The IDs in a column, of any type, for the tools. The kinds of IDs are those of generators, and uuidv7 and ulid. These
-- functions are what the tools need to know of types; the SQL edition has its own.

CREATE FUNCTION snowdrift.id_kind(type regtype) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN CASE type WHEN 'bigint'::regtype THEN 'snowflake' WHEN 'uuid'::regtype THEN 'uuidv7'
        WHEN '@extschema@.ulid'::regtype THEN 'ulid' WHEN '@extschema@.sno'::regtype THEN 'sno' END;
COMMENT ON FUNCTION snowdrift.id_kind(regtype) IS 'kind of IDs in columns of type; null for other types';

CREATE FUNCTION snowdrift.id_times(kind text, layout @extschema@.snowflake_layout, OUT first timestamptz, OUT last timestamptz)
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT CASE kind WHEN 'snowflake' THEN @extschema@.snowflake_timestamp(0, layout)
            WHEN 'sno' THEN @extschema@.sno_timestamp(snowdrift.first_sno_within('(,)'::tstzrange))
            ELSE @extschema@.ulid_timestamp(@extschema@.ulid_nil()) END,
        CASE kind WHEN 'snowflake' THEN @extschema@.snowflake_timestamp(snowdrift.last_snowflake_within('(,)'::tstzrange, layout), layout)
            WHEN 'sno' THEN @extschema@.sno_timestamp(snowdrift.last_sno_within('(,)'::tstzrange))
            ELSE @extschema@.ulid_timestamp(@extschema@.ulid_max()) END;
END;
COMMENT ON FUNCTION snowdrift.id_times(text, @extschema@.snowflake_layout) IS 'first and last time of kind of IDs';

CREATE FUNCTION snowdrift.id_boundary(kind text, "timestamp" timestamptz, layout @extschema@.snowflake_layout) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE kind WHEN 'snowflake' THEN @extschema@.snowflake_boundary("timestamp", layout)::text
        WHEN 'uuidv7' THEN @extschema@.uuidv7_boundary("timestamp")::text
        WHEN 'ulid' THEN @extschema@.ulid_boundary("timestamp")::text
        WHEN 'sno' THEN @extschema@.sno_boundary("timestamp")::text END;
COMMENT ON FUNCTION snowdrift.id_boundary(text, timestamptz, @extschema@.snowflake_layout)
    IS 'text of smallest ID at or after a time';

CREATE FUNCTION snowdrift.id_timestamp(kind text, id text, layout @extschema@.snowflake_layout) RETURNS timestamptz
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE kind WHEN 'snowflake' THEN CASE WHEN id::bigint BETWEEN 0 AND snowdrift.last_snowflake_within('(,)'::tstzrange, layout)
            THEN @extschema@.snowflake_timestamp(id::bigint, layout) END
        WHEN 'uuidv7' THEN @extschema@.uuidv7_timestamp(id::uuid)
        WHEN 'ulid' THEN @extschema@.ulid_timestamp(id::@extschema@.ulid)
        WHEN 'sno' THEN @extschema@.sno_timestamp(id::@extschema@.sno) END;
COMMENT ON FUNCTION snowdrift.id_timestamp(text, text, @extschema@.snowflake_layout)
    IS 'time of ID, from its text; null if it is not an ID of the kind';

CREATE FUNCTION snowdrift.is_same_layout(a @extschema@.snowflake_layout, b @extschema@.snowflake_layout) RETURNS boolean
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN a OPERATOR(@extschema@.=) b;
COMMENT ON FUNCTION snowdrift.is_same_layout(@extschema@.snowflake_layout, @extschema@.snowflake_layout)
    IS 'whether IDs of two layouts have the same fields';

-- The functions in the table's constraints and indexes neither get the caller's privileges nor can they set the role.
CREATE FUNCTION snowdrift.run_as_owner("table" regclass, statement text) RETURNS text
    AS 'MODULE_PATHNAME', 'snowdrift_run_as_owner'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION snowdrift.run_as_owner(regclass, text)
    IS 'execute statement as owner of a table, of whose role the caller must be a member; returns the first value';

CREATE FUNCTION snowdrift.layout_of(generator text) RETURNS @extschema@.snowflake_layout LANGUAGE sql STABLE PARALLEL RESTRICTED
BEGIN ATOMIC
    SELECT g.layout FROM snowdrift.generators AS g WHERE g.name = generator AND g.kind = 'snowflake';
END;
COMMENT ON FUNCTION snowdrift.layout_of(text) IS 'layout of a named generator of Snowflakes; null if there is none';

-- What reading new rows needs to know of generators

CREATE FUNCTION snowdrift.kinds_with_watermarks() RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN '{snowflake,ulid,uuidv7}'::text[];
COMMENT ON FUNCTION snowdrift.kinds_with_watermarks() IS 'kinds of IDs whose generators have watermarks';

-- This function and generator_watermark() are in PL/pgSQL, so a caller needs EXECUTE only on the function that is called. In SQL, it would
-- need EXECUTE on all, even those of named generators.
CREATE FUNCTION snowdrift.draw(kind text, generator text) RETURNS boolean LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF kind = 'ulid' THEN
        RETURN @extschema@.next_ulid() IS NOT NULL;
    ELSIF kind = 'uuidv7' THEN
        RETURN @extschema@.next_uuidv7() IS NOT NULL;
    ELSIF generator <> '' THEN
        RETURN @extschema@.next_snowflake(generator) IS NOT NULL;
    ELSE
        RETURN @extschema@.next_snowflake() IS NOT NULL;
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.draw(text, text) IS 'draw an ID; an empty name stands for the default generator';

CREATE FUNCTION snowdrift.drawn_ids("table" regclass, attnum smallint, OUT kind text, OUT generator text)
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    generator := snowdrift.drawn_generator("table", attnum);
    kind := CASE WHEN generator IS NOT NULL THEN 'snowflake' ELSE
        (SELECT CASE pg_get_expr(coalesce(d.adbin, t.typdefaultbin), "table") WHEN '@extschema@.next_ulid()'::regprocedure::text THEN 'ulid'
             WHEN '@extschema@.next_uuidv7()'::regprocedure::text THEN 'uuidv7' END
         FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
         WHERE a.attrelid = "table" AND a.attnum = drawn_ids.attnum) END;
    generator := CASE WHEN kind IS NOT NULL THEN coalesce(generator, '') END;
END $$;
COMMENT ON FUNCTION snowdrift.drawn_ids(regclass, smallint)
    IS 'kind and name of the generator from which a column''s default draws; null if it has no watermark';

CREATE FUNCTION snowdrift.state_of(generator text) RETURNS oid LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN NULL::oid;
COMMENT ON FUNCTION snowdrift.state_of(text) IS 'sequence that is the state of a generator; null, because the library has the states';

CREATE FUNCTION snowdrift.generator_identity(generator text) RETURNS text LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT coalesce((SELECT concat_ws('/', g.layout::text, g.datacenter, g.worker, g.sequence_min, g.sequence_max, extract(epoch FROM g.origin)) FROM snowdrift.generators AS g WHERE g.name = generator AND g.kind = 'snowflake'), '');
END;
COMMENT ON FUNCTION snowdrift.generator_identity(text)
    IS 'definition of a generator of Snowflakes, and the time from which it issues IDs; empty for the default ones';

CREATE FUNCTION snowdrift.generator_watermark(kind text, generator text, OUT last bigint, OUT watermark text)
    LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF kind = 'ulid' THEN
        watermark := @extschema@.ulid_watermark();
    ELSIF kind = 'uuidv7' THEN
        watermark := @extschema@.uuidv7_watermark();
    ELSIF generator <> '' THEN
        watermark := @extschema@.snowflake_watermark(generator);
    ELSE
        watermark := @extschema@.snowflake_watermark();
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.generator_watermark(text, text)
    IS 'watermark of a generator, as text; the last number is null, because IDs can be ahead of it';
