// The protocol of the mark, the states and the slots: all interleavings of two sessions, crashes,
// failovers and steps of the clock, up to bounds that each scenario states. The sessions run the
// code of src/protocol, and the generators are the extension's own. docs/guarantees.md states the
// invariants, and what the model does not cover.
//
// With SNOWDRIFT_LONG, as `./dev test --long` sets it, the bounds are wider.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <sstream>

#include "model/explorer.hpp"
#include "model/trace.hpp"

namespace snowdrift::model {
namespace {

using enum Statement;

const Scenario crashes{.name = "Crashes",
                       .budget = {.draws = 3, .crashes = 2, .clock_steps = 1, .replacements = 0}};
const Scenario ahead{.name = "Ahead",  // the clock is where the mark is advanced ahead of need
                     .budget = {.draws = 3, .crashes = 1, .clock_steps = 2, .replacements = 0},
                     .step_ms = 3 * lease_ms / 4,
                     .has_wal_writer = true};
const Scenario slow_units{
    .name = "SlowUnits",
    .kind = Kind::slow_snowflake,
    .budget = {.draws = 3, .crashes = 1, .clock_steps = 2, .replacements = 0}};
const Scenario blocks{.name = "Blocks",
                      .kind = Kind::ulid,
                      .budget = {.draws = 4, .crashes = 1, .clock_steps = 1, .replacements = 0}};
const Scenario timelines{.name = "Timelines",
                         .kind = Kind::sno,
                         .budget = {.draws = 4, .crashes = 0, .clock_steps = 4, .replacements = 0},
                         .step_ms = 4,
                         .back_ms = 4};
const Scenario sno_restarts{
    .name = "SnoRestarts",
    .kind = Kind::sno,
    .budget = {.draws = 3, .crashes = 2, .clock_steps = 2, .replacements = 0}};
const Scenario sno_leads{
    .name = "SnoLeads",  // the clock stands still, so fresh states are ahead of it
    .kind = Kind::sno,
    .budget = {.draws = 3, .crashes = 2, .clock_steps = 0, .replacements = 0}};
const Scenario generators{.name = "Generators",
                          .statements = {draw, replace_generator},
                          .budget = {.draws = 4, .crashes = 0, .clock_steps = 1, .replacements = 1},
                          .step_ms = 1,
                          .back_ms = 1,
                          .has_aborts = true};
const Scenario extensions{.name = "Extensions",
                          .statements = {draw, replace_extension},
                          .budget = {.draws = 3, .crashes = 1, .clock_steps = 1, .replacements = 1},
                          .step_ms = lease_ms + 1,  // the next millisecond after the first mark
                          .is_asynchronous = true,
                          .has_aborts = true,
                          .has_wal_writer = true};
const Scenario resets{.name = "Resets",
                      .statements = {draw, reset},
                      .budget = {.draws = 4, .crashes = 1, .clock_steps = 2, .replacements = 1},
                      .back_ms = lease_ms,  // so that the next step repeats a time
                      .max_lead_ms = 0};
const Scenario block_resets{
    .name = "BlockResets",
    .kind = Kind::ulid,
    .statements = {draw, reset},
    .budget = {.draws = 4, .crashes = 1, .clock_steps = 2, .replacements = 1},
    .max_lead_ms = 0};
const Scenario replaced_resets{
    .name = "ReplacedResets",
    .statements = {draw, reset, replace_extension},
    .budget = {.draws = 3, .crashes = 0, .clock_steps = 2, .replacements = 2},
    .back_ms = lease_ms,
    .max_lead_ms = 0};
const Scenario standbys{.name = "Standbys",
                        .budget = {.draws = 3, .crashes = 1, .clock_steps = 1, .replacements = 0},
                        .step_ms = 3 * lease_ms / 4,
                        .has_standby = true,
                        .has_wal_writer = true};
const Scenario libraries{.name = "Libraries",
                         .budget = {.draws = 4, .crashes = 1, .clock_steps = 1, .replacements = 0},
                         .has_two_libraries = true};

bool is_long() { return std::getenv("SNOWDRIFT_LONG") != nullptr; }

Outcome<Action> run(const Scenario& scenario, Mutation mutation, size_t max_states) {
    const Protocol protocol{scenario, mutation};
    const auto start = std::chrono::steady_clock::now();
    auto outcome = explore(protocol, max_states);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    std::cout << scenario.name << ": " << outcome.states << " states, " << outcome.transitions
              << " transitions, depth " << outcome.depth << (outcome.is_complete ? " (all)" : "")
              << ", " << seconds.count() << " s\n";
    if (outcome.violation != nullptr) {
        std::cout << outcome.violation << " Trace of " << outcome.trace.size() << " actions:\n";
        print_trace(std::cout, protocol, scenario, outcome.trace);
    }
    return outcome;
}

// ---- the state in shared memory

TEST(MarkState, IsNotBoundToAFileWithAnEarlierMark) {
    MarkState state{};
    state.word = MarkWord{2000, 1}.bits;
    EXPECT_FALSE(state.bind(7, 1999));
    EXPECT_EQ(state.load().bits, (MarkWord{2000, 1}.bits));
    EXPECT_TRUE(state.bind(7, 2000));
    EXPECT_EQ(state.load().bits, (MarkWord{2000, 2}.bits));
    EXPECT_EQ(state.floor_ms, 2000U);
    EXPECT_EQ(state.fresh_ms, 2000U);
}

TEST(MarkState, OnlyMovesForwardUnderItsTag) {
    MarkState state{};
    state.word = MarkWord{2000, 1}.bits;
    state.publish({3000, 2});
    state.publish({1999, 1});
    EXPECT_EQ(state.load().bits, (MarkWord{2000, 1}.bits));
    state.publish({3000, 1});
    EXPECT_EQ(state.load().bits, (MarkWord{3000, 1}.bits));
}

TEST(MarkState, StartsAgainAfterAReset) {
    MarkState state{};
    ASSERT_TRUE(state.bind(7, 2000));
    (void)state.advance_fresh_floor(3000);
    state.reset();
    EXPECT_EQ(state.load().bits, (MarkWord{0, 2}.bits));
    EXPECT_EQ(state.advance_fresh_floor(0), 0);
}

// ---- the protocol has no violation

class MarkProtocol : public testing::TestWithParam<const Scenario*> {};

TEST_P(MarkProtocol, KeepsItsInvariantsInEveryInterleaving) {
    Scenario scenario = *GetParam();
    if (is_long()) ++scenario.budget.draws;
    const auto outcome = run(scenario, Mutation::none, is_long() ? 4'000'000 : 600'000);
    EXPECT_EQ(outcome.violation, nullptr) << outcome.violation;
    EXPECT_TRUE(outcome.is_complete || outcome.depth > 35);  // docs/guarantees.md
}

INSTANTIATE_TEST_SUITE_P(Scenarios, MarkProtocol,
                         testing::Values(&crashes, &ahead, &slow_units, &blocks, &timelines,
                                         &sno_restarts, &sno_leads, &generators, &extensions,
                                         &resets, &block_resets, &replaced_resets, &standbys,
                                         &libraries),
                         [](const auto& info) { return std::string{info.param->name}; });

// ---- the model finds a violation if the protocol breaks a sentence of the proof

struct Broken {
    Mutation mutation;
    const char* name;
    const Scenario* scenario;
};

void PrintTo(const Broken& broken, std::ostream* out) { *out << broken.name; }

class MutatedMarkProtocol : public testing::TestWithParam<Broken> {};

TEST_P(MutatedMarkProtocol, BreaksAnInvariant) {
    EXPECT_NE(run(*GetParam().scenario, GetParam().mutation, 2'000'000).violation, nullptr);
}

#define BROKEN(mutation, scenario) \
    Broken { Mutation::mutation, #mutation, &(scenario) }
constexpr Broken mutations[] = {
    // sentence 1
    BROKEN(return_without_advance, crashes),
    BROKEN(return_before_flush, crashes),
    BROKEN(trust_page, crashes),
    BROKEN(publish_unflushed, ahead),
    BROKEN(publish_unflushed, standbys),
    BROKEN(mark_before_position, ahead),
    BROKEN(lease_ignores_id, sno_leads),
    BROKEN(cover_ignores_lead, sno_leads),
    BROKEN(ignore_standby, standbys),
    BROKEN(ignore_canceled_wait, standbys),
    BROKEN(skip_commit_of_extension, extensions),
    BROKEN(trust_writer, extensions),
    BROKEN(unlocked_page, crashes),
    BROKEN(publish_under_another_tag, resets),
    // sentence 2
    BROKEN(fresh_state_ignores_mark, crashes),
    BROKEN(fresh_state_starts_at_mark, crashes),
    BROKEN(fresh_state_starts_at_mark, slow_units),
    BROKEN(drop_keeps_floor, generators),
    BROKEN(rollback_keeps_floor, generators),
    BROKEN(rollback_keeps_state, generators),
    BROKEN(new_file_starts_at_zero, extensions),
    BROKEN(reset_keeps_file, resets),
    BROKEN(reset_without_attach, replaced_resets),
    // sentence 3
    BROKEN(draw_in_two_steps, crashes),
    BROKEN(attach_sets_state, crashes),
    BROKEN(ignore_safe_mark, timelines),
    BROKEN(ignore_safe_mark, sno_restarts),
    BROKEN(forget_timeline, timelines),
    BROKEN(block_outlives_mark, block_resets),
    BROKEN(unlocked_attach, block_resets),
    BROKEN(draw_ignores_tag, resets),
    BROKEN(advance_ignores_tag, resets),
    // while the library is replaced
    BROKEN(ignore_structure, libraries),
};
#undef BROKEN

std::string name_of(const testing::TestParamInfo<Broken>& info) {
    return std::string{info.param.name} + "_" + info.param.scenario->name;
}

INSTANTIATE_TEST_SUITE_P(Sentences, MutatedMarkProtocol, testing::ValuesIn(mutations), name_of);

}  // namespace
}  // namespace snowdrift::model
