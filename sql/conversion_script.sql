-- Conversion of keys while applications write: the script, and what it keeps and refuses.
-- test/t/052_conversion_script.pl tests locks, interruptions and load.
\set SHOW_CONTEXT never
SET plpgsql.variable_conflict = use_variable;    -- has no effect on the functions
SET client_min_messages = error;    -- the risks, which conversion_risks tests

CREATE SCHEMA live;
SET search_path = live, public;
-- script(TABLES): the script without the estimate, and without a setting that only new versions have
CREATE FUNCTION script(tables regclass[], generator text DEFAULT NULL, keep_sequences boolean DEFAULT false, duty float8 DEFAULT 0.5, fire_triggers boolean DEFAULT false)
RETURNS SETOF text LANGUAGE sql AS $$
    SELECT s FROM snowdrift.conversion_script(tables, generator, keep_sequences, duty, fire_triggers) AS s WHERE s !~ '^-- estimate|transaction_timeout' $$;
-- refusal_of(QUERY): the error, without the statements of the hint, which differ between versions of PostgreSQL
CREATE FUNCTION refusal_of(query text) RETURNS text LANGUAGE sql AS $$ SELECT regexp_replace(error_of(query), '(convert the keys here\n).*', '\1 ...') $$;
-- grants(ACL): the privileges of other roles than the owner
CREATE FUNCTION grants(acl aclitem[]) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(split_part(a::text, '/', 1), ' ' ORDER BY a::text) FROM unnest(acl) AS a WHERE NOT starts_with(a::text, current_user) $$;
-- shape(): what the catalog says about the tables of the schema, apart from the order of columns
CREATE FUNCTION shape() RETURNS SETOF text LANGUAGE sql SET search_path = pg_catalog, live AS $$
    SELECT concat_ws(' ', 'column', attrelid::regclass, attname, format_type(atttypid, atttypmod), CASE WHEN attnotnull THEN 'not null' END, attidentity::text,
        pg_get_expr(adbin, adrelid), 'statistics ' || nullif(attstattarget, -1), nullif(ARRAY(SELECT o FROM unnest(attoptions) AS o WHERE starts_with(o, 'n_distinct')), '{}')::text, grants(attacl), col_description(attrelid, attnum))
    FROM pg_attribute JOIN pg_class AS c ON c.oid = attrelid LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
    WHERE relnamespace = 'live'::regnamespace AND attnum > 0 AND NOT attisdropped AND relkind IN ('r', 'v', 'i')
    UNION ALL SELECT concat_ws(' ', 'constraint', conrelid::regclass, conname, pg_get_constraintdef(oid), obj_description(oid, 'pg_constraint'))
    FROM pg_constraint WHERE connamespace = 'live'::regnamespace
    UNION ALL SELECT concat_ws(' ', 'index', pg_get_indexdef(indexrelid), CASE WHEN indisreplident THEN 'replica identity' END, CASE WHEN indisclustered THEN 'clustered' END,
        CASE WHEN NOT indisvalid THEN 'invalid' END, obj_description(indexrelid, 'pg_class'))
    FROM pg_index JOIN pg_class AS c ON c.oid = indrelid WHERE relnamespace = 'live'::regnamespace
    UNION ALL SELECT concat_ws(' ', 'trigger', pg_get_triggerdef(t.oid), tgenabled) FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = tgrelid
    WHERE relnamespace = 'live'::regnamespace AND NOT tgisinternal
    UNION ALL SELECT concat_ws(' ', 'policy', polname, polrelid::regclass, pg_get_expr(polqual, polrelid)) FROM pg_policy
    UNION ALL SELECT concat_ws(' ', 'statistics', pg_get_statisticsobjdef(oid), 'target ' || nullif(stxstattarget, -1), obj_description(oid, 'pg_statistic_ext')) FROM pg_statistic_ext
    UNION ALL SELECT concat_ws(' ', 'view', c.oid::regclass, reloptions::text, grants(relacl), pg_get_viewdef(c.oid), obj_description(c.oid, 'pg_class'))
    FROM pg_class AS c WHERE relnamespace = 'live'::regnamespace AND relkind = 'v'
    UNION ALL SELECT concat_ws(' ', 'function', oid::regprocedure) FROM pg_proc WHERE pronamespace = 'live'::regnamespace
    UNION ALL SELECT concat_ws(' ', 'sequence', seqrelid::regclass, seqtypid::regtype, seqstart, seqincrement, seqmin, seqmax, seqcache, seqcycle, grants(relacl), obj_description(seqrelid, 'pg_class'),
        (SELECT concat_ws(' ', refobjid::regclass, attname) FROM pg_depend JOIN pg_attribute ON attrelid = refobjid AND attnum = refobjsubid
            WHERE classid = 'pg_class'::regclass AND objid = seqrelid AND refclassid = 'pg_class'::regclass AND deptype IN ('a', 'i')))
    FROM pg_sequence JOIN pg_class AS c ON c.oid = seqrelid WHERE relnamespace = 'live'::regnamespace
