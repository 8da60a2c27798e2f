# The file of the SQL edition is installed over an older one that is in use, and after tools have dropped some of its
# objects: no ID is lost or repeated, privileges stay, and no function of another role is run or adopted.
use strict;
use warnings FATAL => 'all';
use Test::More;
use Snowdrift;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

my $file = 'sql-edition/snowdrift.sql';
my $node = PostgreSQL::Test::Cluster->new('again');
$node->init;
$node->append_conf('postgresql.conf', "autovacuum = off\nlog_statement = none\ndeadlock_timeout = 1h\n");
start_with_clock($node, '+0');
$node->safe_psql('postgres', 'CREATE ROLE owner LOGIN; CREATE ROLE app LOGIN');
my $superuser = $node->safe_psql('postgres', 'SELECT current_user');

# in(DATABASE, STATEMENTS): the results for the owner of the database
sub in
{
	my ($database, $statements) = @_;
	local $ENV{PGUSER} = 'owner';
	return $node->safe_psql($database, $statements);
}

# create_database(NAME, FILE): creates a database of the owner, with the edition that the file installs
sub create_database
{
	my ($name, $edition) = @_;
	$node->safe_psql('postgres', "CREATE DATABASE $name OWNER owner");
	$node->safe_psql($name, 'GRANT CREATE ON SCHEMA public TO app; GRANT CREATE ON DATABASE ' . $name . ' TO app');
	in($name, "BEGIN;\n\\i $edition\nCOMMIT") if defined $edition;
	return;
}

# error_as(ROLE, DATABASE, STATEMENTS): the error of the role's statements
sub error_as
{
	my ($role, $database, $statements) = @_;
	local $ENV{PGUSER} = $role;
	return error_of_database($node, $database, $statements);
}

# The objects of the edition, with their definitions and privileges
my $objects = q{
	SELECT regexp_replace(concat_ws(' ', pg_describe_object(class, oid, 0), md5(definition), acl), 'state_[0-9a-f]{32}', 'state_N', 'g') FROM (
		SELECT 'pg_namespace'::regclass AS class, oid, nspname AS schema, nspname AS name, NULL AS definition, nspacl AS acl FROM pg_namespace
		UNION ALL SELECT 'pg_class'::regclass, oid, relnamespace::regnamespace::text, relname, pg_get_viewdef(oid), relacl FROM pg_class
		UNION ALL SELECT 'pg_type'::regclass, oid, typnamespace::regnamespace::text, typname, format_type(typbasetype, NULL), typacl FROM pg_type
		UNION ALL SELECT 'pg_trigger'::regclass, oid, 'snowdrift_tables', tgname, concat_ws(' ', pg_get_triggerdef(oid), tgenabled), NULL FROM pg_trigger
			WHERE tgrelid::regclass::text ~ 'generator$'
		UNION ALL SELECT 'pg_proc'::regclass, oid, pronamespace::regnamespace::text, proname, pg_get_functiondef(oid), proacl FROM pg_proc WHERE prokind = 'f') AS o
	WHERE schema ~ '^snowdrift' OR schema = 'public' AND name ~ 'snowflake|uuidv7|ulid|typeid' ORDER BY 1};

# Tables whose keys are from the default generator and from a named one, directly, by a domain, and in partitions
my $tables = q{
	SELECT snowdrift.create_generator('web', 'snowflake', 'si', 0, 3);
	CREATE TABLE posts (id bigint PRIMARY KEY DEFAULT next_snowflake(), body text);
	CREATE TABLE pages (id bigint PRIMARY KEY DEFAULT next_snowflake('web'));
	CREATE TABLE visits (id bigint DEFAULT next_snowflake()) PARTITION BY RANGE (id);
	CREATE TABLE visits_all (id bigint);
	ALTER TABLE visits ATTACH PARTITION visits_all DEFAULT;
	CREATE DOMAIN key AS bigint DEFAULT next_snowflake();
	CREATE TABLE keys (id key);
};
my $insert = q{INSERT INTO posts DEFAULT VALUES; INSERT INTO visits DEFAULT VALUES; INSERT INTO pages DEFAULT VALUES};
my $is_after = q{SELECT next_snowflake() > (SELECT max(id) FROM (SELECT id FROM posts UNION ALL SELECT id FROM visits) AS ids)};
my $is_web_after = q{SELECT next_snowflake('web') > max(id) FROM pages};

# ---- over an older edition that is in use --------------------------------------------------------------

