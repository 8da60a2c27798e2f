-- Snowdrift, SQL edition: for servers on which no C library can be installed. docs/managed-clouds.md describes it.
-- make scripts puts this script together from src/sql; change it there.
-- Run it as a role with CREATE on the database and on the schema public, such as the owner of the database:
--     psql -X --single-transaction -v ON_ERROR_STOP=1 -f snowdrift.sql
-- The functions for all roles are in the schema public; those for administration and implementation are in the schema
-- snowdrift; the generators are in snowdrift_tables. Unqualified names are those of pg_catalog. Functions in PL/pgSQL
-- set the search path.
--
-- The file is a single statement: everything is installed, or nothing. It can also be run over an older version of
-- itself, and after some of its objects were dropped. It then replaces the functions and creates what is missing. Users'
-- defaults, indexes and views depend on the functions, so it drops no function, and privileges stay.
DO $edition$
DECLARE
    path CONSTANT pg_catalog.text := pg_catalog.current_setting('search_path');
    quoting CONSTANT pg_catalog.text := pg_catalog.current_setting('quote_all_identifiers');
    strings CONSTANT pg_catalog.text := pg_catalog.current_setting('standard_conforming_strings');
    installer pg_catalog.oid;
    -- What existed before: each function, with the place of its row, and the relations in the schemas
    functions pg_catalog.jsonb;
    relations pg_catalog.oid[];
    columns pg_catalog.jsonb;    -- of each of these relations
    is_repeated pg_catalog.bool;    -- an edition, or some of its objects, existed before
    is_new pg_catalog.bool;
    place pg_catalog.text;
    grantee pg_catalog.text;
    problem pg_catalog.record;
    definitions pg_catalog.jsonb;    -- rows of snowdrift_tables.generator whose table or sequence must be created again
    are_definitions_lost pg_catalog.bool := false;
    lock_timeout CONSTANT pg_catalog.text := pg_catalog.current_setting('lock_timeout');
    creators pg_catalog.aclitem[];    -- who may call create_generator of an earlier version, with other parameters
    are_keys_lost pg_catalog.bool;    -- of seals
    is_restored pg_catalog.bool;    -- A dump has created the objects, with what ALTER DEFAULT PRIVILEGES grants.
    defaults pg_catalog.text[];    -- kinds of objects with roles to which ALTER DEFAULT PRIVILEGES grants something, and functions with PUBLIC
    privileges pg_catalog.text;
    options pg_catalog.text;
    grantor pg_catalog.text;
    grants pg_catalog.jsonb := '[]';
    is_by_default pg_catalog.bool;
    now_ms pg_catalog.int8;
    given_ms pg_catalog.numeric;
    drawing pg_catalog.record;
    greatest_id pg_catalog.int8;
    unread pg_catalog.text[];
BEGIN
PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true), pg_catalog.set_config('quote_all_identifiers', 'off', true),
    pg_catalog.set_config('standard_conforming_strings', 'on', true), pg_catalog.set_config('lock_timeout', '3s', true);    -- because others wait behind the file

-- What an earlier installation has left

installer := (SELECT oid FROM pg_roles WHERE rolname = current_user);
functions := (SELECT jsonb_object_agg(oid::text, ctid::text) FROM pg_proc);
relations := ARRAY(SELECT oid FROM pg_class WHERE relnamespace IN (to_regnamespace('snowdrift'), to_regnamespace('snowdrift_tables')));
columns := (SELECT jsonb_object_agg(attrelid::regclass, names)
    FROM (SELECT attrelid, string_agg(attname, ',' ORDER BY attnum) FROM pg_attribute WHERE attrelid = ANY (relations) AND attnum > 0 AND NOT attisdropped GROUP BY attrelid) AS a(attrelid, names));
is_repeated := to_regnamespace('snowdrift') IS NOT NULL OR to_regnamespace('snowdrift_tables') IS NOT NULL
    OR to_regtype('public.snowflake_layout') IS NOT NULL
    OR EXISTS (SELECT FROM pg_proc WHERE strpos(prosrc, 'snowdrift_tables.') > 0
        AND oid IN (to_regprocedure('public.next_snowflake(text)'), to_regprocedure('public.snowflake_seal(bigint,text)'), to_regprocedure('public.snowflake_unseal(uuid,text,boolean)')));

