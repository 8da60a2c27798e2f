#!/usr/bin/env perl
# Checks that the relative links and images of all Markdown files lead to files of the checkout, and their anchors to
# headings, with the anchors that GitHub gives them. Does not check other sites' addresses. ./dev lint runs it. An
# optional argument names another checkout.
use v5.20;
use warnings;
use open qw(:std :encoding(UTF-8));
use File::Basename qw(dirname);

my $checkout = $ARGV[0] // dirname(__FILE__) . '/..';
chdir $checkout or die "$checkout: $!\n";

# The files, except those that git ignores, and their folders. The key of the checkout is ''.
my %exists;
for my $path (grep { -e } split /\0/, qx(git ls-files -z --cached --others --exclude-standard))
{
	do { $exists{$path} = 1 } while $path =~ s{(^|/)[^/]+$}{};
}
my @pages = sort grep { /\.md$/ } keys %exists;
@pages or die "$checkout has no Markdown files\n";

# A code span does not extend beyond its paragraph.
my $code = qr/(?<!`)(?<ticks>`+)(?!`)(?:(?!\n\s*\n).)+?(?<!`)\g{ticks}(?!`)/s;
my $fenced = qr/^(?:[-*+>\s]|\d+[.)])*(?<fence>```+|~~~+)[^\n`]*\n.*?(?:^[>\s]*\g{fence}[`~]*[ \t]*$|\z)/ms;

# blank(TEXT): as many lines, all empty
sub blank { return $_[0] =~ s/[^\n]//gr }

# text_of(PAGE): the text without code blocks and HTML comments
sub text_of
{
	open(my $file, '<', $_[0]) or die "$_[0]: $!\n";
	my $text = join('', <$file>);
	return $text =~ s/$fenced|<!--.*?-->|(?<span>$code)/$+{span} \/\/ blank($&)/gesr;
}

# anchor_of(HEADING): the anchor of its words; those in code spans can contain what elsewhere is formatting
sub anchor_of
{
	my ($heading) = @_;
	$heading =~ s/(?<span>$code)|<[^>]*>/$+{span} \/\/ ''/ge;
	$heading =~ s/(?<span>$code)|!?\[([^\]]*)\]\([^)]*\)/$+{span} \/\/ $3/ge;
	$heading =~ s/(?<span>$code)|(?<!\w)(_+)(.+?)\g{3}(?!\w)/$+{span} \/\/ $4/ge;
	return lc($heading) =~ s/[^\w\- ]//gr =~ tr/ /-/r;
}

# anchors_of(TEXT): a hash with the anchors as keys. Equal headings are numbered.
sub anchors_of
{
	my %next = map { $_ => 1 } $_[0] =~ s/$code//gr =~ /<[^>]*\s(?:id|name)="([^"]+)"/g;
	while ($_[0] =~ /^ {0,3}#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$/gm)
	{
		my $anchor = my $first = anchor_of($1);
		$anchor = $first . '-' . $next{$first}++ while exists $next{$anchor};
		$next{$anchor} = 1;
	}
	return \%next;
}

my %text = map { $_ => text_of($_) } @pages;
my %anchors = map { $_ => anchors_of($text{$_}) } @pages;

# error_of(PAGE, LINK): what is wrong with the link; undef if nothing is
sub error_of
{
	my ($page, $link) = @_;
	return 'a link has no valid address' if $link eq '';
	return if $link =~ m{^([a-z][a-z0-9+.-]*:|//)}i;
	utf8::decode(my $decoded = $link =~ s/%([0-9a-f]{2})/chr hex $1/gier);
	my ($path, $anchor) = split /#/, $decoded, 2;

	my @target = split m{/}, $path =~ m{^/} ? '' : $path eq '' ? $page : $page =~ s{[^/]*$}{}r;
	for my $name (grep { !/^\.?$/ } split m{/}, $path)
	{
		if ($name ne '..') { push @target, $name }
		elsif (!defined pop @target) { return "$link leads outside the checkout" }
	}
	my $target = join('/', @target);
	return "$link: $target does not exist" unless $exists{$target};
	return "$link: $target has no such anchor" if defined $anchor && !$anchors{$target}{$anchor};
	return;
}

my $address = qr/(?:<(?<link>[^>\n]*)>|(?<link>[^\s()<]*(?:\([^\s()]*\)[^\s()]*)*))(?:\s+(?:"[^"]*"|'[^']*'))?/;
my $failed = 0;
for my $page (@pages)
{
	my $text = $text{$page} =~ s/$code/blank($&)/ger;
	while ($text =~ /(?<inline>(?<!\\)\]\()|(?<definition>^ {0,3}\[[^\]]+\]:)|<[^>]*\s(?:href|src)="(?<link>[^"]*)"/gm)
	{
		my $line = 1 + substr($text, 0, $-[0]) =~ tr/\n//;
		my $link = $+{link};
		if ($+{inline}) { $link = $text =~ /\G\s*$address\s*\)/gc ? $+{link} : '' }
		elsif ($+{definition}) { $link = $text =~ /\G\s*$address[ \t]*$/gcm ? $+{link} : '' }
		my $error = error_of($page, $link) // next;
		warn "$page:$line: $error\n";
		$failed = 1;
	}
}
exit $failed;
