// Snos, as https://github.com/muyo/sno defines them: 80-bit IDs of a timestamp, a metabyte, a
// partition and a sequence. This file has the format and its text form; generators.hpp generates
// snos.
#pragma once

#include <array>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "snowdrift/base32.hpp"
#include "snowdrift/endian.hpp"
#include "snowdrift/time.hpp"
#include "snowdrift/value.hpp"

namespace snowdrift {

/// The alphabet of snos: digits and lower-case letters without 0, 1, y and z. Upper case is an
/// error.
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
    uint16_t sequence = 0;   ///< distinguishes the snos of one unit

    friend constexpr bool operator==(const SnoParts&, const SnoParts&) = default;
};

/// A sno: 10 bytes, big-endian, so that snos, their bytes and their texts have the same order, by
/// timestamp first.
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
class Sno {
 public:
    static constexpr std::string_view name = "sno";
    static constexpr size_t size = 10;       ///< in bytes
    static constexpr size_t text_size = 16;  ///< in characters

    static constexpr int64_t unit_ms = 4;
    static constexpr uint64_t max_units = (uint64_t{1} << 39) - 1;
    static constexpr int64_t epoch_unix_ms = 1262304000000;     ///< 2010-01-01T00:00:00Z
    static constexpr int64_t max_timestamp_ms = 3461327255548;  ///< 2079-09-07T15:47:35.548Z

    using Bytes = std::array<uint8_t, size>;
    using Text = std::array<char, text_size>;

    /// The nil sno: all bits zero.
    constexpr Sno() noexcept = default;

    constexpr explicit Sno(const Bytes& bytes) noexcept : bytes_{bytes} {}

    /// Returns the sno with these fields. Precondition: parts.units <= max_units.
    static constexpr Sno compose(const SnoParts& parts) noexcept {
        return {parts.units << 25 | uint64_t{parts.tick} << 24 | uint64_t{parts.metabyte} << 16 |
                    parts.partition,
                parts.sequence};
    }

    /// The smallest sno whose timestamp is not before `unix_ms`: its unit is the first one that
    /// begins at or after `unix_ms`, all other bits are zero. Precondition: contains_time(unix_ms).
    static constexpr Sno boundary(int64_t unix_ms) noexcept {
        return compose({.units = units_at(unix_ms + unit_ms - 1)});
    }

    /// The largest sno whose timestamp is before `unix_ms`. Precondition:
    /// contains_time(unix_ms - 1).
    static constexpr Sno last_before(int64_t unix_ms) noexcept {
        return {boundary(unix_ms).high() - 1, UINT16_MAX};
    }

    /// The smallest sno whose timestamp is not before `time`. Precondition:
    /// contains_time(unix_ms_ceil(time)).
    template <typename Duration>
    static constexpr Sno boundary(std::chrono::sys_time<Duration> time) noexcept {
        return boundary(unix_ms_ceil(time));
    }

    static constexpr Sno nil() noexcept { return {}; }
    static constexpr Sno max() noexcept { return {UINT64_MAX, UINT16_MAX}; }

    /// Whether `unix_ms` is in epoch_unix_ms .. max_timestamp_ms.
    static constexpr bool contains_time(int64_t unix_ms) noexcept {
        return unix_ms >= epoch_unix_ms && unix_ms <= max_timestamp_ms;
    }

    /// The same for the millisecond that contains `time`.
    template <typename Duration>
    static constexpr bool contains_time(std::chrono::sys_time<Duration> time) noexcept {
        return contains_time(unix_ms_floor(time));
    }

    /// The unit that contains the Unix millisecond `unix_ms`, counted from the epoch.
    /// Precondition: unix_ms >= epoch_unix_ms.
    static constexpr uint64_t units_at(int64_t unix_ms) noexcept {
        return static_cast<uint64_t>(unix_ms - epoch_unix_ms) / unit_ms;
    }

    /// The first 64 bits as a number: all but the sequence.
    constexpr uint64_t high() const noexcept { return load_big_endian(bytes_.data()); }

    constexpr const Bytes& bytes() const noexcept { return bytes_; }

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

    /// The timestamp as a time of the system clock.
    constexpr Time time() const noexcept { return time_of(timestamp_ms()); }

    constexpr bool tick() const noexcept { return bytes_[4] & 1; }
    constexpr uint8_t metabyte() const noexcept { return bytes_[5]; }
    constexpr uint16_t partition() const noexcept { return join(bytes_[6], bytes_[7]); }
    constexpr uint16_t sequence() const noexcept { return join(bytes_[8], bytes_[9]); }

    /// The same sno with another metabyte, which applications often use as a version number.
    constexpr Sno with_metabyte(uint8_t metabyte) const noexcept {
        SnoParts parts = split();
        parts.metabyte = metabyte;
        return compose(parts);
    }

    /// The same sno with another partition.
    constexpr Sno with_partition(uint16_t partition) const noexcept {
        SnoParts parts = split();
        parts.partition = partition;
        return compose(parts);
    }

    /// The same sno with another sequence.
    constexpr Sno with_sequence(uint16_t sequence) const noexcept {
        SnoParts parts = split();
        parts.sequence = sequence;
        return compose(parts);
    }

    /// Parses a text of 16 characters with lower-case letters. Sets `id`, or returns an error and
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

    /// The 16 characters of the text form, without a terminating zero.
    constexpr Text text() const noexcept {
        Text result{};
        format(result.data());
        return result;
    }

    friend constexpr bool operator==(const Sno& a, const Sno& b) noexcept {
        return a.high() == b.high() && a.sequence() == b.sequence();
    }

    /// The order of the bytes, and of the texts.
    friend constexpr std::strong_ordering operator<=>(const Sno& a, const Sno& b) noexcept {
        const auto order = a.high() <=> b.high();
        return order != 0 ? order : a.sequence() <=> b.sequence();
    }

    friend constexpr size_t hash_value(const Sno& id) noexcept {
        return detail::hash(id.high(), id.sequence());
    }

 private:
    using Codec = Base32<SnoAlphabet>;

    constexpr Sno(uint64_t high, uint16_t sequence) noexcept {
        store_big_endian(high, bytes_.data());
        store_big_endian(sequence, bytes_.data() + 8);
    }

    static constexpr uint16_t join(uint8_t upper, uint8_t lower) noexcept {
        return static_cast<uint16_t>(upper << 8 | lower);
    }

    Bytes bytes_{};
};

template <>
inline constexpr bool is_id<Sno> = true;

static_assert(sizeof(Sno) == Sno::size && alignof(Sno) == 1);
static_assert(std::is_trivially_copyable_v<Sno> && std::is_standard_layout_v<Sno>);
static_assert(Sno::max().units() == Sno::max_units);
static_assert(Sno::max().timestamp_ms() == Sno::max_timestamp_ms);
static_assert(Sno::max() == Sno::last_before(Sno::max_timestamp_ms + 1));

}  // namespace snowdrift
