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
