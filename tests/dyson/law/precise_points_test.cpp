#include "dyson/law/precise_points.hpp"

#include "dyson/law/theory.hpp"
#include "network/connection.hpp"
#include "support/networks.hpp"
#include "support/precise_dyson.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace spectra::dyson {
namespace {

using tests::Precise;
using tests::PreciseComplex;

/// A hyper-connection of one layer without mixer: one stream has the branch's singular values, the others none.
Network branch_alone() {
    Network network;
    network.streams = 2;
    network.mixers = {Mixer::Zero(2, 2)};
    HyperConnectionBranch branch;
    branch.law = {{1e-3, 2e-3, 5e-3}};
    branch.pre = {Eigen::Vector2d(0.5, 0.25)};
    branch.post = {Eigen::Vector2d(1.5, -0.5)};
    network.branch = branch;
    return network;
}

/// Hyper-connections beside mixers that lose a direction.
Network lost_direction() {
    Network network;
    network.streams = 3;
    network.mixers.assign(2, Mixer::Zero(3, 3));
    network.mixers[0] << 1, 0.5, 0, 2, 1, 0, 0.25, -1, 0;
    network.mixers[1] << 0.5, -1, 0.25, 0.25, 0.75, 1, 0.5, 1, -0.5;
    const Connections ways = draw_connections(3, 2, false, 7);
    network.branch = HyperConnectionBranch{{1e-4, 1e-5}, ways.pre, ways.post};
    return network;
}

/// Tied hyper-connections without mixers: one of two streams is lost.
Network tied_lost_direction() {
    Network network;
    network.streams = 2;
    network.mixers.assign(2, Mixer::Zero(2, 2));
    network.branch = tied_branch(2, 1e-6, Eigen::Vector2d(0.5, 0.25), Eigen::Vector2d(1.5, -0.5));
    return network;
}

/// g by fifty digits, from |ω| = 1 down along a ray.
Complex precise_green(const Network& network, double log_s, double tilt) {
    const tests::ChainInPrecision<Precise, PreciseComplex> chain(network);
    std::vector<PreciseComplex> q(static_cast<std::size_t>(chain.unknowns()), PreciseComplex(0, -1));
    const auto at = [&](double x) { return PreciseComplex(exp(Precise(x))) * PreciseComplex(1, tilt); };
    chain.average(at(2), q, 200);
    for (double x = 2; x > log_s - 0.5; x -= 0.5)
        EXPECT_LT(chain.newton(at(std::max(x, log_s)), q, 40, Precise("1e-30")), Precise("1e-30")) << x;
    const PreciseComplex g = chain.green(at(log_s), q);
    return {static_cast<double>(g.real()), static_cast<double>(g.imag())};
}

TEST(PrecisePoints, ReachABranchFarBelowItsValues) {
    const Network network = branch_alone();
    const auto& branch = std::get<HyperConnectionBranch>(network.branch);
    const double length = branch.pre[0].norm() * branch.post[0].norm();
    for (const double log_s : {-15.0, -27.0, -40.0, -43.0}) {
        for (const double tilt : {1.0, 0.1, 1e-6}) {
            const Complex omega = std::exp(log_s) * Complex(1, tilt);
            Complex exact = 1.0 / omega;
            for (const double t : branch.law.front())
                exact += omega / ((omega - length * t) * (omega + length * t)) / 3.0;
            exact *= 0.5;
            const Green found = green(network, {omega, -std::conj(omega)});
            ASSERT_TRUE(found.certified[0] && found.certified[1]) << log_s << " " << tilt;
            EXPECT_LT(std::abs(found.g[0] - exact), 1e-10 * std::abs(exact)) << log_s << " " << tilt;
            EXPECT_LT(std::abs(found.g[1] + std::conj(exact)), 1e-10 * std::abs(exact));
        }
    }
}

TEST(PrecisePoints, AgreeWithFiftyDigitsWhereAMixerLosesADirection) {
    const Network network = lost_direction();
    for (const double log_s : {-32.0, -44.0}) {
        const Complex omega = std::exp(log_s) * Complex(1, 0.1);
        const Complex exact = precise_green(network, log_s, 0.1);
        const Green found = green(network, {omega});
        ASSERT_TRUE(found.certified[0]) << log_s;
        EXPECT_LT(std::abs(found.g[0] - exact), 1e-9 * std::abs(exact)) << log_s;
    }
}

/// One tied hyper-connection has no layer to share its weights with: the same law as one that is free.
TEST(PrecisePoints, OfTiedWeightsAgreeWithFreeOnesAtOneLayer) {
    Network free;
    free.streams = 3;
    free.mixers = {Mixer(Eigen::Vector3d(1, 0, 0).asDiagonal())};
    Network tied = free;
    const Eigen::Vector3d pre(0.5, -1, 0.3), post(1.5, 0.25, -0.2);
    free.branch = HyperConnectionBranch{{1e-4}, {pre}, {post}};
    tied.branch = tied_branch(1, 1e-4, pre, post);
    for (const double log_s : {-30.0, -45.0}) {
        const std::vector<Complex> omega{std::exp(log_s) * Complex(1, 0.1)};
        const Green one = green(free, omega), other = green(tied, omega);
        ASSERT_TRUE(one.certified[0] && other.certified[0]) << log_s;
        EXPECT_LT(std::abs(one.g[0] - other.g[0]), 1e-9 * std::abs(one.g[0])) << log_s;
    }
}

TEST(PrecisePoints, OfTiedWeightsFindTheMassOfTheStreamThatIsLost) {
    // F² in one of two directions, far below its values: half of the mass is at zero.
    const Network network = tied_lost_direction();
    const auto at = [&](double log_s) { return std::exp(log_s) * Complex(1, 0.3); };
    const Green found = green(network, {at(-60)});
    EXPECT_TRUE(found.certified[0]);
    EXPECT_NEAR(std::abs(found.g[0] * at(-60) - 0.5), 0, 1e-9);
}

/// A mixer of rank one to rounding: what it leaves of the other two directions is of size 1e-17, and so is one singular value
/// of the product, which a hyper-connection moves in one direction only.
TEST(PrecisePoints, AreRefusedWhereTheyDependOnDigitsThatTheNetworkDoesNotHave) {
    Network network;
    network.streams = 3;
    const Eigen::Vector3d left(0.7, 0.3, 0.9), right(0.1, 1.3, 0.6);
    network.mixers = {left * right.transpose()};
    const Connections ways = draw_connections(3, 1, false, 3);
    network.branch = HyperConnectionBranch{{1e-2}, ways.pre, ways.post};
    const Green found =
        green(network, {std::exp(-25.0) * Complex(1, 0.1), std::exp(-42.0) * Complex(1, 0.1)});
    EXPECT_TRUE(found.certified[0]);
    EXPECT_FALSE(found.beyond_double[0]);
    EXPECT_NEAR((found.g[0] * found.omega[0]).real(), 1.0 / 3, 1e-3);  // as if that value were zero
    EXPECT_FALSE(found.certified[1]);
    EXPECT_TRUE(found.beyond_double[1]);
    EXPECT_EQ(found.verdict(0), "yes");
    EXPECT_EQ(found.verdict(1), "beyond double precision");
    EXPECT_GT(found.residual[1], largest_change);
    // Zeros are exact.
    network.mixers = {Eigen::Vector3d(1, 0, 0) * right.transpose()};
    EXPECT_TRUE(green(network, {std::exp(-42.0) * Complex(1, 0.1)}).certified[0]);
}

}  // namespace
}  // namespace spectra::dyson
