-- Partitions by time: the key and its layout, listing and creating. A plan is made with a fixed search path; the statements
-- run with the caller's, as the table's owner.

-- What a column's default draws from: the name of a generator of Snowflakes, '' for the default generator, null if neither.
CREATE FUNCTION snowdrift.drawn_generator("table" regclass, attnum smallint) RETURNS text
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

CREATE FUNCTION snowdrift.next_snowflake_names() RETURNS text[]
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN ARRAY['@extschema@.next_snowflake()'::regprocedure::text, '@extschema@.next_snowflake(text)'::regprocedure::text];
COMMENT ON FUNCTION snowdrift.next_snowflake_names() IS 'names of next_snowflake() and next_snowflake(text)';

-- The layout of a column's Snowflakes: that of the default, or else the stated one. Rows that are inserted into a table of
-- which this one is a partition have the default of that table.
CREATE FUNCTION snowdrift.column_layout("table" regclass, attnum smallint, stated @extschema@.snowflake_layout)
        RETURNS @extschema@.snowflake_layout
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
COMMENT ON FUNCTION snowdrift.column_layout(regclass, smallint, @extschema@.snowflake_layout)
    IS 'layout of the Snowflakes in a column, from its default; otherwise, the layout that the caller has stated';

CREATE FUNCTION snowdrift.partition_key(parent regclass, stated @extschema@.snowflake_layout,
        OUT "column" name, OUT kind text, OUT layout @extschema@.snowflake_layout)
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
COMMENT ON FUNCTION snowdrift.partition_key(regclass, @extschema@.snowflake_layout)
    IS 'partition key of a table, the kind of its IDs and their layout';

CREATE FUNCTION snowdrift.announce_layout(parent regclass, layout @extschema@.snowflake_layout, stated @extschema@.snowflake_layout) RETURNS void
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF stated IS NULL AND NOT snowdrift.is_same_layout(layout, 'snowflake') THEN
        RAISE NOTICE 'using layout "%" for the IDs in table "%"', layout, (SELECT c.relname FROM pg_class AS c WHERE c.oid = parent)
            USING DETAIL = 'The default of the partition key draws IDs of this layout.';
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.announce_layout(regclass, @extschema@.snowflake_layout, @extschema@.snowflake_layout)
    IS 'notice with a layout that the caller has not stated';

-- A bound is the text of an ID, or MINVALUE or MAXVALUE. If an upper bound is not the first ID of its time, the partition can
-- contain IDs of that time. of_times: the bounds are first IDs of times, or the upper one is MAXVALUE. Other numbers can be keys of a sequence from before
-- the table had Snowflakes; so can those of the layout's first day, except its first number.
CREATE FUNCTION snowdrift.list_partitions(parent regclass, kind text, layout @extschema@.snowflake_layout,
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
COMMENT ON FUNCTION snowdrift.list_partitions(regclass, text, @extschema@.snowflake_layout)
    IS 'partitions of a table, their bounds, the times of their IDs, and whether all bounds are those of times';

CREATE FUNCTION snowdrift.partitions(parent regclass, layout @extschema@.snowflake_layout DEFAULT NULL,
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
COMMENT ON FUNCTION snowdrift.partitions(regclass, @extschema@.snowflake_layout)
    IS 'partitions of a table, each with the times of its IDs; times are null for a default partition and if a bound is not an ID';

-- Creating partitions

-- Steps are in UTC. Months are counted from January of the year 0, minutes from Monday, 2001-01-01.
CREATE FUNCTION snowdrift.step_months(step interval) RETURNS integer
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

CREATE FUNCTION snowdrift.step_begin(step interval, "timestamp" timestamptz) RETURNS timestamp
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

CREATE FUNCTION snowdrift.step_end(step interval, "begin" timestamp, n integer) RETURNS timestamp
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN CASE WHEN n * step > interval '100000 years' THEN 'infinity'
        WHEN snowdrift.step_months(step) > 0 THEN "begin" + make_interval(months => n * snowdrift.step_months(step)) ELSE "begin" + n * step END;
COMMENT ON FUNCTION snowdrift.step_end(interval, timestamp, integer)
    IS 'end of the n-th step from one that begins at a time; infinity if it is beyond the times of all IDs';

-- The partitions that do not exist, with the statements that create them. By default, first is now(), and last is three
-- steps later. The first and the last step may extend beyond the times of IDs.
CREATE FUNCTION snowdrift.missing_partitions(parent regclass, step interval, first timestamptz, last timestamptz, kind text,
        layout @extschema@.snowflake_layout, OUT partition text, OUT statements text[], OUT relations regclass[]) RETURNS SETOF record
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
COMMENT ON FUNCTION snowdrift.missing_partitions(regclass, interval, timestamptz, timestamptz, text, @extschema@.snowflake_layout)
    IS 'partitions that do not exist, and the statements that create them';

CREATE FUNCTION snowdrift.ancestors_and_default(parent regclass) RETURNS regclass[]
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT ARRAY(SELECT pg_partition_ancestors(parent))
        || snowdrift.with_partitions(ARRAY(SELECT partdefid::regclass FROM pg_partitioned_table WHERE partrelid = parent AND partdefid <> 0))
$$;
COMMENT ON FUNCTION snowdrift.ancestors_and_default(regclass)
    IS 'tables above a table and its default partition, whose expressions are in the constraints of new and old partitions';

CREATE FUNCTION snowdrift.check_times(first timestamptz, last timestamptz) RETURNS void
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET datestyle = ISO AS $$
BEGIN
    IF first > last THEN
        RAISE 'first must not be later than last' USING ERRCODE = '22023',
            DETAIL = format('The first time is %s, and the last time is %s.', first, last);
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.check_times(timestamptz, timestamptz) IS 'ensure that times are in order';

CREATE FUNCTION snowdrift.create_partitions(parent regclass, step interval, first timestamptz DEFAULT NULL,
        last timestamptz DEFAULT NULL, layout @extschema@.snowflake_layout DEFAULT NULL) RETURNS SETOF regclass
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
        @extschema@.snowflake_layout)
    IS 'create missing partitions, from the one that contains first to the one that contains last, and return them; by default, from now() to three steps later';
