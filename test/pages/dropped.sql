-- The SQL edition after a tool has dropped its tables and a default, and the file was run again
BEGIN;
\i sql-edition/snowdrift.sql
SELECT snowdrift.create_generator('web', 'snowflake', layout => 'si', worker => 3);
CREATE TABLE posts (id bigint PRIMARY KEY DEFAULT next_snowflake());
CREATE TABLE pages (id bigint PRIMARY KEY DEFAULT next_snowflake('web'));
INSERT INTO posts DEFAULT VALUES;
INSERT INTO pages DEFAULT VALUES;
ALTER TABLE posts ALTER id DROP DEFAULT;
SET LOCAL client_min_messages = error;
DROP SCHEMA snowdrift_tables CASCADE;
\i sql-edition/snowdrift.sql
COMMIT;
