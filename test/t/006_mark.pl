# The mark: its value, its cost, and changes by the extension's owner or a superuser
use strict;
use warnings FATAL => 'all';
use Test::More;
use Snowdrift;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

my $node = new_server('mark');
# Nothing else flushes the WAL before these crashes.
$node->append_conf('postgresql.conf', "fsync = on\nwal_writer_delay = 10s\nautovacuum = off\n");
start_with_clock($node, '2026-06-01 12:00:00');
$node->safe_psql('postgres', 'CREATE EXTENSION snowdrift');
is( $node->safe_psql('postgres', 'SELECT mark IS NULL, lead FROM snowdrift.clock'),
	't|00:00:00', 'a new database has no mark');
$node->safe_psql('postgres', 'SELECT next_snowflake()');
is( $node->safe_psql('postgres',
		"SELECT mark AT TIME ZONE 'UTC', lead, wall_clock AT TIME ZONE 'UTC' FROM snowdrift.clock"),
	'2026-06-01 12:00:03|00:00:03|2026-06-01 12:00:00',
	'the first ID advances the mark by the lease');

# records_of(STATEMENT): the sizes of the WAL records that advance the mark during the statement
sub records_of
{
	my ($statement) = @_;
	my $from = $node->safe_psql('postgres', 'SELECT pg_current_wal_insert_lsn()');
	$node->safe_psql('postgres', $statement);
	$node->safe_psql('postgres', q{SELECT pg_logical_emit_message(true, '', '')});    # its commit flushes
	my $to = $node->safe_psql('postgres', 'SELECT pg_current_wal_flush_lsn()');
	my ($out) = run_command(
		[ 'pg_waldump', '-p', $node->data_dir . '/pg_wal', '-r', 'Generic', '-s', $from, '-e', $to ]);
	return map { /tot\):\s*\d+\/\s*(\d+)/ ? $1 : () } split /\n/, $out;
}

# After 1.5 s, half of the lease is used. Then one WAL record renews it.
is(scalar(records_of('SELECT count(*) FROM next_snowflakes(4000)')),
	0, 'IDs within the lease write no WAL');
set_clock($node, '2026-06-01 12:00:01.600');
my @records = records_of('SELECT count(*) FROM next_snowflakes(4000)');
is(scalar(@records), 1, 'after half of the lease, it is renewed once');
cmp_ok($records[0], '<', 128, '... by a small record, every 1.5 s');
my $position = $node->safe_psql('postgres', 'SELECT pg_current_wal_insert_lsn()');
for my $ms (3100, 4700, 6300, 7900)
{
	set_clock($node, sprintf('2026-06-01 12:00:%06.3f', $ms / 1000));
	$node->safe_psql('postgres',
		'SELECT count(*) FROM next_snowflakes(1000); SELECT next_ulid(), next_uuidv7() FROM generate_series(1, 1000)');
}
cmp_ok($node->safe_psql('postgres', "SELECT pg_current_wal_insert_lsn() - '$position'"),
	'<', 1024, 'the WAL of six seconds of IDs is less than 1 kB');

# After a restart, IDs begin after the mark.
my $mark = $node->safe_psql('postgres', 'SELECT snowflake_boundary(mark) FROM snowdrift.clock');
$node->stop;
start_with_clock($node, '2026-06-01 12:00:07.900');
cmp_ok($node->safe_psql('postgres', 'SELECT next_snowflake()'),
	'>=', $mark + (1 << 22), 'after a restart, IDs begin after the mark');

# The mark is on disk before the ID is returned, in every kind of transaction.
my %draws = (
	'a statement' => 'SELECT next_snowflake()',
	'a transaction with asynchronous commit' =>
	  'SET synchronous_commit = off; SELECT next_snowflake()',
	'a read-only transaction' => 'BEGIN READ ONLY; SELECT next_snowflake(); COMMIT',
	'a transaction that is rolled back' => 'BEGIN; SELECT next_snowflake(); ROLLBACK',
	'a subtransaction that is rolled back' =>
	  'BEGIN; SAVEPOINT s; SELECT next_snowflake(); ROLLBACK TO s; COMMIT',
	'an exception block' => q{
		DO $$ BEGIN
			PERFORM set_config('snowdrift_test.id', next_snowflake()::text, false);
			RAISE division_by_zero;
		EXCEPTION WHEN division_by_zero THEN
			PERFORM set_config('snowdrift_test.id', next_snowflake()::text, false);
		END $$;
		SELECT current_setting('snowdrift_test.id')});
