# Random queries on the tables of TimeTables.pm, for test/t/031_planner.pl. All correct plans of a query have the same
# result, without an error: no time is near the clock, and every LIMIT has a total order.
package TimeQueries;

use strict;
use warnings FATAL => 'all';
use Exporter 'import';
use TimeTables;

our @EXPORT = qw(constant_condition query_of settings_of);

# ---- expressions -----------------------------------------------------------------------------------------------

# A context has the rows that an expression can refer to, as pairs of an alias and a kind of ID. Options:
#   constant: only constant times, which are not null
#   safe: only times that the planner can use, whose constants are not null, and only the plain column of the ID
#   moments: the alias m is the table moments
#   params: the types of a statement's parameters, which expressions add to

sub context { return { rows => [@_] } }

sub parameter
{
	my ($c, $type) = @_;
	push @{ $c->{params} }, $type;
	return '$' . @{ $c->{params} };
}

# The context's constant of a kind: sql_time or sql_range
sub literal { my ($c, $sql, $kind) = @_; return $sql->($kind, $c->{constant} || $c->{safe} ? 0 : ()) }

# A time to compare with the ID of an alias
sub time_for
{
	my ($c, $alias, $kind) = @_;
	return literal($c, \&sql_time, $kind) if $c->{constant} || chance(0.3);
	my $n = 1 + int rand 20;
	my @ways = (
		sub { "stable_time($n)" }, sub { "immutable_time($n)" }, sub { "(SELECT t FROM moments WHERE n = $n)" }, \&local_time,
		sub { any('now()', 'statement_timestamp()', 'current_date', 'localtimestamp') . any('', " - interval '7000 days'") },
		sub { finite_time($kind) . any(' + ', ' - ') . any(map { "interval '$_'" } '1 us', '1 ms', '1 day') });
	push @ways, (sub { parameter($c, 'timestamptz') }) x 6 if $c->{params};
	push @ways, (sub { 'm.t' }) x 8 if $c->{moments};
	push @ways, map { my $other = $_->[0]; (sub { "$other.t" }) x 4 } grep { $_->[0] ne $alias } @{ $c->{rows} };
	push @ways, sub { "$alias.t" }, sub { "volatile_time($n)" }, sub { 'clock_timestamp()' },
	  sub { "coalesce($alias.t, " . sql_time($kind) . ')' }, sub { "(SELECT t FROM moments WHERE n = $alias.k % 20 + 1)" },
	  sub { "CASE WHEN $alias.g < 5 THEN " . sql_time($kind) . ' ELSE ' . sql_time($kind) . ' END' }
	  if !$c->{safe};
	return any(@ways)->();
}

sub range_for
{
	my ($c, $alias, $kind) = @_;
	return literal($c, \&sql_range, $kind) if $c->{constant} || chance(0.3);
	my $n = 1 + int rand 20;
	my @ways = (
		(sub { sprintf q{range_of(%s, %s, '%s')}, time_for($c, $alias, $kind), time_for($c, $alias, $kind), any('[)', '[]', '(]', '()') }) x 2,
		sub { "(SELECT span FROM moments WHERE n = $n)" });
	push @ways, (sub { parameter($c, 'tstzrange') }) x 3 if $c->{params};
	push @ways, (sub { 'm.span' }) x 3 if $c->{moments};
	push @ways, map { my $other = $_->[0]; (sub { "$other.span" }) x 2 } grep { $_->[0] ne $alias } @{ $c->{rows} };
	push @ways, sub { "$alias.span" } if !$c->{safe};
	return any(@ways)->();
}

