-- What each role can do: an ordinary role, the role that created the extension, a superuser
CREATE ROLE snowdrift_creator;
CREATE ROLE snowdrift_ordinary;
CREATE DATABASE snowdrift_privileges TEMPLATE template0 OWNER snowdrift_creator;
\c snowdrift_privileges
SET client_min_messages = warning;    -- equal_ids.sql has the notices of new generators
\set VERBOSITY sqlstate
SET ROLE snowdrift_creator;
-- The extension creates the schemas snowdrift and snowdrift_tables itself, and raises an error if one exists.
CREATE EXTENSION snowdrift SCHEMA snowdrift;
CREATE SCHEMA snowdrift;
CREATE EXTENSION snowdrift SCHEMA snowdrift;
CREATE EXTENSION snowdrift;
DROP SCHEMA snowdrift;
CREATE SCHEMA snowdrift_tables;
CREATE EXTENSION snowdrift;
DROP SCHEMA snowdrift_tables;
CREATE EXTENSION snowdrift;

-- The extension is trusted. The role that created it manages generators and restores dumps without being a
-- superuser.
SELECT snowdrift.create_generator('orders', 'snowflake', worker => 3);
SELECT next_snowflake('orders') > 0 AS drawn;
SELECT snowdrift.restore('copy', snowdrift.snapshot('orders'));
SELECT snowdrift.drop_generator('copy');
INSERT INTO snowdrift_tables.generator VALUES ('restored', 7, 'snowflake', 'twitter', 1, 2, NULL, 0, 4095);
SELECT pg_catalog.setval('snowdrift_tables.generator_id', 7) AS numbers, next_snowflake('restored') > 0 AS drawn;
INSERT INTO snowdrift_tables.mark SELECT * FROM snowdrift_tables.mark;
SELECT count(*) > 0 AS dumped FROM snowdrift_tables.generator, snowdrift_tables.generator_id, snowdrift_tables.mark;
SELECT snowflake_at('2022-01-01Z') > 0 AND snowflake_at('2022-01-01Z', 'orders') > 0 AS back_filled;
SELECT count(*) > 0 AS dumped FROM snowdrift_tables.backfill;
-- It cannot use the trigger functions for its own tables.
CREATE TABLE mine (unix_ms text);
CREATE TRIGGER mine BEFORE INSERT ON mine FOR EACH ROW EXECUTE FUNCTION snowdrift_tables.restore_mark();
RESET ROLE;
SELECT count(*) AS refused FROM pg_proc WHERE pronamespace = 'snowdrift_tables'::regnamespace
    AND prorettype = 'trigger'::regtype AND NOT has_function_privilege('snowdrift_creator', oid, 'EXECUTE');
CREATE TRIGGER row BEFORE INSERT ON mine FOR EACH ROW EXECUTE FUNCTION snowdrift_tables.restore_mark();
INSERT INTO mine VALUES ('x');
DROP TRIGGER row ON mine;
CREATE TRIGGER statement BEFORE INSERT ON mine FOR EACH STATEMENT EXECUTE FUNCTION snowdrift_tables.restore_mark();
INSERT INTO mine VALUES ('x');
DROP TABLE mine;
SET ROLE snowdrift_creator;
-- It can grant these privileges.
GRANT EXECUTE ON FUNCTION snowdrift.create_generator, snowdrift.drop_generator, snowflake_at(timestamptz), snowflake_at(timestamptz, text)
    TO snowdrift_ordinary;
SET ROLE snowdrift_ordinary;
SELECT snowdrift.create_generator('granted', 'sno'), snowdrift.drop_generator('granted');
SELECT snowflake_at('2022-01-01Z') > 0 AND snowflake_at('2022-01-01Z', 'orders') > 0 AS back_filled;
SET ROLE snowdrift_creator;
REVOKE EXECUTE ON FUNCTION snowdrift.create_generator, snowdrift.drop_generator, snowflake_at(timestamptz), snowflake_at(timestamptz, text)
    FROM snowdrift_ordinary;
-- These are its privileges.
SELECT pg_describe_object(classid, objid, 0) AS object, string_agg(privilege_type || CASE WHEN is_grantable THEN ' with grant option' ELSE '' END, ', '
        ORDER BY privilege_type) AS privileges
FROM pg_depend LEFT JOIN pg_proc AS p ON classid = 'pg_proc'::regclass AND p.oid = objid
    LEFT JOIN pg_class AS c ON classid = 'pg_class'::regclass AND c.oid = objid
    LEFT JOIN pg_namespace AS n ON classid = 'pg_namespace'::regclass AND n.oid = objid
    CROSS JOIN LATERAL aclexplode(coalesce(proacl, relacl, nspacl))
WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e' AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'snowdrift')
    AND grantee = 'snowdrift_creator'::regrole
GROUP BY classid, objid ORDER BY pg_describe_object(classid, objid, 0) COLLATE "C";
-- It cannot change the extension's objects, which a superuser owns, or its settings.
UPDATE snowdrift_tables.generator SET worker = 4;
DELETE FROM snowdrift_tables.generator;
TRUNCATE snowdrift_tables.generator;
ALTER TABLE snowdrift_tables.generator DISABLE TRIGGER ALL;
CREATE TABLE snowdrift.mine ();
CREATE FUNCTION snowdrift.first_ulid_since(text) RETURNS ulid LANGUAGE sql AS 'SELECT ulid_nil()';
CREATE OR REPLACE FUNCTION snowdrift.first_ulid_since("timestamp" timestamptz) RETURNS ulid LANGUAGE sql AS 'SELECT ulid_nil()';
DROP FUNCTION snowdrift.first_ulid_since(timestamptz);
CREATE FUNCTION mine(ulid, timestamptz) RETURNS boolean LANGUAGE sql SUPPORT snowdrift.time_predicate_support AS 'SELECT true';
CREATE TABLE snowdrift_tables.mine ();
ALTER SCHEMA snowdrift RENAME TO mine;
ALTER FUNCTION next_snowflake() RENAME TO mine;
ALTER EXTENSION snowdrift DROP TABLE snowdrift_tables.mark;
UPDATE snowdrift_tables.mark SET unix_ms = 0;
CREATE FUNCTION mine() RETURNS bigint AS '$libdir/snowdrift', 'snowdrift_next_snowflake' LANGUAGE C;
SELECT snowdrift.reset_clock();
SELECT snowdrift.confirm_node();
SET snowdrift.node = 7;
SET snowdrift.max_clock_lead = 0;
LOAD 'snowdrift';
-- A definition is validated when it is read.
INSERT INTO snowdrift_tables.generator VALUES
    ('narrow', 8, 'sno', NULL, NULL, NULL, NULL, 5, 4), ('wide', 9, 'sno', NULL, NULL, NULL, NULL, -1, 70000),
    ('placed', 10, 'sno', NULL, NULL, NULL, 65536, 0, 9), ('worker', 11, 'snowflake', 'mastodon', NULL, 1, NULL, 0, 9),
    ('no layout', 12, 'snowflake', NULL, NULL, NULL, NULL, 0, 4096), ('plain', 13, 'snowflake', NULL, NULL, NULL, NULL, 0, 9);
INSERT INTO snowdrift_tables.generator VALUES ('kind', 14, 'ulid', NULL, NULL, NULL, NULL, 0, 9);
SELECT next_sno('narrow');
SELECT next_sno('wide');
SELECT next_sno('placed');
SELECT next_snowflake('worker');
SELECT next_snowflake('no layout');
SELECT next_snowflake('plain') > 0 AS drawn;
SELECT last_timestamp IS NOT NULL AS shown FROM snowdrift.generators WHERE name = 'plain';
SELECT snowdrift.drop_generator('worker');
RESET ROLE;
SELECT snowdrift.drop_generator(name) FROM snowdrift_tables.generator WHERE id >= 8;

-- An ordinary role can draw IDs and read the views, but cannot administer generators or change the mark.
SET ROLE snowdrift_ordinary;
SELECT next_snowflake() > 0 AND next_snowflake('orders') > 0 AND next_sno() > sno_nil() AND next_ulid() > ulid_nil()
    AND uuidv7_timestamp(next_uuidv7()) IS NOT NULL AS drawn;
SELECT count(*) FROM snowdrift.generators;
SELECT count(*) FROM snowdrift.clock;
SELECT count(*) FROM snowdrift.node;
SELECT snowflake_at('2022-01-01Z');
SELECT snowflake_at('2022-01-01Z', 'orders');
SELECT FROM snowdrift_tables.mark;
SELECT FROM snowdrift_tables.generator;
SELECT FROM snowdrift_tables.generator_id;
SELECT FROM snowdrift_tables.backfill;
SELECT snowdrift.advance(now());
SELECT snowdrift.advance(1::bigint);
SELECT snowdrift.advance(ulid_nil());
SELECT snowdrift.advance('01900000-0000-7000-8000-000000000000'::uuid);
SELECT snowdrift.advance(sno_nil());
SELECT snowdrift.create_generator('mine', 'snowflake');
SELECT snowdrift.drop_generator('orders');
SELECT snowdrift.snapshot('orders');
SELECT snowdrift.restore('orders', '{}');
SELECT snowdrift.reset_clock();
INSERT INTO snowdrift_tables.generator VALUES ('mine', 9, 'sno', NULL, NULL, NULL, NULL, 0, 9);
INSERT INTO snowdrift_tables.mark SELECT * FROM snowdrift_tables.mark;
SELECT snowdrift.confirm_node();
SELECT nextval('snowdrift_tables.generator_id');
RESET ROLE;

