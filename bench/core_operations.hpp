// The core's operations that are measured by themselves: text out and in, by our codec and by the
// plain loop over a table that one would write first, compiled with the same flags; and the
// generators' steps, with a time that is at hand.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <random>
#include <string_view>

#include "core/sno_generator.hpp"
#include "core/snowflake_generator.hpp"
#include "core/ulid_generator.hpp"
#include "snowdrift/snowflake_presets.hpp"

namespace snowdrift::bench {

/// Something done `count` times by a call of `run`.
struct Operation {
    const char* name;
    void (*run)();
};

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
        store_big_endian(static_cast<uint16_t>(bits), bytes.data() + 8);
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

/// All that was computed counts as used, and nothing is known of memory any more.
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

/// Each call has a millisecond of its own.
inline int64_t next_ms() {
    static int64_t ms = 1767268800000;
    return ms += Sno::unit_ms;
}

[[gnu::noinline]] inline void draw_snowflakes() {
    static const SnowflakeGenerator generator{presets::snowflake, 67};
    static std::atomic<uint64_t> word{0};
    const int64_t now = next_ms();
    int64_t id;
    for (size_t i = 0; i < count; ++i) {
        if (!generator.try_next(word, now, id)) __builtin_trap();
        keep();
    }
}

[[gnu::noinline]] inline void draw_snos() {
    static const SnoGenerator generator{67, 0, UINT16_MAX};
    static SnoState state{};
    const int64_t now = next_ms();
    Sno id;
    for (size_t i = 0; i < count; ++i) {
        if (!generator.try_next(state, now, 0, id)) __builtin_trap();
        keep();
    }
}

[[gnu::noinline]] inline void draw_ulid_blocks() {
    static UlidGenerator generator;
    const int64_t now = next_ms();
    for (size_t i = 0; i < count; ++i) {
        Request request;
        if (generator.next(now, 0, {1, i}, request).verdict != Verdict::issued) __builtin_trap();
        keep();
    }
}

[[gnu::noinline]] inline void take_ulids() {
    static UlidBlock block{Ulid::boundary(next_ms())};
    static Ulid last;
    for (size_t i = 0; i < count; ++i) {
        last = block.take();
        keep();
    }
}

/// A codec's operation, and the plain loop's.
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
    {"Snowflake", draw_snowflakes},
    {"sno", draw_snos},
    {"block of ULIDs", draw_ulid_blocks},
    {"ULID of a block", take_ulids},
};

template <typename Visit>
void for_each_operation(Visit visit) {
    for (const auto& [ours, plain] : codec_pairs) {
        visit(ours);
        visit(plain);
    }
    for (const Operation& step : generator_steps) visit(step);
}

}  // namespace snowdrift::bench
