-- Whose rights functions in other roles' tables get when partitions are created and dropped: never more than their owner's
SET client_min_messages = warning;
CREATE ROLE snowdrift_lurker;
CREATE ROLE snowdrift_poster;
CREATE ROLE snowdrift_app IN ROLE snowdrift_poster;
CREATE SCHEMA posts AUTHORIZATION snowdrift_poster;
CREATE SCHEMA lurk AUTHORIZATION snowdrift_lurker;
GRANT USAGE ON SCHEMA posts, lurk TO PUBLIC;
SET ROLE snowdrift_poster;
CREATE TABLE posts.posts (id bigint PRIMARY KEY DEFAULT next_snowflake(), author integer) PARTITION BY RANGE (id);
GRANT SELECT, REFERENCES ON posts.posts TO PUBLIC;
SET ROLE snowdrift_lurker;
-- A function in an index of the lurker's table notes for whom it runs. The planner calls it.
CREATE TABLE lurk.loot (who text);
GRANT INSERT ON lurk.loot TO PUBLIC;
CREATE FUNCTION lurk.note() RETURNS void LANGUAGE sql AS 'INSERT INTO lurk.loot VALUES (current_user)';
CREATE FUNCTION lurk.evil(n integer) RETURNS integer LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF current_user <> 'snowdrift_lurker' THEN
        PERFORM lurk.note();
    END IF;
    RETURN n;
END $$;
CREATE TABLE lurk.users (id integer PRIMARY KEY);
CREATE INDEX ON lurk.users ((id + lurk.evil(1)));
GRANT SELECT, REFERENCES ON lurk.users TO PUBLIC;
CREATE TABLE lurk.refers (post bigint REFERENCES posts.posts, x integer);
CREATE INDEX ON lurk.refers ((x + lurk.evil(1)));
GRANT SELECT ON lurk.refers TO PUBLIC;

-- The trap works.
SET ROLE snowdrift_app;
SELECT count(*) FROM lurk.users WHERE id = 1;
RESET ROLE;
SELECT count(*) > 0 AS trapped FROM lurk.loot;
TRUNCATE lurk.loot;

-- calls(ROLE): what the functions do for a role
CREATE FUNCTION calls(role text) RETURNS TABLE (result text) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('role', role, true);
    RETURN QUERY SELECT error_of(call) FROM (VALUES
        ($c$SELECT snowdrift.create_partitions('posts.posts', '1 month', '2026-11-01Z', '2027-01-01Z')$c$),
        ($c$SELECT snowdrift.create_partitions('posts.posts', '1 month', '2022-01-01Z', '2022-01-01Z')$c$),
        ($c$SELECT snowdrift.create_partitions('posts.posts', '1 month', '2060-01-01Z', '2060-01-01Z')$c$),
        ($c$SELECT snowdrift.drop_partitions('posts.posts', '1 year')$c$),
        ($c$SELECT snowdrift.drop_partitions_before('posts.posts', '2022-02-01Z')$c$)) AS calls(call);
    PERFORM set_config('role', 'none', true);
    PERFORM count(*) FROM snowdrift.partitions('posts.posts');
END $$;
-- A referring table of another role
BEGIN;
SELECT calls('snowdrift_poster') UNION SELECT calls('snowdrift_app') UNION SELECT calls('none') UNION SELECT calls('snowdrift_lurker') ORDER BY 1;
SELECT * FROM lurk.loot;
ROLLBACK;
-- the table of a superuser, who is a member of all roles
BEGIN;
ALTER TABLE posts.posts OWNER TO CURRENT_USER;
SELECT left(calls('none'), 5) AS sqlstate;
SELECT * FROM lurk.loot;
ROLLBACK;
DROP TABLE lurk.refers;

-- Without it: all can call, except the lurker, and the partitions belong to the table's owner.
BEGIN;
SELECT calls('snowdrift_app');
SELECT relowner::regrole, count(*) FROM pg_class WHERE relkind = 'r' AND relnamespace = 'posts'::regnamespace GROUP BY relowner;
SELECT calls('none'), current_user = session_user AS is_restored;
SELECT relowner::regrole FROM pg_class WHERE relkind = 'r' AND relnamespace = 'posts'::regnamespace GROUP BY relowner;
ROLLBACK;

