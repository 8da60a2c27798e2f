-- Watermarks: their functions, and what they accept. Concurrent transactions are in specs/watermark_readers.spec,
-- watermark_statement.spec and watch.spec.
SET client_min_messages = warning;    -- equal_ids.sql has the notices of new generators
SELECT oid::regprocedure AS function, provolatile, proparallel, proisstrict FROM pg_proc
WHERE proname IN ('snowflake_watermark', 'ulid_watermark', 'uuidv7_watermark', 'watch', 'unwatch', 'hold_row')
    AND (pronamespace = 'snowdrift'::regnamespace OR proname ~ '_watermark$')
ORDER BY oid::regprocedure::text COLLATE "C";
SELECT snowflake_watermark(NULL) IS NULL AS is_strict;

-- IDs are ahead of the clock for up to three seconds after the server has started.
DO $$ BEGIN WHILE snowflake_timestamp(snowflake_watermark()) > clock_timestamp() LOOP PERFORM pg_sleep(0.01); END LOOP; END $$;

-- The watermark is the first ID of a time unit. All IDs that were drawn in ended transactions are below it, as soon as the
-- clock has left their unit, and all IDs that will be drawn are not.
SELECT snowdrift.create_generator('feed', 'snowflake'),
    snowdrift.create_generator('seconds', 'snowflake', layout => 'epoch=2020-01-01T00:00:00Z unit=1s timestamp=38 worker=5 sequence=18', worker => 1),
    snowdrift.create_generator('early', 'snowflake', layout => 'epoch=1970-01-01T00:00:00Z timestamp=45 worker=6 sequence=12'),
    snowdrift.create_generator('snos', 'sno');
-- create_generator() refuses a layout that has not begun.
INSERT INTO snowdrift_tables.generator (name, kind, layout, sequence_min, sequence_max)
    VALUES ('future', 'snowflake', 'epoch=2999-01-01T00:00:00Z timestamp=41 worker=10 sequence=12', 0, 4095);
CREATE TABLE events AS SELECT next_snowflake() AS id, next_snowflake('feed') AS feed, next_ulid() AS ulid, next_uuidv7() AS uuid;
-- A new generator starts after all others. One with a longer time unit can be further ahead than the default ones.
DO $$ BEGIN WHILE clock_timestamp() < (SELECT greatest(snowflake_timestamp(id), snowflake_timestamp(feed), ulid_timestamp(ulid),
    uuidv7_timestamp(uuid)) FROM events) + interval '1 ms' LOOP PERFORM pg_sleep(0.001); END LOOP; END $$;
SELECT id < snowflake_watermark() AS id, feed < snowflake_watermark('feed') AS feed, ulid < ulid_watermark() AS ulid,
    uuid < uuidv7_watermark() AS uuid FROM events;
SELECT snowflake_watermark() <= next_snowflake() AS id, snowflake_watermark('feed') <= next_snowflake('feed') AS feed,
    ulid_watermark() <= next_ulid() AS ulid, uuidv7_watermark() <= next_uuidv7() AS uuid;
-- each statement of a transaction has its own
BEGIN;
SELECT snowflake_watermark() AS first \gset
SELECT pg_sleep(0.005);
SELECT snowflake_watermark() > :first AS is_later;
COMMIT;
SELECT snowflake_sequence(snowflake_watermark()) AS sequence, snowflake_worker(snowflake_watermark()) AS worker;
-- rows of a long time unit are readable when it has ended
SELECT snowflake_watermark('seconds') <= next_snowflake('seconds') AS unit_is_open;
-- its unit is ahead of the clock, too
DO $$ BEGIN WHILE snowflake_timestamp(snowflake_watermark('seconds'), 'epoch=2020-01-01T00:00:00Z unit=1s timestamp=38 worker=5 sequence=18')
    > clock_timestamp() LOOP PERFORM pg_sleep(0.01); END LOOP; END $$;
SELECT snowflake_timestamp(snowflake_watermark('seconds'), 'epoch=2020-01-01T00:00:00Z unit=1s timestamp=38 worker=5 sequence=18')
    BETWEEN now() - interval '1 s' AND clock_timestamp() AS at_beginning_of_unit;
