-- Plans and estimates of queries with uuidv7_within(), beyond those in range_plans.sql

SET timezone = 'UTC';
-- The tables are empty: the tests check only which conditions the planner can use.
CREATE TABLE ranges (range tstzrange);
CREATE TABLE orders (id uuid PRIMARY KEY, customer int, body text);
SET enable_seqscan = off;
SET enable_bitmapscan = off;

-- The index scan uses a range of UUIDs. The predicate stays, because the range can contain random UUIDs.
EXPLAIN (COSTS OFF) SELECT * FROM orders WHERE uuidv7_within(id, '[2026-03-01, 2026-03-02)');
SELECT * FROM explain($$SELECT * FROM orders WHERE uuidv7_within(id, NULL)$$);
-- A correlated subquery could return a different range for each bound.
SELECT count(*) FROM explain('SELECT * FROM ranges JOIN orders ON uuidv7_within(id, (SELECT r.range FROM ranges AS r WHERE r.range <@ ranges.range LIMIT 1))')
WHERE plan ~ 'Index Cond: .*SubPlan';
-- A subquery runs once, and the plan uses the index. A range from the same table is a filter.
SELECT count(*) FROM explain('SELECT * FROM orders WHERE uuidv7_within(id, (SELECT range FROM ranges LIMIT 1))')
WHERE plan ~ 'Index Cond: .*first_.* AND .*last_';
SELECT * FROM explain($$SELECT * FROM orders WHERE uuidv7_within(id, tstzrange(NULL, body::timestamptz))$$);

-- OR and NOT
SET enable_bitmapscan = on;
EXPLAIN (COSTS OFF) SELECT * FROM orders
WHERE uuidv7_within(id, '[2026-03-01, 2026-03-02)') OR uuidv7_within(id, '[2026-04-01, 2026-04-02)');
SET enable_bitmapscan = off;
SELECT * FROM explain($$SELECT * FROM orders WHERE NOT uuidv7_within(id, '[2026-03-01, 2026-03-02)')$$);

-- A partial index serves the same range.
CREATE INDEX march ON orders (body) WHERE uuidv7_within(id, '[2026-03-01, 2026-04-01)');
EXPLAIN (COSTS OFF) SELECT body FROM orders WHERE uuidv7_within(id, '[2026-03-01, 2026-04-01)') AND body > 'x';
DROP INDEX march;

-- row-level security and views with a security barrier
CREATE ROLE snowdrift_reader;
GRANT SELECT ON orders, ranges TO snowdrift_reader;
ALTER TABLE orders ENABLE ROW LEVEL SECURITY;
CREATE POLICY short ON orders USING (length(body) < 100);
CREATE VIEW barrier WITH (security_barrier) AS SELECT * FROM orders WHERE length(body) < 50;
GRANT SELECT ON barrier TO snowdrift_reader;
SET ROLE snowdrift_reader;
EXPLAIN (COSTS OFF) SELECT * FROM orders WHERE uuidv7_within(id, '[2026-03-01, 2026-03-02)');
EXPLAIN (COSTS OFF) SELECT * FROM barrier WHERE uuidv7_within(id, '[2026-03-01, 2026-03-02)');
RESET ROLE;

-- A role without EXECUTE on the functions that bound the IDs still gets the result. A role without EXECUTE on
-- the predicate gets an error.
REVOKE EXECUTE ON FUNCTION snowdrift.first_uuidv7_within FROM PUBLIC;
SET ROLE snowdrift_reader;
SELECT count(*) FILTER (WHERE plan ~ 'Index Cond') FROM explain('SELECT * FROM orders WHERE uuidv7_within(id, ''(,)'')');
SELECT count(*) FROM orders WHERE uuidv7_within(id, '(,)');
RESET ROLE;
GRANT EXECUTE ON FUNCTION snowdrift.first_uuidv7_within TO PUBLIC;
REVOKE EXECUTE ON FUNCTION uuidv7_within FROM PUBLIC;
SET ROLE snowdrift_reader;
SELECT error_of('SELECT * FROM orders WHERE uuidv7_within(id, ''(,)'')');
RESET ROLE;
GRANT EXECUTE ON FUNCTION uuidv7_within TO PUBLIC;
DROP VIEW barrier;
ALTER TABLE orders DISABLE ROW LEVEL SECURITY;

