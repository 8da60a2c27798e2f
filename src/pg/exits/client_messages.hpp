// Messages to the client. While exits are closed, messages that may contain data are held back.
#pragma once

namespace snowdrift::client_messages {

/// Installs the guard of the connection.
void install();

/// Whether this process sends its messages through the guard to a client.
bool are_guarded();

}  // namespace snowdrift::client_messages
