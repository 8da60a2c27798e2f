// Seals of 64-bit IDs, and the hash on which they are built.
#include "snowdrift/seal.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstdlib>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "vectors.hpp"

namespace snowdrift::test {
namespace {

using detail::HmacSha256;
using detail::Sha256;

std::vector<uint8_t> bytes_of(std::string_view text) { return {text.begin(), text.end()}; }

Seal::Key key_of(uint64_t seed) {
    std::mt19937_64 random{seed};
    Seal::Key key;
    for (uint8_t& byte : key) byte = static_cast<uint8_t>(random());
    return key;
}

/// How many bits of two UUIDs differ.
int distance(const Seal::Uuid& a, const Seal::Uuid& b) {
    int bits = 0;
    for (size_t i = 0; i < a.size(); ++i) bits += std::popcount(static_cast<unsigned>(a[i] ^ b[i]));
    return bits;
}

// FIPS 180-4's examples, and the rests at which the padding takes another block.
TEST(Sha256, HasThePublishedDigests) {
    const auto digest = [](std::string_view text) {
        return hex_of(Sha256{}.finish(0, bytes_of(text)));
    };
    EXPECT_EQ(digest("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(digest(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(digest(std::string(55, 'a')),
              "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
    EXPECT_EQ(digest(std::string(64, 'a')),
              "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
    EXPECT_EQ(digest(std::string(119, 'a')),
              "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb");
}

// RFC 4231, test case 4, whose key of 25 bytes is completed by zeros, as HMAC does.
TEST(HmacSha256, HasThePublishedCode) {
    HmacSha256::Key key{};
    for (uint8_t i = 0; i < 25; ++i) key[i] = static_cast<uint8_t>(i + 1);
    const std::vector<uint8_t> message(50, 0xcd);
    EXPECT_EQ(hex_of(HmacSha256{key}(message)),
              "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b");
}

TEST(Seal, IsThatOfTheVectors) {
    const auto rows = read_vectors("seals.tsv", 4);
    EXPECT_EQ(rows.size(), 1000u);
    for (const auto& row : rows) {
        const Seal seal{bytes_from_hex<32>(row[0]), row[1]};
        const int64_t id = std::strtoll(row[2].c_str(), nullptr, 10);
        const Seal::Uuid uuid = uuid_from_text(row[3]);
        EXPECT_EQ(hex_of(seal.seal(id)), hex_of(uuid)) << row[1] << ' ' << id;
        EXPECT_EQ(seal.unseal(uuid), id) << row[3];
    }
}

// UUIDs that open to an ID whose tag differs in one bit: only who has the key can make these.
TEST(Seal, IsRefusedIfOneBitIsWrong) {
    const auto rows = read_vectors("seals_invalid.tsv", 4);
    EXPECT_EQ(rows.size(), 76u);
    for (const auto& row : rows) {
        const Seal seal{bytes_from_hex<32>(row[0]), row[1]};
        EXPECT_EQ(seal.unseal(uuid_from_text(row[2])), std::nullopt) << row[3];
    }
}

TEST(Seal, IsMadeAtCompileTimeToo) {
    constexpr Seal seal{Seal::Key{}, "orders"};
    static_assert(seal.unseal(seal.seal(-1)) == -1);
    EXPECT_EQ(seal.seal(0), uuid_from_text("0a7b7102-c6fb-8fde-aa76-f7cb8bf37758"));
}

TEST(Seal, HasNamesOfPrintableAscii) {
    EXPECT_TRUE(Seal::is_name("a"));
    EXPECT_TRUE(Seal::is_name(" ~"));
    EXPECT_TRUE(Seal::is_name(std::string(63, 'a')));
    EXPECT_FALSE(Seal::is_name(""));
    EXPECT_FALSE(Seal::is_name(std::string(64, 'a')));
    for (const char* const name : {"a\n", "\x7f", "\xc3\xa4", "\x1f"})
        EXPECT_FALSE(Seal::is_name(name)) << name;
    EXPECT_FALSE(Seal::is_name(std::string_view{"\0", 1}));
}

TEST(Seal, IsDistinctAndRefusedByOtherNamesAndKeys) {
    const Seal::Key key = key_of(1);
    Seal::Key other = key;
    other[31] ^= 1;
    const Seal seal{key, "orders"};
    const Seal of_name{key, "order"};
    const Seal of_key{other, "orders"};
    std::set<Seal::Uuid> seals;
    for (int64_t id = 0; id < 20'000; ++id) {
        const Seal::Uuid uuid = seal.seal(id);
        seals.insert(uuid);
        EXPECT_EQ(seal.unseal(uuid), id);
        EXPECT_EQ(of_name.unseal(uuid), std::nullopt);
        EXPECT_EQ(of_key.unseal(uuid), std::nullopt);
    }
    EXPECT_EQ(seals.size(), 20'000u);
}

TEST(Seal, IsRefusedIfABitIsChanged) {
    const Seal seal{key_of(2), "orders"};
    for (int64_t id = 0; id < 200; ++id) {
        for (size_t bit = 0; bit < 128; ++bit) {
            Seal::Uuid uuid = seal.seal(id);
            uuid[bit / 8] ^= static_cast<uint8_t>(1u << bit % 8);
            EXPECT_EQ(seal.unseal(uuid), std::nullopt) << id << ' ' << bit;
        }
    }
}

TEST(Seal, IsRefusedIfItIsMadeOfTwoOrOfRandomBits) {
    const Seal seal{key_of(3), "orders"};
    std::mt19937_64 random{3};
    for (int64_t id = 0; id < 100'000; ++id) {
        const Seal::Uuid first = seal.seal(id);
        Seal::Uuid spliced = seal.seal(id + 1);
        std::copy_n(first.begin(), 8, spliced.begin());
        EXPECT_EQ(seal.unseal(spliced), std::nullopt);
        Seal::Uuid guess = first;
        for (uint8_t& byte : guess) byte = static_cast<uint8_t>(random());
        guess[6] = static_cast<uint8_t>((guess[6] & 0x0f) | 0x80);
        guess[8] = static_cast<uint8_t>((guess[8] & 0x3f) | 0x80);
        EXPECT_EQ(seal.unseal(guess), std::nullopt);
    }
}

// Each bit of the ID changes half of the 122 bits: 61 on average, here with a standard deviation of
// 5.5 / sqrt(64,000).
TEST(Seal, ChangesAsAWhole) {
    const Seal seal{key_of(4), "orders"};
    std::mt19937_64 random{4};
    int64_t changed = 0;
    for (int trial = 0; trial < 1000; ++trial) {
        const uint64_t id = random();
        for (int bit = 0; bit < 64; ++bit)
            changed += distance(seal.seal(static_cast<int64_t>(id)),
                                seal.seal(static_cast<int64_t>(id ^ uint64_t{1} << bit)));
    }
    EXPECT_NEAR(static_cast<double>(changed) / 64'000, 61.0, 0.15);
}

// The argument of docs/guarantees.md, with a tag of 10 bits instead of 58: a UUID is accepted with
// a probability of 2^-10, and equal tags, of which there are as many as among random numbers, show
// the XOR of two IDs.
TEST(Seal, WouldBeForgedIfTagsWereShort) {
    constexpr int tag_bits = 10;
    const HmacSha256 hmac{key_of(5)};
    const auto code = [&](uint8_t label, uint64_t number) {
        std::array<uint8_t, 9> message{label};
        store_big_endian(number, &message[1]);
        return load_big_endian(hmac(message).data());
    };
    const auto tag_of = [&](uint64_t id) { return code(1, id) >> (64 - tag_bits); };

    std::mt19937_64 random{5};
    int accepted = 0;
    constexpr int forgeries = 1 << 16;  // 64 are expected; 5 standard deviations are 40
    for (int i = 0; i < forgeries; ++i) {
        const uint64_t tag = random() >> (64 - tag_bits);
        accepted += tag_of(random() ^ code(2, tag)) == tag;
    }
    EXPECT_NEAR(accepted, 64, 40);

    std::vector<std::pair<uint64_t, uint64_t>> seals;  // tag and body
    int equal = 0;
    constexpr uint64_t ids = 512;  // 512 * 511 / 2 / 2^10 pairs are expected: 127.75
    for (uint64_t id = 0; id < ids; ++id) {
        const uint64_t tag = tag_of(id);
        const uint64_t body = id ^ code(2, tag);
        for (uint64_t other = 0; other < id; ++other) {
            if (seals[other].first != tag) continue;
            ++equal;
            EXPECT_EQ(seals[other].second ^ body, other ^ id);
        }
        seals.emplace_back(tag, body);
    }
    EXPECT_NEAR(equal, 128, 57);
}

}  // namespace
}  // namespace snowdrift::test
