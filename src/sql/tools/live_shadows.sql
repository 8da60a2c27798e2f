-- Conversion of keys while applications write: the shadows. Each smallint or integer column whose type must change gets
-- a shadow: a bigint column that a trigger keeps equal to it. Shadows get indexes, checks and foreign keys like those
-- of their originals, and finally, all of these replace the originals. Their names derive from those of the originals.
-- Therefore, the catalog shows what is missing, also after a crash and in a restored dump, and what has no original any more.

CREATE FUNCTION snowdrift.shadow_name(name text) RETURNS name LANGUAGE sql IMMUTABLE
    RETURN ('_snowdrift_' || CASE WHEN octet_length(name) > 52 THEN md5(name) ELSE name END)::name;

-- The condition that two columns are equal, for checks and queries. IS NOT NULL lets SET NOT NULL rely on the check.
CREATE FUNCTION snowdrift.equality(shadow text, original text, is_required boolean) RETURNS text LANGUAGE sql IMMUTABLE
    RETURN format(CASE WHEN is_required THEN '(%1$s IS NOT NULL AND %1$s OPERATOR(pg_catalog.=) %2$s)'
        ELSE 'coalesce(%1$s OPERATOR(pg_catalog.=) %2$s, %1$s IS NULL AND %2$s IS NULL)' END, shadow, original);

-- The name of the check that a shadow is equal
CREATE FUNCTION snowdrift.equality_name(original text, is_required boolean) RETURNS name LANGUAGE sql IMMUTABLE
    RETURN snowdrift.shadow_name(CASE WHEN is_required THEN 'equal ' ELSE 'equal or null ' END || original);

-- The plan of a conversion, without the triggers that it has added
CREATE FUNCTION snowdrift.plan_live(tables oid[], call text, keep_sequences boolean) RETURNS snowdrift.conversion
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    plan snowdrift.conversion := snowdrift.plan_conversion(tables, NULL, call);
BEGIN
    plan.dependents := ARRAY(SELECT d FROM unnest(plan.dependents) AS d WHERE NOT (class = 'pg_trigger'::regclass
        AND EXISTS (SELECT FROM pg_trigger AS t WHERE t.oid = object AND tgname = '~snowdrift')));
    IF keep_sequences THEN
        plan.new_keys := '{}';
    END IF;
    plan."tables" := snowdrift.tables_to_convert(plan);
    RETURN plan;
END $$;

-- A call that executes statements while tables are locked
CREATE FUNCTION snowdrift.brief_call(tables oid[], statements text) RETURNS text LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
    RETURN format('CALL snowdrift.change_briefly(%L::pg_catalog.regclass[], %L)', ARRAY(SELECT DISTINCT t::regclass FROM unnest(tables) AS t ORDER BY 1), statements);

-- shadow_number: null if the shadow does not exist yet
CREATE FUNCTION snowdrift.shadows(plan snowdrift.conversion, OUT "table" oid, OUT number smallint, OUT name name, OUT shadow name,
        OUT shadow_number smallint, OUT is_required boolean)
    RETURNS SETOF record LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT a.attrelid, a.attnum, a.attname, snowdrift.shadow_name(a.attname), s.attnum, a.attnotnull
    FROM unnest((plan).members) AS m JOIN pg_attribute AS a ON a.attrelid = m."table" AND a.attnum = m.number
        LEFT JOIN pg_attribute AS s ON s.attrelid = a.attrelid AND s.attname = snowdrift.shadow_name(a.attname)
    ORDER BY a.attrelid, a.attnum;
END;

-- The definition of an index from its method on
CREATE FUNCTION snowdrift.index_definition(index oid) RETURNS text
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
BEGIN
    RETURN (SELECT substr(pg_get_indexdef(index), length(format('CREATE %sINDEX %I ON %s ', CASE WHEN indisunique THEN 'UNIQUE ' END,
        relname, snowdrift.qualified_name(indrelid))) + 1) FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid WHERE indexrelid = index);
END $$;

