#pragma once

#include "network/network.hpp"

#include <Eigen/Core>

#include <vector>

namespace spectra::dyson {

/// Singular values of A_1 … A_L, each largest first; one decomposition per run of equal mixers.
std::vector<Eigen::ArrayXd> layer_singular_values(const Network& network);

/// ln of the singular values of A_L···A_1, largest first, with high relative accuracy at any ratio
/// (−∞ for zeros).
std::vector<double> log_singular_values_of_product(const std::vector<Mixer>& mixers);

}  // namespace spectra::dyson