$$;

-- The script shows all statements, and changes nothing.
CREATE TABLE users (id serial PRIMARY KEY, name text, invited_by integer REFERENCES users ON DELETE SET NULL);
CREATE TABLE orders (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, user_id integer NOT NULL REFERENCES users ON DELETE CASCADE);
CREATE INDEX ON orders (user_id);
INSERT INTO users (name, invited_by) SELECT n, nullif(n / 2, 0) FROM generate_series(1, 1000) AS n;
INSERT INTO orders (user_id) SELECT id FROM users;
SELECT * FROM script('{users,orders}');
SELECT s LIKE '%of WAL%' AS is_estimate FROM snowdrift.conversion_script('{users,orders}') AS s WHERE s LIKE '-- estimate%';
SELECT count(*) FROM shape() WHERE shape LIKE '%!_snowdrift%' ESCAPE '!';
-- Before the copy, the trigger fills rows that are written. A swap now fails, and changes nothing.
SELECT s FROM script('{users,orders}') AS s WHERE s LIKE 'CALL snowdrift.change_briefly%' LIMIT 2 \gexec
INSERT INTO users (name, invited_by) VALUES ('new', 7);
UPDATE users SET name = 'changed' WHERE id = 1;
SELECT id, invited_by, _snowdrift_id, _snowdrift_invited_by FROM users WHERE _snowdrift_id IS NOT NULL ORDER BY id;
CALL snowdrift.swap_keys('{users,orders}');
-- Progress
CALL snowdrift.copy_keys('users', 1, 1, 2);
SELECT "table", percent, rows > 0 AS has_rows, time_left >= '0', started_at <= updated_at FROM snowdrift.key_copies;
CALL snowdrift.copy_keys('users', 1);
SELECT count(*) FROM users WHERE _snowdrift_id IS DISTINCT FROM id OR _snowdrift_invited_by IS DISTINCT FROM invited_by;
-- The script is what remains.
SELECT s FROM script('{users,orders}') AS s WHERE s ~ 'users' AND s !~ '^--' LIMIT 4;
-- The script changes settings only until its end.
SELECT s FROM script('{users,orders}', duty => 1) AS s WHERE s ~ '^(RE)?SET';
SELECT script('{users,orders}') \gexec
SELECT name, setting FROM pg_settings WHERE name IN ('statement_timeout', 'vacuum_cost_delay', 'max_parallel_maintenance_workers', 'default_tablespace');
SELECT shape FROM shape() WHERE shape ~ '^(column|constraint|index|sequence)' AND shape !~ 'NOT NULL' ORDER BY 1;
INSERT INTO users (name) VALUES ('newest') RETURNING id > 1000000000000000 AS is_snowflake;
INSERT INTO orders (user_id) SELECT max(id) FROM users RETURNING id > 1000000000000000 AS is_snowflake, user_id > 1000000000000000 AS refers_to_snowflake;
SELECT count(*) FROM users JOIN orders ON user_id = users.id;
SET client_min_messages = notice;
SELECT snowdrift.conversion_script('{users,orders}');
SET client_min_messages = error;
-- convert_keys, as in the migrations of frameworks, has nothing left to do.
SELECT snowdrift.convert_keys('{users,orders}');
SELECT * FROM snowdrift.key_copies;
DROP TABLE orders, users;

-- All properties are kept: names with quotes and of the greatest length, a circle of foreign keys, composite and
-- deferrable ones, smallint, constraints that are not valid, and properties of indexes, columns and views
CREATE TABLE "My ""Team" ("Id" serial PRIMARY KEY, org integer, "lead's" integer, UNIQUE (org, "Id"));
CREATE TABLE person (id smallserial PRIMARY KEY, org integer, team integer DEFAULT 1, boss smallint,
    a_column_whose_name_has_sixty_three_bytes_the_greatest_length_00 integer NOT NULL DEFAULT 1 REFERENCES "My ""Team", seen timestamptz,
    FOREIGN KEY (org, team) REFERENCES "My ""Team" (org, "Id") MATCH FULL);
