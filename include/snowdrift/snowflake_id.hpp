// Snowflake IDs as values whose type includes the layout. snowflake.hpp has layouts, and IDs as
// plain numbers; snowflake_presets.hpp has the layouts of well-known services; snowflake_text.hpp
// has the text form in base32.
#pragma once

#include <cassert>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "snowdrift/base32.hpp"
#include "snowdrift/snowflake.hpp"
#include "snowdrift/snowflake_layout.hpp"
#include "snowdrift/snowflake_presets.hpp"
#include "snowdrift/time.hpp"
#include "snowdrift/value.hpp"

namespace snowdrift {

/// A Snowflake ID of the layout `layout_`: a `bigint` in SQL. IDs of different layouts have
/// different types, so they cannot be compared or confused. IDs have the order of their numbers: by
/// timestamp first.
template <SnowflakeLayout layout_>
class SnowflakeOf {
    static_assert(is_valid(layout_), "not a layout that make_layout() returns");

 public:
    static constexpr SnowflakeLayout layout = layout_;
    static constexpr std::string_view name = "Snowflake";
    static constexpr size_t size = 8;        ///< in bytes
    static constexpr size_t text_size = 19;  ///< in characters: the largest number of digits

    static constexpr int64_t epoch_unix_ms = layout.epoch_unix_ms;
    static constexpr int64_t max_timestamp_ms = layout.max_unix_ms();

    /// The ID 0: the epoch, and all fields 0.
    constexpr SnowflakeOf() noexcept = default;

    /// The ID with this number. Precondition: contains_id(value).
    constexpr explicit SnowflakeOf(int64_t value) noexcept : value_{value} {
        assert(contains_id(value));
    }

    /// Returns the ID with these fields. Precondition: each field is in its range, and parts.time
    /// is in the time unit of an ID.
    static constexpr SnowflakeOf compose(const SnowflakeParts& parts) noexcept {
        return SnowflakeOf{layout.compose(parts)};
    }

    /// The smallest ID whose timestamp is not before `time`: its time unit is the first one that
    /// begins at or after `time`, and all other bits are 0. Precondition: contains_time(the first
    /// millisecond that does not begin before `time`).
    template <typename Duration>
    static constexpr SnowflakeOf boundary(std::chrono::sys_time<Duration> time) noexcept {
        return SnowflakeOf{layout.boundary(time)};
    }

    /// The largest ID whose timestamp is before `time`. Precondition: contains_time(the last
    /// millisecond that begins before `time`).
    template <typename Duration>
    static constexpr SnowflakeOf last_before(std::chrono::sys_time<Duration> time) noexcept {
        return SnowflakeOf{layout.last_before(time)};
    }

    static constexpr SnowflakeOf max() noexcept { return SnowflakeOf{layout.max_id()}; }

    /// Whether the millisecond that contains `time` is in epoch_unix_ms .. max_timestamp_ms.
    template <typename Duration>
    [[nodiscard]] static constexpr bool contains_time(
        std::chrono::sys_time<Duration> time) noexcept {
        return layout.contains_time(time);
    }

    /// Whether `value` is the number of an ID: 0 .. layout.max_id().
    [[nodiscard]] static constexpr bool contains_id(int64_t value) noexcept {
        return layout.contains_id(value);
    }

    /// The number: the value of the `bigint`.
    constexpr int64_t value() const noexcept { return value_; }
    constexpr explicit operator int64_t() const noexcept { return value_; }

    /// The fields of the ID.
    constexpr SnowflakeParts split() const noexcept { return layout.split(value_); }

    /// The timestamp in milliseconds since 1970-01-01T00:00:00Z: the beginning of the time unit.
    constexpr int64_t timestamp_ms() const noexcept { return unix_ms_of(time()); }

    /// The timestamp as a time of the system clock.
    constexpr Time time() const noexcept { return split().time; }

    constexpr uint32_t datacenter() const noexcept { return split().datacenter; }
    constexpr uint32_t worker() const noexcept { return split().worker; }
    constexpr uint32_t sequence() const noexcept { return split().sequence; }

    /// Parses a number of 1 to 19 decimal digits. Sets `id`, or returns an error and leaves `id`
    /// unchanged. A number above layout.max_id() is an overflow.
    static constexpr ParseError parse(std::string_view text, SnowflakeOf& id) noexcept {
        using Reason = ParseError::Reason;
        if (text.empty() || text.size() > text_size) return {Reason::length};
        uint64_t number = 0;  // 19 digits fit
        for (size_t i = 0; i < text.size(); ++i) {
            if (text[i] < '0' || text[i] > '9') return {Reason::character, i};
            number = number * 10 + static_cast<uint64_t>(text[i] - '0');
        }
        if (number > static_cast<uint64_t>(layout.max_id())) return {Reason::overflow, 0};
        id = SnowflakeOf{static_cast<int64_t>(number)};
        return {};
    }

    /// Writes the digits of the number to `text`, at most text_size, without a terminating zero.
    /// Returns the end of the digits.
    constexpr char* format(char* text) const noexcept {
        return detail::format_digits(value_, 1, text);
    }

    friend constexpr auto operator<=>(const SnowflakeOf&, const SnowflakeOf&) noexcept = default;

    friend constexpr size_t hash_value(const SnowflakeOf& id) noexcept {
        return detail::hash(static_cast<uint64_t>(id.value_), 0);
    }

 private:
    int64_t value_ = 0;
};

/// A Snowflake ID of the extension's default layout.
using Snowflake = SnowflakeOf<presets::snowflake>;

/// The digits of an ID.
template <SnowflakeLayout layout>
std::string to_string(const SnowflakeOf<layout>& id) {
    char text[SnowflakeOf<layout>::text_size];
    return {text, id.format(text)};
}

template <SnowflakeLayout layout>
inline constexpr bool is_id<SnowflakeOf<layout>> = true;

static_assert(sizeof(Snowflake) == Snowflake::size && std::is_trivially_copyable_v<Snowflake>);

}  // namespace snowdrift
