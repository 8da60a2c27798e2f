-- Conversion of keys: what users call, and the execution of the statements. They run with the caller's rights and search
-- path, on which the functions of users' indexes, triggers and constraints rely. Functions that execute them therefore set
-- no search path, and qualify all names.

-- The schemas whose names the statements contain, as "OID name"
CREATE FUNCTION snowdrift.schemas_of(plan snowdrift.conversion) RETURNS text[]
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN
    RETURN ARRAY(
        WITH names(nspname) AS (
            SELECT nspname FROM snowdrift.with_heirs(plan."tables" || ARRAY(SELECT object FROM unnest(plan.dependents)
                WHERE class = 'pg_class'::regclass)) AS relation JOIN pg_class AS c ON c.oid = relation JOIN pg_namespace AS n ON n.oid = relnamespace
            UNION SELECT (parse_ident(schema))[1] FROM unnest(plan.dependents) AS d
                JOIN pg_rewrite AS r ON class = 'pg_class'::regclass AND ev_class = object
                JOIN pg_depend ON classid = 'pg_rewrite'::regclass AND objid = r.oid, pg_identify_object(refclassid, refobjid, 0)
            WHERE schema IS NOT NULL
            UNION SELECT (parse_ident(plan.call, false))[1]
        )
        SELECT format('%s %s', n.oid, n.nspname) FROM names JOIN pg_namespace AS n ON n.nspname = names.nspname WHERE NOT pg_is_other_temp_schema(n.oid) ORDER BY n.oid);
END $$;

-- Ensure that schemas still have their names: ALTER SCHEMA ... RENAME does not wait for locks of the tables in it.
CREATE FUNCTION snowdrift.check_schemas(schemas text[]) RETURNS void
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    renamed CONSTANT text := (SELECT min(s) FROM unnest(schemas) AS s
        WHERE NOT EXISTS (SELECT FROM pg_namespace WHERE oid = split_part(s, ' ', 1)::oid AND nspname = substr(s, strpos(s, ' ') + 1)));
BEGIN
    IF renamed IS NOT NULL THEN
        RAISE 'schema "%" was renamed during the conversion', substr(renamed, strpos(renamed, ' ') + 1)
            USING ERRCODE = '55000', HINT = 'Convert the keys again.';
    END IF;
END $$;

-- Estimate the locks that a conversion needs: those of tables, indexes and TOAST tables, of their new versions, and of the
-- objects that PostgreSQL drops to create them again.
-- PostgreSQL keeps some room above the nominal size, which all databases of the server share.
CREATE FUNCTION snowdrift.check_locks(plan snowdrift.conversion) RETURNS void
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    slots CONSTANT integer := current_setting('max_connections')::integer + current_setting('max_prepared_transactions')::integer
        + coalesce(current_setting('autovacuum_worker_slots', true), current_setting('autovacuum_max_workers'))::integer + 1
        + current_setting('max_worker_processes')::integer + current_setting('max_wal_senders')::integer;
    size CONSTANT integer := slots * current_setting('max_locks_per_transaction')::integer;
    needed bigint;
BEGIN
    SELECT count(*) + 2 * cardinality(plan.new_keys)    -- with their sequences and defaults
        + sum(CASE WHEN is_rewritten THEN 6 + indexes + changed + CASE WHEN reltoastrelid <> 0 THEN 4 ELSE 0 END ELSE indexes END)
        + 13 * (SELECT count(DISTINCT c.oid) FROM pg_constraint AS c, unnest(conkey, confkey) AS u(f, t)    -- 5 constraints, 8 triggers
            WHERE contype = 'f' AND ((conrelid, f) IN (SELECT m."table", m.number FROM unnest(plan.members) AS m)
                OR (confrelid, t) IN (SELECT m."table", m.number FROM unnest(plan.members) AS m)))
    INTO needed
    FROM (SELECT reltoastrelid, relation = ANY (ARRAY(SELECT m."table" FROM unnest(plan.members) AS m)) AS is_rewritten,
            (SELECT count(*) FROM pg_index WHERE indrelid = relation) AS indexes,
            (SELECT count(*) FROM pg_index WHERE indrelid = relation AND (indexprs IS NOT NULL OR indpred IS NOT NULL
                OR EXISTS (SELECT FROM unnest(plan.members) AS m WHERE m."table" = relation AND m.number = ANY (indkey)))) AS changed
        FROM snowdrift.with_heirs(plan."tables") AS relation JOIN pg_class ON oid = relation) AS r;
    IF needed > size THEN
        RAISE 'the conversion needs about % locks, and the server has room for %', needed, size USING ERRCODE = '53200',
            HINT = format('Set max_locks_per_transaction to %s or more and restart the server, or convert the tables in several calls.', needed * 2 / slots);
    ELSIF needed > size / 2 THEN
        RAISE NOTICE 'the conversion needs about % locks, and the server has room for %', needed, size
            USING DETAIL = 'Statements of other sessions, also in other databases, raise an error when the room is used up.',
                HINT = format('Set max_locks_per_transaction to %s or more and restart the server, or convert the tables in several calls.', needed * 2 / slots);
    END IF;
