-- Conversion of keys: the statements. These functions read the catalog and change nothing.

-- The statements that give a new object its owner and privileges. It has the default privileges of the role that creates it,
-- which can be any role, so those of all roles are revoked first. type: as in ALTER; kind: as in pg_default_acl.
CREATE FUNCTION snowdrift.ownership_statements(type text, name text, kind "char", namespace oid, owner oid, acl aclitem[]) RETURNS SETOF text
    LANGUAGE sql STABLE
BEGIN ATOMIC
    WITH default_acl AS (
        SELECT defaclacl FROM pg_default_acl WHERE defaclobjtype = kind AND defaclnamespace IN (0, namespace)
    ), revoked AS (
        SELECT grantee FROM aclexplode(acldefault(kind, owner))
        UNION SELECT grantee FROM default_acl, aclexplode(defaclacl)
    ), granted AS (
        SELECT grantee, is_grantable, string_agg(privilege_type, ', ' ORDER BY privilege_type) AS privileges
        FROM aclexplode(coalesce(acl, acldefault(kind, owner))) GROUP BY grantee, is_grantable
    ), object(name) AS (    -- none if it keeps the privileges of new objects
        SELECT concat(CASE kind WHEN 'f' THEN type || ' ' END, name) WHERE acl IS NOT NULL OR EXISTS (SELECT FROM default_acl)
    ), statements(step, grantee, statement) AS (
        SELECT 1, 0::oid, format('ALTER %s %s OWNER TO %s', type, name, owner::regrole)
        UNION ALL
        SELECT 2, 0::oid, format('REVOKE ALL ON %s FROM %s', object.name,
            (SELECT string_agg(snowdrift.grantee_name(grantee), ', ' ORDER BY grantee) FROM revoked))
        FROM object
        UNION ALL
        SELECT 3, grantee, format('GRANT %s ON %s TO %s%s', privileges, object.name, snowdrift.grantee_name(grantee),
            CASE WHEN is_grantable THEN ' WITH GRANT OPTION' END)
        FROM object, granted
    )
    SELECT statement FROM statements ORDER BY step, grantee, statement;
END;

-- The statements that create a view, a materialized view, a trigger or a policy with all its properties.
CREATE FUNCTION snowdrift.statements_to_create(d snowdrift.dependent) RETURNS SETOF text
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off
    SET timezone = 'UTC' SET datestyle = ISO SET intervalstyle = postgres SET extra_float_digits = 3 AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY WITH view AS (
        SELECT *, oid::regclass AS name, CASE relkind WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE 'VIEW' END AS type
        FROM pg_class WHERE d.class = 'pg_class'::regclass AND oid = d.object
    ), statements(step, subject, statement) AS (
        SELECT 1, 0::oid, format(E'CREATE %s %s%s AS\n%s%s', type, name,
            (SELECT format(' WITH (%s)', string_agg(format('%I = %L', option_name, option_value), ', '))
                FROM pg_options_to_table(reloptions) HAVING count(*) > 0),
            rtrim(pg_get_viewdef(oid), ';'), CASE relkind WHEN 'm' THEN E'\nWITH NO DATA' END) FROM view
        UNION ALL
        SELECT 2, n::oid, s
        FROM view, snowdrift.ownership_statements(type, name::text, 'r', relnamespace, relowner, relacl) WITH ORDINALITY AS t(s, n)
        UNION ALL
        SELECT 3, grantee, format('GRANT %s ON %s TO %s%s',
            string_agg(format('%s (%I)', privilege_type, attname), ', ' ORDER BY attnum, privilege_type), name,
            snowdrift.grantee_name(grantee), CASE WHEN is_grantable THEN ' WITH GRANT OPTION' END)
        FROM view JOIN pg_attribute ON attrelid = oid, aclexplode(attacl) GROUP BY name, grantee, is_grantable
        UNION ALL
        SELECT 4, objsubid::oid, format('COMMENT ON %s IS %L', CASE objsubid WHEN 0 THEN format('%s %s', type, name) ELSE
            format('COLUMN %s.%I', name, (SELECT attname FROM pg_attribute WHERE attrelid = oid AND attnum = objsubid)) END,
            description)
        FROM pg_description JOIN view ON objoid = oid WHERE classoid = 'pg_class'::regclass
    )
    SELECT statement FROM statements ORDER BY step, subject, statement;

    RETURN QUERY SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE d.class = 'pg_trigger'::regclass AND oid = d.object;
    RETURN QUERY WITH RECURSIVE copies AS (
        SELECT * FROM pg_trigger WHERE d.class = 'pg_trigger'::regclass AND oid = d.object
        UNION ALL SELECT t.* FROM pg_trigger AS t JOIN copies ON t.tgparentid = copies.oid
    )
    SELECT format('ALTER TABLE ONLY %s %s TRIGGER %I', snowdrift.qualified_name(tgrelid),
        CASE tgenabled WHEN 'D' THEN 'DISABLE' WHEN 'R' THEN 'ENABLE REPLICA' WHEN 'A' THEN 'ENABLE ALWAYS' ELSE 'ENABLE' END, tgname)
    FROM copies WHERE tgenabled <> 'O' OR EXISTS (SELECT FROM copies AS c WHERE tgenabled <> 'O');

    RETURN QUERY SELECT concat(format('CREATE POLICY %I ON %s AS %s FOR %s TO %s', polname, snowdrift.qualified_name(polrelid),
            CASE WHEN polpermissive THEN 'PERMISSIVE' ELSE 'RESTRICTIVE' END,
            CASE polcmd WHEN 'r' THEN 'SELECT' WHEN 'a' THEN 'INSERT' WHEN 'w' THEN 'UPDATE' WHEN 'd' THEN 'DELETE' ELSE 'ALL' END,
            (SELECT string_agg(snowdrift.grantee_name(role), ', ') FROM unnest(polroles) AS role)),
        ' USING (' || pg_get_expr(polqual, polrelid) || ')', ' WITH CHECK (' || pg_get_expr(polwithcheck, polrelid) || ')')
    FROM pg_policy WHERE d.class = 'pg_policy'::regclass AND oid = d.object;

    RETURN QUERY SELECT format('COMMENT ON %s IS %L', CASE d.class WHEN 'pg_trigger'::regclass
            THEN (SELECT format('TRIGGER %I ON %s', tgname, snowdrift.qualified_name(tgrelid)) FROM pg_trigger WHERE oid = d.object)
            ELSE (SELECT format('POLICY %I ON %s', polname, snowdrift.qualified_name(polrelid)) FROM pg_policy WHERE oid = d.object) END,
        description)
    FROM pg_description WHERE classoid = d.class AND objoid = d.object AND d.class <> 'pg_class'::regclass;
