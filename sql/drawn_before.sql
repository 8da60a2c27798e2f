-- IDs drawn before the transaction that inserts the row: a watch refuses them, instead of readers missing them
CREATE TABLE drawn_before (id bigint PRIMARY KEY DEFAULT next_snowflake(), body text);
SELECT snowdrift.watch('drawn_before', 'id');

-- A reader reads the watermark when it has passed all IDs that were drawn until now.
CREATE PROCEDURE read_watermark() LANGUAGE plpgsql AS $$
DECLARE
    last bigint := next_snowflake();
BEGIN
    COMMIT;
    WHILE snowflake_watermark() <= last LOOP
    END LOOP;
END $$;

-- In a loop whose query draws, PostgreSQL reads all rows of the query before the first COMMIT.
CREATE PROCEDURE load(query text) LANGUAGE plpgsql AS $$
DECLARE
    row drawn_before;
BEGIN
    FOR row IN EXECUTE query LOOP
        IF row.id IS NULL THEN
            INSERT INTO drawn_before (body) VALUES (row.body);
        ELSE
            INSERT INTO drawn_before VALUES (row.*);
        END IF;
        COMMIT;
        CALL read_watermark();
    END LOOP;
END $$;
\set VERBOSITY sqlstate
CALL load('SELECT next_snowflake(), body FROM unnest(ARRAY[''a'', ''b'', ''c'']) AS body');
SELECT body FROM drawn_before ORDER BY id;
CALL load('SELECT NULL::bigint, body FROM unnest(ARRAY[''d'', ''e'', ''f'']) AS body');
SELECT body FROM drawn_before ORDER BY id;

-- an ID of a statement of its own, and IDs drawn in advance
SELECT next_snowflake() AS id \gset
CALL read_watermark();
INSERT INTO drawn_before VALUES (:id, 'statement');
CREATE TABLE drawn AS SELECT next_snowflakes(2) AS id;
CALL read_watermark();
INSERT INTO drawn_before SELECT id, 'advance' FROM drawn;
BEGIN;
SELECT next_snowflake() AS id \gset
INSERT INTO drawn_before VALUES (:id, 'transaction');
COMMIT;
\set VERBOSITY default
SELECT body FROM drawn_before ORDER BY id;

DROP TABLE drawn_before, drawn;
DROP PROCEDURE load, read_watermark;
