# A client of the frontend/backend protocol, for TAP tests that control when messages are sent, and when the
# server's messages are read
package Wire;

use strict;
use warnings FATAL => 'all';
use IO::Select;
use IO::Socket::UNIX;
use PostgreSQL::Test::Utils;

# Wire->connect(NODE, PARAMETERS...): a connection to the database postgres, with more parameters of the startup
# message, such as options => '-c synchronous_commit=off'
sub connect    ## no critic (ProhibitBuiltinHomonyms)
{
	my ($class, $node, %parameters) = @_;
	my $path = $node->host . '/.s.PGSQL.' . $node->port;
	my $socket = IO::Socket::UNIX->new(Peer => $path) or die "$path: $!";
	my $self = bless { socket => $socket, input => '' }, $class;
	%parameters = (user => scalar getpwuid($<), database => 'postgres', %parameters);
	my $startup = pack('N (Z*)* x', 196608, %parameters);
	print {$socket} pack('N a*', 4 + length $startup, $startup);
	my ($ready) = grep { $_->{type} eq 'Z' } $self->receive_until('Z');
	die 'no connection' if !$ready;
	return $self;
}

# send(TYPE, BODY, ...): sends messages in one packet
sub send    ## no critic (ProhibitBuiltinHomonyms)
{
	my ($self, @messages) = @_;
	my $packet = '';
	while (my ($type, $body) = splice @messages, 0, 2)
	{
		$packet .= pack('a N a*', $type, 4 + length $body, $body);
	}
	$self->{socket}->syswrite($packet) == length $packet or die "the server does not read: $!";
	return $self;
}

sub send_query { my ($self, $sql) = @_; return $self->send('Q', pack('Z*', $sql)) }

# execution(SQL, LIMIT, VALUES...): the messages of the extended protocol that execute a statement through a
# portal, without Sync. LIMIT is the number of rows to return; 0 means all. VALUES are the parameters.
sub execution
{
	my ($sql, $limit, @values) = @_;
	my $parameters = join '', map { pack('N/a*', $_) } @values;
	return (
		P => pack('Z* Z* n', '', $sql, 0),
		B => pack('Z* Z* n n a* n', '', '', 0, scalar(@values), $parameters, 0),
		E => pack('Z* N', '', $limit // 0));
}

# receive(SECONDS): the next message, as a hash of its type and its readable text. Returns nothing at the end of
# the connection, or if no message arrives within this time. Without SECONDS, dies if none arrives for a long time.
sub receive
{
	my ($self, $seconds) = @_;
	for (; ;)
	{
		if (length $self->{input} >= 5)
		{
			my ($type, $length) = unpack('a N', $self->{input});
			if (length $self->{input} > $length)
			{
				my $body = substr(substr($self->{input}, 0, 1 + $length, ''), 5);
				return { type => $type, text => text_of($type, $body) };
			}
		}
		if (!IO::Select->new($self->{socket})->can_read($seconds // $PostgreSQL::Test::Utils::timeout_default))
		{
			return if defined $seconds;
			die 'no message from the server';
		}
		return if !$self->{socket}->sysread($self->{input}, 65536, length $self->{input});
	}
}

# receive_until(TYPE): the messages up to the first one of this type
sub receive_until
{
	my ($self, $type) = @_;
	my @messages;
	while (my $message = $self->receive)
	{
		push @messages, $message;
		last if $message->{type} eq $type;
	}
	return @messages;
}

# query(SQL): the messages that answer a query in the simple protocol
sub query { my ($self, $sql) = @_; return $self->send_query($sql)->receive_until('Z') }

# value(SQL): the only row of a query
sub value
{
	my ($self, $sql) = @_;
	my @messages = $self->query($sql);
	my ($error) = grep { $_->{type} eq 'E' } @messages;
	die "$sql: $error->{text}" if $error;
	my ($row) = grep { $_->{type} eq 'D' } @messages;
	return $row ? $row->{text} : undef;
}

# text_of(TYPE, BODY): the text of a row (also of COPY), a command tag, an error, a notice or a notification
sub text_of
{
	my ($type, $body) = @_;
	if ($type eq 'D')
	{
		my ($columns, @values) = unpack('n', $body);
		my $at = 2;
		for (1 .. $columns)
		{
			my $length = unpack('l>', substr $body, $at, 4);
			push @values, $length < 0 ? '' : substr $body, $at + 4, $length;
			$at += 4 + ($length < 0 ? 0 : $length);
		}
		return join '|', @values;
	}
	if ($type eq 'E' || $type eq 'N')
	{
		my %fields = map { substr($_, 0, 1) => substr($_, 1) } grep { length } split /\0/, $body;
		return join ' ', map { $fields{$_} // () } qw(S C M D);
	}
	return unpack('Z*', $body) if $type eq 'C';
	return $body if $type eq 'd';
	return unpack('x4 Z*', $body) . ' ' . (split /\0/, $body)[-1] if $type eq 'A';
	return '';
}

# close(): ends the session as clients do
sub close    ## no critic (ProhibitBuiltinHomonyms)
{
	my ($self) = @_;
	local $SIG{PIPE} = 'IGNORE';    # the server may have ended the connection
	$self->{socket}->syswrite(pack('a N', 'X', 4));
	$self->{socket}->close;
	return;
}

1;
