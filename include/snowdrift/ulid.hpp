// ULIDs, as https://github.com/ulid/spec defines them: 48 bits of Unix milliseconds and 80 random
// bits. This file has the format and its text form; generators.hpp generates ULIDs.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "snowdrift/base32.hpp"
#include "snowdrift/binary_id.hpp"
#include "snowdrift/time.hpp"
#include "snowdrift/uint128.hpp"
#include "snowdrift/value.hpp"

namespace snowdrift {

/// A ULID: 16 bytes, and 26 characters, 10 of the timestamp and 16 of the randomness.
///
/// | bits   | field                                               |
/// | ------ | --------------------------------------------------- |
/// | 127-80 | timestamp: milliseconds since 1970-01-01T00:00:00Z  |
/// | 79-0   | randomness                                          |
class Ulid : public BinaryId<Ulid, uint64_t, 26> {
 public:
    static constexpr std::string_view name = "ULID";
    static constexpr int random_bits = 80;

    static constexpr int64_t epoch_unix_ms = 0;
    static constexpr int64_t max_timestamp_ms = 281474976710655;  ///< 10889-08-02T05:31:50.655Z

    using Randomness = std::array<uint8_t, 10>;

    using BinaryId::boundary;
    using BinaryId::last_before;

    /// The nil ULID: all bits zero.
    constexpr Ulid() noexcept = default;

    /// The ULID with the first 64 bits `high` (the timestamp and 16 random bits) and the last 64
    /// bits `low`.
    constexpr Ulid(uint64_t high, uint64_t low) noexcept : BinaryId{high, low} {}

    constexpr explicit Ulid(const Bytes& bytes) noexcept : BinaryId{bytes} {}

    /// Returns the ULID whose timestamp is the millisecond that contains `time`, with this
    /// randomness. Precondition: contains_time(time).
    template <typename Duration>
    static constexpr Ulid compose(std::chrono::sys_time<Duration> time,
                                  const Randomness& randomness) noexcept {
        Ulid id = boundary(time_of(unix_ms_floor(time)));
        std::copy_n(randomness.begin(), randomness.size(), id.bytes_.begin() + timestamp_size);
        return id;
    }

    /// The smallest ULID whose timestamp is not before `time`: that timestamp and 80 zero bits.
    /// Precondition: contains_time(time).
    static constexpr Ulid boundary(Time time) noexcept {
        assert(contains_time(time));
        return {static_cast<uint64_t>(unix_ms_of(time)) << 16, 0};
    }

    /// The largest ULID whose timestamp is before `time`. Precondition: contains_time(time - 1 ms).
    static constexpr Ulid last_before(Time time) noexcept {
        assert(contains_time(time - Time::duration{1}));
        return {(static_cast<uint64_t>(unix_ms_of(time)) << 16) - 1, UINT64_MAX};
    }

    static constexpr Ulid nil() noexcept { return {}; }
    static constexpr Ulid max() noexcept { return {UINT64_MAX, UINT64_MAX}; }

    /// The number of smaller ULIDs: all 128 bits.
    constexpr Uint128 ordinal() const noexcept {
        return static_cast<Uint128>(high()) << 64 | low();
    }

    /// The inverse of ordinal().
    static constexpr Ulid from_ordinal(Uint128 ordinal) noexcept {
        return {static_cast<uint64_t>(ordinal >> 64), static_cast<uint64_t>(ordinal)};
    }

    /// The timestamp in milliseconds since 1970-01-01T00:00:00Z, 0 .. max_timestamp_ms.
    constexpr int64_t timestamp_ms() const noexcept { return static_cast<int64_t>(high() >> 16); }

    /// The last 80 bits.
    constexpr Randomness randomness() const noexcept {
        Randomness result{};
        std::copy_n(bytes_.begin() + timestamp_size, result.size(), result.begin());
        return result;
    }

    /// Parses a string of 26 characters with letters in either case. Sets `id`, or returns an error
    /// and leaves `id` unchanged. A first character above 7 is an overflow, because 26 characters
    /// encode 130 bits.
    static constexpr ParseError parse(std::string_view text, Ulid& id) noexcept {
        return Codec::decode_128(text, id.bytes_);
    }

    /// Writes the 26 characters of the text form to `text`, in upper case, without a terminating
    /// zero. Returns the end of the characters.
    constexpr char* format(char* text) const noexcept { return Codec::encode_128(bytes_, text); }

 private:
    using Codec = Base32<CrockfordAlphabet>;

    static constexpr size_t timestamp_size = 6;  // in bytes
};

template <>
inline constexpr bool is_id<Ulid> = true;

static_assert(sizeof(Ulid) == Ulid::size && alignof(Ulid) == 1);
static_assert(std::is_trivially_copyable_v<Ulid> && std::is_standard_layout_v<Ulid>);
static_assert(Ulid::text_size == Base32<CrockfordAlphabet>::size_of_128_bits);
static_assert(Ulid::max().timestamp_ms() == Ulid::max_timestamp_ms);
static_assert(Ulid::max() == Ulid::last_before(time_of(Ulid::max_timestamp_ms + 1)));

}  // namespace snowdrift