create_database('new', $file);
in('new', q{SELECT snowdrift.create_generator('web', 'snowflake')});
my $of_fresh = in('new', $objects);
# The older edition has other bodies of functions.
my $older = $node->basedir . '/older.sql';
append_to_file($older, slurp_file($file) =~ s/( AS \$\$\n)/$1-- older\n/gr =~ s/interval '1 s' \* /interval '1 s' * 1 * /r);
create_database('older', $older);
in('older', $tables);
isnt(in('older', $objects), $of_fresh, 'an older edition is installed');
my $privileges = q{GRANT EXECUTE ON FUNCTION snowdrift.create_generator TO app; REVOKE EXECUTE ON FUNCTION next_snowflake(text) FROM PUBLIC;
	REVOKE SELECT ON snowdrift.generators FROM PUBLIC; GRANT SELECT ON snowdrift_tables.state TO app; REVOKE USAGE ON SCHEMA snowdrift FROM PUBLIC;
	GRANT EXECUTE ON FUNCTION snowdrift.advance TO PUBLIC};
in($_, $privileges) for 'older', 'new';

my $session = $node->background_psql('older', extra_params => [ '-U', 'owner' ]);
$session->query_safe("BEGIN; $insert; SELECT * FROM snowdrift.generators");
$session->query_safe('COMMIT; BEGIN; ' . $insert);
in('older', "\\i $file");
$session->query_safe("$insert; COMMIT");
$session->quit;
is(in('older', 'SELECT count(*), count(DISTINCT id) FROM (SELECT id FROM posts UNION ALL SELECT id FROM visits) AS ids'), '6|6',
	'the file is installed while a transaction draws, outside of a transaction block');
is(in('older', "$is_after; $is_web_after"), "t\nt", '... and IDs continue');
is(in('older', "SELECT max(lead) < '30 s' FROM snowdrift.generators"), 't', '... at the time of the clock');
is(in('older', $objects), in('new', $objects), '... with the new functions, and the privileges that were granted and revoked');

# An older edition whose generators have no column "spread", and whose function has no such parameter
my $spreadless = $node->basedir . '/spreadless.sql';
my $text = slurp_file($file);
for ([ 'fields,state(,spread)?$', 'fields,state$' ], [ "= 'name,layout,datacenter,worker,fields,state' THEN", "= '' THEN" ], [ qr/,(?=\n *-- the sequence; no)/, '' ], [ "        spread boolean    -- null for generators of a version without it\n    );", '    );' ], [ q{'snowdrift_tables.state', false)::}, q{'snowdrift_tables.state')::} ],
	[ ', spread boolean DEFAULT false) RETURNS void', ') RETURNS void' ], [ 'sequence, spread);', 'sequence);' ], [ "    spread := coalesce(spread, false);\n", '' ], [ 'ELSIF spread AND f.sequence_bits < 5', 'ELSIF false' ],
	[ ', snowdrift.has_spread(name) AS spread FROM', ' FROM' ], [ qr/EXECUTE \$sql\$\n?CREATE (OR REPLACE )?FUNCTION snowdrift\.has_spread.*?IS '[^']*';\n/s, '' ], [ '(g).spread', 'false' ], [ 'IF g.spread THEN', 'IF false THEN' ], [ ', coalesce(spread, false)', '' ], [ 'state text, spread boolean)', 'state text)' ])
{
	my ($from, $to) = @$_;
	$from = quotemeta $from unless ref $from;
	$text =~ s/$from/$to/ or die "$_->[0] is not in the file";
}
append_to_file($spreadless, $text);
create_database('narrow', $spreadless);
in('narrow', "$tables $insert; $privileges; GRANT EXECUTE ON FUNCTION snowdrift.create_generator TO app WITH GRANT OPTION; CREATE VIEW lag AS SELECT name, lead FROM snowdrift.generators");
unlike(in('narrow', '\\df snowdrift.create_generator'), qr/spread/, 'an edition without spread sequences is installed');
$session = $node->background_psql('narrow', extra_params => [ '-U', 'owner' ]);
$session->query_safe("BEGIN; SELECT next_snowflake('web')");
like(error_as('owner', 'narrow', "BEGIN;\n\\i $file\nCOMMIT"), qr/55P03/, 'a transaction that draws from a named generator delays the file only briefly');
$session->query_safe("INSERT INTO pages DEFAULT VALUES; COMMIT");
$session->quit;
my $last = in('narrow', "SELECT max(id) FROM posts") . ' AND next_snowflake(\'web\') > ' . in('narrow', 'SELECT max(id) FROM pages');
in('narrow', "BEGIN;\n\\i $file\nCOMMIT");
is(in('narrow', "SELECT next_snowflake() > $last, (SELECT max(lead) < '30 s' FROM snowdrift.generators); SELECT name, layout, worker, spread FROM snowdrift.generators WHERE name IS NOT NULL; SELECT count(*) FROM lag"),
	"t|t\nweb|si|3|f\n2", '... after it, generators, their states and views of the user are kept');
