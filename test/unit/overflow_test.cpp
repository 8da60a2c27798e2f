// The episodes of overflow: when one begins, and how long it lasts.
#include "protocol/overflow.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace snowdrift::overflow {
namespace {

constexpr int64_t start_ms = 1'767'225'600'000;

TEST(Overflow, BeginsAnEpisodeAndEndsItAfterASecondWithoutWaits) {
    State state{};
    EXPECT_EQ(duration_ms(state, start_ms), 0);
    EXPECT_TRUE(record(state, start_ms));
    EXPECT_EQ(duration_ms(state, start_ms), 1);
    EXPECT_FALSE(record(state, start_ms));
    EXPECT_FALSE(record(state, start_ms + max_gap_ms));
    EXPECT_EQ(state.episodes, 1u);
    EXPECT_EQ(duration_ms(state, start_ms + max_gap_ms), max_gap_ms);
    EXPECT_EQ(duration_ms(state, start_ms + 2 * max_gap_ms), 2 * max_gap_ms);
    EXPECT_EQ(duration_ms(state, start_ms + 2 * max_gap_ms + 1), 0);
    EXPECT_TRUE(record(state, start_ms + 2 * max_gap_ms + 1));
    EXPECT_EQ(state.episodes, 2u);
}

TEST(Overflow, EndsAnEpisodeWhenTheClockIsSetBack) {
    State state{};
    EXPECT_TRUE(record(state, start_ms));
    EXPECT_FALSE(record(state, start_ms - max_gap_ms));
    EXPECT_EQ(duration_ms(state, start_ms - 2 * max_gap_ms - 1), 0);
    EXPECT_TRUE(record(state, start_ms - 3 * max_gap_ms));
    EXPECT_EQ(state.episodes, 2u);
}

}  // namespace
}  // namespace snowdrift::overflow