-- a layout that has not begun: an error, because its first ID would move the mark far ahead of the clock
SELECT error_of($$SELECT snowflake_watermark('future')$$) ~ '^55000: layout ".*" has not begun' AS has_not_begun;
SELECT lead < '1 min' AS is_of_present, snowdrift.create_generator('later', 'snowflake') FROM snowdrift.clock;
-- The hold is published before the draw: a draw that fails leaves one.
BEGIN;
SELECT error_of($$SELECT next_snowflake('future')$$) ~ '^55000' AS is_before_epoch;
SELECT kind, generator, lowest FROM snowdrift.watermark_holders;
ROLLBACK;
-- generators whose ids are equal modulo 61: the hold of one that is ahead of the clock does not suffice for the other
DO $$ BEGIN FOR i IN 1 .. (SELECT 60 - max(id) + min(id) FROM snowdrift_tables.generator WHERE name IN ('future', 'later')) LOOP
    PERFORM snowdrift.create_generator('between', 'snowflake'), snowdrift.drop_generator('between'); END LOOP; END $$;
SELECT snowdrift.create_generator('sharing', 'snowflake');
SELECT (max(id) - min(id)) % 61 AS difference FROM snowdrift_tables.generator WHERE name IN ('future', 'sharing');
CREATE TABLE futures (id bigint DEFAULT next_snowflake('future'));
-- as watch() does
CREATE TRIGGER hold AFTER INSERT OR UPDATE OF id ON futures FOR EACH ROW EXECUTE FUNCTION snowdrift.hold_row('future');
ALTER TABLE futures ENABLE ALWAYS TRIGGER hold;
INSERT INTO futures VALUES (0);
SELECT next_snowflake('sharing') > 0 AS drawn;
BEGIN;
INSERT INTO futures VALUES (0);
SELECT next_snowflake('sharing') AS id \gset
SELECT pg_sleep(0.005);
SELECT :id >= snowflake_watermark('sharing') AS held;
ROLLBACK;
DROP TABLE futures;
SELECT snowdrift.drop_generator('sharing');
SELECT error_of($$SELECT snowflake_watermark('absent')$$);
SELECT error_of($$SELECT snowflake_watermark('snos')$$);
-- own IDs hold it back, also in a transaction that is rolled back to a savepoint
BEGIN;
SAVEPOINT before;
INSERT INTO events (id) VALUES (next_snowflake());
ROLLBACK TO before;
INSERT INTO events (id) VALUES (next_snowflake());
SELECT pg_sleep(0.005);
SELECT count(*) AS unreadable FROM events WHERE id >= snowflake_watermark();
SELECT pid = pg_backend_pid() AS own, gid, since = now() AS since, kind, generator, lowest <= clock_timestamp() AS lowest,
    query ~ 'watermark_holders' AS query FROM snowdrift.watermark_holders;
SELECT next_snowflake('feed') > 0, next_ulid() IS NOT NULL, next_uuidv7() IS NOT NULL;
SELECT kind, generator FROM snowdrift.watermark_holders ORDER BY 1, 2;
-- later draws from other generators do not move the hold
SELECT count(*) AS unreadable FROM events WHERE id >= snowflake_watermark();
COMMIT;
SELECT count(*) FROM snowdrift.watermark_holders;

