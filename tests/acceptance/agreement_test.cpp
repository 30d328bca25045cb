// Theory against simulation, every mixer family, at N = 400: what the program promises its users.

#include "dyson/law/theory.hpp"
#include "montecarlo/run/simulate.hpp"
#include "support/networks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

namespace spectra {
namespace {

using dyson::Method;
using mixers::Family;

class EveryFamily : public ::testing::TestWithParam<Family> {};

TEST_P(EveryFamily, TheoryAndSimulationAgree) {
    for (const int depth : {1, 2, 10}) {
        const Network network = tests::draw_network(GetParam(), 4, depth, 100, 0.05);
        montecarlo::Options options;
        options.samples = 50;
        const auto simulation = montecarlo::simulate(network, options);
        const auto theory = dyson::solve(network, Method::operator_valued);
        const auto scalar = dyson::solve(network, Method::scalar);
        ASSERT_TRUE(theory.summary.certified) << theory.summary.message;
        ASSERT_TRUE(scalar.summary.certified) << scalar.summary.message;
        const double rms = std::sqrt(theory.summary.mean_square_exact);
        const Agreement exact = agreement(theory.law, simulation.law);
        EXPECT_LE(exact.wasserstein1, 0.003 * rms) << "L = " << depth;
        EXPECT_LE(exact.wasserstein1_log, 0.05) << "L = " << depth;
        const Agreement approximate = agreement(scalar.law, simulation.law);
        const bool orthogonal = GetParam() == Family::identity || GetParam() == Family::orthogonal;
        if (depth == 1 || orthogonal) {
            EXPECT_LE(approximate.wasserstein1, 0.003 * rms) << "L = " << depth;
            EXPECT_LE(approximate.wasserstein1_log, 0.05) << "L = " << depth;
        }
        if (GetParam() == Family::bistochastic && depth == 10) {
            EXPECT_GE(approximate.wasserstein1, 10 * exact.wasserstein1);
            EXPECT_GE(approximate.wasserstein1_log, 10 * exact.wasserstein1_log);
        }
        RecordProperty("w1_over_rms_L" + std::to_string(depth), std::to_string(exact.wasserstein1 / rms));
        std::printf("L = %2d: W1/rms %.5f, W1 in ln s %.5f (%zu of %zu values left out), scalar %.5f, %.5f\n",
                    depth, exact.wasserstein1 / rms, exact.wasserstein1_log, exact.left_out,
                    simulation.law.log_values().size(), approximate.wasserstein1 / rms,
                    approximate.wasserstein1_log);
    }
}

INSTANTIATE_TEST_SUITE_P(Agreement, EveryFamily, ::testing::ValuesIn(mixers::all_families()),
                         [](const auto& parameter) {
                             std::string text(mixers::name(parameter.param));
                             std::replace(text.begin(), text.end(), '-', '_');
                             return text;
                         });

}  // namespace
}  // namespace spectra
