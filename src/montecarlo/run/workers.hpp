#pragma once

#include "montecarlo/run/collector.hpp"
#include "montecarlo/cuda/backend.hpp"
#include "montecarlo/sample/rounding.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace spectra::montecarlo {

/// What all samples of a run share.
struct Run {
    Run(const Network& the_network, const Options& the_options);

    const Network& network;
    const Options& options;
    std::vector<Layer> layers;
    Expectation expected;
    int threads;
    int probes;  ///< 0: dense
};

/// Probes a sample of a quadrature takes; 0: singular values are found by dense algebra.
int probe_count(const Network& network, const Options& options);

/// Threads a run takes: Options::threads, or all the processor has for this rank.
int thread_count(const Options& options);

/// The samples one rank draws: from `first` to `end`, dealt to the ranks in turn, `block` at a time.
struct Share {
    int first = 0, end = 0;
    int rank = 0, ranks = 1;
    int block = 1;

    /// Its sample number k, `end` or more where there is none.
    std::int64_t sample(std::int64_t k) const {
        return first + (k / block * ranks + rank) * block + k % block;
    }
};

/// The GPU's backend where it is wanted and can be had; `note` says why not where it was asked for.
std::unique_ptr<cuda::Backend> device_for(const Run& run, std::string& note);

/// Most samples a GPU is given at a time, so that a run can be stopped.
inline constexpr int largest_gpu_block = 1024;

/// Draws the samples of the share, in order, on threads or (backend given) on the GPU, until the collector
/// has ended.
void draw(const Run& run, cuda::Backend* backend, const Share& share, Collector& collector);

}  // namespace spectra::montecarlo
