CREATE EXTENSION snowdrift;
CREATE TABLE posts (id bigint PRIMARY KEY DEFAULT next_snowflake(), body text);
CREATE TABLE comments (post_id bigint NOT NULL REFERENCES posts, body text);
INSERT INTO posts (body) SELECT 'old' FROM generate_series(1, 1000);
INSERT INTO comments SELECT id, 'first' FROM posts;
CREATE TABLE before AS SELECT id::text FROM posts;
CREATE TABLE times AS SELECT id, snowflake_timestamp(id) AS time FROM posts;
