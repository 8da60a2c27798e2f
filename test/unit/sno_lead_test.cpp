// Sno values that are ahead of the clock: those of a state that starts after others.
#include "unit/sno_generator_fixture.hpp"

namespace snowdrift {
namespace {

TEST_F(Snos, OfAFreshStateLeadTheClockUntilItHasPassedTheFloor) {
    start_after(noon);
    EXPECT_EQ(safe(), noon);
    expect_at(issue(noon - 100), noon + 1, false, 10);
    expect_at(issue(noon), noon + 1, false, 11);
    expect_at(issue(noon + 1), noon + 1, false, 12);
    expect_at(issue(noon + 2), noon + 2, false, 10);
    EXPECT_EQ(state.regressions, 0U) << "a fresh state's lead is no regression";
}

TEST_F(Snos, OfAFreshStateLeadUpToTheLimit) {
    start_after(noon);
    const int64_t first_ms = ms_of(noon + 1);
    const auto answer_at = [&](int64_t lead) {
        return ask_once(generator, state, first_ms - lead, max_lead, 7);
    };
    for (const int64_t excess : {int64_t{1}, max_wait(Sno::unit_ms)}) {
        const auto answer = answer_at(max_lead + excess);
        EXPECT_EQ(answer.verdict, Verdict::clock_behind);
        EXPECT_EQ(answer.ms, first_ms - max_lead) << "until the lead is the limit";
    }
    const int64_t too_far = max_lead + max_wait(Sno::unit_ms) + 1;
    EXPECT_EQ(answer_at(too_far).verdict, Verdict::refused);
    EXPECT_EQ(answer_at(too_far).ms, too_far);
    const auto answer = answer_at(max_lead);
    ASSERT_EQ(answer.verdict, Verdict::issued);
    expect_at(answer.id, noon + 1, false, 10);
}

TEST_F(Snos, AheadOfTheClockAdvanceByOneUnitPerUnitOfTheClock) {
    start_after(noon);
    issue(noon - 100);
    issue(noon - 100);
    for (uint64_t now = noon - 100; now < noon; ++now) {
        expect_at(issue(now), now + 101, false, 12);
        expect_at(issue(now), now + 101, false, 13);
        Request first;
        Request second;
        for (Request* const request : {&first, &second}) {
            const auto answer = ask(now, *request);
            ASSERT_EQ(answer.verdict, Verdict::exhausted);
            EXPECT_EQ(answer.ms, ms_of(now + 1));
        }
        EXPECT_EQ(ask(now + 1).verdict, Verdict::exhausted) << "this request has not waited";
        expect_at(ask(now + 1, first).id, now + 102, false, 10);
        expect_at(ask(now + 1, second).id, now + 102, false, 11);
    }
    EXPECT_EQ(state.regressions, 0U);
}

TEST_F(Snos, AheadOfTheClockStaySoWhileItPassesTheFloor) {
    start_after(noon);
    for (int i = 0; i < 4; ++i) issue(noon - 1);
    Request request;
    EXPECT_EQ(ask(noon - 1, request).verdict, Verdict::exhausted);
    expect_at(ask(noon, request).id, noon + 2, false, 10);
    expect_at(issue(noon + 1), noon + 2, false, 11);
    expect_at(issue(noon + 2), noon + 2, false, 12);
    EXPECT_EQ(state.regressions, 0U);
}

TEST_F(Snos, UseTheOtherTimelineOnceTheClockHasPassedTheFloor) {
    start_after(noon);
    issue(noon - 100);
    expect_at(issue(noon + 10), noon + 10, false, 10);
    expect_at(issue(noon + 1), noon + 1, true, 10);
    EXPECT_EQ(safe(), noon + 10);
    EXPECT_EQ(state.regressions, 1U);
    EXPECT_EQ(ask(noon).verdict, Verdict::clock_behind) << "a second regression";
    EXPECT_EQ(ask(noon).ms, ms_of(noon + 11));
}

TEST_F(Snos, LeadAgainIfTheClockIsSetBackBehindTheFloor) {
    start_after(noon);
    issue(noon + 50);
    expect_at(issue(noon), noon + 50, false, 11);
    EXPECT_EQ(state.regressions, 1U);
    expect_at(issue(noon - 10), noon + 50, false, 12);
    expect_at(issue(noon + 20), noon + 50, false, 13);
    EXPECT_EQ(state.regressions, 1U) << "until the clock has caught up";
    issue(noon + 51);
    expect_at(issue(noon + 50), noon + 50, true, 10);
    EXPECT_EQ(state.regressions, 2U);
}

TEST_F(Snos, WaitForTheFloorIfTheLastOneIsTooFarAhead) {
    start_after(noon);
    issue(noon + 20'000);
    EXPECT_EQ(ask(noon).verdict, Verdict::clock_behind);
    EXPECT_EQ(ask(noon).ms, ms_of(noon + 1));
    expect_at(issue(noon + 1), noon + 1, true, 10);
}

TEST_F(Snos, AheadOfTheClockEndWithTheFormat) {
    start_after(Sno::max_units - 1);
    Request request;
    for (int i = 0; i < 4; ++i) EXPECT_EQ(issue(Sno::max_units - 9).units(), Sno::max_units);
    EXPECT_EQ(ask(Sno::max_units - 9, request).verdict, Verdict::exhausted);
    EXPECT_EQ(ask(Sno::max_units - 8, request).verdict, Verdict::out_of_range);
    start_after(Sno::max_units);
    EXPECT_EQ(ask(Sno::max_units - 8).verdict, Verdict::out_of_range);
}

TEST_F(Snos, LeadTheClockAfterAMarkInTheirTimeline) {
    issue(noon);
    issue(noon - 250);
    start_after(noon + 100);
    expect_at(issue(noon - 200), noon + 101, true, 10);
    start_after(noon + 100);
    expect_at(issue(noon - 200), noon + 101, true, 11);
}

TEST_F(Snos, LeadTheClockAfterTheyWereRestored) {
    SnoGenerator::start_after(state,
                              {.units = noon - 100, .tick = true, .sequence = 11, .safe = noon});
    expect_at(issue(noon - 200), noon - 100, true, 12);
    EXPECT_EQ(state.regressions, 0U);
    expect_at(issue(noon - 99), noon - 99, true, 10);
}

}  // namespace
}  // namespace snowdrift