my $second = 5;
my $returned;
for my $what (sort keys %draws)
{
	set_clock($node, sprintf('2026-06-01 12:00:%02d', $second));
	$returned = $node->safe_psql('postgres', $draws{$what});
	$node->stop('immediate');
	start_with_clock($node, sprintf('2026-06-01 12:00:%02d', $second - 1));
	cmp_ok($node->safe_psql('postgres', 'SELECT next_snowflake()'),
		'>', $returned, "after a crash right after an ID of $what, the next one is greater");
	$second += 5;
}

# An extension whose creation is committed, but not yet on disk, survives a crash once a session has
# received an ID.
$node->safe_psql('postgres', 'CREATE DATABASE fresh');
$node->append_conf('postgresql.conf', 'wal_writer_flush_after = 1GB');
$node->reload;
my $installer = $node->background_psql('fresh');
$installer->query_safe($_)
  for 'SET synchronous_commit = off', 'BEGIN', 'CREATE EXTENSION snowdrift', 'SELECT next_snowflake()', 'COMMIT';
$returned = $node->safe_psql('fresh', 'SELECT next_snowflake()');
$node->stop('immediate');
eval { $installer->quit };
start_with_clock($node, sprintf('2026-06-01 12:00:%02d', $second - 6));
is($node->safe_psql('fresh', "SELECT count(*) FROM pg_extension WHERE extname = 'snowdrift'"),
	1, 'an ID of an extension that was just installed: the extension exists after a crash');
cmp_ok($node->safe_psql('fresh', 'SELECT next_snowflake()'), '>', $returned, '... and continues after that ID');
$node->safe_psql('postgres', 'DROP DATABASE fresh');

# When the replacement of the extension is rolled back, a session uses the previous mark again.
my $session;
for my $case ([ 'next_snowflake()', 45 ], [ 'next_ulid()', 52 ])
{
	my ($call, $begin) = @$case;
	set_clock($node, "2026-06-01 12:00:$begin");
	$session = $node->background_psql('postgres');
	$session->query_safe($_)
	  for 'BEGIN', "SELECT $call", 'SAVEPOINT s', 'DROP EXTENSION snowdrift', 'CREATE EXTENSION snowdrift';
	set_clock($node, '2026-06-01 12:00:' . ($begin + 5));
	$session->query_safe($_) for "SELECT $call", 'ROLLBACK TO s';
	$returned = $session->query_safe("SELECT $call");
	$session->query_safe('COMMIT');
	$session->quit;
	$node->stop('immediate');
	start_with_clock($node, '2026-06-01 12:00:' . ($begin + 1));
	cmp_ok($node->safe_psql('postgres', "SELECT $call"),
		'gt', $returned, "an extension restored by a rollback to a savepoint repeats no ID: $call");
}

# After the extension is dropped and created again, no ID is repeated.
my $before = $node->safe_psql('postgres', 'SELECT next_snowflake()');
$node->safe_psql('postgres', 'DROP EXTENSION snowdrift; CREATE EXTENSION snowdrift');
$node->stop('immediate');
start_with_clock($node, '2026-06-01 12:01:00');
cmp_ok($node->safe_psql('postgres', 'SELECT next_snowflake()'),
	'>', $before, 'dropped, created and crashed: IDs still ascend');

# The same holds for a session that stays connected, even if the transaction is rolled back.
$session = $node->background_psql('postgres');
$before = $session->query_safe('SELECT next_snowflake()');
$node->safe_psql('postgres',
	'BEGIN; DROP EXTENSION snowdrift; CREATE EXTENSION snowdrift; SELECT next_snowflake(); ROLLBACK');
cmp_ok($session->query_safe('SELECT next_snowflake()'), '>', $before, 'rolled back, IDs of another session still ascend');
set_clock($node, '2026-06-01 12:01:06');
$returned = $node->safe_psql('postgres',
	'BEGIN; DROP EXTENSION snowdrift; CREATE EXTENSION snowdrift; SELECT next_snowflake(); ROLLBACK');
is($node->safe_psql('postgres', "SELECT mark >= snowflake_timestamp($returned) FROM snowdrift.clock"),
	't', '... and snowdrift.clock shows the mark that covers those of the rolled back one');
$returned = $session->query_safe('SELECT next_snowflake()');
$session->quit;
$node->stop('immediate');
start_with_clock($node, '2026-06-01 12:01:00');
cmp_ok($node->safe_psql('postgres', 'SELECT next_snowflake()'),
	'>', $returned, '... and does not rely on a mark that was rolled back');
