# pg_partman manages partitions of IDs: in fixed steps for bigint columns; from version 5.2 on, by month for uuid and text
# columns, with Snowdrift's encoders and decoders.
use strict;
use warnings FATAL => 'all';
use Test::More;
use Snowdrift;

my $node = new_server('partman');
$node->append_conf('postgresql.conf', "timezone = 'UTC'\n");
start_with_clock($node, '2026-11-21 12:00:00');
my $version = $node->safe_psql('postgres',
	"SELECT default_version FROM pg_available_extensions WHERE name = 'pg_partman'");
my ($major, $minor) = $version =~ /^(\d+)\.(\d+)/;
# has(MAJOR, MINOR): whether pg_partman has at least this version
sub has { return $major > $_[0] || $major == $_[0] && $minor >= $_[1] }
if (!defined $major || !has(4, 7))
{
	my $found = 'needs pg_partman 4.7 or later, found ' . ($version || 'none');
	$node->stop;
	plan skip_all => $found unless $ENV{SNOWDRIFT_PARTMAN};
	fail("$found, though $ENV{SNOWDRIFT_PARTMAN} is installed");
	done_testing();
	exit;
}

$node->safe_psql('postgres',
	'CREATE SCHEMA ids; CREATE EXTENSION snowdrift SCHEMA ids;
	 CREATE SCHEMA partman; CREATE EXTENSION pg_partman SCHEMA partman');

# rows_outside(TABLE, TIME OF AN ID): how many rows are in the default partition or in that of another month
sub rows_outside
{
	my ($table, $time) = @_;
	return $node->safe_psql('postgres',
		"SELECT count(*) FROM $table
		 WHERE tableoid::regclass::text <> '${table}_p' || to_char($time, 'YYYYMMDD')");
}

# The columns that pg_partman decodes: type, ID of a row of the time t, encoder, and type of the IDs
my %columns = (
	ulid_as_uuid => [ 'uuid', 'ids.ulid_at(t)::uuid', 'snowdrift.ulid_time_encoder', 'ulid' ],
	ulid_as_text => [ 'text COLLATE "C"', 'ids.ulid_at(t)::text', 'ids.ulid_boundary', 'ulid' ],
	uuidv7 => [ 'uuid', 'ids.uuidv7_at(t)', 'snowdrift.uuidv7_time_encoder', 'uuidv7' ],
	uuidv7_as_text => [ 'text COLLATE "C"', 'ids.uuidv7_at(t)::text', 'ids.uuidv7_boundary', 'uuidv7' ],
	sno_as_uuid => [ 'uuid', 'ids.make_sno(t, 0, 0, n::int)::uuid', 'snowdrift.sno_time_encoder', 'sno' ],
	sno_as_text =>
	  [ 'text COLLATE "C"', 'ids.make_sno(t, 0, 0, n::int)::text', 'ids.sno_boundary', 'sno' ]);

foreach my $table (has(5, 2) ? sort keys %columns : ())
{
	my ($type, $id, $encoder, $kind) = @{ $columns{$table} };
	my $month = "date_trunc('month', snowdrift.${kind}_time_decoder(id::text))";
	$node->safe_psql('postgres',
		"CREATE TABLE $table (id $type PRIMARY KEY) PARTITION BY RANGE (id);
		 SELECT partman.create_parent('public.$table', 'id', '1 month', p_premake => 2,
			p_start_partition => (date_trunc('month', now()) - interval '3 months')::text,
			p_time_encoder => '$encoder', p_time_decoder => 'snowdrift.${kind}_time_decoder')");
	is( $node->safe_psql('postgres',
			"SELECT count(*) FROM pg_inherits WHERE inhparent = '$table'::regclass"),
		7, "$table: three past months, this month, two future months, and a default partition");

	# Rows every ten days, and around the start of each month
	$node->safe_psql('postgres',
		"INSERT INTO $table SELECT $id FROM (
			SELECT row_number() OVER () AS n, t FROM (
				SELECT generate_series(date_trunc('month', now()) - interval '3 months',
					date_trunc('month', now()) + interval '2 months', '10 days') AS t
				UNION ALL SELECT generate_series(date_trunc('month', now()) - interval '2 months',
					date_trunc('month', now()) + interval '2 months', '1 month') + d
				FROM (VALUES (interval '0'), ('-4 ms')) AS deltas(d)) AS times) AS numbered");
	is(rows_outside($table, $month), 0, '... each row is in the partition of its month');

	# Rows in the last partition make pg_partman create further ones.
	$node->safe_psql('postgres', "SELECT partman.run_maintenance('public.$table')");
	is( $node->safe_psql('postgres',
			"SELECT count(*) FROM pg_class WHERE relname = '${table}_p'
				|| to_char(date_trunc('month', now()) + interval '4 months', 'YYYYMMDD')"),
		1, '... maintenance creates the next months');

	my $kept = $node->safe_psql('postgres',
		"SELECT count(*) FROM $table WHERE $month >= date_trunc('month', now()) - interval '1 month'");
	$node->safe_psql('postgres',
		"UPDATE partman.part_config SET retention = '1 month', retention_keep_table = false
		 WHERE parent_table = 'public.$table';
		 SELECT partman.run_maintenance('public.$table')");
	is( $node->safe_psql('postgres',
			"SELECT count(*) || ' rows since ' || min($month) FROM $table"),
		$node->safe_psql('postgres',
			"SELECT $kept || ' rows since ' || date_trunc('month', now()) - interval '1 month'"),
		'... and drops the months before the last one');
}

# A bigint column is partitioned by number. In the default layout, a day is a fixed number of IDs. Version 4 has another
# parameter before the interval.
my $day = '(86400000::bigint << 22)';
my $native = has(5, 0) ? '' : q{'native', };
$node->safe_psql('postgres',
	"CREATE TABLE posts (id bigint PRIMARY KEY) PARTITION BY RANGE (id);
	 SELECT partman.create_parent('public.posts', 'id', $native$day\::text, p_premake => 7,
		p_start_partition => ids.snowflake_boundary(date_trunc('day', now(), 'UTC') - interval '3 days')::text);
	 INSERT INTO posts SELECT ids.make_snowflake(t, 0, 0, 0)
	 FROM generate_series(date_trunc('day', now()) - interval '3 days', now(), '1 hour') AS t");
is( $node->safe_psql('postgres',
		"SELECT count(*), count(DISTINCT tableoid), count(*) FILTER (WHERE tableoid = 'posts_default'::regclass)
		 FROM posts GROUP BY ids.snowflake_timestamp(id)::date ORDER BY min(id)"),
	"24|1|0\n24|1|0\n24|1|0\n13|1|0", 'Snowflakes: each day is in one partition');
is( $node->safe_psql('postgres',
		"SELECT DISTINCT upper(times) - lower(times) FROM snowdrift.partitions('posts', 'snowflake')
		 WHERE times IS NOT NULL"),
	'1 day', '... of a day in UTC');
my $last = q{SELECT max(upper(times)) FROM snowdrift.partitions('posts', 'snowflake')};
is($node->safe_psql('postgres', $last), '2026-11-26 00:00:00+00', '... as many as requested');

# Maintenance counts from the greatest ID in the table, not from the clock.
$node->safe_psql('postgres', "SELECT partman.run_maintenance('public.posts')");
is($node->safe_psql('postgres', $last), '2026-11-29 00:00:00+00', '... and maintenance creates seven after that of the last ID');
$node->safe_psql('postgres',
	"UPDATE partman.part_config SET retention = ($day)::text, retention_keep_table = false
	 WHERE parent_table = 'public.posts'");
set_clock($node, '2026-11-24 12:00:00');
$node->safe_psql('postgres', "SELECT partman.run_maintenance('public.posts')");
is($node->safe_psql('postgres', $last), '2026-11-29 00:00:00+00', '... also when the clock is later than the IDs');
is($node->safe_psql('postgres', 'SELECT min(ids.snowflake_timestamp(id)) FROM posts'),
	'2026-11-20 00:00:00+00', '... and drops the days that are older than the last ID by more than a day');
$node->safe_psql('postgres',
	"INSERT INTO posts SELECT ids.next_snowflake(); SELECT partman.run_maintenance('public.posts')");
is( $node->safe_psql('postgres',
		"SELECT min(lower(times)), max(upper(times)) FROM snowdrift.partitions('posts', 'snowflake')"),
	'2026-11-23 00:00:00+00|2026-12-02 00:00:00+00', '... so both continue with the next ID');

# Partitions start at multiples of the interval after the epoch, Friday, 2021-01-01.
$node->safe_psql('postgres',
	"CREATE TABLE weeks (id bigint PRIMARY KEY) PARTITION BY RANGE (id);
	 SELECT partman.create_parent('public.weeks', 'id', $native(7 * $day)::text,
		p_start_partition => ids.snowflake_boundary('2026-11-23Z')::text)");
is( $node->safe_psql('postgres',
		"SELECT to_char(min(lower(times)), 'FMDay YYYY-MM-DD') FROM snowdrift.partitions('weeks', 'snowflake')"),
	'Friday 2026-11-20', '... and weeks start on Fridays');

# Columns that pg_partman does not support: type, and the kind of its IDs
my %unsupported = ('ids.ulid' => 'ulid', 'ids.sno' => 'sno');
%unsupported = (%unsupported, uuid => 'uuidv7', text => 'ulid') if !has(5, 2);
my $month = has(5, 0) ? q{'1 month'} : q{'native', 'monthly'};
foreach my $type (sort keys %unsupported)
{
	my $kind = $unsupported{$type};
	my $encoder = has(5, 2) ? ", p_time_encoder => 'ids.${kind}_boundary', p_time_decoder => 'snowdrift.${kind}_time_decoder'" : '';
	like(
		error_of($node,
			"BEGIN; CREATE TABLE events (id $type PRIMARY KEY) PARTITION BY RANGE (id);
			 SELECT partman.create_parent('public.events', 'id', $month$encoder)"),
		qr/pg_partman only supports/, "a column of type $type is an error");
}
SKIP:
{
	skip "needs pg_partman 5.2 or later, found $version", 1 unless has(5, 2);
	like(
		error_of($node,
			"CREATE TABLE visits (id bigint PRIMARY KEY) PARTITION BY RANGE (id);
			 SELECT partman.create_parent('public.visits', 'id', '1 month',
				p_time_encoder => 'ids.snowflake_boundary', p_time_decoder => 'ids.snowflake_timestamp')"),
		qr/can only be used with text/, '... and so is an encoder for a bigint');
}

$node->stop;
done_testing();
