# Failovers by Patroni while clients draw IDs. No ID is repeated: after a switchover, a crashed server or a lost node in
# synchronous mode, and beside a primary whose Patroni process has died. A number that is set with the statements of
# docs/many-servers.md survives. The test prints how long clients wait, and asserts no times. ./dev test --long runs it.
use strict;
use warnings FATAL => 'all';
use Test::More;
use IPC::Run ();
use PostgreSQL::Test::Utils;
use Snowdrift;
use Time::HiRes qw(time usleep);

BEGIN
{
	plan skip_all => 'runs only with --long' if !$ENV{SNOWDRIFT_LONG};
	plan skip_all => "needs Debian's packages patroni and etcd-server" if !$ENV{SNOWDRIFT_ETCD};
}
use Patroni;

# ---- clients ------------------------------------------------------------------------------------------

my $folder = PostgreSQL::Test::Utils::tempdir();
my $clients = 0;

# start_client(CONNECTION, STATEMENTS): repeats the statements, and connects again after each error. Keeps all that it
# receives.
sub start_client
{
	my ($connection, $statements) = @_;
	my $file = "$folder/ids." . ++$clients;
	append_to_file("$file.sql", "\\echo\n" . "$statements;\n" x 500);
	append_to_file($file, '');
	my $handle = IPC::Run::start(
		[
			'setpriv', '--pdeathsig', 'KILL', 'sh', '-c', <<'SH', $file, $connection ]);
while :; do
	setpriv --pdeathsig TERM psql -XAtq -v ON_ERROR_STOP=1 -v VERBOSITY=verbose -d "$1" -f "$0.sql" >>"$0" 2>>"$0.errors" ||
		sleep 0.1
done
SH
	return { handle => $handle, file => $file };
}

# end_clients(CLIENTS...): the files of what they have received
sub end_clients
{
	my (@ended) = @_;
	eval { $_->{handle}->kill_kill } for @ended;
	return map { $_->{file} } @ended;
}

# receives(CLIENT): waits until the client has received more
sub receives
{
	my ($client) = @_;
	my $size = -s $client->{file};
	wait_for("IDs in $client->{file}", sub { -s $client->{file} > $size + 10_000 });
	return;
}

# ---- the cluster --------------------------------------------------------------------------------------

start_patroni_cluster($ENV{SNOWDRIFT_ETCD});
my ($out, $error) = query(connection(), <<'SQL');
CREATE EXTENSION snowdrift;
SELECT snowdrift.create_generator('own', 'snowflake', worker => 9);
SELECT snowdrift.create_generator('own sno', 'sno', partition => 9);
CREATE TABLE posts (id bigint PRIMARY KEY DEFAULT next_snowflake(), x int);
CREATE TABLE pages (id sno PRIMARY KEY DEFAULT next_sno(), x int);
SQL
is($error, '', 'the extension is created');

# Draws of all kinds, and rows in a transaction of their own and in one block. The pauses leave processor time to the servers.
my $load = join(";\n", draw_all_kinds(), 'INSERT INTO posts DEFAULT VALUES RETURNING id', 'BEGIN',
	'INSERT INTO posts SELECT next_snowflake() FROM generate_series(1, 50) RETURNING id',
	'INSERT INTO pages SELECT next_sno() FROM generate_series(1, 50) RETURNING id', 'COMMIT', 'SELECT pg_sleep(0.02)');

# Some clients look for the primary. The others stay with one member, and receive errors while it is a standby.
my @seeking = map { start_client(connection(), $load) } 1 .. 3;
my %staying = map { $_ => start_client(connection_to($_), $load) } members();
my @probes;

# ---- failovers ----------------------------------------------------------------------------------------

my %faults = (
	'switchover' => sub { start_switchover(@_) },
	'kill -9 of the postmaster' => sub { kill 'KILL', postmaster_of($_[0]) },
	'lost node' => sub { kill 'KILL', patroni_of($_[0]), postmaster_of($_[0]) },
	'kill -9 of Patroni' => sub { kill 'KILL', patroni_of($_[0]) });
my %times;

sub is_settled { return standbys() == 2 && standbys('sync_standby') == 1 }

# fail_over(FAULT): waits until the cluster is complete, causes the fault, and measures the times until a client reaches
# another primary and receives an ID. Returns the old and the new leader.
sub fail_over
{
	my ($fault) = @_;
	wait_for('a synchronous standby', \&is_settled);
	receives($_) for @seeking;
	my ($old, $new) = (leader(), standbys('sync_standby'));
	my $start = time;
	my $process = $faults{$fault}->($old, $new);
	my $elapsed = sub { return sprintf('%.2f', time - $start) };
	# Not through connection(), which can find a primary whose Patroni process has died
	wait_for('the new primary', sub { (query(connection_to($new), 'SELECT pg_is_in_recovery()'))[0] eq 'f' });
	my $reached = $elapsed->();
	push @probes, wait_for('an ID', sub { (query(connection_to($new), 'SELECT next_snowflake()'))[0] });
	my $drawn = $elapsed->();
	receives($staying{$new});
	note("$fault, $old to $new: new primary after $reached s, first ID after $drawn s");
	push @{ $times{$fault} }, [ $reached, $drawn ];
	return ($old, $new);
}

