// The steps of the generators: how the next ID, and the next state, follow from a state and the
// time. This file has what all of them share: answers, requests, and the limit of the lead. Steps
// neither read a clock nor sleep. The caller passes the time, and waits if the answer requires it.
// The extension, snowdrift/generators.hpp and the models in test/model use the same steps.
//
// The rule, sentence 3 of the proof in docs/guarantees.md: a state only moves forward, a sno's
// within each of two timelines, and each ID, or block of IDs, is one move. Therefore, a state
// issues no ID twice, whatever the clock shows. A move of a Snowflake or a sno is one atomic
// operation; the caller holds a lock while it takes a block. Only SnoGenerator::at(), for IDs of
// past times, is not a move, and can repeat values. For sentence 2, advance_past() moves a state
// past a time.
//
// What can go wrong: the clock is behind the last ID. Sno values continue in the other timeline,
// unless it has used the clock's time; other IDs continue at the last ID's time, up to a lead that
// the caller sets. Otherwise, the answer is to wait, or to give up. The time that the caller passes
// is outdated, because the caller was interrupted: the answer `stale` makes the caller read the
// clock again. The sequence of a time unit is used up: the state advances by one unit per unit of
// the clock, so load does not increase the lead.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>

#include "snowdrift/requirements.hpp"

// The states are 64-bit words, which must be lock-free.
static_assert(sizeof(void*) == 8, "Snowdrift's generators require a 64-bit machine");

namespace snowdrift::core {

/// A generator's answer to one request.
enum class Verdict : uint8_t {
    issued,        ///< the answer has an ID
    stale,         ///< the time may be older than the last ID: read the clock, and ask again
    exhausted,     ///< the sequence is used up: wait for the next time unit, and ask again
    early,         ///< the clock has not reached the next time unit: wait, and ask again
    clock_behind,  ///< the lead exceeds the limit by at most max_wait(): wait, and ask again
    refused,       ///< the lead exceeds the limit by more than max_wait()
    out_of_range,  ///< the wall clock is outside the format's range
};

template <typename Id>
struct Answer {
    Verdict verdict;
    Id id;       ///< issued: the ID
    int64_t ms;  ///< issued: the ID's Unix millisecond; exhausted, early, clock_behind: the Unix
                 ///< millisecond to wait for; refused: by how many milliseconds the clock is behind
                 ///< the last ID
};

/// Atomically sets `word` to the maximum of itself and `value`. Returns the previous value, as
/// fetch_max() of C++26 does.
inline uint64_t fetch_max(std::atomic<uint64_t>& word, uint64_t value) noexcept {
    uint64_t present = word.load(std::memory_order_relaxed);
    while (present < value &&
           !word.compare_exchange_weak(present, value, std::memory_order_acq_rel)) {
    }
    return present;
}

/// The longest wait for a clock that is behind, in milliseconds, for IDs whose time unit is 1 ms.
inline constexpr int64_t max_wait_ms = 1000;

/// The longest wait for IDs with another time unit: a fresh state starts with the first unit that
/// begins after the mark, which may be `unit_ms` - 1 later than the next millisecond.
constexpr int64_t max_wait(int64_t unit_ms) noexcept { return max_wait_ms + unit_ms - 1; }

/// The answer if the last ID is ahead of the wall clock, at `unix_ms`, by `lead_ms`, and `lead_ms`
/// exceeds `max_lead_ms`. `unit_ms`: the time unit.
template <typename Id>
constexpr Answer<Id> excessive_lead(int64_t unix_ms, int64_t lead_ms, int64_t max_lead_ms,
                                    int64_t unit_ms = 1) noexcept {
    const int64_t excess = lead_ms - max_lead_ms;
    if (excess > max_wait(unit_ms)) return {Verdict::refused, {}, lead_ms};
    return {Verdict::clock_behind, {}, unix_ms + excess};
}

/// The share of the sequence numbers of the wall clock's time unit that are used, 0 .. 1. The time
/// unit of the last ID begins `lead_ms` after the wall clock's time, and `used` of its `capacity`
/// sequence numbers are used. Nothing if that unit is ahead of the clock's.
constexpr std::optional<float> used_share(int64_t lead_ms, int64_t unit_ms, uint32_t used,
                                          uint32_t capacity) noexcept {
    if (lead_ms > 0) return std::nullopt;
    if (lead_ms <= -unit_ms) return 0.0F;
    return static_cast<float>(used) / static_cast<float>(capacity);
}

/// The observations of one caller during one request. The caller creates an empty Request, and
/// passes it to each call of next() until an ID is issued.
class Request {
 public:
    /// Whether the wall clock, at the time unit `now`, has advanced since this request found that
    /// the state `used_up` has no ID left. Each unit of the clock allows one advance of the state,
    /// by the first caller.
    bool has_waited_for(uint64_t used_up, int64_t now) noexcept {
        if (used_up != used_up_ || now < found_at_) {
            used_up_ = used_up;
            found_at_ = now;
        }
        return now > found_at_;
    }

    /// Whether this request has found a state that has no ID left. After the wait, the request's ID
    /// can be in the time unit after the clock's.
    bool has_found_used_up() const noexcept { return used_up_ != 0; }

    /// Whether the wall clock, at `now`, is behind the state's `timestamp`. False if `now` may have
    /// been read before the state reached `timestamp`, as by a caller that was interrupted after it
    /// read the clock: only a reading taken after this request has seen the state counts.
    /// `timeline`: that of the timestamp, if the state has two.
    bool is_behind(uint64_t timestamp, uint64_t now, bool timeline = false) noexcept {
        if (timeline != timeline_) seen_ = 0;
        timeline_ = timeline;
        const bool behind = now < seen_;
        seen_ = std::max(seen_, timestamp);
        return behind;
    }

 private:
    uint64_t used_up_ = 0;
    int64_t found_at_ = 0;
    uint64_t seen_ = 0;
    bool timeline_ = false;
};

}  // namespace snowdrift::core
