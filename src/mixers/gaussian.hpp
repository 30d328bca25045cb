#pragma once

/// \file
/// The gaussian mixers, and Gaussian vectors and matrices from a stream.

#include "random/stream.hpp"

#include <Eigen/Core>

namespace spectra::mixers {

/// Independent standard normals, drawn column by column, from which the other families are made.
Eigen::MatrixXd standard_normal(int rows, int columns, random::Stream& stream);

/// A vector uniform on the unit sphere of R^n.
Eigen::VectorXd unit_vector(int n, random::Stream& stream);

/// The unconstrained mixer: independent entries N(0, 1/n), so that E AᵀA = I.
Eigen::MatrixXd draw_gaussian(int n, random::Stream& stream);

}  // namespace spectra::mixers
