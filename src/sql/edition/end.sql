-- Privileges of new objects

-- From new objects, and from all after a restore, which creates them with the default privileges of the role that restores, all privileges
-- are revoked that ALTER DEFAULT PRIVILEGES can have granted. PUBLIC may call functions of a restore without privileges, which
-- have no list of privileges, and may never call those of seals. A dump does not bring the place of a dropped column, which pg_upgrade and
-- copies of the database keep.
is_restored := is_repeated AND NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'snowdrift_tables.seal_key'::regclass AND attisdropped);
defaults := ARRAY(SELECT concat(defaclobjtype, d.grantee) FROM pg_default_acl, aclexplode(defaclacl) AS d
    WHERE d.grantee <> defaclrole AND defaclnamespace IN (0, 'snowdrift'::regnamespace, 'snowdrift_tables'::regnamespace, (SELECT pronamespace FROM pg_proc WHERE oid = 'public.next_snowflake()'::regprocedure))) || 'f0'::text;
-- A grantee's own grants end with the privilege, by CASCADE, so the second pass finds which ones are left.
FOR pass IN 1..2 LOOP
    FOR place, grantee, privileges, is_new, options, grantor, is_by_default IN
        WITH objects(kind, name, owner, acl, is_open, is_new) AS (
            SELECT 'f', 'FUNCTION ' || oid::regprocedure, proowner, coalesce(proacl, acldefault('f', proowner)), proacl IS NULL OR proname ~ 'seal', NOT functions ? oid::text FROM pg_proc
            WHERE pronamespace = 'snowdrift'::regnamespace AND proname IN ('create_generator', 'drop_generator', 'advance', 'publish_watermarks', 'create_seal', 'rotate_seal', 'drop_seal', 'seal_keys')
                OR oid IN ('public.snowflake_seal(bigint,text)'::regprocedure, 'public.snowflake_unseal(uuid,text,boolean)'::regprocedure)
            UNION ALL SELECT relkind, CASE relkind WHEN 'S' THEN 'SEQUENCE ' ELSE 'TABLE ' END || oid::regclass, relowner, relacl, false, oid <> ALL (relations) FROM pg_class
            WHERE relnamespace = 'snowdrift_tables'::regnamespace AND relkind IN ('r', 'S')
            UNION ALL SELECT 'n', 'SCHEMA snowdrift_tables', nspowner, nspacl, false, false FROM pg_namespace WHERE nspname = 'snowdrift_tables'
        )
        SELECT o.name, snowdrift.grantee_name(a.grantee), string_agg(a.privilege_type, ', ' ORDER BY a.privilege_type), o.is_new,
            CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION, and grant again what this role has granted to others' ELSE '' END,
            a.grantor::regrole::text, o.is_new OR concat(o.kind, a.grantee) = ANY (defaults)
        FROM objects AS o, aclexplode(o.acl) AS a
        WHERE a.grantee <> o.owner AND (o.is_new OR is_restored OR o.is_open AND a.grantee = 0)
        GROUP BY o.kind, o.name, o.owner, a.grantee, a.grantor, a.is_grantable, o.is_new ORDER BY o.name, a.grantor <> o.owner, a.grantee LOOP
        IF pass = 1 THEN
            grants := grants || jsonb_build_object('place', place, 'grantee', grantee, 'privileges', privileges, 'is_new', is_new, 'options', options, 'grantor', grantor);
            IF is_by_default THEN
                EXECUTE format('REVOKE ALL ON %s FROM %s CASCADE', place, grantee);
            END IF;
        ELSE
            grants := (SELECT coalesce(jsonb_agg(g ORDER BY n), '[]') FROM jsonb_array_elements(grants) WITH ORDINALITY AS e(g, n)
                WHERE (g ->> 'place', g ->> 'grantee', g ->> 'grantor', g ->> 'options') <> (place, grantee, grantor, options));
            RAISE NOTICE 'kept % on % for %', privileges, place, grantee USING HINT = format('If it is not intended, let role %s run REVOKE ALL ON %s FROM %s CASCADE.', grantor, place, grantee);
        END IF;
    END LOOP;
