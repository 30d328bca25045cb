#include "montecarlo/sample/quadrature.hpp"

#include "linalg/singular_values.hpp"
#include "montecarlo/sample/sampler.hpp"
#include "support/branches.hpp"
#include "support/networks.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace {

using namespace spectra;
using namespace spectra::tests;
using montecarlo::Quadrature;
using montecarlo::QuadratureOptions;
using montecarlo::Sampler;
using montecarlo::scaled_layers;

Quadrature quadrature(const Network& network, const QuadratureOptions& options) {
    const auto layers = scaled_layers(network);
    return montecarlo::quadrature([&](std::uint32_t) { return layers; }, network.streams, network.width,
                                  options);
}

/// The same samples by LAPACK.
Spectrum dense(const Network& network, int samples, std::uint64_t seed) {
    const auto size = static_cast<std::size_t>(network.size());
    Sampler sampler(network.streams, network.width);
    linalg::SingularValues singular_values(network.size());
    std::vector<double> values;
    std::vector<double> own(size);
    for (int s = 0; s < samples; ++s) {
        sampler.draw(scaled_layers(network), seed, static_cast<std::uint32_t>(s));
        EXPECT_TRUE(singular_values.compute(sampler.matrix(), sampler.exponent(), own));
        values.insert(values.end(), own.begin(), own.end());
    }
    return Spectrum::from_log_values(values);
}

TEST(Quadrature, IsNearTheDenseLawAtFiveHundred) {
    for (const auto family : {mixers::Family::cayley, mixers::Family::bistochastic}) {
        const auto network = draw_network(family, 4, 2, 128, 0.2);
        QuadratureOptions options;
        options.probes = 40;
        options.steps = 60;
        const auto found = quadrature(network, options);
        const auto exact = dense(network, 1, options.seed);
        const auto distance = agreement(found.law, exact);
        EXPECT_LT(distance.wasserstein1, 0.005);
        EXPECT_LT(distance.wasserstein1_log, 0.02);
        EXPECT_LT(distance.kolmogorov_smirnov, 0.02);

        const auto metrics = exact.metrics();
        EXPECT_NEAR(found.metrics.mean_square, metrics.mean_square, 4 * found.error.mean_square);
        EXPECT_NEAR(found.metrics.window, metrics.window, 4 * found.error.window + 2.0 / 512);
        EXPECT_NEAR(found.metrics.collapsed, metrics.collapsed, 4 * found.error.collapsed + 2.0 / 512);
        EXPECT_NEAR(found.metrics.effective_rank, metrics.effective_rank,
                    4 * found.error.effective_rank + 1e-3);
        EXPECT_NEAR(found.metrics.largest, metrics.largest, 1e-6 * metrics.largest);
        EXPECT_LE(found.error.largest, 1e-6 * metrics.largest);
        // Its values say the same as its metrics.
        EXPECT_NEAR(found.law.metrics().mean_square, found.metrics.mean_square, 2e-3);
        EXPECT_NEAR(found.law.metrics().window, found.metrics.window, 2e-3);
    }
}

TEST(Quadrature, KnowsWhereItKnowsOnlyTheMass) {
    // Ten bistochastic layers: three values in four are far below the largest, spread over many orders.
    const auto network = draw_network(mixers::Family::bistochastic, 4, 10, 50, 0.05);
    QuadratureOptions options;
    options.probes = 20;
    options.steps = 40;
    const auto found = quadrature(network, options);
    const auto exact = dense(network, 1, options.seed);
    EXPECT_GT(found.law.log_floor(), std::log(1e-5 * found.metrics.largest));
    EXPECT_GT(exact.cdf(found.law.log_floor()), 0.5);
    const auto distance = agreement(found.law, exact);
    EXPECT_LT(distance.wasserstein1, 0.01);
    EXPECT_LT(distance.wasserstein1_log, 0.05);
    EXPECT_NEAR(found.metrics.collapsed, exact.metrics().collapsed, 4 * found.error.collapsed);
    // Gauss quadrature of ln s is an upper bound, and says so.
    EXPECT_GT(found.metrics.log_mean, exact.metrics().log_mean);
    EXPECT_TRUE(std::isnan(found.error.log_mean));
}

TEST(Quadrature, MixersAloneAreSeenWithoutNoise) {
    // J = (A ⊗ I): the streams of a probe are orthogonal, so each singular value of A has its share exactly.
    const auto network = draw_network(mixers::Family::gaussian, 3, 2, 10, 0);
    QuadratureOptions options;
    options.probes = 3;
    const auto found = quadrature(network, options);
    const auto exact = dense(network, 1, options.seed);
    EXPECT_LT(agreement(found.law, exact).wasserstein1, 1e-13);
    EXPECT_NEAR(found.metrics.log_mean, exact.metrics().log_mean, 1e-12);
    EXPECT_LT(found.error.mean_square, 1e-14);
    EXPECT_LT(found.error.effective_rank, 1e-14);
}

TEST(Quadrature, IsExactWhereTheStepsReachTheEnd) {
    for (const int size : {1, 2, 9}) {
        const auto network = make_network(Mixer::Constant(1, 1, 0.7), 3, size, 0.4);
        QuadratureOptions options;
        options.samples = 2;
        options.probes = 2;
        const auto found = quadrature(network, options);
        const auto exact = dense(network, 2, options.seed).metrics();
        EXPECT_EQ(found.log_values.size(), static_cast<std::size_t>(2 * size));
        EXPECT_NEAR(found.metrics.smallest, exact.smallest, 1e-13);
        EXPECT_NEAR(found.metrics.largest, exact.largest, 1e-13);
        if (size > 1) continue;
        EXPECT_NEAR(found.metrics.mean_square, exact.mean_square, 1e-14);
        EXPECT_NEAR(found.metrics.log_mean, exact.log_mean, 1e-14);
    }
}

