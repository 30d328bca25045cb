#pragma once

#include "dyson/solve/green_point.hpp"
#include "network/network.hpp"

namespace spectra::dyson {

/// The Green's function of one layer with an isotropic Gaussian branch, as the root of a polynomial.
///
/// With a_i the singular values of A, G(z) = (1/n) Σ_i [z(1 − σ²G) − a_i²/(1 − σ²G)]⁻¹ in z = ω². For A = a1
/// this is the cubic
///
///     G [z(1 − σ²G)² − a²] = 1 − σ²G;
///
/// in general, with q = ω(1 − σ²G), so that g = ωG = (ω − q)/σ², it reads
///
///     ω = q + (σ²/2n) Σ_i [1/(q − a_i) + 1/(q + a_i)],
///
/// a polynomial of degree 2n + 1 in q. Its roots are the eigenvalues of the arrow matrix with ω at its tip,
/// ±a_i on its diagonal and i√(σ²/2n) beside. The right one is the only one with Im q > Im ω, because Im g <
/// 0; at real ω the only one above the axis or, if all are real, the only one with dω/dq > 0.
///
/// ω in the closed upper half plane, not 0. Throws std::invalid_argument for other depths and branches.
GreenPoint one_layer_green(const Network& network, Complex omega);

}  // namespace spectra::dyson
