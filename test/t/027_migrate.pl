# The statements of docs/migrate.md, run on small copies of the tables that they change.
#
# A section is a heading of the page that has ```sql or ```sh blocks directly below it. For each section, this test
# 1. creates the database "app", and runs test/migrate/HEADING.sql in it. HEADING is the heading in lower case, with each
#    sequence of characters other than letters and digits replaced by "_". The file creates the tables to change, and a
#    table before (id text) with the keys that "table" must contain afterwards, as strings;
# 2. runs the blocks in order, each in its own session. A block that raises 55P03 is repeated, as the page says. If a
#    block begins with "-- PostgreSQL N or later", it is skipped on older servers. Blocks in other languages are not run;
# 3. makes the checks of the section's entry in %sections.
# To add a section, write the section, its file and its entry. The test fails if one of them is missing.
use strict;
use warnings FATAL => 'all';
use Test::More;
use Snowdrift;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

# The stand-ins for other extensions are installed beside Snowdrift.
use_own_copy();
system_or_bail('cp', glob('migrate/extensions/*'), sharedir_of_copy());

my $node = new_server('migrate');
$node->start;
$ENV{PGHOST} = $node->host;
$ENV{PGPORT} = $node->port;
my ($version) = $node->safe_psql('postgres', 'SHOW server_version_num') =~ /^(\d\d)/;

my @writers;    # sessions that write during a section

