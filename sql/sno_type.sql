-- The type sno: text and binary forms, comparison, parts, casts, and every error
SET TIME ZONE 'UTC';

SELECT 'cg89x7njekxjp7vt'::sno, sno_nil(), 'xxxxxxxxxxxxxxxx'::sno;

-- ten bytes, also in a row: no padding before or after
SELECT pg_column_size(sno_nil()),
    pg_column_size(ROW(sno_nil(), 'a'::"char", sno_nil())) - pg_column_size(ROW('a'::"char"))
        AS two_in_a_row;

-- the golden vectors, as text and with COPY
\getenv abs_srcdir PG_ABS_SRCDIR
\getenv abs_builddir PG_ABS_BUILDDIR
\set vectors '''' :abs_srcdir '/test/vectors/sno_ids.tsv'' (HEADER)'
\set binary_file '''' :abs_builddir '/results/sno.bin'' (FORMAT binary)'
\set read_expected '\\copy expected FROM ' :vectors
\set read_vectors '\\copy vectors FROM ' :vectors
\set write_binary '\\copy vectors TO ' :binary_file
\set read_binary '\\copy copied FROM ' :binary_file
CREATE TABLE expected (hex text, id text, unix_ms bigint, tick int, metabyte int, partition int,
    sequence int);
CREATE TABLE vectors (hex text, id sno, unix_ms bigint, tick int, metabyte int, partition int,
    sequence int);
:read_expected
:read_vectors
SELECT count(*), bool_and(v.id::text = e.id) AS out,
    bool_and(encode(snowdrift.sno_send(v.id), 'hex') = hex) AS send,
    bool_and(decode(hex, 'hex')::sno = v.id) AS bytes,
    bool_and(sno_timestamp(v.id) = time) AS timestamp,
    bool_and(sno_tick(v.id) = v.tick) AS tick, bool_and(sno_metabyte(v.id) = v.metabyte) AS metabyte,
    bool_and(sno_partition(v.id) = v.partition) AS partition,
    bool_and(sno_sequence(v.id) = v.sequence) AS sequence,
    bool_and(sno_parts(v.id) = ROW(time, v.tick, v.metabyte, v.partition, v.sequence)) AS parts,
    bool_and(make_sno(time, v.metabyte, v.partition, v.sequence, v.tick) = v.id) AS make
FROM vectors AS v JOIN expected AS e USING (hex, unix_ms),
    LATERAL (SELECT 'epoch'::timestamptz + unix_ms * interval '1 ms') AS times(time);

-- the golden vectors with binary COPY
CREATE TABLE copied (LIKE vectors);
:write_binary
:read_binary
SELECT count(*) FROM vectors JOIN copied USING (hex, id, unix_ms, tick, metabyte, partition, sequence);

-- text forms, bytes, UUIDs and values have the same order
SELECT count(*), bool_and(by_text = by_value AND by_bytes = by_value AND by_uuid = by_value) AS alike
FROM (SELECT rank() OVER (ORDER BY id) AS by_value,
          rank() OVER (ORDER BY id::text COLLATE "C") AS by_text,
          rank() OVER (ORDER BY id::bytea) AS by_bytes, rank() OVER (ORDER BY id::uuid) AS by_uuid
      FROM (SELECT id FROM vectors
            UNION ALL SELECT noise(n)::sno FROM generate_series(1, 1000) AS n) AS ids) AS ranks;

-- every operator, on values that differ in the first eight bytes, in the sequence, or not at all
WITH ids(id) AS (VALUES ('cg89x7njekxjp7vt'::sno), ('cg89x7njekxjp7vu'), ('cg89x7njekxkp7vs'),
    ('xxxxxxxxxxxxxxxx'))
SELECT a.id AS a, b.id AS b, a.id = b.id AS "=", a.id <> b.id AS "<>", a.id < b.id AS "<",
    a.id <= b.id AS "<=", a.id > b.id AS ">", a.id >= b.id AS ">=", snowdrift.sno_cmp(a.id, b.id)
