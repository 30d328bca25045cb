// The whole spectrum of deep contracting stacks: tens to hundreds of decades, every point certified.

#include "dyson/theory.hpp"
#include "support/networks.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

namespace spectra {
namespace {

using dyson::Method;

TEST(Depth, BistochasticStacksAreCertifiedOverTheWholeSpectrum) {
    for (const int depth : {10, 30, 100}) {
        const Network network = tests::draw_network(mixers::Family::bistochastic, 4, depth, 25, 0.05);
        const auto theory = dyson::solve(network, Method::operator_valued);
        const auto& summary = theory.summary;
        EXPECT_TRUE(summary.certified) << "L = " << depth << ": " << summary.message;
        EXPECT_NEAR(summary.mass, 1, 1e-9) << "L = " << depth;
        EXPECT_NEAR(summary.mean_square / summary.mean_square_exact, 1, 1e-9) << "L = " << depth;
        EXPECT_NEAR(summary.log_mean, summary.log_mean_exact.value(), 1e-7 * depth) << "L = " << depth;
        EXPECT_NEAR(summary.tail_exponent, summary.tail_exponent_exact.value(), 2e-3) << "L = " << depth;
        const auto& density = theory.law.density();
        EXPECT_LT(density.mass_below, 1e-7) << "L = " << depth;
        const auto metrics = theory.law.metrics();
        if (depth == 10) {
            EXPECT_NEAR(metrics.collapsed, 0.75, 1e-3);
        }
        std::printf(
            "bistochastic L = %d: %d points down to 1e%.0f, mass below 0.1 %.4f, |mass - 1| %.1e, "
            "log-mean off by %.1e, %.1f s\n",
            depth, summary.points, density.log_s.front() / std::log(10.0), metrics.collapsed,
            std::abs(summary.mass - 1), summary.log_mean - *summary.log_mean_exact, summary.seconds);
    }
}

}  // namespace
}  // namespace spectra
