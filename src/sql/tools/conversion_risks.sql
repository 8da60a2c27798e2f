-- Conversion of keys: what can fail afterwards. These are guesses from names and texts: code outside of the database, and
-- statements that functions put together, are not seen.

-- The columns in partition keys that will get new keys
CREATE FUNCTION snowdrift.partitioned_by_new_keys(plan snowdrift.conversion) RETURNS SETOF snowdrift.key_column LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT DISTINCT ON (root) member FROM snowdrift.with_inheriting(snowdrift.with_referring((plan).new_keys))
        JOIN pg_partitioned_table ON partrelid = (member)."table"
    WHERE partstrat IN ('r', 'l') AND ((member).number = ANY (partattrs) OR EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass
        AND objid = partrelid AND objsubid = 0 AND refclassid = 'pg_class'::regclass AND refobjid = partrelid AND refobjsubid = (member).number AND deptype = 'i'))
    ORDER BY root, member;
END;

-- A name in lower case, with "_" before, between and after its words
CREATE FUNCTION snowdrift.words_of(name text) RETURNS text LANGUAGE sql IMMUTABLE
    RETURN concat('_', lower(regexp_replace(name, '([a-z0-9])([A-Z])', E'\\1_\\2', 'g')), '_');

-- A pattern for the names of the tables with new keys, in all forms that can be the singular; null if there are none
CREATE FUNCTION snowdrift.key_words(plan snowdrift.conversion) RETURNS text LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT format('(%s)_', string_agg(DISTINCT regexp_replace(singular, '[^[:alnum:]_]', '.', 'g'), '|')) FROM unnest((plan).new_keys) AS k JOIN pg_class AS t ON t.oid = k."table",
        LATERAL (SELECT snowdrift.words_of(relname)) AS w(word), LATERAL (VALUES (substring(word FROM '^(.*[^s]|.*ss)_$')),
            (substring(word FROM '^(.*[^s])s_$')), (substring(word FROM '^(.*(s|x|z|ch|sh))es_$')), (substring(word FROM '^(.*)ies_$') || 'y')) AS v(singular)
    WHERE length(singular) > 3 HAVING count(*) > 0;
END;

-- Whether a name seems to be a reference's: it is a table's or, unless excluded, ends like a reference, or contains a table's and is no
-- count, position or status
CREATE FUNCTION snowdrift.is_reference(name text, key_words text) RETURNS boolean LANGUAGE sql STABLE
    RETURN snowdrift.words_of(name) ~ ('^' || key_words || '$') IS TRUE OR snowdrift.words_of(name) !~ '_(paid|valid|void|bid|grid|line_no|house_no)_$' AND (
        name ~* '(.ids?|by|_from|_to|_ref|_key|_no|parent|user|usr|creator|owner|author|editor|sender|receiver|recipient|assignee|approver|member)$'
        OR (snowdrift.words_of(name) ~ key_words
            AND name !~* '(^(num|number|count|total)_|(count|counter|number|num|total|position|rank|size|limit|length|duration|percent|score|version|year|status|type|cents|amount|sort_order|display_order)s?$)'));

-- Columns of integers without a foreign key. is_reference: has the name of a reference; in a schema without new keys, also that
-- of a table with new keys
CREATE FUNCTION snowdrift.narrow_columns(plan snowdrift.conversion, OUT column_of oid, OUT number smallint, OUT name name, OUT is_reference boolean)
    RETURNS SETOF record LANGUAGE sql STABLE
