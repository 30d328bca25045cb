#include "random/stream.hpp"

#include <Random123/philox.h>

#include <cmath>
#include <numbers>
#include <stdexcept>

namespace spectra::random {
namespace {

double unit_interval(std::uint32_t high, std::uint32_t low) {
    const std::uint64_t bits = (static_cast<std::uint64_t>(high) << 32U) | low;
    // The centre of one of 2^52 cells: 0.5 + k is exact, so neither 0 nor 1 can appear.
    return (static_cast<double>(bits >> 12U) + 0.5) * 0x1p-52;
}

}  // namespace

Stream::Stream(std::uint64_t seed, Purpose purpose, std::uint32_t layer, std::uint32_t sample)
    : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32U)},
      counter_{0, 0, sample, (static_cast<std::uint32_t>(purpose) << 24U) | layer} {
    if (layer >= (1U << 24U)) throw std::out_of_range("random::Stream: layer must be below 2^24");
}

std::array<double, 2> Stream::next_uniform_pair() {
    using Philox = r123::Philox4x32;
    const auto word = Philox{}(Philox::ctr_type{{counter_[0], counter_[1], counter_[2], counter_[3]}},
                               Philox::key_type{{key_[0], key_[1]}});
    if (++counter_[0] == 0) ++counter_[1];
    return {unit_interval(word[0], word[1]), unit_interval(word[2], word[3])};
}

double Stream::uniform() {
    if (uniforms_left_ == 0) {
        pending_uniform_ = next_uniform_pair();
        uniforms_left_ = 2;
    }
    return pending_uniform_[static_cast<std::size_t>(2 - uniforms_left_--)];
}

void Stream::refill_normals() {
    const auto [u, v] = next_uniform_pair();
    const double radius = std::sqrt(-2.0 * std::log(u));
    const double angle = 2.0 * std::numbers::pi * v;
    pending_normal_ = {radius * std::cos(angle), radius * std::sin(angle)};
    normals_left_ = 2;
}

double Stream::normal() {
    if (normals_left_ == 0) refill_normals();
    return pending_normal_[static_cast<std::size_t>(2 - normals_left_--)];
}

void Stream::fill_normal(std::span<double> out) {
    for (double& x : out) x = normal();
}

}  // namespace spectra::random
