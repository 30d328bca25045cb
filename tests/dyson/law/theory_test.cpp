#include "dyson/law/theory.hpp"

#include "dyson/equations/chain.hpp"
#include "dyson/exact/moments.hpp"
#include "dyson/exact/support_bounds.hpp"
#include "dyson/law/bands.hpp"
#include "dyson/law/potential.hpp"
#include "dyson/solve/tracker.hpp"
#include "support/networks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace spectra::dyson {
namespace {

using tests::draw_network;
using tests::make_network;

TEST(Theory, PureNoiseIsTheQuarterCircle) {
    const double sigma = 0.5;
    const Theory theory =
        solve(make_network(Mixer::Zero(3, 3), 1, 1, sigma * sigma), Method::operator_valued);
    ASSERT_TRUE(theory.summary.certified) << theory.summary.message;
    for (std::size_t k = 0; k < theory.curve.size(); ++k) {
        const double s = std::exp(theory.curve.log_s[k]);
        const double exact = std::sqrt(4 * sigma * sigma - s * s) / (std::numbers::pi * sigma * sigma);
        EXPECT_NEAR(theory.curve.density_log[k] / s, exact, 1e-9 * (1 + exact)) << s;
    }
    EXPECT_NEAR(theory.law.density().support.back().log_upper, std::log(2 * sigma), 1e-9);
}

TEST(Theory, ProductsOfNoiseAreFussCatalan) {
    // L square Gaussian factors: E s^{2k} = binomial((L+1)k, k)/(Lk + 1); ρ(ln s) ~ s^{2/(L+1)}.
    for (const int depth : {2, 3, 6, 10}) {
        const Theory theory = solve(make_network(Mixer::Zero(1, 1), depth, 1, 1.0), Method::operator_valued);
        ASSERT_TRUE(theory.summary.certified) << theory.summary.message;
        for (const int k : {1, 2, 3}) {
            const double top = (depth + 1.0) * k;
            const double exact =
                std::exp(std::lgamma(top + 1) - std::lgamma(k + 1.0) - std::lgamma(top - k + 1)) /
                (depth * k + 1.0);
            const double moment = theory.law.expectation([k](double x) { return std::exp(2 * k * x); });
            EXPECT_NEAR(moment / exact, 1, 1e-9) << "L = " << depth << ", k = " << k;
        }
        EXPECT_NEAR(theory.law.density().tail_exponent, 2.0 / (depth + 1), 1e-4);
        const double edge = std::sqrt(std::pow(depth + 1.0, depth + 1.0) / std::pow(depth, depth));
        EXPECT_NEAR(theory.law.metrics().largest, edge, 1e-8 * edge);
    }
}

/// With s² = sin^{L+1}((L+1)φ)/(sin φ sin^L Lφ), 0 < φ < π/(L+1), the density of s² is
/// sin²φ sin^{L−1}(Lφ)/(π sin^L((L+1)φ)) (Forrester and Liu 2014): at every scale, to 1e-9 of itself.
TEST(Theory, ProductsOfNoiseHaveTheFussCatalanDensityAtEveryScale) {
    for (const int streams : {1, 3}) {
        for (int depth = 1; depth <= 10; ++depth) {
            const Network network = make_network(Mixer::Zero(streams, streams), depth, 1, 1.0);
            Tracker tracker(make_chain(network), support_bounds(network).log_upper, {});
            const double l = depth, end = std::numbers::pi / (l + 1);
            for (const double distance : {1e-14, 1e-9, 1e-5, 1e-3, 0.03, 0.2, 0.5, 0.8, 0.97}) {
                // From the far end, where s → 0: (l+1)φ = π − (l+1)·rest.
                const double rest = end * distance, phi = end - rest;
                const double small = std::sin((l + 1) * rest);
                const double log_x =
                    (l + 1) * std::log(small) - std::log(std::sin(phi)) - l * std::log(std::sin(l * phi));
                const double log_density = 2 * std::log(std::sin(phi)) +
                                           (l - 1) * std::log(std::sin(l * phi)) -
                                           std::log(std::numbers::pi) - l * std::log(small);
                const Solution solution = tracker.solve(log_x / 2, 0);
                ASSERT_EQ(solution.state, State::certified) << "L = " << depth << ", ln s = " << log_x / 2;
                const double exact = 2 * std::exp(log_x + log_density);
                EXPECT_NEAR(density_log(tracker.equation(), solution) / exact, 1, 1e-9)
                    << "n = " << streams << ", L = " << depth << ", ln s = " << log_x / 2;
            }
        }
    }
}

TEST(Theory, SixtyFourStreamsOfOrthogonalMixersAreOneOfTheIdentity) {
    const Network many = draw_network(mixers::Family::orthogonal, 64, 3, 1, 0.3);
    const Network one = draw_network(mixers::Family::identity, 1, 3, 1, 0.3);
    const std::vector<std::complex<double>> omega{{0.6, 0.3}, {1.0, 0.05}, {1.3, 0.2}};
    const Green a = green(many, omega), b = green(one, omega);
    for (std::size_t k = 0; k < omega.size(); ++k) {
        EXPECT_TRUE(a.certified[k]);
        EXPECT_LT(std::abs(a.g[k] - b.g[k]), 1e-10 * std::abs(b.g[k])) << omega[k];
    }
}

/// Mass, mean square and the mean of ln s against their exact values, every family and depth.
class EveryFamily : public ::testing::TestWithParam<mixers::Family> {};

TEST_P(EveryFamily, ObeysTheSumRules) {
    for (const Method method : {Method::operator_valued, Method::scalar}) {
        for (const int depth : {1, 2, 10}) {
            const Network network = draw_network(GetParam(), 4, depth, 1, 0.05);
            const Theory theory = solve(network, method);
            const Summary& summary = theory.summary;
            EXPECT_TRUE(summary.certified) << name(method) << " L = " << depth << ": " << summary.message;
            EXPECT_EQ(summary.uncertified, 0);
            EXPECT_GE(summary.points, 400);
            EXPECT_NEAR(summary.mass, 1, 1e-7);
            EXPECT_NEAR(summary.mean_square / summary.mean_square_exact, 1, 1e-9);
            EXPECT_NEAR(summary.log_mean, summary.log_mean_exact.value(), 1e-5);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Theory, EveryFamily, ::testing::ValuesIn(mixers::all_families()),
                         [](const auto& parameter) {
                             std::string text(mixers::name(parameter.param));
                             std::replace(text.begin(), text.end(), '-', '_');
                             return text;
                         });

TEST(Theory, TheDensityAgreesWithTheVerticalLineIntegral) {
    // F(s) = (2/π) ∫ Re g(s + it) dt never touches the real axis' density.
    for (const auto family : {mixers::Family::bistochastic, mixers::Family::cayley_hybrid}) {
        const Network network = draw_network(family, 4, 2, 1, 0.05);
        const Theory theory = solve(network, Method::operator_valued);
        Tracker tracker(make_chain(network), support_bounds(network).log_upper, {-4.0});
        for (const double log_s : {-3.0, -1.5, -0.7, -0.3, 0.05})
            EXPECT_NEAR(theory.law.cdf(log_s), tracker.cumulative(log_s), 1e-5) << log_s;
    }
}

TEST(Theory, GapsCarryMultiplesOfOneStream) {
    const Network network = draw_network(mixers::Family::bistochastic, 4, 2, 1, 1e-4);
    const Theory theory = solve(network, Method::operator_valued);
    const auto& support = theory.law.density().support;
    ASSERT_GT(support.size(), 1u);
    for (std::size_t b = 0; b + 1 < support.size(); ++b) {
        const double mass = 4 * theory.law.cdf((support[b].log_upper + support[b + 1].log_lower) / 2);
        EXPECT_NEAR(mass, std::round(mass), 1e-6);
    }
}

TEST(Theory, TinyNoiseLeavesNarrowBandsAndMissesNone) {
    const Network network = draw_network(mixers::Family::gaussian, 5, 3, 1, 1e-6);
    const Theory theory = solve(network, Method::operator_valued);
    EXPECT_TRUE(theory.summary.certified) << theory.summary.message;
    EXPECT_EQ(theory.law.density().support.size(), 5u);
}

TEST(Theory, WithoutNoiseTheLawIsAtoms) {
    const Network network = draw_network(mixers::Family::bistochastic, 4, 3, 1, 0);
    const Theory theory = solve(network, Method::operator_valued);
    EXPECT_TRUE(theory.summary.certified) << theory.summary.message;
    ASSERT_EQ(theory.law.density().atoms.size(), 4u);
    EXPECT_NEAR(theory.law.metrics().largest, 1, 1e-12);
    const Theory identity =
        solve(draw_network(mixers::Family::identity, 4, 3, 1, 0), Method::operator_valued);
    ASSERT_EQ(identity.law.density().atoms.size(), 1u);
    EXPECT_DOUBLE_EQ(identity.law.density().atoms[0].mass, 1);
}

TEST(Theory, ANoiselessSingularLayerLeavesAnAtomAtZero) {
    Network network = draw_network(mixers::Family::grassmann, 4, 3, 1, 0.3);
    std::get<IsotropicBranch>(network.branch).sigma2[1] = 0;
    const Theory theory = solve(network, Method::operator_valued);
    EXPECT_TRUE(theory.summary.certified) << theory.summary.message;
    ASSERT_EQ(theory.law.density().atoms.size(), 1u);
    EXPECT_NEAR(theory.law.density().atoms[0].mass, 0.5, 1e-12);
    EXPECT_NEAR(theory.summary.mass, 1, 1e-7);
}

TEST(Theory, ASmoothedCurveIsTheGreensFunctionAtThatHeight) {
    const Network network = draw_network(mixers::Family::bistochastic, 4, 3, 1, 0.05);
    Options options;
    options.eta = 0.05;
    options.grid = Grid{0.1, 2, 20, false};
    const Theory theory = solve(network, Method::operator_valued, options);
    ASSERT_TRUE(theory.summary.certified) << theory.summary.message;
    ASSERT_EQ(theory.curve.size(), 20u);
    for (std::size_t k = 0; k < theory.curve.size(); ++k) {
        const double s = std::exp(theory.curve.log_s[k]);
        const Green exact = green(network, {{s, 0.05}});
        EXPECT_LT(std::abs(theory.curve.g[k] - exact.g[0]), 1e-9 * std::abs(exact.g[0]));
        EXPECT_NEAR(theory.curve.density_log[k], -2 / std::numbers::pi * s * exact.g[0].imag(), 1e-9);
    }
    EXPECT_NEAR(theory.summary.mean_square / theory.summary.mean_square_exact, 1, 1e-9);
}

TEST(Theory, AUsersGridIsCertifiedInsideAndOutsideTheSupport) {
    const Network network = draw_network(mixers::Family::cayley_hybrid, 4, 2, 1, 0.02);
    Options options;
    options.grid = Grid{0, 2, 41, false};
    const Theory theory = solve(network, Method::operator_valued, options);
    EXPECT_EQ(theory.summary.uncertified, 0) << theory.summary.message;
    EXPECT_EQ(theory.curve.size(), 41u);
    EXPECT_EQ(theory.curve.density_log.back(), 0);
    for (std::size_t k = 1; k < theory.curve.size(); ++k)
        EXPECT_NEAR(theory.curve.density_log[k], theory.law.density_log(theory.curve.log_s[k]), 2e-2);
}

TEST(Theory, DoesNotDependOnTheNumberOfThreads) {
    const Network network = draw_network(mixers::Family::bistochastic, 4, 5, 1, 0.05);
    Options options;
    options.threads = 1;
    const Theory one = solve(network, Method::operator_valued, options);
    for (const int threads : {2, 3, 4}) {
        options.threads = threads;
        const Theory many = solve(network, Method::operator_valued, options);
        EXPECT_EQ(one.curve.log_s, many.curve.log_s);
        EXPECT_EQ(one.curve.density_log, many.curve.density_log);
        EXPECT_EQ(one.summary.newton_steps, many.summary.newton_steps);
    }
}

/// The bound by norms lies hundreds of e-folds above these laws: far() is below the range of double there.
TEST(Theory, EntersDeepNetworksBelowTheirNormBound) {
    const Mixer mixer{{0.5, 1.5}, {-0.2, 0.1}};
    const Network network = make_network(mixer, 1000, 1, 5e-5);
    const double mean = log_mean(network).value();
    ASSERT_GT(support_bounds(network).log_upper, mean + 400);
    const Theory scalar = solve(network, Method::scalar);
    EXPECT_TRUE(scalar.summary.certified) << scalar.summary.message;
    EXPECT_NEAR(scalar.summary.log_mean, mean, 1e-6 * std::abs(mean));
    // The chain, above the law and in the upper one of two bands.
    const Network drawn = draw_network(mixers::Family::gaussian, 2, 1000, 1, 0.05);
    const SupportBounds range = support_bounds(drawn);
    ASSERT_GT(range.log_upper, range.log_far + 400);
    const auto below = mass_below(drawn, {range.log_far + 1, range.log_seeds.front()});
    EXPECT_TRUE(below[0].certified);
    EXPECT_NEAR(below[0].mass, 1, 1e-6);
    EXPECT_TRUE(below[1].certified);
    EXPECT_GT(below[1].mass, 0.5);
    EXPECT_LT(below[1].mass, 0.6);
}

TEST(Theory, AZeroLayerCollapsesEverything) {
    Network network = draw_network(mixers::Family::identity, 2, 2, 1, 0.1);
    network.mixers[0].setZero();
    std::get<IsotropicBranch>(network.branch).sigma2[0] = 0;
    const Theory theory = solve(network, Method::operator_valued);
    ASSERT_EQ(theory.law.density().atoms.size(), 1u);
    EXPECT_EQ(theory.law.metrics().collapsed, 1);
    EXPECT_LT(std::abs(green(network, {{1.0, 0.5}}).g[0] - 1.0 / std::complex<double>(1.0, 0.5)), 1e-15);
}

}  // namespace
}  // namespace spectra::dyson
