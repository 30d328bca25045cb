// Every branch: the law is certified, meets its exact moments, and agrees with simulation.

#include "dyson/theory.hpp"
#include "montecarlo/simulate.hpp"
#include "network/model_file.hpp"

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

}  // namespace
}  // namespace spectra
