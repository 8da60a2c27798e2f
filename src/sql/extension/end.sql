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

GRANT SELECT ON snowdrift.key_copies TO PUBLIC;
-- Not in the SQL edition: pg_restore lists them, so a move to the extension would have to leave them out.
COMMENT ON COLUMN snowdrift.key_copies."table" IS 'table whose keys are copied';
COMMENT ON COLUMN snowdrift.key_copies.percent IS 'percentage of the table''s blocks that have been read';
COMMENT ON COLUMN snowdrift.key_copies.rows IS 'number of rows that have been copied';
COMMENT ON COLUMN snowdrift.key_copies.time_left IS 'time until the end of the copy, at the same pace';
COMMENT ON COLUMN snowdrift.key_copies.started_at IS 'start of the copy';
COMMENT ON COLUMN snowdrift.key_copies.updated_at IS 'time at which the progress was stored';

COMMENT ON COLUMN snowdrift.watermark_holders.pid IS 'process; null for a prepared transaction';
COMMENT ON COLUMN snowdrift.watermark_holders.gid IS 'identifier of a prepared transaction; otherwise null';
COMMENT ON COLUMN snowdrift.watermark_holders.since IS 'when the transaction began, or was prepared';
COMMENT ON COLUMN snowdrift.watermark_holders.kind IS 'kind of IDs of the generator, or sequence';
COMMENT ON COLUMN snowdrift.watermark_holders.generator IS 'name of the generator or sequence; null for a default generator';
COMMENT ON COLUMN snowdrift.watermark_holders.lowest IS 'lower bound of the times of the transaction''s IDs; -infinity if unknown; for a sequence, the same as since';
COMMENT ON COLUMN snowdrift.watermark_holders.query IS 'last query of the process';
GRANT SELECT ON snowdrift.watermark_holders TO PUBLIC;
