// The word of a mark in shared memory. Libraries with different structures of the slots change it:
// see root.hpp. So nothing in this file ever changes.
#pragma once

#include <cstdint>

namespace snowdrift {

/// The Unix millisecond on disk, and a tag. The tag changes when the mark is reset, when its file
/// is replaced, as by DROP EXTENSION and CREATE EXTENSION, and when the structure is retired.
struct MarkWord {
    static constexpr int tag_bits = 16;

    uint64_t bits;

    constexpr MarkWord(int64_t unix_ms, uint16_t tag) noexcept
        : bits{static_cast<uint64_t>(unix_ms) << tag_bits | tag} {}
    constexpr explicit MarkWord(uint64_t stored) noexcept : bits{stored} {}

    constexpr int64_t unix_ms() const noexcept { return static_cast<int64_t>(bits >> tag_bits); }
    constexpr uint16_t tag() const noexcept { return static_cast<uint16_t>(bits); }

    /// The word with the mark `unix_ms` and the next tag.
    constexpr MarkWord next(int64_t unix_ms) const noexcept {
        return {unix_ms, static_cast<uint16_t>(tag() + 1)};
    }
};

}  // namespace snowdrift
