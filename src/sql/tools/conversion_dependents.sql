-- Conversion of keys: the objects that depend on columns whose types change

-- The objects that depend on others and that PostgreSQL does not change itself, as users know them: the view of a rule,
-- the generated column of an expression. needed: what they depend on.
CREATE FUNCTION snowdrift.dependents_of(objects snowdrift.dependent[]) RETURNS SETOF snowdrift.dependent LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT DISTINCT shown.class, shown.object,
        CASE WHEN shown.class = 'pg_class'::regclass AND (SELECT relkind FROM pg_class WHERE oid = shown.object) = 'v' THEN 0 ELSE shown.part END,
        o.class, o.object, o.part, o.is_smallint, o.level + 1
    FROM unnest(objects) AS o
        LEFT JOIN pg_class AS c ON o.class = 'pg_class'::regclass AND o.part = 0 AND c.oid = o.object
        LEFT JOIN pg_type AS t ON t.oid = c.reltype
        LEFT JOIN pg_constraint AS k ON o.class = 'pg_constraint'::regclass AND k.oid = o.object AND contype <> 'f',
        LATERAL (VALUES (o.class, o.object, o.part), ('pg_type'::regclass, t.oid, 0), ('pg_type'::regclass, t.typarray, 0),
            ('pg_class'::regclass, k.conindid, 0)) AS n(class, object, part)    -- foreign keys depend on the index of the key to which they refer
        JOIN pg_depend AS d ON refclassid = n.class AND refobjid = n.object AND (n.part = 0 OR refobjsubid = n.part),
        LATERAL (SELECT refclassid, refobjid, refobjsubid FROM pg_depend AS whole
            WHERE whole.classid = d.classid AND whole.objid = d.objid AND deptype IN ('i', 'P')
            UNION ALL SELECT d.classid, d.objid, d.objsubid LIMIT 1) AS shown(class, object, part)
    WHERE (shown.class, shown.object, shown.part) IS DISTINCT FROM (o.class, o.object, o.part)
        AND (shown.class, shown.object, shown.part) IS DISTINCT FROM (n.class, n.object, n.part)
        AND NOT (shown.class = 'pg_class'::regclass AND shown.object = o.object AND 0 IN (o.part, shown.part))
        AND NOT (shown.class = 'pg_type'::regclass AND shown.object IN (t.oid, t.typarray))
        AND NOT (shown.class = 'pg_constraint'::regclass AND EXISTS (SELECT FROM pg_constraint WHERE oid = shown.object AND NOT conislocal AND conrelid <> 0))
        AND NOT (shown.class = d.classid AND shown.object <> d.objid)    -- a copy, such as that of a partition
        AND NOT (shown.class = 'pg_trigger'::regclass AND EXISTS (SELECT FROM pg_trigger WHERE oid = shown.object AND (tgisinternal OR tgparentid <> 0)));
END;

-- Whether PostgreSQL changes an object together with the type of a column, and evaluates it, if at all, for the rows of its
-- table. An expression of another table, which can have another owner, can read the column of a row value.
CREATE FUNCTION snowdrift.is_rebuilt(class oid, object oid, relation oid) RETURNS boolean LANGUAGE sql STABLE
    RETURN CASE class
        WHEN 'pg_class'::regclass THEN EXISTS (SELECT FROM pg_class WHERE oid = object AND relkind = 'S')
            OR EXISTS (SELECT FROM pg_index WHERE indexrelid = object AND indrelid = relation)
        WHEN 'pg_constraint'::regclass THEN EXISTS (SELECT FROM pg_constraint WHERE oid = object AND (contype = 'f' OR conrelid = relation))
        WHEN 'pg_statistic_ext'::regclass THEN EXISTS (SELECT FROM pg_statistic_ext WHERE oid = object AND stxrelid = relation)
        WHEN 'pg_attrdef'::regclass THEN EXISTS (SELECT FROM pg_attrdef WHERE oid = object AND adrelid = relation)
        ELSE false
    END;

