-- Plans of queries with time predicates, beyond those in range_plans.sql

-- The tables are empty: the tests check only which conditions the planner can use.
CREATE TABLE moments (t timestamptz);
CREATE TABLE ranges (range tstzrange);
CREATE TABLE events (id ulid PRIMARY KEY, body text);
CREATE TABLE visits (id bigint PRIMARY KEY, body text);
CREATE TABLE people (id sno PRIMARY KEY, body text);
SET enable_seqscan = off;
SET enable_bitmapscan = off;

-- Times known at planning become IDs, and the plan has only the necessary bounds.
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE id >= '2026-03-01Z'::timestamptz;
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE id <= '2026-03-01Z'::timestamptz;
EXPLAIN (COSTS OFF) SELECT * FROM events
WHERE '2026-03-01Z'::timestamptz <= id AND '2026-03-02Z'::timestamptz > id;
EXPLAIN (COSTS OFF) SELECT * FROM people WHERE sno_within(id, '[2026-03-01Z, 2026-03-02Z)');
EXPLAIN (COSTS OFF) SELECT * FROM people WHERE sno_within(id, '(,)');
EXPLAIN (COSTS OFF) SELECT * FROM people WHERE id > 'infinity'::timestamptz;
SELECT * FROM explain($$SELECT * FROM events WHERE id < NULL::timestamptz$$);

-- Times known only at execution become calls of functions in index conditions.
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE id >= now() - interval '1 hour';
EXPLAIN (COSTS OFF) SELECT * FROM people WHERE now() - interval '1 hour' < id;

-- Predicates with a volatile function, or with two columns of one table, stay unchanged.
SELECT * FROM explain($$SELECT * FROM events WHERE id >= clock_timestamp()$$);
SELECT * FROM explain($$SELECT * FROM events WHERE id >= body::timestamptz$$);
EXPLAIN (COSTS OFF) SELECT next_ulid() >= now();

-- index-only scans, in the order of the index
EXPLAIN (COSTS OFF) SELECT id FROM events WHERE id < now() ORDER BY id DESC LIMIT 10;

-- A subquery runs once, even if each run could return a different result, and the plan uses the index.
SELECT query FROM (VALUES ('SELECT * FROM events WHERE id >= (SELECT max(t) FROM moments)'),
    ('SELECT * FROM events WHERE (SELECT max(t) FROM moments) > id'),
    ('SELECT * FROM visits WHERE snowflake_within(id, (SELECT range FROM ranges LIMIT 1), ''mastodon'')')
) AS queries(query), explain(query) WHERE plan ~ 'Index Cond: .*first_.* AND .*last_';
-- A correlated subquery could return a different result for each bound.
SELECT query FROM (VALUES ('SELECT * FROM moments JOIN events ON id >= (SELECT max(m.t) FROM moments AS m WHERE m.t < moments.t)'),
    ('SELECT * FROM moments JOIN people ON sno_within(id, (SELECT range FROM ranges WHERE t <@ range LIMIT 1))'),
    ('SELECT * FROM moments JOIN visits ON snowflake_within(id, (SELECT range FROM ranges WHERE t <@ range LIMIT 1))')
) AS queries(query), explain(query) WHERE plan ~ 'Index Cond: .*SubPlan';
-- The index returns exactly the rows that satisfy the predicate.
SELECT plan FROM explain('SELECT * FROM events WHERE id >= (SELECT max(t) FROM moments)') WHERE plan ~ 'Filter';
CREATE SEQUENCE runs;
CREATE FUNCTION run() RETURNS timestamptz STABLE LANGUAGE plpgsql AS $$
BEGIN PERFORM nextval('runs'); RETURN now(); END $$;
INSERT INTO events VALUES (ulid_nil()), (ulid_max());
SELECT count(*) FROM events WHERE id < (SELECT run());
SELECT count(*) FROM events WHERE ulid_within(id, (SELECT tstzrange(run(), NULL)));
SELECT last_value AS runs FROM runs;
-- An index whose operator class has another order is not used.
-- A query in the function could start parallel workers while a page of the index is locked.
CREATE FUNCTION reverse_order(bigint, bigint) RETURNS int IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN btint8cmp($2, $1); END';
CREATE OPERATOR CLASS reverse_ops FOR TYPE bigint USING btree AS OPERATOR 1 >, OPERATOR 2 >=, OPERATOR 3 =,
    OPERATOR 4 <=, OPERATOR 5 <, FUNCTION 1 reverse_order(bigint, bigint);
CREATE TABLE reversed (id bigint);
INSERT INTO reversed SELECT snowflake_boundary('2026-06-01Z'::timestamptz + n * interval '1 day') FROM generate_series(1, 1000) AS n;
CREATE INDEX ON reversed (id reverse_ops);
INSERT INTO ranges VALUES ('[2026-07-01Z,2026-07-05Z)');
SELECT count(*) FROM reversed WHERE snowflake_within(id, (SELECT range FROM ranges));
DROP INDEX reversed_id_idx;
-- Indexes that cannot find a range of IDs are not used.
CREATE INDEX ON reversed USING hash (id);
SELECT count(*) FROM reversed WHERE snowflake_within(id, (SELECT range FROM ranges));
DROP INDEX reversed_id_idx;
CREATE INDEX ON reversed USING brin (id int8_bloom_ops);
SET enable_bitmapscan = on;
SELECT count(*) FROM reversed WHERE snowflake_within(id, (SELECT range FROM ranges));
SET enable_bitmapscan = off;
DELETE FROM ranges;
DROP TABLE reversed;
DROP OPERATOR FAMILY reverse_ops USING btree;
DROP FUNCTION reverse_order;
DELETE FROM events;
DROP FUNCTION run;
DROP SEQUENCE runs;

