#include "montecarlo/cuda/forward.cuh"

#include "montecarlo/cuda/warp.cuh"

#include <climits>
#include <cmath>

namespace spectra::montecarlo::cuda {
namespace {

constexpr int block = 256;

// montecarlo/sample/forward.cpp, on the device.

__device__ double scaled(double x, int exponent) {
    return ldexp(x, min(max(exponent, -5000), 5000));
}

__device__ int response_unit(int kind, int exponent) {
    const bool bounded = kind == tanh_slope || kind == hard_tanh || kind == erf_slope;
    return bounded ? min(exponent, 0) : exponent;
}

/// φ / 2^response_unit at h·2^exponent.
__device__ double response(int kind, double h, int exponent, double& slope) {
    if (kind == linear || kind == relu || kind == leaky_relu) {
        slope = derivative(kind, h);
        return value(kind, h);
    }
    constexpr double small = 0x1p-200, large = 0x1p+200;
    const double true_h = fmin(fmax(scaled(h, exponent), -large), large);
    slope = derivative(kind, true_h);
    const int unit = response_unit(kind, exponent);
    const bool straight = fabs(true_h) < small || fabs(true_h) >= large;
    if (straight && unit == exponent) return slope * h;
    return scaled(value(kind, true_h), -unit);
}

/// The exponent of 2^unit x; INT_MIN for 0.
__device__ int exponent_of(double x, int unit) {
    if (!(x > 0)) return INT_MIN;
    int exponent = 0;
    frexp(x, &exponent);
    return unit + exponent;
}

/// The largest x of the block, in every thread.
__device__ double largest_of(double x) {
    __shared__ double of_warp[block / 32];
    x = largest_of_warp(x);
    __syncthreads();
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = x;
    __syncthreads();
    for (const double other : of_warp) x = fmax(x, other);
    return x;
}

/// One thread per row: neighbouring threads read neighbouring entries.
template <class Real>
__global__ __launch_bounds__(block) void preactivations_kernel(Matrices<const Real> weights,
                                                               Forward forward) {
    const int i = static_cast<int>(blockIdx.x * block + threadIdx.x);
    if (i >= weights.size) return;
    const std::size_t first = static_cast<std::size_t>(blockIdx.y) * static_cast<std::size_t>(weights.size);
    const Real* row = weights.data + blockIdx.y * weights.stride + i;
    double sum = 0;
    for (int j = 0; j < weights.size; ++j, row += weights.leading)
        sum += static_cast<double>(*row) * forward.values[first + static_cast<std::size_t>(j)];
    forward.branch[first + static_cast<std::size_t>(i)] = sum;
}

/// One block per sample.
__global__ __launch_bounds__(block) void advance_kernel(int kind, PerSample exponent, Skip skip,
                                                        Forward forward, double* slopes) {
    const std::size_t sample = blockIdx.x;
    const int n = skip.streams, p = skip.width, size = n * p;
    const std::size_t first = sample * static_cast<std::size_t>(size);
    double* const x = forward.values + first;
    double* const carried = forward.carried + first;
    double* const branch = forward.branch + first;
    const double* const mixer = skip.mixer.data + sample * skip.mixer.stride;
    const int unit = forward.exponents[sample] + static_cast<int>(exponent.data[sample * exponent.stride]);
    const int branch_unit = slopes == nullptr ? 0 : response_unit(kind, unit);

    double top_carried = 0, top_branch = 0;
    for (int i = static_cast<int>(threadIdx.x); i < size; i += block) {
        double sum = 0;
        for (int q = 0; q < n; ++q) sum += mixer[q * n + i / p] * x[q * p + i % p];
        carried[i] = sum;
        top_carried = fmax(top_carried, fabs(sum));
        double slope = 0;
        branch[i] = slopes == nullptr ? 0.0 : response(kind, branch[i], unit, slope);
        if (slopes != nullptr) slopes[first + static_cast<std::size_t>(i)] = slope;
        top_branch = fmax(top_branch, fabs(branch[i]));
    }
    const int top =
        max(exponent_of(largest_of(top_carried), unit), exponent_of(largest_of(top_branch), branch_unit));
    const int next = top == INT_MIN ? 0 : top;
    for (int i = static_cast<int>(threadIdx.x); i < size; i += block)
        x[i] = scaled(carried[i], unit - next) + scaled(branch[i], branch_unit - next);
    if (threadIdx.x == 0) forward.exponents[sample] = next;
}

}  // namespace

template <class Real>
void preactivations(Matrices<const Real> weights, Forward forward, cudaStream_t stream) {
    const dim3 grid(static_cast<unsigned>((weights.size + block - 1) / block),
                    static_cast<unsigned>(weights.count));
    preactivations_kernel<<<grid, block, 0, stream>>>(weights, forward);
    check(cudaGetLastError(), "preactivations");
}

void advance(int kind, PerSample exponent, Skip skip, int count, Forward forward, double* slopes,
             cudaStream_t stream) {
    advance_kernel<<<static_cast<unsigned>(count), block, 0, stream>>>(kind, exponent, skip, forward, slopes);
    check(cudaGetLastError(), "advance");
}

template void preactivations(Matrices<const double>, Forward, cudaStream_t);
template void preactivations(Matrices<const float>, Forward, cudaStream_t);

}  // namespace spectra::montecarlo::cuda
