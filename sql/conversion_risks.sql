-- What examinations of public schemas have found: what refuses new keys is named before the conversion.
\set SHOW_CONTEXT never
CREATE SCHEMA app;
SET search_path = app, public;
-- risks(TABLES): the lines that begin with "-- warning"
CREATE FUNCTION risks(tables regclass[]) RETURNS SETOF text LANGUAGE sql SET client_min_messages = error AS $$
    SELECT line FROM snowdrift.convert_keys(tables, dry_run => true) AS line WHERE line LIKE '-- warning: %' $$;
-- details(TABLES): what stands in the way
CREATE FUNCTION details(tables regclass[]) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT line FROM regexp_split_to_table(error_of(format('SELECT snowdrift.convert_keys(%L, dry_run => true)', tables)), E'\n') AS line
    WHERE line ~ 'depends on' $$;

-- A function that a trigger calls, in another case than its name; Kea
CREATE TABLE options (id serial PRIMARY KEY);
CREATE FUNCTION "createAudit"(integer) RETURNS void LANGUAGE sql AS 'SELECT';
CREATE FUNCTION createOptionAudit(option_id integer) RETURNS void LANGUAGE sql AS 'SELECT';
CREATE FUNCTION on_insert() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM createOptionAudit(NEW.id); PERFORM "createAudit"(NEW.id); RETURN NEW; END $$;
CREATE TRIGGER t AFTER INSERT ON options FOR EACH ROW EXECUTE FUNCTION on_insert();
-- Advisory locks of two integers, but not of a bigint, or of hashes
CREATE FUNCTION lock_option() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_xact_lock(hashtext(lower('option')), NEW.id), pg_advisory_xact_lock(1, NEW.id); RETURN NEW; END $$;
CREATE FUNCTION lock_options() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_xact_lock(hashtextextended('option', 0)), NEW.id, pg_advisory_xact_lock(1, hashtext('option')); RETURN NEW; END $$;
CREATE TRIGGER lock BEFORE INSERT ON options FOR EACH ROW EXECUTE FUNCTION lock_option();
CREATE TRIGGER lock_all BEFORE INSERT ON options FOR EACH ROW EXECUTE FUNCTION lock_options();
SELECT * FROM risks('{options}');
DROP TABLE options;
DROP FUNCTION createOptionAudit, "createAudit", on_insert, lock_option, lock_options;

-- A view that declares the types of a function's result; AdventureWorks
CREATE TABLE sales (id serial PRIMARY KEY);
CREATE FUNCTION run(query text) RETURNS SETOF record LANGUAGE plpgsql AS $$ BEGIN RETURN QUERY EXECUTE query; END $$;
CREATE VIEW narrow_sales AS SELECT id FROM run('SELECT id FROM sales') AS t(id integer);
CREATE VIEW wide_sales AS SELECT id FROM run('SELECT id FROM sales') AS t(id bigint);
CREATE VIEW others AS SELECT n FROM run('SELECT 1') AS t(n integer);
SELECT * FROM risks('{sales}');
DROP VIEW narrow_sales, wide_sales, others;
DROP TABLE sales;

-- A function that writes through a view, or into a schema without keys; Sourcegraph, Evergreen
CREATE SCHEMA auditor;
CREATE TABLE uploads (id serial PRIMARY KEY);
CREATE TABLE auditor.history (a integer, n integer);
CREATE TABLE log (upload integer);
CREATE VIEW old_log AS SELECT * FROM log;
CREATE FUNCTION write_history() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO auditor.history VALUES (OLD.id); RETURN NULL; END $$;
CREATE FUNCTION write_log() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO old_log VALUES (NEW.id); RETURN NULL; END $$;
CREATE TRIGGER h AFTER DELETE ON uploads FOR EACH ROW EXECUTE FUNCTION write_history();
CREATE TRIGGER l AFTER INSERT ON uploads FOR EACH ROW EXECUTE FUNCTION write_log();
SELECT * FROM risks('{uploads}');
DROP VIEW old_log;
DROP TABLE uploads, log, auditor.history;
DROP FUNCTION write_history, write_log;
DROP SCHEMA auditor;

