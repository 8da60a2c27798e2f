-- Snowflake: generating. The state of a generator is the value of a sequence object, so that all sessions share it, and
-- no restart or rollback sets it back. The value is an ID without a node: the timestamp above the sequence number. If a
-- generator spreads its sequence, the number in an ID is greater by an offset that depends on the time unit: see start_of().

IF to_regclass('snowdrift_tables.generator') IS NULL THEN
    CREATE TABLE snowdrift_tables.generator (
        name text PRIMARY KEY,
        layout public.snowflake_layout NOT NULL,
        datacenter integer NOT NULL,
        worker integer NOT NULL,
        fields snowdrift.fields NOT NULL,    -- stored because parsing the layout takes longer than drawing an ID
        state text NOT NULL CHECK (state ~ '^snowdrift_tables[.]state_[0-9a-f]{32}$'),
            -- the sequence; no regclass, because a subscriber reads the rows that it skips
        spread boolean    -- null for generators of a version without it
    );
END IF;

-- The default generator, whose name is '', is not in the table, so that it needs no data of a dump.
IF to_regclass('snowdrift_tables.state') IS NULL THEN
    CREATE SEQUENCE snowdrift_tables.state MINVALUE 0 MAXVALUE 9007199254740991;    -- MAXVALUE: the end of the layout
END IF;
CREATE FUNCTION snowdrift_tables.default_generator() RETURNS snowdrift_tables.generator LANGUAGE sql IMMUTABLE
    RETURN ROW('', 'snowflake', 0, 0, snowdrift.fields_of('snowflake'), 'snowdrift_tables.state', false)::snowdrift_tables.generator;

-- The time of the last ID of all dropped generators, in Unix milliseconds. Those that are created later begin after it.
IF to_regclass('snowdrift_tables.dropped_ms') IS NULL THEN
    CREATE SEQUENCE snowdrift_tables.dropped_ms MINVALUE 0;
END IF;

-- An old snapshot can contain the row of a dropped generator.
CREATE FUNCTION snowdrift_tables.generators() RETURNS SETOF snowdrift_tables.generator LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT * FROM snowdrift_tables.default_generator()
    UNION ALL SELECT * FROM snowdrift_tables.generator WHERE to_regclass(state) IS NOT NULL;
END;

CREATE FUNCTION snowdrift_tables.unix_ms() RETURNS bigint LANGUAGE sql VOLATILE
    RETURN floor(extract(epoch FROM clock_timestamp()) * 1000);

-- What a spread sequence adds to the number in a state: 0 to a sixteenth of all numbers, depending on the time unit. This is
-- Fibonacci hashing: the factor is 2^32 divided by the golden ratio.
CREATE FUNCTION snowdrift_tables.start_of(state bigint, f snowdrift.fields) RETURNS bigint LANGUAGE sql IMMUTABLE
    RETURN ((((state >> (f).sequence_bits) & 2147483647) * 2654435769) & 4294967295) >> (36 - (f).sequence_bits);

-- The state itself, or the first one of the next time unit if the sum could exceed the sequence.
CREATE FUNCTION snowdrift_tables.next_spread_state(state bigint, f snowdrift.fields) RETURNS bigint LANGUAGE sql IMMUTABLE
    RETURN CASE WHEN state & snowdrift.ones((f).sequence_bits) > snowdrift.ones((f).sequence_bits) - snowdrift.ones((f).sequence_bits - 4)
        THEN (state | snowdrift.ones((f).sequence_bits)) + 1 ELSE state END;

-- The greater of last + 1 and the clock.
CREATE FUNCTION snowdrift_tables.next_state(last bigint, f snowdrift.fields) RETURNS bigint LANGUAGE sql VOLATILE
    RETURN greatest(last + 1, (snowdrift_tables.unix_ms() - (f).epoch_ms) / (f).unit_ms * (1::bigint << (f).sequence_bits), 0);

CREATE FUNCTION snowdrift_tables.lead_ms(state bigint, f snowdrift.fields) RETURNS bigint LANGUAGE sql VOLATILE
    RETURN ((state >> (f).sequence_bits) - (snowdrift_tables.unix_ms() - (f).epoch_ms) / (f).unit_ms) * (f).unit_ms;

-- The bits of an ID that the sequence can set.
CREATE FUNCTION snowdrift_tables.sequence_mask(f snowdrift.fields) RETURNS bigint LANGUAGE sql IMMUTABLE
    RETURN snowdrift.ones((f).sequence_bits) << (f).sequence_shift;

