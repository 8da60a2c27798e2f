#!/usr/bin/env bash
# Grafana's dashboard queries metrics that the kit exports, and all of them, from the data source that its user selects.
# Its thresholds are those of the alerts. No panel covers another.
set -euo pipefail
monitoring=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/monitoring
exec perl - "$monitoring" <<'PERL'
use strict;
use warnings FATAL => 'all';
use JSON::PP ();

my ($folder) = @ARGV;

sub text_of
{
	my ($name) = @_;
	open(my $file, '<', "$folder/$name") or die "$folder/$name: $!\n";
	return do { local $/; readline $file };
}

my $dashboard = JSON::PP->new->decode(text_of('grafana-dashboard.json'));
my @variables = @{ $dashboard->{templating}{list} };
my @panels = @{ $dashboard->{panels} };
my $failures = 0;

sub fail { warn "@_\n"; $failures++; return }

my %is_variable = map { ($_->{name} => 1) } @variables;
my (%id_used, %cell_used, %panels_of);    # the last one: metric => panels that query it
for my $panel (@panels)
{
	my $title = "panel \"$panel->{title}\"";
	fail("$title has the id of another panel") if $id_used{ $panel->{id} }++;
	fail("$title has no description") if !$panel->{description};
	my ($x, $y, $w, $h) = @{ $panel->{gridPos} }{qw(x y w h)};
	fail("$title is wider than the dashboard") if $x + $w > 24;
	my %covered;
	for my $cell (map { my $row = $_; map { "$_ $row" } $x .. $x + $w - 1 } $y .. $y + $h - 1)
	{
		$covered{ $cell_used{$cell} } = 1 if $cell_used{$cell};
		$cell_used{$cell} = $title;
	}
	fail("$title covers $_") for sort keys %covered;
	fail("$title has no query") if !@{ $panel->{targets} };
	for my $query (@{ $panel->{targets} })
	{
		push @{ $panels_of{$_} }, $panel for $query->{expr} =~ /\b(snowdrift_\w+)/g;
		fail("$title does not select instances: $query->{expr}") if $query->{expr} !~ /instance=~"\$instance"/;
	}
	fail("$title has another data source")
	  if grep { $_->{datasource}{uid} ne '${datasource}' } $panel, @{ $panel->{targets} };
}
my $text = join "\n", map { $_->{expr} } map { @{ $_->{targets} } } @panels;
$text .= "\n" . join "\n", map { $_->{query}{query} } grep { $_->{type} eq 'query' } @variables;
my %used = map { ($_ => 1) } 'datasource', $text =~ /\$(\w+)/g;
$is_variable{$_} or fail("there is no variable $_") for grep { !/^__/ } sort keys %used;

# The columns of a query are metrics, or labels of them.
my ($group, $column, %exported, %is_label);
for (split /\n/, text_of('postgres_exporter.yml'))
{
	if (/^(\w+):$/) { $group = $1 }
	elsif (/^    - (\w+):$/) { $column = $1 }
	elsif (/^        usage: LABEL$/) { $is_label{$column} = 1 }
	elsif (/^        usage:/) { $exported{"${group}_$column"} = 1 }
}
$exported{$_} or fail("$_ is not exported") for $text =~ /\b(snowdrift_\w+)/g;
$panels_of{$_} or fail("no panel shows $_") for sort keys %exported;
$is_label{$_} or /^(instance|alertname)$/ or fail("no metric has the label $_")
  for map { ($_->{legendFormat} // '') =~ /\{\{(\w+)/g } map { @{ $_->{targets} } } @panels;

# Limits in the unit of the metric
my $limits = 0;
my $rules = text_of('snowdrift.rules.yml');
while ($rules =~ /expr: .*?(snowdrift_\w+)[^>\n]* > (\d[\d.]*)(?: \* (\d+))?(?: unless .*)?$/mg)
{
	my ($metric, $limit) = ($1, $2 * ($3 // 1));
	next if !$limit;
	my @steps = map { $_->{value} // () } map { @{ $_->{fieldConfig}{defaults}{thresholds}{steps} // [] } }
	  @{ $panels_of{$metric} // [] };
	fail("an alert's limit of $metric is $limit, but the thresholds are @steps") if !grep { $_ == $limit } @steps;
	$limits++;
}
fail('no alert has a limit') if !$limits;
exit($failures > 0);
PERL
