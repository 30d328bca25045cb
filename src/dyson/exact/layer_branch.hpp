#pragma once

#include "network/network.hpp"

#include <vector>

namespace spectra::dyson {

/// The branch of one layer, for its covariance. Points into its network.
struct LayerBranch {
    double sigma2 = 0;                            ///< of its entries, E φ'² included
    const Eigen::VectorXd* pre = nullptr;         ///< with post, a hyper-connection; otherwise isotropic
    const Eigen::VectorXd* post = nullptr;        ///
    const std::vector<double>* values = nullptr;  ///< singular values of the branch; none: Gaussian
    SlopeLaw slopes = {{1.0}, {1.0}, true};       ///< φ'² of an activation; otherwise the number one
    double sigma_w2 = 0;                          ///< sigma2 without E φ'²
    double largest_slope = 1;                     ///< a bound on |φ'|
    std::size_t weights = 0;                      ///< the first layer with the same weights, counted from 0

    bool hyper_connection() const { return pre != nullptr; }
    bool noisy() const { return sigma2 > 0; }

    /// ‖X_l‖ for p → ∞ if it is isotropic, otherwise ‖F_l‖: 2σ, the largest singular value, or a bound.
    double norm() const;
};

/// Layer by layer, first layer first.
std::vector<LayerBranch> layer_branches(const Network& network);

/// E X (T ⊗ 1) Yᵀ for Gaussian branches X, Y of two layers, without slopes: zero if their weights are not
/// the same.
Eigen::MatrixXd mixed_covariance(const LayerBranch& x, const LayerBranch& y, const Eigen::MatrixXd& t);

}  // namespace spectra::dyson
