// A Snowflake generator with a clock that the test sets, for the tests of generators.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>

#include "protocol/generators.hpp"

namespace snowdrift {

inline constexpr int64_t noon = 1767268800000;  // 2026-01-01T12:00:00Z
inline constexpr int64_t max_lead = 60'000;

/// A generator, its state, and one caller.
class GeneratorTest : public testing::Test {
 protected:
    GeneratorTest(const SnowflakeLayout& of, uint32_t node, int64_t max_lead_ms)
        : lead{max_lead_ms}, generator{of, node} {}

    SnowflakeGenerator::Answer ask(int64_t unix_ms) {
        return generator.next(word, unix_ms, lead, request);
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
