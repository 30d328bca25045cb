#pragma once

#include "montecarlo/cuda/band.cuh"
#include "montecarlo/cuda/reflection.cuh"
#include "montecarlo/cuda/runtime.cuh"
#include "montecarlo/cuda/warp.cuh"

#include <cstddef>

/// The second stage of two_stage.cu: from bands to bidiagonal matrices.
namespace spectra::montecarlo::cuda::two_stage {

constexpr int chase_block = 128;
constexpr unsigned most_polls = 4000000;  // a second or more: then something is wrong

/// Columns of a stored band: windows reach beyond the matrix, where all is zero.
__host__ __device__ inline int band_columns(int size) {
    return size + 2 * band_width;
}

/// Tasks of sweep i: their first columns are i + 1 + 32 t.
__host__ __device__ inline int tasks_of(int size, int sweep) {
    return (size - 1 - sweep + band_width - 1) / band_width;
}

__device__ inline unsigned acquire(const unsigned* from) {
    unsigned seen = 0;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(from) : "memory");
    return seen;
}
/// Also releases what the threads of the block wrote before they last met.
__device__ inline void release(unsigned* to, unsigned value) {
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(to), "r"(value) : "memory");
}

/// Of every other entry of a row or column with v.
template <class Real>
__device__ Real half_product(const Real (&x)[band_width / 2], const Real* v, int half) {
    Real even = 0, odd = 0;
#pragma unroll
    for (int q = 0; q < band_width / 2; q += 2) {
        even += x[q] * v[2 * q + half];
        odd += x[q + 1] * v[2 * q + 2 + half];
    }
    return even + odd;
}

/// The sweeps of a matrix, each in one of several blocks, which are resident together (a cooperative launch).
///
/// Task t with its first column c has the windows U above D on the columns c, c + 1, …, and E at the right of D,
/// 32×32 each. The right reflection, from the first row of U, is known; it is applied to U and D. The left one,
/// from the first column of D, is applied to D and E. E is U in the next task and stays in shared memory;
/// the reflection of its first row is found at once and this row written, because the next sweep needs its first
/// entry before the remainder.
///
/// Task t of the next sweep has windows one row and column further. It needs task t + 1 of this sweep, and of
/// task t + 2 only the first entry of U.
template <class Real>
class Chase {
    static constexpr int width = band_width;  // a warp
    static constexpr int warps = chase_block / 32;
    static constexpr int window_leading = width + 1;
    static constexpr int step = band_leading - 1;  // in a stored band, between columns of a window

public:
    /// Of shared memory.
    static constexpr int numbers = 3 * width * window_leading + 2 * warps * width;

    __device__ Chase(int size, unsigned char* memory, unsigned* failures)
        : n_(size),
          tid_(static_cast<int>(threadIdx.x)),
          lane_(lane_number()),
          warp_(warp_number()),
          failures_(failures) {
        above_ = reinterpret_cast<Real*>(memory);
        right_ = above_ + width * window_leading;
        middle_ = right_ + width * window_leading;
        v_ = middle_ + width * window_leading + warp_ * 2 * width;
    }

    /// Sweep i; `progress` counts the tasks of every sweep.
    __device__ void sweep(Real* band, unsigned* progress, int i) {
        const unsigned* const before = i > 0 ? progress + i - 1 : nullptr;
        unsigned seen = 0;
        wait(before, 2, seen);
        Real* const row = window(band, i, i + 1);
        const Real first = __ldcg(row + lane_ * step);
        __syncthreads();
        Real tau = reflect(first, v_, row);
        const int tasks = tasks_of(n_, i);
        for (int t = 0; t < tasks; ++t) {
            const int c = i + 1 + t * width;
            wait(before, static_cast<unsigned>(t) + 2, seen);
            tau = task(band, c, tau, t > 0 ? window(band, c - width, c) : nullptr);
            if (tid_ == 0) release(progress + i, t + 1 < tasks ? static_cast<unsigned>(t) + 1U : all_tasks);
        }
    }

private:
    static constexpr unsigned all_tasks = 1U << 30;

    __device__ static Real* window(Real* band, int row, int column) {
        return band + static_cast<std::size_t>(column) * band_leading + (row - column + 2 * width);
    }

    /// Every warp waits for itself. If it waits in vain the result is wrong, which `failures` tells.
    __device__ void wait(const unsigned* counter, unsigned needed, unsigned& seen) {
        if (counter == nullptr) return;
        for (unsigned polls = 1; seen < needed && !failed_; ++polls) {
            seen = acquire(counter);
            if (seen >= needed) break;
            if (polls == most_polls || (polls % 4096 == 0 && acquire(failures_) != 0)) {
                failed_ = true;
                if (lane_ == 0) atomicAdd(failures_, 1U);
            }
        }
        __syncwarp();
    }

