# The statements of README.md and docs/*.md, run in order, and their outputs.
#
# Each page has a database of its own. One session of psql runs all ```sql blocks of the page, in UTC, at noon of
# 2026-11-21. If there is a file test/pages/DATABASE.sql, it runs first. The database has the extension, unless the file
# installs the SQL edition. No statement may raise an error or a warning that the page does not show. A statement with $1
# is only prepared. These comments after a statement are its output, and must be equal to it:
# - lines that begin with "--  " or "-- --": what psql prints, with the names of the columns if the page shows them
# - lines such as "-- ERROR:  ", "-- NOTICE:  " and "-- HINT:  ": its messages
# - a single word behind the semicolon: its only value
# A block without a language that begins with ERROR, WARNING or LOG contains the messages of a statement.
#
# HTML comments directly above a block say how it is run:
# - not run: REASON
# - database: NAME         in another database, which is created if it does not exist
# - varies                 of IDs, times and other numbers in the output, only the form is compared. If a row has a column
#                          "id", its columns that are named after functions of IDs must contain their results
# - raised by: STATEMENTS  these raise the messages of the block
#
# The plans are those of PostgreSQL 15. On other versions, their statements are run, but the plans are not compared.
use strict;
use warnings FATAL => 'all';
use Test::More;
use Snowdrift;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

my $node = new_server('pages', allows_streaming => 'logical');
$node->append_conf('postgresql.conf', q{
autovacuum = off    # its times would vary
shared_buffers = 128MB
max_wal_size = 2GB
});
start_with_clock($node, sprintf('%+d', 1795262400 - time));    # 2026-11-21 12:00Z
my $has_shown_plans = $node->safe_psql('postgres', 'SHOW server_version_num') =~ /^15/;
my ($statements_run, $outputs_compared, @not_run) = (0, 0);