-- The indexes that have names of shadows, and contain shadows
CREATE FUNCTION snowdrift.indexes_of_shadows(tables oid[]) RETURNS SETOF oid LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT indexrelid FROM pg_index JOIN pg_class AS c ON c.oid = indexrelid WHERE indrelid = ANY (tables) AND starts_with(relname, '_snowdrift_')
        AND EXISTS (SELECT FROM pg_depend JOIN pg_attribute ON attrelid = refobjid AND attnum = refobjsubid
            WHERE classid = 'pg_class'::regclass AND objid = indexrelid AND refclassid = classid AND starts_with(attname, '_snowdrift_'));
END;

-- The valid indexes and checks of columns with shadows, their definitions with the shadows, and how PostgreSQL shows what these
-- make. PostgreSQL itself writes all of this, for an empty copy of the table in which the columns are renamed, and then bigint.
CREATE FUNCTION snowdrift.shadow_definitions(plan snowdrift.conversion, OUT "table" oid, OUT class oid, OUT object oid, OUT name name, OUT definition text, OUT made text)
    RETURNS SETOF record LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off SET client_min_messages = warning
    SET timezone = 'UTC' SET datestyle = ISO SET intervalstyle = postgres SET extra_float_digits = 3 AS $$
#variable_conflict use_column
DECLARE
    original oid;
    copy oid;
    r record;
    copies jsonb;    -- of indexes, by their definitions
    indexes jsonb;
    checks jsonb;
    problems text;
BEGIN
    FOR original IN SELECT DISTINCT m."table" FROM unnest(plan.members) AS m ORDER BY 1 LOOP
        BEGIN
            EXECUTE format('CREATE TEMPORARY TABLE _snowdrift_copy (LIKE %s INCLUDING INDEXES INCLUDING CONSTRAINTS)', snowdrift.qualified_name(original));
            FOR r IN SELECT s.shadow FROM snowdrift.shadows(plan) AS s WHERE s."table" = original AND shadow_number IS NOT NULL LOOP
                EXECUTE format('ALTER TABLE pg_temp._snowdrift_copy DROP COLUMN %I CASCADE', r.shadow);
            END LOOP;
            copy := 'pg_temp._snowdrift_copy'::regclass;
            copies := (SELECT jsonb_object_agg(snowdrift.index_definition(indexrelid), relname) FROM pg_index JOIN pg_class AS c ON c.oid = indexrelid WHERE indrelid = copy);
            FOR r IN SELECT s.name, s.shadow FROM snowdrift.shadows(plan) AS s WHERE s."table" = original LOOP
                EXECUTE format('ALTER TABLE pg_temp._snowdrift_copy RENAME COLUMN %I TO %I', r.name, r.shadow);
            END LOOP;
            indexes := (SELECT jsonb_object_agg(relname, snowdrift.index_definition(indexrelid)) FROM pg_index JOIN pg_class AS c ON c.oid = indexrelid WHERE indrelid = copy);
            checks := (SELECT jsonb_object_agg(conname, pg_get_constraintdef(c.oid)) FROM pg_constraint AS c WHERE contype = 'c' AND conrelid = copy);
            FOR r IN SELECT s.shadow FROM snowdrift.shadows(plan) AS s WHERE s."table" = original LOOP
                EXECUTE format('ALTER TABLE pg_temp._snowdrift_copy ALTER COLUMN %I TYPE pg_catalog.int8', r.shadow);
            END LOOP;
            RETURN QUERY SELECT original, 'pg_class'::regclass::oid, o.indexrelid, c.relname, indexes ->> k.relname, snowdrift.index_definition(k.oid)
            FROM pg_index AS o JOIN pg_class AS c ON c.oid = o.indexrelid, LATERAL (SELECT snowdrift.index_definition(o.indexrelid)) AS d(old),
                pg_index AS n JOIN pg_class AS k ON k.oid = n.indexrelid
            WHERE o.indrelid = original AND o.indisvalid AND n.indrelid = copy AND k.relname = copies ->> old AND old <> indexes ->> k.relname;
            RETURN QUERY SELECT original, 'pg_constraint'::regclass::oid, o.oid, o.conname, checks ->> o.conname, pg_get_constraintdef(n.oid) FROM pg_constraint AS o
                JOIN pg_constraint AS n ON n.conname = o.conname AND n.contype = 'c' AND n.conrelid = copy
            WHERE o.conrelid = original AND o.contype = 'c' AND o.convalidated AND pg_get_constraintdef(o.oid) <> checks ->> o.conname;
            RAISE SQLSTATE 'SN001';    -- undoes the copy, and releases its locks
        EXCEPTION WHEN SQLSTATE 'SN001' THEN
            WHEN OTHERS THEN
                IF left(SQLSTATE, 2) IN ('40', '53', '55', '57') THEN    -- not because of the table
                    RAISE;
                END IF;
                problems := concat_ws(E'\n', problems, format('The indexes and checks of table %s cannot be created for bigint columns: %s', original::regclass, SQLERRM));
        END;
    END LOOP;
    IF problems IS NOT NULL THEN
        RAISE 'cannot convert keys while applications write' USING ERRCODE = '0A000', DETAIL = problems, HINT = 'Change or drop what does not work for bigint, or while search_path is pg_catalog.';
    END IF;
