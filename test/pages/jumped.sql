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
RESET snowdrift.max_clock_lead;