END $$;

-- The statements that change what generates the keys. They take little time, and run before those that rewrite tables, so
-- that their errors occur early. Several keys can use a sequence, so all defaults change before a sequence is dropped.
-- DROP IDENTITY drops one while defaults change, so the defaults that use it are dropped first.
CREATE FUNCTION snowdrift.default_statements(plan snowdrift.conversion) RETURNS SETOF text
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
    members CONSTANT snowdrift.key_column[] := ARRAY(SELECT member FROM snowdrift.with_inheriting(plan.new_keys));
BEGIN
    RETURN QUERY SELECT format('ALTER TABLE %s ALTER COLUMN %I DROP DEFAULT', snowdrift.qualified_name(attrelid), attname)
    FROM snowdrift.key_defaults(members, plan.call) JOIN pg_attribute ON attrelid = (key)."table" AND attnum = (key).number
    WHERE sequence IN (SELECT u.sequence FROM snowdrift.unused_sequences(plan) AS u WHERE is_identity) ORDER BY key;

    RETURN QUERY SELECT format('ALTER TABLE %s %sALTER COLUMN %I %s', snowdrift.qualified_name(attrelid),
        CASE WHEN member = root AND attidentity <> '' THEN format('ALTER COLUMN %I DROP IDENTITY, ', attname) END, attname,
        CASE WHEN member = root THEN 'SET DEFAULT ' || plan.call ELSE 'DROP IDENTITY' END)
    FROM snowdrift.with_inheriting(plan.new_keys) JOIN pg_attribute ON attrelid = (member)."table" AND attnum = (member).number
        JOIN pg_class AS c ON c.oid = attrelid
    WHERE member = root OR (attidentity <> '' AND NOT (relispartition AND current_setting('server_version_num')::integer >= 170000))
    ORDER BY root, member = root, member;

    RETURN QUERY SELECT format('DROP SEQUENCE %s', snowdrift.qualified_name(sequence)) FROM snowdrift.unused_sequences(plan) WHERE NOT is_identity;
END $$;

-- The tables whose row-level security hides rows from the caller, who owns them
CREATE FUNCTION snowdrift.forced_tables(plan snowdrift.conversion) RETURNS SETOF oid LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT relation FROM snowdrift.with_heirs((plan)."tables") AS relation JOIN pg_class ON pg_class.oid = relation
    WHERE relrowsecurity AND relforcerowsecurity AND NOT (SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user) ORDER BY relation;
END;

-- The views, triggers and policies to create again, in this order
CREATE FUNCTION snowdrift.again(plan snowdrift.conversion, OUT n bigint, OUT again snowdrift.dependent) RETURNS SETOF record LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT row_number() OVER (ORDER BY max(level), class = 'pg_class'::regclass DESC, class, object DESC),
        ROW(class, object, part, 0, 0, 0, false, max(level))::snowdrift.dependent
    FROM unnest((plan).dependents) GROUP BY class, object, part;
END;

-- Drop the views, triggers and policies that depend on the columns.
CREATE FUNCTION snowdrift.statements_before(plan snowdrift.conversion) RETURNS SETOF text
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
BEGIN
    RETURN QUERY SELECT dropped FROM snowdrift.again(plan), snowdrift.statements_for((again).class, (again).object, (again).part)
        ORDER BY (again).level DESC, n DESC;
END $$;

