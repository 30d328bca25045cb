#pragma once

/// \file
/// Claims of JPmHC (arXiv:2602.18308) that are arithmetic: operations, parameters, ratios of its tables, binomials.

#include "claims/outcome.hpp"

namespace spectra::claims::jpmhc {

/// C17. (p/n)³ at n = 4, p = 512.
Outcome reduction_factor();
/// C37. The operations of tables 1 and 5, by their orders and counted one by one.
Outcome operations_per_module();
/// C39. The ratios of section 5.1 from the values of its tables.
Outcome ratios_of_results();
/// C41. E[1 − C(N−c, k)/C(N, k)] over c binomial, against 1 − (1 − p)^k.
Outcome pass_at_k();
/// C43. C(n!, 4).
Outcome numbers_of_subsets();
/// C46. Parameters of a module from the shapes of its layers.
Outcome module_parameters();
/// C47. Four modules as a share of 7 M.
Outcome parameter_overhead();
/// C50. ⌈ln 0.01/ln(1 − 1/n)⌉ against table 12.
Outcome gauss_seidel_sweeps();
/// C55. Backward nodes of one projection of twenty sweeps.
Outcome backward_nodes();
/// C63. Numbers of a residual mixer.
Outcome residual_parameters();
/// C68. Parameters of the recursive model of table 10.
Outcome recursive_model_parameters();

}  // namespace spectra::claims::jpmhc
