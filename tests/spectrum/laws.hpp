#pragma once

#include "spectrum/spectrum.hpp"

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

/// Laws known in closed form, as a solver would hand them over.
namespace spectra::tests {

/// Appends a band [lower, upper] in ln s: nodes at x(θ) = middle − half·cos θ, θ midway in `count`
/// equal steps, so that edges which vanish as square roots are integrated to high order; the
/// cumulative at a node by fine quadrature of the density.
template <class F>
void add_band(Density& density, double lower, double upper, int count, F density_log) {
    const double middle = 0.5 * (lower + upper);
    const double half = 0.5 * (upper - lower);
    const double step = std::numbers::pi / count;
    double f = 0;
    for (std::size_t k = 0; k < density.log_s.size(); ++k) f += density.weight[k] * density.density_log[k];
    double previous = 0;
    for (int k = 0; k < count; ++k) {
        const double angle = (k + 0.5) * step;
        // Gauss-Legendre in θ between the previous node and this one.
        const int panels = 4;
        const double width = (angle - previous) / panels;
        for (int j = 0; j < panels; ++j) {
            for (const double sign : {-1.0, 1.0}) {
                const double at = previous + (j + 0.5 + sign * 0.5 / std::numbers::sqrt3) * width;
                f += 0.5 * width * half * std::sin(at) * density_log(middle - half * std::cos(at));
            }
        }
        previous = angle;
        const double x = middle - half * std::cos(angle);
        density.log_s.push_back(x);
        density.density_log.push_back(density_log(x));
        density.weight.push_back(step * half * std::sin(angle));
        density.cumulative.push_back(f);
    }
    density.support.push_back({lower, upper});
}

/// Appends [lower, upper] in equal steps, ends included, with Simpson's weights (count even): for
/// densities without square roots at their ends, whose F is known.
template <class F, class G>
void add_simpson(Density& density, double lower, double upper, int count, F density_log, G cumulative) {
    const double step = (upper - lower) / count;
    for (int k = 0; k <= count; ++k) {
        const double x = k == count ? upper : lower + k * step;
        density.log_s.push_back(x);
        density.density_log.push_back(density_log(x));
        density.cumulative.push_back(cumulative(x));
        density.weight.push_back(step / 3 * (k == 0 || k == count ? 1 : k % 2 == 1 ? 4 : 2));
    }
}

/// s uniform on [from, to].
inline Spectrum uniform_law(double from, double to, int count) {
    Density density;
    const double width = to - from;
    add_simpson(
        density, std::log(from), std::log(to), count, [=](double x) { return std::exp(x) / width; },
        [=](double x) { return (std::exp(x) - from) / width; });
    density.support = {{std::log(from), std::log(to)}};
    return Spectrum::from_density(density);
}

/// s = U^{1/t} for uniform U, F = e^{t x}: known from e^lower up, a tail below.
inline Spectrum power_law(double t, double lower, int count) {
    Density density;
    add_simpson(
        density, lower, 0, count, [=](double x) { return t * std::exp(t * x); },
        [=](double x) { return std::exp(t * x); });
    density.mass_below = std::exp(t * lower);
    density.tail_exponent = t;
    density.support = {{-std::numeric_limits<double>::infinity(), 0}};
    return Spectrum::from_density(density);
}

/// Mass of [0, s] of the density √(4 − s²)/π on [0, 2]: the singular values of a square Gaussian matrix.
inline double quarter_circle_cdf(double s) {
    return (0.5 * s * std::sqrt(4 - s * s) + 2 * std::asin(0.5 * s)) / std::numbers::pi;
}

/// The quarter circle times e^shift; known from e^{shift−16} up and as a tail below.
inline Spectrum shifted_quarter_circle(int count, double shift) {
    Density density;
    const double lower = -16;
    const double upper = std::numbers::ln2;
    const double step = std::numbers::pi / 2 / count;
    const double range = upper - lower;
    for (int k = 0; k < count; ++k) {
        // x = upper − range·(1 − sin θ): dense at the square-root edge.
        const double angle = (k + 0.5) * step;
        const double x = upper - range * (1 - std::sin(angle));
        const double s = std::exp(x);
        density.log_s.push_back(x + shift);
        density.density_log.push_back(s * std::sqrt(4 - s * s) / std::numbers::pi);
        density.weight.push_back(step * range * std::cos(angle));
        density.cumulative.push_back(quarter_circle_cdf(s));
    }
    density.mass_below = density.cumulative.front();
    density.tail_exponent = 1;
    density.support = {{-std::numeric_limits<double>::infinity(), upper + shift}};
    return Spectrum::from_density(density);
}

inline Spectrum quarter_circle(int count) {
    return shifted_quarter_circle(count, 0);
}

inline Spectrum point_mass(double log_place) {
    Density density;
    density.atoms = {{log_place, 1}};
    return Spectrum::from_density(density);
}

}  // namespace spectra::tests
