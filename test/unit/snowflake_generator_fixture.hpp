// A Snowflake generator with a clock that the test sets, for the tests of generators.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>

#include "model/answer_of.hpp"
#include "protocol/generators.hpp"

namespace snowdrift {

inline constexpr int64_t noon = 1767268800000;  // 2026-01-01T12:00:00Z
inline constexpr int64_t max_lead = 60'000;

/// The generator's answer to a request whose second reading of the clock is the same.
inline SnowflakeGenerator::Answer ask(const SnowflakeGenerator& generator,
                                      std::atomic<uint64_t>& word, int64_t unix_ms,
                                      int64_t max_lead_ms, Request& request) {
    return model::answer_of([&] { return generator.next(word, unix_ms, max_lead_ms, request); });
}

/// A generator, its state, and one caller.
class GeneratorTest : public testing::Test {
 protected:
    GeneratorTest(const SnowflakeLayout& of, uint32_t node, int64_t max_lead_ms)
        : lead{max_lead_ms}, generator{of, node} {}

    SnowflakeGenerator::Answer ask(int64_t unix_ms) { return ask(unix_ms, request); }

    /// The same for another caller.
    SnowflakeGenerator::Answer ask(int64_t unix_ms, Request& of) {
        return snowdrift::ask(generator, word, unix_ms, lead, of);
    }

    /// The parts of the ID issued at `unix_ms`; fails the test if none is. Ends the request.
    SnowflakeParts issue(int64_t unix_ms) {
        const auto answer = ask(unix_ms);
        EXPECT_EQ(answer.verdict, Verdict::issued) << "at noon + " << unix_ms - noon << " ms";
        request = {};
        return generator.layout().split(answer.id);
    }

    void use_up(int64_t unix_ms) {
        while (issue(unix_ms).sequence < generator.layout().max_sequence()) {
        }
    }

    std::atomic<uint64_t> word{0};
    int64_t lead;
    Request request;
    SnowflakeGenerator generator;
};

}  // namespace snowdrift
