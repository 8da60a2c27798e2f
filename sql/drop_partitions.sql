-- Dropping partitions whose IDs are older than a time
SET TimeZone = 'UTC';

CREATE TABLE posts (id bigint PRIMARY KEY DEFAULT next_snowflake(), parent bigint REFERENCES posts) PARTITION BY RANGE (id);
SELECT count(*) FROM snowdrift.create_partitions('posts', '1 month', '2021-01-01Z', '2022-12-31Z');
SELECT count(*) FROM snowdrift.create_partitions('posts', '1 month', now(), now() + interval '1 month');
CREATE TABLE posts_other PARTITION OF posts DEFAULT;
CREATE TABLE posts_negative PARTITION OF posts FOR VALUES FROM (-1000) TO (-5);
CREATE TABLE posts_unbounded PARTITION OF posts FOR VALUES FROM (MINVALUE) TO (-1000);
INSERT INTO posts SELECT snowflake_boundary(lower(times)) FROM snowdrift.partitions('posts') WHERE lower(times) > '2026-01-01Z';

-- A dry run changes nothing, holds no lock afterwards, and works in a read-only transaction.
BEGIN READ ONLY;
SELECT * FROM snowdrift.drop_partitions_before('posts', '2021-03-01Z'::timestamptz, dry_run => true);
SELECT count(*) FROM snowdrift.drop_partitions('posts', interval '1 year', dry_run => true);
SELECT count(*) FROM pg_locks WHERE locktype = 'relation' AND pid = pg_backend_pid() AND relation = 'posts'::regclass;
SELECT error_of($$SELECT snowdrift.drop_partitions('posts', interval '1 year')$$);
SELECT error_of($$SELECT snowdrift.drop_partitions_before('posts', '2022-01-01Z')$$);
COMMIT;
-- A call that finds nothing to drop blocks neither readers nor writers.
BEGIN;
SELECT * FROM snowdrift.drop_partitions_before('posts', '2021-01-01Z'::timestamptz);
SELECT mode FROM pg_locks WHERE locktype = 'relation' AND pid = pg_backend_pid() AND relation = 'posts'::regclass;
COMMIT;

-- The upper bound is at or before the time.
SELECT * FROM snowdrift.drop_partitions_before('posts', '2021-02-28 23:59:59.999999Z'::timestamptz);
SELECT * FROM snowdrift.drop_partitions_before('posts', '2021-03-01Z'::timestamptz);
SELECT * FROM snowdrift.drop_partitions_before('posts', '2021-03-01Z'::timestamptz);
SELECT to_regclass('posts_2021_01') AS "2021_01", to_regclass('posts_2021_02') AS "2021_02", to_regclass('posts_2021_03') AS "2021_03";
SELECT * FROM snowdrift.drop_partitions_before('posts', '-infinity'::timestamptz);
-- As with strict functions, a null argument other than the layout gives no rows.
SELECT * FROM snowdrift.drop_partitions('posts', NULL::interval);
SELECT * FROM snowdrift.drop_partitions_before('posts', NULL::timestamptz);
SELECT * FROM snowdrift.drop_partitions(NULL, interval '1 year');
SELECT * FROM snowdrift.drop_partitions('posts', interval '1 year', dry_run => NULL);
-- types that PostgreSQL converts to timestamptz
SELECT partition FROM snowdrift.drop_partitions_before('posts', date '2021-04-01');
SELECT partition FROM snowdrift.drop_partitions_before('posts', timestamp '2021-05-01');
-- An age is counted from now().
SELECT partition FROM snowdrift.drop_partitions('posts', now() - timestamptz '2021-07-01Z');
SELECT count(*) AS dropped, min(lower(times)), max(upper(times)) FROM snowdrift.drop_partitions('posts', interval '1 year');
SELECT count(*) FROM snowdrift.partitions('posts') WHERE now() <@ times;
SELECT count(*) FROM posts;
SELECT error_of($$SELECT snowdrift.drop_partitions('posts', interval '-1 day')$$);
SELECT error_of($$SELECT snowdrift.drop_partitions('posts', interval '-1 month 2 days')$$);
SELECT error_of($$SELECT snowdrift.drop_partitions('posts', interval '1000000 years')$$);
SELECT error_of(format('SELECT snowdrift.drop_partitions_before(''posts'', %L::timestamptz, dry_run => true)', time))
FROM (VALUES ('2122-01-01Z'), ('infinity')) AS times(time);
-- Both functions accept a literal without a type, and neither accepts the other's argument. The age has no default.
SELECT partition FROM snowdrift.create_partitions('posts', '1 month', '2021-01-01Z', '2021-02-01Z') AS partition;
SELECT partition FROM snowdrift.drop_partitions_before('posts', '2021-02-01Z');
SELECT split_part(error_of(format('SELECT snowdrift.%s', call)), E'\n', 1) AS error
FROM (VALUES ('drop_partitions(''posts'', ''2026-01-01'')'), ('drop_partitions(''posts'', now())'), ('drop_partitions(''posts'')'),
    ('drop_partitions_before(''posts'', ''1 year'')'), ('drop_partitions_before(''posts'', interval ''1 year'')'), ('drop_partitions_before(''posts'')')) AS calls(call);
