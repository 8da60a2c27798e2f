-- What a conversion reports before it changes anything, and what it keeps. The tests convert_keys and convert_column show the
-- statements.
\set SHOW_CONTEXT never

-- The owner of the SQL edition's database cannot create roles, so the role exists there.
\set ECHO none
SELECT 'CREATE ROLE snowdrift_user' WHERE to_regrole('snowdrift_user') IS NULL
\gexec
\set ECHO all
CREATE SCHEMA app;
SET search_path = app, public;
-- refusal_of(QUERY): the error, without the statements of the hint, which differ between versions of PostgreSQL
CREATE FUNCTION refusal_of(query text) RETURNS text LANGUAGE sql AS $$ SELECT regexp_replace(error_of(query), '(reverse order:).*', '\1 ...') $$;
-- all_keys(): the tables of the schema
CREATE FUNCTION all_keys() RETURNS regclass[] LANGUAGE sql AS $$
    SELECT array_agg(oid::regclass ORDER BY oid) FROM pg_class WHERE relnamespace = 'app'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition $$;
-- risks(): the lines that begin with "-- warning"
CREATE FUNCTION risks() RETURNS SETOF text LANGUAGE sql SET client_min_messages = error AS $$
    SELECT line FROM snowdrift.convert_keys(app.all_keys(), dry_run => true) AS line WHERE line LIKE '-- warning: %' $$;

-- Triggers whose functions take, declare or store integers
CREATE TABLE artist_credit (id serial PRIMARY KEY, refs integer NOT NULL DEFAULT 0);
CREATE TABLE recording (id serial PRIMARY KEY, artist_credit integer NOT NULL REFERENCES artist_credit);
CREATE TABLE audit_log (policy integer, op text);
CREATE TABLE policies (id serial PRIMARY KEY, name text);
CREATE FUNCTION inc_ref(row_id integer, by integer) RETURNS void LANGUAGE plpgsql AS $$ BEGIN UPDATE artist_credit SET refs = refs + by WHERE id = row_id; END $$;
CREATE FUNCTION on_insert() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM inc_ref(NEW.artist_credit, 1); RETURN NULL; END $$;
CREATE FUNCTION log_it() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO audit_log VALUES (NEW.id, 'create'); RETURN NULL; END $$;
CREATE FUNCTION harmless() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM NEW.id; RETURN NULL; END $$;
CREATE TRIGGER i AFTER INSERT ON recording FOR EACH ROW EXECUTE FUNCTION on_insert();
CREATE TRIGGER l AFTER INSERT ON policies FOR EACH ROW EXECUTE FUNCTION log_it();
CREATE TRIGGER h AFTER INSERT ON policies FOR EACH ROW EXECUTE FUNCTION harmless();
SELECT * FROM risks();
-- The functions of triggers, and those that name a table, are planned again in open sessions. This one has planned before.
INSERT INTO artist_credit DEFAULT VALUES;
INSERT INTO policies (name) VALUES ('a');
DROP TRIGGER l ON policies;
SELECT line FROM snowdrift.convert_keys('{artist_credit,recording,policies}') AS line WHERE line ~ 'ALTER FUNCTION';
INSERT INTO policies (name) VALUES ('b');
DROP TABLE recording, artist_credit, policies, audit_log;
DROP FUNCTION inc_ref, on_insert, log_it, harmless;

-- References without a foreign key: by name, in arrays, with the type in another column
CREATE TABLE rubygems (id serial PRIMARY KEY, name text, downloads integer);
CREATE TABLE dependencies (id serial PRIMARY KEY, rubygem_id integer, post_ids integer[], amount integer, rev_rubygem integer);
CREATE TABLE notes (id serial PRIMARY KEY, content_type_id integer, object_id integer CHECK (object_id >= 0));
SELECT * FROM risks();
DROP TABLE rubygems, dependencies, notes;

