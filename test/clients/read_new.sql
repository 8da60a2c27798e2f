-- What the programs for snowdrift.read_new() read: watched tables with rows a, b and c, which are readable.
SELECT to_regtype('ulid') IS NOT NULL AS has_ulids \gset
CREATE TABLE numbers (id bigserial PRIMARY KEY, body text);
CREATE TABLE snowflakes (id bigint PRIMARY KEY DEFAULT next_snowflake(), body text);
CREATE TABLE uuids (id uuid PRIMARY KEY DEFAULT next_uuidv7(), body text);
SELECT snowdrift.watch('numbers'), snowdrift.watch('snowflakes');
\if :has_ulids
CREATE TABLE ulids (id ulid PRIMARY KEY DEFAULT next_ulid(), body text);
SELECT snowdrift.watch('ulids'), snowdrift.watch('uuids');
INSERT INTO ulids (body) VALUES ('a'), ('b'), ('c');
\endif
INSERT INTO numbers (body) VALUES ('a'), ('b'), ('c');
INSERT INTO snowflakes (body) VALUES ('a'), ('b'), ('c');
INSERT INTO uuids (body) VALUES ('a'), ('b'), ('c');
\if :has_ulids
DO $$ BEGIN
    WHILE (SELECT count(*) FROM snowdrift.read_new(NULL::snowflakes)) + (SELECT count(*) FROM snowdrift.read_new(NULL::ulids))
        + (SELECT count(*) FROM snowdrift.read_new(NULL::uuids)) < 9 LOOP
    END LOOP;
END $$;
\endif
