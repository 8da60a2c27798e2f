-- Creates the functions of bench/functions.cpp, and others that the benchmark measures.
CREATE EXTENSION IF NOT EXISTS snowdrift;
CREATE OR REPLACE FUNCTION bench_noop() RETURNS bigint
    AS 'snowdrift_bench', 'snowdrift_bench_noop' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
CREATE OR REPLACE FUNCTION bench_clock() RETURNS bigint
    AS 'snowdrift_bench', 'snowdrift_bench_clock' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
CREATE OR REPLACE FUNCTION bench_clock_and_atomic() RETURNS bigint
    AS 'snowdrift_bench', 'snowdrift_bench_clock_and_atomic' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
CREATE SEQUENCE IF NOT EXISTS bench_sequence;
CREATE SEQUENCE IF NOT EXISTS bench_sequence_cached CACHE 100;
CREATE OR REPLACE FUNCTION bench_ns_per_call(function oid, calls integer, argument anyelement)
    RETURNS double precision
    AS 'snowdrift_bench', 'snowdrift_bench_ns_per_call' LANGUAGE C VOLATILE;
CREATE OR REPLACE FUNCTION bench_ns_per_paced_call(function oid, calls integer, argument anyelement)
    RETURNS double precision
    AS 'snowdrift_bench', 'snowdrift_bench_ns_per_paced_call' LANGUAGE C VOLATILE;
CREATE OR REPLACE FUNCTION bench_ns_per_name(function oid, calls integer, names text[])
    RETURNS double precision
    AS 'snowdrift_bench', 'snowdrift_bench_ns_per_name' LANGUAGE C VOLATILE STRICT;
CREATE EXTENSION IF NOT EXISTS pgstattuple;
SELECT snowdrift.create_generator('wide', 'snowflake', layout => 'mastodon');
-- The function of https://instagram-engineering.com/sharding-ids-at-instagram-1cf5a71e5a5c.
CREATE SEQUENCE IF NOT EXISTS bench_instagram_sequence;
CREATE OR REPLACE FUNCTION bench_instagram(OUT result bigint) AS $$
DECLARE
    our_epoch bigint := 1314220021721;
    seq_id bigint;
    now_millis bigint;
    shard_id int := 5;
BEGIN
    SELECT nextval('bench_instagram_sequence') % 1024 INTO seq_id;
    SELECT FLOOR(EXTRACT(EPOCH FROM clock_timestamp()) * 1000) INTO now_millis;
    result := (now_millis - our_epoch) << 23;
    result := result | (shard_id << 10);
    result := result | (seq_id);
END;
$$ LANGUAGE PLPGSQL;
