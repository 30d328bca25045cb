#pragma once

#include "montecarlo/cuda/fragments.cuh"
#include "montecarlo/cuda/two_stage_tiles.cuh"
#include "montecarlo/cuda/warp.cuh"

/// The first stage of two_stage.cu: the reflections of a group of tiles, applied to the remaining matrix.
namespace spectra::montecarlo::cuda::two_stage {

constexpr int update_block = group_tiles * 32;

/// 32 rows of X, and a product X ← X − X V T Vᵀ: a warp has the columns of one tile, in registers as fragments
/// of 16×8 (fragments.cuh). `across`: X is a row of tiles; else the transpose of a column of tiles.
template <class Real, bool across>
class Strip {
    // Strides of rows: with these, the lanes of a warp read different banks.
    static constexpr int part_leading = tile + 8, sum_leading = tile + 4;

public:
    /// Of shared memory.
    static constexpr int numbers = group_tiles * tile * part_leading + 2 * tile * sum_leading;

    /// `at`: entry (0, 0) of this warp's columns.
    __device__ Strip(Real* at, int leading, unsigned char* memory)
        : at_(at), leading_(static_cast<std::size_t>(leading)), lane_(lane_number()), warp_(warp_number()) {
        parts_ = reinterpret_cast<Real*>(memory);
        sums_ = parts_ + group_tiles * tile * part_leading;
        last_ = sums_ + tile * sum_leading;
    }

    __device__ void read() {
        each_pair([&](Real& first, Real& second, std::size_t row, std::size_t column) {
            if constexpr (across) {
                first = at_[column * leading_ + row];
                second = at_[(column + 1) * leading_ + row];
            } else {
                const auto pair = *reinterpret_cast<const Pair<Real>*>(at_ + row * leading_ + column);
                first = pair.first;
                second = pair.second;
            }
        });
    }
    __device__ void write() {
        each_pair([&](Real& first, Real& second, std::size_t row, std::size_t column) {
            if constexpr (across) {
                at_[column * leading_ + row] = first;
                at_[(column + 1) * leading_ + row] = second;
            } else {
                *reinterpret_cast<Pair<Real>*>(at_ + row * leading_ + column) = {first, second};
            }
        });
    }

    /// This warp's contribution to X V. The order of the inner index is free: with 0, 2, 4, 6, 1, 3, 5, 7 in
    /// each step of eight, X as it lies in registers is the left factor.
    __device__ void multiply(const Real* v) {
        const int g = lane_ / 4, m = lane_ % 4;
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            Real sum[2][2][4] = {};
#pragma unroll
            for (int k = 0; k < 4; ++k) {
                Real b[2][2];
#pragma unroll
                for (int j = 0; j < 2; ++j) {
                    const auto pair = *reinterpret_cast<const Pair<Real>*>(
                        v + (16 * half + 8 * j + g) * group_rows + 8 * k + 2 * m);
                    b[j][0] = pair.first;
                    b[j][1] = pair.second;
                }
#pragma unroll
                for (int i = 0; i < 2; ++i) {
                    const Real a[4] = {x_[i][k][0], x_[i][k][2], x_[i][k][1], x_[i][k][3]};
#pragma unroll
                    for (int j = 0; j < 2; ++j) multiply_add(sum[i][j], a, b[j]);
                }
            }
            leave(sum, 16 * half);
        }
    }

    /// last = −(Σ of contributions) T, by the whole block, of which `tiles` warps contributed.
    __device__ void add_up(const Real* t, int tiles) {
        __syncthreads();
        for (int e = static_cast<int>(threadIdx.x); e < tile * tile; e += update_block) {
            const int row = e / tile, column = e % tile;
            Real sum = 0;
            for (int q = 0; q < tiles; ++q) sum += parts_[(q * tile + row) * part_leading + column];
            sums_[row * sum_leading + column] = sum;
        }
        __syncthreads();
        const int g = lane_ / 4, m = lane_ % 4, i = warp_ / 4, j = warp_ % 4;
        Real sum[4] = {};
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            Real a[4];
            left_factor(sums_, i, k, a);
            const Real b[2] = {t[(8 * k + m) * tile + 8 * j + g], t[(8 * k + m + 4) * tile + 8 * j + g]};
            multiply_add(sum, a, b);
        }
        Real* const to = last_ + (16 * i + g) * sum_leading + 8 * j + 2 * m;
        to[0] = -sum[0];
        to[1] = -sum[1];
        to[8 * sum_leading] = -sum[2];
        to[8 * sum_leading + 1] = -sum[3];
        __syncthreads();
    }

    /// X ← X + last Vᵀ.
    __device__ void add_product(const Real* v) {
        const int g = lane_ / 4, m = lane_ % 4;
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            Real a[2][4];
#pragma unroll
            for (int i = 0; i < 2; ++i) left_factor(last_, i, k, a[i]);
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                const Real* const from = v + (8 * k + m) * group_rows + 8 * j + g;
                const Real b[2] = {from[0], from[4 * group_rows]};
#pragma unroll
                for (int i = 0; i < 2; ++i) multiply_add(x_[i][j], a[i], b);
            }
        }
    }

