#pragma once

#include "dyson/equation.hpp"
#include "network/network.hpp"

#include <memory>

namespace spectra::dyson {

/// The operator-valued Dyson equation of a network with isotropic branches, exact at every depth.
///
/// J Jᵀ is linearised as a chain of 2L blocks of size n, in the order w_0, v_0, w_1, v_1, …, v_{L−1}
/// (layers counted from 0):
///
///     (w_0,w_0) = (v_{L−1},v_{L−1}) = ω,   (v_l, w_l) = −Y_l,   (w_{l+1}, v_l) = 1.
///
/// Averaging over the branches gives M = (P(ω; A) − Σ[M])⁻¹ with Σ(v_l) = σ_l² tr_n M(w_l) and
/// Σ(w_l) = σ_l² tr_n M(v_l). The unknowns are the 2L order parameters in chain order:
/// m_{2l} = tr_n M(w_l), m_{2l+1} = tr_n M(v_l).
///
/// One elimination pass sweeps from both ends. With R_0 = 1/(ω − Σ(w_0)), S_{L−1} = 1/(ω − Σ(v_{L−1})):
///
///     X_l = A_l R_l A_lᵀ + Σ(v_l),   E_l = (1 − Σ(w_{l+1}) X_l)⁻¹,   R_{l+1} = X_l E_l,
///     Z_l = A_lᵀ S_l A_l + Σ(w_l),   G_l = (1 − Σ(v_{l−1}) Z_l)⁻¹,   S_{l−1} = Z_l G_l,
///
/// then back, M(v_{L−1}) = (ω − X_{L−1})⁻¹ and M(w_0) = (ω − Z_0)⁻¹ first:
///
///     M(v_l)     = Σ(w_{l+1}) E_l + D_l M(v_{l+1}) D_lᵀ,     D_l = E_l A_{l+1}ᵀ,
///     M(w_{l+1}) = Σ(v_l) G_{l+1} + H_l M(w_l) H_lᵀ,         H_l = G_{l+1} A_l.
///
/// X and Z are never inverted: noiseless layers with singular mixers need no special case. Every factor
/// that is inverted is dimensionless, and on the imaginary axis (and near it, at small s) every sum adds
/// terms of one sign, so blocks whose scales differ by many orders keep their relative accuracy. Getting
/// M(w) from the first sweep alone, or either from (1 − XZ)⁻¹, cancels there.
///
/// Scales: the exact gauge (A_l, σ_l)/c_l, ω/Πc_l with Πc_l = e^{log_scale} makes ω of order one at
/// every s; the unknowns are those of the scaled chain.
///
/// Newton: dM = M dΣ M. Short chains build K_ab = tr_n(M_ab M_ba) through D; long ones apply it
/// inside GMRES, O(L n³): the pair (v_l, w_{l+1}) sees [[−X_l, 1], [1, −Z_{l+1}]]⁻¹, and dX, dZ follow
/// from dΣ in two sweeps.
std::unique_ptr<Equation> make_chain(const Network& network);

/// For tests and benchmarks: the same with the linear solver chosen.
enum class LinearSolver { automatic, dense, matrix_free };
std::unique_ptr<Equation> make_chain(const Network& network, LinearSolver solver);

}  // namespace spectra::dyson