-- Names of references; Request Tracker
CREATE TABLE users (id serial PRIMARY KEY);
CREATE TABLE tickets (id serial PRIMARY KEY, owner integer, "Creator" integer, lastupdatedby integer, priority integer, bytes integer);
SELECT * FROM risks('{users,tickets}');
DROP TABLE users, tickets;

-- Words of names, and numbers of things; iNaturalist
CREATE TABLE sites (id serial PRIMARY KEY);
CREATE TABLE site_statuses (id serial PRIMARY KEY);
CREATE TABLE photos (id serial PRIMARY KEY, position integer, photos_count integer, number_of_photos integer, website integer, photo_count integer,
    photo integer, "mainPhoto" integer, old_site integer, is_valid integer, "isPaid" integer, bid integer, "jobId" integer, jobid integer, "siteStatus" integer, photo_status integer, line_no integer, photo_year integer, photo_sort_order integer);
SELECT * FROM risks('{sites,site_statuses,photos}');
DROP TABLE sites, site_statuses, photos;

-- Text and numbers that are too short; GitLab
CREATE TABLE cluster_agents (id bigserial PRIMARY KEY);
CREATE TABLE reads (cluster_agent_id text CHECK (char_length(cluster_agent_id) <= 10), "clusterAgentId" varchar(12), old_cluster_agent_id numeric(18),
    long_cluster_agent_id varchar(19), numeric_cluster_agent_id numeric(20, 1), checked_cluster_agent_id text CHECK (char_length(checked_cluster_agent_id) <= 255),
    less_cluster_agent_id text CHECK (length(less_cluster_agent_id) < 19), hash_cluster_agent_id bytea CHECK (length(hash_cluster_agent_id) <= 16), id varchar(3));
SELECT * FROM risks('{cluster_agents}');
DROP TABLE reads, cluster_agents;

-- Numbers of a fixed width
CREATE TABLE invoices (id bigserial PRIMARY KEY, "No" text GENERATED ALWAYS AS ('INV-' || lpad(id::text, 6, '0')) STORED, day date);
CREATE TABLE items (id integer, invoice bigint REFERENCES invoices, CHECK (99999 > invoice));
CREATE VIEW numbered AS SELECT to_char(i.id, 'FM000000') AS no, to_char(i.day, 'YYYY') AS year FROM invoices AS i;
CREATE VIEW years AS SELECT i.id, to_char(i.day, 'YYYY') AS year FROM invoices AS i;
CREATE INDEX ON items (substr(invoice::text, 1, 2));
CREATE INDEX ON items (lpad(invoice::text, 19, '0'));
CREATE INDEX varying ON items (lpad(invoice::varchar, 6, '0'));
CREATE INDEX part ON items (substring(invoice::text from 1 for 4));
CREATE VIEW greatest_items AS SELECT lpad(max(i.invoice)::text, 6, '0') AS no FROM items AS i;
CREATE VIEW wide_items AS SELECT to_char(i.invoice, 'FM0000000000000000000') AS no, substr(i.invoice::text, 1, 19) AS part, lpad(i.invoice::text, 100) AS line,
    substring(i.invoice::text from 1 for 20) AS other_part, left(md5(i.invoice::text), 8) AS hash FROM items AS i LEFT JOIN (SELECT id, 6 FROM invoices) AS n USING (id);
CREATE FUNCTION number_of(i invoices) RETURNS text LANGUAGE sql RETURN 'N' || lpad(i.id::text, 6, '0');
CREATE FUNCTION last_number() RETURNS text LANGUAGE sql BEGIN ATOMIC SELECT max(lpad(id::text, 6, '0')) FROM invoices; END;
CREATE FUNCTION number_invoice() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.body := lpad( NEW.id::text, 6, '0'); RETURN NEW; END $$;
CREATE FUNCTION cast_number() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.body := LPAD(CAST(NEW.id AS varchar), 6, '0'); RETURN NEW; END $$;
CREATE FUNCTION date_invoice() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.body := to_char(now(), 'YYYY') || NEW.id; RETURN NEW; END $$;
CREATE TRIGGER n BEFORE INSERT ON invoices FOR EACH ROW EXECUTE FUNCTION number_invoice();
CREATE TRIGGER c BEFORE INSERT ON invoices FOR EACH ROW EXECUTE FUNCTION cast_number();
CREATE TRIGGER d BEFORE INSERT ON invoices FOR EACH ROW EXECUTE FUNCTION date_invoice();
SELECT * FROM risks('{invoices}');
DROP FUNCTION number_of, last_number;
DROP VIEW numbered, years, greatest_items, wide_items;
DROP TABLE items, invoices;
DROP FUNCTION number_invoice, cast_number, date_invoice;

