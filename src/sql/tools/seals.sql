-- Keys of seals: creation, rotation and removal. include/snowdrift/seal.hpp describes sealed IDs.

-- The newest key of a name seals; all unseal. Neither errors nor statistics may show a key: so no constraint can fail with one, there is no
-- trigger BEFORE INSERT, with which the errors of COPY show rows, and the primary key, by which logical replication finds rows, contains
-- none. A subscriber adds and drops the keys that the publisher does, beside its own of the same name and version.
CREATE TABLE snowdrift_tables.seal_key (
    name text COLLATE "C",
    version integer,
    id uuid DEFAULT pg_catalog.gen_random_uuid(),
    key bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (name, version, id)
);
ALTER TABLE snowdrift_tables.seal_key ALTER key SET STATISTICS 0;
COMMENT ON TABLE snowdrift_tables.seal_key IS 'keys of seals; roles that can read it can seal and unseal';

-- PL/pgSQL, because parameters of SQL functions can be logged. gen_random_uuid() is core's only source of cryptographically strong random
-- bytes; each UUID has 122 random bits.
CREATE FUNCTION snowdrift_tables.add_seal_key(name text, version integer, key bytea) RETURNS void
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF length(key) <> 32 THEN
        RAISE 'invalid seal key' USING ERRCODE = '22023', DETAIL = format('A seal key must have 32 bytes, not %s.', length(key));
    END IF;
    INSERT INTO snowdrift_tables.seal_key (name, version, key)
    VALUES (name, version, coalesce(key, sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))));
END $$;
COMMENT ON FUNCTION snowdrift_tables.add_seal_key(text, integer, bytea) IS 'add a key of a seal; a random one if it is null';

-- A restore creates functions that PUBLIC may call, and grants and revokes afterwards, unless a role of a grant does not exist.
CREATE FUNCTION snowdrift_tables.report_not_private(function regprocedure) RETURNS void LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE 'function % must not be executable by PUBLIC', function USING ERRCODE = '42501',
        HINT = (SELECT format('In the SQL edition, after a restore, run its file again. Otherwise, let role %s run REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC.', string_agg(a.grantor::regrole::text, ' and role '), function)
            FROM pg_proc AS p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) AS a WHERE p.oid = function AND a.grantee = 0);
END $$;
COMMENT ON FUNCTION snowdrift_tables.report_not_private(regprocedure) IS 'raise an error because all roles may execute function';

CREATE FUNCTION snowdrift_tables.check_seals_are_private() RETURNS void LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM snowdrift_tables.report_not_private(min(oid)) FROM pg_proc WHERE pronamespace = 'snowdrift'::regnamespace
        AND proname IN ('create_seal', 'rotate_seal', 'drop_seal', 'seal_keys') AND has_function_privilege('public', oid, 'EXECUTE') HAVING count(*) > 0;
END $$;
COMMENT ON FUNCTION snowdrift_tables.check_seals_are_private() IS 'raise an error if all roles may read or change keys';

CREATE FUNCTION snowdrift_tables.lock_seal(name text) RETURNS integer LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM snowdrift_tables.check_seals_are_private();
    IF name IS NULL THEN
        RAISE 'seal name must not be null' USING ERRCODE = '22004';
    END IF;
    IF current_setting('transaction_isolation') IN ('repeatable read', 'serializable') THEN    -- An older snapshot lacks the newest key.
        RAISE 'cannot change seals in a transaction with isolation level "%"', current_setting('transaction_isolation') USING ERRCODE = '25001', HINT = 'Use READ COMMITTED.';
    END IF;
    LOCK TABLE snowdrift_tables.seal_key IN SHARE ROW EXCLUSIVE MODE;
    RETURN (SELECT max(k.version) FROM snowdrift_tables.seal_key AS k WHERE k.name = lock_seal.name COLLATE "C");
END $$;
COMMENT ON FUNCTION snowdrift_tables.lock_seal(text)
    IS 'let no other session change keys until the transaction ends; returns the version of the newest one of a seal, or null if there is none';

CREATE FUNCTION snowdrift.create_seal(name text, key bytea DEFAULT NULL) RETURNS void
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF name !~ '^[ -~]{1,63}$' COLLATE "C" THEN
        RAISE 'invalid seal name: "%"', name USING ERRCODE = '42602', DETAIL = 'A seal name must have 1 to 63 printable ASCII characters.';
    ELSIF snowdrift_tables.lock_seal(name) IS NOT NULL THEN
        RAISE 'seal "%" already exists', name USING ERRCODE = '42710', HINT = 'Use snowdrift.rotate_seal() to add a key.';
    END IF;
    PERFORM snowdrift_tables.add_seal_key(name, 1, key);
END $$;
COMMENT ON FUNCTION snowdrift.create_seal(text, bytea) IS 'create the key of a seal; by default, a random one';

CREATE FUNCTION snowdrift.rotate_seal(name text, key bytea DEFAULT NULL) RETURNS integer
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    version CONSTANT integer := snowdrift_tables.lock_seal(name) + 1;
BEGIN
    IF version IS NULL THEN
        RAISE 'seal "%" does not exist', name USING ERRCODE = '42704', HINT = 'Check the name. If its keys were lost, restore them from a backup; otherwise, call snowdrift.create_seal().';
    END IF;
    PERFORM snowdrift_tables.add_seal_key(name, version, key);
    RETURN version;
END $$;
COMMENT ON FUNCTION snowdrift.rotate_seal(text, bytea) IS 'add a key, which seals from now on, and return its version; earlier keys still unseal';

CREATE FUNCTION snowdrift.drop_seal(name text) RETURNS void
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM snowdrift_tables.lock_seal(name);
    DELETE FROM snowdrift_tables.seal_key AS k WHERE k.name = drop_seal.name COLLATE "C";
    IF NOT FOUND THEN
        RAISE 'seal "%" does not exist', name USING ERRCODE = '42704';
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.drop_seal(text) IS 'drop all keys of a seal; IDs that they have sealed can no longer be unsealed';

CREATE FUNCTION snowdrift.drop_seal(name text, version integer) RETURNS void
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF version IS NULL THEN
        RAISE 'version must not be null' USING ERRCODE = '22004';
    END IF;
    PERFORM snowdrift_tables.lock_seal(name);
    DELETE FROM snowdrift_tables.seal_key AS k WHERE k.name = drop_seal.name COLLATE "C" AND k.version = drop_seal.version;
    IF NOT FOUND THEN
        RAISE 'version % of seal "%" does not exist', version, name USING ERRCODE = '42704';
    END IF;
END $$;
COMMENT ON FUNCTION snowdrift.drop_seal(text, integer) IS 'drop a key of a seal; IDs that it has sealed can no longer be unsealed';

CREATE FUNCTION snowdrift.seal_keys(name text, OUT version integer, OUT key bytea, OUT created_at timestamptz) RETURNS SETOF record
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN
    PERFORM snowdrift_tables.check_seals_are_private();
    RETURN QUERY SELECT k.version, k.key, k.created_at FROM snowdrift_tables.seal_key AS k WHERE k.name = seal_keys.name COLLATE "C" ORDER BY k.version DESC, k.id DESC;
END $$;
COMMENT ON FUNCTION snowdrift.seal_keys(text) IS 'keys of a seal, the newest first, for other services and servers';
