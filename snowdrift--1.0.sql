\echo Use "CREATE EXTENSION snowdrift" to load this file. \quit

-- This script may run as a superuser in a schema where other roles can create objects. Therefore
-- unqualified names resolve only in pg_catalog, and all other names are qualified.
--
-- Users find what they call in the extension's schema: types, operators and functions. The functions that implement
-- types, operators, casts and aggregates, and those for the planner, are in the schema snowdrift, as is administration.
SET LOCAL search_path = pg_catalog, pg_temp;

-- Administration (schema snowdrift)

CREATE SCHEMA snowdrift;
COMMENT ON SCHEMA snowdrift IS 'administration of Snowdrift''s ID generators, and implementation of its types, operators and casts';
GRANT USAGE ON SCHEMA snowdrift TO PUBLIC;

-- Other roles cannot use the schema of the tables. Otherwise, any role could lock the tables without a privilege on them,
-- with statements such as PREPARE and CREATE RULE, and thus block all sessions that draw. The views are based on
-- functions, which release their locks.
CREATE SCHEMA snowdrift_tables;
COMMENT ON SCHEMA snowdrift_tables IS 'tables of Snowdrift, for dumps and for the library';
GRANT USAGE ON SCHEMA snowdrift_tables TO @extowner@; -- lets this role dump and restore the tables

-- The mark is the time after which no ID was ever issued. The table has one row, which confirm_node() below
-- inserts, and which generators change in place.
CREATE TABLE snowdrift_tables.mark (
    unix_ms bigint NOT NULL
        CHECK (unix_ms OPERATOR(pg_catalog.>=) '0'::bigint AND unix_ms OPERATOR(pg_catalog.<=) '140737488355327'::bigint),
    system_identifier bigint NOT NULL,
    origin_ms bigint NOT NULL,
    watermark_ms bigint NOT NULL DEFAULT '0'::bigint,
    server_start timestamptz NOT NULL,
    creation_xid xid NOT NULL,
    number integer NOT NULL,
    origin_generators integer NOT NULL,
    writer integer NOT NULL,
    timeline integer NOT NULL,
    citus_group integer NOT NULL,
    structure integer NOT NULL,
    confirmed boolean NOT NULL
) USING heap;
COMMENT ON TABLE snowdrift_tables.mark
    IS 'time after which no ID was ever issued, and server that issued the IDs; do not change by hand';
COMMENT ON COLUMN snowdrift_tables.mark.unix_ms IS 'time in milliseconds since 1970';
COMMENT ON COLUMN snowdrift_tables.mark.system_identifier IS 'system identifier of the server';
COMMENT ON COLUMN snowdrift_tables.mark.origin_ms
    IS 'time from which the default Snowflake generator issues IDs, in milliseconds since 1970';
COMMENT ON COLUMN snowdrift_tables.mark.watermark_ms IS 'time in milliseconds since 1970; no later watermark was returned';
COMMENT ON COLUMN snowdrift_tables.mark.server_start IS 'start time of the server when the row was last written';
COMMENT ON COLUMN snowdrift_tables.mark.creation_xid
    IS 'transaction that created this table; distinguishes a copy of a server from an upgraded server';
COMMENT ON COLUMN snowdrift_tables.mark.number
    IS 'server''s configured number in its last IDs; 0 if none was configured; -1 before the first ID that contains a number';
COMMENT ON COLUMN snowdrift_tables.mark.origin_generators
    IS 'greatest id of the named generators whose origin is not later than origin_ms because of snowdrift.reset_clock; 0 if there are none';
COMMENT ON COLUMN snowdrift_tables.mark.writer
    IS 'writer of the time: 0 for installation, restore or reset; 1 for a generator; 2 for a generator in the transaction that created the file';
COMMENT ON COLUMN snowdrift_tables.mark.timeline
    IS 'timeline of the server''s WAL; distinguishes a promoted clone from its source';
COMMENT ON COLUMN snowdrift_tables.mark.citus_group IS 'server''s group in its Citus cluster; -1 if it is in none';
COMMENT ON COLUMN snowdrift_tables.mark.structure
    IS 'version of the shared memory of the library that has issued IDs since server_start; 0 if none has';
COMMENT ON COLUMN snowdrift_tables.mark.confirmed
    IS 'whether the server may generate Snowflake and sno IDs; false on copy or clone until snowdrift.confirm_node()';
GRANT SELECT, INSERT ON TABLE snowdrift_tables.mark TO @extowner@;
SELECT pg_catalog.pg_extension_config_dump('snowdrift_tables.mark'::pg_catalog.regclass, '');

