\echo Use "CREATE EXTENSION snowdrift" to load this file. \quit

-- make scripts puts this script together from src/sql; change it there.
--
-- This script may run as a superuser in a schema where other roles can create objects. Therefore
-- unqualified names resolve only in pg_catalog, and all other names are qualified.
--
-- Users find what they call in the extension's schema: types, operators and functions. The functions that implement
-- types, operators, casts and aggregates, and those for the planner, are in the schema snowdrift, as is administration.
SET LOCAL search_path = pg_catalog, pg_temp;

-- Administration (schema snowdrift)

CREATE SCHEMA snowdrift;
CREATE SCHEMA snowdrift_tables;
-- What ALTER DEFAULT PRIVILEGES has granted: functions that other roles create here could run as the owner. end.sql has the
-- objects in the schemas.
DO $$
DECLARE
    revocation text;
BEGIN
    FOR revocation IN SELECT format('REVOKE ALL ON SCHEMA %I FROM %s CASCADE', nspname, CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END)
            FROM pg_namespace, aclexplode(nspacl) AS a WHERE nspname IN ('snowdrift', 'snowdrift_tables') AND a.grantee <> nspowner LOOP
        EXECUTE revocation;
    END LOOP;
END $$;
COMMENT ON SCHEMA snowdrift IS 'administration of Snowdrift''s ID generators, and implementation of its types, operators and casts';
GRANT USAGE ON SCHEMA snowdrift TO PUBLIC;

-- Other roles cannot use the schema of the tables. Otherwise, any role could lock the tables without a privilege on them,
-- with statements such as PREPARE and CREATE RULE, and thus block all sessions that draw. The views are based on
-- functions, which release their locks.
COMMENT ON SCHEMA snowdrift_tables IS 'tables of Snowdrift, for dumps and for the library';
GRANT USAGE ON SCHEMA snowdrift_tables TO @extowner@; -- lets this role dump and restore the tables