END $$;

-- Report the effects that users must know.
CREATE FUNCTION snowdrift.report_conversion(plan snowdrift.conversion, tables oid[], risks text[]) RETURNS void
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
    members CONSTANT snowdrift.key_column[] := ARRAY(SELECT member FROM snowdrift.with_inheriting(plan.new_keys));
    keys CONSTANT snowdrift.key_column[] := snowdrift.find_keys(tables, plan.call);    -- those that refer to others, too
    r record;
BEGIN
    FOR r IN SELECT DISTINCT c.oid, relname FROM unnest(tables) AS t JOIN pg_class AS c ON c.oid = t
        WHERE c.oid <> ALL (ARRAY(SELECT k."table" FROM unnest(plan.keys) AS k)) ORDER BY c.oid LOOP
        IF EXISTS (SELECT FROM unnest(keys) AS k WHERE k."table" = r.oid) THEN
            RAISE NOTICE 'table "%" is skipped', r.relname
                USING DETAIL = 'Its primary key refers to the key of another table, whose values it has.',
                    HINT = format('Drop what generates its values, if nothing uses it: %s;', (SELECT string_agg(format('ALTER TABLE %s ALTER COLUMN %I DROP %s',
                            snowdrift.qualified_name(r.oid), attname, CASE attidentity WHEN '' THEN 'DEFAULT' ELSE 'IDENTITY' END), '; ')
                        FROM unnest(keys) AS k JOIN pg_attribute ON attrelid = k."table" AND attnum = k.number WHERE k."table" = r.oid));
        ELSE
            RAISE NOTICE 'table "%" is skipped', r.relname USING DETAIL = 'Its primary key has no serial or identity column of its own.',
                HINT = 'snowdrift.convert_column() converts other columns.';
        END IF;
    END LOOP;
    IF cardinality(plan."tables") = 0 THEN
        FOR r IN SELECT attname, relname FROM unnest(plan.keys) AS k JOIN pg_attribute ON attrelid = k."table" AND attnum = k.number
                JOIN pg_class AS c ON c.oid = attrelid ORDER BY attrelid, attnum LOOP
            RAISE NOTICE 'column "%" of table "%" is already converted', r.attname, r.relname;
        END LOOP;
    END IF;
    FOR r IN SELECT sequence, attname, relname, other, is_used FROM (SELECT DISTINCT ON (sequence) sequence, key FROM snowdrift.key_defaults(members, plan.call)
                WHERE kind = 'sequence' AND sequence IS NOT NULL AND sequence NOT IN (SELECT u.sequence FROM snowdrift.unused_sequences(plan) AS u)
                ORDER BY sequence, key) AS s
            JOIN pg_attribute ON attrelid = (key)."table" AND attnum = (key).number JOIN pg_class AS c ON c.oid = attrelid
            LEFT JOIN LATERAL (SELECT min(o) FILTER (WHERE o !~ '^trigger snowdrift_(hold|insert|update)_'), count(*) > 0 FROM snowdrift.other_users(sequence, members) AS o) AS o(other, is_used) ON true
            ORDER BY key LOOP
        RAISE NOTICE 'sequence % is kept', snowdrift.qualified_name(r.sequence)
            USING DETAIL = coalesce('Another object uses the sequence: ' || r.other || '.',
                CASE WHEN r.is_used THEN 'The table''s watch used the sequence. Drop it after the conversion if no program uses it.' END,
                format('Column "%s" of table "%s" uses the sequence, but does not own it.', r.attname, r.relname));
    END LOOP;
    FOR r IN SELECT attname, relname, expression FROM (
                SELECT key, expression, lag(expression) OVER (PARTITION BY root ORDER BY member <> root, member) IS DISTINCT FROM expression AS is_first
                FROM snowdrift.with_inheriting(plan.new_keys), snowdrift.key_defaults(ARRAY[member], plan.call) WHERE kind = 'other') AS d
            JOIN pg_attribute ON attrelid = (key)."table" AND attnum = (key).number JOIN pg_class AS c ON c.oid = attrelid
        WHERE is_first ORDER BY key LOOP
        RAISE NOTICE 'default of column "%" of table "%" is replaced', r.attname, r.relname
            USING DETAIL = format('It was %s. IDs of another generator can have another layout, and can equal earlier ones; readers of new rows miss those below their positions.', r.expression);
    END LOOP;
    IF cardinality(risks) > 0 THEN
        RAISE WARNING 'new keys can cause errors after the conversion' USING DETAIL = replace(array_to_string(risks, E'\n'), '-- warning: ', ''),
            HINT = 'The lines are guesses from the names and texts in the catalog. Check them before the conversion.';
    END IF;