-- Ranges of a column that refers to a key
CREATE TABLE projects (id bigserial PRIMARY KEY);
CREATE TABLE commits (project_id bigint NOT NULL REFERENCES projects, sha text, PRIMARY KEY (project_id, sha)) PARTITION BY RANGE (project_id);
SELECT * FROM risks();
SELECT count(*) FROM snowdrift.convert_keys('{projects}');
DROP TABLE projects, commits;

-- A key that refers to another table has that table's values: it is skipped.
CREATE TABLE users (id bigserial PRIMARY KEY, name text);
CREATE TABLE user_details (user_id bigserial PRIMARY KEY REFERENCES users, bio text);
SELECT * FROM snowdrift.convert_keys(all_keys());
DROP TABLE users, user_details;

-- Triggers with a list of columns or a condition, and policies, are created again with their state and comments.
CREATE TABLE tenants (id serial PRIMARY KEY, n integer);
CREATE TABLE jobs (id serial PRIMARY KEY, tenant_id integer REFERENCES tenants);
CREATE TRIGGER special BEFORE UPDATE OF n ON tenants FOR EACH ROW WHEN (old.id IN (1, 2)) EXECUTE FUNCTION suppress_redundant_updates_trigger();
CREATE CONSTRAINT TRIGGER later AFTER INSERT ON jobs DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (new.tenant_id > 0) EXECUTE FUNCTION suppress_redundant_updates_trigger();
ALTER TABLE tenants ENABLE ALWAYS TRIGGER special;
ALTER TABLE jobs DISABLE TRIGGER later;
COMMENT ON TRIGGER special ON tenants IS 'the trigger''s comment';
CREATE POLICY own ON jobs AS RESTRICTIVE FOR UPDATE TO snowdrift_user, CURRENT_USER USING (tenant_id > 0) WITH CHECK (tenant_id > 1);
CREATE POLICY cast_away ON jobs USING (tenant_id = current_setting('app.tenant')::integer);
COMMENT ON POLICY own ON jobs IS 'the policy''s comment';
CREATE VIEW all_jobs AS SELECT tenant_id FROM jobs;
CREATE POLICY reads_view ON tenants USING (n IN (SELECT tenant_id FROM all_jobs));
CREATE VIEW properties AS
    SELECT tgname AS name, pg_get_triggerdef(oid) AS definition, tgenabled::text AS state, obj_description(oid, 'pg_trigger') FROM pg_trigger WHERE NOT tgisinternal AND tgrelid::regclass::text IN ('tenants', 'jobs')
    UNION ALL
    SELECT polname, concat(polrelid::regclass, pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid)), concat(polcmd, polpermissive, polroles), obj_description(oid, 'pg_policy') FROM pg_policy;
CREATE TEMPORARY TABLE earlier AS SELECT * FROM properties;
SELECT * FROM risks();
SET client_min_messages = error;
SELECT regexp_replace(replace(line, session_user, 'owner'), E'\n.*', ' ...') AS line FROM snowdrift.convert_keys('{tenants,jobs}') AS line;
RESET client_min_messages;
SELECT count(*) FROM earlier;
(TABLE earlier EXCEPT TABLE properties) UNION ALL (TABLE properties EXCEPT TABLE earlier);
DROP VIEW properties;
DROP TABLE tenants, jobs CASCADE;

-- All that stands in the way is in one error, with statements to copy.
CREATE DOMAIN small AS integer;
CREATE TABLE film (id serial PRIMARY KEY, title text);
CREATE MATERIALIZED VIEW titles AS SELECT id, title FROM film;
CREATE UNIQUE INDEX titles_id ON titles (id);
CREATE TABLE copies (film small REFERENCES film);
CREATE TABLE shelves (film integer REFERENCES film) PARTITION BY LIST (film);
SELECT refusal_of($$SELECT snowdrift.convert_keys('{film}', dry_run => true)$$);
DROP TABLE shelves, copies, film CASCADE;
DROP DOMAIN small;

