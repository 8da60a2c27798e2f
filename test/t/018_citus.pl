# In a Citus cluster, no ID is repeated, and nothing needs to be configured: whichever node evaluates
# next_snowflake() or next_sno(), its IDs contain its own number; ULIDs and UUIDs need none. Settings and generators that
# would give several nodes one number raise errors. Citus plans time predicates, joins and aggregates on IDs
# like those on other columns.
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

# The kinds of IDs: type, and the call that draws one
my %kinds = (
	snowflake => [ 'bigint', 'next_snowflake()' ],
	sno => [ 'sno', 'next_sno()' ],
	ulid => [ 'ulid', 'next_ulid()' ],
	uuidv7 => [ 'uuid', 'next_uuidv7()' ]);
my @kinds = sort keys %kinds;

# ---- the cluster --------------------------------------------------------------------------------------

my ($coordinator, @workers) = start_cluster();
my @nodes = ($coordinator, @workers);

# on_each(QUERY): the results on the nodes, each on a line
sub on_each { return join("\n", map { $_->safe_psql('postgres', $_[0]) } @nodes) }

# errors_on_each(STATEMENTS, PATTERN): on how many nodes error_of() matches the pattern
sub errors_on_each
{
	my ($statements, $pattern) = @_;
	my @others = grep { $_ !~ $pattern } map { error_of($_, $statements) } @nodes;
	diag($_) for @others;
	return @nodes - @others;
}

# run_on_all_nodes(STATEMENT): Citus runs the statement on all nodes. Returns t if all succeed.
sub run_on_all_nodes
{
	return $coordinator->safe_psql('postgres',
		"SELECT bool_and(success) FROM run_command_on_all_nodes(\$command\$ $_[0] \$command\$)");
}

is(on_each('SELECT number, source FROM snowdrift.node'),
	"0|auto\n1|auto\n2|auto", 'the number of each node is its group in the cluster');
is(on_each(q{SELECT detail ~ 'Citus' FROM snowdrift.node}), "t\nt\nt", '... and snowdrift.node says so');

# ---- no ID is repeated --------------------------------------------------------------------------------

# on_each_concurrently(COMMAND...): runs the command for all nodes at the same time
sub on_each_concurrently
{
	my (@command) = @_;
	my @runs;
	foreach my $node (@nodes)
	{
		my $run = { error => '' };
		$run->{handle} = IPC::Run::start([ @command, $node->connstr('postgres') ],
			'<', \undef, '>', '/dev/null', '2>', \$run->{error});
		push @runs, $run;
	}
	foreach my $run (@runs) { $run->{handle}->finish or die "@command: $run->{error}" }
	return;
}

# psql_on_each(STATEMENTS): runs the statements on all nodes at the same time
sub psql_on_each
{
	on_each_concurrently('psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', script($_[0]), '-d');
	return;
}

# no_duplicates(NAME, ROWS, TABLES...): the tables together have this number of rows, and no ID occurs twice
sub no_duplicates
{
	my ($name, $rows, @tables) = @_;
	my $ids = join(' UNION ALL ', map { "SELECT id FROM $_" } @tables);
	is( $coordinator->safe_psql('postgres',
			"SELECT count(*) || ' rows, ' || count(*) - count(DISTINCT id) || ' duplicates' FROM ($ids) AS ids"),
		"$rows rows, 0 duplicates", $name);
	return;
}

# create_table(NAME, KIND, DEFAULT): a distributed table without a constraint on its IDs
my %tables;

