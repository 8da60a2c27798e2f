-- The tables of the page, with 1000 users
CREATE EXTENSION snowdrift;
CREATE TABLE users (id serial PRIMARY KEY, name text, invited_by integer REFERENCES users);
CREATE TABLE orders (id bigserial PRIMARY KEY, user_id integer REFERENCES users);
INSERT INTO users (name, invited_by) SELECT 'old', nullif(n - 1, 0) FROM generate_series(1, 1000) AS n;
INSERT INTO orders (user_id) SELECT id FROM users;
CREATE TABLE before AS SELECT id::text FROM users;
