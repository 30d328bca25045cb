#include "montecarlo/sample/forward.hpp"

#include "montecarlo/sample/sampler.hpp"
#include "network/mean_field.hpp"
#include "support/branches.hpp"
#include "support/epsilon.hpp"
#include "support/networks.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace {

using namespace spectra;
using namespace spectra::tests;
using montecarlo::ForwardPass;
using montecarlo::Sampler;
using montecarlo::scaled_layers;
using montecarlo::Slopes;
using Kind = ActivationKind;

constexpr Kind every_kind[] = {Kind::linear,    Kind::relu, Kind::leaky_relu, Kind::tanh,
                               Kind::hard_tanh, Kind::erf,  Kind::gelu,       Kind::silu};

/// With the pre-activation variances of the mean field.
Network activated(Network network, Kind kind, const std::vector<double>& sigma_w2) {
    ActivationBranch branch{sigma_w2, {kind}};
    branch.preactivation_variance = propagated_variances(network.mixers, sigma_w2, branch.activation);
    network.branch = branch;
    return network;
}

Network activated(mixers::Family family, int streams, int width, int depth, Kind kind, double sigma_w2) {
    return activated(draw_network(family, streams, depth, width, 0), kind,
                     std::vector<double>(static_cast<std::size_t>(depth), sigma_w2));
}

struct Drawn {
    Eigen::MatrixXd matrix;  // J = 2^exponent matrix
    long exponent = 0;

    Eigen::MatrixXd jacobian() const { return matrix * std::ldexp(1.0, static_cast<int>(exponent)); }
};
Drawn drawn(const Network& network, Slopes slopes, std::uint32_t sample = 0) {
    Sampler sampler(network.streams, network.width);
    sampler.draw(scaled_layers(network, slopes), 5, sample);
    return {sampler.matrix(), sampler.exponent()};
}

/// The network and its input, plainly, from the streams of `drawn`.
struct PlainNetwork {
    explicit PlainNetwork(const Network& net, std::uint32_t sample = 0) : network(net) {
        const auto& branch = std::get<ActivationBranch>(network.branch);
        activation = branch.activation;
        for (std::size_t l = 0; l < network.mixers.size(); ++l)
            weights.push_back(factor_reference<double>(
                network.size(), branch.sigma_w2[l], {}, l,
                {5, random::Purpose::branch, static_cast<std::uint32_t>(l), sample}));
        random::Stream stream(5, random::Purpose::slope, 0, sample);
        input.resize(network.size());
        for (double& x : input) x = stream.normal();
    }

    Eigen::VectorXd skip(std::size_t l, const Eigen::VectorXd& x) const {
        return kronecker(network.mixers[l], network.width) * x;
    }
    Eigen::VectorXd next(std::size_t l, const Eigen::VectorXd& x) const {
        Eigen::VectorXd h = weights[l] * x;
        for (double& y : h) y = value(activation, y);
        return skip(l, x) + h;
    }
    Eigen::VectorXd output(Eigen::VectorXd x) const {
        for (std::size_t l = 0; l < weights.size(); ++l) x = next(l, x);
        return x;
    }
    Eigen::MatrixXd jacobian() const {
        Eigen::VectorXd x = input;
        Eigen::MatrixXd out = Eigen::MatrixXd::Identity(x.size(), x.size());
        for (std::size_t l = 0; l < weights.size(); ++l) {
            Eigen::VectorXd slopes = weights[l] * x;
            for (double& y : slopes) y = derivative(activation, y);
            out = ((kronecker(network.mixers[l], network.width) + slopes.asDiagonal() * weights[l]) * out)
                      .eval();
            x = next(l, x);
        }
        return out;
    }

    const Network& network;
    Activation activation;
    std::vector<Eigen::MatrixXd> weights;
    Eigen::VectorXd input;
};

TEST(ForwardPass, JacobianIsTheDerivativeOfTheNetwork) {
    // Central differences of a plain forward pass, which knows neither φ' nor units.
    const double step = 1e-5;
    for (const Kind kind : {Kind::tanh, Kind::erf, Kind::gelu, Kind::silu}) {
        for (const auto& [streams, width] : {std::pair{1, 6}, {2, 5}, {3, 4}}) {
            const auto network = activated(mixers::Family::bistochastic, streams, width, 3, kind, 2.0);
            const PlainNetwork plain(network);
            Eigen::MatrixXd differences(network.size(), network.size());
            for (int j = 0; j < network.size(); ++j) {
                const Eigen::VectorXd shift = step * Eigen::VectorXd::Unit(network.size(), j);
                differences.col(j) =
                    (plain.output(plain.input + shift) - plain.output(plain.input - shift)) / (2 * step);
            }
            const Eigen::MatrixXd jacobian = drawn(network, Slopes::propagated).jacobian();
            EXPECT_LE((jacobian - differences).cwiseAbs().maxCoeff(), 1e-8) << name({kind});
            // Slopes from their law are another matrix.
            EXPECT_GT((drawn(network, Slopes::drawn).jacobian() - differences).norm(), 0.1);
        }
    }
}

