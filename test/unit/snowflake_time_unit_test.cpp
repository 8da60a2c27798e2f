// The Snowflake generator with time units longer than 1 ms, and restarts with any time unit.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "unit/snowflake_generator_fixture.hpp"

namespace snowdrift {
namespace {

/// A generator whose time unit is 1 s, with 4 IDs per unit. At `noon`, a unit begins.
class SecondsGenerator : public GeneratorTest {
 protected:
    SecondsGenerator() : GeneratorTest{seconds, 5 << 4 | 9, 0} {}

    static constexpr SnowflakeLayout seconds{
        noon - 86'400'000, 32, 3, 4, 2, false, FieldOrder::worker_sequence_datacenter, 1000};
};

TEST_F(SecondsGenerator, IssuesTheIdsOfASecondDuringIt) {
    EXPECT_EQ(issue(noon), (SnowflakeParts{time_of(noon), 5, 9, 0}));
    EXPECT_EQ(issue(noon + 1), (SnowflakeParts{time_of(noon), 5, 9, 1}));
    EXPECT_EQ(issue(noon + 999), (SnowflakeParts{time_of(noon), 5, 9, 2}));
    EXPECT_EQ(issue(noon + 1000), (SnowflakeParts{time_of(noon + 1000), 5, 9, 0}));
    EXPECT_EQ(ask(noon + 1500).ms, noon + 1000);
}

TEST_F(SecondsGenerator, WaitsForTheNextSecondWhenTheSequenceIsUsedUp) {
    use_up(noon + 300);
    auto answer = ask(noon + 300);
    EXPECT_EQ(answer.verdict, Verdict::exhausted);
    EXPECT_EQ(answer.ms, noon + 1000);
    answer = ask(noon + 999);
    EXPECT_EQ(answer.verdict, Verdict::exhausted);
    EXPECT_EQ(answer.ms, noon + 1000);
    EXPECT_EQ(issue(noon + 1000), (SnowflakeParts{time_of(noon + 1000), 5, 9, 0}));
}

TEST_F(SecondsGenerator, IsNotAheadInASecondThatTheClockHasEntered) {
    issue(noon + 900);
    EXPECT_EQ(issue(noon + 100).sequence, 1U);
    EXPECT_EQ(issue(noon).sequence, 2U);
    const auto answer = ask(noon - 1);
    EXPECT_EQ(answer.verdict, Verdict::clock_behind);
    EXPECT_EQ(answer.ms, noon);
}

TEST_F(SecondsGenerator, MeasuresItsLeadFromTheBeginningOfTheSecond) {
    lead = 5000;
    issue(noon + 999);
    EXPECT_EQ(unix_ms_of(issue(noon - 5000).time), noon);
    auto answer = ask(noon - 5001);
    EXPECT_EQ(answer.verdict, Verdict::clock_behind);
    EXPECT_EQ(answer.ms, noon - 5000);
    answer = ask(noon - 5000 - 1999);
    EXPECT_EQ(answer.verdict, Verdict::clock_behind);
    answer = ask(noon - 5000 - 2000);
    EXPECT_EQ(answer.verdict, Verdict::refused);
    EXPECT_EQ(answer.ms, 7000);
}

TEST_F(SecondsGenerator, NeverLetsLoadMakeTheLeadGrow) {
    lead = max_lead;
    use_up(noon);
    for (int64_t now = noon - 10'300; now < noon - 2000; now += 1000) {
        ASSERT_EQ(ask(now).verdict, Verdict::exhausted);
        ASSERT_EQ(ask(now + 299).verdict, Verdict::exhausted);
        ASSERT_LE(unix_ms_of(issue(now + 300).time) - (now + 300), 11'000);
        use_up(now + 300);
    }
}

TEST_F(SecondsGenerator, BeginUnitMakesFurtherIdsNotEarlierThanTheSecond) {
    lead = 5000;
    EXPECT_EQ(generator.begin_unit(word, noon + 999), noon);
    EXPECT_EQ(issue(noon + 999), (SnowflakeParts{time_of(noon), 5, 9, 0}));
    EXPECT_EQ(generator.begin_unit(word, noon + 999), noon);  // more IDs of that second follow
    EXPECT_EQ(issue(noon + 999).sequence, 1U);
    EXPECT_EQ(generator.begin_unit(word, noon + 1000), noon + 1000);
    const uint64_t state = word;
    EXPECT_EQ(generator.begin_unit(word, noon - 3000), noon + 1000);
    EXPECT_EQ(word, state);
    EXPECT_EQ(ask(noon + 500).verdict, Verdict::exhausted);  // the previous second is closed
    EXPECT_EQ(unix_ms_of(issue(noon + 1000).time), noon + 1000);
}

TEST_F(SecondsGenerator, BeginUnitReturnsTheNextSecondWhenTheSequenceIsUsedUp) {
    use_up(noon);
    EXPECT_EQ(generator.begin_unit(word, noon), noon + 1000);
    EXPECT_EQ(ask(noon).verdict, Verdict::exhausted);
    EXPECT_EQ(unix_ms_of(issue(noon + 1000).time), noon + 1000);
}

TEST_F(SecondsGenerator, BeginUnitReturnsTheSecondOfALeadingState) {
    word = generator.state_after(noon + 3500);
    const uint64_t state = word;
    EXPECT_EQ(generator.begin_unit(word, noon), noon + 4000);
    EXPECT_EQ(word, state);
}

TEST_F(SecondsGenerator, BeginUnitStaysInTheLayoutsRange) {
    EXPECT_EQ(generator.begin_unit(word, seconds.epoch_unix_ms - 1), seconds.epoch_unix_ms);
    EXPECT_EQ(word, 0U);
    const int64_t last = seconds.max_unix_ms();
    EXPECT_EQ(generator.begin_unit(word, last + 5000), last);
    EXPECT_EQ(unix_ms_of(issue(last).time), last);
    use_up(last);
    EXPECT_EQ(generator.begin_unit(word, last), last);
    EXPECT_EQ(ask(last).verdict, Verdict::exhausted);
}

TEST_F(SecondsGenerator, BeginUnitHoldsForGeneratorsThatShareTheState) {
    const SnowflakeGenerator low{seconds, 0, 0, 1};
    const SnowflakeGenerator high{seconds, 0, 2, 3};
    for (const auto& each : {low, high}) {
        word = 0;
        EXPECT_EQ(each.begin_unit(word, noon), noon);
        Request own;
        const auto answer = each.next(word, noon, lead, own);
        ASSERT_EQ(answer.verdict, Verdict::issued);
        EXPECT_EQ(answer.ms, noon);
        EXPECT_EQ(each.begin_unit(word, noon), noon);
    }
}

TEST_F(SecondsGenerator, StartsInTheFirstSecondThatBeginsAfterAMark) {
    for (const int64_t mark : {noon, noon + 1, noon + 500, noon + 999}) {
        word = generator.state_after(mark);
        EXPECT_EQ(generator.unix_ms_of(word), noon + 1000);
        lead = 1000;
        EXPECT_EQ(unix_ms_of(issue(noon + 600).time), noon + 1000);
    }
    word = generator.state_after(noon - 1);
    EXPECT_EQ(generator.unix_ms_of(word), noon);
    EXPECT_EQ(generator.state_after(seconds.epoch_unix_ms - 1), 0U);
    // If no lead is allowed, it waits until that second begins, however long a unit and a lease
    // are.
    lead = 0;
    word = generator.state_after(noon + 500);
    const auto answer = ask(noon + 1);
    EXPECT_EQ(answer.verdict, Verdict::clock_behind);
    EXPECT_EQ(answer.ms, noon + 1000);
    word = generator.state_after(noon + 1001);
    EXPECT_EQ(ask(noon + 1).verdict, Verdict::clock_behind);
}

// Otherwise, a fresh state would move the mark, which all generators share, far ahead of the clock.
TEST_F(SecondsGenerator, BeginsNoSecondMoreThan400MsEarly) {
    lead = max_lead;
    word = generator.state_after(noon + 500);
    auto answer = ask(noon);
    EXPECT_EQ(answer.verdict, Verdict::early);
    EXPECT_EQ(answer.ms, noon + 600);
    EXPECT_EQ(unix_ms_of(issue(noon + 600).time), noon + 1000);
    // A second that has begun goes on if the clock is set back, and so does a used up one.
    EXPECT_EQ(unix_ms_of(issue(noon - 500).time), noon + 1000);
    use_up(noon - 5000);
    answer = ask(noon - 5000);
    EXPECT_EQ(answer.verdict, Verdict::exhausted);
    EXPECT_EQ(answer.ms, noon - 4000);
    EXPECT_EQ(unix_ms_of(issue(noon - 4000).time), noon + 2000);
}

// Until a fresh state's unit begins, the clock can be this far behind without having been set back.
TEST_F(SecondsGenerator, WaitsWithinTheLeadOfAFreshStateOnly) {
    lead = max_lead;
    word = generator.state_after(noon + 500);
    constexpr int64_t bound = noon + 1000 - SnowflakeGenerator::max_fresh_lead_ms - 1000;
    const auto answer = ask(bound);
    EXPECT_EQ(answer.verdict, Verdict::early);
    EXPECT_EQ(answer.ms, noon + 600);
    EXPECT_EQ(unix_ms_of(issue(bound - 1).time), noon + 1000);
}

TEST_F(SecondsGenerator, KeepsTheLimitOfTheLeadWhenASecondIsUsedUp) {
    lead = 100;
    word = generator.state_after(noon - 1);
    use_up(noon - 50);
    auto answer = ask(noon - 50);
    EXPECT_EQ(answer.verdict, Verdict::exhausted);
    EXPECT_EQ(answer.ms, noon);
    answer = ask(noon);
    EXPECT_EQ(answer.verdict, Verdict::exhausted);
    EXPECT_EQ(answer.ms, noon + 900);
    EXPECT_EQ(unix_ms_of(issue(noon + 900).time), noon + 1000);
}

TEST_F(SecondsGenerator, EndsWithTheLastSecondOfTheLayout) {
    EXPECT_EQ(ask(seconds.epoch_unix_ms - 1).verdict, Verdict::out_of_range);
    EXPECT_EQ(unix_ms_of(issue(seconds.max_unix_ms() + 999).time), seconds.max_unix_ms());
    EXPECT_EQ(ask(seconds.max_unix_ms() + 1000).verdict, Verdict::out_of_range);
    int64_t id;
    EXPECT_FALSE(generator.try_next(word, seconds.epoch_unix_ms - 1, id));
    EXPECT_TRUE(generator.try_next(word, seconds.max_unix_ms() + 999, id));
    EXPECT_FALSE(generator.try_next(word, seconds.max_unix_ms() + 1000, id));
    word = generator.state_after(seconds.max_unix_ms() + 5);
    EXPECT_EQ(generator.unix_ms_of(word), seconds.max_unix_ms());
    EXPECT_NE(ask(seconds.max_unix_ms()).verdict, Verdict::issued);
}

TEST_F(SecondsGenerator, ResumesAfterAPosition) {
    const SnowflakeGenerator upper{seconds, 0, 2, 3};
    const auto fresh = upper.position(upper.state_after(noon + 7));
    EXPECT_EQ(fresh->unix_ms, noon);
    EXPECT_EQ(fresh->sequence, 3U);

    lead = max_lead;
    issue(noon + 1000);
    issue(noon + 1000);
    issue(noon);
    const auto last = generator.position(word);
    EXPECT_EQ(last->unix_ms, noon + 1000);
    EXPECT_EQ(last->sequence, 2U);

    std::atomic<uint64_t> other{0};
    ASSERT_TRUE(generator.resume_after(other, *last));
    EXPECT_EQ(other, word);
    EXPECT_EQ(seconds.split(generator.next(other, noon, lead, request).id),
              (SnowflakeParts{time_of(noon + 1000), 5, 9, 3}));
    EXPECT_FALSE(generator.resume_after(other, *last));
}

TEST_F(SecondsGenerator, HasUsedAShareOfTheSequenceOfTheClocksSecond) {
    issue(noon + 300);
    issue(noon + 600);
    for (const int64_t now : {noon, noon + 999})
        EXPECT_EQ(generator.sequence_used(word, now), 0.5F);
    EXPECT_EQ(generator.sequence_used(word, noon + 1000), 0.0F);
    EXPECT_EQ(generator.sequence_used(word, noon - 1), std::nullopt) << "it is ahead of the clock";
}

/// Restarts a generator at random while its clock is stepped at random. As on a server, the mark
/// covers an ID before the ID is returned, by a random lease, and a fresh state starts after the
/// mark. No ID is repeated, and none is before an earlier one.
TEST(GeneratorRestarts, NeverRepeatAnIdWhateverTheTimeUnit) {
    std::mt19937_64 random{20160520};
    const auto pick = [&random](int64_t min, int64_t max) {
        return min + static_cast<int64_t>(random() % static_cast<uint64_t>(max - min + 1));
    };
    for (const uint16_t unit_ms : {1, 10, 1000, 60'000}) {
        SCOPED_TRACE(unit_ms);
        const SnowflakeLayout units{
            noon - 123, 32, 2, 2, 3, false, FieldOrder::sequence_datacenter_worker, unit_ms};
        const SnowflakeGenerator generator{units, 6};
        std::atomic<uint64_t> word{0};
        int64_t mark = 0;
        int64_t now = noon + 10'000'000;
        int64_t last = -1;
        for (int i = 0; i < 100'000; ++i) {
            now += pick(0, unit_ms / 4 + 1);
            if (pick(0, 50) == 0) now += pick(-3000, 3000 + unit_ms);
            if (pick(0, 20) == 0) word = generator.state_after(mark);
            Request request;
            auto answer = ask(generator, word, now, INT32_MAX, request);
            while (answer.verdict == Verdict::exhausted || answer.verdict == Verdict::early) {
                now = answer.ms;
                answer = ask(generator, word, now, INT32_MAX, request);
            }
            ASSERT_EQ(answer.verdict, Verdict::issued);
            mark = std::max(mark, answer.ms + pick(0, 600));
            ASSERT_GT(answer.id, last);
            last = answer.id;
        }
    }
}

}  // namespace
}  // namespace snowdrift