BEGIN ATOMIC
    WITH words(key_words) AS MATERIALIZED (SELECT snowdrift.key_words(plan)), schemas AS MATERIALIZED (
        SELECT DISTINCT relnamespace AS schema FROM unnest((plan).new_keys) AS k JOIN pg_class AS t ON t.oid = k."table"
    )
    SELECT attrelid, attnum, attname, CASE WHEN relnamespace IN (SELECT schema FROM schemas) THEN snowdrift.is_reference(attname, key_words)
        ELSE snowdrift.words_of(attname) ~ key_words AND snowdrift.is_reference(attname, NULL) IS TRUE END
    FROM pg_attribute JOIN pg_class AS c ON c.oid = attrelid JOIN pg_namespace AS n ON n.oid = relnamespace JOIN pg_type AS y ON y.oid = atttypid
        LEFT JOIN pg_attrdef AS d ON adrelid = attrelid AND adnum = attnum, words
    WHERE relkind IN ('r', 'p', 'f') AND NOT relispartition AND attnum > 0 AND NOT attisdropped AND attinhcount = 0 AND attidentity = '' AND attgenerated = ''
        AND CASE typbasetype WHEN 0 THEN atttypid ELSE snowdrift.base_type(atttypid) END IN ('int2'::regtype, 'int4'::regtype, 'int2[]'::regtype, 'int4[]'::regtype)
        AND nspname NOT LIKE 'pg!_%' ESCAPE '!' AND nspname NOT IN ('information_schema', 'snowdrift', 'snowdrift_tables') AND EXISTS (SELECT FROM schemas)
        AND (attrelid, attnum) NOT IN (SELECT m."table", m.number FROM unnest((plan).members) AS m)
        AND coalesce(pg_get_expr(adbin, adrelid), '') NOT LIKE '%nextval(%'
        AND NOT EXISTS (SELECT FROM pg_constraint WHERE contype = 'f' AND conrelid = attrelid AND attnum = ANY (conkey))
        AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = attrelid AND deptype = 'e');
END;

-- Columns that have the name of an ID of a table with new keys, and room for fewer than 19 digits
CREATE FUNCTION snowdrift.short_columns(plan snowdrift.conversion, OUT column_of oid, OUT number smallint, OUT digits integer) RETURNS SETOF record LANGUAGE sql STABLE
BEGIN ATOMIC
    WITH words(key_words) AS MATERIALIZED (
        SELECT snowdrift.key_words(plan)
    ), named AS MATERIALIZED (
        SELECT attrelid, attnum, atttypid, atttypmod FROM pg_attribute JOIN pg_class AS c ON c.oid = attrelid, words
        WHERE relkind IN ('r', 'p') AND NOT relispartition AND attnum > 0 AND NOT attisdropped AND attinhcount = 0
            AND atttypid IN ('text'::regtype, 'varchar'::regtype, 'bpchar'::regtype, 'numeric'::regtype)
            AND attname ~* '.id$' AND snowdrift.words_of(attname) ~ key_words
    )
    SELECT attrelid, attnum, min(room) FROM named, LATERAL (
        SELECT atttypmod - 4 WHERE atttypid IN ('varchar'::regtype, 'bpchar'::regtype) AND atttypmod > 4
        UNION ALL SELECT (atttypmod - 4 >> 16) - (atttypmod - 4 & 65535) WHERE atttypid = 'numeric'::regtype AND atttypmod > 4
        UNION ALL SELECT bound[2]::integer - (bound[1] = '<')::integer FROM pg_constraint, regexp_match(pg_get_constraintdef(oid), 'length[(][^<]*[)] (<=?) ([0-9]{1,3})[)]') AS bound
            WHERE conrelid = attrelid AND contype = 'c' AND conkey = ARRAY[attnum]) AS r(room)
    WHERE room < 19 AND NOT EXISTS (SELECT FROM pg_constraint WHERE contype = 'f' AND conrelid = attrelid AND attnum = ANY (conkey))
    GROUP BY attrelid, attnum;
END;

