-- Array types

-- An extension's array types belong to it from PostgreSQL 17 on. Before, postgres_fdw computes "id = ANY ($1)" itself if
-- they don't.
CREATE FUNCTION snowdrift.add_array_types() RETURNS void LANGUAGE sql AS $$
    ALTER EXTENSION snowdrift ADD TYPE @extschema@.snowflake_layout[];
    ALTER EXTENSION snowdrift ADD TYPE @extschema@.ulid[];
    ALTER EXTENSION snowdrift ADD TYPE @extschema@.sno[];
$$;
SELECT snowdrift.add_array_types() WHERE current_setting('server_version_num')::int < '170000'::int;
DROP FUNCTION snowdrift.add_array_types();
