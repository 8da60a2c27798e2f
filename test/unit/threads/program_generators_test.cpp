// The generators for programs, shared by several threads, under ThreadSanitizer and with the real
// clock.
#include "snowdrift/generators.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

namespace snowdrift {
namespace {

constexpr int threads = 4;

/// Each of several threads calls `draw` until it has `each` IDs. All IDs are distinct, those of
/// each thread ascend if `ascending`, and their times are those between the first and the last
/// call.
template <typename Id, typename Draw>
void draw_everywhere(size_t each, Draw draw) {
    const Time before = time_of(SystemClock::now_ms());
    std::vector<std::vector<Id>> ids(threads);
    std::vector<std::thread> running;
    for (auto& mine : ids) {
        running.emplace_back([&] {
            while (mine.size() < each) draw(mine);
        });
    }
    for (auto& thread : running) thread.join();

    std::vector<Id> all;
    for (const auto& mine : ids) {
        EXPECT_EQ(std::adjacent_find(mine.begin(), mine.end(), std::greater_equal<>()), mine.end());
        all.insert(all.end(), mine.begin(), mine.end());
    }
    std::sort(all.begin(), all.end());
    EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
    EXPECT_GE(all.front().time(), before - std::chrono::milliseconds{Sno::unit_ms});
    EXPECT_LE(all.back().time(), time_of(SystemClock::now_ms()));
}

TEST(ProgramThreads, IssueEverySnowflakeOnceInAscendingOrder) {
    SnowflakeGeneratorOf<presets::si> generator{3};  // often used up: 256 IDs per millisecond
    draw_everywhere<SnowflakeOf<presets::si>>(10'000,
                                              [&](auto& ids) { ids.push_back(generator.next()); });
}

TEST(ProgramThreads, IssueEverySnowflakeOnceIfTheyTryAgainInsteadOfWaiting) {
    SnowflakeGeneratorOf<presets::si> generator{3};
    draw_everywhere<SnowflakeOf<presets::si>>(10'000, [&](auto& ids) {
        if (const auto id = generator.try_next()) ids.push_back(*id);
    });
}

TEST(ProgramThreads, IssueEverySnoOnce) {
    SnoGenerator generator{9};
    draw_everywhere<Sno>(20'000, [&](auto& ids) { ids.push_back(generator.next()); });
}

template <typename Id>
class ProgramIdThreads : public testing::Test {};

using Formats = testing::Types<Ulid, Uuidv7>;
TYPED_TEST_SUITE(ProgramIdThreads, Formats);

TYPED_TEST(ProgramIdThreads, IssueEveryIdOnceInAscendingOrder) {
    MonotonicGenerator<TypeParam> generator;
    draw_everywhere<TypeParam>(20'000, [&](auto& ids) { ids.push_back(generator.next()); });
}

TYPED_TEST(ProgramIdThreads, TakeIdsFromBlocksOfTheirOwn) {
    MonotonicGenerator<TypeParam> generator;
    draw_everywhere<TypeParam>(20'000, [&](auto& ids) {
        auto block = generator.block();
        for (int i = 0; i < 40; ++i) ids.push_back(block.take());
        ids.push_back(generator.next());
    });
}

}  // namespace
}  // namespace snowdrift
