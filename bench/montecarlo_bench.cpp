// Where the time of a sample goes (drawing, multiplying, singular values; one thread), and the
// default job.

#include "linalg/blas.hpp"
#include "linalg/graded.hpp"
#include "montecarlo/sample/sampler.hpp"
#include "montecarlo/run/simulate.hpp"
#include "linalg/singular_values.hpp"

#include <benchmark/benchmark.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

namespace {

using namespace spectra;

constexpr int streams = 4;
constexpr int depth = 10;

Network network_of_size(int size) {
    mixers::Recipe recipe;
    recipe.family = mixers::Family::bistochastic;
    Network network;
    network.streams = streams;
    network.width = size / streams;
    network.mixers = mixers::draw_layers(recipe, streams, depth, false, 1);
    network.branch = IsotropicBranch{std::vector<double>(depth, 0.05 / depth)};
    return network;
}

/// One sample of ten layers; the counters share its time between its three parts.
void sample(benchmark::State& state) {
    using clock = std::chrono::steady_clock;
    const auto network = network_of_size(static_cast<int>(state.range(0)));
    const auto layers = montecarlo::scaled_layers(network);
    const linalg::SingleThreadedBlas single_threaded;
    montecarlo::Sampler sampler(network.streams, network.width);
    linalg::SingularValues singular_values(network.size());
    std::vector<double> values(static_cast<std::size_t>(network.size()));
    linalg::AlignedDoubles drawn(values.size() * values.size());
    double all = 0;
    double drawing = 0;
    double solving = 0;
    std::uint32_t number = 0;
    const auto seconds = [](clock::time_point from) {
        return std::chrono::duration<double>(clock::now() - from).count();
    };
    for (auto _ : state) {
        auto begin = clock::now();
        sampler.draw(layers, 1, number);
        all += seconds(begin);
        begin = clock::now();
        benchmark::DoNotOptimize(singular_values.compute(sampler.matrix(), sampler.exponent(), values));
        solving += seconds(begin);
        // The drawing alone, once more and outside the time reported.
        state.PauseTiming();
        begin = clock::now();
        for (std::uint32_t l = 0; l < depth; ++l) {
            sampler.draw_layer(layers[l], l, 1, number, drawn.data());
        }
        drawing += seconds(begin);
        ++number;
        state.ResumeTiming();
    }
    const double total = all + solving;
    state.counters["draw_%"] = 100 * drawing / total;
    state.counters["multiply_%"] = 100 * (all - drawing) / total;
    state.counters["svd_%"] = 100 * solving / total;
}
BENCHMARK(sample)->Arg(100)->Arg(256)->Arg(400)->Unit(benchmark::kMillisecond);

/// The same sample from graded factors, every value to nearly full relative accuracy.
void graded_sample(benchmark::State& state) {
    const auto network = network_of_size(static_cast<int>(state.range(0)));
    const auto layers = montecarlo::scaled_layers(network);
    const linalg::SingleThreadedBlas single_threaded;
    montecarlo::Sampler sampler(network.streams, network.width);
    linalg::GradedProduct product(network.size());
    std::vector<double> values(static_cast<std::size_t>(network.size()));
    linalg::AlignedDoubles layer(values.size() * values.size());
    std::uint32_t number = 0;
    for (auto _ : state) {
        product.start();
        for (std::uint32_t l = 0; l < depth; ++l) {
            sampler.draw_layer(layers[l], l, 1, number, layer.data());
            product.multiply(layer.data(), layers[l].exponent);
        }
        benchmark::DoNotOptimize(product.log_values(values));
        ++number;
    }
}
BENCHMARK(graded_sample)->Arg(100)->Arg(256)->Arg(400)->Unit(benchmark::kMillisecond);

constexpr std::size_t drawn_at_once = 100'000;

/// Normal numbers as streams draw them.
void normals(benchmark::State& state) {
    std::vector<double> out(drawn_at_once);
    std::uint32_t number = 0;
    for (auto _ : state) {
        random::Stream(1, random::Purpose::test, 0, number++).fill_normal(out);
        benchmark::DoNotOptimize(out.data());
    }
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(drawn_at_once));
}
BENCHMARK(normals)->Unit(benchmark::kMicrosecond);

/// The same by the C library's logarithm, sine and cosine, in loops of 64 pairs.
void normals_by_libm(benchmark::State& state) {
    constexpr std::size_t batch = 64;
    std::vector<double> out(drawn_at_once);
    std::uint32_t number = 0;
    for (auto _ : state) {
        random::Stream stream(1, random::Purpose::test, 0, number++);
        std::array<double, batch> radius, angle;
        for (std::size_t at = 0; at + 2 * batch <= out.size(); at += 2 * batch) {
            for (std::size_t k = 0; k < batch; ++k) {
                radius[k] = stream.uniform();
                angle[k] = 2 * std::numbers::pi * stream.uniform();
            }
            for (double& r : radius) r = -2 * std::log(r);
            for (double& r : radius) r = std::sqrt(r);
            for (std::size_t k = 0; k < batch; ++k) {
                out[at + 2 * k] = radius[k] * std::cos(angle[k]);
                out[at + 2 * k + 1] = radius[k] * std::sin(angle[k]);
            }
        }
        benchmark::DoNotOptimize(out.data());
    }
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(drawn_at_once));
}
BENCHMARK(normals_by_libm)->Unit(benchmark::kMicrosecond);

/// N = 100, L = 10, 100 samples; the argument is the number of threads.
void default_job(benchmark::State& state) {
    const auto network = network_of_size(100);
    montecarlo::Options options;
    options.threads = static_cast<int>(state.range(0));
    for (auto _ : state) benchmark::DoNotOptimize(montecarlo::simulate(network, options).mean_square);
}
BENCHMARK(default_job)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();

/// A million values against a density of 400 nodes.
void distance(benchmark::State& state) {
    Density density;
    for (int k = 0; k < 400; ++k) {
        const double x = -10 + 10.0 * k / 399;
        density.log_s.push_back(x);
        density.density_log.push_back(std::exp(x));
        density.weight.push_back(10.0 / 399);
        density.cumulative.push_back(std::exp(x));
    }
    density.mass_below = density.cumulative.front();
    density.tail_exponent = 1;
    const auto law = Spectrum::from_density(density);
    std::vector<double> values(1'000'000);
    random::Stream stream(1, random::Purpose::test);
    for (double& x : values) x = std::log(stream.uniform());
    const auto drawn = Spectrum::from_log_values(values);
    for (auto _ : state) benchmark::DoNotOptimize(agreement(drawn, law).wasserstein1);
}
BENCHMARK(distance)->Unit(benchmark::kMillisecond);

}  // namespace