# The forms of time predicates. ID, TIME and RANGE stand for expressions.
my %forms;
for my $kind (@kinds)
{
	my $within = within($kind, 'ID', 'RANGE');
	$forms{$kind} = [ $within, $within =~ s/ID, RANGE/range => RANGE, id => ID/r =~ s/, (?='epoch)/, layout => /r ];
	next if !compares_with_times($kind);
	push @{ $forms{$kind} }, map({ ("ID $_ TIME", "TIME $_ ID") } '<', '<=', '>', '>='),
	  map({ ("${kind}_$_(ID, TIME)", "snowdrift.${kind}_$_(TIME, ID)", "${kind}_$_(\"timestamp\" => TIME, id => ID)") } qw(before until after since));
}
sub all_forms { return map { my $kind = $_; map { [ $kind, $_ ] } @{ $forms{$kind} } } @kinds }

# Expressions that contain them, or that compare the same times
my @derived = ('ID BETWEEN TIME AND TIME', 'ID NOT BETWEEN SYMMETRIC TIME AND TIME', 'TIME BETWEEN ID AND ID',
	'ID < ANY (ARRAY[TIME, TIME])', 'ID >= ALL (ARRAY[TIME, TIME])', 'ID::timestamptz < TIME', 'ID::timestamptz >= TIME');

# A predicate of the ID of an alias, in parentheses
sub predicate
{
	my ($c, $alias, $kind, $form) = @_;
	$form //= compares_with_times($kind) && chance(0.15) ? any(@derived) : any(@{ $forms{$kind} });
	my $id = $alias eq '' ? 'id' : "$alias.id";
	$id = any("($alias.raw::" . type_of($kind) . ')', "coalesce($id, NULL)", "CASE WHEN $alias.k > -1 THEN $id END")
	  if !$c->{safe} && !$c->{constant} && chance(0.15);
	my %expression = (ID => sub { $id }, TIME => sub { time_for($c, $alias, $kind) }, RANGE => sub { range_for($c, $alias, $kind) });
	return '(' . ($form =~ s/\b(ID|TIME|RANGE)\b/$expression{$1}->()/gre) . ')';
}

# constant_condition(KIND): a condition on the column id with constant times, for indexes and constraints
sub constant_condition { my ($kind) = @_; return predicate({ constant => 1 }, '', $kind) }

sub condition
{
	my ($c, $depth) = @_;
	my ($alias, $kind) = @{ any(@{ $c->{rows} }) };
	return predicate($c, $alias, $kind) if $depth <= 0 || chance(0.35);
	my $some = sub { condition($c, $depth - 1) };
	my $plain = any("$alias.g < " . int(rand 10), "$alias.note = 'a'", "$alias.note IS NULL", "$alias.t IS NOT NULL", "$alias.k % 3 = 0");
	return any(
		(sub { '(' . $some->() . ' AND ' . $some->() . ')' }) x 3,
		(sub { '(' . $some->() . " AND $plain)" }) x 2,
		sub { '(NOT ' . $some->() . ')' },
		sub { '(' . $some->() . ' OR ' . $some->() . ')' },
		sub { "($plain OR " . $some->() . ')' },
		sub { '(' . $some->() . ' IS ' . any('', 'NOT ') . any('TRUE', 'FALSE', 'UNKNOWN') . ')' },
		sub { '(' . $some->() . ' IS ' . any('', 'NOT ') . 'DISTINCT FROM ' . $some->() . ')' },
		sub { '(' . $some->() . " = ($plain))" },
		sub { '(CASE WHEN ' . $some->() . ' THEN ' . $some->() . " ELSE $plain END)" },
		sub { '(coalesce(' . $some->() . ", $plain))" },
		sub { '(' . any('', 'NOT ') . exists_row($c, $alias, $kind) . ')' })->();
}

# Whether a table has a row that matches a row of this alias. Its own alias is new.
sub exists_row
{
	my ($c, $alias, $kind) = @_;
	my $inner = "${alias}e";
	my $matches = predicate({ %$c, rows => [ [ $inner, $kind ], @{ $c->{rows} } ] }, $inner, $kind);
	return 'EXISTS (SELECT FROM ' . table_of($kind) . " $inner WHERE $inner.g = $alias.g AND $matches)";
}

# ---- queries ---------------------------------------------------------------------------------------------------

sub table_of { my ($kind, @names) = @_; return $kind . '_' . any(@names ? @names : qw(rows rows parts parts log family)) }
sub rows { my ($kind, $alias) = @_; return table_of($kind) . " $alias WHERE " . condition(context([ $alias, $kind ]), 1) }

# Some of the tables that constraints and triggers are added to
sub plain_table { my ($kind) = @_; return table_of($kind, qw(rows parts log)) }
sub contents { my ($table) = @_; return "SELECT count(*), sum(hashtext(x::text)) FROM $table x" }
sub arguments { my ($kind, @types) = @_; return '(' . join(', ', map { $_ eq 'tstzrange' ? sql_range($kind) : sql_time($kind) } @types) . ')' }

# Each returns the statements whose results are compared, and optionally `setup`, the statements before them; `ordered`,
# if the order of rows is compared as well; and `by_plan`, if scans in another order have other results.
my %shapes = (
	'scan' => sub {
		my ($kind) = @_;
		my $query = 'SELECT x.k, x.id FROM ' . table_of($kind) . ' x WHERE ' . condition(context([ 'x', $kind ]), 2);
		return { results => [$query] } if chance(0.4);
		my $order = any('', ' DESC', ' DESC NULLS LAST');
		return { results => [ "$query ORDER BY x.id$order, x.k" . any('', ' LIMIT 3', ' LIMIT 5 OFFSET 2') ], ordered => 1 };
	},
	'inner or outer join' => sub {
		my ($kind, $other) = @_;
		my $c = context([ 'x', $kind ], [ 'y', $other ]);
		return { results => [ 'SELECT x.k, y.k FROM ' . table_of($kind) . ' x ' . any(qw(INNER LEFT RIGHT FULL)) . ' JOIN ' . table_of($other)
			  . ' y ON x.g = y.g AND ' . condition($c, 1) . ' WHERE ' . condition($c, 1) ] };
	},
	'join with times' => sub {
		my ($kind) = @_;
		my $c = { %{ context([ 'x', $kind ]) }, moments => 1 };
		my $from = 'FROM moments m ' . any('JOIN ', 'LEFT JOIN ') . table_of($kind) . ' x ON ' . predicate($c, 'x', $kind);
		$from .= ' AND ' . condition($c, 1) if chance(0.5);
		$from .= ' WHERE ' . condition($c, 1) if chance(0.3);
		return { results => [ any("SELECT m.n, x.k $from", "SELECT m.n, count(x.k) $from GROUP BY m.n") ] };
	},
	'joined column' => sub {
		my ($kind) = @_;
		return { results => [ 'SELECT id, x.k, y.k FROM ' . table_of($kind) . ' x FULL JOIN ' . table_of($kind) . ' y USING (id) WHERE '
			  . any('', 'NOT ') . predicate({ safe => 1, rows => [] }, '', $kind) ] };
	},
	'semijoin or antijoin' => sub {
		my ($kind, $other) = @_;
		my $outer = 'SELECT x.k FROM ' . table_of($kind) . ' x WHERE';
		my $inner = 'FROM ' . table_of($other) . ' y WHERE ' . condition(context([ 'y', $other ], [ 'x', $kind ]), 1);
		return { results => [ any("$outer EXISTS (SELECT $inner AND x.g = y.g)", "$outer NOT EXISTS (SELECT $inner AND x.g = y.g)",
			  "$outer x.k IN (SELECT y.k $inner)", "$outer x.k NOT IN (SELECT y.k $inner)", "$outer x.g = ANY (ARRAY(SELECT y.g $inner))") ] };
	},
	'lateral' => sub {
		my ($kind) = @_;
		my $c = { %{ context([ 'x', $kind ]) }, moments => 1 };
		my $inner = 'SELECT x.k FROM ' . table_of($kind) . ' x WHERE ' . predicate($c, 'x', $kind) . any('', ' AND x.g < 5') . ' ORDER BY x.id DESC, x.k LIMIT 2';
		return { results => [ "SELECT m.n, newest.k FROM moments m LEFT JOIN LATERAL ($inner) AS newest ON " . any('true', 'm.n > 5') ] };
	},
	'scalar subquery' => sub {
		my ($kind) = @_;
		my $c = { %{ context([ 'x', $kind ]) }, moments => 1 };
		return { results => [ 'SELECT m.n, (SELECT ' . any('count(*)', 'max(x.k)', 'array_agg(x.k ORDER BY x.k)') . ' FROM ' . table_of($kind)
			  . ' x WHERE ' . condition($c, 1) . ') FROM moments m' ] };
	},
	'subquery' => sub {
		my ($kind) = @_;
		my $n = any('1', 'count(*) OVER (PARTITION BY x.id)', 'row_number() OVER (ORDER BY x.id, x.k)');
		my $inner = "SELECT x.*, $n AS n FROM " . rows($kind, 'x') . any('', ' OFFSET 0', ' ORDER BY x.id, x.k LIMIT 30');
		return { results => [ "SELECT s.k, s.n FROM ($inner) AS s WHERE " . condition(context([ 's', $kind ]), 1) ] };
	},
	'aggregate' => sub {
		my ($kind) = @_;
		my $c = context([ 'x', $kind ]);
		my $p = predicate($c, 'x', $kind);
		return { results => [ 'SELECT ' . any('x.g', $p, "NOT $p") . ' AS key, count(*), count(*) FILTER (WHERE ' . condition($c, 1) . '), bool_or'
			  . condition($c, 0) . ', min(x.k) FROM ' . rows($kind, 'x') . ' GROUP BY key' ] };
	},
	'grouping sets' => sub {
		my ($kind) = @_;
		my $p = predicate({ constant => 1 }, 'x', $kind, any(@{ $forms{$kind} }));
		$p =~ s/'[^']*'::timestamptz/'stable_time(' . int(1 + rand 20) . ')'/e if chance(0.5);
		my $from = 'FROM ' . any((table_of($kind) . ' x') x 2, table_of($kind) . " x WHERE $p", rows($kind, 'x'));
		return { results => [ any("SELECT x.id, count(*) $from GROUP BY ROLLUP (x.id) HAVING $p",
			  "SELECT x.id, x.g, count(*) $from GROUP BY CUBE (x.id, x.g) HAVING NOT $p",
			  "SELECT $p, x.g, count(*) $from GROUP BY CUBE ($p, x.g)",
			  # PostgreSQL before 18 merges the two conditions that the SQL edition inlines with this one, and does not find them.
			  $is_sql_edition ? () : "SELECT x.g, $p AND x.g > 3, count(*) $from GROUP BY GROUPING SETS (($p, x.g), (x.g), ())") ] };
	},
	'first and last' => sub {
		my ($kind) = @_;
		$kind = any(grep { $_ ne 'uuid' } @kinds) if $kind eq 'uuid';    # It has min() only since PostgreSQL 18.
		return { results => [ 'SELECT min(x.id), max(x.id) FROM ' . rows($kind, 'x') ] };
	},
	'union' => sub {
		my ($kind) = @_;
		my @parts = map { 'SELECT x.* FROM ' . any(table_of($kind) . ' x', rows($kind, 'x')) } 1 .. 3;
		my $union = join any((' UNION ALL ') x 3, ' UNION ', ' EXCEPT ', ' INTERSECT '), @parts;
		return { results => [ "SELECT s.k FROM ($union) AS s WHERE " . condition(context([ 's', $kind ]), 1) ] };
	},
	'common table expression' => sub {
		my ($kind) = @_;
		my $rows = rows($kind, 'x');
		my $with = any("(SELECT * FROM $rows)", "MATERIALIZED (SELECT * FROM $rows)", "(DELETE FROM $rows RETURNING *)");
		return { results => [ "WITH s AS $with SELECT s.k FROM s WHERE " . condition(context([ 's', $kind ]), 1) ] };
	},
	'window' => sub {
		my ($kind) = @_;
		my ($p, $q) = map { predicate({ safe => 1, rows => [] }, 'x', $kind) } 1, 2;
		my $call = any('lag(x.id) OVER (ORDER BY x.k)', 'first_value(x.id) OVER (PARTITION BY x.g ORDER BY x.id, x.k)');
		$p =~ s/x\.id/$call/;
		return { results => [ "SELECT x.k, $p, count(*) OVER (PARTITION BY $q) FROM " . table_of($kind) . ' x' ] };
	},
	'set-returning function' => sub {
		my ($kind) = @_;
		my ($p, $q) = map { predicate({ constant => 1 }, 'x', $kind, any(@{ $forms{$kind} })) } 1, 2;
		$p =~ s/x\.id/unnest(ARRAY[x.id, NULL, x.id])/;
		$q =~ s/('[^']*')::(timestamptz|tstzrange)/unnest(ARRAY[$1::$2, NULL])/;
		return { results => [ "SELECT x.k, $p, $q FROM " . table_of($kind) . ' x' ] };
	},
	'prepared' => sub {
		my ($kind) = @_;
		my $c = { %{ context([ 'x', $kind ]) }, params => [] };
		my $query = 'SELECT x.k, x.id FROM ' . table_of($kind) . ' x WHERE ' . condition($c, 2) . any('', ' ORDER BY x.id, x.k LIMIT 5');
		return if !@{ $c->{params} };
		return {
			setup => [ 'SET LOCAL plan_cache_mode = ' . any(('force_generic_plan') x 2, 'force_custom_plan', 'auto'),
				'PREPARE query(' . join(', ', @{ $c->{params} }) . ") AS $query" ],
			results => [ map { 'EXECUTE query' . arguments($kind, @{ $c->{params} }) } 1 .. 7 ] };
	},
	'function' => sub {
		my ($kind) = @_;
		my $c = { %{ context([ 'x', $kind ]) }, params => [] };
		my $query = 'SELECT x.k FROM ' . table_of($kind) . ' x WHERE ' . condition($c, 2);
		my $body = any("sql AS \$f\$ $query \$f\$", "plpgsql AS \$f\$ BEGIN RETURN QUERY $query; END \$f\$");
		return {
			setup => [ 'CREATE FUNCTION pg_temp.rows_of(' . join(', ', @{ $c->{params} }) . ') RETURNS SETOF int ' . any('STABLE', 'VOLATILE') . " LANGUAGE $body" ],
			results => [ map { 'SELECT * FROM pg_temp.rows_of' . arguments($kind, @{ $c->{params} }) } 1 .. 3 ] };
	},
	'visible rows' => sub {
		my ($kind, $other) = @_;
		my $from = "${kind}_" . any('barrier', 'secret') . ' x';
		$from .= ' JOIN ' . table_of($other) . ' y ON ' . predicate(context([ 'x', $kind ], [ 'y', $other ]), 'x', $kind) if chance(0.3);
		return { setup => ['SET LOCAL ROLE reader'], results => [ "SELECT x.k, x.id FROM $from WHERE spy(x.hidden) AND " . condition(context([ 'x', $kind ]), 1) ] };
	},
	'change of visible rows' => sub {
		my ($kind) = @_;
		my $where = 'WHERE spy(x.hidden) AND ' . condition(context([ 'x', $kind ]), 1) . ' RETURNING x.k';
		return {
			setup => ['SET LOCAL ROLE reader'],
			results => [ any("UPDATE ${kind}_secret x SET note = 'c' $where", "DELETE FROM ${kind}_secret x $where"), contents("${kind}_secret") ] };
	},
	'update or delete' => sub {
		my ($kind, $other) = @_;
		my $table = table_of($kind);
		my $c = context([ 'x', $kind ]);
		my $where = 'WHERE ' . condition($c, 1) . ' RETURNING x.k, ' . predicate($c, 'x', $kind);
		my $matches = table_of($other) . ' y WHERE x.g = y.g AND ' . condition(context([ 'x', $kind ], [ 'y', $other ]), 1) . ' RETURNING x.k';
		return { results => [ any("UPDATE $table x SET note = 'c' $where", "DELETE FROM $table x $where", "UPDATE $table x SET note = 'c' FROM $matches",
			  "DELETE FROM $table x USING $matches"), contents($table) ] };
	},
	'merge' => sub {
		my ($kind) = @_;
		my $table = plain_table($kind);
		my $c = context([ 'x', $kind ], [ 'y', $kind ]);
		return { results => [ "MERGE INTO $table x USING ${kind}_rows y ON x.k = y.k AND " . predicate($c, 'x', $kind) . ' WHEN MATCHED AND ' . condition($c, 1)
			  . " THEN UPDATE SET note = 'm' WHEN MATCHED THEN DELETE WHEN NOT MATCHED AND " . predicate(context([ 'y', $kind ]), 'y', $kind)
			  . ' THEN INSERT (k, id) VALUES (y.k + 1000, y.id)', contents($table) ] };
	},
	'upsert' => sub {
		my ($kind) = @_;
		my $condition = constant_condition($kind);
		my $key = any("(k) WHERE $condition", "($condition, k)");
		my $excluded = predicate({ constant => 1 }, 'excluded', $kind);
		return {
			setup => ["CREATE UNIQUE INDEX ON ${kind}_log $key"],
			results => [ "INSERT INTO ${kind}_log SELECT * FROM " . rows($kind, 'y') . " ON CONFLICT $key DO UPDATE SET note = 'c' WHERE $excluded RETURNING k",
				contents("${kind}_log") ] };
	},
	'trigger' => sub {
		my ($kind) = @_;
		my $table = plain_table($kind);
		my $when = predicate({ constant => 1 }, any('NEW', 'OLD'), $kind);
		$when =~ s/'[^']*'::timestamptz/any('OLD.t', 'NEW.t')/e if chance(0.5);
		return {
			setup => ["CREATE TRIGGER noted AFTER UPDATE ON $table FOR EACH ROW WHEN ($when) EXECUTE FUNCTION fire()"],
			results => [ "UPDATE $table x SET t = " . sql_time($kind) . ' WHERE x.g < 7 RETURNING x.k', 'SELECT k FROM fired' ] };
	},
	'constraint' => sub {
		my ($kind) = @_;
		my $table = plain_table($kind);
		my $check = constant_condition($kind);
		$check =~ s/'[^']*'::(timestamptz|tstzrange)/$1 eq 'tstzrange' ? 'span' : 't'/e if chance(0.4);
		return { setup => ["ALTER TABLE $table ADD CHECK ($check) NOT VALID"], results => ["SELECT * FROM violations('$table')"] };
	},
	'generated column' => sub {
		my ($kind) = @_;
		return {
			setup => [ "ALTER TABLE ${kind}_log ADD p boolean GENERATED ALWAYS AS (" . constant_condition($kind) . ') STORED' ],
			results => [ "SELECT x.k, x.p FROM ${kind}_log x WHERE x.p IS " . any('TRUE', 'NOT TRUE', 'NULL') . ' OR ' . condition(context([ 'x', $kind ]), 1) ] };
	},
	'index' => sub {
		my ($kind) = @_;
		my $condition = constant_condition($kind);
		my $table = table_of($kind);
		return {
			setup => [ "CREATE INDEX ON $table " . any("(k) WHERE $condition", "(g, k) WHERE NOT $condition", "($condition)") ],
			results => [ "SELECT x.k FROM $table x WHERE " . any($condition, "NOT $condition", constant_condition($kind)) . any('', ' AND k > 10')
				  . any('', ' AND ' . condition(context([ 'x', $kind ]), 1)) ] };
	},
	'volatile' => sub {
		my ($kind) = @_;
		my $p = predicate({ constant => 1 }, 'x', $kind, any(@{ $forms{$kind} }));
		my $time = sprintf 'alternating_time(%d, %d)', map { 1 + int rand 20 } 1, 2;
		$p =~ s/'[^']*'::timestamptz/$time/;
		$p =~ s/'[^']*'::tstzrange/"range_of($time, " . finite_time($kind) . ", '[)')"/e;
		return {
			setup => [q{SELECT setval('calls', 1)}], by_plan => 1,
			results => [ 'SELECT x.k FROM ' . table_of($kind) . ' x WHERE ' . any('', 'NOT ') . $p, 'SELECT last_value FROM calls' ] };
	});
