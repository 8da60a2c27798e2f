// Overflow of a generator: calls wait because a time unit's sequence is used up.
//
// An episode begins with the first call that waits. It ends when no call has waited for one second.
// A call that waits longer records its wait repeatedly.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>

namespace snowdrift::overflow {

/// The time without a wait, in milliseconds, after which an episode ends.
inline constexpr int64_t max_gap_ms = 1000;

/// The overflow of a generator, in shared memory. Times are in Unix milliseconds. A new state is
/// all zero.
struct State {
    std::atomic<uint32_t> episodes;  ///< number of episodes
    std::atomic<int64_t> began_ms;   ///< start of the last episode
    std::atomic<int64_t> last_ms;    ///< when a sequence was last used up
};

/// Records that a call waits at `now_ms`. Returns whether an episode begins.
inline bool record(State& state, int64_t now_ms) noexcept {
    if (state.last_ms.load() == now_ms) return false;
    const int64_t last_ms = state.last_ms.exchange(now_ms);
    // Other sessions may have read the clock earlier and recorded it later, or vice versa.
    if (std::abs(now_ms - last_ms) <= max_gap_ms) return false;
    state.began_ms = now_ms;
    state.episodes.fetch_add(1);
    return true;
}

/// The duration of the current episode in milliseconds, at least 1; 0 if there is none.
inline int64_t duration_ms(const State& state, int64_t now_ms) noexcept {
    // A time before the last wait means that the clock was set back since.
    if (std::abs(now_ms - state.last_ms.load()) > max_gap_ms) return 0;
    return std::max<int64_t>(now_ms - state.began_ms.load(), 1);
}

}  // namespace snowdrift::overflow
