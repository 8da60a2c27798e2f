-- Sealed IDs: what both editions return, accept and refuse. Rights, logs, dumps, standbys and replication are in test/t/056_seals.pl.
\set SHOW_CONTEXT never
CREATE SCHEMA seals;
SET search_path = seals, public;

-- The golden vectors, in both directions, with one key after another
\getenv abs_srcdir PG_ABS_SRCDIR
\set file '''' :abs_srcdir '/test/vectors/seals.tsv'' (HEADER)'
\set read '\\copy vectors FROM ' :file
CREATE TABLE vectors (key text, name text, id bigint, seal uuid);
:read
CREATE TABLE checked (LIKE vectors, made uuid, opened bigint);
DO $$
DECLARE
    present text;
BEGIN
    FOR present IN SELECT DISTINCT key FROM vectors LOOP
        PERFORM snowdrift.create_seal(name, decode(present, 'hex')) FROM (SELECT DISTINCT name FROM vectors) AS names;
        INSERT INTO checked SELECT v.*, snowflake_seal(id, name), snowflake_unseal(seal, name) FROM vectors AS v WHERE key = present;
        PERFORM snowdrift.drop_seal(name) FROM (SELECT DISTINCT name FROM vectors) AS names;
    END LOOP;
END $$;
SELECT count(*), count(*) FILTER (WHERE made = seal) AS sealed, count(*) FILTER (WHERE opened = id) AS unsealed FROM checked;

-- A seal
SELECT snowdrift.create_seal('orders', decode(repeat('5a', 32), 'hex'));
SELECT snowflake_seal(1, 'orders'), snowflake_unseal(snowflake_seal(1, 'orders'), 'orders');
SELECT snowflake_unseal(upper(snowflake_seal(-9223372036854775808, 'orders')::text)::uuid, 'orders');
SELECT snowflake_seal(NULL, 'orders'), snowflake_seal(1, NULL), snowflake_unseal(NULL, 'orders'), snowflake_unseal(snowflake_seal(1, 'orders'), NULL);
SELECT typeid_to_text('order', snowflake_seal(7, 'orders')), snowflake_unseal(typeid_to_uuid(typeid_to_text('order', snowflake_seal(7, 'orders'))), 'orders');

-- Many: each different, of version 8, and none of them tells anything of the order
SELECT count(DISTINCT seal), bool_and(snowflake_unseal(seal, 'orders') = id) AS unsealed, bool_and(seal::text ~ '^.{14}8.{4}[89ab]') AS version_8,
    count(*) FILTER (WHERE seal > previous) BETWEEN 400 AND 600 AS in_no_order
FROM (SELECT id, seal, lag(seal) OVER (ORDER BY id) AS previous FROM (SELECT id, snowflake_seal(id, 'orders') AS seal FROM generate_series(1, 1000) AS id) AS s) AS s;

-- What was not made with a key of the name: bits that are flipped, the halves of two seals, random UUIDs, seals of another name
SELECT snowdrift.create_seal('users', decode(repeat('5a', 32), 'hex'));
SELECT count(*), count(snowflake_unseal(forged, 'orders', invalid_ok => true)) AS accepted
FROM (SELECT encode(set_bit(uuid_send(snowflake_seal(id, 'orders')), bit, 1 - get_bit(uuid_send(snowflake_seal(id, 'orders')), bit)), 'hex')::uuid FROM generate_series(1, 5) AS id, generate_series(0, 127) AS bit
      UNION ALL SELECT (left(snowflake_seal(id, 'orders')::text, 18) || substr(snowflake_seal(id + 1, 'orders')::text, 19))::uuid FROM generate_series(1, 100) AS id
      UNION ALL SELECT overlay(gen_random_uuid()::text PLACING '8' FROM 15)::uuid FROM generate_series(1, 100)
      UNION ALL SELECT snowflake_seal(id, 'users') FROM generate_series(1, 100) AS id
      UNION ALL SELECT '00000000-0000-0000-0000-000000000000' UNION ALL SELECT 'ffffffff-ffff-ffff-ffff-ffffffffffff') AS forged(forged);
\set file '''' :abs_srcdir '/test/vectors/seals_invalid.tsv'' (HEADER)'
\set read '\\copy invalid FROM ' :file
CREATE TABLE invalid (key text, name text, seal uuid, wrong text);
:read
SELECT count(*), count(DISTINCT key), string_agg(wrong, ', ') FILTER (WHERE snowflake_unseal(seal, name, true) IS NOT NULL) AS accepted FROM invalid;
SELECT public.error_of($$SELECT snowflake_unseal(snowflake_seal(1, 'users'), 'orders')$$);
SELECT public.error_of($$SELECT snowflake_unseal('00000000-0000-0000-0000-000000000000', 'orders')$$);
SELECT snowflake_unseal(snowflake_seal(1, 'users'), 'orders', true);