CREATE FUNCTION snowdrift_tables.restore_mark() RETURNS trigger
    AS 'MODULE_PATHNAME', 'snowdrift_restore_mark'
    LANGUAGE C;
REVOKE ALL ON FUNCTION snowdrift_tables.restore_mark() FROM PUBLIC;
COMMENT ON FUNCTION snowdrift_tables.restore_mark()
    IS 'advance the mark to that of a restored dump; skip rows of another server';
CREATE TRIGGER restore_mark
    BEFORE INSERT ON snowdrift_tables.mark
    FOR EACH ROW EXECUTE FUNCTION snowdrift_tables.restore_mark();
ALTER TABLE snowdrift_tables.mark ENABLE ALWAYS TRIGGER restore_mark;
COMMENT ON TRIGGER restore_mark ON snowdrift_tables.mark
    IS 'advance the mark to that of a restored dump; skip rows of another server';

CREATE FUNCTION snowdrift_tables.refuse_mark_change() RETURNS trigger
    AS 'MODULE_PATHNAME', 'snowdrift_refuse_mark_change'
    LANGUAGE C;
REVOKE ALL ON FUNCTION snowdrift_tables.refuse_mark_change() FROM PUBLIC;
COMMENT ON FUNCTION snowdrift_tables.refuse_mark_change() IS 'raise an error, because changing the mark could repeat IDs';
CREATE TRIGGER refuse_mark_change
    BEFORE UPDATE OR DELETE OR TRUNCATE ON snowdrift_tables.mark
    FOR EACH STATEMENT EXECUTE FUNCTION snowdrift_tables.refuse_mark_change();
ALTER TABLE snowdrift_tables.mark ENABLE ALWAYS TRIGGER refuse_mark_change;
COMMENT ON TRIGGER refuse_mark_change ON snowdrift_tables.mark IS 'raise an error, because changing the mark could repeat IDs';

CREATE FUNCTION snowdrift.read_clock(OUT wall_clock timestamptz, OUT mark timestamptz,
        OUT lead interval, OUT waiting integer, OUT detail text)
    AS 'MODULE_PATHNAME', 'snowdrift_read_clock'
    LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowdrift.read_clock() IS 'implementation of view snowdrift.clock';

CREATE VIEW snowdrift.clock AS SELECT wall_clock, mark, lead, waiting, detail FROM snowdrift.read_clock();
COMMENT ON VIEW snowdrift.clock
    IS 'server''s clock, mark (time after which no ID was ever issued), how far the mark is ahead of the clock, and what delays or prevents its advance';
COMMENT ON COLUMN snowdrift.clock.wall_clock IS 'time of the server''s clock';
COMMENT ON COLUMN snowdrift.clock.mark IS 'time after which no ID was ever issued; null if no ID was';
COMMENT ON COLUMN snowdrift.clock.lead IS 'how far the mark is ahead of the clock';
COMMENT ON COLUMN snowdrift.clock.waiting IS 'number of calls that currently wait until the mark is durable: for the disk or for a synchronous standby';
COMMENT ON COLUMN snowdrift.clock.detail IS 'why the mark cannot be advanced now, such as a full disk; null if nothing prevents it, and on a standby';
GRANT SELECT ON snowdrift.clock TO PUBLIC;

CREATE FUNCTION snowdrift.reset_clock() RETURNS void
    AS 'MODULE_PATHNAME', 'snowdrift_reset_clock'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION snowdrift.reset_clock() FROM PUBLIC;
COMMENT ON FUNCTION snowdrift.reset_clock()
    IS 'restart generation at the current time after the clock had jumped into the future; replace the IDs issued since the jump, because they can be issued again when their times come';

CREATE FUNCTION snowdrift.read_node(OUT number integer, OUT source text, OUT detail text)
    AS 'MODULE_PATHNAME', 'snowdrift_read_node'
    LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.read_node() IS 'implementation of view snowdrift.node';

CREATE VIEW snowdrift.node AS SELECT number, source, detail FROM snowdrift.read_node();
COMMENT ON VIEW snowdrift.node
    IS 'server''s number in its Snowflake and sno IDs, setting snowdrift.node, and where the number comes from';
COMMENT ON COLUMN snowdrift.node.number IS 'server''s number in its IDs; null if it has none';
COMMENT ON COLUMN snowdrift.node.source IS 'setting snowdrift.node';
COMMENT ON COLUMN snowdrift.node.detail IS 'where the number comes from, or why there is none';
GRANT SELECT ON snowdrift.node TO PUBLIC;

