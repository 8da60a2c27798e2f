-- Snowflake: decoding

CREATE FUNCTION @extschema@.snowflake_timestamp(id bigint) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'snowdrift_snowflake_timestamp'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.snowflake_timestamp(bigint)
    IS 'extract timestamp of Snowflake ID, with millisecond precision';

CREATE FUNCTION @extschema@.snowflake_datacenter(id bigint) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowdrift_snowflake_datacenter'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.snowflake_datacenter(bigint)
    IS 'extract datacenter of Snowflake ID';

CREATE FUNCTION @extschema@.snowflake_worker(id bigint) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowdrift_snowflake_worker'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.snowflake_worker(bigint) IS 'extract worker of Snowflake ID';

CREATE FUNCTION @extschema@.snowflake_sequence(id bigint) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowdrift_snowflake_sequence'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.snowflake_sequence(bigint)
    IS 'extract sequence of Snowflake ID (number of the ID within its millisecond)';

CREATE FUNCTION @extschema@.snowflake_parts(id bigint,
        OUT "timestamp" timestamptz, OUT datacenter integer, OUT worker integer,
        OUT sequence integer)
    AS 'MODULE_PATHNAME', 'snowdrift_snowflake_parts'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.snowflake_parts(bigint)
    IS 'extract all fields of Snowflake ID, as a row';

CREATE FUNCTION @extschema@.snowflake_diagram(id bigint) RETURNS text
    AS 'MODULE_PATHNAME', 'snowdrift_snowflake_diagram'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.snowflake_diagram(bigint)
    IS 'show the bits of Snowflake ID, below the names and values of their fields';

-- Snowflake: composing

CREATE FUNCTION @extschema@.make_snowflake("timestamp" timestamptz, datacenter integer, worker integer,
        sequence integer) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowdrift_make_snowflake'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.make_snowflake(timestamptz, integer, integer, integer)
    IS 'construct Snowflake ID from its fields; the time is truncated to the millisecond';

CREATE FUNCTION @extschema@.snowflake_boundary("timestamp" timestamptz) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowdrift_snowflake_boundary'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.snowflake_boundary(timestamptz)
    IS 'smallest Snowflake ID at or after a time; id >= boundary(a) AND id < boundary(b) selects the times >= a and < b';

-- Snowflake: text form

CREATE FUNCTION @extschema@.snowflake_to_text(id bigint) RETURNS text
    AS 'MODULE_PATHNAME', 'snowdrift_snowflake_to_text'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.snowflake_to_text(bigint)
    IS 'convert Snowflake ID to 13 characters of base32, which sort as the IDs do in collation C';

CREATE FUNCTION @extschema@.snowflake_from_text(id text) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowdrift_snowflake_from_text'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.snowflake_from_text(text)
    IS 'convert 13 characters of base32 to Snowflake ID';

-- Snowflake: generating

CREATE FUNCTION @extschema@.next_snowflake() RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowdrift_next_snowflake'
    LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION @extschema@.next_snowflake()
    IS 'generate new Snowflake ID from default generator';

CREATE FUNCTION @extschema@.next_snowflakes(n integer) RETURNS SETOF bigint
    AS 'MODULE_PATHNAME', 'snowdrift_next_snowflakes'
    LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION @extschema@.next_snowflakes(integer)
    IS 'generate n new Snowflake IDs, in ascending order';

CREATE FUNCTION @extschema@.snowflake_watermark() RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowdrift_snowflake_watermark'
    LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION @extschema@.snowflake_watermark()
    IS 'watermark: all transactions that have drawn lower Snowflake IDs have ended; id > last AND id < snowflake_watermark() selects new rows';

-- Snowflake: layouts

CREATE TYPE @extschema@.snowflake_layout;

CREATE FUNCTION snowdrift.snowflake_layout_in(cstring) RETURNS @extschema@.snowflake_layout
    AS 'MODULE_PATHNAME', 'snowdrift_snowflake_layout_in'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.snowflake_layout_in(cstring) IS 'I/O';

CREATE FUNCTION snowdrift.snowflake_layout_out(@extschema@.snowflake_layout) RETURNS cstring
    AS 'MODULE_PATHNAME', 'snowdrift_snowflake_layout_out'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.snowflake_layout_out(@extschema@.snowflake_layout) IS 'I/O';

CREATE FUNCTION snowdrift.snowflake_layout_recv(internal) RETURNS @extschema@.snowflake_layout
    AS 'MODULE_PATHNAME', 'snowdrift_snowflake_layout_recv'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.snowflake_layout_recv(internal) IS 'I/O';

