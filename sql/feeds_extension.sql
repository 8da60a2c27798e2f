-- Reading new rows of tables whose IDs the library draws: without a watch, and of types that the SQL edition lacks
\set SHOW_CONTEXT never
CREATE FUNCTION wait_until_readable(query text, n bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    found bigint := 0;
BEGIN
    WHILE found < n LOOP
        EXECUTE format('SELECT count(*) FROM (%s) AS rows', query) INTO found;
    END LOOP;
END $$;
SET client_min_messages = warning;
SELECT snowdrift.create_generator('orders', 'snowflake');
RESET client_min_messages;
CREATE TABLE flakes (id bigint PRIMARY KEY DEFAULT next_snowflake(), body text);
CREATE TABLE orders (id bigint PRIMARY KEY DEFAULT next_snowflake('orders'), body text);
CREATE TABLE ulids (id ulid PRIMARY KEY DEFAULT next_ulid(), body text);
CREATE TABLE uuids (id uuid PRIMARY KEY DEFAULT next_uuidv7(), body text);
CREATE TABLE snos (id sno PRIMARY KEY DEFAULT next_sno(), body text);
CREATE TABLE random (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), body text);
-- A notice tells once per session that a table is not watched.
SELECT * FROM snowdrift.read_new(NULL::flakes);
SELECT * FROM snowdrift.read_new(NULL::flakes);
SET client_min_messages = warning;
INSERT INTO flakes (body) VALUES ('a'), ('b');
INSERT INTO orders (body) VALUES ('a'), ('b');
INSERT INTO ulids (body) VALUES ('a'), ('b');
INSERT INTO uuids (body) VALUES ('a'), ('b');
SELECT wait_until_readable(format('SELECT FROM snowdrift.read_new(NULL::%I)', t), 2) FROM unnest('{flakes,orders,ulids,uuids}'::text[]) AS t;
SELECT body FROM snowdrift.read_new(NULL::flakes, (SELECT min(id) FROM flakes));
SELECT body FROM snowdrift.read_new(NULL::orders, (SELECT min(id) FROM orders));
SELECT body FROM snowdrift.read_new(NULL::ulids, (SELECT min(id) FROM ulids));
SELECT body FROM snowdrift.read_new(NULL::ulids, (SELECT min(id)::text FROM ulids));
SELECT body FROM snowdrift.read_new(NULL::uuids, (SELECT id FROM uuids ORDER BY id LIMIT 1));
SELECT body FROM snowdrift.read_new(NULL::uuids, max => 1);
PREPARE of_ulids AS SELECT body FROM snowdrift.read_new(NULL::ulids, $1);
PREPARE of_uuids AS SELECT body FROM snowdrift.read_new(NULL::uuids, $1);
EXECUTE of_ulids (NULL);
EXECUTE of_ulids ('00000000000000000000000000');
EXECUTE of_uuids ('00000000-0000-0000-0000-000000000000');
-- The library knows the holds of each snapshot.
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT body FROM snowdrift.read_new(NULL::flakes);
COMMIT;
BEGIN;
INSERT INTO orders (body) VALUES ('c');
SELECT body FROM snowdrift.read_new(NULL::orders);
SELECT kind, generator FROM snowdrift.watermark_holders;
SELECT snowdrift.hold('orders');
COMMIT;
-- A watch with an argument that has no default, and tables that have no watermark
SELECT snowdrift.watch('flakes'), snowdrift.watch('orders'), snowdrift.watch('ulids'), snowdrift.watch('uuids');
BEGIN;
SELECT snowdrift.hold('orders'), snowdrift.hold('ulids'), snowdrift.hold('uuids');
SELECT kind, generator FROM snowdrift.watermark_holders ORDER BY 1;
COMMIT;
SELECT tgrelid::regclass, encode(tgargs, 'escape') FROM pg_trigger WHERE tgfoid = 'snowdrift.hold_row'::regproc ORDER BY tgrelid;
SELECT error_of(format('SELECT snowdrift.%s', call)) FROM unnest(ARRAY['watch(''snos'')', 'read_new(NULL::snos)', 'watch(''random'')', 'read_new(NULL::random)']) AS call;
SELECT error_of($$SELECT snowdrift.watch('random', 'id')$$);
-- Defaults that draw in another way, and columns of other types
CREATE FUNCTION public.gen_random_uuid() RETURNS uuid LANGUAGE sql AS 'SELECT pg_catalog.gen_random_uuid()';
CREATE FUNCTION refusals(definition text, OUT watch text, OUT read_new text) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE 'CREATE TABLE keyed (id ' || definition || ')';
    watch := error_of($q$SELECT snowdrift.watch('keyed', 'id')$q$);
    read_new := error_of('SELECT snowdrift.read_new(NULL::keyed)');
    DROP TABLE keyed;
END $$;
SELECT definition, r.* FROM unnest(ARRAY['uuid DEFAULT public.gen_random_uuid()', 'uuid DEFAULT next_ulid()::uuid', 'uuid DEFAULT uuidv7_at(now())', 'ulid DEFAULT gen_ulid()', 'uuid DEFAULT next_ulid()', 'text DEFAULT next_ulid()',
    'char(26) DEFAULT next_ulid()', 'varchar DEFAULT next_uuidv7()', 'numeric(20) DEFAULT next_snowflake()', 'text DEFAULT next_snowflake()']) AS definition, refusals(definition) AS r;
