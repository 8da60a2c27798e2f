CREATE EXTENSION snowdrift;
CREATE TABLE orders (id ulid PRIMARY KEY DEFAULT next_ulid(), note text);
CREATE TABLE order_lines (order_id ulid NOT NULL REFERENCES orders, item text);
CREATE INDEX ON order_lines (order_id);
INSERT INTO orders (note) SELECT 'old' FROM generate_series(1, 1000);
INSERT INTO order_lines SELECT id, 'item' FROM orders;
CREATE TABLE before AS SELECT id::uuid::text AS id FROM orders;
CREATE TABLE filenode AS SELECT pg_relation_filenode('orders') AS orders, pg_relation_filenode('order_lines') AS order_lines;
CREATE TABLE times AS SELECT id::uuid, ulid_timestamp(id) AS time FROM orders;
