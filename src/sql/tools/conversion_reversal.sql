-- The way back: keys that draw Snowflakes draw from a sequence again. New keys are greater than all existing ones.

-- The keys that draw Snowflakes, and their tables.
CREATE FUNCTION snowdrift.plan_reversal(tables oid[]) RETURNS snowdrift.conversion
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
    plan snowdrift.conversion;
BEGIN
    PERFORM snowdrift.check_tables(tables);
    plan.keys := ARRAY(SELECT key FROM snowdrift.key_defaults(ARRAY(
            SELECT (attrelid, attnum)::snowdrift.key_column FROM pg_constraint JOIN pg_attribute ON attrelid = conrelid AND attnum = ANY (conkey)
            WHERE contype = 'p' AND conrelid = ANY (tables) AND attinhcount = 0 AND atttypid = 'int8'::regtype), snowdrift.generator_call(NULL))
        WHERE kind IN ('generator', 'other') ORDER BY key);
    plan."tables" := ARRAY(SELECT DISTINCT k."table" FROM unnest(plan.keys) AS k ORDER BY 1);
    PERFORM snowdrift.check_table_owners(plan."tables");
    RETURN plan;
END $$;

-- A qualified name like that of a serial column's sequence. A kept sequence can have the name already, so it can end with a
-- number.
CREATE FUNCTION snowdrift.free_sequence_name(schema name, stem text, used text[]) RETURNS text
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
DECLARE
    n text := '';
BEGIN
    LOOP
        IF octet_length(stem || '_seq' || n) > 63 THEN
            stem := left(stem, -1);
        ELSIF format('%I.%I', schema, stem || '_seq' || n) = ANY (used)
                OR to_regclass(format('%I.%I', schema, stem || '_seq' || n)) IS NOT NULL THEN
            n := coalesce(nullif(n, '')::integer, 0) + 1;
        ELSE
            RETURN format('%I.%I', schema, stem || '_seq' || n);
        END IF;
    END LOOP;
END $$;

-- The numbers follow all IDs that were drawn: those of deleted rows can be positions of readers, and open transactions can insert others.
-- A sequence of an identity needs no privileges, but before PostgreSQL 17, partitions and inheriting tables have no part in
-- the identity. If a table has these, the keys get a default, which they inherit.
CREATE FUNCTION snowdrift.reversal_statements(plan snowdrift.conversion) RETURNS SETOF text
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
    r record;
    sequence text;
    sequences text[] := '{}';
BEGIN
    RETURN QUERY SELECT s FROM snowdrift.lock_statement(plan, 'ACCESS EXCLUSIVE') AS s WHERE s IS NOT NULL;
    RETURN QUERY SELECT format('ALTER TABLE %s NO FORCE ROW LEVEL SECURITY', snowdrift.qualified_name(oid)) FROM snowdrift.forced_tables(plan) AS oid;
    -- pg_get_serial_sequence() would return an earlier sequence.
    RETURN QUERY SELECT format('ALTER SEQUENCE %s OWNED BY NONE', snowdrift.qualified_name(o.sequence)) FROM snowdrift.owned_sequences(plan.keys) AS o;
    FOR r IN SELECT attname, snowdrift.qualified_name(c.oid) AS name, c.oid, relname, nspname,
                (SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = attrelid AND adnum = attnum) AS expression,
                EXISTS (SELECT FROM snowdrift.watches(attrelid) AS w WHERE w.number = attnum) AS is_watched,
                (SELECT d.generator FROM snowdrift.drawn_ids(attrelid, attnum) AS d WHERE d.generator <> ''
                    AND NOT EXISTS (SELECT FROM snowdrift.generators AS g WHERE (g.kind, g.name) = ('snowflake', d.generator))) AS lost_generator,
                EXISTS (SELECT FROM pg_inherits WHERE inhparent = c.oid) AND NOT (relkind = 'p' AND current_setting('server_version_num')::integer >= 170000) AS has_default
            FROM unnest(plan.keys) AS k JOIN pg_attribute ON attrelid = k."table" AND attnum = k.number
                JOIN pg_class AS c ON c.oid = attrelid JOIN pg_namespace AS n ON n.oid = relnamespace ORDER BY k LOOP
        IF r.lost_generator IS NOT NULL AND r.is_watched THEN
            RAISE 'ID generator "%" of watched table "%" does not exist', r.lost_generator, r.relname USING ERRCODE = '42704',
                HINT = format('Run snowdrift.unwatch(%L), and set positions of readers back to the greatest key at most.', r.name);
        END IF;
        sequence := snowdrift.free_sequence_name(r.nspname, format('%s_%s', r.relname, r.attname), sequences);
        sequences := sequences || sequence;
        IF r.has_default THEN
            RETURN NEXT format('CREATE SEQUENCE %s OWNED BY %s.%I', sequence, r.name, r.attname);
            RETURN QUERY SELECT format('GRANT USAGE ON SEQUENCE %s TO %s', sequence, snowdrift.grantee_name(grantee))
            FROM snowdrift.inserting_roles(r.oid) AS grantee;
            RETURN NEXT format('ALTER TABLE %s ALTER COLUMN %I SET DEFAULT pg_catalog.nextval(%L::pg_catalog.regclass)', r.name, r.attname, sequence);
        ELSE
            RETURN NEXT format('ALTER TABLE %s ALTER COLUMN %I DROP DEFAULT, ALTER COLUMN %I ADD GENERATED BY DEFAULT AS IDENTITY (SEQUENCE NAME %s)',
                r.name, r.attname, r.attname, sequence);
        END IF;
        RETURN NEXT format(CASE WHEN r.lost_generator IS NULL THEN 'SELECT pg_catalog.setval(%L::pg_catalog.regclass, GREATEST(pg_catalog.max(%I), %4$s)) FROM %3$s'
            ELSE 'SELECT pg_catalog.setval(%L::pg_catalog.regclass, pg_catalog.max(%I)) FROM %s HAVING pg_catalog.max(%2$I) > 0' END, sequence, r.attname, r.name, r.expression);
    END LOOP;
    RETURN QUERY SELECT * FROM snowdrift.watch_statements(plan.keys);
    RETURN QUERY SELECT format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', snowdrift.qualified_name(oid)) FROM snowdrift.forced_tables(plan) AS oid;
