// The whole spectrum of deep contracting stacks: tens to hundreds of decades, every point certified.

#include "dyson/law/potential.hpp"
#include "dyson/law/theory.hpp"
#include "support/networks.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <string>

namespace spectra {
namespace {

using dyson::Method;

TEST(Depth, BistochasticStacksAreCertifiedOverTheWholeSpectrum) {
    int counted = 0;
    for (const int depth : {10, 30, 100, 1000}) {
        // Between bands a thousand layers deep the density is cut where rounding shows (docs/numerics.md).
        const double cut = depth == 1000 ? 1e-6 : 1e-9;
        const Network network = tests::draw_network(mixers::Family::bistochastic, 4, depth, 25, 0.05);
        const auto theory = dyson::solve(network, Method::operator_valued);
        const auto& summary = theory.summary;
        EXPECT_TRUE(summary.certified) << "L = " << depth << ": " << summary.message;
        EXPECT_NEAR(summary.mass, 1, cut) << "L = " << depth;
        EXPECT_NEAR(summary.mean_square / summary.mean_square_exact, 1, 1e-9) << "L = " << depth;
        EXPECT_NEAR(summary.log_mean, summary.log_mean_exact.value(), cut * 10 * depth) << "L = " << depth;
        EXPECT_NEAR(summary.tail_exponent, summary.tail_exponent_exact.value(), 2e-3) << "L = " << depth;
        const auto& density = theory.law.density();
        EXPECT_LT(density.mass_below, 1e-7) << "L = " << depth;
        const auto metrics = theory.law.metrics();
        EXPECT_NEAR(metrics.collapsed, 0.75, 1e-3);
        // One point of the potential counts what lies below it, whatever the density's quadrature says.
        const double middle = density.log_s[density.log_s.size() / 2];
        for (const double log_s : {std::log(0.1), 0.05, middle}) {
            const auto below = dyson::mass_below(network, {log_s}).front();
            if (!below.certified) continue;  // in the middle of a gap of hundreds of e-folds
            ++counted;
            EXPECT_NEAR(theory.law.cdf(log_s), below.mass, 2 * cut + 1e-7)
                << "L = " << depth << ", ln s " << log_s;
        }
        std::printf(
            "bistochastic L = %d: %d points down to 1e%.0f, mass below 0.1 %.4f, |mass - 1| %.1e, "
            "log-mean off by %.1e, %.1f s\n",
            depth, summary.points, density.log_s.front() / std::log(10.0), metrics.collapsed,
            std::abs(summary.mass - 1), summary.log_mean - *summary.log_mean_exact, summary.seconds);
    }
    EXPECT_GE(counted, 8);
}

TEST(Depth, GaussianStacksAreCertifiedFarBelowTheirNormBound) {
    const Network network = tests::draw_network(mixers::Family::gaussian, 2, 1000, 25, 0.05);
    const auto summary = dyson::solve(network, Method::operator_valued).summary;
    EXPECT_TRUE(summary.certified) << summary.message;
    EXPECT_NEAR(summary.mass, 1, 1e-9);
    EXPECT_NEAR(summary.log_mean, summary.log_mean_exact.value(), 1e-5);
    std::printf("gaussian L = 1000: %d points, |mass - 1| %.1e, log-mean off by %.1e, %.1f s\n",
                summary.points, std::abs(summary.mass - 1), summary.log_mean - *summary.log_mean_exact,
                summary.seconds);
}

TEST(Depth, EveryFamilyIsCertifiedAtThirtyLayers) {
    for (const auto family : mixers::all_families()) {
        const Network network = tests::draw_network(family, 4, 30, 25, 0.05);
        const auto summary = dyson::solve(network, Method::operator_valued).summary;
        EXPECT_TRUE(summary.certified) << mixers::name(family) << ": " << summary.message;
        EXPECT_NEAR(summary.mass, 1, 1e-6) << mixers::name(family);
        EXPECT_NEAR(summary.mean_square / summary.mean_square_exact, 1, 1e-9) << mixers::name(family);
        std::printf("%s L = 30: %d points, |mass - 1| %.1e, %.1f s\n",
                    std::string(mixers::name(family)).c_str(), summary.points, std::abs(summary.mass - 1),
                    summary.seconds);
    }
}

}  // namespace
}  // namespace spectra
