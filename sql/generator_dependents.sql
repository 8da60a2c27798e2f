-- Dropping a generator that defaults and watches name, and defaults that name no generator
SET client_min_messages = warning;
\pset format unaligned
\pset tuples_only on
-- dependents(GENERATOR): the error of dropping the generator, with its lines in order
CREATE FUNCTION dependents(generator text) RETURNS SETOF text LANGUAGE sql BEGIN ATOMIC
    SELECT regexp_replace(line, '_\d{5,}_', '_OID_') AS line FROM regexp_split_to_table(error_of(format('SELECT snowdrift.drop_generator(%L)', generator)), '\n(DETAIL: )?') AS line
    ORDER BY line COLLATE "C";
END;

SELECT snowdrift.create_generator('web', 'snowflake'), snowdrift.create_generator('web2', 'snowflake', worker => 1),
    snowdrift.create_generator('things', 'sno');

CREATE TABLE plain (id bigint DEFAULT next_snowflake('web'), parent bigint DEFAULT next_snowflake('web2'), note text DEFAULT 'web');
CREATE TABLE expressions (a text DEFAULT 'u' || next_snowflake(generator => 'web'), b numeric DEFAULT next_snowflake('web'::varchar) % 1000,
    c bigint DEFAULT CASE WHEN now() < '2000-01-01' THEN snowflake_at(now(), 'web') END, d bigint DEFAULT snowflake_watermark('web'),
    e bigint[] DEFAULT ARRAY[next_snowflake('web2'), next_snowflake('web')], f bigint DEFAULT next_snowflake());
CREATE DOMAIN web_id AS bigint DEFAULT next_snowflake('web');
CREATE TABLE of_domain (id web_id);
CREATE TABLE parts (id bigint DEFAULT next_snowflake('web')) PARTITION BY RANGE (id);
CREATE TABLE part PARTITION OF parts DEFAULT;
CREATE TABLE things (a sno DEFAULT next_sno('things'), b sno DEFAULT next_sno(metabyte => 7, generator => 'things'),
    c sno DEFAULT sno_at('2020-01-01Z', 7, 'things'));
CREATE TABLE watched (id bigint DEFAULT next_snowflake('web'));
SELECT snowdrift.watch('watched', 'id');
ALTER TABLE watched ALTER id DROP DEFAULT;
-- These are not found: calls in functions, and names that are not constants.
CREATE FUNCTION next_web() RETURNS bigint LANGUAGE sql RETURN next_snowflake('web');
CREATE TABLE unknown (a bigint DEFAULT next_web(), b bigint DEFAULT next_snowflake(concat('we', 'b')), c bigint DEFAULT next_snowflake(NULL));

SELECT dependents('web');
SELECT dependents('things');
INSERT INTO plain DEFAULT VALUES RETURNING id > 0 AS drawn;
-- Tables whose defaults are read are not locked.
BEGIN;
SELECT snowdrift.create_generator('unused', 'snowflake', worker => 2);
SELECT snowdrift.drop_generator('unused');
SELECT count(*) FROM pg_locks WHERE relation IN ('plain'::regclass, 'expressions'::regclass, 'watched'::regclass);
COMMIT;

-- Without these objects, the generator can be dropped.
DROP TABLE things;
SELECT snowdrift.drop_generator('things');
DROP TABLE of_domain, expressions, parts, watched;
SELECT dependents('web');
DROP DOMAIN web_id;
ALTER TABLE plain ALTER id SET DEFAULT next_snowflake('web2');
SELECT snowdrift.drop_generator('web');

-- The drop can be forced. The default stays, and raises an error.
SELECT snowdrift.create_generator('web3', 'snowflake', worker => 3), snowdrift.create_generator('wob', 'snowflake', worker => 4);
SELECT snowdrift.drop_generator('web2', force => true);
SELECT error_of($$INSERT INTO plain DEFAULT VALUES$$);
SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = 'plain'::regclass AND adnum = 1;
SELECT error_of($$SELECT snowdrift.drop_generator('web2')$$);

-- The hint names the generators with the most similar names.
SELECT error_of($$SELECT next_snowflake('Web3')$$);
SELECT error_of($$SELECT next_snowflake('web')$$);
SELECT error_of($$SELECT next_snowflakes(1, 'web33')$$);
SELECT error_of($$SELECT next_sno('other')$$);
SELECT error_of($$SELECT next_snowflake('w')$$);
SELECT error_of($$SELECT next_snowflake('')$$);
SELECT error_of($$SELECT next_snowflake(repeat('web', 30))$$);
SELECT snowdrift.create_generator('größe', 'snowflake', worker => 5);
SELECT error_of($$SELECT next_snowflake('grosse')$$);
SELECT error_of($$SELECT next_snowflake('größe-abc')$$);
-- Any role can read these names.
CREATE ROLE snowdrift_reader;
SET ROLE snowdrift_reader;
SELECT string_agg(name, ' ' ORDER BY name) FROM snowdrift.generators;
SELECT error_of($$SELECT next_snowflake('web4')$$);
RESET ROLE;
DROP ROLE snowdrift_reader;

-- The hint lists at most ten names, and the detail at most 100 dependents.
SELECT count(snowdrift.create_generator('many' || n, 'snowflake', worker => 5)::text) FROM generate_series(10, 21) AS n;
SELECT error_of($$SELECT next_snowflake('many')$$);
DO $$ BEGIN FOR n IN 100 .. 201 LOOP EXECUTE format('CREATE TABLE many%s (id bigint DEFAULT next_snowflake(''many10''))', n); END LOOP; END $$;
SELECT count(*) FILTER (WHERE line ~ '^default value'), string_agg(line, ', ') FILTER (WHERE line ~ '^and') FROM dependents('many10') AS line;
DO $$ BEGIN FOR n IN 100 .. 201 LOOP EXECUTE format('DROP TABLE many%s', n); END LOOP; END $$;

DROP TABLE plain, unknown;
DROP FUNCTION next_web(), dependents(text);
SELECT count(*) FROM (SELECT snowdrift.drop_generator(name) FROM snowdrift_tables.generator) AS dropped;