-- The watermark is a condition of index scans, also of generic plans.
CREATE TABLE orders (id bigint PRIMARY KEY);
CREATE TABLE visits (id ulid PRIMARY KEY);
CREATE TABLE people (id uuid PRIMARY KEY);
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT * FROM explain('SELECT * FROM orders WHERE id > 1 AND id < snowflake_watermark() ORDER BY id LIMIT 1000');
SELECT * FROM explain($$SELECT * FROM orders WHERE id > 1 AND id < snowflake_watermark('feed') ORDER BY id LIMIT 1000$$);
SELECT * FROM explain($$SELECT * FROM visits WHERE id > '00000000000000000000000000' AND id < ulid_watermark() ORDER BY id LIMIT 1000$$);
SELECT * FROM explain($$SELECT * FROM people WHERE id > '00000000-0000-0000-0000-000000000000' AND id < uuidv7_watermark() ORDER BY id LIMIT 1000$$);
SET plan_cache_mode = force_generic_plan;
PREPARE page(bigint, int) AS SELECT * FROM orders WHERE id > $1 AND id < snowflake_watermark() ORDER BY id LIMIT $2;
SELECT * FROM explain('EXECUTE page(1, 1000)');
RESET plan_cache_mode;
RESET enable_seqscan;
RESET enable_bitmapscan;
DEALLOCATE page;

-- A parallel worker neither draws IDs, which the leader can insert, nor reads watermarks.
CREATE FUNCTION draw() RETURNS bigint STABLE PARALLEL SAFE LANGUAGE plpgsql AS 'BEGIN RETURN next_snowflake(); END';
CREATE FUNCTION read() RETURNS bigint STABLE PARALLEL SAFE LANGUAGE plpgsql AS 'BEGIN RETURN snowflake_watermark(); END';
CREATE TABLE numbers AS SELECT n FROM generate_series(1, 1000) AS n;
BEGIN;
SELECT set_config(name, '0', true) AS value FROM unnest('{parallel_setup_cost,parallel_tuple_cost,min_parallel_table_scan_size}'::text[]) AS name;
SET LOCAL parallel_leader_participation = off;
SELECT error_of('SELECT n FROM numbers WHERE draw() < n'), error_of('SELECT n FROM numbers WHERE read() < n') AS read;
COMMIT;
SELECT count(*) AS holders FROM snowdrift.watermark_holders;
DROP FUNCTION draw, read;

-- watched columns
CREATE DOMAIN key AS bigint;
CREATE TABLE watched (name text, id bigint DEFAULT next_snowflake(), feed bigint DEFAULT next_snowflake('feed'), early bigint DEFAULT next_snowflake('early'),
    key key, ulid ulid, uuid uuid, sno sno);
SELECT snowdrift.watch('watched', c) FROM unnest('{id,feed,early,key,ulid,uuid}'::name[]) AS c;
SELECT snowdrift.watch('watched', 'id');    -- again
CREATE VIEW watches AS SELECT tgrelid::regclass AS "table", tgenabled, tgisinternal OR tgparentid <> 0 AS of_parent,
    regexp_replace(pg_get_triggerdef(oid), '_\d{5,}_', '_OID_') AS definition, encode(tgargs, 'escape') AS generator
    FROM pg_trigger WHERE tgfoid = 'snowdrift.hold_row'::regproc;
SELECT tgenabled, definition FROM watches WHERE "table" = 'watched'::regclass ORDER BY definition;
INSERT INTO watched (name, ulid, uuid) VALUES ('drawn', next_ulid(), next_uuidv7());
SELECT pg_sleep(0.005);
SELECT snowflake_watermark() > 0 AS id, snowflake_watermark('feed') > 0 AS feed, snowflake_watermark('early') > 0 AS early,
    ulid_watermark() IS NOT NULL AS ulid, uuidv7_watermark() IS NOT NULL AS uuid;
-- refused(STATEMENT): the statement's error, without times
CREATE FUNCTION refused(statement text) RETURNS text LANGUAGE sql AS
    $$ SELECT regexp_replace(error_of(statement), '\d{4}-\d\d-\d\d [^,]*', 'TIME') $$;
SELECT refused(format('INSERT INTO watched (%I) VALUES (%L)', c, id)) FROM (VALUES ('id', '1'), ('id', '-1'), ('feed', '2'),
    ('early', '3'), ('early', '-3'), ('key', '4'), ('ulid', '01ARZ3NDEKTSV4RRFFQ69G5FAV'), ('uuid', '017f22e2-79b0-7cc3-98c4-dc0c0c07398f')) AS ids(c, id);
