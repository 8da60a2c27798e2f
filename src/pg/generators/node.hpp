// The node of generators without a node in their definition: the setting snowdrift.node.
#pragma once

#include <cstdint>

#include "snowdrift/snowflake.hpp"

namespace snowdrift {

/// Returns snowdrift.node, 0 .. layout.max_node(); 0 if the layout has no node bits. Raises 22023
/// if snowdrift.node exceeds layout.max_node().
uint32_t node_for(const SnowflakeLayout& layout);

/// Returns snowdrift.node as the partition of snos, 0 .. 65535.
uint16_t node_for_snos();

}  // namespace snowdrift