ALTER TABLE "My ""Team" ADD CONSTRAINT lead FOREIGN KEY ("lead's") REFERENCES person DEFERRABLE INITIALLY DEFERRED;
INSERT INTO "My ""Team" (org) SELECT n % 3 + 1 FROM generate_series(1, 100) AS n;
INSERT INTO person (org, team, boss) SELECT org, "Id", 9999 FROM "My ""Team" WHERE "Id" % 2 = 0;
ALTER TABLE person ADD CONSTRAINT boss FOREIGN KEY (boss) REFERENCES person NOT VALID, ADD CONSTRAINT positive CHECK (id > 0 AND team > -id),
    ADD CONSTRAINT even CHECK (team % 2 = 0), ADD CONSTRAINT other CHECK (org > 0), REPLICA IDENTITY USING INDEX person_pkey, CLUSTER ON person_pkey,
    ALTER id SET STATISTICS 200, ALTER team SET (n_distinct = 5);
CREATE INDEX "odd one" ON person (lower(id::text), team DESC) INCLUDE (seen) WITH (fillfactor = 70) WHERE team > 0 AND 'id' <> 'team';
ALTER INDEX "odd one" ALTER COLUMN 1 SET STATISTICS 300;
CREATE INDEX unchanged ON person (seen);
CREATE UNIQUE INDEX distinct_teams ON person (team, id) NULLS NOT DISTINCT;
CREATE STATISTICS both_keys (dependencies) ON id, team FROM person;
ALTER STATISTICS both_keys SET STATISTICS 50;
CREATE FUNCTION moved() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TRIGGER moved AFTER UPDATE OF team ON person FOR EACH ROW WHEN (NEW.team <> OLD.team) EXECUTE FUNCTION moved();
CREATE POLICY own ON person USING (id > 0);
CREATE VIEW teams WITH (security_barrier = true) AS SELECT "Id", org FROM "My ""Team";
CREATE VIEW orgs AS SELECT org, max("Id") AS id FROM teams GROUP BY org;
GRANT SELECT ON orgs TO PUBLIC;
GRANT SELECT (id, org), UPDATE (team) ON person TO PUBLIC;
COMMENT ON COLUMN person.id IS 'the key';
COMMENT ON VIEW orgs IS 'a view';
COMMENT ON INDEX "odd one" IS 'an index';
COMMENT ON CONSTRAINT boss ON person IS 'a foreign key';
COMMENT ON CONSTRAINT person_pkey ON person IS 'a primary key';
COMMENT ON CONSTRAINT positive ON person IS 'a check';
COMMENT ON STATISTICS both_keys IS 'both';
UPDATE "My ""Team" SET "lead's" = 7;
CREATE TEMPORARY TABLE before AS SELECT * FROM shape();
-- What a conversion has added can be removed without a trace.
SELECT s FROM script(ARRAY['"My ""Team"', 'person']::regclass[]) AS s WHERE s !~ 'swap_keys|^ANALYZE' \gexec
SELECT count(*) > 20 AS is_half_converted FROM shape() WHERE shape ~ '_snowdrift_';
SELECT s FROM snowdrift.abandon_script(ARRAY['"My ""Team"', 'person']::regclass[]) AS s WHERE s !~ 'transaction_timeout' \gexec
TABLE before EXCEPT SELECT * FROM shape();
SELECT * FROM shape() EXCEPT TABLE before;
SELECT snowdrift.abandon_script(ARRAY['"My ""Team"', 'person']::regclass[]);
SELECT script(ARRAY['"My ""Team"', 'person']::regclass[]) \gexec
SELECT '-' AS d, * FROM (TABLE before EXCEPT SELECT * FROM shape()) AS a UNION ALL SELECT '+', * FROM (SELECT * FROM shape() EXCEPT TABLE before) AS b ORDER BY 2, 1;
INSERT INTO "My ""Team" (org) VALUES (1) RETURNING "Id" > 1000000000000000 AS is_snowflake;
DROP TABLE person, "My ""Team" CASCADE;
DROP FUNCTION moved;

