#include "dyson/equations/one_layer.hpp"

#include "support/dense_dyson.hpp"
#include "support/networks.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>
#include <numbers>

namespace spectra::dyson {
namespace {

using tests::draw_network;
using tests::make_network;

const Complex places[] = {{0.9, 0.01}, {1.2, 0.1}, {0.3, 0.05}, {2.0, 0.3}, {1e-3, 1e-3}, {0.1, 1e-9}};

TEST(OneLayer, SatisfiesTheCubicOfAScalarSkip) {
    const double a = 0.8, sigma2 = 0.5;
    for (const Complex omega : places) {
        const GreenPoint point = one_layer_green(make_network(Mixer{{a}}, 1, 1, sigma2), omega);
        EXPECT_TRUE(point.certified) << omega;
        const Complex z = omega * omega, g = point.g / omega, u = 1.0 - sigma2 * g;
        EXPECT_LT(std::abs(g * (z * u * u - a * a) - u), 1e-11 * (1 + std::abs(g * z * u * u))) << omega;
    }
}

TEST(OneLayer, WithoutASkipIsTheQuarterCircle) {
    // ρ(s) = √(4σ² − s²)/(πσ²) on [0, 2σ].
    const double sigma2 = 0.49;
    const Network network = make_network(Mixer::Zero(3, 3), 1, 1, sigma2);
    for (const double s : {0.01, 0.5, 1.0, 1.3}) {
        const GreenPoint point = one_layer_green(network, s);
        EXPECT_TRUE(point.certified);
        EXPECT_NEAR(-2 / std::numbers::pi * point.g.imag(),
                    std::sqrt(4 * sigma2 - s * s) / (std::numbers::pi * sigma2), 1e-13);
    }
    const GreenPoint outside = one_layer_green(network, 1.5);
    EXPECT_TRUE(outside.certified);
    EXPECT_EQ(outside.g.imag(), 0);
    EXPECT_NEAR(outside.g.real(), (1.5 - std::sqrt(1.5 * 1.5 - 4 * sigma2)) / (2 * sigma2), 1e-13);
}

TEST(OneLayer, WithoutNoiseIsTheMixer) {
    const Mixer a = Eigen::Vector2d(2, 0.5).asDiagonal();
    const Complex omega(0.7, 0.2), z = omega * omega;
    const GreenPoint point = one_layer_green(make_network(a, 1, 1, 0), omega);
    EXPECT_LT(std::abs(point.g - 0.5 * omega * (1.0 / (z - 4.0) + 1.0 / (z - 0.25))), 1e-15);
}

TEST(OneLayer, IsThePlainEquationForEveryFamily) {
    for (const auto family : mixers::all_families()) {
        for (const int n : {1, 3, 6}) {
            const Network network = draw_network(family, n, 1, 1, 0.2);
            for (const Complex omega : {Complex(0.9, 0.2), Complex(0.2, 0.2), Complex(1.7, 0.3)}) {
                const GreenPoint point = one_layer_green(network, omega);
                EXPECT_TRUE(point.certified);
                const Complex expected = tests::DenseDyson(network).green(omega);
                EXPECT_LT(std::abs(point.g - expected), 1e-11 * std::abs(expected)) << mixers::name(family);
            }
        }
    }
}

TEST(OneLayer, IsTheGoldenValue) {
    const auto golden = nlohmann::json::parse(std::ifstream(SPECTRA_DATA_DIR "/golden/chain.json"));
    int compared = 0;
    for (const auto& c : golden["cases"]) {
        if (c["depth"] != 1 || c["noise"]["kind"] != "isotropic" || !c["noise"].contains("sigma2")) continue;
        const int n = c["streams"];
        Mixer a(n, n);
        for (Eigen::Index i = 0; i < n; ++i)
            for (Eigen::Index j = 0; j < n; ++j)
                a(i, j) = c["mixers"][0][static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
        const Network network = make_network(a, 1, 1, c["noise"]["sigma2"][0].get<double>());
        for (std::size_t k = 0; k < c["omega"].size(); ++k, ++compared) {
            const Complex omega(c["omega"][k][0], c["omega"][k][1]), g(c["g"][k][0], c["g"][k][1]);
            const GreenPoint point = one_layer_green(network, omega);
            EXPECT_TRUE(point.certified);
            EXPECT_LT(std::abs(point.g - g), 1e-8 * std::abs(g)) << c["name"] << " " << omega;
        }
    }
    EXPECT_GE(compared, 100);
}

TEST(OneLayer, MeetsTheAxisFromAbove) {
    // Gaps between bands too: the real root is the limit.
    const Mixer a = Eigen::Vector3d(2, 1, 0.2).asDiagonal();
    const Network network = make_network(a, 1, 1, 0.01);
    int gaps = 0, inside = 0;
    for (double s = 0.02; s < 2.6; s += 0.02) {
        const GreenPoint axis = one_layer_green(network, s),
                         above = one_layer_green(network, Complex(s, 1e-9));
        ASSERT_TRUE(axis.certified && above.certified) << s;
        EXPECT_LT(std::abs(axis.g - above.g), 1e-5 * std::abs(above.g)) << s;
        (axis.g.imag() == 0 ? gaps : inside) += 1;
    }
    EXPECT_GT(gaps, 20);
    EXPECT_GT(inside, 20);
}

TEST(OneLayer, RefusesOtherNetworks) {
    const Network two = make_network(Mixer::Identity(2, 2), 2, 1, 0.1);
    EXPECT_THROW(one_layer_green(two, 1.0), std::invalid_argument);
    Network tied = make_network(Mixer::Identity(2, 2), 1, 1, 0.1);
    tied.branch = tied_branch(1, 0.1);
    EXPECT_THROW(one_layer_green(tied, 1.0), std::invalid_argument);
}

}  // namespace
}  // namespace spectra::dyson
