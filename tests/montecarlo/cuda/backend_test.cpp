// Needs a GPU: built with SPECTRA_CUDA only, and skipped where no device is found.

#include "montecarlo/cuda/backend.hpp"

#include "montecarlo/branches.hpp"
#include "montecarlo/cuda/module.hpp"
#include "montecarlo/cuda/runtime.cuh"
#include "montecarlo/sampler.hpp"
#include "montecarlo/simulate.hpp"
#include "montecarlo/singular_values.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace {

using namespace spectra;
using montecarlo::cuda::Drawn;
using montecarlo::Precision;

std::unique_ptr<montecarlo::cuda::Backend> open(const Network& network,
                                                Precision precision = Precision::f64) {
    std::string why_not;
    return montecarlo::cuda::open_backend(network.streams, network.width, precision, why_not);
}

bool no_device() {
    std::string why_not;
    return montecarlo::cuda::open_backend(1, 1, Precision::f64, why_not) == nullptr;
}
#define SKIP_WITHOUT_DEVICE() \
    if (no_device()) GTEST_SKIP() << "no CUDA device"

constexpr std::uint64_t seed = 7;

Network network_of(int streams, int width, int depth, std::size_t branch, std::string& name) {
    mixers::Recipe recipe;
    recipe.family = branch % 2 == 0 ? mixers::Family::bistochastic : mixers::Family::cayley;
    Network network;
    network.streams = streams;
    network.width = width;
    network.mixers = mixers::draw_layers(recipe, streams, depth, false, 3);
    auto [title, drawn] = tests::every_branch(streams, depth, 0.1).at(branch);
    network.branch = drawn;
    name = title + ", n = " + std::to_string(streams) + ", p = " + std::to_string(width) +
           ", L = " + std::to_string(depth);
    return network;
}

struct OnBoth {
    std::vector<double> cpu, gpu;                    // ln s, sample by sample
    std::vector<double> cpu_matrices, gpu_matrices;  // of all samples
    std::vector<long> cpu_exponents;
    std::vector<Drawn> drawn;
};

OnBoth on_both(const Network& network, int samples, std::uint32_t first = 0) {
    const auto size = static_cast<std::size_t>(network.size());
    const auto count = static_cast<std::size_t>(samples);
    const std::vector<std::vector<montecarlo::Layer>> layers = {montecarlo::scaled_layers(network)};
    OnBoth out;
    out.cpu.resize(count * size);
    out.gpu.resize(count * size);
    out.gpu_matrices.resize(count * size * size);
    out.drawn.resize(count);
    const auto backend = open(network);
    backend->draw_matrices(layers, seed, first, out.drawn, out.gpu_matrices);
    backend->draw(layers, seed, first, out.drawn, out.gpu);
    montecarlo::Sampler sampler(network.streams, network.width);
    montecarlo::SingularValues singular_values(network.size());
    for (std::size_t s = 0; s < count; ++s) {
        sampler.draw(layers[0], seed, first + static_cast<std::uint32_t>(s));
        out.cpu_exponents.push_back(sampler.exponent());
        const auto matrix = sampler.matrix();
        out.cpu_matrices.insert(out.cpu_matrices.end(), matrix.data(), matrix.data() + matrix.size());
        EXPECT_TRUE(
            singular_values.compute(matrix, sampler.exponent(), std::span(out.cpu).subspan(s * size, size)));
    }
    return out;
}

/// Largest |s_gpu − s_cpu| of a sample relative to its largest value, and, among values above `share` of the
/// largest, relative to themselves.
struct Deviation {
    double of_largest = 0, of_itself = 0;
};
Deviation deviation(const OnBoth& both, std::size_t size, double share) {
    Deviation out;
    for (std::size_t k = 0; k < both.cpu.size(); ++k) {
        const double top = both.cpu[(k / size + 1) * size - 1];
        const double cpu = std::exp(both.cpu[k] - top), gpu = std::exp(both.gpu[k] - top);
        out.of_largest = std::max(out.of_largest, std::abs(cpu - gpu));
        if (cpu > share) out.of_itself = std::max(out.of_itself, std::abs(cpu - gpu) / cpu);
    }
    return out;
}