-- Before the swap, both foreign keys act, and the columns stay equal. A key that is changed changes with its shadow.
CREATE TABLE k (id serial PRIMARY KEY);
CREATE TABLE c1 (k integer REFERENCES k ON UPDATE CASCADE ON DELETE SET NULL);
CREATE TABLE c2 (k integer DEFAULT 2 REFERENCES k ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED);
INSERT INTO k SELECT generate_series(1, 5);
INSERT INTO c1 SELECT id FROM k;
INSERT INTO c2 SELECT id FROM k;
SELECT s FROM script('{k}') AS s WHERE s !~ 'swap_keys|^ANALYZE' \gexec
UPDATE k SET id = 100 WHERE id = 1;
DELETE FROM k WHERE id = 3;
BEGIN;
UPDATE k SET id = id + 1000 WHERE id = 4;
DELETE FROM k WHERE id = 5;
COMMIT;
SELECT 'c1' AS t, * FROM c1 UNION ALL SELECT 'c2', * FROM c2 ORDER BY 1, 2;
-- Triggers are suppressed in this role's session, if it may do so.
SELECT count(*) FROM pg_trigger WHERE tgname = '~snowdrift' AND tgenabled = 'A';
SELECT script('{k}') \gexec
UPDATE k SET id = 7 WHERE id = 100;
DELETE FROM k WHERE id = 1004;
SELECT 'c1' AS t, * FROM c1 UNION ALL SELECT 'c2', * FROM c2 ORDER BY 1, 2;
DROP TABLE c1, c2, k;

-- Constraints and indexes that are dropped or changed meanwhile take effect at once, or when the script is run again.
CREATE TABLE changing (id serial PRIMARY KEY, p integer NOT NULL CONSTRAINT parent REFERENCES changing, q integer REFERENCES changing, x text,
    CONSTRAINT small CHECK (p < 100), CONSTRAINT positive CHECK (id > 0), CONSTRAINT x_q UNIQUE (x, q));
CREATE INDEX by_parent ON changing (p);
CREATE INDEX by_both ON changing (p, id);
INSERT INTO changing (p, q, x) SELECT n, n, n FROM generate_series(1, 9) AS n;
\set ECHO none
SELECT s FROM script('{changing}') AS s WHERE s !~ 'swap_keys|^ANALYZE' \gexec
\set ECHO all
SELECT s FROM script('{changing}') AS s WHERE s ~ '^(CALL|ALTER|DROP|CREATE)';
SELECT public.error_of($$SELECT snowdrift.convert_keys('{changing}')$$);
ALTER TABLE changing DROP CONSTRAINT positive, DROP CONSTRAINT x_q, DROP CONSTRAINT small, ADD CONSTRAINT small CHECK (p < 1000),
    DROP CONSTRAINT parent, ADD CONSTRAINT parent FOREIGN KEY (p) REFERENCES changing ON DELETE CASCADE, ALTER p DROP NOT NULL, ALTER q SET NOT NULL;
DROP INDEX by_parent, by_both;
CREATE UNIQUE INDEX by_parent ON changing (p);
CREATE VIEW of_shadows AS SELECT * FROM changing;
SELECT public.error_of($$SELECT snowdrift.conversion_script('{changing}')$$);
DROP VIEW of_shadows;
SELECT public.error_of($$CALL snowdrift.swap_keys('{changing}')$$);
SELECT s FROM script('{changing}') AS s WHERE s ~ '^(CALL|ALTER|DROP|CREATE)';
\set ECHO none
SELECT script('{changing}') \gexec
\set ECHO all
\d changing
SELECT public.error_of($$CALL snowdrift.swap_keys('{changing}')$$);
INSERT INTO changing (id, q) VALUES (-5, 1);
-- NULL is accepted after DROP NOT NULL, and running the script again. Objects with such names that have no such columns stay.
CREATE TABLE target (id serial PRIMARY KEY);
CREATE TABLE source (id bigserial PRIMARY KEY, t integer NOT NULL REFERENCES target, b bigint REFERENCES target, n integer, CONSTRAINT _snowdrift_n CHECK (n > 0));
CREATE INDEX _snowdrift_own ON source (n);
CREATE INDEX by_expression ON source ((t::bigint));
ALTER INDEX by_expression ALTER COLUMN 1 SET STATISTICS 500;
INSERT INTO target SELECT FROM generate_series(1, 3);
INSERT INTO source (t, b) SELECT id, id FROM target;
\set ECHO none
SELECT s FROM script('{target}') AS s WHERE s !~ 'swap_keys|^ANALYZE' \gexec
ALTER TABLE source ALTER t DROP NOT NULL;
SELECT s FROM script('{target}') AS s WHERE s !~ 'swap_keys|^ANALYZE' \gexec
\set ECHO all
UPDATE source SET t = NULL WHERE t = 3;
ALTER TABLE source DROP CONSTRAINT source_b_fkey;
SELECT s FROM script('{target}') AS s WHERE s ~ 'DROP';
SELECT s FROM snowdrift.abandon_script('{target}') AS s WHERE s !~ 'transaction_timeout|^RESET|^SET' \gexec
\d source
\set ECHO none
SELECT script('{target}') \gexec
\set ECHO all
\d source
DROP TABLE source, target;
-- A table that no longer refers is named.
CREATE TABLE target (id serial PRIMARY KEY);
CREATE TABLE source (id bigserial PRIMARY KEY, t integer REFERENCES target);
\set ECHO none
SELECT s FROM script('{target}') AS s WHERE s !~ 'swap_keys|^ANALYZE' \gexec
\set ECHO all
ALTER TABLE source DROP CONSTRAINT source_t_fkey;
SELECT public.error_of($$SELECT snowdrift.conversion_script('{target}')$$);
ALTER TABLE source RENAME TO renamed;
SELECT s FROM snowdrift.abandon_script('{renamed}') AS s WHERE s !~ 'transaction_timeout|^RESET|^SET' \gexec
SELECT to_regproc('_snowdrift_source') IS NULL AS is_dropped;
ALTER TABLE target RENAME TO renamed_target;
\set ECHO none
SELECT script('{renamed_target}') \gexec
\set ECHO all
SELECT proname FROM pg_proc WHERE starts_with(proname, '_snowdrift_');
DROP TABLE renamed, renamed_target;
-- Statements of a script that run again after the swap leave columns, which are named, and can be removed.
DROP TABLE changing;
CREATE TABLE changing (id serial PRIMARY KEY);
\set ECHO none
SELECT s AS added FROM script('{changing}') AS s WHERE s ~ 'ADD COLUMN' \gset
SELECT script('{changing}') \gexec
:added;
\set ECHO all
SELECT public.error_of($$SELECT snowdrift.conversion_script('{changing}')$$);
SELECT s FROM snowdrift.abandon_script('{changing}') AS s WHERE s ~ 'change_briefly' \gexec
SELECT snowdrift.conversion_script('{changing}');
SELECT snowdrift.abandon_script('{changing}');
DROP TABLE changing;

