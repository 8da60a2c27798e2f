-- Conversion of keys: what must change, and what stands in the way. These functions read the catalog and change nothing.
-- Those in PL/pgSQL set the search path, with which PostgreSQL qualifies the names in definitions.

CREATE TYPE snowdrift.key_column AS ("table" oid, number smallint);

-- An object that depends on another one, with the greatest number of steps from a column whose type changes. part: the
-- number of a column, or 0.
CREATE TYPE snowdrift.dependent AS (
    class oid, object oid, part integer,
    needed_class oid, needed oid, needed_part integer,
    is_smallint boolean, level integer
);

CREATE TYPE snowdrift.conversion AS (
    call text,                             -- the new default
    keys snowdrift.key_column[],
    new_keys snowdrift.key_column[],       -- those whose defaults change
    widened snowdrift.key_column[],        -- the smallint and integer columns among the keys and all that refer to them; none is inherited
    members snowdrift.key_column[],        -- these, and the same columns of inheriting tables
    "tables" oid[],                        -- to lock, ascending, without inheriting tables
    dependents snowdrift.dependent[]       -- views, triggers and policies to create again
);

-- The setting keeps PostgreSQL from inlining this function and the next two, which would give queries bad plans.
-- The columns, and the same columns of the tables that inherit them. Partitions inherit from partitioned tables.
CREATE FUNCTION snowdrift.with_inheriting(columns snowdrift.key_column[], OUT root snowdrift.key_column, OUT member snowdrift.key_column)
    RETURNS SETOF record LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    WITH RECURSIVE tree(root, relation) AS (
        SELECT c, c."table" FROM unnest(columns) AS c
        UNION SELECT root, inhrelid FROM tree JOIN pg_inherits ON inhparent = relation
    )
    SELECT root, ROW(a.attrelid, a.attnum)::snowdrift.key_column FROM tree
        JOIN pg_attribute AS o ON o.attrelid = (root)."table" AND o.attnum = (root).number
        JOIN pg_attribute AS a ON a.attrelid = relation AND a.attname = o.attname;
END;

-- For each column, the columns from which it is inherited, and which are not inherited themselves.
CREATE FUNCTION snowdrift.origins(columns snowdrift.key_column[]) RETURNS SETOF snowdrift.key_column LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    WITH RECURSIVE ancestors("table", number) AS (
        SELECT "table", number FROM unnest(columns)
        UNION SELECT p.attrelid, p.attnum FROM ancestors AS c
            JOIN pg_attribute AS a ON a.attrelid = c."table" AND a.attnum = c.number
            JOIN pg_inherits ON inhrelid = c."table"
            JOIN pg_attribute AS p ON p.attrelid = inhparent AND p.attname = a.attname
        WHERE a.attinhcount > 0
    )
    SELECT attrelid, attnum FROM ancestors JOIN pg_attribute ON attrelid = "table" AND attnum = number WHERE attinhcount = 0;
END;

-- The columns of foreign keys
CREATE FUNCTION snowdrift.key_references(OUT source snowdrift.key_column, OUT target snowdrift.key_column)
    RETURNS SETOF record LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT ROW(conrelid, f)::snowdrift.key_column, ROW(confrelid, t)::snowdrift.key_column
    FROM pg_constraint, unnest(conkey, confkey) AS u(f, t) WHERE contype = 'f';
END;

