#pragma once

/// \file
/// The part of a law where rounding hides the density.

namespace spectra::dyson {

/// The lowest part of a law, with known mass but unknown density.
struct Unresolved {
    double mass = 0;       ///< its share of the singular values
    double log_below = 0;  ///< all of it lies below this ln s
};

}  // namespace spectra::dyson
