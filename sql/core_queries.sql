-- Installing the extension does not change queries that don't use it. The queries cover every operator, cast
-- and aggregate of PostgreSQL for the types that the extension's operators and casts use, with typed operands,
-- untyped literals, NULL, untyped parameters and domains, and in other constructs.
CREATE DATABASE snowdrift_core TEMPLATE template0;
\c snowdrift_core
SET timezone = 'UTC';
CREATE TABLE samples (type regtype PRIMARY KEY, sample text);
INSERT INTO samples VALUES ('tstzrange', '[2026-01-05,2026-01-06)'), ('tstzmultirange', '{[2026-01-05,2026-01-06)}'),
    ('tsrange', '[2026-01-05,2026-01-06)'), ('daterange', '[2026-01-05,2026-01-06)'), ('timestamptz', '2026-01-05 10:00Z'),
    ('timestamp', '2026-01-05 10:00'), ('date', '2026-01-05'), ('time', '10:00'), ('timetz', '10:00Z'), ('interval', '1 day'),
    ('uuid', '019b8d8a-0000-7000-8000-000000000000'), ('bytea', '\x019b8d8a00007000'), ('bigint', '132271570944274432'),
    ('integer', '7'), ('smallint', '7'), ('numeric', '7.5'), ('double precision', '7.5'), ('real', '7.5'), ('oid', '7'),
    ('text', '01ARZ3NDEKTSV4RRFFQ69G5FAV'), ('varchar', '2026-01-05'), ('bpchar', 'cg89x7njekxjp7vt'), ('name', 'a'),
    ('"char"', 'a'), ('boolean', 't'), ('bit', '1'), ('varbit', '1'), ('jsonb', '1'), ('json', '1'), ('text[]', '{a}'),
    ('bigint[]', '{7}'), ('timestamptz[]', '{2026-01-05 10:00Z}'), ('uuid[]', '{019b8d8a-0000-7000-8000-000000000000}');
CREATE DOMAIN period AS tstzrange;
CREATE DOMAIN moment AS timestamptz;
CREATE DOMAIN key AS bigint;
CREATE DOMAIN guid AS uuid;
CREATE DOMAIN bytes AS bytea;
CREATE TABLE queries (query text PRIMARY KEY, before text, after text);

-- two operands for each operator: each as a typed value, an untyped literal, NULL and a domain
CREATE TABLE operands AS
SELECT type, operand FROM samples, LATERAL (VALUES (format('%L::%s', sample, type)), (format('%L', sample)), ('NULL')) AS o(operand)
UNION ALL
SELECT base::regtype, format('%L::%s', sample, domain) FROM samples JOIN (VALUES ('tstzrange', 'period'),
    ('timestamptz', 'moment'), ('bigint', 'key'), ('uuid', 'guid'), ('bytea', 'bytes')) AS domains(base, domain) ON type = base::regtype;
INSERT INTO queries
SELECT format('SELECT %s %s %s', l.operand, oprname, r.operand)
FROM pg_operator JOIN operands AS l ON l.type = oprleft JOIN operands AS r ON r.type = oprright
WHERE oprleft::regtype::text ~ '^(tst|times|date|uuid|bytea|bigint)' OR oprright::regtype::text ~ '^(tst|times|date|uuid|bytea|bigint)'
    OR oprname IN ('<@', '@>', '<', '>', '<=', '>=', '=', '<>', '||', '-', '+') AND oprleft = oprright
ON CONFLICT DO NOTHING;
INSERT INTO queries
SELECT format('SELECT %s %s %s', l.operand, oprname, r.operand)
FROM pg_operator JOIN operands AS r ON r.type = oprright, operands AS l
WHERE oprleft = 'anyrange'::regtype AND l.type = 'tstzrange'::regtype AND r.type::text ~ '^(tst|times|date)'
ON CONFLICT DO NOTHING;
-- ranges and their elements are polymorphic operands
INSERT INTO queries
SELECT format('SELECT %s %s %s', l.operand, oprname, r.operand)
FROM (SELECT DISTINCT oprname FROM pg_operator WHERE oprleft::regtype::text ~ '^any.*range' OR oprright::regtype::text ~ '^any.*range') AS o,
    operands AS l, operands AS r
