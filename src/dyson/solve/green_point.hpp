#pragma once

#include "dyson/solve/equation.hpp"

namespace spectra::dyson {

/// g at one ω by an independent method. The defaults mean that nothing was solved.
struct GreenPoint {
    Complex g;
    double residual = 1;     ///< last Newton step relative to the unknowns
    bool certified = false;  ///< converged, and on the right branch
};

/// g of an equation at one ω, Im ω > 0, by continuation down a vertical line from the height e^{log_far},
/// where far() must be good enough. Independent of the tracker.
GreenPoint green_by_descent(Equation& equation, Complex omega, double log_far);

}  // namespace spectra::dyson