my @shapes = sort keys %shapes;

# query_of(SEED, NUMBER): the query, with its shape, and what the shape returns. Each of the first queries has one
# predicate that the planner can use: in each form, for an index; and of each kind of ID, for partition pruning. They have
# a `label`. Call tables_of_seed() first.
sub query_of
{
	my ($seed, $number) = @_;
	my @forms = all_forms();
	srand($seed * 100_000 + $number);
	if ($number <= @forms)
	{
		my ($kind, $form) = @{ $forms[ $number - 1 ] };
		my $p = predicate({ ($is_sql_edition ? 'constant' : 'safe') => 1, rows => [] }, 'x', $kind, $form);
		return { shape => 'form', label => "$kind: $form", results => ["SELECT x.k FROM ${kind}_rows x WHERE $p"] };
	}
	if ($number <= @forms + @kinds)
	{
		my $kind = $kinds[ $number - @forms - 1 ];
		my $range = '';
		$range = sql_range($kind, 0) until $range =~ /","/;    # with both ends
		return { shape => 'pruning', label => $kind, results => [ "SELECT x.k FROM ${kind}_parts x WHERE " . within($kind, 'x.id', $range) ] };
	}
	my $shape = $shapes[ $number % @shapes ];
	my $query;
	$query = $shapes{$shape}->(any(@kinds), any(@kinds)) until $query;
	return { %$query, shape => $shape };
}

# settings_of(SEED, NUMBER): the planner's settings for the query; none for those with a label
sub settings_of
{
	my ($seed, $number) = @_;
	return if $number <= all_forms() + @kinds;
	srand($seed * 100_000 + $number + 50_000);
	my %settings = (
		map({ ("enable_$_" => 'off') } qw(indexscan indexonlyscan hashjoin mergejoin nestloop material memoize sort hashagg partition_pruning)),
		map({ ("enable_partitionwise_$_" => 'on') } qw(join aggregate)),
		constraint_exclusion => 'on', join_collapse_limit => 1, from_collapse_limit => 1, timezone => q{'America/St_Johns'});
	my @settings = map { "SET LOCAL $_ = $settings{$_}" } grep { chance(0.12) } sort keys %settings;
	push @settings, 'SET LOCAL enable_bitmapscan = off' if chance(0.4);
	push @settings, map { "SET LOCAL $_ = 0" } qw(min_parallel_table_scan_size min_parallel_index_scan_size parallel_setup_cost parallel_tuple_cost)
	  if chance(0.1);
	return @settings;
}

1;
