// Statistics of overflow: the calls that wait because a time unit's sequence is used up.
//
// An episode begins when a call waits. It ends when no call has waited for one second.
#pragma once

#include "pg/memory/slots.hpp"
#include "pg/support/clock.hpp"
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

/// Counts a call that begins to wait. Returns whether an episode begins with it. Raises no error.
bool begin_wait(slots::Statistics& statistics);

/// Logs the beginning of an episode. May raise an error, because logging serves interrupts.
void log_episode(const Label& label);

/// Counts the end of the wait. A clean-up function of PG_ENSURE_ERROR_CLEANUP: `statistics` points
/// to the slots::Statistics.
void end_wait(int code, Datum statistics);

}  // namespace snowdrift::overflow
