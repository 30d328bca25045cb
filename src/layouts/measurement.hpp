#pragma once

/// \file
/// What was measured on a trained model that was run: its Jacobian, connection by connection.

#include "layouts/stack.hpp"
#include "network/network.hpp"

#include <string>
#include <vector>

namespace spectra::layouts {

/// The measured branch of one connection, X_l = Y_l − A_l ⊗ I_p with Y_l the Jacobian of the whole
/// connection at one token. It includes the derivative of an input-dependent mixer.
struct MeasuredBranch {
    double variance = 0;  ///< σ_l² = ‖X_l‖²/N
    /// The share from the derivatives of A, pre, post and gates: ‖Y_l − Y_l°‖²/N, where Y_l° keeps all of
    /// them fixed. NaN where the two were not told apart.
    double mixer_variance = 0;
    Eigen::MatrixXd by_stream;        ///< (i, j): ‖block (i, j) of X_l‖² / p
    double core_variance = 0;         ///< ‖F_l‖²/p, F_l the p×p Jacobian between pre and post
    std::vector<double> core_values;  ///< singular values of F_l; if pre is empty both are those of X_l
    std::vector<double> values;       ///< singular values of Y_l
    Triplets core;                    ///< all triplets of F_l, or of X_l if pre is empty, largest first
    Triplets derivative;              ///< of Y_l − Y_l°, if pre is not empty: those that matter
    int weights = 0;                  ///< the weight set of F_l; equal numbers share weights
};

/// A model's Jacobian ∂x_L/∂x_0 of the residual state at one input, and its factors.
struct Measurement {
    Stack stack;                           ///< the connections, at this input
    std::vector<MeasuredBranch> branches;  ///< one per connection
    std::vector<double> singular_values;   ///< of the end-to-end Jacobian, largest first
    /// ‖J − Y_L ··· Y_1‖/‖J‖; on a few random rows if it is only rounding, which is the case if no earlier
    /// token depends on this one.
    double product_defect = 0;
};

}  // namespace spectra::layouts