TEST(Quadrature, SeesAtomsWhereTheyAre) {
    // One hyper-connection leaves (n − 2)/n of the singular values at 1; no noise leaves n places.
    auto network = draw_network(mixers::Family::orthogonal, 5, 1, 60, 0);
    network.branch = hyper_connection(5, 1, 0.3);
    QuadratureOptions options;
    options.probes = 20;
    auto found = quadrature(network, options);
    const auto exact = dense(network, 1, options.seed);
    // The atom is not alone: other singular values lie around it. A smooth law would have 0.1 there.
    const auto at_one = [](const Spectrum& law) { return law.cdf(2e-3) - law.cdf(-2e-3, true); };
    EXPECT_GT(at_one(exact), 0.6);
    EXPECT_NEAR(at_one(found.law), at_one(exact), 0.06);
    EXPECT_LT(agreement(found.law, exact).wasserstein1, 0.01);

    network = make_network(Mixer::Identity(2, 2) * 0.5, 3, 20, 0);
    found = quadrature(network, options);
    EXPECT_NEAR(found.metrics.mean_square, std::pow(0.125, 2), 1e-15);
    EXPECT_NEAR(found.law.log_values().front(), std::log(0.125), 1e-14);
    EXPECT_NEAR(found.law.log_values().back(), std::log(0.125), 1e-14);
    EXPECT_NEAR(found.error.mean_square, 0, 1e-15);
}

TEST(Quadrature, NeitherMemoryNorThreadsChangeABit) {
    auto network = draw_network(mixers::Family::gaussian, 2, 2, 70, 0);
    for (const auto& [name, branch] :
         {std::pair<std::string, Branch>{"isotropic", IsotropicBranch{{0.3, 0.2}}},
          {"hyper-connection", hyper_connection(2, 2, 0.3)}}) {
        network.branch = branch;
        QuadratureOptions options;
        options.samples = 2;
        options.probes = 3;
        options.steps = 5;
        const auto first = quadrature(network, options);
        options.memory = 0;
        options.threads = 2;
        const auto second = quadrature(network, options);
        EXPECT_EQ(first.log_values, second.log_values) << name;
        EXPECT_EQ(first.law.log_floor(), second.law.log_floor()) << name;
        EXPECT_EQ(first.metrics.mean_square, second.metrics.mean_square) << name;
        EXPECT_EQ(first.error.effective_rank, second.error.effective_rank) << name;
    }
}

TEST(Quadrature, ErrorBarsHoldWhatTheySay) {
    // E s² is known exactly; 200 seeds of 2 samples and 4 probes. With six degrees of freedom or so, two
    // error bars hold it in nine of ten, and the pulls have a spread a little above one.
    const auto network = draw_network(mixers::Family::bistochastic, 3, 2, 20, 0.5);
    const double exact = exact_mean_square(network);
    QuadratureOptions options;
    options.samples = 2;
    options.probes = 4;
    options.steps = 1;
    int held = 0;
    double pulls = 0;
    const int runs = 200;
    for (int run = 0; run < runs; ++run) {
        options.seed = static_cast<std::uint64_t>(run) + 1;
        const auto found = quadrature(network, options);
        const double pull = (found.metrics.mean_square - exact) / found.error.mean_square;
        held += std::abs(pull) <= 2 ? 1 : 0;
        pulls += pull * pull;
    }
    EXPECT_GE(held, 0.84 * runs);
    EXPECT_LE(held, 0.985 * runs);
    EXPECT_GT(pulls / runs, 0.6);
    EXPECT_LT(pulls / runs, 2.2);
}

TEST(Quadrature, StandardErrorsAreThoseOfTheAnalysisOfVariance) {
    using montecarlo::standard_error;
    EXPECT_EQ(standard_error({{3.0}}), 0);
    // Within only: variance 2 of two values.
    EXPECT_NEAR(standard_error({{1, 3}}), 1, 1e-15);
    // Between only.
    EXPECT_NEAR(standard_error({{1}, {3}}), 1, 1e-15);
    // All within: between is below it, and four values of variance 2 count.
    EXPECT_NEAR(standard_error({{1, 3}, {1, 3}}), std::sqrt(2.0 / 4), 1e-15);
    // All between: two samples count, not four values.
    EXPECT_NEAR(standard_error({{1, 1}, {3, 3}}), 1, 1e-15);
    EXPECT_TRUE(std::isnan(standard_error({{1, -std::numeric_limits<double>::infinity()}})));
}

TEST(Quadrature, DeepNetworksStayInRange) {
    const auto network = make_network(1e-3 * Mixer::Identity(2, 2), 400, 10, 1e-8);
    QuadratureOptions options;
    options.samples = 2;
    const auto found = quadrature(network, options);
    const auto exact = dense(network, 2, options.seed);
    EXPECT_NEAR(found.law.log_quantile(0.5), exact.log_quantile(0.5), 0.5);
    EXPECT_NEAR(found.law.log_values().back(), exact.log_values().back(), 1e-9);
    EXPECT_TRUE(std::isfinite(found.metrics.log_mean));
}

TEST(Quadrature, RefusesWhatItCannotDo) {
    const auto network = make_network(Mixer::Identity(2, 2), 1, 3, 0.1);
    QuadratureOptions options;
    options.probes = 0;
    EXPECT_THROW(quadrature(network, options), std::invalid_argument);
    options.probes = 1;
    options.samples = -1;
    EXPECT_THROW(quadrature(network, options), std::invalid_argument);
    options.samples = 0;
    EXPECT_TRUE(quadrature(network, options).law.empty());
}

}  // namespace
