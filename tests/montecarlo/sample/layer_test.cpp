#include "montecarlo/sample/layer.hpp"

#include "support/branches.hpp"
#include "support/epsilon.hpp"
#include "support/expect_refused.hpp"
#include "support/networks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace {

using namespace spectra;
using namespace spectra::tests;
using montecarlo::Layer;
using montecarlo::scaled_layers;
using montecarlo::Slopes;
using montecarlo::spread;
using montecarlo::with_mixers;
using spectra::testing::expect_refused;

Network with_branch(Network network, Branch branch) {
    network.branch = std::move(branch);
    return network;
}

void expect_scaled(const Layer& layer) {
    const double largest = std::max(layer.mixer.cwiseAbs().maxCoeff(), layer.sigma);
    EXPECT_GE(largest, 0.5);
    EXPECT_LT(largest, 1);
    if (!layer.hyper_connection() || layer.noiseless()) return;
    for (const auto& vector : {layer.pre, layer.post}) {
        EXPECT_GE(vector.cwiseAbs().maxCoeff(), 0.5);
        EXPECT_LT(vector.cwiseAbs().maxCoeff(), 1);
    }
}

TEST(Layer, IsScaledByPowersOfTwo) {
    Mixer huge(2, 2);
    huge << 1e308, -3e307, 0, 1.7e308;
    Mixer tiny(2, 2);
    tiny << 1e-300, 2e-305, 0, -1e-301;
    const auto layers =
        scaled_layers(make_network({huge, tiny, Mixer::Zero(2, 2), Mixer::Zero(2, 2)}, 3, {1, 0, 9, 0}));
    EXPECT_EQ(layers[0].mixer * std::ldexp(1.0, layers[0].exponent - 1) * 2, huge);
    EXPECT_EQ(layers[1].mixer * std::ldexp(1.0, layers[1].exponent), tiny);
    EXPECT_EQ(std::ldexp(layers[2].sigma, layers[2].exponent), 3);
    EXPECT_EQ(layers[3].exponent, 0);
    EXPECT_TRUE(layers[1].noiseless());
    EXPECT_FALSE(layers[2].noiseless());
    for (std::size_t l = 0; l < 3; ++l) expect_scaled(layers[l]);
}

TEST(Layer, EveryBranchIsScaledExactly) {
    for (const double mixer : {0.0, 1e-3, 1e100}) {
        for (const double sigma2 : {1e-4, 1e3}) {
            const Network plain = make_network(mixer * Mixer::Identity(3, 3), 4, 5, 0);
            for (const auto& [name, branch] : every_branch(3, 4, sigma2)) {
                const auto layers = scaled_layers(with_branch(plain, branch));
                ASSERT_EQ(layers.size(), 4U);
                for (std::size_t l = 0; l < 4; ++l) {
                    const auto& layer = layers[l];
                    const double unit = std::ldexp(1.0, layer.exponent);
                    expect_scaled(layer);
                    EXPECT_EQ(layer.mixer * unit, plain.mixers[l]) << name;
                    if (layer.neurons) {
                        EXPECT_EQ(layer.neurons->sigma_w * unit, std::sqrt(sigma2)) << name;
                        EXPECT_NEAR(layer.sigma,
                                    layer.neurons->sigma_w *
                                        std::sqrt(mean_derivative2(layer.neurons->activation,
                                                                   layer.neurons->preactivation_variance)),
                                    4 * epsilon * layer.sigma);
                    } else if (layer.law) {
                        double square = 0;
                        for (const double t : *layer.law) square += t * t;
                        EXPECT_NEAR(square / static_cast<double>(layer.law->size()), 1, 20 * epsilon) << name;
                        EXPECT_EQ(layer.law->size(), layer.hyper_connection() ? 5U : 15U) << name;
                    } else if (layer.hyper_connection()) {
                        const std::size_t own = layer.weights.value_or(l);
                        const Eigen::MatrixXd expected =
                            std::sqrt(sigma2) * writing(3, own) * reading(3, own).transpose();
                        EXPECT_LE((layer.sigma * unit * layer.post * layer.pre.transpose() - expected).norm(),
                                  4 * epsilon * expected.norm());
                    } else {
                        EXPECT_EQ(layer.sigma * unit, std::sqrt(sigma2)) << name;
                    }
                }
            }
        }
    }
}

TEST(Layer, ReadingAndWritingMayBeOfAnySize) {
    Network network = make_network(Mixer::Identity(2, 2), 1, 3, 0);
    HyperConnectionBranch branch;
    branch.sigma2 = {4};
    branch.pre = {Eigen::Vector2d(3e-300, 1e-301)};
    branch.post = {Eigen::Vector2d(-5e299, 1)};
    network.branch = branch;
    const Layer layer = scaled_layers(network)[0];
    expect_scaled(layer);
    EXPECT_NEAR(std::ldexp(layer.sigma * layer.post[0] * layer.pre[0], layer.exponent), -3, 1e-14);
    // Nothing read, or nothing written: nothing drawn.
    branch.pre = {Eigen::Vector2d::Zero()};
    network.branch = branch;
    EXPECT_TRUE(scaled_layers(network)[0].noiseless());
    EXPECT_EQ(scaled_layers(network)[0].mixer * 2, Mixer::Identity(2, 2));
    // A law of zeros.
    network.branch = IsotropicBranch{{0}, {{0, 0}}};
    EXPECT_TRUE(scaled_layers(network)[0].noiseless());
}