-- Whether an object converts a smallint to integer. Built again, it would convert a bigint to integer, which fails for IDs.
CREATE FUNCTION snowdrift.converts_smallint(class oid, object oid) RETURNS boolean LANGUAGE sql STABLE
    RETURN strpos(CASE class
        WHEN 'pg_constraint'::regclass THEN coalesce((SELECT conbin::text FROM pg_constraint WHERE oid = object),
            (SELECT concat(indexprs::text, indpred::text) FROM pg_constraint JOIN pg_index ON indexrelid = conindid WHERE pg_constraint.oid = object))
        WHEN 'pg_statistic_ext'::regclass THEN (SELECT stxexprs::text FROM pg_statistic_ext WHERE oid = object)
        WHEN 'pg_class'::regclass THEN coalesce((SELECT concat(indexprs::text, indpred::text) FROM pg_index WHERE indexrelid = object),
            (SELECT ev_action::text FROM pg_rewrite WHERE ev_class = object AND rulename = '_RETURN'))
        WHEN 'pg_trigger'::regclass THEN (SELECT tgqual::text FROM pg_trigger WHERE oid = object)
        WHEN 'pg_policy'::regclass THEN (SELECT concat(polqual::text, polwithcheck::text) FROM pg_policy WHERE oid = object)
    END, format(':funcid %s ', 'int4(int2)'::regprocedure::oid)) > 0;

-- Why an object, built again for a bigint, could fail; null if there is no reason. Functions of extensions rarely take keys.
CREATE FUNCTION snowdrift.needs_integers(class oid, object oid, is_smallint boolean) RETURNS text LANGUAGE sql STABLE
    RETURN CASE WHEN is_smallint AND snowdrift.converts_smallint(class, object) THEN 'converts a smallint to integer'
        ELSE (SELECT format('calls %s, which takes integers', min(p.oid)::regprocedure) FROM pg_depend JOIN pg_proc AS p ON refclassid = 'pg_proc'::regclass AND p.oid = refobjid
            WHERE (classid, objid) IN (SELECT class, object
                    UNION ALL SELECT 'pg_rewrite'::regclass, r.oid FROM pg_rewrite AS r WHERE class = 'pg_class'::regclass AND ev_class = object AND rulename = '_RETURN'
                    UNION ALL SELECT 'pg_class'::regclass, conindid FROM pg_constraint AS c WHERE class = 'pg_constraint'::regclass AND c.oid = object AND contype = 'x')
                AND proargtypes::oid[] && '{int2,int4}'::regtype[]::oid[] AND pronamespace <> 'pg_catalog'::regnamespace
                AND NOT EXISTS (SELECT FROM pg_depend AS e WHERE e.classid = 'pg_proc'::regclass AND e.objid = p.oid AND deptype = 'e')
            HAVING count(*) > 0)
        END;

-- All objects that depend on the columns, directly or through other objects, apart from those that PostgreSQL changes.
CREATE FUNCTION snowdrift.find_dependents(columns snowdrift.key_column[]) RETURNS snowdrift.dependent[]
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    roots CONSTANT snowdrift.dependent[] := ARRAY(
        SELECT ('pg_class'::regclass::oid, c."table", c.number::integer, 0, 0, 0, atttypid = 'int2'::regtype, 0)::snowdrift.dependent
        FROM unnest(columns) AS c JOIN pg_attribute ON attrelid = c."table" AND attnum = c.number);
    result snowdrift.dependent[];
    latest snowdrift.dependent[];
