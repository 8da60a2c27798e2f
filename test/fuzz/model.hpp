// A slow model of the ID formats and their text forms, with which the fuzz targets compare
// include/snowdrift. It follows the published formats and docs/, and uses no code of the library: a
// number is a string of binary digits. calendar.hpp models times, layout_model.hpp layouts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace snowdrift::model {

/// Holds every product and difference of the library's numbers.
__extension__ using Wide = __int128;

/// A number: '0' and '1', the most significant digit first.
using Bits = std::string;

/// The last `width` binary digits of an unsigned number.
template <typename Number>
Bits bits_of(Number number, size_t width) {
    Bits bits(width, '0');
    for (size_t i = width; i-- > 0; number /= 2)
        if (number % 2 == 1) bits[i] = '1';
    return bits;
}

template <typename Bytes>
Bits bits_of_bytes(const Bytes& bytes) {
    Bits bits;
    for (const auto byte : bytes) bits += bits_of(static_cast<uint8_t>(byte), 8);
    return bits;
}

/// The number that at most 64 digits denote.
inline uint64_t number_of(std::string_view bits) {
    uint64_t number = 0;
    for (const char bit : bits) number = number * 2 + (bit == '1');
    return number;
}

inline uint64_t field(const Bits& bits, size_t first, size_t width) {
    return number_of(bits.substr(first, width));
}

/// Adds `count` to the number. Digits above its width are lost.
inline Bits plus(Bits bits, uint64_t count) {
    for (; count > 0; --count) {
        size_t i = bits.size();
        while (i > 0 && bits[i - 1] == '1') bits[--i] = '0';
        if (i > 0) bits[i - 1] = '1';
    }
    return bits;
}

inline char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
inline char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

template <typename Change>
std::string mapped(std::string text, Change change) {
    for (char& c : text) c = change(c);
    return text;
}

// ---- Base32

inline constexpr std::string_view crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
inline constexpr std::string_view crockford_lower = "0123456789abcdefghjkmnpqrstvwxyz";
inline constexpr std::string_view sno_alphabet = "23456789abcdefghijklmnopqrstuvwx";

enum class Fault : uint8_t { none, length, character, overflow };

/// What a text denotes, or the first character that is wrong, from 0.
struct Decoded {
    Fault fault = Fault::none;
    size_t index = 0;
    Bits bits{};
};

inline std::string encode(Bits bits, std::string_view alphabet) {
    while (bits.size() % 5 != 0) bits.insert(0, "0");
    std::string text;
    for (size_t i = 0; i < bits.size(); i += 5) text += alphabet[number_of(bits.substr(i, 5))];
    return text;
}

/// Decodes a number of `width` digits.
inline Decoded decode(std::string_view text, size_t width, std::string_view alphabet,
                      bool either_case) {
    const size_t length = (width + 4) / 5;
    if (text.size() != length) return {Fault::length};
    Bits bits;
    for (size_t i = 0; i < length; ++i) {
        const size_t value = alphabet.find(either_case ? upper(text[i]) : text[i]);
        if (value == alphabet.npos) return {Fault::character, i};
        bits += bits_of(value, 5);
        if (bits.size() <= 5 && field(bits, 0, 5 * length - width) != 0)
            return {Fault::overflow, i};
    }
    return {Fault::none, 0, bits.substr(5 * length - width)};
}

// ---- Times

