#pragma once

/// \file
/// Random numbers that depend on a seed and a place only, not on the order in which they are drawn.

#include <array>
#include <cstdint>
#include <span>

namespace spectra::random {

/// The purpose of a stream. Streams of different purposes never share a number.
enum class Purpose : std::uint32_t {
    mixer = 1,       ///< entries and parameters of mixers
    branch = 2,      ///< entries of branches
    connection = 3,  ///< how hyper-connections read and write streams
    slope = 4,       ///< φ'(h) of activations
    probe = 5,       ///< start vectors of quadrature; one per "layer"
    batch = 6,       ///< which sequences a training step sees; one per "sample"
    test = 255,      ///< tests, and whatever else must not meet the library's own numbers
};

/// Counter-based random numbers: Philox4x32-10 with key = seed and counter
/// {block low, block high, sample, purpose << 24 | layer}.
///
/// Entry k of a stream depends only on (seed, purpose, layer, sample, k), so a matrix is the same
/// whichever thread draws it. The counters match cuRAND's (seed, subsequence, offset).
/// layer must be below 2^24.
class Stream {
public:
    /// The stream of a seed, a purpose, a layer (below 2^24) and a sample. Throws std::out_of_range for other
    /// layers.
    Stream(std::uint64_t seed, Purpose purpose, std::uint32_t layer = 0, std::uint32_t sample = 0);

    /// Uniform on (0, 1), 53 bits, never 0 or 1.
    double uniform();

    /// Standard normal (Box-Muller; two per Philox block).
    double normal();

    /// Fills with standard normals; the same numbers as repeated normal() on a fresh stream.
    void fill_normal(std::span<double> out);

private:
    std::array<double, 2> next_uniform_pair();
    void refill_normals();

    std::array<std::uint32_t, 2> key_;
    std::array<std::uint32_t, 4> counter_;
    std::array<double, 2> pending_uniform_{};
    std::array<double, 2> pending_normal_{};
    int uniforms_left_ = 0;
    int normals_left_ = 0;
};

}  // namespace spectra::random
