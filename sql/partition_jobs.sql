-- What daily jobs drop and keep, with any settings of their session; the SQL edition has the same functions
SET client_min_messages = warning;
SET TimeZone = 'UTC';
CREATE SCHEMA jobs;

-- add_days(FIRST, LAST): creates partitions of jobs.posts for these days, counted from today, each with a row
CREATE FUNCTION jobs.add_days(first integer, last integer) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    PERFORM snowdrift.create_partitions('jobs.posts', '1 day', now() + first * interval '1 day', now() + last * interval '1 day');
    INSERT INTO jobs.posts SELECT snowflake_boundary(date_trunc('day', now(), 'UTC') + n * interval '1 day') FROM generate_series(first, last) AS n;
    RETURN last - first + 1;
END $$;
-- dropped(AGE): how many partitions an age drops, or its error without names and times
CREATE FUNCTION jobs.dropped(age interval) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    hint text;
BEGIN
    RETURN (SELECT count(*) FROM snowdrift.drop_partitions('jobs.posts', age));
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
    RETURN concat_ws(': ', sqlstate, sqlerrm, regexp_replace(hint, '\d{4}-\d\d-\d\d \d\d:\d\d:\d\d', '...'));
END $$;

CREATE TABLE jobs.posts (id bigint PRIMARY KEY DEFAULT next_snowflake(), reply bigint REFERENCES jobs.posts) PARTITION BY RANGE (id);
-- A daily job drops one partition and keeps the rest.
SELECT jobs.add_days(-4, 0), jobs.dropped('3 days') AS a_day, jobs.dropped('3 days') AS again;
-- A job that has not run for a while: a person must name the time.
TRUNCATE jobs.posts;
SELECT jobs.add_days(-14, 0), jobs.dropped('3 days') AS after_a_pause;
SELECT count(*) FROM snowdrift.partitions('jobs.posts') WHERE upper(times) <= now() - interval '3 days';
SELECT error_of($$SELECT snowdrift.drop_partitions('jobs.posts', '3 days', dry_run => true)$$) LIKE '55000: %' AS dry_run;
SELECT count(*) FROM snowdrift.drop_partitions_before('jobs.posts', now() - interval '3 days');
-- Empty partitions don't count: neither as dropped nor as kept.
TRUNCATE jobs.posts;
SELECT jobs.add_days(0, 0), jobs.dropped('1 day') AS empty;
-- The last partition with rows is never dropped by an age, nor if there is one more.
TRUNCATE jobs.posts;
SELECT jobs.add_days(-40, -40), jobs.dropped('7 days') AS the_last, jobs.add_days(-39, -39), jobs.dropped('7 days') AS the_last_two;
SELECT jobs.add_days(0, 0), jobs.dropped('7 days') AS two_of_three;
BEGIN;
DELETE FROM jobs.posts WHERE id < snowflake_boundary(date_trunc('day', now(), 'UTC') - interval '39 days');
SELECT jobs.dropped('7 days') AS one_of_two;
ROLLBACK;
-- Old is measured from the greatest ID if it is earlier than the clock, even if that partition has no upper bound.
SELECT jobs.add_days(-38, -20);
DELETE FROM jobs.posts WHERE id >= snowflake_boundary(now() - interval '19 days');
SELECT jobs.dropped('19 days') AS from_the_greatest_id;
SELECT count(*) FROM jobs.posts;
-- It is found by index.
SET enable_seqscan = off;
SELECT DISTINCT plan_of(greatest_id) ~ '^Limit, (Result, )?Index Only Scan on ' AS by_index FROM snowdrift.row_queries('jobs.posts', 'id', 'snowflake', 'snowflake');
RESET enable_seqscan;
-- A row of the far future is no evidence under a right clock.
CREATE TABLE jobs.future PARTITION OF jobs.posts FOR VALUES FROM (snowflake_boundary(now() + interval '10 years')) TO (MAXVALUE);
INSERT INTO jobs.posts VALUES (9223372036854775807);
SELECT jobs.dropped('37 days') AS from_the_clock;
-- A row in a DEFAULT partition, or with a key of a sequence, says nothing about the time.
CREATE TABLE jobs.before PARTITION OF jobs.posts FOR VALUES FROM (MINVALUE) TO (1000000);
INSERT INTO jobs.posts VALUES (7);
SELECT jobs.dropped('36 days') AS with_old_keys;
DROP TABLE jobs.posts;
-- Random UUIDs in a partition have no time: that of the partition counts.
CREATE TABLE jobs.visits (id uuid PRIMARY KEY) PARTITION BY RANGE (id);
SELECT count(*) FROM snowdrift.create_partitions('jobs.visits', '1 day', now() - interval '9 days', now());
INSERT INTO jobs.visits SELECT uuidv7_boundary(now() - n * interval '1 day') FROM generate_series(0, 9) AS n;
INSERT INTO jobs.visits SELECT overlay(uuidv7_boundary(now())::text PLACING '4' FROM 15 FOR 1)::uuid;
SELECT count(*) FROM snowdrift.drop_partitions('jobs.visits', '7 days');
DROP TABLE jobs.visits;