TEST(ForwardPass, EveryActivationAndSizeOfLayer) {
    // Growing and shrinking layers have units of their own; a layer without noise hands x on.
    for (const Kind kind : every_kind) {
        auto network = draw_network(mixers::Family::gaussian, 3, 5, 4, 0);
        const double sizes[] = {30, 0.01, 1, 1e-3, 500};
        for (std::size_t l = 0; l < 5; ++l) network.mixers[l] *= sizes[l];
        network = activated(network, kind, {0.5, 40, 0, 1e4, 3});
        for (const std::uint32_t sample : {0U, 9U}) {
            const Eigen::MatrixXd expected = PlainNetwork(network, sample).jacobian();
            EXPECT_LE((drawn(network, Slopes::propagated, sample).jacobian() - expected).norm(),
                      1e-13 * expected.norm())
                << name({kind});
        }
    }
}

TEST(ForwardPass, LinearSlopesNeedNoNetwork) {
    const auto network = activated(mixers::Family::cayley, 3, 6, 4, Kind::linear, 0.7);
    const auto one = drawn(network, Slopes::propagated), other = drawn(network, Slopes::drawn);
    EXPECT_EQ(one.matrix, other.matrix);
    EXPECT_EQ(one.exponent, other.exponent);
}

TEST(ForwardPass, ASampleDoesNotRememberTheOneBefore) {
    const auto network = activated(mixers::Family::bistochastic, 2, 6, 3, Kind::gelu, 1.5);
    const auto layers = scaled_layers(network, Slopes::propagated);
    Sampler used(2, 6);
    for (const std::uint32_t sample : {3U, 0U, 3U}) {
        used.draw(scaled_layers(network), 5, sample);
        used.draw(layers, 5, sample);
        EXPECT_EQ(used.matrix(), drawn(network, Slopes::propagated, sample).matrix);
    }
    EXPECT_NE(drawn(network, Slopes::propagated, 3).matrix, drawn(network, Slopes::propagated, 0).matrix);
}

/// Over samples: mean and its standard error.
struct Mean {
    double sum = 0, squares = 0;
    int count = 0;
    void add(double x) {
        sum += x;
        squares += x * x;
        ++count;
    }
    double mean() const { return sum / count; }
    double error() const { return std::sqrt((squares / count - mean() * mean()) / (count - 1)); }
};

TEST(ForwardPass, PreActivationsHaveTheVariancesOfTheMeanField) {
    // σ_w² |x_l|²/N against q_l, before every layer: mixers that are not orthogonal, and activations with a
    // mean, for which streams grow correlated. Finite width adds O(1/N).
    for (const Kind kind : {Kind::tanh, Kind::relu, Kind::gelu}) {
        const auto network = activated(mixers::Family::bistochastic, 3, 30, 4, kind, 1.5);
        const auto layers = scaled_layers(network, Slopes::propagated);
        const auto& q = std::get<ActivationBranch>(network.branch).preactivation_variance;
        std::vector<Mean> measured(4);
        ForwardPass pass(3, 30);
        std::vector<double> slopes(90);
        for (std::uint32_t sample = 0; sample < 250; ++sample) {
            const PlainNetwork plain(network, sample);
            pass.begin(5, sample);
            for (std::size_t l = 0; l < 4; ++l) {
                const double unit = std::ldexp(1.0, static_cast<int>(pass.exponent()));
                measured[l].add(1.5 * (unit * pass.values()).squaredNorm() / 90);
                const Eigen::MatrixXd weights = plain.weights[l] * std::ldexp(1.0, -layers[l].exponent);
                pass.advance(layers[l], weights.data(), slopes);
            }
        }
        for (std::size_t l = 0; l < 4; ++l) {
            EXPECT_NEAR(measured[l].mean(), q[l], 4 * measured[l].error() + 2 * q[l] / 90)
                << name({kind}) << ", layer " << l + 1;
            EXPECT_LT(measured[l].error(), 0.035 * q[l]);
        }
    }
}