-- Partitions are pruned at planning.
CREATE TABLE visits (id uuid NOT NULL, body text) PARTITION BY RANGE (id);
SELECT snowdrift.create_partitions('visits', '1 month', '2026-01-01Z', '2026-03-01Z');
CREATE TABLE visits_default PARTITION OF visits DEFAULT;
CREATE INDEX ON visits (id);
EXPLAIN (COSTS OFF) SELECT * FROM visits WHERE uuidv7_within(id, '[2026-02-05, 2026-02-06)');
EXPLAIN (COSTS OFF) SELECT * FROM visits WHERE uuidv7_within(id, '[2026-01-31, 2026-02-02]') ORDER BY id;
EXPLAIN (COSTS OFF) DELETE FROM visits WHERE uuidv7_within(id, '[2026-02-05, 2026-02-06)');
SELECT * FROM explain($$SELECT * FROM visits WHERE uuidv7_within(id, '[2026-02-05, 2026-02-06)')
    OR uuidv7_within(id, '[2026-02-07, 2026-02-08)')$$) WHERE plan ~ ' on ';
-- beside other conditions, and in a function that the planner inlines
EXPLAIN (COSTS OFF) SELECT * FROM visits WHERE body = 'x' AND uuidv7_within(id, '[2026-02-05, 2026-02-06)') AND body <> 'y';
SELECT relation FROM scans_of($$SELECT * FROM visits WHERE body = 'x' AND (body = 'y' OR uuidv7_within(id, '[2026-02-05, 2026-02-06)'))
    AND ((uuidv7_within(id, '[2026-01-01,)') AND body <> 'z') OR (body = 'w' AND uuidv7_within(id, '[2026-02-01, 2026-02-06)')))$$);
CREATE FUNCTION is_nice(body text, is_recent boolean) RETURNS boolean LANGUAGE sql IMMUTABLE RETURN body = 'x' AND is_recent;
SELECT relation FROM scans_of($$SELECT * FROM visits WHERE is_nice(body, uuidv7_within(id, '[2026-02-05, 2026-02-06)') AND body <> 'y')$$);
DROP FUNCTION is_nice;
CREATE INDEX february ON visits_2026_02 (body) WHERE uuidv7_within(id, '[2026-02-05, 2026-02-06)');
SET enable_sort = off;
EXPLAIN (COSTS OFF) SELECT body FROM visits WHERE uuidv7_within(id, '[2026-02-05, 2026-02-06)') ORDER BY body;
RESET enable_sort;
DROP INDEX february;
SELECT trim(plan, ' ->') AS plan FROM explain($$SELECT * FROM ranges LEFT JOIN visits ON true
    WHERE uuidv7_within(id, '[2026-02-05, 2026-02-06)')$$) WHERE plan ~ ' on visits';
