// UUIDs of version 7, as RFC 9562, section 5.7, defines them: 48 bits of Unix milliseconds and 74
// random bits, with the version and the variant between them. This file has the format and its text
// form; generators.hpp generates UUIDs.
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
#include "snowdrift/endian.hpp"
#include "snowdrift/time.hpp"
#include "snowdrift/uint128.hpp"
#include "snowdrift/value.hpp"

namespace snowdrift {

/// A UUID of version 7 and variant 10: 16 bytes, and 36 characters, 32 digits and 4 hyphens.
///
/// | bits   | field       | in RFC 9562                                         |
/// | ------ | ----------- | --------------------------------------------------- |
/// | 127-80 | timestamp   | unix_ts_ms: milliseconds since 1970-01-01T00:00:00Z |
/// | 79-76  | version: 7  | ver                                                 |
/// | 75-64  | randomness  | rand_a                                              |
/// | 63-62  | variant: 10 | var                                                 |
/// | 61-0   | randomness  | rand_b                                              |
class Uuidv7 : public BinaryId<Uuidv7, uint64_t, 36> {
 public:
    static constexpr std::string_view name = "UUID of version 7";

    // Widths of the fields, in the order of the table.
    static constexpr int timestamp_bits = 48;
    static constexpr int version_bits = 4;
    static constexpr int rand_a_bits = 12;
    static constexpr int variant_bits = 2;
    static constexpr int rand_b_bits = 62;
    static constexpr int random_bits = rand_a_bits + rand_b_bits;

    static constexpr int64_t epoch_unix_ms = 0;
    static constexpr int64_t max_timestamp_ms = 281474976710655;  ///< 10889-08-02T05:31:50.655Z

    /// rand_a and rand_b as a number of 74 bits, big-endian. The first 6 bits are 0.
    using Randomness = std::array<uint8_t, 10>;

    using BinaryId::boundary;
    using BinaryId::last_before;

    /// The smallest UUID of version 7, min().
    constexpr Uuidv7() noexcept : Uuidv7{version, variant} {}

    /// The UUID with these bytes. Precondition: is_version_7(bytes).
    constexpr explicit Uuidv7(const Bytes& bytes) noexcept : BinaryId{bytes} {
        assert(is_version_7(bytes));
    }

    /// Whether the UUID with these bytes has version 7 and variant 10. Other UUIDs need not begin
    /// with a timestamp.
    [[nodiscard]] static constexpr bool is_version_7(const Bytes& bytes) noexcept {
        return bytes[6] >> 4 == 7 && bytes[8] >> 6 == 2;
    }

    /// Whether the first 6 bits are 0.
    [[nodiscard]] static constexpr bool is_valid(const Randomness& randomness) noexcept {
        return randomness[0] >> (random_bits - 72) == 0;
    }

    /// Returns the UUID whose timestamp is the millisecond that contains `time`, with this
    /// randomness. Precondition: contains_time(time) and is_valid(randomness).
    template <typename Duration>
    static constexpr Uuidv7 compose(std::chrono::sys_time<Duration> time,
                                    const Randomness& randomness) noexcept {
        assert(contains_time(time) && is_valid(randomness));
        Uint128 ordinal = static_cast<Uint128>(unix_ms_floor(time)) << random_bits;
        ordinal |= static_cast<Uint128>(uint64_t{randomness[0]} << 8 | randomness[1]) << 64;
        return from_ordinal(ordinal | load_big_endian(randomness.data() + 2));
    }

    /// The smallest UUID whose timestamp is not before `time`: that timestamp, version, variant,
    /// and 74 zero bits. Precondition: contains_time(time).
    static constexpr Uuidv7 boundary(Time time) noexcept {
        assert(contains_time(time));
        return {static_cast<uint64_t>(unix_ms_of(time)) << 16 | version, variant};
    }

    /// The largest UUID whose timestamp is before `time`. Precondition: contains_time(time - 1 ms).
    static constexpr Uuidv7 last_before(Time time) noexcept {
        assert(contains_time(time - Time::duration{1}));
        return {static_cast<uint64_t>(unix_ms_of(time) - 1) << 16 | version | rand_a_mask,
                variant | rand_b_mask};
    }

    /// The smallest UUID of version 7: 00000000-0000-7000-8000-000000000000.
    static constexpr Uuidv7 min() noexcept { return {}; }

    /// The largest UUID of version 7: ffffffff-ffff-7fff-bfff-ffffffffffff.
    static constexpr Uuidv7 max() noexcept { return last_before(time_of(max_timestamp_ms + 1)); }

    /// The number of smaller UUIDs of version 7: the 122 bits of timestamp and randomness.
    constexpr Uint128 ordinal() const noexcept {
        const uint64_t first = high() >> 16 << rand_a_bits | rand_a();
        return static_cast<Uint128>(first) << rand_b_bits | rand_b();
    }

