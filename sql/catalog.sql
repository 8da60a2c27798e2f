-- The extension's catalog entries are complete
CREATE TEMP VIEW members AS
SELECT classid, objid FROM pg_depend
WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e'
    AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'snowdrift');

-- The functions in the extension's schema are those that users call. All others are in the schema snowdrift.
SELECT p.oid::regprocedure AS users_call
FROM pg_proc AS p JOIN members ON classid = 'pg_proc'::regclass AND objid = p.oid
WHERE pronamespace = (SELECT extnamespace FROM pg_extension WHERE extname = 'snowdrift')
ORDER BY p.oid::regprocedure::text COLLATE "C";

-- operator classes
SELECT opcintype::regtype AS type, amname, opcname, opcdefault, amvalidate(c.oid)
FROM pg_opclass AS c JOIN members ON classid = 'pg_opclass'::regclass AND objid = c.oid
    JOIN pg_am AS a ON a.oid = opcmethod
ORDER BY opcintype::regtype::text COLLATE "C", amname, opcname;

-- operators; each has a commutator, a negator and estimators
SELECT o.oid::regoperator, oprcom::regoperator AS commutator, oprnegate::regoperator AS negator,
    oprrest, oprjoin, oprcanhash AS hash, oprcanmerge AS merge
FROM pg_operator AS o JOIN members ON classid = 'pg_operator'::regclass AND objid = o.oid
ORDER BY oprleft::regtype::text COLLATE "C", oprname COLLATE "C",
    oprright::regtype::text COLLATE "C";
SELECT o.oid::regoperator
FROM pg_operator AS o JOIN members ON classid = 'pg_operator'::regclass AND objid = o.oid
WHERE 0 IN (oprcom, oprnegate, oprrest, oprjoin);

-- An operator with only built-in types could change unrelated queries. Each therefore has an ID or layout operand,
-- and none takes a range.
SELECT DISTINCT oprleft::regtype::text COLLATE "C" AS "left", oprright::regtype::text COLLATE "C" AS "right"
FROM pg_operator AS o JOIN members ON classid = 'pg_operator'::regclass AND objid = o.oid
ORDER BY 1, 2;

-- Each time predicate has a support function in the schema snowdrift, and there the two functions that it calls instead.
-- uuidv7_within_pruned() has those of uuidv7_within().
SELECT p.oid::regprocedure AS predicate, p.prosupport AS support, first.oid::regprocedure AS first, last.oid::regprocedure AS last
FROM pg_proc AS p JOIN members ON classid = 'pg_proc'::regclass AND objid = p.oid
    CROSS JOIN LATERAL (SELECT array_agg(type ORDER BY n) AS types
        FROM unnest(proargtypes) WITH ORDINALITY AS types(type, n)
        WHERE n <> CASE proargtypes[0] WHEN 'timestamptz'::regtype THEN 2 ELSE 1 END) AS times
    LEFT JOIN pg_proc AS first ON first.pronamespace = 'snowdrift'::regnamespace
        AND first.proname = 'first_' || replace(p.proname, '_pruned', '') AND ARRAY(SELECT unnest(first.proargtypes)) = types
        AND first.prosrc = 'snowdrift_' || first.proname
    LEFT JOIN pg_proc AS last ON last.pronamespace = 'snowdrift'::regnamespace
        AND last.proname = 'last_' || replace(p.proname, '_pruned', '') AND ARRAY(SELECT unnest(last.proargtypes)) = types
        AND last.prosrc = 'snowdrift_' || last.proname
WHERE p.prosupport <> 0
ORDER BY p.oid::regprocedure::text COLLATE "C";

-- Few functions run with their owner's privileges: a trigger that reads sequences, those that publish and read watermarks, and those that
-- change and return the keys of seals. Those that resolve names at run time have a fixed search path, except those that execute statements on users' tables.
SELECT p.oid::regprocedure FROM pg_proc AS p JOIN members ON classid = 'pg_proc'::regclass AND objid = p.oid WHERE prosecdef
ORDER BY p.oid::regprocedure::text COLLATE "C";
SELECT p.oid::regprocedure FROM pg_proc AS p JOIN members ON classid = 'pg_proc'::regclass AND objid = p.oid
WHERE (SELECT lanname FROM pg_language AS l WHERE l.oid = prolang) <> 'c' AND prosqlbody IS NULL AND prokind = 'f'
    AND NOT 'search_path=pg_catalog, pg_temp' = ANY (coalesce(proconfig, '{}'))
ORDER BY p.oid::regprocedure::text COLLATE "C";

-- Functions that PUBLIC cannot call, and what PUBLIC can do with relations; nobody else has a privilege except the superuser
-- who created the extension.
SELECT p.oid::regprocedure FROM pg_proc AS p JOIN members ON classid = 'pg_proc'::regclass AND objid = p.oid
WHERE NOT EXISTS (SELECT FROM aclexplode(coalesce(proacl, acldefault('f', proowner))) WHERE grantee = 0)
ORDER BY p.oid::regprocedure::text COLLATE "C";
SELECT CASE relkind WHEN 'v' THEN 'view' WHEN 'S' THEN 'sequence' ELSE 'table' END AS kind, c.oid::regclass AS relation,
    (SELECT string_agg(privilege_type, ', ') FROM aclexplode(relacl) WHERE grantee = 0) AS public
