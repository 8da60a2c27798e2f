// The sno generator, compared with the reference's trace, and with a clock that the test sets.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <set>

#include "unit/sno_generator_fixture.hpp"
#include "unit/vectors.hpp"

namespace snowdrift {
namespace {

constexpr int64_t unlimited = INT64_MAX / 2;

struct Traced {
    explicit Traced(const SnoGenerator& traced) : generator{traced} {}

    SnoGenerator generator;
    SnoState state{};
};

/// The generators that the "# generator" lines of the trace declare.
std::map<std::string, std::unique_ptr<Traced>> traced_generators() {
    std::map<std::string, std::unique_ptr<Traced>> generators;
    std::ifstream file{std::string{SNOWDRIFT_VECTORS} + "/sno_generator_trace.tsv"};
    for (std::string line; std::getline(file, line);) {
        int number;
        int partition;
        int min;
        int max;
        if (std::sscanf(line.c_str(), "# generator %d partition %d seq_min %d seq_max %d", &number,
                        &partition, &min, &max) == 4)
            generators[std::to_string(number)] = std::make_unique<Traced>(
                SnoGenerator{static_cast<uint16_t>(partition), static_cast<uint16_t>(min),
                             static_cast<uint16_t>(max)});
    }
    return generators;
}

TEST(SnoGenerator, AnswersAsTheReferenceDoesToEveryReadingOfTheClock) {
    const auto generators = traced_generators();
    std::map<std::string, int> seen;
    for (const auto& row : test::read_vectors("sno_generator_trace.tsv", 7)) {
        auto& [generator, state] = *generators.at(row[0]);
        const uint64_t units = std::stoull(row[1]);
        const auto metabyte = static_cast<uint8_t>(std::stoul(row[2]));
        const auto answer = ask_once(generator, state, ms_of(units), unlimited, metabyte);
        const std::string context = row[0] + " at " + row[1];
        if (row[3] == "WAIT") {
            ASSERT_EQ(answer.verdict, Verdict::clock_behind) << context;
            EXPECT_EQ(answer.ms, ms_of(std::stoull(row[6]) + 1)) << context;
            ++seen["WAIT"];
        } else if (row[3] == "FULL") {
            ASSERT_EQ(answer.verdict, Verdict::exhausted) << context;
            EXPECT_EQ(answer.ms, ms_of(units + 1)) << context;
            ++seen["FULL"];
        } else {
            ASSERT_EQ(answer.verdict, Verdict::issued) << context;
            ASSERT_EQ(test::hex_of(answer.id.bytes()), row[3]) << context;
            const Sno::Text text = answer.id.text();
            ASSERT_EQ(std::string(text.begin(), text.end()), row[4]) << context;
            EXPECT_EQ(answer.ms, ms_of(units)) << context;
            ++seen["ID"];
        }
        EXPECT_EQ(state.regressions, std::stoull(row[5])) << context;
        EXPECT_EQ(generator.position(state).safe, std::stoull(row[6])) << context;
    }
    EXPECT_EQ(generators.size(), 12U);
    EXPECT_GT(seen["ID"], 600);
    EXPECT_GT(seen["WAIT"], 20);
    EXPECT_GE(seen["FULL"], 1);
}

TEST(SnoGenerator, CountsForCallersTimesAsTheReferenceDoes) {
    SnoState state{};
    size_t rows = 0;
    for (const auto& row : test::read_vectors("sno_at.tsv", 7)) {
        const SnoGenerator generator{static_cast<uint16_t>(std::stoul(row[2])),
                                     static_cast<uint16_t>(std::stoul(row[3])),
                                     static_cast<uint16_t>(std::stoul(row[4]))};
        const Sno id = generator.at(state, std::stoll(row[0]) / 1'000'000,
                                    static_cast<uint8_t>(std::stoul(row[1])));
        EXPECT_EQ(test::hex_of(id.bytes()), row[5]);
        ++rows;
    }
    EXPECT_EQ(rows, 12U);
}

TEST_F(Snos, CarryWhatTheyWereMadeOf) {
    EXPECT_EQ(
        issue(noon).split(),
        (SnoParts{.units = noon, .tick = false, .metabyte = 7, .partition = 4242, .sequence = 10}));
}

TEST_F(Snos, AllMillisecondsOfAUnitAreOne) {
    for (int ms = 0; ms < 4; ++ms) {
        const auto answer = ask_once(generator, state, ms_of(noon) + ms, max_lead, 7);
        ASSERT_EQ(answer.verdict, Verdict::issued);
        EXPECT_EQ(answer.id.units(), noon);
        EXPECT_EQ(answer.id.sequence(), 10 + ms);
    }
    EXPECT_EQ(ask(noon).verdict, Verdict::exhausted);
    EXPECT_EQ(ask(noon).ms, ms_of(noon + 1));
    EXPECT_EQ(issue(noon + 1).sequence(), 10);
}

TEST_F(Snos, AFirstRegressionGoesOnAtOnceInTheOtherTimeline) {
    issue(noon);
    const Sno id = issue(noon - 250);
    EXPECT_EQ(id.units(), noon - 250);
    EXPECT_TRUE(id.tick());
    EXPECT_EQ(id.sequence(), 10);
    EXPECT_EQ(safe(), noon);
    EXPECT_EQ(state.regressions, 1U);
    // The other timeline continues through the times of the first without a flip.
    EXPECT_TRUE(issue(noon).tick());
    EXPECT_TRUE(issue(noon + 1).tick());
}

TEST_F(Snos, AReadingFromBeforeAnotherCallerEnteredTheOtherTimelineIsStale) {
    issue(noon);
    Request request;
    EXPECT_EQ(generator.next(state, ms_of(noon - 251), max_lead, 7, request).verdict,
              Verdict::stale);
    // The caller reads the clock, and then another one reads the next unit, and draws.
    EXPECT_TRUE(issue(noon - 250).tick());
    EXPECT_EQ(generator.next(state, ms_of(noon - 251), max_lead, 7, request).verdict,
              Verdict::stale);
    const auto answer = generator.next(state, ms_of(noon - 250), max_lead, 7, request);
    ASSERT_EQ(answer.verdict, Verdict::issued);
    expect_at(answer.id, noon - 250, true, 11);
}

TEST_F(Snos, AReadingOlderThanTheStateIsNoRegressionUntilTheClockIsReadAgain) {
    Request request;
    issue(noon);
    EXPECT_EQ(generator.next(state, ms_of(noon - 1), max_lead, 7, request).verdict, Verdict::stale);
    // Then another session draws. The next reading is before its time, but not before the previous
    // state's.
    issue(noon + 1);
    EXPECT_EQ(generator.next(state, ms_of(noon), max_lead, 7, request).verdict, Verdict::stale);
    const auto answer = generator.next(state, ms_of(noon + 1), max_lead, 7, request);
    ASSERT_EQ(answer.verdict, Verdict::issued);
    EXPECT_FALSE(answer.id.tick());
    EXPECT_EQ(state.regressions, 0U);
}

TEST_F(Snos, ARegressionAboveTheSafeMarkFlipsBack) {
    issue(noon);
    issue(noon - 250);
    issue(noon + 100);
    const Sno id = issue(noon + 1);
    EXPECT_FALSE(id.tick());
    EXPECT_EQ(safe(), noon + 100);
    EXPECT_EQ(state.regressions, 2U);
}

TEST_F(Snos, ASecondRegressionIntoUnsafePastIsWaitedOut) {
    issue(noon);
    issue(noon - 250);
    for (const uint64_t back : {251, 300}) {
        const auto answer = ask(noon - back);
        EXPECT_EQ(answer.verdict, Verdict::clock_behind);
        EXPECT_EQ(answer.ms, ms_of(noon + 1));
    }
    EXPECT_FALSE(state.word >> 17 == noon);
    EXPECT_TRUE(issue(noon + 1).tick());
}

TEST_F(Snos, UnsafePastTooFarAwayIsRefused) {
    issue(noon);
    issue(noon - 1);
    const uint64_t limit = (max_lead + max_wait_ms) / Sno::unit_ms;
    EXPECT_EQ(ask(noon + 1 - limit).verdict, Verdict::clock_behind);
    const auto answer = ask(noon - limit);
    EXPECT_EQ(answer.verdict, Verdict::refused);
    EXPECT_EQ(answer.ms, max_lead + max_wait_ms + Sno::unit_ms);
}

TEST_F(Snos, AMarkLeavesTheTimelineAsItIs) {
    issue(noon);
    issue(noon - 250);
    SnoGenerator::advance_past(state, ms_of(noon - 100));
    EXPECT_EQ(ask(noon - 100).verdict, Verdict::clock_behind);
    EXPECT_TRUE(issue(noon + 1).tick());
}

TEST_F(Snos, AMarkBehindTheStateOnlySkipsASequenceNumberOnce) {
    issue(noon);
    SnoGenerator::advance_past(state, ms_of(noon - 100));
    EXPECT_EQ(issue(noon).sequence(), 12) << "a caller that has read an earlier mark has to retry";
    SnoGenerator::advance_past(state, 0);
    EXPECT_EQ(issue(noon).sequence(), 13);
    SnoGenerator::advance_past(state, ms_of(noon - 100));
    EXPECT_EQ(generator.position(state).sequence, 13);
    SnoGenerator::advance_past(state, ms_of(noon - 50));
    EXPECT_EQ(ask(noon).verdict, Verdict::exhausted);
    EXPECT_EQ(issue(noon + 1).sequence(), 10);
}

TEST_F(Snos, AMarkBehindTheLastSequenceNumberOfAStateSkipsToTheNextUnit) {
    const SnoGenerator highest{4242, UINT16_MAX - 1, UINT16_MAX};
    for (int i = 0; i < 2; ++i) (void)ask_once(highest, state, ms_of(noon), max_lead, 7);
    const uint64_t used_up = state.word;
    SnoGenerator::advance_past(state, ms_of(noon - 100));
    EXPECT_GT(state.word, used_up);
    expect_at(ask_once(highest, state, ms_of(noon + 1), max_lead, 7).id, noon + 1, false,
              UINT16_MAX - 1);
}

TEST_F(Snos, GoOnInTheOtherTimelineAfterAnotherCallerFailedToEnterIt) {
    issue(noon);
    SnoState copy{};
    copy.word = state.word.load();
    issue(noon - 250);
    // The other caller stored its marks, and then drew nothing, because the word had changed.
    copy.safe[0] = state.safe[0].load();
    copy.safe[1] = state.safe[1].load();
    const auto answer = ask_once(generator, copy, ms_of(noon - 250), max_lead, 7);
    ASSERT_EQ(answer.verdict, Verdict::issued);
    expect_at(answer.id, noon - 250, true, 10);
}

TEST_F(Snos, ASequenceOutsideTheBoundsIsBroughtBackIntoThem) {
    const SnoGenerator lower{4242, 0, 3};
    ASSERT_EQ(ask_once(lower, state, ms_of(noon), max_lead, 0).verdict, Verdict::issued);
    EXPECT_EQ(issue(noon).sequence(), 10);
    EXPECT_EQ(ask_once(lower, state, ms_of(noon), max_lead, 0).verdict, Verdict::exhausted);
}

/// Draws with a clock that jumps randomly within the 12 units from `first` on, and adds the IDs to
/// `ids`. Some requests wait. Returns false if an ID is repeated.
bool draw_at_random(const SnoGenerator& generator, SnoState& state, uint64_t first,
                    std::mt19937& random, std::set<Sno>& ids) {
    Request request;
    for (int i = 0; i < 60; ++i) {
        const int64_t now = ms_of(first + random() % 12);
        const auto answer = ask(generator, state, now, unlimited, 7, request);
        if (answer.verdict == Verdict::issued && !ids.insert(answer.id).second) return false;
        if (answer.verdict == Verdict::issued || random() % 4 == 0) request = {};
    }
    return true;
}

TEST(SnosGoOn, WithoutOverlapWhereverTheClockIs) {
    constexpr uint64_t noon = 133'056'000'000;
    const SnoGenerator generator{4242, 10, 13};
    std::mt19937 random{1};
    for (int round = 0; round < 10'000; ++round) {
        std::set<Sno> ids;
        SnoState origin{};
        ASSERT_TRUE(draw_at_random(generator, origin, noon, random, ids));

        SnoState fresh{};
        SnoGenerator::advance_past(fresh, ms_of(noon + random() % 12));
        SnoGenerator::start_after(fresh, generator.position(origin));
        ASSERT_TRUE(draw_at_random(generator, fresh, noon, random, ids));

        SnoState used{};
        ASSERT_TRUE(draw_at_random(generator, used, noon - 12, random, ids));
        ASSERT_TRUE(generator.resume_after(used, generator.position(fresh)));
        ASSERT_TRUE(draw_at_random(generator, used, noon, random, ids));
        ASSERT_TRUE(draw_at_random(generator, used, noon + 12, random, ids));
        ASSERT_FALSE(generator.resume_after(used, generator.position(fresh)))
            << "it has come further";
    }
}

TEST_F(Snos, GoOnExactlyWhereTheyWere) {
    issue(noon);
    issue(noon - 100);
    issue(noon - 100);
    const SnoPosition use = generator.position(state);
    EXPECT_EQ(use, (SnoPosition{.units = noon - 100, .tick = true, .sequence = 11, .safe = noon}));
    EXPECT_EQ(use.highest(), noon);

    SnoState other{};
    SnoGenerator::start_after(other, use);
    EXPECT_EQ(generator.position(other), use);
    EXPECT_TRUE(generator.resume_after(other, use)) << "it is there already";
    EXPECT_EQ(generator.position(other), use);
    const auto answer = ask_once(generator, other, ms_of(noon - 100), max_lead, 0);
    EXPECT_EQ(answer.id.sequence(), 12);
    EXPECT_TRUE(answer.id.tick());
    EXPECT_FALSE(generator.resume_after(other, use)) << "it has come further";
}

TEST_F(Snos, TheHighestTimeIsThatOfTheTimelineThatIsFurther) {
    issue(noon);
    EXPECT_EQ(SnoGenerator::highest_unix_ms(state), ms_of(noon));
    issue(noon - 250);
    EXPECT_EQ(SnoGenerator::highest_unix_ms(state), ms_of(noon));
    issue(noon + 100);
    EXPECT_FALSE(issue(noon + 50).tick());
    EXPECT_EQ(SnoGenerator::highest_unix_ms(state), ms_of(noon + 100));
}

TEST_F(Snos, ResumeAfterALaterSafeMarkOfTheSamePosition) {
    SnoPosition other{.units = noon, .tick = false, .sequence = 11, .safe = noon - 100};
    SnoGenerator::start_after(state, other);
    other.safe = noon - 50;
    EXPECT_TRUE(generator.resume_after(state, other));
    expect_at(issue(noon - 70), noon + 1, false, 10);
}

TEST_F(Snos, AStateThatHasIssuedNothingHasUsedItsMark) {
    EXPECT_EQ(generator.position(state), SnoPosition{});
    SnoGenerator::advance_past(state, ms_of(noon));
    EXPECT_EQ(generator.position(state),
              (SnoPosition{.units = noon, .sequence = 13, .safe = noon}));
}

TEST_F(Snos, HaveUsedAShareOfTheSequenceOfTheClocksUnit) {
    const auto used_at = [this](int64_t unix_ms) {
        return generator.sequence_used(state.word, unix_ms);
    };
    EXPECT_EQ(used_at(ms_of(noon)), std::nullopt);
    start_after(noon - 1);
    EXPECT_EQ(used_at(ms_of(noon)), 0.0F);
    for (const float used : {0.25F, 0.5F, 0.75F, 1.0F}) {
        issue(noon);
        EXPECT_EQ(used_at(ms_of(noon)), used);
        EXPECT_EQ(used_at(ms_of(noon) + 3), used);
    }
    EXPECT_EQ(used_at(ms_of(noon + 1)), 0.0F);
    EXPECT_EQ(used_at(ms_of(noon) - 1), std::nullopt) << "it is ahead of the clock";
    issue(noon + 100);
    expect_at(issue(noon + 50), noon + 50, true, 10);
    EXPECT_EQ(used_at(ms_of(noon + 50)), 0.25F) << "in the other timeline";
}

TEST_F(Snos, HaveNoneBeforeTheEpochOrAfterTheEnd) {
    EXPECT_EQ(ask_once(generator, state, Sno::epoch_unix_ms - 1, max_lead, 0).verdict,
              Verdict::out_of_range);
    EXPECT_EQ(ask_once(generator, state, Sno::max_timestamp_ms + 1, max_lead, 0).verdict,
              Verdict::out_of_range);
    EXPECT_EQ(issue(Sno::max_units).units(), Sno::max_units);
}

}  // namespace
}  // namespace snowdrift
