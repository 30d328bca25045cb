#pragma once

/// \file
/// A law of singular values as a density on a grid in ln s, with bands and atoms.

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

    /// An interval that the continuous part fills.
    struct Band {
        double log_lower;  ///< ln of its lower end; −∞ for a band that reaches zero
        double log_upper;  ///< ln of its upper end
    };
    std::vector<Band> support;  ///< all bands, increasing

    /// A point mass.
    struct Atom {
        double log_place;  ///< ln of its place; −∞ for an atom at s = 0
        double mass;       ///< share of the singular values
    };
    std::vector<Atom> atoms;  ///< all atoms
};

}  // namespace spectra
