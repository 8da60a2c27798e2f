-- Partitions by time

SET TimeZone = 'America/New_York';    -- bounds and names use UTC regardless

-- monthly partitions for each type of ID
CREATE TABLE posts (id bigint PRIMARY KEY DEFAULT next_snowflake(), body text DEFAULT 'hello' CHECK (body <> ''))
PARTITION BY RANGE (id);
CREATE TABLE tweets (id bigint PRIMARY KEY) PARTITION BY RANGE (id);
CREATE TABLE events (id ulid PRIMARY KEY, day date GENERATED ALWAYS AS ((id::timestamp)::date) STORED)
PARTITION BY RANGE (id);
CREATE TABLE people (id sno PRIMARY KEY) PARTITION BY RANGE (id);
SELECT snowdrift.create_partitions('posts', '1 month', '2026-11-21Z', '2027-01-01Z');
SELECT snowdrift.create_partitions('tweets', '1 month', '2026-11-21Z', '2026-12-31 23:59Z', 'twitter');
SELECT snowdrift.create_partitions('events', '1 month', '2026-11-21Z', '2026-11-30 23:59:59.999999Z');
SELECT snowdrift.create_partitions('people', '1 month', '2026-11-01Z', '2026-12-01Z');
SELECT * FROM snowdrift.partitions('posts') ORDER BY times;
SELECT * FROM snowdrift.partitions('tweets', 'twitter') ORDER BY times;
CREATE TABLE old_keys PARTITION OF tweets FOR VALUES FROM (-1000) TO (0);
SELECT * FROM snowdrift.partitions('tweets', 'twitter') WHERE times IS NULL;
DROP TABLE old_keys;
SELECT * FROM snowdrift.partitions('events') ORDER BY times;
SELECT * FROM snowdrift.partitions('people') ORDER BY times;

-- rows go to the right partition
INSERT INTO posts SELECT make_snowflake(t, 0, 0, 0) FROM
    (VALUES ('2026-11-01Z'::timestamptz), ('2026-11-30 23:59:59.999Z'), ('2026-12-01Z'), ('2027-01-31 23:59:59.999Z')) AS times(t);
SELECT tableoid::regclass, snowflake_timestamp(id) AT TIME ZONE 'UTC' AS t, body FROM posts ORDER BY id;
INSERT INTO events SELECT ulid_at('2026-11-03 12:00Z') RETURNING tableoid::regclass, day;

-- a partition has the constraints and defaults of its table
SELECT conname, contype FROM pg_constraint WHERE conrelid = 'posts_2026_11'::regclass AND contype <> 'n'
ORDER BY conname;
SELECT attname, pg_get_expr(adbin, adrelid) AS "default"
FROM pg_attrdef JOIN pg_attribute ON attrelid = adrelid AND attnum = adnum
WHERE adrelid = 'posts_2026_11'::regclass ORDER BY adnum;

-- Only missing partitions are created; the names of existing ones don't matter.
ALTER TABLE posts_2026_12 RENAME TO december;
SELECT snowdrift.create_partitions('posts', '1 month', '2026-10-01Z', '2027-02-01Z');
SELECT count(*) FROM snowdrift.create_partitions('posts', '1 month', '2026-10-01Z', '2027-02-01Z');
-- As with strict functions, a null table or step gives no rows.
SELECT count(*) FROM snowdrift.create_partitions('posts', NULL, '2029-01-01Z', '2029-01-01Z');
SELECT count(*) FROM snowdrift.create_partitions(NULL, '1 month', '2029-01-01Z', '2029-01-01Z');
SELECT count(*) FROM snowdrift.partitions(NULL);

-- By default, the partitions from now() to three steps later
CREATE TABLE visits (id bigint PRIMARY KEY DEFAULT next_snowflake()) PARTITION BY RANGE (id);
BEGIN;
SELECT count(*) FROM snowdrift.create_partitions('visits', '1 month');
SELECT min(lower(times)) = date_trunc('month', now(), 'UTC') AS from_now,
    max(upper(times)) = (date_trunc('month', now() AT TIME ZONE 'UTC') + interval '4 months') AT TIME ZONE 'UTC' AS four FROM snowdrift.partitions('visits');
