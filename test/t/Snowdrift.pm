# What the TAP tests share: servers that find the extension where it is staged, and a clock that a
# test sets.
package Snowdrift;

use strict;
use warnings FATAL => 'all';
use Exporter 'import';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

our @EXPORT = qw(new_server start_with_clock set_clock error_of);

# The configuration lines with which a server finds the extension.
sub extension_conf
{
	return slurp_file($ENV{SNOWDRIFT_CONF});
}

# new_server(NAME, INIT OPTIONS...): an initialised server that is not started yet.
sub new_server
{
	my ($name, %options) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);
	$node->init(%options);
	$node->append_conf('postgresql.conf', extension_conf());
	return $node;
}

sub clock_file
{
	my ($node) = @_;
	return $node->basedir . '/clock';
}

# set_clock(NODE, WHEN): the server's clock from its next reading on, in libfaketime's terms:
# '-300' is 300 seconds behind the true time, '2026-01-01 12:00:00.250' stands still.
sub set_clock
{
	my ($node, $when) = @_;
	my $file = clock_file($node);
	append_to_file("$file.new", "$when\n");
	rename("$file.new", $file) or die "$file: $!";
	return;
}

# start_with_clock(NODE, WHEN): starts the server on a clock that set_clock moves.
sub start_with_clock
{
	my ($node, $when) = @_;
	set_clock($node, $when);
	my ($library) = glob('/usr/lib/*/faketime/libfaketime.so.1');
	local %ENV = (
		%ENV,
		LD_PRELOAD => $library,
		FAKETIME_TIMESTAMP_FILE => clock_file($node),
		FAKETIME_NO_CACHE => 1,
		FAKETIME_DONT_FAKE_MONOTONIC => 1);
	$node->start;
	return;
}

# error_of(NODE, STATEMENTS): what psql prints of the error that the statements end with.
sub error_of
{
	my ($node, $statements) = @_;
	my ($status, $out, $error) = $node->psql('postgres', "\\set VERBOSITY verbose\n$statements");
	return $status ? $error : "no error, but: $out";
}

1;
