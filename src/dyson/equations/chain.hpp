#pragma once

#include "dyson/equations/site_draws.hpp"
#include "dyson/solve/equation.hpp"
#include "network/network.hpp"

#include <memory>

namespace spectra::dyson {

/// The operator-valued Dyson equation of a network, exact at every depth, for every branch with independent
/// layers (tied weights: tied.hpp).
///
/// J Jᵀ is linearised as a chain of 2L blocks of size n, in the order w_0, v_0, w_1, v_1, …, v_{L−1}
/// (layers counted from 0):
///
///     (w_0,w_0) = (v_{L−1},v_{L−1}) = ω,   (v_l, w_l) = −Y_l,   (w_{l+1}, v_l) = 1.
///
/// Averaging over the branches gives M = (P(ω; A) − Σ[M])⁻¹ with
///
///     Σ(v_l) = f_l a_l P^v_l,    a_l = ν tr P^w_l M(w_l),
///     Σ(w_l) = f_l b_l P^w_l,    b_l = ν tr P^v_l M(v_l),
///
/// where the branch determines only P^v, P^w, ν and f:
///
///     isotropic          P^v = P^w = 1,                        ν = 1/n,   f = σ²
///     activation         P^v = diag(d²), P^w = 1, traces averaged over draws of d, ν = 1/n, f = σ_w²
///     hyper-connection   P^v = post postᵀ, P^w = pre preᵀ,     ν = 1,     f = σ²
///     any law            as isotropic or hyper-connection; f = T(Y)/ab, T(Y) = ⟨t²/(Y − t²)⟩, and Y (the
///                        square of the subordinated frequency) from Y⟨1/(Y − t²)⟩² = ab; if all t are
///                        the same, X = Y/(Y − t²) is the unknown instead (covariance.hpp).
///
/// One elimination pass gives every block (elimination.hpp). Unknowns in order: a_0, b_0, a_1, …, b_{L−1};
/// Y_0 … Y_{L−1} if there is a law; g.
///
/// Scales: the exact gauge (A_l, σ_l)/c_l, ω/Πc_l with Πc_l = e^{log_scale} makes ω of order one at
/// every s; the unknowns are those of the scaled chain.
///
/// Newton. The current through a link, β_l = tr_n M(w_{l+1}, v_l), obeys for any unknowns, solved or not,
///
///     f_l (b_l ν tr P^w M(w_l) − a_l ν tr P^v M(v_l)) = νn (β_{l−1} − β_l),     β_{−1}, β_{L−1} = ω tr_n
///     M(ends),
///
/// so at the solution every β_l is ω g. If noise dominates a layer (small s), f a b → −1 while β → 0: the
/// equations of a_l and b_l then differ only by terms of order β, and rounding hides the terms that determine
/// a_l/b_l. So the unknowns are S_l = ½(δ ln a + δ ln b) and D_l = ½(δ ln a − δ ln b), and the equations are
/// half the sum and half the difference of the relative defects, the latter replaced by (β_{l−1} − β_l)/β if
/// noise dominates. Nothing cancels, and the linearised equation is as well conditioned as a chain of
/// resistors.
///
/// Its solution: dense for short chains; direct along the chain (embedding.hpp) for few streams; for many
/// streams or many draws of the sites GMRES, applied in O(L n³). The first two keep their factors for chord_step(),
/// except with laws of singular values, where the defect of a law also changes the right-hand side.
std::unique_ptr<Equation> make_chain(const Network& network);

/// For tests and benchmarks: the same with the linear solver chosen.
enum class LinearSolver { automatic, dense, direct, matrix_free };
std::unique_ptr<Equation> make_chain(const Network& network, LinearSolver solver);

/// With half of the sampled sites of an activation branch.
std::unique_ptr<Equation> make_chain(const Network& network, SiteHalf half);

}  // namespace spectra::dyson
