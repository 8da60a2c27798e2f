# A cluster that Patroni manages, for the test of failovers: etcd and three members on local ports
package Patroni;

use strict;
use warnings FATAL => 'all';
use Exporter 'import';
use HTTP::Tiny;
use IPC::Run ();
use JSON::PP ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Snowdrift;
use Time::HiRes qw(time usleep);

our @EXPORT = qw(start_patroni_cluster start_member stop_member members leader standbys wait_for connection connection_to
  query patronictl patronictl_shell start_switchover postmaster_of patroni_of);

my $scope = 'app';
my $password = join('', map { sprintf('%08x', rand(2**32)) } 1 .. 4);
my (%members, $etcd, $sockets, $folder);

# Ends what this test has started, by process ID, also if it has failed. If the test is killed, the processes receive a
# signal from the kernel instead.
$SIG{$_} = sub { exit 1 } for 'INT', 'TERM';
END
{
	my $status = $?;
	eval { stop_member($_) } for members();
	eval { $etcd->kill_kill } if defined $etcd;
	$? = $status;
}

# start(LOG, COMMAND...): starts a process that ends when this test does. A session that waits for a synchronous standby
# reads the server's standard input after its postmaster was killed, so that must not be a pipe.
sub start
{
	my ($log, @command) = @_;
	return IPC::Run::start([ 'setpriv', '--pdeathsig', 'TERM', @command ], '<', '/dev/null', '>>', $log, '2>&1');
}

sub members { return sort keys %members }

# wait_for(WHAT, CONDITION): waits until the condition returns a true value, and returns it
sub wait_for
{
	my ($what, $condition) = @_;
	my $end = time + 10 * $PostgreSQL::Test::Utils::timeout_default;
	for (;; usleep(20_000))
	{
		my $value = $condition->();
		return $value if $value;
		die "timed out: $what" if time > $end;
	}
}

# start_patroni_cluster(ETCD): starts etcd and the members one, two and three, and waits for their standbys
sub start_patroni_cluster
{
	my ($program) = @_;
	$folder = PostgreSQL::Test::Utils::tempdir();
	$sockets = PostgreSQL::Test::Utils::tempdir_short();
	my ($client_port, $peer_port) = map { PostgreSQL::Test::Cluster::get_free_port() } 1 .. 2;
	my ($client, $peer) = map { "http://127.0.0.1:$_" } $client_port, $peer_port;
	$etcd = start("$folder/etcd.log", $program, '--data-dir', "$folder/etcd",
		'--listen-client-urls', $client, '--advertise-client-urls', $client, '--listen-peer-urls', $peer,
		'--initial-advertise-peer-urls', $peer, '--initial-cluster', "default=$peer");
	append_to_file("$folder/extension.conf", Snowdrift::extension_conf());
	write_configuration($_, $client_port) for 'one', 'two', 'three';
	start_member('one');
	wait_for('the first member', \&leader);
	start_member($_) for 'two', 'three';
	wait_for('standbys', sub { standbys() == 2 });
	return;
}

# write_configuration(MEMBER, PORT OF ETCD). YAML contains JSON.
sub write_configuration
{
	my ($name, $etcd_port) = @_;
	my ($port, $api_port) = map { PostgreSQL::Test::Cluster::get_free_port() } 1 .. 2;
	my $own = $members{$name} = { port => $port, api => "127.0.0.1:$api_port", data => "$folder/$name", file => "$folder/$name.yml" };
	my ($psql) = grep { -x "$_/psql" } split /:/, $ENV{PATH};
	my %configuration = (
		scope => $scope,
		name => $name,
		restapi => {
			listen => $own->{api},
			connect_address => $own->{api},
			authentication => { username => 'api', password => $password }
		},
		etcd3 => { hosts => ["127.0.0.1:$etcd_port"] },
		bootstrap => {
			dcs => {
				ttl => 20,
				loop_wait => 1,
				retry_timeout => 3,
				primary_start_timeout => 0,    # fail over instead of restarting a crashed primary
				synchronous_mode => JSON::PP::true,
				postgresql => { use_pg_rewind => JSON::PP::true }
			},
			initdb => [ { encoding => 'UTF8' }, { 'auth-local' => 'trust' }, { 'auth-host' => 'scram-sha-256' } ]
		},
		postgresql => {
			listen => "127.0.0.1:$port",
			connect_address => "127.0.0.1:$port",
			data_dir => $own->{data},
			bin_dir => $psql,
			custom_conf => "$folder/extension.conf",
			pgpass => "$folder/$name.pgpass",
			authentication => {
				superuser => { username => 'postgres', password => $password },
				replication => { username => 'replicator', password => $password }
			},
			pg_hba => [
				'local all all trust',
				'host all all 127.0.0.1/32 scram-sha-256',
				'host replication replicator 127.0.0.1/32 scram-sha-256'
			],
			parameters => { unix_socket_directories => $sockets }
		},
		watchdog => { mode => 'off' });
	append_to_file($own->{file}, JSON::PP->new->canonical->encode(\%configuration));
	chmod 0600, $own->{file};
	return;
}

