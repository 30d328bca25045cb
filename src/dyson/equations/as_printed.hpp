#pragma once

#include "dyson/exact/support_bounds.hpp"
#include "dyson/solve/equation.hpp"
#include "dyson/solve/green_point.hpp"
#include "network/network.hpp"

#include <memory>

/// The equations of JPmHC (arXiv:2602.18308) as printed, for comparison with the corrected ones of chain.hpp.
/// Nothing else uses them.
namespace spectra::dyson::printed {

/// Equation (4), as printed: the scalar skip a with m = a/(z − σ²m), G = m/z, z = ω².
///
/// Without noise G = a/z² instead of 1/(z − a²): no mass, and no a². At large z, G = a/z² + a²σ²/z⁴ + …,
/// while a law of singular values has 1/z + (a² + σ²)/z² + …. For a = 1 without a skip and with ω in place of
/// z, m is the g of pure noise (the quarter circle): in this case it is correct. Returns g = ωG for the root
/// with Im m < 0. Im ω > 0, Re ω > 0.
GreenPoint equation_4(double a, double sigma2, Complex omega);

/// One step (8), as printed: m − F/(1 + aσ²/(z − σ²m)²) for F = m − a/(z − σ²m). The derivative of F is
/// 1 − aσ²/(z − σ²m)²; with the other sign the error falls by a constant factor per step, or grows.
Complex newton_step_8(double a, double sigma2, Complex z, Complex m);

/// Equation (7), as printed: M = H(z − HᵀH)⁻¹, H = A + σ²M, G = tr_n(z − HᵀH)⁻¹ (H at M, as in its equation
/// (9)).
///
/// It comes from a self-energy off the diagonal, Σ = [[0, σ²m₁₂], [σ²m₂₁, 0]] (Appendix F.5.5). E[X B Xᵀ] is
/// a multiple of the identity on the diagonal, and Σ = diag(σ² tr M₂₂, σ² tr M₁₁). The printed form gives E
/// s² = tr_n AAᵀ instead of tr_n AAᵀ + σ²: 1 instead of 1.05 for the identity at σ² = 0.05.
///
/// M has the singular vectors of A, so the equation decouples: each singular value a_i has
///
///     h_i = a_i + σ²m_i,     m_i = h_i/(z − h_i²),     G = (1/n) Σ_i 1/(z − h_i²),
///
/// the moments of (a_i + s_1)(a_i + s_2) with free semicirculars of variance σ²: noise in one stream never
/// reaches another. With w_i = h_i²/(z − h_i²) the layer is explicit in w_i,
///
///     h_i = ½[a_i + √(a_i² + 4σ²w_i)],     z = h_i²(1 + w_i)/w_i,     w = zG − 1 = (1/n) Σ_i w_i.
///
/// (a_i + s_1)(a_i + s_2) is not a positive matrix if 2σ > a_i: then this G belongs to no law. Its points
/// fail the sign test and are not certified.
///
/// Depth as in its section 2.3, by S-transforms: z = Π_l z_l(w) · (w/(1 + w))^{L−1}, g(ω) = (1 + w)/ω, exact
/// for mixers that are multiples of orthogonal matrices. Its twisted product (6) is not nested here.
///
/// Unknowns: w/(1 + w), then z_l and the w_i/(1 + w_i) of every layer. A vanishing a_i has h_i = w_i = 0.
///
/// Throws std::invalid_argument for branches that are not isotropic Gaussian, and if a mixer is zero.
std::unique_ptr<Equation> make_equation(const Network& network);

/// g by equation (7) at one ω, Im ω > 0.
GreenPoint equation_7(const Network& network, Complex omega);

/// E s² of equation (7): Π_l tr_n A_lA_lᵀ.
double mean_square(const Network& network);

/// Bounds of its support: Π (a_max + 2σ_l) above, Π (a_min − 2σ_l) below.
SupportBounds support_bounds(const Network& network);

}  // namespace spectra::dyson::printed

namespace spectra::dyson {

/// Equation (7) as printed: printed::make_equation.
inline std::unique_ptr<Equation> make_printed(const Network& network) {
    return printed::make_equation(network);
}

}  // namespace spectra::dyson
