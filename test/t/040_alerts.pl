# Each alert of monitoring/ fires when its cause occurs, and ends when the cause is removed: with Prometheus,
# postgres_exporter and sql_exporter from Debian. Several servers have different causes at the same time. Monitoring.pm
# makes seconds of the rules' minutes.
use strict;
use warnings FATAL => 'all';
use Test::More;
use Snowdrift;
use Monitoring;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use POSIX qw(strftime);

plan skip_all => 'needs Prometheus and its exporters' unless has_monitoring();

my ($role) = statements_of_role();

# The server "plain", with a database for each cause
my $plain = new_server('plain', allows_streaming => 1);
$plain->append_conf('postgresql.conf', "max_connections = 50\nmax_prepared_transactions = 7\nautovacuum = off\n");
$plain->start;
$plain->safe_psql('postgres', "$role CREATE EXTENSION snowdrift");
for my $database ('app', 'busy', 'numberless', 'publisher', 'ending', 'lost')
{
	$plain->safe_psql('postgres', "CREATE DATABASE $database TEMPLATE template0");
	$plain->safe_psql($database, 'CREATE EXTENSION snowdrift');
}
$plain->backup('base');
my $standby = standby_of($plain, 'standby', '');
$plain->safe_psql('busy', q{SELECT snowdrift.create_generator('narrow', 'snowflake', worker => 1, sequence_max => 3)});

# The server "stepped", whose clock is stepped
my $stepped = new_server('stepped');
start_with_clock($stepped, '+0');
$stepped->safe_psql('postgres', "$role CREATE EXTENSION snowdrift");
$stepped->safe_psql('postgres', q{SELECT snowdrift.create_generator('ten', 'snowflake', worker => 1, sequence_max => 9)});
$stepped->safe_psql('postgres', q{SELECT snowdrift.create_generator('four', 'sno', partition => 1, sequence_max => 3)});

# The server "full", whose WAL is on a small file system and whose clock stands still
my $small = $ENV{SNOWDRIFT_SMALL_DISK} && "$ENV{SNOWDRIFT_SMALL_DISK}.alerts";
my $full;
if ($small)
{
	$full = PostgreSQL::Test::Cluster->new('full');
	$full->init(extra => [ '--waldir', "$small/wal", '--wal-segsize', '1' ]);
	$full->append_conf('postgresql.conf', Snowdrift::extension_conf() . "min_wal_size = 2MB\nautovacuum = off\n");
	start_with_clock($full, '2026-06-01 12:00:00');
	$full->safe_psql('postgres', "$role CREATE EXTENSION snowdrift; SELECT next_snowflake()");
}

my @servers = grep { defined } $plain, $standby, $stepped, $full;
start_postgres_exporter($_) for @servers;
start_sql_exporter($plain, 'app');
start_prometheus();

# Before any cause. An alert can be pending if the machine is slow: a late scrape has no series.
sub firing { return grep { $_->{state} eq 'firing' } alerts() }

my $databases = 15 + ($small ? 1 : 0);
ok(poll_query("count(snowdrift_clock_lead_seconds) == $databases + 1"), 'each database has its series')
  or die 'the exporters do not work';
is_deeply([ firing() ], [], '... and no alert fires');
my $failed = 'pg_exporter_last_scrape_error > 0 or pg_exporter_user_queries_load_error > 0 or sql_exporter_last_scrape_failed > 0';
is_deeply([ query($failed) ], [], '... no query fails, also on a standby');
for my $metric ($failed =~ /(\w+) > 0/g) { ok(scalar query("$metric == 0"), "... which $metric shows") }

# wait_in(NODE, DATABASE, STATEMENT): a session that has sent a statement, and the id of its process
sub wait_in
{
	my ($node, $database, $statement) = @_;
	my $session = $node->background_psql($database, on_error_stop => 0);
	my $pid = $session->query('SELECT pg_backend_pid()');
	$session->query_until(qr/sent/, "\\echo sent\n$statement;\n");
	return ($session, $pid);
}

# ---- "stepped": the clock is ahead, and then back. The first of its alerts ends by itself.

