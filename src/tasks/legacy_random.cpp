#include "tasks/legacy_random.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace spectra::tasks {

double LegacyRandom::random_sample() {
    const auto high = static_cast<std::uint32_t>(engine_()) >> 5U;
    const auto low = static_cast<std::uint32_t>(engine_()) >> 6U;
    return (static_cast<double>(high) * 0x1p26 + static_cast<double>(low)) * 0x1p-53;
}

double LegacyRandom::uniform(double low, double high) {
    return low + (high - low) * random_sample();
}

double LegacyRandom::randn() {
    if (kept_normal_) {
        const double normal = *kept_normal_;
        kept_normal_.reset();
        return normal;
    }
    double x = 0, y = 0, square = 0;
    do {
        x = 2.0 * random_sample() - 1.0;
        y = 2.0 * random_sample() - 1.0;
        square = x * x + y * y;
    } while (square >= 1.0 || square == 0.0);
    const double factor = std::sqrt(-2.0 * std::log(square) / square);
    kept_normal_ = factor * x;
    return factor * y;
}

void LegacyRandom::randn(std::span<double> out) {
    for (double& x : out) x = randn();
}

std::int64_t LegacyRandom::randint(std::int64_t low, std::int64_t high) {
    if (low >= high)
        throw std::invalid_argument(
            fmt::format("randint: low {} and high {}; low must be < high", low, high));
    const auto range = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) - 1;
    if (range == 0) return low;
    const std::uint64_t mask = std::numeric_limits<std::uint64_t>::max() >> std::countl_zero(range);
    std::uint64_t offset = 0;
    do {
        offset = engine_();
        if (range > std::numeric_limits<std::uint32_t>::max()) offset = (offset << 32U) | engine_();
        offset &= mask;
    } while (offset > range);
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + offset);
}

}  // namespace spectra::tasks
