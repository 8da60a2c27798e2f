# Dumps of databases with the SQL edition: restored as a whole or in parts, moved to the extension and back by the
# steps of docs/managed-clouds.md, and of the edition as an extension without a library.
use strict;
use warnings FATAL => 'all';
use Test::More;
use Cwd qw(getcwd);
use Snowdrift;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

my ($steps) = slurp_file('docs/managed-clouds.md') =~ /^## Moving to the extension, and back\n(.*?)^## /ms;
my ($print_generators) = $steps =~ /```sql\n(.*?;)\n/s;
my %step = map { s/^ +//r =~ /(pg_dump|EXTENSION|objects\.txt|--single-transaction)/ ? ($1 => $_) : () } $steps =~ /^ *(pg_(?:.*\\\n)*.*)$/mg;
is(join(' ', sort keys %step), '--single-transaction EXTENSION objects.txt pg_dump', 'docs/managed-clouds.md has the commands of a move');

my $node = new_server('moves');
$node->start;
$node->safe_psql('postgres', 'CREATE ROLE owner LOGIN');
my $dir = PostgreSQL::Test::Utils::tempdir();
symlink(getcwd() . '/sql-edition', "$dir/sql-edition") or die $!;

sub as_owner
{
	my ($action) = @_;
	local $ENV{PGUSER} = 'owner';
	return $action->();
}

# query(SERVER, DATABASE, STATEMENTS): the result for the owner of the database
sub query
{
	my ($server, $database, $statements) = @_;
	return as_owner(sub { $server->safe_psql($database, $statements) });
}

# create_extension(SERVER, DATABASE): creates a database, and the extension of the server in it, as its owner
sub create_extension
{
	my ($server, $database) = @_;
	$server->safe_psql('postgres', "CREATE DATABASE $database OWNER owner");
	query($server, $database, 'CREATE EXTENSION snowdrift');
	return;
}

# move(FROM, DATABASE, TO, DATABASE, STEP, ROLE): moves a database to one with the other edition, with this command for the list
sub move
{
	my ($from, $old, $to, $new, $list, $role) = @_;
	append_to_file("$dir/$old.sql", query($from, $old, $print_generators));
	local %ENV = (%ENV, PGUSER => $role, OLD => $from->connstr($old), NEW => $to->connstr($new));
	command_ok([ 'sh', '-e', '-c', join("\n", "cd '$dir'", @step{ 'pg_dump', $list, '--single-transaction' }) ], "$old is restored into $new");
	delete $ENV{PGUSER};    # snowdrift.advance of the extension is for superusers
	command_ok([ 'psql', '-X', '-q', '-o', '/dev/null', '-v', 'ON_ERROR_STOP=1', '-d', $ENV{NEW}, '-f', "$dir/$old.sql" ], '... and continues its generators');
	return;
}

# objects(SERVER, DATABASE): all objects in the schemas of the editions that are neither in an extension nor the shop's
sub objects
{
	my ($server, $database) = @_;
	return query($server, $database, q{
		SELECT object FROM (
			SELECT 'pg_namespace'::regclass AS class, oid, nspname AS schema FROM pg_namespace
			UNION ALL SELECT 'pg_class'::regclass, oid, relnamespace::regnamespace::name FROM pg_class
			UNION ALL SELECT 'pg_type'::regclass, oid, typnamespace::regnamespace::name FROM pg_type
			UNION ALL SELECT 'pg_proc'::regclass, oid, pronamespace::regnamespace::name FROM pg_proc
			UNION ALL SELECT 'pg_operator'::regclass, oid, oprnamespace::regnamespace::name FROM pg_operator
			UNION ALL SELECT 'pg_extension'::regclass, oid, extname FROM pg_extension) AS o, regexp_replace(pg_describe_object(class, oid, 0), 'state_[0-9a-f]{32}', 'state_N') AS object
		WHERE schema IN ('public', 'snowdrift', 'snowdrift_tables') AND object !~ 'shop_'
			AND NOT EXISTS (SELECT FROM pg_depend AS d WHERE d.classid = class AND d.objid = o.oid AND deptype IN ('e', 'i'))
		ORDER BY object COLLATE "C"});
}

# The tables of a shop, which use what both editions have. Its IDs are ahead of the clock, so that new ones are above them only
# if the generators are continued.
my $shop = <<'SQL';
SELECT snowdrift.create_generator('orders', 'snowflake', 'twitter', 1, 2);
CREATE TABLE shop_posts (id bigint PRIMARY KEY DEFAULT next_snowflake() CHECK (snowflake_timestamp(id) >= '2021-01-01'), body text,
	at timestamptz GENERATED ALWAYS AS (snowflake_timestamp(id)) STORED);
CREATE TABLE shop_orders (id bigint PRIMARY KEY DEFAULT next_snowflake('orders'), post_id bigint REFERENCES shop_posts);
CREATE INDEX shop_orders_at ON shop_orders (snowflake_timestamp(id, 'twitter'));
CREATE VIEW shop_recent AS SELECT id, snowflake_timestamp(id, snowdrift.generator_layout('orders')) AS at FROM shop_orders
	WHERE snowflake_within(id, tstzrange('2026-01-01', NULL), 'twitter') AND snowflake_worker(id, layout => 'twitter') = 2;
CREATE TABLE shop_events (id bigint DEFAULT next_snowflake(), kind int) PARTITION BY RANGE (id);
CREATE TABLE shop_events_old PARTITION OF shop_events FOR VALUES FROM (MINVALUE) TO (snowflake_boundary('2026-01-01'));
CREATE TABLE shop_events_new PARTITION OF shop_events FOR VALUES FROM (snowflake_boundary('2026-01-01')) TO (MAXVALUE);
CREATE TABLE shop_layouts (layout snowflake_layout);
CREATE TABLE shop_users (id uuid PRIMARY KEY DEFAULT next_uuidv7());
CREATE INDEX shop_users_at ON shop_users (uuidv7_timestamp(id));
CREATE VIEW shop_names AS SELECT typeid_to_text('user', id) AS name FROM shop_users WHERE uuidv7_within(id, tstzrange('2026-01-01', NULL));
CREATE FUNCTION shop_text(bigint) RETURNS text LANGUAGE sql IMMUTABLE RETURN snowflake_to_text($1);
SELECT snowdrift.advance(clock_timestamp() + interval '50 s');
INSERT INTO shop_posts (body) SELECT 'post ' || i FROM generate_series(1, 100) AS i;
INSERT INTO shop_orders (post_id) SELECT id FROM shop_posts;
INSERT INTO shop_events (kind) SELECT 1 FROM generate_series(1, 100);
INSERT INTO shop_events VALUES (make_snowflake('2025-06-01', 1, 2, 3), 0);
INSERT INTO shop_layouts VALUES ('twitter'), ('si');
INSERT INTO shop_users SELECT FROM generate_series(1, 100);
SELECT snowdrift.create_seal('orders', decode(repeat('5a', 32), 'hex'));
SELECT snowdrift.rotate_seal('orders');
SQL

# contents(SERVER, DATABASE): the rows of all tables and views, and the results of queries
sub contents
{
	my ($server, $database) = @_;
	return query($server, $database, q{
		SELECT p.*, shop_text(id) FROM shop_posts AS p ORDER BY id; SELECT * FROM shop_orders ORDER BY id;
		SELECT * FROM shop_recent ORDER BY id; SELECT *, tableoid::regclass FROM shop_events ORDER BY id;
		SELECT * FROM shop_layouts ORDER BY layout::text COLLATE "C"; SELECT * FROM shop_users ORDER BY id; SELECT * FROM shop_names ORDER BY name COLLATE "C";
		SELECT relname, relowner::regrole FROM pg_class WHERE relname ~ '^shop_' UNION ALL SELECT proname, proowner::regrole FROM pg_proc WHERE proname ~ '^shop_' ORDER BY 1;
		SELECT indexname, indexdef FROM pg_indexes WHERE indexname ~ '^shop_' ORDER BY 1;
		SELECT snowflake_seal(1, 'orders'), snowflake_unseal('372bb604-17d4-83af-81fb-f8a1c654a6b9', 'orders');
		SELECT count(*) FROM shop_orders WHERE snowflake_timestamp(id, 'twitter') >= now() - interval '1 day';
		SELECT count(*) FROM shop_events WHERE snowflake_within(id, tstzrange('2025-01-01', '2026-01-01'));
		SELECT name, layout, datacenter, worker FROM snowdrift.generators WHERE name IS NOT NULL ORDER BY name})
	  =~ s/\(\(?'(\w+)'::text\)?::snowflake_layout\)/($1)/gr =~ s/, \(?'twitter'(::text\))?::snowflake_layout\)/, twitter)/gr;
}

# is_continued(SERVER, DATABASE, CONTENTS): whether the database has these contents, and new IDs are above the old ones
sub is_continued
{
	my ($server, $database, $contents) = @_;
	is(contents($server, $database), $contents, "... $database has the same rows, and queries the same results");
	is( query($server, $database, q{
			WITH old AS (SELECT (SELECT max(id) FROM shop_posts) AS post, (SELECT max(id) FROM shop_orders) AS "order", (SELECT max(id) FROM shop_events) AS event),
				posts AS (INSERT INTO shop_posts (body) SELECT 'new' FROM generate_series(1, 10) RETURNING id),
				orders AS (INSERT INTO shop_orders SELECT FROM generate_series(1, 10) RETURNING id),
				events AS (INSERT INTO shop_events (kind) SELECT 2 FROM generate_series(1, 10) RETURNING id)
			SELECT (SELECT min(id) FROM posts) > post, (SELECT min(id) FROM orders) > "order", (SELECT min(id) FROM events) > event FROM old}),
		't|t|t', '... and new IDs are above all old ones');
	return;
}

# ---- the file that psql installs -----------------------------------------------------------------------

create_edition($node, $_) for 'sql', 'fresh', 'returned';
query($node, 'sql', $shop);
# as ALTER DEFAULT PRIVILEGES has given them
query($node, 'sql', 'GRANT ALL ON ALL FUNCTIONS IN SCHEMA public, snowdrift TO pg_monitor; GRANT ALL ON TYPE snowflake_layout, snowdrift.fields TO pg_monitor');
my $contents = contents($node, 'sql');
like($contents, qr/\|shop_events_old\n.*\nuser_0/s, 'the shop has rows');

$node->safe_psql('postgres', 'CREATE DATABASE whole OWNER owner');
as_owner(sub {
	command_ok([ 'pg_dump', '-Fc', '-d', $node->connstr('sql'), '-f', "$dir/whole.dump" ], 'a database is dumped');
	command_ok([ 'pg_restore', '--exit-on-error', '-d', $node->connstr('whole'), "$dir/whole.dump" ], '... and restored as a whole, by its owner');
});
is(objects($node, 'whole'), objects($node, 'sql'), '... with all objects');
is_continued($node, 'whole', $contents);

# Indexes of other owners' tables are built before these roles may use the schema.
create_edition($node, 'indexed');
$node->safe_psql('postgres', 'CREATE ROLE tenant; GRANT tenant TO owner; CREATE DATABASE restored OWNER owner');
query($node, 'indexed', q{CREATE SCHEMA app AUTHORIZATION tenant; SET ROLE tenant; CREATE TABLE app.posts (id bigint PRIMARY KEY, key uuid DEFAULT next_uuidv7(), code text);
	CREATE INDEX ON app.posts (code) WHERE snowflake_within(id, '[2026-11-01Z,)');
	CREATE INDEX ON app.posts (code) WHERE id >= snowflake_boundary('2026-11-01Z', 'twitter');
	CREATE INDEX ON app.posts (code) WHERE uuidv7_within(key, '[2026-11-01Z,)');
	CREATE INDEX ON app.posts (snowflake_timestamp(id)); CREATE INDEX ON app.posts (snowflake_timestamp(id, 'epoch=2024-01-01T00:00:00Z timestamp=41 datacenter=5 worker=5 sequence=12'));
	CREATE INDEX ON app.posts (uuidv7_timestamp(key)); CREATE INDEX ON app.posts (snowflake_to_text(id)); CREATE INDEX ON app.posts (snowflake_from_text(code));
	CREATE INDEX ON app.posts (typeid_to_text('post', key)); CREATE INDEX ON app.posts (typeid_to_uuid(code))});
as_owner(sub {
	command_ok([ 'pg_dump', '-Fc', '-d', $node->connstr('indexed'), '-f', "$dir/indexed.dump" ], "a database with another role's indexes is dumped");
	command_ok([ 'pg_restore', '--exit-on-error', '-d', $node->connstr('restored'), "$dir/indexed.dump" ], '... and restored');
});

# Without privileges, all roles could call the functions. The file is run again, as after any restore.
# install(DATABASE, NAME [, FILE]): the test NAME that the file is run
sub install
{
	my ($database, $name, $file) = @_;
	command_ok([ 'psql', '-X', '-q', '-o', '/dev/null', '-v', 'ON_ERROR_STOP=1', '-1', '-f', $file // 'sql-edition/snowdrift.sql', '-d', $node->connstr($database) ], $name);
	return;
}

my @calls = ("snowflake_seal(1, 'orders')", "snowflake_unseal('372bb604-17d4-83af-81fb-f8a1c654a6b9', 'orders')", "snowdrift.seal_keys('orders')",
	"snowdrift.create_seal('new')", "snowdrift.rotate_seal('orders')", "snowdrift.drop_seal('orders')", "snowdrift.drop_seal('orders', 1)");
my $callable = q{SELECT oid::regprocedure FROM pg_proc WHERE pronamespace IN ('snowdrift'::regnamespace, 'public'::regnamespace) AND has_function_privilege('public', oid, 'EXECUTE') ORDER BY oid::regprocedure::text;
	SELECT oid::regclass FROM pg_class WHERE relnamespace = 'snowdrift'::regnamespace AND relkind = 'v' AND has_table_privilege('pg_monitor', oid, 'SELECT') ORDER BY 1;
	SELECT has_schema_privilege('pg_monitor', 'snowdrift', 'USAGE')};
for my $database ('open', 'defaults')
{
	$node->safe_psql('postgres', "CREATE DATABASE $database OWNER owner");
	$node->safe_psql($database, 'ALTER DEFAULT PRIVILEGES FOR ROLE owner GRANT SELECT ON TABLES TO pg_monitor; ALTER DEFAULT PRIVILEGES FOR ROLE owner GRANT CREATE ON SCHEMAS TO pg_monitor') if $database eq 'defaults';
	as_owner(sub { command_ok([ 'pg_restore', '--exit-on-error', '-x', '-d', $node->connstr($database), "$dir/whole.dump" ], "$database: the database is restored without privileges") });
	like(error_of_database($node, $database, "SET ROLE pg_read_all_data; SELECT $_"), qr/42501: function .*\w+\(.*\) must not be executable by PUBLIC.*HINT:  In the SQL edition, after a restore, run its file again\. Otherwise, let role \w+ run REVOKE EXECUTE ON FUNCTION/s, "... then, $_ raises an error") for @calls;
	as_owner(sub { install($database, '... until the file is run again') });
	is_continued($node, $database, $contents);
	is($node->safe_psql($database, $callable), $node->safe_psql('whole', $callable), '... which restores all privileges');
	like(error_of_database($node, $database, "SET ROLE pg_read_all_data; SELECT $_"), qr/42501: permission denied/, "... so that other roles may not call $_") for @calls;
}
query($node, 'open', 'REVOKE USAGE ON SCHEMA snowdrift FROM PUBLIC; REVOKE SELECT ON snowdrift.generators FROM PUBLIC');
my $revoked = $node->safe_psql('open', $callable);
as_owner(sub { install('open', 'the file is run again') });
is($node->safe_psql('open', $callable), $revoked, '... and grants nothing that was revoked');

# If a role with a grant does not exist, pg_restore does not revoke what PUBLIC may call either.
$node->safe_psql('sql', 'CREATE ROLE leaving');
query($node, 'sql', 'GRANT EXECUTE ON FUNCTION snowdrift.seal_keys(text), snowdrift.rotate_seal(text, bytea) TO leaving');
as_owner(sub { command_ok([ 'pg_dump', '-Fc', '-d', $node->connstr('sql'), '-f', "$dir/granted.dump" ], 'a database with grants is dumped') });
$node->safe_psql('sql', 'DROP OWNED BY leaving; DROP ROLE leaving; CREATE DATABASE granted OWNER owner');
as_owner(sub { command_fails([ 'pg_restore', '-d', $node->connstr('granted'), "$dir/granted.dump" ], '... and restored without the role') });
like(error_of_database($node, 'granted', "SET ROLE pg_monitor; SELECT $_"), qr/42501: function snowdrift\.\w+\(.*\) must not be executable by PUBLIC/s, "... then, $_ raises an error")
  for grep { /seal_keys|rotate/ } @calls;
as_owner(sub { install('granted', '... until the file is run again') });
is($node->safe_psql('granted', $callable), $node->safe_psql('whole', $callable), '... which restores all privileges');
as_owner(sub {
	command_fails([ 'pg_restore', '--clean', '-n', 'snowdrift', '-d', $node->connstr('granted'), "$dir/granted.dump" ], 'a part is restored without the role');
	install('granted', '... and the file is run again');
});
is($node->safe_psql('granted', $callable), $node->safe_psql('whole', $callable), '... which restores all privileges');

# Default privileges of other kinds, which name the owner itself, are no reason to revoke a grant.
$node->safe_psql('sql', 'CREATE ROLE keeper');
query($node, 'sql', 'GRANT EXECUTE ON FUNCTION snowflake_seal(bigint, text) TO keeper');
as_owner(sub { command_ok([ 'pg_dump', '-Fc', '-d', $node->connstr('sql'), '-f', "$dir/kept.dump" ], 'a database with a grant is dumped') });
$node->safe_psql('sql', 'DROP OWNED BY keeper; CREATE DATABASE hardened OWNER owner');
$node->safe_psql('hardened', 'ALTER DEFAULT PRIVILEGES FOR ROLE owner REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC; ALTER DEFAULT PRIVILEGES FOR ROLE owner GRANT SELECT ON TABLES TO keeper; ALTER DEFAULT PRIVILEGES FOR ROLE keeper REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC');
as_owner(sub {
	command_ok([ 'pg_restore', '--exit-on-error', '-d', $node->connstr('hardened'), "$dir/kept.dump" ], '... restored');
	install('hardened', '... and the file is run again');
});
is($node->safe_psql('hardened', q{SELECT has_function_privilege('keeper', 'snowflake_seal(bigint, text)', 'EXECUTE')}), 't', '... which keeps the grant');

# In another schema, without the schema public
append_to_file("$dir/ids.sql", slurp_file('sql-edition/snowdrift.sql') =~ s/public\./ids./gr);
for my $database ('elsewhere', 'copied')
{
	$node->safe_psql('postgres', "CREATE DATABASE $database OWNER owner");
	$node->safe_psql($database, 'DROP SCHEMA public; CREATE SCHEMA ids AUTHORIZATION owner; ALTER DEFAULT PRIVILEGES FOR ROLE owner IN SCHEMA ids GRANT EXECUTE ON FUNCTIONS TO keeper');
}
as_owner(sub {
	install('elsewhere', 'the file is installed in another schema', "$dir/ids.sql");
	command_ok([ 'pg_dump', '-Fc', '-d', $node->connstr('elsewhere'), '-f', "$dir/ids.dump" ], '... dumped');
	command_fails([ 'pg_restore', '-d', $node->connstr('copied'), "$dir/ids.dump" ], '... restored where the schema exists');
	install('copied', '... and the file is run again', "$dir/ids.sql");
});
is($node->safe_psql('copied', q{SELECT has_function_privilege('keeper', 'ids.snowflake_seal(bigint, text)', 'EXECUTE')}), 'f', '... which revokes what default privileges have granted');
like(error_of_database($node, 'copied', "SET ROLE owner;\n\\i sql-edition/snowdrift.sql"),
	qr{42710: the SQL edition is installed in schema ids\nHINT:  Run the output of sed 's/public\\\./ids\./g' snowdrift\.sql\.}, 'the file for another schema is refused');
append_to_file("$dir/ids.txt", slurp_file('sql-edition/objects.txt') =~ s/public/ids/gr);
my ($listed) = run_command([ 'sh', '-c', "pg_restore -l $dir/ids.dump | grep -v -F -f $dir/ids.txt -e ' SCHEMA - ids ' | grep -v '^;'" ]);
is(join("\n", map { s/^\S+ \d+ \d+ //r } grep { !/ DEFAULT ACL ids / } split /\n/, $listed), 'TABLE DATA snowdrift_tables seal_key owner',
	'... and with the other name in objects.txt, the list for a move contains none of its objects, but the keys');

# Removing it
my ($removal) = slurp_file('docs/managed-clouds.md') =~ /^## Removing it\n(.*?)^## /ms;
my ($list_others, $drop) = $removal =~ /```sql\n(.*?)```/gs;
$node->safe_psql('postgres', 'CREATE DATABASE removed OWNER owner');
as_owner(sub {
	local $ENV{PGOPTIONS} = $node->pg_version < '19devel' ? '-c standard_conforming_strings=off' : '';    # 19 has no other literals
	install('removed', 'the file is installed in a database from which it is removed');
});
like($node->safe_psql('removed', q{SELECT obj_description('snowdrift.conversion_script'::regproc)}), qr/\\gexec/, '... with its backslashes');
for my $place ([ 'removed', 'public' ], [ 'elsewhere', 'ids' ])
{
	my ($database, $schema) = @$place;
	my $as_owner = "SET ROLE owner; SET search_path = $schema;";
	$node->safe_psql($database, $as_owner . q{CREATE TABLE own (id bigint DEFAULT next_snowflake(), created_at timestamptz GENERATED ALWAYS AS (snowflake_timestamp(id)) STORED);
		SELECT snowdrift.watch('own'), snowdrift.create_seal('own'); CREATE VIEW sealed AS SELECT snowflake_seal(id, 'own') FROM own; CREATE TABLE layouts (layout snowflake_layout, layouts snowflake_layout[]);
		CREATE FUNCTION generators() RETURNS SETOF snowdrift.generators LANGUAGE sql AS 'TABLE snowdrift.generators';
		INSERT INTO own DEFAULT VALUES});
	my $others = sub { join(', ', sort split /\n/, $node->safe_psql($database, $as_owner . $list_others) =~ s/(trigger snowdrift_\w+?)_.*/$1/gr =~ s/rule _RETURN on //gr) };
	is($others->(), 'column layout of table layouts, column layouts of table layouts, default value for column created_at of table own, default value for column id of table own, function generators(), trigger snowdrift_insert, trigger snowdrift_update, view sealed',
		"... the objects of others that use it in schema $schema are listed");
	$node->safe_psql($database, $as_owner . q{SELECT snowdrift.unwatch('own'); DROP VIEW sealed; DROP TABLE layouts; DROP FUNCTION generators; ALTER TABLE own ALTER created_at DROP EXPRESSION, ALTER id DROP DEFAULT});
	is($others->(), '', '... until there are none');
	$node->safe_psql($database, $as_owner . $drop);
	is($node->safe_psql($database, $as_owner . q{SELECT count(*) FROM own WHERE created_at IS NOT NULL; SELECT nspname FROM pg_namespace WHERE nspname ~ 'snowdrift';
		SELECT oid::regprocedure FROM pg_proc WHERE pronamespace = current_schema()::regnamespace; SELECT oid::regtype FROM pg_type WHERE typname = 'snowflake_layout'}), 1, '... and then nothing is left but the rows');
}

# A role whose name must be quoted
$node->safe_psql('postgres', 'CREATE ROLE "Admin@example.com" LOGIN; CREATE DATABASE quoted OWNER "Admin@example.com"');
{
	local $ENV{PGUSER} = 'Admin@example.com';
	install('quoted', 'a role whose name must be quoted installs the file') for 1 .. 2;
	is($node->safe_psql('quoted', q{SELECT count(*) FROM (SELECT snowdrift.create_seal('a')) AS created, snowdrift.seal_keys('a')}), '0', '... and owns its functions');
}

# ---- a schema without data, and data without a schema --------------------------------------------------

my $dump = "pg_dump -d '" . $node->connstr('sql') . "'";

# restore(DUMP, DATABASE): pipes the dump to the database
sub restore
{
	my ($options, $database) = @_;
	my $psql = "psql -X -q -o /dev/null -v ON_ERROR_STOP=1 -d '" . $node->connstr($database) . "'";
	command_ok([ 'sh', '-c', "$dump $options >'$dir/part.sql' && $psql -f '$dir/part.sql'" ], "$database restores pg_dump $options");
	return;
}

$node->safe_psql('postgres', 'CREATE DATABASE parts OWNER owner');
as_owner(sub { restore('--schema-only', 'parts') });
is(query($node, 'parts', 'SELECT next_snowflake() > 0'), 't', '... and has the default generator');
is(query($node, 'parts', 'SELECT name FROM snowdrift.generators'), '', '... and no other one');
as_owner(sub { restore('--data-only', 'parts') });
is_continued($node, 'parts', $contents);

# Superusers restore the rows, but the sequences are the owner's.
create_edition($node, 'data');
restore('--data-only --schema=snowdrift_tables', 'data');
my $generators = 'SELECT name, layout, datacenter, worker, last_timestamp FROM snowdrift.generators ORDER BY name';
is(query($node, 'data', $generators), query($node, 'sql', $generators), '... and has all generators, with their last times');
is(query($node, 'data', q{SELECT next_snowflake('orders')}) > query($node, 'sql', 'SELECT max(id) FROM shop_orders'), 1, '... which generate IDs');

# ---- moves ---------------------------------------------------------------------------------------------

create_extension($node, $_) for 'extension', 'empty';
like(error_of_database($node, 'empty', '\i sql-edition/snowdrift.sql'), qr/42710: extension "snowdrift" is installed in this database/,
	'the SQL edition is not installed over the extension');
query($node, 'sql', q{CREATE TABLE feed (id bigserial PRIMARY KEY); SELECT snowdrift.watch('feed'), snowdrift.watch('shop_orders')});
move($node, 'sql', $node, 'extension', 'objects.txt', $ENV{PGUSER} // getpwuid($>));    # the superuser
is(query($node, 'extension', q{SELECT count(*) FROM pg_trigger WHERE tgrelid::regclass::text ~ '^(shop_|feed)' AND NOT tgisinternal}), '0', '... without watches');
query($node, 'extension', 'DROP TABLE feed');
is(objects($node, 'extension'), objects($node, 'empty'), '... without the objects of the SQL edition');
is_continued($node, 'extension', $contents);

$contents = contents($node, 'extension');
my $privileges = 'GRANT EXECUTE ON FUNCTION snowdrift.create_generator, next_snowflake(text) TO pg_monitor';
$node->safe_psql('extension', "$privileges; REVOKE EXECUTE ON FUNCTION next_sno(text, integer) FROM PUBLIC");
query($node, 'extension', q{SELECT snowdrift.watch('shop_events', 'id'), snowdrift.watch('shop_posts', 'id')});
move($node, 'extension', $node, 'returned', 'EXTENSION', 'owner');
is(query($node, 'returned', q{SELECT count(*) FROM pg_trigger WHERE tgrelid::regclass::text ~ '^shop_' AND NOT tgisinternal}), '0', '... without watches');
query($node, 'fresh', q{SELECT snowdrift.create_generator('orders', 'snowflake', 'twitter', 1, 2)});
is(objects($node, 'returned'), objects($node, 'fresh'), '... without the extension');
is_continued($node, 'returned', $contents);

# ---- an extension without a library --------------------------------------------------------------------

{
	use_own_copy();
	system_or_bail('cp', 'sql-edition/snowdrift.control', sharedir_of_copy());
	system_or_bail('cp', 'sql-edition/snowdrift.sql', sharedir_of_copy() . '/snowdrift--1.0.sql');
	my $server = new_server('without_library');
	$server->start;
	$server->safe_psql('postgres', 'CREATE ROLE owner LOGIN');
	create_extension($server, $_) for 'shop', 'unused';
	query($server, 'shop', $shop);
	is(objects($server, 'unused'), "extension snowdrift\nschema public", 'the owner of a database creates the SQL edition as an extension');

	$contents = contents($server, 'shop');
	$server->safe_psql('postgres', 'CREATE DATABASE copy OWNER owner');
	as_owner(sub {
		command_ok([ 'pg_dump', '-Fc', '-d', $server->connstr('shop'), '-f', "$dir/copy.dump" ], '... dumps it');
		command_ok([ 'pg_restore', '--exit-on-error', '-d', $server->connstr('copy'), "$dir/copy.dump" ], '... and restores it');
	});
	is(objects($server, 'copy'), objects($server, 'shop'), '... with all objects');
	is(query($server, 'copy', 'SELECT name, last_timestamp FROM snowdrift.generators ORDER BY name'),
		query($server, 'shop', 'SELECT name, last_timestamp FROM snowdrift.generators ORDER BY name'), '... and the states of the generators');
	is_continued($server, 'copy', $contents);

	query($server, 'shop', $privileges);
	create_extension($node, 'adopted');
	move($server, 'shop', $node, 'adopted', 'EXTENSION', 'owner');
	is(objects($node, 'adopted'), objects($node, 'empty'), '... without the objects of the SQL edition');
	is_continued($node, 'adopted', $contents);
	$server->stop;
}
$node->stop;

done_testing();