CREATE FUNCTION snowdrift.snowflake_layout_send(@extschema@.snowflake_layout) RETURNS bytea
    AS 'MODULE_PATHNAME', 'snowdrift_snowflake_layout_send'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.snowflake_layout_send(@extschema@.snowflake_layout) IS 'I/O';

CREATE TYPE @extschema@.snowflake_layout (
    INPUT = snowdrift.snowflake_layout_in, OUTPUT = snowdrift.snowflake_layout_out,
    RECEIVE = snowdrift.snowflake_layout_recv, SEND = snowdrift.snowflake_layout_send,
    INTERNALLENGTH = 16, ALIGNMENT = double, STORAGE = plain
);
COMMENT ON TYPE @extschema@.snowflake_layout
    IS 'layout of Snowflake IDs: the name of a preset, or an epoch, a time unit, and the order and widths of the fields';

CREATE FUNCTION snowdrift.snowflake_layout_eq(@extschema@.snowflake_layout, @extschema@.snowflake_layout)
        RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowdrift_snowflake_layout_eq'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.snowflake_layout_eq(@extschema@.snowflake_layout, @extschema@.snowflake_layout)
    IS 'implementation of = operator';

CREATE FUNCTION snowdrift.snowflake_layout_ne(@extschema@.snowflake_layout, @extschema@.snowflake_layout)
        RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowdrift_snowflake_layout_ne'
    LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.snowflake_layout_ne(@extschema@.snowflake_layout, @extschema@.snowflake_layout)
    IS 'implementation of <> operator';

CREATE OPERATOR @extschema@.= (
    LEFTARG = @extschema@.snowflake_layout, RIGHTARG = @extschema@.snowflake_layout, FUNCTION = snowdrift.snowflake_layout_eq,
    COMMUTATOR = OPERATOR(@extschema@.=), NEGATOR = OPERATOR(@extschema@.<>),
    RESTRICT = eqsel, JOIN = eqjoinsel, HASHES
);
COMMENT ON OPERATOR @extschema@.= (@extschema@.snowflake_layout, @extschema@.snowflake_layout) IS 'equal';

