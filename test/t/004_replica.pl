# No ID is repeated after a failover to a standby whose clock is behind, or after the old primary is rewound
# and promoted again.
use strict;
use warnings FATAL => 'all';
use Test::More;
use Snowdrift;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

my $draw = draw_all_kinds() . ";\n" . insert_all_kinds();

# pair(NAME, BEHIND, CONF): a primary with the extension, and a standby whose clock is behind
sub pair
{
	my ($name, $behind, $conf) = @_;
	my $primary = new_server("primary_$name", allows_streaming => 1);
	$primary->append_conf('postgresql.conf', "wal_log_hints = on\nwal_keep_size = 64MB\n");
	start_with_clock($primary, '+0');
	create_all_kinds($primary);
	create_tables($primary);
	$primary->backup('base');
	my $standby = PostgreSQL::Test::Cluster->new("standby_$name");
	$standby->init_from_backup($primary, 'base', has_streaming => 1);
	start_with_clock($standby, "-$behind");
	$primary->append_conf('postgresql.conf', $conf);
	$primary->reload;
	$primary->wait_for_catchup($standby, 'replay');
	return ($primary, $standby);
}

# With synchronous replication, the primary fails under load. Without, the standby first catches up. How far the standby's
# clock is behind decides how it continues, in either mode, so only --long tries all combinations.
my %behind =
  $ENV{SNOWDRIFT_LONG}
  ? (asynchronous => [ 1, 20, 300 ], synchronous => [ 1, 20, 300 ])
  : (asynchronous => [1], synchronous => [ 20, 300 ]);
for my $mode (sort keys %behind)
{
	for my $behind (@{ $behind{$mode} })
	{
		my $conf = $mode eq 'synchronous' ? "synchronous_standby_names = '*'\n" : '';
		my ($primary, $standby) = pair("${mode}_$behind", $behind, $conf);
		my @files;

		my $load = start_load($primary, 4, $draw);
		wait_for_load($load, 3000);
		if ($mode eq 'asynchronous')
		{
			push @files, end_load($load);
			$primary->wait_for_catchup($standby, 'replay');
		}
		my @answers = map { error_of($standby, "SELECT $_") } @Snowdrift::calls;
		is(scalar(grep { /25006: cannot generate IDs during recovery/ } @answers),
			scalar(@answers), "$mode, $behind s behind: the standby generates no IDs before its promotion");
		$primary->stop('immediate');
		push @files, end_load($load) if $mode eq 'synchronous';
		$standby->promote;

		# An ID that is ahead of the clock was drawn without waiting for it.
		@answers = map { error_of($standby, 'SELECT ' . timestamp_of($_) . ' > clock_timestamp()') } @Snowdrift::calls;
		if ($behind < 60)
		{
			my $expected = $behind == 1 ? qr/^no error/ : qr/^no error, but: t$/;
			is(scalar(grep { /$expected/ } @answers),
				scalar(@answers), '... after its promotion, it continues at once');
			cmp_ok($standby->safe_psql('postgres', 'SELECT next_sno()'), 'gt', last_sno(@files), '... and sno values ascend');
		}
		else
		{
			is(scalar(grep { /55000: clock moved backwards by/ } @answers),
				scalar(@answers), '... after its promotion, it raises an error');
		}
		$load = load_behind($standby, 4, $draw, 3000);
		push @files, end_load($load);
		my ($repeated, $count) = duplicates(@files);
		is($repeated, '', "... $count IDs before and after: no duplicate");
		$standby->stop;
	}
}

# No ID is returned without the standby's confirmation: neither when the wait is canceled, nor in another
# session that reads the mark that the canceled session advanced.
my $lonely = new_server('lonely', allows_streaming => 1);
start_with_clock($lonely, '2026-06-01 12:00:00');
$lonely->safe_psql('postgres', 'CREATE EXTENSION snowdrift; SELECT next_snowflake()');
$lonely->append_conf('postgresql.conf', "synchronous_standby_names = 'ghost'\n");
$lonely->stop;
start_with_clock($lonely, '2026-06-01 12:00:10');
is(read_views($lonely), '0||1|4|0', 'after a restart, the views can be read without the synchronous standby');
my $alone = "SET statement_timeout = '200ms'; SELECT next_snowflake()";
for my $commit ('on', 'off')
{
	like(error_of($lonely, "SET synchronous_commit = $commit; $alone"),
		qr/57014: canceling/, "synchronous_commit $commit: no ID without the synchronous standby");
}
{
	local $ENV{PGOPTIONS} = '-c synchronous_commit=off';
	like(error_of($lonely, $alone), qr/57014: canceling/, '... even if the connection turns it off');
}
for my $who ('ROLE CURRENT_USER', 'DATABASE postgres')
{
	# Without this SET, the ALTER command would wait for the standby.
	$lonely->safe_psql('postgres', "SET synchronous_commit = off; ALTER $who SET synchronous_commit = off");
	like(error_of($lonely, $alone), qr/57014: canceling/, "... even if $who turns it off");
	$lonely->safe_psql('postgres', "ALTER $who RESET synchronous_commit");
}
# The error states why the wait ended, and omits PostgreSQL's warnings about commits.
like(error_of($lonely, $alone),
	qr/57014: canceling statement due to statement timeout.*CONTEXT:  while waiting for a synchronous standby to confirm the ID mark/s,
	'... the error names the timeout');
