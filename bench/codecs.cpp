// Text out and in, sno and ULID: our codec against the plain loop over a table that one would write
// first, compiled with the same flags. A time is that of 256 random IDs, the same for both.
#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>
#include <random>
#include <string_view>

#include "snowdrift/sno.hpp"
#include "snowdrift/ulid.hpp"

namespace {

using namespace snowdrift;

/// An ID's bits as one number, and back.
struct UlidBits {
    using Id = Ulid;
    using Alphabet = CrockfordAlphabet;

    static unsigned __int128 of(const Ulid& id) {
        return static_cast<unsigned __int128>(id.high()) << 64 | id.low();
    }
    static Ulid id(unsigned __int128 bits) {
        return {static_cast<uint64_t>(bits >> 64), static_cast<uint64_t>(bits)};
    }
};

struct SnoBits {
    using Id = Sno;
    using Alphabet = SnoAlphabet;

    static unsigned __int128 of(const Sno& id) {
        return static_cast<unsigned __int128>(id.high()) << 16 | id.sequence();
    }
    static Sno id(unsigned __int128 bits) {
        Sno::Bytes bytes;
        store_big_endian(static_cast<uint64_t>(bits >> 16), bytes.data());
        bytes[8] = static_cast<uint8_t>(bits >> 8);
        bytes[9] = static_cast<uint8_t>(bits);
        return Sno{bytes};
    }
};

/// The plain loop: a character at a time, through a table.
template <typename Bits>
struct Plain {
    using Id = typename Bits::Id;

    static void encode(const Id& id, char* text) {
        auto bits = Bits::of(id);
        for (size_t i = Id::text_size; i-- > 0; bits >>= 5)
            text[i] = Bits::Alphabet::characters[static_cast<unsigned>(bits) & 31];
    }

    static bool decode(std::string_view text, Id& id) {
        if (text.size() != Id::text_size) return false;
        unsigned __int128 bits = 0;
        for (const char c : text) {
            const int value = Base32<typename Bits::Alphabet>::value(c);
            if (value < 0) return false;
            bits = bits << 5 | static_cast<unsigned>(value);
        }
        id = Bits::id(bits);
        return true;
    }
};

/// The library.
template <typename Bits>
struct Snowdrift {
    using Id = typename Bits::Id;

    static void encode(const Id& id, char* text) { id.format(text); }

    static bool decode(std::string_view text, Id& id) { return !Id::parse(text, id); }
};

/// So many IDs and their texts stay in the first-level cache.
constexpr size_t count = 256;

template <typename Id>
std::array<Id, count> random_ids() {
    std::mt19937_64 random{1};
    std::array<Id, count> ids;
    for (Id& id : ids) {
        typename Id::Bytes bytes;
        for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
        id = Id{bytes};
    }
    return ids;
}

template <typename Codec>
void encode(benchmark::State& state) {
    auto ids = random_ids<typename Codec::Id>();
    std::array<typename Codec::Id::Text, count> texts;
    for (auto _ : state) {
        benchmark::DoNotOptimize(ids);
        for (size_t i = 0; i < count; ++i) Codec::encode(ids[i], texts[i].data());
        benchmark::DoNotOptimize(texts);
    }
    state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(count));
}

template <typename Codec>
void decode(benchmark::State& state) {
    auto ids = random_ids<typename Codec::Id>();
    std::array<typename Codec::Id::Text, count> texts;
    for (size_t i = 0; i < count; ++i) texts[i] = ids[i].text();
    for (auto _ : state) {
        benchmark::DoNotOptimize(texts);
        for (size_t i = 0; i < count; ++i)
            if (!Codec::decode({texts[i].data(), texts[i].size()}, ids[i]))
                return state.SkipWithError("a text was rejected");
        benchmark::DoNotOptimize(ids);
    }
    state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(count));
}

BENCHMARK_TEMPLATE(encode, Plain<SnoBits>);
BENCHMARK_TEMPLATE(encode, Snowdrift<SnoBits>);
BENCHMARK_TEMPLATE(decode, Plain<SnoBits>);
BENCHMARK_TEMPLATE(decode, Snowdrift<SnoBits>);
BENCHMARK_TEMPLATE(encode, Plain<UlidBits>);
BENCHMARK_TEMPLATE(encode, Snowdrift<UlidBits>);
BENCHMARK_TEMPLATE(decode, Plain<UlidBits>);
BENCHMARK_TEMPLATE(decode, Snowdrift<UlidBits>);

}  // namespace

BENCHMARK_MAIN();
