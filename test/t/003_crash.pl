# No ID is repeated after crashes of the server under load, with its clock set back each time, or after
# backends are killed while they generate IDs.
use strict;
use warnings FATAL => 'all';
use Test::More;
use Snowdrift;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Time::HiRes qw(usleep);

my $rounds = $ENV{SNOWDRIFT_LONG} ? 50 : 6;
my $draw = draw_all_kinds() . ";\n" . insert_all_kinds();

my $node = new_server('crash');
$node->append_conf('postgresql.conf', "fsync = on\nrestart_after_crash = on\n");
start_with_clock($node, '+0');
create_all_kinds($node);
create_tables($node);

# answers(): how many of the calls return an ID whose time is ahead of the clock, and raise the expected error
sub answers
{
	my %answers = (ahead => 0, refused => 0);
	for my $call (@Snowdrift::calls)
	{
		my $answer = error_of($node, 'SELECT ' . timestamp_of($call) . ' > clock_timestamp()');
		$answers{ahead}++ if $answer eq 'no error, but: t';
		$answers{refused}++
		  if $answer =~ /55000: clock moved backwards by \d+ ms; refusing to generate IDs/;
	}
	return \%answers;
}

# The server crashes under load. While it is down, its clock is set back: in every other round by less than
# snowdrift.max_clock_lead, in the others by up to 10 minutes. The clock is corrected under load.
my @files;
my ($at_once, $refused) = (0, 0);
my $load = start_load($node, 4, $draw);
wait_for_load($load, 2000);
for my $round (1 .. $rounds)
{
	my ($witness, $moment) = witness($node);
	$node->stop('immediate');
	push @files, $witness, end_load($load);

	my $within = $round % 2;
	start_with_clock($node, '-' . ($within ? 20 + int(rand(35)) : 100 + int(rand(500))));
	my $answers = answers();
	if ($within) { $at_once++ if $answers->{ahead} == @Snowdrift::calls }
	else { $refused++ if $answers->{refused} == @Snowdrift::calls }

	set_clock($node, $moment);
	$load = load_behind($node, 4, $draw, 3000);
}
is($at_once, int(($rounds + 1) / 2), 'after a crash, with a lead within the limit, generation continues at once');
is($refused, int($rounds / 2), '... and with a longer lead, raises an error');
push @files, end_load($load);
my ($repeated, $count) = duplicates(@files);
is($repeated, '', "$count IDs around $rounds crashes with the clock set back: no duplicate");

# A backend is killed while it generates IDs, and the server restarts itself.
set_clock($node, '+0');
@files = ();
my $killed = 0;
for my $round (1 .. $rounds)
{
	my $load = start_load($node, 4, $draw, "SET snowdrift.max_clock_lead = '1h';");
	wait_for_load($load, 500);
	my $pid = $node->safe_psql('postgres',
		"SELECT pid FROM pg_stat_activity WHERE query ~ '^(SELECT next|INSERT|BEGIN|COMMIT)'
		 ORDER BY state = 'active' DESC, random() LIMIT 1");
	my $log = -s $node->logfile;
	$killed += kill 'KILL', $pid;
	push @files, end_load($load);
	# Wait until the server has restarted. Otherwise the restart would also end the next load.
	my $tries = 0;
	until (slurp_file($node->logfile, $log) =~ /ready to accept connections/)
	{
		die 'the server did not restart' if ++$tries > 18_000;
		usleep(10_000);
	}
}
is($killed, $rounds, 'a backend was killed each time');
($repeated, $count) = duplicates(@files);
is($repeated, '', "$count IDs around $killed killed backends: no duplicate");

$node->stop;
done_testing();
