// The text form of Snowflake IDs: 13 characters of Crockford's base32, which sort as the numbers
// do.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "snowdrift/base32.hpp"

namespace snowdrift {

/// The text form of a Snowflake ID of any layout, for programs that cannot hold a 64-bit number,
/// such as JavaScript's. The first character holds 4 bits and the other 12 characters hold 5 bits
/// each, the most significant bits first. An ID is not negative, so the first character is at
/// most 7.
///
/// The alphabet is that of ULIDs: https://www.crockford.com/base32.html without aliases, hyphens
/// and check symbols.
class SnowflakeText {
 public:
    static constexpr size_t size = 13;  ///< in characters

    /// Writes the 13 characters of an ID to `text`, in upper case, without a terminating zero.
    /// Returns the end of the characters. Precondition: id >= 0.
    static constexpr char* format(int64_t id, char* text) noexcept {
        assert(id >= 0);
        *text = CrockfordAlphabet::characters[id >> tail_bits];
        Codec::encode<tail_size>(static_cast<uint64_t>(id), text + 1);
        return text + size;
    }

    /// Parses a string of 13 characters with letters in either case. Sets `id`, at least 0, or
    /// returns an error and leaves `id` unchanged. A first character above 7 is an overflow.
    static constexpr ParseError parse(std::string_view text, int64_t& id) noexcept {
        if (text.size() != size) return {ParseError::Reason::length};
        const int64_t head = Codec::value(text[0]);
        const int64_t tail = Codec::decode<tail_size>(text.data() + 1);
        if (head > 7) return {ParseError::Reason::overflow, 0};
        if ((head | tail) < 0)
            return {ParseError::Reason::character, Codec::find_wrong(text.data(), size)};
        id = head << tail_bits | tail;
        return {};
    }

 private:
    using Codec = Base32<CrockfordAlphabet>;

    static constexpr size_t tail_size = size - 1;  // in characters
    static constexpr int tail_bits = 5 * int{tail_size};
};

}  // namespace snowdrift
