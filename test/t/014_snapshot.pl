# Generators moved to another server by snapshots: they go on without overlap, also when the clock
# there is behind and the server crashes right after the restore.
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

# The files of IDs that sessions have received of each generator.
my %received = (orders => [], people => []);

# draw(NODE): sessions draw from both generators for a while.
sub draw
{
	my ($node) = @_;
	my %load = map { $_ => start_load($node, 2, $draw{$_}) } sort keys %draw;
	wait_for_load($load{$_}, $ids_each) for sort keys %draw;
	push @{ $received{$_} }, end_load($load{$_}) for sort keys %draw;
	return;
}

# no_duplicates(WHEN): checks all that was received so far.
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

# move(FROM, TO): moves both generators, whose definitions the snapshots bring along.
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

# One server, and a standby of it.
my $origin = new_server('origin', allows_streaming => 1);
start_with_clock($origin, '+0');
$origin->safe_psql('postgres', <<'SQL');
CREATE EXTENSION snowdrift;
SELECT snowdrift.create_generator('orders', 'snowflake', datacenter => 0, worker => 3, sequence_max => 255);
SELECT snowdrift.create_generator('people', 'sno', partition => 4242, sequence_min => 10);
SQL
my %definition = map { $_ => definition_of($origin, $_) } keys %draw;
my $standby = PostgreSQL::Test::Cluster->new('standby');
$origin->backup('backup');
$standby->init_from_backup($origin, 'backup', has_streaming => 1);
$standby->start;
my $began = time;
draw($origin);

like(error_of($standby, "SELECT snowdrift.snapshot('orders')"),
	qr/ERROR:  25006: cannot take a snapshot of an ID generator during recovery/,
	'no snapshot is taken on a standby, which does not know how far a generator has come');
$origin->wait_for_catchup($standby);
my $snapshot = snapshot($origin, 'orders');
like(error_of($standby, "SELECT snowdrift.restore('orders', '$snapshot')"),
	qr/ERROR:  25006: /, '... and none is restored');
$standby->stop;

# Another server. Its clock says what the first one's said when that began to draw, so that IDs at
# its own time would come again. Snos wait there until it has passed the first one's.
my $heir = new_server('heir');
my $behind = sub { return '-' . (time - $began) };
start_with_clock($heir, $behind->());
$heir->safe_psql('postgres', 'CREATE EXTENSION snowdrift');
my %before = map { $_ => snapshot($origin, $_) } keys %draw;
move($origin, $heir);
for my $name (sort keys %draw)
{
	is(definition_of($heir, $name), $definition{$name}, "$name: restored, it is defined as it was");
}
is( $heir->safe_psql('postgres', "SELECT bool_and(mark >= (s->>'last_timestamp')::timestamptz)
		FROM snowdrift.clock, jsonb_array_elements('[$before{orders}, $before{people}]') AS s"),
	't', 'the mark covers both');
# The second one that is restored begins after the mark, which the first one has raised.
my $after = snapshot($heir, 'orders');
s/"now": "[^"]*"// for $after, $before{orders};
is($after, $before{orders}, 'the first one is exactly where it was');
$heir->stop('immediate');
start_with_clock($heir, $behind->());
draw($heir);
no_duplicates('moved to a server that is behind, and crashes right after the restore');

# Back again, without a crash, to one that is behind now.
set_clock($origin, $behind->());
move($heir, $origin);
draw($origin);
no_duplicates('and moved back');

# A snapshot that is not of the last ID is refused by who knows that.
my %stale = map { $_ => snapshot($origin, $_) } keys %draw;
draw($origin);
like(error_of($origin, "SELECT snowdrift.restore('$_', '$stale{$_}')"),
	qr/ERROR:  55000: snapshot lags behind ID generator "$_"/, "$_: an older snapshot is refused")
  for sort keys %draw;

# One from a clock in the far future does not take the database along.
set_clock($heir, '+300');
$heir->safe_psql('postgres', "SELECT snowdrift.create_generator('$_', 'snowflake'),
	next_snowflake('$_')") for 'ahead';
my $mark = $origin->safe_psql('postgres', 'SELECT mark FROM snowdrift.clock');
like(error_of($origin, "SELECT snowdrift.restore('ahead', '" . snapshot($heir, 'ahead') . "')"),
	qr/ERROR:  55000: snapshot is \d+ ms ahead of the server's clock/,
	'one from five minutes in the future is refused');
is($origin->safe_psql('postgres', 'SELECT mark FROM snowdrift.clock'),
	$mark, '... and leaves the mark alone');
$_->stop for $heir, $origin;

done_testing();
