#include "support/precise_dyson.hpp"

#include "dyson/law/theory.hpp"
#include "support/networks.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace spectra {
namespace {

using tests::Precise;
using tests::PreciseComplex;
using tests::PreciseDyson;

// The reference itself: one layer A = aI has G [ z(1 − σ²G)² − a² ] = 1 − σ²G.
TEST(PreciseDyson, SolvesTheCubicOfOneLayer) {
    const double variance = 0.3;
    const auto network = tests::make_network(Mixer::Identity(1, 1), 1, 1, variance);
    const PreciseDyson precise(network);
    for (const double s : {0.7, 1.0, 1.4}) {
        const auto q = precise.solution(s);
        const PreciseComplex z(Precise(s) * Precise(s)),
            g = precise.green(s, 0, q) / PreciseComplex(Precise(s)),
            rest = PreciseComplex(1) - PreciseComplex(Precise(variance)) * g;
        EXPECT_LE(abs(g * (z * rest * rest - PreciseComplex(1)) - rest), Precise("1e-38")) << s;
    }
}

// A pure Gaussian layer has the quarter circle: ρ = √(4σ² − s²)/πσ², with its edge at 2σ.
TEST(PreciseDyson, SolvesTheQuarterCircle) {
    const auto network = tests::make_network(Mixer::Zero(2, 2), 1, 1, 1.0);
    const PreciseDyson precise(network);
    const Precise s("0.5");
    const Precise expected = sqrt(4 - s * s) / boost::math::constants::pi<Precise>();
    EXPECT_LE(abs(precise.density(s) - expected), Precise("1e-38"));
    EXPECT_LE(abs(precise.edge(2.0, 1) - 2), Precise("1e-19"));
}

// What docs/accuracy.md tabulates for many networks, for two of them: the law against fifty digits.
TEST(Accuracy, OfDensityAndEdges) {
    for (const auto& network : {tests::draw_network(mixers::Family::bistochastic, 2, 3, 8, 0.3),
                                tests::draw_network(mixers::Family::gaussian, 2, 2, 8, 1.0)}) {
        const auto theory = dyson::solve(network, dyson::Method::operator_valued);
        const PreciseDyson precise(network);
        // Not the median of two streams: it may lie at an edge, where rounding of s moves the density.
        for (const double u : {0.2, 0.45, 0.8}) {
            const double log_s = theory.law.log_quantile(u);
            const Precise s = exp(Precise(log_s));
            const auto expected = static_cast<double>(precise.density(s) * s);
            EXPECT_NEAR(theory.law.density_log(log_s), expected, 1e-9 * expected) << u;
        }
        const double upper = std::exp(theory.law.density().support.back().log_upper);
        EXPECT_NEAR(upper, static_cast<double>(precise.edge(upper, 1)), 1e-12 * upper);
    }
}

}  // namespace
}  // namespace spectra