-- A reference to another role's table: CREATE TABLE … PARTITION OF, which needs no trust, and a stronger lock.
SET ROLE snowdrift_poster;
ALTER TABLE posts.posts ADD FOREIGN KEY (author) REFERENCES lurk.users;
RESET ROLE;
TRUNCATE lurk.loot;
BEGIN;
SELECT count(*) FROM snowdrift.create_partitions('posts.posts', '1 month', '2026-11-01Z', '2026-12-01Z');
SELECT mode FROM pg_locks WHERE relation = 'posts.posts'::regclass AND mode LIKE 'Access%Exclusive%' AND pid = pg_backend_pid();
SELECT conname, count(*) FROM pg_constraint WHERE contype = 'f' AND conrelid <> 'posts.posts'::regclass AND connamespace = 'posts'::regnamespace GROUP BY 1;
SELECT calls('snowdrift_app') UNION SELECT calls('none') ORDER BY 1;
SELECT * FROM lurk.loot;
ROLLBACK;
-- of the same owner: the weaker lock
ALTER TABLE lurk.users OWNER TO snowdrift_poster;
BEGIN;
SELECT count(*) FROM snowdrift.create_partitions('posts.posts', '1 month', '2026-11-01Z', '2026-12-01Z');
SELECT mode FROM pg_locks WHERE relation = 'posts.posts'::regclass AND mode LIKE 'Access%Exclusive%' AND pid = pg_backend_pid();
ROLLBACK;

-- A DEFAULT partition of another role
SET ROLE snowdrift_poster;
ALTER TABLE posts.posts DROP CONSTRAINT posts_author_fkey;
CREATE TABLE posts.other PARTITION OF posts.posts DEFAULT;
RESET ROLE;
ALTER TABLE posts.other OWNER TO snowdrift_lurker;
ALTER TABLE posts.other ADD CHECK (author > lurk.evil(0));
TRUNCATE lurk.loot;
SELECT calls('snowdrift_app') UNION SELECT calls('none') ORDER BY 1;
SELECT * FROM lurk.loot;
DROP TABLE posts.other;

-- The table's own functions cannot reset the role to that of the session.
SET ROLE snowdrift_poster;
CREATE FUNCTION posts.reset(n integer) RETURNS integer LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    PERFORM set_config('role', 'none', false);
    PERFORM lurk.note();
    RETURN n;
EXCEPTION WHEN insufficient_privilege THEN
    RETURN n;
END $$;
ALTER TABLE posts.posts ADD CHECK (author > posts.reset(0));
CREATE INDEX ON posts.posts ((author + posts.reset(1)));
RESET ROLE;
TRUNCATE lurk.loot;
BEGIN;
SELECT calls('none');
SELECT * FROM lurk.loot;
SELECT posts.reset(1), count(*) AS trapped FROM lurk.loot;
ROLLBACK;
SET ROLE snowdrift_poster;
ALTER TABLE posts.posts DROP CONSTRAINT posts_author_check;
RESET ROLE;

-- Who may read only some rows of the table cannot read its new partitions, whatever the owner's default privileges are.
BEGIN;
ALTER DEFAULT PRIVILEGES FOR ROLE snowdrift_poster GRANT SELECT ON TABLES TO snowdrift_lurker;
SET ROLE snowdrift_poster;
CREATE TABLE posts.own (id bigint DEFAULT next_snowflake(), owner text) PARTITION BY RANGE (id);
ALTER TABLE posts.own ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON posts.own USING (owner = current_user);
SELECT snowdrift.create_partitions('posts.own', '1 month', '2026-11-01Z', '2026-11-01Z');
INSERT INTO posts.own VALUES (snowflake_boundary('2026-11-29Z'), 'snowdrift_poster'), (snowflake_boundary('2026-11-29Z'), 'snowdrift_lurker');
SELECT count(*) FROM posts.own_2026_11;
SET ROLE snowdrift_lurker;
SELECT (SELECT count(*) FROM posts.own) AS own, (SELECT count(*) FROM posts.own_2026_11) AS directly;
ROLLBACK;
-- Partitions of a table that has none have none. The same if a foreign key refers to a table of another role,
BEGIN;
ALTER TABLE lurk.users OWNER TO snowdrift_lurker;
SELECT snowdrift.create_partitions('posts.posts', '1 month', '2028-10-01Z', '2028-10-01Z');
ALTER TABLE posts.posts ADD FOREIGN KEY (author) REFERENCES lurk.users, ENABLE ROW LEVEL SECURITY;
SELECT snowdrift.create_partitions('posts.posts', '1 month', '2028-11-01Z', '2028-11-01Z');
SELECT relname, relrowsecurity FROM pg_class WHERE oid IN ('posts.posts_2028_10'::regclass, 'posts.posts_2028_11'::regclass) ORDER BY 1;
ROLLBACK;
-- or if the table is itself a partition of one that has it.
BEGIN;
CREATE TABLE posts.tenants (id bigint DEFAULT next_snowflake(), tenant integer) PARTITION BY LIST (tenant);
CREATE TABLE posts.tenant PARTITION OF posts.tenants FOR VALUES IN (1) PARTITION BY RANGE (id);
ALTER TABLE posts.tenants ENABLE ROW LEVEL SECURITY;
SELECT snowdrift.create_partitions('posts.tenant', '1 month', '2028-11-01Z', '2028-11-01Z');
SELECT relrowsecurity FROM pg_class WHERE oid = 'posts.tenant_2028_11'::regclass;
ROLLBACK;

