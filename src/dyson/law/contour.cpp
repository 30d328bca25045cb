#include "dyson/law/contour.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace spectra::dyson {
namespace {

constexpr int half_points = 5;         // K
constexpr std::size_t most_nodes = 3;  // of the polynomial that foresees the next point

/// The polynomial in ω through the logarithms of solutions in one gauge: on the circle they are analytic.
Unknowns foreseen(const std::vector<Solution>& solved, Complex direction) {
    const std::size_t first = solved.size() - std::min(solved.size(), most_nodes);
    const Unknowns& base = solved.back().m;
    Unknowns change = Unknowns::Zero(base.size());
    for (std::size_t k = first; k + 1 < solved.size(); ++k) {
        Complex weight = 1;
        for (std::size_t j = first; j < solved.size(); ++j)
            if (j != k)
                weight *= (direction - solved[j].omega.direction) /
                          (solved[k].omega.direction - solved[j].omega.direction);
        change += weight * solved[k].m.cwiseQuotient(base).array().log().matrix();
    }
    return base.cwiseProduct(change.array().exp().matrix());
}

/// Fills in what follows from the moments.
Inside read(Inside of) {
    const double radius = 0.5 * (of.upper - of.lower);
    of.solved = of.moments[0] > 0;
    if (!of.solved) return of;
    const double x = of.moments[1] / of.moments[0];
    of.mean = 0.5 * (of.lower + of.upper) + radius * x;
    of.spread = radius * std::sqrt(std::max(0.0, of.moments[2] / of.moments[0] - x * x));
    of.mass = of.moments[0] * (1 + std::pow(x, 2 * half_points));
    return of;
}

}  // namespace

Outside::Outside(double lower, double upper)
    : centre_(0.5 * (lower + upper)), radius_(0.5 * (upper - lower)) {}

void Outside::add(double s, double mass) {
    for (const double place : {s, -s}) {
        const double x = (place - centre_) / radius_, weight = mass / (1 + std::pow(x, 2 * half_points));
        for (std::size_t j = 0; j < moments_.size(); ++j)
            moments_[j] += weight * std::pow(x, static_cast<int>(j));
    }
}

Inside Inside::without(const Outside& outside) const {
    Inside rest = *this;
    for (std::size_t j = 0; j < moments.size(); ++j) rest.moments[j] -= outside.moments()[j];
    return solved ? read(rest) : rest;
}

Inside inside(Tracker& tracker, double lower, double upper, const Unknowns& guess) {
    const double centre = 0.5 * (lower + upper), radius = 0.5 * (upper - lower);
    std::vector<Solution> solved;
    Inside found{false, lower, upper};
    for (int k = 0; k < half_points; ++k) {
        const Complex z = std::polar(1.0, std::numbers::pi * (k + 0.5) / half_points);
        const Frequency omega{std::log(centre), 1.0 + radius / centre * z};
        Solution here = tracker.at(omega, solved.empty() ? guess : foreseen(solved, omega.direction));
        if (!here.ok() && !solved.empty()) here = tracker.at(omega, solved.back().m);
        if (!here.ok()) return {};
        const Complex g = tracker.equation().scaled_green(omega, here.m) / centre;
        Complex power = z;
        for (double& moment : found.moments) {
            moment += (2.0 * g * radius * power).real() / half_points;
            power *= z;
        }
        solved.push_back(std::move(here));
    }
    return read(found);
}

}  // namespace spectra::dyson
