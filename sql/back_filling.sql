-- The statements of docs/migrate.md, "Back-filling a table", on a small table; and snowflake_at() for many rows
SET TIME ZONE 'UTC';
CREATE TABLE posts (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    created_at timestamptz NOT NULL DEFAULT now(), body text) WITH (autovacuum_enabled = off);
CREATE TABLE comments (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    post_id integer NOT NULL REFERENCES posts, body text) WITH (autovacuum_enabled = off);
INSERT INTO posts (created_at, body)
SELECT '2023-01-01Z'::timestamptz + (n / 100) * interval '1 hour', n FROM generate_series(0, 29999) AS n;
INSERT INTO comments (post_id, body) SELECT 1 + n % 30000, n FROM generate_series(0, 59999) AS n;

BEGIN;
SET LOCAL lock_timeout = '2s';
ALTER TABLE posts ADD COLUMN new_id bigint;
ALTER TABLE posts ALTER COLUMN new_id SET DEFAULT next_snowflake();
ALTER TABLE comments ADD COLUMN new_post_id bigint;
CREATE FUNCTION set_new_post_id() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.new_post_id := (SELECT new_id FROM posts WHERE posts.id = NEW.post_id);
    RETURN NEW;
END $$;
CREATE TRIGGER set_new_post_id BEFORE INSERT OR UPDATE OF post_id ON comments
    FOR EACH ROW EXECUTE FUNCTION set_new_post_id();
COMMIT;
SELECT snowdrift.create_generator('past', 'snowflake', worker => 31);
-- new rows meanwhile
INSERT INTO posts (body) VALUES ('new') RETURNING new_id IS NOT NULL AS has_id;
INSERT INTO comments (post_id, body) SELECT max(id), 'of the new row' FROM posts;
INSERT INTO comments (post_id, body) VALUES (7, 'of an old row');

-- in one statement
BEGIN;
UPDATE posts SET new_id = old.new_id
FROM (SELECT id, snowflake_at(created_at, 'past') AS new_id FROM posts WHERE new_id IS NULL ORDER BY id) AS old
WHERE posts.id = old.id AND posts.new_id IS NULL;
SELECT count(*), count(DISTINCT new_id), count(new_id) FROM posts;
ROLLBACK;
-- in batches
DO $$
DECLARE
    last integer := 0;
BEGIN
    LOOP
        WITH batch AS MATERIALIZED (
            SELECT id, snowflake_at(created_at, 'past') AS new_id FROM posts
            WHERE id > last AND new_id IS NULL ORDER BY id LIMIT 10000
        ), filled AS (
            UPDATE posts SET new_id = batch.new_id FROM batch
            WHERE posts.id = batch.id AND posts.new_id IS NULL
        )
        SELECT max(id) INTO last FROM batch;
        EXIT WHEN last IS NULL;
        COMMIT;
    END LOOP;
END $$;
DO $$
DECLARE
    last integer := 0;
BEGIN
    LOOP
        WITH batch AS MATERIALIZED (
            SELECT id, post_id FROM comments WHERE id > last AND new_post_id IS NULL ORDER BY id LIMIT 10000
        ), filled AS (
            UPDATE comments SET new_post_id = posts.new_id
            FROM batch JOIN posts ON posts.id = batch.post_id
            WHERE comments.id = batch.id AND comments.post_id = batch.post_id AND comments.new_post_id IS NULL
        )
        SELECT max(id) INTO last FROM batch;
        EXIT WHEN last IS NULL;
        COMMIT;
    END LOOP;
