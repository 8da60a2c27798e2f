// A sno generator with a clock that the test sets, for the tests of generators.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>

#include "model/answer_of.hpp"
#include "protocol/generators.hpp"

namespace snowdrift {

inline int64_t ms_of(uint64_t units) {
    return Sno::epoch_unix_ms + static_cast<int64_t>(units) * Sno::unit_ms;
}

/// Checks try_next() against next(), which returned `answer` and changed the word from
/// `word_before` to `word_after`: try_next() does the same, unless next() has changed the timeline
/// or is ahead of the clock.
inline void expect_same_step(const SnoGenerator& generator, uint64_t word_before,
                             uint64_t word_after, bool flipped, const SnoGenerator::Answer& answer,
                             int64_t unix_ms, uint8_t metabyte) {
    SnoState state{};
    state.word = word_before;
    Sno id;
    const bool is_issued = generator.try_next(state, unix_ms, metabyte, id);
    const bool is_ahead = answer.verdict == Verdict::issued && answer.id.timestamp_ms() > unix_ms;
    EXPECT_EQ(is_issued, answer.verdict == Verdict::issued && !flipped && !is_ahead);
    if (!is_issued) return;
    EXPECT_EQ(id, answer.id);
    EXPECT_EQ(state.word, word_after);
}

/// The generator's answer to a request at a reading of the clock.
inline SnoGenerator::Answer ask(const SnoGenerator& generator, SnoState& state, int64_t unix_ms,
                                int64_t max_lead_ms, uint8_t metabyte, Request& request) {
    const uint64_t word = state.word;
    const uint64_t regressions = state.regressions;
    const auto answer = model::answer_of(
        [&] { return generator.next(state, unix_ms, max_lead_ms, metabyte, request); });
    expect_same_step(generator, word, state.word, state.regressions != regressions, answer, unix_ms,
                     metabyte);
    return answer;
}

/// The generator's answer to a request during which the clock does not change.
inline SnoGenerator::Answer ask_once(const SnoGenerator& generator, SnoState& state,
                                     int64_t unix_ms, int64_t max_lead_ms, uint8_t metabyte) {
    Request request;
    return ask(generator, state, unix_ms, max_lead_ms, metabyte, request);
}

/// A generator, its state, and callers with metabyte 7. Times are in units.
class Snos : public testing::Test {
 protected:
    SnoGenerator::Answer ask(uint64_t units) {
        return ask_once(generator, state, ms_of(units), max_lead, 7);
    }

    Sno issue(uint64_t units) {
        const auto answer = ask(units);
        EXPECT_EQ(answer.verdict, Verdict::issued);
        EXPECT_EQ(answer.ms, answer.id.timestamp_ms());
        return answer.id;
    }

    SnoGenerator::Answer ask(uint64_t units, Request& request) {
        return snowdrift::ask(generator, state, ms_of(units), max_lead, 7, request);
    }

    /// Makes the state a fresh one whose values are later than that time.
    void start_after(uint64_t units) { SnoGenerator::advance_past(state, ms_of(units) + 3); }

    uint64_t safe() const { return generator.position(state).safe; }

    /// Expects that a sno was issued at this position.
    static void expect_at(const Sno& id, uint64_t units, bool tick, uint16_t sequence) {
        EXPECT_EQ(id.split(), (SnoParts{.units = units,
                                        .tick = tick,
                                        .metabyte = 7,
                                        .partition = 4242,
                                        .sequence = sequence}));
    }

    static constexpr uint64_t noon = 130'000'000'000;
    static constexpr int64_t max_lead = 60'000;
    SnoState state{};
    SnoGenerator generator{4242, 10, 13};
};

}  // namespace snowdrift
