#include "dyson/law/theory.hpp"
#include "montecarlo/run/simulate.hpp"
#include "spectrum/spectrum.hpp"
#include "support/aligned_networks.hpp"

#include <gtest/gtest.h>

namespace spectra {
namespace {

using tests::aligned_network;
using tests::AlignedCase;

TEST(AlignedLaw, AgreesWithDrawingTheRest) {
    const std::vector<AlignedCase> cases{
        {.streams = 2, .width = 32, .depth = 4, .rank = 3},
        {.streams = 1, .width = 48, .depth = 6, .rank = 1, .alignment = 1.0},
        {.streams = 4, .width = 32, .depth = 2, .rank = 4, .derivative = true},
        {.streams = 2, .width = 24, .depth = 3, .rank = 6, .hyper_connection = false},
    };
    for (const AlignedCase& wanted : cases) {
        const Network network = aligned_network(wanted);
        const dyson::Theory theory = dyson::solve(network, dyson::Method::operator_valued);
        montecarlo::Options options;
        options.samples = 200;
        const montecarlo::Simulation simulation = montecarlo::simulate(network, options);
        const double rms = std::sqrt(theory.summary.mean_square_exact);
        const double distance = agreement(theory.law, simulation.law).wasserstein1 / rms;
        EXPECT_TRUE(theory.summary.certified) << theory.summary.message;
        EXPECT_NEAR(theory.summary.mean_square / theory.summary.mean_square_exact, 1, 1e-3);
        EXPECT_LT(distance, 0.005) << "n " << wanted.streams << ", p " << wanted.width << ", L " << wanted.depth;
    }
}

}  // namespace
}  // namespace spectra
