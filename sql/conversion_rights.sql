-- Conversion of keys while applications write, and the objects and privileges of other roles
\set SHOW_CONTEXT never
SET client_min_messages = error;    -- the risks
CREATE SCHEMA live;
SET search_path = live, public;
CREATE FUNCTION script(tables regclass[], keep_sequences boolean DEFAULT false) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT s FROM snowdrift.conversion_script(tables, NULL, keep_sequences) AS s WHERE s !~ '^-- estimate|transaction_timeout' $$;

-- Objects of other roles that have the names of a conversion's objects: the trigger's function, an index, the trigger
CREATE ROLE regress_eve;
GRANT USAGE, CREATE ON SCHEMA live TO regress_eve;
CREATE TABLE v (id serial PRIMARY KEY, parent integer REFERENCES v);
CREATE INDEX v_parent ON v (parent);
GRANT TRIGGER ON v TO regress_eve;
SET ROLE regress_eve;
CREATE FUNCTION _snowdrift_v() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW._snowdrift_id := NEW.id; NEW._snowdrift_parent := NEW.parent; RETURN NEW; END';
CREATE TABLE e (x integer);
CREATE INDEX _snowdrift_v_parent ON e (x);
RESET ROLE;
SELECT error_of($$SELECT snowdrift.conversion_script('{v}')$$);
DROP TABLE e;
SELECT s FROM script('{v}') AS s WHERE s LIKE 'CALL snowdrift.change_briefly%' LIMIT 1 \gexec
SELECT proowner = current_user::regrole AS is_own FROM pg_proc WHERE proname = '_snowdrift_v';
CREATE FUNCTION precious() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
SET ROLE regress_eve;
CREATE OR REPLACE TRIGGER "~snowdrift" BEFORE INSERT ON v FOR EACH ROW EXECUTE FUNCTION precious();
RESET ROLE;
SELECT s FROM script('{v}') AS s WHERE s LIKE 'CALL snowdrift.change_briefly%' LIMIT 1 \gexec
-- A trigger that is missing, or would not always fire, is created again.
ALTER TABLE v ENABLE TRIGGER "~snowdrift";
SELECT count(*) FROM script('{v}') AS s WHERE s ~ 'CREATE TRIGGER "~snowdrift"';
ALTER TABLE v ENABLE ALWAYS TRIGGER "~snowdrift";
CREATE OR REPLACE FUNCTION _snowdrift_v() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
SELECT count(*) FROM script('{v}') AS s WHERE s ~ 'CREATE TRIGGER "~snowdrift"';
DROP TRIGGER "~snowdrift" ON v;
SELECT script('{v}') \gexec
SELECT indexdef FROM pg_indexes WHERE tablename = 'v' ORDER BY 1;
DROP TABLE v;
-- To abandon a conversion does not drop functions of others, either.
CREATE TABLE v (id serial PRIMARY KEY);
GRANT TRIGGER ON v TO regress_eve;
SELECT s FROM script('{v}') AS s WHERE s LIKE 'CALL snowdrift.change_briefly%' LIMIT 1 \gexec
SET ROLE regress_eve;
CREATE OR REPLACE TRIGGER "~snowdrift" BEFORE INSERT ON v FOR EACH ROW EXECUTE FUNCTION precious();
RESET ROLE;
SELECT s FROM snowdrift.abandon_script('{v}') AS s WHERE s ~ '^CALL' \gexec
SELECT to_regprocedure('precious()') IS NOT NULL AS is_kept, to_regprocedure('_snowdrift_v()');
-- Who may not drop a function of that name is told so before anything is changed.
CREATE ROLE regress_app;
GRANT USAGE, CREATE ON SCHEMA live TO regress_app;
ALTER TABLE v OWNER TO regress_app;
SET ROLE regress_eve;
CREATE FUNCTION _snowdrift_v() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
SET ROLE regress_app;
SELECT public.error_of($$SELECT snowdrift.conversion_script('{v}')$$);
RESET ROLE;
DROP FUNCTION _snowdrift_v, precious;
-- The rows of warnings are comments, whatever the names of functions are.
SET ROLE regress_eve;
CREATE FUNCTION "f
DROP TABLE v; --"() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO v VALUES (1); END';
SET ROLE regress_app;
SELECT s FROM script('{v}') AS s WHERE s ~ '^--' \gexec
RESET ROLE;
SELECT to_regclass('v');
DROP OWNED BY regress_eve;
GRANT USAGE, CREATE ON SCHEMA live TO regress_eve;
-- Tables, triggers and comments of others neither stop a conversion after it has begun, nor its end
SET ROLE regress_eve;
CREATE TABLE _snowdrift_v_pkey ();
SET ROLE regress_app;
SELECT public.error_of($$SELECT snowdrift.conversion_script('{v}')$$);
SET ROLE regress_eve;
DROP TABLE _snowdrift_v_pkey;
SET ROLE regress_app;
SELECT s FROM script('{v}') AS s WHERE s LIKE 'CALL snowdrift.change_briefly%' LIMIT 1 \gexec
GRANT REFERENCES ON v TO regress_eve;
SET ROLE regress_eve;
CREATE TABLE f (_snowdrift_v integer CONSTRAINT _snowdrift_f REFERENCES v);
CREATE TRIGGER f BEFORE INSERT ON f FOR EACH ROW EXECUTE FUNCTION _snowdrift_v();
COMMENT ON COLUMN f._snowdrift_v IS '1 of 9999999999 blocks, 999999999999999999 rows, from 0 to 9999999999999999 us';
SET ROLE regress_app;
SELECT "table", percent, time_left FROM snowdrift.key_copies;
SELECT s FROM snowdrift.abandon_script('{v}') AS s WHERE s ~ '^CALL' \gexec
RESET ROLE;
DROP OWNED BY regress_eve;
DROP TABLE v;
-- What the owner may not change, or create again, is refused before anything is changed. Default privileges do not let others use
-- the trigger's function.
ALTER DEFAULT PRIVILEGES FOR ROLE regress_app IN SCHEMA live GRANT EXECUTE ON FUNCTIONS TO regress_eve;
CREATE SEQUENCE numbers AS integer;
GRANT USAGE ON SEQUENCE numbers TO regress_app;
CREATE TABLE y (id integer PRIMARY KEY DEFAULT nextval('numbers'), p integer REFERENCES y);
CREATE STATISTICS y_stat ON id, p FROM y;
ALTER TABLE y OWNER TO regress_app;
SET ROLE regress_app;
SELECT replace(public.error_of($$SELECT snowdrift.conversion_script('{y}', keep_sequences => true)$$), session_user, 'SUPERUSER') AS refusal;
RESET ROLE;
ALTER STATISTICS y_stat OWNER TO regress_app;
ALTER SEQUENCE numbers AS bigint;
SET ROLE regress_app;
\set ECHO none
SELECT s FROM script('{y}', true) AS s WHERE s !~ 'swap_keys|^ANALYZE' \gexec
\set ECHO all
SELECT has_function_privilege('regress_eve', '_snowdrift_y()', 'EXECUTE');
SELECT s FROM script('{y}', true) AS s WHERE s ~ 'swap_keys' \gexec
RESET ROLE;
SELECT stxowner::regrole, pg_get_statisticsobjdef(oid) FROM pg_statistic_ext WHERE stxname = 'y_stat';
DROP TABLE y;
DROP SEQUENCE numbers;
ALTER DEFAULT PRIVILEGES FOR ROLE regress_app IN SCHEMA live REVOKE EXECUTE ON FUNCTIONS FROM regress_eve;
DROP OWNED BY regress_app;
DROP ROLE regress_app;
REVOKE ALL ON SCHEMA live FROM regress_eve;

