# Shared code of the TAP tests: servers that load the staged extension, and a clock that a test sets
package Snowdrift;

use strict;
use warnings FATAL => 'all';
use Exporter 'import';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use IPC::Open2;
use IPC::Run ();
use Time::HiRes qw(usleep);

our @EXPORT = qw(new_server standby_of finds_staged use_own_copy made_up_tool create_edition install_library library_of_copy sharedir_of_copy start_with_clock set_clock command_for_clock
  error_of error_of_database errors start_load wait_for_load end_load
  received_by_each duplicates create_all_kinds create_tables draw_all_kinds insert_all_kinds
  load_behind timestamp_of last_sno witness stop_idle count_of read_views fill_disk);

# query() of background_psql's sessions. In old minor releases, such as 16.2, it keeps the last newline of the output, and can
# return before errors have arrived. This one does neither.
my $query = \&PostgreSQL::Test::BackgroundPsql::query;
my $queries = 0;

sub query_completely
{
	my ($self, $statements) = @_;
	return $query->(@_) if exists $self->{query_cnt};    # a later release
	my $end = 'end of query ' . $queries++;
	$self->{timeout}->start if defined $self->{query_timer_restart};
	$self->{stdin} .= "$statements\n;\n\\echo '$end'\n\\warn '$end'\n";
	pump_until($self->{run}, $self->{timeout}, \$self->{$_}, qr/$end\n/) for 'stdout', 'stderr';
	die 'a query timed out' if $self->{timeout}->is_expired;
	s/\n?$end\n// for $self->{stdout}, $self->{stderr};
	my $output = $self->{stdout};
	$self->{stdout} = '';
	return wantarray ? ($output, $self->{stderr} eq '' ? 0 : 1) : $output;
}

{
	no warnings 'redefine';
	*PostgreSQL::Test::BackgroundPsql::query = \&query_completely;
}

my $own_copy;    # the root of a copy of the staged extension, if this test may change it

# The configuration lines with which a server finds the extension
sub extension_conf
{
	my $conf = slurp_file($ENV{SNOWDRIFT_CONF});
	$conf =~ s/\Q$ENV{SNOWDRIFT_ROOT}\E/$own_copy/g if defined $own_copy;
	return $conf;
}

# finds_staged(): whether a server finds extensions outside of its own folders
sub finds_staged { return extension_conf() =~ /\Q$ENV{SNOWDRIFT_ROOT}\E/ }

# made_up_tool(): statements that create a tool in SQL, of a made-up next version
sub made_up_tool
{
	return q{CREATE OR REPLACE FUNCTION snowdrift.count_rows("table" regclass) RETURNS bigint LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    n bigint;
BEGIN
    PERFORM snowdrift.check_owner("table");
    EXECUTE concat('SELECT count(*) FROM ', snowdrift.qualified_name("table")) INTO n;
    RETURN n;
END $$;
COMMENT ON FUNCTION snowdrift.count_rows(regclass) IS 'a tool of the next version';
};
}

# use_own_copy(): makes this test's servers use a copy of the staged extension, which the test may change. Where a server
# finds extensions only in its own folders, copies these too: its programs look for them beside themselves.
sub use_own_copy
{
	my $copy = PostgreSQL::Test::Utils::tempdir();
	if (finds_staged()) { system_or_bail('cp', '-r', "$ENV{SNOWDRIFT_ROOT}/.", $copy) }
	else
	{
		my ($bindir, $libdir, $sharedir) = map { pg_config($_) } '--bindir', '--pkglibdir', '--sharedir';
		system_or_bail('mkdir', '-p', map { "$copy$_" } $bindir, $libdir, $sharedir);
		system_or_bail('cp', (map { "$bindir/$_" } 'initdb', 'pg_ctl', 'postgres'), "$copy$bindir");
		system_or_bail('cp', '-r', "$_/.", "$copy$_") for $libdir, $sharedir;
		$ENV{PATH} = "$copy$bindir:$ENV{PATH}";
	}
	$own_copy = $copy;
	return;
}

# Paths in the copy: the library, and the folder of the control file and of the scripts
sub library_of_copy { return $own_copy . pg_config('--pkglibdir') . '/snowdrift.so' }
sub sharedir_of_copy { return $own_copy . pg_config('--sharedir') . '/extension' }

sub pg_config
{
	my ($option) = @_;
	my ($value) = run_command([ 'pg_config', $option ]);
	return $value;
}

# install_library(FILE): replaces the library in the copy, as packages do: sessions that have loaded it keep it.
sub install_library
{
	my ($file) = @_;
	my $library = library_of_copy();
	system_or_bail('cp', $file, "$library.new");
	rename("$library.new", $library) or die "$library: $!";
	return;
}

