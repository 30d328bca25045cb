// From samples to sorted singular values on a GPU, ten layers: each stage, the whole, and the floor that the
// device's rates set. With --folder the matrices and values of one batch are written for gpu_svdvals.py.
//
//     gpu_bench [--f32] [--mixer FAMILY] [--folder PATH] [SIZE:SAMPLES …]

#include "montecarlo/cuda/backend.hpp"
#include "montecarlo/cuda/bisection.cuh"
#include "montecarlo/cuda/householder.cuh"
#include "montecarlo/cuda/product.cuh"
#include "montecarlo/cuda/runtime.cuh"
#include "montecarlo/cuda/sampling.cuh"
#include "montecarlo/cuda/two_stage.cuh"
#include "network/network.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

extern "C" spectra::montecarlo::cuda::Backend* spectra_open_cuda_backend(
    int streams, int width, spectra::montecarlo::Precision precision, std::string& why_not, int local_rank);

namespace {

using namespace spectra;
using namespace spectra::montecarlo::cuda;
using montecarlo::Precision;

constexpr int depth = 10;
constexpr int repeats = 7;

// An H200 by its data sheet: doubles on the vector and the tensor units, device memory.
constexpr double vector_rate = 33.5e12, tensor_rate = 67e12, memory_rate = 4.8e12;

Network network_of_size(int size, mixers::Family family) {
    mixers::Recipe recipe;
    recipe.family = family;
    Network network;
    network.streams = size % 4 == 0 ? 4 : 1;
    network.width = size / network.streams;
    network.mixers = mixers::draw_layers(recipe, network.streams, depth, false, 1);
    network.branch = IsotropicBranch{std::vector<double>(depth, 0.05 / depth)};
    return network;
}

/// Median milliseconds after one call that does not count, of one call if that takes more than a second; `prepare`
/// does not count either.
double milliseconds(const std::function<void()>& work, const std::function<void()>& prepare = {}) {
    std::vector<double> times;
    bool slow = false;
    for (int k = 0; k <= (slow ? 1 : repeats); ++k) {
        if (prepare) prepare();
        check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
        const auto begin = std::chrono::steady_clock::now();
        work();
        check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
        const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
        slow = slow || took.count() > 1000;
        if (k > 0) times.push_back(took.count());
    }
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    return *middle;
}

struct Stages {
    double draw, multiply, one_stage, band, chase, bisect;
};

template <class Real>
struct Bidiagonals {
    Buffer<Real> diagonal, beside;
};

/// Of dense `matrices`, which `fill` restores.
template <class Real>
void time_bidiagonalisation(Matrices<Real> matrices, const std::function<void()>& fill,
                            const Bidiagonals<Real>& to, const Stream& stream, Stages& out) {
    Exchange<Real> exchange;
    TwoStages<Real> work;
    out.band = milliseconds([&] { reduce_to_band(matrices, work, stream); }, fill);
    out.chase =
        milliseconds([&] { reduce_band(matrices, work, to.diagonal.data(), to.beside.data(), stream); },
                     [&] {
                         fill();
                         reduce_to_band(matrices, work, stream);
                     });
    work.confirm(stream);
    out.one_stage = milliseconds(
        [&] { bidiagonalise(matrices, exchange, to.diagonal.data(), to.beside.data(), stream); }, fill);
}

template <class Real>
Stages stages(int size, int samples) {
    const Stream stream;
    const int leading = leading_dimension(size);
    const auto stride = static_cast<std::size_t>(size) * static_cast<std::size_t>(leading);
    const auto count = static_cast<std::size_t>(samples);
    const Buffer<Real> a(stride * count), b(stride * count), c(stride * count);
    const std::size_t numbers = count * static_cast<std::size_t>(size);
    const Bidiagonals<Real> bidiagonals{Buffer<Real>(numbers), Buffer<Real>(numbers)};
    const Buffer<double> values(numbers);
    const Buffer<SampleState> states(count);
    const Buffer<unsigned long long> largest(count);
    const auto matrices = [&](const Buffer<Real>& buffer) {
        return Matrices<Real>{buffer.data(), size, leading, stride, samples};
    };
    const auto fill = [&](const Buffer<Real>& to, std::uint32_t layer) {
        draw_normals(matrices(to), Draws{1, 0, layer}, 0, {}, nullptr, {}, stream);
    };
    Stages out{};
    out.draw = milliseconds([&] { fill(a, 0); });
    fill(b, 1);
    out.multiply = milliseconds([&] {
        multiply<Real>(size, size, size, samples, {a.data(), leading, stride}, {b.data(), leading, stride},
                       {c.data(), leading, stride}, largest.data(), stream);
    });
    time_bidiagonalisation<Real>(
        matrices(c), [&] { fill(c, 2); }, bidiagonals, stream, out);
    out.bisect = milliseconds([&] {
        log_singular_values(size, samples, bidiagonals.diagonal.data(), bidiagonals.beside.data(),
                            states.data(), values.data(), stream);
    });
    return out;
}

void write(const std::string& file, const std::vector<double>& numbers) {
    std::ofstream(file, std::ios::binary)
        .write(reinterpret_cast<const char*>(numbers.data()),
               static_cast<std::streamsize>(numbers.size() * sizeof(double)));
}

void run(int size, int samples, mixers::Family family, Precision precision, const std::string& folder) {
    const auto network = network_of_size(size, family);
    std::string why_not;
    const std::unique_ptr<Backend> backend(
        spectra_open_cuda_backend(network.streams, network.width, precision, why_not, 0));
    if (!backend) {
        std::printf("%s\n", why_not.c_str());
        return;
    }
    const std::vector<std::vector<montecarlo::Layer>> layers = {montecarlo::scaled_layers(network)};
    const auto n = static_cast<std::size_t>(size), count = static_cast<std::size_t>(samples);
    std::vector<Drawn> drawn(count);
    std::vector<double> values(n * count);
    const double whole = milliseconds([&] { backend->draw(layers, 1, 0, drawn, values); });
    for (const auto& one : drawn)
        if (one.info != 0) std::printf("size %d: info %d\n", size, one.info);
    const auto each =
        precision == Precision::f64 ? stages<double>(size, samples) : stages<float>(size, samples);

    const double cube = static_cast<double>(n * n * n * count);
    // Two stages reduce on the tensor units as well.
    const bool two = size >= two_stages_from;
    const double flops_ms =
        1e3 * (2.0 * (depth - 1) / tensor_rate + 8.0 / 3 / (two ? tensor_rate : vector_rate)) * cube;
    // Read and written once a step of a one-stage reduction, where a matrix does not stay on the chip.
    const double bytes_ms = 1e3 * 16.0 / 3 * cube / memory_rate;
    std::printf(
        "%5d x %-5d whole %9.3f ms | draw %8.3f x %d, multiply %8.3f x %d, %s: band %8.3f, chase %8.3f, "
        "one stage %9.3f, bisect %8.3f | floor: flops %8.3f ms, one-stage streaming %8.3f ms | %s\n",
        size, samples, whole, each.draw, depth, each.multiply, depth - 1, two ? "two stages" : "one stage",
        each.band, each.chase, each.one_stage, each.bisect, flops_ms, bytes_ms, backend->device().c_str());
    std::fflush(stdout);
    if (folder.empty()) return;
    const std::string stem = folder + "/" + std::to_string(size);
    write(stem + ".values", values);
    std::vector<double> matrices(n * n * count);
    backend->draw_matrices(layers, 1, 0, drawn, matrices);
    write(stem + ".matrices", matrices);
    std::ofstream(stem + ".txt") << size << " " << samples << " " << whole << " " << drawn[0].exponent
                                 << "\n";
}

}  // namespace

int main(int argc, char** argv) {
    auto precision = Precision::f64;
    auto family = mixers::Family::bistochastic;
    std::string folder;
    std::vector<std::pair<int, int>> jobs;
    for (int k = 1; k < argc; ++k) {
        const std::string word = argv[k];
        if (word == "--f32")
            precision = Precision::f32;
        else if (word == "--mixer" && k + 1 < argc)
            family = mixers::find_family(argv[++k]).value();
        else if (word == "--folder" && k + 1 < argc)
            folder = argv[++k];
        else
            jobs.emplace_back(std::stoi(word), std::stoi(word.substr(word.find(':') + 1)));
    }
    if (jobs.empty()) jobs = {{100, 500}, {256, 256}, {512, 64}, {1024, 32}, {2048, 8}};
    for (const auto& [size, samples] : jobs) run(size, samples, family, precision, folder);
}
