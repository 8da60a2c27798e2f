# The mark on disk covers all IDs that leave the server before their transaction commits. Each case crashes the
# server between the draw and the commit, restarts it with its clock set back, and draws again: the next ID must be
# later than all IDs that have left the server.
use strict;
use warnings FATAL => 'all';
use Test::More;
use Snowdrift;
use Wire;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Time::HiRes qw(usleep);

my $node = new_server('exits');
# Only the test writes or flushes the WAL before it crashes the server.
$node->append_conf('postgresql.conf', <<'CONF');
fsync = on
autovacuum = off
checkpoint_timeout = 1d
wal_writer_delay = 10s
wal_writer_flush_after = 1GB
wal_buffers = 16MB
max_prepared_transactions = 1
log_min_messages = panic
log_min_error_statement = panic
log_disconnections = on
CONF

# The WAL writer is stopped, so that it does not flush asynchronous commits right after they are reported.
my $wal_writer = 0;
END { kill 'KILL', $wal_writer if $wal_writer }

sub start
{
	start_with_clock($node, '2026-06-01 12:00:00');
	$wal_writer = stop_idle($node, 'walwriter');
	return;
}

# stop_at_once(): crashes the server. WAL that was not flushed is lost.
sub stop_at_once
{
	kill 'KILL', $wal_writer;
	$wal_writer = 0;
	$node->stop('immediate', fail_ok => 1);
	return;
}

start();
create_all_kinds($node);
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE plain (id bigint DEFAULT next_snowflake() PRIMARY KEY, x int UNIQUE);
CREATE TABLE checked (id bigint DEFAULT next_snowflake(), x int CHECK (x > 0));
CREATE TABLE locked (id bigint DEFAULT next_snowflake() CHECK (pg_advisory_lock(id) IS NOT NULL));
CREATE TABLE conditional (id bigint DEFAULT next_snowflake());
CREATE TABLE other (x int);
CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END';
CREATE TRIGGER t BEFORE INSERT ON conditional FOR EACH ROW WHEN (pg_try_advisory_lock(new.id) IS NULL)
	EXECUTE FUNCTION nothing();
