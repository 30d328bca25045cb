#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <span>

namespace spectra::tasks {

/// The numbers of NumPy's legacy generator (`numpy.random.seed` and the functions beside it), call for call:
/// MT19937 seeded by one 32-bit word. Published tasks were drawn with it, so theirs can be drawn again.
///
/// Equal bit for bit, normals as far as the C library's logarithm is the same. A copy continues on its own
/// where the original stood; == compares that place.
class LegacyRandom {
public:
    explicit LegacyRandom(std::uint32_t seed) : engine_(seed) {}

    /// Uniform on [0, 1) with 53 bits, from two words.
    double random_sample();

    /// low + (high − low) · random_sample().
    double uniform(double low, double high);

    /// Standard normal by the polar method, which makes two at a time: the second is kept for the next call,
    /// whatever is called between.
    double randn();
    void randn(std::span<double> out);

    /// Uniform on low ≤ k < high by masking and rejection; one word a try where high − low ≤ 2^32, two
    /// otherwise, none where there is but one k. Throws std::invalid_argument unless low < high.
    std::int64_t randint(std::int64_t low, std::int64_t high);

    bool operator==(const LegacyRandom&) const = default;

private:
    std::mt19937 engine_;
    std::optional<double> kept_normal_;
};

}  // namespace spectra::tasks
