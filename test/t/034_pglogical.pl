# pglogical replicates two servers to each other. A server without a number of its own logs that. Neither server applies
# the other's definitions, mark and records of past times, so with different numbers, no ID is repeated.
use strict;
use warnings FATAL => 'all';
use Test::More;
use Snowdrift;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use IPC::Run ();

chomp(my $share = `pg_config --sharedir`);
if (!-e "$share/extension/pglogical.control")
{
	plan skip_all => 'needs pglogical, found none' unless $ENV{SNOWDRIFT_PGLOGICAL};
	fail("$ENV{SNOWDRIFT_PGLOGICAL} is installed, but has no extension");
	done_testing();
	exit;
}

# new_writer(NAME): a server with pglogical and a table "posts", which is a node of this name
sub new_writer
{
	my ($name) = @_;
	my $node = new_server($name, allows_streaming => 'logical');
	$node->append_conf('postgresql.conf',
		"shared_preload_libraries = 'pglogical'\nmax_worker_processes = 16\ntrack_commit_timestamp = on\n"
		  . "wal_sender_timeout = 0\nwal_receiver_timeout = 0\n");
	$node->start;
	# Minor releases of 2026 introduced a list of trusted plugins.
	if ($node->safe_psql('postgres', q{SELECT 1 FROM pg_settings WHERE name = 'output_plugin_libraries'}))
	{
		$node->append_conf('postgresql.conf', "output_plugin_libraries = 'pgoutput, pglogical_output'\n");
		$node->reload;
	}
	my $dsn = $node->connstr('postgres') =~ s/'/''/gr;
	$node->safe_psql('postgres',
		qq{CREATE EXTENSION pglogical; CREATE EXTENSION snowdrift;
		CREATE TABLE posts (id bigint PRIMARY KEY DEFAULT next_snowflake(), sno sno DEFAULT next_sno(),
			server text NOT NULL);
		SELECT pglogical.create_node('$name', '$dsn'), pglogical.replication_set_add_table('default', 'posts')});
	return $node;
}

