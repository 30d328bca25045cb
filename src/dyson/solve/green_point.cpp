#include "dyson/solve/green_point.hpp"

#include "dyson/solve/newton.hpp"

#include <algorithm>
#include <cmath>

namespace spectra::dyson {

GreenPoint green_by_descent(Equation& equation, Complex omega, double log_far) {
    const bool mirrored = omega.real() < 0;  // g(−ω̄) = −conj g(ω)
    const double x = std::abs(omega.real()), log_end = std::log(omega.imag());
    const auto at = [x](double log_y) {
        const double y = std::exp(log_y), size = std::hypot(x, y);
        return Frequency{std::log(size), Complex(x, y) / size};
    };
    double log_y = std::max(log_far, log_end);
    Solution here = newton(equation, at(log_y), equation.far(at(log_y)));
    for (double step = 0.5; here.ok() && log_y > log_end && step > 1e-4;) {
        const double next = std::max(log_end, log_y - step);
        const Solution s = newton(equation, at(next), here.m);
        if (!s.ok()) {
            step /= 2;
            continue;
        }
        here = s;
        log_y = next;
        step = std::min(0.5, 1.5 * step);
    }
    const Complex g = equation.scaled_green(here.omega, here.m) * std::exp(-here.omega.log_scale);
    GreenPoint point;
    point.g = mirrored ? -std::conj(g) : g;
    point.residual = here.residual;
    point.certified = here.ok() && log_y == log_end;
    return point;
}

}  // namespace spectra::dyson
