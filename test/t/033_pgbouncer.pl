# Behind PgBouncer in transaction mode, a client's transactions run in different sessions of the server. IDs are as
# without it.
use strict;
use warnings FATAL => 'all';
use Test::More;
use Snowdrift;
use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Time::HiRes qw(usleep);

my $program = (grep { -x } '/usr/sbin/pgbouncer', '/usr/bin/pgbouncer')[0];
plan skip_all => 'PgBouncer is not installed' if !defined $program;

# A server behind PgBouncer, as start_load() needs it
package Pooled
{
	sub new { my ($class, %self) = @_; return bless {%self}, $class }
	sub basedir { return $_[0]{folder} }
	sub connstr { return $_[0]{connection} }
}

my $node = new_server('pooled');
$node->start;
create_all_kinds($node);
create_tables($node);
my $folder = PostgreSQL::Test::Utils::tempdir_short();
my $port = PostgreSQL::Test::Cluster::get_free_port();
my $user = $node->safe_psql('postgres', 'SELECT current_user');
append_to_file("$folder/pgbouncer.ini",
	'[databases]' . "\npostgres = " . $node->connstr("postgres") . " user=$user\n"
	  . "[pgbouncer]\nlisten_addr =\nunix_socket_dir = $folder\nlisten_port = $port\n"
	  . "auth_type = any\npool_mode = transaction\ndefault_pool_size = 3\n");
my $bouncer = IPC::Run::start([ $program, '-q', "$folder/pgbouncer.ini" ], '<', \undef, '>', "$folder/log", '2>&1');
# A failed test ends it, too.
END { my $status = $?; $bouncer->kill_kill if defined $bouncer && $bouncer->pumpable; $? = $status }
my $pool = Pooled->new(folder => $folder, connection => "host=$folder port=$port user=$user dbname=postgres");

# through(STATEMENTS...): what one client receives; undefined if a statement fails
sub through
{
	my (@statements) = @_;
	my ($out, $error);
	my $done = IPC::Run::run(
		[ 'psql', '-X', '-A', '-t', '-q', '-v', 'ON_ERROR_STOP=1', '-d', $pool->connstr, map { ('-c', $_) } @statements ],
		'<', \undef, '>', \$out, '2>', \$error);
	return $done ? $out : undef;
}
my $tries = 0;
until (defined through('SELECT 1'))
{
	die 'PgBouncer accepts no connections: ' . slurp_file("$folder/log") if ++$tries > 300;
	usleep(100_000);
}

my $load = start_load($pool, 8, insert_all_kinds());
wait_for_load($load, 6_000);

# While other clients draw, a transaction runs in one session, and the next one possibly in another.
my @transaction = ('BEGIN', ('SELECT next_ulid(), pg_backend_pid()') x 5, 'COMMIT');
my (@last, %sessions);
my ($one_time, $ascending) = (1, 1);
for my $ids (map { [ split /\n/, $_ ] } map { through(@transaction) } 1 .. 20)
{
	my @ulids = map { (split /\|/)[0] } @$ids;
	$sessions{ (split /\|/)[1] } = 1 for @$ids;
	my %times = map { substr($_, 0, 10) => 1 } @ulids;
	$one_time = 0 if keys %times != 1 || @ulids != 5;
	$ascending = 0 if join(',', @last, @ulids) ne join(',', sort @last, @ulids);
	@last = ($ulids[-1]);
}
ok($one_time, 'all ULIDs of a transaction have one time');
ok($ascending, '... and later transactions have later ULIDs');
cmp_ok(scalar keys %sessions, '>', 1, '... in different sessions of the server');

my ($repeated, $count) = duplicates(end_load($load));
is($repeated, '', "$count IDs of 8 clients in 3 sessions: no duplicate");

$bouncer->signal('TERM');
$bouncer->finish;
$node->stop;
done_testing();
