#include "dyson/exact/support_bounds.hpp"

#include "base/special_values.hpp"
#include "dyson/exact/arrays.hpp"
#include "dyson/exact/atoms.hpp"
#include "dyson/exact/frames.hpp"
#include "dyson/exact/layer_branch.hpp"
#include "dyson/exact/mixer_values.hpp"
#include "dyson/exact/moments.hpp"
#include "linalg/eigen_instances.hpp"

#include <algorithm>
#include <cmath>

namespace spectra::dyson {
namespace {

double log_or_zero(double value) {
    return value > 0 ? std::log(value) : -infinity;
}

/// Extremum of ln z(y) over ln|y − pole| by golden section: z is unimodal on the branch.
template <class F>
double golden_minimum(F f, double low, double high) {
    const double ratio = (std::sqrt(5.0) - 1) / 2;
    double a = low, b = high, c = b - ratio * (b - a), d = a + ratio * (b - a);
    double fc = f(c), fd = f(d);
    for (int k = 0; k < 200 && b - a > 1e-12 * (1 + std::abs(a) + std::abs(b)); ++k) {
        if (fc < fd) {
            b = d;
            d = c;
            fd = fc;
            c = b - ratio * (b - a);
            fc = f(c);
        } else {
            a = c;
            c = d;
            fc = fd;
            d = a + ratio * (b - a);
            fd = f(d);
        }
    }
    return std::min(fc, fd);
}

struct Ends {
    double log_lower, log_upper;
};

/// ln of the largest singular value of one layer.
double gaussian_log_upper(const Eigen::ArrayXd& a, double sigma2) {
    const double top = a.maxCoeff();
    if (sigma2 == 0) return std::log(top);
    const double top2 = top * top, scale = top2 + sigma2;
    const auto log_z = [&](double log_gap) {
        const double gap = std::exp(log_gap);
        const double y = top2 + gap;
        return std::log(y) + 2 * std::log1p(sigma2 * mean((gap + (top2 - a.square())).inverse()));
    };
    return 0.5 * golden_minimum(log_z, std::log(scale) - 80, std::log(scale) + 10);
}

/// ln of the smallest singular value of one layer; −∞ if its law reaches zero.
double gaussian_log_lower(const Eigen::ArrayXd& a, double sigma2) {
    const double bottom = a.minCoeff();
    if (bottom == 0) return -infinity;
    if (sigma2 == 0) return std::log(bottom);
    const double bottom2 = bottom * bottom;
    if (!(sigma2 * mean(a.square().inverse()) < 1)) return -infinity;
    // y = bottom²·t/(1 + t) runs over (0, bottom²).
    const auto minus_log_z = [&](double log_t) {
        const double t = std::exp(log_t);
        const double y = bottom2 * t / (1 + t), gap = bottom2 / (1 + t);
        const double factor = 1 - sigma2 * mean((gap + (a.square() - bottom2)).inverse());
        return factor > 0 ? -(std::log(y) + 2 * std::log(factor)) : infinity;
    };
    return -0.5 * golden_minimum(minus_log_z, -80, 80);
}

double smallest(const LayerBranch& layer) {
    return *std::min_element(layer.values->begin(), layer.values->end());
}

Ends hyper_connection_ends(const Mixer& mixer, const Eigen::ArrayXd& a, const LayerBranch& layer) {
    const double norm = layer.norm();
    Ends ends{-infinity, std::log(a.maxCoeff() + norm * layer.pre->norm() * layer.post->norm())};
    if (!(a.minCoeff() > 1e-13 * a.maxCoeff())) return ends;
    const Eigen::PartialPivLU<Eigen::MatrixXd> lu(mixer), transposed(mixer.transpose());
    const Eigen::VectorXd post = lu.solve(*layer.post), pre = transposed.solve(*layer.pre);
    const double c = std::abs(layer.pre->dot(post));
    const double least = layer.values
                             ? std::max(1 - c * norm, c * smallest(layer) - 1)
                             : std::exp(gaussian_log_lower(Eigen::ArrayXd::Ones(1), c * c * layer.sigma2));
    if (!(least > 0)) return ends;
    const double f = c > 0 ? std::min(norm / least, (1 + 1 / least) / c) : norm;
    ends.log_lower = -std::log(1 / a.minCoeff() + post.norm() * pre.norm() * f);
    return ends;
}

Ends ends_of_layer(const Mixer& mixer, const Eigen::ArrayXd& a, const LayerBranch& layer) {
    const double norm = layer.norm(), top = a.maxCoeff(), bottom = a.minCoeff();
    if (!layer.noisy()) return {log_or_zero(bottom), log_or_zero(top)};
    if (layer.hyper_connection()) return hyper_connection_ends(mixer, a, layer);
    if (layer.values)
        return {log_or_zero(std::max(bottom - norm, smallest(layer) - top)), std::log(top + norm)};
    if (layer.slopes.value.size() > 1) return {log_or_zero(bottom - norm), std::log(top + norm)};
    return {gaussian_log_lower(a, layer.sigma2), gaussian_log_upper(a, layer.sigma2)};
}

/// The contribution of a branch to the mean square of its layer.
double layer_noise(const LayerBranch& layer, int streams) {
    if (!layer.hyper_connection()) return layer.sigma2;
    return layer.sigma2 * layer.pre->squaredNorm() * layer.post->squaredNorm() / streams;
}

/// The share of the branch in that mean square.
double noise_share(const Eigen::ArrayXd& a, const LayerBranch& layer) {
    const double noise = layer_noise(layer, static_cast<int>(a.size()));
    return noise > 0 ? noise / (a.square().mean() + noise) : 0;
}

/// ln of the approximate size of each direction after all layers, largest first, with noise restoring the
/// directions that a mixer loses.
std::vector<double> carried_by_noise(const Network& network, const std::vector<LayerBranch>& layers) {
    std::vector<double> floor;
    for (const LayerBranch& layer : layers)
        floor.push_back(0.5 * std::log(layer_noise(layer, network.streams)));
    const Eigen::VectorXd total = growth_of(follow_streams(network.mixers, floor).log_diagonal, floor).back();
    std::vector<double> result(total.begin(), total.end());
    std::sort(result.rbegin(), result.rend());
    return result;
}

/// The average ln s of directions that a mixer loses and only noise restores: the mean of ln s minus the
/// contributions of the other directions and the atoms. Not finite if none is lost or the mean is not known.
double lost_directions(const Network& network, const std::vector<Density::Atom>& points,
                       const std::vector<double>& seeds) {
    const double n = network.streams;
    double lost = n - static_cast<double>(seeds.size());
    double sum = n * log_mean(network).value_or(infinity);
    for (const double x : seeds) sum -= x;
    for (const auto& atom : points) {
        lost -= n * atom.mass;
        sum -= n * atom.mass * atom.log_place;
    }
    return lost > 0.5 ? sum / lost : infinity;
}

/// ‖D_l‖ + ‖rest‖ by sums of norms. Bands are not searched for, so that nothing else is needed.
SupportBounds aligned_bounds(const Network& network) {
    const auto& branch = std::get<AlignedBranch>(network.branch);
    SupportBounds result;
    const auto values = layer_singular_values(network);
    for (std::size_t l = 0; l < network.mixers.size(); ++l) {
        const Triplets& kept = branch.kept[l];
        double norm = kept.count() > 0 ? kept.values.maxCoeff() : 0;
        for (const double t : branch.rest[l]) norm = std::max(norm, t);
        if (branch.hyper_connection()) norm *= branch.pre[l].norm() * branch.post[l].norm();
        if (!branch.derivative.empty())
            for (Eigen::Index i = 0; i < branch.derivative[l].count(); ++i)
                norm += branch.derivative[l].values(i) * branch.derivative[l].left.col(i).norm() *
                        branch.derivative[l].right.col(i).norm();
        result.log_upper += std::log(values[l].maxCoeff() + norm);
    }
    result.log_lower = -infinity;
    // The largest of N values is at most √(N E s²).
    result.log_upper =
        std::min(result.log_upper, 0.5 * (log_mean_square(network) + std::log(network.size())));
    result.log_far = result.log_upper;
    return result;
}

}  // namespace

double log_far_of(const Network& network, double log_square) {
    return 0.5 * (log_square + 1 + std::log1p(static_cast<double>(network.depth())));
}

SupportBounds support_bounds(const Network& network) {
    if (std::holds_alternative<AlignedBranch>(network.branch)) return aligned_bounds(network);
    SupportBounds result;
    const auto layers = layer_branches(network);
    const auto values = layer_singular_values(network);
    double total_noise = 0;
    Ends ends{};
    for (std::size_t l = 0; l < layers.size(); ++l) {
        const Ends layer = ends_of_layer(network.mixers[l], values[l], layers[l]);
        ends.log_upper += layer.log_upper;
        ends.log_lower += layer.log_lower;
        total_noise += noise_share(values[l], layers[l]);
    }
    result.log_upper = ends.log_upper;
    result.log_lower = ends.log_lower;
    result.log_far = std::min(result.log_upper, log_far_of(network, log_mean_square(network)));
    result.kappa = kappa(network).value_or(0);
    const auto points = atoms(network);
    if (!points.empty() && points.front().log_place == -infinity) result.atom_at_zero = points.front().mass;
    const auto is_atom = [&](double x) {
        return std::any_of(points.begin(), points.end(),
                           [&](const auto& atom) { return std::abs(atom.log_place - x) < 1e-8; });
    };
    const auto exact = log_singular_values_of_product(network.mixers);
    const auto carried = carried_by_noise(network, layers);
    // Not far below the noise, where the density falls as s^{2/(1+κ)}: the rest counts as lost.
    const double lost_below = 3 * (1 + result.kappa);
    // Those in the atom at zero are zero, whatever their rounding.
    const auto nonzero = static_cast<std::size_t>(std::lround(network.streams * (1 - result.atom_at_zero)));
    for (std::size_t k = 0; k < std::min(nonzero, exact.size()); ++k)
        if (exact[k] > carried[k] - lost_below && !is_atom(exact[k])) result.log_seeds.push_back(exact[k]);
    if (const auto place = lost_directions(network, points, result.log_seeds); std::isfinite(place))
        result.log_seeds.push_back(place);
    result.scan_step = std::clamp(0.5 * std::sqrt(total_noise), 0.02, 0.25);
    return result;
}

}  // namespace spectra::dyson