BEGIN
    -- Of the objects that PostgreSQL changes, those that need integers, and what names a constraint, as in
    -- ON CONFLICT ON CONSTRAINT.
    result := ARRAY(
        WITH direct AS MATERIALIZED (
            SELECT r.object AS relation, r.part, r.is_smallint, d.classid, d.objid FROM unnest(roots) AS r
                JOIN pg_depend AS d ON refclassid = 'pg_class'::regclass AND refobjid = r.object AND refobjsubid = r.part
            WHERE snowdrift.is_rebuilt(d.classid, d.objid, r.object)
        ), constraints AS (
            SELECT objid AS oid FROM direct WHERE classid = 'pg_constraint'::regclass
            UNION SELECT c.oid FROM direct JOIN pg_constraint AS c ON conindid = objid WHERE classid = 'pg_class'::regclass AND contype <> 'f'
        )
        SELECT (classid, objid, 0, 'pg_class'::regclass, relation, part, is_smallint, 1)::snowdrift.dependent
        FROM (SELECT relation, part, is_smallint, coalesce(i.refclassid, direct.classid) AS classid, coalesce(i.refobjid, direct.objid) AS objid
            FROM direct LEFT JOIN pg_depend AS i ON direct.classid = 'pg_class'::regclass AND i.classid = direct.classid AND i.objid = direct.objid
                AND i.deptype = 'i' AND i.refclassid = 'pg_constraint'::regclass) AS shown
        WHERE snowdrift.needs_integers(classid, objid, is_smallint) IS NOT NULL
            AND NOT EXISTS (SELECT FROM pg_constraint WHERE classid = 'pg_constraint'::regclass AND oid = objid AND NOT conislocal)
            AND NOT EXISTS (SELECT FROM pg_inherits WHERE classid = 'pg_class'::regclass AND inhrelid = objid)
        UNION ALL
        SELECT d FROM snowdrift.dependents_of(ARRAY(SELECT ('pg_constraint'::regclass::oid, oid, 0, 0, 0, 0, false, 0)::snowdrift.dependent FROM constraints)) AS d
        WHERE class IN ('pg_proc'::regclass, 'pg_rewrite'::regclass) OR (class = 'pg_class'::regclass AND (SELECT relkind FROM pg_class WHERE oid = object) = 'v')
    );
    latest := result || ARRAY(SELECT d FROM snowdrift.dependents_of(roots) AS d
        WHERE NOT snowdrift.is_rebuilt(class, object, needed));
    result := '{}';
    WHILE cardinality(latest) > 0 LOOP
        result := ARRAY(
            SELECT (class, object, part, needed_class, needed, needed_part, bool_or(is_smallint), max(level))::snowdrift.dependent
            FROM unnest(result || latest) GROUP BY class, object, part, needed_class, needed, needed_part);
        latest := ARRAY(SELECT d FROM snowdrift.dependents_of(ARRAY(
                SELECT DISTINCT ON (class, object, part) (class, object, part, 0, 0, 0, is_smallint, level)::snowdrift.dependent
                FROM unnest(latest) ORDER BY class, object, part, level DESC, is_smallint DESC)) AS d);
    END LOOP;
    RETURN result;
END $$;