SELECT refused('UPDATE watched SET id = 5'), refused('UPDATE watched SET id = id') AS same_id, refused('UPDATE watched SET name = name') AS other_column;
-- a row is refused again after a rollback to a savepoint
BEGIN;
INSERT INTO watched (name) VALUES ('drawn');
SELECT refused('INSERT INTO watched (id) VALUES (1)'), refused('INSERT INTO watched (id) VALUES (1)') AS again;
COMMIT;
-- a hold of one generator does not admit old rows of another one
BEGIN;
SELECT next_ulid() IS NOT NULL AS drawn;
SELECT pg_sleep(0.01);
CREATE TEMP TABLE old AS SELECT make_snowflake(clock_timestamp() - interval '4 ms', 0, 0, 0) AS id;
SELECT snowflake_watermark() > 0 AS read;
SELECT next_snowflake() > 0 AS drawn;
SELECT regexp_replace(refused(format('INSERT INTO watched (id) VALUES (%s)', id)), '\d{18}', 'ID') FROM old;
ROLLBACK;
-- NULL and IDs of the future are accepted; UUIDs of other versions are not
INSERT INTO watched (id, feed, early, uuid) VALUES (NULL, NULL, NULL, NULL);
SELECT refused($$INSERT INTO watched (uuid) VALUES ('00000000-0000-4000-8000-000000000000')$$);
INSERT INTO watched (id) VALUES (make_snowflake(now() + interval '1 hour', 0, 0, 0));
-- watch() reads the watermark; while nobody has, a negative ID holds it back at the layout's first ID, and does not prevent draws
BEGIN;
CREATE FUNCTION create_1970() RETURNS void LANGUAGE sql AS $$
    SELECT snowdrift.create_generator('1970', 'snowflake', layout => 'epoch=1970-01-01T00:00:00Z timestamp=42 worker=9 sequence=12') $$;
SELECT create_1970();
CREATE TABLE old_keys (id bigint DEFAULT next_snowflake('1970'));
SELECT snowdrift.watch('old_keys', 'id');
SELECT refused('INSERT INTO old_keys VALUES (-5)');
SELECT snowdrift.drop_generator('1970', force => true), create_1970();
INSERT INTO old_keys VALUES (-5);
SELECT snowflake_watermark('1970');
SELECT next_ulid() IS NOT NULL AND next_uuidv7() IS NOT NULL AS drawn;
SELECT ulid_watermark(), uuidv7_watermark();
INSERT INTO old_keys DEFAULT VALUES;
ROLLBACK;
-- a renamed column stays watched
ALTER TABLE watched RENAME id TO number;
SELECT refused('INSERT INTO watched (number) VALUES (1)');
SELECT snowdrift.unwatch('watched', 'number');
INSERT INTO watched (number) VALUES (1);
SELECT error_of($$SELECT snowdrift.unwatch('watched', 'number')$$);
SELECT error_of($$SELECT snowdrift.watch('watched', 'absent')$$);
SELECT error_of($$SELECT snowdrift.watch('watched', 'ctid')$$);
SELECT error_of($$SELECT snowdrift.watch('watched', 'name')$$);
SELECT error_of($$SELECT snowdrift.watch('watched', 'sno')$$);
SELECT error_of($$SELECT snowdrift.watch(0, 'id')$$);
SELECT error_of($$SELECT snowdrift.watch(NULL, 'id')$$);
BEGIN READ ONLY;
SELECT error_of($$SELECT snowdrift.watch('watched', 'feed')$$);
ROLLBACK;
-- the watch of a column is found whatever its name, such as in a restored dump of a table that had dropped columns
CREATE TABLE restored (a bigint, b bigint);
SELECT snowdrift.watch('restored', 'b');
DO $$ BEGIN EXECUTE format('ALTER TRIGGER snowdrift_watermark_%s_2 ON restored RENAME TO snowdrift_watermark_16384_1', 'restored'::regclass::oid); END $$;
SELECT snowdrift.watch('restored', c) FROM unnest('{a,b}'::name[]) AS c;
SELECT definition FROM watches WHERE "table" = 'restored'::regclass ORDER BY definition;
SELECT refused('INSERT INTO restored (a) VALUES (1)'), refused('INSERT INTO restored (b) VALUES (1)') AS b;
SELECT snowdrift.unwatch('restored', 'b');
SELECT refused('INSERT INTO restored (a) VALUES (1)'), refused('INSERT INTO restored (b) VALUES (1)') AS b;
CREATE VIEW watched_view AS SELECT * FROM watched;
SELECT error_of($$SELECT snowdrift.watch('watched_view', 'feed')$$) ~ '^42809' AS views_are_refused;
DROP VIEW watched_view;