-- The functions of triggers on the tables of a conversion, and those whose texts or arguments name such a table, or a view of
-- one. is_rewritten: the types of the table's rows change.
CREATE FUNCTION snowdrift.functions_near(plan snowdrift.conversion, OUT function oid, OUT is_rewritten boolean) RETURNS SETOF record LANGUAGE sql STABLE
BEGIN ATOMIC
    WITH RECURSIVE relations("table", is_member) AS (
        SELECT "table", true FROM unnest((plan).members)
        UNION SELECT (member)."table", false FROM snowdrift.with_inheriting(snowdrift.with_referring((plan).new_keys))
        UNION SELECT ev_class, is_member FROM relations JOIN pg_depend ON refclassid = 'pg_class'::regclass AND refobjid = "table"
            JOIN pg_rewrite AS r ON classid = 'pg_rewrite'::regclass AND objid = r.oid AND rulename = '_RETURN'
    ), near AS MATERIALIZED (
        SELECT "table", bool_or(is_member) AS is_rewritten FROM relations GROUP BY "table"
    ), words AS MATERIALIZED (    -- where a table can be: in a FROM clause, in a type, as the type of a variable
        SELECT DISTINCT p.oid, coalesce(word[1], word[2], word[3]) AS word FROM pg_proc AS p JOIN pg_language AS l ON l.oid = prolang,
            regexp_matches(lower(prosrc), '(?:(?:[[:<:]](?:from|join|into|update|only|using|table)[[:space:]]+|,[[:space:]]*)(?:"?[[:alnum:]_$]+"?[.])?"?([[:alnum:]_$]+))'
                '|(?:([[:alnum:]_$]+)"?(?:[.]"?[[:alnum:]_$]+"?)?%(?:row)?type)|(?:([[:alnum:]_$]+)"?[[:space:]]*(?:;|:=))', 'g') AS word
        WHERE lanname IN ('plpgsql', 'sql') AND prosqlbody IS NULL AND pronamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace,
                'snowdrift'::regnamespace, 'snowdrift_tables'::regnamespace)
            AND prosrc NOT LIKE '%snowdrift%_tables.%' AND NOT starts_with(proname, '_snowdrift_')
            AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = p.oid AND deptype = 'e')
            AND EXISTS (SELECT FROM near)
    )
    SELECT function, bool_or(is_rewritten) FROM (
        SELECT tgfoid, is_rewritten FROM near JOIN pg_trigger ON tgrelid = "table" JOIN pg_proc AS p ON p.oid = tgfoid
        WHERE NOT tgisinternal AND tgname <> '~snowdrift' AND pronamespace <> 'snowdrift'::regnamespace
        UNION ALL SELECT words.oid, is_rewritten FROM near JOIN pg_class AS c ON c.oid = "table" JOIN words ON word = lower(relname)
        UNION ALL SELECT p.oid, is_rewritten FROM near JOIN pg_type AS t ON typrelid = "table" JOIN pg_depend ON refclassid = 'pg_type'::regclass
                AND refobjid IN (t.oid, typarray) AND classid = 'pg_proc'::regclass JOIN pg_proc AS p ON p.oid = objid) AS f(function, is_rewritten)
    GROUP BY function;
END;

-- PL/pgSQL functions that sessions must plan again. Changing a property to what it is does so, and needs the function's owner.
CREATE FUNCTION snowdrift.functions_to_replan(plan snowdrift.conversion, OUT function oid, OUT statement text, OUT owner oid, OUT is_allowed boolean)
    RETURNS SETOF record LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT p.oid, CASE prokind WHEN 'p' THEN format('ALTER PROCEDURE %s SECURITY %s', p.oid::regprocedure, CASE WHEN prosecdef THEN 'DEFINER' ELSE 'INVOKER' END)
            ELSE format('ALTER FUNCTION %s COST %s', p.oid::regprocedure, procost) END, proowner, pg_has_role(proowner, 'USAGE')
    FROM snowdrift.functions_near(plan) JOIN pg_proc AS p ON p.oid = function JOIN pg_language AS l ON l.oid = prolang
    WHERE is_rewritten AND lanname = 'plpgsql' AND prokind IN ('f', 'p');
END;

