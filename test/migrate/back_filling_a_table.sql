-- The tables of the page, with 30 posts of each of 1000 times, and a comment on each post
CREATE EXTENSION snowdrift;
CREATE ROLE migrator;
CREATE TABLE posts (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    created_at timestamptz NOT NULL DEFAULT now(), body text);
CREATE TABLE comments (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    post_id integer NOT NULL REFERENCES posts, body text);
INSERT INTO posts (created_at, body) SELECT '2024-01-01Z'::timestamptz + n / 30 * interval '1 hour', n FROM generate_series(0, 29999) AS n;
INSERT INTO comments (post_id, body) SELECT id, body FROM posts;
-- A trigger of the application that sets references, with a name that is late in the order
ALTER TABLE comments ADD post_body text;
CREATE FUNCTION set_post() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.post_id := (SELECT id FROM posts WHERE body = NEW.post_body);
    RETURN NEW;
END $$;
CREATE TRIGGER set_post BEFORE INSERT OR UPDATE OF post_body ON comments
    FOR EACH ROW WHEN (NEW.post_body IS NOT NULL) EXECUTE FUNCTION set_post();
CREATE TABLE before AS SELECT id::text FROM comments;