END $$;

CREATE FUNCTION snowdrift.report_skipped(tables oid[], plan snowdrift.conversion) RETURNS void
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    r record;
BEGIN
    FOR r IN SELECT relname FROM unnest(tables) AS t JOIN pg_class AS c ON c.oid = t WHERE c.oid <> ALL (plan."tables") ORDER BY c.oid LOOP
        RAISE NOTICE 'table "%" is skipped', r.relname USING DETAIL = 'Its primary key draws no Snowflakes.';
    END LOOP;
END $$;

CREATE FUNCTION snowdrift.revert_keys(tables regclass[], dry_run boolean DEFAULT false) RETURNS SETOF text
    LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_variable
DECLARE
    plan snowdrift.conversion;
    statements pg_catalog.text[];
    statement pg_catalog.text;
BEGIN
    IF tables IS NULL OR dry_run IS NULL THEN
        RAISE 'tables and dry_run must not be null' USING ERRCODE = '22004';
    END IF;
    PERFORM snowdrift.check_can_change('snowdrift.revert_keys()', dry_run);
    LOOP
        plan := snowdrift.plan_reversal(tables::pg_catalog.oid[]);
        PERFORM snowdrift.report_skipped(tables::pg_catalog.oid[], plan) WHERE statements IS NULL;
        statements := ARRAY(SELECT * FROM snowdrift.reversal_statements(plan));
        EXIT WHEN dry_run OR pg_catalog.cardinality(statements) OPERATOR(pg_catalog.=) 0;
        BEGIN
            PERFORM snowdrift.lock_exclusively(snowdrift.relations_to_lock(plan) OPERATOR(pg_catalog.||) ARRAY(SELECT o.sequence::pg_catalog.regclass FROM snowdrift.owned_sequences(plan.keys) AS o));
            EXIT WHEN statements OPERATOR(pg_catalog.=)
                ARRAY(SELECT * FROM snowdrift.reversal_statements(snowdrift.plan_reversal(tables::pg_catalog.oid[])));
            RAISE SQLSTATE 'SN001';    -- the tables have changed during the wait
        EXCEPTION WHEN SQLSTATE 'SN001' THEN
        END;
    END LOOP;
    FOREACH statement IN ARRAY statements LOOP
        IF NOT dry_run THEN
            EXECUTE statement;
        END IF;
        RETURN NEXT pg_catalog.concat(statement, ';');
    END LOOP;
END $$;
COMMENT ON FUNCTION snowdrift.revert_keys(regclass[], boolean)
    IS 'make keys of primary keys that draw Snowflake IDs draw from sequences, and return the statements; a dry run only returns them';
