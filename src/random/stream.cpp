#include "random/stream.hpp"

#include "random/elementary.hpp"

#include <Random123/philox.h>

#include <cmath>
#include <stdexcept>

namespace spectra::random {
namespace {

double unit_interval(std::uint32_t high, std::uint32_t low) {
    const std::uint64_t bits = (static_cast<std::uint64_t>(high) << 32U) | low;
    // (k + ½) 2^-52, the centre of one of 2^52 cells, exactly, so that neither 0 nor 1 can appear: k as the last bits of a
    // number from 1 to 2.
    return double_of(0x3FF0000000000000 | (bits >> 12U)) - (1 - 0x1p-53);
}

/// Pairs of uniform numbers that are made at a time.
constexpr std::size_t batch = 64;

struct Batch {
    std::array<double, batch> first, second;
};

// Compiled for wider vectors too where the processor is asked at run time. The numbers are the same: no fused
// multiply-add, and nothing is added up in another order.
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define SPECTRA_WIDER_VECTORS __attribute__((target_clones("avx2", "default")))
#else
#define SPECTRA_WIDER_VECTORS
#endif

/// The uniform numbers of `batch` blocks from a counter on: Philox4x32-10 (Salmon et al. 2011), one round of all blocks
/// after the other, in loops that compilers vectorise.
SPECTRA_WIDER_VECTORS
void uniform_batch(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key, Batch& out) {
    constexpr std::uint32_t first_factor = 0xD2511F53, second_factor = 0xCD9E8D57;
    std::array<std::uint32_t, batch> a, b, c, d;
    const std::uint64_t begin = (static_cast<std::uint64_t>(counter[1]) << 32U) | counter[0];
    for (std::size_t k = 0; k < batch; ++k) {
        a[k] = static_cast<std::uint32_t>(begin + k);
        b[k] = static_cast<std::uint32_t>((begin + k) >> 32U);
        c[k] = counter[2];
        d[k] = counter[3];
    }
    for (int round = 0; round < 10; ++round) {
        for (std::size_t k = 0; k < batch; ++k) {
            const std::uint64_t one = static_cast<std::uint64_t>(a[k]) * first_factor,
                                other = static_cast<std::uint64_t>(c[k]) * second_factor;
            a[k] = static_cast<std::uint32_t>(other >> 32U) ^ b[k] ^ key[0];
            b[k] = static_cast<std::uint32_t>(other);
            c[k] = static_cast<std::uint32_t>(one >> 32U) ^ d[k] ^ key[1];
            d[k] = static_cast<std::uint32_t>(one);
        }
        key[0] += 0x9E3779B9;
        key[1] += 0xBB67AE85;
    }
    for (std::size_t k = 0; k < batch; ++k) {
        out.first[k] = unit_interval(a[k], b[k]);
        out.second[k] = unit_interval(c[k], d[k]);
    }
}

/// A pair of independent normal numbers from two uniform ones (Box and Muller 1958).
inline std::array<double, 2> normal_pair(double u, double v) {
    const double radius = std::sqrt(-2.0 * natural_log(u));
    double cosine = 0, sine = 0;
    turn(v, cosine, sine);
    return {radius * cosine, radius * sine};
}

SPECTRA_WIDER_VECTORS
void normal_batch(const Batch& uniform, double* out) {
    for (std::size_t k = 0; k < batch; ++k) {
        const auto [first, second] = normal_pair(uniform.first[k], uniform.second[k]);
        out[2 * k] = first;
        out[2 * k + 1] = second;
    }
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
    pending_normal_ = normal_pair(u, v);
    normals_left_ = 2;
}

double Stream::normal() {
    if (normals_left_ == 0) refill_normals();
    return pending_normal_[static_cast<std::size_t>(2 - normals_left_--)];
}

void Stream::fill_normal(std::span<double> out) {
    while (normals_left_ > 0 && !out.empty()) {
        out.front() = normal();
        out = out.subspan(1);
    }
    // As refill_normals(), for many pairs at a time: what one pair waits for, another need not.
    Batch pairs;
    while (out.size() >= 2 * batch) {
        uniform_batch(counter_, key_, pairs);
        const std::uint64_t next = ((static_cast<std::uint64_t>(counter_[1]) << 32U) | counter_[0]) + batch;
        counter_[0] = static_cast<std::uint32_t>(next);
        counter_[1] = static_cast<std::uint32_t>(next >> 32U);
        normal_batch(pairs, out.data());
        out = out.subspan(2 * batch);
    }
    for (double& x : out) x = normal();
}

}  // namespace spectra::random