END LOOP;
FOR place, grantee, privileges, options IN
    SELECT g ->> 'place', g ->> 'grantee', g ->> 'privileges', g ->> 'options' FROM jsonb_array_elements(grants) WITH ORDINALITY AS e(g, n) WHERE NOT (g ->> 'is_new')::boolean ORDER BY n LOOP
    IF grantee = 'PUBLIC' THEN
        RAISE NOTICE 'revoked % on % from PUBLIC', privileges, place;
    ELSE
        RAISE NOTICE 'revoked % on % from %, because a restore may have granted it', privileges, place, grantee
            USING HINT = format('If you have granted it, run GRANT %s ON %s TO %s%s.', privileges, place, grantee, options);
    END IF;
END LOOP;
-- No privilege on a view but SELECT is of use.
FOR place, grantee IN
    SELECT DISTINCT oid::regclass::text, snowdrift.grantee_name(a.grantee) FROM pg_class, aclexplode(relacl) AS a
    WHERE relnamespace = 'snowdrift'::regnamespace AND relkind = 'v' AND a.grantee <> relowner AND a.privilege_type <> 'SELECT' LOOP
    EXECUTE format('REVOKE INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER ON %s FROM %s CASCADE', place, grantee);
END LOOP;
-- Privileges on columns that a role has granted by a privilege on the table, which it no longer has: CASCADE leaves them.
FOR problem IN
    SELECT DISTINCT attrelid::regclass::text AS "table", quote_ident(attname) AS "column", a.grantor::regrole::text AS role
    FROM pg_class AS c JOIN pg_attribute ON attrelid = c.oid, aclexplode(attacl) AS a
    WHERE relnamespace = 'snowdrift_tables'::regnamespace AND relkind = 'r' AND NOT attisdropped AND NOT has_column_privilege(a.grantor, attrelid, attnum, a.privilege_type || ' WITH GRANT OPTION') ORDER BY 1, 2, 3 LOOP
    EXECUTE format('GRANT ALL (%s) ON TABLE %s TO %s WITH GRANT OPTION', problem."column", problem."table", problem.role);
    EXECUTE format('REVOKE ALL (%s) ON TABLE %s FROM %s CASCADE', problem."column", problem."table", problem.role);
    RAISE NOTICE 'revoked privileges on column % of table % that role % has granted, or had', problem."column", problem."table", problem.role;
END LOOP;
IF is_restored OR NOT is_repeated THEN
    BEGIN
        ALTER TABLE snowdrift_tables.seal_key ADD place_of_no_dump boolean;
        ALTER TABLE snowdrift_tables.seal_key DROP place_of_no_dump;
    EXCEPTION WHEN lock_not_available THEN
        RAISE WARNING 'table "snowdrift_tables.seal_key" is in use' USING HINT = 'The file revokes privileges again when it is run again.';
    END;
END IF;
FOR grantee, options, is_new IN
    SELECT snowdrift.grantee_name(a.grantee), CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END, is_restored AND concat('f', a.grantee) = ANY (defaults)
    FROM aclexplode(creators) AS a WHERE a.grantee <> installer LOOP
    IF grantee = 'PUBLIC' THEN
        RAISE NOTICE 'revoked EXECUTE on FUNCTION snowdrift.create_generator from PUBLIC';
    ELSIF is_new THEN
        RAISE NOTICE 'revoked EXECUTE on FUNCTION snowdrift.create_generator from %, because a restore may have granted it', grantee
            USING HINT = format('If you have granted it, run GRANT EXECUTE ON FUNCTION snowdrift.create_generator TO %s%s.', grantee, options);
    ELSE
        EXECUTE 'GRANT EXECUTE ON FUNCTION snowdrift.create_generator TO ' || grantee || options;
    END IF;
END LOOP;
FOR place, is_new IN
    SELECT 'SELECT ON ' || name, name::regclass <> ALL (relations)
    FROM unnest('{snowdrift.generators,snowdrift.key_copies,snowdrift.watermark_holders,snowdrift.published_watermarks}'::text[]) AS name
    WHERE NOT has_table_privilege('public', name, 'SELECT')
    UNION ALL SELECT 'USAGE ON SCHEMA snowdrift', false WHERE NOT has_schema_privilege('public', 'snowdrift', 'USAGE') LOOP
    IF is_new OR is_restored THEN
        EXECUTE format('GRANT %s TO PUBLIC', place);
    END IF;
    IF is_restored AND NOT is_new THEN
        RAISE NOTICE 'granted % to PUBLIC, because a restore may not have granted it', place USING HINT = format('If you have revoked it, run REVOKE %s FROM PUBLIC.', place);
    END IF;
