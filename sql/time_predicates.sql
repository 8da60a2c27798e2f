-- Time predicates

-- A predicate compares the ID's time. The tests use all of these times and the IDs around them.
CREATE TABLE moments AS
SELECT base + delta AS t FROM
    (VALUES ('1970-01-01Z'::timestamptz), ('2010-01-01Z'), ('2021-01-01Z'),
        ('2026-11-21 12:00:00.004Z'), ('2079-09-07 15:47:35.548Z'), ('2090-09-07 15:47:35.551Z'),
        ('10889-08-02 05:31:50.655Z')) AS bases(base),
    (VALUES (interval '-4 ms'), ('-1 us'), ('0'), ('1 us'), ('999 us'), ('4 ms')) AS deltas(delta)
UNION ALL VALUES ('-infinity'::timestamptz), ('infinity'), ('4714-11-24 00:00Z BC'), ('294276-12-31Z'), (NULL);

CREATE TABLE ranges AS
SELECT tstzrange(a.t, b.t, bounds) AS range
FROM moments AS a, moments AS b, (VALUES ('[)'), ('[]'), ('()'), ('(]')) AS kinds(bounds)
WHERE a.t <= b.t OR a.t IS NULL OR b.t IS NULL
UNION ALL VALUES ('empty'::tstzrange), (NULL);

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
CREATE TABLE snowflakes AS
SELECT snowflake_boundary(t) AS id FROM moments
    WHERE t BETWEEN '2021-01-01Z' AND '2090-09-07 15:47:35.551Z'
UNION ALL SELECT make_snowflake(t, 31, 31, 4095) FROM moments
    WHERE t BETWEEN '2021-01-01Z' AND '2090-09-07 15:47:35.551Z'
UNION ALL VALUES (NULL::bigint);
-- also UUIDs of other versions and variants, which have no time
CREATE TABLE uuids AS
WITH version_7(id) AS (
    SELECT uuidv7_boundary(t) FROM moments WHERE t BETWEEN '1970-01-01Z' AND '10889-08-02 05:31:50.655Z'
    UNION ALL SELECT make_uuidv7(t, '\x03ffffffffffffffffff') FROM moments
        WHERE t BETWEEN '1970-01-01Z' AND '10889-08-02 05:31:50.655Z')
SELECT id FROM version_7
UNION ALL SELECT overlay(id::text PLACING digit FROM position FOR 1)::uuid FROM version_7,
    (VALUES ('4', 15), ('c', 20)) AS changes(digit, position)
UNION ALL SELECT id::uuid FROM ulids;

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
SELECT count(*), count(*) FILTER (WHERE snowflake_within(id, range)
    IS DISTINCT FROM snowflake_timestamp(id) <@ range) AS wrong FROM snowflakes, ranges;
SELECT count(*), count(*) FILTER (WHERE snowflake_within(id, range)
    IS DISTINCT FROM snowflake_timestamp(id) <@ range) AS wrong
FROM (SELECT * FROM snowflakes, ranges OFFSET 0) AS pairs;
SELECT count(*), count(*) FILTER (WHERE within) > 1000 AS many_within,
    count(*) FILTER (WHERE within IS DISTINCT FROM CASE
        WHEN id IS NULL OR range IS NULL THEN NULL
        ELSE coalesce(uuidv7_timestamp(id) <@ range, false) END) AS wrong,
    count(*) FILTER (WHERE within AND NOT id BETWEEN snowdrift.first_uuidv7_within(range) AND snowdrift.last_uuidv7_within(range)) AS outside
FROM (SELECT *, uuidv7_within(id, range) AS within FROM uuids, ranges) AS pairs;

-- in each layout, up to its last ID
SELECT layout, count(*), count(*) FILTER (WHERE snowflake_within(id, range, layout)
    IS DISTINCT FROM snowflake_timestamp(id, layout) <@ range) AS wrong
FROM (VALUES ('discord'::snowflake_layout), ('mastodon'), ('mastic'), ('si'),
        ('epoch=2024-01-01T00:00:00Z timestamp=10 sequence=4'), ('sonyflake'), ('baidu'),
        ('epoch=2024-01-01T00:00:00.007Z unit=3ms timestamp=10 sequence=4 worker=3')) AS layouts(layout),
    LATERAL (VALUES (0::bigint), (1), (16383), (9007199254740991 / 3), (9007199254740991),
        (9223372036854775807)) AS ids(id), ranges
