-- A generator with the node that it has on the source
SELECT snowdrift.create_generator('own', 'snowflake', worker => 5);
-- The line in postgresql.auto.conf
LOAD 'snowdrift';
ALTER SYSTEM SET snowdrift.node = 8;
SELECT pg_reload_conf(), pg_sleep(1);
