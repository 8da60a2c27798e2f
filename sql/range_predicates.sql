-- Time predicates of bigint and uuid

-- A predicate compares the ID's time. The tests use these times and the IDs around them: the first and the last ID of each
-- time that the format can hold.
CREATE TABLE moments AS SELECT * FROM moments() AS t;
CREATE TABLE ranges AS SELECT * FROM ranges() AS range
WHERE coalesce(isempty(range) OR lower_inf(range) OR upper_inf(range) OR upper(range) < lower(range) + interval '1 s'
    OR lower(range) = '2026-11-21 12:00:00.004Z', true);
CREATE TABLE snowflakes AS
SELECT snowflake_boundary(t) AS id FROM moments
    WHERE t BETWEEN '2021-01-01Z' AND '2090-09-07 15:47:35.551Z'
UNION ALL SELECT make_snowflake(t, 31, 31, 4095) FROM moments
    WHERE t BETWEEN '2021-01-01Z' AND '2090-09-07 15:47:35.551Z'
UNION ALL VALUES (NULL::bigint);
-- also UUIDs of other versions and variants, which have no time
CREATE TABLE uuids AS
WITH version_7(id) AS (
    SELECT unnest(ARRAY[uuidv7_boundary(t), overlay(uuidv7_boundary(t)::text PLACING '7fff-bfff-ffffffffffff' FROM 15)::uuid])
    FROM moments WHERE t BETWEEN '1970-01-01Z' AND '1970-01-02Z' OR t BETWEEN '2026-11-20Z' AND '2026-11-22Z'
        OR t BETWEEN '10889-08-02Z' AND '10889-08-02 05:31:50.655Z')
SELECT id FROM version_7
UNION ALL SELECT overlay(id::text PLACING digit FROM position FOR 1)::uuid FROM version_7,
    (VALUES ('4', 15), ('c', 20)) AS changes(digit, position)
UNION ALL VALUES ('00000000-0000-0000-0000-000000000000'::uuid), ('ffffffff-ffff-ffff-ffff-ffffffffffff'), (NULL);

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
FROM (SELECT *, uuidv7_within(id, range) AS within FROM uuids, ranges OFFSET 0) AS pairs;

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

-- No ID is within a constant empty range, also in layouts whose largest ID is the largest bigint.
SELECT id FROM (VALUES (-9223372036854775808), (-1), (0::bigint), (1), (9223372036854775807)) AS ids(id)
WHERE snowflake_within(id, 'empty') OR snowflake_within(id, '(infinity,)') OR snowflake_within(id, 'empty', 'mastodon')
    OR snowflake_within(id, '(,-infinity)', 'mastodon');

-- in constraints, generated columns and the conditions of indexes
CREATE TABLE documents (
    id bigint CHECK (snowflake_within(id, '[2026-01-01Z,)')),
    key uuid CHECK (uuidv7_within(key, '[2026-01-01Z,)')),
    is_new boolean GENERATED ALWAYS AS (snowflake_within(id, '[2026-06-01Z,)')) STORED
);
CREATE INDEX ON documents (key) WHERE snowflake_within(id, '(,2026-06-01Z)');
INSERT INTO documents SELECT snowflake_boundary(t), uuidv7_boundary(t) FROM
    (VALUES ('2026-01-01Z'::timestamptz), ('2026-05-31 23:59:59.999Z'), ('2026-06-01Z'), (NULL)) AS times(t)
RETURNING id, is_new;
SELECT left(error_of(format('INSERT INTO documents VALUES (%L, %L)', id, key)), 5) AS sqlstate FROM
    (VALUES (snowflake_boundary('2025-12-31 23:59:59.999Z'), NULL), (NULL, uuidv7_boundary('2025-12-31 23:59:59.999Z')),
        (NULL, '00000000-0000-0000-0000-000000000000')) AS rows(id, key);
DROP TABLE documents;

-- Random ranges: index scans and sequential scans find the same rows as comparing the IDs' timestamps.
CREATE TABLE samples AS
SELECT make_snowflake(t, 0, 0, n) AS snowflake, uuidv7_at(t) AS uuid
FROM (SELECT n, '2026-01-01Z'::timestamptz + n / 4 * interval '1 ms' AS t
    FROM generate_series(1, 500) AS n) AS times;
CREATE INDEX ON samples (snowflake);
CREATE INDEX ON samples (uuid);
ANALYZE samples;
SELECT predicate, disagreements('samples', predicate, expected, 'index') AS by_index,
    disagreements('samples', predicate, expected, 'seq') AS by_seq
FROM (VALUES
    ('snowflake_within(snowflake, $1)', 'snowflake_timestamp(snowflake) <@ $1'),
    ('uuidv7_within(uuid, $1)', 'uuidv7_timestamp(uuid) <@ $1')
) AS predicates(predicate, expected);

-- There are no operators between two types of PostgreSQL.
SELECT split_part(error_of(format('SELECT %L::%s %s now()', id, type, operator)), E'\n', 1) AS error
FROM (VALUES ('1', 'bigint'), ('01900000-0000-7000-8000-000000000000', 'uuid')) AS ids(id, type), (VALUES ('>='), ('<')) AS operators(operator)
ORDER BY type COLLATE "C", operator COLLATE "C";

DROP TABLE moments, ranges, snowflakes, uuids, samples;
