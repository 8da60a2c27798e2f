# When the data directory is read-only and the mark must be advanced, calls raise an error. The server keeps
# running, and generates IDs when the directory is writable again.
use strict;
use warnings FATAL => 'all';
use Test::More;
use Snowdrift;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use File::Find qw(finddepth);

my $node = new_server('read_only');
# Only the calls may write while the data directory is read-only.
$node->append_conf('postgresql.conf', "autovacuum = off\n");
start_with_clock($node, '2026-06-01 12:00:00');
create_all_kinds($node);
# The calls run in an existing session, because a new one would have to open files of the catalogs.
$node->safe_psql('postgres', <<'SQL');
CREATE FUNCTION attempt(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE id text;
BEGIN
	EXECUTE 'SELECT ' || call INTO STRICT id;
	RETURN 'ID ' || id;
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ': ' || SQLERRM;
END $$
SQL
my $session = $node->background_psql('postgres');
sub attempt
{
	my ($call) = @_;
	return $session->query_safe("SELECT attempt(\$call\$$call\$call\$)");
}
my @calls = @Snowdrift::calls;
my $second = 0;
sub tick { return set_clock($node, sprintf('2026-06-01 12:00:%02d', $second += 5)) }
for my $call (@calls)
{
	tick();
	like(attempt($call), qr/^ID /, "$call: an ID");
}
my $detail = 'SELECT detail FROM snowdrift.clock';
is($session->query_safe($detail), '', 'snowdrift.clock shows no error');    # and the session has the view in its caches
$node->safe_psql('postgres', 'CHECKPOINT');

# permit(ADD, REMOVE): changes the permissions of the files in the data directory
sub permit
{
	my ($add, $remove) = @_;
	finddepth(
		sub {
			my $mode = (lstat)[2] & 07777;
			chmod(($mode | $add) & ~$remove, $_) or die "$_: $!";
		},
		$node->data_dir);
	return;
}

permit(0, 0200);
like(attempt($_), qr/^ID /, "$_: read-only, IDs up to the mark") for @calls;
tick();
is(attempt($_), '42501: could not advance the ID mark: Permission denied', "$_: later IDs, an error")
  for @calls;
is($session->query_safe($detail), 'could not advance the ID mark: Permission denied', 'snowdrift.clock shows the error');
permit(0200, 0);
is($session->query_safe($detail), '', '... until the directory is writable again');
like(attempt($_), qr/^ID /, "$_: writable again, an ID") for @calls;
$session->quit;
$node->stop;

done_testing();
