#pragma once

#include "montecarlo/cuda/graded_state.cuh"
#include "montecarlo/cuda/sampling.cuh"
#include "montecarlo/cuda/warp.cuh"

#include <cfloat>
#include <cmath>
#include <cstddef>

/// Building blocks of the kernels of graded.cu: columns of a matrix in the registers of a warp.
namespace spectra::montecarlo::cuda::graded {

inline constexpr int block = 256, warps = block / 32;
/// Resident blocks per multiprocessor, measured; columns take most of the registers.
constexpr int resident(int chunks) {
    return chunks <= 4 ? 4 : chunks <= 8 ? 2 : 1;
}
inline constexpr double unit = DBL_EPSILON / 2;
inline constexpr double most_error = 1e-3;

/// x·2^exponent for any exponent; values below 2^−150 are negligible beside columns of norm ½.
__device__ inline double shifted(double x, int exponent) {
    return exponent < -150 ? 0 : ldexp(x, min(exponent, 2000));
}

__device__ inline int exponent_of(double x) {
    int exponent = 0;
    frexp(x, &exponent);
    return exponent;
}

/// The largest x of the block, in every thread.
__device__ inline double largest_of_block(double x) {
    __shared__ double of_warp[warps];
    x = largest_of_warp(x);
    __syncthreads();
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = x;
    __syncthreads();
    for (const double other : of_warp) x = fmax(x, other);
    return x;
}

/// A column in the registers of a warp: row lane + 32 c in x[c], zero from `size` on.
template <int chunks>
struct Column {
    double x[chunks];

    /// Zero above `first`.
    __device__ void load(const double* from, int size, int first = 0) {
#pragma unroll
        for (int c = 0; c < chunks; ++c) {
            const int i = lane_number() + 32 * c;
            x[c] = i >= first && i < size ? from[i] : 0;
        }
    }
    __device__ void store(double* to, int size, int first = 0) const {
#pragma unroll
        for (int c = 0; c < chunks; ++c) {
            const int i = lane_number() + 32 * c;
            if (i >= first && i < size) to[i] = x[c];
        }
    }
    __device__ void set_unit(int row) {
#pragma unroll
        for (int c = 0; c < chunks; ++c) x[c] = lane_number() + 32 * c == row ? 1 : 0;
    }
    __device__ void add(int row, double y) {
#pragma unroll
        for (int c = 0; c < chunks; ++c)
            if (lane_number() + 32 * c == row) x[c] += y;
    }
    /// this += factor · other
    __device__ void add(double factor, const Column& other) {
#pragma unroll
        for (int c = 0; c < chunks; ++c) x[c] += factor * other.x[c];
    }
    __device__ void scale(double factor) {
#pragma unroll
        for (int c = 0; c < chunks; ++c) x[c] *= factor;
    }
    __device__ double dot(const Column& other) const {
        double sum = 0;
#pragma unroll
        for (int c = 0; c < chunks; ++c) sum += x[c] * other.x[c];
        return sum_of_warp(sum);
    }
    /// From row `first` on.
    __device__ double norm2(int first = 0) const {
        double sum = 0;
#pragma unroll
        for (int c = 0; c < chunks; ++c)
            if (lane_number() + 32 * c >= first) sum += x[c] * x[c];
        return sum_of_warp(sum);
    }
    __device__ double absolute_sum() const {
        double sum = 0;
#pragma unroll
        for (int c = 0; c < chunks; ++c) sum += fabs(x[c]);
        return sum_of_warp(sum);
    }
};

/// The data of the kernels: every sample s has its matrices, `size` exponents and a state.
struct Products {
    int size = 0;
    int leading = 0;
    std::size_t stride = 0;
    int* exponents = nullptr;
    GradedState* states = nullptr;

    __device__ double* matrix(double* data) const { return data + blockIdx.x * stride; }
    __device__ int* own_exponents() const {
        return exponents + static_cast<std::size_t>(blockIdx.x) * static_cast<std::size_t>(size);
    }
    __device__ std::size_t at(int j) const {
        return static_cast<std::size_t>(j) * static_cast<std::size_t>(leading);
    }
};

/// Scales the norm of a column to [½, 1) and adds its power of two to `exponent`; returns the square of the
/// norm.
template <int chunks>
__device__ double normalise(Column<chunks>& column, int& exponent) {
    const double norm2 = column.norm2();
    const int shift = exponent_of(sqrt(norm2));
    if (shift == 0) return norm2;
    column.scale(ldexp(1.0, -shift));
    exponent += shift;
    return column.norm2();
}

}  // namespace spectra::montecarlo::cuda::graded
