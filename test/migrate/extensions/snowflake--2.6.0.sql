-- A stand-in for pgEdge's snowflake 2.6.0: nextval with the same signature and layout. The last ID is the sequence's
-- last value, and a used-up count moves the time ahead of the clock.
CREATE FUNCTION snowflake.nextval(sequence regclass) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    last bigint;
    now_ms bigint := floor(extract(epoch FROM clock_timestamp()) * 1000) - 1672531200000;
    next bigint;
BEGIN
    PERFORM pg_advisory_xact_lock('pg_class'::regclass::oid::integer, sequence::oid::integer);
    EXECUTE 'SELECT last_value FROM ' || sequence INTO last;
    IF now_ms > last >> 22 THEN
        next := now_ms << 22;
    ELSIF last & 4095 < 4095 THEN
        next := ((last >> 22) << 22) | ((last & 4095) + 1);
    ELSE
        next := ((last >> 22) + 1) << 22;
    END IF;
    RETURN setval(sequence, next | (current_setting('snowflake.node')::bigint << 12));
END $$;
