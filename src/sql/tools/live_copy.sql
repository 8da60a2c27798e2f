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
