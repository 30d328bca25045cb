#include "dyson/law/precise_points.hpp"

#include "base/special_values.hpp"
#include "dyson/equations/precise_chain.hpp"
#include "dyson/equations/precise_tied.hpp"
#include "dyson/solve/newton.hpp"
#include "dyson/solve/watched.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <span>
#include <variant>

namespace spectra::dyson {
namespace {

constexpr double most_products = 4e5;

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

std::unique_ptr<Equation> make_precise(const Network& network) {
    return std::holds_alternative<TiedBranch>(network.branch) ? make_precise_tied(network)
                                                              : make_precise_chain(network);
}

/// The relative change of g from a solution of one network to that of another nearby; that of the unknowns where Newton's
/// method does not lead from one to the other.
double change_of(Complex g, Equation& other, const Solution& solution) {
    const Solution moved = newton(other, solution.omega, solution.m);
    if (moved.ok()) return std::abs(other.scaled_green(moved.omega, moved.m) / g - 1.0);
    Unknowns delta;
    return other.newton_step(solution.omega, solution.m, delta) ? delta.cwiseAbs().maxCoeff() : infinity;
}

}  // namespace

bool has_precise_points(const Network& network) {
    if (std::holds_alternative<AlignedBranch>(network.branch)) return false;
    const bool tied = std::holds_alternative<TiedBranch>(network.branch);
    return (tied ? precise_tied_products(network) : precise_products(network)) <= most_products;
}

std::vector<PrecisePoint> precise_points(const Network& network, const Tracker& tracker,
                                         const std::vector<Complex>& omega,
                                         const std::function<void()>& on_step) {
    std::vector<PrecisePoint> points(omega.size());
    if (omega.empty()) return points;
    Tracker precise(tracker, watched(make_precise(network), on_step));
    if (!precise.add_companion(std::log(std::abs(omega.front())))) return points;
    const std::unique_ptr<Equation> others[] = {make_precise(rounded_otherwise(network, 1)),
                                                make_precise(rounded_otherwise(network, 2))};
    for (std::size_t k = 0; k < omega.size(); ++k) {
        const Complex w = omega[k];
        const bool mirrored = w.real() < 0;  // g(−ω̄) = −conj g(ω)
        const Solution solution = precise.solve(mirrored ? -std::conj(w) : w);
        PrecisePoint& point = points[k];
        point.steps = solution.steps;
        point.residual = solution.residual;
        if (!solution.ok()) continue;
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
    return points;
}

}  // namespace spectra::dyson
