// The errors of a clock that stops generation: "clock moved backwards" and others.
#pragma once

#include <cstdint>

#include "core/generator.hpp"

namespace snowdrift {

/// Raises 55000 for a generator's answer. `behind_ms`: by how much the clock is behind the last ID,
/// if the verdict is `refused`.
[[noreturn]] void report_clock_error(Verdict verdict, int64_t behind_ms);

}  // namespace snowdrift
