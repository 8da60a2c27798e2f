// Big-endian numbers: most significant byte first, so that bytes sort as the numbers do.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "snowdrift/requirements.hpp"

namespace snowdrift {

/// Converts `word` between the byte order of this machine and big-endian. The inverse is the same
/// function.
constexpr uint64_t big_endian(uint64_t word) noexcept {
    return std::endian::native == std::endian::little ? __builtin_bswap64(word) : word;
}
constexpr uint16_t big_endian(uint16_t word) noexcept {
    return std::endian::native == std::endian::little ? __builtin_bswap16(word) : word;
}

/// The number in the bytes at `bytes`, 8 for a uint64_t and 2 for a uint16_t, most significant byte
/// first.
template <typename Number = uint64_t>
constexpr Number load_big_endian(const uint8_t* bytes) noexcept {
    std::array<uint8_t, sizeof(Number)> word{};
    std::copy_n(bytes, word.size(), word.begin());
    return big_endian(std::bit_cast<Number>(word));
}

/// Writes `number`, a uint64_t or uint16_t, to the 8 or 2 bytes at `bytes`, most significant byte
/// first.
template <typename Number>
constexpr void store_big_endian(Number number, uint8_t* bytes) noexcept {
    const auto word = std::bit_cast<std::array<uint8_t, sizeof(Number)>>(big_endian(number));
    std::copy_n(word.begin(), word.size(), bytes);
}

}  // namespace snowdrift
