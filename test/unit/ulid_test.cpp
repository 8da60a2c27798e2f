// ULIDs: text, order, fields and boundaries.
#include "snowdrift/ulid.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>

#include "unit/vectors.hpp"

namespace snowdrift {
namespace {

using Reason = ParseError::Reason;

constexpr std::string_view accepted = "0123456789ABCDEFGHJKMNPQRSTVWXYZabcdefghjkmnpqrstvwxyz";

/// Random IDs per test. test/fuzz/ulid_fuzz.cpp checks the same properties of more IDs.
constexpr int rounds = 10'000;

constexpr Ulid example{0x01560492fe039e18, 0x2215aaee06a2d64b};
constexpr std::string_view example_text = "01AR295ZG3KRC245DAXR3A5NJB";

constexpr Ulid untouched{1, 2};

struct Parsed {
    Ulid id = untouched;
    ParseError error;
};

constexpr Parsed parse(std::string_view text) {
    Parsed parsed;
    parsed.error = Ulid::parse(text, parsed.id);
    return parsed;
}

static_assert(!parse(example_text).error && parse(example_text).id == example);
static_assert(parse({example.text().data(), Ulid::text_size}).id == example);
static_assert(example.timestamp_ms() == 1468955557379);
static_assert(Ulid::compose(example.time(), example.randomness()) == example);
static_assert(Ulid{example.bytes()} == example && Ulid{example.high(), example.low()} == example);
static_assert(example.ordinal() == (Uint128{example.high()} << 64 | example.low()));
static_assert(Ulid::from_ordinal(example.ordinal()) == example);
static_assert(Ulid::nil() < example && example < Ulid::max() && Ulid{} == Ulid::nil());
static_assert(parse("01AR295ZG3KRC245DAXR3A5NJ").error);

std::string text_of(const Ulid& id) {
    const Ulid::Text text = id.text();
    return {text.begin(), text.end()};
}

int sign(std::strong_ordering order) { return order < 0 ? -1 : order > 0; }
int sign(int order) { return order < 0 ? -1 : order > 0; }

/// The index of the first error in a text of 26 characters, found by checking each of them.
ParseError error_of(std::string_view text) {
    for (size_t i = 0; i < text.size(); ++i) {
        if (accepted.find(text[i]) == accepted.npos) return {Reason::character, i};
        if (i == 0 && (text[i] < '0' || text[i] > '7')) return {Reason::overflow, i};
    }
    return {};
}

TEST(Ulid, AgreesWithTheReferenceBothWays) {
    const auto rows = test::read_vectors("ulid_ids.tsv", 3);
    ASSERT_GE(rows.size(), 100U);
    for (const auto& row : rows) {
        const Ulid id{test::bytes_from_hex<Ulid::size>(row[0])};
        EXPECT_EQ(text_of(id), row[1]);
        EXPECT_EQ(std::to_string(id.timestamp_ms()), row[2]);

        const Parsed parsed = parse(row[1]);
        EXPECT_EQ(parsed.error, ParseError{}) << row[1];
        EXPECT_EQ(parsed.id, id);
        EXPECT_EQ(Ulid::compose(time_of(std::stoll(row[2])), id.randomness()), id);
    }
}

TEST(Ulid, ParsesWhatItFormats) {
    std::mt19937_64 random{1};
    for (int i = 0; i < rounds; ++i) {
        const Ulid id{random(), random()};
        const Parsed parsed = parse(text_of(id));
        ASSERT_FALSE(parsed.error);
        ASSERT_EQ(parsed.id, id);
        ASSERT_EQ(Ulid{id.bytes()}, id);
        ASSERT_EQ(Ulid::compose(id.time(), id.randomness()), id);
    }
}

TEST(Ulid, FormatsIntoExactlyTwentySixCharacters) {
    std::string buffer(Ulid::text_size + 2, '!');
    EXPECT_EQ(example.format(buffer.data() + 1), buffer.data() + 1 + Ulid::text_size);
    EXPECT_EQ(buffer, "!" + std::string{example_text} + "!");
}

TEST(Ulid, OrdersAsItsBytesAndItsTextDo) {
    std::mt19937_64 random{2};
    for (int i = 0; i < rounds; ++i) {
        const Ulid a{random(), random()};
        Ulid::Bytes bytes = a.bytes();
        const size_t equal = random() % (Ulid::size + 1);  // this many leading bytes
        for (size_t j = equal; j < Ulid::size; ++j) bytes[j] = static_cast<uint8_t>(random());
        const Ulid b{bytes};

        const int order = sign(a <=> b);
        ASSERT_EQ(order, sign(std::memcmp(&a, &b, sizeof(Ulid))));
        ASSERT_EQ(order, sign(text_of(a).compare(text_of(b))));
        ASSERT_EQ(a == b, order == 0);
    }
}

TEST(Ulid, AcceptsAndRejectsEachByteAtEachPosition) {
    for (size_t position = 0; position < Ulid::text_size; ++position) {
        for (int byte = 0; byte < 256; ++byte) {
            std::string text{example_text};
            text[position] = static_cast<char>(byte);
            ASSERT_EQ(parse(text).error, error_of(text)) << byte << " at " << position;
        }
    }
}

TEST(Ulid, ReportsTheFirstOfSeveralWrongCharacters) {
    std::mt19937_64 random{3};
    for (int i = 0; i < rounds; ++i) {
        std::string text = text_of({random(), random()});
        for (uint64_t wrong = random() % 4; wrong > 0; --wrong)
            text[random() % text.size()] = static_cast<char>(random());
        const Parsed parsed = parse(text);
        ASSERT_EQ(parsed.error, error_of(text)) << testing::PrintToString(text);
        ASSERT_TRUE(!parsed.error || parsed.id == untouched) << "changed on an error";
    }
}

TEST(Ulid, AcceptsLettersOfEitherCase) {
    const std::string upper = "7ABCDEFGHJKMNPQRSTVWXYZ012";
    const std::string lower = "7abcdefghjkmnpqrstvwxyz012";
    const std::string mixed = "7aBcDeFgHjKmNpQrStVwXyZ012";
    ASSERT_FALSE(parse(upper).error);
    EXPECT_EQ(parse(lower).id, parse(upper).id);
    EXPECT_EQ(parse(mixed).id, parse(upper).id);
    EXPECT_EQ(text_of(parse(mixed).id), upper);
}

TEST(Ulid, ParsesTextsOfTwentySixCharactersOnly) {
    for (size_t length = 0; length <= 40; ++length) {
        const ParseError expected{length == Ulid::text_size ? Reason::none : Reason::length};
        EXPECT_EQ(parse(std::string(length, '0')).error, expected) << length;
    }
    EXPECT_EQ(parse({}).error, ParseError{Reason::length});
    EXPECT_EQ(parse("!").error, ParseError{Reason::length});
}

TEST(Ulid, CarriesTimesFrom1970To10889) {
    EXPECT_FALSE(Ulid::contains_time(time_of(-1)));
    EXPECT_TRUE(Ulid::contains_time(time_of(0)));
    EXPECT_TRUE(Ulid::contains_time(time_of(281474976710655)));
    EXPECT_FALSE(Ulid::contains_time(time_of(281474976710656)));
    EXPECT_EQ(Ulid::nil().timestamp_ms(), 0);
    EXPECT_EQ(Ulid::max().timestamp_ms(), 281474976710655);
}

TEST(Ulid, HasABoundaryThatSplitsIdsByTheirTime) {
    std::mt19937_64 random{4};
    Ulid::Randomness ones;
    ones.fill(0xff);
    for (int i = 0; i < rounds; ++i) {
        auto time = static_cast<int64_t>(random() >> 16);
        if (i <= 16) time = i;
        if (i > 16 && i <= 32) time = Ulid::max_timestamp_ms - (i - 17);
        for (int64_t other : {time - 1, time, time + 1, static_cast<int64_t>(random() >> 16)}) {
            if (!Ulid::contains_time(time_of(other))) continue;
            for (const auto& randomness : {Ulid::Randomness{}, ones}) {
                const Ulid id = Ulid::compose(time_of(other), randomness);
                ASSERT_EQ(Ulid::boundary(time_of(time)) <= id, other >= time)
                    << time << " " << other;
                if (time > 0) {
                    ASSERT_EQ(Ulid::last_before(time_of(time)) < id, other >= time)
                        << time << " " << other;
                }
            }
        }
    }
}

TEST(Ulid, KeepsTimeAndRandomnessApart) {
    constexpr Ulid::Randomness randomness{0xf0, 1, 2, 3, 4, 5, 6, 7, 8, 0x0f};
    constexpr Ulid id = Ulid::compose(time_of(0x0123456789ab), randomness);
    static_assert(id.high() == 0x0123456789abf001 && id.low() == 0x020304050607080f);
    static_assert(id.timestamp_ms() == 0x0123456789ab && id.randomness() == randomness);
}

}  // namespace
}  // namespace snowdrift
