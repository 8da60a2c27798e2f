CREATE TABLE posts (id bigint PRIMARY KEY DEFAULT next_snowflake());
CREATE TABLE pages (id bigint PRIMARY KEY);
INSERT INTO posts DEFAULT VALUES;
CREATE ROLE failover;
