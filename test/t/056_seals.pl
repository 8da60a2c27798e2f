# Seals in both editions: who may seal and unseal, that keys appear in no log, and that dumps, standbys, subscribers and open sessions have
# the right keys. sql/seals.sql has what one session shows.
use strict;
use warnings FATAL => 'all';
use Test::More;
use Snowdrift;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

my $node = new_server('sealed', allows_streaming => 'logical');
$node->append_conf('postgresql.conf', "wal_retrieve_retry_interval = '100ms'\n");
$node->start;
create_edition($node, 'edition');
$node->safe_psql('postgres', 'CREATE DATABASE extension OWNER owner; CREATE ROLE backend LOGIN; CREATE ROLE stranger LOGIN');
run('extension', 'CREATE EXTENSION snowdrift');
my @editions = ('edition', 'extension');

# run(DATABASE, STATEMENTS, SERVER): as the owner of the database, who is not a superuser
sub run
{
	my ($db, $statements, $server) = @_;
	return ($server // $node)->safe_psql($db, $statements, extra_params => [ '-U', 'owner' ]);
}

# error(DATABASE, STATEMENTS, ROLE, SERVER): psql's output of the error that the statements raise
sub error
{
	my ($db, $statements, $role, $server) = @_;
	my ($status, $out, $error) = ($server // $node)->psql($db, "\\set VERBOSITY verbose\n$statements", extra_params => [ '-U', $role ]);
	return $status ? $error : "no error, but: $out";
}

my $key = '5a' x 32;
my $seal_of_1 = '372bb604-17d4-83af-81fb-f8a1c654a6b9';    # with this key and the name orders

# ---- Rights

my @calls = ("snowflake_seal(1, 'orders')", "snowflake_unseal('$seal_of_1', 'orders')", "snowdrift.create_seal('new')", "snowdrift.rotate_seal('orders')",
	"snowdrift.drop_seal('orders')", "snowdrift.seal_keys('orders')");
for my $db (@editions)
{
	run($db, "SELECT snowdrift.create_seal('orders', '\\x$key')");
	is(run($db, "SELECT snowflake_seal(1, 'orders')"), $seal_of_1, "$db: its owner seals");
	like(error($db, "SELECT $_", 'stranger'), qr/42501/, "... another role cannot call $_") for @calls, 'snowdrift_tables.lock_seal(NULL)';
	like(error($db, 'SELECT FROM snowdrift_tables.seal_key', 'stranger'), qr/42501/, '... nor read the keys');
	run($db, 'GRANT EXECUTE ON FUNCTION snowflake_seal(bigint, text) TO backend');
	is($node->safe_psql($db, "SELECT snowflake_seal(1, 'orders')", extra_params => [ '-U', 'backend' ]), $seal_of_1, '... a role to which this is granted seals');
	like(error($db, "SELECT $_", 'backend'), qr/42501/, "... and cannot call $_") for @calls[ 1 .. $#calls ];
}

# The recipe of the page for views
my ($page) = slurp_file('docs/sealed-ids.md') =~ /^(PREPARE page AS .*?;)/ms;
my ($recipe) = slurp_file('docs/sealed-ids.md') =~ /^(CREATE SCHEMA ids;.*?)^```/ms;
$node->safe_psql('postgres', 'CREATE DATABASE views OWNER owner; ALTER ROLE owner CREATEROLE');
run('views', "$recipe; ALTER ROLE web LOGIN; INSERT INTO orders SELECT id, id FROM generate_series(1, 1000) AS id; ANALYZE orders");
sub as_web { return $node->safe_psql('views', $_[0], extra_params => [ '-U', 'web' ]) }
my $shown = as_web('SELECT id FROM api.orders WHERE total = 7');
is(as_web("SELECT total FROM api.order_by_id('$shown')"), '7', 'a role that reads only a view finds the row of a sealed ID');
is(as_web('SELECT count(*) FROM api.order_by_id(gen_random_uuid())'), '0', '... and none of another UUID');
like(error('views', "SELECT ids.snowflake_${_}seal(NULL, 'orders')", 'web'), qr/42501: permission denied for schema ids/, "... but cannot ${_}seal by itself") for '', 'un';
like(error('views', 'SELECT FROM orders', 'web'), qr/42501/, '... nor read the table');
run('views', 'ALTER DATABASE views SET search_path = public, ids');
is(run('views', "$page EXECUTE page (snowflake_seal(700, 'orders'))") =~ s/^.*\|//gmr, join("\n", 701 .. 750), 'pages are in the order of IDs');
like(run('views', "EXPLAIN SELECT FROM orders WHERE id = ids.snowflake_unseal('$shown', 'orders', true)"), qr/^Index Only Scan using orders_pkey/, '... and the index is used');

# A role to which default privileges give all new functions, as on some managed servers
create_edition($node, 'granting', 'ALTER DEFAULT PRIVILEGES FOR ROLE owner GRANT ALL ON FUNCTIONS TO stranger; ALTER DEFAULT PRIVILEGES GRANT ALL ON FUNCTIONS TO stranger');
like(error('granting', "SELECT $_", 'stranger'), qr/42501/, "by default, it cannot call $_ of the SQL edition") for @calls;
$node->safe_psql('postgres', 'CREATE DATABASE granting_extension');
$node->safe_psql('granting_extension', join('', map { "ALTER DEFAULT PRIVILEGES GRANT ALL ON $_ TO stranger, PUBLIC;" } qw(FUNCTIONS TABLES SEQUENCES SCHEMAS)) . 'CREATE EXTENSION snowdrift');
like(error('granting_extension', "SELECT $_", 'stranger'), qr/42501/, "... nor $_ of the extension") for @calls;
# What other roles may do with the schemas, tables, sequences and functions that are not for all
my $others = q{SELECT string_agg(name || ' ' || coalesce(nullif(a.grantee, 0)::regrole::text, 'PUBLIC') || ' ' || a.privilege_type, E'\n' ORDER BY name, a.grantee, a.privilege_type)
	FROM (SELECT nspname, nspowner, nspacl FROM pg_namespace WHERE nspname LIKE 'snowdrift%'
		UNION ALL SELECT oid::regclass::text, relowner, relacl FROM pg_class WHERE relnamespace = 'snowdrift_tables'::regnamespace AND relkind IN ('r', 'S')
		UNION ALL SELECT oid::regprocedure::text, proowner, proacl FROM pg_proc WHERE NOT has_function_privilege('public', oid, 'EXECUTE')
			AND (pronamespace = 'snowdrift'::regnamespace OR oid::regprocedure::text ~ '^snowflake_(at|seal|unseal)')) AS o(name, owner, acl), aclexplode(acl) AS a
	WHERE a.grantee <> owner};
is($node->safe_psql('granting_extension', $others), join("\n", grep { !/ (owner|backend) / } split /\n/, $node->safe_psql('extension', $others)), '... and no other role has a privilege that it does not have by default');

# Usual hardening: functions are for one role instead of all.
$node->safe_psql('postgres', 'CREATE DATABASE hardened');
$node->safe_psql('hardened', 'ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC; ALTER DEFAULT PRIVILEGES GRANT EXECUTE ON FUNCTIONS TO backend; CREATE EXTENSION snowdrift');
is($node->safe_psql('hardened', 'SELECT next_snowflake() > 0', extra_params => [ '-U', 'backend' ]), 't', 'with functions for one role, this role draws IDs');
like(error('hardened', "SELECT $_", 'backend'), qr/42501/, "... and cannot call $_") for @calls, 'snowdrift.advance(now())';

# All that a session of the extension keeps until a table changes
is(run('extension', q{SELECT snowdrift.create_generator('web', 'snowflake') \g /dev/null
	SELECT next_snowflake() < next_snowflake('web') + 1, snowflake_unseal(snowflake_seal(snowflake_at('2024-02-02Z', 'web'), 'orders'), 'orders') > 0}),
	't|t', 'a session uses all caches');

# ---- Keys in the log, with all settings that could show them

$node->append_conf('postgresql.conf', <<"CONF");
shared_preload_libraries = 'auto_explain,pg_stat_statements'
auto_explain.log_min_duration = 0
auto_explain.log_nested_statements = on
auto_explain.log_verbose = on
auto_explain.log_analyze = on
log_statement = all
log_duration = on
log_min_messages = debug5
log_min_error_statement = debug5
log_error_verbosity = verbose
log_parameter_max_length_on_error = -1
debug_print_parse = on
debug_print_rewritten = on
debug_print_plan = on
CONF
$node->append_conf('postgresql.conf', "auto_explain.log_parameter_max_length = -1\n") if $node->pg_version >= 16;
$node->restart;
$node->safe_psql($_, 'CREATE EXTENSION pg_stat_statements') for @editions;
for my $db (@editions)
{
	my $start = -s $node->logfile;
	run($db, q{SELECT snowdrift.create_seal('logged'), snowdrift.rotate_seal('logged');
		SELECT snowflake_seal(1, 'logged'); SELECT snowflake_unseal(snowflake_seal(1, 'logged'), 'logged');
		PREPARE p AS SELECT snowflake_seal($1, 'logged'); EXECUTE p (2); EXPLAIN (VERBOSE, ANALYZE) EXECUTE p (2)});
	error($db, $_, 'owner')
	  for q{SELECT snowflake_unseal(gen_random_uuid(), 'logged')}, q{SELECT snowdrift.create_seal('logged')}, q{SELECT snowdrift.drop_seal('logged', 7)},
	  q{BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT snowdrift.rotate_seal('logged')}, q{SELECT snowdrift.create_seal('')};
	my @keys = split /\|/, $node->safe_psql($db, q{SELECT string_agg(encode(key, 'hex'), '|') FROM snowdrift_tables.seal_key WHERE name = 'logged'});
	my @padded = map { my $bytes = pack('H*', $_); map { unpack('H*', $bytes ^ ($_ x 32)) } "\x36", "\x5c" } @keys;
	# What a log could contain: a key as text, or the bytes of a constant in the tree of a plan
	my @forms = map { my $hex = $_; ($hex, join(' ', map { my $byte = hex; $byte > 127 ? $byte - 256 : $byte } $hex =~ /../g)) } @keys, @padded;
	is(scalar @forms, 12, "$db: two keys, and their pads");
	my $log = substr(slurp_file($node->logfile), $start);
	my $logged = () = $log =~ /create_seal\('logged'\)/g;
	cmp_ok($logged, '>=', 2, '... the log has the statements');
	like($log, qr/Query Text: .*seal_key/s, '... and those inside of functions');
	is_deeply([ grep { index($log, $_) >= 0 } @forms ], [], '... and no key');
	my $views = $node->safe_psql($db, q{SELECT string_agg(query, ' ') FROM pg_stat_statements});
	like($views, qr/create_seal/, '... pg_stat_statements has the statements');
	is_deeply([ grep { index($views, $_) >= 0 } @forms ], [], '... and no key');
	run($db, "SELECT snowdrift.create_seal('given', '\\x" . 'e7' x 32 . "')");
	$views = $node->safe_psql($db, q{SELECT string_agg(query, ' ') FROM pg_stat_statements});
	unlike($views, qr/(e7){32}/, '... nor one that was given in a statement');
	like(substr(slurp_file($node->logfile), $start), qr/(e7){32}/, '... which the log has, as its documentation says');
	run($db, q{SELECT snowdrift.drop_seal(name) FROM unnest('{logged,given}'::text[]) AS name});
	$node->safe_psql($db, 'DROP EXTENSION pg_stat_statements');
}
$node->append_conf('postgresql.conf', <<'CONF');
auto_explain.log_min_duration = -1
log_statement = none
log_duration = off
log_min_messages = warning
log_min_error_statement = error
debug_print_parse = off
debug_print_rewritten = off
debug_print_plan = off
CONF
$node->restart;

# ---- Other sessions, and a standby, whose sessions keep what they have read

$node->backup('base');
my $standby = standby_of($node, 'standby');
for my $db (@editions)
{
	my @sessions = map { $_->background_psql($db, on_error_stop => 0, extra_params => [ '-U', 'owner' ]) } $node, $standby;
	my $seal = q{SELECT snowflake_seal(1, 'orders')};
	is_deeply([ map { scalar $_->query($seal) } @sessions ], [ $seal_of_1, $seal_of_1 ], "$db: two sessions seal, one of them on a standby");
	like(error($db, q{SELECT snowdrift.rotate_seal('orders')}, 'owner', $standby), qr/25006/, '... where no key can be added');
	$_->query_safe("BEGIN; $seal") for @sessions;    # in READ COMMITTED
	run($db, q{SELECT snowdrift.rotate_seal('orders')});
	my $new = run($db, $seal);
	isnt($new, $seal_of_1, '... a new key makes other seals');
	$node->wait_for_catchup($standby, 'replay');
	is_deeply([ map { scalar $_->query($seal) } @sessions ], [ $new, $new ], '... also in both sessions, in their open transactions');
	is_deeply([ map { scalar $_->query("SELECT snowflake_unseal('$seal_of_1', 'orders')") } @sessions ], [ 1, 1 ], '... which still unseal the old ones');
	run($db, q{SELECT snowdrift.drop_seal('orders', 2)});
	$node->wait_for_catchup($standby, 'replay');
	is_deeply([ map { scalar $_->query("SELECT snowflake_unseal('$new', 'orders', true)") } @sessions ], [ '', '' ], '... until the key is dropped');

	# Two sessions that change the keys of a seal at the same time
	my @changes = map { $node->background_psql($db, on_error_stop => 0, extra_params => [ '-U', 'owner' ]) } 1 .. 2;
	my $pid = $changes[1]->query('SELECT pg_backend_pid()');
	$changes[0]->query_safe(q{BEGIN; SELECT snowdrift.create_seal('raced')});
	$changes[1]->query_until(qr/sent/, qq{\\echo sent\nSELECT snowdrift.create_seal('raced');\n});
	$node->poll_query_until($db, "SELECT cardinality(pg_blocking_pids($pid)) > 0") or die;
	$changes[0]->query_safe('COMMIT');
	is($changes[1]->query(q{SELECT count(*) FROM snowdrift.seal_keys('raced')}), 1, '... two sessions cannot create the same seal');
	like($changes[1]->{stderr}, qr/seal "raced" already exists/, '... of which one is told');
	run($db, q{SELECT snowdrift.drop_seal('raced')});
	$_->quit for @sessions, @changes;
}
$standby->stop;

# ---- Dumps: by an owner who is no superuser, with the keys and without

for my $db (@editions)
{
	my @connection = ('-U', 'owner', '-d', $node->connstr($db));
	for my $case ([ 'with_keys' ], [ 'without_keys', '--exclude-table-data=snowdrift_tables.seal_key' ])
	{
		my ($name, @options) = @$case;
		my ($dump, $copy) = ($node->basedir . "/$db.$name.sql", "${db}_$name");
		command_ok([ 'pg_dump', @connection, @options, '-f', $dump ], "$db: a dump $name");
		my $has_key = slurp_file($dump) =~ /$key/ ? 'with_keys' : 'without_keys';
		is($has_key, $name, '... has them, or has none');
		$node->safe_psql('postgres', "CREATE DATABASE $copy OWNER owner");
		command_ok([ 'psql', '-X', '-q', '-o', '/dev/null', '-v', 'ON_ERROR_STOP=1', '-U', 'owner', '-d', $node->connstr($copy), '-f', $dump ], '... is restored');
		if (@options)
		{
			like(error($copy, q{SELECT snowflake_seal(1, 'orders')}, 'owner'), qr/42704: seal "orders" does not exist/, '... the seal does not exist there');
			my $exported = run($db, q{SELECT key FROM snowdrift.seal_keys('orders') ORDER BY version LIMIT 1});
			run($copy, "SELECT snowdrift.create_seal('orders', '$exported')");
		}
		is(run($copy, q{SELECT snowflake_seal(1, 'orders')}), $seal_of_1, '... the seals are the same there');
		if (!@options)
		{
			my $data = $node->basedir . "/$db.data.sql";
			command_ok([ 'pg_dump', @connection, '--data-only', '--table=snowdrift_tables.seal_key', '-f', $data ], '... the keys are dumped');
			my $loaded = error($copy, "SET session_replication_role = replica;\n\\i $data", 'postgres');
			like($loaded, qr/23505: duplicate key value/, '... which cannot be loaded again');
			unlike($loaded, qr/5a5a/, '... and the error shows none');
			my $statistics = "SELECT string_agg(concat(attname, histogram_bounds, most_common_vals), '') FROM pg_stats WHERE tablename = 'seal_key'";
			like($node->safe_psql($copy, "SELECT snowdrift.rotate_seal('orders'); ANALYZE snowdrift_tables.seal_key; $statistics"), qr/^2\n(?!.*5a5a).*version/s, '... nor do statistics');
			run($copy, "SELECT snowdrift.drop_seal('orders', 2)");
		}
		like(error($copy, q{SELECT snowflake_seal(1, 'orders')}, 'stranger'), qr/42501/, '... and made by the same roles');
		run($copy, q{SELECT snowdrift.drop_seal('orders'), snowdrift.create_seal('orders')});    # as the page says for tests
		is(run($copy, "SELECT snowflake_seal(1, 'orders') = '$seal_of_1', snowflake_unseal('$seal_of_1', 'orders', true) IS NULL"), 'f|t', '... until it is given another key');
	}
}

# A dump brings no revocation of what default privileges grant.
$node->safe_psql('postgres', 'CREATE DATABASE granting_restored OWNER owner');
# The role that restores it has other default privileges than the owner.
$node->safe_psql('granting_restored', join('', map { "ALTER DEFAULT PRIVILEGES GRANT ALL ON $_ TO stranger;" } qw(FUNCTIONS TABLES SEQUENCES SCHEMAS)));
command_ok([ 'psql', '-X', '-q', '-o', '/dev/null', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('granting_restored'), '-f', $node->basedir . "/edition.with_keys.sql" ],
	'a dump is restored by a role whose default privileges grant everything');
my $run_again = sub {
	my $database = shift // 'granting_restored';
	my $messages;
	IPC::Run::run([ 'psql', '-X', '-q', '-o', '/dev/null', '-v', 'ON_ERROR_STOP=1', '-1', '-d', $node->connstr($database), '-U', 'owner', '-f', 'sql-edition/snowdrift.sql' ],
		'2>', \$messages) or die $messages;
	return $messages;
};
like($run_again->(), qr/NOTICE:  revoked EXECUTE on (FUNCTION public\.snowflake_unseal\(\S+\)) from stranger, because .*\nHINT:  .*GRANT EXECUTE ON \1 TO stranger\./,
	'... the file, run again, says what it revokes');
like(error('granting_restored', "SELECT $_", 'stranger'), qr/42501/, "... which are $_")
	for @calls, "snowdrift.create_generator('x', 'snowflake')", "snowdrift.drop_generator('x')", 'snowdrift.advance(now())', 'snowdrift.publish_watermarks()';
is($node->safe_psql('granting_restored', q{SELECT string_agg(oid::regclass::text, ' ') FROM pg_class WHERE relnamespace = 'snowdrift_tables'::regnamespace
	AND relkind IN ('r', 'S') AND (relkind = 'r' AND has_table_privilege('stranger', oid, 'SELECT, UPDATE') OR relkind = 'S' AND has_sequence_privilege('stranger', oid, 'USAGE, UPDATE'))}),
	'', '... all privileges on its tables');
is($node->safe_psql('granting_restored', q{SELECT has_schema_privilege('stranger', 'snowdrift_tables', 'USAGE, CREATE')}), 'f', '... and on their schema');
is($node->safe_psql('granting_restored', q{SELECT has_table_privilege('stranger', 'snowdrift.generators', 'TRIGGER, INSERT')}), 'f', '... and on its views');
is($node->safe_psql('granting_restored', q{SELECT snowflake_seal(1, 'orders')}, extra_params => [ '-U', 'backend' ]), $seal_of_1, '... and the grants of the dump remain');
my $granted = 'GRANT EXECUTE ON FUNCTION snowflake_seal(bigint, text) TO stranger';
$node->safe_psql('granting_restored', $granted, extra_params => [ '-U', 'owner' ]);
is($run_again->(), '', 'the file, run once more, revokes nothing, and says nothing');
is($node->safe_psql('granting_restored', q{SELECT snowflake_seal(1, 'orders')}, extra_params => [ '-U', 'stranger' ]), $seal_of_1, '... not even from a role with default privileges');
$node->safe_psql('postgres', 'CREATE DATABASE granting_copy OWNER owner TEMPLATE granting_restored');
unlike($run_again->('granting_copy'), qr/revoked/, '... nor in a copy of the database');
# Another database's schema was restored over it: each statement fails except those that change its objects.
my $dump_of = sub {
	my ($database, @options) = @_;
	my $dump = $node->basedir . "/$database.again.sql";
	command_ok([ 'pg_dump', @options, '-d', $node->connstr($database), '-f', $dump ], "pg_dump @options");
	return $dump;
};
IPC::Run::run([ 'psql', '-X', '-q', '-o', '/dev/null', '-d', $node->connstr('granting_restored'), '-U', 'owner', '-f', $dump_of->('edition', '--schema-only') ], '2>', '/dev/null');
$node->safe_psql('granting_restored', 'DROP TABLE snowdrift_tables.published_watermark CASCADE', extra_params => [ '-U', 'owner' ]);
unlike($run_again->(), qr/revoked/, '... nor after a failed restore over it, and a loss of another table');
is($node->safe_psql('granting_restored', q{SELECT snowflake_seal(1, 'orders')}, extra_params => [ '-U', 'stranger' ]), $seal_of_1, '... so that the grants remain');
for my $options ([], [ '-T', 'snowdrift_tables.seal_key' ], [ '-N', 'snowdrift_tables' ])
{
	my $dump = $dump_of->('granting_restored', @$options);
	$node->safe_psql('postgres', 'DROP DATABASE IF EXISTS second');
	$node->safe_psql('postgres', 'CREATE DATABASE second OWNER owner');
	$node->safe_psql('second', "ALTER DEFAULT PRIVILEGES GRANT EXECUTE ON FUNCTIONS TO stranger");
	IPC::Run::run([ 'psql', '-X', '-q', '-o', '/dev/null', '-d', $node->connstr('second'), '-f', $dump ], '2>', '/dev/null');
	my $grant = 'GRANT EXECUTE ON FUNCTION snowdrift.advance(timestamptz) TO';
	$node->safe_psql('second', "$grant stranger WITH GRANT OPTION", extra_params => [ '-U', 'owner' ]);
	$node->safe_psql('second', "GRANT USAGE ON SCHEMA snowdrift TO stranger; SET ROLE stranger; $grant backend");
	my $seal = 'GRANT EXECUTE ON FUNCTION snowflake_seal(bigint, text) TO';    # of which backend has another grant
	$node->safe_psql('second', "SET ROLE owner; $seal stranger WITH GRANT OPTION; SET ROLE stranger; $seal backend");
	unless (@$options)
	{
		my $trigger = 'TRIGGER planted ON snowdrift_tables.seal_key';
		for my $role (qw(stranger owner postgres))
		{
			$node->safe_psql('second', qq{CREATE FUNCTION public.planted() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'; ALTER FUNCTION public.planted OWNER TO $role;
				CREATE TRIGGER planted AFTER INSERT ON snowdrift_tables.seal_key FOR EACH ROW EXECUTE FUNCTION public.planted()});
			eval { $run_again->('second') };
			like($@, qr/trigger planted of table snowdrift_tables\.seal_key is not one .*\nDETAIL:  It uses public\.planted\(\)\.\nHINT:  Run DROP \Q$trigger\E, and then/, "a trigger with a function of $role is refused");
			$node->safe_psql('second', "DROP $trigger; DROP FUNCTION public.planted()");
		}
		for my $of (['seal_key', 'WHEN (NEW.version > 0)'], ['seal_key', ''], ['published_watermark', 'WHEN (NEW.kind IS NULL)'])
		{
			my ($table, $condition) = @$of;
			$node->safe_psql('second', "CREATE OR REPLACE TRIGGER skip_row BEFORE INSERT ON snowdrift_tables.$table FOR EACH ROW $condition EXECUTE FUNCTION snowdrift_tables.skip_row()");
			eval { $run_again->('second') };
			like($@, qr/trigger skip_row of table snowdrift_tables\.$table is not one/, "... as is one on $table with a function of the SQL edition, $condition");
			$node->safe_psql('second', "DROP TRIGGER skip_row ON snowdrift_tables.$table");
		}
		$node->safe_psql('second', 'CREATE TABLE public.planted (name text, version integer, id uuid, FOREIGN KEY (name, version, id) REFERENCES snowdrift_tables.seal_key)');
		eval { $run_again->('second') };
		like($@, qr/constraint planted_name_version_id_fkey of table public\.planted is not one .*\nDETAIL:  .*\.seal_key\.\nHINT:  .* DROP CONSTRAINT planted_name_version_id_fkey, and then/, '... and a foreign key');
		$node->safe_psql('second', 'DROP TABLE public.planted');
	}
	$node->safe_psql('second', 'SET ROLE owner; GRANT USAGE ON SCHEMA snowdrift_tables TO stranger; GRANT ALL ON TABLE snowdrift_tables.seal_key TO stranger WITH GRANT OPTION; GRANT SELECT (version) ON TABLE snowdrift_tables.seal_key TO backend;
		SET ROLE stranger; GRANT SELECT (name, key), UPDATE (key) ON TABLE snowdrift_tables.seal_key TO backend, stranger; RESET ROLE; REVOKE ALL ON TABLE snowdrift_tables.seal_key FROM stranger CASCADE; REVOKE USAGE ON SCHEMA snowdrift_tables FROM stranger')
		unless @$options;
	my $is_without_tables = grep { $_ eq '-N' } @$options;
	$node->safe_psql('second', join('', map { "ALTER DEFAULT PRIVILEGES REVOKE ALL ON $_ FROM stranger;" } qw(FUNCTIONS TABLES SEQUENCES SCHEMAS))) if $is_without_tables;
	my $notices = $run_again->('second');
	like($notices, qr/kept EXECUTE on (FUNCTION public\.snowflake_seal\(bigint,text\)) for backend\nHINT:  .*role owner run REVOKE ALL ON \1 FROM backend/, 'a notice names grants that remain');
	if ($is_without_tables)
	{
		like($notices, qr/kept EXECUTE on FUNCTION snowdrift\.seal_keys\(text\) for stranger/, '... also if default privileges were changed after the restore');
		next;
	}
	is($node->safe_psql('second', q{SELECT has_function_privilege('backend', 'snowflake_seal(bigint,text)', 'EXECUTE')}), 't', '... and also grants them');
	unless (@$options)
	{
		like($notices, qr/revoked privileges on column key of table snowdrift_tables\.seal_key that role stranger has granted/, 'grants on columns that outlived the privilege on the table are revoked');
		is($node->safe_psql('second', q{SELECT string_agg(attname || ' ' || attacl::text, ' ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'snowdrift_tables.seal_key'::regclass AND cardinality(attacl) > 0}),
			'version {backend=r/owner}', '... and no others');
	}
	like($notices, qr/advance\(\S.*\) TO stranger WITH GRANT OPTION, and grant again/, 'a notice says that what a role has granted to others is revoked, too');
	like($notices, qr/revoked EXECUTE on FUNCTION snowdrift\.advance\(\S.*\) from backend/, '... and so does one about these others');
	unlike($notices, qr/kept EXECUTE on FUNCTION snowdrift\.advance/, '... of which none is kept');
	like($notices, qr/revoked EXECUTE on FUNCTION snowdrift\.seal_keys\(text\) from stranger/, "its dump, pg_dump @$options, is restored, and the file is run again");
	like(error('second', "SELECT $_", 'stranger'), qr/42501/, "... which revokes $_") for "snowflake_unseal('$seal_of_1', 'orders')", q{snowdrift.seal_keys('orders')};
}
$node->safe_psql('granting_restored', 'DROP TABLE snowdrift_tables.seal_key');
like($run_again->(), qr/WARNING:  table "snowdrift_tables\.seal_key" was lost\nHINT:  .*backup/, 'a loss of the keys is reported');

# More messages about changes than PostgreSQL keeps: a session that does not read them is told only that it has missed some.
for my $db (@editions)
{
	run($db, q{SELECT snowdrift.create_seal('missed')});
	my $session = $node->background_psql($db, extra_params => [ '-U', 'owner' ]);
	my $seal = q{SELECT snowflake_seal(1, 'missed')};
	my ($pid, $first) = split /\n/, $session->query_safe("SELECT pg_backend_pid(); $seal");
	kill 'STOP', $pid;
	run($db, q{SELECT snowdrift.rotate_seal('missed'); DO $$ BEGIN FOR i IN 1 .. 500 LOOP CREATE TEMPORARY TABLE passing (id integer PRIMARY KEY); DROP TABLE passing; COMMIT; END LOOP; END $$});
	kill 'CONT', $pid;
	is($session->query_safe($seal), run($db, $seal), "$db: a session that has missed messages about changes seals with the new key");
	isnt(run($db, $seal), $first, '... which is another one');
	$session->quit;
}

# ---- Logical replication of all tables: a subscriber adds and drops the keys that the publisher does, and keeps its own.

my $subscriber = new_server('subscriber', allows_streaming => 'logical');
$subscriber->append_conf('postgresql.conf', "wal_retrieve_retry_interval = '100ms'\n");
$subscriber->start;
create_edition($subscriber, 'edition');
$subscriber->safe_psql('postgres', 'CREATE DATABASE extension OWNER owner');
run('extension', 'CREATE EXTENSION snowdrift', $subscriber);
for my $db (@editions)
{
	run($db, q{CREATE TABLE news (id bigint PRIMARY KEY); SELECT snowdrift.create_seal('copied'), snowdrift.create_seal('common')});
	run($db, q{CREATE TABLE news (id bigint PRIMARY KEY); SELECT snowdrift.create_seal('common')}, $subscriber);
	my $common = q{SELECT snowflake_seal(1, 'common')};
	my $own = run($db, $common, $subscriber);
	$node->safe_psql($db, 'CREATE PUBLICATION everything FOR ALL TABLES');
	$subscriber->safe_psql($db, "CREATE SUBSCRIPTION $db CONNECTION '" . $node->connstr($db) =~ s/'/''/gr . "' PUBLICATION everything");
	my $failures = q{SELECT coalesce(sum(value::int), 0) FROM pg_stat_subscription_stats AS s, jsonb_each_text(to_jsonb(s)) WHERE subname = current_database() AND key LIKE '%error_count'};
	my $await = sub {
		my ($condition) = @_;
		$subscriber->poll_query_until($db, "SELECT ($condition) OR ($failures) > 0") or die;
		is($subscriber->safe_psql($db, $failures), 0, '... replication does not fail');
	};
	$await->(q{SELECT bool_and(srsubstate = 'r') FROM pg_subscription_rel JOIN pg_subscription AS s ON s.oid = srsubid WHERE subname = current_database()});
	my $session = $subscriber->background_psql($db, on_error_stop => 0, extra_params => [ '-U', 'owner' ]);
	my $copied = q{SELECT snowflake_seal(1, 'copied')};
	is($session->query($copied), run($db, $copied), "$db: a subscriber has the keys of the publisher");    # and keeps them in this session
	my $unseal = sub { return scalar $session->query("SELECT snowflake_unseal('$_[0]', 'common', true)") };
	my $foreign = run($db, $common);
	is(join(' ', map { $unseal->($_) } $own, $foreign), '1 1', '... beside its own ones of the same name and version');
	run($db, q{SELECT snowdrift.rotate_seal('copied'), snowdrift.rotate_seal('common'); INSERT INTO news VALUES (1)});
	$await->('SELECT count(*) = 1 FROM news');
	is_deeply([ map { scalar $session->query($_) } $copied, $common ], [ map { run($db, $_) } $copied, $common ], '... and seals with a newer one');
	run($db, q{SELECT snowdrift.drop_seal('common'); INSERT INTO news VALUES (2)});
	$await->('SELECT count(*) = 2 FROM news');
	is($unseal->($own) . $unseal->($foreign), '1', '... until it is dropped, which does not drop its own');
	is($session->query($common), $own, '... with which it seals again');
	$session->quit;
	$subscriber->safe_psql($db, "ALTER SUBSCRIPTION $db DISABLE; ALTER SUBSCRIPTION $db SET (slot_name = NONE); DROP SUBSCRIPTION $db");
	$node->poll_query_until($db, 'SELECT count(*) = 0 FROM pg_replication_slots WHERE active') or die;
	$node->safe_psql($db, "SELECT pg_drop_replication_slot('$db')");
}
$_->stop for $subscriber, $node;
done_testing();