my $limit = q{SET snowdrift.max_clock_lead = '1h'};
for my $clock ('+0', '+300', '+150')
{
	set_clock($stepped, $clock);
	# Its sequence is also used up, which must not hide that calls wait for the clock later.
	$stepped->safe_psql('postgres', "$limit; SELECT next_snowflake(), next_sno('four') FROM generate_series(1, 50)");
}
fires('the clock was set back', 'SnowdriftClockSetBack', kind => 'snowflake');
set_clock($stepped, '+0');
my ($sno) = wait_in($stepped, 'postgres', "$limit; SELECT next_sno('four')");

# ---- "full": the disk is full

if ($small)
{
	fill_disk($full, $small);
	set_clock($full, '2026-06-01 12:00:05');
}

# ---- "plain": the other causes

my $reader = $plain->background_psql('app');
$reader->query_safe($_) for q{SET application_name = 'load'}, 'BEGIN', 'SELECT next_snowflake(), next_ulid(), next_uuidv7()';
my @prepared = ('two', 'three', 'four', 'five', 'six', 'seven');
$plain->safe_psql('app', "BEGIN; SELECT next_ulid(); PREPARE TRANSACTION '$_'") for @prepared;
$plain->safe_psql('app', q{SELECT snowdrift.publish_watermarks(); UPDATE snowdrift_tables.published_watermark SET published_at = published_at - interval '5 min'});
my ($overflow, $overflow_pid) =
  wait_in($plain, 'busy', q{SELECT count(next_snowflake('narrow')) FROM generate_series(1, 100000000)});
# The exporter's session shows a database's setting when it connects again.
my $reconnect = q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'numberless'};
$plain->safe_psql('postgres', "ALTER DATABASE numberless SET snowdrift.node = citus; $reconnect");
$plain->safe_psql('publisher', 'CREATE PUBLICATION posts');
my $yesterday = strftime('%Y-%m-%dT00:00:00Z', gmtime(time - 86_400));
$plain->safe_psql('ending',
	qq{SELECT snowdrift.create_generator('ends', 'snowflake', layout => 'epoch=$yesterday timestamp=34 sequence=12')});

# The exporters show the same series, except for the labels of their own.
fires('an open transaction', 'SnowdriftWatermarkHeld', datname => 'app', application_name => 'load', job => 'postgres_exporter_plain');
my $own = 'job, instance, server, driver, host, database, user, col, sql_job';

# series(JOB): the series of the database "app", without the labels of the exporters' own
sub series
{
	my ($job) = @_;
	my @series;
	for my $series (query(qq({__name__=~"snowdrift_.+", datname="app", job="$job"})))
	{
		delete @{ $series->{metric} }{ split /, /, $own };
		push @series, join ', ', map { "$_=$series->{metric}{$_}" } sort keys %{ $series->{metric} };
	}
	return join "\n", sort @series;
}
my @series;
Monitoring::poll(sub {    # A late scrape shows fewer transactions.
	@series = map { series($_) } 'sql_exporter', 'postgres_exporter_plain';
	return $series[0] && $series[0] eq $series[1] && (() = $series[0] =~ /__name__=snowdrift_watermark_held_seconds/g) >= 5;
});
is($series[0], $series[1], 'sql_exporter shows the same series as postgres_exporter');
my %shown = map { $_->{metric}{__name__} => 1 } query('{__name__=~"snowdrift_.+", datname="app"}');
is_deeply([ sort keys %shown ], [ sort(names_of_metrics()) ], '... of all metrics');
is(scalar(() = $series[0] =~ /__name__=snowdrift_watermark_held_seconds/g), 5, '... and five of seven transactions, each once');

# Nothing here runs pgwatch. It takes the columns with the prefix tag_ as labels.
for my $query (queries_of_pgwatch())
{
	like($plain->safe_psql('app', "SET ROLE monitor; $query \\gdesc"),
		qr/^epoch_ns\|bigint\n(tag_\w+\|text\n)+(\w+\|double precision\n?)+$/, 'the columns of a query of pgwatch');
	like($plain->safe_psql('app', "SET ROLE monitor; $query"), qr/^\d{19}\|app\|/, '... and its rows');
}

