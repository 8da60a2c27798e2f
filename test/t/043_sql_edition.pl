# IDs of the SQL edition on a server that doesn't use the extension: they are distinct and ascend over sessions, restarts,
# crashes and steps of the clock, and no error leaves a lock. IDs repeat after what docs/managed-clouds.md says: a crash that
# loses the last WAL, and a clock set back.
use strict;
use warnings FATAL => 'all';
use Test::More;
use Snowdrift;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

# Layouts whose IDs have no sequence number, so that a second call in one unit of time waits for the next one
my $minutes = 'epoch=2024-01-01T00:00:00Z unit=60s timestamp=30 sequence=0';
my $hundredths = 'epoch=2024-01-01T00:00:00Z unit=10ms timestamp=39 sequence=0';

my @stopped;    # processes; the server could not stop while they are stopped
END { kill 'CONT', @stopped if @stopped }

my $node = PostgreSQL::Test::Cluster->new('edition');
$node->init(allows_streaming => 1);
# Nothing but commits and the WAL writer may flush WAL.
$node->append_conf('postgresql.conf', "autovacuum = off\nbgwriter_lru_maxpages = 0\ncheckpoint_timeout = 1h\nlog_statement = none\n");
# While a session waits, its alarms read the true clock, which ends all of its timeouts. Waits for locks set an alarm for this one.
$node->append_conf('postgresql.conf', "deadlock_timeout = 1h\n");
$node->start;
create_edition($node, $_) for 'app', 'clock', 'lost';
create_edition($node, 'defaults', 'ALTER DEFAULT PRIVILEGES FOR ROLE owner GRANT ALL ON SCHEMAS TO PUBLIC, pg_monitor');
is( $node->safe_psql('defaults', q{
		SELECT string_agg(nspname, ' ') FROM pg_namespace WHERE nspname ~ '^snowdrift' AND has_schema_privilege('pg_monitor', nspname, 'CREATE')}),
	'', 'default privileges let no role create functions in the schemas');

# Everything below runs as the owner of the databases, who is no superuser.
my $superuser = $node->safe_psql('postgres', 'SELECT current_user');
$ENV{PGUSER} = 'owner';
sub in_app { return $node->safe_psql('app', $_[0]) }
sub in_clock { return $node->safe_psql('clock', $_[0]) }

sub as_superuser
{
	my ($action) = @_;
	local $ENV{PGUSER} = $superuser;
	return $action->();
}

