-- A stand-in for pg-ulid 0.0.1: the same names, signatures and implicit casts, with functions of Snowdrift's library
CREATE TYPE ulid;
CREATE FUNCTION ulid_in(cstring) RETURNS ulid AS '$libdir/snowdrift', 'snowdrift_ulid_in' LANGUAGE C IMMUTABLE STRICT;
CREATE FUNCTION ulid_out(ulid) RETURNS cstring AS '$libdir/snowdrift', 'snowdrift_ulid_out' LANGUAGE C IMMUTABLE STRICT;
CREATE FUNCTION ulid_recv(internal) RETURNS ulid AS '$libdir/snowdrift', 'snowdrift_ulid_recv' LANGUAGE C IMMUTABLE STRICT;
CREATE FUNCTION ulid_send(ulid) RETURNS bytea AS '$libdir/snowdrift', 'snowdrift_ulid_send' LANGUAGE C IMMUTABLE STRICT;
CREATE TYPE ulid (INPUT = ulid_in, OUTPUT = ulid_out, INTERNALLENGTH = 16, SEND = ulid_send, RECEIVE = ulid_recv);

CREATE FUNCTION ulid_eq(ulid, ulid) RETURNS boolean AS '$libdir/snowdrift', 'snowdrift_ulid_eq' LANGUAGE C IMMUTABLE STRICT;
CREATE FUNCTION ulid_lt(ulid, ulid) RETURNS boolean AS '$libdir/snowdrift', 'snowdrift_ulid_lt' LANGUAGE C IMMUTABLE STRICT;
CREATE FUNCTION ulid_leq(ulid, ulid) RETURNS boolean AS '$libdir/snowdrift', 'snowdrift_ulid_le' LANGUAGE C IMMUTABLE STRICT;
CREATE FUNCTION ulid_gt(ulid, ulid) RETURNS boolean AS '$libdir/snowdrift', 'snowdrift_ulid_gt' LANGUAGE C IMMUTABLE STRICT;
CREATE FUNCTION ulid_geq(ulid, ulid) RETURNS boolean AS '$libdir/snowdrift', 'snowdrift_ulid_ge' LANGUAGE C IMMUTABLE STRICT;
CREATE FUNCTION ulid_cmp(ulid, ulid) RETURNS integer AS '$libdir/snowdrift', 'snowdrift_ulid_cmp' LANGUAGE C IMMUTABLE STRICT;
CREATE OPERATOR = (FUNCTION = ulid_eq, LEFTARG = ulid, RIGHTARG = ulid, COMMUTATOR = =, MERGES);
CREATE OPERATOR < (FUNCTION = ulid_lt, LEFTARG = ulid, RIGHTARG = ulid, COMMUTATOR = >);
CREATE OPERATOR <= (FUNCTION = ulid_leq, LEFTARG = ulid, RIGHTARG = ulid, COMMUTATOR = >=);
CREATE OPERATOR > (FUNCTION = ulid_gt, LEFTARG = ulid, RIGHTARG = ulid, COMMUTATOR = <);
CREATE OPERATOR >= (FUNCTION = ulid_geq, LEFTARG = ulid, RIGHTARG = ulid, COMMUTATOR = <=);
CREATE OPERATOR CLASS btree_ulid_ops DEFAULT FOR TYPE ulid USING btree AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 ulid_cmp(ulid, ulid);

CREATE FUNCTION gen_ulid() RETURNS ulid AS '$libdir/snowdrift', 'snowdrift_gen_ulid' LANGUAGE C VOLATILE STRICT;
CREATE FUNCTION ulid_to_timestamp(ulid) RETURNS timestamp
    AS '$libdir/snowdrift', 'snowdrift_ulid_to_timestamp' LANGUAGE C IMMUTABLE STRICT;
CREATE FUNCTION timestamp_to_ulid(timestamp) RETURNS ulid
    AS '$libdir/snowdrift', 'snowdrift_timestamp_to_ulid' LANGUAGE C IMMUTABLE STRICT;
CREATE CAST (ulid AS text) WITH INOUT AS IMPLICIT;
CREATE CAST (text AS ulid) WITH INOUT AS IMPLICIT;
CREATE CAST (ulid AS timestamp) WITH FUNCTION ulid_to_timestamp(ulid) AS IMPLICIT;
CREATE CAST (timestamp AS ulid) WITH FUNCTION timestamp_to_ulid(timestamp) AS IMPLICIT;
