# No ID is repeated while the clock is stepped at random by up to 10 s, twenty times a second, under load.
# The test runs for each kind of ID.
use strict;
use warnings FATAL => 'all';
use Test::More;
use Snowdrift;
use PostgreSQL::Test::Cluster;
use Time::HiRes qw(usleep);

my $ids_each = $ENV{SNOWDRIFT_LONG} ? 250_000 : 20_000;

my $node = new_server('stepped');
start_with_clock($node, '+0');
create_all_kinds($node);
for my $call (@Snowdrift::calls)
{
	set_clock($node, '+0');
	my $load = start_load($node, 4, "SELECT $call FROM generate_series(1, 100)");
	my $steps = 0;
	until (received_by_each($load) >= $ids_each)
	{
		set_clock($node, sprintf('%+.3f', rand(20) - 10));
		$steps++;
		usleep(50_000);
	}
	my ($repeated, $count) = duplicates(end_load($load));
	is($repeated, '', "$call: $count IDs during $steps steps of the clock: no duplicate");
}
$node->stop;

done_testing();