END LOOP;
BEGIN
    PERFORM pg_extension_config_dump('snowdrift_tables.generator', '');
    PERFORM pg_extension_config_dump('snowdrift_tables.state', '');
    PERFORM pg_extension_config_dump('snowdrift_tables.dropped_ms', '');
    PERFORM pg_extension_config_dump('snowdrift_tables.seal_key', '');
EXCEPTION WHEN FEATURE_NOT_SUPPORTED THEN    -- This is not the script of an extension.
END;

-- A function that is replaced keeps its owner.
FOR problem IN SELECT oid::regprocedure AS function, proowner FROM pg_proc
        WHERE functions ->> oid::text <> ctid::text AND xmin = pg_current_xact_id()::xid AND (proowner <> installer OR NOT is_repeated) LOOP
    RAISE 'function % already exists', problem.function USING ERRCODE = '42723',
        DETAIL = format('It belongs to role %s.', problem.proowner::regrole);
END LOOP;

-- Lost states

IF are_keys_lost THEN
    RAISE WARNING 'table "snowdrift_tables.seal_key" was lost'
        USING HINT = 'If you use sealed IDs, restore its rows from a backup. With a new key, IDs that were sealed before cannot be unsealed.';
END IF;
IF is_repeated THEN
    now_ms := snowdrift_tables.unix_ms();
    given_ms := snowdrift.unix_ms_of(nullif(current_setting('snowdrift.last_timestamp', true), '')::timestamptz);
    INSERT INTO snowdrift_tables.generator
    SELECT name, layout, datacenter, worker, snowdrift.fields_of(layout),
        coalesce(state, 'snowdrift_tables.state_' || replace(gen_random_uuid()::text, '-', '')), coalesce(spread, false)
    FROM jsonb_to_recordset(definitions) AS d(name text, layout text, datacenter integer, worker integer, state text, spread boolean)
    WHERE name || layout || datacenter || worker IS NOT NULL;
    are_definitions_lost := are_definitions_lost OR coalesce(jsonb_array_length(definitions), 0) > (SELECT count(*) FROM snowdrift_tables.generator);
    -- If the clock has not been set back since, calls before this millisecond have returned no later IDs.
    PERFORM setval(g.state, snowdrift_tables.last_state_at(greatest(now_ms + 59999 + (g.fields).unit_ms, given_ms), g.fields))
    FROM snowdrift_tables.generators() AS g WHERE g.state::regclass <> ALL (relations);
    IF are_definitions_lost OR 'snowdrift_tables.dropped_ms'::regclass <> ALL (relations) THEN
        PERFORM setval('snowdrift_tables.dropped_ms',
            greatest(now_ms + 60000, given_ms::bigint, pg_sequence_last_value('snowdrift_tables.dropped_ms')));
    END IF;
    FOR place IN SELECT oid::regclass::text FROM pg_class WHERE oid = ANY (relations) AND relname ~ '^state_'
            AND oid::regclass::text NOT IN (SELECT state FROM snowdrift_tables.generator)
            AND NOT EXISTS (SELECT FROM pg_depend WHERE refclassid = 'pg_class'::regclass AND refobjid = pg_class.oid AND classid = 'pg_trigger'::regclass) LOOP
        EXECUTE format('DROP SEQUENCE %s', place);    -- of a lost definition, which no watch needs
    END LOOP;
