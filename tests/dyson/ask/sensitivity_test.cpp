#include "dyson/ask/sensitivity.hpp"

#include "dyson/exact/moments.hpp"
#include "dyson/law/potential.hpp"
#include "dyson/law/theory.hpp"
#include "support/aligned_networks.hpp"
#include "support/branch_networks.hpp"
#include "support/expect_refused.hpp"
#include "support/networks.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <string>

namespace spectra::dyson {
namespace {

using mixers::Family;
using tests::draw_network;
using tests::make_network;

/// The network with σ_l² moved by h: the weights of an activation and given singular values are scaled.
Network moved_noise(Network network, std::size_t l, double h) {
    const double factor = 1 + h / sigma2(network)[l];
    const auto scale_law = [&](BranchLaw& law) {
        for (double& t : law[l]) t *= std::sqrt(factor);
    };
    if (auto* isotropic = std::get_if<IsotropicBranch>(&network.branch)) {
        if (isotropic->law.empty())
            isotropic->sigma2[l] += h;
        else
            scale_law(isotropic->law);
    } else if (auto* activation = std::get_if<ActivationBranch>(&network.branch)) {
        activation->sigma_w2[l] *= factor;
    } else if (auto* hyper = std::get_if<HyperConnectionBranch>(&network.branch)) {
        if (hyper->law.empty())
            hyper->sigma2[l] += h;
        else
            scale_law(hyper->law);
    } else {
        std::get<TiedBranch>(network.branch).sigma2[l] += h;
    }
    return network;
}

Network moved_entry(Network network, std::size_t l, Eigen::Index i, Eigen::Index j, double h) {
    network.mixers[l](i, j) += h;
    return network;
}

using Number = std::function<double(const Network&)>;
using Move = std::function<Network(double)>;

double central(const Number& f, const Move& move, double h) {
    return (f(move(h)) - f(move(-h))) / (2 * h);
}

/// The derivative to order h⁴, and how far halving the step moves the difference quotient.
double extrapolated(const Number& f, const Move& move, double h) {
    return (4 * central(f, move, h / 2) - central(f, move, h)) / 3;
}

/// σ² of every noisy layer and a few entries of every mixer.
void expect_derivatives(const Network& network, const Sensitivity& found, const Number& f, double h,
                        double tolerance, const std::string& what) {
    for (std::size_t l = 0; l < found.sigma2.size(); ++l) {
        if (sigma2(network)[l] == 0) continue;
        const Move move = [&](double step) { return moved_noise(network, l, step * sigma2(network)[l]); };
        const double expected = extrapolated(f, move, h) / sigma2(network)[l];
        EXPECT_NEAR(found.sigma2[l], expected, tolerance * (1 + std::abs(expected)))
            << what << ", sigma2 of layer " << l;
    }
    const Eigen::Index n = network.streams;
    for (std::size_t l = 0; l < found.mixers.size(); ++l) {
        const Eigen::Index i = static_cast<Eigen::Index>(l) % n, j = (i + 1) % n;
        for (const Eigen::Index row : {i, j}) {
            const Move move = [&](double step) { return moved_entry(network, l, row, i, step); };
            const double expected = extrapolated(f, move, h);
            EXPECT_NEAR(found.mixers[l](row, i), expected, tolerance * (1 + std::abs(expected)))
                << what << ", entry " << row << ", " << i << " of layer " << l;
        }
    }
}

class SensitivityOfBranch : public ::testing::TestWithParam<tests::BranchNetwork> {};

TEST_P(SensitivityOfBranch, CountingFunctionMovesAsItsDerivativeSays) {
    const Network& network = GetParam().network;
    const Theory theory = solve(network, Method::operator_valued);
    std::vector<double> places;
    for (const double u : {0.3, 0.55, 0.8}) places.push_back(theory.law.log_quantile(u) - 0.01);
    const auto found = counting_sensitivities(network, places);
    for (std::size_t k = 0; k < places.size(); ++k) {
        if (!(theory.law.density_log(places[k]) > 0.05)) continue;  // next to an edge the series is short
        EXPECT_TRUE(found[k].certified);
        const Number mass = [&](const Network& moved) { return mass_below(moved, {places[k]})[0].mass; };
        expect_derivatives(network, found[k], mass, 1e-4, 1e-6,
                           GetParam().name + ", s = " + std::to_string(std::exp(places[k])));
    }
}

TEST_P(SensitivityOfBranch, MeanSquareMovesAsTheMomentsDo) {
    const Network& network = GetParam().network;
    const Sensitivities found = sensitivities(network);
    EXPECT_TRUE(found.mean_square.certified);
    expect_derivatives(
        network, found.mean_square, [](const Network& x) { return mean_square(x); }, 1e-2, 1e-8,
        GetParam().name);
}

TEST_P(SensitivityOfBranch, LogMeanMovesAsTheDeterminantsDo) {
    const Network& network = GetParam().network;
    const Sensitivities found = sensitivities(network);
    EXPECT_TRUE(found.log_mean.certified);
    if (!log_mean(network)) return;  // no formula
    expect_derivatives(
        network, found.log_mean, [](const Network& x) { return log_mean(x).value(); }, 1e-3, 1e-7,
        GetParam().name);
}

INSTANTIATE_TEST_SUITE_P(EveryBranch, SensitivityOfBranch, ::testing::ValuesIn(tests::branch_networks()),
                         [](const auto& parameter) { return parameter.param.name; });

/// Y_l → λ Y_l multiplies every singular value by λ: ⟨A_l, ∂F/∂A_l⟩ + 2 σ_l² ∂F/∂σ_l² = −dF/d ln s for each
/// layer.
TEST(Sensitivity, ScalingALayerScalesTheLaw) {
    for (const auto& [name, network] : tests::branch_networks()) {
        const Theory theory = solve(network, Method::operator_valued);
        const std::size_t node = theory.curve.size() * 3 / 5;
        const double place = theory.curve.log_s[node], density = theory.curve.density_log[node];
        const Sensitivity found = counting_sensitivities(network, {place}).front();
        const auto variances = sigma2(network);
        for (std::size_t l = 0; l < network.mixers.size(); ++l) {
            const double own = network.mixers[l].cwiseProduct(found.mixers[l]).sum();
            EXPECT_NEAR(own + 2 * variances[l] * found.sigma2[l], -density, 1e-8 * (1 + density))
                << name << ", layer " << l;
        }
    }
}

/// E h(s) moves by −∫ h'(s) ∂F ds, over the law's own quadrature: ∂F vanishes at the edges and outside.
TEST(Sensitivity, IntegralsOfTheCountingFunctionAreTheOtherMetrics) {
    for (const Family family : {Family::bistochastic, Family::cayley}) {
        for (const int depth : {1, 2, 5}) {
            Network network = draw_network(family, 4, depth, 1, 0.3);
            const Theory theory = solve(network, Method::operator_valued);
            const Density& density = theory.law.density();
            const auto counting = counting_sensitivities(network, density.log_s);
            const Sensitivities found = sensitivities(network);
            EXPECT_TRUE(found.certified());
            const std::size_t l = static_cast<std::size_t>(depth) / 2;
            double square = 0, logarithm = 0, square_entry = 0, logarithm_entry = 0;
            for (std::size_t k = 0; k < density.log_s.size(); ++k) {
                const double weight = density.weight[k], s2 = std::exp(2 * density.log_s[k]);
                square -= weight * 2 * s2 * counting[k].sigma2[l];
                logarithm -= weight * counting[k].sigma2[l];
                square_entry -= weight * 2 * s2 * counting[k].mixers[l](1, 2);
                logarithm_entry -= weight * counting[k].mixers[l](1, 2);
            }
            if (density.tail_exponent > 0) {
                logarithm -= counting[0].sigma2[l] / density.tail_exponent;
                logarithm_entry -= counting[0].mixers[l](1, 2) / density.tail_exponent;
            }
            const auto expect = [&](double integral, double expected, const char* what) {
                EXPECT_NEAR(integral, expected, 1e-5 * (1 + std::abs(expected)))
                    << mixers::name(family) << ", L = " << depth << ", " << what;
            };
            expect(square, found.mean_square.sigma2[l], "mean square by noise");
            expect(square_entry, found.mean_square.mixers[l](1, 2), "mean square by entry");
            expect(logarithm, found.log_mean.sigma2[l], "log-mean by noise");
            expect(logarithm_entry, found.log_mean.mixers[l](1, 2), "log-mean by entry");
            const auto outside = counting_sensitivities(network, {density.support.back().log_upper + 0.05});
            EXPECT_EQ(outside[0].sigma2[l], 0);
            EXPECT_TRUE(outside[0].mixers[l].isZero(0));
        }
    }
}

/// Against the metrics of whole laws, solved anew beside the network; halving the step divides the
/// difference by four.
TEST(Sensitivity, MetricsOfWholeLawsMoveAsTheySay) {
    struct Case {
        Family family;
        int n, depth;
        double noise;
    };
    for (const Case& c : {Case{Family::bistochastic, 2, 2, 0.5}, Case{Family::orthogonal, 4, 10, 0.3},
                          Case{Family::gaussian, 1, 5, 0.4}, Case{Family::spectral_sphere, 4, 1, 0.4}}) {
        Network network = draw_network(c.family, c.n, c.depth, 1, c.noise);
        auto& noises = std::get<IsotropicBranch>(network.branch).sigma2;
        for (std::size_t l = 0; l < noises.size(); ++l) noises[l] *= 0.5 + static_cast<double>(l % 3);
        const Sensitivities found = sensitivities(network);
        const std::size_t l = network.mixers.size() - 1;
        const auto metrics = [](const Network& x) { return solve(x, Method::operator_valued).law.metrics(); };
        const auto difference = [&](const Move& move, double h) {
            const Metrics up = metrics(move(h)), down = metrics(move(-h));
            return std::array{(up.window - down.window) / (2 * h), (up.collapsed - down.collapsed) / (2 * h),
                              (up.mean_square - down.mean_square) / (2 * h)};
        };
        const auto expect = [&](const Move& move, const std::array<double, 3>& expected, double scale,
                                const char* what) {
            const auto coarse = difference(move, 0.04), fine = difference(move, 0.02);
            for (std::size_t k = 0; k < 3; ++k) {
                const double error = scale * fine[k] - expected[k];
                EXPECT_NEAR(error, 0, 0.02 * (0.05 + std::abs(expected[k])))
                    << mixers::name(c.family) << ", " << what << " " << k;
                if (std::abs(error) > 1e-4) {
                    EXPECT_NEAR((scale * coarse[k] - expected[k]) / error, 4, 1)
                        << mixers::name(c.family) << ", " << what << " " << k;
                }
            }
        };
        const double variance = noises[l];
        expect([&](double h) { return moved_noise(network, l, h * variance); },
               {found.window.sigma2[l], found.collapsed.sigma2[l], found.mean_square.sigma2[l]}, 1 / variance,
               "noise");
        expect([&](double h) { return moved_entry(network, l, 0, c.n - 1, h); },
               {found.window.mixers[l](0, c.n - 1), found.collapsed.mixers[l](0, c.n - 1),
                found.mean_square.mixers[l](0, c.n - 1)},
               1, "entry");
    }
}

/// E s² = tr_n T_L: ∂/∂A_l = (2/n) U_l A_l T_{l−1}, ∂/∂σ_l² = tr_n T_{l−1} tr_n U_l.
TEST(Sensitivity, MeanSquareIsTheMomentRecursionFromBothEnds) {
    for (const Family family : {Family::bistochastic, Family::gaussian}) {
        for (const int depth : {1, 10, 100}) {
            const Network network = draw_network(family, 4, depth, 1, 0.2);
            const auto variances = sigma2(network);
            const auto layers = network.mixers.size();
            const Mixer one = Mixer::Identity(4, 4);
            std::vector<Mixer> t{one}, u(layers + 1, one);
            for (std::size_t l = 0; l < layers; ++l) {
                const Mixer& a = network.mixers[l];
                t.push_back(a * t[l] * a.transpose() + variances[l] * t[l].trace() / 4 * one);
            }
            for (std::size_t l = layers; l-- > 0;) {
                const Mixer& a = network.mixers[l];
                u[l] = a.transpose() * u[l + 1] * a + variances[l] * u[l + 1].trace() / 4 * one;
            }
            const Sensitivity found = sensitivities(network).mean_square;
            ASSERT_TRUE(found.certified) << mixers::name(family) << depth;
            for (std::size_t l = 0; l < layers; ++l) {
                const double noise = t[l].trace() * u[l + 1].trace() / 16;
                EXPECT_NEAR(found.sigma2[l], noise, 1e-10 * noise);
                const Mixer mixer = 0.5 * u[l + 1] * network.mixers[l] * t[l];
                EXPECT_LT((found.mixers[l] - mixer).norm(), 1e-9 * mixer.norm());
            }
        }
    }
}

TEST(Sensitivity, RotatingAnOrthogonalMixerChangesNothing) {
    const Network network = draw_network(Family::orthogonal, 3, 4, 1, 0.3);
    const Sensitivities found = sensitivities(network);
    for (const auto& [name, sensitivity] : found.by_name()) {
        // A → A(1 + εK), K antisymmetric: the antisymmetric part of Aᵀ ∂/∂A.
        const Mixer along = network.mixers[1].transpose() * sensitivity->mixers[1];
        EXPECT_LT((along - along.transpose()).norm(), 1e-9) << name;
    }
}

TEST(Sensitivity, TotalNoiseScalesAllLayersTogether) {
    const Network network = draw_network(Family::cayley, 4, 5, 1, 0.3);
    const Sensitivity window = sensitivities(network).window;
    const Number mass = [](const Network& x) {
        const auto found = mass_below(x, {std::log(0.75), std::log(1.25)});
        return found[1].mass - found[0].mass;
    };
    const Move move = [](double h) { return draw_network(Family::cayley, 4, 5, 1, 0.3 + h); };
    EXPECT_NEAR(by_total_noise(network, window), extrapolated(mass, move, 1e-3), 1e-6);

    Network tied = network;
    tied.branch = tied_branch(5, 0.06);
    const Number square = [](const Network& x) { return mean_square(x); };
    const Move scale = [&](double h) {
        Network moved = tied;
        moved.branch = tied_branch(5, 0.06 + h / 5);
        return moved;
    };
    EXPECT_NEAR(by_total_noise(tied, sensitivities(tied).mean_square), extrapolated(square, scale, 1e-2),
                1e-8);
    // Without noise the layers of a set move together; beside noise one that has none has no derivative.
    tied.branch = tied_branch(5, 0);
    const Move begin = [&](double h) {
        Network moved = tied;
        moved.branch = tied_branch(5, (1e-3 + h) / 5);
        return moved;
    };
    EXPECT_NEAR(
        by_total_noise(tied, sensitivities(tied).mean_square),
        2 * extrapolated(square, begin, 1e-3) - extrapolated(
                                                    square, [&](double h) { return begin(1e-3 + h); }, 1e-3),
        1e-4);
    tied.branch = TiedBranch{{0.06, 0, 0.06, 0.06, 0.06}};
    const Sensitivity beside = sensitivities(tied).mean_square;
    EXPECT_TRUE(std::isnan(beside.sigma2[1]));
    EXPECT_TRUE(std::isfinite(by_total_noise(tied, beside)));
}

TEST(Sensitivity, HasNoDerivativeOfMinusInfinity) {
    Network network = draw_network(Family::grassmann, 4, 3, 1, 0.3);
    std::get<IsotropicBranch>(network.branch).sigma2[1] = 0;
    const Sensitivities found = sensitivities(network);
    EXPECT_TRUE(std::isnan(found.log_mean.sigma2[0]));
    EXPECT_TRUE(found.mean_square.certified && std::isfinite(found.mean_square.sigma2[1]));
}

TEST(Sensitivity, RefusesZeroLayers) {
    testing::expect_refused([] { sensitivities(make_network(Mixer::Zero(2, 2), 3, 1, 0.0)); },
                            {"sensitivity", "layer 1", "nonzero"});
}

// F(s₁; t) = 1 − 1/2N, by differences of the mass below s.
TEST(Sensitivity, OfTheLargestValueToEveryKeptTriplet) {
    for (const bool hyper_connection : {true, false}) {
        tests::AlignedCase wanted;
        wanted.hyper_connection = hyper_connection;
        const auto network = tests::aligned_network(wanted);
        const auto law = solve(network, Method::operator_valued).law;
        const auto found = largest_by_triplet(network, law);
        ASSERT_TRUE(found.certified);
        ASSERT_EQ(found.triplets.size(), 6U);
        EXPECT_NEAR(law.cdf(found.log_s), 1 - 0.5 / network.size(), 1e-9);
        const auto mass = [&](const Network& changed, double log_s) {
            return mass_below(changed, {log_s}).front().mass;
        };
        constexpr double step = 1e-5;
        const double slope =
            (mass(network, found.log_s + step) - mass(network, found.log_s - step)) / (2 * step);
        for (const auto& t : found.triplets) {
            const auto scaled = [&](double factor) {
                auto changed = network;
                std::get<AlignedBranch>(changed.branch)
                    .kept[static_cast<std::size_t>(t.layer)]
                    .values(t.triplet) *= factor;
                return mass(changed, found.log_s);
            };
            const double moved = (scaled(std::exp(step)) - scaled(std::exp(-step))) / (2 * step);
            EXPECT_NEAR(t.elasticity, -moved / slope, 1e-5) << t.layer << ' ' << t.triplet;
        }
        EXPECT_GT(found.triplets.front().elasticity, 0.05);
        EXPECT_GE(found.triplets.front().elasticity, found.triplets.back().elasticity);
    }
    EXPECT_THROW(largest_by_triplet(tests::make_network(Mixer::Identity(2, 2), 1, 4, 1.0), {}),
                 std::invalid_argument);
}

}  // namespace
}  // namespace spectra::dyson