END $$;

-- The queries for the greatest keys, of new keys; also those that their sequences have drawn, because readers of new rows may have passed
-- rows that were deleted. is_forced: row-level security would hide rows from the caller.
CREATE FUNCTION snowdrift.key_checks(plan snowdrift.conversion, OUT attname name, OUT relname name, OUT name text, OUT query text, OUT is_forced boolean)
    RETURNS SETOF record LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT a.attname, c.relname, snowdrift.qualified_name(c.oid),
        format('SELECT GREATEST(pg_catalog.max(%I)%s)::pg_catalog.int8 FROM %s', a.attname, (SELECT string_agg(format(', pg_catalog.pg_sequence_last_value(%s)', d.sequence), '')
            FROM snowdrift.drawing_columns(c.oid) AS d WHERE d.number = a.attnum AND d.kind = 'sequence' AND has_sequence_privilege(d.sequence, 'SELECT, USAGE')), snowdrift.qualified_name(c.oid)),
        c.oid IN (SELECT snowdrift.forced_tables(plan))
    FROM unnest(plan.new_keys) AS k JOIN pg_attribute AS a ON attrelid = k."table" AND attnum = k.number JOIN pg_class AS c ON c.oid = attrelid ORDER BY k;
END $$;

-- Ensure that keys are below a new ID.
CREATE FUNCTION snowdrift.check_keys(plan snowdrift.conversion, first_id bigint, dry_run boolean) RETURNS void
    LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_variable
DECLARE
    key_check pg_catalog.record;
    last_id pg_catalog.int8;
BEGIN
    FOR key_check IN SELECT * FROM snowdrift.key_checks(plan) LOOP
        CONTINUE WHEN key_check.is_forced AND dry_run;    -- checked in the run, which can see all rows
        IF key_check.is_forced THEN
            EXECUTE pg_catalog.format('ALTER TABLE %s NO FORCE ROW LEVEL SECURITY', key_check.name);
        END IF;
        EXECUTE key_check.query INTO last_id;
        IF key_check.is_forced THEN
            EXECUTE pg_catalog.format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', key_check.name);
        END IF;
        IF last_id OPERATOR(pg_catalog.>=) first_id THEN
            RAISE 'keys in column "%" of table "%" are not below new IDs', key_check.attname, key_check.relname USING ERRCODE = '55000',
                DETAIL = pg_catalog.format('The largest key, stored or drawn, is %s, and a new ID is %s.', last_id, first_id),
                HINT = 'Correct wrong keys, or set the sequence back if no reader has passed its numbers.';
        END IF;
    END LOOP;
END $$;

CREATE FUNCTION snowdrift.generator_call(name text) RETURNS text
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
BEGIN
    RETURN (SELECT format('%I.next_snowflake(%s)', nspname, quote_literal(name) || '::pg_catalog.text')
        FROM pg_proc JOIN pg_namespace AS n ON n.oid = pronamespace WHERE pg_proc.oid = '@extschema@.next_snowflake()'::regprocedure);
END $$;

-- A conversion while applications write has added columns, which only its own statements replace or remove.
CREATE FUNCTION snowdrift.check_not_begun(tables oid[]) RETURNS void LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    begun CONSTANT text := (SELECT string_agg(DISTINCT attrelid::regclass::text, ', ') FROM pg_attribute JOIN pg_trigger ON tgrelid = attrelid AND tgname = '~snowdrift'
        WHERE attrelid = ANY (tables) AND starts_with(attname, '_snowdrift_') AND NOT attisdropped);
BEGIN
    IF begun IS NOT NULL THEN
        RAISE 'a conversion of tables has begun, and has not ended' USING ERRCODE = '55000', DETAIL = format('The tables are: %s.', begun),
            HINT = 'Run conversion_script() to its end, or abandon_script().';
    END IF;
END $$;

-- Plan the conversion, lock the relations, and plan it again. If the second plan needs other locks, because the tables have
-- changed during the wait, release the locks and begin again.
-- The risks are found before the relations are locked, because reading a view's definition locks what the view reads.
CREATE FUNCTION snowdrift.lock_and_plan(tables oid[], "column" name, call text, dry_run boolean, OUT plan snowdrift.conversion, OUT risks text[])
    LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_variable
DECLARE
    relations pg_catalog.regclass[];
    requests pg_catalog.text[];
