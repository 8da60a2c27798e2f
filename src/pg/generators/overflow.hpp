// Overflow, for those who operate a generator: how many calls wait because a tick's sequence is
// used up, how often that happens and for how long.
//
// An episode begins when a call has to wait, and is over when none had to for a second.
#pragma once

#include "pg/memory/slots.hpp"
#include "pg/support/clock.hpp"
#include "pg/support/postgres.hpp"

namespace snowdrift::overflow {

inline constexpr int64_t calm_ms = 1000;

/// What the log says of a generator.
struct Name {
    const char* name;
    uint32_t capacity;  ///< IDs in a tick; 0 where random bits decide how many
    int tick_ms;
};

/// How long the present episode has lasted, in ticks of a millisecond; 0 if there is none.
int64_t ticks(const slots::Statistics& statistics, int64_t now_ms);

/// Counts a call that has to wait; true if an episode begins with it. Raises no error.
bool begin_wait(slots::Statistics& statistics);

/// Logs that an episode begins. May raise an error, as all that logs serves interrupts.
void log_episode(const Name& name);

/// Ends what begin_wait() began. Takes the Statistics as PostgreSQL's clean-up functions are
/// called.
void end_wait(int code, Datum statistics);

}  // namespace snowdrift::overflow
