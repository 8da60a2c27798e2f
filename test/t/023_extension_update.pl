# ALTER EXTENSION snowdrift UPDATE to a made-up version 1.1: the new library works with the SQL objects of 1.0, the
# extension's owner need not be a superuser, privileges are kept, and an updated extension is the same as a new one.
use strict;
use warnings FATAL => 'all';
use Test::More;
use Snowdrift;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

use_own_copy();

# write_file(NAME, TEXT): a file beside the control file
sub write_file
{
	my ($name, $text) = @_;
	my $path = sharedir_of_copy() . "/$name";
	unlink $path;
	append_to_file($path, $text);
	return;
}

# install_next_version(): the files of version 1.1, as a package would install them
sub install_next_version
{
	my $control = slurp_file(sharedir_of_copy() . '/snowdrift.control');
	$control =~ s/(default_version = )'1.0'/$1'1.1'/ or die $control;
	my $script = slurp_file(sharedir_of_copy() . '/snowdrift--1.0.sql');
	my ($begin) = $script =~ /\A(.*?^SET LOCAL search_path.*?$)/ms;
	my $change = q{
CREATE FUNCTION snowdrift.made_up() RETURNS integer
    AS 'MODULE_PATHNAME', 'snowdrift_made_up' LANGUAGE C STABLE;
COMMENT ON FUNCTION snowdrift.made_up() IS 'a function of version 1.1';
GRANT EXECUTE ON FUNCTION snowdrift.made_up() TO @extowner@;
CREATE OR REPLACE VIEW snowdrift.clock AS SELECT *, snowdrift.made_up() FROM snowdrift.read_clock();
} . made_up_tool();
	write_file('snowdrift--1.0--1.1.sql',
		($begin =~ s/CREATE EXTENSION snowdrift/ALTER EXTENSION snowdrift UPDATE/r) . $change);
	write_file('snowdrift--1.1.sql', $script . $change);
	write_file('snowdrift.control', $control);
	install_library($ENV{SNOWDRIFT_NEXT});
	return;
}

