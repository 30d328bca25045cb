#include "dyson/law/theory.hpp"
#include "montecarlo/run/simulate.hpp"
#include "spectrum/spectrum.hpp"
#include "support/aligned_networks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

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

// Drawing the rest moves an outlier by its spread.
TEST(AlignedLaw, ListsTheOutliersThatDrawsHave) {
    const std::vector<AlignedCase> cases{
        {.streams = 2, .width = 48, .depth = 4, .rank = 2},
        {.streams = 1, .width = 64, .depth = 4, .rank = 1},
        {.streams = 2, .width = 32, .depth = 3, .rank = 1, .hyper_connection = false}};
    for (const AlignedCase& wanted : cases) {
        const Network network = aligned_network(wanted);
        const dyson::Theory theory = dyson::solve(network, dyson::Method::operator_valued);
        ASSERT_FALSE(theory.outliers.empty());
        montecarlo::Options options;
        options.samples = 200;
        options.keep = montecarlo::Keep::values;
        const montecarlo::Simulation simulation = montecarlo::simulate(network, options);
        const auto size = static_cast<std::ptrdiff_t>(network.size());
        std::size_t rank = 0;  // of an outlier among the values of a draw
        for (const dyson::Outlier& outlier : theory.outliers) {
            if (outlier.values != 1) break;
            double sum = 0, squares = 0;
            for (int k = 0; k < options.samples; ++k) {
                std::vector<double> draw(simulation.log_values.begin() + k * size,
                                         simulation.log_values.begin() + (k + 1) * size);
                std::sort(draw.rbegin(), draw.rend());
                const double s = std::exp(draw[rank]);
                sum += s;
                squares += s * s;
            }
            const double mean = sum / options.samples;
            const double spread = std::sqrt(squares / options.samples - mean * mean);
            EXPECT_NEAR(outlier.position, mean, spread) << "outlier " << rank;
            EXPECT_NEAR(outlier.spread, spread, 0.2 * spread) << "outlier " << rank;
            ++rank;
        }
        EXPECT_GT(rank, 0U);
    }
}

}  // namespace
}  // namespace spectra
