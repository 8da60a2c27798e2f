-- The layout of a generator, for functions that take an ID alone
SET client_min_messages = warning;    -- equal_ids.sql has the notices of new generators
SET TimeZone = 'UTC';
SELECT snowdrift.create_generator('web', 'snowflake', layout => 'si', worker => 3);
SELECT snowdrift.create_generator('old', 'snowflake', layout => 'twitter'), snowdrift.create_generator('people', 'sno');
-- snowflake_generators.sql has what functions return with the layout.
CREATE TABLE visits (id bigint PRIMARY KEY DEFAULT next_snowflake('web'));
INSERT INTO visits SELECT make_snowflake('2024-01-01Z'::timestamptz + n * interval '1 minute', 0, 3, 0, 'si') FROM generate_series(0, 9999) AS n;
WITH drawn AS (SELECT next_snowflake('web') AS id)
SELECT now() - snowflake_timestamp(id, snowdrift.generator_layout('web')) < interval '1 hour' AS recent,
    snowflake_worker(id, snowdrift.generator_layout('web')) AS worker FROM drawn;

-- The predicate is an index condition, whose bounds are computed once, and the estimate is that of the constant layout.
ANALYZE visits;
SET enable_bitmapscan = off;
SET enable_seqscan = off;
SELECT bool_or(plan ~ 'Index (Only )?Scan') AS scan, bool_or(plan ~ 'Index Cond: .*first_snowflake_within.* AND .*last_snowflake_within') AS condition
FROM explain($$SELECT * FROM visits WHERE snowflake_within(id, '[2024-01-02Z, 2024-01-03Z)', snowdrift.generator_layout('web'))$$);
RESET enable_bitmapscan;
RESET enable_seqscan;
CREATE FUNCTION estimate_in(layout text) RETURNS float LANGUAGE sql AS $$
    SELECT estimate_of(format('SELECT * FROM visits WHERE snowflake_within(id, ''[2024-01-02Z, 2024-01-03Z)'', %s)', layout))
$$;
SELECT estimate_in($$snowdrift.generator_layout('web')$$) BETWEEN 1430 AND 1450 AS estimated,
    estimate_in($$snowdrift.generator_layout('web')$$) = estimate_in($$'si'$$) AS same, estimate_in($$'snowflake'$$) < 10 AS other;

-- It prunes partitions when the statement begins.
CREATE TABLE posts (id bigint PRIMARY KEY DEFAULT next_snowflake('web')) PARTITION BY RANGE (id);
SELECT count(*) FROM snowdrift.create_partitions('posts', '1 month', '2024-01-01Z', '2024-12-01Z', 'si');
SELECT trim(plan) AS plan FROM explain($$SELECT * FROM posts WHERE snowflake_within(id, '[2024-03-01Z, 2024-04-01Z)', snowdrift.generator_layout('web'))$$)
WHERE plan ~ 'Subplans Removed';
PREPARE days(text) AS SELECT tableoid::regclass, id FROM posts WHERE snowflake_within(id, '[2024-03-01Z, 2024-03-03Z)', snowdrift.generator_layout($1));
SET plan_cache_mode = force_generic_plan;
INSERT INTO posts SELECT id FROM visits WHERE snowflake_timestamp(id, 'si') < '2024-01-02Z';
INSERT INTO posts SELECT make_snowflake('2024-03-02Z', 0, 1, 1, 'si');
EXECUTE days('web');
RESET plan_cache_mode;

-- A plan that is kept has the present layout, also within a transaction.
BEGIN;
SELECT snowdrift.drop_generator('web', force => true), snowdrift.create_generator('web', 'snowflake', layout => 'pgedge');
EXECUTE days('web');
ROLLBACK;
SELECT snowdrift.generator_layout('web');
SELECT name, snowdrift.generator_layout(name) FROM (VALUES ('web'), ('old'), ('old'), ('web')) AS names(name);

-- errors
SELECT split_part(error_of(format('SELECT snowdrift.generator_layout(%L)', name)), E'\n', 1) AS error
FROM (VALUES ('WEB'), ('people')) AS names(name);

-- in parallel workers, which also read a generator that the transaction has created
SELECT set_config(name, 'on', false) AS forced FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query');
SELECT count(*) FROM visits WHERE snowflake_within(id, '[2024-01-02Z, 2024-01-03Z)', snowdrift.generator_layout('web'));
BEGIN;
SELECT snowdrift.create_generator('new', 'snowflake', layout => 'si');
SELECT snowflake_timestamp(max(id), snowdrift.generator_layout('new')) FROM visits;
ROLLBACK;
SELECT count(set_config(name, reset_val, false)) AS reset FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query');

-- Any role can call it, as it can read the view that shows the layouts. It locks nothing until the transaction ends.
CREATE ROLE snowdrift_reader;
BEGIN;
SET LOCAL ROLE snowdrift_reader;
SELECT layout, snowdrift.generator_layout('web') FROM snowdrift.generators WHERE name = 'web';
RESET ROLE;
SELECT count(*) AS locks FROM pg_locks WHERE pid = pg_backend_pid() AND (classid = 'snowdrift_tables.generator'::regclass OR relation = 'snowdrift_tables.generator'::regclass);
ROLLBACK;
DROP ROLE snowdrift_reader;

DROP TABLE visits, posts;
DROP FUNCTION estimate_in(text);
SELECT snowdrift.drop_generator(name) FROM unnest(ARRAY['web', 'old', 'people']) AS name;
