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
