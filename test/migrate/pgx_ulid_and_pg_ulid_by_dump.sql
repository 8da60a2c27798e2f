-- The variable "original" is the extension's name. A default and a generated column depend on implicit casts.
CREATE EXTENSION :"original";
CREATE TABLE users (id ulid PRIMARY KEY DEFAULT gen_ulid(), name text);
CREATE TABLE events (
    id ulid PRIMARY KEY DEFAULT gen_ulid(),
    user_id ulid NOT NULL REFERENCES users,
    floor ulid DEFAULT now()::timestamp,
    at timestamp GENERATED ALWAYS AS (id) STORED
);
INSERT INTO users (id, name) VALUES ('01GV5PA9EQG7D82Q3Y4PKBZSYV', 'ada'), ('01GV5PAPGZ1S48N62VWKVRM8WR', 'grace');
INSERT INTO users (name) SELECT 'old' FROM generate_series(1, 500);
INSERT INTO users VALUES ((now() AT TIME ZONE 'UTC' + interval '20 seconds')::ulid, 'ahead of the clock');
INSERT INTO events (user_id) SELECT id FROM users;
CREATE TABLE before AS SELECT id::text FROM users;
