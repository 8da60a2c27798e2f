-- ULIDs as strings, every third in lower case, of the hours before now; and a table that refers to them
CREATE EXTENSION snowdrift;
CREATE TABLE orders (id text PRIMARY KEY, note text);
INSERT INTO orders SELECT CASE n % 3 WHEN 0 THEN lower(id) ELSE id END, 'old'
FROM generate_series(1, 25000) AS n, LATERAL (SELECT ulid_at(now() - n * interval '1 hour')::text AS id) AS ids;
INSERT INTO orders VALUES (ulid_at(now() + interval '20 seconds')::text, 'ahead of the clock');
CREATE TABLE order_lines (order_id text NOT NULL REFERENCES orders, item text);
CREATE INDEX ON order_lines (order_id);
INSERT INTO order_lines SELECT id, 'item' || n FROM orders, generate_series(1, 2) AS n;
CREATE TABLE before AS SELECT upper(id) AS id FROM orders;
