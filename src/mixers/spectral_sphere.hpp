#pragma once

/// \file
/// The spectral-sphere mixers: rows and columns sum to 1, and the spectral norm is 1.

#include "random/stream.hpp"

#include <Eigen/Core>

namespace spectra::mixers {

/// Helmert's basis U_Z: n×(n−1), orthonormal columns orthogonal to the constant vector. Column k
/// (from 1) is (1, …, 1, −k, 0, …, 0)/√(k(k+1)).
Eigen::MatrixXd helmert_basis(int n);

/// J + U_Z U diag(σ) Vᵀ U_Zᵀ with J = 11ᵀ/n: rows and columns sum to 1, entries of either sign, and
/// with |σ_i| ≤ 1 the spectral norm is exactly 1; the set is closed under products. u, v orthogonal
/// of size n − 1, σ of length n − 1 (all empty at n = 1).
Eigen::MatrixXd spectral_sphere(const Eigen::MatrixXd& u, const Eigen::VectorXd& sigma,
                                const Eigen::MatrixXd& v);

/// The spectral-sphere mixer: U, V the Cayley transforms (I − S)⁻¹(I + S) of skews with N(0, 1)
/// entries above the diagonal, σ = tanh of N(0, 1).
Eigen::MatrixXd draw_spectral_sphere(int n, random::Stream& stream);

}  // namespace spectra::mixers
