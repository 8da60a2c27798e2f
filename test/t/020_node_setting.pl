# A value of snowdrift.node that PostgreSQL rejects when the library is loaded does not give a server another
# number: it has none until the setting is valid.
use strict;
use warnings FATAL => 'all';
use Test::More;
use Snowdrift;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

my $server = new_server('numbered');
$server->append_conf('postgresql.conf', "snowdrift.node = '7'\n");
$server->start;
$server->safe_psql('postgres', 'CREATE EXTENSION snowdrift; CREATE ROLE someone LOGIN');
my $worker = 'SELECT snowflake_worker(next_snowflake())';
my $no_number = qr/ERROR:  55000: this server has no number for its IDs.*but a value that was set was rejected/s;
is($server->safe_psql('postgres', $worker), '7', 'the number in the configuration');

# A role that may not set it.
{
	local $ENV{PGOPTIONS} = '-c snowdrift.node=99';
	local $ENV{PGUSER} = 'someone';
	like(error_of($server, $worker), $no_number, 'a role that may not set the number gets no other one');
	like(error_of($server, 'SELECT next_sno()'), $no_number, '... for snos either');
}
{
	local $ENV{PGOPTIONS} = '-c snowdrift.node=99';
	is($server->safe_psql('postgres', $worker), '3', 'a role that may set it gets the number: 99 is 3 * 32 + 3');
}

# Invalid values, set before the library is loaded.
$server->safe_psql('postgres', q{ALTER DATABASE postgres SET snowdrift.node = 'typo'});
like(error_of($server, $worker), $no_number, 'an invalid value for the database');
like(error_of($server, "SET snowdrift.node = 'auto'; RESET snowdrift.node; $worker"), $no_number, '... also after RESET');
is($server->safe_psql('postgres', "SET client_min_messages = error; LOAD 'snowdrift'; SET snowdrift.node = 5; $worker"),
	'5', '... until a valid value is set');
is($server->safe_psql('postgres', 'SELECT number IS NULL, detail FROM snowdrift.node'),
	't|a value that was set was rejected', '... which the view shows');
$server->safe_psql('postgres', 'ALTER DATABASE postgres RESET snowdrift.node');

$server->append_conf('postgresql.conf', "snowdrift.node = '7x'\nshared_preload_libraries = 'snowdrift'\n");
$server->restart;
like(error_of($server, $worker), $no_number, 'an invalid value in the configuration of a server that preloads the library');
$server->append_conf('postgresql.conf', "snowdrift.node = '9'\n");
$server->reload;
$server->poll_query_until('postgres', q{SELECT number = 9 FROM snowdrift.node}) or die 'no number';
is($server->safe_psql('postgres', $worker), '9', '... until it is corrected');
$server->stop;

done_testing();