set_clock($node, '2026-06-01 12:01:10');
$session = $node->background_psql('postgres');
$session->query_safe('SELECT next_snowflake()');
$node->safe_psql('postgres', 'DROP EXTENSION snowdrift; CREATE EXTENSION snowdrift');
my $later = $session->query_safe('SELECT next_snowflake()');
is( $session->query_safe('SELECT mark >= snowflake_timestamp(' . $later . ') FROM snowdrift.clock'),
	't', 'a session that outlives its extension uses the new mark');
$session->quit;

# A copy of the database continues after the original.
$before = $node->safe_psql('postgres', 'SELECT next_snowflake()');
$node->safe_psql('template1', 'CREATE DATABASE copy TEMPLATE postgres');
cmp_ok($node->safe_psql('copy', 'SELECT next_snowflake()'),
	'>', $before, 'a copied database continues after the original');
$node->safe_psql('template1', 'DROP DATABASE copy');

# The owner of a database can create the extension there. The new owner of an extension cannot set the mark.
$node->safe_psql('postgres',
	'CREATE ROLE owner LOGIN; CREATE ROLE heir; CREATE DATABASE owned OWNER owner');
$node->safe_psql('owned', 'SET ROLE owner; CREATE EXTENSION snowdrift');
$before = $node->safe_psql('owned', 'SELECT next_snowflake()');
$node->safe_psql('owned', 'REASSIGN OWNED BY owner TO heir');
cmp_ok($node->safe_psql('owned', 'SET ROLE heir; SELECT next_snowflake()'),
	'>', $before, 'IDs still ascend after the extension changes its owner');
my ($status, undef, $denied) =
  $node->psql('owned', 'SET ROLE heir; INSERT INTO snowdrift_tables.mark SELECT * FROM snowdrift_tables.mark');
like($denied, qr/permission denied for schema snowdrift_tables/, '... and the new owner cannot insert into the mark');
$node->safe_psql('postgres', 'DROP DATABASE owned');

# A mark that was changed by hand
like(error_of($node, 'ALTER EXTENSION snowdrift SET SCHEMA pg_catalog'),
	qr/ERROR:  0A000: extension "snowdrift" does not support SET SCHEMA/, 'the schema cannot be changed');
for my $change ('UPDATE snowdrift_tables.mark SET unix_ms = 0', 'DELETE FROM snowdrift_tables.mark', 'TRUNCATE snowdrift_tables.mark')
{
	for my $role ('origin', 'replica')
	{
		like(error_of($node, "SET session_replication_role = $role; $change"),
			qr/ERROR:  0A000: cannot change table "snowdrift_tables.mark"/, "$change raises an error, also for superusers ($role)");
	}
}
# row_of(TIME): the row of a dump whose mark is that time, of a server with a configured number
sub row_of
{
	my ($time) = @_;
	my $unix_ms = "extract(epoch FROM timestamptz '$time') * 1000";
	return "SELECT $unix_ms, 1, $unix_ms, 0, now(), '1'::xid, 7, 0, 1, 9, -1, 1, true";
}
# A row of a dump advances the mark, whether or not triggers are disabled when it is restored.
my $disable = 'ALTER TABLE snowdrift_tables.mark DISABLE TRIGGER ALL';
my $enable = 'ALTER TABLE snowdrift_tables.mark ENABLE ALWAYS TRIGGER restore_mark, ENABLE ALWAYS TRIGGER refuse_mark_change';
for my $restore ([ 'with triggers', 15, 'SELECT', 'SELECT' ], [ 'without triggers', 20, $disable, $enable ])
{
	my ($how, $second, $first, $last) = @$restore;
	$before = $node->safe_psql('postgres', 'SELECT next_snowflake()');
	$node->safe_psql('postgres', "$first; INSERT INTO snowdrift_tables.mark " . row_of('2026-06-01 11:00:00Z') . "; $last");
	cmp_ok($node->safe_psql('postgres', 'SELECT next_snowflake()'),
		'>', $before, "a row restored $how does not set the mark back");
	$node->safe_psql('postgres',
		"$first; INSERT INTO snowdrift_tables.mark " . row_of("2026-06-01 12:01:${second}Z") . "; $last");
	$node->stop('immediate');
	start_with_clock($node, '2026-06-01 12:01:10');
	is( $node->safe_psql('postgres', "SELECT snowflake_timestamp(next_snowflake()) AT TIME ZONE 'UTC'"),
		"2026-06-01 12:01:$second.001", '... and a row with a later time advances it, also after a crash');
}
like(
	error_of($node, 'INSERT INTO snowdrift_tables.mark ' . row_of('1969-12-31Z')),
	qr/ERROR:  22003: unix_ms of table "snowdrift_tables.mark" must be in range 0 .. 140737488355327/,
	'a row with a time out of range raises an error');
