// parse() for programs with exceptions: it throws where the parse() of an ID type returns a
// ParseError.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

#include "snowdrift/base32.hpp"
#include "snowdrift/uuidv7.hpp"
#include "snowdrift/value.hpp"

namespace snowdrift {

/// The message for an error of T::parse(text), such as `invalid ULID "01J": 3 characters instead of
/// 26`. It omits a string of more than 64 characters.
template <AnyId T>
std::string explain(ParseError error, std::string_view text) {
    using Reason = ParseError::Reason;
    std::string reason = "invalid ";
    reason += T::name;
    if (text.size() <= 64) {
        reason += " \"";
        reason += text;
        reason += '"';
    }
    reason += ": ";
    if (error.reason == Reason::length) {
        const bool is_number = std::string_view{T::name} == "Snowflake";
        reason += std::to_string(text.size()) + " characters instead of ";
        return reason + (is_number ? "1 to " : "") + std::to_string(T::text_size);
    }
    if (error.reason == Reason::overflow) return reason + "the number is too large";
    reason += "character " + std::to_string(error.index + 1) + " is not allowed";
    if constexpr (std::is_same_v<T, Uuidv7>) {
        if (error.index == 14) reason += ", because it is the version, 7";
        if (error.index == 19) reason += ", because it is the variant, 8, 9, a or b";
    }
    return reason;
}

/// The ID with this text. Throws std::invalid_argument, with the message of explain(), if
/// T::parse() returns an error. In a constant expression, an invalid text does not compile.
template <AnyId T>
[[nodiscard]] constexpr T parse(std::string_view text) {
    T id;
    if (const ParseError error = T::parse(text, id))
        throw std::invalid_argument{explain<T>(error, text)};
    return id;
}

}  // namespace snowdrift
