-- A generator with the node that it has on the source
SELECT snowdrift.create_generator('own', 'snowflake', worker => 5);
