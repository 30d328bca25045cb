// Every branch: the law is certified, meets its exact moments, and agrees with simulation.

#include "dyson/law/theory.hpp"
#include "montecarlo/run/simulate.hpp"
#include "network/connection.hpp"
#include "network/from_json.hpp"
#include "support/networks.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdio>
#include <fstream>

namespace spectra {
namespace {

using dyson::Method;

TEST(Branches, EveryLawIsCertifiedAndAgreesWithSimulation) {
    std::ifstream file(SPECTRA_DATA_DIR "/golden/chain.json");
    auto golden = nlohmann::json::parse(file);
    int laws = 0;
    for (auto& entry : golden["cases"]) {
        const std::string name = entry["name"];
        const int depth = entry["depth"];
        if (name.rfind("isotropic/", 0) == 0 || depth > 2) continue;
        ++laws;
        entry["width"] = 60;
        const Network network = model_from_json(entry, name);
        const auto theory = dyson::solve(network, Method::operator_valued);
        const auto& summary = theory.summary;
        EXPECT_TRUE(summary.certified) << name << ": " << summary.message;
        EXPECT_NEAR(summary.mass, 1, 1e-6) << name;
        EXPECT_NEAR(summary.mean_square / summary.mean_square_exact, 1, 1e-6) << name;
        montecarlo::Options options;
        options.samples = 12;
        const auto simulation = montecarlo::simulate(network, options);
        const double distance = agreement(theory.law, simulation.law).wasserstein1;
        EXPECT_LT(distance, 0.012 * std::sqrt(summary.mean_square_exact)) << name;
        std::printf("%-34s %4d points, W1 %.4f, %.2f s\n", name.c_str(), summary.points, distance,
                    summary.seconds);
    }
    EXPECT_EQ(laws, 18);
}

TEST(Branches, WeightsThatTakeTurnsAgreeWithSimulation) {
    for (const int streams : {2, 3}) {
        for (const bool hyper : {false, true}) {
            Network network = tests::draw_network(mixers::Family::bistochastic, streams, 4, 180 / streams, 0);
            const auto ways = draw_connections(streams, 4, false, 3);
            TiedBranch branch{{0.3, 0.1, 0.15, 0.4}, {}, {}, {0, 1, 0, 1}};
            if (hyper) {
                branch.pre = ways.pre;
                branch.post = ways.post;
            }
            network.branch = branch;
            const auto theory = dyson::solve(network, Method::operator_valued);
            EXPECT_TRUE(theory.summary.certified) << theory.summary.message;
            montecarlo::Options options;
            options.samples = 12;
            const auto simulation = montecarlo::simulate(network, options).law;
            const double unit = std::sqrt(theory.summary.mean_square_exact);
            const double distance = agreement(theory.law, simulation).wasserstein1 / unit;
            EXPECT_LT(distance, 0.012);
            // Neither one X for all layers nor one for each comes near.
            for (const std::vector<int>& sets : {std::vector<int>{0, 0, 0, 0}, {0, 1, 2, 3}}) {
                branch.weights = sets;
                network.branch = branch;
                const auto other = dyson::solve(network, Method::operator_valued);
                EXPECT_GT(agreement(other.law, simulation).wasserstein1 / unit, 2 * distance);
            }
            std::printf("n = %d%s: W1 %.4f of the root mean square\n", streams, hyper ? ", hyper" : "",
                        distance);
        }
    }
}

}  // namespace
}  // namespace spectra
