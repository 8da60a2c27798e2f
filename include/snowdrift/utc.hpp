// ISO 8601 text of times, in UTC and with milliseconds: 2010-11-04T01:42:54.657Z.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "snowdrift/requirements.hpp"

namespace snowdrift {

/// The maximum number of characters that format_utc() writes: a time in the year 32767.
inline constexpr size_t max_utc_text_size = 25;

namespace detail {

/// Writes a number >= 0 with at least `width` digits, padded with zeros. Returns the end of the
/// digits.
constexpr char* format_digits(int64_t number, int width, char* text) noexcept {
    assert(number >= 0);
    int length = 1;
    for (int64_t rest = number / 10; rest > 0; rest /= 10) ++length;
    char* const end = text + std::max(length, width);
    for (char* at = end; at != text; number /= 10) *--at = static_cast<char>('0' + number % 10);
    return end;
}

}  // namespace detail

/// Parses a time of the form YYYY-MM-DDThh:mm:ssZ or YYYY-MM-DDThh:mm:ss.sssZ. Sets `unix_ms` to
/// milliseconds since 1970-01-01T00:00:00Z. Returns false, and leaves `unix_ms` unchanged, if the
/// text does not have this form or the time does not exist in the calendar.
[[nodiscard]] constexpr bool parse_utc(std::string_view text, int64_t& unix_ms) noexcept {
    using namespace std::chrono;
    constexpr std::string_view form = "0000-00-00T00:00:00.000Z";
    std::array<int, 7> fields{};
    size_t field = 0;
    size_t at = 0;
    for (const char c : text) {
        if (c == 'Z' && at == form.find('.')) at = form.find('Z');
        if (at == form.size()) return false;
        if (form[at] != '0') {
            if (c != form[at]) return false;
            ++field;
        } else {
            if (c < '0' || c > '9') return false;
            fields[field] = fields[field] * 10 + (c - '0');
        }
        ++at;
    }
    const auto [y, m, d, h, min, s, ms] = fields;
    const year_month_day date{year{y}, month{static_cast<unsigned>(m)},
                              day{static_cast<unsigned>(d)}};
    if (at != form.size() || !date.ok() || h >= 24 || min >= 60 || s >= 60) return false;
    const auto time = sys_days{date} + hours{h} + minutes{min} + seconds{s} + milliseconds{ms};
    unix_ms = time.time_since_epoch().count();
    return true;
}

/// Writes the time `unix_ms` to `text`, without a terminating zero, and without the fraction if it
/// is 0. Returns the end of the characters, at most max_utc_text_size. Precondition: the year is in
/// 0 .. 32767.
constexpr char* format_utc(int64_t unix_ms, char* text) noexcept {
    using namespace std::chrono;
    const sys_time<milliseconds> time{milliseconds{unix_ms}};
    const year_month_day date{floor<days>(time)};
    const hh_mm_ss clock{time - floor<days>(time)};
    assert(date.year() >= year{0});
    const auto put = [&text](char separator, int64_t number, int width) {
        *text++ = separator;
        text = detail::format_digits(number, width, text);
    };
    text = detail::format_digits(int{date.year()}, 4, text);
    put('-', unsigned{date.month()}, 2);
    put('-', unsigned{date.day()}, 2);
    put('T', clock.hours().count(), 2);
    put(':', clock.minutes().count(), 2);
    put(':', clock.seconds().count(), 2);
    if (clock.subseconds().count() != 0) put('.', clock.subseconds().count(), 3);
    *text++ = 'Z';
    return text;
}

}  // namespace snowdrift
