# Copies: a copy of a server that has a new system identifier raises an error until a superuser confirms that no other
# server generates IDs with its number and its generators. An upgraded server is not a copy.
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

my @by_number = ('next_snowflake()', 'next_sno()', q{next_snowflake('numbered')});
my @pinned = (q{next_snowflake('own')}, q{next_sno('own sno')}, q{next_snowflake('toots')});

# is_refused(NODE, NAME), is_allowed(NODE, NAME): all calls that need a confirmed server raise the error that it is not, or
# none does. is_refused_in_quiet(NODE, NAME): the same in the other database.
my $refused = qr/ERROR:  55000: another server may generate equal IDs/;
sub is_refused { return is(errors($_[0], $refused, @by_number, @pinned), @by_number + @pinned, $_[1]) }
sub is_allowed { return is(errors($_[0], qr/^no error/, @by_number, @pinned), @by_number + @pinned, $_[1]) }
sub is_refused_in_quiet { return like(error_of_database($_[0], 'quiet', 'SELECT next_snowflake()'), $refused, $_[1]) }

my $source = new_server('source', allows_streaming => 1);
start_with_clock($source, '+0');
create_all_kinds($source);
$source->safe_psql('postgres',
	q{SELECT snowdrift.create_generator('numbered', 'snowflake');
	SELECT snowdrift.create_generator('toots', 'snowflake', layout => 'mastodon');
	CREATE ROLE someone LOGIN; CREATE DATABASE quiet});
# In another database, it draws no ID. Tables with the columns of Citus' tables stand for Citus, which gives a number.
$source->safe_psql('quiet',
	q{SET allow_system_table_mods = on;
	CREATE TABLE pg_catalog.pg_dist_local_group AS SELECT 1 AS groupid;
	CREATE TABLE pg_catalog.pg_dist_node AS SELECT 1 AS nodeid, 0 AS groupid;
	CREATE EXTENSION snowdrift});
$source->safe_psql('postgres', 'SELECT ' . join(', ', @by_number, @pinned));
$source->stop;
my $copy = copy_server($source, 'copy');
my $successor = copy_server($source, 'successor');

# The copy and its source generate IDs at the same time.
start_with_clock($source, '+0');
start_with_clock($copy, '+0');
is_allowed($source, 'the source generates IDs');
is_refused($copy, 'a copy raises an error');
my $identifier = control_data($source, 'Database system identifier');
my $is_copy = "is a copy of the server with system identifier $identifier";
like(error_of($copy, 'SELECT next_snowflake()'),
	qr/DETAIL:  This server $is_copy\.\n.*HINT:  Set a number that no other server has in snowdrift\.node, .*replace generators that have a node of their own\. Then call snowdrift\.confirm_node\(\) as a superuser\./s,
	'... which names the source, and what to do');
is($copy->safe_psql('postgres', 'SELECT * FROM snowdrift.node'), "|auto|this server $is_copy", '... as does the view snowdrift.node');
is_refused_in_quiet($copy, '... also in a database in which the source has drawn no ID, and for a number from Citus');
like($copy->safe_psql('postgres', 'SELECT next_ulid(), next_uuidv7()'), qr/^\w{26}\|[\w-]{36}$/, '... but ULIDs and UUIDs need no number');
is_refused($copy, '... which does not change that');
$copy->safe_psql('postgres', q{LOAD 'snowdrift'; ALTER ROLE someone SET snowdrift.node = 7});
my $someone = $copy->connstr('postgres') . ' user=someone';
like(($copy->psql('postgres', 'SELECT next_snowflake()', connstr => $someone))[2],
	qr/another server may generate equal IDs/, 'the number of a role does not end the error');
my $session = $copy->background_psql('postgres', on_error_stop => 0);
$session->query('SELECT next_snowflake()');
like($session->{stderr}, qr/another server may generate equal IDs/, '... which an open session raises, too');
$copy->safe_psql('postgres', "LOAD 'snowdrift'; ALTER SYSTEM SET snowdrift.node = 8");
$copy->safe_psql('postgres',
	q{SELECT snowdrift.drop_generator(name) FROM snowdrift.generators WHERE name IN ('own', 'own sno', 'toots');
	SELECT snowdrift.create_generator('own', 'snowflake', worker => 9);
	SELECT snowdrift.create_generator('own sno', 'sno', partition => 9);
	SELECT snowdrift.create_generator('toots', 'snowflake', layout => 'mastodon')});
$copy->restart;
is_refused($copy, 'neither does another number, nor a new generator, nor a restart');
like(error_of($copy, 'SET ROLE someone; SELECT snowdrift.confirm_node()'),
	qr/42501: permission denied/, 'an ordinary role cannot confirm the server');