# ---- The alerts

fires('a prepared transaction', 'SnowdriftWatermarkHeld', gid => 'two', usename => $plain->safe_psql('app', 'SELECT current_user'));
SKIP:
{
	skip 'a full disk needs a small file system in SNOWDRIFT_SMALL_DISK', 3 unless $small;
	fires('a disk is full', 'SnowdriftCannotAdvanceMark', datname => 'postgres');
}
fires('the clock was ahead', 'SnowdriftMarkAhead', severity => $_, datname => 'postgres') for 'warning', 'critical';
fires('sno values of these times were issued twice', 'SnowdriftCallsWait', generator => 'four', reason => 'clock');
fires('watermarks were published long ago', 'SnowdriftPublicationOld', datname => 'app');
fires('a narrow sequence', 'SnowdriftOverCapacity', datname => 'busy', generator => 'narrow');
fires('snowdrift.node yields no number', 'SnowdriftNoNumber', datname => 'numberless', source => 'citus');
fires('a publication', 'SnowdriftNeedsNumber', datname => 'publisher');
fires('a short layout', 'SnowdriftFormatEnds', datname => 'ending', generator => 'ends');
is_deeply([ query($failed) ], [], 'no query fails' . ($small ? ', also while the disk is full' : ''));

# ---- The causes are removed

unlink "$small/full" if $small;
set_clock($stepped, '+400');
$reader->query_safe('COMMIT');
$plain->safe_psql('app', "ROLLBACK PREPARED '$_'") for @prepared;
$plain->safe_psql('app', 'SELECT snowdrift.publish_watermarks()');
$plain->safe_psql('busy', "SELECT pg_cancel_backend($overflow_pid)");
$plain->safe_psql('postgres', "ALTER DATABASE numberless RESET snowdrift.node; $reconnect");
$plain->safe_psql('publisher', 'DROP PUBLICATION posts');
$plain->safe_psql('ending', q{SELECT snowdrift.drop_generator('ends')});
$_->quit for $reader, $overflow, $sno;

# A generator near its capacity: while the clock stands still, each reading finds 9 of 10 numbers.
my $later = time + 600;
set_clock($stepped, strftime('%Y-%m-%d %H:%M:%S', gmtime($later)));
$stepped->safe_psql('postgres', q{SELECT next_snowflake('ten') FROM generate_series(1, 9)});

# A synchronous standby that does not exist
$plain->safe_psql('postgres', q{ALTER SYSTEM SET synchronous_standby_names = 'missing'});
$plain->reload;
$plain->poll_query_until('postgres', q{SHOW synchronous_standby_names}, 'missing') or die 'the setting has no effect';
my ($waiting) = wait_in($plain, 'publisher', 'SELECT next_snowflake()');

fires('a standby is missing', 'SnowdriftCallsWait', datname => 'publisher', reason => 'mark');
fires('9 of 10 numbers', 'SnowdriftNearCapacity', generator => 'ten');
is_deeply([ query($failed) ], [], '... and no query fails');
$plain->safe_psql('postgres', 'ALTER SYSTEM RESET synchronous_standby_names');
$plain->reload;
set_clock($stepped, strftime('%Y-%m-%d %H:%M:%S', gmtime($later + 10)));
$waiting->quit;

# A database whose series end
$plain->safe_psql('lost', 'DROP EXTENSION snowdrift');
fires('an extension was dropped', 'SnowdriftNotMonitored', datname => 'lost');
$plain->safe_psql('lost', 'CREATE EXTENSION snowdrift');

ends('SnowdriftCannotAdvanceMark') if $small;
ends($_) for map { "Snowdrift$_" } qw(NotMonitored MarkAhead CallsWait WatermarkHeld NoNumber NeedsNumber NearCapacity
  OverCapacity ClockSetBack FormatEnds);
ok(Monitoring::poll(sub { !firing() }), 'no alert fires');

done_testing();
