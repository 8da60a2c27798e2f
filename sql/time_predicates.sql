-- Time predicates of ulid and sno; range_predicates.sql has those of bigint and uuid
CREATE TABLE moments AS SELECT * FROM moments() AS t;
CREATE TABLE ranges AS SELECT * FROM ranges() AS range;

-- the first and the last ID of each time that the format can hold
CREATE TABLE ulids AS
SELECT ulid_boundary(t) AS id FROM moments WHERE t BETWEEN '1970-01-01Z' AND '10889-08-02 05:31:50.655Z'
UNION ALL SELECT make_ulid(t, '\xffffffffffffffffffff') FROM moments
    WHERE t BETWEEN '1970-01-01Z' AND '10889-08-02 05:31:50.655Z'
UNION ALL VALUES (ulid_nil()), (ulid_max()), (NULL);
CREATE TABLE snos AS
SELECT sno_boundary(t) AS id FROM moments WHERE t BETWEEN '2010-01-01Z' AND '2079-09-07 15:47:35.548Z'
UNION ALL SELECT make_sno(t, 255, 65535, 65535, 1) FROM moments
    WHERE t BETWEEN '2010-01-01Z' AND '2079-09-07 15:47:35.548Z'
UNION ALL VALUES (sno_nil()), (NULL);
-- The same comparisons, rewritten by the planner (with two tables) and unchanged (with one).
CREATE FUNCTION comparisons(type text, source text) RETURNS TABLE (cases bigint, wrong bigint)
LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format($query$
        SELECT count(*), count(*) FILTER (WHERE
            ARRAY[id < t, id <= t, id > t, id >= t, t > id, t >= id, t < id, t <= id]
            IS DISTINCT FROM
            ARRAY[%1$s_timestamp(id) < t, %1$s_timestamp(id) <= t, %1$s_timestamp(id) > t,
                %1$s_timestamp(id) >= t, t > %1$s_timestamp(id), t >= %1$s_timestamp(id),
                t < %1$s_timestamp(id), t <= %1$s_timestamp(id)])
        FROM %2$s$query$, type, source);
    RETURN QUERY EXECUTE format($query$
        SELECT count(*), count(*) FILTER (WHERE
            %1$s_within(id, range) IS DISTINCT FROM %1$s_timestamp(id) <@ range)
        FROM %2$s$query$, type, replace(source, 'moments', 'ranges'));
END $$;
SELECT type, pairs.* FROM (VALUES ('ulid'), ('sno')) AS types(type),
    comparisons(type, type || 's, moments') AS pairs;
SELECT type, pairs.* FROM (VALUES ('ulid'), ('sno')) AS types(type),
    comparisons(type, format('(SELECT * FROM %ss, moments OFFSET 0) AS pairs', type)) AS pairs;
-- constants
SELECT ulid_nil() >= '-infinity'::timestamptz AS ulid_since, ulid_nil() < '-infinity'::timestamptz,
    ulid_max() < 'infinity'::timestamptz, ulid_max() >= 'infinity'::timestamptz;

-- A predicate is null in the grouping sets that do not contain it, also as a part of another condition.
CREATE TABLE grouped (n int, id ulid, key uuid, g int) PARTITION BY RANGE (n);
CREATE TABLE grouped_1 PARTITION OF grouped DEFAULT;
INSERT INTO grouped SELECT n, ulid_boundary(t), uuidv7_boundary(t), n % 2
FROM generate_series(1, 6) AS n, LATERAL (SELECT '2026-01-01Z'::timestamptz + n * interval '1 s') AS times(t);
SELECT g, ulid_within(id, '[2026-01-01 00:00:02Z, 2026-01-01 00:00:05Z)') AND g >= 0 AS within, count(*) FROM grouped
GROUP BY GROUPING SETS ((g, ulid_within(id, '[2026-01-01 00:00:02Z, 2026-01-01 00:00:05Z)')), (g)) ORDER BY g, within;
SELECT g, NOT uuidv7_within(key, '[2026-01-01 00:00:02Z, 2026-01-01 00:00:05Z)') OR g < 0 AS not_within, count(*) FROM grouped
GROUP BY GROUPING SETS ((g, NOT uuidv7_within(key, '[2026-01-01 00:00:02Z, 2026-01-01 00:00:05Z)')), (g)) ORDER BY g, not_within;
CREATE FUNCTION is_within(ulid) RETURNS bool LANGUAGE sql IMMUTABLE
RETURN ulid_within($1, '[2026-01-01 00:00:02Z, 2026-01-01 00:00:05Z)');
SELECT g, is_within(id) AND g >= 0 AS within, count(*) FROM grouped
GROUP BY GROUPING SETS ((g, is_within(id)), (g)) ORDER BY g, within;
-- PostgreSQL changes NOT (id < time) to id >= time in one place and not in another.
SELECT NOT (id < '2026-01-01 00:00:03Z'::timestamptz) AS not_before, count(*) FROM grouped WHERE n >= 3
GROUP BY ROLLUP (NOT (id < '2026-01-01 00:00:03Z'::timestamptz)) HAVING NOT (id < '2026-01-01 00:00:03Z'::timestamptz);
DROP FUNCTION is_within;
DROP TABLE grouped;

