// The errors that a generator raises because of the server's clock, such as "clock moved
// backwards".
#pragma once

#include <cstdint>

#include "core/generator.hpp"

namespace snowdrift {

/// Raises 55000 for the verdict `refused` or `out_of_range`. `behind_ms`: for `refused`, by how
/// many milliseconds the clock is behind the last ID.
[[noreturn]] void report_clock_error(Verdict verdict, int64_t behind_ms);

}  // namespace snowdrift
