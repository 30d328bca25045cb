#include "montecarlo/histogram.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace {

using spectra::montecarlo::LogHistogram;
constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(LogHistogram, CountsBetweenMultiplesOfTheWidth) {
    LogHistogram histogram(0);
    const std::vector<double> values = {-infinity, -53, -0.01, 0, 0.001, 1.0 / 128, 2.9 / 128, 13};
    histogram.add(values);
    EXPECT_EQ(histogram.below(), 2);
    EXPECT_EQ(histogram.above(), 1);
    EXPECT_EQ(histogram.edges(),
              (std::vector<double>{-2.0 / 128, -1.0 / 128, 0, 1.0 / 128, 2.0 / 128, 3.0 / 128}));
    EXPECT_EQ(histogram.counts(), (std::vector<double>{1, 0, 2, 1, 1}));
}

TEST(LogHistogram, RangeFollowsTheScale) {
    LogHistogram histogram(2 * -1000.3);
    histogram.add(std::vector<double>{-1000, -1040, -1000, 0});
    EXPECT_EQ(histogram.above(), 1);
    EXPECT_EQ(histogram.below(), 0);
    EXPECT_EQ(histogram.edges().front(), -1040);
    EXPECT_EQ(histogram.counts().front(), 1);
    EXPECT_EQ(histogram.counts().back(), 2);
}

TEST(LogHistogram, NothingInside) {
    LogHistogram histogram(-infinity);
    EXPECT_EQ(histogram.counts(), std::vector<double>{0});
    histogram.add(std::vector<double>{-infinity, -infinity});
    EXPECT_EQ(histogram.below(), 2);
    EXPECT_EQ(histogram.edges().size(), 2U);
}

}  // namespace