FROM pg_class AS c JOIN members ON classid = 'pg_class'::regclass AND objid = c.oid
WHERE relkind <> 'i' ORDER BY c.oid::regclass::text COLLATE "C";
SELECT pg_describe_object(classid, objid, 0), grantee::regrole, privilege_type
FROM members LEFT JOIN pg_proc AS p ON classid = 'pg_proc'::regclass AND p.oid = objid
    LEFT JOIN pg_class AS c ON classid = 'pg_class'::regclass AND c.oid = objid
    LEFT JOIN pg_namespace AS n ON classid = 'pg_namespace'::regclass AND n.oid = objid
    CROSS JOIN LATERAL aclexplode(coalesce(proacl, relacl, nspacl))
WHERE grantee NOT IN (0, (SELECT extowner FROM pg_extension WHERE extname = 'snowdrift'));

-- casts; none is implicit
SELECT castsource::regtype, casttarget::regtype, castfunc::regprocedure, castcontext, castmethod
FROM pg_cast AS c JOIN members ON classid = 'pg_cast'::regclass AND objid = c.oid
ORDER BY castsource::regtype::text COLLATE "C", casttarget::regtype::text COLLATE "C";

-- comparisons are leakproof
SELECT proname FROM pg_proc AS p JOIN members ON classid = 'pg_proc'::regclass AND objid = p.oid
WHERE proleakproof ORDER BY proname;

-- aggregates can run in parallel and use an index
SELECT aggfnoid::regprocedure, proparallel, aggcombinefn, aggsortop::regoperator
FROM pg_aggregate JOIN members ON classid = 'pg_proc'::regclass AND objid = aggfnoid
    JOIN pg_proc AS p ON p.oid = aggfnoid
ORDER BY proname, aggfnoid::regprocedure::text COLLATE "C";

-- functions that are not immutable, strict and parallel safe
SELECT p.oid::regprocedure, provolatile, proisstrict, proparallel
FROM pg_proc AS p JOIN members ON classid = 'pg_proc'::regclass AND objid = p.oid
WHERE prokind = 'f' AND NOT (provolatile = 'i' AND proisstrict AND proparallel = 's')
ORDER BY proname, p.oid::regprocedure::text COLLATE "C";

-- Every object has a comment, except the types of arrays and rows, the operator families, which belong to their classes,
-- and the parts of functions in SQL, which comments in the script describe.
SELECT pg_describe_object(classid, objid, 0) FROM members
WHERE obj_description(objid, classid::regclass::name) IS NULL
    AND classid <> 'pg_opfamily'::regclass
    AND NOT EXISTS (SELECT FROM pg_proc JOIN pg_language AS l ON l.oid = prolang
        WHERE classid = 'pg_proc'::regclass AND pg_proc.oid = objid AND pronamespace = 'snowdrift'::regnamespace
            AND lanname IN ('sql', 'plpgsql') AND proname !~ '^((convert|revert)_(keys|column)|(conversion|abandon)_script)$')
    AND NOT EXISTS (SELECT FROM pg_type
        WHERE classid = 'pg_type'::regclass AND oid = objid AND (typelem <> 0 OR typrelid <> 0));
SELECT objid::regclass, attname
FROM members JOIN pg_class AS c ON classid = 'pg_class'::regclass AND c.oid = objid JOIN pg_attribute ON attrelid = c.oid
WHERE relkind IN ('r', 'v') AND attnum > 0 AND col_description(attrelid, attnum) IS NULL;

-- A call that names its arguments is not ambiguous: functions of one name don't take the same named arguments.
SELECT a.oid::regprocedure, b.oid::regprocedure
FROM pg_proc AS a JOIN members AS m ON m.classid = 'pg_proc'::regclass AND m.objid = a.oid
    JOIN pg_proc AS b ON b.proname = a.proname AND b.pronamespace = a.pronamespace AND b.oid > a.oid
WHERE ARRAY(SELECT concat_ws(' ', name, type) FROM unnest(a.proargnames, a.proargtypes) AS t(name, type)
        WHERE type IS NOT NULL ORDER BY 1)
    = ARRAY(SELECT concat_ws(' ', name, type) FROM unnest(b.proargnames, b.proargtypes) AS t(name, type)
        WHERE type IS NOT NULL ORDER BY 1);

-- The array types of the extension's types belong to it.
SELECT typarray::regtype FROM pg_type JOIN members ON classid = 'pg_type'::regclass AND objid = typarray
WHERE typname IN ('snowflake_layout', 'ulid', 'sno') ORDER BY typname;

-- From PostgreSQL 18 on, the server shows the name and the version of the library.
SELECT CASE WHEN current_setting('server_version_num')::int >= 180000
    THEN 'SELECT version ~ ''^\d+\.\d+\.\d+$'' AS has_version FROM pg_get_loaded_modules() WHERE module_name = ''snowdrift'''
    ELSE 'SELECT true AS has_version' END AS query \gset
SELECT next_snowflake() > 0 AS loads_the_library;
:query;
