// The generator of ULIDs and UUIDs of version 7 in blocks, with a clock and random bits that the
// test sets.
#include "protocol/generators.hpp"

#include <gtest/gtest.h>

#include <random>

#include "model/answer_of.hpp"
#include "snowdrift/ulid.hpp"
#include "snowdrift/uuidv7.hpp"
#include "unit/id_sums.hpp"

namespace snowdrift {
namespace {

constexpr int64_t noon = 1767268800000;  // 2026-01-01T12:00:00Z
constexpr int64_t max_lead = 60'000;

template <typename Format>
class Blocks : public testing::Test {
 protected:
    using Id = Format;
    using Generator = BlockGenerator<Id>;

    static constexpr typename Generator::Random all_ones{0xffff, UINT64_MAX};
    static constexpr Uint128 random_mask = (Uint128{1} << Id::random_bits) - 1;

    typename Generator::Answer ask(int64_t unix_ms) {
        return ask(unix_ms, {static_cast<uint16_t>(random()), random()});
    }

    typename Generator::Answer ask(int64_t unix_ms, const typename Generator::Random& of) {
        return model::answer_of([&] { return generator.next(unix_ms, max_lead, of, request); });
    }

    /// The first ID of the block issued at `unix_ms`; fails the test if none is.
    Id issue(int64_t unix_ms) {
        const auto answer = ask(unix_ms);
        EXPECT_EQ(answer.verdict, Verdict::issued);
        EXPECT_EQ(answer.ms, answer.id.timestamp_ms());
        request = {};
        return answer.id;
    }

    /// The ID of `noon` with the random bits `randomness`.
    static Id of_noon(Uint128 randomness) {
        return Id::from_ordinal(Id::boundary(time_of(noon)).ordinal() | randomness);
    }

