// What all generators have in common: how they answer, and the rule for a clock that is behind.
// A generator has no clock and never sleeps: the caller brings the time, and is told what must
// happen first.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace snowdrift {

/// What a generator answers to one request.
enum class Verdict : uint8_t {
    issued,        ///< here is an ID
    stale,         ///< the time is older than the state: ask again at once, with a new reading
    exhausted,     ///< the sequence is used up: ask again when the wall clock has ticked
    leads,         ///< the clock is behind by a little too much: ask again when it has caught up
    refused,       ///< the clock is behind by far too much
    out_of_range,  ///< the wall clock is outside what the format can express
};

template <typename Id>
struct Answer {
    Verdict verdict;
    Id id;       ///< issued: the ID
    int64_t ms;  ///< issued: the ID's Unix millisecond; exhausted, leads: the one to wait for;
                 ///< refused: how far the clock is behind the last ID, in milliseconds
};

/// Raises a word that others raise too to `at_least`, if it is below. Returns what it is then.
inline uint64_t raise(std::atomic<uint64_t>& word, uint64_t at_least) noexcept {
    uint64_t present = word.load(std::memory_order_relaxed);
    while (present < at_least) {
        if (word.compare_exchange_weak(present, at_least, std::memory_order_acq_rel))
            return at_least;
    }
    return present;
}

/// How much longer than the limit a lead may be and still be waited out rather than refused.
inline constexpr int64_t patience_ms = 1000;

/// The answer when the last ID leads the wall clock's `unix_ms` by more than is allowed.
template <typename Id>
constexpr Answer<Id> behind(int64_t unix_ms, int64_t lead_ms, int64_t max_lead_ms) noexcept {
    const int64_t excess = lead_ms - max_lead_ms;
    if (excess > patience_ms) return {Verdict::refused, {}, lead_ms};
    return {Verdict::leads, {}, unix_ms + excess};
}

/// What one caller has seen so far in one request. It starts empty and stays the caller's for all
/// the times it asks until an ID is issued.
class Request {
 public:
    /// Whether the wall clock, at `now`, has ticked since this request found that the state
    /// `used_up` has no ID left. Each tick allows one move on, by whoever comes first.
    bool has_waited_for(uint64_t used_up, int64_t now) noexcept {
        if (used_up != used_up_ || now < found_at_) {
            used_up_ = used_up;
            found_at_ = now;
        }
        return now > found_at_;
    }

    /// Whether the wall clock, at `now`, is really behind the state's `timestamp`: whoever read the
    /// clock and was interrupted finds a state that is later too. A reading that this request took
    /// after it had seen that state tells.
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
