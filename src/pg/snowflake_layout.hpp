// Snowflake layouts, for all that have one in SQL.
#pragma once

#include "snowdrift/snowflake.hpp"

namespace snowdrift {

/// The layout where none is named.
inline constexpr SnowflakeLayout default_layout = layouts::snowflake;

}  // namespace snowdrift
