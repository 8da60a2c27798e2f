# When the disk is full and the mark cannot be raised, no ID is returned past it.
use strict;
use warnings FATAL => 'all';
use Test::More;
use Snowdrift;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

# A file system of its own, a few megabytes small, that ./dev mounts where it can.
my $small = $ENV{SNOWDRIFT_SMALL_DISK};
plan skip_all => 'needs a small file system in SNOWDRIFT_SMALL_DISK' unless $small && -d $small;

my $node = PostgreSQL::Test::Cluster->new('full');
$node->init(extra => [ '--waldir', "$small/wal", '--wal-segsize', '1' ]);
$node->append_conf('postgresql.conf', Snowdrift::extension_conf() . "min_wal_size = 2MB\n");
start_with_clock($node, '+0');
$node->safe_psql('postgres', 'CREATE EXTENSION snowdrift; CREATE TABLE filler AS SELECT 1 AS n');
my $load = start_load($node, 4, 'SELECT next_snowflake() FROM generate_series(1, 20)');
wait_for_load($load, 500);

# Fill the disk, and then the WAL that was still allocated.
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
