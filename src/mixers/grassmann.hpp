#pragma once

/// \file
/// The grassmann mixers: orthogonal projections onto random subspaces.

#include "random/stream.hpp"

#include <Eigen/Core>

namespace spectra::mixers {

/// UUᵀ, the orthogonal projection onto the span of g's columns (rows ≥ columns, full rank).
Eigen::MatrixXd projector(const Eigen::MatrixXd& g);

/// The grassmann mixer: the projection onto a uniform subspace of dimension rank, 0 ≤ rank ≤ n
/// (0 is the zero matrix, n the identity).
Eigen::MatrixXd draw_grassmann(int n, int rank, random::Stream& stream);

}  // namespace spectra::mixers
