// Needs a GPU: built with SPECTRA_CUDA only, and registered only where one is found.

#include "montecarlo/cuda/backend.hpp"

#include "base/special_values.hpp"
#include "linalg/blas.hpp"
#include "linalg/graded.hpp"
#include "linalg/singular_values.hpp"
#include "montecarlo/cuda/module.hpp"
#include "montecarlo/cuda/runtime.cuh"
#include "montecarlo/run/simulate.hpp"
#include "montecarlo/sample/sampler.hpp"
#include "support/branches.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <numbers>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace spectra;
using montecarlo::Precision;
using montecarlo::cuda::Drawn;

std::unique_ptr<montecarlo::cuda::Backend> open(const Network& network,
                                                Precision precision = Precision::f64) {
    std::string why_not;
    auto backend = montecarlo::cuda::open_backend(network.streams, network.width, precision, why_not);
    if (!backend) throw std::runtime_error("no CUDA device: " + why_not);  // fails the test
    return backend;
}

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

OnBoth on_both(const Network& network, int samples, std::uint32_t first = 0,
               montecarlo::Slopes slopes = montecarlo::Slopes::drawn) {
    const auto size = static_cast<std::size_t>(network.size());
    const auto count = static_cast<std::size_t>(samples);
    const std::vector<std::vector<montecarlo::Layer>> layers = {montecarlo::scaled_layers(network, slopes)};
    OnBoth out;
    out.cpu.resize(count * size);
    out.gpu.resize(count * size);
    out.gpu_matrices.resize(count * size * size);
    out.drawn.resize(count);
    const auto backend = open(network);
    backend->draw_matrices(layers, seed, first, out.drawn, out.gpu_matrices);
    backend->draw(layers, seed, first, out.drawn, out.gpu);
    montecarlo::Sampler sampler(network.streams, network.width);
    linalg::SingularValues singular_values(network.size());
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
    const int sizes[][2] = {{1, 1},   {2, 1},   {1, 3},   {4, 8},   {1, 31},  {3, 11},  {1, 37},
                            {4, 16},  {5, 13},  {1, 97},  {4, 25},  {1, 101}, {4, 28},  {1, 113},
                            {4, 39},  {1, 163}, {2, 88},  {1, 177}, {4, 45},  {1, 227}, {4, 64},
                            {1, 257}, {3, 97},  {4, 80},  {1, 331}, {1, 383}, {4, 96},  {5, 77},
                            {4, 100}, {1, 415}, {1, 449}, {4, 128}, {3, 181}};
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

/// The network run forward, growing and shrinking beyond the range of double, past layers without noise.
TEST(Cuda, PropagatedSlopesAreTheSamplers) {
    using Kind = ActivationKind;
    for (const Kind kind : {Kind::linear, Kind::relu, Kind::leaky_relu, Kind::tanh, Kind::hard_tanh,
                            Kind::erf, Kind::gelu, Kind::silu}) {
        for (const auto& [streams, width] : {std::pair{1, 1}, {1, 7}, {3, 11}, {4, 64}, {3, 97}}) {
            for (const double factor : {1.0, 1e-60, 1e60}) {
                auto network = tests::draw_network(mixers::Family::bistochastic, streams, 8, width, 0);
                for (auto& mixer : network.mixers) mixer *= factor;
                std::vector<double> sigma_w2(8, 0.8 * factor * factor);
                sigma_w2[2] = sigma_w2[5] = 0;
                network.branch = ActivationBranch{sigma_w2, {kind}, std::vector<double>(8, 1.0)};
                const auto both = on_both(network, 3, 4, montecarlo::Slopes::propagated);
                const auto entries = both.cpu_matrices.size() / 3;
                for (std::size_t s = 0; s < 3; ++s) {
                    EXPECT_EQ(both.drawn[s].exponent, both.cpu_exponents[s]) << name({kind});
                    double largest = 0, off = 0;
                    for (std::size_t k = s * entries; k < (s + 1) * entries; ++k) {
                        largest = std::max(largest, std::abs(both.cpu_matrices[k]));
                        off = std::max(off, std::abs(both.cpu_matrices[k] - both.gpu_matrices[k]));
                    }
                    // Roundings of h move slopes, and those of later layers with them.
                    EXPECT_LE(off, 1e-12 * largest) << name({kind}) << ", N = " << network.size();
                }
            }
        }
    }
}

TEST(Cuda, SingularValuesAreTheSame) {
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
    for (const int width : {1, 16, 25, 50, 95, 96, 100, 150}) {
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
    std::string name;
    // 4: tanh, run forward with mixers whose sizes, and exponents, differ from sample to sample.
    for (const auto& [branch, slopes] : {std::pair{0U, montecarlo::Slopes::drawn},
                                         {7U, montecarlo::Slopes::drawn},
                                         {4U, montecarlo::Slopes::propagated}}) {
        auto network = network_of(3, 9, 4, branch, name);
        const auto base = montecarlo::scaled_layers(network, slopes);
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
        linalg::SingularValues singular_values(27);
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
    for (const std::size_t branch : {0U, 1U, 3U, 7U, 10U}) {
        for (const int width : {7, 25, 90, 105, 130}) {
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

using Stacks = std::vector<std::vector<montecarlo::Layer>>;

/// ln s by the CPU's linalg::GradedProduct.
std::vector<double> graded_on_cpu(const Network& network, const std::vector<montecarlo::Layer>& layers,
                                  std::uint32_t sample) {
    montecarlo::Sampler sampler(network.streams, network.width);
    linalg::GradedProduct product(network.size());
    Eigen::MatrixXd layer(network.size(), network.size());
    for (std::uint32_t l = 0; l < layers.size(); ++l) {
        sampler.draw_layer(layers[l], l, seed, sample, layer.data());
        EXPECT_TRUE(product.multiply(layer.data(), layers[l].exponent));
    }
    std::vector<double> out(static_cast<std::size_t>(network.size()));
    EXPECT_TRUE(product.log_values(out));
    EXPECT_LE(product.relative_error(), 1e-3);
    return out;
}

struct Graded {
    std::vector<double> log_values;
    std::vector<Drawn> drawn;
};

Graded graded(const Network& network, const Stacks& layers, const std::vector<std::uint32_t>& samples) {
    Graded out;
    out.log_values.resize(samples.size() * static_cast<std::size_t>(network.size()));
    out.drawn.resize(samples.size());
    open(network)->draw_graded(layers, seed, samples, out.drawn, out.log_values);
    return out;
}

/// The largest difference of ln s, samples not computed aside: those fail.
double graded_difference(const Network& network, const Stacks& layers,
                         const std::vector<std::uint32_t>& samples) {
    const auto gpu = graded(network, layers, samples);
    const auto size = static_cast<std::size_t>(network.size());
    double out = 0;
    for (std::size_t s = 0; s < samples.size(); ++s) {
        EXPECT_EQ(gpu.drawn[s].info, 0) << "sample " << samples[s];
        const auto cpu = graded_on_cpu(network, layers[layers.size() > 1 ? s : 0], samples[s]);
        for (std::size_t k = 0; k < size; ++k) {
            const double x = gpu.log_values[s * size + k];
            const double difference = x == cpu[k] ? 0 : std::abs(x - cpu[k]);
            out = difference <= out ? out : difference;  // NaN is large
        }
    }
    return out;
}

TEST(CudaGraded, ValuesAreTheCpus) {
    using mixers::Family;
    const linalg::SingleThreadedBlas single_threaded;
    for (const auto family : {Family::bistochastic, Family::gaussian, Family::grassmann}) {
        for (const auto& [streams, width] : {std::pair{4, 4}, {37, 1}, {4, 25}}) {
            for (const int depth : {10, 30, 100}) {
                const auto network = tests::draw_network(family, streams, depth, width, 0.05);
                const double off =
                    graded_difference(network, {montecarlo::scaled_layers(network)}, {0, 1, 17});
                std::printf("graded: %s, N = %d, L = %d: %.1e\n", std::string(mixers::name(family)).c_str(),
                            network.size(), depth, off);
                EXPECT_LE(off, 1e-9) << mixers::name(family) << ", N = " << network.size()
                                     << ", L = " << depth;
            }
        }
    }
}

TEST(CudaGraded, EveryBranchAndSize) {
    const linalg::SingleThreadedBlas single_threaded;
    const int sizes[][2] = {{1, 1},  {2, 1},  {1, 3},  {1, 31}, {4, 8},   {3, 11},  {4, 16},
                            {5, 13}, {4, 32}, {3, 43}, {4, 64}, {1, 257}, {4, 128}, {3, 171}};
    std::size_t branch = 0;
    for (const auto& [streams, width] : sizes) {
        std::string name;
        const auto network = network_of(streams, width, 8, branch++ % 12, name);
        EXPECT_LE(graded_difference(network, {montecarlo::scaled_layers(network)}, {3}), 1e-9) << name;
    }
    for (branch = 0; branch < 12; ++branch) {
        std::string name;
        const auto network = network_of(3, 7, 20, branch, name);
        EXPECT_LE(graded_difference(network, {montecarlo::scaled_layers(network)}, {9, 10, 4}), 1e-9) << name;
    }
}

TEST(CudaGraded, PropagatedSlopesAndRedrawnMixers) {
    std::string name;
    const auto network = network_of(3, 9, 12, 4, name);
    const auto base = montecarlo::scaled_layers(network, montecarlo::Slopes::propagated);
    mixers::Recipe recipe;
    recipe.family = mixers::Family::gaussian;
    const std::vector<std::uint32_t> samples = {8, 2, 3, 4, 0, 9, 1};
    Stacks layers;
    for (const std::uint32_t sample : samples)
        layers.push_back(
            montecarlo::with_mixers(base, mixers::draw_layers(recipe, 3, 12, false, seed, sample + 1)));
    // Roundings of h move slopes.
    EXPECT_LE(graded_difference(network, layers, samples), 1e-8);
}

/// The same bits from any list of samples.
TEST(CudaGraded, BatchesDoNotShow) {
    for (const int width : {1, 9, 25, 70}) {
        std::string name;
        const auto network = network_of(4, width, 12, 0, name);
        const auto size = static_cast<std::size_t>(network.size());
        const Stacks layers = {montecarlo::scaled_layers(network)};
        std::vector<std::uint32_t> samples(23);
        for (std::size_t s = 0; s < 23; ++s) samples[s] = static_cast<std::uint32_t>(s);
        const auto whole = graded(network, layers, samples);
        EXPECT_EQ(graded(network, layers, samples).log_values, whole.log_values) << size;
        const std::vector<std::uint32_t> some = {22, 7, 8, 9, 0, 15};
        const auto parts = graded(network, layers, some);
        for (std::size_t s = 0; s < some.size(); ++s) {
            EXPECT_EQ(parts.drawn[s].norm2, whole.drawn[some[s]].norm2);
            for (std::size_t k = 0; k < size; ++k)
                EXPECT_EQ(parts.log_values[s * size + k], whole.log_values[some[s] * size + k]) << size;
        }
    }
}

/// Above the floor, and in its norm, the plain product says the same.
TEST(CudaGraded, NormIsThePlainOne) {
    std::string name;
    const auto network = network_of(4, 25, 6, 0, name);
    const Stacks layers = {montecarlo::scaled_layers(network)};
    std::vector<Drawn> drawn(3);
    std::vector<double> plain(300);
    open(network)->draw(layers, seed, 5, drawn, plain);
    const auto out = graded(network, layers, {5, 6, 7});
    for (std::size_t s = 0; s < 3; ++s) {
        const auto& [norm2, exponent, info] = out.drawn[s];
        EXPECT_NEAR(std::ldexp(norm2, static_cast<int>(2 * (exponent - drawn[s].exponent))), drawn[s].norm2,
                    1e-12 * drawn[s].norm2);
        EXPECT_NEAR(out.log_values[s * 100 + 99], plain[s * 100 + 99], 1e-13);
    }
}

/// Layers Q_l diag(values_l) Q_{l−1}ᵀ as mixers of width 1, all Q uniform: the product's singular values are
/// Π_l values_l[k].
Network network_of_values(const std::vector<Eigen::VectorXd>& values) {
    random::Stream stream(1, random::Purpose::test);
    const auto size = static_cast<int>(values.front().size());
    Eigen::MatrixXd before = tests::haar_reference<double>(size, stream);
    std::vector<Mixer> mixers;
    for (const auto& of_layer : values) {
        const Eigen::MatrixXd q = tests::haar_reference<double>(size, stream);
        mixers.emplace_back(q * of_layer.asDiagonal() * before.transpose());
        before = q;
    }
    return tests::make_network(mixers, 1, std::vector<double>(values.size(), 0.0));
}

Graded graded(const std::vector<Eigen::VectorXd>& values) {
    const auto network = network_of_values(values);
    return graded(network, {montecarlo::scaled_layers(network)}, {0});
}

double off_products(const std::vector<double>& log_values, const std::vector<Eigen::VectorXd>& values) {
    Eigen::ArrayXd sum = Eigen::ArrayXd::Zero(values.front().size());
    for (const auto& of_layer : values) sum += of_layer.array().log();
    std::sort(sum.begin(), sum.end());
    double out = 0;
    for (std::size_t k = 0; k < log_values.size(); ++k) {
        const double expected = sum[static_cast<Eigen::Index>(k)];
        const double difference = log_values[k] == expected ? 0 : std::abs(log_values[k] - expected);
        out = difference <= out ? out : difference;
    }
    return out;
}

TEST(CudaGraded, KnownValuesFarBeyondTheRangeOfDouble) {
    for (const int size : {2, 7, 40, 70}) {
        const Eigen::VectorXd ramp = Eigen::ArrayXd::LinSpaced(size, 0, -4 * std::numbers::ln10).exp();
        const std::vector<Eigen::VectorXd> values(100, ramp);
        const auto out = graded(values);
        EXPECT_EQ(out.drawn[0].info, 0);
        EXPECT_LT(out.log_values[0], -920);
        EXPECT_LE(off_products(out.log_values, values), 1e-10) << size;
    }
}

TEST(CudaGraded, KnowsWhatTheLayersDoNotDetermine) {
    for (const int size : {2, 30}) {
        const Eigen::VectorXd ramp = Eigen::ArrayXd::LinSpaced(size, 0, -2 * std::numbers::ln10).exp();
        std::vector<Eigen::VectorXd> values(20, ramp);
        std::fill_n(values.begin() + 10, 10, ramp.reverse());
        EXPECT_EQ(graded(values).drawn[0].info, 2);
        values.erase(values.begin() + 3, values.begin() + 17);
        const auto out = graded(values);
        EXPECT_EQ(out.drawn[0].info, 0);
        EXPECT_LE(off_products(out.log_values, values), 1e-8);
    }
}

TEST(CudaGraded, SingularLayersLeaveExactZeros) {
    const int size = 12;
    const Eigen::VectorXd ramp = Eigen::ArrayXd::LinSpaced(size, 0, -3).exp();
    for (const int cut : {1, 4, 11, 12}) {
        std::vector<Eigen::VectorXd> values(130, ramp);
        for (int k = 0; k < cut; ++k) values[static_cast<std::size_t>(10 * k + 5)][size - 1 - k] = 0;
        const auto out = graded(values);
        EXPECT_EQ(out.drawn[0].info, 0);
        EXPECT_EQ(std::count(out.log_values.begin(), out.log_values.end(), -infinity), cut);
        EXPECT_LE(off_products(out.log_values, values), 1e-11) << cut;
    }
    // Of the largest, layers in double precision leave 1e-16, here far more than all the others.
    std::vector<Eigen::VectorXd> values(60, ramp);
    values[50][0] = 0;
    EXPECT_EQ(graded(values).drawn[0].info, 2);
    // Projectors of rank 2 of 4 streams leave half of all values.
    const auto network = tests::draw_network(mixers::Family::grassmann, 4, 12, 5, 0);
    const auto out = graded(network, {montecarlo::scaled_layers(network)}, {0});
    EXPECT_EQ(std::count(out.log_values.begin(), out.log_values.end(), -infinity), 10);
    EXPECT_LE(graded_difference(network, {montecarlo::scaled_layers(network)}, {0}), 1e-10);
}

TEST(CudaGraded, ExtremesAreKept) {
    auto network = tests::make_network(Mixer(1e-30 * Mixer::Identity(2, 2)), 60, 10, 1e-62);
    EXPECT_LE(graded_difference(network, {montecarlo::scaled_layers(network)}, {0, 1}), 1e-10);
    network = tests::make_network(Mixer(Mixer::Zero(2, 2)), 3, 10, 0);
    EXPECT_EQ(graded(network, {montecarlo::scaled_layers(network)}, {0}).log_values,
              std::vector<double>(20, -infinity));
    // One sample of several is broken: the others are not.
    network = tests::draw_network(mixers::Family::cayley, 4, 5, 10, 0.05);
    Stacks layers(3, montecarlo::scaled_layers(network));
    layers[1][2].mixer(0, 0) = std::numeric_limits<double>::quiet_NaN();
    const auto out = graded(network, layers, {0, 1, 2});
    EXPECT_EQ(out.drawn[0].info, 0);
    EXPECT_EQ(out.drawn[1].info, 1);
    EXPECT_EQ(out.drawn[2].info, 0);
    EXPECT_TRUE(std::isnan(out.log_values[40]));
    const auto whole = graded(network, {montecarlo::scaled_layers(network)}, {0, 1, 2}).log_values;
    for (const std::size_t k : {0U, 39U, 80U, 119U}) EXPECT_EQ(out.log_values[k], whole[k]);
}

TEST(CudaGraded, BatchShrinksWhereMemoryRunsOut) {
    std::string name;
    const auto network = network_of(4, 50, 3, 0, name);
    const Stacks layers = {montecarlo::scaled_layers(network)};
    std::vector<std::uint32_t> samples;
    for (std::uint32_t s = 0; s < 100; ++s) samples.push_back(s + s / 30);
    const auto wide = graded(network, layers, samples);
    const auto backend = open(network);
    std::vector<Drawn> drawn(100);
    std::vector<double> narrow(100 * 200);
    std::size_t free = 0, total = 0;
    montecarlo::cuda::check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    const montecarlo::cuda::Buffer<char> others(free - 100'000'000);
    backend->draw_graded(layers, seed, samples, drawn, narrow);
    EXPECT_EQ(wide.log_values, narrow);
}

TEST(CudaGraded, RefusesSinglePrecisionAndLargeSizes) {
    for (const auto& [width, precision] : {std::pair{5, Precision::f32}, {257, Precision::f64}}) {
        const auto network = tests::draw_network(mixers::Family::bistochastic, 4, 3, width, 0.05);
        const Stacks layers = {montecarlo::scaled_layers(network)};
        std::vector<Drawn> drawn(1);
        std::vector<double> values(static_cast<std::size_t>(network.size()));
        open(network, precision)->draw_graded(layers, seed, std::vector<std::uint32_t>{0}, drawn, values);
        EXPECT_EQ(drawn[0].info, -1);
    }
}

TEST(Cuda, SimulationsAgree) {
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
        EXPECT_EQ(gpu.law.log_floor(), cpu.law.log_floor());  // −∞: nothing is lost
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
