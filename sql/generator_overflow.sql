-- Calls beyond a generator's capacity wait, and the overflow is counted
SET client_min_messages = warning;    -- equal_ids.sql has the notices of new generators
SELECT snowdrift.create_generator('narrow', 'snowflake', sequence_max => 3);
SELECT snowdrift.create_generator('narrow sno', 'sno', sequence_max => 3);
-- Ahead of the clock, the next time unit begins when the clock reaches it, however slow the calls are.
SELECT snowdrift.advance(clock_timestamp() + interval '2 s');
SELECT count(DISTINCT id) FROM next_snowflakes(5, 'narrow') AS id;
SELECT snowdrift.advance(clock_timestamp() + interval '2 s');
SELECT count(DISTINCT next_sno('narrow sno')) FROM generate_series(1, 5);
SELECT name, waiting, overflow_episodes > 0 AS overflowed
FROM snowdrift.generators WHERE name LIKE 'narrow%' ORDER BY name;
SELECT snowdrift.drop_generator(name) FROM snowdrift_tables.generator WHERE name LIKE 'narrow%';
-- A new generator, which may get the memory of a dropped one, has no overflow.
SELECT snowdrift.create_generator('wide', 'snowflake');
SELECT next_snowflake('wide') > 0 AS drawn;
SELECT waiting, overflow_episodes, overflow_duration FROM snowdrift.generators WHERE name = 'wide';
SELECT snowdrift.drop_generator('wide');
