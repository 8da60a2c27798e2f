// The operations of the core that are measured in isolation: encoding and decoding of text, by the
// library and by a plain loop over a table, compiled with the same flags; the steps of the
// generators, without reading a clock; and the generators for programs, which read it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <random>
#include <string_view>

#include "snowdrift/core/block_generator.hpp"
#include "snowdrift/core/sno_generator.hpp"
#include "snowdrift/core/snowflake_generator.hpp"
#include "snowdrift/generators.hpp"
#include "snowdrift/snowflake_presets.hpp"
#include "snowdrift/ulid.hpp"
#include "snowdrift/uuidv7.hpp"

// Boost 1.86 and later, if it is installed
#if __has_include(<boost/uuid/time_generator_v7.hpp>)
#include <boost/uuid/time_generator_v7.hpp>
#define SNOWDRIFT_BENCH_BOOST
#endif

namespace snowdrift::bench {

/// An operation that one call of `run` performs `count` times.
struct Operation {
    const char* name;
    void (*run)();
};

/// Conversion between an ID and its bits as a number.
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
        store_big_endian(static_cast<uint16_t>(bits), bytes.data() + 8);
        return Sno{bytes};
    }
};

/// The plain loop, which looks up one character at a time in a table.
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

/// The library's codec.
template <typename Bits>
struct Snowdrift {
    using Id = typename Bits::Id;

    static void encode(const Id& id, char* text) { id.format(text); }

    static bool decode(std::string_view text, Id& id) { return !Id::parse(text, id); }
};

/// The number of IDs. They and their text forms fit into the first-level cache.
inline constexpr size_t count = 256;

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

/// A compiler barrier: results in memory count as used, and memory counts as modified.
inline void keep() { asm volatile("" ::: "memory"); }

template <typename Codec>
struct Texts {
    static inline std::array<typename Codec::Id, count> ids = random_ids<typename Codec::Id>();
    static inline std::array<typename Codec::Id::Text, count> texts = [] {
        std::array<typename Codec::Id::Text, count> texts;
        for (size_t i = 0; i < count; ++i) texts[i] = ids[i].text();
        return texts;
    }();
};

template <typename Codec>
[[gnu::noinline]] void encode() {
    keep();
    for (size_t i = 0; i < count; ++i)
        Codec::encode(Texts<Codec>::ids[i], Texts<Codec>::texts[i].data());
    keep();
}

template <typename Codec>
[[gnu::noinline]] void decode() {
    keep();
    for (size_t i = 0; i < count; ++i) {
        const auto& text = Texts<Codec>::texts[i];
        if (!Codec::decode({text.data(), text.size()}, Texts<Codec>::ids[i])) __builtin_trap();
    }
    keep();
}

/// Returns a later time, in Unix milliseconds, at each call.
inline int64_t next_ms() {
    static int64_t ms = 1767268800000;
    return ms += Sno::unit_ms;
}

[[gnu::noinline]] inline void draw_snowflakes() {
    static const core::SnowflakeGenerator generator{presets::snowflake, 67};
    static std::atomic<uint64_t> word{0};
    const int64_t now = next_ms();
    int64_t id;
    for (size_t i = 0; i < count; ++i) {
        if (!generator.try_next(word, now, id)) __builtin_trap();
        keep();
    }
}

[[gnu::noinline]] inline void draw_snos() {
    static const core::SnoGenerator generator{67, 0, UINT16_MAX};
    static core::SnoState state{};
    const int64_t now = next_ms();
    Sno id;
    for (size_t i = 0; i < count; ++i) {
        if (!generator.try_next(state, now, 0, id)) __builtin_trap();
        keep();
    }
}

template <typename Id>
[[gnu::noinline]] void draw_blocks() {
    static core::BlockGenerator<Id> generator;
    const int64_t now = next_ms();
    for (size_t i = 0; i < count; ++i) {
        core::Request request;
        if (generator.next(now, 0, {1, i}, request).verdict != core::Verdict::issued)
            __builtin_trap();
        keep();
    }
}

template <typename Id>
[[gnu::noinline]] void take_ids() {
    static core::IdBlock<Id> block{Id::boundary(time_of(next_ms()))};
    static Id last;
    for (size_t i = 0; i < count; ++i) {
        last = block.take();
        keep();
    }
}

[[gnu::noinline]] inline void read_clock() {
    for (size_t i = 0; i < count; ++i) asm volatile("" : : "r"(SystemClock::now_ms()) : "memory");
}

/// A layout whose sequence is not used up, so that the generator never waits.
inline constexpr SnowflakeLayout wide_layout{1609459200000, 41, 0, 0, 23};

/// Draws from a generator for programs.
template <typename Generator>
[[gnu::noinline]] void draw_all(Generator& generator) {
    static typename Generator::Id last;
    for (size_t i = 0; i < count; ++i) {
        last = generator.next();
        keep();
    }
}

inline void draw_program_snowflakes() {
    static SnowflakeGeneratorOf<wide_layout> generator{0};
    draw_all(generator);
}

template <typename Id>
void draw_program_ids() {
    static MonotonicGenerator<Id> generator;
    draw_all(generator);
}

#ifdef SNOWDRIFT_BENCH_BOOST
[[gnu::noinline]] inline void draw_boost_uuids() {
    static boost::uuids::time_generator_v7 generator;  // not thread-safe
    static boost::uuids::uuid last;
    for (size_t i = 0; i < count; ++i) {
        last = generator();
        keep();
    }
}
#endif

/// The same operation by the library and by the plain loop.
struct Pair {
    Operation ours, plain;
};

inline constexpr Pair codec_pairs[] = {
    {{"encode sno", encode<Snowdrift<SnoBits>>}, {"encode sno, plain", encode<Plain<SnoBits>>}},
    {{"decode sno", decode<Snowdrift<SnoBits>>}, {"decode sno, plain", decode<Plain<SnoBits>>}},
    {{"encode ulid", encode<Snowdrift<UlidBits>>}, {"encode ulid, plain", encode<Plain<UlidBits>>}},
    {{"decode ulid", decode<Snowdrift<UlidBits>>}, {"decode ulid, plain", decode<Plain<UlidBits>>}},
};

inline constexpr Operation generator_steps[] = {
    {"Snowflake", draw_snowflakes},          {"sno", draw_snos},
    {"block of ULIDs", draw_blocks<Ulid>},   {"ULID of a block", take_ids<Ulid>},
    {"block of UUIDs", draw_blocks<Uuidv7>}, {"UUID of a block", take_ids<Uuidv7>},
};

inline constexpr Operation program_generators[] = {
    {"reading the clock", read_clock},
    {"SnowflakeGenerator", draw_program_snowflakes},
    {"UlidGenerator", draw_program_ids<Ulid>},
    {"Uuidv7Generator", draw_program_ids<Uuidv7>},
#ifdef SNOWDRIFT_BENCH_BOOST
    {"boost::uuids::time_generator_v7", draw_boost_uuids},
#endif
};

template <typename Visit>
void for_each_operation(Visit visit) {
    for (const auto& [ours, plain] : codec_pairs) {
        visit(ours);
        visit(plain);
    }
    for (const Operation& step : generator_steps) visit(step);
    for (const Operation& generator : program_generators) visit(generator);
}

}  // namespace snowdrift::bench
