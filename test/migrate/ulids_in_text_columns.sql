-- Strings of which three are not ULIDs, and two are the same ULID
CREATE EXTENSION snowdrift;
CREATE TABLE orders (id text PRIMARY KEY, note text);
INSERT INTO orders SELECT ulid_at(now() - n * interval '1 hour')::text, 'old' FROM generate_series(1, 100) AS n;
INSERT INTO orders VALUES ('01GV5PA9EQG7D82Q3Y4PKBZSYV'), ('01gv5pa9eqg7d82q3y4pkbzsyv'), ('none'),
    ('81GV5PA9EQG7D82Q3Y4PKBZSYV'), ('01GV5PA9EQG7D82Q3Y4PKBZSYU');
CREATE TABLE before AS SELECT id FROM orders;
