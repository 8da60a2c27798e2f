// The settings: snowdrift.node and snowdrift.max_clock_lead.
// node/node.hpp determines the node of a generator.
#pragma once

#include <cstdint>

#include "pg/support/postgres.hpp"

namespace snowdrift::settings {

/// The greatest number of a server.
inline constexpr uint32_t max_node_number = UINT16_MAX;

/// The setting snowdrift.node: the server's number, or where it comes from.
struct Node {
    enum class Source : uint8_t {
        automatic,  ///< the group id in a Citus cluster, 0 otherwise
        number,     ///< the number itself
        citus,      ///< the group id in a Citus cluster
        hostname,   ///< the number at the end of the host's name
    };

    Source source;
    uint32_t number;  ///< number: 0 .. 65535; citus, hostname: added to the number found
};
extern Node node;

/// Where the value of snowdrift.node comes from; before define(), that of its placeholder.
/// Precondition: there is one of them.
GucSource node_source();

/// The source of a value of snowdrift.node that was rejected when the library was loaded or the
/// session began; PGC_S_DEFAULT if there is none. While the setting has no value of this or a later
/// source, the server has no number: the configured one is unknown.
extern GucSource rejected_node_source;

/// Changes whenever the server's number may have changed: the setting, or the Citus cluster.
extern uint64_t node_version;

/// The maximum lead of the last ID over the wall clock, in milliseconds. Beyond it, generation is
/// refused.
extern int max_clock_lead;

/// Defines the settings. Called once, when the library is loaded.
void define();

}  // namespace snowdrift::settings
