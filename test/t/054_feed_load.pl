# snowdrift.read_new() under load, in both editions: writers commit late, roll back, use savepoints and two-phase commit, insert IDs
# that they drew earlier, and are killed, while a reader reads without a pause. It misses no row and reads none twice. A reader that
# only compares with the last ID misses rows, which shows that the load can.
use strict;
use warnings FATAL => 'all';
use Test::More;
use Snowdrift;
use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

my @amount = $ENV{SNOWDRIFT_LONG} ? ('-T', 60) : ('-t', 150);    # transactions per writer, so that a slow machine writes as many rows

my $node = new_server('load');
$node->append_conf('postgresql.conf', "max_prepared_transactions = 20\nsynchronous_commit = off\n");
$node->start;
$node->safe_psql('postgres', 'CREATE DATABASE extension');
$node->safe_psql('extension', 'CREATE EXTENSION snowdrift');
create_edition($node, 'edition');

my $writers = PostgreSQL::Test::Utils::tempdir() . '/writers.sql';
append_to_file($writers, q{\set pause random(1, 2500)
\set outcome random(1, 8)
BEGIN;
INSERT INTO events (name) VALUES ('a');
\sleep :pause us
\if :outcome = 1
ROLLBACK;
\elif :outcome = 2
PREPARE TRANSACTION ':client_id';
COMMIT PREPARED ':client_id';
\elif :outcome = 3
SAVEPOINT s;
INSERT INTO events (name) SELECT 'b' FROM generate_series(1, 3);
ROLLBACK TO s;
INSERT INTO events (name) VALUES ('c');
COMMIT;
\elif :outcome = 4
DO 'BEGIN INSERT INTO events (name) VALUES (''d''); RAISE division_by_zero; EXCEPTION WHEN division_by_zero THEN INSERT INTO events (name) VALUES (''e''); END';
COMMIT;
\else
INSERT INTO events (name) VALUES ('f');
COMMIT;
\endif
SELECT draw() AS drawn \gset
\sleep :pause us
SELECT insert_drawn(:drawn);
});

# start_reader(DATABASE, TABLE, QUERY): reads pages without a pause, until the writers have finished
sub start_reader
{
	my ($db, $table, $query) = @_;
	my $run = IPC::Run::start(
		[ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr($db), '-c', "CALL read_pages('$table', \$\$$query\$\$)" ],
		'<', \undef, '>', \my $out, '2>', \my $errors);
	return [ $run, \$errors ];
}

for my $db ('extension', 'edition')
{
	$node->safe_psql($db, q{
		CREATE TABLE finished (is_finished boolean);
		CREATE PROCEDURE read_pages(target text, query text) LANGUAGE plpgsql AS $$
		DECLARE
			last bigint := 0;
			is_last boolean := false;
			new bigint;
		BEGIN
			WHILE NOT is_last LOOP
				is_last := EXISTS (SELECT FROM finished);
				FOR new IN EXECUTE query USING last LOOP
					EXECUTE format('INSERT INTO %I (id) VALUES ($1)', target) USING new;
					last := new;
				END LOOP;
				COMMIT;
			END LOOP;
		END $$});
	for my $kind ([ 'serial', 'bigserial', q{nextval('events_id_seq')} ],
		[ 'generator', 'bigint DEFAULT next_snowflake()', 'next_snowflake()' ])
	{
		my ($name, $type, $draw) = @$kind;
		$node->safe_psql($db, qq{
			DROP FUNCTION IF EXISTS draw, insert_drawn;
			DROP TABLE IF EXISTS events, seen, naive;
			TRUNCATE finished;
			CREATE TABLE events (id $type PRIMARY KEY, name text);
			CREATE TABLE seen (n bigint GENERATED ALWAYS AS IDENTITY, id bigint);
			CREATE TABLE naive (LIKE seen INCLUDING ALL);
			CREATE FUNCTION draw() RETURNS bigint LANGUAGE sql VOLATILE RETURN $draw;
			CREATE FUNCTION insert_drawn(id bigint) RETURNS boolean LANGUAGE plpgsql AS \$\$
			BEGIN
				INSERT INTO events VALUES (id, 'drawn earlier');
				RETURN true;
			EXCEPTION WHEN object_not_in_prerequisite_state THEN
				RETURN false;
			END \$\$;
			SELECT snowdrift.watch('events')});
		my @readers = (
			start_reader($db, 'seen', 'SELECT id FROM snowdrift.read_new(NULL::events, $1)'),
			start_reader($db, 'naive', 'SELECT id FROM events WHERE id > $1 ORDER BY id'));
		my $load = IPC::Run::start([ 'pgbench', '-n', '-c', 8, @amount, '-f', $writers, '-d', $node->connstr($db) ], '>', \my $out, '2>', \my $errors);
		# Sessions are killed while they write.
		my $killer = IPC::Run::start([ 'psql', '-X', '-q', '-d', $node->connstr($db), '-c', q{DO $$ BEGIN LOOP
			INSERT INTO events (name) VALUES ('killed'); PERFORM pg_terminate_backend(pg_backend_pid()); END LOOP; END $$} ], '>', \my $killed, '2>', \my $message);
		$killer->finish;
		$load->finish;
		unlike($errors, qr/error|abort/i, "$db, $name: the writers finish");
		$node->safe_psql($db, 'COMMIT PREPARED ' . join('; COMMIT PREPARED ', map { "'$_'" } split /\n/, $node->safe_psql($db, 'SELECT gid FROM pg_prepared_xacts')))
		  if $node->safe_psql($db, 'SELECT count(*) FROM pg_prepared_xacts');
		$node->poll_query_until($db, 'SELECT (SELECT max(id) FROM events) = (SELECT max(id) FROM snowdrift.read_new(NULL::events, max => NULL))')
		  or die 'the last row does not become readable';
		$node->safe_psql($db, 'INSERT INTO finished VALUES (true)');
		$_->[0]->finish or die 'a reader failed: ' . ${ $_->[1] } for @readers;
		is($node->safe_psql($db, q{
			SELECT (SELECT count(*) FROM events AS e WHERE NOT EXISTS (SELECT FROM seen AS s WHERE s.id = e.id)), count(*) - count(DISTINCT id),
				count(*) FILTER (WHERE is_ordered), (SELECT count(*) FROM events) > 300
			FROM (SELECT id, id < lag(id) OVER (ORDER BY n) AS is_ordered FROM seen) AS s}), '0|0|0|t', "... no row is missed, none is read twice, all are read in order");
		is($node->safe_psql($db, 'SELECT EXISTS (SELECT FROM events AS e WHERE NOT EXISTS (SELECT FROM naive AS s WHERE s.id = e.id))'), 't',
			'... and a reader without a watermark misses rows');
	}
}

$node->stop;
done_testing();
