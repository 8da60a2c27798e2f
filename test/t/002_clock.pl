# What next_snowflake() does when the server's clock is set back, or stands still.
use strict;
use warnings FATAL => 'all';
use Test::More;
use Snowdrift;
use PostgreSQL::Test::Cluster;

my $node = new_server('clock');
start_with_clock($node, '2026-06-01 12:00:00');
$node->safe_psql('postgres', 'CREATE EXTENSION snowdrift');

sub next_id { return $node->safe_psql('postgres', 'SELECT next_snowflake()') }

sub time_of
{
	my ($id) = @_;
	return $node->safe_psql('postgres', "SELECT snowflake_timestamp($id) AT TIME ZONE 'UTC'");
}

my $first = next_id();
is(time_of($first), '2026-06-01 12:00:00', 'an ID carries the time of the clock');
is(next_id(), $first + 1, 'while it stands still, the sequence counts');

set_clock($node, '2026-06-01 11:59:59.999');
is(next_id(), $first + 2, 'a clock set back by 1 ms: the last millisecond goes on');
set_clock($node, '2026-06-01 11:59:00');
is(next_id(), $first + 3, 'set back by 60 s, which is the limit: the same');

set_clock($node, '2026-06-01 11:55:00');
my $error = error_of($node, 'SELECT next_snowflake()');
like($error, qr/ERROR:  55000: clock moved backwards by 300000 ms; refusing to generate IDs/,
	'set back by 5 min: refused');
like($error, qr/DETAIL:  .*snowdrift\.max_clock_lead allows 60000 ms/, '... with the limit');
like($error, qr/HINT:  Correct the clock, wait until it has caught up/, '... and what to do');
is( $node->safe_psql('postgres',
		"SET snowdrift.max_clock_lead = '5min'; SELECT next_snowflake()"),
	$first + 4,
	'a longer lead allows it');

# Between the limit and a second more, a call waits: seen in its wait event, ended by a cancel, or
# served once the clock has caught up.
set_clock($node, '2026-06-01 11:58:59.500');
my $session = $node->background_psql('postgres', on_error_stop => 0);
my $pid = $session->query('SELECT pg_backend_pid()');
my $waiting = "SELECT wait_event_type = 'Extension' FROM pg_stat_activity WHERE pid = $pid";

$session->query_until(qr/waiting/, "\\echo waiting\nSELECT next_snowflake();\n");
ok($node->poll_query_until('postgres', $waiting), 'a lead slightly too long is waited out');
$node->safe_psql('postgres', "SELECT pg_cancel_backend($pid)");
ok( $node->poll_query_until('postgres',
		"SELECT state = 'idle' FROM pg_stat_activity WHERE pid = $pid"),
	'... and the wait can be cancelled');
set_clock($node, '2026-06-01 12:00:00');
is(next_id(), $first + 5, '... and cost no ID');

set_clock($node, '2026-06-01 11:58:59.500');
$session->query_until(qr/waiting/, "\\echo waiting\nSELECT next_snowflake();\n");
ok($node->poll_query_until('postgres', $waiting), 'it waits again');
set_clock($node, '2026-06-01 11:59:00');
ok( $node->poll_query_until('postgres',
		"SELECT state = 'idle' FROM pg_stat_activity WHERE pid = $pid"),
	'... until the clock has caught up');
is(next_id(), $first + 7, '... and got its ID');

# A used-up millisecond is waited out, leading or not.
my $left = 4095 - $node->safe_psql('postgres', 'SELECT snowflake_sequence(next_snowflake())');
$node->safe_psql('postgres', "SELECT count(*) FROM next_snowflakes($left)");
$session->query_until(qr/waiting/, "\\echo waiting\nSELECT next_snowflake();\n");
ok($node->poll_query_until('postgres', $waiting), 'a used-up millisecond is waited out');
set_clock($node, '2026-06-01 11:59:00.001');
ok( $node->poll_query_until('postgres',
		"SELECT state = 'idle' FROM pg_stat_activity WHERE pid = $pid"),
	'... for one tick of the clock');
my $id = next_id();
is(time_of($id), '2026-06-01 12:00:00.001', '... which moves the time of IDs on by as much');
is($node->safe_psql('postgres', "SELECT snowflake_sequence($id)"), 1, '... and begins it at 0');

# The textbook rule.
set_clock($node, '2026-06-01 11:59:59');
like(error_of($node, 'SET snowdrift.max_clock_lead = 0; SELECT next_snowflake()'),
	qr/55000: clock moved backwards by 1001 ms/, 'with no lead allowed, any regression is refused');

# Outside the layout's range.
set_clock($node, '2020-12-31 23:00:00');
like(error_of($node, 'SELECT next_snowflake()'),
	qr/55000: the server's clock is outside the times that the IDs can hold/,
	'a clock before the epoch is an error');

# A clock that runs, stepped back and forth under load.
set_clock($node, '+0');
$node->safe_psql('postgres', 'CREATE UNLOGGED TABLE ids (id bigint)');
my @loads = map { $node->background_psql('postgres') } 1 .. 2;
my $done = 0;
$_->query_until(qr/begun/,
	"\\echo begun\nINSERT INTO ids SELECT next_snowflake() FROM (SELECT generate_series(1, 400000)) AS n;\n"
) for @loads;
for my $step (-3, 2, -8, 0, -1, 1, -5, 4, -2, 0)
{
	set_clock($node, sprintf('%+d', $step));
	# As long as it takes for a statement to see the new clock.
	$node->safe_psql('postgres', 'SELECT count(*) FROM next_snowflakes(5000)');
}
$_->quit for @loads;
is($node->safe_psql('postgres', 'SELECT count(*), count(DISTINCT id) FROM ids'),
	'800000|800000', 'a clock stepped back and forth under load: no duplicate');

$session->quit;
$node->stop;
done_testing();
