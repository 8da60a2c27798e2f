-- Audits that the SQL edition cannot test: of the types ulid and sno, and by several roles
SET TimeZone = 'UTC';

-- ULIDs have no node, sno values have a partition; domains, and names that need quotes
CREATE DOMAIN "Odd ""type" AS ulid CHECK (VALUE > ulid_nil());
CREATE SCHEMA "Odd ""schema";
CREATE DOMAIN post_id AS bigint;
CREATE TABLE "Odd ""schema"."Odd ""name" ("Odd ""column" "Odd ""type", s sno, n post_id, t text) PARTITION BY RANGE (s);
SELECT count(*) FROM snowdrift.create_partitions('"Odd ""schema"."Odd ""name"', '1 month', '2024-01-01Z', '2024-02-01Z');
CREATE TABLE other PARTITION OF "Odd ""schema"."Odd ""name" DEFAULT;
INSERT INTO "Odd ""schema"."Odd ""name" SELECT make_ulid('2024-01-01Z'::timestamptz + n * interval '1 day', noise(n)),
    make_sno('2024-01-01Z'::timestamptz + n * interval '1 day', 0, n % 3, n), make_snowflake('2024-01-01Z', 0, n % 2, 0)
FROM generate_series(0, 49) AS n;
INSERT INTO "Odd ""schema"."Odd ""name" VALUES (ulid_max(), sno_max());
SELECT * FROM snowdrift.audit('"Odd ""schema"."Odd ""name"', 'Odd "column');
SELECT * FROM snowdrift.audit('"Odd ""schema"."Odd ""name"', 'Odd "column', since => '2024-02-01Z');
SELECT * FROM snowdrift.audit('"Odd ""schema"."Odd ""name"', 's');
SELECT sum(count) AS partitioned FROM snowdrift.audit('"Odd ""schema"."Odd ""name"', 's', sample => 100);
SELECT finding, worker, count FROM snowdrift.audit('"Odd ""schema"."Odd ""name"', 'n');

DROP TABLE "Odd ""schema"."Odd ""name";
DROP SCHEMA "Odd ""schema";
DROP DOMAIN "Odd ""type", post_id;

-- The caller needs SELECT on the column. Only rows that policies permit the caller to see are counted.
CREATE TABLE orders AS SELECT id::bigint, NULL::text AS body FROM generate_series(1, 5000) AS id;
CREATE ROLE snowdrift_user;
SET ROLE snowdrift_user;
SELECT error_of($$SELECT snowdrift.audit('orders', 'id')$$);
RESET ROLE;
GRANT SELECT (id) ON orders TO snowdrift_user;
ALTER TABLE orders ENABLE ROW LEVEL SECURITY;
CREATE POLICY newer ON orders USING (id > 4999);
SET ROLE snowdrift_user;
SELECT finding, min FROM snowdrift.audit('orders', 'id');
SELECT error_of($$SELECT snowdrift.audit('orders', 'body')$$);
RESET ROLE;
DROP POLICY newer ON orders;

DROP TABLE orders;

-- Reading a table can call functions of its owner: here, PostgreSQL evaluates a constant part of an index's expression when it
-- plans the query. The function raises an error for other roles. The statements of docs/runbooks.md read only the tables of the
-- current role; test/t/038_pages.pl runs them in a database that has such a table.
CREATE ROLE snowdrift_owner;
CREATE SCHEMA bait AUTHORIZATION snowdrift_owner;
SET ROLE snowdrift_owner;
CREATE TABLE bait.bait (id bigint DEFAULT next_snowflake());
CREATE FUNCTION bait.trap(integer) RETURNS integer IMMUTABLE LANGUAGE plpgsql
    AS $$BEGIN IF current_user <> 'snowdrift_owner' THEN RAISE 'called by another role'; END IF; RETURN $1; END$$;
CREATE INDEX ON bait.bait ((id + bait.trap(1)));
INSERT INTO bait.bait VALUES (make_snowflake('2080-01-01Z', 0, 0, 0));
\c
SELECT error_of($$SELECT id FROM bait.bait$$);
\c
SELECT error_of($$SELECT snowdrift.audit('bait.bait', 'id')$$);
\c
SET ROLE snowdrift_owner;
SELECT finding, count FROM snowdrift.audit('bait.bait', 'id');
RESET ROLE;
DROP SCHEMA bait CASCADE;
DROP ROLE snowdrift_owner, snowdrift_user;