-- partitioned tables, whose partitions have other columns
CREATE TABLE parts (id bigint DEFAULT next_snowflake(), name text) PARTITION BY RANGE (id);
CREATE TABLE past (name text, dropped int, id bigint);
ALTER TABLE past DROP dropped;
ALTER TABLE parts ATTACH PARTITION past FOR VALUES FROM (MINVALUE) TO (1000);
SELECT snowdrift.watch('parts', 'id');
CREATE TABLE present PARTITION OF parts FOR VALUES FROM (1000) TO (MAXVALUE);
INSERT INTO parts (name) VALUES ('drawn');
SELECT pg_sleep(0.005);
SELECT snowflake_watermark() > 0 AS read;
SELECT refused('INSERT INTO parts VALUES (1)'), refused('INSERT INTO past (id) VALUES (1)') AS directly, refused('INSERT INTO present VALUES (1001)') AS new_one,
    refused('UPDATE parts SET id = 1') AS moved;
SELECT snowdrift.unwatch('parts', 'id');
INSERT INTO parts VALUES (1);

-- a partition can have a watch of its own, whichever is created first, and whenever it is attached
CREATE TABLE whole (id bigint, other bigint) PARTITION BY RANGE (id);
CREATE TABLE part (other bigint, id bigint);
SELECT snowdrift.watch('part', 'other');
ALTER TABLE whole ATTACH PARTITION part FOR VALUES FROM (0) TO (1000);
SELECT snowdrift.watch('part', 'id');
SELECT snowdrift.watch('whole', 'id');
CREATE TABLE later (id bigint, other bigint);
SELECT snowdrift.watch('later', 'id');
ALTER TABLE whole ATTACH PARTITION later FOR VALUES FROM (1000) TO (2000);
CREATE TABLE latest PARTITION OF whole DEFAULT;
-- a restored dump can contain the name of another table's trigger
DO $$ BEGIN EXECUTE format('ALTER TRIGGER snowdrift_watermark_%s_1 ON whole RENAME TO snowdrift_watermark_%s_1', 'whole'::regclass::oid, 'latest'::regclass::oid); END $$;
SELECT snowdrift.watch('latest', 'id');
SELECT snowdrift.watch('latest', 'id');    -- again
SELECT "table", definition, of_parent FROM watches WHERE "table" IN ('whole'::regclass, 'part', 'later', 'latest') ORDER BY "table"::text, of_parent, definition;
SELECT refused('INSERT INTO part (other) VALUES (1)'), refused('INSERT INTO whole VALUES (1000)') AS of_whole;
SELECT snowdrift.unwatch(name, 'id') FROM unnest('{part,latest}'::regclass[]) AS name;
SELECT error_of($$SELECT snowdrift.unwatch('latest', 'id')$$) ~ 'unwatch that one' AS of_parent;
SELECT refused('INSERT INTO part (id) VALUES (1)');

-- The generator of a watch is that of the column's default, or of its domain's; otherwise, a notice states the default one.
CREATE DOMAIN feed_key AS bigint DEFAULT next_snowflake('feed');
CREATE TABLE keyed (id feed_key, key key, ulid ulid);
SET client_min_messages = notice;
SELECT snowdrift.watch('keyed', c) FROM unnest('{id,key,ulid}'::name[]) AS c;
SET client_min_messages = warning;
SELECT definition, generator FROM watches WHERE "table" = 'keyed'::regclass ORDER BY definition;
DROP TABLE keyed;
DROP DOMAIN feed_key;