-- What generates the values of columns: 'sequence', 'identity', 'generator' (the call), 'other' (a call of another
-- generator), 'expression', or null. Patterns contain no backslash, whose meaning is a setting.
CREATE FUNCTION snowdrift.key_defaults(columns snowdrift.key_column[], call text,
        OUT key snowdrift.key_column, OUT kind text, OUT sequence oid, OUT expression text)
    RETURNS SETOF record LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT ROW(attrelid, attnum)::snowdrift.key_column,
        CASE WHEN attidentity <> '' THEN 'identity'
            WHEN text IS NULL THEN NULL
            WHEN attgenerated <> '' THEN 'expression'
            WHEN starts_with(text, 'nextval(')
                AND text ~ '^nextval[(][(]*''([^'']|'''')*''::[a-z ]+[)]*(::regclass)?([)]|::[a-z ]+)*$' THEN 'sequence'
            WHEN replace(rtrim(regexp_replace(text, '(::(smallint|integer|bigint|numeric)|[)])*$', ''), ')'), '::pg_catalog.text', '::text')
                = replace(rtrim(call, ')'), '::pg_catalog.text', '::text') THEN 'generator'
            WHEN starts_with(text, split_part(call, '(', 1) || '(')
                AND substr(text, length(split_part(call, '(', 1)) + 2) ~ '^(''([^'']|'''')*''::text)?[)]([)]|::[a-z ]+)*$' THEN 'other'
            ELSE 'expression'
        END,
        (SELECT refobjid FROM pg_depend JOIN pg_class AS s ON s.oid = refobjid AND relkind = 'S'
            WHERE classid = 'pg_attrdef'::regclass AND objid = d.oid AND refclassid = 'pg_class'::regclass LIMIT 1),
        pg_get_expr(adbin, adrelid)
    FROM unnest(columns) AS u("table", number)
        JOIN pg_attribute ON attrelid = u."table" AND attnum = u.number
        LEFT JOIN pg_attrdef AS d ON adrelid = attrelid AND adnum = attnum,
        LATERAL (SELECT ltrim(pg_get_expr(adbin, adrelid), '(')) AS e(text);
END;

-- Tables, and those that inherit from them
CREATE FUNCTION snowdrift.with_heirs(tables oid[]) RETURNS SETOF oid LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    WITH RECURSIVE relations(relation) AS (
        SELECT unnest(tables) UNION SELECT inhrelid FROM relations JOIN pg_inherits ON inhparent = relation
    )
    SELECT relation FROM relations;
END;

-- The roles, except the owner, that may insert into a table, an inheriting table, or a view of these; 0 is PUBLIC
CREATE FUNCTION snowdrift.inserting_roles("table" oid) RETURNS SETOF oid LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    WITH RECURSIVE relations(relation) AS (
        SELECT h FROM snowdrift.with_heirs(ARRAY["table"]) AS h
        UNION SELECT ev_class FROM relations JOIN pg_depend ON refclassid = 'pg_class'::regclass AND refobjid = relation
            JOIN pg_rewrite AS r ON classid = 'pg_rewrite'::regclass AND objid = r.oid
    ), acls(acl) AS (
        SELECT relacl FROM relations JOIN pg_class ON oid = relation UNION ALL SELECT attacl FROM relations JOIN pg_attribute ON attrelid = relation
    )
    SELECT DISTINCT grantee FROM acls, aclexplode(acl)
    WHERE privilege_type = 'INSERT' AND grantee <> (SELECT relowner FROM pg_class WHERE oid = "table") ORDER BY grantee;
END;

-- Ensure that the caller may evaluate the expressions of tables: the functions in them run with the caller's rights, so
-- that the owner of each table must have all of these.
CREATE FUNCTION snowdrift.check_table_owners(tables oid[]) RETURNS void
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
    foreign_tables text;
    owners oid[];
BEGIN
    SELECT string_agg(format('%s belongs to role %s', pg_describe_object('pg_class'::regclass, c.oid, 0), relowner::regrole), E'\n' ORDER BY c.oid)
            FILTER (WHERE NOT snowdrift.is_trusted_owner(relowner)),
        array_agg(DISTINCT relowner)
    INTO foreign_tables, owners FROM snowdrift.with_heirs(tables) AS relation JOIN pg_class AS c ON c.oid = relation;
    IF foreign_tables IS NULL THEN
        RETURN;
    END IF;
    RAISE 'cannot convert keys because other roles own tables that the conversion changes or checks' USING ERRCODE = '42501',
        DETAIL = foreign_tables,
        HINT = CASE WHEN cardinality(owners) = 1 THEN format('Run SET ROLE %s first.', owners[1]::regrole)
            ELSE format('If you trust the functions in their constraints and indexes, make %I the owner of these tables first.', current_user) END;
