#pragma once

/// \file
/// Claims of JPmHC (arXiv:2602.18308) on mixers: sums, norms, spans, Cayley's iteration, permutations, projections.

#include "claims/outcome.hpp"

#include <Eigen/Core>

#include <vector>

namespace spectra::claims::jpmhc {

/// C1. The largest gain max_i Σ_j |(A_L ··· A_1)_ij| of unconstrained mixers: I + εG with G of N(0, 1) entries, L = 60.
Outcome unconstrained_gain();
/// C2. ‖P‖₂ = 1 for bistochastic P.
Outcome doubly_stochastic_norm();
/// C3. Eigenvalues of bistochastic draws: one is 1, the others lie inside the disk, and products of layers contract.
Outcome eigenvalue_contraction();
/// C5. Bistochastic mixers that do not collapse: permutations, and those of the identity-like start of mHC.
Outcome birkhoff_without_collapse();
/// C6. Products of exact Cayley transforms stay orthogonal to depth 1000; those of two fixed-point steps shrink.
Outcome orthogonal_closure();
/// C7. dim span O(n) = n², dim span of the Birkhoff polytope = (n − 1)² + 1.
Outcome span_dimensions();
/// C8. The second of these against q² − 2q.
Outcome printed_span_dimension();
/// C33. Cayley's iteration converges to the retraction if α‖W‖ < 2, and not beyond.
Outcome cayley_iteration_limit();
/// C34. ‖YᵀY − I‖_max after two steps, the median over draws, against the scale of the logits.
Outcome two_steps_are_orthonormal();
/// C35. H_pre has rows, H_post columns that sum to 1, and H_res is orthogonal.
Outcome mapping_constraints();
/// C61. Singular values and determinant of s steps: σ² = 1 − m⁴/4 + m⁶/16 at s = 2.
Outcome norm_and_determinant();
/// C62. Determinants of bistochastic matrices.
Outcome doubly_stochastic_determinant();
/// C64. What the two transpositions of the permutation basis generate: subgroups by closure.
Outcome generators_of_s4();
/// C65. UUᵀ is idempotent, symmetric and of rank p.
Outcome grassmann_projector();
/// C66. One step of Cayley-Adam as printed, and with W of the other sign, on L(U) = −tr UᵀSU.
Outcome cayley_adam_step();
/// C67. The path of UUᵀ does not depend on the basis: U → UO.
Outcome horizontal_path();
/// C69. AdamAtan2's update, atan2(m, √v), of gradients that are rescaled.
Outcome adam_atan2_scale();
/// C44. Seconds of the exhaustive search at n = 3 and 4, and those n = 5 would take.
Outcome spectral_gap_times();
/// C45. The largest spectral gap of four generators of S₄.
Outcome largest_spectral_gap();

/// |λ₁| − |λ₂| of the walk T[g, gσ] = 1/K on S_n, σ in the set; 0 where the set does not generate S_n. Permutations of n
/// streams, in the order of mixers::all_permutations.
double spectral_gap(const std::vector<std::vector<int>>& generators, int n);
/// The group generated: how many permutations products of these give.
int closure_size(const std::vector<std::vector<int>>& generators);

}  // namespace spectra::claims::jpmhc