END $$;

-- The foreign keys of columns with shadows, and their definitions with the shadows
CREATE FUNCTION snowdrift.shadow_references(plan snowdrift.conversion, OUT "table" oid, OUT other oid, OUT object oid, OUT name name, OUT definition text)
    RETURNS SETOF record LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY WITH s AS MATERIALIZED (
        SELECT * FROM snowdrift.shadows(plan)
    ), parts AS (
        SELECT c.oid, is_source, string_agg(quote_ident(attname), ', ' ORDER BY n) AS old, string_agg(quote_ident(coalesce(shadow, attname)), ', ' ORDER BY n) AS new,
            bool_or(shadow IS NOT NULL) AS is_changed
        FROM pg_constraint AS c CROSS JOIN LATERAL (VALUES (true, conrelid, conkey), (false, confrelid, confkey)) AS v(is_source, relation, numbers)
            CROSS JOIN unnest(numbers) WITH ORDINALITY AS u(number, n) JOIN pg_attribute ON attrelid = relation AND attnum = u.number
            LEFT JOIN s ON s."table" = relation AND s.number = u.number
        WHERE contype = 'f' AND NOT starts_with(conname, '_snowdrift_') GROUP BY c.oid, is_source
    )
    SELECT conrelid, confrelid, c.oid, conname, format('FOREIGN KEY (%s) REFERENCES %s(%s)', f.new, confrelid::regclass, t.new)
        || regexp_replace(substr(pg_get_constraintdef(c.oid), length(format('FOREIGN KEY (%s) REFERENCES %s(%s)', f.old, confrelid::regclass, t.old)) + 1), ' NOT VALID$', '')
        || CASE WHEN condeferrable AND NOT condeferred THEN ' INITIALLY DEFERRED' ELSE '' END    -- SET CONSTRAINTS does not name it
    FROM pg_constraint AS c JOIN parts AS f ON f.oid = c.oid AND f.is_source JOIN parts AS t ON t.oid = c.oid AND NOT t.is_source
    WHERE f.is_changed OR t.is_changed ORDER BY conrelid, c.oid;
END $$;

-- What prevents a conversion while applications write, with the remedies, except for what also prevents convert_keys
CREATE FUNCTION snowdrift.live_refusals(plan snowdrift.conversion, fire_triggers boolean) RETURNS SETOF text
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
    members CONSTANT oid[] := ARRAY(SELECT DISTINCT m."table" FROM unnest(plan.members) AS m);
