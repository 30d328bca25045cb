#pragma once

#include "montecarlo/run/collector.hpp"
#include "montecarlo/cuda/backend.hpp"
#include "montecarlo/sample/rounding.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace spectra::montecarlo {

/// Data shared by all samples of a run.
struct Run {
    Run(const Network& the_network, const Options& the_options);

    const Network& network;
    const Options& options;
    std::vector<Layer> layers;
    Expectation expected;
    int threads;
    int probes;  ///< 0: dense
};

/// Probes per sample of a quadrature; 0: singular values are computed by dense algebra.
int probe_count(const Network& network, const Options& options);

/// Threads of a run: Options::threads, or all threads of the machine available to this rank.
int thread_count(const Options& options);

/// The share of samples that one rank draws: from `first` to `end`, ranks in turn, `block` samples at a time.
struct Share {
    int first = 0, end = 0;
    int rank = 0, ranks = 1;
    int block = 1;

    /// Sample number k of the share; `end` or more if there is none.
    std::int64_t sample(std::int64_t k) const {
        return first + (k / block * ranks + rank) * block + k % block;
    }
};

/// The GPU backend if it should be used and is available; `note` gives the reason if it was requested but is
/// not.
std::unique_ptr<cuda::Backend> device_for(const Run& run, std::string& note);

/// Largest number of samples for a GPU at a time, so that a run can be stopped.
inline constexpr int largest_gpu_block = 1024;

/// Draws the samples of the share, in order, on threads or (with a backend) on the GPU, until the collector
/// has ended.
void draw(const Run& run, cuda::Backend* backend, const Share& share, Collector& collector);

}  // namespace spectra::montecarlo
