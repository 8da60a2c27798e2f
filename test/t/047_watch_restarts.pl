# Watches: after a restart, a crash, a failover, a restore or a step of the clock, a watched table refuses the IDs that
# readers may have passed, and no others. The clock stands still, except where a step is set.
use strict;
use warnings FATAL => 'all';
use Test::More;
use Snowdrift;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Time::HiRes qw(usleep);

my $day = '2026-06-01';

my $rows = 0;

# insert_at(NODE, TIME): inserts the row of a program that has drawn its ID at this time; returns the error, or "accepted"
sub insert_at
{
	my ($node, $time) = @_;
	my $number = ++$rows;
	my $error = error_of($node, "INSERT INTO events VALUES (snowflake_boundary('$time+00') + $number)");
	return $error =~ /^no error/ ? 'accepted' : $error;
}

# refuses_before(NODE, TIME, NAME): checks that a watch accepts IDs from this time on, and that the error says so
sub refuses_before
{
	my ($node, $time, $name) = @_;
	my ($second, $ms) = $time =~ /^(.*:\d\d)\.(\d{3})$/;
	my $before = $node->safe_psql('postgres', "SELECT timestamp '$time' - interval '1 ms'");
	my $shown = "$second" . ($ms eq '000' ? '' : ".$ms") . '+00';
	like(insert_at($node, $before), qr/ERROR:  55000: ID \d+ is below the latest watermark\n.*before \Q$shown\E, and would miss/s,
		"$name: a row below the watermark is refused, and the error states the time");
	is(insert_at($node, $time), 'accepted', '... and rows from this time on are accepted');
	is($node->psql('postgres', 'INSERT INTO events DEFAULT VALUES'), 0, '... as are rows whose IDs are drawn');
	return;
}

sub read_watermark { return shift->safe_psql('postgres', 'SELECT snowflake_timestamp(snowflake_watermark())') }
sub on_disk { return shift->safe_psql('postgres', 'SELECT watermark_ms FROM snowdrift_tables.mark') }

my $node = new_server('node', allows_streaming => 1);
$node->append_conf('postgresql.conf', "timezone = 'UTC'\nrestart_after_crash = on");
start_with_clock($node, "$day 12:00:00");
$node->safe_psql('postgres', q{CREATE EXTENSION snowdrift;
	CREATE TABLE events (id bigint PRIMARY KEY DEFAULT next_snowflake()); SELECT snowdrift.watch('events', 'id')});
like(insert_at($node, "$day 11:00:00.000"), qr/before \Q$day 12:00:00+00\E, and would miss/, 'watch() reads the watermark');
$node->safe_psql('postgres', 'INSERT INTO events DEFAULT VALUES');

# --- a watermark is on disk before it is returned, and written at most once per lease

is(on_disk($node) % 100_000, 3000, '... and records it with a lease of 3 s');
set_clock($node, "$day 12:00:10");
is(read_watermark($node), "$day 12:00:10+00", 'a later one is read');
my $first = on_disk($node);
is($first % 100_000, 13_000, '... and recorded');
set_clock($node, "$day 12:00:13");
read_watermark($node);
is(on_disk($node), $first, 'watermarks within the lease are not recorded');
refuses_before($node, "$day 12:00:13.000", 'while the server runs');
set_clock($node, "$day 12:00:20");
read_watermark($node);
is(on_disk($node), $first + 10_000, '... but later ones are');

# --- restarts

$node->stop;
start_with_clock($node, "$day 12:00:21");
refuses_before($node, "$day 12:00:23.000", 'after a restart');
set_clock($node, "$day 12:00:30");
read_watermark($node);
$node->stop('immediate');
start_with_clock($node, "$day 12:00:31");
refuses_before($node, "$day 12:00:33.000", 'after a crash');

# A backend is killed, and the server restarts itself.
set_clock($node, "$day 12:00:40");
read_watermark($node);
my $session = $node->background_psql('postgres');
kill 'KILL', $session->query_safe('SELECT pg_backend_pid()');
usleep(1000) until count_of($node, 'all server processes terminated; reinitializing') > 0;
$node->poll_query_until('postgres', 'SELECT true') or die 'the server does not restart';
$session->{run}->finish;
refuses_before($node, "$day 12:00:43.000", 'after kill -9');

