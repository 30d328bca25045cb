#pragma once

/// \file
/// Which triplets of a trained model's branches make the largest singular value of its Jacobian.

#include "layouts/measurement.hpp"

#include <vector>

namespace spectra::validation {

/// A triplet of a branch, and what it does to the largest singular value s of J = Y_L ··· Y_1.
struct LeadingTriplet {
    int connection = 0;     ///< counted from 0
    int triplet = 0;        ///< counted from 0, the largest of its branch first
    double value = 0;       ///< its singular value t
    double elasticity = 0;  ///< ∂ ln s/∂ ln t: a change of t by 1 % changes s by that many percent
};

/// The `count` triplets with the largest elasticities, of either sign, largest first. With Jx = sy, the vectors
/// x_l = Y_{l−1} ··· Y_1 x and y_l = (Y_L ··· Y_{l+1})ᵀ y give
///
///     ∂ ln s/∂ ln t_i = t_i (y_lᵀ (post_l ⊗ u_i)) ((pre_l ⊗ v_i)ᵀ x_l)/s
///
/// (without pre and post where the branch reads all channels). The elasticities of a connection, with that of the rest of
/// Y_l, sum to 1. Empty where the next value is less than about 2 % below the largest, so that neither is found alone, or
/// where the connections do not make up the measured Jacobian.
std::vector<LeadingTriplet> leading_triplets(const layouts::Measurement& measurement, int count);

}  // namespace spectra::validation
