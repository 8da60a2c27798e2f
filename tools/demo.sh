# shellcheck shell=bash
# ./dev demo. Part of ./dev.

cmd_demo() {
    stage
    say "Starting a throwaway PostgreSQL $pg_version"
    start_server
    local sessions=8 rows=5000 n pids=()

    say "
A table whose key is DEFAULT next_snowflake(): no configuration, no restart"
    show <<'SQL'
CREATE EXTENSION snowdrift;
CREATE TABLE posts (id bigint PRIMARY KEY DEFAULT next_snowflake(), author int, body text);
INSERT INTO posts (author, body) VALUES (0, 'hello') RETURNING id;
SQL
    say "$sessions sessions insert $rows rows each, all at once"
    for ((n = 1; n <= sessions; n++)); do
        run_psql -q -c "INSERT INTO posts (author, body)
                        SELECT $n, 'hello' FROM generate_series(1, $rows)" &
        pids+=($!)
    done
    for n in "${pids[@]}"; do wait "$n"; done
    show <<'SQL'
SELECT count(*) AS rows, count(DISTINCT id) AS distinct_ids, count(DISTINCT author) AS sessions
FROM posts;
SQL
    say "Every ID says when and where it was made; these are of one millisecond"
    show <<'SQL'
SELECT id, p.*, author FROM posts, snowflake_parts(id) AS p
WHERE snowflake_timestamp(id) = (SELECT snowflake_timestamp(id) FROM posts
                                 GROUP BY 1 ORDER BY count(DISTINCT author) DESC LIMIT 1)
ORDER BY id LIMIT 8;
SQL
    say "So the primary key answers questions about time"
    run_psql -q -c 'VACUUM ANALYZE posts'
    show <<'SQL'
SELECT count(*) AS in_the_last_hour FROM posts
WHERE snowflake_within(id, tstzrange(now() - interval '1 hour', NULL));
EXPLAIN (COSTS OFF) SELECT id FROM posts
WHERE snowflake_within(id, tstzrange(now() - interval '1 second', now())) ORDER BY id;
SQL
    say "That server is gone now. ./dev psql gives you one to play with; README.md has the rest."
}

# show: runs the statements of standard input, each shown before its result.
show() { run_psql -q -v ECHO=queries -P footer=off; }
