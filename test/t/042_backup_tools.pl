# pgBackRest and Barman restore a server to a time into another folder, as docs/many-servers.md describes. Beside its source,
# the restored server needs a number of its own: without one, it draws IDs of its source. In place of its source, it needs
# the source's number.
use strict;
use warnings FATAL => 'all';
use Test::More;
use Snowdrift;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

BEGIN { plan skip_all => 'runs only with --long' if !$ENV{SNOWDRIFT_LONG} }

my $folder = PostgreSQL::Test::Utils::tempdir();
$ENV{PGBACKREST_CONFIG} = "$folder/pgbackrest.conf";
my $source = new_server('source', allows_streaming => 1);
# The source has a number, in its configuration file, which a backup does not contain on Debian.
my $number = "snowdrift.node = '7'\n";
# Barman 3.13 waits for the file of a restore point that it creates after a backup.
$source->append_conf('postgresql.conf', "wal_level = replica\narchive_mode = on\narchive_timeout = 1s\n$number");

# tool(COMMAND...): the output of a backup tool's command. try(COMMAND...): its status and output
sub tool
{
	my ($ok, $output) = try(@_);
	return $ok ? $output : die "@_: $output";
}

sub try
{
	my $ok = IPC::Run::run([@_], '<', \undef, '>&', \my $output);
	return ($ok, $output);
}

