#include "network/mean_field.hpp"

#include "random/stream.hpp"
#include "support/expect_refused.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace spectra {
namespace {

using testing::expect_refused;

std::vector<Mixer> drawn(mixers::Family family, int n, int depth) {
    mixers::Recipe recipe;
    recipe.family = family;
    return mixers::draw_layers(recipe, n, depth, false, 3);
}

/// σ_w² |x|²/N before every layer of one network of width p, run forward: the weights are drawn and
/// multiplied.
std::vector<double> forward_pass(const std::vector<Mixer>& mixers, const std::vector<double>& sigma_w2,
                                 const Activation& activation, int width, std::uint32_t sample) {
    const auto n = mixers.front().rows();
    const auto size = n * width;
    random::Stream stream(1, random::Purpose::test, 0, sample);
    Eigen::VectorXd x(size), h(size);
    for (double& entry : x) entry = stream.normal();
    std::vector<double> variances;
    for (std::size_t l = 0; l < mixers.size(); ++l) {
        const double scale = std::sqrt(sigma_w2[l] / static_cast<double>(size));
        h.setZero();
        for (Eigen::Index j = 0; j < size; ++j)
            for (Eigen::Index i = 0; i < size; ++i) h(i) += scale * stream.normal() * x(j);
        variances.push_back(sigma_w2[l] * x.squaredNorm() / static_cast<double>(size));
        const Eigen::Map<const Eigen::MatrixXd> streams(x.data(), width, n);  // a column a stream
        Eigen::MatrixXd next = streams * mixers[l].transpose();
        for (Eigen::Index k = 0; k < size; ++k) next.data()[k] += value(activation, h(k));
        x = Eigen::Map<const Eigen::VectorXd>(next.data(), size);
    }
    return variances;
}

TEST(MeanField, WideNetworksHaveThePropagatedVariances) {
    for (const auto& [name, family] : {std::pair("relu", mixers::Family::bistochastic),
                                       {"gelu", mixers::Family::gaussian},
                                       {"tanh", mixers::Family::orthogonal}}) {
        const Activation activation = activation_from_name(name);
        const auto mixers = drawn(family, 3, 4);
        const std::vector<double> sigma_w2{2.0, 0.7, 3.0, 1.5};
        const auto expected = propagated_variances(mixers, sigma_w2, activation);
        constexpr int samples = 12;
        std::vector<double> sum(4), squares(4);
        for (std::uint32_t k = 0; k < samples; ++k) {
            const auto found = forward_pass(mixers, sigma_w2, activation, 150, k);
            for (std::size_t l = 0; l < 4; ++l) {
                sum[l] += found[l] / samples;
                squares[l] += found[l] * found[l] / samples;
            }
        }
        for (std::size_t l = 0; l < 4; ++l) {
            const double error = std::sqrt((squares[l] - sum[l] * sum[l]) / (samples - 1));
            EXPECT_NEAR(sum[l], expected[l], 4 * error) << name << ", layer " << l + 1;
            EXPECT_LT(error, 0.06 * expected[l]) << "or the test says nothing";
        }
    }
}

/// Orthogonal mixers, φ linear: tr_n C grows by 1 + σ_w² a layer.
TEST(MeanField, LinearNetworksGrowGeometrically) {
    const auto mixers = drawn(mixers::Family::orthogonal, 4, 6);
    const auto q = propagated_variances(mixers, std::vector<double>(6, 0.3), activation_from_name("linear"));
    for (std::size_t l = 0; l < 6; ++l) EXPECT_NEAR(q[l], 0.3 * std::pow(1.3, static_cast<double>(l)), 1e-14);
}

/// One stream, A = a, relu: C ← a²C + 2aμm + ½q, m ← am + μ, μ = √(q/2π).
TEST(MeanField, ReluOfOneStreamByHand) {
    const double a = 0.8, s = 0.5;
    const double q1 = s, mu1 = std::sqrt(q1 / (2 * std::numbers::pi));
    const double c1 = a * a + q1 / 2, m1 = mu1;
    const double q2 = s * c1, mu2 = std::sqrt(q2 / (2 * std::numbers::pi));
    const double c2 = a * a * c1 + 2 * a * mu2 * m1 + q2 / 2;
    const auto q = propagated_variances(std::vector<Mixer>(3, Mixer::Constant(1, 1, a)),
                                        std::vector<double>(3, s), activation_from_name("relu"));
    EXPECT_NEAR(q[0], q1, 1e-15);
    EXPECT_NEAR(q[1], q2, 1e-15);
    EXPECT_NEAR(q[2], s * c2, 1e-15);
}

/// Two streams that add: the mean of one enters the variance of the other, and so does E φ² only once.
TEST(MeanField, StreamsCarryTheirCorrelations) {
    Mixer sum(2, 2);
    sum << 1, 1, 0, 1;
    const auto q = propagated_variances({Mixer::Zero(2, 2), sum, Mixer::Identity(2, 2)}, {1.0, 0.0, 1.0},
                                        activation_from_name("relu"));
    // After layer 1 x_i = φ(h_i), independent; after layer 2 (x_1 + x_2, x_2), its branch off.
    const double mu2 = 1 / (2 * std::numbers::pi), nu = 0.5;
    EXPECT_NEAR(q[2], ((2 * nu + 2 * mu2) + nu) / 2, 1e-15);
}

TEST(MeanField, TunedWeightsHaveTheVarianceAskedFor) {
    for (const auto& name : activation_names()) {
        const Activation activation = activation_from_name(name);
        const auto mixers = drawn(mixers::Family::gaussian, 3, 5);
        for (const double size : {1e-8, 0.005, 1.0, 300.0}) {
            std::vector<double> sigma2{size, 2 * size, size, 0, 0.5 * size};
            const auto weights = tuned_weights(mixers, sigma2, activation);
            EXPECT_EQ(weights.sigma_w2[3], 0);
            const auto q = propagated_variances(mixers, weights.sigma_w2, activation);
            for (std::size_t l = 0; l < 5; ++l) {
                EXPECT_NEAR(weights.preactivation_variance[l], q[l], 1e-13 * q[l]) << name;
                EXPECT_NEAR(weights.sigma_w2[l] * mean_derivative2(activation, q[l]), sigma2[l],
                            1e-13 * sigma2[l])
                    << name << ", layer " << l + 1 << ", size " << size;
            }
        }
    }
}

/// erf, first layer: σ_w² 4/π / √(1 + 4σ_w²) = c is a quadratic equation.
TEST(MeanField, TunedWeightsOfErfInClosedForm) {
    const double c = 0.7, b = std::numbers::pi * c / 4;
    const double exact = 2 * b * b + std::sqrt(4 * b * b * b * b + b * b);
    const auto weights = tuned_weights({Mixer::Identity(2, 2)}, {c}, activation_from_name("erf"));
    EXPECT_NEAR(weights.sigma_w2[0], exact, 1e-14);
}

TEST(MeanField, ANetworkThatForgotItsInputIsTuned) {
    const auto weights =
        tuned_weights({Mixer::Zero(2, 2), Mixer::Identity(2, 2)}, {0.0, 0.2}, activation_from_name("silu"));
    EXPECT_EQ(weights.preactivation_variance, (std::vector<double>{0, 0}));
    EXPECT_NEAR(weights.sigma_w2[1], 0.8, 1e-15) << "φ'(0)² = ¼";
}

TEST(MeanField, RefusesWhatOverflowsOrHasNoValues) {
    const std::vector<Mixer> growing(200, Mixer::Identity(2, 2) * 100);
    const std::vector<double> ones(200, 1.0);
    for (const char* name : {"tanh", "relu"}) {
        expect_refused([&] { propagated_variances(growing, ones, activation_from_name(name)); },
                       {"pre-activation variance", "layer", "overflow", "use smaller"});
        expect_refused([&] { tuned_weights(growing, ones, activation_from_name(name)); },
                       {"pre-activation variance", "layer", "overflow", "use smaller"});
    }
    expect_refused([&] { propagated_variances({Mixer::Identity(2, 2)}, {1.0}, {ActivationKind::bernoulli}); },
                   {"bernoulli"});
}

}  // namespace
}  // namespace spectra