-- PostgreSQL reads digits as seconds. An age of 10,000,000 seconds or more is probably a date.
SELECT error_of(format('SELECT snowdrift.drop_partitions(''posts'', %L, dry_run => true)', age))
FROM (VALUES ('20210101'), ('10000000'), ('9999999'), ('2777:46:40'), ('115 days 17:46:40')) AS ages(age);
SELECT partition FROM snowdrift.drop_partitions('posts', '6 months');

-- Default partitions, and partitions with a bound that is not an ID or without a bound, are not dropped.
SELECT count(*) FROM snowdrift.drop_partitions('posts', interval '0');
SELECT * FROM snowdrift.partitions('posts') WHERE times IS NULL ORDER BY partition::text;
DROP TABLE posts;
CREATE TABLE events (id ulid) PARTITION BY RANGE (id);
CREATE TABLE events_before PARTITION OF events FOR VALUES FROM (MINVALUE) TO (ulid_boundary('2020-01-01Z'));
CREATE TABLE events_first PARTITION OF events FOR VALUES FROM (ulid_boundary('2020-01-01Z')) TO (ulid_boundary('2021-01-01Z'));
CREATE TABLE events_after PARTITION OF events FOR VALUES FROM (ulid_boundary('2021-01-01Z')) TO (MAXVALUE);
SELECT * FROM snowdrift.drop_partitions_before('events', now());
SELECT * FROM snowdrift.partitions('events') ORDER BY times;

-- Keys from before the table had Snowflakes are small numbers, whose age is unknown. Their partitions are not dropped.
CREATE TABLE logs (id bigserial PRIMARY KEY) PARTITION BY RANGE (id);
CREATE TABLE logs_before PARTITION OF logs FOR VALUES FROM (MINVALUE) TO (0);
CREATE TABLE logs_0 PARTITION OF logs FOR VALUES FROM (0) TO (1000000);
CREATE TABLE logs_1 PARTITION OF logs FOR VALUES FROM (1000000) TO (4294967296);
CREATE TABLE logs_2 PARTITION OF logs FOR VALUES FROM (4294967296) TO (8589934592);
CREATE TABLE logs_3 PARTITION OF logs FOR VALUES FROM (8589934592) TO (snowflake_boundary('2021-02-01Z'));
SELECT snowdrift.create_partitions('logs', '1 month', '2021-02-01Z', '2021-02-01Z', 'snowflake');
INSERT INTO logs DEFAULT VALUES;
-- If all partitions look old, the layout can be wrong, so none is dropped.
SELECT error_of($$SELECT snowdrift.drop_partitions('logs', interval '1 year', 'snowflake')$$);
SELECT error_of($$SELECT snowdrift.drop_partitions('logs', interval '1 year', 'snowflake', dry_run => true)$$);
CREATE TABLE logs_2022 PARTITION OF logs FOR VALUES FROM (snowflake_boundary('2022-01-01Z')) TO (snowflake_boundary('2023-01-01Z'));
SELECT left(error_of($$SELECT snowdrift.drop_partitions_before('logs', '2021-06-01Z', 'snowflake')$$), 5) AS sqlstate;
DROP TABLE logs_2022;
CREATE TABLE logs_future PARTITION OF logs FOR VALUES FROM (snowflake_boundary('2050-01-01Z')) TO (MAXVALUE);
SELECT partition FROM snowdrift.drop_partitions('logs', interval '1 year', 'snowflake');
SELECT partition FROM snowdrift.partitions('logs', 'snowflake') ORDER BY partition::text;
SELECT count(*) FROM logs;
DROP TABLE logs;

