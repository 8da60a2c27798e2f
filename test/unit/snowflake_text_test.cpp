// The text form of Snowflake IDs.
#include "snowdrift/snowflake_text.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <string_view>

#include "snowdrift/ulid.hpp"
#include "unit/vectors.hpp"

namespace snowdrift {
namespace {

using Reason = ParseError::Reason;

constexpr int64_t untouched = 42;

struct Parsed {
    int64_t id = untouched;
    ParseError error;
};

constexpr Parsed parse(std::string_view text) {
    Parsed parsed;
    parsed.error = SnowflakeText::parse(text, parsed.id);
    return parsed;
}

std::string text_of(int64_t id) {
    std::string text(SnowflakeText::size, '!');
    EXPECT_EQ(SnowflakeText::format(id, text.data()), text.data() + text.size());
    return text;
}

static_assert(parse("03NFC9C008C00").id == 132271570944274432);
static_assert(parse("0000000000000").id == 0 && !parse("0000000000000").error);
static_assert(parse("7ZZZZZZZZZZZZ").id == INT64_MAX);

TEST(SnowflakeText, EveryGoldenIdIsWrittenAndReadBack) {
    for (const auto& row : test::read_vectors("snowflake_ids.tsv", 6)) {
        const int64_t id = std::stoll(row[1]);
        const std::string text = text_of(id);
        EXPECT_EQ(parse(text).id, id) << text;
        EXPECT_FALSE(parse(text).error) << text;

        // The last 13 characters of a ULID encode its last 65 bits.
        const Ulid::Text ulid = Ulid{0, static_cast<uint64_t>(id)}.text();
        EXPECT_EQ(text, std::string_view(ulid.data() + 13, 13));
    }
    EXPECT_EQ(text_of(132271570944274432), "03NFC9C008C00");
    EXPECT_EQ(text_of(0), "0000000000000");
    EXPECT_EQ(text_of(INT64_MAX), "7ZZZZZZZZZZZZ");
}

TEST(SnowflakeText, TextsSortAsTheirIds) {
    std::mt19937_64 random{1};
    for (int i = 0; i < 100'000; ++i) {
        const auto a = static_cast<int64_t>(random() >> (1 + i % 63));
        const auto b = static_cast<int64_t>(random() >> (1 + i % 31));
        ASSERT_EQ(a < b, text_of(a) < text_of(b)) << a << " " << b;
    }
}

TEST(SnowflakeText, LettersCanHaveEitherCase) {
    EXPECT_EQ(parse("03nfc9c008c00").id, 132271570944274432);
    EXPECT_EQ(parse("7zzZZzzZZzzZZ").id, INT64_MAX);
}

TEST(SnowflakeText, OtherTextsAreErrorsAndLeaveTheIdUnchanged) {
    const auto check = [](std::string_view text, ParseError error) {
        EXPECT_EQ(parse(text).error, error) << text;
        EXPECT_EQ(parse(text).id, untouched) << text;
    };
    check("", {Reason::length});
    check("03NFC9C008C0", {Reason::length});
    check("03NFC9C008C00K", {Reason::length});
    check("8000000000000", {Reason::overflow, 0});
    check("ZZZZZZZZZZZZZ", {Reason::overflow, 0});
    check("-3NFC9C008C00", {Reason::character, 0});
    for (const char c : {'I', 'L', 'O', 'U', 'i', 'l', 'o', 'u', '-', ' ', '\0', '\xff'})
        for (size_t i = 0; i < SnowflakeText::size; ++i) {
            std::string text = "03NFC9C008C00";
            text[i] = c;
            check(text, {Reason::character, i});
        }
}

}  // namespace
}  // namespace snowdrift
