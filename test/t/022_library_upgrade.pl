# A package replaces the library while sessions use it. Sessions of libraries whose shared memory has the same
# structure share it. Once a library with another structure, which is made up here, is in use, sessions of the previous
# one raise an error when they next advance the mark, so no ID is repeated.
use strict;
use warnings FATAL => 'all';
use Test::More;
use Time::HiRes qw(usleep);
use Snowdrift;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

use_own_copy();

my $replaced = qr/ERROR:  55000: library of extension "snowdrift" was replaced/;
my $original = PostgreSQL::Test::Utils::tempdir() . '/snowdrift.so';
system_or_bail('cp', library_of_copy(), $original);

# has_ended(SESSION): whether a session of a load ends within ten seconds
sub has_ended
{
	my ($session) = @_;
	for (1 .. 1000)
	{
		eval { $session->{handle}->pump_nb };    # raises an error if it has ended
		return 1 unless $session->{handle}->pumpable;
		usleep(10_000);
	}
	return 0;
}

# draw(SESSION, CALL): what a call of an open session returns, or its error
sub draw
{
	my ($session, $call) = @_;
	$session->{stderr} = '';
	my $out = $session->query("SELECT $call");
	return $session->{stderr} || $out;
}

# open_session(NODE): a session whose errors show the SQLSTATE
sub open_session
{
	my ($node) = @_;
	my $session = $node->background_psql('postgres', on_error_stop => 0);
	$session->query('\set VERBOSITY verbose');
	return $session;
}

my $node = new_server('upgraded');
start_with_clock($node, '+0');
create_all_kinds($node);
# The slots of these generators, and the mark of a database that is created later, are in two chunks.
$node->safe_psql('postgres', q{
	SELECT snowdrift.create_generator('g' || i, 'snowflake', worker => 9) FROM generate_series(1, 300) i;
	SELECT next_snowflake('g' || i) FROM generate_series(1, 300) i});
$node->safe_psql('postgres', q{CREATE TABLE watched (id bigint); SELECT snowdrift.watch('watched', 'id')});
$node->safe_psql('postgres', 'CREATE DATABASE other');
create_all_kinds($node, 'other');

# A library with the same structure
my @loads = (start_load($node, 2, draw_all_kinds()));
wait_for_load($loads[0], 1000);
install_library($original);
push @loads, start_load($node, 2, draw_all_kinds());
wait_for_load($loads[1], 5000);
wait_for_load($loads[0], 10000);
my ($repeated, $count) = duplicates(map { end_load($_) } @loads);
is($repeated, '', "$count IDs of two libraries with the same structure: no duplicate, no error");

# A library with another structure
my $verbose = '\set VERBOSITY verbose';
my %idle = map { $_ => open_session($node) } 'draw', 'create', 'drop', 'reset', 'advance', 'snapshot', 'watch';
draw($_, q{next_snowflake(), next_sno(), next_ulid(), next_uuidv7()}) for values %idle;
my %in_transaction = map { $_ => open_session($node) } 'next_ulid()', 'next_uuidv7()';
for my $call (sort keys %in_transaction)
{
	$in_transaction{$call}->query('BEGIN');
	like(draw($in_transaction{$call}, $call), qr/^[\w-]{26,36}$/, "a transaction draws a block: $call");
}

my %old = (postgres => start_load($node, 3, draw_all_kinds(), $verbose),
	other => start_load($node, 1, draw_all_kinds(), $verbose, 'other'));
wait_for_load($_, 1000) for values %old;
install_library($ENV{SNOWDRIFT_NEXT});
my %new = (postgres => start_load($node, 3, draw_all_kinds()),
	other => start_load($node, 1, draw_all_kinds(), '', 'other'));
# After the lease, both libraries issue IDs of the same times, unless one stops.
wait_for_load($_, 20_000) for values %new;
my (@ended, %files);
for my $database (sort keys %old)
{
	push @ended, grep { has_ended($_) } @{ $old{$database} };
	$files{$database} = [ map { end_load($_->{$database}) } \%old, \%new ];
}
is(scalar(@ended), 4, 'the sessions of the old library end');
my @errors = map { slurp_file($_->{errors}) } map { @$_ } values %old;
is(scalar(grep { /$replaced.*HINT:  Reconnect\./s } @errors), 4, '... with an error that asks to reconnect')
  or diag(@errors);
