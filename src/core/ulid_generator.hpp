// How monotonic ULIDs are generated: each transaction takes a block of them, above every block
// taken before, and counts through it by itself.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/generator.hpp"
#include "snowdrift/ulid.hpp"

namespace snowdrift {

/// ULIDs that follow each other, all of one timestamp.
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

/// Where blocks begin. The state is shared by all who generate; the caller sees to it that one of
/// them asks at a time. All zero is a fresh one.
class UlidGenerator {
 public:
    using Answer = snowdrift::Answer<Ulid>;

    /// 80 random bits, as a fresh start and as the distance between blocks use them.
    struct Random {
        uint16_t high;
        uint64_t low;
    };

    /// The timestamp of the last block, in Unix milliseconds; 0 if there is none.
    int64_t last_unix_ms() const noexcept { return last_.timestamp_ms(); }

    /// From now on all ULIDs are later than the millisecond `unix_ms`.
    void move_past(int64_t unix_ms) noexcept { floor_ms_ = std::max(floor_ms_, unix_ms + 1); }

    /// Answers a request for a block, at the wall clock's `unix_ms`, with its first ULID.
    ///
    /// When the clock has passed the last block's timestamp, it is a fresh start: that time, and
    /// random bits of which the second-highest of the low 64 is clear, which leaves room for 2^62
    /// ULIDs more. Otherwise the timestamp stays, and the block begins 2^40 and 40 random bits
    /// above the last one. A clock that is behind is treated as in SnowflakeGenerator, and so is a
    /// timestamp whose random bits are used up.
    Answer next(int64_t unix_ms, int64_t max_lead_ms, const Random& random,
                Request& request) noexcept {
        const int64_t now = std::max(unix_ms, floor_ms_);
        const int64_t timestamp = std::max(now, last_.timestamp_ms());
        if (!Ulid::contains_time(unix_ms) || !Ulid::contains_time(timestamp)) [[unlikely]]
            return {Verdict::out_of_range, {}, 0};
        if (timestamp - unix_ms > max_lead_ms) [[unlikely]]
            return behind<Ulid>(unix_ms, timestamp - unix_ms, max_lead_ms);

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
    Ulid last_;  // where the last block begins
};

}  // namespace snowdrift
