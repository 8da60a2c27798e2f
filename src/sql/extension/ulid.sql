-- ulid and sno: estimates

CREATE FUNCTION snowdrift.id_inequality_sel(internal, oid, internal, integer)
        RETURNS double precision
    AS 'MODULE_PATHNAME', 'snowdrift_id_inequality_sel'
    LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.id_inequality_sel(internal, oid, internal, integer)
    IS 'restriction selectivity of <, <=, > and >= on ulid and sno';

-- ulid: the type

CREATE TYPE @extschema@.ulid;

CREATE FUNCTION snowdrift.ulid_in(cstring) RETURNS @extschema@.ulid
    AS 'MODULE_PATHNAME', 'snowdrift_ulid_in'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.ulid_in(cstring) IS 'I/O';

CREATE FUNCTION snowdrift.ulid_out(@extschema@.ulid) RETURNS cstring
    AS 'MODULE_PATHNAME', 'snowdrift_ulid_out'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.ulid_out(@extschema@.ulid) IS 'I/O';

CREATE FUNCTION snowdrift.ulid_recv(internal) RETURNS @extschema@.ulid
    AS 'MODULE_PATHNAME', 'snowdrift_ulid_recv'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.ulid_recv(internal) IS 'I/O';

CREATE FUNCTION snowdrift.ulid_send(@extschema@.ulid) RETURNS bytea
    AS 'MODULE_PATHNAME', 'snowdrift_ulid_send'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.ulid_send(@extschema@.ulid) IS 'I/O';

CREATE TYPE @extschema@.ulid (
    INPUT = snowdrift.ulid_in, OUTPUT = snowdrift.ulid_out, RECEIVE = snowdrift.ulid_recv, SEND = snowdrift.ulid_send,
    INTERNALLENGTH = 16, ALIGNMENT = char, STORAGE = plain
);
COMMENT ON TYPE @extschema@.ulid
    IS 'ULID: timestamp of 48 bits in milliseconds since 1970, and 80 random bits';

-- ulid: comparison

