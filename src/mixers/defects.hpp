#pragma once

/// \file
/// What must be true of a mixer, measured: sums, orthogonality, norms.

#include <Eigen/Core>

namespace spectra::mixers {

/// Measures by how much a mixer violates a property. Every function takes one square matrix A as it acts,
/// x ↦ A x, drawn or trained. A defect is a largest absolute entry, 0 if the property holds.

/// max_i |Σ_j A_ij − 1|
double row_sum_defect(const Eigen::MatrixXd& a);

/// max_j |Σ_i A_ij − 1|
double column_sum_defect(const Eigen::MatrixXd& a);

/// max_ij |(AᵀA − I)_ij|
double orthogonality_defect(const Eigen::MatrixXd& a);

/// max_ij |(A − I)_ij|
double identity_distance(const Eigen::MatrixXd& a);

/// min_ij A_ij, which is ≥ 0 for a bistochastic matrix.
double smallest_entry(const Eigen::MatrixXd& a);

/// All singular values, largest first.
Eigen::VectorXd singular_values(const Eigen::MatrixXd& a);

/// The largest singular value.
double spectral_norm(const Eigen::MatrixXd& a);

}  // namespace spectra::mixers
