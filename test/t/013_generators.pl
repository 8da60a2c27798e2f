# Named generators: dump and restore, restart, slots and definitions
use strict;
use warnings FATAL => 'all';
use Test::More;
use Snowdrift;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

my $origin = new_server('origin');
start_with_clock($origin, '+0');
$origin->safe_psql('postgres', <<'SQL');
CREATE EXTENSION snowdrift;
SELECT snowdrift.create_generator('dropped', 'snowflake');
SELECT snowdrift.drop_generator('dropped');
SELECT snowdrift.create_generator('orders', 'snowflake', layout => 'twitter', worker => 3);
SELECT snowdrift.create_generator('own', 'snowflake',
	layout => 'epoch=2024-01-01T00:00:00Z timestamp=41 datacenter=3 worker=7 sequence=12');
SELECT snowdrift.create_generator('people', 'sno', partition => 4242, sequence_max => 999);
CREATE TABLE orders (
	id bigint PRIMARY KEY DEFAULT next_snowflake('orders'),
	at timestamptz GENERATED ALWAYS AS (snowflake_timestamp(id, 'twitter')) STORED);
CREATE TABLE own (id bigint PRIMARY KEY DEFAULT next_snowflake('own'));
CREATE INDEX own_at ON own (snowflake_timestamp(id,
	'epoch=2024-01-01T00:00:00Z timestamp=41 datacenter=3 worker=7 sequence=12'));
CREATE TABLE people (id sno PRIMARY KEY DEFAULT next_sno('people', 1));
INSERT INTO orders SELECT FROM generate_series(1, 1000);
INSERT INTO own SELECT FROM generate_series(1, 1000);
INSERT INTO people SELECT FROM generate_series(1, 1000);
SQL

my $definitions = 'SELECT * FROM snowdrift_tables.generator ORDER BY name';
my $before = $origin->safe_psql('postgres', $definitions);
like($before, qr/^orders\|2\|snowflake\|twitter\|\|3\|\|0\|4095\|f\|20\d\d-/m, 'definitions are stored in the table');

# The extension is trusted: a database's owner can create it. The owner, or a member of pg_read_all_data, can dump it.
$origin->safe_psql('postgres', q{CREATE ROLE owner LOGIN; CREATE DATABASE owned OWNER owner;
	CREATE ROLE reader LOGIN IN ROLE pg_read_all_data; CREATE ROLE ordinary LOGIN});
$origin->safe_psql('owned', q{SET ROLE owner; CREATE EXTENSION snowdrift; SELECT next_snowflake();
	SELECT snowdrift.create_generator('own', 'snowflake'), snowflake_at('2022-01-01Z')});
for my $role ('owner', 'reader')
{
	my $owned = $origin->basedir . "/$role.sql";
	command_ok([ 'pg_dump', '-U', $role, '-d', $origin->connstr('owned'), '-f', $owned ], "a database is dumped by $role");
	my $content = slurp_file($owned);
	like($content, qr/^COPY snowdrift_tables.$_ .*\n(?!\\)/m, "... with the rows of $_") for 'mark', 'generator', 'backfill';
	like($content, qr/setval\('snowdrift_tables.generator_id', 1, true\)/, '... and the number of the last generator');
}
command_fails_like(
	[ 'pg_dump', '-U', 'ordinary', '-d', $origin->connstr('owned'), '-f', '/dev/null' ],
	$origin->pg_version < 18 ? qr/permission denied for schema snowdrift_tables/ : qr/user may lack SELECT privilege on the sequence/,
	'another role cannot dump it');
command_ok(
	[ 'pg_dump', '-U', 'ordinary', '--exclude-table-data=snowdrift_tables.*', '-d', $origin->connstr('owned'), '-f', '/dev/null' ],
	'... except without the data of the extension');