    /// With the first column c; U, if there is one, is written to `above`. Takes the τ of this task's right
    /// reflection, whose vector is in v_, and returns that of the next.
    __device__ Real task(Real* band, int c, Real tau, Real* above) {
        Real* const middle = window(band, c, c);
        Real* const right = window(band, c, c + width);
        each_column([&](int column) {
            middle_[column * window_leading + lane_] = __ldcg(middle + column * step + lane_);
            right_[column * window_leading + lane_] = __ldcg(right + column * step + lane_);
        });
        __syncthreads();
        apply_right(tau, above);
        __syncthreads();
        Real* const v_left = v_ + width;
        const Real tau_left = reflect(middle_[lane_], v_left, nullptr);
        __syncthreads();  // all warps have read the first column
        apply_left(tau_left, v_left);
        __syncthreads();
        each_column([&](int column) {
            __stcg(middle + column * step + lane_, middle_[column * window_leading + lane_]);
        });
        const Real next = reflect(right_[lane_ * window_leading], v_, right);
        Real* const kept = right_;
        right_ = above_;
        above_ = kept;
        __syncthreads();
        return next;
    }

    /// Calls take(column) for the columns of this warp.
    template <class Take>
    __device__ void each_column(Take take) const {
#pragma unroll
        for (int q = 0; q < width / warps; ++q) take(warp_ + warps * q);
    }

    /// The reflection I − τ v vᵀ of the vector that has entry `x` in this lane. All warps find the same; the
    /// first one writes what it is mapped to, with a stride of `step`, unless `to` is null.
    __device__ Real reflect(Real x, Real* v, Real* to) {
        const Real tail2 = sum_of_warp(lane_ > 0 ? x * x : Real(0));
        const Real alpha = __shfl_sync(0xffffffffU, x, 0);
        const auto unit = unit_reflection(alpha, tail2);
        v[lane_] = lane_ == 0 ? Real(1) : x * unit.scale;
        if (to != nullptr && warp_ == 0) __stcg(to + lane_ * step, lane_ == 0 ? unit.beta : Real(0));
        __syncwarp();
        return unit.tau;
    }

    /// To the rows of D, and of U without the first, which go to `to`. Two threads per row.
    __device__ void apply_right(Real tau, Real* to) {
        const int row = tid_ / 2, half = tid_ % 2;
        const bool of_above = row < width;
        Real* const at = (of_above ? above_ + row : middle_ + row - width) + half * window_leading;
        Real x[width / 2];
        Real dot = 0;
        const bool needed = !of_above || to != nullptr;
        if (needed) {
#pragma unroll
            for (int q = 0; q < width / 2; ++q) x[q] = at[2 * q * window_leading];
            dot = half_product(x, v_, half);
        }
        dot += __shfl_xor_sync(0xffffffffU, dot, 1);
        const Real factor = tau * dot;
        if (!needed) return;
#pragma unroll
        for (int q = 0; q < width / 2; ++q) {
            x[q] -= factor * v_[2 * q + half];
            if (!of_above)
                at[2 * q * window_leading] = x[q];
            else if (row > 0)
                __stcg(to + row + (2 * q + half) * step, x[q]);
        }
    }

    /// To the columns of D and E. Two threads per column.
    __device__ void apply_left(Real tau, const Real* v) {
        const int column = tid_ / 2, half = tid_ % 2;
        Real* const at = (column < width ? middle_ + column * window_leading
                                         : right_ + (column - width) * window_leading) +
                         half;
        Real x[width / 2];
#pragma unroll
        for (int q = 0; q < width / 2; ++q) x[q] = at[2 * q];
        Real dot = half_product(x, v, half);
        dot += __shfl_xor_sync(0xffffffffU, dot, 1);
        const Real factor = tau * dot;
#pragma unroll
        for (int q = 0; q < width / 2; ++q) at[2 * q] = x[q] - factor * v[2 * q + half];
    }

    int n_, tid_, lane_, warp_;
    bool failed_ = false;
    unsigned* failures_;
    // Shared memory.
    Real* above_;   // U
    Real* right_;   // E
    Real* middle_;  // D
    Real* v_;       // of this warp: of the right reflection, then of the left one
};

/// Teams of `workers` blocks have a matrix each, and every block of a team each workers-th sweep. `together`: blocks
/// per processor.
template <class Real, int together>
__global__ __launch_bounds__(chase_block, together) void chase(int size, int count, int workers, Real* band,
                                                               std::size_t stride, unsigned* progress,
                                                               unsigned* failures) {
    extern __shared__ __align__(16) unsigned char shared_bytes[];
    Chase<Real> one(size, shared_bytes, failures);
    const int worker = static_cast<int>(blockIdx.x) % workers, team = static_cast<int>(blockIdx.x) / workers;
    const int teams = static_cast<int>(gridDim.x) / workers;
    for (int number = team; number < count; number += teams) {
        const auto place = static_cast<std::size_t>(number);
        for (int sweep = worker; sweep < size - 2; sweep += workers)
            one.sweep(band + place * stride, progress + place * static_cast<std::size_t>(size), sweep);
    }
}

}  // namespace spectra::montecarlo::cuda::two_stage
