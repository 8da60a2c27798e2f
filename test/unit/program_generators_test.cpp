// The generators for programs, with a clock that the tests set: which ID is next, when they wait,
// and when they throw. test/unit/threads/program_generators_test.cpp shares them between threads.
#include "snowdrift/generators.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "unit/id_sums.hpp"

namespace snowdrift {
namespace {

using namespace std::chrono_literals;

constexpr int64_t noon = 1767268800000;  // 2026-01-01T12:00:00Z

/// A clock that moves only if it is set, or waited for.
struct TestClock {
    static inline int64_t ms;
    static inline std::vector<int64_t> waits;

    static int64_t now_ms() { return ms; }
    static void wait_until_ms(int64_t unix_ms) {
        waits.push_back(unix_ms);
        ms = unix_ms;
    }
};

class ProgramGenerators : public testing::Test {
 protected:
    void SetUp() override {
        TestClock::ms = noon;
        TestClock::waits.clear();
    }

    /// The message of the ClockError that `draw` throws.
    template <typename Draw>
    static std::string clock_error(Draw draw) {
        try {
            draw();
        } catch (const ClockError& error) {
            return error.what();
        }
        return "none";
    }

    /// The message of the std::invalid_argument that `call` throws.
    template <typename Call>
    static std::string argument_error(Call call) {
        try {
            call();
        } catch (const std::invalid_argument& error) {
            return error.what();
        }
        return "none";
    }

    using Waits = std::vector<int64_t>;
};

/// A number whose lower bits are 7.
constexpr uint64_t wide_7 = (uint64_t{1} << 32) + 7;

// ---- Snowflakes

class ProgramSnowflakes : public ProgramGenerators {
 protected:
    template <SnowflakeLayout layout>
    using Generator = SnowflakeGeneratorOf<layout, TestClock>;

    Generator<presets::snowflake> generator{67};