for my $database (sort keys %files)
{
	($repeated, $count) = duplicates(@{ $files{$database} });
	is(scalar(() = $repeated =~ /\n/g), 0, "$count IDs of both libraries in database $database: no duplicate");
}

for my $call (sort keys %in_transaction)
{
	like(draw($in_transaction{$call}, $call), qr/^[\w-]{26,36}$/, "an open transaction continues its block: $call");
	$in_transaction{$call}->query('COMMIT');
}
set_clock($node, '+10');
for my $call (sort keys %in_transaction)
{
	like(draw($in_transaction{$call}, $call), $replaced, "... and the next one draws none: $call");
}
like(draw($idle{draw}, 'next_snowflake()'), $replaced, 'an idle session draws no more IDs');
like(draw($idle{draw}, q{next_sno('own sno')}), $replaced, '... of other generators');
like(draw($idle{create}, q{snowdrift.create_generator('new', 'snowflake')}), $replaced, '... cannot create generators');
like(draw($idle{drop}, q{snowdrift.drop_generator('own')}), $replaced, '... or drop them');
like(draw($idle{reset}, 'snowdrift.reset_clock()'), $replaced, '... or reset the clock');
like(draw($idle{advance}, q{snowdrift.advance(clock_timestamp())}), $replaced, '... or advance the generators');
like(draw($idle{snapshot}, q{snowdrift.snapshot('own')}), $replaced, '... or take snapshots');
like(draw($idle{snapshot}, $_), $replaced, "... or read watermarks: $_") for 'snowflake_watermark()', 'ulid_watermark()';
$idle{watch}->query('INSERT INTO watched VALUES (make_snowflake(now(), 0, 0, 0))');
like($idle{watch}->{stderr}, $replaced, '... or insert rows into watched tables');
like(draw($idle{draw}, 'ulid_timestamp(gen_ulid()) IS NOT NULL'), qr/^t$/, '... but generates random ULIDs and decodes IDs');
$_->quit for values %in_transaction, values %idle;

# The old library is installed again.
my $session = open_session($node);
like(draw($session, 'next_snowflake()'), qr/^\d{18}$/, 'sessions of the new library draw');
install_library($original);
for my $call ('next_snowflake()', 'next_ulid()', 'next_uuidv7()', q{next_sno('own sno')}, q{snowdrift.create_generator('x', 'sno')},
	'snowdrift.reset_clock()')
{
	like(error_of($node, "SELECT $call"), qr/$replaced.*restart the server/s, "after a downgrade, $call raises an error");
}
is($node->safe_psql('postgres', 'SELECT count(*) FROM snowdrift.clock, snowdrift.node, snowdrift.generators WHERE name IS NULL'),
	4, '... but the views can be read');
my $last = draw($session, 'next_snowflake()');
like($last, qr/^\d{18}$/, '... but sessions of the new library still draw');
$session->quit;
$node->restart;
cmp_ok($node->safe_psql('postgres', 'SELECT next_snowflake()'), '>', $last, '... until the server is restarted');
$node->stop;

# A preloaded library stays in use until the server restarts.
my $preloaded = new_server('preloaded');
$preloaded->append_conf('postgresql.conf', "shared_preload_libraries = 'snowdrift'\n");
$preloaded->start;
create_all_kinds($preloaded);
my $load = start_load($preloaded, 2, draw_all_kinds());
wait_for_load($load, 1000);
install_library($ENV{SNOWDRIFT_NEXT});
my $beside = start_load($preloaded, 2, draw_all_kinds());
wait_for_load($beside, 10000);
($repeated, $count) = duplicates(map { end_load($_) } $load, $beside);
is($repeated, '', "$count IDs with a preloaded library: no duplicate, no error");
$preloaded->restart;
like($preloaded->safe_psql('postgres', 'SELECT next_snowflake()'), qr/^\d{18}$/, '... and a restart loads the new one');
$preloaded->stop;

done_testing();