# The entry of a section has
#   table     the table that must contain the keys of "before"
#   insert    a statement that inserts a row with a new default ID into the table. The ID must be greater than all
#             existing ones, unless "unordered" is true
#   unordered true if new IDs are in no order with existing ones
#   queries   [statement, expected result, name]... to run after the migration
#   database  the name of the other database that the section creates, if any
#   runs      if the section applies to several originals: the name of each, which is the variable "original" of the
#             setup, and a sub that edits the statements in $_ as the page says
#   again     a pattern of blocks that can be run twice; their second run must succeed too
#   before    a sub that is called between setup and blocks
#   between   [pattern, statement, expected result, name]... to run after the block that matches the pattern
#   after     a sub that is called after the blocks, with a reference to the list of their outputs
my %sections = (
	'Serial and identity keys' => {
		table => 'users',
		insert => q{INSERT INTO users (name) VALUES ('new')},
		again => qr/^SELECT snowdrift\.convert_/,
		after => sub {
			my (undef, undef, undef, undef, undef, $users, $pages) = @{ $_[0] };
			like($users, qr/^1000\n\d{18}\|Edsger/, 'the queries distinguish old keys from new ones');
			is($pages, '1000', '... and, with the layout, those of a generator');
			like($node->safe_psql('app', q{INSERT INTO pages (title) VALUES ('new') RETURNING id}), qr/^\d{16}$/, '... which new rows get');
		},
		queries => [
			[   q{SELECT string_agg(atttypid::regtype::text, ' ') FROM pg_attribute WHERE attname ~ '^(id|user_id|invited_by)$'
				AND attrelid IN ('users'::regclass, 'orders'::regclass)}, 'bigint bigint bigint bigint', 'all columns are bigint'
			],
			[   q{INSERT INTO orders DEFAULT VALUES RETURNING snowflake_timestamp(id) > now() - interval '1 hour'}, 't', 'all keys are Snowflakes' ],
			[ 'SELECT count(*) FROM invited WHERE id = 2', '1', 'the view is created again' ],
			[   q{SELECT string_agg(attrelid::regclass || ' ' || atttypid::regtype, ', ' ORDER BY attrelid::regclass::text, attname) FROM pg_attribute
				WHERE attname ~ '^(id|user_id)$' AND attrelid IN ('auth_user'::regclass, 'migrations'::regclass, 'profiles'::regclass)},
				'auth_user integer, migrations integer, profiles bigint, profiles integer', 'tables of frameworks keep their keys'
			],
			[   q{SELECT string_agg(atttypid::regtype::text, ' ') FROM pg_attribute
				WHERE attname IN ('id', 'userId') AND attrelid IN ('"User"'::regclass, '"Order"'::regclass)},
				'bigint bigint bigint', 'tables with capital letters in their names are converted'
			],
		],
	},
	q{First aid for `integer` keys that run out} => {
		table => 'tickets',
		insert => q{INSERT INTO tickets (name) VALUES ('new')},
		unordered => 1,
		queries => [
			[ q{SELECT min(id) FROM tickets}, '-2147483648', 'keys continue with the smallest integer' ],
			[ q{INSERT INTO invoices DEFAULT VALUES RETURNING id}, '-2147483648', '... also those of an identity' ],
		],
	},
	'Keys that applications write to' => {
		table => 'users',
		insert => q{INSERT INTO users (name) VALUES ('new')},
		again => qr/gexec/,
		queries => [
			[   q{SELECT string_agg(atttypid::regtype::text, ' ') FROM pg_attribute WHERE attname ~ '^(id|user_id|invited_by)$'
				AND attrelid IN ('users'::regclass, 'orders'::regclass)}, 'bigint bigint bigint bigint', 'all columns are bigint'
			],
			[ q{SELECT count(*) FROM orders JOIN users ON users.id = user_id}, '1000', 'references stay' ],
		],
	},
	'Back-filling a table' => {
		table => 'comments',
		insert => q{INSERT INTO comments (post_id, body) SELECT max(id), 'new' FROM posts},
		# The bodies of posts are numbers in the order of their keys, and those of comments are those of their posts.
		between => [
			[ qr/ADD COLUMN/, q{INSERT INTO posts (body) VALUES ('30000') RETURNING new_id IS NOT NULL}, 't', 'a new post has an ID' ],
			[ qr/ADD COLUMN/, q{INSERT INTO comments (post_id, body) VALUES (30001, '30000') RETURNING new_post_id IS NOT NULL}, 't', '... its comment refers to it' ],
			[ qr/ADD COLUMN/, q{INSERT INTO comments (post_id, body) VALUES (7, '6') RETURNING new_post_id IS NULL}, 't', '... and that of an old post has to wait' ],
			[ qr/^UPDATE posts/, 'SELECT count(*), count(DISTINCT new_id) FROM posts', '30001|30001', 'one statement fills in all IDs' ],
			[ qr/^UPDATE posts/, q{UPDATE posts SET new_id = NULL WHERE body <> '30000'}, '', '... which are removed, so that the batches fill them in' ],
			[ qr/new_post_id = posts.new_id/, q{UPDATE comments SET post_body = '8', body = '8' WHERE body = '9'}, '', 'a trigger changes a reference that was copied' ],
			[ qr/posts_new_key ON/, q{INSERT INTO comments (post_body, body) VALUES ('9', '9') RETURNING new_post_id IS NOT NULL}, 't', '... and sets a new one' ],
			[ qr/RENAME/, q{INSERT INTO posts (body) VALUES ('30001') RETURNING id > 0, old_id IS NULL}, 't|t', 'a new post needs no old key' ],
		],
		queries => [
			[   'SELECT count(*), count(DISTINCT id), every(snowflake_timestamp(id) = created_at) FILTER (WHERE body::int < 30000) FROM posts',
				'30002|30002|t', 'IDs are distinct and have the times'
			],
			[   q{SELECT count(*), every(posts.body = comments.body) FROM comments JOIN posts ON post_id = posts.id WHERE comments.body <> 'new'},
				'30003|t', 'comments refer to the same posts'
			],
			[   q{SELECT string_agg(attrelid::regclass || '.' || attname, ' ' ORDER BY attrelid::regclass::text, attname) FROM pg_attribute
				WHERE attrelid IN ('posts'::regclass, 'comments'::regclass) AND attnum > 0 AND attnotnull},
				'comments.id comments.post_id posts.created_at posts.id', 'the same columns are not null'
			],
			[   q{SELECT string_agg(conname, ' ' ORDER BY conname) FROM pg_constraint
				WHERE conrelid IN ('posts'::regclass, 'comments'::regclass) AND contype <> 'n'},
				'comments_pkey comments_post_id_fkey posts_pkey', 'the constraints have the same names'
			],
			[   q{SELECT every(earlier < body::int) FROM (SELECT body, lag(body::int) OVER (ORDER BY id) AS earlier FROM posts) AS all_posts},
				't', 'posts have the same order'
			],
			[ q{INSERT INTO posts (body) VALUES ('new') RETURNING id > (SELECT max(id) FROM posts)}, 't', 'new posts are later' ],
		],
	},
	'Random `uuid` keys' => {
		table => 'customers',
		insert => q{INSERT INTO customers (name) VALUES ('new')},
		unordered => 1,
		again => qr/^ALTER/,
		queries => [
			[   q{SELECT name, count(*) FROM customers
				WHERE uuidv7_within(id, tstzrange(now() - interval '1 hour', NULL)) GROUP BY name},
				'new|20', 'a query by time returns the new rows'
			],
			[   q{SELECT every(earlier < id) FROM (SELECT id, lag(id) OVER (ORDER BY ctid) AS earlier FROM customers
				WHERE name = 'new') AS new}, 't', 'new keys ascend'
			],
		],
	},
	'pgx_ulid and pg-ulid, by dump' => {
		table => 'users',
		database => 'app_new',
		insert => q{INSERT INTO users (name) VALUES ('new')},
		runs => { pgx_ulid => sub { }, ulid => sub { } },
		after => sub { like($_[0][0], qr/^events\|floor\|.*now\(\)/m, 'the default that relies on an implicit cast is listed') },
		queries => [
			[ q{SELECT count(*) FROM users WHERE id < timestamptz '2024-01-01'}, '2', 'a query by time returns old rows' ],
			[ q{SELECT count(*) > 500 FROM users WHERE id >= now() - interval '1 hour'}, 't', '... and new rows' ],
			[ q{SELECT every(at = ulid_timestamp(id) AT TIME ZONE 'UTC') FROM events}, 't', 'the generated column is kept' ],
		],
	},
	'pgx_ulid and pg-ulid, in place' => {
		table => 'users',
		insert => q{INSERT INTO users (name) VALUES ('new')},
		runs => {
			pgx_ulid => sub { },
			ulid => sub { s/(\w+)::uuid/encode(ulid_send($1), 'hex')::uuid/g; s/EXTENSION pgx_ulid/EXTENSION ulid/ },
		},
		queries => [
			[ q{SELECT count(*) FROM users WHERE id < timestamptz '2024-01-01'}, '2', 'a query by time returns old rows' ],
			[ q{SELECT count(*) > 500 FROM users WHERE id >= now() - interval '1 hour'}, 't', '... and new rows' ],
			[ q{SELECT string_agg(extname, ' ') FROM pg_extension WHERE extname ~ 'ulid'}, '', 'the old extension is gone' ],
		],
	},
	q{pgEdge's snowflake extension} => {
		table => 'orders',
		insert => 'INSERT INTO orders (total) VALUES (5)',
		again => qr/^BEGIN/,
		after => sub { $node->safe_psql('postgres', 'ALTER SYSTEM RESET ALL') },
		queries => [
			[   q{SELECT every(snowflake_worker(id, 'pgedge') = 10) FROM orders WHERE total = 5}, 't', 'new IDs contain the node' ],
			[   q{SELECT total, count(*) >= 20 FROM orders WHERE id > 100 AND
				snowflake_within(id, tstzrange(now() - interval '1 hour', NULL), 'pgedge') GROUP BY total ORDER BY total},
				"2|t\n3|t\n5|t", 'a query by time returns the rows of the last hour'
			],
		],
	},
	q{Mastodon's `timestamp_id`} => {
		table => 'statuses',
		insert => q{INSERT INTO statuses (text) VALUES ('new')},
		again => qr/^BEGIN/,
		queries => [
			[   q{SELECT text, count(*) >= 20 FROM statuses WHERE snowflake_within(id, tstzrange(now() - interval '1 day', NULL),
				'mastodon') GROUP BY text ORDER BY text}, "new|t\nold|t\nreply|t", 'a query by time returns the rows of a day'
			],
		],
	},
	q{Instagram's function} => {
		table => 'insta5.photos',
		insert => q{INSERT INTO insta5.photos (url) VALUES ('new')},
		again => qr/^BEGIN/,
		queries => [
			[   q{SELECT every(snowflake_worker(id, 'instagram') = 5) FROM insta5.photos}, 't', 'all IDs contain the shard' ],
			[   q{SELECT url, count(*) >= 20 FROM insta5.photos WHERE snowflake_within(id, tstzrange(now() - interval '1 hour', NULL),
				'instagram') GROUP BY url ORDER BY url}, "new|t\nold|t", 'a query by time returns old and new rows'
			],
		],
	},
	'TSIDs of Hibernate' => {
		table => 'posts',
		insert => q{INSERT INTO posts (title) VALUES ('new')},
		after => sub { is($_[0][1], "17|501\n755|500", 'the query shows the nodes') },
		queries => [
			[ q{SELECT every(snowflake_worker(id, 'tsid') = 1023) FROM posts WHERE title = 'new'}, 't', 'new IDs contain the node' ],
			[   q{SELECT name, id - lag(id) OVER (ORDER BY id), snowflake_timestamp(id, 'tsid') FROM tags ORDER BY id},
				"upper||2020-04-15 22:31:02.458+00\nlower|1|2020-04-15 22:31:02.458+00", 'strings are converted'
			],
		],
	},
	'ULIDs in `text` columns' => {
		table => 'orders',
		after => sub {
			my (@invalid) = @{ $_[0] };
			is(pop @invalid, '01GV5PA9EQG7D82Q3Y4PKBZSYV|2', 'equal ULIDs are found');
			is(join(' ', sort split(/\n/, $_)), '01GV5PA9EQG7D82Q3Y4PKBZSYU 81GV5PA9EQG7D82Q3Y4PKBZSYV none', 'strings that are not ULIDs are found')
			  for @invalid;
		},
	},
	'In one transaction' => {
		table => 'orders',
		insert => q{INSERT INTO orders (note) VALUES ('new')},
		queries => [
			[   q{SELECT count(*) FROM orders WHERE note = 'old' AND id >= now() - interval '100.5 hours'},
				'100', 'a query by time returns the old rows'
			],
		],
	},
	'While applications write' => {
		table => 'orders',
		insert => q{INSERT INTO orders (note) VALUES ('new')},
		before => \&start_writers,
		after => \&end_writers,
		between => [
			[ qr/CALL fill_in_batches/, q{UPDATE order_lines SET order_number = 7 WHERE item IN ('item1', 'item2') AND order_id = (SELECT id FROM orders WHERE number = 8)},
				'', 'a trigger changes references that were copied' ],
			[ qr/CALL fill_in_batches/, q{INSERT INTO order_lines (order_number, item) VALUES (9, 'late')}, '', '... and sets a new one' ],
		],
		queries => [
			[   q{SELECT count(*) FROM orders WHERE note = 'old' AND id >= now() - interval '100.5 hours'},
				'100', 'a query by time returns the old rows'
			],
			[   q{SELECT attname FROM pg_attribute WHERE attrelid IN ('orders'::regclass, 'order_lines'::regclass) AND attnum > 0
				AND NOT attisdropped AND attnotnull ORDER BY 1}, "id\nnumber\norder_id", 'the keys are not null'
			],
			[   q{SELECT item, number FROM order_lines JOIN orders ON id = order_id WHERE order_number IS NOT NULL ORDER BY 1},
				"item1|7\nitem2|7\nlate|9", 'references that a trigger set refer to the same orders'
			],
			[   q{SELECT string_agg(tgname, ' ') FROM pg_trigger WHERE tgname = '~fill_ulid'}, '', 'no trigger is left' ],
		],
	},
	'Auditing the result' => {
		table => 'orders',
		insert => 'INSERT INTO orders (total) VALUES (2)',
		again => qr/audit/,
		after => sub {
			my ($all, $since) = @{ $_[0] };
			like($all, qr/^small number\|\|\|\|1000\|.*\nID\|0\|\d+\|\|100\|/, 'the audit shows old keys and IDs');
			like($since, qr/^ID earlier than since\|\|\|\|1000\|.*\nID\|0\|\d+\|\|100\|/, '... and with a time, old keys in one row');
		},
	},
	'From `ulid` to `uuid`' => {
		table => 'orders',
		insert => q{INSERT INTO orders (note) VALUES ('new')},
		unordered => 1,
		after => sub {
			is( $node->safe_psql('app', q{SELECT orders = pg_relation_filenode('orders'),
				order_lines = pg_relation_filenode('order_lines') FROM filenode}), 't|t', 'the tables were not rewritten');
			is_times($_[0][2]);
		},
	},
	'From `sno` to `text` or `uuid`' => {
		table => 'devices',
		queries => [
			[ 'SELECT count(*) FROM devices JOIN sensors ON devices.id::sno = sensors.id::sno', '1000', 'both columns contain the same sno values' ],
		],
	},
	'From Snowflakes to a sequence' => {
		table => 'posts',
		insert => q{INSERT INTO posts (body) VALUES ('new')},
		again => qr/^SELECT/,
		after => sub { is_times($_[0][1]) },
	},
	'Dropping the extension' => {
		table => 'posts',
		insert => 'INSERT INTO posts DEFAULT VALUES',
		before => sub {
			like(error_of_database($node, 'app', 'DROP EXTENSION snowdrift'),
				qr/2BP01.*column created_at of table posts depends on/s, 'dropping the extension lists what depends on it');
		},
		queries => [
			[ 'SELECT count(*) FROM times JOIN posts ON posts.id = times.id AND created_at = time', '1000', 'times are kept' ],
			[ q{SELECT count(*) FROM pg_namespace WHERE nspname ~ '^snowdrift'}, '0', 'nothing is left' ],
		],
	},
);