CREATE FUNCTION snowdrift.confirm_node() RETURNS void
    AS 'MODULE_PATHNAME', 'snowdrift_confirm_node'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION snowdrift.confirm_node() FROM PUBLIC;
COMMENT ON FUNCTION snowdrift.confirm_node()
    IS 'confirm, on a copy, on a possible clone, or on a server that has lost its configured number, that no other server generates IDs with its number or its generators';
-- Insert the row of the mark. If shared memory contains the mark of an earlier installation, copy it too.
SELECT FROM snowdrift.confirm_node();

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

-- Named generators

CREATE SEQUENCE snowdrift_tables.generator_id AS integer MAXVALUE 1000000000;
COMMENT ON SEQUENCE snowdrift_tables.generator_id
    IS 'ids of the generators in snowdrift_tables.generator';

CREATE TABLE snowdrift_tables.generator (
    name text PRIMARY KEY,
    -- In snowdrift_tables.backfill, 0 is the default generator.
    id integer NOT NULL UNIQUE CHECK (id OPERATOR(pg_catalog.>) 0)
        DEFAULT pg_catalog.nextval('snowdrift_tables.generator_id'::pg_catalog.regclass),
    kind text NOT NULL CHECK (kind IN ('snowflake', 'sno')),
    layout @extschema@.snowflake_layout,
    datacenter integer,
    worker integer,
    partition integer,
    sequence_min integer NOT NULL,
    sequence_max integer NOT NULL,
    this_node_only boolean NOT NULL DEFAULT false,
    origin timestamptz
) USING heap;
COMMENT ON TABLE snowdrift_tables.generator
    IS 'definitions of named generators; change them with snowdrift.create_generator and snowdrift.drop_generator';
COMMENT ON COLUMN snowdrift_tables.generator.name IS 'name of generator';
COMMENT ON COLUMN snowdrift_tables.generator.id IS 'number of generator; never reused';
COMMENT ON COLUMN snowdrift_tables.generator.kind IS 'kind of its IDs: snowflake or sno';
COMMENT ON COLUMN snowdrift_tables.generator.layout IS 'layout of its Snowflake IDs; null for sno values';
COMMENT ON COLUMN snowdrift_tables.generator.datacenter IS 'datacenter in its Snowflake IDs; null if not specified';
COMMENT ON COLUMN snowdrift_tables.generator.worker IS 'worker in its Snowflake IDs; null if not specified';
COMMENT ON COLUMN snowdrift_tables.generator.partition IS 'partition in its sno values; null if not specified';
COMMENT ON COLUMN snowdrift_tables.generator.sequence_min IS 'smallest sequence number in its IDs';
COMMENT ON COLUMN snowdrift_tables.generator.sequence_max IS 'largest sequence number in its IDs';
COMMENT ON COLUMN snowdrift_tables.generator.this_node_only IS 'true if no other node of a Citus cluster generates IDs with this definition';
COMMENT ON COLUMN snowdrift_tables.generator.origin IS 'time from which it issues Snowflake IDs; snowflake_at accepts earlier times; null if unknown';
GRANT SELECT, UPDATE ON SEQUENCE snowdrift_tables.generator_id TO @extowner@;
GRANT SELECT, INSERT ON TABLE snowdrift_tables.generator TO @extowner@;
SELECT pg_catalog.pg_extension_config_dump('snowdrift_tables.generator_id'::pg_catalog.regclass, '');
SELECT pg_catalog.pg_extension_config_dump('snowdrift_tables.generator'::pg_catalog.regclass, '');

CREATE FUNCTION snowdrift_tables.generators_changed() RETURNS trigger
    AS 'MODULE_PATHNAME', 'snowdrift_generators_changed'
    LANGUAGE C;
REVOKE ALL ON FUNCTION snowdrift_tables.generators_changed() FROM PUBLIC;
COMMENT ON FUNCTION snowdrift_tables.generators_changed()
    IS 'invalidate cached definitions of generators in all sessions';
CREATE TRIGGER generators_changed
    AFTER INSERT ON snowdrift_tables.generator
    FOR EACH STATEMENT EXECUTE FUNCTION snowdrift_tables.generators_changed();
-- The trigger also fires for rows that logical replication writes.
ALTER TABLE snowdrift_tables.generator ENABLE ALWAYS TRIGGER generators_changed;
COMMENT ON TRIGGER generators_changed ON snowdrift_tables.generator
    IS 'invalidate cached definitions of generators in all sessions';

