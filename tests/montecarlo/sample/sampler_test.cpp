#include "montecarlo/sample/sampler.hpp"

#include "support/aligned_networks.hpp"
#include "support/branches.hpp"
#include "support/epsilon.hpp"
#include "support/networks.hpp"

#include <gtest/gtest.h>

#include <Eigen/SVD>

#include <cmath>
#include <vector>

namespace {

using namespace spectra;
using namespace spectra::tests;
using montecarlo::Sampler;
using montecarlo::scaled_layers;

Eigen::MatrixXd sampled(const Network& network, std::uint64_t seed, std::uint32_t sample) {
    Sampler sampler(network.streams, network.width);
    sampler.draw(scaled_layers(network), seed, sample);
    return sampler.matrix() * std::ldexp(1.0, static_cast<int>(sampler.exponent()));
}

/// X_l as the sampler draws it.
Eigen::MatrixXd drawn_branch(Network network, int layer, std::uint64_t seed, std::uint32_t sample) {
    for (auto& mixer : network.mixers) mixer.setZero();
    const auto layers = scaled_layers(network);
    const auto& drawn = layers[static_cast<std::size_t>(layer)];
    Sampler sampler(network.streams, network.width);
    Eigen::MatrixXd out(network.size(), network.size());
    sampler.draw_layer(drawn, static_cast<std::uint32_t>(layer), seed, sample, out.data());
    return out * std::ldexp(1.0, drawn.exponent);
}

Eigen::VectorXd singular_values(const Eigen::MatrixXd& matrix) {
    return Eigen::JacobiSVD<Eigen::MatrixXd>(matrix).singularValues();
}

TEST(Sampler, AgreesWithThePlainProduct) {
    for (const auto& [streams, width] : {std::pair{1, 1}, {1, 7}, {3, 1}, {2, 5}, {4, 9}, {5, 8}}) {
        for (const int depth : {1, 2, 5}) {
            auto network = draw_network(mixers::Family::gaussian, streams, depth, width, 0);
            for (const auto& [name, branch] : every_branch(streams, depth, 0.5)) {
                network.branch = branch;
                double bound = 2 * epsilon * (network.size() + 10) * depth;
                for (int l = 0; l < depth; ++l) {
                    bound *= (kronecker(network.mixers[static_cast<std::size_t>(l)], width) +
                              branch_reference(network, l, 3, 2))
                                 .norm();
                }
                EXPECT_LE((sampled(network, 3, 2) - jacobian_reference(network, 3, 2)).norm(), bound)
                    << name << ", " << streams << "×" << width << ", L = " << depth;
            }
        }
    }
}

TEST(Sampler, IsotropicLayersAreTheirStreamToTheLastBit) {
    auto network = draw_network(mixers::Family::gaussian, 3, 2, 4, 0.5);
    const auto layers = scaled_layers(network);
    Sampler sampler(3, 4);
    Eigen::MatrixXd drawn(12, 12);
    for (std::uint32_t l = 0; l < 2; ++l) {
        sampler.draw_layer(layers[l], l, 7, 5, drawn.data());
        random::Stream stream(7, random::Purpose::branch, l, 5);
        const double scale = layers[l].sigma / std::sqrt(12.0);
        for (int j = 0; j < 12; ++j) {
            for (int i = 0; i < 12; ++i) {
                const double noise = stream.normal() * scale;
                EXPECT_EQ(drawn(i, j), i % 4 == j % 4 ? noise + layers[l].mixer(i / 4, j / 4) : noise);
            }
        }
    }
}

TEST(Sampler, ActivationsScaleTheRowsOfAnIsotropicBranch) {
    auto network = make_network(Mixer::Zero(2, 2), 2, 30, 0.7);
    const Eigen::MatrixXd weights = drawn_branch(network, 1, 3, 4);
    for (const auto kind : {ActivationKind::linear, ActivationKind::relu, ActivationKind::leaky_relu,
                            ActivationKind::tanh, ActivationKind::hard_tanh, ActivationKind::erf,
                            ActivationKind::gelu, ActivationKind::silu, ActivationKind::bernoulli}) {
        network.branch = ActivationBranch{{0.7, 0.7}, {kind, 0.5}, {1.3, 1.3}};
        const Eigen::MatrixXd branch = drawn_branch(network, 1, 3, 4);
        int active = 0;
        for (int i = 0; i < 60; ++i) {
            const double slope = branch(i, 0) / weights(i, 0);
            EXPECT_LE((branch.row(i) - slope * weights.row(i)).norm(), 1e-14);
            active += slope > 0.5 ? 1 : 0;
            if (kind == ActivationKind::relu || kind == ActivationKind::bernoulli ||
                kind == ActivationKind::hard_tanh) {
                EXPECT_LT(std::min(std::abs(slope), std::abs(slope - 1)), 1e-14);
            }
        }
        if (kind == ActivationKind::linear) {
            EXPECT_EQ(active, 60);
        } else {
            EXPECT_GT(active, 10);
            EXPECT_LT(active, 55);
        }
    }
    // Neurons are drawn apart from the weights, and anew for every layer and sample.
    network.branch = ActivationBranch{{0.7, 0.7}, {ActivationKind::relu, 0.5}};
    const auto alive = [&](int layer, std::uint32_t sample) {
        return Eigen::VectorXi((drawn_branch(network, layer, 3, sample).col(0).array() != 0).cast<int>());
    };
    EXPECT_NE(alive(0, 4), alive(1, 4));
    EXPECT_NE(alive(0, 4), alive(0, 5));
}

TEST(Sampler, SlopesFollowTheirLaw) {
    // The mean of φ'² over 4000 neurons, read off the rows, within five standard errors.
    const double q = 1.7;
    const auto plain = make_network(Mixer::Zero(2, 2), 1, 50, 1);
    for (const auto kind : {ActivationKind::relu, ActivationKind::tanh, ActivationKind::gelu,
                            ActivationKind::hard_tanh, ActivationKind::bernoulli}) {
        auto network = plain;
        network.branch = ActivationBranch{{1}, {kind, 0.3}, {q}};
        Eigen::ArrayXd slope2(4000);
        for (std::uint32_t sample = 0; sample < 40; ++sample) {
            const Eigen::MatrixXd branch = drawn_branch(network, 0, 1, sample);
            const Eigen::MatrixXd weights = drawn_branch(plain, 0, 1, sample);
            slope2.segment(100 * sample, 100) = (branch.col(3).array() / weights.col(3).array()).square();
        }
        const double error = std::sqrt((slope2 - slope2.mean()).square().mean() / 4000);
        EXPECT_NEAR(slope2.mean(), mean_derivative2({kind, 0.3}, q), 5 * error) << name({kind, 0.3});
        EXPECT_LT(error, 0.01);
    }
}

TEST(Sampler, HyperConnectionsAreKroneckerProducts) {
    for (const bool tied : {false, true}) {
        for (const BranchLaw& law : {BranchLaw{}, BranchLaw{{0.5, 2}}}) {
            if (tied && !law.empty()) continue;
            auto network = make_network(Mixer::Zero(4, 4), 2, 12, 0);
            if (tied) {
                network.branch = tied_branch(2, 0.6, reading(4, 0), writing(4, 0));
            } else {
                network.branch = hyper_connection(4, 2, 0.6, law);
            }
            for (const int layer : {0, 1}) {
                const auto own = tied ? 0U : static_cast<std::size_t>(layer);
                const Eigen::MatrixXd x = drawn_branch(network, layer, 1, 0);
                const Eigen::VectorXd pre = reading(4, own);
                const Eigen::VectorXd post = writing(4, own);
                const Eigen::MatrixXd factor = x.topLeftCorner(12, 12) / (post[0] * pre[0]);
                for (int i = 0; i < 4; ++i)
                    for (int j = 0; j < 4; ++j)
                        EXPECT_LE((x.block(12 * i, 12 * j, 12, 12) - post[i] * pre[j] * factor).norm(),
                                  20 * epsilon * x.norm());
                // Of rank p, with the singular values |post||pre| s(F).
                const Eigen::VectorXd s = singular_values(x);
                EXPECT_GT(s[11], 1e-4 * s[0]);
                EXPECT_LT(s[12], 100 * epsilon * s[0]);
                const Eigen::VectorXd expected = post.norm() * pre.norm() * singular_values(factor);
                EXPECT_LE((s.head(12) - expected).norm(), 200 * epsilon * s[0]);
                if (!law.empty()) {
                    for (int k = 0; k < 12; ++k)
                        EXPECT_NEAR(singular_values(factor)[k], k < 6 ? 2 : 0.5, 100 * epsilon);
                }
            }
        }
    }
}

TEST(Sampler, AlignedBranchesKeepTheirTriplets) {
    for (const bool hyper : {true, false}) {
        Network network = tests::aligned_network(
            {.streams = 2, .width = 7, .depth = 3, .rank = 2, .hyper_connection = hyper, .derivative = true});
        auto& branch = std::get<AlignedBranch>(network.branch);
        branch.rest[1].assign(branch.rest[1].size(), 0.0);  // nothing to draw in the second layer
        branch.weights = {4, 7, 4};                          // the first and the last share their rest
        check(network);
        const Eigen::MatrixXd expected = jacobian_reference(network, 2, 6);
        EXPECT_LT((sampled(network, 2, 6) - expected).norm(), 1e-12 * expected.norm());
    }
}

TEST(Sampler, TiedLayersShareTheBranch) {
    for (const bool hyper : {false, true}) {
        auto network = make_network(Mixer::Zero(3, 3), 5, 4, 0);
        TiedBranch branch = tied_branch(5, 0.4);
        if (hyper) branch = tied_branch(5, 0.4, reading(3, 0), writing(3, 0));
        network.branch = branch;
        const Eigen::MatrixXd x = drawn_branch(network, 0, 2, 6);
        for (const int l : {1, 4}) EXPECT_EQ(drawn_branch(network, l, 2, 6), x);
        EXPECT_NE(drawn_branch(network, 0, 2, 7), x);
        // Whatever the mixers' sizes: J = Π(A_l ⊗ I + X).
        for (std::size_t l = 0; l < 5; ++l)
            network.mixers[l] = std::pow(10.0, 3 * (static_cast<double>(l) - 2)) * Mixer::Identity(3, 3);
        Eigen::MatrixXd expected = Eigen::MatrixXd::Identity(12, 12);
        for (const auto& mixer : network.mixers) expected = ((kronecker(mixer, 4) + x) * expected).eval();
        EXPECT_LE((sampled(network, 2, 6) - expected).norm(), 100 * epsilon * expected.norm());
    }
    // One layer has nothing to share it with.
    auto network = draw_network(mixers::Family::bistochastic, 3, 1, 4, 0.3);
    const Eigen::MatrixXd independent = sampled(network, 2, 6);
    network.branch = tied_branch(1, 0.3);
    EXPECT_EQ(sampled(network, 2, 6), independent);
}

TEST(Sampler, SetsOfWeightsTakeTurns) {
    for (const bool hyper : {false, true}) {
        auto network = draw_network(mixers::Family::gaussian, 3, 5, 4, 0);
        auto branch = taking_turns(3, 5, 0.4, hyper);
        network.branch = branch;
        const Eigen::MatrixXd expected = jacobian_reference(network, 2, 6);
        EXPECT_LE((sampled(network, 2, 6) - expected).norm(), 100 * epsilon * expected.norm());
        // Only which layers agree counts, not how the sets are called.
        const Eigen::MatrixXd drawn = sampled(network, 2, 6);
        branch.weights = {5, 0, 5, 0, 5};
        network.branch = branch;
        EXPECT_EQ(sampled(network, 2, 6), drawn);
        // One set is what it is without naming it, and a set for every layer is independent layers.
        branch.weights = {4, 4, 4, 4, 4};
        network.branch = branch;
        const Eigen::MatrixXd named = sampled(network, 2, 6);
        branch.weights = {};
        network.branch = branch;
        EXPECT_EQ(sampled(network, 2, 6), named);
        EXPECT_NE(named, drawn);
        branch.weights = {1, 2, 3, 4, 5};
        network.branch = branch;
        const Eigen::MatrixXd own = sampled(network, 2, 6);
        network.branch = IsotropicBranch{branch.sigma2};
        if (hyper) network.branch = HyperConnectionBranch{branch.sigma2, branch.pre, branch.post};
        EXPECT_EQ(sampled(network, 2, 6), own);
    }
}

TEST(Sampler, BranchesOfALawHaveItsSingularValues) {
    auto network = make_network(Mixer::Zero(2, 2), 2, 6, 0);
    const std::vector<double> first = {0.25, 0, 3, 1};
    const std::vector<double> second = {5, 0.5, 0.7};
    network.branch = IsotropicBranch{{}, {first, second}};
    const Eigen::VectorXd a = singular_values(drawn_branch(network, 0, 1, 0)).reverse();
    const Eigen::VectorXd b = singular_values(drawn_branch(network, 1, 1, 0)).reverse();
    const double expected_a[] = {0, 0, 0, 0.25, 0.25, 0.25, 1, 1, 1, 3, 3, 3};
    const double expected_b[] = {0.5, 0.5, 0.5, 0.5, 0.7, 0.7, 0.7, 0.7, 5, 5, 5, 5};
    for (int k = 0; k < 12; ++k) {
        EXPECT_NEAR(a[k], expected_a[k], 100 * epsilon);
        EXPECT_NEAR(b[k], expected_b[k], 100 * epsilon);
    }
    // With t = σ everywhere X is σ times an orthogonal matrix.
    network.branch = IsotropicBranch{{}, {{0.3}}};
    const Eigen::MatrixXd x = drawn_branch(network, 0, 1, 0);
    EXPECT_LE((x * x.transpose() - 0.09 * Eigen::MatrixXd::Identity(12, 12)).norm(), 100 * epsilon);
}

TEST(Sampler, OneHyperConnectionMovesTwoSingularValuesInN) {
    // A orthogonal, L = 1: A ⊗ I + (post preᵀ) ⊗ F leaves (n − 2)·p singular values at 1.
    const int n = 5;
    const int p = 20;
    for (const BranchLaw& law : {BranchLaw{}, BranchLaw{{0.3, 0.8}}}) {
        auto network = draw_network(mixers::Family::orthogonal, n, 1, p, 0);
        network.branch = hyper_connection(n, 1, 0.3, law);
        const Eigen::VectorXd s = singular_values(sampled(network, 1, 0));
        int ones = 0;
        for (const double value : s) ones += std::abs(value - 1) < 1e-10 ? 1 : 0;
        EXPECT_EQ(ones, (n - 2) * p);
    }
}

TEST(Sampler, NoiselessLayersAreTheMixersAlone) {
    auto network = draw_network(mixers::Family::gaussian, 3, 4, 5, 0.5);
    network.branch = IsotropicBranch{{0, 0.1, 0, 0.1}};
    Eigen::MatrixXd reference = layer_reference(network, 0, 1, 0);
    for (int l = 1; l < 4; ++l) reference = (layer_reference(network, l, 1, 0) * reference).eval();
    EXPECT_LE((sampled(network, 1, 0) - reference).norm(), 100 * epsilon * reference.norm());
    network.branch = IsotropicBranch{{0, 0, 0, 0}};
    Mixer product = network.mixers[3] * network.mixers[2] * network.mixers[1] * network.mixers[0];
    EXPECT_LE((sampled(network, 1, 0) - kronecker(product, 5)).norm(), 100 * epsilon * product.norm() * 5);
}

TEST(Sampler, SamplesAndSeedsDiffer) {
    auto network = make_network(Mixer::Zero(2, 2), 2, 4, 1.0);
    for (const auto& [name, branch] : every_branch(2, 2, 1)) {
        network.branch = branch;
        EXPECT_EQ(sampled(network, 1, 0), sampled(network, 1, 0)) << name;
        EXPECT_NE(sampled(network, 1, 0), sampled(network, 1, 1)) << name;
        EXPECT_NE(sampled(network, 1, 0), sampled(network, 2, 0)) << name;
    }
}

TEST(Sampler, ASampleDoesNotRememberTheOneBefore) {
    // One sampler through every branch and back: the numbers of a fresh one.
    auto network = draw_network(mixers::Family::bistochastic, 2, 3, 4, 0);
    Sampler used(2, 4);
    for (int round = 0; round < 2; ++round) {
        for (const auto& [name, branch] : every_branch(2, 3, 0.3)) {
            network.branch = branch;
            for (const std::uint32_t sample : {0U, 5U}) {
                used.draw(scaled_layers(network), 1, sample);
                EXPECT_EQ(Eigen::MatrixXd(used.matrix()) * std::ldexp(1.0, static_cast<int>(used.exponent())),
                          sampled(network, 1, sample))
                    << name;
            }
        }
    }
}

TEST(Sampler, DeepProductsKeepTheirExponent) {
    // Noiseless multiples of the identity: J = c^L exactly for powers of two.
    for (const double factor : {16.0, 1.0 / 16, 1.0}) {
        const auto network = make_network(factor * Mixer::Identity(2, 2), 1000, 3, 0);
        Sampler sampler(2, 3);
        sampler.draw(scaled_layers(network), 1, 0);
        int shift = 0;
        const double mantissa = std::frexp(sampler.matrix()(0, 0), &shift);
        EXPECT_EQ(mantissa, 0.5);
        EXPECT_EQ(shift + sampler.exponent(), 1 + 1000 * std::lround(std::log2(factor)));
    }
    // With noise, growing and shrinking by far more than double holds.
    for (const double factor : {1e3, 1e-3}) {
        auto network = make_network(factor * Mixer::Identity(2, 2), 1000, 3, 0);
        for (const auto& [name, branch] : every_branch(2, 1000, 0.01 * factor * factor)) {
            network.branch = branch;
            Sampler sampler(2, 3);
            sampler.draw(scaled_layers(network), 1, 0);
            EXPECT_TRUE(sampler.matrix().allFinite()) << name;
            EXPECT_GT(sampler.matrix().cwiseAbs().maxCoeff(), 1e-40) << name;
            EXPECT_NEAR(static_cast<double>(sampler.exponent()), 1000 * std::log2(factor), 300) << name;
        }
    }
}

}  // namespace
