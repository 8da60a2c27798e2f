CREATE ROLE posts_owner;
CREATE TABLE posts (id bigint PRIMARY KEY DEFAULT next_snowflake()) PARTITION BY RANGE (id);
SELECT snowdrift.create_partitions('posts', '1 month', '2025-10-01Z', '2026-12-31Z');
