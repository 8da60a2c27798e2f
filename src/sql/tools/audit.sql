-- Audits of columns. The query is made with a fixed search path. It runs with the caller's path and privileges, because
-- views, policies and indexes of the table can call functions.

-- A layout that the caller has stated overrides that of the column's default. If the default has none, as in foreign keys, views
-- and tables of imported IDs, the layout is the same as in functions for single IDs.
CREATE FUNCTION snowdrift.audited_layout("table" regclass, "column" name, type regtype, stated @extschema@.snowflake_layout)
        RETURNS @extschema@.snowflake_layout
    LANGUAGE sql STABLE
    RETURN CASE type WHEN 'bigint'::regtype THEN coalesce(stated,
        (SELECT snowdrift.generator_layout(generator)
         FROM pg_attribute AS a, snowdrift.drawn_generator(a.attrelid, a.attnum) AS generator
         WHERE a.attrelid = "table" AND a.attname = "column" AND generator <> ''),
        'snowflake'::@extschema@.snowflake_layout) END;
COMMENT ON FUNCTION snowdrift.audited_layout(regclass, name, regtype, @extschema@.snowflake_layout)
    IS 'layout in which snowdrift.audit() reads a column; null for other IDs than Snowflakes';

-- All fields of the last ID have their greatest values.
CREATE FUNCTION snowdrift.last_snowflake(layout @extschema@.snowflake_layout) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN snowdrift.last_snowflake_within('(,)'::tstzrange, layout);
COMMENT ON FUNCTION snowdrift.last_snowflake(@extschema@.snowflake_layout) IS 'largest Snowflake ID of a layout';

-- Null if all numbers of the layout are smaller.
CREATE FUNCTION snowdrift.end_of_small_numbers(layout @extschema@.snowflake_layout) RETURNS timestamptz
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN snowdrift.last_snowflake(layout) >= 4294967295
        THEN @extschema@.snowflake_timestamp(4294967295, layout) + interval '1 us' END;
COMMENT ON FUNCTION snowdrift.end_of_small_numbers(@extschema@.snowflake_layout) IS 'time after that of the number 2^32 - 1';

CREATE FUNCTION snowdrift.node_mask(layout @extschema@.snowflake_layout) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN @extschema@.make_snowflake(@extschema@.snowflake_timestamp(0::bigint, layout),
        @extschema@.snowflake_datacenter(snowdrift.last_snowflake(layout), layout),
        @extschema@.snowflake_worker(snowdrift.last_snowflake(layout), layout), 0, layout);
COMMENT ON FUNCTION snowdrift.node_mask(@extschema@.snowflake_layout) IS 'bits of datacenter and worker in Snowflake IDs of a layout';

-- The parts of the values, in the order of the result:
--     1 before the first ID, 2 before since, 3 Unix seconds, 4 Unix milliseconds, 5 ID, 6 ID later than now, 7 after the last ID,
--     8 UUID that is not of version 7, null for nulls
-- The node is that of IDs, as bits of a Snowflake or the partition of a sno. For a UUID that is not of version 7, it is the
-- version, or 16 for another variant, 17 for the nil UUID, 18 for the max UUID.
-- PostgreSQL inlines a function of this form, and then evaluates what depends only on the layout once per query.
CREATE FUNCTION snowdrift.describe_values(kind text, part integer, node bigint, smallest text, largest text,
        layout @extschema@.snowflake_layout, has_since boolean,
        OUT finding text, OUT datacenter integer, OUT worker integer, OUT partition integer,
        OUT first_timestamp timestamptz, OUT last_timestamp timestamptz) RETURNS SETOF record
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT CASE WHEN part = 2 AND has_since THEN 'ID earlier than since'
            WHEN part = 8 THEN CASE node WHEN 16 THEN 'UUID of another variant' WHEN 17 THEN 'nil UUID' WHEN 18 THEN 'max UUID'
                ELSE 'UUID of version ' || node END
            ELSE coalesce((ARRAY['earlier than the epoch', 'small number', 'Unix seconds', 'Unix milliseconds', 'ID', 'ID later than now',
                'not an ID'])[part], 'null') END,
        CASE WHEN is_id AND kind = 'snowflake' AND @extschema@.snowflake_datacenter(snowdrift.last_snowflake(layout), layout) > 0
            THEN @extschema@.snowflake_datacenter(smallest::bigint, layout) END,
        CASE WHEN is_id AND kind = 'snowflake' AND @extschema@.snowflake_worker(snowdrift.last_snowflake(layout), layout) > 0
            THEN @extschema@.snowflake_worker(smallest::bigint, layout) END,
        CASE kind WHEN 'sno' THEN node END,
        CASE WHEN is_id OR part = 2 AND has_since THEN snowdrift.id_timestamp(kind, smallest, layout)
            WHEN part IN (3, 4) THEN timestamptz '1970-01-01 00:00:00Z' + unit * smallest::bigint END,
        CASE WHEN is_id OR part = 2 AND has_since THEN snowdrift.id_timestamp(kind, largest, layout)
            WHEN part IN (3, 4) THEN timestamptz '1970-01-01 00:00:00Z' + unit * largest::bigint END
    FROM (SELECT part IN (5, 6) AS is_id, CASE part WHEN 3 THEN interval '1 s' WHEN 4 THEN interval '1 ms' END AS unit) AS known;
