#pragma once

/// \file
/// The cayley-hybrid mixers: a rotation of a plane and a reflection, mixed by a gate.

#include "random/stream.hpp"

#include <Eigen/Core>

namespace spectra::mixers {

/// Q = (I + M)⁻¹(I − M) of the rank-2 skew M = (β/2)(uvᵀ − vuᵀ), by its closed form: with e₁ = u/|u|
/// and e₂ the direction of v orthogonal to it, M = t(e₁e₂ᵀ − e₂e₁ᵀ), t = (β/2)|u||v_⊥|, and Q turns
/// that plane by φ = 2·arctan t,
///     Q = I + (cos φ − 1)(e₁e₁ᵀ + e₂e₂ᵀ) + sin φ (e₂e₁ᵀ − e₁e₂ᵀ).
/// Orthogonal to rounding for every β; the identity if u and v are parallel (n = 1 included) or
/// one of them is zero.
Eigen::MatrixXd plane_rotation(const Eigen::VectorXd& u, const Eigen::VectorXd& v, double beta);

/// γQ + (1 − γ)H₂ with H₂ = I − 2kkᵀ, k normalised here. Determinant +1 at γ = 1 and −1 at γ = 0,
/// orthogonal there but, unless Q and H₂ agree, nowhere between.
Eigen::MatrixXd cayley_hybrid(const Eigen::VectorXd& u, const Eigen::VectorXd& v, const Eigen::VectorXd& k,
                              double beta, double gate);

/// The cayley-hybrid mixer: u, v ~ N(0, I), k uniform on the sphere.
Eigen::MatrixXd draw_cayley_hybrid(int n, double beta, double gate, random::Stream& stream);

}  // namespace spectra::mixers