-- If the upper bound is not the first ID of its time, the partition can contain IDs of that time.
CREATE TABLE events_odd PARTITION OF events FOR VALUES
    FROM (ulid_boundary('2020-02-01Z')) TO (make_ulid('2020-03-01Z', '\x00000000000000000001'));
SELECT * FROM snowdrift.partitions('events') WHERE partition = 'events_odd'::regclass;
SELECT * FROM snowdrift.drop_partitions_before('events', '2020-03-01Z'::timestamptz);
SELECT * FROM snowdrift.drop_partitions_before('events', '2020-03-01 00:00:00.000001Z'::timestamptz);

-- sno values; a layout; a layout with a time unit; names that need quotes, and another schema
CREATE SCHEMA "Odd ""schema";
CREATE TABLE "Odd ""schema"."Odd ""name" (id sno) PARTITION BY RANGE (id);
SELECT snowdrift.create_partitions('"Odd ""schema"."Odd ""name"', '1 day', '2021-01-01Z', '2021-01-02Z');
ALTER TABLE "Odd ""schema"."Odd ""name_2021_01_02" SET SCHEMA public;
SELECT * FROM snowdrift.drop_partitions_before('"Odd ""schema"."Odd ""name"', '2021-02-01Z'::timestamptz);
DROP SCHEMA "Odd ""schema" CASCADE;
CREATE TABLE tweets (id bigint) PARTITION BY RANGE (id);
SELECT snowdrift.create_partitions('tweets', '1 month', '2021-01-01Z', '2021-02-01Z', 'twitter');
CREATE TABLE tweets_future PARTITION OF tweets FOR VALUES FROM (snowflake_boundary('2050-01-01Z', 'twitter')) TO (MAXVALUE);
SELECT * FROM snowdrift.drop_partitions_before('tweets', '2021-02-01Z'::timestamptz, 'twitter');
SELECT * FROM snowdrift.drop_partitions('tweets', interval '1 year', 'twitter');
CREATE DOMAIN flake AS bigint;
CREATE TABLE flakes (id flake) PARTITION BY RANGE (id);
SELECT snowdrift.create_partitions('flakes', '1 month', '2021-01-01Z', '2021-02-01Z', 'sonyflake');
CREATE TABLE flakes_future PARTITION OF flakes FOR VALUES FROM (snowflake_boundary('2050-01-01Z', 'sonyflake')) TO (MAXVALUE);
SELECT * FROM snowdrift.drop_partitions_before('flakes', '2021-02-01Z'::timestamptz, 'sonyflake');
DROP TABLE tweets, flakes;
DROP DOMAIN flake;

-- Partitions that are themselves partitioned are dropped with their partitions; foreign tables are dropped too.
CREATE FOREIGN DATA WRAPPER nowhere;
CREATE SERVER nowhere FOREIGN DATA WRAPPER nowhere;
CREATE TABLE nested PARTITION OF events FOR VALUES
    FROM (ulid_boundary('2020-05-01Z')) TO (ulid_boundary('2020-06-01Z')) PARTITION BY HASH (id);
CREATE TABLE nested_0 PARTITION OF nested FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE FOREIGN TABLE distant PARTITION OF events FOR VALUES
    FROM (ulid_boundary('2020-04-01Z')) TO (ulid_boundary('2020-05-01Z')) SERVER nowhere;
SELECT partition FROM snowdrift.drop_partitions_before('events', '2021-01-01Z'::timestamptz);
SELECT relname FROM pg_class WHERE relname IN ('nested', 'nested_0', 'distant');
DROP FOREIGN DATA WRAPPER nowhere CASCADE;

-- A partition that is being detached concurrently is ignored; FINALIZE and DROP TABLE remove it.
CREATE TABLE pending PARTITION OF events FOR VALUES FROM (ulid_boundary('2020-05-01Z')) TO (ulid_boundary('2020-06-01Z'));
UPDATE pg_inherits SET inhdetachpending = true WHERE inhrelid = 'pending'::regclass;
SELECT partition FROM snowdrift.drop_partitions_before('events', '2021-01-01Z'::timestamptz);
ALTER TABLE events DETACH PARTITION pending FINALIZE;
DROP TABLE events, pending;

