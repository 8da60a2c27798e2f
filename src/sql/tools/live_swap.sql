-- Conversion of keys while applications write: the swap, in which the shadows take the places of their originals.

-- The statements of the swap. Dropping an original also drops its indexes, checks and statistics objects, and the
-- sequences that it owns.
CREATE FUNCTION snowdrift.swap_statements(plan snowdrift.conversion, keep_sequences boolean, path text) RETURNS SETOF text
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off
    SET timezone = 'UTC' SET datestyle = ISO SET intervalstyle = postgres SET extra_float_digits = 3 AS $$
#variable_conflict use_column
DECLARE
    later text[] := '{}';
    t record;
    r record;
BEGIN
    RETURN QUERY SELECT * FROM snowdrift.statements_before(plan);
    RETURN QUERY SELECT * FROM snowdrift.default_statements(plan);
    FOR r IN SELECT *, snowdrift.qualified_name("table") AS source FROM snowdrift.shadow_references(plan) LOOP
        RETURN NEXT format('ALTER TABLE %s DROP CONSTRAINT %I', r.source, r.name);
        later := later || format('ALTER TABLE %s RENAME CONSTRAINT %I TO %I', r.source, snowdrift.shadow_name(r.name), r.name)
            || ARRAY(SELECT format('ALTER TABLE %s ALTER CONSTRAINT %I DEFERRABLE INITIALLY IMMEDIATE', r.source, r.name) FROM pg_constraint AS c
                WHERE c.oid = r.object AND condeferrable AND NOT condeferred)
            || ARRAY(SELECT format('COMMENT ON CONSTRAINT %I ON %s IS %L', r.name, r.source, d) FROM obj_description(r.object, 'pg_constraint') AS d WHERE d IS NOT NULL);
    END LOOP;

    RETURN QUERY SELECT DISTINCT format('ALTER SEQUENCE %s AS pg_catalog.int8', snowdrift.qualified_name(seqrelid))    -- those of defaults that are not owned
    FROM unnest(plan.members) AS m JOIN pg_attrdef AS a ON adrelid = m."table" AND adnum = m.number JOIN pg_depend AS d ON d.classid = 'pg_attrdef'::regclass AND d.objid = a.oid
        JOIN pg_sequence ON d.refclassid = 'pg_class'::regclass AND d.refobjid = seqrelid JOIN pg_class AS c ON c.oid = seqrelid
    WHERE keep_sequences AND seqtypid <> 'int8'::regtype AND pg_has_role(relowner, 'USAGE');

    FOR r IN SELECT s.*, a.*, snowdrift.qualified_name(s."table") AS table_name, (s."table", s.number)::snowdrift.key_column = ANY (plan.new_keys) AS is_new,
                CASE WHEN attidentity = '' THEN pg_get_expr(adbin, adrelid) END AS value, col_description(attrelid, attnum) AS comment, conname
            FROM snowdrift.shadows(plan) AS s JOIN pg_attribute AS a ON attrelid = s."table" AND attnum = s.number
                LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum LEFT JOIN pg_constraint AS c ON conrelid = attrelid AND contype = 'n' AND conkey = ARRAY[attnum] LOOP
        IF r.conname IS NOT NULL THEN    -- from PostgreSQL 18 on
            RETURN NEXT format('ALTER TABLE %s ADD CONSTRAINT %I NOT NULL %I', r.table_name, snowdrift.shadow_name(r.conname), r.shadow);
            later := later || format('ALTER TABLE %s RENAME CONSTRAINT %I TO %I', r.table_name, snowdrift.shadow_name(r.conname), r.conname);
        ELSIF r.is_required THEN
            RETURN NEXT format('ALTER TABLE %s ALTER COLUMN %I SET NOT NULL', r.table_name, r.shadow);
        END IF;
        FOR t IN SELECT o.*, snowdrift.qualified_name(o.sequence) AS name, q.* FROM snowdrift.owned_sequences(ARRAY[(r."table", r.number)::snowdrift.key_column]) AS o
                JOIN pg_sequence AS q ON q.seqrelid = o.sequence WHERE o.sequence NOT IN (SELECT u.sequence FROM snowdrift.unused_sequences(plan) AS u) LOOP
            IF t.is_identity THEN    -- cannot be given to another column: a new sequence continues after it
                later := later || format('ALTER TABLE %s ALTER COLUMN %I ADD GENERATED %s AS IDENTITY (SEQUENCE NAME %s INCREMENT BY %s MINVALUE %s %s START WITH %s CACHE %s %sCYCLE)',
                    r.table_name, r.name, CASE r.attidentity WHEN 'a' THEN 'ALWAYS' ELSE 'BY DEFAULT' END, t.name, t.seqincrement, t.seqmin,
                    CASE WHEN t.seqmax NOT IN (32767, 2147483647) THEN format('MAXVALUE %s', t.seqmax) END, t.seqstart, t.seqcache, CASE WHEN NOT t.seqcycle THEN 'NO ' END)
                    || ARRAY(SELECT format('REVOKE ALL ON SEQUENCE %s FROM %s', t.name, snowdrift.grantee_name(grantee))
                        FROM pg_class AS c JOIN pg_default_acl ON defaclrole = relowner AND defaclobjtype = 'S' AND defaclnamespace IN (0, relnamespace), aclexplode(defaclacl)
                        WHERE c.oid = t.sequence AND grantee <> relowner)
                    || ARRAY(SELECT format('GRANT %s ON SEQUENCE %s TO %s%s', privilege_type, t.name, snowdrift.grantee_name(grantee),
                        CASE WHEN is_grantable THEN ' WITH GRANT OPTION' END) FROM pg_class AS c, aclexplode(relacl) WHERE c.oid = t.sequence AND grantee <> relowner)
                    || ARRAY(SELECT format('COMMENT ON SEQUENCE %s IS %L', t.name, d) FROM obj_description(t.sequence, 'pg_class') AS d WHERE d IS NOT NULL);
            ELSE
                RETURN NEXT format('ALTER SEQUENCE %s OWNED BY NONE', t.name);
                later := later || format('ALTER SEQUENCE %s OWNED BY %s.%I', t.name, r.table_name, r.name);
            END IF;
        END LOOP;
        later := format('ALTER TABLE %s RENAME COLUMN %I TO %I', r.table_name, r.shadow, r.name) || later    -- before all others
            || CASE WHEN r.is_new OR r.value IS NOT NULL THEN ARRAY[format('ALTER TABLE %s ALTER COLUMN %I SET DEFAULT %s', r.table_name, r.name, CASE WHEN r.is_new THEN plan.call ELSE coalesce(substring(r.value FROM '^[(](nextval[(].*[)])[)]::(?:smallint|integer)$'), r.value) END)] ELSE '{}' END
            || CASE WHEN r.attstattarget >= 0 THEN ARRAY[format('ALTER TABLE %s ALTER COLUMN %I SET STATISTICS %s', r.table_name, r.name, r.attstattarget)] ELSE '{}' END
            || ARRAY(SELECT format('ALTER TABLE %s ALTER COLUMN %I SET (%s)', r.table_name, r.name, o) FROM unnest(r.attoptions) AS o WHERE starts_with(o, 'n_distinct'))
            || ARRAY(SELECT format('SECURITY LABEL FOR %I ON COLUMN %s.%I IS %L', provider, r.table_name, r.name, label)
                FROM pg_seclabel WHERE classoid = 'pg_class'::regclass AND objoid = r."table" AND objsubid = r.number)
            || format('COMMENT ON COLUMN %s.%I IS %L', r.table_name, r.name, r.comment);    -- removes the progress, too
    END LOOP;
    RETURN QUERY SELECT s FROM pg_trigger, unnest(ARRAY[format('DROP TRIGGER "~snowdrift" ON %s', snowdrift.qualified_name(tgrelid)), format('DROP FUNCTION %s', tgfoid::regprocedure)])
        WITH ORDINALITY AS t(s, n) WHERE tgname = '~snowdrift' AND tgrelid IN (SELECT m."table" FROM unnest(plan.members) AS m) ORDER BY tgrelid, n;

    FOR r IN SELECT d.*, snowdrift.qualified_name(d."table") AS table_name, nspname, k.oid AS constraint_oid, k.contype, i.*, snowdrift.shadow_name(d.name) AS shadow
            FROM snowdrift.shadow_definitions(plan) AS d JOIN pg_class AS c ON c.oid = d."table" JOIN pg_namespace AS n ON n.oid = c.relnamespace
                LEFT JOIN pg_index AS i ON indexrelid = d.object
                LEFT JOIN pg_constraint AS k ON d.object IN (k.oid, k.conindid) AND k.contype IN ('p', 'u', 'c') AND k.conrelid = d."table" ORDER BY d."table", d.object LOOP
        later := later
            || CASE WHEN r.class = 'pg_constraint'::regclass THEN ARRAY[format('ALTER TABLE %s RENAME CONSTRAINT %I TO %I', r.table_name, r.shadow, r.name)] ELSE
                ARRAY(SELECT format('ALTER TABLE %I.%I RENAME COLUMN %I TO %I', r.nspname, r.shadow, s.shadow, s.name) FROM pg_attribute
                    JOIN snowdrift.shadows(plan) AS s ON s."table" = r."table" AND s.shadow = attname WHERE attrelid = to_regclass(format('%I.%I', r.nspname, r.shadow)))
                || format('ALTER INDEX %I.%I RENAME TO %I', r.nspname, r.shadow, r.name)
                || ARRAY(SELECT format('ALTER INDEX %I.%I ALTER COLUMN %s SET STATISTICS %s', r.nspname, r.name, attnum, attstattarget) FROM pg_attribute
                    WHERE attrelid = r.object AND attstattarget >= 0
                        AND EXISTS (SELECT FROM pg_index AS x WHERE x.indexrelid = to_regclass(format('%I.%I', r.nspname, r.shadow)) AND x.indkey[attnum - 1] = 0)) END
            || ARRAY(SELECT x FROM (VALUES
                (1, r.contype IN ('p', 'u'), format('ALTER TABLE %s ADD CONSTRAINT %I %s USING INDEX %I', r.table_name, r.name, CASE r.contype WHEN 'p' THEN 'PRIMARY KEY' ELSE 'UNIQUE' END, r.name)),
                (2, r.indisreplident, format('ALTER TABLE %s REPLICA IDENTITY USING INDEX %I', r.table_name, r.name)),
                (3, r.indisclustered, format('ALTER TABLE %s CLUSTER ON %I', r.table_name, r.name)),
                (4, r.constraint_oid IS NOT NULL, format('COMMENT ON CONSTRAINT %I ON %s IS %L', r.name, r.table_name, obj_description(r.constraint_oid, 'pg_constraint'))),
                (5, r.class = 'pg_class'::regclass, format('COMMENT ON INDEX %I.%I IS %L', r.nspname, r.name, obj_description(r.object, 'pg_class')))) AS v(n, is_used, x)
                WHERE is_used AND x NOT LIKE '% IS NULL' ORDER BY n);
    END LOOP;
    FOR r IN SELECT DISTINCT ON (s.oid) s.*, format('%I.%I', nspname, stxname) AS name, obj_description(s.oid, 'pg_statistic_ext') AS comment
            FROM pg_statistic_ext AS s JOIN pg_namespace AS n ON n.oid = stxnamespace JOIN pg_depend ON classid = 'pg_statistic_ext'::regclass AND objid = s.oid
                JOIN unnest(plan.members) AS m ON refclassid = 'pg_class'::regclass AND refobjid = m."table" AND refobjsubid = m.number ORDER BY s.oid LOOP
        later := later || pg_get_statisticsobjdef(r.oid) || ARRAY(SELECT format('ALTER STATISTICS %s OWNER TO %s', r.name, r.stxowner::regrole) WHERE pg_get_userbyid(r.stxowner) <> current_user)
            || CASE WHEN r.stxstattarget >= 0 THEN ARRAY[format('ALTER STATISTICS %s SET STATISTICS %s', r.name, r.stxstattarget)] ELSE '{}' END
            || format('COMMENT ON STATISTICS %s IS %L', r.name, r.comment);
    END LOOP;

    RETURN QUERY SELECT format('ALTER TABLE %s %s', snowdrift.qualified_name(s."table"), string_agg(format('DROP COLUMN %I', s.name), ', ' ORDER BY number))
    FROM snowdrift.shadows(plan) AS s GROUP BY s."table" ORDER BY s."table";
    RETURN QUERY SELECT unnest(later);
    RETURN QUERY SELECT * FROM snowdrift.statements_after(plan, path);
