#include "montecarlo/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace {

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

}  // namespace
