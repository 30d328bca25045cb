#pragma once

#include "dyson/equation.hpp"
#include "network/network.hpp"

namespace spectra::dyson {

/// Where the support can be: norms multiply, so the ends of the layers' laws, or bounds on them, bound the
/// product, tied weights too. In logarithms, layer by layer.
///
/// * isotropic Gaussian: the ends are the extrema of z(y) = y (1 + σ² tr_n (y − AAᵀ)⁻¹)² outside the spectrum
///   of AAᵀ, exactly.
/// * singular values t: |A| + t_max; above it max(a_min − t_max, t_min − |A|).
/// * activation: |A| + 2σ_w max|φ'|; a_min − 2σ_w max|φ'|.
/// * hyper-connection: |A| + ‖F‖|post||pre|; from Y⁻¹ = A⁻¹ − A⁻¹post preᵀA⁻¹ ⊗ F(1 + cF)⁻¹, c = preᵀA⁻¹post,
///   1/s_min ≤ |A⁻¹| + |A⁻¹post||A⁻ᵀpre| min(‖F‖/m, (1 + 1/m)/|c|), m the smallest singular value of 1 + cF.
///
/// The lower end is −∞ where no positive bound is known. Seeds are the noiseless singular values that are
/// not atoms, and where some of them vanish the place that the mean of ln s leaves for these. κ is 0 where it is not known.
Range range(const Network& network);

}  // namespace spectra::dyson
