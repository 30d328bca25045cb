#pragma once

/// \file
/// The orthogonal mixers, uniform on O(n).

#include "random/stream.hpp"

#include <Eigen/Core>

namespace spectra::mixers {

/// The orthonormal factor Q of g = QR with the diagonal of R positive, which makes Q unique. rows ≥ columns;
/// Q has the shape of g.
Eigen::MatrixXd orthonormalise(const Eigen::MatrixXd& g);

/// Haar measure on O(n), determinants of both signs: an orthonormalised Gaussian matrix. Only the sign
/// convention makes it Haar (without it the law depends on the QR algorithm).
Eigen::MatrixXd draw_orthogonal(int n, random::Stream& stream);

}  // namespace spectra::mixers
