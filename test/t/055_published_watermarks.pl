# Reading new rows on a hot standby, in both editions: up to the watermarks that the primary has published, and that the statement's
# snapshot contains. What has been published elsewhere, or before a promotion on the promoted server itself, is not used.
use strict;
use warnings FATAL => 'all';
use Test::More;
use Snowdrift;
use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

my $node = new_server('published', allows_streaming => 'logical');
$node->append_conf('postgresql.conf', "max_prepared_transactions = 5\nautovacuum = off\n");
$node->start;
$node->safe_psql('postgres', 'CREATE DATABASE extension');
$node->safe_psql('extension', q{
	CREATE EXTENSION snowdrift; SELECT snowdrift.create_generator('own', 'snowflake');
	CREATE TABLE flakes (id bigint PRIMARY KEY DEFAULT next_snowflake(), name text);
	CREATE TABLE own (id bigint PRIMARY KEY DEFAULT next_snowflake('own'), name text);
	CREATE TABLE ulids (id ulid PRIMARY KEY DEFAULT next_ulid(), name text);
	CREATE TABLE uuids (id uuid PRIMARY KEY DEFAULT next_uuidv7(), name text)});
create_edition($node, 'edition');
my %user = (extension => 'postgres', edition => 'owner');
my %tables = (extension => [qw(serial identity flakes own ulids uuids)], edition => [qw(serial identity flakes)]);

sub run
{
	my ($db, $statements) = @_;
	return $node->safe_psql($db, $statements, extra_params => [ '-U', $user{$db} ]);
}

run('edition', 'CREATE TABLE flakes (id bigint PRIMARY KEY DEFAULT next_snowflake(), name text)');
for my $db (sort keys %tables)
{
	run($db, q{
		CREATE TABLE serial (id bigserial PRIMARY KEY, name text);
		CREATE TABLE identity (id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY, name text);
		} . join('; ', map { "SELECT snowdrift.watch('$_')" } @{ $tables{$db} }));
}
$node->backup('base');
my $standby = standby_of($node, 'standby');

