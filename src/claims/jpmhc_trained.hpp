#pragma once

/// \file
/// Claims of JPmHC (arXiv:2602.18308) that rest on trainings.

#include "claims/outcome.hpp"
#include "claims/training.hpp"

namespace spectra::claims::jpmhc {

/// C36. The cost of mixing beside that of the sublayers.
Outcome cost_of_mixing(const TrainingResults& results);
/// C40. Recursion with orthogonal mixers converges faster than with bistochastic ones.
Outcome recursive_convergence(const TrainingResults& results);

}  // namespace spectra::claims::jpmhc
