// Skips where there is no GPU.

#include "linalg/graded.hpp"
#include "linalg/singular_values.hpp"
#include "montecarlo/cuda/backend.hpp"
#include "montecarlo/cuda/module.hpp"
#include "montecarlo/run/simulate.hpp"
#include "montecarlo/sample/sampler.hpp"
#include "support/aligned_networks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace {

using namespace spectra;
using montecarlo::cuda::Drawn;
using tests::AlignedCase;

constexpr std::uint64_t seed = 7;

std::unique_ptr<montecarlo::cuda::Backend> open(
    const Network& network, std::string& why_not,
    montecarlo::Precision precision = montecarlo::Precision::f64) {
    return montecarlo::cuda::open_backend(network.streams, network.width, precision, why_not);
}

/// With and without pre and post and derivative, at odd sizes; nothing left to draw in one layer, fewer triplets kept in
/// another, and the first and the last sharing their rest.
std::vector<Network> networks() {
    std::vector<Network> out;
    for (const bool hyper : {true, false})
        for (const bool derivative : {false, true})
            for (const auto& [streams, width, rank] : {std::array{1, 1, 1},
                                                       {1, 5, 0},
                                                       {2, 7, 2},
                                                       {3, 11, 3},
                                                       {4, 16, 16},
                                                       {4, 33, 5},
                                                       {2, 97, 8}}) {
                Network network = tests::aligned_network({.streams = streams,
                                                          .width = width,
                                                          .depth = 4,
                                                          .rank = rank,
                                                          .hyper_connection = hyper,
                                                          .derivative = derivative && streams * width > 2,
                                                          .seed = static_cast<unsigned>(width)});
                auto& branch = std::get<AlignedBranch>(network.branch);
                branch.rest[1].assign(branch.rest[1].size(), 0.0);
                if (rank > 1) {  // the smallest kept value of the third layer counts as part of its rest
                    Triplets& kept = branch.kept[2];
                    branch.rest[2].push_back(kept.values(rank - 1));
                    kept = {kept.values.head(rank - 1).eval(), kept.left.leftCols(rank - 1).eval(),
                            kept.right.leftCols(rank - 1).eval()};
                }
                if (branch.rest[0].size() == branch.rest[3].size()) branch.weights = {4, 7, 5, 4};
                check(network);
                out.push_back(std::move(network));
            }
    return out;
}

std::string words(const Network& network) {
    const auto& branch = std::get<AlignedBranch>(network.branch);
    return "n = " + std::to_string(network.streams) + ", p = " + std::to_string(network.width) +
           (branch.hyper_connection() ? ", pre and post" : "") +
           (branch.derivative.empty() ? "" : ", derivative");
}

TEST(CudaAligned, MatricesAreTheSamplers) {
    for (const Network& network : networks()) {
        std::string why_not;
        const auto backend = open(network, why_not);
        if (!backend) GTEST_SKIP() << why_not;
        const std::vector<std::vector<montecarlo::Layer>> layers = {montecarlo::scaled_layers(network)};
        const auto entries =
            static_cast<std::size_t>(network.size()) * static_cast<std::size_t>(network.size());
        std::vector<Drawn> drawn(3);
        std::vector<double> gpu(3 * entries);
        backend->draw_matrices(layers, seed, 11, drawn, gpu);
        montecarlo::Sampler sampler(network.streams, network.width);
        for (std::uint32_t s = 0; s < 3; ++s) {
            sampler.draw(layers[0], seed, 11 + s);
            EXPECT_EQ(drawn[s].exponent, sampler.exponent()) << words(network);
            const Eigen::Map<const Eigen::MatrixXd> found(gpu.data() + s * entries, network.size(),
                                                          network.size());
            // The orthogonal factor of a Gaussian moves with the Gaussian's condition.
            EXPECT_LE((found - sampler.matrix()).cwiseAbs().maxCoeff(),
                      1e-11 * sampler.matrix().cwiseAbs().maxCoeff())
                << words(network);
        }
    }
}

/// Plain and graded values, in double and in single precision.
TEST(CudaAligned, ValuesAreTheCpus) {
    for (const Network& network : networks()) {
        std::string why_not;
        const auto backend = open(network, why_not),
                   single = open(network, why_not, montecarlo::Precision::f32);
        if (!backend || !single) GTEST_SKIP() << why_not;
        const std::vector<std::vector<montecarlo::Layer>> layers = {montecarlo::scaled_layers(network)};
        const auto size = static_cast<std::size_t>(network.size());
        const std::vector<std::uint32_t> samples = {3, 4};
        std::vector<Drawn> drawn(2);
        std::vector<double> plain(2 * size), graded(2 * size), f32(2 * size), cpu(size);
        backend->draw(layers, seed, 3, drawn, plain);
        for (const auto& one : drawn) EXPECT_EQ(one.info, 0) << words(network);
        backend->draw_graded(layers, seed, samples, drawn, graded);
        for (const auto& one : drawn) EXPECT_EQ(one.info, 0) << words(network);
        single->draw(layers, seed, 3, drawn, f32);
        montecarlo::Sampler sampler(network.streams, network.width);
        linalg::SingularValues singular_values(network.size());
        for (std::size_t s = 0; s < 2; ++s) {
            sampler.draw(layers[0], seed, samples[s]);
            ASSERT_TRUE(singular_values.compute(sampler.matrix(), sampler.exponent(), cpu));
            for (std::size_t k = 0; k < size; ++k) {
                const double expected = std::exp(cpu[k] - cpu.back());
                EXPECT_NEAR(std::exp(plain[s * size + k] - cpu.back()), expected, 1e-11) << words(network);
                EXPECT_NEAR(std::exp(graded[s * size + k] - cpu.back()), expected, 1e-11) << words(network);
                EXPECT_NEAR(std::exp(f32[s * size + k] - cpu.back()), expected, 1e-3) << words(network);
            }
        }
    }
}

/// As a user draws them: the same law and mean square, with the same error.
TEST(CudaAligned, SimulationsAreTheCpus) {
    const Network network =
        tests::aligned_network({.streams = 4, .width = 16, .depth = 6, .derivative = true});
    montecarlo::Options options;
    options.samples = 40;
    options.keep = montecarlo::Keep::values;
    const auto cpu = montecarlo::simulate(network, options);
    options.device = montecarlo::Device::cuda;
    const auto gpu = montecarlo::simulate(network, options);
    if (gpu.device == "cpu") GTEST_SKIP() << gpu.note;
    EXPECT_NEAR(gpu.mean_square, cpu.mean_square, 1e-12 * cpu.mean_square);
    EXPECT_NEAR(gpu.mean_square_error, cpu.mean_square_error, 1e-9 * cpu.mean_square_error);
    ASSERT_EQ(gpu.log_values.size(), cpu.log_values.size());
    for (std::size_t k = 0; k < cpu.log_values.size(); ++k)
        EXPECT_NEAR(gpu.log_values[k], cpu.log_values[k], 1e-7);
}

}  // namespace
