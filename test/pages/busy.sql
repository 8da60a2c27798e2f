-- A generator that is over its capacity
SELECT snowdrift.create_generator('narrow', 'snowflake', layout => 'si', worker => 4, sequence_max => 7);
CREATE TABLE visits (id bigint PRIMARY KEY DEFAULT next_snowflake('narrow'));
SELECT count(next_snowflake('narrow')) FROM generate_series(1, 200);
