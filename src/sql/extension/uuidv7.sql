-- UUIDs of version 7, in PostgreSQL's type uuid. Functions that decode return null for other versions.

CREATE FUNCTION @extschema@.uuidv7_timestamp(id uuid) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'snowdrift_uuidv7_timestamp'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.uuidv7_timestamp(uuid)
    IS 'extract timestamp of UUID version 7, with millisecond precision; null for other versions';

CREATE FUNCTION @extschema@.uuidv7_randomness(id uuid) RETURNS bytea
    AS 'MODULE_PATHNAME', 'snowdrift_uuidv7_randomness'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.uuidv7_randomness(uuid)
    IS 'extract randomness of UUID version 7: its 74 random bits, after 6 zero bits; null for other versions';

CREATE FUNCTION @extschema@.uuidv7_diagram(id uuid) RETURNS text
    AS 'MODULE_PATHNAME', 'snowdrift_uuidv7_diagram'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.uuidv7_diagram(uuid)
    IS 'show the bits of UUID version 7, below the names and values of their fields; null for other versions';

CREATE FUNCTION @extschema@.make_uuidv7("timestamp" timestamptz, randomness bytea) RETURNS uuid
    AS 'MODULE_PATHNAME', 'snowdrift_make_uuidv7'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.make_uuidv7(timestamptz, bytea)
    IS 'construct UUID version 7 from a time, truncated to the millisecond, and 10 bytes of randomness, whose first 6 bits are 0';

CREATE FUNCTION @extschema@.uuidv7_boundary("timestamp" timestamptz) RETURNS uuid
    AS 'MODULE_PATHNAME', 'snowdrift_uuidv7_boundary'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.uuidv7_boundary(timestamptz)
    IS 'smallest UUID version 7 at or after a time';

CREATE FUNCTION @extschema@.next_uuidv7() RETURNS uuid
    AS 'MODULE_PATHNAME', 'snowdrift_next_uuidv7'
    LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION @extschema@.next_uuidv7()
    IS 'generate new UUID version 7; UUIDs of a transaction have one time, ascend, and sort before those of transactions whose first call is later';

CREATE FUNCTION @extschema@.uuidv7_watermark() RETURNS uuid
    AS 'MODULE_PATHNAME', 'snowdrift_uuidv7_watermark'
    LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION @extschema@.uuidv7_watermark()
    IS 'watermark: all transactions that have drawn lower UUIDs have ended; id > last AND id < uuidv7_watermark() selects new rows';

CREATE FUNCTION @extschema@.uuidv7_at("timestamp" timestamptz) RETURNS uuid
    AS 'MODULE_PATHNAME', 'snowdrift_uuidv7_at'
    LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION @extschema@.uuidv7_at(timestamptz)
    IS 'generate UUID version 7 from given time and 74 random bits';

-- UUIDs of version 7: comparing with times

CREATE FUNCTION snowdrift.uuidv7_within_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'snowdrift_uuidv7_within_support'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.uuidv7_within_support(internal)
    IS 'planner support for uuidv7_within: estimates, index conditions and partition pruning';

CREATE FUNCTION snowdrift.uuidv7_within_pruned_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'snowdrift_uuidv7_within_pruned_support'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.uuidv7_within_pruned_support(internal)
    IS 'planner support for uuidv7_within_pruned';

CREATE FUNCTION @extschema@.uuidv7_within(id uuid, range tstzrange) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowdrift_uuidv7_within'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE SUPPORT snowdrift.uuidv7_within_support;
COMMENT ON FUNCTION @extschema@.uuidv7_within(uuid, tstzrange)
    IS 'true if UUID is of version 7 and its time is within a given range; can use indexes on the ID';

CREATE FUNCTION snowdrift.uuidv7_within_pruned(id uuid, range tstzrange) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowdrift_uuidv7_within_pruned'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE SUPPORT snowdrift.uuidv7_within_pruned_support;
COMMENT ON FUNCTION snowdrift.uuidv7_within_pruned(uuid, tstzrange)
    IS 'form of uuidv7_within in plans with added conditions that prune partitions';

CREATE FUNCTION snowdrift.first_uuidv7_within(range tstzrange) RETURNS uuid
    AS 'MODULE_PATHNAME', 'snowdrift_first_uuidv7_within'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.first_uuidv7_within(tstzrange)
    IS 'smallest UUID version 7 whose time is within a given range; the largest of all if there is none';

CREATE FUNCTION snowdrift.last_uuidv7_within(range tstzrange) RETURNS uuid
    AS 'MODULE_PATHNAME', 'snowdrift_last_uuidv7_within'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.last_uuidv7_within(tstzrange)
    IS 'largest UUID version 7 whose time is within a given range; the smallest of all if there is none';
