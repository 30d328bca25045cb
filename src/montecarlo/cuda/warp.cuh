#pragma once

// Included by kernels only.

namespace spectra::montecarlo::cuda {

__device__ inline int lane_number() {
    return static_cast<int>(threadIdx.x) % 32;
}
__device__ inline int warp_number() {
    return static_cast<int>(threadIdx.x) / 32;
}

/// Read and written at once.
template <class Real>
struct alignas(2 * sizeof(Real)) Pair {
    Real first, second;
};

/// In every lane, always in the same order.
template <class Real>
__device__ Real sum_of_warp(Real x) {
#pragma unroll
    for (int step = 16; step > 0; step /= 2) x += __shfl_xor_sync(0xffffffffU, x, step);
    return x;
}

/// Drops NaN.
template <class Real>
__device__ Real largest_of_warp(Real x) {
#pragma unroll
    for (int step = 16; step > 0; step /= 2) x = max(x, __shfl_xor_sync(0xffffffffU, x, step));
    return x;
}

}  // namespace spectra::montecarlo::cuda
