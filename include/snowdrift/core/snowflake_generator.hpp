// Generation of Snowflake IDs: one lock-free step on one 64-bit word.
#pragma once

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstdint>
#include <optional>

#include "snowdrift/core/generator.hpp"
#include "snowdrift/snowflake.hpp"

namespace snowdrift::core {

/// Generates IDs of one layout for one node. The state is a word that all callers share: `timestamp
/// << sequence_bits | sequence` of the last ID. The timestamp is in the layout's time units since
/// its epoch. The state only grows. A fresh state is 0.
///
/// If the starts are spread, each ID's sequence number is that of the state plus start_of() its
/// time unit, and the state leaves as many numbers at the end of the range unused as this can add.
///
/// Generators may share a node if the bounds of their sequences do not overlap.
class SnowflakeGenerator {
 public:
    using Answer = core::Answer<int64_t>;

    /// Which sequence number the first ID of a time unit has.
    enum class Start : uint8_t {
        least,   ///< the least one
        spread,  ///< one of the lowest sixteenth, which depends on the time unit only, so that the
                 ///< low bits of IDs vary
    };

    /// A time unit longer than 1 ms may begin at most this many milliseconds before the clock
    /// reaches it. This is less than the extension's lease: see src/protocol/generators.hpp.
    static constexpr int64_t max_early_ms = 400;

    /// The exception is a unit that begins later than one unit and this many milliseconds after the
    /// clock: the clock was set back, or the state is fresh and starts after a time ahead of the
    /// clock, as the extension's states do after a restart.
    static constexpr int64_t max_fresh_lead_ms = 500;

    /// Precondition: node <= layout.max_node().
    constexpr SnowflakeGenerator(const SnowflakeLayout& layout, uint32_t node) noexcept
        : SnowflakeGenerator{layout, node, 0, layout.max_sequence()} {}

    /// Precondition: node <= layout.max_node(),
    /// sequence_min < sequence_max <= layout.max_sequence(), and if the starts are spread,
    /// starts(sequence_min, sequence_max) > 1.
    constexpr SnowflakeGenerator(const SnowflakeLayout& layout, uint32_t node,
                                 uint32_t sequence_min, uint32_t sequence_max,
                                 Start start = Start::least) noexcept
        : layout_{layout},
          max_timestamp_{layout.max_timestamp()},
          node_field_{layout.node_field(node)},
          sequence_min_{sequence_min},
          sequence_max_{sequence_max},
          starts_{1},
          timestamp_shift_{static_cast<uint8_t>(layout.timestamp_shift())},
          sequence_shift_{static_cast<uint8_t>(layout.shift(SnowflakeField::sequence))},
          counts_ms_{layout.unit_ms == 1} {
        assert(node <= layout.max_node());
        assert(sequence_min < sequence_max && sequence_max <= layout.max_sequence());
        if (start == Start::least) return;
        starts_ = starts(sequence_min, sequence_max);
        assert(starts_ > 1);
        sequence_max_ -= starts_ - 1;
    }

    /// How many sequence numbers the first ID of a time unit can have if they are spread: a
    /// sixteenth of all.
    static constexpr uint32_t starts(uint32_t sequence_min, uint32_t sequence_max) noexcept {
        return static_cast<uint32_t>((uint64_t{sequence_max} - sequence_min + 1) / 16);
    }

    /// The maximum number of IDs per time unit.
    constexpr uint32_t capacity() const noexcept { return sequence_max_ - sequence_min_ + 1; }

    /// The bounds of the sequence in a state. The IDs' numbers are greater by up to a sixteenth of
    /// all, if they are spread.
    constexpr uint32_t sequence_min() const noexcept { return sequence_min_; }
    constexpr uint32_t sequence_max() const noexcept { return sequence_max_; }

    constexpr const SnowflakeLayout& layout() const noexcept { return layout_; }

    /// The least state whose further IDs are all later than the Unix millisecond `unix_ms`: their
    /// time units begin after it. If the layout has no later unit, the state of the layout's last
    /// ID.
    constexpr uint64_t state_after(int64_t unix_ms) const noexcept {
        if (unix_ms < layout_.epoch_unix_ms) return 0;
        const uint64_t timestamp = layout_.units_at(unix_ms);
        if (timestamp >= layout_.max_timestamp())
            return layout_.max_timestamp() << layout_.sequence_bits | layout_.max_sequence();
        return (timestamp + 1) << layout_.sequence_bits;
    }

    /// Advances a state to state_after(unix_ms), unless it is already past that.
    void advance_past(std::atomic<uint64_t>& word, int64_t unix_ms) const noexcept {
        (void)fetch_max(word, state_after(unix_ms));
    }

