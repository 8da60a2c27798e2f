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