sub create_table
{
	my ($name, $kind, $default) = @_;
	$coordinator->safe_psql('postgres',
		"CREATE TABLE ${name}_$kind (tenant int, id $kinds{$kind}[0] DEFAULT $default);
		 SELECT create_distributed_table('${name}_$kind', 'tenant', colocate_with => 'source')");
	push @{ $tables{$kind} }, "${name}_$kind";
	return;
}

my $rows = 20_000;
$coordinator->safe_psql('postgres',
	"CREATE TABLE source (tenant int);
	 SELECT create_distributed_table('source', 'tenant');
	 INSERT INTO source SELECT generate_series(1, $rows)");

# The statements by which 250 rows are inserted, and how often each node runs them
my $values = 'VALUES ' . join(', ', map { "($_)" } 1 .. 250);
my $copied = join("\n", 1 .. 250, '\.');
my $rounds = 20;

my %total;
foreach my $kind (@kinds)
{
	my ($type, $draw) = @{ $kinds{$kind} };

	create_table('selected', $kind, $draw);
	$coordinator->safe_psql('postgres', "INSERT INTO selected_$kind (tenant) SELECT tenant FROM source");
	no_duplicates("$kind: INSERT ... SELECT on the coordinator", $rows, "selected_$kind");
	psql_on_each("INSERT INTO selected_$kind (tenant) SELECT tenant FROM source");
	no_duplicates("$kind: INSERT ... SELECT on all nodes", 4 * $rows, "selected_$kind");

	create_table('inserted', $kind, $draw);
	psql_on_each("INSERT INTO inserted_$kind (tenant) $values;\n" x $rounds);
	no_duplicates("$kind: VALUES on all nodes", 3 * $rounds * 250, "inserted_$kind");

	create_table('copied', $kind, $draw);
	psql_on_each("COPY copied_$kind (tenant) FROM stdin;\n$copied\n" x $rounds);
	no_duplicates("$kind: COPY on all nodes", 3 * $rounds * 250, "copied_$kind");

	create_table('benched', $kind, $draw);
	on_each_concurrently('pgbench', '-n', '-c', 2, '-t', 500, '-f',
		script("INSERT INTO benched_$kind (tenant) VALUES ((random() * 1000)::int);\n"));
	no_duplicates("$kind: pgbench on all nodes", 3 * 2 * 500, "benched_$kind");

	$coordinator->safe_psql('postgres',
		"CREATE TABLE altered_$kind (tenant int);
		 SELECT create_distributed_table('altered_$kind', 'tenant', colocate_with => 'source');
		 INSERT INTO altered_$kind SELECT tenant FROM source;
		 ALTER TABLE altered_$kind ADD COLUMN id $type DEFAULT $draw");
	push @{ $tables{$kind} }, "altered_$kind";
	no_duplicates("$kind: ALTER TABLE ... ADD COLUMN ... DEFAULT", $rows, "altered_$kind");

	$coordinator->safe_psql('postgres', "CREATE TABLE drawn_$kind (id $type)");
	push @{ $tables{$kind} }, "drawn_$kind";
	foreach my $node (@nodes)
	{
		my $ids = $node->safe_psql('postgres', "SELECT $draw FROM source");
		$coordinator->safe_psql('postgres', "COPY drawn_$kind FROM stdin;\n$ids\n\\.\n");
	}
	no_duplicates("$kind: SELECT $draw FROM a distributed table, on each node", 3 * $rows, "drawn_$kind");

	$total{$kind} = 8 * $rows + 6 * $rounds * 250 + 3000;
	no_duplicates("$kind: all tables", $total{$kind}, @{ $tables{$kind} });
}

# ---- settings -----------------------------------------------------------------------------------------

# A setting that Citus passes on to all nodes
my $refused = qr/ERROR:  55000: .*HINT:  /s;
is(errors_on_each('SET snowdrift.node = 7; SELECT next_snowflake()', $refused), 3, 'SET: each node raises an error');
foreach my $on ('DATABASE postgres', 'ROLE CURRENT_USER')
{
	$coordinator->safe_psql('postgres', "ALTER $on SET snowdrift.node = 7");
	is(errors_on_each("SELECT $kinds{$_}[1]", $refused), 3, "ALTER $on, $_: each node raises an error")
	  for 'snowflake', 'sno';
	is(errors_on_each("SELECT $kinds{$_}[1]", qr/^no error/), 3, "... but not $_: its IDs contain no number")
	  for 'ulid', 'uuidv7';
	$coordinator->safe_psql('postgres', "ALTER $on RESET snowdrift.node");
}

# configure(SETTING, NUMBERS...): sets snowdrift.node in the configuration file of each node, and waits for the
# numbers
sub configure
{
	my ($setting, @numbers) = @_;
	foreach my $node (@nodes)
	{
		my $number = shift @numbers;
		$node->adjust_conf('postgresql.conf', 'snowdrift.node', undef);
		$node->append_conf('postgresql.conf', "snowdrift.node = $setting\n");
		$node->reload;
		$node->poll_query_until('postgres', "SELECT number = $number FROM snowdrift.node") or die "$setting: not $number";
	}
	return;
}

my $number_in_ids = 'SELECT snowflake_worker(next_snowflake()) + 32 * snowflake_datacenter(next_snowflake()),
	sno_partition(next_sno())';
configure("'citus+100'", 100, 101, 102);
is(on_each($number_in_ids), "100|100\n101|101\n102|102", 'an offset in the configuration files');
configure('12', 12, 12, 12);
is(on_each($number_in_ids), "12|12\n12|12\n12|12", 'a number in a configuration file counts');
configure('auto', 0, 1, 2);

# ---- named generators ---------------------------------------------------------------------------------

my %pins = (snowflake => 'worker => 3', sno => 'partition => 4242');
foreach my $kind (sort keys %pins)
{
	my $pinned = "snowdrift.create_generator('pinned', '$kind', $pins{$kind}";
	is(errors_on_each("SELECT $pinned)", qr/ERROR:  55000: ID generator "\w+" is not unique.*HINT:  .*this_node_only/s),
		3, "$kind: no node creates a generator with a number");
	is(run_on_all_nodes("SELECT $pinned, this_node_only => true)"), 't', '... unless it is for this node only');
	is(errors_on_each("SELECT next_$kind('pinned')", qr/^no error/), 3, '... and then it generates IDs');

	$coordinator->safe_psql('postgres', "SELECT snowdrift.create_generator('orders', '$kind')");
	create_table('orders', $kind, "next_$kind('orders')");
	like(
		error_of($coordinator, "INSERT INTO orders_$kind (tenant) SELECT tenant FROM source"),
		qr/ERROR:  42704: .*HINT:  .*run_command_on_all_nodes/s,
		'... a node without the generator raises an error');
	$coordinator->safe_psql('postgres', "SELECT snowdrift.drop_generator('orders', force => true)");
	is(run_on_all_nodes("SELECT snowdrift.create_generator('orders', '$kind')"),
		't', '... run_command_on_all_nodes creates it on all nodes');
	psql_on_each("INSERT INTO orders_$kind (tenant) SELECT tenant FROM source");
	no_duplicates("$kind: INSERT ... SELECT from a named generator, on all nodes", 3 * $rows, "orders_$kind");
	$total{$kind} += 3 * $rows;
	run_on_all_nodes("SELECT snowdrift.drop_generator('$_', force => true)") for 'pinned', 'orders';
}
is( errors_on_each(
		"SELECT snowdrift.create_generator('old', 'snowflake', 'mastodon')",
		qr/ERROR:  55000: .*HINT:  .*this_node_only/s),
	3, 'no node creates a generator with a layout that has no node');

# ---- plans --------------------------------------------------------------------------------------------

# An ID of the time t, and a time predicate
my $recently = "tstzrange(now() - interval '48.5 hours', NULL)";
my %queries = (
	snowflake => [ 'make_snowflake(t, 0, 0, 0)', "snowflake_within(id, $recently)" ],
	sno => [ 'make_sno(t, 0, 0, 0)', "id >= now() - interval '48.5 hours'" ],
	ulid => [ 'ulid_at(t)', "ulid_within(id, $recently)" ],
	uuidv7 => [ 'uuidv7_at(t)', "uuidv7_within(id, $recently)" ]);

# in_each_shard(QUERY, PATTERN, NAME): the pattern matches the plan of each of the eight shards
sub in_each_shard
{
	my ($query, $pattern, $name) = @_;
	my $plan = $coordinator->safe_psql('postgres', "SET citus.explain_all_tasks = on; EXPLAIN (COSTS OFF) $query");
	my ($coordinators, @shards) = split /->  Task\n/, $plan;
	my @matching = grep { $_ =~ $pattern } @shards;
	is(@matching . ' of ' . @shards, '8 of 8', $name) or diag($plan);
	return;
}

foreach my $kind (sort keys %queries)
{
	my ($id, $recent) = @{ $queries{$kind} };
	my ($events, $likes) = ("events_$kind", "likes_$kind");
	$coordinator->safe_psql('postgres',
		"CREATE TABLE $events (id $kinds{$kind}[0] PRIMARY KEY);
		 CREATE TABLE $likes (event $kinds{$kind}[0]);
		 SELECT create_distributed_table('$events', 'id');
		 SELECT create_distributed_table('$likes', 'event', colocate_with => '$events');
		 INSERT INTO $events SELECT $id FROM generate_series(now() - interval '20000 hours', now(), '1 hour') AS t;
		 INSERT INTO $likes SELECT id FROM $events;
		 ANALYZE $events, $likes");
	in_each_shard("SELECT * FROM $events WHERE $recent",
		qr/Index Cond: .*id >=/, "$kind: a time predicate uses the index of each shard");
	is($coordinator->safe_psql('postgres', "SELECT count(*) FROM $events WHERE $recent"), 49, '... and finds the rows');
	in_each_shard("SELECT * FROM $events ORDER BY id DESC LIMIT 5",
		qr/->  Limit\n\s+->  Index Only Scan Backward/, '... ORDER BY and LIMIT use the index of each shard');
	if ($kind ne 'uuidv7')    # uuid has no min() and max()
	{
		in_each_shard("SELECT min(id), max(id) FROM $events",
			qr/Node: .*\n\s+->  (Aggregate|Result)\n/, '... min and max are computed in each shard');
		is( $coordinator->safe_psql('postgres', "SELECT max(id) FROM $events"),
			$coordinator->safe_psql('postgres', "SELECT id FROM $events ORDER BY id DESC LIMIT 1"),
			'... and then of all shards');
	}
	in_each_shard("SELECT count(*) FROM $events JOIN $likes ON event = id",
		qr/Join|Nested Loop/, '... a join on the ID is computed in each shard');
	is($coordinator->safe_psql('postgres', "SELECT count(*) FROM $events JOIN $likes ON event = id"),
		20_001, '... and finds the rows');
}

# create_time_partitions() requires casts between the type of the column and timestamptz.
foreach my $kind ('sno', 'ulid')
{
	$coordinator->safe_psql('postgres',
		"CREATE TABLE visits_$kind (tenant int, id $kind DEFAULT $kinds{$kind}[1]) PARTITION BY RANGE (id);
		 SELECT create_distributed_table('visits_$kind', 'tenant')");
	is( $coordinator->safe_psql('postgres',
			"SELECT create_time_partitions('visits_$kind', '1 month', now() + interval '2 months', now())"),
		't', "$kind: create_time_partitions creates partitions");
	$coordinator->safe_psql('postgres', "INSERT INTO visits_$kind (tenant) SELECT generate_series(1, 100)");
	my $partition = $coordinator->safe_psql('postgres',
		"SELECT partition FROM time_partitions WHERE parent_table = 'visits_$kind'::regclass
		 AND now() >= from_value::$kind\::timestamptz AND now() < to_value::$kind\::timestamptz");
	is($coordinator->safe_psql('postgres', "SELECT count(*) FROM $partition"),
		100, '... and rows are in that of their month');
}

# ---- servers that join --------------------------------------------------------------------------------

# error_in(SESSION, STATEMENT): the error that the statement raises in an open session
sub error_in
{
	my ($session, $statement) = @_;
	$session->query("\\set VERBOSITY verbose\n$statement");
	my $error = $session->{stderr};
	$session->{stderr} = '';
	return $error;
}

# Sessions of a server that drew IDs before it joined the cluster
my $late = citus_server('worker_3');
$late->safe_psql('postgres',
	"CREATE EXTENSION snowdrift; SELECT snowdrift.create_generator('pinned', 'snowflake', worker => 3)");
my ($open, $set) = map { $late->background_psql('postgres', on_error_stop => 0) } 1, 2;
is($open->query_safe($number_in_ids), '0|0', 'a server outside a cluster has the number 0');
is($open->query_safe("SELECT snowflake_worker(next_snowflake('pinned'))"), 3, '... its generators can have others');
$set->query_safe('LOAD $$snowdrift$$; SET snowdrift.node = 7');
is($set->query_safe($number_in_ids), '7|7', '... and so can a session');
$coordinator->safe_psql('postgres', 'SELECT citus_add_node(' . address($late) . ')');
is($open->query_safe($number_in_ids), '3|3', 'after citus_add_node, an open session uses the number of its group');
like(error_in($open, "SELECT next_snowflake('pinned')"),
	qr/ERROR:  55000: .*this_node_only/s, '... a generator with a number raises an error');
like(error_in($set, "SELECT $_"), $refused, "... a session with a number raises an error: $_")
  for 'next_snowflake()', 'next_sno()';
$_->quit for $open, $set;

# add_clone(SOURCE, NAME): a clone, which is a standby of a worker that becomes a worker, and its id as a node. It has
# the IDs, the number and the mark of its source.
sub add_clone
{
	my ($source, $name) = @_;
	$source->backup($name);
	my $clone = PostgreSQL::Test::Cluster->new($name);
	$clone->init_from_backup($source, $name, has_streaming => 1);
	# Citus encrypts connections, and finds a clone by the name under which it receives WAL.
	chmod 0600, $clone->data_dir . '/server.key';
	$clone->append_conf('postgresql.conf',
		sprintf("primary_conninfo = '%s application_name=%s'\n", $source->connstr, $clone->host));
	$clone->start;
	$source->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_replication WHERE state = 'streaming'});
	my $id = $coordinator->safe_psql('postgres',
		'SELECT citus_add_clone_node(' . address($clone) . ', ' . address($source) . ')');
	return ($clone, $id);
}

# wait_for_draws(LOAD, LINES): waits until each session has received this number of further IDs
sub wait_for_draws
{
	my ($load, $lines) = @_;
	my %received = map { $_->{file} => -s $_->{file} // 0 } @$load;
	foreach my $session (@$load)
	{
		usleep(5000) until (-s $session->{file} // 0) >= $received{ $session->{file} } + 18 * $lines;
	}
	return;
}

# Clones that are promoted while sessions draw IDs on the clone and on its source
my $source = $workers[0];
my $promotions = $ENV{SNOWDRIFT_LONG} ? 10 : 2;
my $draw = Snowdrift::twenty_of('next_snowflake()', 'next_sno()');
my (@clones, %errors);
foreach my $round (1 .. $promotions)
{
	my ($clone, $id) = add_clone($source, "clone_$round");
	push @clones, $clone;
	$open = $clone->background_psql('postgres');
	is($open->query_safe('SELECT number FROM snowdrift.node'), 1, 'a clone has the number of its source');
	# The clone's sessions raise errors until it has a number of its own, and continue.
	my @draws = map { start_load($_, 2, $draw, '\set ON_ERROR_STOP off') } $source, $clone;
	wait_for_draws($draws[0], 1000);
	$coordinator->safe_psql('postgres', "SELECT citus_promote_clone_and_rebalance($id)");
	wait_for_draws($_, 1000) for @draws;
	my $group = 3 + $round;
	is($open->query_safe($number_in_ids), "$group|$group", '... after its promotion, an open session uses the number of its group');
	$open->quit;
	my ($repeated, $count) = duplicates(map { end_load($_) } @draws);
	is($repeated, '', "... and of $count IDs that were drawn on both during the promotion, none is repeated");
	$errors{$_}++ for map { slurp_file($_->{errors}) =~ /ERROR:  (.*)/g } @{ $draws[1] };
	is($source->safe_psql('postgres', $number_in_ids), '1|1', '... and the source keeps its number');
	unlike(slurp_file($_->{errors}), qr/ERROR/, '... and raises no error') for @{ $draws[0] };
}
note("$errors{$_} times: $_") for sort keys %errors;
is(join("\n", grep { !/^cannot generate IDs during recovery|^another server may generate equal IDs/ } keys %errors),
	'', 'a clone raises no other errors');

push @nodes, $late, @clones;
foreach my $kind (@kinds)
{
	create_table('joined', $kind, $kinds{$kind}[1]);
	psql_on_each("INSERT INTO joined_$kind (tenant) SELECT tenant FROM source;\n"
		  . "INSERT INTO joined_$kind (tenant) $values;\n" x $rounds);
	my $expected = @nodes * ($rows + $rounds * 250);
	no_duplicates("$kind: INSERT ... SELECT and VALUES on all nodes, after servers joined", $expected, "joined_$kind");
	no_duplicates("$kind: all tables", $total{$kind} + $expected, @{ $tables{$kind} });
}
is($coordinator->safe_psql('postgres',
		'SELECT array_agg(DISTINCT snowflake_worker(id) ORDER BY snowflake_worker(id)) FROM joined_snowflake'),
	'{' . join(',', 0 .. $#nodes) . '}', 'each node generates IDs with its own number');

# Each node has its own keys of seals. The statement of the page gives all nodes the same one.
my ($create_seal) = slurp_file('docs/sealed-ids.md') =~ /^(SELECT run_command_on_all_nodes\(.*?;)$/m;
$coordinator->safe_psql('postgres', $create_seal =~ s/\\x…/'\\x' . '5a' x 32/er);
is(on_each(q{SELECT snowflake_seal(1, 'orders')}), join("\n", ('372bb604-17d4-83af-81fb-f8a1c654a6b9') x @nodes), 'all nodes make the same seals');
is($coordinator->safe_psql('postgres', q{SELECT count(*) > 0, bool_and(snowflake_unseal(snowflake_seal(id, 'orders'), 'orders') = id) FROM joined_snowflake}),
	't|t', '... also in queries of a distributed table');

# Offsets of roles and sessions, whose sessions would share numbers with other nodes.
like(error_of($coordinator, "SET snowdrift.node = 'citus+1'; SELECT next_snowflake()"),
	qr/ERROR:  55000: this server has no number.*cannot be set for a session/s, 'an offset for a session raises an error');

# While Citus is being upgraded, and without its metadata, a worker does not take the coordinator's number.
my $upgraded = $workers[1];
like(error_of($upgraded, "BEGIN; SET LOCAL allow_system_table_mods = on; DELETE FROM pg_dist_local_group;
		SAVEPOINT a; SELECT next_snowflake(); ROLLBACK TO a; SELECT next_sno()"),
	qr/ERROR:  55000: this server has no number.*Citus is being upgraded/s, 'no number while Citus is being upgraded');
$coordinator->safe_psql('postgres', 'SELECT stop_metadata_sync_to_node(' . address($upgraded) . ')');
like(error_of($coordinator, 'INSERT INTO joined_snowflake (tenant) SELECT tenant FROM source'),
	qr/ERROR:  55000: this server has no number.*Citus has not synchronized its metadata/s,
	'no number on a worker without metadata');

$_->stop for reverse @nodes;
done_testing();
