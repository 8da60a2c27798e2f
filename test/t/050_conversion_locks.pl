# A conversion of keys that waits, for a reader, for a session that uses only the sequence, or for an autovacuum, lets
# others read and write meanwhile. So does the way back.
use strict;
use warnings FATAL => 'all';
use Test::More;
use Snowdrift;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

my $node = new_server('conversions');
$node->append_conf('postgresql.conf', "autovacuum_naptime = 1s\nautovacuum_vacuum_cost_delay = 100ms\nautovacuum_vacuum_cost_limit = 1\n");
$node->start;
$node->safe_psql('postgres', q{CREATE EXTENSION snowdrift;
	CREATE TABLE users (id serial PRIMARY KEY);
	CREATE TABLE orders (id serial PRIMARY KEY, user_id integer REFERENCES users);
	CREATE VIEW customers AS SELECT user_id FROM orders;
	CREATE TABLE busy (id serial PRIMARY KEY, n integer) WITH (autovacuum_enabled = off);
	CREATE TABLE draws (id serial PRIMARY KEY);
	CREATE TABLE kept (id serial PRIMARY KEY);
	CREATE TABLE shares (id integer DEFAULT nextval('kept_id_seq'))});

# waits_harmlessly(HOLD, CALL, OTHERS): whether other sessions' statements end while a call waits for a transaction
sub waits_harmlessly
{
	my ($hold, $call, $others) = @_;
	my $holder = $node->background_psql('postgres');
	$holder->query_safe("BEGIN; $hold");
	my $caller = $node->background_psql('postgres', on_error_stop => 0);
	$caller->query_until(qr/started/, "\\echo started\n$call;\n\\echo ended\n");
	$node->poll_query_until('postgres', q{SELECT count(*) > 0 FROM pg_locks JOIN pg_stat_activity USING (pid)
		WHERE mode = 'ShareUpdateExclusiveLock' AND granted AND backend_type = 'client backend'})
	  or die 'the call does not wait';
	my ($rc, $out, $error) = $node->psql('postgres', "SET statement_timeout = '20s'; $others");
	is($node->safe_psql('postgres', q{SELECT count(*) FROM snowdrift.watermark_holders WHERE query !~ 'holders'}), 0, 'a call that waits holds no watermark back');
	$holder->query_safe('COMMIT');
	$caller->query_until(qr/ended/, '');
	$holder->quit;
	$caller->quit;
	return $rc == 0 ? 'harmless' : $error;
}

my $convert = q{SELECT count(*) FROM snowdrift.convert_keys('{users,orders}')};
my $types = q{SELECT string_agg(atttypid::regtype::text, ' ' ORDER BY attrelid, attnum) FROM pg_attribute
	WHERE attrelid IN ('users'::regclass, 'orders'::regclass, 'draws'::regclass) AND attnum > 0};
is(waits_harmlessly('SELECT count(*) FROM users', $convert,
		q{INSERT INTO users DEFAULT VALUES; INSERT INTO orders (user_id) SELECT id FROM users; SELECT count(*) FROM customers}),
	'harmless', 'a conversion waits for a reader, and others read and write');
is($node->safe_psql('postgres', $types), 'bigint bigint bigint integer', '... and converts when the reader ends');

is(waits_harmlessly(q{SELECT last_value FROM draws_id_seq}, q{SELECT count(*) FROM snowdrift.convert_keys('{draws}')},
		'INSERT INTO draws DEFAULT VALUES; SELECT count(*) FROM draws'),
	'harmless', 'a conversion waits for a session that uses only the sequence, and others read and write');
is($node->safe_psql('postgres', $types), 'bigint bigint bigint bigint', '... and converts when the session ends');

is(waits_harmlessly('SELECT count(*) FROM orders', q{SELECT count(*) FROM snowdrift.revert_keys('{users,orders}')},
		q{INSERT INTO users DEFAULT VALUES; SELECT count(*) FROM customers}),
	'harmless', 'the way back waits for a reader, and others read and write');
is($node->safe_psql('postgres', q{SELECT string_agg(attidentity::text, '') FROM pg_attribute WHERE attrelid IN ('users'::regclass, 'orders'::regclass) AND attname = 'id'}),
	'dd', '... and reverts when the reader ends');

$node->safe_psql('postgres', q{SELECT snowdrift.convert_keys('{kept}')});
is(waits_harmlessly('INSERT INTO shares DEFAULT VALUES', q{SELECT count(*) FROM snowdrift.revert_keys('{kept}')},
		'INSERT INTO kept DEFAULT VALUES; INSERT INTO shares DEFAULT VALUES; SELECT count(*) FROM kept'),
	'harmless', 'the way back waits for a session that uses only a sequence that is kept, and others read and write');
is($node->safe_psql('postgres', q{SELECT pg_get_serial_sequence('kept', 'id'), deptype FROM pg_depend WHERE objid = 'kept_id_seq1'::regclass AND deptype = 'i'}),
	'public.kept_id_seq1|i', '... and reverts when the session ends');

# A transaction for which a conversion waits, and which waits for it: PostgreSQL sees no deadlock while the conversion sleeps.
my $writer = $node->background_psql('postgres');
$writer->query_safe('BEGIN; INSERT INTO busy DEFAULT VALUES');
my $converter = $node->background_psql('postgres', on_error_stop => 0);
$converter->query_until(qr/started/, "\\echo started\nSELECT snowdrift.convert_keys('{busy}');\n\\echo code :SQLSTATE\n");
$node->poll_query_until('postgres', q{SELECT count(*) > 0 FROM pg_stat_activity WHERE query ~ 'convert_keys' AND wait_event = 'PgSleep'})
  or die 'the conversion does not sleep';
$writer->query_safe('ANALYZE busy; COMMIT');
like($converter->query_until(qr/code \w+/, ''), qr/code 40P01/, 'a deadlock with a transaction is found');
$writer->quit;
$converter->quit;

# An autovacuum that takes hours is canceled, which PostgreSQL does only for requests that wait for deadlock_timeout.
$node->safe_psql('postgres', q{INSERT INTO busy (n) SELECT generate_series(1, 100000); UPDATE busy SET n = n;
	ALTER TABLE busy SET (autovacuum_enabled = on, autovacuum_vacuum_threshold = 1, autovacuum_vacuum_scale_factor = 0)});
$node->poll_query_until('postgres', q{SELECT count(*) > 0 FROM pg_stat_progress_vacuum WHERE relid = 'busy'::regclass}) or die 'no autovacuum';
$node->safe_psql('postgres', q{SELECT snowdrift.convert_keys('{busy}')});
like(slurp_file($node->logfile), qr/canceling autovacuum task\n.*busy/, 'a conversion ends an autovacuum');

$node->stop;
done_testing();
