#pragma once

#include "network/network.hpp"

#include <vector>

namespace spectra::dyson {

/// The second moments of a network with aligned branches, exactly and at its own width. With D_l = A_l ⊗ 1 + the kept
/// triplets + Δ_l, Π_u and Π_v the projections off the kept left and right vectors, m the rows of F_l and r the
/// triplets kept of it,
///
///     T_0 = 1,    T_l     = D_l T_{l−1} D_lᵀ + ⟨t_l²⟩ a_l (post postᵀ ⊗ Π_u),   a_l = tr[(pre preᵀ ⊗ Π_v) T_{l−1}]/(m − r),
///     U_L = 1,    U_{l−1} = D_lᵀ U_l D_l + ⟨t_l²⟩ b_l (pre preᵀ ⊗ Π_v),         b_l = tr[(post postᵀ ⊗ Π_u) U_l]/(m − r),
///
/// and E s² = tr T_L/N. Layers are counted from 1 here. Without pre and post these products are Π_u and Π_v alone.
struct AlignedMoments {
    std::vector<double> log_a, log_b;  ///< ln a_l and ln b_l, one per layer; −∞ if nothing arrives or nothing is free
    double log_mean_square = 0;        ///< ln E s²
};

AlignedMoments aligned_moments(const Network& network);

/// D_l, N×N, layers counted from 0.
Eigen::MatrixXd kept_layer(const Network& network, std::size_t layer);

}  // namespace spectra::dyson
