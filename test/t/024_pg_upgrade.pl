# pg_upgrade from the previous version of PostgreSQL that Debian has, by copy and by link: types, indexes, partitions, the
# server's number, generators and the mark are kept, so IDs continue even if the clock is set back.
use strict;
use warnings FATAL => 'all';
use Test::More;
use File::Basename qw(dirname);
use Snowdrift;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

my $old_bindir = $ENV{SNOWDRIFT_PREVIOUS_BINDIR};
plan skip_all => 'needs a server of the previous version of PostgreSQL' unless $old_bindir;

my $old = PostgreSQL::Test::Cluster->new('old', install_path => dirname($old_bindir));
$old->init(extra => ['--data-checksums']);
$old->append_conf('postgresql.conf', slurp_file($ENV{SNOWDRIFT_PREVIOUS_CONF}) . "log_statement = none\n");
start_with_clock($old, '+0');
create_all_kinds($old);
$old->safe_psql('postgres', q{
	SELECT snowdrift.create_generator('toots', 'snowflake', layout => 'mastodon', sequence_max => 99);
	CREATE TABLE posts (id bigint PRIMARY KEY DEFAULT next_snowflake(), event ulid NOT NULL DEFAULT next_ulid(),
		tag sno NOT NULL DEFAULT next_sno(), layout snowflake_layout DEFAULT 'discord');
	CREATE INDEX btree_event ON posts (event);
	CREATE INDEX btree_tag ON posts (tag);
	CREATE INDEX hash_event ON posts USING hash (event);
	CREATE INDEX hash_tag ON posts USING hash (tag);
	CREATE INDEX brin_event ON posts USING brin (event) WITH (pages_per_range = 1);
	CREATE INDEX brin_tag ON posts USING brin (tag ) WITH (pages_per_range = 1);
	INSERT INTO posts SELECT FROM generate_series(1, 5000);
	CREATE TABLE visits (id ulid PRIMARY KEY DEFAULT next_ulid()) PARTITION BY RANGE (id);
	SELECT snowdrift.create_partitions('visits', '1 month', now(), now() + interval '1 month');
	INSERT INTO visits SELECT FROM generate_series(1, 100);
	ALTER DATABASE postgres SET snowdrift.node = 5});

my %leading = map { $_ => $old->safe_psql('postgres', "SELECT $_") }
  'next_snowflake()', q{next_snowflake('own')}, q{next_snowflake('toots')}, 'next_ulid()', 'next_uuidv7()';
my $drawn = time;
my %waiting = map { $_ => $old->safe_psql('postgres', "SELECT $_") } 'next_sno()', q{next_sno('own sno')};
my $stored = q{SELECT md5(string_agg(posts::text, ',' ORDER BY id)), count(*) FROM posts};
my $definitions = 'SELECT * FROM snowdrift_tables.generator ORDER BY id';
my $number = 'SELECT number, source FROM snowdrift.node';
my $partitions = q{SELECT * FROM snowdrift.partitions('visits')};
my %before = map { $_ => $old->safe_psql('postgres', $_) } $stored, $definitions, $number, $partitions;
my $mark = $old->safe_psql('postgres', 'SELECT mark FROM snowdrift.clock');
forget_attribute_versions() unless knows_attribute_versions();
$old->stop;

# knows_attribute_versions(): whether the new PostgreSQL has the attribute option pg_attver, which the minor releases of
# November 2026 write for every new column
sub knows_attribute_versions
{
	my $probe = new_server('probe');
	$probe->start;
	my $error = error_of($probe, 'CREATE TABLE t (id int); ALTER TABLE t ALTER id SET (pg_attver = 1)');
	$probe->stop;
	return $error !~ /unrecognized parameter "pg_attver"/;
}

# forget_attribute_versions(): pg_upgrade to an earlier minor release fails for any table that has the option. Without it,
# the columns are those of an earlier minor release, too.
sub forget_attribute_versions
{
	$old->safe_psql('postgres', q{
		SET allow_system_table_mods = on;
		UPDATE pg_attribute SET attoptions = NULL WHERE attoptions::text LIKE '{pg_attver=%}'});
	return;
}

