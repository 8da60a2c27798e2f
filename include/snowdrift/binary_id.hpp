// What ULIDs, UUIDs of version 7 and sno IDs have in common: bytes that sort as the IDs do.
#pragma once

#include <array>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>

#include "snowdrift/endian.hpp"
#include "snowdrift/time.hpp"
#include "snowdrift/value.hpp"

namespace snowdrift {

/// An ID of eight bytes, which begin with the timestamp, and of those of a `Low`, an unsigned
/// number. The bytes are big-endian, so that IDs, their bytes and their text forms have the same
/// order, by timestamp first. `Id` is the class of the IDs, which derives from this one, and has
/// their boundary() and last_before() of milliseconds, parse() and format(). Text forms have
/// `text_size_` characters.
template <typename Id, typename Low, size_t text_size_>
class BinaryId {
 public:
    static constexpr size_t size = sizeof(uint64_t) + sizeof(Low);  ///< in bytes
    static constexpr size_t text_size = text_size_;                 ///< in characters

    using Bytes = std::array<uint8_t, size>;
    using Text = std::array<char, text_size>;

    /// The smallest ID whose timestamp is not before `time`. Precondition: contains_time(the first
    /// millisecond that does not begin before `time`).
    template <typename Duration>
    static constexpr Id boundary(std::chrono::sys_time<Duration> time) noexcept {
        return Id::boundary(time_of(unix_ms_ceil(time)));
    }

    /// The largest ID whose timestamp is before `time`. Precondition: contains_time(the last
    /// millisecond that begins before `time`).
    template <typename Duration>
    static constexpr Id last_before(std::chrono::sys_time<Duration> time) noexcept {
        return Id::last_before(time_of(unix_ms_ceil(time)));
    }

    /// Whether the millisecond that contains `time` is in epoch_unix_ms .. max_timestamp_ms.
    template <typename Duration>
    [[nodiscard]] static constexpr bool contains_time(
        std::chrono::sys_time<Duration> time) noexcept {
        const int64_t unix_ms = unix_ms_floor(time);
        return unix_ms >= Id::epoch_unix_ms && unix_ms <= Id::max_timestamp_ms;
    }

    /// The first 64 bits as a number.
    constexpr uint64_t high() const noexcept { return load_big_endian(bytes_.data()); }

    /// The other bits as a number.
    constexpr Low low() const noexcept {
        return load_big_endian<Low>(bytes_.data() + sizeof(uint64_t));
    }

    constexpr const Bytes& bytes() const noexcept { return bytes_; }

    /// The timestamp as a time of the system clock.
    constexpr Time time() const noexcept { return time_of(id().timestamp_ms()); }

    /// The characters of the text form, without a terminating zero.
    constexpr Text text() const noexcept {
        Text result{};
        id().format(result.data());
        return result;
    }

    friend constexpr bool operator==(const BinaryId& a, const BinaryId& b) noexcept {
        return a.high() == b.high() && a.low() == b.low();
    }

    /// The order of the bytes, and of the text forms.
    friend constexpr std::strong_ordering operator<=>(const BinaryId& a,
                                                      const BinaryId& b) noexcept {
        const auto order = a.high() <=> b.high();
        return order != 0 ? order : a.low() <=> b.low();
    }

    friend constexpr size_t hash_value(const BinaryId& id) noexcept {
        return detail::hash(id.high(), id.low());
    }

 protected:
    constexpr BinaryId() noexcept = default;

    constexpr explicit BinaryId(const Bytes& bytes) noexcept : bytes_{bytes} {}

    constexpr BinaryId(uint64_t high, Low low) noexcept {
        store_big_endian(high, bytes_.data());
        store_big_endian(low, bytes_.data() + sizeof high);
    }

    Bytes bytes_{};

 private:
    constexpr const Id& id() const noexcept { return static_cast<const Id&>(*this); }
};

/// The text of an ID.
template <typename Id, typename Low, size_t text_size>
std::string to_string(const BinaryId<Id, Low, text_size>& id) {
    const auto text = id.text();
    return {text.data(), text.size()};
}

}  // namespace snowdrift