# new_server(NAME, INIT OPTIONS...): an initialized server that is not started
sub new_server
{
	my ($name, %options) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);
	$node->init(%options);
	$node->append_conf('postgresql.conf', extension_conf() . "log_statement = none\n");
	return $node;
}

# standby_of(PRIMARY, NAME, CONFIGURATION): a standby, from the backup "base", that has received all changes of the primary
sub standby_of
{
	my ($primary, $name, $configuration) = @_;
	my $standby = PostgreSQL::Test::Cluster->new($name);
	$standby->init_from_backup($primary, 'base', has_streaming => 1);
	$standby->append_conf('postgresql.auto.conf', $configuration // '');
	$standby->start;
	$primary->wait_for_catchup($standby, 'replay');
	return $standby;
}

sub clock_file
{
	my ($node) = @_;
	return $node->basedir . '/clock';
}

# create_edition(NODE, DATABASE, STATEMENTS): creates a database of the role "owner", runs the statements there, if any, and creates
# the SQL edition
sub create_edition
{
	my ($node, $database, $before) = @_;
	$node->safe_psql('postgres', 'DO $$ BEGIN CREATE ROLE owner LOGIN; EXCEPTION WHEN DUPLICATE_OBJECT THEN END $$');
	$node->safe_psql('postgres', "CREATE DATABASE $database OWNER owner");
	$node->safe_psql($database, $before) if defined $before;
	system_or_bail('psql', '-X', '-q', '-o', '/dev/null', '-v', 'ON_ERROR_STOP=1', '-1', '-d', $node->connstr($database), '-U', 'owner',
		'-f', 'sql-edition/snowdrift.sql');
	return;
}

# set_clock(NODE, WHEN): sets the server's clock, in libfaketime's format: '-300' is 300 seconds behind the
# true time; '2026-01-01 12:00:00.250' stands still.
sub set_clock
{
	my ($node, $when) = @_;
	my $file = clock_file($node);
	append_to_file("$file.new", "$when\n");
	rename("$file.new", $file) or die "$file: $!";
	return;
}

# command_for_clock(NODE, WHEN): a shell command that does the same, for psql's \!
sub command_for_clock
{
	my ($node, $when) = @_;
	my $file = clock_file($node);
	return "echo '$when' >'$file.new' && mv '$file.new' '$file'";
}

# hold_clock_data(): starts a process that holds libfaketime's data, a semaphore and memory, until this test ends. Returns
# their names. Without them, the data are removed when the server's first session ends, and each program that the server
# starts, such as cp, creates its own, named after its process. It fails if an earlier process with this ID has left some.
my @holders;

sub hold_clock_data
{
	my $process = open2(my $output, my $input, 'cat');
	print $input "\n";
	readline $output;    # after libfaketime has created its data
	-e "/dev/shm/sem.faketime_sem_$process" or die 'libfaketime has created no data';
	push @holders, $input, $output;
	return "/faketime_sem_$process /faketime_shm_$process";
}

# start_with_clock(NODE, WHEN): starts the server with a clock that set_clock changes. PostgreSQL's timeout handler reads the clock.
# Only the MT variant of libfaketime blocks signals while it reads its file; the other one can hang when a handler interrupts it.
# While the server waits, handlers see the true clock, which is past the ends of all timeouts: an alarm, such as that of deadlock_timeout,
# then also ends a longer statement_timeout. So set only one of them.
sub start_with_clock
{
	my ($node, $when) = @_;
	set_clock($node, $when);
	my ($library) = glob('/usr/lib/*/faketime/libfaketimeMT.so.1');
	local %ENV = (
		%ENV,
		LD_PRELOAD => $library,
		FAKETIME_TIMESTAMP_FILE => clock_file($node),
		TZ => 'UTC',
		FAKETIME_NO_CACHE => 1,
		FAKETIME_DONT_FAKE_MONOTONIC => 1);
	$ENV{FAKETIME_SHARED} = hold_clock_data();
	$node->start;
	return;
}

# error_of(NODE, STATEMENTS): psql's output of the error that the statements raise
sub error_of
{
	my ($node, $statements) = @_;
	return error_of_database($node, 'postgres', $statements);
}

# error_of_database(NODE, DATABASE, STATEMENTS): the same in another database
sub error_of_database
{
	my ($node, $database, $statements) = @_;
	my ($status, $out, $error) = $node->psql($database, "\\set VERBOSITY verbose\n$statements");
	return $status ? $error : "no error, but: $out";
}

# read_views(NODE): reads the views of the extension, which must not wait for the disk or a standby. Returns the columns
# "waiting" and "detail" of snowdrift.clock, and the number of rows of each other view.
sub read_views
{
	my ($node) = @_;
	return $node->safe_psql('postgres', q{
		SET statement_timeout = '20s';
		SELECT clock.waiting, clock.detail, (SELECT count(*) FROM snowdrift.node), (SELECT count(*) FROM snowdrift.generators),
			(SELECT count(*) FROM snowdrift.watermark_holders)
		FROM snowdrift.clock});
}

# fill_disk(NODE, FOLDER): fills the disk, whose WAL is in the folder, and the existing WAL files, so that the mark's
# record would need another one
sub fill_disk
{
	my ($node, $folder) = @_;
	my $left = q{SELECT pg_size_bytes(current_setting('wal_segment_size')) * count(*)
			- (pg_current_wal_insert_lsn() - '0/0') % pg_size_bytes(current_setting('wal_segment_size'))
		FROM pg_ls_waldir() WHERE name >= pg_walfile_name(pg_current_wal_insert_lsn())};
	system("dd if=/dev/zero of=$folder/full bs=64k 2>/dev/null");
	while ((my $bytes = $node->safe_psql('postgres', $left)) > 8000)
	{
		my $message = int($bytes > 20_000 ? $bytes - 15_000 : $bytes - 7000);
		$message = 400_000 if $message > 400_000;
		$node->safe_psql('postgres', "SELECT pg_logical_emit_message(false, 'filler', repeat('x', $message))");
	}
	return;
}

# errors(NODE, PATTERN, CALLS...): how many of the calls raise an error that matches the pattern
sub errors
{
	my ($node, $pattern, @calls) = @_;
	my @others = grep { $_ !~ $pattern } map { error_of($node, "SELECT $_") } @calls;
	diag($_) for @others;
	return @calls - @others;
}

# stop_idle(NODE, TYPE): stops the server's process of this type in pg_stat_activity while it waits for work, because
# it may hold a lock at any other time. Returns its id. `kill 'CONT'` continues it.
sub stop_idle
{
	my ($node, $type) = @_;
	for (;; usleep(1000))
	{
		my $process = $node->safe_psql('postgres', "SELECT pid FROM pg_stat_activity WHERE backend_type = '$type'") || next;
		kill 'STOP', $process;
		usleep(1000) until slurp_file("/proc/$process/stat") =~ /\) T /;
		return $process
		  if $node->safe_psql('postgres', "SELECT wait_event_type FROM pg_stat_activity WHERE pid = $process") eq 'Activity';
		kill 'CONT', $process;
	}
}

