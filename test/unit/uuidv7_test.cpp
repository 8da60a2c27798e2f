// UUIDs of version 7: text, order, fields and boundaries.
#include "snowdrift/uuidv7.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>

#include "unit/id_sums.hpp"
#include "unit/vectors.hpp"

namespace snowdrift {
namespace {

using Reason = ParseError::Reason;

struct Parsed {
    Uuidv7 id;
    ParseError error;
};

constexpr Parsed parse(std::string_view text) {
    Parsed parsed;
    parsed.error = Uuidv7::parse(text, parsed.id);
    return parsed;
}

// The example of RFC 9562, appendix A.6.
constexpr std::string_view example_text = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f";
constexpr Uuidv7 example = parse(example_text).id;
constexpr uint64_t example_rand_a = 0xcc3;
constexpr uint64_t example_rand_b = 0x18c4dc0c0c07398f;

static_assert(example.timestamp_ms() == 1645557742000);  // 2022-02-22T19:22:22Z
static_assert(example.timestamp_ms() == 0x017f22e279b0);
static_assert(example.randomness() ==
              Uuidv7::Randomness{0x03, 0x30, 0xd8, 0xc4, 0xdc, 0x0c, 0x0c, 0x07, 0x39, 0x8f});
static_assert(example.rand_a() == example_rand_a && example.rand_b() == example_rand_b);
static_assert(example.ordinal() ==
              (Uint128{0x017f22e279b0} << 74 | Uint128{example_rand_a} << 62 | example_rand_b));
static_assert(example.text()[0] == '0' && example.text()[35] == 'f');
static_assert(Uuidv7::min() < example && example < Uuidv7::max());
static_assert(parse("017f22e2-79b0-7cc3-98c4-dc0c0c07398").error);

std::string text_of(const Uuidv7& id) {
    const Uuidv7::Text text = id.text();
    return {text.begin(), text.end()};
}

Uuidv7 any(std::mt19937_64& random) {
    return Uuidv7::from_ordinal(Uint128{random() >> 6} << 64 | random());
}

int sign(std::strong_ordering order) { return order < 0 ? -1 : order > 0; }
int sign(int order) { return order < 0 ? -1 : order > 0; }

TEST(Uuidv7, AgreesWithTheRfcAndWithPostgresql) {
    const auto rows = test::read_vectors("uuidv7_ids.tsv", 2);
    ASSERT_GE(rows.size(), 100U);
    for (const auto& row : rows) {
        const Parsed parsed = parse(row[0]);
        ASSERT_EQ(parsed.error, ParseError{}) << row[0];
        EXPECT_EQ(text_of(parsed.id), row[0]);
        EXPECT_EQ(std::to_string(parsed.id.timestamp_ms()), row[1]);
        EXPECT_EQ(Uuidv7::compose(time_of(std::stoll(row[1])), parsed.id.randomness()), parsed.id);
    }
}

TEST(Uuidv7, ConvertsToPartsToAnOrdinalAndToTextAndBack) {
    std::mt19937_64 random{1};
    for (int i = 0; i < 1'000'000; ++i) {
        const Uuidv7 id = any(random);
        ASSERT_TRUE(Uuidv7::is_version_7(id.bytes()));
        ASSERT_EQ(Uuidv7{id.bytes()}, id);
        ASSERT_TRUE(Uuidv7::is_valid(id.randomness()));
        ASSERT_EQ(Uuidv7::compose(id.time(), id.randomness()), id);
        ASSERT_EQ(Uuidv7::from_ordinal(id.ordinal()), id);
        const Parsed parsed = parse(text_of(id));
        ASSERT_FALSE(parsed.error);
        ASSERT_EQ(parsed.id, id);
    }
}

TEST(Uuidv7, SortsAsItsBytesItsTextAndItsOrdinalDo) {
    std::mt19937_64 random{2};
    for (int i = 0; i < 1'000'000; ++i) {
        const Uuidv7 a = any(random);
        const int equal = static_cast<int>(random() % 123);  // this many leading bits
        Uint128 differing = Uint128{random()} << 64 | random();
        differing = equal == 122 ? 0 : differing >> (6 + equal);
        const Uuidv7 b = Uuidv7::from_ordinal(a.ordinal() ^ differing);

        const int order = sign(a <=> b);
        ASSERT_EQ(order, sign(std::memcmp(&a, &b, sizeof(Uuidv7))));
        ASSERT_EQ(order, sign(text_of(a).compare(text_of(b))));
        ASSERT_EQ(order, sign(a.ordinal() <=> b.ordinal()));
        ASSERT_EQ(a == b, order == 0);
    }
}

TEST(Uuidv7, HasVersionAndVariantBetweenItsRandomBits) {
    constexpr Uuidv7::Randomness ones{0x03, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    EXPECT_EQ(text_of(Uuidv7::compose(time_of(0), {})), "00000000-0000-7000-8000-000000000000");
    EXPECT_EQ(text_of(Uuidv7::compose(time_of(0), ones)), "00000000-0000-7fff-bfff-ffffffffffff");
    EXPECT_EQ(text_of(Uuidv7::compose(time_of(0), {0x03, 0xff, 0xc0})),
              "00000000-0000-7fff-8000-000000000000");
    EXPECT_EQ(text_of(Uuidv7::compose(time_of(0),
                                      {0, 0, 0x3f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})),
              "00000000-0000-7000-bfff-ffffffffffff");
    EXPECT_EQ(text_of(Uuidv7::compose(time_of(Uuidv7::max_timestamp_ms), {})),
              "ffffffff-ffff-7000-8000-000000000000");
    EXPECT_EQ(text_of(Uuidv7::min()), "00000000-0000-7000-8000-000000000000");
    EXPECT_EQ(text_of(Uuidv7::max()), "ffffffff-ffff-7fff-bfff-ffffffffffff");
}

TEST(Uuidv7, AcceptsRandomnessWhoseFirstSixBitsAreZero) {
    for (int byte = 0; byte < 256; ++byte)
        EXPECT_EQ(Uuidv7::is_valid({static_cast<uint8_t>(byte), 0xff}), byte < 4) << byte;
}

TEST(Uuidv7, RequiresVersionSevenAndVariantTwo) {
    for (int version = 0; version < 16; ++version) {
        for (int variant = 0; variant < 4; ++variant) {
            Uuidv7::Bytes bytes = example.bytes();
            bytes[6] = static_cast<uint8_t>(version << 4 | 0xf);
            bytes[8] = static_cast<uint8_t>(variant << 6 | 0x3f);
            EXPECT_EQ(Uuidv7::is_version_7(bytes), version == 7 && variant == 2)
                << version << " " << variant;
        }
    }
}

TEST(Uuidv7, AcceptsAndRejectsEachByteAtEachPosition) {
    const std::string digits = "0123456789abcdefABCDEF";
    for (size_t position = 0; position < Uuidv7::text_size; ++position) {
        std::string accepted = digits;
        if (example_text[position] == '-') accepted = "-";
        if (position == 14) accepted = "7";
        if (position == 19) accepted = "89abAB";
        for (int byte = 0; byte < 256; ++byte) {
            std::string text{example_text};
            text[position] = static_cast<char>(byte);
            const Parsed parsed = parse(text);
            if (accepted.find(text[position]) == accepted.npos) {
                ASSERT_EQ(parsed.error, (ParseError{Reason::character, position})) << byte;
                ASSERT_EQ(parsed.id, Uuidv7{}) << "changed on an error";
            } else {
                ASSERT_FALSE(parsed.error) << byte << " at " << position;
                text[position] = static_cast<char>(std::tolower(byte));
                ASSERT_EQ(text_of(parsed.id), text);
            }
        }
    }
}

TEST(Uuidv7, ParsesTextsOfThirtySixCharactersOnly) {
    const std::string text{example_text};
    for (size_t length = 0; length < text.size(); ++length)
        EXPECT_EQ(parse(text.substr(0, length)).error, ParseError{Reason::length}) << length;
    EXPECT_EQ(parse(text + "0").error, ParseError{Reason::length});
    EXPECT_EQ(parse("{" + text + "}").error, ParseError{Reason::length});
}

TEST(Uuidv7, FormatsIntoExactlyThirtySixCharacters) {
    std::string buffer(Uuidv7::text_size + 2, '!');
    EXPECT_EQ(example.format(buffer.data() + 1), buffer.data() + 1 + Uuidv7::text_size);
    EXPECT_EQ(buffer, "!" + std::string{example_text} + "!");
}

TEST(Uuidv7, CarriesTimesFrom1970To10889) {
    EXPECT_FALSE(Uuidv7::contains_time(time_of(-1)));
    EXPECT_TRUE(Uuidv7::contains_time(time_of(0)));
    EXPECT_TRUE(Uuidv7::contains_time(time_of(281474976710655)));
    EXPECT_FALSE(Uuidv7::contains_time(time_of(281474976710656)));
    EXPECT_EQ(Uuidv7::min().timestamp_ms(), 0);
    EXPECT_EQ(Uuidv7::max().timestamp_ms(), 281474976710655);
}

TEST(Uuidv7, HasABoundaryThatSplitsIdsByTheirTime) {
    std::mt19937_64 random{4};
    constexpr Uuidv7::Randomness ones{0x03, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    for (int i = 0; i < 1'000'000; ++i) {
        auto time = static_cast<int64_t>(random() >> 16);
        if (i <= 16) time = i;
        if (i > 16 && i <= 32) time = Uuidv7::max_timestamp_ms - (i - 17);
        ASSERT_EQ(Uuidv7::boundary(time_of(time)), Uuidv7::compose(time_of(time), {}));
        if (time > 0) {
            ASSERT_EQ(Uuidv7::last_before(time_of(time)), Uuidv7::compose(time_of(time - 1), ones));
            ASSERT_EQ(Uuidv7::last_before(time_of(time)) + 1, Uuidv7::boundary(time_of(time)));
        }
    }
}

}  // namespace
}  // namespace snowdrift
