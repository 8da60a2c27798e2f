-- sno: the type

CREATE TYPE @extschema@.sno;

CREATE FUNCTION snowdrift.sno_in(cstring) RETURNS @extschema@.sno
    AS 'MODULE_PATHNAME', 'snowdrift_sno_in'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.sno_in(cstring) IS 'I/O';

CREATE FUNCTION snowdrift.sno_out(@extschema@.sno) RETURNS cstring
    AS 'MODULE_PATHNAME', 'snowdrift_sno_out'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.sno_out(@extschema@.sno) IS 'I/O';

CREATE FUNCTION snowdrift.sno_recv(internal) RETURNS @extschema@.sno
    AS 'MODULE_PATHNAME', 'snowdrift_sno_recv'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.sno_recv(internal) IS 'I/O';

CREATE FUNCTION snowdrift.sno_send(@extschema@.sno) RETURNS bytea
    AS 'MODULE_PATHNAME', 'snowdrift_sno_send'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.sno_send(@extschema@.sno) IS 'I/O';

CREATE TYPE @extschema@.sno (
    INPUT = snowdrift.sno_in, OUTPUT = snowdrift.sno_out, RECEIVE = snowdrift.sno_recv, SEND = snowdrift.sno_send,
    INTERNALLENGTH = 10, ALIGNMENT = char, STORAGE = plain
);
COMMENT ON TYPE @extschema@.sno
    IS 'sno: timestamp in units of 4 milliseconds, tick bit, metabyte (user-defined byte), partition and sequence';

-- sno: comparison

CREATE FUNCTION snowdrift.sno_eq(@extschema@.sno, @extschema@.sno) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowdrift_sno_eq'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.sno_eq(@extschema@.sno, @extschema@.sno)
    IS 'implementation of = operator';

CREATE FUNCTION snowdrift.sno_ne(@extschema@.sno, @extschema@.sno) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowdrift_sno_ne'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.sno_ne(@extschema@.sno, @extschema@.sno)
    IS 'implementation of <> operator';

CREATE FUNCTION snowdrift.sno_lt(@extschema@.sno, @extschema@.sno) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowdrift_sno_lt'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.sno_lt(@extschema@.sno, @extschema@.sno)
    IS 'implementation of < operator';

CREATE FUNCTION snowdrift.sno_le(@extschema@.sno, @extschema@.sno) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowdrift_sno_le'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.sno_le(@extschema@.sno, @extschema@.sno)
    IS 'implementation of <= operator';

CREATE FUNCTION snowdrift.sno_gt(@extschema@.sno, @extschema@.sno) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowdrift_sno_gt'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.sno_gt(@extschema@.sno, @extschema@.sno)
    IS 'implementation of > operator';

CREATE FUNCTION snowdrift.sno_ge(@extschema@.sno, @extschema@.sno) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowdrift_sno_ge'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.sno_ge(@extschema@.sno, @extschema@.sno)
    IS 'implementation of >= operator';

CREATE OPERATOR @extschema@.= (
    LEFTARG = @extschema@.sno, RIGHTARG = @extschema@.sno, FUNCTION = snowdrift.sno_eq,
    COMMUTATOR = OPERATOR(@extschema@.=), NEGATOR = OPERATOR(@extschema@.<>),
    RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES
);
COMMENT ON OPERATOR @extschema@.= (@extschema@.sno, @extschema@.sno) IS 'equal';