-- Without a default, programs draw. A watch checks their IDs, and refuses UUIDs of other versions.
CREATE TABLE programs (id uuid, body text);
SELECT snowdrift.watch('programs', 'id');
INSERT INTO programs VALUES (next_uuidv7(), 'drawn'), (NULL, 'null');
SELECT error_of('INSERT INTO programs VALUES (''00000000-0000-4000-8000-000000000000'')');
SELECT error_of('UPDATE programs SET id = ''017f22e2-79b0-8cc3-98c4-dc0c0c07398f'' WHERE id IS NULL');
SELECT wait_until_readable('SELECT FROM snowdrift.read_new(NULL::programs)', 1);
-- Rows that a subscriber applies
CREATE TABLE copied (id bigserial);
SELECT snowdrift.watch('copied');
SET session_replication_role = replica;
SELECT error_of('INSERT INTO copied VALUES (0)');
RESET session_replication_role;
DROP TABLE copied;
-- Defaults of domains
CREATE DOMAIN drawn AS ulid DEFAULT next_ulid();
CREATE TABLE drawns (id drawn);
SELECT snowdrift.watch('drawns');
SELECT count(*) FROM snowdrift.read_new(NULL::drawns);
-- Without a watch, all rows must be those of one generator.
CREATE TABLE parts (id bigint DEFAULT next_snowflake(), k int) PARTITION BY LIST (k);
CREATE TABLE part PARTITION OF parts FOR VALUES IN (1);
SELECT count(*) FROM snowdrift.read_new(NULL::parts);
ALTER TABLE part ALTER id SET DEFAULT next_snowflake('other');
SELECT * FROM snowdrift.read_new(NULL::parts);
CREATE TABLE parent (id bigint DEFAULT next_snowflake());
CREATE TABLE child () INHERITS (parent);
SELECT * FROM snowdrift.read_new(NULL::parent);
DROP TABLE programs, drawns, parts, parent, child;
DROP DOMAIN drawn;
DROP FUNCTION refusals, public.gen_random_uuid;
-- The plan is one index scan.
SET enable_bitmapscan = off;
SET enable_seqscan = off;
SELECT plan_of(format(regexp_replace(snowdrift.new_rows_query('ulids', 1::smallint, true), '[$]([123])', '%\1$L', 'g'), ulid_watermark(), 10, ulid_nil()));
DROP TABLE flakes, orders, ulids, uuids, snos, random;
DROP FUNCTION wait_until_readable;

-- A partition, whose default can differ from that with which rows are inserted into the table
CREATE TABLE parted (id bigint DEFAULT next_snowflake('orders'), body text) PARTITION BY RANGE (id);
CREATE TABLE parted_1 (id bigint DEFAULT next_snowflake(), body text);
ALTER TABLE parted ATTACH PARTITION parted_1 DEFAULT;
SELECT error_of('SELECT snowdrift.read_new(NULL::parted_1)');
SELECT snowdrift.watch('parted');
SELECT error_of('SELECT snowdrift.read_new(NULL::parted_1)');
DROP TABLE parted;
SELECT snowdrift.drop_generator('orders');
-- A serial key that is converted to a generator whose watermark nobody has read: readers may have passed numbers of the sequence.
CREATE TABLE converted (id bigserial PRIMARY KEY);
SELECT snowdrift.watch('converted');
SELECT snowdrift.create_generator('fresh', 'snowflake', worker => 9);
SELECT count(*) FROM snowdrift.convert_keys('{converted}', 'fresh');
SELECT split_part(error_of('INSERT INTO converted VALUES (1)'), ':', 1);
-- The same for a generator that replaces another one, and if the watch was removed before
SELECT snowdrift.create_generator('fresher', 'snowflake', worker => 10);
ALTER TABLE converted ALTER id SET DEFAULT next_snowflake('fresher');
SELECT snowdrift.watch('converted');
SELECT split_part(error_of('INSERT INTO converted VALUES (1)'), ':', 1);
SELECT snowdrift.unwatch('converted');
SELECT snowdrift.create_generator('freshest', 'snowflake', worker => 11);
ALTER TABLE converted ALTER id SET DEFAULT next_snowflake('freshest');
SELECT snowdrift.watch('converted');
SELECT split_part(error_of('INSERT INTO converted VALUES (1)'), ':', 1);
DROP TABLE converted;
SELECT snowdrift.drop_generator(name) FROM unnest('{fresh,fresher,freshest}'::text[]) AS name;
-- A key whose generator was dropped
SELECT snowdrift.create_generator('short_lived', 'snowflake');
CREATE TABLE orphan (id bigint PRIMARY KEY DEFAULT next_snowflake('short_lived'));
SELECT snowdrift.watch('orphan');
SELECT snowdrift.drop_generator('short_lived', force => true);
SELECT public.error_of($$SELECT snowdrift.revert_keys('{orphan}')$$);
SELECT snowdrift.unwatch('orphan');
SELECT * FROM snowdrift.revert_keys('{orphan}', dry_run => true);
DROP TABLE orphan;
