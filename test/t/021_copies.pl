# Copies: a copy of a server that has a new system identifier raises an error until it has another number, or
# until a superuser confirms that the source no longer generates IDs. An upgraded server is not a copy.
use strict;
use warnings FATAL => 'all';
use Test::More;
use Snowdrift;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

# control_data(NODE, FIELD): a line of pg_controldata
sub control_data
{
	my ($node, $field) = @_;
	my ($out) = run_command([ 'pg_controldata', $node->data_dir ]);
	my ($value) = $out =~ /^\Q$field\E: *(.*)$/m;
	return $value;
}

# copy_server(NODE, NAME): a copy of a stopped server's files under a new system identifier, as if they had been
# moved into the data directory of another initdb. It is not started.
sub copy_server
{
	my ($node, $name) = @_;
	my $copy = PostgreSQL::Test::Cluster->new($name);
	$node->backup_fs_cold($name);
	$copy->init_from_backup($node, $name);
	my ($xid) = control_data($node, q{Latest checkpoint's NextXID}) =~ /:(\d+)/;
	my $oid = control_data($node, q{Latest checkpoint's NextOID});
	my $segment = control_data($node, q{Latest checkpoint's REDO WAL file});
	# Without a control file, pg_resetwal makes a new system identifier.
	truncate($copy->data_dir . '/global/pg_control', 0) or die $!;
	command_ok([ 'pg_resetwal', '-f', '-x', $xid, '-o', $oid, '-l', $segment, '-D', $copy->data_dir ],
		"$name gets a new system identifier");
	return $copy;
}

# refused(NODE, CALLS...): how many of the calls raise the error that the server is a copy
sub refused
{
	my ($node, @calls) = @_;
	return scalar grep { error_of($node, "SELECT $_") =~ /ERROR:  55000: this server is a copy and has no number/ } @calls;
}

my @by_number = ('next_snowflake()', 'next_sno()', q{next_snowflake('numbered')});
my @pinned = (q{next_snowflake('own')}, q{next_sno('own sno')}, q{next_snowflake('toots')});
my $copied = qr/ERROR:  55000: ID generator "[^"]+" was copied from another server/;

my $source = new_server('source', allows_streaming => 1);
start_with_clock($source, '+0');
create_all_kinds($source);
$source->safe_psql('postgres',
	q{SELECT snowdrift.create_generator('numbered', 'snowflake');
	SELECT snowdrift.create_generator('toots', 'snowflake', layout => 'mastodon');
	CREATE ROLE someone; CREATE DATABASE quiet});
$source->safe_psql('quiet', 'CREATE EXTENSION snowdrift');
$source->safe_psql('postgres', 'SELECT ' . join(', ', @by_number, @pinned));
$source->stop;
my $copy = copy_server($source, 'copy');
my $successor = copy_server($source, 'successor');
my $role_copy = copy_server($source, 'role_copy');

# The copy and its source generate IDs at the same time.
start_with_clock($source, '+0');
start_with_clock($copy, '+0');
is(refused($source, @by_number), 0, 'the source generates IDs');
is(refused($copy, @by_number), scalar(@by_number), 'a copy with the number of its source raises an error');
my $identifier = control_data($source, 'Database system identifier');
like(error_of($copy, 'SELECT next_snowflake()'),
	qr/DETAIL:  It was copied from the server with system identifier $identifier, which had the same number, 0\.\n.*HINT:  .*snowdrift.node.*snowdrift.confirm_node\(\)/s,
	'... which names the source, and both ways to end it');
is($copy->safe_psql('postgres', 'SELECT * FROM snowdrift.node'),
	'|auto|this server is a copy and has no number of its own', '... as does the view snowdrift.node');
like(error_of($copy, "SELECT $_"), $copied, "... $_ raises an error: the generator was copied") for @pinned;
like($copy->safe_psql('postgres', 'SELECT next_ulid(), next_uuidv7()'), qr/^\w{26}\|[\w-]{36}$/, '... but ULIDs and UUIDs need no number');
like(error_of($copy, 'SET snowdrift.node = 8; SELECT next_snowflake()'),
	qr/55000: this server is a copy.*DETAIL:  .*The number 8 is not set for the server or the database/s,
	'a number that is set for a session does not count');
my $session = $copy->background_psql('postgres', on_error_stop => 0);
$session->query('SELECT next_snowflake()');
like($session->{stderr}, qr/this server is a copy/, 'an open session raises the error too');
$session->{stderr} = '';
$copy->safe_psql('postgres', "LOAD 'snowdrift'; ALTER SYSTEM SET snowdrift.node = 8");
$copy->reload;
$copy->poll_query_until('postgres', 'SELECT number = 8 FROM snowdrift.node') or die 'the number does not take effect';
is(refused($copy, @by_number), 0, 'with another number, the copy generates IDs');
my $drawn = '';
for (1 .. 1000)    # until the session has noticed the new configuration
{
	$drawn = $session->query('SELECT next_snowflake()');
	last if $drawn ne '';
}
like($drawn, qr/^\d{18}$/, '... also in the open session');
$session->quit;
my $draw = join ';', map { "SELECT $_ FROM generate_series(1, 20)" } 'next_snowflake()', 'next_sno()', 'next_ulid()', 'next_uuidv7()';
my @loads = map { start_load($_, 2, $draw) } $source, $copy;
wait_for_load($_, 1000) for @loads;
my ($repeated, $count) = duplicates(map { end_load($_) } @loads);
is($repeated, '', "$count IDs of the source and the copy: no duplicate");
like(error_of($copy, "SELECT $_"), $copied, "... but $_ still raises an error") for @pinned;
$copy->safe_psql('postgres',
	q{SELECT snowdrift.drop_generator('own'); SELECT snowdrift.create_generator('own', 'snowflake', worker => 9)});
is($copy->safe_psql('postgres', q{SELECT snowflake_worker(next_snowflake('own'))}),
	9, '... until the generator is created again');
$copy->restart;
is(refused($copy, @by_number), 0, 'after a restart, the copy still generates IDs');
$copy->safe_psql('postgres', "LOAD 'snowdrift'; ALTER SYSTEM RESET snowdrift.node");
$copy->restart;
is(refused($copy, @by_number), scalar(@by_number), '... unless it has the number of its source again');
$copy->stop;

# A number that is set for a role does not count. Open sessions keep the number of the source when the database
# gets another one.
start_with_clock($role_copy, '+0');
like($role_copy->safe_psql('postgres', 'SELECT next_ulid()'), qr/^\w{26}$/, 'a copy that first draws a ULID');
$role_copy->safe_psql('postgres',
	q{LOAD 'snowdrift'; ALTER ROLE someone LOGIN; ALTER ROLE someone SET snowdrift.node = 7;
	SELECT snowdrift.create_generator('new', 'snowflake', worker => 9)});
sub as_someone
{
	my ($status, $out, $error) = $role_copy->psql('postgres', 'SELECT next_snowflake()',
		connstr => $role_copy->connstr('postgres') . ' user=someone');
	return $status ? $error : $out;
}
like(as_someone(), qr/this server is a copy/, '... raises the error for a number that is set for a role');
is($role_copy->safe_psql('postgres', q{SELECT snowflake_worker(next_snowflake('new'))}),
	9, '... but a generator that was created on it works');
$session = $role_copy->background_psql('postgres', on_error_stop => 0);
$session->query('SELECT next_snowflake()');
$session->{stderr} = '';
$role_copy->safe_psql('postgres', q{LOAD 'snowdrift'; ALTER DATABASE postgres SET snowdrift.node = 8});
is(refused($role_copy, @by_number), 0, 'with a number of the database, it generates IDs');
$session->query('SELECT next_snowflake()');
like($session->{stderr}, qr/this server is a copy/, '... but not in a session that has the number of the source');
$session->quit;
like(as_someone(), qr/this server is a copy/, '... or in one that has the number of a role');
$role_copy->safe_psql('postgres', 'SELECT snowdrift.confirm_node()');
like(as_someone(), qr/^\d{18}$/, '... until a superuser confirms the numbers');

# In another database of the source, no ID was drawn before it was copied.
my $unknown = q{LOAD 'snowdrift'; ALTER DATABASE quiet SET snowdrift.node = 11};
$role_copy->safe_psql('postgres', $unknown);
like(error_of_database($role_copy, 'quiet', 'SELECT next_snowflake()'),
	qr/this server is a copy.*DETAIL:  .*whose number is not known.*HINT:  .*Then call snowdrift.confirm_node\(\)/s,
	'without a known number of the source, another number is not sufficient');
$role_copy->safe_psql('quiet', 'SELECT snowdrift.confirm_node()');
is($role_copy->safe_psql('quiet', 'SELECT snowflake_worker(next_snowflake())'), 11, '... until a superuser confirms it');
$role_copy->stop;

# A copy replaces its source, which no longer generates IDs.
$source->stop;
start_with_clock($successor, '+0');
like(error_of($successor, 'SET ROLE someone; SELECT snowdrift.confirm_node()'),
	qr/42501: permission denied/, 'ordinary roles cannot confirm the number');
is(refused($successor, @by_number), scalar(@by_number), 'a copy that replaces its source raises the error');
$successor->safe_psql('postgres', 'SELECT snowdrift.confirm_node()');
is(refused($successor, @by_number), 0, '... until a superuser confirms the number');
like($successor->safe_psql('postgres', "SELECT $_"), qr/^\w+$/, "... $_") for @pinned;
is($successor->safe_psql('postgres', 'SELECT number, detail FROM snowdrift.node'), '0|not in a Citus cluster', '... and the view shows it');

# pg_upgrade gives the server a new system identifier. It is the same server. Its configuration is a new one.
$successor->safe_psql('postgres', "LOAD 'snowdrift'; ALTER SYSTEM SET snowdrift.node = 3");
$successor->stop;
$successor->set_standby_mode;
start_with_clock($successor, '+0');
$successor->promote;
my $before = $successor->safe_psql('postgres', 'SELECT next_snowflake()');
# pg_upgrade of PostgreSQL 18 does not find $libdir/snowdrift in dynamic_library_path.
$successor->safe_psql($_, q{UPDATE pg_proc SET probin = 'snowdrift' WHERE probin = '$libdir/snowdrift'})
  for 'postgres', 'quiet';
$successor->stop;
# A control file that pg_resetwal makes has no data checksums, but from PostgreSQL 18 on, that of initdb has.
my $upgraded = new_server('upgraded', allows_streaming => 1, extra => $source->pg_version < 18 ? [] : ['--no-data-checksums']);
my $bindir = $successor->config_data('--bindir');
{
	my $folder = PostgreSQL::Test::Utils::tempdir_short();
	chdir $folder or die $!;
	command_ok(
		[
			'pg_upgrade', '--no-sync', '-d', $successor->data_dir, '-D', $upgraded->data_dir,
			'-b', $bindir, '-B', $bindir, '-s', $folder, '-p', $successor->port, '-P', $upgraded->port
		],
		'the server is upgraded');
}
start_with_clock($upgraded, '-1');

# A clone of the upgraded server, which has drawn no ID. Tables with the columns of Citus' tables stand for Citus.
$upgraded->safe_psql('postgres',
	q{SET allow_system_table_mods = on;
	CREATE TABLE pg_catalog.pg_dist_local_group AS SELECT 1 AS groupid;
	CREATE TABLE pg_catalog.pg_dist_node AS SELECT * FROM (VALUES (2, 1, false, 0), (4, 4, true, 2))
		AS nodes (nodeid, groupid, nodeisclone, nodeprimarynodeid)});
$upgraded->backup('clone');
my $clone = PostgreSQL::Test::Cluster->new('clone');
$clone->init_from_backup($upgraded, 'clone', has_streaming => 1);
start_with_clock($clone, '-1');
$clone->promote;
like(error_of($clone, 'SELECT next_snowflake()'), qr/this server may be a clone/, 'a promoted clone of the upgraded server raises an error');
is($upgraded->safe_psql('postgres', 'SELECT number FROM snowdrift.node'), 1, '... but the upgraded server has the number of its group');
$clone->stop;
$upgraded->safe_psql('postgres',
	'SET allow_system_table_mods = on; DROP TABLE pg_catalog.pg_dist_local_group, pg_catalog.pg_dist_node');

isnt(control_data($upgraded, 'Database system identifier'),
	control_data($successor, 'Database system identifier'), '... and has another system identifier');
like($upgraded->safe_psql('postgres', "SELECT $_"), qr/^\w+$/, "... but is not a copy: $_") for @pinned;
like(error_of($upgraded, 'SELECT next_snowflake()'),
	qr/ERROR:  55000: number 3 of this server's last IDs is no longer configured/, '... without its configured number, it raises an error');
$upgraded->safe_psql('postgres', "LOAD 'snowdrift'; ALTER SYSTEM SET snowdrift.node = 3");
$upgraded->stop;
my $upgraded_copy = copy_server($upgraded, 'upgraded_copy');
start_with_clock($upgraded_copy, '-1');
is(refused($upgraded_copy, @by_number), scalar(@by_number), 'a copy of the upgraded server raises the error');
$upgraded_copy->safe_psql('postgres', "LOAD 'snowdrift'; ALTER SYSTEM RESET snowdrift.node");
$upgraded_copy->restart;
like(error_of($upgraded_copy, 'SELECT next_snowflake()'), qr/55000: number 3 of this server's last IDs is no longer configured/,
	'... and one that the configured number of its source is lost');
$upgraded_copy->safe_psql('postgres', "LOAD 'snowdrift'; ALTER SYSTEM SET snowdrift.node = 4");
$upgraded_copy->restart;
like(error_of($upgraded_copy, 'SELECT next_snowflake()'), qr/^no error/, '... but none with another configured number');
$upgraded_copy->stop;
start_with_clock($upgraded, '-1');
is(refused($upgraded, @by_number), 0, 'the upgraded server generates IDs with its number');
cmp_ok($upgraded->safe_psql('postgres', 'SELECT next_snowflake()'), '>', $before, '... which continue');
$upgraded->stop;

SKIP:
{
	my $version = $source->pg_version;
	skip "needs pg_createsubscriber of PostgreSQL 17 or later, found $version", 4 if $version < 17;
	my $publisher = new_server('publisher', allows_streaming => 'logical');
	start_with_clock($publisher, '+0');
	$publisher->safe_psql('postgres',
		'CREATE EXTENSION snowdrift; CREATE TABLE posts (id bigint PRIMARY KEY DEFAULT next_snowflake());
		INSERT INTO posts DEFAULT VALUES');
	$publisher->backup('base');
	my $subscriber = PostgreSQL::Test::Cluster->new('subscriber');
	$subscriber->init_from_backup($publisher, 'base', has_streaming => 1);
	$subscriber->set_standby_mode;
	command_ok(
		[
			'pg_createsubscriber', '-D', $subscriber->data_dir, '-P', $publisher->connstr('postgres'),
			'-p', $subscriber->port, '-s', $subscriber->host, '-d', 'postgres'
		],
		'a standby becomes a logical subscriber');
	start_with_clock($subscriber, '+0');
	is(refused($subscriber, 'next_snowflake()'), 1, '... and raises the error');
	my $insert = 'INSERT INTO posts SELECT FROM generate_series(1, 1000)';
	$subscriber->safe_psql('postgres', "LOAD 'snowdrift'; ALTER SYSTEM SET snowdrift.node = 1");
	$subscriber->restart;
	$_->safe_psql('postgres', $insert) for $publisher, $subscriber;
	$publisher->wait_for_catchup($subscriber->safe_psql('postgres', 'SELECT subname FROM pg_subscription'));
	is($subscriber->safe_psql('postgres', 'SELECT count(*) FROM posts'), 2001, '... with another number, no IDs collide');
	is( $subscriber->safe_psql('postgres', 'SELECT sum(apply_error_count) FROM pg_stat_subscription_stats'),
		0, '... without replication errors');
	$subscriber->stop;
	$publisher->stop;
}

done_testing();
