// The settings: snowdrift.node and snowdrift.max_clock_lead. node.hpp has the node of a generator.
#pragma once

namespace snowdrift::settings {

/// The server's number, 0 .. 65535. It is part of every ID, so that servers with different numbers
/// issue different IDs.
extern int node;

/// The maximum lead of the last ID over the wall clock, in milliseconds. Generation is refused
/// beyond it.
extern int max_clock_lead;

/// Defines the settings. Called once, when the library is loaded.
void define();

}  // namespace snowdrift::settings