CREATE FUNCTION snowdrift_tables.id_of(state bigint, g snowdrift_tables.generator, f snowdrift.fields) RETURNS bigint
    LANGUAGE sql IMMUTABLE
    RETURN (state >> (f).sequence_bits << (f).timestamp_shift)
        | ((CASE WHEN (g).spread THEN least(state + snowdrift_tables.start_of(state, f), state | snowdrift.ones((f).sequence_bits)) ELSE state END
            << (f).sequence_shift) & snowdrift_tables.sequence_mask(f))
        | ((g).datacenter::bigint << (f).datacenter_shift) | ((g).worker::bigint << (f).worker_shift);

-- The last state in the time unit that contains a time, or in the first or last time unit of the layout.
CREATE FUNCTION snowdrift_tables.last_state_at(unix_ms numeric, f snowdrift.fields) RETURNS bigint LANGUAGE sql IMMUTABLE
    RETURN (greatest(0, least(floor((unix_ms - (f).epoch_ms) / (f).unit_ms), (f).max_id >> (f).timestamp_shift))::bigint
        << (f).sequence_bits) | snowdrift.ones((f).sequence_bits);

-- The time of a generator's last ID; null if it has issued none, or was dropped meanwhile.
CREATE FUNCTION snowdrift_tables.last_ms(g snowdrift_tables.generator) RETURNS bigint
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (g.fields).epoch_ms + (pg_sequence_last_value(g.state::regclass) >> (g.fields).sequence_bits) * (g.fields).unit_ms;
EXCEPTION WHEN undefined_table OR internal_error THEN
    IF to_regclass(g.state) IS NOT NULL THEN
        RAISE;
    END IF;
    RETURN NULL;
END $$;

-- The clock is behind a state, or the sequence numbers of its time unit are used up.
CREATE FUNCTION snowdrift_tables.wait_for_clock(state bigint, f snowdrift.fields) RETURNS void
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    lead_ms CONSTANT bigint := snowdrift_tables.lead_ms(state, f);
BEGIN
    IF lead_ms > 60000 + f.unit_ms THEN
        RAISE 'clock moved backwards by % ms; refusing to generate IDs', lead_ms USING ERRCODE = '55000',
            DETAIL = 'The last ID is ahead of the server''s clock by that much; at most 60000 ms are allowed.',
            HINT = 'Correct the clock, or wait until it has caught up.';
    ELSIF state & snowdrift.ones(f.sequence_bits) = 0 THEN
        PERFORM pg_sleep(f.unit_ms / 1000.0);    -- so that the lead does not grow under load
    END IF;
END $$;

-- Called by the first draw of a transaction: holds the watermark of a generator as snowdrift.hold_sequence() does, if a watched table
-- draws from it. Otherwise, the setting refuses rows of a table that is watched meanwhile.
CREATE FUNCTION snowdrift_tables.hold(sequence regclass, setting text, g snowdrift_tables.generator, f snowdrift.fields) RETURNS void
    LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    last pg_catalog.int8 := 9223372036854775807;
