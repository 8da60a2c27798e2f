\echo Use "CREATE EXTENSION snowdrift" to load this file. \quit

-- make scripts puts this script together from src/sql; change it there.
--
-- This script may run as a superuser in a schema where other roles can create objects. Therefore
-- unqualified names resolve only in pg_catalog, and all other names are qualified.
--
-- Users find what they call in the extension's schema: types, operators and functions. The functions that implement
-- types, operators, casts and aggregates, and those for the planner, are in the schema snowdrift, as is administration.
SET LOCAL search_path = pg_catalog, pg_temp;

-- Administration (schema snowdrift)

CREATE SCHEMA snowdrift;
CREATE SCHEMA snowdrift_tables;
-- What ALTER DEFAULT PRIVILEGES has granted: functions that other roles create here could run as the owner. end.sql has the
-- objects in the schemas.
DO $$
DECLARE
    revocation text;
BEGIN
    FOR revocation IN SELECT format('REVOKE ALL ON SCHEMA %I FROM %s CASCADE', nspname, CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END)
            FROM pg_namespace, aclexplode(nspacl) AS a WHERE nspname IN ('snowdrift', 'snowdrift_tables') AND a.grantee <> nspowner LOOP
        EXECUTE revocation;
    END LOOP;
END $$;
COMMENT ON SCHEMA snowdrift IS 'administration of Snowdrift''s ID generators, and implementation of its types, operators and casts';
GRANT USAGE ON SCHEMA snowdrift TO PUBLIC;

-- Other roles cannot use the schema of the tables. Otherwise, any role could lock the tables without a privilege on them,
-- with statements such as PREPARE and CREATE RULE, and thus block all sessions that draw. The views are based on
-- functions, which release their locks.
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
    origin timestamptz,
    spread boolean NOT NULL DEFAULT false
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
COMMENT ON COLUMN snowdrift_tables.generator.spread IS 'true if the first sequence number of each time unit is one of the lowest sixteenth';
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
        this_node_only boolean DEFAULT false, spread boolean DEFAULT false) RETURNS void
    AS 'MODULE_PATHNAME', 'snowdrift_create_generator'
    LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION snowdrift.create_generator(text, text, @extschema@.snowflake_layout, integer,
    integer, integer, integer, integer, boolean, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION snowdrift.create_generator(text, text, @extschema@.snowflake_layout, integer,
    integer, integer, integer, integer, boolean, boolean) TO @extowner@ WITH GRANT OPTION;
COMMENT ON FUNCTION snowdrift.create_generator(text, text, @extschema@.snowflake_layout, integer,
        integer, integer, integer, integer, boolean, boolean)
    IS 'create named generator; by default with layout snowflake, the server''s node and the whole sequence';

CREATE FUNCTION snowdrift.drop_generator(name text, force boolean DEFAULT false) RETURNS void
    AS 'MODULE_PATHNAME', 'snowdrift_drop_generator'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION snowdrift.drop_generator(text, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION snowdrift.drop_generator(text, boolean) TO @extowner@ WITH GRANT OPTION;
COMMENT ON FUNCTION snowdrift.drop_generator(text, boolean)
    IS 'drop named generator; by default only if no default of a column or domain, and no watch of a table, names it';

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
        OUT sequence_max integer, OUT spread boolean, OUT this_node_only boolean, OUT origin timestamptz, OUT ends timestamptz,
        OUT last_timestamp timestamptz, OUT lead interval, OUT sequence_used real, OUT waiting integer,
        OUT overflow_episodes bigint, OUT overflow_duration interval, OUT regressions bigint)
        RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'snowdrift_read_generators'
    LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowdrift.read_generators() IS 'implementation of view snowdrift.generators';

CREATE VIEW snowdrift.generators AS
    SELECT name, kind, layout, datacenter, worker, partition, sequence_min, sequence_max, spread, this_node_only, origin, ends,
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
COMMENT ON COLUMN snowdrift.generators.spread IS 'true if the first sequence number of each time unit is one of the lowest sixteenth; null for the default generators';
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

CREATE FUNCTION snowdrift.hold_row() RETURNS trigger
    AS 'MODULE_PATHNAME', 'snowdrift_hold_row'
    LANGUAGE C;
COMMENT ON FUNCTION snowdrift.hold_row()
    IS 'trigger of snowdrift.watch: hold back the watermark at the row''s ID, or raise an error if readers may have passed it';

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

-- The IDs in a column, of any type, for the tools. The kinds of IDs are those of generators, and uuidv7 and ulid. These
-- functions are what the tools need to know of types; the SQL edition has its own.

CREATE FUNCTION snowdrift.id_kind(type regtype) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN CASE type WHEN 'bigint'::regtype THEN 'snowflake' WHEN 'uuid'::regtype THEN 'uuidv7'
        WHEN '@extschema@.ulid'::regtype THEN 'ulid' WHEN '@extschema@.sno'::regtype THEN 'sno' END;
COMMENT ON FUNCTION snowdrift.id_kind(regtype) IS 'kind of IDs in columns of type; null for other types';

CREATE FUNCTION snowdrift.id_times(kind text, layout @extschema@.snowflake_layout, OUT first timestamptz, OUT last timestamptz)
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT CASE kind WHEN 'snowflake' THEN @extschema@.snowflake_timestamp(0, layout)
            WHEN 'sno' THEN @extschema@.sno_timestamp(snowdrift.first_sno_within('(,)'::tstzrange))
            ELSE @extschema@.ulid_timestamp(@extschema@.ulid_nil()) END,
        CASE kind WHEN 'snowflake' THEN @extschema@.snowflake_timestamp(snowdrift.last_snowflake_within('(,)'::tstzrange, layout), layout)
            WHEN 'sno' THEN @extschema@.sno_timestamp(snowdrift.last_sno_within('(,)'::tstzrange))
            ELSE @extschema@.ulid_timestamp(@extschema@.ulid_max()) END;
END;
COMMENT ON FUNCTION snowdrift.id_times(text, @extschema@.snowflake_layout) IS 'first and last time of kind of IDs';

CREATE FUNCTION snowdrift.id_boundary(kind text, "timestamp" timestamptz, layout @extschema@.snowflake_layout) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE kind WHEN 'snowflake' THEN @extschema@.snowflake_boundary("timestamp", layout)::text
        WHEN 'uuidv7' THEN @extschema@.uuidv7_boundary("timestamp")::text
        WHEN 'ulid' THEN @extschema@.ulid_boundary("timestamp")::text
        WHEN 'sno' THEN @extschema@.sno_boundary("timestamp")::text END;
COMMENT ON FUNCTION snowdrift.id_boundary(text, timestamptz, @extschema@.snowflake_layout)
    IS 'text of smallest ID at or after a time';

CREATE FUNCTION snowdrift.id_timestamp(kind text, id text, layout @extschema@.snowflake_layout) RETURNS timestamptz
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE kind WHEN 'snowflake' THEN CASE WHEN id::bigint BETWEEN 0 AND snowdrift.last_snowflake_within('(,)'::tstzrange, layout)
            THEN @extschema@.snowflake_timestamp(id::bigint, layout) END
        WHEN 'uuidv7' THEN @extschema@.uuidv7_timestamp(id::uuid)
        WHEN 'ulid' THEN @extschema@.ulid_timestamp(id::@extschema@.ulid)
        WHEN 'sno' THEN @extschema@.sno_timestamp(id::@extschema@.sno) END;
COMMENT ON FUNCTION snowdrift.id_timestamp(text, text, @extschema@.snowflake_layout)
    IS 'time of ID, from its text; null if it is not an ID of the kind';

CREATE FUNCTION snowdrift.is_same_layout(a @extschema@.snowflake_layout, b @extschema@.snowflake_layout) RETURNS boolean
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN a OPERATOR(@extschema@.=) b;
COMMENT ON FUNCTION snowdrift.is_same_layout(@extschema@.snowflake_layout, @extschema@.snowflake_layout)
    IS 'whether IDs of two layouts have the same fields';

-- The functions in the table's constraints and indexes neither get the caller's privileges nor can they set the role.
CREATE FUNCTION snowdrift.run_as_owner("table" regclass, statement text) RETURNS text
    AS 'MODULE_PATHNAME', 'snowdrift_run_as_owner'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION snowdrift.run_as_owner(regclass, text)
    IS 'execute statement as owner of a table, of whose role the caller must be a member; returns the first value';

CREATE FUNCTION snowdrift.layout_of(generator text) RETURNS @extschema@.snowflake_layout LANGUAGE sql STABLE PARALLEL RESTRICTED
BEGIN ATOMIC
    SELECT g.layout FROM snowdrift.generators AS g WHERE g.name = generator AND g.kind = 'snowflake';
END;
COMMENT ON FUNCTION snowdrift.layout_of(text) IS 'layout of a named generator of Snowflakes; null if there is none';

-- What reading new rows needs to know of generators

CREATE FUNCTION snowdrift.kinds_with_watermarks() RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN '{snowflake,ulid,uuidv7}'::text[];
COMMENT ON FUNCTION snowdrift.kinds_with_watermarks() IS 'kinds of IDs whose generators have watermarks';

-- This function and generator_watermark() are in PL/pgSQL, so a caller needs EXECUTE only on the function that is called. In SQL, it would
-- need EXECUTE on all, even those of named generators.
CREATE FUNCTION snowdrift.draw(kind text, generator text) RETURNS boolean LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF kind = 'ulid' THEN
        RETURN @extschema@.next_ulid() IS NOT NULL;
    ELSIF kind = 'uuidv7' THEN
        RETURN @extschema@.next_uuidv7() IS NOT NULL;
    ELSIF generator <> '' THEN
        RETURN @extschema@.next_snowflake(generator) IS NOT NULL;
    ELSE
        RETURN @extschema@.next_snowflake() IS NOT NULL;
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.draw(text, text) IS 'draw an ID; an empty name stands for the default generator';

CREATE FUNCTION snowdrift.drawn_ids("table" regclass, attnum smallint, OUT kind text, OUT generator text)
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    generator := snowdrift.drawn_generator("table", attnum);
    kind := CASE WHEN generator IS NOT NULL THEN 'snowflake' ELSE
        (SELECT CASE pg_get_expr(coalesce(d.adbin, t.typdefaultbin), "table") WHEN '@extschema@.next_ulid()'::regprocedure::text THEN 'ulid'
             WHEN '@extschema@.next_uuidv7()'::regprocedure::text THEN 'uuidv7' END
         FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
         WHERE a.attrelid = "table" AND a.attnum = drawn_ids.attnum) END;
    generator := CASE WHEN kind IS NOT NULL THEN coalesce(generator, '') END;
END $$;
COMMENT ON FUNCTION snowdrift.drawn_ids(regclass, smallint)
    IS 'kind and name of the generator from which a column''s default draws; null if it has no watermark';

CREATE FUNCTION snowdrift.state_of(generator text) RETURNS oid LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN NULL::oid;
COMMENT ON FUNCTION snowdrift.state_of(text) IS 'sequence that is the state of a generator; null, because the library has the states';

CREATE FUNCTION snowdrift.generator_identity(generator text) RETURNS text LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT coalesce((SELECT concat_ws('/', g.layout::text, g.datacenter, g.worker, g.sequence_min, g.sequence_max, extract(epoch FROM g.origin)) FROM snowdrift.generators AS g WHERE g.name = generator AND g.kind = 'snowflake'), '');
END;
COMMENT ON FUNCTION snowdrift.generator_identity(text)
    IS 'definition of a generator of Snowflakes, and the time from which it issues IDs; empty for the default ones';

CREATE FUNCTION snowdrift.generator_watermark(kind text, generator text, OUT last bigint, OUT watermark text)
    LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF kind = 'ulid' THEN
        watermark := @extschema@.ulid_watermark();
    ELSIF kind = 'uuidv7' THEN
        watermark := @extschema@.uuidv7_watermark();
    ELSIF generator <> '' THEN
        watermark := @extschema@.snowflake_watermark(generator);
    ELSE
        watermark := @extschema@.snowflake_watermark();
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.generator_watermark(text, text)
    IS 'watermark of a generator, as text; the last number is null, because IDs can be ahead of it';

-- Tables whose rows belong to this server: a trigger that is enabled as REPLICA keeps those of other servers out.

-- Logical replication applies no row of another server. Its workers run no query.
CREATE FUNCTION snowdrift_tables.skip_row() RETURNS trigger
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF current_setting('session_replication_role') = 'replica' THEN
        IF current_query() IS NOT NULL THEN
            RAISE 'cannot change table "%" while session_replication_role is "replica"', TG_RELID::regclass USING ERRCODE = '55000',
                HINT = 'To restore a dump, set session_replication_role to "origin".';
        END IF;
        RETURN NULL;
    END IF;
    RETURN coalesce(NEW, OLD);    -- after ENABLE TRIGGER ALL, as of pg_dump --disable-triggers
END $$;
COMMENT ON FUNCTION snowdrift_tables.skip_row() IS 'trigger: skip rows of another server';

-- What the tools check before they change tables, and how they lock the tables.
--
-- Functions that read the catalog and build statements set the search path. Those that execute statements on users' tables
-- do not: functions in indexes, defaults and triggers rely on the caller's path. These functions qualify all names.

CREATE FUNCTION snowdrift.check_can_change(function text, dry_run boolean) RETURNS void
    LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT dry_run AND current_setting('transaction_read_only')::boolean THEN
        RAISE 'cannot execute % in a read-only transaction', function USING ERRCODE = '25006';
    ELSIF current_setting('transaction_isolation') IN ('repeatable read', 'serializable') THEN
        RAISE 'cannot execute % in a transaction with isolation level "%"', function, current_setting('transaction_isolation')
            USING ERRCODE = '25001', DETAIL = 'Tables can have changed since the transaction''s snapshot.', HINT = 'Use READ COMMITTED.';
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.check_can_change(text, boolean) IS 'ensure that the transaction is neither read-only nor has an old snapshot of the catalog';

CREATE FUNCTION snowdrift.check_owner("table" regclass) RETURNS pg_class
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    t pg_class;
BEGIN
    SELECT * INTO t FROM pg_class AS c WHERE c.oid = "table";
    IF "table" IS NULL THEN
        RAISE 'table must not be null' USING ERRCODE = '22004';
    ELSIF NOT FOUND THEN
        RAISE 'relation with OID % does not exist', "table"::oid USING ERRCODE = '42P01';
    ELSIF NOT pg_has_role(t.relowner, 'USAGE') THEN
        RAISE 'must be owner of table %', t.relname USING ERRCODE = '42501', HINT = format('Use SET ROLE %s.', t.relowner::regrole);
    END IF;
    RETURN t;
END $$;
COMMENT ON FUNCTION snowdrift.check_owner(regclass) IS 'ensure that a table exists, and that the caller is its owner or a member of that role; returns its row of pg_class';

-- The names of temporary tables can be those of others on the caller's search path.
CREATE FUNCTION snowdrift.check_parent(parent regclass) RETURNS void
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    t CONSTANT pg_class := snowdrift.check_owner(parent);
BEGIN
    IF t.relpersistence = 't' THEN
        RAISE 'table "%" is temporary', t.relname USING ERRCODE = '0A000', HINT = 'Create and drop its partitions by hand.';
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.check_parent(regclass)
    IS 'ensure that a table exists and is not temporary, and that the caller is its owner or a member of that role';

CREATE FUNCTION snowdrift.qualified_name(relation regclass) RETURNS text
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    name CONSTANT text := (pg_identify_object('pg_class'::regclass, relation, 0)).identity;    -- the present one, not the snapshot's
BEGIN
    IF name IS NULL THEN
        RAISE 'relation with OID % does not exist', relation::oid USING ERRCODE = '42P01';
    END IF;
    RETURN name;
END $$;
COMMENT ON FUNCTION snowdrift.qualified_name(regclass) IS 'name of relation with its schema, quoted';

-- The type of which a domain is made, also through other domains
CREATE FUNCTION snowdrift.base_type(type oid) RETURNS oid LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    base oid := type;
BEGIN
    WHILE base <> 0 LOOP
        type := base;
        base := (SELECT t.typbasetype FROM pg_type AS t WHERE t.oid = type);
    END LOOP;
    RETURN type;
END $$;
COMMENT ON FUNCTION snowdrift.base_type(oid) IS 'type of which a domain is made, also through other domains; any other type itself';

CREATE FUNCTION snowdrift.with_partitions(tables regclass[]) RETURNS regclass[]
    LANGUAGE sql STABLE STRICT SET search_path = pg_catalog, pg_temp AS $$
    SELECT array_agg(t) FROM (SELECT t FROM unnest(tables) AS t UNION SELECT p.relid FROM unnest(tables) AS t, pg_partition_tree(t) AS p) AS trees
$$;
COMMENT ON FUNCTION snowdrift.with_partitions(regclass[]) IS 'tables and their partitions, also those of partitions';

-- A superuser who owns a table is a member of all roles, but has not decided to trust them.
CREATE FUNCTION snowdrift.tables_of_others("table" regclass, tables regclass[]) RETURNS regclass[]
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT array_agg(c.oid::regclass ORDER BY c.oid) FROM pg_class AS c, pg_class AS t JOIN pg_roles AS r ON r.oid = t.relowner
    WHERE t.oid = "table" AND c.oid = ANY (tables) AND c.relowner <> r.oid AND (r.rolsuper OR NOT pg_has_role(r.oid, c.relowner, 'USAGE'))
$$;
COMMENT ON FUNCTION snowdrift.tables_of_others(regclass, regclass[])
    IS 'those of tables that belong to roles whose privileges the owner of a table does not have';

CREATE FUNCTION snowdrift.check_owners("table" regclass, tables regclass[]) RETURNS void
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    owner CONSTANT regrole := (SELECT c.relowner FROM pg_class AS c WHERE c.oid = "table");
    others CONSTANT text := (SELECT string_agg(format('%s (%s)', c.oid::regclass, c.relowner::regrole), ', ' ORDER BY c.oid)
        FROM pg_class AS c WHERE c.oid = ANY (snowdrift.tables_of_others("table", tables)));
BEGIN
    IF others IS NOT NULL THEN
        RAISE 'must be owner of all tables that are read' USING ERRCODE = '42501', DETAIL = format('Tables of other roles than %s: %s.', owner, others),
            HINT = format('Functions in their expressions, constraints and policies would have the privileges of %1$s. '
                'Give all of these tables the same owner, or grant the other roles to %1$s.', owner);
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.check_owners(regclass, regclass[])
    IS 'ensure that no function in the expressions of tables gets privileges that the table''s owner lacks';

CREATE FUNCTION snowdrift.lock_against_changes("table" regclass) RETURNS void
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    EXECUTE format('LOCK TABLE ONLY %s IN SHARE UPDATE EXCLUSIVE MODE', "table");
END $$;
COMMENT ON FUNCTION snowdrift.lock_against_changes(regclass)
    IS 'lock a table against concurrent changes of its definition and its partitions, but not of its rows';

-- The statements that lock relations, in steps: views first, as queries do, then tables against writers, then sequences, and
-- finally tables against readers. LOCK TABLE rejects sequences and foreign tables, and locks the tables of a view with it. To
-- lock only these relations, set their owner to its current value.
CREATE FUNCTION snowdrift.lock_requests(relations regclass[], OUT step integer, OUT n bigint, OUT request text) RETURNS SETOF record
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT r.step, u.n, r.request FROM unnest(relations) WITH ORDINALITY AS u(relation, n) JOIN pg_class AS c ON c.oid = u.relation, LATERAL (VALUES
        (1, '{v}', format('ALTER VIEW %s OWNER TO %s', u.relation, c.relowner::regrole)),
        (2, '{r,p}', format('LOCK TABLE ONLY %s IN SHARE ROW EXCLUSIVE MODE', u.relation)),
        (3, '{S}', format('ALTER SEQUENCE %s OWNER TO %s', u.relation, c.relowner::regrole)),
        (3, '{f}', format('ALTER FOREIGN TABLE %s OWNER TO %s', u.relation, c.relowner::regrole)),
        (4, '{r,p}', format('LOCK TABLE ONLY %s IN ACCESS EXCLUSIVE MODE', u.relation))) AS r(step, kinds, request)
    WHERE c.relkind = ANY (r.kinds::"char"[]) ORDER BY r.step, u.n
$$;
COMMENT ON FUNCTION snowdrift.lock_requests(regclass[]) IS 'statements that lock tables, views and sequences exclusively, in the order of their steps';

-- While a session waits for a strong lock, all others wait behind it. So each request is short, and between requests the
-- function waits for the transactions that use the relations, unless one of these waits for this one: PostgreSQL does not see
-- such a deadlock. The first lock blocks neither readers nor writers. It may wait for longer, which makes the server cancel an
-- autovacuum; a request that is shorter than deadlock_timeout does not.
CREATE FUNCTION snowdrift.lock_exclusively(relations regclass[]) RETURNS void
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict error
DECLARE
    given CONSTANT text := current_setting('lock_timeout');
    given_ms CONSTANT integer := (SELECT setting FROM pg_settings WHERE name = 'lock_timeout');
    deadline timestamptz;
    wait_ms integer := 50;
    statement text;
    began timestamptz;
    users text[];
    blocked integer;
    try integer := 0;
BEGIN
    FOR statement IN SELECT format('LOCK TABLE ONLY %s IN SHARE UPDATE EXCLUSIVE MODE', r) FROM unnest(relations) AS r JOIN pg_class AS c ON c.oid = r
            WHERE c.relkind IN ('r', 'p') LOOP
        EXECUTE statement;
    END LOOP;
    deadline := CASE given_ms WHEN 0 THEN 'infinity' ELSE clock_timestamp() + make_interval(secs => given_ms / 1000.0) END;
    LOOP
        try := try + 1;
        BEGIN
            began := clock_timestamp();
            -- In alternating order: other sessions lock the relations in one of the two.
            FOR statement IN SELECT r.request FROM snowdrift.lock_requests(relations) AS r ORDER BY r.step, CASE try % 2 WHEN 1 THEN r.n ELSE -r.n END LOOP
                PERFORM set_config('lock_timeout', greatest(1, extract(epoch FROM
                    least(deadline, began + make_interval(secs => wait_ms / 1000.0)) - clock_timestamp()) * 1000)::integer::text, true);
                EXECUTE statement;
            END LOOP;
            PERFORM set_config('lock_timeout', given, true);
            RAISE DEBUG 'relations are locked in attempt %', try;
            RETURN;
        EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
            IF clock_timestamp() >= deadline THEN
                RAISE;
            END IF;
        END;
        users := ARRAY(SELECT DISTINCT virtualtransaction FROM pg_locks WHERE relation = ANY (relations) AND granted AND pid IS DISTINCT FROM pg_backend_pid()
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database()));
        LOOP
            PERFORM pg_sleep_for(least(deadline, clock_timestamp() + interval '100 ms') - clock_timestamp());
            EXIT WHEN clock_timestamp() >= deadline OR NOT EXISTS (SELECT FROM pg_locks
                WHERE relation = ANY (relations) AND granted AND virtualtransaction = ANY (users));
            WITH RECURSIVE waiting(pid) AS (
                SELECT pid FROM pg_locks WHERE NOT granted AND virtualtransaction = ANY (users) UNION SELECT unnest(pg_blocking_pids(pid)) FROM waiting
            )
            SELECT min(w.pid) INTO blocked FROM waiting AS w WHERE pg_backend_pid() = ANY (pg_blocking_pids(w.pid));
            IF blocked IS NOT NULL THEN
                RAISE 'deadlock detected' USING ERRCODE = '40P01', DETAIL = format('Process %s waits for a lock of process %s, which waits for transactions that use the same relations.',
                    blocked, pg_backend_pid()), HINT = 'Repeat the transaction.';
            END IF;
        END LOOP;
        wait_ms := least(wait_ms * 3 / 2, 400);
    END LOOP;
END $$;
COMMENT ON FUNCTION snowdrift.lock_exclusively(regclass[])
    IS 'lock tables, views and sequences exclusively, in short requests until lock_timeout, so that other sessions don''t queue behind a long one';

-- Partitions by time: the key and its layout, listing and creating. A plan is made with a fixed search path; the statements
-- run with the caller's, as the table's owner.

-- What a column's default draws from: the name of a generator of Snowflakes, '' for the default generator, null if neither.
CREATE FUNCTION snowdrift.drawn_generator("table" regclass, attnum smallint) RETURNS text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp
    SET quote_all_identifiers = off SET standard_conforming_strings = on AS $$
DECLARE
    call text := coalesce((SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = "table" AND adnum = attnum),
        (SELECT pg_get_expr(typdefaultbin, 0) FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid
         WHERE a.attrelid = "table" AND a.attnum = drawn_generator.attnum));
    own CONSTANT text[] := snowdrift.next_snowflake_names();
    inner_call text;
    literal text;
BEGIN
    LOOP    -- casts to the column's type
        inner_call := substring(call FROM '^[(](.*)[)]::[^()'']+([(][0-9,]+[)])?$');
        EXIT WHEN inner_call IS NULL;
        call := inner_call;
    END LOOP;
    IF call = own[1] THEN
        RETURN '';
    ELSIF starts_with(call, split_part(own[2], '(', 1) || '(') THEN
        literal := (regexp_match(substr(call, strpos(own[2], '(') + 1),
            '^(?:generator => )?[(]*(E?''(?:[^'']|'''')*'')(?:::[a-z ]+[)]?)*[)]$'))[1];
        RETURN CASE WHEN literal LIKE 'E%' THEN replace(replace(substr(literal, 3, length(literal) - 3), '''''', ''''), E'\\\\', E'\\')
            ELSE replace(substr(literal, 2, length(literal) - 2), '''''', '''') END;
    END IF;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION snowdrift.drawn_generator(regclass, smallint)
    IS 'name of generator of Snowflakes that a column''s default calls; empty for the default generator, null if it calls none';

CREATE FUNCTION snowdrift.next_snowflake_names() RETURNS text[]
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN ARRAY['@extschema@.next_snowflake()'::regprocedure::text, '@extschema@.next_snowflake(text)'::regprocedure::text];
COMMENT ON FUNCTION snowdrift.next_snowflake_names() IS 'names of next_snowflake() and next_snowflake(text)';

-- The layout of a column's Snowflakes: that of the default, or else the stated one. Rows that are inserted into a table of
-- which this one is a partition have the default of that table.
CREATE FUNCTION snowdrift.column_layout("table" regclass, attnum smallint, stated @extschema@.snowflake_layout)
        RETURNS @extschema@.snowflake_layout
    LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict error
DECLARE
    col CONSTANT text := (SELECT a.attname FROM pg_attribute AS a WHERE a.attrelid = "table" AND a.attnum = column_layout.attnum);
    generator text;
    drawn stated%TYPE;
    found_layout stated%TYPE := stated;
    t record;
BEGIN
    FOR t IN SELECT c.oid, c.relname, a.attnum FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
            LEFT JOIN pg_partition_ancestors("table") WITH ORDINALITY AS p(relid, n) ON p.relid = c.oid
            WHERE a.attname = col AND (c.oid = "table" OR p.relid IS NOT NULL) ORDER BY coalesce(p.n, 0) LOOP
        generator := snowdrift.drawn_generator(t.oid, t.attnum);
        drawn := CASE generator WHEN '' THEN 'snowflake' ELSE snowdrift.layout_of(generator) END;
        IF t.oid = "table" AND drawn IS NULL AND stated IS NULL THEN
            IF generator IS NOT NULL AND NOT EXISTS (SELECT FROM snowdrift.generators AS g WHERE g.name = generator) THEN
                RAISE 'ID generator "%" does not exist', generator USING ERRCODE = '42704';
            END IF;
            RAISE 'layout of column "%" of table "%" is unknown', col, t.relname USING ERRCODE = '22023',
                DETAIL = 'The column''s default does not call a generator of Snowflake IDs.', HINT = 'Specify the layout of the column''s IDs.';
        END IF;
        found_layout := coalesce(found_layout, drawn);
        IF NOT snowdrift.is_same_layout(found_layout, drawn) THEN
            RAISE 'layout "%" is not the layout of column "%" of table "%"', found_layout, col, t.relname USING ERRCODE = '22023',
                DETAIL = CASE generator WHEN '' THEN format('The column''s default calls next_snowflake(), whose layout is "%s".', drawn)
                    ELSE format('The column''s default draws from generator "%s", whose layout is "%s".', generator, drawn) END,
                HINT = CASE t.oid WHEN "table" THEN 'Omit the layout.' ELSE 'Give this column and that of the partition the same default.' END;
        END IF;
    END LOOP;
    RETURN found_layout;
END $$;
COMMENT ON FUNCTION snowdrift.column_layout(regclass, smallint, @extschema@.snowflake_layout)
    IS 'layout of the Snowflakes in a column, from its default; otherwise, the layout that the caller has stated';

CREATE FUNCTION snowdrift.partition_key(parent regclass, stated @extschema@.snowflake_layout,
        OUT "column" name, OUT kind text, OUT layout @extschema@.snowflake_layout)
    LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict error
DECLARE
    attnum smallint;
    type oid;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_class AS c WHERE c.oid = parent) THEN
        RAISE 'relation with OID % does not exist', parent::oid USING ERRCODE = '42P01';
    END IF;
    SELECT a.attnum, a.attname, a.atttypid INTO attnum, "column", type FROM pg_partitioned_table AS p
        JOIN pg_attribute AS a ON a.attrelid = p.partrelid AND a.attnum = p.partattrs[0]
        WHERE p.partrelid = parent AND p.partstrat = 'r' AND p.partnatts = 1;
    kind := snowdrift.id_kind(snowdrift.base_type(type));
    IF kind IS NULL THEN
        RAISE 'table "%" is not partitioned by a range of IDs', (SELECT c.relname FROM pg_class AS c WHERE c.oid = parent)
            USING ERRCODE = '42809', HINT = 'The partition key must be a single column of type bigint, ulid, sno or uuid.';
    END IF;
    layout := CASE kind WHEN 'snowflake' THEN snowdrift.column_layout(parent, attnum, stated) END;
END $$;
COMMENT ON FUNCTION snowdrift.partition_key(regclass, @extschema@.snowflake_layout)
    IS 'partition key of a table, the kind of its IDs and their layout';

CREATE FUNCTION snowdrift.announce_layout(parent regclass, layout @extschema@.snowflake_layout, stated @extschema@.snowflake_layout) RETURNS void
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF stated IS NULL AND NOT snowdrift.is_same_layout(layout, 'snowflake') THEN
        RAISE NOTICE 'using layout "%" for the IDs in table "%"', layout, (SELECT c.relname FROM pg_class AS c WHERE c.oid = parent)
            USING DETAIL = 'The default of the partition key draws IDs of this layout.';
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.announce_layout(regclass, @extschema@.snowflake_layout, @extschema@.snowflake_layout)
    IS 'notice with a layout that the caller has not stated';

-- A bound is the text of an ID, or MINVALUE or MAXVALUE. If an upper bound is not the first ID of its time, the partition can
-- contain IDs of that time. of_times: the bounds are first IDs of times, or the upper one is MAXVALUE. Other numbers can be keys of a sequence from before
-- the table had Snowflakes; so can those of the layout's first day, except its first number.
CREATE FUNCTION snowdrift.list_partitions(parent regclass, kind text, layout @extschema@.snowflake_layout,
        OUT partition regclass, OUT lower text, OUT upper text, OUT times tstzrange, OUT of_times boolean) RETURNS SETOF record
    LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    WITH bounds AS MATERIALIZED (
        SELECT c.oid, (b.m)[1] AS lower, (b.m)[2] AS upper,
            CASE WHEN (b.m)[1] <> 'MINVALUE' THEN snowdrift.id_timestamp(kind, (b.m)[1], layout) END AS first,
            CASE WHEN (b.m)[2] <> 'MAXVALUE' THEN snowdrift.id_timestamp(kind, (b.m)[2], layout) END AS last
        FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid CROSS JOIN LATERAL regexp_match(pg_get_expr(c.relpartbound, c.oid),
            '^FOR VALUES FROM [(]''?([^'')]*)''?[)] TO [(]''?([^'')]*)''?[)]$') AS b(m)
        WHERE i.inhparent = parent AND NOT i.inhdetachpending
    ), ends AS MATERIALIZED (
        SELECT t.first, snowdrift.id_boundary(kind, t.first, layout) AS first_id,
            CASE kind WHEN 'snowflake' THEN snowdrift.id_boundary(kind, least(t.first + interval '24:00', t.last), layout)::bigint END AS second_day
        FROM snowdrift.id_times(kind, layout) AS t
    ), timed AS MATERIALIZED (
        SELECT b.*, snowdrift.id_boundary(kind, b.first, layout) = b.lower AS is_first, snowdrift.id_boundary(kind, b.last, layout) = b.upper AS is_last
        FROM bounds AS b
    )
    SELECT t.oid, t.lower, t.upper,
        CASE WHEN (t.lower = 'MINVALUE' OR t.first IS NOT NULL) AND (t.upper = 'MAXVALUE' OR t.last IS NOT NULL)
            THEN tstzrange(t.first, t.last, CASE WHEN t.is_last THEN '[)' ELSE '[]' END) END,
        CASE WHEN kind <> 'snowflake' THEN t.first IS NOT NULL ELSE
            CASE WHEN t.is_first THEN t.lower = e.first_id OR t.lower::bigint >= e.second_day ELSE false END
            AND CASE WHEN t.upper = 'MAXVALUE' THEN true WHEN t.is_last THEN t.upper::bigint >= e.second_day ELSE false END END
    FROM timed AS t, ends AS e ORDER BY t.oid
$$;
COMMENT ON FUNCTION snowdrift.list_partitions(regclass, text, @extschema@.snowflake_layout)
    IS 'partitions of a table, their bounds, the times of their IDs, and whether all bounds are those of times';

CREATE FUNCTION snowdrift.partitions(parent regclass, layout @extschema@.snowflake_layout DEFAULT NULL,
        OUT partition regclass, OUT times tstzrange) RETURNS SETOF record
    LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict error
DECLARE
    key record;
BEGIN
    IF parent IS NOT NULL THEN
        key := snowdrift.partition_key(parent, layout);
        PERFORM snowdrift.announce_layout(parent, key.layout, layout);
        RETURN QUERY SELECT p.partition, p.times FROM snowdrift.list_partitions(parent, key.kind, key.layout) AS p;
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.partitions(regclass, @extschema@.snowflake_layout)
    IS 'partitions of a table, each with the times of its IDs; times are null for a default partition and if a bound is not an ID';

-- Creating partitions

-- Steps are in UTC. Months are counted from January of the year 0, minutes from Monday, 2001-01-01.
CREATE FUNCTION snowdrift.step_months(step interval) RETURNS integer
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    months CONSTANT integer := extract(year FROM step) * 12 + extract(month FROM step);
    seconds CONSTANT numeric := extract(epoch FROM step - make_interval(months => months));
BEGIN
    IF NOT (months > 0 AND seconds = 0 OR months = 0 AND seconds > 0 AND seconds % 60 = 0) THEN
        RAISE 'invalid partition step: "%"', step USING ERRCODE = '22023',
            HINT = 'The step must be a positive whole number of months, or of minutes, hours or days.';
    END IF;
    RETURN months;
END $$;
COMMENT ON FUNCTION snowdrift.step_months(interval) IS 'months in step of partitions; 0 if it is in minutes, hours or days';

CREATE FUNCTION snowdrift.step_begin(step interval, "timestamp" timestamptz) RETURNS timestamp
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    months CONSTANT integer := snowdrift.step_months(step);
    t CONSTANT timestamp := "timestamp" AT TIME ZONE 'UTC';
    n bigint;
BEGIN
    IF months > 0 THEN
        n := extract(year FROM t) * 12 + extract(month FROM t) - 1;
        RETURN timestamp '0001-01-01' + make_interval(months => (n - n % months - 12)::integer);
    END IF;
    n := floor(extract(epoch FROM t - timestamp '2001-01-01') / extract(epoch FROM step)) * (extract(epoch FROM step) / 60);
    RETURN timestamp '2001-01-01' + make_interval(days => (n / 1440)::integer, mins => (n % 1440)::integer);
END $$;
COMMENT ON FUNCTION snowdrift.step_begin(interval, timestamptz) IS 'beginning, in UTC, of the step that contains a time';

CREATE FUNCTION snowdrift.step_end(step interval, "begin" timestamp, n integer) RETURNS timestamp
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN CASE WHEN n * step > interval '100000 years' THEN 'infinity'
        WHEN snowdrift.step_months(step) > 0 THEN "begin" + make_interval(months => n * snowdrift.step_months(step)) ELSE "begin" + n * step END;
COMMENT ON FUNCTION snowdrift.step_end(interval, timestamp, integer)
    IS 'end of the n-th step from one that begins at a time; infinity if it is beyond the times of all IDs';

-- The partitions that do not exist, with the statements that create them. By default, first is now(), and last is three
-- steps later. The first and the last step may extend beyond the times of IDs.
CREATE FUNCTION snowdrift.missing_partitions(parent regclass, step interval, first timestamptz, last timestamptz, kind text,
        layout @extschema@.snowflake_layout, OUT partition text, OUT statements text[], OUT relations regclass[]) RETURNS SETOF record
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict error
DECLARE
    months CONSTANT integer := snowdrift.step_months(step);
    referred CONSTANT regclass[] := ARRAY(SELECT f.confrelid FROM pg_constraint AS f WHERE f.conrelid = parent AND f.contype = 'f');
    is_exclusive CONSTANT boolean := snowdrift.tables_of_others(parent, snowdrift.with_partitions(referred)) IS NOT NULL
        OR EXISTS (SELECT FROM pg_class AS c WHERE c.oid = ANY (referred) AND c.relrowsecurity AND c.relforcerowsecurity);
    -- The times whose IDs all have a partition: without that of a lower bound that is not the first ID of its time.
    covered CONSTANT tstzmultirange := (SELECT range_agg(CASE WHEN lower_inf(p.times) OR p.lower = snowdrift.id_boundary(kind, lower(p.times), layout) THEN p.times
        ELSE p.times - tstzrange(lower(p.times), lower(p.times), '[]') END) FROM snowdrift.list_partitions(parent, kind, layout) AS p WHERE p.times IS NOT NULL);
    t record;
    "begin" timestamp;
    "end" timestamp;
    final timestamp;
    year text;
    name text;
    lower text;
    upper text;
BEGIN
    first := coalesce(first, now());
    PERFORM snowdrift.id_boundary(kind, date_trunc('milliseconds', first), layout),
        snowdrift.id_boundary(kind, date_trunc('milliseconds', last), layout);    -- raise 22008
    SELECT c.relname, (SELECT bool_or(r.relrowsecurity) FROM pg_partition_ancestors(parent) AS a JOIN pg_class AS r ON r.oid = a.relid) AS has_policies, n.nspname, coalesce(a.amname, s.reset_val) AS method, ts.spcname, i.first, i.last INTO STRICT t
        FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace LEFT JOIN pg_am AS a ON a.oid = c.relam
            LEFT JOIN pg_tablespace AS ts ON ts.oid = c.reltablespace, pg_settings AS s, snowdrift.id_times(kind, layout) AS i
        WHERE c.oid = parent AND s.name = 'default_table_access_method';
    -- The rows of a default partition are read, with an exclusive lock.
    relations := CASE WHEN is_exclusive THEN ARRAY[parent] ELSE '{}' END
        || coalesce(snowdrift.with_partitions(ARRAY(SELECT partdefid::regclass FROM pg_partitioned_table WHERE partrelid = parent AND partdefid <> 0)), '{}');
    "begin" := snowdrift.step_begin(step, first);
    final := coalesce(last AT TIME ZONE 'UTC', least(snowdrift.step_end(step, "begin", 3), t.last AT TIME ZONE 'UTC'));
    WHILE "begin" <= final LOOP
        "end" := snowdrift.step_end(step, "begin", 1);
        lower := snowdrift.id_boundary(kind, greatest("begin" AT TIME ZONE 'UTC', t.first), layout);
        upper := CASE WHEN "end" > t.last AT TIME ZONE 'UTC' THEN 'MAXVALUE' ELSE snowdrift.id_boundary(kind, "end" AT TIME ZONE 'UTC', layout) END;
        IF covered @> tstzrange(snowdrift.id_timestamp(kind, lower, layout), CASE WHEN upper <> 'MAXVALUE' THEN snowdrift.id_timestamp(kind, upper, layout) END) IS NOT TRUE THEN
            year := greatest(extract(year FROM "begin"), 0);
            name := format('%s_%s', t.relname, lpad(year, greatest(length(year), 4), '0')) || to_char("begin", CASE WHEN months > 0 THEN '_MM'
                WHEN extract(epoch FROM step) % 86400 = 0 THEN '_MM_DD' ELSE '_MM_DD_HH24MI' END);
            IF octet_length(name) > 63 THEN
                RAISE 'partition name "%" is too long', name USING ERRCODE = '42622';
            END IF;
            partition := format('%I.%I', t.nspname, name);
            upper := CASE upper WHEN 'MAXVALUE' THEN upper ELSE quote_literal(upper) END;
            -- Attaching a separate table does not block readers and writers of the parent. But it queries the tables to which
            -- foreign keys refer: the planner may call functions in their expressions, and forced policies apply.
            statements := CASE WHEN is_exclusive THEN ARRAY[format('CREATE TABLE %s PARTITION OF %s FOR VALUES FROM (%L) TO (%s) USING %I%s',
                    partition, parent, lower, upper, t.method, ' TABLESPACE ' || quote_ident(t.spcname))]
                ELSE ARRAY[format('CREATE TABLE %s (LIKE %s INCLUDING ALL EXCLUDING COMMENTS EXCLUDING IDENTITY EXCLUDING INDEXES EXCLUDING STATISTICS) USING %I%s',
                    partition, parent, t.method, ' TABLESPACE ' || quote_ident(t.spcname)),
                    format('ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM (%L) TO (%s)', parent, partition, lower, upper)] END
                -- Queries of the partition itself do not apply the parent's policies.
                || CASE WHEN t.has_policies THEN ARRAY[format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', partition)] END;
            RETURN NEXT;
        END IF;
        "begin" := "end";
    END LOOP;
END $$;
COMMENT ON FUNCTION snowdrift.missing_partitions(regclass, interval, timestamptz, timestamptz, text, @extschema@.snowflake_layout)
    IS 'partitions that do not exist, and the statements that create them';

CREATE FUNCTION snowdrift.ancestors_and_default(parent regclass) RETURNS regclass[]
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT ARRAY(SELECT pg_partition_ancestors(parent))
        || snowdrift.with_partitions(ARRAY(SELECT partdefid::regclass FROM pg_partitioned_table WHERE partrelid = parent AND partdefid <> 0))
$$;
COMMENT ON FUNCTION snowdrift.ancestors_and_default(regclass)
    IS 'tables above a table and its default partition, whose expressions are in the constraints of new and old partitions';

CREATE FUNCTION snowdrift.check_times(first timestamptz, last timestamptz) RETURNS void
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET datestyle = ISO AS $$
BEGIN
    IF first > last THEN
        RAISE 'first must not be later than last' USING ERRCODE = '22023',
            DETAIL = format('The first time is %s, and the last time is %s.', first, last);
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.check_times(timestamptz, timestamptz) IS 'ensure that times are in order';

CREATE FUNCTION snowdrift.create_partitions(parent regclass, step interval, first timestamptz DEFAULT NULL,
        last timestamptz DEFAULT NULL, layout @extschema@.snowflake_layout DEFAULT NULL) RETURNS SETOF regclass
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET default_tablespace = '' AS $$
#variable_conflict error
DECLARE
    key pg_catalog.record;
    p pg_catalog.record;
    statement pg_catalog.text;
    has_created pg_catalog.bool := false;
BEGIN
    IF parent IS NULL OR step IS NULL THEN
        RETURN;
    END IF;
    PERFORM snowdrift.step_months(step), snowdrift.check_times(coalesce(first, pg_catalog.now()), last),
        snowdrift.check_can_change('snowdrift.create_partitions()', false);
    PERFORM snowdrift.check_parent(parent);
    PERFORM snowdrift.lock_against_changes(parent);    -- blocks sessions that create or detach partitions
    key := snowdrift.partition_key(parent, layout);
    FOR p IN SELECT * FROM snowdrift.missing_partitions(parent, step, first, last, key.kind, key.layout) LOOP
        IF NOT has_created THEN
            PERFORM snowdrift.check_owners(parent, snowdrift.ancestors_and_default(parent));
        END IF;
        PERFORM snowdrift.lock_exclusively(p.relations) WHERE NOT has_created;
        FOREACH statement IN ARRAY p.statements LOOP
            PERFORM snowdrift.run_as_owner(parent, statement);
        END LOOP;
        RETURN NEXT p.partition::pg_catalog.regclass;
        has_created := true;
    END LOOP;
    IF has_created THEN    -- If all partitions exist, a job prints nothing.
        PERFORM snowdrift.announce_layout(parent, key.layout, layout);
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.create_partitions(regclass, interval, timestamptz, timestamptz,
        @extschema@.snowflake_layout)
    IS 'create missing partitions, from the one that contains first to the one that contains last, and return them; by default, from now() to three steps later';

-- Dropping partitions by time: which ones are old, what the rows say about that, and the statements.

CREATE FUNCTION snowdrift.check_age(age interval) RETURNS void
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF extract(year FROM age) = 0 AND extract(month FROM age) = 0 AND extract(day FROM age) = 0 AND extract(epoch FROM age) <> 0 THEN
        RAISE 'older_than must be in days, months or years: "%"', age USING ERRCODE = '22023',
            DETAIL = 'A number without a unit is in seconds, and "m" means minutes.',
            HINT = 'Write for example ''90 days''. For a date, use snowdrift.drop_partitions_before().';
    ELSIF now() - age > now() THEN
        RAISE 'older_than must not be negative: "%"', age USING ERRCODE = '22023';
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.check_age(interval) IS 'ensure that age is in days or longer units, and not negative';

CREATE FUNCTION snowdrift.time_of_age(age interval, newest timestamptz) RETURNS timestamptz
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET timezone = 'UTC'
    RETURN least(now(), newest) - age;
COMMENT ON FUNCTION snowdrift.time_of_age(interval, timestamptz)
    IS 'time that is earlier by an age than now() and than the time of the greatest ID, if it is not null';

CREATE FUNCTION snowdrift.check_past("timestamp" timestamptz) RETURNS void
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF date_trunc('milliseconds', "timestamp") > clock_timestamp() THEN
        RAISE 'timestamp must not be in the future: "%"', "timestamp" USING ERRCODE = '22023';
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.check_past(timestamptz) IS 'ensure that a time is not in the future';

-- New IDs can have a timestamp before now, but not before its time unit.
CREATE FUNCTION snowdrift.present(kind text, layout @extschema@.snowflake_layout) RETURNS timestamptz
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    t CONSTANT timestamptz := date_trunc('milliseconds', clock_timestamp());
    times CONSTANT record := snowdrift.id_times(kind, layout);
    id text;
BEGIN
    IF t NOT BETWEEN times.first AND times.last THEN
        RETURN t;
    END IF;
    id := snowdrift.id_boundary(kind, t, layout);
    RETURN CASE WHEN snowdrift.id_timestamp(kind, id, layout) = t THEN t
        WHEN kind = 'snowflake' THEN snowdrift.id_timestamp(kind, (id::bigint - 1)::text, layout)
        ELSE snowdrift.id_timestamp(kind, id, layout) - interval '4 ms' END;    -- a sno
END $$;
COMMENT ON FUNCTION snowdrift.present(text, @extschema@.snowflake_layout) IS 'earliest time of IDs that are generated from now on';

-- A domain can have operators of its own. Operators of anyarray and the like are in pg_catalog.
CREATE FUNCTION snowdrift.cast_to(type oid) RETURNS text LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT CASE typtype WHEN 'p' THEN '' ELSE '::' || format_type(oid, NULL) END FROM pg_type WHERE oid = type;
END;
COMMENT ON FUNCTION snowdrift.cast_to(oid) IS 'cast to an operator''s type';

-- The partitions that are older than a time and than new IDs, oldest first, with the query that finds a row that refers to
-- one of their rows, and the statements that drop them. Detaching a partition first makes PostgreSQL look for such rows,
-- except, before 15.13, 16.9 and 17.5, for those of the same partitioned table; what these have created stays so.
CREATE FUNCTION snowdrift.old_partitions(parent regclass, "timestamp" timestamptz, kind text, layout @extschema@.snowflake_layout,
        OUT partition regclass, OUT times tstzrange, OUT constraints text[], OUT queries text[], OUT statements text[]) RETURNS SETOF record
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict error
DECLARE
    present CONSTANT timestamptz := snowdrift.present(kind, layout);
    cutoff CONSTANT tstzrange := tstzrange(least("timestamp", present), NULL);
    has_present boolean := kind <> 'snowflake';
    p record;
BEGIN
    FOR p IN SELECT l.*, c.relkind, l.of_times AND l.times << cutoff AS is_old
            FROM snowdrift.list_partitions(parent, kind, layout) AS l JOIN pg_class AS c ON c.oid = l.partition
            ORDER BY is_old, upper(l.times) LOOP
        has_present := has_present OR coalesce(NOT p.times << tstzrange(present, NULL), false);
        CONTINUE WHEN p.is_old IS NOT TRUE;
        IF NOT has_present THEN
            RAISE 'no partition of table "%" contains the present time or later times', (SELECT c.relname FROM pg_class AS c WHERE c.oid = parent)
                USING ERRCODE = '55000', DETAIL = format('In layout "%s", all of its partitions are old.', layout),
                    HINT = 'Check the layout. If it is right, first create partitions with snowdrift.create_partitions().';
        END IF;
        partition := p.partition;
        times := p.times;
        SELECT array_agg(q.conname), array_agg(q.query) INTO constraints, queries FROM (
            SELECT f.conname, format('SELECT pg_catalog.concat(%L, pg_catalog.concat_ws('', '', %s), %L) FROM %s AS r JOIN %s AS p ON %s LIMIT 1',
                format('Key (%s)=(', string_agg(a.attname, ', ' ORDER BY k.n)), string_agg(format('p.%I', b.attname), ', ' ORDER BY k.n),
                format(') is still referenced from table "%s".', c.relname), f.conrelid::regclass, p.partition,
                string_agg(format('p.%I%s OPERATOR(%I.%s) r.%I%s', b.attname, snowdrift.cast_to(o.oprleft), n.nspname, o.oprname, a.attname, snowdrift.cast_to(o.oprright)), ' AND ')) AS query
            FROM pg_constraint AS f CROSS JOIN LATERAL unnest(f.conkey, f.confkey, f.conpfeqop) WITH ORDINALITY AS k(own, other, operator, n)
                JOIN pg_class AS c ON c.oid = f.conrelid
                JOIN pg_attribute AS a ON a.attrelid = f.conrelid AND a.attnum = k.own
                JOIN pg_attribute AS b ON b.attrelid = f.confrelid AND b.attnum = k.other
                JOIN pg_operator AS o ON o.oid = k.operator JOIN pg_namespace AS n ON n.oid = o.oprnamespace
            WHERE f.contype = 'f' AND f.conparentid = 0 AND f.conrelid = f.confrelid
                AND f.confrelid IN (SELECT relid FROM pg_partition_ancestors(parent) AS s(relid))
            GROUP BY f.oid, f.conname, f.conrelid, c.relname) AS q;
        statements := ARRAY[format('ALTER TABLE %s DETACH PARTITION %s', parent, p.partition),
            format('DROP %s %s', CASE p.relkind WHEN 'f' THEN 'FOREIGN TABLE' ELSE 'TABLE' END, p.partition)];
        RETURN NEXT;
    END LOOP;
END $$;
COMMENT ON FUNCTION snowdrift.old_partitions(regclass, timestamptz, text, @extschema@.snowflake_layout)
    IS 'partitions whose IDs are all older than a time, and the statements that drop them';

-- How to read the rows of the partitions that contain IDs of times, from the top: the greatest ID, by index if there is one.
CREATE FUNCTION snowdrift.row_queries(parent regclass, "column" name, kind text, layout @extschema@.snowflake_layout,
        OUT partition regclass, OUT begins timestamptz, OUT greatest_id text, OUT any_row text) RETURNS SETOF record
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT p.partition, lower(p.times), format('SELECT p.%1$I::pg_catalog.text FROM %2$s AS p ORDER BY p.%1$I DESC LIMIT 1', "column", p.partition),
        format('SELECT ''''::pg_catalog.text FROM %s LIMIT 1', p.partition)
    FROM snowdrift.list_partitions(parent, kind, layout) AS p
    WHERE p.times IS NOT NULL AND p.of_times ORDER BY lower(p.times) DESC
$$;
COMMENT ON FUNCTION snowdrift.row_queries(regclass, name, text, @extschema@.snowflake_layout)
    IS 'queries for the greatest ID in each partition, newest first, and for whether it holds rows';

CREATE FUNCTION snowdrift.find_rows(parent regclass, "column" name, kind text, layout @extschema@.snowflake_layout,
        OUT newest timestamptz, OUT partitions regclass[])
    LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict error
DECLARE
    p pg_catalog.record;
    id pg_catalog.text;
BEGIN
    FOR p IN SELECT * FROM snowdrift.row_queries(parent, "column", kind, layout) LOOP
        id := snowdrift.run_as_owner(parent, CASE WHEN newest IS NULL THEN p.greatest_id ELSE p.any_row END);
        IF id IS NOT NULL THEN
            newest := COALESCE(newest, snowdrift.id_timestamp(kind, id, layout), p.begins);
            partitions := pg_catalog.array_append(partitions, p.partition);
        END IF;
    END LOOP;
END $$;
COMMENT ON FUNCTION snowdrift.find_rows(regclass, name, text, @extschema@.snowflake_layout)
    IS 'time of the greatest ID in the partitions of a table, and the partitions that hold rows';

-- The clock can be wrong, and so can the IDs of rows that were inserted meanwhile. Neither moves most of the rows.
CREATE FUNCTION snowdrift.check_share(parent regclass, "timestamp" timestamptz, kind text, layout @extschema@.snowflake_layout,
        partitions regclass[]) RETURNS void
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict error
DECLARE
    old CONSTANT regclass[] := ARRAY(SELECT p.partition FROM snowdrift.old_partitions(parent, "timestamp", kind, layout) AS p
        WHERE p.partition = ANY (partitions));
    kept CONSTANT regclass[] := ARRAY(SELECT p FROM unnest(partitions) AS p WHERE p <> ALL (old));
BEGIN
    IF cardinality(old) > 0 AND cardinality(old) >= cardinality(kept) THEN
        RAISE 'an age must not drop half or more of the partitions that hold rows: % of %', cardinality(old), cardinality(partitions)
            USING ERRCODE = '55000', DETAIL = format('Partitions to drop: %s. Partitions to keep: %s.', array_to_string(old, ', '), array_to_string(kept, ', ')),
                HINT = format('Check the clock and the rows. If these partitions are old, name the time: snowdrift.drop_partitions_before(%L, %L, dry_run => true).',
                    parent, to_char("timestamp" AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS"Z"'));
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.check_share(regclass, timestamptz, text, @extschema@.snowflake_layout, regclass[])
    IS 'ensure that more partitions with rows are kept than dropped';

-- Detaching a partition reads the tables that refer to the parent, and locks all tables at the other end of its foreign keys.
CREATE FUNCTION snowdrift.tables_to_lock(parent regclass, old regclass[]) RETURNS regclass[]
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    ancestors CONSTANT regclass[] := ARRAY(SELECT pg_partition_ancestors(parent));
    -- With foreign keys of the partitioned table to itself, these are also the partitions that are kept: read, but not locked.
    referring CONSTANT regclass[] := ARRAY(SELECT DISTINCT conrelid::regclass FROM pg_constraint
        WHERE contype = 'f' AND confrelid = ANY (ancestors || old) AND conrelid <> ALL (ancestors || old));
    locked CONSTANT regclass[] := parent || ARRAY(SELECT partdefid::regclass FROM pg_partitioned_table WHERE partrelid = parent AND partdefid <> 0)
        || coalesce(snowdrift.with_partitions(old), '{}') || ARRAY(SELECT DISTINCT t::regclass FROM pg_constraint, unnest(ARRAY[conrelid, confrelid]) AS t
            WHERE contype = 'f' AND conparentid = 0 AND (conrelid = ANY (ancestors) OR confrelid = ANY (ancestors || old)) AND t <> ALL (ancestors || old));
BEGIN
    PERFORM snowdrift.check_owners(parent, ancestors || snowdrift.with_partitions(old || referring));
    RETURN ARRAY(SELECT t FROM unnest(locked) WITH ORDINALITY AS u(t, n) JOIN pg_class AS c ON c.oid = t
        WHERE c.relkind IN ('r', 'p') AND t <> ALL (coalesce(snowdrift.tables_of_others(parent, locked), '{}')) ORDER BY n);
END $$;
COMMENT ON FUNCTION snowdrift.tables_to_lock(regclass, regclass[])
    IS 'tables that detaching partitions locks; ensures that those that it reads belong to the current role';

CREATE FUNCTION snowdrift.drop_listed(parent regclass, "timestamp" timestamptz, stated @extschema@.snowflake_layout, dry_run boolean,
        OUT partition text, OUT times tstzrange) RETURNS SETOF record
    LANGUAGE plpgsql VOLATILE SET quote_all_identifiers = off AS $$
#variable_conflict error
DECLARE
    key pg_catalog.record := snowdrift.partition_key(parent, stated);
    old pg_catalog.regclass[];
    p pg_catalog.record;
    detail pg_catalog.text;
BEGIN
    IF NOT dry_run THEN
        PERFORM snowdrift.lock_against_changes(parent);    -- waits for sessions that create and drop partitions
        old := ARRAY(SELECT o.partition FROM snowdrift.old_partitions(parent, "timestamp", key.kind, key.layout) AS o);
        PERFORM snowdrift.lock_exclusively(snowdrift.tables_to_lock(parent, old)) WHERE pg_catalog.cardinality(old) OPERATOR(pg_catalog.>) 0;
        key := snowdrift.partition_key(parent, stated);    -- until then, other sessions could replace its generator
    END IF;
    FOR p IN SELECT * FROM snowdrift.old_partitions(parent, "timestamp", key.kind, key.layout) LOOP
        IF partition IS NULL THEN
            PERFORM snowdrift.announce_layout(parent, key.layout, stated);
        END IF;
        partition := p.partition::pg_catalog.text;
        times := p.times;
        RETURN NEXT;
        CONTINUE WHEN dry_run;
        FOR n IN 1 .. COALESCE(pg_catalog.cardinality(p.queries), 0) LOOP
            detail := snowdrift.run_as_owner(parent, p.queries[n]);
            IF detail IS NOT NULL THEN
                RAISE 'removing partition "%" violates foreign key constraint "%"', partition, p.constraints[n] USING ERRCODE = '23503', DETAIL = detail;
            END IF;
        END LOOP;
        PERFORM snowdrift.run_as_owner(parent, p.statements[1]);
        PERFORM snowdrift.run_as_owner(parent, p.statements[2]);
    END LOOP;
END $$;
COMMENT ON FUNCTION snowdrift.drop_listed(regclass, timestamptz, @extschema@.snowflake_layout, boolean)
    IS 'drop partitions whose IDs are all older than a time; implementation of snowdrift.drop_partitions() and drop_partitions_before()';

-- The functions have different names, because a call with an untyped literal could not choose between overloads.
CREATE FUNCTION snowdrift.drop_partitions(parent regclass, older_than interval,
        layout @extschema@.snowflake_layout DEFAULT NULL, dry_run boolean DEFAULT false,
        OUT partition text, OUT times tstzrange) RETURNS SETOF record
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE AS $$
#variable_conflict error
DECLARE
    key pg_catalog.record;
    found_rows pg_catalog.record;
    "timestamp" pg_catalog.timestamptz;
BEGIN
    IF parent IS NULL OR older_than IS NULL OR dry_run IS NULL THEN
        RETURN;
    END IF;
    PERFORM snowdrift.check_age(older_than);
    IF NOT dry_run THEN
        PERFORM snowdrift.check_can_change('snowdrift.drop_partitions()', false);
    END IF;
    PERFORM snowdrift.check_parent(parent);
    key := snowdrift.partition_key(parent, layout);
    "timestamp" := snowdrift.time_of_age(older_than, NULL);
    IF NOT dry_run THEN    -- before the rows are read: two calls that have read partitions could not lock them
        PERFORM snowdrift.lock_against_changes(parent);
    END IF;
    IF EXISTS (SELECT FROM snowdrift.old_partitions(parent, "timestamp", key.kind, key.layout)) THEN
        PERFORM snowdrift.check_owners(parent, snowdrift.ancestors_and_default(parent)),
            snowdrift.check_owners(parent, snowdrift.with_partitions(ARRAY(
                SELECT p.partition FROM snowdrift.row_queries(parent, key."column", key.kind, key.layout) AS p)));
        found_rows := snowdrift.find_rows(parent, key."column", key.kind, key.layout);
        "timestamp" := snowdrift.time_of_age(older_than, found_rows.newest);
        PERFORM snowdrift.check_share(parent, "timestamp", key.kind, key.layout, found_rows.partitions);
        RETURN QUERY SELECT d.partition, d.times FROM snowdrift.drop_listed(parent, "timestamp", layout, dry_run) AS d;
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.drop_partitions(regclass, interval, @extschema@.snowflake_layout, boolean)
    IS 'drop partitions whose IDs are all older than an age, and return them; a dry run only returns them';

CREATE FUNCTION snowdrift.drop_partitions_before(parent regclass, "timestamp" timestamptz,
        layout @extschema@.snowflake_layout DEFAULT NULL, dry_run boolean DEFAULT false,
        OUT partition text, OUT times tstzrange) RETURNS SETOF record
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE AS $$
BEGIN
    IF parent IS NULL OR "timestamp" IS NULL OR dry_run IS NULL THEN
        RETURN;
    END IF;
    PERFORM snowdrift.check_past("timestamp");
    IF NOT dry_run THEN
        PERFORM snowdrift.check_can_change('snowdrift.drop_partitions_before()', false);
    END IF;
    PERFORM snowdrift.check_parent(parent);
    RETURN QUERY SELECT d.partition, d.times FROM snowdrift.drop_listed(parent, "timestamp", layout, dry_run) AS d;
END $$;
COMMENT ON FUNCTION snowdrift.drop_partitions_before(regclass, timestamptz, @extschema@.snowflake_layout, boolean)
    IS 'drop partitions whose IDs are all older than a time, and return them; a dry run only returns them';

-- Conversion of keys: what must change, and what stands in the way. These functions read the catalog and change nothing.
-- Those in PL/pgSQL set the search path, with which PostgreSQL qualifies the names in definitions.

CREATE TYPE snowdrift.key_column AS ("table" oid, number smallint);

-- An object that depends on another one, with the greatest number of steps from a column whose type changes. part: the
-- number of a column, or 0.
CREATE TYPE snowdrift.dependent AS (
    class oid, object oid, part integer,
    needed_class oid, needed oid, needed_part integer,
    is_smallint boolean, level integer
);

CREATE TYPE snowdrift.conversion AS (
    call text,                             -- the new default
    keys snowdrift.key_column[],
    new_keys snowdrift.key_column[],       -- those whose defaults change
    widened snowdrift.key_column[],        -- the smallint and integer columns among the keys and all that refer to them; none is inherited
    members snowdrift.key_column[],        -- these, and the same columns of inheriting tables
    "tables" oid[],                        -- to lock, ascending, without inheriting tables
    dependents snowdrift.dependent[]       -- views, triggers and policies to create again
);

-- The setting keeps PostgreSQL from inlining this function and the next two, which would give queries bad plans.
-- The columns, and the same columns of the tables that inherit them. Partitions inherit from partitioned tables.
CREATE FUNCTION snowdrift.with_inheriting(columns snowdrift.key_column[], OUT root snowdrift.key_column, OUT member snowdrift.key_column)
    RETURNS SETOF record LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    WITH RECURSIVE tree(root, relation) AS (
        SELECT c, c."table" FROM unnest(columns) AS c
        UNION SELECT root, inhrelid FROM tree JOIN pg_inherits ON inhparent = relation
    )
    SELECT root, ROW(a.attrelid, a.attnum)::snowdrift.key_column FROM tree
        JOIN pg_attribute AS o ON o.attrelid = (root)."table" AND o.attnum = (root).number
        JOIN pg_attribute AS a ON a.attrelid = relation AND a.attname = o.attname;
END;

-- For each column, the columns from which it is inherited, and which are not inherited themselves.
CREATE FUNCTION snowdrift.origins(columns snowdrift.key_column[]) RETURNS SETOF snowdrift.key_column LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    WITH RECURSIVE ancestors("table", number) AS (
        SELECT "table", number FROM unnest(columns)
        UNION SELECT p.attrelid, p.attnum FROM ancestors AS c
            JOIN pg_attribute AS a ON a.attrelid = c."table" AND a.attnum = c.number
            JOIN pg_inherits ON inhrelid = c."table"
            JOIN pg_attribute AS p ON p.attrelid = inhparent AND p.attname = a.attname
        WHERE a.attinhcount > 0
    )
    SELECT attrelid, attnum FROM ancestors JOIN pg_attribute ON attrelid = "table" AND attnum = number WHERE attinhcount = 0;
END;

-- The columns of foreign keys
CREATE FUNCTION snowdrift.key_references(OUT source snowdrift.key_column, OUT target snowdrift.key_column)
    RETURNS SETOF record LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT ROW(conrelid, f)::snowdrift.key_column, ROW(confrelid, t)::snowdrift.key_column
    FROM pg_constraint, unnest(conkey, confkey) AS u(f, t) WHERE contype = 'f';
END;

-- What generates the values of columns: 'sequence', 'identity', 'generator' (the call), 'other' (a call of another
-- generator), 'expression', or null. Patterns contain no backslash, whose meaning is a setting.
CREATE FUNCTION snowdrift.key_defaults(columns snowdrift.key_column[], call text,
        OUT key snowdrift.key_column, OUT kind text, OUT sequence oid, OUT expression text)
    RETURNS SETOF record LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT ROW(attrelid, attnum)::snowdrift.key_column,
        CASE WHEN attidentity <> '' THEN 'identity'
            WHEN text IS NULL THEN NULL
            WHEN attgenerated <> '' THEN 'expression'
            WHEN starts_with(text, 'nextval(')
                AND text ~ '^nextval[(][(]*''([^'']|'''')*''::[a-z ]+[)]*(::regclass)?([)]|::[a-z ]+)*$' THEN 'sequence'
            WHEN replace(rtrim(regexp_replace(text, '(::(smallint|integer|bigint|numeric)|[)])*$', ''), ')'), '::pg_catalog.text', '::text')
                = replace(rtrim(call, ')'), '::pg_catalog.text', '::text') THEN 'generator'
            WHEN starts_with(text, split_part(call, '(', 1) || '(')
                AND substr(text, length(split_part(call, '(', 1)) + 2) ~ '^(''([^'']|'''')*''::text)?[)]([)]|::[a-z ]+)*$' THEN 'other'
            ELSE 'expression'
        END,
        (SELECT refobjid FROM pg_depend JOIN pg_class AS s ON s.oid = refobjid AND relkind = 'S'
            WHERE classid = 'pg_attrdef'::regclass AND objid = d.oid AND refclassid = 'pg_class'::regclass LIMIT 1),
        pg_get_expr(adbin, adrelid)
    FROM unnest(columns) AS u("table", number)
        JOIN pg_attribute ON attrelid = u."table" AND attnum = u.number
        LEFT JOIN pg_attrdef AS d ON adrelid = attrelid AND adnum = attnum,
        LATERAL (SELECT ltrim(pg_get_expr(adbin, adrelid), '(')) AS e(text);
END;

-- Tables, and those that inherit from them
CREATE FUNCTION snowdrift.with_heirs(tables oid[]) RETURNS SETOF oid LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    WITH RECURSIVE relations(relation) AS (
        SELECT unnest(tables) UNION SELECT inhrelid FROM relations JOIN pg_inherits ON inhparent = relation
    )
    SELECT relation FROM relations;
END;

-- The roles, except the owner, that may insert into a table, an inheriting table, or a view of these; 0 is PUBLIC
CREATE FUNCTION snowdrift.inserting_roles("table" oid) RETURNS SETOF oid LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    WITH RECURSIVE relations(relation) AS (
        SELECT h FROM snowdrift.with_heirs(ARRAY["table"]) AS h
        UNION SELECT ev_class FROM relations JOIN pg_depend ON refclassid = 'pg_class'::regclass AND refobjid = relation
            JOIN pg_rewrite AS r ON classid = 'pg_rewrite'::regclass AND objid = r.oid
    ), acls(acl) AS (
        SELECT relacl FROM relations JOIN pg_class ON oid = relation UNION ALL SELECT attacl FROM relations JOIN pg_attribute ON attrelid = relation
    )
    SELECT DISTINCT grantee FROM acls, aclexplode(acl)
    WHERE privilege_type = 'INSERT' AND grantee <> (SELECT relowner FROM pg_class WHERE oid = "table") ORDER BY grantee;
END;

-- Ensure that the caller may evaluate the expressions of tables: the functions in them run with the caller's rights, so
-- that the owner of each table must have all of these.
CREATE FUNCTION snowdrift.check_table_owners(tables oid[]) RETURNS void
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
    foreign_tables text;
    owners oid[];
BEGIN
    SELECT string_agg(format('%s belongs to role %s', pg_describe_object('pg_class'::regclass, c.oid, 0), relowner::regrole), E'\n' ORDER BY c.oid)
            FILTER (WHERE NOT snowdrift.is_trusted_owner(relowner)),
        array_agg(DISTINCT relowner)
    INTO foreign_tables, owners FROM snowdrift.with_heirs(tables) AS relation JOIN pg_class AS c ON c.oid = relation;
    IF foreign_tables IS NULL THEN
        RETURN;
    END IF;
    RAISE 'cannot convert keys because other roles own tables that the conversion changes or checks' USING ERRCODE = '42501',
        DETAIL = foreign_tables,
        HINT = CASE WHEN cardinality(owners) = 1 THEN format('Run SET ROLE %s first.', owners[1]::regrole)
            ELSE format('If you trust the functions in their constraints and indexes, make %I the owner of these tables first.', current_user) END;
END $$;

-- Whether the caller has the rights of a role, and the role all rights of the caller.
CREATE FUNCTION snowdrift.is_trusted_owner(role oid) RETURNS boolean LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT rolname = current_user OR (rolsuper AND pg_has_role(oid, 'USAGE')) FROM pg_roles WHERE oid = role;
END;

-- The key columns of primary keys that are serial or identity columns, or draw from the generator.
CREATE FUNCTION snowdrift.find_keys(tables oid[], call text) RETURNS snowdrift.key_column[] LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT coalesce(array_agg(key ORDER BY key), '{}') FROM snowdrift.key_defaults((
        SELECT coalesce(array_agg(ROW(attrelid, attnum)::snowdrift.key_column), '{}') FROM pg_constraint
            JOIN pg_attribute ON attrelid = conrelid AND attnum = ANY (conkey)
        WHERE contype = 'p' AND conrelid = ANY (tables) AND attinhcount = 0
            AND snowdrift.base_type(atttypid) IN ('int2'::regtype, 'int4'::regtype, 'int8'::regtype)), call)
    WHERE kind IN ('identity', 'sequence', 'generator');
END;

-- The column of a table, which must be usable as a key.
CREATE FUNCTION snowdrift.find_key(relation oid, name name) RETURNS snowdrift.key_column
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
    a record;
BEGIN
    SELECT attnum, relname, atttypid, attinhcount, snowdrift.base_type(atttypid) AS base INTO a
    FROM pg_attribute JOIN pg_class AS c ON c.oid = attrelid
    WHERE attrelid = relation AND attname = name AND NOT attisdropped;
    IF NOT FOUND THEN
        RAISE 'column "%" of relation "%" does not exist', name, (SELECT relname FROM pg_class WHERE oid = relation) USING ERRCODE = '42703';
    ELSIF a.base NOT IN ('int2'::regtype, 'int4'::regtype, 'int8'::regtype) THEN
        RAISE 'column "%" of table "%" must be of type smallint, integer or bigint', name, a.relname
            USING ERRCODE = '42804', DETAIL = format('The column is of type %s.', format_type(a.atttypid, NULL));
    ELSIF a.attinhcount > 0 THEN
        RAISE 'cannot alter inherited column "%"', name
            USING ERRCODE = '42P16', HINT = format('Convert the column of the table that "%s" inherits from.', a.relname);
    END IF;
    RETURN (relation, a.attnum);
END $$;

-- The keys, and the columns that refer to them, directly or through other columns. None of them is inherited.
CREATE FUNCTION snowdrift.with_referring(keys snowdrift.key_column[]) RETURNS snowdrift.key_column[]
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    result snowdrift.key_column[] := keys;
    latest snowdrift.key_column[] := keys;
BEGIN
    WHILE cardinality(latest) > 0 LOOP
        latest := ARRAY(SELECT o FROM snowdrift.origins(ARRAY(SELECT source
                FROM snowdrift.with_inheriting(latest) JOIN snowdrift.key_references() ON target = member)) AS o
            EXCEPT SELECT r FROM unnest(result) AS r);
        result := result || latest;
    END LOOP;
    RETURN ARRAY(SELECT r FROM unnest(result) AS r ORDER BY r);
END $$;

CREATE FUNCTION snowdrift.check_tables(tables oid[]) RETURNS void LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    r record;
BEGIN
    IF array_position(tables, NULL) IS NOT NULL THEN
        RAISE 'tables must not contain nulls' USING ERRCODE = '22004';
    END IF;
    FOR r IN SELECT t, relname, relkind FROM unnest(tables) AS t LEFT JOIN pg_class ON oid = t ORDER BY t LOOP
        IF r.relkind IS NULL THEN
            RAISE 'relation with OID % does not exist', r.t USING ERRCODE = '42P01';
        ELSIF r.relkind NOT IN ('r', 'p') THEN
            RAISE '"%" is not a table', r.relname USING ERRCODE = '42809';
        END IF;
    END LOOP;
END $$;

CREATE FUNCTION snowdrift.plan_conversion(tables oid[], "column" name, call text) RETURNS snowdrift.conversion
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
    plan snowdrift.conversion;
    r record;
BEGIN
    PERFORM snowdrift.check_tables($1);
    plan.call := call;
    plan.keys := CASE WHEN $2 IS NULL THEN snowdrift.find_keys($1, call) ELSE ARRAY[snowdrift.find_key($1[1], $2)] END;
    -- A key that refers to another table has the values of that table's key.
    FOR r IN SELECT root, (SELECT relname FROM pg_class WHERE oid = (root)."table") AS relname, attname,
            string_agg(DISTINCT (SELECT relname FROM pg_class WHERE oid = (target)."table"), '", "') AS target
        FROM snowdrift.with_inheriting(plan.keys) JOIN snowdrift.key_references() ON source = member
            JOIN pg_attribute ON attrelid = (root)."table" AND attnum = (root).number
        GROUP BY root, attname ORDER BY root LOOP
        IF $2 IS NOT NULL THEN
            RAISE 'cannot convert column "%" of table "%" because it refers to table "%"', r.attname, r.relname, r.target USING ERRCODE = '42830',
                HINT = 'Convert the referenced column instead. If the columns refer to each other, drop one of the foreign keys first.';
        END IF;
        plan.keys := array_remove(plan.keys, r.root);
    END LOOP;

    plan.widened := ARRAY(SELECT c FROM unnest(snowdrift.with_referring(plan.keys)) AS c
        JOIN pg_attribute ON attrelid = c."table" AND attnum = c.number
        WHERE snowdrift.base_type(atttypid) IN ('int2'::regtype, 'int4'::regtype) ORDER BY c);
    plan.members := ARRAY(SELECT DISTINCT member FROM snowdrift.with_inheriting(plan.widened) ORDER BY 1);
    PERFORM snowdrift.check_table_owners(snowdrift.tables_of_keys(plan.keys, plan));
    FOR r IN SELECT attname, relname, attgenerated, expression FROM snowdrift.with_inheriting(plan.keys), snowdrift.key_defaults(ARRAY[member], call)
            JOIN pg_attribute ON attrelid = (key)."table" AND attnum = (key).number JOIN pg_class AS c ON c.oid = attrelid
        WHERE kind = 'expression' ORDER BY key LOOP
        RAISE 'column "%" of table "%" is not a serial or identity column', r.attname, r.relname USING ERRCODE = '55000',
            DETAIL = format('The column''s values are generated by the expression %s.', r.expression),
            HINT = CASE r.attgenerated WHEN '' THEN 'If the expression is not needed, drop the default.' ELSE 'Choose another column.' END;
    END LOOP;
    plan.new_keys := ARRAY(SELECT DISTINCT root FROM snowdrift.with_inheriting(plan.keys), snowdrift.key_defaults(ARRAY[member], call)
        WHERE kind IS DISTINCT FROM 'generator' ORDER BY root);
    plan.dependents := snowdrift.find_dependents(plan.members);
    plan."tables" := snowdrift.tables_to_convert(plan);
    RETURN plan;
END $$;

-- The tables of keys with new defaults, of the columns whose types change, and at the other ends of the foreign keys that
-- PostgreSQL creates again; ascending, as all conversions lock them.
CREATE FUNCTION snowdrift.tables_of_keys(keys snowdrift.key_column[], plan snowdrift.conversion) RETURNS oid[] LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT coalesce(array_agg(DISTINCT "table" ORDER BY "table"), '{}') FROM (
        SELECT "table" FROM unnest(keys) UNION SELECT "table" FROM unnest((plan).widened)
        UNION SELECT "table" FROM snowdrift.origins((
            SELECT coalesce(array_agg(other), '{}') FROM unnest((plan).members) AS m JOIN (
                SELECT source, target FROM snowdrift.key_references() UNION ALL SELECT target, source FROM snowdrift.key_references()) AS r(one, other)
                ON one = m))) AS all_tables;
END;

-- Those of tables_of_keys, and the tables of the triggers and policies to create again
CREATE FUNCTION snowdrift.tables_to_convert(plan snowdrift.conversion) RETURNS oid[] LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT coalesce(array_agg(t ORDER BY t), '{}') FROM (
        SELECT unnest(snowdrift.tables_of_keys((plan).new_keys, plan))
        UNION SELECT tgrelid FROM unnest((plan).dependents) AS d JOIN pg_trigger AS t ON class = 'pg_trigger'::regclass AND t.oid = object
            JOIN pg_class AS c ON c.oid = tgrelid WHERE relkind IN ('r', 'p')
        UNION SELECT polrelid FROM unnest((plan).dependents) AS d JOIN pg_policy AS p ON class = 'pg_policy'::regclass AND p.oid = object) AS all_tables(t);
END;

-- The sequences that columns own
CREATE FUNCTION snowdrift.owned_sequences(columns snowdrift.key_column[], OUT key snowdrift.key_column, OUT sequence oid, OUT is_identity boolean)
    RETURNS SETOF record LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT u, objid, deptype = 'i' FROM unnest(columns) AS u JOIN pg_depend ON refclassid = 'pg_class'::regclass AND refobjid = u."table"
            AND refobjsubid = u.number AND classid = refclassid AND deptype IN ('a', 'i')
        JOIN pg_class AS c ON c.oid = objid AND relkind = 'S' ORDER BY u, objid;
END;

-- The sequences that have no use after the conversion: those of identities, and those that a new key owns and draws from,
-- unless another object uses them, too.
CREATE FUNCTION snowdrift.unused_sequences(plan snowdrift.conversion, OUT sequence oid, OUT is_identity boolean) RETURNS SETOF record
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    members CONSTANT snowdrift.key_column[] := ARRAY(SELECT member FROM snowdrift.with_inheriting(plan.new_keys));
BEGIN
    RETURN QUERY SELECT o.sequence, o.is_identity FROM snowdrift.owned_sequences(members) AS o
    WHERE o.is_identity OR (o.sequence IN (SELECT d.sequence FROM snowdrift.key_defaults(members, plan.call) AS d)
        AND NOT EXISTS (SELECT FROM snowdrift.other_users(o.sequence, members)))
    ORDER BY o.key, o.sequence;
END $$;

-- The name for GRANT and REVOKE. 0 stands for all roles.
CREATE FUNCTION snowdrift.grantee_name(grantee oid) RETURNS text LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
    RETURN CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END;

-- The objects that use a sequence, apart from the defaults of the given columns
CREATE FUNCTION snowdrift.other_users(sequence oid, columns snowdrift.key_column[]) RETURNS SETOF text LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT pg_describe_object(classid, d.objid, objsubid) FROM pg_depend AS d LEFT JOIN pg_attrdef AS a ON classid = 'pg_attrdef'::regclass AND a.oid = d.objid
    WHERE refclassid = 'pg_class'::regclass AND refobjid = sequence AND deptype = 'n'
        AND (a.oid IS NULL OR (adrelid, adnum) NOT IN (SELECT c."table", c.number FROM unnest(columns) AS c));
END;

-- The relations that a conversion locks: views, beginning with those that read others, tables, and sequences to drop
CREATE FUNCTION snowdrift.relations_to_lock(plan snowdrift.conversion) RETURNS regclass[]
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN
    RETURN ARRAY(SELECT object FROM (SELECT object, max(level) AS level FROM unnest(plan.dependents)
            WHERE class = 'pg_class'::regclass GROUP BY object) AS v ORDER BY level DESC, object)
        || ARRAY(SELECT t FROM snowdrift.with_heirs(plan."tables") AS t ORDER BY t)
        || ARRAY(SELECT sequence FROM snowdrift.unused_sequences(plan));
END $$;

-- Conversion of keys: the objects that depend on columns whose types change

-- The objects that depend on others and that PostgreSQL does not change itself, as users know them: the view of a rule,
-- the generated column of an expression. needed: what they depend on.
CREATE FUNCTION snowdrift.dependents_of(objects snowdrift.dependent[]) RETURNS SETOF snowdrift.dependent LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT DISTINCT shown.class, shown.object,
        CASE WHEN shown.class = 'pg_class'::regclass AND (SELECT relkind FROM pg_class WHERE oid = shown.object) = 'v' THEN 0 ELSE shown.part END,
        o.class, o.object, o.part, o.is_smallint, o.level + 1
    FROM unnest(objects) AS o
        LEFT JOIN pg_class AS c ON o.class = 'pg_class'::regclass AND o.part = 0 AND c.oid = o.object
        LEFT JOIN pg_type AS t ON t.oid = c.reltype
        LEFT JOIN pg_constraint AS k ON o.class = 'pg_constraint'::regclass AND k.oid = o.object AND contype <> 'f',
        LATERAL (VALUES (o.class, o.object, o.part), ('pg_type'::regclass, t.oid, 0), ('pg_type'::regclass, t.typarray, 0),
            ('pg_class'::regclass, k.conindid, 0)) AS n(class, object, part)    -- foreign keys depend on the index of the key to which they refer
        JOIN pg_depend AS d ON refclassid = n.class AND refobjid = n.object AND (n.part = 0 OR refobjsubid = n.part),
        LATERAL (SELECT refclassid, refobjid, refobjsubid FROM pg_depend AS whole
            WHERE whole.classid = d.classid AND whole.objid = d.objid AND deptype IN ('i', 'P')
            UNION ALL SELECT d.classid, d.objid, d.objsubid LIMIT 1) AS shown(class, object, part)
    WHERE (shown.class, shown.object, shown.part) IS DISTINCT FROM (o.class, o.object, o.part)
        AND (shown.class, shown.object, shown.part) IS DISTINCT FROM (n.class, n.object, n.part)
        AND NOT (shown.class = 'pg_class'::regclass AND shown.object = o.object AND 0 IN (o.part, shown.part))
        AND NOT (shown.class = 'pg_type'::regclass AND shown.object IN (t.oid, t.typarray))
        AND NOT (shown.class = 'pg_constraint'::regclass AND EXISTS (SELECT FROM pg_constraint WHERE oid = shown.object AND NOT conislocal AND conrelid <> 0))
        AND NOT (shown.class = d.classid AND shown.object <> d.objid)    -- a copy, such as that of a partition
        AND NOT (shown.class = 'pg_trigger'::regclass AND EXISTS (SELECT FROM pg_trigger WHERE oid = shown.object AND (tgisinternal OR tgparentid <> 0)));
END;

-- Whether PostgreSQL changes an object together with the type of a column, and evaluates it, if at all, for the rows of its
-- table. An expression of another table, which can have another owner, can read the column of a row value.
CREATE FUNCTION snowdrift.is_rebuilt(class oid, object oid, relation oid) RETURNS boolean LANGUAGE sql STABLE
    RETURN CASE class
        WHEN 'pg_class'::regclass THEN EXISTS (SELECT FROM pg_class WHERE oid = object AND relkind = 'S')
            OR EXISTS (SELECT FROM pg_index WHERE indexrelid = object AND indrelid = relation)
        WHEN 'pg_constraint'::regclass THEN EXISTS (SELECT FROM pg_constraint WHERE oid = object AND (contype = 'f' OR conrelid = relation))
        WHEN 'pg_statistic_ext'::regclass THEN EXISTS (SELECT FROM pg_statistic_ext WHERE oid = object AND stxrelid = relation)
        WHEN 'pg_attrdef'::regclass THEN EXISTS (SELECT FROM pg_attrdef WHERE oid = object AND adrelid = relation)
        ELSE false
    END;

-- Whether an object converts a smallint to integer. Built again, it would convert a bigint to integer, which fails for IDs.
CREATE FUNCTION snowdrift.converts_smallint(class oid, object oid) RETURNS boolean LANGUAGE sql STABLE
    RETURN strpos(CASE class
        WHEN 'pg_constraint'::regclass THEN coalesce((SELECT conbin::text FROM pg_constraint WHERE oid = object),
            (SELECT concat(indexprs::text, indpred::text) FROM pg_constraint JOIN pg_index ON indexrelid = conindid WHERE pg_constraint.oid = object))
        WHEN 'pg_statistic_ext'::regclass THEN (SELECT stxexprs::text FROM pg_statistic_ext WHERE oid = object)
        WHEN 'pg_class'::regclass THEN coalesce((SELECT concat(indexprs::text, indpred::text) FROM pg_index WHERE indexrelid = object),
            (SELECT ev_action::text FROM pg_rewrite WHERE ev_class = object AND rulename = '_RETURN'))
        WHEN 'pg_trigger'::regclass THEN (SELECT tgqual::text FROM pg_trigger WHERE oid = object)
        WHEN 'pg_policy'::regclass THEN (SELECT concat(polqual::text, polwithcheck::text) FROM pg_policy WHERE oid = object)
    END, format(':funcid %s ', 'int4(int2)'::regprocedure::oid)) > 0;

-- Why an object, built again for a bigint, could fail; null if there is no reason. Functions of extensions rarely take keys.
CREATE FUNCTION snowdrift.needs_integers(class oid, object oid, is_smallint boolean) RETURNS text LANGUAGE sql STABLE
    RETURN CASE WHEN is_smallint AND snowdrift.converts_smallint(class, object) THEN 'converts a smallint to integer'
        ELSE (SELECT format('calls %s, which takes integers', min(p.oid)::regprocedure) FROM pg_depend JOIN pg_proc AS p ON refclassid = 'pg_proc'::regclass AND p.oid = refobjid
            WHERE (classid, objid) IN (SELECT class, object
                    UNION ALL SELECT 'pg_rewrite'::regclass, r.oid FROM pg_rewrite AS r WHERE class = 'pg_class'::regclass AND ev_class = object AND rulename = '_RETURN'
                    UNION ALL SELECT 'pg_class'::regclass, conindid FROM pg_constraint AS c WHERE class = 'pg_constraint'::regclass AND c.oid = object AND contype = 'x')
                AND proargtypes::oid[] && '{int2,int4}'::regtype[]::oid[] AND pronamespace <> 'pg_catalog'::regnamespace
                AND NOT EXISTS (SELECT FROM pg_depend AS e WHERE e.classid = 'pg_proc'::regclass AND e.objid = p.oid AND deptype = 'e')
            HAVING count(*) > 0)
        END;

-- All objects that depend on the columns, directly or through other objects, apart from those that PostgreSQL changes.
CREATE FUNCTION snowdrift.find_dependents(columns snowdrift.key_column[]) RETURNS snowdrift.dependent[]
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    roots CONSTANT snowdrift.dependent[] := ARRAY(
        SELECT ('pg_class'::regclass::oid, c."table", c.number::integer, 0, 0, 0, atttypid = 'int2'::regtype, 0)::snowdrift.dependent
        FROM unnest(columns) AS c JOIN pg_attribute ON attrelid = c."table" AND attnum = c.number);
    result snowdrift.dependent[];
    latest snowdrift.dependent[];
BEGIN
    -- Of the objects that PostgreSQL changes, those that need integers, and what names a constraint, as in
    -- ON CONFLICT ON CONSTRAINT.
    result := ARRAY(
        WITH direct AS MATERIALIZED (
            SELECT r.object AS relation, r.part, r.is_smallint, d.classid, d.objid FROM unnest(roots) AS r
                JOIN pg_depend AS d ON refclassid = 'pg_class'::regclass AND refobjid = r.object AND refobjsubid = r.part
            WHERE snowdrift.is_rebuilt(d.classid, d.objid, r.object)
        ), constraints AS (
            SELECT objid AS oid FROM direct WHERE classid = 'pg_constraint'::regclass
            UNION SELECT c.oid FROM direct JOIN pg_constraint AS c ON conindid = objid WHERE classid = 'pg_class'::regclass AND contype <> 'f'
        )
        SELECT (classid, objid, 0, 'pg_class'::regclass, relation, part, is_smallint, 1)::snowdrift.dependent
        FROM (SELECT relation, part, is_smallint, coalesce(i.refclassid, direct.classid) AS classid, coalesce(i.refobjid, direct.objid) AS objid
            FROM direct LEFT JOIN pg_depend AS i ON direct.classid = 'pg_class'::regclass AND i.classid = direct.classid AND i.objid = direct.objid
                AND i.deptype = 'i' AND i.refclassid = 'pg_constraint'::regclass) AS shown
        WHERE snowdrift.needs_integers(classid, objid, is_smallint) IS NOT NULL
            AND NOT EXISTS (SELECT FROM pg_constraint WHERE classid = 'pg_constraint'::regclass AND oid = objid AND NOT conislocal)
            AND NOT EXISTS (SELECT FROM pg_inherits WHERE classid = 'pg_class'::regclass AND inhrelid = objid)
        UNION ALL
        SELECT d FROM snowdrift.dependents_of(ARRAY(SELECT ('pg_constraint'::regclass::oid, oid, 0, 0, 0, 0, false, 0)::snowdrift.dependent FROM constraints)) AS d
        WHERE class IN ('pg_proc'::regclass, 'pg_rewrite'::regclass) OR (class = 'pg_class'::regclass AND (SELECT relkind FROM pg_class WHERE oid = object) = 'v')
    );
    latest := result || ARRAY(SELECT d FROM snowdrift.dependents_of(roots) AS d
        WHERE NOT snowdrift.is_rebuilt(class, object, needed));
    result := '{}';
    WHILE cardinality(latest) > 0 LOOP
        result := ARRAY(
            SELECT (class, object, part, needed_class, needed, needed_part, bool_or(is_smallint), max(level))::snowdrift.dependent
            FROM unnest(result || latest) GROUP BY class, object, part, needed_class, needed, needed_part);
        latest := ARRAY(SELECT d FROM snowdrift.dependents_of(ARRAY(
                SELECT DISTINCT ON (class, object, part) (class, object, part, 0, 0, 0, is_smallint, level)::snowdrift.dependent
                FROM unnest(latest) ORDER BY class, object, part, level DESC, is_smallint DESC)) AS d);
    END LOOP;
    RETURN result;
END $$;

-- Why an object cannot be dropped and created again with all its properties: '' if it is no view, trigger or policy; null
-- if it can.
-- A view's definition would be found by names again, perhaps with other objects: PostgreSQL prints JOIN USING, CASE, NULLIF
-- and IS DISTINCT FROM without their operators, and the types of arguments change.
CREATE FUNCTION snowdrift.obstacle_to_create(class oid, object oid, is_smallint boolean) RETURNS text LANGUAGE sql STABLE
    RETURN CASE
        WHEN class = 'pg_policy'::regclass THEN (SELECT CASE
            WHEN NOT snowdrift.is_trusted_owner(relowner) THEN format('its table belongs to role %s', relowner::regrole)
            WHEN EXISTS (SELECT FROM pg_depend WHERE classid = class AND objid = object AND deptype IN ('e', 'x')) THEN 'belongs to an extension'
            ELSE snowdrift.needs_integers(class, object, is_smallint)
            END FROM pg_policy JOIN pg_class AS c ON c.oid = polrelid WHERE pg_policy.oid = object)
        WHEN class = 'pg_trigger'::regclass THEN (SELECT CASE
            WHEN relkind NOT IN ('r', 'p') THEN ''
            WHEN NOT snowdrift.is_trusted_owner(relowner) THEN format('its table belongs to role %s', relowner::regrole)
            WHEN EXISTS (SELECT FROM pg_depend WHERE classid = class AND objid = object AND deptype IN ('e', 'x')) THEN 'belongs to an extension'
            WHEN NOT has_function_privilege(tgfoid, 'EXECUTE') THEN 'its function may not be called'
            ELSE snowdrift.needs_integers(class, object, is_smallint)
            END FROM pg_trigger JOIN pg_class AS c ON c.oid = tgrelid WHERE pg_trigger.oid = object)
        WHEN class <> 'pg_class'::regclass OR (SELECT relkind FROM pg_class WHERE oid = object) <> 'v' THEN ''
        ELSE (SELECT CASE
            WHEN NOT snowdrift.is_trusted_owner(relowner) THEN format('belongs to role %s', relowner::regrole)
            WHEN relpersistence = 't' THEN 'temporary'
            WHEN EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = c.oid AND deptype = 'e')
                THEN 'belongs to an extension'
            WHEN NOT has_schema_privilege(relowner, relnamespace, 'CREATE')
                THEN format('its owner may not create it in schema %s', relnamespace::regnamespace)
            WHEN EXISTS (SELECT FROM aclexplode(relacl) WHERE grantor <> relowner)
                OR EXISTS (SELECT FROM pg_attribute, aclexplode(attacl) WHERE attrelid = c.oid AND grantor <> relowner)
                THEN 'has privileges that another role granted'
            WHEN EXISTS (SELECT FROM pg_type WHERE oid = reltype AND typacl IS NOT NULL)
                THEN 'its row type has privileges'
            WHEN EXISTS (SELECT FROM pg_seclabel WHERE classoid = 'pg_class'::regclass AND objoid = c.oid)
                OR EXISTS (SELECT FROM pg_seclabel WHERE classoid = 'pg_type'::regclass AND objoid = reltype)
                THEN 'has a security label'
            WHEN EXISTS (SELECT FROM pg_description WHERE classoid = 'pg_type'::regclass AND objoid = reltype)
                THEN 'its row type has a comment'
            WHEN EXISTS (SELECT FROM pg_description JOIN pg_rewrite AS r ON objoid = r.oid
                    WHERE classoid = 'pg_rewrite'::regclass AND ev_class = c.oid AND rulename = '_RETURN')
                THEN 'its rule has a comment'
            WHEN EXISTS (SELECT FROM pg_depend JOIN pg_rewrite AS r ON objid = r.oid
                    WHERE classid = 'pg_rewrite'::regclass AND ev_class = c.oid AND rulename = '_RETURN' AND refclassid = 'pg_operator'::regclass)
                THEN 'uses an operator that is not PostgreSQL''s own, which its definition may not show'
            WHEN EXISTS (SELECT FROM pg_depend JOIN pg_rewrite AS r ON objid = r.oid
                    JOIN pg_proc AS p ON refobjid = p.oid JOIN pg_proc AS other USING (pronamespace, proname)
                    WHERE classid = 'pg_rewrite'::regclass AND ev_class = c.oid AND rulename = '_RETURN'
                        AND refclassid = 'pg_proc'::regclass AND other.oid <> p.oid AND NOT EXISTS (    -- variants of Snowdrift differ in other arguments than keys
                            SELECT FROM pg_depend AS e JOIN pg_extension AS x ON x.oid = e.refobjid
                            WHERE e.classid = 'pg_proc'::regclass AND e.objid = p.oid AND e.deptype = 'e' AND extname = 'snowdrift'))
                THEN 'uses a function that has variants with other arguments'
            ELSE snowdrift.needs_integers(class, object, is_smallint)
            END FROM pg_class AS c WHERE oid = object)
    END;

-- The statements that drop an object and create it again; null if there is none to copy.
CREATE FUNCTION snowdrift.statements_for(class oid, object oid, part integer, OUT dropped text, OUT created text)
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off
    SET timezone = 'UTC' SET datestyle = ISO SET intervalstyle = postgres SET extra_float_digits = 3 AS $$
#variable_conflict use_column
DECLARE
    o record;
BEGIN
    SELECT * INTO o FROM pg_identify_object(class, object, part);
    dropped := format('DROP %s %s', upper(o.type), o.identity);
    CASE o.type
    WHEN 'view', 'materialized view', 'trigger', 'policy' THEN
        created := (SELECT string_agg(s, E';\n' ORDER BY n) FROM snowdrift.statements_to_create((class, object, part, 0, 0, 0, false, 0)::snowdrift.dependent) WITH ORDINALITY AS t(s, n));
    WHEN 'index' THEN
        created := replace(pg_get_indexdef(object), ' ON ONLY ', ' ON ');
    WHEN 'function', 'procedure' THEN
        SELECT rtrim(pg_get_functiondef(oid), E'\n') || (SELECT string_agg(E';\n' || s, '' ORDER BY n)
            FROM snowdrift.ownership_statements(upper(o.type), o.identity, 'f', pronamespace, proowner, proacl) WITH ORDINALITY AS t(s, n))
        INTO created FROM pg_proc WHERE oid = object;
    WHEN 'rule' THEN
        SELECT rtrim(pg_get_ruledef(oid), ';') || CASE ev_enabled WHEN 'O' THEN '' ELSE format(E';\nALTER TABLE %s %s RULE %I', snowdrift.qualified_name(ev_class),
            CASE ev_enabled WHEN 'D' THEN 'DISABLE' WHEN 'R' THEN 'ENABLE REPLICA' ELSE 'ENABLE ALWAYS' END, rulename) END INTO created FROM pg_rewrite WHERE oid = object;
    WHEN 'statistics object' THEN
        dropped := format('DROP STATISTICS %s', o.identity);
        created := pg_get_statisticsobjdef(object);
    WHEN 'table constraint' THEN
        SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', snowdrift.qualified_name(conrelid), conname),
            format('ALTER TABLE %s ADD CONSTRAINT %I %s', snowdrift.qualified_name(conrelid), conname, pg_get_constraintdef(oid))
        INTO dropped, created FROM pg_constraint WHERE oid = object;
    WHEN 'default value' THEN
        SELECT format('ALTER TABLE %s ALTER COLUMN %I DROP DEFAULT', snowdrift.qualified_name(adrelid), attname),
            format('ALTER TABLE %s ALTER COLUMN %I SET DEFAULT %s', snowdrift.qualified_name(adrelid), attname, pg_get_expr(adbin, adrelid))
        INTO dropped, created FROM pg_attrdef AS d JOIN pg_attribute ON attrelid = adrelid AND attnum = adnum WHERE d.oid = object;
    WHEN 'table column' THEN
        SELECT format('ALTER TABLE %s DROP COLUMN %I', snowdrift.qualified_name(attrelid), attname),
            format('ALTER TABLE %s ADD COLUMN %I %s%s GENERATED ALWAYS AS (%s) %s%s', snowdrift.qualified_name(attrelid), attname,
                CASE WHEN snowdrift.base_type(atttypid) IN ('int2'::regtype, 'int4'::regtype) THEN 'bigint' ELSE format_type(atttypid, atttypmod) END,
                (SELECT format(' COLLATE %I.%I', nspname, collname) FROM pg_collation AS l JOIN pg_namespace AS n ON n.oid = collnamespace JOIN pg_type AS y ON y.oid = atttypid WHERE l.oid = attcollation AND l.oid <> typcollation),
                pg_get_expr(adbin, adrelid), CASE attgenerated WHEN 'v' THEN 'VIRTUAL' ELSE 'STORED' END, CASE WHEN attnotnull THEN ' NOT NULL' END)
        INTO dropped, created FROM pg_attribute JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
        WHERE attrelid = object AND attnum = part AND attgenerated <> '' AND attinhcount = 0;    -- no others, which have data or are the parent's
    WHEN 'publication relation' THEN
        SELECT format('ALTER PUBLICATION %I DROP TABLE %s', pubname, snowdrift.qualified_name(prrelid)),
            format('ALTER PUBLICATION %I ADD TABLE %s%s%s', pubname, snowdrift.qualified_name(prrelid),
                (SELECT format(' (%s)', string_agg(quote_ident(attname), ', ' ORDER BY attnum)) FROM pg_attribute
                    WHERE attrelid = prrelid AND attnum = ANY (prattrs) HAVING count(*) > 0),
                ' WHERE (' || pg_get_expr(prqual, prrelid) || ')')
        INTO dropped, created FROM pg_publication_rel AS r JOIN pg_publication AS p ON p.oid = prpubid WHERE r.oid = object;
    ELSE
    END CASE;
    IF snowdrift.converts_smallint(class, object) THEN    -- to a type that can contain IDs
        created := replace(created, '::integer', '::bigint');
    END IF;
END $$;

-- Ensure that the types of the columns can be changed: one error lists all that stands in the way, with the statements to
-- copy. refusals: what else stands in the way while applications write; null if the tables are locked meanwhile.
CREATE FUNCTION snowdrift.check_obstacles(plan snowdrift.conversion, refusals text[] DEFAULT NULL) RETURNS void
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
    listed snowdrift.dependent[];
    previous integer := -1;
    first_lines text;
    lines text;
    drops text;
    creates text;
    sequence regclass;
BEGIN
    first_lines := (SELECT string_agg(line, E'\n' ORDER BY c, line) FROM (SELECT c, line FROM snowdrift.column_obstacles(plan) AS o(c, line)
        UNION ALL SELECT NULL, unnest(refusals)) AS all_lines(c, line));
    -- What depends on a listed object is listed, too.
    WHILE coalesce(cardinality(listed), 0) <> previous LOOP
        previous := coalesce(cardinality(listed), 0);
        listed := ARRAY(SELECT d FROM unnest(plan.dependents) AS d
            WHERE snowdrift.obstacle_to_create(class, object, is_smallint) IS NOT NULL
                OR (class, object, part) IN (SELECT class, object, part FROM unnest(listed))
                OR (needed_class, needed, needed_part) IN (SELECT class, object, part FROM unnest(listed)));
    END LOOP;
    SELECT string_agg(pg_describe_object(class, object, part) || coalesce(' (' || nullif(reason, '') || ')', '')
            || ' depends on ' || pg_describe_object(needed_class, needed, needed_part), E'\n' ORDER BY level DESC, class, object, part),
        string_agg(dropped || ';', E'\n' ORDER BY level DESC, class, object, part),
        concat_ws(E'\n', string_agg(created || ';', E'\n' ORDER BY level, class DESC, object DESC, part),
            -- The owner of a materialized view may read these rows; a policy can be created after the view.
            string_agg(format('REFRESH MATERIALIZED VIEW %s;', snowdrift.qualified_name(filled.oid)), E'\n' ORDER BY level, object DESC) FILTER (WHERE filled.oid IS NOT NULL))
    INTO lines, drops, creates
    FROM (SELECT DISTINCT ON (class, object, part) *,
                coalesce(nullif(snowdrift.obstacle_to_create(class, object, is_smallint), ''), snowdrift.needs_integers(class, object, is_smallint)) AS reason
            FROM unnest(listed) ORDER BY class, object, part, level DESC, needed_class, needed, needed_part) AS l
        LEFT JOIN pg_class AS filled ON class = 'pg_class'::regclass AND filled.oid = object AND relkind = 'm' AND relispopulated,
        snowdrift.statements_for(class, object, part);
    IF lines IS NULL AND first_lines IS NULL THEN
        RETURN;
    END IF;
    -- Once these objects are dropped, nothing else uses the keys' sequences, and the conversion drops them.
    FOR sequence IN SELECT o.sequence FROM snowdrift.owned_sequences(ARRAY(SELECT member FROM snowdrift.with_inheriting(plan.new_keys))) AS o LOOP
        creates := replace(creates, format('nextval(%L::regclass)', sequence), plan.call);
    END LOOP;
    RAISE '%', CASE WHEN refusals IS NULL THEN 'cannot convert keys because other objects depend on columns whose types must change'
            ELSE 'cannot convert keys while applications write' END
        USING ERRCODE = '0A000', DETAIL = concat_ws(E'\n', first_lines, lines),
        HINT = CASE WHEN lines IS NULL AND refusals IS NULL THEN 'Change these columns first.'
            WHEN lines IS NULL THEN 'Change these first, or use snowdrift.convert_keys(), which locks the tables until it ends; if a conversion has begun, run abandon_script() before.'
            ELSE concat_ws(E'\n', concat(CASE WHEN refusals IS NULL THEN 'In one transaction that begins with SET LOCAL lock_timeout = ''2s'', drop' ELSE 'Drop' END,
                    ' these objects in this order, convert the keys, and create the objects again in the reverse order:'),
                drops, '-- convert the keys here', creates,
                CASE WHEN creates ~ '[[:<:]](integer|smallint)[[:>:]]' OR lines ~ 'which takes integers' THEN 'First, let these statements, and the functions that they call, use bigint instead of integer.' END,
                CASE WHEN drops ~ 'DROP POLICY' THEN 'Without a policy, rows are hidden or, if it is restrictive, visible: rather let it call functions of bigint, with a cast of the key to bigint, by ALTER POLICY.' END,
                (SELECT format('New keys can be shortened in %s, so that they become equal, or show ##: use 19 digits there.', string_agg(object, ', ' ORDER BY object))
                    FROM snowdrift.narrow_expressions(plan) WHERE reason = 'width' HAVING count(*) > 0),
                'Also give the objects again what is not in these statements, such as privileges on columns, comments, options and replica identities.',
                CASE WHEN creates ~ ' ADD COLUMN ' THEN 'The columns are then the last ones of their tables: change what relies on their order, such as functions that return rows.' END) END;
END $$;

-- What prevents a change of a column's type, apart from objects that depend on it
CREATE FUNCTION snowdrift.column_obstacles(plan snowdrift.conversion, OUT member snowdrift.key_column, OUT line text) RETURNS SETOF record
    LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT m, pg_describe_object('pg_class'::regclass, c.oid, attnum) || ' ' || problem
    FROM (SELECT m, true FROM unnest((plan).members) AS m UNION ALL SELECT k, false FROM unnest((plan).new_keys) AS k) AS columns(m, is_member)
        JOIN pg_attribute ON attrelid = (m)."table" AND attnum = (m).number
        JOIN pg_class AS c ON c.oid = attrelid JOIN pg_type AS t ON t.oid = atttypid,
        LATERAL (
            SELECT format('is of the domain type %s; change its type to bigint first', format_type(atttypid, NULL)) WHERE typbasetype <> 0
            UNION ALL
            SELECT CASE WHEN other ~ '^trigger snowdrift_hold_' THEN 'is watched; call snowdrift.unwatch() first, and snowdrift.watch() afterwards'
                ELSE format('has an identity, whose sequence is also used by %s; change that first', other) END
            FROM snowdrift.owned_sequences(ARRAY[m]) AS i, snowdrift.other_users(i.sequence, ARRAY(SELECT member FROM snowdrift.with_inheriting((plan).keys))) AS other
            WHERE i.is_identity AND other !~ '^trigger snowdrift_(insert|update)_'    -- of the same watch
            UNION ALL
            SELECT 'is in a typed table' WHERE reloftype <> 0 AND is_member
            UNION ALL
            SELECT 'is part of the partition key of its table; move the rows to a partitioned table in which the column is of type bigint'
            FROM pg_partitioned_table WHERE partrelid = c.oid AND is_member
                AND (attnum = ANY (partattrs) OR EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = c.oid AND objsubid = 0
                    AND refclassid = 'pg_class'::regclass AND refobjid = c.oid AND refobjsubid = attnum AND deptype = 'i'))
            UNION ALL
            SELECT format('is in the type of %s; change that first', pg_describe_object('pg_class'::regclass, u.attrelid, u.attnum))
            FROM pg_type AS row_type, pg_depend, pg_attribute AS u JOIN pg_class AS uc ON uc.oid = u.attrelid AND uc.relkind IN ('r', 'p', 'm')
            WHERE is_member AND row_type.oid = c.reltype AND refclassid = 'pg_type'::regclass AND refobjid IN (row_type.oid, row_type.typarray)
                AND classid = 'pg_class'::regclass AND u.attrelid = objid AND u.attnum = objsubid AND objsubid > 0
            UNION ALL
            SELECT format('is in the replica identity of its table; run ALTER TABLE %s REPLICA IDENTITY FULL first, and set the index again afterwards',
                snowdrift.qualified_name(c.oid))
            FROM pg_index AS i JOIN pg_class AS ic ON ic.oid = indexrelid
            WHERE indrelid = c.oid AND is_member AND indisreplident AND ic.relispartition AND attnum = ANY (indkey) AND c.relreplident = 'i'
        ) AS p(problem)
    GROUP BY m, c.oid, attnum, problem;
END;

-- Conversion of keys: what can fail afterwards. These are guesses from names and texts: code outside of the database, and
-- statements that functions put together, are not seen.

-- The columns in partition keys that will get new keys
CREATE FUNCTION snowdrift.partitioned_by_new_keys(plan snowdrift.conversion) RETURNS SETOF snowdrift.key_column LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT DISTINCT ON (root) member FROM snowdrift.with_inheriting(snowdrift.with_referring((plan).new_keys))
        JOIN pg_partitioned_table ON partrelid = (member)."table"
    WHERE partstrat IN ('r', 'l') AND ((member).number = ANY (partattrs) OR EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass
        AND objid = partrelid AND objsubid = 0 AND refclassid = 'pg_class'::regclass AND refobjid = partrelid AND refobjsubid = (member).number AND deptype = 'i'))
    ORDER BY root, member;
END;

-- A name in lower case, with "_" before, between and after its words
CREATE FUNCTION snowdrift.words_of(name text) RETURNS text LANGUAGE sql IMMUTABLE
    RETURN concat('_', lower(regexp_replace(name, '([a-z0-9])([A-Z])', E'\\1_\\2', 'g')), '_');

-- A pattern for the names of the tables with new keys, in all forms that can be the singular; null if there are none
CREATE FUNCTION snowdrift.key_words(plan snowdrift.conversion) RETURNS text LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT format('(%s)_', string_agg(DISTINCT regexp_replace(singular, '[^[:alnum:]_]', '.', 'g'), '|')) FROM unnest((plan).new_keys) AS k JOIN pg_class AS t ON t.oid = k."table",
        LATERAL (SELECT snowdrift.words_of(relname)) AS w(word), LATERAL (VALUES (substring(word FROM '^(.*[^s]|.*ss)_$')),
            (substring(word FROM '^(.*[^s])s_$')), (substring(word FROM '^(.*(s|x|z|ch|sh))es_$')), (substring(word FROM '^(.*)ies_$') || 'y')) AS v(singular)
    WHERE length(singular) > 3 HAVING count(*) > 0;
END;

-- Whether a name seems to be a reference's: it is a table's or, unless excluded, ends like a reference, or contains a table's and is no
-- count, position or status
CREATE FUNCTION snowdrift.is_reference(name text, key_words text) RETURNS boolean LANGUAGE sql STABLE
    RETURN snowdrift.words_of(name) ~ ('^' || key_words || '$') IS TRUE OR snowdrift.words_of(name) !~ '_(paid|valid|void|bid|grid|line_no|house_no)_$' AND (
        name ~* '(.ids?|by|_from|_to|_ref|_key|_no|parent|user|usr|creator|owner|author|editor|sender|receiver|recipient|assignee|approver|member)$'
        OR (snowdrift.words_of(name) ~ key_words
            AND name !~* '(^(num|number|count|total)_|(count|counter|number|num|total|position|rank|size|limit|length|duration|percent|score|version|year|status|type|cents|amount|sort_order|display_order)s?$)'));

-- Columns of integers without a foreign key. is_reference: has the name of a reference; in a schema without new keys, also that
-- of a table with new keys
CREATE FUNCTION snowdrift.narrow_columns(plan snowdrift.conversion, OUT column_of oid, OUT number smallint, OUT name name, OUT is_reference boolean)
    RETURNS SETOF record LANGUAGE sql STABLE
BEGIN ATOMIC
    WITH words(key_words) AS MATERIALIZED (SELECT snowdrift.key_words(plan)), schemas AS MATERIALIZED (
        SELECT DISTINCT relnamespace AS schema FROM unnest((plan).new_keys) AS k JOIN pg_class AS t ON t.oid = k."table"
    )
    SELECT attrelid, attnum, attname, CASE WHEN relnamespace IN (SELECT schema FROM schemas) THEN snowdrift.is_reference(attname, key_words)
        ELSE snowdrift.words_of(attname) ~ key_words AND snowdrift.is_reference(attname, NULL) IS TRUE END
    FROM pg_attribute JOIN pg_class AS c ON c.oid = attrelid JOIN pg_namespace AS n ON n.oid = relnamespace JOIN pg_type AS y ON y.oid = atttypid
        LEFT JOIN pg_attrdef AS d ON adrelid = attrelid AND adnum = attnum, words
    WHERE relkind IN ('r', 'p', 'f') AND NOT relispartition AND attnum > 0 AND NOT attisdropped AND attinhcount = 0 AND attidentity = '' AND attgenerated = ''
        AND CASE typbasetype WHEN 0 THEN atttypid ELSE snowdrift.base_type(atttypid) END IN ('int2'::regtype, 'int4'::regtype, 'int2[]'::regtype, 'int4[]'::regtype)
        AND nspname NOT LIKE 'pg!_%' ESCAPE '!' AND nspname NOT IN ('information_schema', 'snowdrift', 'snowdrift_tables') AND EXISTS (SELECT FROM schemas)
        AND (attrelid, attnum) NOT IN (SELECT m."table", m.number FROM unnest((plan).members) AS m)
        AND coalesce(pg_get_expr(adbin, adrelid), '') NOT LIKE '%nextval(%'
        AND NOT EXISTS (SELECT FROM pg_constraint WHERE contype = 'f' AND conrelid = attrelid AND attnum = ANY (conkey))
        AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = attrelid AND deptype = 'e');
END;

-- Columns that have the name of an ID of a table with new keys, and room for fewer than 19 digits
CREATE FUNCTION snowdrift.short_columns(plan snowdrift.conversion, OUT column_of oid, OUT number smallint, OUT digits integer) RETURNS SETOF record LANGUAGE sql STABLE
BEGIN ATOMIC
    WITH words(key_words) AS MATERIALIZED (
        SELECT snowdrift.key_words(plan)
    ), named AS MATERIALIZED (
        SELECT attrelid, attnum, atttypid, atttypmod FROM pg_attribute JOIN pg_class AS c ON c.oid = attrelid, words
        WHERE relkind IN ('r', 'p') AND NOT relispartition AND attnum > 0 AND NOT attisdropped AND attinhcount = 0
            AND atttypid IN ('text'::regtype, 'varchar'::regtype, 'bpchar'::regtype, 'numeric'::regtype)
            AND attname ~* '.id$' AND snowdrift.words_of(attname) ~ key_words
    )
    SELECT attrelid, attnum, min(room) FROM named, LATERAL (
        SELECT atttypmod - 4 WHERE atttypid IN ('varchar'::regtype, 'bpchar'::regtype) AND atttypmod > 4
        UNION ALL SELECT (atttypmod - 4 >> 16) - (atttypmod - 4 & 65535) WHERE atttypid = 'numeric'::regtype AND atttypmod > 4
        UNION ALL SELECT bound[2]::integer - (bound[1] = '<')::integer FROM pg_constraint, regexp_match(pg_get_constraintdef(oid), 'length[(][^<]*[)] (<=?) ([0-9]{1,3})[)]') AS bound
            WHERE conrelid = attrelid AND contype = 'c' AND conkey = ARRAY[attnum]) AS r(room)
    WHERE room < 19 AND NOT EXISTS (SELECT FROM pg_constraint WHERE contype = 'f' AND conrelid = attrelid AND attnum = ANY (conkey))
    GROUP BY attrelid, attnum;
END;

-- The functions of triggers on the tables of a conversion, and those whose texts or arguments name such a table, or a view of
-- one. is_rewritten: the types of the table's rows change.
CREATE FUNCTION snowdrift.functions_near(plan snowdrift.conversion, OUT function oid, OUT is_rewritten boolean) RETURNS SETOF record LANGUAGE sql STABLE
BEGIN ATOMIC
    WITH RECURSIVE relations("table", is_member) AS (
        SELECT "table", true FROM unnest((plan).members)
        UNION SELECT (member)."table", false FROM snowdrift.with_inheriting(snowdrift.with_referring((plan).new_keys))
        UNION SELECT ev_class, is_member FROM relations JOIN pg_depend ON refclassid = 'pg_class'::regclass AND refobjid = "table"
            JOIN pg_rewrite AS r ON classid = 'pg_rewrite'::regclass AND objid = r.oid AND rulename = '_RETURN'
    ), near AS MATERIALIZED (
        SELECT "table", bool_or(is_member) AS is_rewritten FROM relations GROUP BY "table"
    ), words AS MATERIALIZED (    -- where a table can be: in a FROM clause, in a type, as the type of a variable
        SELECT DISTINCT p.oid, coalesce(word[1], word[2], word[3]) AS word FROM pg_proc AS p JOIN pg_language AS l ON l.oid = prolang,
            regexp_matches(lower(prosrc), '(?:(?:[[:<:]](?:from|join|into|update|only|using|table)[[:space:]]+|,[[:space:]]*)(?:"?[[:alnum:]_$]+"?[.])?"?([[:alnum:]_$]+))'
                '|(?:([[:alnum:]_$]+)"?(?:[.]"?[[:alnum:]_$]+"?)?%(?:row)?type)|(?:([[:alnum:]_$]+)"?[[:space:]]*(?:;|:=))', 'g') AS word
        WHERE lanname IN ('plpgsql', 'sql') AND prosqlbody IS NULL AND pronamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace,
                'snowdrift'::regnamespace, 'snowdrift_tables'::regnamespace)
            AND prosrc NOT LIKE '%snowdrift%_tables.%' AND NOT starts_with(proname, '_snowdrift_')
            AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = p.oid AND deptype = 'e')
            AND EXISTS (SELECT FROM near)
    )
    SELECT function, bool_or(is_rewritten) FROM (
        SELECT tgfoid, is_rewritten FROM near JOIN pg_trigger ON tgrelid = "table" JOIN pg_proc AS p ON p.oid = tgfoid
        WHERE NOT tgisinternal AND tgname <> '~snowdrift' AND pronamespace <> 'snowdrift'::regnamespace
        UNION ALL SELECT words.oid, is_rewritten FROM near JOIN pg_class AS c ON c.oid = "table" JOIN words ON word = lower(relname)
        UNION ALL SELECT p.oid, is_rewritten FROM near JOIN pg_type AS t ON typrelid = "table" JOIN pg_depend ON refclassid = 'pg_type'::regclass
                AND refobjid IN (t.oid, typarray) AND classid = 'pg_proc'::regclass JOIN pg_proc AS p ON p.oid = objid) AS f(function, is_rewritten)
    GROUP BY function;
END;

-- PL/pgSQL functions that sessions must plan again. Changing a property to what it is does so, and needs the function's owner.
CREATE FUNCTION snowdrift.functions_to_replan(plan snowdrift.conversion, OUT function oid, OUT statement text, OUT owner oid, OUT is_allowed boolean)
    RETURNS SETOF record LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT p.oid, CASE prokind WHEN 'p' THEN format('ALTER PROCEDURE %s SECURITY %s', p.oid::regprocedure, CASE WHEN prosecdef THEN 'DEFINER' ELSE 'INVOKER' END)
            ELSE format('ALTER FUNCTION %s COST %s', p.oid::regprocedure, procost) END, proowner, pg_has_role(proowner, 'USAGE')
    FROM snowdrift.functions_near(plan) JOIN pg_proc AS p ON p.oid = function JOIN pg_language AS l ON l.oid = prolang
    WHERE is_rewritten AND lanname = 'plpgsql' AND prokind IN ('f', 'p');
END;

-- Why functions of triggers, those that name a table or are called by what depends on a key, and those that take an integer with
-- the name of a reference, can fail with new keys
CREATE FUNCTION snowdrift.integers_in_functions(plan snowdrift.conversion, OUT function oid, OUT reason text) RETURNS SETOF record LANGUAGE sql STABLE
BEGIN ATOMIC
    WITH words_of_keys(key_words) AS MATERIALIZED (
        SELECT snowdrift.key_words(plan)
    ), keys AS MATERIALIZED (
        SELECT attrelid AS "table", attnum AS number, regexp_replace(attname, '[^[:alnum:]_]', '.', 'g') AS name
        FROM snowdrift.with_inheriting(snowdrift.with_referring((plan).new_keys)) JOIN pg_attribute ON attrelid = (member)."table" AND attnum = (member).number
    ), near AS MATERIALIZED (
        SELECT p.oid, prosrc, coalesce(proallargtypes, proargtypes::oid[]) || prorettype AS types FROM pg_proc AS p
        WHERE p.oid IN (SELECT f.function FROM snowdrift.functions_near(plan) AS f
            UNION ALL SELECT objid FROM keys JOIN pg_depend ON refclassid = 'pg_class'::regclass AND refobjid = "table" AND refobjsubid = number AND classid = 'pg_proc'::regclass)
    ), narrow AS MATERIALIZED (
        SELECT column_of, string_agg(name::text, ', ' ORDER BY number) AS names FROM snowdrift.narrow_columns(plan)
        WHERE is_reference OR column_of NOT IN (SELECT m."table" FROM unnest((plan).members) AS m) GROUP BY column_of
    ), named AS MATERIALIZED (    -- by its own name, or by that of a view
        SELECT DISTINCT lower(relname) AS relname, format('names %s%s, whose columns %s are integers', CASE c.oid WHEN column_of THEN 'table ' ELSE format('view %s of table ', c.oid::regclass) END,
            column_of::regclass, names) AS reason
        FROM narrow, LATERAL (SELECT column_of UNION SELECT ev_class FROM pg_depend JOIN pg_rewrite AS r ON classid = 'pg_rewrite'::regclass AND objid = r.oid
            WHERE refclassid = 'pg_class'::regclass AND refobjid = column_of AND ev_class <> column_of) AS v(relation)
            JOIN pg_class AS c ON c.oid = relation
    ), words AS MATERIALIZED (
        SELECT DISTINCT near.oid, lower(word[1]) AS word FROM near, regexp_matches(prosrc, '[[:alnum:]_$]+', 'g') AS word
    ), calls AS MATERIALIZED (
        SELECT DISTINCT near.oid, lower(word[1]) AS name FROM near, regexp_matches(prosrc, '([[:alnum:]_$]+)"?[[:space:]]*[(]', 'g') AS word
    )
    SELECT oid, string_agg(reason, '; ' ORDER BY n, reason) FROM (
        SELECT oid, 1, 'declares, takes or returns integers' FROM near WHERE prosrc ~* '[[:<:]](smallint|int2|integer|int|int4)[[:>:]]'
            OR types && '{int2,int4,int2[],int4[]}'::regtype[]::oid[]
        UNION ALL
        SELECT calls.oid, 2, 'calls ' || q.oid::regprocedure FROM calls JOIN pg_proc AS q ON lower(proname) = calls.name
        WHERE q.oid <> calls.oid AND pronamespace <> 'pg_catalog'::regnamespace AND proargtypes::oid[] && '{int2,int4,int2[],int4[]}'::regtype[]::oid[]
        UNION ALL
        SELECT DISTINCT near.oid, 2, format('calls %s(integer,integer)', lower(word[1])) FROM near, regexp_matches(prosrc,
            '(pg_(?:try_)?advisory_(?:xact_)?(?:un)?lock(?:_shared)?)[[:space:]]*[(](?:[^(),]|[(](?:[^()]|[(][^()]*[)])*[)])*,(?![[:space:]]*(?:hashtext|[0-9]))', 'gi') AS word
        UNION ALL
        SELECT p.oid, 1, 'takes integers' FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = pronamespace, words_of_keys
        WHERE key_words IS NOT NULL AND p.oid NOT IN (SELECT near.oid FROM near) AND nspname NOT LIKE 'pg!_%' ESCAPE '!'
            AND nspname NOT IN ('information_schema', 'snowdrift', 'snowdrift_tables') AND prokind IN ('f', 'p')
            AND EXISTS (SELECT FROM unnest(coalesce(proallargtypes, proargtypes::oid[]), proargnames, proargmodes) AS a(type, name, mode)
                WHERE type IN ('int2'::regtype, 'int4'::regtype) AND coalesce(mode, 'i') IN ('i', 'b', 'v') AND snowdrift.is_reference(regexp_replace(name, '^(p|in|v)?_', ''), key_words))
            AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = p.oid AND deptype = 'e')
        UNION ALL
        SELECT p.oid, 1, format('returns integers, and is called by %s', min(regexp_replace(pg_describe_object(d.classid, d.objid, d.objsubid), '^rule "?_RETURN"? on ', '')))
        FROM keys JOIN pg_depend AS d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = "table" AND d.refobjsubid = number
            JOIN pg_depend AS f ON f.classid = d.classid AND f.objid = d.objid AND f.refclassid = 'pg_proc'::regclass JOIN pg_proc AS p ON p.oid = f.refobjid
            LEFT JOIN pg_rewrite AS r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid AND rulename = '_RETURN'
        WHERE prorettype IN ('int2'::regtype, 'int4'::regtype, 'int2[]'::regtype, 'int4[]'::regtype) AND pronamespace <> 'pg_catalog'::regnamespace AND p.oid NOT IN (SELECT near.oid FROM near)
            AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = p.oid AND deptype = 'e')
            AND (ev_class IS NULL OR pg_get_viewdef(ev_class) ~ format('[[:<:]]%1$s"?[)]* (%2$s|IN)( ANY)? [( ]*(SELECT |COALESCE[(])?([^ ().]+[.])?"?%3$s"?[(]'
                || '|[[:<:]]%3$s"?[(]([^()]|[(]([^()]|[(][^()]*[)])*[)])*[)]( AS [^ ()]+)?[ )]*(%2$s) [( ]*([^ ().]+[.])?"?%1$s[[:>:]]',
                keys.name, '[<=>]+|IS (NOT )?DISTINCT FROM', regexp_replace(proname, '[^[:alnum:]_]', '.', 'g')))    -- compared with a key
        GROUP BY p.oid
        UNION ALL
        SELECT words.oid, 3, reason FROM words JOIN named ON relname = word
    ) AS r(oid, n, reason)
    GROUP BY oid;
END;

-- Views that name a table with new keys, and declare integers for the rows of a function, as crosstab() needs
CREATE FUNCTION snowdrift.views_of_integers(plan snowdrift.conversion, OUT view oid, OUT "table" oid) RETURNS SETOF record LANGUAGE sql STABLE
BEGIN ATOMIC
    WITH near AS MATERIALIZED (
        SELECT DISTINCT (member)."table" AS oid FROM snowdrift.with_inheriting(snowdrift.with_referring((plan).new_keys))
    )
    SELECT DISTINCT ON (ev_class) ev_class, c.oid FROM pg_rewrite, regexp_matches(pg_get_viewdef(ev_class), '[[:alnum:]_$]+', 'g') AS word
        JOIN pg_class AS c ON relname = word[1] JOIN near ON near.oid = c.oid
    WHERE rulename = '_RETURN' AND ev_action::text ~ ':funccoltypes [(]o [^)]*[[:<:]](21|23)[[:>:]]' ORDER BY ev_class, c.oid;
END;

-- Functions that use a sequence that the conversion drops: by its name, or with a function that finds it without its name
CREATE FUNCTION snowdrift.functions_of_sequences(plan snowdrift.conversion, OUT function oid, OUT reason text) RETURNS SETOF record LANGUAGE sql STABLE
BEGIN ATOMIC
    WITH sequences AS MATERIALIZED (
        SELECT c.oid, lower(relname) AS relname FROM snowdrift.unused_sequences(plan) JOIN pg_class AS c ON c.oid = sequence
    ), words AS MATERIALIZED (
        SELECT DISTINCT p.oid, lower(word[1]) AS word FROM pg_proc AS p JOIN pg_language AS l ON l.oid = prolang,
            regexp_matches(prosrc, '[[:alnum:]_$]+', 'g') AS word
        WHERE lanname NOT IN ('internal', 'c') AND prosqlbody IS NULL AND EXISTS (SELECT FROM sequences)
            AND pronamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace, 'snowdrift'::regnamespace, 'snowdrift_tables'::regnamespace)
    )
    SELECT words.oid, 'uses ' || string_agg(s.oid::regclass::text, ', ' ORDER BY s.oid) FROM words JOIN sequences AS s ON relname = word GROUP BY words.oid
    UNION ALL
    SELECT f.function, 'calls ' || string_agg(word, ' and ' ORDER BY word) FROM snowdrift.functions_near(plan) AS f JOIN words ON words.oid = f.function
    WHERE word IN ('lastval', 'pg_get_serial_sequence') GROUP BY f.function;
END;

-- Whether an expression casts a text, a JSON value, or a column of a longer integer type (or its max or min) to smallint or integer, or
-- to an array of them. Counts, truth values and parts of times are no keys. Casts of other expressions of keys are not found.
CREATE FUNCTION snowdrift.casts_to_integer(expression text) RETURNS boolean LANGUAGE sql STABLE
    RETURN expression ~ (SELECT format(':resulttype (21|23|1005|1007) :resultcollid|:funcid (%s|%s) |:funcid (%s|%s|%s) [^{]*:args [(][{](VAR|AGGREF :aggfnoid (%s|%s)) ',
        'int2(jsonb)'::regprocedure::oid, 'int4(jsonb)'::regprocedure::oid, 'int2(int4)'::regprocedure::oid, 'int2(int8)'::regprocedure::oid,
        'int4(int8)'::regprocedure::oid, 'max(int8)'::regprocedure::oid, 'min(int8)'::regprocedure::oid));

-- The parsed expressions of an object
CREATE FUNCTION snowdrift.expressions_of(class oid, object oid) RETURNS text LANGUAGE sql STABLE
    RETURN CASE class WHEN 'pg_rewrite'::regclass THEN (SELECT concat(ev_action, ev_qual) FROM pg_rewrite WHERE oid = object)
        WHEN 'pg_attrdef'::regclass THEN (SELECT adbin::text FROM pg_attrdef WHERE oid = object)
        WHEN 'pg_constraint'::regclass THEN (SELECT conbin::text FROM pg_constraint WHERE oid = object)
        WHEN 'pg_policy'::regclass THEN (SELECT concat(polqual, polwithcheck) FROM pg_policy WHERE oid = object)
        WHEN 'pg_trigger'::regclass THEN (SELECT tgqual::text FROM pg_trigger WHERE oid = object)
        WHEN 'pg_proc'::regclass THEN (SELECT prosqlbody::text FROM pg_proc WHERE oid = object)
        WHEN 'pg_class'::regclass THEN coalesce((SELECT concat(indexprs, indpred) FROM pg_index WHERE indexrelid = object),
            (SELECT ev_action::text FROM pg_rewrite WHERE ev_class = object AND rulename = '_RETURN')) END;

-- What casts keys and their references to integers, compares them with a number that is less than new keys, formats them to a width,
-- or asks for the last number of a sequence
CREATE FUNCTION snowdrift.narrow_expressions(plan snowdrift.conversion, OUT object text, OUT reason text) RETURNS SETOF record LANGUAGE sql STABLE
BEGIN ATOMIC
    WITH keys AS MATERIALIZED (
        SELECT member, concat('[[:<:]]', name, '"?([)]::[a-z ]+|, [0-9]+|[)])* <=? [(]*''?[0-9]{1,17}([^0-9.]|$)|[( ][0-9]{1,17}[)]*(::[a-z]+)? >=? [(]*([^ ().]+[.])?"?', name, '[[:>:]]') AS limited,
            '(lpad|to_char|"?left"?|"?right"?|"?substr(ing)?"?)[[:space:]]*[(]([([:space:]]|(cast|max|min)[(])*([[:alnum:]_$"]+[)]?[.])?"?' || name
            || '"?([)[:space:]]|::[a-z ]+|as [a-z ]+)*(,|[[:<:]]from)(?![[:space:]]*(1(,| for)[[:space:]]*)?(19|[2-9][0-9]|1[0-9][0-9]|''([^''09]*[09]){19}))' AS formatted
        FROM snowdrift.with_inheriting(snowdrift.with_referring((plan).new_keys)) JOIN pg_attribute ON attrelid = (member)."table" AND attnum = (member).number,
            LATERAL (SELECT regexp_replace(attname, '[^[:alnum:]_]', '.', 'g')) AS n(name)
    ), bodies AS MATERIALIZED (
        SELECT p.oid, coalesce(pg_get_function_sqlbody(p.oid), prosrc) AS body FROM snowdrift.functions_near(plan) JOIN pg_proc AS p ON p.oid = function
    )
    SELECT DISTINCT CASE WHEN ev_class IS NULL THEN pg_describe_object(classid, objid, objsubid) WHEN rulename = '_RETURN' THEN pg_describe_object('pg_class'::regclass, ev_class, 0)
            ELSE pg_describe_object('pg_rewrite'::regclass, objid, 0) END, reason
    FROM keys
        JOIN pg_depend AS d ON refclassid = 'pg_class'::regclass AND refobjid = (member)."table" AND refobjsubid = (member).number
        LEFT JOIN pg_rewrite AS r ON classid = 'pg_rewrite'::regclass AND r.oid = objid
        LEFT JOIN pg_attrdef AS a ON classid = 'pg_attrdef'::regclass AND a.oid = objid
        LEFT JOIN pg_attribute AS g ON attrelid = adrelid AND attnum = adnum AND (attgenerated <> '' OR member <> ALL ((plan).new_keys))
        LEFT JOIN pg_constraint AS c ON classid = 'pg_constraint'::regclass AND c.oid = objid AND contype = 'c',
        LATERAL (SELECT coalesce(pg_get_constraintdef(c.oid), CASE WHEN g.attnum IS NOT NULL THEN pg_get_expr(adbin, adrelid) END, CASE classid WHEN 'pg_class'::regclass THEN pg_get_indexdef(objid) WHEN 'pg_proc'::regclass THEN pg_get_function_sqlbody(objid)
                WHEN 'pg_trigger'::regclass THEN pg_get_triggerdef(objid)
                WHEN 'pg_policy'::regclass THEN (SELECT concat(pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid)) FROM pg_policy WHERE oid = objid) END,
            CASE rulename WHEN '_RETURN' THEN pg_get_viewdef(ev_class) END)) AS t(text),
        LATERAL (VALUES (snowdrift.casts_to_integer(snowdrift.expressions_of(classid, objid)), 'cast'),
            (attgenerated <> '' AND g.atttypid IN ('int2'::regtype, 'int4'::regtype), 'cast'),
            (c.oid IS NOT NULL AND text ~ limited AND text !~ '[[:<:]]num_(non)?nulls[(]', 'limit'),
            (text ~* formatted, 'width')) AS e(is_narrow, reason)
    WHERE is_narrow AND coalesce(c.coninhcount, g.attinhcount, 0) = 0 AND NOT EXISTS (SELECT FROM pg_inherits WHERE classid = 'pg_class'::regclass AND inhrelid = objid)
    UNION SELECT pg_describe_object(class, object, part), 'cast' FROM unnest((plan).dependents) WHERE snowdrift.casts_to_integer(snowdrift.expressions_of(class, object))    -- also views of views
    UNION SELECT pg_describe_object('pg_proc'::regclass, bodies.oid, 0), 'width' FROM bodies JOIN keys ON body ~* formatted
    UNION SELECT pg_describe_object(class, e.oid, 0), 'last number' FROM (SELECT DISTINCT (member)."table" FROM keys) AS t,
        LATERAL (SELECT 'pg_attrdef'::regclass, oid, pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = "table"
            UNION ALL SELECT 'pg_rewrite'::regclass, oid, pg_get_ruledef(oid) FROM pg_rewrite WHERE ev_class = "table") AS e(class, oid, text)
    WHERE text ~ '[[:<:]]lastval[(]' OR text ~ '[[:<:]]currval[(]' AND EXISTS (SELECT FROM snowdrift.owned_sequences(ARRAY(SELECT member FROM snowdrift.with_inheriting((plan).new_keys))) AS o
        JOIN pg_depend ON classid = class AND objid = e.oid AND refclassid = 'pg_class'::regclass AND refobjid = o.sequence);
END;

-- The function that new keys call, and the one that it calls in the SQL edition
CREATE FUNCTION snowdrift.generator_functions(plan snowdrift.conversion) RETURNS regprocedure[] LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT f || ARRAY(SELECT refobjid::regprocedure FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = f AND refclassid = classid)
    FROM (VALUES (CASE WHEN (plan).call LIKE '%()' THEN '@extschema@.next_snowflake()'::regprocedure ELSE '@extschema@.next_snowflake(text)'::regprocedure END)) AS v(f);
END;

-- The roles that may insert into a table with new keys, but not call the generator
CREATE FUNCTION snowdrift.roles_without_generator(plan snowdrift.conversion, OUT "table" oid, OUT role text) RETURNS SETOF record LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT k."table", snowdrift.grantee_name(r) FROM unnest((plan).new_keys) AS k, snowdrift.inserting_roles(k."table") AS r
    WHERE EXISTS (SELECT FROM unnest(snowdrift.generator_functions(plan)) AS f
        WHERE NOT CASE r WHEN 0 THEN has_function_privilege('public', f::oid, 'EXECUTE') ELSE has_function_privilege(r, f::oid, 'EXECUTE') END);
END;

-- One line per risk, as a comment in SQL: the kind, the object, what will happen, and what to do.
CREATE FUNCTION snowdrift.conversion_risks(plan snowdrift.conversion, dry_run boolean) RETURNS SETOF text
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off SET jit = off AS $$
#variable_conflict use_column
BEGIN
    IF cardinality(plan."tables") = 0 THEN
        RETURN;
    END IF;
    RETURN QUERY SELECT regexp_replace('-- warning: ' || text, '[[:cntrl:]]', ' ', 'g') FROM (
        SELECT 1 AS kind, m."table" AS o, m.number::text AS n, format('partition key: column %I of table %s: new keys are far above the old ones; create partitions for them%s, before or in the same transaction',
            attname, attrelid::regclass, CASE partstrat WHEN 'r' THEN ' with snowdrift.create_partitions() and its argument layout' END) AS text
        FROM snowdrift.partitioned_by_new_keys(plan) AS m JOIN pg_attribute ON attrelid = m."table" AND attnum = m.number JOIN pg_partitioned_table ON partrelid = attrelid
        UNION ALL
        SELECT 2, column_of, number::text, format('no foreign key: column %I of table %s: new keys raise 22003; if it refers to a converted key, run ALTER TABLE %s ALTER COLUMN %I TYPE %s;',
            name, column_of::regclass, column_of::regclass, name,
            CASE WHEN atttypid IN ('int2[]'::regtype, 'int4[]'::regtype) THEN 'bigint[]' ELSE 'bigint' END)
        FROM snowdrift.narrow_columns(plan) JOIN pg_attribute ON attrelid = column_of AND attnum = number WHERE is_reference
        UNION ALL
        SELECT 2, column_of, number::text, format('short column: column %I of table %s: it has room for %s digits, and new keys can have 19', attname, column_of::regclass, digits)
        FROM snowdrift.short_columns(plan) JOIN pg_attribute ON attrelid = column_of AND attnum = number
        UNION ALL
        SELECT 3, function, '', format('integers in a function: %s: new keys can raise an error, because it %s; use bigint there', function::regprocedure, reason)
        FROM snowdrift.integers_in_functions(plan)
        UNION ALL
        SELECT 4, function, '', format('open connections: %s: sessions that have run it raise 42804 until they reconnect; as role %s, run %s;',
            function::regprocedure, owner::regrole, statement)
        FROM snowdrift.functions_to_replan(plan) WHERE NOT is_allowed
        UNION ALL
        SELECT 3, view, '', format('integers in a view: %s: new keys can raise an error there, because it names table %s and declares integers for the result of a function; use bigint there',
            view::regclass, v."table"::regclass)
        FROM snowdrift.views_of_integers(plan) AS v
        UNION ALL
        SELECT 3, function, 'sequence', format('dropped sequence: %s: it can fail after the conversion, because it %s; use RETURNING, or %s',
            function::regprocedure, reason, plan.call)
        FROM snowdrift.functions_of_sequences(plan)
        UNION ALL
        SELECT 5, NULL, object, format(CASE reason WHEN 'cast' THEN 'cast to integer: %s: casting a new key there, or comparing one with the result, raises 22003; use bigint there before the conversion'
            WHEN 'limit' THEN 'limit: %s: its number is small, so new keys can violate it; raise the number'
            WHEN 'last number' THEN 'last number: %s: it calls currval or lastval, which raise 55000 or return an old number; use a trigger with the new row'
            ELSE 'fixed width: %s: it can shorten new keys, so that they become equal, or show ##; use 19 digits' END, object)
        FROM snowdrift.narrow_expressions(plan)
        UNION ALL
        SELECT 0, p."table", role, format('privilege: table %s: role %s may insert rows, but not draw keys; run GRANT EXECUTE ON FUNCTION %s TO %s;',
            p."table"::regclass, role, array_to_string(snowdrift.generator_functions(plan), ', '), role)
        FROM snowdrift.roles_without_generator(plan) AS p
        UNION ALL
        SELECT 6, k."table", '', format('keys not checked: table %s: row-level security hides rows from a dry run; the conversion compares the keys', k."table"::regclass)
        FROM unnest(plan.new_keys) AS k WHERE dry_run AND k."table" IN (SELECT snowdrift.forced_tables(plan))
    ) AS r ORDER BY kind, o, n;
END $$;

-- Conversion of keys: the statements. These functions read the catalog and change nothing.

-- The statements that give a new object its owner and privileges. It has the default privileges of the role that creates it,
-- which can be any role, so those of all roles are revoked first. type: as in ALTER; kind: as in pg_default_acl.
CREATE FUNCTION snowdrift.ownership_statements(type text, name text, kind "char", namespace oid, owner oid, acl aclitem[]) RETURNS SETOF text
    LANGUAGE sql STABLE
BEGIN ATOMIC
    WITH default_acl AS (
        SELECT defaclacl FROM pg_default_acl WHERE defaclobjtype = kind AND defaclnamespace IN (0, namespace)
    ), revoked AS (
        SELECT grantee FROM aclexplode(acldefault(kind, owner))
        UNION SELECT grantee FROM default_acl, aclexplode(defaclacl)
    ), granted AS (
        SELECT grantee, is_grantable, string_agg(privilege_type, ', ' ORDER BY privilege_type) AS privileges
        FROM aclexplode(coalesce(acl, acldefault(kind, owner))) GROUP BY grantee, is_grantable
    ), object(name) AS (    -- none if it keeps the privileges of new objects
        SELECT concat(CASE kind WHEN 'f' THEN type || ' ' END, name) WHERE acl IS NOT NULL OR EXISTS (SELECT FROM default_acl)
    ), statements(step, grantee, statement) AS (
        SELECT 1, 0::oid, format('ALTER %s %s OWNER TO %s', type, name, owner::regrole)
        UNION ALL
        SELECT 2, 0::oid, format('REVOKE ALL ON %s FROM %s', object.name,
            (SELECT string_agg(snowdrift.grantee_name(grantee), ', ' ORDER BY grantee) FROM revoked))
        FROM object
        UNION ALL
        SELECT 3, grantee, format('GRANT %s ON %s TO %s%s', privileges, object.name, snowdrift.grantee_name(grantee),
            CASE WHEN is_grantable THEN ' WITH GRANT OPTION' END)
        FROM object, granted
    )
    SELECT statement FROM statements ORDER BY step, grantee, statement;
END;

-- The statements that create a view, a materialized view, a trigger or a policy with all its properties.
CREATE FUNCTION snowdrift.statements_to_create(d snowdrift.dependent) RETURNS SETOF text
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off
    SET timezone = 'UTC' SET datestyle = ISO SET intervalstyle = postgres SET extra_float_digits = 3 AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY WITH view AS (
        SELECT *, oid::regclass AS name, CASE relkind WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE 'VIEW' END AS type
        FROM pg_class WHERE d.class = 'pg_class'::regclass AND oid = d.object
    ), statements(step, subject, statement) AS (
        SELECT 1, 0::oid, format(E'CREATE %s %s%s AS\n%s%s', type, name,
            (SELECT format(' WITH (%s)', string_agg(format('%I = %L', option_name, option_value), ', '))
                FROM pg_options_to_table(reloptions) HAVING count(*) > 0),
            rtrim(pg_get_viewdef(oid), ';'), CASE relkind WHEN 'm' THEN E'\nWITH NO DATA' END) FROM view
        UNION ALL
        SELECT 2, n::oid, s
        FROM view, snowdrift.ownership_statements(type, name::text, 'r', relnamespace, relowner, relacl) WITH ORDINALITY AS t(s, n)
        UNION ALL
        SELECT 3, grantee, format('GRANT %s ON %s TO %s%s',
            string_agg(format('%s (%I)', privilege_type, attname), ', ' ORDER BY attnum, privilege_type), name,
            snowdrift.grantee_name(grantee), CASE WHEN is_grantable THEN ' WITH GRANT OPTION' END)
        FROM view JOIN pg_attribute ON attrelid = oid, aclexplode(attacl) GROUP BY name, grantee, is_grantable
        UNION ALL
        SELECT 4, objsubid::oid, format('COMMENT ON %s IS %L', CASE objsubid WHEN 0 THEN format('%s %s', type, name) ELSE
            format('COLUMN %s.%I', name, (SELECT attname FROM pg_attribute WHERE attrelid = oid AND attnum = objsubid)) END,
            description)
        FROM pg_description JOIN view ON objoid = oid WHERE classoid = 'pg_class'::regclass
    )
    SELECT statement FROM statements ORDER BY step, subject, statement;

    RETURN QUERY SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE d.class = 'pg_trigger'::regclass AND oid = d.object;
    RETURN QUERY WITH RECURSIVE copies AS (
        SELECT * FROM pg_trigger WHERE d.class = 'pg_trigger'::regclass AND oid = d.object
        UNION ALL SELECT t.* FROM pg_trigger AS t JOIN copies ON t.tgparentid = copies.oid
    )
    SELECT format('ALTER TABLE ONLY %s %s TRIGGER %I', snowdrift.qualified_name(tgrelid),
        CASE tgenabled WHEN 'D' THEN 'DISABLE' WHEN 'R' THEN 'ENABLE REPLICA' WHEN 'A' THEN 'ENABLE ALWAYS' ELSE 'ENABLE' END, tgname)
    FROM copies WHERE tgenabled <> 'O' OR EXISTS (SELECT FROM copies AS c WHERE tgenabled <> 'O');

    RETURN QUERY SELECT concat(format('CREATE POLICY %I ON %s AS %s FOR %s TO %s', polname, snowdrift.qualified_name(polrelid),
            CASE WHEN polpermissive THEN 'PERMISSIVE' ELSE 'RESTRICTIVE' END,
            CASE polcmd WHEN 'r' THEN 'SELECT' WHEN 'a' THEN 'INSERT' WHEN 'w' THEN 'UPDATE' WHEN 'd' THEN 'DELETE' ELSE 'ALL' END,
            (SELECT string_agg(snowdrift.grantee_name(role), ', ') FROM unnest(polroles) AS role)),
        ' USING (' || pg_get_expr(polqual, polrelid) || ')', ' WITH CHECK (' || pg_get_expr(polwithcheck, polrelid) || ')')
    FROM pg_policy WHERE d.class = 'pg_policy'::regclass AND oid = d.object;

    RETURN QUERY SELECT format('COMMENT ON %s IS %L', CASE d.class WHEN 'pg_trigger'::regclass
            THEN (SELECT format('TRIGGER %I ON %s', tgname, snowdrift.qualified_name(tgrelid)) FROM pg_trigger WHERE oid = d.object)
            ELSE (SELECT format('POLICY %I ON %s', polname, snowdrift.qualified_name(polrelid)) FROM pg_policy WHERE oid = d.object) END,
        description)
    FROM pg_description WHERE classoid = d.class AND objoid = d.object AND d.class <> 'pg_class'::regclass;
END $$;

-- The statements that change what generates the keys. They take little time, and run before those that rewrite tables, so
-- that their errors occur early. Several keys can use a sequence, so all defaults change before a sequence is dropped.
-- DROP IDENTITY drops one while defaults change, so the defaults that use it are dropped first.
CREATE FUNCTION snowdrift.default_statements(plan snowdrift.conversion) RETURNS SETOF text
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
    members CONSTANT snowdrift.key_column[] := ARRAY(SELECT member FROM snowdrift.with_inheriting(plan.new_keys));
BEGIN
    RETURN QUERY SELECT format('ALTER TABLE %s ALTER COLUMN %I DROP DEFAULT', snowdrift.qualified_name(attrelid), attname)
    FROM snowdrift.key_defaults(members, plan.call) JOIN pg_attribute ON attrelid = (key)."table" AND attnum = (key).number
    WHERE sequence IN (SELECT u.sequence FROM snowdrift.unused_sequences(plan) AS u WHERE is_identity) ORDER BY key;

    RETURN QUERY SELECT format('ALTER TABLE %s %sALTER COLUMN %I %s', snowdrift.qualified_name(attrelid),
        CASE WHEN member = root AND attidentity <> '' THEN format('ALTER COLUMN %I DROP IDENTITY, ', attname) END, attname,
        CASE WHEN member = root THEN 'SET DEFAULT ' || plan.call ELSE 'DROP IDENTITY' END)
    FROM snowdrift.with_inheriting(plan.new_keys) JOIN pg_attribute ON attrelid = (member)."table" AND attnum = (member).number
        JOIN pg_class AS c ON c.oid = attrelid
    WHERE member = root OR (attidentity <> '' AND NOT (relispartition AND current_setting('server_version_num')::integer >= 170000))
    ORDER BY root, member = root, member;

    RETURN QUERY SELECT format('DROP SEQUENCE %s', snowdrift.qualified_name(sequence)) FROM snowdrift.unused_sequences(plan) WHERE NOT is_identity;
END $$;

-- The tables whose row-level security hides rows from the caller, who owns them
CREATE FUNCTION snowdrift.forced_tables(plan snowdrift.conversion) RETURNS SETOF oid LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT relation FROM snowdrift.with_heirs((plan)."tables") AS relation JOIN pg_class ON pg_class.oid = relation
    WHERE relrowsecurity AND relforcerowsecurity AND NOT (SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user) ORDER BY relation;
END;

-- The views, triggers and policies to create again, in this order
CREATE FUNCTION snowdrift.again(plan snowdrift.conversion, OUT n bigint, OUT again snowdrift.dependent) RETURNS SETOF record LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT row_number() OVER (ORDER BY max(level), class = 'pg_class'::regclass DESC, class, object DESC),
        ROW(class, object, part, 0, 0, 0, false, max(level))::snowdrift.dependent
    FROM unnest((plan).dependents) GROUP BY class, object, part;
END;

-- Drop the views, triggers and policies that depend on the columns.
CREATE FUNCTION snowdrift.statements_before(plan snowdrift.conversion) RETURNS SETOF text
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
BEGIN
    RETURN QUERY SELECT dropped FROM snowdrift.again(plan), snowdrift.statements_for((again).class, (again).object, (again).part)
        ORDER BY (again).level DESC, n DESC;
END $$;

-- Create them again, and let sessions plan functions again. path: the caller's search path.
CREATE FUNCTION snowdrift.statements_after(plan snowdrift.conversion, path text) RETURNS SETOF text
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
BEGIN
    IF cardinality(plan.dependents) > 0 THEN
        RETURN NEXT 'SET LOCAL search_path = pg_catalog, pg_temp';
        RETURN QUERY SELECT s FROM snowdrift.again(plan), snowdrift.statements_to_create(again) WITH ORDINALITY AS t(s, m) ORDER BY n, m;
        RETURN NEXT format('SELECT pg_catalog.set_config(''search_path'', %L, true)', path);
    END IF;
    -- Sessions that have run a PL/pgSQL function plan it again after this, and otherwise raise 42804.
    RETURN QUERY SELECT statement FROM snowdrift.functions_to_replan(plan) WHERE is_allowed ORDER BY statement;
END $$;

-- All statements of a conversion. path: the caller's search path.
CREATE FUNCTION snowdrift.conversion_statements(plan snowdrift.conversion, path text) RETURNS SETOF text
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
    rewritten CONSTANT oid[] := ARRAY(SELECT DISTINCT "table" FROM unnest(plan.members));
BEGIN
    IF cardinality(plan."tables") = 0 THEN
        RETURN;
    END IF;
    RETURN QUERY SELECT * FROM snowdrift.statements_before(plan);
    RETURN NEXT snowdrift.lock_statement(plan, 'ACCESS EXCLUSIVE');
    -- Forced row-level security would hide rows when PostgreSQL checks foreign keys again.
    RETURN QUERY SELECT format('ALTER TABLE %s NO FORCE ROW LEVEL SECURITY', snowdrift.qualified_name(oid)) FROM snowdrift.forced_tables(plan) AS oid;
    RETURN QUERY SELECT * FROM snowdrift.default_statements(plan);
    RETURN QUERY SELECT format('ALTER TABLE %s %s', snowdrift.qualified_name(attrelid),
        string_agg(format('ALTER COLUMN %I TYPE bigint', attname), ', ' ORDER BY attnum))
    FROM unnest(plan.widened) AS w JOIN pg_attribute ON attrelid = w."table" AND attnum = w.number GROUP BY attrelid ORDER BY attrelid;
    RETURN QUERY SELECT format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', snowdrift.qualified_name(oid)) FROM snowdrift.forced_tables(plan) AS oid;
    -- PostgreSQL does not keep these when it builds objects again.
    RETURN QUERY SELECT format('ALTER INDEX %s ALTER COLUMN %s SET STATISTICS %s', snowdrift.qualified_name(indexrelid), attnum, attstattarget)
    FROM pg_index JOIN pg_attribute ON attrelid = indexrelid JOIN pg_class AS c ON c.oid = indexrelid
    WHERE indrelid = ANY (rewritten) AND attstattarget >= 0 AND indexprs IS NOT NULL AND NOT relispartition ORDER BY indexrelid, attnum;
    RETURN QUERY SELECT format('ALTER STATISTICS %I.%I SET STATISTICS %s', nspname, stxname, stxstattarget)
    FROM pg_statistic_ext AS s JOIN pg_namespace AS n ON n.oid = stxnamespace
    WHERE stxrelid = ANY (rewritten) AND stxstattarget >= 0 ORDER BY s.oid;
    RETURN QUERY SELECT * FROM snowdrift.statements_after(plan, path);
    RETURN QUERY SELECT * FROM snowdrift.watch_statements(plan.new_keys);
END $$;

-- A watch depends on what draws the key.
CREATE FUNCTION snowdrift.watch_statements(keys snowdrift.key_column[]) RETURNS SETOF text
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
    heir regclass;
BEGIN
    SELECT (member)."table" INTO heir FROM snowdrift.with_inheriting(keys)
    WHERE member <> root AND EXISTS (SELECT FROM snowdrift.watches((member)."table") AS w WHERE w.number = (member).number) ORDER BY member LIMIT 1;
    IF FOUND THEN
        RAISE 'table "%" is watched', snowdrift.plain_name(heir) USING ERRCODE = '0A000',
            HINT = format('Call snowdrift.unwatch(%L) first. Afterwards, watch it again, or its partitioned table.', heir);
    END IF;
    RETURN QUERY SELECT format('SELECT snowdrift.watch(%L, %L)', snowdrift.qualified_name(attrelid), attname)
    FROM unnest(keys) AS k JOIN pg_attribute ON attrelid = k."table" AND attnum = k.number
    WHERE EXISTS (SELECT FROM snowdrift.watches(attrelid) AS w WHERE w.number = attnum) ORDER BY k;
END $$;

CREATE FUNCTION snowdrift.lock_statement(plan snowdrift.conversion, mode text) RETURNS text
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
BEGIN
    RETURN (SELECT format('LOCK TABLE %s IN %s MODE', string_agg(snowdrift.qualified_name(t), ', ' ORDER BY n), mode)
        FROM unnest(plan."tables") WITH ORDINALITY AS u(t, n) HAVING count(*) > 0);
END $$;

-- Conversion of keys: what users call, and the execution of the statements. They run with the caller's rights and search
-- path, on which the functions of users' indexes, triggers and constraints rely. Functions that execute them therefore set
-- no search path, and qualify all names.

-- The schemas whose names the statements contain, as "OID name"
CREATE FUNCTION snowdrift.schemas_of(plan snowdrift.conversion) RETURNS text[]
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN
    RETURN ARRAY(
        WITH names(nspname) AS (
            SELECT nspname FROM snowdrift.with_heirs(plan."tables" || ARRAY(SELECT object FROM unnest(plan.dependents)
                WHERE class = 'pg_class'::regclass)) AS relation JOIN pg_class AS c ON c.oid = relation JOIN pg_namespace AS n ON n.oid = relnamespace
            UNION SELECT (parse_ident(schema))[1] FROM unnest(plan.dependents) AS d
                JOIN pg_rewrite AS r ON class = 'pg_class'::regclass AND ev_class = object
                JOIN pg_depend ON classid = 'pg_rewrite'::regclass AND objid = r.oid, pg_identify_object(refclassid, refobjid, 0)
            WHERE schema IS NOT NULL
            UNION SELECT (parse_ident(plan.call, false))[1]
        )
        SELECT format('%s %s', n.oid, n.nspname) FROM names JOIN pg_namespace AS n ON n.nspname = names.nspname WHERE NOT pg_is_other_temp_schema(n.oid) ORDER BY n.oid);
END $$;

-- Ensure that schemas still have their names: ALTER SCHEMA ... RENAME does not wait for locks of the tables in it.
CREATE FUNCTION snowdrift.check_schemas(schemas text[]) RETURNS void
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    renamed CONSTANT text := (SELECT min(s) FROM unnest(schemas) AS s
        WHERE NOT EXISTS (SELECT FROM pg_namespace WHERE oid = split_part(s, ' ', 1)::oid AND nspname = substr(s, strpos(s, ' ') + 1)));
BEGIN
    IF renamed IS NOT NULL THEN
        RAISE 'schema "%" was renamed during the conversion', substr(renamed, strpos(renamed, ' ') + 1)
            USING ERRCODE = '55000', HINT = 'Convert the keys again.';
    END IF;
END $$;

-- Estimate the locks that a conversion needs: those of tables, indexes and TOAST tables, of their new versions, and of the
-- objects that PostgreSQL drops to create them again.
-- PostgreSQL keeps some room above the nominal size, which all databases of the server share.
CREATE FUNCTION snowdrift.check_locks(plan snowdrift.conversion) RETURNS void
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    slots CONSTANT integer := current_setting('max_connections')::integer + current_setting('max_prepared_transactions')::integer
        + coalesce(current_setting('autovacuum_worker_slots', true), current_setting('autovacuum_max_workers'))::integer + 1
        + current_setting('max_worker_processes')::integer + current_setting('max_wal_senders')::integer;
    size CONSTANT integer := slots * current_setting('max_locks_per_transaction')::integer;
    needed bigint;
BEGIN
    SELECT count(*) + 2 * cardinality(plan.new_keys)    -- with their sequences and defaults
        + sum(CASE WHEN is_rewritten THEN 6 + indexes + changed + CASE WHEN reltoastrelid <> 0 THEN 4 ELSE 0 END ELSE indexes END)
        + 13 * (SELECT count(DISTINCT c.oid) FROM pg_constraint AS c, unnest(conkey, confkey) AS u(f, t)    -- 5 constraints, 8 triggers
            WHERE contype = 'f' AND ((conrelid, f) IN (SELECT m."table", m.number FROM unnest(plan.members) AS m)
                OR (confrelid, t) IN (SELECT m."table", m.number FROM unnest(plan.members) AS m)))
    INTO needed
    FROM (SELECT reltoastrelid, relation = ANY (ARRAY(SELECT m."table" FROM unnest(plan.members) AS m)) AS is_rewritten,
            (SELECT count(*) FROM pg_index WHERE indrelid = relation) AS indexes,
            (SELECT count(*) FROM pg_index WHERE indrelid = relation AND (indexprs IS NOT NULL OR indpred IS NOT NULL
                OR EXISTS (SELECT FROM unnest(plan.members) AS m WHERE m."table" = relation AND m.number = ANY (indkey)))) AS changed
        FROM snowdrift.with_heirs(plan."tables") AS relation JOIN pg_class ON oid = relation) AS r;
    IF needed > size THEN
        RAISE 'the conversion needs about % locks, and the server has room for %', needed, size USING ERRCODE = '53200',
            HINT = format('Set max_locks_per_transaction to %s or more and restart the server, or convert the tables in several calls.', needed * 2 / slots);
    ELSIF needed > size / 2 THEN
        RAISE NOTICE 'the conversion needs about % locks, and the server has room for %', needed, size
            USING DETAIL = 'Statements of other sessions, also in other databases, raise an error when the room is used up.',
                HINT = format('Set max_locks_per_transaction to %s or more and restart the server, or convert the tables in several calls.', needed * 2 / slots);
    END IF;
END $$;

-- Report the effects that users must know.
CREATE FUNCTION snowdrift.report_conversion(plan snowdrift.conversion, tables oid[], risks text[]) RETURNS void
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
    members CONSTANT snowdrift.key_column[] := ARRAY(SELECT member FROM snowdrift.with_inheriting(plan.new_keys));
    keys CONSTANT snowdrift.key_column[] := snowdrift.find_keys(tables, plan.call);    -- those that refer to others, too
    r record;
BEGIN
    FOR r IN SELECT DISTINCT c.oid, relname FROM unnest(tables) AS t JOIN pg_class AS c ON c.oid = t
        WHERE c.oid <> ALL (ARRAY(SELECT k."table" FROM unnest(plan.keys) AS k)) ORDER BY c.oid LOOP
        IF EXISTS (SELECT FROM unnest(keys) AS k WHERE k."table" = r.oid) THEN
            RAISE NOTICE 'table "%" is skipped', r.relname
                USING DETAIL = 'Its primary key refers to the key of another table, whose values it has.',
                    HINT = format('Drop what generates its values, if nothing uses it: %s;', (SELECT string_agg(format('ALTER TABLE %s ALTER COLUMN %I DROP %s',
                            snowdrift.qualified_name(r.oid), attname, CASE attidentity WHEN '' THEN 'DEFAULT' ELSE 'IDENTITY' END), '; ')
                        FROM unnest(keys) AS k JOIN pg_attribute ON attrelid = k."table" AND attnum = k.number WHERE k."table" = r.oid));
        ELSE
            RAISE NOTICE 'table "%" is skipped', r.relname USING DETAIL = 'Its primary key has no serial or identity column of its own.',
                HINT = 'snowdrift.convert_column() converts other columns.';
        END IF;
    END LOOP;
    IF cardinality(plan."tables") = 0 THEN
        FOR r IN SELECT attname, relname FROM unnest(plan.keys) AS k JOIN pg_attribute ON attrelid = k."table" AND attnum = k.number
                JOIN pg_class AS c ON c.oid = attrelid ORDER BY attrelid, attnum LOOP
            RAISE NOTICE 'column "%" of table "%" is already converted', r.attname, r.relname;
        END LOOP;
    END IF;
    FOR r IN SELECT sequence, attname, relname, other, is_used FROM (SELECT DISTINCT ON (sequence) sequence, key FROM snowdrift.key_defaults(members, plan.call)
                WHERE kind = 'sequence' AND sequence IS NOT NULL AND sequence NOT IN (SELECT u.sequence FROM snowdrift.unused_sequences(plan) AS u)
                ORDER BY sequence, key) AS s
            JOIN pg_attribute ON attrelid = (key)."table" AND attnum = (key).number JOIN pg_class AS c ON c.oid = attrelid
            LEFT JOIN LATERAL (SELECT min(o) FILTER (WHERE o !~ '^trigger snowdrift_(hold|insert|update)_'), count(*) > 0 FROM snowdrift.other_users(sequence, members) AS o) AS o(other, is_used) ON true
            ORDER BY key LOOP
        RAISE NOTICE 'sequence % is kept', snowdrift.qualified_name(r.sequence)
            USING DETAIL = coalesce('Another object uses the sequence: ' || r.other || '.',
                CASE WHEN r.is_used THEN 'The table''s watch used the sequence. Drop it after the conversion if no program uses it.' END,
                format('Column "%s" of table "%s" uses the sequence, but does not own it.', r.attname, r.relname));
    END LOOP;
    FOR r IN SELECT attname, relname, expression FROM (
                SELECT key, expression, lag(expression) OVER (PARTITION BY root ORDER BY member <> root, member) IS DISTINCT FROM expression AS is_first
                FROM snowdrift.with_inheriting(plan.new_keys), snowdrift.key_defaults(ARRAY[member], plan.call) WHERE kind = 'other') AS d
            JOIN pg_attribute ON attrelid = (key)."table" AND attnum = (key).number JOIN pg_class AS c ON c.oid = attrelid
        WHERE is_first ORDER BY key LOOP
        RAISE NOTICE 'default of column "%" of table "%" is replaced', r.attname, r.relname
            USING DETAIL = format('It was %s. IDs of another generator can have another layout, and can equal earlier ones; readers of new rows miss those below their positions.', r.expression);
    END LOOP;
    IF cardinality(risks) > 0 THEN
        RAISE WARNING 'new keys can cause errors after the conversion' USING DETAIL = replace(array_to_string(risks, E'\n'), '-- warning: ', ''),
            HINT = 'The lines are guesses from the names and texts in the catalog. Check them before the conversion.';
    END IF;
END $$;

-- The queries for the greatest keys, of new keys; also those that their sequences have drawn, because readers of new rows may have passed
-- rows that were deleted. is_forced: row-level security would hide rows from the caller.
CREATE FUNCTION snowdrift.key_checks(plan snowdrift.conversion, OUT attname name, OUT relname name, OUT name text, OUT query text, OUT is_forced boolean)
    RETURNS SETOF record LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT a.attname, c.relname, snowdrift.qualified_name(c.oid),
        format('SELECT GREATEST(pg_catalog.max(%I)%s)::pg_catalog.int8 FROM %s', a.attname, (SELECT string_agg(format(', pg_catalog.pg_sequence_last_value(%s)', d.sequence), '')
            FROM snowdrift.drawing_columns(c.oid) AS d WHERE d.number = a.attnum AND d.kind = 'sequence' AND has_sequence_privilege(d.sequence, 'SELECT, USAGE')), snowdrift.qualified_name(c.oid)),
        c.oid IN (SELECT snowdrift.forced_tables(plan))
    FROM unnest(plan.new_keys) AS k JOIN pg_attribute AS a ON attrelid = k."table" AND attnum = k.number JOIN pg_class AS c ON c.oid = attrelid ORDER BY k;
END $$;

-- Ensure that keys are below a new ID.
CREATE FUNCTION snowdrift.check_keys(plan snowdrift.conversion, first_id bigint, dry_run boolean) RETURNS void
    LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_variable
DECLARE
    key_check pg_catalog.record;
    last_id pg_catalog.int8;
BEGIN
    FOR key_check IN SELECT * FROM snowdrift.key_checks(plan) LOOP
        CONTINUE WHEN key_check.is_forced AND dry_run;    -- checked in the run, which can see all rows
        IF key_check.is_forced THEN
            EXECUTE pg_catalog.format('ALTER TABLE %s NO FORCE ROW LEVEL SECURITY', key_check.name);
        END IF;
        EXECUTE key_check.query INTO last_id;
        IF key_check.is_forced THEN
            EXECUTE pg_catalog.format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', key_check.name);
        END IF;
        IF last_id OPERATOR(pg_catalog.>=) first_id THEN
            RAISE 'keys in column "%" of table "%" are not below new IDs', key_check.attname, key_check.relname USING ERRCODE = '55000',
                DETAIL = pg_catalog.format('The largest key, stored or drawn, is %s, and a new ID is %s.', last_id, first_id),
                HINT = 'Correct wrong keys, or set the sequence back if no reader has passed its numbers.';
        END IF;
    END LOOP;
END $$;

CREATE FUNCTION snowdrift.generator_call(name text) RETURNS text
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
BEGIN
    RETURN (SELECT format('%I.next_snowflake(%s)', nspname, quote_literal(name) || '::pg_catalog.text')
        FROM pg_proc JOIN pg_namespace AS n ON n.oid = pronamespace WHERE pg_proc.oid = '@extschema@.next_snowflake()'::regprocedure);
END $$;

-- A conversion while applications write has added columns, which only its own statements replace or remove.
CREATE FUNCTION snowdrift.check_not_begun(tables oid[]) RETURNS void LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    begun CONSTANT text := (SELECT string_agg(DISTINCT attrelid::regclass::text, ', ') FROM pg_attribute JOIN pg_trigger ON tgrelid = attrelid AND tgname = '~snowdrift'
        WHERE attrelid = ANY (tables) AND starts_with(attname, '_snowdrift_') AND NOT attisdropped);
BEGIN
    IF begun IS NOT NULL THEN
        RAISE 'a conversion of tables has begun, and has not ended' USING ERRCODE = '55000', DETAIL = format('The tables are: %s.', begun),
            HINT = 'Run conversion_script() to its end, or abandon_script().';
    END IF;
END $$;

-- Plan the conversion, lock the relations, and plan it again. If the second plan needs other locks, because the tables have
-- changed during the wait, release the locks and begin again.
-- The risks are found before the relations are locked, because reading a view's definition locks what the view reads.
CREATE FUNCTION snowdrift.lock_and_plan(tables oid[], "column" name, call text, dry_run boolean, OUT plan snowdrift.conversion, OUT risks text[])
    LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_variable
DECLARE
    relations pg_catalog.regclass[];
    requests pg_catalog.text[];
BEGIN
    LOOP
        plan := snowdrift.plan_conversion(tables, "column", call);
        PERFORM snowdrift.check_not_begun(plan."tables");
        PERFORM snowdrift.check_obstacles(plan);
        PERFORM snowdrift.check_locks(plan) WHERE requests IS NULL;
        risks := ARRAY(SELECT * FROM snowdrift.conversion_risks(plan, dry_run));
        relations := snowdrift.relations_to_lock(plan);
        requests := ARRAY(SELECT request FROM snowdrift.lock_requests(relations));
        BEGIN
            IF NOT dry_run THEN
                PERFORM snowdrift.check_not_reserved(plan."tables"::pg_catalog.regclass[], true);
                PERFORM snowdrift.lock_exclusively(relations);
            ELSIF pg_catalog.cardinality(plan."tables") OPERATOR(pg_catalog.>) 0 THEN
                EXECUTE snowdrift.lock_statement(plan, 'ACCESS SHARE');
            END IF;
            plan := snowdrift.plan_conversion(tables, "column", call);
            PERFORM snowdrift.check_not_begun(plan."tables");
            PERFORM snowdrift.check_obstacles(plan);
            IF requests OPERATOR(pg_catalog.=) ARRAY(SELECT request FROM snowdrift.lock_requests(snowdrift.relations_to_lock(plan))) THEN
                RETURN;
            END IF;
            RAISE SQLSTATE 'SN001';
        EXCEPTION WHEN SQLSTATE 'SN001' THEN
        END;
    END LOOP;
END $$;

CREATE FUNCTION snowdrift.run_conversion(tables oid[], "column" name, generator_name text, dry_run boolean) RETURNS SETOF text
    LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_variable
DECLARE
    call CONSTANT pg_catalog.text := snowdrift.generator_call(generator_name);
    locked pg_catalog.record;
    plan snowdrift.conversion;
    schemas pg_catalog.text[];
    statements pg_catalog.text[];
    risks pg_catalog.text[];
    statement pg_catalog.text;
    first_id pg_catalog.int8;
BEGIN
    PERFORM snowdrift.generator_layout(generator_name);    -- raises an error, before this function waits for locks, if there is no such generator
    locked := snowdrift.lock_and_plan(tables, "column", call, dry_run);
    plan := locked.plan;
    risks := locked.risks;
    schemas := snowdrift.schemas_of(plan);
    BEGIN
        EXECUTE pg_catalog.concat('SELECT ', call) INTO first_id;    -- not before the wait: it holds back the watermark
    EXCEPTION WHEN read_only_sql_transaction THEN    -- of the SQL edition, in a dry run: the keys are not compared
    END;
    PERFORM snowdrift.check_keys(plan, first_id, dry_run);
    PERFORM snowdrift.report_conversion(plan, tables, risks);
    statements := ARRAY(SELECT * FROM snowdrift.conversion_statements(plan, pg_catalog.current_setting('search_path')));
    FOREACH statement IN ARRAY risks LOOP
        RETURN NEXT statement;
    END LOOP;
    FOREACH statement IN ARRAY statements LOOP
        IF NOT dry_run THEN
            PERFORM snowdrift.check_schemas(schemas);
            EXECUTE statement;
        END IF;
        RETURN NEXT pg_catalog.concat(statement, ';');
    END LOOP;
    IF NOT dry_run THEN
        PERFORM snowdrift.check_schemas(schemas);
    END IF;
END $$;

CREATE FUNCTION snowdrift.convert_keys(tables regclass[], generator text DEFAULT NULL,
        dry_run boolean DEFAULT false) RETURNS SETOF text
    LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_variable
BEGIN
    IF tables IS NULL OR dry_run IS NULL THEN
        RAISE 'tables and dry_run must not be null' USING ERRCODE = '22004';
    END IF;
    PERFORM snowdrift.check_can_change('snowdrift.convert_keys()', dry_run);
    RETURN QUERY SELECT * FROM snowdrift.run_conversion(tables::pg_catalog.oid[], NULL, generator, dry_run);
END $$;
COMMENT ON FUNCTION snowdrift.convert_keys(regclass[], text, boolean)
    IS 'make Snowflake IDs the default of the serial and identity columns of primary keys, and return the statements; a dry run only returns them';

CREATE FUNCTION snowdrift.convert_column("table" regclass, "column" name, generator text DEFAULT NULL,
        dry_run boolean DEFAULT false) RETURNS SETOF text
    LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_variable
BEGIN
    IF "table" IS NULL OR "column" IS NULL OR dry_run IS NULL THEN
        RAISE 'table, column and dry_run must not be null' USING ERRCODE = '22004';
    END IF;
    PERFORM snowdrift.check_can_change('snowdrift.convert_column()', dry_run);
    RETURN QUERY SELECT * FROM snowdrift.run_conversion(ARRAY["table"::pg_catalog.oid], "column", generator, dry_run);
END $$;
COMMENT ON FUNCTION snowdrift.convert_column(regclass, name, text, boolean)
    IS 'make Snowflake IDs the default of a serial or identity key, and return the statements; a dry run only returns them';

-- Conversion of keys while applications write: the shadows. Each smallint or integer column whose type must change gets
-- a shadow: a bigint column that a trigger keeps equal to it. Shadows get indexes, checks and foreign keys like those
-- of their originals, and finally, all of these replace the originals. Their names derive from those of the originals.
-- Therefore, the catalog shows what is missing, also after a crash and in a restored dump, and what has no original any more.

CREATE FUNCTION snowdrift.shadow_name(name text) RETURNS name LANGUAGE sql IMMUTABLE
    RETURN ('_snowdrift_' || CASE WHEN octet_length(name) > 52 THEN md5(name) ELSE name END)::name;

-- The condition that two columns are equal, for checks and queries. IS NOT NULL lets SET NOT NULL rely on the check.
CREATE FUNCTION snowdrift.equality(shadow text, original text, is_required boolean) RETURNS text LANGUAGE sql IMMUTABLE
    RETURN format(CASE WHEN is_required THEN '(%1$s IS NOT NULL AND %1$s OPERATOR(pg_catalog.=) %2$s)'
        ELSE 'coalesce(%1$s OPERATOR(pg_catalog.=) %2$s, %1$s IS NULL AND %2$s IS NULL)' END, shadow, original);

-- The name of the check that a shadow is equal
CREATE FUNCTION snowdrift.equality_name(original text, is_required boolean) RETURNS name LANGUAGE sql IMMUTABLE
    RETURN snowdrift.shadow_name(CASE WHEN is_required THEN 'equal ' ELSE 'equal or null ' END || original);

-- The plan of a conversion, without the triggers that it has added
CREATE FUNCTION snowdrift.plan_live(tables oid[], call text, keep_sequences boolean) RETURNS snowdrift.conversion
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    plan snowdrift.conversion := snowdrift.plan_conversion(tables, NULL, call);
BEGIN
    plan.dependents := ARRAY(SELECT d FROM unnest(plan.dependents) AS d WHERE NOT (class = 'pg_trigger'::regclass
        AND EXISTS (SELECT FROM pg_trigger AS t WHERE t.oid = object AND tgname = '~snowdrift')));
    IF keep_sequences THEN
        plan.new_keys := '{}';
    END IF;
    plan."tables" := snowdrift.tables_to_convert(plan);
    RETURN plan;
END $$;

-- A call that executes statements while tables are locked
CREATE FUNCTION snowdrift.brief_call(tables oid[], statements text) RETURNS text LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
    RETURN format('CALL snowdrift.change_briefly(%L::pg_catalog.regclass[], %L)', ARRAY(SELECT DISTINCT t::regclass FROM unnest(tables) AS t ORDER BY 1), statements);

-- shadow_number: null if the shadow does not exist yet
CREATE FUNCTION snowdrift.shadows(plan snowdrift.conversion, OUT "table" oid, OUT number smallint, OUT name name, OUT shadow name,
        OUT shadow_number smallint, OUT is_required boolean)
    RETURNS SETOF record LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT a.attrelid, a.attnum, a.attname, snowdrift.shadow_name(a.attname), s.attnum, a.attnotnull
    FROM unnest((plan).members) AS m JOIN pg_attribute AS a ON a.attrelid = m."table" AND a.attnum = m.number
        LEFT JOIN pg_attribute AS s ON s.attrelid = a.attrelid AND s.attname = snowdrift.shadow_name(a.attname)
    ORDER BY a.attrelid, a.attnum;
END;

-- The definition of an index from its method on
CREATE FUNCTION snowdrift.index_definition(index oid) RETURNS text
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
BEGIN
    RETURN (SELECT substr(pg_get_indexdef(index), length(format('CREATE %sINDEX %I ON %s ', CASE WHEN indisunique THEN 'UNIQUE ' END,
        relname, snowdrift.qualified_name(indrelid))) + 1) FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid WHERE indexrelid = index);
END $$;

-- The indexes that have names of shadows, and contain shadows
CREATE FUNCTION snowdrift.indexes_of_shadows(tables oid[]) RETURNS SETOF oid LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT indexrelid FROM pg_index JOIN pg_class AS c ON c.oid = indexrelid WHERE indrelid = ANY (tables) AND starts_with(relname, '_snowdrift_')
        AND EXISTS (SELECT FROM pg_depend JOIN pg_attribute ON attrelid = refobjid AND attnum = refobjsubid
            WHERE classid = 'pg_class'::regclass AND objid = indexrelid AND refclassid = classid AND starts_with(attname, '_snowdrift_'));
END;

-- The valid indexes and checks of columns with shadows, their definitions with the shadows, and how PostgreSQL shows what these
-- make. PostgreSQL itself writes all of this, for an empty copy of the table in which the columns are renamed, and then bigint.
CREATE FUNCTION snowdrift.shadow_definitions(plan snowdrift.conversion, OUT "table" oid, OUT class oid, OUT object oid, OUT name name, OUT definition text, OUT made text)
    RETURNS SETOF record LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off SET client_min_messages = warning
    SET timezone = 'UTC' SET datestyle = ISO SET intervalstyle = postgres SET extra_float_digits = 3 AS $$
#variable_conflict use_column
DECLARE
    original oid;
    copy oid;
    r record;
    copies jsonb;    -- of indexes, by their definitions
    indexes jsonb;
    checks jsonb;
    problems text;
BEGIN
    FOR original IN SELECT DISTINCT m."table" FROM unnest(plan.members) AS m ORDER BY 1 LOOP
        BEGIN
            EXECUTE format('CREATE TEMPORARY TABLE _snowdrift_copy (LIKE %s INCLUDING INDEXES INCLUDING CONSTRAINTS)', snowdrift.qualified_name(original));
            FOR r IN SELECT s.shadow FROM snowdrift.shadows(plan) AS s WHERE s."table" = original AND shadow_number IS NOT NULL LOOP
                EXECUTE format('ALTER TABLE pg_temp._snowdrift_copy DROP COLUMN %I CASCADE', r.shadow);
            END LOOP;
            copy := 'pg_temp._snowdrift_copy'::regclass;
            copies := (SELECT jsonb_object_agg(snowdrift.index_definition(indexrelid), relname) FROM pg_index JOIN pg_class AS c ON c.oid = indexrelid WHERE indrelid = copy);
            FOR r IN SELECT s.name, s.shadow FROM snowdrift.shadows(plan) AS s WHERE s."table" = original LOOP
                EXECUTE format('ALTER TABLE pg_temp._snowdrift_copy RENAME COLUMN %I TO %I', r.name, r.shadow);
            END LOOP;
            indexes := (SELECT jsonb_object_agg(relname, snowdrift.index_definition(indexrelid)) FROM pg_index JOIN pg_class AS c ON c.oid = indexrelid WHERE indrelid = copy);
            checks := (SELECT jsonb_object_agg(conname, pg_get_constraintdef(c.oid)) FROM pg_constraint AS c WHERE contype = 'c' AND conrelid = copy);
            FOR r IN SELECT s.shadow FROM snowdrift.shadows(plan) AS s WHERE s."table" = original LOOP
                EXECUTE format('ALTER TABLE pg_temp._snowdrift_copy ALTER COLUMN %I TYPE pg_catalog.int8', r.shadow);
            END LOOP;
            RETURN QUERY SELECT original, 'pg_class'::regclass::oid, o.indexrelid, c.relname, indexes ->> k.relname, snowdrift.index_definition(k.oid)
            FROM pg_index AS o JOIN pg_class AS c ON c.oid = o.indexrelid, LATERAL (SELECT snowdrift.index_definition(o.indexrelid)) AS d(old),
                pg_index AS n JOIN pg_class AS k ON k.oid = n.indexrelid
            WHERE o.indrelid = original AND o.indisvalid AND n.indrelid = copy AND k.relname = copies ->> old AND old <> indexes ->> k.relname;
            RETURN QUERY SELECT original, 'pg_constraint'::regclass::oid, o.oid, o.conname, checks ->> o.conname, pg_get_constraintdef(n.oid) FROM pg_constraint AS o
                JOIN pg_constraint AS n ON n.conname = o.conname AND n.contype = 'c' AND n.conrelid = copy
            WHERE o.conrelid = original AND o.contype = 'c' AND o.convalidated AND pg_get_constraintdef(o.oid) <> checks ->> o.conname;
            RAISE SQLSTATE 'SN001';    -- undoes the copy, and releases its locks
        EXCEPTION WHEN SQLSTATE 'SN001' THEN
            WHEN OTHERS THEN
                IF left(SQLSTATE, 2) IN ('40', '53', '55', '57') THEN    -- not because of the table
                    RAISE;
                END IF;
                problems := concat_ws(E'\n', problems, format('The indexes and checks of table %s cannot be created for bigint columns: %s', original::regclass, SQLERRM));
        END;
    END LOOP;
    IF problems IS NOT NULL THEN
        RAISE 'cannot convert keys while applications write' USING ERRCODE = '0A000', DETAIL = problems, HINT = 'Change or drop what does not work for bigint, or while search_path is pg_catalog.';
    END IF;
END $$;

-- The foreign keys of columns with shadows, and their definitions with the shadows
CREATE FUNCTION snowdrift.shadow_references(plan snowdrift.conversion, OUT "table" oid, OUT other oid, OUT object oid, OUT name name, OUT definition text)
    RETURNS SETOF record LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY WITH s AS MATERIALIZED (
        SELECT * FROM snowdrift.shadows(plan)
    ), parts AS (
        SELECT c.oid, is_source, string_agg(quote_ident(attname), ', ' ORDER BY n) AS old, string_agg(quote_ident(coalesce(shadow, attname)), ', ' ORDER BY n) AS new,
            bool_or(shadow IS NOT NULL) AS is_changed
        FROM pg_constraint AS c CROSS JOIN LATERAL (VALUES (true, conrelid, conkey), (false, confrelid, confkey)) AS v(is_source, relation, numbers)
            CROSS JOIN unnest(numbers) WITH ORDINALITY AS u(number, n) JOIN pg_attribute ON attrelid = relation AND attnum = u.number
            LEFT JOIN s ON s."table" = relation AND s.number = u.number
        WHERE contype = 'f' AND NOT starts_with(conname, '_snowdrift_') GROUP BY c.oid, is_source
    )
    SELECT conrelid, confrelid, c.oid, conname, format('FOREIGN KEY (%s) REFERENCES %s(%s)', f.new, confrelid::regclass, t.new)
        || regexp_replace(substr(pg_get_constraintdef(c.oid), length(format('FOREIGN KEY (%s) REFERENCES %s(%s)', f.old, confrelid::regclass, t.old)) + 1), ' NOT VALID$', '')
        || CASE WHEN condeferrable AND NOT condeferred THEN ' INITIALLY DEFERRED' ELSE '' END    -- SET CONSTRAINTS does not name it
    FROM pg_constraint AS c JOIN parts AS f ON f.oid = c.oid AND f.is_source JOIN parts AS t ON t.oid = c.oid AND NOT t.is_source
    WHERE f.is_changed OR t.is_changed ORDER BY conrelid, c.oid;
END $$;

-- What prevents a conversion while applications write, with the remedies, except for what also prevents convert_keys
CREATE FUNCTION snowdrift.live_refusals(plan snowdrift.conversion, fire_triggers boolean) RETURNS SETOF text
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
    members CONSTANT oid[] := ARRAY(SELECT DISTINCT m."table" FROM unnest(plan.members) AS m);
BEGIN
    RETURN QUERY WITH references_of AS MATERIALIZED (
        SELECT * FROM snowdrift.shadow_references(plan)
    ), shadows AS MATERIALIZED (
        SELECT * FROM snowdrift.shadows(plan)
    ), used AS MATERIALIZED (    -- what depends on columns with shadows
        SELECT DISTINCT classid, objid FROM shadows AS s JOIN pg_depend ON refclassid = 'pg_class'::regclass AND refobjid = s."table" AND refobjsubid = s.number
    ), used_indexes AS MATERIALIZED (
        SELECT objid AS index FROM used WHERE classid = 'pg_class'::regclass
        UNION SELECT conindid FROM used JOIN pg_constraint ON classid = 'pg_constraint'::regclass AND oid = objid AND contype IN ('p', 'u', 'x')
    ), changed AS MATERIALIZED (
        SELECT c.*, oid::regclass AS name, oid = ANY (members) AS is_member FROM pg_class AS c WHERE oid = ANY (members)
            OR oid IN (SELECT "table" FROM references_of) OR oid IN (SELECT other FROM references_of)
    )
    SELECT format('table %s is partitioned; use convert_keys()', name) FROM changed WHERE relkind = 'p' OR relispartition
    UNION ALL SELECT format('table %s inherits, or is inherited from; use convert_keys()', name) FROM changed
        WHERE NOT relispartition AND relkind = 'r' AND EXISTS (SELECT FROM pg_inherits WHERE oid IN (inhrelid, inhparent))
    UNION ALL SELECT format('table %s is temporary; use convert_keys()', name) FROM changed WHERE is_member AND relpersistence = 't'
    UNION ALL SELECT format('row-level security hides rows of table %s from its owner; use convert_keys()', f::regclass) FROM snowdrift.forced_tables(plan) AS f
    UNION ALL SELECT DISTINCT format('role %s may not create objects in schema %s; run GRANT CREATE ON SCHEMA %s TO %s;', current_user, s, s, quote_ident(current_user))
        FROM changed, LATERAL (SELECT relnamespace::regnamespace) AS n(s) WHERE NOT has_schema_privilege(relnamespace, 'CREATE')
    UNION ALL SELECT format('role %s may not create temporary tables, which are needed to copy definitions; run GRANT TEMPORARY ON DATABASE %I TO %I;', current_user, current_database(), current_user)
        WHERE cardinality(members) > 0 AND NOT has_database_privilege(current_database(), 'TEMPORARY')
    UNION ALL SELECT format('table %s is published (%s), and subscribers lack the new columns; let no publication contain it, and let the subscribers copy it again afterwards',
            name, string_agg(DISTINCT pubname, ', ')) FROM changed JOIN pg_namespace AS n ON n.oid = relnamespace
            JOIN pg_publication_tables ON schemaname = nspname AND tablename = relname WHERE is_member GROUP BY name
    UNION ALL SELECT format(CASE contype WHEN 'x' THEN 'constraint %I of table %s is an exclusion constraint; drop it, and add it again afterwards'
            ELSE 'constraint %I of table %s is deferrable, and permits equal keys for a while; replace it by one that is not, and change it back afterwards' END, conname, name)
        FROM changed AS c JOIN pg_constraint AS k ON conrelid = c.oid
        WHERE (contype = 'x' OR contype IN ('p', 'u') AND condeferrable) AND conindid IN (SELECT index FROM used_indexes)
    UNION ALL SELECT format('check %I of table %s is not valid, and rows that violate it cannot be copied; run ALTER TABLE %s VALIDATE CONSTRAINT %I;', conname, name, name, conname)
        FROM changed AS c JOIN pg_constraint ON conrelid = c.oid WHERE is_member AND contype = 'c' AND NOT convalidated AND NOT starts_with(conname, '_snowdrift_')
    UNION ALL SELECT format('foreign key %I of table %s sets only some of its columns; drop it, and add it again afterwards', k.conname, k.conrelid::regclass)
        FROM references_of JOIN pg_constraint AS k ON k.oid = object WHERE confdelsetcols IS NOT NULL
    -- PostgreSQL runs the actions of foreign keys in the order of OIDs as texts, so that those of the shadow can be first.
    UNION ALL SELECT format('foreign key %I of table %s %s; replace it by one with NO ACTION until the swap', k.conname, k.conrelid::regclass,
            CASE WHEN 'd' IN (confdeltype, confupdtype) THEN 'sets a default' ELSE 'also changes columns that stay' END)
        FROM references_of JOIN pg_constraint AS k ON k.oid = object, LATERAL (SELECT count(*) FROM shadows AS s WHERE s."table" = conrelid AND s.number = ANY (conkey)) AS n(shadowed)
        WHERE shadowed > 0 AND ('d' IN (confdeltype, confupdtype) OR shadowed < cardinality(conkey) AND (confdeltype = 'n' OR confupdtype IN ('c', 'n')))
    UNION ALL SELECT format('statistics object %1$s belongs to %2$s, and would be created again; run ALTER STATISTICS %1$s OWNER TO %4$I; and GRANT CREATE ON SCHEMA %3$I TO %4$I;',
            format('%I.%I', nspname, stxname), stxowner::regrole, nspname, current_user)
        FROM used JOIN pg_statistic_ext AS x ON classid = 'pg_statistic_ext'::regclass AND x.oid = objid JOIN pg_namespace AS n ON n.oid = stxnamespace
        WHERE NOT pg_has_role(stxowner, 'USAGE') OR NOT has_schema_privilege(n.oid, 'CREATE') OR NOT has_schema_privilege(stxowner, n.oid, 'CREATE')
    UNION ALL SELECT DISTINCT format('sequence %s is not of type bigint, and belongs to %s; run ALTER SEQUENCE %1$s AS bigint;', seqrelid::regclass, relowner::regrole)
        FROM shadows AS s JOIN pg_attrdef AS a ON adrelid = s."table" AND adnum = s.number JOIN pg_depend AS d ON d.classid = 'pg_attrdef'::regclass AND d.objid = a.oid
            JOIN pg_sequence ON d.refclassid = 'pg_class'::regclass AND d.refobjid = seqrelid JOIN pg_class AS c ON c.oid = seqrelid
        WHERE seqtypid <> 'int8'::regtype AND NOT pg_has_role(relowner, 'USAGE') AND (s."table", s.number)::snowdrift.key_column <> ALL (plan.new_keys)
    UNION ALL SELECT DISTINCT format('%s depends on column %I of table %s, which the conversion has added; drop it', pg_describe_object(d.classid, d.objid, d.objsubid), s.shadow, s."table"::regclass)
        FROM shadows AS s JOIN pg_depend AS d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = s."table" AND d.refobjsubid = s.shadow_number
        WHERE d.classid IN ('pg_rewrite'::regclass, 'pg_policy'::regclass, 'pg_publication_rel'::regclass, 'pg_statistic_ext'::regclass)
            OR d.objid IN (SELECT k.oid FROM pg_constraint AS k WHERE contype = 'f' AND NOT starts_with(conname, '_snowdrift_'))
    UNION ALL SELECT format('table %s has columns that these keys do not need; name all tables of the conversion, or run abandon_script(''{%s}'')', name, name) FROM changed
        WHERE is_member AND EXISTS (SELECT FROM pg_attribute WHERE attrelid = changed.oid AND NOT attisdropped AND starts_with(attname, '_snowdrift_')
            AND NOT EXISTS (SELECT FROM shadows AS s WHERE s."table" = attrelid AND shadow_number = attnum))
    UNION ALL SELECT DISTINCT format('table %s no longer refers to table %s, but has columns of its conversion; run abandon_script(''{%s}'')', conrelid::regclass, confrelid::regclass, conrelid::regclass)
        FROM pg_constraint JOIN pg_class AS c ON c.oid = conrelid WHERE contype = 'f' AND starts_with(conname, '_snowdrift_') AND confrelid = ANY (members) AND conrelid <> ALL (members)
            AND conrelid NOT IN (SELECT "table" FROM references_of) AND pg_has_role(relowner, 'USAGE')
            AND EXISTS (SELECT FROM pg_attribute WHERE attrelid = conrelid AND starts_with(attname, '_snowdrift_') AND NOT attisdropped)
    UNION ALL SELECT format('column %I of table %s refers to a key, and is generated; drop the foreign key, and add it again afterwards', attname, attrelid::regclass)
        FROM unnest(plan.members) AS m JOIN pg_attribute ON attrelid = m."table" AND attnum = m.number WHERE attgenerated <> ''
    UNION ALL SELECT format('table %s is watched; call snowdrift.unwatch(''%1$s'') first, and snowdrift.watch(''%1$s'') after the conversion', name) FROM changed WHERE EXISTS (SELECT FROM snowdrift.watches(changed.oid::regclass))
    UNION ALL SELECT format('trigger %I of table %s would fire for each row that is copied; disable it meanwhile, grant SET ON PARAMETER session_replication_role, or set fire_triggers', tgname, name)
        FROM changed JOIN pg_trigger ON tgrelid = changed.oid WHERE is_member AND NOT fire_triggers AND NOT tgisinternal AND tgname <> '~snowdrift' AND tgfoid NOT IN (SELECT p.oid FROM pg_proc AS p WHERE pronamespace = 'snowdrift'::regnamespace)
            AND tgtype & 16 > 0 AND tgattr = '' AND tgenabled <> 'D'
            AND NOT (tgenabled = 'O' AND has_parameter_privilege('session_replication_role', 'SET'))
    UNION ALL SELECT format('function %s, whose name the conversion needs, belongs to role %s; let it be renamed, or run ALTER FUNCTION %1$s OWNER TO %3$I;', p.oid::regprocedure, proowner::regrole, current_user)
        FROM changed JOIN pg_proc AS p ON pronamespace = relnamespace AND proname = snowdrift.shadow_name(relname) AND pronargs = 0
        WHERE is_member AND NOT pg_has_role(proowner, 'USAGE')
    UNION ALL SELECT format('relation %s has a name that the conversion needs; drop or rename it', other.oid::regclass)
        FROM changed JOIN pg_index ON indrelid = changed.oid JOIN pg_class AS i ON i.oid = indexrelid
            JOIN pg_class AS other ON other.relnamespace = i.relnamespace AND other.relname = snowdrift.shadow_name(i.relname)
        WHERE is_member AND NOT EXISTS (SELECT FROM pg_index AS x WHERE x.indexrelid = other.oid AND x.indrelid = changed.oid)
    UNION ALL SELECT format('foreign key %I of table %s needs index %s, which contains another key; drop it, and add it again afterwards', conname, conrelid::regclass, conindid::regclass)
        FROM pg_constraint WHERE contype = 'f' AND NOT starts_with(conname, '_snowdrift_') AND oid NOT IN (SELECT object FROM references_of)
            AND conindid IN (SELECT index FROM used_indexes)
    UNION ALL SELECT format('rule %I of table %s would change or replace the copy of each row; disable it meanwhile', rulename, name)
        FROM changed JOIN pg_rewrite ON ev_class = changed.oid WHERE is_member AND ev_type = '2' AND ev_enabled <> 'D'
            AND NOT (ev_enabled = 'O' AND has_parameter_privilege('session_replication_role', 'SET'))
    UNION ALL SELECT format('trigger %I of table %s would fire after the one that fills the new columns; rename it so that it sorts before "~snowdrift"', tgname, name)
        FROM changed JOIN pg_trigger ON tgrelid = changed.oid WHERE is_member AND tgtype & 3 = 3 AND tgname COLLATE "C" > '~snowdrift'
    ORDER BY 1;
END $$;

-- The functions that can fail, or confuse columns, because columns are added at the end of a table
CREATE FUNCTION snowdrift.column_order_risks(plan snowdrift.conversion) RETURNS SETOF text
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT DISTINCT format('-- warning: column order: %s: it can fail or confuse columns, because it %s; name the columns there', function::regprocedure, reason)
    FROM snowdrift.functions_near(plan) JOIN pg_proc AS p ON p.oid = function, unnest(plan.members) AS m JOIN pg_class AS c ON c.oid = m."table",
        LATERAL (VALUES (format('inserts into %s without a list of columns', c.oid::regclass), lower(prosrc)
                ~ format('[[:<:]](insert[[:space:]]+into|copy)[[:space:]]+("?[[:alnum:]_$]+"?[.])?"?%s"?[[:space:]]+(overriding|values|select|table|with|from|[(][[:space:]]*(select|values|with))[[:>:]]',
                    regexp_replace(lower(relname), '[^[:alnum:]_]', '.', 'g'))),
            (format('inserts all columns of rows, which can be those of %s', c.oid::regclass), lower(prosrc)
                ~ '[[:<:]]insert[[:>:]][^;]*([[:alnum:]_$"][)]?[.][*]|[[:<:]](select|returning)[[:space:]]+[*])'),
            (format('declares variables with %%ROWTYPE of %s', c.oid::regclass), lower(prosrc)
                ~ format('[[:<:]]%s"?[[:space:]]*%%[[:space:]]*rowtype', regexp_replace(lower(relname), '[^[:alnum:]_]', '.', 'g'))),
            (format('returns or takes rows of %s', c.oid::regclass), c.reltype = ANY (coalesce(proallargtypes, proargtypes::oid[]) || prorettype))) AS r(reason, is_at_risk)
    WHERE is_at_risk ORDER BY 1;
END $$;

-- Conversion of keys while applications write: the statements of the script that take long, or that lock. They run with the
-- caller's rights.

CREATE FUNCTION snowdrift.reservation_key("table" regclass) RETURNS bigint LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
    RETURN hashtextextended('snowdrift.conversion_script ' || "table"::oid, 0);

-- That no script of another session converts the keys of tables, until the transaction ends. Calls of convert_keys() wait for each
-- other by the locks of the tables, and share this one.
CREATE FUNCTION snowdrift.check_not_reserved(tables regclass[], is_shared boolean DEFAULT false) RETURNS void LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    t regclass;
    key bigint;
BEGIN
    FOREACH t IN ARRAY tables LOOP
        key := snowdrift.reservation_key(t);
        IF NOT (is_shared AND pg_try_advisory_xact_lock_shared(key) OR NOT is_shared AND pg_try_advisory_xact_lock(key)) THEN
            RAISE 'another session converts the keys of table "%"', (SELECT relname FROM pg_class WHERE oid = t) USING ERRCODE = '55006',
                DETAIL = format('Its process ID is %s.', (SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1
                    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
                    AND (classid::bigint << 32) | objid::bigint = key LIMIT 1)),
                HINT = 'Wait until it has finished, or end it with pg_terminate_backend().';
        END IF;
    END LOOP;
END $$;

-- Reserve tables for the script of this session, or release them. Two scripts at once would lose no rows, but would
-- drop each other's unfinished indexes.
CREATE PROCEDURE snowdrift.reserve_tables(tables regclass[], is_reserved boolean) LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp SET client_min_messages = error AS $$
DECLARE
    t regclass;
    key bigint;
BEGIN
    PERFORM snowdrift.check_not_reserved(tables);
    FOREACH t IN ARRAY tables LOOP
        key := snowdrift.reservation_key(t);
        WHILE pg_advisory_unlock(key) LOOP
        END LOOP;
        IF is_reserved THEN
            PERFORM pg_advisory_lock(key);
        END IF;
    END LOOP;
END $$;
COMMENT ON PROCEDURE snowdrift.reserve_tables(regclass[], boolean) IS 'reserve tables for the script of this session until it ends, or release them';

-- Lock tables exclusively, with short requests, and execute statements. These contain definitions that PostgreSQL has
-- written for this search path.
CREATE PROCEDURE snowdrift.change_briefly(tables regclass[], statements text) LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM snowdrift.check_not_reserved(tables);
    PERFORM snowdrift.lock_exclusively(tables);
    PERFORM set_config('lock_timeout', '400ms', true);    -- for locks of other relations
    EXECUTE statements;
END $$;
COMMENT ON PROCEDURE snowdrift.change_briefly(regclass[], text) IS 'lock tables exclusively in short requests, and execute statements';

-- Fill the shadows of a table's rows, in short transactions. In one of the parts of the table, skip rows that others
-- have locked; in the whole table, wait until their transactions have ended. An interrupted copy begins again at the
-- start of its part, but does not write rows again that have been filled. The trigger fills rows that are written
-- later. duty: the share of the time in which the procedure works.
CREATE PROCEDURE snowdrift.copy_keys("table" regclass, duty double precision DEFAULT 0.5, part integer DEFAULT NULL, parts integer DEFAULT NULL)
    LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
    path CONSTANT pg_catalog.text := pg_catalog.current_setting('search_path');
    c pg_catalog.record;
    file pg_catalog.oid;
    blocks pg_catalog.int8;
    first pg_catalog.int8;
    last pg_catalog.int8;
    until pg_catalog.int8;    -- the end of the part
    size pg_catalog.int8 := 50;    -- of a transaction, in blocks, so that it takes 0.05 s
    found pg_catalog.int8;
    copied pg_catalog.int8;
    missed pg_catalog.int8;
    total pg_catalog.int8 := 0;
    begun pg_catalog.timestamptz;
    noted pg_catalog.timestamptz;
    seconds pg_catalog.float8;
BEGIN
    LOOP
        PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);    -- until COMMIT
        begun := clock_timestamp();
        IF pg_relation_filenode("table") IS DISTINCT FROM file THEN    -- also if VACUUM FULL or CLUSTER has moved the rows
            SELECT * INTO c FROM snowdrift.copy_statements("table");
            EXIT WHEN c.columns IS NULL;
            PERFORM snowdrift.check_table_owners(ARRAY["table"::oid]);
            file := pg_relation_filenode("table");
            blocks := pg_relation_size("table") / current_setting('block_size')::integer;
            first := coalesce(blocks * (part - 1) / parts, 0);
            until := coalesce(blocks * part / parts, blocks);
        END IF;
        last := least(first + size, until);
        EXIT WHEN first >= last;
        -- Triggers of the table fire unless the role may suppress them: that of the shadows always does.
        IF has_parameter_privilege('session_replication_role', 'SET') THEN
            PERFORM set_config('session_replication_role', 'replica', true);
        END IF;
        PERFORM set_config('search_path', path, true);
        EXECUTE c.fill INTO found, copied USING pg_catalog.format('(%s,0)', first), pg_catalog.format('(%s,0)', last);
        missed := 0;
        IF part IS NULL AND copied OPERATOR(pg_catalog.=) 0 THEN
            EXECUTE c.count_missed INTO missed USING pg_catalog.format('(%s,0)', first), pg_catalog.format('(%s,0)', last);
        END IF;
        PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
        IF copied < found THEN
            RAISE 'a trigger of table % keeps rows from being changed', "table" USING ERRCODE = '55000', HINT = 'Disable it, and run the script again.';
        END IF;
        IF missed = 0 AND (part IS NOT NULL OR copied = 0) THEN
            first := last;
        END IF;
        total := total + copied;
        IF (part IS NOT NULL OR parts IS NULL)    -- not if all parts have been copied
                AND (noted IS NULL OR clock_timestamp() > noted + interval '5 s' OR first >= until) THEN
            IF snowdrift.note_progress("table", first, blocks, total, coalesce(part, 1) = 1 AND noted IS NULL) THEN
                total := 0;
            END IF;
            noted := clock_timestamp();
        END IF;
        seconds := extract(epoch FROM clock_timestamp() - begun);
        size := greatest(1, least(size * 2, size * 0.05 / greatest(seconds, 0.001), 200));
        seconds := CASE WHEN missed > 0 THEN 0.2 ELSE seconds * (1 / duty - 1) END;
        COMMIT;
        PERFORM pg_catalog.pg_sleep(seconds);
    END LOOP;
    COMMIT;
END $$;
COMMENT ON PROCEDURE snowdrift.copy_keys(regclass, double precision, integer, integer)
    IS 'copy keys to the columns that will replace them, in short transactions';

-- The statements of copy_keys for the blocks from $1 to $2. They do not wait for a row that another transaction has
-- locked, because that transaction could wait for a row that is already locked here.
CREATE FUNCTION snowdrift.copy_statements("table" regclass, OUT columns text, OUT fill text, OUT count_missed text)
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
    missing text;
BEGIN
    SELECT string_agg(format('%I = %I', s.attname, o.attname), ', '),
        format('FROM ONLY %s WHERE ctid OPERATOR(pg_catalog.>=) $1::pg_catalog.tid AND ctid OPERATOR(pg_catalog.<) $2::pg_catalog.tid AND NOT (%s)',
            snowdrift.qualified_name($1), string_agg(snowdrift.equality(quote_ident(s.attname), quote_ident(o.attname), o.attnotnull), ' AND '))
    INTO columns, missing FROM pg_attribute AS o JOIN pg_attribute AS s ON s.attrelid = o.attrelid AND s.attname = snowdrift.shadow_name(o.attname)
    WHERE o.attrelid = $1 AND o.attnum > 0 AND NOT o.attisdropped;
    fill := format('WITH found AS MATERIALIZED (SELECT ctid %3$s FOR NO KEY UPDATE SKIP LOCKED), '
        'filled AS (UPDATE ONLY %1$s SET %2$s WHERE ctid OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT ctid FROM found)) RETURNING 1) '
        'SELECT (SELECT pg_catalog.count(*) FROM found), (SELECT pg_catalog.count(*) FROM filled)', snowdrift.qualified_name($1), columns, missing);
    count_missed := 'SELECT pg_catalog.count(*) ' || missing;
END $$;

-- Store the progress in the comment of the table's first shadow, for key_copies. Nothing else depends on it: if another
-- transaction locks the table against this, the progress is not stored.
CREATE FUNCTION snowdrift.note_progress("table" regclass, done bigint, blocks bigint, copied bigint, is_first boolean) RETURNS boolean
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_variable
DECLARE
    given CONSTANT text := current_setting('lock_timeout');
    before record;
BEGIN
    SELECT * INTO before FROM snowdrift.key_copies AS k WHERE k."table" = note_progress."table" AND NOT is_first;
    PERFORM set_config('lock_timeout', '10ms', true);
    EXECUTE (SELECT format('COMMENT ON COLUMN %s.%I IS %L', snowdrift.qualified_name("table"), attname, format('%s of %s blocks, %s rows, from %s to %s us', done, blocks, coalesce(before.rows, 0) + copied,
            (extract(epoch FROM coalesce(before.started_at, clock_timestamp())) * 1000000)::bigint, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint))
        FROM pg_attribute WHERE attrelid = "table" AND starts_with(attname, '_snowdrift_') AND NOT attisdropped ORDER BY attnum LIMIT 1);
    PERFORM set_config('lock_timeout', given, true);
    RETURN true;
EXCEPTION WHEN lock_not_available THEN
    RETURN false;
END $$;

-- Any role can write such a comment, on a table of its own, so no number may be out of range.
CREATE VIEW snowdrift.key_copies AS
    SELECT "table", round(100.0 * done / greatest(blocks, 1), 1) AS percent, rows,
        CASE WHEN done > 0 THEN date_trunc('second'::text, make_interval(secs => greatest(0::float8, least(1e9::float8,
            extract(epoch FROM updated_at - started_at)::float8 * (blocks - done) / done)))) END AS time_left, started_at, updated_at
    FROM (SELECT attrelid::regclass AS "table", p[1]::bigint AS done, p[2]::bigint AS blocks, p[3]::bigint AS rows, to_timestamp(p[4]::float8 / 1e6::float8) AS started_at,
            to_timestamp(p[5]::float8 / 1e6::float8) AS updated_at
        FROM pg_attribute, LATERAL regexp_match(col_description(attrelid, attnum),
            '^([0-9]{1,10}) of ([0-9]{1,10}) blocks, ([0-9]{1,18}) rows, from ([0-9]{1,16}) to ([0-9]{1,16}) us$'::text) AS p
        WHERE starts_with(attname::text, '_snowdrift_'::text) AND NOT attisdropped AND p IS NOT NULL) AS c;
COMMENT ON VIEW snowdrift.key_copies IS 'progress of the copies of keys to the columns that will replace them, in conversions that have not ended';

-- Conversion of keys while applications write: the steps before the swap.

-- The checks that tables need until the swap: that shadows are equal, and those like the checks of their originals. made: how
-- PostgreSQL shows them; null if the name determines the definition
CREATE FUNCTION snowdrift.wanted_checks(plan snowdrift.conversion, definitions jsonb, OUT "table" oid, OUT name name, OUT definition text, OUT made text, OUT is_equality boolean)
    RETURNS SETOF record LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT s."table", snowdrift.equality_name(s.name, s.is_required),
        format('CHECK (%s)', snowdrift.equality(quote_ident(s.shadow), quote_ident(s.name), s.is_required)), NULL::text, true
    FROM snowdrift.shadows(plan) AS s
    UNION ALL SELECT d."table", snowdrift.shadow_name(d.name), d.definition, d.made, false
    FROM jsonb_to_recordset(definitions) AS d("table" oid, class oid, name name, definition text, made text) WHERE d.class = 'pg_constraint'::regclass;
END $$;

-- The shadows of constraints and indexes whose originals were dropped or changed since: the statements that drop them
CREATE FUNCTION snowdrift.stale_shadows(plan snowdrift.conversion, definitions jsonb, OUT object oid, OUT statement text) RETURNS SETOF record
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off
    SET timezone = 'UTC' SET datestyle = ISO SET intervalstyle = postgres SET extra_float_digits = 3 AS $$
#variable_conflict use_column
DECLARE
    changed CONSTANT oid[] := plan."tables" || ARRAY(SELECT m."table" FROM unnest(plan.members) AS m);
BEGIN
    RETURN QUERY WITH wanted("table", name, made) AS MATERIALIZED (
        SELECT k."table", k.name, k.made FROM snowdrift.wanted_checks(plan, definitions) AS k
        UNION ALL SELECT d."table", snowdrift.shadow_name(d.name), concat(CASE WHEN indisunique THEN 'UNIQUE ' END, d.made, ' ' || nullif(reltablespace, 0))
        FROM jsonb_to_recordset(definitions) AS d("table" oid, class oid, object oid, name name, made text)
            JOIN pg_index ON indexrelid = d.object JOIN pg_class AS c ON c.oid = indexrelid WHERE d.class = 'pg_class'::regclass
        UNION ALL SELECT r."table", snowdrift.shadow_name(r.name), r.definition FROM snowdrift.shadow_references(plan) AS r
    ), shadow(relation, number) AS MATERIALIZED (
        SELECT attrelid, attnum FROM pg_attribute WHERE starts_with(attname, '_snowdrift_') AND NOT attisdropped
    ), existing(step, object, "table", other, name, made, index) AS MATERIALIZED (
        SELECT CASE contype WHEN 'f' THEN 1 ELSE 2 END, c.oid, conrelid, confrelid, conname, regexp_replace(pg_get_constraintdef(c.oid), ' NOT VALID$', ''), conindid
        FROM pg_constraint AS c JOIN pg_class AS t ON t.oid = conrelid
        WHERE starts_with(conname, '_snowdrift_') AND EXISTS (SELECT FROM shadow WHERE relation = conrelid AND number = ANY (conkey) OR relation = confrelid AND number = ANY (confkey))
            AND (contype IN ('c', 'f') AND conrelid = ANY (changed)
                OR contype = 'f' AND confrelid = ANY (changed) AND NOT EXISTS (SELECT FROM shadow WHERE relation = conrelid) AND pg_has_role(relowner, 'USAGE'))
        UNION ALL SELECT 3, indexrelid, indrelid, 0, relname, concat(CASE WHEN indisunique THEN 'UNIQUE ' END, snowdrift.index_definition(indexrelid), ' ' || nullif(reltablespace, 0)), 0
        FROM snowdrift.indexes_of_shadows(changed) AS x JOIN pg_index ON indexrelid = x JOIN pg_class AS c ON c.oid = x
    ), stale AS MATERIALIZED (
        SELECT * FROM existing AS e WHERE NOT EXISTS (SELECT FROM wanted AS w WHERE w."table" = e."table" AND w.name = e.name AND (w.made IS NULL OR w.made = e.made))
    )
    SELECT e.object, CASE step WHEN 3 THEN format('DROP INDEX CONCURRENTLY %s', snowdrift.qualified_name(e.object))
        ELSE snowdrift.brief_call(array_remove(ARRAY["table", other], 0::oid), format('ALTER TABLE %s DROP CONSTRAINT %I', snowdrift.qualified_name("table"), name)) END
    FROM existing AS e WHERE e.object IN (SELECT s.object FROM stale AS s) OR index IN (SELECT s.object FROM stale AS s) ORDER BY step, e.object;
END $$;

-- What remains to be done before the swap, in order
CREATE FUNCTION snowdrift.preparing_statements(plan snowdrift.conversion, duty double precision) RETURNS SETOF text
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
    definitions CONSTANT jsonb := (SELECT jsonb_agg(d) FROM snowdrift.shadow_definitions(plan) AS d);
    stale oid[];    -- constraints and indexes
    t record;
    parts integer;
BEGIN
    FOR t IN SELECT * FROM snowdrift.stale_shadows(plan, definitions) LOOP
        stale := stale || t.object;
        RETURN NEXT t.statement;
    END LOOP;
    stale := coalesce(stale, '{}');

    -- All shadows and checks of a table, with its trigger
    FOR t IN SELECT c.oid, snowdrift.qualified_name(c.oid) AS name, relname, relnamespace
            FROM pg_class AS c WHERE c.oid IN (SELECT m."table" FROM unnest(plan.members) AS m) ORDER BY c.oid LOOP
        RETURN QUERY WITH s AS MATERIALIZED (
            SELECT * FROM snowdrift.shadows(plan) WHERE "table" = t.oid
        ), changes(n, number, change) AS (
            SELECT 1, number, format('ADD COLUMN %I pg_catalog.int8', shadow) FROM s WHERE shadow_number IS NULL
            UNION ALL SELECT 2, NULL, format('ADD CONSTRAINT %I %s NOT VALID', w.name, w.definition) FROM snowdrift.wanted_checks(plan, definitions) AS w
            WHERE w."table" = t.oid AND NOT EXISTS (SELECT FROM pg_constraint AS c WHERE conrelid = t.oid AND c.conname = w.name AND c.oid <> ALL (stale))
        ), callers(grantees) AS (
            SELECT concat_ws(', ', 'PUBLIC', string_agg(DISTINCT snowdrift.grantee_name(grantee), ', ') FILTER (WHERE grantee NOT IN (0, defaclrole)))
            FROM pg_default_acl, aclexplode(defaclacl) WHERE pg_get_userbyid(defaclrole) = current_user AND defaclobjtype = 'f' AND defaclnamespace IN (0, t.relnamespace)
        ), filling(function, body, condition) AS (
            SELECT format('%s.%I()', t.relnamespace::regnamespace, snowdrift.shadow_name(t.relname)),
                concat('BEGIN ', string_agg(format('NEW.%I := NEW.%I; ', shadow, name), '' ORDER BY number), 'RETURN NEW; END'),
                string_agg(snowdrift.equality('NEW.' || quote_ident(shadow), 'NEW.' || quote_ident(name), false), ' AND ' ORDER BY number) FROM s
        ), state(has_trigger, functions, is_current) AS (
            SELECT count(tgrelid) > 0, (SELECT string_agg(DISTINCT format('DROP FUNCTION %s', f::regprocedure), '; ')
                    FROM unnest(array_agg(p.oid) FILTER (WHERE starts_with(proname, '_snowdrift_')) || min(to_regprocedure(function)::oid)) AS f WHERE f IS NOT NULL), coalesce(bool_or(tgenabled = 'A' AND p.oid = to_regprocedure(function) AND prosrc = body AND NOT has_function_privilege('public', p.oid, 'EXECUTE')), false)
            FROM filling LEFT JOIN (pg_trigger JOIN pg_proc AS p ON p.oid = tgfoid) ON tgrelid = t.oid AND tgname = '~snowdrift'
        ), all_changes(changes, is_current) AS (
            SELECT string_agg(change, ', ' ORDER BY n, number, change), bool_and(is_current) AND NOT coalesce(bool_or(n = 1), false) FROM state LEFT JOIN changes ON true
        )
        SELECT snowdrift.brief_call(ARRAY[t.oid], concat_ws('; ',
            format('ALTER TABLE %s ', t.name) || changes,
            -- Not CREATE OR REPLACE: a function of another owner would keep this owner.
            CASE WHEN NOT c.is_current THEN concat_ws('; ',
                CASE WHEN has_trigger THEN format('DROP TRIGGER "~snowdrift" ON %s', t.name) END,
                functions,
                format('CREATE FUNCTION %s RETURNS trigger LANGUAGE plpgsql AS %L', function, body),
                format('CREATE TRIGGER "~snowdrift" BEFORE INSERT OR UPDATE ON %s FOR EACH ROW WHEN (NOT (%s)) EXECUTE FUNCTION %s', t.name, condition, function),
                format('REVOKE ALL ON FUNCTION %s FROM %s', function, grantees),    -- so that no trigger of another role depends on it
                format('ALTER TABLE %s ENABLE ALWAYS TRIGGER "~snowdrift"', t.name)) END))    -- also while session_replication_role is replica
        FROM all_changes AS c, state, filling, callers WHERE changes IS NOT NULL OR NOT c.is_current;
    END LOOP;

    -- The copy of a table is complete when its checks of equality are valid.
    FOR t IN SELECT c.oid, snowdrift.qualified_name(c.oid) AS name, snowdrift.shadows_to_validate(plan, c.oid, definitions, stale) AS checks
            FROM pg_class AS c WHERE c.oid IN (SELECT m."table" FROM unnest(plan.members) AS m) ORDER BY c.oid LOOP
        IF EXISTS (SELECT FROM snowdrift.wanted_checks(plan, definitions) AS w WHERE w."table" = t.oid AND w.is_equality AND w.name = ANY (t.checks)) THEN
            parts := CASE WHEN pg_relation_size(t.oid) > 8000000 THEN 10 END;
            FOR part IN 1 .. coalesce(parts, 0) LOOP
                RETURN NEXT format('CALL snowdrift.copy_keys(%L::pg_catalog.regclass, %s, %s, %s)', t.name, duty, part, parts);
                RETURN NEXT format('VACUUM (TRUNCATE false) %s', t.name);    -- the next part uses the space of the rows' former versions
            END LOOP;
            RETURN NEXT format('CALL snowdrift.copy_keys(%L::pg_catalog.regclass, %s%s)', t.name, duty, ', parts => ' || parts);
            RETURN NEXT format('VACUUM (ANALYZE, TRUNCATE false) %s', t.name);
        END IF;
        IF cardinality(t.checks) > 0 THEN
            RETURN NEXT format('ALTER TABLE %s %s', t.name, (SELECT string_agg(format('VALIDATE CONSTRAINT %I', k), ', ') FROM unnest(t.checks) AS k));
        END IF;
    END LOOP;

    -- After the copy: if there were unique indexes before, the updates of the copy would block checks of foreign keys.
    FOR t IN SELECT x.indexrelid AS oid, c.relnamespace::regnamespace AS schema, shadow, o.indisunique, spcname, snowdrift.qualified_name(d."table") AS name, d.definition
            FROM jsonb_to_recordset(definitions) AS d("table" oid, class oid, object oid, name name, definition text)
                JOIN pg_class AS c ON c.oid = d.object JOIN pg_index AS o ON o.indexrelid = d.object LEFT JOIN pg_tablespace AS s ON s.oid = c.reltablespace
                CROSS JOIN LATERAL (SELECT snowdrift.shadow_name(d.name)) AS n(shadow)
                LEFT JOIN pg_class AS i ON i.relname = shadow AND i.relnamespace = c.relnamespace LEFT JOIN pg_index AS x ON x.indexrelid = i.oid AND x.indrelid = d."table" AND x.indexrelid <> ALL (stale)
            WHERE d.class = 'pg_class'::regclass AND x.indisvalid IS NOT TRUE ORDER BY o.indisunique, d."table", d.object LOOP
        IF t.oid IS NOT NULL THEN    -- the rest of a statement that was interrupted
            RETURN NEXT format('DROP INDEX CONCURRENTLY %s.%I', t.schema, t.shadow);
        END IF;
        RETURN QUERY SELECT format('SET default_tablespace = %L', t.spcname) WHERE t.spcname IS NOT NULL;
        RETURN NEXT format('CREATE %sINDEX CONCURRENTLY %I ON %s %s', CASE WHEN t.indisunique THEN 'UNIQUE ' END, t.shadow, t.name, t.definition);
        RETURN QUERY SELECT 'SET default_tablespace = '''''::text WHERE t.spcname IS NOT NULL;
    END LOOP;

    FOR t IN SELECT r.*, c.oid AS added, shadow, snowdrift.qualified_name(r."table") AS source, o.convalidated
            FROM snowdrift.shadow_references(plan) AS r JOIN pg_constraint AS o ON o.oid = r.object CROSS JOIN LATERAL (SELECT snowdrift.shadow_name(r.name)) AS n(shadow)
                LEFT JOIN pg_constraint AS c ON c.conrelid = r."table" AND c.conname = shadow AND c.oid <> ALL (stale)
            WHERE c.oid IS NULL OR (o.convalidated AND NOT c.convalidated) ORDER BY r."table", r.object LOOP
        IF t.added IS NULL THEN
            RETURN NEXT snowdrift.brief_call(ARRAY[t."table", t.other],
                format('ALTER TABLE %s ADD CONSTRAINT %I %s NOT VALID', t.source, t.shadow, t.definition));
        END IF;
        IF t.convalidated THEN
            RETURN NEXT format('ALTER TABLE %s VALIDATE CONSTRAINT %I', t.source, t.shadow);
        END IF;
    END LOOP;
END $$;

-- The checks of a table's shadows that are not valid
CREATE FUNCTION snowdrift.shadows_to_validate(plan snowdrift.conversion, "table" oid, definitions jsonb, stale oid[]) RETURNS text[]
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN
    RETURN ARRAY(SELECT w.name FROM snowdrift.wanted_checks(plan, definitions) AS w
        WHERE w."table" = $2 AND NOT EXISTS (SELECT FROM pg_constraint AS c WHERE conrelid = $2 AND conname = w.name AND convalidated AND c.oid <> ALL (stale)) ORDER BY w.name);
END $$;

-- Conversion of keys while applications write: the swap, in which the shadows take the places of their originals.

-- The statements of the swap. Dropping an original also drops its indexes, checks and statistics objects, and the
-- sequences that it owns.
CREATE FUNCTION snowdrift.swap_statements(plan snowdrift.conversion, keep_sequences boolean, path text) RETURNS SETOF text
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off
    SET timezone = 'UTC' SET datestyle = ISO SET intervalstyle = postgres SET extra_float_digits = 3 AS $$
#variable_conflict use_column
DECLARE
    later text[] := '{}';
    t record;
    r record;
BEGIN
    RETURN QUERY SELECT * FROM snowdrift.statements_before(plan);
    RETURN QUERY SELECT * FROM snowdrift.default_statements(plan);
    FOR r IN SELECT *, snowdrift.qualified_name("table") AS source FROM snowdrift.shadow_references(plan) LOOP
        RETURN NEXT format('ALTER TABLE %s DROP CONSTRAINT %I', r.source, r.name);
        later := later || format('ALTER TABLE %s RENAME CONSTRAINT %I TO %I', r.source, snowdrift.shadow_name(r.name), r.name)
            || ARRAY(SELECT format('ALTER TABLE %s ALTER CONSTRAINT %I DEFERRABLE INITIALLY IMMEDIATE', r.source, r.name) FROM pg_constraint AS c
                WHERE c.oid = r.object AND condeferrable AND NOT condeferred)
            || ARRAY(SELECT format('COMMENT ON CONSTRAINT %I ON %s IS %L', r.name, r.source, d) FROM obj_description(r.object, 'pg_constraint') AS d WHERE d IS NOT NULL);
    END LOOP;

    RETURN QUERY SELECT DISTINCT format('ALTER SEQUENCE %s AS pg_catalog.int8', snowdrift.qualified_name(seqrelid))    -- those of defaults that are not owned
    FROM unnest(plan.members) AS m JOIN pg_attrdef AS a ON adrelid = m."table" AND adnum = m.number JOIN pg_depend AS d ON d.classid = 'pg_attrdef'::regclass AND d.objid = a.oid
        JOIN pg_sequence ON d.refclassid = 'pg_class'::regclass AND d.refobjid = seqrelid JOIN pg_class AS c ON c.oid = seqrelid
    WHERE keep_sequences AND seqtypid <> 'int8'::regtype AND pg_has_role(relowner, 'USAGE');

    FOR r IN SELECT s.*, a.*, snowdrift.qualified_name(s."table") AS table_name, (s."table", s.number)::snowdrift.key_column = ANY (plan.new_keys) AS is_new,
                CASE WHEN attidentity = '' THEN pg_get_expr(adbin, adrelid) END AS value, col_description(attrelid, attnum) AS comment, conname
            FROM snowdrift.shadows(plan) AS s JOIN pg_attribute AS a ON attrelid = s."table" AND attnum = s.number
                LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum LEFT JOIN pg_constraint AS c ON conrelid = attrelid AND contype = 'n' AND conkey = ARRAY[attnum] LOOP
        IF r.conname IS NOT NULL THEN    -- from PostgreSQL 18 on
            RETURN NEXT format('ALTER TABLE %s ADD CONSTRAINT %I NOT NULL %I', r.table_name, snowdrift.shadow_name(r.conname), r.shadow);
            later := later || format('ALTER TABLE %s RENAME CONSTRAINT %I TO %I', r.table_name, snowdrift.shadow_name(r.conname), r.conname);
        ELSIF r.is_required THEN
            RETURN NEXT format('ALTER TABLE %s ALTER COLUMN %I SET NOT NULL', r.table_name, r.shadow);
        END IF;
        FOR t IN SELECT o.*, snowdrift.qualified_name(o.sequence) AS name, q.* FROM snowdrift.owned_sequences(ARRAY[(r."table", r.number)::snowdrift.key_column]) AS o
                JOIN pg_sequence AS q ON q.seqrelid = o.sequence WHERE o.sequence NOT IN (SELECT u.sequence FROM snowdrift.unused_sequences(plan) AS u) LOOP
            IF t.is_identity THEN    -- cannot be given to another column: a new sequence continues after it
                later := later || format('ALTER TABLE %s ALTER COLUMN %I ADD GENERATED %s AS IDENTITY (SEQUENCE NAME %s INCREMENT BY %s MINVALUE %s %s START WITH %s CACHE %s %sCYCLE)',
                    r.table_name, r.name, CASE r.attidentity WHEN 'a' THEN 'ALWAYS' ELSE 'BY DEFAULT' END, t.name, t.seqincrement, t.seqmin,
                    CASE WHEN t.seqmax NOT IN (32767, 2147483647) THEN format('MAXVALUE %s', t.seqmax) END, t.seqstart, t.seqcache, CASE WHEN NOT t.seqcycle THEN 'NO ' END)
                    || ARRAY(SELECT format('REVOKE ALL ON SEQUENCE %s FROM %s', t.name, snowdrift.grantee_name(grantee))
                        FROM pg_class AS c JOIN pg_default_acl ON defaclrole = relowner AND defaclobjtype = 'S' AND defaclnamespace IN (0, relnamespace), aclexplode(defaclacl)
                        WHERE c.oid = t.sequence AND grantee <> relowner)
                    || ARRAY(SELECT format('GRANT %s ON SEQUENCE %s TO %s%s', privilege_type, t.name, snowdrift.grantee_name(grantee),
                        CASE WHEN is_grantable THEN ' WITH GRANT OPTION' END) FROM pg_class AS c, aclexplode(relacl) WHERE c.oid = t.sequence AND grantee <> relowner)
                    || ARRAY(SELECT format('COMMENT ON SEQUENCE %s IS %L', t.name, d) FROM obj_description(t.sequence, 'pg_class') AS d WHERE d IS NOT NULL);
            ELSE
                RETURN NEXT format('ALTER SEQUENCE %s OWNED BY NONE', t.name);
                later := later || format('ALTER SEQUENCE %s OWNED BY %s.%I', t.name, r.table_name, r.name);
            END IF;
        END LOOP;
        later := format('ALTER TABLE %s RENAME COLUMN %I TO %I', r.table_name, r.shadow, r.name) || later    -- before all others
            || CASE WHEN r.is_new OR r.value IS NOT NULL THEN ARRAY[format('ALTER TABLE %s ALTER COLUMN %I SET DEFAULT %s', r.table_name, r.name, CASE WHEN r.is_new THEN plan.call ELSE coalesce(substring(r.value FROM '^[(](nextval[(].*[)])[)]::(?:smallint|integer)$'), r.value) END)] ELSE '{}' END
            || CASE WHEN r.attstattarget >= 0 THEN ARRAY[format('ALTER TABLE %s ALTER COLUMN %I SET STATISTICS %s', r.table_name, r.name, r.attstattarget)] ELSE '{}' END
            || ARRAY(SELECT format('ALTER TABLE %s ALTER COLUMN %I SET (%s)', r.table_name, r.name, o) FROM unnest(r.attoptions) AS o WHERE starts_with(o, 'n_distinct'))
            || ARRAY(SELECT format('SECURITY LABEL FOR %I ON COLUMN %s.%I IS %L', provider, r.table_name, r.name, label)
                FROM pg_seclabel WHERE classoid = 'pg_class'::regclass AND objoid = r."table" AND objsubid = r.number)
            || format('COMMENT ON COLUMN %s.%I IS %L', r.table_name, r.name, r.comment);    -- removes the progress, too
    END LOOP;
    RETURN QUERY SELECT s FROM pg_trigger, unnest(ARRAY[format('DROP TRIGGER "~snowdrift" ON %s', snowdrift.qualified_name(tgrelid)), format('DROP FUNCTION %s', tgfoid::regprocedure)])
        WITH ORDINALITY AS t(s, n) WHERE tgname = '~snowdrift' AND tgrelid IN (SELECT m."table" FROM unnest(plan.members) AS m) ORDER BY tgrelid, n;

    FOR r IN SELECT d.*, snowdrift.qualified_name(d."table") AS table_name, nspname, k.oid AS constraint_oid, k.contype, i.*, snowdrift.shadow_name(d.name) AS shadow
            FROM snowdrift.shadow_definitions(plan) AS d JOIN pg_class AS c ON c.oid = d."table" JOIN pg_namespace AS n ON n.oid = c.relnamespace
                LEFT JOIN pg_index AS i ON indexrelid = d.object
                LEFT JOIN pg_constraint AS k ON d.object IN (k.oid, k.conindid) AND k.contype IN ('p', 'u', 'c') AND k.conrelid = d."table" ORDER BY d."table", d.object LOOP
        later := later
            || CASE WHEN r.class = 'pg_constraint'::regclass THEN ARRAY[format('ALTER TABLE %s RENAME CONSTRAINT %I TO %I', r.table_name, r.shadow, r.name)] ELSE
                ARRAY(SELECT format('ALTER TABLE %I.%I RENAME COLUMN %I TO %I', r.nspname, r.shadow, s.shadow, s.name) FROM pg_attribute
                    JOIN snowdrift.shadows(plan) AS s ON s."table" = r."table" AND s.shadow = attname WHERE attrelid = to_regclass(format('%I.%I', r.nspname, r.shadow)))
                || format('ALTER INDEX %I.%I RENAME TO %I', r.nspname, r.shadow, r.name)
                || ARRAY(SELECT format('ALTER INDEX %I.%I ALTER COLUMN %s SET STATISTICS %s', r.nspname, r.name, attnum, attstattarget) FROM pg_attribute
                    WHERE attrelid = r.object AND attstattarget >= 0
                        AND EXISTS (SELECT FROM pg_index AS x WHERE x.indexrelid = to_regclass(format('%I.%I', r.nspname, r.shadow)) AND x.indkey[attnum - 1] = 0)) END
            || ARRAY(SELECT x FROM (VALUES
                (1, r.contype IN ('p', 'u'), format('ALTER TABLE %s ADD CONSTRAINT %I %s USING INDEX %I', r.table_name, r.name, CASE r.contype WHEN 'p' THEN 'PRIMARY KEY' ELSE 'UNIQUE' END, r.name)),
                (2, r.indisreplident, format('ALTER TABLE %s REPLICA IDENTITY USING INDEX %I', r.table_name, r.name)),
                (3, r.indisclustered, format('ALTER TABLE %s CLUSTER ON %I', r.table_name, r.name)),
                (4, r.constraint_oid IS NOT NULL, format('COMMENT ON CONSTRAINT %I ON %s IS %L', r.name, r.table_name, obj_description(r.constraint_oid, 'pg_constraint'))),
                (5, r.class = 'pg_class'::regclass, format('COMMENT ON INDEX %I.%I IS %L', r.nspname, r.name, obj_description(r.object, 'pg_class')))) AS v(n, is_used, x)
                WHERE is_used AND x NOT LIKE '% IS NULL' ORDER BY n);
    END LOOP;
    FOR r IN SELECT DISTINCT ON (s.oid) s.*, format('%I.%I', nspname, stxname) AS name, obj_description(s.oid, 'pg_statistic_ext') AS comment
            FROM pg_statistic_ext AS s JOIN pg_namespace AS n ON n.oid = stxnamespace JOIN pg_depend ON classid = 'pg_statistic_ext'::regclass AND objid = s.oid
                JOIN unnest(plan.members) AS m ON refclassid = 'pg_class'::regclass AND refobjid = m."table" AND refobjsubid = m.number ORDER BY s.oid LOOP
        later := later || pg_get_statisticsobjdef(r.oid) || ARRAY(SELECT format('ALTER STATISTICS %s OWNER TO %s', r.name, r.stxowner::regrole) WHERE pg_get_userbyid(r.stxowner) <> current_user)
            || CASE WHEN r.stxstattarget >= 0 THEN ARRAY[format('ALTER STATISTICS %s SET STATISTICS %s', r.name, r.stxstattarget)] ELSE '{}' END
            || format('COMMENT ON STATISTICS %s IS %L', r.name, r.comment);
    END LOOP;

    RETURN QUERY SELECT format('ALTER TABLE %s %s', snowdrift.qualified_name(s."table"), string_agg(format('DROP COLUMN %I', s.name), ', ' ORDER BY number))
    FROM snowdrift.shadows(plan) AS s GROUP BY s."table" ORDER BY s."table";
    RETURN QUERY SELECT unnest(later);
    RETURN QUERY SELECT * FROM snowdrift.statements_after(plan, path);
END $$;

-- The statements that can be made only under the exclusive locks, because weaker locks do not protect what they copy:
-- the privileges on columns, and the positions of the sequences of identities
CREATE FUNCTION snowdrift.late_statements(plan snowdrift.conversion) RETURNS SETOF text
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
    name text;
    last record;
BEGIN
    RETURN QUERY SELECT format('GRANT %s (%I) ON %s TO %s%s', privilege_type, attname, snowdrift.qualified_name(attrelid),
        snowdrift.grantee_name(grantee), CASE WHEN is_grantable THEN ' WITH GRANT OPTION' END)
    FROM unnest(plan.members) AS m JOIN pg_attribute ON attrelid = m."table" AND attnum = m.number, aclexplode(attacl)
    ORDER BY attrelid, attnum, grantee, privilege_type;
    FOR name IN SELECT snowdrift.qualified_name(sequence) FROM snowdrift.owned_sequences(plan.members) AS o
            WHERE is_identity AND o.key <> ALL (plan.new_keys) LOOP
        EXECUTE format('SELECT last_value, is_called FROM %s', name) INTO last;
        RETURN NEXT format('SELECT pg_catalog.setval(%L::pg_catalog.regclass, %s, %L)', name, last.last_value, last.is_called);
    END LOOP;
END $$;

-- The swap is planned while the tables are locked only against changes of their definitions. If another object begins to
-- depend on a column meanwhile, dropping the column fails, and nothing is changed.
CREATE PROCEDURE snowdrift.swap_keys(tables regclass[], generator text DEFAULT NULL, keep_sequences boolean DEFAULT false) LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
    call CONSTANT pg_catalog.text := snowdrift.generator_call(generator);
    plan snowdrift.conversion := snowdrift.plan_live(tables::pg_catalog.oid[], call, keep_sequences);
    locked CONSTANT pg_catalog.oid[] := plan."tables";
    relation pg_catalog.regclass;
    relations pg_catalog.regclass[];
    privileges pg_catalog.text;
    first_id pg_catalog.int8;
    path CONSTANT pg_catalog.text := pg_catalog.current_setting('search_path');
    schemas pg_catalog.text[];
    statements pg_catalog.text[];
    statement pg_catalog.text;
BEGIN
    FOREACH relation IN ARRAY locked LOOP
        PERFORM snowdrift.lock_against_changes(relation);
    END LOOP;
    plan := snowdrift.plan_live(tables::pg_catalog.oid[], call, keep_sequences);
    IF locked OPERATOR(pg_catalog.=) '{}'::pg_catalog.oid[] THEN
        RAISE 'the keys of the tables are already converted' USING ERRCODE = '55000', HINT = 'If columns whose names begin with _snowdrift_ are left, run abandon_script().';
    ELSIF plan."tables" OPERATOR(pg_catalog.<>) locked OR EXISTS (SELECT FROM snowdrift.preparing_statements(plan, 1)) THEN
        RAISE 'steps before the swap are missing, or tables have changed since' USING ERRCODE = '55000', HINT = 'Run the script again.';
    END IF;
    PERFORM snowdrift.check_obstacles(plan, ARRAY(SELECT * FROM snowdrift.live_refusals(plan, true)));
    IF NOT keep_sequences THEN
        EXECUTE pg_catalog.concat('SELECT ', call) INTO first_id;
        PERFORM snowdrift.check_keys(plan, first_id, false);
    END IF;
    schemas := snowdrift.schemas_of(plan);
    relations := snowdrift.relations_to_swap(plan);
    privileges := snowdrift.privileges_of(relations);
    statements := ARRAY(SELECT * FROM snowdrift.swap_statements(plan, keep_sequences, path));
    PERFORM snowdrift.check_not_reserved(plan."tables"::pg_catalog.regclass[]);
    PERFORM snowdrift.lock_exclusively(relations);
    IF snowdrift.privileges_of(relations) OPERATOR(pg_catalog.<>) privileges THEN
        RAISE 'tables have changed during the conversion' USING ERRCODE = '55000', HINT = 'Run the script again.';
    END IF;
    PERFORM pg_catalog.set_config('lock_timeout', '400ms', true);    -- for locks of other relations
    PERFORM snowdrift.check_schemas(schemas);
    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);    -- for which the definitions are written
    FOREACH statement IN ARRAY statements OPERATOR(pg_catalog.||) ARRAY(SELECT * FROM snowdrift.late_statements(plan)) LOOP
        EXECUTE statement;
    END LOOP;
    PERFORM pg_catalog.set_config('search_path', path, true);
    PERFORM snowdrift.check_schemas(schemas);
END $$;
COMMENT ON PROCEDURE snowdrift.swap_keys(regclass[], text, boolean) IS 'replace keys by the columns to which they have been copied, in one short transaction';

-- What statements of the swap restore, and no weaker lock protects: the privileges and comments of views and sequences
CREATE FUNCTION snowdrift.privileges_of(relations regclass[]) RETURNS text LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT coalesce(string_agg(concat_ws(' ', oid, relacl, reloptions, (SELECT string_agg(concat(attnum, attacl), ' ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = c.oid),
        (SELECT string_agg(description, ' ' ORDER BY objsubid) FROM pg_description WHERE objoid = c.oid AND classoid = 'pg_class'::regclass)), ' ' ORDER BY oid), '')
    FROM pg_class AS c WHERE oid = ANY (relations) AND relkind IN ('v', 'S');
END;

-- The relations that a conversion locks, and the sequences that stay
CREATE FUNCTION snowdrift.relations_to_swap(plan snowdrift.conversion) RETURNS regclass[]
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN snowdrift.relations_to_lock(plan) || ARRAY(SELECT sequence::regclass FROM snowdrift.owned_sequences(plan.members)
        WHERE sequence NOT IN (SELECT u.sequence FROM snowdrift.unused_sequences(plan) AS u));
END $$;

-- Conversion of keys while applications write: what users call. A script contains only what remains to be done.

-- The settings that long statements need. Statements that lock tables set lock_timeout themselves.
CREATE FUNCTION snowdrift.script_settings(duty double precision, OUT name text, OUT setting text) RETURNS SETOF record
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT v.name, v.setting FROM (VALUES ('statement_timeout', '0'), ('transaction_timeout', '0'), ('lock_timeout', '0'), ('default_tablespace', ''),
        ('max_parallel_maintenance_workers', CASE WHEN duty < 1 THEN '0' END), ('vacuum_cost_delay', CASE WHEN duty < 1 THEN '2ms' END)) AS v(name, setting)
    WHERE v.setting IS NOT NULL AND current_setting(v.name, true) IS NOT NULL;    -- transaction_timeout: since PostgreSQL 17
END;

-- A comment on the order of columns, an estimate if there is something to copy, and then the statements
CREATE FUNCTION snowdrift.script_statements(plan snowdrift.conversion, tables oid[], generator_name text, keep_sequences boolean, duty double precision)
    RETURNS SETOF text LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_variable
DECLARE
    names CONSTANT text := format('%L::pg_catalog.regclass[]', ARRAY(SELECT t::regclass FROM unnest(plan."tables") AS t));
    statements CONSTANT text[] := ARRAY(SELECT * FROM snowdrift.preparing_statements(plan, duty));
BEGIN
    RETURN QUERY SELECT format('-- column order: new columns come last, from the first statement on, in %s; name the columns in INSERT and COPY, and prepare SELECT * again',
        regexp_replace(string_agg(DISTINCT m."table"::regclass::text, ', '), '[[:cntrl:]]', ' ', 'g')) FROM unnest(plan.members) AS m HAVING count(*) > 0;
    RETURN QUERY SELECT format('-- estimate: %s of tables and indexes to copy: about %s minutes on an idle server (%s if duty is 1), %s of WAL, and %s of disk until the end', pg_size_pretty(bytes),
        ceil(bytes / 600e6 / duty), ceil(bytes / 600e6), pg_size_pretty(bytes * 4), pg_size_pretty(bytes * 6 / 10))
    FROM (SELECT sum(pg_total_relation_size(t))::bigint FROM (SELECT DISTINCT m."table" FROM unnest(plan.members) AS m) AS m(t)) AS s(bytes)
    WHERE array_to_string(statements, ' ') LIKE '%CALL snowdrift.copy_keys(%';
    RETURN QUERY SELECT format('SET %s = %L', s.name, s.setting) FROM snowdrift.script_settings(duty) AS s;
    RETURN NEXT format('CALL snowdrift.reserve_tables(%s, true)', names);
    RETURN QUERY SELECT unnest(statements);
    RETURN NEXT format('CALL snowdrift.swap_keys(%L::pg_catalog.regclass[]%s%s)', tables::regclass[], ', generator => ' || quote_literal(generator_name) || '::pg_catalog.text',
        CASE WHEN keep_sequences THEN ', keep_sequences => true' END);
    RETURN QUERY SELECT format('ANALYZE %s', snowdrift.qualified_name(t)) FROM (SELECT DISTINCT m."table" FROM unnest(plan.members) AS m) AS m(t) ORDER BY t;
    RETURN NEXT format('CALL snowdrift.reserve_tables(%s, false)', names);
    RETURN QUERY SELECT format('RESET %s', s.name) FROM snowdrift.script_settings(duty) AS s;
END $$;

CREATE FUNCTION snowdrift.conversion_script(tables regclass[], generator text DEFAULT NULL, keep_sequences boolean DEFAULT false,
        duty double precision DEFAULT 0.5, fire_triggers boolean DEFAULT false) RETURNS SETOF text
    LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_variable
DECLARE
    call CONSTANT pg_catalog.text := snowdrift.generator_call(generator);
    plan snowdrift.conversion;
    first_id pg_catalog.int8;
    risks pg_catalog.text[];
BEGIN
    IF tables IS NULL OR keep_sequences IS NULL OR duty IS NULL OR fire_triggers IS NULL THEN
        RAISE 'tables, keep_sequences, duty and fire_triggers must not be null' USING ERRCODE = '22004';
    ELSIF keep_sequences AND generator IS NOT NULL THEN
        RAISE 'keep_sequences and a generator exclude each other' USING ERRCODE = '22023';
    ELSIF NOT duty OPERATOR(pg_catalog.>) 0.0::pg_catalog.float8 OR NOT duty OPERATOR(pg_catalog.<=) 1.0::pg_catalog.float8 THEN
        RAISE 'duty must be greater than 0 and at most 1' USING ERRCODE = '22023';
    ELSIF pg_catalog.array_position(pg_catalog.current_schemas(false), 'pg_catalog'::pg_catalog.name) OPERATOR(pg_catalog.>) 1 THEN
        RAISE 'search_path has other schemas before pg_catalog' USING ERRCODE = '55000',
            DETAIL = 'Definitions of indexes could refer to objects in these.', HINT = 'Set search_path without pg_catalog, which then comes first.';
    END IF;
    PERFORM snowdrift.check_can_change('snowdrift.conversion_script()', false);
    IF NOT keep_sequences THEN
        EXECUTE pg_catalog.concat('SELECT ', call) INTO first_id;
    END IF;
    plan := snowdrift.plan_live(tables::pg_catalog.oid[], call, keep_sequences);
    PERFORM snowdrift.check_not_begun(ARRAY(SELECT t::pg_catalog.oid FROM pg_catalog.unnest(tables) AS t EXCEPT SELECT m."table" FROM pg_catalog.unnest(plan.members) AS m));
    PERFORM snowdrift.check_obstacles(plan, ARRAY(SELECT * FROM snowdrift.live_refusals(plan, fire_triggers)));
    PERFORM snowdrift.check_locks(plan);
    IF NOT keep_sequences THEN
        PERFORM snowdrift.check_keys(plan, first_id, true);
    END IF;
    risks := ARRAY(SELECT * FROM snowdrift.column_order_risks(plan)) OPERATOR(pg_catalog.||) ARRAY(SELECT * FROM snowdrift.conversion_risks(plan, true));
    PERFORM snowdrift.report_conversion(plan, tables::pg_catalog.oid[], risks);
    IF pg_catalog.cardinality(plan."tables") OPERATOR(pg_catalog.>) 0 THEN
        -- A name that contains a line feed would end the comment.
        RETURN QUERY SELECT pg_catalog.regexp_replace(r, '[[:cntrl:]]'::pg_catalog.text, ' '::pg_catalog.text, 'g'::pg_catalog.text) FROM pg_catalog.unnest(risks) AS r;
        RETURN QUERY SELECT * FROM snowdrift.script_statements(plan, tables::pg_catalog.oid[], generator, keep_sequences, duty);
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.conversion_script(regclass[], text, boolean, double precision, boolean)
    IS 'statements that remain to convert keys to bigint, and to Snowflake IDs, while applications write, for \gexec of psql';

CREATE FUNCTION snowdrift.abandon_script(tables regclass[]) RETURNS SETOF text
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
    -- These, and those that refer to them and have shadows
    changed CONSTANT oid[] := ARRAY(WITH RECURSIVE referring("table") AS (
            SELECT t::oid FROM unnest(tables) AS t
            UNION SELECT conrelid FROM referring JOIN pg_constraint ON confrelid = "table" AND contype = 'f' JOIN pg_class AS c ON c.oid = conrelid
            WHERE pg_has_role(relowner, 'USAGE')
        ) SELECT "table" FROM referring WHERE "table" = ANY (tables::oid[])
            OR EXISTS (SELECT FROM pg_attribute WHERE attrelid = "table" AND starts_with(attname, '_snowdrift_') AND NOT attisdropped) ORDER BY 1);
    names CONSTANT text := format('%L::pg_catalog.regclass[]', changed::regclass[]);
BEGIN
    IF tables IS NULL THEN
        RAISE 'tables must not be null' USING ERRCODE = '22004';
    END IF;
    PERFORM snowdrift.check_tables(tables::oid[]);
    PERFORM snowdrift.check_table_owners(changed);
    IF NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = ANY (changed) AND starts_with(attname, '_snowdrift_') AND NOT attisdropped) THEN
        RAISE NOTICE 'no conversion of these tables has begun';
        RETURN;
    END IF;
    RETURN QUERY SELECT format('SET %s = %L', s.name, s.setting) FROM snowdrift.script_settings(1) AS s;
    RETURN NEXT format('CALL snowdrift.reserve_tables(%s, true)', names);
    RETURN QUERY SELECT snowdrift.brief_call(ARRAY[conrelid, confrelid],
        format('ALTER TABLE %s DROP CONSTRAINT %I', snowdrift.qualified_name(conrelid), conname))
    FROM pg_constraint JOIN pg_class AS c ON c.oid = conrelid
    WHERE contype = 'f' AND (conrelid = ANY (changed) OR confrelid = ANY (changed)) AND pg_has_role(relowner, 'USAGE') AND starts_with(conname, '_snowdrift_') ORDER BY conrelid, pg_constraint.oid;
    RETURN QUERY SELECT format('DROP INDEX CONCURRENTLY %s', snowdrift.qualified_name(x)) FROM snowdrift.indexes_of_shadows(changed) AS x ORDER BY x;
    RETURN QUERY SELECT snowdrift.brief_call(ARRAY[c.oid], concat_ws('; ',
        CASE WHEN EXISTS (SELECT FROM pg_trigger WHERE tgrelid = c.oid AND tgname = '~snowdrift') THEN format('DROP TRIGGER "~snowdrift" ON %s', t.name) END,
        'DROP FUNCTION ' || coalesce((SELECT p.oid::regprocedure FROM pg_trigger JOIN pg_proc AS p ON p.oid = tgfoid WHERE tgrelid = c.oid AND tgname = '~snowdrift' AND starts_with(proname, '_snowdrift_')),
            to_regprocedure(format('%s.%I()', relnamespace::regnamespace, snowdrift.shadow_name(relname)))), format('ALTER TABLE %s %s', t.name, s.drops)))
    FROM pg_class AS c, LATERAL (SELECT snowdrift.qualified_name(c.oid)) AS t(name),
        LATERAL (SELECT string_agg(format('DROP COLUMN %I', attname), ', ' ORDER BY attnum) FROM pg_attribute
            WHERE attrelid = c.oid AND starts_with(attname, '_snowdrift_') AND NOT attisdropped) AS s(drops)
    WHERE c.oid = ANY (changed) AND s.drops IS NOT NULL ORDER BY c.oid;
    RETURN NEXT format('CALL snowdrift.reserve_tables(%s, false)', names);
    RETURN QUERY SELECT format('RESET %s', s.name) FROM snowdrift.script_settings(1) AS s;
END $$;
COMMENT ON FUNCTION snowdrift.abandon_script(regclass[]) IS 'statements that remove what a conversion while applications write has added, for \gexec of psql';

-- The way back: keys that draw Snowflakes draw from a sequence again. New keys are greater than all existing ones.

-- The keys that draw Snowflakes, and their tables.
CREATE FUNCTION snowdrift.plan_reversal(tables oid[]) RETURNS snowdrift.conversion
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
    plan snowdrift.conversion;
BEGIN
    PERFORM snowdrift.check_tables(tables);
    plan.keys := ARRAY(SELECT key FROM snowdrift.key_defaults(ARRAY(
            SELECT (attrelid, attnum)::snowdrift.key_column FROM pg_constraint JOIN pg_attribute ON attrelid = conrelid AND attnum = ANY (conkey)
            WHERE contype = 'p' AND conrelid = ANY (tables) AND attinhcount = 0 AND atttypid = 'int8'::regtype), snowdrift.generator_call(NULL))
        WHERE kind IN ('generator', 'other') ORDER BY key);
    plan."tables" := ARRAY(SELECT DISTINCT k."table" FROM unnest(plan.keys) AS k ORDER BY 1);
    PERFORM snowdrift.check_table_owners(plan."tables");
    RETURN plan;
END $$;

-- A qualified name like that of a serial column's sequence. A kept sequence can have the name already, so it can end with a
-- number.
CREATE FUNCTION snowdrift.free_sequence_name(schema name, stem text, used text[]) RETURNS text
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
DECLARE
    n text := '';
BEGIN
    LOOP
        IF octet_length(stem || '_seq' || n) > 63 THEN
            stem := left(stem, -1);
        ELSIF format('%I.%I', schema, stem || '_seq' || n) = ANY (used)
                OR to_regclass(format('%I.%I', schema, stem || '_seq' || n)) IS NOT NULL THEN
            n := coalesce(nullif(n, '')::integer, 0) + 1;
        ELSE
            RETURN format('%I.%I', schema, stem || '_seq' || n);
        END IF;
    END LOOP;
END $$;

-- The numbers follow all IDs that were drawn: those of deleted rows can be positions of readers, and open transactions can insert others.
-- A sequence of an identity needs no privileges, but before PostgreSQL 17, partitions and inheriting tables have no part in
-- the identity. If a table has these, the keys get a default, which they inherit.
CREATE FUNCTION snowdrift.reversal_statements(plan snowdrift.conversion) RETURNS SETOF text
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
DECLARE
    r record;
    sequence text;
    sequences text[] := '{}';
BEGIN
    RETURN QUERY SELECT s FROM snowdrift.lock_statement(plan, 'ACCESS EXCLUSIVE') AS s WHERE s IS NOT NULL;
    RETURN QUERY SELECT format('ALTER TABLE %s NO FORCE ROW LEVEL SECURITY', snowdrift.qualified_name(oid)) FROM snowdrift.forced_tables(plan) AS oid;
    -- pg_get_serial_sequence() would return an earlier sequence.
    RETURN QUERY SELECT format('ALTER SEQUENCE %s OWNED BY NONE', snowdrift.qualified_name(o.sequence)) FROM snowdrift.owned_sequences(plan.keys) AS o;
    FOR r IN SELECT attname, snowdrift.qualified_name(c.oid) AS name, c.oid, relname, nspname,
                (SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = attrelid AND adnum = attnum) AS expression,
                EXISTS (SELECT FROM snowdrift.watches(attrelid) AS w WHERE w.number = attnum) AS is_watched,
                (SELECT d.generator FROM snowdrift.drawn_ids(attrelid, attnum) AS d WHERE d.generator <> ''
                    AND NOT EXISTS (SELECT FROM snowdrift.generators AS g WHERE (g.kind, g.name) = ('snowflake', d.generator))) AS lost_generator,
                EXISTS (SELECT FROM pg_inherits WHERE inhparent = c.oid) AND NOT (relkind = 'p' AND current_setting('server_version_num')::integer >= 170000) AS has_default
            FROM unnest(plan.keys) AS k JOIN pg_attribute ON attrelid = k."table" AND attnum = k.number
                JOIN pg_class AS c ON c.oid = attrelid JOIN pg_namespace AS n ON n.oid = relnamespace ORDER BY k LOOP
        IF r.lost_generator IS NOT NULL AND r.is_watched THEN
            RAISE 'ID generator "%" of watched table "%" does not exist', r.lost_generator, r.relname USING ERRCODE = '42704',
                HINT = format('Run snowdrift.unwatch(%L), and set positions of readers back to the greatest key at most.', r.name);
        END IF;
        sequence := snowdrift.free_sequence_name(r.nspname, format('%s_%s', r.relname, r.attname), sequences);
        sequences := sequences || sequence;
        IF r.has_default THEN
            RETURN NEXT format('CREATE SEQUENCE %s OWNED BY %s.%I', sequence, r.name, r.attname);
            RETURN QUERY SELECT format('GRANT USAGE ON SEQUENCE %s TO %s', sequence, snowdrift.grantee_name(grantee))
            FROM snowdrift.inserting_roles(r.oid) AS grantee;
            RETURN NEXT format('ALTER TABLE %s ALTER COLUMN %I SET DEFAULT pg_catalog.nextval(%L::pg_catalog.regclass)', r.name, r.attname, sequence);
        ELSE
            RETURN NEXT format('ALTER TABLE %s ALTER COLUMN %I DROP DEFAULT, ALTER COLUMN %I ADD GENERATED BY DEFAULT AS IDENTITY (SEQUENCE NAME %s)',
                r.name, r.attname, r.attname, sequence);
        END IF;
        RETURN NEXT format(CASE WHEN r.lost_generator IS NULL THEN 'SELECT pg_catalog.setval(%L::pg_catalog.regclass, GREATEST(pg_catalog.max(%I), %4$s)) FROM %3$s'
            ELSE 'SELECT pg_catalog.setval(%L::pg_catalog.regclass, pg_catalog.max(%I)) FROM %s HAVING pg_catalog.max(%2$I) > 0' END, sequence, r.attname, r.name, r.expression);
    END LOOP;
    RETURN QUERY SELECT * FROM snowdrift.watch_statements(plan.keys);
    RETURN QUERY SELECT format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', snowdrift.qualified_name(oid)) FROM snowdrift.forced_tables(plan) AS oid;
END $$;

CREATE FUNCTION snowdrift.report_skipped(tables oid[], plan snowdrift.conversion) RETURNS void
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    r record;
BEGIN
    FOR r IN SELECT relname FROM unnest(tables) AS t JOIN pg_class AS c ON c.oid = t WHERE c.oid <> ALL (plan."tables") ORDER BY c.oid LOOP
        RAISE NOTICE 'table "%" is skipped', r.relname USING DETAIL = 'Its primary key draws no Snowflakes.';
    END LOOP;
END $$;

CREATE FUNCTION snowdrift.revert_keys(tables regclass[], dry_run boolean DEFAULT false) RETURNS SETOF text
    LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_variable
DECLARE
    plan snowdrift.conversion;
    statements pg_catalog.text[];
    statement pg_catalog.text;
BEGIN
    IF tables IS NULL OR dry_run IS NULL THEN
        RAISE 'tables and dry_run must not be null' USING ERRCODE = '22004';
    END IF;
    PERFORM snowdrift.check_can_change('snowdrift.revert_keys()', dry_run);
    LOOP
        plan := snowdrift.plan_reversal(tables::pg_catalog.oid[]);
        PERFORM snowdrift.report_skipped(tables::pg_catalog.oid[], plan) WHERE statements IS NULL;
        statements := ARRAY(SELECT * FROM snowdrift.reversal_statements(plan));
        EXIT WHEN dry_run OR pg_catalog.cardinality(statements) OPERATOR(pg_catalog.=) 0;
        BEGIN
            PERFORM snowdrift.lock_exclusively(snowdrift.relations_to_lock(plan) OPERATOR(pg_catalog.||) ARRAY(SELECT o.sequence::pg_catalog.regclass FROM snowdrift.owned_sequences(plan.keys) AS o));
            EXIT WHEN statements OPERATOR(pg_catalog.=)
                ARRAY(SELECT * FROM snowdrift.reversal_statements(snowdrift.plan_reversal(tables::pg_catalog.oid[])));
            RAISE SQLSTATE 'SN001';    -- the tables have changed during the wait
        EXCEPTION WHEN SQLSTATE 'SN001' THEN
        END;
    END LOOP;
    FOREACH statement IN ARRAY statements LOOP
        IF NOT dry_run THEN
            EXECUTE statement;
        END IF;
        RETURN NEXT pg_catalog.concat(statement, ';');
    END LOOP;
END $$;
COMMENT ON FUNCTION snowdrift.revert_keys(regclass[], boolean)
    IS 'make keys of primary keys that draw Snowflake IDs draw from sequences, and return the statements; a dry run only returns them';

-- Audits of columns. The query is made with a fixed search path. It runs with the caller's path and privileges, because
-- views, policies and indexes of the table can call functions.

-- A layout that the caller has stated overrides that of the column's default. If the default has none, as in foreign keys, views
-- and tables of imported IDs, the layout is the same as in functions for single IDs.
CREATE FUNCTION snowdrift.audited_layout("table" regclass, "column" name, type regtype, stated @extschema@.snowflake_layout)
        RETURNS @extschema@.snowflake_layout
    LANGUAGE sql STABLE
    RETURN CASE type WHEN 'bigint'::regtype THEN coalesce(stated,
        (SELECT snowdrift.generator_layout(generator)
         FROM pg_attribute AS a, snowdrift.drawn_generator(a.attrelid, a.attnum) AS generator
         WHERE a.attrelid = "table" AND a.attname = "column" AND generator <> ''),
        'snowflake'::@extschema@.snowflake_layout) END;
COMMENT ON FUNCTION snowdrift.audited_layout(regclass, name, regtype, @extschema@.snowflake_layout)
    IS 'layout in which snowdrift.audit() reads a column; null for other IDs than Snowflakes';

-- All fields of the last ID have their greatest values.
CREATE FUNCTION snowdrift.last_snowflake(layout @extschema@.snowflake_layout) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN snowdrift.last_snowflake_within('(,)'::tstzrange, layout);
COMMENT ON FUNCTION snowdrift.last_snowflake(@extschema@.snowflake_layout) IS 'largest Snowflake ID of a layout';

-- Null if all numbers of the layout are smaller.
CREATE FUNCTION snowdrift.end_of_small_numbers(layout @extschema@.snowflake_layout) RETURNS timestamptz
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN snowdrift.last_snowflake(layout) >= 4294967295
        THEN @extschema@.snowflake_timestamp(4294967295, layout) + interval '1 us' END;
COMMENT ON FUNCTION snowdrift.end_of_small_numbers(@extschema@.snowflake_layout) IS 'time after that of the number 2^32 - 1';

CREATE FUNCTION snowdrift.node_mask(layout @extschema@.snowflake_layout) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN @extschema@.make_snowflake(@extschema@.snowflake_timestamp(0::bigint, layout),
        @extschema@.snowflake_datacenter(snowdrift.last_snowflake(layout), layout),
        @extschema@.snowflake_worker(snowdrift.last_snowflake(layout), layout), 0, layout);
COMMENT ON FUNCTION snowdrift.node_mask(@extschema@.snowflake_layout) IS 'bits of datacenter and worker in Snowflake IDs of a layout';

-- The parts of the values, in the order of the result:
--     1 before the first ID, 2 before since, 3 Unix seconds, 4 Unix milliseconds, 5 ID, 6 ID later than now, 7 after the last ID,
--     8 UUID that is not of version 7, null for nulls
-- The node is that of IDs, as bits of a Snowflake or the partition of a sno. For a UUID that is not of version 7, it is the
-- version, or 16 for another variant, 17 for the nil UUID, 18 for the max UUID.
-- PostgreSQL inlines a function of this form, and then evaluates what depends only on the layout once per query.
CREATE FUNCTION snowdrift.describe_values(kind text, part integer, node bigint, smallest text, largest text,
        layout @extschema@.snowflake_layout, has_since boolean,
        OUT finding text, OUT datacenter integer, OUT worker integer, OUT partition integer,
        OUT first_timestamp timestamptz, OUT last_timestamp timestamptz) RETURNS SETOF record
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT CASE WHEN part = 2 AND has_since THEN 'ID earlier than since'
            WHEN part = 8 THEN CASE node WHEN 16 THEN 'UUID of another variant' WHEN 17 THEN 'nil UUID' WHEN 18 THEN 'max UUID'
                ELSE 'UUID of version ' || node END
            ELSE coalesce((ARRAY['earlier than the epoch', 'small number', 'Unix seconds', 'Unix milliseconds', 'ID', 'ID later than now',
                'not an ID'])[part], 'null') END,
        CASE WHEN is_id AND kind = 'snowflake' AND @extschema@.snowflake_datacenter(snowdrift.last_snowflake(layout), layout) > 0
            THEN @extschema@.snowflake_datacenter(smallest::bigint, layout) END,
        CASE WHEN is_id AND kind = 'snowflake' AND @extschema@.snowflake_worker(snowdrift.last_snowflake(layout), layout) > 0
            THEN @extschema@.snowflake_worker(smallest::bigint, layout) END,
        CASE kind WHEN 'sno' THEN node END,
        CASE WHEN is_id OR part = 2 AND has_since THEN snowdrift.id_timestamp(kind, smallest, layout)
            WHEN part IN (3, 4) THEN timestamptz '1970-01-01 00:00:00Z' + unit * smallest::bigint END,
        CASE WHEN is_id OR part = 2 AND has_since THEN snowdrift.id_timestamp(kind, largest, layout)
            WHEN part IN (3, 4) THEN timestamptz '1970-01-01 00:00:00Z' + unit * largest::bigint END
    FROM (SELECT part IN (5, 6) AS is_id, CASE part WHEN 3 THEN interval '1 s' WHEN 4 THEN interval '1 ms' END AS unit) AS known;
END;
COMMENT ON FUNCTION snowdrift.describe_values(text, integer, bigint, text, text, @extschema@.snowflake_layout, boolean)
    IS 'what snowdrift.audit() shows about values of the same part and node';

-- Each part begins at one or two bounds. Without since, numbers below 2^32, but at most those of the first day, are small.
-- Unix times are those from 2001-09-09, when they got 10 digits as seconds and 13 as milliseconds, to ten years from now.
-- There are none if IDs from after the layout's first week can be such numbers, or if that week is not over.
CREATE FUNCTION snowdrift.audit_bounds(kind text, layout @extschema@.snowflake_layout, since timestamptz,
        OUT first text, OUT seconds bigint[], OUT past text, OUT milliseconds bigint[], OUT week text, OUT future text, OUT after text)
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    times CONSTANT record := snowdrift.id_times(kind, layout);
    end_of_week CONSTANT timestamptz := least(times.first + interval '168:00', times.last);
    next_ms CONSTANT timestamptz := date_trunc('milliseconds', clock_timestamp()) + interval '1 ms';
    end_s CONSTANT bigint := floor(extract(epoch FROM next_ms)) + 3650 * 86400;
    certain timestamptz := greatest(since, times.first);
BEGIN
    IF kind = 'snowflake' AND since IS NULL THEN
        certain := least(snowdrift.end_of_small_numbers(layout), times.first + interval '24:00', times.last);
    END IF;
    first := snowdrift.id_boundary(kind, times.first, layout);
    past := snowdrift.id_boundary(kind, certain, layout);
    IF greatest(next_ms, certain) <= times.last THEN
        future := snowdrift.id_boundary(kind, greatest(next_ms, certain), layout);
    END IF;
    IF kind = 'snowflake' THEN
        after := nullif(snowdrift.last_snowflake(layout), 9223372036854775807) + 1;
        week := snowdrift.id_boundary(kind, end_of_week, layout);
        IF since IS NULL AND next_ms > end_of_week AND end_s <= past::bigint AND past::bigint <= 1000000000000
                AND end_s * 1000 <= week::bigint THEN
            seconds := ARRAY[1000000000, end_s];
            milliseconds := ARRAY[1000000000000, end_s * 1000];
        END IF;
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.audit_bounds(text, @extschema@.snowflake_layout, timestamptz)
    IS 'first values of the parts into which snowdrift.audit() divides the values of a column';

-- PostgreSQL inlines this function.
CREATE FUNCTION snowdrift.uuid_form(id uuid, bytes bytea) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN get_byte(bytes, 8) >> 6 = 2 THEN get_byte(bytes, 6) >> 4
        WHEN id = '00000000-0000-0000-0000-000000000000' THEN 17
        WHEN id = 'ffffffff-ffff-ffff-ffff-ffffffffffff' THEN 18
        WHEN id IS NOT NULL THEN 16 END;
COMMENT ON FUNCTION snowdrift.uuid_form(uuid, bytea) IS 'version of UUID, or 16 for another variant, 17 for the nil UUID, 18 for the max UUID';

-- If the column contains other small numbers than 0, Unix seconds are small numbers, too. If it contains other IDs of the layout's
-- first week, Unix milliseconds are IDs. In the query, $1 is the layout, and $2 the sample; all names are qualified. With OFFSET 0,
-- PostgreSQL evaluates the expressions once per row, and does not expect a group per row.
CREATE FUNCTION snowdrift.audit_query(name text, "column" name, type regtype, layout @extschema@.snowflake_layout,
        since timestamptz, is_sample boolean) RETURNS text
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    kind CONSTANT text := snowdrift.id_kind(type);
    b CONSTANT record := snowdrift.audit_bounds(kind, layout, since);
    schema CONSTANT text := (SELECT t.typnamespace::regnamespace FROM pg_type AS t WHERE t.oid = type);    -- of its functions, too
    source text := format('SELECT %I::%s AS id FROM %s%s', "column", type, name,
        CASE WHEN is_sample THEN ' TABLESAMPLE pg_catalog.system($2)' END);
    part text := (SELECT string_agg(format('WHEN id OPERATOR(%s.>=) %L::%s THEN %s ', schema, bound, type, p), E'\n            ' ORDER BY n)
        FROM unnest(ARRAY[b.after, b.future, b.milliseconds[2]::text, b.milliseconds[1]::text, b.past, b.seconds[2]::text,
            b.seconds[1]::text, b.first], '{7,6,5,4,5,2,3,2}'::integer[]) WITH ORDINALITY AS bounds(bound, p, n)
        WHERE bound IS NOT NULL);
    node text := 'NULL::bigint';
    value text := 'id';
    groups text := 'groups';
BEGIN
    CASE kind
        WHEN 'snowflake' THEN
            node := format('CASE WHEN id OPERATOR(pg_catalog.>=) %L::bigint THEN NULL'
                ' WHEN id OPERATOR(pg_catalog.>=) %L::bigint THEN id OPERATOR(pg_catalog.&) %L::bigint END',
                b.after, b.past, snowdrift.node_mask(layout));
            groups := format($q$(
    SELECT c.part, CASE WHEN c.part OPERATOR(pg_catalog.<>) 4 THEN g.node END AS node, pg_catalog.sum(g.n)::bigint AS n,
        pg_catalog.min(g.min) AS min, pg_catalog.max(g.max) AS max
    FROM groups AS g, LATERAL (SELECT CASE
        WHEN g.part OPERATOR(pg_catalog.=) 3 AND EXISTS (SELECT FROM groups AS o
            WHERE o.part OPERATOR(pg_catalog.=) 2 AND o.max OPERATOR(pg_catalog.>) 0::bigint) THEN 2
        WHEN g.part OPERATOR(pg_catalog.=) 4 AND EXISTS (SELECT FROM groups AS o
            WHERE o.part OPERATOR(pg_catalog.=) 5 AND o.min OPERATOR(pg_catalog.<) %L::bigint) THEN 5
        ELSE g.part END AS part) AS c
    GROUP BY 1, 2)$q$, b.week);
        WHEN 'sno' THEN
            node := format('CASE WHEN id OPERATOR(%1$s.>=) %2$L::%3$s THEN %1$s.sno_partition(id) END::bigint', schema, b.past, type);
        WHEN 'uuidv7' THEN
            source := format('SELECT id, pg_catalog.uuid_send(id) AS bytes, id::pg_catalog.text COLLATE pg_catalog."C" AS shown'
                ' FROM (%s) AS ids OFFSET 0', source);
            part := 'WHEN snowdrift.uuid_form(id, bytes) OPERATOR(pg_catalog.<>) 7::bigint THEN 8 ' || part;
            node := 'CASE WHEN snowdrift.uuid_form(id, bytes) OPERATOR(pg_catalog.<>) 7::bigint'
                ' THEN snowdrift.uuid_form(id, bytes) END';
            value := 'shown';    -- before version 18, PostgreSQL has no min(uuid)
        ELSE
    END CASE;
    RETURN format($q$WITH groups AS MATERIALIZED (
    SELECT part, node, pg_catalog.count(*) AS n, %1$s.min(value) AS min, %1$s.max(value) AS max
    FROM (SELECT %2$s AS value, %3$s AS node,
        CASE %4$sWHEN id IS NOT NULL THEN 1 END AS part
        FROM (%5$s) AS ids OFFSET 0) AS parts
    GROUP BY part, node)
SELECT d.finding, d.datacenter, d.worker, d.partition, g.n, d.first_timestamp, d.last_timestamp,
    g.min::pg_catalog.text, g.max::pg_catalog.text, $1
FROM %6$s AS g, snowdrift.describe_values(%7$L::pg_catalog.text, g.part, g.node,
    g.min::pg_catalog.text, g.max::pg_catalog.text, $1, %8$L::boolean) AS d
ORDER BY g.part, g.node$q$,
        schema, value, node, part, source, groups, kind, since IS NOT NULL);
END $$;
COMMENT ON FUNCTION snowdrift.audit_query(text, name, regtype, @extschema@.snowflake_layout, timestamptz, boolean)
    IS 'query of snowdrift.audit()';

CREATE FUNCTION snowdrift.check_audited_type("table" regclass, "column" name, type regtype) RETURNS regtype
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    base CONSTANT oid := snowdrift.base_type(type);
BEGIN
    IF snowdrift.id_kind(base) IS NULL THEN
        RAISE 'values of column "%" of relation "%" cannot be IDs', "column",
                (SELECT c.relname FROM pg_class AS c WHERE c.oid = "table")
            USING ERRCODE = '42804', DETAIL = format('The column is of type %s.', type);
    END IF;
    RETURN base;
END $$;
COMMENT ON FUNCTION snowdrift.check_audited_type(regclass, name, regtype)
    IS 'type of IDs of which type is a domain, or the type itself';

-- STABLE: the query has the snapshot of the calling query, which was taken before the clock was read, so IDs that are issued
-- during the audit are not later than now. The first query locks the table, so that its name does not change until the second.
CREATE FUNCTION snowdrift.read_audit("table" regclass, "column" name, stated @extschema@.snowflake_layout, sample real,
        since timestamptz, OUT finding text, OUT datacenter integer, OUT worker integer, OUT partition integer, OUT count bigint,
        OUT first_timestamp timestamptz, OUT last_timestamp timestamptz, OUT min text, OUT max text,
        OUT layout @extschema@.snowflake_layout) RETURNS SETOF record
    LANGUAGE plpgsql STABLE AS $$
DECLARE
    name pg_catalog.text;
    type pg_catalog.regtype;
BEGIN
    IF "table" IS NULL OR "column" IS NULL THEN
        RAISE 'table and column must not be null' USING ERRCODE = '22004';
    END IF;
    LOOP
        name := snowdrift.qualified_name("table");
        EXECUTE pg_catalog.format('SELECT pg_catalog.pg_typeof((SELECT %I FROM %s LIMIT 0))', "column", name) INTO type;
        EXIT WHEN pg_catalog.to_regclass(name) OPERATOR(pg_catalog.=) "table";
    END LOOP;
    type := snowdrift.check_audited_type("table", "column", type);
    layout := snowdrift.audited_layout("table", "column", type, stated);
    RETURN QUERY EXECUTE snowdrift.audit_query(name, "column", type, layout, since, sample IS NOT NULL) USING layout, sample;
END $$;
COMMENT ON FUNCTION snowdrift.read_audit(regclass, name, @extschema@.snowflake_layout, real, timestamptz)
    IS 'implementation of snowdrift.audit()';

-- A function in PL/pgSQL cannot have an argument and a result of the same name.
CREATE FUNCTION snowdrift.audit("table" regclass, "column" name,
        layout @extschema@.snowflake_layout DEFAULT NULL, sample real DEFAULT NULL, since timestamptz DEFAULT NULL,
        OUT finding text, OUT datacenter integer, OUT worker integer, OUT partition integer, OUT count bigint,
        OUT first_timestamp timestamptz, OUT last_timestamp timestamptz, OUT min text, OUT max text,
        OUT layout @extschema@.snowflake_layout) RETURNS SETOF record
    LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT * FROM snowdrift.read_audit($1, $2, $3, $4, $5);
END;
COMMENT ON FUNCTION snowdrift.audit(regclass, name, @extschema@.snowflake_layout, real, timestamptz)
    IS 'summary of a column of IDs: a row for the IDs of each node, and rows for values that are too small, Unix times, later than now, not IDs, or UUIDs of another version; sample is a percentage';

-- Watched tables: the holds of sequences, snowdrift.watch() and its triggers.
--
-- A watermark over a sequence, as over a generator, is a number below which no row can appear any more. Its rule is in
-- docs/guarantees.md. A transaction that inserts rows first takes a hold, which is a shared advisory lock, and then draws. The
-- lock's key has the sign bit, so that small numbers of applications differ, 24 bits of the sequence's OID, and 39 bits of a
-- number that is below all numbers that the transaction draws. Locks of others with equal keys can only delay readers. The
-- setting snowdrift_hold.s<OID> is the number above which the transaction's rows are accepted. The lock and the setting end
-- together, with the transaction or at ROLLBACK TO, and with them the rows.

CREATE FUNCTION snowdrift.plain_name(relation regclass) RETURNS name LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT relname FROM pg_class WHERE oid = relation;
END;
COMMENT ON FUNCTION snowdrift.plain_name(regclass) IS 'name of relation, for messages';

CREATE FUNCTION snowdrift.hold_key(sequence oid, number bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (1::bigint << 63) | ((sequence::bigint & 16777215) << 39) | (number & 549755813887);
COMMENT ON FUNCTION snowdrift.hold_key(oid, bigint) IS 'key of the advisory lock that holds a sequence''s watermark back at a number';

CREATE FUNCTION snowdrift.hold_setting(sequence oid) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN 'snowdrift_hold.s' || sequence::text;
COMMENT ON FUNCTION snowdrift.hold_setting(oid) IS 'setting that contains the number above which a transaction''s rows are accepted';

CREATE FUNCTION snowdrift.number_before(number bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN greatest(number, -9223372036854775807) - 1;
COMMENT ON FUNCTION snowdrift.number_before(bigint) IS 'number before another one; the smallest for itself';

-- The holds that transactions have taken. Prepared transactions have no process.
CREATE FUNCTION snowdrift.holds(OUT pid integer, OUT virtualtransaction text, OUT key bigint) RETURNS SETOF record LANGUAGE sql VOLATILE
BEGIN ATOMIC
    SELECT pid, virtualtransaction, (classid::bigint << 32) | objid::bigint FROM pg_locks
    WHERE locktype = 'advisory' AND objsubid = 1 AND mode = 'ShareLock' AND classid::bigint >= 2147483648
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database());
END;
COMMENT ON FUNCTION snowdrift.holds() IS 'advisory locks that can be holds of watermarks';

-- A key has 39 bits of a number: of the one that is nearest to the last number, or of one before the first, at which a sequence is held
-- that has returned no number since it was created or set. Read the last number before the holds.
CREATE FUNCTION snowdrift.lowest_hold(sequence oid, last bigint) RETURNS bigint LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    before_first CONSTANT bigint := (SELECT greatest(seqmin, -9223372036854775744) - 1 FROM pg_sequence WHERE seqrelid = sequence);
BEGIN
    RETURN (SELECT min(least(last - ((((last & 549755813887) - (key & 549755813887) + 274877906944) & 549755813887) - 274877906944),
            CASE WHEN ((before_first - key) & 549755813887) < 64 THEN before_first - 63 END))
        FROM snowdrift.holds() WHERE key = snowdrift.hold_key(sequence, key));
END $$;
COMMENT ON FUNCTION snowdrift.lowest_hold(oid, bigint) IS 'lowest number at which a transaction holds a sequence''s watermark back; null if none does';

-- The trigger that takes the hold. It has the rights of its owner, because those who insert into an identity column have none on its
-- sequence. The sequence is the one that the trigger's condition names, so that it follows renames and dumps; the table's owner must
-- be allowed to read it. The lock's key has the last number from before the lock was taken, and the setting the one from after: a
-- reader that does not find the lock has read a last number that is not above the setting.
CREATE FUNCTION snowdrift.hold_sequence() RETURNS trigger LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    sequence oid;    -- as the parameters are: a function for another type could be another role's
    before_first bigint;
    is_allowed boolean;
    held bigint;
BEGIN
    SELECT s.seqrelid, snowdrift.number_before(s.seqmin), has_sequence_privilege(c.relowner, s.seqrelid, 'SELECT') AND has_sequence_privilege(s.seqrelid, 'SELECT')
    INTO sequence, before_first, is_allowed
    FROM pg_trigger AS t JOIN pg_depend AS d ON d.classid = t.tableoid AND d.objid = t.oid JOIN pg_sequence AS s ON s.seqrelid = d.refobjid
        JOIN pg_class AS c ON c.oid = t.tgrelid AND c.tableoid = d.refclassid
    WHERE t.tgrelid = TG_RELID AND t.tgname = TG_NAME;
    IF sequence IS NULL OR NOT is_allowed THEN
        RAISE 'cannot hold the watermark of table "%"', TG_TABLE_NAME USING ERRCODE = '55000',
            DETAIL = 'The trigger names no sequence that the table''s owner and that of the function may read, or is later than the transaction''s snapshot.',
            HINT = 'Repeat the transaction, or let the table''s owner call snowdrift.watch() again.';
    END IF;
    held := coalesce(pg_sequence_last_value(sequence), before_first);
    WHILE NOT pg_try_advisory_xact_lock_shared(snowdrift.hold_key(sequence, held)) LOOP    -- Another role has locked this key.
        held := held - 1;
    END LOOP;
    PERFORM set_config(snowdrift.hold_setting(sequence), coalesce(pg_sequence_last_value(sequence), before_first)::text, true);
    RETURN NULL;
END $$;
COMMENT ON FUNCTION snowdrift.hold_sequence() IS 'trigger of snowdrift.watch: hold the watermark back before the statement draws from the sequence';

-- The trigger whose condition finds the rows that readers may have passed. A row that an UPDATE moves to another partition is inserted there.
CREATE FUNCTION snowdrift.refuse_row() RETURNS trigger LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    watched CONSTANT regclass := coalesce((SELECT a.relid FROM pg_partition_ancestors(TG_RELID) AS a JOIN pg_trigger AS t ON t.tgrelid = a.relid
        WHERE t.tgfoid = 'snowdrift.refuse_row()'::regprocedure AND t.tgparentid = 0 LIMIT 1), TG_RELID);
BEGIN
    RAISE '% of table "%" was not drawn after the transaction held the watermark back', coalesce('ID ' || (to_jsonb(NEW) ->> TG_ARGV[0]), 'an ID'), snowdrift.plain_name(watched) USING ERRCODE = '55000',
        DETAIL = 'Readers of new rows may have passed it, and would miss the row.',
        HINT = format(CASE WHEN current_setting('session_replication_role') = 'replica' THEN 'On a subscriber of logical replication, call snowdrift.unwatch(%L).'
            ELSE 'Let the column''s default draw the ID, or call snowdrift.hold(%1$L) before drawing it. If the default has changed, call snowdrift.watch(%1$L) again.' || CASE WHEN watched = TG_RELID THEN ''
                ELSE ' Insert rows into that table, not into its partitions. An UPDATE cannot move rows to another partition: delete them, and insert them without their IDs.' END END, watched);
END $$;
COMMENT ON FUNCTION snowdrift.refuse_row() IS 'trigger of snowdrift.watch: raise an error for a row that readers may have passed';

-- The columns whose defaults draw: from a sequence, or from a generator whose watermark can be read. `sequence` is also the
-- state of a generator that is one.
CREATE FUNCTION snowdrift.drawing_columns("table" regclass, OUT number smallint, OUT kind text, OUT generator text, OUT sequence oid) RETURNS SETOF record
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT attnum, 'sequence', NULL::text, objid FROM pg_attribute
        JOIN pg_depend ON refclassid = 'pg_class'::regclass AND refobjid = attrelid AND refobjsubid = attnum AND classid = refclassid AND deptype = 'i'
    WHERE attrelid = "table" AND attidentity <> ''
    UNION ALL SELECT adnum, 'sequence', NULL, refobjid FROM pg_attrdef AS a
        JOIN pg_depend ON classid = 'pg_attrdef'::regclass AND objid = a.oid AND refclassid = 'pg_class'::regclass
        JOIN pg_class AS s ON s.oid = refobjid AND relkind = 'S'
    WHERE adrelid = "table" AND pg_get_expr(adbin, adrelid) ~ '^[(]?nextval[(]''([^'']|'''')*''::regclass[)]([)]::[a-z]+)?$'
    UNION ALL SELECT attnum, d.kind, d.generator, snowdrift.state_of(d.generator)
    FROM pg_attribute JOIN pg_type AS t ON t.oid = atttypid, snowdrift.drawn_ids(attrelid, attnum) AS d
    WHERE attrelid = "table" AND attnum > 0 AND NOT attisdropped AND (atthasdef OR typdefaultbin IS NOT NULL) AND d.kind IS NOT NULL;
END $$;
COMMENT ON FUNCTION snowdrift.drawing_columns(regclass) IS 'columns whose defaults draw from a sequence or a generator';

-- The triggers of watches, without those that a partition has from its parent. `part`: watermark, the one of the library, or hold,
-- insert and update. The names of triggers differ after a dump is restored.
CREATE FUNCTION snowdrift.watches("table" regclass, OUT name name, OUT part text, OUT number smallint, OUT sequence oid, OUT generator text, OUT is_enabled boolean)
    RETURNS SETOF record LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT t.tgname, w.part,
        coalesce(t.tgattr[0], (SELECT min(refobjsubid) FROM pg_depend WHERE classid = t.tableoid AND objid = t.oid AND refobjid = t.tgrelid AND refobjsubid > 0))::smallint,
        (SELECT refobjid FROM pg_depend JOIN pg_sequence ON seqrelid = refobjid WHERE classid = t.tableoid AND objid = t.oid AND refclassid = 'pg_class'::regclass),
        CASE WHEN w.part = 'watermark' OR t.tgnargs = 2
            THEN convert_from(decode(split_part(encode(t.tgargs, 'escape'), E'\\000', greatest(1, t.tgnargs)), 'escape'), getdatabaseencoding()) END,
        t.tgenabled = 'A'
    FROM pg_trigger AS t JOIN pg_proc AS p ON p.oid = t.tgfoid, LATERAL (SELECT CASE p.proname WHEN 'hold_row' THEN 'watermark' WHEN 'hold_sequence' THEN 'hold'
        ELSE CASE t.tgtype & 4 WHEN 0 THEN 'update' ELSE 'insert' END END) AS w(part)
    WHERE t.tgrelid = "table" AND t.tgparentid = 0 AND p.pronamespace = 'snowdrift'::regnamespace AND p.proname IN ('hold_row', 'hold_sequence', 'refuse_row');
END $$;
COMMENT ON FUNCTION snowdrift.watches(regclass) IS 'triggers of snowdrift.watch() on a table';

CREATE FUNCTION snowdrift.sequence_problem(sequence oid) RETURNS text LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (SELECT CASE WHEN seqincrement < 0 THEN format('Sequence %s descends.', seqrelid::regclass)
        WHEN seqcycle THEN format('Sequence %s cycles.', seqrelid::regclass)
        WHEN seqcache > 1 THEN format('Sequence %1$s caches numbers: ALTER SEQUENCE %1$s CACHE 1.', seqrelid::regclass) END
    FROM pg_sequence WHERE seqrelid = sequence);
END $$;
COMMENT ON FUNCTION snowdrift.sequence_problem(oid) IS 'why the numbers of a sequence do not ascend in the order in which they are drawn';

CREATE FUNCTION snowdrift.relation_problem("table" regclass) RETURNS text LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM snowdrift.qualified_name("table");    -- which raises an error if it does not exist
    RETURN (SELECT CASE WHEN relkind NOT IN ('r', 'p', 'f') THEN 'It is not a table.'
        WHEN relkind = 'f' THEN 'It is a foreign table, which another server reads with a snapshot of its own.'
        WHEN relkind = 'r' AND EXISTS (SELECT FROM pg_inherits WHERE inhparent = c.oid) THEN 'Other tables inherit from the table.'
        WHEN relkind = 'p' THEN (SELECT format('Its partition %s is a foreign table.', min(relid::text)) FROM pg_partition_tree(c.oid) JOIN pg_class AS p ON p.oid = relid WHERE p.relkind = 'f' HAVING count(*) > 0) END
    FROM pg_class AS c WHERE c.oid = "table");
END $$;
COMMENT ON FUNCTION snowdrift.relation_problem(regclass) IS 'why new rows of a table cannot be read, however their IDs are drawn';

-- For a column whose default is none of those in which drawing_columns() finds what draws. What draws without a default is not known.
CREATE FUNCTION snowdrift.default_problem("table" regclass, number smallint) RETURNS text LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
BEGIN
    RETURN (SELECT CASE WHEN a.attgenerated <> '' THEN 'It is a generated column.'
        WHEN b.kind <> ALL (snowdrift.kinds_with_watermarks()) THEN format('IDs in a column of type %s have no watermark.', format_type(b.type, NULL))
        ELSE format('%s, %s, does not draw from a known sequence or generator alone', CASE WHEN d.oid IS NULL THEN 'The default of its domain' ELSE 'Its default' END, e.expression)
            || coalesce(format(': ALTER TABLE %s ALTER COLUMN %I SET DEFAULT ', a.attrelid::regclass, a.attname) || CASE
                WHEN b.kind = 'snowflake' AND e.expression !~ 'nextval' THEN coalesce(substring(e.expression FROM '[[:<:]]next_snowflake[(][^)]*[)]'),
                    CASE WHEN e.expression ~ '[(]' THEN 'next_snowflake(''generator'')' ELSE 'next_snowflake()' END)
                WHEN b.type IN ('int2'::regtype, 'int4'::regtype, 'int8'::regtype) THEN format('nextval(''%s'')', coalesce(substring(e.expression FROM 'nextval[(]+''((?:[^'']|'''')+)'''), 'sequence'))
                WHEN b.kind = ANY (snowdrift.kinds_with_watermarks()) THEN format('next_%s()', b.kind) END, '') || '.' END
        FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum,
            LATERAL (SELECT pg_get_expr(coalesce(d.adbin, t.typdefaultbin), a.attrelid)) AS e(expression),
            LATERAL (SELECT base, snowdrift.id_kind(base) FROM snowdrift.base_type(a.atttypid) AS base) AS b(type, kind)
        WHERE a.attrelid = "table" AND a.attnum = number AND e.expression IS NOT NULL);
END $$;
COMMENT ON FUNCTION snowdrift.default_problem(regclass, smallint) IS 'why it is not known from what a column''s default draws';

-- The key by which new rows are read: the given column, or one of the `n` columns whose defaults draw. Without a default, programs draw
-- from `drawn`; without such a generator, `kind` is null. `problem`: why rows could be missed.
CREATE FUNCTION snowdrift.feed_key("table" regclass, given smallint, drawn text, OUT number smallint, OUT "column" name, OUT kind text, OUT generator text, OUT sequence oid, OUT is_default boolean, OUT problem text, OUT n bigint)
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    type oid;
    kind_of_type text;
BEGIN
    SELECT d.number, d.kind, d.generator, d.sequence, count(*) OVER () INTO number, kind, generator, sequence, n
    FROM snowdrift.drawing_columns("table") AS d WHERE d.number = coalesce(given, d.number) LIMIT 1;
    is_default := kind IS NOT NULL;
    number := coalesce(given, number);
    SELECT a.attname, snowdrift.base_type(a.atttypid) INTO "column", type FROM pg_attribute AS a WHERE a.attrelid = "table" AND a.attnum = number;
    kind_of_type := snowdrift.id_kind(type);
    IF kind IS NULL THEN
        problem := CASE WHEN type IN ('int2'::regtype, 'int4'::regtype) OR kind_of_type = ANY (snowdrift.kinds_with_watermarks()) THEN snowdrift.default_problem("table", number) END;
        IF problem IS NULL AND drawn IS NOT NULL AND kind_of_type = ANY (snowdrift.kinds_with_watermarks()) THEN
            kind := kind_of_type;
            generator := drawn;
            sequence := snowdrift.state_of(drawn);
        END IF;
    ELSIF kind = 'sequence' AND type IN ('int2'::regtype, 'int4'::regtype, 'int8'::regtype) THEN
        problem := snowdrift.sequence_problem(sequence);
    ELSIF kind IS DISTINCT FROM kind_of_type THEN
        problem := format('It is of type %s. The IDs that its default draws must be in a column of type %s.', format_type(type, NULL),
            CASE kind WHEN 'sequence' THEN 'smallint, integer or bigint' WHEN 'snowflake' THEN 'bigint' WHEN 'uuidv7' THEN 'uuid' ELSE kind END);
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.feed_key(regclass, smallint, text) IS 'column by which new rows of a table are read, and what draws its values';

-- The triggers that a watch needs. Their conditions call built-in functions alone, because PostgreSQL plans them in each statement.
CREATE FUNCTION snowdrift.wanted_triggers("table" regclass, "column" name, kind text, generator text, sequence oid, OUT part text, OUT definition text)
    RETURNS SETOF record LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    held CONSTANT text := format('nullif(current_setting(%L || %L::regclass::oid::text, true), %L)', 'snowdrift_hold.s', sequence, '');
    passed CONSTANT text := format('NEW.%I <= coalesce(%s::bigint, 9223372036854775807)', "column", held);
    arguments CONSTANT text := concat_ws(', ', quote_literal("column"), quote_literal(generator));
BEGIN
    IF sequence IS NULL THEN
        RETURN QUERY VALUES ('watermark', format('AFTER INSERT OR UPDATE OF %I ON %s FOR EACH ROW EXECUTE FUNCTION snowdrift.hold_row(%s)',
            "column", "table", quote_literal(nullif(generator, ''))));
        RETURN;
    END IF;
    IF kind = 'sequence' THEN
        RETURN QUERY VALUES ('hold', format('BEFORE INSERT OR UPDATE OF %I ON %s FOR EACH STATEMENT WHEN (%s IS NULL) EXECUTE FUNCTION snowdrift.hold_sequence()',
            "column", "table", held));
    END IF;
    RETURN QUERY VALUES ('insert', format('AFTER INSERT ON %s FOR EACH ROW WHEN (%s) EXECUTE FUNCTION snowdrift.refuse_row(%s)', "table", passed, arguments)),
        ('update', format('AFTER UPDATE ON %s FOR EACH ROW WHEN (NEW.%I IS DISTINCT FROM OLD.%2$I AND %s) EXECUTE FUNCTION snowdrift.refuse_row(%s)', "table", "column", passed, arguments));
END $$;
COMMENT ON FUNCTION snowdrift.wanted_triggers(regclass, name, text, text, oid) IS 'definitions of the triggers of snowdrift.watch()';

CREATE FUNCTION snowdrift.watch("table" regclass, "column" name DEFAULT NULL) RETURNS void
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    relation pg_class;
    name text;
    owner oid;
    problem text;
    watchable CONSTANT text := 'Columns whose defaults draw from a sequence can be watched, and those with IDs of generators of kind ' || array_to_string(snowdrift.kinds_with_watermarks(), ', ') || '.';
    a pg_attribute;
    k record;
    w record;
    wanted text[];
BEGIN
    PERFORM snowdrift.check_can_change('snowdrift.watch()', false);
    relation := snowdrift.check_owner("table");
    owner := relation.relowner;
    name := snowdrift.qualified_name("table");
    problem := snowdrift.relation_problem("table");
    IF problem IS NOT NULL THEN
        RAISE 'table "%" cannot be watched', snowdrift.plain_name("table") USING ERRCODE = CASE WHEN relation.relkind IN ('r', 'p', 'f') THEN '0A000' ELSE '42809' END,
            DETAIL = problem, HINT = 'Watch the table of a view, a foreign table on its own server, and partitions instead of inheritance.';
    END IF;
    -- As CREATE TRIGGER does, but before the catalog is read. A watch is replaced with DROP TRIGGER, which needs the stronger lock.
    EXECUTE format('LOCK TABLE %s IN %s MODE', name, CASE WHEN EXISTS (SELECT FROM snowdrift.watches("table")) THEN 'ACCESS EXCLUSIVE' ELSE 'SHARE ROW EXCLUSIVE' END);
    SELECT * INTO a FROM pg_attribute WHERE attrelid = "table" AND attname = "column" AND attnum > 0 AND NOT attisdropped;
    k := snowdrift.feed_key("table", a.attnum, '');
    problem := CASE WHEN relation.relispartition AND (k.kind = 'sequence' OR NOT k.is_default AND EXISTS (SELECT FROM snowdrift.drawing_columns(pg_partition_root("table")) AS d
            JOIN pg_attribute AS r ON r.attrelid = pg_partition_root("table") AND r.attnum = d.number WHERE r.attname = k.column AND d.kind = 'sequence')) THEN 'The table is a partition. Watch the partitioned table.'
        ELSE k.problem END;
    IF a.attnum IS NULL AND "column" IS NOT NULL THEN
        RAISE 'column "%" of relation "%" does not exist', "column", snowdrift.plain_name("table") USING ERRCODE = '42703';
    ELSIF a.attnum IS NULL AND k.n IS DISTINCT FROM 1 THEN
        RAISE 'table "%" has % columns whose defaults draw IDs', snowdrift.plain_name("table"), coalesce(k.n, 0) USING ERRCODE = '22023',
            DETAIL = coalesce((SELECT format('Columns %s.', string_agg(quote_ident(c.attname), ', ' ORDER BY c.attnum)) FROM snowdrift.drawing_columns("table") AS d
                    JOIN pg_attribute AS c ON c.attrelid = "table" AND c.attnum = d.number HAVING count(*) > 0),
                (SELECT string_agg(format('Column "%s": ', c.attname) || snowdrift.default_problem("table", c.attnum), ' ')
                 FROM pg_index JOIN pg_attribute AS c ON c.attrelid = indrelid AND c.attnum = ANY (indkey) WHERE indrelid = "table" AND indisprimary),
                'No default calls nextval or a function of Snowdrift.'),
            HINT = CASE WHEN relation.relispartition THEN format('Watch the partitioned table: SELECT snowdrift.watch(%L).', pg_partition_root("table"))
                WHEN EXISTS (SELECT FROM pg_index JOIN pg_attribute AS c ON c.attrelid = indrelid AND c.attnum = ANY (indkey)
                    WHERE indrelid = "table" AND indisprimary AND snowdrift.id_kind(snowdrift.base_type(c.atttypid)) <> ALL (snowdrift.kinds_with_watermarks())) THEN watchable
                ELSE format('Name the column to watch: SELECT snowdrift.watch(%L, ''column'').', "table") END;
    ELSIF problem IS NOT NULL THEN
        RAISE 'column "%" of table "%" cannot be watched', k.column, snowdrift.plain_name("table") USING ERRCODE = CASE WHEN a.attgenerated <> '' THEN '0A000' ELSE '55000' END, DETAIL = problem;
    ELSIF k.kind IS NULL THEN
        RAISE 'column "%" of table "%" contains no IDs that have a watermark', k.column, snowdrift.plain_name("table") USING ERRCODE = '42804',
            DETAIL = format('The column is of type %s, and no sequence draws its values.', format_type(snowdrift.base_type(a.atttypid), NULL)),
            HINT = watchable;
    ELSIF k.generator <> '' AND NOT EXISTS (SELECT FROM snowdrift.generators AS g WHERE (g.kind, g.name) = (k.kind, k.generator)) THEN
        RAISE 'ID generator "%" does not exist', k.generator USING ERRCODE = '42704', DETAIL = format('The default of column "%s" draws from it.', k.column);
    ELSIF k.kind = 'snowflake' AND NOT k.is_default THEN
        RAISE NOTICE 'column "%" of table "%" is watched with the default generator', k.column, snowdrift.plain_name("table")
            USING DETAIL = 'The column has no default.',
                HINT = format('If a sequence or a named generator draws the column''s IDs, set a default that draws from it, and watch the column again: ALTER TABLE %s ALTER COLUMN %I SET DEFAULT nextval(''sequence'').', "table", k.column);
    END IF;
    IF k.kind = 'sequence' AND NOT has_sequence_privilege(owner, k.sequence, 'SELECT') THEN
        RAISE 'permission denied for sequence %', k.sequence::regclass USING ERRCODE = '42501',
            DETAIL = format('The table''s owner %s must be allowed to SELECT from it.', owner::regrole);
    END IF;
    FOR w IN SELECT t.part, t.definition, own.name IS NOT NULL AS exists, coalesce(own.name, snowdrift.new_trigger_name("table", t.part, k.number)) AS name
            FROM snowdrift.wanted_triggers("table", k.column, k.kind, k.generator, k.sequence) AS t
                LEFT JOIN snowdrift.watches("table") AS own ON own.part = t.part AND own.number = k.number LOOP
        EXECUTE format('CREATE %s TRIGGER %I %s', CASE WHEN w.exists THEN 'OR REPLACE' END, w.name, w.definition);
        EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', name, w.name);
        wanted := wanted || w.part;
    END LOOP;
    FOR w IN SELECT own.name FROM snowdrift.watches("table") AS own WHERE own.number = k.number AND own.part <> ALL (wanted) LOOP
        EXECUTE format('DROP TRIGGER %I ON %s', w.name, name);    -- of what the column drew from before
    END LOOP;
    IF k.sequence IS NULL THEN
        PERFORM snowdrift.generator_watermark(k.kind, k.generator);    -- so that IDs that readers have passed are refused
    END IF;
    -- If this transaction has drawn before, its next draw takes a hold.
    IF k.kind = 'snowflake' AND current_setting(snowdrift.hold_setting(k.sequence), true) = '9223372036854775807' THEN
        PERFORM set_config(snowdrift.hold_setting(k.sequence), '', true);
    END IF;
    -- The trigger reads the sequence with the rights of its function's owner.
    owner := (SELECT p.proowner FROM pg_proc AS p WHERE p.oid = 'snowdrift.hold_sequence()'::regprocedure);
    IF k.kind = 'sequence' AND NOT has_sequence_privilege(owner, k.sequence, 'SELECT') THEN
        EXECUTE format('GRANT SELECT ON SEQUENCE %s TO %s', k.sequence::regclass, owner::regrole);
        IF NOT has_sequence_privilege(owner, k.sequence, 'SELECT') THEN    -- GRANT has raised a warning
            RAISE 'permission denied for sequence %', k.sequence::regclass USING ERRCODE = '42501',
                HINT = format('Let its owner run GRANT SELECT ON SEQUENCE %s TO %s;', k.sequence::regclass, owner::regrole);
        END IF;
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.watch(regclass, name)
    IS 'let new rows of a table be read without missing any: create triggers that hold the watermark back, and raise an error for rows that readers may have passed';

-- The table's OID distinguishes the triggers of a partition from those of its parent.
CREATE FUNCTION snowdrift.new_trigger_name("table" regclass, part text, number smallint) RETURNS name LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT n::name FROM (SELECT concat_ws('_', 'snowdrift', part, "table"::oid, number, nullif(i, 0)), i FROM generate_series(0, 999) AS i) AS names(n, i)
    WHERE NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = "table" AND tgname = n) ORDER BY i LIMIT 1;
END;
COMMENT ON FUNCTION snowdrift.new_trigger_name(regclass, text, smallint) IS 'name for a trigger of snowdrift.watch() that the table does not have yet';

CREATE FUNCTION snowdrift.unwatch("table" regclass, "column" name DEFAULT NULL) RETURNS void
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    relation text;
    found_name name;
    is_found boolean := false;
BEGIN
    PERFORM snowdrift.check_can_change('snowdrift.unwatch()', false), snowdrift.check_owner("table");
    relation := snowdrift.qualified_name("table");
    EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', relation);    -- before its partitions, which DROP TRIGGER locks first
    FOR found_name IN SELECT w.name FROM snowdrift.watches("table") AS w JOIN pg_attribute AS a ON a.attrelid = "table" AND a.attnum = w.number
            WHERE "column" IS NULL OR a.attname = "column" LOOP
        EXECUTE format('DROP TRIGGER %I ON %s', found_name, relation);
        is_found := true;
    END LOOP;
    IF NOT is_found THEN
        RAISE '%table "%" is not watched', CASE WHEN "column" IS NULL THEN '' ELSE format('column "%s" of ', "column") END, snowdrift.plain_name("table") USING ERRCODE = '42704',
            HINT = coalesce((SELECT 'If the partitioned table is watched, unwatch that one.' FROM pg_class AS c WHERE c.oid = "table" AND c.relispartition), 'There is nothing to remove.');
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.unwatch(regclass, name) IS 'remove the triggers of snowdrift.watch()';

-- Reading new rows: snowdrift.read_new() and hold(), and the transactions that hold watermarks back. The holds are in watches.sql.

-- What read_new() reads: everything on which its promise relies.
CREATE FUNCTION snowdrift.feed("table" regclass, OUT number smallint, OUT "column" name, OUT kind text, OUT generator text, OUT sequence oid, OUT is_watched boolean)
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
#variable_conflict use_variable
DECLARE
    watched smallint[];
    parts text[];    -- of triggers that are enabled
    watched_generator text;
    watched_sequence oid;
    problem text;
    n bigint;
BEGIN
    SELECT array_agg(DISTINCT w.number), array_agg(w.part) FILTER (WHERE w.is_enabled), max(w.generator) FILTER (WHERE w.is_enabled), max(w.sequence) FILTER (WHERE w.is_enabled)
    INTO watched, parts, watched_generator, watched_sequence FROM snowdrift.watches("table") AS w;
    is_watched := watched IS NOT NULL;
    problem := snowdrift.relation_problem("table");
    IF problem IS NULL THEN
        SELECT k.number, k.column, k.kind, k.generator, k.sequence, k.problem, k.n INTO number, "column", kind, generator, sequence, problem, n FROM snowdrift.feed_key("table", watched[1], watched_generator) AS k;
        IF cardinality(watched) > 1 OR n > 1 THEN
            RAISE 'table "%" has several columns whose new rows could be read', snowdrift.plain_name("table") USING ERRCODE = '22023',
                HINT = format(CASE WHEN is_watched THEN 'Watch only one: SELECT snowdrift.unwatch(%L, ''column'').' ELSE 'Choose one: SELECT snowdrift.watch(%L, ''column'').' END, "table");
        ELSIF NOT is_watched AND (n IS NULL OR sequence IS NOT NULL OR (SELECT c.relispartition FROM pg_class AS c WHERE c.oid = "table")) THEN
            RAISE 'new rows of table "%" are not watched', snowdrift.plain_name("table") USING ERRCODE = '55000',
                HINT = (SELECT CASE WHEN c.relispartition THEN format('Read the partitioned table, %s.', pg_partition_root(c.oid)) ELSE format('Call snowdrift.watch(%L).', "table") END FROM pg_class AS c WHERE c.oid = "table");
        END IF;
    END IF;
    IF problem IS NOT NULL THEN
    ELSIF NOT is_watched THEN
        problem := (SELECT 'The default of a partition''s column is not that of the table.'
            FROM pg_partition_tree("table") JOIN pg_attribute AS a ON a.attrelid = relid AND a.attname = "column" JOIN pg_attrdef AS d ON d.adrelid = relid AND d.adnum = a.attnum
            WHERE pg_get_expr(d.adbin, relid) <> (SELECT pg_get_expr(o.adbin, o.adrelid) FROM pg_attrdef AS o WHERE o.adrelid = "table" AND o.adnum = number) LIMIT 1);
    ELSIF parts IS NULL OR NOT parts @> (CASE WHEN 'watermark' = ANY (parts) THEN '{watermark}' WHEN watched_generator IS NULL THEN '{hold,insert,update}' ELSE '{insert,update}' END)::text[] THEN
        problem := 'A trigger of the watch was dropped or disabled.';
    ELSIF EXISTS (SELECT FROM pg_trigger AS t JOIN pg_proc AS p ON p.oid = t.tgfoid
            WHERE t.tgrelid = ANY (ARRAY(SELECT relid FROM pg_partition_tree("table"))) AND t.tgparentid <> 0 AND t.tgenabled <> 'A' AND p.pronamespace = 'snowdrift'::regnamespace AND p.proname IN ('hold_row', 'refuse_row')) THEN
        problem := 'A trigger of the watch was disabled in a partition.';
    ELSIF kind IS NULL THEN
        problem := 'The column''s default does not draw from a sequence or a generator.';
    ELSIF (generator, sequence) IS DISTINCT FROM (watched_generator, watched_sequence) THEN
        problem := 'The column''s default draws from another sequence or generator than the one that is watched.';
    ELSIF kind = 'sequence' THEN
        problem := CASE WHEN NOT has_sequence_privilege((SELECT c.relowner FROM pg_class AS c WHERE c.oid = "table"), sequence, 'SELECT') THEN format('The table''s owner may not read sequence %s.', sequence::regclass)
            WHEN NOT has_sequence_privilege((SELECT p.proowner FROM pg_proc AS p WHERE p.oid = 'snowdrift.hold_sequence()'::regprocedure), sequence, 'SELECT') THEN format('The owner of the watch''s function may not read sequence %s.', sequence::regclass) END;
    END IF;
    IF problem IS NOT NULL THEN
        RAISE 'new rows of table "%" cannot be read without missing any', snowdrift.plain_name("table") USING ERRCODE = '55000', DETAIL = problem,
            HINT = CASE WHEN number IS NULL THEN 'Watch the table of a view, a foreign table on its own server, and partitions instead of inheritance.'
                ELSE format('Correct this, and call snowdrift.watch(%L)%s.', "table", CASE WHEN is_watched THEN ' again' END) END;
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.feed(regclass) IS 'column by which new rows of a table are read, and what draws its values';

-- An INSERT of no rows takes the hold of a sequence as any other does, and needs the same privilege. A generator takes its hold when it
-- draws. Nobody can read new rows of a sequence's table that is not watched, as during a conversion: there is nothing to hold.
CREATE FUNCTION snowdrift.hold("table" regclass) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    f pg_catalog.record;
BEGIN
    IF "table" IS NULL THEN
        RAISE 'table must not be null' USING ERRCODE = '22004';
    ELSIF NOT EXISTS (SELECT FROM snowdrift.watches("table")) AND EXISTS (SELECT FROM snowdrift.drawing_columns("table") AS d
            JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) "table" WHERE d.sequence IS NOT NULL AND NOT c.relispartition) THEN
        RETURN;
    END IF;
    f := snowdrift.feed("table");
    IF f.kind OPERATOR(pg_catalog.=) 'sequence' THEN
        EXECUTE pg_catalog.format('INSERT INTO %s (%I) OVERRIDING SYSTEM VALUE SELECT NULL LIMIT 0', snowdrift.qualified_name("table"), f."column");
    ELSE
        PERFORM snowdrift.draw(f.kind, f.generator);
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.hold(regclass)
    IS 'hold back the watermark of a table until the transaction ends, so that it can draw numbers before it inserts rows; does nothing if the key is a sequence''s and the table is not watched';

-- The number before the one that a sequence returns next if it has returned none since it was created or set. Only for a caller's own
-- rights, because it reads the sequence by its name. The last number is read again: a number that is being drawn can be seen half.
CREATE FUNCTION snowdrift.uncalled_number(sequence oid) RETURNS bigint LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    number bigint;
BEGIN
    EXECUTE format('SELECT last_value FROM %s', sequence::regclass) INTO number;
    RETURN coalesce(pg_sequence_last_value(sequence), snowdrift.number_before(number));
END $$;
COMMENT ON FUNCTION snowdrift.uncalled_number(oid) IS 'number before the next one of a sequence that has not returned it yet';

-- The watermark of a table's key, and the last number that was drawn. Null for generators of the library, which can be ahead of
-- the last one.
CREATE FUNCTION snowdrift.current_watermark(kind text, generator text, sequence oid, is_for_caller boolean, OUT last bigint, OUT watermark text)
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
BEGIN
    IF kind <> 'sequence' THEN
        SELECT w.last, w.watermark INTO STRICT last, watermark FROM snowdrift.generator_watermark(kind, generator) AS w;
    ELSIF has_sequence_privilege(sequence, 'SELECT') THEN
        last := coalesce(pg_sequence_last_value(sequence), CASE WHEN is_for_caller THEN snowdrift.uncalled_number(sequence) END,
            (SELECT snowdrift.number_before(seqmin) FROM pg_sequence WHERE seqrelid = sequence));
        watermark := least(last, snowdrift.lowest_hold(sequence, last), 9223372036854775806) + 1;
    ELSE
        RAISE 'permission denied for sequence %', sequence::regclass USING ERRCODE = '42501',
            HINT = format('Run GRANT SELECT ON SEQUENCE %s TO %s;', sequence::regclass, quote_ident(current_user));
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.current_watermark(text, text, oid, boolean) IS 'watermark of a generator or a sequence, as text, and the last number that was drawn';

-- The watermark for read_new(). Raises an error if it is unknown, or if the position is above all numbers that were drawn. A
-- standby does not compare them, because its watermark can be older than a position that was read on the primary.
CREATE FUNCTION snowdrift.feed_watermark("table" regclass, kind text, generator text, sequence oid, after text) RETURNS text
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    w record;
BEGIN
    IF sequence IS NOT NULL AND pg_is_in_recovery() THEN
        RETURN snowdrift.published_watermark('table', "table"::oid::text, sequence);
    ELSIF sequence IS NOT NULL AND current_setting('transaction_isolation') IN ('repeatable read', 'serializable') THEN    -- Their snapshot is older than the locks.
        RAISE 'cannot read new rows of table "%" in a transaction with isolation level "%"', snowdrift.plain_name("table"), current_setting('transaction_isolation')
            USING ERRCODE = '25001', HINT = 'Use READ COMMITTED.';
    END IF;
    w := snowdrift.current_watermark(kind, generator, sequence, true);
    IF w.last IS NOT NULL THEN
        IF after::bigint > w.last THEN
            RAISE 'position % of table "%" is ahead of the last ID, %', after, snowdrift.plain_name("table"), w.last USING ERRCODE = '55000',
                DETAIL = 'The sequence or the clock was set back, or the position is of another table or server.',
                HINT = format('Set the position back, to read all rows again; or, before rows are inserted, %s.',
                    CASE kind WHEN 'sequence' THEN 'set the sequence to the position, as setval does' ELSE 'call snowdrift.advance with the position''s time' END);
        END IF;
    END IF;
    RETURN w.watermark;
END $$;
COMMENT ON FUNCTION snowdrift.feed_watermark(regclass, text, text, oid, text) IS 'watermark of a table''s key, as text';

-- The query of read_new(), with the parameters watermark, max and after, which are texts and a number. Its operators are those of the
-- key's base type, because a domain can have others; for an integer, those with bigint, which the watermark at its end needs.
CREATE FUNCTION snowdrift.new_rows_query("table" regclass, number smallint, has_position boolean) RETURNS text
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (SELECT format('SELECT * FROM %1$s WHERE %2$I::%6$s OPERATOR(%3$I.<) $1::%4$s%5$s ORDER BY %2$I LIMIT $2', snowdrift.qualified_name("table"), attname, nspname, format_type(t.oid, NULL),
        CASE WHEN has_position THEN format(' AND %I::%s OPERATOR(%I.>) $3::%s', attname, format_type(b.type, NULL), nspname, format_type(t.oid, NULL)) END, format_type(b.type, NULL))
    FROM pg_attribute, LATERAL (SELECT snowdrift.base_type(atttypid)) AS b(type)
        JOIN pg_type AS t ON t.oid = CASE WHEN b.type IN ('int2'::regtype, 'int4'::regtype) THEN 'int8'::regtype ELSE b.type END JOIN pg_namespace AS n ON n.oid = typnamespace
    WHERE attrelid = "table" AND attnum = number);
END $$;
COMMENT ON FUNCTION snowdrift.new_rows_query(regclass, smallint, boolean) IS 'query of snowdrift.read_new()';

CREATE FUNCTION snowdrift.table_of_row(type regtype) RETURNS regclass LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    relation CONSTANT regclass := (SELECT c.oid FROM pg_type AS t JOIN pg_class AS c ON c.oid = t.typrelid WHERE t.oid = type AND c.relkind IN ('r', 'p'));
BEGIN
    IF relation IS NULL THEN
        RAISE 'type % is not that of a table''s rows', type USING ERRCODE = '22023', HINT = 'Specify the table by a null row: NULL::table.';
    END IF;
    RETURN relation;
END $$;
COMMENT ON FUNCTION snowdrift.table_of_row(regtype) IS 'table whose rows have a type';

-- The notice of read_new(), once in each session
CREATE FUNCTION snowdrift.notice_unwatched("table" regclass) RETURNS void LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    setting CONSTANT text := 'snowdrift_notice.t' || "table"::oid;
BEGIN
    IF current_setting(setting, true) = 'seen' THEN
        RETURN;
    END IF;
    PERFORM set_config(setting, 'seen', false);
    RAISE NOTICE 'table "%" is not watched', snowdrift.plain_name("table") USING DETAIL = 'Rows whose IDs were drawn in an earlier transaction, or not from the generator of the column''s default, are missed, without an error.',
        HINT = format('Call snowdrift.watch(%L), so that such an INSERT raises an error.', "table");
END $$;
COMMENT ON FUNCTION snowdrift.notice_unwatched(regclass) IS 'tell once in a session that a table is not watched';

-- VOLATILE: in READ COMMITTED, each of its queries has a new snapshot, and that of the rows is later than the watermark. It keeps
-- the caller's search path, because functions in policies and views rely on it. The position may have any type.
CREATE FUNCTION snowdrift.read_new("table" anyelement, after anycompatible DEFAULT NULL, max bigint DEFAULT 1000) RETURNS SETOF anyelement
    LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    "class" CONSTANT pg_catalog.regclass := snowdrift.table_of_row(pg_catalog.pg_typeof("table"));
    f pg_catalog.record;
    watermark pg_catalog.text;
BEGIN
    EXECUTE pg_catalog.format('SELECT FROM %s LIMIT 0', snowdrift.qualified_name("class"));    -- locks it: DDL ends before the catalog and the rows are read
    f := snowdrift.feed("class");
    IF NOT f.is_watched THEN
        PERFORM snowdrift.notice_unwatched("class");
    END IF;
    watermark := snowdrift.feed_watermark("class", f.kind, f.generator, f.sequence, after::pg_catalog.text);
    RETURN QUERY EXECUTE snowdrift.new_rows_query("class", f.number, after IS NOT NULL) USING watermark, max, after::pg_catalog.text;
END $$;
COMMENT ON FUNCTION snowdrift.read_new(anyelement, anycompatible, bigint)
    IS 'new rows of the table whose null row is the first argument, in the order of their IDs: none is missed and none is returned twice if after is the ID of the last row';

-- The holds, with the IDs of prepared transactions. Transactions in progress have a process instead.
CREATE FUNCTION snowdrift.holding_transactions(OUT pid integer, OUT transaction xid, OUT key bigint) RETURNS SETOF record LANGUAGE sql VOLATILE
BEGIN ATOMIC
    SELECT h.pid, x.transactionid, h.key FROM snowdrift.holds() AS h
        LEFT JOIN pg_locks AS x ON h.pid IS NULL AND x.virtualtransaction = h.virtualtransaction AND x.locktype = 'transactionid' AND x.mode = 'ExclusiveLock' AND x.pid IS NULL;
END;
COMMENT ON FUNCTION snowdrift.holding_transactions() IS 'transactions that have taken holds; null for those in progress, which have a process';

CREATE FUNCTION snowdrift.read_sequence_holders(OUT pid integer, OUT transaction xid, OUT sequence oid) RETURNS SETOF record LANGUAGE sql VOLATILE
BEGIN ATOMIC
    SELECT h.pid, h.transaction, s.sequence
    FROM snowdrift.holding_transactions() AS h
        JOIN (SELECT DISTINCT refobjid FROM pg_trigger JOIN pg_depend ON classid = 'pg_trigger'::regclass AND objid = pg_trigger.oid JOIN pg_sequence ON seqrelid = refobjid
              WHERE tgfoid = 'snowdrift.hold_sequence()'::regprocedure AND refclassid = 'pg_class'::regclass) AS s(sequence) ON h.key = snowdrift.hold_key(s.sequence, h.key);
END;
COMMENT ON FUNCTION snowdrift.read_sequence_holders() IS 'transactions that hold back the watermarks of sequences';

-- The transactions that hold back watermarks: those of generators, and those of sequences
CREATE VIEW snowdrift.watermark_holders AS
    SELECT h.pid, p.gid, COALESCE(a.xact_start, p.prepared) AS since, h.kind, h.generator,
        COALESCE(h.lowest, a.xact_start, p.prepared) AS lowest, a.query
    FROM (SELECT pid, transaction::xid, kind, generator, lowest FROM snowdrift.read_watermark_holders()
          UNION ALL
          SELECT pid, transaction, 'sequence', sequence::regclass::text, NULL FROM snowdrift.read_sequence_holders()) AS h(pid, transaction, kind, generator, lowest)
        LEFT JOIN pg_stat_activity AS a ON a.pid = h.pid
        LEFT JOIN pg_prepared_xacts AS p ON p.transaction = h.transaction;
COMMENT ON VIEW snowdrift.watermark_holders
    IS 'transactions in progress that hold back watermarks, with a row for each generator or sequence';

-- Watermarks on hot standbys: snowdrift.publish_watermarks() writes a row for each on the primary. All transactions that can have
-- drawn below a watermark ended before it was read, so their commits precede that of its row in the WAL: a snapshot of a standby
-- that contains the row contains their rows. The row names its server and database, because dumps and copies bring rows of others.

CREATE TABLE snowdrift_tables.published_watermark (
    kind text,    -- of the generator's IDs, or table
    source text,    -- name of the generator, or OID of the watched table
    watermark text NOT NULL,
    server text NOT NULL,
    origin text NOT NULL,    -- what draws: a later one of the same name, or of the table, is another one
    published_at timestamptz NOT NULL,
    PRIMARY KEY (kind, source)
);

CREATE FUNCTION snowdrift_tables.server() RETURNS text LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT concat_ws('/', c.system_identifier, d.oid, 'snowdrift_tables.published_watermark'::regclass::oid)
    FROM pg_control_system() AS c, pg_database AS d WHERE d.datname = current_database();
END;
COMMENT ON FUNCTION snowdrift_tables.server() IS 'the server, the database and the table to which a published watermark belongs';

CREATE OR REPLACE TRIGGER skip_row BEFORE INSERT OR UPDATE OR DELETE ON snowdrift_tables.published_watermark
    FOR EACH ROW EXECUTE FUNCTION snowdrift_tables.skip_row();
ALTER TABLE snowdrift_tables.published_watermark ENABLE REPLICA TRIGGER skip_row;

-- What messages call the source of a watermark
CREATE FUNCTION snowdrift.watermark_source(kind text, source text) RETURNS text LANGUAGE sql STABLE
    RETURN CASE WHEN kind = 'table' THEN format('table "%s"', snowdrift.plain_name(source::oid::regclass)) WHEN source = '' THEN format('the default %s generator', kind)
        ELSE format('ID generator "%s"', source) END;
COMMENT ON FUNCTION snowdrift.watermark_source(text, text) IS 'table or generator of a watermark, for messages';

-- A sequence and its file, which RESTART and TRUNCATE with RESTART IDENTITY replace, or the definition of a generator.
CREATE FUNCTION snowdrift.watermark_origin(source text, sequence oid) RETURNS text LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN CASE WHEN sequence <> 0 THEN (SELECT concat_ws('/', c.oid, c.relfilenode) FROM pg_class AS c WHERE c.oid = sequence)
        ELSE snowdrift.generator_identity(source) END;
END $$;
COMMENT ON FUNCTION snowdrift.watermark_origin(text, oid) IS 'identity of the sequence or the generator whose watermark is published';

-- The watermarks of generators of the library, and of tables whose watch depends on a sequence, which includes the generators of the
-- SQL edition. What cannot be read now raises a warning: null if a lock is in the way, so that the earlier one stays; otherwise, none.
CREATE FUNCTION snowdrift.current_watermarks(OUT kind text, OUT source text, OUT watermark text, OUT origin text) RETURNS SETOF record
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET lock_timeout = '100ms' AS $$
#variable_conflict use_variable
DECLARE
    f record;
    detail text;
BEGIN
    FOR kind, source IN
        SELECT g.kind, coalesce(g.name, '') FROM snowdrift.generators AS g
        WHERE g.kind = ANY (snowdrift.kinds_with_watermarks()) AND snowdrift.state_of(coalesce(g.name, '')) IS NULL
        UNION ALL SELECT DISTINCT 'table', tgrelid::oid::text FROM pg_trigger JOIN pg_class AS c ON c.oid = tgrelid
        WHERE tgfoid = 'snowdrift.refuse_row()'::regprocedure AND tgparentid = 0 AND relpersistence = 'p'
        ORDER BY 1, 2 LOOP
        BEGIN
            watermark := NULL;
            SELECT kind AS kind, source AS generator, NULL::oid AS sequence INTO f;
            IF kind = 'table' THEN
                f := snowdrift.feed(source::oid::regclass);
            END IF;
            origin := snowdrift.watermark_origin(source, f.sequence);
            watermark := (SELECT w.watermark FROM snowdrift.current_watermark(f.kind, f.generator, f.sequence, false) AS w);
            RETURN NEXT;
        EXCEPTION WHEN lock_not_available THEN
            RAISE WARNING 'watermark of % is not published now: %', snowdrift.watermark_source(kind, source), SQLERRM;
            PERFORM set_config('lock_timeout', '1ms', true);    -- so that many locked sequences do not add up
            RETURN NEXT;
        WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
            RAISE WARNING 'watermark of % is not published: %', snowdrift.watermark_source(kind, source), concat_ws('; ', SQLERRM, nullif(detail, ''));
        END;
    END LOOP;
END $$;
COMMENT ON FUNCTION snowdrift.current_watermarks() IS 'watermarks that standbys can read';

CREATE FUNCTION snowdrift.publish_watermarks() RETURNS void
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM snowdrift.check_can_change('snowdrift.publish_watermarks()', false);
    WITH present AS MATERIALIZED (
        SELECT * FROM snowdrift.current_watermarks()
    ), written AS (
        INSERT INTO snowdrift_tables.published_watermark AS p (kind, source, watermark, server, origin, published_at)
        SELECT kind, source, watermark, snowdrift_tables.server(), origin, clock_timestamp() FROM present WHERE watermark IS NOT NULL
        ON CONFLICT (kind, source) DO UPDATE
        SET watermark = excluded.watermark, server = excluded.server, origin = excluded.origin, published_at = excluded.published_at
    )
    DELETE FROM snowdrift_tables.published_watermark AS p WHERE NOT EXISTS (SELECT FROM present WHERE (present.kind, present.source) = (p.kind, p.source));
END $$;
COMMENT ON FUNCTION snowdrift.publish_watermarks() IS 'let hot standbys read new rows up to the present watermarks; call it regularly on the primary';

-- Other roles read the table only through functions. The view hides the watermarks of tables that the role
-- may not read, because the last number of a sequence tells how many rows there are.
CREATE FUNCTION snowdrift_tables.published_watermarks() RETURNS SETOF snowdrift_tables.published_watermark
    LANGUAGE sql STABLE SECURITY DEFINER
BEGIN ATOMIC
    SELECT p.* FROM snowdrift_tables.published_watermark AS p WHERE p.server = snowdrift_tables.server();
END;
COMMENT ON FUNCTION snowdrift_tables.published_watermarks() IS 'watermarks that this server has published';

CREATE VIEW snowdrift.published_watermarks AS
    SELECT kind, CASE WHEN kind <> 'table' THEN nullif(source, '') END AS generator, CASE kind WHEN 'table' THEN source::oid::regclass END AS "table",
        CASE WHEN kind <> 'table' OR has_any_column_privilege(source::oid, 'SELECT') THEN watermark END AS watermark, published_at, origin
    FROM snowdrift_tables.published_watermarks();
COMMENT ON VIEW snowdrift.published_watermarks IS 'watermarks up to which hot standbys can read new rows';

-- STABLE: it reads with the snapshot of the statement, which therefore contains the rows below the watermark.
CREATE FUNCTION snowdrift.published_watermark(kind text, source text, sequence oid) RETURNS text
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    published record;
BEGIN
    SELECT * INTO published FROM snowdrift.published_watermarks AS p
    WHERE p.kind = published_watermark.kind AND coalesce(p.generator, p."table"::oid::text, '') = source AND p.origin = snowdrift.watermark_origin(source, sequence);
    IF NOT FOUND THEN
        RAISE 'no watermark of % is published', snowdrift.watermark_source(kind, source) USING ERRCODE = '55000',
            HINT = 'A standby can read new rows if snowdrift.publish_watermarks() is called regularly on the primary.';
    ELSIF published.watermark IS NULL THEN
        RAISE 'permission denied for table %', snowdrift.plain_name(source::oid) USING ERRCODE = '42501';
    END IF;
    RETURN published.watermark;
END $$;
COMMENT ON FUNCTION snowdrift.published_watermark(text, text, oid) IS 'watermark that the primary has published; raises an error if there is none';

-- Keys of seals: creation, rotation and removal. include/snowdrift/seal.hpp describes sealed IDs.

-- The newest key of a name seals; all unseal. Neither errors nor statistics may show a key: so no constraint can fail with one, there is no
-- trigger BEFORE INSERT, with which the errors of COPY show rows, and the primary key, by which logical replication finds rows, contains
-- none. A subscriber adds and drops the keys that the publisher does, beside its own of the same name and version.
CREATE TABLE snowdrift_tables.seal_key (
    name text COLLATE "C",
    version integer,
    id uuid DEFAULT pg_catalog.gen_random_uuid(),
    key bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (name, version, id)
);
ALTER TABLE snowdrift_tables.seal_key ALTER key SET STATISTICS 0;
COMMENT ON TABLE snowdrift_tables.seal_key IS 'keys of seals; roles that can read it can seal and unseal';

-- PL/pgSQL, because parameters of SQL functions can be logged. gen_random_uuid() is core's only source of cryptographically strong random
-- bytes; each UUID has 122 random bits.
CREATE FUNCTION snowdrift_tables.add_seal_key(name text, version integer, key bytea) RETURNS void
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF length(key) <> 32 THEN
        RAISE 'invalid seal key' USING ERRCODE = '22023', DETAIL = format('A seal key must have 32 bytes, not %s.', length(key));
    END IF;
    INSERT INTO snowdrift_tables.seal_key (name, version, key)
    VALUES (name, version, coalesce(key, sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))));
END $$;
COMMENT ON FUNCTION snowdrift_tables.add_seal_key(text, integer, bytea) IS 'add a key of a seal; a random one if it is null';

-- A restore creates functions that PUBLIC may call, and grants and revokes afterwards, unless a role of a grant does not exist.
CREATE FUNCTION snowdrift_tables.report_not_private(function regprocedure) RETURNS void LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE 'function % must not be executable by PUBLIC', function USING ERRCODE = '42501',
        HINT = (SELECT format('In the SQL edition, after a restore, run its file again. Otherwise, let role %s run REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC.', string_agg(a.grantor::regrole::text, ' and role '), function)
            FROM pg_proc AS p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) AS a WHERE p.oid = function AND a.grantee = 0);
END $$;
COMMENT ON FUNCTION snowdrift_tables.report_not_private(regprocedure) IS 'raise an error because all roles may execute function';

CREATE FUNCTION snowdrift_tables.check_seals_are_private() RETURNS void LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM snowdrift_tables.report_not_private(min(oid)) FROM pg_proc WHERE pronamespace = 'snowdrift'::regnamespace
        AND proname IN ('create_seal', 'rotate_seal', 'drop_seal', 'seal_keys') AND has_function_privilege('public', oid, 'EXECUTE') HAVING count(*) > 0;
END $$;
COMMENT ON FUNCTION snowdrift_tables.check_seals_are_private() IS 'raise an error if all roles may read or change keys';

CREATE FUNCTION snowdrift_tables.lock_seal(name text) RETURNS integer LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM snowdrift_tables.check_seals_are_private();
    IF name IS NULL THEN
        RAISE 'seal name must not be null' USING ERRCODE = '22004';
    END IF;
    IF current_setting('transaction_isolation') IN ('repeatable read', 'serializable') THEN    -- An older snapshot lacks the newest key.
        RAISE 'cannot change seals in a transaction with isolation level "%"', current_setting('transaction_isolation') USING ERRCODE = '25001', HINT = 'Use READ COMMITTED.';
    END IF;
    LOCK TABLE snowdrift_tables.seal_key IN SHARE ROW EXCLUSIVE MODE;
    RETURN (SELECT max(k.version) FROM snowdrift_tables.seal_key AS k WHERE k.name = lock_seal.name COLLATE "C");
END $$;
COMMENT ON FUNCTION snowdrift_tables.lock_seal(text)
    IS 'let no other session change keys until the transaction ends; returns the version of the newest one of a seal, or null if there is none';

CREATE FUNCTION snowdrift.create_seal(name text, key bytea DEFAULT NULL) RETURNS void
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF name !~ '^[ -~]{1,63}$' COLLATE "C" THEN
        RAISE 'invalid seal name: "%"', name USING ERRCODE = '42602', DETAIL = 'A seal name must have 1 to 63 printable ASCII characters.';
    ELSIF snowdrift_tables.lock_seal(name) IS NOT NULL THEN
        RAISE 'seal "%" already exists', name USING ERRCODE = '42710', HINT = 'Use snowdrift.rotate_seal() to add a key.';
    END IF;
    PERFORM snowdrift_tables.add_seal_key(name, 1, key);
END $$;
COMMENT ON FUNCTION snowdrift.create_seal(text, bytea) IS 'create the key of a seal; by default, a random one';

CREATE FUNCTION snowdrift.rotate_seal(name text, key bytea DEFAULT NULL) RETURNS integer
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    version CONSTANT integer := snowdrift_tables.lock_seal(name) + 1;
BEGIN
    IF version IS NULL THEN
        RAISE 'seal "%" does not exist', name USING ERRCODE = '42704', HINT = 'Check the name. If its keys were lost, restore them from a backup; otherwise, call snowdrift.create_seal().';
    END IF;
    PERFORM snowdrift_tables.add_seal_key(name, version, key);
    RETURN version;
END $$;
COMMENT ON FUNCTION snowdrift.rotate_seal(text, bytea) IS 'add a key, which seals from now on, and return its version; earlier keys still unseal';

CREATE FUNCTION snowdrift.drop_seal(name text) RETURNS void
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM snowdrift_tables.lock_seal(name);
    DELETE FROM snowdrift_tables.seal_key AS k WHERE k.name = drop_seal.name COLLATE "C";
    IF NOT FOUND THEN
        RAISE 'seal "%" does not exist', name USING ERRCODE = '42704';
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.drop_seal(text) IS 'drop all keys of a seal; IDs that they have sealed can no longer be unsealed';

CREATE FUNCTION snowdrift.drop_seal(name text, version integer) RETURNS void
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF version IS NULL THEN
        RAISE 'version must not be null' USING ERRCODE = '22004';
    END IF;
    PERFORM snowdrift_tables.lock_seal(name);
    DELETE FROM snowdrift_tables.seal_key AS k WHERE k.name = drop_seal.name COLLATE "C" AND k.version = drop_seal.version;
    IF NOT FOUND THEN
        RAISE 'version % of seal "%" does not exist', version, name USING ERRCODE = '42704';
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.drop_seal(text, integer) IS 'drop a key of a seal; IDs that it has sealed can no longer be unsealed';

CREATE FUNCTION snowdrift.seal_keys(name text, OUT version integer, OUT key bytea, OUT created_at timestamptz) RETURNS SETOF record
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN
    PERFORM snowdrift_tables.check_seals_are_private();
    RETURN QUERY SELECT k.version, k.key, k.created_at FROM snowdrift_tables.seal_key AS k WHERE k.name = seal_keys.name COLLATE "C" ORDER BY k.version DESC, k.id DESC;
END $$;
COMMENT ON FUNCTION snowdrift.seal_keys(text) IS 'keys of a seal, the newest first, for other services and servers';

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

GRANT SELECT ON snowdrift.key_copies TO PUBLIC;
-- Not in the SQL edition: pg_restore lists them, so a move to the extension would have to leave them out.
COMMENT ON COLUMN snowdrift.key_copies."table" IS 'table whose keys are copied';
COMMENT ON COLUMN snowdrift.key_copies.percent IS 'percentage of the table''s blocks that have been read';
COMMENT ON COLUMN snowdrift.key_copies.rows IS 'number of rows that have been copied';
COMMENT ON COLUMN snowdrift.key_copies.time_left IS 'time until the end of the copy, at the same pace';
COMMENT ON COLUMN snowdrift.key_copies.started_at IS 'start of the copy';
COMMENT ON COLUMN snowdrift.key_copies.updated_at IS 'time at which the progress was stored';

COMMENT ON COLUMN snowdrift.watermark_holders.pid IS 'process; null for a prepared transaction';
COMMENT ON COLUMN snowdrift.watermark_holders.gid IS 'identifier of a prepared transaction; otherwise null';
COMMENT ON COLUMN snowdrift.watermark_holders.since IS 'when the transaction began, or was prepared';
COMMENT ON COLUMN snowdrift.watermark_holders.kind IS 'kind of IDs of the generator, or sequence';
COMMENT ON COLUMN snowdrift.watermark_holders.generator IS 'name of the generator or sequence; null for a default generator';
COMMENT ON COLUMN snowdrift.watermark_holders.lowest IS 'lower bound of the times of the transaction''s IDs; -infinity if unknown; for a sequence, the same as since';
COMMENT ON COLUMN snowdrift.watermark_holders.query IS 'last query of the process';
GRANT SELECT ON snowdrift.watermark_holders TO PUBLIC;

REVOKE ALL ON FUNCTION snowdrift.publish_watermarks() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION snowdrift.publish_watermarks() TO @extowner@ WITH GRANT OPTION;
COMMENT ON TABLE snowdrift_tables.published_watermark IS 'watermarks for hot standbys; of use only on the server that wrote them';
COMMENT ON COLUMN snowdrift_tables.published_watermark.kind IS 'kind of IDs of the generator; table for a watched table';
COMMENT ON COLUMN snowdrift_tables.published_watermark.source IS 'name of the generator; empty for a default one; or OID of the table';
COMMENT ON COLUMN snowdrift_tables.published_watermark.watermark IS 'watermark as text';
COMMENT ON COLUMN snowdrift_tables.published_watermark.server IS 'result of snowdrift_tables.server() when it was written';
COMMENT ON COLUMN snowdrift_tables.published_watermark.origin IS 'identity of the sequence or the generator';
COMMENT ON COLUMN snowdrift_tables.published_watermark.published_at IS 'time at which it was read';
COMMENT ON TRIGGER skip_row ON snowdrift_tables.published_watermark IS 'skip rows of another server';
COMMENT ON COLUMN snowdrift.published_watermarks.kind IS 'kind of IDs of the generator; table for a watched table';
COMMENT ON COLUMN snowdrift.published_watermarks.generator IS 'name of the generator; null for a default generator, and for a table';
COMMENT ON COLUMN snowdrift.published_watermarks."table" IS 'watched table; null for a generator';
COMMENT ON COLUMN snowdrift.published_watermarks.watermark IS 'watermark as text; null if the role may not read the table';
COMMENT ON COLUMN snowdrift.published_watermarks.published_at IS 'time at which it was read on the primary';
COMMENT ON COLUMN snowdrift.published_watermarks.origin IS 'identity of the sequence or the generator; with another one, standbys raise an error';
GRANT SELECT ON snowdrift.published_watermarks TO PUBLIC;

-- What ALTER DEFAULT PRIVILEGES has granted on tables, sequences, and functions that are not for all roles
DO $$
DECLARE
    revocation text;
BEGIN
    FOR revocation IN
        SELECT format('REVOKE %s ON %s FROM %s CASCADE', a.privilege_type, o.name, snowdrift.grantee_name(a.grantee))
        FROM (SELECT CASE relkind WHEN 'S' THEN 'SEQUENCE ' ELSE 'TABLE ' END || oid::regclass, relowner, relacl, CASE relkind WHEN 'S' THEN '{SELECT,UPDATE}' ELSE '{SELECT,INSERT}' END
              FROM pg_class WHERE relnamespace = 'snowdrift_tables'::regnamespace AND relkind IN ('r', 'S')
              UNION ALL SELECT 'FUNCTION ' || oid::regprocedure, proowner, proacl, '{EXECUTE}' FROM pg_proc
              WHERE pronamespace = 'snowdrift'::regnamespace AND proname IN ('create_generator', 'drop_generator', 'snapshot', 'restore', 'advance', 'reset_clock', 'confirm_node', 'publish_watermarks',
                      'create_seal', 'rotate_seal', 'drop_seal', 'seal_keys')
                  OR oid IN ('@extschema@.snowflake_at(timestamptz)'::regprocedure, '@extschema@.snowflake_at(timestamptz,text)'::regprocedure,
                      '@extschema@.snowflake_seal(bigint,text)'::regprocedure, '@extschema@.snowflake_unseal(uuid,text,boolean)'::regprocedure)) AS o(name, owner, acl, privileges), aclexplode(o.acl) AS a
        WHERE a.grantee <> o.owner AND (a.grantee <> 0 OR a.privilege_type <> 'EXECUTE') AND NOT (a.grantee = '@extowner@'::regrole AND a.privilege_type = ANY (o.privileges::text[])) LOOP
        EXECUTE revocation;
    END LOOP;
END $$;