-- The actions of two foreign keys can come in any order.
CREATE TABLE pairs (a integer, id serial PRIMARY KEY, UNIQUE (a, id));
CREATE TABLE actions (a integer DEFAULT 0, b integer, CONSTRAINT sets_null FOREIGN KEY (a, b) REFERENCES pairs (a, id) ON DELETE SET NULL,
    CONSTRAINT updates_null FOREIGN KEY (a, b) REFERENCES pairs (a, id) ON UPDATE SET NULL, CONSTRAINT sets_default FOREIGN KEY (b) REFERENCES pairs ON DELETE SET DEFAULT,
    CONSTRAINT cascades FOREIGN KEY (a, b) REFERENCES pairs (a, id) ON DELETE CASCADE ON UPDATE CASCADE);
SELECT public.error_of($$SELECT snowdrift.conversion_script('{pairs}')$$);
DROP TABLE actions, pairs;

-- Constants are copied whatever the session's settings are, and a cast of a default doesn't limit the sequence.
SET extra_float_digits = 0;
CREATE SEQUENCE cast_seq AS integer;
CREATE TABLE constants (id integer PRIMARY KEY DEFAULT nextval('cast_seq')::integer, s float8, CONSTRAINT c CHECK (id > 0 OR s <> '0.30000000000000004'));
CREATE INDEX constants_s ON constants (id) WHERE s > '0.30000000000000004';
\set ECHO none
SELECT script('{constants}', keep_sequences => true) \gexec
\set ECHO all
RESET extra_float_digits;
\d constants
SELECT setval('cast_seq', 2147483647);
INSERT INTO constants DEFAULT VALUES RETURNING id;
DROP TABLE constants;
DROP SEQUENCE cast_seq;

-- With keep_sequences, only types change: sequences stay, with all of their properties, and continue beyond 2^31.
CREATE TABLE accounts (id serial PRIMARY KEY, parent integer REFERENCES accounts);
CREATE TABLE bills (id integer GENERATED ALWAYS AS IDENTITY (START 10 INCREMENT 5 CACHE 7) PRIMARY KEY, n smallint GENERATED BY DEFAULT AS IDENTITY (MAXVALUE 100 CYCLE),
    account integer REFERENCES accounts);
