#include "dyson/law/unresolved.hpp"

#include "dyson/exact/support_bounds.hpp"
#include "dyson/law/theory.hpp"
#include "dyson/solve/tracker.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace spectra::dyson {
namespace {

/// Two streams, one of them a tenth a layer: bands at 1 and at 1e-8, half of the mass each.
Network two_bands() {
    Network network;
    network.streams = 2;
    Mixer mixer(2, 2);
    mixer << 1, 0, 0, 0.1;
    network.mixers.assign(8, mixer);
    network.branch = IsotropicBranch{std::vector<double>(8, 1e-6)};
    return network;
}

Tracker tracker_of(const Network& network) {
    const SupportBounds support = support_bounds(network);
    return {make_operator_valued(network), support.log_upper, support.log_seeds};
}

SolvedLaw solved(const Network& network) {
    DensityOptions options;
    options.threads = 1;
    return solve_density(tracker_of(network), support_bounds(network), {}, options);
}

/// As rounding leaves it: the nodes up to number `last` are lost, and their density with them.
SolvedLaw without_lowest(SolvedLaw law, std::size_t last) {
    law.certified = false;
    double lost = 0;
    for (std::size_t k = 0; k <= last; ++k) {
        law.nodes[k].state = State::failed;
        lost += law.density.weight[k] * std::exchange(law.density.density_log[k], 0);
    }
    for (double& c : law.density.cumulative) c = std::max(0.0, c - lost);
    return law;
}

class TwoBands : public ::testing::Test {
protected:
    Network network = two_bands();
    Tracker tracker = tracker_of(network);
    PotentialReader reader{network};
    SolvedLaw whole = solved(network);
    double mean_square = Spectrum::from_density(whole.density).metrics().mean_square;
    double log_mean = Spectrum::from_density(whole.density).metrics().log_mean;
    /// A node in the middle of the lower band.
    std::size_t middle() const {
        std::size_t k = 0;
        while (whole.density.cumulative[k] < 0.25) ++k;
        return k;
    }
};

TEST_F(TwoBands, WhatIsLostBelowIsCountedAndTheRestIsAsItWas) {
    ASSERT_TRUE(whole.certified) << whole.message;
    auto law = without_lowest(whole, middle());
    const auto unresolved = leave_unresolved(law, reader, mean_square, log_mean);
    ASSERT_TRUE(unresolved);
    EXPECT_TRUE(law.certified);
    const auto exact = Spectrum::from_density(whole.density), cut = Spectrum::from_density(law.density);
    EXPECT_NEAR(unresolved->mass, exact.cdf(unresolved->log_below), 1e-6);
    EXPECT_NEAR(unresolved->mass, 0.25, 0.05);
    EXPECT_LE(unresolved->log_below, whole.density.log_s[middle() + 2]);
    EXPECT_NEAR(cut.mass(), 1, 1e-9);
    for (const double q : {0.35, 0.45, 0.55, 0.75, 0.95})
        EXPECT_NEAR(cut.log_quantile(q), exact.log_quantile(q), 1e-5) << q;
    EXPECT_NEAR(cut.metrics().mean_square, mean_square, 1e-9);
    EXPECT_NEAR(cut.metrics().log_mean, log_mean, 1e-5);
}

TEST_F(TwoBands, WithoutTheMeanLogarithmTheTailFallsAsS) {
    auto law = without_lowest(whole, middle());
    ASSERT_TRUE(leave_unresolved(law, reader, mean_square, {}));
    EXPECT_EQ(law.density.tail_exponent, 1);
}

TEST_F(TwoBands, ACompleteLawIsLeftAlone) {
    auto law = whole;
    EXPECT_FALSE(leave_unresolved(law, reader, mean_square, log_mean));
    EXPECT_EQ(law.nodes.size(), whole.nodes.size());
}

TEST_F(TwoBands, WhatMattersIsNotLeftUnresolved) {
    // Everything up to the middle of the upper band is lost.
    std::size_t k = 0;
    while (whole.density.cumulative[k] < 0.75) ++k;
    auto law = without_lowest(whole, k);
    EXPECT_FALSE(leave_unresolved(law, reader, mean_square, log_mean));
    EXPECT_FALSE(law.certified);
}

TEST_F(TwoBands, AMissedBandAboveIsNotTakenForOneBelow) {
    // The upper half of the upper band was never found.
    auto law = without_lowest(whole, middle());
    std::size_t k = 0;
    while (whole.density.cumulative[k] < 0.75) ++k;
    for (std::size_t i = k; i < law.nodes.size(); ++i) law.density.weight[i] = 0;
    EXPECT_FALSE(leave_unresolved(law, reader, mean_square, log_mean));
}

/// As a search leaves it that has not found the lower band, or the upper one.
SolvedLaw with_one_band(const SolvedLaw& whole, bool upper) {
    SolvedLaw law = whole;
    law.certified = false;
    std::size_t count = 0;  // nodes of the lower band
    while (whole.density.log_s[count] < whole.bands[1].lower.log_s) ++count;
    const auto cut = [&](auto& values) {
        const auto middle = values.begin() + static_cast<std::ptrdiff_t>(count);
        upper ? values.erase(values.begin(), middle) : values.erase(middle, values.end());
    };
    const double lost = upper ? whole.density.cumulative[count] : 0;
    Density& d = law.density;
    cut(d.log_s), cut(d.density_log), cut(d.weight), cut(d.cumulative), cut(law.nodes);
    for (double& c : d.cumulative) c -= lost - (upper ? d.density_log.front() * d.weight.front() / 2 : 0);
    law.bands.erase(law.bands.begin() + (upper ? 0 : 1));
    d.support.erase(d.support.begin() + (upper ? 0 : 1));
    return law;
}

TEST_F(TwoBands, ABandThatIsHiddenLiesBelowAPointOfTheGap) {
    auto law = with_one_band(whole, true);
    const auto unresolved = leave_below_gap(law, tracker, mean_square, log_mean);
    ASSERT_TRUE(unresolved);
    EXPECT_TRUE(law.certified);
    EXPECT_NEAR(unresolved->mass, 0.5, 1e-7);
    EXPECT_LT(unresolved->log_below, whole.bands[1].lower.log_s);
    EXPECT_GT(unresolved->log_below, whole.bands[0].upper.log_s);
    const auto exact = Spectrum::from_density(whole.density), cut = Spectrum::from_density(law.density);
    EXPECT_NEAR(cut.mass(), 1, 1e-7);
    for (const double q : {0.55, 0.75, 0.95})
        EXPECT_NEAR(cut.log_quantile(q), exact.log_quantile(q), 1e-5) << q;
    EXPECT_LT(cut.log_quantile(0.45), unresolved->log_below);
    EXPECT_NEAR(cut.metrics().mean_square, mean_square, 1e-9);
    EXPECT_NEAR(cut.metrics().log_mean, log_mean, 1e-5);
}

TEST_F(TwoBands, ABandThatIsMissedAboveIsNotTakenForAHiddenOne) {
    auto law = with_one_band(whole, false);
    EXPECT_FALSE(leave_below_gap(law, tracker, mean_square, log_mean));
    EXPECT_FALSE(law.certified);
}

TEST_F(TwoBands, ABandOfWhichPointsAreLostIsDroppedIfItsMassIsCounted) {
    auto law = without_lowest(whole, middle());
    const auto unresolved = leave_below_lost_bands(law, tracker, mean_square, log_mean);
    ASSERT_TRUE(unresolved);
    EXPECT_TRUE(law.certified);
    EXPECT_EQ(law.bands.size(), 1U);
    EXPECT_EQ(law.uncertified, 0);
    EXPECT_NEAR(unresolved->mass, 0.5, 1e-7);
    const auto exact = Spectrum::from_density(whole.density), cut = Spectrum::from_density(law.density);
    EXPECT_NEAR(cut.mass(), 1, 1e-7);
    for (const double q : {0.55, 0.75, 0.95})
        EXPECT_NEAR(cut.log_quantile(q), exact.log_quantile(q), 1e-5) << q;
    EXPECT_NEAR(cut.metrics().mean_square, mean_square, 1e-9);
    EXPECT_NEAR(cut.metrics().log_mean, log_mean, 1e-5);
}

TEST_F(TwoBands, ABandIsNotDroppedWhereItMattersOrAnotherIsIncomplete) {
    auto law = without_lowest(whole, middle());
    EXPECT_FALSE(leave_below_lost_bands(law, tracker, 1e-20, log_mean));
    // The upper half of the upper band was never found.
    std::size_t k = 0;
    while (whole.density.cumulative[k] < 0.75) ++k;
    for (std::size_t i = k; i < law.nodes.size(); ++i) law.density.weight[i] = 0;
    EXPECT_FALSE(leave_below_lost_bands(law, tracker, mean_square, log_mean));
    EXPECT_FALSE(law.certified);
    EXPECT_EQ(law.bands.size(), 2U);
}

/// A projector loses one direction of two; branches of which every other is small carry it on, over hundreds
/// of e-folds, and one of eight singular values is zero.
TEST(Unresolved, DirectionsThatBranchesAloneCarryOnAreCounted) {
    constexpr std::size_t depth = 12, values = 8;
    Network network;
    network.streams = 2;
    Mixer projector(2, 2);
    projector << 0.5, -0.5, -0.5, 0.5;
    network.mixers.assign(depth, projector);
    HyperConnectionBranch branch;
    for (std::size_t l = 0; l < depth; ++l) {
        Eigen::VectorXd pre(2), post(2);
        pre << (l % 2 == 0 ? 0.73 : 0.27), (l % 2 == 0 ? 0.27 : 0.73);
        post = 2 * pre;
        branch.pre.push_back(pre);
        branch.post.push_back(post);
        std::vector<double> law(values);
        for (std::size_t k = 1; k < values; ++k)
            law[k] = (l % 2 == 0 ? 0.02 : 1.0) *
                     std::sin(std::numbers::pi / 2 * (static_cast<double>(k) + 0.5) / values);
        branch.law.push_back(law);
    }
    network.branch = branch;
    Options options;
    options.threads = 1;
    const auto theory = solve(network, Method::operator_valued, options);
    EXPECT_TRUE(theory.summary.certified) << theory.summary.message;
    ASSERT_TRUE(theory.summary.unresolved);
    // The zero of one value in eight, in one direction of two.
    EXPECT_NEAR(theory.summary.unresolved->mass, 1.0 / 16, 1e-5);
    EXPECT_LT(theory.summary.unresolved->log_below, -50);
    EXPECT_NEAR(theory.law.metrics().collapsed, 0.5, 2e-6);
    EXPECT_NEAR(theory.law.metrics().mean_square, theory.summary.mean_square_exact, 1e-7);
}

}  // namespace
}  // namespace spectra::dyson