FROM ids AS a, ids AS b ORDER BY a.id, b.id;

-- decoding and composing
SELECT id, parts.* FROM (VALUES ('cg89x7njekxjp7vt'::sno), (sno_nil()), (sno_max()))
    AS ids(id), sno_parts(id) AS parts;
SELECT make_sno('2032-09-28 11:15:14.912Z', 100, 48923, 38843, 1),
    make_sno('2032-09-28 11:15:14.912Z', 100, 48923, 38843);
SELECT make_sno('2010-01-01Z', 0, 0, 0), make_sno('2079-09-07 15:47:35.548Z', 255, 65535, 65535, 1);

-- replacing a field does not change the others
SELECT sno_parts(sno_set_metabyte(id, 101)), sno_parts(sno_set_metabyte(id, 255)),
    sno_parts(sno_set_partition(id, 0)), sno_parts(sno_set_partition(id, 65535)),
    sno_parts(sno_set_sequence(id, 0)), sno_parts(sno_set_sequence(id, 65535))
FROM (SELECT 'cg89x7njekxjp7vt'::sno AS id) AS ids \gx

-- an ID truncates its time to 4 ms; a boundary rounds it up
SELECT sno_timestamp(make_sno('2024-02-29 12:34:56.787999Z', 0, 0, 0)),
    sno_timestamp(sno_boundary('2024-02-29 12:34:56.784Z')),
    sno_timestamp(sno_boundary('2024-02-29 12:34:56.784001Z'));
SELECT sno_boundary('2010-01-01Z'), sno_boundary('2079-09-07 15:47:35.548Z');

-- IDs of one time unit sort by metabyte, then by partition and sequence
SELECT metabyte, array_agg(partition || '/' || sequence ORDER BY id)
FROM (SELECT make_sno('2024-02-29Z', m, p, s) AS id
      FROM (VALUES (2), (0), (1)) AS a(m), (VALUES (7), (3)) AS b(p), (VALUES (9), (0)) AS c(s)) AS ids,
    sno_parts(id)
GROUP BY metabyte ORDER BY min(id);

-- casts
SELECT id::uuid, id::bytea, id::timestamptz, id::timestamp, id::text
FROM (SELECT 'cg89x7njekxjp7vt'::sno AS id) AS ids;
SELECT '63673839-7837-6e6a-656b-786a70377674'::uuid::sno, '\x538c7f96b164bf1b97bb'::bytea::sno,
    '2032-09-28 11:15:14.912Z'::timestamptz::sno, '2032-09-28 11:15:14.912'::timestamp::sno;
SET TIME ZONE 'America/New_York';
SELECT 'cg89x7njekxjp7vt'::sno::timestamptz, 'cg89x7njekxjp7vt'::sno::timestamp,
    '2032-09-28 11:15:14.912Z'::timestamptz::sno, '2032-09-28 11:15:14.912'::timestamp::sno;
SET TIME ZONE 'UTC';
SELECT count(*), bool_and(id::uuid::sno = id) AS same,
    bool_and(encode(uuid_send(id::uuid), 'escape') = id::text) AS text
FROM vectors;

-- NULL in, NULL out
SELECT NULL::sno, sno_parts(NULL), sno_boundary(NULL), make_sno(now(), 0, NULL, 0), NULL::sno::uuid,
    sno_set_metabyte(sno_nil(), NULL);

\pset format unaligned
\pset tuples_only on