# Loads: sessions that draw IDs in many small statements. Each writes the IDs it receives to a file, so all
# IDs that a client received can be checked, even after a crash of the server.

my $loads = 0;

# Calls for each kind of ID that the mark protects
our @calls = ('next_snowflake()', q{next_snowflake('own')}, 'next_ulid()', 'next_uuidv7()', 'next_sno()',
	q{next_sno('own sno')});

# create_all_kinds(NODE, DATABASE): creates the extension, and generators with their own nodes
sub create_all_kinds
{
	my ($node, $database) = @_;
	$node->safe_psql($database // 'postgres',
		q{CREATE EXTENSION snowdrift;
		  SELECT snowdrift.create_generator('own', 'snowflake', worker => 7);
		  SELECT snowdrift.create_generator('own sno', 'sno', partition => 7)});
	return;
}

# create_tables(NODE): creates a table for each kind of ID, with the ID as the default of a column
my %tables = map { ("rows_$_" => $calls[$_]) } 0 .. $#calls;

sub create_tables
{
	my ($node) = @_;
	for my $table (sort keys %tables)
	{
		my $type = $node->safe_psql('postgres', "SELECT pg_typeof($tables{$table})");
		$node->safe_psql('postgres', "CREATE TABLE $table (id $type DEFAULT $tables{$table}, x int)");
	}
	return;
}

# twenty_of(CALLS...): statements that draw twenty IDs with each call
sub twenty_of
{
	return join(";\n", map { "SELECT $_ FROM generate_series(1, 20)" } @_);
}

sub draw_all_kinds { return twenty_of(@calls) }

# insert_all_kinds(): statements that insert rows into these tables and return their IDs: a row by a statement of
# its own, rows in a transaction block, and more rows than the server sends at once
sub insert_all_kinds
{
	my @tables = sort keys %tables;
	my @rows = map { "INSERT INTO $_ DEFAULT VALUES RETURNING id" } @tables;
	my @many = map { "INSERT INTO $_ (x) SELECT g FROM generate_series(1, 500) g RETURNING id" } @tables;
	return join(";\n", @rows, 'BEGIN', @rows, @rows, 'COMMIT', @many);
}

# timestamp_of(CALL): an expression for the time of the ID that a call returns
sub timestamp_of
{
	my ($call) = @_;
	my ($kind) = $call =~ /^next_(\w+)/;
	return "${kind}_timestamp($call)";
}

