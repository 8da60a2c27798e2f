-- The IDs in a column, for the tools. The extension has the same functions for its types.

CREATE FUNCTION snowdrift.id_kind(type regtype) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN CASE type WHEN 'bigint'::regtype THEN 'snowflake' WHEN 'uuid'::regtype THEN 'uuidv7' END;

CREATE FUNCTION snowdrift.id_times(kind text, layout @extschema@.snowflake_layout, OUT first timestamptz, OUT last timestamptz)
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT CASE kind WHEN 'snowflake' THEN snowdrift.time_of((snowdrift.fields_of(layout)).epoch_ms)
            ELSE @extschema@.uuidv7_timestamp(snowdrift.first_uuidv7_within('(,)'::tstzrange)) END,
        CASE kind WHEN 'snowflake' THEN snowdrift.time_of((snowdrift.fields_of(layout)).last_ms)
            ELSE @extschema@.uuidv7_timestamp(snowdrift.last_uuidv7_within('(,)'::tstzrange)) END;
END;

CREATE FUNCTION snowdrift.id_boundary(kind text, "timestamp" timestamptz, layout @extschema@.snowflake_layout) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE kind WHEN 'snowflake' THEN @extschema@.snowflake_boundary("timestamp", layout)::text
        WHEN 'uuidv7' THEN @extschema@.uuidv7_boundary("timestamp")::text END;

CREATE FUNCTION snowdrift.id_timestamp(kind text, id text, layout @extschema@.snowflake_layout) RETURNS timestamptz
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE kind WHEN 'snowflake' THEN CASE WHEN id::bigint BETWEEN 0 AND (snowdrift.fields_of(layout)).max_id
            THEN @extschema@.snowflake_timestamp(id::bigint, layout) END
        WHEN 'uuidv7' THEN @extschema@.uuidv7_timestamp(id::uuid) END;

CREATE FUNCTION snowdrift.is_same_layout(a @extschema@.snowflake_layout, b @extschema@.snowflake_layout) RETURNS boolean
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN snowdrift.fields_of(a) = snowdrift.fields_of(b);

-- Executes a statement as the owner of a table, and returns the first value of a query. Functions in the table's constraints
-- and indexes do not get the caller's privileges, unless they reset the role, which only the extension can prevent.
CREATE FUNCTION snowdrift.run_as_owner("table" regclass, statement text) RETURNS text
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
CREATE FUNCTION snowdrift.become_owner("table" regclass) RETURNS text
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

CREATE FUNCTION snowdrift.layout_of(generator text) RETURNS @extschema@.snowflake_layout LANGUAGE sql STABLE PARALLEL RESTRICTED SECURITY DEFINER
BEGIN ATOMIC
    SELECT g.layout FROM snowdrift_tables.generator AS g WHERE g.name = generator COLLATE "C";
END;

-- What reading new rows needs to know of generators. The state of a generator is a sequence, so that it is held as sequences are,
-- but by next_snowflake() itself, and at a time unit, which is the same number for longer than a state.

CREATE FUNCTION snowdrift.kinds_with_watermarks() RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN '{snowflake}'::text[];

CREATE FUNCTION snowdrift.draw(kind text, generator text) RETURNS boolean LANGUAGE sql VOLATILE
BEGIN ATOMIC
    SELECT public.next_snowflake(coalesce(generator, '')) IS NOT NULL;
END;

CREATE FUNCTION snowdrift.drawn_ids("table" regclass, attnum smallint, OUT kind text, OUT generator text)
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    generator := snowdrift.drawn_generator("table", attnum);
    kind := CASE WHEN generator IS NOT NULL THEN 'snowflake' END;
END $$;

CREATE FUNCTION snowdrift.state_of(generator text) RETURNS oid LANGUAGE sql STABLE SECURITY DEFINER
BEGIN ATOMIC
    SELECT to_regclass(g.state) FROM snowdrift_tables.generators() AS g WHERE g.name = generator COLLATE "C";
END;

CREATE FUNCTION snowdrift.generator_identity(generator text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN NULL::text;

CREATE FUNCTION snowdrift.generator_watermark(kind text, generator text, OUT last bigint, OUT watermark text)
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
CREATE FUNCTION snowdrift.read_watermark_holders(OUT pid integer, OUT transaction xid, OUT kind text, OUT generator text, OUT lowest timestamptz)
    RETURNS SETOF record LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT h.pid, h.transaction, 'snowflake', nullif(g.name, ''), NULL::timestamptz
    FROM snowdrift.holding_transactions() AS h JOIN snowdrift_tables.generators() AS g ON h.key = snowdrift.hold_key(g.state::regclass, h.key);
END $$;
