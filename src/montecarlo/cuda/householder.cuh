#pragma once

#include "montecarlo/cuda/runtime.cuh"

namespace spectra::montecarlo::cuda {

/// Largest size for the two functions below.
constexpr int max_householder_size = 8192;

/// Memory through which the blocks of a matrix exchange numbers. One per stream; it grows as needed.
template <class Real>
struct Exchange {
    Buffer<unsigned> arrivals;
    Buffer<Real> sums;

    void reserve(std::size_t teams, std::size_t numbers) {
        if (arrivals.size() < teams) arrivals = Buffer<unsigned>(teams);
        if (sums.size() < numbers) sums = Buffer<Real>(numbers);
    }
};

/// Reduces every matrix A = Q B Pᵀ to upper bidiagonal B by Householder's reflections. Writes `size` elements
/// of its diagonal and `size` − 1 beside it per matrix, with a stride of `size`. The matrices are
/// overwritten.
///
/// A step reads and writes the rest of A once. With the reflection H = I − κ y yᵀ of column k known,
/// a column a_j, in registers, becomes
///
///     a_j ← a_j − x u_j          the right reflection of the step before
///     a_j ← a_j − κ (yᵀ a_j) y   the left one of this step
///
/// Its entry u_j = a_kj of row k is then final, and the product A u is summed immediately. The reflection of
/// the row, I − κ' ũ ũᵀ with ũ = u − β e₁, also needs only the norm of u: x = κ' (A u − β a_{k+1}), which
/// also gives column k+1 and so the next reflection.
///
/// One block holds a matrix in shared memory if it fits; the columns of large ones are distributed over
/// several blocks, which synchronise once per step. The distribution depends only on the size (and the
/// device), and sums have a fixed order: a result does not depend on the other matrices or their number.
template <class Real>
void bidiagonalise(Matrices<Real> matrices, Exchange<Real>& exchange, Real* diagonal, Real* beside,
                   cudaStream_t stream);

/// A = Q R in place: Q = H_0 H_1 ···, H_k = I − κ_k y_k y_kᵀ with y_k in column k from row k on. `kappa` has
/// `size` numbers per matrix, and `sign` the signs ±1 of the diagonal of R.
template <class Real>
void factorise_qr(Matrices<Real> matrices, Exchange<Real>& exchange, Real* kappa, Real* sign,
                  cudaStream_t stream);

}  // namespace spectra::montecarlo::cuda
