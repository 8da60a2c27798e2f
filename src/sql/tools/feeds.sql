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