# last_sno(FILES...): the greatest sno in the files
sub last_sno
{
	my (@files) = @_;
	my $last = '';
	for my $id (map { split /\n/, slurp_file($_) } @files)
	{
		$last = $id if $id =~ /^[2-9a-x]{16}$/ && $id gt $last;
	}
	return $last;
}

# witness(NODE): draws a sno. Returns a file with it, and its time in the format of set_clock. A server whose
# clock stands at this time must not issue sno values of this time.
sub witness
{
	my ($node) = @_;
	my $file = $node->basedir . '/ids.' . ++$loads;
	my $id = $node->safe_psql('postgres', 'SELECT next_sno()');
	append_to_file($file, "$id\n");
	my $time = $node->safe_psql('postgres',
		"SELECT to_char(sno_timestamp('$id') AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.MS')");
	return ($file, $time);
}

# start_load(NODE, SESSIONS, STATEMENT, SETTINGS, DATABASE): repeats the statement in each session until end_load,
# or until the server stops
sub start_load
{
	my ($node, $sessions, $statement, $settings, $database) = @_;
	my $input = q(printf '%s\n' "$0"; exec yes "$1;");
	my @sessions;
	for (1 .. $sessions)
	{
		my $file = $node->basedir . '/ids.' . ++$loads;
		my $errors = "$file.errors";
		my $handle = IPC::Run::start(
			[ 'sh', '-c', $input, $settings // '', $statement ], '2>', '/dev/null', '|',
			[
				'psql', '-X', '-A', '-t', '-q', '-v', 'ON_ERROR_STOP=1',
				'-d', $node->connstr($database // 'postgres'), '-f', '-'
			],
			'>', $file, '2>', $errors);
		push @sessions, { handle => $handle, file => $file, errors => $errors };
	}
	return \@sessions;
}

# received_by_each(LOAD): how many IDs the slowest session has received
sub received_by_each
{
	my ($load) = @_;
	my $least;
	for my $session (@$load)
	{
		my $ids = 0;
		if (open my $file, '<', $session->{file})
		{
			my $line = readline $file;
			$ids = (-s $file) / length $line if defined $line;
		}
		$least = $ids if !defined $least || $ids < $least;
		my $errors = slurp_file($session->{errors});
		die "a load failed: $errors" if $errors;
	}
	return $least;
}

# wait_for_load(LOAD, IDS): waits until each session has received this number of IDs
sub wait_for_load
{
	my ($load, $ids) = @_;
	my $tries = 0;
	until (received_by_each($load) >= $ids)
	{
		die 'a load makes no progress' if ++$tries > 36_000;
		usleep(5000);
	}
	return;
}

# load_behind(NODE, SESSIONS, STATEMENT, IDS): starts a load while the clock is behind and stands still, corrects the clock,
# and waits until each session has received this number of IDs. The sessions raise the limit of the lead, and first draw few
# IDs. If a session begins late, the others can nevertheless use up a sequence, so that it waits for the clock.
sub load_behind
{
	my ($node, $sessions, $statement, $ids) = @_;
	my $settings = "SET snowdrift.max_clock_lead = '1h';\n" . (twenty_of(@calls) . ";\n") x 20;
	my $overflows = count_of($node, 'is over its capacity');
	my $load = start_load($node, $sessions, $statement, $settings);
	my $tries = 0;
	until (received_by_each($load) >= 400 || count_of($node, 'is over its capacity') > $overflows)
	{
		die 'a load makes no progress' if ++$tries > 36_000;
		usleep(5000);
	}
	set_clock($node, '+0');
	wait_for_load($load, $ids);
	return $load;
}

# end_load(LOAD): ends the sessions; returns the files of the IDs they received
sub end_load
{
	my ($load) = @_;
	for my $session (@$load)
	{
		eval { $session->{handle}->signal('TERM') };
		eval { $session->{handle}->finish };
	}
	return map { $_->{file} } @$load;
}

# duplicates(FILES...): the lines that occur more than once in the files, and the total number of lines
sub duplicates
{
	my (@files) = @_;
	my ($out, $error);
	# A killed session's last line may be incomplete, so only complete IDs count.
	IPC::Run::run([ 'grep', '-hxE', '[0-9]{17,19}|[0-9A-Z]{26}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[2-9a-x]{16}', @files ],
		'|', ['sort'], '>', "$files[0].all", '2>', \$error);
	IPC::Run::run([ 'uniq', '-d', "$files[0].all" ], '>', \$out);
	my ($lines) = `wc -l < $files[0].all` =~ /(\d+)/;
	return ($out, $lines);
}

# count_of(NODE, PATTERN): how often the pattern occurs in the server's log
sub count_of
{
	my ($node, $pattern) = @_;
	my @found = slurp_file($node->logfile) =~ /$pattern/g;
	return scalar @found;
}

1;
