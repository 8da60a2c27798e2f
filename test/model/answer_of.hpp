// Requests whose second reading of the clock is the same as the first.
#pragma once

#include "protocol/generators.hpp"

namespace snowdrift::model {

/// The answer of `ask`, which a generator that finds the reading older than its state asks again.
template <typename Ask>
auto answer_of(Ask ask) {
    const auto answer = ask();
    return answer.verdict == Verdict::stale ? ask() : answer;
}

}  // namespace snowdrift::model