FOR problem IN SELECT extname FROM pg_depend JOIN pg_extension AS e ON e.oid = refobjid
        WHERE deptype = 'e' AND (classid, objid) IN (('pg_namespace'::regclass, to_regnamespace('snowdrift')),
            ('pg_namespace'::regclass, to_regnamespace('snowdrift_tables')), ('pg_type'::regclass, to_regtype('public.snowflake_layout')),
            ('pg_proc'::regclass, to_regprocedure('public.next_snowflake(text)'))) LOOP
    RAISE 'extension "%" is installed in this database', problem.extname USING ERRCODE = '42710', HINT = 'Use either the extension or the SQL edition.';
END LOOP;
-- Another role could change an object that it owns, which would then run with the rights of this role.
FOR problem IN
    SELECT pg_describe_object(class, object, 0) AS object, owner::regrole AS owner
    FROM (SELECT 'pg_namespace'::regclass, oid, nspowner, oid FROM pg_namespace
          UNION ALL SELECT 'pg_class'::regclass, oid, relowner, relnamespace FROM pg_class
          UNION ALL SELECT 'pg_proc'::regclass, oid, proowner, pronamespace FROM pg_proc
          UNION ALL SELECT 'pg_type'::regclass, oid, typowner, typnamespace FROM pg_type) AS objects(class, object, owner, schema)
    WHERE (schema IN (to_regnamespace('snowdrift'), to_regnamespace('snowdrift_tables'))
            OR class = 'pg_type'::regclass AND object = to_regtype('public.snowflake_layout'))
        AND owner <> installer LOOP
    RAISE '% belongs to role %', problem.object, problem.owner USING ERRCODE = '42501',
        HINT = format('If role %s has installed or restored the SQL edition, run the file as this role, or give it the objects with REASSIGN OWNED. Drop the object only if it is not one of the SQL edition.', problem.owner);
END LOOP;
-- Its owner has installed the file with another schema in place of "public.".
FOR problem IN SELECT t.typnamespace::regnamespace AS schema FROM pg_type AS t JOIN pg_namespace AS n ON n.oid = to_regnamespace('snowdrift') AND n.nspowner = t.typowner
        WHERE t.typname = 'snowflake_layout' AND t.typtype = 'd' AND to_regtype('public.snowflake_layout') IS NULL LOOP
    RAISE 'the SQL edition is installed in schema %', problem.schema USING ERRCODE = '42710',
        HINT = format('Run the output of sed ''s/public\./%s./g'' snowdrift.sql.', problem.schema);
END LOOP;
-- After a restore with default privileges, other roles can have created triggers and foreign keys, which call their functions as the owner
-- of the table: also in a condition, or in a cast.
FOR problem IN SELECT format('trigger %I of table %s', t.tgname, t.tgrelid::regclass) AS object, p.oid::regprocedure::text AS detail, format('Run DROP TRIGGER %I ON %s', t.tgname, t.tgrelid::regclass) AS remedy
        FROM pg_trigger AS t JOIN pg_proc AS p ON p.oid = t.tgfoid
        WHERE t.tgrelid = ANY (relations) AND NOT t.tgisinternal AND NOT (t.tgqual IS NULL AND p.pronamespace::regnamespace::text IN ('snowdrift', 'snowdrift_tables')
            AND (t.tgrelid::regclass::text, t.tgname) IN (('snowdrift_tables.generator', 'create_state'), ('snowdrift_tables.generator', 'skip_row'), ('snowdrift_tables.generator', 'refuse_truncate'), ('snowdrift_tables.published_watermark', 'skip_row')))
        UNION ALL SELECT format('constraint %I of table %s', conname, conrelid::regclass), confrelid::regclass::text, format('Let role %s or a superuser run ALTER TABLE %s DROP CONSTRAINT %I', relowner::regrole, conrelid::regclass, conname)
        FROM pg_constraint JOIN pg_class AS c ON c.oid = conrelid WHERE contype = 'f' AND confrelid = ANY (relations) LOOP
    RAISE '% is not one of the SQL edition', problem.object USING ERRCODE = '42501', DETAIL = format('It uses %s.', problem.detail),
        HINT = problem.remedy || ', and then this file again. Afterwards, rotate the keys of seals that may have been copied, and drop their old versions.';
