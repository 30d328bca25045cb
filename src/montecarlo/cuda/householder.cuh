#pragma once

#include "montecarlo/cuda/runtime.cuh"

namespace spectra::montecarlo::cuda {

/// Largest size of the two functions below.
constexpr int max_householder_size = 8192;

/// Where the blocks of a matrix pass numbers on to each other. One a stream; it grows as needed.
template <class Real>
struct Exchange {
    Buffer<unsigned> arrivals;
    Buffer<Real> sums;

    void reserve(std::size_t teams, std::size_t numbers) {
        if (arrivals.size() < teams) arrivals = Buffer<unsigned>(teams);
        if (sums.size() < numbers) sums = Buffer<Real>(numbers);
    }
};

/// Reduces every matrix A = Q B Pᵀ to upper bidiagonal B by Householder's reflections: `size` elements of
/// its diagonal and `size` − 1 beside it are written for each, `size` apart. The matrices are overwritten.
///
/// A step reads and writes what is left of A once. With the reflection H = I − κ y yᵀ of column k known,
/// a column a_j, in registers, becomes
///
///     a_j ← a_j − x u_j          the right reflection of the step before
///     a_j ← a_j − κ (yᵀ a_j) y   the left one of this step
///
/// and its entry u_j = a_kj of row k completes; with it the product A u is summed at once. The row's own
/// reflection, I − κ' ũ ũᵀ with ũ = u − β e₁, needs only the norm of u beside that: x = κ' (A u − β a_{k+1}),
/// which also gives column k+1 and so the next reflection.
///
/// One block holds a matrix in shared memory where it fits; large ones are spread by columns over several
/// blocks, which meet once a step. How a matrix is spread depends on its size (and the device) alone, and
/// sums are taken in a fixed order: a result depends neither on the other matrices nor on their number.
template <class Real>
void bidiagonalise(Matrices<Real> matrices, Exchange<Real>& exchange, Real* diagonal, Real* beside,
                   cudaStream_t stream);

/// A = Q R in place: Q = H_0 H_1 ···, H_k = I − κ_k y_k y_kᵀ with y_k in column k from row k on. `kappa` has
/// `size` numbers a matrix, and `sign` those of the diagonal of R, ±1.
template <class Real>
void factorise_qr(Matrices<Real> matrices, Exchange<Real>& exchange, Real* kappa, Real* sign,
                  cudaStream_t stream);

}  // namespace spectra::montecarlo::cuda
