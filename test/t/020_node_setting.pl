# The setting snowdrift.node. A value that PostgreSQL rejects when the library is loaded does not give a server another
# number: it has none until the setting is valid. A server that loses its configured number raises an error: a standby
# that does not have the setting of its primary does not take the number 0 after a failover.
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
	like(error_of($server, 'SELECT next_sno()'), $no_number, '... for sno values either');
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

$server->safe_psql('postgres', 'CREATE DATABASE of_typo');
$server->safe_psql('of_typo', 'CREATE EXTENSION snowdrift');
$server->safe_psql('postgres', q{ALTER DATABASE of_typo SET snowdrift.node = 'typo'});
$server->append_conf('postgresql.conf', "snowdrift.node = '7x'\nshared_preload_libraries = 'snowdrift'\n");
$server->restart;
like(error_of($server, $worker), $no_number, 'an invalid value in the configuration of a server that preloads the library');
$server->append_conf('postgresql.conf', "snowdrift.node = '9'\n");
$server->reload;
$server->poll_query_until('postgres', q{SELECT number = 9 FROM snowdrift.node}) or die 'no number';
is($server->safe_psql('postgres', $worker), '9', '... until it is corrected');
like(error_of_database($server, 'of_typo', $worker), $no_number, '... but an invalid value for a database remains one');
is($server->safe_psql('of_typo', "SET snowdrift.node = 5; $worker"), '5', '... until a valid value is set');
$server->safe_psql('postgres', 'ALTER DATABASE of_typo SET snowdrift.node = 6');
is($server->safe_psql('of_typo', $worker), '6', '... also for the database');
$server->stop;

# ---- sessions that have not loaded the library ----------------------------------------------------------

# Before version 17, ALTER SYSTEM needs a setting that it knows. LOAD, or reading a view, makes it known; roles that are
# not superusers cannot LOAD. ALTER DATABASE does not need to know it.
my $fresh = new_server('fresh');
$fresh->start;
$fresh->safe_psql('postgres', 'CREATE EXTENSION snowdrift; CREATE ROLE operator LOGIN; CREATE DATABASE owned OWNER operator');
$fresh->safe_psql('owned', 'CREATE EXTENSION snowdrift');
my $set = 'ALTER SYSTEM SET snowdrift.node = 3';
like(error_of($fresh, $set),
	$fresh->pg_version < 17
	? qr/ERROR:  42704: unrecognized configuration parameter "snowdrift\.node"/
	: qr/^no error/, 'ALTER SYSTEM before the library is loaded');
$fresh->safe_psql('postgres', $_) for "LOAD 'snowdrift'; $set", 'SELECT pg_reload_conf()';
is($fresh->safe_psql('postgres', $worker), '3', '... and after LOAD in the same session');
$fresh->safe_psql('postgres', 'GRANT ALTER SYSTEM ON PARAMETER snowdrift.node TO operator');
{
	local $ENV{PGUSER} = 'operator';
	like(error_of($fresh, "LOAD 'snowdrift'"), qr/ERROR:  42501: /, 'a role that is not a superuser cannot LOAD');
	$fresh->safe_psql('postgres', 'SELECT FROM snowdrift.node; ALTER SYSTEM SET snowdrift.node = 4');
}
$fresh->reload;
$fresh->poll_query_until('postgres', q{SELECT number = 4 FROM snowdrift.node}) or die 'no number';
is($fresh->safe_psql('postgres', $worker), '4', '... but can read a view of the extension first');
$fresh->safe_psql('postgres', 'ALTER DATABASE owned SET snowdrift.node = 5');
is($fresh->safe_psql('owned', $worker), '5', 'ALTER DATABASE needs no library');
{
	local $ENV{PGUSER} = 'operator';
	like(error_of_database($fresh, 'owned', 'ALTER DATABASE owned SET snowdrift.node = 6'),
		qr/ERROR:  42501: permission denied to set parameter "snowdrift\.node"/, '... but the privilege to set the number');
}
$fresh->stop;

# ---- numbers that standbys do not have ----------------------------------------------------------------

my $numbers = 'SELECT snowflake_worker(next_snowflake()), sno_partition(next_sno())';

# configure(NODE, NUMBER): sets the number with ALTER SYSTEM, or resets it
sub configure
{
	my ($node, $number) = @_;
	my $change = defined $number ? "SET snowdrift.node = $number" : 'RESET snowdrift.node';
	$node->safe_psql('postgres', $_) for "LOAD 'snowdrift'; ALTER SYSTEM $change", 'SELECT pg_reload_conf()';
	my $source = $number // 'auto';
	$node->poll_query_until('postgres', "SELECT source = '$source' FROM snowdrift.node") or die "$source does not take effect";
	return;
}

