# Clones: Citus promotes a clone of a node, a physical standby, before the clone's own tables say that it is another
# node. Until they do, the clone draws no IDs with the number of its source, which draws IDs all the while. A plain
# failover causes no error. Tables with the columns of Citus' tables stand for Citus: 018_citus.pl tests with Citus itself.
use strict;
use warnings FATAL => 'all';
use Test::More;
use Snowdrift;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

my $may_be_clone = qr/ERROR:  55000: another server may generate equal IDs\n.*DETAIL:  This server was promoted after its last IDs/s;
my $was_clone = qr/ERROR:  55000: another server may generate equal IDs\n.*DETAIL:  This server was a clone/s;
my @by_number = ('next_snowflake()', 'next_sno()', 'sno_at(now())', q{next_snowflake('numbered')});
my @pinned = (q{next_snowflake('own')}, q{next_sno('own sno')}, q{next_snowflake('toots')});

# is_refused(NODE, NAME), is_allowed(NODE, NAME): all calls that need a number of its own raise the error of a clone, or
# none does
sub is_refused { return is(errors($_[0], $may_be_clone, @by_number, @pinned), @by_number + @pinned, $_[1]) }
sub is_allowed { return is(errors($_[0], qr/^no error/, @by_number, @pinned), @by_number + @pinned, $_[1]) }