SELECT count(*) FROM snowdrift.create_partitions('visits', '1 month');
INSERT INTO visits DEFAULT VALUES;
ROLLBACK;
-- A null is the same as an omitted argument.
BEGIN;
SELECT count(*) FROM snowdrift.create_partitions('visits', '7 days', NULL, NULL);
SELECT count(*) FROM snowdrift.create_partitions('visits', '7 days', now(), now() + interval '21 days');
SELECT count(*) FROM snowdrift.create_partitions('visits', '7 days', last => now() + interval '28 days');
ROLLBACK;
SELECT snowdrift.create_partitions('visits', '06:00', '2026-11-21 23:59Z');
SELECT snowdrift.create_partitions('visits', '3 months', first => '2027-12-31Z');
-- Steps of days and hours are also those of times before 2001.
BEGIN;
CREATE TABLE archive (id ulid PRIMARY KEY) PARTITION BY RANGE (id);
SELECT snowdrift.create_partitions('archive', '7 days', '2000-12-31 23:59Z', '2000-12-31 23:59Z');
SELECT * FROM snowdrift.partitions('archive');
ROLLBACK;
-- at the end of the format
SELECT snowdrift.create_partitions('visits', '1 year', first => '2089-02-01Z');
-- with a default of another layout, in which rows can be inserted
SELECT snowdrift.create_generator('shop', 'snowflake', layout => 'si');
CREATE TABLE sales (id bigint PRIMARY KEY DEFAULT next_snowflake('shop')) PARTITION BY RANGE (id);
SELECT count(*) FROM snowdrift.create_partitions('sales', '1 month');
INSERT INTO sales DEFAULT VALUES;
SELECT count(*) FROM snowdrift.create_partitions('sales', '1 month', now(), now());
-- The first time must not be later than the last.
SELECT error_of(format('SELECT snowdrift.create_partitions(''visits'', ''1 month'', %s)', times))
FROM (VALUES ($$'2030-01-01Z', '2029-01-01Z'$$), ($$'infinity', '2029-01-01Z'$$), ($$'2029-01-01Z', '-infinity'$$)) AS calls(times);
SELECT left(error_of($$SELECT snowdrift.create_partitions('visits', '1 month', last => now() - interval '1 us')$$), 40) AS error;
SELECT count(*) FROM snowdrift.create_partitions('visits', '3 months', '2027-12-31Z', '2027-12-31Z');
DROP TABLE visits, sales;
SELECT snowdrift.drop_generator('shop');

-- other steps
CREATE TABLE "Odd ""name" (id ulid NOT NULL) PARTITION BY RANGE (id);
SELECT snowdrift.create_partitions('"Odd ""name"', '1 year', '2020-11-21Z', '2020-11-21Z');
SELECT snowdrift.create_partitions('"Odd ""name"', '3 months', '2021-11-21Z', '2021-11-21Z');
SELECT snowdrift.create_partitions('"Odd ""name"', '7 days', '2026-11-21Z', '2026-11-23Z');
SELECT snowdrift.create_partitions('"Odd ""name"', '1 day', '2027-01-05 23:00Z', '2027-01-06 01:00Z');
SELECT snowdrift.create_partitions('"Odd ""name"', '06:00', '2027-02-01 05:59Z', '2027-02-01 06:00Z');
-- with a default partition and with unbounded partitions
CREATE TABLE other PARTITION OF "Odd ""name" DEFAULT;
CREATE TABLE past PARTITION OF "Odd ""name" FOR VALUES FROM (MINVALUE) TO (ulid_boundary('2000-01-01Z'));
CREATE TABLE future PARTITION OF "Odd ""name" FOR VALUES FROM (ulid_boundary('2100-01-01Z')) TO (MAXVALUE);
SELECT partition, lower(times) AT TIME ZONE 'UTC' AS first, upper(times) AT TIME ZONE 'UTC' AS "end"
FROM snowdrift.partitions('"Odd ""name"') ORDER BY times;

