// Blocks of Base32 in each alphabet of the library, and in another one. The tests of the
// formats test whole strings.
#include "snowdrift/base32.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cctype>
#include <cstdint>
#include <random>
#include <string_view>
#include <utility>

#include "snowdrift/sno.hpp"
#include "snowdrift/typeid.hpp"

namespace snowdrift {
namespace {

template <typename Alphabet>
class AnyAlphabet : public testing::Test {
 protected:
    static constexpr std::string_view characters{Alphabet::characters};

    /// The value of a character, found by a search of the alphabet; -1 if it has none.
    static int value_of(char c) {
        if (Alphabet::either_case && c >= 'a' && c <= 'z')
            c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
        const size_t index = characters.find(c);
        return index == characters.npos ? -1 : static_cast<int>(index);
    }
};

/// RFC 4648's base32hex, which has upper-case letters, and only these, unlike the library's
/// alphabets.
struct CapitalsAlphabet {
    static constexpr char characters[] = "0123456789ABCDEFGHIJKLMNOPQRSTUV";
    static constexpr bool either_case = false;
};

using Alphabets = testing::Types<CrockfordAlphabet, SnoAlphabet, TypeIdAlphabet, CapitalsAlphabet>;
TYPED_TEST_SUITE(AnyAlphabet, Alphabets);

TYPED_TEST(AnyAlphabet, GivesEachOfThe256BytesItsValueOrNone) {
    int accepted = 0;
    for (int byte = 0; byte < 256; ++byte) {
        const char c = static_cast<char>(byte);
        EXPECT_EQ(Base32<TypeParam>::value(c), this->value_of(c)) << "byte " << byte;
        accepted += this->value_of(c) >= 0;
    }
    EXPECT_EQ(accepted, TypeParam::either_case ? 32 + 22 : 32);
}

TYPED_TEST(AnyAlphabet, WritesAndReadsTheMostSignificantBitsFirst) {
    std::array<char, 12> text{};
    Base32<TypeParam>::template encode<12>(uint64_t{31} << 55 | 1, text.data());
    for (size_t i = 0; i < text.size(); ++i)
        EXPECT_EQ(Base32<TypeParam>::value(text[i]), i == 0 ? 31 : i == 11 ? 1 : 0);
    EXPECT_EQ(Base32<TypeParam>::template decode<12>(text.data()), int64_t{31} << 55 | 1);
}

TYPED_TEST(AnyAlphabet, DecodesWhatItEncodesInBlocksOfEveryLength) {
    using Codec = Base32<TypeParam>;
    std::mt19937_64 random{1};
    const auto try_length = [&]<size_t length>() {
        for (int i = 0; i < 100'000; ++i) {
            const uint64_t number = random();
            std::array<char, length + 2> text{};
            text.fill('!');
            Codec::template encode<length>(number, text.data() + 1);
            ASSERT_EQ(text.front(), '!');
            ASSERT_EQ(text.back(), '!');
            ASSERT_EQ(Codec::template decode<length>(text.data() + 1),
                      static_cast<int64_t>(number % (uint64_t{1} << 5 * length)));
        }
    };
    [&]<size_t... half>(std::index_sequence<half...>) {
        (try_length.template operator()<2 * (half + 1)>(), ...);
    }
    (std::make_index_sequence<6>{});
}

TYPED_TEST(AnyAlphabet, DecodesToANegativeNumberWhereverACharacterIsWrong) {
    using Codec = Base32<TypeParam>;
    for (const char filler : {this->characters.front(), this->characters.back()}) {
        for (size_t position = 0; position < 12; ++position) {
            for (int byte = 0; byte < 256; ++byte) {
                std::array<char, 12> text{};
                text.fill(filler);
                text[position] = static_cast<char>(byte);
                const bool right = this->value_of(text[position]) >= 0;
                ASSERT_EQ(Codec::template decode<12>(text.data()) >= 0, right)
                    << "byte " << byte << " at " << position;
                ASSERT_EQ(Codec::find_wrong(text.data(), 12), right ? 12 : position);
            }
        }
    }
}

TYPED_TEST(AnyAlphabet, FindsTheFirstOfSeveralWrongCharacters) {
    std::array<char, 12> text{};
    text.fill(this->characters.front());
    for (size_t first = text.size(); first-- > 0;) {
        text[first] = '\0';
        EXPECT_EQ(Base32<TypeParam>::find_wrong(text.data(), text.size()), first);
        EXPECT_LT(Base32<TypeParam>::template decode<12>(text.data()), 0);
    }
}

}  // namespace
}  // namespace snowdrift
