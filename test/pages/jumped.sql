-- IDs that are ten days ahead of the clock
SELECT snowdrift.create_generator('web', 'snowflake', layout => 'si');
CREATE TABLE posts (id bigint PRIMARY KEY DEFAULT next_snowflake(), body text);
CREATE TABLE comments (id ulid PRIMARY KEY DEFAULT next_ulid(), post_id bigint REFERENCES posts);
CREATE DOMAIN page_id AS bigint DEFAULT next_snowflake('web');
CREATE TABLE pages (id page_id PRIMARY KEY, title text);
CREATE TABLE items (id uuid PRIMARY KEY DEFAULT next_uuidv7(), name text);
INSERT INTO posts DEFAULT VALUES;
SET snowdrift.max_clock_lead = '20d';
SELECT snowdrift.advance(now() + interval '10 days');
INSERT INTO posts DEFAULT VALUES;
INSERT INTO comments (post_id) SELECT max(id) FROM posts;
INSERT INTO pages DEFAULT VALUES;
INSERT INTO items DEFAULT VALUES;
-- Tables of another role, whose indexes call a function that raises an error for all other roles; one of them is a partition
CREATE ROLE shop;
CREATE SCHEMA shop AUTHORIZATION shop;
SET ROLE shop;
CREATE TABLE shop.orders (id bigint DEFAULT next_snowflake());
CREATE FUNCTION shop.trap(integer) RETURNS integer IMMUTABLE LANGUAGE plpgsql
    AS $$BEGIN IF current_user <> 'shop' THEN RAISE 'called by another role'; END IF; RETURN $1; END$$;
CREATE INDEX ON shop.orders ((id + shop.trap(1)));
INSERT INTO shop.orders DEFAULT VALUES;
RESET ROLE;
CREATE TABLE visits (id bigint DEFAULT next_snowflake()) PARTITION BY RANGE (id);
CREATE TABLE shop.visits_all PARTITION OF visits FOR VALUES FROM (MINVALUE) TO (MAXVALUE);
ALTER TABLE shop.visits_all OWNER TO shop;
INSERT INTO visits DEFAULT VALUES;
SET ROLE shop;
CREATE INDEX ON shop.visits_all ((id + shop.trap(1)));
RESET ROLE;
RESET snowdrift.max_clock_lead;
