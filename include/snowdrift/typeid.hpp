// TypeIDs, as https://github.com/jetify-com/typeid (version 0.3.0 of its specification) defines
// them: the name of a type, followed by a UUID, as in user_01h455vb4pex5vsknk084sn02q.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "snowdrift/base32.hpp"

namespace snowdrift {

/// Crockford's alphabet in lower case only.
struct TypeIdAlphabet {
    static constexpr char characters[] = "0123456789abcdefghjkmnpqrstvwxyz";
    static constexpr bool either_case = false;
};

/// A TypeID: a prefix, which names a type, and a UUID of any version. Its text is the prefix, an
/// underscore and the suffix: the UUID's 128 bits, the most significant first, as 26 characters of
/// base32. If the prefix is empty, the text is the suffix alone. TypeIDs with the same prefix sort
/// as their UUIDs do.
struct TypeId {
    static constexpr size_t max_prefix_size = 63;  ///< in characters
    static constexpr size_t suffix_size = Base32<TypeIdAlphabet>::size_of_128_bits;
    static constexpr size_t max_text_size = max_prefix_size + 1 + suffix_size;
    static constexpr char separator = '_';

    using Uuid = std::array<uint8_t, 16>;  ///< big-endian

    /// The reason why a string is not a TypeID, or not a prefix. Converts to true if there is an
    /// error.
    struct [[nodiscard]] Error {
        enum class Reason : uint8_t {
            none,
            empty_prefix,      ///< the text begins with its separator
            prefix_character,  ///< the character at `index` is not in a-z or _
            prefix_length,     ///< the prefix has more than 63 characters
            prefix_end,        ///< the prefix begins or ends with _
            suffix,            ///< the text from `index` on is not a suffix, because of `suffix`
        };

        Reason reason = Reason::none;
        size_t index = 0;  ///< in bytes, from 0
        ParseError suffix{};

        constexpr explicit operator bool() const noexcept { return reason != Reason::none; }

        friend constexpr bool operator==(const Error&, const Error&) = default;
    };

    std::string_view prefix;  ///< 0 to 63 characters a-z and _; neither begins nor ends with _
    Uuid uuid{};

    /// Checks the rules for prefixes. An empty prefix is valid.
    static constexpr Error check_prefix(std::string_view prefix) noexcept {
        const size_t wrong = prefix.find_first_not_of("abcdefghijklmnopqrstuvwxyz_");
        if (wrong != prefix.npos) return {Error::Reason::prefix_character, wrong};
        if (prefix.size() > max_prefix_size) return {Error::Reason::prefix_length};
        if (prefix.starts_with(separator) || prefix.ends_with(separator))
            return {Error::Reason::prefix_end};
        return {};
    }

    /// Parses a string; its last underscore is the separator. Sets `id`, whose prefix is a part of
    /// `text`, or returns the first error in the order of Reason and leaves `id` unchanged.
    static constexpr Error parse(std::string_view text, TypeId& id) noexcept {
        const size_t found = text.rfind(separator);
        if (found == 0) return {Error::Reason::empty_prefix};
        const bool has_prefix = found != text.npos;
        const std::string_view prefix{text.data(), has_prefix ? found : 0};
        if (const Error error = check_prefix(prefix)) return error;
        const size_t begin = has_prefix ? found + 1 : 0;
        Uuid uuid{};
        const std::string_view suffix{text.data() + begin, text.size() - begin};
        if (const ParseError error = Base32<TypeIdAlphabet>::decode_128(suffix, uuid))
            return {Error::Reason::suffix, begin, error};
        id = {prefix, uuid};
        return {};
    }

    /// Writes the text, at most max_text_size characters, to `text`, without a terminating zero.
    /// Returns the end of the characters. Precondition: the prefix is valid.
    constexpr char* format(char* text) const noexcept {
        assert(!check_prefix(prefix));
        text = std::copy(prefix.begin(), prefix.end(), text);
        if (!prefix.empty()) *text++ = separator;
        return Base32<TypeIdAlphabet>::encode_128(uuid, text);
    }
};

}  // namespace snowdrift
