// A slow model of times in ISO 8601, in UTC: it counts years and months one by one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace snowdrift::model {

inline bool is_leap(int64_t year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

inline int64_t days_in(int64_t year, int month) {
    if (month == 2) return is_leap(year) ? 29 : 28;
    return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

inline int64_t days_in(int64_t year) { return is_leap(year) ? 366 : 365; }

/// A date of the Gregorian calendar.
struct Date {
    int64_t year = 1970;
    int month = 1;
    int64_t day = 1;
};

/// The date `days` days after 1970-01-01, or before it.
inline Date date_of(int64_t days) {
    constexpr int64_t cycle = 146'097;  // days of 400 years
    Date date;
    for (; days < 0; days += cycle) date.year -= 400;
    for (; days >= cycle; days -= cycle) date.year += 400;
    for (; days >= days_in(date.year); ++date.year) days -= days_in(date.year);
    for (; days >= days_in(date.year, date.month); ++date.month)
        days -= days_in(date.year, date.month);
    date.day += days;
    return date;
}

/// The days from 1970-01-01 to a date.
inline int64_t days_to(int64_t year, int month, int64_t day) {
    int64_t days = day - 1;
    int64_t at = 1970;
    for (; at > year; at -= 400) days -= 146'097;
    for (; at + 400 <= year; at += 400) days += 146'097;
    for (; at < year; ++at) days += days_in(at);
    for (int m = 1; m < month; ++m) days += days_in(year, m);
    return days;
}

inline std::string padded(int64_t number, size_t width) {
    std::string text = std::to_string(number);
    while (text.size() < width) text.insert(0, "0");
    return text;
}

/// The text of a time, without the fraction if it is 0.
inline std::string utc_text(int64_t unix_ms) {
    constexpr int64_t day_ms = 86'400'000;
    int64_t days = unix_ms / day_ms;
    if (unix_ms % day_ms < 0) --days;
    const int64_t ms = unix_ms - days * day_ms;
    const Date date = date_of(days);
    std::string text = padded(date.year, 4) + "-" + padded(date.month, 2) + "-" +
                       padded(date.day, 2) + "T" + padded(ms / 3'600'000, 2) + ":" +
                       padded(ms / 60'000 % 60, 2) + ":" + padded(ms / 1000 % 60, 2);
    if (ms % 1000 != 0) text += "." + padded(ms % 1000, 3);
    return text + "Z";
}

/// The Unix milliseconds of a text of the form YYYY-MM-DDThh:mm:ssZ or YYYY-MM-DDThh:mm:ss.sssZ;
/// nothing for any other text.
inline std::optional<int64_t> parse_utc(const std::string& text) {
    const std::string_view pattern =
        text.size() == 20 ? "dddd-dd-ddTdd:dd:ddZ" : "dddd-dd-ddTdd:dd:dd.dddZ";
    if (text.size() != pattern.size()) return std::nullopt;
    for (size_t i = 0; i < text.size(); ++i) {
        const bool is_digit = text[i] >= '0' && text[i] <= '9';
        if (pattern[i] == 'd' ? !is_digit : text[i] != pattern[i]) return std::nullopt;
    }
    const auto number = [&](size_t at, size_t size) { return std::stoi(text.substr(at, size)); };
    const int year = number(0, 4);
    const int month = number(5, 2);
    const int day = number(8, 2);
    if (month < 1 || month > 12 || day < 1 || day > days_in(year, month)) return std::nullopt;
    if (number(11, 2) > 23 || number(14, 2) > 59 || number(17, 2) > 59) return std::nullopt;
    const int64_t seconds =
        ((days_to(year, month, day) * 24 + number(11, 2)) * 60 + number(14, 2)) * 60 +
        number(17, 2);
    return seconds * 1000 + (text.size() == 20 ? 0 : number(20, 3));
}

}  // namespace snowdrift::model
