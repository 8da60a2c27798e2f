// Generation of monotonic ULIDs: each transaction takes a block above all earlier blocks, and
// counts through it without shared state.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/generator.hpp"
#include "snowdrift/ulid.hpp"

namespace snowdrift {

/// 2^40 consecutive ULIDs of one timestamp.
class UlidBlock {
 public:
    static constexpr uint64_t size = uint64_t{1} << 40;

    /// An empty block.
    constexpr UlidBlock() noexcept = default;

    /// The block that begins with `first`.
    constexpr explicit UlidBlock(const Ulid& first) noexcept
        : high_{first.high()}, low_{first.low()}, left_{size} {}

    constexpr bool empty() const noexcept { return left_ == 0; }

    /// Takes the next ULID. Precondition: !empty().
    constexpr Ulid take() noexcept {
        --left_;
        const Ulid id{high_, low_++};
        high_ += low_ == 0;
        return id;
    }

 private:
    uint64_t high_ = 0;
    uint64_t low_ = 0;
    uint64_t left_ = 0;
};

/// Issues blocks. All sessions share the state, and the caller holds a lock during each call. A
/// fresh state is all zero.
class UlidGenerator {
 public:
    using Answer = snowdrift::Answer<Ulid>;

    /// 80 random bits: the randomness of a fresh block, or the distance to the last block.
    struct Random {
        uint16_t high;
        uint64_t low;
    };

    /// The timestamp of the last block, in Unix milliseconds; 0 if there is none.
    int64_t last_unix_ms() const noexcept { return last_.timestamp_ms(); }

    /// Makes all further ULIDs later than the Unix millisecond `unix_ms`.
    void advance_past(int64_t unix_ms) noexcept { floor_ms_ = std::max(floor_ms_, unix_ms + 1); }

    /// Answers one request for a block at the wall clock's `unix_ms`. The ID is the first ULID of
    /// the block.
    ///
    /// If the clock has passed the last block's timestamp, the block is fresh: it starts at the
    /// clock's time and random bits. The second-highest of the low 64 bits is 0, which leaves room
    /// for 2^62 more ULIDs. Otherwise the timestamp stays, and the block starts above the first
    /// ULID of the last block, by 2^40 plus a random number below 2^40. The generator handles a
    /// clock that is behind, and a timestamp whose random bits are used up, as SnowflakeGenerator
    /// does.
    Answer next(int64_t unix_ms, int64_t max_lead_ms, const Random& random,
                Request& request) noexcept {
        const int64_t now = std::max(unix_ms, floor_ms_);
        const int64_t timestamp = std::max(now, last_.timestamp_ms());
        if (!Ulid::contains_time(unix_ms) || !Ulid::contains_time(timestamp)) [[unlikely]]
            return {Verdict::out_of_range, {}, 0};
        if (timestamp - unix_ms > max_lead_ms) [[unlikely]]
            return excessive_lead<Ulid>(unix_ms, timestamp - unix_ms, max_lead_ms);

        Ulid first = now > last_.timestamp_ms() ? fresh(now, random) : above_last(random);
        if ((first + UlidBlock::size).timestamp_ms() != timestamp) [[unlikely]] {
            if (!request.has_waited_for(last_.low(), unix_ms))
                return {Verdict::exhausted, {}, unix_ms + 1};
            if (timestamp == Ulid::max_timestamp_ms) return {Verdict::out_of_range, {}, 0};
            first = fresh(timestamp + 1, random);
        }
        last_ = first;
        return {Verdict::issued, first, first.timestamp_ms()};
    }

 private:
    static constexpr uint64_t room_for_increments = uint64_t{1} << 62;

    static Ulid fresh(int64_t unix_ms, const Random& random) noexcept {
        return {static_cast<uint64_t>(unix_ms) << 16 | random.high,
                random.low & ~room_for_increments};
    }

    Ulid above_last(const Random& random) const noexcept {
        return last_ + (UlidBlock::size + random.low % UlidBlock::size);
    }

    int64_t floor_ms_ = 0;
    Ulid last_;  // the first ULID of the last block
};

}  // namespace snowdrift