    /// The inverse of ordinal(). Precondition: `ordinal` is less than 2^122.
    static constexpr Uuidv7 from_ordinal(Uint128 ordinal) noexcept {
        assert(ordinal >> (timestamp_bits + random_bits) == 0);
        const auto first = static_cast<uint64_t>(ordinal >> rand_b_bits);
        return {first >> rand_a_bits << 16 | version | (first & rand_a_mask),
                variant | (static_cast<uint64_t>(ordinal) & rand_b_mask)};
    }

    /// The timestamp in milliseconds since 1970-01-01T00:00:00Z, 0 .. max_timestamp_ms.
    constexpr int64_t timestamp_ms() const noexcept { return static_cast<int64_t>(high() >> 16); }

    constexpr uint32_t rand_a() const noexcept {
        return static_cast<uint32_t>(high() & rand_a_mask);
    }

    constexpr uint64_t rand_b() const noexcept { return low() & rand_b_mask; }

    /// rand_a and rand_b: the 74 random bits.
    constexpr Randomness randomness() const noexcept {
        const Uint128 number = ordinal();
        Randomness result{};
        store_big_endian(static_cast<uint16_t>(number >> 64 & ((1 << (random_bits - 64)) - 1)),
                         result.data());
        store_big_endian(static_cast<uint64_t>(number), result.data() + 2);
        return result;
    }

    /// Parses a string of 36 characters: groups of 8, 4, 4, 4 and 12 hexadecimal digits, in either
    /// case, with hyphens between them. Sets `id`, or returns an error and leaves `id` unchanged.
    /// For another version or variant, the error has the index 14 or 19.
    static constexpr ParseError parse(std::string_view text, Uuidv7& id) noexcept {
        using Reason = ParseError::Reason;
        if (text.size() != text_size) return {Reason::length};
        Bytes bytes{};
        size_t digits = 0;
        for (size_t i = 0; i < text_size; ++i) {
            const int digit = digit_value(text[i]);
            const bool is_allowed = form[i] == '-'   ? text[i] == '-'
                                    : form[i] == '7' ? digit == 7
                                    : form[i] == 'v' ? digit >> 2 == 2
                                                     : digit >= 0;
            if (!is_allowed) return {Reason::character, i};
            if (form[i] == '-') continue;
            uint8_t& byte = bytes[digits++ / 2];
            byte = static_cast<uint8_t>(byte << 4 | digit);
        }
        id = Uuidv7{bytes};
        return {};
    }

    /// Writes the 36 characters of the text form to `text`, in lower case, without a terminating
    /// zero. Returns the end of the characters.
    constexpr char* format(char* text) const noexcept {
        size_t digits = 0;
        for (size_t i = 0; i < text_size; ++i) {
            if (form[i] == '-') {
                *text++ = '-';
                continue;
            }
            const uint8_t byte = bytes_[digits / 2];
            *text++ = "0123456789abcdef"[digits++ % 2 == 0 ? byte >> 4 : byte & 0xf];
        }
        return text;
    }

 private:
    static constexpr uint64_t rand_a_mask = (uint64_t{1} << rand_a_bits) - 1;
    static constexpr uint64_t rand_b_mask = (uint64_t{1} << rand_b_bits) - 1;
    static constexpr uint64_t version = uint64_t{7} << rand_a_bits;  // in high()
    static constexpr uint64_t variant = uint64_t{2} << rand_b_bits;  // in low()

    /// The characters of the text: hyphens, digits, the version and the digit with the variant
    static constexpr char form[] = "dddddddd-dddd-7ddd-vddd-dddddddddddd";
    static_assert(sizeof form == text_size + 1);

    constexpr Uuidv7(uint64_t high, uint64_t low) noexcept : BinaryId{high, low} {}

    /// The value of a hexadecimal digit in either case; -1 for another character.
    static constexpr int digit_value(char c) noexcept {
        if (c >= '0' && c <= '9') return c - '0';
        if (c >= 'a' && c <= 'f') return c - 'a' + 10;
        if (c >= 'A' && c <= 'F') return c - 'A' + 10;
        return -1;
    }
};

template <>
inline constexpr bool is_id<Uuidv7> = true;

static_assert(sizeof(Uuidv7) == Uuidv7::size && alignof(Uuidv7) == 1);
static_assert(std::is_trivially_copyable_v<Uuidv7> && std::is_standard_layout_v<Uuidv7>);
static_assert(Uuidv7::max().timestamp_ms() == Uuidv7::max_timestamp_ms);
static_assert(Uuidv7::max().ordinal() ==
              (Uint128{1} << (Uuidv7::timestamp_bits + Uuidv7::random_bits)) - 1);
static_assert(Uuidv7::is_version_7(Uuidv7::min().bytes()) && Uuidv7::min().ordinal() == 0);

}  // namespace snowdrift
