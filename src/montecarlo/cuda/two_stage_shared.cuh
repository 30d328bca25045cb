#pragma once

#include "montecarlo/cuda/reflection.cuh"
#include "montecarlo/cuda/two_stage_chase.cuh"
#include "montecarlo/cuda/warp.cuh"

#include <cstddef>

/// The second stage of two_stage.cu where a band fits into the shared memory of a thread block.
namespace spectra::montecarlo::cuda::two_stage {

__device__ inline void meet_group(int group) {
    asm volatile("bar.sync %0, %1;" ::"r"(group + 1), "n"(chase_block) : "memory");
}
__device__ inline unsigned acquire_shared(const unsigned* from) {
    unsigned seen = 0;
    asm volatile("ld.acquire.cta.shared.u32 %0, [%1];"
                 : "=r"(seen)
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(from)))
                 : "memory");
    return seen;
}
__device__ inline void release_shared(unsigned* to, unsigned value) {
    asm volatile(
        "st.release.cta.shared.u32 [%0], %1;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(to))),
        "r"(value)
        : "memory");
}

/// Windows as in Chase, U above D and E at the right of D, in place in the band. Of a column, 64 rows are stored, row
/// r at r mod 64: the windows of a sweep reach 32 rows above c and 31 below. A sweep moves them by one row; the row
/// that comes in takes the place of one that is zero.
///
/// There is one exception. The last column of E, c + 63, is the first of D in task t + 2 of the sweep before, which
/// may be at work there. So this column, of which only the last entry is not zero before, is kept aside until it is
/// the last of U in the next task, when that task of the sweep before is complete.
template <class Real>
class SharedChase {
    static constexpr int width = band_width;  // a warp
    static constexpr int warps = chase_block / 32;
    static constexpr int rows = 2 * width;
    static constexpr int leading = rows + 1;

public:
    static std::size_t bytes(int size, int groups) {
        return static_cast<std::size_t>(band_columns(size) * leading + groups * (width + warps * 2 * width)) *
                   sizeof(Real) +
               static_cast<std::size_t>(size) * sizeof(unsigned);
    }

    __device__ SharedChase(int size, int groups, unsigned char* memory)
        : n_(size),
          groups_(groups),
          group_(static_cast<int>(threadIdx.x) / chase_block),
          tid_(static_cast<int>(threadIdx.x) % chase_block),
          lane_(lane_number()),
          warp_(tid_ / 32) {
        band_ = reinterpret_cast<Real*>(memory);
        Real* const aside = band_ + band_columns(size) * leading;
        Real* const vectors = aside + groups * width;
        kept_ = aside + group_ * width;
        v_ = vectors + (group_ * warps + warp_) * 2 * width;
        progress_ = reinterpret_cast<unsigned*>(vectors + groups * warps * 2 * width);
    }

    /// Reduces a stored band.
    __device__ void reduce(const Real* from, Real* diagonal, Real* beside) {
        const int block = groups_ * chase_block, tid = static_cast<int>(threadIdx.x);
        for (int i = tid; i < n_; i += block) progress_[i] = 0;
        for (int i = tid; i < band_columns(n_) * rows; i += block) {
            const int column = i / rows, above = i % rows;
            entry(column, column - above) = from[column * band_leading + 2 * width - above];
        }
        __syncthreads();
        for (int i = group_; i < n_ - 2; i += groups_) sweep(i);
        __syncthreads();
        for (int i = tid; i < n_; i += block) {
            diagonal[i] = entry(i, i);
            if (i + 1 < n_) beside[i] = entry(i + 1, i);
        }
    }

private:
    static constexpr unsigned all_tasks = 1U << 30;

    __device__ Real& entry(int column, int row) const { return band_[column * leading + (row & (rows - 1))]; }

    __device__ void sweep(int i) {
        const unsigned* const before = i > 0 ? progress_ + i - 1 : nullptr;
        unsigned seen = 0;
        wait(before, 2, seen);
        const Real first = entry(i + 1 + lane_, i);
        meet_group(group_);  // all warps have read the row
        auto unit = reflect(first, v_);
        if (warp_ == 0) entry(i + 1 + lane_, i) = lane_ == 0 ? unit.beta : Real(0);
        const int tasks = tasks_of(n_, i);
        for (int t = 0; t < tasks; ++t) {
            const int c = i + 1 + t * width;
            wait(before, static_cast<unsigned>(t) + 2, seen);
            unit = task(c, unit.tau, t > 0);
            if (tid_ == 0)
                release_shared(progress_ + i, t + 1 < tasks ? static_cast<unsigned>(t) + 1U : all_tasks);
        }
    }

