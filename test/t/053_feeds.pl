# snowdrift.read_new() over watched tables, in both editions: whatever writers do in open transactions, no row is missed, and
# what could be missed is refused. sql/feeds.sql has what one session shows.
use strict;
use warnings FATAL => 'all';
use Test::More;
use Snowdrift;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Time::HiRes qw(usleep);

my $node = new_server('node', allows_streaming => 1);
$node->append_conf('postgresql.conf', "max_prepared_transactions = 20\nmax_connections = 60\n");
$node->start;
$node->safe_psql('postgres', 'CREATE DATABASE extension');
$node->safe_psql('extension', 'CREATE EXTENSION snowdrift');
create_edition($node, 'edition');
$node->safe_psql('postgres', 'CREATE ROLE writer LOGIN; CREATE ROLE reader LOGIN; CREATE ROLE stranger LOGIN');

my ($db, $user, $kind);    # what is tested: database, its owner, kind of keys
my %default = (
	serial => 'bigserial',
	identity => 'bigint GENERATED ALWAYS AS IDENTITY',
	generator => 'bigint DEFAULT next_snowflake()');
my $insert = 'INSERT INTO events DEFAULT VALUES';
my $last;    # the position of the reader

# run(STATEMENTS), session(), error(STATEMENTS): as the owner of the tables
sub run { return $node->safe_psql($db, $_[0], extra_params => [ '-U', $user ]) }