WHERE l.type::text ~ '^(tst|times)' AND r.type::text ~ '^(tst|times)'
ON CONFLICT DO NOTHING;
-- untyped parameters
INSERT INTO queries
SELECT format('PREPARE q AS SELECT %s %s $1', operand, oprname) FROM operands, (SELECT DISTINCT oprname FROM pg_operator WHERE oprleft <> 0) AS o
WHERE type::text ~ '^(tst|times|date|uuid|bytea|bigint)'
UNION SELECT format('PREPARE q AS SELECT $1 %s %s', oprname, operand) FROM operands, (SELECT DISTINCT oprname FROM pg_operator WHERE oprleft <> 0) AS o
WHERE type::text ~ '^(tst|times|date|uuid|bytea|bigint)'
ON CONFLICT DO NOTHING;
-- casts, and the resolution of a common type
INSERT INTO queries
SELECT format('SELECT %s::%s', operand, s.type) FROM operands, samples AS s
UNION SELECT format('SELECT coalesce(%L::%s, %L::%s)', a.sample, a.type, b.sample, b.type) FROM samples AS a, samples AS b
UNION SELECT format('SELECT ARRAY[%L, %L::%s]', b.sample, a.sample, a.type) FROM samples AS a, samples AS b
UNION SELECT format('SELECT %L::%s UNION SELECT %L', a.sample, a.type, b.sample) FROM samples AS a, samples AS b
UNION SELECT format('SELECT %L::%s IN (%L, NULL)', a.sample, a.type, b.sample) FROM samples AS a, samples AS b
UNION SELECT format('SELECT %L::%s = ANY (%L)', a.sample, a.type, format('{%s}', b.sample)) FROM samples AS a, samples AS b
UNION SELECT format('SELECT %L::%s BETWEEN %L AND %L', a.sample, a.type, b.sample, b.sample) FROM samples AS a, samples AS b
UNION SELECT format('SELECT %s(%s)', aggregate, operand) FROM operands, (VALUES ('min'), ('max'), ('count'), ('sum'), ('array_agg'),
    ('range_agg'), ('string_agg')) AS a(aggregate)
UNION SELECT format('SELECT %s(%s, %s)', name, l.operand, r.operand) FROM (VALUES ('date_trunc'), ('age'), ('timezone'), ('tstzrange'),
    ('range_merge'), ('isfinite'), ('lower'), ('upper'), ('greatest'), ('least'), ('nullif'), ('concat'), ('format'), ('encode'),
    ('substr'), ('to_char'), ('date_part')) AS f(name), operands AS l, operands AS r
WHERE l.type::text ~ '^(tst|times|text|uuid|bytea|bigint)' AND r.type::text ~ '^(tst|times|text|uuid|bytea|bigint)'
ON CONFLICT DO NOTHING;
-- assignment in INSERT
CREATE TABLE target (tstzrange tstzrange, timestamptz timestamptz, "timestamp" timestamp, uuid uuid, bytea bytea, bigint bigint, text text);
INSERT INTO queries
SELECT format('INSERT INTO target (%I) SELECT %s RETURNING %1$I', attname, operand) FROM pg_attribute, operands
WHERE attrelid = 'target'::regclass AND attnum > 0
ON CONFLICT DO NOTHING;

-- outcome(QUERY): the type and value of the query's result, or its error
CREATE FUNCTION outcome(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result record;
BEGIN
    IF query LIKE 'PREPARE %' THEN
        EXECUTE query;
        SELECT parameter_types INTO result FROM pg_prepared_statements WHERE name = 'q';
        DEALLOCATE q;
    ELSE
        EXECUTE query INTO result;
    END IF;
    RETURN (SELECT string_agg(concat(value, ' ', jsonb_typeof(value)), ',') FROM jsonb_each(to_jsonb(result))) || pg_typeof(result);
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
-- Thousands of queries: don't start parallel workers for each, even if the test run forces parallel mode.
SELECT set_config(name, 'off', false) AS in_parallel FROM pg_settings
WHERE name IN ('force_parallel_mode', 'debug_parallel_query');
UPDATE queries SET before = outcome(query);
CREATE EXTENSION snowdrift;
UPDATE queries SET after = outcome(query);
SELECT count(*) > 10000 AS many, count(*) FILTER (WHERE before !~ '^[0-9A-Z]{5} ') > 3000 AS with_a_result,
    count(*) FILTER (WHERE before ~ '^42725 ') > 0 AS some_ambiguous FROM queries;
SELECT query, before, after FROM queries WHERE before IS DISTINCT FROM after ORDER BY query COLLATE "C" LIMIT 20;

\c contrib_regression
DROP DATABASE snowdrift_core;
