-- Snowflake IDs in tables: defaults, generated columns and indexes
SET TIME ZONE 'UTC';

CREATE TABLE posts (
    id bigint PRIMARY KEY DEFAULT next_snowflake(),
    body text,
    created_at timestamptz GENERATED ALWAYS AS (snowflake_timestamp(id)) STORED
);
INSERT INTO posts (body) VALUES ('hello'), ('world');
SELECT count(DISTINCT id), bool_and(created_at = snowflake_timestamp(id)) FROM posts;
INSERT INTO posts (id, body) VALUES (132271570944274432, 'golden') RETURNING id, created_at;

-- an index on decoded fields
CREATE INDEX posts_worker ON posts (snowflake_worker(id), snowflake_timestamp(id));
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT body FROM posts WHERE snowflake_worker(id) = 3;
SELECT body FROM posts WHERE snowflake_worker(id) = 3;

RESET enable_seqscan;

-- the same with JIT compilation
SET jit_above_cost = 0;
SET jit_inline_above_cost = 0;
SET jit_optimize_above_cost = 0;
SELECT body, snowflake_datacenter(id), snowflake_worker(id) FROM posts
WHERE snowflake_worker(id) = 3 AND next_snowflake() > id;
RESET jit_above_cost;
RESET jit_inline_above_cost;
RESET jit_optimize_above_cost;

DROP TABLE posts;
