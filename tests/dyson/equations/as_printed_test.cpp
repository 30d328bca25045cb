#include "dyson/equations/as_printed.hpp"

#include "dyson/law/density.hpp"
#include "dyson/exact/moments.hpp"
#include "dyson/equations/one_layer.hpp"
#include "dyson/exact/support_bounds.hpp"
#include "dyson/solve/tracker.hpp"
#include "support/networks.hpp"

#include <gtest/gtest.h>
#include <Eigen/LU>

#include <cmath>
#include <numbers>

namespace spectra::dyson {
namespace {

using tests::draw_network;
using tests::make_network;

/// E s^k = (1/2πi) ∮ ω^k g dω over a quadrant of |ω| = radius.
template <class Green>
double moment(Green green, int k, double radius) {
    constexpr int points = 24;
    double sum = 0;
    for (int j = 0; j < points; ++j) {
        const Complex omega = std::polar(radius, (j + 0.5) * std::numbers::pi / (2 * points));
        sum += (std::pow(omega, k + 1) * green(omega)).real();
    }
    return sum / points;
}

TEST(Printed, Equation4HasNoMass) {
    // G = a/z² without noise; 1/(z − a²) is meant.
    const Complex omega(1.3, 0.4), z = omega * omega;
    EXPECT_LT(std::abs(printed::equation_4(0.8, 0, omega).g / omega - 0.8 / (z * z)), 1e-15);
    const auto green = [](Complex w) { return printed::equation_4(0.8, 0.1, w).g; };
    EXPECT_NEAR(moment(green, 0, 2), 0, 1e-12);
    EXPECT_NEAR(moment(green, 2, 2), 0.8, 1e-12);  // a, where E s² = a² + σ² = 0.74
    // The equation itself holds.
    const Complex m = omega * printed::equation_4(0.8, 0.1, omega).g;
    EXPECT_LT(std::abs(m - 0.8 / (z - 0.1 * m)), 1e-14);
    EXPECT_LT(m.imag(), 0);
}

TEST(Printed, Equation4IsPureNoiseInAnotherVariable) {
    // a = 1, z read as ω: m(ω) is the quarter circle's g.
    const Complex omega(0.9, 0.05);
    const Complex m = std::sqrt(omega) * printed::equation_4(1, 0.49, std::sqrt(omega)).g;
    const Complex g = one_layer_green(make_network(Mixer::Zero(1, 1), 1, 1, 0.49), omega).g;
    EXPECT_LT(std::abs(m - g), 1e-13);
}

TEST(Printed, Step8DoesNotConvergeQuadratically) {
    const double a = 1, sigma2 = 0.3;
    const Complex z(1.2, 0.3), omega = std::sqrt(z);
    const Complex m = printed::equation_4(a, sigma2, omega).g * omega;
    const Complex q = a * sigma2 / std::pow(z - sigma2 * m, 2);
    // The error falls by 2q/(1 + q) a step, where Newton's square of it would be 1e-12.
    const Complex error(1e-6, 0);
    const Complex after = printed::newton_step_8(a, sigma2, z, m + error) - m;
    EXPECT_LT(std::abs(after / error - 2.0 * q / (1.0 + q)), 1e-5);
    EXPECT_GT(std::abs(after), 1e-7);
}

TEST(Printed, Equation7SatisfiesItself) {
    // M = H(z − HᵀH)⁻¹ with H = A + σ²M, solved here by iteration far from the support.
    const Network network = draw_network(mixers::Family::gaussian, 3, 1, 1, 0.1);
    const Complex omega(0.8, 3.5), z = omega * omega;
    const Eigen::MatrixXcd a = network.mixers[0].cast<Complex>(), one = Eigen::MatrixXcd::Identity(3, 3);
    Eigen::MatrixXcd m = Eigen::MatrixXcd::Zero(3, 3);
    for (int k = 0; k < 500; ++k) {
        const Eigen::MatrixXcd h = a + 0.1 * m;
        m = h * (z * one - h.transpose() * h).inverse();
    }
    const Eigen::MatrixXcd h = a + 0.1 * m;
    const Complex expected = omega * (z * one - h.transpose() * h).inverse().trace() / 3.0;
    const GreenPoint point = printed::equation_7(network, omega);
    EXPECT_TRUE(point.certified);
    EXPECT_LT(std::abs(point.g - expected), 1e-13 * std::abs(expected));
}

TEST(Printed, Equation7LosesTheNoiseInTheMeanSquare) {
    for (const auto family : {mixers::Family::identity, mixers::Family::spectral_sphere}) {
        const Network network = draw_network(family, 3, 1, 1, 0.01);
        const auto green = [&](Complex omega) { return printed::equation_7(network, omega).g; };
        const double square = network.mixers[0].squaredNorm() / 3, radius = 3;
        EXPECT_NEAR(moment(green, 0, radius), 1, 1e-11);
        EXPECT_NEAR(moment(green, 2, radius), square, 1e-10);
        EXPECT_NEAR(printed::mean_square(network), square, 1e-14);
        EXPECT_NEAR(mean_square(network), square + 0.01, 1e-14);
    }
    // E s⁴ of (a + s_1)(a + s_2) is a⁴ + 2a²σ², of the real law a⁴ + 4a²σ² + 2σ⁴.
    const Network one = make_network(Mixer{{0.9}}, 1, 1, 0.02);
    const auto green = [&](Complex omega) { return printed::equation_7(one, omega).g; };
    EXPECT_NEAR(moment(green, 4, 3), std::pow(0.9, 4) + 2 * 0.81 * 0.02, 1e-9);
    EXPECT_NEAR(*mean_fourth(one), std::pow(0.9, 4) + 4 * 0.81 * 0.02 + 2 * 0.02 * 0.02, 1e-14);
}

TEST(Printed, Equation7WithoutNoiseIsTheMixer) {
    const Mixer a = Eigen::Vector2d(1.5, 0.5).asDiagonal();
    const Complex omega(0.7, 0.2);
    const Complex expected = one_layer_green(make_network(a, 1, 1, 0), omega).g;
    EXPECT_LT(std::abs(printed::equation_7(make_network(a, 1, 1, 0), omega).g - expected), 1e-12);
}

TEST(Printed, Equation7AtDepthMultipliesMeanSquares) {
    for (const int depth : {2, 10}) {
        Network network = make_network(Mixer{{0.9}}, depth, 1, 0.01 / depth);
        const auto green = [&](Complex omega) { return printed::equation_7(network, omega).g; };
        EXPECT_NEAR(moment(green, 2, 3), std::pow(0.81, depth), 1e-9);
    }
    const Network unequal = make_network(
        {Mixer(Eigen::Vector2d(1, 0.5).asDiagonal()), Mixer{{0.3, 0.4}, {0.8, -0.6}}}, 1, {0.01, 0.02});
    const auto green = [&](Complex omega) { return printed::equation_7(unequal, omega).g; };
    EXPECT_NEAR(moment(green, 2, 3), printed::mean_square(unequal), 1e-9);
}

TEST(Printed, Equation7HasADensityWhereNoiseIsSmall) {
    for (const int depth : {1, 5}) {
        const Network network = make_network(Mixer::Identity(2, 2), depth, 1, 0.05 / depth);
        const SupportBounds support = printed::support_bounds(network);
        const Tracker tracker(make_printed(network), support.log_upper, {support.log_upper - 5});
        const SolvedLaw law = solve_density(tracker, support, {}, {});
        EXPECT_TRUE(law.certified) << law.message;
        const Metrics metrics = Spectrum::from_density(law.density).metrics();
        EXPECT_NEAR(metrics.mean_square, 1, 1e-7);  // 1.05 and more is right
        EXPECT_GT(mean_square(network), 1.0499);
    }
}

TEST(Printed, Equation7IsNoLawWhereNoiseIsLarge) {
    // 2σ > a: (a + s_1)(a + s_2) is not positive. The signs say so near zero, and nothing is certified there.
    const Network network = make_network(Mixer{{0.5}}, 1, 1, 0.3);
    EXPECT_TRUE(printed::equation_7(network, Complex(0.1, 3)).certified);
    EXPECT_FALSE(printed::equation_7(network, Complex(0.02, 1e-3)).certified);
}

TEST(Printed, RefusesWhatItDoesNotCover) {
    Network network = make_network(Mixer::Identity(2, 2), 1, 1, 0.1);
    network.branch = tied_branch(network.mixers.size(), 0.1);
    EXPECT_THROW(make_printed(network), std::invalid_argument);
    EXPECT_THROW(make_printed(make_network(Mixer::Zero(2, 2), 1, 1, 0.1)), std::invalid_argument);
}

}  // namespace
}  // namespace spectra::dyson
