#pragma once

#include <cstdint>

#include "jacobian/torch.hpp"

/// Differentiable maps on batches, from vectors (…, n) and matrices (…, n, n) to matrices (…, n, n).
namespace spectra::train {

/// v/|v| over the last dimension; 0 where v is.
torch::Tensor unit(const torch::Tensor& vectors);

/// Helmert's basis U_Z: n×(n−1), orthonormal columns orthogonal to the constant vector. double, on the CPU.
torch::Tensor helmert(int64_t n);

/// Y₀ = I + αW, then `iterations` times Y = I + (α/2)W(I + Y), for a skew W: tends to
/// cayley_exact((α/2)W) if α‖W‖ < 2; after two steps orthogonal to m⁴/4, m = α‖W‖.
torch::Tensor cayley_iterative(const torch::Tensor& skew, double step, int iterations);

/// (I − S)⁻¹(I + S) = 2(I − S)⁻¹ − I for a skew S; of −M it is (I + M)⁻¹(I − M). Determinant +1 and no
/// eigenvalue −1. Up to n = 3 it is I + 2(S + S²)/(1 + t²), t² = ‖S‖²/2. Orthogonal to rounding while ‖S‖ε ≪
/// 1: two Newton–Schulz steps move the value onto the orthogonal matrices; they only correct rounding, so
/// they have no gradient.
torch::Tensor cayley_exact(const torch::Tensor& skew);

/// Q = (I + M)⁻¹(I − M), M = (β/2)(uvᵀ − vuᵀ), β of shape (…). With e = u/|u|, v_⊥ = v − (e·v)e and
/// p = (β/2)|u| v_⊥ (|p| = t), M = e pᵀ − p eᵀ, M³ = −t²M and
///     Q = I − 2(M − M²)/(1 + t²) = I − 2[c(e qᵀ − q eᵀ) + |q|² e eᵀ + q qᵀ],  (c, q) = (1, p)/√(1 + t²):
/// no solve, nothing that grows with t, orthogonal to rounding for every β, u, v with finite p. The
/// longer of u and v takes the role of u, so that Q is smooth even if one of them is 0. Q rotates a plane by
/// 2·arctan t: the eigenvalues satisfy |λ + 1| ≥ 2/√(1 + t²) ≥ 2/√(1 + (β|u||v|/2)²).
torch::Tensor cayley_rank2(const torch::Tensor& u, const torch::Tensor& v, const torch::Tensor& beta);

/// I − β kkᵀ/(kᵀk), β of shape (…); the identity, with zero gradient, at k = 0. Orthogonal only at β = 0
/// and 2.
torch::Tensor householder(const torch::Tensor& k, const torch::Tensor& beta);

/// The projector UUᵀ onto the columns of frames (…, n, p), with U from QR, which is orthonormal for any rank.
/// The gradient is that of G(GᵀG + δ²I)⁻¹Gᵀ with δ² = 4nε times the largest entry squared: exact to (δ/σ)²
/// for singular values σ, and bounded by 1/δ instead of infinite if columns become dependent.
torch::Tensor projector(const torch::Tensor& frames);

}  // namespace spectra::train
