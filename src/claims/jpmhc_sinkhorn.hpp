#pragma once

/// \file
/// Claims of JPmHC (arXiv:2602.18308), Appendices E and H: the implicit gradient of Sinkhorn's map.

#include "claims/outcome.hpp"

#include <Eigen/Core>

namespace spectra::claims::jpmhc {

/// C48. Residual and gradient error of k Gauss-Seidel sweeps at three kinds of P.
Outcome gauss_seidel_table();
/// C49. The rate of these sweeps, σ₂(P)², against 1 − 1/n.
Outcome gauss_seidel_rate();
/// C51. Equations (23) to (26), solved directly, against differences of the map.
Outcome implicit_gradient();
/// C52. The gradient of twenty sweeps against that of their limit.
Outcome unrolled_gradient();
/// C53. The gradient after 16 Gauss-Seidel sweeps, and by the direct solve.
Outcome implicit_gradient_accuracy();
/// C57. The gradient with entries of P clamped at 1e-8, and without.
Outcome clamped_gradient();

/// The gradient P ⊙ (G − u1ᵀ − 1vᵀ) of Sinkhorn's map, (23), u and v by the direct solve
/// (I − PᵀP + 11ᵀ/n) v = h_col − Pᵀh_row, u = h_row − Pv.
Eigen::MatrixXd direct_gradient(const Eigen::MatrixXd& p, const Eigen::MatrixXd& upstream);
/// The same with u and v after k sweeps of Algorithm 7.
Eigen::MatrixXd gauss_seidel_gradient(const Eigen::MatrixXd& p, const Eigen::MatrixXd& upstream, int sweeps);

}  // namespace spectra::claims::jpmhc
