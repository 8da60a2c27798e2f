# IDs with PostgreSQL's own extensions and programs: postgres_fdw, btree_gist, parallel pg_dump, logical decoding
use strict;
use warnings FATAL => 'all';
use Test::More;
use Snowdrift;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

my $node = new_server('contrib', allows_streaming => 'logical');
$node->start;
my $available = $node->safe_psql('postgres',
	"SELECT count(*) FROM pg_available_extensions WHERE name IN ('postgres_fdw', 'btree_gist', 'btree_gin')");
plan skip_all => "PostgreSQL's additional modules are not installed" if $available < 3;

# ---- postgres_fdw, from one database to another
my ($host, $port) = ($node->host, $node->port);
$node->safe_psql('postgres', q{
	CREATE EXTENSION snowdrift;
	CREATE TABLE orders (id ulid PRIMARY KEY, device sno UNIQUE, number bigint, total int);
	INSERT INTO orders SELECT ulid_at(t), sno_at(t), next_snowflake(), n
		FROM generate_series(1, 1000) AS n, LATERAL (SELECT timestamptz '2026-01-01' + n * interval '1 hour') AS time (t);
	CREATE DATABASE analysis;
});
$node->safe_psql('analysis', qq{
	CREATE EXTENSION snowdrift;
	CREATE EXTENSION postgres_fdw;
	CREATE SERVER shop FOREIGN DATA WRAPPER postgres_fdw
		OPTIONS (host '$host', port '$port', dbname 'postgres', extensions 'snowdrift');
	CREATE USER MAPPING FOR CURRENT_USER SERVER shop;
	IMPORT FOREIGN SCHEMA public LIMIT TO (orders) FROM SERVER shop INTO public;
});

# remote(CONDITION): the statement that postgres_fdw sends, and whether the rows are those of the remote table
sub remote
{
	my ($condition) = @_;
	my $plan = $node->safe_psql('analysis', "EXPLAIN (VERBOSE, COSTS OFF) SELECT total FROM orders WHERE $condition");
	my $query = "SELECT sum(total), count(*) FROM orders WHERE $condition";
	is($node->safe_psql('analysis', $query), $node->safe_psql('postgres', $query), "rows: $condition");
	unlike($plan, qr/^\s*Filter:/m, "no row is filtered here: $condition");
	$plan =~ s/OPERATOR\(\w+\.(.*?)\)/$1/g;
	return $plan =~ /Remote SQL: .* WHERE (.*)/ ? $1 : "the whole table:\n$plan";
}

my ($first, $second, $device) = split /\|/, $node->safe_psql('postgres',
	'SELECT min(id), max(id), min(device) FROM orders');
like(remote("id = '$first'"), qr/\(id = '$first'/, '= is sent');
like(remote("id >= '$first' AND id < '$second'"), qr/id >= .* AND .*id < /, 'a range is sent');
like(remote("id IN ('$first', '$second')"), qr/id = ANY/, 'IN is sent');
like(remote("id = ANY ('{$first,$second}'::ulid[])"), qr/id = ANY/, '= ANY is sent');
like(remote("device = ANY ('{$device}'::sno[])"), qr/device = ANY/, '= ANY of sno values is sent');
like(remote("id >= timestamptz '2026-01-20 00:00Z' AND id < timestamptz '2026-01-21 00:00Z'"),
	qr/id >= .*id <= /, 'a range of time is sent as a range of IDs');
like(remote("ulid_within(id, '[2026-01-20 00:00Z, 2026-01-21 00:00Z)')"), qr/id >= .*id <= /, 'a time predicate, too');
my $prepared = $node->safe_psql('analysis', qq{
	SET plan_cache_mode = force_generic_plan;
	PREPARE orders_of (ulid[]) AS SELECT total FROM orders WHERE id = ANY (\$1);
	EXPLAIN (VERBOSE, COSTS OFF) EXECUTE orders_of ('{$first,$second}');
	SELECT count(*) FROM orders WHERE id = ANY ('{$first,$second}');
});
like($prepared, qr/ANY \(\$1::\S*\[\]\)/, 'a parameter of an array type is sent');

# ---- btree_gist has operator classes for uuid
$node->safe_psql('postgres', q{
	CREATE EXTENSION btree_gist;
	CREATE EXTENSION btree_gin;
	CREATE INDEX orders_gin ON orders USING gin ((id::uuid), (device::bytea));
	CREATE TABLE bookings (room ulid, device sno, during tstzrange,
		EXCLUDE USING gist ((room::uuid) WITH =, during WITH &&),
		EXCLUDE USING gist ((device::bytea) WITH =, during WITH &&));
});
my $insert = "INSERT INTO bookings VALUES ('$first', '$device', '[2026-01-01, 2026-01-05)')";
$node->safe_psql('postgres', $insert);
like(error_of($node, "INSERT INTO bookings VALUES ('$first', NULL, '[2026-01-04, 2026-01-06)')"),
	qr/23P01/, 'an exclusion constraint on the uuid of a ULID');
like(error_of($node, "INSERT INTO bookings VALUES (NULL, '$device', '[2026-01-04, 2026-01-06)')"),
	qr/23P01/, 'an exclusion constraint on the bytes of a sno');
$node->safe_psql('postgres', "INSERT INTO bookings VALUES ('$second', NULL, '[2026-01-04, 2026-01-06)')");

my $plan = $node->safe_psql('postgres', qq{
	SET enable_seqscan = off;
	EXPLAIN (COSTS OFF) SELECT total FROM orders WHERE id::uuid = '$first'::ulid::uuid AND device::bytea = '$device'::sno::bytea;
});
like($plan, qr/Bitmap Index Scan on orders_gin\n\s+Index Cond: .*uuid.*bytea/, 'a GIN index of the uuid and the bytes');

# ---- parallel dump and restore
my $dump = $node->basedir . '/dump';
command_ok([ 'pg_dump', '-Fd', '-j', '3', '-f', $dump, '-d', $node->connstr('postgres') ], 'a parallel dump');
$node->safe_psql('postgres', 'CREATE DATABASE restored');
command_ok([ 'pg_restore', '--exit-on-error', '-j', '3', '-d', $node->connstr('restored'), $dump ], 'a parallel restore');
my $rows = 'SELECT md5(string_agg(orders::text, chr(10) ORDER BY id)) FROM orders';
is($node->safe_psql('restored', $rows), $node->safe_psql('postgres', $rows), 'the same rows');

# ---- logical decoding sends the text forms of IDs, and the types' names
$node->safe_psql('postgres', "SELECT pg_create_logical_replication_slot('changes', 'test_decoding')");
$node->safe_psql('postgres', 'INSERT INTO orders VALUES (next_ulid(), next_sno(), next_snowflake(), 0)');
like(
	$node->safe_psql('postgres', "SELECT data FROM pg_logical_slot_get_changes('changes', NULL, NULL)"),
	qr/id\[ulid\]:'[0-9A-Z]{26}' device\[sno\]:'[2-9a-x]{16}' number\[bigint\]:\d+/, 'decoded changes contain the IDs');

$node->stop;
done_testing();