-- joins
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT * FROM explain($$SELECT * FROM moments JOIN events ON id >= t AND id < t + interval '1 hour'$$);
SELECT * FROM explain($$SELECT * FROM ranges JOIN people ON sno_within(id, range)$$);
RESET enable_hashjoin;
RESET enable_mergejoin;

-- conditions that the planner moves between query levels
SELECT count(*) FROM moments, (SELECT n FROM events, generate_series(1, (id >= now())::int) AS n) AS s;
SELECT count(*) FROM moments, LATERAL (SELECT n FROM events,
    generate_series(1, (id >= (SELECT moments.t FROM ranges LIMIT 1))::int) AS n) AS s;

-- ordered results from several tables
CREATE TABLE logs (id ulid NOT NULL) PARTITION BY RANGE (id);
CREATE TABLE logs_2026_01 PARTITION OF logs
    FOR VALUES FROM (ulid_boundary('2026-01-01Z')) TO (ulid_boundary('2026-02-01Z'));
CREATE TABLE logs_2026_02 PARTITION OF logs
    FOR VALUES FROM (ulid_boundary('2026-02-01Z')) TO (ulid_boundary('2026-03-01Z'));
CREATE TABLE logs_2026_03 PARTITION OF logs
    FOR VALUES FROM (ulid_boundary('2026-03-01Z')) TO (ulid_boundary('2026-04-01Z'));
CREATE INDEX ON logs (id);
EXPLAIN (COSTS OFF) (SELECT id FROM events WHERE id >= now() ORDER BY id)
UNION ALL (SELECT id FROM logs_2026_01 WHERE id >= now()) ORDER BY id LIMIT 10;

-- partition pruning at planning
EXPLAIN (COSTS OFF) SELECT * FROM logs WHERE id >= '2026-03-05Z'::timestamptz;
EXPLAIN (COSTS OFF) SELECT * FROM logs WHERE ulid_within(id, '[2026-01-31Z, 2026-02-02Z]');

-- partition pruning at execution
SET plan_cache_mode = force_generic_plan;
PREPARE since(timestamptz) AS SELECT * FROM logs WHERE id >= $1;
EXPLAIN (COSTS OFF) EXECUTE since('2026-02-05Z');
EXPLAIN (COSTS OFF) EXECUTE since('infinity');
EXPLAIN (COSTS OFF) SELECT * FROM logs WHERE id < now() - interval '500 years';
RESET plan_cache_mode;

-- BRIN
CREATE TABLE readings (id sno NOT NULL, value real);
CREATE INDEX ON readings USING brin (id);
SET enable_bitmapscan = on;
EXPLAIN (COSTS OFF) SELECT * FROM readings WHERE id >= now() - interval '1 hour';

-- partial indexes
CREATE INDEX recent ON readings (value) WHERE id >= '2026-03-01Z'::timestamptz;
EXPLAIN (COSTS OFF) SELECT value FROM readings WHERE id >= '2026-04-01Z'::timestamptz AND value > 1;

-- The conditions on IDs are leakproof, so row-level security does not prevent index scans.
CREATE ROLE snowdrift_reader;
GRANT SELECT ON events, moments TO snowdrift_reader;
ALTER TABLE events ENABLE ROW LEVEL SECURITY;
CREATE POLICY short ON events USING (length(body) < 100);
SET enable_bitmapscan = off;
SET enable_material = off;
SET ROLE snowdrift_reader;
SELECT * FROM explain($$SELECT * FROM moments JOIN events ON id >= t$$);
RESET ROLE;

-- A role without EXECUTE on the functions that bound the IDs still gets the result. A role without EXECUTE on
-- the predicate gets an error.
REVOKE EXECUTE ON FUNCTION snowdrift.first_ulid_since FROM PUBLIC;
SET ROLE snowdrift_reader;
SELECT * FROM explain($$SELECT * FROM events WHERE id >= now()$$);
RESET ROLE;
GRANT EXECUTE ON FUNCTION snowdrift.first_ulid_since TO PUBLIC;
REVOKE EXECUTE ON FUNCTION ulid_since(ulid, timestamptz) FROM PUBLIC;
SET ROLE snowdrift_reader;
SELECT error_of('SELECT * FROM events WHERE id >= now()');
RESET ROLE;
GRANT EXECUTE ON FUNCTION ulid_since(ulid, timestamptz) TO PUBLIC;
RESET enable_material;
RESET enable_bitmapscan;
RESET enable_seqscan;

DROP TABLE moments, ranges, events, visits, people, logs, readings;
DROP ROLE snowdrift_reader;
