#pragma once

#include "dyson/law/density.hpp"
#include "dyson/law/potential.hpp"
#include "dyson/law/unresolved_mass.hpp"

#include <optional>

namespace spectra::dyson {

/// Directions that mixers lose and branches with small singular values carry on are spread over tens of
/// e-folds, at the lower end of which rounding hides the density. What lies there is counted still: at a
/// certified point s the potential gives the mass above s without any integral (potential.hpp). At the lowest
/// point x where that equals the mass found above it, to 1e-5, nothing above is missing, and exactly the rest
/// lies below.
///
/// Where a law is not complete, such a point exists, and what lies below it matters to nobody who looks at s
/// (mass · e^x < 1e-6 of the root mean square), the law is cut there: it becomes complete, with the rest as a
/// tail that has the exact mean of ln s where that is known (`log_mean`), else falling as s. Returns the
/// rest; none where the law is left as it was.
std::optional<Unresolved> leave_unresolved(SolvedLaw& law, const PotentialReader& reader, double mean_square,
                                           std::optional<double> log_mean);

}  // namespace spectra::dyson