-- Statistics targets
CREATE TABLE measured (id serial PRIMARY KEY, x integer);
CREATE STATISTICS both_columns ON id, x FROM measured;
ALTER STATISTICS both_columns SET STATISTICS 333;
CREATE INDEX measured_next ON measured ((id + 1));
ALTER INDEX measured_next ALTER COLUMN 1 SET STATISTICS 99;
SELECT snowdrift.convert_keys('{measured}');
SELECT (SELECT stxstattarget FROM pg_statistic_ext WHERE stxname = 'both_columns'), attstattarget FROM pg_attribute WHERE attrelid = 'measured_next'::regclass;
DROP TABLE measured;

-- The caller's settings change nothing.
CREATE TABLE things (id serial PRIMARY KEY, part integer REFERENCES things, at timestamptz);
CREATE VIEW of_things AS SELECT id, E'a\\b' AS text, timestamptz '2026-02-03 04:05:06+00' AS at FROM things;
CREATE TEMPORARY TABLE plain AS SELECT * FROM snowdrift.convert_keys('{things}', dry_run => true) WITH ORDINALITY;
SET TIME ZONE 'Asia/Kathmandu';
SET datestyle = 'SQL, DMY';
SET intervalstyle = 'sql_standard';
SET quote_all_identifiers = on;
SET row_security = off;
SET plpgsql.extra_errors = 'all';
SET client_min_messages = error;
SELECT line FROM snowdrift.convert_keys('{things}', dry_run => true) WITH ORDINALITY AS t(line, n) JOIN plain ON n = ordinality WHERE line <> convert_keys;
RESET client_min_messages;
-- PostgreSQL 19 has only standard literals.
SELECT count(set_config(name, value, false)) >= 0 AS is_set FROM (VALUES ('standard_conforming_strings', 'off'), ('escape_string_warning', 'off')) AS settings(name, value)
WHERE current_setting('server_version_num')::int < 190000;
SELECT count(*) FROM snowdrift.convert_keys('{things}');
SET standard_conforming_strings = on;
SELECT text FROM of_things RIGHT JOIN (VALUES (1)) AS one ON true;
INSERT INTO things DEFAULT VALUES;
SELECT id > 1000 AS is_new, text FROM of_things;
\c
SET search_path = app, public;
DROP TABLE things CASCADE;

-- A dry run's statements can be run as they are.
CREATE TABLE first (id serial PRIMARY KEY);
CREATE TABLE second (id serial PRIMARY KEY, first integer REFERENCES first, odd_id integer);
CREATE VIEW of_second AS SELECT first FROM second;
BEGIN;
SET client_min_messages = error;
\set ECHO none
SELECT snowdrift.convert_keys('{first,second}', dry_run => true)
\gexec
\set ECHO all
RESET client_min_messages;
COMMIT;
SELECT attrelid::regclass, attname, atttypid::regtype FROM pg_attribute WHERE attrelid IN ('first'::regclass, 'second'::regclass, 'of_second'::regclass) AND attnum > 0 ORDER BY attrelid, attnum;
-- The way back: one call, also for direct inserts into partitions
CREATE TABLE payment (id serial, at date NOT NULL, PRIMARY KEY (id, at)) PARTITION BY RANGE (at);
CREATE TABLE payment_26 PARTITION OF payment FOR VALUES FROM ('2026-01-01') TO ('2027-01-01');
GRANT INSERT ON payment TO snowdrift_user;
CREATE TABLE customer (id serial PRIMARY KEY);
SELECT count(*) FROM snowdrift.convert_keys('{payment,customer}');
INSERT INTO payment_26 (at) VALUES ('2026-02-01');
SELECT count(*) FROM snowdrift.revert_keys('{payment,customer}', dry_run => true) AS line WHERE line ~ '(IDENTITY|DEFAULT|setval)';
SELECT count(*) > 4 AS reverted FROM snowdrift.revert_keys('{payment,customer}');
SELECT count(*) FROM snowdrift.revert_keys('{payment,customer}');
WITH old AS (SELECT max(id) AS id FROM payment), new AS (INSERT INTO payment_26 (at) VALUES ('2026-02-01') RETURNING id)
SELECT new.id > old.id AS is_greater FROM old, new;
INSERT INTO payment (at) VALUES ('2026-02-01') RETURNING id - (SELECT max(id) FROM payment) AS difference;
INSERT INTO customer DEFAULT VALUES RETURNING id > 1 AS follows_all_ids;
DROP TABLE payment, customer;