$session->quit;
$session = $copy->background_psql('postgres', on_error_stop => 0);
$session->query('SELECT next_snowflake()');
$copy->safe_psql('postgres', 'SELECT snowdrift.confirm_node()');
is_allowed($copy, '... but a superuser can, which ends the error');
like($session->query('SELECT next_snowflake()'), qr/^\d{18}$/, '... in an open session');
$session->quit;
like($copy->safe_psql('postgres', 'SELECT next_snowflake()', connstr => $someone), qr/^\d{18}$/, '... and for the number of a role');
is($copy->safe_psql('postgres', 'SELECT * FROM snowdrift.node'), '8|8|server configuration', '... and the view shows the number');
is_refused_in_quiet($copy, '... but another database still raises it');
my $draw = join ';', map { "SELECT $_ FROM generate_series(1, 20)" } 'next_snowflake()', 'next_sno()', 'next_ulid()', 'next_uuidv7()';
my @loads = map { start_load($_, 2, $draw) } $source, $copy;
wait_for_load($_, 1000) for @loads;
my ($repeated, $count) = duplicates(map { end_load($_) } @loads);
is($repeated, '', "$count IDs of the source and the copy: no duplicate");
$copy->safe_psql('postgres', "LOAD 'snowdrift'; ALTER SYSTEM RESET snowdrift.node");
$copy->restart;
like(error_of($copy, 'SELECT next_snowflake()'), qr/no longer has the configured number 8/, 'the copy misses its number as others do');
$copy->safe_psql('postgres', 'SELECT snowdrift.confirm_node()');
$copy->stop;

# A copy of a copy raises the error, whether or not the first copy was confirmed, and whether or not it has the number
# of the first source or the table another owner.
my $copy_of_copy = copy_server($copy, 'copy_of_copy');
start_with_clock($copy_of_copy, '+0');
$copy_of_copy->safe_psql('postgres', 'CREATE ROLE dba SUPERUSER; ALTER TABLE snowdrift_tables.mark OWNER TO dba');
is_refused($copy_of_copy, 'a copy of a confirmed copy raises the error');
is_refused_in_quiet($copy_of_copy, '... and so does one of a copy that was not confirmed');
$copy_of_copy->stop;

# A copy replaces its source, which no longer generates IDs. In another database, it remains to be confirmed.
$source->stop;
start_with_clock($successor, '+0');
is_refused($successor, 'a copy that replaces its source raises the error');
$successor->safe_psql('postgres', 'SELECT snowdrift.confirm_node()');
is_allowed($successor, '... until a superuser confirms it');
is($successor->safe_psql('postgres', 'SELECT number, detail FROM snowdrift.node'), '0|default number', '... and keeps its number');
is_refused_in_quiet($successor, '... and raises it in another database');

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

# A clone of the upgraded server, which has drawn no ID.
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
like(error_of($clone, 'SELECT next_snowflake()'), qr/was promoted after its last IDs/, 'a promoted clone of the upgraded server raises an error');
is($upgraded->safe_psql('postgres', 'SELECT number FROM snowdrift.node'), 1, '... but the upgraded server has the number of its group');
$clone->stop;
$upgraded->safe_psql('postgres',
	'SET allow_system_table_mods = on; DROP TABLE pg_catalog.pg_dist_local_group, pg_catalog.pg_dist_node');

isnt(control_data($upgraded, 'Database system identifier'),
	control_data($successor, 'Database system identifier'), '... and has another system identifier');
is(errors($upgraded, qr/^no error/, @pinned), scalar(@pinned), '... but is not a copy');
like(error_of_database($upgraded, 'quiet', 'SELECT next_snowflake()'),
	qr/This server is a copy/, '... except in the database in which it was one before the upgrade');
like(error_of($upgraded, 'SELECT next_snowflake()'),
	qr/ERROR:  55000: another server may generate equal IDs\n.*no longer has the configured number 3/s,
	'... without its configured number, it raises an error');
$upgraded->safe_psql('postgres', "LOAD 'snowdrift'; ALTER SYSTEM SET snowdrift.node = 3");
$upgraded->stop;
my $upgraded_copy = copy_server($upgraded, 'upgraded_copy');
start_with_clock($upgraded_copy, '-1');
is_refused($upgraded_copy, 'a copy of the upgraded server raises the error');
$upgraded_copy->safe_psql('postgres', "LOAD 'snowdrift'; ALTER SYSTEM RESET snowdrift.node");
$upgraded_copy->restart;
like(error_of($upgraded_copy, 'SELECT next_snowflake()'), qr/This server is a copy/, '... also without the number of its source');
$upgraded_copy->safe_psql('postgres', 'SELECT snowdrift.confirm_node()');
is_allowed($upgraded_copy, '... which is not missed after a superuser has confirmed the copy');
$upgraded_copy->stop;
start_with_clock($upgraded, '-1');
is_allowed($upgraded, 'the upgraded server generates IDs with its number');
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
	like(error_of($subscriber, 'SELECT next_snowflake()'), $refused, '... and raises the error');
	my $insert = 'INSERT INTO posts SELECT FROM generate_series(1, 1000)';
	$subscriber->safe_psql('postgres', "LOAD 'snowdrift'; ALTER SYSTEM SET snowdrift.node = 1");
	$subscriber->restart;
	$subscriber->safe_psql('postgres', 'SELECT snowdrift.confirm_node()');
	$_->safe_psql('postgres', $insert) for $publisher, $subscriber;
	$publisher->wait_for_catchup($subscriber->safe_psql('postgres', 'SELECT subname FROM pg_subscription'));
	is($subscriber->safe_psql('postgres', 'SELECT count(*) FROM posts'), 2001, '... with another number that was confirmed, no IDs collide');
	is( $subscriber->safe_psql('postgres', 'SELECT sum(apply_error_count) FROM pg_stat_subscription_stats'),
		0, '... without replication errors');
	$subscriber->stop;
	$publisher->stop;
}

done_testing();