-- Why an object cannot be dropped and created again with all its properties: '' if it is no view, trigger or policy; null
-- if it can.
-- A view's definition would be found by names again, perhaps with other objects: PostgreSQL prints JOIN USING, CASE, NULLIF
-- and IS DISTINCT FROM without their operators, and the types of arguments change.
CREATE FUNCTION snowdrift.obstacle_to_create(class oid, object oid, is_smallint boolean) RETURNS text LANGUAGE sql STABLE
    RETURN CASE
        WHEN class = 'pg_policy'::regclass THEN (SELECT CASE
            WHEN NOT snowdrift.is_trusted_owner(relowner) THEN format('its table belongs to role %s', relowner::regrole)
            WHEN EXISTS (SELECT FROM pg_depend WHERE classid = class AND objid = object AND deptype IN ('e', 'x')) THEN 'belongs to an extension'
            ELSE snowdrift.needs_integers(class, object, is_smallint)
            END FROM pg_policy JOIN pg_class AS c ON c.oid = polrelid WHERE pg_policy.oid = object)
        WHEN class = 'pg_trigger'::regclass THEN (SELECT CASE
            WHEN relkind NOT IN ('r', 'p') THEN ''
            WHEN NOT snowdrift.is_trusted_owner(relowner) THEN format('its table belongs to role %s', relowner::regrole)
            WHEN EXISTS (SELECT FROM pg_depend WHERE classid = class AND objid = object AND deptype IN ('e', 'x')) THEN 'belongs to an extension'
            WHEN NOT has_function_privilege(tgfoid, 'EXECUTE') THEN 'its function may not be called'
            ELSE snowdrift.needs_integers(class, object, is_smallint)
            END FROM pg_trigger JOIN pg_class AS c ON c.oid = tgrelid WHERE pg_trigger.oid = object)
        WHEN class <> 'pg_class'::regclass OR (SELECT relkind FROM pg_class WHERE oid = object) <> 'v' THEN ''
        ELSE (SELECT CASE
            WHEN NOT snowdrift.is_trusted_owner(relowner) THEN format('belongs to role %s', relowner::regrole)
            WHEN relpersistence = 't' THEN 'temporary'
            WHEN EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = c.oid AND deptype = 'e')
                THEN 'belongs to an extension'
            WHEN NOT has_schema_privilege(relowner, relnamespace, 'CREATE')
                THEN format('its owner may not create it in schema %s', relnamespace::regnamespace)
            WHEN EXISTS (SELECT FROM aclexplode(relacl) WHERE grantor <> relowner)
                OR EXISTS (SELECT FROM pg_attribute, aclexplode(attacl) WHERE attrelid = c.oid AND grantor <> relowner)
                THEN 'has privileges that another role granted'
            WHEN EXISTS (SELECT FROM pg_type WHERE oid = reltype AND typacl IS NOT NULL)
                THEN 'its row type has privileges'
            WHEN EXISTS (SELECT FROM pg_seclabel WHERE classoid = 'pg_class'::regclass AND objoid = c.oid)
                OR EXISTS (SELECT FROM pg_seclabel WHERE classoid = 'pg_type'::regclass AND objoid = reltype)
                THEN 'has a security label'
            WHEN EXISTS (SELECT FROM pg_description WHERE classoid = 'pg_type'::regclass AND objoid = reltype)
                THEN 'its row type has a comment'
            WHEN EXISTS (SELECT FROM pg_description JOIN pg_rewrite AS r ON objoid = r.oid
                    WHERE classoid = 'pg_rewrite'::regclass AND ev_class = c.oid AND rulename = '_RETURN')
                THEN 'its rule has a comment'
            WHEN EXISTS (SELECT FROM pg_depend JOIN pg_rewrite AS r ON objid = r.oid
                    WHERE classid = 'pg_rewrite'::regclass AND ev_class = c.oid AND rulename = '_RETURN' AND refclassid = 'pg_operator'::regclass)
                THEN 'uses an operator that is not PostgreSQL''s own, which its definition may not show'
            WHEN EXISTS (SELECT FROM pg_depend JOIN pg_rewrite AS r ON objid = r.oid
                    JOIN pg_proc AS p ON refobjid = p.oid JOIN pg_proc AS other USING (pronamespace, proname)
                    WHERE classid = 'pg_rewrite'::regclass AND ev_class = c.oid AND rulename = '_RETURN'
                        AND refclassid = 'pg_proc'::regclass AND other.oid <> p.oid AND NOT EXISTS (    -- variants of Snowdrift differ in other arguments than keys
                            SELECT FROM pg_depend AS e JOIN pg_extension AS x ON x.oid = e.refobjid
                            WHERE e.classid = 'pg_proc'::regclass AND e.objid = p.oid AND e.deptype = 'e' AND extname = 'snowdrift'))
                THEN 'uses a function that has variants with other arguments'
            ELSE snowdrift.needs_integers(class, object, is_smallint)
            END FROM pg_class AS c WHERE oid = object)
    END;

-- The statements that drop an object and create it again; null if there is none to copy.
CREATE FUNCTION snowdrift.statements_for(class oid, object oid, part integer, OUT dropped text, OUT created text)
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off
    SET timezone = 'UTC' SET datestyle = ISO SET intervalstyle = postgres SET extra_float_digits = 3 AS $$
#variable_conflict use_column
DECLARE
    o record;