-- Formats and casts in what a conversion creates again
CREATE TABLE invoices (id serial PRIMARY KEY);
CREATE VIEW numbered AS SELECT lpad(id::text, 6, '0') AS no FROM invoices;
CREATE POLICY short ON invoices USING (lpad(id::text, 6, '0') <> '');
CREATE VIEW small AS SELECT id::smallint FROM invoices;
CREATE TRIGGER short BEFORE UPDATE ON invoices FOR EACH ROW WHEN (left(NEW.id::text, 6) <> '') EXECUTE FUNCTION suppress_redundant_updates_trigger();
CREATE VIEW ids AS SELECT id, count(*) OVER ()::integer AS n FROM invoices;
CREATE VIEW current AS SELECT n FROM ids WHERE id = current_setting('app.invoice')::integer;
CREATE POLICY current ON invoices USING (id = current_setting('app.invoice')::integer);
SELECT * FROM risks('{invoices}');
DROP TABLE invoices CASCADE;

-- Functions that take a key, and name no table; Evergreen
CREATE TABLE usr (id serial PRIMARY KEY);
CREATE FUNCTION set_password(usr_id integer, password text) RETURNS void LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION remove_user(p_usr smallint) RETURNS void LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION wait_for(seconds integer, OUT usr_id integer) LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION find_name(id integer, v_usr_id integer, OUT name text) LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION set_long(usr_id bigint) RETURNS void LANGUAGE plpgsql AS 'BEGIN END';
SELECT * FROM risks('{usr}');
DROP TABLE usr;
DROP FUNCTION set_password, remove_user, wait_for, find_name, set_long;

-- Functions that return a key, or know a table only by a view of it or by an argument; procedures
CREATE TABLE users (id serial PRIMARY KEY, name text);
CREATE VIEW active AS SELECT id, name FROM users;
CREATE VIEW active_names AS SELECT id FROM active;
CREATE FUNCTION add_user(n text) RETURNS integer LANGUAGE sql AS 'INSERT INTO users (name) VALUES (n) RETURNING id';
CREATE FUNCTION greatest_id() RETURNS text LANGUAGE plpgsql AS $$ DECLARE i int4; BEGIN SELECT max(id) INTO i FROM active_names; RETURN i; END $$;
CREATE FUNCTION next_of_view() RETURNS bigint LANGUAGE plpgsql AS $$ DECLARE r record; BEGIN SELECT id INTO r FROM active LIMIT 1; RETURN r.id + 1; END $$;
CREATE FUNCTION next_of_row(u users) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RETURN u.id + 1; END $$;
CREATE PROCEDURE next_of_all() LANGUAGE plpgsql AS $$ DECLARE r record; BEGIN FOR r IN SELECT id FROM users LOOP PERFORM r.id + 1; END LOOP; END $$;
INSERT INTO users (name) VALUES ('Ada');
SELECT next_of_view(), next_of_row(u) FROM users AS u;
CALL next_of_all();
SELECT line FROM snowdrift.convert_keys('{users}') AS line WHERE line ~ 'warning: integers in a function|ALTER (FUNCTION|PROCEDURE)';
SELECT next_of_view(), next_of_row(u) FROM users AS u;
CALL next_of_all();
DROP FUNCTION add_user, greatest_id, next_of_view, next_of_row;
DROP PROCEDURE next_of_all;
DROP TABLE users CASCADE;

-- References in another schema, if they have the name of a table, and references of a domain
CREATE SCHEMA other;
CREATE DOMAIN reference AS integer;
CREATE TABLE users (id serial PRIMARY KEY);
CREATE TABLE other.events (user_id integer, item_id integer, user_count integer, owner integer);
CREATE TABLE notes (user_id reference);
SELECT * FROM risks('{users}');
DROP TABLE users, other.events, notes;
DROP DOMAIN reference;
DROP SCHEMA other;

