-- IDs of node 10, some ahead of the clock, and replicated ones of node 11; and keys from before the sequence was
-- converted
CREATE EXTENSION snowdrift;
CREATE EXTENSION snowflake;
ALTER DATABASE app SET snowflake.node = 10;
SET snowflake.node = 10;
CREATE SEQUENCE orders_id_seq;
CREATE TABLE orders (id bigint PRIMARY KEY DEFAULT snowflake.nextval('orders_id_seq'::regclass), total numeric);
ALTER SEQUENCE orders_id_seq OWNED BY orders.id;
CREATE TABLE order_lines (order_id bigint NOT NULL REFERENCES orders, item text);
INSERT INTO orders SELECT n, 1 FROM generate_series(1, 100) AS n;
INSERT INTO orders (total) SELECT 2 FROM generate_series(1, 100);
SELECT setval('orders_id_seq', snowflake_boundary(clock_timestamp() + interval '20 seconds', 'pgedge'));
INSERT INTO orders (total) SELECT 3 FROM generate_series(1, 6000);
INSERT INTO orders SELECT make_snowflake(clock_timestamp() - interval '1 day', 0, 11, n, 'pgedge'), 4 FROM generate_series(1, 100) AS n;
INSERT INTO order_lines SELECT id, 'item' FROM orders;
CREATE TABLE before AS SELECT id::text FROM orders;
