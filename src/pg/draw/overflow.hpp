// Statistics of overflow: the calls that wait because a time unit's sequence is used up.
//
// An episode begins when a call waits. It ends when no call has waited for one second. A call that
// waits longer records its wait repeatedly.
#pragma once

#include "pg/slots/slots.hpp"
#include "pg/support/postgres.hpp"

namespace snowdrift::overflow {

/// The time without a wait, in milliseconds, after which an episode ends.
inline constexpr int64_t max_gap_ms = 1000;

/// The description of a generator in the log.
struct Label {
    const char* name;
    uint32_t capacity;  ///< IDs per time unit; 0 if it depends on random bits
    int time_unit_ms;   ///< in milliseconds
};

/// The duration of the current episode in milliseconds, at least 1; 0 if there is none.
int64_t duration_ms(const slots::Statistics& statistics, int64_t now_ms);

/// Records that a call, which `statistics` count as waiting, waits. Logs the beginning of an
/// episode, which may raise an error, because logging serves interrupts.
void record(slots::Statistics& statistics, const Label& label);

}  // namespace snowdrift::overflow
