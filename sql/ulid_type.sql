-- The type ulid: text and binary forms, comparison, parts, casts, and every error
SET TIME ZONE 'UTC';

-- input in either case, output in upper case
SELECT '01AR295ZG3KRC245DAXR3A5NJB'::ulid, '01ar295zg3krc245daxr3a5njb'::ulid,
    '01aR295zG3KrC245DaXr3A5nJb'::ulid;
SELECT ulid_nil(), ulid_max();
SELECT pg_column_size('01AR295ZG3KRC245DAXR3A5NJB'::ulid);

-- the golden vectors, as text and with COPY
\getenv abs_srcdir PG_ABS_SRCDIR
\getenv abs_builddir PG_ABS_BUILDDIR
\set vectors '''' :abs_srcdir '/test/vectors/ulid_ids.tsv'' (HEADER)'
\set binary_file '''' :abs_builddir '/results/ulid.bin'' (FORMAT binary)'
\set read_expected '\\copy expected FROM ' :vectors
\set read_vectors '\\copy vectors FROM ' :vectors
\set write_binary '\\copy vectors TO ' :binary_file
\set read_binary '\\copy copied FROM ' :binary_file
CREATE TABLE expected (hex text, id text, unix_ms bigint);
CREATE TABLE vectors (hex text, id ulid, unix_ms bigint);
:read_expected
:read_vectors
SELECT count(*), bool_and(vectors.id::text = expected.id) AS out,
    bool_and(lower(expected.id)::ulid = vectors.id) AS either_case,
    bool_and(encode(snowdrift.ulid_send(vectors.id), 'hex') = hex) AS send,
    bool_and(decode(hex, 'hex')::ulid = vectors.id) AS bytes,
    bool_and(extract(epoch FROM ulid_timestamp(vectors.id)) * 1000 = unix_ms) AS timestamp
FROM vectors JOIN expected USING (hex, unix_ms);

-- the golden vectors with binary COPY
CREATE TABLE copied (LIKE vectors);
:write_binary
:read_binary
SELECT count(*) FROM vectors JOIN copied USING (hex, id, unix_ms);

-- text forms, bytes, UUIDs and values have the same order
SELECT count(*), bool_and(by_text = by_value AND by_bytes = by_value AND by_uuid = by_value) AS alike
FROM (SELECT rank() OVER (ORDER BY id) AS by_value,
          rank() OVER (ORDER BY id::text COLLATE "C") AS by_text,
          rank() OVER (ORDER BY id::bytea) AS by_bytes, rank() OVER (ORDER BY id::uuid) AS by_uuid
      FROM (SELECT id FROM vectors
            UNION ALL SELECT ('\x000000000000'::bytea || noise(n))::ulid
            FROM generate_series(1, 1000) AS n) AS ids) AS ranks;

-- every operator, on values that differ in the first eight bytes, in the last, or not at all
WITH ids(id) AS (VALUES ('01AR295ZG3KRC245DAXR3A5NJB'::ulid), ('01AR295ZG3KRC245DAXR3A5NJC'),
    ('01AR295ZG4KRC245DAXR3A5NJA'), ('7ZZZZZZZZZZZZZZZZZZZZZZZZZ'))
SELECT a.id AS a, b.id AS b, a.id = b.id AS "=", a.id <> b.id AS "<>", a.id < b.id AS "<",
    a.id <= b.id AS "<=", a.id > b.id AS ">", a.id >= b.id AS ">=", snowdrift.ulid_cmp(a.id, b.id)
FROM ids AS a, ids AS b ORDER BY a.id, b.id;

-- decoding and composing
SELECT ulid_timestamp(id), ulid_randomness(id),
    make_ulid(ulid_timestamp(id), ulid_randomness(id)) = id AS same
FROM (VALUES ('01AR295ZG3KRC245DAXR3A5NJB'::ulid), (ulid_nil()), (ulid_max())) AS ids(id);

-- an ID truncates its time to the millisecond; a boundary rounds it up
SELECT make_ulid('2024-02-29 12:34:56.789999Z', '\x00000000000000000001'),
    ulid_boundary('2024-02-29 12:34:56.789Z'), ulid_boundary('2024-02-29 12:34:56.789001Z');
SELECT ulid_boundary('1970-01-01Z'), ulid_boundary('1969-12-31 23:59:59.9995Z'),
    ulid_boundary('10889-08-02 05:31:50.655Z');

-- casts
SELECT id::uuid, id::bytea, id::timestamptz, id::timestamp, id::text
FROM (SELECT '01AR295ZG3KRC245DAXR3A5NJB'::ulid AS id) AS ids;
SELECT '01560492-fe03-9e18-2215-aaee06a2d64b'::uuid::ulid,
    '\x01560492fe039e182215aaee06a2d64b'::bytea::ulid,
    '2016-07-19 19:12:37.379Z'::timestamptz::ulid, '2016-07-19 19:12:37.379'::timestamp::ulid;
SET TIME ZONE 'America/New_York';
SELECT '01AR295ZG3KRC245DAXR3A5NJB'::ulid::timestamptz, '01AR295ZG3KRC245DAXR3A5NJB'::ulid::timestamp,
    '2016-07-19 19:12:37.379Z'::timestamptz::ulid, '2016-07-19 19:12:37.379'::timestamp::ulid;
SET TIME ZONE 'UTC';

-- NULL in, NULL out
SELECT NULL::ulid, ulid_timestamp(NULL), ulid_randomness(NULL), ulid_boundary(NULL),
    make_ulid(NULL, '\x00'), make_ulid(now(), NULL), NULL::ulid = ulid_nil();

