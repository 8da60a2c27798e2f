# A dump of the beta restores: its generators, mark, watches ("guards"), partitions and converted keys work as they did.
use strict;
use warnings FATAL => 'all';
use Test::More;
use Snowdrift;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

my $node = new_server('restored');
start_with_clock($node, '2026-11-28 01:23:40');    # before the mark of the dump, and before the times of its IDs
my ($out, $error) = run_command([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('postgres'), '-f', 't/beta.sql' ]);
is($error, '', 'the dump restores');

# greatest(): the greatest ID of each column
sub greatest
{
	return $node->safe_psql('postgres', q{SELECT 'events', max(id), max(event), max(tag), max(key::text) FROM events UNION ALL
		SELECT 'pages', max(id), max(event), max(tag), max(key::text) FROM pages UNION ALL
		SELECT 'posts', max(id), NULL, NULL, NULL FROM posts UNION ALL
		SELECT 'users', max(id), NULL, NULL, NULL FROM users UNION ALL SELECT 'orders', max(id), NULL, NULL, NULL FROM orders});
}
my @before = split /[|\n]/, greatest(), -1;
$node->safe_psql('postgres', qq{INSERT INTO $_ DEFAULT VALUES}) for qw(events pages posts users orders);
my @after = split /[|\n]/, greatest(), -1;
is(scalar(@after), 25, 'all columns have IDs');
is_deeply([ map { "$before[$_] $after[$_]" } grep { $before[$_] !~ /^([a-z]+|)$/ && ($after[$_] =~ /^\d+$/ ? $after[$_] <= $before[$_] : $after[$_] le $before[$_]) } 0 .. $#after ],
	[], 'new IDs are greater than those of the dump');
is($node->safe_psql('postgres', q{SELECT min(snowflake_timestamp(id)) > '2026-11-28 01:23:47.164Z' FROM (SELECT max(id) FROM events UNION SELECT max(id) FROM posts) AS t(id)}),
	't', '... and later than its mark');
is($node->safe_psql('postgres', q{SELECT string_agg(concat_ws(' ', name, kind, layout, partition), ', ' ORDER BY name) FROM snowdrift.generators WHERE name <> ''}),
	'own sno sno 7, web snowflake si', 'named generators are restored');
is($node->safe_psql('postgres', 'SELECT count(*) FROM recent_events'), 3, 'a view with time predicates');

my $watermark = $node->safe_psql('postgres', 'SELECT snowflake_watermark()');
like(error_of($node, "INSERT INTO events (id) VALUES ($watermark - 1)"), qr/55000/, 'the watch refuses a row below a watermark');
is(error_of($node, "INSERT INTO events (id) VALUES ($watermark + (1::bigint << 30))"), 'no error, but: ', '... and accepts one above');
for my $row ([ "snowflake_watermark('web')", 'id', 'min(id) - 1' ], [ 'ulid_watermark()', 'event', 'min(event)' ], [ 'uuidv7_watermark()', 'key', 'min(key::text)::uuid' ])
{
	my ($call, $column, $early) = @$row;
	like(error_of($node, "SELECT $call; INSERT INTO pages ($column) SELECT $early FROM pages"), qr/55000/, "... also in column $column of another table");
}
set_clock($node, '2026-11-28 01:30:00');    # after all IDs
is($node->safe_psql('postgres', 'SELECT (SELECT count(*) FROM snowdrift.read_new(NULL::events)), count(*) FROM events'), '4|4', 'new rows are read with a watch of the dump');
like(error_of($node, 'SELECT snowdrift.read_new(NULL::pages)'), qr/22023: .* several columns.*HINT:  Watch only one/s, '... which must be that of one column');
my ($status, $rows, $notices) = $node->psql('postgres', q{SELECT snowdrift.unwatch('pages', 'event'), snowdrift.unwatch('pages', 'key') \g /dev/null
	SELECT count(*) FROM snowdrift.read_new(NULL::pages)});
is($rows . $notices, '2', '... then, new rows of a named generator are read, without a notice that the table is not watched');
is($node->safe_psql('postgres', q{SELECT snowdrift.watch(t, 'id') FROM unnest('{events,pages}'::regclass[]) AS t \g /dev/null
	SELECT string_agg(concat_ws(' ', tgrelid::regclass, tgname, tgenabled), ', ' ORDER BY tgrelid::regclass::text) FROM pg_trigger WHERE NOT tgisinternal AND tgrelid IN ('events'::regclass, 'pages'::regclass)}),
	'events snowdrift_watermark_1 A, pages snowdrift_watermark_1 A', '... and watch() replaces the triggers of the dump');
is(error_of($node, q{SELECT snowdrift.unwatch('events', 'id')}), 'no error, but: ', '... and can be removed');
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_trigger WHERE tgrelid = 'events'::regclass AND NOT tgisinternal}), 0, '... with its trigger');

is($node->safe_psql('postgres', q{SELECT snowdrift.create_partitions('posts', '1 month', '2027-03-15Z', '2027-04-15Z')}), 'posts_2027_04', 'partitions are created after those of the dump');
is($node->safe_psql('postgres', q{SELECT * FROM snowdrift.drop_partitions_before('posts', '2026-11-01Z')}) =~ s/\|.*//r, 'posts_2026_10', '... and dropped');

is($node->safe_psql('postgres', q{SELECT snowdrift.convert_keys('{users,orders}')}), '', 'converted keys are converted');
is($node->safe_psql('postgres', q{SELECT count(*) FROM snowdrift.revert_keys('{users,orders}')}), 5, '... and can be reverted');

$node->stop;
done_testing();