# missing(NAME, PACKAGE): why a tool cannot be used. It is an error if ./dev has installed the package.
sub missing
{
	my ($name, $package) = @_;
	die "$package is installed, but $name is not found" if ($ENV{SNOWDRIFT_BACKUP_TOOLS} // '') =~ /^\Q$package\E$/m;
	return "needs $name, found none";
}

# set_up_pgbackrest(), set_up_barman(): configure the tool for the source, which is running. They return why the tool cannot
# be used, or nothing and the command that archives a WAL file.
sub set_up_pgbackrest
{
	return missing('pgBackRest', 'pgbackrest') unless grep { -x "$_/pgbackrest" } split /:/, $ENV{PATH};
	append_to_file("$folder/pgbackrest.conf",
		"[global]\nrepo1-path=$folder/pgbackrest\nlog-path=$folder\nlock-path=$folder/lock\nspool-path=$folder\n"
		  . "start-fast=y\nlog-level-file=off\n[app]\npg1-path=" . $source->data_dir
		  . "\npg1-port=" . $source->port . "\npg1-socket-path=" . $source->host . "\n");
	my ($ok, $output) = try(qw(pgbackrest --stanza=app stanza-create));
	return ('', 'pgbackrest --stanza=app archive-push %p') if $ok;
	return 'needs a pgBackRest that supports PostgreSQL ' . $source->pg_version
	  if $output =~ /is this version of PostgreSQL supported/;
	die $output;
}

sub set_up_barman
{
	my @barman = qw(/usr/bin/python3 -m barman.cli);    # ./dev installs only the library
	return missing('Barman', 'python3-barman') unless (try(@barman, '--version'))[0];
	mkdir $_ or die "$_: $!" for map { "$folder/$_" } 'bin', 'barman', 'barman/app', 'barman/app/incoming';
	my ($user) = getpwuid $>;
	my $dsn = $source->connstr('postgres');
	append_to_file("$folder/barman.conf",
		"[barman]\nbarman_user = $user\nbarman_home = $folder/barman\n[app]\ndescription = app\nconninfo = $dsn\n"
		  . "streaming_conninfo = $dsn\nbackup_method = postgres\nimmediate_checkpoint = true\narchiver = on\n");
	append_to_file("$folder/bin/barman", "#!/bin/sh\nexec @barman -c $folder/barman.conf \"\$@\"\n");
	chmod 0755, "$folder/bin/barman" or die $!;
	$ENV{PATH} = "$folder/bin:$ENV{PATH}";
	return ('', "cp %p $folder/barman/app/incoming/%f");
}

my %set_up = (pgbackrest => \&set_up_pgbackrest, barman => \&set_up_barman);
my %own_number = (pgbackrest => 8, barman => 9);

# The commands of the page: a backup, and its restore into a folder, to the state of a time. Without the action "promote", the
# server stays in recovery.
my %back_up = (
	pgbackrest => sub {
		tool(qw(pgbackrest --stanza=app backup));
	},
	barman => sub {
		tool(qw(barman switch-wal --force --archive app));
		tool(qw(barman backup --wait --wait-timeout 180 app));
	});
my %restore = (
	pgbackrest => sub {
		my ($into, $time, @action) = @_;
		mkdir $into, 0700 or die "$into: $!";
		tool(qw(pgbackrest --stanza=app), "--pg1-path=$into", '--type=time', "--target=$time",
			(map { "--target-action=$_" } @action), qw(--archive-mode=off restore));
	},
	barman => sub {
		my ($into, $time, @action) = @_;
		my ($backup) = tool(qw(barman list-backup --minimal app)) =~ /(\w+)/;
		tool(qw(barman recover --target-time), $time, (map { ('--target-action', $_) } @action), 'app', $backup, $into);
		append_to_file("$into/postgresql.auto.conf", "archive_mode = 'off'\n");
	});

# restored(TOOL, NAME, TIME, ACTION): a server that the tool has restored to this time. It is not started.
sub restored
{
	my ($tool, $name, $time, @action) = @_;
	my $node = PostgreSQL::Test::Cluster->new("${tool}_$name");
	$restore{$tool}->($node->data_dir, $time, @action);
	$node->append_conf('postgresql.conf', 'port = ' . $node->port . "\n");
	return $node;
}

# wait_until(NODE, CONDITION): waits until the condition is true on the server
sub wait_until
{
	my ($node, $condition) = @_;
	$node->poll_query_until('postgres', "SELECT $condition") or die "it is never true that $condition";
	return;
}

# draw(NODES...): draws IDs of each kind on all of the servers at the same time; returns the files with the IDs
my $draw = join ';', map { "SELECT $_ FROM generate_series(1, 20)" } 'next_snowflake()', 'next_sno()', 'next_ulid()', 'next_uuidv7()';

sub draw
{
	my @loads = map { start_load($_, 2, $draw) } @_;
	wait_for_load($_, 2000) for @loads;
	return map { end_load($_) } @loads;
}

start_with_clock($source, '+0');
$source->safe_psql('postgres',
	'CREATE EXTENSION snowdrift; CREATE TABLE posts (id bigint PRIMARY KEY DEFAULT next_snowflake(), body text)');
my (@tools, @archive, @missing);
foreach my $tool (sort keys %set_up)
{
	my ($missing, $command) = $set_up{$tool}->();
	if ($missing)
	{
		push @missing, "$tool $missing";
		next;
	}
	push @tools, $tool;
	push @archive, $command;
}
if (!@tools)
{
	$source->stop;
	plan skip_all => join '; ', @missing;
}
for my $reason (@missing)
{
  SKIP: { skip $reason, 1 }
}
$source->append_conf('postgresql.conf', "archive_command = '" . join(' && ', @archive) . "'\n");
$source->reload;
$back_up{$_}->() for @tools;
my @of_source = draw($source);
my $backed_up = $source->safe_psql('postgres', q{INSERT INTO posts (body) VALUES ('before') RETURNING date_trunc('second', clock_timestamp())});
# pgBackRest restores a backup that ended in an earlier second.
wait_until($source, "clock_timestamp() >= '$backed_up'::timestamptz + interval '1 s'");
my $time = $source->safe_psql('postgres', 'SELECT clock_timestamp()');
my $segment = $source->safe_psql('postgres',
	q{INSERT INTO posts (body) VALUES ('after'); SELECT pg_walfile_name(pg_switch_wal())});
wait_until($source, "(SELECT last_archived_wal >= '$segment' FROM pg_stat_archiver)");

foreach my $tool (@tools)
{
	my $beside = restored($tool, 'beside', $time, 'promote');
	$beside->append_conf('postgresql.auto.conf', "snowdrift.node = '$own_number{$tool}'\n");
	start_with_clock($beside, '+0');
	wait_until($beside, 'NOT pg_is_in_recovery()');
	is($beside->safe_psql('postgres', 'SELECT body FROM posts'), 'before', "$tool restores the server to a time");
	is($beside->safe_psql('postgres', 'SELECT number, detail FROM snowdrift.node'), "$own_number{$tool}|server configuration", '... with a number of its own');
	is($beside->safe_psql('postgres', 'SHOW archive_mode'), 'off', '... and without archiving into the archive of its source');
	my ($repeated, $count) = duplicates(@of_source, my @both = draw($source, $beside));
	is($repeated, '', "... $count IDs of both: no duplicate");
	push @of_source, @both;
	$beside->stop;
}
$source->stop;

my %successors;
foreach my $tool (@tools)
{
	my $successor = restored($tool, 'successor', $time);
	my $conf = $successor->data_dir . '/postgresql.conf';
	my $restored = slurp_file($conf) =~ s/^\Q$number\E//mr;
	unlink $conf;
	append_to_file($conf, $restored);
	start_with_clock($successor, '+0');
	wait_until($successor, q{pg_get_wal_replay_pause_state() = 'paused'});
	like(error_of($successor, 'SELECT next_snowflake()'), qr/25006: /, "a server that $tool does not promote is in recovery");
	$successor->safe_psql('postgres', 'SELECT pg_wal_replay_resume()');
	wait_until($successor, 'NOT pg_is_in_recovery()');
	like(error_of($successor, 'SELECT next_snowflake()'), qr/55000: .*\n.*no longer has the configured number 7/,
		'... without its number, it raises an error when it is promoted');
	$successor->append_conf('postgresql.auto.conf', $number);
	$successor->reload;
	wait_until($successor, '(SELECT number = 7 FROM snowdrift.node)');
	my ($repeated, $count) = duplicates(@of_source, draw($successor));
	is($repeated, '', "... with it, the server replaces its source: $count IDs, no duplicate");
	$successor->stop;
	$successors{$tool} = $successor;
}

# Beside its source, such a server draws the same IDs.
start_with_clock($source, '+0');
foreach my $tool (@tools)
{
	my $copy = $successors{$tool};
	start_with_clock($copy, '+0');
	my $later = $source->safe_psql('postgres', q{SELECT to_char((clock_timestamp() + interval '20 s') AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.MS')});
	set_clock($_, $later) for $source, $copy;
	my @drawn = map { $_->safe_psql('postgres', 'SELECT next_snowflake() FROM generate_series(1, 3)') } $source, $copy;
	is($drawn[0], $drawn[1], "with the number of its source, the server that $tool restored repeats IDs");
	set_clock($_, '+0') for $source, $copy;
	$copy->stop;
}
$source->stop;

done_testing();
