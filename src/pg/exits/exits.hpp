// Exits: the ways by which data can leave the server before its transaction commits. While they are
// guarded, the mark need not be durable until an ID leaves the server. docs/guarantees.md, "Before
// the commit", lists the exits.
//
// client_messages.cpp guards the connection to the client. exits.cpp guards the other exits.
// statements.cpp recognizes statements whose exits are all guarded.
#pragma once

namespace snowdrift::exits {

/// Installs the guards. Called once, when the library is loaded.
void install();

/// Whether all exits that the current statement can reach are guarded. If not, data may leave the
/// server at any time.
bool are_guarded();

/// Calls `prepare` once, before data next leaves the server. `prepare` must not raise errors. It
/// may be called while an error is reported, with locks held. Precondition: are_guarded().
void guard(void (*prepare)());

/// Ends guard() without calling its `prepare`.
void unguard();

}  // namespace snowdrift::exits
