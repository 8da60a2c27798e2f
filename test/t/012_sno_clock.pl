# Sno values continue at once in the other timeline when the clock is set back. Calls wait only for times that were
# used in both timelines since the server started. After a crash, sno values are ahead of a clock that is behind.
use strict;
use warnings FATAL => 'all';
use Test::More;
use Snowdrift;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

my $ids_each = $ENV{SNOWDRIFT_LONG} ? 250_000 : 60_000;

my $node = new_server('sno_clock');
start_with_clock($node, '2026-06-01 12:00:00');
$node->safe_psql('postgres', 'CREATE EXTENSION snowdrift');

# next_parts(): the time, tick and sequence of a new sno
sub next_parts
{
	return $node->safe_psql('postgres',
		"SELECT to_char(\"timestamp\" AT TIME ZONE 'UTC', 'HH24:MI:SS.MS'), tick, sequence
		 FROM sno_parts(next_sno())");
}

is(next_parts(), '12:00:00.000|0|0', 'a sno contains the time of the clock');
set_clock($node, '2026-06-01 11:59:59');
is(next_parts(), '11:59:59.000|1|0', 'clock set back by 1 s: at once, in the other timeline');
is(next_parts(), '11:59:59.000|1|1', '... which has its own sequence');
set_clock($node, '2026-06-01 12:00:00');
is(next_parts(), '12:00:00.000|1|0', '... and continues through the times of the first');
set_clock($node, '2026-06-01 12:00:02');
is(next_parts(), '12:00:02.000|1|0', '... and beyond them');
set_clock($node, '2026-06-01 12:00:01');
is(next_parts(), '12:00:01.000|0|0', 'clock set back to a time used in one timeline: the first timeline');

# At a time used in both timelines, a call waits until it is canceled or the clock has passed that time.
set_clock($node, '2026-06-01 11:59:59.500');
my $session = $node->background_psql('postgres', on_error_stop => 0);
my $pid = $session->query('SELECT pg_backend_pid()');
my $waiting = "SELECT wait_event_type = 'Extension' FROM pg_stat_activity WHERE pid = $pid";
my $idle = "SELECT state = 'idle' FROM pg_stat_activity WHERE pid = $pid";
$session->query_until(qr/waiting/, "\\echo waiting\nSELECT next_sno();\n");
ok($node->poll_query_until('postgres', $waiting), 'clock set back to a time used in both timelines: a call waits');
$node->safe_psql('postgres', "SELECT pg_cancel_backend($pid)");
ok($node->poll_query_until('postgres', $idle), '... and can be canceled');
$session->query_until(qr/waiting/, "\\echo waiting\nSELECT next_sno();\n");
ok($node->poll_query_until('postgres', $waiting), 'the next call waits');
set_clock($node, '2026-06-01 12:00:02.004');
ok($node->poll_query_until('postgres', $idle), '... until the clock has passed the safe mark');
is(next_parts(), '12:00:02.004|0|1', '... and gets a sno');

set_clock($node, '2026-06-01 12:01:00');
is(next_parts(), '12:01:00.000|0|0', 'the clock jumps ahead');
set_clock($node, '2026-06-01 12:00:30');
is(next_parts(), '12:00:30.000|1|0', '... and back');
set_clock($node, '2026-06-01 11:59:00');
like(error_of($node, 'SELECT next_sno()'),
	qr/55000: clock moved backwards by 120004 ms; refusing to generate IDs/,
	'clock set back to such a time by 2 min: error');
$session->query("SET snowdrift.max_clock_lead = '1h'");
set_clock($node, '2026-06-01 11:02:00');
$session->query_until(qr/waiting/, "\\echo waiting\nSELECT next_sno();\n");
ok($node->poll_query_until('postgres', $waiting), '... or a wait, if the limit is higher');
set_clock($node, '2026-06-01 12:01:01');
ok($node->poll_query_until('postgres', $idle), '... which ends when the clock is corrected');
$session->quit;

# Overflow is logged once per episode, and shown in the view.
set_clock($node, '2026-06-01 12:02:00');
$node->safe_psql('postgres',
	"SELECT snowdrift.create_generator('narrow', 'sno', sequence_max => 3);
	 SELECT next_sno('narrow') FROM generate_series(1, 4)");
my $log = -s $node->logfile;
$session = $node->background_psql('postgres', on_error_stop => 0);
$pid = $session->query('SELECT pg_backend_pid()');
my $shown = "SELECT waiting || ' ' || overflow_episodes || ' ' || overflow_duration
	FROM snowdrift.generators WHERE name = 'narrow'";
for my $cancelled (1 .. 3)
{
	$session->query_until(qr/waiting/, "\\echo waiting\nSELECT next_sno('narrow');\n");
	$node->poll_query_until('postgres', $shown, '1 1 00:00:00.001') or die 'no overflow is shown';
	$node->safe_psql('postgres', "SELECT pg_cancel_backend($pid)");
	$node->poll_query_until('postgres',
		"SELECT state = 'idle' FROM pg_stat_activity WHERE pid = $pid") or die 'the canceled call still waits';
}
is($node->safe_psql('postgres', $shown), '0 1 00:00:00.001', 'canceled calls do not count as waiting');
my @logged = slurp_file($node->logfile, $log) =~ /LOG:  (ID generator .*)/g;
is_deeply(\@logged, ['ID generator "narrow" is over its capacity'], 'an episode is logged once');
$session->query_until(qr/waiting/, "\\echo waiting\nSELECT next_sno('narrow');\n");
$node->poll_query_until('postgres', $shown, '1 1 00:00:00.001') or die 'no overflow is shown';
$node->safe_psql('postgres', "SELECT pg_terminate_backend($pid)");
ok($node->poll_query_until('postgres', $shown, '0 1 00:00:00.001'), '... and neither do calls of terminated sessions');
eval { $session->quit };

# An episode ends when no call has waited for a second.
$session = $node->background_psql('postgres', on_error_stop => 0);
$pid = $session->query('SELECT pg_backend_pid()');
for (
	[ '12:02:01.000', '1 1 00:00:01', 'a wait a second later belongs to the episode' ],
	[ '12:02:02.004', '1 2 00:00:00.001', '... a wait still later begins another one' ],
	[ '12:02:01.996', '1 2 00:00:00.001', '... to which a wait at a slightly earlier time belongs' ],
	[ '12:02:10.000', '1 3 00:00:00.001', '... and another one' ],
	[ '12:02:05.000', '1 4 00:00:00.001', '... and another one when the clock was set back by seconds' ])
{
	my ($time, $expected, $name) = @$_;
	set_clock($node, "2026-06-01 $time");
	$session->query_until(qr/waiting/, "\\echo waiting\nSELECT next_sno('narrow') FROM generate_series(1, 5);\n");
	ok($node->poll_query_until('postgres', $shown, $expected), $name);
	$node->safe_psql('postgres', "SELECT pg_cancel_backend($pid)");
	$node->poll_query_until('postgres', $shown, $expected =~ s/^1/0/r) or die 'the canceled call still waits';
}
$session->quit;

# statement_timeout ends a wait.
set_clock($node, '+0');
$node->safe_psql('postgres', 'SELECT next_sno()');
set_clock($node, '-10');
$node->safe_psql('postgres', 'SELECT next_sno()');
set_clock($node, '-30');
like(error_of($node, "SET statement_timeout = '100ms'; SELECT next_sno()"),
	qr/57014: canceling statement due to statement timeout/, 'statement_timeout ends a wait');

# The clock is stepped under load.
set_clock($node, '+0');
my $load = start_load($node, 4, 'SELECT next_sno() FROM generate_series(1, 1000)');
wait_for_load($load, $ids_each / 2);
set_clock($node, '-1');
wait_for_load($load, $ids_each);
my ($repeated, $count) = duplicates(end_load($load));
is($repeated, '', "$count sno values of 4 sessions across a step back of 1 s: no duplicate");

# After a crash, with the clock behind
set_clock($node, '+0');
$load = start_load($node, 4, 'SELECT next_sno() FROM generate_series(1, 20)');
wait_for_load($load, 2000);
$node->stop('immediate');
my @files = end_load($load);
start_with_clock($node, '-2');
$load = start_load($node, 4, 'SELECT next_sno() FROM generate_series(1, 20)');
wait_for_load($load, 2000);
($repeated, $count) = duplicates(@files, end_load($load));
is($repeated, '', "$count sno values around a crash with the clock set back: no duplicate");
$node->stop('immediate');

# After a crash, values begin after the mark, as far ahead as the limit allows. The mark is three seconds after
# the last sno.
start_with_clock($node, '2026-12-01 12:00:00');
next_parts();
$node->stop('immediate');
start_with_clock($node, '2026-12-01 11:58:59');
like(error_of($node, 'SELECT next_sno()'), qr/55000: clock moved backwards by 64004 ms; refusing to generate IDs/,
	'after a crash, with the clock behind by more than the limit: error');
set_clock($node, '2026-12-01 11:59:02.500');
$session = $node->background_psql('postgres', on_error_stop => 0);
$pid = $session->query('SELECT pg_backend_pid()');
$waiting =~ s/\d+/$pid/;
$idle =~ s/\d+/$pid/;
$session->query_until(qr/waiting/, "\\echo waiting\nSELECT next_sno();\n");
ok($node->poll_query_until('postgres', $waiting), '... slightly more: a call waits');
set_clock($node, '2026-12-01 11:59:03.004');
ok($node->poll_query_until('postgres', $idle), '... until the lead is within the limit');
$session->quit;
set_clock($node, '2026-12-01 11:59:30');
is(next_parts(), '12:00:03.004|0|2', 'a sno ahead of the clock has the time after the mark');
set_clock($node, '2026-12-01 12:00:03');
is(next_parts(), '12:00:03.004|0|3', '... until the clock has passed the mark');
set_clock($node, '2026-12-01 12:00:04');
is(next_parts(), '12:00:04.000|0|0', 'then values have the time of the clock');
set_clock($node, '2026-12-01 12:00:03.600');
is(next_parts(), '12:00:03.600|1|0', '... and continue in the other timeline when it is set back');
$node->stop;

done_testing();
