// Big-endian numbers: the most significant byte first, so that bytes sort as the numbers do.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace snowdrift {

/// `word` with its most significant byte first in memory; and back.
constexpr uint64_t big_endian(uint64_t word) noexcept {
    return std::endian::native == std::endian::little ? __builtin_bswap64(word) : word;
}
constexpr uint16_t big_endian(uint16_t word) noexcept {
    return std::endian::native == std::endian::little ? __builtin_bswap16(word) : word;
}

/// The number in the eight bytes at `bytes`, the most significant first.
constexpr uint64_t load_big_endian(const uint8_t* bytes) noexcept {
    std::array<uint8_t, sizeof(uint64_t)> word{};
    std::copy_n(bytes, word.size(), word.begin());
    return big_endian(std::bit_cast<uint64_t>(word));
}

/// Writes `number`, of 64 or 16 bits, to the bytes at `bytes`, the most significant first.
template <typename Number>
constexpr void store_big_endian(Number number, uint8_t* bytes) noexcept {
    const auto word = std::bit_cast<std::array<uint8_t, sizeof(Number)>>(big_endian(number));
    std::copy_n(word.begin(), word.size(), bytes);
}

}  // namespace snowdrift