CREATE FUNCTION snowdrift.ulid_eq(@extschema@.ulid, @extschema@.ulid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowdrift_ulid_eq'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.ulid_eq(@extschema@.ulid, @extschema@.ulid)
    IS 'implementation of = operator';

CREATE FUNCTION snowdrift.ulid_ne(@extschema@.ulid, @extschema@.ulid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowdrift_ulid_ne'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.ulid_ne(@extschema@.ulid, @extschema@.ulid)
    IS 'implementation of <> operator';

CREATE FUNCTION snowdrift.ulid_lt(@extschema@.ulid, @extschema@.ulid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowdrift_ulid_lt'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.ulid_lt(@extschema@.ulid, @extschema@.ulid)
    IS 'implementation of < operator';

CREATE FUNCTION snowdrift.ulid_le(@extschema@.ulid, @extschema@.ulid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowdrift_ulid_le'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.ulid_le(@extschema@.ulid, @extschema@.ulid)
    IS 'implementation of <= operator';

CREATE FUNCTION snowdrift.ulid_gt(@extschema@.ulid, @extschema@.ulid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowdrift_ulid_gt'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.ulid_gt(@extschema@.ulid, @extschema@.ulid)
    IS 'implementation of > operator';

CREATE FUNCTION snowdrift.ulid_ge(@extschema@.ulid, @extschema@.ulid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowdrift_ulid_ge'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.ulid_ge(@extschema@.ulid, @extschema@.ulid)
    IS 'implementation of >= operator';

CREATE OPERATOR @extschema@.= (
    LEFTARG = @extschema@.ulid, RIGHTARG = @extschema@.ulid, FUNCTION = snowdrift.ulid_eq,
    COMMUTATOR = OPERATOR(@extschema@.=), NEGATOR = OPERATOR(@extschema@.<>),
    RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES
);
COMMENT ON OPERATOR @extschema@.= (@extschema@.ulid, @extschema@.ulid) IS 'equal';

CREATE OPERATOR @extschema@.<> (
    LEFTARG = @extschema@.ulid, RIGHTARG = @extschema@.ulid, FUNCTION = snowdrift.ulid_ne,
    COMMUTATOR = OPERATOR(@extschema@.<>), NEGATOR = OPERATOR(@extschema@.=),
    RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR @extschema@.<> (@extschema@.ulid, @extschema@.ulid) IS 'not equal';

CREATE OPERATOR @extschema@.< (
    LEFTARG = @extschema@.ulid, RIGHTARG = @extschema@.ulid, FUNCTION = snowdrift.ulid_lt,
    COMMUTATOR = OPERATOR(@extschema@.>), NEGATOR = OPERATOR(@extschema@.>=),
    RESTRICT = snowdrift.id_inequality_sel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR @extschema@.< (@extschema@.ulid, @extschema@.ulid) IS 'less than';

CREATE OPERATOR @extschema@.<= (
    LEFTARG = @extschema@.ulid, RIGHTARG = @extschema@.ulid, FUNCTION = snowdrift.ulid_le,
    COMMUTATOR = OPERATOR(@extschema@.>=), NEGATOR = OPERATOR(@extschema@.>),
    RESTRICT = snowdrift.id_inequality_sel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR @extschema@.<= (@extschema@.ulid, @extschema@.ulid) IS 'less than or equal';

CREATE OPERATOR @extschema@.> (
    LEFTARG = @extschema@.ulid, RIGHTARG = @extschema@.ulid, FUNCTION = snowdrift.ulid_gt,
    COMMUTATOR = OPERATOR(@extschema@.<), NEGATOR = OPERATOR(@extschema@.<=),
    RESTRICT = snowdrift.id_inequality_sel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR @extschema@.> (@extschema@.ulid, @extschema@.ulid) IS 'greater than';

CREATE OPERATOR @extschema@.>= (
    LEFTARG = @extschema@.ulid, RIGHTARG = @extschema@.ulid, FUNCTION = snowdrift.ulid_ge,
    COMMUTATOR = OPERATOR(@extschema@.<=), NEGATOR = OPERATOR(@extschema@.<),
    RESTRICT = snowdrift.id_inequality_sel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR @extschema@.>= (@extschema@.ulid, @extschema@.ulid) IS 'greater than or equal';

-- ulid: indexes

CREATE FUNCTION snowdrift.ulid_cmp(@extschema@.ulid, @extschema@.ulid) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowdrift_ulid_cmp'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.ulid_cmp(@extschema@.ulid, @extschema@.ulid)
    IS 'less-equal-greater';

CREATE FUNCTION snowdrift.ulid_sortsupport(internal) RETURNS void
    AS 'MODULE_PATHNAME', 'snowdrift_ulid_sortsupport'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.ulid_sortsupport(internal) IS 'sort support';

CREATE OPERATOR CLASS @extschema@.ulid_ops DEFAULT FOR TYPE @extschema@.ulid USING btree AS
    OPERATOR 1 @extschema@.<, OPERATOR 2 @extschema@.<=, OPERATOR 3 @extschema@.=,
    OPERATOR 4 @extschema@.>=, OPERATOR 5 @extschema@.>,
    FUNCTION 1 snowdrift.ulid_cmp(@extschema@.ulid, @extschema@.ulid),
    FUNCTION 2 snowdrift.ulid_sortsupport(internal),
    FUNCTION 4 btequalimage(oid);
COMMENT ON OPERATOR CLASS @extschema@.ulid_ops USING btree
    IS 'order by time, then by the remaining bytes';

CREATE FUNCTION snowdrift.ulid_hash(@extschema@.ulid) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowdrift_ulid_hash'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.ulid_hash(@extschema@.ulid) IS 'hash';

CREATE FUNCTION snowdrift.ulid_hash_extended(@extschema@.ulid, bigint) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowdrift_ulid_hash_extended'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.ulid_hash_extended(@extschema@.ulid, bigint) IS 'hash';

CREATE OPERATOR CLASS @extschema@.ulid_ops DEFAULT FOR TYPE @extschema@.ulid USING hash AS
    OPERATOR 1 @extschema@.=,
    FUNCTION 1 snowdrift.ulid_hash(@extschema@.ulid),
    FUNCTION 2 snowdrift.ulid_hash_extended(@extschema@.ulid, bigint);
COMMENT ON OPERATOR CLASS @extschema@.ulid_ops USING hash IS 'equality';

CREATE OPERATOR CLASS @extschema@.ulid_minmax_ops DEFAULT FOR TYPE @extschema@.ulid USING brin AS
    OPERATOR 1 @extschema@.<, OPERATOR 2 @extschema@.<=, OPERATOR 3 @extschema@.=,
    OPERATOR 4 @extschema@.>=, OPERATOR 5 @extschema@.>,
    FUNCTION 1 brin_minmax_opcinfo(internal),
    FUNCTION 2 brin_minmax_add_value(internal, internal, internal, internal),
    FUNCTION 3 brin_minmax_consistent(internal, internal, internal),
    FUNCTION 4 brin_minmax_union(internal, internal, internal);
COMMENT ON OPERATOR CLASS @extschema@.ulid_minmax_ops USING brin
    IS 'one range of values per block range';

CREATE FUNCTION snowdrift.ulid_distance(@extschema@.ulid, @extschema@.ulid)
        RETURNS double precision
    AS 'MODULE_PATHNAME', 'snowdrift_ulid_distance'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.ulid_distance(@extschema@.ulid, @extschema@.ulid)
    IS 'BRIN minmax-multi support';

CREATE OPERATOR CLASS @extschema@.ulid_minmax_multi_ops FOR TYPE @extschema@.ulid USING brin AS
    OPERATOR 1 @extschema@.<, OPERATOR 2 @extschema@.<=, OPERATOR 3 @extschema@.=,
    OPERATOR 4 @extschema@.>=, OPERATOR 5 @extschema@.>,
    FUNCTION 1 brin_minmax_multi_opcinfo(internal),
    FUNCTION 2 brin_minmax_multi_add_value(internal, internal, internal, internal),
    FUNCTION 3 brin_minmax_multi_consistent(internal, internal, internal, integer),
    FUNCTION 4 brin_minmax_multi_union(internal, internal, internal),
    FUNCTION 5 brin_minmax_multi_options(internal),
    FUNCTION 11 snowdrift.ulid_distance(@extschema@.ulid, @extschema@.ulid);
COMMENT ON OPERATOR CLASS @extschema@.ulid_minmax_multi_ops USING brin
    IS 'several ranges of values per block range';

CREATE OPERATOR CLASS @extschema@.ulid_bloom_ops FOR TYPE @extschema@.ulid USING brin AS
    OPERATOR 1 @extschema@.=,
    FUNCTION 1 brin_bloom_opcinfo(internal),
    FUNCTION 2 brin_bloom_add_value(internal, internal, internal, internal),
    FUNCTION 3 brin_bloom_consistent(internal, internal, internal, integer),
    FUNCTION 4 brin_bloom_union(internal, internal, internal),
    FUNCTION 5 brin_bloom_options(internal),
    FUNCTION 11 snowdrift.ulid_hash(@extschema@.ulid);
COMMENT ON OPERATOR CLASS @extschema@.ulid_bloom_ops USING brin
    IS 'one Bloom filter per block range';

-- ulid: aggregates

CREATE FUNCTION snowdrift.ulid_smaller(@extschema@.ulid, @extschema@.ulid)
        RETURNS @extschema@.ulid
    AS 'MODULE_PATHNAME', 'snowdrift_ulid_smaller'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.ulid_smaller(@extschema@.ulid, @extschema@.ulid)
    IS 'smaller of two';

CREATE AGGREGATE @extschema@.min(@extschema@.ulid) (
    SFUNC = snowdrift.ulid_smaller, STYPE = @extschema@.ulid,
    COMBINEFUNC = snowdrift.ulid_smaller, SORTOP = OPERATOR(@extschema@.<), PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.min(@extschema@.ulid) IS 'minimum value of all ulid input values';

CREATE FUNCTION snowdrift.ulid_larger(@extschema@.ulid, @extschema@.ulid) RETURNS @extschema@.ulid
    AS 'MODULE_PATHNAME', 'snowdrift_ulid_larger'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.ulid_larger(@extschema@.ulid, @extschema@.ulid) IS 'larger of two';

CREATE AGGREGATE @extschema@.max(@extschema@.ulid) (
    SFUNC = snowdrift.ulid_larger, STYPE = @extschema@.ulid,
    COMBINEFUNC = snowdrift.ulid_larger, SORTOP = OPERATOR(@extschema@.>), PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.max(@extschema@.ulid) IS 'maximum value of all ulid input values';

-- ulid: decoding

CREATE FUNCTION @extschema@.ulid_timestamp(id @extschema@.ulid) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'snowdrift_ulid_timestamp'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.ulid_timestamp(@extschema@.ulid)
    IS 'extract timestamp of ULID, with millisecond precision';

CREATE FUNCTION @extschema@.ulid_randomness(id @extschema@.ulid) RETURNS bytea
    AS 'MODULE_PATHNAME', 'snowdrift_ulid_randomness'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.ulid_randomness(@extschema@.ulid)
    IS 'extract randomness of ULID: the 10 bytes after its timestamp';

CREATE FUNCTION @extschema@.ulid_diagram(id @extschema@.ulid) RETURNS text
    AS 'MODULE_PATHNAME', 'snowdrift_ulid_diagram'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.ulid_diagram(@extschema@.ulid)
    IS 'show the bits of ULID, below the names and values of their fields';

-- ulid: composing

CREATE FUNCTION @extschema@.make_ulid("timestamp" timestamptz, randomness bytea)
        RETURNS @extschema@.ulid
    AS 'MODULE_PATHNAME', 'snowdrift_make_ulid'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.make_ulid(timestamptz, bytea)
    IS 'construct ULID from a time, truncated to the millisecond, and 10 bytes of randomness';

CREATE FUNCTION @extschema@.ulid_boundary("timestamp" timestamptz) RETURNS @extschema@.ulid
    AS 'MODULE_PATHNAME', 'snowdrift_ulid_boundary'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.ulid_boundary(timestamptz)
    IS 'smallest ULID at or after a time; id >= boundary(a) AND id < boundary(b) selects the times >= a and < b';

CREATE FUNCTION @extschema@.ulid_nil() RETURNS @extschema@.ulid
    AS 'MODULE_PATHNAME', 'snowdrift_ulid_nil'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.ulid_nil() IS 'smallest ULID: all bits zero';

CREATE FUNCTION @extschema@.ulid_max() RETURNS @extschema@.ulid
    AS 'MODULE_PATHNAME', 'snowdrift_ulid_max'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.ulid_max() IS 'largest ULID: all bits one';

-- ulid: comparing with times. Predicates with the time on the left only implement operators.

CREATE FUNCTION @extschema@.ulid_before(id @extschema@.ulid, "timestamp" timestamptz)
        RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowdrift_ulid_before'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE SUPPORT snowdrift.time_predicate_support;
COMMENT ON FUNCTION @extschema@.ulid_before(@extschema@.ulid, timestamptz)
    IS 'true if the time of ULID is before a given time; can use indexes on the ID';

CREATE FUNCTION snowdrift.ulid_before(timestamptz, @extschema@.ulid)
        RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowdrift_before_of_ulid'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE SUPPORT snowdrift.time_predicate_support;
COMMENT ON FUNCTION snowdrift.ulid_before(timestamptz, @extschema@.ulid)
    IS 'implementation of > operator';

CREATE FUNCTION snowdrift.first_ulid_before("timestamp" timestamptz) RETURNS @extschema@.ulid
    AS 'MODULE_PATHNAME', 'snowdrift_first_ulid_before'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.first_ulid_before(timestamptz)
    IS 'smallest ULID whose time is before a given time; the largest of all if there is none';

CREATE FUNCTION snowdrift.last_ulid_before("timestamp" timestamptz) RETURNS @extschema@.ulid
    AS 'MODULE_PATHNAME', 'snowdrift_last_ulid_before'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.last_ulid_before(timestamptz)
    IS 'largest ULID whose time is before a given time; the smallest of all if there is none';

CREATE FUNCTION @extschema@.ulid_until(id @extschema@.ulid, "timestamp" timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowdrift_ulid_until'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE SUPPORT snowdrift.time_predicate_support;
COMMENT ON FUNCTION @extschema@.ulid_until(@extschema@.ulid, timestamptz)
    IS 'true if the time of ULID is at or before a given time; can use indexes on the ID';

CREATE FUNCTION snowdrift.ulid_until(timestamptz, @extschema@.ulid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowdrift_until_of_ulid'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE SUPPORT snowdrift.time_predicate_support;
COMMENT ON FUNCTION snowdrift.ulid_until(timestamptz, @extschema@.ulid)
    IS 'implementation of >= operator';

CREATE FUNCTION snowdrift.first_ulid_until("timestamp" timestamptz) RETURNS @extschema@.ulid
    AS 'MODULE_PATHNAME', 'snowdrift_first_ulid_until'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.first_ulid_until(timestamptz)
    IS 'smallest ULID whose time is at or before a given time; the largest of all if there is none';

CREATE FUNCTION snowdrift.last_ulid_until("timestamp" timestamptz) RETURNS @extschema@.ulid
    AS 'MODULE_PATHNAME', 'snowdrift_last_ulid_until'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.last_ulid_until(timestamptz)
    IS 'largest ULID whose time is at or before a given time; the smallest of all if there is none';

CREATE FUNCTION @extschema@.ulid_after(id @extschema@.ulid, "timestamp" timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowdrift_ulid_after'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE SUPPORT snowdrift.time_predicate_support;
COMMENT ON FUNCTION @extschema@.ulid_after(@extschema@.ulid, timestamptz)
    IS 'true if the time of ULID is after a given time; can use indexes on the ID';

CREATE FUNCTION snowdrift.ulid_after(timestamptz, @extschema@.ulid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowdrift_after_of_ulid'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE SUPPORT snowdrift.time_predicate_support;
COMMENT ON FUNCTION snowdrift.ulid_after(timestamptz, @extschema@.ulid)
    IS 'implementation of < operator';

CREATE FUNCTION snowdrift.first_ulid_after("timestamp" timestamptz) RETURNS @extschema@.ulid
    AS 'MODULE_PATHNAME', 'snowdrift_first_ulid_after'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.first_ulid_after(timestamptz)
    IS 'smallest ULID whose time is after a given time; the largest of all if there is none';

CREATE FUNCTION snowdrift.last_ulid_after("timestamp" timestamptz) RETURNS @extschema@.ulid
    AS 'MODULE_PATHNAME', 'snowdrift_last_ulid_after'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.last_ulid_after(timestamptz)
    IS 'largest ULID whose time is after a given time; the smallest of all if there is none';

CREATE FUNCTION @extschema@.ulid_since(id @extschema@.ulid, "timestamp" timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowdrift_ulid_since'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE SUPPORT snowdrift.time_predicate_support;
COMMENT ON FUNCTION @extschema@.ulid_since(@extschema@.ulid, timestamptz)
    IS 'true if the time of ULID is at or after a given time; can use indexes on the ID';

CREATE FUNCTION snowdrift.ulid_since(timestamptz, @extschema@.ulid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowdrift_since_of_ulid'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE SUPPORT snowdrift.time_predicate_support;
COMMENT ON FUNCTION snowdrift.ulid_since(timestamptz, @extschema@.ulid)
    IS 'implementation of <= operator';

CREATE FUNCTION snowdrift.first_ulid_since("timestamp" timestamptz) RETURNS @extschema@.ulid
    AS 'MODULE_PATHNAME', 'snowdrift_first_ulid_since'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.first_ulid_since(timestamptz)
    IS 'smallest ULID whose time is at or after a given time; the largest of all if there is none';

CREATE FUNCTION snowdrift.last_ulid_since("timestamp" timestamptz) RETURNS @extschema@.ulid
    AS 'MODULE_PATHNAME', 'snowdrift_last_ulid_since'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.last_ulid_since(timestamptz)
    IS 'largest ULID whose time is at or after a given time; the smallest of all if there is none';

CREATE FUNCTION @extschema@.ulid_within(id @extschema@.ulid, range tstzrange) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowdrift_ulid_within'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT snowdrift.time_predicate_support;
COMMENT ON FUNCTION @extschema@.ulid_within(@extschema@.ulid, tstzrange)
    IS 'true if the time of ULID is within a given range; can use indexes on the ID';

CREATE FUNCTION snowdrift.first_ulid_within(range tstzrange) RETURNS @extschema@.ulid
    AS 'MODULE_PATHNAME', 'snowdrift_first_ulid_within'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.first_ulid_within(tstzrange)
    IS 'smallest ULID whose time is within a given range; the largest of all if there is none';

CREATE FUNCTION snowdrift.last_ulid_within(range tstzrange) RETURNS @extschema@.ulid
    AS 'MODULE_PATHNAME', 'snowdrift_last_ulid_within'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.last_ulid_within(tstzrange)
    IS 'largest ULID whose time is within a given range; the smallest of all if there is none';

CREATE OPERATOR @extschema@.< (
    LEFTARG = @extschema@.ulid, RIGHTARG = timestamptz, FUNCTION = @extschema@.ulid_before,
    COMMUTATOR = OPERATOR(@extschema@.>), NEGATOR = OPERATOR(@extschema@.>=),
    RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR @extschema@.< (@extschema@.ulid, timestamptz)
    IS 'time of ULID is before timestamp';

CREATE OPERATOR @extschema@.> (
    LEFTARG = timestamptz, RIGHTARG = @extschema@.ulid, FUNCTION = snowdrift.ulid_before,
    COMMUTATOR = OPERATOR(@extschema@.<), NEGATOR = OPERATOR(@extschema@.<=),
    RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR @extschema@.> (timestamptz, @extschema@.ulid)
    IS 'timestamp is after time of ULID';

CREATE OPERATOR @extschema@.<= (
    LEFTARG = @extschema@.ulid, RIGHTARG = timestamptz, FUNCTION = @extschema@.ulid_until,
    COMMUTATOR = OPERATOR(@extschema@.>=), NEGATOR = OPERATOR(@extschema@.>),
    RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR @extschema@.<= (@extschema@.ulid, timestamptz)
    IS 'time of ULID is at or before timestamp';

CREATE OPERATOR @extschema@.>= (
    LEFTARG = timestamptz, RIGHTARG = @extschema@.ulid, FUNCTION = snowdrift.ulid_until,
    COMMUTATOR = OPERATOR(@extschema@.<=), NEGATOR = OPERATOR(@extschema@.<),
    RESTRICT = scalargesel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR @extschema@.>= (timestamptz, @extschema@.ulid)
    IS 'timestamp is at or after time of ULID';

CREATE OPERATOR @extschema@.> (
    LEFTARG = @extschema@.ulid, RIGHTARG = timestamptz, FUNCTION = @extschema@.ulid_after,
    COMMUTATOR = OPERATOR(@extschema@.<), NEGATOR = OPERATOR(@extschema@.<=),
    RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR @extschema@.> (@extschema@.ulid, timestamptz)
    IS 'time of ULID is after timestamp';

CREATE OPERATOR @extschema@.< (
    LEFTARG = timestamptz, RIGHTARG = @extschema@.ulid, FUNCTION = snowdrift.ulid_after,
    COMMUTATOR = OPERATOR(@extschema@.>), NEGATOR = OPERATOR(@extschema@.>=),
    RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR @extschema@.< (timestamptz, @extschema@.ulid)
    IS 'timestamp is before time of ULID';

CREATE OPERATOR @extschema@.>= (
    LEFTARG = @extschema@.ulid, RIGHTARG = timestamptz, FUNCTION = @extschema@.ulid_since,
    COMMUTATOR = OPERATOR(@extschema@.<=), NEGATOR = OPERATOR(@extschema@.<),
    RESTRICT = scalargesel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR @extschema@.>= (@extschema@.ulid, timestamptz)
    IS 'time of ULID is at or after timestamp';

CREATE OPERATOR @extschema@.<= (
    LEFTARG = timestamptz, RIGHTARG = @extschema@.ulid, FUNCTION = snowdrift.ulid_since,
    COMMUTATOR = OPERATOR(@extschema@.>=), NEGATOR = OPERATOR(@extschema@.>),
    RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR @extschema@.<= (timestamptz, @extschema@.ulid)
    IS 'timestamp is at or before time of ULID';

-- ulid: generating

CREATE FUNCTION @extschema@.next_ulid() RETURNS @extschema@.ulid
    AS 'MODULE_PATHNAME', 'snowdrift_next_ulid'
    LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION @extschema@.next_ulid()
    IS 'generate new ULID; ULIDs of a transaction have one time, ascend, and sort before those of transactions whose first call is later';

CREATE FUNCTION @extschema@.ulid_watermark() RETURNS @extschema@.ulid
    AS 'MODULE_PATHNAME', 'snowdrift_ulid_watermark'
    LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION @extschema@.ulid_watermark()
    IS 'watermark: all transactions that have drawn lower ULIDs have ended; id > last AND id < ulid_watermark() selects new rows';

CREATE FUNCTION @extschema@.gen_monotonic_ulid() RETURNS @extschema@.ulid
    AS 'MODULE_PATHNAME', 'snowdrift_next_ulid'
    LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION @extschema@.gen_monotonic_ulid()
    IS 'alias for next_ulid(), for databases migrated from another extension';

CREATE FUNCTION @extschema@.gen_ulid() RETURNS @extschema@.ulid
    AS 'MODULE_PATHNAME', 'snowdrift_gen_ulid'
    LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION @extschema@.gen_ulid()
    IS 'generate ULID from the current time and 80 random bits';

CREATE FUNCTION @extschema@.ulid_at("timestamp" timestamptz) RETURNS @extschema@.ulid
    AS 'MODULE_PATHNAME', 'snowdrift_ulid_at'
    LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION @extschema@.ulid_at(timestamptz)
    IS 'generate ULID from given time and 80 random bits';

-- ulid: casts. No cast is implicit, so ulid = uuid is an error. Casts from times are explicit, so that
-- INSERT does not store now() as a guessable ID.

CREATE CAST (@extschema@.ulid AS uuid) WITHOUT FUNCTION AS ASSIGNMENT;
COMMENT ON CAST (@extschema@.ulid AS uuid) IS 'same 16 bytes';

CREATE CAST (uuid AS @extschema@.ulid) WITHOUT FUNCTION AS ASSIGNMENT;
COMMENT ON CAST (uuid AS @extschema@.ulid) IS 'same 16 bytes';

CREATE FUNCTION snowdrift.bytea_to_ulid(bytea) RETURNS @extschema@.ulid
    AS 'MODULE_PATHNAME', 'snowdrift_bytea_to_ulid'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.bytea_to_ulid(bytea) IS 'convert 16 bytes to ULID';

CREATE CAST (@extschema@.ulid AS bytea) WITH FUNCTION snowdrift.ulid_send(@extschema@.ulid) AS ASSIGNMENT;
COMMENT ON CAST (@extschema@.ulid AS bytea) IS '16 bytes of ULID';

CREATE CAST (bytea AS @extschema@.ulid) WITH FUNCTION snowdrift.bytea_to_ulid(bytea) AS ASSIGNMENT;
COMMENT ON CAST (bytea AS @extschema@.ulid) IS 'ULID of 16 bytes';

-- A timestamp in UTC and a timestamptz of the same time have the same binary value.
CREATE FUNCTION snowdrift.ulid_to_timestamp(@extschema@.ulid) RETURNS timestamp
    AS 'MODULE_PATHNAME', 'snowdrift_ulid_to_timestamp'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.ulid_to_timestamp(@extschema@.ulid)
    IS 'extract timestamp of ULID, in UTC';

CREATE FUNCTION snowdrift.timestamp_to_ulid(timestamp) RETURNS @extschema@.ulid
    AS 'MODULE_PATHNAME', 'snowdrift_timestamp_to_ulid'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.timestamp_to_ulid(timestamp)
    IS 'smallest ULID at or after a time in UTC';

CREATE CAST (@extschema@.ulid AS timestamptz) WITH FUNCTION @extschema@.ulid_timestamp(@extschema@.ulid) AS ASSIGNMENT;
COMMENT ON CAST (@extschema@.ulid AS timestamptz) IS 'timestamp of ULID';

CREATE CAST (@extschema@.ulid AS timestamp) WITH FUNCTION snowdrift.ulid_to_timestamp(@extschema@.ulid) AS ASSIGNMENT;
COMMENT ON CAST (@extschema@.ulid AS timestamp) IS 'timestamp of ULID, in UTC';

CREATE CAST (timestamptz AS @extschema@.ulid) WITH FUNCTION @extschema@.ulid_boundary(timestamptz);
COMMENT ON CAST (timestamptz AS @extschema@.ulid) IS 'smallest ULID at or after a time';

CREATE CAST (timestamp AS @extschema@.ulid) WITH FUNCTION snowdrift.timestamp_to_ulid(timestamp);
COMMENT ON CAST (timestamp AS @extschema@.ulid) IS 'smallest ULID at or after a time in UTC';
