#pragma once

#include "montecarlo/cuda/reflection.cuh"
#include "montecarlo/cuda/two_stage_tiles.cuh"
#include "montecarlo/cuda/warp.cuh"

/// The first stage of two_stage.cu: QR of a group of tiles of a panel, which leaves its triangle in the first tile.
namespace spectra::montecarlo::cuda::two_stage {

constexpr int panel_block = (group_tiles + 1) * 32;  // eight warps with columns, one for T

/// 256×32 in registers: a lane has one row of each tile, a warp the columns warp, warp + 8, …. `across`: of the
/// transpose of a row of tiles.
template <class Real, bool across>
class Panel {
    static constexpr int slots = tile / group_tiles;  // columns of a warp
    static constexpr int staged_leading = tile + 1, square_leading = tile + 1;

public:
    /// Of shared memory.
    static constexpr int numbers =
        group_rows * staged_leading + 2 * group_rows + 2 * tile * square_leading + tile;

    __device__ Panel(const Matrices<Real>& matrices, const Level& level, unsigned char* memory)
        : level_(level),
          leading_(static_cast<std::size_t>(matrices.leading)),
          number_(static_cast<int>(blockIdx.x) / level.groups()),
          group_(static_cast<int>(blockIdx.x) % level.groups()),
          tiles_(level.tiles_of(group_)),
          lane_(lane_number()),
          warp_(warp_number()) {
        matrix_ = matrices.data + static_cast<std::size_t>(number_) * matrices.stride;
        staged_ = reinterpret_cast<Real*>(memory);
        v_ = staged_ + group_rows * staged_leading;
        gram_ = v_ + 2 * group_rows;
        t_ = gram_ + tile * square_leading;
        taus_ = t_ + tile * square_leading;
    }

    __device__ void factorise() {
        read();
#pragma unroll
        for (int s = 0; s < slots; ++s) {
            for (int owner = 0; owner < group_tiles; ++owner) {
                const int j = group_tiles * s + owner;
                Real* const v = v_ + (j & 1) * group_rows;  // others may still read the one before
                if (warp_ == owner) find_reflection(a_[s], j, v);
                __syncthreads();
                if (has_columns())
                    apply_reflection(j, v);
                else if (j > 0)
                    add_to_factor(j - 1);
            }
        }
        __syncthreads();
    }

    /// The triangle, V by columns and T by rows.
    __device__ void write(Real* reflectors, Real* factors) {
        const std::size_t place = level_.place_of(number_, group_);
        if (has_columns()) {
            write_columns(reflectors + place * (group_rows * tile));
        } else {
            add_to_factor(tile - 1);
            __syncwarp();
            Real* const to = factors + place * (tile * tile);
            for (int i = 0; i < tile; ++i) to[i * tile + lane_] = t_[i * square_leading + lane_];
        }
    }

private:
    __device__ bool has_columns() const {
        return warp_ < group_tiles;
    }
    __device__ Real& entry(int q, int row, int column) const {
        const auto along = static_cast<std::size_t>(level_.tile_at(group_, q) * tile + row);
        const auto beside = static_cast<std::size_t>(level_.panel * tile + column);
        return across ? matrix_[along * leading_ + beside] : matrix_[beside * leading_ + along];
    }

    __device__ void read() {
        if constexpr (across) {
            for (int i = static_cast<int>(threadIdx.x); i < tiles_ * tile * tile; i += panel_block) {
                const int column = i % tile, row = i / tile;
                staged_[row * staged_leading + column] = entry(row / tile, row % tile, column);
            }
            __syncthreads();
        }
#pragma unroll
        for (int s = 0; s < slots; ++s) {
            const int column = group_tiles * s + warp_;
#pragma unroll
            for (int q = 0; q < group_tiles; ++q) {
                a_[s][q] = 0;
                // Above the leaves of the tree only triangles take part.
                if (has_columns() && q < tiles_ && (level_.stride == 1 || lane_ <= column))
                    a_[s][q] = across ? staged_[(q * tile + lane_) * staged_leading + column]
                                      : entry(q, lane_, column);
            }
        }
    }