\pset format unaligned
\pset tuples_only on

-- invalid strings
SELECT error_of($$SELECT ''::ulid$$);
SELECT error_of($$SELECT '01AR295ZG3KRC245DAXR3A5NJ'::ulid$$);
SELECT error_of($$SELECT '01AR295ZG3KRC245DAXR3A5NJBB'::ulid$$);
SELECT error_of($$SELECT ' 01AR295ZG3KRC245DAXR3A5NJ'::ulid$$);
SELECT error_of($$SELECT '01AR295ZG3KRC245DAXR3A5NJI'::ulid$$);
SELECT error_of($$SELECT '01AR295ZL3KRC245DAXR3A5NJB'::ulid$$);
SELECT error_of($$SELECT '0oAR295ZG3KRC245DAXR3A5NJB'::ulid$$);
SELECT error_of($$SELECT 'U1AR295ZG3KRC245DAXR3A5NJB'::ulid$$);
SELECT error_of($$SELECT '01AR295ZG3KRC245-AXR3A5NJB'::ulid$$);
SELECT error_of($$SELECT '80000000000000000000000000'::ulid$$);
SELECT error_of($$SELECT 'ZZZZZZZZZZZZZZZZZZZZZZZZZZ'::ulid$$);

-- a time where an ID is expected
SELECT error_of($$SELECT '2026-11-21T10:06:06.984+00:00'::ulid$$);
SELECT error_of($$SELECT '2026-11-21'::ulid$$);

-- errors count and show multibyte characters as single characters
SELECT error_of($$SELECT '01AR295ZG3KRC245DAXR3A5NJé'::ulid$$);
SELECT error_of($$SELECT '01AR295ZG3KRC245DAXR3A5N🙂'::ulid$$);
SELECT error_of($$SELECT '01AR295ZG3KRC245DAXR3A5N🙂B'::ulid$$);
SELECT error_of($$SELECT '01AR295ZG3LRC245DAXR3A5N🙂B'::ulid$$);

-- byte strings of a wrong length
SELECT error_of($$SELECT '\x01560492fe039e182215aaee06a2d6'::bytea::ulid$$);
SELECT error_of($$SELECT '\x01560492fe039e182215aaee06a2d64b00'::bytea::ulid$$);
SELECT error_of($$SELECT ''::bytea::ulid$$);
SELECT error_of($$SELECT '01AR295ZG3KRC245DAXR3A5NJB'::bytea::ulid$$);
SELECT error_of($$SELECT make_ulid(now(), '\x000000000000000000')$$);
SELECT error_of($$SELECT make_ulid(now(), '\x0000000000000000000000')$$);

-- binary input of a wrong length
\set write_bytes '\\copy (SELECT ''\\x01560492fe039e182215aaee06a2d6''::bytea) TO ' :binary_file
\set read_bytes '\\copy copied (id) FROM ' :binary_file
:write_bytes
:read_bytes
\set write_bytes '\\copy (SELECT ''\\x01560492fe039e182215aaee06a2d64b4b''::bytea) TO ' :binary_file
:write_bytes
:read_bytes

-- times out of range
SELECT error_of($$SELECT make_ulid('1969-12-31 23:59:59.999999Z', noise(1))$$);
SELECT error_of($$SELECT make_ulid('10889-08-02 05:31:50.656Z', noise(1))$$);
SELECT error_of($$SELECT make_ulid('infinity', noise(1))$$);
SELECT error_of($$SELECT ulid_boundary('1969-12-31 23:59:59.999Z')$$);
SELECT error_of($$SELECT ulid_boundary('10889-08-02 05:31:50.655001Z')$$);
SELECT error_of($$SELECT ulid_boundary('infinity')$$);
SELECT error_of($$SELECT ulid_boundary('-infinity')$$);
SELECT error_of($$SELECT '1969-12-31'::timestamptz::ulid$$);
SELECT error_of($$SELECT '-infinity'::timestamp::ulid$$);

-- comparisons with uuid and bytea are errors; the hint depends on PostgreSQL's version
SELECT split_part(error_of('SELECT ulid_nil() = gen_random_uuid()'), E'\n', 1);
SELECT split_part(error_of($$SELECT ulid_nil() = '\x00'::bytea$$), E'\n', 1);

-- Casts from times are explicit: a time is not stored as a guessable ID by mistake.
SELECT error_of($$INSERT INTO copied (id) VALUES (now())$$);
SELECT error_of($$INSERT INTO copied (id) VALUES (localtimestamp)$$);

-- soft errors
SELECT soft_error_of('01AR295ZG3KRC245DAXR3A5NJB', 'ulid');
SELECT soft_error_of('01AR295ZG3KRC245DAXR3A5NJ', 'ulid');
SELECT soft_error_of('01AR295ZG3KRC245DAXR3A5NJU', 'ulid');

\pset format aligned
\pset tuples_only off
DROP TABLE expected, vectors, copied;

-- the suffix of a TypeID is the ULID's text in lower case; a ulid must be cast to uuid
SELECT typeid_to_text('order', id::uuid), typeid_to_uuid('order_01ar295zg3krc245daxr3a5njb')::ulid = id AS same
FROM (SELECT '01AR295ZG3KRC245DAXR3A5NJB'::ulid AS id) AS ids;
SELECT error_of($$SELECT typeid_to_text('order', ulid_nil())$$) LIKE '42883: %' AS needs_cast;