-- Keys of type uuid are UUIDs of version 7. Random UUIDs belong to the partition whose bounds enclose them.
CREATE TABLE orders (id uuid PRIMARY KEY) PARTITION BY RANGE (id);
SELECT snowdrift.create_partitions('orders', '1 month', '2026-11-21Z', '2026-12-01Z');
SELECT * FROM snowdrift.partitions('orders') ORDER BY times;
SELECT pg_get_expr(relpartbound, oid) FROM pg_class WHERE oid = 'orders_2026_11'::regclass;
INSERT INTO orders SELECT make_uuidv7(t, randomness) FROM
    (VALUES ('2026-11-01Z'::timestamptz), ('2026-11-30 23:59:59.999Z'), ('2026-12-01Z'), ('2026-12-31 23:59:59.999Z')) AS times(t),
    (VALUES ('\x00000000000000000000'::bytea), ('\x03ffffffffffffffffff')) AS ends(randomness);
SELECT tableoid::regclass, min(uuidv7_timestamp(id)) AT TIME ZONE 'UTC' AS first,
    max(uuidv7_timestamp(id)) AT TIME ZONE 'UTC' AS last, count(*) FROM orders GROUP BY tableoid ORDER BY first;
SELECT error_of($$INSERT INTO orders VALUES ('9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d')$$) ~ 'no partition of relation' AS no_partition;
CREATE TABLE orders_default PARTITION OF orders DEFAULT;
INSERT INTO orders VALUES ('9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d'), ('01a1a000-0000-4bad-9bdd-2b0d7b3dcb6d')
RETURNING tableoid::regclass;
CREATE TABLE ancient PARTITION OF orders FOR VALUES FROM (MINVALUE) TO ('00000000-0000-4000-8000-000000000000');
SELECT partition, times FROM snowdrift.partitions('orders') WHERE times IS NULL ORDER BY partition::text;
SELECT count(*) FROM snowdrift.create_partitions('orders', '1 month', '2026-11-01Z', '2026-12-31Z');
DROP TABLE orders;

-- partitions that are older than a year
SELECT format('ALTER TABLE %s DETACH PARTITION %s CONCURRENTLY', 'posts', partition)
FROM snowdrift.partitions('posts') WHERE upper(times) <= '2027-12-01Z'::timestamptz - interval '1 year' ORDER BY times;

-- creating partitions blocks neither readers nor writers
BEGIN;
SELECT snowdrift.create_partitions('posts', '1 month', '2027-03-01Z', '2027-03-01Z');
SELECT DISTINCT mode FROM pg_locks WHERE relation = 'posts'::regclass AND pid = pg_backend_pid() ORDER BY mode;
ROLLBACK;

-- listing partitions holds no lock afterwards
BEGIN;
SELECT count(*) > 0 AS listed FROM snowdrift.partitions('posts');
SELECT count(*) FROM pg_locks WHERE locktype = 'relation' AND pid = pg_backend_pid()
    AND relation IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = 'posts'::regclass UNION SELECT 'posts'::regclass);
COMMIT;

-- the caller must own the table, and owns the new partitions
CREATE ROLE snowdrift_user;
SET ROLE snowdrift_user;
SELECT split_part(error_of($$SELECT snowdrift.create_partitions('posts', '1 month', '2027-03-01Z', '2027-03-01Z')$$), E'\n', 1) AS error;
RESET ROLE;
GRANT CREATE ON SCHEMA public TO snowdrift_user;
ALTER TABLE posts OWNER TO snowdrift_user;
SET ROLE snowdrift_user;
SELECT snowdrift.create_partitions('posts', '1 month', '2027-03-01Z', '2027-03-01Z');
RESET ROLE;
SELECT relowner::regrole FROM pg_class WHERE oid = 'posts_2027_03'::regclass;

