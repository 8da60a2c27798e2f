# pg_partman 5 manages partitions of IDs: by month for uuid and text columns, with Snowdrift's encoders and
# decoders; in fixed steps for bigint columns.
use strict;
use warnings FATAL => 'all';
use Test::More;
use Snowdrift;

my $node = new_server('partman');
$node->append_conf('postgresql.conf', "timezone = 'UTC'\n");
$node->start;
my $version = $node->safe_psql('postgres',
	"SELECT default_version FROM pg_available_extensions WHERE name = 'pg_partman'");
my ($major, $minor) = $version =~ /^(\d+)\.(\d+)/;
if (!defined $major || $major < 5 || $major == 5 && $minor < 2)
{
	my $found = 'needs pg_partman 5.2 or later, found ' . ($version || 'none');
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

foreach my $table (sort keys %columns)
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

# A bigint column is partitioned by number. In the default layout, a day is a fixed number of IDs.
my $day = '(86400000::bigint << 22)';
$node->safe_psql('postgres',
	"CREATE TABLE posts (id bigint PRIMARY KEY) PARTITION BY RANGE (id);
	 SELECT partman.create_parent('public.posts', 'id', $day\::text, p_premake => 7,
		p_start_partition => ids.snowflake_boundary(date_trunc('day', now()) - interval '3 days')::text);
	 INSERT INTO posts SELECT ids.make_snowflake(t, 0, 0, 0)
	 FROM generate_series(date_trunc('day', now()) - interval '3 days', now(), '1 hour') AS t");
is( $node->safe_psql('postgres',
		"SELECT count(*), count(DISTINCT tableoid), count(*) FILTER (WHERE tableoid = 'posts_default'::regclass)
		 FROM posts GROUP BY ids.snowflake_timestamp(id)::date ORDER BY min(id) LIMIT 3"),
	"24|1|0\n24|1|0\n24|1|0", 'Snowflakes: each day is in one partition');
is( $node->safe_psql('postgres',
		"SELECT DISTINCT upper(times) - lower(times) FROM snowdrift.partitions('posts', 'snowflake')
		 WHERE times IS NOT NULL"),
	'1 day', '... of a day in UTC');
$node->safe_psql('postgres',
	"UPDATE partman.part_config SET retention = ($day)::text, retention_keep_table = false
	 WHERE parent_table = 'public.posts';
	 SELECT partman.run_maintenance('public.posts')");
is( $node->safe_psql('postgres', 'SELECT min(ids.snowflake_timestamp(id)) = date_trunc($$day$$, now()) - interval $$1 day$$ FROM posts'),
	't', '... and old days are dropped');

# Columns that pg_partman does not support
like(
	error_of($node,
		"CREATE TABLE events (id ids.ulid PRIMARY KEY) PARTITION BY RANGE (id);
		 SELECT partman.create_parent('public.events', 'id', '1 month',
			p_time_encoder => 'ids.ulid_boundary', p_time_decoder => 'snowdrift.ulid_time_decoder')"),
	qr/pg_partman only supports/, 'a column of type ulid is an error');
like(
	error_of($node,
		"CREATE TABLE visits (id bigint PRIMARY KEY) PARTITION BY RANGE (id);
		 SELECT partman.create_parent('public.visits', 'id', '1 month',
			p_time_encoder => 'ids.snowflake_boundary', p_time_decoder => 'ids.snowflake_timestamp')"),
	qr/can only be used with text/, '... and so is an encoder for a bigint');

$node->stop;
done_testing();
