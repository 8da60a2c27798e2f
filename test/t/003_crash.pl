# No ID comes twice: crashes of the server under load, its clock set back each time, and backends
# killed in mid-generation.
use strict;
use warnings FATAL => 'all';
use Test::More;
use Snowdrift;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Time::HiRes qw(usleep);

my $rounds = $ENV{SNOWDRIFT_LONG} ? 50 : 6;
my $draw = draw_all_kinds();

my $node = new_server('crash');
$node->append_conf('postgresql.conf', "fsync = on\nrestart_after_crash = on\n");
start_with_clock($node, '+0');
$node->safe_psql('postgres', 'CREATE EXTENSION snowdrift');

# The server crashes under load; its clock is set back while it is down, half of the time by less
# than the lead allowed, half of the time by up to 10 minutes.
my @files;
my ($at_once, $refused) = (0, 0);
for my $round (1 .. $rounds)
{
	my $load = start_load($node, 4, $draw, "SET snowdrift.max_clock_lead = '1h';");
	wait_for_load($load, 200);
	set_clock($node, '+0');
	wait_for_load($load, 2000);
	$node->stop('immediate');
	push @files, end_load($load);

	my $within = $round % 2;
	start_with_clock($node, '-' . ($within ? int(rand(55)) : 100 + int(rand(500))));
	my $answer = error_of($node, 'SELECT next_snowflake()');
	$at_once++ if $within && $answer =~ /^no error/;
	$refused++
	  if !$within && $answer =~ /55000: clock moved backwards by \d+ ms; refusing to generate/;
}
is($at_once, int(($rounds + 1) / 2), 'after a crash, within the lead, generation goes on at once');
is($refused, int($rounds / 2), '... and beyond it is refused, with the reason');
my $load = start_load($node, 4, $draw, "SET snowdrift.max_clock_lead = '1h';");
wait_for_load($load, 2000);
push @files, end_load($load);
my ($repeated, $count) = duplicates(@files);
is($repeated, '', "$count IDs around $rounds crashes with the clock set back: no duplicate");

# A backend dies in mid-generation, and the server restarts by itself.
set_clock($node, '+0');
@files = ();
my $killed = 0;
for my $round (1 .. $rounds)
{
	my $load = start_load($node, 4, $draw, "SET snowdrift.max_clock_lead = '1h';");
	wait_for_load($load, 500);
	my $pid = $node->safe_psql('postgres',
		"SELECT pid FROM pg_stat_activity WHERE query LIKE '%next_snowflake()%'
		 AND pid <> pg_backend_pid() ORDER BY random() LIMIT 1");
	my $log = -s $node->logfile;
	$killed += kill 'KILL', $pid;
	push @files, end_load($load);
	# Not before the server has noticed, or the next load would be ended with this one.
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