-- Keys of a table with forced row-level security can be referred to, also those of the table itself.
CREATE TABLE jobs.accounts (id bigint PRIMARY KEY);
ALTER TABLE jobs.accounts ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON jobs.accounts USING (id = current_setting('jobs.account')::bigint);
CREATE TABLE jobs.posts (id bigint PRIMARY KEY, account bigint REFERENCES jobs.accounts, reply bigint REFERENCES jobs.posts) PARTITION BY RANGE (id);
ALTER TABLE jobs.posts ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
SELECT count(*) FROM snowdrift.create_partitions('jobs.posts', '1 day', '2022-01-01Z', '2022-01-03Z', 'snowflake');
DROP TABLE jobs.posts, jobs.accounts;

-- An existing table with small keys: its table becomes the first partition, up to the boundary of a time.
CREATE TABLE jobs.posts (id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, body text);
INSERT INTO jobs.posts (body) SELECT 'old' FROM generate_series(1, 10);
BEGIN;
SELECT date_trunc('month', now(), 'UTC') AS month \gset
ALTER TABLE jobs.posts ALTER id DROP IDENTITY;
ALTER TABLE jobs.posts RENAME TO posts_before;
CREATE TABLE jobs.posts (LIKE jobs.posts_before INCLUDING ALL) PARTITION BY RANGE (id);
ALTER TABLE jobs.posts ALTER id SET DEFAULT next_snowflake();
ALTER TABLE jobs.posts ATTACH PARTITION jobs.posts_before FOR VALUES FROM (MINVALUE) TO (snowflake_boundary(:'month'));
SELECT count(*) FROM snowdrift.create_partitions('jobs.posts', '1 month');
COMMIT;
INSERT INTO jobs.posts (body) VALUES ('new');
SELECT tableoid::regclass = 'jobs.posts_before'::regclass AS old, count(*) FROM jobs.posts GROUP BY 1 ORDER BY 1;
SELECT jobs.dropped('0');
SELECT partition, lower_inf(times) FROM snowdrift.partitions('jobs.posts') WHERE partition = 'jobs.posts_before'::regclass;
DROP TABLE jobs.posts;