ALTER TABLE accounts ADD FOREIGN KEY (parent) REFERENCES bills;
COMMENT ON SEQUENCE bills_id_seq IS 'numbers of bills';
GRANT SELECT ON SEQUENCE bills_id_seq TO PUBLIC;
CREATE TABLE events (id bigserial PRIMARY KEY);
INSERT INTO accounts DEFAULT VALUES;
INSERT INTO bills DEFAULT VALUES;
SELECT setval('accounts_id_seq', 2147483647), setval('bills_id_seq', 2147483640);
TRUNCATE before;
INSERT INTO before SELECT * FROM shape();
SELECT s FROM snowdrift.conversion_script('{accounts,bills,events}', keep_sequences => true) AS s WHERE s ~ 'swap_keys';
SELECT script('{accounts,bills,events}', keep_sequences => true) \gexec
SELECT '-' AS d, * FROM (TABLE before EXCEPT SELECT * FROM shape()) AS a UNION ALL SELECT '+', * FROM (SELECT * FROM shape() EXCEPT TABLE before) AS b ORDER BY 2, 1;
INSERT INTO accounts DEFAULT VALUES RETURNING id;
INSERT INTO bills DEFAULT VALUES RETURNING id, n;
SELECT count(*) FROM snowdrift.conversion_script('{accounts,bills,events}', keep_sequences => true);
-- Later, these keys become Snowflakes, which takes only the swap.
SELECT s FROM script('{accounts,bills}') AS s WHERE s !~ '^(SET|CALL snowdrift.reserve|-- )';
SELECT script('{accounts,bills,events}') \gexec
SELECT count(*) FROM snowdrift.conversion_script('{accounts,bills,events}');
DROP TABLE accounts, bills, events CASCADE;

-- First aid for a sequence at its end: the negative half of the integers. RESTART alone begins at 1, and repeats keys.
CREATE TABLE s (id serial PRIMARY KEY);
CREATE TABLE i (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY);
INSERT INTO s DEFAULT VALUES;
INSERT INTO i DEFAULT VALUES;
SELECT setval('s_id_seq', 2147483647), setval('i_id_seq', 2147483647);
SELECT error_of('INSERT INTO s DEFAULT VALUES'), error_of('INSERT INTO i DEFAULT VALUES');
ALTER SEQUENCE s_id_seq RESTART;
SELECT error_of('INSERT INTO s DEFAULT VALUES');
ALTER SEQUENCE s_id_seq MINVALUE -2147483648 RESTART WITH -2147483648;
ALTER TABLE i ALTER id SET MINVALUE -2147483648 RESTART WITH -2147483648;
INSERT INTO s DEFAULT VALUES RETURNING id;
INSERT INTO i DEFAULT VALUES RETURNING id;
-- Such keys can be converted, too.
SELECT script('{s,i}') \gexec
INSERT INTO s DEFAULT VALUES RETURNING id > 1000000000000000 AS is_snowflake;
SELECT min(id) FROM s;
DROP TABLE s, i;

-- A named generator, and errors
SELECT snowdrift.create_generator('web', 'snowflake', 'twitter');
CREATE TABLE pages (id serial PRIMARY KEY);
SELECT s FROM script('{pages}', 'web', duty => 0.25) AS s WHERE s ~ 'swap|copy';
SELECT script('{pages}', 'web') \gexec
SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = 'pages'::regclass;
SELECT error_of(format('SELECT snowdrift.conversion_script(%s)', arguments)) FROM unnest(ARRAY['NULL', $$'{pages}', duty => 0$$, $$'{pages}', duty => 'NaN'$$,
    $$'{pages}', 'web', keep_sequences => true$$, $$'{pages}', 'missing'$$, $$'{pages}', fire_triggers => NULL$$]) AS arguments;
SELECT error_of('SELECT snowdrift.abandon_script(NULL)');
SET search_path = live, pg_catalog;
SELECT public.error_of($$SELECT snowdrift.conversion_script('{pages}')$$);
SET search_path = live, public;
DROP TABLE pages;
SELECT snowdrift.drop_generator('web');

