// Base32 over a given alphabet, and parse errors. The headers of the formats define the text forms,
// and the alphabets that only one format has.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "snowdrift/endian.hpp"

namespace snowdrift {

/// The reason why a string is not an ID. Converts to true if there is an error.
struct [[nodiscard]] ParseError {
    enum class Reason : uint8_t {
        none,
        length,     ///< the text has the wrong number of characters
        character,  ///< the character at `index` is not allowed there
        overflow,   ///< the character at `index` makes the number too large for the format
    };

    Reason reason = Reason::none;
    size_t index = 0;  ///< character, overflow: index of the first invalid character, from 0

    constexpr explicit operator bool() const noexcept { return reason != Reason::none; }

    friend constexpr bool operator==(const ParseError&, const ParseError&) = default;
};

/// Crockford's alphabet. I, L and O are errors, although Crockford decodes them as 1, 1 and 0. U is
/// not in the alphabet.
struct CrockfordAlphabet {
    static constexpr char characters[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    static constexpr bool either_case = true;
};

/// Base32: five bits per character, most significant bits first, without padding. An alphabet is a
/// type that declares
///
///     static constexpr char characters[] = "...";  // for the values 0 to 31, in ascending order
///     static constexpr bool either_case = ...;     // whether decoding ignores case
///
/// Characters ascend, so strings of equal length sort as their numbers do. All tables are computed
/// at compile time.
///
/// Encoding looks up two characters at a time. Decoding looks up one character at a time in a table
/// of values that are already shifted to their position in a group of four. Neither branches.
template <typename Alphabet>
class Base32 {
 public:
    /// The value of a character, 0 .. 31; -1 if it is not in the alphabet.
    static constexpr int value(char c) noexcept { return values[static_cast<uint8_t>(c)]; }

    /// Writes the low 5 * length bits of `number` to `text` as `length` characters; higher bits are
    /// ignored. An even length, at most 12.
    template <size_t length>
    static constexpr void encode(uint64_t number, char* text) noexcept {
        static_assert(length >= 2 && length <= 12 && length % 2 == 0);
        const Pair pair = pairs[number % pairs.size()];
        text[length - 2] = pair.first;
        text[length - 1] = pair.second;
        if constexpr (length > 2) encode<length - 2>(number / pairs.size(), text);
    }

    /// Decodes the `length` characters at `text`, at most 12. Returns the number; a negative value
    /// if a character is not in the alphabet.
    template <size_t length>
    static constexpr int64_t decode(const char* text) noexcept {
        static_assert(length >= 1 && length <= 12);
        // An invalid character decodes to -1. Further shifts and ORs preserve the sign bit.
        if constexpr (length > group) {
            return decode<length - group>(text) << (5 * group) |
                   decode<group>(text + length - group);
        } else {
            const int32_t first = shifted_values[length - 1][static_cast<uint8_t>(*text)];
            if constexpr (length == 1)
                return first;
            else
                return first | decode<length - 1>(text + 1);
        }
    }

    /// The number of characters that encode 128 bits. They hold 130 bits; the first two are zero.
    static constexpr size_t size_of_128_bits = 26;

    /// Writes 16 bytes to `text` as 26 characters. Returns the end of the characters.
    static constexpr char* encode_128(const std::array<uint8_t, 16>& bytes, char* text) noexcept {
        encode<10>(load_big_endian(bytes.data()) >> 16, text);
        encode<8>(load_big_endian(bytes.data() + 3), text + 10);
        encode<8>(load_big_endian(bytes.data() + 8), text + 18);
        return text + size_of_128_bits;
    }

    /// Decodes a string of 26 characters. Sets `bytes`, or returns an error and leaves `bytes`
    /// unchanged. A first character with a value above 7 is an overflow.
    static constexpr ParseError decode_128(std::string_view characters,
                                           std::array<uint8_t, 16>& bytes) noexcept {
        if (characters.size() != size_of_128_bits) [[unlikely]]
            return {ParseError::Reason::length};
        const char* const text = characters.data();
        const int64_t first = decode<10>(text);
        const int64_t upper = decode<8>(text + 10);
        const int64_t lower = decode<8>(text + 18);
        if ((first | upper | lower) < 0 || first >> 48 != 0) [[unlikely]] {
            if (value(text[0]) > 7) return {ParseError::Reason::overflow, 0};
            return {ParseError::Reason::character, find_wrong(text, size_of_128_bits)};
        }
        store_big_endian(static_cast<uint64_t>(first << 16 | upper >> 24), bytes.data());
        store_big_endian(static_cast<uint64_t>(upper << 40 | lower), bytes.data() + 8);
        return {};
    }

    /// The index, from 0, of the first of the `length` characters at `text` that is not in the
    /// alphabet; `length` if there is none.
    [[gnu::cold, gnu::noinline]] static constexpr size_t find_wrong(const char* text,
                                                                    size_t length) noexcept {
        size_t index = 0;
        while (index < length && value(text[index]) >= 0) ++index;
        return index;
    }

 private:
    struct Pair {
        char first, second;
    };

    static_assert(sizeof(Alphabet::characters) == 32 + 1);
    static_assert(
        [] {
            for (size_t i = 1; i < 32; ++i)
                if (Alphabet::characters[i - 1] >= Alphabet::characters[i]) return false;
            return true;
        }(),
        "the characters of an alphabet must ascend");

    static constexpr auto pairs = [] {
        std::array<Pair, 32 * 32> table{};
        for (size_t i = 0; i < table.size(); ++i)
            table[i] = {Alphabet::characters[i / 32], Alphabet::characters[i % 32]};
        return table;
    }();

    /// The number of characters per lookup group: 20 bits and the sign fit into 32 bits.
    static constexpr size_t group = 4;

    static constexpr auto values = [] {
        std::array<int8_t, 256> table{};
        table.fill(-1);
        for (int8_t i = 0; i < 32; ++i) {
            const char c = Alphabet::characters[i];
            table[static_cast<uint8_t>(c)] = i;
            if (Alphabet::either_case && c >= 'A' && c <= 'Z')
                table[static_cast<uint8_t>(c - 'A' + 'a')] = i;
        }
        return table;
    }();

    static constexpr auto shifted_values = [] {
        std::array<std::array<int32_t, 256>, group> tables{};
        for (size_t position = 0; position < group; ++position)
            for (size_t c = 0; c < 256; ++c)
                tables[position][c] = values[c] < 0 ? -1 : values[c] << (5 * position);
        return tables;
    }();
};

}  // namespace snowdrift
