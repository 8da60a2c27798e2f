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
COMMENT ON SCHEMA snowdrift IS 'administration of Snowdrift''s ID generators, and implementation of its types, operators and casts';
GRANT USAGE ON SCHEMA snowdrift TO PUBLIC;

-- Other roles cannot use the schema of the tables. Otherwise, any role could lock the tables without a privilege on them,
-- with statements such as PREPARE and CREATE RULE, and thus block all sessions that draw. The views are based on
-- functions, which release their locks.
CREATE SCHEMA snowdrift_tables;
COMMENT ON SCHEMA snowdrift_tables IS 'tables of Snowdrift, for dumps and for the library';
GRANT USAGE ON SCHEMA snowdrift_tables TO @extowner@; -- lets this role dump and restore the tables
