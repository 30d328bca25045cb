#pragma once

#include "montecarlo/cuda/runtime.cuh"

namespace spectra::montecarlo::cuda {

/// The state of a sample's J = 2^exponent · matrix.
struct SampleState {
    double norm2 = 0;  ///< ‖matrix‖_F², from the bidiagonal
    int exponent = 0;
    int info = 0;  ///< 0; 1 if the matrix is not finite
};

/// ln of the singular values of upper bidiagonal matrices (householder.cuh), in ascending order, plus
/// exponent·ln 2 of the state. Fills norm2 and info; all values of a matrix that is not finite are NaN.
///
/// One thread per value, by bisection, and by chords of the last p once a single value is left. The singular values
/// of B are the positive eigenvalues of Golub and Kahan's tridiagonal matrix, which has zeros on its diagonal and
/// d_1, e_1, d_2, …, d_N =: b_1, b_2, … beside it; the number of eigenvalues below x is the number of sign changes in
///
///     p_0 = 1,   p_1 = −x,   p_{i+1} = −x p_i − b_i² p_{i−1}.
///
/// Roundings act as relative changes of x and of the b_i, so small values are as accurate as large ones, down
/// to 2^−100 of the largest entry; values below are returned as 0 (−∞). Until two values part, x runs through
/// the same doubles for both; then a double is known between them, so they are in order whatever the roundings.
template <class Real>
void log_singular_values(int size, int count, const Real* diagonal, const Real* beside, SampleState* states,
                         double* log_values, cudaStream_t stream);

}  // namespace spectra::montecarlo::cuda