struct Case {
    int streams, width, depth;
    std::size_t branch;
};

/// Every branch at sizes around the borders between kernels, primes among them.
std::vector<Case> cases() {
    const int sizes[][2] = {{1, 1},   {2, 1},   {1, 3},  {4, 8},   {1, 31},  {3, 11},  {1, 37},
                            {4, 16},  {5, 13},  {1, 97}, {4, 25},  {1, 101}, {4, 28},  {1, 113},
                            {4, 39},  {1, 163}, {2, 88}, {1, 177}, {4, 45},  {1, 227}, {4, 64},
                            {1, 257}, {3, 97},  {4, 80}, {1, 331}, {4, 100}, {1, 449}, {4, 128}};
    std::vector<Case> out;
    std::size_t branch = 0;
    for (const auto& [streams, width] : sizes) {
        const int depth = 1 + static_cast<int>(branch) % 4;
        out.push_back({streams, width, depth, branch++ % 12});
        if (streams > 1) out.push_back({streams, width, 5, branch++ % 12});
    }
    // Every branch in a block and in a cluster.
    for (std::size_t b = 0; b < 12; ++b) out.push_back({4, b % 2 == 0 ? 10 : 70, 3, b});
    out.push_back({1, 521, 2, 0});
    out.push_back({4, 256, 2, 2});
    out.push_back({1, 1031, 2, 3});
    out.push_back({4, 512, 2, 8});
    out.push_back({1, 2039, 2, 0});
    return out;
}

TEST(Cuda, MatricesAreTheSamplers) {
    SKIP_WITHOUT_DEVICE();
    for (const auto& [streams, width, depth, branch] : cases()) {
        if (streams * width > 300) continue;
        std::string name;
        const auto network = network_of(streams, width, depth, branch, name);
        const auto both = on_both(network, 3);
        const auto entries =
            static_cast<std::size_t>(network.size()) * static_cast<std::size_t>(network.size());
        const bool law = name.find("law") != std::string::npos;
        for (std::size_t s = 0; s < 3; ++s) {
            EXPECT_EQ(both.drawn[s].exponent, both.cpu_exponents[s]) << name;
            double largest = 0, off = 0;
            for (std::size_t k = s * entries; k < (s + 1) * entries; ++k) {
                largest = std::max(largest, std::abs(both.cpu_matrices[k]));
                off = std::max(off, std::abs(both.cpu_matrices[k] - both.gpu_matrices[k]));
            }
            // The orthogonal factor of a Gaussian moves with the Gaussian's condition, which may be
            // thousands.
            EXPECT_LE(off, (law ? 1e-11 : 1e-14) * largest) << name;
        }
    }
}

TEST(Cuda, SingularValuesAreTheSame) {
    SKIP_WITHOUT_DEVICE();
    EXPECT_GE(cases().size(), 50U);
    Deviation worst;
    for (const auto& [streams, width, depth, branch] : cases()) {
        std::string name;
        const auto network = network_of(streams, width, depth, branch, name);
        const int samples = network.size() > 600 ? 1 : network.size() > 200 ? 2 : 5;
        const auto both = on_both(network, samples, 11);
        const auto size = static_cast<std::size_t>(network.size());
        for (const auto& drawn : both.drawn) EXPECT_EQ(drawn.info, 0) << name;
        for (std::size_t k = 0; k < both.gpu.size(); ++k)
            EXPECT_LE(both.gpu[k % size > 0 ? k - 1 : k], both.gpu[k]) << name;
        // Values of the plain product carry its rounding, relative to the largest: below 1e-4 of it they
        // are compared with the largest, above it with themselves.
        const auto off = deviation(both, size, 1e-4);
        EXPECT_LE(off.of_largest, 1e-13) << name;
        EXPECT_LE(off.of_itself, 1e-11) << name;
        worst.of_largest = std::max(worst.of_largest, off.of_largest);
        worst.of_itself = std::max(worst.of_itself, off.of_itself);
    }
    std::printf("largest deviation: %.2e of the largest value, %.2e of the value itself\n", worst.of_largest,
                worst.of_itself);
}

