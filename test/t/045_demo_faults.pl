# ./dev demo faults: what it counts, a short run, and what a run leaves behind.
use strict;
use warnings FATAL => 'all';
use Test::More;
use Snowdrift;
use File::Find;
use IPC::Run ();
use PostgreSQL::Test::Utils;

my @python = ('/usr/bin/python3', '-B');
$ENV{PYTHONPATH} = 'faults';
my ($bindir) = run_command([ 'pg_config', '--bindir' ]);

# The output of a Python program that has two tallies, of a generator of Snowdrift and of another one
sub output_of
{
	my ($program) = @_;
	my ($out, $error) = run_command([ @python, '-c', <<"END" ]);
from demo_generators import ClockMovedBackwards, Generator, SnowflakeLibrary
from demo_tally import Tally, conclusion
ours, other = Tally(Generator("ours", is_ours=True), ""), Tally(Generator("other"), "")
def counts(tally): print(tally.received, tally.repeated, tally.out_of_order)
$program
END
	return $error eq '' ? $out : $error;
}

is(output_of("ours.receive(None, [1, 2, 3]); ours.receive(ours.begin(), [4]); counts(ours)"), '4 0 0', 'IDs that ascend');
is(output_of("ours.receive(None, [1, 2, 2]); ours.receive(None, [1]); counts(ours)"), '4 2 0', 'repeated IDs');
is(output_of("ours.receive(None, [5, 7]); ours.receive(ours.begin(), [6]); counts(ours)"), '3 0 1', 'an ID that is out of order');
is(output_of("before = ours.begin(); ours.receive(None, [7]); ours.receive(before, [6]); counts(ours)"), '2 0 0',
	'statements at the same time have no order');

my $fine = 'Snowdrift: 1 IDs received, 0 repeated, 0 out of order.';
is(output_of("ours.receive(None, [1]); other.receive(2, [1, 1]); print(*conclusion([ours, other]))"), "$fine 3 0",
	'the demo succeeds if only another generator has repeated IDs');
like(output_of("ours.receive(None, [1, 1]); print(*conclusion([ours, other]))"), qr/ 1 repeated.* 2 1$/, 'a repeated ID fails it');
like(output_of("ours.receive(2, [1]); print(*conclusion([ours, other]))"), qr/ 1 out of order\. 2 1$/, 'and an ID out of order');
like(output_of("print(*conclusion([ours, other]))"), qr/received none from ours\. 2 1$/, 'and a generator without IDs');

is( output_of(<<'END'), "True\nTrue\nTrue",
times = [5.0, 5.0, 5.001, 4.0]
library = SnowflakeLibrary(3, lambda: times.pop(0))
first, second, third = (library.next_id() for _ in range(3))
print(second == first + 1); print(third == first + (1 << 22))
try: library.next_id()
except ClockMovedBackwards: print(True)
END
	'the Snowflake library counts within a millisecond, and refuses while its clock is behind');

# Runs. An extension that is installed has a row, here one that only has a function of this name.
my $has_peer = finds_staged();
if ($has_peer)
{
	use_own_copy();
	append_to_file(sharedir_of_copy() . '/pg_uuidv7.control', "default_version = '1.0'\nrelocatable = true\n");
	append_to_file(sharedir_of_copy() . '/pg_uuidv7--1.0.sql',
		'CREATE FUNCTION uuid_generate_v7() RETURNS uuid LANGUAGE sql AS $$ SELECT gen_random_uuid() $$;');
}
my $folder = PostgreSQL::Test::Utils::tempdir();
my $conf = "$folder/extension.conf";
append_to_file($conf, Snowdrift::extension_conf());
mkdir "$folder/run";
local $ENV{TMPDIR} = "$folder/run";
my @demo = (@python, 'faults/demo_faults.py', '--seconds', 20, '--bindir', $bindir, '--conf', $conf, '--clock', "$ENV{TESTDATADIR}/faults/clock.so");

# The files in the folder of the runs, and the command lines of the processes that use it
sub left_behind
{
	my @files;
	find(sub { push @files, $_ if $_ ne '.' }, "$folder/run");
	my @commands = grep { index($_, "$folder/run") >= 0 } map { qx(tr '\\0' ' ' < $_ 2>/dev/null) } glob '/proc/[0-9]*/cmdline';
	return "@files @commands";
}

my ($out, $error);
my $ok = IPC::Run::run(\@demo, '<', \undef, '>', \$out, '2>', \$error);
ok($ok, 'a short run succeeds') or diag($out, $error);
is($error, '', 'without a message');
is(left_behind(), ' ', 'its servers and files are removed');
like($out, qr/writers insert.*kill -9.*recovered.*half a second later.*pg_dump.*restored.*set back.*raised to 5min.*states in memory.*set ahead/s,
	'each event has a line');
like($out, qr/^\nSnowdrift: [\d,]+ IDs received, 0 repeated, 0 out of order\.\n9 passed, 0 failed\n\z/m, 'the last lines state the result');
unlike($out, qr/^.{101}/m, 'no line is longer than 100 characters');

# The rows: IDs received, repeated, out of order, inserts refused
my %rows;
while ($out =~ /^(\S.*?) {2,}([\d,]+) +([\d,]+) +([\d,]+) +([\d,]+)$/mg)
{
	my ($name, @counts) = ($1, $2, $3, $4, $5);
	$rows{$name} = [ map { tr/,//dr } @counts ];
}
for my $ours ('next_snowflake()', 'next_ulid()', 'next_uuidv7()')
{
	my ($received, @counts) = @{ $rows{$ours} };
	cmp_ok($received, '>', 0, "$ours: IDs are received");
	is("@counts[0, 1]", '0 0', "$ours: none is repeated or out of order");
	cmp_ok($counts[2], '>', 0, "$ours: refuses while the clock is too far behind");
}
my ($sequence, $function, $library) = @rows{ 'nextval() of a sequence', "Instagram's PL/pgSQL function", 'a Snowflake library' };
cmp_ok($sequence->[1], '>', 0, 'a sequence repeats the numbers that the dump does not contain');
cmp_ok($function->[2], '>', 0, "Instagram's function issues IDs out of order when the clock is set back");
cmp_ok($library->[3], '>', 0, 'the library refuses until the application restarts');
cmp_ok($library->[1], '>', 0, 'and then repeats IDs');
is(defined $rows{'uuidv7() of PostgreSQL 18'}, qx($bindir/postgres --version) =~ /PostgreSQL\) (\d+)/ && $1 >= 18,
	"PostgreSQL's uuidv7() has a row where it exists");
SKIP:
{
	skip 'the extension is installed in place', 1 if !$has_peer;
	cmp_ok($rows{'uuid_generate_v7() of pg_uuidv7'}[2], '>', 0, 'an extension that is installed has a row');
}

# An interrupted run
my $run = IPC::Run::start(\@demo, '<', \undef, '>', \my $lines, '2>', \$error);
$run->pump until $lines =~ /writers insert/;
$run->signal('TERM');
$run->finish;
is($run->full_result(0) >> 8, 143, 'a run that is interrupted says so');
is(left_behind(), ' ', 'and also removes its servers and files');

done_testing();
