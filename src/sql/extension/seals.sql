-- Sealed IDs. The library reads the keys.

CREATE FUNCTION @extschema@.snowflake_seal(id bigint, name text) RETURNS uuid
    AS 'MODULE_PATHNAME', 'snowdrift_snowflake_seal'
    LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.snowflake_seal(bigint, text) IS 'seal ID: return UUID of version 8 that can be read only with the key';

CREATE FUNCTION @extschema@.snowflake_unseal(sealed uuid, name text, invalid_ok boolean DEFAULT false) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowdrift_snowflake_unseal'
    LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.snowflake_unseal(uuid, text, boolean)
    IS 'unseal ID; if it was not made with a key of the seal, raise an error, or return null if invalid_ok';

CREATE FUNCTION snowdrift_tables.seal_keys_changed() RETURNS trigger
    AS 'MODULE_PATHNAME', 'snowdrift_seal_keys_changed'
    LANGUAGE C;
REVOKE ALL ON FUNCTION snowdrift_tables.seal_keys_changed() FROM PUBLIC;
COMMENT ON FUNCTION snowdrift_tables.seal_keys_changed() IS 'make all sessions read the keys of seals again';
CREATE TRIGGER seal_keys_changed
    AFTER INSERT OR UPDATE OR DELETE ON snowdrift_tables.seal_key
    FOR EACH ROW EXECUTE FUNCTION snowdrift_tables.seal_keys_changed();
ALTER TABLE snowdrift_tables.seal_key ENABLE ALWAYS TRIGGER seal_keys_changed;
COMMENT ON TRIGGER seal_keys_changed ON snowdrift_tables.seal_key IS 'make all sessions read the keys of seals again';

REVOKE ALL ON FUNCTION @extschema@.snowflake_seal(bigint, text), @extschema@.snowflake_unseal(uuid, text, boolean), snowdrift.create_seal(text, bytea),
    snowdrift.rotate_seal(text, bytea), snowdrift.drop_seal(text), snowdrift.drop_seal(text, integer), snowdrift.seal_keys(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION @extschema@.snowflake_seal(bigint, text), @extschema@.snowflake_unseal(uuid, text, boolean), snowdrift.create_seal(text, bytea),
    snowdrift.rotate_seal(text, bytea), snowdrift.drop_seal(text), snowdrift.drop_seal(text, integer), snowdrift.seal_keys(text) TO @extowner@ WITH GRANT OPTION;

COMMENT ON COLUMN snowdrift_tables.seal_key.name IS 'name of the seal';
COMMENT ON COLUMN snowdrift_tables.seal_key.version IS 'version of the key; the greatest one of a name seals';
COMMENT ON COLUMN snowdrift_tables.seal_key.id IS 'distinguishes keys of the same version, of which one was replicated';
COMMENT ON COLUMN snowdrift_tables.seal_key.key IS 'key: 32 bytes';
COMMENT ON COLUMN snowdrift_tables.seal_key.created_at IS 'time at which the key was created';
GRANT SELECT, INSERT ON TABLE snowdrift_tables.seal_key TO @extowner@;
SELECT pg_catalog.pg_extension_config_dump('snowdrift_tables.seal_key'::pg_catalog.regclass, '');
