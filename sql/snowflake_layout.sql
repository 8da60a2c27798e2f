-- All functions with an argument of the type snowflake_layout
SET TIME ZONE 'UTC';

-- the ways of writing a layout: its fields in one ID, and in its last one
SELECT layout, last, timestamp, datacenter, worker, sequence, snowflake_timestamp(last, layout::snowflake_layout) AS ends
FROM (VALUES (E' mastic\n'), (E'\t\f\x0btwitter\r'), ('sonyflake'),
    ('epoch=2024-01-01T00:00:00Z timestamp=41 datacenter=5 worker=5 sequence=12'),
    ('js timestamp=40 sequence=8 worker=2 epoch=2010-11-04T01:42:54.657Z datacenter=3'),
    ('epoch=2014-09-01T00:00:00Z unit=10ms timestamp=39 sequence=8 worker=16'),
    ('epoch=2016-09-19T16:00:00Z unit=1000ms timestamp=29 datacenter=0 worker=21 sequence=13'),
    (E'unit=1500ms  epoch=0\n timestamp=30 worker=4 datacenter=4 sequence=0'),
    ('epoch=1704067200000 timestamp=38 sequence=25'),
    ('epoch=0000000000 unit=60s timestamp=02 sequence=1'),
    ('timestamp=32 epoch=2024-02-29T23:59:59.999Z datacenter=2 sequence=2 worker=2'),
    ('epoch=253402300799999 timestamp=48 sequence=16')) AS texts(layout),
    LATERAL (SELECT snowdrift.last_snowflake_within('(,)', layout::snowflake_layout) AS last) AS lasts,
    LATERAL snowflake_parts(least(last, 123456789012), layout::snowflake_layout) AS parts;