-- Domains of domains; a key of a domain that draws already is not in the way.
CREATE DOMAIN number AS integer;
CREATE DOMAIN reference AS number;
CREATE DOMAIN long AS bigint;
CREATE TABLE users (id serial PRIMARY KEY);
CREATE TABLE notes (n reference REFERENCES users);
CREATE TABLE done (id long PRIMARY KEY DEFAULT next_snowflake());
SELECT error_of($$SELECT snowdrift.convert_keys('{users,done}')$$);
DROP TABLE notes;
SELECT count(*) FROM snowdrift.convert_keys('{users,done}');
DROP TABLE users, done;
DROP DOMAIN reference, number, long;

-- Casts and limits of keys and references that are bigint already
CREATE TABLE items (id bigserial PRIMARY KEY CONSTRAINT small CHECK (id <= 2147483647), bucket integer GENERATED ALWAYS AS (id) STORED, price numeric CHECK (price < 1000));
ALTER TABLE items ALTER id SET DEFAULT nextval('items_id_seq')::integer;    -- is replaced
CREATE TABLE parts (item bigint DEFAULT current_setting('app.item')::integer REFERENCES items CHECK (item::integer >= 0), CONSTRAINT large CHECK (item < 9000000000000000000));
CREATE INDEX items_index ON items ((id::integer));
CREATE TABLE uses (item bigint REFERENCES items CHECK (item::integer > 0), bucket integer GENERATED ALWAYS AS (item) STORED) PARTITION BY HASH (item);
CREATE TABLE all_uses PARTITION OF uses FOR VALUES WITH (MODULUS 1, REMAINDER 0);    -- whose objects need no lines
CREATE INDEX uses_index ON uses ((item::integer));
CREATE TABLE item_log (item integer);
CREATE RULE log AS ON INSERT TO items DO ALSO INSERT INTO item_log VALUES (NEW.id);
CREATE VIEW small_items AS SELECT id::integer AS id FROM items;
CREATE VIEW all_items AS SELECT id FROM items;
CREATE VIEW my_parts AS SELECT count(*) FROM parts WHERE item = current_setting('app.item')::integer;
CREATE POLICY mine ON items USING (id = current_setting('app.item')::integer);
CREATE TRIGGER skips BEFORE UPDATE ON parts FOR EACH ROW WHEN (NEW.item = current_setting('app.item')::integer) EXECUTE FUNCTION suppress_redundant_updates_trigger();
-- Constants are no casts.
ALTER TABLE parts ADD kit bigint DEFAULT -1::integer REFERENCES items;
CREATE POLICY others ON items USING (id <> (-1)::integer);
CREATE VIEW optional AS SELECT count(*) FROM items WHERE id = nullif(current_setting('app.item', true), '')::integer;
CREATE VIEW reversed AS SELECT price FROM items AS i WHERE current_setting('app.item')::integer = i.id;
CREATE VIEW greatest_part AS SELECT max(item)::integer FROM parts;
CREATE VIEW possible AS SELECT price FROM items WHERE id = CASE WHEN price > 1 THEN current_setting('app.item')::integer ELSE 0 END;
CREATE POLICY claimed ON parts USING (item = (current_setting('app.claims')::json -> 'item' ->> 'id')::integer);
CREATE POLICY selected ON parts USING (item IN (SELECT unnest(string_to_array(current_setting('app.items'), ','))::integer));
CREATE POLICY same ON parts USING (item IS NOT DISTINCT FROM current_setting('app.item')::integer);
CREATE POLICY direct ON parts USING (item::integer > 0);
CREATE POLICY listed ON parts USING (item = ANY (string_to_array(current_setting('app.items'), ',')::integer[]));
CREATE FUNCTION count_current() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT count(*) FROM items WHERE id = current_setting('app.item')::integer; END;
-- The order of operands, names, and functions do not matter.
CREATE FUNCTION claim() RETURNS text LANGUAGE sql STABLE AS $$ SELECT '1' $$;
CREATE VIEW renamed AS SELECT number::integer AS part FROM (SELECT item AS number FROM parts) AS p;
CREATE POLICY subquery ON parts USING ((SELECT current_setting('app.item')::integer) = item);
CREATE POLICY any_of ON parts USING (current_setting('app.item')::integer = ANY (ARRAY(SELECT id FROM items)));
CREATE POLICY calling ON parts USING (item = claim()::integer);
CREATE POLICY array_of ON parts USING (item = ANY (current_setting('app.items')::integer[]));
CREATE POLICY json ON parts USING (item = ('{"item": 1}'::jsonb -> 'item')::integer);
-- Other casts
ALTER TABLE parts ADD tenant integer, ADD day timestamptz;
ALTER TABLE parts ADD CONSTRAINT arc CHECK ((item IS NOT NULL)::integer + (kit IS NOT NULL)::integer <= 1 AND num_nonnulls(item, kit) <= 1 AND (item IS NULL OR tenant < 10)),
    ADD CONSTRAINT short CHECK (length(item::text) <= 10), ADD CONSTRAINT small CHECK (coalesce(item, 0) < 1000), ADD CONSTRAINT narrow CHECK (char_length(CAST(kit AS varchar)) < 19);
