// Statistics of measured values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace snowdrift::bench {

/// The middle value; of an even number of values, the mean of the two in the middle. Precondition:
/// there are values.
inline double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const size_t half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// The value that the given share of the other values does not exceed: the smallest for 0, the
/// largest for 1. It is not interpolated between two values. Precondition: there are values.
inline double percentile(std::vector<double> values, double share) {
    const auto at = values.begin() +
                    static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), at, values.end());
    return *at;
}

}  // namespace snowdrift::bench
