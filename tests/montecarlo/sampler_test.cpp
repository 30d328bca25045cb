#include "montecarlo/sampler.hpp"

#include "support/networks.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace {

using namespace spectra;
using namespace spectra::tests;
using montecarlo::Sampler;
using montecarlo::scaled_layers;

constexpr double epsilon = std::numeric_limits<double>::epsilon();

Eigen::MatrixXd sampled(const Network& network, std::uint64_t seed, std::uint32_t sample) {
    Sampler sampler(network.streams, network.width);
    sampler.draw(scaled_layers(network.mixers, sigma2(network)), seed, sample);
    return sampler.matrix() * std::ldexp(1.0, static_cast<int>(sampler.exponent()));
}

TEST(Sampler, AgreesWithThePlainProduct) {
    for (const auto& [streams, width] : {std::pair{1, 1}, {1, 7}, {3, 1}, {2, 5}, {4, 9}, {5, 8}}) {
        for (const int depth : {1, 2, 5}) {
            const auto network = draw_network(mixers::Family::gaussian, streams, depth, width, 0.5);
            Eigen::MatrixXd reference = layer_reference(network, 0, 3, 2);
            for (int l = 1; l < depth; ++l)
                reference = (layer_reference(network, l, 3, 2) * reference).eval();
            double bound = epsilon * network.size() * depth;
            for (int l = 0; l < depth; ++l) bound *= layer_reference(network, l, 3, 2).norm();
            EXPECT_LE((sampled(network, 3, 2) - reference).cwiseAbs().maxCoeff(), bound)
                << streams << "×" << width << ", L = " << depth;
        }
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
    const auto network = make_network(Mixer::Zero(2, 2), 1, 4, 1.0);
    EXPECT_EQ(sampled(network, 1, 0), sampled(network, 1, 0));
    EXPECT_NE(sampled(network, 1, 0), sampled(network, 1, 1));
    EXPECT_NE(sampled(network, 1, 0), sampled(network, 2, 0));
}

TEST(Sampler, ASampleDoesNotRememberTheOneBefore) {
    const auto network = draw_network(mixers::Family::bistochastic, 2, 3, 4, 0.3);
    const auto layers = scaled_layers(network.mixers, sigma2(network));
    Sampler sampler(2, 4);
    sampler.draw(layers, 1, 0);
    sampler.draw(layers, 1, 5);
    EXPECT_EQ(Eigen::MatrixXd(sampler.matrix()) * std::ldexp(1.0, static_cast<int>(sampler.exponent())),
              sampled(network, 1, 5));
}

TEST(Sampler, LayersAreScaledByPowersOfTwo) {
    Mixer huge(2, 2);
    huge << 1e308, -3e307, 0, 1.7e308;
    Mixer tiny(2, 2);
    tiny << 1e-300, 2e-305, 0, -1e-301;
    const auto layers = scaled_layers({huge, tiny, Mixer::Zero(2, 2), Mixer::Zero(2, 2)}, {1, 0, 9, 0});
    EXPECT_EQ(layers[0].mixer * std::ldexp(1.0, layers[0].exponent - 1) * 2, huge);
    EXPECT_EQ(layers[1].mixer * std::ldexp(1.0, layers[1].exponent), tiny);
    EXPECT_EQ(std::ldexp(layers[2].sigma, layers[2].exponent), 3);
    EXPECT_EQ(layers[3].exponent, 0);
    for (std::size_t l = 0; l < 3; ++l) {
        const double largest = std::max(layers[l].mixer.cwiseAbs().maxCoeff(), layers[l].sigma);
        EXPECT_GE(largest, 0.5);
        EXPECT_LT(largest, 1);
    }
}

TEST(Sampler, DeepProductsKeepTheirExponent) {
    // Noiseless multiples of the identity: J = c^L exactly for powers of two.
    for (const double factor : {16.0, 1.0 / 16, 1.0}) {
        const auto network = make_network(factor * Mixer::Identity(2, 2), 1000, 3, 0);
        Sampler sampler(2, 3);
        sampler.draw(scaled_layers(network.mixers, sigma2(network)), 1, 0);
        int shift = 0;
        const double mantissa = std::frexp(sampler.matrix()(0, 0), &shift);
        EXPECT_EQ(mantissa, 0.5);
        EXPECT_EQ(shift + sampler.exponent(), 1 + 1000 * std::lround(std::log2(factor)));
    }
    // With noise, growing and shrinking by far more than double holds.
    for (const double factor : {1e3, 1e-3}) {
        const auto network = make_network(factor * Mixer::Identity(2, 2), 1000, 3, 0.01 * factor * factor);
        Sampler sampler(2, 3);
        sampler.draw(scaled_layers(network.mixers, sigma2(network)), 1, 0);
        EXPECT_TRUE(sampler.matrix().allFinite());
        EXPECT_GT(sampler.matrix().cwiseAbs().maxCoeff(), 1e-40);
        EXPECT_NEAR(static_cast<double>(sampler.exponent()), 1000 * std::log2(factor), 200);
    }
}

}  // namespace