-- the first partition starts at the format's first ID, and the last one has no upper bound
CREATE TABLE ends_ulid (id ulid) PARTITION BY RANGE (id);
CREATE TABLE ends_sno (id sno) PARTITION BY RANGE (id);
CREATE TABLE ends_uuid (id uuid) PARTITION BY RANGE (id);
CREATE TABLE ends_si (id bigint) PARTITION BY RANGE (id);
CREATE TABLE ends_twitter (id bigint) PARTITION BY RANGE (id);
SELECT snowdrift.create_partitions('ends_ulid', '1 month', '10889-08-01Z', '10889-08-02Z');
SELECT snowdrift.create_partitions('ends_uuid', '1 month', '10889-08-01Z', '10889-08-02Z');
SELECT snowdrift.create_partitions('ends_uuid', '1 year', '1970-01-01Z', '1970-01-01Z');
SELECT snowdrift.create_partitions('ends_sno', '1 day', '2079-09-07Z', '2079-09-07Z');
SELECT snowdrift.create_partitions('ends_si', '1000000 years', '2055-11-03Z', '2055-11-03Z', 'si');
SELECT snowdrift.create_partitions('ends_twitter', '1 month', '2010-11-20Z', '2010-12-01Z', 'twitter');
INSERT INTO ends_ulid VALUES (ulid_max());
INSERT INTO ends_uuid VALUES ('00000000-0000-7000-8000-000000000000'), ('ffffffff-ffff-7fff-bfff-ffffffffffff');
INSERT INTO ends_sno VALUES (make_sno('2079-09-07T15:47:35.548Z', 255, 65535, 65535, 1));
INSERT INTO ends_si VALUES (0), (9007199254740991);
INSERT INTO ends_twitter VALUES (0);
SELECT * FROM snowdrift.partitions('ends_ulid') UNION ALL SELECT * FROM snowdrift.partitions('ends_sno')
UNION ALL SELECT * FROM snowdrift.partitions('ends_uuid')
UNION ALL SELECT * FROM snowdrift.partitions('ends_si', 'si')
UNION ALL SELECT * FROM snowdrift.partitions('ends_twitter', 'twitter') ORDER BY 1;
SELECT snowdrift.create_partitions('ends_ulid', '1 month', '10889-08-01Z', '10889-08-02Z');
DROP TABLE ends_ulid, ends_sno, ends_uuid, ends_si, ends_twitter;
-- A layout of two minutes: the second one, which is the last time unit, begins and ends with a step.
SELECT 'epoch=2021-01-01T00:00:00Z unit=60s timestamp=1 sequence=8' AS two_minutes \gset
CREATE TABLE ends_minutes (id bigint) PARTITION BY RANGE (id);
SELECT snowdrift.create_partitions('ends_minutes', '1 minute', '2021-01-01 00:00Z', '2021-01-01 00:01Z', :'two_minutes');
SELECT * FROM snowdrift.partitions('ends_minutes', :'two_minutes') ORDER BY times;
INSERT INTO ends_minutes VALUES (0), (255), (256), (511) RETURNING id, tableoid::regclass;
DROP TABLE ends_minutes;