-- foreign_key_error_of(QUERY): like error_of(), without the name of the constraint, which depends on the version
CREATE FUNCTION foreign_key_error_of(query text) RETURNS text
    LANGUAGE sql AS $$SELECT regexp_replace(error_of(query), 'constraint "[^"]*"', 'constraint')$$;

-- Foreign keys: if rows refer to the partition, no partition is dropped; otherwise, old ones are.
CREATE TABLE articles (id bigint PRIMARY KEY DEFAULT next_snowflake(), reply bigint REFERENCES articles) PARTITION BY RANGE (id);
SELECT count(*) FROM snowdrift.create_partitions('articles', '1 month', '2021-01-01Z', '2021-04-01Z');
CREATE TABLE articles_future PARTITION OF articles FOR VALUES FROM (snowflake_boundary('2050-01-01Z')) TO (MAXVALUE);
CREATE TABLE likes (article bigint REFERENCES articles ON DELETE CASCADE);
INSERT INTO articles SELECT make_snowflake('2021-02-01Z', 0, 0, n) FROM generate_series(0, 1) AS n;
INSERT INTO likes SELECT min(id) FROM articles;
SELECT foreign_key_error_of($$SELECT snowdrift.drop_partitions_before('articles', '2021-03-01Z'::timestamptz)$$);
SELECT count(*) FROM snowdrift.partitions('articles');
DELETE FROM likes;
UPDATE articles SET reply = make_snowflake('2021-02-01Z', 0, 0, 0) WHERE id = make_snowflake('2021-02-01Z', 0, 0, 1);
-- DETACH PARTITION does not check rows of the same table before 15.13, 16.9 and 17.5.
SELECT foreign_key_error_of($$SELECT snowdrift.drop_partitions_before('articles', '2021-03-01Z'::timestamptz)$$);
UPDATE articles SET reply = NULL;
SELECT partition FROM snowdrift.drop_partitions_before('articles', '2021-03-01Z'::timestamptz);
SELECT count(*) FROM articles;
-- A foreign key to the partition itself, or a view of it, prevents dropping the partition.
CREATE TABLE march (article bigint REFERENCES articles_2021_03);
SELECT error_of($$SELECT snowdrift.drop_partitions_before('articles', '2021-04-01Z'::timestamptz)$$);
DROP TABLE march;
CREATE VIEW march AS SELECT * FROM articles_2021_03;
SELECT error_of($$SELECT snowdrift.drop_partitions_before('articles', '2021-04-01Z'::timestamptz)$$);
DROP VIEW march;
-- a query that still reads the table
SELECT left(error_of($$SELECT (SELECT count(*) FROM snowdrift.drop_partitions_before('articles', '2021-04-01Z'::timestamptz))
    FROM articles RIGHT JOIN (VALUES (1)) AS one(row) ON true$$), 5) AS sqlstate;
SELECT partition FROM snowdrift.partitions('articles') ORDER BY times;
DROP TABLE likes, articles;
DROP FUNCTION foreign_key_error_of(text);

-- The caller must own the table and the partition.
CREATE TABLE pages (id sno) PARTITION BY RANGE (id);
SELECT snowdrift.create_partitions('pages', '1 month', '2021-01-01Z', '2021-02-01Z');
CREATE ROLE snowdrift_user;
SET ROLE snowdrift_user;
SELECT split_part(error_of($$SELECT snowdrift.drop_partitions('pages', interval '1 year')$$), E'\n', 1) AS error;
SELECT split_part(error_of($$SELECT snowdrift.drop_partitions('pages', interval '1 year', dry_run => true)$$), E'\n', 1) AS error;
RESET ROLE;
ALTER TABLE pages OWNER TO snowdrift_user;
ALTER TABLE pages_2021_01 OWNER TO snowdrift_user;
SET ROLE snowdrift_user;
SELECT split_part(error_of($$SELECT snowdrift.drop_partitions('pages', interval '1 year')$$), E'\n', 1) AS error;
SELECT partition FROM snowdrift.partitions('pages') ORDER BY times;
SELECT partition FROM snowdrift.drop_partitions_before('pages', '2021-02-01Z'::timestamptz);
RESET ROLE;
DROP TABLE pages;
DROP ROLE snowdrift_user;