-- A new sequence of an identity has the privileges of the old one, not the default ones of its owner. Sequences that columns use,
-- but do not own, continue beyond 2^31, too.
CREATE SEQUENCE shared AS integer;
CREATE TABLE w (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY);
CREATE TABLE x (id integer PRIMARY KEY DEFAULT nextval('shared'));
ALTER DEFAULT PRIVILEGES IN SCHEMA live GRANT ALL ON SEQUENCES TO regress_eve;
SELECT script('{w,x}', keep_sequences => true) \gexec
SELECT seqrelid::regclass, seqtypid::regtype, (SELECT count(*) FROM aclexplode(relacl) WHERE grantee <> relowner) AS grants FROM pg_sequence JOIN pg_class AS c ON c.oid = seqrelid WHERE relnamespace = 'live'::regnamespace ORDER BY 1;
ALTER DEFAULT PRIVILEGES IN SCHEMA live REVOKE ALL ON SEQUENCES FROM regress_eve;
DROP TABLE x, w;
DROP SEQUENCE shared;
DROP ROLE regress_eve;

-- Security labels are set again, if their provider is loaded.
CREATE TABLE t (id serial PRIMARY KEY);
SELECT s FROM script('{t}') AS s WHERE s !~ 'swap_keys|^ANALYZE' \gexec
SET allow_system_table_mods = on;
INSERT INTO pg_seclabel VALUES ('t'::regclass, 'pg_class'::regclass, 1, 'masks', 'secret');
SELECT error_of($$CALL snowdrift.swap_keys('{t}')$$);
DELETE FROM pg_seclabel WHERE provider = 'masks';
RESET allow_system_table_mods;
DROP TABLE t;
RESET search_path;
DROP SCHEMA live CASCADE;