my $cancelled = $lonely->background_psql('postgres', on_error_stop => 0);
my $waiter = $cancelled->query_safe('SELECT pg_backend_pid()');
$cancelled->query_until(qr/drawing/, "\\echo drawing\nSELECT next_snowflake();\n");
$lonely->poll_query_until('postgres', "SELECT wait_event = 'SyncRep' FROM pg_stat_activity WHERE pid = $waiter")
  or die 'the session does not wait';
is(read_views($lonely), '1||1|4|0', '... snowdrift.clock shows that a call waits');
$lonely->safe_psql('postgres', "SELECT pg_cancel_backend($waiter)");
$lonely->poll_query_until('postgres', "SELECT state = 'idle' FROM pg_stat_activity WHERE pid = $waiter")
  or die 'the canceled session is not idle';
is(read_views($lonely), '0||1|4|0', '... until it is canceled');
$cancelled->query_until(qr/drawing/, "\\echo drawing\nSELECT next_snowflake();\n");
$lonely->poll_query_until('postgres', 'SELECT waiting = 1 FROM snowdrift.clock') or die 'no call is shown';
$lonely->safe_psql('postgres', "SELECT pg_terminate_backend($waiter)");
ok($lonely->poll_query_until('postgres', 'SELECT waiting = 0 FROM snowdrift.clock'), '... or its session is terminated');
eval { $cancelled->quit };
# snowdrift.reset_clock() waits while it blocks calls that draw.
set_clock($lonely, '2026-06-01 11:50:00');
my $resetting = $lonely->background_psql('postgres', on_error_stop => 0);
$waiter = $resetting->query_safe('SELECT pg_backend_pid()');
$resetting->query_until(qr/resetting/, "\\echo resetting\nSELECT snowdrift.reset_clock();\n");
$lonely->poll_query_until('postgres', "SELECT wait_event = 'SyncRep' FROM pg_stat_activity WHERE pid = $waiter")
  or die 'the session does not wait';
is(read_views($lonely), '1||1|4|0', '... the same while snowdrift.reset_clock() waits');
$lonely->safe_psql('postgres', "SELECT pg_cancel_backend($waiter)");
ok($lonely->poll_query_until('postgres', 'SELECT waiting = 0 FROM snowdrift.clock'), '... until it is canceled');
$resetting->quit;
set_clock($lonely, '2026-06-01 12:00:10');
my $said = slurp_file($lonely->logfile);
like($said, qr/ERROR:  canceling statement due to user request/, '... the error names the user request');
unlike($said, qr/already committed/, '... and does not mention a commit');
$lonely->append_conf('postgresql.conf', "wal_level = minimal\nmax_wal_senders = 0\n");
$lonely->restart;
like(error_of($lonely, $alone), qr/^no error/, '... unless the server allows no standbys');
$lonely->append_conf('postgresql.conf', "wal_level = replica\nmax_wal_senders = 5\n");
$lonely->append_conf('postgresql.conf', "synchronous_commit = local\n");
$lonely->restart;
like(error_of($lonely, 'SELECT next_snowflake()'), qr/^no error/, "... unless the server's synchronous_commit is local");
$lonely->stop;
$lonely->append_conf('postgresql.conf', "synchronous_commit = on\n");
my @control = ('pg_ctl', '-w', '-D', $lonely->data_dir, '-l', $lonely->logfile);
system_or_bail(@control, '-o', '-c synchronous_commit=local', 'start');
like(error_of($lonely, $alone), qr/^no error/, '... also on its command line');
system_or_bail(@control, 'stop');

# Two sessions attach the mark at the same time. The second one does so while the first one draws, whose block of
# ULIDs must not end.
my $attached = new_server('attached', allows_streaming => 1);
$attached->start;
$attached->safe_psql('postgres', 'CREATE EXTENSION snowdrift; SELECT next_ulid()');
$attached->append_conf('postgresql.conf', "synchronous_standby_names = 'ghost'\n");
$attached->restart;
my @sessions = map { $attached->background_psql('postgres') } 1 .. 2;
my @pids = map { $_->query_safe('SELECT pg_backend_pid()') } @sessions;
for my $number (0, 1)
{
	$sessions[$number]->query_until(qr/attaching/, <<'SQL');
\echo attaching
SELECT count(DISTINCT ulid_timestamp(next_ulid())) AS times FROM generate_series(1, 2000000) \gset
SQL
	$attached->poll_query_until('postgres', "SELECT wait_event = 'SyncRep' FROM pg_stat_activity WHERE pid = $pids[$number]")
	  or die 'the session does not wait';
}
kill 'STOP', $pids[1];
$attached->append_conf('postgresql.conf', "synchronous_standby_names = ''\n");
$attached->reload;
$attached->poll_query_until('postgres', 'SELECT waiting = 1 FROM snowdrift.clock') or die 'the session does not continue';
kill 'CONT', $pids[1];
is($_->query_safe('SELECT :times'), 1, 'a transaction has ULIDs of one time while another session attaches the mark')
  for @sessions;
