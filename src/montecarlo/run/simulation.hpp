#pragma once

/// \file
/// The options and the result of a simulation.

#include "montecarlo/run/statistics.hpp"
#include "montecarlo/sample/precision.hpp"
#include "montecarlo/sample/slopes.hpp"
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

/// What a simulation keeps of the singular values. automatic: see Options::keep.
enum class Keep { automatic, values, histogram };
/// Where a simulation runs. automatic: a GPU where there is one and the work outweighs its start.
enum class Device { automatic, cpu, cuda };
/// How singular values are computed: all of them from the N×N Jacobian, or their law by Golub-Kahan
/// quadrature (quadrature.hpp), which never forms it. automatic: dense up to N = 4096.
enum class Method { automatic, dense, quadrature };
/// Largest N for which Method::automatic is dense.
inline constexpr int largest_dense = 4096;

/// How many samples are drawn, and how. Every default is a sensible choice.
struct Options {
    int samples = 100;  ///< Jacobians to draw
    /// Set: stop where Simulation::errors has come down to this, `samples` at the latest. It is looked at
    /// after 32, 48, 64, … samples, so where a run stops depends on the samples alone.
    std::optional<double> until_error;
    std::uint64_t seed = 1;       ///< of everything that is drawn
    Keep keep = Keep::automatic;  ///< automatic: values while S·N doubles fit 256 MB, then a histogram
    int threads = 0;              ///< 0: all; of a node that several ranks share, this one's part
    Device device = Device::cpu;  ///< where it runs
    int gpu = 0;                  ///< GPU index, modulo the number of devices; one per rank
    Precision precision = Precision::f64;  ///< of matrices and products
    /// Set: mixers are drawn anew for every sample from this recipe, instead of the network's own.
    std::optional<mixers::Recipe> redrawn;
    bool shared_mixers = false;     ///< with redrawn: one mixer for all layers
    Slopes slopes = Slopes::drawn;  ///< of activations (slopes.hpp)
    Method method = Method::automatic;  ///< how singular values are found
    int probes = 8;                     ///< of a quadrature: random vectors per sample
    int steps = 100;                    ///< of a quadrature: of each probe
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
    double checkpoint_seconds = 60;  ///< between two calls of checkpoint
    /// Set: samples are dealt to the ranks in turn, and the first adds them up. Everything else must be the
    /// same on all of them; progress, resume and checkpoint are the first one's.
    parallel::Ranks* ranks = nullptr;
};

/// Standard errors over samples: by how much the reported numbers would change with other samples.
struct SamplingErrors {
    double mean_square = 0;  ///< relative to the mean square
    double window = 0;       ///< of the share in [0.75, 1.25]
    double collapsed = 0;    ///< of the share below 0.1
    /// Of the law as a whole: the Wasserstein-1 distance to be expected between it and the law of infinitely
    /// many samples, relative to its rms.
    double wasserstein1 = 0;

    /// The largest of them. Infinite where one is no number: NaN never converges.
    double largest() const {
        const double out = std::max({mean_square, window, collapsed, wasserstein1});
        return mean_square >= 0 && window >= 0 && collapsed >= 0 && wasserstein1 >= 0
                   ? out
                   : std::numeric_limits<double>::infinity();
    }
    /// Equal in all members.
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
    int samples_requested = 0;      ///< Options::samples
    int samples = 0;                ///< finished: always the first so many of the sequence
    int width = 0;                  ///< p
    std::string device = "cpu";     ///< or "cuda: NVIDIA H200"
    std::string precision = "f64";  ///< or "f32"
    int probes = 0;    ///< of a quadrature, per sample: log_values are then quantiles; 0: singular values
    std::string note;  ///< one line where a GPU was asked for and not to be had; else empty
    double seconds = 0;            ///< that the run took
    double mean_square = 0;        ///< mean over samples of tr JᵀJ / N
    double mean_square_error = 0;  ///< its standard error over samples (0 with one sample)
    double largest = 0;            ///< singular value of all samples
    double smallest = 0;           ///< singular value of all samples
    std::vector<double> log_values;         ///< S×N, ln s, ascending within a sample; empty for a histogram
    std::vector<double> log_edges;          ///< of the histogram in ln s; empty where values are kept
    std::vector<double> counts;             ///< between these edges
    double below = 0;                       ///< count below the edges
    double above = 0;                       ///< count above them
    SamplingErrors errors;                  ///< of what the samples add up to
    bool converged = false;  ///< Options::until_error was reached
    bool elsewhere = false;  ///< this rank is not the first, which has the result: this is empty

    // What going on takes besides. Where values were kept: fingerprint, mean_square_state and log_floor; the
    // rest is found from the values again.
    std::string fingerprint;  ///< of which samples these are (fingerprint.hpp)
    RunningMean::State mean_square_state;                         ///< of the mean square
    double log_floor = -std::numeric_limits<double>::infinity();  ///< the law's
    double log_smallest = std::numeric_limits<double>::infinity();  ///< ln of the smallest value
    double log_largest = -std::numeric_limits<double>::infinity();  ///< ln of the largest value
    double log_mean_square_expected = 0;  ///< before anything was drawn: the histograms lie around it
    CountSum window;                      ///< a sample's values in [0.75, 1.25]
    CountSum collapsed;                   ///< a sample's values below 0.1
    std::vector<double> count_squares;    ///< of the histogram in ln s (Counts)
    std::vector<double> cumulative_squares;  ///< of the histogram in ln s (Counts)
    Counts linear;                           ///< histogram in s; empty where values are kept

    /// Whether the run ended before it had all samples or the accuracy asked for.
    bool interrupted() const { return samples < samples_requested && !converged && !elsewhere; }
};

}  // namespace spectra::montecarlo
