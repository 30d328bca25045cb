// Theory and simulation differ by what width and samples explain, and by no more: every mixer family, every
// branch, one, two and ten layers.
//
// The expectation of a distance comes from simulations of smaller widths with other seeds
// (montecarlo/finite_size.hpp), not from the theory. Each distance must lie within three of its deviations. The
// deviations are meant to be safe: over these networks differences have a root mean square of 0.6 to 0.7 of
// them, so that none of some hundred comparisons should be near three.

#include "montecarlo/finite_size.hpp"
#include "dyson/law/theory.hpp"
#include "network/connection.hpp"
#include "support/networks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace spectra {
namespace {

using dyson::Method;
using mixers::Family;

constexpr int width = 16, samples = 50;

struct Case {
    std::string name;
    Network network;
};

Network with_branch(Family family, int n, int depth, Branch branch) {
    Network network = tests::draw_network(family, n, depth, width, 0.0);
    network.branch = std::move(branch);
    return network;
}

/// Every branch at one depth, Lσ² = 0.6.
std::vector<Case> branches(int depth) {
    const auto layers = static_cast<std::size_t>(depth);
    const std::vector<double> sigma2(layers, 0.6 / depth), one(layers, 1.0);
    const double t = std::sqrt(1.0 / depth);
    const BranchLaw law{{0.2 * t, 0.6 * t, 1.1 * t}};
    const auto ways = draw_connections(3, depth, false, 5), pair = draw_connections(2, depth, false, 5);
    std::vector<int> turns;
    for (int l = 0; l < depth; ++l) turns.push_back(l % 2);
    const ActivationBranch relu{sigma2, activation_from_name("relu"), {}};
    const ActivationBranch gelu{sigma2, activation_from_name("gelu"), one};
    return {
        {"isotropic", with_branch(Family::gaussian, 2, depth, IsotropicBranch{sigma2})},
        {"isotropic law", with_branch(Family::cayley, 2, depth, IsotropicBranch{{}, law})},
        {"relu", with_branch(Family::cayley, 2, depth, relu)},
        {"gelu", with_branch(Family::gaussian, 1, depth, gelu)},
        {"hyper-connection",
         with_branch(Family::bistochastic, 3, depth, HyperConnectionBranch{sigma2, ways.pre, ways.post})},
        {"hyper-connection law",
         with_branch(Family::bistochastic, 2, depth, HyperConnectionBranch{{}, pair.pre, pair.post, law})},
        {"tied", with_branch(Family::cayley, 2, depth, tied_branch(layers, 0.6 / depth))},
        {"tied hyper-connection", with_branch(Family::orthogonal, 2, depth,
                                              tied_branch(layers, 0.6 / depth, pair.pre[0], pair.post[0]))},
        {"tied by turns", with_branch(Family::cayley, 2, depth, TiedBranch{sigma2, {}, {}, turns})},
        {"tied hyper-connection by turns",
         with_branch(Family::bistochastic, 2, depth, TiedBranch{sigma2, pair.pre, pair.post, turns})},
    };
}

struct Score {
    int compared = 0;
    double largest = 0, squares = 0;

    void add(double found, const montecarlo::Expected& expected, const std::string& what) {
        const double score = (found - expected.mean) / expected.deviation;
        EXPECT_LE(std::abs(score), 3)
            << what << " is " << found << ", expected " << expected.mean << " ± " << expected.deviation;
        ++compared;
        largest = std::max(largest, std::abs(score));
        squares += score * score;
    }
    void print() const {
        std::printf("%d distances compared: largest %.2f deviations, root mean square %.2f\n", compared,
                    largest, std::sqrt(squares / compared));
    }
};

struct Judged {
    Spectrum simulated;
    montecarlo::ExpectedDistance expected;
};

Judged simulate(const Network& network) {
    montecarlo::Options options;
    options.samples = samples;
    return {montecarlo::simulate(network, options).law,
            montecarlo::expected_distance(network, options).value()};
}

void compare(const Case& test, Score& score) {
    const auto theory = dyson::solve(test.network, Method::operator_valued);
    ASSERT_TRUE(theory.summary.certified) << test.name << ": " << theory.summary.message;
    const auto [simulated, expected] = simulate(test.network);
    const Agreement found = agreement(theory.law, simulated);
    score.add(found.wasserstein1, expected.wasserstein1, test.name + ": W1");
    score.add(found.wasserstein1_log, expected.wasserstein1_log, test.name + ": W1 in ln s");
    std::printf("%-26s W1 %.5f (expected %.5f ± %.5f), in ln s %.5f (%.5f ± %.5f), theory %.1f s\n",
                test.name.c_str(), found.wasserstein1, expected.wasserstein1.mean,
                expected.wasserstein1.deviation, found.wasserstein1_log, expected.wasserstein1_log.mean,
                expected.wasserstein1_log.deviation, theory.summary.seconds);
}

TEST(Expected, EveryFamilyIsAsFarFromTheoryAsItsWidthAndSamplesExplain) {
    Score score;
    for (const auto family : mixers::all_families())
        for (const int depth : {1, 2, 10})
            compare({std::string(mixers::name(family)) + " L = " + std::to_string(depth),
                     tests::draw_network(family, 4, depth, width, 0.05)},
                    score);
    EXPECT_EQ(score.compared, 60);
    score.print();
}

TEST(Expected, EveryBranchIsAsFarFromTheoryAsItsWidthAndSamplesExplain) {
    Score score;
    for (const int depth : {1, 2, 10}) {
        for (Case& test : branches(depth)) {
            test.name += " L = " + std::to_string(depth);
            compare(test, score);
        }
    }
    EXPECT_EQ(score.compared, 60);
    score.print();
}

/// By how many deviations of W1 a law is further off than expected.
double excess(const Spectrum& law, const Judged& judged) {
    const auto& expected = judged.expected.wasserstein1;
    return (agreement(law, judged.simulated).wasserstein1 - expected.mean) / expected.deviation;
}

TEST(Expected, WrongLawsAreFurtherOff) {
    for (const auto family : mixers::all_families()) {
        const Judged judged = simulate(tests::draw_network(family, 4, 2, width, 0.05));
        const Network other = tests::draw_network(family, 4, 2, width, 0.06);
        EXPECT_GT(excess(dyson::solve(other, Method::operator_valued).law, judged), 3)
            << mixers::name(family);
    }
    const Network network = tests::draw_network(Family::bistochastic, 4, 2, width, 0.05);
    EXPECT_GT(excess(dyson::solve(network, Method::scalar).law, simulate(network)), 30);
}

}  // namespace
}  // namespace spectra
