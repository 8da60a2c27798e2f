# Generators whose time unit is longer than 1 ms: no ID is repeated when the server restarts while the clock is set
# back, IDs start after the mark, and a fresh state waits if no lead is allowed.
use strict;
use warnings FATAL => 'all';
use Test::More;
use Snowdrift;
use PostgreSQL::Test::Cluster;

my %layouts = (
	tens => 'epoch=2020-01-01T00:00:00Z unit=10ms timestamp=39 sequence=12 worker=8',
	seconds => 'epoch=2024-01-01T00:00:00Z unit=1s timestamp=31 sequence=24 worker=8');

my $node = new_server('units');
start_with_clock($node, '2026-06-01 12:00:00.300');
$node->safe_psql('postgres', 'CREATE EXTENSION snowdrift');
$node->safe_psql('postgres', "SELECT snowdrift.create_generator('$_', 'snowflake', '$layouts{$_}', worker => 7)")
  for sort keys %layouts;

sub time_of_next
{
	my ($generator) = @_;
	return $node->safe_psql('postgres',
		"SELECT snowflake_timestamp(next_snowflake('$generator'), '$layouts{$generator}') AT TIME ZONE 'UTC'");
}

is(time_of_next('tens'), '2026-06-01 12:00:00.3', '10 ms: an ID has the time of its unit');
is(time_of_next('seconds'), '2026-06-01 12:00:00', '1 s: an ID has the time of its unit');
set_clock($node, '2026-06-01 12:00:01.999');
is(time_of_next('seconds'), '2026-06-01 12:00:01', '... until the unit ends');
set_clock($node, '2026-06-01 12:00:01');
$node->safe_psql('postgres', "SET snowdrift.max_clock_lead = 0; SELECT next_snowflake('seconds')");
pass('a unit that the clock has entered is not ahead of it');

# A partition that new IDs can enter is not dropped, even if its upper bound is before now. A sno's unit is 4 ms.
$node->safe_psql('postgres', "
	CREATE TABLE snos (id sno) PARTITION BY RANGE (id);
	CREATE TABLE snos_past PARTITION OF snos
		FOR VALUES FROM (sno_boundary('2026-06-01Z')) TO (make_sno('2026-06-01 12:00:01Z', 0, 0, 1));
	CREATE TABLE ulids (id ulid) PARTITION BY RANGE (id);
	CREATE TABLE ulids_past PARTITION OF ulids
		FOR VALUES FROM (ulid_boundary('2026-06-01Z')) TO (make_ulid('2026-06-01 12:00:01.003Z', '\\x00000000000000000001'))");
for (['01.003', ''], ['01.0035', ''], ['01.004', 'snos_past ulids_past'])
{
	my ($seconds, $dropped) = @$_;
	set_clock($node, "2026-06-01 12:00:$seconds");
	is( $node->safe_psql('postgres', "
			SELECT string_agg(partition, ' ') FROM unnest('{snos,ulids}'::regclass[]) AS parent,
				snowdrift.drop_partitions_before(parent, clock_timestamp(), dry_run => true)"),
		$dropped, "old at 12:00:$seconds: '$dropped'");
}

# After a crash, a fresh state starts with the first unit that begins after the mark, here 12:00:08.
set_clock($node, '2026-06-01 12:00:05');
$node->safe_psql('postgres', "SELECT next_snowflake('tens')");
$node->stop('immediate');
start_with_clock($node, '2026-06-01 12:00:05.400');
is(time_of_next('tens'), '2026-06-01 12:00:08.01', 'a fresh state starts with the next unit after the mark');
is(time_of_next('seconds'), '2026-06-01 12:00:09', '... of each generator, without a wait');
is($node->safe_psql('postgres', "SELECT mark AT TIME ZONE 'UTC' FROM snowdrift.clock"),
	'2026-06-01 12:00:09.5', '... and moves the mark 0.5 s beyond it');
$node->stop('immediate');
start_with_clock($node, '2026-06-01 12:00:08.650');
my $session = $node->background_psql('postgres', on_error_stop => 0);
my $pid = $session->query('SELECT pg_backend_pid()');
$session->query('SET snowdrift.max_clock_lead = 0');
$session->query_until(qr/waiting/, "\\echo waiting\nSELECT next_snowflake('seconds') > 0 AS drawn;\n");
ok( $node->poll_query_until('postgres',
		"SELECT wait_event_type = 'Extension' FROM pg_stat_activity WHERE pid = $pid"),
	'if no lead is allowed, a call waits for that unit instead of raising an error');
set_clock($node, '2026-06-01 12:00:10');
is($session->query('SELECT 1'), "t\n1", '... until the clock enters it');
is($session->query(q{SELECT overflow_episodes FROM snowdrift.generators WHERE name = 'seconds'}), '0', '... which is no overflow');
$session->quit;

# Under load, while the clock is stepped back and the server crashes
$node->stop;
my @files;
for my $when ('+0', '-3', '-1.5', '-7')
{
	start_with_clock($node, $when);
	my @loads = map { start_load($node, 2, "SELECT next_snowflake('$_') FROM generate_series(1, 100)") } sort keys %layouts;
	wait_for_load($_, 2000) for @loads;
	set_clock($node, $when eq '+0' ? '-5' : '+0');
	wait_for_load($_, 4000) for @loads;
	$node->stop('immediate');
	push @files, map { end_load($_) } @loads;
}
my ($repeated, $count) = duplicates(@files);
is($repeated, '', "$count IDs over crashes with a stepped clock: no duplicate");

# An overflow episode lasts as long as a call waits, here for up to a minute.
start_with_clock($node, sprintf('%+.3f', 60 - time % 60));
$node->safe_psql('postgres', q{SELECT snowdrift.create_generator('minutes', 'snowflake',
	'epoch=2024-01-01T00:00:00Z unit=60s timestamp=31 sequence=24 worker=8', worker => 7, sequence_max => 3)});
my $waiting = $node->background_psql('postgres', on_error_stop => 0);
$waiting->query_until(qr/waiting/, "\\echo waiting\nSELECT count(*) FROM next_snowflakes(9, 'minutes');\n");
ok( $node->poll_query_until('postgres',
		"SELECT waiting = 1 AND overflow_duration > '1.5s' FROM snowdrift.generators WHERE name = 'minutes'"),
	'a call that waits for more than a second is one episode');
$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE '%minutes%'
	AND pid <> pg_backend_pid()});
$waiting->quit;
$node->stop;

done_testing();
