#pragma once

#include "dyson/solve/equation.hpp"

#include <cmath>
#include <numbers>

/// Shared by the equations that multiply layers as free scalars (scalar, s_transform, printed). Their first
/// unknown is t = w/(1 + w), with w = ωg − 1 the moment generating function. They are solved in logarithms,
/// which must be continuous on the closed half plane in use.
namespace spectra::dyson {

/// arg in (−π/2, 3π/2]: for the closed upper half plane.
inline Complex log_upper(Complex z) {
    Complex value = std::log(z);
    if (value.imag() <= -std::numbers::pi / 2) value += Complex(0, 2 * std::numbers::pi);
    return value;
}

/// arg in [−3π/2, π/2): for the closed lower half plane.
inline Complex log_lower(Complex z) {
    return std::conj(log_upper(std::conj(z)));
}

/// e^{log_scale} g = (1 + w)/direction.
inline Complex scaled_green_of(Complex t, const Frequency& omega) {
    return 1.0 / ((1.0 - t) * omega.direction);
}

}  // namespace spectra::dyson
