#pragma once

#include "dyson/law/density.hpp"
#include "dyson/law/potential.hpp"
#include "dyson/law/unresolved_mass.hpp"
#include "dyson/solve/tracker.hpp"

#include <optional>

namespace spectra::dyson {

/// Directions that mixers lose and branches with small singular values restore are spread over tens of
/// e-folds; at their lower end rounding hides the density. The mass there can still be counted: at a
/// certified point s the potential gives the mass above s without any integral (potential.hpp). At the lowest
/// point x where this equals the mass found above it, to 1e-5, nothing above is missing, and exactly the rest
/// lies below.
///
/// If a law is not complete, this point exists, and the rest is negligible on a linear scale
/// (mass · e^x < 1e-6 of the root mean square), the law is cut there: it becomes complete, with the rest as a
/// tail that has the exact mean of ln s if that is known (`log_mean`), and otherwise falls as s. Returns the
/// rest; none if the law is unchanged.
std::optional<Unresolved> leave_unresolved(SolvedLaw& law, const PotentialReader& reader, double mean_square,
                                           std::optional<double> log_mean);

/// The same for a law whose points are all certified, but whose lowest bands rounding hides: the mass below a point of the gap
/// above them, by an integral that knows nothing of the bands (Tracker::cumulative), must be exactly what is missing.
std::optional<Unresolved> leave_below_gap(SolvedLaw& law, Tracker& tracker, double mean_square,
                                          std::optional<double> log_mean);

/// The same where some of the lowest bands were found, or points of them were not certified: they are dropped if all that lies
/// there is negligible as above.
std::optional<Unresolved> leave_below_lost_bands(SolvedLaw& law, Tracker& tracker, double mean_square,
                                                 std::optional<double> log_mean);

}  // namespace spectra::dyson
