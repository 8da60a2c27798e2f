CREATE TABLE events (id bigint PRIMARY KEY DEFAULT next_snowflake(), body text);
CREATE TABLE staged (body text);
\set sql_last_value 0
