#pragma once

#include "dyson/equation.hpp"
#include "dyson/newton.hpp"
#include "dyson/tracker.hpp"
#include "spectrum/spectrum.hpp"

#include <string>
#include <vector>

namespace spectra::dyson {

struct DensityOptions {
    int points = 400;         ///< least number of nodes
    double tolerance = 1e-8;  ///< of the mass
    int threads = 0;          ///< 0: all; the result does not depend on it
};

/// A law and the solved points behind it, node by node.
struct SolvedLaw {
    Density density;
    std::vector<Solution> nodes;  ///< same order as density.log_s
    bool complete = false;        ///< every node certified and the mass accounted for
    std::string message = "not solved";
    long newton_steps = 0;
    double passes = 0;
    int descents = 0;
};

/// The density itself, at real ω, with its support and quadrature.
///
/// 1. Scan ln s from a bound above the support downwards at real ω: each point is certified inside the
///    support or in a gap. The noiseless singular values join the scan, since only there can bands be
///    narrow.
/// 2. Locate each edge: density² is analytic in ln s at a square-root edge, so inverse interpolation of
///    it from inside converges fast.
/// 3. In each band, substitute x = ln s by an angle θ that flattens the square roots, cut θ into panels
///    of Gauss–Legendre nodes, and halve the panels whose Legendre series has not decayed. Panels of one
///    generation are independent and run in parallel.
/// 4. The mass must come out as one. If not, a band was missed: scan again three times finer.
///
/// Atoms, where the equation has them, are given: they are exact (atoms.hpp).
SolvedLaw solve_density(const Tracker& tracker, const Range& range, const std::vector<Density::Atom>& atoms,
                        const DensityOptions& options);

/// −(2/π) Im of the scaled Green's function, never negative.
double density_log(const Equation& equation, const Solution& solution);

}  // namespace spectra::dyson
