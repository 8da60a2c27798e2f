-- Conversion of keys while applications write: what users call. A script contains only what remains to be done.

-- The settings that long statements need. Statements that lock tables set lock_timeout themselves.
CREATE FUNCTION snowdrift.script_settings(duty double precision, OUT name text, OUT setting text) RETURNS SETOF record
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT v.name, v.setting FROM (VALUES ('statement_timeout', '0'), ('transaction_timeout', '0'), ('lock_timeout', '0'), ('default_tablespace', ''),
        ('max_parallel_maintenance_workers', CASE WHEN duty < 1 THEN '0' END), ('vacuum_cost_delay', CASE WHEN duty < 1 THEN '2ms' END)) AS v(name, setting)
    WHERE v.setting IS NOT NULL AND current_setting(v.name, true) IS NOT NULL;    -- transaction_timeout: since PostgreSQL 17
END;

-- A comment on the order of columns, an estimate if there is something to copy, and then the statements
CREATE FUNCTION snowdrift.script_statements(plan snowdrift.conversion, tables oid[], generator_name text, keep_sequences boolean, duty double precision)
    RETURNS SETOF text LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_variable
DECLARE
    names CONSTANT text := format('%L::pg_catalog.regclass[]', ARRAY(SELECT t::regclass FROM unnest(plan."tables") AS t));
    statements CONSTANT text[] := ARRAY(SELECT * FROM snowdrift.preparing_statements(plan, duty));
BEGIN
    RETURN QUERY SELECT format('-- column order: new columns come last, from the first statement on, in %s; name the columns in INSERT and COPY, and prepare SELECT * again',
        regexp_replace(string_agg(DISTINCT m."table"::regclass::text, ', '), '[[:cntrl:]]', ' ', 'g')) FROM unnest(plan.members) AS m HAVING count(*) > 0;
    RETURN QUERY SELECT format('-- estimate: %s of tables and indexes to copy: about %s minutes on an idle server (%s if duty is 1), %s of WAL, and %s of disk until the end', pg_size_pretty(bytes),
        ceil(bytes / 600e6 / duty), ceil(bytes / 600e6), pg_size_pretty(bytes * 4), pg_size_pretty(bytes * 6 / 10))
    FROM (SELECT sum(pg_total_relation_size(t))::bigint FROM (SELECT DISTINCT m."table" FROM unnest(plan.members) AS m) AS m(t)) AS s(bytes)
    WHERE array_to_string(statements, ' ') LIKE '%CALL snowdrift.copy_keys(%';
    RETURN QUERY SELECT format('SET %s = %L', s.name, s.setting) FROM snowdrift.script_settings(duty) AS s;
    RETURN NEXT format('CALL snowdrift.reserve_tables(%s, true)', names);
    RETURN QUERY SELECT unnest(statements);
    RETURN NEXT format('CALL snowdrift.swap_keys(%L::pg_catalog.regclass[]%s%s)', tables::regclass[], ', generator => ' || quote_literal(generator_name) || '::pg_catalog.text',
        CASE WHEN keep_sequences THEN ', keep_sequences => true' END);
    RETURN QUERY SELECT format('ANALYZE %s', snowdrift.qualified_name(t)) FROM (SELECT DISTINCT m."table" FROM unnest(plan.members) AS m) AS m(t) ORDER BY t;
    RETURN NEXT format('CALL snowdrift.reserve_tables(%s, false)', names);
    RETURN QUERY SELECT format('RESET %s', s.name) FROM snowdrift.script_settings(duty) AS s;
END $$;

CREATE FUNCTION snowdrift.conversion_script(tables regclass[], generator text DEFAULT NULL, keep_sequences boolean DEFAULT false,
        duty double precision DEFAULT 0.5, fire_triggers boolean DEFAULT false) RETURNS SETOF text
    LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_variable
DECLARE
    call CONSTANT pg_catalog.text := snowdrift.generator_call(generator);
    plan snowdrift.conversion;
    first_id pg_catalog.int8;
    risks pg_catalog.text[];
BEGIN
    IF tables IS NULL OR keep_sequences IS NULL OR duty IS NULL OR fire_triggers IS NULL THEN
        RAISE 'tables, keep_sequences, duty and fire_triggers must not be null' USING ERRCODE = '22004';
    ELSIF keep_sequences AND generator IS NOT NULL THEN
        RAISE 'keep_sequences and a generator exclude each other' USING ERRCODE = '22023';
    ELSIF NOT duty OPERATOR(pg_catalog.>) 0.0::pg_catalog.float8 OR NOT duty OPERATOR(pg_catalog.<=) 1.0::pg_catalog.float8 THEN
        RAISE 'duty must be greater than 0 and at most 1' USING ERRCODE = '22023';
    ELSIF pg_catalog.array_position(pg_catalog.current_schemas(false), 'pg_catalog'::pg_catalog.name) OPERATOR(pg_catalog.>) 1 THEN
        RAISE 'search_path has other schemas before pg_catalog' USING ERRCODE = '55000',
            DETAIL = 'Definitions of indexes could refer to objects in these.', HINT = 'Set search_path without pg_catalog, which then comes first.';
    END IF;
    PERFORM snowdrift.check_can_change('snowdrift.conversion_script()', false);
    IF NOT keep_sequences THEN
        EXECUTE pg_catalog.concat('SELECT ', call) INTO first_id;
    END IF;
    plan := snowdrift.plan_live(tables::pg_catalog.oid[], call, keep_sequences);
    PERFORM snowdrift.check_not_begun(ARRAY(SELECT t::pg_catalog.oid FROM pg_catalog.unnest(tables) AS t EXCEPT SELECT m."table" FROM pg_catalog.unnest(plan.members) AS m));
    PERFORM snowdrift.check_obstacles(plan, ARRAY(SELECT * FROM snowdrift.live_refusals(plan, fire_triggers)));
    PERFORM snowdrift.check_locks(plan);
    IF NOT keep_sequences THEN
        PERFORM snowdrift.check_keys(plan, first_id, true);
    END IF;
    risks := ARRAY(SELECT * FROM snowdrift.column_order_risks(plan)) OPERATOR(pg_catalog.||) ARRAY(SELECT * FROM snowdrift.conversion_risks(plan, true));
    PERFORM snowdrift.report_conversion(plan, tables::pg_catalog.oid[], risks);
    IF pg_catalog.cardinality(plan."tables") OPERATOR(pg_catalog.>) 0 THEN
        -- A name that contains a line feed would end the comment.
        RETURN QUERY SELECT pg_catalog.regexp_replace(r, '[[:cntrl:]]'::pg_catalog.text, ' '::pg_catalog.text, 'g'::pg_catalog.text) FROM pg_catalog.unnest(risks) AS r;
        RETURN QUERY SELECT * FROM snowdrift.script_statements(plan, tables::pg_catalog.oid[], generator, keep_sequences, duty);
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.conversion_script(regclass[], text, boolean, double precision, boolean)
    IS 'statements that remain to convert keys to bigint, and to Snowflake IDs, while applications write, for \gexec of psql';

