# Random tables with IDs, for test/t/031_planner.pl. Rows and queries use the same few milliseconds, so that they meet.
package TimeTables;

use strict;
use warnings FATAL => 'all';
use Exporter 'import';
use PostgreSQL::Test::Utils;
use Time::Local qw(timegm);

our @EXPORT = qw(any chance @kinds $is_sql_edition type_of compares_with_times use_sql_edition sql_edition tables_of_seed definitions
  sql_time sql_range finite_time local_time within);

sub any { return $_[ int rand @_ ] }
sub chance { my ($p) = @_; return rand() < $p }

# Times are integers, in microseconds since 1970.
my @months = map { timegm(0, 0, 0, 1, $_, 2025) * 1_000_000 } 0 .. 6;
my @moments;    # other times of the seed

# A kind of ID: its type; the epoch and the last time, in milliseconds; the time unit; IDs of a time, of which the first
# is the smallest and the second the largest; and values without a time. Its functions begin with `prefix`.
my $layout = 'epoch=2025-01-01T00:00:00Z unit=3ms timestamp=36 worker=3 sequence=4';
my $largest_of_layout = 2**43 - 1;
my %kind = (
	ulid => {
		prefix => 'ulid', type => 'ulid', epoch => 0, unit => 1, last => 2**48 - 1,
		ids => [ map { "make_ulid(%s, '\\x$_')" } '00' x 10, 'ff' x 10, '80' x 10 ],
		others => [],
	},
	sno => {
		prefix => 'sno', type => 'sno', epoch => 1_262_304_000_000, unit => 4, last => 1_262_304_000_000 + 4 * (2**39 - 1),
		ids => [ map { "make_sno(%s, $_)" } '0, 0, 0, 0', '255, 65535, 65535, 1', '7, 8, 9, 1', '7, 8, 9, 0' ],
		others => [],
	},
	snowflake => {
		prefix => 'snowflake', type => 'bigint', epoch => 1_609_459_200_000, unit => 1, last => 1_609_459_200_000 + 2**41 - 1,
		ids => [ map { "make_snowflake(%s, $_)" } '0, 0, 0', '31, 31, 4095', '1, 2, 3' ],
		others => [ '-1', "'-9223372036854775808'" ],
	},
	layout => {
		prefix => 'snowflake', argument => ", '$layout'",
		type => 'bigint', epoch => 1_735_689_600_000, unit => 3, last => 1_735_689_600_000 + 3 * (2**36 - 1),
		ids => [ map { "make_snowflake(%s, $_, '$layout')" } '0, 0, 0', '0, 7, 15', '0, 2, 3' ],
		others => [ '-1', $largest_of_layout + 1, "'9223372036854775807'" ],
	},
	uuid => {
		prefix => 'uuidv7', type => 'uuid', epoch => 0, unit => 1, last => 2**48 - 1,
		ids => [ map { "make_uuidv7(%s, '\\x$_')" } '00' x 10, '03' . 'ff' x 9, '02' . '80' x 9 ],
		# nil and max; and other versions and variants, next to UUIDs of version 7 and among them
		others => [ map { "'$_'" } ('00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff') x 7,
			map { my $ms = sprintf('%012x', $_ / 1000) =~ s/(?=.{4}$)/-/r; map { "$ms-$_" }
				  '4000-8000-000000000000', '8fff-bfff-ffffffffffff', '7000-c000-000000000000', '7fff-7fff-ffffffffffff' } @months ],
	});
our @kinds = sort keys %kind;

sub type_of { my ($kind) = @_; return $kind{$kind}{type} }
sub compares_with_times { my ($kind) = @_; return $kind eq 'ulid' || $kind eq 'sno' }

# use_sql_edition(): from now on, tables and queries are those of the SQL edition, which has no types for IDs.
our $is_sql_edition;
sub use_sql_edition { $is_sql_edition = 1; @kinds = grep { !compares_with_times($_) } @kinds; return }

# sql_edition(): statements that install it, and what tables need and it lacks
sub sql_edition
{
	return 'BEGIN;' . slurp_file('sql-edition/snowdrift.sql') . <<~'SQL';
		COMMIT;
		RESET search_path;
		CREATE FUNCTION make_uuidv7(t timestamptz, randomness bytea) RETURNS uuid LANGUAGE sql
		BEGIN ATOMIC
			SELECT snowdrift.uuid_of(snowdrift.unix_ms_of(t)::bigint::bit(48) || B'0111' || substring(bits FROM 7 FOR 12) || B'10' || substring(bits FROM 19))
			FROM (SELECT ('x' || encode(randomness, 'hex'))::bit(80)) AS r(bits);
		END;
		SQL
}