# change_nodes(NODE, STATEMENTS): changes the tables of each database in one transaction. As Citus does, tells open
# sessions of it.
sub change_nodes
{
	my ($node, $statements) = @_;
	$node->safe_psql($_,
		"BEGIN; SET LOCAL allow_system_table_mods = on; $statements;
		ALTER TABLE pg_catalog.pg_dist_node SET (fillfactor = 100); COMMIT") for 'postgres', 'quiet';
	return;
}

my $list_clone = 'INSERT INTO pg_dist_node VALUES (4, 4, true, 2)';
my $remove_clone = 'DELETE FROM pg_dist_node WHERE nodeid = 4';
my $promote_clone = 'UPDATE pg_dist_local_group SET groupid = 4;
	UPDATE pg_dist_node SET nodeisclone = false, nodeprimarynodeid = 0 WHERE nodeid = 4';

my $create_tables = q{SET allow_system_table_mods = on;
	CREATE TABLE pg_catalog.pg_dist_local_group (groupid integer);
	CREATE TABLE pg_catalog.pg_dist_node
		(nodeid integer, groupid integer, nodeisclone boolean DEFAULT false, nodeprimarynodeid integer DEFAULT 0);
	INSERT INTO pg_dist_local_group VALUES (1);
	INSERT INTO pg_dist_node VALUES (1, 0), (2, 1), (3, 2);
	CREATE EXTENSION snowdrift};

# worker(NAME): a worker of group 1 with all kinds of generators, which has drawn IDs, and another database in which it
# has drawn none
sub worker
{
	my ($name) = @_;
	my $node = new_server($name, allows_streaming => 1);
	$node->start;
	$node->safe_psql('postgres', 'CREATE DATABASE quiet');
	$node->safe_psql('quiet', $create_tables);
	$node->safe_psql('postgres',
		$create_tables . q{;
		SELECT snowdrift.create_generator('numbered', 'snowflake');
		SELECT snowdrift.create_generator('own', 'snowflake', worker => 5, this_node_only => true);
		SELECT snowdrift.create_generator('own sno', 'sno', partition => 5, this_node_only => true);
		SELECT snowdrift.create_generator('toots', 'snowflake', layout => 'mastodon', this_node_only => true)});
	is_allowed($node, "$name draws IDs");
	$node->backup('base');
	return $node;
}

# configure(NODE, SETTING): sets snowdrift.node in the configuration file, and waits until it has taken effect
sub configure
{
	my ($node, $setting) = @_;
	$node->append_conf('postgresql.conf', "snowdrift.node = '$setting'");
	$node->reload;
	$node->poll_query_until('postgres', "SELECT source = '$setting' FROM snowdrift.node") or die "not $setting";
	return;
}

# ---- the promotion of a clone -------------------------------------------------------------------------

my $worker = worker('worker');
my $clone = standby_of($worker, 'clone');
change_nodes($worker, $list_clone);
is_allowed($worker, '... also while Citus lists a clone of it');
$worker->wait_for_catchup($clone, 'replay');
is($clone->safe_psql('postgres', 'SELECT number FROM snowdrift.node'), 1, 'before its promotion, the clone shows the number');
my ($idle, $open) = map { $clone->background_psql('postgres', on_error_stop => 0) } 1, 2;
$open->query_safe('BEGIN; SELECT count(*) FROM pg_class');
$clone->promote;
is_refused($clone, 'after its promotion, the clone draws no IDs with the number of its source, or from its generators');
is_refused($clone, '... and not with a second call');
like(
	error_of($clone, 'SELECT next_snowflake()'),
	qr/DETAIL:  This server was promoted after its last IDs, and Citus lists a clone of its group 1\.\n.*HINT:  Try again when Citus has promoted the clone\..*snowdrift\.confirm_node\(\)/s,
	'... and says why, and what to do');
is($clone->safe_psql('postgres', 'SELECT * FROM snowdrift.node'),
	'|auto|this server was promoted after its last IDs, and Citus lists a clone of its group 1', '... as does the view snowdrift.node');
like(error_of_database($clone, 'quiet', 'SELECT next_snowflake()'), $may_be_clone, '... and raises the error where no ID was drawn');
like($clone->safe_psql('postgres', 'SELECT next_ulid(), next_uuidv7()'), qr/^\w{26}\|[\w-]{36}$/, '... but ULIDs and UUIDs need no number');
is(errors($clone, $may_be_clone, $pinned[0]), 1, '... which does not change that');
foreach my $session ($idle, $open)
{
	$session->query('SELECT next_snowflake()');
	like($session->{stderr}, qr/another server may generate equal IDs/, 'a session that was open during the promotion raises the error');
	$session->{stderr} = '';
}
$open->query('ROLLBACK');
is_allowed($worker, 'the source draws IDs all the while');
my $number = 'SELECT snowflake_worker(next_snowflake()), sno_partition(next_sno())';
$idle->query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
change_nodes($clone, $promote_clone);
change_nodes($worker, 'UPDATE pg_dist_node SET nodeisclone = false, nodeprimarynodeid = 0 WHERE nodeid = 4');
is($idle->query_safe($number), '4|4', 'with its own group, the clone draws IDs in an open transaction');
is($open->query_safe($number), '4|4', '... in an open session');
is($clone->safe_psql('postgres', $number), '4|4', '... and in a new one');
is($clone->safe_psql('quiet', $number), '4|4', '... also where its source has drawn no ID');
is($worker->safe_psql('postgres', $number), '1|1', '... and its source has its own number');
$_->quit for $idle, $open;
is(errors($clone, $was_clone, @pinned), scalar(@pinned), '... but generators with the node of the source still raise an error');
$clone->restart;
is(errors($clone, $was_clone, @pinned), scalar(@pinned), '... also after a restart');
change_nodes($clone, 'INSERT INTO pg_dist_node VALUES (5, 5, true, 4)');
is($clone->safe_psql('postgres', $number), '4|4', 'a clone of the clone does not concern its number');
$clone->safe_psql('postgres',
	q{SELECT snowdrift.drop_generator('own');
	SELECT snowdrift.create_generator('own', 'snowflake', worker => 6, this_node_only => true)});
is(errors($clone, $was_clone, @pinned), scalar(@pinned), '... also after they are created again');
$clone->safe_psql('postgres', 'SELECT snowdrift.confirm_node()');
is_allowed($clone, '... until a superuser confirms the clone');
is_allowed($worker, '... while those of the source work');
$clone->stop;
$worker->stop;

# ---- a clone that drew no ID before its group changed -------------------------------------------------

$worker = worker('configured');
configure($worker, 12);
is_allowed($worker, 'a source with a configured number');
$clone = standby_of($worker, 'configured_clone');
configure($clone, 12);
change_nodes($worker, $list_clone);
$worker->wait_for_catchup($clone, 'replay');
$clone->promote;
change_nodes($clone, $promote_clone);
is(errors($clone, $was_clone, @by_number, @pinned), @by_number + @pinned, 'a clone that has a configured number raises an error');
like(error_of($clone, 'SELECT next_snowflake()'),
	qr/DETAIL:  This server was a clone of another node of the Citus cluster\.\n.*HINT:  Set a number that no other server has/s,
	'... which says why, and what to do');
configure($clone, 'citus+100');
is(errors($clone, qr/^no error/, @by_number), scalar(@by_number), '... but not for a number from Citus');
configure($clone, 13);
is(errors($clone, $was_clone, @by_number), scalar(@by_number), '... also if the number is not that of its source');
$clone->safe_psql('postgres', 'SELECT snowdrift.confirm_node()');
is_allowed($clone, '... until a superuser confirms the clone');

# The group of this clone is 4.
configure($clone, 'citus+65531');
is($clone->safe_psql('postgres', 'SELECT sno_partition(next_sno())'), 65535, 'the greatest number of a group');
configure($clone, 'citus+65532');
like(error_of($clone, 'SELECT next_sno()'), qr/this server has no number for its IDs.*the number exceeds 65535/s,
	'... beyond which the server has no number');
configure($clone, 'auto');
is($clone->safe_psql('postgres', 'SELECT sno_partition(next_sno())'), 4, 'in a cluster, the group replaces a configured number');
$clone->stop;
$worker->stop;

# The source has drawn no ID since it joined the cluster, or since its number was configured.
$worker = worker('joined');
change_nodes($worker, 'UPDATE pg_dist_local_group SET groupid = 0; DELETE FROM pg_dist_node WHERE nodeid > 1');
is_allowed($worker, 'a server outside a cluster');
configure($worker, 12);
is_allowed($worker, '... with a configured number');
configure($worker, 'auto');
like(error_of($worker, 'SELECT next_snowflake()'), qr/the configured number 12 of/, '... misses that number, although it has the extension');
$worker->safe_psql('postgres', 'SELECT snowdrift.confirm_node()');
is_allowed($worker, '... until a superuser confirms that none is needed');
change_nodes($worker, "UPDATE pg_dist_local_group SET groupid = 1; INSERT INTO pg_dist_node VALUES (2, 1), (3, 2); $list_clone");
configure($worker, 12);
$clone = standby_of($worker, 'joined_clone');
$clone->promote;
is_refused($clone, '... which then joins, and has a clone: the clone draws no IDs with its number after its promotion');
change_nodes($clone, $promote_clone);
is(errors($clone, $was_clone, @pinned), scalar(@pinned), '... nor from its generators when it has its own group');
is(errors($clone, qr/^no error/, @by_number), scalar(@by_number), '... but with the number of its group');
configure($clone, 12);
is(errors($clone, $was_clone, @by_number), scalar(@by_number), '... and not with a configured one, which may be that of the source');
$clone->stop;
$worker->stop;

# ---- failover while Citus lists a clone, which the new primary is not ---------------------------------

$worker = worker('primary');
my @standbys = map { standby_of($worker, "standby_$_") } 1 .. 4;
change_nodes($worker, 'INSERT INTO pg_dist_node VALUES (5, 5, true, 3), (6, 6, false, 2)');
$worker->wait_for_catchup($standbys[0], 'replay');
$standbys[0]->promote;
is_allowed($standbys[0], 'a failover of a node without a clone causes no error: another node has one, and a third node was one');
change_nodes($standbys[0], $list_clone);
is_allowed($standbys[0], '... and neither does a clone that is added after that');

change_nodes($worker, $list_clone);
$worker->wait_for_catchup($_, 'replay') for @standbys[ 1, 2, 3 ];
$worker->stop;
$_->promote for @standbys[ 1, 2, 3 ];
is_refused($standbys[1], 'after a failover of a node that has a clone, the new primary draws no IDs');
change_nodes($standbys[1], $remove_clone);
is_allowed($standbys[1], '... until the clone is removed');
change_nodes($standbys[1], $list_clone);
is_allowed($standbys[1], '... and not again when another clone is added');
$standbys[2]->safe_psql('postgres', 'SELECT snowdrift.confirm_node()');
is_allowed($standbys[2], '... or until a superuser confirms its number');
is_refused($standbys[3], 'the next one draws no IDs either');
$standbys[3]->safe_psql('postgres', 'SET allow_system_table_mods = on; ALTER TABLE pg_catalog.pg_dist_node DROP nodeisclone, DROP nodeprimarynodeid');
is_allowed($standbys[3], '... unless this version of Citus has no clones');
$_->stop for @standbys;

done_testing();