-- What cannot be converted while applications write is refused with the remedies, all at once, before anything is changed.
CREATE TABLE a (id serial PRIMARY KEY, twice integer GENERATED ALWAYS AS (id * 2) STORED, changed timestamptz);
CREATE TABLE b (id serial PRIMARY KEY, a integer UNIQUE DEFERRABLE REFERENCES a, c integer REFERENCES a, EXCLUDE USING btree (c WITH =));
CREATE TABLE p (id integer, a integer REFERENCES a) PARTITION BY RANGE (id);
CREATE TABLE parent (a integer REFERENCES a);
CREATE TABLE child () INHERITS (parent);
CREATE TABLE d (a integer, b integer, FOREIGN KEY (a) REFERENCES a ON DELETE SET NULL (a));
CREATE MATERIALIZED VIEW m AS SELECT id FROM a;
CREATE FUNCTION f() RETURNS integer BEGIN ATOMIC SELECT id FROM a; END;
CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.changed := now(); RETURN NEW; END';
CREATE TRIGGER touch BEFORE UPDATE ON a FOR EACH ROW EXECUTE FUNCTION touch();
ALTER TABLE a ENABLE ALWAYS TRIGGER touch;
ALTER TABLE a ADD CONSTRAINT old CHECK (id > 0) NOT VALID;
CREATE TRIGGER "~~" BEFORE INSERT ON a FOR EACH ROW EXECUTE FUNCTION touch();
CREATE PUBLICATION live_a FOR TABLE a;
TRUNCATE before;
INSERT INTO before SELECT * FROM shape();
SELECT refusal_of($$SELECT snowdrift.conversion_script('{a}')$$);
SELECT count(*) FROM (SELECT * FROM shape() EXCEPT TABLE before) AS changes;
DROP TABLE b, p, child, parent, d;
DROP MATERIALIZED VIEW m;
DROP FUNCTION f;
DROP PUBLICATION live_a;
DROP TRIGGER "~~" ON a;
ALTER TABLE a DROP COLUMN twice, DROP CONSTRAINT old;
-- Triggers can fire for each copied row, if the caller accepts it.
SELECT refusal_of($$SELECT snowdrift.conversion_script('{a}')$$);
INSERT INTO a (changed) VALUES ('2000-01-01');
-- Rows that a trigger keeps from being changed are not waited for.
CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE TRIGGER keep BEFORE UPDATE ON a FOR EACH ROW EXECUTE FUNCTION keep();
ALTER TABLE a ENABLE ALWAYS TRIGGER keep;
SELECT s FROM script('{a}', fire_triggers => true) AS s WHERE s ~ 'change_briefly' \gexec
CALL snowdrift.copy_keys('a');
DROP TRIGGER keep ON a;
DROP FUNCTION keep;
SELECT script('{a}', fire_triggers => true) \gexec
SELECT changed > '2000-01-01' AS has_fired FROM a;
DROP TABLE a;
DROP FUNCTION touch;

-- Functions that can fail because of new columns at the end of the tables are named first.
CREATE TABLE t (id serial PRIMARY KEY, amount integer, points integer);
CREATE FUNCTION top() RETURNS SETOF t LANGUAGE plpgsql AS 'BEGIN RETURN QUERY SELECT id, amount, points FROM t; END';
CREATE FUNCTION add(n integer) RETURNS void LANGUAGE sql AS 'INSERT INTO t VALUES (n, 20, 300)';
CREATE FUNCTION add_rows() RETURNS void LANGUAGE sql AS 'INSERT INTO live.t (SELECT 1, 20, 300)';
CREATE FUNCTION harmless() RETURNS void LANGUAGE sql AS 'INSERT INTO t (amount, points) VALUES (20, 300)';
SELECT s FROM script('{t}') AS s WHERE s ~ 'column order';
DROP FUNCTION top, add, add_rows, harmless;
-- A shorter list of tables would leave columns that no trigger fills. A longer one would not.
CREATE TABLE parts (id serial PRIMARY KEY, t integer REFERENCES t);
SELECT s FROM script('{t,parts}') AS s WHERE s LIKE 'CALL snowdrift.change_briefly%' LIMIT 2 \gexec
SELECT refusal_of($$SELECT snowdrift.conversion_script('{t}')$$), refusal_of($$CALL snowdrift.swap_keys('{t}')$$);
SELECT s FROM snowdrift.abandon_script('{t,parts}') AS s WHERE s !~ 'transaction_timeout' \gexec
SELECT s FROM script('{t}') AS s WHERE s LIKE 'CALL snowdrift.change_briefly%' LIMIT 2 \gexec
INSERT INTO t DEFAULT VALUES;
SELECT s FROM script('{t,parts}') AS s WHERE s LIKE 'CALL snowdrift.change_briefly%' LIMIT 1 \gexec
INSERT INTO parts (t) SELECT id FROM t RETURNING _snowdrift_id = id AND _snowdrift_t = t AS is_filled;
SELECT s FROM snowdrift.abandon_script('{t,parts}') AS s WHERE s !~ 'transaction_timeout' \gexec
DROP TABLE parts;
-- An object that begins to depend on a column before the swap keeps it from being dropped, and nothing is changed.
SELECT s FROM script('{t}') AS s WHERE s !~ 'swap_keys|^ANALYZE' \gexec
CREATE MATERIALIZED VIEW v AS SELECT id FROM t;
SELECT refusal_of($$CALL snowdrift.swap_keys('{t}')$$);
DROP MATERIALIZED VIEW v;
CALL snowdrift.swap_keys('{t}');
SELECT shape FROM shape() WHERE shape LIKE 'column t %' ORDER BY 1;
DROP TABLE t;