# within(KIND, ID, RANGE): the predicate
sub within
{
	my ($kind, $id, $range) = @_;
	return "$kind{$kind}{prefix}_within($id, $range" . ($kind{$kind}{argument} // '') . ')';
}

sub boundary
{
	my ($kind, $time) = @_;
	return "($kind{$kind}{prefix}_boundary('" . text_of($time) . "'" . ($kind{$kind}{argument} // '') . '))';
}

# ---- times -----------------------------------------------------------------------------------------------------

sub text_of
{
	my ($time) = @_;
	my $fraction = $time % 1_000_000;
	my ($s, $min, $h, $day, $month, $year) = gmtime(($time - $fraction) / 1_000_000);
	return sprintf('%04d-%02d-%02d %02d:%02d:%02d.%06d+00', $year + 1900, $month + 1, $day, $h, $min, $s, $fraction);
}

# A whole millisecond that rows can have, or a few from it. All are far from the clock.
sub near_time
{
	my ($kind) = @_;
	my @limits = map { 1000 * $kind{$kind}{$_} } 'epoch', 'last';
	return any((@months) x 3, @moments, @limits) + 1000 * any(-1000, -4 .. 4, (-1 .. 1) x 4, 3_600_000);
}

# The time of a row: a multiple of the unit that the format can hold
sub time_of_row
{
	my ($kind) = @_;
	my ($epoch, $unit, $last) = @{ $kind{$kind} }{qw(epoch unit last)};
	my $ms = near_time($kind) / 1000;
	$ms = $epoch if $ms < $epoch;
	$ms = $last if $ms > $last;
	return 1000 * ($ms - ($ms - $epoch) % $unit);
}

# Constants for queries

sub finite_time { my ($kind) = @_; return "'" . text_of(near_time($kind) + any(0, 0, 0, 1, -1, 500, 999)) . "'::timestamptz" }
sub local_time { return any('timestamp', 'date') . " '" . substr(text_of(any(@months)), 0, 19) . "'" }

sub sql_time
{
	my ($kind, $is_null) = (@_, chance(0.04));
	return 'NULL::timestamptz' if $is_null;
	return finite_time($kind) if chance(0.9);
	return "'" . any('infinity', '-infinity', '4714-11-24 00:00+00 BC', '294276-12-31 00:00+00', '1960-01-01 00:00+00', '19999-01-01 00:00+00') . "'::timestamptz";
}

sub sql_range
{
	my ($kind, $is_null) = (@_, chance(0.04));
	return 'NULL::tstzrange' if $is_null;
	return "'" . any('empty', '(infinity,)', '[infinity,)', '(,-infinity)', '(,-infinity]') . "'::tstzrange" if chance(0.08);
	my $from = near_time($kind) + any(0, 0, 1, -1, 999);
	my $to = $from + any(0, 1, 999, 1000, 4000, 1_000_000, 86_400_000_000, 70 * 86_400_000_000);
	my ($lower, $upper) = map { '"' . text_of($_) . '"' } $from, $to;
	$lower = any('', '-infinity') if chance(0.15);
	$upper = any('', 'infinity') if chance(0.15);
	return "'" . any('[', '(') . "$lower,$upper" . any(']', ')') . "'::tstzrange";
}

# ---- tables ----------------------------------------------------------------------------------------------------

# Each kind has these tables: _rows with btree indexes, _log with a BRIN index, _parts with partitions, and _family with
# children. _secret has row-level security, and the view _barrier shows the same of its rows. The column `hidden` is
# true in its other rows.

# tables_of_seed(SEED, CONDITION): the statements that create its tables. CONDITION returns a condition on an ID of a
# kind.
sub tables_of_seed
{
	my ($seed, $condition) = @_;
	srand($seed * 100_000);
	@moments = map { $months[0] + 1000 * int rand(180 * 86_400_000) } 1 .. 3;
	my @sql = (
		'CREATE TABLE moments (n int PRIMARY KEY, t timestamptz, span tstzrange)',
		map({ my $kind = any(@kinds); "INSERT INTO moments VALUES ($_, " . sql_time($kind) . ', ' . sql_range($kind) . ')' } 1 .. 20),
		functions(), map({ (table_of_rows($_), log_of($_), partitions_of($_), family_of($_, $condition->($_)), secret_of($_)) } @kinds));
	return join(";\n", @sql, 'GRANT SELECT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO reader', 'ANALYZE');
}

sub functions
{
	my @times = map { "CREATE FUNCTION ${_}_time(int) RETURNS timestamptz $_ PARALLEL SAFE LANGUAGE plpgsql AS
		'BEGIN RETURN (SELECT t FROM moments WHERE n = \$1); END'" } qw(immutable stable volatile);
	return @times,
	  'CREATE SEQUENCE calls',
	  q{CREATE FUNCTION alternating_time(int, int) RETURNS timestamptz LANGUAGE plpgsql AS
		'DECLARE i int = CASE nextval(''calls'') % 2 WHEN 0 THEN $1 ELSE $2 END; BEGIN RETURN (SELECT t FROM moments WHERE n = i); END'},
	  q{CREATE FUNCTION range_of(timestamptz, timestamptz, text) RETURNS tstzrange IMMUTABLE PARALLEL SAFE LANGUAGE sql AS
		'SELECT tstzrange(least($1, $2), greatest($1, $2), $3)'},
	  # cheap, so that the planner prefers to call it first
	  q{CREATE FUNCTION spy(hidden boolean) RETURNS boolean COST 0.0001 PARALLEL SAFE LANGUAGE plpgsql AS
		'BEGIN IF hidden THEN RAISE EXCEPTION ''a hidden row is visible''; END IF; RETURN true; END'},
	  'CREATE TABLE fired (k int)',
	  q{CREATE FUNCTION fire() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO fired VALUES (NEW.k); RETURN NEW; END'},
	  # the rows of a table that violate its constraints
	  q{CREATE FUNCTION violations(name regclass) RETURNS SETOF int LANGUAGE plpgsql AS $$
		DECLARE
			k int;
		BEGIN
			FOR k IN EXECUTE format('SELECT k FROM %s', name) LOOP
				BEGIN
					EXECUTE format('UPDATE %s SET note = note WHERE k = $1', name) USING k;
				EXCEPTION WHEN check_violation THEN
					RETURN NEXT k;
				END;
			END LOOP;
		END $$};
}

my %times_of_rows;    # for each kind, a row's time by its number; undefined for values without one

sub table_of_rows
{
	my ($kind) = @_;
	my $type = type_of($kind);
	my @others = @{ $kind{$kind}{others} };
	my @rows;
	$times_of_rows{$kind} = [];
	for my $k (0 .. 89)
	{
		my $time = $k % 10 ? time_of_row($kind) : undef;
		my $id = defined $time ? sprintf(any(@{ $kind{$kind}{ids} }), "'" . text_of($time) . "'") : @others && chance(0.8) ? any(@others) : 'NULL';
		push @{ $times_of_rows{$kind} }, $time;
		push @rows, "($k, $id, " . sql_time($kind) . ', ' . sql_range($kind) . ', ' . int(rand 10) . ', ' . any("'a'", "'b'", 'NULL') . ')';
	}
	return "CREATE TABLE ${kind}_rows (k int PRIMARY KEY, id $type, t timestamptz, span tstzrange, g int, note text, raw text, hidden boolean)",
	  map({ "INSERT INTO ${kind}_rows (k, id, t, span, g, note) VALUES $_" } @rows), "UPDATE ${kind}_rows SET raw = id::text",
	  map({ "CREATE INDEX ON ${kind}_rows $_" } '(id)', "((raw::$type))", '(g, id)');
}

sub log_of
{
	my ($kind) = @_;
	return "CREATE TABLE ${kind}_log (LIKE ${kind}_rows) WITH (fillfactor = 10)", "INSERT INTO ${kind}_log SELECT * FROM ${kind}_rows ORDER BY id, k",
	  "CREATE INDEX ON ${kind}_log USING brin (id) WITH (pages_per_range = 1)";
}

sub partitions_of
{
	my ($kind) = @_;
	my @bounds = ('(MINVALUE)', map({ boundary($kind, $_) } @months[ 1 .. 4 ]), chance(0.5) ? '(MAXVALUE)' : ());
	my $middle = boundary($kind, $months[2] + 1000);
	my $name = "${kind}_parts";
	return "CREATE TABLE $name (LIKE ${kind}_rows) PARTITION BY RANGE (id)", "CREATE TABLE ${name}_others PARTITION OF $name DEFAULT",
	  map({ "CREATE TABLE ${name}_$_ PARTITION OF $name FOR VALUES FROM $bounds[$_] TO $bounds[$_ + 1]" . ($_ == 2 ? ' PARTITION BY RANGE (id)' : '') }
		  0 .. $#bounds - 1),
	  "CREATE TABLE ${name}_2a PARTITION OF ${name}_2 FOR VALUES FROM $bounds[2] TO $middle",
	  "CREATE TABLE ${name}_2b PARTITION OF ${name}_2 FOR VALUES FROM $middle TO $bounds[3]",
	  "INSERT INTO $name SELECT * FROM ${kind}_rows", "CREATE INDEX ON $name (id)";
}

sub family_of
{
	my ($kind, $check) = @_;
	my %rows = (family => 'k % 5 = 0', child => "k % 5 > 0 AND $check", sibling => "k % 5 > 0 AND NOT $check");
	return "CREATE TABLE ${kind}_family (LIKE ${kind}_rows)", "CREATE TABLE ${kind}_child (CHECK ($check)) INHERITS (${kind}_family)",
	  "CREATE TABLE ${kind}_sibling (CHECK (NOT $check)) INHERITS (${kind}_family)",
	  map({ ("INSERT INTO ${kind}_$_ SELECT * FROM ${kind}_rows WHERE $rows{$_}", "CREATE INDEX ON ${kind}_$_ (id)") } sort keys %rows);
}

sub secret_of
{
	my ($kind) = @_;
	my ($from, $to) = sort { $a <=> $b } map { near_time($kind) + any(0, 1, -1) } 1, 2;
	my ($since, $before) = map { "timestamptz '" . text_of($_) . "'" } $from, $to;
	my @conditions = within($kind, 'id', "tstzrange($since, $before)");
	push @conditions, "id >= $since AND id < $before", "$since <= id AND snowdrift.${kind}_before($before, id)" if compares_with_times($kind);
	my $condition = any(@conditions);
	my $times = $times_of_rows{$kind};
	my @visible = grep { defined $times->[$_] && $from <= $times->[$_] && $times->[$_] < $to } 0 .. $#$times;
	return "CREATE TABLE ${kind}_secret (LIKE ${kind}_rows)", "INSERT INTO ${kind}_secret SELECT * FROM ${kind}_rows",
	  "UPDATE ${kind}_secret SET hidden = k <> ALL ('{" . join(',', @visible) . "}')", "CREATE INDEX ON ${kind}_secret (id)",
	  "ALTER TABLE ${kind}_secret ENABLE ROW LEVEL SECURITY", "CREATE POLICY visible ON ${kind}_secret USING ($condition)",
	  "CREATE VIEW ${kind}_barrier WITH (security_barrier) AS SELECT * FROM ${kind}_secret WHERE $condition";
}

# definitions(): statements that replace the predicates by their definitions in docs/time-queries.md, without planner
# support. Everything else stays: operators, volatility, strictness, and whether they are leakproof.
sub definitions
{
	return <<~'SQL' =~ s/LARGEST/$largest_of_layout/r;
		DO $do$
		DECLARE
			f record; kind text; comparison text; definition text;
		BEGIN
			FOR f IN SELECT oid, proname, proleakproof, pronargs, 1 + (proargtypes[0] = 'timestamptz'::regtype)::int AS id
				FROM pg_proc WHERE prosupport::oid <> 0 AND prosrc LIKE 'snowdrift\_%'
			LOOP
				SELECT m[1], m[2] INTO kind, comparison FROM regexp_matches(f.proname, '^([^_]+)_([^_]+)') AS m;
				definition = CASE
					WHEN kind = 'uuidv7' THEN 'coalesce(public.uuidv7_timestamp($1) <@ $2, false)'
					WHEN kind <> 'snowflake' THEN format('public.%s_timestamp($%s) %s $%s', kind, f.id,
						'{"before": "<", "until": "<=", "after": ">", "since": ">=", "within": "<@"}'::json->>comparison, 3 - f.id)
					WHEN f.pronargs = 2 THEN 'CASE WHEN $1 >= 0 THEN public.snowflake_timestamp($1) <@ $2 ELSE false END'
					ELSE 'CASE WHEN $1 BETWEEN 0 AND LARGEST THEN public.snowflake_timestamp($1, $3) <@ $2 ELSE false END' END;
				EXECUTE format('CREATE OR REPLACE FUNCTION %s(%s) RETURNS boolean IMMUTABLE STRICT %s PARALLEL SAFE LANGUAGE plpgsql AS %L',
					f.oid::regproc, pg_get_function_arguments(f.oid), CASE WHEN f.proleakproof THEN 'LEAKPROOF' END,
					format('BEGIN RETURN %s; END', definition));
			END LOOP;
		END $do$
		SQL
}

1;
