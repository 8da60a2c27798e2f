// The Snowflake generator shared by several threads, under ThreadSanitizer.
#include "protocol/generators.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "snowdrift/snowflake_presets.hpp"

namespace snowdrift {
namespace {

class GeneratorThreads : public testing::TestWithParam<SnowflakeGenerator::Start> {};

TEST_P(GeneratorThreads, IssueEveryIdOnceAndEachThreadsInAscendingOrder) {
    constexpr int threads = 4;
    constexpr int ids_each = 50'000;
    constexpr int64_t noon = 1767268800000;
    // Often used up: at most 256 IDs per millisecond
    const SnowflakeGenerator generator{presets::si, 0, 0, 255, GetParam()};
    std::atomic<uint64_t> word{0};
    std::atomic<int64_t> clock{noon};

    std::vector<std::vector<int64_t>> ids(threads);
    std::vector<std::thread> running;
    for (auto& mine : ids) {
        running.emplace_back([&] {
            while (mine.size() < ids_each) {
                if (int64_t id; generator.try_next(word, clock.load(), id)) {
                    mine.push_back(id);
                    continue;
                }
                Request request;
                auto answer = generator.next(word, clock.load(), 0, request);
                while (answer.verdict != Verdict::issued) {
                    clock.fetch_add(1);  // in this test, waiting advances time
                    answer = generator.next(word, clock.load(), 1000, request);
                }
                mine.push_back(answer.id);
            }
        });
    }
    for (auto& thread : running) thread.join();

    std::vector<int64_t> all;
    for (const auto& mine : ids) {
        EXPECT_EQ(std::adjacent_find(mine.begin(), mine.end(), std::greater_equal<>()), mine.end());
        all.insert(all.end(), mine.begin(), mine.end());
    }
    std::sort(all.begin(), all.end());
    EXPECT_EQ(all.size(), size_t{threads} * ids_each);
    EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
}

INSTANTIATE_TEST_SUITE_P(Starts, GeneratorThreads,
                         testing::Values(SnowflakeGenerator::Start::least,
                                         SnowflakeGenerator::Start::spread));

}  // namespace
}  // namespace snowdrift