# primary(NAME): a primary whose standbys are created before it has a number
sub primary
{
	my ($name) = @_;
	my $primary = new_server($name, allows_streaming => 1);
	$primary->start;
	$primary->safe_psql('postgres',
		q{CREATE EXTENSION snowdrift;
		SELECT snowdrift.create_generator('orders', 'snowflake');
		SELECT snowdrift.create_generator('own', 'snowflake', worker => 5);
		SELECT snowdrift.create_generator('toots', 'snowflake', layout => 'mastodon')});
	$primary->backup('base');
	return $primary;
}

# Two primaries have numbers, but their standbys have none.
my %primaries = map { $_ => primary("primary_$_") } 1, 2;
foreach my $number (1, 2)
{
	configure($primaries{$number}, $number);
	is($primaries{$number}->safe_psql('postgres', $numbers), "$number|$number", "primary $number has the number $number");
}
my %standbys = (1 => standby_of($primaries{1}, 'standby_1'), 2 => standby_of($primaries{2}, 'standby_2', "snowdrift.node = 'auto'\n"));
foreach my $number (1, 2)
{
	my $standby = $standbys{$number};
	my $lost = "no longer has the configured number $number of its last IDs";
	is($standby->safe_psql('postgres', 'SELECT * FROM snowdrift.node'), "|auto|this server $lost", 'the view on the standby shows the missing number');
	$primaries{$number}->stop;
	$standby->promote;
	like(
		error_of($standby, "SELECT $_"),
		qr/ERROR:  55000: another server may generate equal IDs\n.*DETAIL:  This server $lost\.\n.*HINT:  Set the number on this server, for example with ALTER SYSTEM SET snowdrift.node = $number\. If no number is needed, call snowdrift\.confirm_node\(\) as a superuser\./s,
		"after the failover, $_ raises an error")
	  for 'next_snowflake()', 'next_sno()', q{next_snowflake('orders')};
	is($standby->safe_psql('postgres', 'SELECT * FROM snowdrift.node'), "|auto|this server $lost", '... which the view shows');
	like($standby->safe_psql('postgres', q{SELECT next_ulid(), next_uuidv7(), next_snowflake('own'), next_snowflake('toots')}),
		qr/^\w{26}\|[\w-]{36}\|\d{18}\|\d{18}$/, '... but not for IDs without the number');
	like(error_of($standby, 'SELECT next_snowflake()'), qr/$lost/, '... which does not change that');
}
my $open = $standbys{1}->background_psql('postgres', on_error_stop => 0);
$open->query('SELECT next_snowflake()');
like($open->{stderr}, qr/another server may generate equal IDs/, '... as in an open session');
configure($standbys{1}, 1);
is($standbys{1}->safe_psql('postgres', $numbers), '1|1', '... until the number is configured');
my $drawn = '';
for (1 .. 1000)    # until the session has noticed the new configuration
{
	$drawn = $open->query($numbers);
	last if $drawn ne '';
}
is($drawn, '1|1', '... also in the open session');
$open->quit;
is($standbys{2}->safe_psql('postgres', "SET client_min_messages = error; LOAD 'snowdrift'; SET snowdrift.node = 9; $numbers"),
	'9|9', 'a number that is set for a session is used');
is($standbys{2}->safe_psql('postgres', "LOAD 'snowdrift'; SET snowdrift.node = 'auto'; $numbers"), '0|0', '... or "auto"');
like(error_of($standbys{2}, 'SELECT next_snowflake()'), qr/the configured number 2 of/, '... but is not recorded');
$standbys{2}->safe_psql('postgres', 'SELECT snowdrift.confirm_node()');
is($standbys{2}->safe_psql('postgres', $numbers), '0|0', '... until a superuser confirms that none is needed');
is($standbys{2}->safe_psql('postgres', 'SELECT * FROM snowdrift.node'), '0|auto|default number', '... and the view shows it');
$standbys{2}->restart;
is($standbys{2}->safe_psql('postgres', $numbers), '0|0', '... also after a restart');

# Changes of the setting
my $renumbered = $standbys{1};
configure($renumbered, 2);
is($renumbered->safe_psql('postgres', $numbers), '2|2', 'another number causes no error');
$renumbered->safe_psql('postgres', 'SELECT snowdrift.confirm_node()');
configure($renumbered, undef);
like(error_of($renumbered, 'SELECT next_sno()'), qr/the configured number 2 of/,
	'if it is reset, an error is raised, although a superuser had confirmed it');