END $$;

-- Whether the caller has the rights of a role, and the role all rights of the caller.
CREATE FUNCTION snowdrift.is_trusted_owner(role oid) RETURNS boolean LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT rolname = current_user OR (rolsuper AND pg_has_role(oid, 'USAGE')) FROM pg_roles WHERE oid = role;
END;

-- The key columns of primary keys that are serial or identity columns, or draw from the generator.
CREATE FUNCTION snowdrift.find_keys(tables oid[], call text) RETURNS snowdrift.key_column[] LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT coalesce(array_agg(key ORDER BY key), '{}') FROM snowdrift.key_defaults((
        SELECT coalesce(array_agg(ROW(attrelid, attnum)::snowdrift.key_column), '{}') FROM pg_constraint
            JOIN pg_attribute ON attrelid = conrelid AND attnum = ANY (conkey)
        WHERE contype = 'p' AND conrelid = ANY (tables) AND attinhcount = 0
            AND snowdrift.base_type(atttypid) IN ('int2'::regtype, 'int4'::regtype, 'int8'::regtype)), call)
    WHERE kind IN ('identity', 'sequence', 'generator');
END;

-- The column of a table, which must be usable as a key.
CREATE FUNCTION snowdrift.find_key(relation oid, name name) RETURNS snowdrift.key_column
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
    a record;
BEGIN
    SELECT attnum, relname, atttypid, attinhcount, snowdrift.base_type(atttypid) AS base INTO a
    FROM pg_attribute JOIN pg_class AS c ON c.oid = attrelid
    WHERE attrelid = relation AND attname = name AND NOT attisdropped;
    IF NOT FOUND THEN
        RAISE 'column "%" of relation "%" does not exist', name, (SELECT relname FROM pg_class WHERE oid = relation) USING ERRCODE = '42703';
    ELSIF a.base NOT IN ('int2'::regtype, 'int4'::regtype, 'int8'::regtype) THEN
        RAISE 'column "%" of table "%" must be of type smallint, integer or bigint', name, a.relname
            USING ERRCODE = '42804', DETAIL = format('The column is of type %s.', format_type(a.atttypid, NULL));
    ELSIF a.attinhcount > 0 THEN
        RAISE 'cannot alter inherited column "%"', name
            USING ERRCODE = '42P16', HINT = format('Convert the column of the table that "%s" inherits from.', a.relname);
    END IF;
    RETURN (relation, a.attnum);
END $$;

-- The keys, and the columns that refer to them, directly or through other columns. None of them is inherited.
CREATE FUNCTION snowdrift.with_referring(keys snowdrift.key_column[]) RETURNS snowdrift.key_column[]
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    result snowdrift.key_column[] := keys;
    latest snowdrift.key_column[] := keys;
BEGIN
    WHILE cardinality(latest) > 0 LOOP
        latest := ARRAY(SELECT o FROM snowdrift.origins(ARRAY(SELECT source
                FROM snowdrift.with_inheriting(latest) JOIN snowdrift.key_references() ON target = member)) AS o
            EXCEPT SELECT r FROM unnest(result) AS r);
        result := result || latest;
    END LOOP;
    RETURN ARRAY(SELECT r FROM unnest(result) AS r ORDER BY r);
END $$;

CREATE FUNCTION snowdrift.check_tables(tables oid[]) RETURNS void LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    r record;
BEGIN
    IF array_position(tables, NULL) IS NOT NULL THEN
        RAISE 'tables must not contain nulls' USING ERRCODE = '22004';
    END IF;
    FOR r IN SELECT t, relname, relkind FROM unnest(tables) AS t LEFT JOIN pg_class ON oid = t ORDER BY t LOOP
        IF r.relkind IS NULL THEN
            RAISE 'relation with OID % does not exist', r.t USING ERRCODE = '42P01';
        ELSIF r.relkind NOT IN ('r', 'p') THEN
            RAISE '"%" is not a table', r.relname USING ERRCODE = '42809';
        END IF;
    END LOOP;