BEGIN
    RETURN QUERY WITH references_of AS MATERIALIZED (
        SELECT * FROM snowdrift.shadow_references(plan)
    ), shadows AS MATERIALIZED (
        SELECT * FROM snowdrift.shadows(plan)
    ), used AS MATERIALIZED (    -- what depends on columns with shadows
        SELECT DISTINCT classid, objid FROM shadows AS s JOIN pg_depend ON refclassid = 'pg_class'::regclass AND refobjid = s."table" AND refobjsubid = s.number
    ), used_indexes AS MATERIALIZED (
        SELECT objid AS index FROM used WHERE classid = 'pg_class'::regclass
        UNION SELECT conindid FROM used JOIN pg_constraint ON classid = 'pg_constraint'::regclass AND oid = objid AND contype IN ('p', 'u', 'x')
    ), changed AS MATERIALIZED (
        SELECT c.*, oid::regclass AS name, oid = ANY (members) AS is_member FROM pg_class AS c WHERE oid = ANY (members)
            OR oid IN (SELECT "table" FROM references_of) OR oid IN (SELECT other FROM references_of)
    )
    SELECT format('table %s is partitioned; use convert_keys()', name) FROM changed WHERE relkind = 'p' OR relispartition
    UNION ALL SELECT format('table %s inherits, or is inherited from; use convert_keys()', name) FROM changed
        WHERE NOT relispartition AND relkind = 'r' AND EXISTS (SELECT FROM pg_inherits WHERE oid IN (inhrelid, inhparent))
    UNION ALL SELECT format('table %s is temporary; use convert_keys()', name) FROM changed WHERE is_member AND relpersistence = 't'
    UNION ALL SELECT format('row-level security hides rows of table %s from its owner; use convert_keys()', f::regclass) FROM snowdrift.forced_tables(plan) AS f
    UNION ALL SELECT DISTINCT format('role %s may not create objects in schema %s; run GRANT CREATE ON SCHEMA %s TO %s;', current_user, s, s, quote_ident(current_user))
        FROM changed, LATERAL (SELECT relnamespace::regnamespace) AS n(s) WHERE NOT has_schema_privilege(relnamespace, 'CREATE')
    UNION ALL SELECT format('role %s may not create temporary tables, which are needed to copy definitions; run GRANT TEMPORARY ON DATABASE %I TO %I;', current_user, current_database(), current_user)
        WHERE cardinality(members) > 0 AND NOT has_database_privilege(current_database(), 'TEMPORARY')
    UNION ALL SELECT format('table %s is published (%s), and subscribers lack the new columns; let no publication contain it, and let the subscribers copy it again afterwards',
            name, string_agg(DISTINCT pubname, ', ')) FROM changed JOIN pg_namespace AS n ON n.oid = relnamespace
            JOIN pg_publication_tables ON schemaname = nspname AND tablename = relname WHERE is_member GROUP BY name
    UNION ALL SELECT format(CASE contype WHEN 'x' THEN 'constraint %I of table %s is an exclusion constraint; drop it, and add it again afterwards'
            ELSE 'constraint %I of table %s is deferrable, and permits equal keys for a while; replace it by one that is not, and change it back afterwards' END, conname, name)
        FROM changed AS c JOIN pg_constraint AS k ON conrelid = c.oid
        WHERE (contype = 'x' OR contype IN ('p', 'u') AND condeferrable) AND conindid IN (SELECT index FROM used_indexes)
    UNION ALL SELECT format('check %I of table %s is not valid, and rows that violate it cannot be copied; run ALTER TABLE %s VALIDATE CONSTRAINT %I;', conname, name, name, conname)
        FROM changed AS c JOIN pg_constraint ON conrelid = c.oid WHERE is_member AND contype = 'c' AND NOT convalidated AND NOT starts_with(conname, '_snowdrift_')
    UNION ALL SELECT format('foreign key %I of table %s sets only some of its columns; drop it, and add it again afterwards', k.conname, k.conrelid::regclass)
        FROM references_of JOIN pg_constraint AS k ON k.oid = object WHERE confdelsetcols IS NOT NULL
    -- PostgreSQL runs the actions of foreign keys in the order of OIDs as texts, so that those of the shadow can be first.
    UNION ALL SELECT format('foreign key %I of table %s %s; replace it by one with NO ACTION until the swap', k.conname, k.conrelid::regclass,
            CASE WHEN 'd' IN (confdeltype, confupdtype) THEN 'sets a default' ELSE 'also changes columns that stay' END)
        FROM references_of JOIN pg_constraint AS k ON k.oid = object, LATERAL (SELECT count(*) FROM shadows AS s WHERE s."table" = conrelid AND s.number = ANY (conkey)) AS n(shadowed)
        WHERE shadowed > 0 AND ('d' IN (confdeltype, confupdtype) OR shadowed < cardinality(conkey) AND (confdeltype = 'n' OR confupdtype IN ('c', 'n')))
    UNION ALL SELECT format('statistics object %1$s belongs to %2$s, and would be created again; run ALTER STATISTICS %1$s OWNER TO %4$I; and GRANT CREATE ON SCHEMA %3$I TO %4$I;',
            format('%I.%I', nspname, stxname), stxowner::regrole, nspname, current_user)
        FROM used JOIN pg_statistic_ext AS x ON classid = 'pg_statistic_ext'::regclass AND x.oid = objid JOIN pg_namespace AS n ON n.oid = stxnamespace
        WHERE NOT pg_has_role(stxowner, 'USAGE') OR NOT has_schema_privilege(n.oid, 'CREATE') OR NOT has_schema_privilege(stxowner, n.oid, 'CREATE')
    UNION ALL SELECT DISTINCT format('sequence %s is not of type bigint, and belongs to %s; run ALTER SEQUENCE %1$s AS bigint;', seqrelid::regclass, relowner::regrole)
        FROM shadows AS s JOIN pg_attrdef AS a ON adrelid = s."table" AND adnum = s.number JOIN pg_depend AS d ON d.classid = 'pg_attrdef'::regclass AND d.objid = a.oid
            JOIN pg_sequence ON d.refclassid = 'pg_class'::regclass AND d.refobjid = seqrelid JOIN pg_class AS c ON c.oid = seqrelid
        WHERE seqtypid <> 'int8'::regtype AND NOT pg_has_role(relowner, 'USAGE') AND (s."table", s.number)::snowdrift.key_column <> ALL (plan.new_keys)
    UNION ALL SELECT DISTINCT format('%s depends on column %I of table %s, which the conversion has added; drop it', pg_describe_object(d.classid, d.objid, d.objsubid), s.shadow, s."table"::regclass)
        FROM shadows AS s JOIN pg_depend AS d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = s."table" AND d.refobjsubid = s.shadow_number
        WHERE d.classid IN ('pg_rewrite'::regclass, 'pg_policy'::regclass, 'pg_publication_rel'::regclass, 'pg_statistic_ext'::regclass)
            OR d.objid IN (SELECT k.oid FROM pg_constraint AS k WHERE contype = 'f' AND NOT starts_with(conname, '_snowdrift_'))
    UNION ALL SELECT format('table %s has columns that these keys do not need; name all tables of the conversion, or run abandon_script(''{%s}'')', name, name) FROM changed
        WHERE is_member AND EXISTS (SELECT FROM pg_attribute WHERE attrelid = changed.oid AND NOT attisdropped AND starts_with(attname, '_snowdrift_')
            AND NOT EXISTS (SELECT FROM shadows AS s WHERE s."table" = attrelid AND shadow_number = attnum))
    UNION ALL SELECT DISTINCT format('table %s no longer refers to table %s, but has columns of its conversion; run abandon_script(''{%s}'')', conrelid::regclass, confrelid::regclass, conrelid::regclass)
        FROM pg_constraint JOIN pg_class AS c ON c.oid = conrelid WHERE contype = 'f' AND starts_with(conname, '_snowdrift_') AND confrelid = ANY (members) AND conrelid <> ALL (members)
            AND conrelid NOT IN (SELECT "table" FROM references_of) AND pg_has_role(relowner, 'USAGE')
            AND EXISTS (SELECT FROM pg_attribute WHERE attrelid = conrelid AND starts_with(attname, '_snowdrift_') AND NOT attisdropped)
    UNION ALL SELECT format('column %I of table %s refers to a key, and is generated; drop the foreign key, and add it again afterwards', attname, attrelid::regclass)
        FROM unnest(plan.members) AS m JOIN pg_attribute ON attrelid = m."table" AND attnum = m.number WHERE attgenerated <> ''
    UNION ALL SELECT format('table %s is watched; call snowdrift.unwatch(''%1$s'') first, and snowdrift.watch(''%1$s'') after the conversion', name) FROM changed WHERE EXISTS (SELECT FROM snowdrift.watches(changed.oid::regclass))
    UNION ALL SELECT format('trigger %I of table %s would fire for each row that is copied; disable it meanwhile, grant SET ON PARAMETER session_replication_role, or set fire_triggers', tgname, name)
        FROM changed JOIN pg_trigger ON tgrelid = changed.oid WHERE is_member AND NOT fire_triggers AND NOT tgisinternal AND tgname <> '~snowdrift' AND tgfoid NOT IN (SELECT p.oid FROM pg_proc AS p WHERE pronamespace = 'snowdrift'::regnamespace)
            AND tgtype & 16 > 0 AND tgattr = '' AND tgenabled <> 'D'
            AND NOT (tgenabled = 'O' AND has_parameter_privilege('session_replication_role', 'SET'))
    UNION ALL SELECT format('function %s, whose name the conversion needs, belongs to role %s; let it be renamed, or run ALTER FUNCTION %1$s OWNER TO %3$I;', p.oid::regprocedure, proowner::regrole, current_user)
        FROM changed JOIN pg_proc AS p ON pronamespace = relnamespace AND proname = snowdrift.shadow_name(relname) AND pronargs = 0
        WHERE is_member AND NOT pg_has_role(proowner, 'USAGE')
    UNION ALL SELECT format('relation %s has a name that the conversion needs; drop or rename it', other.oid::regclass)
        FROM changed JOIN pg_index ON indrelid = changed.oid JOIN pg_class AS i ON i.oid = indexrelid
            JOIN pg_class AS other ON other.relnamespace = i.relnamespace AND other.relname = snowdrift.shadow_name(i.relname)
        WHERE is_member AND NOT EXISTS (SELECT FROM pg_index AS x WHERE x.indexrelid = other.oid AND x.indrelid = changed.oid)
    UNION ALL SELECT format('foreign key %I of table %s needs index %s, which contains another key; drop it, and add it again afterwards', conname, conrelid::regclass, conindid::regclass)
        FROM pg_constraint WHERE contype = 'f' AND NOT starts_with(conname, '_snowdrift_') AND oid NOT IN (SELECT object FROM references_of)
            AND conindid IN (SELECT index FROM used_indexes)
    UNION ALL SELECT format('rule %I of table %s would change or replace the copy of each row; disable it meanwhile', rulename, name)
        FROM changed JOIN pg_rewrite ON ev_class = changed.oid WHERE is_member AND ev_type = '2' AND ev_enabled <> 'D'
            AND NOT (ev_enabled = 'O' AND has_parameter_privilege('session_replication_role', 'SET'))
    UNION ALL SELECT format('trigger %I of table %s would fire after the one that fills the new columns; rename it so that it sorts before "~snowdrift"', tgname, name)
        FROM changed JOIN pg_trigger ON tgrelid = changed.oid WHERE is_member AND tgtype & 3 = 3 AND tgname COLLATE "C" > '~snowdrift'
    ORDER BY 1;