END;
COMMENT ON FUNCTION snowdrift.describe_values(text, integer, bigint, text, text, @extschema@.snowflake_layout, boolean)
    IS 'what snowdrift.audit() shows about values of the same part and node';

-- Each part begins at one or two bounds. Without since, numbers below 2^32, but at most those of the first day, are small.
-- Unix times are those from 2001-09-09, when they got 10 digits as seconds and 13 as milliseconds, to ten years from now.
-- There are none if IDs from after the layout's first week can be such numbers, or if that week is not over.
CREATE FUNCTION snowdrift.audit_bounds(kind text, layout @extschema@.snowflake_layout, since timestamptz,
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
COMMENT ON FUNCTION snowdrift.audit_bounds(text, @extschema@.snowflake_layout, timestamptz)
    IS 'first values of the parts into which snowdrift.audit() divides the values of a column';

-- PostgreSQL inlines this function.
CREATE FUNCTION snowdrift.uuid_form(id uuid, bytes bytea) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN get_byte(bytes, 8) >> 6 = 2 THEN get_byte(bytes, 6) >> 4
        WHEN id = '00000000-0000-0000-0000-000000000000' THEN 17
        WHEN id = 'ffffffff-ffff-ffff-ffff-ffffffffffff' THEN 18
        WHEN id IS NOT NULL THEN 16 END;
COMMENT ON FUNCTION snowdrift.uuid_form(uuid, bytea) IS 'version of UUID, or 16 for another variant, 17 for the nil UUID, 18 for the max UUID';

-- If the column contains other small numbers than 0, Unix seconds are small numbers, too. If it contains other IDs of the layout's
-- first week, Unix milliseconds are IDs. In the query, $1 is the layout, and $2 the sample; all names are qualified. With OFFSET 0,
-- PostgreSQL evaluates the expressions once per row, and does not expect a group per row.
CREATE FUNCTION snowdrift.audit_query(name text, "column" name, type regtype, layout @extschema@.snowflake_layout,
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
COMMENT ON FUNCTION snowdrift.audit_query(text, name, regtype, @extschema@.snowflake_layout, timestamptz, boolean)
    IS 'query of snowdrift.audit()';

CREATE FUNCTION snowdrift.check_audited_type("table" regclass, "column" name, type regtype) RETURNS regtype
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
CREATE FUNCTION snowdrift.read_audit("table" regclass, "column" name, stated @extschema@.snowflake_layout, sample real,
        since timestamptz, OUT finding text, OUT datacenter integer, OUT worker integer, OUT partition integer, OUT count bigint,
        OUT first_timestamp timestamptz, OUT last_timestamp timestamptz, OUT min text, OUT max text,
        OUT layout @extschema@.snowflake_layout) RETURNS SETOF record
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
COMMENT ON FUNCTION snowdrift.read_audit(regclass, name, @extschema@.snowflake_layout, real, timestamptz)
    IS 'implementation of snowdrift.audit()';

-- A function in PL/pgSQL cannot have an argument and a result of the same name.
CREATE FUNCTION snowdrift.audit("table" regclass, "column" name,
        layout @extschema@.snowflake_layout DEFAULT NULL, sample real DEFAULT NULL, since timestamptz DEFAULT NULL,
        OUT finding text, OUT datacenter integer, OUT worker integer, OUT partition integer, OUT count bigint,
        OUT first_timestamp timestamptz, OUT last_timestamp timestamptz, OUT min text, OUT max text,
        OUT layout @extschema@.snowflake_layout) RETURNS SETOF record
    LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT * FROM snowdrift.read_audit($1, $2, $3, $4, $5);
END;
COMMENT ON FUNCTION snowdrift.audit(regclass, name, @extschema@.snowflake_layout, real, timestamptz)
    IS 'summary of a column of IDs: a row for the IDs of each node, and rows for values that are too small, Unix times, later than now, not IDs, or UUIDs of another version; sample is a percentage';
