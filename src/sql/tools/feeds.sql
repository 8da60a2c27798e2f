-- Reading new rows: snowdrift.watch(), read_new() and hold().
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

-- The holds that transactions have taken. Prepared transactions have no process.
CREATE FUNCTION snowdrift.holds(OUT pid integer, OUT virtualtransaction text, OUT key bigint) RETURNS SETOF record LANGUAGE sql VOLATILE
BEGIN ATOMIC
    SELECT pid, virtualtransaction, (classid::bigint << 32) | objid::bigint FROM pg_locks
    WHERE locktype = 'advisory' AND objsubid = 1 AND mode = 'ShareLock' AND classid::bigint >= 2147483648
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database());
END;
COMMENT ON FUNCTION snowdrift.holds() IS 'advisory locks that can be holds of watermarks';

-- A key has 39 bits of a number: of the one that is nearest to the last number. Read the last number before the holds.
CREATE FUNCTION snowdrift.lowest_hold(sequence oid, last bigint) RETURNS bigint LANGUAGE sql VOLATILE
BEGIN ATOMIC
    SELECT min(last - ((((last & 549755813887) - (key & 549755813887) + 274877906944) & 549755813887) - 274877906944)) FROM snowdrift.holds() WHERE key = snowdrift.hold_key(sequence, key);
END;
COMMENT ON FUNCTION snowdrift.lowest_hold(oid, bigint) IS 'lowest number at which a transaction holds a sequence''s watermark back; null if none does';

-- The trigger that takes the hold. It has the rights of its owner, because those who insert into an identity column have none on its
-- sequence. The sequence is the one that the trigger's condition names, so that it follows renames and dumps; the table's owner must
-- be allowed to read it. The lock has the number before it, and the setting the number after it: a reader who does not find the
-- lock has read a number up to the latter.
CREATE FUNCTION snowdrift.hold_sequence() RETURNS trigger LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    sequence regclass;
    before_first bigint;
    is_allowed boolean;
BEGIN
    SELECT s.seqrelid, greatest(s.seqmin, -9223372036854775807) - 1, has_sequence_privilege(c.relowner, s.seqrelid, 'SELECT') INTO sequence, before_first, is_allowed
    FROM pg_trigger AS t JOIN pg_depend AS d ON d.classid = t.tableoid AND d.objid = t.oid JOIN pg_sequence AS s ON s.seqrelid = d.refobjid
        JOIN pg_class AS c ON c.oid = t.tgrelid AND c.tableoid = d.refclassid
    WHERE t.tgrelid = TG_RELID AND t.tgname = TG_NAME;
    IF sequence IS NULL OR NOT is_allowed THEN
        RAISE 'cannot hold the watermark of table "%"', TG_TABLE_NAME USING ERRCODE = '55000',
            DETAIL = 'The trigger names no sequence that the table''s owner may read, or is later than the transaction''s snapshot.',
            HINT = 'Repeat the transaction, or let the table''s owner call snowdrift.watch() again.';
    END IF;
    PERFORM pg_advisory_xact_lock_shared(snowdrift.hold_key(sequence, coalesce(pg_sequence_last_value(sequence), before_first)));
    PERFORM set_config(snowdrift.hold_setting(sequence), coalesce(pg_sequence_last_value(sequence), before_first)::text, true);
    RETURN NULL;
END $$;
COMMENT ON FUNCTION snowdrift.hold_sequence() IS 'trigger of snowdrift.watch: hold the watermark back before the statement draws from the sequence';

-- The trigger whose condition finds the rows that readers may have passed
CREATE FUNCTION snowdrift.refuse_row() RETURNS trigger LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE '% was not drawn in the transaction that inserts the row', coalesce('ID ' || (to_jsonb(NEW) ->> TG_ARGV[0]), 'the row''s ID') USING ERRCODE = '55000',
        DETAIL = 'Readers of new rows may have passed it, and would miss the row.',
        HINT = format('Let the column''s default draw the ID, and insert into the table that is watched. To draw IDs first, begin the transaction with SELECT snowdrift.hold(%L).', coalesce(pg_partition_root(TG_RELID), TG_RELID));
END $$;
COMMENT ON FUNCTION snowdrift.refuse_row() IS 'trigger of snowdrift.watch: raise an error for a row that readers may have passed';

