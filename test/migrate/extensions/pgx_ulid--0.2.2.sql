-- A stand-in for pgx_ulid 0.2.2: the same names, signatures and implicit casts, with functions of Snowdrift's
-- library. The original stores its values as a varlena.
CREATE TYPE ulid;
CREATE FUNCTION ulid_in(cstring) RETURNS ulid AS '$libdir/snowdrift', 'snowdrift_ulid_in' LANGUAGE C IMMUTABLE STRICT;
CREATE FUNCTION ulid_out(ulid) RETURNS cstring AS '$libdir/snowdrift', 'snowdrift_ulid_out' LANGUAGE C IMMUTABLE STRICT;
CREATE TYPE ulid (INPUT = ulid_in, OUTPUT = ulid_out, INTERNALLENGTH = 16, ALIGNMENT = char);

CREATE FUNCTION ulid_eq(ulid, ulid) RETURNS boolean AS '$libdir/snowdrift', 'snowdrift_ulid_eq' LANGUAGE C IMMUTABLE STRICT;
CREATE FUNCTION ulid_lt(ulid, ulid) RETURNS boolean AS '$libdir/snowdrift', 'snowdrift_ulid_lt' LANGUAGE C IMMUTABLE STRICT;
CREATE FUNCTION ulid_le(ulid, ulid) RETURNS boolean AS '$libdir/snowdrift', 'snowdrift_ulid_le' LANGUAGE C IMMUTABLE STRICT;
CREATE FUNCTION ulid_gt(ulid, ulid) RETURNS boolean AS '$libdir/snowdrift', 'snowdrift_ulid_gt' LANGUAGE C IMMUTABLE STRICT;
CREATE FUNCTION ulid_ge(ulid, ulid) RETURNS boolean AS '$libdir/snowdrift', 'snowdrift_ulid_ge' LANGUAGE C IMMUTABLE STRICT;
CREATE FUNCTION ulid_cmp(ulid, ulid) RETURNS integer AS '$libdir/snowdrift', 'snowdrift_ulid_cmp' LANGUAGE C IMMUTABLE STRICT;
CREATE OPERATOR = (FUNCTION = ulid_eq, LEFTARG = ulid, RIGHTARG = ulid, COMMUTATOR = =, MERGES);
CREATE OPERATOR < (FUNCTION = ulid_lt, LEFTARG = ulid, RIGHTARG = ulid, COMMUTATOR = >);
CREATE OPERATOR <= (FUNCTION = ulid_le, LEFTARG = ulid, RIGHTARG = ulid, COMMUTATOR = >=);
CREATE OPERATOR > (FUNCTION = ulid_gt, LEFTARG = ulid, RIGHTARG = ulid, COMMUTATOR = <);
CREATE OPERATOR >= (FUNCTION = ulid_ge, LEFTARG = ulid, RIGHTARG = ulid, COMMUTATOR = <=);
CREATE OPERATOR CLASS ulid_btree_ops DEFAULT FOR TYPE ulid USING btree AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 ulid_cmp(ulid, ulid);

CREATE FUNCTION gen_ulid() RETURNS ulid AS '$libdir/snowdrift', 'snowdrift_gen_ulid' LANGUAGE C VOLATILE STRICT;
CREATE FUNCTION gen_monotonic_ulid() RETURNS ulid AS '$libdir/snowdrift', 'snowdrift_gen_ulid' LANGUAGE C VOLATILE STRICT;

CREATE FUNCTION ulid_to_bytea(ulid) RETURNS bytea AS '$libdir/snowdrift', 'snowdrift_ulid_send' LANGUAGE C IMMUTABLE STRICT;
CREATE FUNCTION bytes_to_ulid(bytea) RETURNS ulid AS '$libdir/snowdrift', 'snowdrift_bytea_to_ulid' LANGUAGE C IMMUTABLE STRICT;
CREATE FUNCTION ulid_to_uuid(ulid) RETURNS uuid IMMUTABLE STRICT RETURN encode(@extschema@.ulid_to_bytea($1), 'hex')::uuid;
CREATE FUNCTION ulid_from_uuid(uuid) RETURNS ulid IMMUTABLE STRICT RETURN @extschema@.bytes_to_ulid(uuid_send($1));
CREATE FUNCTION ulid_to_timestamp(ulid) RETURNS timestamp
    AS '$libdir/snowdrift', 'snowdrift_ulid_to_timestamp' LANGUAGE C IMMUTABLE STRICT;
CREATE FUNCTION timestamp_to_ulid(timestamp) RETURNS ulid
    AS '$libdir/snowdrift', 'snowdrift_timestamp_to_ulid' LANGUAGE C IMMUTABLE STRICT;
CREATE FUNCTION ulid_to_timestamptz(ulid) RETURNS timestamptz
    AS '$libdir/snowdrift', 'snowdrift_ulid_timestamp' LANGUAGE C IMMUTABLE STRICT;
CREATE FUNCTION timestamptz_to_ulid(timestamptz) RETURNS ulid
    AS '$libdir/snowdrift', 'snowdrift_ulid_boundary' LANGUAGE C IMMUTABLE STRICT;
CREATE CAST (uuid AS ulid) WITH FUNCTION ulid_from_uuid(uuid) AS IMPLICIT;
CREATE CAST (ulid AS uuid) WITH FUNCTION ulid_to_uuid(ulid) AS IMPLICIT;
CREATE CAST (ulid AS bytea) WITH FUNCTION ulid_to_bytea(ulid) AS IMPLICIT;
CREATE CAST (ulid AS timestamp) WITH FUNCTION ulid_to_timestamp(ulid) AS IMPLICIT;
CREATE CAST (timestamp AS ulid) WITH FUNCTION timestamp_to_ulid(timestamp) AS IMPLICIT;
CREATE CAST (ulid AS timestamptz) WITH FUNCTION ulid_to_timestamptz(ulid) AS IMPLICIT;
CREATE CAST (timestamptz AS ulid) WITH FUNCTION timestamptz_to_ulid(timestamptz) AS IMPLICIT;