END IF;
-- If the clock has been set back, only the columns whose defaults draw IDs contain the last ones. Reading a table of another
-- role could run that role's functions, for example those of an index.
FOR drawing IN
    WITH RECURSIVE defaults AS (
        SELECT attrelid, attname, calls.refobjid = 'public.next_snowflake()'::regprocedure AS is_default,
            pg_get_expr(coalesce(adbin, typdefaultbin), 0) AS expression
        FROM pg_attribute JOIN pg_class AS c ON c.oid = attrelid JOIN pg_type AS t ON t.oid = atttypid
            LEFT JOIN pg_attrdef AS d ON adrelid = attrelid AND adnum = attnum
            JOIN pg_depend AS calls ON (classid, objid) = (CASE WHEN d.oid IS NULL THEN 'pg_type' ELSE 'pg_attrdef' END::regclass, coalesce(d.oid, t.oid))
        WHERE is_repeated AND attnum > 0 AND NOT attisdropped AND relkind IN ('r', 'p', 'f') AND relpersistence <> 't'
            AND refclassid = 'pg_proc'::regclass
            AND refobjid IN ('public.next_snowflake()'::regprocedure, 'public.next_snowflake(text)'::regprocedure)
    ), columns AS (
        SELECT attrelid, attname, name FROM defaults,
            LATERAL (SELECT '' WHERE is_default
                     UNION SELECT replace(m[1], '''''', '''') FROM regexp_matches(expression, '''((?:[^'']|'''')*)''::text', 'g') AS m) AS names(name)
        UNION SELECT inhrelid, attname, name FROM columns JOIN pg_inherits ON inhparent = attrelid
    )
    SELECT attrelid, format('%s.%I', attrelid::regclass, attname) AS column, attname, columns.name, g.state, g.fields,
        relkind = 'r' AND relowner = installer AND NOT row_security_active(attrelid) AND coalesce(nullif(typbasetype, 0), t.oid) = 'bigint'::regtype AS is_readable
    FROM columns JOIN pg_class AS c ON c.oid = attrelid JOIN pg_attribute USING (attrelid, attname) JOIN pg_type AS t ON t.oid = atttypid
        LEFT JOIN snowdrift_tables.generators() AS g ON g.name = columns.name
    WHERE relkind <> 'p' AND (state IS NULL AND are_definitions_lost OR state::regclass <> ALL (relations))
LOOP
    IF drawing.state IS NULL THEN
        RAISE WARNING 'definition of ID generator "%" is lost', drawing.name USING DETAIL = format('Column %s draws from it.', drawing.column),
            HINT = 'In one transaction, create it again with the same layout, datacenter and worker, and call snowdrift.advance with the time of the column''s greatest ID. If the table is watched, then call snowdrift.watch() again.';
    ELSIF NOT drawing.is_readable THEN
        unread := unread || drawing.column;
    ELSE    -- in a function, so that the table is known by its OID: names can change meanwhile
        EXECUTE format('CREATE FUNCTION snowdrift_tables.greatest_id() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT max(%I) FROM ONLY %s; END',
            drawing.attname, drawing.attrelid::regclass);
        IF NOT EXISTS (SELECT FROM pg_depend WHERE (classid, objid) = ('pg_proc'::regclass, to_regprocedure('snowdrift_tables.greatest_id()'))
                AND (refclassid, refobjid) = ('pg_class'::regclass, drawing.attrelid)) THEN
            RAISE 'table of column % was renamed', drawing.column USING ERRCODE = '40001';
        END IF;
        EXECUTE 'SELECT snowdrift_tables.greatest_id()' INTO greatest_id;
        DROP FUNCTION snowdrift_tables.greatest_id();
        PERFORM setval(drawing.state, greatest(pg_sequence_last_value(drawing.state), snowdrift_tables.last_state_at((drawing.fields).epoch_ms
            + (least(greatest(greatest_id, 0), (drawing.fields).max_id) >> (drawing.fields).timestamp_shift) * (drawing.fields).unit_ms, drawing.fields)));
    END IF;
END LOOP;
IF unread IS NOT NULL AND given_ms IS NULL THEN
    RAISE 'the last IDs of lost ID generators are unknown' USING ERRCODE = '55000',
        DETAIL = format('These columns were not read, because they are in tables of other roles, in foreign tables, restricted by row-level security, or not of type bigint: %s.', array_to_string(unread, ', ')),
        HINT = 'Set snowdrift.last_timestamp to the time of their greatest ID, or a later one, and run the file again.';
END IF;

PERFORM set_config('lock_timeout', lock_timeout, true), set_config('quote_all_identifiers', quoting, true),
    set_config('standard_conforming_strings', strings, true), set_config('search_path', path, true);
END $edition$;