-- errors
CREATE TABLE plain (id bigint);
CREATE TABLE listed (id bigint) PARTITION BY LIST (id);
CREATE TABLE by_two (id bigint, n int) PARTITION BY RANGE (id, n);
CREATE TABLE by_time (t timestamptz) PARTITION BY RANGE (t);
CREATE TABLE by_expression (id bigint) PARTITION BY RANGE ((id + 1));
SELECT error_of(format('SELECT snowdrift.create_partitions(%L, ''1 day'', now(), now())', name))
FROM (VALUES ('plain'), ('listed'), ('by_two'), ('by_time'), ('by_expression')) AS tables(name);
SELECT error_of('SELECT snowdrift.partitions(''plain'')');
SELECT error_of('SELECT snowdrift.partitions(4000000000)');
SELECT error_of('SELECT snowdrift.create_partitions(4000000000, ''1 day'', now(), now())');
CREATE DOMAIN post_id AS bigint;
CREATE TABLE of_domain (id post_id) PARTITION BY RANGE (id);
SELECT snowdrift.create_partitions('of_domain', '1 month', '2026-01-01Z', '2026-01-01Z', 'snowflake');
SELECT partition FROM snowdrift.partitions('of_domain', 'snowflake');
DROP TABLE of_domain;
DROP DOMAIN post_id;
SELECT error_of(format('SELECT snowdrift.create_partitions(''people'', %L, now(), now())', step))
FROM (VALUES ('0'), ('-1 month'), ('-1 day'), ('1 month 1 day'), ('1 month -31 days'), ('90 seconds'), ('1 ms')) AS steps(step);
SELECT error_of($$SELECT snowdrift.create_partitions('people', '1 day', '2026-01-01Z', 'infinity')$$);
SELECT error_of($$SELECT snowdrift.create_partitions('people', '1 day', '-infinity', '2026-01-01Z')$$);
SET TimeZone = 'UTC';
SELECT error_of($$SELECT snowdrift.create_partitions('people', '1 day', '2000-01-01Z', '2026-01-01Z')$$);
SELECT error_of($$SELECT snowdrift.create_partitions('posts', '1 year', '2026-01-01Z', '2026-01-01Z')$$);
CREATE TABLE january (LIKE people);
ALTER TABLE january RENAME TO people_2028_01;
SELECT error_of($$SELECT snowdrift.create_partitions('people', '1 month', '2028-01-01Z', '2028-01-01Z')$$);
CREATE TABLE a_name_of_sixty_characters_is_too_long_for_any_suffix_of_time_ (id sno) PARTITION BY RANGE (id);
SELECT error_of($$SELECT snowdrift.create_partitions(
    'a_name_of_sixty_characters_is_too_long_for_any_suffix_of_time_', '1 month', '2028-01-01Z', '2028-01-01Z')$$);

-- functions for pg_partman: values of uuid and text columns, and NULL
SELECT snowdrift.ulid_time_encoder('2026-11-01Z') AS ulid, snowdrift.sno_time_encoder('2026-11-01Z') AS sno,
    snowdrift.uuidv7_time_encoder('2026-11-01Z') AS uuidv7;
SELECT snowdrift.ulid_time_decoder('019e0a47-0400-0000-0000-000000000000') AS as_uuid,
    snowdrift.ulid_time_decoder(ulid_boundary('2026-11-01Z')::text) AS as_text,
    snowdrift.ulid_time_decoder(snowdrift.ulid_time_encoder('2026-11-01Z')::text) AS again,
    snowdrift.ulid_time_decoder(NULL) AS nothing;
SELECT snowdrift.sno_time_decoder(sno_boundary('2026-11-01Z')::text) AS as_text,
    snowdrift.sno_time_decoder(snowdrift.sno_time_encoder('2026-11-01Z')::text) AS again,
    snowdrift.sno_time_decoder(NULL) AS nothing;
SELECT snowdrift.uuidv7_time_decoder(snowdrift.uuidv7_time_encoder('2026-11-01Z')::text) AS again,
    snowdrift.uuidv7_time_decoder('9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d') AS version_4, snowdrift.uuidv7_time_decoder(NULL) AS nothing;
SELECT error_of('SELECT snowdrift.ulid_time_decoder(''2026-11-01'')');
SELECT error_of('SELECT snowdrift.uuidv7_time_decoder(''2026-11-01'')');
SELECT error_of('SELECT snowdrift.sno_time_decoder(''019e0a47-0400-0000-0000-000000000000'')');

RESET TimeZone;
DROP TABLE posts, tweets, events, people, people_2028_01, "Odd ""name", plain, listed, by_two, by_time,
    by_expression, a_name_of_sixty_characters_is_too_long_for_any_suffix_of_time_;
REVOKE CREATE ON SCHEMA public FROM snowdrift_user;
DROP ROLE snowdrift_user;