END $$;

-- The functions that can fail, or confuse columns, because columns are added at the end of a table
CREATE FUNCTION snowdrift.column_order_risks(plan snowdrift.conversion) RETURNS SETOF text
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT DISTINCT format('-- warning: column order: %s: it can fail or confuse columns, because it %s; name the columns there', function::regprocedure, reason)
    FROM snowdrift.functions_near(plan) JOIN pg_proc AS p ON p.oid = function, unnest(plan.members) AS m JOIN pg_class AS c ON c.oid = m."table",
        LATERAL (VALUES (format('inserts into %s without a list of columns', c.oid::regclass), lower(prosrc)
                ~ format('[[:<:]](insert[[:space:]]+into|copy)[[:space:]]+("?[[:alnum:]_$]+"?[.])?"?%s"?[[:space:]]+(overriding|values|select|table|with|from|[(][[:space:]]*(select|values|with))[[:>:]]',
                    regexp_replace(lower(relname), '[^[:alnum:]_]', '.', 'g'))),
            (format('inserts all columns of rows, which can be those of %s', c.oid::regclass), lower(prosrc)
                ~ '[[:<:]]insert[[:>:]][^;]*([[:alnum:]_$"][)]?[.][*]|[[:<:]](select|returning)[[:space:]]+[*])'),
            (format('declares variables with %%ROWTYPE of %s', c.oid::regclass), lower(prosrc)
                ~ format('[[:<:]]%s"?[[:space:]]*%%[[:space:]]*rowtype', regexp_replace(lower(relname), '[^[:alnum:]_]', '.', 'g'))),
            (format('returns or takes rows of %s', c.oid::regclass), c.reltype = ANY (coalesce(proallargtypes, proargtypes::oid[]) || prorettype))) AS r(reason, is_at_risk)
    WHERE is_at_risk ORDER BY 1;
END $$;
