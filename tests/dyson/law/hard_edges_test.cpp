#include "dyson/law/theory.hpp"
#include "dyson/law/potential.hpp"
#include "support/networks.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace spectra::dyson {
namespace {

using tests::make_network;

/// 1 + tU with U Haar has s² = 1 + t² + 2t cos φ, φ uniform: F(s) = 1 − arccos((s² − 1 − t²)/2t)/π, and E ln s =
/// max(0, ln t). The density grows as an inverse square root at both edges, |1 − t| and 1 + t.
TEST(HardEdges, OfAnOrthogonalBranchBesideTheIdentity) {
    for (const double t : {0.574, 1.7, 0.01}) {
        Network network = make_network(Mixer::Identity(4, 4), 1, 4, 0.1);
        network.branch = IsotropicBranch{{}, {{t}}};
        const Theory theory = solve(network, Method::operator_valued);
        ASSERT_TRUE(theory.summary.certified) << t << ": " << theory.summary.message;
        EXPECT_NEAR(theory.summary.mass, 1, 1e-9) << t;
        EXPECT_NEAR(theory.summary.log_mean, std::max(0.0, std::log(t)), 1e-8) << t;
        EXPECT_NEAR(theory.law.metrics().smallest, std::abs(1 - t), 1e-9) << t;
        EXPECT_NEAR(theory.law.metrics().largest, 1 + t, 1e-9) << t;
        const Density& density = theory.law.density();
        for (std::size_t k = 0; k < density.log_s.size(); ++k) {
            const double s = std::exp(density.log_s[k]), cosine = (s * s - 1 - t * t) / (2 * t);
            // The root at an edge is as uncertain as the place of the edge.
            if (!(std::abs(cosine) < 1 - 1e-6)) continue;
            const double exact = 1 - std::acos(cosine) / std::numbers::pi;
            EXPECT_NEAR(density.cumulative[k], exact, 1e-8) << t << " at " << s;
        }
    }
}

/// The same places counted at single points, which know nothing of the law: two edges to 1e-10 of their distance.
TEST(HardEdges, AreCountedFromPointsNextToThem) {
    const double t = 0.574;
    Network network = make_network(Mixer::Identity(1, 1), 1, 1, 0.1);
    network.branch = IsotropicBranch{{}, {{t}}};
    for (const double angle : {1e-4, 1e-2, 1.0, 3.0, 3.1415}) {
        const double log_s = 0.5 * std::log(1 + t * t + 2 * t * std::cos(angle));
        const auto below = mass_below(network, {log_s});
        ASSERT_TRUE(below.front().certified) << angle;
        EXPECT_NEAR(below.front().mass, 1 - angle / std::numbers::pi, 1e-9) << angle;
    }
}

/// Two free layers 1 + tU: E ln s is the sum, and the edges stay within the products of the layers'.
TEST(HardEdges, OfTwoLayers) {
    Network network = make_network(Mixer::Identity(2, 2), 2, 2, 0.1);
    network.branch = IsotropicBranch{{}, {{0.4}, {1.5}}};
    const Theory theory = solve(network, Method::operator_valued);
    ASSERT_TRUE(theory.summary.certified) << theory.summary.message;
    EXPECT_NEAR(theory.summary.log_mean, std::log(1.5), 1e-7);
}

/// Three directions whose values differ by δ: the one that would be an atom if they were the same is a peak of the density
/// with a width of order δ², inside a band as wide as the noise.
TEST(HardEdges, APeakInsideABandIsResolved) {
    const double difference = 1e-3;
    Network network = make_network(Mixer::Identity(3, 3), 1, 3, 0.1);
    network.mixers.front().diagonal() << 1, 1 + difference, 1 - 0.7 * difference;
    network.branch = HyperConnectionBranch{
        {0.02}, {Eigen::Vector3d(0.3, 0.4, 0.5)}, {Eigen::Vector3d(0.8, -0.5, 0.9)}};
    const Theory theory = solve(network, Method::operator_valued);
    ASSERT_TRUE(theory.summary.certified) << theory.summary.message;
    const double peak = theory.law.cdf(5 * difference) - theory.law.cdf(-5 * difference);
    EXPECT_GT(peak, 0.9 / 3);
    EXPECT_NEAR(theory.summary.mass, 1, 1e-8);
}

}  // namespace
}  // namespace spectra::dyson
