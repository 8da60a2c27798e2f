# next_snowflake() when the server's clock is set back or does not advance
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
is(time_of($first), '2026-06-01 12:00:00', 'an ID contains the time of the clock');
is(next_id(), $first + 1, 'while the clock stands still, the sequence advances');

set_clock($node, '2026-06-01 11:59:59.999');
is(next_id(), $first + 2, 'clock set back by 1 ms: IDs continue in the last millisecond');
set_clock($node, '2026-06-01 11:59:00');
is(next_id(), $first + 3, 'clock set back by 60 s, the limit: the same');

set_clock($node, '2026-06-01 11:55:00');
my $error = error_of($node, 'SELECT next_snowflake()');
like($error, qr/ERROR:  55000: clock moved backwards by 300000 ms; refusing to generate IDs/,
	'clock set back by 5 min: error');
like($error, qr/DETAIL:  .*snowdrift\.max_clock_lead allows 60000 ms/, '... whose detail states the limit');
like($error, qr/HINT:  Correct the clock, wait until it has caught up/, '... and whose hint states the remedies');
is( $node->safe_psql('postgres',
		"SET snowdrift.max_clock_lead = '5min'; SELECT next_snowflake()"),
	$first + 4,
	'a longer lead allows it');

# If the lead exceeds the limit by at most one second, a call waits. The wait shows as a wait event, and ends
# when the call is canceled or the clock has caught up.
set_clock($node, '2026-06-01 11:58:59.500');
my $session = $node->background_psql('postgres', on_error_stop => 0);
my $pid = $session->query('SELECT pg_backend_pid()');
my $waiting = "SELECT wait_event_type || ' ' || wait_event FROM pg_stat_activity WHERE pid = $pid";
my $clock = 'Extension ' . ($node->pg_version < 17 ? 'Extension' : 'SnowdriftClock');

$session->query_until(qr/waiting/, "\\echo waiting\nSELECT next_snowflake();\n");
ok($node->poll_query_until('postgres', $waiting, $clock), 'a call waits if the lead is slightly too long');
$node->safe_psql('postgres', "SELECT pg_cancel_backend($pid)");
ok( $node->poll_query_until('postgres',
		"SELECT state = 'idle' FROM pg_stat_activity WHERE pid = $pid"),
	'... and the wait can be canceled');
set_clock($node, '2026-06-01 12:00:00');
is(next_id(), $first + 5, '... without using an ID');

set_clock($node, '2026-06-01 11:58:59.500');
$session->query_until(qr/waiting/, "\\echo waiting\nSELECT next_snowflake();\n");
ok($node->poll_query_until('postgres', $waiting, $clock), 'the next call waits');
set_clock($node, '2026-06-01 11:59:00');
ok( $node->poll_query_until('postgres',
		"SELECT state = 'idle' FROM pg_stat_activity WHERE pid = $pid"),
	'... until the clock has caught up');
is(next_id(), $first + 7, '... and gets an ID');

# A call waits when the sequence of a millisecond is used up, even if that millisecond is ahead of the clock.
my $left = 4095 - $node->safe_psql('postgres', 'SELECT snowflake_sequence(next_snowflake())');
$node->safe_psql('postgres', "SELECT count(*) FROM next_snowflakes($left)");
$session->query_until(qr/waiting/, "\\echo waiting\nSELECT next_snowflake();\n");
ok($node->poll_query_until('postgres', $waiting, $clock), 'a call waits when the sequence of a millisecond is used up');
set_clock($node, '2026-06-01 11:59:00.001');
ok( $node->poll_query_until('postgres',
		"SELECT state = 'idle' FROM pg_stat_activity WHERE pid = $pid"),
	'... until the clock advances by one time unit');
my $id = next_id();
is(time_of($id), '2026-06-01 12:00:00.001', '... which advances the time of IDs by one unit');
is($node->safe_psql('postgres', "SELECT snowflake_sequence($id)"), 1, '... and restarts the sequence at 0');

# With snowdrift.max_clock_lead = 0, any regression is an error.
set_clock($node, '2026-06-01 11:59:59');
like(error_of($node, 'SET snowdrift.max_clock_lead = 0; SELECT next_snowflake()'),
	qr/55000: clock moved backwards by 1001 ms/, 'without a lead, any regression is an error');
$session->quit;

# After a restart, IDs are ahead of the clock, so a range that ends at now() does not contain the newest rows.
$node->safe_psql('postgres', 'CREATE TABLE posts (id bigint PRIMARY KEY DEFAULT next_snowflake())');
my $begin = '2026-06-01 12:00:00.002Z';
sub rows_until { return $node->safe_psql('postgres', "SELECT count(*) FROM posts WHERE snowflake_within(id, tstzrange('$begin', $_[0], '[]'))") }
$node->stop;
start_with_clock($node, $begin);
$node->safe_psql('postgres', 'INSERT INTO posts DEFAULT VALUES');
is(rows_until('now()'), 0, 'after a restart, a range that ends at now() does not contain a new row');
is(rows_until('NULL'), 1, '... one without an end does');
is(rows_until(q(now() + interval '1 min')), 1, '... and so does one that ends a minute later');
set_clock($node, '2026-06-01 12:00:05.002');
is(rows_until('now()'), 1, '... and, when the clock has caught up, one that ends at now()');

# A clock outside the range of the layout is an error.
set_clock($node, '2020-12-31 23:00:00');
like(error_of($node, 'SELECT next_snowflake()'),
	qr/55000: layout "snowflake" has not begun\nDETAIL:  Its IDs have times from 2021-01-01T00:00:00Z to 2090-09-07T15:47:35\.551Z\. The server's clock is at 2020-12-31T23:00:00\S*Z\.\nHINT:  .*correct it\.$/m,
	'a clock before the epoch is an error');
set_clock($node, '2090-09-08 00:00:00');
like(error_of($node, 'SELECT next_snowflake()'), qr/55000: layout "snowflake" has ended$/m, '... and so is one after the end');

$node->stop;
done_testing();