CREATE OPERATOR @extschema@.<> (
    LEFTARG = @extschema@.snowflake_layout, RIGHTARG = @extschema@.snowflake_layout, FUNCTION = snowdrift.snowflake_layout_ne,
    COMMUTATOR = OPERATOR(@extschema@.<>), NEGATOR = OPERATOR(@extschema@.=),
    RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR @extschema@.<> (@extschema@.snowflake_layout, @extschema@.snowflake_layout) IS 'not equal';

CREATE FUNCTION snowdrift.snowflake_layout_hash(@extschema@.snowflake_layout) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowdrift_snowflake_layout_hash'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.snowflake_layout_hash(@extschema@.snowflake_layout) IS 'hash';

CREATE FUNCTION snowdrift.snowflake_layout_hash_extended(@extschema@.snowflake_layout, bigint)
        RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowdrift_snowflake_layout_hash_extended'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.snowflake_layout_hash_extended(@extschema@.snowflake_layout, bigint)
    IS 'hash';

CREATE OPERATOR CLASS @extschema@.snowflake_layout_ops DEFAULT FOR TYPE @extschema@.snowflake_layout USING hash AS
    OPERATOR 1 @extschema@.=,
    FUNCTION 1 snowdrift.snowflake_layout_hash(@extschema@.snowflake_layout),
    FUNCTION 2 snowdrift.snowflake_layout_hash_extended(@extschema@.snowflake_layout, bigint);
COMMENT ON OPERATOR CLASS @extschema@.snowflake_layout_ops USING hash IS 'equality';

-- Snowflake: decoding and composing in a layout

CREATE FUNCTION @extschema@.snowflake_timestamp(id bigint, layout @extschema@.snowflake_layout)
        RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'snowdrift_snowflake_timestamp'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.snowflake_timestamp(bigint, @extschema@.snowflake_layout)
    IS 'extract timestamp of Snowflake ID of given layout (beginning of its time unit)';

CREATE FUNCTION @extschema@.snowflake_datacenter(id bigint, layout @extschema@.snowflake_layout)
        RETURNS integer
    AS 'MODULE_PATHNAME', 'snowdrift_snowflake_datacenter'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.snowflake_datacenter(bigint, @extschema@.snowflake_layout)
    IS 'extract datacenter of Snowflake ID of given layout';

CREATE FUNCTION @extschema@.snowflake_worker(id bigint, layout @extschema@.snowflake_layout)
        RETURNS integer
    AS 'MODULE_PATHNAME', 'snowdrift_snowflake_worker'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.snowflake_worker(bigint, @extschema@.snowflake_layout)
    IS 'extract worker of Snowflake ID of given layout';

CREATE FUNCTION @extschema@.snowflake_sequence(id bigint, layout @extschema@.snowflake_layout)
        RETURNS integer
    AS 'MODULE_PATHNAME', 'snowdrift_snowflake_sequence'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.snowflake_sequence(bigint, @extschema@.snowflake_layout)
    IS 'extract sequence of Snowflake ID of given layout (number of the ID within its time unit)';

CREATE FUNCTION @extschema@.snowflake_parts(id bigint, layout @extschema@.snowflake_layout,
        OUT "timestamp" timestamptz, OUT datacenter integer, OUT worker integer,
        OUT sequence integer)
    AS 'MODULE_PATHNAME', 'snowdrift_snowflake_parts'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.snowflake_parts(bigint, @extschema@.snowflake_layout)
    IS 'extract all fields of Snowflake ID of given layout, as a row';

CREATE FUNCTION @extschema@.snowflake_diagram(id bigint, layout @extschema@.snowflake_layout)
        RETURNS text
    AS 'MODULE_PATHNAME', 'snowdrift_snowflake_diagram'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.snowflake_diagram(bigint, @extschema@.snowflake_layout)
    IS 'show the bits of Snowflake ID of given layout, below the names and values of their fields';

CREATE FUNCTION @extschema@.make_snowflake("timestamp" timestamptz, datacenter integer, worker integer,
        sequence integer, layout @extschema@.snowflake_layout) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowdrift_make_snowflake'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.make_snowflake(timestamptz, integer, integer, integer, @extschema@.snowflake_layout)
    IS 'construct Snowflake ID of given layout from its fields; the time is truncated to the time unit';

CREATE FUNCTION @extschema@.snowflake_boundary("timestamp" timestamptz, layout @extschema@.snowflake_layout)
        RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowdrift_snowflake_boundary'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.snowflake_boundary(timestamptz, @extschema@.snowflake_layout)
    IS 'smallest Snowflake ID of given layout at or after a time';

-- Snowflake: comparing with times

CREATE FUNCTION snowdrift.time_predicate_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'snowdrift_time_predicate_support'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.time_predicate_support(internal)
    IS 'planner support for time predicates: p(id, t) becomes id >= first_p(t) AND id <= last_p(t)';

CREATE FUNCTION @extschema@.snowflake_within(id bigint, range tstzrange) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowdrift_snowflake_within'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT snowdrift.time_predicate_support;
COMMENT ON FUNCTION @extschema@.snowflake_within(bigint, tstzrange)
    IS 'true if the time of Snowflake ID is within a given range; can use indexes on the ID';

CREATE FUNCTION snowdrift.first_snowflake_within(range tstzrange) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowdrift_first_snowflake_within'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.first_snowflake_within(tstzrange)
    IS 'smallest Snowflake ID whose time is within a given range; the largest of all if there is none';

CREATE FUNCTION snowdrift.last_snowflake_within(range tstzrange) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowdrift_last_snowflake_within'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.last_snowflake_within(tstzrange)
    IS 'largest Snowflake ID whose time is within a given range; the smallest of all if there is none';

CREATE FUNCTION @extschema@.snowflake_within(id bigint, range tstzrange, layout @extschema@.snowflake_layout)
        RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowdrift_snowflake_within'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT snowdrift.time_predicate_support;
COMMENT ON FUNCTION @extschema@.snowflake_within(bigint, tstzrange, @extschema@.snowflake_layout)
    IS 'true if the time of Snowflake ID of given layout is within a given range; can use indexes on the ID';

CREATE FUNCTION snowdrift.first_snowflake_within(range tstzrange, layout @extschema@.snowflake_layout)
        RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowdrift_first_snowflake_within'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.first_snowflake_within(tstzrange, @extschema@.snowflake_layout)
    IS 'smallest Snowflake ID of given layout whose time is within a given range; the largest of all if there is none';

CREATE FUNCTION snowdrift.last_snowflake_within(range tstzrange, layout @extschema@.snowflake_layout)
        RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowdrift_last_snowflake_within'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.last_snowflake_within(tstzrange, @extschema@.snowflake_layout)
    IS 'largest Snowflake ID of given layout whose time is within a given range; the smallest of all if there is none';