-- Why functions of triggers, those that name a table or are called by what depends on a key, and those that take an integer with
-- the name of a reference, can fail with new keys
CREATE FUNCTION snowdrift.integers_in_functions(plan snowdrift.conversion, OUT function oid, OUT reason text) RETURNS SETOF record LANGUAGE sql STABLE
BEGIN ATOMIC
    WITH words_of_keys(key_words) AS MATERIALIZED (
        SELECT snowdrift.key_words(plan)
    ), keys AS MATERIALIZED (
        SELECT attrelid AS "table", attnum AS number, regexp_replace(attname, '[^[:alnum:]_]', '.', 'g') AS name
        FROM snowdrift.with_inheriting(snowdrift.with_referring((plan).new_keys)) JOIN pg_attribute ON attrelid = (member)."table" AND attnum = (member).number
    ), near AS MATERIALIZED (
        SELECT p.oid, prosrc, coalesce(proallargtypes, proargtypes::oid[]) || prorettype AS types FROM pg_proc AS p
        WHERE p.oid IN (SELECT f.function FROM snowdrift.functions_near(plan) AS f
            UNION ALL SELECT objid FROM keys JOIN pg_depend ON refclassid = 'pg_class'::regclass AND refobjid = "table" AND refobjsubid = number AND classid = 'pg_proc'::regclass)
    ), narrow AS MATERIALIZED (
        SELECT column_of, string_agg(name::text, ', ' ORDER BY number) AS names FROM snowdrift.narrow_columns(plan)
        WHERE is_reference OR column_of NOT IN (SELECT m."table" FROM unnest((plan).members) AS m) GROUP BY column_of
    ), named AS MATERIALIZED (    -- by its own name, or by that of a view
        SELECT DISTINCT lower(relname) AS relname, format('names %s%s, whose columns %s are integers', CASE c.oid WHEN column_of THEN 'table ' ELSE format('view %s of table ', c.oid::regclass) END,
            column_of::regclass, names) AS reason
        FROM narrow, LATERAL (SELECT column_of UNION SELECT ev_class FROM pg_depend JOIN pg_rewrite AS r ON classid = 'pg_rewrite'::regclass AND objid = r.oid
            WHERE refclassid = 'pg_class'::regclass AND refobjid = column_of AND ev_class <> column_of) AS v(relation)
            JOIN pg_class AS c ON c.oid = relation
    ), words AS MATERIALIZED (
        SELECT DISTINCT near.oid, lower(word[1]) AS word FROM near, regexp_matches(prosrc, '[[:alnum:]_$]+', 'g') AS word
    ), calls AS MATERIALIZED (
        SELECT DISTINCT near.oid, lower(word[1]) AS name FROM near, regexp_matches(prosrc, '([[:alnum:]_$]+)"?[[:space:]]*[(]', 'g') AS word
    )
    SELECT oid, string_agg(reason, '; ' ORDER BY n, reason) FROM (
        SELECT oid, 1, 'declares, takes or returns integers' FROM near WHERE prosrc ~* '[[:<:]](smallint|int2|integer|int|int4)[[:>:]]'
            OR types && '{int2,int4,int2[],int4[]}'::regtype[]::oid[]
        UNION ALL
        SELECT calls.oid, 2, 'calls ' || q.oid::regprocedure FROM calls JOIN pg_proc AS q ON lower(proname) = calls.name
        WHERE q.oid <> calls.oid AND pronamespace <> 'pg_catalog'::regnamespace AND proargtypes::oid[] && '{int2,int4,int2[],int4[]}'::regtype[]::oid[]
        UNION ALL
        SELECT DISTINCT near.oid, 2, format('calls %s(integer,integer)', lower(word[1])) FROM near, regexp_matches(prosrc,
            '(pg_(?:try_)?advisory_(?:xact_)?(?:un)?lock(?:_shared)?)[[:space:]]*[(](?:[^(),]|[(](?:[^()]|[(][^()]*[)])*[)])*,(?![[:space:]]*(?:hashtext|[0-9]))', 'gi') AS word
        UNION ALL
        SELECT p.oid, 1, 'takes integers' FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = pronamespace, words_of_keys
        WHERE key_words IS NOT NULL AND p.oid NOT IN (SELECT near.oid FROM near) AND nspname NOT LIKE 'pg!_%' ESCAPE '!'
            AND nspname NOT IN ('information_schema', 'snowdrift', 'snowdrift_tables') AND prokind IN ('f', 'p')
            AND EXISTS (SELECT FROM unnest(coalesce(proallargtypes, proargtypes::oid[]), proargnames, proargmodes) AS a(type, name, mode)
                WHERE type IN ('int2'::regtype, 'int4'::regtype) AND coalesce(mode, 'i') IN ('i', 'b', 'v') AND snowdrift.is_reference(regexp_replace(name, '^(p|in|v)?_', ''), key_words))
            AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = p.oid AND deptype = 'e')
        UNION ALL
        SELECT p.oid, 1, format('returns integers, and is called by %s', min(regexp_replace(pg_describe_object(d.classid, d.objid, d.objsubid), '^rule "?_RETURN"? on ', '')))
        FROM keys JOIN pg_depend AS d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = "table" AND d.refobjsubid = number
            JOIN pg_depend AS f ON f.classid = d.classid AND f.objid = d.objid AND f.refclassid = 'pg_proc'::regclass JOIN pg_proc AS p ON p.oid = f.refobjid
            LEFT JOIN pg_rewrite AS r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid AND rulename = '_RETURN'
        WHERE prorettype IN ('int2'::regtype, 'int4'::regtype, 'int2[]'::regtype, 'int4[]'::regtype) AND pronamespace <> 'pg_catalog'::regnamespace AND p.oid NOT IN (SELECT near.oid FROM near)
            AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = p.oid AND deptype = 'e')
            AND (ev_class IS NULL OR pg_get_viewdef(ev_class) ~ format('[[:<:]]%1$s"?[)]* (%2$s|IN)( ANY)? [( ]*(SELECT |COALESCE[(])?([^ ().]+[.])?"?%3$s"?[(]'
                || '|[[:<:]]%3$s"?[(]([^()]|[(]([^()]|[(][^()]*[)])*[)])*[)]( AS [^ ()]+)?[ )]*(%2$s) [( ]*([^ ().]+[.])?"?%1$s[[:>:]]',
                keys.name, '[<=>]+|IS (NOT )?DISTINCT FROM', regexp_replace(proname, '[^[:alnum:]_]', '.', 'g')))    -- compared with a key
        GROUP BY p.oid
        UNION ALL
        SELECT words.oid, 3, reason FROM words JOIN named ON relname = word
    ) AS r(oid, n, reason)
    GROUP BY oid;
