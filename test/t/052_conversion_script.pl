# Keys are converted while clients write: conversion_script is killed at ten points, the server crashes, transactions
# stay open, and the conversion is abandoned and begun again, in both editions. The same line always continues. A copy
# of the tables and a journal of the clients' changes show that no row is lost or wrong, on a standby too. After
# the crash, no client sees an error.
use strict;
use warnings FATAL => 'all';
use Test::More;
use Snowdrift;
use IPC::Run ();
use Time::HiRes qw(usleep);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

my $seed = $ENV{SNOWDRIFT_SEED} // time;
srand($seed);
note("SNOWDRIFT_SEED=$seed");
my $rows = $ENV{SNOWDRIFT_LONG} ? 400000 : 40000;

my $node = new_server('primary', allows_streaming => 1);
$node->append_conf('postgresql.conf', "autovacuum_naptime = 1s\nmax_wal_size = 4GB\nmax_connections = 40\nshared_buffers = 128MB\n");
$node->start;
create_edition($node, 'edition', 'CREATE EXTENSION IF NOT EXISTS plpgsql');
# The extension belongs to another role than the tables.
$node->safe_psql('postgres', "CREATE DATABASE $_ OWNER owner") for 'extension', 'restored';
$node->safe_psql('extension', 'CREATE EXTENSION snowdrift');
$node->backup('base');
my $standby = standby_of($node, 'standby');

# Clients read and change users 1 to :n / 2, and delete the others, with all that refers to them.
my $load = PostgreSQL::Test::Utils::tempdir() . '/load.sql';
append_to_file($load, q{\set a random(1, :n / 2)
\set b random(:n / 2 + 1, :n)
\set c random(1, 100)
UPDATE users SET note = 'n' || :c WHERE id = :a;
SELECT count(*) FROM orders WHERE user_id = :a;
BEGIN;
INSERT INTO users (tag, invited_by) VALUES (gen_random_uuid(), :a) RETURNING id AS u, tag AS t \gset
INSERT INTO orders (user_id, user_tag) VALUES (:u, ':t') RETURNING id AS o \gset
INSERT INTO posts (user_id, user_tag) VALUES (:u, ':t');
COMMIT;
UPDATE orders SET (user_id, user_tag) = (SELECT id, tag FROM users WHERE id = :a) WHERE id = :o;
\if :c > 90
DELETE FROM users WHERE id = :u;
\elif :c > 80
DELETE FROM users WHERE id = :b;
\elif :c > 60
DELETE FROM orders WHERE id = :o;
\endif
});

my $setup = qq{
	CREATE TABLE users (id serial PRIMARY KEY, tag uuid NOT NULL, note text, invited_by integer REFERENCES users ON DELETE SET NULL,
		CONSTRAINT positive CHECK (id > 0));
	CREATE INDEX users_invited ON users (invited_by) WHERE invited_by IS NOT NULL;
	CREATE TABLE orders (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, user_id integer NOT NULL REFERENCES users ON DELETE CASCADE, user_tag uuid);
	CREATE INDEX orders_user ON orders (user_id);
	CREATE TABLE posts (id bigserial PRIMARY KEY, user_id integer REFERENCES users ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED, user_tag uuid);
	CREATE INDEX posts_user ON posts (user_id);
	CREATE VIEW buyers AS SELECT users.id, count(*) AS orders FROM users JOIN orders ON user_id = users.id GROUP BY users.id;
	INSERT INTO users (tag, invited_by) SELECT gen_random_uuid(), nullif(n / 3, 0) FROM generate_series(1, $rows) AS n;
	INSERT INTO orders (user_id, user_tag) SELECT id, tag FROM users;
	INSERT INTO posts (user_id, user_tag) SELECT id, tag FROM users;
	CREATE TABLE old_users AS SELECT id::bigint, tag FROM users;
	CREATE TABLE old_orders AS SELECT id::bigint, user_tag AS tag FROM orders;
	CREATE TABLE journal ("table" name, operation text, id bigint, tag uuid);
	CREATE FUNCTION keep_users() RETURNS trigger LANGUAGE plpgsql AS \$\$ BEGIN
		IF TG_OP = 'INSERT' THEN INSERT INTO journal VALUES ('users', TG_OP, NEW.id, NEW.tag);
		ELSE INSERT INTO journal VALUES ('users', TG_OP, OLD.id, OLD.tag); END IF;
		RETURN NULL; END \$\$;
	CREATE FUNCTION keep_orders() RETURNS trigger LANGUAGE plpgsql AS \$\$ BEGIN
		IF TG_OP = 'INSERT' THEN INSERT INTO journal VALUES ('orders', TG_OP, NEW.id, NEW.user_tag);
		ELSE INSERT INTO journal VALUES ('orders', TG_OP, OLD.id, OLD.user_tag); END IF;
		RETURN NULL; END \$\$;
	CREATE TRIGGER keep AFTER INSERT OR DELETE ON users FOR EACH ROW EXECUTE FUNCTION keep_users();
	CREATE TRIGGER keep AFTER INSERT OR DELETE ON orders FOR EACH ROW EXECUTE FUNCTION keep_orders()};

