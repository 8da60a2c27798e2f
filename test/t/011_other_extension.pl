# The dump of a database that uses another extension with a type ulid can be restored after its CREATE
# EXTENSION command is changed to this extension.
use strict;
use warnings FATAL => 'all';
use Test::More;
use Snowdrift;
use PostgreSQL::Test::Cluster;

my $node = new_server('successor');
$node->start;
$node->safe_psql('postgres', <<'DUMP');
SET statement_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;

CREATE EXTENSION IF NOT EXISTS snowdrift WITH SCHEMA public;

CREATE TABLE public.users (
    id public.ulid DEFAULT public.gen_ulid() NOT NULL,
    name text
);
CREATE TABLE public.events (
    id public.ulid DEFAULT public.gen_monotonic_ulid() NOT NULL,
    user_id public.ulid,
    at timestamp without time zone GENERATED ALWAYS AS ((id)::timestamp without time zone) STORED,
    reference uuid GENERATED ALWAYS AS ((id)::uuid) STORED
);
-- pg_dump omits casts on assignment.
CREATE TABLE public.copies (
    id public.ulid DEFAULT gen_random_uuid(),
    floor public.ulid DEFAULT (now())::public.ulid,
    uuid uuid GENERATED ALWAYS AS (id) STORED,
    bytes bytea GENERATED ALWAYS AS (id) STORED,
    at timestamp with time zone GENERATED ALWAYS AS (id) STORED,
    utc timestamp without time zone GENERATED ALWAYS AS (id) STORED
);
CREATE VIEW public.recent AS
 SELECT events.id,
    (events.id)::timestamp with time zone AS at,
    (events.id)::bytea AS bytes
   FROM public.events
  WHERE (events.id OPERATOR(public.>=) ('2023-01-01 00:00:00'::timestamp without time zone)::public.ulid);

CREATE FUNCTION public.day_start(day timestamp without time zone) RETURNS public.ulid
    LANGUAGE sql IMMUTABLE
    AS $$ SELECT date_trunc('day', day)::public.ulid $$;

COPY public.users (id, name) FROM stdin;
01GV5PA9EQG7D82Q3Y4PKBZSYV	ada
01GV5PAPGZ1S48N62VWKVRM8WR	grace
\.
COPY public.events (id, user_id) FROM stdin;
01GV5PC1NWSDB5AW7FXJVT3WDZ	01GV5PA9EQG7D82Q3Y4PKBZSYV
01GV5PC1NWSDB5AW7FXJVT3WE0	01GV5PA9EQG7D82Q3Y4PKBZSYV
01GHZZZZZZSDB5AW7FXJVT3WE0	01GV5PAPGZ1S48N62VWKVRM8WR
\.

ALTER TABLE ONLY public.users ADD CONSTRAINT users_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.events ADD CONSTRAINT events_pkey PRIMARY KEY (id);
CREATE INDEX events_at ON public.events USING btree (((id)::timestamp without time zone));
ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id);
DUMP

sub result { return $node->safe_psql('postgres', "SET TIME ZONE 'UTC'; $_[0]") }

is( result("SELECT id, at, reference FROM events WHERE id = '01GV5PC1NWSDB5AW7FXJVT3WDZ'"),
	'01GV5PC1NWSDB5AW7FXJVT3WDZ|2023-03-10 12:01:46.684|0186cb66-06bc-cb56-5570-efecb7a1f1bf',
	'rows and their generated columns are restored');
is(result('SELECT count(*) FROM recent'), '2', 'a view compares a ULID with a timestamp as before');
is( result("SELECT at, bytes FROM recent ORDER BY id LIMIT 1"),
	'2023-03-10 12:01:46.684+00|\x0186cb6606bccb565570efecb7a1f1bf',
	'... and casts to timestamptz and bytea');
is(result("SELECT day_start('2023-03-10 15:00')"), '01GV4D2E000000000000000000', 'a function casts too');
is( result("INSERT INTO copies (id) VALUES ('01GV5PC1NWSDB5AW7FXJVT3WDZ') RETURNING uuid, bytes, at, utc, floor = now()::ulid"),
	'0186cb66-06bc-cb56-5570-efecb7a1f1bf|\x0186cb6606bccb565570efecb7a1f1bf|2023-03-10 12:01:46.684+00|2023-03-10 12:01:46.684|t',
	'columns of other types take ULIDs without a cast');
is(result('INSERT INTO copies DEFAULT VALUES RETURNING uuid = id::uuid'), 't', '... and ULIDs take UUIDs');
is(result("INSERT INTO users (name) VALUES ('alan') RETURNING id > '01GV5PAPGZ1S48N62VWKVRM8WR'"),
	't', 'gen_ulid() generates the new IDs');
is( result("INSERT INTO events (user_id) SELECT id FROM users RETURNING at > '2026-01-01'"),
	"t\nt\nt", '... and so does gen_monotonic_ulid()');
is( result('SELECT count(*), count(DISTINCT e.id) FROM events AS e JOIN users AS u ON u.id = user_id'),
	'6|6', 'foreign keys join');
$node->stop;

done_testing();