CREATE OPERATOR @extschema@.<> (
    LEFTARG = @extschema@.sno, RIGHTARG = @extschema@.sno, FUNCTION = snowdrift.sno_ne,
    COMMUTATOR = OPERATOR(@extschema@.<>), NEGATOR = OPERATOR(@extschema@.=),
    RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR @extschema@.<> (@extschema@.sno, @extschema@.sno) IS 'not equal';

CREATE OPERATOR @extschema@.< (
    LEFTARG = @extschema@.sno, RIGHTARG = @extschema@.sno, FUNCTION = snowdrift.sno_lt,
    COMMUTATOR = OPERATOR(@extschema@.>), NEGATOR = OPERATOR(@extschema@.>=),
    RESTRICT = snowdrift.id_inequality_sel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR @extschema@.< (@extschema@.sno, @extschema@.sno) IS 'less than';

CREATE OPERATOR @extschema@.<= (
    LEFTARG = @extschema@.sno, RIGHTARG = @extschema@.sno, FUNCTION = snowdrift.sno_le,
    COMMUTATOR = OPERATOR(@extschema@.>=), NEGATOR = OPERATOR(@extschema@.>),
    RESTRICT = snowdrift.id_inequality_sel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR @extschema@.<= (@extschema@.sno, @extschema@.sno) IS 'less than or equal';

CREATE OPERATOR @extschema@.> (
    LEFTARG = @extschema@.sno, RIGHTARG = @extschema@.sno, FUNCTION = snowdrift.sno_gt,
    COMMUTATOR = OPERATOR(@extschema@.<), NEGATOR = OPERATOR(@extschema@.<=),
    RESTRICT = snowdrift.id_inequality_sel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR @extschema@.> (@extschema@.sno, @extschema@.sno) IS 'greater than';

CREATE OPERATOR @extschema@.>= (
    LEFTARG = @extschema@.sno, RIGHTARG = @extschema@.sno, FUNCTION = snowdrift.sno_ge,
    COMMUTATOR = OPERATOR(@extschema@.<=), NEGATOR = OPERATOR(@extschema@.<),
    RESTRICT = snowdrift.id_inequality_sel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR @extschema@.>= (@extschema@.sno, @extschema@.sno) IS 'greater than or equal';

-- sno: indexes

CREATE FUNCTION snowdrift.sno_cmp(@extschema@.sno, @extschema@.sno) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowdrift_sno_cmp'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.sno_cmp(@extschema@.sno, @extschema@.sno) IS 'less-equal-greater';

CREATE FUNCTION snowdrift.sno_sortsupport(internal) RETURNS void
    AS 'MODULE_PATHNAME', 'snowdrift_sno_sortsupport'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.sno_sortsupport(internal) IS 'sort support';

CREATE OPERATOR CLASS @extschema@.sno_ops DEFAULT FOR TYPE @extschema@.sno USING btree AS
    OPERATOR 1 @extschema@.<, OPERATOR 2 @extschema@.<=, OPERATOR 3 @extschema@.=,
    OPERATOR 4 @extschema@.>=, OPERATOR 5 @extschema@.>,
    FUNCTION 1 snowdrift.sno_cmp(@extschema@.sno, @extschema@.sno),
    FUNCTION 2 snowdrift.sno_sortsupport(internal),
    FUNCTION 4 btequalimage(oid);
COMMENT ON OPERATOR CLASS @extschema@.sno_ops USING btree
    IS 'order by time, then by the remaining bytes';

CREATE FUNCTION snowdrift.sno_hash(@extschema@.sno) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowdrift_sno_hash'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.sno_hash(@extschema@.sno) IS 'hash';

CREATE FUNCTION snowdrift.sno_hash_extended(@extschema@.sno, bigint) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowdrift_sno_hash_extended'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.sno_hash_extended(@extschema@.sno, bigint) IS 'hash';

CREATE OPERATOR CLASS @extschema@.sno_ops DEFAULT FOR TYPE @extschema@.sno USING hash AS
    OPERATOR 1 @extschema@.=,
    FUNCTION 1 snowdrift.sno_hash(@extschema@.sno),
    FUNCTION 2 snowdrift.sno_hash_extended(@extschema@.sno, bigint);
COMMENT ON OPERATOR CLASS @extschema@.sno_ops USING hash IS 'equality';

CREATE OPERATOR CLASS @extschema@.sno_minmax_ops DEFAULT FOR TYPE @extschema@.sno USING brin AS
    OPERATOR 1 @extschema@.<, OPERATOR 2 @extschema@.<=, OPERATOR 3 @extschema@.=,
    OPERATOR 4 @extschema@.>=, OPERATOR 5 @extschema@.>,
    FUNCTION 1 brin_minmax_opcinfo(internal),
    FUNCTION 2 brin_minmax_add_value(internal, internal, internal, internal),
    FUNCTION 3 brin_minmax_consistent(internal, internal, internal),
    FUNCTION 4 brin_minmax_union(internal, internal, internal);
COMMENT ON OPERATOR CLASS @extschema@.sno_minmax_ops USING brin
    IS 'one range of values per block range';

CREATE FUNCTION snowdrift.sno_distance(@extschema@.sno, @extschema@.sno) RETURNS double precision
    AS 'MODULE_PATHNAME', 'snowdrift_sno_distance'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.sno_distance(@extschema@.sno, @extschema@.sno)
    IS 'BRIN minmax-multi support';

CREATE OPERATOR CLASS @extschema@.sno_minmax_multi_ops FOR TYPE @extschema@.sno USING brin AS
    OPERATOR 1 @extschema@.<, OPERATOR 2 @extschema@.<=, OPERATOR 3 @extschema@.=,
    OPERATOR 4 @extschema@.>=, OPERATOR 5 @extschema@.>,
    FUNCTION 1 brin_minmax_multi_opcinfo(internal),
    FUNCTION 2 brin_minmax_multi_add_value(internal, internal, internal, internal),
    FUNCTION 3 brin_minmax_multi_consistent(internal, internal, internal, integer),
    FUNCTION 4 brin_minmax_multi_union(internal, internal, internal),
    FUNCTION 5 brin_minmax_multi_options(internal),
    FUNCTION 11 snowdrift.sno_distance(@extschema@.sno, @extschema@.sno);
COMMENT ON OPERATOR CLASS @extschema@.sno_minmax_multi_ops USING brin
    IS 'several ranges of values per block range';

CREATE OPERATOR CLASS @extschema@.sno_bloom_ops FOR TYPE @extschema@.sno USING brin AS
    OPERATOR 1 @extschema@.=,
    FUNCTION 1 brin_bloom_opcinfo(internal),
    FUNCTION 2 brin_bloom_add_value(internal, internal, internal, internal),
    FUNCTION 3 brin_bloom_consistent(internal, internal, internal, integer),
    FUNCTION 4 brin_bloom_union(internal, internal, internal),
    FUNCTION 5 brin_bloom_options(internal),
    FUNCTION 11 snowdrift.sno_hash(@extschema@.sno);
COMMENT ON OPERATOR CLASS @extschema@.sno_bloom_ops USING brin
    IS 'one Bloom filter per block range';

-- sno: aggregates

CREATE FUNCTION snowdrift.sno_smaller(@extschema@.sno, @extschema@.sno) RETURNS @extschema@.sno
    AS 'MODULE_PATHNAME', 'snowdrift_sno_smaller'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.sno_smaller(@extschema@.sno, @extschema@.sno) IS 'smaller of two';

CREATE AGGREGATE @extschema@.min(@extschema@.sno) (
    SFUNC = snowdrift.sno_smaller, STYPE = @extschema@.sno,
    COMBINEFUNC = snowdrift.sno_smaller, SORTOP = OPERATOR(@extschema@.<), PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.min(@extschema@.sno) IS 'minimum value of all sno input values';

CREATE FUNCTION snowdrift.sno_larger(@extschema@.sno, @extschema@.sno) RETURNS @extschema@.sno
    AS 'MODULE_PATHNAME', 'snowdrift_sno_larger'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.sno_larger(@extschema@.sno, @extschema@.sno) IS 'larger of two';

CREATE AGGREGATE @extschema@.max(@extschema@.sno) (
    SFUNC = snowdrift.sno_larger, STYPE = @extschema@.sno,
    COMBINEFUNC = snowdrift.sno_larger, SORTOP = OPERATOR(@extschema@.>), PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.max(@extschema@.sno) IS 'maximum value of all sno input values';

-- sno: decoding

CREATE FUNCTION @extschema@.sno_timestamp(id @extschema@.sno) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'snowdrift_sno_timestamp'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.sno_timestamp(@extschema@.sno)
    IS 'extract timestamp of sno, with 4-millisecond precision';

CREATE FUNCTION @extschema@.sno_tick(id @extschema@.sno) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowdrift_sno_tick'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.sno_tick(@extschema@.sno)
    IS 'extract tick bit of sno (selects one of two timelines; flipped when the clock is set back)';

CREATE FUNCTION @extschema@.sno_metabyte(id @extschema@.sno) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowdrift_sno_metabyte'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.sno_metabyte(@extschema@.sno)
    IS 'extract metabyte of sno (user-defined byte)';

CREATE FUNCTION @extschema@.sno_partition(id @extschema@.sno) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowdrift_sno_partition'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.sno_partition(@extschema@.sno) IS 'extract partition of sno';

CREATE FUNCTION @extschema@.sno_sequence(id @extschema@.sno) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowdrift_sno_sequence'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.sno_sequence(@extschema@.sno)
    IS 'extract sequence of sno (number of the sno within its 4 milliseconds)';

CREATE FUNCTION @extschema@.sno_parts(id @extschema@.sno,
        OUT "timestamp" timestamptz, OUT tick integer, OUT metabyte integer,
        OUT partition integer, OUT sequence integer)
    AS 'MODULE_PATHNAME', 'snowdrift_sno_parts'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.sno_parts(@extschema@.sno) IS 'extract all fields of sno, as a row';

CREATE FUNCTION @extschema@.sno_diagram(id @extschema@.sno) RETURNS text
    AS 'MODULE_PATHNAME', 'snowdrift_sno_diagram'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.sno_diagram(@extschema@.sno)
    IS 'show the bits of sno, below the names and values of their fields';

-- sno: composing

CREATE FUNCTION @extschema@.make_sno("timestamp" timestamptz, metabyte integer, partition integer,
        sequence integer, tick integer DEFAULT 0) RETURNS @extschema@.sno
    AS 'MODULE_PATHNAME', 'snowdrift_make_sno'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.make_sno(timestamptz, integer, integer, integer, integer)
    IS 'construct sno from its fields; the time is truncated to 4 milliseconds';

CREATE FUNCTION @extschema@.sno_set_metabyte(id @extschema@.sno, metabyte integer)
        RETURNS @extschema@.sno
    AS 'MODULE_PATHNAME', 'snowdrift_sno_set_metabyte'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.sno_set_metabyte(@extschema@.sno, integer)
    IS 'replace metabyte of sno';

CREATE FUNCTION @extschema@.sno_set_partition(id @extschema@.sno, partition integer)
        RETURNS @extschema@.sno
    AS 'MODULE_PATHNAME', 'snowdrift_sno_set_partition'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.sno_set_partition(@extschema@.sno, integer)
    IS 'replace partition of sno';

CREATE FUNCTION @extschema@.sno_set_sequence(id @extschema@.sno, sequence integer)
        RETURNS @extschema@.sno
    AS 'MODULE_PATHNAME', 'snowdrift_sno_set_sequence'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.sno_set_sequence(@extschema@.sno, integer)
    IS 'replace sequence of sno';

CREATE FUNCTION @extschema@.sno_boundary("timestamp" timestamptz) RETURNS @extschema@.sno
    AS 'MODULE_PATHNAME', 'snowdrift_sno_boundary'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.sno_boundary(timestamptz)
    IS 'smallest sno at or after a time; id >= boundary(a) AND id < boundary(b) selects the times >= a and < b';

CREATE FUNCTION @extschema@.sno_nil() RETURNS @extschema@.sno
    AS 'MODULE_PATHNAME', 'snowdrift_sno_nil'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.sno_nil() IS 'smallest sno: all bits zero';

CREATE FUNCTION @extschema@.sno_max() RETURNS @extschema@.sno
    AS 'MODULE_PATHNAME', 'snowdrift_sno_max'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.sno_max() IS 'largest sno: all bits one';

-- sno: comparing with times

CREATE FUNCTION @extschema@.sno_before(id @extschema@.sno, "timestamp" timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowdrift_sno_before'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE SUPPORT snowdrift.time_predicate_support;
COMMENT ON FUNCTION @extschema@.sno_before(@extschema@.sno, timestamptz)
    IS 'true if the time of sno is before a given time; can use indexes on the ID';

CREATE FUNCTION snowdrift.sno_before(timestamptz, @extschema@.sno) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowdrift_before_of_sno'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE SUPPORT snowdrift.time_predicate_support;
COMMENT ON FUNCTION snowdrift.sno_before(timestamptz, @extschema@.sno)
    IS 'implementation of > operator';

CREATE FUNCTION snowdrift.first_sno_before("timestamp" timestamptz) RETURNS @extschema@.sno
    AS 'MODULE_PATHNAME', 'snowdrift_first_sno_before'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.first_sno_before(timestamptz)
    IS 'smallest sno whose time is before a given time; the largest of all if there is none';

CREATE FUNCTION snowdrift.last_sno_before("timestamp" timestamptz) RETURNS @extschema@.sno
    AS 'MODULE_PATHNAME', 'snowdrift_last_sno_before'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.last_sno_before(timestamptz)
    IS 'largest sno whose time is before a given time; the smallest of all if there is none';

CREATE FUNCTION @extschema@.sno_until(id @extschema@.sno, "timestamp" timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowdrift_sno_until'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE SUPPORT snowdrift.time_predicate_support;
COMMENT ON FUNCTION @extschema@.sno_until(@extschema@.sno, timestamptz)
    IS 'true if the time of sno is at or before a given time; can use indexes on the ID';

CREATE FUNCTION snowdrift.sno_until(timestamptz, @extschema@.sno) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowdrift_until_of_sno'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE SUPPORT snowdrift.time_predicate_support;
COMMENT ON FUNCTION snowdrift.sno_until(timestamptz, @extschema@.sno)
    IS 'implementation of >= operator';

CREATE FUNCTION snowdrift.first_sno_until("timestamp" timestamptz) RETURNS @extschema@.sno
    AS 'MODULE_PATHNAME', 'snowdrift_first_sno_until'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.first_sno_until(timestamptz)
    IS 'smallest sno whose time is at or before a given time; the largest of all if there is none';

CREATE FUNCTION snowdrift.last_sno_until("timestamp" timestamptz) RETURNS @extschema@.sno
    AS 'MODULE_PATHNAME', 'snowdrift_last_sno_until'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.last_sno_until(timestamptz)
    IS 'largest sno whose time is at or before a given time; the smallest of all if there is none';

CREATE FUNCTION @extschema@.sno_after(id @extschema@.sno, "timestamp" timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowdrift_sno_after'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE SUPPORT snowdrift.time_predicate_support;
COMMENT ON FUNCTION @extschema@.sno_after(@extschema@.sno, timestamptz)
    IS 'true if the time of sno is after a given time; can use indexes on the ID';

CREATE FUNCTION snowdrift.sno_after(timestamptz, @extschema@.sno) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowdrift_after_of_sno'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE SUPPORT snowdrift.time_predicate_support;
COMMENT ON FUNCTION snowdrift.sno_after(timestamptz, @extschema@.sno)
    IS 'implementation of < operator';

CREATE FUNCTION snowdrift.first_sno_after("timestamp" timestamptz) RETURNS @extschema@.sno
    AS 'MODULE_PATHNAME', 'snowdrift_first_sno_after'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.first_sno_after(timestamptz)
    IS 'smallest sno whose time is after a given time; the largest of all if there is none';

CREATE FUNCTION snowdrift.last_sno_after("timestamp" timestamptz) RETURNS @extschema@.sno
    AS 'MODULE_PATHNAME', 'snowdrift_last_sno_after'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.last_sno_after(timestamptz)
    IS 'largest sno whose time is after a given time; the smallest of all if there is none';

CREATE FUNCTION @extschema@.sno_since(id @extschema@.sno, "timestamp" timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowdrift_sno_since'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE SUPPORT snowdrift.time_predicate_support;
COMMENT ON FUNCTION @extschema@.sno_since(@extschema@.sno, timestamptz)
    IS 'true if the time of sno is at or after a given time; can use indexes on the ID';

CREATE FUNCTION snowdrift.sno_since(timestamptz, @extschema@.sno) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowdrift_since_of_sno'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE SUPPORT snowdrift.time_predicate_support;
COMMENT ON FUNCTION snowdrift.sno_since(timestamptz, @extschema@.sno)
    IS 'implementation of <= operator';

CREATE FUNCTION snowdrift.first_sno_since("timestamp" timestamptz) RETURNS @extschema@.sno
    AS 'MODULE_PATHNAME', 'snowdrift_first_sno_since'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.first_sno_since(timestamptz)
    IS 'smallest sno whose time is at or after a given time; the largest of all if there is none';

CREATE FUNCTION snowdrift.last_sno_since("timestamp" timestamptz) RETURNS @extschema@.sno
    AS 'MODULE_PATHNAME', 'snowdrift_last_sno_since'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.last_sno_since(timestamptz)
    IS 'largest sno whose time is at or after a given time; the smallest of all if there is none';

CREATE FUNCTION @extschema@.sno_within(id @extschema@.sno, range tstzrange) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowdrift_sno_within'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT snowdrift.time_predicate_support;
COMMENT ON FUNCTION @extschema@.sno_within(@extschema@.sno, tstzrange)
    IS 'true if the time of sno is within a given range; can use indexes on the ID';

CREATE FUNCTION snowdrift.first_sno_within(range tstzrange) RETURNS @extschema@.sno
    AS 'MODULE_PATHNAME', 'snowdrift_first_sno_within'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.first_sno_within(tstzrange)
    IS 'smallest sno whose time is within a given range; the largest of all if there is none';

CREATE FUNCTION snowdrift.last_sno_within(range tstzrange) RETURNS @extschema@.sno
    AS 'MODULE_PATHNAME', 'snowdrift_last_sno_within'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.last_sno_within(tstzrange)
    IS 'largest sno whose time is within a given range; the smallest of all if there is none';

CREATE OPERATOR @extschema@.< (
    LEFTARG = @extschema@.sno, RIGHTARG = timestamptz, FUNCTION = @extschema@.sno_before,
    COMMUTATOR = OPERATOR(@extschema@.>), NEGATOR = OPERATOR(@extschema@.>=),
    RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR @extschema@.< (@extschema@.sno, timestamptz)
    IS 'time of sno is before timestamp';

CREATE OPERATOR @extschema@.> (
    LEFTARG = timestamptz, RIGHTARG = @extschema@.sno, FUNCTION = snowdrift.sno_before,
    COMMUTATOR = OPERATOR(@extschema@.<), NEGATOR = OPERATOR(@extschema@.<=),
    RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR @extschema@.> (timestamptz, @extschema@.sno)
    IS 'timestamp is after time of sno';

CREATE OPERATOR @extschema@.<= (
    LEFTARG = @extschema@.sno, RIGHTARG = timestamptz, FUNCTION = @extschema@.sno_until,
    COMMUTATOR = OPERATOR(@extschema@.>=), NEGATOR = OPERATOR(@extschema@.>),
    RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR @extschema@.<= (@extschema@.sno, timestamptz)
    IS 'time of sno is at or before timestamp';

CREATE OPERATOR @extschema@.>= (
    LEFTARG = timestamptz, RIGHTARG = @extschema@.sno, FUNCTION = snowdrift.sno_until,
    COMMUTATOR = OPERATOR(@extschema@.<=), NEGATOR = OPERATOR(@extschema@.<),
    RESTRICT = scalargesel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR @extschema@.>= (timestamptz, @extschema@.sno)
    IS 'timestamp is at or after time of sno';

CREATE OPERATOR @extschema@.> (
    LEFTARG = @extschema@.sno, RIGHTARG = timestamptz, FUNCTION = @extschema@.sno_after,
    COMMUTATOR = OPERATOR(@extschema@.<), NEGATOR = OPERATOR(@extschema@.<=),
    RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR @extschema@.> (@extschema@.sno, timestamptz)
    IS 'time of sno is after timestamp';

CREATE OPERATOR @extschema@.< (
    LEFTARG = timestamptz, RIGHTARG = @extschema@.sno, FUNCTION = snowdrift.sno_after,
    COMMUTATOR = OPERATOR(@extschema@.>), NEGATOR = OPERATOR(@extschema@.>=),
    RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR @extschema@.< (timestamptz, @extschema@.sno)
    IS 'timestamp is before time of sno';

CREATE OPERATOR @extschema@.>= (
    LEFTARG = @extschema@.sno, RIGHTARG = timestamptz, FUNCTION = @extschema@.sno_since,
    COMMUTATOR = OPERATOR(@extschema@.<=), NEGATOR = OPERATOR(@extschema@.<),
    RESTRICT = scalargesel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR @extschema@.>= (@extschema@.sno, timestamptz)
    IS 'time of sno is at or after timestamp';

CREATE OPERATOR @extschema@.<= (
    LEFTARG = timestamptz, RIGHTARG = @extschema@.sno, FUNCTION = snowdrift.sno_since,
    COMMUTATOR = OPERATOR(@extschema@.>=), NEGATOR = OPERATOR(@extschema@.>),
    RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR @extschema@.<= (timestamptz, @extschema@.sno)
    IS 'timestamp is at or before time of sno';

-- sno: generating

CREATE FUNCTION @extschema@.next_sno(metabyte integer DEFAULT 0) RETURNS @extschema@.sno
    AS 'MODULE_PATHNAME', 'snowdrift_next_sno'
    LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION @extschema@.next_sno(integer) IS 'generate new sno from default generator';

CREATE FUNCTION @extschema@.sno_at("timestamp" timestamptz, metabyte integer DEFAULT 0)
        RETURNS @extschema@.sno
    AS 'MODULE_PATHNAME', 'snowdrift_sno_at'
    LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION @extschema@.sno_at(timestamptz, integer)
    IS 'generate sno for given time, from a sequence that wraps around; for migrating older IDs';

-- sno: casts, as for ulid

CREATE FUNCTION snowdrift.sno_to_uuid(@extschema@.sno) RETURNS uuid
    AS 'MODULE_PATHNAME', 'snowdrift_sno_to_uuid'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.sno_to_uuid(@extschema@.sno)
    IS 'convert sno to UUID: the 16 characters of its text become the 16 bytes';

CREATE FUNCTION snowdrift.uuid_to_sno(uuid) RETURNS @extschema@.sno
    AS 'MODULE_PATHNAME', 'snowdrift_uuid_to_sno'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.uuid_to_sno(uuid)
    IS 'convert UUID to sno: the 16 bytes become the 16 characters of its text form';

CREATE CAST (@extschema@.sno AS uuid) WITH FUNCTION snowdrift.sno_to_uuid(@extschema@.sno) AS ASSIGNMENT;
COMMENT ON CAST (@extschema@.sno AS uuid)
    IS '16 characters of the sno''s text as 16 bytes; preserves the sort order';

CREATE CAST (uuid AS @extschema@.sno) WITH FUNCTION snowdrift.uuid_to_sno(uuid) AS ASSIGNMENT;
COMMENT ON CAST (uuid AS @extschema@.sno) IS 'sno whose text is the 16 bytes';

CREATE FUNCTION snowdrift.bytea_to_sno(bytea) RETURNS @extschema@.sno
    AS 'MODULE_PATHNAME', 'snowdrift_bytea_to_sno'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.bytea_to_sno(bytea) IS 'convert 10 bytes to sno';

CREATE CAST (@extschema@.sno AS bytea) WITH FUNCTION snowdrift.sno_send(@extschema@.sno) AS ASSIGNMENT;
COMMENT ON CAST (@extschema@.sno AS bytea) IS '10 bytes of sno';

CREATE CAST (bytea AS @extschema@.sno) WITH FUNCTION snowdrift.bytea_to_sno(bytea) AS ASSIGNMENT;
COMMENT ON CAST (bytea AS @extschema@.sno) IS 'sno of 10 bytes';

CREATE FUNCTION snowdrift.sno_to_timestamp(@extschema@.sno) RETURNS timestamp
    AS 'MODULE_PATHNAME', 'snowdrift_sno_to_timestamp'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.sno_to_timestamp(@extschema@.sno)
    IS 'extract timestamp of sno, in UTC';

CREATE FUNCTION snowdrift.timestamp_to_sno(timestamp) RETURNS @extschema@.sno
    AS 'MODULE_PATHNAME', 'snowdrift_timestamp_to_sno'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.timestamp_to_sno(timestamp)
    IS 'smallest sno at or after a time in UTC';

CREATE CAST (@extschema@.sno AS timestamptz) WITH FUNCTION @extschema@.sno_timestamp(@extschema@.sno) AS ASSIGNMENT;
COMMENT ON CAST (@extschema@.sno AS timestamptz) IS 'timestamp of sno';

CREATE CAST (@extschema@.sno AS timestamp) WITH FUNCTION snowdrift.sno_to_timestamp(@extschema@.sno) AS ASSIGNMENT;
COMMENT ON CAST (@extschema@.sno AS timestamp) IS 'timestamp of sno, in UTC';

CREATE CAST (timestamptz AS @extschema@.sno) WITH FUNCTION @extschema@.sno_boundary(timestamptz);
COMMENT ON CAST (timestamptz AS @extschema@.sno) IS 'smallest sno at or after a time';

CREATE CAST (timestamp AS @extschema@.sno) WITH FUNCTION snowdrift.timestamp_to_sno(timestamp);
COMMENT ON CAST (timestamp AS @extschema@.sno) IS 'smallest sno at or after a time in UTC';
