-- The text form of Snowflake IDs
SELECT snowflake_to_text(132271570944274432), snowflake_to_text(0), snowflake_to_text(9223372036854775807);
SELECT snowflake_from_text('03NFC9C008C00'), snowflake_from_text('03nfc9c008c00'), snowflake_from_text('7ZZZZZZZZZZZZ');

-- the golden IDs of all layouts: there and back, and in the order of the numbers
\getenv abs_srcdir PG_ABS_SRCDIR
\set vectors '''' :abs_srcdir '/test/vectors/snowflake_ids.tsv'' (HEADER)'
\set read_vectors '\\copy vectors FROM ' :vectors
CREATE TABLE vectors (layout text, id bigint, unix_ms bigint, datacenter int, worker int, sequence int);
:read_vectors
SELECT count(*) >= 100 AS many, bool_and(snowflake_from_text(snowflake_to_text(id)) = id) AS same,
    bool_and(snowflake_from_text(lower(snowflake_to_text(id))) = id) AS either_case,
    bool_and(length(snowflake_to_text(id)) = 13) AS length
FROM vectors;
SELECT bool_and(by_id = by_text) AS sorted
FROM (SELECT row_number() OVER (ORDER BY id) AS by_id,
          row_number() OVER (ORDER BY snowflake_to_text(id) COLLATE "C") AS by_text
      FROM (SELECT DISTINCT id FROM vectors UNION SELECT n * n * n * n * n FROM generate_series(0::bigint, 6000) AS n)
          AS ids) AS ranks;

-- a text sorts as its number does, also in an index and in a generated column
CREATE TABLE posts (id bigint PRIMARY KEY, code text COLLATE "C" GENERATED ALWAYS AS (snowflake_to_text(id)) STORED);
INSERT INTO posts SELECT id FROM vectors ON CONFLICT DO NOTHING;
CREATE INDEX ON posts (snowflake_to_text(id));
SELECT (SELECT code FROM posts ORDER BY id LIMIT 1) = min(code) AS first,
    (SELECT code FROM posts ORDER BY id DESC LIMIT 1) = max(code) AS last
FROM posts;

-- NULL in, NULL out
SELECT snowflake_to_text(NULL), snowflake_from_text(NULL);

\pset format unaligned
\pset tuples_only on

-- errors
SELECT error_of('SELECT snowflake_to_text(-1)');
SELECT error_of($$SELECT snowflake_from_text('')$$);
SELECT error_of($$SELECT snowflake_from_text('03NFC9C008C0')$$);
SELECT error_of($$SELECT snowflake_from_text('03NFC9C008C000')$$);
SELECT error_of($$SELECT snowflake_from_text('132271570944274432')$$);
SELECT error_of($$SELECT snowflake_from_text(' 3NFC9C008C00')$$);
SELECT error_of($$SELECT snowflake_from_text('03NFC9COO8C00')$$);
SELECT error_of($$SELECT snowflake_from_text('03NFC9C-08C00')$$);
SELECT error_of($$SELECT snowflake_from_text('03NFC9C008C0é')$$);
SELECT error_of($$SELECT snowflake_from_text('03NFC9C008Cé')$$);
SELECT error_of($$SELECT snowflake_from_text('8000000000000')$$);
SELECT error_of($$SELECT snowflake_from_text('FZZZZZZZZZZZZ')$$);

\pset format aligned
\pset tuples_only off
DROP TABLE vectors, posts;
