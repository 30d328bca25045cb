#pragma once

#include "montecarlo/precision.hpp"
#include "network/network.hpp"
#include "spectrum/spectrum.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace spectra::montecarlo {

enum class Keep { automatic, values, histogram };
/// automatic: a GPU where there is one and the work outweighs its start.
enum class Device { automatic, cpu, cuda };

struct Options {
    int samples = 100;
    std::uint64_t seed = 1;
    Keep keep = Keep::automatic;  ///< automatic: values while S·N doubles fit 256 MB, then a histogram
    int threads = 0;              ///< 0: all
    Device device = Device::cpu;
    Precision precision = Precision::f64;
    /// Set: mixers are drawn anew for every sample from this recipe, instead of the network's own.
    std::optional<mixers::Recipe> redrawn;
    bool shared_mixers = false;  ///< with redrawn: one mixer for all layers
    /// Called from one thread at a time, with (done, requested).
    std::function<void(int, int)> progress;
    /// Set it (from a signal handler) and the run ends with the samples that are done.
    const std::atomic<bool>* stop = nullptr;
};

/// Singular values of sampled Jacobians. Identical to the last bit for any number of threads.
struct Simulation {
    /// All singular values, equally weighted. Its log_floor is the largest of the samples' (rounding.hpp):
    /// above it the pooled law is free of rounding.
    Spectrum law;
    int samples_requested = 0;
    int samples = 0;  ///< finished: always the first so many of the sequence
    int width = 0;
    std::string device = "cpu";  ///< or "cuda: NVIDIA H200"
    std::string precision = "f64";
    std::string note;  ///< one line where a GPU was asked for and not to be had; else empty
    double seconds = 0;
    double mean_square = 0;        ///< mean over samples of tr JᵀJ / N
    double mean_square_error = 0;  ///< its standard error over samples (0 with one sample)
    double largest = 0;
    double smallest = 0;
    std::vector<double> log_values;         ///< S×N, ln s, ascending within a sample; empty for a histogram
    std::vector<double> log_edges, counts;  ///< histogram in ln s; empty where values are kept
    double below = 0, above = 0;            ///< counts outside the edges
    bool interrupted() const { return samples < samples_requested; }
};

/// Bytes the run will need (the largest std::size_t where that overflows); a caller refuses what does
/// not fit.
std::size_t memory_needed(const Network& network, const Options& options);

/// Draws the samples and their singular values (sampler.hpp), spread over threads.
///
/// Samples start in order and are added up in order, and BLAS runs in one thread, so nothing depends on
/// the number of threads. On a GPU (cuda/backend.hpp) the random numbers are the same and the values differ
/// by rounding. An exception of a sample or of
/// `progress` ends the run and is passed on.
Simulation simulate(const Network& network, const Options& options = {});

}  // namespace spectra::montecarlo