END LOOP;
FOR problem IN
    SELECT relnamespace::regnamespace AS schema, relname FROM pg_class
    WHERE oid = ANY (relations) AND relnamespace::regnamespace || '.' || relname
        !~ '^(snowdrift[.](generators|key_copies|watermark_holders|published_watermarks|fields|key_column|dependent|conversion)|snowdrift_tables[.]((generator|published_watermark|seal_key)(_pkey)?|dropped_ms|state(_[0-9a-f]{32})?))$' LOOP
    RAISE 'schema "%" already exists', problem.schema USING ERRCODE = '42P06',
        DETAIL = format('It contains "%s", which is not an object of the SQL edition.', problem.relname);
END LOOP;
IF is_repeated AND current_setting('transaction_isolation') IN ('repeatable read', 'serializable') THEN
    RAISE 'cannot repeat the installation in a transaction with isolation level "%"', current_setting('transaction_isolation')
        USING ERRCODE = '25001', HINT = 'Use READ COMMITTED.';    -- An older snapshot would not contain the last IDs.
END IF;

-- The rows of a table that has lost columns, or of generators whose sequence was dropped, are inserted again at the end.
IF to_regclass('snowdrift_tables.generator') IS NULL THEN
    are_definitions_lost := is_repeated;
ELSIF columns ->> 'snowdrift_tables.generator' ~ '^name,layout,datacenter,worker,fields,state(,spread)?$' THEN
    WITH lost AS (DELETE FROM snowdrift_tables.generator WHERE to_regclass(state) IS NULL RETURNING *)
    SELECT jsonb_agg(to_jsonb(l)) INTO definitions FROM lost AS l;
ELSE
    EXECUTE 'SELECT jsonb_agg(to_jsonb(g)) FROM snowdrift_tables.generator AS g' INTO definitions;
    DROP TABLE snowdrift_tables.generator CASCADE;    -- also drops functions that are created again below
END IF;

-- An earlier version has no column "spread". With a default, it could not be added, because functions use the type of the table.
IF columns ->> 'snowdrift_tables.generator' = 'name,layout,datacenter,worker,fields,state' THEN
    ALTER TABLE snowdrift_tables.generator ADD spread boolean;
END IF;

IF columns ->> 'snowdrift_tables.published_watermark' <> 'kind,source,watermark,server,origin,published_at' THEN
    DROP TABLE snowdrift_tables.published_watermark CASCADE;
END IF;

are_keys_lost := to_regclass('snowdrift_tables.seal_key') IS NULL AND to_regprocedure('public.snowflake_seal(bigint,text)') IS NOT NULL;

FOREACH place IN ARRAY '{snowdrift,snowdrift_tables}'::text[] LOOP
    is_new := to_regnamespace(place) IS NULL;
    IF is_new THEN
        EXECUTE format('CREATE SCHEMA %s', place);
    END IF;
    -- Revoke what ALTER DEFAULT PRIVILEGES has granted: functions that other roles create here could run as the owner.
    FOR grantee IN SELECT DISTINCT CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END
            FROM pg_namespace, aclexplode(nspacl) AS a WHERE nspname = place AND a.grantee <> nspowner LOOP
        EXECUTE format('REVOKE %s ON SCHEMA %s FROM %s CASCADE', CASE WHEN is_new THEN 'ALL' ELSE 'CREATE' END, place, grantee);
    END LOOP;
    IF is_new AND place = 'snowdrift' THEN
        GRANT USAGE ON SCHEMA snowdrift TO PUBLIC;
    END IF;
END LOOP;
COMMENT ON SCHEMA snowdrift IS 'administration of Snowdrift''s ID generators, and implementation of its functions';

-- The domain has no constraint, so that PostgreSQL can evaluate calls with a constant layout when it plans a query.
-- Each function that takes a layout checks it.
IF to_regtype('public.snowflake_layout') IS NULL THEN
    CREATE DOMAIN public.snowflake_layout AS text;
ELSIF (SELECT typbasetype FROM pg_type WHERE oid = 'public.snowflake_layout'::regtype) <> 'text'::regtype THEN
    RAISE 'type "snowflake_layout" already exists' USING ERRCODE = '42710';
END IF;
COMMENT ON DOMAIN public.snowflake_layout
    IS 'layout of Snowflake IDs: the name of a preset, or an epoch, a time unit, and the order and widths of the fields';

CREATE FUNCTION snowdrift.reject(sqlstate text, message text, detail text DEFAULT NULL) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF detail IS NULL THEN
        RAISE '%', message USING ERRCODE = sqlstate;
    END IF;
    RAISE '%', message USING ERRCODE = sqlstate, DETAIL = detail;
END $$;
