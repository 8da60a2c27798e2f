// sno IDs: text form, order, fields and boundaries.
#include "snowdrift/sno.hpp"

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

constexpr std::string_view accepted = "23456789abcdefghijklmnopqrstuvwx";

/// Random IDs per test. test/fuzz/sno_fuzz.cpp checks the same properties of more IDs.
constexpr int rounds = 10'000;

constexpr int64_t epoch = Sno::epoch_unix_ms;

constexpr SnoParts example_parts{179419728728, true, 100, 48923, 38843};
constexpr Sno example = Sno::compose(example_parts);
constexpr std::string_view example_text = "cg89x7njekxjp7vt";

constexpr Sno untouched = Sno::compose({.units = 1, .sequence = 2});

struct Parsed {
    Sno id = untouched;
    ParseError error;
};

constexpr Parsed parse(std::string_view text) {
    Parsed parsed;
    parsed.error = Sno::parse(text, parsed.id);
    return parsed;
}

static_assert(!parse(example_text).error && parse(example_text).id == example);
static_assert(parse({example.text().data(), Sno::text_size}).id == example);
static_assert(example.timestamp_ms() == 1979982914912 && example.split() == example_parts);
static_assert(Sno{example.bytes()} == example);
static_assert(Sno::nil() < example && Sno{} == Sno::nil());
static_assert(parse("cg89x7njekxjp7v").error);

std::string text_of(const Sno& id) {
    const Sno::Text text = id.text();
    return {text.begin(), text.end()};
}

int sign(std::strong_ordering order) { return order < 0 ? -1 : order > 0; }
int sign(int order) { return order < 0 ? -1 : order > 0; }

/// The index of the first invalid character of a text of 16, found by checking each of them.
ParseError error_of(std::string_view text) {
    const size_t wrong = text.find_first_not_of(accepted);
    return wrong == text.npos ? ParseError{} : ParseError{Reason::character, wrong};
}

Sno random_sno(std::mt19937_64& random) {
    Sno::Bytes bytes;
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    return Sno{bytes};
}

TEST(Sno, AgreesWithTheReferenceBothWays) {
    const auto rows = test::read_vectors("sno_ids.tsv", 7);
    ASSERT_GE(rows.size(), 100U);
    for (const auto& row : rows) {
        const Sno id{test::bytes_from_hex<Sno::size>(row[0])};
        EXPECT_EQ(text_of(id), row[1]);
        EXPECT_EQ(std::to_string(id.timestamp_ms()), row[2]);
        EXPECT_EQ(std::to_string(id.tick()), row[3]);
        EXPECT_EQ(std::to_string(id.metabyte()), row[4]);
        EXPECT_EQ(std::to_string(id.partition()), row[5]);
        EXPECT_EQ(std::to_string(id.sequence()), row[6]);

        const Parsed parsed = parse(row[1]);
        EXPECT_EQ(parsed.error, ParseError{}) << row[1];
        EXPECT_EQ(parsed.id, id);
        EXPECT_EQ(Sno::compose({.units = Sno::units_at(time_of(std::stoll(row[2]))),
                                .tick = row[3] == "1",
                                .metabyte = static_cast<uint8_t>(std::stoul(row[4])),
                                .partition = static_cast<uint16_t>(std::stoul(row[5])),
                                .sequence = static_cast<uint16_t>(std::stoul(row[6]))}),
                  id);
    }
}

TEST(Sno, ParsesWhatItFormats) {
    std::mt19937_64 random{1};
    for (int i = 0; i < rounds; ++i) {
        const Sno id = random_sno(random);
        const Parsed parsed = parse(text_of(id));
        ASSERT_FALSE(parsed.error);
        ASSERT_EQ(parsed.id, id);
        ASSERT_EQ(Sno{id.bytes()}, id);
        ASSERT_EQ(Sno::compose(id.split()), id);
    }
}

TEST(Sno, FormatsIntoExactlyTheSixteenBytesOfAUuid) {
    std::string buffer(1 + 16 + 1, '!');
    EXPECT_EQ(example.format(buffer.data() + 1), buffer.data() + 1 + 16);
    EXPECT_EQ(buffer, "!" + std::string{example_text} + "!");
}

TEST(Sno, OrdersAsItsBytesAndItsTextDo) {
    std::mt19937_64 random{2};
    for (int i = 0; i < rounds; ++i) {
        const Sno a = random_sno(random);
        Sno::Bytes bytes = random_sno(random).bytes();
        const size_t equal = random() % (Sno::size + 1);  // this many leading bytes
        std::copy_n(a.bytes().begin(), equal, bytes.begin());
        const Sno b{bytes};

        const int order = sign(a <=> b);
        ASSERT_EQ(order, sign(std::memcmp(&a, &b, sizeof(Sno))));
        ASSERT_EQ(order, sign(text_of(a).compare(text_of(b))));
        ASSERT_EQ(a == b, order == 0);
    }
}

