// The formats of IDs, for C++ programs and for the extension: header files that need only the
// standard library. A format is in one file, such as ulid.hpp, with its fields, ranges, boundaries
// and text form; that of Snowflakes, whose layouts vary, is in the files snowflake*.hpp.
// generators.hpp issues IDs, pqxx.hpp exchanges them with a server. This file has what the ID types
// have in common as values: operator<<, std::hash and std::format. Their headers include it.
// to_string() is not here: libpqxx calls a template of this name without a namespace, and one for
// all ID types would be ambiguous.
//
// The rule: an ID is a plain value of its format's size, and sorts as in SQL: by the timestamp
// first. What a format's functions return follows from their arguments alone. They throw nothing:
// only parse.hpp, generators.hpp and pqxx.hpp do, which the extension does not include. Text can
// come from anywhere, so parse() returns an error. Other arguments have preconditions, which
// assert() checks.
//
// What can go wrong: the number of a Snowflake does not contain its layout. SnowflakeOf<layout>
// makes it a part of the type, so IDs of two layouts cannot be compared or assigned, but a number
// that was issued in another layout has the wrong time and fields. Tables contain the bytes of IDs
// and layouts, so these bytes and their meaning never change.
//
// The proof in docs/guarantees.md takes the time of an ID from here: the beginning of its time
// unit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string_view>
#include <version>

// The extension needs no std::format, and is compiled without exceptions.
#if defined(__cpp_lib_format) && defined(__cpp_exceptions)
#include <format>
#endif

#include "snowdrift/requirements.hpp"

namespace snowdrift {

/// Whether `T` is one of the ID types: Ulid, Uuidv7, Sno, SnowflakeOf<layout>.
template <typename T>
inline constexpr bool is_id = false;

/// An ID type.
template <typename T>
concept AnyId = is_id<T>;

/// Writes the text of an ID to a stream, padded to the stream's width.
template <typename Traits, AnyId T>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, const T& id) {
    char text[T::text_size];
    return out << std::basic_string_view<char, Traits>{text,
                                                       static_cast<size_t>(id.format(text) - text)};
}

namespace detail {

/// Mixes the bits of two words, so that the lower bits of the result depend on all of them: hash
/// tables use these, and IDs that were generated together differ in few bits.
constexpr size_t hash(uint64_t high, uint64_t low) noexcept {
    uint64_t mixed = (high ^ (low << 32 | low >> 32)) * 0x9e3779b97f4a7c15;  // 2^64 / golden ratio
    mixed = (mixed ^ mixed >> 32 ^ low) * 0x9e3779b97f4a7c15;
    return static_cast<size_t>(mixed ^ mixed >> 32);
}

}  // namespace detail
}  // namespace snowdrift

/// The hash of an ID. Equal IDs have equal hashes on all machines of the same word size.
template <snowdrift::AnyId T>
struct std::hash<T> {
    constexpr size_t operator()(const T& id) const noexcept { return hash_value(id); }
};

#if defined(__cpp_lib_format) && defined(__cpp_exceptions)
/// Formats the text of an ID, with the options of strings: "{:>30}".
template <snowdrift::AnyId T>
struct std::formatter<T, char> : std::formatter<std::string_view, char> {
    template <typename Context>
    auto format(const T& id, Context& context) const {
        char text[T::text_size];
        return std::formatter<std::string_view, char>::format({text, id.format(text)}, context);
    }
};
#endif