END $$;

CREATE FUNCTION snowdrift.plan_conversion(tables oid[], "column" name, call text) RETURNS snowdrift.conversion
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
    plan snowdrift.conversion;
    r record;
BEGIN
    PERFORM snowdrift.check_tables($1);
    plan.call := call;
    plan.keys := CASE WHEN $2 IS NULL THEN snowdrift.find_keys($1, call) ELSE ARRAY[snowdrift.find_key($1[1], $2)] END;
    -- A key that refers to another table has the values of that table's key.
    FOR r IN SELECT root, (SELECT relname FROM pg_class WHERE oid = (root)."table") AS relname, attname,
            string_agg(DISTINCT (SELECT relname FROM pg_class WHERE oid = (target)."table"), '", "') AS target
        FROM snowdrift.with_inheriting(plan.keys) JOIN snowdrift.key_references() ON source = member
            JOIN pg_attribute ON attrelid = (root)."table" AND attnum = (root).number
        GROUP BY root, attname ORDER BY root LOOP
        IF $2 IS NOT NULL THEN
            RAISE 'cannot convert column "%" of table "%" because it refers to table "%"', r.attname, r.relname, r.target USING ERRCODE = '42830',
                HINT = 'Convert the referenced column instead. If the columns refer to each other, drop one of the foreign keys first.';
        END IF;
        plan.keys := array_remove(plan.keys, r.root);
    END LOOP;

    plan.widened := ARRAY(SELECT c FROM unnest(snowdrift.with_referring(plan.keys)) AS c
        JOIN pg_attribute ON attrelid = c."table" AND attnum = c.number
        WHERE snowdrift.base_type(atttypid) IN ('int2'::regtype, 'int4'::regtype) ORDER BY c);
    plan.members := ARRAY(SELECT DISTINCT member FROM snowdrift.with_inheriting(plan.widened) ORDER BY 1);
    PERFORM snowdrift.check_table_owners(snowdrift.tables_of_keys(plan.keys, plan));
    FOR r IN SELECT attname, relname, attgenerated, expression FROM snowdrift.with_inheriting(plan.keys), snowdrift.key_defaults(ARRAY[member], call)
            JOIN pg_attribute ON attrelid = (key)."table" AND attnum = (key).number JOIN pg_class AS c ON c.oid = attrelid
        WHERE kind = 'expression' ORDER BY key LOOP
        RAISE 'column "%" of table "%" is not a serial or identity column', r.attname, r.relname USING ERRCODE = '55000',
            DETAIL = format('The column''s values are generated by the expression %s.', r.expression),
            HINT = CASE r.attgenerated WHEN '' THEN 'If the expression is not needed, drop the default.' ELSE 'Choose another column.' END;
    END LOOP;
    plan.new_keys := ARRAY(SELECT DISTINCT root FROM snowdrift.with_inheriting(plan.keys), snowdrift.key_defaults(ARRAY[member], call)
        WHERE kind IS DISTINCT FROM 'generator' ORDER BY root);
    plan.dependents := snowdrift.find_dependents(plan.members);
    plan."tables" := snowdrift.tables_to_convert(plan);
    RETURN plan;
END $$;

-- The tables of keys with new defaults, of the columns whose types change, and at the other ends of the foreign keys that
-- PostgreSQL creates again; ascending, as all conversions lock them.
CREATE FUNCTION snowdrift.tables_of_keys(keys snowdrift.key_column[], plan snowdrift.conversion) RETURNS oid[] LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT coalesce(array_agg(DISTINCT "table" ORDER BY "table"), '{}') FROM (
        SELECT "table" FROM unnest(keys) UNION SELECT "table" FROM unnest((plan).widened)
        UNION SELECT "table" FROM snowdrift.origins((
            SELECT coalesce(array_agg(other), '{}') FROM unnest((plan).members) AS m JOIN (
                SELECT source, target FROM snowdrift.key_references() UNION ALL SELECT target, source FROM snowdrift.key_references()) AS r(one, other)
                ON one = m))) AS all_tables;
