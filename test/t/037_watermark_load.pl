# Watermarks under load: short transactions commit, roll back and are prepared while a reader looks for new rows without
# a pause. It misses no row and reads none twice, for each kind of IDs, and whatever the plan of its query.
use strict;
use warnings FATAL => 'all';
use Test::More;
use Snowdrift;
use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

my $transactions = $ENV{SNOWDRIFT_LONG} ? 3000 : 100;    # of each writer

my $node = new_server('load');
$node->append_conf('postgresql.conf', "max_prepared_transactions = 20\nsynchronous_commit = off\n");
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION snowdrift;
	SELECT snowdrift.create_generator('feed', 'snowflake');
	CREATE TABLE finished (is_finished boolean);
	-- Reads new rows without a pause, until the writers have finished
	CREATE PROCEDURE read_new(type text, first text, watermark text) LANGUAGE plpgsql AS $$
	DECLARE
		last text := first;
		is_last boolean := false;
		row_id text;
	BEGIN
		WHILE NOT is_last LOOP
			is_last := EXISTS (SELECT FROM finished);
			FOR row_id IN EXECUTE format('SELECT id FROM events WHERE id > %L::%s AND id < %s ORDER BY id', last, type, watermark) LOOP
				INSERT INTO seen (id) VALUES (row_id);
				last := row_id;
			END LOOP;
			COMMIT;
		END LOOP;
	END $$});
my %first = (bigint => 0, ulid => '0' x 26, uuid => '0' x 32);

# Three of four transactions commit, one of them as a prepared transaction.
my $writers = PostgreSQL::Test::Utils::tempdir() . '/writers.sql';
append_to_file($writers, q{\set pause random(1, 2500)
\set outcome random(1, 4)
BEGIN;
INSERT INTO events (name) VALUES ('a');
\sleep :pause us
INSERT INTO events (name) VALUES ('b');
\if :outcome = 1
ROLLBACK;
\elif :outcome = 2
PREPARE TRANSACTION ':client_id';
COMMIT PREPARED ':client_id';
\else
COMMIT;
\endif
});

# check(NAME, TYPE, DEFAULT, WATERMARK, CLAUSE, SETTINGS): reads table events of that form while 8 sessions write to it
sub check
{
	my ($name, $type, $default, $watermark, $clause, $settings) = @_;
	$node->safe_psql('postgres', qq{
		DROP TABLE IF EXISTS events, seen CASCADE;
		TRUNCATE finished;
		CREATE TABLE events (id $type DEFAULT $default, name text) $clause;
		CREATE TABLE seen (n bigint GENERATED ALWAYS AS IDENTITY, id text)});
	$node->safe_psql('postgres', join(';', map { "CREATE TABLE events_$_ PARTITION OF events FOR VALUES WITH (MODULUS 3, REMAINDER $_)" } 0 .. 2))
	  if $clause;
	$node->safe_psql('postgres', 'CREATE INDEX ON events (id)');
	my $reader = IPC::Run::start(
		[
			'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('postgres'),
			'-c', $settings // 'SELECT', '-c', "CALL read_new('$type', '$first{$type}', \$\$$watermark\$\$)"
		],
		'<', \undef, '>', \my $out, '2>', \my $errors);
	command_ok([ 'pgbench', '-n', '-c', 8, '-t', $transactions, '-f', $writers, '-d', $node->connstr('postgres') ],
		"$name: the writers finish");
	$node->poll_query_until('postgres', "SELECT NOT EXISTS (SELECT FROM events WHERE id >= $watermark)")
	  or die 'the last row does not become readable';
	$node->safe_psql('postgres', 'INSERT INTO finished VALUES (true)');
	$reader->finish or die "the reader failed: $errors";
	my $result = $node->safe_psql('postgres', q{
		SELECT (SELECT count(*) FROM events WHERE NOT EXISTS (SELECT FROM seen WHERE seen.id = events.id::text)),
			count(*) - count(DISTINCT id), (SELECT count(*) FROM events) > 500 FROM seen});
	is($result, '0|0|t', "$name: no row is missed, none is read twice");
	return;
}

check('Snowflakes', 'bigint', 'next_snowflake()', 'snowflake_watermark()', '');
check('a named generator', 'bigint', q{next_snowflake('feed')}, q{snowflake_watermark('feed')}, '');
check('ULIDs', 'ulid', 'next_ulid()', 'ulid_watermark()', '');
check('UUIDs', 'uuid', 'next_uuidv7()', 'uuidv7_watermark()', '');
check('partitions', 'bigint', 'next_snowflake()', 'snowflake_watermark()', 'PARTITION BY HASH (id)');
check('a sequential scan', 'bigint', 'next_snowflake()', 'snowflake_watermark()', '',
	'SET enable_indexscan = off; SET enable_indexonlyscan = off; SET enable_bitmapscan = off');

$node->stop;
done_testing();
