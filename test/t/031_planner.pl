# A time predicate selects the same rows in all plans: those of its definition, evaluated row by row. Random queries run
# in two databases with the same rows: in one of them, the predicates are their definitions, without planner support.
# The predicates are first those of the extension, then those of the SQL edition.
# Each query runs with and without sequential scans. SNOWDRIFT_SEED=n runs the queries of seed n.
use strict;
use warnings FATAL => 'all';
use Test::More;
use Snowdrift;
use TimeTables;
use TimeQueries;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use IPC::Run ();

my $first_seed = $ENV{SNOWDRIFT_SEED} // 1;
my @seeds = $first_seed .. $first_seed + ($ENV{SNOWDRIFT_LONG} ? 67 : 0);
my $queries_per_seed = 150;

my $node = new_server('planner');
$node->append_conf('postgresql.conf', "timezone = 'UTC'\nstatement_timeout = '180s'\njit = off\nautovacuum = off\n");
$node->start;
$node->safe_psql('postgres', 'CREATE ROLE reader');

# statements_of(SEED, NUMBER, QUERY, SCANS): what psql runs, with or without sequential scans. Lines that begin with @@
# and the number precede the plan and each result; the last one has the SQLSTATE of the last statement.
sub statements_of
{
	my ($seed, $number, $query, $scans) = @_;
	my $mark = "\\echo @@ $number $scans";
	return join "\n", 'BEGIN;', map({ "$_;" } settings_of($seed, $number), "SET LOCAL enable_seqscan = $scans", @{ $query->{setup} // [] }),
	  "$mark plan", "EXPLAIN (COSTS OFF) $query->{results}[0];", map({ ("$mark result", "$_;") } @{ $query->{results} }),
	  "$mark :SQLSTATE", "ROLLBACK;\nDEALLOCATE ALL;\n";
}

# start_queries(DATABASE, FILE): starts psql, whose output goes to FILE.DATABASE
sub start_queries
{
	my ($database, $file) = @_;
	my @psql = ('psql', '-XAtq', '-P', 'null=NULL', '-v', 'VERBOSITY=terse', '-d', $node->connstr($database), '-f', $file);
	return IPC::Run::start(\@psql, '<', \undef, '>', "$file.$database", '2>', "$file.$database.errors");
}

# results_in(OUTPUT FILE): for each number, and for `on` and `off`, the plan, the results and the SQLSTATE
sub results_in
{
	my ($file) = @_;
	my $errors = slurp_file("$file.errors");
	diag(substr $errors, 0, 4000) if $errors;
	my %seen;
	for (split /^@@ /m, slurp_file($file))
	{
		my ($number, $scans, $part, $text) = /^(\d+) (on|off) (\w+)\n(.*)/s or next;
		my $seen = $seen{$number}{$scans} //= { plan => '', results => [], state => 'unknown' };
		if ($part eq 'result') { push @{ $seen->{results} }, $text }
		elsif ($part eq 'plan') { $seen->{plan} = $text }
		else { $seen->{state} = $part }
	}
	return \%seen;
}

# The results as one text. Rows are sorted unless the query determines their order.
sub rows_of
{
	my ($query, $seen) = @_;
	return join "--\n", map { $query->{ordered} ? $_ : join '', sort split /^/m } @{ $seen->{results} };
}

# The rows in a text that the other one lacks
sub difference
{
	my ($rows, $others) = @_;
	my %count;
	$count{$_}++ for split /\n/, $others;
	return join ' ', grep { --$count{$_} < 0 } split /\n/, $rows;
}

# Whether the planner support of a predicate is the reason for an index condition, or that fewer tables are read
sub has_index_condition
{
	my ($plan) = @_;
	return $plan =~ /Index Cond: .*(\b(first|last)_\w+\(|'::(ulid|sno|uuid|bigint))/;
}

sub has_pruning
{
	my ($plan, $reference) = @_;
	my ($tables, $all_tables) = map { scalar(() = /(Seq|Index|Index Only|Bitmap Heap) Scan .*\bon /g) } $plan, $reference;
	return $tables < $all_tables || $plan =~ /Subplans Removed/ && $reference !~ /Subplans Removed/;
}

my @ways = map { my $database = $_; map { [ $database, $_ ] } 'on', 'off' } 'supported', 'defined';
my ($failures, $with_rows, $index_conditions, $prunings) = (0) x 4;
my (%queries, %failed, %supported);

# check(SEED, NUMBER, QUERY, SEEN): compares what the databases have returned, for `on` and `off`
sub check
{
	my ($seed, $number, $query, %seen) = @_;
	my @runs = map { $seen{ $_->[0] }{ $_->[1] } // { plan => '', results => [], state => 'unknown' } } @ways;
	my @rows = map { rows_of($query, $_) } @runs;
	my $is_failed = grep { $_->{state} ne '00000' } @runs;
	$is_failed ||= $rows[0] ne $rows[2] || $rows[1] ne $rows[3] || $rows[0] ne $rows[1] && !$query->{by_plan};
	$queries{ $query->{shape} }++;
	$failed{ $query->{shape} } += $is_failed ? 1 : 0;
	if ($is_failed && ++$failures <= 10)
	{
		diag("seed $seed, query $number ($query->{shape}):\n", join ";\n", settings_of($seed, $number), @{ $query->{setup} // [] }, @{ $query->{results} });
		for (0 .. $#ways)
		{
			diag("$ways[$_][0], enable_seqscan = $ways[$_][1]: SQLSTATE $runs[$_]{state}\n$runs[$_]{plan}");
			diag('wrong rows: ', difference($rows[$_], $rows[2]), "\nmissing rows: ", difference($rows[2], $rows[$_])) if $rows[$_] ne $rows[2];
		}
	}
	my ($plan, $reference) = ($runs[1]{plan}, $runs[3]{plan});
	my $is_index_condition = has_index_condition($plan) && !has_index_condition($reference);
	my $is_pruning = has_pruning($plan, $reference);
	$index_conditions++ if $is_index_condition;
	$prunings++ if $is_pruning;
	$supported{ $query->{label} } += ($query->{shape} eq 'pruning' ? $is_pruning : $is_index_condition) ? 1 : 0 if $query->{label};
	$with_rows++ if $rows[0] =~ /\d/;
	return;
}

# compare_plans(SCRIPT): compares the edition that a script installs with the definitions, which call the extension.
sub compare_plans
{
	my ($script) = @_;
	for my $seed (@seeds)
	{
		my %script = (supported => $script, defined => 'CREATE EXTENSION snowdrift;');
		for my $database (sort keys %script)
		{
			$node->safe_psql('postgres', "CREATE DATABASE $database");
			$node->safe_psql($database, $script{$database} . tables_of_seed($seed, \&constant_condition));
		}
		$node->safe_psql('defined', definitions());

		my @queries = map { query_of($seed, $_) } 1 .. $queries_per_seed;
		my $file = $node->basedir . "/queries.$seed.sql";
		unlink $file;
		append_to_file($file, join '', map { my $n = $_; map { statements_of($seed, $n, $queries[ $n - 1 ], $_) } 'on', 'off' } 1 .. @queries);
		$_->finish for map { start_queries($_, $file) } 'supported', 'defined';
		my ($supported, $defined) = map { results_in("$file.$_") } 'supported', 'defined';
		check($seed, $_, $queries[ $_ - 1 ], supported => $supported->{$_}, defined => $defined->{$_}) for 1 .. @queries;
		$node->safe_psql('postgres', "DROP DATABASE $_") for 'supported', 'defined';
	}
	is($failed{$_}, 0, "$queries{$_} queries of the shape '$_'") for sort keys %queries;
	is_deeply([ grep { !$supported{$_} } sort keys %supported ], [], 'each form is an index condition, and each kind of ID prunes partitions');
	my $count = @seeds * $queries_per_seed;
	note("$count queries: $with_rows with rows, $index_conditions with index conditions, $prunings with pruning");
	cmp_ok($with_rows, '>', $count / 2, 'most queries return rows');
	return $count;
}

subtest 'the extension' => sub {
	my $count = compare_plans('CREATE EXTENSION snowdrift;');
	cmp_ok($index_conditions, '>', $count / 3, 'many plans have index conditions by planner support');
	cmp_ok($prunings, '>', $count / 30, '... or read fewer tables');
};

subtest 'the SQL edition' => sub {
	use_sql_edition();
	($failures, $with_rows, $index_conditions, $prunings) = (0) x 4;
	(%queries, %failed, %supported) = ();
	my $count = compare_plans(sql_edition());
	cmp_ok($index_conditions, '>', $count / 10, 'many plans have index conditions by inlining');
	cmp_ok($prunings, '>', $count / 60, '... or read fewer tables');
};
done_testing();
