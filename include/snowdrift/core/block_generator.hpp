// Generation of ULIDs and UUIDs of version 7 in ascending order: each transaction takes a block
// above all earlier blocks, and takes IDs from it without access to shared state.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <utility>

#include "snowdrift/core/generator.hpp"
#include "snowdrift/time.hpp"
#include "snowdrift/uint128.hpp"

namespace snowdrift::core {

/// The number of consecutive IDs in a block.
inline constexpr uint64_t block_size = uint64_t{1} << 40;

/// Consecutive IDs of one timestamp. `Id`: Ulid or Uuidv7. A block cannot be copied, and is empty
/// after it was moved, because a copy would issue the same IDs.
template <typename Id>
class IdBlock {
 public:
    /// An empty block.
    constexpr IdBlock() noexcept = default;

    /// The block_size IDs that begin with `first`.
    constexpr explicit IdBlock(const Id& first) noexcept
        : next_{first.ordinal()}, left_{block_size} {}

    constexpr IdBlock(IdBlock&& other) noexcept
        : next_{other.next_}, left_{std::exchange(other.left_, 0)} {}

    constexpr IdBlock& operator=(IdBlock&& other) noexcept {
        next_ = other.next_;
        left_ = std::exchange(other.left_, 0);
        return *this;
    }

    constexpr bool empty() const noexcept { return left_ == 0; }

    /// Takes the next ID. Precondition: !empty().
    constexpr Id take() noexcept {
        assert(!empty());
        --left_;
        return Id::from_ordinal(next_++);
    }

 private:
    Uint128 next_ = 0;
    uint64_t left_ = 0;
};

/// Issues blocks. All sessions share the state, and the caller holds a lock during each call. A
/// fresh state is all zero. `Id`: Ulid or Uuidv7.
template <typename Id>
class BlockGenerator {
 public:
    using Answer = core::Answer<Id>;

    /// 80 random bits: the randomness of a fresh block, or the distance to the last block. A format
    /// with fewer random bits uses the lower bits.
    struct Random {
        uint16_t high;
        uint64_t low;
    };

    /// The timestamp of the last block, in Unix milliseconds; 0 if there is none.
    int64_t last_unix_ms() const noexcept { return unix_ms_of(last_); }

    /// Makes all further IDs later than the Unix millisecond `unix_ms`.
    void advance_past(int64_t unix_ms) noexcept {
        floor_ms_ = std::max(floor_ms_, std::min<int64_t>(unix_ms, Id::max_timestamp_ms) + 1);
    }

    /// Makes all further IDs not earlier than the Unix millisecond `unix_ms`, or than the last one.
    /// Returns the first millisecond that further IDs can have.
    int64_t begin_unit(int64_t unix_ms) noexcept {
        floor_ms_ = std::max(floor_ms_, std::min<int64_t>(unix_ms, Id::max_timestamp_ms));
        return first_unix_ms();
    }

    /// The first millisecond that further IDs can have; 0 if it is that of the clock.
    int64_t first_unix_ms() const noexcept { return std::max(floor_ms_, last_unix_ms()); }

    /// Answers one request for a block at the wall clock's `unix_ms`. The answer contains the first
    /// ID of the block.
    ///
    /// If the clock has passed the last block's timestamp, the block is fresh: its first ID has the
    /// clock's time and random bits. Bit 62 of the ordinal is 0, which leaves room for 2^62 more
    /// IDs. Otherwise the timestamp stays, and the block starts above the first ID of the last
    /// block, by 2^40 plus a random number below 2^40. The generator handles a clock that is
    /// behind, and a timestamp whose random bits are used up, as SnowflakeGenerator does.
    Answer next(int64_t unix_ms, int64_t max_lead_ms, const Random& random,
                Request& request) noexcept {
        const int64_t last_ms = last_unix_ms();
        const int64_t now = std::max(unix_ms, floor_ms_);
        const int64_t timestamp = std::max(now, last_ms);
        if (!Id::contains_time(time_of(unix_ms)) || !Id::contains_time(time_of(timestamp)))
            [[unlikely]]
            return {Verdict::out_of_range, {}, 0};
        Uint128 first = now > last_ms ? fresh(now, random) : above_last(random);
        const int64_t lead = timestamp - unix_ms;
        const bool is_used_up = unix_ms_of(first + block_size) != timestamp;
        if (lead > max_lead_ms || is_used_up) [[unlikely]] {
            if (lead > 0 && !request.is_behind(static_cast<uint64_t>(timestamp),
                                               static_cast<uint64_t>(unix_ms)))
                return {Verdict::stale, {}, 0};
            if (lead > max_lead_ms) return excessive_lead<Id>(unix_ms, lead, max_lead_ms);
            if (!request.has_waited_for(static_cast<uint64_t>(last_), unix_ms))
                return {Verdict::exhausted, {}, unix_ms + 1};
            if (timestamp == Id::max_timestamp_ms) return {Verdict::out_of_range, {}, 0};
            first = fresh(timestamp + 1, random);
        }
        assert(first >= last_ + (last_ == 0 ? 0 : block_size));
        last_ = first;
        return {Verdict::issued, Id::from_ordinal(first), unix_ms_of(first)};
    }

 private:
    static constexpr uint64_t room_for_increments = uint64_t{1} << 62;

    static int64_t unix_ms_of(Uint128 ordinal) noexcept {
        return static_cast<int64_t>(ordinal >> Id::random_bits);
    }

    static Uint128 fresh(int64_t unix_ms, const Random& random) noexcept {
        constexpr uint64_t high_mask = (uint64_t{1} << (Id::random_bits - 64)) - 1;
        return static_cast<Uint128>(unix_ms) << Id::random_bits |
               static_cast<Uint128>(random.high & high_mask) << 64 |
               (random.low & ~room_for_increments);
    }

    Uint128 above_last(const Random& random) const noexcept {
        return last_ + block_size + random.low % block_size;
    }

    int64_t floor_ms_ = 0;
    Uint128 last_ = 0;  // the ordinal of the first ID of the last block
};

}  // namespace snowdrift::core