# blocks_of(FILE): the code blocks of a page, with their languages, contents, line numbers and HTML comments
sub blocks_of
{
	my ($file) = @_;
	my (@blocks, $block, %comments);
	my $line = 0;
	for (split(/^/, slurp_file($file)))
	{
		$line++;
		if ($block)
		{
			if (/^ *```$/) { push @blocks, $block; $block = undef; }
			else { $block->{text} .= s/^ {0,$block->{indent}}//r; }
		}
		elsif (/^( *)```(\w*)$/)
		{
			$block = { indent => length $1, language => $2, line => $line, text => '', %comments };
			%comments = ();
		}
		elsif (/^ *<!-- (not run|database|varies|raised by)(?:: (.+))? -->$/) { $comments{$1} = $2 // 1; }
		else { %comments = (); }
	}
	return @blocks;
}

# statements_of(TEXT): the statements of a block, each with the lines of its output
sub statements_of
{
	my ($text) = @_;
	my (@statements, $sql);
	for (split(/^/, $text))
	{
		if (!defined $sql && /^-- ([ -]|[A-Z]+:  )/)
		{
			push @{ $statements[-1]{output} }, substr($_, 3) =~ s/\s+$//r;
			next;
		}
		next if !defined $sql && /^(--.*)?$/;
		$sql .= $_;
		my ($code, $comment) = /^(.*?)(?:\s+-- (.*))?$/;
		next unless $code =~ /(;|\\gexec)$/ && (() = $sql =~ /\$\$/g) % 2 == 0;
		push @statements, { sql => $sql };
		$statements[-1]{value} = $comment if defined $comment && $comment =~ /^\S+$/;
		$sql = undef;
	}
	die "incomplete: $sql" if defined $sql;
	return @statements;
}

# mark(NAME): what psql reads to print a line before the next output, and before the next messages
sub mark { return "\\echo \@\@ $_[0]\n\\warn \@\@ $_[0]\n" }

# has_header(STATEMENT): whether the page shows the names of the columns
sub has_header
{
	return scalar grep { /^-[-+]+$/ } @{ $_[0]{output} // [] };
}

# script_of(STATEMENT, N): what psql reads for a statement. After a reload of the configuration, it waits until the session
# has the new settings.
sub script_of
{
	my ($statement, $n) = @_;
	my $sql = $statement->{sql};
	my $form = has_header($statement) ? 'format aligned \pset tuples_only off' : 'format unaligned \pset tuples_only on';
	$sql = "PREPARE statement_$n AS $sql" if $sql =~ /\$1/ && $sql !~ /^PREPARE/;
	$sql = "SELECT pg_conf_load_time() AS loaded \\gset\n$sql"
	  . q{SELECT format('SELECT pg_sleep(0.02) WHERE pg_conf_load_time() = %L', :'loaded') FROM generate_series(1, 1000) \gexec}
	  . "\n"
	  if $sql =~ /pg_reload_conf/;
	return "\\pset $form\n" . mark($n) . $sql;
}

# start_of(DATABASE, BLOCK): what psql reads before the first block in a database
sub start_of
{
	my ($database, $block) = @_;
	my $setup = -e "pages/$database.sql" ? slurp_file("pages/$database.sql") : '';
	my $script = qq{CREATE DATABASE "$database";\n\\connect "$database"\n};
	my $creates_it = $block->{text} =~ /^CREATE EXTENSION snowdrift/m || $setup =~ /^\\i sql-edition\b/m;
	$script .= "CREATE EXTENSION snowdrift;\n" unless $creates_it;
	return $script . $setup;
}

# run_page(PAGE, BLOCKS): runs the statements of the blocks, and adds to each statement what psql has printed, and its
# messages
sub run_page
{
	my ($page, @blocks) = @_;
	my ($script, $database, $n, %is_created) = ("\\pset footer off\n", '', 0);
	for my $block (@blocks)
	{
		my $next = $block->{database} // $page;
		$script .= mark('start');
		$script .= $is_created{$next}++ ? qq{\\connect "$next"\n} : start_of($next, $block) if $next ne $database;
		$database = $next;
		$script .= script_of($_, $n++) for @{ $block->{statements} };
	}
	local $ENV{PGTZ} = 'UTC';
	my ($printed, $messages);
	IPC::Run::run([ qw(psql -X -q -d), $node->connstr('postgres') ], '<', \$script, '>', \$printed, '2>', \$messages);

	# Distribute the output to the statements.
	my %printed = $printed =~ /^@@ (\w+)\n(.*?)(?=^@@ |\z)/gms;
	my %messages;
	while ($messages =~ /^@@ (\w+)\n(.*?)(?=^@@ |\z)/gms) { $messages{$1} .= $2; }
	is($messages{start} // '', '', "$page: the setup raises no error");
	$n = 0;
	for (map { @{ $_->{statements} } } @blocks)
	{
		($_->{printed}, $_->{messages}) = ($printed{$n} // '', $messages{$n} // "not run\n");
		$n++;
	}
	return;
}

# form_of(OUTPUT): the output with a placeholder for each time, ID and number
sub form_of
{
	return map {
		s/(?:\d{4}-\d\d-\d\d )?\b\d\d:\d\d:\d\d(?:\.\d+)?(?:\+00)?/TIME/gr
		  =~ s/\b(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-7][0-9A-HJKMNP-TV-Z]{25}|[2-9a-x]{16})\b/ID/gr
		  =~ s/\d+/0/gr =~ s/--+/--/gr =~ s/ +/ /gr
	} @_;
}

# check_functions(DATABASE, OUTPUT): checks that columns named after functions of IDs contain the results for the column
# "id"
sub check_functions
{
	my ($database, $header, undef, @rows) = @_;
	my $cells = sub { return map { s/^ +| +$//gr } split(/\|/, $_[0]) };
	my @names = $cells->($header);
	for (@rows)
	{
		my %row;
		@row{@names} = $cells->($_);
		for my $function (grep { /^(snowflake|ulid|uuidv7|sno)_/ && defined $row{id} } @names)
		{
			my $result = $node->safe_psql($database, "SET timezone = 'UTC'; SELECT $function('$row{id}')");
			is($row{$function}, $result, "$function of $row{id}");
		}
	}
	return;
}

# same(SHOWN, ACTUAL, VARIES, NAME): compares lines of a page with actual ones
sub same
{
	my ($shown, $actual, $varies, $name) = @_;
	my @forms = map { [ $varies ? form_of(@$_) : @$_ ] } $actual, $shown;
	is_deeply(@forms, $name) or diag("actual lines:\n", map { "$_\n" } @$actual);
	return;
}

# messages_of(STATEMENT): the lines of its messages, without the position in the statement
sub messages_of { return grep { /^[A-Z]+:  / && !/^CONTEXT/ } split(/\n/, $_[0]{messages}) }

# check_statement(STATEMENT, BLOCK, DATABASE, NAME): compares its output with that of the page
sub check_statement
{
	my ($statement, $block, $database, $name) = @_;
	my @shown = defined $statement->{value} ? $statement->{value} : @{ $statement->{output} // [] };
	my $shows_messages = grep { /^[A-Z]+:  / } @shown;
	my $fails = $statement->{messages} =~ /^(ERROR|FATAL|WARNING|not run)/m;
	is($statement->{messages}, '', "$name: no error") if $fails && !$shows_messages;
	$statements_run++;
	return if !@shown || ($statement->{sql} =~ /^EXPLAIN/ && !$has_shown_plans);

	$outputs_compared++;
	my $indent = defined $statement->{value} || has_header($statement) ? '' : ' ';
	my @actual = map { "$indent$_" =~ s/\s+$//r } split(/\n/, $statement->{printed} =~ s/\n+\z//r);
	unshift @actual, messages_of($statement) if $shows_messages;
	check_functions($database, @shown) if $block->{varies} && has_header($statement);
	same(\@shown, \@actual, $block->{varies}, "$name: the output");
	return;
}

# check_block(BLOCK, DATABASE, NAME): the same for all statements of a block
sub check_block
{
	my ($block, $database, $name) = @_;
	if (my $statements = $block->{'raised by'})
	{
		my @messages = map { messages_of($_) } @{ $block->{statements} };
		same([ split(/\n/, $block->{text}) ], \@messages, $block->{varies}, "$name: the messages of $statements");
		return;
	}
	for (@{ $block->{statements} })
	{
		my ($line) = $_->{sql} =~ /^(.*)/;
		check_statement($_, $block, $database, "$name, $line");
	}
	return;
}

# reset_server(): drops the databases of a page, and resets the server's settings
sub reset_server
{
	my $databases = $node->safe_psql('postgres', q{SELECT datname FROM pg_database WHERE datname !~ '^(postgres|template.)$'});
	$node->safe_psql('postgres', qq{DROP DATABASE "$_"}) for split(/\n/, $databases);
	$node->safe_psql('postgres', 'ALTER SYSTEM RESET ALL');
	$node->reload;
	$node->poll_query_until('postgres', q{SELECT bool_and(coalesce(current_setting(name, true), '') = '')
		FROM (VALUES ('snowdrift.node'), ('snowdrift.max_clock_lead')) AS settings(name)}) or die 'the settings are not reset';
	return;
}

for my $file ('README.md', sort glob('docs/*.md'))
{
	my ($page) = $file =~ /(\w[\w-]*)\.md$/;
	next if $page eq 'migrate';    # 027_migrate.pl runs it
	my @blocks;
	for my $block (blocks_of($file))
	{
		my $is_message = $block->{language} eq '' && $block->{text} =~ /^(ERROR|WARNING|LOG):/;
		next unless $block->{language} eq 'sql' || $is_message;
		if (my $reason = $block->{'not run'}) { push @not_run, "$file, line $block->{line}: $reason"; next; }
		my $statements = $is_message ? $block->{'raised by'} : $block->{text};
		if (!$statements) { fail("$file, line $block->{line}: a comment says what raises the messages"); next; }
		$block->{statements} = [ statements_of($is_message ? "$statements;" : $statements) ];
		push @blocks, $block;
	}
	next unless @blocks;
	subtest $file => sub {
		run_page($page, @blocks);
		check_block($_, $_->{database} // $page, "line $_->{line}") for @blocks;
		reset_server();
	};
}
note("$statements_run statements run, $outputs_compared outputs compared; not run:\n", map { "  $_\n" } @not_run);
$node->stop;

done_testing();