-- Steps that partitions cover are not missing; one that is covered in part raises an error.
CREATE TABLE jobs.posts (id bigint PRIMARY KEY DEFAULT next_snowflake()) PARTITION BY RANGE (id);
CREATE TABLE jobs.posts_before PARTITION OF jobs.posts FOR VALUES FROM (MINVALUE) TO (snowflake_boundary('2026-12-01Z'));
SELECT snowdrift.create_partitions('jobs.posts', '1 month', '2026-11-15Z', '2027-01-01Z');
SELECT snowdrift.create_partitions('jobs.posts', '1 day', '2027-01-30Z', '2027-02-01Z');
SELECT error_of($$SELECT snowdrift.create_partitions('jobs.posts', '1 month', '2027-02-01Z', '2027-02-01Z')$$);
CREATE TABLE jobs.inexact PARTITION OF jobs.posts FOR VALUES FROM (snowflake_boundary('2027-04-01Z') + 1) TO (snowflake_boundary('2027-05-01Z'));
SELECT error_of($$SELECT snowdrift.create_partitions('jobs.posts', '1 month', '2027-04-01Z', '2027-04-01Z')$$);
CREATE TABLE jobs.tweets (id bigint PRIMARY KEY) PARTITION BY RANGE (id);
-- Units that do not begin with a step
SELECT snowdrift.create_partitions('jobs.tweets', '1 month', '2026-11-05Z', '2026-11-05Z', 'epoch=2010-11-04T01:42:54.657Z unit=10ms timestamp=39 sequence=8 worker=16');
SELECT snowdrift.create_partitions('jobs.tweets', '1 month', '2026-11-05Z', '2026-11-05Z', 'epoch=2010-11-04T01:42:54.657Z unit=10ms timestamp=39 sequence=8 worker=16');
DROP TABLE jobs.tweets_2026_11;
-- A table that is divided after its greatest ID
CREATE TABLE jobs.tweets_old PARTITION OF jobs.tweets FOR VALUES FROM (1) TO (snowflake_boundary('2026-11-10Z', 'twitter') + 777);
CREATE TABLE jobs.tweets_new PARTITION OF jobs.tweets FOR VALUES FROM (snowflake_boundary('2026-11-10Z', 'twitter') + 777) TO (snowflake_boundary('2026-12-01Z', 'twitter'));
SELECT snowdrift.create_partitions('jobs.tweets', '1 month', '2026-11-05Z', '2026-12-05Z', 'twitter');
DROP TABLE jobs.tweets_old;
-- The first step begins before the first time of the layout.
SELECT snowdrift.create_partitions('jobs.tweets', '1 month', '2010-11-05Z', '2010-11-05Z', 'twitter');
SELECT snowdrift.create_partitions('jobs.tweets', '1 month', '2010-11-05Z', '2010-11-05Z', 'twitter');
DROP TABLE jobs.tweets;
DROP TABLE jobs.posts;

-- PostgreSQL before 15.13, 16.9 and 17.5 detaches a partition whose rows are referred to by rows of the same table. The query
-- that looks for them first does not depend on the version.
CREATE TABLE jobs.posts (id bigint, part integer, "the reply" bigint, reply_part integer, PRIMARY KEY (id, part),
    FOREIGN KEY ("the reply", reply_part) REFERENCES jobs.posts) PARTITION BY RANGE (id);
SELECT count(*) FROM snowdrift.create_partitions('jobs.posts', '1 month', '2022-01-01Z', '2022-03-01Z', 'snowflake');
CREATE TABLE jobs.future PARTITION OF jobs.posts FOR VALUES FROM (snowflake_boundary('2050-01-01Z')) TO (MAXVALUE);
INSERT INTO jobs.posts VALUES (snowflake_boundary('2022-01-02Z'), 1, NULL, NULL), (snowflake_boundary('2022-02-02Z'), 2, snowflake_boundary('2022-01-02Z'), 1);
SELECT error_of($$SELECT snowdrift.drop_partitions_before('jobs.posts', '2022-02-01Z', 'snowflake')$$);
SELECT queries[1] IS NOT NULL AS has_query FROM snowdrift.old_partitions('jobs.posts', '2022-02-01Z', 'snowflake', 'snowflake');
UPDATE jobs.posts SET reply_part = NULL;
-- Partitions that are kept are not locked.
BEGIN;
SELECT snowdrift.lock_exclusively(snowdrift.tables_to_lock('jobs.posts', '{jobs.posts_2022_01}'));
SELECT relation::regclass FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND pid = pg_backend_pid() ORDER BY 1;
ROLLBACK;
SELECT partition FROM snowdrift.drop_partitions_before('jobs.posts', '2022-02-01Z', 'snowflake');
DROP TABLE jobs.posts;

-- A temporary table is refused: on the caller's search path, its name can be that of another table.
CREATE TEMP TABLE posts (id bigint) PARTITION BY RANGE (id);
CREATE TEMP TABLE posts_2021 PARTITION OF posts FOR VALUES FROM (0) TO (1000000000000);
SELECT error_of($$SELECT snowdrift.drop_partitions_before('pg_temp.posts', '2022-01-01Z', 'snowflake')$$);
SELECT error_of($$SELECT snowdrift.create_partitions('pg_temp.posts', '1 month', layout => 'snowflake')$$);
DROP TABLE pg_temp.posts;

