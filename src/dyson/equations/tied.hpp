#pragma once

#include "dyson/solve/equation.hpp"
#include "network/network.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace spectra::dyson {

/// The operator-valued Dyson equation of a network with weight-tied branches (TiedBranch, isotropic or
/// hyper-connection).
///
/// J Jᵀ is linearised as in chain.hpp, layers counted from 0. The self-energy connects every pair i, j of
/// layers with the same weights:
///
///     M = (P(ω; A) − Σ[M])⁻¹,          g(ω) = tr_n M(v_{L−1},v_{L−1}),
///     Σ(v_i,v_j) = σ_iσ_j W_ij,        Σ(w_i,w_j) = σ_iσ_j V_ij,
///     W_ij = tr_n M(w_i,w_j),          V_ij = tr_n M(v_i,v_j)            (isotropic)
///
/// and for a hyper-connection W_ij = pre_iᵀ M(w_i,w_j) pre_j, V_ij = post_iᵀ M(v_i,v_j) post_j with
/// Σ(v_i,v_j) = σ_iσ_j W_ij post_i post_jᵀ, Σ(w_i,w_j) = σ_iσ_j V_ij pre_i pre_jᵀ. W and V are symmetric, and
/// zero between layers with different weights; the unknowns are the other entries of their upper triangles
/// (tied_pairs), W first. M is a full matrix: a pass inverts a 2Ln × 2Ln matrix, O((Ln)³), so L·n is limited
/// to max_tied_size.
///
/// The right solution has Im W and Im V negative semidefinite as matrices for Im ω > 0; testing only their
/// diagonals would admit false solutions.
///
/// Newton: dM = M dΣ M makes the linearised map a sum of congruences by the 2L × 2L slices M^{pq} of M
/// between streams p and q (one slice, u_aᵀ M(a,b) u_b with u = pre at w and post at v, for a
/// hyper-connection). On X = (dW ⊕ dV), with a site's partner in its layer written with a prime,
///
///     T[X] = Σ_r N_r X N_rᵀ at pairs of unknowns,            N_ab = σ_b M^{pq}(a, b')/√n:
///
/// completely positive if M is real, which makes the test in a gap exact: (1 − T)[X] = 1 has a solution X ≥ 1
/// if and only if the spectral radius of T is below one. For shallow networks 1 − T is built, for deep ones
/// it is applied inside GMRES.
///
/// If noise dominates (small s) the equation is nearly invariant under W → gWgᵀ, V → g⁻ᵀVg⁻¹ for matrices
/// g acting on the layers of a set, and 1 − T is nearly singular along e_g = (−(gW + Wgᵀ), gᵀV + Vg). For any
/// unknowns, solved or not, (P − Σ)M = 1 gives the identity
///
///     ½ (⟨gᵀV + Vg, σF_Wσ⟩ − ⟨gW + Wgᵀ, σF_Vσ⟩) = c_g        (over n for a hyper-connection),
///
/// with σ the diagonal matrix of the σ_l and F the defects of the equations. For the projection g on layer l,
/// c_g = β_{l−1} − β_l, where β_l = tr_n M(w_{l+1}, v_l) is the current through a link and β_{−1}, β_{L−1}
/// are ω tr_n M at the ends. For the shift by k, c_g = ω (tr_n M(w_0,w_k) − tr_n M(v_{L−1−k},v_{L−1})), if
/// layers repeat with period k in weights, σ, pre, post and mixer. Information that rounding destroys on the
/// left survives on the right. So (1 − T + Σ e α ∇cᵀ) δ = F − Σ e α c is solved instead of (1 − T) δ = F,
/// over the soft g: the steps agree to second order at the solution. The identity also gives ∇c_gᵀ (1 − T)⁻¹
/// e_h exactly, and with α the inverse of its unitary factor the new matrix is well conditioned.
///
/// Scales: the exact gauge (A_l, σ)/c, ω/c^L with c^L = e^{log_scale}, one c for all layers; the
/// unknowns are those of the scaled chain over c, of order 1/σ if noise dominates, for any s. Sites are
/// scaled by d_a = √|m_aa| on both sides of the inverted matrix, and unknowns are measured relative to
/// d_i d_j, because off-diagonal entries may vanish.
///
/// Throws std::invalid_argument if L·n exceeds max_tied_size or the branch is not a TiedBranch.
std::unique_ptr<Equation> make_tied(const Network& network);

/// For tests and benchmarks: the same with 1 − T built only up to the given number of unknowns.
std::unique_ptr<Equation> make_tied(const Network& network, int dense_size);

/// The layers i ≤ j with the same weights, in the order of the unknowns.
std::vector<std::pair<Eigen::Index, Eigen::Index>> tied_pairs(const Network& network);

}  // namespace spectra::dyson
