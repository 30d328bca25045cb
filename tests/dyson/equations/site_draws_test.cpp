#include "dyson/equations/site_draws.hpp"

#include "support/networks.hpp"

#include <gtest/gtest.h>

#include <set>

namespace spectra::dyson {
namespace {

Network with_activation(ActivationKind kind, int streams, int depth, double q) {
    Network network = tests::draw_network(mixers::Family::orthogonal, streams, depth, 1, 0.1);
    ActivationBranch branch;
    branch.sigma_w2.assign(static_cast<std::size_t>(depth), 0.1);
    branch.activation.kind = kind;
    branch.preactivation_variance.assign(static_cast<std::size_t>(depth), q);
    network.branch = branch;
    return network;
}

TEST(SiteDraws, TwoValuedLawsAreEnumerated) {
    const SiteDraws sites = site_draws(with_activation(ActivationKind::relu, 3, 2, 1));
    EXPECT_TRUE(sites.exact);
    EXPECT_EQ(sites.draws.size(), 64u);
    std::set<std::vector<double>> different;
    for (const auto& draw : sites.draws) {
        EXPECT_DOUBLE_EQ(draw.weight, 1.0 / 64);
        different.insert(draw.slope2);
    }
    EXPECT_EQ(different.size(), 64u);
    EXPECT_EQ(site_draws(with_activation(ActivationKind::linear, 4, 50, 1)).draws.size(), 1u);
}

TEST(SiteDraws, ASampleHasTheExactMeanInEveryStreamAndLayer) {
    for (const auto kind : {ActivationKind::tanh, ActivationKind::gelu, ActivationKind::relu}) {
        const Network network = with_activation(kind, 4, 5, 1.7);
        const SiteDraws sites = site_draws(network);
        EXPECT_FALSE(sites.exact);
        const double exact = mean_derivative2(std::get<ActivationBranch>(network.branch).activation, 1.7);
        for (std::size_t site = 0; site < 20; ++site) {
            double mean = 0, weight = 0;
            for (const auto& draw : sites.draws) {
                mean += draw.weight * draw.slope2[site];
                weight += draw.weight;
            }
            EXPECT_NEAR(weight, 1, 1e-12);
            EXPECT_NEAR(mean, exact, 1e-12 * exact);
        }
    }
}

TEST(SiteDraws, HalvesShareTheDrawsBetweenThem) {
    const SiteDraws all = site_draws(with_activation(ActivationKind::tanh, 4, 5, 1));
    const SiteDraws first = half_of(all, SiteHalf::first), second = half_of(all, SiteHalf::second);
    EXPECT_EQ(first.draws.size() + second.draws.size(), all.draws.size());
    double weight = 0;
    for (const auto& draw : first.draws) weight += draw.weight;
    EXPECT_NEAR(weight, 1, 1e-12);
    EXPECT_NE(first.draws[0].slope2, second.draws[0].slope2);
}

}  // namespace
}  // namespace spectra::dyson