CREATE FUNCTION lock_id() RETURNS boolean LANGUAGE sql AS 'SELECT pg_advisory_lock(next_snowflake()) IS NOT NULL';
CREATE TABLE checked_by_function (x int CHECK (lock_id()));
CREATE FUNCTION lock_id_in_plpgsql() RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RETURN lock_id(); END';
CREATE TABLE checked_by_plpgsql (x int CHECK (lock_id_in_plpgsql()));
CREATE UNLOGGED TABLE unlogged (id bigint DEFAULT next_snowflake());
CREATE FUNCTION insert_and_raise(what text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE got bigint;
BEGIN
	INSERT INTO plain DEFAULT VALUES RETURNING id INTO got;
	IF what = 'notice' THEN RAISE NOTICE '%', got; ELSE RAISE EXCEPTION '%', got; END IF;
	PERFORM pg_advisory_lock(1);
END $$;
SELECT next_snowflake();
SQL

my $second = 0;
sub step { $second += 10; return set_clock($node, sprintf('2026-06-01 12:%02d:%02d', $second / 60, $second % 60)) }

# crash(NAME, TEXTS...): crashes the server. The IDs in the texts must precede the next ID.
sub crash
{
	my ($name, @texts) = @_;
	my ($last) = sort { $b <=> $a } map { /\b(\d{18})\b/g } @texts;
	note "$name: $last" if defined $last;
	stop_at_once() if $wal_writer;
	start();
	my $next = $node->safe_psql('postgres', q{SET snowdrift.max_clock_lead = '1h'; SELECT next_snowflake()});
	cmp_ok($next, '>', $last // die("$name: no ID has left"), $name);
	# Later steps set the clock past this ID.
	$second += 1;
	return;
}

# received(CLIENT): the texts of all messages that have arrived, or that arrive until the connection ends
sub received
{
	my ($client) = @_;
	my @texts;
	while (my $message = $client->receive) { push @texts, $message->{text} }
	return @texts;
}

# locks(OBSERVER): the IDs in advisory locks
sub locks
{
	my ($observer) = @_;
	return map { $_->{text} } grep { $_->{type} eq 'D' } $observer->query(
		q{SELECT (classid::bigint << 32) | objid::bigint FROM pg_locks WHERE locktype = 'advisory'});
}

# wait_for(PID, EVENT): waits until the session waits for the event
sub wait_for
{
	my ($pid, $event) = @_;
	$node->poll_query_until('postgres', "SELECT wait_event = '$event' FROM pg_stat_activity WHERE pid = $pid")
	  or die "no wait for $event";
	return;
}

# clients(COUNT): connections that have loaded the library. The mark is behind the clock.
sub clients
{
	my ($count) = @_;
	my @clients = map { Wire->connect($node) } 1 .. $count;
	$_->query('SELECT next_snowflake()') for @clients;
	step();
	return @clients;
}

# ---- messages to the client

# In each of these cases, the server sends messages in the middle of a transaction.
my @sent = (
	'a row in a block' => [ 'BEGIN', 'INSERT INTO plain DEFAULT VALUES RETURNING id' ],
	'a row of a later statement' => [ 'BEGIN', 'INSERT INTO plain DEFAULT VALUES', 'SELECT max(id) FROM plain' ],
	'a row of a cursor' =>
	  [ 'BEGIN', 'INSERT INTO plain DEFAULT VALUES', 'DECLARE c CURSOR FOR SELECT max(id) FROM plain', 'FETCH c' ],
	'COPY TO STDOUT' => [ 'BEGIN', 'INSERT INTO plain DEFAULT VALUES', 'COPY plain TO STDOUT' ],
	'an error' => ['INSERT INTO checked VALUES (DEFAULT, -1)'],
	'an error in a block' => [ 'BEGIN', 'INSERT INTO checked VALUES (DEFAULT, -1)' ],
	'an error that ends a block' =>
	  [ 'BEGIN', 'INSERT INTO plain DEFAULT VALUES', 'SAVEPOINT a', 'INSERT INTO checked VALUES (DEFAULT, -1)', 'ROLLBACK' ],
	'an error in PL/pgSQL' => [q{SELECT insert_and_raise('error')}],
	'a row of a transaction that is rolled back' =>
	  [ 'BEGIN', 'INSERT INTO plain DEFAULT VALUES RETURNING id', 'ROLLBACK' ]);
while (my ($name, $statements) = splice @sent, 0, 2)
{
	my ($client) = clients(1);
	my @texts = map { $_->{text} } map { $client->query($_) } @$statements;
	crash("$name, then a crash", @texts);
}

# The server waits for the client while it sends a large result.
{
	my ($client) = clients(1);
	my $pid = $client->value('SELECT pg_backend_pid()');
	$client->send_query(q{INSERT INTO plain SELECT next_snowflake() FROM generate_series(1, 2000) RETURNING id, repeat('x', 1000)});
	wait_for($pid, 'ClientWrite');
	stop_at_once();
	crash('a large result that the client has not read', received($client));
}

# A message that PostgreSQL sends at once, before a statement waits
{
	my ($holder, $client) = clients(2);
	$holder->query('SELECT pg_advisory_lock(1)');
	$client->send_query(q{SELECT insert_and_raise('notice')});
	my ($notice) = grep { $_->{type} eq 'N' } $client->receive_until('N');
	crash('a notice, before the statement ends', $notice->{text});
}
{
	my ($client) = clients(1);
	$client->send(Wire::execution('INSERT INTO plain DEFAULT VALUES RETURNING id'), H => '');
	crash('a row after Flush', map { $_->{text} } $client->receive_until('C'));
}

# The mark is advanced again when the transaction outlasts the lease.
{
	my ($client) = clients(1);
	$client->query($_) for 'BEGIN', 'INSERT INTO plain DEFAULT VALUES';
	step();
	$client->query('INSERT INTO plain DEFAULT VALUES');
	crash('rows of a long transaction', $client->value('SELECT max(id) FROM plain'));
}

# While a statement waits after the draw, no ID has left the server.
{
	my ($holder, $client, $observer) = clients(3);
	$holder->query($_) for 'BEGIN', 'INSERT INTO plain (x) VALUES (1)';
	my $pid = $client->value('SELECT pg_backend_pid()');
	my $log = -s $node->logfile;
	$client->send_query('INSERT INTO plain (x) VALUES (1) RETURNING id');
	wait_for($pid, 'transactionid');
	stop_at_once();
	unlike(join(' ', received($client)), qr/\b\d{18}\b/, 'a statement that waits for a unique key: no row has left');
	unlike(slurp_file($node->logfile, $log), qr/\b\d{18}\b/, '... and no ID is in the log');
	start();
}

# ---- commits that PostgreSQL does not flush by itself

# Another session has written the mark, and has not flushed it.
for my $table ('a temporary table', 'an unlogged table')
{
	my ($writer, $client) = clients(2);
	my $name = $table =~ /temp/ ? 'temporary' : 'unlogged';
	$client->query('CREATE TEMP TABLE temporary (id bigint DEFAULT next_snowflake())');
	$client->query("INSERT INTO $name DEFAULT VALUES");
	step();
	$writer->query($_) for 'BEGIN', 'INSERT INTO plain DEFAULT VALUES';
	crash("a row of $table", $client->value("INSERT INTO $name DEFAULT VALUES RETURNING id"));
}
for my $ending (
	[ 'asynchronous commit', 'SET synchronous_commit = off' ],
	[ 'a read-only transaction', 'SET default_transaction_read_only = on' ])
{
	my ($name, $set) = @$ending;
	my ($client) = clients(1);
	$client->query($set);
	my $statement = $name =~ /read-only/ ? 'SELECT next_snowflake()' : 'INSERT INTO plain DEFAULT VALUES RETURNING id';
	crash($name, $client->value($statement));
}
{
	my ($client) = clients(1);
	$client->query($_) for 'BEGIN', 'INSERT INTO plain DEFAULT VALUES', q{PREPARE TRANSACTION 'p'};
	crash('a prepared transaction', do {
		stop_at_once();
		start();
		$node->safe_psql('postgres', q{COMMIT PREPARED 'p'; SELECT max(id) FROM plain});
	});
}

# ---- other sessions

# Advisory locks are visible to other sessions before the commit.
my @visible = (
	'in the statement' => [ 'BEGIN', 'INSERT INTO other SELECT count(pg_advisory_lock(next_snowflake()))' ],
	'in a later statement' =>
	  [ 'BEGIN', 'INSERT INTO plain DEFAULT VALUES', 'INSERT INTO other SELECT count(pg_advisory_lock(id)) FROM plain' ],
	'in an older cursor' => [
		'BEGIN', 'DECLARE c CURSOR FOR SELECT pg_advisory_lock(next_snowflake())', 'INSERT INTO plain DEFAULT VALUES', 'MOVE c'
	],
	'in a check constraint' => [ 'BEGIN', 'INSERT INTO locked DEFAULT VALUES' ],
	'in a check constraint, by COPY' => [ 'BEGIN', q{COPY locked (id) FROM '/dev/null'}, 'INSERT INTO locked DEFAULT VALUES' ],
	'in a function in SQL of a check constraint' => [ 'BEGIN', 'INSERT INTO checked_by_function VALUES (1)' ],
	'in a function in PL/pgSQL of a check constraint' => [ 'BEGIN', 'INSERT INTO checked_by_plpgsql VALUES (1)' ],
	q{in a trigger's condition} => [ 'BEGIN', 'INSERT INTO conditional DEFAULT VALUES' ],
	'in a function in SQL' => [ 'BEGIN', 'INSERT INTO other SELECT count(lock_id())' ]);
while (my ($name, $statements) = splice @visible, 0, 2)
{
	my ($client, $observer) = clients(2);
	$client->query($_) for @$statements;
	crash("an advisory lock $name", locks($observer));
}

# A session does not rely on an advance that another session has not flushed.
{
	my ($writer, $client) = clients(2);
	$writer->query($_) for 'BEGIN', 'INSERT INTO plain DEFAULT VALUES';
	$client->query($_) for 'BEGIN';
	crash('another session', $client->value('INSERT INTO plain DEFAULT VALUES RETURNING id'));
}
{
	my ($writer, $client) = clients(2);
	$writer->query($_) for 'BEGIN', 'INSERT INTO plain DEFAULT VALUES', 'ROLLBACK', 'SELECT pg_current_xact_id()';
	crash('another session, after a rollback', $client->value('SELECT next_snowflake()'));
}

# ---- fresh states

# A generator is replaced in the transaction that draws from it. The state of the new generator starts after the
# mark that was last written, although other sessions do not rely on that mark yet.
{
	my ($client, $other) = clients(2);
	$client->query($_) for 'BEGIN', q{INSERT INTO plain SELECT next_snowflake('own')};
	set_clock($node, '2026-06-01 12:00:00');
	$client->query("INSERT INTO other SELECT count($_)")
	  for q{snowdrift.drop_generator('own')}, q{snowdrift.create_generator('own', 'snowflake', worker => 7)};
	$client->query('COMMIT');
	$other->query(q{SET snowdrift.max_clock_lead = '1h'});
	cmp_ok($other->value(q{SELECT next_snowflake('own')}),
		'>', $client->value('SELECT max(id) FROM plain'), 'a generator that is replaced repeats no ID');
}
# The extension is replaced while a transaction that has drawn Snowflakes is open. The other session then draws a
# ULID, whose state is not ahead of the clock.
{
	my ($client, $other) = clients(2);
	# Not in the block: the first temporary table of a session drops those that a crash has left, and locks them.
	$client->query('CREATE TEMP TABLE kept (id bigint)');
	$client->query($_) for 'BEGIN', 'INSERT INTO other VALUES (1)', 'INSERT INTO kept SELECT next_snowflake()';
	set_clock($node, '2026-06-01 12:00:00');
	$other->query($_) for 'DROP EXTENSION snowdrift CASCADE', 'CREATE EXTENSION snowdrift',
	  q{SET snowdrift.max_clock_lead = '1h'}, 'SELECT next_ulid()';
	crash('an ID of an extension that is replaced', $client->value('SELECT id FROM kept'));
}
$node->safe_psql('postgres', 'ALTER TABLE plain ALTER id SET DEFAULT next_snowflake()');

# ---- the end of sessions

# A session that ends may log its disconnection. It does not flush the advance of a rolled-back transaction before
# that, because a flush needs a lock.
$node->append_conf('postgresql.conf', 'log_min_messages = log');
$node->reload;
{
	my $log = -s $node->logfile;
	for my $ending ([ 'BEGIN', 'INSERT INTO plain DEFAULT VALUES', 'ROLLBACK' ], [ 'BEGIN', 'INSERT INTO plain DEFAULT VALUES' ])
	{
		for (1 .. 20)
		{
			my ($client) = clients(1);
			$client->query($_) for @$ending;
			$client->close;
		}
	}
	is($node->safe_psql('postgres', 'SELECT 1'), 1, 'sessions end after a rollback, and in a transaction block');
	unlike(slurp_file($node->logfile, $log), qr/PANIC|TRAP/, '... without a panic');
}
stop_at_once();
done_testing();
