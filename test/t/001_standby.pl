# A hot standby decodes IDs, but generates none until it is promoted.
use strict;
use warnings FATAL => 'all';
use Test::More;
use Snowdrift;
use PostgreSQL::Test::Cluster;

my $primary = new_server('primary', allows_streaming => 1);
$primary->start;
$primary->safe_psql('postgres',
	'CREATE EXTENSION snowdrift;
	 CREATE TABLE posts (id bigint PRIMARY KEY DEFAULT next_snowflake())');
$primary->safe_psql('postgres', 'INSERT INTO posts SELECT FROM generate_series(1, 100)');
$primary->backup('base');

my $standby = standby_of($primary, 'standby');
is($standby->safe_psql('postgres', 'SELECT count(snowflake_timestamp(id)) FROM posts'),
	100, 'a standby decodes IDs');

my $error = error_of($standby, 'SELECT next_snowflake()');
like($error, qr/ERROR:  25006: cannot generate IDs during recovery/, 'a standby raises an error');
like($error, qr/HINT:  Generate them on the primary server\./, '... with a hint');
like(error_of($standby, 'SELECT next_snowflakes(3)'), qr/25006/, '... also for many at once');

my $last = $primary->safe_psql('postgres', 'SELECT next_snowflake()');
$primary->stop('immediate');
$standby->promote;
cmp_ok($standby->safe_psql('postgres', 'INSERT INTO posts DEFAULT VALUES RETURNING id'),
	'>', $last, 'a promoted standby continues after the last ID');

done_testing();
