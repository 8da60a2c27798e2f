// The Snowflake generator, with a clock that the test sets.
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "snowdrift/snowflake_presets.hpp"
#include "unit/snowflake_generator_fixture.hpp"
#include "unit/vectors.hpp"

namespace snowdrift {
namespace {

constexpr SnowflakeLayout layout = presets::snowflake;
constexpr auto spread = SnowflakeGenerator::Start::spread;

class Generator : public GeneratorTest {
 protected:
    Generator() : GeneratorTest{layout, 2 * 32 + 3, max_lead} {}
};

TEST_F(Generator, IssuesAllOfTheSequenceAndThenWaitsForTheNextMillisecond) {
    for (uint32_t sequence = 0; sequence <= layout.max_sequence(); ++sequence)
        ASSERT_EQ(issue(noon).sequence, sequence);
    const auto answer = ask(noon);
    EXPECT_EQ(answer.verdict, Verdict::exhausted);
    EXPECT_EQ(answer.ms, noon + 1);
    EXPECT_EQ(ask(noon).verdict, Verdict::exhausted);
    EXPECT_EQ(issue(noon + 1), (SnowflakeParts{time_of(noon + 1), 2, 3, 0}));
}

TEST_F(Generator, GoesOnFromTheLastIdUpToTheLeadAllowed) {
    issue(noon);
    EXPECT_EQ(issue(noon - max_lead), (SnowflakeParts{time_of(noon), 2, 3, 1}));
}

TEST_F(Generator, WaitsOutALeadUpToASecondTooLong) {
    issue(noon);
    auto answer = ask(noon - max_lead - 1);
    EXPECT_EQ(answer.verdict, Verdict::clock_behind);
    EXPECT_EQ(answer.ms, noon - max_lead);
    answer = ask(noon - max_lead - 1000);
    EXPECT_EQ(answer.verdict, Verdict::clock_behind);
    EXPECT_EQ(answer.ms, noon - max_lead);
    EXPECT_EQ(issue(noon - max_lead).sequence, 1U);
}

TEST_F(Generator, RefusesAnyLongerLeadAndSaysHowLongItIs) {
    issue(noon);
    const auto answer = ask(noon - max_lead - 1001);
    EXPECT_EQ(answer.verdict, Verdict::refused);
    EXPECT_EQ(answer.ms, max_lead + 1001);
}

TEST_F(Generator, AdvancesByOneMillisecondPerMillisecondOfAClockThatIsBehind) {
    use_up(noon);
    EXPECT_EQ(ask(noon - 500).verdict, Verdict::exhausted);
    EXPECT_EQ(issue(noon - 499), (SnowflakeParts{time_of(noon + 1), 2, 3, 0}));
}

TEST_F(Generator, NeverLetsLoadMakeTheLeadGrow) {
    use_up(noon);
    int64_t last = noon;
    for (int64_t now = noon - 500; now < noon; ++now) {
        ASSERT_EQ(ask(now).verdict, Verdict::exhausted);
        // The request is served in the next millisecond. Other requests use up the rest of it.
        last = unix_ms_of(issue(now + 1).time);
        ASSERT_LE(last - (now + 1), 500);
        use_up(now + 1);
    }
    EXPECT_EQ(last, noon + 500);
}

TEST_F(Generator, AReadingOlderThanAUsedUpStateIsStale) {
    use_up(noon);
    // Two callers have read the clock before the state reached noon. The clock has now reached it.
    for (Request late : {Request{}, Request{}}) {
        EXPECT_EQ(generator.next(word, noon - 1, lead, late).verdict, Verdict::stale);
        const auto answer = generator.next(word, noon, lead, late);
        EXPECT_EQ(answer.verdict, Verdict::exhausted);
        EXPECT_EQ(answer.ms, noon + 1);
    }
}

TEST_F(Generator, AReadingOlderThanTheStateIsNoLeadUntilTheClockIsReadAgain) {
    issue(noon);
    const int64_t past = noon - max_lead - 1001;
    EXPECT_EQ(generator.next(word, past, lead, request).verdict, Verdict::stale);
    EXPECT_EQ(generator.next(word, past, lead, request).verdict, Verdict::refused);
    request = {};
    EXPECT_EQ(generator.next(word, past, lead, request).verdict, Verdict::stale);
    EXPECT_EQ(issue(noon).sequence, 1U);
}

TEST_F(Generator, AMillisecondSeenByAnotherRequestDoesNotServeThisOne) {
    use_up(noon);
    Request late;
    ASSERT_EQ(ask(noon - 500, late).verdict, Verdict::exhausted);
    ASSERT_EQ(ask(noon - 500).verdict, Verdict::exhausted);
    issue(noon - 499);
    use_up(noon - 499);
    // `late` waited for the sequence of an earlier millisecond than the one used up now.
    EXPECT_EQ(ask(noon - 499, late).verdict, Verdict::exhausted);
    EXPECT_EQ(generator.next(word, noon - 498, lead, late).verdict, Verdict::issued);
}

TEST_F(Generator, AClockSetBackDuringAWaitCostsOneMillisecondAfterIt) {
    use_up(noon);
    ASSERT_EQ(ask(noon).verdict, Verdict::exhausted);
    const auto answer = ask(noon - 20'000);
    EXPECT_EQ(answer.verdict, Verdict::exhausted);
    EXPECT_EQ(answer.ms, noon - 19'999);
    EXPECT_EQ(issue(noon - 19'999), (SnowflakeParts{time_of(noon + 1), 2, 3, 0}));
}

TEST_F(Generator, StartsAfterAMarkAndWithoutAWait) {
    word = generator.state_after(noon + 500);
    EXPECT_EQ(issue(noon), (SnowflakeParts{time_of(noon + 501), 2, 3, 1}));
    word = generator.state_after(noon - 500);
    EXPECT_EQ(issue(noon), (SnowflakeParts{time_of(noon), 2, 3, 0}));
    word = generator.state_after(noon);
    EXPECT_GT(unix_ms_of(issue(noon).time), noon);
}

TEST_F(Generator, EndsWithTheLastIdOfTheLayout) {
    use_up(layout.max_unix_ms());
    EXPECT_EQ(ask(layout.max_unix_ms() - 1).verdict, Verdict::exhausted);
    EXPECT_EQ(ask(layout.max_unix_ms()).verdict, Verdict::out_of_range);
    EXPECT_EQ(word, (layout.max_timestamp() << layout.sequence_bits) + layout.max_sequence());
}

TEST_F(Generator, IssuesInAscendingOrderWhateverTheClockDoes) {
    lead = INT32_MAX;
    for (const auto start : {SnowflakeGenerator::Start::least, spread}) {
        generator = {layout, 7, 0, layout.max_sequence(), start};
        word = 0;
        int64_t last = -1;
        for (const int64_t step : {0, 1, 1, -50, 0, 0, 7, 200, -199, -1000, 3, 3, 3, 90'000}) {
            for (int i = 0; i < 3; ++i) {
                const auto answer = ask(noon + step);
                ASSERT_EQ(answer.verdict, Verdict::issued);
                ASSERT_GT(answer.id, last);
                last = answer.id;
            }
        }
    }
}

TEST(GeneratorBounds, AreKeptInEveryMillisecondAndLetGeneratorsShareANode) {
    const SnowflakeGenerator lower{layout, 7, 0, 3};
    const SnowflakeGenerator upper{layout, 7, 4, 4095};
    EXPECT_EQ(lower.capacity(), 4U);
    EXPECT_EQ(upper.capacity(), 4092U);
    std::atomic<uint64_t> lower_word{0};
    std::atomic<uint64_t> upper_word{0};
    Request request;
    for (int64_t now = noon; now < noon + 3; ++now) {
        for (uint32_t sequence = 0; sequence <= 3; ++sequence)
            ASSERT_EQ(layout.split(lower.next(lower_word, now, 0, request).id),
                      (SnowflakeParts{time_of(now), 0, 7, sequence}));
        ASSERT_EQ(lower.next(lower_word, now, 0, request).verdict, Verdict::exhausted);
        for (uint32_t sequence = 4; sequence <= 4095; ++sequence)
            ASSERT_EQ(layout.split(upper.next(upper_word, now, 0, request).id),
                      (SnowflakeParts{time_of(now), 0, 7, sequence}));
        ASSERT_EQ(upper.next(upper_word, now, 0, request).verdict, Verdict::exhausted);
    }
}

TEST(GeneratorBounds, AreTakenUpByAStateFromOutsideThem) {
    const SnowflakeGenerator bounded{layout, 7, 100, 103};
    std::atomic<uint64_t> word{0};
    Request request;
    SnowflakeGenerator{layout, 7}.next(word, noon, 0, request);
    EXPECT_EQ(layout.split(bounded.next(word, noon, 0, request).id).sequence, 100U);
    word = bounded.state_after(noon);
    EXPECT_EQ(layout.split(bounded.next(word, noon, 1000, request).id),
              (SnowflakeParts{time_of(noon + 1), 0, 7, 100}));
    SnowflakeGenerator{layout, 7, 200, 4095}.next(word, noon + 1, 0, request);
    EXPECT_EQ(bounded.next(word, noon + 1, 0, request).verdict, Verdict::exhausted);
}

TEST(GeneratorGoesOn, AfterTheLastIdOfAnotherState) {
    const SnowflakeGenerator generator{layout, 7, 10, 13};
    std::atomic<uint64_t> old_word{0};
    EXPECT_FALSE(generator.position(old_word));
    Request request;
    for (const int64_t now : {noon, noon, noon + 1, noon + 2, noon + 2, noon + 2, noon + 2}) {
        const auto before = layout.split(generator.next(old_word, now, 0, request).id);
        const auto last = generator.position(old_word);
        ASSERT_TRUE(last);
        EXPECT_EQ(last->unix_ms, unix_ms_of(before.time));
        EXPECT_EQ(last->sequence, before.sequence);

        // The same holds if the other server's clock is behind.
        std::atomic<uint64_t> word{generator.state_after(noon - 5000)};
        ASSERT_TRUE(generator.resume_after(word, *last));
        EXPECT_EQ(word, old_word);
        ASSERT_TRUE(generator.resume_after(word, *last));
        auto answer = ask(generator, word, now - 1000, 60'000, request);
        if (answer.verdict == Verdict::exhausted)
            answer = ask(generator, word, now - 999, 60'000, request);
        const auto after = layout.split(answer.id);
        EXPECT_GT(std::tie(after.time, after.sequence), std::tie(before.time, before.sequence));
        EXPECT_FALSE(generator.resume_after(word, *last)) << "it has come further";
    }
}

TEST_F(Generator, HasUsedAShareOfTheSequenceOfTheClocksMillisecond) {
    EXPECT_EQ(generator.sequence_used(word, noon), std::nullopt);
    for (int issued = 1; issued <= 1024; ++issued) issue(noon);
    EXPECT_EQ(generator.sequence_used(word, noon), 0.25F);
    while (ask(noon).verdict == Verdict::issued) {
    }
    EXPECT_EQ(generator.sequence_used(word, noon), 1.0F);
    EXPECT_EQ(generator.sequence_used(word, noon + 1), 0.0F);
    EXPECT_EQ(generator.sequence_used(word, noon - 1), std::nullopt) << "it is ahead of the clock";
}

TEST(GeneratorOfAPart, HasUsedAShareOfItsPart) {
    const SnowflakeGenerator generator{layout, 7, 10, 13};
    std::atomic<uint64_t> word{generator.state_after(noon - 1)};
    EXPECT_EQ(generator.sequence_used(word, noon), 0.0F);
    EXPECT_EQ(generator.sequence_used(word, noon - 1), std::nullopt);
    Request request;
    for (const float used : {0.25F, 0.5F, 0.75F, 1.0F}) {
        ASSERT_EQ(generator.next(word, noon, 0, request).verdict, Verdict::issued);
        EXPECT_EQ(generator.sequence_used(word, noon), used);
    }
    (void)generator.begin_unit(word, noon + 1);
    EXPECT_EQ(generator.sequence_used(word, noon), 1.0F);
    EXPECT_EQ(generator.sequence_used(word, noon + 1), 0.0F);
}

/// Checks that try_next() and next() agree at noon in the state `last`: both issue the same ID, or
/// neither issues one.
void expect_same_step(const SnowflakeGenerator& generator, uint64_t last) {
    SCOPED_TRACE(last);
    std::atomic<uint64_t> word{last};
    std::atomic<uint64_t> word_of_try{last};
    Request request;
    const auto answer = generator.next(word, noon, 0, request);
    int64_t id = 0;
    EXPECT_EQ(generator.try_next(word_of_try, noon, id), answer.verdict == Verdict::issued);
    EXPECT_EQ(id, answer.id);
    EXPECT_EQ(word_of_try, word);
}

TEST(GeneratorShortcut, TakesTheSameStepOrNone) {
    SnowflakeLayout seconds = layout;
    seconds.unit_ms = 1000;
    SnowflakeLayout sequence_first = layout;
    sequence_first.order = FieldOrder::sequence_worker_datacenter;
    for (const auto& generator :
         {SnowflakeGenerator{layout, 7}, SnowflakeGenerator{layout, 7, 100, 103},
          SnowflakeGenerator{seconds, 7}, SnowflakeGenerator{sequence_first, 7, 100, 103},
          SnowflakeGenerator{layout, 7, 0, 4095, spread},
          SnowflakeGenerator{sequence_first, 7, 4, 103, spread}}) {
        expect_same_step(generator, 0);
        const uint64_t present = generator.layout().units_at(noon);
        for (const uint64_t timestamp : {present - 1, present, present + 1})
            for (const uint64_t sequence :
                 {0, 1, 3, 4, 97, 98, 99, 100, 101, 102, 103, 104, 3839, 3840, 3841, 4094, 4095})
                expect_same_step(generator, timestamp << layout.sequence_bits | sequence);
    }
}

// ---- spread starts ----------------------------------------------------------------------------

TEST(GeneratorSpread, StartsEachUnitAtTheNumberOfTheVectors) {
    SnowflakeLayout wide = layout;
    wide.datacenter_bits = wide.worker_bits = 0;
    wide.sequence_bits = 17;
    ASSERT_FALSE(test::read_vectors("spread.tsv", 4).empty());
    for (const auto& row : test::read_vectors("spread.tsv", 4)) {
        SCOPED_TRACE(row[0] + ' ' + row[1] + ' ' + row[2]);
        const auto min = static_cast<uint32_t>(std::stoul(row[1]));
        const auto max = static_cast<uint32_t>(std::stoul(row[2]));
        const SnowflakeGenerator generator{wide, 0, min, max, spread};
        const auto unit = std::stoull(row[0]);
        const auto parts = wide.split(generator.compose(unit, min));
        EXPECT_EQ(wide.units_at(unix_ms_of(parts.time)), unit);
        EXPECT_EQ(parts.sequence, std::stoul(row[3]));
    }
}

TEST(GeneratorSpread, IssuesConsecutiveNumbersWithinItsPart) {
    for (const auto& [min, max, capacity] :
         {std::tuple{0U, 4095U, 3841U}, {0U, 31U, 31U}, {2048U, 4095U, 1921U}, {7U, 53U, 46U}}) {
        SCOPED_TRACE(max);
        const SnowflakeGenerator generator{layout, 7, min, max, spread};
        ASSERT_EQ(generator.capacity(), capacity);
        EXPECT_GE(generator.capacity() * 16, (max - min + 1) * 15);
        std::atomic<uint64_t> word{0};
        Request request;
        uint32_t lowest = max, highest = min;
        for (int64_t now = noon; now < noon + 1000; ++now) {
            const auto first = layout.split(generator.next(word, now, 0, request).id);
            for (uint32_t issued = 1; issued < capacity; ++issued)
                ASSERT_EQ(layout.split(generator.next(word, now, 0, request).id),
                          (SnowflakeParts{time_of(now), 0, 7, first.sequence + issued}));
            ASSERT_EQ(generator.sequence_used(word, now), 1.0F);
            const auto answer = generator.next(word, now, 0, request);
            ASSERT_EQ(answer.verdict, Verdict::exhausted);
            ASSERT_EQ(answer.ms, now + 1);
            lowest = std::min(lowest, first.sequence);
            highest = std::max(highest, first.sequence + capacity - 1);
        }
        EXPECT_EQ(lowest, min);
        EXPECT_EQ(highest, max);
    }
}

TEST(GeneratorSpread, GivesEachRemainderItsShareOfIdsAtALowRate) {
    const SnowflakeGenerator generator{layout, 7, 0, 4095, spread};
    constexpr uint32_t ids = 10'000;
    for (const int64_t interval_ms : {1, 2, 5, 10, 64, 1000, 60'000}) {
        for (const uint32_t divisor : {2U, 3U, 8U, 10U, 64U, 100U}) {
            std::atomic<uint64_t> word{0};
            std::vector<uint32_t> buckets(divisor);
            for (uint32_t i = 0; i < ids; ++i) {
                int64_t id = 0;
                ASSERT_TRUE(generator.try_next(word, noon + i * interval_ms, id));
                ++buckets[static_cast<uint64_t>(id) % divisor];
            }
            const auto [least, most] = std::minmax_element(buckets.begin(), buckets.end());
            EXPECT_GE(*least * 2, ids / divisor) << interval_ms << " ms, % " << divisor;
            EXPECT_LE(*most, 2 * ids / divisor) << interval_ms << " ms, % " << divisor;
        }
    }
}

TEST(GeneratorSpread, GoesOnAfterTheLastIdOfAnotherState) {
    const SnowflakeGenerator generator{layout, 7, 10, 41, spread};
    std::atomic<uint64_t> word{0};
    Request request;
    int64_t last = 0;
    for (int64_t now = noon; now < noon + 20; ++now) {
        for (uint32_t issued = 0; issued < generator.capacity(); ++issued) {
            const auto answer = generator.next(word, now, 0, request);
            ASSERT_GT(answer.id, last);
            last = answer.id;
            std::atomic<uint64_t> resumed{generator.state_after(now - 5000)};
            ASSERT_TRUE(generator.resume_after(resumed, *generator.position(word)));
            EXPECT_EQ(resumed, word);
        }
    }
}

TEST(GeneratorLayouts, EveryPresetIssuesItsOwnIds) {
    for (const auto& [name, preset] : layout_presets) {
        SCOPED_TRACE(name);
        const int64_t time = std::min(noon, preset.max_unix_ms());
        std::atomic<uint64_t> word{0};
        Request request;
        const SnowflakeGenerator generator{preset, preset.max_node()};
        generator.next(word, time, 0, request);
        const auto answer = generator.next(word, time, 0, request);
        ASSERT_EQ(answer.verdict, Verdict::issued);
        const SnowflakeParts parts{time_of(preset.truncate(time)), preset.max_datacenter(),
                                   preset.max_worker(), 1};
        EXPECT_EQ(preset.split(answer.id), parts);
        int64_t id = 0;
        ASSERT_TRUE(generator.try_next(word, time, id));
        EXPECT_EQ(preset.split(id).sequence, 2U);
    }
}

}  // namespace
}  // namespace snowdrift