TEST(ForwardPass, MeanSquareIsTheTheorys) {
    // Finite width: relu's mean aligns the layers along x, a few singular values of N, which adds some 3/N.
    for (const Kind kind : {Kind::tanh, Kind::relu}) {
        const auto network = activated(mixers::Family::bistochastic, 2, 200, 3, kind, 1.5);
        const auto layers = scaled_layers(network, Slopes::propagated);
        Sampler sampler(2, 200);
        Mean measured;
        for (std::uint32_t sample = 0; sample < 16; ++sample) {
            sampler.draw(layers, 5, sample);
            measured.add(
                std::ldexp(sampler.matrix().squaredNorm(), static_cast<int>(2 * sampler.exponent())) / 400);
        }
        const double exact = exact_mean_square(network);
        EXPECT_NEAR(measured.mean(), exact, 4 * measured.error() + 3 * exact / 400) << name({kind});
        EXPECT_LT(measured.error(), 0.015 * exact);
    }
}

TEST(ForwardPass, HomogeneousActivationsDoNotFeelSizes) {
    // Layers 2^k times as large: the same matrix to the last bit, at 2^{kL}, far beyond the range of double.
    for (const Kind kind : {Kind::relu, Kind::leaky_relu}) {
        const auto network = activated(mixers::Family::gaussian, 2, 5, 40, kind, 0.5);
        const auto expected = drawn(network, Slopes::propagated);
        for (const int k : {-100, 100}) {
            auto scaled = network;
            for (auto& mixer : scaled.mixers) mixer *= std::ldexp(1.0, k);
            for (double& v : std::get<ActivationBranch>(scaled.branch).sigma_w2) v *= std::ldexp(1.0, 2 * k);
            const auto found = drawn(scaled, Slopes::propagated);
            EXPECT_EQ(found.matrix, expected.matrix);
            EXPECT_EQ(found.exponent, expected.exponent + 40 * k);
        }
    }
}

/// Every layer 2^k times as large, the mean field's variances (which overflow) left as they were.
Network resized(Network network, int k, Kind kind) {
    for (auto& mixer : network.mixers) mixer *= std::ldexp(1.0, k);
    auto& branch = std::get<ActivationBranch>(network.branch);
    for (double& v : branch.sigma_w2) v *= std::ldexp(1.0, 2 * k);
    branch.activation.kind = kind;
    return network;
}

TEST(ForwardPass, VanishingActivityMeetsTheSlopeAtZero) {
    // x shrinks to 2^{−2400}: but for the first layers every activation is linear.
    for (const Kind kind : {Kind::tanh, Kind::hard_tanh, Kind::erf, Kind::gelu, Kind::silu}) {
        const auto linear = activated(mixers::Family::cayley, 2, 4, 30, Kind::linear, 0.3);
        const auto network = resized(linear, -80, kind);
        const double slope = derivative({kind}, 0);
        auto reference = resized(linear, -80, Kind::linear);
        for (double& v : std::get<ActivationBranch>(reference.branch).sigma_w2) v *= slope * slope;
        const auto expected = drawn(reference, Slopes::drawn), found = drawn(network, Slopes::propagated);
        // Units differ with q's estimate of the branch.
        const Eigen::MatrixXd matrix =
            found.matrix * std::ldexp(1.0, static_cast<int>(found.exponent - expected.exponent));
        // h of the first layer is 2^{−80} already.
        EXPECT_LE((matrix - expected.matrix).norm(), 1e-13 * expected.matrix.norm()) << name({kind});
    }
}

TEST(ForwardPass, GrowingActivityMeetsTheSlopesAtInfinity) {
    for (const Kind kind : {Kind::gelu, Kind::silu, Kind::tanh, Kind::hard_tanh, Kind::erf}) {
        const bool bounded = kind != Kind::gelu && kind != Kind::silu;
        const auto plain = activated(mixers::Family::cayley, 2, 4, 30, Kind::relu, 0.3);
        auto reference = resized(plain, 80, Kind::relu);
        if (bounded) {  // no slope is left
            for (double& v : std::get<ActivationBranch>(reference.branch).sigma_w2) v = 0;
        }
        const auto network = resized(plain, 80, kind);
        const auto expected = drawn(reference, Slopes::propagated),
                   found = drawn(network, Slopes::propagated);
        const Eigen::MatrixXd matrix =
            found.matrix * std::ldexp(1.0, static_cast<int>(found.exponent - expected.exponent));
        EXPECT_LE((matrix - expected.matrix).norm(), 1e-13 * expected.matrix.norm()) << name({kind});
    }
}

