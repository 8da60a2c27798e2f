-- Conversion of keys while applications write: the steps before the swap.

-- The checks that tables need until the swap: that shadows are equal, and those like the checks of their originals. made: how
-- PostgreSQL shows them; null if the name determines the definition
CREATE FUNCTION snowdrift.wanted_checks(plan snowdrift.conversion, definitions jsonb, OUT "table" oid, OUT name name, OUT definition text, OUT made text, OUT is_equality boolean)
    RETURNS SETOF record LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT s."table", snowdrift.equality_name(s.name, s.is_required),
        format('CHECK (%s)', snowdrift.equality(quote_ident(s.shadow), quote_ident(s.name), s.is_required)), NULL::text, true
    FROM snowdrift.shadows(plan) AS s
    UNION ALL SELECT d."table", snowdrift.shadow_name(d.name), d.definition, d.made, false
    FROM jsonb_to_recordset(definitions) AS d("table" oid, class oid, name name, definition text, made text) WHERE d.class = 'pg_constraint'::regclass;
END $$;

-- The shadows of constraints and indexes whose originals were dropped or changed since: the statements that drop them
CREATE FUNCTION snowdrift.stale_shadows(plan snowdrift.conversion, definitions jsonb, OUT object oid, OUT statement text) RETURNS SETOF record
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off
    SET timezone = 'UTC' SET datestyle = ISO SET intervalstyle = postgres SET extra_float_digits = 3 AS $$
#variable_conflict use_column
DECLARE
    changed CONSTANT oid[] := plan."tables" || ARRAY(SELECT m."table" FROM unnest(plan.members) AS m);
BEGIN
    RETURN QUERY WITH wanted("table", name, made) AS MATERIALIZED (
        SELECT k."table", k.name, k.made FROM snowdrift.wanted_checks(plan, definitions) AS k
        UNION ALL SELECT d."table", snowdrift.shadow_name(d.name), concat(CASE WHEN indisunique THEN 'UNIQUE ' END, d.made, ' ' || nullif(reltablespace, 0))
        FROM jsonb_to_recordset(definitions) AS d("table" oid, class oid, object oid, name name, made text)
            JOIN pg_index ON indexrelid = d.object JOIN pg_class AS c ON c.oid = indexrelid WHERE d.class = 'pg_class'::regclass
        UNION ALL SELECT r."table", snowdrift.shadow_name(r.name), r.definition FROM snowdrift.shadow_references(plan) AS r
    ), shadow(relation, number) AS MATERIALIZED (
        SELECT attrelid, attnum FROM pg_attribute WHERE starts_with(attname, '_snowdrift_') AND NOT attisdropped
    ), existing(step, object, "table", other, name, made, index) AS MATERIALIZED (
        SELECT CASE contype WHEN 'f' THEN 1 ELSE 2 END, c.oid, conrelid, confrelid, conname, regexp_replace(pg_get_constraintdef(c.oid), ' NOT VALID$', ''), conindid
        FROM pg_constraint AS c JOIN pg_class AS t ON t.oid = conrelid
        WHERE starts_with(conname, '_snowdrift_') AND EXISTS (SELECT FROM shadow WHERE relation = conrelid AND number = ANY (conkey) OR relation = confrelid AND number = ANY (confkey))
            AND (contype IN ('c', 'f') AND conrelid = ANY (changed)
                OR contype = 'f' AND confrelid = ANY (changed) AND NOT EXISTS (SELECT FROM shadow WHERE relation = conrelid) AND pg_has_role(relowner, 'USAGE'))
        UNION ALL SELECT 3, indexrelid, indrelid, 0, relname, concat(CASE WHEN indisunique THEN 'UNIQUE ' END, snowdrift.index_definition(indexrelid), ' ' || nullif(reltablespace, 0)), 0
        FROM snowdrift.indexes_of_shadows(changed) AS x JOIN pg_index ON indexrelid = x JOIN pg_class AS c ON c.oid = x
    ), stale AS MATERIALIZED (
        SELECT * FROM existing AS e WHERE NOT EXISTS (SELECT FROM wanted AS w WHERE w."table" = e."table" AND w.name = e.name AND (w.made IS NULL OR w.made = e.made))
    )
    SELECT e.object, CASE step WHEN 3 THEN format('DROP INDEX CONCURRENTLY %s', snowdrift.qualified_name(e.object))
        ELSE snowdrift.brief_call(array_remove(ARRAY["table", other], 0::oid), format('ALTER TABLE %s DROP CONSTRAINT %I', snowdrift.qualified_name("table"), name)) END
    FROM existing AS e WHERE e.object IN (SELECT s.object FROM stale AS s) OR index IN (SELECT s.object FROM stale AS s) ORDER BY step, e.object;
END $$;