sub start_member
{
	my ($name) = @_;
	$members{$name}{process} = start("$folder/$name.log", 'patroni', $members{$name}{file});
	return;
}

# patroni_of(MEMBER), postmaster_of(MEMBER): process IDs
sub patroni_of { return $members{ $_[0] }{process}{KIDS}[0]{PID} }

sub postmaster_of
{
	my ($name) = @_;
	my ($pid) = eval { slurp_file("$members{$name}{data}/postmaster.pid") =~ /^(\d+)$/m };
	return $pid;
}

# stop_member(NAME): ends Patroni, which may have ended before, and the server
sub stop_member
{
	my ($name) = @_;
	my $process = delete $members{$name}{process};
	if (defined $process)
	{
		eval { $process->signal('KILL') };
		eval { $process->finish };
	}
	my $postmaster = postmaster_of($name);
	system_log('pg_ctl', '-D', $members{$name}{data}, '-m', 'immediate', '-w', 'stop') if $postmaster && kill(0, $postmaster);
	return;
}

# cluster_state(): the members as Patroni sees them, each with its name, role, state and timeline
sub cluster_state
{
	my $http = HTTP::Tiny->new(timeout => 3);
	for my $name (grep { defined $members{$_}{process} } members())
	{
		my $answer = $http->get("http://$members{$name}{api}/cluster");
		return @{ JSON::PP::decode_json($answer->{content})->{members} } if $answer->{success};
	}
	return ();
}

# leader(): the name of the leader, if it runs
sub leader
{
	my ($leader) = grep { $_->{role} eq 'leader' && $_->{state} eq 'running' } cluster_state();
	return $leader && $leader->{name};
}

# standbys(ROLE): the names of the standbys that follow the leader's timeline, or of those with this role
sub standbys
{
	my ($role) = @_;
	my @state = cluster_state();
	my ($leader) = grep { $_->{role} eq 'leader' && $_->{state} eq 'running' } @state or return ();
	return map { $_->{name} }
	  grep { $_ != $leader && $_->{state} =~ /^(running|streaming)$/ && ($_->{timeline} // 0) == $leader->{timeline}
		  && (!defined $role || $_->{role} eq $role) } @state;
}

# connection(): the connection string of clients that look for the primary
sub connection
{
	my @members = members();
	return "dbname=postgres user=postgres target_session_attrs=read-write host=" . join(',', map { $sockets } @members)
	  . ' port=' . join(',', map { $members{$_}{port} } @members);
}

# connection_to(MEMBER): the connection string of clients that connect to one member
sub connection_to { return "dbname=postgres user=postgres host=$sockets port=$members{$_[0]}{port}" }

# query(CONNECTION, STATEMENTS...): the output and the error
sub query
{
	my ($connection, @statements) = @_;
	my ($out, $error);
	IPC::Run::run(
		[ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-v', 'VERBOSITY=verbose', '-d', $connection, map { ('-c', $_) } @statements ],
		'<', \undef, '>', \$out, '2>', \$error);
	chomp $out;
	return ($out, $error);
}

# patronictl(ARGUMENTS...): the output
sub patronictl
{
	my (@arguments) = @_;
	my ($file) = map { $members{$_}{file} } members();
	my $done = IPC::Run::run([ 'patronictl', '-c', $file, @arguments ], '<', \undef, '>', \my $out, '2>', \my $error);
	die "patronictl @arguments: $out$error" if !$done;
	return $out;
}

# patronictl_shell(COMMANDS): runs commands that call patronictl, and confirms what it asks
sub patronictl_shell
{
	my ($commands) = @_;
	local $ENV{PATRONICTL_CONFIG_FILE} = (map { $members{$_}{file} } members())[0];
	my $done = IPC::Run::run([ 'sh', '-e', '-c', $commands ], '<', \"y\n", '>', \my $out, '2>', \my $error);
	die "$commands: $out$error" if !$done;
	return;
}

# start_switchover(LEADER, CANDIDATE): requests it without waiting for it
sub start_switchover
{
	my ($leader, $candidate) = @_;
	my $script = 'use HTTP::Tiny; my $answer = HTTP::Tiny->new->post($ENV{PATRONI_URL}, { content => $ARGV[0] });
		print "$answer->{status} $answer->{content}\n"';
	local $ENV{PATRONI_URL} = "http://api:$password\@$members{$leader}{api}/switchover";    # ps shows no password
	return start("$folder/switchover.log", $^X, '-e', $script, JSON::PP::encode_json({ leader => $leader, candidate => $candidate }));
}

1;
