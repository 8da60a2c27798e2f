-- TypeIDs

CREATE FUNCTION @extschema@.typeid_to_text(prefix text, id uuid) RETURNS text
    AS 'MODULE_PATHNAME', 'snowdrift_typeid_to_text'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.typeid_to_text(text, uuid)
    IS 'convert UUID to TypeID: prefix, underscore and 26 characters of base32';

CREATE FUNCTION @extschema@.typeid_prefix(id text) RETURNS text
    AS 'MODULE_PATHNAME', 'snowdrift_typeid_prefix'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.typeid_prefix(text) IS 'extract prefix of TypeID';

CREATE FUNCTION @extschema@.typeid_to_uuid(id text) RETURNS uuid
    AS 'MODULE_PATHNAME', 'snowdrift_typeid_to_uuid'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.typeid_to_uuid(text) IS 'extract UUID of TypeID';