    /// Makes all further IDs not earlier than the time unit that contains the Unix millisecond
    /// `unix_ms`, or than the layout's last unit. Returns the beginning of the first unit that
    /// further IDs can have, in Unix milliseconds.
    int64_t begin_unit(std::atomic<uint64_t>& word, int64_t unix_ms) const noexcept {
        const int64_t latest = std::min(unix_ms, layout_.max_unix_ms());
        const uint64_t units = latest < layout_.epoch_unix_ms ? 0 : layout_.units_at(latest);
        const uint64_t last = units == 0 ? 0 : (units << layout_.sequence_bits) - 1;
        const uint64_t next = std::max(fetch_max(word, last), last) + 1;
        return std::min(unix_ms_of(next), layout_.max_unix_ms());
    }

    /// The position of a state: IDs up to this time and sequence may have been issued, none later.
    struct Position {
        int64_t unix_ms;    ///< the timestamp, in milliseconds since 1970-01-01T00:00:00Z
        uint32_t sequence;  ///< sequence_min .. sequence_max
    };

    /// The position of a state; nothing for a fresh one.
    constexpr std::optional<Position> position(uint64_t state) const noexcept {
        if (state == 0) return std::nullopt;
        const auto sequence = static_cast<uint32_t>(state & layout_.max_sequence());
        if (sequence < sequence_min_)
            return Position{unix_ms_of(state) - layout_.unit_ms, sequence_max_};
        return Position{unix_ms_of(state), std::min(sequence, sequence_max_)};
    }

    /// The share of the sequence numbers of the wall clock's time unit that a state has used, 0
    /// .. 1. Nothing for a fresh state, and for one that is ahead of that unit.
    constexpr std::optional<float> sequence_used(uint64_t state, int64_t unix_ms) const noexcept {
        if (state == 0) return std::nullopt;
        const auto sequence = static_cast<uint32_t>(state & layout_.max_sequence());
        const uint32_t used =
            sequence < sequence_min_ ? 0 : std::min(sequence, sequence_max_) - sequence_min_ + 1;
        return used_share(unix_ms_of(state) - unix_ms, layout_.unit_ms, used, capacity());
    }

    /// Advances a state so that all further IDs are after `position`. Returns false if the state is
    /// already past it.
    bool resume_after(std::atomic<uint64_t>& word, const Position& position) const noexcept {
        const uint64_t target = state_at(position);
        const auto own = this->position(std::max(fetch_max(word, target), target));
        return !own || state_at(*own) <= target;
    }

    /// Issues an ID at the wall clock's `unix_ms` in the common case: the last ID is not later than
    /// that time unit, and the unit has an ID left. Sets `id` to the ID that next() would issue.
    /// Returns false in all other cases.
    [[nodiscard]] bool try_next(std::atomic<uint64_t>& word, int64_t unix_ms,
                                int64_t& id) const noexcept {
        const uint64_t now = units_at(unix_ms);
        if (now > max_timestamp_) [[unlikely]]
            return false;
        const uint64_t begin = now << layout_.sequence_bits;
        uint64_t last = word.load(std::memory_order_relaxed);
        while (last < (begin | sequence_max_)) {
            const uint64_t next = std::max(last + 1, begin | sequence_min_);
            assert(next > last && next <= (begin | sequence_max_));
            if (try_replace(word, last, next)) [[likely]] {
                id = compose(now, next - begin);
                return true;
            }
        }
        return false;
    }

    /// Answers one request at the wall clock's `unix_ms`.
    ///
    /// While the last ID is ahead of the clock by at most `max_lead_ms`, the generator continues in
    /// the last ID's time unit. When the sequence of a unit is used up, the generator advances by
    /// one unit per unit of the clock, so load does not increase the lead. The lead is that of the
    /// unit's beginning: a unit that the clock has entered is not ahead.
    ///
    /// If units are longer than 1 ms, the generator does not begin one more than `max_early_ms`
    /// before the clock does, unless the state is ahead of the clock by more than a unit and
    /// `max_fresh_lead_ms`.
    Answer next(std::atomic<uint64_t>& word, int64_t unix_ms, int64_t max_lead_ms,
                Request& request) const noexcept {
        const uint64_t now = units_at(unix_ms);
        if (now > max_timestamp_) [[unlikely]]
            return {Verdict::out_of_range, 0, 0};

        uint64_t last = word.load(std::memory_order_relaxed);
        for (;;) {
            const uint64_t timestamp = last >> layout_.sequence_bits;
            const uint64_t sequence = last & layout_.max_sequence();
            uint64_t next = last + 1;
            if (now > timestamp) {
                next = first_of(now);
            } else if (const int64_t lead = unix_ms_of(last) - unix_ms;
                       lead > max_lead_ms || sequence >= sequence_max_) [[unlikely]] {
                if (now < timestamp && !request.is_behind(timestamp, now))
                    return {Verdict::stale, 0, 0};
                if (lead > max_lead_ms)
                    return excessive_lead<int64_t>(unix_ms, lead, max_lead_ms, layout_.unit_ms);
                if (!request.has_waited_for(last, static_cast<int64_t>(now)))
                    return {Verdict::exhausted, 0, layout_.unix_ms_of(now + 1)};
                if (timestamp == layout_.max_timestamp()) return {Verdict::out_of_range, 0, 0};
                next = first_of(timestamp + 1);
            } else if (sequence < sequence_min_) [[unlikely]] {
                next = first_of(timestamp);
            }
            if (const int64_t wait = early_by(last, next, unix_ms, max_lead_ms); wait > 0)
                [[unlikely]]
                return {sequence >= sequence_max_ ? Verdict::exhausted : Verdict::early, 0,
                        unix_ms + wait};
            assert(next > last);
            if (try_replace(word, last, next))
                return {Verdict::issued,
                        compose(next >> layout_.sequence_bits, next & layout_.max_sequence()),
                        unix_ms_of(next)};
        }
    }

