-- Plans of queries with time predicates of bigint and uuid

-- The tables are empty: the tests check only which conditions the planner can use. They show no filters, which the
-- predicate of uuid adds because the range can contain other UUIDs.
SET timezone = 'UTC';
CREATE TABLE ranges (range tstzrange);
CREATE TABLE visits (id bigint PRIMARY KEY, body text);
CREATE TABLE orders (id uuid PRIMARY KEY, customer int, body text);
SET enable_seqscan = off;
SET enable_bitmapscan = off;

-- Times known at planning become IDs.
SELECT * FROM explain($$SELECT * FROM visits WHERE snowflake_within(id, '[2026-03-01Z, 2026-03-02Z)')$$);
SELECT * FROM explain($$SELECT * FROM visits WHERE snowflake_within(id, '[2026-03-01Z, 2026-03-02Z)', 'mastodon')$$);
SELECT * FROM explain($$SELECT * FROM visits WHERE id >= snowflake_boundary('2026-03-01Z', 'si') AND id < snowflake_boundary('2026-03-02Z', 'si')$$);
SELECT * FROM explain($$SELECT * FROM orders WHERE uuidv7_within(id, '[2026-03-01, 2026-03-02)')$$) WHERE plan !~ 'Filter';
SELECT * FROM explain($$SELECT * FROM orders WHERE uuidv7_within(id, '[2026-03-01,)') AND id < '019d4130-a400-7000-8000-000000000000' ORDER BY id DESC$$)
WHERE plan !~ 'Filter';

-- bounded(QUERY): the nodes of the query's plan, and whether an index condition has both bounds of the range
CREATE FUNCTION bounded(query text) RETURNS TABLE (plan text, is_bounded boolean) LANGUAGE sql AS $$
    SELECT plan_of(query), bool_or(plan ~ 'Index Cond: .*\mid >= .* AND .*\mid <= ') FROM explain(query)
$$;
-- Times known only at execution become calls of functions in index conditions.
SELECT * FROM bounded($$SELECT * FROM visits WHERE snowflake_within(id, tstzrange(now() - interval '1 hour', NULL))$$);
SELECT * FROM bounded($$SELECT * FROM orders WHERE uuidv7_within(id, tstzrange(now() - interval '1 hour', NULL))$$);
SET plan_cache_mode = force_generic_plan;
PREPARE visits_within(tstzrange) AS SELECT * FROM visits WHERE snowflake_within(id, $1) ORDER BY id;
PREPARE visits_in(tstzrange, text) AS SELECT * FROM visits WHERE snowflake_within(id, $1, $2::snowflake_layout) ORDER BY id;
PREPARE orders_within(tstzrange) AS SELECT * FROM orders WHERE uuidv7_within(id, $1) ORDER BY id;
SELECT * FROM bounded($$EXECUTE visits_within('[2026-03-01, 2026-03-02)')$$);
SELECT * FROM bounded($$EXECUTE visits_in('[2026-03-01, 2026-03-02)', 'si')$$);
SELECT * FROM bounded($$EXECUTE orders_within('[2026-03-01, 2026-03-02)')$$);
RESET plan_cache_mode;
-- joins
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT * FROM bounded('SELECT * FROM ranges JOIN visits ON snowflake_within(id, range)');
SELECT * FROM bounded('SELECT * FROM ranges JOIN orders ON uuidv7_within(id, range)');
RESET enable_hashjoin;
RESET enable_mergejoin;
-- the layout of a generator, as of when the query begins
SET client_min_messages = warning;
SELECT snowdrift.create_generator('web', 'snowflake', layout => 'si');
SELECT * FROM bounded($$SELECT * FROM visits WHERE snowflake_within(id, '[2026-03-01, 2026-03-02)', snowdrift.generator_layout('web'))$$);
SELECT snowdrift.drop_generator('web');
-- a function in SQL that states the layout once
CREATE FUNCTION visited_within(id bigint, range tstzrange) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN snowflake_within(id, range, 'si');
SELECT * FROM explain($$SELECT * FROM visits WHERE visited_within(id, '[2026-03-01Z, 2026-03-02Z)')$$);
DROP FUNCTION visited_within;
-- A volatile range, or one from the same table, is not an index condition.
SELECT * FROM bounded('SELECT * FROM visits WHERE snowflake_within(id, tstzrange(clock_timestamp(), NULL))');
SELECT * FROM bounded('SELECT * FROM visits WHERE snowflake_within(id, tstzrange(NULL, body::timestamptz))');
SELECT * FROM bounded('SELECT * FROM orders WHERE uuidv7_within(id, tstzrange(clock_timestamp(), NULL))');

