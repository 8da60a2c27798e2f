# The daily jobs of docs/partitioning.md on a server whose clock was two years ahead for one night: they drop nothing that
# the clock alone makes old, also if rows were inserted that night. A drop that waits for a reader does not stop others.
use strict;
use warnings FATAL => 'all';
use Test::More;
use Snowdrift;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

my $node = new_server('jobs');
start_with_clock($node, '2026-11-21 12:00:00');
$node->safe_psql('postgres', 'CREATE EXTENSION snowdrift');

my $create = q{SELECT count(*) FROM snowdrift.create_partitions('posts', '1 month')};
my $drop = q{SELECT count(*) FROM snowdrift.drop_partitions('posts', '1 year')};

# night(ROWS, INSERT): fills a table with rows of the months before 2026-12, sets the clock ahead and runs the jobs, in both
# orders. Returns their results.
sub night
{
	my ($months, $insert) = @_;
	set_clock($node, '2026-11-21 12:00:00');
	$node->safe_psql('postgres', "DROP TABLE IF EXISTS posts;
		CREATE TABLE posts (id bigint PRIMARY KEY DEFAULT next_snowflake()) PARTITION BY RANGE (id);
		SELECT snowdrift.create_partitions('posts', '1 month', timestamptz '2026-11-21Z' - interval '$months months', now() + interval '3 months');
		INSERT INTO posts SELECT make_snowflake(timestamptz '2026-11-05Z' - m * interval '1 month', 0, 0, n)
			FROM generate_series(0, $months - 1) AS m, generate_series(1, 10) AS n");
	set_clock($node, '2028-11-21 03:00:00');
	my @results = (error_of($node, $drop) =~ /contains the present time/ ? 'no present' : 'dropped', $node->safe_psql('postgres', $create));
	$node->safe_psql('postgres', 'INSERT INTO posts SELECT snowflake_boundary(now()) + n FROM generate_series(1, 10) AS n') if $insert;
	my ($rc, $out, $err) = $node->psql('postgres', $drop);
	push @results, $rc == 0 ? $out : $err =~ /an age must not drop half or more.*\nDETAIL:.*\nHINT:.*drop_partitions_before/ ? 'refused' : $err;
	set_clock($node, '2026-11-21 12:00:00');
	push @results, $node->safe_psql('postgres', q{SELECT count(*) FROM posts WHERE id < snowflake_boundary('2028-01-01Z')});
	return join(' ', @results);
}

is(night(1, 0), 'no present 4 0 10', 'one month of rows: the jobs drop nothing');
is(night(14, 0), 'no present 4 2 130', '14 months: only the rows are dropped that are a year older than the greatest ID');
is(night(1, 1), 'no present 4 refused 10', 'one month, and rows of that night: nothing is dropped');
is(night(14, 1), 'no present 4 refused 140', '14 months, and rows of that night: nothing is dropped');

# While a drop waits for a reader of one partition, others read and write the table. With a single request for the lock, they
# would queue behind it until the reader ends, and statement_timeout would cancel them.
set_clock($node, '+0');    # not a clock that stands still, by which pg_sleep() never ends
$node->safe_psql('postgres', q{DROP TABLE posts;
	CREATE TABLE posts (id bigint PRIMARY KEY DEFAULT next_snowflake()) PARTITION BY RANGE (id);
	SELECT snowdrift.create_partitions('posts', '1 month', '2024-01-01Z', '2024-02-01Z'), snowdrift.create_partitions('posts', '1 month')});
my $reader = $node->background_psql('postgres');
$reader->query_safe('BEGIN; SELECT count(*) FROM posts');
my $dropper = $node->background_psql('postgres');
$dropper->query_until(qr/started/, "\\echo started\nSELECT count(*) FROM snowdrift.drop_partitions_before('posts', '2024-02-15Z');\n");
$node->poll_query_until('postgres', q{SELECT count(*) > 0 FROM pg_locks WHERE relation = 'posts'::regclass AND mode = 'ShareUpdateExclusiveLock' AND granted})
  or die 'the drop does not begin';
is( $node->safe_psql('postgres', q{SET statement_timeout = '20s'; INSERT INTO posts DEFAULT VALUES; INSERT INTO posts DEFAULT VALUES; SELECT count(*) FROM posts}),
	2, 'others insert and read while a drop waits for a reader');
is($node->safe_psql('postgres', q{SELECT count(*) FROM snowdrift.partitions('posts') WHERE lower(times) < '2025-01-01Z'}), 2, '... which has dropped nothing');
$reader->query_safe('COMMIT');
$node->poll_query_until('postgres', q{SELECT to_regclass('posts_2024_01') IS NULL}) or die 'the drop does not end';
pass('... and drops when the reader ends');
$reader->quit;
$dropper->quit;

# A default partition is locked exclusively, too.
$node->safe_psql('postgres', 'CREATE TABLE posts_default PARTITION OF posts DEFAULT');
$reader = $node->background_psql('postgres');
$reader->query_safe('BEGIN; SELECT count(*) FROM posts');
my $creator = $node->background_psql('postgres');
$creator->query_until(qr/started/, "\\echo started\nSELECT count(*) FROM snowdrift.create_partitions('posts', '1 month', '2023-05-01Z', '2023-05-01Z');\n\\echo ended\n");
$node->poll_query_until('postgres', q{SELECT count(*) > 0 FROM pg_locks WHERE relation = 'posts_default'::regclass AND mode = 'ShareUpdateExclusiveLock' AND granted})
  or die 'the call does not begin';
is(error_of($node, q{SET statement_timeout = '20s'; SELECT count(*) FROM posts; INSERT INTO posts DEFAULT VALUES}) =~ s/: .*//sr, 'no error, but',
	'others read and write while partitions are created beside a default partition');
$reader->query_safe('COMMIT');
$creator->query_until(qr/ended/, '');
is($node->safe_psql('postgres', q{SELECT to_regclass('posts_2023_05') IS NOT NULL}), 't', '... which ends when the reader ends');
$reader->quit;
$creator->quit;

$node->stop;
done_testing();