-- The columns whose defaults draw: from a sequence, or from a generator whose watermark can be read. `sequence` is also the
-- state of a generator that is one.
CREATE FUNCTION snowdrift.drawing_columns("table" regclass, OUT number smallint, OUT kind text, OUT generator text, OUT sequence oid) RETURNS SETOF record
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT attnum, 'sequence', NULL::text, objid FROM pg_attribute
        JOIN pg_depend ON refclassid = 'pg_class'::regclass AND refobjid = attrelid AND refobjsubid = attnum AND classid = refclassid AND deptype = 'i'
    WHERE attrelid = "table" AND attidentity <> ''
    UNION ALL SELECT adnum, 'sequence', NULL, refobjid FROM pg_attrdef AS a
        JOIN pg_depend ON classid = 'pg_attrdef'::regclass AND objid = a.oid AND refclassid = 'pg_class'::regclass
        JOIN pg_class AS s ON s.oid = refobjid AND relkind = 'S'
    WHERE adrelid = "table" AND pg_get_expr(adbin, adrelid) ~ '^[(]?nextval[(]''([^'']|'''')*''::regclass[)]([)]::[a-z]+)?$'
    UNION ALL SELECT attnum, d.kind, d.generator, snowdrift.state_of(d.generator)
    FROM pg_attribute, snowdrift.drawn_ids(attrelid, attnum) AS d
    WHERE attrelid = "table" AND attnum > 0 AND NOT attisdropped AND d.kind IS NOT NULL;
END;
COMMENT ON FUNCTION snowdrift.drawing_columns(regclass) IS 'columns whose defaults draw from a sequence or a generator';

-- The triggers of watches, without those that a partition has from its parent. `part`: row, the one of the library, or hold, insert
-- and update. The names of triggers differ after a dump is restored.
CREATE FUNCTION snowdrift.watches("table" regclass, OUT name name, OUT part text, OUT number smallint, OUT sequence oid, OUT generator text, OUT is_enabled boolean)
    RETURNS SETOF record LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT t.tgname, w.part,
        coalesce(t.tgattr[0], (SELECT min(refobjsubid) FROM pg_depend WHERE classid = t.tableoid AND objid = t.oid AND refobjid = t.tgrelid AND refobjsubid > 0))::smallint,
        (SELECT refobjid FROM pg_depend JOIN pg_sequence ON seqrelid = refobjid WHERE classid = t.tableoid AND objid = t.oid AND refclassid = 'pg_class'::regclass),
        CASE WHEN w.part = 'row' OR t.tgnargs = 2
            THEN convert_from(decode(split_part(encode(t.tgargs, 'escape'), E'\\000', greatest(1, t.tgnargs)), 'escape'), getdatabaseencoding()) END,
        t.tgenabled = 'A'
    FROM pg_trigger AS t JOIN pg_proc AS p ON p.oid = t.tgfoid, LATERAL (SELECT CASE p.proname WHEN 'hold_row' THEN 'row' WHEN 'hold_sequence' THEN 'hold'
        ELSE CASE t.tgtype & 4 WHEN 0 THEN 'update' ELSE 'insert' END END) AS w(part)
    WHERE t.tgrelid = "table" AND t.tgparentid = 0 AND p.pronamespace = 'snowdrift'::regnamespace AND p.proname IN ('hold_row', 'hold_sequence', 'refuse_row')
$$;
COMMENT ON FUNCTION snowdrift.watches(regclass) IS 'triggers of snowdrift.watch() on a table';

-- What read_new() reads: everything on which its promise relies.
CREATE FUNCTION snowdrift.feed("table" regclass, OUT number smallint, OUT "column" name, OUT kind text, OUT generator text, OUT sequence oid, OUT is_watched boolean)
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    watched CONSTANT smallint[] := ARRAY(SELECT DISTINCT w.number FROM snowdrift.watches("table") AS w ORDER BY 1);
    parts text[];
    watched_generator text;
    watched_sequence oid;
    problem text;
    n bigint;
BEGIN
    is_watched := watched <> '{}';
    SELECT d.number, d.kind, d.generator, d.sequence, count(*) OVER () INTO number, kind, generator, sequence, n
    FROM snowdrift.drawing_columns("table") AS d WHERE NOT is_watched OR d.number = ANY (watched);
    IF cardinality(watched) > 1 OR n > 1 THEN
        RAISE 'table "%" has several columns whose new rows could be read', snowdrift.plain_name("table") USING ERRCODE = '22023',
            HINT = format(CASE WHEN is_watched THEN 'Watch only one: SELECT snowdrift.unwatch(%L, ''column'').' ELSE 'Choose one: SELECT snowdrift.watch(%L, ''column'').' END, "table");
    ELSIF NOT is_watched AND (n IS NULL OR sequence IS NOT NULL) THEN
        RAISE 'new rows of table "%" are not watched', snowdrift.plain_name("table") USING ERRCODE = '55000', HINT = format('Call snowdrift.watch(%L).', "table");
    END IF;
    number := coalesce(watched[1], number);
    SELECT a.attname INTO "column" FROM pg_attribute AS a WHERE a.attrelid = "table" AND a.attnum = number;
    IF NOT is_watched THEN
        RETURN;
    END IF;
    SELECT array_agg(w.part), max(w.generator), max(w.sequence) INTO parts, watched_generator, watched_sequence
    FROM snowdrift.watches("table") AS w WHERE w.is_enabled;
    IF parts IS NULL OR NOT parts @> (CASE WHEN 'row' = ANY (parts) THEN '{row}' WHEN watched_generator IS NULL THEN '{hold,insert,update}' ELSE '{insert,update}' END)::text[] THEN
        problem := 'A trigger of the watch was dropped or disabled.';
    ELSIF watched_sequence <> sequence OR kind = 'snowflake' AND watched_generator <> generator OR (kind = 'sequence') <> (watched_generator IS NULL) THEN
        problem := 'The column''s default draws from another sequence or generator than the one that is watched.';
    ELSIF kind IS NULL AND EXISTS (SELECT FROM pg_attrdef AS a WHERE a.adrelid = "table" AND a.adnum = number) THEN
        problem := 'The column''s default does not draw from a sequence or a generator.';
    ELSIF watched_generator IS NULL THEN
        problem := CASE WHEN sequence IS NULL THEN 'The column''s default does not draw from the sequence.' ELSE snowdrift.sequence_problem(sequence) END;
    END IF;
    IF watched_generator IS NOT NULL THEN    -- also if programs draw
        kind := coalesce(kind, snowdrift.id_kind((SELECT snowdrift.base_type(a.atttypid) FROM pg_attribute AS a WHERE a.attrelid = "table" AND a.attnum = number)));
        generator := watched_generator;
        sequence := watched_sequence;
    END IF;
    IF problem IS NULL AND EXISTS (SELECT FROM pg_inherits JOIN pg_class AS c ON c.oid = inhparent WHERE inhparent = "table" AND relkind = 'r') THEN
        problem := 'Other tables inherit from the table.';
    END IF;
    IF problem IS NOT NULL THEN
        RAISE 'new rows of table "%" cannot be read without missing any', snowdrift.plain_name("table") USING ERRCODE = '55000', DETAIL = problem,
            HINT = format('Correct this, and call snowdrift.watch(%L) again.', "table");
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.feed(regclass) IS 'column by which new rows of a table are read, and what draws its values';

CREATE FUNCTION snowdrift.sequence_problem(sequence oid) RETURNS text LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT CASE WHEN seqincrement < 0 THEN format('Sequence %s descends.', seqrelid::regclass)
        WHEN seqcycle THEN format('Sequence %s cycles.', seqrelid::regclass)
        WHEN seqcache > 1 THEN format('Sequence %1$s caches numbers: ALTER SEQUENCE %1$s CACHE 1.', seqrelid::regclass) END
    FROM pg_sequence WHERE seqrelid = sequence;
END;
COMMENT ON FUNCTION snowdrift.sequence_problem(oid) IS 'why the numbers of a sequence do not ascend in the order in which they are drawn';

-- The key that a watch is for: the given column, or the only one that draws. Raises an error if it has no watermark.
CREATE FUNCTION snowdrift.column_to_watch("table" regclass, INOUT "column" name, OUT number smallint, OUT kind text, OUT generator text, OUT sequence oid)
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    given CONSTANT name := "column";
    type oid;
    is_virtual boolean;
    problem text;
    n bigint;
BEGIN
    SELECT d.number, d.kind, d.generator, d.sequence, count(*) OVER () INTO number, kind, generator, sequence, n
    FROM snowdrift.drawing_columns("table") AS d JOIN pg_attribute AS a ON a.attrelid = "table" AND a.attnum = d.number WHERE given IS NULL OR a.attname = given;
    IF given IS NULL AND n IS DISTINCT FROM 1 THEN
        RAISE 'table "%" has % columns whose defaults draw IDs', snowdrift.plain_name("table"), coalesce(n, 0) USING ERRCODE = '22023',
            HINT = format('Name the column to watch: SELECT snowdrift.watch(%L, ''column'').', "table");
    END IF;
    SELECT a.attname, a.attnum, snowdrift.base_type(a.atttypid), a.attgenerated = 'v' INTO "column", number, type, is_virtual
    FROM pg_attribute AS a WHERE a.attrelid = "table" AND NOT a.attisdropped AND CASE WHEN given IS NULL THEN a.attnum = number ELSE a.attnum > 0 AND a.attname = given END;
    IF NOT FOUND THEN
        RAISE 'column "%" of relation "%" does not exist', given, snowdrift.plain_name("table") USING ERRCODE = '42703';
    ELSIF kind IS NULL AND snowdrift.id_kind(type) = ANY (snowdrift.kinds_with_watermarks()) THEN
        kind := snowdrift.id_kind(type);
        generator := '';
        sequence := snowdrift.state_of(generator);
        IF kind = 'snowflake' THEN
            RAISE NOTICE 'column "%" of table "%" is watched with the default generator', "column", snowdrift.plain_name("table")
                USING DETAIL = 'The column''s default does not call a generator of Snowflake IDs.',
                    HINT = 'If a named generator draws the column''s IDs, call it in the column''s default, and watch the column again.';
        END IF;
    ELSIF kind IS NULL THEN
        RAISE 'column "%" of table "%" contains no IDs that have a watermark', "column", snowdrift.plain_name("table") USING ERRCODE = '42804',
            DETAIL = format('The column is of type %s, and no sequence draws its values.', format_type(type, NULL)),
            HINT = 'Columns whose defaults draw from a sequence can be watched, and those with IDs of generators of kind ' || array_to_string(snowdrift.kinds_with_watermarks(), ', ') || '.';
    END IF;
    problem := CASE WHEN is_virtual THEN 'It is a virtual generated column, whose values triggers do not see.' WHEN kind = 'sequence' THEN snowdrift.sequence_problem(sequence) END;
    IF problem IS NOT NULL THEN
        RAISE 'column "%" of table "%" cannot be watched', "column", snowdrift.plain_name("table") USING ERRCODE = CASE WHEN is_virtual THEN '0A000' ELSE '55000' END, DETAIL = problem;
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.column_to_watch(regclass, name) IS 'column that snowdrift.watch() watches, and what draws its values';

-- The triggers that a watch needs. Their conditions call built-in functions alone, because PostgreSQL plans them in each statement.
CREATE FUNCTION snowdrift.wanted_triggers("table" regclass, "column" name, kind text, generator text, sequence oid, OUT part text, OUT definition text)
    RETURNS SETOF record LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    held CONSTANT text := format('nullif(current_setting(%L || %L::regclass::oid::text, true), %L)', 'snowdrift_hold.s', sequence, '');
    passed CONSTANT text := format('NEW.%I <= coalesce(%s::bigint, 9223372036854775807)', "column", held);
    arguments CONSTANT text := concat_ws(', ', quote_literal("column"), quote_literal(generator));
BEGIN
    IF sequence IS NULL THEN
        RETURN QUERY VALUES ('row', format('AFTER INSERT OR UPDATE OF %I ON %s FOR EACH ROW EXECUTE FUNCTION snowdrift.hold_row(%s)',
            "column", "table", quote_literal(nullif(generator, ''))));
        RETURN;
    END IF;
    IF kind = 'sequence' THEN
        RETURN QUERY VALUES ('hold', format('BEFORE INSERT OR UPDATE OF %I ON %s FOR EACH STATEMENT WHEN (%s IS NULL) EXECUTE FUNCTION snowdrift.hold_sequence()',
            "column", "table", held));
    END IF;
    RETURN QUERY VALUES ('insert', format('AFTER INSERT ON %s FOR EACH ROW WHEN (%s) EXECUTE FUNCTION snowdrift.refuse_row(%s)', "table", passed, arguments)),
        ('update', format('AFTER UPDATE ON %s FOR EACH ROW WHEN (NEW.%I <> OLD.%2$I AND %s) EXECUTE FUNCTION snowdrift.refuse_row(%s)', "table", "column", passed, arguments));
END $$;
COMMENT ON FUNCTION snowdrift.wanted_triggers(regclass, name, text, text, oid) IS 'definitions of the triggers of snowdrift.watch()';

CREATE FUNCTION snowdrift.check_owner_of_watch("table" regclass, function text) RETURNS oid
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    owner CONSTANT oid := (SELECT c.relowner FROM pg_class AS c WHERE c.oid = "table");
BEGIN
    PERFORM snowdrift.check_can_change(function, false);
    IF "table" IS NULL THEN
        RAISE 'table must not be null' USING ERRCODE = '22004';
    ELSIF owner IS NULL THEN
        RAISE 'relation with OID % does not exist', "table"::oid USING ERRCODE = '42P01';
    ELSIF NOT pg_has_role(owner, 'USAGE') THEN
        RAISE 'must be owner of table %', snowdrift.plain_name("table") USING ERRCODE = '42501', HINT = format('Use SET ROLE %s.', owner::regrole);
    END IF;
    RETURN owner;
END $$;
COMMENT ON FUNCTION snowdrift.check_owner_of_watch(regclass, text) IS 'ensure that the caller can change the watch of a table; returns the table''s owner';

CREATE FUNCTION snowdrift.watch("table" regclass, "column" name DEFAULT NULL) RETURNS void
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    name text;
    owner oid;
    k record;
    w record;
    wanted text[];
BEGIN
    owner := snowdrift.check_owner_of_watch("table", 'snowdrift.watch()');
    name := snowdrift.qualified_name("table");
    SELECT * INTO STRICT k FROM snowdrift.column_to_watch("table", "column");
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
    -- The trigger reads the sequence with the rights of its function's owner.
    owner := (SELECT p.proowner FROM pg_proc AS p WHERE p.oid = 'snowdrift.hold_sequence()'::regprocedure);
    IF k.kind = 'sequence' AND NOT has_sequence_privilege(owner, k.sequence, 'SELECT') THEN
        EXECUTE format('GRANT SELECT ON SEQUENCE %s TO %s', k.sequence::regclass, owner::regrole);
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.watch(regclass, name)
    IS 'let new rows of a table be read without missing any: create triggers that hold the watermark back, and raise an error for rows that readers may have passed';

-- The table's OID distinguishes the triggers of a partition from those of its parent.
CREATE FUNCTION snowdrift.new_trigger_name("table" regclass, part text, number smallint) RETURNS name LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT n::name FROM (SELECT concat_ws('_', 'snowdrift', CASE part WHEN 'row' THEN 'watermark' ELSE part END, "table"::oid, number, nullif(i, 0)), i FROM generate_series(0, 999) AS i) AS names(n, i)
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
    PERFORM snowdrift.check_owner_of_watch("table", 'snowdrift.unwatch()');
    relation := snowdrift.qualified_name("table");
    FOR found_name IN SELECT w.name FROM snowdrift.watches("table") AS w JOIN pg_attribute AS a ON a.attrelid = "table" AND a.attnum = w.number
            WHERE "column" IS NULL OR a.attname = "column" LOOP
        EXECUTE format('DROP TRIGGER %I ON %s', found_name, relation);
        is_found := true;
    END LOOP;
    IF NOT is_found THEN
        RAISE '%table "%" is not watched', CASE WHEN "column" IS NULL THEN '' ELSE format('column "%s" of ', "column") END, snowdrift.plain_name("table") USING ERRCODE = '42704',
            HINT = coalesce((SELECT 'If the partitioned table is watched, unwatch that one.' FROM pg_class AS c WHERE c.oid = "table" AND c.relispartition), '');
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.unwatch(regclass, name) IS 'remove the triggers of snowdrift.watch()';

-- An INSERT of no rows takes the hold of a sequence as any other does, and needs the same privilege. Generators hold when they draw.
CREATE FUNCTION snowdrift.hold("table" regclass) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    f CONSTANT pg_catalog.record := snowdrift.feed("table");
BEGIN
    IF f.kind OPERATOR(pg_catalog.=) 'sequence' THEN
        EXECUTE pg_catalog.format('INSERT INTO %s (%I) OVERRIDING SYSTEM VALUE SELECT NULL LIMIT 0', snowdrift.qualified_name("table"), f."column");
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.hold(regclass)
    IS 'hold back the watermark of a watched table until the transaction ends, so that it can draw numbers before it inserts rows';

-- The watermark of a feed, as text. Raises an error if it is unknown, or if the position is above all numbers that were drawn.
CREATE FUNCTION snowdrift.feed_watermark("table" regclass, kind text, generator text, sequence oid, after text) RETURNS text
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    last bigint;
    watermark text;
BEGIN
    IF sequence IS NOT NULL AND pg_is_in_recovery() THEN
        RAISE 'cannot read new rows of table "%" during recovery', snowdrift.plain_name("table") USING ERRCODE = '25006';
    ELSIF sequence IS NOT NULL AND current_setting('transaction_isolation') IN ('repeatable read', 'serializable') THEN    -- Their snapshot is older than the locks.
        RAISE 'cannot read new rows of table "%" in a transaction with isolation level "%"', snowdrift.plain_name("table"), current_setting('transaction_isolation')
            USING ERRCODE = '25001', HINT = 'Use READ COMMITTED.';
    ELSIF kind <> 'sequence' THEN
        SELECT w.last, w.watermark INTO STRICT last, watermark FROM snowdrift.generator_watermark(kind, generator) AS w;
    ELSIF has_sequence_privilege(sequence, 'SELECT') THEN
        last := coalesce(pg_sequence_last_value(sequence), (SELECT greatest(seqmin, -9223372036854775807) - 1 FROM pg_sequence WHERE seqrelid = sequence));
        watermark := least(last, snowdrift.lowest_hold(sequence, last)) + 1;
    ELSE
        RAISE 'permission denied for sequence %', sequence::regclass USING ERRCODE = '42501',
            HINT = format('Run GRANT SELECT ON SEQUENCE %s TO %s;', sequence::regclass, current_user::regrole);
    END IF;
    IF last IS NOT NULL THEN
        IF after::bigint > last THEN
            RAISE 'position % of table "%" is ahead of the last ID, %', after, snowdrift.plain_name("table"), last USING ERRCODE = '55000',
                DETAIL = 'The sequence was set back, or the position is of another table or server.';
        END IF;
    END IF;
    RETURN watermark;
END $$;
COMMENT ON FUNCTION snowdrift.feed_watermark(regclass, text, text, oid, text) IS 'watermark of a table''s key, as text';

-- The query of read_new(), with the parameters watermark, max and after, which are texts and a number. Its operators are those
-- of the key's type.
CREATE FUNCTION snowdrift.new_rows_query("table" regclass, number smallint, has_position boolean) RETURNS text
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT format('SELECT * FROM %1$s WHERE %2$I OPERATOR(%3$I.<) $1::%4$s%5$s ORDER BY %2$I LIMIT $2', snowdrift.qualified_name("table"), attname, nspname, format_type(t.oid, NULL),
        CASE WHEN has_position THEN format(' AND %I OPERATOR(%I.>) $3::%s', attname, nspname, format_type(t.oid, NULL)) END)
    FROM pg_attribute JOIN pg_type AS t ON t.oid = snowdrift.base_type(atttypid) JOIN pg_namespace AS n ON n.oid = typnamespace
    WHERE attrelid = "table" AND attnum = number;
END;
COMMENT ON FUNCTION snowdrift.new_rows_query(regclass, smallint, boolean) IS 'query of snowdrift.read_new()';

-- What read_new() checks and tells. The notice is repeated in each session.
CREATE FUNCTION snowdrift.table_of_row(type regtype) RETURNS regclass LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    relation CONSTANT regclass := (SELECT c.oid FROM pg_type AS t JOIN pg_class AS c ON c.oid = t.typrelid WHERE t.oid = type AND c.relkind IN ('r', 'p', 'f'));
BEGIN
    IF relation IS NULL THEN
        RAISE 'type % is not that of a table''s rows', type USING ERRCODE = '22023', HINT = 'Specify the table by a null row: NULL::table.';
    END IF;
    RETURN relation;
END $$;
COMMENT ON FUNCTION snowdrift.table_of_row(regtype) IS 'table whose rows have a type';

CREATE FUNCTION snowdrift.notice_unwatched("table" regclass) RETURNS void LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    setting CONSTANT text := 'snowdrift_notice.t' || "table"::oid;
BEGIN
    IF current_setting(setting, true) = 'seen' THEN
        RETURN;
    END IF;
    PERFORM set_config(setting, 'seen', false);
    RAISE NOTICE 'table "%" is not watched', snowdrift.plain_name("table") USING DETAIL = 'Rows whose IDs were drawn in an earlier transaction are missed, without an error.',
        HINT = format('Call snowdrift.watch(%L), so that such an INSERT raises an error.', "table");
END $$;
COMMENT ON FUNCTION snowdrift.notice_unwatched(regclass) IS 'tell once in a session that a table is not watched';

-- VOLATILE: in READ COMMITTED, each of its queries has a new snapshot, and that of the rows is later than the watermark. It keeps
-- the caller's search path, because functions in policies and views rely on it. The position may have any type.
CREATE FUNCTION snowdrift.read_new("table" anyelement, after anycompatible DEFAULT NULL, max bigint DEFAULT 1000) RETURNS SETOF anyelement
    LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    "class" CONSTANT pg_catalog.regclass := snowdrift.table_of_row(pg_catalog.pg_typeof("table"));
    f CONSTANT pg_catalog.record := snowdrift.feed("class");
    query CONSTANT pg_catalog.text := snowdrift.new_rows_query("class", f.number, after IS NOT NULL);
    watermark pg_catalog.text;
BEGIN
    IF NOT f.is_watched THEN
        PERFORM snowdrift.notice_unwatched("class");
    END IF;
    watermark := snowdrift.feed_watermark("class", f.kind, f.generator, f.sequence, after::pg_catalog.text);
    EXECUTE pg_catalog.format('SELECT FROM %s LIMIT 0', snowdrift.qualified_name("class"));    -- locks it: a rewriting ALTER TABLE ends before the snapshot
    RETURN QUERY EXECUTE query USING watermark, max, after::pg_catalog.text;
END $$;
COMMENT ON FUNCTION snowdrift.read_new(anyelement, anycompatible, bigint)
    IS 'new rows of the table whose null row is the first argument, in the order of their IDs: none is missed and none is returned twice if after is the ID of the last row';

CREATE FUNCTION snowdrift.read_sequence_holders(OUT pid integer, OUT transaction xid, OUT sequence oid) RETURNS SETOF record LANGUAGE sql VOLATILE
BEGIN ATOMIC
    SELECT h.pid, x.transactionid, s.sequence
    FROM snowdrift.holds() AS h
        JOIN (SELECT DISTINCT refobjid FROM pg_trigger JOIN pg_depend ON classid = 'pg_trigger'::regclass AND objid = pg_trigger.oid JOIN pg_sequence ON seqrelid = refobjid
              WHERE tgfoid = 'snowdrift.hold_sequence()'::regprocedure AND refclassid = 'pg_class'::regclass) AS s(sequence) ON h.key = snowdrift.hold_key(s.sequence, h.key)
        LEFT JOIN pg_locks AS x ON h.pid IS NULL AND x.virtualtransaction = h.virtualtransaction AND x.locktype = 'transactionid' AND x.mode = 'ExclusiveLock' AND x.pid IS NULL;
END;
COMMENT ON FUNCTION snowdrift.read_sequence_holders() IS 'transactions that hold back the watermarks of sequences';

-- The transactions that hold back watermarks: those of generators, and those of sequences
CREATE VIEW snowdrift.watermark_holders AS
    SELECT h.pid, p.gid, COALESCE(a.xact_start, p.prepared) AS since, h.kind, h.generator,
        CASE h.kind WHEN 'sequence' THEN COALESCE(a.xact_start, p.prepared) ELSE h.lowest END AS lowest, a.query
    FROM (SELECT pid, transaction::xid, kind, generator, lowest FROM snowdrift.read_watermark_holders()
          UNION ALL
          SELECT pid, transaction, 'sequence', sequence::regclass::text, NULL FROM snowdrift.read_sequence_holders()) AS h(pid, transaction, kind, generator, lowest)
        LEFT JOIN pg_stat_activity AS a ON a.pid = h.pid
        LEFT JOIN pg_prepared_xacts AS p ON p.transaction = h.transaction;
COMMENT ON VIEW snowdrift.watermark_holders
    IS 'transactions in progress that hold back watermarks, with a row for each generator or sequence';
