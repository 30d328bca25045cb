#pragma once

/// \file
/// The cayley mixers, and Cayley's transform of skew matrices to rotations.

#include "random/stream.hpp"

#include <Eigen/Core>

#include <optional>

namespace spectra::mixers {

/// W = H − Hᵀ.
Eigen::MatrixXd skew_part(const Eigen::MatrixXd& h);

/// A k×k skew matrix with independent N(0, 1) entries above the diagonal.
Eigen::MatrixXd draw_skew(int k, random::Stream& stream);

/// Cayley's transform (I − S)⁻¹(I + S) of a skew S: every rotation except those with an eigenvalue −1
/// (an eigenvalue iμ of S becomes e^{2i·arctan μ}, so −1 needs μ = ∞); determinant +1. Orthogonal to
/// rounding. Throws std::invalid_argument for entries beyond 1e10, where rounding in S decides Q.
Eigen::MatrixXd cayley_transform(const Eigen::MatrixXd& skew);

/// The fixed-point iteration for the transform of (α/2)W: Y₀ = I + αW, then `iterations` times
/// Y = I + (α/2)W(I + Y). It converges if α‖W‖ < 2 and is orthogonal only in the limit: after two
/// steps an eigenvalue iμ of W, m = αμ, gives the squared singular value 1 − m⁴/4 + m⁶/16.
Eigen::MatrixXd cayley_iteration(const Eigen::MatrixXd& skew, double step, int iterations);

/// The cayley mixer of W = H − Hᵀ, H with entries N(0, logit_scale²): this many fixed-point steps,
/// or the exact transform of (α/2)W.
Eigen::MatrixXd draw_cayley(int n, double logit_scale, double step, std::optional<int> iterations,
                            random::Stream& stream);

}  // namespace spectra::mixers
