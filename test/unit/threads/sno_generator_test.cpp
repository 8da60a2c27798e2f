// The sno generator shared by several threads, under ThreadSanitizer.
#include "protocol/generators.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

namespace snowdrift {
namespace {

constexpr int64_t noon = 1767268800000;

/// Threads draw with a clock that each wait advances, and that `step_back` occasionally sets back.
void draw_everywhere(SnoState& state, int64_t step_back, std::vector<Sno>& all) {
    constexpr int threads = 4;
    constexpr int each = 20'000;
    const SnoGenerator generator{9, 0, 255};
    std::atomic<int64_t> clock{noon};
    std::vector<std::vector<Sno>> ids(threads);
    std::vector<std::thread> running;
    running.reserve(threads);
    for (auto& mine : ids) {
        running.emplace_back([&] {
            while (mine.size() < each) {
                if (Sno id; generator.try_next(state, clock.load(), 0, id)) {
                    mine.push_back(id);
                } else {
                    Request request;
                    auto answer = generator.next(state, clock.load(), INT32_MAX, 0, request);
                    while (answer.verdict != Verdict::issued) {
                        if (answer.verdict != Verdict::stale) clock.fetch_add(1);
                        answer = generator.next(state, clock.load(), INT32_MAX, 0, request);
                    }
                    mine.push_back(answer.id);
                }
                if (mine.size() % 1000 == 0) clock.fetch_sub(step_back);
            }
        });
    }
    for (auto& thread : running) thread.join();
    for (const auto& mine : ids) all.insert(all.end(), mine.begin(), mine.end());
    EXPECT_EQ(all.size(), size_t{threads} * each);
    std::sort(all.begin(), all.end());
}

TEST(SnoThreads, IssueEverySnoOnceAndTakeNoOldReadingForARegression) {
    SnoState state{};
    std::vector<Sno> all;
    draw_everywhere(state, 0, all);
    EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
    EXPECT_EQ(state.regressions, 0U);
}

TEST(SnoThreads, IssueEverySnoOnceWhileTheClockIsSetBack) {
    SnoState state{};
    std::vector<Sno> all;
    draw_everywhere(state, 100, all);
    EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
    EXPECT_GT(state.regressions, 0U);
}

TEST(SnoThreads, IssueEverySnoOnceAfterAFloorThatTheClockPasses) {
    SnoState state{};
    SnoGenerator::advance_past(state, noon + 200);
    std::vector<Sno> all;
    draw_everywhere(state, 0, all);
    EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
    EXPECT_GT(all.front().timestamp_ms(), noon + 200);
    EXPECT_EQ(state.regressions, 0U);
}

TEST(SnoThreads, IssueEverySnoOnceAfterAFloorWhileTheClockIsSetBack) {
    SnoState state{};
    SnoGenerator::advance_past(state, noon + 200);
    std::vector<Sno> all;
    draw_everywhere(state, 100, all);
    EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
    EXPECT_GT(all.front().timestamp_ms(), noon + 200);
}

}  // namespace
}  // namespace snowdrift
