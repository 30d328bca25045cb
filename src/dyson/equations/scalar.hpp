#pragma once

#include "dyson/solve/equation.hpp"
#include "network/network.hpp"

#include <memory>

namespace spectra::dyson {

/// The scalar theory of a network with isotropic branches: the law of each layer from its exact equation,
/// layers multiplied as free scalars (S-transforms). Exact for one layer, and if at most one mixer
/// is not a multiple of an orthogonal matrix; otherwise an approximation.
///
/// One layer with singular values a_i of A, in z = ω²:
///
///     G(z) = ⟨[z(1 − σ²G) − a_i²/(1 − σ²G)]⁻¹⟩.
///
/// With y = z(1 − σ²G)² and h(y) = ⟨y/(y − a_i²)⟩ it becomes explicit,
///
///     w ≡ zG − 1 = h + σ²h²/y − 1,      z = y (1 + σ²h/y)²,
///
/// so a layer's inverse z_l(w) is parametrised by y_l. Depth multiplies: all layers share w and
///
///     z = Π_l z_l · (w/(1+w))^{L−1},     g(ω) = (1+w)/ω.
///
/// Unknowns: t = w/(1+w), which keeps relative accuracy both far away (w → 0) and at small s
/// (w → −1), then y_l for every layer; equal layers share one. The Jacobian is an arrow, so a Newton step costs O(L n).
///
/// The right solution has Im w < 0, every z_l in the upper half plane (the subordination functions of
/// free multiplication) and Im √z_l G_l < 0; in a gap dw/dz_l < 0 and dw/dz < 0.
std::unique_ptr<Equation> make_scalar(const Network& network);

}  // namespace spectra::dyson