END $$;
ALTER TABLE posts ADD CONSTRAINT new_id_set CHECK (new_id IS NOT NULL) NOT VALID;
ALTER TABLE posts VALIDATE CONSTRAINT new_id_set;
ALTER TABLE posts ALTER COLUMN new_id SET NOT NULL;
ALTER TABLE posts DROP CONSTRAINT new_id_set;
ALTER TABLE comments ADD CONSTRAINT new_post_id_set CHECK (new_post_id IS NOT NULL) NOT VALID;
ALTER TABLE comments VALIDATE CONSTRAINT new_post_id_set;
ALTER TABLE comments ALTER COLUMN new_post_id SET NOT NULL;
ALTER TABLE comments DROP CONSTRAINT new_post_id_set;
CREATE UNIQUE INDEX CONCURRENTLY posts_new_key ON posts (new_id);
BEGIN;
SET LOCAL lock_timeout = '2s';
LOCK TABLE posts, comments IN ACCESS EXCLUSIVE MODE;
ALTER TABLE comments DROP CONSTRAINT comments_post_id_fkey;
ALTER TABLE posts DROP CONSTRAINT posts_pkey;
ALTER TABLE posts RENAME COLUMN id TO old_id;
ALTER TABLE posts RENAME COLUMN new_id TO id;
ALTER TABLE posts ADD CONSTRAINT posts_pkey PRIMARY KEY USING INDEX posts_new_key;
ALTER TABLE posts ALTER COLUMN old_id DROP IDENTITY, ALTER COLUMN old_id DROP NOT NULL;
DROP TRIGGER set_new_post_id ON comments;
DROP FUNCTION set_new_post_id();
ALTER TABLE comments RENAME COLUMN post_id TO old_post_id;
ALTER TABLE comments RENAME COLUMN new_post_id TO post_id;
ALTER TABLE comments ALTER COLUMN old_post_id DROP NOT NULL;
ALTER TABLE comments ADD CONSTRAINT comments_post_id_fkey FOREIGN KEY (post_id) REFERENCES posts NOT VALID;
COMMIT;
ALTER TABLE comments VALIDATE CONSTRAINT comments_post_id_fkey;

SELECT count(*), count(DISTINCT id), bool_and(snowflake_timestamp(id) = created_at) FILTER (WHERE body <> 'new') AS own_times,
    bool_and(ascends) AS in_order
FROM (SELECT *, id > lag(id) OVER (ORDER BY old_id) AS ascends FROM posts) AS posts;
SELECT count(*), bool_and(posts.old_id = comments.old_post_id) AS same FROM comments JOIN posts ON posts.id = comments.post_id;
INSERT INTO posts (body) VALUES ('newer') RETURNING id > 0 AS has_id, old_id;
INSERT INTO comments (post_id, body) SELECT max(id), 'newer' FROM posts;
ALTER TABLE posts DROP COLUMN old_id;
ALTER TABLE comments DROP COLUMN old_post_id;
SELECT snowdrift.drop_generator('past');
\d posts
\d comments
DROP TABLE comments, posts;

-- Many IDs of one time are distinct, and continue in the next milliseconds.
CREATE TABLE ids (n bigserial, id bigint, at timestamptz);
INSERT INTO ids (id, at) SELECT snowflake_at('2022-02-01Z'), '2022-02-01Z' FROM generate_series(1, 100000);
SELECT count(DISTINCT id), min(snowflake_timestamp(id)), max(snowflake_timestamp(id)), min(snowflake_sequence(id)),
    max(snowflake_sequence(id)), (SELECT bool_and(ascends) FROM (SELECT id > lag(id) OVER (ORDER BY n) AS ascends FROM ids) AS o) AS ascending
FROM ids;
-- Times in any order, repeated and interleaved, also in milliseconds that other times have used
INSERT INTO ids (id, at) SELECT snowflake_at(t), t
FROM (SELECT timestamptz '2022-02-01Z' + (i * 7919 % 1000 - 500) * interval '0.3 ms' AS t FROM generate_series(1, 20000) AS i) AS times;
SELECT count(DISTINCT id), bool_and(snowflake_timestamp(id) >= date_trunc('milliseconds', at)) AS never_earlier,
    max(snowflake_timestamp(id) - at) < interval '200 ms' AS hardly_later FROM ids;
-- A unit with many IDs takes few rows.
SELECT count(*) < 50 AS few, max(sequence), bool_and(generator = 0) AS of_the_default_generator
FROM snowdrift_tables.backfill WHERE unit BETWEEN 34214400000 AND 34214400023;
DROP TABLE ids;