END;

-- Views that name a table with new keys, and declare integers for the rows of a function, as crosstab() needs
CREATE FUNCTION snowdrift.views_of_integers(plan snowdrift.conversion, OUT view oid, OUT "table" oid) RETURNS SETOF record LANGUAGE sql STABLE
BEGIN ATOMIC
    WITH near AS MATERIALIZED (
        SELECT DISTINCT (member)."table" AS oid FROM snowdrift.with_inheriting(snowdrift.with_referring((plan).new_keys))
    )
    SELECT DISTINCT ON (ev_class) ev_class, c.oid FROM pg_rewrite, regexp_matches(pg_get_viewdef(ev_class), '[[:alnum:]_$]+', 'g') AS word
        JOIN pg_class AS c ON relname = word[1] JOIN near ON near.oid = c.oid
    WHERE rulename = '_RETURN' AND ev_action::text ~ ':funccoltypes [(]o [^)]*[[:<:]](21|23)[[:>:]]' ORDER BY ev_class, c.oid;
END;

-- Functions that use a sequence that the conversion drops: by its name, or with a function that finds it without its name
CREATE FUNCTION snowdrift.functions_of_sequences(plan snowdrift.conversion, OUT function oid, OUT reason text) RETURNS SETOF record LANGUAGE sql STABLE
BEGIN ATOMIC
    WITH sequences AS MATERIALIZED (
        SELECT c.oid, lower(relname) AS relname FROM snowdrift.unused_sequences(plan) JOIN pg_class AS c ON c.oid = sequence
    ), words AS MATERIALIZED (
        SELECT DISTINCT p.oid, lower(word[1]) AS word FROM pg_proc AS p JOIN pg_language AS l ON l.oid = prolang,
            regexp_matches(prosrc, '[[:alnum:]_$]+', 'g') AS word
        WHERE lanname NOT IN ('internal', 'c') AND prosqlbody IS NULL AND EXISTS (SELECT FROM sequences)
            AND pronamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace, 'snowdrift'::regnamespace, 'snowdrift_tables'::regnamespace)
    )
    SELECT words.oid, 'uses ' || string_agg(s.oid::regclass::text, ', ' ORDER BY s.oid) FROM words JOIN sequences AS s ON relname = word GROUP BY words.oid
    UNION ALL
    SELECT f.function, 'calls ' || string_agg(word, ' and ' ORDER BY word) FROM snowdrift.functions_near(plan) AS f JOIN words ON words.oid = f.function
    WHERE word IN ('lastval', 'pg_get_serial_sequence') GROUP BY f.function;
END;

