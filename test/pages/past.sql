CREATE TABLE posts (id bigint, new_id bigint, created_at timestamptz);
INSERT INTO posts SELECT n, NULL, timestamptz '2025-01-01' + n * interval '1 hour' FROM generate_series(1, 100) AS n;
