-- A dump of a database of the "beta", commit 25cc672, made at 2026-11-28 01:23:45Z, without comments: generators of all kinds,
-- watched tables, a partitioned one, and tables whose keys were converted.
SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
CREATE EXTENSION IF NOT EXISTS snowdrift WITH SCHEMA public;
COMMENT ON EXTENSION snowdrift IS 'time-ordered IDs that contain their timestamp: 64-bit Snowflake IDs, UUIDs of version 7, and the types ulid and sno';
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE public.orders (
    id bigint DEFAULT public.next_snowflake() NOT NULL,
    user_id bigint
);
CREATE VIEW public.customers AS
 SELECT orders.user_id
   FROM public.orders;
CREATE TABLE public.events (
    id bigint DEFAULT public.next_snowflake() NOT NULL,
    event public.ulid DEFAULT public.next_ulid(),
    tag public.sno DEFAULT public.next_sno(),
    key uuid DEFAULT public.next_uuidv7()
);
CREATE TABLE public.pages (
    id bigint DEFAULT public.next_snowflake('web'::text) NOT NULL,
    event public.ulid DEFAULT public.next_ulid(),
    tag public.sno DEFAULT public.next_sno('own sno'::text),
    key uuid DEFAULT public.next_uuidv7()
);
CREATE TABLE public.posts (
    id bigint DEFAULT public.next_snowflake() NOT NULL,
    created_at timestamp with time zone GENERATED ALWAYS AS (public.snowflake_timestamp(id)) STORED
)
PARTITION BY RANGE (id);
CREATE TABLE public.posts_2026_10 (
    id bigint DEFAULT public.next_snowflake() NOT NULL,
    created_at timestamp with time zone GENERATED ALWAYS AS (public.snowflake_timestamp(id)) STORED
);
CREATE TABLE public.posts_2026_11 (
    id bigint DEFAULT public.next_snowflake() NOT NULL,
    created_at timestamp with time zone GENERATED ALWAYS AS (public.snowflake_timestamp(id)) STORED
);
CREATE TABLE public.posts_2026_12 (
    id bigint DEFAULT public.next_snowflake() NOT NULL,
    created_at timestamp with time zone GENERATED ALWAYS AS (public.snowflake_timestamp(id)) STORED
);
CREATE TABLE public.posts_2027_01 (
    id bigint DEFAULT public.next_snowflake() NOT NULL,
    created_at timestamp with time zone GENERATED ALWAYS AS (public.snowflake_timestamp(id)) STORED
);
CREATE TABLE public.posts_2027_02 (
    id bigint DEFAULT public.next_snowflake() NOT NULL,
    created_at timestamp with time zone GENERATED ALWAYS AS (public.snowflake_timestamp(id)) STORED
);
CREATE TABLE public.posts_2027_03 (
    id bigint DEFAULT public.next_snowflake() NOT NULL,
    created_at timestamp with time zone GENERATED ALWAYS AS (public.snowflake_timestamp(id)) STORED
);
CREATE VIEW public.recent_events AS
 SELECT events.id,
    events.event,
    events.tag,
    events.key
   FROM public.events
  WHERE (public.snowflake_within(events.id, tstzrange((now() - '1 day'::interval), NULL::timestamp with time zone)) AND (events.event OPERATOR(public.>=) (now() - '1 day'::interval)));
