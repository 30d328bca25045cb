#pragma once

/// \file
/// Claims of the Manifold-Geometric Transformer: the Delta operator, its update rule, counts, rank.

#include "claims/outcome.hpp"

namespace spectra::claims::mgt {

/// C133. The spectrum of I − βkkᵀ is {1, …, 1, 1 − β}, its determinant 1 − β.
Outcome delta_operator_spectrum();
/// C134. β = 0, 1, 2: identity, projection, reflection.
Outcome geometric_regimes();
/// C135. Householder matrices are symmetric, orthogonal, involutions, of determinant −1.
Outcome householder_properties();
/// C136. AX + βkvᵀ = X + βk(vᵀ − kᵀX).
Outcome erase_and_write();
/// C137. β = λ tanh(·) + ε lies in [−λ + ε, λ + ε].
Outcome gate_range();
/// C138. Eigenvalues of the skip path of update (7), diag(1 − αβ).
Outcome unit_eigenvalues();
/// C139. Idempotence of the soft gate diag(σ(LN(·))).
Outcome soft_projection();
/// C147. Parameters that mHC and DDL add.
Outcome parameter_overhead();
/// C148. The distance from rank one in stacks of attention alone.
Outcome attention_loses_rank();

}  // namespace spectra::claims::mgt
