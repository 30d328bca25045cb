#include "dyson/moments.hpp"

#include "dyson/theory.hpp"
#include "support/networks.hpp"

#include <gtest/gtest.h>
#include <Eigen/SVD>

#include <cmath>

namespace spectra::dyson {
namespace {

using tests::draw_network;
using tests::make_network;

TEST(Moments, MeanFourthIsThatOfTheSolvedLaw) {
    for (const auto family :
         {mixers::Family::bistochastic, mixers::Family::gaussian, mixers::Family::grassmann}) {
        for (const int depth : {1, 2, 5}) {
            const Network network = draw_network(family, 3, depth, 1, 0.4);
            const Theory theory = solve(network, Method::operator_valued);
            const double fourth = theory.law.expectation([](double x) { return std::exp(4 * x); });
            EXPECT_NEAR(fourth / mean_fourth(network), 1, 1e-8) << mixers::name(family) << " L = " << depth;
        }
    }
}

TEST(Moments, LogMeanOfPureNoise) {
    // A = 0: the quarter circle of variance σ² has E ln s = ½ ln σ² − ½.
    const Network network = make_network(Mixer::Zero(2, 2), 3, 1, 0.7);
    EXPECT_NEAR(log_mean(network), 3 * (0.5 * std::log(0.7) - 0.5), 1e-13);
}

TEST(Moments, KappaCountsLayersDominatedByNoise) {
    EXPECT_EQ(kappa(make_network(Mixer::Identity(2, 2), 3, 1, 0.5)), 0);
    EXPECT_EQ(kappa(make_network(Mixer::Identity(2, 2), 3, 1, 1.0)), 1.5);
    EXPECT_EQ(kappa(make_network(Mixer::Identity(2, 2), 3, 1, 2.0)), 3);
    EXPECT_EQ(kappa(make_network(Mixer::Zero(2, 2), 3, 1, 1e-9)), 3);
}

TEST(Moments, AtomAtZeroComesFromNoiselessSingularLayersOnly) {
    Network network = draw_network(mixers::Family::grassmann, 4, 3, 1, 0.3);
    EXPECT_EQ(atom_at_zero(network), 0);
    std::get<IsotropicBranch>(network.branch).sigma2[1] = 0;
    EXPECT_DOUBLE_EQ(atom_at_zero(network), 0.5);
    EXPECT_EQ(log_mean(network), -std::numeric_limits<double>::infinity());
    // Two noiseless layers of rank one whose product vanishes, between noisy ones.
    const Mixer nilpotent{{0, 1}, {0, 0}};
    EXPECT_EQ(atom_at_zero(make_network({nilpotent, nilpotent}, 1, {0, 0})), 1);
    EXPECT_EQ(atom_at_zero(make_network({nilpotent, nilpotent}, 1, {0, 0.1})), 0.5);
    EXPECT_EQ(atom_at_zero(make_network({nilpotent, nilpotent}, 1, {0.1, 0.1})), 0);
}

TEST(Moments, SingularValuesOfAProductKeepRelativeAccuracy) {
    // U_l D V_lᵀ with matching rotations multiply to known values, 60 layers deep: 1, 1e-60, 1e-300.
    const int depth = 60;
    std::vector<Mixer> mixers;
    Mixer rotation = Mixer::Identity(3, 3);
    for (int l = 0; l < depth; ++l) {
        random::Stream stream(5, random::Purpose::test, static_cast<std::uint32_t>(l));
        mixers::Recipe recipe;
        recipe.family = mixers::Family::orthogonal;
        const Mixer next = mixers::draw(recipe, 3, stream);
        mixers.push_back(next * Eigen::Vector3d(1, 0.1, 1e-5).asDiagonal() * rotation.transpose());
        rotation = next;
    }
    const auto values = log_singular_values_of_product(mixers);
    EXPECT_NEAR(values[0], 0, 1e-12);
    EXPECT_NEAR(values[1], depth * std::log(0.1), 1e-10);
    EXPECT_NEAR(values[2], depth * std::log(1e-5), 1e-9);
}

TEST(Moments, RangeOfOneLayerIsItsSupport) {
    // A = 1: the edges of the cubic. A = 0: [0, 2σ].
    const Range zero = range(make_network(Mixer::Zero(1, 1), 1, 1, 0.25));
    EXPECT_NEAR(zero.log_upper, std::log(2 * 0.5), 1e-9);
    EXPECT_EQ(zero.log_lower, -std::numeric_limits<double>::infinity());
    for (const auto family :
         {mixers::Family::cayley_hybrid, mixers::Family::identity, mixers::Family::bistochastic}) {
        const Network network = draw_network(family, 4, 1, 1, 0.05);
        const Range bounds = range(network);
        const Theory theory = solve(network, Method::operator_valued);
        const auto& support = theory.law.density().support;
        EXPECT_NEAR(support.back().log_upper, bounds.log_upper, 1e-8) << mixers::name(family);
        if (bounds.log_lower > -100) {
            EXPECT_NEAR(support.front().log_lower, bounds.log_lower, 1e-8) << mixers::name(family);
        }
    }
}

}  // namespace
}  // namespace spectra::dyson
