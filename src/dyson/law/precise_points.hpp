#pragma once

#include "dyson/solve/tracker.hpp"
#include "network/network.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace spectra::dyson {

/// A point of the upper half plane in extended precision.
struct PrecisePoint {
    Complex g;  ///< the Green's function, if certified
    double residual = 1;     ///< last Newton step, or the change of g by rounding of the network if larger
    int steps = 0;           ///< Newton steps
    bool certified = false;  ///< the right solution
    /// Solved, but g changes by more than `largest_change`, relative, when every number of the network changes by one unit in
    /// its last place: no answer can be given for numbers in double precision.
    bool beyond_double = false;

    bool is_solved() const { return certified || beyond_double; }
};

/// The change beyond which a point is not determined by a network in double precision: that of newton()'s floor.
inline constexpr double largest_change = 1e-4;

/// Whether points of a network can be solved again in extended precision: no aligned branches, and a size at which a Newton
/// step takes less than half a second.
bool has_precise_points(const Network& network);

/// The equation of make_chain or make_tied with 32 digits, for a law that is not certified without; null if that would take too
/// long.
std::unique_ptr<Equation> precise_equation_of_law(const Network& network);

/// Points that rounding hides from `tracker` (of make_chain's equation of the same network), of about the same scale.
std::vector<PrecisePoint> precise_points(const Network& network, const Tracker& tracker,
                                         const std::vector<Complex>& omega,
                                         const std::function<void()>& on_step = {});

/// The largest relative change of g, beside some of a law's points, when every number of the network changes by one unit in its
/// last place; infinity if none of them can be solved.
double change_by_rounding(const Network& network, const Tracker& tracker, const std::vector<Solution>& nodes,
                          const std::function<void()>& on_step = {});

}  // namespace spectra::dyson
