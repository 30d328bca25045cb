#include "montecarlo/sample/product.hpp"

#include "montecarlo/sample/sampler.hpp"
#include "random/stream.hpp"
#include "support/branches.hpp"
#include "support/epsilon.hpp"
#include "support/networks.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace {

using namespace spectra;
using namespace spectra::tests;
using Eigen::MatrixXd;
using montecarlo::Product;
using montecarlo::Sampler;
using montecarlo::scaled_layers;
using montecarlo::Slopes;

constexpr std::size_t all = std::numeric_limits<std::size_t>::max();

MatrixXd random_block(int rows, int columns, std::uint32_t sample) {
    MatrixXd out(rows, columns);
    random::Stream stream(1, random::Purpose::test, 0, sample);
    for (double& x : out.reshaped()) x = stream.normal();
    return out;
}

MatrixXd applied(Product& product, const MatrixXd& in) {
    MatrixXd out(in.rows(), in.cols());
    product.apply(in.data(), out.data(), static_cast<int>(in.cols()));
    return out;
}

MatrixXd applied_transpose(Product& product, const MatrixXd& in) {
    MatrixXd out(in.rows(), in.cols());
    product.apply_transpose(in.data(), out.data(), static_cast<int>(in.cols()));
    return out;
}

/// J of the sampler in the product's units.
MatrixXd sampled(const Network& network, std::uint64_t seed, std::uint32_t sample, long exponent) {
    Sampler sampler(network.streams, network.width);
    sampler.draw(scaled_layers(network), seed, sample);
    return sampler.matrix() * std::ldexp(1.0, static_cast<int>(sampler.exponent() - exponent));
}

Product product_of(const Network& network, std::size_t memory, int threads = 1) {
    return {scaled_layers(network), network.streams, network.width, 3, 2, memory, threads};
}

/// Error of a product of L layers, each rounded; ‖Y_L‖···‖Y_1‖ is above ‖J‖.
double rounding_bound(const Network& network) {
    double bound = 2 * epsilon * (network.size() + 10) * network.depth();
    for (int l = 0; l < network.depth(); ++l)
        bound *= (kronecker(network.mixers[static_cast<std::size_t>(l)], network.width) +
                  branch_reference(network, l, 3, 2))
                     .norm();
    return bound;
}

TEST(Product, IsTheSamplersJacobianForEveryBranch) {
    for (const auto& [streams, width] : {std::pair{1, 1}, {3, 1}, {2, 5}, {4, 9}, {5, 31}}) {
        for (const int depth : {1, 3}) {
            auto network = draw_network(mixers::Family::gaussian, streams, depth, width, 0);
            for (const auto& [name, branch] : every_branch(streams, depth, 0.5)) {
                network.branch = branch;
                auto product = product_of(network, all);
                const MatrixXd identity = MatrixXd::Identity(network.size(), network.size());
                const MatrixXd expected = sampled(network, 3, 2, product.exponent());
                const double bound =
                    rounding_bound(network) * std::ldexp(1.0, -static_cast<int>(product.exponent()));
                EXPECT_LE((applied(product, identity) - expected).norm(), bound)
                    << name << ", N = " << network.size();
                EXPECT_LE((applied_transpose(product, identity) - expected.transpose()).norm(), bound)
                    << name << ", N = " << network.size();
            }
        }
    }
}

TEST(Product, SpansSeveralPanels) {
    // Wider than a panel (128), and not a multiple of one; odd, so that columns begin inside a pair of
    // normals.
    for (const int size : {128, 129, 300, 387}) {
        const auto network = make_network(Mixer::Constant(1, 1, 0.8), 2, size, 0.3);
        for (const std::size_t memory : {all, std::size_t{0}}) {
            auto product = product_of(network, memory);
            const MatrixXd in = random_block(size, 3, 5);
            const MatrixXd expected = sampled(network, 3, 2, product.exponent());
            EXPECT_LE((applied(product, in) - expected * in).norm(), 1e-13 * in.norm()) << size;
            EXPECT_LE((applied_transpose(product, in) - expected.transpose() * in).norm(), 1e-13 * in.norm())
                << size;
        }
    }
}

TEST(Product, AddsUpMorePanelsThanGroups) {
    const int size = 18 * 128 + 7;
    const auto network = make_network(Mixer::Constant(1, 1, 0.8), 1, size, 0.3);
    MatrixXd layer(size, size);
    const auto layers = scaled_layers(network);
    Sampler(1, size).draw_layer(layers[0], 0, 3, 2, layer.data());
    auto product = product_of(network, 0, 2);
    layer *= std::ldexp(1.0, static_cast<int>(layers[0].exponent - product.exponent()));
    const MatrixXd in = random_block(size, 2, 5);
    EXPECT_LE((applied(product, in) - layer * in).norm(), 1e-13 * in.norm());
    EXPECT_LE((applied_transpose(product, in) - layer.transpose() * in).norm(), 1e-13 * in.norm());
}