my $dump = $origin->basedir . '/dump.sql';
command_ok([ 'pg_dump', '-d', $origin->connstr('postgres'), '-f', $dump ], 'the database is dumped');
my $restored = new_server('restored');
start_with_clock($restored, '-30');
command_ok(
	[ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', $restored->connstr('postgres'), '-f', $dump ],
	'... and restored');
is($restored->safe_psql('postgres', $definitions), $before, 'the definitions are the same');
for my $table ('orders', 'own')
{
	my $last = $origin->safe_psql('postgres', "SELECT max(id) FROM $table");
	cmp_ok($restored->safe_psql('postgres', "INSERT INTO $table DEFAULT VALUES RETURNING id"),
		'>', $last, "$table: the next ID is greater than all dumped ones");
}
is( $restored->safe_psql('postgres', 'SELECT at = snowflake_timestamp(id, $$twitter$$) FROM orders LIMIT 1'),
	't', 'generated columns with a layout are restored');
$restored->safe_psql('postgres', "SELECT snowdrift.create_generator('more', 'snowflake')");
is( $restored->safe_psql('postgres', "SELECT id FROM snowdrift_tables.generator WHERE name = 'more'"),
	5, 'ids of generators are not reused');
# The clock is behind the mark.
cmp_ok($restored->safe_psql('postgres', 'INSERT INTO people DEFAULT VALUES RETURNING id'),
	'gt', $origin->safe_psql('postgres', 'SELECT max(id) FROM people'), 'sno values continue too');
$restored->stop;

# A role that is not a superuser restores a complete dump in one transaction.
my $archive = $origin->basedir . '/dump.custom';
command_ok([ 'pg_dump', '-Fc', '-d', $origin->connstr('postgres'), '-f', $archive ], 'an archive is created');
$origin->safe_psql('postgres', 'CREATE ROLE tenant LOGIN; CREATE DATABASE tenants OWNER tenant');
command_ok(
	[ 'pg_restore', '-1', '-e', '--no-owner', '-U', 'tenant', '-d', $origin->connstr('tenants'), $archive ],
	'... and restored by the owner of a database, in one transaction');
is($origin->safe_psql('tenants', $definitions), $before, '... with its generators');
is( $origin->safe_psql('tenants', 'SELECT mark IS NOT NULL FROM snowdrift.clock'), 't', '... and its mark');
$origin->safe_psql('tenants', "SET ROLE tenant; SELECT snowdrift.create_generator('tenant''s', 'snowflake')");
is($origin->safe_psql('tenants', q{SELECT id FROM snowdrift_tables.generator WHERE name = 'tenant''s'}),
	5, '... and their ids continue');
$origin->safe_psql('postgres', 'DROP DATABASE tenants');

# A dump contains the rows of the extension's tables under the present name of their schema. The tables are not used
# while the schema has another name, which CREATE EXTENSION would not give it.
$origin->safe_psql('postgres', 'CREATE DATABASE named');
$origin->safe_psql('named', q{CREATE SCHEMA ids; CREATE EXTENSION snowdrift SCHEMA ids;
	SELECT snowdrift.create_generator('own', 'snowflake', worker => 7);
	CREATE TABLE drawn (id bigint PRIMARY KEY DEFAULT ids.next_snowflake('own'));
	INSERT INTO drawn DEFAULT VALUES;
	INSERT INTO drawn SELECT ids.snowflake_at('2022-01-01Z', 'own') FROM generate_series(1, 3)});
my $open = $origin->background_psql('named', on_error_stop => 0);
$open->query_safe(q{SELECT ids.next_snowflake('own'), ids.snowflake_at('2022-01-01Z')});
$origin->safe_psql('named', 'ALTER SCHEMA snowdrift_tables RENAME TO tables');
my $is_refused = qr/ERROR:  (?:55000: )?schema "snowdrift_tables" was renamed to "tables".*DETAIL:  .*HINT:  Run ALTER SCHEMA tables RENAME TO snowdrift_tables\./s;
for my $statement ((map { "SELECT ids.$_" } 'next_snowflake()', 'next_ulid()', 'next_uuidv7()', 'next_sno()',
		"next_snowflake('own')", "snowflake_at('2022-01-01Z')", "snowflake_at('2022-01-01Z', 'own')"),
	(map { "SELECT snowdrift.$_" } "create_generator('more', 'sno')", "drop_generator('own')", "snapshot('own')", 'advance(now())'),
	'SELECT * FROM snowdrift.clock', 'SELECT * FROM snowdrift.generators', 'INSERT INTO tables.generator SELECT * FROM tables.generator',
	'INSERT INTO tables.mark SELECT * FROM tables.mark', 'INSERT INTO tables.backfill SELECT * FROM tables.backfill')
{
	like(error_of_database($origin, 'named', $statement), $is_refused, "after a rename: $statement");
}
$open->query(q{SET statement_timeout = '60s'; DO $$ BEGIN LOOP PERFORM ids.next_snowflake('own'); END LOOP; END $$});
like($open->{stderr}, $is_refused, '... and in an open session, when it advances the mark');
$open->{stderr} = '';
$open->query(q{SELECT ids.snowflake_at('2022-01-01Z')});
like($open->{stderr}, $is_refused, '... or returns IDs of past times');
$open->quit;
$origin->safe_psql('named', 'BEGIN; DROP EXTENSION snowdrift CASCADE; CREATE EXTENSION snowdrift SCHEMA ids; SELECT ids.next_snowflake(); ROLLBACK');
$origin->safe_psql('named', 'ALTER SCHEMA tables RENAME TO snowdrift_tables');

# moved(TABLE, STATEMENT): the error of the statement while the table is in another schema
sub moved
{
	my ($kind, $table, $statement) = @_;
	$origin->safe_psql('named', "ALTER $kind snowdrift_tables.$table SET SCHEMA public");
	my $error = error_of_database($origin, 'named', $statement);
	$origin->safe_psql('named', "ALTER $kind public.$table SET SCHEMA snowdrift_tables");
	return $error;
}
like(moved('TABLE', 'mark', 'SELECT ids.next_snowflake()'), qr/55000: table "snowdrift_tables.mark" is missing.*HINT:  Undo/s, 'the table of the mark is not used in another schema');
like(moved('TABLE', 'generator', "SELECT ids.next_snowflake('own')"), qr/42P01: table "snowdrift_tables.generator" does not exist.*HINT:  Undo/s, '... nor is that of the definitions');
like(moved('SEQUENCE', 'generator_id', "SELECT snowdrift.create_generator('more', 'sno')"), qr/42P01: sequence "snowdrift_tables.generator_id" does not exist.*HINT:  Undo/s, '... nor is that of their ids');
like(moved('TABLE', 'backfill', "SELECT ids.snowflake_at('2022-01-01Z')"), qr/55000: table "snowdrift_tables.backfill" is missing.*HINT:  Undo/s, '... nor is that of the IDs of past times');

# After that, and after the other schemas are renamed, dumps are restored.
for my $schema ('ids', 'renamed')
{
	$origin->safe_psql('named', "ALTER SCHEMA ids RENAME TO renamed; ALTER SCHEMA snowdrift RENAME TO administration") if $schema ne 'ids';
	command_ok([ 'pg_dump', '-Fc', '-d', $origin->connstr('named'), '-f', $archive ], "a dump with the functions in the schema $schema");
	$origin->safe_psql('postgres', 'CREATE DATABASE again');
	command_ok([ 'pg_restore', '-1', '-e', '-d', $origin->connstr('again'), $archive ], '... is restored');
	is($origin->safe_psql('again', $definitions), $origin->safe_psql('named', $definitions), '... with its generators');
	is( $origin->safe_psql('again', qq{INSERT INTO drawn SELECT $schema.snowflake_at('2022-01-01Z', 'own') FROM generate_series(1, 3);
			INSERT INTO drawn DEFAULT VALUES RETURNING id > (SELECT max(id) FROM drawn)}),
		't', '... which repeat no ID');
	$origin->safe_psql('postgres', 'DROP DATABASE again');
}
$origin->safe_psql('postgres', 'DROP DATABASE named');

# Each database has its own share of slots, and memory grows with them. With dynamic_shared_memory_type =
# mmap, each segment is a file.
my $rooms = new_server('rooms');
$rooms->append_conf('postgresql.conf', "dynamic_shared_memory_type = mmap\nautovacuum = off\nmax_prepared_transactions = 1");
$rooms->start;
# If one database uses all slots, another database still gets its first ID.
$rooms->safe_psql('template1', "CREATE DATABASE crowded");
$rooms->safe_psql('crowded', "CREATE EXTENSION snowdrift; SELECT snowdrift.create_generator('k' || n, 'sno'),
	snowdrift.snapshot('k' || n) FROM generate_series(1, 255) AS n");
$rooms->safe_psql('template1', 'CREATE DATABASE arriving');
is($rooms->safe_psql('arriving', 'CREATE EXTENSION snowdrift; SELECT next_snowflake() > 0'),
	't', 'the first ID of a database when all slots are in use');
$rooms->safe_psql('template1', "DROP DATABASE $_") for 'crowded', 'arriving';
$rooms->restart;
sub pieces { my @files = glob($rooms->data_dir . '/pg_dynshmem/mmap.*'); return scalar @files }
$rooms->safe_psql('template1', "CREATE DATABASE $_"), $rooms->safe_psql($_, 'CREATE EXTENSION snowdrift')
  for 'one', 'two';
$rooms->safe_psql('one', 'SELECT next_snowflake(), next_sno(), next_ulid(), next_uuidv7()');
my $pieces = pieces();
$rooms->safe_psql('one', "SELECT snowdrift.create_generator('c' || n, 'sno') FROM generate_series(1, 100) AS n");
my @racers = map { $rooms->background_psql('one') } 1 .. 4;
$_->query_until(qr/racing/, "\\echo racing\nSELECT count(next_sno('c' || n)) FROM generate_series(1, 100) AS n;\n") for @racers;
$_->quit for @racers;
is(pieces(), $pieces, 'sessions that draw their first IDs concurrently allocate no additional memory');
$rooms->safe_psql('one', "SELECT snowdrift.drop_generator('c' || n) FROM generate_series(1, 100) AS n");
# A snapshot allocates a slot without drawing an ID.
$rooms->safe_psql('one', "SELECT snowdrift.create_generator('g', 'snowflake'); SELECT snowdrift.snapshot('g');
	SELECT snowdrift.drop_generator('g');\n" x 300);
is(pieces(), $pieces, 'dropping a generator frees its slot');
$rooms->safe_psql('one',
	"BEGIN; SELECT snowdrift.create_generator('g', 'sno'); SELECT snowdrift.snapshot('g'); ROLLBACK;\n" x 300);
is(pieces(), $pieces, '... and so does rolling back its creation');
my $undone = "SAVEPOINT a; SELECT snowdrift.create_generator('g', 'sno'); SAVEPOINT b;
	SELECT snowdrift.snapshot('g'); RELEASE b; ROLLBACK TO a;\n";
$rooms->safe_psql('one', "BEGIN;\n" . $undone x 300 . 'COMMIT');
is(pieces(), $pieces, '... also by a savepoint');
like(
	$rooms->safe_psql('one', q{
		SELECT snowdrift.create_generator('p', 'snowflake');
		SELECT next_snowflake('p');
		BEGIN;
		SELECT snowdrift.drop_generator('p');
		SELECT snowdrift.create_generator('p', 'snowflake');
		SELECT next_snowflake('p') AS last \gset
		PREPARE TRANSACTION 'replace';
		ROLLBACK PREPARED 'replace';
		SELECT next_snowflake('p') > :last AND next_snowflake('p') > :last;
		SELECT snowdrift.drop_generator('p')}),
	qr/^t$/m, 'a rolled back replacement, which was prepared, repeats no ID');
# The state of a generator whose drop was prepared is kept. A generator with its id does not continue there.
my $lead = 0;
for my $way ('SELECT setval($$snowdrift_tables.generator_id$$, :number, false), snowdrift.create_generator($$p$$, $$snowflake$$)',
	'INSERT INTO snowdrift_tables.generator VALUES ($$p$$, :number, $$snowflake$$, $$snowflake$$, NULL, NULL, NULL, 0, 4095)')
{
	like( $rooms->safe_psql('one', qq{SELECT snowdrift.create_generator('p', 'snowflake'); SELECT next_snowflake('p');
		SELECT id AS number FROM snowdrift_tables.generator WHERE name = 'p' \\gset
		BEGIN; SELECT snowdrift.drop_generator('p'); PREPARE TRANSACTION 'dropped'; COMMIT PREPARED 'dropped';
		SELECT snowdrift.create_generator('p', 'snowflake');
		SELECT next_snowflake('p');
		SELECT snowdrift.restore('p', jsonb_set(snowdrift.snapshot('p'), '{last_timestamp}',
			to_jsonb(to_char((clock_timestamp() + interval '${\ ($lead += 20)} s') AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'))));
		SELECT next_snowflake('p') AS of_second \\gset
		SELECT snowdrift.drop_generator('p');
		\\c
		$way;
		SELECT next_snowflake('p') > :of_second;
		SELECT snowdrift.drop_generator('p')}),
		qr/^t$/m, 'a generator with the id of one whose drop was prepared repeats no ID');
}
# A session that has used up times of a generator does not skip them for another generator with its id.
my $create_past = q{SELECT snowdrift.create_generator('past', 'snowflake', worker => 30, sequence_max => 3)};
my $filler = $rooms->background_psql('one');
$filler->query_safe("$create_past; SELECT count(snowflake_at('2022-01-01Z', 'past')) FROM generate_series(1, 8)");
$rooms->safe_psql('one', qq{SELECT id AS number FROM snowdrift_tables.generator WHERE name = 'past' \\gset
	SELECT snowdrift.drop_generator('past'); SELECT setval('snowdrift_tables.generator_id', :number, false); $create_past});
is($filler->query_safe(q{SELECT snowflake_timestamp(snowflake_at('2022-01-01Z', 'past')) = '2022-01-01Z'}), 't',
	'a session begins with the first numbers of a generator with the id of a dropped one');
$filler->query_safe(q{SELECT snowdrift.drop_generator('past')});
$filler->quit;
# A drop waits for a prepared transaction that has drawn, and others draw meanwhile.
$rooms->safe_psql('one', q{SELECT snowdrift.create_generator('p', 'snowflake');
	BEGIN; SELECT next_snowflake('p'); PREPARE TRANSACTION 'drawn'});
like(error_of_database($rooms, 'one', q{SET lock_timeout = '10ms'; SELECT snowdrift.drop_generator('p')}),
	qr/55P03: canceling statement due to lock timeout/, 'a prepared transaction that has drawn blocks a drop');
my $dropper = $rooms->background_psql('one');
$dropper->query_until(qr/dropping/, "\\echo dropping\nSELECT snowdrift.drop_generator('p');\n");
$rooms->poll_query_until('one', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'});
is($rooms->safe_psql('one', q{SET statement_timeout = '60s'; SELECT next_snowflake('p') > 0}), 't', '... which blocks nobody');
$rooms->safe_psql('one', q{COMMIT PREPARED 'drawn'});
$dropper->query_safe('SELECT');
$dropper->quit;
is($rooms->safe_psql('one', q{SELECT count(*) FROM snowdrift.generators WHERE name = 'p'}), 0, '... and ends after it');
my $many = "SELECT snowdrift.create_generator('n' || n, 'snowflake') FROM generate_series(1, %d) AS n;
	SELECT next_snowflake('n' || n) FROM generate_series(1, %d) AS n";
$rooms->safe_psql('one', sprintf($many, 1000, 1000));
cmp_ok(pieces(), '>', $pieces, 'a thousand generators allocate memory');
like(error_of_database($rooms, 'one', "SELECT snowdrift.create_generator('late', 'snowflake'); SELECT next_snowflake('late')"),
	qr/ERROR:  53400: too many ID generators in this database.*DETAIL:  .* 1000 .*HINT:  .*drop_generator/s,
	'... and are the limit of a database');
# A transaction that has dropped a generator cannot use its place before it commits: its watches still know the watermarks.
my $watched = $rooms->safe_psql('one', q{CREATE TABLE watched (id bigint PRIMARY KEY DEFAULT next_snowflake('n1'));
	SELECT snowdrift.watch('watched', 'id');
	SELECT next_snowflake('n1') AS low \gset
	SELECT count(next_snowflake('n1')) FROM generate_series(1, 10000);    -- of several milliseconds
	SELECT snowflake_watermark('n1') > :low;
	SELECT :low}) =~ s/.*\n//sr;
like(error_of_database($rooms, 'one', "BEGIN; SELECT snowdrift.drop_generator('n1', force => true); SELECT next_snowflake('late')"),
	qr/ERROR:  53400: too many ID generators/, '... also after a drop in the same transaction');
like(error_of_database($rooms, 'one', "INSERT INTO watched VALUES ($watched)"), qr/55000: .*below the latest watermark/, '... whose generator keeps its watermark');
$rooms->safe_psql('one', 'DROP TABLE watched');
$rooms->safe_psql('two', sprintf($many, 300, 300));
is($rooms->safe_psql('two', 'SELECT next_snowflake() > 0 AND next_ulid() > ulid_nil()'),
	't', '... but not of other databases');
$rooms->safe_psql('one', "SELECT snowdrift.drop_generator('n1000')");
is($rooms->safe_psql('one', "SELECT next_snowflake('late') > 0"), 't', 'after one is dropped, another can be used');
$rooms->safe_psql('template1', 'DROP DATABASE one');
$pieces = pieces();
$rooms->safe_psql('template1', 'CREATE DATABASE three');
$rooms->safe_psql('three', 'CREATE EXTENSION snowdrift; ' . sprintf($many, 1000, 1000));
is(pieces(), $pieces, 'the slots of a dropped database are reused');
# A transaction that has drawn does not block DROP EXTENSION, but keeps its slots.
my $drawer = $rooms->background_psql('three');
$drawer->query_safe($_) for 'BEGIN', q{SELECT next_snowflake('n1')};
$rooms->safe_psql('three', 'DROP EXTENSION snowdrift; CREATE EXTENSION snowdrift; ' . sprintf($many, 1000, 999));
like(error_of_database($rooms, 'three', q{SELECT next_snowflake('n1000')}), qr/53400: too many ID generators/,
	'a transaction keeps the slots that it has drawn from, even if the extension is created again');
$drawer->query_safe('COMMIT');
is($rooms->safe_psql('three', q{SELECT next_snowflake('n1000') > 0}), 't', '... until it ends');
$drawer->quit;
if ($ENV{SNOWDRIFT_LONG})
{
	for my $n (1 .. 80)
	{
		$rooms->safe_psql('template1', "CREATE DATABASE d$n");
		$rooms->safe_psql("d$n", 'CREATE EXTENSION snowdrift; SELECT next_snowflake(), next_sno(), next_ulid(), next_uuidv7()');
	}
	is($rooms->safe_psql('d80', 'SELECT next_snowflake() > 0'), 't', '80 databases have their own slots');
}
$rooms->stop;

$origin->safe_psql('template1', 'CREATE DATABASE one');
$origin->safe_psql('one', 'CREATE EXTENSION snowdrift; ' . sprintf($many, 80, 80));

# After the extension is created again, the ids of generators start again.
my $renewed = $origin->safe_psql('one', "SELECT next_snowflake('n1');
	DROP EXTENSION snowdrift; CREATE EXTENSION snowdrift;
	SELECT snowdrift.create_generator('n1', 'sno'); SELECT next_sno('n1');
	SELECT lead < '4s', regressions FROM snowdrift.generators WHERE name = 'n1'");
like($renewed, qr/^t\|0$/m, 'a generator does not take over the state of an earlier extension');
my $keeper = $origin->background_psql('one');
$keeper->query_safe("SET client_min_messages = warning; SELECT snowdrift.create_generator('kept', 'snowflake'), next_snowflake('kept')");
my $numbers = "SELECT string_agg(id || name, ' ' ORDER BY id) FROM snowdrift_tables.generator";
my $first_numbers = $origin->safe_psql('one', $numbers);
$origin->safe_psql('one', "DROP EXTENSION snowdrift; CREATE EXTENSION snowdrift;
	SELECT snowdrift.create_generator('n1', 'sno'), snowdrift.create_generator('kept', 'snowflake')");
is($origin->safe_psql('one', $numbers), $first_numbers, 'the generators have the same ids again');
$keeper->query_safe("SELECT next_snowflake('kept')");
$keeper->quit;
is($origin->safe_psql('one', "SELECT last_timestamp IS NOT NULL FROM snowdrift.generators WHERE name = 'kept'"),
	't', '... and neither does a session that drew from it');

# After a crash, each generator begins after the mark at the time of the crash, even if others have advanced it.
$origin->stop('immediate');
start_with_clock($origin, '+0');
$origin->safe_psql('postgres', sprintf($many, 80, 80));
is($origin->safe_psql('postgres', "SELECT max(lead) < '1s' FROM snowdrift.generators"),
	't', 'generators that begin one after the other keep the lead short');

# A crash, with the clock behind afterwards
my %last = map { $_ => $origin->safe_psql('postgres', "SELECT max(id) FROM $_") } 'orders', 'own';
$origin->stop('immediate');
start_with_clock($origin, '-20');
cmp_ok($origin->safe_psql('postgres', "INSERT INTO $_ DEFAULT VALUES RETURNING id"),
	'>', $last{$_}, "$_: after a crash, IDs ascend")
  for 'orders', 'own';
$origin->stop;

done_testing();
