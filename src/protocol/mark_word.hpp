// The word of a mark in shared memory.
#pragma once

#include <cstdint>

namespace snowdrift {

/// A Unix millisecond, and a tag. The tag changes when the mark is reset, and when its file is
/// replaced, as by DROP EXTENSION and CREATE EXTENSION.
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