is(in('narrow', $objects) =~ s/app=X\*/app=X/r, in('new', $objects), '... and privileges');

# The file of a made-up next version, which has another tool, while a watched table is written
my $next = $node->basedir . '/next.sql';
my $tool = made_up_tool();
append_to_file($next, slurp_file($file) =~ s/(?=^CREATE OR REPLACE FUNCTION snowdrift\.unwatch)/$tool\n/mr);
my $before = in('older', $objects);
in('older', q{SELECT snowdrift.watch('posts'); CREATE TABLE orders (id serial PRIMARY KEY); SELECT snowdrift.watch('orders'); SELECT snowdrift.create_seal('orders', sha256('key'))});
my $sealed = in('older', q{SELECT snowflake_seal(7, 'orders')});
$session = $node->background_psql('older', extra_params => [ '-U', 'owner' ]);
$session->query_safe('BEGIN; INSERT INTO orders DEFAULT VALUES; INSERT INTO posts DEFAULT VALUES');
in('older', "BEGIN;\n\\i $next\nCOMMIT; INSERT INTO orders DEFAULT VALUES");
is(in('older', 'SELECT count(*) FROM snowdrift.read_new(NULL::orders); SELECT count(*) FROM snowdrift.read_new(NULL::posts)'), "0\n3",
	'a next version is installed while a watched table is written, and readers wait for the rows');
$session->query_safe('INSERT INTO orders DEFAULT VALUES; COMMIT');
$session->quit;
is(in('older', "SELECT count(*) FROM snowdrift.read_new(NULL::orders); SELECT snowdrift.count_rows('posts'); SELECT snowflake_unseal('$sealed', 'orders')"),
	"3\n4\n7", '... which are then read; the new tool works, and seals are kept');
