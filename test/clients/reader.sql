-- A reader below the watermark, for every table whose default draws an ID: while the transaction that has inserted a row
-- is open, it reads the watermark, and may then have passed all IDs below it. If the row's ID is one of them, the reader
-- misses the row. IDs whose time is long past, or in the future, were not drawn.

CREATE FUNCTION read_meanwhile() RETURNS trigger LANGUAGE plpgsql AS $$  -- arguments: ulid or snowflake, type, column
DECLARE
    id text := to_jsonb(NEW) ->> TG_ARGV[2];
    drawn timestamptz;
    misses boolean;
BEGIN
    EXECUTE format('SELECT %s_timestamp($1::%s)', TG_ARGV[0], TG_ARGV[1]) USING id INTO drawn;
    IF drawn NOT BETWEEN now() - interval '1 hour' AND now() + interval '1 minute' THEN
        RETURN NULL;
    END IF;
    WHILE clock_timestamp() < drawn + interval '1 ms' LOOP  -- until then, no reader can pass the ID
        PERFORM pg_sleep(0.001);
    END LOOP;
    EXECUTE format('SELECT $1::%s < %s_watermark()', TG_ARGV[1], TG_ARGV[0]) USING id INTO misses;
    IF misses THEN
        RAISE EXCEPTION 'a reader below the watermark misses row % of %', id, TG_RELID::regclass
            USING HINT = 'Draw the ID in the transaction that inserts the row.';
    END IF;
    RETURN NULL;
END $$;

CREATE FUNCTION add_reader() RETURNS event_trigger LANGUAGE plpgsql AS $$
DECLARE
    found record;
BEGIN
    FOR found IN
        SELECT DISTINCT adrelid::regclass AS relation, attname, kind, type
        FROM (VALUES ('ulid', 'ulid'), ('snowflake', 'bigint')) AS kinds (kind, type)
            JOIN pg_attrdef ON pg_get_expr(adbin, adrelid) ~ format('next_%s\(\)', kind)
            JOIN pg_attribute ON attrelid = adrelid AND attnum = adnum
        WHERE adrelid IN (SELECT objid FROM pg_event_trigger_ddl_commands())
    LOOP
        EXECUTE format('CREATE OR REPLACE TRIGGER reader AFTER INSERT ON %s FOR EACH ROW '
                       'EXECUTE FUNCTION read_meanwhile(%L, %L, %L)',
                       found.relation, found.kind, found.type, found.attname);
    END LOOP;
END $$;

CREATE EVENT TRIGGER add_reader ON ddl_command_end WHEN TAG IN ('CREATE TABLE', 'ALTER TABLE')
    EXECUTE FUNCTION add_reader();