-- A role that can only draw from one generator and read its watermark, as docs/generators.md describes: through
-- functions with their owner's privileges, also in a default, which has the privileges of the role that
-- inserts the row.
SELECT snowdrift.create_generator('shop', 'snowflake', worker => 9), snowdrift.create_generator('shop snos', 'sno');
REVOKE EXECUTE ON FUNCTION next_snowflake(text), next_snowflakes(integer, text), next_sno(text, integer),
    sno_at(timestamptz, integer, text), snowflake_watermark(text),
    snowdrift.watch(regclass, name), snowdrift.hold_row() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION next_snowflake(text), snowflake_watermark(text) TO snowdrift_creator;
SET ROLE snowdrift_creator;
CREATE FUNCTION next_order_id() RETURNS bigint
    LANGUAGE sql VOLATILE PARALLEL RESTRICTED SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    RETURN public.next_snowflake('shop');
REVOKE EXECUTE ON FUNCTION next_order_id() FROM PUBLIC;
CREATE FUNCTION order_watermark() RETURNS bigint
    LANGUAGE sql STABLE PARALLEL RESTRICTED SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    RETURN public.snowflake_watermark('shop');
REVOKE EXECUTE ON FUNCTION order_watermark() FROM PUBLIC;
CREATE TABLE shop (id bigint PRIMARY KEY DEFAULT next_order_id(), direct bigint DEFAULT next_snowflake('shop'));
GRANT INSERT, SELECT ON shop TO snowdrift_ordinary;
SET ROLE snowdrift_ordinary;
INSERT INTO shop (direct) VALUES (NULL);
SET ROLE snowdrift_creator;
GRANT EXECUTE ON FUNCTION next_order_id() TO snowdrift_ordinary;
SET ROLE snowdrift_ordinary;
INSERT INTO shop (direct) VALUES (NULL), (NULL) RETURNING snowflake_worker(id);
SELECT snowflake_worker(next_order_id());
INSERT INTO shop DEFAULT VALUES;
SELECT count(*) FROM shop WHERE id < order_watermark();
SET ROLE snowdrift_creator;
GRANT EXECUTE ON FUNCTION order_watermark() TO snowdrift_ordinary;
SET ROLE snowdrift_ordinary;
BEGIN;
SELECT id AS own_draw FROM (VALUES (next_order_id())) AS drawn(id) \gset
SELECT :own_draw >= order_watermark() AS held_back;
ROLLBACK;
-- A default that names the generator blocks dropping it, but no watch of the table can hold its watermark back.
CREATE TEMP TABLE blocker (id bigint DEFAULT next_snowflake('shop'));
SELECT snowdrift.watch('blocker', 'id');
CREATE TRIGGER watch AFTER INSERT OR UPDATE OF id ON blocker FOR EACH ROW EXECUTE FUNCTION snowdrift.hold_row('shop');
SET ROLE snowdrift_creator;
SELECT snowdrift.drop_generator('shop');
SET ROLE snowdrift_ordinary;
DROP TABLE blocker;
-- No other function draws from it, or from another named generator.
SELECT next_snowflake('shop');
SELECT next_snowflakes(1, 'shop');
SELECT snowflake_at('2022-01-01Z', 'shop');
SELECT snowflake_watermark('shop');
SELECT next_sno('shop snos');
SELECT sno_at('2022-01-01Z', 7, 'shop snos');
-- The functions without a generator's name are open, also to functions that can call either. The sixth call can use a generic plan.
SELECT next_snowflake() > 0 AND next_sno() > sno_nil() AS drawn;
RESET ROLE;
CREATE TABLE feed (id bigint PRIMARY KEY DEFAULT next_snowflake());
CREATE TABLE ulid_feed (id ulid PRIMARY KEY DEFAULT next_ulid());
CREATE TABLE uuid_feed (id uuid PRIMARY KEY DEFAULT next_uuidv7());
SELECT snowdrift.watch('feed'), snowdrift.watch('ulid_feed'), snowdrift.watch('uuid_feed');
INSERT INTO feed DEFAULT VALUES;
INSERT INTO ulid_feed DEFAULT VALUES;
INSERT INTO uuid_feed DEFAULT VALUES;
GRANT INSERT, SELECT ON feed, ulid_feed, uuid_feed TO snowdrift_ordinary;
SET ROLE snowdrift_ordinary;
SELECT count(snowdrift.hold('feed')), count(snowdrift.hold('ulid_feed')), count(snowdrift.hold('uuid_feed')) FROM generate_series(1, 10);
SELECT count(*) FROM snowdrift.read_new(NULL::feed, after => 0);
SELECT count(*) FROM snowdrift.read_new(NULL::ulid_feed);
SELECT count(*) FROM snowdrift.read_new(NULL::uuid_feed);
RESET ROLE;
DROP TABLE feed, ulid_feed, uuid_feed;
SELECT p.oid::regprocedure AS open_to_all FROM pg_proc AS p JOIN pg_depend AS d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass
WHERE d.deptype = 'e' AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'snowdrift') AND 'generator' = ANY (p.proargnames[1:p.pronargs])
    AND has_function_privilege('snowdrift_ordinary', p.oid, 'EXECUTE');
