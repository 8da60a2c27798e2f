// What all generators share: their answers, and the rule for a clock that is behind. A generator
// reads no clock and never sleeps: the caller passes the time, and the answer says what to wait
// for.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace snowdrift {

/// A generator's answer to one request.
enum class Verdict : uint8_t {
    issued,        ///< the answer has an ID
    stale,         ///< the time is older than the state: ask again at once, with a new reading
    exhausted,     ///< the sequence is used up: ask again in the next time unit
    clock_behind,  ///< the clock is behind by slightly too much: ask again when it has caught up
    refused,       ///< the clock is behind by far too much
    out_of_range,  ///< the wall clock is outside the format's range
};

template <typename Id>
struct Answer {
    Verdict verdict;
    Id id;       ///< issued: the ID
    int64_t ms;  ///< issued: the ID's Unix millisecond; exhausted, clock_behind: the Unix
                 ///< millisecond to wait for; refused: by how many milliseconds the clock is behind
                 ///< the last ID
};

/// Atomically replaces a word by the maximum of itself and `value`. Returns the previous word, as
/// C++26's fetch_max does.
inline uint64_t fetch_max(std::atomic<uint64_t>& word, uint64_t value) noexcept {
    uint64_t present = word.load(std::memory_order_relaxed);
    while (present < value &&
           !word.compare_exchange_weak(present, value, std::memory_order_acq_rel)) {
    }
    return present;
}

/// The longest wait for a clock that is behind. A lead that exceeds the limit by more is refused.
inline constexpr int64_t max_wait_ms = 1000;

/// The answer when the last ID is ahead of the wall clock's `unix_ms` by more than is allowed.
template <typename Id>
constexpr Answer<Id> excessive_lead(int64_t unix_ms, int64_t lead_ms,
                                    int64_t max_lead_ms) noexcept {
    const int64_t excess = lead_ms - max_lead_ms;
    if (excess > max_wait_ms) return {Verdict::refused, {}, lead_ms};
    return {Verdict::clock_behind, {}, unix_ms + excess};
}

/// What one caller has observed during one request. The caller creates it empty and passes it along
/// until an ID is issued.
class Request {
 public:
    /// Whether the wall clock, at `now`, has moved on since this request found that the state
    /// `used_up` has no ID left. Each millisecond of the clock allows one advance, by the first
    /// caller to ask.
    bool has_waited_for(uint64_t used_up, int64_t now) noexcept {
        if (used_up != used_up_ || now < found_at_) {
            used_up_ = used_up;
            found_at_ = now;
        }
        return now > found_at_;
    }

    /// Whether the wall clock, at `now`, is really behind the state's `timestamp`. A caller that
    /// was interrupted after it read the clock also finds a later state. So only a reading taken
    /// after this request has seen that state counts.
    bool is_behind(uint64_t timestamp, uint64_t now) noexcept {
        const bool behind = now < seen_;
        seen_ = std::max(seen_, timestamp);
        return behind;
    }

 private:
    uint64_t used_up_ = 0;
    int64_t found_at_ = 0;
    uint64_t seen_ = 0;
};

}  // namespace snowdrift
