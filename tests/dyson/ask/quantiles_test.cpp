#include "dyson/ask/quantiles.hpp"

#include "dyson/law/potential.hpp"
#include "dyson/law/theory.hpp"
#include "support/networks.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace spectra::dyson {
namespace {

using tests::draw_network;

const std::vector<double> shares{0.001, 0.12, 0.38, 0.62, 0.88, 0.999};

TEST(Quantiles, HaveTheSharesOfTheLawBelowThem) {
    for (const auto family : {mixers::Family::identity, mixers::Family::cayley_hybrid, mixers::Family::bistochastic,
                              mixers::Family::gaussian, mixers::Family::permutation})
        for (const int depth : {1, 3, 40}) {
            const Network network = draw_network(family, 4, depth, 1, 0.05);
            const Quantiles found = quantiles(network, shares);
            ASSERT_EQ(found.uncertified, 0) << mixers::name(family) << depth;
            const auto masses = mass_below(network, found.log_s);
            for (std::size_t k = 0; k < shares.size(); ++k) {
                EXPECT_TRUE(masses[k].certified);
                // (3e-3)² of the share, times the curvature of the law.
                EXPECT_NEAR(masses[k].mass, shares[k], 1e-4 * std::min(shares[k], 1 - shares[k]) + 1e-9)
                    << mixers::name(family) << depth;
            }
        }
}

TEST(Quantiles, AreThoseOfTheWholeLaw) {
    const Network network = draw_network(mixers::Family::cayley, 4, 10, 1, 0.05);
    const Quantiles found = quantiles(network, shares);
    const Spectrum law = solve(network, Method::operator_valued).law;
    for (std::size_t k = 0; k < shares.size(); ++k)
        EXPECT_NEAR(found.log_s[k], law.log_quantile(shares[k]), 1e-5) << shares[k];
}

/// Deep networks cost by the step. Seeds that lie in bands of their own must not be looked for along the axis.
TEST(Quantiles, OfDeepNetworksTakeFewSteps) {
    const auto steps = [](mixers::Family family) {
        return quantiles(draw_network(family, 4, 200, 1, 0.05), shares).newton_steps;
    };
    EXPECT_LE(steps(mixers::Family::identity), 130);       // 94 at depth 1000
    EXPECT_LE(steps(mixers::Family::cayley_hybrid), 230);  // 155
    EXPECT_LE(steps(mixers::Family::bistochastic), 330);   // 256
}

}  // namespace
}  // namespace spectra::dyson
