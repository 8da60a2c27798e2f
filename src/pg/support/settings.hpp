// The settings snowdrift.node and snowdrift.max_clock_lead. generators/node.hpp derives a
// generator's node.
#pragma once

namespace snowdrift::settings {

/// The server's number, 0 .. 65535. It is part of Snowflake IDs and snos, so that servers with
/// different numbers issue different IDs.
extern int node;

/// The maximum lead of the last ID over the wall clock, in milliseconds, 0 .. INT_MAX. Beyond it,
/// calls wait up to max_wait_ms or raise 55000.
extern int max_clock_lead;

/// Defines the settings. Called once, when a process loads the library.
void define();

}  // namespace snowdrift::settings
