#pragma once

#include "dyson/equation.hpp"
#include "network/network.hpp"

#include <vector>

/// Exact consequences of the chain that need no Green's function (isotropic branches).
namespace spectra::dyson {

/// E s² of the operator-valued law: T_0 = 1, T_l = A_l T_{l−1} A_lᵀ + σ_l² tr_n(T_{l−1}), E s² = tr_n T_L.
double mean_square(const Network& network);

/// ln E s², for depths where it leaves the range of double.
double log_mean_square(const Network& network);

/// E s⁴: with U_L = 1, U_{l−1} = A_lᵀ U_l A_l + σ_l² tr_n(U_l),
/// E s⁴ = tr_n T_L² + Σ_l σ_l² tr_n(U_l) [2 tr_n(U_{l−1} T_{l−1}²) − σ_l² tr_n(U_l) tr_n(T_{l−1}²)].
double mean_fourth(const Network& network);

/// E s² of the scalar law: Π_l (tr_n A_lA_lᵀ + σ_l²).
double scalar_mean_square(const Network& network);

/// E ln s, additive over layers and the same for both theories:
/// Σ_l ½⟨ln(a_i² + σ⁴y²)⟩ − ½σ²y², y ≥ 0 from 1 = σ²⟨1/(a_i² + σ⁴y²)⟩ (0 if there is none).
/// −∞ with an atom at zero.
double log_mean(const Network& network);

/// κ_l = 1, ½, 0 as σ_l² tr_n(A_lᵀA_l)⁻¹ is >, =, < 1; κ = Σκ_l > 0 gives ρ ~ s^{(1−κ)/(1+κ)}, κ = 0
/// a gap at zero.
double kappa(const Network& network);

/// Mass at s = 0: noiseless runs of layers whose product has rank r < n leave 1 − min r/n.
double atom_at_zero(const Network& network);

/// ln of the singular values of A_L···A_1, largest first, with high relative accuracy at any ratio
/// (−∞ for zeros).
std::vector<double> log_singular_values_of_product(const std::vector<Mixer>& mixers);

/// Where the support can be. The ends of one layer's law are the extrema of
/// z(y) = y (1 + σ² tr_n (y − AAᵀ)⁻¹)² outside the spectrum of AAᵀ; norms multiply.
Range range(const Network& network);

}  // namespace spectra::dyson
