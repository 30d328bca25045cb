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

/// F(s) at positions that are refined by halving until W1 is accurate to `tolerance` times the root mean
/// square, each computed separately (potential.hpp). Slower than a density if that can be found, and without
/// edges; but no band can be missed, however narrow or many there are, for example with one layer and few
/// distinct singular values of its branch. The shares below and between the thresholds of the metrics are
/// exact.
CountedLaw count_law(const Network& network, double tolerance = 1e-4);

}  // namespace spectra::dyson
