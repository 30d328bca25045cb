#pragma once

#include "dyson/law/outlier.hpp"
#include "dyson/solve/equation.hpp"
#include "dyson/solve/newton.hpp"
#include "network/network.hpp"
#include "spectrum/certificate.hpp"
#include "spectrum/spectrum.hpp"

#include <memory>
#include <vector>

namespace spectra {
class Team;
}  // namespace spectra

namespace spectra::dyson {

/// The law of a network with aligned branches. Its outliers are bands of mass 1/N, and there may be as many as there
/// are kept triplets: so it is known by counting, F(s) and the density at places that are refined until they agree,
/// rather than by a search for bands. Nothing can be missed between two counts. A narrow band between two gaps is located by
/// the circle through them (contour.hpp), without a place inside it.
///
/// Certified: every count is, F increases, and W1 is known to the tolerance.
struct AlignedLaw : Certificate {
    Spectrum law;
    std::vector<Solution> points;       ///< by increasing s
    std::vector<Complex> scaled_green;  ///< Equation::scaled_green at the points
    std::vector<Outlier> outliers;      ///< the largest first, as far as the law depends on where they are
    double error = 0;                   ///< of W1, by what the last places changed
    long newton_steps = 0;
    int descents = 0;
};

struct AlignedOptions {
    double tolerance = 1e-3;  ///< of W1, relative to the root mean square
    int threads = 0;          ///< 0: all; the result does not depend on it
    Team* team = nullptr;     ///< processes that share the places
    bool circles = true;  ///< false: narrow bands are located by halving alone, the plain way, and not listed
};

/// The same for any other network whose potential is known (PotentialReader), for example tied weights: their law is a
/// limit, without outliers of mass 1/N.
///
/// F is interpolated between places by the cubic through both counts and both densities, kept increasing.
AlignedLaw solve_aligned(const Network& network, std::unique_ptr<Equation> equation, double log_upper,
                         const AlignedOptions& options);

}  // namespace spectra::dyson
