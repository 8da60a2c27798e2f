-- Errors of arguments out of range name the value and the bounds
SET TIME ZONE 'UTC';
\pset format unaligned
\pset tuples_only on

SELECT error_of('SELECT snowflake_timestamp(-1)');
SELECT error_of('SELECT snowflake_datacenter(-9223372036854775808)');
SELECT error_of('SELECT snowflake_worker(-1)');
SELECT error_of('SELECT snowflake_sequence(-1)');
SELECT error_of('SELECT snowflake_parts(-1)');

SELECT error_of($$SELECT make_snowflake('2022-01-01', 32, 0, 0)$$);
SELECT error_of($$SELECT make_snowflake('2022-01-01', -1, 0, 0)$$);
SELECT error_of($$SELECT make_snowflake('2022-01-01', 0, 32, 0)$$);
SELECT error_of($$SELECT make_snowflake('2022-01-01', 0, -1, 0)$$);
SELECT error_of($$SELECT make_snowflake('2022-01-01', 0, 0, 4096)$$);
SELECT error_of($$SELECT make_snowflake('2022-01-01', 0, 0, -2147483648)$$);
SELECT error_of($$SELECT make_snowflake('2020-12-31T23:59:59.999999Z', 0, 0, 0)$$);
SELECT error_of($$SELECT make_snowflake('2090-09-07T15:47:35.552Z', 0, 0, 0)$$);
SELECT error_of($$SELECT make_snowflake('infinity', 0, 0, 0)$$);

SELECT error_of($$SELECT snowflake_boundary('2020-12-31T23:59:59.999Z')$$);
SELECT error_of($$SELECT snowflake_boundary('2090-09-07T15:47:35.551001Z')$$);
SELECT error_of($$SELECT snowflake_boundary('infinity')$$);
SELECT error_of($$SELECT snowflake_boundary('-infinity')$$);
SELECT error_of($$SELECT snowflake_boundary('4714-11-24 BC')$$);
SELECT error_of($$SELECT snowflake_boundary('294276-12-31')$$);

SELECT error_of('SELECT * FROM next_snowflakes(-1)');