# objects_of(NODE, DATABASE): the extension's objects, their definitions, privileges, owners and comments
sub objects_of
{
	my ($node, $database) = @_;
	return $node->safe_psql($database, q{
		SELECT pg_describe_object(classid, objid, 0), coalesce(obj_description(objid, classid::regclass::text), 'no comment'),
			CASE classid
				WHEN 'pg_proc'::regclass THEN
					(SELECT concat_ws(' ', prosrc, proargdefaults IS NULL, provolatile, proparallel, prosupport, proowner::regrole,
						proacl) FROM pg_proc p WHERE p.oid = objid)
				WHEN 'pg_class'::regclass THEN
					(SELECT concat_ws(' ', pg_get_viewdef(objid), relowner::regrole, relacl) FROM pg_class c WHERE c.oid = objid)
			END
		FROM pg_depend WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e' ORDER BY 1});
}

# as(ROLE, NODE, STATEMENTS): what the role's statements return, or their error
sub as
{
	my ($role, $node, $statements) = @_;
	my ($status, $out, $error) = $node->psql('app', "\\set VERBOSITY verbose\n$statements",
		connstr => $node->connstr('app') . " user=$role");
	return $status ? $error : $out;
}

my $node = new_server('updated');
start_with_clock($node, '+0');
$node->safe_psql('postgres', q{CREATE ROLE manager LOGIN; CREATE ROLE someone LOGIN});
$node->safe_psql('postgres', 'CREATE DATABASE app OWNER manager');
as('manager', $node, q{
	CREATE EXTENSION snowdrift;
	SELECT snowdrift.create_generator('own', 'snowflake', worker => 7);
	SELECT snowdrift.create_generator('own sno', 'sno', partition => 7);
	CREATE TABLE posts (id bigint PRIMARY KEY DEFAULT next_snowflake(), event ulid DEFAULT next_ulid(), tag sno DEFAULT next_sno());
	CREATE INDEX ON posts (event);
	CREATE INDEX ON posts USING hash (tag);
	CREATE VIEW lead AS SELECT lead FROM snowdrift.clock;
	INSERT INTO posts SELECT FROM generate_series(1, 1000);
	CREATE TABLE orders (id serial PRIMARY KEY);
	SELECT snowdrift.watch('orders'), snowdrift.watch('posts', 'id');
	INSERT INTO orders VALUES (DEFAULT), (DEFAULT)});
my $privileges = q{GRANT EXECUTE ON FUNCTION snowdrift.snapshot TO someone; REVOKE EXECUTE ON FUNCTION next_ulid() FROM PUBLIC;
	GRANT EXECUTE ON FUNCTION next_ulid() TO someone; REVOKE SELECT ON snowdrift.clock FROM PUBLIC; GRANT SELECT ON snowdrift.clock TO someone};
as('manager', $node, $privileges);
is(as('manager', $node, 'SELECT extversion FROM pg_extension WHERE extname = $$snowdrift$$'),
	'1.0', 'the owner of a database installs version 1.0');
my $old = $node->background_psql('app', on_error_stop => 0);
my $last = $old->query('SELECT next_snowflake()');

install_next_version();
my $draw_all = join '; ', map { "SELECT $_" } 'next_snowflake()', q{next_snowflake('own')}, 'next_ulid()', 'next_uuidv7()', 'next_sno()',
	q{next_sno('own sno')};
my $ids = qr/\A\d{18}\n\d{18}\n\w{26}\n[\w-]{36}\n\w{16}\n\w{16}\z/;
like(as('manager', $node, $draw_all), $ids, 'the library of 1.1 draws with the objects of 1.0');
is(as('manager', $node, q{
		INSERT INTO posts DEFAULT VALUES;
		SELECT snowdrift.create_generator('later', 'snowflake', layout => 'mastodon', this_node_only => true);
		SELECT snowdrift.restore('copy', snowdrift.snapshot('own'));
		SELECT count(*) FROM snowdrift.generators;
		SELECT lead < interval '5 s' FROM snowdrift.clock;
		SELECT snowdrift.drop_generator('later'), snowdrift.drop_generator('copy')}),
	"\n\n8\nt\n|", '... and manages generators');

like(as('someone', $node, 'ALTER EXTENSION snowdrift UPDATE'), qr/ERROR:  42501: must be owner/, 'ordinary roles cannot update the extension');
is(as('manager', $node, 'SELECT rolsuper FROM pg_roles WHERE rolname = current_user'), 'f', 'the owner is not a superuser');
$old->query('ALTER EXTENSION snowdrift UPDATE');
like($old->{stderr}, qr/could not find function "snowdrift_made_up" in file/, 'a session of the old library cannot update the extension');
is(as('manager', $node, 'ALTER EXTENSION snowdrift UPDATE; SELECT snowdrift.made_up(), extversion, extowner::regrole FROM pg_extension WHERE extname = $$snowdrift$$'),
	'11|1.1|manager', '... but its owner can, in a new session');
$old->{stderr} = '';
$old->query('SELECT snowdrift.made_up()');
like($old->{stderr}, qr/could not find function "snowdrift_made_up" in file/, 'a session of the old library cannot call a new function');
$old->quit;

like(as('manager', $node, $draw_all), $ids, 'the objects of 1.1 draw');
cmp_ok(as('manager', $node, 'SELECT next_snowflake()'), '>', $last, '... later IDs');
is(as('manager', $node, q{
		SET enable_seqscan = off;
		SELECT count(*) FROM posts p WHERE id = (SELECT id FROM posts WHERE event = p.event AND tag = p.tag)}),
	1001, 'the rows and their indexes are unchanged');
is(as('someone', $node, q{SELECT snowdrift.count_rows('posts')}) =~ /(ERROR: .*)/ ? $1 : '', 'ERROR:  42501: must be owner of table posts',
	'a new tool checks its caller');
is(as('manager', $node, q{SELECT snowdrift.count_rows('posts'); INSERT INTO orders DEFAULT VALUES; SELECT id FROM snowdrift.read_new(NULL::orders, 1)}), "1001\n2\n3",
	'... and works, and watched tables are still read');
ok($node->poll_query_until('app', 'SELECT count(*) = 1001 FROM snowdrift.read_new(NULL::posts, NULL::bigint, 2000)'),
	'... with IDs that are ahead of the clock, because the memory is new');
like(as('manager', $node, 'SELECT lead FROM lead'), qr/^\d\d:/, 'views of the extension\'s views remain');

$node->safe_psql('postgres', 'CREATE DATABASE fresh OWNER manager');
$node->safe_psql('fresh', 'SET ROLE manager; CREATE EXTENSION snowdrift');
$node->safe_psql('fresh', "SET ROLE manager; $privileges");
my $fresh = objects_of($node, 'fresh');
like($fresh, qr/^function snowdrift\.made_up\(\)/m, 'a new extension has the objects of 1.1');
is(objects_of($node, 'app'), $fresh, '... and the updated one has the same objects, and the privileges that were granted and revoked');
$node->stop;

done_testing();