-- Another server's definitions are not this server's: logical replication does not apply them. Dumps insert rows.
CREATE FUNCTION snowdrift_tables.guard_definition() RETURNS trigger
    AS 'MODULE_PATHNAME', 'snowdrift_guard_definition'
    LANGUAGE C;
REVOKE ALL ON FUNCTION snowdrift_tables.guard_definition() FROM PUBLIC;
COMMENT ON FUNCTION snowdrift_tables.guard_definition()
    IS 'refuse changes of definitions; skip or refuse those of another server';
CREATE TRIGGER guard_definition
    BEFORE INSERT OR UPDATE OR DELETE ON snowdrift_tables.generator
    FOR EACH ROW EXECUTE FUNCTION snowdrift_tables.guard_definition();
ALTER TABLE snowdrift_tables.generator ENABLE ALWAYS TRIGGER guard_definition;
COMMENT ON TRIGGER guard_definition ON snowdrift_tables.generator
    IS 'refuse changes of definitions; skip or refuse those of another server';

-- Triggers for rows don't see TRUNCATE: logical replication would remove all definitions.
CREATE FUNCTION snowdrift_tables.refuse_truncate() RETURNS trigger
    AS 'MODULE_PATHNAME', 'snowdrift_refuse_truncate'
    LANGUAGE C;
REVOKE ALL ON FUNCTION snowdrift_tables.refuse_truncate() FROM PUBLIC;
COMMENT ON FUNCTION snowdrift_tables.refuse_truncate()
    IS 'raise an error, because logical replication would remove rows of other servers';
CREATE TRIGGER refuse_truncate
    BEFORE TRUNCATE ON snowdrift_tables.generator
    FOR EACH STATEMENT EXECUTE FUNCTION snowdrift_tables.refuse_truncate();
ALTER TABLE snowdrift_tables.generator ENABLE ALWAYS TRIGGER refuse_truncate;
COMMENT ON TRIGGER refuse_truncate ON snowdrift_tables.generator
    IS 'raise an error, because logical replication would remove definitions of other servers';