-- Functions in defaults, constraints and triggers find what only the caller's search path has. (From version 17 on, PostgreSQL
-- itself builds indexes with a safe path.)
CREATE SCHEMA helpers;
CREATE FUNCTION helpers.helper(n bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT n';
CREATE FUNCTION helpers.outer_helper(n bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN helper(n); END';
CREATE FUNCTION helpers.on_insert() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.a := helper(NEW.a); RETURN NEW; END';
CREATE TABLE jobs.posts (id bigint PRIMARY KEY DEFAULT next_snowflake(), a bigint DEFAULT helpers.outer_helper(1) CHECK (helpers.outer_helper(a) > 0),
    b bigint GENERATED ALWAYS AS (helpers.outer_helper(a)) STORED, other bigint REFERENCES jobs.posts) PARTITION BY RANGE (id);
CREATE TRIGGER on_insert BEFORE INSERT ON jobs.posts FOR EACH ROW EXECUTE FUNCTION helpers.on_insert();
SET search_path = public, helpers;
CREATE INDEX ON jobs.posts (helpers.helper(a));
CREATE TABLE jobs.other PARTITION OF jobs.posts DEFAULT;
SELECT count(*) FROM snowdrift.create_partitions('jobs.posts', '1 day', now() - interval '5 days', now());
INSERT INTO jobs.posts (id) SELECT snowflake_boundary(now() - n * interval '1 day') FROM generate_series(0, 5) AS n;
SELECT jobs.dropped('4 days');
SELECT count(*) FROM snowdrift.drop_partitions_before('jobs.posts', now() - interval '2 days');
SHOW search_path;
RESET search_path;
DROP TABLE jobs.posts;
DROP SCHEMA helpers CASCADE;

-- A transaction with an old snapshot changes no partitions, and neither does a read-only one.
CREATE TABLE jobs.posts (id bigint PRIMARY KEY DEFAULT next_snowflake()) PARTITION BY RANGE (id);
SELECT count(*) FROM snowdrift.create_partitions('jobs.posts', '1 month');
CREATE FUNCTION jobs.calls() RETURNS SETOF text LANGUAGE sql AS $$
    SELECT error_of(call) FROM (VALUES ('SELECT snowdrift.create_partitions(''jobs.posts'', ''1 month'')'),
        ('SELECT snowdrift.drop_partitions(''jobs.posts'', ''1 year'')'), ('SELECT snowdrift.drop_partitions_before(''jobs.posts'', ''2022-01-01Z'')'),
        ('SELECT snowdrift.drop_partitions(''jobs.posts'', ''1 year'', dry_run => true)'), ('SELECT snowdrift.partitions(''jobs.posts'')')) AS calls(call)
$$;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT jobs.calls();
COMMIT;
BEGIN READ ONLY;
SELECT jobs.calls();
COMMIT;
DROP TABLE jobs.posts;

-- Settings of the caller change nothing.
CREATE FUNCTION jobs.result() RETURNS text LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    tablespace CONSTANT text := current_setting('default_tablespace');
    made text[];
    dropped text[];
BEGIN
    PERFORM set_config('default_tablespace', '', true);    -- with another one, PostgreSQL creates no partitioned table
    CREATE TABLE jobs.posts (id bigint PRIMARY KEY DEFAULT public.next_snowflake('it''s'), n integer DEFAULT 7, reply bigint REFERENCES jobs.posts) PARTITION BY RANGE (id);
    PERFORM set_config('default_tablespace', tablespace, true);
    PERFORM snowdrift.create_partitions('jobs.posts', '1 month', '2024-01-31 23:00Z', '2024-03-01 01:00Z'),
        snowdrift.create_partitions('jobs.posts', '1 day', '2024-04-30 23:59Z', '2024-05-02 00:00Z'),
        snowdrift.create_partitions('jobs.posts', '1 month', now(), now());
    made := ARRAY(SELECT concat_ws(' ', relname, n.nspname, a.amname, reltablespace, (SELECT count(*) FROM pg_index WHERE indrelid = c.oid), x.tablespaces)
        FROM pg_class AS c JOIN pg_inherits ON inhrelid = c.oid JOIN pg_namespace AS n ON n.oid = relnamespace LEFT JOIN pg_am AS a ON a.oid = relam,
            LATERAL (SELECT string_agg(i.reltablespace::text, ' ') AS tablespaces FROM pg_index JOIN pg_class AS i ON i.oid = indexrelid WHERE indrelid = c.oid) AS x
        WHERE inhparent = 'jobs.posts'::regclass AND relname < 'posts_2025' ORDER BY relname);
    INSERT INTO jobs.posts DEFAULT VALUES;
    dropped := ARRAY(SELECT d.partition || to_char(lower(d.times) AT TIME ZONE 'UTC', ' YYYY-MM-DD HH24:MI') FROM snowdrift.drop_partitions_before('jobs.posts', '2024-03-01Z') AS d)
        || ARRAY(SELECT d.partition FROM snowdrift.drop_partitions('jobs.posts', '1 year') AS d);
    DROP TABLE jobs.posts;
    RETURN array_to_string(made || dropped, E'\n');
END $$;
SELECT snowdrift.create_generator('it''s', 'snowflake', layout => 'si');
\c -
SET client_min_messages = warning;
-- in a session that has compiled none of the functions
DO $$ BEGIN
    PERFORM set_config('plpgsql.variable_conflict', 'use_column', false);
EXCEPTION WHEN insufficient_privilege THEN    -- only a superuser can set it
END $$;
-- PostgreSQL 19 has only standard literals.
SELECT count(set_config(name, value, false)) >= 0 AS is_set FROM (VALUES ('standard_conforming_strings', 'off'), ('escape_string_warning', 'on')) AS settings(name, value)
WHERE current_setting('server_version_num')::int < 190000;
SET plpgsql.extra_errors = 'all';
SET check_function_bodies = off;
SELECT jobs.result();
\c -
SET client_min_messages = warning;
CREATE TEMP TABLE results AS SELECT ''::text AS setting, jobs.result() AS result;
DO $$
DECLARE
    s text[];
BEGIN
    FOREACH s SLICE 1 IN ARRAY ARRAY[['TimeZone', 'Pacific/Chatham'], ['TimeZone', 'America/Los_Angeles'], ['DateStyle', 'German'], ['DateStyle', 'SQL, DMY'],
            ['IntervalStyle', 'sql_standard'], ['IntervalStyle', 'iso_8601'], ['quote_all_identifiers', 'on'], ['row_security', 'off'],
            ['default_tablespace', 'pg_default'], ['search_path', ''], ['search_path', 'pg_temp, public'], ['plpgsql.extra_errors', 'all'],
            ['extra_float_digits', '-15'], ['bytea_output', 'escape'], ['timezone_abbreviations', 'Australia'],
            ['default_transaction_isolation', 'serializable'], ['lock_timeout', '5s'], ['client_encoding', 'SQL_ASCII']] LOOP
        PERFORM set_config(s[1], s[2], true);
        INSERT INTO results SELECT s[1] || '=' || s[2], public.jobs_result FROM jobs.result() AS public(jobs_result);
        EXECUTE format('RESET %s', s[1]);
    END LOOP;
END $$;
SELECT count(*), count(DISTINCT result) FROM results;
SELECT setting, result FROM results WHERE result <> (SELECT result FROM results WHERE setting = '');
-- In a query that counts rows in parallel
CREATE TABLE jobs.pages (id bigint PRIMARY KEY DEFAULT next_snowflake('it''s')) PARTITION BY RANGE (id);
SELECT count(*) FROM snowdrift.create_partitions('jobs.pages', '1 day', '2026-01-01Z', '2026-01-01Z');
INSERT INTO jobs.pages SELECT snowflake_boundary('2026-01-01Z', 'si') + n FROM generate_series(1, 100) AS n;
BEGIN;
SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;
SET LOCAL min_parallel_table_scan_size = 0;
SET LOCAL enable_indexonlyscan = off;
SELECT plan_of($$SELECT (SELECT count(*) FROM jobs.pages), count(*) FROM snowdrift.partitions('jobs.pages')$$) ~ 'Gather' AS is_parallel;
SELECT (SELECT count(*) FROM jobs.pages), count(*) FROM snowdrift.partitions('jobs.pages');
ROLLBACK;
SELECT snowdrift.drop_generator('it''s', force => true);
SET client_min_messages = error;
DROP SCHEMA jobs CASCADE;