    void use_up() {
        for (int i = 0; i < 4096; ++i) generator.next();
        EXPECT_EQ(TestClock::waits, Waits{});
    }
};

TEST_F(ProgramSnowflakes, CarryTheTimeTheNodeAndTheirNumberInTheMillisecond) {
    generator.next();
    const Snowflake id = generator.next();
    EXPECT_EQ(id.split(), (SnowflakeParts{time_of(noon), 2, 3, 1}));
    TestClock::ms += 5;
    EXPECT_EQ(generator.next().split(), (SnowflakeParts{time_of(noon + 5), 2, 3, 0}));
}

TEST_F(ProgramSnowflakes, StartTheirNumbersAtAnotherOneInEachMillisecondIfTheyAreSpread) {
    using Start = core::SnowflakeGenerator::Start;
    Generator<presets::snowflake> spread{67, default_max_clock_lead, Start::spread};
    std::set<uint32_t> starts;
    for (int i = 0; i < 100; ++i) {
        const Snowflake id = spread.next();
        starts.insert(id.sequence());
        EXPECT_EQ(spread.next().sequence(), id.sequence() + 1);
        ++TestClock::ms;
    }
    EXPECT_GT(starts.size(), 75U);
    EXPECT_LT(*starts.rbegin(), 256U);

    constexpr SnowflakeLayout narrow{.worker_bits = 10, .sequence_bits = 4};
    EXPECT_EQ(argument_error([] {
                  Generator<narrow>{67, default_max_clock_lead, Start::spread};
              }),
              "a generator needs at least 32 sequence numbers, or 5 bits, to spread them");
}

TEST_F(ProgramSnowflakes, WaitForTheNextMillisecondIfTheSequenceIsUsedUp) {
    use_up();
    EXPECT_EQ(generator.try_next(), std::nullopt);
    EXPECT_EQ(TestClock::waits, Waits{});
    EXPECT_EQ(generator.next().split(), (SnowflakeParts{time_of(noon + 1), 2, 3, 0}));
    EXPECT_EQ(TestClock::waits, Waits{noon + 1});
    EXPECT_EQ(generator.try_next()->sequence(), 1U);
}

TEST_F(ProgramSnowflakes, ContinueAtTheLastTimeWhileTheClockIsBehind) {
    const Snowflake last = generator.next();
    TestClock::ms -= 60'000;
    const Snowflake next = generator.next();
    EXPECT_GT(next, last);
    EXPECT_EQ(next.time(), last.time());
    EXPECT_GT(*generator.try_next(), next);
    EXPECT_EQ(TestClock::waits, Waits{});
}

TEST_F(ProgramSnowflakes, WaitForTheClockIfItIsBehindByASecondMoreThanTheLimit) {
    generator.next();
    TestClock::ms -= 61'000;
    EXPECT_EQ(generator.try_next(), std::nullopt);
    EXPECT_EQ(generator.next().timestamp_ms(), noon);
    EXPECT_EQ(TestClock::waits, Waits{noon - 60'000});
}

TEST_F(ProgramSnowflakes, ThrowIfTheClockIsFurtherBehind) {
    generator.next();
    TestClock::ms -= 61'001;
    EXPECT_EQ(clock_error([&] { generator.next(); }),
              "clock moved backwards by 61001 ms; refusing to generate IDs");
    EXPECT_EQ(generator.try_next(), std::nullopt);
    EXPECT_EQ(TestClock::waits, Waits{});
}

TEST_F(ProgramSnowflakes, TakeTheLimitThatTheProgramStates) {
    Generator<presets::snowflake> strict{67, 0ms};
    strict.next();
    TestClock::ms -= 1001;
    EXPECT_NE(clock_error([&] { strict.next(); }), "none");
    TestClock::ms += 1;
    EXPECT_EQ(strict.next().timestamp_ms(), noon);
    EXPECT_EQ(TestClock::waits, Waits{noon});
}

TEST_F(ProgramSnowflakes, ThrowIfTheClockIsOutsideTheLayoutsTimes) {
    TestClock::ms = Snowflake::epoch_unix_ms - 1;
    EXPECT_EQ(clock_error([&] { generator.next(); }),
              "the clock is outside the range of times of these IDs");
}

TEST_F(ProgramSnowflakes, RequireANodeOfTheLayout) {
    using Default = Generator<presets::snowflake>;
    EXPECT_NO_THROW((void)Default(1023));
    EXPECT_EQ(argument_error([] { (void)Default(1024); }),
              "node 1024 is out of range 0 .. 1023 for this layout");
    EXPECT_EQ(argument_error([] { (void)Default(wide_7); }),
              "node 4294967303 is out of range 0 .. 1023 for this layout");
}

TEST_F(ProgramSnowflakes, StartAfterATimeThatTheProgramStates) {
    generator.advance_past(time_of(noon + 20) + 999us);
    const Snowflake id = generator.next();
    EXPECT_EQ(id.timestamp_ms(), noon + 21);
    EXPECT_EQ(TestClock::waits, Waits{});
}

TEST_F(ProgramSnowflakes, HaveTheTimeUnitOfTheirLayout) {
    Generator<presets::sonyflake> sonyflake{5};
    for (int i = 0; i < 256; ++i) sonyflake.next();
    EXPECT_EQ(TestClock::waits, Waits{});
    const auto id = sonyflake.next();
    EXPECT_EQ(TestClock::waits, Waits{noon + 10});
    EXPECT_EQ(id.split(), (SnowflakeParts{time_of(noon + 10), 0, 5, 0}));
}

// ---- sno values

class ProgramSnos : public ProgramGenerators {
 protected:
    BasicSnoGenerator<TestClock> generator{9};
};

TEST_F(ProgramSnos, CarryTheTimeThePartitionAndTheMetabyte) {
    generator.next();
    const SnoParts parts = generator.next(7).split();
    EXPECT_EQ(parts, (SnoParts{Sno::units_at(time_of(noon)), false, 7, 9, 1}));
    EXPECT_EQ(generator.try_next(8)->metabyte(), 8);
}

TEST_F(ProgramSnos, RequireAPartitionAndAMetabyteOfTheFormat) {
    using Generator = BasicSnoGenerator<TestClock>;
    EXPECT_NO_THROW((void)Generator(65535));
    EXPECT_EQ(argument_error([] { (void)Generator(65536); }),
              "partition 65536 is out of range 0 .. 65535");
    EXPECT_NE(argument_error([] { (void)Generator(wide_7); }), "none");
    EXPECT_EQ(generator.next(255).metabyte(), 255);
    EXPECT_EQ(argument_error([&] { generator.next(256); }),
              "metabyte 256 is out of range 0 .. 255");
    EXPECT_NE(argument_error([&] { (void)generator.try_next(wide_7); }), "none");
    EXPECT_EQ(generator.next().sequence(), 1);
}

TEST_F(ProgramSnos, WaitForTheNextUnitIfTheSequenceIsUsedUp) {
    for (int i = 0; i < 65536; ++i) generator.next();
    EXPECT_EQ(TestClock::waits, Waits{});
    EXPECT_EQ(generator.try_next(), std::nullopt);
    EXPECT_EQ(generator.next().timestamp_ms(), noon + 4);
    EXPECT_EQ(TestClock::waits, Waits{noon + 4});
}

TEST_F(ProgramSnos, ContinueWithTheOtherTickIfTheClockIsSetBack) {
    generator.next();
    TestClock::ms -= 3'600'000;
    const Sno id = generator.next();
    EXPECT_TRUE(id.tick());
    EXPECT_EQ(id.timestamp_ms(), noon - 3'600'000);
    EXPECT_EQ(TestClock::waits, Waits{});
}

TEST_F(ProgramSnos, ThrowAfterATimeBeyondTheFormat) {
    generator.advance_past(std::chrono::sys_time<std::chrono::milliseconds>::max());
    EXPECT_NE(clock_error([&] { generator.next(); }), "none");
}

TEST_F(ProgramSnos, StartAfterATimeThatTheProgramStates) {
    generator.advance_past(time_of(noon + 1000));
    EXPECT_EQ(generator.next().timestamp_ms(), noon + 1004);
    EXPECT_EQ(generator.try_next()->timestamp_ms(), noon + 1004);
    EXPECT_EQ(TestClock::waits, Waits{});
}

TEST_F(ProgramSnos, TakeALimitThatIsNeverReached) {
    BasicSnoGenerator<TestClock> patient{7, std::chrono::milliseconds::max()};
    patient.advance_past(time_of(noon + 3'600'000));
    EXPECT_GT(patient.next().timestamp_ms(), noon + 3'600'000);
}

TEST_F(ProgramSnos, WaitForATimeThatBothTicksHaveUsedOrThrow) {
    generator.next();
    TestClock::ms -= 1000;
    generator.next();
    TestClock::ms -= 1000;
    EXPECT_EQ(generator.try_next(), std::nullopt);
    EXPECT_EQ(generator.next().timestamp_ms(), noon + 4);
    EXPECT_EQ(TestClock::waits, Waits{noon + 4});
    TestClock::ms -= 3'600'000;
    EXPECT_EQ(clock_error([&] { generator.next(); }),
              "clock moved backwards by 3600000 ms; refusing to generate IDs");
}

// ---- ULIDs and UUIDs of version 7

template <typename Id>
class ProgramIds : public ProgramGenerators {
 protected:
    using Generator = MonotonicGenerator<Id, TestClock>;
    Generator generator;
};

using Formats = testing::Types<Ulid, Uuidv7>;
TYPED_TEST_SUITE(ProgramIds, Formats);

TYPED_TEST(ProgramIds, AscendByOneInAMillisecond) {
    const TypeParam first = this->generator.next();
    EXPECT_EQ(first.timestamp_ms(), noon);
    EXPECT_EQ(this->generator.next(), first + 1);
    EXPECT_EQ(this->generator.next(), first + 2);
}

TYPED_TEST(ProgramIds, HaveFreshRandomBitsInEachMillisecondAndGenerator) {
    std::set<typename TypeParam::Randomness> seen;
    for (int i = 0; i < 50; ++i) {
        typename TestFixture::Generator other = {};  // as a member of an aggregate
        seen.insert(other.next().randomness());
        TestClock::ms += 1;
        seen.insert(this->generator.next().randomness());
    }
    EXPECT_EQ(seen.size(), 100U);
    std::set<uint8_t> last_bytes;
    for (const auto& randomness : seen) last_bytes.insert(randomness.back());
    EXPECT_GT(last_bytes.size(), 30U);
}

TYPED_TEST(ProgramIds, ContinueAtTheLastTimeWhileTheClockIsBehind) {
    const TypeParam last = this->generator.next();
    TestClock::ms -= 60'000;
    EXPECT_EQ(this->generator.next(), last + 1);
    TestClock::ms -= 1000;
    EXPECT_EQ(this->generator.next().timestamp_ms(), noon);
    EXPECT_EQ(TestClock::waits, std::vector<int64_t>{noon - 60'000});
    TestClock::ms -= 1001;
    EXPECT_EQ(this->clock_error([&] { this->generator.next(); }),
              "clock moved backwards by 61001 ms; refusing to generate IDs");
}

TYPED_TEST(ProgramIds, OfABlockAreBetweenTheIdsBeforeAndAfterIt) {
    const TypeParam before = this->generator.next();
    auto block = this->generator.block();
    const TypeParam after = this->generator.next();
    const TypeParam first = block.take();
    EXPECT_GT(first, before);
    EXPECT_EQ(first.timestamp_ms(), noon);
    EXPECT_EQ(block.take(), first + 1);
    EXPECT_GE(after, first + core::block_size);
    EXPECT_EQ(this->generator.next(), after + 1);
}

TYPED_TEST(ProgramIds, OfABlockBelongToOneBlock) {
    using Block = typename TestFixture::Generator::Block;
    static_assert(std::is_move_constructible_v<Block> && std::is_move_assignable_v<Block>);
    static_assert(!std::is_copy_constructible_v<Block> && !std::is_copy_assignable_v<Block>);
    auto block = this->generator.block();
    const TypeParam first = block.take();
    Block moved{std::move(block)};
    EXPECT_TRUE(block.empty());  // NOLINT(bugprone-use-after-move): the state is specified
    EXPECT_EQ(moved.take(), first + 1);
    block = std::move(moved);
    EXPECT_TRUE(moved.empty());  // NOLINT(bugprone-use-after-move)
    EXPECT_EQ(block.take(), first + 2);
}

TYPED_TEST(ProgramIds, StartAfterATimeThatTheProgramStates) {
    this->generator.next();
    this->generator.advance_past(time_of(noon + 20));
    EXPECT_EQ(this->generator.next().timestamp_ms(), noon + 21);
}

TYPED_TEST(ProgramIds, ThrowAfterATimeBeyondTheFormat) {
    this->generator.advance_past(std::chrono::sys_time<std::chrono::milliseconds>::max());
    EXPECT_NE(this->clock_error([&] { this->generator.next(); }), "none");
}

TYPED_TEST(ProgramIds, RequireATimeOfTheFormat) {
    TestClock::ms = TypeParam::max_timestamp_ms + 1;
    EXPECT_EQ(this->clock_error([&] { this->generator.block(); }),
              "the clock is outside the range of times of these IDs");
}

}  // namespace
}  // namespace snowdrift
