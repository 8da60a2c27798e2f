# When the disk is full and the mark cannot be advanced, no later ID is returned.
use strict;
use warnings FATAL => 'all';
use Test::More;
use Snowdrift;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

# A file system of a few megabytes. ./dev mounts it if possible.
my $small = $ENV{SNOWDRIFT_SMALL_DISK};
plan skip_all => 'needs a small file system in SNOWDRIFT_SMALL_DISK' unless $small && -d $small;

my $node = PostgreSQL::Test::Cluster->new('full');
$node->init(extra => [ '--waldir', "$small/wal", '--wal-segsize', '1' ]);
$node->append_conf('postgresql.conf', Snowdrift::extension_conf() . "min_wal_size = 2MB\n");
start_with_clock($node, '2026-06-01 12:00:00');
$node->safe_psql('postgres', 'CREATE EXTENSION snowdrift; CREATE TABLE filler AS SELECT 1 AS n');

$node->safe_psql('postgres', 'SELECT next_snowflake()');
fill_disk($node, $small);
set_clock($node, '2026-06-01 12:00:02');    # little of the lease is left, so the mark would be advanced ahead of need
like(error_of($node, 'SELECT next_snowflake()'), qr/^no error/, 'IDs up to the mark are issued');
set_clock($node, '2026-06-01 12:00:05');
my $full = error_of($node, 'SELECT next_snowflake()');
like($full, qr/ERROR:  53100: could not advance the ID mark: No space left on device/,
	'a later ID is an error');
is(read_views($node), '0|could not advance the ID mark: No space left on device|1|4|0', '... that snowdrift.clock shows');
is($node->safe_psql('postgres', 'SET wal_init_zero = off; SELECT detail IS NULL FROM snowdrift.clock'), 't',
	'... unless PostgreSQL does not fill new WAL files');
like($full, qr/DETAIL:  The mark is written through WAL file "pg_wal\/\w+"/, '... whose detail names the file');
like($full, qr/HINT:  Free space on this file's disk/, '... and whose hint says what to do');
$node->stop;
start_with_clock($node, '2026-06-01 12:00:05');
fill_disk($node, $small);
is(read_views($node), '0|could not advance the ID mark: No space left on device|1|4|0', '... also after a restart, before the first ID');
unlink "$small/full";
is(read_views($node), '0||1|4|0', '... until the disk has space again');
like(error_of($node, 'SELECT next_snowflake()'), qr/^no error/, '... and later IDs are issued');

# The disk fills up under load.
set_clock($node, '+0');
my $load = start_load($node, 4, 'SELECT next_snowflake() FROM generate_series(1, 20)');
wait_for_load($load, 500);

# PostgreSQL panics when another write fails.
system("dd if=/dev/zero of=$small/full bs=64k 2>/dev/null");
my ($status, $out, $error) = $node->psql('postgres',
	'INSERT INTO filler SELECT generate_series(1, 10000000)');
isnt($status, 0, 'the disk is full');
$node->wait_for_log(qr/PANIC:.*No space left on device/) if $node->can('wait_for_log');
my @files = end_load($load);
$node->stop('immediate', fail_ok => 1);

unlink "$small/full";
start_with_clock($node, '-10');
$load = start_load($node, 4, 'SELECT next_snowflake() FROM generate_series(1, 20)');
wait_for_load($load, 500);
my ($repeated, $count) = duplicates(@files, end_load($load));
is($repeated, '', "$count IDs until the disk was full and after it: no duplicate");
$node->stop;

done_testing();
