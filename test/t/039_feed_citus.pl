# In a Citus cluster, a reader reads each new row once, in the order of each node's IDs, as docs/feeds.md describes:
# watermarks of all nodes, the end of the transactions that are prepared then, and rows of each node.
use strict;
use warnings FATAL => 'all';
use Test::More;
use Snowdrift;
use Citus;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use IPC::Run ();
use Time::HiRes qw(usleep);

need_citus();
my ($coordinator, @workers) = start_cluster();

$coordinator->safe_psql('postgres', q{
	CREATE TABLE source (tenant int);
	SELECT create_distributed_table('source', 'tenant');
	INSERT INTO source SELECT generate_series(1, 20000);
	CREATE TABLE feed (tenant int, id bigint DEFAULT next_snowflake());
	SELECT create_distributed_table('feed', 'tenant', colocate_with => 'source')});
my $writers = script(q{\set tenant random(1, 100000)
\set other random(1, 100000)
\set outcome random(1, 4)
BEGIN;
INSERT INTO feed (tenant) VALUES (:tenant);
SELECT pg_sleep(0.05 * random());
INSERT INTO feed (tenant) VALUES (:other);
INSERT INTO feed (tenant) SELECT tenant FROM source WHERE tenant % 5000 = :outcome;
\if :outcome = 1
ROLLBACK;
\else
COMMIT;
\endif
});
my @writers = map {
	IPC::Run::start([ 'pgbench', '-n', '-c', 2, '-t', $ENV{SNOWDRIFT_LONG} ? 1000 : 50, '-f', $writers, '-d', $_->connstr('postgres') ],
		'<', \undef, '>', '/dev/null', '2>', \my $errors)
} $coordinator, @workers;
my $reader = $coordinator->background_psql('postgres');
my $prepared = q{FROM run_command_on_all_nodes($$SELECT string_agg(gid, ',') FROM pg_prepared_xacts WHERE gid LIKE 'citus\_%'$$),
	unnest(string_to_array(result, ',')) AS gid};
my %read = map { $_ => [] } 0 .. 2;

# read_feed(): reads new rows of all nodes
sub read_feed
{
	my $watermarks = $reader->query_safe(
		q{SELECT groupid, result::bigint FROM run_command_on_all_nodes('SELECT snowflake_watermark()') JOIN pg_dist_node USING (nodeid)});
	my $open = $reader->query_safe("SELECT quote_literal(gid) $prepared");
	$open =~ s/\n/, /g;
	if ($open)
	{
		usleep(1000) until $reader->query_safe("SELECT count(*) $prepared WHERE gid IN ($open)") eq '0';
	}
	foreach my $line (split /\n/, $watermarks)
	{
		my ($group, $watermark) = split /\|/, $line;
		my $last = $read{$group}[-1] // 0;
		push @{ $read{$group} }, split /\n/, $reader->query_safe(
			"SELECT id FROM feed WHERE id > $last AND id < $watermark
			 AND snowflake_datacenter(id) * 32 + snowflake_worker(id) = $group ORDER BY id");
	}
	return;
}

read_feed() while grep { eval { $_->pump_nb }; $_->pumpable } @writers;
$_->finish or die 'pgbench failed' for @writers;
foreach my $group (0 .. 2)
{
	my @rows = split /\n/, $coordinator->safe_psql('postgres',
		"SELECT id FROM feed WHERE snowflake_datacenter(id) * 32 + snowflake_worker(id) = $group ORDER BY id");
	read_feed() until @{ $read{$group} } && $read{$group}[-1] >= $rows[-1];
	is_deeply($read{$group}, \@rows, 'a reader reads each of the ' . @rows . " rows of node $group once, in order");
}

# A transaction in two phases that has ended on the node where it drew, and not yet on another one
my ($shard, $port) = split /\|/, $coordinator->safe_psql('postgres',
	"SELECT shard_name, nodeport FROM citus_shards WHERE table_name = 'feed'::regclass AND nodeport <> " . $coordinator->port . ' LIMIT 1');
my ($worker) = grep { $_->port == $port } @workers;
my $id = $coordinator->safe_psql('postgres', 'SELECT next_snowflake()');
$worker->safe_psql('postgres', "SET citus.enable_manual_changes_to_shards = on;
	BEGIN; INSERT INTO $shard VALUES (1, $id); PREPARE TRANSACTION 'citus_99_1_1_1'");
$coordinator->safe_psql('postgres', 'INSERT INTO feed (tenant) VALUES (1)');
my $ending = IPC::Run::start([ 'psql', '-X', '-q', '-d', $worker->connstr('postgres'), '-c', 'SELECT pg_sleep(1)', '-c', "COMMIT PREPARED 'citus_99_1_1_1'" ],
	'<', \undef, '>', '/dev/null');
read_feed() until $read{0}[-1] > $id;
$ending->finish;
is($read{0}[-2], $id, '... also a row whose transaction ends later on the node that stores it');
$reader->quit;

$_->stop for reverse $coordinator, @workers;
done_testing();