-- Create them again, and let sessions plan functions again. path: the caller's search path.
CREATE FUNCTION snowdrift.statements_after(plan snowdrift.conversion, path text) RETURNS SETOF text
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
BEGIN
    IF cardinality(plan.dependents) > 0 THEN
        RETURN NEXT 'SET LOCAL search_path = pg_catalog, pg_temp';
        RETURN QUERY SELECT s FROM snowdrift.again(plan), snowdrift.statements_to_create(again) WITH ORDINALITY AS t(s, m) ORDER BY n, m;
        RETURN NEXT format('SELECT pg_catalog.set_config(''search_path'', %L, true)', path);
    END IF;
    -- Sessions that have run a PL/pgSQL function plan it again after this, and otherwise raise 42804.
    RETURN QUERY SELECT statement FROM snowdrift.functions_to_replan(plan) WHERE is_allowed ORDER BY statement;
END $$;

-- All statements of a conversion. path: the caller's search path.
CREATE FUNCTION snowdrift.conversion_statements(plan snowdrift.conversion, path text) RETURNS SETOF text
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
    rewritten CONSTANT oid[] := ARRAY(SELECT DISTINCT "table" FROM unnest(plan.members));
BEGIN
    IF cardinality(plan."tables") = 0 THEN
        RETURN;
    END IF;
    RETURN QUERY SELECT * FROM snowdrift.statements_before(plan);
    RETURN NEXT snowdrift.lock_statement(plan, 'ACCESS EXCLUSIVE');
    -- Forced row-level security would hide rows when PostgreSQL checks foreign keys again.
    RETURN QUERY SELECT format('ALTER TABLE %s NO FORCE ROW LEVEL SECURITY', snowdrift.qualified_name(oid)) FROM snowdrift.forced_tables(plan) AS oid;
    RETURN QUERY SELECT * FROM snowdrift.default_statements(plan);
    RETURN QUERY SELECT format('ALTER TABLE %s %s', snowdrift.qualified_name(attrelid),
        string_agg(format('ALTER COLUMN %I TYPE bigint', attname), ', ' ORDER BY attnum))
    FROM unnest(plan.widened) AS w JOIN pg_attribute ON attrelid = w."table" AND attnum = w.number GROUP BY attrelid ORDER BY attrelid;
    RETURN QUERY SELECT format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', snowdrift.qualified_name(oid)) FROM snowdrift.forced_tables(plan) AS oid;
    -- PostgreSQL does not keep these when it builds objects again.
    RETURN QUERY SELECT format('ALTER INDEX %s ALTER COLUMN %s SET STATISTICS %s', snowdrift.qualified_name(indexrelid), attnum, attstattarget)
    FROM pg_index JOIN pg_attribute ON attrelid = indexrelid JOIN pg_class AS c ON c.oid = indexrelid
    WHERE indrelid = ANY (rewritten) AND attstattarget >= 0 AND indexprs IS NOT NULL AND NOT relispartition ORDER BY indexrelid, attnum;
    RETURN QUERY SELECT format('ALTER STATISTICS %I.%I SET STATISTICS %s', nspname, stxname, stxstattarget)
    FROM pg_statistic_ext AS s JOIN pg_namespace AS n ON n.oid = stxnamespace
    WHERE stxrelid = ANY (rewritten) AND stxstattarget >= 0 ORDER BY s.oid;
    RETURN QUERY SELECT * FROM snowdrift.statements_after(plan, path);
    RETURN QUERY SELECT * FROM snowdrift.watch_statements(plan.new_keys);
END $$;

-- A watch depends on what draws the key.
CREATE FUNCTION snowdrift.watch_statements(keys snowdrift.key_column[]) RETURNS SETOF text
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
    heir regclass;
BEGIN
    SELECT (member)."table" INTO heir FROM snowdrift.with_inheriting(keys)
    WHERE member <> root AND EXISTS (SELECT FROM snowdrift.watches((member)."table") AS w WHERE w.number = (member).number) ORDER BY member LIMIT 1;
    IF FOUND THEN
        RAISE 'table "%" is watched', snowdrift.plain_name(heir) USING ERRCODE = '0A000',
            HINT = format('Call snowdrift.unwatch(%L) first. Afterwards, watch it again, or its partitioned table.', heir);
    END IF;
    RETURN QUERY SELECT format('SELECT snowdrift.watch(%L, %L)', snowdrift.qualified_name(attrelid), attname)
    FROM unnest(keys) AS k JOIN pg_attribute ON attrelid = k."table" AND attnum = k.number
    WHERE EXISTS (SELECT FROM snowdrift.watches(attrelid) AS w WHERE w.number = attnum) ORDER BY k;
END $$;

CREATE FUNCTION snowdrift.lock_statement(plan snowdrift.conversion, mode text) RETURNS text
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
BEGIN
    RETURN (SELECT format('LOCK TABLE %s IN %s MODE', string_agg(snowdrift.qualified_name(t), ', ' ORDER BY n), mode)
        FROM unnest(plan."tables") WITH ORDINALITY AS u(t, n) HAVING count(*) > 0);
END $$;
