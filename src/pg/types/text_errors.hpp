// Details of the errors for strings that are not IDs.
#pragma once

#include <cstring>

#include "pg/support/postgres.hpp"
#include "snowdrift/base32.hpp"

extern "C" {
#include "mb/pg_wchar.h"
}

namespace snowdrift {

/// How error messages describe a string in base32.
struct TextForm {
    const char* part;      ///< of the input: "input" if the text is all of it
    size_t offset;         ///< of the part in the input, in characters
    size_t size;           ///< in characters
    int bits;              ///< of the number that the text encodes
    const char* alphabet;  ///< the format that has it, such as "type ulid"
};

/// Whether the text begins with a date such as 2026-01-31.
inline bool begins_with_date(const char* text) {
    for (const char* pattern = "dddd-dd-dd"; *pattern != '\0'; ++pattern, ++text)
        if (*pattern == 'd' ? *text < '0' || *text > '9' : *text != *pattern) return false;
    return true;
}

/// The first character of `text`, which can have several bytes.
inline const char* first_character(const char* text) {
    return pnstrdup(text, pg_mbcharcliplen(text, static_cast<int>(std::strlen(text)), 1));
}

/// Adds to an error's detail why `text` is not of the form.
template <typename Alphabet>
int explain_text(const char* text, ParseError error, const TextForm& form) {
    const auto length = static_cast<size_t>(pg_mbstrlen(text));
    if (length != form.size)
        return errdetail("The %s has %zu characters instead of %zu.", form.part, length, form.size);
    if (error.reason == ParseError::Reason::overflow)
        return errdetail(
            "The %s exceeds %d bits, because its first character is greater than \"7\".", form.part,
            form.bits);

    // All characters before the invalid one are one byte long, so the byte index is the character
    // index.
    const size_t index = Base32<Alphabet>::find_wrong(text, std::strlen(text));
    Assert(index < form.size);
    return errdetail("The character \"%s\" at position %zu is not in the alphabet of %s.",
                     first_character(text + index), form.offset + index + 1, form.alphabet);
}

}  // namespace snowdrift