-- Rotation: the newest key seals, all unseal. Also in the transaction that adds it, and after a rollback
SELECT snowflake_seal(1, 'orders') AS old \gset
BEGIN;
SELECT snowdrift.rotate_seal('orders', decode(repeat('a5', 32), 'hex'));
SELECT snowflake_seal(1, 'orders') AS new, snowflake_unseal(:'old', 'orders');
SELECT snowflake_seal(1, 'orders') AS new \gset
ROLLBACK;
SELECT snowflake_seal(1, 'orders') = :'old' AS is_old, snowflake_unseal(:'new', 'orders', true);
SELECT snowdrift.rotate_seal('orders', decode(repeat('a5', 32), 'hex'));
SELECT snowflake_seal(1, 'orders') = :'new' AS is_new, snowflake_unseal(:'new', 'orders'), snowflake_unseal(:'old', 'orders');
SELECT version, encode(key, 'hex'), created_at <= now() FROM snowdrift.seal_keys('orders');
SELECT snowdrift.drop_seal('orders', 1);
SELECT snowflake_unseal(:'new', 'orders'), snowflake_unseal(:'old', 'orders', true);
DO $$
DECLARE
    before uuid;
BEGIN
    FOR i IN 1 .. 3 LOOP    -- an expression whose plan is kept
        before := snowflake_seal(1, 'orders');
        PERFORM snowdrift.rotate_seal('orders');
        ASSERT snowflake_seal(1, 'orders') <> before AND snowflake_unseal(before, 'orders') = 1;
    END LOOP;
END $$;
SELECT count(*), count(DISTINCT key), min(length(key)), max(version) FROM snowdrift.seal_keys('orders');

-- In queries: the ID is found by its index, with a constant, a parameter and a list, and pages have opaque positions.
CREATE TABLE orders (id bigint PRIMARY KEY, body text);
INSERT INTO orders SELECT id, 'order ' || id FROM generate_series(1, 1000) AS id;
ANALYZE orders;
SELECT snowflake_seal(500, 'orders') AS seal \gset
SELECT * FROM orders WHERE id = snowflake_unseal(:'seal', 'orders');
SELECT public.plan_of(format('SELECT * FROM seals.orders WHERE id = snowflake_unseal(%L, ''orders'')', :'seal'));
SET plan_cache_mode = force_generic_plan;
PREPARE lookup AS SELECT * FROM orders WHERE id = snowflake_unseal($1, 'orders', true);
EXECUTE lookup (:'seal');
EXECUTE lookup (gen_random_uuid());
SELECT public.plan_of($$EXECUTE lookup ('00000000-0000-0000-0000-000000000000')$$);
PREPARE page AS SELECT snowflake_seal(id, 'orders') AS id, body FROM orders WHERE id > snowflake_unseal($1, 'orders') ORDER BY orders.id LIMIT 2;
SELECT public.plan_of($$EXECUTE page ('00000000-0000-0000-0000-000000000000')$$);
RESET plan_cache_mode;
SELECT id FROM orders WHERE id = ANY (ARRAY (SELECT snowflake_unseal(seal, 'orders') FROM unnest(ARRAY[:'seal', snowflake_seal(7, 'orders')]::uuid[]) AS seal)) ORDER BY id;
-- A seal depends on the keys: it can be neither stored in a generated column nor indexed.
SELECT public.error_of($$ALTER TABLE seals.orders ADD seal uuid GENERATED ALWAYS AS (snowflake_seal(id, 'orders')) STORED$$);
SELECT public.error_of($$CREATE INDEX ON seals.orders (snowflake_seal(id, 'orders'))$$);

