-- Calls beyond a generator's capacity wait, and the overflow is counted
SET client_min_messages = warning;    -- equal_ids.sql has the notices of new generators
SELECT snowdrift.create_generator('narrow', 'snowflake', sequence_max => 3);
SELECT snowdrift.create_generator('narrow sno', 'sno', sequence_max => 3);
SELECT count(DISTINCT id) FROM next_snowflakes(100, 'narrow') AS id;
SELECT count(DISTINCT next_sno('narrow sno')) FROM generate_series(1, 25);
-- A slow server reaches the next time unit without waiting. Ahead of the clock, a pause does not change the unit: the
-- fifth ID waits if the calls take less than 10 s.
SELECT snowdrift.advance(clock_timestamp() + interval '10 s');
SELECT count(DISTINCT id) FROM next_snowflakes(5, 'narrow') AS id;
SELECT snowdrift.advance(clock_timestamp() + interval '10 s');
SELECT count(DISTINCT next_sno('narrow sno')) FROM generate_series(1, 5);
SELECT name, waiting, overflow_episodes > 0 AS overflowed
FROM snowdrift.generators WHERE name LIKE 'narrow%' ORDER BY name;
SELECT snowdrift.drop_generator(name) FROM snowdrift_tables.generator WHERE name LIKE 'narrow%';
-- A new generator, which may get the memory of a dropped one, has no overflow.
SELECT snowdrift.create_generator('wide', 'snowflake');
SELECT next_snowflake('wide') > 0 AS drawn;
SELECT waiting, overflow_episodes, overflow_duration FROM snowdrift.generators WHERE name = 'wide';
SELECT snowdrift.drop_generator('wide');
-- for the tests that follow: the generators continue at the clock's time, however long this test took
SELECT snowdrift.advance(clock_timestamp() + interval '30 s');
SET snowdrift.max_clock_lead = 0;
SELECT snowdrift.reset_clock();