sub session
{
	my ($role) = @_;
	return $node->background_psql($db, on_error_stop => 0, extra_params => [ '-U', $role // $user ]);
}

sub error
{
	my ($statements, $role) = @_;
	my ($status, $out, $error) = $node->psql($db, "\\set VERBOSITY verbose\n$statements", extra_params => [ '-U', $role // $user ]);
	return $status ? $error : "no error, but: $out";
}

# create_events(COLUMNS): a new watched table, of which nothing has been read
sub create_events
{
	my ($columns) = @_;
	run("DROP TABLE IF EXISTS events CASCADE; CREATE TABLE events (id $default{$kind} PRIMARY KEY, n integer"
		  . ($columns // '') . "); SELECT snowdrift.watch('events')");
	$last = undef;
	return;
}

# read_new(): the number of rows that are new, and readable
sub read_new
{
	usleep(5000) if $kind eq 'generator';    # the current time unit of the library's generator ends
	my $after = defined $last ? ", $last" : '';
	my @ids = split /\n/, run("SELECT id FROM snowdrift.read_new(NULL::events$after)");
	$last = $ids[-1] if @ids;
	return scalar @ids;
}

# holds(NAME, STATEMENT, ROWS): a statement of an open transaction holds later rows back until it ends
sub holds
{
	my ($name, $statement, $rows) = @_;
	my $writer = session();
	read_new();
	$writer->query_safe('BEGIN');
	$writer->query_safe($statement);
	run("$insert; SELECT pg_sleep(0.002); $insert");
	is(read_new(), 0, "$db, $kind: $name: later rows are held back");
	is(run('SELECT count(DISTINCT pid) FROM snowdrift.watermark_holders'), 1, '... by one transaction, which is shown');
	$writer->query_safe('COMMIT');
	is(read_new(), $rows + 2, '... and all rows are read when it has ended');
	$writer->quit;
	return;
}

sub check_kind
{
	create_events();
	holds('INSERT', $insert, 1);
	holds('INSERT of rows', 'INSERT INTO events (n) SELECT generate_series(1, 5)', 5);
	holds('ON CONFLICT', 'INSERT INTO events (n) VALUES (1), (2) ON CONFLICT DO NOTHING', 2);
	my $file = PostgreSQL::Test::Utils::tempdir() . '/rows';
	append_to_file($file, "1\n2\n") if !-e $file;
	holds('COPY', "\\copy events (n) FROM '$file'\n", 2);
	holds('DO', 'DO $$ BEGIN FOR i IN 1 .. 3 LOOP BEGIN INSERT INTO events DEFAULT VALUES; EXCEPTION WHEN OTHERS THEN RAISE; END; END LOOP; END $$', 3);
	run(q{CREATE OR REPLACE FUNCTION insert_with_setting() RETURNS void LANGUAGE plpgsql SET work_mem = '1MB' AS 'BEGIN INSERT INTO events DEFAULT VALUES; END'});
	holds('a function with a setting', 'SELECT insert_with_setting()', 1);
	run('DROP TABLE IF EXISTS orders; CREATE TABLE orders (id integer);
		CREATE OR REPLACE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO events DEFAULT VALUES; RETURN NULL; END $$;
		CREATE TRIGGER note AFTER INSERT ON orders FOR EACH ROW EXECUTE FUNCTION note()');
	holds('a trigger of another table', 'INSERT INTO orders VALUES (1), (2)', 2);
	run('CREATE VIEW of_events AS SELECT * FROM events');
	holds('a view', 'INSERT INTO of_events (n) VALUES (1)', 1);
	holds('UPDATE of the ID', "UPDATE events SET id = DEFAULT WHERE id = (SELECT min(id) FROM events)", 1);
	holds('RESET ALL and pg_advisory_unlock_all()', "$insert; SELECT pg_advisory_unlock_all(); RESET ALL; $insert", 2);
	SKIP: {
		skip 'replication roles are a superuser\'s', 3 if $db eq 'edition';
		holds('session_replication_role', "SET LOCAL session_replication_role = replica; $insert", 1);
	}

	run('DROP TABLE IF EXISTS others; CREATE TABLE others (id bigserial PRIMARY KEY); SELECT snowdrift.watch(\'others\')');
	my $elsewhere = session();
	$elsewhere->query_safe('BEGIN; INSERT INTO others DEFAULT VALUES');
	create_events();
	run($insert);
	is(read_new(), 1, "$db, $kind: transactions that draw from another sequence do not hold rows back");
	$elsewhere->query_safe('COMMIT');
	$elsewhere->quit;

	# Savepoints
	create_events();
	my ($a, $b) = (session(), session());
	$a->query_safe("BEGIN; SAVEPOINT s; $insert; ROLLBACK TO s");
	$b->query_safe($insert);
	is(read_new(), 1, "$db, $kind: ROLLBACK TO ends the hold with its rows") if $kind ne 'generator' || $db eq 'edition';
	$a->query_safe("SAVEPOINT t; $insert; RELEASE t");
	$b->query_safe($insert);
	is(read_new(), 0, '... and the next row takes a new one');
	$a->query_safe('COMMIT');
	read_new();
	is(run("SELECT count(*) FROM events WHERE id <= $last"), run('SELECT count(*) FROM events'), '... which ends with the transaction');
	$a->query_safe("BEGIN; $insert");
	$a->query_safe('DO $$ BEGIN FOR i IN 1 .. 500 LOOP BEGIN INSERT INTO events DEFAULT VALUES; RAISE division_by_zero; EXCEPTION WHEN division_by_zero THEN END; END LOOP; END $$');
	is(run('SELECT count(*) FROM snowdrift.watermark_holders'), 1, 'one hold for many savepoints');
	$a->query_safe('COMMIT');

	# Prepared transactions, and a crash
	create_events();
	run("BEGIN; $insert; PREPARE TRANSACTION 'first'");
	run($insert);
	is(read_new(), 0, "$db, $kind: a prepared transaction holds later rows back");
	is(run('SELECT gid, pid FROM snowdrift.watermark_holders'), 'first|', '... and is shown');
	run("COMMIT PREPARED 'first'");
	is(read_new(), 2, '... until COMMIT PREPARED');
	run("BEGIN; $insert; PREPARE TRANSACTION 'second'; $insert; ROLLBACK PREPARED 'second'");
	is(read_new(), 1, '... or ROLLBACK PREPARED');
	$_->quit for $a, $b;

	# An old snapshot does not see the watch.
	run("SELECT snowdrift.unwatch('events')");
	$a = session();
	$a->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
	run("SELECT snowdrift.watch('events')");
	$a->query($insert);
	is(($a->{stderr} =~ /ERROR:/ ? 1 : 0), $db eq 'extension' && $kind eq 'generator' ? 0 : 1,
		"$db, $kind: a transaction whose snapshot is older than the watch inserts nothing that is not held");
	$a->{stderr} = '';
	$a->query('ROLLBACK');
	# watch() waits for those that have inserted.
	run("SELECT snowdrift.unwatch('events')");
	$a->query_safe("BEGIN; $insert");
	like(error("SET lock_timeout = '50ms'; SELECT snowdrift.watch('events')"), qr/ERROR:  55P03/, "$db, $kind: watch() waits until the transactions of writers have ended");
	$a->query_safe('ROLLBACK');
	run("SELECT snowdrift.watch('events')");
	read_new();

	# A function that is not VOLATILE, in a query whose snapshot is older than the rows
	run('CREATE OR REPLACE FUNCTION count_new() RETURNS bigint STABLE LANGUAGE sql AS $$ SELECT count(*) FROM snowdrift.read_new(NULL::events) $$');
	create_events();
	$a->query_safe("BEGIN; $insert");
	my $lock = session();
	$lock->query_safe('SELECT pg_advisory_lock(7)');
	my $reader = IPC::Run::start([ 'psql', '-X', '-A', '-t', '-q', '-d', $node->connstr($db), '-U', $user, '-c',
			'SELECT count_new() FROM (SELECT pg_advisory_lock(7) OFFSET 0) AS wait' ], '>', \my $new, '2>', \my $problem);
	$node->poll_query_until($db, q{SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = 7 AND NOT granted)}) or die;
	$a->query_safe('COMMIT');
	run($insert);
	usleep(5000);
	$lock->query_safe('SELECT pg_advisory_unlock(7)');
	$reader->finish or die $problem;
	is($new, "2\n", "$db, $kind: a STABLE function in a query with an older snapshot reads what has been committed");
	$lock->quit;

	# A prepared query of a table that has changed
	create_events(', extra text');
	run($insert);
	usleep(5000);
	$a->query_safe('PREPARE new AS SELECT * FROM snowdrift.read_new(NULL::events, $1)');
	is($a->query_safe('EXECUTE new (NULL)') =~ tr/\n// + 1, 1, "$db, $kind: a prepared query");
	run('ALTER TABLE events DROP COLUMN extra');
	my $row = run('TABLE events');
	my $found = $a->query('EXECUTE new (NULL)');
	like($a->{stderr} || $found, qr/\A\Q$row\E\z|ERROR:  (cached plan must not change result type|.* has been dropped)/, '... raises an error, or returns the row, after DROP COLUMN');
	$a->{stderr} = '';
	$a->query_safe('DEALLOCATE new; PREPARE new AS SELECT * FROM snowdrift.read_new(NULL::events, $1)');
	is($a->query_safe('EXECUTE new (NULL)') =~ tr/\n// + 1, 1, '... and reads the row when it is prepared again');
	$a->quit;

	# Roles
	create_events();
	run('GRANT INSERT ON events TO writer; GRANT SELECT ON events TO reader');
	run(q{GRANT USAGE ON SEQUENCE events_id_seq TO writer}) if $kind eq 'serial';
	like(error($insert, 'writer'), qr/^no error/, "$db, $kind: a role that may only INSERT");
	usleep(5000);
	my $read = 'SELECT n FROM snowdrift.read_new(NULL::events)';
	if ($kind ne 'generator')
	{
		like(error($read, 'reader'), qr/ERROR:  42501: permission denied for sequence public.events_id_seq.*HINT:  Run GRANT SELECT ON SEQUENCE/s,
			'... a reader needs a privilege on the sequence');
		run('GRANT SELECT ON SEQUENCE events_id_seq TO reader');
	}
	like(error($read, 'reader'), qr/^no error/, '... and reads');
	like(error($read, 'stranger'), qr/ERROR:  42501: permission denied for (table|sequence)/, '... and a stranger does not');
	like(error(q{SELECT snowdrift.hold('events')}, 'stranger'), qr/ERROR:  42501: permission denied for table/, '... nor holds') if $kind ne 'generator';
	like(error(qq{SELECT snowdrift.$_('events')}, 'reader'), qr/ERROR:  42501: must be owner of table events/, "... only the owner calls $_()") for 'watch', 'unwatch';
	# A trigger on a table of one's own tells nothing about the sequences of others.
	if ($kind ne 'generator')
	{
		$node->safe_psql($db, 'CREATE SCHEMA IF NOT EXISTS stranger AUTHORIZATION stranger');
		like(error(q{CREATE TABLE stranger.t (i integer);
			CREATE TRIGGER t BEFORE INSERT ON stranger.t FOR EACH STATEMENT WHEN ('events_id_seq'::regclass IS NOT NULL) EXECUTE FUNCTION snowdrift.hold_sequence();
			INSERT INTO stranger.t VALUES (1)}, 'stranger'), qr/ERROR:  55000: cannot hold the watermark of table "t"/, '... and a trigger of a stranger reads no sequence of others');
		$node->safe_psql($db, 'DROP TABLE stranger.t');
	}
	return;
}

# read_when_readable(QUERY, N): the rows of the query when there are N, after at most 10 s
sub read_when_readable
{
	my ($query, $n) = @_;
	my $rows = '';
	for (1 .. 1000)
	{
		$rows = run($query);
		last if ($rows =~ tr/\n//) == $n - 1 && $rows ne '';
		usleep(10_000);
	}
	return $rows;
}

# An ordinary role that has not installed the edition watches its own table.
sub check_ordinary_owner
{
	($user, my $installer) = ('stranger', $user);
	my $insert = 'INSERT INTO own DEFAULT VALUES';
	my $read = 'SELECT n FROM snowdrift.read_new(NULL::own)';
	$node->safe_psql($db, 'CREATE SCHEMA IF NOT EXISTS stranger AUTHORIZATION stranger');
	run("CREATE TABLE own (id $default{$kind} PRIMARY KEY, n integer DEFAULT 1)");
	run("SELECT snowdrift.watch('own'); SELECT snowdrift.watch('own'); $insert");
	is(read_when_readable($read, 1), '1', "$db, $kind: an ordinary role watches its table, and reads it");
	like(error('INSERT INTO own OVERRIDING SYSTEM VALUE VALUES (0)'), qr/ERROR:  55000/, '... which refuses rows that were not drawn');
	my $writer = session();
	$writer->query_safe("BEGIN; SELECT snowdrift.hold('own'); $insert");
	usleep(5000);
	run($insert);
	is(run('SELECT n FROM snowdrift.read_new(NULL::own, (SELECT min(id) FROM own))'), '', '... holds later rows back');
	is(run('SELECT count(*) FROM snowdrift.watermark_holders'), 1, '... and shows by whom');
	$writer->query_safe('COMMIT');
	$writer->quit;
	is(read_when_readable($read, 3), "1\n1\n1", '... until the transaction has ended');
	like(error(q{SELECT snowdrift.unwatch('own'); INSERT INTO own OVERRIDING SYSTEM VALUE VALUES (0); DROP TABLE own}), qr/^no error/, '... and its owner removes the watch');
	$user = $installer;
	return;
}

for my $edition ([ 'extension', 'postgres' ], [ 'edition', 'owner' ])
{
	($db, $user) = @$edition;
	for (qw(serial identity generator))
	{
		$kind = $_;
		check_kind();
		check_ordinary_owner();
	}
}

# The rows come from a newer snapshot than that of the statement: other tables are read in a later one.
for my $edition ([ 'extension', 'postgres' ], [ 'edition', 'owner' ])
{
	($db, $user, $kind) = (@$edition, 'serial');
	create_events();
	run('CREATE TABLE items (event_id bigint)');
	my $lock = session();
	$lock->query_safe('SELECT pg_advisory_lock(7)');
	my $joined = 'snowdrift.read_new(NULL::events, %s) AS r LEFT JOIN items AS i ON i.event_id = r.id';
	my $reader = IPC::Run::start([ 'psql', '-X', '-A', '-t', '-q', '-d', $node->connstr($db), '-U', $user,
			'-c', 'SELECT r.id, i.event_id FROM (SELECT pg_advisory_lock(7) OFFSET 0) AS wait, ' . sprintf($joined, 'CASE WHEN wait IS NULL THEN 0 END'),
			'-c', 'SELECT r.id, i.event_id FROM ' . sprintf($joined, 'NULL') ], '>', \my $rows, '2>', \my $problem);
	$node->poll_query_until($db, q{SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = 7 AND NOT granted)}) or die;
	run("BEGIN; $insert; INSERT INTO items SELECT id FROM events; COMMIT");
	$lock->query_safe('SELECT pg_advisory_unlock(7)');
	$reader->finish or die $problem;
	is($rows, "1|\n1|1\n", "$db: a join in the statement of read_new() lacks rows that a later statement finds");
	$lock->quit;
	run('DROP TABLE items');
}

# A rewritten partition, while the reader waits for its lock
for my $edition ([ 'extension', 'postgres' ], [ 'edition', 'owner' ])
{
	($db, $user, $kind) = (@$edition, 'serial');
	run('DROP TABLE events CASCADE; CREATE TABLE events (id bigserial, n integer) PARTITION BY LIST (n);
		CREATE TABLE events_1 PARTITION OF events FOR VALUES IN (1); CREATE TABLE events_2 PARTITION OF events FOR VALUES IN (2);
		SELECT snowdrift.watch(\'events\'); INSERT INTO events (n) VALUES (1), (2)');
	my $change = session();
	$change->query_safe('BEGIN; ALTER TABLE events_1 SET UNLOGGED');
	my $reader = IPC::Run::start([ 'psql', '-X', '-A', '-t', '-q', '-d', $node->connstr($db), '-U', $user, '-c', 'SELECT id FROM snowdrift.read_new(NULL::events)' ],
		'>', \my $ids, '2>', \my $problem);
	$node->poll_query_until($db, q{SELECT EXISTS (SELECT FROM pg_locks WHERE relation = 'events_1'::regclass AND NOT granted)}) or die;
	$change->query_safe('COMMIT');
	$reader->finish or die $problem;
	is($ids, "1\n2\n", "$db: rows of a partition that is rewritten meanwhile are not missed");
	$change->quit;
}

# What other roles lock, DDL that waits, and a new owner
for my $edition ([ 'extension', 'postgres' ], [ 'edition', 'owner' ])
{
	($db, $user) = @$edition;
	my $insert = q{SET lock_timeout = '10s'; INSERT INTO held DEFAULT VALUES};
	run(q{CREATE TABLE held (id bigserial PRIMARY KEY); SELECT snowdrift.watch('held')});
	my $stranger = session('stranger');
	$stranger->query_safe(q{SELECT pg_advisory_lock(snowdrift.hold_key('held_id_seq'::regclass, n)) FROM generate_series(0, 2) AS n});
	like(error($insert), qr/^no error/, "$db: another role's locks with the keys of holds do not block writers");
	is(run('SELECT id FROM snowdrift.read_new(NULL::held)'), '1', '... nor readers');
	$stranger->quit;
	my $change = session();
	$change->query_safe(q{SET lock_timeout = '10s'; BEGIN; LOCK TABLE held});
	my $reader = IPC::Run::start([ 'psql', '-X', '-A', '-t', '-q', '-d', $node->connstr($db), '-U', $user, '-c', 'SELECT id FROM snowdrift.read_new(NULL::held)' ],
		'>', \my $ids, '2>', \my $problem);
	$node->poll_query_until($db, q{SELECT EXISTS (SELECT FROM pg_locks WHERE relation = 'held'::regclass AND NOT granted)}) or die;
	$change->query_safe('ALTER SEQUENCE held_id_seq RESTART WITH 5; COMMIT');
	$reader->finish;
	is("$ids$problem", "1\n", '... and a reader that waits for the table locks nothing that its TRUNCATE … RESTART IDENTITY needs');
	$change->quit;
	$node->safe_psql($db, 'ALTER TABLE held OWNER TO stranger');
	$user = 'stranger';
	if ($db eq 'edition')
	{
		like(error($insert), qr/ERROR:  55000: cannot hold the watermark of table "held"/, 'a new owner of a table must watch it again');
		like(error('SELECT snowdrift.read_new(NULL::held)'), qr/ERROR:  55000: new rows .*The owner of the watch's function may not read sequence public\.held_id_seq/s, '... which readers are told, too');
	}
	run(q{SELECT snowdrift.watch('held')});
	like(error($insert), qr/^no error/, "... $db: and then inserts rows");
	run('DROP TABLE held');
	$node->safe_psql($db, q{CREATE SEQUENCE private; CREATE TABLE drawing (id bigint PRIMARY KEY DEFAULT nextval('private')); ALTER TABLE drawing OWNER TO stranger});
	like(error(q{SELECT snowdrift.watch('drawing')}, 'postgres'), qr/ERROR:  42501: permission denied for sequence public\.private\nDETAIL:  The table's owner stranger must be allowed to SELECT from it\./,
		"$db: a table whose owner may not read its sequence is not watched, not even by a superuser");
	$node->safe_psql($db, 'DROP TABLE drawing; DROP SEQUENCE private');
}

# Sequences that begin far above their first number: the first hold has 39 bits of a number before it.
for my $edition ([ 'extension', 'postgres' ], [ 'edition', 'owner' ])
{
	($db, $user) = @$edition;
	for my $change ('', 'ALTER SEQUENCE far_id_seq RESTART WITH 2000000000000', q{SELECT setval('far_id_seq', 3500000000000, false)})
	{
		run(q{DROP TABLE IF EXISTS far; CREATE TABLE far (id bigint GENERATED BY DEFAULT AS IDENTITY (START WITH 1000000000000)); SELECT snowdrift.watch('far')});
		run($change) if $change;
		my $writer = session();
		$writer->query_safe('BEGIN; INSERT INTO far DEFAULT VALUES');
		run('INSERT INTO far DEFAULT VALUES');
		is(run('SELECT count(*) FROM snowdrift.read_new(NULL::far)'), '0', "$db: a sequence that has returned no number is held: " . ($change || 'START WITH'));
		$writer->query_safe('COMMIT');
		$writer->quit;
		is(run('SELECT count(*) FROM snowdrift.read_new(NULL::far)'), '2', '... until the transaction has ended');
	}
	run('DROP TABLE far');
}

# Dumps: a whole database, and one table
for my $edition ([ 'extension', 'postgres' ], [ 'edition', 'owner' ])
{
	($db, $user) = @$edition;
	run('DROP TABLE events CASCADE; CREATE TABLE events (id bigserial PRIMARY KEY, n integer); CREATE TABLE flakes (id bigint PRIMARY KEY DEFAULT next_snowflake(), n integer);
		SELECT snowdrift.watch(t) FROM unnest(ARRAY[\'events\', \'flakes\']::regclass[]) AS t; INSERT INTO events DEFAULT VALUES; INSERT INTO flakes DEFAULT VALUES');
	my $dump = PostgreSQL::Test::Utils::tempdir() . "/$db";
	system_or_bail('pg_dump', '-Fc', '-f', $dump, '-d', $node->connstr($db), '-U', 'postgres');
	$node->safe_psql('postgres', "CREATE DATABASE ${db}_restored OWNER $user");
	system_or_bail('pg_restore', '-e', '-d', $node->connstr("${db}_restored"), '-U', 'postgres', $dump);
	my $original = $db;
	$db = "${original}_restored";
	run('INSERT INTO events DEFAULT VALUES; INSERT INTO flakes DEFAULT VALUES; SELECT pg_sleep(0.005)');
	$node->poll_query_until($db, 'SELECT count(*) = 2 FROM snowdrift.read_new(NULL::flakes)') or fail("$db: rows become readable");
	is(run('SELECT count(*) FROM snowdrift.read_new(NULL::events)'), 2, "$original: a restored table is watched, and read");
	like(error('INSERT INTO events VALUES (0)'), qr/ERROR:  55000: ID 0 of table "events" was not drawn/, '... and refuses rows');
	# One table, in a database whose OIDs belong to other sequences
	$node->safe_psql('postgres', "CREATE DATABASE ${original}_table OWNER $user");
	$db = "${original}_table";
	if ($original eq 'extension') { run('CREATE EXTENSION snowdrift') }
	else { system_or_bail('psql', '-X', '-q', '-o', '/dev/null', '-v', 'ON_ERROR_STOP=1', '-1', '-d', $node->connstr($db), '-U', 'owner', '-f', 'sql-edition/snowdrift.sql') }
	run('CREATE TABLE other (id bigserial PRIMARY KEY); SELECT snowdrift.watch(\'other\')');
	system_or_bail('pg_restore', '-e', '-t', 'events', '-t', 'events_id_seq', '-d', $node->connstr($db), '-U', 'postgres', $dump);
	like(error('SELECT snowdrift.read_new(NULL::events)'), qr/ERROR:  55000: new rows of table "events" are not watched/, '... a table that is restored alone, without triggers, is not watched');
	run('ALTER TABLE events ALTER id SET DEFAULT nextval(\'events_id_seq\'); SELECT snowdrift.watch(\'events\'); INSERT INTO other DEFAULT VALUES; INSERT INTO events DEFAULT VALUES');
	is(run('SELECT count(*) FROM snowdrift.read_new(NULL::events)'), 2, '... until watch() is called');
}

# A promotion keeps the holds of prepared transactions.
$node->backup('base');
my $standby = standby_of($node, 'standby');
for my $edition ([ 'extension', 'postgres' ], [ 'edition', 'owner' ])
{
	($db, $user) = @$edition;
	run("BEGIN; INSERT INTO events DEFAULT VALUES; PREPARE TRANSACTION '$db'");
	run('INSERT INTO events DEFAULT VALUES');
}
$node->wait_for_catchup($standby);
$node->stop('immediate');
$standby->promote;
$node = $standby;
for my $edition ([ 'extension', 'postgres' ], [ 'edition', 'owner' ])
{
	($db, $user) = @$edition;
	is(run('SELECT count(*) FROM snowdrift.read_new(NULL::events)'), 1, "$db: after a promotion, a prepared transaction holds later rows back");
	is(run('SELECT DISTINCT gid FROM snowdrift.watermark_holders'), $db, '... and is shown');
	run("COMMIT PREPARED '$db'");
	is(run('SELECT count(*) FROM snowdrift.read_new(NULL::events)'), 3, '... and all are read when it has ended');
}

# Whatever partitions writers and readers use while unwatch() waits, it causes no deadlock.
for my $edition ([ 'extension', 'postgres' ], [ 'edition', 'owner' ])
{
	($db, $user) = @$edition;
	run('CREATE TABLE lists (id bigint DEFAULT next_snowflake(), k integer) PARTITION BY LIST (k);'
		  . join(';', map { "CREATE TABLE lists_$_ PARTITION OF lists FOR VALUES IN ($_)" } 0 .. 2));
	for my $k (0 .. 2)
	{
		run(q{SELECT snowdrift.watch('lists')});
		my ($writer, @waiting) = map { session() } 0 .. 4;
		$writer->query_safe('BEGIN');
		$writer->query_safe("INSERT INTO lists (k) VALUES ($k)");
		my @statements = (q{SELECT snowdrift.unwatch('lists')}, (map { "INSERT INTO lists (k) VALUES (" . ($k + $_) % 3 . ')' } 1, 2), 'SELECT count(*) FROM lists');
		for my $i (0 .. $#statements)
		{
			$waiting[$i]->query_until(qr/started/, "\\echo started\n$statements[$i];\n\\echo code :SQLSTATE\n");
			$node->poll_query_until($db, "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE query LIKE \$\$$statements[$i]%\$\$ AND (wait_event_type = 'Lock' OR state = 'idle') AND pid <> pg_backend_pid())")
			  or die "$statements[$i] neither waits nor ends";
		}
		$writer->query_safe('COMMIT');
		is(join(' ', map { $_->query_until(qr/code \w+/, '') =~ /code (\w+)/ } @waiting), '00000 00000 00000 00000', "$db: unwatch() beside a writer of partition $k causes no deadlock");
		$_->quit for $writer, @waiting;
	}
}

# A transaction that reads and then inserts, beside a watch() that replaces one of another kind
for my $edition ([ 'extension', 'postgres' ], [ 'edition', 'owner' ])
{
	($db, $user) = @$edition;
	run(q{CREATE TABLE changing (id bigserial PRIMARY KEY, n integer); SELECT snowdrift.watch('changing') \g /dev/null
		ALTER TABLE changing ALTER id SET DEFAULT next_snowflake()});
	my ($writer, $watcher) = (session(), session());
	$writer->query_safe('BEGIN');
	$writer->query_safe('SELECT count(*) FROM changing');
	$watcher->query_until(qr/started/, "\\echo started\nSELECT snowdrift.watch('changing');\n\\echo code :SQLSTATE\n");
	$node->poll_query_until($db, q{SELECT EXISTS (SELECT FROM pg_locks WHERE relation = 'changing'::regclass AND NOT granted)}) or die;
	$writer->query('INSERT INTO changing (n) VALUES (1)');
	$writer->query('COMMIT');
	like($watcher->query_until(qr/code \w+/, ''), qr/code 00000/, "$db: watch() again, beside a transaction that has read, causes no deadlock");
	is(run('SELECT count(*) FROM changing'), 1, '... and the transaction inserts its row');
	$_->quit for $writer, $watcher;
}

# A transaction that drew before it watches the first table of the generator
($db, $user) = ('edition', 'owner');
run(q{SELECT snowdrift.unwatch(t.tgrelid::regclass) FROM (SELECT DISTINCT tgrelid FROM pg_trigger WHERE tgfoid = 'snowdrift.refuse_row()'::regprocedure AND tgparentid = 0) AS t});
is(run(q{BEGIN; CREATE TABLE seeded (id bigint PRIMARY KEY DEFAULT next_snowflake()); INSERT INTO seeded DEFAULT VALUES;
	CREATE TABLE outbox (id bigint PRIMARY KEY DEFAULT next_snowflake()); SELECT snowdrift.watch('outbox') \g /dev/null
	INSERT INTO outbox DEFAULT VALUES; COMMIT; SELECT count(*) FROM snowdrift.read_new(NULL::outbox)}), '1', 'a migration draws, watches and inserts in one transaction');

$node->stop;
done_testing();
