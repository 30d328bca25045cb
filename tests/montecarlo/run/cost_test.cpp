#include "montecarlo/run/cost.hpp"

#include "support/networks.hpp"

#include <gtest/gtest.h>

namespace spectra::montecarlo {
namespace {

using tests::draw_network;

double cost_of(int streams, int depth, int width) {
    return sample_cost(draw_network(mixers::Family::orthogonal, streams, depth, width, 0.05), {});
}

TEST(Cost, GrowsAsTheWorkDoes) {
    // L·(2N³ + 60N²) + 10N³ with N = 100.
    EXPECT_DOUBLE_EQ(cost_of(4, 10, 25), 10 * (2e6 + 60e4) + 10e6);
    EXPECT_NEAR(cost_of(4, 1000, 25) / cost_of(4, 10, 25), 1000.0 / 13.8, 1);
    EXPECT_GT(cost_of(4, 10, 50), 6 * cost_of(4, 10, 25));
    EXPECT_GT(cost_of(4, 10, 100000), 1e15) << "a quadrature that draws its layers again and again";
}

TEST(Cost, TimeIsSharedAmongThreads) {
    const auto network = draw_network(mixers::Family::orthogonal, 4, 10, 25, 0.05);
    Options options;
    options.samples = 100;
    options.threads = 1;
    const double one = estimated_seconds(network, options, 1e9);
    EXPECT_NEAR(one, 100 * sample_cost(network, options) / 1e9, 1e-9);
    options.threads = 4;
    EXPECT_NEAR(estimated_seconds(network, options, 1e9), one / 4, 1e-9);
    EXPECT_GT(measured_speed(), 1e7);
}

}  // namespace
}  // namespace spectra::montecarlo
