-- The layout of a partitioned table's Snowflakes, which the default of its key states
SET TimeZone = 'UTC';

-- The layout of the column's generator applies. In the default layout, all of these partitions would be old.
SELECT snowdrift.create_generator('web', 'snowflake', layout => 'pgedge');
CREATE TABLE visits (id bigint PRIMARY KEY DEFAULT next_snowflake('web'), page text) PARTITION BY RANGE (id);
SELECT count(*) FROM snowdrift.create_partitions('visits', '1 day', now() - interval '1 day', now() + interval '1 day', 'pgedge');
INSERT INTO visits (page) VALUES ('/') RETURNING snowflake_timestamp(id, 'pgedge') > now() - interval '1 minute' AS recent;
SELECT count(*), bool_or(now() <@ times) AS has_now FROM snowdrift.partitions('visits');
SELECT count(*) FROM snowdrift.drop_partitions('visits', interval '1 year');
SELECT count(*) FROM snowdrift.drop_partitions_before('visits', now() - interval '1 year');
SELECT bool_and(upper(times) <= now()) AS ended FROM snowdrift.drop_partitions('visits', interval '0', dry_run => true);
SELECT count(*) FROM visits WHERE snowflake_within(id, tstzrange(now() - interval '1 hour', NULL), 'pgedge');
SELECT count(*) FROM snowdrift.create_partitions('visits', '1 day', now(), now());
-- The argument may state the same layout.
SELECT count(*) FROM snowdrift.partitions('visits', 'pgedge');
SELECT count(*) FROM snowdrift.drop_partitions('visits', interval '1 year', 'pgedge');
SELECT count(*) FROM snowdrift.drop_partitions_before('visits', now() - interval '1 year', layout => 'pgedge', dry_run => true);
SELECT count(*) FROM snowdrift.partitions('visits', NULL);


-- all_errors(TABLE [, LAYOUT]): the errors of all functions that take the layout, each once
CREATE FUNCTION all_errors(parent regclass, layout text DEFAULT NULL) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT DISTINCT error_of(format(call, parent, layout)) FROM (VALUES
        ('SELECT FROM snowdrift.partitions(%L, %L)'),
        ('SELECT FROM snowdrift.create_partitions(%L, ''1 day'', now(), now(), %L)'),
        ('SELECT FROM snowdrift.drop_partitions(%L, interval ''1 year'', %L)'),
        ('SELECT FROM snowdrift.drop_partitions_before(%L, now() - interval ''1 year'', %L, true)')) AS calls(call)
$$;
-- Another layout than that of the default is an error.
SELECT all_errors('visits', 'snowflake');
SELECT all_errors('visits', 'epoch=2024-01-01T00:00:00Z timestamp=41 worker=10 sequence=12');
-- The default generator has the default layout.
ALTER TABLE visits ALTER id SET DEFAULT next_snowflake();
SELECT all_errors('visits', 'pgedge');
-- The default of the partitioned table decides, not that of a partition.
ALTER TABLE visits ALTER id SET DEFAULT next_snowflake('web');
DO $$ DECLARE name regclass; BEGIN FOR name IN SELECT partition FROM snowdrift.partitions('visits') LOOP
    EXECUTE format('ALTER TABLE %s ALTER id SET DEFAULT next_snowflake()', name); END LOOP; END $$;
SELECT all_errors('visits');
SELECT count(*) FROM snowdrift.drop_partitions('visits', interval '1 year');

-- If the default states no layout, the argument is required. It applies if the default's generator does not exist.
CREATE FUNCTION own_id() RETURNS bigint LANGUAGE sql AS 'SELECT next_snowflake(''web'')';
CREATE SCHEMA other;
CREATE FUNCTION other.next_snowflake() RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint';
CREATE SEQUENCE numbers;
SELECT snowdrift.create_generator('readings', 'sno', partition => 5);
CREATE TABLE defaults (n serial, expression text);
INSERT INTO defaults (expression) VALUES ('NULL'), ('1'), ('nextval(''numbers'')'), ('own_id()'), ('other.next_snowflake()'),
    ('next_snowflake() + 1'), ('abs(next_snowflake())'), ('next_snowflake(NULL)'), ('next_snowflake(current_setting(''a.b''))'),
    ('next_snowflake(''readings'')'), ('next_sno()::text::bigint'), ('extract(epoch FROM now())::bigint');