# What is lost or wrong: rows that should be there and are not, or the reverse, and references to another row than before
my $wrong = q{
	WITH expected AS (
		SELECT 'users' AS "table", id, tag FROM old_users UNION ALL SELECT 'orders', id, NULL FROM old_orders
		UNION ALL SELECT "table", id, CASE "table" WHEN 'users' THEN tag END FROM journal WHERE operation = 'INSERT'
	), expected_now AS (
		TABLE expected EXCEPT ALL SELECT "table", id, CASE "table" WHEN 'users' THEN tag END FROM journal WHERE operation = 'DELETE'
	), now AS (
		SELECT 'users' AS "table", id::bigint, tag FROM users UNION ALL SELECT 'orders', id, NULL FROM orders
	)
	SELECT (SELECT count(*) FROM (TABLE expected_now EXCEPT ALL TABLE now) AS lost) + (SELECT count(*) FROM (TABLE now EXCEPT ALL TABLE expected_now) AS new)
		+ (SELECT count(*) FROM orders LEFT JOIN users ON users.id = user_id WHERE tag IS DISTINCT FROM user_tag)
		+ (SELECT count(*) FROM posts LEFT JOIN users ON users.id = user_id WHERE user_id IS NOT NULL AND tag IS DISTINCT FROM user_tag)
		+ (SELECT count(*) FROM users AS u LEFT JOIN users AS i ON i.id = u.invited_by WHERE u.invited_by IS NOT NULL AND i.id IS NULL)};
my $left_over = q{
	SELECT concat_ws(' ', (SELECT string_agg(relname, ' ') FROM pg_class WHERE starts_with(relname, '_snowdrift')),
		(SELECT string_agg(attname, ' ') FROM pg_attribute WHERE starts_with(attname, '_snowdrift') AND NOT attisdropped),
		(SELECT string_agg(conname, ' ') FROM pg_constraint WHERE starts_with(conname, '_snowdrift') OR NOT convalidated),
		(SELECT string_agg(proname, ' ') FROM pg_proc WHERE starts_with(proname, '_snowdrift')),
		(SELECT string_agg(indexrelid::regclass::text, ' ') FROM pg_index WHERE NOT indisvalid))};
my $types = q{SELECT string_agg(DISTINCT format_type(atttypid, NULL), ' ') FROM pg_attribute
	WHERE attrelid IN ('users'::regclass, 'orders'::regclass, 'posts'::regclass) AND attname IN ('id', 'user_id', 'invited_by')};

our $database;    # of the edition under test
sub query { return $node->safe_psql($database, $_[0]) }

# start_script(STATEMENT): a session that runs the statement, or else the script, until the first error
my $script = q{SELECT snowdrift.conversion_script('{users,orders}', duty => 0.5) \gexec};
my $scripts = 0;

