#include "dyson/equations/aligned.hpp"

#include "base/text.hpp"
#include "dyson/equations/chain.hpp"
#include "dyson/exact/moments.hpp"
#include "dyson/exact/support_bounds.hpp"
#include "dyson/law/theory.hpp"
#include "dyson/solve/tracker.hpp"
#include "network/from_json.hpp"
#include "support/aligned_networks.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

namespace spectra::dyson {
namespace {

using tests::aligned_network;

TEST(Aligned, GoldenCasesAreMet) {
    std::ifstream file(SPECTRA_DATA_DIR "/golden/aligned.json");
    const auto cases = nlohmann::json::parse(file).at("cases");
    ASSERT_EQ(cases.size(), 14U);
    for (const auto& wanted : cases) {
        const Network network = model_from_json(wanted, wanted.at("name"));
        std::vector<Complex> omega;
        for (const auto& w : wanted.at("omega")) omega.emplace_back(w[0].get<double>(), w[1].get<double>());
        const Green found = green(network, omega);
        for (std::size_t k = 0; k < omega.size(); ++k) {
            const Complex exact(wanted.at("g")[k][0].get<double>(), wanted.at("g")[k][1].get<double>());
            EXPECT_TRUE(found.certified[k]) << wanted.at("name");
            EXPECT_LT(std::abs(found.g[k] - exact), 1e-8 * std::abs(exact)) << wanted.at("name") << " at " << omega[k];
        }
    }
}

TEST(Aligned, NothingKeptIsTheChain) {
    for (const bool hyper : {true, false}) {
        Network network = aligned_network({.streams = 2, .width = 10, .depth = 3, .rank = 0, .hyper_connection = hyper});
        const auto& branch = std::get<AlignedBranch>(network.branch);
        Network plain = network;
        if (hyper)
            plain.branch = HyperConnectionBranch{{}, branch.pre, branch.post, branch.rest};
        else
            plain.branch = IsotropicBranch{{}, branch.rest};
        const std::vector<Complex> omega{{1, 0.3}, {0.3, 0.05}, {2.5, 0.02}};
        const Green aligned = green(network, omega), chain = green(plain, omega);
        for (std::size_t k = 0; k < omega.size(); ++k) {
            ASSERT_TRUE(aligned.certified[k]);
            EXPECT_LT(std::abs(aligned.g[k] - chain.g[k]), 1e-10);
        }
        EXPECT_NEAR(mean_square(network), mean_square(plain), 1e-12);
    }
}

// The same ω with another scale taken out of it.
TEST(Aligned, ASolutionIsOneInEveryGauge) {
    const Network network =
        aligned_network({.streams = 2, .width = 12, .depth = 4, .rank = 2, .derivative = true});
    Tracker tracker(make_aligned(network), support_bounds(network).log_upper, {0.0});
    const Solution solution = tracker.solve(Complex(1.3, 0.4));
    ASSERT_TRUE(solution.ok());
    const Frequency& omega = solution.omega;
    const Frequency other{omega.log_scale + 0.7, omega.direction * std::exp(-0.7)};
    const auto equation = make_aligned(network);
    const Unknowns m = equation->regauged(solution.m, omega.log_scale, other.log_scale);
    Unknowns delta;
    ASSERT_TRUE(equation->newton_step(other, m, delta));
    EXPECT_LT(delta.cwiseAbs().maxCoeff(), 1e-8);
    ASSERT_TRUE(equation->newton_step(other, solution.m, delta));
    EXPECT_GT(delta.cwiseAbs().maxCoeff(), 0.1) << "the gauge matters";
}

// What is mixed stays on its side of the axis, whichever side of the logarithm's cut Y is on.
TEST(Aligned, MixedSolutionsAreOnTheRightSide) {
    const Network network = aligned_network({.streams = 2, .width = 12, .depth = 3, .rank = 2});
    const auto equation = make_aligned(network);
    Tracker tracker(make_aligned(network), support_bounds(network).log_upper, {0.0});
    const Solution a = tracker.solve(0.3, 0.02), b = tracker.solve(-0.6, 0.02);
    ASSERT_TRUE(a.ok() && b.ok());
    const double one[2] = {0, 1}, half[2] = {0.5, 0.5}, beyond[2] = {2.5, -1.5};
    EXPECT_LT((equation->mix({&a.m, &b.m}, one) - b.m).norm(), 1e-12 * b.m.norm());
    EXPECT_TRUE(equation->admissible(a.omega, equation->mix({&a.m, &b.m}, half), 0));
    EXPECT_TRUE(equation->admissible(a.omega, equation->mix({&a.m, &b.m}, beyond), -1e-12));
}

TEST(Aligned, FarAwayIsTheMeanSquare) {
    for (const bool hyper : {true, false}) {
        const Network network = aligned_network(
            {.streams = 2, .width = 8, .depth = 3, .rank = 2, .hyper_connection = hyper, .derivative = true});
        const Complex omega(0, 1e4);
        const Complex g = green(network, {omega}).g.front();
        EXPECT_NEAR(((omega * g - 1.0) * omega * omega).real() / mean_square(network), 1, 1e-4);
    }
}

}  // namespace
}  // namespace spectra::dyson
