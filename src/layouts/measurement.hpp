#pragma once

/// \file
/// What was measured on a trained model that was run: its Jacobian, connection by connection.

#include "layouts/stack.hpp"

#include <string>
#include <vector>

namespace spectra::layouts {

/// The branch of one connection as it was measured, X_l = Y_l − A_l ⊗ I_p with Y_l the Jacobian of the whole
/// connection at one token: what the branch adds, the derivative of an input-dependent mixer included.
struct MeasuredBranch {
    double variance = 0;  ///< σ_l² = ‖X_l‖²/N
    /// The part of the derivative of A, pre, post, gates: ‖Y_l − Y_l°‖²/N, Y_l° with all of them held.
    double mixer_variance = 0;
    Eigen::MatrixXd by_stream;  ///< (i, j): ‖block (i, j) of X_l‖² / p
    double core_variance = 0;   ///< ‖F_l‖²/p, F_l the p×p Jacobian of what stands between pre and post
    std::vector<double> core_values;  ///< singular values of F_l; where pre is empty both are X_l's
    std::vector<double> values;       ///< singular values of Y_l
    int weights = 0;                  ///< which weights F_l has: connections of equal number share them
};

/// A model's Jacobian ∂x_L/∂x_0 of the residual state at one input, and what it is made of.
struct Measurement {
    Stack stack;                           ///< the connections, at this input
    std::vector<MeasuredBranch> branches;  ///< one per connection
    std::vector<double> singular_values;   ///< of the end-to-end Jacobian, largest first
    /// ‖J − Y_L ··· Y_1‖/‖J‖, on a few random rows where it is rounding: as it is where no token before this
    /// one sees anything of it.
    double product_defect = 0;
};

}  // namespace spectra::layouts
