# snowflake_at() repeats no ID, neither its own nor one of next_snowflake(): with many sessions, crashes, clocks that are
# set back, dumps, and after snowdrift.reset_clock()
use strict;
use warnings FATAL => 'all';
use Test::More;
use Snowdrift;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

my $node = new_server('origin');
$node->append_conf('postgresql.conf', "fsync = on\nwal_writer_delay = 10s\n");
start_with_clock($node, '2026-06-01 12:00:00');
$node->safe_psql('postgres', q{CREATE EXTENSION snowdrift; SELECT snowdrift.create_generator('own', 'snowflake', worker => 7)});

# The clock is set back right after the creation, also by a crash.
my $origins = q{SELECT string_agg(origin AT TIME ZONE 'UTC' || '', ' ') FROM snowdrift.generators WHERE kind = 'snowflake'};
is($node->safe_psql('postgres', $origins), '2026-06-01 12:00:00 2026-06-01 12:00:00', 'the origins are the time of the creation');
$node->safe_psql('postgres', 'CREATE TABLE ids (id bigint PRIMARY KEY)');
my $fill = q{INSERT INTO ids SELECT snowflake_at('2026-06-01 12:00Z'::timestamptz - i * interval '1 ms') FROM generate_series(1, 11000) AS i;
	INSERT INTO ids SELECT snowflake_at('2026-06-01 12:00Z'::timestamptz - i * interval '1 ms', 'own') FROM generate_series(1, 11000) AS i};
my $draw = q{INSERT INTO ids SELECT next_snowflake() FROM generate_series(1, 100);
	INSERT INTO ids SELECT next_snowflake('own') FROM generate_series(1, 100)};
$node->safe_psql('postgres', $fill);
for my $how ('stepped', 'restarted', 'crashed')
{
	$node->stop($how eq 'crashed' ? 'immediate' : 'fast') if $how ne 'stepped';
	start_with_clock($node, '2026-06-01 11:59:50') if $how ne 'stepped';
	set_clock($node, '2026-06-01 11:59:50');
	$node->safe_psql('postgres', "$draw; $fill");
}
is( $node->safe_psql('postgres', q{SELECT count(*), count(*) FILTER (WHERE id >= snowflake_boundary('2026-06-01 12:00Z')) FROM ids}),
	'88600|600', 'with a clock that was set back right after the creation: no ID is repeated');

# A generator that is created while the mark is old
$node->stop('fast');
start_with_clock($node, '2026-06-01 13:00:00');
$node->safe_psql('postgres', q{SELECT snowdrift.create_generator('later', 'snowflake', worker => 8)});
$node->stop('immediate');
start_with_clock($node, '2026-06-01 12:59:50');
is( $node->safe_psql('postgres', q{
		INSERT INTO ids SELECT snowflake_at('2026-06-01 13:00Z'::timestamptz - i * interval '1 ms', 'later') FROM generate_series(1, 11000) AS i;
		INSERT INTO ids SELECT next_snowflake('later') FROM generate_series(1, 100);
		SELECT snowflake_timestamp(max(id)) >= '2026-06-01 13:00Z' FROM ids}),
	't', '... also for a generator that is created later');

# Many sessions ask for the same times, while the server crashes.
set_clock($node, '+0');
my $ids = join ";\n", map { "SELECT snowflake_at($_) FROM generate_series(1, 20) AS i" }
  q{'2022-01-01Z'}, q{timestamptz '2022-01-01Z' + i % 3 * interval '1 ms'}, q{timestamptz '2022-01-01Z' + (random() * 1e6)::int * interval '1 ms'};
my (@files, $load);
for my $round (1 .. 3)
{
	$load = start_load($node, 4, $ids);
	wait_for_load($load, 1000 * $round);
	$node->stop('immediate') if $round < 3;
	push @files, end_load($load);
	start_with_clock($node, '+0') if $round < 3;
}
my ($repeated, $count) = duplicates(@files);
is($repeated, '', "$count IDs of past times, with two crashes: no duplicate");