# subscribe(NODE, PROVIDER, OPTIONS): subscribes the server to the other one's replication sets
sub subscribe
{
	my ($node, $provider, $options) = @_;
	my $dsn = $provider->connstr('postgres') =~ s/'/''/gr;
	my $name = 'from_' . $provider->name;
	$node->safe_psql('postgres', "SELECT pglogical.create_subscription('$name', '$dsn', $options)");
	$node->poll_query_until('postgres',
		"SELECT status = 'replicating' FROM pglogical.show_subscription_status('$name')
		 WHERE NOT EXISTS (SELECT FROM pglogical.local_sync_status WHERE sync_status <> 'r')")
	  or die "$name does not replicate";
	return;
}

# catch_up(PROVIDER): waits until the other server has applied this one's changes
sub catch_up
{
	my ($provider) = @_;
	my $written = $provider->safe_psql('postgres', 'SELECT pg_current_wal_flush_lsn()');
	$provider->poll_query_until('postgres',
		"SELECT bool_and(confirmed_flush_lsn >= '$written') FROM pg_replication_slots")
	  or die 'changes of ' . $provider->name . ' are not applied';
	return;
}

my $missing_number = qr/LOG:  database "postgres" may take part in logical replication, but this server has no number/;
my $definitions = 'SELECT name, id, kind, worker, partition FROM snowdrift_tables.generator ORDER BY name';
my $mark = 'SELECT unix_ms FROM snowdrift_tables.mark';
my $back_filled = 'SELECT count(*), max(sequence) FROM snowdrift_tables.backfill';
my $back_fill = q{SELECT snowflake_at('2022-01-01Z'), snowflake_at('2022-01-01Z', 'orders')};
my $draw_own = q{SELECT snowflake_worker(next_snowflake('orders')), sno_partition(next_sno('visits'))};

# The default, "auto", on both servers
my ($one, $two) = map { new_writer($_) } 'one', 'two';
my $session = $one->background_psql('postgres');
$session->query_safe('INSERT INTO posts (server) SELECT $$one$$ FROM generate_series(1, 10)');
is(count_of($one, $missing_number), 0, 'without a subscriber, no missing number is logged');

# The same names and ids on both servers, with other definitions
$two->safe_psql('postgres',
	qq{SELECT snowdrift.create_generator('orders', 'snowflake', worker => 4),
		snowdrift.create_generator('visits', 'sno', partition => 4); $draw_own; $back_fill});
my $own = $two->safe_psql('postgres', $definitions);
my $own_mark = $two->safe_psql('postgres', $mark);
my $own_back_filled = $two->safe_psql('postgres', $back_filled);
$one->safe_psql('postgres',
	qq{SELECT snowdrift.create_generator('orders', 'snowflake', worker => 3),
		snowdrift.create_generator('visits', 'sno', partition => 3),
		snowdrift.create_generator('of one', 'snowflake', worker => 3); $draw_own; $back_fill; $back_fill;
		SELECT snowdrift.advance(clock_timestamp() + interval '9 s')});
cmp_ok($one->safe_psql('postgres', $mark), '>', $own_mark, 'one server has a later mark than the other');
$one->safe_psql('postgres',
	q{SELECT pglogical.replication_set_add_table('default', 'snowdrift_tables.generator'),
		pglogical.replication_set_add_table('default_insert_only', 'snowdrift_tables.mark'),
		pglogical.replication_set_add_table('default_insert_only', 'snowdrift_tables.backfill')});
subscribe($two, $one, q{synchronize_data := true, forward_origins := '{}'});
is($two->safe_psql('postgres', 'SELECT count(*) FROM posts'), 10, 'the initial copy of all tables copies rows');
is($two->safe_psql('postgres', $definitions), $own, '... but no definitions');
is($two->safe_psql('postgres', $mark), $own_mark, '... and does not change the mark');
is($two->safe_psql('postgres', $back_filled), $own_back_filled, '... or the records of past times');

$one->safe_psql('postgres',
	qq{SELECT snowdrift.create_generator('later', 'snowflake', worker => 5), snowdrift.drop_generator('of one'),
		snowdrift.drop_generator('orders');
	SELECT snowdrift.create_generator('orders', 'snowflake', worker => 6);
	SELECT snowdrift.drop_generator('visits', force => true);
	SELECT snowdrift.create_generator('visits', 'sno', partition => 6);
	$back_fill;
	INSERT INTO posts (server) SELECT 'one' FROM generate_series(1, 10)});
catch_up($one);
is($two->safe_psql('postgres', 'SELECT count(*) FROM posts'), 20, 'later changes of rows arrive');
is($two->safe_psql('postgres', $definitions), $own, '... but not those of definitions');
is($two->safe_psql('postgres', $mark), $own_mark, '... or of the mark');
is($two->safe_psql('postgres', $back_filled), $own_back_filled, '... or of the records of past times');
is($two->safe_psql('postgres', $draw_own), '4|4', '... each server draws from its own generators');
is($one->safe_psql('postgres', $draw_own), '6|6', '... whose numbers differ');
like(
	error_of($two, q{SELECT next_snowflake('later')}),
	qr/42704: ID generator "later" does not exist/,
	'... and a generator that only one server has raises an error on the other');

# The subscriber has an origin, and the provider a slot.
is(count_of($two, $missing_number), 0, 'IDs without the number cause no message');
$two->safe_psql('postgres', 'SELECT next_snowflake()') for 1 .. 2;
is(count_of($two, "$missing_number.*\n.*DETAIL:  The server has replication origins\\."),
	1, 'a subscriber without a number logs that');
$one->safe_psql('postgres', 'CREATE TABLE ddl ()');
$session->query_safe('SELECT next_snowflake()') for 1 .. 2;
is(count_of($one, "$missing_number.*\n.*DETAIL:  The database has logical replication slots\\."),
	1, '... and so does a provider, also in a session that has drawn before');
$session->quit;

# Both directions, with numbers
subscribe($one, $two, q{synchronize_data := false, forward_origins := '{}'});
my %numbers = ($one->name => 1, $two->name => 2);
foreach my $node ($one, $two)
{
	my $number = $numbers{ $node->name };
	$node->safe_psql('postgres', "LOAD 'snowdrift'; ALTER SYSTEM SET snowdrift.node = $number");
	$node->reload;
	$node->poll_query_until('postgres', "SELECT number = $number FROM snowdrift.node")
	  or die 'the number does not take effect';
	$node->safe_psql('postgres', 'DELETE FROM posts');
	catch_up($node);
}
my @loads;
foreach my $node ($one, $two)
{
	my $script = $node->basedir . '/insert.sql';
	append_to_file($script, "INSERT INTO posts (server) SELECT '" . $node->name . "' FROM generate_series(1, 5);\n");
	push @loads,
	  IPC::Run::start([ 'pgbench', '-n', '-c', '3', '-t', '500', '-f', $script, $node->connstr('postgres') ],
		'<', \undef, '>', \my $out, '2>', \my $error);
}
is(scalar(grep { $_->finish } @loads), 2, 'two servers with the numbers 1 and 2 insert 7500 rows each');
catch_up($_) for $one, $two;
my $rows = q{SELECT count(*), count(DISTINCT id), count(DISTINCT sno),
	bool_and(snowflake_worker(id) = CASE server WHEN 'one' THEN 1 ELSE 2 END), md5(string_agg(id || server, '' ORDER BY id))
	FROM posts};
like($one->safe_psql('postgres', $rows), qr/^15000\|15000\|15000\|t\|/, '... all rows arrive, with different IDs');
is($two->safe_psql('postgres', $rows), $one->safe_psql('postgres', $rows), '... on both servers');
foreach my $node ($one, $two)
{
	is(count_of($node, qr/CONFLICT: .*posts/), 0, '... ' . $node->name . ' reports no conflict');
	is(count_of($node, $missing_number), 1, '... and no missing number');
	$node->stop;
}

done_testing();
