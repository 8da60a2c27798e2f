# No ID is repeated on a server restored from a base backup, by point-in-time recovery or from a dump.
use strict;
use warnings FATAL => 'all';
use Test::More;
use Snowdrift;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

my $draw = draw_all_kinds();

my $origin = new_server('origin', allows_streaming => 1, has_archiving => 1);
start_with_clock($origin, '+0');
create_all_kinds($origin);
$origin->safe_psql('postgres', 'CREATE TABLE posts (id bigint PRIMARY KEY DEFAULT next_snowflake())');

my $load = start_load($origin, 4, $draw);
wait_for_load($load, 1000);
$origin->backup('base');
wait_for_load($load, 3000);
my ($witness, $moment) = witness($origin);
my @files = ($witness, end_load($load));
$origin->safe_psql('postgres', 'INSERT INTO posts SELECT FROM generate_series(1, 1000)');
my $target = $origin->safe_psql('postgres', 'SELECT pg_create_restore_point($$here$$)');
my $segment = $origin->safe_psql('postgres', "SELECT pg_walfile_name('$target')");
$origin->safe_psql('postgres', 'SELECT pg_switch_wal()');
$origin->poll_query_until('postgres',
	"SELECT last_archived_wal >= '$segment' FROM pg_stat_archiver")
  or die 'the WAL is not archived';

# Point-in-time recovery, with a clock that is behind
my $recovered = PostgreSQL::Test::Cluster->new('recovered');
$recovered->init_from_backup($origin, 'base', has_restoring => 1, standby => 0);
$recovered->append_conf('postgresql.conf',
	"recovery_target_name = 'here'\nrecovery_target_action = promote\n");
start_with_clock($recovered, '-30');
$recovered->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()')
  or die 'recovery does not end';
is($recovered->safe_psql('postgres', 'SELECT count(*) FROM posts'), 1000, 'the server is recovered');
set_clock($recovered, $moment);
$load = load_behind($recovered, 4, $draw, 2000);
my @after = end_load($load);
my ($repeated, $count) = duplicates(@files, @after);
is($repeated, '', "$count IDs around a point-in-time recovery: no duplicate");
$recovered->stop;

# A dump.
my $dump = $origin->basedir . '/dump.sql';
command_ok([ 'pg_dump', '-d', $origin->connstr('postgres'), '-f', $dump ], 'the database is dumped');
my $restored = new_server('restored');
start_with_clock($restored, '-30');
# The dump's mark also counts if the extension exists and has issued IDs.
$restored->safe_psql('postgres', 'CREATE EXTENSION snowdrift; SELECT next_snowflake()');
command_ok(
	[ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', $restored->connstr('postgres'), '-f', $dump ],
	'... and restored');
my $last = $origin->safe_psql('postgres', 'SELECT max(id) FROM posts');
cmp_ok($restored->safe_psql('postgres', 'INSERT INTO posts DEFAULT VALUES RETURNING id'),
	'>', $last, 'the next ID is greater than all dumped ones');
set_clock($restored, $moment);
$load = load_behind($restored, 4, $draw, 2000);
($repeated, $count) = duplicates(@files, end_load($load));
is($repeated, '', "$count IDs before a dump and after it: no duplicate");
$restored->stop;
$origin->stop;

done_testing();