-- decoding and composing every golden ID
\getenv abs_srcdir PG_ABS_SRCDIR
\set vectors '''' :abs_srcdir '/test/vectors/snowflake_ids.tsv'' (HEADER)'
\set read_vectors '\\copy vectors FROM ' :vectors
CREATE TABLE vectors (layout snowflake_layout, id bigint, unix_ms bigint, datacenter int,
    worker int, sequence int);
:read_vectors
CREATE VIEW golden AS
SELECT *, to_timestamp(unix_ms / 1000) + unix_ms % 1000 * interval '1 ms' AS "timestamp" FROM vectors;
SELECT layout, count(*), bool_and(snowflake_timestamp(id, layout) = timestamp
        AND snowflake_datacenter(id, layout) = datacenter AND snowflake_worker(id, layout) = worker
        AND snowflake_sequence(id, layout) = sequence) AS decoded,
    bool_and(make_snowflake(timestamp, datacenter, worker, sequence, layout) = id) AS composed,
    bool_and(snowflake_boundary(timestamp, layout) <= id
        AND snowflake_boundary(timestamp + interval '1 us', layout) > id) AS bounded
FROM golden GROUP BY layout ORDER BY layout::text COLLATE "C";
SELECT bool_and(parts = (g.timestamp, g.datacenter, g.worker, g.sequence)) AS parts
FROM golden AS g, snowflake_parts(id, layout) AS parts;

-- without a layout, functions use the default one
SELECT bool_and(snowflake_timestamp(id) = snowflake_timestamp(id, layout)
        AND snowflake_boundary(timestamp) = snowflake_boundary(timestamp, layout)
        AND make_snowflake(timestamp, datacenter, worker, sequence) = id)
FROM golden WHERE layout = 'snowflake';

-- an ID of Twitter, and one in Mastodon's format
SELECT * FROM snowflake_parts(1888944671579078978, 'twitter');
SELECT snowflake_timestamp(116301527915219032, 'mastodon'),
    snowflake_timestamp(116301527915219032, 'mastic');

-- in generated columns and indexes
CREATE TABLE tweets (
    sensitive boolean,
    id bigint PRIMARY KEY,
    created_at timestamptz GENERATED ALWAYS AS (snowflake_timestamp(id, 'twitter')) STORED,
    worker int GENERATED ALWAYS AS
        (snowflake_worker(id, 'epoch=1288834974657 timestamp=41 worker=10 sequence=12')) STORED
);
INSERT INTO tweets (sensitive, id) SELECT id % 2 = 0, id FROM vectors WHERE layout = 'twitter';
SELECT count(*), bool_and(created_at = timestamp AND tweets.worker = datacenter * 32 + golden.worker)
FROM tweets JOIN golden USING (id) WHERE layout = 'twitter';
CREATE INDEX tweets_worker ON tweets (snowflake_worker(id, 'twitter'));
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT layout, plan_of(format('SELECT id FROM tweets WHERE snowflake_worker(id, %L) = 18', layout))
    = 'Index Scan on tweets_worker' AS indexed
FROM (VALUES ('twitter'), ('timestamp=41 datacenter=5 worker=5 sequence=12 epoch=1288834974657'),
    ('instagram')) AS layouts(layout);
SELECT id FROM tweets WHERE snowflake_worker(id, 'twitter') = 18;
SELECT plan_of($$SELECT id FROM tweets WHERE id >= snowflake_boundary('2029-12-01', 'twitter')
    AND id < snowflake_boundary('2030-01-01', 'twitter')$$);
RESET enable_seqscan;
RESET enable_bitmapscan;

-- hazelcast: the last ID's time in the original's tests
SELECT * FROM snowflake_parts(9223372036850582738, 'hazelcast');

-- baidu: the ID in the original's README, whose configuration differs from the defaults
SELECT * FROM snowflake_parts(180363646902239241,
    'epoch=2016-09-19T16:00:00Z unit=1s timestamp=29 worker=21 sequence=13');

-- longer time units: an ID has the time of its unit, and a boundary belongs to the next unit that begins
SELECT time, (snowflake_parts(make_snowflake(time, 0, 1, 2, layout), layout)).*,
    snowflake_timestamp(snowflake_boundary(time, layout), layout) AS boundary
FROM (VALUES ('sonyflake'::snowflake_layout), ('baidu'), ('epoch=0 unit=60s timestamp=28 worker=3 sequence=4'))
    AS layouts(layout),
    (VALUES ('2024-02-29 12:00:00Z'::timestamptz), ('2024-02-29 12:00:00.000001Z'),
        ('2024-02-29 12:00:00.009999Z'), ('2024-02-29 12:00:00.01Z'), ('2024-02-29 12:00:00.999999Z'))
    AS times(time)
ORDER BY layout::text COLLATE "C", time;
CREATE TABLE instants AS
SELECT timestamptz '2024-02-29 12:00Z' + n * interval '9421 us' AS time FROM generate_series(0, 6) AS n
UNION SELECT timestamptz '2024-02-29 12:00Z' + n * interval '20 ms' FROM generate_series(0, 2) AS n
UNION SELECT timestamptz '2024-02-29 12:00Z' + n * interval '500 ms' FROM generate_series(0, 2) AS n;
SELECT layout::text COLLATE "C", count(*), count(DISTINCT id) AS ids,
    count(*) FILTER (WHERE snowflake_within(id, times, layout) <> times @> snowflake_timestamp(id, layout)
        OR (id >= lower AND id < upper) <> times @> snowflake_timestamp(id, layout)) AS wrong
FROM (SELECT layout, make_snowflake(i.time, 0, 0, 1, layout) AS id, tstzrange(a.time, b.time) AS times,
        snowflake_boundary(a.time, layout) AS lower, snowflake_boundary(b.time, layout) AS upper
      FROM (VALUES ('sonyflake'::snowflake_layout), ('baidu'), ('hazelcast')) AS layouts(layout),
          instants AS i, instants AS a, instants AS b WHERE a.time <= b.time OFFSET 0) AS ranges
GROUP BY 1 ORDER BY 1;

-- mastic: the sign bit stays clear until 6485
SELECT make_snowflake('2026-01-01Z', 0, 0, 0, 'mastic'), snowflake_boundary('6485-10-17', 'mastic');
SELECT * FROM snowflake_parts(9223372036854775807, 'mastic');
SELECT make_snowflake('6485-10-17 02:45:55.327Z', 0, 0, 65535, 'mastic');

-- si: with any split of the 13 low bits, every ID is a safe integer in JavaScript
SELECT worker, make_snowflake('2055-11-04 19:53:47.775Z', 0, (1 << worker) - 1, (1 << 13 - worker) - 1,
    format('epoch=2021-01-01T00:00:00Z timestamp=40 worker=%s sequence=%s js', worker, 13 - worker)::snowflake_layout)
FROM generate_series(0, 13) AS worker;
SELECT * FROM snowflake_parts(9007199254740991, 'si');

-- the earliest epoch of a layout like si; a layout without js has no such limit
SELECT 'epoch=2003-03-18T07:20:19.225Z timestamp=40 worker=5 sequence=8 js'::snowflake_layout;
SELECT snowflake_timestamp((1::bigint << 53) - 1,
    'epoch=2003-03-18T07:20:19.225Z timestamp=40 worker=5 sequence=8 js');
SELECT 'epoch=2003-03-18T07:20:19.224Z timestamp=40 worker=5 sequence=8'::snowflake_layout;

-- NULL in, NULL out
SELECT NULL::snowflake_layout, snowflake_timestamp(1, NULL), snowflake_parts(NULL, 'si'),
    snowflake_boundary(now(), NULL), make_snowflake(now(), 0, 0, 0, NULL);

\pset format unaligned
\pset tuples_only on

-- invalid layouts
SELECT error_of($$SELECT snowflake_timestamp(0, 'twiter')$$);
SELECT error_of($$SELECT snowflake_timestamp(0, 'Twitter')$$);
SELECT error_of($$SELECT snowflake_timestamp(0, '')$$);
SELECT error_of($$SELECT snowflake_timestamp(0, 'si worker=3')$$);
SELECT error_of($$SELECT snowflake_timestamp(0, 'epoch=0 timestamp=41 sequence=12 node=3')$$);
SELECT error_of($$SELECT snowflake_timestamp(0, 'epoch=0 timestamp=41 sequence=12 sequence=12')$$);
SELECT error_of($$SELECT snowflake_timestamp(0, 'epoch=0 js timestamp=41 js sequence=12')$$);
SELECT error_of($$SELECT snowflake_timestamp(0, 'epoch=0 timestamp=41')$$);
SELECT error_of($$SELECT snowflake_timestamp(0, 'timestamp=41 sequence=12')$$);
SELECT error_of($$SELECT snowflake_timestamp(0, 'epoch=0 sequence=12 timestamp=41 worker=10')$$);
SELECT error_of($$SELECT snowflake_timestamp(0, 'epoch=0 unit=10 timestamp=39 sequence=12')$$);
SELECT error_of($$SELECT snowflake_timestamp(0, 'epoch=0 unit=100us timestamp=39 sequence=12')$$);
SELECT error_of($$SELECT snowflake_timestamp(0, 'epoch=2024-02-30T00:00:00Z timestamp=41 sequence=12')$$);
SELECT error_of($$SELECT snowflake_timestamp(0, 'epoch=0 timestamp=41.5 sequence=12')$$);
SELECT error_of($$SELECT snowflake_timestamp(0, 'epoch=0 timestamp=41 sequence=zwölf')$$);

-- values out of bounds
SELECT error_of($$SELECT snowflake_timestamp(0, 'epoch=0 timestamp=0 sequence=12')$$);
SELECT error_of($$SELECT snowflake_timestamp(0, 'epoch=0 timestamp=49 sequence=12')$$);
SELECT error_of($$SELECT snowflake_timestamp(0, 'epoch=0 unit=10ms timestamp=45 sequence=12')$$);
SELECT error_of($$SELECT snowflake_timestamp(0, 'epoch=0 unit=0ms timestamp=39 sequence=12')$$);
SELECT error_of($$SELECT snowflake_timestamp(0, 'epoch=0 unit=61s timestamp=32 sequence=12')$$);
SELECT error_of($$SELECT snowflake_timestamp(0, 'epoch=0 timestamp=41 datacenter=-1 sequence=12')$$);
SELECT error_of($$SELECT snowflake_timestamp(0, 'epoch=0 timestamp=41 worker=32 sequence=12')$$);
SELECT error_of($$SELECT snowflake_timestamp(0, 'epoch=0 timestamp=41 sequence=32')$$);
SELECT error_of($$SELECT snowflake_timestamp(0, 'epoch=0 timestamp=30 datacenter=16 worker=16 sequence=2')$$);
SELECT error_of($$SELECT snowflake_timestamp(0, 'epoch=0 timestamp=42 datacenter=5 worker=5 sequence=13')$$);
SELECT error_of($$SELECT snowflake_timestamp(0, 'epoch=0 timestamp=41 worker=1 sequence=12 js')$$);
SELECT error_of($$SELECT snowflake_timestamp(0, 'epoch=1969-12-31T23:59:59.999Z timestamp=41 sequence=12')$$);
SELECT error_of($$SELECT snowflake_timestamp(0, 'epoch=253402300800000 timestamp=41 sequence=12')$$);
SELECT error_of($$SELECT snowflake_timestamp(0, 'epoch=2003-03-18T07:20:19.224Z timestamp=40 worker=5 sequence=8 js')$$);

-- arguments that exceed the layout's fields
SELECT error_of($$SELECT snowflake_timestamp(9007199254740992, 'si')$$);
SELECT error_of($$SELECT snowflake_parts(-1, 'mastodon')$$);
SELECT error_of($$SELECT make_snowflake('2026-01-01', 1, 0, 0, 'si')$$);
SELECT error_of($$SELECT make_snowflake('2026-01-01', 0, 32, 0, 'si')$$);
SELECT error_of($$SELECT make_snowflake('2026-01-01', 0, 0, 256, 'si')$$);
SELECT error_of($$SELECT make_snowflake('6485-10-17 02:45:55.328Z', 0, 0, 0, 'mastic')$$);
SELECT error_of($$SELECT make_snowflake('2025-12-31 23:59:59.999Z', 0, 0, 0, 'mastic')$$);
SELECT error_of($$SELECT snowflake_boundary('6485-10-17 02:45:55.327001Z', 'mastic')$$);
SELECT error_of($$SELECT snowflake_boundary('2055-11-04 19:53:47.776Z', 'si')$$);
SELECT error_of($$SELECT snowflake_boundary('infinity', 'si')$$);
-- the last unit of baidu: its last microsecond has an ID, but no unit begins after its first
SELECT make_snowflake('2024-11-20 13:24:15.999999Z', 0, 0, 0, 'baidu'), snowflake_boundary('2024-11-20 13:24:15Z', 'baidu');
SELECT error_of($$SELECT make_snowflake('2024-11-20 13:24:16Z', 0, 0, 0, 'baidu')$$);
SELECT error_of($$SELECT snowflake_boundary('2024-11-20 13:24:15.000001Z', 'baidu')$$);
SELECT error_of($$SELECT make_snowflake('2016-05-19 15:59:59.999999Z', 0, 0, 0, 'baidu')$$);

\pset format aligned
\pset tuples_only off
DROP VIEW golden;
DROP TABLE tweets, vectors, instants;
