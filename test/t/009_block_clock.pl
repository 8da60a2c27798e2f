# ULIDs and UUIDs of version 7 keep their order when the server's clock is set back, within a transaction and
# between two.
use strict;
use warnings FATAL => 'all';
use Test::More;
use Snowdrift;
use PostgreSQL::Test::Cluster;

for my $kind ('ulid', 'uuidv7')
{
	my $node = new_server($kind);
	start_with_clock($node, '2026-06-01 12:00:00');
	$node->safe_psql('postgres', 'CREATE EXTENSION snowdrift');
	my $session = $node->background_psql('postgres', on_error_stop => 0);

	my $next_id = sub { return $session->query_safe("SELECT next_$kind()") };
	my $time_of = sub {
		my ($id) = @_;
		return $node->safe_psql('postgres', "SELECT ${kind}_timestamp('$id') AT TIME ZONE 'UTC'");
	};

	# Within a transaction, all IDs have one time, regardless of the clock.
	$session->query_safe('BEGIN');
	my $first = $next_id->();
	is($time_of->($first), '2026-06-01 12:00:00', "$kind: a transaction has the time of its first ID");
	my @ids = ($first);
	for my $when ('11:55:00', '12:00:00', '12:00:30', '11:00:00', '12:00:40')
	{
		set_clock($node, "2026-06-01 $when");
		push @ids, $next_id->();
	}
	$session->query_safe('COMMIT');
	is_deeply(\@ids, [ sort @ids ], 'its IDs ascend while the clock is stepped');
	is($time_of->($ids[-1]), '2026-06-01 12:00:00', '... and all have that time');

	# Between transactions
	set_clock($node, '2026-06-01 12:01:00');
	my $before = $next_id->();
	set_clock($node, '2026-06-01 12:00:30');
	my $after = $next_id->();
	cmp_ok($after, 'gt', $before, 'clock set back by 30 s between two transactions: IDs still ascend');
	is($time_of->($after), '2026-06-01 12:01:00', '... at the last time issued');
	set_clock($node, '2026-06-01 11:56:00');
	like(error_of($node, "SELECT next_$kind()"),
		qr/55000: clock moved backwards by 300000 ms; refusing to generate IDs/,
		'5 minutes, beyond the limit: error');
	$session->query_safe("SET snowdrift.max_clock_lead = '10min'");
	my $last = $after;
	my $ascending = 1;
	for (1 .. 200)
	{
		my $id = $next_id->();
		$ascending &&= $id gt $last;
		$last = $id;
	}
	ok($ascending, '5 minutes, with a higher limit: IDs still ascend');
	is($time_of->($last), '2026-06-01 12:01:00', '... at the last time issued');
	set_clock($node, '2026-06-01 12:01:00.001');
	is($time_of->($next_id->()), '2026-06-01 12:01:00.001', 'the time advances with the clock');

	# Random ULIDs use the clock's time.
	if ($kind eq 'ulid')
	{
		set_clock($node, '2026-06-01 11:00:00');
		is($time_of->($node->safe_psql('postgres', 'SELECT gen_ulid()')),
			'2026-06-01 11:00:00', 'a random ULID has the time of the clock');
	}

	# After reset_clock(), a transaction that drew IDs of the future draws IDs of the present.
	set_clock($node, '2036-06-01 12:00:00');
	$session->query_safe('RESET snowdrift.max_clock_lead');
	$session->query_safe('BEGIN');
	is($time_of->($next_id->()), '2036-06-01 12:00:00', 'a transaction draws in the future');
	set_clock($node, '2026-06-01 12:02:00');
	$node->safe_psql('postgres', 'SELECT snowdrift.reset_clock()');
	$session->query_safe('SELECT next_snowflake(), ulid_watermark()') if $kind eq 'ulid';    # notices the reset
	# An error of the first draw after that does not bring the old IDs back.
	set_clock($node, '2026-06-01 11:55:00');
	$session->query_safe('SAVEPOINT s');
	$session->query("SELECT next_$kind()");
	like($session->{stderr}, qr/clock moved backwards by 420001 ms/, '... and not at all while the clock is behind');
	$session->{stderr} = '';
	$session->query_safe('ROLLBACK TO s');
	set_clock($node, '2026-06-01 12:02:00');
	is($time_of->($next_id->()), '2026-06-01 12:02:00.001', '... and in the present, once the clock is reset');
	is( $node->safe_psql('postgres', "SELECT mark < '2027-01-01' FROM snowdrift.clock"),
		't', '... with the mark of the present');
	$session->query_safe('COMMIT');

	$session->quit;
	$node->stop;
}

done_testing();