CREATE VIEW counts AS SELECT item, tenant, count(*)::integer AS parts, count(kit)::integer AS kits, count(*) FILTER (WHERE item IN (1, 2))::integer AS firsts,
    row_number() OVER (ORDER BY item)::integer AS number, (SELECT count(*) FROM items WHERE id = item)::integer AS items, extract(year FROM max(day))::integer AS year
    FROM parts GROUP BY item, tenant;
SELECT * FROM risks('{items}');
DROP TABLE items, parts, uses, item_log CASCADE;
DROP FUNCTION claim;

-- A generated column becomes bigint.
CREATE TABLE orders (id serial PRIMARY KEY, twin integer GENERATED ALWAYS AS (id) STORED);
SELECT error_of($$SELECT snowdrift.convert_keys('{orders}')$$) ~ 'ADD COLUMN twin bigint GENERATED' AS "the statement has bigint";
DROP TABLE orders;

-- Sequences that the conversion drops; LedgerSMB, Evergreen
CREATE TABLE entries (id bigserial PRIMARY KEY, name text);
CREATE FUNCTION save(name text) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN INSERT INTO entries (name) VALUES ($1); RETURN currval('entries_id_seq'); END $$;
CREATE FUNCTION last_entry() RETURNS bigint LANGUAGE sql AS $$ INSERT INTO entries DEFAULT VALUES; SELECT lastval() $$;
CREATE FUNCTION last_of_others() RETURNS bigint LANGUAGE sql AS $$ SELECT lastval() $$;
SELECT * FROM risks('{entries}');
DROP TABLE entries;
DROP FUNCTION save, last_entry, last_of_others;
CREATE TABLE expressions (id serial PRIMARY KEY, kind text);
CREATE VIEW bools AS SELECT id FROM expressions WHERE kind = 'bool';
CREATE RULE bools_insert AS ON INSERT TO bools DO INSTEAD INSERT INTO expressions VALUES (coalesce(NEW.id, nextval('expressions_id_seq')), 'bool');
SELECT error_of($$SELECT snowdrift.convert_keys('{expressions}', dry_run => true)$$) ~ 'CREATE RULE .*next_snowflake\(\)' AS "the statement draws from the generator";
DROP TABLE expressions CASCADE;

-- Sequences that other objects use: the conversion keeps those of serial keys. Dropping an identity drops its sequence.
CREATE TABLE serials (id serial PRIMARY KEY);
CREATE TABLE identities (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY);
CREATE TABLE borrowers (id serial PRIMARY KEY, a bigint DEFAULT nextval('serials_id_seq'), b bigint DEFAULT nextval('identities_id_seq'));
SELECT * FROM snowdrift.convert_keys('{serials}');
SELECT error_of($$SELECT snowdrift.convert_keys('{identities}')$$);
DROP TABLE borrowers, serials, identities;

