#include "montecarlo/finite_size.hpp"
#include "network/connection.hpp"
#include "support/networks.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

namespace spectra::montecarlo {
namespace {

using mixers::Family;

/// The singular values of a product of M independent square Gaussian matrices (Fuss-Catalan), in closed form:
/// with 0 < φ < π/(M + 1)
///
///     s² = sin^{M+1}((M + 1)φ) / (sin φ sin^M(Mφ)),   dF/d ln s = (2/π) sin((M + 1)φ) sin φ / sin(Mφ),
///
/// and F ~ s^{2/(M+1)} at zero; as equally weighted quantiles.
Spectrum product_law(int matrices) {
    constexpr int points = 100'000, quantiles = 50'000;
    const double m = matrices;
    std::vector<double> place, density, cumulative;
    for (int k = points - 1; k > 0; --k) {
        const double phi = std::numbers::pi / (m + 1) * k / points;
        const double first = std::sin(phi), all = std::sin(m * phi), more = std::sin((m + 1) * phi);
        place.push_back(0.5 * ((m + 1) * std::log(more) - std::log(first) - m * std::log(all)));
        density.push_back(2 / std::numbers::pi * more * first / all);
        cumulative.push_back(cumulative.empty()
                                 ? density[0] * (m + 1) / 2
                                 : cumulative.back() + 0.5 * (density.back() + *(density.end() - 2)) *
                                                           (place.back() - *(place.end() - 2)));
    }
    EXPECT_NEAR(cumulative.back(), 1, 1e-5);
    std::vector<double> values;
    std::size_t at = 1;
    for (int k = 0; k < quantiles; ++k) {
        const double u = (k + 0.5) / quantiles * cumulative.back();
        while (cumulative[at] < u) ++at;
        const double share = (u - cumulative[at - 1]) / (cumulative[at] - cumulative[at - 1]);
        values.push_back(std::lerp(place[at - 1], place[at], share));
    }
    return Spectrum::from_log_values(values);
}

Network product_of_gaussians(int matrices, int size) {
    return tests::make_network(Mixer::Zero(1, 1), matrices, size, 1.0);
}

Options with_samples(int samples, std::uint64_t seed = 1) {
    Options options;
    options.samples = samples;
    options.seed = seed;
    return options;
}

double score(double found, const Expected& expected) {
    return (found - expected.mean) / expected.deviation;
}

TEST(ExpectedDistance, OfAProductOfGaussiansToItsExactLaw) {
    for (const int matrices : {1, 2, 4}) {
        const Spectrum law = product_law(matrices);
        for (const std::uint64_t seed : {1u, 2u, 3u}) {
            const Options options = with_samples(100, seed);
            const Network network = product_of_gaussians(matrices, 32);
            const Agreement found = agreement(law, simulate(network, options).law);
            const auto expected = expected_distance(network, options).value();
            EXPECT_LT(std::abs(score(found.wasserstein1, expected.wasserstein1)), 3) << matrices;
            EXPECT_LT(std::abs(score(found.wasserstein1_log, expected.wasserstein1_log)), 3) << matrices;
            EXPECT_LT(std::abs(score(found.kolmogorov_smirnov, expected.kolmogorov_smirnov)), 3) << matrices;
            // The deviation says something.
            EXPECT_LT(expected.wasserstein1.deviation, 0.6 * expected.wasserstein1.mean);
            EXPECT_LT(expected.wasserstein1_log.deviation, 0.5 * expected.wasserstein1_log.mean);
        }
    }
}

TEST(ExpectedDistance, SeesALawThatIsOffByThreePercent) {
    const Options options = with_samples(200);
    const Network network = product_of_gaussians(1, 32);
    std::vector<double> values = product_law(1).log_values();
    for (double& x : values) x += 0.03;
    const Agreement found = agreement(Spectrum::from_log_values(values), simulate(network, options).law);
    EXPECT_GT(score(found.wasserstein1, expected_distance(network, options)->wasserstein1), 3);
}

/// Where samples are many, noise is nothing and the estimate is β times the distance between two widths.
TEST(ExpectedDistance, IsThatOfTwoWidthsCarriedOn) {
    const Options options = with_samples(3000);
    Network network = tests::draw_network(Family::orthogonal, 2, 2, 10, 0.3);
    const auto expected = expected_distance(network, options).value();
    EXPECT_EQ(expected.widths[0], 5);
    EXPECT_EQ(expected.widths[1], 2);
    EXPECT_EQ(expected.samples[0], 6000);
    EXPECT_EQ(expected.samples[1], 24000);
    network.width = 5;
    const Spectrum half = simulate(network, with_samples(6000, ~1ull)).law;
    network.width = 2;
    const Spectrum quarter = simulate(network, with_samples(24000, ~1ull)).law;
    const Agreement between = agreement(half, quarter);
    const double beta = 0.1 / (1.0 / 2 - 1.0 / 5);
    EXPECT_NEAR(expected.wasserstein1.mean / (beta * between.wasserstein1), 1, 0.02);
    EXPECT_NEAR(expected.kolmogorov_smirnov.mean / (beta * between.kolmogorov_smirnov), 1, 0.05);
}

/// Mixers drawn anew for every sample: noise falls as S^{−½} only, whatever the width, and outweighs the
/// bias, so that the law of very many samples stands for the limit.
TEST(ExpectedDistance, KnowsNoiseThatDoesNotFallWithTheWidth) {
    const Network network = tests::draw_network(Family::gaussian, 2, 1, 16, 0.1);
    Options options = with_samples(3000, 100);
    options.redrawn.emplace();
    options.redrawn->family = Family::gaussian;
    const Spectrum law = simulate(network, options).law;
    options.samples = 20;
    double found = 0, expected = 0;
    for (options.seed = 1; options.seed <= 20; ++options.seed) {
        found += agreement(law, simulate(network, options).law).wasserstein1;
        expected += expected_distance(network, options)->wasserstein1.mean;
    }
    EXPECT_NEAR(expected / found, 1, 0.15);
    options.redrawn.reset();
    EXPECT_LT(expected_distance(network, options)->wasserstein1.mean, 0.2 * expected / 20);
}

TEST(ExpectedDistance, AtomsAreNoDistance) {
    Network network = tests::draw_network(Family::orthogonal, 4, 1, 8, 0.0);
    const auto ways = draw_connections(4, 1, false, 1);
    network.branch = HyperConnectionBranch{{0.3}, ways.pre, ways.post};  // half of all values are 1
    const auto expected = expected_distance(network, with_samples(800)).value();
    // Twice as much where values of the atom that differ by rounding are taken for its width.
    EXPECT_LT(expected.kolmogorov_smirnov.mean, 0.007);
}

TEST(ExpectedDistance, ScalesWithTheNetwork) {
    Network network = tests::draw_network(Family::bistochastic, 2, 2, 8, 0.1);
    const auto plain = expected_distance(network, with_samples(10)).value();
    for (auto& mixer : network.mixers) mixer *= 4;
    for (double& sigma2 : std::get<IsotropicBranch>(network.branch).sigma2) sigma2 *= 16;
    const auto scaled = expected_distance(network, with_samples(10)).value();
    EXPECT_NEAR(scaled.wasserstein1.mean / plain.wasserstein1.mean, 16, 1e-6);
    EXPECT_NEAR(scaled.wasserstein1.deviation / plain.wasserstein1.deviation, 16, 1e-6);
    EXPECT_NEAR(scaled.wasserstein1_log.mean / plain.wasserstein1_log.mean, 1, 1e-6);
    EXPECT_NEAR(scaled.kolmogorov_smirnov.mean / plain.kolmogorov_smirnov.mean, 1, 1e-6);
}

TEST(ExpectedDistance, IsTheSameForAnyNumberOfThreadsAndAnotherForOtherSeeds) {
    const Network network = tests::draw_network(Family::cayley, 2, 2, 8, 0.1);
    Options options = with_samples(10);
    options.threads = 1;
    const auto one = expected_distance(network, options).value();
    options.threads = 2;
    const auto two = expected_distance(network, options).value();
    EXPECT_EQ(one.wasserstein1.mean, two.wasserstein1.mean);
    EXPECT_EQ(one.wasserstein1_log.deviation, two.wasserstein1_log.deviation);
    options.seed = 2;
    EXPECT_NE(one.wasserstein1.mean, expected_distance(network, options)->wasserstein1.mean);
}

TEST(ExpectedDistance, WhereThereIsNone) {
    Network network = tests::draw_network(Family::cayley, 2, 1, 1, 0.1);
    EXPECT_FALSE(expected_distance(network, with_samples(5)));
    network.width = 2;
    EXPECT_TRUE(expected_distance(network, with_samples(1)));
    EXPECT_FALSE(expected_distance(network, with_samples(0)));
    network.width = 8;
    Options options = with_samples(5);
    options.method = Method::quadrature;
    EXPECT_FALSE(expected_distance(network, options));
    options.method = Method::dense;
    const std::atomic<bool> stop = true;
    options.stop = &stop;
    EXPECT_FALSE(expected_distance(network, options));
}

}  // namespace
}  // namespace spectra::montecarlo