like(error_as('app', 'older', q{SELECT snowdrift.count_rows('posts')}), qr/42501: permission denied for schema snowdrift/, '... for those who may use the schema');
is(in('older', $objects) =~ s/^function snowdrift\.count_rows.*\n//mr, $before, '... and nothing else is new, also no privilege');
in('older', "\\i $file");
is(in('older', "SELECT snowdrift.count_rows('posts')"), 4, '... and the file of this version, over the next one, drops nothing');

# It waits briefly for all locks.
$session = $node->background_psql('narrow', extra_params => [ '-U', 'owner' ]);
$session->query_safe("SELECT snowdrift.create_seal('orders'); BEGIN; SELECT snowdrift.rotate_seal('orders')");
like(error_as('owner', 'narrow', "BEGIN;\n\\i $file\nCOMMIT"), qr/55P03/, 'a transaction that changes a seal delays the file only briefly');
$session->query_safe('COMMIT');
$session->quit;
is(in('narrow', "SET lock_timeout = '7s'; BEGIN;\n\\i $file\nSHOW lock_timeout; COMMIT"), '7s', '... and the lock_timeout of the session is kept');

# ---- over what is left ---------------------------------------------------------------------------------

create_database('dropped', $file);
in('dropped', "$tables $insert");
my @drops = split /\n/, in('dropped', q{
	SELECT format('%s %s', kind, object) FROM (
		SELECT 'SCHEMA' AS kind, nspname::text AS object FROM pg_namespace WHERE nspname ~ '^snowdrift'
		UNION ALL SELECT CASE relkind WHEN 'v' THEN 'VIEW' WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, oid::regclass::text FROM pg_class
			WHERE relnamespace::regnamespace::text ~ '^snowdrift' AND relkind IN ('r', 'v', 'S')
		UNION ALL SELECT 'TYPE', 'snowdrift.fields' UNION ALL SELECT 'DOMAIN', 'snowflake_layout'
		UNION ALL SELECT 'TRIGGER', tgname || ' ON snowdrift_tables.generator' FROM pg_trigger WHERE tgrelid = 'snowdrift_tables.generator'::regclass
		UNION ALL SELECT 'FUNCTION', oid::regprocedure::text FROM pg_proc
			WHERE proname IN ('next_snowflake', 'create_generator', 'fields_of', 'default_generator', 'generators', 'last_ms', 'create_state')) AS o
	ORDER BY 1});
push @drops, 'SCHEMA snowdrift, snowdrift_tables', 'SEQUENCE snowdrift_tables.state, snowdrift_tables.dropped_ms',
  'FUNCTION next_snowflake(text), next_snowflake() CASCADE; DROP SCHEMA snowdrift, snowdrift_tables CASCADE; DROP DOMAIN snowflake_layout';
is(scalar @drops, 28, 'each part is dropped');
for my $drop (@drops)
{
	# IDs are ahead of the clock, but not by more than a minute. Without remains, the file cannot know them.
	my $advance = $drop =~ /FUNCTION.*SCHEMA/ ? q{SELECT snowdrift.advance(snowflake_timestamp(:last_page, 'si')) \g /dev/null} : '';
	my $result = in('dropped', qq{SET client_min_messages = error; BEGIN;
		SELECT snowdrift.advance(clock_timestamp() + interval '50 s') \\g /dev/null
		$insert;
		SELECT greatest((SELECT max(id) FROM posts), (SELECT max(id) FROM visits)) AS last, max(id) AS last_page FROM pages \\gset
		DROP $drop CASCADE;
		\\i $file
		SELECT NOT EXISTS (SELECT FROM snowdrift.generators WHERE name = 'web') AS is_lost \\gset
		\\if :is_lost
			SELECT snowdrift.create_generator('web', 'snowflake', 'si', 0, 3) \\g /dev/null
			$advance
		\\endif
		SELECT next_snowflake() > :last; SELECT next_snowflake('web') > :last_page; $objects; ROLLBACK});
	is($result, "t\nt\n$of_fresh", "after DROP $drop, the file restores all objects, and IDs continue");
}

# What drizzle-kit drops if its filter contains the schemas
in('dropped', q{SELECT snowdrift.watch('pages')});
in('dropped', q{
	DROP VIEW snowdrift.generators; DROP TABLE snowdrift_tables.generator CASCADE; DROP SEQUENCE snowdrift_tables.state;
	DROP SEQUENCE snowdrift_tables.dropped_ms});
like(error_as('owner', 'dropped', $insert), qr/ERROR/, 'after a tool has dropped the tables, inserts fail');
my ($status, $out, $messages) = $node->psql('dropped', "SET ROLE owner;\n\\i $file");
like($messages, qr/WARNING:  definition of ID generator "web" is lost\nDETAIL:  Column public.pages.id draws from it.\nHINT:  In one transaction/,
	'... until the file is run, which names the lost generators');
is(in('dropped', "INSERT INTO posts DEFAULT VALUES; $is_after"), 't', '... and makes inserts continue');
in('dropped', q{SELECT snowdrift.create_generator('web', 'snowflake', 'si', 0, 3), snowdrift.watch('pages'); INSERT INTO pages DEFAULT VALUES});
in('dropped', "\\i $file");
is(in('dropped', q{SELECT count(*) FROM pg_class WHERE relnamespace = 'snowdrift_tables'::regnamespace AND relname ~ '^state_'}), 1, '... also in a watched table, when it is watched again');

# ---- a clock that was set back -------------------------------------------------------------------------

create_database('clock', $file);
in('clock', $tables);
my $hour = 12;
for my $table ('posts', 'visits', 'keys')
{
	set_clock($node, "2027-06-01 $hour:00:00");
	in('clock', "INSERT INTO $table DEFAULT VALUES");
	set_clock($node, '2027-06-01 11:00:00');
	in('clock', "DROP SEQUENCE snowdrift_tables.state;\n\\i $file");
	is(in('clock', 'SELECT last_timestamp FROM snowdrift.generators WHERE name IS NULL'), in('clock', "SELECT timestamptz '2027-06-01 $hour:00:00 UTC'"),
		"with the clock set back, the state is that of the greatest ID in $table");
	like(error_as('owner', 'clock', 'SELECT next_snowflake()'), qr/55000: clock moved backwards by/, '... so that calls raise an error');
	set_clock($node, "2027-06-01 $hour:00:00.001");
	is(in('clock', "SELECT next_snowflake() > max(id) FROM $table"), 't', '... until the clock has caught up, and IDs continue');
	$hour++;
}

# The other generator is not ahead.
set_clock($node, '2027-06-01 15:00:30');
in('clock', 'INSERT INTO pages DEFAULT VALUES');
set_clock($node, '2027-06-01 15:00:00');
in('clock', "DROP TABLE snowdrift_tables.generator CASCADE; SET client_min_messages = error;\n\\i $file");
is(in('clock', q{SELECT snowdrift.create_generator('web', 'snowflake', 'si', 0, 3);
	SELECT last_timestamp > (SELECT snowflake_timestamp(max(id), 'si') FROM pages) FROM snowdrift.generators WHERE name = 'web'}) =~ s/\n//r,
	't', 'a lost generator that is created again begins after the IDs of the last minute');

set_clock($node, '2027-06-01 11:30:00');
in('clock', "DROP SEQUENCE snowdrift_tables.state; SET snowdrift.last_timestamp = '2027-06-01 11:20Z';\n\\i $file");
is(in('clock', 'SELECT last_timestamp FROM snowdrift.generators WHERE name IS NULL'), in('clock', "SELECT timestamptz '2027-06-01 14:00:00 UTC'"),
	'with snowdrift.last_timestamp, columns that can be read still count');
set_clock($node, '+0');

# ---- other roles ---------------------------------------------------------------------------------------

create_database('attacked', $file);
in('attacked', 'CREATE TABLE own (id bigint DEFAULT next_snowflake())');
my $attack = q{
	CREATE TABLE traps (id bigint DEFAULT next_snowflake());
	CREATE FUNCTION trap() RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
		BEGIN IF current_user <> 'app' THEN RAISE 'trap, run by %', current_user; END IF; RETURN true; END $$;
	CREATE INDEX ON traps (id) WHERE trap();
};
is(error_as('app', 'attacked', $attack), 'no error, but: ', 'a table of another role has an index with a function');
in('attacked', 'DROP SEQUENCE snowdrift_tables.state');
for my $role ('owner', $superuser)
{
	like(error_as($role, 'attacked', "SET ROLE owner;\n\\i $file"),
		qr/55000: the last IDs of lost ID generators are unknown\nDETAIL: .*: public\.traps\.id\.\nHINT:  Set snowdrift\.last_timestamp/, "tables of other roles are not read by $role");
}
is(error_as('owner', 'attacked', "SET snowdrift.last_timestamp = '2026-01-01';\n\\i $file\nSELECT next_snowflake() > 0") =~ s/.*: \n*//r, 't', '... and need not be');

# refuses(ROLE, STATEMENTS, ERROR, NAME): after these statements of the role, the file raises the error for the superuser
sub refuses
{
	my ($role, $before, $error, $name) = @_;
	$node->safe_psql('postgres', 'DROP DATABASE IF EXISTS prepared');
	create_database('prepared');
	is(error_as($role, 'prepared', $before), 'no error, but: ', "$name: prepared");
	like(error_as($superuser, 'prepared', "\\i $file"), $error, '... is refused');
	is($node->safe_psql('prepared', "SELECT count(*) FROM pg_proc WHERE proname = 'create_generator'"), '0', '... and nothing is installed');
	return;
}

refuses('app', q{CREATE FUNCTION public.next_snowflake(generator text) RETURNS bigint LANGUAGE sql RETURN 1},
	qr/42723: function public.next_snowflake\(text\) already exists\nDETAIL:  It belongs to role app\./, 'a function of another role');
refuses('owner', q{CREATE FUNCTION public.next_snowflake(generator text) RETURNS bigint LANGUAGE sql RETURN 1},
	qr/42723: function public.next_snowflake\(text\) already exists/, 'a function that is not of the edition');
refuses('app', q{CREATE DOMAIN public.snowflake_layout AS text}, qr/42501: type public.snowflake_layout belongs to role app\n/, 'a domain of another role');
refuses('app', 'CREATE SCHEMA snowdrift', qr/42501: schema snowdrift belongs to role app\n/, 'a schema of another role');
refuses('owner', 'CREATE SCHEMA snowdrift; CREATE TABLE snowdrift.flakes ()', qr/42501: schema snowdrift belongs/, 'a schema of the owner, for the superuser');
like(error_as('owner', 'prepared', "\\i $file"), qr/42P06: schema "snowdrift" already exists\nDETAIL:  It contains "flakes"/, '... and for the owner, because of its table');
like(error_as($superuser, 'new', "\\i $file"), qr/42501: .* belongs to role owner\nHINT:  If role owner has installed or restored the SQL edition, run the file as this role/,
	'only the role that has installed the file can install it again');
like(error_as('owner', 'new', "BEGIN ISOLATION LEVEL REPEATABLE READ;\n\\i $file"), qr/25001: /, '... with a present snapshot');
$node->safe_psql('new', 'GRANT CREATE ON SCHEMA snowdrift TO app');
in('new', "\\i $file");
is($node->safe_psql('new', q{SELECT has_schema_privilege('app', 'snowdrift', 'CREATE')}), 'f', '... which revokes the right to create functions in its schemas');

$node->stop;
done_testing();
