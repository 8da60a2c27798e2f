-- A server that has lost its configured number, and a replication slot that nobody reads
LOAD 'snowdrift';
ALTER SYSTEM SET snowdrift.node = 7;
SELECT pg_conf_load_time() AS loaded \gset
SELECT pg_reload_conf();
SELECT format('SELECT pg_sleep(0.02) WHERE pg_conf_load_time() = %L', :'loaded') FROM generate_series(1, 1000) \gexec
SELECT next_snowflake();
ALTER SYSTEM RESET snowdrift.node;
SELECT pg_conf_load_time() AS loaded \gset
SELECT pg_reload_conf();
SELECT format('SELECT pg_sleep(0.02) WHERE pg_conf_load_time() = %L', :'loaded') FROM generate_series(1, 1000) \gexec
SELECT pg_create_physical_replication_slot('gone', true);
