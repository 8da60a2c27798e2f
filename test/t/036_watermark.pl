# Watermarks: a reader that stores the last ID it has read misses no row, whatever happens to writers and servers.
use strict;
use warnings FATAL => 'all';
use Test::More;
use Snowdrift;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Time::HiRes qw(usleep);

my $last;     # the last ID that was read
my @pages;    # all IDs that were read

# read_new(NODE): the new rows of table events, of a reader that begins after the last ID it has read
sub read_new
{
	my ($node) = @_;
	usleep(5000);    # the current time unit ends
	my @ids = split /\n/, $node->safe_psql('postgres',
		"SELECT id FROM events WHERE id > $last AND id < snowflake_watermark() ORDER BY id");
	$last = $ids[-1] if @ids;
	push @pages, @ids;
	return scalar @ids;
}

# is_complete(NODE, NAME): checks that each row of the table has been read exactly once, in order. After a restart, IDs
# are ahead of the clock for up to three seconds.
sub is_complete
{
	my ($node, $name) = @_;
	$node->poll_query_until('postgres', 'SELECT coalesce(max(id), 0) < snowflake_watermark()
		AND snowflake_timestamp(snowflake_watermark()) <= clock_timestamp() FROM events') or return fail($name);
	read_new($node);
	is(join("\n", @pages), $node->safe_psql('postgres', 'SELECT id FROM events ORDER BY id'), $name);
	return;
}

sub create_events
{
	my ($node) = @_;
	$node->safe_psql('postgres', 'CREATE EXTENSION IF NOT EXISTS snowdrift; DROP TABLE IF EXISTS events;
		CREATE TABLE events (id bigint PRIMARY KEY DEFAULT next_snowflake())');
	($last, @pages) = (0);
	return;
}

my $insert = 'INSERT INTO events DEFAULT VALUES';
my $holders = 'SELECT kind, gid, pid FROM snowdrift.watermark_holders';

# --- prepared transactions, crashes, restarts

my $node = new_server('node', allows_streaming => 1);
$node->append_conf('postgresql.conf', "max_prepared_transactions = 20\nmax_connections = 60");
$node->start;
create_events($node);
$node->safe_psql('postgres', "BEGIN; $insert; PREPARE TRANSACTION 'first'");
$node->safe_psql('postgres', $insert) for 1 .. 3;
is(read_new($node), 0, 'a prepared transaction holds the watermark back');
is($node->safe_psql('postgres', $holders), 'snowflake|first|', '... and is shown');
$node->safe_psql('postgres', "COMMIT PREPARED 'first'");
is_complete($node, 'after COMMIT PREPARED, its rows are read');
is($node->safe_psql('postgres', $holders), '', '... and nothing holds the watermark back');
$node->safe_psql('postgres', "BEGIN; $insert; PREPARE TRANSACTION 'second'");
$node->safe_psql('postgres', $insert);
$node->safe_psql('postgres', "ROLLBACK PREPARED 'second'");
is_complete($node, '... and after ROLLBACK PREPARED, the others');

# A snapshot older than COMMIT PREPARED
my $reader = $node->background_psql('postgres');
$node->safe_psql('postgres', "BEGIN; $insert; PREPARE TRANSACTION 'third'");
$reader->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
$node->safe_psql('postgres', "COMMIT PREPARED 'third'; BEGIN; $insert; PREPARE TRANSACTION 'fourth'");
$node->safe_psql('postgres', "COMMIT PREPARED 'fourth'; $insert");
cmp_ok($reader->query_safe('SELECT snowflake_watermark()'),
	'<=', $node->safe_psql('postgres', "SELECT min(id) FROM events WHERE id > $last"),
	'a snapshot older than COMMIT PREPARED counts the transaction');
$reader->query_safe('COMMIT');
is_complete($node, '... and its rows are read later');

# A transaction of another database does not hold the watermark back.
$node->safe_psql('postgres', 'CREATE DATABASE other');
$node->safe_psql('other', 'CREATE EXTENSION snowdrift; CREATE TABLE events (id bigint DEFAULT next_snowflake())');
$node->safe_psql('other', "BEGIN; $insert; PREPARE TRANSACTION 'elsewhere'");
my $elsewhere = $node->background_psql('other');
$elsewhere->query_safe("BEGIN; $insert");
my $idle = $node->background_psql('postgres');
$idle->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; CREATE TABLE unrelated (x int)');
$node->safe_psql('postgres', $insert);
is_complete($node, 'transactions of another database, and those that have drawn nothing, do not hold it back');
is($node->safe_psql('postgres', $holders), '', '... and are not shown');

$node->safe_psql('postgres', "BEGIN; $insert; PREPARE TRANSACTION 'before crash'");
$node->stop('immediate');
$_->{run}->finish for $reader, $elsewhere, $idle;
$node->start;
$node->safe_psql('postgres', $insert);
for my $call ('snowflake_watermark()', 'ulid_watermark()', 'uuidv7_watermark()')
{
	my $error = error_of($node, "SELECT $call");
	like($error, qr/ERROR:  55000: watermark is unknown while prepared transaction "before crash" is open/,
		"after a crash, a prepared transaction makes $call unknown");
	like($error, qr/HINT:  End it with COMMIT PREPARED or ROLLBACK PREPARED\./, '... with a hint');
}
is($node->safe_psql('postgres', 'SELECT DISTINCT gid, lowest FROM snowdrift.watermark_holders'),
	'before crash|-infinity', '... and is shown');
is($node->safe_psql('other', 'SELECT DISTINCT gid FROM snowdrift.watermark_holders'),
	'elsewhere', '... and that of another database is shown there');
$reader = $node->background_psql('postgres', on_error_stop => 0);
$reader->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
$node->safe_psql('postgres', "COMMIT PREPARED 'before crash'");
$reader->query('SELECT snowflake_watermark()');
like($reader->{stderr}, qr/ERROR:  watermark is unknown for this snapshot/, '... also for a snapshot that is older than its end');
$reader->{stderr} = '';
$reader->query('ROLLBACK');
is_complete($node, '... and is read when it has ended');
$reader->quit;
$node->safe_psql('other', "COMMIT PREPARED 'elsewhere'");

# A prepared transaction ends before the first ID since the start of the server is drawn.
$node->safe_psql('postgres', "BEGIN; $insert; PREPARE TRANSACTION 'ends early'");
$node->safe_psql('postgres', $insert);
$node->restart;
$reader = $node->background_psql('postgres', on_error_stop => 0);
$reader->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
$node->safe_psql('postgres', "COMMIT PREPARED 'ends early'");
$reader->query('SELECT snowflake_watermark()');
like($reader->{stderr}, qr/ERROR:  watermark is unknown for this snapshot/,
	'a prepared transaction from before a restart makes the watermark unknown for snapshots older than its end');
$reader->{stderr} = '';
$reader->query('ROLLBACK');
is_complete($node, '... and is read by newer ones');
$reader->quit;

# Later prepared transactions, which use the same line, are known.
$node->safe_psql('postgres', "BEGIN; $insert; PREPARE TRANSACTION 'unknown'");
$node->restart;
$node->safe_psql('postgres', $insert);
$node->safe_psql('postgres', "COMMIT PREPARED 'unknown'; BEGIN; $insert; PREPARE TRANSACTION 'known 1'");
$reader = $node->background_psql('postgres', on_error_stop => 0);
$reader->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
$node->safe_psql('postgres', "COMMIT PREPARED 'known $_'; BEGIN; $insert; PREPARE TRANSACTION 'known " . ($_ + 1) . q{'}) for 1 .. 3;
my $known = $reader->query('SELECT snowflake_watermark()');
unlike($reader->{stderr}, qr/ERROR/, 'the watermark of a snapshot is known when the unknown transaction has ended for it');
cmp_ok($known || 0, '<=', $node->safe_psql('postgres', 'SELECT max(id) FROM events'), '... and counts the later ones');
$reader->{stderr} = '';
$reader->query('ROLLBACK');
$reader->quit;
$node->safe_psql('postgres', "COMMIT PREPARED 'known 4'");
is_complete($node, '... and they are read');

$node->safe_psql('postgres', $insert) for 1 .. 10;
$node->restart;
is_complete($node, 'a restart loses nothing');

# --- ends of sessions

my $writer = $node->background_psql('postgres', on_error_stop => 0);
$writer->query_safe("BEGIN; $insert");
my $process = $writer->query_safe('SELECT pg_backend_pid()');
$node->safe_psql('postgres', $insert);
is(read_new($node), 0, 'an open transaction holds the watermark back');
is($node->safe_psql('postgres', $holders), "snowflake||$process", '... and is shown');
is( $node->safe_psql('postgres', 'SELECT since <= now(), lowest <= now(), query ~ $$pg_backend_pid$$ FROM snowdrift.watermark_holders'),
	't|t|t', '... with its times and its query');
$node->safe_psql('postgres', "SELECT pg_terminate_backend($process, 10000)");
is_complete($node, 'a terminated session holds nothing');
$writer->{run}->finish;

# PL/pgSQL evaluates an expression again and again with equal snapshots.
is( $node->safe_psql('postgres', q{
		SET statement_timeout = '10s';
		DO $$ DECLARE first bigint := snowflake_watermark();
		BEGIN LOOP EXIT WHEN snowflake_watermark() > first; END LOOP; END $$; SELECT 'risen'}),
	'risen', 'the watermark rises within a loop');
is( $node->safe_psql('postgres', q{
		SET statement_timeout = '10s';
		DO $$ DECLARE first bigint; next bigint;
		BEGIN SELECT snowflake_watermark() INTO first; LOOP SELECT snowflake_watermark() INTO next FROM pg_class LIMIT 1; EXIT WHEN next > first; END LOOP; END $$;
		SELECT 'risen'}),
	'risen', '... also of queries');

# --- the extension, its clock, and its node

for my $number (1, 4)
{
	$writer = $node->background_psql('postgres');
	$writer->query_safe("SET snowdrift.node = $number; BEGIN; $insert");
	$node->safe_psql('postgres', 'SET snowdrift.node = ' . (5 - $number) . "; $insert");
	is(read_new($node), 0, "with mixed nodes, a transaction of node $number holds the watermark back");
	$writer->query_safe('COMMIT');
	$writer->quit;
	is_complete($node, '... until it ends');
}
$writer = $node->background_psql('postgres');
$writer->query_safe("BEGIN; $insert; SET LOCAL snowdrift.node = 3; $insert");
$node->safe_psql('postgres', $insert);
is(read_new($node), 0, 'a session that changes its node keeps its hold');
$writer->query_safe('COMMIT');
$writer->quit;
is_complete($node, '... until it ends');
# A transaction draws an ID that is ahead of the clock, and then an earlier one, because the clock was reset.
$node->safe_psql('postgres', q{SET snowdrift.max_clock_lead = '200s'; SELECT snowdrift.advance(now() + interval '100 s')});
$writer = $node->background_psql('postgres');
$writer->query_safe(q{SET snowdrift.max_clock_lead = '200s'; BEGIN; SELECT next_snowflake()});
$node->safe_psql('postgres', 'SELECT snowdrift.reset_clock()');
$writer->query_safe($insert);
$node->safe_psql('postgres', $insert);
is(read_new($node), 0, 'a transaction that has drawn before and after a reset of the clock holds the watermark back');
$writer->query_safe('COMMIT');
$writer->quit;
is_complete($node, '... until it ends');
$node->safe_psql('postgres', 'ALTER TABLE events ALTER id DROP DEFAULT; DROP EXTENSION snowdrift; CREATE EXTENSION snowdrift;
	ALTER TABLE events ALTER id SET DEFAULT next_snowflake()');
$node->safe_psql('postgres', $insert);
is_complete($node, 'a new extension continues');
$node->safe_psql('postgres', q{SELECT snowdrift.create_generator('own', 'snowflake')});

# --- standbys

$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->start;
is($standby->safe_psql('postgres', $holders), '', 'nobody holds a watermark back on a standby');
$writer = $node->background_psql('postgres');
$writer->query_safe("BEGIN; $insert");
for (1 .. 20)
{
	$node->safe_psql('postgres', $insert);
	if ($_ == 10)
	{
		$writer->query_safe('COMMIT');
		$writer->quit;
	}
	usleep(3000);
	my $watermark = $node->safe_psql('postgres', 'SELECT snowflake_watermark()');
	my $position = $node->safe_psql('postgres', 'SELECT pg_current_wal_insert_lsn()');
	if ($standby->pg_version >= 19) { $standby->safe_psql('postgres', "WAIT FOR LSN '$position' WITH (TIMEOUT '180s')"); }
	else { $standby->poll_query_until('postgres', "SELECT pg_last_wal_replay_lsn() >= '$position'"); }
	my @ids = split /\n/, $standby->safe_psql('postgres', "SELECT id FROM events WHERE id > $last AND id < $watermark ORDER BY id");
	$last = $ids[-1] if @ids;
	push @pages, @ids;
}
is(scalar @pages, $node->safe_psql('postgres', 'SELECT count(*) FROM events'), 'a standby reads new rows below a watermark of the primary');
is_complete($node, '... and misses nothing');

# A snapshot of the standby is older than a commit that it replays before its promotion.
$writer = $node->background_psql('postgres');
$writer->query_safe("BEGIN; $insert");
$node->safe_psql('postgres', $insert);
$node->wait_for_catchup($standby, 'replay');
my $earlier = $standby->background_psql('postgres', on_error_stop => 0);
$earlier->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM events');
$writer->query_safe('COMMIT');
$writer->quit;

$node->safe_psql('postgres', "BEGIN; $insert; PREPARE TRANSACTION 'before failover'");
$node->safe_psql('postgres', $insert);
$node->wait_for_catchup($standby, 'replay');
$node->stop('immediate');
$standby->promote;
$standby->safe_psql('postgres', $insert);
like(error_of($standby, 'SELECT snowflake_watermark()'),
	qr/55000: watermark is unknown while prepared transaction "before failover" is open/,
	'after a failover, a prepared transaction makes the watermark unknown');
$standby->safe_psql('postgres', "COMMIT PREPARED 'before failover'");
is_complete($standby, '... until it has ended');
$earlier->query('SELECT snowflake_watermark()');
like($earlier->{stderr}, qr/ERROR:  watermark is unknown for this snapshot\n.*DETAIL:  The snapshot was taken during recovery/s,
	'... and for a snapshot that was taken on the standby');
$earlier->{stderr} = '';
$earlier->quit;
$standby->stop;

# --- a clock that is set back

$node = new_server('clock');
start_with_clock($node, '2026-06-01 12:00:00');
create_events($node);
$node->safe_psql('postgres', $insert);
set_clock($node, '2026-06-01 12:00:10');
is(read_new($node), 1, 'the first row is read');
$node->safe_psql('postgres', $insert);
set_clock($node, '2026-06-01 12:00:05');
$node->safe_psql('postgres', $insert);
is(read_new($node), 0, 'while the clock is behind, IDs of the last time unit are still issued');
set_clock($node, '2026-06-01 12:00:10.001');
is_complete($node, '... and are read when the clock has passed it');

set_clock($node, '2036-06-01 12:00:00');
$writer = $node->background_psql('postgres');
$writer->query_safe("BEGIN; $insert");
set_clock($node, '2026-06-01 12:01:00');
$node->safe_psql('postgres', 'SELECT snowdrift.reset_clock()');
$writer->query_safe('DELETE FROM events WHERE id = (SELECT max(id) FROM events)');
$writer->query_safe($insert);
set_clock($node, '2026-06-01 12:01:10');
$node->safe_psql('postgres', $insert);
set_clock($node, '2026-06-01 12:01:20');
is(read_new($node), 0, 'after reset_clock, a transaction holds back what it draws of the new times');
$writer->query_safe('COMMIT');
$writer->quit;
is_complete($node, '... until it ends');
$node->stop;

done_testing();
