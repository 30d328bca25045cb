#include "dyson/equations/two_layers.hpp"

#include "dyson/law/theory.hpp"
#include "support/dense_dyson.hpp"
#include "support/networks.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>

namespace spectra::dyson {
namespace {

using tests::draw_network;
using tests::make_network;

TEST(TwoLayers, WithoutSkipsIsTheFussCatalanLaw) {
    // A = 0: with w = zG − 1 the product of two Wishart laws has z w = σ_1²σ_2² (1 + w)³.
    const Network network = make_network({Mixer::Zero(2, 2), Mixer::Zero(2, 2)}, 1, {0.5, 0.8});
    for (const Complex omega : {Complex(0.3, 0.2), Complex(1.0, 0.1), Complex(2.0, 0.02)}) {
        const GreenPoint point = two_layers_green(network, omega);
        EXPECT_TRUE(point.certified);
        const Complex v = omega * point.g;  // 1 + w
        EXPECT_LT(std::abs(omega * omega * (v - 1.0) - 0.4 * v * v * v), 1e-11 * std::abs(v * v * v))
            << omega;
    }
}

TEST(TwoLayers, IsThePlainEquationForEveryFamily) {
    for (const auto family : mixers::all_families()) {
        for (const int n : {1, 2, 3, 5}) {
            Network network = draw_network(family, n, 2, 1, 0.3);
            network.branch = IsotropicBranch{{0.2, 0.05}};
            for (const Complex omega : {Complex(0.9, 0.2), Complex(0.2, 0.2)}) {
                const GreenPoint point = two_layers_green(network, omega);
                EXPECT_TRUE(point.certified) << mixers::name(family) << " n = " << n << omega;
                const Complex expected = tests::DenseDyson(network).green(omega);
                EXPECT_LT(std::abs(point.g - expected), 1e-9 * std::abs(expected))
                    << mixers::name(family) << " n = " << n << omega;
            }
        }
    }
}

TEST(TwoLayers, IsTheGoldenValue) {
    const auto golden = nlohmann::json::parse(std::ifstream(SPECTRA_DATA_DIR "/golden/chain.json"));
    int compared = 0;
    for (const auto& c : golden["cases"]) {
        if (c["depth"] != 2 || c["noise"]["kind"] != "isotropic" || !c["noise"].contains("sigma2")) continue;
        const int n = c["streams"];
        std::vector<Mixer> mixers(2, Mixer(n, n));
        for (std::size_t l = 0; l < 2; ++l)
            for (Eigen::Index i = 0; i < n; ++i)
                for (Eigen::Index j = 0; j < n; ++j)
                    mixers[l](i, j) =
                        c["mixers"][l][static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
        const Network network = make_network(mixers, 1, c["noise"]["sigma2"].get<std::vector<double>>());
        for (std::size_t k = 0; k < c["omega"].size(); k += 3, ++compared) {
            const Complex omega(c["omega"][k][0], c["omega"][k][1]), g(c["g"][k][0], c["g"][k][1]);
            const GreenPoint point = two_layers_green(network, omega);
            EXPECT_TRUE(point.certified) << c["name"] << " " << omega;
            EXPECT_LT(std::abs(point.g - g), 1e-8 * std::abs(g)) << c["name"] << " " << omega;
        }
    }
    EXPECT_GE(compared, 40);
}

TEST(TwoLayers, WithOneLayerWithoutNoise) {
    Network network = draw_network(mixers::Family::gaussian, 3, 2, 1, 0.3);
    for (const auto& sigma2 : {std::vector<double>{0, 0.2}, std::vector<double>{0.2, 0}}) {
        network.branch = IsotropicBranch{sigma2};
        const Complex omega(0.4, 0.2), expected = tests::DenseDyson(network).green(omega);
        EXPECT_LT(std::abs(two_layers_green(network, omega).g - expected), 1e-9 * std::abs(expected));
    }
}

TEST(TwoLayers, GivesTheWholeLaw) {
    for (const auto family : mixers::all_families()) {
        for (const int n : {2, 4}) {
            const Network network = draw_network(family, n, 2, 1, 0.3);
            const Theory law = solve(network, Method::s_transform),
                         chain = solve(network, Method::operator_valued);
            EXPECT_TRUE(law.summary.certified) << mixers::name(family) << n << ": " << law.summary.message;
            EXPECT_LT(std::abs(law.summary.mass - 1), 1e-7) << mixers::name(family);
            EXPECT_LT(agreement(law.law, chain.law).wasserstein1, 1e-6) << mixers::name(family) << n;
        }
    }
}

TEST(TwoLayers, FindsTheBandsOfWeakBranches) {
    // Noise 1e-4 leaves a band round every singular value of A_2 A_1, with gaps of e-folds between.
    const Network network = draw_network(mixers::Family::gaussian, 3, 2, 1, 1e-4);
    const Theory law = solve(network, Method::s_transform), chain = solve(network, Method::operator_valued);
    EXPECT_TRUE(law.summary.certified) << law.summary.message;
    EXPECT_LT(agreement(law.law, chain.law).wasserstein1_log, 1e-6);
}

TEST(TwoLayers, RefusesOtherNetworks) {
    EXPECT_THROW(two_layers_green(make_network(Mixer::Identity(2, 2), 1, 1, 0.1), Complex(1, 1)),
                 std::invalid_argument);
    Network tied = make_network(Mixer::Identity(2, 2), 2, 1, 0.1);
    tied.branch = tied_branch(2, 0.1);
    EXPECT_THROW(two_layers_green(tied, Complex(1, 1)), std::invalid_argument);
    EXPECT_THROW(check(draw_network(mixers::Family::bistochastic, 2, 3, 1, 0.1), Method::s_transform),
                 std::invalid_argument);
}

}  // namespace
}  // namespace spectra::dyson
