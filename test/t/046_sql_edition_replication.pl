# Logical replication of all tables between servers with the SQL edition: each server keeps its own generators.
use strict;
use warnings FATAL => 'all';
use Test::More;
use Snowdrift;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

my ($publisher, $subscriber) = map { PostgreSQL::Test::Cluster->new($_) } 'publisher', 'subscriber';
for my $node ($publisher, $subscriber)
{
	$node->init(allows_streaming => 'logical');
	# A failed apply worker starts again soon.
	$node->append_conf('postgresql.conf', "wal_retrieve_retry_interval = '100ms'\nlog_statement = none\n");
	$node->start;
	create_edition($node, 'app');
}

# publish(STATEMENTS): their errors for the owner of the publisher's database
sub publish
{
	my ($statements) = @_;
	local $ENV{PGUSER} = 'owner';
	return error_of_database($publisher, 'app', $statements);
}

my $definitions = 'SELECT name, layout, datacenter, worker FROM snowdrift_tables.generator ORDER BY name';
$publisher->safe_psql('app',
	q{SELECT snowdrift.create_generator('web', 'snowflake', worker => 1), snowdrift.create_generator('old', 'snowflake', 'si', worker => 1);
	CREATE TABLE posts (id bigint PRIMARY KEY DEFAULT next_snowflake('web'), body text); INSERT INTO posts (body) VALUES ('copied')});

# One subscriber has installed the file, and the other one has restored a dump of the publisher.
$subscriber->safe_psql('app',
	q{SELECT snowdrift.create_generator('web', 'snowflake', worker => 2); CREATE TABLE posts (id bigint PRIMARY KEY DEFAULT next_snowflake('web'), body text)});
my $dump = $publisher->basedir . '/app.sql';
command_ok([ 'pg_dump', '-d', $publisher->connstr('app'), '-f', $dump ], 'the publisher is dumped');
$subscriber->safe_psql('postgres', 'CREATE DATABASE restored OWNER owner');
command_ok([ 'psql', '-X', '-q', '-o', '/dev/null', '-v', 'ON_ERROR_STOP=1', '-d', $subscriber->connstr('restored'), '-f', $dump ], '... and restored');
my %own = map { $_ => $subscriber->safe_psql($_, $definitions) } 'app', 'restored';

$publisher->safe_psql('app', 'CREATE PUBLICATION everything FOR ALL TABLES');
my $connection = $publisher->connstr('app') =~ s/'/''/gr;
my %copies = (app => 'true', restored => 'false');
$subscriber->safe_psql($_, "CREATE SUBSCRIPTION of_$_ CONNECTION '$connection' PUBLICATION everything WITH (copy_data = $copies{$_})") for sort keys %copies;

# The columns apply_error_count, sync_error_count, and those that replace the latter in PostgreSQL 19
my $errors = q{SELECT coalesce(sum(value::int), 0) FROM pg_stat_subscription_stats AS s, jsonb_each_text(to_jsonb(s))
	WHERE subname = 'of_' || current_database() AND key LIKE '%error_count'};

# has_rows(DATABASE, CONDITION): waits until the condition of the subscriber's tables is true, or replication has failed;
# whether it has not
sub has_rows
{
	my ($database, $condition) = @_;
	$subscriber->poll_query_until($database, "SELECT ($condition) OR ($errors) > 0") or die "not true: $condition";
	return $subscriber->safe_psql($database, $errors) eq '0';
}

ok(has_rows('app', q{(SELECT bool_and(srsubstate = 'r') FROM pg_subscription_rel JOIN pg_subscription AS s ON s.oid = srsubid
	WHERE subname = 'of_app')}), 'all tables are copied');
is($subscriber->safe_psql('app', 'SELECT body FROM posts'), 'copied', '... with their rows');
is($subscriber->safe_psql('app', $definitions), $own{app}, '... except the definitions of generators');

my $posts = 1;
for my $change (
	q{SELECT snowdrift.create_generator('later', 'snowflake', worker => 5)},
	q{SELECT snowdrift.drop_generator('old')},
	q{DELETE FROM snowdrift_tables.generator WHERE name IS NULL})
{
	unlike(publish($change), qr/ERROR/, "the publisher can run: $change");
	$publisher->safe_psql('app', "INSERT INTO posts (body) VALUES ('post $posts')");
	for my $database ('app', 'restored')
	{
		ok(has_rows($database, "EXISTS (SELECT FROM posts WHERE body = 'post $posts')"), "... and $database receives later rows");
		is($subscriber->safe_psql($database, $definitions), $own{$database}, '... and keeps its definitions');
	}
	$posts++;
}
my $worker = q{SELECT snowflake_worker(next_snowflake('web'))};
is($subscriber->safe_psql('app', $worker), '2', 'a subscriber generates IDs with its own worker');
is($publisher->safe_psql('app', $worker), '1', '... and so does the publisher');

$_->stop for $subscriber, $publisher;
done_testing();
