-- The settings, their effects, and the privileges to change them
-- A value that was set before the library is loaded applies, however its name was written.
SET "Snowdrift"."Node" = 7;
SELECT snowflake_worker(next_snowflake()); -- loads the library and its settings
\c
-- A role that may not set it has the server's number.
CREATE ROLE snowdrift_user;
\c
SET ROLE snowdrift_user;
BEGIN;
SET client_min_messages = error;
-- The error comes at once if the library was preloaded.
DO $$
DECLARE is_preloaded boolean = EXISTS (SELECT FROM pg_settings WHERE name = 'snowdrift.node');
BEGIN
    PERFORM set_config('snowdrift.node', '9', true);
    ASSERT NOT is_preloaded;
EXCEPTION WHEN insufficient_privilege THEN
    ASSERT is_preloaded;
END $$;
SELECT snowflake_worker(next_snowflake());
ROLLBACK;
SELECT snowflake_worker(next_snowflake());
\c
DROP ROLE snowdrift_user;
-- A value that was reset before the library is loaded counts neither as set nor as rejected.
SET snowdrift.node = 7;
RESET snowdrift.node;
SELECT next_snowflake() > 0 AS generated;
SHOW snowdrift.node;
SHOW snowdrift.max_clock_lead;

-- snowdrift.node is datacenter * 32 + worker
SET snowdrift.node = 67;
SELECT snowflake_datacenter(id), snowflake_worker(id) FROM next_snowflake() AS id;
SET snowdrift.node = 1023;
SELECT snowflake_datacenter(id), snowflake_worker(id) FROM next_snowflake() AS id;

-- A node beyond the layout's bits is an error. After the setting is corrected, calls work again.
SET snowdrift.node = 1024;
SELECT next_snowflake();
SELECT count(*) FROM next_snowflakes(3);
RESET snowdrift.node;
SELECT snowflake_datacenter(id), snowflake_worker(id) FROM next_snowflake() AS id;
SET snowdrift.node = 65536;
SET snowdrift.node = -1;
SET snowdrift.node = 'citus+';
SET snowdrift.node = 'hostname+70000';
SET snowdrift.node = 'Auto';
-- the number, and where it comes from
SELECT * FROM snowdrift.node;
SET snowdrift.node = '67';
SELECT * FROM snowdrift.node;
SET snowdrift.node = 'citus+100';
SELECT * FROM snowdrift.node;
SELECT next_snowflake();
SELECT next_sno();
SET snowdrift.node = 'hostname';
SELECT source, detail IN ('number at the end of the host name', 'the host name does not end with a number',
    'the number exceeds 65535') AS detail, (number IS NOT NULL) = (detail LIKE 'number%') AS number
FROM snowdrift.node;
RESET snowdrift.node;
SET snowdrift.max_clock_lead = '1min';
SHOW snowdrift.max_clock_lead;
RESET snowdrift.max_clock_lead;
SET snowdrift.nodes = 1;

-- any role can draw IDs
CREATE ROLE snowdrift_user;
SET ROLE snowdrift_user;
SELECT next_snowflake() > 0 AS generated;

-- also in a read-only transaction, and after an error in a subtransaction
BEGIN READ ONLY;
SELECT next_snowflake() > 0 AS generated;
SAVEPOINT a;
SELECT snowflake_timestamp(-1);
ROLLBACK TO a;
SELECT next_snowflake() > 0 AS generated;
COMMIT;
RESET ROLE;
DROP ROLE snowdrift_user;

-- after the extension is dropped and created again, no ID is repeated
CREATE TABLE last_id AS SELECT next_snowflake() AS id;
DROP EXTENSION snowdrift;
CREATE SCHEMA ids;
CREATE EXTENSION snowdrift SCHEMA ids;
SELECT ids.next_snowflake() > id AS greater FROM last_id;
DROP TABLE last_id;
DROP EXTENSION snowdrift;
DROP SCHEMA ids;
-- An event trigger must not add a column to the tables.
CREATE FUNCTION add_column() RETURNS event_trigger LANGUAGE plpgsql AS $$
DECLARE
    command record;
BEGIN
    FOR command IN SELECT * FROM pg_event_trigger_ddl_commands() WHERE command_tag = 'CREATE TABLE' LOOP
        EXECUTE format('ALTER TABLE %s ADD created_by text', command.object_identity);
    END LOOP;
END $$;
CREATE EVENT TRIGGER add_column ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION add_column();
SELECT error_of('CREATE EXTENSION snowdrift');
DROP EVENT TRIGGER add_column;
DROP FUNCTION add_column;
-- for the tests that follow
CREATE EXTENSION snowdrift;