sub start_script
{
	my ($statement) = @_;
	my %run = (error => '');
	my $file = $node->basedir . '/script.' . ++$scripts;
	append_to_file($file, ($statement // $script) . "\n");
	local $ENV{PGAPPNAME} = 'script';
	local $ENV{PGUSER} = 'owner';
	$run{run} = IPC::Run::start([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr($database), '-f', $file ],
		'<', \undef, '>', '/dev/null', '2>', \$run{error});
	return \%run;
}

# end_script(RUN): its error, or an empty string
sub end_script
{
	my ($run) = @_;
	$run->{run}->finish;
	return $run->{error} =~ /(ERROR:.*|FATAL:.*|server closed)/ ? $1 : '';
}

# is_at(PATTERN, CONDITION): waits until the script runs a statement like this
sub is_at
{
	my ($pattern, $condition) = @_;
	$node->poll_query_until($database, "SELECT count(*) > 0 FROM pg_stat_activity WHERE application_name = 'script' AND state = 'active'
		AND query ~ \$\$$pattern\$\$ AND " . ($condition // 'true')) or die "the script does not reach $pattern";
	return;
}

# kill_at(PATTERN, CONDITION, SECONDS): ends the script while it runs such a statement, up to this time later
my $kills;

sub kill_at
{
	my ($run, $pattern, $condition, $seconds) = @_;
	is_at($pattern, $condition);
	usleep(1e6 * rand($seconds)) if $seconds;
	query(q{SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE application_name = 'script'});
	my $error = end_script($run);
	like($error, qr/FATAL|server closed/, "$database: the script is killed at $pattern") and $kills++;
	return;
}

# start_clients(), end_clients(): eight sessions that write without a pause
my $clients;

sub start_clients
{
	my %run = (error => '');
	local $ENV{PGUSER} = 'owner';
	$run{run} = IPC::Run::start([ 'pgbench', '-n', '-c', 8, '-T', 3600, '-D', "n=$rows", '-f', $load, $node->connstr($database) ],
		'<', \undef, '>', \my $out, '2>', \$run{error});
	$clients = \%run;
	my $before = query('SELECT count(*) FROM journal');
	$node->poll_query_until($database, "SELECT count(*) > $before + 100 FROM journal") or die 'the clients do not write';
	return;
}

sub end_clients
{
	$clients->{run}->signal('TERM');
	eval { $clients->{run}->finish };
	return $clients->{error};
}

# a transaction that stays open
sub open_transaction
{
	my ($statements) = @_;
	my $session = $node->background_psql($database);
	$session->query_safe("BEGIN; $statements");
	return $session;
}

sub dump_of_schema
{
	my ($dump) = run_command([ 'pg_dump', '-s', '-d', $node->connstr($database) ]);
	$dump =~ s/^\\(un)?restrict .*$//mg;
	return $dump;
}

for ('extension', $ENV{SNOWDRIFT_LONG} ? 'edition' : ())    # whose tool is the same
{
	$database = $_;
	$kills = 0;
	{
		local $ENV{PGUSER} = 'owner';
		query($setup);
	}
	my $schema = dump_of_schema();
	start_clients();

	# Abandon: at any time before the swap, nothing is left.
	my $reader = open_transaction('SELECT count(*) FROM posts');
	my $run = start_script();
	kill_at($run, 'ADD COLUMN', q{wait_event = 'PgSleep'});
	$reader->query_safe('COMMIT');
	$run = start_script();
	kill_at($run, 'copy_keys', undef, 0.5);
	is(end_script(start_script(q{SELECT snowdrift.abandon_script('{users,orders}') \gexec})), '', "$database: the conversion is abandoned");
	is(dump_of_schema(), $schema, '... and nothing is left of it');

	# A transaction that has locked rows delays the end of the copy, and nobody else. Kills in the copy, at random times
	$reader->query_safe('BEGIN; SELECT count(*) FROM posts');
	$run = start_script();
	kill_at($run, 'ADD COLUMN', q{wait_event = 'PgSleep'});
	my $holder = open_transaction('UPDATE users SET note = NULL WHERE id <= 10');
	$reader->query_safe('COMMIT');
	for (1 .. 3)
	{
		$run = start_script();
		kill_at($run, 'copy_keys', undef, 1);
	}
	$run = start_script();
	is_at('copy_keys.*users', q{wait_event = 'PgSleep'});
	my $second = start_script();
	like(end_script($second), qr/another session converts the keys/, "$database: a second session may not convert the tables");
	my $percent = query('SELECT max(percent) FROM snowdrift.key_copies');
	ok($percent >= 0 && $percent <= 100, '... and key_copies shows the progress');

	# A crash in the copy
	is_at('copy_keys.*users');
	$node->stop('immediate');
	end_script($run);
	unlike(end_clients(), qr/ERROR:/, "$database: until the crash, no client has seen an error");
	$holder->quit;
	$reader->quit;
	$node->start;
	start_clients();

	my $locker = open_transaction('LOCK TABLE orders IN SHARE UPDATE EXCLUSIVE MODE');
	$run = start_script();
	kill_at($run, '^VACUUM', q{wait_event_type = 'Lock'});
	$locker->query_safe('COMMIT');
	$locker->quit;

	# An old snapshot delays an index. Killed, it leaves an invalid one.
	my $old = open_transaction('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM journal');
	$run = start_script();
	kill_at($run, 'CREATE (UNIQUE )?INDEX CONCURRENTLY', q{wait_event = 'virtualxid'});
	is(query('SELECT count(*) FROM pg_index WHERE NOT indisvalid'), '1', "$database: an invalid index remains");
	$old->quit;

	# Readers delay exclusive locks, and others read and write meanwhile.
	$reader = open_transaction('SELECT count(*) FROM posts');
	$run = start_script();
	kill_at($run, 'FOREIGN KEY', q{wait_event = 'PgSleep'});
	$reader->quit;
	if ($database eq 'extension')
	{
		# A dump of a half-converted table, with what is missing, can be converted, too.
		my $dump = $node->basedir . '/dump.sql';
		system_or_bail('pg_dump', '-f', $dump, '-d', $node->connstr($database));
		system_or_bail('psql', '-X', '-q', '-o', '/dev/null', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('restored'), '-f', $dump);
		local $database = 'restored';
		is(end_script(start_script()), '', 'a restored dump of half-converted tables is converted');
		is(query($wrong), '0', '... no row is lost or wrong');
		is(query($left_over), '', '... and nothing is left over');
	}
	$reader = open_transaction('SELECT last_value FROM users_id_seq');    # which only the swap locks
	$run = start_script();
	kill_at($run, 'swap_keys', q{wait_event = 'PgSleep'});
	$reader->quit;

	# In the swap, while it has the locks: DROP TRIGGER occurs only there.
	query(q{CREATE FUNCTION wait() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(60); END';
		CREATE EVENT TRIGGER wait ON ddl_command_start WHEN TAG IN ('DROP TRIGGER') EXECUTE FUNCTION wait()});
	$run = start_script();
	kill_at($run, 'swap_keys', q{wait_event = 'PgSleep' AND EXISTS (SELECT FROM pg_locks AS l WHERE l.pid = pg_stat_activity.pid
		AND relation = 'users'::regclass AND mode = 'AccessExclusiveLock' AND granted)});
	query('DROP EVENT TRIGGER wait; DROP FUNCTION wait');
	is(query($types), 'bigint integer', "$database: nothing is swapped");

	is(end_script(start_script()), '', "$database: the script ends after $kills kills");
	cmp_ok($kills, '>=', 10, '... at ten points or more');
	$node->poll_query_until($database, 'SELECT count(*) > 100 FROM journal WHERE id > 1e15') or die 'the clients do not write';
	is(end_clients(), '', '... and no client has seen an error');
	is(query($types), 'bigint', '... all columns are bigint');
	is(query($wrong), '0', '... no row is lost or wrong');
	is(query($left_over), '', '... nothing is left over');
	is(query('SELECT pg_typeof(id) FROM buyers LIMIT 1'), 'bigint', '... the view is created again');
	is(end_script(start_script()), '', '... and the script is empty');

	$node->wait_for_catchup($standby, 'replay');
	is($standby->safe_psql($database, $wrong), '0', '... on the standby, too, no row is lost or wrong');
	is($standby->safe_psql($database, $left_over), '', '... and nothing is left over');
}

# While the swap waits for its locks, a privilege is revoked. It is not restored.
$database = 'extension';
{
	local $ENV{PGUSER} = 'owner';
	query('CREATE TABLE bills (id serial PRIMARY KEY); CREATE VIEW open_bills AS SELECT id FROM bills; GRANT SELECT ON open_bills TO PUBLIC');
}
my $reader = open_transaction('SELECT count(*) FROM bills');
my $run = start_script(q{SELECT s FROM snowdrift.conversion_script('{bills}') AS s WHERE s ~ 'change_briefly' LIMIT 1 \gexec
SELECT snowdrift.conversion_script('{bills}') \gexec});
is_at('change_briefly', q{wait_event = 'PgSleep'});
$reader->query_safe('COMMIT; BEGIN; SELECT last_value FROM bills_id_seq');
is_at('swap_keys', q{wait_event = 'PgSleep'});
query('REVOKE SELECT ON open_bills FROM PUBLIC');
$reader->quit;
like(end_script($run), qr/tables have changed during the conversion/, 'a privilege that is revoked before the swap stops it');
is(end_script(start_script(q{SELECT snowdrift.conversion_script('{bills}') \gexec})), '', '... the same line continues');
is(query(q{SELECT has_table_privilege('pg_monitor', 'open_bills', 'SELECT')}), 'f', '... and the privilege is not restored');

$standby->stop;
$node->stop;
done_testing();
