// The statistics of the benchmark.
#include "../../bench/statistics.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace snowdrift::bench {
namespace {

/// The numbers 1 to `count`, in descending order.
std::vector<double> descending(int count) {
    std::vector<double> values(static_cast<size_t>(count));
    std::iota(values.rbegin(), values.rend(), 1);
    return values;
}

TEST(BenchStatistics, MedianIsTheMiddleValue) {
    EXPECT_EQ(median({7}), 7);
    EXPECT_EQ(median(descending(5)), 3);
    EXPECT_EQ(median(descending(4)), 2.5);
}

TEST(BenchStatistics, PercentileIsOneOfTheValues) {
    EXPECT_EQ(percentile({7}, 0.999), 7);
    EXPECT_EQ(percentile(descending(4), 0.5), 2);
    EXPECT_EQ(percentile(descending(101), 0.99), 100);
    EXPECT_EQ(percentile(descending(3000), 0.999), 2997);
}

TEST(BenchStatistics, PercentileReachesTheExtremes) {
    EXPECT_EQ(percentile(descending(1000), 0), 1);
    EXPECT_EQ(percentile(descending(1000), 1), 1000);
}

}  // namespace
}  // namespace snowdrift::bench