# IDs are read on a server whose generators have issued none for a long time.
set_clock($node, "$day 13:00:00");
is(read_watermark($node), "$day 13:00:00+00", 'a watermark is later than the mark');
$node->stop('immediate');
start_with_clock($node, "$day 13:00:01");
refuses_before($node, "$day 13:00:03.000", 'after a crash without draws');

set_clock($node, "$day 13:01:00");
read_watermark($node);
$node->stop;
start_with_clock($node, "$day 13:00:50");
refuses_before($node, "$day 13:01:03.000", 'after a restart with a clock that is behind');

# --- a mark that is far ahead of the clock

set_clock($node, "$day 13:02:00");
read_watermark($node);
$node->safe_psql('postgres', "SET snowdrift.max_clock_lead = '2d'; SELECT snowdrift.advance(now() + interval '1 day')");
is(read_watermark($node), "$day 13:02:00+00", 'while the generator is too far ahead to issue IDs, the watermark is the time of the clock');
for my $mode ('fast', 'immediate')
{
	$node->stop($mode);
	start_with_clock($node, "$day 13:02:01");
	like(insert_at($node, "$day 13:02:02.999"), qr/below the latest watermark/, "after advance() and $mode shutdown, IDs are refused");
	is(insert_at($node, "$day 13:02:03.000"), 'accepted', '... for no longer than a lease');
	like(error_of($node, 'INSERT INTO events DEFAULT VALUES'), qr/55000: clock moved backwards/, '... although none can be drawn');
	is(read_watermark($node), "$day 13:02:01+00", '... and new rows are read');
}
set_clock($node, "$day 13:02:03.500");
is($node->safe_psql('postgres', 'SELECT count(*) FROM events WHERE id < snowflake_watermark()'),
	$node->safe_psql('postgres', 'SELECT count(*) FROM events'), '... all of them');
$node->safe_psql('postgres', 'SELECT snowdrift.reset_clock()');

# A watermark that was read while the clock was far ahead ends with reset_clock(), on disk as well.
set_clock($node, "$day 20:00:00");
read_watermark($node);
set_clock($node, "$day 13:03:00");
like(insert_at($node, "$day 13:03:00.000"), qr/before \Q$day\E 20:00:00\+00/, 'a watermark of a clock that was far ahead counts');
$node->safe_psql('postgres', 'SELECT snowdrift.reset_clock()');
is(insert_at($node, "$day 13:03:00.000"), 'accepted', '... until the clock is reset');
$node->stop;
start_with_clock($node, "$day 13:03:00");
refuses_before($node, "$day 13:03:00.000", 'after a reset and a restart');

# --- standbys and dumps

set_clock($node, "$day 13:04:00");
$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
start_with_clock($standby, "$day 13:04:00");
read_watermark($node);
$node->wait_for_catchup($standby, 'replay');
my $dump = $node->basedir . '/events.dump';
command_ok([ 'pg_dump', '-Fc', '-d', $node->connstr('postgres'), '-f', $dump ], 'the database is dumped');
$node->stop('immediate');
set_clock($standby, "$day 13:04:01");
$standby->promote;
refuses_before($standby, "$day 13:04:03.000", 'after a failover');

my $restored = new_server('restored');
$restored->append_conf('postgresql.conf', "timezone = 'UTC'");
start_with_clock($restored, "$day 13:04:02");
command_ok([ 'pg_restore', '-d', $restored->connstr('postgres'), $dump ], '... and restored');
refuses_before($restored, "$day 13:04:03.000", 'after the restore of a dump');

# The dump is restored into a database whose generator is in use, by a session that has drawn.
$restored->safe_psql('postgres', 'CREATE DATABASE used');
my $open = $restored->background_psql('used', on_error_stop => 0);
$open->query_safe('CREATE EXTENSION snowdrift; SELECT next_snowflake()');
command_ok([ 'pg_restore', '-d', $restored->connstr('used'), $dump ], 'the dump is restored into a used database');
$open->{stderr} = '';
$open->query("INSERT INTO events VALUES (snowflake_boundary('$day 13:04:02.999+00') + 1)");
like($open->{stderr}, qr/below the latest watermark/, '... whose watch knows the watermark, too');
$open->{stderr} = '';
$open->query_safe('INSERT INTO events DEFAULT VALUES');
pass('... and accepts IDs that are drawn');
$open->quit;

done_testing();