    /// The timestamp of a state's last ID, in Unix milliseconds: the beginning of its time unit.
    constexpr int64_t unix_ms_of(uint64_t state) const noexcept {
        return layout_.unix_ms_of(state >> layout_.sequence_bits);
    }

    /// The ID at a time unit and a sequence of a state.
    constexpr int64_t compose(uint64_t timestamp, uint64_t sequence) const noexcept {
        if (starts_ != 1) [[unlikely]]
            sequence += start_of(timestamp);
        return static_cast<int64_t>(timestamp << timestamp_shift_ | node_field_ |
                                    sequence << sequence_shift_);
    }

 private:
    /// What a time unit adds to the sequence: 0 .. starts_ - 1. This is Fibonacci hashing: the
    /// factor is 2^32 divided by the golden ratio, so that the starts of units at usual distances
    /// are evenly distributed. The SQL edition computes the same without overflow, therefore 31
    /// bits.
    constexpr uint64_t start_of(uint64_t timestamp) const noexcept {
        const auto hash = static_cast<uint32_t>((timestamp & INT32_MAX) * 2654435769);
        return uint64_t{hash} * starts_ >> 32;
    }

    /// Replace the state. A caller that issues an ID from a state which was cleared must also see
    /// what was changed before that, such as the tag of the mark: hence the acquire order.
    static bool try_replace(std::atomic<uint64_t>& word, uint64_t& last, uint64_t next) noexcept {
        return word.compare_exchange_weak(last, next, std::memory_order_acquire,
                                          std::memory_order_relaxed);
    }

    /// The same as layout_.units_at(), but without a division if the time unit is 1 ms. (The
    /// compiler divides unconditionally if the condition is `unit_ms == 1`.)
    constexpr uint64_t units_at(int64_t unix_ms) const noexcept {
        if (counts_ms_) [[likely]]
            return static_cast<uint64_t>(unix_ms - layout_.epoch_unix_ms);
        return layout_.units_at(unix_ms);
    }

    /// How long to wait, in milliseconds, before the state may advance from `last` to `next` at the
    /// wall clock's `unix_ms`.
    ///
    /// If a call did not wait for a unit that is about to begin, its ID would move the extension's
    /// mark ahead of the clock by up to a unit, and after the next restart, the IDs of all other
    /// generators, too. A state that is further ahead of the clock than max_fresh_lead_ms and a
    /// unit counts as one whose clock was set back, and only `max_lead_ms` limits it. (A fresh
    /// state cannot be told from one that has issued sequence 0 only. If the clock was then set
    /// back, the wait is not needed.)
    constexpr int64_t early_by(uint64_t last, uint64_t next, int64_t unix_ms,
                               int64_t max_lead_ms) const noexcept {
        if (counts_ms_) [[likely]]
            return 0;
        const bool is_begun = last >> layout_.sequence_bits == next >> layout_.sequence_bits &&
                              (last & layout_.max_sequence()) > sequence_min_;
        const int64_t early = unix_ms_of(next) - unix_ms;
        const bool is_set_back = early > max_fresh_lead_ms + layout_.unit_ms;
        if (is_begun) return 0;
        return early - (is_set_back ? max_lead_ms : std::min(max_lead_ms, max_early_ms));
    }

    constexpr uint64_t state_at(const Position& position) const noexcept {
        return layout_.units_at(position.unix_ms) << layout_.sequence_bits | position.sequence;
    }

    constexpr uint64_t first_of(uint64_t timestamp) const noexcept {
        return timestamp << layout_.sequence_bits | sequence_min_;
    }

    SnowflakeLayout layout_;
    // Computed once, from the layout and the node:
    uint64_t max_timestamp_;
    uint64_t node_field_;
    uint32_t sequence_min_;
    uint32_t sequence_max_;
    uint32_t starts_;
    uint8_t timestamp_shift_;
    uint8_t sequence_shift_;
    bool counts_ms_;  // whether the time unit is 1 ms
};

}  // namespace snowdrift::core