-- What remains to be done before the swap, in order
CREATE FUNCTION snowdrift.preparing_statements(plan snowdrift.conversion, duty double precision) RETURNS SETOF text
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
    definitions CONSTANT jsonb := (SELECT jsonb_agg(d) FROM snowdrift.shadow_definitions(plan) AS d);
    stale oid[];    -- constraints and indexes
    t record;
    parts integer;
BEGIN
    FOR t IN SELECT * FROM snowdrift.stale_shadows(plan, definitions) LOOP
        stale := stale || t.object;
        RETURN NEXT t.statement;
    END LOOP;
    stale := coalesce(stale, '{}');

    -- All shadows and checks of a table, with its trigger
    FOR t IN SELECT c.oid, snowdrift.qualified_name(c.oid) AS name, relname, relnamespace
            FROM pg_class AS c WHERE c.oid IN (SELECT m."table" FROM unnest(plan.members) AS m) ORDER BY c.oid LOOP
        RETURN QUERY WITH s AS MATERIALIZED (
            SELECT * FROM snowdrift.shadows(plan) WHERE "table" = t.oid
        ), changes(n, number, change) AS (
            SELECT 1, number, format('ADD COLUMN %I pg_catalog.int8', shadow) FROM s WHERE shadow_number IS NULL
            UNION ALL SELECT 2, NULL, format('ADD CONSTRAINT %I %s NOT VALID', w.name, w.definition) FROM snowdrift.wanted_checks(plan, definitions) AS w
            WHERE w."table" = t.oid AND NOT EXISTS (SELECT FROM pg_constraint AS c WHERE conrelid = t.oid AND c.conname = w.name AND c.oid <> ALL (stale))
        ), callers(grantees) AS (
            SELECT concat_ws(', ', 'PUBLIC', string_agg(DISTINCT snowdrift.grantee_name(grantee), ', ') FILTER (WHERE grantee NOT IN (0, defaclrole)))
            FROM pg_default_acl, aclexplode(defaclacl) WHERE pg_get_userbyid(defaclrole) = current_user AND defaclobjtype = 'f' AND defaclnamespace IN (0, t.relnamespace)
        ), filling(function, body, condition) AS (
            SELECT format('%s.%I()', t.relnamespace::regnamespace, snowdrift.shadow_name(t.relname)),
                concat('BEGIN ', string_agg(format('NEW.%I := NEW.%I; ', shadow, name), '' ORDER BY number), 'RETURN NEW; END'),
                string_agg(snowdrift.equality('NEW.' || quote_ident(shadow), 'NEW.' || quote_ident(name), false), ' AND ' ORDER BY number) FROM s
        ), state(has_trigger, functions, is_current) AS (
            SELECT count(tgrelid) > 0, (SELECT string_agg(DISTINCT format('DROP FUNCTION %s', f::regprocedure), '; ')
                    FROM unnest(array_agg(p.oid) FILTER (WHERE starts_with(proname, '_snowdrift_')) || min(to_regprocedure(function)::oid)) AS f WHERE f IS NOT NULL), coalesce(bool_or(tgenabled = 'A' AND p.oid = to_regprocedure(function) AND prosrc = body AND NOT has_function_privilege('public', p.oid, 'EXECUTE')), false)
            FROM filling LEFT JOIN (pg_trigger JOIN pg_proc AS p ON p.oid = tgfoid) ON tgrelid = t.oid AND tgname = '~snowdrift'
        ), all_changes(changes, is_current) AS (
            SELECT string_agg(change, ', ' ORDER BY n, number, change), bool_and(is_current) AND NOT coalesce(bool_or(n = 1), false) FROM state LEFT JOIN changes ON true
        )
        SELECT snowdrift.brief_call(ARRAY[t.oid], concat_ws('; ',
            format('ALTER TABLE %s ', t.name) || changes,
            -- Not CREATE OR REPLACE: a function of another owner would keep this owner.
            CASE WHEN NOT c.is_current THEN concat_ws('; ',
                CASE WHEN has_trigger THEN format('DROP TRIGGER "~snowdrift" ON %s', t.name) END,
                functions,
                format('CREATE FUNCTION %s RETURNS trigger LANGUAGE plpgsql AS %L', function, body),
                format('CREATE TRIGGER "~snowdrift" BEFORE INSERT OR UPDATE ON %s FOR EACH ROW WHEN (NOT (%s)) EXECUTE FUNCTION %s', t.name, condition, function),
                format('REVOKE ALL ON FUNCTION %s FROM %s', function, grantees),    -- so that no trigger of another role depends on it
                format('ALTER TABLE %s ENABLE ALWAYS TRIGGER "~snowdrift"', t.name)) END))    -- also while session_replication_role is replica
        FROM all_changes AS c, state, filling, callers WHERE changes IS NOT NULL OR NOT c.is_current;
    END LOOP;

    -- The copy of a table is complete when its checks of equality are valid.
    FOR t IN SELECT c.oid, snowdrift.qualified_name(c.oid) AS name, snowdrift.shadows_to_validate(plan, c.oid, definitions, stale) AS checks
            FROM pg_class AS c WHERE c.oid IN (SELECT m."table" FROM unnest(plan.members) AS m) ORDER BY c.oid LOOP
        IF EXISTS (SELECT FROM snowdrift.wanted_checks(plan, definitions) AS w WHERE w."table" = t.oid AND w.is_equality AND w.name = ANY (t.checks)) THEN
            parts := CASE WHEN pg_relation_size(t.oid) > 8000000 THEN 10 END;
            FOR part IN 1 .. coalesce(parts, 0) LOOP
                RETURN NEXT format('CALL snowdrift.copy_keys(%L::pg_catalog.regclass, %s, %s, %s)', t.name, duty, part, parts);
                RETURN NEXT format('VACUUM (TRUNCATE false) %s', t.name);    -- the next part uses the space of the rows' former versions
            END LOOP;
            RETURN NEXT format('CALL snowdrift.copy_keys(%L::pg_catalog.regclass, %s%s)', t.name, duty, ', parts => ' || parts);
            RETURN NEXT format('VACUUM (ANALYZE, TRUNCATE false) %s', t.name);
        END IF;
        IF cardinality(t.checks) > 0 THEN
            RETURN NEXT format('ALTER TABLE %s %s', t.name, (SELECT string_agg(format('VALIDATE CONSTRAINT %I', k), ', ') FROM unnest(t.checks) AS k));
        END IF;
    END LOOP;

    -- After the copy: if there were unique indexes before, the updates of the copy would block checks of foreign keys.
    FOR t IN SELECT x.indexrelid AS oid, c.relnamespace::regnamespace AS schema, shadow, o.indisunique, spcname, snowdrift.qualified_name(d."table") AS name, d.definition
            FROM jsonb_to_recordset(definitions) AS d("table" oid, class oid, object oid, name name, definition text)
                JOIN pg_class AS c ON c.oid = d.object JOIN pg_index AS o ON o.indexrelid = d.object LEFT JOIN pg_tablespace AS s ON s.oid = c.reltablespace
                CROSS JOIN LATERAL (SELECT snowdrift.shadow_name(d.name)) AS n(shadow)
                LEFT JOIN pg_class AS i ON i.relname = shadow AND i.relnamespace = c.relnamespace LEFT JOIN pg_index AS x ON x.indexrelid = i.oid AND x.indrelid = d."table" AND x.indexrelid <> ALL (stale)
            WHERE d.class = 'pg_class'::regclass AND x.indisvalid IS NOT TRUE ORDER BY o.indisunique, d."table", d.object LOOP
        IF t.oid IS NOT NULL THEN    -- the rest of a statement that was interrupted
            RETURN NEXT format('DROP INDEX CONCURRENTLY %s.%I', t.schema, t.shadow);
        END IF;
        RETURN QUERY SELECT format('SET default_tablespace = %L', t.spcname) WHERE t.spcname IS NOT NULL;
        RETURN NEXT format('CREATE %sINDEX CONCURRENTLY %I ON %s %s', CASE WHEN t.indisunique THEN 'UNIQUE ' END, t.shadow, t.name, t.definition);
        RETURN QUERY SELECT 'SET default_tablespace = '''''::text WHERE t.spcname IS NOT NULL;
    END LOOP;

    FOR t IN SELECT r.*, c.oid AS added, shadow, snowdrift.qualified_name(r."table") AS source, o.convalidated
            FROM snowdrift.shadow_references(plan) AS r JOIN pg_constraint AS o ON o.oid = r.object CROSS JOIN LATERAL (SELECT snowdrift.shadow_name(r.name)) AS n(shadow)
                LEFT JOIN pg_constraint AS c ON c.conrelid = r."table" AND c.conname = shadow AND c.oid <> ALL (stale)
            WHERE c.oid IS NULL OR (o.convalidated AND NOT c.convalidated) ORDER BY r."table", r.object LOOP
        IF t.added IS NULL THEN
            RETURN NEXT snowdrift.brief_call(ARRAY[t."table", t.other],
                format('ALTER TABLE %s ADD CONSTRAINT %I %s NOT VALID', t.source, t.shadow, t.definition));
        END IF;
        IF t.convalidated THEN
            RETURN NEXT format('ALTER TABLE %s VALIDATE CONSTRAINT %I', t.source, t.shadow);
        END IF;
    END LOOP;
END $$;

-- The checks of a table's shadows that are not valid
CREATE FUNCTION snowdrift.shadows_to_validate(plan snowdrift.conversion, "table" oid, definitions jsonb, stale oid[]) RETURNS text[]
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN
    RETURN ARRAY(SELECT w.name FROM snowdrift.wanted_checks(plan, definitions) AS w
        WHERE w."table" = $2 AND NOT EXISTS (SELECT FROM pg_constraint AS c WHERE conrelid = $2 AND conname = w.name AND convalidated AND c.oid <> ALL (stale)) ORDER BY w.name);
END $$;