WHERE id <= snowdrift.last_snowflake_within('(,)', layout) GROUP BY layout ORDER BY layout::text COLLATE "C";

-- an invalid Snowflake ID is not within any range
SELECT snowflake_within(-1, '(,)'), snowflake_within(9007199254740992, '(,)', 'si');

-- constants
SELECT ulid_nil() >= '-infinity'::timestamptz AS ulid_since, ulid_nil() < '-infinity'::timestamptz,
    ulid_max() < 'infinity'::timestamptz, ulid_max() >= 'infinity'::timestamptz;

-- No ID is within a constant empty range, also in layouts whose largest ID is the largest bigint.
SELECT id FROM (VALUES (-9223372036854775808), (-1), (0::bigint), (1), (9223372036854775807)) AS ids(id)
WHERE snowflake_within(id, 'empty') OR snowflake_within(id, '(infinity,)') OR snowflake_within(id, 'empty', 'mastodon')
    OR snowflake_within(id, '(,-infinity)', 'mastodon');

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
SELECT ulid_at(t) AS ulid, make_sno(t, 0, 0, n) AS sno, make_snowflake(t, 0, 0, n) AS snowflake
FROM (SELECT n, '2026-01-01Z'::timestamptz + n / 4 * interval '1 ms' AS t
    FROM generate_series(1, 500) AS n) AS times;
CREATE INDEX ON samples (ulid);
CREATE INDEX ON samples (sno);
CREATE INDEX ON samples (snowflake);
ANALYZE samples;
CREATE FUNCTION disagreements(predicate text, expected text, scan text) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE range tstzrange; found bigint; meant bigint; wrong bigint = 0;
BEGIN
    PERFORM setseed(0.5);
    PERFORM set_config('enable_seqscan', (scan = 'seq')::text, true),
        set_config('enable_indexscan', (scan = 'index')::text, true),
        set_config('enable_indexonlyscan', (scan = 'index')::text, true),
        set_config('enable_bitmapscan', 'off', true);
    FOR range IN
        SELECT tstzrange(least(a, b), greatest(a, b), ('{[],[),(],()}'::text[])[1 + trunc(4 * random())])
        FROM (SELECT CASE WHEN random() < 0.95 THEN moment + random() * interval '140 ms' END AS a,
                CASE WHEN random() < 0.95 THEN moment + random() * interval '140 ms' END AS b
            FROM (VALUES ('2025-12-31 23:59:59.99Z'::timestamptz)) AS moments(moment),
                generate_series(1, 2000) OFFSET 0) AS pairs
    LOOP
        EXECUTE format('SELECT count(*) FROM samples WHERE %s', predicate) INTO found USING range;
        EXECUTE format('SELECT count(*) FROM samples WHERE %s', expected) INTO meant USING range;
        wrong = wrong + (found <> meant)::int;
    END LOOP;
    RETURN wrong;
END $$;
-- Thousands of queries: don't start parallel workers for each, even if the test run forces parallel mode.
SELECT set_config(name, 'off', false) AS in_parallel FROM pg_settings
WHERE name IN ('force_parallel_mode', 'debug_parallel_query');
SELECT predicate, disagreements(predicate, expected, 'index') AS by_index,
    disagreements(predicate, expected, 'seq') AS by_seq
FROM (VALUES
    ('snowflake_within(snowflake, $1)', 'snowflake_timestamp(snowflake) <@ $1'),
    ('ulid_within(ulid, $1)', 'ulid_timestamp(ulid) <@ $1'),
    ('sno_within(sno, $1)', 'sno_timestamp(sno) <@ $1'),
    ('ulid >= lower($1) AND ulid < upper($1)',
        'ulid_timestamp(ulid) >= lower($1) AND ulid_timestamp(ulid) < upper($1)'),
    ('lower($1) < sno AND upper($1) >= sno',
        'lower($1) < sno_timestamp(sno) AND upper($1) >= sno_timestamp(sno)')
) AS predicates(predicate, expected);

-- There are no operators between two types of PostgreSQL.
SELECT split_part(error_of(format('SELECT %L::%s %s now()', id, type, operator)), E'\n', 1) AS error
FROM (VALUES ('1', 'bigint'), ('01900000-0000-7000-8000-000000000000', 'uuid')) AS ids(id, type), (VALUES ('>='), ('<')) AS operators(operator)
ORDER BY type COLLATE "C", operator COLLATE "C";

DROP TABLE moments, ranges, ulids, snos, snowflakes, uuids, samples;
DROP FUNCTION comparisons, disagreements;