BEGIN
    SELECT * INTO o FROM pg_identify_object(class, object, part);
    dropped := format('DROP %s %s', upper(o.type), o.identity);
    CASE o.type
    WHEN 'view', 'materialized view', 'trigger', 'policy' THEN
        created := (SELECT string_agg(s, E';\n' ORDER BY n) FROM snowdrift.statements_to_create((class, object, part, 0, 0, 0, false, 0)::snowdrift.dependent) WITH ORDINALITY AS t(s, n));
    WHEN 'index' THEN
        created := replace(pg_get_indexdef(object), ' ON ONLY ', ' ON ');
    WHEN 'function', 'procedure' THEN
        SELECT rtrim(pg_get_functiondef(oid), E'\n') || (SELECT string_agg(E';\n' || s, '' ORDER BY n)
            FROM snowdrift.ownership_statements(upper(o.type), o.identity, 'f', pronamespace, proowner, proacl) WITH ORDINALITY AS t(s, n))
        INTO created FROM pg_proc WHERE oid = object;
    WHEN 'rule' THEN
        SELECT rtrim(pg_get_ruledef(oid), ';') || CASE ev_enabled WHEN 'O' THEN '' ELSE format(E';\nALTER TABLE %s %s RULE %I', snowdrift.qualified_name(ev_class),
            CASE ev_enabled WHEN 'D' THEN 'DISABLE' WHEN 'R' THEN 'ENABLE REPLICA' ELSE 'ENABLE ALWAYS' END, rulename) END INTO created FROM pg_rewrite WHERE oid = object;
    WHEN 'statistics object' THEN
        dropped := format('DROP STATISTICS %s', o.identity);
        created := pg_get_statisticsobjdef(object);
    WHEN 'table constraint' THEN
        SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', snowdrift.qualified_name(conrelid), conname),
            format('ALTER TABLE %s ADD CONSTRAINT %I %s', snowdrift.qualified_name(conrelid), conname, pg_get_constraintdef(oid))
        INTO dropped, created FROM pg_constraint WHERE oid = object;
    WHEN 'default value' THEN
        SELECT format('ALTER TABLE %s ALTER COLUMN %I DROP DEFAULT', snowdrift.qualified_name(adrelid), attname),
            format('ALTER TABLE %s ALTER COLUMN %I SET DEFAULT %s', snowdrift.qualified_name(adrelid), attname, pg_get_expr(adbin, adrelid))
        INTO dropped, created FROM pg_attrdef AS d JOIN pg_attribute ON attrelid = adrelid AND attnum = adnum WHERE d.oid = object;
    WHEN 'table column' THEN
        SELECT format('ALTER TABLE %s DROP COLUMN %I', snowdrift.qualified_name(attrelid), attname),
            format('ALTER TABLE %s ADD COLUMN %I %s%s GENERATED ALWAYS AS (%s) %s%s', snowdrift.qualified_name(attrelid), attname,
                CASE WHEN snowdrift.base_type(atttypid) IN ('int2'::regtype, 'int4'::regtype) THEN 'bigint' ELSE format_type(atttypid, atttypmod) END,
                (SELECT format(' COLLATE %I.%I', nspname, collname) FROM pg_collation AS l JOIN pg_namespace AS n ON n.oid = collnamespace JOIN pg_type AS y ON y.oid = atttypid WHERE l.oid = attcollation AND l.oid <> typcollation),
                pg_get_expr(adbin, adrelid), CASE attgenerated WHEN 'v' THEN 'VIRTUAL' ELSE 'STORED' END, CASE WHEN attnotnull THEN ' NOT NULL' END)
        INTO dropped, created FROM pg_attribute JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
        WHERE attrelid = object AND attnum = part AND attgenerated <> '' AND attinhcount = 0;    -- no others, which have data or are the parent's
    WHEN 'publication relation' THEN
        SELECT format('ALTER PUBLICATION %I DROP TABLE %s', pubname, snowdrift.qualified_name(prrelid)),
            format('ALTER PUBLICATION %I ADD TABLE %s%s%s', pubname, snowdrift.qualified_name(prrelid),
                (SELECT format(' (%s)', string_agg(quote_ident(attname), ', ' ORDER BY attnum)) FROM pg_attribute
                    WHERE attrelid = prrelid AND attnum = ANY (prattrs) HAVING count(*) > 0),
                ' WHERE (' || pg_get_expr(prqual, prrelid) || ')')
        INTO dropped, created FROM pg_publication_rel AS r JOIN pg_publication AS p ON p.oid = prpubid WHERE r.oid = object;
    ELSE
    END CASE;
    IF snowdrift.converts_smallint(class, object) THEN    -- to a type that can contain IDs
        created := replace(created, '::integer', '::bigint');
    END IF;