END;

-- Those of tables_of_keys, and the tables of the triggers and policies to create again
CREATE FUNCTION snowdrift.tables_to_convert(plan snowdrift.conversion) RETURNS oid[] LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT coalesce(array_agg(t ORDER BY t), '{}') FROM (
        SELECT unnest(snowdrift.tables_of_keys((plan).new_keys, plan))
        UNION SELECT tgrelid FROM unnest((plan).dependents) AS d JOIN pg_trigger AS t ON class = 'pg_trigger'::regclass AND t.oid = object
            JOIN pg_class AS c ON c.oid = tgrelid WHERE relkind IN ('r', 'p')
        UNION SELECT polrelid FROM unnest((plan).dependents) AS d JOIN pg_policy AS p ON class = 'pg_policy'::regclass AND p.oid = object) AS all_tables(t);
END;

-- The sequences that columns own
CREATE FUNCTION snowdrift.owned_sequences(columns snowdrift.key_column[], OUT key snowdrift.key_column, OUT sequence oid, OUT is_identity boolean)
    RETURNS SETOF record LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT u, objid, deptype = 'i' FROM unnest(columns) AS u JOIN pg_depend ON refclassid = 'pg_class'::regclass AND refobjid = u."table"
            AND refobjsubid = u.number AND classid = refclassid AND deptype IN ('a', 'i')
        JOIN pg_class AS c ON c.oid = objid AND relkind = 'S' ORDER BY u, objid;
END;

-- The sequences that have no use after the conversion: those of identities, and those that a new key owns and draws from,
-- unless another object uses them, too.
CREATE FUNCTION snowdrift.unused_sequences(plan snowdrift.conversion, OUT sequence oid, OUT is_identity boolean) RETURNS SETOF record
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    members CONSTANT snowdrift.key_column[] := ARRAY(SELECT member FROM snowdrift.with_inheriting(plan.new_keys));
BEGIN
    RETURN QUERY SELECT o.sequence, o.is_identity FROM snowdrift.owned_sequences(members) AS o
    WHERE o.is_identity OR (o.sequence IN (SELECT d.sequence FROM snowdrift.key_defaults(members, plan.call) AS d)
        AND NOT EXISTS (SELECT FROM snowdrift.other_users(o.sequence, members)))
    ORDER BY o.key, o.sequence;
END $$;

-- The name for GRANT and REVOKE. 0 stands for all roles.
CREATE FUNCTION snowdrift.grantee_name(grantee oid) RETURNS text LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
    RETURN CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END;

-- The objects that use a sequence, apart from the defaults of the given columns
CREATE FUNCTION snowdrift.other_users(sequence oid, columns snowdrift.key_column[]) RETURNS SETOF text LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT pg_describe_object(classid, d.objid, objsubid) FROM pg_depend AS d LEFT JOIN pg_attrdef AS a ON classid = 'pg_attrdef'::regclass AND a.oid = d.objid
    WHERE refclassid = 'pg_class'::regclass AND refobjid = sequence AND deptype = 'n'
        AND (a.oid IS NULL OR (adrelid, adnum) NOT IN (SELECT c."table", c.number FROM unnest(columns) AS c));
END;

-- The relations that a conversion locks: views, beginning with those that read others, tables, and sequences to drop
CREATE FUNCTION snowdrift.relations_to_lock(plan snowdrift.conversion) RETURNS regclass[]
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN
    RETURN ARRAY(SELECT object FROM (SELECT object, max(level) AS level FROM unnest(plan.dependents)
            WHERE class = 'pg_class'::regclass GROUP BY object) AS v ORDER BY level DESC, object)
        || ARRAY(SELECT t FROM snowdrift.with_heirs(plan."tables") AS t ORDER BY t)
        || ARRAY(SELECT sequence FROM snowdrift.unused_sequences(plan));
END $$;
