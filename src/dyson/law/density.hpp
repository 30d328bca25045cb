#pragma once

#include "dyson/exact/support_bounds.hpp"
#include "dyson/law/bands.hpp"
#include "dyson/solve/equation.hpp"
#include "dyson/solve/newton.hpp"
#include "dyson/solve/tracker.hpp"
#include "spectrum/certificate.hpp"
#include "spectrum/spectrum.hpp"

#include <functional>
#include <string>
#include <vector>

namespace spectra {
class Team;
}  // namespace spectra

namespace spectra::dyson {

struct DensityOptions {
    int points = 400;               ///< least number of nodes
    double tolerance = 1e-8;        ///< of the mass
    int threads = 0;                ///< 0: all; the result does not depend on it
    MassAbove mass_above = {};      ///< counts, to find bands that were missed; none: by scans alone
    const Support* near = nullptr;  ///< of a network that differs little (BandFinder::around_seeds)
    std::function<std::vector<double>()> more_seeds =
        {};                         ///< ln of places where bands can be, asked for if one was missed
    bool scans = true;  ///< for bands that were missed otherwise; none: what is missed is not tolerated
    Team* team = nullptr;           ///< processes that share the panels
};

/// A law and the solved points behind it, node by node. Certified: every node is, and the mass is accounted for.
struct SolvedLaw : Certificate {
    Density density;
    /// Same order as density.log_s. On all processes of a team but the first, without unknowns where another one has
    /// solved them.
    std::vector<Solution> nodes;
    std::vector<Band> bands;      ///< their edges alone
    int uncertified = 0;          ///< nodes
    double overlap = 0;           ///< of bands, in ln s: they must not
    double mass_error = 1;        ///< |mass − 1|
    double cut = 0;               ///< of the mass, the part that power laws add between bands
    long newton_steps = 0;
    double passes = 0;
    int descents = 0;
};

/// The density at real ω, with its support and quadrature.
///
/// 1. Find the bands (bands.hpp): from each noiseless singular value outwards to the edges.
/// 2. In each band, substitute x = ln s by an angle θ that flattens the square roots, cut θ into panels
///    of Gauss–Legendre nodes, and halve panels if their Legendre series has not decayed. Panels of one
///    generation are independent and run in parallel; a team's processes have some each, and those that follow from them.
/// 3. The mass must be one. If not, a band was missed: find it by counts (BandFinder::add_counted), or scan the whole
///    range for bands, in finer and finer steps.
///
/// Atoms, if there are any, are given: they are exact (atoms.hpp).
SolvedLaw solve_density(const Tracker& tracker, const SupportBounds& range,
                        const std::vector<Density::Atom>& atoms, const DensityOptions& options);

}  // namespace spectra::dyson
