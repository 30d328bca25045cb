#pragma once

/// \file
/// Exact consequences of the chain that need no Green's function: moments, and how the density vanishes at
/// zero. Where a branch has no known formula the answer is empty.

#include "dyson/exact/atoms.hpp"
#include "network/network.hpp"

#include <optional>

namespace spectra::dyson {

/// E s² of the operator-valued law (for aligned branches: aligned_moments.hpp). With η_l(T) = E X_l (T ⊗ 1) X_lᵀ the covariance of a branch,
///
///     T_0 = 1,   T_l = A_l T_{l−1} A_lᵀ + η_l(T_{l−1}),   E s² = tr_n T_L,
///
///     isotropic, activation   η_l(T) = σ_l² tr_n(T) 1         (σ_l² = σ_w² E φ'² for an activation)
///     hyper-connection        η_l(T) = σ_l² (preᵀ T pre) post postᵀ
///
/// where σ_l² is the mean square of the branch's singular values if these are given. For tied weights
/// E s² = tr_n T_{L,L} (network/tied_moments.hpp), with
/// η_{k,m}(T) = σ_k σ_m tr_n(T) 1, or σ_k σ_m (pre_kᵀ T pre_m) post_k post_mᵀ, if k and m have the same
/// weights.
double mean_square(const Network& network);

/// ln E s², for depths where it leaves the range of double.
double log_mean_square(const Network& network);

/// E s⁴, for every branch except tied and aligned ones. Let U_L = 1, U_{l−1} = A_lᵀ U_l A_l + η_l*(U_l) be the mean
/// square from the other end, η*(U) = E Xᵀ (U ⊗ 1) X. The non-crossing pairings of Y S Yᵀ B Y S Yᵀ (S the
/// layers below, B those above) sum to
///
///     E s⁴ = tr_n U_0² + Σ_l { tr_n[U_l η_l(T_{l−1}) U_l (2 A_l T_{l−1} A_lᵀ + η_l(T_{l−1}))] + κ_l },
///
/// κ_l is the non-Gaussian contribution of X_l, with k = E t⁴ − 2 (E t²)² the fourth free cumulant of the
/// symmetrised law of the branch's singular values t:
///
///     isotropic          k (tr_n T_{l−1})² (tr_n U_l)²
///     hyper-connection   k (preᵀ T_{l−1} pre)² (postᵀ U_l post)² / n
///     activation         σ_w⁴ (E φ'⁴ − (E φ'²)²) (tr_n T_{l−1})² ⟨(U_l)_ii²⟩
std::optional<double> mean_fourth(const Network& network);

/// E s² of the scalar law: Π_l (tr_n A_lA_lᵀ + σ_l²).
double scalar_mean_square(const Network& network);

/// ln of it.
double log_scalar_mean_square(const Network& network);

/// E ln s = lim (1/N) ln |det J|: additive over layers for every branch, even tied ones, because determinants
/// multiply. One layer:
///
/// * isotropic: ½⟨ln(a_i² + σ⁴y²)⟩ − ½σ²y², y ≥ 0 from 1 = σ²⟨1/(a_i² + σ⁴y²)⟩ (0 if there is none).
/// * isotropic with singular values t: ½⟨ln(a² + y_1²)⟩ + ½⟨ln(t² + y_2²)⟩ − ln(y_1 + y_2) at the solution of
///   ⟨y_1/(a² + y_1²)⟩ = ⟨y_2/(t² + y_2²)⟩ = 1/(y_1 + y_2); ⟨ln a⟩ or ⟨ln t⟩ if it is at the border.
/// * hyper-connection: det(A ⊗ 1 + post preᵀ ⊗ F) = det(det A + preᵀ adj(A) post F), 1/n of the isotropic
///   layer of one stream with a = |det A|, σ → σ |preᵀ adj(A) post|.
/// * activation: ½ E tr_n ln(AAᵀ + τD²) − ½τ/σ_w², τ ≥ 0 from 1 = σ_w² E tr_n D²(AAᵀ + τD²)⁻¹ (0 if there is
///   none), E over D = diag(φ') of a site. Known if φ'² takes few values: at most 4096 combinations.
///
/// −∞ with an atom at zero. Empty for other activations and for aligned branches.
std::optional<double> log_mean(const Network& network);

/// κ_l = 1, ½, 0 as σ_l² tr_n(A_lᵀA_l)⁻¹ is >, =, < 1; κ = Σκ_l > 0 gives ρ ~ s^{(1−κ)/(1+κ)}, κ = 0
/// a gap at zero. For other branches than isotropic Gaussian it is known for one layer, and if every κ_l is
/// zero: the smallest singular values of gapped layers multiply to a bound.
std::optional<double> kappa(const Network& network);

}  // namespace spectra::dyson
