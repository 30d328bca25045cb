#include "dyson/law/aligned_law.hpp"

#include "dyson/equations/aligned.hpp"
#include "dyson/equations/aligned_chain.hpp"
#include "dyson/exact/moments.hpp"
#include "dyson/exact/support_bounds.hpp"
#include "dyson/law/potential.hpp"
#include "dyson/law/theory.hpp"
#include "support/aligned_networks.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace spectra::dyson {
namespace {

AlignedLaw law_of(const Network& network, int threads) {
    return solve_aligned(network, make_aligned(network), support_bounds(network).log_upper,
                         {.threads = threads});
}

// Places are solved just above the axis and corrected; on the axis, bands and gaps have conditions of their own.
TEST(AlignedLaw, CountsAreThoseOnTheAxis) {
    const Network network = tests::aligned_network({.streams = 2, .width = 12, .depth = 2, .rank = 2});
    const AlignedLaw law = law_of(network, 1);
    ASSERT_TRUE(law.certified) << law.message;
    const double rms = std::sqrt(mean_square(network));
    EXPECT_LT(law.error, 1e-3 * rms);
    EXPECT_NEAR(law.law.metrics().mean_square / (rms * rms), 1, 3e-3);
    std::vector<double> places;
    for (std::size_t k = 4; k + 1 < law.points.size(); k += 4)
        if (-law.scaled_green[k].imag() < 20)  // bands hardly wider than the tilt are smoothed by it
            places.push_back(law.points[k].omega.log_scale);
    const auto exact = mass_below(network, places);
    int compared = 0;
    for (std::size_t k = 0; k < places.size(); ++k) {
        if (!exact[k].certified) continue;
        ++compared;
        EXPECT_NEAR(law.law.cdf(places[k]), exact[k].mass, 2e-5) << std::exp(places[k]);
    }
    EXPECT_GT(compared, 4);
}

TEST(AlignedLaw, CirclesFindWhatHalvingFinds) {
    const Network network = tests::aligned_network({.streams = 2, .width = 40, .depth = 4, .rank = 3});
    const double log_upper = support_bounds(network).log_upper, rms = std::sqrt(mean_square(network));
    const AlignedLaw plain = solve_aligned(network, make_aligned(network), log_upper, {.circles = false});
    const AlignedLaw law = solve_aligned(network, make_aligned(network), log_upper, {});
    ASSERT_TRUE(plain.certified) << plain.message;
    ASSERT_TRUE(law.certified) << law.message;
    EXPECT_TRUE(plain.outliers.empty());
    EXPECT_FALSE(law.outliers.empty());
    EXPECT_LT(agreement(law.law, plain.law).wasserstein1, 2e-3 * rms);
    // An outlier is where the counts say.
    double above = 0;
    for (const Outlier& outlier : law.outliers) {
        const std::vector<double> around{std::log(outlier.position - 2.5 * outlier.spread),
                                         std::log(outlier.position + 2.5 * outlier.spread)};
        const auto exact = mass_below(network, around);
        EXPECT_NEAR((1 - exact[1].mass) * network.size(), above, 0.05) << outlier.position;
        above += outlier.values;
        EXPECT_NEAR((1 - exact[0].mass) * network.size(), above, 0.05) << outlier.position;
    }
}

// Tied weights: the density is the plain way.
TEST(AlignedLaw, CountsTiedWeightsAsTheirDensityDoes) {
    for (const bool hyper : {false, true}) {
        std::mt19937 random(3);
        Network network;
        network.streams = 2;
        TiedBranch branch;
        for (int l = 0; l < 6; ++l) {
            network.mixers.emplace_back(0.8 * Eigen::MatrixXd::Identity(2, 2) +
                                        0.1 * tests::random_matrix(2, 2, random));
            branch.weights.push_back(l % 2);
            branch.sigma2.push_back(0.05 + 0.01 * l);
            if (!hyper) continue;
            branch.pre.emplace_back(Eigen::Vector2d(0.6, 0.4));
            branch.post.emplace_back(Eigen::Vector2d(1.0, 1.0 + 0.1 * l));
        }
        network.branch = std::move(branch);
        const Theory density = solve(network, Method::operator_valued);
        Options counting;
        counting.counting = true;
        const Theory counted = solve(network, Method::operator_valued, counting);
        ASSERT_TRUE(density.summary.certified) << density.summary.message;
        ASSERT_TRUE(counted.summary.certified) << counted.summary.message;
        const double rms = std::sqrt(density.summary.mean_square_exact);
        EXPECT_LT(agreement(counted.law, density.law).wasserstein1, 1e-3 * rms);
        EXPECT_TRUE(counted.outliers.empty());
        EXPECT_LT(counted.summary.newton_steps, density.summary.newton_steps);
    }
}

TEST(AlignedLaw, DoesNotDependOnTheThreads) {
    // Large enough for estimated responses, which are corrected from step to step.
    const Network network = tests::aligned_network({.streams = 2, .width = 60, .depth = 4, .rank = 6});
    ASSERT_FALSE(AlignedChain(network).exact_response());
    const AlignedLaw one = law_of(network, 1), three = law_of(network, 3);
    ASSERT_EQ(one.points.size(), three.points.size());
    for (std::size_t k = 0; k < one.points.size(); ++k) {
        EXPECT_EQ(one.points[k].omega.log_scale, three.points[k].omega.log_scale);
        EXPECT_EQ(one.scaled_green[k], three.scaled_green[k])
            << std::abs(one.scaled_green[k] - three.scaled_green[k]);
    }
}

}  // namespace
}  // namespace spectra::dyson
