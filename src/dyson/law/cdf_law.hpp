#pragma once

#include "network/network.hpp"
#include "spectrum/certificate.hpp"
#include "spectrum/spectrum.hpp"

namespace spectra::dyson {

/// A law known by its distribution function alone. Certified: every count is, and the error is at most what was asked
/// for.
struct CountedLaw : Certificate {
    Spectrum law;            ///< uniform in ln s between the places where it was counted
    double error = 0;        ///< of W1, by what the last places changed
    int points = 0;
};

/// F(s) at places that are halved until its W1 is right to `tolerance` of the root mean square, each counted
/// by itself (potential.hpp). Slower than a density where that is found, and without its edges; but no band
/// can be missed, however narrow or many there are: of one layer whose branch has few distinct singular
/// values, say. The shares below and between the metrics' thresholds are exact.
CountedLaw count_law(const Network& network, double tolerance = 1e-4);

}  // namespace spectra::dyson