$renumbered->safe_psql('postgres', q{LOAD 'snowdrift'; ALTER DATABASE postgres SET snowdrift.node = 4});
is($renumbered->safe_psql('postgres', $numbers), '4|4', '... until the database has a number');
$renumbered->safe_psql('postgres', 'ALTER DATABASE postgres RESET snowdrift.node');
like(error_of($renumbered, 'SELECT next_sno()'), qr/the configured number 4 of/, '... which is missed after that');
$renumbered->stop;
$standbys{2}->stop;

# Sessions keep the number with which they have drawn while others draw with another setting.
my $pooled = new_server('pooled');
$pooled->start;
$pooled->safe_psql('postgres', 'CREATE EXTENSION snowdrift');
my $prepare_again = 'CREATE TABLE changed (); DROP TABLE changed';
my $before = $pooled->background_psql('postgres');
is($before->query_safe($numbers), '0|0', 'a session that draws before the database has a number');
$pooled->safe_psql('postgres', q{LOAD 'snowdrift'; ALTER DATABASE postgres SET snowdrift.node = 5});
my $after = $pooled->background_psql('postgres');
is($after->query_safe($numbers), '5|5', '... and one that draws after it');
$pooled->safe_psql('postgres', $prepare_again);
is($before->query_safe($numbers), '0|0', 'the former raises no error, and draws with its number');
$before->quit;
$pooled->safe_psql('postgres', 'ALTER DATABASE postgres RESET snowdrift.node');
like(error_of($pooled, 'SELECT next_snowflake()'), qr/the configured number 5 of/, 'after a reset, a new session raises an error');
like(error_of($pooled, q{LOAD 'snowdrift'; SET snowdrift.node = 3; SELECT snowdrift.confirm_node()}),
	qr/55000: cannot confirm the number of a role or session\n/, '... which a session with another setting does not end');
like(error_of($pooled, 'SELECT next_snowflake()'), qr/the configured number 5 of/, '... so the error remains');
$pooled->safe_psql('postgres', 'SELECT snowdrift.confirm_node()');
$pooled->safe_psql('postgres', $prepare_again);
is($after->query_safe($numbers), '5|5', '... but one without does, although an open session keeps the previous number');
is($pooled->safe_psql('postgres', $numbers), '0|0', '... and does not record it again');
$after->quit;
$pooled->safe_psql('postgres', q{LOAD 'snowdrift'; ALTER DATABASE postgres SET snowdrift.node = 6});
$after = $pooled->background_psql('postgres');
$after->query_safe($numbers);
$pooled->safe_psql('postgres', 'DROP EXTENSION snowdrift; ALTER DATABASE postgres RESET snowdrift.node');
$pooled->safe_psql('postgres', 'CREATE EXTENSION snowdrift');
is($after->query_safe($numbers), '6|6', 'a session that continues after the extension was created again');
$after->quit;
like(error_of($pooled, 'SELECT next_snowflake()'), qr/the configured number 6 of/, '... records its number again');
$pooled->safe_psql('postgres', 'SELECT snowdrift.confirm_node()');
configure($pooled, 0);
is($pooled->safe_psql('postgres', $numbers), '0|0', 'the configured number 0');
configure($pooled, undef);
is($pooled->safe_psql('postgres', $numbers), '0|0', '... is not lost while "auto" gives it, too');
$pooled->stop;

# Failovers without an error
my $plain = primary('plain');
is($plain->safe_psql('postgres', $numbers), '0|0', 'a primary without a number');
configure($plain, 1);
is($plain->safe_psql('postgres', $numbers), '1|1', '... and with one');
my $same = standby_of($plain, 'same', "snowdrift.node = '1'\n");
my $other = standby_of($plain, 'other', "snowdrift.node = '2'\n");
$plain->stop;
$_->promote for $same, $other;
is($same->safe_psql('postgres', $numbers), '1|1', 'a failover to a standby with the same number causes no error');
is($other->safe_psql('postgres', $numbers), '2|2', '... and neither does one to a standby with another number');
$_->stop for $same, $other;
my $automatic = primary('automatic');
is($automatic->safe_psql('postgres', $numbers), '0|0', 'without a number');
my $automatic_standby = standby_of($automatic, 'automatic_standby');
$automatic->stop;
$automatic_standby->promote;
is($automatic_standby->safe_psql('postgres', $numbers), '0|0', '... a failover causes no error');
$automatic_standby->stop;

done_testing();
