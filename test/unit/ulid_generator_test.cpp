// The generator of monotonic ULIDs, with a clock and random bits that the test sets.
#include "core/ulid_generator.hpp"

#include <gtest/gtest.h>

#include <random>

namespace snowdrift {
namespace {

constexpr int64_t noon = 1767268800000;  // 2026-01-01T12:00:00Z
constexpr int64_t max_lead = 60'000;
constexpr UlidGenerator::Random all_ones{0xffff, UINT64_MAX};

class Ulids : public testing::Test {
 protected:
    UlidGenerator::Answer ask(int64_t unix_ms) {
        return generator.next(unix_ms, max_lead, {static_cast<uint16_t>(random()), random()},
                              request);
    }

    /// The first ULID of the block issued at `unix_ms`; fails the test if none is.
    Ulid issue(int64_t unix_ms) {
        const auto answer = ask(unix_ms);
        EXPECT_EQ(answer.verdict, Verdict::issued);
        EXPECT_EQ(answer.ms, answer.id.timestamp_ms());
        request = {};
        return answer.id;
    }

    UlidGenerator generator;
    Request request;
    std::mt19937_64 random{48};
};

TEST_F(Ulids, AFreshStartHasTheClocksTimeAndSeventyNineRandomBits) {
    uint64_t ones_high = 0;
    uint64_t ones_low = 0;
    uint64_t zeros_high = 0;
    uint64_t zeros_low = 0;
    for (int i = 0; i < 200; ++i) {
        const Ulid id = issue(noon + i);
        EXPECT_EQ(id.timestamp_ms(), noon + i);
        ones_high |= id.high() & 0xffff;
        ones_low |= id.low();
        zeros_high |= ~id.high() & 0xffff;
        zeros_low |= ~id.low();
    }
    EXPECT_EQ(ones_high & zeros_high, 0xffffU);
    EXPECT_EQ(ones_low, 0xbfffffffffffffffU);
    EXPECT_EQ(zeros_low, UINT64_MAX);
}

TEST_F(Ulids, ABlockCountsUpByOne) {
    UlidBlock block{issue(noon)};
    const Ulid first = block.take();
    for (uint64_t i = 1; i < 100'000; ++i) ASSERT_EQ(block.take(), first + i);
}

TEST_F(Ulids, ABlockCarriesIntoTheUpperRandomBits) {
    UlidBlock block{Ulid{uint64_t{noon} << 16, UINT64_MAX}};
    EXPECT_EQ(block.take(), (Ulid{uint64_t{noon} << 16, UINT64_MAX}));
    EXPECT_EQ(block.take(), (Ulid{uint64_t{noon} << 16 | 1, 0}));
}

TEST_F(Ulids, AnEmptyBlockHasNone) {
    EXPECT_TRUE(UlidBlock{}.empty());
    EXPECT_FALSE(UlidBlock{issue(noon)}.empty());
}

TEST_F(Ulids, BlocksOfOneMillisecondFollowEachOtherWithoutOverlap) {
    Ulid last = issue(noon);
    for (int i = 0; i < 100'000; ++i) {
        const Ulid next = issue(noon);
        ASSERT_EQ(next.timestamp_ms(), noon);
        ASSERT_GE(next, last + UlidBlock::size);
        ASSERT_LT(next, last + 2 * UlidBlock::size);
        last = next;
    }
}

TEST_F(Ulids, TheTimeNeverGoesBackWithTheClock) {
    Ulid last = issue(noon);
    for (const int64_t back : {1, 1000, 59'999, 60'000, 500, 0}) {
        const Ulid next = issue(noon - back);
        EXPECT_EQ(next.timestamp_ms(), noon);
        EXPECT_GE(next, last + UlidBlock::size);
        last = next;
    }
    EXPECT_EQ(issue(noon + 1).timestamp_ms(), noon + 1);
}

TEST_F(Ulids, ALeadTooLongIsWaitedOutOrRefused) {
    issue(noon);
    auto answer = ask(noon - max_lead - 1);
    EXPECT_EQ(answer.verdict, Verdict::clock_behind);
    EXPECT_EQ(answer.ms, noon - max_lead);
    answer = ask(noon - max_lead - 1001);
    EXPECT_EQ(answer.verdict, Verdict::refused);
    EXPECT_EQ(answer.ms, max_lead + 1001);
}

TEST_F(Ulids, StartAfterAMarkWithFreshRandomBits) {
    generator.advance_past(noon + 500);
    const Ulid first = issue(noon);
    EXPECT_EQ(first.timestamp_ms(), noon + 501);
    EXPECT_NE(first.low() >> 48, 0U);
    EXPECT_EQ(issue(noon).timestamp_ms(), noon + 501);
    generator.advance_past(noon + 100);
    EXPECT_EQ(issue(noon).timestamp_ms(), noon + 501);
    EXPECT_EQ(issue(noon + 502).timestamp_ms(), noon + 502);
}

TEST_F(Ulids, ATimestampWhoseRandomBitsAreUsedUpCostsOneMillisecond) {
    // The highest possible first block, then the longest possible steps.
    auto answer = generator.next(noon, max_lead, all_ones, request);
    ASSERT_EQ(answer.verdict, Verdict::issued);
    Ulid last = answer.id;
    int64_t blocks = 0;
    for (;; ++blocks) {
        answer = generator.next(noon, max_lead, all_ones, request);
        if (answer.verdict != Verdict::issued) break;
        ASSERT_GT(answer.id, last);
        ASSERT_EQ((answer.id + (UlidBlock::size - 1)).timestamp_ms(), noon);
        last = answer.id;
    }
    EXPECT_GT(blocks, 2'000'000);
    EXPECT_EQ(answer.verdict, Verdict::exhausted);
    EXPECT_EQ(answer.ms, noon + 1);
    EXPECT_EQ(ask(noon).verdict, Verdict::exhausted);
    EXPECT_EQ(issue(noon + 1).timestamp_ms(), noon + 1);
}

TEST_F(Ulids, EndWithTheFormat) {
    EXPECT_EQ(ask(Ulid::max_timestamp_ms + 1).verdict, Verdict::out_of_range);
    EXPECT_EQ(ask(-1).verdict, Verdict::out_of_range);
    EXPECT_EQ(issue(Ulid::max_timestamp_ms).timestamp_ms(), Ulid::max_timestamp_ms);
}

}  // namespace
}  // namespace snowdrift
