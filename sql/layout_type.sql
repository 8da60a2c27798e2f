-- The type snowflake_layout: output, equality, binary forms, invalid input
-- output: presets as their names, other layouts as their fields in the order of the bits
SELECT layout::snowflake_layout FROM (VALUES ('snowflake'), ('twitter'), ('discord'), ('mastodon'),
    ('instagram'), ('pgedge'), (E' mastic\n'), ('si'), ('sonyflake'), ('sonyflake_v2'), ('hazelcast'),
    ('tsid'), ('clickhouse'), ('baidu'), ('leaf'), ('cosid'),
    ('epoch=2024-01-01T00:00:00Z timestamp=41 datacenter=5 worker=5 sequence=12'),
    ('js timestamp=40 sequence=8 worker=2 epoch=2010-11-04T01:42:54.657Z datacenter=3'),
    ('epoch=2014-09-01T00:00:00Z unit=10ms timestamp=39 sequence=8 worker=16'),
    ('epoch=2016-09-19T16:00:00Z unit=1000ms timestamp=29 datacenter=0 worker=21 sequence=13'),
    ('unit=1500ms epoch=0 timestamp=30 worker=4 datacenter=4 sequence=0'),
    ('epoch=1704067200000 timestamp=38 sequence=25'),
    ('epoch=2015-01-01T00:00:00Z timestamp=42 datacenter=5 worker=5 sequence=12'),
    ('epoch=0 timestamp=48 sequence=16'),
    ('epoch=2021-01-01T00:00:00Z timestamp=40 worker=5 sequence=8'),
    ('js epoch=2021-01-01T00:00:00Z timestamp=40 worker=5 sequence=8')) AS texts(layout);
SELECT pg_column_size('twitter'::snowflake_layout);

-- equality and hashing: by value, independently of the text
SELECT a, b, a = b AS "=", a <> b AS "<>",
    snowdrift.snowflake_layout_hash(a) = snowdrift.snowflake_layout_hash(b) AS hash,
    snowdrift.snowflake_layout_hash_extended(a, 7) = snowdrift.snowflake_layout_hash_extended(b, 7) AS hash_extended
FROM (VALUES ('mastodon'::snowflake_layout, 'epoch=0 timestamp=48 sequence=16'::snowflake_layout),
    ('mastodon', 'mastic'), ('si', 'epoch=1609459200000 timestamp=40 worker=5 sequence=8'),
    ('epoch=0 timestamp=41 worker=5 sequence=12', 'epoch=0 timestamp=41 datacenter=5 sequence=12'),
    ('epoch=0 timestamp=41 worker=5 sequence=12', 'epoch=0 timestamp=41 sequence=12 worker=5'),
    ('epoch=0 timestamp=41 sequence=12 worker=5', 'epoch=0 timestamp=41 sequence=12 datacenter=0 worker=5'),
    ('epoch=0 unit=1s timestamp=31 sequence=12', 'epoch=0 timestamp=31 sequence=12'))
    AS pairs(a, b);
SELECT bool_and(snowdrift.snowflake_layout_hash(layout) = snowdrift.snowflake_layout_hash_extended(layout, 0)::bit(32)::int)
FROM (VALUES ('twitter'::snowflake_layout), ('si')) AS layouts(layout);
SELECT layout, count(*) FROM (VALUES ('twitter'::snowflake_layout), ('mastodon'),
    ('epoch=1970-01-01T00:00:00Z timestamp=48 sequence=16')) AS layouts(layout)
GROUP BY layout ORDER BY count(*);

-- binary forms
\getenv abs_srcdir PG_ABS_SRCDIR
\getenv abs_builddir PG_ABS_BUILDDIR
\set vectors '''' :abs_srcdir '/test/vectors/snowflake_ids.tsv'' (HEADER)'
\set binary_file '''' :abs_builddir '/results/snowflake_layout.bin'' (FORMAT binary)'
\set read_vectors '\\copy vectors FROM ' :vectors
CREATE TABLE vectors (layout snowflake_layout, id bigint, unix_ms bigint, datacenter int,
    worker int, sequence int);
:read_vectors
SELECT layout, snowdrift.snowflake_layout_send(layout) FROM (VALUES ('twitter'::snowflake_layout), ('si'),
    ('epoch=2024-01-01T00:00:00Z timestamp=41 worker=3 sequence=9 js'), ('sonyflake'), ('baidu'))
    AS layouts(layout);
CREATE TABLE copied (LIKE vectors);
\set write_binary '\\copy vectors TO ' :binary_file
\set read_binary '\\copy copied FROM ' :binary_file
:write_binary
:read_binary
SELECT count(*) = (SELECT count(*) FROM vectors) AS same FROM vectors JOIN copied
    USING (layout, id, unix_ms, datacenter, worker, sequence);

-- in the expressions of defaults and generated columns
CREATE TABLE tweets (
    layout snowflake_layout DEFAULT 'epoch=2010-11-04T01:42:54.657Z timestamp=41 datacenter=5 worker=5 sequence=12',
    id bigint PRIMARY KEY,
    created_at timestamptz GENERATED ALWAYS AS (snowflake_timestamp(id, 'twitter')) STORED,
    worker int GENERATED ALWAYS AS
        (snowflake_worker(id, 'epoch=1288834974657 timestamp=41 worker=10 sequence=12')) STORED
);
SELECT attname, pg_get_expr(adbin, adrelid) FROM pg_attrdef
    JOIN pg_attribute ON attrelid = adrelid AND attnum = adnum
WHERE adrelid = 'tweets'::regclass ORDER BY attnum;

\pset format unaligned
\pset tuples_only on

-- An invalid text raises an error when it becomes a value.
SELECT error_of($$SELECT 'twiter'::snowflake_layout$$);
SELECT error_of($$INSERT INTO vectors (layout) VALUES ('epoch=0 timestamp=41 sequence=32')$$);
-- soft errors
SELECT soft_error_of('twitter', 'snowflake_layout');
SELECT soft_error_of('epoch=0 timestamp=41', 'snowflake_layout');
SELECT soft_error_of('epoch=0 timestamp=41 sequence=32', 'snowflake_layout');

-- invalid binary input: a sequence of 32 bits; an unknown order; a byte too few; a byte too many
CREATE TABLE bytes (layout bytea);
CREATE TABLE layouts (layout snowflake_layout);
\set write_bytes '\\copy bytes TO ' :binary_file
\set read_bytes '\\copy layouts FROM ' :binary_file
INSERT INTO bytes VALUES ('\x00000000000000002900002000000001');
:write_bytes
:read_bytes
\set VERBOSITY sqlstate
:read_bytes
\set VERBOSITY default
UPDATE bytes SET layout = '\x00000000000000002905050c00060001';
:write_bytes
:read_bytes
UPDATE bytes SET layout = '\x00000000000000002905050c000000';
:write_bytes
:read_bytes
UPDATE bytes SET layout = '\x00000000000000002905050c0000000100';
:write_bytes
:read_bytes

\pset format aligned
\pset tuples_only off
DROP TABLE tweets, vectors, copied, bytes, layouts;
