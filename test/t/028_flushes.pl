# How often draws flush the WAL, and wait for a synchronous standby. A mark that is written ahead of need costs
# nobody a flush: the next commit or the WAL writer makes it durable.
use strict;
use warnings FATAL => 'all';
use Test::More;
use Snowdrift;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use IPC::Run ();

my $node = new_server('flushes', allows_streaming => 1);
# Only the statements of the test flush WAL, and the WAL writer whenever it runs: otherwise, it would only do so after
# wal_writer_delay by the server's clock, which stands still.
$node->append_conf('postgresql.conf', <<'CONF');
fsync = on
autovacuum = off
checkpoint_timeout = 1d
wal_writer_delay = 10s
wal_writer_flush_after = 0
wal_sender_timeout = 0
CONF
start_with_clock($node, '2026-06-01 12:00:00');
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION snowdrift;
CREATE TABLE i (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, x int);
CREATE TABLE s (id bigint DEFAULT next_snowflake() PRIMARY KEY, x int);
CREATE TABLE u (id ulid DEFAULT next_ulid() PRIMARY KEY, x int);
CREATE TABLE n (id sno DEFAULT next_sno() PRIMARY KEY, x int);
CREATE TABLE triggered (LIKE s INCLUDING ALL);
CREATE FUNCTION set_id() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN new.id := next_snowflake(); RETURN new; END';
CREATE TRIGGER set_id BEFORE INSERT ON triggered FOR EACH ROW EXECUTE FUNCTION set_id();
SQL

my $milliseconds = 0;    # since 12:00, what the server's clock shows

sub clock_at { return sprintf('2026-06-01 12:%02d:%06.3f', $_[0] / 60_000, $_[0] % 60_000 / 1000) }

# pass_time(MS): lets the server's clock pass this time
sub pass_time
{
	$milliseconds += $_[0];
	return set_clock($node, clock_at($milliseconds));
}

my $observer = $node->background_psql('postgres');
my $version = $observer->query('SHOW server_version_num');
my $count = $version < 180000
  ? 'SELECT wal_sync FROM pg_stat_wal'
  : q{SELECT sum(fsyncs) FROM pg_stat_io WHERE object = 'wal'};

# flushes(SESSION, GAP, STATEMENT): how often 15 statements of a session flush, each after GAP milliseconds
sub flushes
{
	my ($session, $gap, $statement) = @_;
	$session->query('SELECT pg_stat_force_next_flush()');
	my $before = $observer->query($count);
	# psql sets the clock between the statements, which takes a tenth of the time of a query for each statement.
	my $script = '';
	for (1 .. 15)
	{
		$milliseconds += $gap;
		$script .= '\\! ' . command_for_clock($node, clock_at($milliseconds)) . "\n$statement;\n";
	}
	$session->query($script);
	$session->query('SELECT pg_stat_force_next_flush()');
	return $observer->query($count) - $before;
}

# While these processes are stopped, they don't flush WAL that a statement would otherwise flush.
my @stopped = map { stop_idle($node, $_) } 'walwriter', 'background writer';
END { kill 'CONT', @stopped if @stopped }

my %statements = (
	'INSERT' => 'INSERT INTO T (x) VALUES (1)',
	'INSERT … RETURNING' => 'INSERT INTO T (x) VALUES (1) RETURNING id',
	'a transaction block with RETURNING' => 'BEGIN; INSERT INTO T (x) VALUES (1) RETURNING id; COMMIT');
for my $gap (50, 600, 1500, 2900)
{
	for my $name (sort keys %statements)
	{
		for my $table ('s', 'u', 'n', 'triggered')
		{
			my $session = $node->background_psql('postgres');
			$session->query($statements{$name} =~ s/\bT\b/$table/r);    # loads the library
			my $identity = flushes($session, $gap, $statements{$name} =~ s/\bT\b/i/r);
			$session->query($statements{$name} =~ s/\bT\b/$table/r);
			my $ours = flushes($session, $gap, $statements{$name} =~ s/\bT\b/$table/r);
			ok($ours - $identity <= 1, "every $gap ms, $name into $table: $ours flushes, $identity with identity");
			$session->quit;
		}
	}
}
my $session = $node->background_psql('postgres', on_error_stop => 0);
$session->query('SELECT next_snowflake()');
is(flushes($session, 10_000, $statements{'INSERT'} =~ s/\bT\b/s/r), 30, 'after a pause longer than the lease, one more for each INSERT');

# Draws without commits. The WAL writer, which does not run while it is stopped, makes the mark durable.
$node->append_conf('postgresql.conf', "wal_writer_delay = 100ms\n");
kill 'CONT', @stopped;
@stopped = ();
$node->reload;
# The insert position may be after the header, of up to 40 bytes, of a page that contains no record yet. A record of the
# mark is longer than that.
my $end_of_wal = 'pg_current_wal_insert_lsn() - 40';