    /// Of column j, in a warp: its v, 0 above entry j, goes to `v`, and below the diagonal to the column.
    __device__ void find_reflection(Real (&column)[group_tiles], int j, Real* v) {
        Real part = lane_ > j ? column[0] * column[0] : Real(0);
#pragma unroll
        for (int q = 1; q < group_tiles; ++q) part += column[q] * column[q];
        const Real tail2 = sum_of_warp(part);
        const Real alpha = __shfl_sync(0xffffffffU, column[0], j);
        const auto unit = unit_reflection(alpha, tail2);
#pragma unroll
        for (int q = 0; q < group_tiles; ++q) {
            if (q > 0 || lane_ > j) column[q] *= unit.scale;
            v[q * tile + lane_] = column[q];
        }
        if (lane_ == j) column[0] = unit.beta;
        if (lane_ <= j) v[lane_] = lane_ == j ? Real(1) : Real(0);
        if (lane_ == 0) taus_[j] = unit.tau;
    }

    /// To the columns after j; of those before, which are vectors v, the products with this one go to VᵀV.
    __device__ void apply_reflection(int j, const Real* v) {
        Real of_v[group_tiles], dot[slots];
#pragma unroll
        for (int q = 0; q < group_tiles; ++q) of_v[q] = v[q * tile + lane_];
        const Real tau = taus_[j];
#pragma unroll
        for (int p = 0; p < slots; ++p) {
            dot[p] = 0;
#pragma unroll
            for (int q = 0; q < group_tiles; ++q) dot[p] += of_v[q] * a_[p][q];
        }
#pragma unroll
        for (int step = 16; step > 0; step /= 2)
#pragma unroll
            for (int p = 0; p < slots; ++p) dot[p] += __shfl_xor_sync(0xffffffffU, dot[p], step);
#pragma unroll
        for (int p = 0; p < slots; ++p) {
            const int column = group_tiles * p + warp_;
            if (column > j) {
                const Real factor = tau * dot[p];
#pragma unroll
                for (int q = 0; q < group_tiles; ++q) a_[p][q] -= factor * of_v[q];
            } else if (column < j && lane_ == 0) {
                gram_[j * square_leading + column] = dot[p];
            }
        }
    }

    /// Column c of T, from what was complete at the last synchronisation.
    __device__ void add_to_factor(int c) {
        Real sum = 0;
        for (int l = 0; l < c; ++l)
            if (l >= lane_) sum += t_[lane_ * square_leading + l] * gram_[c * square_leading + l];
        t_[lane_ * square_leading + c] = lane_ < c ? -taus_[c] * sum : lane_ == c ? taus_[c] : Real(0);
    }

    __device__ void write_columns(Real* to) {
#pragma unroll
        for (int s = 0; s < slots; ++s) {
            const int column = group_tiles * s + warp_;
            entry(0, lane_, column) = lane_ <= column ? a_[s][0] : Real(0);
            if (lane_ <= column) a_[s][0] = lane_ == column ? Real(1) : Real(0);
#pragma unroll
            for (int q = 0; q < group_tiles; ++q)
                if (q < tiles_) to[column * group_rows + q * tile + lane_] = a_[s][q];
        }
    }

    const Level& level_;
    std::size_t leading_;
    int number_, group_, tiles_, lane_, warp_;
    Real* matrix_;
    Real a_[slots][group_tiles];
    // Shared memory.
    Real* staged_;  // the tiles, for the transpose
    Real* v_;       // of an even and an odd column
    Real* gram_;    // [j][i < j]: VᵀV
    Real* t_;       // [row][column]
    Real* taus_;
};

/// `together`: blocks per processor.
template <class Real, bool across, int together>
__global__ __launch_bounds__(panel_block, together) void factorise_panel(Matrices<Real> matrices, Level level,
                                                                         Real* reflectors, Real* factors) {
    extern __shared__ __align__(16) unsigned char shared_bytes[];
    Panel<Real, across> panel(matrices, level, shared_bytes);
    panel.factorise();
    panel.write(reflectors, factors);
}

}  // namespace spectra::montecarlo::cuda::two_stage
