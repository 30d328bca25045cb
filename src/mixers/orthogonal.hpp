#pragma once

/// \file
/// The orthogonal mixers, uniform on O(n).

#include "random/stream.hpp"

#include <Eigen/Core>

namespace spectra::mixers {

/// The orthonormal factor Q of g = QR with the diagonal of R positive, which makes it a function of
/// g alone. rows ≥ columns; Q has g's shape.
Eigen::MatrixXd orthonormalise(const Eigen::MatrixXd& g);

/// Haar measure on O(n), determinants of both signs: orthonormalise a Gaussian matrix. The sign
/// convention is what makes it Haar (without it the law depends on the QR algorithm).
Eigen::MatrixXd draw_orthogonal(int n, random::Stream& stream);

}  // namespace spectra::mixers