TEST(Cuda, NormIsThatOfTheValues) {
    SKIP_WITHOUT_DEVICE();
    std::string name;
    const auto network = network_of(4, 25, 10, 0, name);
    const auto both = on_both(network, 4);
    for (std::size_t s = 0; s < 4; ++s) {
        double sum = 0;
        for (std::size_t k = 0; k < 100; ++k)
            sum += std::exp(
                2 * (both.gpu[s * 100 + k] - static_cast<double>(both.drawn[s].exponent) * std::log(2.0)));
        EXPECT_NEAR(sum, both.drawn[s].norm2, 1e-13 * sum);
    }
}

/// The same bits from any split of the samples into calls, and from run to run.
TEST(Cuda, BatchesDoNotShow) {
    SKIP_WITHOUT_DEVICE();
    for (const int width : {1, 16, 25, 50, 100, 150}) {
        std::string name;
        const auto network = network_of(4, width, 6, 0, name);
        const auto size = static_cast<std::size_t>(network.size());
        const std::vector<std::vector<montecarlo::Layer>> layers = {montecarlo::scaled_layers(network)};
        const auto backend = open(network);
        std::vector<Drawn> drawn(37);
        std::vector<double> whole(37 * size), parts(37 * size);
        backend->draw(layers, seed, 0, drawn, whole);
        for (const auto& [begin, end] : {std::pair<std::size_t, std::size_t>{0, 1}, {1, 9}, {9, 37}}) {
            backend->draw(layers, seed, static_cast<std::uint32_t>(begin),
                          std::span(drawn).subspan(begin, end - begin),
                          std::span(parts).subspan(begin * size, (end - begin) * size));
        }
        EXPECT_EQ(whole, parts) << size;
    }
}

TEST(Cuda, RedrawnMixersAreEachSamplesOwn) {
    SKIP_WITHOUT_DEVICE();
    std::string name;
    for (const std::size_t branch : {0U, 7U}) {
        auto network = network_of(3, 9, 4, branch, name);
        const auto base = montecarlo::scaled_layers(network);
        mixers::Recipe recipe;
        recipe.family = mixers::Family::gaussian;
        std::vector<std::vector<montecarlo::Layer>> layers;
        for (std::uint32_t s = 0; s < 6; ++s)
            layers.push_back(
                montecarlo::with_mixers(base, mixers::draw_layers(recipe, 3, 4, false, seed, s + 1)));
        const auto backend = open(network);
        std::vector<Drawn> drawn(6);
        std::vector<double> gpu(6 * 27), cpu(27);
        backend->draw(layers, seed, 0, drawn, gpu);
        montecarlo::Sampler sampler(3, 9);
        montecarlo::SingularValues singular_values(27);
        for (std::uint32_t s = 0; s < 6; ++s) {
            sampler.draw(layers[s], seed, s);
            ASSERT_TRUE(singular_values.compute(sampler.matrix(), sampler.exponent(), cpu));
            for (std::size_t k = 0; k < 27; ++k)
                EXPECT_NEAR(std::exp(gpu[s * 27 + k] - cpu[26]), std::exp(cpu[k] - cpu[26]), 1e-13);
        }
    }
}

/// Deep products leave the range of double; zero mixers and no noise give zeros; NaN is told.
TEST(Cuda, ExtremesAreKept) {
    SKIP_WITHOUT_DEVICE();
    auto network = tests::make_network(Mixer(1e-30 * Mixer::Identity(2, 2)), 60, 10, 1e-62);
    auto both = on_both(network, 2);
    EXPECT_LT(both.gpu.front(), -1000);
    EXPECT_LE(deviation(both, 20, 1e-4).of_itself, 1e-10);

    network = tests::make_network(Mixer(Mixer::Zero(2, 2)), 3, 10, 0);
    both = on_both(network, 1);
    for (const double x : both.gpu) EXPECT_EQ(x, -std::numeric_limits<double>::infinity());

    // No noise: the mixers' product, each value p times.
    network = tests::draw_network(mixers::Family::cayley, 4, 5, 30, 0);
    both = on_both(network, 1);
    EXPECT_LE(deviation(both, 120, 1e-4).of_itself, 1e-12);

    network.mixers[1](0, 0) = std::numeric_limits<double>::quiet_NaN();
    std::vector<std::vector<montecarlo::Layer>> layers = {montecarlo::scaled_layers(network)};
    std::vector<Drawn> drawn(1);
    std::vector<double> values(120);
    open(network)->draw(layers, seed, 0, drawn, values);
    EXPECT_EQ(drawn[0].info, 1);
    EXPECT_TRUE(std::isnan(values[0]));
}

