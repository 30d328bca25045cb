#pragma once

#include "dyson/solve/tracker.hpp"

#include <array>

namespace spectra::dyson {

/// What lies between two points of the axis, from g on a circle through both, where it is smooth however narrow the bands
/// are inside. With 2K points z = e^{iθ} in the middles of equal arcs, half of them by symmetry,
///
///     1/K Σ Re[2g h z^{j+1}] = ∫ x^j/(1 + x^{2K}) dF,     x = (s − c)/h, c the centre and h the radius,
///
/// exactly, over the symmetrised law (s and −s): what is outside hardly counts, and what is inside is hardly changed.
using CircleMoments = std::array<double, 3>;  ///< j = 0, 1, 2

/// Moments of a circle by what is known of a law.
class Outside {
public:
    Outside(double lower, double upper);
    void add(double s, double mass);
    const CircleMoments& moments() const { return moments_; }

private:
    double centre_, radius_;
    CircleMoments moments_ = {};
};

struct Inside {
    bool solved = false;
    double lower = 0, upper = 0;
    CircleMoments moments = {};
    double mean = 0;    ///< of s with the weight 1/(1 + x^{2K})
    double spread = 0;  ///< standard deviation, likewise
    /// Of a band that is narrow: the moment 0 without its factor 1/(1 + x^{2K}). Away from the mass between the two points
    /// by what is outside.
    double mass = 0;

    /// The same without what lies outside.
    Inside without(const Outside& outside) const;
};

/// `below` and `above`: solutions next to the axis at the two ends, from which points of the circle are foreseen, or at
/// any two places with nothing between them and the circle.
Inside inside(Tracker& tracker, double lower, double upper, const Solution& below, const Solution& above);

}  // namespace spectra::dyson