# names(DATABASE, TABLE, SERVER): the rows that are read without a position
sub names
{
	my ($db, $table, $server) = @_;
	return ($server // $standby)
	  ->safe_psql($db, "SELECT string_agg(name, ' ' ORDER BY n) FROM snowdrift.read_new(NULL::$table) WITH ORDINALITY AS r(id, name, n)",
		extra_params => [ '-U', $user{$db} ]);
}

# publish(DATABASE): publishes the watermarks, and waits until the standby has them
sub publish
{
	my ($db) = @_;
	run($db, 'SELECT snowdrift.publish_watermarks()');
	$node->wait_for_catchup($standby, 'replay');
	return;
}

# wait_until_readable(DATABASE, ROWS): waits until the primary reads this many rows of each table: the millisecond of an ID must end.
sub wait_until_readable
{
	my ($db, $rows) = @_;
	for (@{ $tables{$db} })
	{
		$node->poll_query_until($db, "SELECT count(*) = $rows FROM snowdrift.read_new(NULL::$_)") or die "$_ does not become readable";
	}
	return;
}

# ---- what is published ---------------------------------------------------------------------------------

for my $db (sort keys %tables)
{
	for my $table (@{ $tables{$db} })
	{
		like(error_of_database($standby, $db, "SELECT * FROM snowdrift.read_new(NULL::$table)"),
			qr/ERROR:  55000: no watermark of .* is published\nHINT:  A standby can read new rows if snowdrift\.publish_watermarks\(\) is called regularly on the primary/,
			"$db, $table: before anything is published, a standby raises an error");
		run($db, "INSERT INTO $table (name) VALUES ('first')");
	}
}
like(error_of_database($standby, 'extension', "SELECT $_"), qr/55000: no watermark of (the default \w+ generator|ID generator "own") is published/, "$_: the same")
  for 'snowflake_watermark()', "snowflake_watermark('own')", 'ulid_watermark()', 'uuidv7_watermark()';

for my $db (sort keys %tables)
{
	my @tables = @{ $tables{$db} };
	wait_until_readable($db, 1);
	run($db, 'SELECT next_snowflake()');    # The SQL edition holds the millisecond of the last ID.
	my $writer = $node->background_psql($db, extra_params => [ '-U', $user{$db} ]);
	$writer->query_safe('BEGIN; ' . join('; ', map { "INSERT INTO $_ (name) VALUES ('second')" } @tables));
	run($db, "INSERT INTO $_ (name) VALUES ('third')") for @tables;
	publish($db);
	is(names($db, $_), 'first', "$db, $_: rows after that of an open transaction are not read") for @tables;
	my $cursor = $standby->background_psql($db);    # whose snapshot lacks the second row, and has the third one
	$cursor->query_safe('BEGIN; DECLARE c CURSOR FOR SELECT name FROM flakes WHERE id < snowflake_watermark() ORDER BY id') if $db eq 'extension';
	$writer->query_safe('COMMIT');
	$writer->quit;
	$node->wait_for_catchup($standby, 'replay');
	is(names($db, $_), 'first', '... nor before the next publication') for @tables;
	my $earlier = $standby->background_psql($db, extra_params => [ '-U', $user{$db} ]);
	$earlier->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT');
	$earlier->query_safe('SELECT count(*) FROM serial');
	wait_until_readable($db, 3);
	publish($db);
	is(names($db, $_), 'first second third', '... which contains all') for @tables;
	is($earlier->query_safe("SELECT string_agg(name, ' ') FROM snowdrift.read_new(NULL::$_)"), 'first', '... but not in an earlier snapshot') for @tables;
	is($earlier->query_safe("SELECT string_agg(name, ' ') FROM flakes WHERE id < snowflake_watermark()"), 'first', '... nor in a query with the watermark') if $db eq 'extension';
	$earlier->quit;
	is($cursor->query_safe('FETCH ALL FROM c'), 'first', '... nor in a statement that began before') if $db eq 'extension';
	$cursor->quit;
}
is($standby->safe_psql('extension', q{SELECT count(*) FROM flakes WHERE id < snowflake_watermark()}), '3', 'a query with the watermark reads the rows');
is($standby->safe_psql('extension', q{SELECT count(*) FROM own WHERE id < snowflake_watermark('own')}), '3', '... of a named generator, too');
is($standby->safe_psql('extension', q{SELECT count(*) FROM ulids WHERE id < ulid_watermark()}), '3', '... of ULIDs');
is($standby->safe_psql('extension', q{SELECT count(*) FROM uuids WHERE id < uuidv7_watermark()}), '3', '... and of UUIDs');
is($standby->safe_psql('extension', 'SELECT count(*) FROM snowdrift.read_new(NULL::serial, 100)'), '0', 'a position may be ahead of what is published');

# ---- rights, and what cannot be published --------------------------------------------------------------

for my $db (sort keys %tables)
{
	$node->safe_psql($db, q{DROP ROLE IF EXISTS reader; CREATE ROLE reader LOGIN; GRANT SELECT ON flakes TO reader}) if $db eq 'edition';
	$node->safe_psql($db, q{GRANT SELECT ON flakes TO reader}) if $db ne 'edition';
	like(error_of_database($node, $db, 'SET ROLE reader; SELECT snowdrift.publish_watermarks()'), qr/42501: permission denied for function publish_watermarks/, "$db: other roles cannot publish");
	like(error_of_database($node, $db, 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT snowdrift.publish_watermarks()'), qr/25001/, '... nor can a transaction with an earlier snapshot');
	like(error_of_database($standby, $db, 'SELECT snowdrift.publish_watermarks()'), qr/25006/, '... nor can a standby');
	like(error_of_database($node, $db, 'SET session_replication_role = replica; SELECT snowdrift.publish_watermarks()'),
		qr/55000: cannot change table "snowdrift_tables.published_watermark" while session_replication_role is "replica"/, '... nor a session that skips the rows of other servers');
	run($db, 'GRANT EXECUTE ON FUNCTION snowdrift.publish_watermarks() TO reader');
	is($node->safe_psql($db, 'SET ROLE reader; SELECT snowdrift.publish_watermarks()'), '', '... but a role to which it is granted');
	$node->wait_for_catchup($standby, 'replay');
	is($standby->safe_psql($db, q{SET ROLE reader; SELECT count(*) FROM snowdrift.read_new(NULL::flakes)}), '3', '... and a reader needs SELECT on the table');
	like(error_of_database($standby, $db, q{SET ROLE reader; SELECT count(*) FROM snowdrift.read_new(NULL::serial)}), qr/42501: permission denied for table serial/, '... without which it gets an error');
	is($standby->safe_psql($db, q{SET ROLE reader; SELECT "table", watermark IS NULL FROM snowdrift.published_watermarks WHERE "table" IN ('flakes'::regclass, 'serial'::regclass) ORDER BY 1 DESC}),
		$db eq 'edition' ? "serial|t\nflakes|f" : 'serial|t', '... and is not shown a watermark that counts rows');
	my ($status, $out, $warning) = $node->psql($db, 'ALTER TABLE serial DISABLE TRIGGER ALL; SELECT snowdrift.publish_watermarks()');
	like($warning, qr/WARNING:  watermark of table "serial" is not published: new rows of table "serial" cannot be read without missing any/, '... and a watch that does not work is named');
	run($db, q{SELECT snowdrift.watch('serial')});
	$node->wait_for_catchup($standby, 'replay');
	like(error_of_database($standby, $db, q{SELECT count(*) FROM snowdrift.read_new(NULL::serial)}), qr/55000: no watermark of table "serial" is published/, '... so that nothing old remains');
	publish($db);
	is(names($db, 'serial'), 'first second third', '... before it is published again');
	is($standby->safe_psql($db, 'SELECT bool_and(published_at BETWEEN now() - interval \'1 hour\' AND clock_timestamp()) FROM snowdrift.published_watermarks'), 't', '... with its time');
}

# ---- what draws changes, or is locked ------------------------------------------------------------------

for my $db (sort keys %tables)
{
	run($db, q{CREATE TABLE two (id bigserial PRIMARY KEY, pos bigserial, name text); SELECT setval('two_id_seq', 1000); SELECT snowdrift.watch('two', 'id')});
	publish($db);
	is($standby->safe_psql($db, 'SELECT count(*) FROM snowdrift.read_new(NULL::two)', extra_params => [ '-U', $user{$db} ]), '0', "$db: a table with two sequences is read");
	run($db, q{BEGIN; SELECT snowdrift.unwatch('two'); SELECT snowdrift.watch('two', 'pos'); COMMIT});
	$node->wait_for_catchup($standby, 'replay');
	like(error_of_database($standby, $db, 'SELECT * FROM snowdrift.read_new(NULL::two)'), qr/55000: no watermark of table "two" is published/, '... but not by the watermark of the other one');
	publish($db);
	run($db, 'ALTER SEQUENCE two_pos_seq RESTART');
	$node->wait_for_catchup($standby, 'replay');
	like(error_of_database($standby, $db, 'SELECT * FROM snowdrift.read_new(NULL::two)'), qr/55000: no watermark of table "two" is published/, '... nor by that of a sequence before its restart');
	publish($db);
	my $change = $node->background_psql($db, extra_params => [ '-U', $user{$db} ]);
	$change->query_safe('BEGIN; ALTER SEQUENCE two_pos_seq MAXVALUE 1000000');
	run($db, q{INSERT INTO serial (name) VALUES ('fourth')});
	my ($status, $out, $warning) = $node->psql($db, 'SELECT snowdrift.publish_watermarks()');
	like($warning, qr/WARNING:  watermark of table "two" is not published now: canceling statement due to lock timeout/, '... and a sequence that is locked does not stop the publication');
	$node->wait_for_catchup($standby, 'replay');
	is(names($db, 'serial'), 'first second third fourth', '... of others');
	is($standby->safe_psql($db, 'SELECT count(*) FROM snowdrift.read_new(NULL::two)', extra_params => [ '-U', $user{$db} ]), '0', '... and what was published before stays');
	$change->query_safe('ROLLBACK');
	$change->quit;
	run($db, q{DROP TABLE two; DELETE FROM serial WHERE name = 'fourth'});
}
run('extension', q{CREATE TABLE again (id bigint DEFAULT next_snowflake('own')); ALTER TABLE own ALTER id DROP DEFAULT; SELECT snowdrift.unwatch('own'), snowdrift.drop_generator('own', true);
	SELECT snowdrift.create_generator('own', 'snowflake')});
$node->wait_for_catchup($standby, 'replay');
like(error_of_database($standby, 'extension', q{SELECT snowflake_watermark('own')}), qr/55000: no watermark of ID generator "own" is published/, 'the watermark of a generator that was replaced is not used');
run('extension', q{DROP TABLE again; ALTER TABLE own ALTER id SET DEFAULT next_snowflake('own'); SELECT snowdrift.watch('own')});

# ---- copies --------------------------------------------------------------------------------------------

# Neither a dump, nor a copy of a database, nor logical replication brings a watermark to another database.
for my $db (sort keys %tables)
{
	my $dump = PostgreSQL::Test::Utils::tempdir() . "/$db";
	system_or_bail('pg_dump', '-Fc', '-f', $dump, '-d', $node->connstr($db), '-U', 'postgres');
	$node->safe_psql('postgres', "CREATE DATABASE ${db}_restored OWNER $user{$db}; CREATE DATABASE ${db}_copy TEMPLATE $db OWNER $user{$db}");
	system_or_bail('pg_restore', '-e', '-d', $node->connstr("${db}_restored"), '-U', 'postgres', $dump);
	$node->wait_for_catchup($standby, 'replay');
	like(error_of_database($standby, "${db}_$_", 'SELECT * FROM snowdrift.read_new(NULL::serial)'), qr/55000: no watermark of table "serial" is published/, "$db, $_: watermarks of another database are not used")
	  for 'restored', 'copy';
	is($standby->safe_psql("${db}_copy", 'SELECT count(*) FROM snowdrift.published_watermarks'), '0', '... nor shown');
	my $publication = q{CREATE PUBLICATION all_tables FOR ALL TABLES};
	$node->safe_psql($db, $publication);
	$node->safe_psql("${db}_restored", 'SELECT snowdrift.publish_watermarks(); TRUNCATE serial, identity, flakes' . ($db eq 'extension' ? ', own, ulids, uuids' : ''));
	$node->safe_psql($db, qq{SELECT pg_create_logical_replication_slot('$db', 'pgoutput')});
	my $published = $node->safe_psql("${db}_restored", 'TABLE snowdrift.published_watermarks');
	$node->safe_psql("${db}_restored", qq{CREATE SUBSCRIPTION $db CONNECTION '} . ($node->connstr($db) =~ s/'/''/gr) . qq{' PUBLICATION all_tables WITH (create_slot = false, slot_name = '$db', copy_data = false)});
	run($db, 'SELECT snowdrift.publish_watermarks()') for 1 .. 2;
	$node->wait_for_catchup($db, 'replay');
	is($node->safe_psql("${db}_restored", 'TABLE snowdrift.published_watermarks'), $published, '... and logical replication changes none');
	$node->safe_psql("${db}_restored", "DROP SUBSCRIPTION $db");
	$node->safe_psql($db, 'DROP PUBLICATION all_tables');
}

# ---- load ----------------------------------------------------------------------------------------------

# Writers commit late or roll back, the primary publishes, and a reader reads only on the standby. A second one, which compares with
# the last ID, shows that the load makes rows become visible out of order.
my $writers = PostgreSQL::Test::Utils::tempdir() . '/writers.sql';
append_to_file($writers, q{\set pause random(1, 2500)
\set outcome random(1, 6)
BEGIN;
INSERT INTO events (name) VALUES ('a');
\sleep :pause us
\if :outcome = 1
ROLLBACK;
\elif :outcome = 2
PREPARE TRANSACTION ':client_id';
COMMIT PREPARED ':client_id';
\else
SAVEPOINT s;
INSERT INTO events (name) SELECT 'b' FROM generate_series(1, 3);
COMMIT;
\endif
});
my @load = ([ 'extension', 'bigserial' ], [ 'extension', 'bigint DEFAULT next_snowflake()' ], [ 'edition', 'bigint DEFAULT next_snowflake()' ]);
for my $each (@load)
{
	my ($db, $type) = @$each;
	run($db, qq{
		DROP TABLE IF EXISTS events, finished; DROP PROCEDURE IF EXISTS publish;
		CREATE TABLE events (id $type PRIMARY KEY, name text);
		CREATE TABLE finished ();
		CREATE PROCEDURE publish() LANGUAGE plpgsql AS \$\$ BEGIN LOOP
			PERFORM snowdrift.publish_watermarks(); EXIT WHEN EXISTS (SELECT FROM finished); COMMIT; END LOOP; END \$\$;
		SELECT snowdrift.watch('events'), snowdrift.publish_watermarks()});
	$node->wait_for_catchup($standby, 'replay');
	my $publisher = IPC::Run::start([ 'psql', '-X', '-q', '-d', $node->connstr($db), '-U', $user{$db}, '-c', 'CALL publish()' ], '<', \undef, '>', \my $published, '2>', \my $warnings);
	my $load = IPC::Run::start([ 'pgbench', '-n', '-c', 6, $ENV{SNOWDRIFT_LONG} ? ('-T', 30) : ('-t', 200), '-f', $writers, '-U', $user{$db}, '-d', $node->connstr($db) ], '>', \my $out, '2>', \my $errors);
	my $reader = $standby->background_psql($db, extra_params => [ '-U', $user{$db} ]);
	my %queries = (
		seen => 'SELECT id FROM snowdrift.read_new(NULL::events, %s, NULL)',
		naive => 'SELECT id FROM events WHERE id > %s ORDER BY id');
	my %read = map { $_ => [] } keys %queries;
	my $read_pages = sub {
		for my $name (sort keys %queries)
		{
			push @{ $read{$name} }, split /\n/, $reader->query_safe(sprintf $queries{$name}, $read{$name}[-1] // 0);
		}
	};
	while ($load->pumpable)
	{
		$read_pages->();
		$load->pump_nb;
	}
	$load->finish;
	unlike($errors, qr/error|abort/i, "$db, $type: the writers finish");
	$node->poll_query_until($db, 'SELECT count(*) = (SELECT count(*) FROM events) FROM snowdrift.read_new(NULL::events, max => NULL)') or die 'the last rows do not become readable';
	run($db, 'INSERT INTO finished DEFAULT VALUES');
	$publisher->finish or die "the publisher failed: $warnings";
	$node->wait_for_catchup($standby, 'replay');
	$read_pages->();
	my $all = $node->safe_psql($db, 'SELECT id FROM events ORDER BY id');
	is(join("\n", @{ $read{seen} }), $all, '... a reader on the standby reads each row once, in order');
	cmp_ok(scalar @{ $read{naive} }, '<', scalar split(/\n/, $all), '... and one without a watermark misses rows');
	$reader->quit;
}

# ---- promotion -----------------------------------------------------------------------------------------

# A second standby follows the promoted one. What the earlier primary has published remains right, until the next publication.
my $second = standby_of($node, 'second');
my @open = ([ 'extension', 'serial' ], [ 'extension', 'flakes' ], [ 'edition', 'serial' ], [ 'edition', 'flakes' ]);
run($_->[0], "BEGIN; INSERT INTO $_->[1] (name) VALUES ('prepared'); PREPARE TRANSACTION '$_->[0]_$_->[1]'") for @open;
run($_->[0], "INSERT INTO $_->[1] (name) VALUES ('later'); SELECT snowdrift.publish_watermarks()") for @open;
$node->wait_for_catchup($_, 'replay') for $standby, $second;
$node->stop('immediate');
$standby->promote;
$second->enable_streaming($standby);
$second->restart;
for my $each (@open)
{
	my ($db, $table) = @$each;
	if ("$db $table" eq 'extension flakes') { like(error_of_database($standby, $db, 'SELECT snowdrift.read_new(NULL::flakes)'), qr/55000: watermark is unknown while prepared transaction/, "$db, $table: a promoted server does not use what was published") }
	else { is(names($db, $table), 'first second third', "$db, $table: a promoted server reads its own watermark") }
	is(names($db, $table, $second), 'first second third', '... and another standby the earlier one');
	$standby->safe_psql($db, "COMMIT PREPARED '${db}_$table'; INSERT INTO $table (name) VALUES ('new')");
}
$node = $standby;
for my $each (@open)
{
	my ($db, $table) = @$each;
	$node->poll_query_until($db, "SELECT count(*) = 6 FROM snowdrift.read_new(NULL::$table)") or die 'the rows do not become readable';
	$node->wait_for_catchup($second, 'replay');
	is(names($db, $table, $second), 'first second third', "$db, $table: rows after the promotion are not read");
}
for my $each (@open)
{
	my ($db, $table) = @$each;
	run($db, 'SELECT snowdrift.publish_watermarks()');
	$node->wait_for_catchup($second, 'replay');
	is(names($db, $table, $second), 'first second third prepared later new', '... before they are published');
}

$second->stop;
$standby->stop;
done_testing();
