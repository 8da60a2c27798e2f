-- UUIDs of version 7: generating, decoding and boundaries
SET TIME ZONE 'UTC';

-- the current time; with the extension, in a fresh state, after the mark that earlier tests have left
SELECT date_trunc('milliseconds', clock_timestamp()) AS before \gset
SELECT uuidv7_timestamp(next_uuidv7()) BETWEEN :'before' AND clock_timestamp() + interval '3 s' AS now;

-- random UUIDs of a given time
SELECT uuidv7_timestamp(uuidv7_at('2024-02-29 12:34:56.789999Z')),
    uuidv7_at('2024-02-29 12:34:56.789Z') <> uuidv7_at('2024-02-29 12:34:56.789Z') AS random;
SELECT uuidv7_at('1970-01-01Z') < uuidv7_boundary('1970-01-01 00:00:00.001Z') AS first;
SELECT count(DISTINCT id) FROM (SELECT uuidv7_at('2026-01-01Z') AS id FROM generate_series(1, 10000)) AS ids;
-- 74 bits are random; the other 6 are version and variant
SELECT count(*) AS random_bits FROM (
    SELECT FROM (SELECT uuid_send(uuidv7_at('2026-01-01Z')) AS bytes FROM generate_series(1, 100) OFFSET 0) AS ids,
        generate_series(48, 127) AS bit
    GROUP BY bit HAVING count(DISTINCT get_bit(bytes, bit)) = 2) AS seen_both_ways;
SELECT bool_and(id::text ~ '^.{14}7.{4}[89ab]') AS version_7
FROM (SELECT next_uuidv7() AS id FROM generate_series(1, 100) UNION ALL SELECT uuidv7_at(now()) FROM generate_series(1, 100)) AS ids;

-- decoding: the example of RFC 9562, appendix A.6
SELECT uuidv7_timestamp('017F22E2-79B0-7CC3-98C4-DC0C0C07398F');
-- null for UUIDs of other versions and variants; the example of version 1 is from RFC 9562, appendix A.1
SELECT note, uuidv7_timestamp(id)
FROM (VALUES ('nil', '00000000-0000-0000-0000-000000000000'::uuid),
    ('version 1', 'c232ab00-9414-11ec-b3c8-9f6bdeced846'), ('version 4', '919108f7-52d1-4320-9bac-f847db4148a8'),
    ('version 6', '017f22e2-79b0-6cc3-98c4-dc0c0c07398f'), ('version 8', '017f22e2-79b0-8cc3-98c4-dc0c0c07398f'),
    ('variant 0', '017f22e2-79b0-7cc3-78c4-dc0c0c07398f'), ('variant 11', '017f22e2-79b0-7cc3-c8c4-dc0c0c07398f'),
    ('max', 'ffffffff-ffff-ffff-ffff-ffffffffffff')) AS others(note, id);
SELECT uuidv7_timestamp('00000000-0000-7000-8000-000000000000'), uuidv7_timestamp('ffffffff-ffff-7fff-bfff-ffffffffffff');

-- the same times as core extracts; PostgreSQL 18 and later can read version 7
CREATE TABLE ids AS SELECT next_uuidv7() AS id
UNION ALL SELECT uuidv7_at('1970-01-01Z'::timestamptz + n * interval '80 days 1.001 s') FROM generate_series(0, 10000) AS n
UNION ALL SELECT gen_random_uuid() FROM generate_series(1, 1000)
UNION ALL VALUES ('ffffffff-ffff-7fff-bfff-ffffffffffff'::uuid);
SELECT current_setting('server_version_num')::int >= 180000 AS has_core \gset
\set same t
\if :has_core
SELECT bool_and(uuid_extract_timestamp(id) IS NOT DISTINCT FROM uuidv7_timestamp(id)) AS same FROM ids \gset
SELECT :'same'::bool AND bool_and(uuid_extract_version(id) = 7) AS same FROM ids WHERE uuidv7_timestamp(id) IS NOT NULL \gset
\endif
SELECT :'same' AS same;
SELECT count(uuidv7_timestamp(id)) FROM ids;
DROP TABLE ids;

-- boundaries
SELECT uuidv7_boundary('2026-01-01Z'), uuidv7_boundary('2026-01-01 00:00:00.000001Z'),
    uuidv7_boundary('10889-08-02 05:31:50.655Z');
SELECT bool_and(uuidv7_boundary(t) <= id AND id < uuidv7_boundary(t + interval '1 ms')) AS split
FROM generate_series('2026-01-01Z'::timestamptz, '2026-01-02Z', '7 minutes 1.234 s') AS t, LATERAL uuidv7_at(t) AS id;
SELECT uuidv7_timestamp(NULL), uuidv7_boundary(NULL), uuidv7_at(NULL);

\pset format unaligned
\pset tuples_only on
SELECT error_of($$SELECT uuidv7_at('1969-12-31 23:59:59.999Z')$$);
SELECT error_of($$SELECT uuidv7_at('infinity')$$);
SELECT error_of($$SELECT uuidv7_at('-infinity')$$);
SELECT error_of($$SELECT uuidv7_boundary('10889-08-02 05:31:50.655001Z')$$);
\pset format aligned
\pset tuples_only off

-- as the new default of a column with random UUIDs
CREATE TABLE notes (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), body text);
INSERT INTO notes (body) SELECT 'old' FROM generate_series(1, 100);
ALTER TABLE notes ALTER id SET DEFAULT next_uuidv7();
INSERT INTO notes (body) SELECT 'new' FROM generate_series(1, 100);
SELECT body, count(DISTINCT id), count(DISTINCT uuidv7_timestamp(id)) AS times FROM notes GROUP BY body ORDER BY body;
DROP TABLE notes;
