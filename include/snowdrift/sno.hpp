// sno IDs, as https://github.com/muyo/sno defines them: 80-bit IDs of a timestamp, a metabyte, a
// partition and a sequence. This file has the format and its text form; generators.hpp generates
// the values.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "snowdrift/base32.hpp"
#include "snowdrift/binary_id.hpp"
#include "snowdrift/endian.hpp"
#include "snowdrift/time.hpp"
#include "snowdrift/value.hpp"

namespace snowdrift {

/// The alphabet of the text form: digits and lower-case letters without 0, 1, y and z. Upper case
/// is an error.
struct SnoAlphabet {
    static constexpr char characters[] = "23456789abcdefghijklmnopqrstuvwx";
    static constexpr bool either_case = false;
};

/// The fields of a sno.
struct SnoParts {
    uint64_t units = 0;      ///< of 4 ms since 2010-01-01T00:00:00Z, 0 .. Sno::max_units
    bool tick = false;       ///< the tick-tock bit: flipped at each regression of the clock
    uint8_t metabyte = 0;    ///< free for the application
    uint16_t partition = 0;  ///< the node that issued the sno
    uint16_t sequence = 0;   ///< distinguishes the values of one unit

    friend constexpr bool operator==(const SnoParts&, const SnoParts&) = default;
};

/// A sno: 10 bytes, and 16 characters.
///
/// | bits  | field                                                     |
/// | ----- | --------------------------------------------------------- |
/// | 79-41 | timestamp: units of 4 ms since 2010-01-01T00:00:00Z       |
/// | 40    | tick: the tick-tock bit                                   |
/// | 39-32 | metabyte                                                  |
/// | 31-16 | partition                                                 |
/// | 15-0  | sequence                                                  |
///
/// The 16 characters of the text also fit the 16 bytes of a UUID, which sorts as the sno does:
/// format() into the UUID's bytes, and parse() them.
class Sno : public BinaryId<Sno, uint16_t, 16> {
 public:
    static constexpr std::string_view name = "sno";

    static constexpr int64_t unit_ms = 4;
    static constexpr uint64_t max_units = (uint64_t{1} << 39) - 1;
    static constexpr int64_t epoch_unix_ms = 1262304000000;     ///< 2010-01-01T00:00:00Z
    static constexpr int64_t max_timestamp_ms = 3461327255548;  ///< 2079-09-07T15:47:35.548Z

    using BinaryId::boundary;
    using BinaryId::last_before;

    /// The nil sno: all bits zero.
    constexpr Sno() noexcept = default;

    constexpr explicit Sno(const Bytes& bytes) noexcept : BinaryId{bytes} {}

    /// Returns the sno with these fields. Precondition: parts.units <= max_units.
    static constexpr Sno compose(const SnoParts& parts) noexcept {
        assert(parts.units <= max_units);
        return {parts.units << 25 | uint64_t{parts.tick} << 24 | uint64_t{parts.metabyte} << 16 |
                    parts.partition,
                parts.sequence};
    }

    /// The smallest sno whose timestamp is not before `time`: its unit is the first one that
    /// begins at or after `time`, all other bits are zero. Precondition: contains_time(time).
    static constexpr Sno boundary(Time time) noexcept {
        assert(contains_time(time));
        return compose({.units = units_at(time + Time::duration{unit_ms - 1})});
    }

    /// The largest sno whose timestamp is before `time`. Precondition: contains_time(time - 1 ms).
    static constexpr Sno last_before(Time time) noexcept {
        assert(contains_time(time - Time::duration{1}));
        return {((units_at(time - Time::duration{1}) + 1) << 25) - 1, UINT16_MAX};
    }

    static constexpr Sno nil() noexcept { return {}; }
    static constexpr Sno max() noexcept { return {UINT64_MAX, UINT16_MAX}; }

    /// The unit that contains `time`, counted from the epoch. Precondition: `time` is not before
    /// the epoch.
    static constexpr uint64_t units_at(Time time) noexcept {
        assert(unix_ms_of(time) >= epoch_unix_ms);
        return static_cast<uint64_t>(unix_ms_of(time) - epoch_unix_ms) / unit_ms;
    }

    /// The fields of the sno.
    constexpr SnoParts split() const noexcept {
        return {units(), tick(), metabyte(), partition(), sequence()};
    }

    /// The timestamp in units of 4 ms since 2010-01-01T00:00:00Z, 0 .. max_units.
    constexpr uint64_t units() const noexcept { return high() >> 25; }

    /// The timestamp in milliseconds since 1970-01-01T00:00:00Z, epoch_unix_ms .. max_timestamp_ms.
    constexpr int64_t timestamp_ms() const noexcept {
        return epoch_unix_ms + static_cast<int64_t>(units()) * unit_ms;
    }

    constexpr bool tick() const noexcept { return bytes_[4] & 1; }
    constexpr uint8_t metabyte() const noexcept { return bytes_[5]; }
    constexpr uint16_t partition() const noexcept { return static_cast<uint16_t>(high()); }
    constexpr uint16_t sequence() const noexcept { return low(); }

    /// The same sno with another metabyte, which applications often use as a version number.
    [[nodiscard]] constexpr Sno with_metabyte(uint8_t metabyte) const noexcept {
        return compose({units(), tick(), metabyte, partition(), sequence()});
    }

    /// The same sno with another partition.
    [[nodiscard]] constexpr Sno with_partition(uint16_t partition) const noexcept {
        return compose({units(), tick(), metabyte(), partition, sequence()});
    }

    /// The same sno with another sequence.
    [[nodiscard]] constexpr Sno with_sequence(uint16_t sequence) const noexcept {
        return compose({units(), tick(), metabyte(), partition(), sequence});
    }

    /// Parses a string of 16 characters with lower-case letters. Sets `id`, or returns an error and
    /// leaves `id` unchanged.
    static constexpr ParseError parse(std::string_view text, Sno& id) noexcept {
        if (text.size() != text_size) [[unlikely]]
            return {ParseError::Reason::length};
        const int64_t upper = Codec::decode<8>(text.data());
        const int64_t lower = Codec::decode<8>(text.data() + 8);
        if ((upper | lower) < 0) [[unlikely]]
            return {ParseError::Reason::character, Codec::find_wrong(text.data(), text_size)};
        id = {static_cast<uint64_t>(upper << 24 | lower >> 16), static_cast<uint16_t>(lower)};
        return {};
    }

    /// Writes the 16 characters of the text form to `text`, without a terminating zero. Returns the
    /// end of the characters.
    constexpr char* format(char* text) const noexcept {
        Codec::encode<8>(high() >> 24, text);
        Codec::encode<8>(load_big_endian(bytes_.data() + 2), text + 8);
        return text + text_size;
    }

 private:
    using Codec = Base32<SnoAlphabet>;

    constexpr Sno(uint64_t high, uint16_t sequence) noexcept : BinaryId{high, sequence} {}
};

template <>
inline constexpr bool is_id<Sno> = true;

static_assert(sizeof(Sno) == Sno::size && alignof(Sno) == 1);
static_assert(std::is_trivially_copyable_v<Sno> && std::is_standard_layout_v<Sno>);
static_assert(Sno::max().units() == Sno::max_units);
static_assert(Sno::max().timestamp_ms() == Sno::max_timestamp_ms);
static_assert(Sno::max() == Sno::last_before(time_of(Sno::max_timestamp_ms + 1)));

}  // namespace snowdrift
