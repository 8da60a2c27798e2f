-- The locks on the extension's objects that an ordinary role holds in an idle transaction, after it has read everything
-- that it can read, and called everything that it can call. A session that needs a conflicting lock waits for the transaction, and
-- all other sessions wait behind.
SET client_min_messages = warning;    -- equal_ids.sql has the notices of new generators
CREATE ROLE snowdrift_idle;
SELECT snowdrift.create_generator(kind, kind) FROM unnest(ARRAY['snowflake', 'sno']) AS kind;
CREATE TABLE ids (id bigint) PARTITION BY RANGE (id);
GRANT SELECT ON ids TO snowdrift_idle;
CREATE TEMP VIEW members AS
SELECT classid, objid FROM pg_depend
WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e'
    AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'snowdrift');

-- Arguments for each type. The functions are called with all combinations.
CREATE TEMP TABLE arguments (type regtype, value text);
INSERT INTO arguments
SELECT 'regclass'::regtype, objid::text FROM members JOIN pg_class ON classid = 'pg_class'::regclass AND oid = objid
UNION ALL
SELECT * FROM (VALUES ('regclass'::regtype, 'ids'), ('text', 'snowflake'), ('text', 'sno'), ('name', 'id'), ('name', 'unix_ms'), ('integer', '1'), ('bigint', '1'),
    ('real', '1'), ('boolean', 'true'), ('timestamptz', '2022-01-01Z'), ('timestamp', '2022-01-01'), ('interval', '1 day'),
    ('tstzrange', '[2022-01-01Z,2022-01-02Z)'), ('tstzmultirange', '{}'), ('snowflake_layout', 'snowflake'),
    ('uuid', '01900000-0000-7000-8000-000000000000'), ('ulid', '01HQ0000000000000000000000'), ('sno', '2222222222222222'),
    ('jsonb', '{}')) AS values;
CREATE TEMP TABLE called (function regprocedure);
GRANT SELECT ON members, arguments TO snowdrift_idle;
GRANT SELECT, INSERT ON called TO snowdrift_idle;

-- call_everything(): calls all functions that are not immutable, with all combinations of arguments, and records those that
-- have returned without an error
CREATE FUNCTION pg_temp.call_everything() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    called_function regprocedure;
    arguments text;
BEGIN
    FOR called_function, arguments IN
        WITH RECURSIVE functions AS (
            SELECT p.oid, proargtypes::oid[] AS types FROM pg_proc AS p
                JOIN members ON classid = 'pg_proc'::regclass AND objid = p.oid
            WHERE provolatile <> 'i' AND prokind = 'f' AND has_function_privilege(p.oid, 'EXECUTE')
        ), calls(function, types, n, arguments) AS (
            SELECT oid, types, 0, ARRAY[]::text[] FROM functions
            UNION ALL
            SELECT function, types, n + 1, calls.arguments || format('%L::%s', value, type)
            FROM calls JOIN arguments ON type = types[n]
        )
        SELECT function, array_to_string(calls.arguments, ', ') FROM calls WHERE n = cardinality(types)
    LOOP
        BEGIN
            EXECUTE format('SELECT count(*) FROM %s(%s)', called_function::regproc, arguments);
            INSERT INTO called VALUES (called_function);
        EXCEPTION WHEN OTHERS THEN
            NULL; -- which releases the call's locks
        END;
    END LOOP;
END $$;

BEGIN;
SET LOCAL ROLE snowdrift_idle;
SELECT pg_temp.call_everything();
SELECT count(*) > 0 AS read FROM snowdrift.generators;
SELECT count(*) AS read FROM snowdrift.clock;
SELECT count(*) AS read FROM snowdrift.node;
-- The views are locked as by any query, and generators that were drawn from cannot be dropped. There are no other locks.
SELECT DISTINCT locktype, coalesce(relation, classid)::regclass::text COLLATE "C" AS of, mode
FROM pg_locks JOIN pg_class AS c ON c.oid = coalesce(relation, classid)
WHERE pid = pg_backend_pid() AND relnamespace IN ('snowdrift'::regnamespace, 'snowdrift_tables'::regnamespace) ORDER BY 1, 2;
-- Functions of the library without a successful call
SELECT p.oid::regprocedure FROM pg_proc AS p JOIN members ON classid = 'pg_proc'::regclass AND objid = p.oid
WHERE prolang = (SELECT oid FROM pg_language WHERE lanname = 'c') AND provolatile <> 'i' AND has_function_privilege(p.oid, 'EXECUTE') AND NOT EXISTS (SELECT FROM called WHERE function = p.oid)
ORDER BY p.oid::regprocedure::text COLLATE "C";
ROLLBACK;
-- A role that can use the schema of a relation can lock it, without a privilege on the relation. These are what an ordinary
-- role can lock, and what it can read.
SELECT objid::regclass::text COLLATE "C" AS lockable FROM members JOIN pg_class AS c ON classid = 'pg_class'::regclass AND c.oid = objid
WHERE relkind <> 'i' AND has_schema_privilege('snowdrift_idle', relnamespace, 'USAGE') ORDER BY 1;
SELECT objid::regclass::text COLLATE "C" AS readable FROM members JOIN pg_class AS c ON classid = 'pg_class'::regclass AND c.oid = objid
WHERE CASE relkind WHEN 'i' THEN false WHEN 'S' THEN has_sequence_privilege('snowdrift_idle', objid, 'SELECT')
    ELSE has_any_column_privilege('snowdrift_idle', objid, 'SELECT') END ORDER BY 1;

DROP OWNED BY snowdrift_idle;
DROP TABLE ids;
SELECT snowdrift.drop_generator(name) FROM unnest(ARRAY['snowflake', 'sno']) AS name;
DROP ROLE snowdrift_idle;
