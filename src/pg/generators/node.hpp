// The node of a generator that has none in its definition: the server's number, snowdrift.node.
#pragma once

#include <cstdint>

#include "snowdrift/snowflake.hpp"

namespace snowdrift {

/// The node of the layout's IDs, 0 .. layout.max_node(); 0 if the layout has no node bits. Raises
/// 22023 if snowdrift.node does not fit the layout.
uint32_t node_for(const SnowflakeLayout& layout);

/// The partition of snos.
uint16_t node_for_snos();

}  // namespace snowdrift
