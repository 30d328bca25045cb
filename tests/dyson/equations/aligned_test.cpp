#include "dyson/equations/aligned.hpp"

#include "support/aligned_networks.hpp"
#include "base/text.hpp"
#include "dyson/equations/chain.hpp"
#include "dyson/exact/moments.hpp"
#include "dyson/law/theory.hpp"
#include "network/from_json.hpp"


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