like(error_of($node, 'DROP TABLE snowdrift_tables.mark'), qr/2BP01/, 'the mark cannot be dropped alone');
# Alterations that only a superuser can make
my %alterations = (
	'ALTER EXTENSION snowdrift DROP TABLE snowdrift_tables.mark' =>
	  [ 'does not belong to extension snowdrift', 'ALTER EXTENSION snowdrift ADD TABLE snowdrift_tables.mark' ],
	'ALTER TABLE snowdrift_tables.mark RENAME TO m' => [ 'is missing', 'ALTER TABLE snowdrift_tables.m RENAME TO mark' ],
	'ALTER TABLE snowdrift_tables.mark ALTER unix_ms TYPE numeric' =>
	  [ 'was altered', 'ALTER TABLE snowdrift_tables.mark ALTER unix_ms TYPE bigint' ],
	'ALTER TABLE snowdrift_tables.mark SET UNLOGGED' => [ 'is not crash-safe', 'ALTER TABLE snowdrift_tables.mark SET LOGGED' ],
	'ALTER TABLE snowdrift_tables.mark RENAME TO m; CREATE TABLE snowdrift_tables.mark (LIKE snowdrift_tables.m);
		ALTER EXTENSION snowdrift ADD TABLE snowdrift_tables.mark' =>
	  [ 'is empty', 'ALTER EXTENSION snowdrift DROP TABLE snowdrift_tables.mark; DROP TABLE snowdrift_tables.mark;
		ALTER TABLE snowdrift_tables.m RENAME TO mark' ],
	'ALTER TABLE snowdrift_tables.mark RENAME TO m; CREATE VIEW snowdrift_tables.mark AS TABLE snowdrift_tables.m;
		ALTER EXTENSION snowdrift ADD VIEW snowdrift_tables.mark' =>
	  [ 'was altered', 'ALTER EXTENSION snowdrift DROP VIEW snowdrift_tables.mark; DROP VIEW snowdrift_tables.mark;
		ALTER TABLE snowdrift_tables.m RENAME TO mark' ]);
for my $alteration (sort keys %alterations)
{
	my ($problem, $repair) = @{ $alterations{$alteration} };
	$before = $node->safe_psql('postgres', 'SELECT next_snowflake()');
	$node->safe_psql('postgres', $alteration);
	like(error_of($node, 'SELECT next_snowflake()'),
		qr/ERROR:  55000: table "snowdrift_tables.mark" $problem/, "a mark that $problem raises an error");
	$node->safe_psql('postgres', $repair);
	cmp_ok($node->safe_psql('postgres', 'SELECT next_snowflake()'), '>', $before, '... IDs ascend after the repair');
}
$before = $node->safe_psql('postgres', 'SELECT next_snowflake()');
$node->safe_psql('postgres', "ALTER TABLE snowdrift_tables.mark ADD note text, ADD day date NOT NULL DEFAULT '2026-06-01'");
cmp_ok($node->safe_psql('postgres', 'SELECT next_snowflake()'), '>', $before, 'columns of a later version do no harm');
$node->safe_psql('postgres', 'VACUUM FULL snowdrift_tables.mark');
$node->stop('immediate');
start_with_clock($node, '2026-06-01 12:01:10');
cmp_ok($node->safe_psql('postgres', 'SELECT next_snowflake()'), '>', $before, '... also in a table that was rewritten');
is($node->safe_psql('postgres', 'SELECT DISTINCT day, note IS NULL FROM snowdrift_tables.mark'), '2026-06-01|t', '... and are kept');
$node->safe_psql('postgres', 'ALTER TABLE snowdrift_tables.mark DROP note, DROP day');
cmp_ok($node->safe_psql('postgres', 'SELECT next_snowflake()'), '>', $before, '... until they are dropped');

# These commands move the mark to another file.
for my $rewrite ('VACUUM FULL snowdrift_tables.mark', 'BEGIN; ALTER TABLE snowdrift_tables.mark ALTER writer TYPE integer USING writer + 0; COMMIT')
{
	$before = $node->safe_psql('postgres', 'SELECT next_snowflake()');
	$node->safe_psql('postgres', $rewrite);
	cmp_ok($node->safe_psql('postgres', 'SELECT next_snowflake()'), '>', $before, "$rewrite: IDs still ascend");
	$before = $node->safe_psql('postgres', 'SELECT next_snowflake()');
	$node->stop('immediate');
	start_with_clock($node, '2026-06-01 12:01:10');
	cmp_ok($node->safe_psql('postgres', 'SELECT next_snowflake()'), '>', $before, '... also after a crash');
}

# A clock that had jumped into the future
like( $node->safe_psql('postgres',
		"SELECT obj_description('snowdrift.reset_clock'::regproc, 'pg_proc')"),
	qr/can be issued again/, 'the comment of reset_clock() names the risk');
like(error_of($node, 'SELECT snowdrift.reset_clock()'),
	qr/ERROR:  55000: clock does not need a reset/, 'an unnecessary reset is an error');
like(error_of($node, q{SELECT snowdrift.create_generator('minutes', 'snowflake', 'epoch=2024-01-01T00:00:00Z unit=60s timestamp=31 sequence=24 worker=8');
	SELECT snowdrift.snapshot('minutes');
	SET snowdrift.max_clock_lead = '30s'; SELECT snowdrift.reset_clock()}),
	qr/ERROR:  55000: clock does not need a reset/, '... also if a generator will begin with the next minute');
$node->safe_psql('postgres', q{SELECT snowdrift.drop_generator('minutes')});
$node->safe_psql('postgres', q{SELECT snowdrift.create_generator('kept', 'snowflake', worker => 8)});
$node->safe_psql('postgres', "CREATE DATABASE of_$_") for 'snowflake', 'ulid', 'uuidv7';
$node->safe_psql("of_$_", "CREATE EXTENSION snowdrift; SELECT next_$_()") for 'snowflake', 'ulid', 'uuidv7';
$node->safe_psql('postgres', 'CREATE DATABASE of_failed');
$node->safe_psql('of_failed', 'CREATE EXTENSION snowdrift; SELECT next_snowflake()');
set_clock($node, '2036-06-01 12:00:00');
$node->safe_psql('of_failed', 'SELECT next_snowflake()');
$node->safe_psql("of_$_", "SELECT ${_}_watermark()") for 'snowflake', 'ulid', 'uuidv7';
$node->safe_psql('postgres', 'SELECT next_snowflake()');
my $dropping = $node->background_psql('postgres');
$dropping->query_safe($_) for q{SELECT next_snowflake('kept')}, 'BEGIN', q{SELECT snowdrift.drop_generator('kept')};
set_clock($node, '2026-06-01 12:01:20');
like(error_of($node, 'SELECT next_snowflake()'),
	qr/clock moved backwards by 3156191\d{5} ms/, 'clock back from ten years ahead: error');
# A rolled-back file of the mark takes the reset with it. The states of before are lost, but not their times.
my $rolled_back = 'BEGIN; ALTER TABLE snowdrift_tables.mark ALTER writer TYPE integer USING writer + 0; SELECT snowdrift.reset_clock(); ROLLBACK';
like(error_of_database($node, 'of_failed', "$rolled_back; SELECT next_snowflake()"), qr/55000: clock moved backwards/, 'a reset that is rolled back resets nothing');
for my $kind ('snowflake', 'ulid', 'uuidv7')
{
	like(error_of_database($node, "of_$kind", "SELECT next_$kind()"),
		qr/clock moved backwards by 3156191\d{5} ms/, "... also if only a watermark was read: $kind");
	$node->safe_psql("of_$kind", 'SELECT snowdrift.reset_clock()');
	is($node->safe_psql("of_$kind", q{SELECT mark >= '2026-06-01 12:01:20Z' FROM snowdrift.clock}), 't', '... and the mark covers all earlier times');
	like($node->safe_psql("of_$kind", "SELECT ${kind}_timestamp(next_$kind()) AT TIME ZONE 'UTC'"),
		qr/^2026-06-01 12:01:/, '... until the clock is reset');
}
is( $node->safe_psql('of_failed', q{SELECT snowdrift.reset_clock(); DROP EXTENSION snowdrift; CREATE EXTENSION snowdrift;
		SELECT mark >= '2026-06-01 12:01:20Z' FROM snowdrift.clock}),
	"\nt", 'an extension that is created again after a reset continues the mark');
$node->safe_psql('postgres', 'CREATE ROLE someone');
like(error_of($node, 'SET ROLE someone; SELECT snowdrift.reset_clock()'),
	qr/42501: permission denied/, 'ordinary roles cannot reset the clock');
my $advancing = $node->background_psql('postgres');
$advancing->query_safe($_) for 'BEGIN', 'LOCK TABLE snowdrift_tables.mark IN ROW EXCLUSIVE MODE';
my $resetting = $node->background_psql('postgres');
$resetting->query_until(qr/waiting/, "\\echo waiting\nSELECT snowdrift.reset_clock();\n");
ok( $node->poll_query_until('postgres',
		q{SELECT count(*) = 1 FROM pg_locks WHERE NOT granted AND relation = 'snowdrift_tables.mark'::regclass}),
	'a reset waits for calls that attach or advance the mark');
$advancing->quit;
$resetting->query_safe('SELECT 1');    # after the reset
$resetting->quit;
$dropping->query_safe('ROLLBACK');
$dropping->quit;
is( $node->safe_psql('postgres',
		"SELECT snowflake_timestamp(next_snowflake()) AT TIME ZONE 'UTC'"),
	'2026-06-01 12:01:20.001', 'after the reset, IDs contain the current time');
is($node->safe_psql('postgres', q{SELECT snowflake_timestamp(next_snowflake('kept')) AT TIME ZONE 'UTC'}),
	'2026-06-01 12:01:20.001', '... also those of a generator whose drop is rolled back');
$node->stop('immediate');
start_with_clock($node, '2026-06-01 12:01:20');
is( $node->safe_psql('postgres',
		"SELECT snowflake_timestamp(next_snowflake()) AT TIME ZONE 'UTC'"),
	'2026-06-01 12:01:23.001', '... also after a crash');

# A role needs EXECUTE on a function that generates IDs, and no other privilege.
$node->safe_psql('postgres',
	"SELECT snowdrift.create_generator('own', 'snowflake', worker => 7);
	 SELECT snowdrift.create_generator('own sno', 'sno', partition => 7);
	 REVOKE ALL ON ALL TABLES IN SCHEMA snowdrift FROM PUBLIC;
	 REVOKE ALL ON SCHEMA snowdrift FROM PUBLIC");
my $at = 30;    # a new generator begins after the last ID of the database
for my $call (@Snowdrift::calls)
{
	set_clock($node, '2026-06-01 12:01:' . $at++);
	like( $node->safe_psql('postgres',
			"SET ROLE someone; SET search_path = pg_temp; SET default_transaction_read_only = on;
			 SELECT public.$call"),
		qr/^[\w-]+$/, "public.$call: no privilege except EXECUTE is needed");
}
# Without the privilege to use the schema, no statement can lock the table.
for my $statement (
	'SELECT FROM snowdrift_tables.mark',
	'PREPARE p AS TABLE snowdrift_tables.mark',
	'CREATE TEMP VIEW v AS TABLE snowdrift_tables.mark',
	'CREATE RULE r AS ON INSERT TO snowdrift_tables.mark DO NOTHING',
	'LOCK snowdrift_tables.mark IN ACCESS SHARE MODE')
{
	like(error_of($node, "SET ROLE someone; BEGIN; $statement"),
		qr/42501: permission denied for schema snowdrift_tables/, "$statement: an ordinary role cannot use the schema");
}
$node->safe_psql('postgres', 'GRANT USAGE ON SCHEMA snowdrift, snowdrift_tables TO PUBLIC');
for my $statement (
	'SELECT FROM snowdrift_tables.mark',
	'INSERT INTO snowdrift_tables.mark SELECT * FROM snowdrift_tables.mark',
	'UPDATE snowdrift_tables.mark SET unix_ms = 0',
	'DELETE FROM snowdrift_tables.mark',
	'TRUNCATE snowdrift_tables.mark',
	'ALTER TABLE snowdrift_tables.mark DISABLE TRIGGER ALL',
	'BEGIN; LOCK snowdrift_tables.mark',
	'BEGIN; LOCK snowdrift_tables.mark IN ACCESS SHARE MODE',
	'BEGIN; LOCK snowdrift_tables.mark IN ROW EXCLUSIVE MODE')
{
	like(error_of($node, "SET ROLE someone; $statement"),
		qr/42501: (permission denied for|must be owner of) table mark/,
		"$statement: an ordinary role can neither read nor change the mark");
}
$node->stop;

done_testing();