-- A conversion that needs more locks than the server has is refused before it locks anything: here, one of a million keys.
SELECT regexp_replace(error_of($$SELECT snowdrift.check_locks(ROW(NULL, NULL, array_fill(ROW(0, 0)::snowdrift.key_column, ARRAY[1000000]),
    NULL, '{}', ARRAY['first'::regclass::oid], '{}')::snowdrift.conversion)$$), '(about|for|to) \d+', '\1 ...', 'g');

-- The catalog must be the current one.
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT error_of($$SELECT snowdrift.convert_keys('{first}')$$);
ROLLBACK;
BEGIN READ ONLY;
SELECT error_of($$SELECT snowdrift.convert_keys('{first}')$$);
ROLLBACK;

-- A view that calls Snowdrift's functions is created again, although they have variants with a layout.
CREATE TABLE writers (id serial PRIMARY KEY);
CREATE TABLE poems (id bigint PRIMARY KEY DEFAULT next_snowflake(), writer integer REFERENCES writers);
CREATE VIEW recent AS SELECT writer, snowflake_timestamp(id) > now() - interval '1 hour' AS is_new FROM poems WHERE snowflake_within(id, tstzrange(now() - interval '1 day', NULL));
SELECT count(*) > 0 AS converted FROM snowdrift.convert_keys('{writers}');
WITH w AS (INSERT INTO writers DEFAULT VALUES RETURNING id) INSERT INTO poems (writer) SELECT id FROM w;
SELECT writer > 2147483647 AS "new key", is_new FROM recent;
DROP TABLE writers, poems CASCADE;

-- Who may convert keys: functions in triggers, checks, indexes and policies of the tables run with the caller's rights.
GRANT USAGE, CREATE ON SCHEMA app TO snowdrift_user;
CREATE TABLE theirs (id serial PRIMARY KEY);
GRANT REFERENCES ON theirs TO snowdrift_user;
SET ROLE snowdrift_user;
CREATE TABLE ours (theirs integer REFERENCES theirs);
RESET ROLE;
SELECT replace(error_of($$SELECT snowdrift.convert_keys('{theirs}')$$), session_user, 'owner') AS error_of;
ALTER TABLE theirs OWNER TO snowdrift_user;
SELECT error_of($$SELECT snowdrift.convert_keys('{theirs}')$$);
SET ROLE snowdrift_user;
SELECT count(*) FROM snowdrift.convert_keys('{theirs}');
RESET ROLE;
-- Another role's function: the statement to run, and the role
CREATE TABLE shared (id serial PRIMARY KEY);
CREATE FUNCTION watch() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM NEW.id; RETURN NULL; END $$;
CREATE TRIGGER watch AFTER INSERT ON shared FOR EACH ROW EXECUTE FUNCTION watch();
ALTER TABLE shared OWNER TO snowdrift_user;
SET ROLE snowdrift_user;
SET client_min_messages = error;
SELECT replace(line, session_user, 'owner') AS line FROM snowdrift.convert_keys('{shared}', dry_run => true) AS line WHERE line ~ 'open connections';
RESET ROLE;
SET client_min_messages = warning;
DROP SCHEMA app CASCADE;
\set ECHO none
SELECT 'DROP ROLE snowdrift_user' FROM pg_roles WHERE rolname = current_user AND rolsuper
\gexec
