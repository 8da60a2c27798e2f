-- A generator that is over its capacity, and columns with IDs
SELECT snowdrift.create_generator('narrow', 'snowflake', layout => 'si', sequence_max => 3);
SELECT count(next_snowflake('narrow')) FROM generate_series(1, 200);
CREATE TABLE orders (id bigint);
INSERT INTO orders SELECT generate_series(1, 10);
INSERT INTO orders SELECT make_snowflake(now() - interval '1 day', 0, n, 0) FROM generate_series(0, 1) AS n;
INSERT INTO orders VALUES (make_snowflake('2036-11-20 10:00:11.08Z', 0, 1, 0));
