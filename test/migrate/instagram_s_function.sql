-- IDs of the published format: 41 bits of milliseconds since 1314220021721, 13 bits of the shard, and 10 bits of a
-- sequence
CREATE EXTENSION snowdrift;
CREATE SCHEMA insta5;
CREATE SEQUENCE insta5.table_id_seq;
CREATE FUNCTION insta5.next_id(OUT result bigint) LANGUAGE plpgsql AS $$
BEGIN
    result := ((floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint - 1314220021721) << 23)
        | (5 << 10) | (nextval('insta5.table_id_seq') % 1024);
END $$;
CREATE TABLE insta5.photos (id bigint PRIMARY KEY DEFAULT insta5.next_id(), url text);
CREATE TABLE insta5.likes (photo_id bigint NOT NULL REFERENCES insta5.photos, who text);
INSERT INTO insta5.photos (url) SELECT 'old' FROM generate_series(1, 1000);
INSERT INTO insta5.likes SELECT id, 'ada' FROM insta5.photos;
CREATE TABLE before AS SELECT id::text FROM insta5.photos;