END $$;

-- Ensure that the types of the columns can be changed: one error lists all that stands in the way, with the statements to
-- copy. refusals: what else stands in the way while applications write; null if the tables are locked meanwhile.
CREATE FUNCTION snowdrift.check_obstacles(plan snowdrift.conversion, refusals text[] DEFAULT NULL) RETURNS void
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
    listed snowdrift.dependent[];
    previous integer := -1;
    first_lines text;
    lines text;
    drops text;
    creates text;
    sequence regclass;
BEGIN
    first_lines := (SELECT string_agg(line, E'\n' ORDER BY c, line) FROM (SELECT c, line FROM snowdrift.column_obstacles(plan) AS o(c, line)
        UNION ALL SELECT NULL, unnest(refusals)) AS all_lines(c, line));
    -- What depends on a listed object is listed, too.
    WHILE coalesce(cardinality(listed), 0) <> previous LOOP
        previous := coalesce(cardinality(listed), 0);
        listed := ARRAY(SELECT d FROM unnest(plan.dependents) AS d
            WHERE snowdrift.obstacle_to_create(class, object, is_smallint) IS NOT NULL
                OR (class, object, part) IN (SELECT class, object, part FROM unnest(listed))
                OR (needed_class, needed, needed_part) IN (SELECT class, object, part FROM unnest(listed)));
    END LOOP;
    SELECT string_agg(pg_describe_object(class, object, part) || coalesce(' (' || nullif(reason, '') || ')', '')
            || ' depends on ' || pg_describe_object(needed_class, needed, needed_part), E'\n' ORDER BY level DESC, class, object, part),
        string_agg(dropped || ';', E'\n' ORDER BY level DESC, class, object, part),
        concat_ws(E'\n', string_agg(created || ';', E'\n' ORDER BY level, class DESC, object DESC, part),
            -- The owner of a materialized view may read these rows; a policy can be created after the view.
            string_agg(format('REFRESH MATERIALIZED VIEW %s;', snowdrift.qualified_name(filled.oid)), E'\n' ORDER BY level, object DESC) FILTER (WHERE filled.oid IS NOT NULL))
    INTO lines, drops, creates
    FROM (SELECT DISTINCT ON (class, object, part) *,
                coalesce(nullif(snowdrift.obstacle_to_create(class, object, is_smallint), ''), snowdrift.needs_integers(class, object, is_smallint)) AS reason
            FROM unnest(listed) ORDER BY class, object, part, level DESC, needed_class, needed, needed_part) AS l
        LEFT JOIN pg_class AS filled ON class = 'pg_class'::regclass AND filled.oid = object AND relkind = 'm' AND relispopulated,
        snowdrift.statements_for(class, object, part);
    IF lines IS NULL AND first_lines IS NULL THEN
        RETURN;
    END IF;
    -- Once these objects are dropped, nothing else uses the keys' sequences, and the conversion drops them.
    FOR sequence IN SELECT o.sequence FROM snowdrift.owned_sequences(ARRAY(SELECT member FROM snowdrift.with_inheriting(plan.new_keys))) AS o LOOP
        creates := replace(creates, format('nextval(%L::regclass)', sequence), plan.call);
    END LOOP;
    RAISE '%', CASE WHEN refusals IS NULL THEN 'cannot convert keys because other objects depend on columns whose types must change'
            ELSE 'cannot convert keys while applications write' END
        USING ERRCODE = '0A000', DETAIL = concat_ws(E'\n', first_lines, lines),
        HINT = CASE WHEN lines IS NULL AND refusals IS NULL THEN 'Change these columns first.'
            WHEN lines IS NULL THEN 'Change these first, or use snowdrift.convert_keys(), which locks the tables until it ends; if a conversion has begun, run abandon_script() before.'
            ELSE concat_ws(E'\n', concat(CASE WHEN refusals IS NULL THEN 'In one transaction that begins with SET LOCAL lock_timeout = ''2s'', drop' ELSE 'Drop' END,
                    ' these objects in this order, convert the keys, and create the objects again in the reverse order:'),
                drops, '-- convert the keys here', creates,
                CASE WHEN creates ~ '[[:<:]](integer|smallint)[[:>:]]' OR lines ~ 'which takes integers' THEN 'First, let these statements, and the functions that they call, use bigint instead of integer.' END,
                CASE WHEN drops ~ 'DROP POLICY' THEN 'Without a policy, rows are hidden or, if it is restrictive, visible: rather let it call functions of bigint, with a cast of the key to bigint, by ALTER POLICY.' END,
                (SELECT format('New keys can be shortened in %s, so that they become equal, or show ##: use 19 digits there.', string_agg(object, ', ' ORDER BY object))
                    FROM snowdrift.narrow_expressions(plan) WHERE reason = 'width' HAVING count(*) > 0),
                'Also give the objects again what is not in these statements, such as privileges on columns, comments, options and replica identities.',
                CASE WHEN creates ~ ' ADD COLUMN ' THEN 'The columns are then the last ones of their tables: change what relies on their order, such as functions that return rows.' END) END;
