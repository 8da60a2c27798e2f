// The sno generator shared by several threads, under ThreadSanitizer.
#include "protocol/generators.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <barrier>
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

/// One caller finds the clock set back by two hours. The other one does too, or has read the clock
/// before. Both get a sno: the first to enter the other timeline does not keep the other one out.
TEST(SnoThreads, EnterTheOtherTimelineTogether) {
    constexpr int64_t back = 7'200'000;
    constexpr int rounds = 20'000;
    const SnoGenerator generator{9, 0, 255};
    SnoState state{};
    std::barrier barrier{2};
    std::array<int, 2> refused{};
    const auto draw = [&](int me) {
        for (int round = 0; round < rounds; ++round) {
            if (me == 0) {
                state.word = 0;
                state.safe[0] = state.safe[1] = 0;
                Sno id;
                EXPECT_TRUE(generator.try_next(state, noon, 0, id));
            }
            barrier.arrive_and_wait();
            const int64_t now = me == 0 && round % 2 == 0 ? noon : noon - back;
            Request request;
            auto answer = generator.next(state, now, 60'000, 0, request);
            while (answer.verdict == Verdict::stale)
                answer = generator.next(state, now, 60'000, 0, request);
            refused[me] += answer.verdict != Verdict::issued;
            barrier.arrive_and_wait();
        }
    };
    std::thread other{draw, 1};
    draw(0);
    other.join();
    EXPECT_EQ(refused[0] + refused[1], 0);
}

/// A caller finds the clock set back by 30 s, while another one sets a floor that the clock reaches
/// in a second. Afterwards, no sno is at or before the floor.
TEST(SnoThreads, StayAfterAFloorThatIsSetWhileTheyEnterTheOtherTimeline) {
    constexpr int64_t now = noon - 30'000;
    constexpr int64_t floor = now + 1000;
    constexpr int rounds = 20'000;
    const SnoGenerator generator{9, 0, 255};
    SnoState state{};
    std::barrier barrier{2};
    const auto draw = [&] {
        Request request;
        auto answer = generator.next(state, now, 60'000, 0, request);
        while (answer.verdict == Verdict::stale)
            answer = generator.next(state, now, 60'000, 0, request);
        return answer;
    };
    std::thread other{[&] {
        for (int round = 0; round < rounds; ++round) {
            barrier.arrive_and_wait();
            SnoGenerator::advance_past(state, floor);
            barrier.arrive_and_wait();
        }
    }};
    int early = 0;
    for (int round = 0; round < rounds; ++round) {
        state.word = 0;
        state.safe[0] = state.safe[1] = 0;
        Sno id;
        EXPECT_TRUE(generator.try_next(state, noon, 0, id));
        barrier.arrive_and_wait();
        (void)draw();
        barrier.arrive_and_wait();
        const auto answer = draw();
        early += answer.verdict == Verdict::issued && answer.id.timestamp_ms() <= floor;
    }
    other.join();
    EXPECT_EQ(early, 0);
}

}  // namespace
}  // namespace snowdrift