CREATE FUNCTION snowdrift.abandon_script(tables regclass[]) RETURNS SETOF text
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
    -- These, and those that refer to them and have shadows
    changed CONSTANT oid[] := ARRAY(WITH RECURSIVE referring("table") AS (
            SELECT t::oid FROM unnest(tables) AS t
            UNION SELECT conrelid FROM referring JOIN pg_constraint ON confrelid = "table" AND contype = 'f' JOIN pg_class AS c ON c.oid = conrelid
            WHERE pg_has_role(relowner, 'USAGE')
        ) SELECT "table" FROM referring WHERE "table" = ANY (tables::oid[])
            OR EXISTS (SELECT FROM pg_attribute WHERE attrelid = "table" AND starts_with(attname, '_snowdrift_') AND NOT attisdropped) ORDER BY 1);
    names CONSTANT text := format('%L::pg_catalog.regclass[]', changed::regclass[]);
BEGIN
    IF tables IS NULL THEN
        RAISE 'tables must not be null' USING ERRCODE = '22004';
    END IF;
    PERFORM snowdrift.check_tables(tables::oid[]);
    PERFORM snowdrift.check_table_owners(changed);
    IF NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = ANY (changed) AND starts_with(attname, '_snowdrift_') AND NOT attisdropped) THEN
        RAISE NOTICE 'no conversion of these tables has begun';
        RETURN;
    END IF;
    RETURN QUERY SELECT format('SET %s = %L', s.name, s.setting) FROM snowdrift.script_settings(1) AS s;
    RETURN NEXT format('CALL snowdrift.reserve_tables(%s, true)', names);
    RETURN QUERY SELECT snowdrift.brief_call(ARRAY[conrelid, confrelid],
        format('ALTER TABLE %s DROP CONSTRAINT %I', snowdrift.qualified_name(conrelid), conname))
    FROM pg_constraint JOIN pg_class AS c ON c.oid = conrelid
    WHERE contype = 'f' AND (conrelid = ANY (changed) OR confrelid = ANY (changed)) AND pg_has_role(relowner, 'USAGE') AND starts_with(conname, '_snowdrift_') ORDER BY conrelid, pg_constraint.oid;
    RETURN QUERY SELECT format('DROP INDEX CONCURRENTLY %s', snowdrift.qualified_name(x)) FROM snowdrift.indexes_of_shadows(changed) AS x ORDER BY x;
    RETURN QUERY SELECT snowdrift.brief_call(ARRAY[c.oid], concat_ws('; ',
        CASE WHEN EXISTS (SELECT FROM pg_trigger WHERE tgrelid = c.oid AND tgname = '~snowdrift') THEN format('DROP TRIGGER "~snowdrift" ON %s', t.name) END,
        'DROP FUNCTION ' || coalesce((SELECT p.oid::regprocedure FROM pg_trigger JOIN pg_proc AS p ON p.oid = tgfoid WHERE tgrelid = c.oid AND tgname = '~snowdrift' AND starts_with(proname, '_snowdrift_')),
            to_regprocedure(format('%s.%I()', relnamespace::regnamespace, snowdrift.shadow_name(relname)))), format('ALTER TABLE %s %s', t.name, s.drops)))
    FROM pg_class AS c, LATERAL (SELECT snowdrift.qualified_name(c.oid)) AS t(name),
        LATERAL (SELECT string_agg(format('DROP COLUMN %I', attname), ', ' ORDER BY attnum) FROM pg_attribute
            WHERE attrelid = c.oid AND starts_with(attname, '_snowdrift_') AND NOT attisdropped) AS s(drops)
    WHERE c.oid = ANY (changed) AND s.drops IS NOT NULL ORDER BY c.oid;
    RETURN NEXT format('CALL snowdrift.reserve_tables(%s, false)', names);
    RETURN QUERY SELECT format('RESET %s', s.name) FROM snowdrift.script_settings(1) AS s;
END $$;
COMMENT ON FUNCTION snowdrift.abandon_script(regclass[]) IS 'statements that remove what a conversion while applications write has added, for \gexec of psql';