-- OR, BRIN, and an index of several columns
SET enable_bitmapscan = on;
SELECT * FROM explain($$SELECT * FROM visits WHERE snowflake_within(id, '[2026-03-01, 2026-03-02)') OR snowflake_within(id, '[2026-04-01, 2026-04-02)')$$)
WHERE plan ~ 'Index|BitmapOr';
CREATE TABLE log (id uuid NOT NULL, level int);
CREATE INDEX ON log USING brin (id);
SELECT * FROM explain($$SELECT * FROM log WHERE uuidv7_within(id, '[2026-03-01, 2026-03-02)')$$) WHERE plan !~ 'Filter|Recheck';
DROP TABLE log;
SET enable_bitmapscan = off;
CREATE INDEX ON orders (customer, id);
SELECT * FROM explain($$SELECT * FROM orders WHERE customer = 1 AND uuidv7_within(id, '[2026-03-01, 2026-03-02)') ORDER BY id$$)
WHERE plan !~ 'Filter';
-- A partial index serves the same range, and an index on an expression serves the predicate on it.
CREATE INDEX march ON visits (body) WHERE snowflake_within(id, '[2026-03-01, 2026-04-01)');
SELECT plan_of($$SELECT body FROM visits WHERE snowflake_within(id, '[2026-03-01, 2026-04-01)') AND body > 'x'$$);
CREATE INDEX by_text ON orders ((body::uuid));
SELECT plan_of($$SELECT * FROM orders WHERE uuidv7_within(body::uuid, '[2026-03-01, 2026-04-01)')$$);

-- Partitions are pruned at planning.
CREATE TABLE bookings (id bigint NOT NULL, body text) PARTITION BY RANGE (id);
CREATE TABLE bookings_2026_01 PARTITION OF bookings FOR VALUES FROM (snowflake_boundary('2026-01-01')) TO (snowflake_boundary('2026-02-01'));
CREATE TABLE bookings_2026_02 PARTITION OF bookings FOR VALUES FROM (snowflake_boundary('2026-02-01')) TO (snowflake_boundary('2026-03-01'));
CREATE TABLE bookings_2026_03 PARTITION OF bookings FOR VALUES FROM (snowflake_boundary('2026-03-01')) TO (snowflake_boundary('2026-04-01'));
CREATE INDEX ON bookings (id);
CREATE TABLE notes (id uuid NOT NULL, body text) PARTITION BY RANGE (id);
CREATE TABLE notes_2026_01 PARTITION OF notes FOR VALUES FROM (uuidv7_boundary('2026-01-01')) TO (uuidv7_boundary('2026-02-01'));
CREATE TABLE notes_2026_02 PARTITION OF notes FOR VALUES FROM (uuidv7_boundary('2026-02-01')) TO (uuidv7_boundary('2026-03-01'));
CREATE TABLE notes_default PARTITION OF notes DEFAULT;
CREATE INDEX ON notes (id);
SELECT plan_of($$SELECT * FROM bookings WHERE snowflake_within(id, '[2026-02-05, 2026-02-06)')$$);
SELECT plan_of($$SELECT * FROM bookings WHERE snowflake_within(id, '[2026-01-31, 2026-02-02]') ORDER BY id$$);
SELECT plan_of($$DELETE FROM bookings WHERE snowflake_within(id, '[2026-02-05, 2026-02-06)')$$);
SELECT plan_of($$SELECT * FROM bookings WHERE snowflake_within(id, 'empty')$$);
SELECT plan_of($$SELECT * FROM notes WHERE uuidv7_within(id, '[2026-02-05, 2026-02-06)')$$);
SELECT plan_of($$SELECT * FROM notes WHERE uuidv7_within(id, '[2026-01-31, 2026-02-02]') AND body <> 'y' ORDER BY id$$);

-- They are pruned at execution: when the statement begins, and for each row of a join.
SET plan_cache_mode = force_generic_plan;
PREPARE bookings_within(tstzrange, text) AS SELECT * FROM bookings WHERE snowflake_within(id, $1, $2::snowflake_layout);
PREPARE notes_within(tstzrange) AS SELECT * FROM notes WHERE uuidv7_within(id, $1);
SELECT * FROM scans_of($$EXECUTE bookings_within('[2026-02-05, 2026-02-06)', 'snowflake')$$);
SELECT * FROM scans_of($$EXECUTE notes_within('[2026-02-05, 2026-02-06)')$$);
RESET plan_cache_mode;
SELECT trim(plan) AS plan FROM explain('SELECT * FROM bookings WHERE snowflake_within(id, tstzrange(NULL, now() - interval ''500 years''))')
WHERE plan ~ 'Subplans Removed';
INSERT INTO ranges VALUES ('[2026-02-05, 2026-02-06)'), ('[2026-03-05, 2026-03-06)');
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT * FROM scans_of('SELECT * FROM ranges JOIN bookings ON snowflake_within(id, range)');
SELECT * FROM scans_of('SELECT * FROM ranges JOIN notes ON uuidv7_within(id, range)');
RESET enable_hashjoin;
RESET enable_mergejoin;

-- Decoding with a constant layout can be an index's expression.
CREATE INDEX by_time ON visits (snowflake_timestamp(id, 'si'));
SELECT plan_of($$SELECT * FROM visits WHERE snowflake_timestamp(id, 'si') >= '2026-01-01'$$);
CREATE INDEX by_note_time ON notes (uuidv7_timestamp(id));
SELECT plan_of($$SELECT * FROM notes_default WHERE uuidv7_timestamp(id) IS NULL$$);

RESET enable_seqscan;
RESET enable_bitmapscan;
DROP TABLE ranges, visits, orders, bookings, notes;
DROP FUNCTION bounded;
