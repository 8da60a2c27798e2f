-- The settings, who may change them, and what they do
SELECT next_snowflake() > 0 AS generated; -- which loads the library, and with it the settings
SHOW snowdrift.node;
SHOW snowdrift.max_clock_lead;

-- the server's number is datacenter * 32 + worker
SET snowdrift.node = 67;
SELECT snowflake_datacenter(id), snowflake_worker(id) FROM next_snowflake() AS id;
SET snowdrift.node = 1023;
SELECT snowflake_datacenter(id), snowflake_worker(id) FROM next_snowflake() AS id;

-- one that does not fit is an error, and the next call works again
SET snowdrift.node = 1024;
SELECT next_snowflake();
SELECT count(*) FROM next_snowflakes(3);
RESET snowdrift.node;
SELECT snowflake_datacenter(id), snowflake_worker(id) FROM next_snowflake() AS id;
SET snowdrift.node = 65536;
SET snowdrift.node = -1;
SET snowdrift.max_clock_lead = '1min';
SHOW snowdrift.max_clock_lead;
RESET snowdrift.max_clock_lead;
SET snowdrift.nodes = 1;

-- settings belong to superusers, generating to everyone
CREATE ROLE snowdrift_user;
SET ROLE snowdrift_user;
SET snowdrift.node = 1;
SET snowdrift.max_clock_lead = 0;
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

-- the extension goes and comes back without repeating itself
CREATE TABLE last_id AS SELECT next_snowflake() AS id;
DROP EXTENSION snowdrift;
CREATE SCHEMA ids;
CREATE EXTENSION snowdrift SCHEMA ids;
SELECT ids.next_snowflake() > id AS greater FROM last_id;
DROP TABLE last_id;
DROP EXTENSION snowdrift;
DROP SCHEMA ids;
