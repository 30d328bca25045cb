#pragma once

/// \file
/// The householder mixers: the identity less a multiple of one direction.

#include "random/stream.hpp"

#include <Eigen/Core>

namespace spectra::mixers {

/// I − β kkᵀ/(kᵀk): β = 1 projects k out, β = 2 reflects it, β = 0 is the identity. Its singular
/// values are 1 (n − 1 times) and |1 − β|. Throws std::invalid_argument for a zero or non-finite k.
Eigen::MatrixXd householder(const Eigen::VectorXd& k, double beta);

/// The householder mixer: k uniform on the sphere.
Eigen::MatrixXd draw_householder(int n, double beta, random::Stream& stream);

}  // namespace spectra::mixers
