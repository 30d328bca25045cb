#include "dyson/law/precise_points.hpp"

#include "base/special_values.hpp"
#include "dyson/equations/precise_chain.hpp"
#include "dyson/equations/precise_tied.hpp"
#include "dyson/solve/newton.hpp"
#include "dyson/solve/watched.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <variant>

namespace spectra::dyson {
namespace {

/// Every number one unit in the last place up or down.
Network rounded_otherwise(Network network, unsigned seed) {
    std::minstd_rand random(seed);
    const auto change = [&](std::span<double> values) {
        for (double& x : values) x *= 1 + (random() >> 16 & 1 ? 0x1p-52 : -0x1p-52);
    };
    const auto change_vectors = [&](std::vector<Eigen::VectorXd>& vectors) {
        for (auto& v : vectors) change({v.data(), static_cast<std::size_t>(v.size())});
    };
    const auto change_law = [&](BranchLaw& law) {
        for (auto& values : law) change(values);
    };
    for (Mixer& a : network.mixers) change({a.data(), static_cast<std::size_t>(a.size())});
    if (auto* isotropic = std::get_if<IsotropicBranch>(&network.branch)) {
        change(isotropic->sigma2);
        change_law(isotropic->law);
    } else if (auto* hyper = std::get_if<HyperConnectionBranch>(&network.branch)) {
        change(hyper->sigma2);
        change_law(hyper->law);
        change_vectors(hyper->pre);
        change_vectors(hyper->post);
    } else if (auto* activation = std::get_if<ActivationBranch>(&network.branch)) {
        change(activation->sigma_w2);
    } else if (auto* tied = std::get_if<TiedBranch>(&network.branch)) {
        // Layers with the same weights stay the same.
        for (double& sigma2 : tied->sigma2) sigma2 *= 1 + 0x1p-52;
        change_vectors(tied->pre);
        change_vectors(tied->post);
    }
    return network;
}

bool is_tied(const Network& network) {
    return std::holds_alternative<TiedBranch>(network.branch);
}

std::unique_ptr<Equation> make_precise(const Network& network, Digits digits) {
    return is_tied(network) ? make_precise_tied(network, digits) : make_precise_chain(network, digits);
}

/// Seconds that a Newton step takes, about.
double seconds_of(const Network& network, Digits digits) {
    if (std::holds_alternative<AlignedBranch>(network.branch)) return infinity;
    const double products = is_tied(network) ? precise_tied_products(network) : precise_products(network);
    return products * (digits == Digits::thirty_two ? 5e-8 : 1.2e-6);
}

bool is_affordable(const Network& network, Digits digits) {
    return seconds_of(network, digits) <= 0.5;
}

/// The relative change of g from a solution of one network to that of another nearby, by one Newton step; that of the
/// unknowns where it is large.
double change_of(Complex g, Equation& other, const Solution& solution) {
    Unknowns delta;
    if (!other.newton_step(solution.omega, solution.m, delta)) return infinity;
    const double step = delta.cwiseAbs().maxCoeff();
    if (!(step < 0.1)) return step;
    return std::abs(other.scaled_green(solution.omega, other.moved(solution.m, delta, 1)) / g - 1.0);
}

/// Solves the points that are still open. `precise` has the network's equation in so many digits.
void solve_points(const Network& network, Digits digits, Tracker& precise, const std::vector<Complex>& omega,
                  std::vector<PrecisePoint>& points) {
    if (!precise.add_companion(std::log(std::abs(omega.front())))) return;
    const std::unique_ptr<Equation> others[] = {make_precise(rounded_otherwise(network, 1), digits),
                                                make_precise(rounded_otherwise(network, 2), digits)};
    // From each to the next towards the axis.
    std::vector<std::size_t> order(omega.size());
    std::iota(order.begin(), order.end(), 0);
    const auto tilt = [&](std::size_t k) { return omega[k].imag() / std::abs(omega[k].real()); };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return tilt(a) > tilt(b); });
    Solution last;
    for (const std::size_t k : order) {
        PrecisePoint& point = points[k];
        if (point.is_solved()) continue;
        const bool mirrored = omega[k].real() < 0;  // g(−ω̄) = −conj g(ω)
        const Complex right = mirrored ? -std::conj(omega[k]) : omega[k];
        const Solution solution = precise.solve(right, last.ok() ? &last.m : nullptr);
        point.steps += solution.steps;
        point.residual = solution.residual;
        if (!solution.ok()) continue;
        last = solution;
        const Complex g = precise.equation().scaled_green(solution.omega, solution.m);
        double change = 0;
        for (const auto& other : others) {
            const double by = change_of(g, *other, solution);
            change = by <= change ? change : by;
        }
        point.residual = std::max(solution.residual, change);
        point.certified = change <= largest_change;
        point.beyond_double = change > largest_change;
        const Complex unscaled = g * std::exp(-solution.omega.log_scale);
        point.g = mirrored ? -std::conj(unscaled) : unscaled;
    }
}

}  // namespace

bool has_precise_points(const Network& network) {
    return is_affordable(network, Digits::thirty_two) || is_affordable(network, Digits::hundred_and_twenty);
}

std::unique_ptr<Equation> precise_equation_of_law(const Network& network) {
    constexpr double most_seconds = 0.01;  // a law takes some ten thousand steps
    if (seconds_of(network, Digits::thirty_two) > most_seconds) return nullptr;
    return make_precise(network, Digits::thirty_two);
}

std::vector<PrecisePoint> precise_points(const Network& network, const Tracker& tracker,
                                         const std::vector<Complex>& omega,
                                         const std::function<void()>& on_step) {
    std::vector<PrecisePoint> points(omega.size());
    // What fewer digits find on the way to the points need not be found again.
    std::optional<Tracker> before;
    for (const Digits digits : {Digits::thirty_two, Digits::hundred_and_twenty}) {
        if (!is_affordable(network, digits) ||
            std::all_of(points.begin(), points.end(),
                        [](const PrecisePoint& point) { return point.is_solved(); }))
            continue;
        Tracker precise(before ? *before : tracker, watched(make_precise(network, digits), on_step));
        solve_points(network, digits, precise, omega, points);
        before.emplace(precise);
    }
    return points;
}

double change_by_rounding(const Network& network, const Tracker& tracker, const std::vector<Solution>& nodes,
                          const std::function<void()>& on_step) {
    constexpr std::size_t places = 8;
    std::optional<double> change;
    for (std::size_t k = 0; k < places && !nodes.empty(); ++k) {
        const double s = std::exp(nodes[(2 * k + 1) * nodes.size() / (2 * places)].omega.log_scale);
        if (!std::isnormal(s)) continue;
        const PrecisePoint point = precise_points(network, tracker, {s * Complex(1, 0.1)}, on_step).front();
        if (point.is_solved()) change = std::max(change.value_or(0), point.residual);
    }
    return change.value_or(infinity);
}

}  // namespace spectra::dyson
