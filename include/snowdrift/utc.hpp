// Times as ISO 8601 writes them, in UTC and to the millisecond: 2010-11-04T01:42:54.657Z.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace snowdrift {

/// How many characters a time has at most, in the year 32767.
inline constexpr size_t max_utc_text_size = 25;

namespace detail {

/// Reads a text of numbers of known length with single characters between them.
class UtcReader {
 public:
    constexpr explicit UtcReader(std::string_view text) noexcept : text_{text} {}

    /// Whether the text goes on with `c`.
    constexpr bool is_at(char c) const noexcept { return !text_.empty() && text_.front() == c; }

    /// Goes past a character that has to be there.
    constexpr void skip(char c) noexcept {
        if (is_at(c))
            text_.remove_prefix(1);
        else
            is_good_ = false;
    }

    /// The number of the next `length` characters, which have to be digits.
    constexpr int read(size_t length) noexcept {
        int number = 0;
        for (; length > 0 && !text_.empty() && text_.front() >= '0' && text_.front() <= '9';
             --length, text_.remove_prefix(1))
            number = number * 10 + (text_.front() - '0');
        is_good_ &= length == 0;
        return number;
    }

    /// Whether all was as it has to be, to the end of the text.
    constexpr bool is_done() const noexcept { return is_good_ && text_.empty(); }

 private:
    std::string_view text_;
    bool is_good_ = true;
};

/// Writes `number` with at least `width` digits. Returns the end of what it wrote.
constexpr char* format_digits(int64_t number, int width, char* text) noexcept {
    int length = 1;
    for (int64_t rest = number / 10; rest > 0; rest /= 10) ++length;
    char* const end = text + std::max(length, width);
    for (char* at = end; at != text; number /= 10) *--at = static_cast<char>('0' + number % 10);
    return end;
}

}  // namespace detail

/// Sets `unix_ms` to the time that a text of the form YYYY-MM-DDThh:mm:ssZ stands for, with or
/// without three digits of a second's fraction. Returns whether it has that form and is a time of
/// the calendar; if not, `unix_ms` stays as it was.
constexpr bool parse_utc(std::string_view text, int64_t& unix_ms) noexcept {
    using namespace std::chrono;
    detail::UtcReader in{text};
    const year y{in.read(4)};
    in.skip('-');
    const month m{static_cast<unsigned>(in.read(2))};
    in.skip('-');
    const day d{static_cast<unsigned>(in.read(2))};
    in.skip('T');
    const hours h{in.read(2)};
    in.skip(':');
    const minutes min{in.read(2)};
    in.skip(':');
    const seconds s{in.read(2)};
    milliseconds fraction{0};
    if (in.is_at('.')) {
        in.skip('.');
        fraction = milliseconds{in.read(3)};
    }
    in.skip('Z');
    if (!in.is_done() || !(y / m / d).ok() || h >= days{1} || min >= hours{1} || s >= minutes{1})
        return false;
    unix_ms = milliseconds{sys_days{y / m / d}.time_since_epoch() + h + min + s + fraction}.count();
    return true;
}

/// Writes a time to `text`, without a terminating zero; the fraction only if it isn't 0. Returns
/// the end of what it wrote. Precondition: the year is from 0 to 32767.
constexpr char* format_utc(int64_t unix_ms, char* text) noexcept {
    using namespace std::chrono;
    const sys_time<milliseconds> time{milliseconds{unix_ms}};
    const year_month_day date{floor<days>(time)};
    const hh_mm_ss clock{time - floor<days>(time)};
    const auto put = [&text](char before, int64_t number, int width) {
        *text++ = before;
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
