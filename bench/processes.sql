-- The tables of ./dev bench sessions --processes N, what it measures, and the result.
CREATE EXTENSION snowdrift;
CREATE SCHEMA bench;
CREATE SEQUENCE bench.numbers;
CREATE TABLE bench.identity (id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY, value int);
CREATE TABLE bench.identity_hash (id bigint PRIMARY KEY DEFAULT nextval('bench.numbers'), value int) PARTITION BY HASH (id);
CREATE TABLE bench.snowflake (id bigint PRIMARY KEY DEFAULT next_snowflake(), value int);
CREATE TABLE bench.snowflake_hash (id bigint PRIMARY KEY DEFAULT next_snowflake(), value int) PARTITION BY HASH (id);
CREATE TABLE bench.random (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), value int);
SELECT format('CREATE TABLE bench.%1$s_%2$s PARTITION OF bench.%1$s FOR VALUES WITH (MODULUS 16, REMAINDER %2$s)', t, n)
FROM unnest('{identity_hash,snowflake_hash}'::text[]) AS t, generate_series(0, 15) AS n \gexec

CREATE TABLE bench.speed (name text, rows_per_second float8);
CREATE TABLE bench.waits (name text, of_pages bigint, of_locks bigint, samples bigint);

-- Samples what the sessions that insert are waiting for, ten times per second.
CREATE PROCEDURE bench.sample(name text, seconds int) LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN 1 .. seconds * 10 LOOP
        INSERT INTO bench.waits SELECT name, count(*) FILTER (WHERE wait_event = 'BufferContent' OR wait_event_type = 'Buffer'),
            count(*) FILTER (WHERE wait_event_type IN ('LWLock', 'Buffer')), count(*)    -- Buffer: since PostgreSQL 19
        FROM pg_stat_activity WHERE query LIKE 'INSERT INTO bench.' || name || ' (value)%';
        COMMIT;
        PERFORM pg_sleep(0.1), pg_stat_clear_snapshot();
    END LOOP;
END $$;

CREATE VIEW bench.result AS
    WITH medians AS (SELECT name, percentile_cont(0.5) WITHIN GROUP (ORDER BY rows_per_second) AS speed FROM bench.speed GROUP BY name)
    SELECT CASE name WHEN 'identity' THEN 'identity column' WHEN 'identity_hash' THEN 'sequence, 16 hash partitions' WHEN 'snowflake' THEN 'Snowflake'
            WHEN 'snowflake_hash' THEN 'Snowflake, 16 hash partitions' ELSE 'random UUID' END AS key,
        round(speed) AS "rows per second", round((speed / (SELECT speed FROM medians WHERE name = 'identity'))::numeric, 2) AS ratio,
        round(100.0 * pages, 1) AS "waiting for pages, %", round(100.0 * locks, 1) AS "for a lightweight lock, %"
    FROM medians JOIN (SELECT w.name, sum(of_pages) / nullif(sum(samples), 0) AS pages, sum(of_locks) / nullif(sum(samples), 0) AS locks
                       FROM bench.waits AS w GROUP BY 1) AS w USING (name)
    ORDER BY speed DESC;