# is_times(OUTPUT): checks that the lines "ID|time" that a block returned are the rows of the table times
sub is_times
{
	my ($output) = @_;
	is( join("\n", sort split(/\n/, $output)),
		join("\n", sort split(/\n/, $node->safe_psql('app', 'SELECT id, time FROM times'))),
		'the expression returns the times');
	return;
}

# Starts sessions that write orders with their lines in transactions, as applications do. They send the keys as strings
# in lower case.
sub start_writers
{
	my $statement = q{SELECT lower(gen_ulid()::text) AS id \gset
		BEGIN;
		INSERT INTO orders (id, note) VALUES (:'id', 'written');
		INSERT INTO order_lines (order_id, item) VALUES (:'id', 'item');
		UPDATE orders SET note = 'changed' WHERE id = :'id';
		COMMIT;
		SELECT upper(:'id')};
	@writers = map { @{ start_load($node, 1, $statement, '', 'app') } } 1 .. 3;
	wait_for_load(\@writers, 50);
	return;
}

sub end_writers
{
	wait_for_load(\@writers, received_by_each(\@writers) + 50);
	my @files = end_load(\@writers);
	my ($repeated, $count) = duplicates(@files);
	is($repeated, '', "writers wrote $count orders without an error");
	$node->safe_psql('app', "CREATE TABLE written (id ulid); COPY written FROM '$files[0].all'");
	is( $node->safe_psql('app',
			q{SELECT count(*) FROM written LEFT JOIN orders USING (id) LEFT JOIN order_lines ON order_id = id
			WHERE note IS DISTINCT FROM 'changed' OR item IS NULL}),
		'0', '... none is lost');
	return;
}

