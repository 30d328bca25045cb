#include "dyson/equations/scalar.hpp"

#include "dyson/equations/chain.hpp"
#include "dyson/exact/moments.hpp"
#include "dyson/exact/support_bounds.hpp"
#include "dyson/law/theory.hpp"
#include "dyson/solve/tracker.hpp"
#include "support/networks.hpp"

#include <gtest/gtest.h>
#include <Eigen/SVD>

namespace spectra::dyson {
namespace {

using tests::draw_network;
using tests::make_network;

Complex solve_at(std::unique_ptr<Equation> equation, const Network& network, Complex omega) {
    Tracker tracker(std::move(equation), support_bounds(network).log_upper, {-4.0});
    const Solution s = tracker.solve(omega);
    EXPECT_TRUE(s.ok()) << omega;
    return tracker.equation().scaled_green(s.omega, s.m) * std::exp(-s.omega.log_scale);
}

const Complex places[] = {{0.9, 0.01}, {1.2, 0.1}, {0.3, 0.05}, {2.0, 0.3}};

TEST(Scalar, SatisfiesTheOneLayerEquation) {
    const Mixer a{{0.9, 0.2}, {-0.3, 0.4}};
    const Network network = make_network(a, 1, 1, 0.3);
    const Eigen::VectorXd values = a.jacobiSvd().singularValues();
    for (const Complex omega : places) {
        const Complex z = omega * omega, big_g = solve_at(make_scalar(network), network, omega) / omega;
        Complex sum = 0;
        for (const double value : values)
            sum += 0.5 / (z * (1.0 - 0.3 * big_g) - value * value / (1.0 - 0.3 * big_g));
        EXPECT_LT(std::abs(sum - big_g), 1e-12 * std::abs(big_g)) << omega;
    }
}

TEST(Scalar, SatisfiesTheCubicOfAScalarSkip) {
    const Network network = make_network(Mixer{{0.8}}, 1, 1, 0.5);
    for (const Complex omega : places) {
        const Complex z = omega * omega, g = solve_at(make_scalar(network), network, omega) / omega;
        const Complex u = 1.0 - 0.5 * g;
        EXPECT_LT(std::abs(g * (z * u * u - 0.64) - u), 1e-12);
    }
}

TEST(Scalar, IsTheChainForOneLayerOfAnyFamily) {
    for (const auto family : mixers::all_families()) {
        const Network network = draw_network(family, 4, 1, 1, 0.1);
        for (const Complex omega : places) {
            const Complex expected = solve_at(make_chain(network), network, omega);
            EXPECT_LT(std::abs(solve_at(make_scalar(network), network, omega) - expected),
                      1e-11 * std::abs(expected))
                << mixers::name(family);
        }
    }
}

TEST(Scalar, IsTheChainForOrthogonalMixersAtEveryDepth) {
    for (const int depth : {2, 10, 40}) {
        const Network network = draw_network(mixers::Family::orthogonal, 3, depth, 1, 0.2);
        for (const Complex omega : places) {
            const Complex expected = solve_at(make_chain(network), network, omega);
            EXPECT_LT(std::abs(solve_at(make_scalar(network), network, omega) - expected),
                      1e-10 * std::abs(expected));
        }
    }
}

TEST(Scalar, IsTheChainWhereOneMixerIsNotOrthogonal) {
    Network network = draw_network(mixers::Family::orthogonal, 3, 3, 1, 0.2);
    network.mixers[1] = Mixer{{1, 0.5, 0}, {0, 0.3, 0}, {0.2, 0, 0.7}};
    for (const Complex omega : places) {
        const Complex expected = solve_at(make_chain(network), network, omega);
        EXPECT_LT(std::abs(solve_at(make_scalar(network), network, omega) - expected),
                  1e-11 * std::abs(expected));
    }
}

/// Ends of the support of L layers 1 + X_l of one stream. With r = 1/(y − 1) all layers' equations give
///
///     ln s² = ln(1+r) − ln r + (L+1) ln(1+σ²r) + (L−1) ln(1+σ²+σ²r),
///
/// whose derivative vanishes at the ends: at one r > 0, and at one r between −1/σ² and −1.
double log_end(double depth, double sigma2, bool upper) {
    const auto slope = [&](double r) {
        return -1 / (r * (1 + r)) + (depth + 1) * sigma2 / (1 + sigma2 * r) +
               (depth - 1) * sigma2 / (1 + sigma2 + sigma2 * r);
    };
    double negative = upper ? 1e-12 : -1 - 1e-12, positive = upper ? 1e12 : -(1 - 1e-12) / sigma2;
    for (int k = 0; k < 200; ++k) {
        const double middle = (negative + positive) / 2;
        (slope(middle) < 0 ? negative : positive) = middle;
    }
    const double r = negative;
    return 0.5 * (std::log((1 + r) / r) + (depth + 1) * std::log1p(sigma2 * r) +
                  (depth - 1) * std::log1p(sigma2 + sigma2 * r));
}

TEST(Scalar, HasTheEndsOfOneStreamAtEveryDepth) {
    for (const double noise : {0.05, 1.5})
        for (const int depth : {2, 30, 1000, 4000}) {
            const Network network = make_network(Mixer{{1.0}}, depth, 1, noise / depth);
            const Theory theory = solve(network, Method::scalar);
            EXPECT_TRUE(theory.summary.certified) << depth << ": " << theory.summary.message;
            const Metrics metrics = theory.law.metrics();
            EXPECT_NEAR(std::log(metrics.largest), log_end(depth, noise / depth, true), 1e-9) << depth;
            EXPECT_NEAR(std::log(metrics.smallest), log_end(depth, noise / depth, false), 1e-9) << depth;
        }
}

TEST(Scalar, IsCertifiedForAThousandLayersThatDiffer) {
    // By the rounding of their singular values: the law of orthogonal mixers is that of one stream.
    const Theory theory = solve(draw_network(mixers::Family::orthogonal, 4, 1000, 1, 0.05), Method::scalar);
    EXPECT_TRUE(theory.summary.certified) << theory.summary.message;
    EXPECT_NEAR(std::log(theory.law.metrics().largest), log_end(1000, 0.05 / 1000, true), 1e-9);
}

TEST(Scalar, FailsFromTwoBistochasticLayersOn) {
    Network network = draw_network(mixers::Family::bistochastic, 4, 2, 1, 0.05);
    network.mixers[1] = network.mixers[0];
    const Complex omega(0.3, 0.05);
    const Complex exact = solve_at(make_chain(network), network, omega);
    EXPECT_GT(std::abs(solve_at(make_scalar(network), network, omega) - exact), 0.05 * std::abs(exact));
}

}  // namespace
}  // namespace spectra::dyson