END $$;

-- The statements that can be made only under the exclusive locks, because weaker locks do not protect what they copy:
-- the privileges on columns, and the positions of the sequences of identities
CREATE FUNCTION snowdrift.late_statements(plan snowdrift.conversion) RETURNS SETOF text
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
    name text;
    last record;
BEGIN
    RETURN QUERY SELECT format('GRANT %s (%I) ON %s TO %s%s', privilege_type, attname, snowdrift.qualified_name(attrelid),
        snowdrift.grantee_name(grantee), CASE WHEN is_grantable THEN ' WITH GRANT OPTION' END)
    FROM unnest(plan.members) AS m JOIN pg_attribute ON attrelid = m."table" AND attnum = m.number, aclexplode(attacl)
    ORDER BY attrelid, attnum, grantee, privilege_type;
    FOR name IN SELECT snowdrift.qualified_name(sequence) FROM snowdrift.owned_sequences(plan.members) AS o
            WHERE is_identity AND o.key <> ALL (plan.new_keys) LOOP
        EXECUTE format('SELECT last_value, is_called FROM %s', name) INTO last;
        RETURN NEXT format('SELECT pg_catalog.setval(%L::pg_catalog.regclass, %s, %L)', name, last.last_value, last.is_called);
    END LOOP;
END $$;

