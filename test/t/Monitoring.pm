# Prometheus and the exporters of monitoring/ for TAP tests: programs that end with the test, and the alerts they show
package Monitoring;

use strict;
use warnings FATAL => 'all';
use Exporter 'import';
use HTTP::Tiny;
use JSON::PP;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

our @EXPORT = qw(has_monitoring start_postgres_exporter start_sql_exporter start_prometheus query poll_query alerts
  is_firing fires ends names_of_metrics queries_of_pgwatch statements_of_role);

my $kit = $ENV{SNOWDRIFT_MONITORING} // '';
my $http = HTTP::Tiny->new(timeout => 10, proxy => undef, http_proxy => undef);
my @programs;      # their process ids
my @exporters;     # [job, address]
my $prometheus;    # its address

sub has_monitoring { return -x "$kit/bin/prometheus" }

# start(NAME, ENVIRONMENT, COMMAND...): starts a program, which also ends if this test is killed
sub start
{
	my ($name, $environment, @command) = @_;
	my $log = "$PostgreSQL::Test::Utils::log_path/$name.log";
	my $pid = fork() // die "fork: $!";
	if ($pid == 0)
	{
		$ENV{$_} = $environment->{$_} for keys %$environment;
		open STDIN, '<', '/dev/null';
		open STDOUT, '>', $log;
		open STDERR, '>&', \*STDOUT;
		exec('setpriv', '--pdeathsig', 'KILL', @command) or POSIX::_exit(127);
	}
	push @programs, $pid;
	return;
}

END
{
	my $status = $?;
	kill 'KILL', @programs;
	waitpid $_, 0 for @programs;
	$? = $status;
}

sub free_address { return '127.0.0.1:' . PostgreSQL::Test::Cluster::get_free_port() }

# start_postgres_exporter(NODE): an exporter of all databases of the server that have the extension
sub start_postgres_exporter
{
	my ($node) = @_;
	my $databases = $node->safe_psql('postgres',
		q{SELECT string_agg(datname, ',') FROM pg_database WHERE datallowconn AND datname NOT LIKE 'template_'});
	my $address = free_address();
	start(
		'postgres_exporter_' . $node->name,
		{ DATA_SOURCE_NAME => sprintf('host=%s port=%s user=monitor dbname=postgres', $node->host, $node->port) },
		"$kit/bin/prometheus-postgres-exporter",
		"--web.listen-address=$address",
		"--extend.query-path=$kit/postgres_exporter.yml",
		'--auto-discover-databases',
		"--include-databases=$databases",
		'--disable-default-metrics',
		'--disable-settings-metrics');
	push @exporters, [ 'postgres_exporter_' . $node->name => $address ];
	return;
}

# start_sql_exporter(NODE, DATABASE): an exporter of one database, which runs the queries each second
sub start_sql_exporter
{
	my ($node, $database) = @_;
	my $address = free_address();
	my $file = PostgreSQL::Test::Utils::tempdir() . '/sql_exporter.yml';
	append_to_file($file, slurp_file("$kit/sql_exporter.yml") =~ s/interval: 15s/interval: 1s/r);
	start(
		'sql_exporter',
		{ SNOWDRIFT_DATABASE => sprintf('postgres://monitor@/%s?host=%s&port=%s', $database, $node->host, $node->port) },
		"$kit/bin/prometheus-sql-exporter",
		"-web.listen-address=$address",
		"-config.file=$file");
	push @exporters, [ sql_exporter => $address ];
	return;
}

# start_prometheus(): Prometheus with the rules, in which minutes become seconds: in "for", in ranges such as [10m], and in
# limits such as 5 * 60. Each alert therefore takes seconds instead of minutes, and its condition is the same otherwise.
sub start_prometheus
{
	my $folder = PostgreSQL::Test::Utils::tempdir();
	my $rules = slurp_file("$kit/snowdrift.rules.yml");
	$rules =~ s/^( *(?:for|expr): .*)/minutes_as_seconds($1)/gem;
	append_to_file("$folder/rules.yml", $rules);
	my $jobs = join '', map { scrape_job(@$_) } @exporters;
	append_to_file("$folder/prometheus.yml",
		"global: {scrape_interval: 500ms, scrape_timeout: 500ms, evaluation_interval: 500ms}\n"
		  . "rule_files: [rules.yml]\nscrape_configs:\n$jobs");
	$prometheus = free_address();
	start(
		'prometheus', {},
		"$kit/bin/prometheus", "--config.file=$folder/prometheus.yml",
		"--storage.tsdb.path=$folder/data", "--web.listen-address=$prometheus");
	return;
}