BEGIN
    IF EXISTS (SELECT FROM pg_catalog.pg_depend AS d WHERE d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass
            AND d.refobjid OPERATOR(pg_catalog.=) sequence AND d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_trigger'::pg_catalog.regclass) THEN
        last := coalesce(pg_catalog.pg_sequence_last_value(sequence) OPERATOR(pg_catalog.>>) f.sequence_bits, '-1'::pg_catalog.int8);    -- before the first unit
        WHILE NOT pg_catalog.pg_try_advisory_xact_lock_shared(snowdrift.hold_key(sequence::pg_catalog.oid, last)) LOOP    -- Another role has locked this key.
            last := last OPERATOR(pg_catalog.-) 1::pg_catalog.int8;
        END LOOP;
        last := coalesce(snowdrift_tables.id_of(pg_catalog.pg_sequence_last_value(sequence), g, f), 0);
    END IF;
    IF pg_catalog.set_config(setting, last::pg_catalog.text, true) IS NULL THEN    -- never; faster than PERFORM
    END IF;
END $$;

-- The block that takes the lock always ends with an error, so that PostgreSQL releases the lock. The error does not undo
-- setval(). All names are qualified, because setting the search path takes long.
CREATE FUNCTION public.next_snowflake(generator text) RETURNS bigint
    LANGUAGE plpgsql VOLATILE STRICT SECURITY DEFINER AS $$
DECLARE
    g snowdrift_tables.generator;
    f snowdrift.fields;
    sequence pg_catalog.regclass;
    setting pg_catalog.text;
    state bigint;
BEGIN
    IF generator OPERATOR(pg_catalog.=) ''::pg_catalog.text COLLATE pg_catalog."C" THEN
        g := snowdrift_tables.default_generator();
    ELSE
        SELECT * INTO g FROM snowdrift_tables.generator AS d WHERE d.name OPERATOR(pg_catalog.=) generator COLLATE pg_catalog."C";
        IF NOT FOUND THEN
            RAISE 'ID generator "%" does not exist', generator USING ERRCODE = '42704';
        END IF;
    END IF;
    f := g.fields;
    sequence := pg_catalog.to_regclass(g.state);
    setting := snowdrift.hold_setting(sequence::pg_catalog.oid);
    IF sequence IS NOT NULL AND coalesce(pg_catalog.current_setting(setting, true), '') OPERATOR(pg_catalog.=) '' THEN    -- before the block whose end releases its locks
        IF snowdrift_tables.hold(sequence, setting, g, f) IS NULL THEN
        END IF;
    END IF;
    BEGIN
        sequence := g.state;
        state := pg_catalog.pg_sequence_last_value(sequence);    -- waits for a drop before it can block other calls
        IF pg_catalog.pg_advisory_xact_lock(1397641047, sequence::integer) IS NULL THEN    -- never; faster than PERFORM
        END IF;
        state := snowdrift_tables.next_state(pg_catalog.pg_sequence_last_value(sequence), f);
        IF g.spread THEN
            state := snowdrift_tables.next_spread_state(state, f);
        END IF;
        IF snowdrift_tables.lead_ms(state, f) OPERATOR(pg_catalog.>) 0::bigint THEN
            PERFORM snowdrift_tables.wait_for_clock(state, f);
        END IF;
        state := pg_catalog.setval(sequence, state);
        RAISE SQLSTATE 'SNOWD';
    EXCEPTION
        WHEN SQLSTATE 'SNOWD' THEN
        WHEN undefined_table OR internal_error THEN    -- by the cast to regclass, or after waiting for the sequence
            IF pg_catalog.to_regclass(g.state) IS NOT NULL THEN
                RAISE;
            END IF;
            RAISE 'ID generator "%" was dropped', generator USING ERRCODE = '42704', HINT = 'Repeat the transaction. If the error remains, run the SQL edition''s file again.';
    END;
    RETURN snowdrift_tables.id_of(state, g, f);
END $$;
COMMENT ON FUNCTION public.next_snowflake(text) IS 'generate new Snowflake ID from named generator';

CREATE FUNCTION public.next_snowflake() RETURNS bigint
    LANGUAGE sql VOLATILE RETURN public.next_snowflake(''::text);
COMMENT ON FUNCTION public.next_snowflake() IS 'generate new Snowflake ID from default generator';

CREATE FUNCTION public.next_snowflakes(n integer, generator text DEFAULT '') RETURNS SETOF bigint
    LANGUAGE sql VOLATILE STRICT
BEGIN ATOMIC
    SELECT public.next_snowflake(generator) FROM generate_series(1,
        CASE WHEN n >= 0 THEN n ELSE snowdrift.reject('22023', 'number of IDs must not be negative: ' || n::text)::integer END);
END;
COMMENT ON FUNCTION public.next_snowflakes(integer, text) IS 'generate n new Snowflake IDs, in ascending order';

-- Revokes what ALTER DEFAULT PRIVILEGES has granted: who can set a state can repeat IDs.
CREATE FUNCTION snowdrift_tables.revoke_grants(class regclass) RETURNS void
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    grantee oid;
BEGIN
    FOR grantee IN SELECT a.grantee FROM pg_class AS c, aclexplode(c.relacl) AS a WHERE c.oid = class AND a.grantee <> c.relowner LOOP
        EXECUTE format('REVOKE ALL ON %s FROM %s', class, CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END);
    END LOOP;
END $$;

-- A generator's row is inserted by create_generator, or by a dump of the data alone, which doesn't create the sequence.
CREATE FUNCTION snowdrift_tables.create_state() RETURNS trigger
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_RELID <> 'snowdrift_tables.generator'::regclass THEN    -- Casts of another table's columns would run with the owner's rights.
        RAISE 'trigger of table "%"', TG_RELID::regclass USING ERRCODE = '42501';
    END IF;
    IF to_regclass(NEW.state) IS NULL THEN
        EXECUTE format('CREATE SEQUENCE snowdrift_tables.%I MINVALUE 0 MAXVALUE %s',
            split_part(NEW.state, '.', 2), snowdrift_tables.last_state_at((NEW.fields).last_ms, NEW.fields));
        PERFORM snowdrift_tables.revoke_grants(NEW.state);
    END IF;
    RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER create_state BEFORE INSERT ON snowdrift_tables.generator
    FOR EACH ROW EXECUTE FUNCTION snowdrift_tables.create_state();

-- Each server has its own generators.
CREATE OR REPLACE TRIGGER skip_row BEFORE INSERT OR UPDATE OR DELETE ON snowdrift_tables.generator
    FOR EACH ROW EXECUTE FUNCTION snowdrift_tables.skip_row();
ALTER TABLE snowdrift_tables.generator ENABLE REPLICA TRIGGER skip_row;

-- Logical replication would remove this server's rows.
CREATE FUNCTION snowdrift_tables.refuse_truncate() RETURNS trigger
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE 'cannot truncate table "snowdrift_tables.generator"' USING ERRCODE = '0A000', HINT = 'Use snowdrift.drop_generator() for each generator.';
END $$;
CREATE OR REPLACE TRIGGER refuse_truncate BEFORE TRUNCATE ON snowdrift_tables.generator
    FOR EACH STATEMENT EXECUTE FUNCTION snowdrift_tables.refuse_truncate();
ALTER TABLE snowdrift_tables.generator ENABLE ALWAYS TRIGGER refuse_truncate;

-- Creations, drops and advances wait for each other, and then see what the others have done.
CREATE FUNCTION snowdrift_tables.lock_generators() RETURNS void
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF current_setting('transaction_isolation') IN ('repeatable read', 'serializable') THEN
        RAISE 'cannot create, drop or advance ID generators in a transaction with isolation level "%"', current_setting('transaction_isolation')
            USING ERRCODE = '25001', HINT = 'Use READ COMMITTED.';
    END IF;
    LOCK TABLE snowdrift_tables.generator IN SHARE ROW EXCLUSIVE MODE;
END $$;

creators := (SELECT proacl FROM pg_proc WHERE oid = to_regprocedure('snowdrift.create_generator(text,text,public.snowflake_layout,integer,integer)'));
IF to_regprocedure('snowdrift.create_generator(text,text,public.snowflake_layout,integer,integer)') IS NOT NULL THEN    -- of an earlier version
    DROP FUNCTION snowdrift.create_generator(text, text, public.snowflake_layout, integer, integer);
END IF;

-- A generator begins after the present time unit, and after the last IDs of all others, also of dropped ones.
CREATE FUNCTION snowdrift.create_generator(name text, kind text, layout public.snowflake_layout DEFAULT 'snowflake',
        datacenter integer DEFAULT 0, worker integer DEFAULT 0, spread boolean DEFAULT false) RETURNS void
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    now_ms CONSTANT bigint := snowdrift_tables.unix_ms();
    sequence CONSTANT text := 'snowdrift_tables.state_' || replace(gen_random_uuid()::text, '-', '');
    f snowdrift.fields;
    created snowdrift_tables.generator;
    others text;
BEGIN
    layout := coalesce(layout, 'snowflake');
    datacenter := coalesce(datacenter, 0);
    worker := coalesce(worker, 0);
    spread := coalesce(spread, false);
    f := snowdrift.fields_of(layout);
    PERFORM snowdrift_tables.lock_generators();
    IF name IS NULL OR kind IS NULL THEN
        RAISE 'ID generator % must not be null', CASE WHEN name IS NULL THEN 'name' ELSE 'kind' END USING ERRCODE = '22004';
    ELSIF kind <> 'snowflake' THEN
        RAISE 'unrecognized ID generator kind: "%"', kind USING ERRCODE = '22023', HINT = 'The only valid kind in the SQL edition is "snowflake".';
    ELSIF octet_length(name) NOT BETWEEN 1 AND 63 THEN
        RAISE 'invalid ID generator name: "%"', name USING ERRCODE = '42602', DETAIL = 'A name must be 1 to 63 bytes long.';
    ELSIF EXISTS (SELECT FROM snowdrift_tables.generator AS g WHERE g.name = create_generator.name) THEN
        RAISE 'ID generator "%" already exists', name USING ERRCODE = '42710';
    ELSIF now_ms NOT BETWEEN f.epoch_ms AND f.last_ms + f.unit_ms - 1 THEN
        RAISE 'layout "%" has %', layout, CASE WHEN now_ms < f.epoch_ms THEN 'not begun' ELSE 'ended' END
            USING ERRCODE = '22023';
    ELSIF spread AND f.sequence_bits < 5 THEN
        RAISE 'sequence range 0 .. % is too narrow', snowdrift.ones(f.sequence_bits) USING ERRCODE = '22023',
            DETAIL = 'A generator needs at least 4 sequence numbers, and 32 to spread them.';
    END IF;
    PERFORM snowdrift.check_field('datacenter', datacenter, f.datacenter_bits);
    PERFORM snowdrift.check_field('worker', worker, f.worker_bits);
    created := (name, layout, datacenter, worker, f, sequence, spread);
    SELECT string_agg(CASE g.name WHEN '' THEN 'the default generator' ELSE format('"%s"', g.name) END, ', ' ORDER BY g.name) INTO others
    FROM snowdrift_tables.generators() AS g
    WHERE ((g.fields).epoch_ms, (g.fields).unit_ms, (g.fields).timestamp_shift) = (f.epoch_ms, f.unit_ms, f.timestamp_shift)
        AND (snowdrift_tables.id_of(0, g, g.fields) # snowdrift_tables.id_of(0, created, f))
            & ~(snowdrift_tables.sequence_mask(g.fields) | snowdrift_tables.sequence_mask(f)) = 0;
    INSERT INTO snowdrift_tables.generator VALUES (created.*);
    PERFORM setval(sequence, snowdrift_tables.last_state_at(
        greatest(now_ms, pg_sequence_last_value('snowdrift_tables.dropped_ms'), max(snowdrift_tables.last_ms(g))), f))
    FROM snowdrift_tables.generators() AS g;
    IF others IS NOT NULL THEN
        RAISE NOTICE 'ID generator "%" can issue the same IDs as other generators', name
            USING DETAIL = format('The other generators are: %s.', others),
                HINT = 'If their IDs are stored in one column, give each generator its own node (datacenter and worker).';
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.create_generator IS 'create named generator; by default with layout snowflake and node 0';

CREATE FUNCTION snowdrift.drop_generator(name text, force boolean DEFAULT false) RETURNS void
    LANGUAGE plpgsql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    SET quote_all_identifiers = off SET standard_conforming_strings = on AS $$
DECLARE
    dependents text;
    g snowdrift_tables.generator;
BEGIN
    IF NOT force THEN
        SELECT string_agg(description, E'\n' ORDER BY classid, object, adnum) INTO dependents
        FROM (SELECT DISTINCT classid, objid FROM pg_depend
              WHERE classid IN ('pg_attrdef'::regclass, 'pg_type'::regclass) AND refclassid = 'pg_proc'::regclass
                  AND refobjid IN ('public.next_snowflake(text)'::regprocedure, 'snowdrift.generator_layout(text)'::regprocedure)) AS users,
            LATERAL (SELECT format('default of column %I of table %s', attname, adrelid::regclass), pg_get_expr(adbin, 0), adrelid, adnum
                     FROM pg_attrdef AS a JOIN pg_attribute ON attrelid = adrelid AND attnum = adnum
                     WHERE classid = 'pg_attrdef'::regclass AND a.oid = objid
                     UNION ALL SELECT format('default of domain %s', t.oid::regtype), pg_get_expr(typdefaultbin, 0), t.oid, 0
                     FROM pg_type AS t WHERE classid = 'pg_type'::regclass AND t.oid = objid) AS defaults(description, expression, object, adnum)
        WHERE strpos(expression, format('''%s''::', replace(name, '''', ''''''))) > 0;
        dependents := concat_ws(E'\n', dependents, (SELECT string_agg(DISTINCT format('watch of table %s', tgrelid::regclass), E'\n') FROM pg_depend JOIN pg_trigger AS t ON t.oid = objid
            WHERE classid = 'pg_trigger'::regclass AND tgparentid = 0 AND refclassid = 'pg_class'::regclass
                AND refobjid = (SELECT to_regclass(d.state) FROM snowdrift_tables.generator AS d WHERE d.name = drop_generator.name)));
    END IF;
    IF dependents <> '' THEN
        RAISE 'cannot drop ID generator "%" because other objects depend on it', name USING ERRCODE = '2BP01', DETAIL = dependents,
            HINT = 'Change these objects first, or drop the generator with force => true to keep them, without watches. They then raise an error when used.';
    END IF;
    PERFORM snowdrift_tables.lock_generators();
    DELETE FROM snowdrift_tables.generator AS d WHERE d.name = drop_generator.name RETURNING * INTO g;
    IF NOT FOUND THEN
        RAISE 'ID generator "%" does not exist', name USING ERRCODE = '42704';
    END IF;
    EXECUTE format('ALTER SEQUENCE %s NO CYCLE', g.state::regclass);    -- waits until the transactions that drew have ended
    PERFORM setval('snowdrift_tables.dropped_ms',
        greatest(snowdrift_tables.last_ms(g), pg_sequence_last_value('snowdrift_tables.dropped_ms')));
    EXECUTE format('DROP SEQUENCE %s CASCADE', g.state::regclass);    -- and watches
END $$;
COMMENT ON FUNCTION snowdrift.drop_generator IS 'drop named generator; by default only if no default of a column or a domain names it';

-- COST 1, so that the planner inlines predicates that call it.
CREATE FUNCTION snowdrift.generator_layout(generator text) RETURNS public.snowflake_layout
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE COST 1 SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    layout CONSTANT text := (SELECT g.layout FROM snowdrift_tables.generator AS g WHERE g.name = generator COLLATE "C");
BEGIN
    IF layout IS NULL THEN
        RAISE 'ID generator "%" does not exist', generator USING ERRCODE = '42704';
    END IF;
    RETURN layout;
END $$;
COMMENT ON FUNCTION snowdrift.generator_layout(text) IS 'layout of named generator, for functions that decode its Snowflake IDs';

CREATE FUNCTION snowdrift.read_generators(OUT name text, OUT kind text, OUT layout public.snowflake_layout, OUT datacenter integer,
        OUT worker integer, OUT ends timestamptz, OUT last_timestamp timestamptz) RETURNS SETOF record
    LANGUAGE sql VOLATILE SECURITY DEFINER
BEGIN ATOMIC
    SELECT nullif(g.name, ''), 'snowflake', g.layout, g.datacenter, g.worker, snowdrift.time_of((g.fields).last_ms),
        snowdrift.time_of(snowdrift_tables.last_ms(g))
    FROM snowdrift_tables.generators() AS g;
END;

CREATE FUNCTION snowdrift.has_spread(generator text) RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER
BEGIN ATOMIC
    SELECT coalesce(g.spread, false) FROM snowdrift_tables.generators() AS g WHERE g.name = coalesce(generator, '') COLLATE "C";
END;
COMMENT ON FUNCTION snowdrift.has_spread(text) IS 'whether a generator varies the first number of each time unit';

CREATE VIEW snowdrift.generators AS
    SELECT *, greatest(last_timestamp - clock_timestamp(), interval '0') AS lead, snowdrift.has_spread(name) AS spread FROM snowdrift.read_generators();
COMMENT ON VIEW snowdrift.generators IS 'definition of each generator, time of its last ID, and how far it is ahead of the clock';

CREATE FUNCTION snowdrift.advance("timestamp" timestamptz) RETURNS void
    LANGUAGE plpgsql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    unix_ms CONSTANT numeric := snowdrift.unix_ms_of("timestamp");
    lead_ms CONSTANT numeric := ceil(unix_ms - snowdrift_tables.unix_ms());
    g snowdrift_tables.generator;
BEGIN
    IF lead_ms > 60000 THEN
        RAISE 'time is % ms ahead of the server''s clock', lead_ms USING ERRCODE = '55000',
            DETAIL = 'At most 60000 ms are allowed.';
    END IF;
    PERFORM snowdrift_tables.lock_generators();
    FOR g IN SELECT * FROM snowdrift_tables.generators() AS d ORDER BY d.name LOOP
        BEGIN    -- as in next_snowflake
            PERFORM pg_advisory_xact_lock(1397641047, g.state::regclass::integer);
            PERFORM setval(g.state, greatest(snowdrift_tables.last_state_at(unix_ms, g.fields), pg_sequence_last_value(g.state)));
            RAISE SQLSTATE 'SNOWD';
        EXCEPTION WHEN SQLSTATE 'SNOWD' THEN
        END;
    END LOOP;
END $$;
COMMENT ON FUNCTION snowdrift.advance(timestamptz) IS 'make all further IDs of all generators later than a time';
