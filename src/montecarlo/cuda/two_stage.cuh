#pragma once

#include "montecarlo/cuda/band.cuh"
#include "montecarlo/cuda/runtime.cuh"

#include <cstddef>

namespace spectra::montecarlo::cuda {

/// From this size on two stages are faster than one (householder.cuh). On an H200 they are 1.7 (double) and 1.4 (float)
/// times as fast at 256, and 2.8 and 2.5 times at 1024.
constexpr int two_stages_from = 256;

/// Memory of both stages. One per stream; it grows as needed.
template <class Real>
struct TwoStages {
    Buffer<Real> padded, reflectors, factors, band;
    Buffer<unsigned> progress;  ///< tasks that each sweep has done
    Buffer<unsigned> failures;  ///< one number: waits that were given up

    /// Elements between the bands of matrices.
    static std::size_t band_stride(int size);
    /// Bytes for one matrix.
    static std::size_t bytes(int size);

    void reserve(const Matrices<Real>& matrices);
    void release();

    /// Waits for the stream. Throws std::runtime_error if a thread block of the last reduction waited in vain for
    /// another: its numbers are then wrong.
    void confirm(const Stream& stream);
};

/// A = Q B Pᵀ with upper banded B, of which band_width superdiagonals are not zero, written to work.band: entry
/// (i, j) at j·band_leading + i − j + 2·band_width. The matrices are overwritten.
///
/// Tiles have 32×32 entries. A panel, a column of tiles, is reduced in a tree: groups of eight tiles each by
/// Householder's reflections in one thread block, then groups of eight of the triangles that remain, and so on.
/// The reflections of a group, I − V T Vᵀ, are then applied to all columns of tiles at the right in products on
/// tensor cores. Rows of tiles follow likewise, transposed.
template <class Real>
void reduce_to_band(Matrices<Real> matrices, TwoStages<Real>& work, cudaStream_t stream);

/// Reduces the bands to upper bidiagonal matrices: `size` elements of the diagonal and `size` − 1 beside it per
/// matrix, with a stride of `size`. The bands are overwritten.
///
/// Sweep i maps row i to its first two entries, and chases what that fills in along the band, in tasks of 32
/// columns, at a distance of two tasks from the sweep before. Two warps have one sweep at a time. They are in one
/// block per matrix where the band fits into its shared memory, in a cluster of two blocks where it fits there and
/// the device holds the clusters of all matrices at once, and else in blocks of their own.
template <class Real>
void reduce_band(const Matrices<Real>& matrices, TwoStages<Real>& work, Real* diagonal, Real* beside,
                 cudaStream_t stream);

/// Both; the same as bidiagonalise (householder.cuh) up to the reflections used. The distribution of work depends
/// only on the size, and sums have a fixed order: a result does not depend on the other matrices or their
/// number. `work.confirm` tells whether it is valid.
template <class Real>
void bidiagonalise_in_two_stages(Matrices<Real> matrices, TwoStages<Real>& work, Real* diagonal, Real* beside,
                                 cudaStream_t stream);

}  // namespace spectra::montecarlo::cuda