CREATE FUNCTION snowdrift.create_generator(name text, kind text,
        layout @extschema@.snowflake_layout DEFAULT NULL, datacenter integer DEFAULT NULL,
        worker integer DEFAULT NULL, partition integer DEFAULT NULL,
        sequence_min integer DEFAULT NULL, sequence_max integer DEFAULT NULL,
        this_node_only boolean DEFAULT false) RETURNS void
    AS 'MODULE_PATHNAME', 'snowdrift_create_generator'
    LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION snowdrift.create_generator(text, text, @extschema@.snowflake_layout, integer,
    integer, integer, integer, integer, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION snowdrift.create_generator(text, text, @extschema@.snowflake_layout, integer,
    integer, integer, integer, integer, boolean) TO @extowner@ WITH GRANT OPTION;
COMMENT ON FUNCTION snowdrift.create_generator(text, text, @extschema@.snowflake_layout, integer,
        integer, integer, integer, integer, boolean)
    IS 'create named generator; by default with layout snowflake, the server''s node and the whole sequence';

CREATE FUNCTION snowdrift.drop_generator(name text, force boolean DEFAULT false) RETURNS void
    AS 'MODULE_PATHNAME', 'snowdrift_drop_generator'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION snowdrift.drop_generator(text, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION snowdrift.drop_generator(text, boolean) TO @extowner@ WITH GRANT OPTION;
COMMENT ON FUNCTION snowdrift.drop_generator(text, boolean)
    IS 'drop named generator; by default only if no default of a column or domain, and no guard of a table, names it';

CREATE FUNCTION snowdrift.snapshot(generator text) RETURNS jsonb
    AS 'MODULE_PATHNAME', 'snowdrift_snapshot'
    LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
REVOKE ALL ON FUNCTION snowdrift.snapshot(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION snowdrift.snapshot(text) TO @extowner@ WITH GRANT OPTION;
COMMENT ON FUNCTION snowdrift.snapshot(text)
    IS 'definition and state of named generator, for snowdrift.restore';

CREATE FUNCTION snowdrift.restore(generator text, snapshot jsonb) RETURNS void
    AS 'MODULE_PATHNAME', 'snowdrift_restore'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION snowdrift.restore(text, jsonb) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION snowdrift.restore(text, jsonb) TO @extowner@ WITH GRANT OPTION;
COMMENT ON FUNCTION snowdrift.restore(text, jsonb)
    IS 'resume named generator after a snapshot; creates the generator if it does not exist';

CREATE FUNCTION snowdrift.advance("timestamp" timestamptz) RETURNS void
    AS 'MODULE_PATHNAME', 'snowdrift_advance_to_time'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION snowdrift.advance(timestamptz) FROM PUBLIC;
COMMENT ON FUNCTION snowdrift.advance(timestamptz)
    IS 'make all further IDs of this database later than a time';

CREATE FUNCTION snowdrift.advance(id bigint, layout @extschema@.snowflake_layout DEFAULT 'snowflake') RETURNS void
    AS 'MODULE_PATHNAME', 'snowdrift_advance_to_snowflake'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION snowdrift.advance(bigint, @extschema@.snowflake_layout) FROM PUBLIC;
COMMENT ON FUNCTION snowdrift.advance(bigint, @extschema@.snowflake_layout)
    IS 'make all further IDs of this database later than the time of Snowflake ID, after a logical failover';

CREATE FUNCTION snowdrift.advance(id @extschema@.ulid) RETURNS void
    AS 'MODULE_PATHNAME', 'snowdrift_advance_to_ulid'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION snowdrift.advance(@extschema@.ulid) FROM PUBLIC;
COMMENT ON FUNCTION snowdrift.advance(@extschema@.ulid)
    IS 'make all further IDs of this database later than the time of ULID, after a logical failover';

CREATE FUNCTION snowdrift.advance(id uuid) RETURNS void
    AS 'MODULE_PATHNAME', 'snowdrift_advance_to_uuidv7'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION snowdrift.advance(uuid) FROM PUBLIC;
COMMENT ON FUNCTION snowdrift.advance(uuid)
    IS 'make all further IDs of this database later than the time of UUID version 7, after a logical failover';

CREATE FUNCTION snowdrift.advance(id @extschema@.sno) RETURNS void
    AS 'MODULE_PATHNAME', 'snowdrift_advance_to_sno'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION snowdrift.advance(@extschema@.sno) FROM PUBLIC;
COMMENT ON FUNCTION snowdrift.advance(@extschema@.sno)
    IS 'make all further IDs of this database later than the time of sno, after a logical failover';

-- Any role can call it, as it can read the view snowdrift.generators.
CREATE FUNCTION snowdrift.generator_layout(generator text) RETURNS @extschema@.snowflake_layout
    AS 'MODULE_PATHNAME', 'snowdrift_generator_layout'
    LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.generator_layout(text)
    IS 'layout of named generator, for functions that decode its Snowflake IDs';

CREATE FUNCTION snowdrift.read_generators(OUT name text, OUT kind text, OUT layout @extschema@.snowflake_layout,
        OUT datacenter integer, OUT worker integer, OUT partition integer, OUT sequence_min integer,
        OUT sequence_max integer, OUT this_node_only boolean, OUT origin timestamptz, OUT ends timestamptz,
        OUT last_timestamp timestamptz, OUT lead interval, OUT sequence_used real, OUT waiting integer,
        OUT overflow_episodes bigint, OUT overflow_duration interval, OUT regressions bigint)
        RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'snowdrift_read_generators'
    LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowdrift.read_generators() IS 'implementation of view snowdrift.generators';

CREATE VIEW snowdrift.generators AS
    SELECT name, kind, layout, datacenter, worker, partition, sequence_min, sequence_max, this_node_only, origin, ends,
        last_timestamp, lead, sequence_used, waiting, overflow_episodes, overflow_duration, regressions
    FROM snowdrift.read_generators();
COMMENT ON VIEW snowdrift.generators
    IS 'definition and state of all generators of this database; the default ones have no name';
COMMENT ON COLUMN snowdrift.generators.name IS 'name of generator; null for the default generators';
COMMENT ON COLUMN snowdrift.generators.kind IS 'kind of its IDs: snowflake, sno, ulid or uuidv7';
COMMENT ON COLUMN snowdrift.generators.layout IS 'layout of its Snowflake IDs; null for other kinds';
COMMENT ON COLUMN snowdrift.generators.datacenter IS 'datacenter in its Snowflake IDs; null if not specified';
COMMENT ON COLUMN snowdrift.generators.worker IS 'worker in its Snowflake IDs; null if not specified';
COMMENT ON COLUMN snowdrift.generators.partition IS 'partition in its sno values; null if not specified';
COMMENT ON COLUMN snowdrift.generators.sequence_min IS 'smallest sequence number in its IDs; null for the default generators';
COMMENT ON COLUMN snowdrift.generators.sequence_max IS 'largest sequence number in its IDs; null for the default generators';
COMMENT ON COLUMN snowdrift.generators.this_node_only IS 'true if no other node of a Citus cluster generates IDs with this definition; null for the default generators';
COMMENT ON COLUMN snowdrift.generators.origin IS 'time from which it issues Snowflake IDs; snowflake_at accepts earlier times; null if unknown, and for other kinds';
COMMENT ON COLUMN snowdrift.generators.ends IS 'time of the last ID that its format or layout can represent';
COMMENT ON COLUMN snowdrift.generators.last_timestamp IS 'time of the last ID; null if there is none since the server started; for Snowflakes, reading a watermark can advance it to the time unit before the clock''s';
COMMENT ON COLUMN snowdrift.generators.lead IS 'how far the time of the last ID is ahead of the clock';
COMMENT ON COLUMN snowdrift.generators.sequence_used IS 'share of the sequence numbers of the clock''s time unit that are used, 0 .. 1; null while IDs are ahead of that unit, if there is none since the server started, and for ULIDs and UUIDs';
COMMENT ON COLUMN snowdrift.generators.waiting IS 'number of calls that currently wait for the clock';
COMMENT ON COLUMN snowdrift.generators.overflow_episodes IS 'number of overflow episodes: periods in which calls waited, without a pause of a second';
COMMENT ON COLUMN snowdrift.generators.overflow_duration IS 'duration of the current overflow episode; 0 if there is none';
COMMENT ON COLUMN snowdrift.generators.regressions IS 'how often the clock was set back behind the last ID; null for ULIDs and UUIDs';
GRANT SELECT ON snowdrift.generators TO PUBLIC;

-- Watermarks

CREATE FUNCTION snowdrift.read_watermark_holders(OUT pid integer, OUT transaction xid8, OUT kind text, OUT generator text,
        OUT lowest timestamptz)
        RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'snowdrift_read_watermark_holders'
    LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowdrift.read_watermark_holders() IS 'implementation of view snowdrift.watermark_holders';

CREATE VIEW snowdrift.watermark_holders AS
    SELECT h.pid, p.gid, COALESCE(a.xact_start, p.prepared) AS since, h.kind, h.generator, h.lowest, a.query
    FROM snowdrift.read_watermark_holders() AS h
        LEFT JOIN pg_catalog.pg_stat_activity AS a ON a.pid OPERATOR(pg_catalog.=) h.pid
        LEFT JOIN pg_catalog.pg_prepared_xacts AS p ON p.transaction OPERATOR(pg_catalog.=) h.transaction::pg_catalog.xid;
COMMENT ON VIEW snowdrift.watermark_holders
    IS 'transactions in progress that hold back watermarks, with a row for each generator';
COMMENT ON COLUMN snowdrift.watermark_holders.pid IS 'process; null for a prepared transaction';
COMMENT ON COLUMN snowdrift.watermark_holders.gid IS 'identifier of a prepared transaction; otherwise null';
COMMENT ON COLUMN snowdrift.watermark_holders.since IS 'when the transaction began, or was prepared';
COMMENT ON COLUMN snowdrift.watermark_holders.kind IS 'kind of IDs of the generator';
COMMENT ON COLUMN snowdrift.watermark_holders.generator IS 'name of the generator; null for a default one';
COMMENT ON COLUMN snowdrift.watermark_holders.lowest IS 'lower bound of the times of the transaction''s IDs; -infinity if unknown';
COMMENT ON COLUMN snowdrift.watermark_holders.query IS 'last query of the process';
GRANT SELECT ON snowdrift.watermark_holders TO PUBLIC;

CREATE FUNCTION snowdrift.hold_row() RETURNS trigger
    AS 'MODULE_PATHNAME', 'snowdrift_hold_row'
    LANGUAGE C;
COMMENT ON FUNCTION snowdrift.hold_row()
    IS 'trigger of snowdrift.guard_watermark: hold back the watermark at the row''s ID, or raise an error if readers may have passed it';

CREATE FUNCTION snowdrift.guard_watermark("table" regclass, "column" name) RETURNS void
    AS 'MODULE_PATHNAME', 'snowdrift_guard_watermark'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION snowdrift.guard_watermark(regclass, name)
    IS 'create trigger that holds back the watermark at IDs that were not drawn in the inserting transaction, and raises an error for rows that readers may have passed';

CREATE FUNCTION snowdrift.unguard_watermark("table" regclass, "column" name) RETURNS void
    AS 'MODULE_PATHNAME', 'snowdrift_unguard_watermark'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION snowdrift.unguard_watermark(regclass, name)
    IS 'remove the trigger of snowdrift.guard_watermark';

-- The IDs of past times that snowflake_at() has returned. A row states that a generator has used the sequence numbers
-- of a unit up to a number; the row with the greatest number applies. The library adds rows without triggers, and
-- removes rows with lower numbers and the rows of dropped generators.
CREATE TABLE snowdrift_tables.backfill (
    generator integer NOT NULL,
    sequence integer NOT NULL,
    unit bigint NOT NULL
) USING heap;
COMMENT ON TABLE snowdrift_tables.backfill
    IS 'sequence numbers in the IDs that snowflake_at has returned; do not change by hand';
COMMENT ON COLUMN snowdrift_tables.backfill.generator IS 'id of generator; 0 for the default one';
COMMENT ON COLUMN snowdrift_tables.backfill.sequence IS 'sequence number up to which the time unit is used up';
COMMENT ON COLUMN snowdrift_tables.backfill.unit IS 'time unit, counted from the epoch of the layout';
CREATE INDEX backfill_used ON snowdrift_tables.backfill USING btree (generator, unit, sequence);
COMMENT ON INDEX snowdrift_tables.backfill_used IS 'finds the greatest sequence number of a time unit';
GRANT SELECT, INSERT ON TABLE snowdrift_tables.backfill TO @extowner@;
SELECT pg_catalog.pg_extension_config_dump('snowdrift_tables.backfill'::pg_catalog.regclass, '');

-- Logical replication does not apply the records of another server.
CREATE FUNCTION snowdrift_tables.guard_backfill() RETURNS trigger
    AS 'MODULE_PATHNAME', 'snowdrift_guard_backfill'
    LANGUAGE C;
REVOKE ALL ON FUNCTION snowdrift_tables.guard_backfill() FROM PUBLIC;
COMMENT ON FUNCTION snowdrift_tables.guard_backfill() IS 'refuse changes; skip rows of another server';
CREATE TRIGGER guard_backfill
    BEFORE INSERT OR UPDATE OR DELETE ON snowdrift_tables.backfill
    FOR EACH ROW EXECUTE FUNCTION snowdrift_tables.guard_backfill();
ALTER TABLE snowdrift_tables.backfill ENABLE ALWAYS TRIGGER guard_backfill;
COMMENT ON TRIGGER guard_backfill ON snowdrift_tables.backfill IS 'refuse changes; skip rows of another server';
CREATE TRIGGER refuse_truncate
    BEFORE TRUNCATE ON snowdrift_tables.backfill
    FOR EACH STATEMENT EXECUTE FUNCTION snowdrift_tables.refuse_truncate();
ALTER TABLE snowdrift_tables.backfill ENABLE ALWAYS TRIGGER refuse_truncate;
COMMENT ON TRIGGER refuse_truncate ON snowdrift_tables.backfill
    IS 'raise an error, because logical replication would remove records of other servers';

CREATE FUNCTION @extschema@.snowflake_at("timestamp" timestamptz) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowdrift_snowflake_at'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.snowflake_at(timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION @extschema@.snowflake_at(timestamptz) TO @extowner@ WITH GRANT OPTION;
COMMENT ON FUNCTION @extschema@.snowflake_at(timestamptz)
    IS 'generate Snowflake ID for a time before the extension was installed, for back-filling tables';

CREATE FUNCTION @extschema@.snowflake_at("timestamp" timestamptz, generator text) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowdrift_snowflake_at_of'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.snowflake_at(timestamptz, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION @extschema@.snowflake_at(timestamptz, text) TO @extowner@ WITH GRANT OPTION;
COMMENT ON FUNCTION @extschema@.snowflake_at(timestamptz, text)
    IS 'generate Snowflake ID from named generator for a time before its creation, for back-filling tables';

CREATE FUNCTION @extschema@.snowflake_watermark(generator text) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowdrift_snowflake_watermark_of'
    LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION @extschema@.snowflake_watermark(text)
    IS 'watermark of named generator: all transactions that have drawn lower Snowflake IDs from it have ended';

CREATE FUNCTION @extschema@.next_snowflake(generator text) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowdrift_next_snowflake_of'
    LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION @extschema@.next_snowflake(text)
    IS 'generate new Snowflake ID from named generator';

CREATE FUNCTION @extschema@.next_snowflakes(n integer, generator text) RETURNS SETOF bigint
    AS 'MODULE_PATHNAME', 'snowdrift_next_snowflakes_of'
    LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION @extschema@.next_snowflakes(integer, text)
    IS 'generate n new Snowflake IDs from named generator, in ascending order';

CREATE FUNCTION @extschema@.next_sno(generator text, metabyte integer DEFAULT 0)
        RETURNS @extschema@.sno
    AS 'MODULE_PATHNAME', 'snowdrift_next_sno_of'
    LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION @extschema@.next_sno(text, integer) IS 'generate new sno from named generator';

CREATE FUNCTION @extschema@.sno_at("timestamp" timestamptz, metabyte integer, generator text)
        RETURNS @extschema@.sno
    AS 'MODULE_PATHNAME', 'snowdrift_sno_at_of'
    LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION @extschema@.sno_at(timestamptz, integer, text)
    IS 'generate sno for given time from named generator; for migrating older IDs';

-- Partitions. These functions run with the caller's privileges.

CREATE FUNCTION snowdrift.create_partitions(parent regclass, step interval, first timestamptz DEFAULT NULL,
        last timestamptz DEFAULT NULL, layout @extschema@.snowflake_layout DEFAULT NULL) RETURNS SETOF regclass
    AS 'MODULE_PATHNAME', 'snowdrift_create_partitions'
    LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowdrift.create_partitions(regclass, interval, timestamptz, timestamptz,
        @extschema@.snowflake_layout)
    IS 'create missing partitions, from the one that contains first to the one that contains last, and return them; by default, from now() to three steps later';

CREATE FUNCTION snowdrift.partitions(parent regclass, layout @extschema@.snowflake_layout DEFAULT NULL,
        OUT partition regclass, OUT times tstzrange) RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'snowdrift_partitions'
    LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.partitions(regclass, @extschema@.snowflake_layout)
    IS 'partitions of a table, each with the times of its IDs; times are null for a default partition and if a bound is not an ID';

-- The functions have different names, because a call with an untyped literal could not choose between overloads.
CREATE FUNCTION snowdrift.drop_partitions(parent regclass, older_than interval,
        layout @extschema@.snowflake_layout DEFAULT NULL, dry_run boolean DEFAULT false,
        OUT partition text, OUT times tstzrange) RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'snowdrift_drop_partitions_by_age'
    LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowdrift.drop_partitions(regclass, interval, @extschema@.snowflake_layout, boolean)
    IS 'drop partitions whose IDs are all older than an age, and return them; a dry run only returns them';

CREATE FUNCTION snowdrift.drop_partitions_before(parent regclass, "timestamp" timestamptz,
        layout @extschema@.snowflake_layout DEFAULT NULL, dry_run boolean DEFAULT false,
        OUT partition text, OUT times tstzrange) RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'snowdrift_drop_partitions_before'
    LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowdrift.drop_partitions_before(regclass, timestamptz, @extschema@.snowflake_layout, boolean)
    IS 'drop partitions whose IDs are all older than a time, and return them; a dry run only returns them';

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

-- Migration. audit() runs with the caller's privileges, the other functions with those of the tables' owner.

CREATE FUNCTION snowdrift.convert_keys(tables regclass[], generator text DEFAULT NULL,
        dry_run boolean DEFAULT false) RETURNS SETOF text
    AS 'MODULE_PATHNAME', 'snowdrift_convert_keys'
    LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowdrift.convert_keys(regclass[], text, boolean)
    IS 'make Snowflake IDs the default of the serial and identity columns of primary keys, and return the statements; a dry run only returns them';

CREATE FUNCTION snowdrift.convert_column("table" regclass, "column" name, generator text DEFAULT NULL,
        dry_run boolean DEFAULT false) RETURNS SETOF text
    AS 'MODULE_PATHNAME', 'snowdrift_convert_column'
    LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowdrift.convert_column(regclass, name, text, boolean)
    IS 'make Snowflake IDs the default of a serial or identity key, and return the statements; a dry run only returns them';

CREATE FUNCTION snowdrift.audit("table" regclass, "column" name,
        layout @extschema@.snowflake_layout DEFAULT NULL, sample real DEFAULT NULL,
        since timestamptz DEFAULT NULL,
        OUT finding text, OUT datacenter integer, OUT worker integer, OUT partition integer, OUT count bigint,
        OUT first_timestamp timestamptz, OUT last_timestamp timestamptz, OUT min text, OUT max text,
        OUT layout @extschema@.snowflake_layout)
        RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'snowdrift_audit'
    LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowdrift.audit(regclass, name, @extschema@.snowflake_layout, real, timestamptz)
    IS 'summary of a column of IDs: a row for the IDs of each node, and rows for values that are too small, later than now, not IDs, or UUIDs of another version; sample is a percentage';

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