-- Whether an expression casts a text, a JSON value, or a column of a longer integer type (or its max or min) to smallint or integer, or
-- to an array of them. Counts, truth values and parts of times are no keys. Casts of other expressions of keys are not found.
CREATE FUNCTION snowdrift.casts_to_integer(expression text) RETURNS boolean LANGUAGE sql STABLE
    RETURN expression ~ (SELECT format(':resulttype (21|23|1005|1007) :resultcollid|:funcid (%s|%s) |:funcid (%s|%s|%s) [^{]*:args [(][{](VAR|AGGREF :aggfnoid (%s|%s)) ',
        'int2(jsonb)'::regprocedure::oid, 'int4(jsonb)'::regprocedure::oid, 'int2(int4)'::regprocedure::oid, 'int2(int8)'::regprocedure::oid,
        'int4(int8)'::regprocedure::oid, 'max(int8)'::regprocedure::oid, 'min(int8)'::regprocedure::oid));

-- The parsed expressions of an object
CREATE FUNCTION snowdrift.expressions_of(class oid, object oid) RETURNS text LANGUAGE sql STABLE
    RETURN CASE class WHEN 'pg_rewrite'::regclass THEN (SELECT concat(ev_action, ev_qual) FROM pg_rewrite WHERE oid = object)
        WHEN 'pg_attrdef'::regclass THEN (SELECT adbin::text FROM pg_attrdef WHERE oid = object)
        WHEN 'pg_constraint'::regclass THEN (SELECT conbin::text FROM pg_constraint WHERE oid = object)
        WHEN 'pg_policy'::regclass THEN (SELECT concat(polqual, polwithcheck) FROM pg_policy WHERE oid = object)
        WHEN 'pg_trigger'::regclass THEN (SELECT tgqual::text FROM pg_trigger WHERE oid = object)
        WHEN 'pg_proc'::regclass THEN (SELECT prosqlbody::text FROM pg_proc WHERE oid = object)
        WHEN 'pg_class'::regclass THEN coalesce((SELECT concat(indexprs, indpred) FROM pg_index WHERE indexrelid = object),
            (SELECT ev_action::text FROM pg_rewrite WHERE ev_class = object AND rulename = '_RETURN')) END;