-- Errors
SELECT public.error_of(query) FROM (VALUES
    ($$SELECT snowflake_seal(1, 'order')$$),
    ($$SELECT snowflake_unseal('00000000-0000-0000-0000-000000000000', 'order', true)$$),
    ($$SELECT snowflake_seal(1, '')$$),
    ($$SELECT snowflake_seal(1, repeat('x', 64))$$),
    ($$SELECT snowdrift.create_seal('orders')$$),
    ($$SELECT snowdrift.create_seal(NULL)$$),
    ($$SELECT snowdrift.create_seal('')$$),
    ($$SELECT snowdrift.create_seal(repeat('x', 64))$$),
    ($$SELECT snowdrift.create_seal(E'a\nb')$$),
    ($$SELECT snowdrift.create_seal('número')$$),
    ($$SELECT snowdrift.create_seal('short', '\x5a')$$),
    ($$SELECT snowdrift.create_seal('long', decode(repeat('5a', 33), 'hex'))$$),
    ($$SELECT snowdrift.rotate_seal('orders', '')$$),
    ($$SELECT snowdrift.rotate_seal('order')$$),
    ($$SELECT snowdrift.rotate_seal(NULL)$$),
    ($$SELECT snowdrift.drop_seal('order')$$),
    ($$SELECT snowdrift.drop_seal('orders', 1)$$),
    ($$SELECT snowdrift.drop_seal(NULL)$$),
    ($$SELECT snowdrift.drop_seal('orders', NULL)$$)) AS queries(query);
SELECT snowdrift.create_seal(' ~');
SELECT snowflake_unseal(snowflake_seal(1, ' ~'), ' ~');
SELECT * FROM snowdrift.seal_keys('order');

-- Seals can be changed only with the newest keys in sight. Names have no collation of their own.
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT public.error_of($$SELECT snowdrift.rotate_seal('orders')$$);
COMMIT;
SELECT snowdrift.create_seal(name COLLATE "POSIX"), snowdrift.rotate_seal(name COLLATE "POSIX"), snowdrift.drop_seal(name COLLATE "POSIX", 1) FROM (VALUES ('collated')) AS names(name);
SELECT snowflake_unseal(snowflake_seal(1, name COLLATE "POSIX"), name COLLATE "POSIX"), count(*) FROM (VALUES ('collated')) AS names(name), snowdrift.seal_keys(name COLLATE "POSIX") GROUP BY 1;
SELECT snowdrift.drop_seal('collated');

-- No function for the keys runs while all roles may call it.
CREATE FUNCTION error_when_public(function regprocedure, query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO PUBLIC', function);
    result := public.error_of(query);
    EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', function);
    RETURN split_part(result, E'\n', 1);
END $$;
SELECT error_when_public(oid, $$SELECT snowdrift.seal_keys('orders')$$) FROM pg_proc
WHERE pronamespace = 'snowdrift'::regnamespace AND proname ~ '_seal$|^seal_keys$' ORDER BY oid::regprocedure::text;
SELECT error_when_public('snowdrift.seal_keys(text)', $$SELECT snowdrift.rotate_seal('orders')$$);

-- What is dropped is gone.
SELECT snowdrift.drop_seal(name) FROM unnest(ARRAY['orders', 'users', ' ~']) AS name;
SELECT public.error_of(format('SELECT snowflake_unseal(%L, ''orders'', true)', :'new'));
SELECT snowdrift.create_seal('orders');
SELECT snowflake_unseal(:'new', 'orders', true);
SELECT snowdrift.drop_seal('orders');
DROP FUNCTION error_when_public;
DROP SCHEMA seals CASCADE;
RESET search_path;
