#pragma once

#include <vector>

namespace spectra {

/// A density with respect to x = ln s on an increasing grid, with its quadrature and its
/// cumulative mass. Everything is in ln s, so scales below 1e-300 are ordinary.
struct Density {
    std::vector<double> log_s;        ///< x_k, increasing
    std::vector<double> density_log;  ///< dF/dx at x_k
    std::vector<double> weight;       ///< Σ weight·density_log·f(x_k) = ∫ f dF over the grid's range
    std::vector<double> cumulative;   ///< F(x_k): mass below the range and atoms at or below x_k included
    double mass_below = 0;            ///< continuous mass below the range, without atoms
    double tail_exponent = 0;         ///< dF/dx ~ e^{tail_exponent·x} below the range; 0: nothing there

    struct Band {
        double log_lower, log_upper;  ///< log_lower = −∞ for a band that reaches zero
    };
    std::vector<Band> support;

    struct Atom {
        double log_place;  ///< −∞ for an atom at s = 0
        double mass;
    };
    std::vector<Atom> atoms;
};

}  // namespace spectra
