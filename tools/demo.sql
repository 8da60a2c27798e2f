-- ./dev demo runs this script in psql, which shows each statement before its result.
\set ECHO queries
\pset footer off

\echo
\echo :bold'A table with a Snowflake key needs no configuration and no restart':plain
CREATE EXTENSION snowdrift;
CREATE TABLE posts (id bigint PRIMARY KEY DEFAULT next_snowflake(), author int, body text);
INSERT INTO posts (author, body) VALUES (0, 'hello') RETURNING id;

\echo :bold'8 concurrent sessions insert 5000 rows each':plain
\! for n in 1 2 3 4 5 6 7 8; do psql -X -q -c "INSERT INTO posts (author, body) SELECT $n, 'hello' FROM generate_series(1, 5000)" & done; wait
SELECT count(*) AS rows, count(DISTINCT id) AS distinct_ids, count(DISTINCT author) AS sessions
FROM posts;

\echo :bold'Each ID contains its time and its node':plain
SELECT id, p.*, author FROM posts, snowflake_parts(id) AS p ORDER BY id LIMIT 3;

\echo :bold'A millisecond in which several sessions drew IDs':plain
SELECT snowflake_timestamp(id) AS time, author AS session, count(*) AS ids,
       min(snowflake_sequence(id)) AS first_sequence, max(snowflake_sequence(id)) AS last_sequence
FROM posts WHERE snowflake_timestamp(id) = (SELECT snowflake_timestamp(id) FROM posts
                                            GROUP BY 1 ORDER BY count(DISTINCT author) DESC, count(*) DESC LIMIT 1)
GROUP BY 1, 2 ORDER BY first_sequence;

\echo :bold'The index on the primary key is also an index on the time':plain
\set ECHO none
VACUUM ANALYZE posts;
\set ECHO queries
SELECT count(*) AS in_the_last_hour FROM posts
WHERE snowflake_within(id, tstzrange(now() - interval '1 hour', NULL));
EXPLAIN (COSTS OFF) SELECT id FROM posts
WHERE snowflake_within(id, tstzrange(now() - interval '1 second', now())) ORDER BY id;
