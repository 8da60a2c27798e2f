# What snowdrift.generators shows when the clock is set back: regressions, and calls that wait. Also the used share of the
# sequence.
use strict;
use warnings FATAL => 'all';
use Test::More;
use Snowdrift;
use PostgreSQL::Test::Cluster;

my $node = new_server('regressions');
start_with_clock($node, '2026-06-01 12:00:00');
$node->safe_psql('postgres', "CREATE EXTENSION snowdrift;
	SELECT snowdrift.create_generator('orders', 'snowflake');
	SELECT snowdrift.create_generator('people', 'sno')");

# draw_at(TIME, GENERATOR): draws two IDs in two sessions
sub draw_at
{
	my ($time, $generator) = @_;
	my $next = $generator eq 'people' ? 'next_sno' : 'next_snowflake';
	set_clock($node, "2026-06-01 $time");
	$node->safe_psql('postgres', "SELECT $next('$generator')") for 1 .. 2;
	return;
}

sub regressions
{
	my ($generator) = @_;
	return $node->safe_psql('postgres',
		"SELECT regressions FROM snowdrift.generators WHERE name = '$generator'");
}

is(regressions('orders'), '', 'the regressions of an unused generator are null');
draw_at('12:00:00', 'orders');
$node->stop('immediate');
start_with_clock($node, '2026-06-01 12:00:00');
draw_at('12:00:00', 'orders');
is( $node->safe_psql('postgres', "SELECT lead > '0s' FROM snowdrift.generators WHERE name = 'orders'"),
	't', 'after a crash, a generator begins ahead of the clock');
is(regressions('orders'), 0, '... which is not a regression');
draw_at('12:00:11', 'orders');
is(regressions('orders'), 0, 'an advancing clock is not a regression');
draw_at('12:00:10.999', 'orders');
is(regressions('orders'), 1, 'a step back by a millisecond counts once');
draw_at('12:00:10', 'orders');
is(regressions('orders'), 1, '... and further steps do not count until the clock has caught up');
draw_at('12:00:11', 'orders');
draw_at('12:00:10.500', 'orders');
is(regressions('orders'), 2, 'the next step back counts');
draw_at('12:00:12', 'orders');
set_clock($node, '2026-06-01 12:00:10');
like(
	error_of($node, "LOAD 'snowdrift'; SET snowdrift.max_clock_lead = 0; SELECT next_snowflake('orders')"),
	qr/55000: clock moved backwards/, 'a regression that raises an error');
is(regressions('orders'), 3, '... counts as well');

# A generator in use is restored from a snapshot that is ahead of the clock.
draw_at('12:00:13', 'orders');
$node->safe_psql('postgres', q{SELECT snowdrift.restore('orders',
	jsonb_set(snowdrift.snapshot('orders'), '{last_timestamp}', '"2026-06-01T12:00:14Z"'))});
draw_at('12:00:13', 'orders');
is(regressions('orders'), 3, 'restoring a snapshot that is ahead of the clock is not a regression');

draw_at('12:01:00', 'people');
draw_at('12:00:59', 'people');
is(regressions('people'), 1, 'a sno generator counts the flips of the tick');
draw_at('12:02:00', 'people');
draw_at('12:01:59', 'people');
is(regressions('people'), 2, '... each time');

# A sno generator that begins ahead of the clock
$node->stop('immediate');
start_with_clock($node, '2026-06-01 12:01:40');
draw_at('12:01:40', 'people');
is(regressions('people'), 0, 'after a crash, a sno generator ahead of the clock counts no regression');
draw_at('12:02:30', 'people');
draw_at('12:01:50', 'people');
draw_at('12:01:40', 'people');
is(regressions('people'), 1, '... but one, if the clock is set back after it has caught up');

# Every wait for the clock is shown: one call of each kind waits in a session of its own.
$node->safe_psql('postgres', q{SELECT snowdrift.create_generator('own', 'snowflake', worker => 7);
	SELECT snowdrift.create_generator('own sno', 'sno', partition => 7)});
for my $time ('12:10:00', '12:09:59')    # sno values use both timelines
{
	set_clock($node, "2026-06-01 $time");
	$node->safe_psql('postgres', 'SELECT ' . join(', ', @Snowdrift::calls));
}
set_clock($node, '2026-06-01 12:08:59.500');
my $shown = q{SELECT count(*), sum(waiting), sum(overflow_episodes), max(overflow_duration) FROM snowdrift.generators
	WHERE name IS NULL OR name LIKE 'own%'};
my @waiting = map { $node->background_psql('postgres') } @Snowdrift::calls;
is($node->safe_psql('postgres', $shown), '6|0|0|00:00:00', 'no call waits');
$waiting[$_]->query_until(qr/waiting/, "\\echo waiting\nSELECT $Snowdrift::calls[$_];\n") for 0 .. $#waiting;
ok($node->poll_query_until('postgres', $shown, '6|6|0|00:00:00'),
	'calls of each kind that wait for a clock that is behind are shown, and are no overflow');
set_clock($node, '2026-06-01 12:10:01');
ok($node->poll_query_until('postgres', $shown, '6|0|0|00:00:00'), '... until the clock has caught up');
$_->quit for @waiting;

# The used share of the sequence is that of the clock's time unit, among the numbers of this generator.
set_clock($node, '2026-06-01 12:20:00');
$node->safe_psql('postgres', q{
	SELECT snowdrift.create_generator('tenths', 'snowflake', 'epoch=2024-01-01T00:00:00Z unit=1s timestamp=31 sequence=24 worker=8',
		worker => 7, sequence_min => 10, sequence_max => 19);
	SELECT snowdrift.create_generator('quarters', 'sno', partition => 8, sequence_min => 4, sequence_max => 7)});
my $share = q{SELECT coalesce(sequence_used::text, 'null') FROM snowdrift.generators
	WHERE name IN ('tenths', 'quarters') ORDER BY name};
is($node->safe_psql('postgres', $share), "null\nnull", 'the used share of the sequence is null for unused generators');
for (
	[ '12:30:00.000', 1, "0.25\n0.1", 'after an ID, one sequence number of the time unit is used' ],
	[ '12:30:00.003', 1, "0.5\n0.2", '... and another one after the next ID' ],
	[ '12:30:00.003', 2, "1\n0.4", '... until all are used' ],
	[ '12:30:00.004', 0, "0\n0.4", '... or the time unit ends' ],
	[ '12:30:00.999', 1, "0.25\n0.5", '... after which an ID is the first one' ],
	[ '12:29:59.999', 0, "null\nnull", 'the used share is null while the last ID is ahead of the clock' ],
	[ '12:31:00.000', 0, "0\n0", '... and 0 if the clock is past it' ])
{
	my ($time, $ids, $expected, $name) = @$_;
	set_clock($node, "2026-06-01 $time");
	$node->safe_psql('postgres',
		"SELECT next_snowflake('tenths'), next_sno('quarters') FROM generate_series(1, $ids)");
	is($node->safe_psql('postgres', $share), $expected, $name);
}
$node->safe_psql('postgres', 'SELECT next_snowflake(), next_sno()');
is( $node->safe_psql('postgres', 'SELECT kind, round((sequence_used * CASE kind WHEN $$sno$$ THEN 65536 ELSE 4096 END)::numeric)
		FROM snowdrift.generators WHERE name IS NULL AND sequence_used IS NOT NULL'),
	"snowflake|1\nsno|1", 'default generators have all numbers of their formats');

# Concurrent sessions on a running clock
set_clock($node, '+0');
# The sequence of this layout is never used up, so its IDs are never ahead of the clock.
$node->safe_psql('postgres', q{
	SELECT snowdrift.create_generator('wide', 'snowflake', 'epoch=2024-01-01T00:00:00Z timestamp=41 sequence=22')});
my $drawing = start_load($node, 2, q{SELECT next_snowflake('wide') FROM generate_series(1, 100)});
wait_for_load($drawing, 1000);
$node->safe_psql('postgres', q{
	DO $$ BEGIN
		FOR i IN 1 .. 2000 LOOP
			ASSERT (SELECT sequence_used BETWEEN 0 AND 1 FROM snowdrift.generators WHERE name = 'wide');
		END LOOP;
	END $$});
pass('the used share is never null while sessions draw');
end_load($drawing);
$node->safe_psql('postgres', "SELECT next_snowflake('orders')");
my $before = regressions('orders');
my $load = start_load($node, 8, "SELECT next_snowflake('orders') FROM generate_series(1, 1000)");
wait_for_load($load, 50_000);
end_load($load);
is(regressions('orders'), $before, 'concurrent sessions cause no regression');

set_clock($node, '-30');
$load = start_load($node, 8, "SELECT next_snowflake('orders') FROM generate_series(1, 1000)");
wait_for_load($load, 50_000);
end_load($load);
is(regressions('orders'), $before + 1, 'a regression that all sessions notice counts once');

$node->stop;

done_testing();
