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

REVOKE ALL ON FUNCTION snowdrift.publish_watermarks() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION snowdrift.publish_watermarks() TO @extowner@ WITH GRANT OPTION;
COMMENT ON TABLE snowdrift_tables.published_watermark IS 'watermarks for hot standbys; of use only on the server that wrote them';
COMMENT ON COLUMN snowdrift_tables.published_watermark.kind IS 'kind of IDs of the generator; table for a watched table';
COMMENT ON COLUMN snowdrift_tables.published_watermark.source IS 'name of the generator; empty for a default one; or OID of the table';
COMMENT ON COLUMN snowdrift_tables.published_watermark.watermark IS 'watermark as text';
COMMENT ON COLUMN snowdrift_tables.published_watermark.server IS 'result of snowdrift_tables.server() when it was written';
COMMENT ON COLUMN snowdrift_tables.published_watermark.origin IS 'identity of the sequence or the generator';
COMMENT ON COLUMN snowdrift_tables.published_watermark.published_at IS 'time at which it was read';
COMMENT ON TRIGGER skip_row ON snowdrift_tables.published_watermark IS 'skip rows of another server';
COMMENT ON COLUMN snowdrift.published_watermarks.kind IS 'kind of IDs of the generator; table for a watched table';
COMMENT ON COLUMN snowdrift.published_watermarks.generator IS 'name of the generator; null for a default generator, and for a table';
COMMENT ON COLUMN snowdrift.published_watermarks."table" IS 'watched table; null for a generator';
COMMENT ON COLUMN snowdrift.published_watermarks.watermark IS 'watermark as text; null if the role may not read the table';
COMMENT ON COLUMN snowdrift.published_watermarks.published_at IS 'time at which it was read on the primary';
COMMENT ON COLUMN snowdrift.published_watermarks.origin IS 'identity of the sequence or the generator; with another one, standbys raise an error';
GRANT SELECT ON snowdrift.published_watermarks TO PUBLIC;

-- What ALTER DEFAULT PRIVILEGES has granted on tables, sequences, and functions that are not for all roles
DO $$
DECLARE
    revocation text;
BEGIN
    FOR revocation IN
        SELECT format('REVOKE %s ON %s FROM %s CASCADE', a.privilege_type, o.name, snowdrift.grantee_name(a.grantee))
        FROM (SELECT CASE relkind WHEN 'S' THEN 'SEQUENCE ' ELSE 'TABLE ' END || oid::regclass, relowner, relacl, CASE relkind WHEN 'S' THEN '{SELECT,UPDATE}' ELSE '{SELECT,INSERT}' END
              FROM pg_class WHERE relnamespace = 'snowdrift_tables'::regnamespace AND relkind IN ('r', 'S')
              UNION ALL SELECT 'FUNCTION ' || oid::regprocedure, proowner, proacl, '{EXECUTE}' FROM pg_proc
              WHERE pronamespace = 'snowdrift'::regnamespace AND proname IN ('create_generator', 'drop_generator', 'snapshot', 'restore', 'advance', 'reset_clock', 'confirm_node', 'publish_watermarks',
                      'create_seal', 'rotate_seal', 'drop_seal', 'seal_keys')
                  OR oid IN ('@extschema@.snowflake_at(timestamptz)'::regprocedure, '@extschema@.snowflake_at(timestamptz,text)'::regprocedure,
                      '@extschema@.snowflake_seal(bigint,text)'::regprocedure, '@extschema@.snowflake_unseal(uuid,text,boolean)'::regprocedure)) AS o(name, owner, acl, privileges), aclexplode(o.acl) AS a
        WHERE a.grantee <> o.owner AND (a.grantee <> 0 OR a.privilege_type <> 'EXECUTE') AND NOT (a.grantee = '@extowner@'::regrole AND a.privilege_type = ANY (o.privileges::text[])) LOOP
        EXECUTE revocation;
    END LOOP;
END $$;
