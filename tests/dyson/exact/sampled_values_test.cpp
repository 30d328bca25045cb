#include "dyson/exact/sampled_values.hpp"

#include "dyson/exact/mixer_values.hpp"
#include "dyson/exact/moments.hpp"
#include "support/branch_networks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace spectra::dyson {
namespace {

TEST(SampledValues, WithoutNoiseAreThoseOfTheMixers) {
    const Network network = tests::draw_network(mixers::Family::gaussian, 3, 4, 1, 0.0);
    std::vector<double> exact = log_singular_values_of_product(network.mixers);
    std::ranges::sort(exact);
    const std::vector<double> sampled = sampled_log_values(network);
    ASSERT_EQ(sampled.size(), 12U);
    for (std::size_t k = 0; k < sampled.size(); ++k) EXPECT_NEAR(sampled[k], exact[k / 4], 1e-10);
}

TEST(SampledValues, HaveAboutTheMeanSquareOfEveryBranch) {
    for (const auto& [name, network] : tests::branch_networks()) {
        const std::vector<double> sampled = sampled_log_values(network);
        double sum = 0;
        for (const double x : sampled) sum += std::exp(2 * x) / static_cast<double>(sampled.size());
        EXPECT_NEAR(std::log(sum / mean_square(network)), 0, 0.7) << name;
    }
}

TEST(SampledValues, AreThoseOfABranchAloneInOneLayer) {
    Network network;
    network.streams = 1;
    network.mixers = {Mixer::Zero(1, 1)};
    network.branch = HyperConnectionBranch{{},
                                           {Eigen::VectorXd::Constant(1, 2)},
                                           {Eigen::VectorXd::Constant(1, 3)},
                                           {{1e-9, 1e-5, 0.25, 0.5, 1}}};
    const std::vector<double> sampled = sampled_log_values(network);
    ASSERT_EQ(sampled.size(), 5U);
    const auto& values = std::get<HyperConnectionBranch>(network.branch).law.front();
    for (std::size_t k = 0; k < 5; ++k) EXPECT_NEAR(sampled[k], std::log(6 * values[k]), 1e-6) << k;
}

TEST(SampledValues, OfTiedWeightsAreThoseOfOneMatrix) {
    Network one;
    one.streams = 1;
    one.mixers = {Mixer::Zero(1, 1)};
    one.branch = tied_branch(1, 0.5);
    Network two = one;
    two.mixers.push_back(Mixer::Zero(1, 1));
    two.branch = tied_branch(2, 0.5);
    const auto sum = [](const std::vector<double>& x) { return std::accumulate(x.begin(), x.end(), 0.0); };
    EXPECT_NEAR(sum(sampled_log_values(two)), 2 * sum(sampled_log_values(one)), 1e-9);  // ln |det F²|
}

TEST(SampledValues, ShowWhatAMixerLosesAndABranchRestores) {
    Network network;
    network.streams = 2;
    network.mixers = {Mixer(Eigen::Vector2d(1, 0).asDiagonal())};
    network.branch = HyperConnectionBranch{{1e-20}, {Eigen::Vector2d(1, 1)}, {Eigen::Vector2d(1, 1)}};
    const std::vector<double> sampled = sampled_log_values(network);
    EXPECT_LT(sampled[3], std::log(1e-9));
    EXPECT_GT(sampled[0], std::log(1e-13));
    EXPECT_NEAR(sampled[4], 0, 1e-8);
}

}  // namespace
}  // namespace spectra::dyson
