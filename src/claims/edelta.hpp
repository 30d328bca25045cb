#pragma once

/// \file
/// Claims of the EΔ-MHC-Geo Transformer (arXiv:2605.06729): rotations, reflections, the gate, parameters.

#include "claims/outcome.hpp"

namespace spectra::claims::edelta {

/// C72. A = uvᵀ − vuᵀ is skew.
Outcome skew_generator();
/// C73. Q is orthogonal and an isometry for every β and every input.
Outcome unconditional_orthogonality();
/// C74. det Q = +1, and I + (β/2)A is invertible.
Outcome proper_rotation();
/// C75. λ = e^{−2i arctan(βμ/2)}, never −1.
Outcome excluded_eigenvalue();
/// C76. I − βkkᵀ is orthogonal at β = 0 and 2 only.
Outcome householder_orthogonality();
/// C77. ‖Hx‖² = ‖x‖² + (β² − 2β)(kᵀx)².
Outcome householder_norm();
/// C78. Its eigenvalues are 1 and 1 − β.
Outcome householder_eigenvalues();
/// C79. The hybrid's determinant is +1 at γ = 1 and −1 at γ = 0.
Outcome gate_ends();
/// C80. It is not orthogonal between: |2γ − 1| is always a singular value.
Outcome gate_interior();
/// C81. Proposition 8.2: the identity, and the bound on the deviation.
Outcome approximate_isometry();
/// C82. 4γ(1 − γ): values, slopes and curvature.
Outcome gate_regulariser();
/// C83. Every smooth symmetric f has f′(½) = 0.
Outcome symmetric_regularisers();
/// C84. Slopes of regularisers at the boundary.
Outcome boundary_slopes();
/// C85. The gradient flow of the gate's bias near γ = ½.
Outcome midpoint_trap();
/// C86. Parameters of the five models from the shapes of their layers.
Outcome matched_parameters();
/// C87. Six layers against 9, 8, 9 and 7.
Outcome fewer_layers();
/// C101. What the truncated and the exact Cayley map reach on y = −x.
Outcome cayley_on_negation();
/// C102. Every angle in (−π, π) by finite parameters.
Outcome near_pi_angles();
/// C108. The loss of tables 6 and 9 at the same setting.
Outcome same_setting_twice();
/// C111. How far bistochastic mixers are from orthogonal.
Outcome doubly_stochastic_is_not_orthogonal();
/// C112. Sums of products of mixers of twenty Sinkhorn sweeps.
Outcome sinkhorn_errors_accumulate();

/// C149. Norms of the additive residual x + F(x), F random, against depth.
Outcome identity_shortcut_drifts();

}  // namespace spectra::claims::edelta