-- outside of queries: constraints, generated columns, and the conditions of triggers and indexes
CREATE DOMAIN recent AS ulid CHECK (VALUE >= '2026-01-01Z'::timestamptz);
CREATE TABLE documents (
    id recent,
    changed timestamptz CHECK (changed >= id),
    is_new boolean GENERATED ALWAYS AS (id >= '2026-06-01Z'::timestamptz) STORED,
    UNIQUE (id),
    CHECK (id < '2027-01-01Z'::timestamptz)
);
CREATE INDEX changed_late ON documents (id) WHERE id < changed;
CREATE FUNCTION report() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE NOTICE '% %', TG_OP, NEW.id;
    RETURN NULL;
END $$;
CREATE TRIGGER inserted AFTER INSERT ON documents FOR EACH ROW
    WHEN (NEW.id >= '2026-06-01Z'::timestamptz) EXECUTE FUNCTION report();
CREATE TRIGGER updated AFTER UPDATE ON documents FOR EACH ROW
    WHEN (NEW.id > OLD.changed) EXECUTE FUNCTION report();
INSERT INTO documents SELECT ulid_boundary(t), t FROM
    (VALUES ('2026-01-01Z'::timestamptz), ('2026-05-31 23:59:59.999Z'), ('2026-06-01Z'), (NULL)) AS times(t)
RETURNING id, is_new;
UPDATE documents SET id = ulid_boundary('2026-02-01Z'), changed = '2026-02-02Z' WHERE id < '2026-01-02Z'::timestamptz;
SELECT error_of(format('INSERT INTO documents VALUES (%L, %L)', ulid_boundary(t), changed)) FROM
    (VALUES ('2025-12-31 23:59:59.999Z'::timestamptz, NULL::timestamptz), ('2027-01-01Z', NULL),
        ('2026-03-01Z', '2026-02-28Z'), ('2026-02-01Z', NULL)) AS times(t, changed);
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT * FROM documents WHERE id < changed;
RESET enable_seqscan;
DROP TABLE documents;
DROP FUNCTION report;
DROP DOMAIN recent;

-- Random ranges: index scans and sequential scans find the same rows as comparing the IDs' timestamps.
CREATE TABLE samples AS
SELECT ulid_at(t) AS ulid, make_sno(t, 0, 0, n) AS sno
FROM (SELECT n, '2026-01-01Z'::timestamptz + n / 4 * interval '1 ms' AS t
    FROM generate_series(1, 500) AS n) AS times;
CREATE INDEX ON samples (ulid);
CREATE INDEX ON samples (sno);
ANALYZE samples;
SELECT predicate, disagreements('samples', predicate, expected, 'index') AS by_index,
    disagreements('samples', predicate, expected, 'seq') AS by_seq
FROM (VALUES
    ('ulid_within(ulid, $1)', 'ulid_timestamp(ulid) <@ $1'),
    ('sno_within(sno, $1)', 'sno_timestamp(sno) <@ $1'),
    ('ulid >= lower($1) AND ulid < upper($1)',
        'ulid_timestamp(ulid) >= lower($1) AND ulid_timestamp(ulid) < upper($1)'),
    ('lower($1) < sno AND upper($1) >= sno',
        'lower($1) < sno_timestamp(sno) AND upper($1) >= sno_timestamp(sno)')
) AS predicates(predicate, expected);

DROP TABLE moments, ranges, ulids, snos, samples;
DROP FUNCTION comparisons;