# file_of(HEADING): the section's setup
sub file_of
{
	my ($heading) = @_;
	my $name = lc($heading) =~ s/[^a-z0-9]+/_/gr =~ s/^_|_$//gr;
	return "migrate/$name.sql";
}

# read_page(): the headings of sections in order, and for each heading its blocks: [language, text]
sub read_page
{
	my (@headings, %blocks, $heading, $language);
	for my $line (split(/^/, slurp_file('docs/migrate.md')))
	{
		if (defined $language)
		{
			if ($line =~ /^```$/) { undef $language }
			elsif ($language =~ /^(sql|sh)$/) { $blocks{$heading}[-1][1] .= $line }
		}
		elsif ($line =~ /^```(\w+)$/)
		{
			$language = $1;
			next if $language !~ /^(sql|sh)$/;
			push @headings, $heading if !$blocks{$heading};
			push @{ $blocks{$heading} }, [ $language, '' ];
		}
		elsif ($line =~ /^#+ (.*)$/) { $heading = $1 }
	}
	return (\@headings, \%blocks);
}

# run_block(LANGUAGE, TEXT): the output of a block, which must raise no error
sub run_block
{
	my ($language, $text) = @_;
	my ($status, $out, $error);
	if ($language eq 'sh')
	{
		IPC::Run::run([ 'bash', '-e', '-o', 'pipefail', '-c', $text ], '>', \$out, '2>', \$error);
		($status, $error) = ($?, $error);
	}
	else
	{
		my $tries = 0;
		do
		{
			($status, $out, $error) = $node->psql('app', "\\set VERBOSITY verbose\nSET client_min_messages = warning;\n$text");
		} while ($status != 0 && $error =~ /ERROR:  55P03/ && ++$tries < 100);
	}
	is($status == 0 ? '' : $error, '', 'runs: ' . ($text =~ s/\n.*/ .../sr));
	# ALTER SYSTEM applies to new sessions once the server has read its configuration.
	$node->poll_query_until('postgres', q{SELECT count(*) = 0 FROM pg_file_settings WHERE applied AND
		setting IS DISTINCT FROM current_setting(name, true) AND name LIKE 'snowdrift.%'}) if $text =~ /pg_reload_conf/;
	chomp $out;
	return $out;
}

# check_rows(SECTION, DATABASE, FOREIGN KEYS): checks that no row is lost, that the foreign keys are valid, and that new
# IDs are greater than all existing ones
sub check_rows
{
	my ($section, $database, $foreign_keys) = @_;
	my $table = $section->{table};
	my $result = sub { return $node->safe_psql($database, "SET TIME ZONE 'UTC'; $_[0]") };
	is( $result->("SELECT count(*) > 0, count(*) FILTER (WHERE id NOT IN (SELECT id::text FROM $table)) FROM before"),
		't|0', 'no row is lost');
	is($result->("SELECT count(*), count(*) FILTER (WHERE NOT convalidated) FROM pg_constraint WHERE contype = 'f'"),
		"$foreign_keys|0", 'the foreign keys exist and are valid');
	if (my $insert = $section->{insert})
	{
		$result->("CREATE TABLE latest AS SELECT id FROM $table ORDER BY id DESC LIMIT 1; " . "$insert; " x 20);
		my $later = $result->("SELECT count(*) FROM $table, latest WHERE $table.id > latest.id");
		is($later, '20', 'new IDs are greater than all existing ones') unless $section->{unordered};
	}
	for my $query (@{ $section->{queries} // [] })
	{
		my ($statement, $expected, $name) = @$query;
		is($result->($statement), $expected, $name);
	}
	return;
}

# run_section(HEADING, BLOCKS, ORIGINAL): runs a section in a new database
sub run_section
{
	my ($heading, $blocks, $original) = @_;
	my $section = $sections{$heading};
	my $database = $section->{database} // 'app';
	$node->safe_psql('postgres', "DROP DATABASE IF EXISTS $_ WITH (FORCE)") for 'app', $database;
	$node->safe_psql('postgres', 'CREATE DATABASE app');
	run_log([ qw(psql -X -q -o /dev/null -v ON_ERROR_STOP=1 -v), "original=$original", '-f', file_of($heading), 'app' ])
	  or die 'setup failed';
	my $foreign_keys = $node->safe_psql('app', q{SELECT count(*) FROM pg_constraint WHERE contype = 'f'});
	$section->{before}->() if $section->{before};

	my @outputs;
	for my $block (@$blocks)
	{
		my ($language, $text) = @$block;
		next if $text =~ /^-- PostgreSQL (\d+) or later/ && $version < $1;
		$section->{runs}{$original}->() for $section->{runs} ? $text : ();
		push @outputs, run_block($language, $text);
		run_block($language, $text) if $section->{again} && $text =~ $section->{again};
		for (@{ $section->{between} // [] })
		{
			my ($pattern, $statement, $expected, $name) = @$_;
			is($node->safe_psql('app', $statement), $expected, $name) if $text =~ $pattern;
		}
	}
	$section->{after}->(\@outputs) if $section->{after};
	check_rows($section, $database, $foreign_keys);
	return;
}

my ($headings, $blocks) = read_page();
is_deeply([ sort @$headings ], [ sort keys %sections ], 'each section of the page has an entry');
is_deeply([ sort map { file_of($_) } @$headings ], [ sort glob('migrate/*.sql') ], '... and a setup');
for my $heading (@$headings)
{
	for my $original (sort keys %{ $sections{$heading}{runs} // { '' => 0 } })
	{
		subtest "$heading $original" => sub {
			eval { run_section($heading, $blocks->{$heading}, $original) };
			is($@, '', 'the section is complete');
		};
	}
}
$node->stop;

done_testing();