-- at execution
SET plan_cache_mode = force_generic_plan;
PREPARE visits_within(tstzrange) AS SELECT * FROM visits WHERE uuidv7_within(id, $1);
EXPLAIN (COSTS OFF) EXECUTE visits_within('[2026-02-05, 2026-02-06)');
EXPLAIN (COSTS OFF) EXECUTE visits_within('empty');
RESET plan_cache_mode;
SELECT count(*) FROM explain('SELECT * FROM visits WHERE uuidv7_within(id, tstzrange(NULL, now() - interval ''500 years''))')
WHERE plan ~ 'Subplans Removed: [34]';
INSERT INTO ranges VALUES ('[2026-02-05, 2026-02-06)'), ('[2026-03-05, 2026-03-06)');
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT * FROM scans_of('SELECT * FROM ranges JOIN visits ON uuidv7_within(id, range)');
-- partitions of partitions, whose keys are another column and the ID
CREATE TABLE bookings (id uuid NOT NULL, region int NOT NULL) PARTITION BY LIST (region);
CREATE TABLE bookings_1 PARTITION OF bookings FOR VALUES IN (1) PARTITION BY RANGE (id);
CREATE TABLE bookings_2 PARTITION OF bookings FOR VALUES IN (2);
SELECT snowdrift.create_partitions('bookings_1', '1 month', '2026-01-01Z', '2026-03-01Z');
CREATE INDEX ON bookings (id);
EXPLAIN (COSTS OFF) SELECT * FROM bookings WHERE uuidv7_within(id, '[2026-02-05, 2026-02-06)');
SELECT * FROM scans_of('SELECT * FROM ranges JOIN bookings ON uuidv7_within(id, range)');
RESET enable_hashjoin;
RESET enable_mergejoin;
DROP TABLE bookings;
DELETE FROM ranges;

-- Constraints exclude tables that inherit, and tables in UNION ALL.
CREATE TABLE parent (id uuid);
CREATE TABLE january (CHECK (id < '019c1688-9800-7000-8000-000000000000')) INHERITS (parent);
CREATE TABLE february (CHECK (id >= '019c1688-9800-7000-8000-000000000000')) INHERITS (parent);
SELECT * FROM explain($$SELECT * FROM parent WHERE uuidv7_within(id, '[2026-02-05, 2026-02-06)')$$) WHERE plan ~ ' on ';
SELECT * FROM explain($$SELECT * FROM (SELECT * FROM january UNION ALL SELECT * FROM february) AS parts
    WHERE uuidv7_within(id, '[2026-01-05, 2026-01-06)')$$) WHERE plan ~ ' on ';
DROP TABLE parent, january, february;
RESET enable_seqscan;
RESET enable_bitmapscan;

-- Results: half of the keys have version 7, and some of the random ones are between them, as are UUIDs of other
-- versions and variants with the same first 48 bits.
CREATE TABLE keys AS
SELECT id, uuidv7_timestamp(id) AS t FROM (
    SELECT uuidv7_at('2026-01-01Z'::timestamptz + n * interval '10 minutes') AS id FROM generate_series(1, 50000) AS n
    UNION ALL SELECT gen_random_uuid() FROM generate_series(1, 50000)
    UNION ALL SELECT overlay(uuidv7_at('2026-01-01Z'::timestamptz + n * interval '1 hour')::text
        PLACING digit FROM position FOR 1)::uuid
    FROM generate_series(1, 8000) AS n, (VALUES ('4', 15), ('8', 15), ('c', 20), ('0', 20)) AS changes(digit, position)
    UNION ALL SELECT NULL) AS ids;
CREATE INDEX ON keys (id);
CREATE INDEX keys_brin ON keys USING brin (id) WITH (pages_per_range = 1);
ANALYZE keys;
INSERT INTO visits SELECT id FROM keys WHERE id IS NOT NULL;
CREATE FUNCTION count_of(source text, range tstzrange) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE result bigint;
BEGIN
    EXECUTE format('SELECT count(*) FROM %I WHERE uuidv7_within(id, %L)', source, range) INTO result;
    RETURN result;
END $$;
INSERT INTO ranges SELECT tstzrange(t, t + span, bounds) FROM
    generate_series(timestamptz '2025-12-25', '2026-12-25', '34 days 03:07:11.0005') AS t,
    (VALUES (interval '0'), ('1 hour'), ('1 day'), ('40 days')) AS spans(span), (VALUES ('[)'), ('[]'), ('(]')) AS kinds(bounds)