-- publications, generated columns, triggers and row-level security
CREATE TABLE visits (id bigint PRIMARY KEY DEFAULT next_snowflake(), day date GENERATED ALWAYS AS ((snowflake_timestamp(id) AT TIME ZONE 'UTC')::date) STORED)
PARTITION BY RANGE (id);
SELECT count(*) FROM snowdrift.create_partitions('visits', '1 month', '2021-01-01Z', '2021-02-01Z');
CREATE TABLE visits_future PARTITION OF visits FOR VALUES FROM (snowflake_boundary('2050-01-01Z')) TO (MAXVALUE);
CREATE FUNCTION reject() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION 'rejected'; END $$;
CREATE TRIGGER reject BEFORE DELETE ON visits FOR EACH ROW EXECUTE FUNCTION reject();
ALTER TABLE visits ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
SET client_min_messages = error;    -- wal_level
CREATE PUBLICATION visits_publication FOR TABLE visits, visits_2021_01;
RESET client_min_messages;
INSERT INTO visits SELECT snowflake_boundary('2021-01-05Z');
SELECT partition FROM snowdrift.drop_partitions_before('visits', '2021-02-01Z'::timestamptz);
SELECT tablename FROM pg_publication_tables WHERE pubname = 'visits_publication';
DROP PUBLICATION visits_publication;
-- A row that refers to a partition counts even if row-level security hides it from the caller. The caller owns the
-- table, and the other table or not.
CREATE ROLE snowdrift_user;
ALTER TABLE visits OWNER TO snowdrift_user;
GRANT CREATE ON SCHEMA public TO snowdrift_user;
SELECT count(*) FROM snowdrift.create_partitions('visits', '1 month', '2021-01-01Z', '2021-01-01Z');
CREATE TABLE notes (visit bigint REFERENCES visits);
ALTER TABLE notes OWNER TO snowdrift_user;
ALTER TABLE notes ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY hidden ON notes USING (false);
INSERT INTO visits SELECT snowflake_boundary('2021-01-05Z') RETURNING id \gset
INSERT INTO notes VALUES (:id);
SET ROLE snowdrift_user;
SELECT count(*) FROM notes;
SELECT left(error_of($$SELECT snowdrift.drop_partitions_before('visits', '2021-02-01Z'::timestamptz)$$), 5) AS sqlstate;
RESET ROLE;
ALTER TABLE notes OWNER TO current_user;
GRANT SELECT ON notes TO snowdrift_user;
SET ROLE snowdrift_user;
SELECT left(error_of($$SELECT snowdrift.drop_partitions_before('visits', '2021-02-01Z'::timestamptz)$$), 5) AS sqlstate;
SHOW row_security;
RESET ROLE;
DROP TABLE notes;
SET ROLE snowdrift_user;
SELECT partition FROM snowdrift.drop_partitions_before('visits', '2021-02-01Z'::timestamptz);
SHOW row_security;
RESET ROLE;
DROP TABLE visits;
REVOKE CREATE ON SCHEMA public FROM snowdrift_user;
DROP ROLE snowdrift_user;
DROP FUNCTION reject();

-- errors
CREATE TABLE plain (id bigint);
SELECT error_of($$SELECT snowdrift.drop_partitions('plain', interval '1 year')$$);
SELECT error_of($$SELECT snowdrift.drop_partitions(4000000000, interval '1 year')$$);
DROP TABLE plain;

-- UUIDs of version 7
CREATE TABLE sessions (id uuid) PARTITION BY RANGE (id);
CREATE TABLE sessions_other PARTITION OF sessions DEFAULT;
INSERT INTO sessions VALUES ('018cc251-f400-4000-8000-000000000000');
SELECT count(*) FROM snowdrift.create_partitions('sessions', '1 month', '2024-01-01Z', '2024-03-01Z');
-- the default partition, too, is locked before DETACH PARTITION waits for it
SELECT snowdrift.tables_to_lock('sessions', ARRAY(SELECT p.partition FROM snowdrift.old_partitions('sessions', '2024-02-15Z', 'uuidv7', NULL) AS p));
SELECT * FROM snowdrift.drop_partitions_before('sessions', '2024-02-15Z'::timestamptz);
DROP TABLE sessions;

