// The count of regressions of a Snowflake generator: how many times the clock was set back behind
// the last ID. Until the clock has caught up, setting it back further belongs to the same
// regression.
//
// One word of the state stores the count and, in the lowest bit, whether IDs may be ahead of the
// clock. A fresh state may start ahead of the clock, and a call that has waited because the
// sequence was used up may begin the next time unit. Neither is a regression.
#pragma once

#include "pg/slots/slots.hpp"
#include "pg/support/clock.hpp"
#include "pg/support/postgres.hpp"
#include "protocol/generators.hpp"

namespace snowdrift::regressions {

using slots::SnowflakeState;

inline constexpr uint64_t ahead_bit = 1;

/// The number of regressions.
inline int64_t count(const SnowflakeState& state) {
    return static_cast<int64_t>(state.regressions >> 1);
}

/// Whether IDs were ahead of the clock when that was last recorded.
inline bool is_ahead(const SnowflakeState& state) {
    return (state.regressions.load(std::memory_order_relaxed) & ahead_bit) != 0;
}

/// Records that IDs are ahead of the clock for a reason other than a regression.
inline void expect_lead(SnowflakeState& state) { state.regressions.fetch_or(ahead_bit); }

/// Makes all further IDs later than the Unix millisecond `unix_ms`, which may be ahead of the
/// clock.
inline void advance_past(SnowflakeState& state, const SnowflakeGenerator& generator,
                         int64_t unix_ms) {
    if (state.word < generator.state_after(unix_ms)) expect_lead(state);
    generator.advance_past(state.word, unix_ms);
}

/// Records a regression if the clock is behind `last_ms`, the Unix millisecond of an ID drawn
/// before this call; or that the clock has caught up with the state. Other sessions draw
/// concurrently, so the order of reads matters: the ID before the clock, and the clock before the
/// state.
[[gnu::cold, gnu::noinline]] inline void record(SnowflakeState& state,
                                                const SnowflakeGenerator& generator,
                                                int64_t last_ms) {
    uint64_t present = state.regressions;
    const int64_t now_ms = clock::now_ms();
    // If several sessions notice the same change, only the first one records it.
    if ((present & ahead_bit) == 0) {
        if (now_ms < last_ms)
            (void)state.regressions.compare_exchange_strong(present, (present + 2) | ahead_bit);
    } else if (now_ms >= generator.unix_ms_of(state.word)) {
        (void)state.regressions.compare_exchange_strong(present, present - ahead_bit);
    }
}

}  // namespace snowdrift::regressions
