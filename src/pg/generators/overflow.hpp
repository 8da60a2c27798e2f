// Statistics of overflow: the calls that wait because a time unit's sequence is used up.
//
// An episode begins when a call has to wait. It ends when no call had to wait for a second.
#pragma once

#include "pg/memory/slots.hpp"
#include "pg/support/clock.hpp"
#include "pg/support/postgres.hpp"

namespace snowdrift::overflow {

/// The time without a wait that ends an episode.
inline constexpr int64_t max_gap_ms = 1000;

/// The description of a generator in the log.
struct Label {
    const char* name;
    uint32_t capacity;  ///< IDs per time unit; 0 if it depends on random bits
    int time_unit_ms;
};

/// The duration of the present episode in milliseconds; 0 if there is none.
int64_t duration_ms(const slots::Statistics& statistics, int64_t now_ms);

/// Counts a call that has to wait. True if an episode begins with it. Raises no error.
bool begin_wait(slots::Statistics& statistics);

/// Logs the beginning of an episode. May raise an error, because logging serves interrupts.
void log_episode(const Label& label);

/// Ends what begin_wait() began. Takes the Statistics as PostgreSQL's clean-up functions require.
void end_wait(int code, Datum statistics);

}  // namespace snowdrift::overflow
