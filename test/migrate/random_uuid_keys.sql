-- 1000 rows with random keys, and a table that refers to them
CREATE EXTENSION snowdrift;
CREATE TABLE customers (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), name text);
CREATE TABLE invoices (customer_id uuid NOT NULL REFERENCES customers, total numeric);
INSERT INTO customers (name) SELECT 'old' FROM generate_series(1, 1000);
INSERT INTO invoices SELECT id, 1 FROM customers;
CREATE TABLE before AS SELECT id::text FROM customers;
