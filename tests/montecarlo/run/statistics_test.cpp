#include "montecarlo/run/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace {

using spectra::montecarlo::CountSum;
using spectra::montecarlo::RunningMean;

TEST(RunningMean, MeanAndItsStandardError) {
    RunningMean mean;
    EXPECT_EQ(mean.mean(), 0);
    mean.add(1, 0);
    EXPECT_EQ(mean.mean(), 1);
    EXPECT_EQ(mean.standard_error(), 0);
    mean.add(1, 1);
    mean.add(0.75, 2);
    EXPECT_DOUBLE_EQ(mean.mean(), 2);
    EXPECT_DOUBLE_EQ(mean.standard_error(), std::sqrt(1.0 / 3));
}

TEST(RunningMean, BeyondTheRangeOfDouble) {
    RunningMean large;
    RunningMean small;
    for (int k = 0; k < 5; ++k) {
        large.add(1 + k, 5000);
        small.add(1 + k, -5000);
    }
    EXPECT_EQ(large.mean(), std::numeric_limits<double>::infinity());
    EXPECT_FALSE(std::isnan(large.standard_error()));
    EXPECT_EQ(small.mean(), 0);
    EXPECT_EQ(small.standard_error(), 0);
}

TEST(RunningMean, RelativeInAnyRange) {
    RunningMean large;
    RunningMean small;
    for (int k = 0; k < 5; ++k) {
        large.add(1 + k, 5000);
        small.add(1 + k, -5000);
    }
    EXPECT_DOUBLE_EQ(large.relative_error(), std::sqrt(0.5) / 3);
    EXPECT_DOUBLE_EQ(small.relative_error(), std::sqrt(0.5) / 3);
    EXPECT_DOUBLE_EQ(large.log_mean(), std::log(3.0) + 5000 * std::log(2.0));
    RunningMean zero;
    zero.add(0, 0);
    zero.add(0, 0);
    EXPECT_EQ(zero.relative_error(), 0);
}

TEST(RunningMean, GoesOnFromItsState) {
    RunningMean whole;
    for (int k = 0; k < 20; ++k) {
        RunningMean continued(whole.state());
        for (int j = k; j < 20; ++j) continued.add(1.0 / (j + 3), j % 4);
        RunningMean reference;
        for (int j = 0; j < 20; ++j) reference.add(1.0 / (j + 3), j % 4);
        EXPECT_EQ(continued.state(), reference.state()) << k;
        whole.add(1.0 / (k + 3), k % 4);
    }
}

TEST(CountSum, StandardErrorOfTheMean) {
    CountSum counts;
    EXPECT_EQ(counts.standard_error(0), 0);
    for (const unsigned count : {3U, 5U, 10U}) counts.add(count);
    EXPECT_EQ(counts.sum, 18U);
    EXPECT_EQ(counts.squares, 134U);
    EXPECT_DOUBLE_EQ(counts.standard_error(3), std::sqrt(26.0 / 2 / 3));
    EXPECT_EQ(counts.standard_error(1), 0);
}

TEST(CountSum, ExactWhereDoublesCancel) {
    // Counts that differ by one in 1e7: S Σc² and (Σc)² agree in their first fourteen digits.
    constexpr std::uint64_t large = 10'000'000, half = 1'000;
    CountSum counts;
    for (std::uint64_t k = 0; k < half; ++k) {
        counts.add(large);
        counts.add(large + 1);
    }
    const double samples = 2.0 * half;
    EXPECT_DOUBLE_EQ(counts.standard_error(2 * half), std::sqrt(0.25 / (samples - 1)));
}

}  // namespace
