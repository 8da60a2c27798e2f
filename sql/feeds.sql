-- Reading new rows of tables: what the functions accept, refuse and return. Concurrent transactions are in test/t/053_feeds.pl.
\set SHOW_CONTEXT never
CREATE SCHEMA feeds;
SET search_path = feeds, public;

-- A table with a serial key
CREATE TABLE events (id bigserial PRIMARY KEY, body text);
SELECT public.error_of($$SELECT * FROM snowdrift.read_new(NULL::feeds.events)$$);
SELECT snowdrift.watch('events');
SELECT snowdrift.watch('events');    -- again
SELECT regexp_replace(tgname, '_[0-9]+_', '_OID_') AS name, tgenabled, pg_get_triggerdef(oid) ~ 'snowdrift_hold.s' AS has_condition FROM pg_trigger WHERE tgrelid = 'events'::regclass ORDER BY 1;
SELECT * FROM snowdrift.read_new(NULL::events);
INSERT INTO events (body) VALUES ('a'), ('b'), ('c');
SELECT * FROM snowdrift.read_new(NULL::events);
SELECT * FROM snowdrift.read_new(NULL::events, max => 2);
SELECT * FROM snowdrift.read_new(NULL::events, after => 2);
SELECT * FROM snowdrift.read_new(CAST(NULL AS events), 3);
SELECT * FROM snowdrift.read_new(NULL::events, max => NULL);
-- Positions of any type, of prepared statements, too
PREPARE untyped AS SELECT id FROM snowdrift.read_new(NULL::events, after => $1);
PREPARE of_bigint (bigint) AS SELECT id FROM snowdrift.read_new(NULL::events, after => $1);
PREPARE of_integer (integer) AS SELECT id FROM snowdrift.read_new(NULL::events, $1, 5);
PREPARE of_text (text) AS SELECT id FROM snowdrift.read_new(NULL::events, after => $1, max => 5);
PREPARE of_numeric (numeric) AS SELECT id FROM snowdrift.read_new(NULL::events, after => $1);
EXECUTE untyped ('2');
EXECUTE untyped (NULL);
EXECUTE of_bigint (2);
EXECUTE of_integer (2);
EXECUTE of_text ('2');
EXECUTE of_numeric (2);
-- Rows whose IDs readers may have passed are refused.
SELECT public.error_of($$INSERT INTO events (id) VALUES (0)$$);
SELECT public.error_of($$UPDATE events SET id = -1 WHERE id = 2$$);
SELECT nextval('events_id_seq') AS drawn \gset
SELECT public.error_of(format('INSERT INTO events (id) VALUES (%s)', :drawn));
BEGIN;
SELECT nextval('events_id_seq') AS drawn \gset
SELECT public.error_of(format('INSERT INTO events (id) VALUES (%s)', :drawn));
COMMIT;
-- What is right
INSERT INTO events (id, body) VALUES (nextval('events_id_seq'), 'drawn by the statement');
UPDATE events SET id = id, body = upper(body) WHERE id = 1;
UPDATE events SET id = DEFAULT WHERE id = 2;
BEGIN;
SELECT snowdrift.hold('events');
SELECT pid = pg_backend_pid() AS is_own, gid, since = now() AS since, kind, generator, lowest = since AS lowest, query ~ 'holders' AS query FROM snowdrift.watermark_holders;
SELECT nextval('events_id_seq') AS drawn \gset
INSERT INTO events VALUES (:drawn, 'drawn after hold()');
SELECT count(*) FROM snowdrift.read_new(NULL::events, 7);    -- the transaction holds back its own rows
COMMIT;
SELECT * FROM snowdrift.read_new(NULL::events, 3);
SELECT count(*) FROM snowdrift.watermark_holders;
-- An ID above the sequence is readable when the sequence has passed it.
INSERT INTO events VALUES (12, 'ahead');
SELECT * FROM snowdrift.read_new(NULL::events, 8);
INSERT INTO events SELECT FROM generate_series(1, 2);
SELECT * FROM snowdrift.read_new(NULL::events, 8);
SELECT nextval('events_id_seq'), nextval('events_id_seq');
SELECT * FROM snowdrift.read_new(NULL::events, 10);
-- A position that is ahead
SELECT public.error_of($$SELECT snowdrift.read_new(NULL::feeds.events, 1000)$$);
SELECT public.error_of($$SELECT snowdrift.read_new(NULL::feeds.events, 'a')$$);
-- Drawn before the hold, in one statement
SELECT public.error_of($$DO 'DECLARE n bigint := nextval(''events_id_seq''); BEGIN INSERT INTO events VALUES (n); END'$$);
TRUNCATE events RESTART IDENTITY;
SELECT public.error_of($$SELECT snowdrift.read_new(NULL::feeds.events, 10)$$);
SELECT * FROM snowdrift.read_new(NULL::events);
INSERT INTO events DEFAULT VALUES;
SELECT id FROM snowdrift.read_new(NULL::events);
-- Snapshots
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT public.error_of($$SELECT snowdrift.read_new(NULL::feeds.events)$$);
COMMIT;
BEGIN READ ONLY;
SELECT id FROM snowdrift.read_new(NULL::events);
COMMIT;
-- What has changed since watch() is noticed.
SET client_min_messages = warning;
CREATE FUNCTION problem_after(change text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    message text;
    detail text;
BEGIN
    BEGIN
        EXECUTE change;
        PERFORM snowdrift.read_new(NULL::feeds.events);
        RAISE 'no error';
    EXCEPTION WHEN OTHERS THEN
        GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL;
    END;
    RETURN concat_ws(' ', message, detail);
END $$;
SELECT change, problem_after(change) FROM unnest(ARRAY['ALTER TABLE events DISABLE TRIGGER USER', 'ALTER TABLE events DISABLE TRIGGER ALL; ALTER TABLE events ENABLE TRIGGER ALL',
    'ALTER TABLE events ALTER id DROP DEFAULT', 'ALTER TABLE events ALTER id SET DEFAULT 7', 'CREATE SEQUENCE other; ALTER TABLE events ALTER id SET DEFAULT nextval(''other'')',
    'ALTER TABLE events ALTER id SET DEFAULT public.next_snowflake()', 'ALTER SEQUENCE events_id_seq CACHE 20', 'ALTER SEQUENCE events_id_seq INCREMENT -1', 'ALTER SEQUENCE events_id_seq CYCLE',
    'CREATE TABLE child () INHERITS (events)', 'DROP SEQUENCE events_id_seq CASCADE', 'SELECT snowdrift.unwatch(''events'')',
    'ALTER TABLE events ADD n bigserial', 'ALTER TABLE events RENAME id TO key; ALTER SEQUENCE events_id_seq RENAME TO numbers; ALTER TABLE events SET SCHEMA public',
    'ALTER TABLE events DROP body, ADD body_2 text']) AS change;
RESET client_min_messages;
CREATE TABLE copy (LIKE events INCLUDING ALL);
SELECT public.error_of($$SELECT snowdrift.read_new(NULL::feeds.copy)$$);
DROP TABLE copy;
SELECT snowdrift.unwatch('events');
SELECT public.error_of($$SELECT snowdrift.unwatch('events')$$);
SELECT public.error_of($$SELECT snowdrift.unwatch('events', 'id')$$);
INSERT INTO events VALUES (-7);
DROP TABLE events;

-- A hold has 39 bits of its number. Holds of other sequences do not count.
CREATE FUNCTION found_hold(number bigint, last bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    result bigint;
BEGIN
    BEGIN
        PERFORM pg_advisory_xact_lock_shared(snowdrift.hold_key(16384, number)), pg_advisory_xact_lock_shared(snowdrift.hold_key(16385, number - 7)),
            pg_advisory_xact_lock_shared(number), pg_advisory_xact_lock(snowdrift.hold_key(16384, number - 5));
        result := snowdrift.lowest_hold(16384, last);
        RAISE division_by_zero;
    EXCEPTION WHEN division_by_zero THEN
        RETURN result;
    END;
END $$;
SELECT number, last, found_hold(number, last) = number AS is_found
FROM (VALUES (0, 0), (1, 5), (5, 1), (549755813887, 549755813888), (549755813889, 549755813887), (1, 274877906944), (4611686018427387904, 4611686018427388904),
    (-5, 3), (-5, -7), (9223372036854775000, 9223372036854775807), (-9223372036854775000, -9223372036854774000)) AS v(number, last);
SELECT found_hold(0, 274877906945) = 0 AS is_found;    -- too far away
SELECT snowdrift.lowest_hold(16384, 0);

-- Identity columns, of smaller types, with names that must be quoted, in one sequence, with dropped and generated columns
CREATE TABLE "E v" (gone integer, "I d" integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, twice integer GENERATED ALWAYS AS (2 * 1) STORED);
ALTER TABLE "E v" DROP gone;
SELECT snowdrift.watch('"E v"');
INSERT INTO "E v" DEFAULT VALUES;
BEGIN;
SELECT snowdrift.hold('"E v"');
SELECT generator FROM snowdrift.watermark_holders;
INSERT INTO "E v" OVERRIDING SYSTEM VALUE VALUES (nextval(pg_get_serial_sequence('"E v"', 'I d')));
COMMIT;
SELECT * FROM snowdrift.read_new(NULL::"E v");
CREATE SEQUENCE one;
CREATE TABLE a (id integer DEFAULT nextval('one'), n smallserial);
CREATE TABLE b (id bigint DEFAULT nextval('one'));
SET plpgsql.extra_errors = 'all';
SELECT public.error_of($$SELECT snowdrift.watch('feeds.a')$$);
RESET plpgsql.extra_errors;
CREATE SEQUENCE doubles;
CREATE TABLE doubled (id bigint PRIMARY KEY DEFAULT nextval('feeds.doubles') * 2);
SELECT public.error_of($$SELECT snowdrift.watch('feeds.doubled')$$);
DROP TABLE doubled;
DROP SEQUENCE doubles;
CREATE VIEW seen AS SELECT * FROM a;
SELECT public.error_of($$SELECT snowdrift.hold('feeds.seen')$$);
SELECT public.error_of($$SELECT * FROM snowdrift.read_new(NULL::feeds.seen)$$);
DROP VIEW seen;
SELECT snowdrift.watch('a', 'id'), snowdrift.watch('b');
BEGIN;
INSERT INTO a DEFAULT VALUES;
INSERT INTO b DEFAULT VALUES;
SELECT count(*) FROM snowdrift.watermark_holders;
COMMIT;
SELECT * FROM snowdrift.read_new(NULL::a);
SELECT * FROM snowdrift.read_new(NULL::b);
SELECT snowdrift.watch('a', 'n');
SELECT public.error_of($$SELECT snowdrift.read_new(NULL::feeds.a)$$);
DROP TABLE a, b, "E v";
DROP SEQUENCE one;

-- What cannot be watched or read
CREATE TABLE c (id bigint PRIMARY KEY, t text, n numeric DEFAULT 1);
CREATE VIEW v AS SELECT * FROM c;
CREATE SEQUENCE bad INCREMENT -1 CACHE 1;
SELECT target, regexp_replace(public.error_of(format('SELECT snowdrift.watch(%s)', target)), 'of kind .*', 'of kind ...') AS error FROM unnest(ARRAY['''feeds.c''', '''feeds.c'', ''t''', '''feeds.c'', ''absent''', '''feeds.v'', ''id''', '0', 'NULL']) AS target;
ALTER TABLE c ALTER id SET DEFAULT nextval('bad');
SELECT change, public.error_of(format('ALTER SEQUENCE feeds.bad %s; SELECT snowdrift.watch(''feeds.c'')', change)) FROM unnest(ARRAY['NO CYCLE', 'INCREMENT 1 CYCLE', 'INCREMENT 1 NO CYCLE CACHE 2']) AS change;
SELECT row, public.error_of(format('SELECT snowdrift.read_new(%s)', row)) FROM unnest(ARRAY['NULL::integer', 'NULL::feeds.v', 'NULL::feeds.c']) AS row;
BEGIN READ ONLY;
SELECT public.error_of($$SELECT snowdrift.watch('feeds.c')$$);
COMMIT;
DROP VIEW v;
DROP TABLE c;
DROP SEQUENCE bad;

-- Expressions with other quotes
SET quote_all_identifiers = on;
CREATE TABLE quoted (id bigserial PRIMARY KEY);
SELECT snowdrift.watch('quoted');
INSERT INTO quoted DEFAULT VALUES;
SELECT * FROM snowdrift.read_new(NULL::quoted);
RESET quote_all_identifiers;
DROP TABLE quoted;

-- Partitions: through the parent
CREATE TABLE parts (id bigserial, k integer, PRIMARY KEY (id, k)) PARTITION BY LIST (k);
CREATE TABLE part_1 PARTITION OF parts FOR VALUES IN (1);
SELECT snowdrift.watch('parts');
CREATE TABLE part_2 PARTITION OF parts FOR VALUES IN (2);
INSERT INTO parts (k) VALUES (1), (2);
SELECT id, k FROM snowdrift.read_new(NULL::parts);
SELECT statement, public.error_of(statement) FROM unnest(ARRAY['INSERT INTO part_1 (k) VALUES (1)', 'INSERT INTO part_2 VALUES (nextval(''parts_id_seq''), 2)', 'UPDATE parts SET k = 2 WHERE k = 1',
    'SELECT snowdrift.read_new(NULL::part_1)']) AS statement;
BEGIN;
SELECT snowdrift.hold('parts');
INSERT INTO part_1 (k) VALUES (1);
COMMIT;
SELECT id, k FROM snowdrift.read_new(NULL::parts, 2);
SELECT public.error_of($$SELECT snowdrift.unwatch('part_1')$$);
SELECT public.error_of($$SELECT snowdrift.hold('part_1')$$);
SELECT public.error_of('SELECT snowdrift.hold(NULL)');
SELECT public.error_of('SELECT snowdrift.hold(4294967295::regclass)');
DROP TABLE parts;

-- Snowflakes
CREATE TABLE flakes (id bigint PRIMARY KEY DEFAULT next_snowflake(), body text);
SELECT snowdrift.watch('flakes');
INSERT INTO flakes (body) VALUES ('a'), ('b');
-- wait_until_readable(): until the time unit of the last ID has ended
CREATE FUNCTION wait_until_readable(n bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    WHILE (SELECT count(*) FROM snowdrift.read_new(NULL::feeds.flakes, max => NULL)) < n LOOP
    END LOOP;
END $$;
SELECT wait_until_readable(2);
SELECT body FROM snowdrift.read_new(NULL::flakes);
SELECT body FROM snowdrift.read_new(NULL::flakes, (SELECT id FROM flakes WHERE body = 'a'));
SELECT body FROM snowdrift.read_new(NULL::flakes, (SELECT id::text FROM flakes WHERE body = 'b'));
SELECT next_snowflake() AS drawn \gset
INSERT INTO flakes VALUES (DEFAULT, 'c');
SELECT wait_until_readable(3);
SELECT public.error_of(format('INSERT INTO feeds.flakes VALUES (%s)', :drawn)) ~ '^55000: ID [0-9]+ ' AS is_refused;
SELECT pg_sleep(0.002), next_snowflake() IS NOT NULL AS is_later;    -- in a later time unit than the last row
BEGIN;
SELECT next_snowflake() AS drawn \gset
INSERT INTO flakes VALUES (:drawn, 'drawn before the INSERT');
SELECT kind, generator, lowest IS NOT NULL AS lowest FROM snowdrift.watermark_holders;
SELECT count(*) FROM snowdrift.read_new(NULL::flakes);
SELECT snowdrift.hold('flakes');
COMMIT;
SELECT wait_until_readable(4);
SELECT body FROM snowdrift.read_new(NULL::flakes);
SELECT snowdrift.unwatch('flakes', 'id');
-- Another generator than the one that is watched
SET client_min_messages = warning;
SELECT snowdrift.create_generator('feed', 'snowflake');
RESET client_min_messages;
SELECT snowdrift.watch('flakes');
ALTER TABLE flakes ALTER id SET DEFAULT next_snowflake('feed');
SELECT public.error_of($$SELECT snowdrift.read_new(NULL::feeds.flakes)$$);
SELECT snowdrift.watch('flakes');
INSERT INTO flakes (body) VALUES ('of another generator');
SELECT wait_until_readable(5);
SELECT body FROM snowdrift.read_new(NULL::flakes, max => 9);
BEGIN;
INSERT INTO flakes DEFAULT VALUES;
SELECT kind, generator, lowest IS NOT NULL AS lowest FROM snowdrift.watermark_holders;
ROLLBACK;
SELECT public.error_of($$SELECT snowdrift.drop_generator('feed')$$) ~ '^2BP01' AS is_refused;
-- Programs that draw: without a default, the watch decides.
ALTER TABLE flakes ALTER id DROP DEFAULT;
SELECT snowdrift.unwatch('flakes');
SELECT public.error_of($$SELECT snowdrift.watch('feeds.flakes')$$);
SELECT snowdrift.watch('flakes', 'id');
INSERT INTO flakes VALUES (next_snowflake(), 'drawn by a program');
SELECT wait_until_readable(6);
-- A serial key that becomes Snowflakes is watched anew.
CREATE TABLE changing (id bigserial PRIMARY KEY);
SELECT snowdrift.watch('changing');
ALTER TABLE changing ALTER id SET DEFAULT next_snowflake();
SELECT snowdrift.watch('changing');
SELECT public.error_of($$SELECT snowdrift.read_new(NULL::feeds.changing)$$);
ALTER TABLE changing ALTER id SET DEFAULT nextval('changing_id_seq');
SELECT snowdrift.watch('changing');
INSERT INTO changing DEFAULT VALUES;
SELECT * FROM snowdrift.read_new(NULL::changing);
DROP TABLE changing, flakes;
SELECT snowdrift.drop_generator('feed');
-- A key that was null
CREATE SEQUENCE numbers;
CREATE TABLE nullable (id bigint DEFAULT nextval('numbers'));
SELECT snowdrift.watch('nullable');
INSERT INTO nullable VALUES (NULL), (DEFAULT);
SELECT public.error_of($$UPDATE feeds.nullable SET id = 0 WHERE id IS NULL$$) ~ '^55000: ID 0 of table "nullable" was not drawn' AS is_refused;
-- A sequence that was set to its next number: the last one is known.
DELETE FROM nullable;
SELECT setval('numbers', 9, false);
SELECT count(*) FROM snowdrift.read_new(NULL::nullable, 8);
SELECT public.error_of($$SELECT snowdrift.read_new(NULL::feeds.nullable, 9)$$);
INSERT INTO nullable DEFAULT VALUES;
SELECT * FROM snowdrift.read_new(NULL::nullable, 8);
-- The end of a type
CREATE TABLE ends (id smallserial);
SELECT snowdrift.watch('ends');
SELECT setval('ends_id_seq', 32766);
INSERT INTO ends DEFAULT VALUES;
SELECT * FROM snowdrift.read_new(NULL::ends);
SELECT * FROM snowdrift.read_new(NULL::ends, 32766);
SELECT count(*) FROM snowdrift.read_new(NULL::ends, 32767);
-- A partition whose triggers were disabled, and the watch of a partition alone
CREATE TABLE parts (id bigserial, k int) PARTITION BY LIST (k);
CREATE TABLE part PARTITION OF parts FOR VALUES IN (1);
SELECT public.error_of($$SELECT snowdrift.watch('feeds.part')$$);
SELECT snowdrift.watch('parts');
SELECT public.error_of($$INSERT INTO feeds.part VALUES (0, 1)$$);
ALTER TABLE part DISABLE TRIGGER ALL;
ALTER TABLE part ENABLE TRIGGER ALL;
SELECT public.error_of($$SELECT snowdrift.read_new(NULL::feeds.parts)$$);
SELECT snowdrift.watch('parts');
SELECT count(*) FROM snowdrift.read_new(NULL::parts);
-- hold() for a generator
CREATE TABLE ahead (id bigint DEFAULT next_snowflake());
SELECT snowdrift.watch('ahead');
BEGIN;
SELECT snowdrift.hold('ahead');
INSERT INTO ahead VALUES (snowflake_boundary(now() + interval '1 day'));
COMMIT;
-- A position at the present time
SELECT count(*) FROM snowdrift.read_new(NULL::ahead, snowflake_boundary(now()) - 1);
-- A watch names its generator.
SELECT snowdrift.create_generator('watched', 'snowflake', worker => 7);
ALTER TABLE ahead ALTER id SET DEFAULT next_snowflake('watched');
SELECT snowdrift.watch('ahead');
ALTER TABLE ahead ALTER id DROP DEFAULT;
SELECT public.error_of($$SELECT snowdrift.drop_generator('watched')$$) ~ '^2BP01' AS is_refused;
SET client_min_messages = warning;
SELECT snowdrift.drop_generator('watched', force => true);
RESET client_min_messages;
-- What cannot be watched: defaults that draw in another way, and columns of other types
CREATE DOMAIN numbered AS bigint DEFAULT nextval('numbers');
CREATE DOMAIN number AS bigint;
CREATE FUNCTION result_of(definition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    EXECUTE 'CREATE TABLE feeds.keyed (id ' || definition || ')';
    result := public.error_of($q$SELECT snowdrift.watch('feeds.keyed', 'id')$q$);
    DROP TABLE feeds.keyed;
    RETURN result;
END $$;
SET client_min_messages = warning;
CREATE FUNCTION app_next_snowflake() RETURNS bigint LANGUAGE sql RETURN next_snowflake('web');
SELECT definition, result_of(definition) FROM unnest(ARRAY['bigint DEFAULT nextval(''numbers''::text)', 'bigint DEFAULT nextval(''numbers'') + 0', 'numbered', 'bigint DEFAULT 7',
    'bigint DEFAULT next_snowflake() + 0', 'bigint DEFAULT next_snowflake(''web'') + 0', 'bigint DEFAULT app_next_snowflake()', 'bigint GENERATED ALWAYS AS (7) STORED', 'text DEFAULT nextval(''numbers'')::text', 'numeric DEFAULT nextval(''numbers'')', 'text DEFAULT next_snowflake()', 'numeric DEFAULT next_snowflake()',
    'varchar(30) DEFAULT next_snowflake()', 'double precision DEFAULT next_snowflake()', 'integer DEFAULT next_snowflake()']) AS definition;
SELECT definition, result_of(definition) = 'no error' AS is_watched FROM unnest(ARRAY['number DEFAULT nextval(''numbers'')', 'number DEFAULT next_snowflake()', 'number']) AS definition;
DROP FUNCTION app_next_snowflake;
-- A table that was watched before its default or its type changed
CREATE TABLE changed (id bigint DEFAULT next_snowflake());
SELECT snowdrift.watch('changed');
ALTER TABLE changed ALTER id SET DEFAULT nextval('numbers'::text);
SELECT public.error_of('SELECT snowdrift.read_new(NULL::feeds.changed)');
SELECT public.error_of($$SELECT snowdrift.hold('feeds.changed')$$);
RESET client_min_messages;
-- Programs that draw from a sequence
CREATE TABLE drawn (id bigint);
SELECT snowdrift.watch('drawn', 'id');
CREATE TABLE parent (id bigserial);
CREATE TABLE child () INHERITS (parent);
SELECT public.error_of($$SELECT snowdrift.watch('feeds.parent')$$);
RESET search_path;
SET client_min_messages = warning;
-- A partition whose numbers the partitioned table draws
CREATE TABLE months (id bigint GENERATED ALWAYS AS IDENTITY, at date NOT NULL, PRIMARY KEY (id, at)) PARTITION BY RANGE (at);
CREATE TABLE months_2026 PARTITION OF months FOR VALUES FROM ('2026-01-01') TO ('2027-01-01');
SELECT public.error_of($$SELECT snowdrift.watch('months_2026', 'id')$$);
SELECT public.error_of($$SELECT snowdrift.watch('months_2026')$$) ~ 'Watch the partitioned table' AS is_told;
SELECT public.error_of($$SELECT snowdrift.unwatch('months')$$);
DROP TABLE months;
-- A prepared statement that names the table in a subquery notices that columns and tables were replaced.
CREATE TABLE replaced (id bigserial PRIMARY KEY, body text);
SELECT snowdrift.watch('replaced');
INSERT INTO replaced (body) VALUES ('old');
PREPARE whole AS SELECT * FROM snowdrift.read_new((SELECT replaced FROM replaced WHERE false), $1);
PREPARE page AS SELECT body FROM snowdrift.read_new((SELECT replaced FROM replaced WHERE false), $1);
EXECUTE whole(0);
EXECUTE page(0);
ALTER TABLE replaced RENAME body TO old_body;
ALTER TABLE replaced ADD body text DEFAULT 'new';
EXECUTE whole(0);
EXECUTE page(0);
ALTER TABLE replaced RENAME TO old_replaced;
CREATE TABLE replaced (id bigserial PRIMARY KEY, body text);
SELECT snowdrift.watch('replaced');
INSERT INTO replaced (body) VALUES ('newest');
EXECUTE page(0);
DEALLOCATE whole;
DEALLOCATE page;
DROP TABLE replaced, old_replaced;
-- A watched key that is converted, and converted back
CREATE TABLE converted (id serial PRIMARY KEY, body text);
CREATE TABLE converted_big (id bigserial PRIMARY KEY, body text);
SELECT snowdrift.watch('converted'), snowdrift.watch('converted_big');
INSERT INTO converted (body) VALUES ('serial');
INSERT INTO converted_big (body) VALUES ('serial');
SELECT public.error_of($$SELECT snowdrift.convert_keys('{converted}')$$);
INSERT INTO converted (body) VALUES ('Snowflake');
SELECT public.error_of('SELECT snowdrift.read_new(NULL::converted)');
SET client_min_messages = notice;
SELECT * FROM snowdrift.convert_keys('{converted_big}');
SET client_min_messages = warning;
SELECT split_part(public.error_of('INSERT INTO converted_big VALUES (1000)'), ':', 1);
INSERT INTO converted_big (body) VALUES ('Snowflake');
SELECT max(id) AS last FROM converted_big \gset
DELETE FROM converted_big;
SELECT next_snowflake() AS drawn \gset
SELECT * FROM snowdrift.revert_keys('{converted_big}');
SELECT split_part(public.error_of(format('INSERT INTO converted_big VALUES (%s)', :drawn)), ':', 1);
INSERT INTO converted_big (body) VALUES ('identity');
SELECT currval(pg_get_serial_sequence('converted_big', 'id')) = max(id) AS is_latest FROM converted_big;
SELECT body FROM snowdrift.read_new(NULL::converted_big, :last);
DROP TABLE converted, converted_big;
DROP SEQUENCE converted_big_id_seq;
-- A key that is converted back while it is not watched
CREATE TABLE unwatched (id bigint PRIMARY KEY DEFAULT next_snowflake(), body text);
INSERT INTO unwatched (body) VALUES ('a'), ('b');
SELECT max(id) AS last FROM unwatched \gset
DELETE FROM unwatched WHERE id = :last;
SELECT count(*) FROM snowdrift.revert_keys('{unwatched}');
SELECT snowdrift.watch('unwatched');
INSERT INTO unwatched (body) VALUES ('new');
SELECT body FROM snowdrift.read_new(NULL::unwatched, :last);
DROP TABLE unwatched;
-- New IDs that are not above the numbers of a sequence, whose rows readers may have passed before they were deleted
CREATE TABLE changed (id bigserial PRIMARY KEY);
SELECT setval('changed_id_seq', 9000000000000000000);
SELECT regexp_replace(public.error_of($$SELECT snowdrift.convert_keys('{changed}')$$), 'ID is \d+', 'ID is ...');
DROP TABLE changed;
CREATE TABLE changed (id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (START 9000000000000000000));
SELECT setval('changed_id_seq', 9000000000000000000);
SELECT regexp_replace(public.error_of($$SELECT snowdrift.convert_keys('{changed}')$$), 'ID is \d+', 'ID is ...');
DROP TABLE changed;
CREATE TABLE halves (id bigint PRIMARY KEY DEFAULT next_snowflake()) PARTITION BY RANGE (id);
CREATE TABLE half PARTITION OF halves DEFAULT;
SELECT snowdrift.watch('half');
SELECT public.error_of($$SELECT snowdrift.revert_keys('{halves}', dry_run => true)$$);
DROP TABLE halves;
-- IDs of types without a watermark
CREATE TABLE texts (id text PRIMARY KEY DEFAULT 'a');
SELECT split_part(public.error_of($$SELECT snowdrift.watch('texts', 'id')$$), E'\n', 1);
DROP TABLE texts;
-- a sequence that has returned its last number
CREATE TABLE used_up (id bigserial PRIMARY KEY);
SELECT snowdrift.watch('used_up');
INSERT INTO used_up DEFAULT VALUES;
SELECT setval('used_up_id_seq', 9223372036854775807);
SELECT id FROM snowdrift.read_new(NULL::used_up);
DROP TABLE used_up;
-- Watermarks of temporary tables are not published: no other session reads them.
BEGIN;
CREATE TEMPORARY TABLE passing (id serial PRIMARY KEY);
SET LOCAL client_min_messages = error;    -- other tables
SELECT snowdrift.watch('passing'), snowdrift.publish_watermarks();
SELECT count(*) FROM snowdrift.published_watermarks WHERE "table" = 'passing'::regclass;
ROLLBACK;
-- hold() of a table that is not watched, as during a conversion
CREATE TABLE unheld (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY);
BEGIN;
SELECT snowdrift.hold('unheld');
SELECT count(*) FROM snowdrift.watermark_holders;
COMMIT;
-- The three triggers of a watch are one obstacle.
SELECT snowdrift.watch('unheld');
SELECT public.error_of($$SELECT snowdrift.convert_keys('{unheld}')$$);
DROP TABLE unheld;
-- A generator that does not exist
CREATE TABLE misspelled (id bigint DEFAULT next_snowflake('evnts'));
SELECT public.error_of($$SELECT snowdrift.watch('misspelled')$$);
DROP TABLE misspelled;
DROP SCHEMA feeds CASCADE;