$_->quit for @sessions;
$attached->stop;

# While one session waits until its mark is confirmed, the others use the rest of the lease.
my $leased = new_server('leased', allows_streaming => 1);
start_with_clock($leased, '2026-06-01 12:00:00');
$leased->safe_psql('postgres', 'CREATE EXTENSION snowdrift; SELECT next_snowflake()');
$leased->append_conf('postgresql.conf', "synchronous_standby_names = 'ghost'\n");
$leased->reload;
$leased->poll_query_until('postgres', "SELECT current_setting('synchronous_standby_names') = 'ghost'")
  or die 'the setting does not take effect';
set_clock($leased, '2026-06-01 12:00:02');
like(error_of($leased, 'SELECT next_snowflake()'), qr/^no error/, 'a session that advances the mark ahead of need does not wait');
set_clock($leased, '2026-06-01 12:00:03.100');
my $raiser = $leased->background_psql('postgres');
my $pid = $raiser->query_safe('SELECT pg_backend_pid()');
$raiser->query_until(qr/raising/, "\\echo raising\nSELECT next_snowflake();\n");
ok($leased->poll_query_until('postgres',
		"SELECT wait_event = 'SyncRep' FROM pg_stat_activity WHERE pid = $pid"),
	'... but one that needs the mark does');
is(read_views($leased), '1||1|4|1', '... which snowdrift.clock shows');
set_clock($leased, '2026-06-01 12:00:03');
like(error_of($leased, q{SELECT next_ulid()}), qr/^no error/, '... and sessions that do not need it do not');
$leased->stop('immediate');
eval { $raiser->quit };

# The old primary is rewound, follows the new one, and is promoted.
my ($old, $new) = pair('rewind', 20, '');
my $load = start_load($old, 2, $draw);
wait_for_load($load, 1000);
my @files = end_load($load);
$old->wait_for_catchup($new, 'replay');
$new->promote;
$load = load_behind($new, 2, $draw, 2000);
push @files, end_load($load);
$new->safe_psql('postgres', 'CHECKPOINT');
$old->stop;
command_ok(
	[
		'pg_rewind', '-D', $old->data_dir, '--source-server', $new->connstr('postgres'),
		'--config-file', $old->data_dir . '/postgresql.conf'
	],
	'the old primary is rewound');
my $port = $old->port;
$old->append_conf('postgresql.conf', "port = $port\n");
$old->enable_streaming($new);
$old->set_standby_mode;
start_with_clock($old, '-40');
$load = start_load($new, 2, $draw);
wait_for_load($load, 1000);
push @files, end_load($load);
$new->wait_for_catchup($old, 'replay');
$new->stop('immediate');
$old->promote;
$load = load_behind($old, 2, $draw, 2000);
push @files, end_load($load);
my ($repeated, $count) = duplicates(@files);
is($repeated, '', "$count IDs of the old primary, the new one, and the old one again: no duplicate");
$old->stop;

# Without synchronous replication, the last advance of the mark can be lost. Then the standby's clock must have passed the
# IDs that were lost with it.
for my $case (
	[ 'a standby repeats lost IDs if its clock is still at their time', 0, '', 10 ],
	[ '... but not if its clock has passed it', 1, '', 0 ],
	[ '... or if advance() is called before', 0, q{SELECT snowdrift.advance(clock_timestamp() + interval '1 s')}, 0 ])
{
	my ($name, $is_past, $before, $expected) = @$case;
	($old, $new) = pair("lost_${is_past}_$expected", 0, '');
	$new->safe_psql('postgres', q{ALTER SYSTEM SET primary_conninfo = ''});
	$new->reload;
	$old->poll_query_until('postgres', 'SELECT count(*) = 0 FROM pg_stat_replication') or die 'the standby is connected';
	my ($time, $next) = split /\|/, $old->safe_psql('postgres',
		q{SELECT to_char(t, f), to_char(t + interval '10 ms', f)
		  FROM (SELECT clock_timestamp() AT TIME ZONE 'UTC' + interval '5 s', 'YYYY-MM-DD HH24:MI:SS.MS') AS _ (t, f)});
	set_clock($old, $time);
	my $snowflakes = 'SELECT next_snowflake() FROM generate_series(1, 10)';
	my %lost = map { ($_ => 1) } split /\n/, $old->safe_psql('postgres', $snowflakes);
	$old->stop('immediate');
	$new->promote;
	set_clock($new, $is_past ? $next : $time);
	$new->safe_psql('postgres', $before);
	is(scalar(grep { $lost{$_} } split /\n/, $new->safe_psql('postgres', $snowflakes)), $expected, $name);
	$new->stop;
}

done_testing();
