// The settings: snowdrift.node and snowdrift.max_clock_lead.
#pragma once

namespace snowdrift::settings {

/// The server's number, 0 .. 65535: what makes its IDs differ from those of other servers.
extern int node;

/// How far, in milliseconds, the last ID may lead the wall clock before generation is refused.
extern int max_clock_lead;

/// Defines the settings. Called once, when the library is loaded.
void define();

}  // namespace snowdrift::settings
