// Generation of Snowflake IDs: one lock-free step on one 64-bit word.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>

#include "core/generator.hpp"
#include "snowdrift/snowflake.hpp"

namespace snowdrift {

/// Generates IDs of one layout for one node. The state is a word that all callers share: `timestamp
/// << sequence_bits | sequence` of the last ID. The timestamp is in milliseconds since the layout's
/// epoch. The state only grows. A fresh state is 0.
///
/// Generators may share a node if the bounds of their sequences do not overlap.
class SnowflakeGenerator {
 public:
    using Answer = snowdrift::Answer<int64_t>;

    /// Precondition: node <= layout.max_node().
    constexpr SnowflakeGenerator(const SnowflakeLayout& layout, uint32_t node) noexcept
        : SnowflakeGenerator{layout, node, 0, layout.max_sequence()} {}

    /// Precondition: node <= layout.max_node(), and
    /// sequence_min < sequence_max <= layout.max_sequence().
    constexpr SnowflakeGenerator(const SnowflakeLayout& layout, uint32_t node,
                                 uint32_t sequence_min, uint32_t sequence_max) noexcept
        : layout_{layout},
          max_timestamp_{layout.max_timestamp()},
          sequence_min_{sequence_min},
          sequence_max_{sequence_max},
          node_field_{uint64_t{node} << layout.sequence_bits} {}

    /// The same generator for another node. Precondition: node <= layout.max_node().
    constexpr SnowflakeGenerator at_node(uint32_t node) const noexcept {
        return {layout_, node, sequence_min_, sequence_max_};
    }

    /// The maximum number of IDs per millisecond.
    constexpr uint32_t capacity() const noexcept { return sequence_max_ - sequence_min_ + 1; }

    constexpr const SnowflakeLayout& layout() const noexcept { return layout_; }

    /// The least state whose further IDs are all later than the Unix millisecond `unix_ms`. If the
    /// layout has no later millisecond, the state of the layout's last ID.
    constexpr uint64_t state_after(int64_t unix_ms) const noexcept {
        if (unix_ms < layout_.epoch_unix_ms) return 0;
        const auto timestamp = static_cast<uint64_t>(unix_ms - layout_.epoch_unix_ms);
        if (timestamp >= layout_.max_timestamp())
            return layout_.max_timestamp() << layout_.sequence_bits | layout_.max_sequence();
        return (timestamp + 1) << layout_.sequence_bits;
    }

    /// Advances a state to state_after(unix_ms), unless it is already past that.
    void advance_past(std::atomic<uint64_t>& word, int64_t unix_ms) const noexcept {
        (void)fetch_max(word, state_after(unix_ms));
    }

    /// The position of a state: IDs up to this time and sequence may have been issued, none later.
    struct Position {
        int64_t unix_ms;    ///< since 1970-01-01T00:00:00Z, in the layout's range
        uint32_t sequence;  ///< sequence_min .. sequence_max
    };

    /// The position of a state; nothing for a fresh one.
    constexpr std::optional<Position> position(uint64_t state) const noexcept {
        if (state == 0) return std::nullopt;
        const auto sequence = static_cast<uint32_t>(state & layout_.max_sequence());
        if (sequence < sequence_min_) return Position{unix_ms_of(state) - 1, sequence_max_};
        return Position{unix_ms_of(state), std::min(sequence, sequence_max_)};
    }

    /// Advances a state so that all further IDs are after `position`. Returns false if the state is
    /// already past it.
    bool resume_after(std::atomic<uint64_t>& word, const Position& position) const noexcept {
        const uint64_t target = state_at(position);
        const auto own = this->position(std::max(fetch_max(word, target), target));
        return !own || state_at(*own) <= target;
    }

    /// Issues an ID at the wall clock's `unix_ms` in the common case: the last ID is not later than
    /// that millisecond, and the millisecond has an ID left. Sets `id` to the ID that next() would
    /// issue. Returns false in all other cases.
    [[nodiscard]] bool try_next(std::atomic<uint64_t>& word, int64_t unix_ms,
                                int64_t& id) const noexcept {
        const auto now = static_cast<uint64_t>(unix_ms - layout_.epoch_unix_ms);
        if (now > max_timestamp_) [[unlikely]]
            return false;
        const uint64_t begin = now << layout_.sequence_bits;
        uint64_t last = word.load(std::memory_order_relaxed);
        while (last < (begin | sequence_max_)) {
            const uint64_t next = std::max(last + 1, begin | sequence_min_);
            if (word.compare_exchange_weak(last, next, std::memory_order_relaxed)) [[likely]] {
                id = static_cast<int64_t>(begin << layout_.node_bits() | node_field_ |
                                          (next - begin));
                return true;
            }
        }
        return false;
    }

    /// Answers one request at the wall clock's `unix_ms`.
    ///
    /// While the last ID is ahead of the clock by at most `max_lead_ms`, the generator continues in
    /// the last ID's millisecond. When the sequence of a millisecond is used up, the generator
    /// advances by one millisecond per millisecond of the clock, so load does not increase the
    /// lead.
    Answer next(std::atomic<uint64_t>& word, int64_t unix_ms, int64_t max_lead_ms,
                Request& request) const noexcept {
        const auto now = static_cast<uint64_t>(unix_ms - layout_.epoch_unix_ms);
        if (now > max_timestamp_) [[unlikely]]
            return {Verdict::out_of_range, 0, 0};

        uint64_t last = word.load(std::memory_order_relaxed);
        for (;;) {
            const uint64_t timestamp = last >> layout_.sequence_bits;
            const uint64_t sequence = last & layout_.max_sequence();
            uint64_t next = last + 1;
            if (now > timestamp) {
                next = first_of(now);
            } else if (const auto lead = static_cast<int64_t>(timestamp - now); lead > max_lead_ms)
                [[unlikely]] {
                return excessive_lead<int64_t>(unix_ms, lead, max_lead_ms);
            } else if (sequence >= sequence_max_) [[unlikely]] {
                if (!request.has_waited_for(last, unix_ms))
                    return {Verdict::exhausted, 0, unix_ms + 1};
                if (timestamp == layout_.max_timestamp()) return {Verdict::out_of_range, 0, 0};
                next = first_of(timestamp + 1);
            } else if (sequence < sequence_min_) [[unlikely]] {
                next = first_of(timestamp);
            }
            if (word.compare_exchange_weak(last, next, std::memory_order_relaxed))
                return {Verdict::issued, compose(next), unix_ms_of(next)};
        }
    }

    /// The Unix millisecond of a state's last ID.
    constexpr int64_t unix_ms_of(uint64_t state) const noexcept {
        return layout_.epoch_unix_ms + static_cast<int64_t>(state >> layout_.sequence_bits);
    }

 private:
    constexpr uint64_t state_at(const Position& position) const noexcept {
        return static_cast<uint64_t>(position.unix_ms - layout_.epoch_unix_ms)
                   << layout_.sequence_bits |
               position.sequence;
    }

    constexpr uint64_t first_of(uint64_t timestamp) const noexcept {
        return timestamp << layout_.sequence_bits | sequence_min_;
    }

    constexpr int64_t compose(uint64_t state) const noexcept {
        const uint64_t sequence = state & layout_.max_sequence();
        return static_cast<int64_t>((state ^ sequence) << layout_.node_bits() | node_field_ |
                                    sequence);
    }

    SnowflakeLayout layout_;
    uint64_t max_timestamp_;  // layout_.max_timestamp(), computed once
    uint32_t sequence_min_;
    uint32_t sequence_max_;
    uint64_t node_field_;
};

}  // namespace snowdrift