TEST(Product, TransposeIsTheAdjoint) {
    auto network = draw_network(mixers::Family::bistochastic, 3, 4, 60, 0);
    for (const auto& [name, branch] : every_branch(3, 4, 0.5)) {
        network.branch = branch;
        auto product = product_of(network, 0);
        const MatrixXd x = random_block(180, 4, 1);
        const MatrixXd y = random_block(180, 4, 2);
        const MatrixXd forward = y.transpose() * applied(product, x);
        const MatrixXd backward = applied_transpose(product, y).transpose() * x;
        EXPECT_LE((forward - backward).norm(), 1e-13 * forward.norm()) << name;
    }
}

TEST(Product, NeitherMemoryNorThreadsChangeABit) {
    auto network = draw_network(mixers::Family::gaussian, 2, 2, 70, 0);
    for (const auto& [name, branch] : every_branch(2, 2, 0.5)) {
        network.branch = branch;
        const MatrixXd in = random_block(140, 5, 1);
        auto reference = product_of(network, all);
        EXPECT_EQ(reference.held(), reference.all()) << name;
        EXPECT_EQ(reference.all(), Product::bytes(scaled_layers(network), 2, 70)) << name;
        const MatrixXd forward = applied(reference, in);
        const MatrixXd backward = applied_transpose(reference, in);
        for (const auto& [memory, threads] :
             {std::pair{all, 2}, {reference.all() / 2, 1}, {std::size_t{0}, 1}, {std::size_t{0}, 3}}) {
            auto other = product_of(network, memory, threads);
            EXPECT_LE(other.held(), memory);
            EXPECT_EQ(other.exponent(), reference.exponent());
            for (int round = 0; round < 2; ++round) {
                EXPECT_EQ(applied(other, in), forward) << name << ", " << memory << ", " << threads;
                EXPECT_EQ(applied_transpose(other, in), backward)
                    << name << ", " << memory << ", " << threads;
            }
        }
    }
}

TEST(Product, RunsTheNetworkForwardWhereSlopesAreOfItsOwn) {
    auto network = draw_network(mixers::Family::bistochastic, 2, 3, 70, 0);
    for (const std::vector<double>& sigma2 : {std::vector{0.5, 0.8, 0.3}, std::vector{0.5, 0.0, 0.3}}) {
        network.branch = ActivationBranch{sigma2, {ActivationKind::tanh, 0}, {1, 1, 1}};
        const auto layers = scaled_layers(network, Slopes::propagated);
        Sampler sampler(2, 70);
        sampler.draw(layers, 3, 2);
        for (const std::size_t memory : {all, std::size_t{0}}) {
            Product product(layers, 2, 70, 3, 2, memory);
            const MatrixXd expected =
                sampler.matrix() * std::ldexp(1.0, static_cast<int>(sampler.exponent() - product.exponent()));
            EXPECT_LE((applied(product, MatrixXd::Identity(140, 140)) - expected).norm(),
                      1e-13 * expected.norm());
        }
    }
}

TEST(Product, TiedLayersAndNoiselessOnesAreHeldOnceOrNotAtAll) {
    auto network = draw_network(mixers::Family::bistochastic, 2, 4, 10, 0);
    network.branch = tied_branch(4, 0.3);
    EXPECT_EQ(product_of(network, all).held(), 400 * sizeof(double));
    network.branch = tied_branch(4, 0.3, reading(2, 0), writing(2, 0));
    EXPECT_EQ(product_of(network, all).held(), 100 * sizeof(double));
    network.branch = taking_turns(2, 4, 0.3, true);
    EXPECT_EQ(product_of(network, all).held(), 2 * 100 * sizeof(double));
    EXPECT_EQ(montecarlo::Product::bytes(montecarlo::scaled_layers(network), 2, 10),
              2 * 100 * sizeof(double));
    network.branch = hyper_connection(2, 4, 0.3);
    EXPECT_EQ(product_of(network, all).held(), 4 * 100 * sizeof(double));
    network.branch = IsotropicBranch{{0, 0.1, 0, 0.2}};
    EXPECT_EQ(product_of(network, all).held(), 2 * 400 * sizeof(double));
    EXPECT_EQ(product_of(network, 401 * sizeof(double)).held(), 400 * sizeof(double));
}

TEST(Product, DeepProductsKeepTheirExponent) {
    for (const double factor : {1e3, 1e-3}) {
        auto network = make_network(factor * Mixer::Identity(2, 2), 1000, 3, 0);
        for (const auto& [name, branch] : every_branch(2, 1000, 0.01 * factor * factor)) {
            network.branch = branch;
            auto product = product_of(network, all);
            const MatrixXd identity = MatrixXd::Identity(6, 6);
            const MatrixXd expected = sampled(network, 3, 2, product.exponent());
            EXPECT_GT(expected.norm(), 1e-3) << name;
            EXPECT_LT(expected.norm(), 1e3) << name;
            EXPECT_LE((applied(product, identity) - expected).norm(), 1e-9 * expected.norm()) << name;
            EXPECT_LE((applied_transpose(product, identity) - expected.transpose()).norm(),
                      1e-9 * expected.norm())
                << name;
        }
    }
}

}  // namespace