-- Foreign keys that transactions defer by their names; one that needs an index that contains another key; one of a generated column
CREATE TABLE z (id serial PRIMARY KEY, code text, CONSTRAINT z_code UNIQUE (code) INCLUDE (id));
CREATE TABLE z_code_of (code text CONSTRAINT code REFERENCES z (code));
SELECT refusal_of($$SELECT snowdrift.conversion_script('{z}')$$);
DROP TABLE z_code_of;
CREATE TABLE z_text (z text, number integer GENERATED ALWAYS AS (z::integer) STORED REFERENCES z);
SELECT refusal_of($$SELECT snowdrift.conversion_script('{z}')$$);
DROP TABLE z_text;
CREATE TABLE z_of (z integer CONSTRAINT z REFERENCES z DEFERRABLE);
SELECT s FROM script('{z}') AS s WHERE s !~ 'swap_keys|^ANALYZE' \gexec
SELECT error_of('INSERT INTO z_of VALUES (77)');
BEGIN;
SET CONSTRAINTS live.z DEFERRED;
INSERT INTO z_of VALUES (77);
INSERT INTO z VALUES (77);
COMMIT;
SELECT script('{z}') \gexec
SELECT conname, condeferrable, condeferred FROM pg_constraint WHERE conrelid = 'z_of'::regclass;
DROP TABLE z_of, z;

-- Names whose first bytes are equal; functions and rules that a copy would meet; what bigint does not have; a conversion to a
-- named generator that is abandoned
CREATE TABLE y (id serial PRIMARY KEY, a_column_whose_name_has_sixty_three_bytes_and_is_as_long_as_000 integer REFERENCES y,
    a_column_whose_name_has_sixty_three_bytes_and_is_as_long_as_001 integer REFERENCES y, changed timestamptz);
CREATE TABLE y_history (LIKE y);
CREATE FUNCTION keep_y() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO y_history VALUES (OLD.*); RETURN OLD; END';
CREATE TRIGGER keep_y BEFORE DELETE ON y FOR EACH ROW EXECUTE FUNCTION keep_y();
CREATE FUNCTION archive() RETURNS void LANGUAGE sql AS 'WITH d AS (DELETE FROM y RETURNING *) INSERT INTO y_history SELECT * FROM d';
CREATE FUNCTION is_changed() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN IF NEW.* IS DISTINCT FROM OLD.* THEN NEW.changed := now(); END IF; RETURN NEW; END';
CREATE TRIGGER is_changed BEFORE UPDATE OF changed ON y FOR EACH ROW EXECUTE FUNCTION is_changed();
CREATE FUNCTION keep_key() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO y_history SELECT (OLD).*; RETURN OLD; END';
CREATE TRIGGER keep_key BEFORE DELETE ON y FOR EACH ROW EXECUTE FUNCTION keep_key();
SELECT s FROM script('{y}') AS s WHERE s ~ 'column order: .*[(][)]';
CREATE RULE frozen AS ON UPDATE TO y DO INSTEAD NOTHING;
ALTER TABLE y ENABLE ALWAYS RULE frozen;
SELECT refusal_of($$SELECT snowdrift.conversion_script('{y}')$$);
DROP RULE frozen ON y;
CREATE INDEX ranges ON y USING brin (id int4_minmax_multi_ops);
SELECT refusal_of($$SELECT snowdrift.conversion_script('{y}')$$);
DROP INDEX ranges;
SELECT snowdrift.create_generator('web', 'snowflake', 'twitter');
ALTER TABLE y_history ADD PRIMARY KEY (id), ADD FOREIGN KEY (a_column_whose_name_has_sixty_three_bytes_and_is_as_long_as_000) REFERENCES y;
-- A table refers to a table that does not change.
CREATE TABLE y_profile (id bigint PRIMARY KEY REFERENCES y);
CREATE TABLE y_photo (profile integer REFERENCES y_profile);
SELECT s FROM script('{y}', 'web') AS s WHERE s LIKE 'CALL snowdrift.change_briefly%' LIMIT 3 \gexec
ALTER TABLE y ALTER id SET DEFAULT next_snowflake('web');
SELECT s FROM snowdrift.abandon_script('{y}') AS s WHERE s !~ 'transaction_timeout' \gexec
SELECT count(*) FROM shape() WHERE shape ~ '_snowdrift_';
RESET search_path;
DROP SCHEMA live CASCADE;
SELECT snowdrift.drop_generator('web', true);
