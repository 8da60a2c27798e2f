// Tests of big-endian loads and stores.
#include "snowdrift/endian.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

namespace snowdrift {
namespace {

TEST(BigEndian, PutsTheMostSignificantByteFirst) {
    constexpr std::array<uint8_t, 8> bytes{1, 2, 3, 4, 5, 6, 7, 0xff};
    static_assert(load_big_endian(bytes.data()) == 0x01020304050607ff);

    std::array<uint8_t, 8> stored{};
    store_big_endian(uint64_t{0x01020304050607ff}, stored.data());
    EXPECT_EQ(stored, bytes);

    std::array<uint8_t, 2> pair{};
    store_big_endian(uint16_t{0x06ff}, pair.data());
    EXPECT_EQ(pair, (std::array<uint8_t, 2>{6, 0xff}));
}

}  // namespace
}  // namespace snowdrift
