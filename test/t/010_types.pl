# Databases with ulid and sno columns can be dumped and restored.
use strict;
use warnings FATAL => 'all';
use Test::More;
use Snowdrift;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

my $node = new_server('types');
$node->start;
$node->safe_psql('postgres', 'CREATE DATABASE original');
$node->safe_psql('original', q{
	CREATE SCHEMA "My IDs";
	CREATE EXTENSION snowdrift SCHEMA "My IDs";
	SET search_path = "My IDs", public;
	CREATE DOMAIN public.recent AS ulid CHECK (VALUE >= ulid_boundary('2024-01-01Z'));
	CREATE TABLE public.authors (
		id ulid PRIMARY KEY DEFAULT ulid_max(),
		created_at timestamptz GENERATED ALWAYS AS (id) STORED
	);
	CREATE TABLE public.posts (id sno, author ulid REFERENCES public.authors, tags recent[])
		PARTITION BY RANGE (id);
	CREATE TABLE public.posts_2024 PARTITION OF public.posts
		FOR VALUES FROM ('2222222222222222') TO (MAXVALUE);
	CREATE INDEX ON public.posts USING brin (id sno_minmax_multi_ops);
	CREATE INDEX ON public.posts USING hash (author);
	CREATE VIEW public.recent_posts AS
		SELECT id::uuid, max(author)::bytea AS author FROM public.posts
		WHERE id >= sno_boundary('2024-01-01Z') GROUP BY id;
	INSERT INTO public.authors
		SELECT ('\x018cc251f400'::bytea || substr(sha256(n::text::bytea), 1, 10))::ulid
		FROM generate_series(1, 1000) AS n;
	INSERT INTO public.posts
		SELECT make_sno('2024-01-01Z', 0, 0, row_number() OVER (ORDER BY id)::int), id, ARRAY[id]
		FROM public.authors;
});

# contents_of(DATABASE): all rows, in an order independent of their physical order
sub contents_of
{
	my ($database) = @_;
	return $node->safe_psql($database, q{
		SET TIME ZONE 'UTC';
		SELECT authors FROM authors ORDER BY id;
		SELECT posts FROM posts ORDER BY id;
		SELECT recent_posts FROM recent_posts ORDER BY 1;
	});
}

for my $format ('plain', 'custom')
{
	my $dump = $node->basedir . "/$format.dump";
	my $copy = "from_$format";
	$node->safe_psql('postgres', "CREATE DATABASE $copy");
	$node->command_ok([ 'pg_dump', "--format=$format", '-f', $dump, 'original' ],
		"a database with both types is dumped, in format $format");
	$node->command_ok(
		$format eq 'plain'
		? [ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', $dump, $copy ]
		: [ 'pg_restore', '--exit-on-error', '-d', $copy, $dump ],
		'... and restored');
	is(contents_of($copy), contents_of('original'), '... unchanged');
}

$node->stop;
done_testing();