-- In a function with SECURITY DEFINER, its owner is the caller.
CREATE FUNCTION posts.job() RETURNS bigint LANGUAGE sql SECURITY DEFINER
    AS $$SELECT count(*) FROM snowdrift.create_partitions('posts.posts', '1 month', '2026-11-01Z', '2026-11-01Z')$$;
ALTER FUNCTION posts.job() OWNER TO snowdrift_poster;
SELECT posts.job();
ALTER FUNCTION posts.job() OWNER TO snowdrift_app;
SELECT posts.job();
ALTER FUNCTION posts.job() OWNER TO snowdrift_lurker;
SELECT error_of('SELECT posts.job()') LIKE '42501: %' AS refused;

-- run_as_owner() permits no more than SET ROLE does: not the role of a superuser, nor within functions of others.
CREATE ROLE snowdrift_chief SUPERUSER;
GRANT snowdrift_chief TO snowdrift_app;
CREATE TABLE posts.of_chief (id bigint) PARTITION BY RANGE (id);
ALTER TABLE posts.of_chief OWNER TO snowdrift_chief;
CREATE FUNCTION posts.run(owned regclass) RETURNS text LANGUAGE sql VOLATILE SECURITY DEFINER
    BEGIN ATOMIC SELECT snowdrift.run_as_owner(owned, 'SELECT current_user'); END;
ALTER FUNCTION posts.run(regclass) OWNER TO snowdrift_app;
GRANT CREATE ON SCHEMA posts TO snowdrift_app;
SET ROLE snowdrift_app;
SELECT snowdrift.run_as_owner('posts.posts', 'SELECT current_user');
SELECT error_of($$SELECT snowdrift.run_as_owner('posts.of_chief', 'SELECT current_user')$$);
SELECT error_of($$SELECT snowdrift.run_as_owner('pg_class', 'SELECT current_user')$$);
SELECT error_of($$SELECT posts.run('posts.posts')$$);
SELECT error_of($$CREATE MATERIALIZED VIEW posts.restricted AS SELECT snowdrift.run_as_owner('posts.posts', 'SELECT current_user')$$);
RESET ROLE;
DROP FUNCTION posts.run(regclass);
DROP TABLE posts.of_chief;
REVOKE CREATE ON SCHEMA posts FROM snowdrift_app;
DROP ROLE snowdrift_chief;

-- The caller's default table space and access method are not those of partitions.
SET allow_in_place_tablespaces = on;
CREATE TABLESPACE snowdrift_elsewhere LOCATION '';
CREATE ACCESS METHOD heap2 TYPE TABLE HANDLER heap_tableam_handler;
GRANT CREATE ON TABLESPACE snowdrift_elsewhere TO snowdrift_poster;
SET default_tablespace = snowdrift_elsewhere;
SET default_table_access_method = heap2;
SELECT count(*) FROM snowdrift.create_partitions('posts.posts', '1 month', '2027-05-01Z', '2027-05-01Z');
SHOW default_tablespace;
RESET default_tablespace;
RESET default_table_access_method;
SELECT c.relname, amname, c.reltablespace FROM pg_class AS c LEFT JOIN pg_am AS a ON a.oid = relam WHERE c.relname LIKE 'posts\_2027\_05%' ORDER BY 1;
-- Those of the table are.
DROP TABLE posts.posts;
SET ROLE snowdrift_poster;
CREATE TABLE posts.posts (id bigint PRIMARY KEY DEFAULT next_snowflake()) PARTITION BY RANGE (id) TABLESPACE snowdrift_elsewhere;
RESET ROLE;
SELECT count(*) FROM snowdrift.create_partitions('posts.posts', '1 month', '2027-05-01Z', '2027-05-01Z');
SELECT spcname FROM pg_class AS c JOIN pg_tablespace AS t ON t.oid = reltablespace WHERE c.oid = 'posts.posts_2027_05'::regclass;
DROP TABLE posts.posts;
DROP TABLESPACE snowdrift_elsewhere;
DROP ACCESS METHOD heap2;

DROP FUNCTION calls(text), posts.job();
SET client_min_messages = error;
DROP SCHEMA posts, lurk CASCADE;
DROP ROLE snowdrift_app, snowdrift_poster, snowdrift_lurker;
