#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <span>

namespace spectra::tasks {

/// The numbers of NumPy's legacy generator (`numpy.random.seed` and related functions), call for call:
/// MT19937 seeded by one 32-bit word. Published tasks were drawn with it, so their data can be reproduced.
///
/// Equal bit for bit; normals if the C library's logarithm is the same. A copy continues independently from
/// the same state; == compares states.
class LegacyRandom {
public:
    explicit LegacyRandom(std::uint32_t seed) : engine_(seed) {}

    /// Uniform on [0, 1) with 53 bits, from two words.
    double random_sample();

    /// low + (high − low) · random_sample().
    double uniform(double low, double high);

    /// Standard normal by the polar method, which makes two at a time: the second is kept for the next call,
    /// whatever is called in between.
    double randn();
    void randn(std::span<double> out);

    /// Uniform on low ≤ k < high by masking and rejection; one word per attempt if high − low ≤ 2^32, two
    /// otherwise, none if there is only one k. Throws std::invalid_argument unless low < high.
    std::int64_t randint(std::int64_t low, std::int64_t high);

    bool operator==(const LegacyRandom&) const = default;

private:
    std::mt19937 engine_;
    std::optional<double> kept_normal_;
};

}  // namespace spectra::tasks
