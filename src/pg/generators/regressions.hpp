// Regressions, for those who operate a Snowflake generator: how often the clock was set back behind
// the last ID. From then on until it has caught up counts once.
//
// One word in the generator's slot: the count, and in its lowest bit whether IDs are ahead of the
// clock at present. A state that begins ahead of the clock, after the mark, is no regression.
#pragma once

#include "core/snowflake_generator.hpp"
#include "pg/memory/slots.hpp"
#include "pg/support/clock.hpp"
#include "pg/support/postgres.hpp"

namespace snowdrift::regressions {

inline constexpr uint64_t ahead_bit = 1;

inline std::atomic<uint64_t>& word_of(slots::Slot& slot) { return slot.words[1]; }

/// How often the clock was set back.
inline int64_t count(const slots::Slot& slot) { return static_cast<int64_t>(slot.words[1] >> 1); }

/// Whether IDs were ahead of the clock when somebody last took note.
inline bool is_ahead(slots::Slot& slot) {
    return (word_of(slot).load(std::memory_order_relaxed) & ahead_bit) != 0;
}

/// From now on, IDs are ahead of the clock for another reason than a regression.
inline void expect_lead(slots::Slot& slot) { word_of(slot).fetch_or(ahead_bit); }

/// Make all further IDs later than the millisecond `unix_ms`, which may be ahead of the clock.
inline void move_past(slots::Slot& slot, const SnowflakeGenerator& generator, int64_t unix_ms) {
    if (slot.words[0] < generator.after(unix_ms)) expect_lead(slot);
    generator.move_past(slot.words[0], unix_ms);
}

/// Take note of whether the clock is behind `last_ms`, which an ID carried before this call, or has
/// caught up with the state. What is compared is read in this order since other sessions go on
/// meanwhile: an ID before the clock, and the clock before the state.
[[gnu::cold, gnu::noinline]] inline void note(slots::Slot& slot,
                                              const SnowflakeGenerator& generator,
                                              int64_t last_ms) {
    uint64_t present = word_of(slot);
    const int64_t now_ms = clock::now_ms();
    // Whoever comes first counts.
    if ((present & ahead_bit) == 0) {
        if (now_ms < last_ms)
            (void)word_of(slot).compare_exchange_strong(present, (present + 2) | ahead_bit);
    } else if (now_ms >= generator.unix_ms_of(slot.words[0])) {
        (void)word_of(slot).compare_exchange_strong(present, present - ahead_bit);
    }
}

/// The same, where there is something to note: the ID is not of the present, or the last ones were
/// not.
inline void watch(slots::Slot& slot, const SnowflakeGenerator& generator, int64_t last_ms,
                  int64_t now_ms) {
    if (last_ms > now_ms || is_ahead(slot)) [[unlikely]]
        note(slot, generator, last_ms);
}

}  // namespace snowdrift::regressions