private:
    /// Calls take(first, second, row, column of the first) for neighbours in a row of X.
    template <class Take>
    __device__ void each_pair(Take take) {
#pragma unroll
        for (int i = 0; i < 2; ++i)
#pragma unroll
            for (int j = 0; j < 4; ++j)
#pragma unroll
                for (int half = 0; half < 2; ++half)
                    take(x_[i][j][2 * half], x_[i][j][2 * half + 1],
                         static_cast<std::size_t>(16 * i + 8 * half + lane_ / 4),
                         static_cast<std::size_t>(8 * j + 2 * (lane_ % 4)));
    }

    /// 32×16 of this warp's contribution.
    __device__ void leave(const Real (&sum)[2][2][4], int column) {
#pragma unroll
        for (int i = 0; i < 2; ++i)
#pragma unroll
            for (int j = 0; j < 2; ++j)
#pragma unroll
                for (int low = 0; low < 2; ++low) {
                    Real* const to = parts_ + (warp_ * tile + 16 * i + 8 * low + lane_ / 4) * part_leading +
                                     column + 8 * j + 2 * (lane_ % 4);
                    *reinterpret_cast<Pair<Real>*>(to) = {sum[i][j][2 * low], sum[i][j][2 * low + 1]};
                }
    }

    /// Rows 16 i to 16 i + 15 and columns 8 k to 8 k + 7 of a matrix in shared memory.
    __device__ void left_factor(const Real* matrix, int i, int k, Real (&a)[4]) const {
        const Real* const from = matrix + (16 * i + lane_ / 4) * sum_leading + 8 * k + lane_ % 4;
        a[0] = from[0];
        a[1] = from[8 * sum_leading];
        a[2] = from[4];
        a[3] = from[8 * sum_leading + 4];
    }

    Real* at_;
    std::size_t leading_;
    int lane_, warp_;
    Real x_[2][4][4];
    // Shared memory.
    Real* parts_;  // [tile][row][column of V]
    Real* sums_;   // X V
    Real* last_;   // −X V T
};

/// Strips are counted from tile `strip0`.
template <class Real, bool across>
__global__ __launch_bounds__(update_block, 2) void update(Matrices<Real> matrices, Level level, int strip0,
                                                          int strips, const Real* reflectors,
                                                          const Real* factors) {
    extern __shared__ __align__(16) unsigned char shared_bytes[];
    const int groups = level.groups(), index = static_cast<int>(blockIdx.x), warp = warp_number();
    const int strip = index % strips, group = index / strips % groups, number = index / strips / groups;
    const int tiles = level.tiles_of(group);
    const bool busy = warp < tiles;
    const std::size_t leading = static_cast<std::size_t>(matrices.leading);
    const std::size_t place = level.place_of(number, group);
    const Real* const v = reflectors + place * (group_rows * tile) + warp * tile;
    const auto row = static_cast<std::size_t>((strip0 + strip) * tile);
    const auto column = static_cast<std::size_t>(level.tile_at(group, busy ? warp : 0) * tile);
    Real* const matrix = matrices.data + static_cast<std::size_t>(number) * matrices.stride;

    Strip<Real, across> x(matrix + (across ? column * leading + row : row * leading + column),
                          matrices.leading, shared_bytes);
    if (busy) {
        x.read();
        x.multiply(v);
    }
    x.add_up(factors + place * (tile * tile), tiles);
    if (!busy) return;
    x.add_product(v);
    x.write();
}

}  // namespace spectra::montecarlo::cuda::two_stage
