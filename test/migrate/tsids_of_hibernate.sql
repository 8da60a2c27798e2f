-- Keys that applications on the nodes 17 and 755 generated, as numbers and as strings
CREATE EXTENSION snowdrift;
CREATE TABLE posts (id bigint PRIMARY KEY, title text);
CREATE TABLE comments (post_id bigint NOT NULL REFERENCES posts, body text);
CREATE TABLE tags (id text PRIMARY KEY, name text);
INSERT INTO posts SELECT make_snowflake(clock_timestamp(), 0, CASE n % 2 WHEN 0 THEN 17 ELSE 755 END, n, 'tsid'), 'old'
FROM generate_series(1, 1000) AS n;
INSERT INTO posts VALUES (make_snowflake(clock_timestamp() + interval '20 seconds', 0, 17, 0, 'tsid'), 'ahead of the clock');
INSERT INTO comments SELECT id, 'first' FROM posts;
-- tsid-creator's documentation states the time of this one: 2020-04-15T22:31:02.458Z
INSERT INTO tags VALUES ('0123456789ABC', 'upper'), ('0123456789abd', 'lower');
CREATE TABLE before AS SELECT id::text FROM posts;
