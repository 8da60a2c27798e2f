-- Encoders and decoders for pg_partman

CREATE FUNCTION snowdrift.ulid_time_encoder("timestamp" timestamptz) RETURNS uuid
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN @extschema@.ulid_boundary("timestamp")::uuid;
COMMENT ON FUNCTION snowdrift.ulid_time_encoder(timestamptz)
    IS 'smallest ULID at or after a time, as uuid; pg_partman''s p_time_encoder for uuid columns that hold ULIDs';

CREATE FUNCTION snowdrift.ulid_time_decoder(id text) RETURNS timestamptz
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN @extschema@.ulid_timestamp(CASE WHEN length(id) = 26 THEN id::@extschema@.ulid ELSE id::uuid::@extschema@.ulid END);
COMMENT ON FUNCTION snowdrift.ulid_time_decoder(text)
    IS 'time of ULID from the text of ULID or uuid; pg_partman''s p_time_decoder for uuid and text columns that hold ULIDs';

CREATE FUNCTION snowdrift.sno_time_encoder("timestamp" timestamptz) RETURNS uuid
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN @extschema@.sno_boundary("timestamp")::uuid;
COMMENT ON FUNCTION snowdrift.sno_time_encoder(timestamptz)
    IS 'smallest sno at or after a time, as uuid; pg_partman''s p_time_encoder for uuid columns of sno IDs';

CREATE FUNCTION snowdrift.sno_time_decoder(id text) RETURNS timestamptz
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN @extschema@.sno_timestamp(CASE WHEN length(id) = 16 THEN id::@extschema@.sno ELSE id::uuid::@extschema@.sno END);
COMMENT ON FUNCTION snowdrift.sno_time_decoder(text)
    IS 'time of sno from text form of sno or uuid; pg_partman''s p_time_decoder for uuid and text columns of sno IDs';

CREATE FUNCTION snowdrift.uuidv7_time_encoder("timestamp" timestamptz) RETURNS uuid
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN @extschema@.uuidv7_boundary("timestamp");
COMMENT ON FUNCTION snowdrift.uuidv7_time_encoder(timestamptz)
    IS 'smallest UUID version 7 at or after a time; pg_partman''s p_time_encoder for uuid and text columns that hold UUIDs of version 7';

CREATE FUNCTION snowdrift.uuidv7_time_decoder(id text) RETURNS timestamptz
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN @extschema@.uuidv7_timestamp(id::uuid);
COMMENT ON FUNCTION snowdrift.uuidv7_time_decoder(text)
    IS 'time of UUID version 7 from its text; null for other versions; pg_partman''s p_time_decoder for uuid and text columns that hold UUIDs of version 7';
