// The watermark of a generator: all interleavings of two writers and a reader, up to bounds that
// each scenario states, and the history of ended transactions.
//
// With SNOWDRIFT_LONG, as `./dev test --long` sets it, the bounds are wider.
#include "model/watermark.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "model/explorer.hpp"

namespace snowdrift::watermark::model {
namespace {

struct Scenario {
    const char* name;
    Budget budget;
};

constexpr Scenario draws{"Draws",
                         {.transactions = 3,
                          .draws = 3,
                          .other_draws = 0,
                          .rows = 0,
                          .reads = 1,
                          .clock_steps = 1,
                          .prepares = 0,
                          .crashes = 0}};
constexpr Scenario clocks{"Clocks",
                          {.transactions = 2,
                           .draws = 2,
                           .other_draws = 0,
                           .rows = 0,
                           .reads = 1,
                           .clock_steps = 3,
                           .prepares = 0,
                           .crashes = 0}};
constexpr Scenario prepared{"Prepared",
                            {.transactions = 3,
                             .draws = 2,
                             .other_draws = 0,
                             .rows = 0,
                             .reads = 1,
                             .clock_steps = 1,
                             .prepares = 2,
                             .crashes = 0}};
constexpr Scenario rows{"Rows",
                        {.transactions = 2,
                         .draws = 1,
                         .other_draws = 0,
                         .rows = 1,
                         .reads = 1,
                         .clock_steps = 2,
                         .prepares = 0,
                         .crashes = 0}};
constexpr Scenario generators{"Generators",
                              {.transactions = 1,
                               .draws = 1,
                               .other_draws = 1,
                               .rows = 2,
                               .reads = 2,
                               .clock_steps = 2,
                               .prepares = 0,
                               .crashes = 0}};

constexpr Scenario crashes{"Crashes",
                           {.transactions = 2,
                            .draws = 1,
                            .other_draws = 0,
                            .rows = 1,
                            .reads = 1,
                            .clock_steps = 1,
                            .prepares = 0,
                            .crashes = 1}};

bool is_long() { return std::getenv("SNOWDRIFT_LONG") != nullptr; }

snowdrift::model::Outcome<Action> run(const Scenario& scenario, Mutation mutation) {
    Budget budget = scenario.budget;
    if (is_long()) ++budget.draws;
    const Watermark model{budget, mutation};
    auto outcome = snowdrift::model::explore(model, 6'000'000);
    std::cout << scenario.name << ": " << outcome.states << " states, " << outcome.transitions
              << " transitions, depth " << outcome.depth << (outcome.is_complete ? " (all)" : "")
              << '\n';
    if (outcome.violation == nullptr) return outcome;
    std::cout << outcome.violation << " Trace of " << outcome.trace.size() << " actions:\n";
    constexpr const char* actors[] = {"writer A ", "writer B ", "reader ", ""};
    for (const Action& action : outcome.trace)
        std::cout << "  " << actors[action.actor]
                  << choice_names[static_cast<size_t>(action.choice)] << '\n';
    return outcome;
}

// ---- the protocol has no violation

class WatermarkProtocol : public testing::TestWithParam<const Scenario*> {};

TEST_P(WatermarkProtocol, KeepsItsPromiseInEveryInterleaving) {
    const auto outcome = run(*GetParam(), Mutation::none);
    EXPECT_EQ(outcome.violation, nullptr) << outcome.violation;
    EXPECT_TRUE(outcome.is_complete || is_long());
}

INSTANTIATE_TEST_SUITE_P(Scenarios, WatermarkProtocol,
                         testing::Values(&draws, &clocks, &prepared, &rows, &generators, &crashes),
                         [](const auto& info) { return std::string{info.param->name}; });

// ---- the model finds a violation if the protocol breaks a rule

struct Broken {
    Mutation mutation;
    const char* name;
    const Scenario* scenario;
};

void PrintTo(const Broken& broken, std::ostream* out) { *out << broken.name; }

class MutatedWatermarkProtocol : public testing::TestWithParam<Broken> {};

TEST_P(MutatedWatermarkProtocol, BreaksThePromise) {
    EXPECT_NE(run(*GetParam().scenario, GetParam().mutation).violation, nullptr);
}

#define BROKEN(mutation, scenario) \
    Broken { Mutation::mutation, #mutation, &(scenario) }
constexpr Broken mutations[] = {
    BROKEN(publish_after_draw, draws),
    BROKEN(unfenced_hold, draws),
    BROKEN(unfenced_hold, rows),
    BROKEN(unfenced_begin, rows),
    BROKEN(unfenced_record, rows),
    BROKEN(scan_before_begin, draws),
    BROKEN(no_history, draws),
    BROKEN(clear_before_commit, draws),
    BROKEN(drop_prepared, prepared),
    BROKEN(scan_backwards, prepared),
    BROKEN(watch_without_rescan, rows),
    BROKEN(watch_without_check, rows),
    BROKEN(keep_later_hold, rows),
    BROKEN(keep_later_hold, generators),
    BROKEN(hold_without_begin, clocks),
    BROKEN(forget_in_crash, crashes),
    BROKEN(return_before_durable, crashes),
    BROKEN(mark_behind_watermark, crashes),
};
#undef BROKEN

INSTANTIATE_TEST_SUITE_P(Rules, MutatedWatermarkProtocol, testing::ValuesIn(mutations),
                         [](const auto& info) {
                             return std::string{info.param.name} + "_" + info.param.scenario->name;
                         });

}  // namespace
}  // namespace snowdrift::watermark::model

namespace snowdrift::watermark {
namespace {

// ---- the history of ended transactions

constexpr Generators all = ~Generators{0};

/// The lowest time and the generators of the entries whose transactions are at or after `first`.
Hold lowest_since(const History& history, uint64_t first) {
    Hold found{INT64_MAX, 0};
    history.visit([&](const Ended& each) {
        if (each.transaction < first) return false;
        found.unix_ms = std::min(found.unix_ms, each.hold.unix_ms);
        found.generators |= each.hold.generators;
        return true;
    });
    return found;
}

TEST(WatermarkHistory, IsEmptyAtFirst) { EXPECT_EQ(lowest_since(History{}, 0).unix_ms, INT64_MAX); }

TEST(WatermarkHistory, CountsAllTransactionsThatItMustAndAtMostAsManyEarlierOnes) {
    std::mt19937_64 random{34};
    for (int run = 0; run < 200; ++run) {
        History history{};
        std::vector<Ended> list;
        uint64_t transaction = 0;
        const size_t count = random() % 300;
        for (size_t i = 0; i < count; ++i) {
            transaction += 1 + random() % 3;
            list.push_back(
                {transaction, 5, {int64_t(random() % 1000), Generators{1} << random() % 64}});
            history.add(list.back());
        }
        const auto lowest_of_last = [&](size_t n) {
            Hold found{INT64_MAX, 0};
            for (size_t i = list.size() - std::min(n, list.size()); i < list.size(); ++i) {
                found.unix_ms = std::min(found.unix_ms, list[i].hold.unix_ms);
                found.generators |= list[i].hold.generators;
            }
            return found;
        };
        for (size_t n = 1; n <= list.size(); ++n) {
            const Hold found = lowest_since(history, list[list.size() - n].transaction);
            const Hold exact = lowest_of_last(n);
            const Hold most = lowest_of_last(2 * n);
            ASSERT_LE(found.unix_ms, exact.unix_ms);
            ASSERT_GE(found.unix_ms, most.unix_ms);
            ASSERT_EQ(exact.generators & ~found.generators, 0U);
            ASSERT_EQ(found.generators & ~most.generators, 0U);
        }
    }
}

TEST(WatermarkHistory, MergesTransactionsOfSeveralDatabases) {
    History history{};
    for (uint64_t i = 1; i <= 4; ++i) history.add({i, i == 1 ? 5U : 6U, {10, all}});
    std::vector<uint32_t> databases;
    history.visit([&](const Ended& each) {
        databases.push_back(each.database);
        return true;
    });
    EXPECT_EQ(databases, (std::vector<uint32_t>{6, 6, 0}));
}

TEST(WatermarkHistory, CountsPreparedTransactionsWhoseIdsDoNotAscend) {
    History history{};
    for (uint64_t i = 10; i > 0; --i) history.add({i, 5, {static_cast<int64_t>(i), all}});
    EXPECT_EQ(lowest_since(history, 0).unix_ms, 1);
}

TEST(WatermarkHistory, KeepsItsBoundForMillionsOfTransactions) {
    History history{};
    constexpr int64_t count = 3'000'000;
    for (int64_t i = 1; i <= count; ++i) history.add({uint64_t(i), 5, {i, all}});
    for (const int64_t n : {1, 10, 1000, 100'000, 1'000'000}) {
        const int64_t found = lowest_since(history, uint64_t(count - n + 1)).unix_ms;
        EXPECT_LE(found, count - n + 1);
        EXPECT_GE(found, count - 2 * n + 1);
    }
}

}  // namespace
}  // namespace snowdrift::watermark