# rows_by(NODE, INDEX, CONDITION): how many rows a query finds that uses only the index
sub rows_by
{
	my ($node, $index, $condition) = @_;
	my $count = $node->safe_psql('postgres', qq{
		BEGIN;
		DO \$\$
			DECLARE other regclass;
			BEGIN
				FOR other IN SELECT indexrelid FROM pg_index
					WHERE indrelid = 'posts'::regclass AND indexrelid <> '$index'::regclass AND NOT indisprimary
				LOOP EXECUTE 'DROP INDEX ' || other; END LOOP;
			END \$\$;
		SET LOCAL enable_seqscan = off;
		SELECT count(*) FROM (VALUES (1)) one(n), LATERAL (SELECT FROM posts p WHERE $condition) found;
		EXPLAIN (COSTS OFF) SELECT FROM posts p WHERE $condition;
		ROLLBACK});
	my ($rows) = $count =~ /\A(\d+)\n/;
	return $count =~ /$index/ ? $rows : "not by the index: $count";
}

my $version = $old->pg_version;
for my $mode ('copy', 'link')
{
	my $new = new_server($mode, extra => ['--data-checksums']);
	my $by = "from $version to " . $new->pg_version . " by $mode";
	my $folder = PostgreSQL::Test::Utils::tempdir_short();
	chdir $folder or die $!;
	command_ok(
		[
			'pg_upgrade', '--no-sync', "--$mode", '-d', $old->data_dir, '-D', $new->data_dir, '-b', $old_bindir,
			'-B', $new->config_data('--bindir'), '-s', $folder, '-p', $old->port, '-P', $new->port
		],
		"the server is upgraded $by");

	# 30 seconds behind the IDs: less than snowdrift.max_clock_lead
	start_with_clock($new, '-' . (30 + time - $drawn));
	is($new->safe_psql('postgres', $_), $before{$_}, "the same result $by: $_") for sort keys %before;
	is($new->safe_psql('postgres', q{
			CREATE EXTENSION amcheck;
			SELECT count(bt_index_check(indexrelid, true)) > 4 FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
				WHERE indrelid >= 16384 AND relkind = 'i' AND relam = (SELECT oid FROM pg_am WHERE amname = 'btree');
			SELECT count(*) FROM pg_class, verify_heapam(pg_class.oid) WHERE pg_class.oid >= 16384 AND relkind = 'r'}),
		"t\n0", 'amcheck finds no damage');
	my ($event, $tag) = split /\|/, $new->safe_psql('postgres', 'SELECT event, tag FROM posts ORDER BY id OFFSET 2500 LIMIT 1');
	for my $index ('btree_event', 'hash_event')
	{
		is(rows_by($new, $index, "event = '$event'"), 1, "$index finds a row");
	}
	for my $index ('btree_tag', 'hash_tag')
	{
		is(rows_by($new, $index, "tag = '$tag'"), 1, "$index finds a row");
	}
	is(rows_by($new, 'brin_event', "event >= '$event'"), 2500, 'brin_event finds a range');
	is(rows_by($new, 'brin_tag', "tag >= '$tag'"), 2500, 'brin_tag finds a range');
	is($new->safe_psql('postgres', "SELECT mark >= timestamptz '$mark' FROM snowdrift.clock"), 't', 'the mark is kept');

	for my $call (sort keys %leading)
	{
		my ($type) = $call =~ /(ulid|uuid)/ ? $1 : 'bigint';
		my $id = $new->safe_psql('postgres', "SELECT $call");
		is($new->safe_psql('postgres', "SELECT $type '$id' > $type '$leading{$call}'"),
			't', "$call continues, although the clock was set back");
	}
	for my $call (sort keys %waiting)
	{
		like(error_of($new, "SET snowdrift.max_clock_lead = 0; SELECT $call"),
			qr/ERROR:  55000: clock moved backwards/, "$call waits, because the clock was set back");
	}
	set_clock($new, '+1');
	for my $call (sort keys %waiting)
	{
		my $id = $new->safe_psql('postgres', "SELECT $call");
		is($new->safe_psql('postgres', "SELECT sno '$id' > sno '$waiting{$call}'"), 't', "... and $call continues");
	}
	$new->safe_psql('postgres', 'INSERT INTO posts DEFAULT VALUES');
	is($new->safe_psql('postgres', 'SELECT count(*) FROM posts'), 5001, 'rows are inserted');
	is($new->safe_psql('postgres', q{
			INSERT INTO visits DEFAULT VALUES;
			SELECT count(*) FROM visits;
			SELECT count(*) FROM snowdrift.create_partitions('visits', '1 month', now(), now() + interval '2 months')}),
		"101\n1", '... and partitions are created');
	$new->stop;
}

done_testing();