    Generator generator;
    Request request;
    std::mt19937_64 random{48};
};

using Formats = testing::Types<Ulid, Uuidv7>;
TYPED_TEST_SUITE(Blocks, Formats);

TYPED_TEST(Blocks, AFreshBlockHasTheClocksTimeAndAllRandomBitsExceptOne) {
    Uint128 ones = 0;
    Uint128 zeros = 0;
    for (int i = 0; i < 200; ++i) {
        const TypeParam id = this->issue(noon + i);
        EXPECT_EQ(id.timestamp_ms(), noon + i);
        ones |= id.ordinal();
        zeros |= ~id.ordinal();
    }
    EXPECT_TRUE((ones & this->random_mask) == (this->random_mask ^ Uint128{1} << 62));
    EXPECT_TRUE((zeros & this->random_mask) == this->random_mask);
}

TYPED_TEST(Blocks, AFreshBlockHasTheRandomBitsThatTheCallerPasses) {
    const auto answer =
        this->generator.next(noon, max_lead, {0xabcd, 0xf123456789abcdef}, this->request);
    const Uint128 bits = Uint128{0xabcd} << 64 | 0xb123456789abcdef;
    EXPECT_EQ(answer.id, this->of_noon(bits & this->random_mask));
    const auto next = this->generator.next(noon, max_lead, {0xabcd, UINT64_MAX - 9}, this->request);
    EXPECT_EQ(next.id, answer.id + (2 * block_size - 10));
}

TYPED_TEST(Blocks, ABlockCountsUpByOne) {
    IdBlock<TypeParam> block{this->issue(noon)};
    const TypeParam first = block.take();
    for (uint64_t i = 1; i < 100'000; ++i) ASSERT_EQ(block.take(), first + i);
}

TYPED_TEST(Blocks, ABlockCarriesIntoTheUpperRandomBits) {
    for (const int bit :
         {61, 62, 64}) {  // between the fields, and between the words of the formats
        IdBlock<TypeParam> block{this->of_noon((Uint128{1} << bit) - 1)};
        EXPECT_EQ(block.take(), this->of_noon((Uint128{1} << bit) - 1));
        EXPECT_EQ(block.take(), this->of_noon(Uint128{1} << bit));
    }
}

TYPED_TEST(Blocks, ABlockIsEmptyUntilItIsIssued) {
    EXPECT_TRUE(IdBlock<TypeParam>{}.empty());
    EXPECT_FALSE(IdBlock<TypeParam>{this->issue(noon)}.empty());
}

TYPED_TEST(Blocks, BlocksOfOneMillisecondAscendWithoutOverlap) {
    TypeParam last = this->issue(noon);
    for (int i = 0; i < 100'000; ++i) {
        const TypeParam next = this->issue(noon);
        ASSERT_EQ(next.timestamp_ms(), noon);
        ASSERT_GE(next, last + block_size);
        ASSERT_LT(next, last + 2 * block_size);
        last = next;
    }
}

TYPED_TEST(Blocks, KeepTheirTimeWhenTheClockIsSetBack) {
    TypeParam last = this->issue(noon);
    for (const int64_t back : {1, 1000, 59'999, 60'000, 500, 0}) {
        const TypeParam next = this->issue(noon - back);
        EXPECT_EQ(next.timestamp_ms(), noon);
        EXPECT_GE(next, last + block_size);
        last = next;
    }
    EXPECT_EQ(this->issue(noon + 1).timestamp_ms(), noon + 1);
}

TYPED_TEST(Blocks, AnExcessiveLeadCausesAWaitOrIsRefused) {
    this->issue(noon);
    auto answer = this->ask(noon - max_lead - 1);
    EXPECT_EQ(answer.verdict, Verdict::clock_behind);
    EXPECT_EQ(answer.ms, noon - max_lead);
    answer = this->ask(noon - max_lead - 1001);
    EXPECT_EQ(answer.verdict, Verdict::refused);
    EXPECT_EQ(answer.ms, max_lead + 1001);
}

TYPED_TEST(Blocks, StartAfterAMarkWithFreshRandomBits) {
    this->generator.advance_past(noon + 500);
    const TypeParam first = this->issue(noon);
    EXPECT_EQ(first.timestamp_ms(), noon + 501);
    EXPECT_TRUE((first.ordinal() & this->random_mask) >> 48 != 0);
    EXPECT_EQ(this->issue(noon).timestamp_ms(), noon + 501);
    this->generator.advance_past(noon + 100);
    EXPECT_EQ(this->issue(noon).timestamp_ms(), noon + 501);
    EXPECT_EQ(this->issue(noon + 502).timestamp_ms(), noon + 502);
}

TYPED_TEST(Blocks, BeginUnitMakesFurtherIdsNotEarlier) {
    EXPECT_EQ(this->generator.begin_unit(noon), noon);
    EXPECT_EQ(this->issue(noon - 5).timestamp_ms(), noon);
    EXPECT_EQ(this->generator.begin_unit(noon - 5), noon);  // more IDs of that millisecond follow
    EXPECT_EQ(this->generator.begin_unit(noon + 7), noon + 7);
    EXPECT_EQ(this->generator.begin_unit(noon + 3), noon + 7);
    EXPECT_EQ(this->issue(noon + 3).timestamp_ms(), noon + 7);
    EXPECT_EQ(this->issue(noon + 9).timestamp_ms(), noon + 9);
    EXPECT_EQ(this->generator.begin_unit(noon), noon + 9);
}

TYPED_TEST(Blocks, BeginUnitReturnsTheMillisecondAfterAMark) {
    this->generator.advance_past(noon + 500);
    EXPECT_EQ(this->generator.begin_unit(noon), noon + 501);
    EXPECT_EQ(this->issue(noon).timestamp_ms(), noon + 501);
}

TYPED_TEST(Blocks, BeginUnitStaysInTheFormatsRange) {
    constexpr int64_t last = TypeParam::max_timestamp_ms;
    EXPECT_EQ(this->generator.begin_unit(-1), 0);
    EXPECT_EQ(this->generator.begin_unit(last + 1000), last);
    EXPECT_EQ(this->issue(last).timestamp_ms(), last);
}

TYPED_TEST(Blocks, ATimestampWithoutRandomBitsLeftCausesAWaitOfOneMillisecond) {
    // The highest possible first block, then the longest possible steps.
    auto answer = this->generator.next(noon, max_lead, this->all_ones, this->request);
    ASSERT_EQ(answer.verdict, Verdict::issued);
    TypeParam last = answer.id;
    int64_t blocks = 0;
    for (;; ++blocks) {
        answer = this->generator.next(noon, max_lead, this->all_ones, this->request);
        if (answer.verdict != Verdict::issued) break;
        ASSERT_GT(answer.id, last);
        ASSERT_EQ((answer.id + (block_size - 1)).timestamp_ms(), noon);
        last = answer.id;
    }
    EXPECT_GT(blocks, 2'000'000);
    EXPECT_EQ(answer.verdict, Verdict::exhausted);
    EXPECT_EQ(answer.ms, noon + 1);
    EXPECT_EQ(this->ask(noon).verdict, Verdict::exhausted);
    EXPECT_EQ(this->issue(noon + 1).timestamp_ms(), noon + 1);
}

TYPED_TEST(Blocks, AReadingOlderThanTheLastBlockIsNoLeadUntilTheClockIsReadAgain) {
    this->issue(noon);
    const auto ask_once = [this](int64_t unix_ms) {
        return this->generator.next(unix_ms, max_lead, this->all_ones, this->request).verdict;
    };
    EXPECT_EQ(ask_once(noon - max_lead - 1001), Verdict::stale);
    EXPECT_EQ(ask_once(noon - max_lead - 1001), Verdict::refused);
    this->request = {};
    EXPECT_EQ(ask_once(noon - max_lead - 1001), Verdict::stale);
    EXPECT_EQ(this->issue(noon).timestamp_ms(), noon);
}

TYPED_TEST(Blocks, EndWithTheFormat) {
    EXPECT_EQ(this->ask(TypeParam::max_timestamp_ms + 1).verdict, Verdict::out_of_range);
    EXPECT_EQ(this->ask(-1).verdict, Verdict::out_of_range);
    EXPECT_EQ(this->issue(TypeParam::max_timestamp_ms).timestamp_ms(), TypeParam::max_timestamp_ms);
}

TYPED_TEST(Blocks, EndWhenTheLastMillisecondIsUsedUp) {
    constexpr int64_t last_ms = TypeParam::max_timestamp_ms;
    const auto ask_for_all_ones = [this](int64_t unix_ms) {
        return this->ask(unix_ms, this->all_ones).verdict;
    };
    while (ask_for_all_ones(last_ms) == Verdict::issued) continue;
    // a clock that was set back reaches the last millisecond again
    EXPECT_EQ(ask_for_all_ones(last_ms - 1), Verdict::exhausted);
    EXPECT_EQ(ask_for_all_ones(last_ms), Verdict::out_of_range);
}

}  // namespace
}  // namespace snowdrift
