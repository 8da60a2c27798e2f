-- The SQL edition, installed by the owner of the database, who is not a superuser
CREATE ROLE managed_clouds_owner;
ALTER DATABASE "managed-clouds" OWNER TO managed_clouds_owner;
SET SESSION AUTHORIZATION managed_clouds_owner;
BEGIN;
\i sql-edition/snowdrift.sql
COMMIT;
