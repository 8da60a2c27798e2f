-- TypeIDs
SELECT typeid_to_text('user', '01890a5d-ac96-774b-bcce-b302099a8057'), typeid_prefix('user_01h455vb4pex5vsknk084sn02q'),
    typeid_to_uuid('user_01h455vb4pex5vsknk084sn02q');

-- the specification's vectors
\getenv abs_srcdir PG_ABS_SRCDIR
\set valid '''' :abs_srcdir '/test/vectors/typeid_valid.tsv'' (HEADER)'
\set invalid '''' :abs_srcdir '/test/vectors/typeid_invalid.tsv'' (HEADER)'
\set read_valid '\\copy valid FROM ' :valid
\set read_invalid '\\copy invalid FROM ' :invalid
CREATE TABLE valid (name text, id text, prefix text, uuid uuid);
CREATE TABLE invalid (name text, id text, description text);
:read_valid
:read_invalid
SELECT name, typeid_to_text(prefix, uuid) = id AS text, typeid_prefix(id) = prefix AS prefix, typeid_to_uuid(id) = uuid AS uuid
FROM valid;

-- TypeIDs with the same prefix sort as their UUIDs do
SELECT bool_and(by_uuid = by_text) AS sorted
FROM (SELECT row_number() OVER (ORDER BY id) AS by_uuid,
          row_number() OVER (ORDER BY typeid_to_text('user', id) COLLATE "C") AS by_text
      FROM (SELECT md5(n::text)::uuid AS id FROM generate_series(1, 1000) AS n) AS ids) AS ranks;

-- in a constraint and in a generated column
CREATE TABLE users (id uuid PRIMARY KEY, external_id text GENERATED ALWAYS AS (typeid_to_text('user', id)) STORED,
    referrer text CHECK (typeid_prefix(referrer) = 'user'));
INSERT INTO users VALUES ('01890a5d-ac96-774b-bcce-b302099a8057', DEFAULT, 'user_01h455vb4pex5vsknk084sn02q') RETURNING *;

-- NULL in, NULL out
SELECT typeid_to_text(NULL, gen_random_uuid()), typeid_to_text('user', NULL), typeid_prefix(NULL), typeid_to_uuid(NULL);

\pset format unaligned
\pset tuples_only on

-- each invalid vector raises an error in both functions
SELECT name || E'\n' || error_of(format('SELECT typeid_to_uuid(%L)', id)) FROM invalid;
SELECT count(*) FROM invalid
WHERE error_of(format('SELECT typeid_prefix(%L)', id)) <> error_of(format('SELECT typeid_to_uuid(%L)', id));

-- other invalid TypeIDs
SELECT error_of($$SELECT typeid_to_uuid('usér_01h455vb4pex5vsknk084sn02q')$$);
SELECT error_of($$SELECT typeid_to_uuid('user_01h455vb4pex5vsknk084sn02é')$$);
SELECT error_of($$SELECT typeid_to_uuid('user_01h455vb4pex5vsknk084sn0é')$$);
SELECT error_of($$SELECT typeid_prefix('user')$$);
SELECT error_of($$INSERT INTO users VALUES (gen_random_uuid(), DEFAULT, 'team_01h455vb4pex5vsknk084sn02q')$$)
    LIKE '23514: %';

-- invalid prefixes
SELECT error_of(format('SELECT typeid_to_text(%L, gen_random_uuid())', prefix))
FROM (VALUES ('User'), ('user2'), ('_user'), ('user_'), ('üser'), (repeat('a', 64))) AS prefixes(prefix);

\pset format aligned
\pset tuples_only off
DROP TABLE valid, invalid, users;