GRANT EXECUTE ON FUNCTION next_snowflake(text), next_snowflakes(integer, text), next_sno(text, integer),
    sno_at(timestamptz, integer, text), snowflake_watermark(text),
    snowdrift.watch(regclass, name), snowdrift.hold_row() TO PUBLIC;
DROP TABLE shop;
DROP FUNCTION next_order_id(), order_watermark();
SELECT snowdrift.drop_generator('shop'), snowdrift.drop_generator('shop snos');

-- With session_replication_role = replica, definitions cannot be changed. An altered table of definitions is an error.
SELECT snowdrift.create_generator('replicated', 'snowflake', worker => 1);
SET session_replication_role = replica;
UPDATE snowdrift_tables.generator SET worker = 2 WHERE name = 'replicated';
RESET session_replication_role;
INSERT INTO snowdrift_tables.generator (name, id, kind, sequence_min, sequence_max) VALUES ('default', 0, 'snowflake', 0, 4095);
BEGIN;
ALTER TABLE snowdrift_tables.generator ALTER name TYPE integer USING id;
SELECT next_snowflake('replicated');
ROLLBACK;
BEGIN;
ALTER TABLE snowdrift_tables.generator ALTER layout TYPE text;
SELECT next_snowflake('replicated');
ROLLBACK;
BEGIN;
ALTER TABLE snowdrift_tables.generator ADD note text NOT NULL DEFAULT '';
SELECT snowdrift.create_generator('x', 'snowflake');
ROLLBACK;
BEGIN;
CREATE INDEX ON snowdrift_tables.generator (lower(name));
SELECT snowdrift.create_generator('x', 'snowflake');
ROLLBACK;
-- After a drop is rolled back, the generator continues.
SELECT sno_at('2026-01-01', 0, 'kept') AS first FROM snowdrift.create_generator('kept', 'sno') \gset
BEGIN;
SELECT snowdrift.drop_generator('kept');
ROLLBACK;
BEGIN;
SAVEPOINT a;
SELECT snowdrift.drop_generator('kept');
ROLLBACK TO a;
COMMIT;
SELECT sno_at('2026-01-01', 0, 'kept') > :'first' AS goes_on;

-- A conversion names the function that roles may not call, which is one; in the SQL edition, it calls another.
CREATE TABLE posts (id bigserial PRIMARY KEY);
GRANT INSERT ON posts TO snowdrift_ordinary;
BEGIN;
REVOKE EXECUTE ON FUNCTION next_snowflake() FROM PUBLIC;
SELECT line FROM snowdrift.convert_keys('{posts}') AS line WHERE line ~ 'privilege';
ROLLBACK;
DROP TABLE posts;

-- A generator that reuses the id of a dropped one does not reuse its state.
SELECT snowdrift.create_generator('sno', 'sno');
SELECT next_sno('sno') > sno_nil() AS drawn;
SELECT id FROM snowdrift_tables.generator WHERE name = 'sno' \gset
SELECT snowdrift.drop_generator('sno');
SELECT setval('snowdrift_tables.generator_id', :id, false) = :id AS again;
SELECT snowdrift.create_generator('snowflake', 'snowflake');
SELECT id = :id AS same_id FROM snowdrift_tables.generator WHERE name = 'snowflake';
SELECT abs(extract(epoch FROM snowflake_timestamp(next_snowflake('snowflake')) - now())) < 60 AS of_the_present;
-- No generator gets the id of another one, even if replication has set the sequence back.
SELECT setval('snowdrift_tables.generator_id', :id, false) = :id AS again;
SELECT snowdrift.create_generator('next', 'snowflake');
SELECT id > :id AS next_id FROM snowdrift_tables.generator WHERE name = 'next';

\c contrib_regression
DROP DATABASE snowdrift_privileges;
DROP ROLE snowdrift_creator, snowdrift_ordinary;

