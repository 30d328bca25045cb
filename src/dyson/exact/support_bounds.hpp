#pragma once

#include "network/network.hpp"

#include <vector>

namespace spectra::dyson {

/// What is known about the support before solving: rigorous bounds, and positions of narrow bands.
struct SupportBounds {
    double log_upper = 0;           ///< ln of a bound on the largest singular value
    double log_far = 0;             ///< ln of a scale that the law hardly exceeds, at most log_upper
    double log_lower = 0;           ///< ln of a lower bound, −∞ if the law may reach zero
    double kappa = 0;               ///< Σ κ_l; > 0: density per ln s vanishes as s^{2/(1+κ)}
    double scan_step = 0.1;         ///< resolution in ln s of a first scan
    std::vector<double> log_seeds;  ///< ln of the noiseless singular values
    double atom_at_zero = 0;
};

/// Bounds of the support: norms multiply, so the ends of the laws of the layers, or bounds on them, bound the
/// product, even with tied weights. In logarithms, layer by layer.
///
/// * isotropic Gaussian: the ends are the extrema of z(y) = y (1 + σ² tr_n (y − AAᵀ)⁻¹)² outside the spectrum
///   of AAᵀ, exactly.
/// * singular values t: |A| + t_max; above it max(a_min − t_max, t_min − |A|).
/// * activation: |A| + 2σ_w max|φ'|; a_min − 2σ_w max|φ'|.
/// * hyper-connection: |A| + ‖F‖|post||pre|; from Y⁻¹ = A⁻¹ − A⁻¹post preᵀA⁻¹ ⊗ F(1 + cF)⁻¹, c = preᵀA⁻¹post,
///   1/s_min ≤ |A⁻¹| + |A⁻¹post||A⁻ᵀpre| min(‖F‖/m, (1 + 1/m)/|c|), m the smallest singular value of 1 + cF.
///
/// In deep networks these bounds lie hundreds of e-folds above the law. Equations are entered at log_far instead: where
/// products of L free Gaussian matrices of the same mean square end, (L + 1)^{L+1}/L^L E s² < e(L + 1) E s². It bounds
/// nothing; a solution there is certified like any other.
///
/// The lower end is −∞ if no positive bound is known. Seeds are the noiseless singular values that are not
/// atoms; if some of them vanish, also their position according to the mean of ln s. κ is 0 if it is not
/// known.
SupportBounds support_bounds(const Network& network);

/// log_far by ln E s², without the bound.
double log_far_of(const Network& network, double log_square);

}  // namespace spectra::dyson
