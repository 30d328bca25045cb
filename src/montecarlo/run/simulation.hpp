#pragma once

#include "montecarlo/run/histogram.hpp"
#include "montecarlo/sample/layer.hpp"
#include "montecarlo/sample/precision.hpp"
#include "montecarlo/run/statistics.hpp"
#include "network/network.hpp"
#include "spectrum/spectrum.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace spectra::parallel {
class Ranks;
}

namespace spectra::montecarlo {

struct Simulation;

enum class Keep { automatic, values, histogram };
/// automatic: a GPU if there is one and the work outweighs its start-up time.
enum class Device { automatic, cpu, cuda };
/// How singular values are computed: all of them from the N×N Jacobian, or their law by Golub-Kahan
/// quadrature (quadrature.hpp), which never forms it. automatic: dense up to N = 4096.
enum class Method { automatic, dense, quadrature };
inline constexpr int largest_dense = 4096;

struct Options {
    int samples = 100;
    /// If set: stop when Simulation::errors has fallen to this, or after `samples`. It is checked
    /// after 32, 48, 64, … samples, so the stopping point depends only on the samples.
    std::optional<double> until_error;
    std::uint64_t seed = 1;
    Keep keep = Keep::automatic;  ///< automatic: values while S·N doubles fit 256 MB, then a histogram
    int threads = 0;              ///< 0: all; if several ranks share a node, this rank's share
    Device device = Device::cpu;
    int gpu = 0;  ///< GPU index, modulo the number of devices; one per rank
    Precision precision = Precision::f64;
    /// If set: mixers are redrawn for every sample from this recipe, instead of the network's mixers.
    std::optional<mixers::Recipe> redrawn;
    bool shared_mixers = false;     ///< with redrawn: one mixer for all layers
    Slopes slopes = Slopes::drawn;  ///< of activations (layer.hpp)
    Method method = Method::automatic;
    int probes = 8;   ///< of a quadrature: random vectors per sample
    int steps = 100;  ///< of a quadrature
    /// Called from one thread at a time, with (done, requested).
    std::function<void(int, int)> progress;
    /// Set it to true (from a signal handler) to end the run with the finished samples.
    const std::atomic<bool>* stop = nullptr;

    /// Saved samples to resume from. The result is that of an uninterrupted run, to the last bit. Refused
    /// (std::invalid_argument) if they belong to another network, seed, device or precision.
    const Simulation* resume = nullptr;
    /// Called about every checkpoint_seconds, for at most a twentieth of the time, with the result of the
    /// samples so far, law included, which can be passed to `resume`. One call at a time, from a thread that
    /// draws, while the others continue. An exception ends the run.
    std::function<void(const Simulation&)> checkpoint;
    double checkpoint_seconds = 60;
    /// If set: the ranks take samples in turn, and the first rank adds them up. All other options must be the
    /// same on all ranks; progress, resume and checkpoint apply only to the first.
    parallel::Ranks* ranks = nullptr;
};

/// Standard errors over samples: by how much the reported numbers would change with other samples.
struct SamplingErrors {
    double mean_square = 0;  ///< relative to the mean square
    double window = 0;       ///< of the share in [0.75, 1.25]
    double collapsed = 0;    ///< of the share below 0.1
    double wasserstein1 =
        0;  ///< of the law as a whole, relative to its rms (LogHistogram::wasserstein1_error)

    /// Infinite if one is NaN, which never converges.
    double largest() const {
        const double out = std::max({mean_square, window, collapsed, wasserstein1});
        return mean_square >= 0 && window >= 0 && collapsed >= 0 && wasserstein1 >= 0
                   ? out
                   : std::numeric_limits<double>::infinity();
    }
    bool operator==(const SamplingErrors&) const = default;
};

/// Singular values of sampled Jacobians. Identical to the last bit for any number of threads and ranks, and
/// for any number of interruptions.
struct Simulation {
    /// All singular values, equally weighted. Its log_floor is the largest over samples: −∞ on the
    /// CPU in f64, where graded.hpp computes the values that a product in double precision loses;
    /// otherwise (rounding.hpp) the pooled law is free of rounding above it. For a quadrature: below it only
    /// the mass is known.
    Spectrum law;
    int samples_requested = 0;
    int samples = 0;  ///< finished: always the first ones of the sequence
    int width = 0;
    std::string device = "cpu";  ///< or "cuda: NVIDIA H200"
    std::string precision = "f64";
    int probes = 0;    ///< of a quadrature, per sample: log_values are then quantiles; 0: singular values
    std::string note;  ///< one line if a GPU was requested but is not available; otherwise empty
    double seconds = 0;
    double mean_square = 0;        ///< mean over samples of tr JᵀJ / N
    double mean_square_error = 0;  ///< its standard error over samples (0 with one sample)
    double largest = 0;
    double smallest = 0;
    std::vector<double> log_values;         ///< S×N, ln s, ascending within a sample; empty for a histogram
    std::vector<double> log_edges, counts;  ///< histogram in ln s; empty if values are kept
    double below = 0, above = 0;            ///< counts outside the edges
    SamplingErrors errors;
    bool converged = false;  ///< Options::until_error was reached
    bool elsewhere = false;  ///< this rank is not the first, which has the result: this is empty

    // Further data for resuming. If values were kept: fingerprint, mean_square_state and log_floor; the
    // rest is recomputed from the values.
    std::string fingerprint;  ///< identifies the samples (fingerprint.hpp)
    RunningMean::State mean_square_state;
    double log_floor = -std::numeric_limits<double>::infinity();  ///< of the law
    double log_smallest = std::numeric_limits<double>::infinity();
    double log_largest = -std::numeric_limits<double>::infinity();
    double log_mean_square_expected = 0;  ///< computed before drawing: the centre of the histograms
    CountSum window, collapsed;           ///< values per sample in [0.75, 1.25] and below 0.1
    std::vector<double> count_squares, cumulative_squares;  ///< of the histogram in ln s (histogram.hpp)
    Counts linear;                                          ///< histogram in s; empty if values are kept

    bool interrupted() const { return samples < samples_requested && !converged && !elsewhere; }
};

}  // namespace spectra::montecarlo