# Others wait for a transaction that has taken IDs, but not for ever.
my $session = $node->background_psql('postgres');
$session->query_safe($_) for 'BEGIN', q{SELECT snowflake_at('2022-01-01Z')};
like(error_of($node, q{SET lock_timeout = '10ms'; SELECT snowflake_at('2023-01-01Z')}), qr/55P03/, 'lock_timeout limits how long a call waits');
$session->query_safe('COMMIT');
# A prepared transaction keeps its IDs.
$node->append_conf('postgresql.conf', 'max_prepared_transactions = 2');
$session->quit;
$node->stop('fast');
start_with_clock($node, '+0');
$node->safe_psql('postgres', q{BEGIN; INSERT INTO ids SELECT snowflake_at('2022-02-01Z') FROM generate_series(1, 3); PREPARE TRANSACTION 'filled'});
like(error_of($node, q{SET lock_timeout = '10ms'; SELECT snowflake_at('2022-02-01Z')}), qr/55P03/, '... also for a prepared transaction');
$node->safe_psql('postgres', q{COMMIT PREPARED 'filled'; INSERT INTO ids SELECT snowflake_at('2022-02-01Z') FROM generate_series(1, 3)});
is($node->safe_psql('postgres', q{SELECT count(*) FROM ids WHERE snowflake_timestamp(id) = '2022-02-01Z'}), 6, '... whose IDs are not repeated');

is( $node->safe_psql('postgres', q{
		BEGIN;
		SELECT count(snowflake_at('2022-05-01Z')) FROM generate_series(1, 4097);
		PREPARE TRANSACTION 'undone';
		ROLLBACK PREPARED 'undone';
		SELECT snowflake_timestamp(id) = '2022-05-01Z', snowflake_sequence(id) FROM snowflake_at('2022-05-01Z') AS id}),
	"4097\nt|0", '... and are free again after a rollback, also for the session that prepared it');

# A dump carries the origins and the IDs that were taken.
my $dump = $node->basedir . '/dump';
command_ok([ 'pg_dump', '-Fc', '-d', $node->connstr('postgres'), '-f', $dump ], 'the database is dumped');
my $own = q{SELECT name, origin FROM snowdrift.generators WHERE kind = 'snowflake' ORDER BY name};
$node->safe_psql('postgres', 'CREATE ROLE tenant LOGIN; CREATE DATABASE tenants OWNER tenant');
for my $target ('fresh', 'used', 'tenants')
{
	my $server = $node;
	if ($target ne 'tenants')
	{
		$server = new_server($target);
		start_with_clock($server, '-30');
	}
	my $database = $target eq 'tenants' ? 'tenants' : 'postgres';
	# Rows of its own add to those of the dump.
	$server->safe_psql($database, q{CREATE EXTENSION snowdrift; SELECT snowflake_at('2022-02-01Z'), snowflake_at('2022-03-01Z')})
	  if $target eq 'used';
	my @role = $target eq 'tenants' ? ('-U', 'tenant') : ();
	command_ok([ 'pg_restore', '-1', '-e', '--no-owner', @role, '-d', $server->connstr($database), $dump ],
		"... and restored ($target)");
	is($server->safe_psql($database, $own), $node->safe_psql('postgres', $own), '... with its origins');
	$server->safe_psql($database, "$fill; $draw; INSERT INTO ids SELECT snowflake_at('2022-02-01Z') FROM generate_series(1, 5000)");
	next if $target ne 'fresh';
	$load = start_load($server, 2, $ids);
	wait_for_load($load, 1000);
	($repeated, $count) = duplicates(@files, end_load($load));
	is($repeated, '', "$count IDs before the dump and after it: no duplicate");
	$server->stop;
}

