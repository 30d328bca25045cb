#include "dyson/law/contour.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace spectra::dyson {
namespace {

constexpr int half_points = 5;   // K
constexpr double enough = 1e-5;  // Newton step: the radius times g to 1e-5 is a hundredth of a mass of 1/1000
constexpr std::size_t most_nodes = 5;  // of the polynomial that foresees the next point

/// Solutions on the circle, in one gauge, by their angle: there they are analytic.
struct Node {
    double angle = 0;
    Unknowns m;
};

/// The polynomial in the angle through the nearest nodes.
Unknowns foreseen(const Equation& equation, std::vector<Node> nodes, double angle) {
    std::sort(nodes.begin(), nodes.end(), [&](const Node& a, const Node& b) {
        return std::abs(a.angle - angle) < std::abs(b.angle - angle);
    });
    nodes.resize(std::min(nodes.size(), most_nodes));
    std::vector<const Unknowns*> values;
    std::vector<double> weights;
    for (const Node& node : nodes) {
        double weight = 1;
        for (const Node& other : nodes)
            if (&other != &node) weight *= (angle - other.angle) / (node.angle - other.angle);
        values.push_back(&node.m);
        weights.push_back(weight);
    }
    return equation.mix(values, weights.data());
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

Inside inside(Tracker& tracker, double lower, double upper, const Solution& below, const Solution& above) {
    const double centre = 0.5 * (lower + upper), radius = 0.5 * (upper - lower), log_scale = std::log(centre);
    const Equation& equation = tracker.equation();
    const auto here_of = [&](const Solution& solution) {
        return equation.regauged(solution.m, solution.omega.log_scale, log_scale);
    };
    const auto is_end = [](const Solution& solution, double end) {
        return std::abs(solution.omega.log_scale - std::log(end)) < 1e-9;
    };
    std::vector<Node> nodes{{0, here_of(above)}};
    const bool both_ends = is_end(above, upper) && is_end(below, lower);
    if (both_ends) nodes.push_back({std::numbers::pi, here_of(below)});
    Inside found{false, lower, upper};
    for (int k = 0; k < half_points; ++k) {
        const double angle = std::numbers::pi * (k + 0.5) / half_points;
        const Complex z = std::polar(1.0, angle);
        const Frequency omega{log_scale, 1.0 + radius / centre * z};
        Solution here = tracker.at(omega, foreseen(equation, nodes, angle), enough);
        if (!here.ok()) here = tracker.at(omega, nodes[k > 0 ? nodes.size() - 1 : 0].m, enough);
        if (!here.ok()) return {};
        const Complex g = equation.scaled_green(omega, here.m) / centre;
        Complex power = z;
        for (double& moment : found.moments) {
            moment += (2.0 * g * radius * power).real() / half_points;
            power *= z;
        }
        if (k == 0 && !both_ends) nodes.clear();  // of another circle
        nodes.push_back({angle, std::move(here.m)});
    }
    return read(found);
}

}  // namespace spectra::dyson
