#include "spectrum/spectrum.hpp"

#include "base/special_values.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <utility>

namespace spectra {
namespace {

struct QuadratureNode {
    double place, weight;
};

/// Gauss-Laguerre with 16 nodes: ∫₀^∞ e^{−y} f(y) dy ≈ Σ weight·f(place).
constexpr std::array<QuadratureNode, 16> gauss_laguerre{{
    {0.08764941047892776, 0.2061517149578049},
    {0.4626963289150804, 0.3310578549508783},
    {1.1410577748312265, 0.2657957776442144},
    {2.1292836450983805, 0.13629693429637874},
    {3.4370866338932067, 0.04732892869412563},
    {5.078018614549768, 0.011299900080339598},
    {7.070338535048234, 0.0018490709435263271},
    {9.438314336391938, 0.0002042719153082809},
    {12.21422336886616, 1.4844586873981502e-05},
    {15.441527368781617, 6.828319330871331e-07},
    {19.180156856753136, 1.8810248410797222e-08},
    {23.515905693991908, 2.862350242973897e-10},
    {28.57872974288214, 2.1270790332241214e-12},
    {34.58339870228662, 6.29796700251788e-15},
    {41.94045264768833, 5.050473700035608e-18},
    {51.70116033954332, 4.161462370372851e-22},
}};

void require(bool condition, const char* message) {
    if (!condition) throw std::invalid_argument(message);
}

bool increasing(const std::vector<double>& values) {
    return std::adjacent_find(values.begin(), values.end(), std::greater_equal<>()) == values.end();
}

/// The density between its nodes: a polynomial through the eight nearest, in an angle in which the square roots at the
/// edges of a band are smooth (in √(upper − x) for a band that reaches zero), the edges being nodes too. NaN where there
/// are too few.
double interpolated_in_band(const Density& density, double log_s) {
    const auto band = std::find_if(density.support.begin(), density.support.end(),
                                   [&](const auto& b) { return b.log_lower < log_s && log_s < b.log_upper; });
    if (band == density.support.end()) return std::numeric_limits<double>::quiet_NaN();
    const bool bounded = std::isfinite(band->log_lower);
    const auto angle = [&](double x) {
        return bounded ? 2 * std::asin(std::sqrt(std::clamp(
                                 (x - band->log_lower) / (band->log_upper - band->log_lower), 0.0, 1.0)))
                       : -std::sqrt(std::max(0.0, band->log_upper - x));
    };
    const auto& x = density.log_s;
    const auto first = std::upper_bound(x.begin(), x.end(), band->log_lower) - x.begin();
    const auto last = std::lower_bound(x.begin(), x.end(), band->log_upper) - x.begin();
    constexpr std::ptrdiff_t most = 8;
    // Places first − 1 and last stand for the edges.
    const auto lowest = bounded ? first - 1 : first;
    const auto nearest = std::upper_bound(x.begin() + first, x.begin() + last, log_s) - x.begin();
    const auto from = std::clamp(nearest - most / 2, lowest, std::max(lowest, last + 1 - most));
    if (last + 1 - from < most) return std::numeric_limits<double>::quiet_NaN();
    std::array<double, most> place{}, value{};
    for (std::ptrdiff_t i = 0; i < most; ++i) {
        const auto node = from + i;
        const auto at = static_cast<std::size_t>(i);
        place[at] = angle(node < first   ? band->log_lower
                          : node == last ? band->log_upper
                                         : x[static_cast<std::size_t>(node)]);
        value[at] = node < first || node == last ? 0 : density.density_log[static_cast<std::size_t>(node)];
    }
    const double wanted = angle(log_s);
    for (std::size_t width = 1; width < most; ++width)  // Neville
        for (std::size_t i = 0; i + width < most; ++i)
            value[i] = ((wanted - place[i + width]) * value[i] + (place[i] - wanted) * value[i + 1]) /
                       (place[i] - place[i + width]);
    return value[0];
}

}  // namespace

Spectrum Spectrum::from_density(Density density) {
    const std::size_t count = density.log_s.size();
    require(density.density_log.size() == count && density.weight.size() == count &&
                density.cumulative.size() == count,
            "Spectrum: log_s, density_log, weight and cumulative must have the same length");
    for (std::size_t k = 0; k < count; ++k) {
        require(std::isfinite(density.log_s[k]) && std::isfinite(density.density_log[k]) &&
                    std::isfinite(density.weight[k]) && std::isfinite(density.cumulative[k]),
                "Spectrum: a density's nodes must be finite");
        require(k == 0 || density.log_s[k - 1] < density.log_s[k], "Spectrum: log_s must increase");
    }
    for (const auto& atom : density.atoms) {
        require(atom.mass >= 0 && !std::isnan(atom.log_place) && atom.log_place < infinity,
                "Spectrum: an atom needs a place below infinity and a mass of at least 0");
    }
    std::erase_if(density.atoms, [](const Density::Atom& atom) { return atom.mass == 0; });
    std::sort(density.atoms.begin(), density.atoms.end(),
              [](const auto& a, const auto& b) { return a.log_place < b.log_place; });
    Spectrum out;
    out.continuous_ = continuous_part(density);
    out.density_ = std::move(density);
    return out;
}

Spectrum Spectrum::from_log_values(std::vector<double> log_values, double log_floor) {
    for (const double x : log_values) {
        require(x < infinity, "Spectrum: values of ln s must be numbers below infinity");
    }
    std::sort(log_values.begin(), log_values.end());
    Spectrum out;
    out.log_values_ = std::move(log_values);
    out.log_floor_ = log_floor;
    return out;
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): taken over like the arguments of the other makers
Spectrum Spectrum::from_histogram(std::vector<double> log_edges, std::vector<double> counts, double below,
                                  double above, double log_floor) {
    require(log_edges.size() == counts.size() + 1 && !counts.empty() && increasing(log_edges) &&
                std::isfinite(log_edges.front()) && std::isfinite(log_edges.back()),
            "Spectrum: a histogram needs finite increasing edges, one more than counts");
    double total = below + above;
    for (const double count : counts) {
        require(count >= 0, "Spectrum: counts must be at least 0");
        total += count;
    }
    require(below >= 0 && above >= 0 && total < infinity, "Spectrum: counts must be at least 0");

    Spectrum out;
    out.log_floor_ = log_floor;
    if (total == 0) return out;
    out.sampled_ = total;
    out.continuous_ = piecewise_linear(log_edges, counts, total);
    // Two Gauss-Legendre nodes per bin: the quadrature uses the same uniform bins as F.
    auto& density = out.density_;
    const double offset = 0.5 / std::numbers::sqrt3;
    for (const auto& piece : out.continuous_.pieces) {
        const double width = piece.upper - piece.lower;
        for (const double t : {0.5 - offset, 0.5 + offset}) {
            const double x = piece.lower + t * width;
            density.log_s.push_back(x);
            density.density_log.push_back((piece.to - piece.from) / width);
            density.weight.push_back(0.5 * width);
            density.cumulative.push_back(below / total + piece.value(x));
        }
        if (piece.constant()) continue;
        if (!density.support.empty() && density.support.back().log_upper == piece.lower) {
            density.support.back().log_upper = piece.upper;
        } else {
            density.support.push_back({piece.lower, piece.upper});
        }
    }
    if (below > 0) density.atoms.push_back({-infinity, below / total});
    if (above > 0) density.atoms.push_back({log_edges.back(), above / total});
    return out;
}

double Spectrum::cdf(double log_s, bool open) const {
    if (is_empirical()) {
        const auto at = open ? std::lower_bound(log_values_.begin(), log_values_.end(), log_s)
                             : std::upper_bound(log_values_.begin(), log_values_.end(), log_s);
        return static_cast<double>(at - log_values_.begin()) / static_cast<double>(log_values_.size());
    }
    double mass = continuous_.value(log_s);
    for (const auto& atom : density_.atoms) {
        if (atom.log_place < log_s || (!open && atom.log_place == log_s)) mass += atom.mass;
    }
    return mass;
}

double Spectrum::density_log(double log_s) const {
    if (is_empirical()) {
        const double spread = log_quantile(0.75) - log_quantile(0.25);
        const double count = static_cast<double>(log_values_.size());
        double window = 2 * spread / std::cbrt(count);
        if (!(window > 0) || !std::isfinite(window)) window = 1 / std::cbrt(count);
        return (cdf(log_s + 0.5 * window) - cdf(log_s - 0.5 * window, true)) / window;
    }
    if (continuous_.empty() || !std::isfinite(log_s)) return 0;
    if (log_s < continuous_.lowest()) return continuous_.tail_exponent * continuous_.tail_value(log_s);
    const auto after =
        std::upper_bound(continuous_.pieces.begin(), continuous_.pieces.end(), log_s,
                         [](double at, const Cumulative::Piece& piece) { return at < piece.lower; });
    const auto& piece = *std::prev(after);
    if (log_s > piece.upper || piece.constant()) return 0;
    if (sampled_ > 0) return piece.slope(log_s);
    const auto& x = density_.log_s;
    const auto above = std::upper_bound(x.begin(), x.end(), log_s);
    const auto k = static_cast<std::size_t>(above - x.begin());
    if (k > 0 && x[k - 1] == log_s) return density_.density_log[k - 1];
    // Linear between nodes; between a node and an edge, the square root of an edge.
    const bool node_below = k > 0 && x[k - 1] >= piece.lower;
    const bool node_above = k < x.size() && x[k] <= piece.upper;
    const double t = (log_s - piece.lower) / (piece.upper - piece.lower);
    double value = piece.slope(log_s);
    if (node_below && node_above)
        value = (1 - t) * density_.density_log[k - 1] + t * density_.density_log[k];
    else if (node_below)
        value = density_.density_log[k - 1] * std::sqrt(1 - t);
    else if (node_above)
        value = density_.density_log[k] * std::sqrt(t);
    const double finer = interpolated_in_band(density_, log_s);
    return finer > 0.5 * value && finer < 2 * value ? finer : value;
}

double Spectrum::log_lower() const {
    if (is_empirical()) return log_values_.front();
    double lower = density_.atoms.empty() ? infinity : density_.atoms.front().log_place;
    for (const auto& band : density_.support) lower = std::min(lower, band.log_lower);
    if (continuous_.has_tail()) lower = -infinity;
    if (density_.support.empty() && !continuous_.empty()) lower = std::min(lower, continuous_.lowest());
    return lower;
}

double Spectrum::log_upper() const {
    if (is_empirical()) return log_values_.back();
    double upper = density_.atoms.empty() ? -infinity : density_.atoms.back().log_place;
    for (const auto& band : density_.support) upper = std::max(upper, band.log_upper);
    if (density_.support.empty() && !continuous_.empty()) {
        upper = std::max(upper, continuous_.pieces.back().upper);
    }
    return upper;
}

double Spectrum::log_quantile(double u) const {
    if (empty()) return std::numeric_limits<double>::quiet_NaN();
    if (is_empirical()) {
        const double count = static_cast<double>(log_values_.size());
        const double last = count - 1;
        double index = std::clamp(std::ceil(u * count) - 1, 0.0, last);
        // u·count may have been rounded across an integer.
        if (index > 0 && index / count >= u) index -= 1;
        if (index < last && (index + 1) / count < u) index += 1;
        return log_values_[static_cast<std::size_t>(index)];
    }
    double lower = log_lower();
    double upper = log_upper();
    if (!(u > 0) || cdf(lower) >= u) return lower;
    if (cdf(upper) < u) return upper;
    if (lower == -infinity) {
        lower = continuous_.empty() ? infinity : continuous_.lowest();
        for (const auto& atom : density_.atoms) {
            if (atom.log_place > -infinity) lower = std::min(lower, atom.log_place);
        }
        if (continuous_.has_tail()) {
            // Far enough that the rest of the tail cannot reach u.
            const double missing = std::max(u - cdf(-infinity), std::numeric_limits<double>::min());
            const double depth = std::max(0.0, std::log(continuous_.tail_mass / missing));
            lower = std::min(lower, continuous_.lowest() - (depth + 1) / continuous_.tail_exponent);
        }
        if (cdf(lower) >= u) return lower;
    }
    while (true) {  // cdf(lower) < u ≤ cdf(upper)
        const double middle = 0.5 * lower + 0.5 * upper;
        if (!(lower < middle && middle < upper)) return upper;
        (cdf(middle) >= u ? upper : lower) = middle;
    }
}

double Spectrum::mass() const {
    if (is_empirical()) return 1;
    return cdf(infinity);
}

double Spectrum::expectation(const std::function<double(double)>& f) const {
    if (is_empirical()) {
        double sum = 0;
        for (const double x : log_values_) sum += f(x);
        return sum / static_cast<double>(log_values_.size());
    }
    double sum = 0;
    for (const auto& atom : density_.atoms) sum += atom.mass * f(atom.log_place);
    if (continuous_.has_tail()) {
        // The weights begin at the start of the range, which may be below the first node.
        const double begin = continuous_.lowest() + std::log(density_.mass_below / continuous_.tail_mass) /
                                                        continuous_.tail_exponent;
        for (const auto& [place, weight] : gauss_laguerre) {
            sum += weight * density_.mass_below * f(begin - place / continuous_.tail_exponent);
        }
    }
    for (std::size_t k = 0; k < density_.log_s.size(); ++k) {
        const double share = density_.weight[k] * density_.density_log[k];
        if (share != 0) sum += share * f(density_.log_s[k]);
    }
    return sum;
}

Metrics Spectrum::metrics() const {
    Metrics out;
    if (empty()) return out;
    const double top = log_upper();
    out.smallest = std::exp(log_lower());
    out.largest = std::exp(top);
    out.window = cdf(std::log(window_upper)) - cdf(std::log(window_lower), true);
    out.collapsed = cdf(std::log(collapsed_below), true);
    if (top == -infinity) {  // s = 0 almost surely
        out.log_mean = -infinity;
        out.mean_square = 0;
        out.effective_rank = 0;
        return out;
    }
    // Relative to the upper end: a law at e^{−1000} keeps its effective rank, and an error of the mass
    // is not multiplied by −1000.
    out.log_mean = cdf(-infinity) > 0 ? -infinity : top + expectation([top](double x) { return x - top; });
    const double mean = expectation([top](double x) { return std::exp(x - top); });
    out.mean_square = std::exp(2 * top) * expectation([top](double x) { return std::exp(2 * (x - top)); });
    out.effective_rank = std::exp(-expectation([top, mean](double x) {
        const double ratio = std::exp(x - top) / mean;
        return ratio > 0 ? ratio * std::log(ratio) : 0.0;
    }));
    return out;
}

std::size_t Spectrum::count_below(double log_s) const {
    if (is_empirical()) {
        return static_cast<std::size_t>(std::lower_bound(log_values_.begin(), log_values_.end(), log_s) -
                                        log_values_.begin());
    }
    return sampled_ > 0 ? static_cast<std::size_t>(std::llround(sampled_ * cdf(log_s, true))) : 0;
}

std::size_t Spectrum::unresolved() const {
    return count_below(log_floor_);
}

}  // namespace spectra
