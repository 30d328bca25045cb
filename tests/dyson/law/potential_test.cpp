#include "dyson/law/potential.hpp"

#include "dyson/equations/chain.hpp"
#include "dyson/exact/support_bounds.hpp"
#include "dyson/law/theory.hpp"
#include "dyson/solve/tracker.hpp"
#include "support/branch_networks.hpp"
#include "support/networks.hpp"

#include <gtest/gtest.h>
#include <Eigen/Eigenvalues>

#include <cmath>
#include <numbers>

namespace spectra::dyson {
namespace {

using mixers::Family;
using tests::draw_network;
using tests::make_network;

/// The slow reference: eigenvalues of a matrix whose numerical range is in the upper half plane are there.
TEST(Potential, ArgumentsOfPivotsAreThoseOfEigenvalues) {
    random::Stream stream(7, random::Purpose::mixer, 0);
    const auto symmetric = [&](int size) {
        Eigen::MatrixXd x(size, size);
        for (double& entry : x.reshaped()) entry = stream.normal();
        return x;
    };
    for (const int size : {1, 2, 3, 5, 8}) {
        for (const double height : {1.0, 1e-3, 1e-9}) {
            const Eigen::MatrixXd x = symmetric(size), y = symmetric(size);
            Eigen::MatrixXcd h(size, size);
            h.real() = x + x.transpose();
            h.imag() = height * y * y.transpose();
            const Eigen::ComplexEigenSolver<Eigen::MatrixXcd> solver(h, false);
            double expected = 0, error = 0;
            for (const Complex value : solver.eigenvalues()) expected += std::arg(value);
            EXPECT_NEAR(argument_of_determinant(h, error), expected, 1e-9) << size << ", " << height;
            EXPECT_LT(error, 1e-12);
        }
    }
    // Zero diagonals need pivots of size two.
    double error = 0;
    Eigen::MatrixXcd link(2, 2);
    link << 0, 1, 1, 0;
    EXPECT_NEAR(argument_of_determinant(link, error), std::numbers::pi, 1e-15);
}

TEST(Potential, PureNoiseIsTheQuarterCircle) {
    const Network network = make_network(Mixer::Zero(3, 3), 1, 1, 0.25);
    for (const double s : {0.01, 0.4, 0.7, 0.999, 1.2}) {
        const double x = std::min(s, 1.0);
        const double exact = 2 / std::numbers::pi * (x * std::sqrt(1 - x * x) + std::asin(x));
        const MassBelow found = mass_below(network, {std::log(s)}).front();
        EXPECT_TRUE(found.certified) << s;
        EXPECT_NEAR(found.mass, exact, 1e-12) << s;
    }
}

/// The whole law knows the mass below s by integrating its density.
class PotentialOfBranch : public ::testing::TestWithParam<tests::BranchNetwork> {};

TEST_P(PotentialOfBranch, CountsWhatTheLawHolds) {
    const Network& network = GetParam().network;
    const Theory theory = solve(network, Method::operator_valued);
    ASSERT_TRUE(theory.summary.certified) << theory.summary.message;
    std::vector<double> places;
    for (const double u : {0.02, 0.15, 0.4, 0.6, 0.9, 0.99}) {
        places.push_back(theory.law.log_quantile(u * theory.law.mass()) + 1e-4);  // beside, not on, an atom
    }
    places.push_back(std::log(0.1));
    places.push_back(theory.law.density().support.back().log_upper + 0.2);
    const auto found = mass_below(network, places);
    for (std::size_t k = 0; k < places.size(); ++k) {
        EXPECT_TRUE(found[k].certified) << "s = " << std::exp(places[k]);
        EXPECT_NEAR(found[k].mass, theory.law.cdf(places[k]), 1e-6) << "s = " << std::exp(places[k]);
    }
}

INSTANTIATE_TEST_SUITE_P(EveryBranch, PotentialOfBranch, ::testing::ValuesIn(tests::branch_networks()),
                         [](const auto& parameter) { return parameter.param.name; });

TEST(Potential, CountsWhatTheLawHoldsInEveryFamily) {
    for (const Family family : mixers::all_families()) {
        const Network network = draw_network(family, 4, 5, 1, 0.05);
        const Theory theory = solve(network, Method::operator_valued);
        std::vector<double> places;
        for (const double s : {1e-3, 0.01, 0.1, 0.3, 0.75, 1.0, 1.25, 3.0}) places.push_back(std::log(s));
        const auto found = mass_below(network, places);
        for (std::size_t k = 0; k < places.size(); ++k) {
            EXPECT_TRUE(found[k].certified) << mixers::name(family);
            EXPECT_NEAR(found[k].mass, theory.law.cdf(places[k]), 1e-7)
                << mixers::name(family) << ", s = " << std::exp(places[k]);
        }
    }
}

/// Deep products are graded; gaps hold whole streams, and the vertical line never touches the real axis.
TEST(Potential, CountsInDeepNetworks) {
    const Network network = draw_network(Family::bistochastic, 4, 40, 1, 0.05);
    Tracker tracker(make_chain(network), support_bounds(network).log_upper, {-4.0});
    for (const double log_s : {-20.0, -8.0, -4.0, -0.05}) {
        const MassBelow found = mass_below(network, {log_s}).front();
        EXPECT_TRUE(found.certified) << log_s;
        EXPECT_NEAR(found.mass, tracker.cumulative(log_s), 1e-5) << log_s;
    }
}

TEST(Potential, CountsSingularValuesWithoutNoise) {
    Mixer a = Mixer::Zero(3, 3);
    a.diagonal() << 0.0, 0.5, 2.0;
    const Network network = make_network(a, 2, 1, 0.0);  // 0, 0.25, 4
    const auto found = mass_below(network, {std::log(1e-3), std::log(0.3), std::log(5.0)});
    EXPECT_NEAR(found[0].mass, 1.0 / 3, 1e-12);
    EXPECT_NEAR(found[1].mass, 2.0 / 3, 1e-12);
    EXPECT_NEAR(found[2].mass, 1, 1e-12);
    EXPECT_TRUE(found[0].certified);
    Network zero = network;
    zero.mixers[0].setZero();
    EXPECT_EQ(mass_below(zero, {std::log(1e-3)}).front().mass, 1);
}

}  // namespace
}  // namespace spectra::dyson