# holders(NODE): the sessions that have or wait for an advisory lock
sub holders { return ($_[0] // $node)->safe_psql('postgres', q{SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'}) }

# draw_in_sessions(ROWS, CALL): four sessions insert this many rows each, a hundred per transaction, with the result of the
# call as the ID, and with the values of a counter before and after it
sub draw_in_sessions
{
	my ($rows, $call) = @_;
	my $script = $node->basedir . '/draw.sql';
	unlink $script;
	append_to_file($script, "INSERT INTO draws SELECT nextval('counter'), $call, nextval('counter'), clock_timestamp() FROM generate_series(1, 100);\n");
	command_ok([ 'pgbench', '-n', '-c', 4, '-t', $rows / 100, '-f', $script, $node->connstr('app') ], "four sessions draw: $call");
	return;
}

# ---- sessions, restarts and crashes --------------------------------------------------------------------

in_app('CREATE SEQUENCE counter; CREATE TABLE draws (before bigint, id bigint, after bigint, at timestamptz)');
draw_in_sessions(25_000, 'next_snowflake()');
is(in_app('SELECT count(*), count(DISTINCT id) FROM draws'), '100000|100000', 'all IDs are distinct');
# A draw that began after another one had ended has the greater ID, in any sessions.
is(in_app('SELECT count(*) FROM (SELECT after < max(before) OVER (ORDER BY id) AS is_out_of_order FROM draws) AS d WHERE is_out_of_order'),
	'0', '... and in the order of the draws');
is(holders(), '0', '... and leave no lock');

my $standby = as_superuser(sub { $node->backup('base'); standby_of($node, 'standby') });
like(error_of_database($standby, 'app', 'SELECT next_snowflake()'), qr/25006/, 'a standby raises an error');
is(holders($standby), '0', '... and leaves no lock');
is($standby->safe_psql('app', 'SELECT count(snowflake_timestamp(id)) FROM draws'), '100000', '... but decodes IDs');
is($standby->safe_psql('app', 'SELECT uuidv7_timestamp(next_uuidv7()) <= now()'), 't', '... and generates UUIDs');
$standby->promote;
is($standby->safe_psql('app', 'SELECT next_snowflake() > max(id) FROM draws'), 't', 'a promoted standby continues after the last ID');
$standby->stop;

$node->stop;
start_with_clock($node, '-30');
is(in_app('SELECT next_snowflake() > max(id) FROM draws'), 't', 'after a restart with the clock set back, IDs ascend');
in_app('INSERT INTO draws (id) VALUES (next_snowflake())');
$node->stop('immediate');
start_with_clock($node, '-50');
is(in_app('SELECT next_snowflake() > max(id) FROM draws'), 't', '... and after a crash');

# ---- clock ---------------------------------------------------------------------------------------------

in_clock(q{
	CREATE FUNCTION attempt() RETURNS text LANGUAGE plpgsql AS $$
	BEGIN RETURN next_snowflake(); EXCEPTION WHEN OTHERS THEN RETURN SQLSTATE; END $$});
set_clock($node, '2026-06-01 12:00:00');
my $last = in_clock('SELECT next_snowflake()');
set_clock($node, '2026-06-01 11:59:00');
is(in_clock('SELECT next_snowflake()'), $last + 1, 'clock set back within the limit: the next ID');
set_clock($node, '2026-06-01 11:58:58.500');
like(error_of_database($node, 'clock', 'SELECT next_snowflake()'),
	qr/55000: clock moved backwards by 61500 ms; refusing to generate IDs\nDETAIL: .*\nHINT:  Correct the clock/, '... beyond the limit: an error');
is(in_clock('SELECT attempt(), count(*) FROM generate_series(1, 1000) GROUP BY 1'), '55000|1000', '... of each call');
is(in_clock('SELECT last_timestamp FROM snowdrift.generators'), in_clock("SELECT timestamptz '2026-06-01 12:00:00 UTC'"), '... that changes nothing');
is(holders(), '0', '... and leaves no lock');
set_clock($node, '2026-06-01 12:00:00');
is(in_clock('SELECT next_snowflake()'), $last + 2, '... until the clock is corrected');

# ---- errors while a call waits -------------------------------------------------------------------------

in_clock("SELECT snowdrift.create_generator('slow', 'snowflake', '$minutes'), snowdrift.create_generator('paced', 'snowflake', '$hundredths')");
my (%sessions, %pids);
for my $session ('draw', 'wait', 'replace')
{
	$sessions{$session} = $node->background_psql('clock', on_error_stop => 0);
	$pids{$session} = $sessions{$session}->query('SELECT pg_backend_pid()');
}

# begin(SESSION, STATEMENTS, EVENT): runs the statements in the session, and waits until it waits for the event
sub begin
{
	my ($session, $statements, $event) = @_;
	$sessions{$session}->query_until(qr/begun/, "\\echo begun\n$statements;\n");
	$node->poll_query_until('clock', "SELECT wait_event FROM pg_stat_activity WHERE pid = $pids{$session}", $event)
	  or die "the session does not wait for $event";
	return;
}

# error_in(SESSION, STATEMENTS): the errors of earlier statements of the session, and of these
sub error_in
{
	my ($session, $statements) = @_;
	$sessions{$session}->query($statements);
	my $error = $sessions{$session}{stderr};
	$sessions{$session}{stderr} = '';
	return $error;
}

# ended(SESSION): waits until the session's statements have ended; their errors
sub ended { return error_in($_[0], 'SELECT') }

# used_up(): a later minute, whose ID of the generator has been drawn
my $hour = 12;
sub used_up
{
	$hour++;
	set_clock($node, "2026-06-01 $hour:00:00");
	return in_clock(q{SELECT next_snowflake('slow')});
}

my $draw = q{SELECT next_snowflake('slow')};
my $cancel = "SELECT pg_cancel_backend($pids{wait})";

used_up();
begin('wait', $draw, 'PgSleep');
is(holders(), '1', 'a call that waits for the clock has a lock');
in_clock($cancel);
like(ended('wait'), qr/canceling statement due to user request/, '... until it is canceled');
is(holders(), '0', '... and then none');

used_up();
begin('wait', "BEGIN; SAVEPOINT s; $draw", 'PgSleep');
in_clock($cancel);
like(ended('wait'), qr/canceling/, 'a call in a transaction is canceled');
is(holders(), '0', '... and has no lock before its end');
is($sessions{wait}->query('ROLLBACK TO s; SELECT next_snowflake() > 0; COMMIT'), 't', '... and the transaction continues');
is(holders(), '0', '... with no lock');

# Timeouts end waits after the true time, also where the clock stands still: libfaketime shows it to handlers that interrupt a wait.
used_up();
like(error_in('wait', "SET statement_timeout = '100ms'; $draw; RESET statement_timeout"),
	qr/canceling statement due to statement timeout/, 'statement_timeout ends a call');
is(holders(), '0', '... which leaves no lock');

used_up();
begin('draw', $draw, 'PgSleep');
like(error_in('wait', "SET lock_timeout = '100ms'; $draw; RESET lock_timeout"),
	qr/canceling statement due to lock timeout/, 'lock_timeout ends a call that waits for another one');
like(error_in('wait', "SET lock_timeout = '100ms'; SELECT snowdrift.advance('2026-06-01'); RESET lock_timeout"),
	qr/canceling statement due to lock timeout/, '... and snowdrift.advance, which waits for it, too');
is(in_clock(q{SELECT pid, granted FROM pg_locks WHERE locktype = 'advisory'}), "$pids{draw}|t", '... which keeps its lock');

# A cancel arrives at the moment at which the lock is granted: both happen while the process is stopped.
begin('wait', $draw, 'advisory');
kill 'STOP', @stopped = ($pids{wait});
set_clock($node, "2026-06-01 $hour:01:00");
kill 'HUP', $pids{draw};    # so that pg_sleep looks at the clock
is(ended('draw'), '', '... and gets an ID');
kill 'INT', $pids{wait};
kill 'CONT', @stopped;
@stopped = ();
like(ended('wait'), qr/canceling statement due to user request/, 'a call is canceled when it is granted the lock');
is(holders(), '0', '... and leaves no lock');

used_up();
begin('wait', $draw, 'PgSleep');
in_clock("SELECT pg_terminate_backend($pids{wait})");
$node->poll_query_until('clock', "SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = $pids{wait}") or die 'the session does not end';
is(holders(), '0', 'a terminated session leaves no lock');
eval { $sessions{wait}->quit };

like(error_of_database($node, 'clock', 'BEGIN READ ONLY; SELECT next_snowflake()'), qr/25006/, 'a read-only transaction raises an error');
is($sessions{draw}->query('BEGIN READ ONLY; SELECT attempt(); COMMIT'), '25006', '... also in a block that handles it');
is(holders(), '0', '... and leaves no lock');

is($sessions{draw}->query(q{BEGIN; SELECT next_snowflake() AS id INTO TEMP a; SAVEPOINT s; SELECT next_snowflake() INTO TEMP b; ROLLBACK TO s;
	SELECT next_snowflake() - id FROM a}), '2', 'a rolled back savepoint does not return its ID');
is(holders(), '0', '... and an open transaction that has drawn IDs has no lock');
$sessions{draw}->query('COMMIT');

# ---- dropped generators --------------------------------------------------------------------------------

# A generator is replaced in one minute, and drawn from in the next one, by a session that still sees the old one.
$hour++;
set_clock($node, "2026-06-01 $hour:00:00");
my $create = q{SELECT snowdrift.create_generator('replaced', 'snowflake', 'epoch=2024-01-01T00:00:00Z unit=60s timestamp=30 sequence=4')};
my $replace = "SELECT snowdrift.drop_generator('replaced'); $create";
my $draw_replaced = "INSERT INTO drawn SELECT next_snowflake('replaced')";
in_clock("CREATE TABLE drawn (id bigint); $create");
$sessions{replace}->query_safe("BEGIN; $replace");
set_clock($node, "2026-06-01 $hour:01:00");
$sessions{draw}->query_until(qr/begun/, "\\echo begun\n$draw_replaced;\n");
$node->poll_query_until('clock', "SELECT query LIKE 'INSERT%' AND wait_event IN ('relation', 'ClientRead') FROM pg_stat_activity WHERE pid = $pids{draw}")
  or die 'the session does not draw';
$sessions{replace}->query_safe("COMMIT; $draw_replaced");
like(ended('draw'), qr/ID generator "replaced" was dropped/, 'a call that began before a generator was dropped raises an error');
is(in_clock('SELECT count(*), count(DISTINCT id) FROM drawn'), '1|1', '... so that the next generator repeats no ID');

$sessions{draw}->query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM drawn');
$sessions{replace}->query_safe($replace);
set_clock($node, "2026-06-01 $hour:02:00");
$sessions{replace}->query_safe($draw_replaced);
like(error_in('draw', $draw_replaced), qr/ID generator "replaced" was dropped/, 'a transaction with an older snapshot cannot draw');
is(in_clock('SELECT count(*), count(DISTINCT id) FROM drawn'), '2|2', '... so that no ID is repeated');

# Drops wait for each other. Otherwise, two transactions that each replace a generator could wait for each other's sequence.
$sessions{draw}->query_safe("ROLLBACK; BEGIN; SELECT snowdrift.create_generator('a', 'snowflake', worker => 1); SELECT snowdrift.drop_generator('a')");
begin('replace', "SELECT snowdrift.drop_generator('replaced')", 'relation');
is(in_clock("SELECT relation::regclass FROM pg_locks WHERE pid = $pids{replace} AND NOT granted"), 'snowdrift_tables.generator', 'a drop waits for another one');
$sessions{draw}->query_safe('COMMIT');
is(ended('replace'), '', '... until it has ended');
in_clock($create);

# A creation waits, and a new generator is after an advance; an advance waits, and includes a new generator.
$sessions{draw}->query_safe("SET client_min_messages = warning; BEGIN; SELECT snowdrift.advance('2026-06-01 $hour:02:30Z')");
begin('replace', "BEGIN; SELECT snowdrift.create_generator('later', 'snowflake')", 'relation');
$sessions{draw}->query_safe('COMMIT');
ended('replace');
my $is_after = "SELECT last_timestamp >= '2026-06-01 $hour:02:30Z' FROM snowdrift.generators WHERE name = 'later'";
is($sessions{replace}->query_safe($is_after), 't', 'a generator begins after an advance for which its creation waits');
begin('draw', "SELECT snowdrift.advance('2026-06-01 $hour:02:40Z')", 'relation');
$sessions{replace}->query_safe('COMMIT');
ended('draw');
is(in_clock($is_after =~ s/:30Z/:40Z/r), 't', 'an advance includes a generator for whose creation it waits');

# An advance leaves no lock that a draw needs, and a drop with force none of tables that do not name the generator.
in_clock(q{CREATE TABLE unrelated (n bigint DEFAULT next_snowflake('slow'))});
$sessions{draw}->query_safe("BEGIN; LOCK TABLE unrelated; SELECT snowdrift.advance('2026-06-01 $hour:02:40Z')");
is(holders(), '0', 'an advance leaves no lock of draws');
$sessions{draw}->query_safe('ROLLBACK; BEGIN; LOCK TABLE unrelated');
is(in_clock(q{SET lock_timeout = '10s'; SELECT snowdrift.create_generator('brief', 'snowflake', worker => 31); SELECT snowdrift.drop_generator('brief')}) =~ s/\n//gr, '', 'a drop waits for no table that does not name the generator');
$sessions{draw}->query_safe('ROLLBACK');

# The view waits for a drop, and then shows the others.
$sessions{replace}->query_safe(q{BEGIN; SELECT snowdrift.drop_generator('later')});
begin('draw', 'SELECT count(*) FROM snowdrift.generators', 'relation');
$sessions{replace}->query_safe('COMMIT');
is(ended('draw'), '', 'the view that waits for a drop raises no error');

# With the clock behind
my $create_passing = $create =~ s/replaced/passing/r;
in_clock($create_passing);
set_clock($node, "2026-06-01 $hour:03:00");
my $passed = in_clock(q{SELECT snowflake_timestamp(next_snowflake('passing'), snowdrift.generator_layout('passing'))});
in_clock(q{SELECT snowdrift.drop_generator('passing')});
set_clock($node, "2026-06-01 $hour:02:00");
in_clock($create_passing);
is(in_clock(q{SELECT last_timestamp FROM snowdrift.generators WHERE name = 'passing'}), $passed, 'a generator begins after a dropped one');
is(in_clock(q{SELECT count(*) FROM pg_sequences WHERE sequencename LIKE 'state\_%'}), in_clock('SELECT count(*) FROM snowdrift_tables.generator'), '... of which nothing is kept');
in_clock(q{SELECT snowdrift.drop_generator('passing')});

set_clock($node, "2026-06-01 $hour:03:00");
$sessions{replace}->query_safe("BEGIN; $draw_replaced; SELECT snowdrift.drop_generator('replaced'); ROLLBACK");
set_clock($node, "2026-06-01 $hour:04:00");
$sessions{replace}->query_safe($draw_replaced);
is(in_clock('SELECT count(*), count(DISTINCT id) FROM drawn'), '3|3', 'a generator whose drop is rolled back generates IDs');

$sessions{draw}->query_safe("BEGIN; $draw_replaced");
begin('replace', $replace, 'relation');
$sessions{wait} = $node->background_psql('clock', on_error_stop => 0);
$pids{wait} = $sessions{wait}->query('SELECT pg_backend_pid()');
begin('wait', q{SELECT next_snowflake('replaced')}, 'relation');
$sessions{draw}->query_safe("$draw_replaced; COMMIT");
is(ended('replace'), '', 'a drop waits for a transaction that draws');
like(ended('wait'), qr/ID generator "replaced" was dropped/, '... while other calls wait for the drop');
set_clock($node, "2026-06-01 $hour:05:00");
in_clock($draw_replaced);
is(in_clock('SELECT count(*), count(DISTINCT id) FROM drawn'), '6|6', '... and the next generator repeats none of its IDs');
$sessions{replace}->quit;

# ---- a used-up sequence --------------------------------------------------------------------------------

set_clock($node, "2026-06-01 $hour:30:00");
in_clock(q{SELECT next_snowflake('paced')});
begin('draw', q{SELECT next_snowflake('paced')}, 'PgSleep');
pass('without a sequence number, a second call in a time unit waits');
set_clock($node, "2026-06-01 $hour:30:00.010");
is(ended('draw'), '', '... for the next unit');
is(in_clock(q{SELECT lead FROM snowdrift.generators WHERE name = 'paced'}), '00:00:00', '... so that IDs are not ahead of the clock');
$sessions{draw}->quit;

set_clock($node, '+0');
in_app("TRUNCATE draws; SELECT snowdrift.create_generator('paced', 'snowflake', '$hundredths')");
draw_in_sessions(100, q{next_snowflake('paced')});
is(in_app("SELECT count(DISTINCT id), count(*) FILTER (WHERE snowflake_timestamp(id, '$hundredths') > at) FROM draws"), '400|0',
	'... also under load: an ID per unit, and none ahead of the clock');

# ---- a crash that loses the last WAL -------------------------------------------------------------------

# draw_and_lose(DRAW, CRASH, RESTART): draws IDs at a time of the clock, without a commit, and crashes the server at a later one,
# before the WAL writer has written the change of the sequence. Returns these IDs, and those after the restart.
sub draw_and_lose
{
	my ($time, $crash, $restart) = @_;
	set_clock($node, $time);
	my $session = $node->background_psql('lost');
	$session->query('BEGIN');
	@stopped = as_superuser(sub { stop_idle($node, 'walwriter') });
	my $lost = $session->query('SELECT next_snowflakes(3)');
	set_clock($node, $crash);
	kill 'KILL', @stopped;    # which the server ends for
	$node->stop('immediate', fail_ok => 1);
	@stopped = ();
	eval { $session->quit };
	start_with_clock($node, $restart);
	return ($lost, $node->safe_psql('lost', 'SELECT next_snowflakes(3)'));
}

$node->safe_psql('lost', 'SELECT next_snowflake()');
my ($lost, $next) = draw_and_lose('2027-06-01 12:00:00', '2027-06-01 12:00:02', '2027-06-01 12:00:02');
cmp_ok((split /\n/, $next)[0], '>', (split /\n/, $lost)[-1], 'after a crash that loses the last WAL, IDs ascend if the clock is right');
($lost, $next) = draw_and_lose('2027-06-01 13:00:00', '2027-06-01 13:00:02', '2027-06-01 13:00:00');
is($next, $lost, '... but if it is also set back, IDs are repeated, as docs/managed-clouds.md says');

$node->stop;
done_testing();
