-- 1000 old keys, and 100 Snowflakes
CREATE EXTENSION snowdrift;
CREATE TABLE orders (id bigint PRIMARY KEY DEFAULT next_snowflake(), total numeric);
INSERT INTO orders SELECT id, 1 FROM generate_series(1, 1000) AS id;
INSERT INTO orders (total) SELECT 1 FROM generate_series(1, 100);
CREATE TABLE before AS SELECT id::text FROM orders;