TEST(ForwardPass, ABoundedActivationBringsBackTheScaleOfOne) {
    // x_2 = 2^1800 x_0, then a layer without a skip: x_3 = ±1, which the last layer's slopes see.
    for (const Kind kind : {Kind::tanh, Kind::hard_tanh, Kind::erf}) {
        const Mixer large = std::ldexp(1.0, 900) * Mixer::Identity(2, 2);
        auto network = make_network({large, large, Mixer::Zero(2, 2), Mixer::Identity(2, 2)}, 5, {});
        network.branch = ActivationBranch{{0, 0, 1, 1}, {kind}, {1, 1, 1, 1}};
        const auto layers = scaled_layers(network, Slopes::propagated);
        const PlainNetwork plain(network);
        ForwardPass pass(2, 5);
        std::vector<double> slopes(10);
        pass.begin(5, 0);
        for (std::size_t l = 0; l < 4; ++l) {
            const Eigen::MatrixXd weights = plain.weights[l] * std::ldexp(1.0, -layers[l].exponent);
            if (layers[l].noiseless())
                pass.advance(layers[l]);
            else
                pass.advance(layers[l], weights.data(), slopes);
        }
        const Eigen::VectorXd x = (plain.weights[2] * plain.input).array().sign();
        for (int i = 0; i < 10; ++i)
            EXPECT_NEAR(slopes[static_cast<std::size_t>(i)],
                        derivative({kind}, plain.weights[3].row(i).dot(x)), 1e-14);
        const Eigen::VectorXd expected = plain.next(3, x);
        EXPECT_LE((pass.values() * std::ldexp(1.0, static_cast<int>(pass.exponent())) - expected).norm(),
                  1e-14 * expected.norm());
    }
}

TEST(ForwardPass, NothingStaysNothing) {
    auto network = make_network({Mixer::Zero(2, 2), Mixer::Identity(2, 2)}, 3, {});
    network.branch = ActivationBranch{{0, 1}, {Kind::tanh}, {1, 1}};
    // h = 0: the slope at 0.
    auto linear = network;
    linear.branch = ActivationBranch{{0, 1}, {Kind::linear}, {1, 1}};
    const auto layers = scaled_layers(network, Slopes::propagated);
    Sampler sampler(2, 3);
    Eigen::MatrixXd first(6, 6), second(6, 6);
    sampler.draw_layer(layers[0], 0, 5, 0, first.data());
    sampler.draw_layer(layers[1], 1, 5, 0, second.data());
    EXPECT_TRUE(first.isZero(0));
    Eigen::MatrixXd expected(6, 6);
    const auto plain = scaled_layers(linear);
    sampler.draw_layer(plain[1], 1, 5, 0, expected.data());
    EXPECT_EQ(second * std::ldexp(1.0, layers[1].exponent), expected * std::ldexp(1.0, plain[1].exponent));
}

TEST(Response, IsTheActivationsOwn) {
    for (const Kind kind : every_kind) {
        const Activation activation{kind};
        for (const double h : {-3.0, -0.7, -1e-3, 0.0, 2e-5, 0.4, 1.0, 6.0}) {
            for (const long exponent : {-20L, 0L, 3L}) {
                const auto [slope, found] = montecarlo::response(activation, h, exponent);
                const double true_h = std::ldexp(h, static_cast<int>(exponent));
                EXPECT_EQ(slope, derivative(activation, true_h));
                const long unit = montecarlo::response_unit(activation, exponent);
                EXPECT_EQ(std::ldexp(found, static_cast<int>(unit)), value(activation, true_h))
                    << name(activation);
            }
        }
    }
}

TEST(Response, JoinsItsLimits) {
    // Where the limits take over nothing moves.
    for (const Kind kind : every_kind) {
        const Activation activation{kind};
        for (const double sign : {-1.0, 1.0}) {
            for (const long exponent : {-202L, -201L, -200L, -199L, 199L, 200L, 201L, 5000L, -5000L}) {
                const double h = 0.75 * sign;
                const auto [slope, found] = montecarlo::response(activation, h, exponent);
                const bool bounded = montecarlo::response_unit(activation, 1) == 0;
                const double limit =
                    exponent < 0
                        ? derivative(activation, kind == Kind::relu || kind == Kind::leaky_relu ? sign : 0.0)
                    : bounded ? 0.0
                              : derivative(activation, 1e3 * sign);
                EXPECT_NEAR(slope, limit, epsilon) << name(activation);
                EXPECT_NEAR(found, bounded && exponent > 0 ? sign : limit * h, epsilon) << name(activation);
            }
        }
    }
}

}  // namespace
