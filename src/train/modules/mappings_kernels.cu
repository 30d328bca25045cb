// A thread takes a token: its numbers stay in registers. In batched operations of Torch's every step of a mapping is a kernel,
// and takes longer to start than to run.

#include "train/modules/mappings_kernels.hpp"

#include <cstdint>

#include "train/modules/constant_size.cuh"

namespace spectra::train::cuda {
namespace {

constexpr int threads = 64;

__device__ std::int64_t row_of_thread() {
    return static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
}

/// softmax of n logits, `apart` numbers apart.
template <int n>
__device__ void softmax(const float* logits, int apart, float temperature, float (&share)[n]) {
    float largest = logits[0];
    for (int k = 1; k < n; ++k) largest = fmaxf(largest, logits[k * apart]);
    float total = 0;
    for (int k = 0; k < n; ++k) {
        share[k] = expf((logits[k * apart] - largest) / temperature);
        total += share[k];
    }
    for (int k = 0; k < n; ++k) share[k] /= total;
}

template <int n>
__global__ void routes(const float* logits, float temperature, float* pre, float* post, MappingSizes sizes) {
    const std::int64_t row = row_of_thread();
    if (row >= sizes.rows) return;
    const float* const from = logits + row * sizes.stride;
    float means[n] = {}, sums[n] = {}, share[n];
    for (int i = 0; i < n; ++i) {
        softmax(from + i * n, 1, temperature, share);
        for (int j = 0; j < n; ++j) means[j] += share[j] / n;
        softmax(from + n * n + i, n, temperature, share);
        for (int j = 0; j < n; ++j) sums[j] += share[j];
    }
    for (int k = 0; k < n; ++k) {
        pre[row * n + k] = means[k];
        post[row * n + k] = sums[k];
    }
}

/// Gradient with respect to the logits of one softmax from that with respect to its shares.
template <int n>
__device__ void softmax_slope(const float* logits, int apart, float temperature, const float (&above)[n],
                              float factor, float* slope) {
    float share[n], mean = 0;
    softmax(logits, apart, temperature, share);
    for (int k = 0; k < n; ++k) mean += share[k] * above[k];
    for (int k = 0; k < n; ++k) slope[k * apart] = factor * share[k] * (above[k] - mean);
}

template <int n>
__global__ void routes_slope(const float* pre_slope, const float* post_slope, const float* logits,
                             float temperature, float* slope, MappingSizes sizes) {
    const std::int64_t row = row_of_thread();
    if (row >= sizes.rows) return;
    const float* const from = logits + row * sizes.stride;
    float* const to = slope + row * 2 * n * n;
    float above_pre[n], above_post[n];
    for (int k = 0; k < n; ++k) {
        above_pre[k] = pre_slope[row * n + k];
        above_post[k] = post_slope[row * n + k];
    }
    for (int i = 0; i < n; ++i) {
        softmax_slope(from + i * n, 1, temperature, above_pre, 1 / (n * temperature), to + i * n);
        softmax_slope(from + n * n + i, n, temperature, above_post, 1 / temperature, to + n * n + i);
    }
}

template <int n>
struct Square {
    float at[n][n];

    /// R − Rᵀ times a factor.
    __device__ static Square skew(const float* raw, float factor) {
        Square r, w;
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j) r.at[i][j] = raw[i * n + j];
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j) w.at[i][j] = factor * (r.at[i][j] - r.at[j][i]);
        return w;
    }
    __device__ void add_identity() {
        for (int i = 0; i < n; ++i) at[i][i] += 1;
    }
    __device__ Square operator*(const Square& other) const {
        Square result;
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j) {
                float total = at[i][0] * other.at[0][j];
                for (int k = 1; k < n; ++k) total += at[i][k] * other.at[k][j];
                result.at[i][j] = total;
            }
        return result;
    }
};

/// Y after some iterations, for H = (α/2)W.
template <int n>
__device__ Square<n> cayley_at(const Square<n>& half, int iterations) {
    Square<n> y = half;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) y.at[i][j] *= 2;
    y.add_identity();
    for (int s = 0; s < iterations; ++s) {
        y.add_identity();
        y = half * y;
        y.add_identity();
    }
    return y;
}

template <int n>
__global__ void cayley(const float* raw, float step, int iterations, float* y, MappingSizes sizes) {
    const std::int64_t row = row_of_thread();
    if (row >= sizes.rows) return;
    const auto result = cayley_at(Square<n>::skew(raw + row * sizes.stride, step / 2), iterations);
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) y[(row * n + i) * n + j] = result.at[i][j];
}

template <int n>
__global__ void cayley_slope(const float* g, const float* raw, float step, int iterations, float* slope,
                             MappingSizes sizes) {
    const std::int64_t row = row_of_thread();
    if (row >= sizes.rows) return;
    const auto half = Square<n>::skew(raw + row * sizes.stride, step / 2);
    // Of Y = I + H(I + Z): G(I + Z)ᵀ with respect to H, and HᵀG = −HG with respect to Z; of Y₀ = I + 2H, 2G.
    Square<n> above, half_slope = {};
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) above.at[i][j] = g[(row * n + i) * n + j];
    for (int s = iterations - 1; s >= 0; --s) {
        auto before = cayley_at(half, s);
        before.add_identity();
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j)
                for (int k = 0; k < n; ++k) half_slope.at[i][j] += above.at[i][k] * before.at[j][k];
        above = half * above;
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j) above.at[i][j] = -above.at[i][j];
    }
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) half_slope.at[i][j] += 2 * above.at[i][j];
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
            slope[(row * n + i) * n + j] = step / 2 * (half_slope.at[i][j] - half_slope.at[j][i]);
}

unsigned blocks_of(MappingSizes sizes) {
    return static_cast<unsigned>((sizes.rows + threads - 1) / threads);
}

}  // namespace

void softmax_routes(const float* logits, float temperature, float* pre, float* post, MappingSizes sizes,
                    CUstream_st* stream) {
    if (sizes.rows == 0) return;
    with_constant<2, 8>(sizes.n, [&](auto n) {
        routes<n()><<<blocks_of(sizes), threads, 0, stream>>>(logits, temperature, pre, post, sizes);
    });
}

void softmax_routes_slope(const float* pre_slope, const float* post_slope, const float* logits,
                          float temperature, float* slope, MappingSizes sizes, CUstream_st* stream) {
    if (sizes.rows == 0) return;
    with_constant<2, 8>(sizes.n, [&](auto n) {
        routes_slope<n()>
            <<<blocks_of(sizes), threads, 0, stream>>>(pre_slope, post_slope, logits, temperature, slope, sizes);
    });
}

void cayley_iterative(const float* raw, float step, int iterations, float* y, MappingSizes sizes,
                      CUstream_st* stream) {
    if (sizes.rows == 0) return;
    with_constant<2, 8>(sizes.n, [&](auto n) {
        cayley<n()><<<blocks_of(sizes), threads, 0, stream>>>(raw, step, iterations, y, sizes);
    });
}

void cayley_iterative_slope(const float* g, const float* raw, float step, int iterations, float* slope,
                            MappingSizes sizes, CUstream_st* stream) {
    if (sizes.rows == 0) return;
    with_constant<2, 8>(sizes.n, [&](auto n) {
        cayley_slope<n()><<<blocks_of(sizes), threads, 0, stream>>>(g, raw, step, iterations, slope, sizes);
    });
}

}  // namespace spectra::train::cuda