-- What casts keys and their references to integers, compares them with a number that is less than new keys, formats them to a width,
-- or asks for the last number of a sequence
CREATE FUNCTION snowdrift.narrow_expressions(plan snowdrift.conversion, OUT object text, OUT reason text) RETURNS SETOF record LANGUAGE sql STABLE
BEGIN ATOMIC
    WITH keys AS MATERIALIZED (
        SELECT member, concat('[[:<:]]', name, '"?([)]::[a-z ]+|, [0-9]+|[)])* <=? [(]*''?[0-9]{1,17}([^0-9.]|$)|[( ][0-9]{1,17}[)]*(::[a-z]+)? >=? [(]*([^ ().]+[.])?"?', name, '[[:>:]]') AS limited,
            '(lpad|to_char|"?left"?|"?right"?|"?substr(ing)?"?)[[:space:]]*[(]([([:space:]]|(cast|max|min)[(])*([[:alnum:]_$"]+[)]?[.])?"?' || name
            || '"?([)[:space:]]|::[a-z ]+|as [a-z ]+)*(,|[[:<:]]from)(?![[:space:]]*(1(,| for)[[:space:]]*)?(19|[2-9][0-9]|1[0-9][0-9]|''([^''09]*[09]){19}))' AS formatted
        FROM snowdrift.with_inheriting(snowdrift.with_referring((plan).new_keys)) JOIN pg_attribute ON attrelid = (member)."table" AND attnum = (member).number,
            LATERAL (SELECT regexp_replace(attname, '[^[:alnum:]_]', '.', 'g')) AS n(name)
    ), bodies AS MATERIALIZED (
        SELECT p.oid, coalesce(pg_get_function_sqlbody(p.oid), prosrc) AS body FROM snowdrift.functions_near(plan) JOIN pg_proc AS p ON p.oid = function
    )
    SELECT DISTINCT CASE WHEN ev_class IS NULL THEN pg_describe_object(classid, objid, objsubid) WHEN rulename = '_RETURN' THEN pg_describe_object('pg_class'::regclass, ev_class, 0)
            ELSE pg_describe_object('pg_rewrite'::regclass, objid, 0) END, reason
    FROM keys
        JOIN pg_depend AS d ON refclassid = 'pg_class'::regclass AND refobjid = (member)."table" AND refobjsubid = (member).number
        LEFT JOIN pg_rewrite AS r ON classid = 'pg_rewrite'::regclass AND r.oid = objid
        LEFT JOIN pg_attrdef AS a ON classid = 'pg_attrdef'::regclass AND a.oid = objid
        LEFT JOIN pg_attribute AS g ON attrelid = adrelid AND attnum = adnum AND (attgenerated <> '' OR member <> ALL ((plan).new_keys))
        LEFT JOIN pg_constraint AS c ON classid = 'pg_constraint'::regclass AND c.oid = objid AND contype = 'c',
        LATERAL (SELECT coalesce(pg_get_constraintdef(c.oid), CASE WHEN g.attnum IS NOT NULL THEN pg_get_expr(adbin, adrelid) END, CASE classid WHEN 'pg_class'::regclass THEN pg_get_indexdef(objid) WHEN 'pg_proc'::regclass THEN pg_get_function_sqlbody(objid)
                WHEN 'pg_trigger'::regclass THEN pg_get_triggerdef(objid)
                WHEN 'pg_policy'::regclass THEN (SELECT concat(pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid)) FROM pg_policy WHERE oid = objid) END,
            CASE rulename WHEN '_RETURN' THEN pg_get_viewdef(ev_class) END)) AS t(text),
        LATERAL (VALUES (snowdrift.casts_to_integer(snowdrift.expressions_of(classid, objid)), 'cast'),
            (attgenerated <> '' AND g.atttypid IN ('int2'::regtype, 'int4'::regtype), 'cast'),
            (c.oid IS NOT NULL AND text ~ limited AND text !~ '[[:<:]]num_(non)?nulls[(]', 'limit'),
            (text ~* formatted, 'width')) AS e(is_narrow, reason)
    WHERE is_narrow AND coalesce(c.coninhcount, g.attinhcount, 0) = 0 AND NOT EXISTS (SELECT FROM pg_inherits WHERE classid = 'pg_class'::regclass AND inhrelid = objid)
    UNION SELECT pg_describe_object(class, object, part), 'cast' FROM unnest((plan).dependents) WHERE snowdrift.casts_to_integer(snowdrift.expressions_of(class, object))    -- also views of views
    UNION SELECT pg_describe_object('pg_proc'::regclass, bodies.oid, 0), 'width' FROM bodies JOIN keys ON body ~* formatted
    UNION SELECT pg_describe_object(class, e.oid, 0), 'last number' FROM (SELECT DISTINCT (member)."table" FROM keys) AS t,
        LATERAL (SELECT 'pg_attrdef'::regclass, oid, pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = "table"
            UNION ALL SELECT 'pg_rewrite'::regclass, oid, pg_get_ruledef(oid) FROM pg_rewrite WHERE ev_class = "table") AS e(class, oid, text)
    WHERE text ~ '[[:<:]]lastval[(]' OR text ~ '[[:<:]]currval[(]' AND EXISTS (SELECT FROM snowdrift.owned_sequences(ARRAY(SELECT member FROM snowdrift.with_inheriting((plan).new_keys))) AS o
        JOIN pg_depend ON classid = class AND objid = e.oid AND refclassid = 'pg_class'::regclass AND refobjid = o.sequence);
END;

-- The function that new keys call, and the one that it calls in the SQL edition
CREATE FUNCTION snowdrift.generator_functions(plan snowdrift.conversion) RETURNS regprocedure[] LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT f || ARRAY(SELECT refobjid::regprocedure FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = f AND refclassid = classid)
    FROM (VALUES (CASE WHEN (plan).call LIKE '%()' THEN '@extschema@.next_snowflake()'::regprocedure ELSE '@extschema@.next_snowflake(text)'::regprocedure END)) AS v(f);
END;

-- The roles that may insert into a table with new keys, but not call the generator
CREATE FUNCTION snowdrift.roles_without_generator(plan snowdrift.conversion, OUT "table" oid, OUT role text) RETURNS SETOF record LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT k."table", snowdrift.grantee_name(r) FROM unnest((plan).new_keys) AS k, snowdrift.inserting_roles(k."table") AS r
    WHERE EXISTS (SELECT FROM unnest(snowdrift.generator_functions(plan)) AS f
        WHERE NOT CASE r WHEN 0 THEN has_function_privilege('public', f::oid, 'EXECUTE') ELSE has_function_privilege(r, f::oid, 'EXECUTE') END);
END;

