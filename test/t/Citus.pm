# Shared code of the TAP tests with Citus: a coordinator and two workers with Snowdrift
package Citus;

use strict;
use warnings FATAL => 'all';
use Exporter 'import';
use Test::More;
use Snowdrift;
use PostgreSQL::Test::Utils;

our @EXPORT = qw(need_citus citus_server address start_cluster script);

# citus_version(): the version of Citus that is installed for this PostgreSQL; 0 if none is
sub citus_version
{
	chomp(my $share = `pg_config --sharedir`);
	my $control = "$share/extension/citus.control";
	return -f $control && slurp_file($control) =~ /^default_version = '([0-9.]+)/m ? $1 : 0;
}

# need_citus(): skips the test if there is no Citus with all that the tests need. Only ./dev matrix 17 installs Citus.
sub need_citus
{
	my $citus = citus_version();
	plan skip_all => 'needs Citus 14 or later, found ' . ($citus || 'none')
	  . '; SNOWDRIFT_CITUS_SOURCE=ARCHIVE ./dev matrix 17 builds it'
	  if $citus < 14;
	return;
}

# citus_server(NAME): a server with Citus that is not in the cluster
sub citus_server
{
	my ($name) = @_;
	my $server = new_server($name, allows_streaming => 'logical');
	my $host = $server->host;
	$server->append_conf('postgresql.conf',
		"shared_preload_libraries = 'citus'
		 citus.local_hostname = '$host'
		 citus.shard_count = 8
		 max_connections = 100
		 timezone = 'UTC'\n");
	$server->start;
	$server->safe_psql('postgres', 'CREATE EXTENSION citus');
	return $server;
}

# address(SERVER): the arguments by which Citus' functions identify the server
sub address { return sprintf("'%s', %d", $_[0]->host, $_[0]->port) }

# start_cluster(): the coordinator, which has the extension, and the workers
sub start_cluster
{
	my $coordinator = citus_server('coordinator');
	my @workers = map { citus_server("worker_$_") } 1, 2;
	$coordinator->safe_psql('postgres', 'SELECT citus_set_coordinator_host(' . address($coordinator) . ')');
	$coordinator->safe_psql('postgres', 'SELECT citus_add_node(' . address($_) . ')') for @workers;
	$coordinator->safe_psql('postgres', 'CREATE EXTENSION snowdrift');
	return ($coordinator, @workers);
}

# script(STATEMENTS): a file with the statements
sub script
{
	my $file = PostgreSQL::Test::Utils::tempdir() . '/script.sql';
	append_to_file($file, $_[0]);
	return $file;
}

1;