CREATE TABLE public.users (
    id bigint DEFAULT public.next_snowflake() NOT NULL,
    name text
);
ALTER TABLE ONLY public.posts ATTACH PARTITION public.posts_2026_10 FOR VALUES FROM ('760652129894400000') TO ('771886153728000000');
ALTER TABLE ONLY public.posts ATTACH PARTITION public.posts_2026_11 FOR VALUES FROM ('771886153728000000') TO ('782757789696000000');
ALTER TABLE ONLY public.posts ATTACH PARTITION public.posts_2026_12 FOR VALUES FROM ('782757789696000000') TO ('793991813529600000');
ALTER TABLE ONLY public.posts ATTACH PARTITION public.posts_2027_01 FOR VALUES FROM ('793991813529600000') TO ('805225837363200000');
ALTER TABLE ONLY public.posts ATTACH PARTITION public.posts_2027_02 FOR VALUES FROM ('805225837363200000') TO ('815372697600000000');
ALTER TABLE ONLY public.posts ATTACH PARTITION public.posts_2027_03 FOR VALUES FROM ('815372697600000000') TO ('826606721433600000');
COPY public.events (id, event, tag, key) FROM stdin;
781691699045859330	01M8FW0HDP8M39D1C0SX2QAYYX	9qg6jros22222222	01a21fc0-45b6-7ebc-ad34-06fd1f8f19ea
781691699045859331	01M8FW0HDP8M39D1C29EG9DVZW	9qg6jros22222223	01a21fc0-45b6-7ebc-ad34-08b7da7feb17
\.
COPY public.orders (id, user_id) FROM stdin;
1	1
2	2
781691699041665025	1
781691699045859328	2
781691699045859329	781691699041665024
\.
COPY public.pages (id, event, tag, key) FROM stdin;
1526741599707136	01M8FW0HDQP65948CYGKKYW2BH	9qg6jros2222g222	01a21fc0-45b7-7f88-9443-4e080e76670a
\.
COPY public.posts_2026_10 (id) FROM stdin;
\.
COPY public.posts_2026_11 (id) FROM stdin;
781691699050053632
\.
COPY public.posts_2026_12 (id) FROM stdin;
\.
COPY public.posts_2027_01 (id) FROM stdin;
\.
COPY public.posts_2027_02 (id) FROM stdin;
\.
COPY public.posts_2027_03 (id) FROM stdin;
\.
COPY public.users (id, name) FROM stdin;
1	Ada
2	Grace
781691699041665024	Edsger
\.
COPY snowdrift_tables.backfill (generator, sequence, unit) FROM stdin;
\.
COPY snowdrift_tables.generator (name, id, kind, layout, datacenter, worker, partition, sequence_min, sequence_max, this_node_only, origin) FROM stdin;
web	1	snowflake	si	\N	\N	\N	0	255	f	2026-11-28 01:23:44.139+00
own sno	2	sno	\N	\N	\N	7	0	65535	f	\N
\.
COPY snowdrift_tables.mark (unix_ms, system_identifier, origin_ms, server_start, creation_xid, number, origin_generators, writer, timeline, citus_group, structure, confirmed) FROM stdin;
1795829027164	7713026874129187717	1795829024094	2026-11-28 01:23:43.835232+00	727	0	0	1	1	-1	1	t
\.
SELECT pg_catalog.setval('snowdrift_tables.generator_id', 2, true);
ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.orders
    ADD CONSTRAINT orders_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.pages
    ADD CONSTRAINT pages_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.posts
    ADD CONSTRAINT posts_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.posts_2026_10
    ADD CONSTRAINT posts_2026_10_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.posts_2026_11
    ADD CONSTRAINT posts_2026_11_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.posts_2026_12
    ADD CONSTRAINT posts_2026_12_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.posts_2027_01
    ADD CONSTRAINT posts_2027_01_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.posts_2027_02
    ADD CONSTRAINT posts_2027_02_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.posts_2027_03
    ADD CONSTRAINT posts_2027_03_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_pkey PRIMARY KEY (id);
CREATE INDEX events_event_idx ON public.events USING btree (event);
CREATE INDEX events_tag_idx ON public.events USING hash (tag);
ALTER INDEX public.posts_pkey ATTACH PARTITION public.posts_2026_10_pkey;
ALTER INDEX public.posts_pkey ATTACH PARTITION public.posts_2026_11_pkey;
ALTER INDEX public.posts_pkey ATTACH PARTITION public.posts_2026_12_pkey;
ALTER INDEX public.posts_pkey ATTACH PARTITION public.posts_2027_01_pkey;
ALTER INDEX public.posts_pkey ATTACH PARTITION public.posts_2027_02_pkey;
ALTER INDEX public.posts_pkey ATTACH PARTITION public.posts_2027_03_pkey;
CREATE TRIGGER snowdrift_watermark_1 AFTER INSERT OR UPDATE OF id ON public.events FOR EACH ROW EXECUTE FUNCTION snowdrift.hold_row();
ALTER TABLE public.events ENABLE ALWAYS TRIGGER snowdrift_watermark_1;
CREATE TRIGGER snowdrift_watermark_1 AFTER INSERT OR UPDATE OF id ON public.pages FOR EACH ROW EXECUTE FUNCTION snowdrift.hold_row('web');
ALTER TABLE public.pages ENABLE ALWAYS TRIGGER snowdrift_watermark_1;
CREATE TRIGGER snowdrift_watermark_2 AFTER INSERT OR UPDATE OF event ON public.pages FOR EACH ROW EXECUTE FUNCTION snowdrift.hold_row();
ALTER TABLE public.pages ENABLE ALWAYS TRIGGER snowdrift_watermark_2;
CREATE TRIGGER snowdrift_watermark_4 AFTER INSERT OR UPDATE OF key ON public.pages FOR EACH ROW EXECUTE FUNCTION snowdrift.hold_row();
ALTER TABLE public.pages ENABLE ALWAYS TRIGGER snowdrift_watermark_4;
ALTER TABLE ONLY public.orders
    ADD CONSTRAINT orders_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id);