UNION ALL SELECT tstzrange(t, NULL) FROM (VALUES (timestamptz '2026-02-03'), ('2030-01-01'), ('-infinity'), (NULL)) AS times(t)
UNION ALL SELECT tstzrange(NULL, t) FROM (VALUES (timestamptz '2026-02-03'), ('2020-01-01'), ('infinity')) AS times(t);
SELECT count(*), count(*) FILTER (WHERE n > 0) > 50 AS many_match,
    count(*) FILTER (WHERE n <> count_of('keys', range) OR n <> count_of('visits', range)) AS wrong
FROM (SELECT range, (SELECT count(*) FROM keys WHERE t <@ range) AS n FROM ranges) AS counts;
SELECT count(*) = (SELECT count(*) FROM ranges JOIN keys ON t <@ range) AS joined_keys
FROM ranges JOIN keys ON uuidv7_within(id, range);
DROP INDEX keys_id_idx;
SET enable_seqscan = off;
SELECT count(*) FILTER (WHERE n <> count_of('keys', range)) AS wrong_with_brin
FROM (SELECT range, (SELECT count(*) FROM keys WHERE t <@ range) AS n FROM ranges) AS counts;
RESET enable_seqscan;
DROP TABLE keys, visits;

-- Estimates: times in a year, in columns with and without random UUIDs, with different statistics, and in partitions
CREATE UNLOGGED TABLE version_7 AS
SELECT uuidv7_at('2026-01-01Z'::timestamptz + n * interval '157.68 s') AS id FROM generate_series(0, 199999) AS n;
CREATE UNLOGGED TABLE mixed AS SELECT * FROM version_7 UNION ALL SELECT gen_random_uuid() FROM generate_series(1, 200000);
CREATE UNLOGGED TABLE mixed_10 AS SELECT * FROM mixed;
ALTER TABLE mixed_10 ALTER id SET STATISTICS 10;
CREATE DOMAIN key AS uuid;
CREATE UNLOGGED TABLE of_domain AS SELECT id::key FROM mixed;
CREATE UNLOGGED TABLE half_null AS SELECT * FROM version_7 UNION ALL SELECT NULL FROM generate_series(1, 200000);
CREATE UNLOGGED TABLE sparse AS SELECT CASE WHEN right(id::text, 1) < '4' THEN id END AS id FROM mixed;
CREATE UNLOGGED TABLE few AS SELECT id FROM (SELECT id, row_number() OVER () AS n FROM version_7) AS numbered WHERE n % 2000 = 1;
CREATE UNLOGGED TABLE repeated AS SELECT few.id FROM few, generate_series(1, 500);
CREATE TABLE months (id uuid NOT NULL) PARTITION BY RANGE (id);
CREATE TABLE years (id uuid NOT NULL) PARTITION BY RANGE (id);
SELECT count(*) FROM (VALUES ('months', interval '1 month'), ('years', '1 year')) AS tables(name, step),
    snowdrift.create_partitions(name::regclass, step, '2026-01-01Z', '2026-12-01Z');
CREATE TABLE months_default PARTITION OF months DEFAULT;
CREATE TABLE years_default PARTITION OF years DEFAULT;
INSERT INTO months SELECT * FROM mixed;
INSERT INTO years SELECT * FROM mixed;
CREATE VIEW united AS SELECT * FROM version_7 UNION ALL SELECT * FROM mixed;
ANALYZE version_7, mixed, mixed_10, of_domain, half_null, sparse, few, repeated, months, years;
-- good_estimates(TABLE, ROWS): how many of 34 estimates are within a factor of 2 of what ROWS per day imply
CREATE FUNCTION good_estimates(source text, rows_per_day float) RETURNS TABLE (source text, span interval, good bigint)
LANGUAGE sql AS $$
    SELECT $1, span, count(*) FILTER (WHERE estimate BETWEEN expected / 2 AND expected * 2)
    FROM (VALUES (interval '1 hour', 1 / 24.0), ('1 day', 1), ('30 days', 30)) AS spans(span, days),
        generate_series(timestamptz '2026-01-01', '2026-12-01', '10 days') AS start,
        LATERAL (SELECT days * $2 AS expected,
            estimate_of(format('SELECT * FROM %I WHERE uuidv7_within(id, %L)', $1, tstzrange(start, start + span))) AS estimate) AS estimated
    GROUP BY span