-- The swap is planned while the tables are locked only against changes of their definitions. If another object begins to
-- depend on a column meanwhile, dropping the column fails, and nothing is changed.
CREATE PROCEDURE snowdrift.swap_keys(tables regclass[], generator text DEFAULT NULL, keep_sequences boolean DEFAULT false) LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
    call CONSTANT pg_catalog.text := snowdrift.generator_call(generator);
    plan snowdrift.conversion := snowdrift.plan_live(tables::pg_catalog.oid[], call, keep_sequences);
    locked CONSTANT pg_catalog.oid[] := plan."tables";
    relation pg_catalog.regclass;
    relations pg_catalog.regclass[];
    privileges pg_catalog.text;
    first_id pg_catalog.int8;
    path CONSTANT pg_catalog.text := pg_catalog.current_setting('search_path');
    schemas pg_catalog.text[];
    statements pg_catalog.text[];
    statement pg_catalog.text;
BEGIN
    FOREACH relation IN ARRAY locked LOOP
        PERFORM snowdrift.lock_against_changes(relation);
    END LOOP;
    plan := snowdrift.plan_live(tables::pg_catalog.oid[], call, keep_sequences);
    IF locked OPERATOR(pg_catalog.=) '{}'::pg_catalog.oid[] THEN
        RAISE 'the keys of the tables are already converted' USING ERRCODE = '55000', HINT = 'If columns whose names begin with _snowdrift_ are left, run abandon_script().';
    ELSIF plan."tables" OPERATOR(pg_catalog.<>) locked OR EXISTS (SELECT FROM snowdrift.preparing_statements(plan, 1)) THEN
        RAISE 'steps before the swap are missing, or tables have changed since' USING ERRCODE = '55000', HINT = 'Run the script again.';
    END IF;
    PERFORM snowdrift.check_obstacles(plan, ARRAY(SELECT * FROM snowdrift.live_refusals(plan, true)));
    IF NOT keep_sequences THEN
        EXECUTE pg_catalog.concat('SELECT ', call) INTO first_id;
        PERFORM snowdrift.check_keys(plan, first_id, false);
    END IF;
    schemas := snowdrift.schemas_of(plan);
    relations := snowdrift.relations_to_swap(plan);
    privileges := snowdrift.privileges_of(relations);
    statements := ARRAY(SELECT * FROM snowdrift.swap_statements(plan, keep_sequences, path));
    PERFORM snowdrift.check_not_reserved(plan."tables"::pg_catalog.regclass[]);
    PERFORM snowdrift.lock_exclusively(relations);
    IF snowdrift.privileges_of(relations) OPERATOR(pg_catalog.<>) privileges THEN
        RAISE 'tables have changed during the conversion' USING ERRCODE = '55000', HINT = 'Run the script again.';
    END IF;
    PERFORM pg_catalog.set_config('lock_timeout', '400ms', true);    -- for locks of other relations
    PERFORM snowdrift.check_schemas(schemas);
    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);    -- for which the definitions are written
    FOREACH statement IN ARRAY statements OPERATOR(pg_catalog.||) ARRAY(SELECT * FROM snowdrift.late_statements(plan)) LOOP
        EXECUTE statement;
    END LOOP;
    PERFORM pg_catalog.set_config('search_path', path, true);
    PERFORM snowdrift.check_schemas(schemas);
