#include "dyson/equations/s_transform.hpp"

#include "dyson/law/density.hpp"
#include "dyson/exact/moments.hpp"
#include "dyson/equations/one_layer.hpp"
#include "dyson/exact/support_bounds.hpp"
#include "dyson/equations/scalar.hpp"
#include "dyson/solve/tracker.hpp"
#include "support/dense_dyson.hpp"
#include "support/networks.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>
#include <numbers>

namespace spectra::dyson {
namespace {

using tests::draw_network;
using tests::make_network;

const Complex s_transform_places[] = {{0.9, 0.01}, {1.2, 0.1}, {0.3, 0.05},
                                      {2.0, 0.3},  {0.0, 0.4}, {-0.7, 0.2}};

/// Orthogonal mixers of different sizes and noises, some of them zero.
Network unequal(int streams, int depth) {
    Network network = draw_network(mixers::Family::orthogonal, streams, depth, 1, 1);
    std::vector<double> sigma2;
    for (std::size_t l = 0; l < network.mixers.size(); ++l) {
        network.mixers[l] *= l % 3 == 1 ? 0.0 : 0.6 + 0.2 * static_cast<double>(l);
        sigma2.push_back(l % 3 == 2 ? 0.0 : 0.3 + 0.5 * static_cast<double>(l % 4));
    }
    network.branch = IsotropicBranch{sigma2};
    return network;
}

TEST(STransform, IsThePolynomialForOneLayer) {
    for (const double a : {0.0, 0.4, 1.0, 3.0}) {
        for (const double sigma2 : {0.05, 1.0, 2.0}) {
            const Network network = make_network(Mixer{{a}}, 1, 1, sigma2);
            for (const Complex omega : {Complex(0.9, 0.01), Complex(0.3, 0.05), Complex(2, 0.3)}) {
                const GreenPoint point = s_transform_green(network, omega);
                EXPECT_TRUE(point.certified);
                const Complex expected = one_layer_green(network, omega).g;
                EXPECT_LT(std::abs(point.g - expected), 1e-11 * std::abs(expected)) << a << " " << sigma2;
            }
        }
    }
}

TEST(STransform, IsThePlainEquationForUnequalLayers) {
    for (const int depth : {1, 2, 3, 4}) {
        const Network network = unequal(2, depth);
        ASSERT_TRUE(s_transform_is_exact(network));
        for (const Complex omega : {Complex(0.9, 0.3), Complex(0.3, 0.3), Complex(2.0, 0.5)}) {
            const GreenPoint point = s_transform_green(network, omega);
            EXPECT_TRUE(point.certified) << depth << omega;
            const Complex expected = tests::DenseDyson(network).green(omega);
            EXPECT_LT(std::abs(point.g - expected), 1e-10 * std::abs(expected)) << depth << omega;
        }
    }
}

TEST(STransform, IsTheGoldenValue) {
    const auto golden = nlohmann::json::parse(std::ifstream(SPECTRA_DATA_DIR "/golden/chain.json"));
    int compared = 0;
    for (const auto& c : golden["cases"]) {
        if (c["noise"]["kind"] != "isotropic" || !c["noise"].contains("sigma2")) continue;
        const int n = c["streams"];
        std::vector<Mixer> mixers;
        for (const auto& rows : c["mixers"]) {
            Mixer a(n, n);
            for (Eigen::Index i = 0; i < n; ++i)
                for (Eigen::Index j = 0; j < n; ++j)
                    a(i, j) = rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
            mixers.push_back(a);
        }
        const Network network = make_network(mixers, 1, c["noise"]["sigma2"].get<std::vector<double>>());
        if (!s_transform_is_exact(network)) continue;
        for (std::size_t k = 0; k < c["omega"].size(); ++k, ++compared) {
            const Complex omega(c["omega"][k][0], c["omega"][k][1]), g(c["g"][k][0], c["g"][k][1]);
            const GreenPoint point = s_transform_green(network, omega);
            EXPECT_TRUE(point.certified);
            EXPECT_LT(std::abs(point.g - g), 1e-8 * std::abs(g)) << c["name"] << " " << omega;
        }
    }
    EXPECT_GE(compared, 90);
}

TEST(STransform, IsTheZ1MapForEqualLayers) {
    // z = z₁ᴸ (w/(1 + w))^{L−1} with w = z₁G₁(z₁) − 1 of the cubic: every z₁ above gives a point (z, w).
    const double a = 0.9, sigma2 = 0.02;
    const int depth = 20;
    const Network layer = make_network(Mixer{{a}}, 1, 1, sigma2);
    const Network network = make_network(Mixer{{a}}, depth, 1, sigma2);
    int checked = 0;
    for (const double x : {0.8, 0.9, 1.1, 1.5}) {
        const Complex root(x, 0.1);
        const Complex w = root * one_layer_green(layer, root).g - 1.0;
        const Complex log_z = 2.0 * depth * std::log(root) + (depth - 1.0) * std::log(w / (1.0 + w));
        const Complex omega = std::exp(0.5 * log_z);
        if (!(omega.imag() > 0) || !(std::abs(std::arg(omega)) < 0.4))
            continue;  // below the axis, or wrapped
        const GreenPoint point = s_transform_green(network, omega);
        EXPECT_TRUE(point.certified) << x;
        EXPECT_LT(std::abs(point.g * omega - (1.0 + w)), 1e-10) << x;
        ++checked;
    }
    EXPECT_GE(checked, 1);
}

TEST(STransform, ApproachesTheDeepLimit) {
    // At c = Lσ², a = 1, L → ∞: G = (zG − 1) e^{c(1 − 2zG)}; the difference falls as 1/L.
    const double c = 0.5;
    const auto limit = [&](Complex omega, Complex w) {
        const Complex log_z = 2.0 * std::log(omega);
        for (int k = 0; k < 50; ++k) {
            const Complex f =
                std::log(1.0 + w) - std::log(-w) + Complex(0, std::numbers::pi) + c * (1.0 + 2.0 * w) - log_z;
            w -= f / (1.0 / (1.0 + w) - 1.0 / w + 2 * c);
        }
        return (1.0 + w) / omega;
    };
    for (const Complex omega :
         {Complex(0.9, 0.05), Complex(1.4, 0.1), Complex(0.5, 0.02), Complex(2.5, 0.2)}) {
        double error[2];
        for (const int k : {0, 1}) {
            const int depth = k == 0 ? 500 : 1000;
            const GreenPoint point =
                s_transform_green(make_network(Mixer{{1.0}}, depth, 1, c / depth), omega);
            EXPECT_TRUE(point.certified);
            const Complex g = limit(omega, point.g * omega - 1.0);
            const Complex z = omega * omega, big_g = g / omega;
            EXPECT_LT(std::abs(big_g - (z * big_g - 1.0) * std::exp(c * (1.0 - 2.0 * z * big_g))), 1e-12);
            error[k] = std::abs(point.g - g) / std::abs(g);
        }
        EXPECT_LT(error[1], 1e-3) << omega;
        EXPECT_NEAR(error[0] / error[1], 2, 0.02) << omega;
    }
}

TEST(STransform, IsTheScalarTheoryAtAnyDepthAndScale) {
    // Two derivations of one equation: L + 1 unknowns there, one here. Contracting layers reach 1e-160.
    for (const int depth : {2, 50, 200}) {
        const Network network = make_network(Mixer{{0.15}}, depth, 1, 0.001);
        const SupportBounds support = support_bounds(network);
        Tracker scalar(make_scalar(network), support.log_upper, {support.log_lower});
        Tracker s_transform(make_s_transform(network), support.log_upper, {support.log_lower});
        for (const double f : {0.2, 0.5, 0.8}) {
            const double x = std::lerp(support.log_lower, support.log_upper, f);
            for (const double tilt : {0.3, 0.0}) {
                const Solution a = scalar.solve(x, tilt), b = s_transform.solve(x, tilt);
                ASSERT_TRUE(a.ok() && b.ok()) << depth << " " << f << " " << tilt;
                const Complex ga = scalar.equation().scaled_green(a.omega, a.m);
                const Complex gb = s_transform.equation().scaled_green(b.omega, b.m);
                EXPECT_LT(std::abs(ga - gb), 1e-8 * std::abs(ga)) << depth << " " << f << " " << tilt;
            }
        }
    }
}

TEST(STransform, GivesAWholeLaw) {
    // Gap at zero, a law that reaches it (κ = 3), and one at the threshold (κ = 3/2).
    for (const double sigma2 : {0.1, 1.0, 2.0}) {
        const Network network = make_network(Mixer::Identity(2, 2), 3, 1, sigma2);
        const SupportBounds support = support_bounds(network);
        const Tracker tracker(make_s_transform(network), support.log_upper, {support.log_upper - 5});
        const SolvedLaw law = solve_density(tracker, support, {}, {});
        EXPECT_TRUE(law.certified) << sigma2 << ": " << law.message;
        const Spectrum spectrum = Spectrum::from_density(law.density);
        EXPECT_NEAR(spectrum.mass(), 1, 1e-7) << sigma2;
        EXPECT_NEAR(spectrum.metrics().mean_square / mean_square(network), 1, 1e-7) << sigma2;
        EXPECT_NEAR(spectrum.metrics().log_mean, *log_mean(network), 1e-6) << sigma2;
    }
}

TEST(STransform, GivesAWholeLawAThousandLayersDeep) {
    // Around 1e-824: below the range of double.
    const Network network = make_network(Mixer{{0.15}}, 1000, 1, 1e-5);
    const SupportBounds support = support_bounds(network);
    const Tracker tracker(make_s_transform(network), support.log_upper, {support.log_lower});
    const SolvedLaw law = solve_density(tracker, support, {}, {});
    EXPECT_TRUE(law.certified) << law.message;
    const Spectrum spectrum = Spectrum::from_density(law.density);
    const double log_square = log_mean_square(network);
    EXPECT_NEAR(spectrum.expectation([&](double x) { return std::exp(2 * x - log_square); }), 1, 1e-6);
    EXPECT_NEAR(spectrum.metrics().log_mean, *log_mean(network), 1e-5);
    EXPECT_LT(spectrum.metrics().log_mean, -1800);
}

TEST(STransform, RefusesWhereItIsNotExact) {
    EXPECT_FALSE(s_transform_is_exact(draw_network(mixers::Family::bistochastic, 3, 2, 1, 0.1)));
    EXPECT_TRUE(s_transform_is_exact(draw_network(mixers::Family::bistochastic, 1, 2, 1, 0.1)));
    EXPECT_TRUE(s_transform_is_exact(draw_network(mixers::Family::orthogonal, 5, 2, 1, 0.1)));
    EXPECT_THROW(make_s_transform(draw_network(mixers::Family::gaussian, 3, 2, 1, 0.1)),
                 std::invalid_argument);
    Network network = draw_network(mixers::Family::orthogonal, 3, 2, 1, 0.1);
    network.branch = tied_branch(network.mixers.size(), 0.1);
    EXPECT_FALSE(s_transform_is_exact(network));
    network.branch = IsotropicBranch{{}, {{0.1, 0.2}}};
    EXPECT_FALSE(s_transform_is_exact(network));
}

TEST(STransform, MirrorsTheLeftHalfPlane) {
    const Network network = unequal(1, 3);
    for (const Complex omega : s_transform_places) {
        const Complex right = s_transform_green(network, -std::conj(omega)).g;
        EXPECT_LT(std::abs(s_transform_green(network, omega).g + std::conj(right)), 1e-12 * std::abs(right));
    }
}

}  // namespace
}  // namespace spectra::dyson
