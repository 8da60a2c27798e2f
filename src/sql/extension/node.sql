CREATE FUNCTION snowdrift.read_node(OUT number integer, OUT source text, OUT detail text)
    AS 'MODULE_PATHNAME', 'snowdrift_read_node'
    LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowdrift.read_node() IS 'implementation of view snowdrift.node';

CREATE VIEW snowdrift.node AS SELECT number, source, detail FROM snowdrift.read_node();
COMMENT ON VIEW snowdrift.node
    IS 'server''s number in its Snowflake and sno IDs, setting snowdrift.node, and where the number comes from';
COMMENT ON COLUMN snowdrift.node.number IS 'server''s number in its IDs; null if it has none';
COMMENT ON COLUMN snowdrift.node.source IS 'setting snowdrift.node';
COMMENT ON COLUMN snowdrift.node.detail IS 'where the number comes from, or why there is none';
GRANT SELECT ON snowdrift.node TO PUBLIC;

CREATE FUNCTION snowdrift.confirm_node() RETURNS void
    AS 'MODULE_PATHNAME', 'snowdrift_confirm_node'
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION snowdrift.confirm_node() FROM PUBLIC;
COMMENT ON FUNCTION snowdrift.confirm_node()
    IS 'confirm, on a copy, on a possible clone, or on a server that has lost its configured number, that no other server generates IDs with its number or its generators';
-- Insert the row of the mark. If shared memory contains the mark of an earlier installation, copy it too.
SELECT FROM snowdrift.confirm_node();
