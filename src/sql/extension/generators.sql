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