BEGIN
    LOOP
        plan := snowdrift.plan_conversion(tables, "column", call);
        PERFORM snowdrift.check_not_begun(plan."tables");
        PERFORM snowdrift.check_obstacles(plan);
        PERFORM snowdrift.check_locks(plan) WHERE requests IS NULL;
        risks := ARRAY(SELECT * FROM snowdrift.conversion_risks(plan, dry_run));
        relations := snowdrift.relations_to_lock(plan);
        requests := ARRAY(SELECT request FROM snowdrift.lock_requests(relations));
        BEGIN
            IF NOT dry_run THEN
                PERFORM snowdrift.check_not_reserved(plan."tables"::pg_catalog.regclass[], true);
                PERFORM snowdrift.lock_exclusively(relations);
            ELSIF pg_catalog.cardinality(plan."tables") OPERATOR(pg_catalog.>) 0 THEN
                EXECUTE snowdrift.lock_statement(plan, 'ACCESS SHARE');
            END IF;
            plan := snowdrift.plan_conversion(tables, "column", call);
            PERFORM snowdrift.check_not_begun(plan."tables");
            PERFORM snowdrift.check_obstacles(plan);
            IF requests OPERATOR(pg_catalog.=) ARRAY(SELECT request FROM snowdrift.lock_requests(snowdrift.relations_to_lock(plan))) THEN
                RETURN;
            END IF;
            RAISE SQLSTATE 'SN001';
        EXCEPTION WHEN SQLSTATE 'SN001' THEN
        END;
    END LOOP;
END $$;

CREATE FUNCTION snowdrift.run_conversion(tables oid[], "column" name, generator_name text, dry_run boolean) RETURNS SETOF text
    LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_variable
DECLARE
    call CONSTANT pg_catalog.text := snowdrift.generator_call(generator_name);
    locked pg_catalog.record;
    plan snowdrift.conversion;
    schemas pg_catalog.text[];
    statements pg_catalog.text[];
    risks pg_catalog.text[];
    statement pg_catalog.text;
    first_id pg_catalog.int8;
BEGIN
    PERFORM snowdrift.generator_layout(generator_name);    -- raises an error, before this function waits for locks, if there is no such generator
    locked := snowdrift.lock_and_plan(tables, "column", call, dry_run);
    plan := locked.plan;
    risks := locked.risks;
    schemas := snowdrift.schemas_of(plan);
    BEGIN
        EXECUTE pg_catalog.concat('SELECT ', call) INTO first_id;    -- not before the wait: it holds back the watermark
    EXCEPTION WHEN read_only_sql_transaction THEN    -- of the SQL edition, in a dry run: the keys are not compared
    END;
    PERFORM snowdrift.check_keys(plan, first_id, dry_run);
    PERFORM snowdrift.report_conversion(plan, tables, risks);
    statements := ARRAY(SELECT * FROM snowdrift.conversion_statements(plan, pg_catalog.current_setting('search_path')));
    FOREACH statement IN ARRAY risks LOOP
        RETURN NEXT statement;
    END LOOP;
    FOREACH statement IN ARRAY statements LOOP
        IF NOT dry_run THEN
            PERFORM snowdrift.check_schemas(schemas);
            EXECUTE statement;
        END IF;
        RETURN NEXT pg_catalog.concat(statement, ';');
    END LOOP;
    IF NOT dry_run THEN
        PERFORM snowdrift.check_schemas(schemas);
    END IF;
END $$;

CREATE FUNCTION snowdrift.convert_keys(tables regclass[], generator text DEFAULT NULL,
        dry_run boolean DEFAULT false) RETURNS SETOF text
    LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_variable
BEGIN
    IF tables IS NULL OR dry_run IS NULL THEN
        RAISE 'tables and dry_run must not be null' USING ERRCODE = '22004';
    END IF;
    PERFORM snowdrift.check_can_change('snowdrift.convert_keys()', dry_run);
    RETURN QUERY SELECT * FROM snowdrift.run_conversion(tables::pg_catalog.oid[], NULL, generator, dry_run);
END $$;
COMMENT ON FUNCTION snowdrift.convert_keys(regclass[], text, boolean)
    IS 'make Snowflake IDs the default of the serial and identity columns of primary keys, and return the statements; a dry run only returns them';

CREATE FUNCTION snowdrift.convert_column("table" regclass, "column" name, generator text DEFAULT NULL,
        dry_run boolean DEFAULT false) RETURNS SETOF text
    LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_variable
BEGIN
    IF "table" IS NULL OR "column" IS NULL OR dry_run IS NULL THEN
        RAISE 'table, column and dry_run must not be null' USING ERRCODE = '22004';
    END IF;
    PERFORM snowdrift.check_can_change('snowdrift.convert_column()', dry_run);
    RETURN QUERY SELECT * FROM snowdrift.run_conversion(ARRAY["table"::pg_catalog.oid], "column", generator, dry_run);
END $$;
COMMENT ON FUNCTION snowdrift.convert_column(regclass, name, text, boolean)
    IS 'make Snowflake IDs the default of a serial or identity key, and return the statements; a dry run only returns them';
