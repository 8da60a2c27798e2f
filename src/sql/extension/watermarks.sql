-- Watermarks

CREATE FUNCTION snowdrift.read_watermark_holders(OUT pid integer, OUT transaction xid8, OUT kind text, OUT generator text,
        OUT lowest timestamptz)
        RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'snowdrift_read_watermark_holders'
    LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowdrift.read_watermark_holders() IS 'implementation of view snowdrift.watermark_holders';

CREATE FUNCTION snowdrift.hold_row() RETURNS trigger
    AS 'MODULE_PATHNAME', 'snowdrift_hold_row'
    LANGUAGE C;
COMMENT ON FUNCTION snowdrift.hold_row()
    IS 'trigger of snowdrift.watch: hold back the watermark at the row''s ID, or raise an error if readers may have passed it';