END $$;

-- What prevents a change of a column's type, apart from objects that depend on it
CREATE FUNCTION snowdrift.column_obstacles(plan snowdrift.conversion, OUT member snowdrift.key_column, OUT line text) RETURNS SETOF record
    LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT m, pg_describe_object('pg_class'::regclass, c.oid, attnum) || ' ' || problem
    FROM (SELECT m, true FROM unnest((plan).members) AS m UNION ALL SELECT k, false FROM unnest((plan).new_keys) AS k) AS columns(m, is_member)
        JOIN pg_attribute ON attrelid = (m)."table" AND attnum = (m).number
        JOIN pg_class AS c ON c.oid = attrelid JOIN pg_type AS t ON t.oid = atttypid,
        LATERAL (
            SELECT format('is of the domain type %s; change its type to bigint first', format_type(atttypid, NULL)) WHERE typbasetype <> 0
            UNION ALL
            SELECT CASE WHEN other ~ '^trigger snowdrift_hold_' THEN 'is watched; call snowdrift.unwatch() first, and snowdrift.watch() afterwards'
                ELSE format('has an identity, whose sequence is also used by %s; change that first', other) END
            FROM snowdrift.owned_sequences(ARRAY[m]) AS i, snowdrift.other_users(i.sequence, ARRAY(SELECT member FROM snowdrift.with_inheriting((plan).keys))) AS other
            WHERE i.is_identity AND other !~ '^trigger snowdrift_(insert|update)_'    -- of the same watch
            UNION ALL
            SELECT 'is in a typed table' WHERE reloftype <> 0 AND is_member
            UNION ALL
            SELECT 'is part of the partition key of its table; move the rows to a partitioned table in which the column is of type bigint'
            FROM pg_partitioned_table WHERE partrelid = c.oid AND is_member
                AND (attnum = ANY (partattrs) OR EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = c.oid AND objsubid = 0
                    AND refclassid = 'pg_class'::regclass AND refobjid = c.oid AND refobjsubid = attnum AND deptype = 'i'))
            UNION ALL
            SELECT format('is in the type of %s; change that first', pg_describe_object('pg_class'::regclass, u.attrelid, u.attnum))
            FROM pg_type AS row_type, pg_depend, pg_attribute AS u JOIN pg_class AS uc ON uc.oid = u.attrelid AND uc.relkind IN ('r', 'p', 'm')
            WHERE is_member AND row_type.oid = c.reltype AND refclassid = 'pg_type'::regclass AND refobjid IN (row_type.oid, row_type.typarray)
                AND classid = 'pg_class'::regclass AND u.attrelid = objid AND u.attnum = objsubid AND objsubid > 0
            UNION ALL
            SELECT format('is in the replica identity of its table; run ALTER TABLE %s REPLICA IDENTITY FULL first, and set the index again afterwards',
                snowdrift.qualified_name(c.oid))
            FROM pg_index AS i JOIN pg_class AS ic ON ic.oid = indexrelid
            WHERE indrelid = c.oid AND is_member AND indisreplident AND ic.relispartition AND attnum = ANY (indkey) AND c.relreplident = 'i'
        ) AS p(problem)
    GROUP BY m, c.oid, attnum, problem;
END;
