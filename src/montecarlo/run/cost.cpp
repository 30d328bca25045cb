#include "montecarlo/run/cost.hpp"

#include "linalg/blas.hpp"
#include "montecarlo/run/workers.hpp"
#include "parallel/ranks.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <variant>
#include <vector>

namespace spectra::montecarlo {

namespace {

// In operations of a matrix product, by measurement on two machines (bench/montecarlo).
constexpr double per_normal = 60;       ///< a random number and its place in the matrix
constexpr double per_svd = 10;          ///< times N³: singular values alone
constexpr double per_stored = 12;       ///< an element of a stored layer times a vector: memory, not arithmetic
constexpr double layers_kept = 2e9;     ///< elements; beyond, a quadrature draws its layers anew for every product

/// Rows of the matrix that a layer draws: all N, or p where the branch reads and writes one mix of the streams.
double drawn_rows(const Network& network) {
    const auto* const tied = std::get_if<TiedBranch>(&network.branch);
    const auto* const aligned = std::get_if<AlignedBranch>(&network.branch);
    const bool one_mix = (aligned != nullptr && aligned->hyper_connection()) || std::holds_alternative<HyperConnectionBranch>(network.branch) ||
                         (tied != nullptr && tied->hyper_connection());
    return one_mix ? network.width : static_cast<double>(network.streams) * network.width;
}

}  // namespace

double sample_cost(const Network& network, const Options& options) {
    const double size = static_cast<double>(network.streams) * network.width, rows = drawn_rows(network);
    const double depth = network.depth();
    if (const double probes = probe_count(network, options); probes > 0) {
        const double element = depth * rows * rows > layers_kept ? per_normal : per_stored;
        return probes * 2 * options.steps * depth * element * rows * rows;
    }
    return depth * (2 * rows * size * size + per_normal * rows * rows) + per_svd * size * size * size;
}

double measured_speed() {
    using Clock = std::chrono::steady_clock;
    constexpr int size = 192;
    const linalg::SingleThreadedBlas single_threaded;
    std::vector<double> a(size * size, 1.0), b(size * size, 0.5), c(size * size);
    double least = std::numeric_limits<double>::infinity();
    for (int k = 0; k < 3; ++k) {
        const auto start = Clock::now();
        linalg::multiply(size, size, size, a.data(), b.data(), c.data());
        least = std::min(least, std::chrono::duration<double>(Clock::now() - start).count());
    }
    return 2.0 * size * size * size / std::max(least, 1e-9);
}

double estimated_seconds(const Network& network, const Options& options, double speed) {
    const int ranks = options.ranks != nullptr ? options.ranks->size() : 1;
    return sample_cost(network, options) * options.samples / (speed * thread_count(options) * ranks);
}

}  // namespace spectra::montecarlo