-- its function can't be used by triggers that users create
CREATE TABLE plain (id bigint, name text);
CREATE TRIGGER before BEFORE INSERT ON plain FOR EACH ROW EXECUTE FUNCTION snowdrift.hold_row();
SELECT error_of('INSERT INTO plain VALUES (1)');
DROP TRIGGER before ON plain;
CREATE TRIGGER statement AFTER INSERT ON plain FOR EACH STATEMENT EXECUTE FUNCTION snowdrift.hold_row();
SELECT error_of('INSERT INTO plain VALUES (1)');
DROP TRIGGER statement ON plain;
CREATE TRIGGER no_column AFTER INSERT ON plain FOR EACH ROW EXECUTE FUNCTION snowdrift.hold_row();
SELECT error_of('INSERT INTO plain VALUES (1)');
DROP TRIGGER no_column ON plain;
CREATE TRIGGER deletes AFTER DELETE OR UPDATE OF id ON plain FOR EACH ROW EXECUTE FUNCTION snowdrift.hold_row();
INSERT INTO plain VALUES (1);
SELECT error_of('DELETE FROM plain');
DROP TRIGGER deletes ON plain;
CREATE TRIGGER of_text AFTER INSERT OR UPDATE OF name ON plain FOR EACH ROW EXECUTE FUNCTION snowdrift.hold_row();
SELECT error_of($$INSERT INTO plain VALUES (1, 'x')$$);
DROP TRIGGER of_text ON plain;
CREATE TRIGGER arguments AFTER INSERT OR UPDATE OF id ON plain FOR EACH ROW EXECUTE FUNCTION snowdrift.hold_row('feed', 'more');
SELECT error_of('INSERT INTO plain VALUES (1)');
DROP TRIGGER arguments ON plain;
CREATE TRIGGER of_sno AFTER INSERT OR UPDATE OF sno ON watched FOR EACH ROW EXECUTE FUNCTION snowdrift.hold_row();
SELECT error_of('INSERT INTO watched (sno) VALUES (next_sno())');
DROP TRIGGER of_sno ON watched;
SELECT error_of('SELECT snowdrift.hold_row()');

-- privileges: any role reads watermarks, and the owner of a table watches it
CREATE ROLE snowdrift_reader;
CREATE TABLE foreign_table (id bigint);
GRANT ALL ON foreign_table TO snowdrift_reader;
SET ROLE snowdrift_reader;
SELECT snowflake_watermark() > 0 AS reads, count(*) AS holders FROM snowdrift.watermark_holders;
SELECT error_of($$SELECT snowdrift.watch('foreign_table', 'id')$$);
SELECT error_of($$SELECT snowdrift.unwatch('foreign_table', 'id')$$);
RESET ROLE;
SELECT snowdrift.watch('foreign_table', 'id');
SET ROLE snowdrift_reader;
INSERT INTO foreign_table VALUES (next_snowflake());
SELECT refused('INSERT INTO foreign_table VALUES (1)') ~ '^55000' AS refused;
RESET ROLE;

-- A trigger does not see the values of a virtual generated column, which PostgreSQL 18 introduced.
DO $$
BEGIN
    IF current_setting('server_version_num')::int >= 180000 THEN
        EXECUTE 'CREATE TABLE virtual (raw text, id uuid GENERATED ALWAYS AS (raw::uuid) VIRTUAL)';
        BEGIN
            PERFORM snowdrift.watch('virtual', 'id');
            RAISE 'the column is watched';
        EXCEPTION WHEN feature_not_supported THEN
            DROP TABLE virtual;
        END;
    END IF;
END $$;
DROP FUNCTION refused;
DROP VIEW watches;
DROP TABLE IF EXISTS events, orders, visits, people, numbers, watched, restored, parts, whole, plain, foreign_table;
DROP DOMAIN key;
DROP ROLE snowdrift_reader;
SELECT snowdrift.drop_generator(name) FROM unnest('{feed,seconds,early,future,later,snos}'::text[]) AS name;