-- invalid strings
SELECT error_of($$SELECT ''::sno$$);
SELECT error_of($$SELECT 'cg89x7njekxjp7v'::sno$$);
SELECT error_of($$SELECT 'cg89x7njekxjp7vt '::sno$$);
SELECT error_of($$SELECT 'cg89x7njekxjp7vT'::sno$$);
SELECT error_of($$SELECT '0g89x7njekxjp7vt'::sno$$);
SELECT error_of($$SELECT 'cg81x7njekxjp7vt'::sno$$);
SELECT error_of($$SELECT 'cg89x7yjekxjp7vt'::sno$$);
SELECT error_of($$SELECT 'cg89x7njzkxjp7vt'::sno$$);
SELECT error_of($$SELECT 'cg89x7njekxjp7vé'::sno$$);
SELECT error_of($$SELECT 'cg89x7njekxjp7é'::sno$$);
SELECT error_of($$SELECT '2026-11-21 10:06'::sno$$);

-- UUIDs that don't contain a sno
SELECT error_of($$SELECT '63673839-7837-6e6a-656b-786a70377600'::uuid::sno$$);
SELECT error_of($$SELECT 'ffffffff-7837-6e6a-656b-786a70377674'::uuid::sno$$);

-- byte strings of a wrong length
SELECT error_of($$SELECT '\x538c7f96b164bf1b97'::bytea::sno$$);
SELECT error_of($$SELECT '\x538c7f96b164bf1b97bb00'::bytea::sno$$);
SELECT error_of($$SELECT 'cg89x7njekxjp7vt'::bytea::sno$$);

-- binary input of a wrong length
\set write_bytes '\\copy (SELECT ''\\x538c7f96b164bf1b97''::bytea) TO ' :binary_file
\set read_bytes '\\copy copied (id) FROM ' :binary_file
:write_bytes
:read_bytes

-- fields out of range
SELECT error_of('SELECT make_sno(now(), 256, 0, 0)');
SELECT error_of('SELECT make_sno(now(), -1, 0, 0)');
SELECT error_of('SELECT make_sno(now(), 0, 65536, 0)');
SELECT error_of('SELECT make_sno(now(), 0, -1, 0)');
SELECT error_of('SELECT make_sno(now(), 0, 0, 65536)');
SELECT error_of('SELECT make_sno(now(), 0, 0, -1)');
SELECT error_of('SELECT make_sno(now(), 0, 0, 0, 2)');
SELECT error_of('SELECT make_sno(now(), 0, 0, 0, -1)');
SELECT error_of('SELECT sno_set_metabyte(sno_nil(), 256)');
SELECT error_of('SELECT sno_set_partition(sno_nil(), -1)');
SELECT error_of('SELECT sno_set_sequence(sno_nil(), 65536)');

-- times out of range
SELECT error_of($$SELECT make_sno('2009-12-31 23:59:59.999999Z', 0, 0, 0)$$);
SELECT error_of($$SELECT make_sno('2079-09-07 15:47:35.549Z', 0, 0, 0)$$);
SELECT error_of($$SELECT make_sno('infinity', 0, 0, 0)$$);
SELECT error_of($$SELECT sno_boundary('2009-12-31 23:59:59.999Z')$$);
SELECT error_of($$SELECT sno_boundary('2079-09-07 15:47:35.548001Z')$$);
SELECT error_of($$SELECT sno_boundary('infinity')$$);
SELECT error_of($$SELECT sno_boundary('-infinity')$$);

-- comparisons with ulid and uuid are errors; the hint depends on PostgreSQL's version
SELECT split_part(error_of('SELECT sno_nil() = ulid_nil()'), E'\n', 1);
SELECT split_part(error_of('SELECT sno_nil() = gen_random_uuid()'), E'\n', 1);

-- Casts from times are explicit: a time is not stored as a guessable ID by mistake.
SELECT error_of($$INSERT INTO copied (id) VALUES (now())$$);
SELECT error_of($$INSERT INTO copied (id) VALUES (localtimestamp)$$);

-- soft errors
SELECT soft_error_of('cg89x7njekxjp7vt', 'sno');
SELECT soft_error_of('cg89x7njekxjp7v', 'sno');
SELECT soft_error_of('cg89x7njekxjp7v0', 'sno');

\pset format aligned
\pset tuples_only off
DROP TABLE expected, vectors, copied;
