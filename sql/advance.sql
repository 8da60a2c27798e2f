-- Advancing all generators of a database past a time, or past the time of an ID
SET client_min_messages = warning;    -- equal_ids.sql has the notices of new generators
SET TIME ZONE 'UTC';

-- all kinds, named or not, with a state or without one
SELECT snowdrift.create_generator('used', 'snowflake', layout => 'twitter', worker => 3);
SELECT snowdrift.create_generator('unused', 'snowflake');
SELECT next_snowflake() > 0 AND next_snowflake('used') > 0 AND next_ulid() > ulid_nil()
    AND uuidv7_timestamp(next_uuidv7()) IS NOT NULL AS drawn;
SELECT clock_timestamp() + interval '5 seconds' AS target \gset
SELECT snowdrift.advance(:'target'::timestamptz);
SELECT snowflake_timestamp(next_snowflake()) >= :'target' AS default_snowflake,
    snowflake_timestamp(next_snowflake('used'), 'twitter') >= :'target' AS used,
    snowflake_timestamp(next_snowflake('unused')) >= :'target' AS unused;
SELECT ulid_timestamp(next_ulid()) >= :'target' AS ulid, uuidv7_timestamp(next_uuidv7()) >= :'target' AS uuidv7;
SELECT mark >= :'target' AS mark FROM snowdrift.clock;
-- regressions are steps of the clock, which this is not
SELECT name, regressions FROM snowdrift.generators WHERE kind = 'snowflake' ORDER BY name NULLS FIRST;

-- past an ID
SELECT make_snowflake(clock_timestamp() + interval '7 seconds', 1, 2, 3) AS id \gset
SELECT snowdrift.advance(:id);
SELECT next_snowflake() > :id AS later;
SELECT ulid_boundary(clock_timestamp() + interval '8 seconds') AS ulid,
    uuidv7_boundary(clock_timestamp() + interval '9 seconds') AS uuid \gset
SELECT snowdrift.advance(ulid :'ulid');
SELECT snowflake_timestamp(next_snowflake()) >= ulid_timestamp(:'ulid') AS later;
SELECT snowdrift.advance(uuid :'uuid');
SELECT uuidv7_timestamp(next_uuidv7()) >= uuidv7_timestamp(:'uuid') AS later;

-- past an earlier time, nothing changes
SELECT mark AS mark_before FROM snowdrift.clock \gset
SELECT snowdrift.advance(timestamptz '2022-01-01');
SELECT snowdrift.advance(make_sno('2022-01-01Z', 0, 1, 0));
SELECT snowdrift.advance(max(id)) FROM (SELECT NULL::bigint) AS empty(id);
SELECT mark >= :'mark_before' AS mark_stays FROM snowdrift.clock;

-- an ID of this server's own number that this server issued, and one that it did not issue
SET client_min_messages = warning;
SELECT snowdrift.advance(next_snowflake());
SELECT snowdrift.advance(make_snowflake(clock_timestamp() + interval '50 seconds', 0, 0, 0));

-- errors
SELECT regexp_replace(error_of($$SELECT snowdrift.advance(now() + interval '1 day')$$), '\d{5,} ms', 'MANY ms');
SELECT error_of($$SELECT snowdrift.advance(-1)$$);
SELECT error_of($$SELECT snowdrift.advance('infinity'::timestamptz)$$);
SELECT error_of($$SELECT snowdrift.advance(gen_random_uuid())$$);
BEGIN READ ONLY;
SELECT snowdrift.advance(now());
ROLLBACK;
SELECT snowdrift.drop_generator('used'), snowdrift.drop_generator('unused');

-- A generator that gets the id of a dropped one, in the transaction that drops it, repeats no ID either.
SELECT snowdrift.create_generator('orders', 'snowflake', datacenter => 2, worker => 3);
SELECT next_snowflake('orders') > 0 AS drawn;
SELECT id AS dropped FROM snowdrift_tables.generator WHERE name = 'orders' \gset
BEGIN;
SELECT snowdrift.drop_generator('orders');
SELECT setval('snowdrift_tables.generator_id', :dropped, false) = :dropped AS set_back;
SELECT snowdrift.create_generator('orders', 'snowflake', datacenter => 2, worker => 3);
SELECT max(next_snowflake('orders')) AS last FROM generate_series(1, 10000) \gset
COMMIT;
SELECT next_snowflake('orders') > :last AS greater, id = :dropped AS same_id FROM snowdrift_tables.generator WHERE name = 'orders';
SELECT snowdrift.drop_generator('orders');

-- Drops that are rolled back do not move a state ahead.
SELECT snowdrift.create_generator('minutes', 'snowflake', 'epoch=2024-01-01T00:00:00Z unit=60s timestamp=31 sequence=24 worker=8');
SELECT snowdrift.snapshot('minutes')->'kind' AS kind;
SELECT snowdrift.advance(now());
DO $$ BEGIN
    FOR i IN 1 .. 10 LOOP
        BEGIN
            PERFORM snowdrift.drop_generator('minutes');
            RAISE 'rolled back';
        EXCEPTION WHEN raise_exception THEN
        END;
    END LOOP;
END $$;
SELECT lead < '3 min' FROM snowdrift.generators WHERE name = 'minutes';
SELECT snowdrift.drop_generator('minutes');

-- for the tests that follow: the generators continue at the clock's time, however long this test took
SELECT snowdrift.advance(clock_timestamp() + interval '30 s');
SET snowdrift.max_clock_lead = 0;
SELECT snowdrift.reset_clock();
