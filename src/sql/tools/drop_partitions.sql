-- Dropping partitions by time: which ones are old, what the rows say about that, and the statements.

CREATE FUNCTION snowdrift.check_age(age interval) RETURNS void
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

CREATE FUNCTION snowdrift.time_of_age(age interval, newest timestamptz) RETURNS timestamptz
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET timezone = 'UTC'
    RETURN least(now(), newest) - age;
COMMENT ON FUNCTION snowdrift.time_of_age(interval, timestamptz)
    IS 'time that is earlier by an age than now() and than the time of the greatest ID, if it is not null';

CREATE FUNCTION snowdrift.check_past("timestamp" timestamptz) RETURNS void
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF date_trunc('milliseconds', "timestamp") > clock_timestamp() THEN
        RAISE 'timestamp must not be in the future: "%"', "timestamp" USING ERRCODE = '22023';
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.check_past(timestamptz) IS 'ensure that a time is not in the future';

-- New IDs can have a timestamp before now, but not before its time unit.
CREATE FUNCTION snowdrift.present(kind text, layout @extschema@.snowflake_layout) RETURNS timestamptz
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
COMMENT ON FUNCTION snowdrift.present(text, @extschema@.snowflake_layout) IS 'earliest time of IDs that are generated from now on';

-- A domain can have operators of its own. Operators of anyarray and the like are in pg_catalog.
CREATE FUNCTION snowdrift.cast_to(type oid) RETURNS text LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT CASE typtype WHEN 'p' THEN '' ELSE '::' || format_type(oid, NULL) END FROM pg_type WHERE oid = type;
END;
COMMENT ON FUNCTION snowdrift.cast_to(oid) IS 'cast to an operator''s type';

-- The partitions that are older than a time and than new IDs, oldest first, with the query that finds a row that refers to
-- one of their rows, and the statements that drop them. Detaching a partition first makes PostgreSQL look for such rows,
-- except, before 15.13, 16.9 and 17.5, for those of the same partitioned table; what these have created stays so.
CREATE FUNCTION snowdrift.old_partitions(parent regclass, "timestamp" timestamptz, kind text, layout @extschema@.snowflake_layout,
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
COMMENT ON FUNCTION snowdrift.old_partitions(regclass, timestamptz, text, @extschema@.snowflake_layout)
    IS 'partitions whose IDs are all older than a time, and the statements that drop them';

-- How to read the rows of the partitions that contain IDs of times, from the top: the greatest ID, by index if there is one.
CREATE FUNCTION snowdrift.row_queries(parent regclass, "column" name, kind text, layout @extschema@.snowflake_layout,
        OUT partition regclass, OUT begins timestamptz, OUT greatest_id text, OUT any_row text) RETURNS SETOF record
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT p.partition, lower(p.times), format('SELECT p.%1$I::pg_catalog.text FROM %2$s AS p ORDER BY p.%1$I DESC LIMIT 1', "column", p.partition),
        format('SELECT ''''::pg_catalog.text FROM %s LIMIT 1', p.partition)
    FROM snowdrift.list_partitions(parent, kind, layout) AS p
    WHERE p.times IS NOT NULL AND p.of_times ORDER BY lower(p.times) DESC
$$;
COMMENT ON FUNCTION snowdrift.row_queries(regclass, name, text, @extschema@.snowflake_layout)
    IS 'queries for the greatest ID in each partition, newest first, and for whether it holds rows';

CREATE FUNCTION snowdrift.find_rows(parent regclass, "column" name, kind text, layout @extschema@.snowflake_layout,
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
COMMENT ON FUNCTION snowdrift.find_rows(regclass, name, text, @extschema@.snowflake_layout)
    IS 'time of the greatest ID in the partitions of a table, and the partitions that hold rows';

-- The clock can be wrong, and so can the IDs of rows that were inserted meanwhile. Neither moves most of the rows.
CREATE FUNCTION snowdrift.check_share(parent regclass, "timestamp" timestamptz, kind text, layout @extschema@.snowflake_layout,
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
COMMENT ON FUNCTION snowdrift.check_share(regclass, timestamptz, text, @extschema@.snowflake_layout, regclass[])
    IS 'ensure that more partitions with rows are kept than dropped';

-- Detaching a partition reads the tables that refer to the parent, and locks all tables at the other end of its foreign keys.
CREATE FUNCTION snowdrift.tables_to_lock(parent regclass, old regclass[]) RETURNS regclass[]
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

CREATE FUNCTION snowdrift.drop_listed(parent regclass, "timestamp" timestamptz, stated @extschema@.snowflake_layout, dry_run boolean,
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
COMMENT ON FUNCTION snowdrift.drop_listed(regclass, timestamptz, @extschema@.snowflake_layout, boolean)
    IS 'drop partitions whose IDs are all older than a time; implementation of snowdrift.drop_partitions() and drop_partitions_before()';

-- The functions have different names, because a call with an untyped literal could not choose between overloads.
CREATE FUNCTION snowdrift.drop_partitions(parent regclass, older_than interval,
        layout @extschema@.snowflake_layout DEFAULT NULL, dry_run boolean DEFAULT false,
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
COMMENT ON FUNCTION snowdrift.drop_partitions(regclass, interval, @extschema@.snowflake_layout, boolean)
    IS 'drop partitions whose IDs are all older than an age, and return them; a dry run only returns them';

CREATE FUNCTION snowdrift.drop_partitions_before(parent regclass, "timestamp" timestamptz,
        layout @extschema@.snowflake_layout DEFAULT NULL, dry_run boolean DEFAULT false,
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
COMMENT ON FUNCTION snowdrift.drop_partitions_before(regclass, timestamptz, @extschema@.snowflake_layout, boolean)
    IS 'drop partitions whose IDs are all older than a time, and return them; a dry run only returns them';