-- What calls a function with integers, and would be built again for a bigint, which fails after tables were rewritten; OpenLMIS
CREATE FUNCTION of_integer(n integer) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT 1';
CREATE FUNCTION of_bigint(n bigint) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT 1';
CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE TABLE calls (id serial PRIMARY KEY, CHECK (of_integer(id) > 0), CONSTRAINT fine CHECK (of_bigint(id) > 0));
CREATE INDEX calls_index ON calls (of_integer(id));
CREATE INDEX calls_fine ON calls (of_bigint(id));
CREATE STATISTICS calls_statistics ON of_integer(id), of_bigint(id) FROM calls;
CREATE POLICY calls_policy ON calls USING (of_integer(id) > 0);
CREATE TRIGGER calls_trigger AFTER INSERT ON calls FOR EACH ROW WHEN (of_integer(NEW.id) > 0) EXECUTE FUNCTION nothing();
CREATE VIEW calls_view AS SELECT of_integer(id) AS n FROM calls;
CREATE VIEW fine_view AS SELECT of_bigint(id) AS n FROM calls;
SELECT * FROM details('{calls}');
DROP TABLE calls CASCADE;

-- The way back: a sequence that the key owns, but has not used, or that has the name of the new one; Travis CI, Pagila, GitLab
CREATE SEQUENCE shared;
CREATE TABLE builds (id bigserial PRIMARY KEY);
ALTER TABLE builds ALTER id SET DEFAULT nextval('shared');
CREATE SEQUENCE payments_id_seq;
CREATE TABLE payments (id bigint DEFAULT nextval('payments_id_seq'), day date, PRIMARY KEY (id, day)) PARTITION BY RANGE (day);
CREATE TABLE payments_1 PARTITION OF payments DEFAULT;
CREATE TABLE "A name that is as long as the names of PostgreSQL can be, or as" (id bigserial PRIMARY KEY);
CREATE TABLE "A name that is as long as the names of PostgreSQL can be, or at" (id bigserial PRIMARY KEY);
CREATE TABLE granted (id bigserial PRIMARY KEY);
CREATE TABLE heirs () INHERITS (granted);
CREATE TABLE negative (id bigserial PRIMARY KEY);
INSERT INTO negative VALUES (-5);
CREATE VIEW of_granted AS SELECT * FROM granted;
CREATE VIEW of_view AS SELECT * FROM of_granted;
GRANT INSERT ON of_view TO PUBLIC;
CREATE FUNCTION tables() RETURNS regclass[] LANGUAGE sql AS $$
    SELECT array_agg(oid::regclass ORDER BY relname) FROM pg_class WHERE relnamespace = 'app'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition $$;
SET client_min_messages = error;
SELECT count(*) FROM snowdrift.convert_keys(tables());
INSERT INTO builds DEFAULT VALUES;
INSERT INTO payments (day) VALUES ('2026-01-01');
SELECT count(*) > 0 AS reverted FROM snowdrift.revert_keys(tables());
RESET client_min_messages;
INSERT INTO builds DEFAULT VALUES;
INSERT INTO payments (day) VALUES ('2026-01-02');
INSERT INTO "A name that is as long as the names of PostgreSQL can be, or as" DEFAULT VALUES RETURNING id > 1 AS follows_all_ids;
INSERT INTO "A name that is as long as the names of PostgreSQL can be, or at" DEFAULT VALUES RETURNING id > 1 AS follows_all_ids;
SELECT max(id) > min(id) AS follows_all_ids FROM builds;
SELECT max(id) > min(id) AS follows_all_ids FROM payments;
SELECT has_sequence_privilege('public', pg_get_serial_sequence('granted', 'id'), 'USAGE') AS "who may insert can draw";
INSERT INTO negative DEFAULT VALUES RETURNING id > 1 AS follows_all_ids;
SELECT * FROM snowdrift.revert_keys('{negative}');
SELECT error_of($$SELECT snowdrift.revert_keys('{NULL}')$$);
SELECT error_of($$SELECT snowdrift.revert_keys('{negative_pkey}')$$);