# A clock that had jumped into the future
set_clock($node, '+600');
$node->safe_psql('postgres', 'CREATE DATABASE ahead');
$node->safe_psql($_, q{CREATE EXTENSION IF NOT EXISTS snowdrift; SELECT next_snowflake();
	SELECT snowdrift.create_generator('ahead', 'snowflake', worker => 9)}) for 'postgres', 'ahead';
my $creator = $node->background_psql('postgres');
$creator->query_safe($_) for 'BEGIN', q{SELECT snowdrift.create_generator('uncommitted', 'snowflake', worker => 10)};
# An open transaction has already used the origin.
my $filler = $node->background_psql('ahead', on_error_stop => 0);
$filler->query_safe($_) for 'BEGIN', q{SELECT snowflake_at('2022-01-01Z', 'ahead')};
# Only created, so the mark is not ahead
$node->safe_psql('postgres', "CREATE DATABASE $_") for 'unused', 'later';
$node->safe_psql('unused', 'CREATE EXTENSION snowdrift');
set_clock($node, '+0');
$node->safe_psql('later', 'CREATE EXTENSION snowdrift; SELECT next_snowflake()');
set_clock($node, '+600');
$node->safe_psql('later', q{SELECT snowdrift.create_generator('unused', 'snowflake', worker => 12)});
set_clock($node, '+0');
$node->safe_psql($_, 'SELECT snowdrift.reset_clock()') for 'postgres', 'ahead';
$creator->query_safe('COMMIT');
$creator->quit;
$filler->query(q{SELECT snowflake_at(clock_timestamp() + interval '300 s', 'ahead')});
like($filler->{stderr}, qr/timestamp out of range for IDs of past times/, 'after a reset, an open transaction reads the origin again');
$filler->quit;
for my $unused ([ 'unused', '' ], [ 'later', q{'unused'} ])
{
	my ($database, $name) = @$unused;
	my $next = "SELECT next_snowflake($name)";
	like(error_of_database($node, $database, $next), qr/55000: clock moved backwards/, "an origin is ahead of the clock ($database)");
	my $before = $node->safe_psql($database, 'SELECT unix_ms FROM snowdrift_tables.mark');
	$node->safe_psql($database, 'SELECT snowdrift.reset_clock()');
	cmp_ok($node->safe_psql($database, 'SELECT unix_ms FROM snowdrift_tables.mark'), '>=', $before, '... and a reset does not set the mark back');
	is($node->safe_psql($database, "SELECT snowflake_timestamp(next_snowflake($name)) < clock_timestamp() + interval '60 s'"), 't', '... and lets the generator continue');
	like(error_of_database($node, $database, 'SELECT snowdrift.reset_clock()'), qr/55000: clock does not need a reset/, '... and is not needed again');
}
for my $call (q{'ahead'}, q{'uncommitted'})
{
	like(error_of($node, "SELECT snowflake_at(clock_timestamp() + interval '300 s', $call)"),
		qr/22008: timestamp out of range for IDs of past times/, "after a reset, $call refuses times that are to come");
}
for my $call ('', q{, 'ahead'})
{
	like(error_of_database($node, 'ahead', "SELECT snowflake_at(clock_timestamp() + interval '300 s'$call)"),
		qr/22008: timestamp out of range for IDs of past times/, '... and so does an extension that was installed ahead of time');
}
is( $node->safe_psql('postgres', q{SELECT snowdrift.create_generator('after', 'snowflake', worker => 11);
		SELECT snowflake_at(clock_timestamp() - interval '1 s', 'after') < next_snowflake('after')}),
	"\nt", '... but new generators accept all times before their creation');
is( $node->safe_psql('postgres', q{
		SELECT string_agg(name, ' ' ORDER BY name) FROM snowdrift.generators
		WHERE origin = (SELECT origin FROM snowdrift.generators WHERE name IS NULL AND kind = 'snowflake')}),
	'ahead later own uncommitted', '... and the view shows the origins that the reset has made earlier');
$node->stop;

done_testing();
