#pragma once

#include "mixers/mixer.hpp"

#include <Eigen/Dense>

#include <cstddef>
#include <functional>
#include <vector>

namespace spectra {

/// Second moments of the partial products of layers that share weights, T_{k,k} = e^{log_scale[k]} square[k], with the
/// normalised trace of every square[k] one. For k = 0 … L; ends early where T_{k,k} is 0.
struct TiedMoments {
    std::vector<Eigen::MatrixXd> square;
    std::vector<double> log_scale;
};

/// η_{k,m}(T) = E tr_p X_k (T ⊗ I) X_mᵀ for the branches of layers k and m, counted from 1; zero where they do not share
/// weights.
using MixedCovariance = std::function<Eigen::MatrixXd(std::size_t k, std::size_t m, const Eigen::MatrixXd& t)>;

/// T_{k,m} = E tr_p (Y_k···Y_1)(Y_m···Y_1)ᵀ of layers Y_l = A_l ⊗ I + X_l obeys, with T_{k,0} = A_k···A_1 = T_{0,k}ᵀ,
///
///     T_{k,m} = A_k T_{k−1,m} + T_{k,m−1} A_mᵀ − A_k T_{k−1,m−1} A_mᵀ + η_{k,m}(T_{k−1,m−1}).
TiedMoments tied_moments(const std::vector<Mixer>& mixers, const MixedCovariance& branches);

}  // namespace spectra
