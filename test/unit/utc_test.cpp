// Times in ISO 8601, checked against a calendar that counts days one by one.
#include "snowdrift/utc.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace snowdrift {
namespace {

std::string format(int64_t unix_ms) {
    char text[max_utc_text_size];
    return {text, format_utc(unix_ms, text)};
}

std::optional<int64_t> parse(std::string_view text) {
    int64_t unix_ms = 0;
    return parse_utc(text, unix_ms) ? std::optional{unix_ms} : std::nullopt;
}

TEST(Utc, WritesTheFractionOnlyWhereThereIsOne) {
    EXPECT_EQ(format(0), "1970-01-01T00:00:00Z");
    EXPECT_EQ(format(1), "1970-01-01T00:00:00.001Z");
    EXPECT_EQ(format(1288834974657), "2010-11-04T01:42:54.657Z");
    EXPECT_EQ(format(2147483647000), "2038-01-19T03:14:07Z");
    EXPECT_EQ(format(253402300799999), "9999-12-31T23:59:59.999Z");
}

TEST(Utc, WritesYearsOfFiveDigits) {
    EXPECT_EQ(format(281474976710655), "10889-08-02T05:31:50.655Z");
    EXPECT_EQ(format(971890963199999), "32767-12-31T23:59:59.999Z");
    EXPECT_EQ(format(971890963199999).size(), max_utc_text_size);
}

TEST(Utc, ReadsEveryDayOfFourCenturiesAndNoOther) {
    int64_t days = 0;
    for (int year = 1970; year < 2370; ++year) {
        const bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        const int lengths[] = {31, is_leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
        for (int month = 0; month <= 13; ++month) {
            for (int day = 0; day <= 32; ++day) {
                char text[64];
                std::snprintf(text, sizeof text, "%04d-%02d-%02dT01:02:03.004Z", year, month, day);
                const bool exists =
                    month >= 1 && month <= 12 && day >= 1 && day <= lengths[month - 1];
                if (!exists) {
                    ASSERT_EQ(parse(text), std::nullopt) << text;
                    continue;
                }
                const int64_t unix_ms = days++ * 86'400'000 + 3'723'004;
                ASSERT_EQ(parse(text), unix_ms) << text;
                ASSERT_EQ(format(unix_ms), text);
            }
        }
    }
}

TEST(Utc, ReadsTimesBefore1970) {
    EXPECT_EQ(parse("1969-12-31T23:59:59.999Z"), -1);
    EXPECT_EQ(parse("0000-01-01T00:00:00Z"), -62167219200000);
}

TEST(Utc, TakesNoOtherForm) {
    for (const auto* text : {"",
                             "2024",
                             "2024-01-01",
                             "2024-01-01T00:00Z",
                             "2024-01-01T00:00:00",
                             "2024-01-01 00:00:00Z",
                             "2024-01-01t00:00:00z",
                             "2024-01-01T00:00:00+00",
                             "2024-01-01T00:00:00Z ",
                             " 2024-01-01T00:00:00Z",
                             "2024-01-01T00:00:00ZZ",
                             "2024-01-01T00:00:00.Z",
                             "2024-01-01T00:00:00.1Z",
                             "2024-01-01T00:00:00.12Z",
                             "2024-01-01T00:00:00.1234Z",
                             "2024-01-01T24:00:00Z",
                             "2024-01-01T23:60:00Z",
                             "2024-01-01T23:59:60Z",
                             "+024-01-01T00:00:00Z",
                             "2024-1-01T00:00:00Z",
                             "12024-01-01T00:00:00Z",
                             "2024-01-01T00:00:-1Z"})
        EXPECT_EQ(parse(text), std::nullopt) << text;
}

TEST(Utc, LeavesTheTimeAsItWasOnAnError) {
    int64_t unix_ms = 42;
    EXPECT_FALSE(parse_utc("2023-02-29T00:00:00Z", unix_ms));
    EXPECT_EQ(unix_ms, 42);
}

}  // namespace
}  // namespace snowdrift
