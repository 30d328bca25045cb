#include "dyson/exact/one_stream.hpp"

#include "dyson/equations/chain.hpp"
#include "dyson/exact/moments.hpp"
#include "dyson/exact/support_bounds.hpp"
#include "dyson/solve/tracker.hpp"
#include "support/networks.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <vector>

namespace spectra::dyson {
namespace {

using mixers::Family;
using tests::draw_network;

/// g by the chain of the network as it is, every stream kept.
std::vector<Complex> green_of(const Network& network, const std::vector<Complex>& points) {
    Tracker tracker(make_chain(network), support_bounds(network).log_upper, {});
    std::vector<Complex> out;
    for (const Complex omega : points) {
        const Solution solution = tracker.solve(omega);
        EXPECT_TRUE(solution.ok()) << omega;
        out.push_back(tracker.equation().scaled_green(solution.omega, solution.m) *
                      std::exp(-solution.omega.log_scale));
    }
    return out;
}

TEST(OneStream, HasTheLawOfManyIfMixersAreMultiplesOfOrthogonalOnes) {
    const std::vector<Complex> points{{0.3, 0.05}, {0.9, 0.01}, {1.4, 0.2}, {0.05, 0.02}, {2.5, 0.1}};
    for (const Family family : {Family::identity, Family::orthogonal})
        for (const int n : {2, 3, 4, 7})
            for (const int depth : {1, 3, 10})
                for (const bool given_law : {false, true}) {
                    Network network = draw_network(family, n, depth, 5, 0.3);
                    for (std::size_t l = 0; l < network.mixers.size(); ++l)
                        network.mixers[l] *= 0.8 + 0.1 * static_cast<double>(l % 5);
                    if (given_law) network.branch = IsotropicBranch{{}, {{0.1, 0.2, 0.5, 0.9}}};
                    const auto one = with_one_stream(network);
                    ASSERT_TRUE(one);
                    EXPECT_EQ(one->streams, 1);
                    EXPECT_NEAR(mean_square(*one), mean_square(network), 1e-13 * mean_square(network));
                    const auto expected = green_of(network, points), found = green_of(*one, points);
                    for (std::size_t k = 0; k < points.size(); ++k)
                        EXPECT_LT(std::abs(found[k] - expected[k]), 1e-11 * std::abs(expected[k]))
                            << "n = " << n << ", L = " << depth << ", " << points[k];
                }
}

TEST(OneStream, IsNotFoundForOtherNetworks) {
    EXPECT_FALSE(with_one_stream(draw_network(Family::bistochastic, 4, 3, 1, 0.1)));
    EXPECT_FALSE(with_one_stream(draw_network(Family::cayley, 4, 3, 1, 0.1)))
        << "two iterations: nearly orthogonal";
    EXPECT_FALSE(with_one_stream(draw_network(Family::orthogonal, 1, 3, 1, 0.1))) << "it has one already";
    Network network = draw_network(Family::orthogonal, 3, 4, 1, 0.1);
    EXPECT_TRUE(with_one_stream(network));
    network.mixers[2](0, 1) += 1e-9;
    EXPECT_FALSE(with_one_stream(network));
    network = draw_network(Family::orthogonal, 3, 4, 1, 0.1);
    network.branch = TiedBranch{{0.1, 0.1, 0.1, 0.1}};
    EXPECT_FALSE(with_one_stream(network)) << "shared weights see how layers are turned";
}

}  // namespace
}  // namespace spectra::dyson