TEST(Cuda, SinglePrecisionIsClose) {
    SKIP_WITHOUT_DEVICE();
    for (const std::size_t branch : {0U, 1U, 3U, 7U, 10U}) {
        for (const int width : {7, 25, 90}) {
            std::string name;
            const auto network = network_of(4, width, 4, branch, name);
            auto both = on_both(network, 2);
            const std::vector<std::vector<montecarlo::Layer>> layers = {montecarlo::scaled_layers(network)};
            open(network, Precision::f32)->draw(layers, seed, 0, both.drawn, both.gpu);
            EXPECT_LE(deviation(both, static_cast<std::size_t>(network.size()), 1).of_largest, 2e-4) << name;
        }
    }
}

/// Memory taken by others after the batch was sized.
TEST(Cuda, BatchShrinksWhereMemoryRunsOut) {
    SKIP_WITHOUT_DEVICE();
    std::string name;
    const auto network = network_of(4, 100, 3, 1, name);
    const std::vector<std::vector<montecarlo::Layer>> layers = {montecarlo::scaled_layers(network)};
    std::vector<Drawn> drawn(80);
    std::vector<double> wide(80 * 400), narrow(80 * 400);
    open(network)->draw(layers, seed, 0, drawn, wide);
    const auto backend = open(network);
    ASSERT_GE(backend->batch(), 80);
    std::size_t free = 0, total = 0;
    montecarlo::cuda::check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    const montecarlo::cuda::Buffer<char> others(free - 200'000'000);
    backend->draw(layers, seed, 0, drawn, narrow);
    EXPECT_LT(backend->batch(), 80);
    EXPECT_EQ(wide, narrow);
}

TEST(Cuda, SimulationsAgree) {
    SKIP_WITHOUT_DEVICE();
    std::string name;
    const auto network = network_of(4, 20, 5, 0, name);
    for (const bool redrawn : {false, true}) {
        montecarlo::Options options;
        options.samples = 50;
        if (redrawn) options.redrawn.emplace().family = mixers::Family::gaussian;
        const auto cpu = montecarlo::simulate(network, options);
        options.device = montecarlo::Device::cuda;
        const auto gpu = montecarlo::simulate(network, options);
        EXPECT_EQ(gpu.device.rfind("cuda: ", 0), 0U) << gpu.device;
        EXPECT_EQ(gpu.samples, 50);
        EXPECT_NEAR(gpu.mean_square, cpu.mean_square, 1e-13 * cpu.mean_square);
        EXPECT_NEAR(gpu.mean_square_error, cpu.mean_square_error, 1e-11 * cpu.mean_square);
        EXPECT_NEAR(gpu.largest, cpu.largest, 1e-13 * cpu.largest);
        EXPECT_NEAR(gpu.law.log_floor(), cpu.law.log_floor(), 1e-12);
        options.keep = montecarlo::Keep::histogram;
        const auto counted = montecarlo::simulate(network, options);
        double all = counted.below + counted.above;
        for (const double count : counted.counts) all += count;
        EXPECT_EQ(all, 50 * 80);
        options.precision = montecarlo::Precision::f32;
        const auto f32 = montecarlo::simulate(network, options);
        EXPECT_EQ(f32.precision, "f32");
        EXPECT_NEAR(f32.mean_square, cpu.mean_square, 1e-5 * cpu.mean_square);
    }
}

}  // namespace
