#pragma once

/// \file
/// Claims of JPmHC (arXiv:2602.18308) on laws of singular values: its equations, its figure 1, what collapses.

#include "claims/outcome.hpp"

namespace spectra::claims::jpmhc {

/// C4. The same singular values in every layer, aligned or turned by permutations: what changes and what does not.
Outcome eigenspace_misalignment();
/// C9. Equation (4) as printed: mass and E s² by a contour integral.
Outcome scalar_dyson_equation();
/// C10. One stream, Lσ² = 0.05: the share near 1 for eight activations.
Outcome activation_universality();
/// C11. W1 between the scalar theory and simulation at L = 10.
Outcome scalar_theory_is_inaccurate();
/// C12. W1 between theory and simulation falls as 1/p.
Outcome kronecker_collapse();
/// C13. Equation (7) as printed: E s², and W1 to a simulation.
Outcome matrix_fixed_point();
/// C14. Equations (7) and (4) at n = 1.
Outcome reduction_to_scalar_equation();
/// C15. The twisted S-transform of two layers against the chain.
Outcome twisted_s_transform();
/// C16. The twisted S-transform nested for three layers against the chain.
Outcome nested_s_transform();
/// C18. How the time of a Newton step grows with n and L.
Outcome cost_of_a_step();
/// C19. Seconds per point at n = 4, L = 100.
Outcome seconds_per_point();
/// C20. One step (8) from an error of 1e-6.
Outcome newton_step();
/// C21. Steps to 1e-12 with continuation, by (8) as printed and with its sign corrected.
Outcome iterations_per_point();
/// C22. The z₁ map of identical layers against the chain.
Outcome z1_map();
/// C23. Condition of the S-transform near w = 0, and digits lost in w = zG − 1.
Outcome s_transform_condition();
/// C24. L = 1: the scalar theory against the operator-valued one and simulation, for four mixers.
Outcome scalar_theory_of_one_layer();
/// C25. L = 2 and 10: both theories against simulation.
Outcome theories_from_two_layers();
/// C26. Ten orthogonal layers at Lσ² = 0.05.
Outcome orthogonal_isometry();
/// C27. What smoothing at η = 0.02 does to the mass near 0 and near 1.
Outcome smoothing();
/// C28. ∫ −Im G(x + iε)/π over the support at ε = 0.01.
Outcome normalisation_of_a_smoothed_density();
/// C29. The law of identity mixers at fixed Lσ² for L = 10 to 1000.
Outcome constant_total_variance();
/// C30. Orthogonal against identity mixers, with isotropic and with tied branches.
Outcome orthogonal_against_identity();
/// C31. The share near zero of bistochastic layers.
Outcome share_near_zero();
/// C42. Twelve layers with tied weights.
Outcome tied_recursion();
/// C70. E[𝒳M𝒳] of Appendix F.5.5 by drawing X: its diagonal and off-diagonal blocks.
Outcome self_energy();
/// C71. A = a1: the 2×2 system with the corrected self-energy against the cubic.
Outcome scalar_skip();

}  // namespace spectra::claims::jpmhc
