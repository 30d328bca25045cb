#pragma once

/// \file
/// What must be true of a mixer, measured: sums, orthogonality, norms.

#include <Eigen/Core>

namespace spectra::mixers {

/// What must be true of a mixer, measured. Every function takes one square matrix A as it acts,
/// x ↦ A x, drawn or trained; a defect is a largest absolute entry, 0 where the property holds.

/// max_i |Σ_j A_ij − 1|
double row_sum_defect(const Eigen::MatrixXd& a);

/// max_j |Σ_i A_ij − 1|
double column_sum_defect(const Eigen::MatrixXd& a);

/// max_ij |(AᵀA − I)_ij|
double orthogonality_defect(const Eigen::MatrixXd& a);

/// max_ij |(A − I)_ij|
double identity_distance(const Eigen::MatrixXd& a);

/// min_ij A_ij: a bistochastic matrix has it at 0 or above.
double smallest_entry(const Eigen::MatrixXd& a);

/// All singular values, largest first.
Eigen::VectorXd singular_values(const Eigen::MatrixXd& a);

/// The largest singular value.
double spectral_norm(const Eigen::MatrixXd& a);

}  // namespace spectra::mixers