/// The first of `count` time units that does not begin before `time`; `count` if there is none.
/// Unit n begins at epoch + n * unit.
inline uint64_t first_unit(uint64_t count, Wide epoch, Wide unit, Wide time) {
    uint64_t begin = 0;
    uint64_t end = count;
    while (begin < end) {
        const uint64_t middle = begin + (end - begin) / 2;
        if (epoch + unit * middle < time)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

// ---- Formats. Each has the width of an ID; the epoch in Unix milliseconds, the unit in
// milliseconds and the width of the timestamp, which is first; of(): the ID with a timestamp in
// units and all other digits that are free set to `rest`; its text forms; and the number of
// smaller IDs.

struct Ulid {
    static constexpr size_t width = 128;
    static constexpr int64_t epoch = 0;
    static constexpr int64_t unit = 1;
    static constexpr size_t timestamp_width = 48;

    static Bits of(uint64_t units, char rest) { return bits_of(units, 48) + Bits(80, rest); }
    static std::string text(const Bits& bits) { return encode(bits, crockford); }
    static Decoded parse(std::string_view text) { return decode(text, width, crockford, true); }
    static Bits ordinal(const Bits& bits) { return bits; }
};

struct Sno {
    static constexpr size_t width = 80;
    static constexpr int64_t epoch = 1262304000000;
    static constexpr int64_t unit = 4;
    static constexpr size_t timestamp_width = 39;

    static Bits of(uint64_t units, char rest) { return bits_of(units, 39) + Bits(41, rest); }
    static std::string text(const Bits& bits) { return encode(bits, sno_alphabet); }
    static Decoded parse(std::string_view text) { return decode(text, width, sno_alphabet, false); }
    static Bits ordinal(const Bits& bits) { return bits; }
};

struct Uuidv7 {
    static constexpr size_t width = 128;
    static constexpr int64_t epoch = 0;
    static constexpr int64_t unit = 1;
    static constexpr size_t timestamp_width = 48;

    static bool is_version_7(const Bits& bits) {
        return bits.substr(48, 4) == "0111" && bits.substr(64, 2) == "10";
    }
    /// Sets the version and the variant.
    static Bits with_version_7(Bits bits) {
        return bits.replace(48, 4, "0111").replace(64, 2, "10");
    }
    static Bits of(uint64_t units, char rest) {
        return with_version_7(bits_of(units, 48) + Bits(80, rest));
    }
    static Bits randomness(const Bits& bits) { return bits.substr(52, 12) + bits.substr(66); }
    static Bits ordinal(const Bits& bits) { return bits.substr(0, 48) + randomness(bits); }

    /// The text of a UUID of any version.
    static std::string text(const Bits& bits) {
        std::string text;
        for (size_t i = 0; i < bits.size(); i += 4) {
            if (i == 32 || i == 48 || i == 64 || i == 80) text += '-';
            text += "0123456789abcdef"[field(bits, i, 4)];
        }
        return text;
    }

    static Decoded parse(std::string_view text) {
        constexpr std::string_view pattern = "hhhhhhhh-hhhh-7hhh-vhhh-hhhhhhhhhhhh";
        if (text.size() != pattern.size()) return {Fault::length};
        Bits bits;
        for (size_t i = 0; i < pattern.size(); ++i) {
            const std::string_view allowed = pattern[i] == '-'   ? "-"
                                             : pattern[i] == '7' ? "7"
                                             : pattern[i] == 'v' ? "89abAB"
                                                                 : "0123456789abcdefABCDEF";
            if (allowed.find(text[i]) == allowed.npos) return {Fault::character, i};
            if (pattern[i] != '-')
                bits += bits_of(std::string_view{"0123456789abcdef"}.find(lower(text[i])), 4);
        }
        return {Fault::none, 0, bits};
    }
};

template <typename Format>
int64_t unix_ms(const Bits& bits) {
    return Format::epoch +
           Format::unit * static_cast<int64_t>(field(bits, 0, Format::timestamp_width));
}

// ---- The text form of Snowflake IDs: 63 digits in 13 characters

inline std::string snowflake_text(uint64_t id) { return encode(bits_of(id, 63), crockford); }
inline Decoded parse_snowflake_text(std::string_view text) {
    return decode(text, 63, crockford, true);
}

// ---- TypeIDs

struct TypeId {
    enum class Fault : uint8_t {
        none,
        empty_prefix,
        prefix_character,
        prefix_length,
        prefix_end,
        suffix,
    };

    Fault fault = Fault::none;
    size_t index = 0;  ///< of the first wrong character of the prefix, or of the suffix
    std::string prefix{};
    Decoded suffix{};

    static std::string text(const std::string& prefix, const Bits& uuid) {
        return prefix + (prefix.empty() ? "" : "_") + encode(uuid, crockford_lower);
    }

    static TypeId check_prefix(const std::string& prefix) {
        for (size_t i = 0; i < prefix.size(); ++i)
            if ((prefix[i] < 'a' || prefix[i] > 'z') && prefix[i] != '_')
                return {Fault::prefix_character, i};
        if (prefix.size() > 63) return {Fault::prefix_length};
        if (!prefix.empty() && (prefix[0] == '_' || prefix[prefix.size() - 1] == '_'))
            return {Fault::prefix_end};
        return {};
    }

    static TypeId parse(const std::string& text) {
        size_t suffix = text.size();
        while (suffix > 0 && text[suffix - 1] != '_') --suffix;
        if (suffix == 1) return {Fault::empty_prefix};
        TypeId id;
        if (suffix > 0) {
            id = check_prefix(text.substr(0, suffix - 1));
            if (id.fault != Fault::none) return id;
            id.prefix = text.substr(0, suffix - 1);
        }
        id.suffix = decode(text.substr(suffix), 128, crockford_lower, false);
        if (id.suffix.fault != model::Fault::none) {
            id.fault = Fault::suffix;
            id.index = suffix;
        }
        return id;
    }
};

}  // namespace snowdrift::model
