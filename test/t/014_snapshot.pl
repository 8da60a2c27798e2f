# Generators moved to another server by snapshots repeat no ID, even if the clock there is behind and the
# server crashes right after the restore.
use strict;
use warnings FATAL => 'all';
use Test::More;
use Snowdrift;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

my $ids_each = $ENV{SNOWDRIFT_LONG} ? 50_000 : 5_000;
my %draw = (
	orders => "SELECT next_snowflake('orders') FROM generate_series(1, 20)",
	people => "SELECT next_sno('people') FROM generate_series(1, 20)");

# The files of the IDs that sessions have received from each generator
my %received = (orders => [], people => []);

# draw(NODE): draws from both generators in several sessions
sub draw
{
	my ($node) = @_;
	my %load = map { $_ => start_load($node, 2, $draw{$_}) } sort keys %draw;
	wait_for_load($load{$_}, $ids_each) for sort keys %draw;
	push @{ $received{$_} }, end_load($load{$_}) for sort keys %draw;
	return;
}

# no_duplicates(WHEN): checks all IDs received so far
sub no_duplicates
{
	my ($when) = @_;
	for my $name (sort keys %draw)
	{
		my ($repeated, $count) = duplicates(@{ $received{$name} });
		is($repeated, '', "$name: $count IDs, $when: no duplicate");
	}
	return;
}

sub definition_of
{
	my ($node, $name) = @_;
	return $node->safe_psql('postgres',
		"SELECT layout, datacenter, worker, partition, sequence_min, sequence_max
		 FROM snowdrift.generators WHERE name = '$name'");
}

sub snapshot
{
	my ($node, $name) = @_;
	return $node->safe_psql('postgres', "SELECT snowdrift.snapshot('$name')");
}

# move(FROM, TO): moves both generators, with their definitions, by snapshots
sub move
{
	my ($from, $to) = @_;
	for my $name (sort keys %draw)
	{
		my $snapshot = snapshot($from, $name);
		$from->safe_psql('postgres', "SELECT snowdrift.drop_generator('$name')");
		$to->safe_psql('postgres', "SELECT snowdrift.restore('$name', '$snapshot')");
	}
	return;
}

# A server and its standby
my $origin = new_server('origin', allows_streaming => 1);
start_with_clock($origin, '+0');
$origin->safe_psql('postgres', <<'SQL');
CREATE EXTENSION snowdrift;
SELECT snowdrift.create_generator('orders', 'snowflake', datacenter => 0, worker => 3, sequence_max => 255);
SELECT snowdrift.create_generator('people', 'sno', partition => 4242, sequence_min => 10);
SQL
my %definition = map { $_ => definition_of($origin, $_) } keys %draw;
$origin->backup('base');
my $standby = standby_of($origin, 'standby');
my $began = time;
draw($origin);

like(error_of($standby, "SELECT snowdrift.snapshot('orders')"),
	qr/ERROR:  25006: cannot take a snapshot of an ID generator during recovery/,
	'a standby takes no snapshot');
$origin->wait_for_catchup($standby);
my $snapshot = snapshot($origin, 'orders');
like(error_of($standby, "SELECT snowdrift.restore('orders', '$snapshot')"),
	qr/ERROR:  25006: /, '... and restores none');
$standby->stop;

# Another server. Its clock shows the time at which the first server started to draw, so IDs with the
# time of its clock would be duplicates.
my $heir = new_server('heir');
my $behind = sub { return '-' . (time - $began) };
start_with_clock($heir, $behind->());
$heir->safe_psql('postgres', 'CREATE EXTENSION snowdrift');
my %before = map { $_ => snapshot($origin, $_) } keys %draw;
move($origin, $heir);
for my $name (sort keys %draw)
{
	is(definition_of($heir, $name), $definition{$name}, "$name: the restored definition is the same");
}
is( $heir->safe_psql('postgres', "SELECT bool_and(mark >= (s->>'last_timestamp')::timestamptz)
		FROM snowdrift.clock, jsonb_array_elements('[$before{orders}, $before{people}]') AS s"),
	't', 'the mark covers the IDs of both generators');
# Restoring the second generator does not change the first one.
my $after = snapshot($heir, 'orders');
s/"now": "[^"]*"// for $after, $before{orders};
is($after, $before{orders}, 'the state of the first generator is unchanged');
$heir->stop('immediate');
start_with_clock($heir, $behind->());
draw($heir);
no_duplicates('moved to a server whose clock is behind, and which crashes right after the restore');

# The generators move back, without a crash, to the first server, whose clock is now behind.
set_clock($origin, $behind->());
move($heir, $origin);
draw($origin);
no_duplicates('and moved back');

# An outdated snapshot is an error on the server that issued the later IDs.
my %stale = map { $_ => snapshot($origin, $_) } keys %draw;
draw($origin);
like(error_of($origin, "SELECT snowdrift.restore('$_', '$stale{$_}')"),
	qr/ERROR:  55000: snapshot lags behind ID generator "$_"/, "$_: an older snapshot is an error")
  for sort keys %draw;

# A snapshot from a clock far in the future does not advance the mark.
set_clock($heir, '+300');
$heir->safe_psql('postgres', "SELECT snowdrift.create_generator('$_', 'snowflake'),
	next_snowflake('$_')") for 'ahead';
my $mark = $origin->safe_psql('postgres', 'SELECT mark FROM snowdrift.clock');
like(error_of($origin, "SELECT snowdrift.restore('ahead', '" . snapshot($heir, 'ahead') . "')"),
	qr/ERROR:  55000: snapshot is \d+ ms ahead of the server's clock/,
	'a snapshot from five minutes in the future is an error');
is($origin->safe_psql('postgres', 'SELECT mark FROM snowdrift.clock'),
	$mark, '... and does not change the mark');

# After a restart, a snapshot can be restored into its own generator, again and again.
$origin->restart;
for my $name (sort keys %draw)
{
	my $own = snapshot($origin, $name);
	like(error_of($origin, "SELECT snowdrift.restore('$name', '$own')"),
		qr/^no error/, "$name: a snapshot of the present state is restored after a restart, $_")
	  for 'once', 'twice';
}
$_->stop for $heir, $origin;

done_testing();
