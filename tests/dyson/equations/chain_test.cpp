#include "dyson/equations/chain.hpp"

#include "dyson/exact/moments.hpp"
#include "dyson/exact/support_bounds.hpp"
#include "dyson/law/theory.hpp"
#include "dyson/solve/tracker.hpp"
#include "mixers/mixer.hpp"
#include "network/model_file.hpp"
#include "support/dense_dyson.hpp"
#include "support/networks.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>

namespace spectra::dyson {
namespace {

using tests::draw_network;

std::complex<double> green_at(const Network& network, std::complex<double> omega) {
    const Green result = green(network, {omega});
    EXPECT_EQ(result.certified[0], 1) << omega;
    return result.g[0];
}

TEST(Chain, ReproducesEveryGoldenValueOfEveryBranch) {
    std::ifstream file(SPECTRA_DATA_DIR "/golden/chain.json");
    const auto golden = nlohmann::json::parse(file);
    testing::TemporaryFolder folder;
    int cases = 0;
    for (const auto& entry : golden["cases"]) {
        const std::string name = entry["name"];
        ++cases;
        const Network network = read_model(folder.write("case.json", entry.dump()));
        std::vector<std::complex<double>> omega;
        for (const auto& w : entry["omega"]) omega.emplace_back(w[0].get<double>(), w[1].get<double>());
        const Green result = green(network, omega);
        for (std::size_t k = 0; k < omega.size(); ++k) {
            const std::complex<double> expected(entry["g"][k][0].get<double>(),
                                                entry["g"][k][1].get<double>());
            EXPECT_EQ(result.certified[k], 1) << name << " at " << omega[k];
            EXPECT_LT(std::abs(result.g[k] - expected), 1e-9 * std::abs(expected))
                << name << " at " << omega[k];
        }
        if (!entry.contains("mean_square_singular_value")) continue;
        const double exact = entry["mean_square_singular_value"];
        EXPECT_NEAR(mean_square(network), exact, 1e-12 * exact) << name;
    }
    EXPECT_EQ(cases, 71);
}

TEST(Chain, EqualsThePlainFixedPointOnTheWholeMatrix) {
    using mixers::Family;
    int seed = 0;
    for (const int n : {1, 2, 3, 4, 5, 8}) {
        for (const int depth : {1, 2, 3, 5}) {
            Network network = draw_network(Family::gaussian, n, depth, 1, 0.4);
            auto& sigma2 = std::get<IsotropicBranch>(network.branch).sigma2;
            for (std::size_t l = 0; l < sigma2.size(); ++l)
                sigma2[l] *= 0.5 + static_cast<double>((seed++) % 3);
            for (const std::complex<double> omega :
                 {std::complex<double>(0.7, 0.5), {1.4, 0.4}, {0.0, 0.6}}) {
                const auto expected = tests::DenseDyson(network).green(omega);
                EXPECT_LT(std::abs(green_at(network, omega) - expected), 1e-11 * std::abs(expected))
                    << "n = " << n << ", L = " << depth << ", omega = " << omega;
            }
        }
    }
}

TEST(Chain, DenseAndMatrixFreeNewtonAgree) {
    for (const auto family : {mixers::Family::bistochastic, mixers::Family::gaussian}) {
        const Network network = draw_network(family, 4, 12, 1, 0.05);
        const SupportBounds support = support_bounds(network);
        Tracker dense(make_chain(network, LinearSolver::dense), support.log_upper, {-4.0});
        Tracker free(make_chain(network, LinearSolver::matrix_free), support.log_upper, {-4.0});
        for (const double log_s : {0.0, -0.5, -2.0, -5.0}) {
            const Solution a = dense.solve(log_s, 0), b = free.solve(log_s, 0);
            ASSERT_TRUE(a.ok() && b.ok()) << log_s;
            ASSERT_EQ(a.state, b.state);
            EXPECT_LT((a.m - b.m).cwiseQuotient(a.m).cwiseAbs().maxCoeff(), 1e-8) << log_s;
        }
    }
}

TEST(Chain, OrthogonalMixersGiveTheLawOfTheIdentity) {
    for (const int depth : {1, 3, 10}) {
        const Network identity = draw_network(mixers::Family::identity, 4, depth, 1, 0.3);
        const Network orthogonal = draw_network(mixers::Family::orthogonal, 4, depth, 1, 0.3);
        for (const std::complex<double> omega : {std::complex<double>(0.9, 0.01), {1.1, 0.2}, {0.5, 0.05}}) {
            const auto expected = green_at(identity, omega);
            EXPECT_LT(std::abs(green_at(orthogonal, omega) - expected), 1e-11 * std::abs(expected));
        }
    }
}

TEST(Chain, TheGreensFunctionIsTheSameFromEitherEnd) {
    const Network network = draw_network(mixers::Family::bistochastic, 4, 6, 1, 0.2);
    Tracker tracker(make_chain(network), support_bounds(network).log_upper, {-4.0});
    for (const double log_s : {0.1, -0.3, -1.0, -3.0}) {
        const Solution s = tracker.solve(log_s, 0.05);
        ASSERT_TRUE(s.ok());
        EXPECT_LT(std::abs(s.m(0) - s.m(s.m.size() - 1)), 1e-10 * std::abs(s.m(0)));
    }
}

TEST(Chain, IsSymmetricUnderReflectionOfOmega) {
    const Network network = draw_network(mixers::Family::gaussian, 3, 2, 1, 0.2);
    const auto g = green_at(network, {0.6, 0.1});
    EXPECT_LT(std::abs(green_at(network, {-0.6, 0.1}) + std::conj(g)), 1e-12);
}

TEST(Chain, NoiselessLayersWithSingularMixersAreOrdinary) {
    Network network = draw_network(mixers::Family::grassmann, 4, 3, 1, 0.3);
    std::get<IsotropicBranch>(network.branch).sigma2[1] = 0;
    for (const std::complex<double> omega : {std::complex<double>(0.4, 0.3), {1.0, 0.5}}) {
        const auto expected = tests::DenseDyson(network).green(omega);
        EXPECT_LT(std::abs(green_at(network, omega) - expected), 1e-11 * std::abs(expected));
    }
}

TEST(Chain, StartsOnTheImaginaryAxisAtAnyBand) {
    for (const int depth : {10, 30, 100}) {
        const Network network = draw_network(mixers::Family::bistochastic, 4, depth, 1, 0.05);
        const auto equation = make_chain(network);
        for (const double seed : support_bounds(network).log_seeds) {
            const Solution s = newton(*equation, {seed, {0.0, 1.0}}, equation->start(seed), 40);
            EXPECT_TRUE(s.ok()) << "L = " << depth << ", ln s = " << seed;
            EXPECT_LE(s.steps, 25) << "L = " << depth << ", ln s = " << seed;
            EXPECT_LT(s.m.real().cwiseAbs().maxCoeff(), 1e-12 * s.m.cwiseAbs().maxCoeff());
        }
    }
}

TEST(Chain, SolvesAThousandLayers) {
    const Network network = draw_network(mixers::Family::orthogonal, 2, 1000, 1, 0.05);
    const Green deep = green(network, {{1.0, 0.01}});
    ASSERT_EQ(deep.certified[0], 1);
    // L → ∞ at c = Lσ²: G = (zG − 1) e^{c(1 − 2zG)}, up to terms of order 1/L.
    const std::complex<double> z = std::complex<double>(1.0, 0.01) * std::complex<double>(1.0, 0.01);
    const std::complex<double> big_g = deep.g[0] / std::complex<double>(1.0, 0.01);
    EXPECT_LT(std::abs(big_g - (z * big_g - 1.0) * std::exp(0.05 * (1.0 - 2.0 * z * big_g))),
              1e-3 * std::abs(big_g));
}

}  // namespace
}  // namespace spectra::dyson