-- One line per risk, as a comment in SQL: the kind, the object, what will happen, and what to do.
CREATE FUNCTION snowdrift.conversion_risks(plan snowdrift.conversion, dry_run boolean) RETURNS SETOF text
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off SET jit = off AS $$
#variable_conflict use_column
BEGIN
    IF cardinality(plan."tables") = 0 THEN
        RETURN;
    END IF;
    RETURN QUERY SELECT regexp_replace('-- warning: ' || text, '[[:cntrl:]]', ' ', 'g') FROM (
        SELECT 1 AS kind, m."table" AS o, m.number::text AS n, format('partition key: column %I of table %s: new keys are far above the old ones; create partitions for them%s, before or in the same transaction',
            attname, attrelid::regclass, CASE partstrat WHEN 'r' THEN ' with snowdrift.create_partitions() and its argument layout' END) AS text
        FROM snowdrift.partitioned_by_new_keys(plan) AS m JOIN pg_attribute ON attrelid = m."table" AND attnum = m.number JOIN pg_partitioned_table ON partrelid = attrelid
        UNION ALL
        SELECT 2, column_of, number::text, format('no foreign key: column %I of table %s: new keys raise 22003; if it refers to a converted key, run ALTER TABLE %s ALTER COLUMN %I TYPE %s;',
            name, column_of::regclass, column_of::regclass, name,
            CASE WHEN atttypid IN ('int2[]'::regtype, 'int4[]'::regtype) THEN 'bigint[]' ELSE 'bigint' END)
        FROM snowdrift.narrow_columns(plan) JOIN pg_attribute ON attrelid = column_of AND attnum = number WHERE is_reference
        UNION ALL
        SELECT 2, column_of, number::text, format('short column: column %I of table %s: it has room for %s digits, and new keys can have 19', attname, column_of::regclass, digits)
        FROM snowdrift.short_columns(plan) JOIN pg_attribute ON attrelid = column_of AND attnum = number
        UNION ALL
        SELECT 3, function, '', format('integers in a function: %s: new keys can raise an error, because it %s; use bigint there', function::regprocedure, reason)
        FROM snowdrift.integers_in_functions(plan)
        UNION ALL
        SELECT 4, function, '', format('open connections: %s: sessions that have run it raise 42804 until they reconnect; as role %s, run %s;',
            function::regprocedure, owner::regrole, statement)
        FROM snowdrift.functions_to_replan(plan) WHERE NOT is_allowed
        UNION ALL
        SELECT 3, view, '', format('integers in a view: %s: new keys can raise an error there, because it names table %s and declares integers for the result of a function; use bigint there',
            view::regclass, v."table"::regclass)
        FROM snowdrift.views_of_integers(plan) AS v
        UNION ALL
        SELECT 3, function, 'sequence', format('dropped sequence: %s: it can fail after the conversion, because it %s; use RETURNING, or %s',
            function::regprocedure, reason, plan.call)
        FROM snowdrift.functions_of_sequences(plan)
        UNION ALL
        SELECT 5, NULL, object, format(CASE reason WHEN 'cast' THEN 'cast to integer: %s: casting a new key there, or comparing one with the result, raises 22003; use bigint there before the conversion'
            WHEN 'limit' THEN 'limit: %s: its number is small, so new keys can violate it; raise the number'
            WHEN 'last number' THEN 'last number: %s: it calls currval or lastval, which raise 55000 or return an old number; use a trigger with the new row'
            ELSE 'fixed width: %s: it can shorten new keys, so that they become equal, or show ##; use 19 digits' END, object)
        FROM snowdrift.narrow_expressions(plan)
        UNION ALL
        SELECT 0, p."table", role, format('privilege: table %s: role %s may insert rows, but not draw keys; run GRANT EXECUTE ON FUNCTION %s TO %s;',
            p."table"::regclass, role, array_to_string(snowdrift.generator_functions(plan), ', '), role)
        FROM snowdrift.roles_without_generator(plan) AS p
        UNION ALL
        SELECT 6, k."table", '', format('keys not checked: table %s: row-level security hides rows from a dry run; the conversion compares the keys', k."table"::regclass)
        FROM unnest(plan.new_keys) AS k WHERE dry_run AND k."table" IN (SELECT snowdrift.forced_tables(plan))
    ) AS r ORDER BY kind, o, n;
END $$;