CREATE FUNCTION errors_with(expression text, layout text DEFAULT NULL) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('ALTER TABLE visits ALTER id SET DEFAULT %s', expression);
    RETURN QUERY SELECT all_errors('visits', layout);
END $$;
SELECT expression, errors_with(expression) FROM defaults ORDER BY n;
SELECT DISTINCT errors_with(expression, 'pgedge') FROM defaults;
ALTER TABLE visits ALTER id DROP DEFAULT;
SELECT all_errors('visits'), all_errors('visits', 'pgedge') AS with_argument;
SELECT errors_with('next_snowflake(''missing'')'), errors_with('next_snowflake(''missing'')', 'pgedge') AS with_argument;
-- casts of the call, and of its argument
SELECT expression, errors_with(expression), errors_with(expression, 'snowflake') AS with_argument
FROM (VALUES ('next_snowflake(''web''::text)::bigint'), ('next_snowflake(''web'')::numeric'), ('next_snowflake(generator => ''web'')'), ('next_snowflake(''web''::varchar)')) AS casts(expression);
DROP TABLE visits, defaults;
DROP FUNCTION own_id(), errors_with(text, text), other.next_snowflake();
DROP SCHEMA other;
DROP SEQUENCE numbers;

-- a key of a domain type, behind a dropped column; an owner without rights on the generator
CREATE DOMAIN flake AS bigint CHECK (VALUE > 0);
CREATE TABLE flakes (dropped int, kind text DEFAULT 'a', id flake DEFAULT next_snowflake('web')) PARTITION BY RANGE (id);
ALTER TABLE flakes DROP dropped;
CREATE ROLE snowdrift_user;
GRANT CREATE ON SCHEMA public TO snowdrift_user;
ALTER TABLE flakes OWNER TO snowdrift_user;
SET ROLE snowdrift_user;
SELECT snowdrift.create_partitions('flakes', '1 month', '2024-01-01Z', '2024-01-01Z');
CREATE TABLE flakes_future PARTITION OF flakes FOR VALUES FROM (snowflake_boundary('2050-01-01Z', 'pgedge')) TO (MAXVALUE);
SELECT * FROM snowdrift.partitions('flakes');
SELECT partition FROM snowdrift.drop_partitions('flakes', interval '1 year');
RESET ROLE;
SELECT all_errors('flakes', 'snowflake');
DROP TABLE flakes;
DROP DOMAIN flake;
REVOKE CREATE ON SCHEMA public FROM snowdrift_user;
DROP ROLE snowdrift_user;

-- a partition whose default differs from that of the table into which rows are inserted
CREATE TABLE clicks (site int, id bigint DEFAULT next_snowflake('web')) PARTITION BY LIST (site);
CREATE TABLE clicks_1 PARTITION OF clicks FOR VALUES IN (1) PARTITION BY RANGE (id);
SELECT partition FROM snowdrift.create_partitions('clicks_1', '1 month', '2024-01-01Z', '2024-01-01Z') AS partition;
ALTER TABLE clicks_1 ALTER id SET DEFAULT next_snowflake();
SELECT all_errors('clicks_1'), all_errors('clicks_1', 'snowflake') AS with_argument;
ALTER TABLE clicks_1 ALTER id DROP DEFAULT;
SELECT all_errors('clicks_1', 'snowflake') AS with_argument, all_errors('clicks_1', 'pgedge') AS with_its_layout;
DROP TABLE clicks;

-- an identity column
CREATE TABLE counted (id bigint GENERATED ALWAYS AS IDENTITY) PARTITION BY RANGE (id);
SELECT all_errors('counted'), all_errors('counted', 'pgedge') AS with_argument;
DROP TABLE counted;

-- Keys of other types have no layout.
CREATE TABLE events (id ulid DEFAULT next_ulid()) PARTITION BY RANGE (id);
SELECT all_errors('events'), all_errors('events', 'pgedge') AS with_argument;
DROP TABLE events;

DROP FUNCTION all_errors(regclass, text);
SELECT snowdrift.drop_generator('web'), snowdrift.drop_generator('readings');
