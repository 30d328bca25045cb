#include "dyson/ask/sensitivity.hpp"

#include "dyson/exact/atoms.hpp"
#include "dyson/law/potential.hpp"
#include "dyson/exact/support_bounds.hpp"
#include "dyson/law/theory.hpp"
#include "network/slice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <stdexcept>

namespace spectra::dyson {
namespace {

constexpr double far_above = 14;  // e-folds above a law where 1/ω² is only rounding
constexpr double far_below = 40;
constexpr double near_zero = 4;  // e-folds below the top of a layer's law where its series in y may begin
constexpr std::size_t extrapolated_points = 5;
constexpr double largest_error = 1e-6;

Sensitivity zeros(const Network& network) {
    Sensitivity result;
    result.sigma2.assign(network.mixers.size(), 0);
    result.mixers.assign(network.mixers.size(), Eigen::MatrixXd::Zero(network.streams, network.streams));
    return result;
}

/// scale·Re ∂Φ.
Sensitivity real_part(const Potential& potential, double scale) {
    Sensitivity result;
    for (const Complex value : potential.sigma2) result.sigma2.push_back(scale * value.real());
    for (const auto& value : potential.mixers) result.mixers.emplace_back(scale * value.real());
    return result;
}

Sensitivity of_mass(const Network& network, const MassBelow& mass) {
    Sensitivity result = zeros(network);
    result.certified = mass.certified;
    const double scale = -1 / std::numbers::pi;
    for (std::size_t l = 0; l < mass.potential.sigma2.size(); ++l)
        result.sigma2[l] = scale * mass.potential.sigma2[l].imag() + 0.0;  // no −0
    for (std::size_t l = 0; l < mass.potential.mixers.size(); ++l)
        result.mixers[l] = (scale * mass.potential.mixers[l].imag()).array() + 0.0;
    return result;
}

Sensitivity of_mean_square(const Network& network) {
    const auto equation = make_operator_valued(network);
    const Frequency omega{support_bounds(network).log_far + far_above, {0.0, 1.0}};
    const Solution solution = newton(*equation, omega, equation->far(omega));
    const Potential potential = PotentialReader(network).at(solution);
    Sensitivity result = real_part(potential, std::exp(2 * omega.log_scale));
    result.certified = solution.ok() && potential.defect < largest_error;
    return result;
}

/// ½ Re ∂Φ(iy) of one layer for y → 0, ∂ with respect to σ² and every entry of its mixer: followed down the
/// imaginary axis and extrapolated. With a density at zero it is a series in y, with a gap a series in y²;
/// rounding grows as 1/y.
struct Limit {
    Eigen::VectorXd value;
    double error = std::numeric_limits<double>::infinity();
};

Limit log_mean_derivatives(const Network& layer) {
    const auto equation = make_operator_valued(layer);
    const PotentialReader reader(layer);
    const double top = support_bounds(layer).log_upper;
    const auto values = [&](const Solution& solution) {
        const Potential potential = reader.at(solution);
        Eigen::VectorXd result(1 + layer.mixers[0].size());
        result << 0.5 * potential.sigma2[0].real(), 0.5 * potential.mixers[0].real().reshaped();
        return result;
    };
    Limit best;
    std::vector<double> y;
    std::vector<Eigen::VectorXd> rows;  // the last diagonal of Neville's scheme
    Frequency omega{top + 3, {0.0, 1.0}};
    Solution here = newton(*equation, omega, equation->far(omega));
    for (double step = 1; here.ok() && omega.log_scale > top - far_below && step > 0.05;) {
        const Frequency next{omega.log_scale - step, omega.direction};
        const Solution solution = newton(*equation, next, here.m);
        if (!solution.ok()) {
            step /= 2;
            continue;
        }
        here = solution;
        omega = next;
        if (omega.log_scale > top - near_zero) continue;
        y.push_back(std::exp(omega.log_scale - top));
        std::vector<Eigen::VectorXd> diagonal{values(here)};
        for (std::size_t k = 0; k < rows.size() && k + 1 < extrapolated_points; ++k) {
            const double ratio = y[y.size() - 2 - k] / y.back();
            diagonal.emplace_back(diagonal[k] + (diagonal[k] - rows[k]) / (ratio - 1));
        }
        rows = std::move(diagonal);
        if (rows.size() < extrapolated_points) continue;
        const Eigen::VectorXd& value = rows.back();
        const double error =
            (value - rows[rows.size() - 2]).cwiseAbs().maxCoeff() / (1 + value.cwiseAbs().maxCoeff());
        if (error < best.error) best = {value, error};
        if (error < 1e-11) break;
    }
    // If a layer has a gap at zero, noise does not change E ln s.
    if (best.value.size() > 0) {
        const double rounding = 1e-12 * (1 + best.value.cwiseAbs().maxCoeff());
        best.value = (best.value.array().abs() > rounding).select(best.value, 0.0);
    }
    return best;
}

Sensitivity of_log_mean(const Network& network) {
    Sensitivity result = zeros(network);
    result.certified = true;
    const bool infinite = atom_at_zero(network) > 0;
    for (std::size_t l = 0; l < network.mixers.size(); ++l) {
        const Limit limit = infinite ? Limit{} : log_mean_derivatives(part_of(network, l, 1));
        if (limit.value.size() == 0) {
            result.sigma2[l] = std::numeric_limits<double>::quiet_NaN();
            result.mixers[l].setConstant(std::numeric_limits<double>::quiet_NaN());
            result.certified = result.certified && infinite;
            continue;
        }
        result.sigma2[l] = limit.value(0);
        result.mixers[l] =
            limit.value.tail(limit.value.size() - 1).reshaped(network.streams, network.streams);
        result.certified = result.certified && limit.error < largest_error;
    }
    return result;
}

Sensitivity difference(const Sensitivity& a, const Sensitivity& b) {
    Sensitivity result = a;
    for (std::size_t l = 0; l < a.sigma2.size(); ++l) result.sigma2[l] -= b.sigma2[l];
    for (std::size_t l = 0; l < a.mixers.size(); ++l) result.mixers[l] -= b.mixers[l];
    result.certified = a.certified && b.certified;
    return result;
}

void check_answers(const Network& network) {
    check(network);
    check(network, Method::operator_valued);
    if (std::holds_alternative<AlignedBranch>(network.branch))
        throw std::invalid_argument("sensitivity: aligned branches have no variance to change; use another branch");
    const auto variances = sigma2(network);
    for (std::size_t l = 0; l < network.mixers.size(); ++l)
        if (variances[l] == 0 && network.mixers[l].isZero(0))
            throw std::invalid_argument("sensitivity: layer " + std::to_string(l + 1) +
                                        " is zero, so every singular value is zero; every layer needs a "
                                        "nonzero mixer or branch");
}

}  // namespace

std::vector<std::pair<std::string, const Sensitivity*>> Sensitivities::by_name() const {
    return {{"mean_square", &mean_square},
            {"log_mean", &log_mean},
            {"window", &window},
            {"collapsed", &collapsed}};
}

bool Sensitivities::certified() const {
    return mean_square.certified && log_mean.certified && window.certified && collapsed.certified;
}

std::vector<Sensitivity> counting_sensitivities(const Network& network, const std::vector<double>& log_s) {
    check_answers(network);
    std::vector<Sensitivity> result;
    for (const MassBelow& mass : mass_below(network, log_s)) result.push_back(of_mass(network, mass));
    return result;
}

Sensitivities sensitivities(const Network& network) {
    const auto counting = counting_sensitivities(
        network, {std::log(collapsed_below), std::log(window_lower), std::log(window_upper)});
    Sensitivities result;
    result.mean_square = of_mean_square(network);
    result.log_mean = of_log_mean(network);
    result.window = difference(counting[2], counting[1]);
    result.collapsed = counting[0];
    return result;
}

LargestByTriplet largest_by_triplet(const Network& network, const Spectrum& law) {
    const auto* const aligned = std::get_if<AlignedBranch>(&network.branch);
    if (aligned == nullptr) throw std::invalid_argument("sensitivity: only aligned branches keep triplets");
    if (noiseless(network))
        throw std::invalid_argument(
            "sensitivity: every triplet is kept, and nothing is left to theory; keep fewer");
    LargestByTriplet result;
    result.log_s = law.log_quantile(1 - 0.5 / network.size());
    const auto mass = mass_below(network, {result.log_s}).front();
    const double slope = 2 * mass.potential.scaled_green.imag();
    result.certified = mass.certified && slope < 0;
    for (std::size_t l = 0; l < mass.potential.triplets.size(); ++l)
        for (std::size_t i = 0; i < mass.potential.triplets[l].size(); ++i)
            result.triplets.push_back({static_cast<int>(l), static_cast<int>(i),
                                       aligned->kept[l].values(static_cast<Eigen::Index>(i)),
                                       -mass.potential.triplets[l][i].imag() / slope});
    std::stable_sort(result.triplets.begin(), result.triplets.end(),
                     [](const auto& a, const auto& b) { return a.elasticity > b.elasticity; });
    return result;
}

double by_total_noise(const Network& network, const Sensitivity& sensitivity) {
    const auto variances = sigma2(network);
    const double total = std::accumulate(variances.begin(), variances.end(), 0.0);
    const auto layers = static_cast<double>(variances.size());
    double sum = 0;
    for (std::size_t l = 0; l < sensitivity.sigma2.size(); ++l) {
        const double share = total == 0 ? 1 / layers : variances[l] / total;
        if (share > 0) sum += share * sensitivity.sigma2[l];
    }
    return sum;
}

}  // namespace spectra::dyson
