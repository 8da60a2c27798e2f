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