    __device__ void wait(const unsigned* counter, unsigned needed, unsigned& seen) const {
        if (counter == nullptr) return;
        while (seen < needed) seen = acquire_shared(counter);
        __syncwarp();
    }

    __device__ UnitReflection<Real> task(int c, Real tau, bool has_above) {
        apply_right(c, tau, has_above);
        meet_group(group_);
        Real* const v_left = v_ + width;
        const auto left = reflect(entry(c, c + lane_), v_left);
        meet_group(group_);  // all warps have read the first column
        apply_left(c, left, v_left);
        meet_group(group_);
        const Real next = lane_ < width - 1 ? entry(c + width + lane_, c) : kept_[0];
        const auto right = reflect(next, v_);
        meet_group(group_);  // all warps have read the row
        if (warp_ == 0) {
            Real& to = lane_ < width - 1 ? entry(c + width + lane_, c) : kept_[0];
            to = lane_ == 0 ? right.beta : Real(0);
            __syncwarp();
        }
        return right;
    }

    /// The reflection of the vector that has entry `x` in this lane. All warps find the same.
    __device__ UnitReflection<Real> reflect(Real x, Real* v) const {
        const Real tail2 = sum_of_warp(lane_ > 0 ? x * x : Real(0));
        const Real alpha = __shfl_sync(0xffffffffU, x, 0);
        const auto unit = unit_reflection(alpha, tail2);
        v[lane_] = lane_ == 0 ? Real(1) : x * unit.scale;
        __syncwarp();
        return unit;
    }

    /// Rows of U without the first, and of D. Two threads per row.
    __device__ void apply_right(int c, Real tau, bool has_above) {
        const int row = tid_ / 2, half = tid_ % 2;
        const bool of_above = row < width;
        Real* const at = &entry(c + half, c - width + row);
        const bool needed = !of_above || has_above;
        const bool aside = of_above && half == 1;
        Real x[width / 2];
        Real dot = 0;
        if (needed) {
#pragma unroll
            for (int q = 0; q < width / 2; ++q) x[q] = at[2 * q * leading];
            if (aside) x[width / 2 - 1] = kept_[row];
            dot = half_product(x, v_, half);
        }
        dot += __shfl_xor_sync(0xffffffffU, dot, 1);
        const Real factor = tau * dot;
        if (!needed || row == 0) return;
#pragma unroll
        for (int q = 0; q < width / 2; ++q) at[2 * q * leading] = x[q] - factor * v_[2 * q + half];
    }

    /// Columns of D and E. Two threads per column.
    __device__ void apply_left(int c, const UnitReflection<Real>& left, const Real* v) {
        const int column = tid_ / 2, half = tid_ % 2;
        const bool aside = column == 2 * width - 1;
        Real* const from = band_ + (c + column) * leading;
        const int row0 = c + half;
        Real x[width / 2];
#pragma unroll
        for (int q = 0; q < width / 2; ++q) x[q] = from[(row0 + 2 * q) & (rows - 1)];
        if (aside) {
#pragma unroll
            for (int q = 0; q < width / 2; ++q)
                if (q < width / 2 - 1 || half == 0) x[q] = 0;
        }
        Real dot = half_product(x, v, half);
        dot += __shfl_xor_sync(0xffffffffU, dot, 1);
        const Real factor = left.tau * dot;
#pragma unroll
        for (int q = 0; q < width / 2; ++q) {
            Real out = x[q] - factor * v[2 * q + half];
            if (column == 0) out = q == 0 && half == 0 ? left.beta : Real(0);
            if (aside)
                kept_[2 * q + half] = out;
            else
                from[(row0 + 2 * q) & (rows - 1)] = out;
        }
    }

    int n_, groups_, group_, tid_, lane_, warp_;
    // Shared memory.
    Real* band_;          // [column][row mod 64]
    Real* kept_;          // of this group: the last column of E, then of U
    Real* v_;             // of this warp: of the right reflection, then of the left one
    unsigned* progress_;  // tasks that each sweep has done
};

/// A block per matrix.
template <class Real, int most_groups>
__global__ __launch_bounds__(most_groups* chase_block) void chase_shared(int size, int groups,
                                                                         const Real* band, std::size_t stride,
                                                                         Real* diagonal, Real* beside) {
    extern __shared__ __align__(16) unsigned char shared_bytes[];
    SharedChase<Real> one(size, groups, shared_bytes);
    const std::size_t number = blockIdx.x, offset = number * static_cast<std::size_t>(size);
    one.reduce(band + number * stride, diagonal + offset, beside + offset);
}

}  // namespace spectra::montecarlo::cuda::two_stage