# await_flush(): waits until all WAL is flushed
sub await_flush
{
	$node->poll_query_until('postgres', "SELECT pg_current_wal_flush_lsn() >= $end_of_wal")
	  or die 'the WAL writer does not flush';
	return;
}
$session->query('SELECT next_snowflake()');
my $waits = 0;
for (1 .. 6)
{
	pass_time(2000);
	$session->query('SELECT pg_stat_force_next_flush()');
	await_flush();
	@stopped = (stop_idle($node, 'walwriter'));
	my $before = $observer->query($count);
	$session->query('SELECT next_snowflake()');
	$session->query('SELECT pg_stat_force_next_flush()');
	$waits += $observer->query($count) - $before;
	kill 'CONT', @stopped;
	@stopped = ();
}
is($waits, 0, 'a session that draws without a commit every 2 s does not flush');

# An advance ahead of need that is not durable is not relied on, and is waited for when it is needed.
await_flush();
@stopped = (stop_idle($node, 'walwriter'));
$session->query($statements{'INSERT'} =~ s/\bT\b/s/r);
pass_time(2000);
my $durable = $node->safe_psql('postgres', 'SELECT pg_current_wal_flush_lsn()');
$session->query('SELECT next_snowflake()');
is($node->safe_psql('postgres', "SELECT pg_current_wal_flush_lsn() = '$durable' AND pg_current_wal_insert_lsn() > '$durable'"),
	't', 'a draw in the second half of the lease writes the next mark, and does not flush it');
pass_time(2000);
$session->query('SELECT next_snowflake()');
is($node->safe_psql('postgres', "SELECT pg_current_wal_flush_lsn() > '$durable'"), 't', '... but the one that needs it does');
kill 'CONT', @stopped;
@stopped = ();

# With a synchronous standby, a mark is relied on when the standby has flushed it.
$node->backup('base');
my $standby = standby_of($node, 'standby', "wal_receiver_timeout = 0\n");
$node->append_conf('postgresql.conf', "synchronous_standby_names = 'standby'\n");
$node->reload;
$node->poll_query_until('postgres', q{SELECT sync_state = 'sync' FROM pg_stat_replication}) or die 'no synchronous standby';
my $receiver = $standby->safe_psql('postgres', 'SELECT pid FROM pg_stat_wal_receiver');
# without_standby(STATEMENTS...): runs them while the standby receives nothing. Returns false if one of them waits.
sub without_standby
{
	my (@statements) = @_;
	$node->wait_for_catchup('standby', 'flush', $node->safe_psql('postgres', "SELECT $end_of_wal"));
	push @stopped, $receiver;
	kill 'STOP', $receiver;
	$session->query(q{SET statement_timeout = '10s'});
	$session->{stderr} = '';
	$session->query($_) for @statements;
	kill 'CONT', $receiver;
	pop @stopped;
	return $session->{stderr} eq '';
}

for my $gap (600, 1500)
{
	my $waiting = 0;
	for my $n (1 .. 20)
	{
		pass_time($gap);
		$waiting++ unless without_standby('BEGIN', $statements{'INSERT … RETURNING'} =~ s/\bT\b/s/r);
		$session->query('COMMIT');
		pass_time($gap);
		$session->query($statements{'INSERT'} =~ s/\bT\b/s/r);
	}
	is($waiting, 0, "with a synchronous standby, 40 INSERTs every $gap ms do not wait for the mark");
}

# A receiver that confirms what it has written, and flushes nothing before a file is full
$standby->stop;
$node->safe_psql('postgres', q{SELECT pg_create_physical_replication_slot('archive', true)});
my $folder = PostgreSQL::Test::Utils::tempdir();
my $archive = IPC::Run::start(
	[
		'pg_receivewal', '--slot', 'archive', '--status-interval', '1', '--no-loop', '-D', $folder,
		'-d', $node->connstr . ' application_name=archive'
	],
	'<', \undef, '>', \my $out, '2>', \my $err);
$node->append_conf('postgresql.conf', "synchronous_standby_names = 'archive'\n");
$node->reload;
# await_written(): waits until the receiver has confirmed that it has written all WAL
sub await_written
{
	$node->poll_query_until('postgres', qq{SELECT sync_state = 'sync' AND write_lsn >= $end_of_wal
		FROM pg_stat_replication WHERE application_name = 'archive'}) or die "the receiver does not write: $err";
	return;
}
$session->query('SET synchronous_commit = local');
await_written();
pass_time(10_000);
for my $call ('that finds it written', 'that writes it')
{
	$session->query(q{SET statement_timeout = '1s'});
	$session->{stderr} = '';
	$session->query('SELECT next_snowflake()');
	like($session->{stderr}, qr/canceling statement due to statement timeout/, "an unconfirmed mark: a draw $call waits");
	await_written();
}
$session->query('SET statement_timeout = 0');
$node->safe_psql('postgres', q{ALTER SYSTEM SET synchronous_standby_names = ''});
$node->reload;
$session->query_until(qr/done/, "SELECT next_snowflake();\n\\echo done\n");
pass('... until the standby is no longer synchronous');
$archive->signal('TERM');
$archive->finish;

$session->quit;
$observer->quit;
$node->stop;
done_testing();