END $$;
COMMENT ON PROCEDURE snowdrift.swap_keys(regclass[], text, boolean) IS 'replace keys by the columns to which they have been copied, in one short transaction';

-- What statements of the swap restore, and no weaker lock protects: the privileges and comments of views and sequences
CREATE FUNCTION snowdrift.privileges_of(relations regclass[]) RETURNS text LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT coalesce(string_agg(concat_ws(' ', oid, relacl, reloptions, (SELECT string_agg(concat(attnum, attacl), ' ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = c.oid),
        (SELECT string_agg(description, ' ' ORDER BY objsubid) FROM pg_description WHERE objoid = c.oid AND classoid = 'pg_class'::regclass)), ' ' ORDER BY oid), '')
    FROM pg_class AS c WHERE oid = ANY (relations) AND relkind IN ('v', 'S');
END;

-- The relations that a conversion locks, and the sequences that stay
CREATE FUNCTION snowdrift.relations_to_swap(plan snowdrift.conversion) RETURNS regclass[]
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN snowdrift.relations_to_lock(plan) || ARRAY(SELECT sequence::regclass FROM snowdrift.owned_sequences(plan.members)
        WHERE sequence NOT IN (SELECT u.sequence FROM snowdrift.unused_sequences(plan) AS u));
END $$;