# restart(MEMBER): starts a member again that has lost its Patroni process
sub restart
{
	stop_member($_[0]);
	start_member($_[0]);
	return;
}

sub number_of { return (query(connection(), 'SELECT number, source FROM snowdrift.node', 'SELECT snowflake_worker(next_snowflake())'))[0] }

for my $round (1 .. 10)
{
	my $fault = ('switchover', 'kill -9 of the postmaster', 'lost node')[ ($round - 1) % 3 ];
	my ($old, $new) = fail_over($fault);
	restart($old) if $fault eq 'lost node';
	is(number_of(), $round <= 5 ? "0|auto\n0" : "7|7\n7", "failover $round, $fault: the number");
	next if $round != 5;

	# The statements of the page
	my ($section) = slurp_file('docs/many-servers.md') =~ /^## Patroni\n(.*?)^## /ms;
	my ($yaml) = $section =~ /^```yaml\n(.*?)^```/ms;
	my ($shell) = $section =~ /^```sh\n(.*?)^```/ms;
	patronictl_shell($shell);
	like(patronictl('show-config'), qr/^\Q$yaml\E/m, 'edit-config adds the lines of the page');
	wait_for('the number', sub { 3 == grep { (query(connection_to($_), 'SELECT number, source FROM snowdrift.node'))[0] eq '7|7' } members() });
}

# ---- a primary whose Patroni process has died ---------------------------------------------------------

my ($old, $new) = fail_over('kill -9 of Patroni');
is((query(connection_to($old), 'SELECT pg_is_in_recovery()'))[0], 'f', 'without its Patroni process, the old primary continues');
wait_for('the end of its IDs', sub {
	(query(connection_to($old), "SET statement_timeout = '200ms'", 'SELECT next_snowflake()'))[1]
	  =~ /57014: canceling.*CONTEXT:  while waiting for a synchronous standby to confirm the ID mark/s });
pass('... in synchronous mode, it issues no further IDs');
receives($staying{$new});

my @files = end_clients(@seeking, values %staying);
append_to_file("$folder/probes", join("\n", @probes) . "\n");
my ($repeated, $count) = duplicates(@files, "$folder/probes");
is($repeated, '', "$count IDs before and after all failovers: no duplicate");

my %errors;
$errors{$_}++ for map { slurp_file("$_.errors") =~ /(?:ERROR|FATAL|PANIC):  (\w{5}: .*)/g } grep { -e "$_.errors" } @files;
note("$errors{$_} times: $_") for sort keys %errors;
is(join("\n", grep { !/^(25006|57P0[123]): / } sort keys %errors), '', 'clients receive only errors of standbys and of lost connections');

# ---- the same without synchronous mode ----------------------------------------------------------------

restart($old);
patronictl('edit-config', '--force', '-s', 'synchronous_mode=false');
wait_for('asynchronous standbys', sub { standbys() == 2 && !standbys('sync_standby') });
($old) = leader();
kill 'KILL', patroni_of($old);
wait_for('another leader', sub { (leader() // $old) ne $old });
$new = leader();
my $draw = 'SELECT next_snowflake() FROM generate_series(1, 1000); SELECT pg_sleep(0.01)';
my @both = map { start_client(connection_to($_), $draw) } $old, $new;
ok( wait_for('a duplicate', sub { (duplicates(map { $_->{file} } @both))[0] }),
	'without synchronous mode, a primary without its Patroni process repeats IDs of the new one');
end_clients(@both);
query(connection_to($old), q{LOAD 'snowdrift'}, 'ALTER SYSTEM SET snowdrift.node = 8', 'SELECT pg_reload_conf()');
wait_for('its number', sub { (query(connection_to($old), 'SELECT number FROM snowdrift.node'))[0] eq '8' });
@both = map { start_client(connection_to($_), $draw) } $old, $new;
receives($_) for (@both) x 50;
($repeated, $count) = duplicates(end_clients(@both));
is($repeated, '', "... unless it has another number: $count IDs");

# ---- the times ----------------------------------------------------------------------------------------

for my $fault (sort keys %times)
{
	my @ranges = map { my $phase = $_; my @sorted = sort { $a <=> $b } map { $_->[$phase] } @{ $times{$fault} }; "$sorted[0] to $sorted[-1] s" } 0, 1;
	note("measured: $fault: " . @{ $times{$fault} } . " times, new primary after $ranges[0], first ID after $ranges[1]");
}
done_testing();
