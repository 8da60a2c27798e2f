// The generator of ULIDs and UUIDs of version 7 shared by several threads, under ThreadSanitizer.
// As in src/pg, a lock protects each call of the generator, and a block belongs to one thread.
#include "protocol/generators.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "snowdrift/ulid.hpp"
#include "snowdrift/uuidv7.hpp"
#include "unit/id_sums.hpp"

namespace snowdrift {
namespace {

constexpr int64_t noon = 1767268800000;  // 2026-01-01T12:00:00Z
constexpr int64_t max_lead = 60'000;

/// A spinlock with the memory order of PostgreSQL's.
class SpinLock {
 public:
    void lock() noexcept {
        while (held_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
    }
    void unlock() noexcept { held_.clear(std::memory_order_release); }

 private:
    std::atomic_flag held_ = ATOMIC_FLAG_INIT;
};

template <typename Format>
class BlockThreads : public testing::Test {
 protected:
    using Id = Format;
    using Generator = BlockGenerator<Id>;

    /// What a session does with the generator.
    class Session {
     public:
        Session(BlockThreads& shared, uint64_t seed) : shared_{shared}, random_{seed} {}

        Id draw() {
            Request request;
            auto answer = ask(request);
            while (answer.verdict != Verdict::issued) {
                shared_.clock.fetch_add(1, std::memory_order_relaxed);
                answer = ask(request);
            }
            return answer.id;
        }

        /// As when a session attaches the slot. Returns the Unix millisecond that further IDs are
        /// after.
        int64_t advance_past_last() {
            const std::lock_guard guard{shared_.lock};
            const int64_t floor = shared_.generator.last_unix_ms() + 1;
            shared_.generator.advance_past(floor);
            return floor;
        }

     private:
        typename Generator::Answer ask(Request& request) {
            const typename Generator::Random random{static_cast<uint16_t>(random_()), random_()};
            const int64_t now = shared_.clock.load(std::memory_order_relaxed);
            const std::lock_guard guard{shared_.lock};
            return shared_.generator.next(now, max_lead, random, request);
        }

        BlockThreads& shared_;
        std::mt19937_64 random_;
    };

    /// As the view snowdrift.generators reads it.
    int64_t last_unix_ms() {
        const std::lock_guard guard{lock};
        return generator.last_unix_ms();
    }

    Generator generator;
    SpinLock lock;
    // Relaxed, because other orders would synchronize the threads, and hide a call without the
    // lock.
    std::atomic<int64_t> clock{noon};
};

using Formats = testing::Types<Ulid, Uuidv7>;
TYPED_TEST_SUITE(BlockThreads, Formats);

TYPED_TEST(BlockThreads, IssueBlocksThatDoNotOverlapAndEachThreadsInAscendingOrder) {
    constexpr int threads = 4;
    constexpr int blocks_each = 20'000;
    std::vector<std::vector<TypeParam>> blocks(threads);
    std::vector<std::thread> running;
    for (auto& mine : blocks) {
        running.emplace_back([&] {
            typename TestFixture::Session session{*this, static_cast<uint64_t>(&mine - &blocks[0])};
            while (mine.size() < blocks_each) {
                mine.push_back(session.draw());
                if (mine.size() % 1000 == 0) this->clock.fetch_add(5, std::memory_order_relaxed);
                if (mine.size() % 1000 == 500) this->clock.fetch_sub(3, std::memory_order_relaxed);
            }
        });
    }
    for (auto& thread : running) thread.join();

    std::vector<TypeParam> all;
    for (const auto& mine : blocks) {
        EXPECT_TRUE(std::is_sorted(mine.begin(), mine.end()));
        all.insert(all.end(), mine.begin(), mine.end());
    }
    std::sort(all.begin(), all.end());
    EXPECT_EQ(all.size(), size_t{threads} * blocks_each);
    const auto overlap = [](const TypeParam& low, const TypeParam& high) {
        return high < low + block_size;
    };
    EXPECT_EQ(std::adjacent_find(all.begin(), all.end(), overlap), all.end());
}

TYPED_TEST(BlockThreads, IssueBlocksAfterTheFloorThatOneThreadSetsWhileAnotherReadsTheLastTime) {
    constexpr int rounds = 5'000;
    std::atomic<bool> done{false};
    std::thread reader{[&] {
        int64_t last = 0;
        while (!done.load(std::memory_order_relaxed)) {
            const int64_t now = this->last_unix_ms();
            ASSERT_GE(now, last);
            last = now;
        }
    }};
    std::vector<std::thread> running;
    for (uint64_t seed = 0; seed < 2; ++seed) {
        running.emplace_back([&, seed] {
            typename TestFixture::Session session{*this, seed};
            for (int round = 0; round < rounds; ++round) {
                const int64_t floor = session.advance_past_last();
                ASSERT_GT(session.draw().timestamp_ms(), floor);
            }
        });
    }
    for (auto& thread : running) thread.join();
    done.store(true, std::memory_order_relaxed);
    reader.join();
}

}  // namespace
}  // namespace snowdrift
