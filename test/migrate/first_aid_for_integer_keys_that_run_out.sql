-- Tables whose sequences have reached the greatest integer
CREATE TABLE tickets (id serial PRIMARY KEY, name text);
CREATE TABLE invoices (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY);
INSERT INTO tickets (name) SELECT 'old' FROM generate_series(1, 100);
SELECT setval('tickets_id_seq', 2147483646), setval('invoices_id_seq', 2147483646);
INSERT INTO tickets (name) VALUES ('last');
INSERT INTO invoices DEFAULT VALUES;
CREATE TABLE before AS SELECT id::text FROM tickets;
