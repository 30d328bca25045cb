// Deep contracting stacks: every percentile of ln s, down to the smallest value, by theory and by simulation.

#include "dyson/law/theory.hpp"
#include "montecarlo/run/simulate.hpp"
#include "support/networks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <vector>

namespace spectra {
namespace {

using dyson::Method;

constexpr int width = 25, samples = 60, batches = 6, percentiles = 100;  // N = 100: one level a percentile

/// ln s at u = ½ %, 1½ %, …, 99½ %.
std::vector<double> quantiles(const Spectrum& law) {
    std::vector<double> out;
    for (int k = 0; k < percentiles; ++k) out.push_back(law.log_quantile((k + 0.5) / percentiles));
    return out;
}

montecarlo::Simulation simulate(Network network, int at_width, int count, std::uint64_t seed) {
    network.width = at_width;
    montecarlo::Options options;
    options.samples = count;
    options.seed = seed;
    return montecarlo::simulate(network, options);
}

/// Of the mean, from the quantiles of batches of samples.
std::vector<double> sampling_error(const montecarlo::Simulation& simulation) {
    std::vector<double> sum(percentiles), squares(percentiles);
    const auto size = static_cast<std::ptrdiff_t>(simulation.log_values.size()) / batches;
    for (auto from = simulation.log_values.begin(); from != simulation.log_values.end(); from += size) {
        const auto part = quantiles(Spectrum::from_log_values({from, from + size}));
        for (std::size_t k = 0; k < percentiles; ++k) {
            sum[k] += part[k];
            squares[k] += part[k] * part[k];
        }
    }
    std::vector<double> out;
    for (std::size_t k = 0; k < percentiles; ++k)
        out.push_back(
            std::sqrt(std::max(0.0, squares[k] - sum[k] * sum[k] / batches) / (batches * (batches - 1))));
    return out;
}

/// The error of a simulation's quantiles, from simulations alone: over samples; by the width, from half the
/// width (bias c/p; the largest of three neighbours, as it passes through zero); and a quarter of the
/// distance to the nearer level, below which a finite matrix's law is its own.
std::vector<double> stated_error(const montecarlo::Simulation& simulation,
                                 const montecarlo::Simulation& half) {
    const auto sampling = sampling_error(simulation);
    const auto here = quantiles(simulation.law), there = quantiles(half.law);
    const double carried = (1.0 / simulation.width) / (1.0 / half.width - 1.0 / simulation.width);
    std::vector<double> out;
    for (std::size_t k = 0; k < percentiles; ++k) {
        double bias = 0, spacing = std::numeric_limits<double>::infinity();
        for (std::size_t j = k > 0 ? k - 1 : 0; j <= std::min<std::size_t>(k + 1, percentiles - 1); ++j) {
            bias = std::max(bias, carried * std::abs(there[j] - here[j]));
            if (j != k) spacing = std::min(spacing, std::abs(here[j] - here[k]));
        }
        // Across a gap the two widths may have their levels on different sides.
        out.push_back(std::hypot(sampling[k], std::min(bias, spacing), spacing / 4));
    }
    return out;
}

struct Worst {
    double ratio = 0;  ///< to the stated error
    int beyond = 0;    ///< percentiles more than two stated errors off
};

Worst compare(const Spectrum& law, const Spectrum& simulated, const std::vector<double>& error) {
    const auto theory = quantiles(law), found = quantiles(simulated);
    Worst out;
    for (std::size_t k = 0; k < percentiles; ++k) {
        const double ratio = std::abs(theory[k] - found[k]) / error[k];
        out.ratio = std::max(out.ratio, ratio);
        out.beyond += ratio > 2;
    }
    return out;
}

Network bistochastic(int depth, double noise) {
    return tests::draw_network(mixers::Family::bistochastic, 4, depth, width, noise);
}

TEST(Quantiles, DeepBistochasticStacksAgreeDownToTheSmallestValue) {
    for (const int depth : {10, 30, 100}) {
        const Network network = bistochastic(depth, 0.05);
        const auto theory = dyson::solve(network, Method::operator_valued);
        ASSERT_TRUE(theory.summary.certified) << theory.summary.message;
        const auto simulation = simulate(network, width, samples, 1);
        ASSERT_TRUE(std::isinf(simulation.law.log_floor()));
        const auto error = stated_error(simulation, simulate(network, width / 2, 2 * samples, 2));
        const Worst own = compare(theory.law, simulation.law, error);
        EXPECT_EQ(own.beyond, 0) << "L = " << depth << ", largest " << own.ratio << " stated errors";

        // The lowest of all S·N values: as many are expected below it as an exponential variable is large.
        const double lowest = simulation.law.log_values().front();
        const double below = theory.law.cdf(lowest) * samples * network.size();
        EXPECT_GT(below, 1e-3) << "L = " << depth;
        EXPECT_LT(below, 10) << "L = " << depth;

        const auto scalar = dyson::solve(network, Method::scalar);
        const Worst wrong = compare(scalar.law, simulation.law, error);
        EXPECT_GT(wrong.beyond, percentiles / 2) << "L = " << depth;
        std::printf(
            "bistochastic L = %d: ln s from %.1f; largest difference %.2f stated errors (scalar: %.0f, %d of "
            "%d "
            "percentiles beyond two); %.2f values expected below the smallest\n",
            depth, lowest, own.ratio, wrong.ratio, wrong.beyond, percentiles, below);
    }
}

TEST(Quantiles, FivePercentOfNoiseShow) {
    const Network network = bistochastic(10, 0.05);
    const auto simulation = simulate(network, width, samples, 1);
    const auto error = stated_error(simulation, simulate(network, width / 2, 2 * samples, 2));
    const auto other = dyson::solve(bistochastic(10, 0.0525), Method::operator_valued);
    EXPECT_GT(compare(other.law, simulation.law, error).beyond, 0);
}

}  // namespace
}  // namespace spectra
