-- IDs of the format of Mastodon's function: 48 bits of Unix milliseconds of the transaction, and the lowest 16 bits of
-- the sum of a hash of the table's name, a salt and the time, and a sequence
CREATE EXTENSION snowdrift;
CREATE SEQUENCE statuses_id_seq;
CREATE FUNCTION timestamp_id(table_name text) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    time_part bigint := floor(extract(epoch FROM now()) * 1000)::bigint << 16;
    base bigint := ('x' || left(md5(table_name || 'salt' || time_part), 4))::bit(16)::bigint;
BEGIN
    RETURN time_part | ((base + nextval(table_name || '_id_seq')) & 65535);
END $$;
CREATE TABLE statuses (
    id bigint PRIMARY KEY DEFAULT timestamp_id('statuses'),
    text text,
    in_reply_to_id bigint REFERENCES statuses
);
INSERT INTO statuses (text) SELECT 'old' FROM generate_series(1, 1000);
INSERT INTO statuses (text, in_reply_to_id) SELECT 'reply', id FROM statuses;
-- a status of another server, made with the time of its creation and random low bits
INSERT INTO statuses (id, text) VALUES (make_snowflake(now() - interval '2 days', 0, 0, 41234, 'mastodon'), 'remote');
CREATE TABLE before AS SELECT id::text FROM statuses;