sub minutes_as_seconds { return $_[0] =~ s/\b(\d+)m\b/$1s/gr =~ s/\* 60\b/* 1/gr }

sub scrape_job
{
	my ($job, $address) = @_;
	my $relabel = '';
	($relabel) = slurp_file("$kit/README.md") =~ /^( *metric_relabel_configs:\n.*?)^```/ms if $job eq 'sql_exporter';
	$relabel =~ s/^(?=.)/  /gm;
	return "  - job_name: $job\n    static_configs: [{targets: ['$address']}]\n$relabel";
}

# get(PATH): the data that Prometheus' API returns; nothing if it does not answer yet
my $has_answered;

sub get
{
	my ($path) = @_;
	my $response = $http->get("http://$prometheus/api/v1/$path");
	die "Prometheus: $response->{status} $response->{content}" if $has_answered && !$response->{success};
	$has_answered ||= $response->{success};
	return $response->{success} ? decode_json($response->{content})->{data} : undef;
}

# query(EXPRESSION): the present series, each with the keys metric and value
sub query
{
	my ($expression) = @_;
	my $data = get('query?' . $http->www_form_urlencode({ query => $expression })) // return;
	return @{ $data->{result} };
}

# alerts(): all alerts, which are pending or firing
sub alerts { return @{ (get('alerts') // {})->{alerts} // [] } }

# poll(CONDITION): whether the condition becomes true within a minute
sub poll
{
	my ($condition) = @_;
	for (1 .. 600)
	{
		return 1 if $condition->();
		usleep(100_000);
	}
	return 0;
}

sub poll_query
{
	my ($expression) = @_;
	return poll(sub { scalar query($expression) });
}

# is_firing(ALERT, LABELS...): the alert with these labels that fires, if there is one
sub is_firing
{
	my ($name, %labels) = @_;
	my @firing = grep { $_->{state} eq 'firing' && $_->{labels}{alertname} eq $name } alerts();
	for my $label (keys %labels)
	{
		@firing = grep { ($_->{labels}{$label} // '') eq $labels{$label} } @firing;
	}
	return $firing[0];
}

# fires(CAUSE, ALERT, LABELS...), ends(...): tests that the alert fires, with complete annotations, or ends after that
my %has_fired;

sub fires
{
	my ($cause, $name, %labels) = @_;
	my $alert;
	ok(poll(sub { $alert = is_firing($name, %labels) }), "$cause: $name fires") or return diag(explain([ alerts() ]));
	$has_fired{$name} = 1;
	my $text = join ' ', values %{ $alert->{annotations} };
	unlike($text, qr/<no value>|error expanding|""| \(\)|  /, "... and says: $alert->{annotations}{description}");
	return;
}

sub ends
{
	my ($name, %labels) = @_;
	ok($has_fired{$name} && poll(sub { !is_firing($name, %labels) }), "$name ends") or diag(explain([ alerts() ]));
	return;
}

# names_of_metrics(): the names of all metrics of the queries
sub names_of_metrics
{
	my @names;
	for my $file (glob "$kit/queries/*.sql")
	{
		my ($group) = $file =~ m{([^/]+)\.sql$};
		push @names, map { "${group}_$_" } slurp_file($file) =~ /^-- (?:gauge|counter) (\w+):/gm;
	}
	return @names;
}

# statements_of_role(): the statements in the README that create the exporters' role
sub statements_of_role { return slurp_file("$kit/README.md") =~ /^```sql\n(.*?)^```/ms }

# queries_of_pgwatch(): the queries in its configuration
sub queries_of_pgwatch { return slurp_file("$kit/pgwatch.yml") =~ /^      15: \|\n((?:        .*\n)+)/gm }

1;