TEST(Layer, OtherMixersKeepTheBranches) {
    const auto first = draw_network(mixers::Family::gaussian, 3, 4, 5, 0);
    auto second = draw_network(mixers::Family::bistochastic, 3, 4, 5, 0);
    for (std::size_t l = 0; l < 4; ++l) second.mixers[l] *= std::pow(1e5, static_cast<double>(l) - 1.5);
    for (const auto& [name, branch] : every_branch(3, 4, 0.3)) {
        const auto direct = scaled_layers(with_branch(second, branch));
        const auto changed = with_mixers(scaled_layers(with_branch(first, branch)), second.mixers);
        for (std::size_t l = 0; l < 4; ++l) {
            EXPECT_EQ(direct[l].mixer, changed[l].mixer) << name;
            EXPECT_EQ(direct[l].sigma, changed[l].sigma) << name;
            EXPECT_EQ(direct[l].exponent, changed[l].exponent) << name;
            EXPECT_EQ(direct[l].pre, changed[l].pre) << name;
            EXPECT_EQ(direct[l].post, changed[l].post) << name;
            EXPECT_EQ(direct[l].weights, changed[l].weights) << name;
            ASSERT_EQ(direct[l].neurons.has_value(), changed[l].neurons.has_value()) << name;
            if (direct[l].neurons) {
                EXPECT_EQ(direct[l].neurons->sigma_w, changed[l].neurons->sigma_w) << name;
            }
            ASSERT_EQ(direct[l].law == nullptr, changed[l].law == nullptr) << name;
            if (direct[l].law) {
                EXPECT_EQ(*direct[l].law, *changed[l].law) << name;
            }
        }
    }
}

TEST(Layer, OnlyActivationsWithValuesPropagate) {
    const Network plain = make_network(Mixer::Identity(2, 2), 3, 4, 0);
    for (const auto& [name, branch] : every_branch(2, 3, 0.3)) {
        const Network network = with_branch(plain, branch);
        const auto* activation = std::get_if<ActivationBranch>(&branch);
        if (activation && activation->activation.kind == ActivationKind::bernoulli) {
            expect_refused([&] { scaled_layers(network, Slopes::propagated); },
                           {"slopes are propagated", "bernoulli has no values", "use drawn"});
            continue;
        }
        const auto layers = scaled_layers(network, Slopes::propagated);
        // Other mixers keep what the slopes are.
        for (const auto& stack : {layers, with_mixers(layers, network.mixers)})
            for (const auto& layer : stack) EXPECT_EQ(layer.propagated(), activation != nullptr) << name;
        for (const auto& layer : scaled_layers(network)) EXPECT_FALSE(layer.propagated()) << name;
    }
}

TEST(Layer, OneLawIsHeldOnce) {
    Network network = make_network(Mixer::Identity(2, 2), 3, 4, 0);
    network.branch = IsotropicBranch{{}, {{0.5, 1.5}}};
    const auto layers = scaled_layers(network);
    EXPECT_EQ(layers[0].law, layers[1].law);
    EXPECT_EQ(layers[0].law, layers[2].law);
}

TEST(Layer, SpreadValuesAreQuantiles) {
    using Values = std::vector<double>;
    EXPECT_EQ(spread({3, 1, 2}, 3), (Values{1, 2, 3}));
    EXPECT_EQ(spread({3, 1, 2}, 6), (Values{1, 1, 2, 2, 3, 3}));
    EXPECT_EQ(spread({3, 1, 2}, 4), (Values{1, 2, 2, 3}));
    EXPECT_EQ(spread({3, 1, 2}, 5), (Values{1, 1, 2, 3, 3}));
    EXPECT_EQ(spread({3, 1, 2}, 1), (Values{2}));
    EXPECT_EQ(spread({5, 4, 3, 2, 1, 0}, 2), (Values{1, 4}));
    EXPECT_EQ(spread({7}, 3), (Values{7, 7, 7}));
}

TEST(Layer, NoOtherSpreadIsNearer) {
    // Wasserstein's distance of two equally weighted laws, by both quantile functions on their common grid.
    const auto distance = [](std::vector<double> a, std::vector<double> b) {
        std::sort(a.begin(), a.end());
        std::sort(b.begin(), b.end());
        double out = 0;
        const std::size_t grid = a.size() * b.size();
        for (std::size_t k = 0; k < grid; ++k) out += std::abs(a[k / b.size()] - b[k / a.size()]);
        return out / static_cast<double>(grid);
    };
    const std::vector<double> given = {0.1, 0.15, 0.7, 1.1, 1.2, 3};
    for (const int count : {1, 2, 3, 4, 5}) {
        const double best = distance(given, spread(given, count));
        // Every choice of `count` of the given values: a nearest law is among them.
        std::vector<std::size_t> chosen(static_cast<std::size_t>(count), 0);
        for (bool more = true; more;) {
            std::vector<double> other;
            for (const auto k : chosen) other.push_back(given[k]);
            EXPECT_GE(distance(given, other), best - 1e-14);
            more = false;
            for (auto& k : chosen) {
                if (++k < given.size()) {
                    more = true;
                    break;
                }
                k = 0;
            }
        }
    }
}

}  // namespace