-- Functions that return integers where a key is compared or stored, and the last number of a sequence
CREATE FUNCTION current_user_id() RETURNS integer LANGUAGE sql STABLE AS $$ SELECT current_setting('app.user_id', true)::integer $$;
CREATE FUNCTION team_ids() RETURNS integer[] LANGUAGE sql STABLE AS $$ SELECT '{1}'::integer[] $$;
CREATE FUNCTION wide_user_id() RETURNS bigint LANGUAGE sql STABLE AS $$ SELECT 1::bigint $$;
CREATE TABLE people (id bigserial PRIMARY KEY);
CREATE TABLE notes (id bigserial PRIMARY KEY, person bigint DEFAULT current_user_id() REFERENCES people, reader bigint DEFAULT wide_user_id() REFERENCES people,
    root bigint DEFAULT currval('notes_id_seq'), leaf bigint DEFAULT lastval());
CREATE POLICY own ON notes USING (person = ANY (team_ids()));
CREATE TABLE notes_log (note bigint);
CREATE RULE log AS ON INSERT TO notes DO ALSO INSERT INTO notes_log VALUES (currval('notes_id_seq'));
CREATE FUNCTION latest() RETURNS integer LANGUAGE sql BEGIN ATOMIC SELECT max(id) FROM notes; END;
CREATE FUNCTION all_latest() RETURNS TABLE (note integer) LANGUAGE sql BEGIN ATOMIC SELECT max(id) FROM notes; END;
CREATE FUNCTION wide_latest() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT max(id) FROM notes; END;
CREATE FUNCTION score(bigint) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT 1';
CREATE FUNCTION reader_id() RETURNS integer LANGUAGE sql STABLE AS 'SELECT 1';
CREATE VIEW scores AS SELECT id, score(leaf) FROM notes WHERE person IN (SELECT reader_id());
CREATE FUNCTION setting(name text) RETURNS integer LANGUAGE sql STABLE AS 'SELECT 1';
CREATE VIEW set AS SELECT leaf FROM notes WHERE setting('app.person') = person;
CREATE FUNCTION age_of(n bigint) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT 1';
ALTER TABLE notes ADD age integer, ADD idle integer;
CREATE VIEW ages AS SELECT id FROM notes WHERE age_of(leaf) >= 18 AND age_of(root) IN (1, 2) AND age_of(leaf) < idle AND age = age_of(id);
CREATE FUNCTION me() RETURNS integer LANGUAGE sql STABLE AS 'SELECT 1';
CREATE FUNCTION guest() RETURNS integer LANGUAGE sql STABLE AS 'SELECT 1';
CREATE FUNCTION last_read(name text) RETURNS integer LANGUAGE sql STABLE AS 'SELECT 1';
CREATE VIEW my_notes AS SELECT id FROM notes AS n WHERE (SELECT me()) = n.person OR n.reader IS NOT DISTINCT FROM coalesce(guest(), 0)
    OR last_read(coalesce(current_setting('app.name'), 'n')) < n.id;
CREATE FUNCTION many() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT max(id) FROM notes WHERE extract(year FROM now())::integer > 1; END;
CREATE SEQUENCE batches;
ALTER TABLE notes ADD batch integer DEFAULT currval('batches');
SELECT * FROM risks('{people,notes}');
DROP TABLE notes, people, notes_log CASCADE;
DROP SEQUENCE batches;

-- Functions on tables whose rows do not change need no new plan.
CREATE TABLE wide (id bigserial PRIMARY KEY);
CREATE FUNCTION count_wide() RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT count(*) FROM wide); END $$;
CREATE TABLE by_list (wide_id bigint REFERENCES wide) PARTITION BY LIST (wide_id);
SELECT line FROM snowdrift.convert_keys('{wide}', dry_run => true) AS line WHERE line ~ 'count_wide|by_list';
BEGIN;
GRANT INSERT ON wide TO PUBLIC;
REVOKE EXECUTE ON FUNCTION next_snowflake() FROM PUBLIC;
SET LOCAL client_min_messages = error;
SELECT split_part(line, ';', 1) FROM snowdrift.convert_keys('{wide}', dry_run => true) AS line WHERE line ~ 'privilege';
ROLLBACK;

SET client_min_messages = error;
DROP SCHEMA app CASCADE;
