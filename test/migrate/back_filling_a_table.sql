-- The tables of the page, with 30 posts of each of 1000 times, and a comment on each post
CREATE EXTENSION snowdrift;
CREATE ROLE migrator;
CREATE TABLE posts (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    created_at timestamptz NOT NULL DEFAULT now(), body text);
CREATE TABLE comments (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    post_id integer NOT NULL REFERENCES posts, body text);
INSERT INTO posts (created_at, body) SELECT '2024-01-01Z'::timestamptz + n / 30 * interval '1 hour', n FROM generate_series(0, 29999) AS n;
INSERT INTO comments (post_id, body) SELECT id, body FROM posts;
CREATE TABLE before AS SELECT id::text FROM comments;