TEST(Sno, AcceptsAndRejectsEachByteAtEachPosition) {
    for (size_t position = 0; position < Sno::text_size; ++position) {
        for (int byte = 0; byte < 256; ++byte) {
            std::string text{example_text};
            text[position] = static_cast<char>(byte);
            ASSERT_EQ(parse(text).error, error_of(text)) << byte << " at " << position;
        }
    }
}

TEST(Sno, ReportsTheFirstOfSeveralWrongCharacters) {
    std::mt19937_64 random{3};
    for (int i = 0; i < rounds; ++i) {
        std::string text = text_of(random_sno(random));
        for (uint64_t wrong = random() % 4; wrong > 0; --wrong)
            text[random() % text.size()] = static_cast<char>(random());
        const Parsed parsed = parse(text);
        ASSERT_EQ(parsed.error, error_of(text)) << testing::PrintToString(text);
        ASSERT_TRUE(!parsed.error || parsed.id == untouched) << "changed on an error";
    }
}

TEST(Sno, ParsesTextsOfSixteenCharactersOnly) {
    for (size_t length = 0; length <= 40; ++length) {
        const ParseError expected{length == Sno::text_size ? Reason::none : Reason::length};
        EXPECT_EQ(parse(std::string(length, '2')).error, expected) << length;
    }
    EXPECT_EQ(parse({}).error, ParseError{Reason::length});
    EXPECT_EQ(parse("!").error, ParseError{Reason::length});
}

TEST(Sno, CarriesTimesFrom2010To2079) {
    EXPECT_FALSE(Sno::contains_time(time_of(1262304000000 - 1)));
    EXPECT_TRUE(Sno::contains_time(time_of(1262304000000)));
    EXPECT_TRUE(Sno::contains_time(time_of(3461327255548)));
    EXPECT_FALSE(Sno::contains_time(time_of(3461327255549)));
    EXPECT_EQ(Sno::nil().timestamp_ms(), 1262304000000);
    EXPECT_EQ(Sno::compose({.units = Sno::max_units}).timestamp_ms(), 3461327255548);
}

TEST(Sno, HasABoundaryThatSplitsIdsByTheirTime) {
    std::mt19937_64 random{4};
    for (int i = 0; i < rounds; ++i) {
        int64_t time = epoch + static_cast<int64_t>(random() % (Sno::max_units * 4 + 1));
        if (i <= 16) time = epoch + i;
        if (i > 16 && i <= 32) time = Sno::max_timestamp_ms - (i - 17);
        const uint64_t units = Sno::units_at(time_of(time));
        for (const uint64_t other : {units - 1, units, units + 1}) {
            if (other > Sno::max_units) continue;
            const Sno least = Sno::compose({other, false, 0, 0, 0});
            const Sno greatest = Sno::compose({other, true, 255, 65535, 65535});
            ASSERT_EQ(Sno::boundary(time_of(time)) <= least, least.timestamp_ms() >= time) << time;
            ASSERT_EQ(Sno::boundary(time_of(time)) <= greatest, greatest.timestamp_ms() >= time)
                << time;
            if (time == epoch) continue;
            ASSERT_EQ(Sno::last_before(time_of(time)) < least, least.timestamp_ms() >= time)
                << time;
            ASSERT_EQ(Sno::last_before(time_of(time)) < greatest, greatest.timestamp_ms() >= time)
                << time;
        }
    }
}

TEST(Sno, ReplacesOneFieldAndKeepsTheOthers) {
    std::mt19937_64 random{5};
    for (int i = 0; i < rounds; ++i) {
        const Sno id = random_sno(random);
        SnoParts parts = id.split();
        parts.metabyte = static_cast<uint8_t>(random());
        ASSERT_EQ(id.with_metabyte(parts.metabyte).split(), parts);

        parts = id.split();
        parts.partition = static_cast<uint16_t>(random());
        ASSERT_EQ(id.with_partition(parts.partition).split(), parts);

        parts = id.split();
        parts.sequence = static_cast<uint16_t>(random());
        ASSERT_EQ(id.with_sequence(parts.sequence).split(), parts);
    }
}

TEST(Sno, LaysOutItsFieldsBigEndian) {
    constexpr Sno id = Sno::compose({0x4091a2b3c4, true, 0xab, 0xcdef, 0x1357});
    constexpr Sno::Bytes bytes{0x81, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x13, 0x57};
    static_assert(id.bytes() == bytes && id.high() == 0x8123456789abcdef);
    static_assert(id.units() == 0x4091a2b3c4 && id.tick() && id.metabyte() == 0xab);
    static_assert(id.partition() == 0xcdef && id.sequence() == 0x1357);
}

}  // namespace
}  // namespace snowdrift
