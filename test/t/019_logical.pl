# Logical replication: two servers with different numbers replicate each other's IDs; servers with equal numbers
# collide and recover; definitions of generators are not replicated; after a logical failover, advance() makes
# all further IDs later than those received.
use strict;
use warnings FATAL => 'all';
use Test::More;
use Snowdrift;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use IPC::Run ();

# new_writer(NAME, CONF): a server that can publish, which is not started
sub new_writer
{
	my ($name, $conf) = @_;
	my $node = new_server($name, allows_streaming => 'logical');
	# A clock that steps must not end connections, and a failed apply worker starts again soon.
	$node->append_conf('postgresql.conf',
		"wal_sender_timeout = 0\nwal_receiver_timeout = 0\nwal_retrieve_retry_interval = '100ms'\n" . ($conf // ''));
	return $node;
}

# subscribe(NODE, PUBLISHER, OPTIONS): subscribes the server to the publication "posts" of the other one
sub subscribe
{
	my ($node, $publisher, $options) = @_;
	my $connection = $publisher->connstr('postgres') =~ s/'/''/gr;
	$node->safe_psql('postgres',
		'CREATE SUBSCRIPTION from_' . $publisher->name . " CONNECTION '$connection' PUBLICATION posts WITH ($options)");
	return;
}

# catch_up(NODE, PUBLISHER): waits until the server has applied the other one's changes
sub catch_up
{
	my ($node, $publisher) = @_;
	$publisher->wait_for_catchup('from_' . $publisher->name);
	return;
}

# set_number(NODE, NUMBER): gives a running server its number
sub set_number
{
	my ($node, $number) = @_;
	$node->safe_psql('postgres', "LOAD 'snowdrift'; ALTER SYSTEM SET snowdrift.node = $number");
	$node->reload;
	$node->poll_query_until('postgres', "SELECT number = $number FROM snowdrift.node")
	  or die 'the number does not take effect';
	return;
}

my $missing_number = qr/may take part in logical replication, but this server has no number for its IDs/;
# The columns apply_error_count, sync_error_count, and those that replace the latter in PostgreSQL 19
my $errors = q{SELECT sum(value::int) FROM pg_stat_subscription_stats AS s, jsonb_each_text(to_jsonb(s))
	WHERE key LIKE '%error_count'};
my $rows = q{SELECT count(*), md5(string_agg(id || ' ' || server || ' ' || body, E'\n' ORDER BY id)) FROM posts};
my $create_posts = q{CREATE EXTENSION snowdrift;
	CREATE TABLE posts (id bigint PRIMARY KEY DEFAULT next_snowflake(), server text, body text);
	CREATE PUBLICATION posts FOR TABLE posts};

# Definitions of generators are not replicated, even if a publication includes all tables.
my $definitions = 'SELECT name, id, kind, worker, partition FROM snowdrift_tables.generator ORDER BY name';
my $publisher = new_writer('publisher', "snowdrift.node = 1\n");
my $subscriber = new_writer('subscriber', "snowdrift.node = 2\n");
start_with_clock($publisher, '+20');
start_with_clock($subscriber, '+0');
my $create_events = q{CREATE EXTENSION snowdrift;
	CREATE TABLE events (u ulid DEFAULT next_ulid(), v uuid DEFAULT next_uuidv7(), s sno DEFAULT next_sno(),
		named bigint DEFAULT next_snowflake('orders'), named_sno sno DEFAULT next_sno('visits'),
		id bigint PRIMARY KEY DEFAULT next_snowflake())};
$publisher->safe_psql('postgres',
	qq{$create_events;
	SELECT snowdrift.create_generator('orders', 'snowflake', worker => 3);
	SELECT snowdrift.create_generator('visits', 'sno', partition => 3);
	SELECT snowdrift.create_generator('of the publisher', 'snowflake');
	INSERT INTO events SELECT FROM generate_series(1, 100);
	CREATE PUBLICATION posts FOR ALL TABLES});
# The same names and ids as on the publisher, with other definitions
$subscriber->safe_psql('postgres',
	qq{$create_events;
	SELECT snowdrift.create_generator('orders', 'snowflake', worker => 4);
	SELECT snowdrift.create_generator('visits', 'sno', partition => 4)});
my $own = $subscriber->safe_psql('postgres', $definitions);
# IDs of past times that both servers have used
my $back_fill = q{SELECT snowflake_at('2022-01-01Z'), snowflake_at('2022-01-01Z', 'orders')};
my $back_filled = 'SELECT count(*), max(sequence) FROM snowdrift_tables.backfill';
$_->safe_psql('postgres', $back_fill) for $subscriber, $publisher, $publisher;
my $session = $subscriber->background_psql('postgres');
my $draw_own = q{SELECT snowflake_worker(next_snowflake('orders')), sno_partition(next_sno('visits'))};
is($session->query_safe($draw_own), '4|4', 'a subscriber has its own generators');
subscribe($subscriber, $publisher, 'copy_data = true');
$subscriber->wait_for_subscription_sync($publisher, 'from_publisher');
is($subscriber->safe_psql('postgres', $definitions),
	$own, '... and the initial copy of all tables does not change them');
# The publisher's mark is 20 s ahead of the subscriber's clock.
my $own_mark = q{SELECT count(*), max(unix_ms) < 1000 * extract(epoch FROM clock_timestamp() + '10 s') FROM snowdrift_tables.mark};
is($subscriber->safe_psql('postgres', $own_mark), '1|t', '... and neither does it change the mark');
is($subscriber->safe_psql('postgres', $back_filled), '2|0', '... or the IDs of past times that it has used');
$publisher->safe_psql('postgres',
	qq{$back_fill;
	SELECT snowdrift.create_generator('later', 'snowflake', worker => 5);
	SELECT snowdrift.drop_generator('of the publisher');
	INSERT INTO events SELECT FROM generate_series(1, 100);
	ALTER TABLE events ALTER named DROP DEFAULT;
	SELECT snowdrift.drop_generator('orders');
	SELECT snowdrift.create_generator('orders', 'snowflake', worker => 6);
	SELECT snowdrift.drop_generator('visits', force => true);
	SELECT snowdrift.create_generator('visits', 'sno', partition => 6)});
catch_up($subscriber, $publisher);
is($subscriber->safe_psql('postgres', 'SELECT count(*) FROM events'), 200, '... nor do later changes');
is($subscriber->safe_psql('postgres', $definitions), $own, '... of the definitions on the publisher');
is($subscriber->safe_psql('postgres', $own_mark), '1|t', '... nor of its mark');
is($subscriber->safe_psql('postgres', $back_filled), '2|0', '... nor of the IDs of past times');
is($session->query_safe($draw_own), '4|4', '... an open session continues with them');
is($subscriber->safe_psql('postgres', $draw_own), '4|4', '... and so does a new session');
$session->quit;
is($subscriber->safe_psql('postgres', $errors), 0, '... without replication errors');
like(
	error_of($publisher, 'SET session_replication_role = replica; TRUNCATE snowdrift_tables.generator'),
	qr/0A000: cannot truncate table "snowdrift_tables.generator"/,
	'... which a TRUNCATE would remove, so it is an error');

# A subscription ignores rows of partitions that are newer than it, unless the table is published by its root.
my $partitions = q{SELECT snowdrift.create_partitions(parent, '1 month', '%1$s', '%1$s') FROM unnest('{by_leaf,by_root}'::regclass[]) AS parent};
my $received = 'SELECT (SELECT count(*) FROM by_root), (SELECT count(*) FROM by_leaf)';
$_->safe_psql('postgres', q{CREATE TABLE by_leaf (id bigint PRIMARY KEY DEFAULT next_snowflake()) PARTITION BY RANGE (id);
	CREATE TABLE by_root (LIKE by_leaf INCLUDING ALL) PARTITION BY RANGE (id);} . sprintf $partitions, '2022-01-01Z') for $publisher, $subscriber;
$publisher->safe_psql('postgres', q{CREATE PUBLICATION by_leaf FOR TABLE by_leaf;
	CREATE PUBLICATION by_root FOR TABLE by_root WITH (publish_via_partition_root = true)});
$subscriber->safe_psql('postgres',
	"CREATE SUBSCRIPTION partitions CONNECTION '" . $publisher->connstr('postgres') =~ s/'/''/gr . "' PUBLICATION by_leaf, by_root");
$subscriber->wait_for_subscription_sync($publisher, 'partitions');
$_->safe_psql('postgres', sprintf $partitions, '2022-02-01Z') for $subscriber, $publisher;
$publisher->safe_psql('postgres', "INSERT INTO $_ VALUES (snowflake_boundary('2022-01-15Z')), (snowflake_boundary('2022-02-15Z'))") for 'by_leaf', 'by_root';
$publisher->wait_for_catchup('partitions');
is($subscriber->safe_psql('postgres', $received), '2|1', 'rows of a new partition are replicated if its root is published');
$subscriber->safe_psql('postgres', 'ALTER SUBSCRIPTION partitions REFRESH PUBLICATION');
$subscriber->wait_for_subscription_sync($publisher, 'partitions');
is($subscriber->safe_psql('postgres', $received), '2|2', '... otherwise, the subscription must be refreshed');
$subscriber->safe_psql('postgres', 'DROP SUBSCRIPTION partitions');

# A subscriber's database without the extension has no table for the row of the mark.
$publisher->safe_psql('postgres', 'CREATE DATABASE other');
$publisher->safe_psql('other', q{CREATE PUBLICATION everything FOR ALL TABLES;
	SELECT pg_create_logical_replication_slot('creation', 'pgoutput')});
$publisher->safe_psql('other', 'CREATE EXTENSION snowdrift');
is( $publisher->safe_psql('other',
		q{SELECT count(*) FROM pg_logical_slot_get_binary_changes('creation', NULL, NULL,
			'proto_version', '1', 'publication_names', 'everything') WHERE get_byte(data, 0) = ascii('I')}),
	0, 'creating the extension replicates no row');
$publisher->safe_psql('other', q{SELECT pg_drop_replication_slot('creation')});
$publisher->safe_psql('postgres', 'DROP DATABASE other');

SKIP:
{
	my $version = $subscriber->pg_version;
	skip "needs sequence replication of PostgreSQL 19 or later, found $version", 3 if $version < 19;
	my $connection = $publisher->connstr('postgres') =~ s/'/''/gr;
	$publisher->safe_psql('postgres', 'CREATE PUBLICATION all_sequences FOR ALL SEQUENCES');
	$subscriber->safe_psql('postgres',
		q{SELECT snowdrift.create_generator(format('filler %s', n), 'sno'), snowdrift.drop_generator(format('filler %s', n))
			FROM generate_series(1, 20) AS n; SELECT snowdrift.create_generator('last', 'sno')});
	$subscriber->safe_psql('postgres', "CREATE SUBSCRIPTION sequences CONNECTION '$connection' PUBLICATION all_sequences");
	$subscriber->poll_query_until('postgres',
		q{SELECT bool_and(srsubstate = 'r') FROM pg_subscription_rel JOIN pg_subscription ON oid = srsubid
			WHERE subname = 'sequences'}) or die 'the sequences are not replicated';
	$subscriber->safe_psql('postgres', 'ALTER SUBSCRIPTION sequences REFRESH SEQUENCES');
	$subscriber->poll_query_until('postgres',
		q{SELECT bool_and(srsubstate = 'r') FROM pg_subscription_rel JOIN pg_subscription ON oid = srsubid
			WHERE subname = 'sequences'}) or die 'the sequences are not replicated again';
	cmp_ok($subscriber->safe_psql('postgres', 'SELECT last_value FROM snowdrift_tables.generator_id'),
		'<', 20, 'replication sets the sequence of ids back');
	$subscriber->safe_psql('postgres',
		q{SELECT snowdrift.create_generator(format('number %s', n), 'sno') FROM generate_series(1, 30) AS n});
	is($subscriber->safe_psql('postgres', 'SELECT count(*) = count(DISTINCT id) FROM snowdrift_tables.generator'),
		't', '... but no generator gets the id of another one');
	is($subscriber->safe_psql('postgres', $own_mark), '1|t', '... and the subscriber keeps its own mark');
	$subscriber->safe_psql('postgres',
		q{DROP SUBSCRIPTION sequences; SELECT snowdrift.drop_generator(name) FROM snowdrift_tables.generator
			WHERE name ~ '^(number|last)'});
}
my $dump = $subscriber->basedir . '/dump.sql';
command_ok([ 'pg_dump', '--no-subscriptions', '-f', $dump, '-d', $subscriber->connstr('postgres') ],
	'... the subscriber is dumped');
$subscriber->safe_psql('postgres', 'CREATE DATABASE restored');
$subscriber->command_ok(
	[ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', $subscriber->connstr('restored'), '-f', $dump ],
	'... and restored');
is($subscriber->safe_psql('restored', $definitions), $own, '... with its definitions');
$subscriber->safe_psql('postgres',
	q{SELECT snowdrift.create_generator('own', 'snowflake'); SELECT snowdrift.drop_generator('own')});

# Logical failover: the publisher's clock is 20 s ahead, so its IDs are later than the subscriber's.
my $latest = q{SELECT max(u) AS u, max(v::ulid) AS v, max(s) AS s, max(named) AS named, max(named_sno) AS named_sno, max(id) AS id
	FROM events};
my $is_later = qq{SELECT next_ulid() > u AND next_uuidv7() > v::uuid, next_snowflake('orders') > named, next_snowflake() > id
	FROM ($latest) AS latest};
my @snos = ('next_sno()', q{next_sno('visits')});
my $snos_are_later = "SELECT next_sno() > s, next_sno('visits') > named_sno FROM ($latest) AS latest";
my $advance = 'SELECT snowdrift.advance(max(id)) FROM events';
# A new generator on the publisher can be ahead of its clock and of the other generators.
my $advance_by_each = 'SELECT snowdrift.advance(max(id)), snowdrift.advance(max(named)), snowdrift.advance(max(u)),
	snowdrift.advance(max(v::ulid)::uuid)
	FROM events';

# waiting_snos(): how many calls for sno values must wait for the clock. The limit 0 turns their wait into an error.
sub waiting_snos
{
	return scalar grep { /55000: clock moved backwards by/ }
	  map { error_of($subscriber, "SET snowdrift.max_clock_lead = 0; SELECT $_") } @snos;
}

# publish_rows(CLOCK): sets the publisher's clock, and inserts rows that arrive at the subscriber
sub publish_rows
{
	my ($clock) = @_;
	set_clock($publisher, $clock);
	$publisher->safe_psql('postgres',
		q{ALTER TABLE events ALTER named SET DEFAULT next_snowflake('orders');
		INSERT INTO events SELECT FROM generate_series(1, 100)});
	catch_up($subscriber, $publisher);
	return;
}

publish_rows('+20');
is($subscriber->safe_psql('postgres', $is_later),
	'f|f|f', 'without advance(), Snowflakes and ULIDs are earlier than those received');
is($subscriber->safe_psql('postgres', $snos_are_later), 'f|f', '... and so are sno values');
$subscriber->safe_psql('postgres', $advance_by_each);
is($subscriber->safe_psql('postgres', $is_later), 't|t|t', '... with advance(), they are later');
is(waiting_snos(), 2, '... and calls for sno values wait');
set_clock($subscriber, '+21');
is($subscriber->safe_psql('postgres', $snos_are_later),
	't|t', '... until the clock has passed the time of those received, and return later values');

# The same if the server crashes right after advance()
publish_rows('+41');
is($subscriber->safe_psql('postgres', $is_later), 'f|f|f', 'later rows arrive');
$subscriber->safe_psql('postgres', $advance);
$subscriber->stop('immediate');
start_with_clock($subscriber, '+0');
is($subscriber->safe_psql('postgres', $is_later),
	't|t|t', '... after advance() and a crash, Snowflakes and ULIDs are later than those received');
is(waiting_snos(), 2, '... and calls for sno values wait');
set_clock($subscriber, '+42');
is($subscriber->safe_psql('postgres', $snos_are_later),
	't|t', '... until the clock has passed the time of those received, and return later values');

# warning_of(STATEMENT): what psql prints to standard error on the subscriber
sub warning_of
{
	my ($statement) = @_;
	my ($status, $out, $error) = $subscriber->psql('postgres', $statement);
	die $error if $status;
	return $error;
}

# advance() warns of an ID of the server's own number that another server generated.
my $advance_by_sno = 'SELECT snowdrift.advance(max(s)) FROM events';
my $twin = qr/^psql:<stdin>:1: WARNING:  another server generates IDs with this server's number 2\n/;
publish_rows('+60');
is(warning_of($advance), '', "advance() does not warn of another number's ID");
publish_rows('+65');
is(warning_of($advance_by_sno), '', "... or another number's sno");
set_number($publisher, 2);
publish_rows('+70');
like(warning_of($advance), $twin, "... but of an ID of the server's own number");
is(warning_of($advance), '', '... only if the ID is later than the mark');
publish_rows('+75');
like(warning_of($advance_by_sno), $twin, '... and of a sno');
set_clock($subscriber, '+76');
$subscriber->safe_psql('postgres', 'INSERT INTO events DEFAULT VALUES');
is(warning_of($advance), '', '... but not of its own ID');
is(count_of($_, $missing_number), 0, $_->name . ' does not log a missing number') for $publisher, $subscriber;
$_->stop for $publisher, $subscriber;

# A server without a number logs it once per start and database, if the database is replicated logically.
my $alone = new_writer('alone');
$alone->start;

# draw_in_all(): draws in two sessions per database; returns how many lines the log has
sub draw_in_all
{
	$alone->safe_psql($_, 'SELECT next_snowflake(), next_sno()') for ('postgres', 'subscribed', 'local') x 2;
	return join ', ', map { "$_ " . count_of($alone, qr/LOG:  database "$_" $missing_number/) }
	  'postgres', 'subscribed', 'local';
}

$alone->safe_psql('postgres', "CREATE DATABASE $_") for 'subscribed', 'local';
$alone->safe_psql($_, 'CREATE EXTENSION snowdrift') for 'postgres', 'subscribed', 'local';
is(draw_in_all(), 'postgres 0, subscribed 0, local 0', 'without logical replication, no missing number is logged');
$alone->safe_psql('postgres', q{CREATE PUBLICATION posts FOR ALL TABLES;
	SELECT snowdrift.create_generator('own', 'snowflake', worker => 3)});
$alone->safe_psql('subscribed',
	"CREATE SUBSCRIPTION nothing CONNECTION 'dbname=none' PUBLICATION posts WITH (connect = false)");
$alone->safe_psql('postgres', q{SELECT next_ulid(), next_uuidv7(), next_snowflake('own')});
is(count_of($alone, $missing_number), 0, '... nor for IDs without the number');
is(draw_in_all(), 'postgres 1, subscribed 1, local 0', '... with publications or subscriptions, once per database');
$alone->restart;
is(draw_in_all(), 'postgres 2, subscribed 2, local 0', '... and again after a restart');
$alone->append_conf('postgresql.conf', "snowdrift.node = 0\n");
$alone->restart;
is(draw_in_all(), 'postgres 2, subscribed 2, local 0', '... but not with a number in the configuration');

# Other software has neither, but slots, which belong to a database, or origins, which belong to the server. A session that
# has drawn before notices them, too.
$alone->append_conf('postgresql.conf', "snowdrift.node = auto\n");
$alone->restart;
$alone->safe_psql('local', 'SELECT snowdrift.confirm_node()');    # the number is no longer configured
$alone->safe_psql('postgres', 'CREATE DATABASE empty');
$alone->safe_psql('empty', 'CREATE EXTENSION snowdrift');
for my $sign (
	[ 'The database has logical replication slots', q{pg_create_logical_replication_slot('other', 'pgoutput')}, 1, 0 ],
	[ 'The server has replication origins', q{pg_replication_origin_create('other')}, 1, 1 ])
{
	my ($detail, $create, @expected) = @$sign;
	$alone->restart;
	my @sessions = map { $alone->background_psql($_) } 'local', 'empty';
	$_->query_safe('SELECT next_snowflake()') for @sessions;
	$alone->safe_psql('local', "SELECT $create");
	$alone->safe_psql($_, 'CREATE TABLE changed (); DROP TABLE changed') for 'local', 'empty';
	$_->query_safe('SELECT next_snowflake()') for @sessions, @sessions;
	my @logged =
	  map { count_of($alone, qr/LOG:  database "$_" $missing_number.*\n.*DETAIL:  $detail\. Servers/) } 'local', 'empty';
	is_deeply(\@logged, \@expected, "the sign of other software is logged: $detail");
	$alone->safe_psql('local', 'SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots');
	$_->quit for @sessions;
}

# A session with a replication origin applies another server's changes. Without one, changes of definitions raise an
# error, because they could be those of a restored dump.
my %change = (
	'INSERT of a definition' =>
	  q{INSERT INTO snowdrift_tables.generator (name, kind, sequence_min, sequence_max) VALUES ('other', 'sno', 0, 9)},
	'UPDATE of a definition' => 'UPDATE snowdrift_tables.generator SET worker = 9',
	'DELETE of a definition' => 'DELETE FROM snowdrift_tables.generator',
	'INSERT of a record' => 'INSERT INTO snowdrift_tables.backfill VALUES (0, 9, 9)',
	'UPDATE of a record' => 'UPDATE snowdrift_tables.backfill SET sequence = 9',
	'DELETE of a record' => 'DELETE FROM snowdrift_tables.backfill',
	'INSERT of a mark' => 'INSERT INTO snowdrift_tables.mark
		SELECT later.* FROM snowdrift_tables.mark, jsonb_populate_record(mark, jsonb_build_object($$unix_ms$$, unix_ms + 9000)) AS later');
my $all = "$definitions; $back_filled; SELECT unix_ms FROM snowdrift_tables.mark";
$alone->safe_psql('local',
	q{SELECT snowdrift.create_generator('own', 'snowflake', worker => 3); SELECT snowflake_at('2022-01-01Z', 'own')});
for my $name (sort keys %change)
{
	my $before = $alone->safe_psql('local', $all);
	for my $role ('replica', 'origin')
	{
		$alone->safe_psql('local',
			"SELECT pg_replication_origin_session_setup('other'); SET session_replication_role = $role; $change{$name};
			 SELECT pg_replication_origin_session_reset()");
	}
	is($alone->safe_psql('local', $all), $before, "a session with a replication origin skips it: $name");
	my $error = error_of_database($alone, 'local', "BEGIN; SET session_replication_role = replica; $change{$name}; ROLLBACK");
	if ($name =~ /INSERT of a (?:record|mark)/)
	{
		like($error, qr/^no error/, "... without an origin, it can be that of a dump: $name");
		my $advanced = 'SELECT unix_ms - ' . ($before =~ /(\d+)$/)[0] . ' FROM snowdrift_tables.mark';
		is($alone->safe_psql('local', $advanced), $name =~ /mark/ ? 9000 : 0, '... and advances only the mark');
		next;
	}
	my ($table) = $change{$name} =~ /(snowdrift_tables\.\w+)/;
	like($error, $name =~ /definition/ ? qr/55000: cannot change table "$table" while session_replication_role is "replica"/ : qr/0A000: cannot change table "$table"/,
		"... without an origin, it raises an error: $name");
}
$alone->stop;

SKIP:
{
	skip 'bidirectional replication needs PostgreSQL 16 or later (origin = none)', 13
	  if $publisher->pg_version < 16;

	# Both servers insert at the same time, and replicate to each other.
	my @pair = map { new_writer($_->[0], "snowdrift.node = $_->[1]\n") } [ 'one', 1 ], [ 'two', 2 ];
	foreach my $node (@pair)
	{
		$node->start;
		$node->safe_psql('postgres', $create_posts);
	}
	subscribe(@pair, 'origin = none, copy_data = false');
	subscribe(reverse(@pair), 'origin = none, copy_data = false');
	my @loads;
	foreach my $node (@pair)
	{
		my $script = $node->basedir . '/insert.sql';
		append_to_file($script,
			'INSERT INTO posts (server, body) SELECT '
			  . "'" . $node->name . "', random() FROM generate_series(1, 5);\n");
		push @loads,
		  IPC::Run::start(
			[ 'pgbench', '-n', '-c', '3', '-t', '1000', '-f', $script, $node->connstr('postgres') ],
			'<', \undef, '>', \my $out, '2>', \my $error);
	}
	is(scalar(grep { $_->finish } @loads), 2, 'two servers with the numbers 1 and 2 insert 15000 rows each');
	catch_up(@pair);
	catch_up(reverse(@pair));
	like($pair[0]->safe_psql('postgres', $rows), qr/^30000\|/, '... 30000 rows arrive');
	is($pair[1]->safe_psql('postgres', $rows),
		$pair[0]->safe_psql('postgres', $rows), '... and are identical on both servers');
	is($_->safe_psql('postgres', $errors), 0, '... ' . $_->name . ' has no replication errors') for @pair;
	is(count_of($_, $missing_number), 0, '... and does not log a missing number') for @pair;
	$_->stop for @pair;

	# Both servers have the same number, and insert at the same time while the connection between them is
	# interrupted.
	@pair = (new_writer('twin_one'), new_writer('twin_two'));
	foreach my $node (@pair)
	{
		start_with_clock($node, '2025-01-01 12:00:00');
		$node->safe_psql('postgres', $create_posts);
	}
	subscribe(@pair, 'origin = none, copy_data = false, enabled = false');
	subscribe(reverse(@pair), 'origin = none, copy_data = false, enabled = false');
	$_->safe_psql('postgres',
		"INSERT INTO posts (server, body) SELECT '" . $_->name . "', n FROM generate_series(1, 3) AS n")
	  for @pair;
	my $ids = 'SELECT array_agg(id ORDER BY id) FROM posts';
	is($pair[1]->safe_psql('postgres', $ids),
		$pair[0]->safe_psql('postgres', $ids), 'two servers with equal numbers and clocks generate equal IDs');
	set_clock($_, '+0') for @pair;
	$pair[0]->safe_psql('postgres', 'ALTER SUBSCRIPTION from_twin_two ENABLE');
	$pair[1]->safe_psql('postgres', 'ALTER SUBSCRIPTION from_twin_one ENABLE');
	foreach my $node (@pair)
	{
		$node->poll_query_until('postgres', 'SELECT apply_error_count > 0 FROM pg_stat_subscription_stats')
		  or die 'the apply worker has no error';
		ok( $node->log_contains(
				qr/ERROR:  (?:duplicate key value violates unique constraint "posts_pkey"|conflict detected .*=insert_exists)/),
			'... the subscription of ' . $node->name . ' stops with an error');
	}

	# Each server gets its own number, and gives the rows that it inserted new IDs. The subscriptions first
	# apply the rows with the other server's previous IDs, and then the changes of these IDs.
	set_number($pair[$_], $_ + 1) for 0, 1;
	$_->safe_psql('postgres', "UPDATE posts SET id = DEFAULT WHERE server = '" . $_->name . "'") for @pair;
	$_->safe_psql('postgres', "INSERT INTO posts (server, body) VALUES ('" . $_->name . "', 'later')") for @pair;
	catch_up(@pair);
	catch_up(reverse(@pair));
	like($pair[0]->safe_psql('postgres', $rows),
		qr/^8\|/, '... with different numbers and new IDs for those rows, the subscriptions continue');
	is($pair[1]->safe_psql('postgres', $rows),
		$pair[0]->safe_psql('postgres', $rows), '... and all rows are identical on both servers');
	is( $pair[0]->safe_psql('postgres',
			"SELECT count(DISTINCT (server, body)) FROM posts
			 WHERE snowflake_worker(id) = CASE server WHEN 'twin_one' THEN 1 ELSE 2 END"),
		8, '... no row is lost');
	$_->stop for @pair;
}

done_testing();