$$;
SELECT source, span, good > 27 AS within_a_factor_of_2
FROM (VALUES ('version_7', 1), ('mixed', 1), ('mixed_10', 1), ('of_domain', 1), ('half_null', 1), ('sparse', 0.25),
        ('months', 1), ('years', 1), ('united', 2)) AS tables(name, share),
    good_estimates(name, share * 86400 / 157.68) ORDER BY source, span;
SELECT source, good > 27 AS within_a_factor_of_2
FROM (VALUES ('few', 100), ('repeated', 100 * 500)) AS tables(name, count),
    good_estimates(name, count / 365.0) WHERE span = '30 days' ORDER BY source;
-- all times, the last days, and times before and after those of all keys. In one sample of thousands, a random UUID is a bound
-- of the histogram beside the first or last key; then part of that bucket, a hundredth of the rows, is spread over all times.
SELECT source, estimate_of(format('SELECT * FROM %I WHERE uuidv7_within(id, ''(,)'')', source)) BETWEEN 150000 AND 250000 AS all_times,
    estimate_of(format('SELECT * FROM %I WHERE uuidv7_within(id, ''[2026-12-22,)'')', source)) BETWEEN 2740 AND 10958 AS last_days,
    estimate_of(format('SELECT * FROM %I WHERE uuidv7_within(id, ''(,2026-01-11)'')', source)) BETWEEN 2740 AND 10958 AS first_days,
    estimate_of(format('SELECT * FROM %I WHERE uuidv7_within(id, ''[2020-01-01,2021-01-01)'')', source)) < 500 AS before,
    estimate_of(format('SELECT * FROM %I WHERE uuidv7_within(id, ''[2030-01-01,2031-01-01)'')', source)) < 500 AS after,
    estimate_of(format('SELECT * FROM %I WHERE uuidv7_within(id, ''empty'')', source)) < 20 AS empty
FROM (VALUES ('version_7'), ('mixed'), ('months'), ('years')) AS tables(source);
-- Without statistics, or with times that are not known at planning, the estimate is PostgreSQL's default for ranges.
CREATE TABLE new (id uuid) WITH (autovacuum_enabled = off);
INSERT INTO new SELECT * FROM version_7 LIMIT 10000;
SET plan_cache_mode = force_generic_plan;
PREPARE mixed_within(tstzrange) AS SELECT * FROM mixed WHERE uuidv7_within(id, $1);
PREPARE years_within(tstzrange) AS SELECT * FROM years WHERE uuidv7_within(id, $1);
SELECT estimate_of('SELECT * FROM new WHERE uuidv7_within(id, ''[2026-03-01, 2026-03-02)'')') BETWEEN 25 AND 100 AS no_statistics,
    estimate_of('SELECT * FROM mixed WHERE uuidv7_within(id, tstzrange(NULL, clock_timestamp()))') = 2000 AS volatile_times,
    estimate_of('EXECUTE mixed_within(''[2026-03-01, 2026-03-02)'')') = 2000 AS generic_plan,
    estimate_of('EXECUTE years_within(''[2026-03-01, 2026-03-02)'')') BETWEEN 1990 AND 2010 AS generic_plan_of_partitions;
RESET plan_cache_mode;

DROP VIEW united;
DROP TABLE ranges, orders, version_7, mixed, mixed_10, of_domain, half_null, sparse, few, repeated, months, years, new;
DROP DOMAIN key;
DROP FUNCTION count_of, good_estimates;
DROP ROLE snowdrift_reader;
RESET timezone;
