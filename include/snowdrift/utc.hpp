// ISO 8601 text of times, in UTC and with milliseconds: 2010-11-04T01:42:54.657Z.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace snowdrift {

/// The maximum number of characters that format_utc() writes: a time in the year 32767.
inline constexpr size_t max_utc_text_size = 25;

namespace detail {

/// Reads numbers of fixed length that are separated by single characters.
class UtcReader {
 public:
    constexpr explicit UtcReader(std::string_view text) noexcept : text_{text} {}

    /// Whether the next character is `c`.
    constexpr bool is_at(char c) const noexcept { return !text_.empty() && text_.front() == c; }

    /// Consumes the next character. If it is not `c`, the text is invalid.
    constexpr void skip(char c) noexcept {
        if (is_at(c))
            text_.remove_prefix(1);
        else
            is_valid_ = false;
    }

    /// Consumes `length` digits and returns their number. If there are fewer, the text is invalid.
    constexpr int read(size_t length) noexcept {
        int number = 0;
        for (; length > 0 && !text_.empty() && text_.front() >= '0' && text_.front() <= '9';
             --length, text_.remove_prefix(1))
            number = number * 10 + (text_.front() - '0');
        is_valid_ &= length == 0;
        return number;
    }

    /// Whether the text was valid, and all of it was consumed.
    constexpr bool is_done() const noexcept { return is_valid_ && text_.empty(); }

 private:
    std::string_view text_;
    bool is_valid_ = true;
};

/// Writes a number >= 0 with at least `width` digits, padded with zeros. Returns the end of the
/// digits.
constexpr char* format_digits(int64_t number, int width, char* text) noexcept {
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
constexpr bool parse_utc(std::string_view text, int64_t& unix_ms) noexcept {
    using namespace std::chrono;
    detail::UtcReader reader{text};
    const year y{reader.read(4)};
    reader.skip('-');
    const month m{static_cast<unsigned>(reader.read(2))};
    reader.skip('-');
    const day d{static_cast<unsigned>(reader.read(2))};
    reader.skip('T');
    const hours h{reader.read(2)};
    reader.skip(':');
    const minutes min{reader.read(2)};
    reader.skip(':');
    const seconds s{reader.read(2)};
    milliseconds fraction{0};
    if (reader.is_at('.')) {
        reader.skip('.');
        fraction = milliseconds{reader.read(3)};
    }
    reader.skip('Z');
    if (!reader.is_done() || !(y / m / d).ok() || h >= days{1} || min >= hours{1} ||
        s >= minutes{1})
        return false;
    unix_ms = milliseconds{sys_days{y / m / d}.time_since_epoch() + h + min + s + fraction}.count();
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
