// The steps of the generators, which the client library also uses: include/snowdrift/core defines
// them. The extension uses them without the namespace, and holds their states in shared memory.
#pragma once

#include "protocol/lease.hpp"
#include "snowdrift/core/block_generator.hpp"
#include "snowdrift/core/generator.hpp"
#include "snowdrift/core/sno_generator.hpp"
#include "snowdrift/core/snowflake_generator.hpp"

namespace snowdrift {

using namespace core;

// A time unit that begins early moves the mark no further ahead than other IDs do.
static_assert(SnowflakeGenerator::max_early_ms + min_lease_ms <= lease_ms);

}  // namespace snowdrift
