#include "dyson/ask/mixer_average.hpp"

#include "base/special_values.hpp"
#include "spectrum/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace spectra::dyson {
namespace {

constexpr int cells = 256;
constexpr double tail = 1e-3;  // share of the mass that may lie below a grid's lower end

struct Moments {
    double mean = 0, deviation = 0;
};

Moments moments(const std::vector<double>& values) {
    const auto count = static_cast<double>(values.size());
    Moments result;
    for (const double v : values) result.mean += v / count;
    double sum = 0;
    for (const double v : values) sum += (v - result.mean) * (v - result.mean);
    result.deviation =
        values.size() > 1 ? std::sqrt(sum / (count - 1)) : std::numeric_limits<double>::quiet_NaN();
    return result;
}

/// The beginning of a law's grid: its lower end, or where a tail towards zero has little mass left.
double lower_end(const Spectrum& law) {
    const double quantile = law.log_quantile(tail);
    if (std::isfinite(quantile)) return quantile;
    const Density& density = law.density();
    if (!density.log_s.empty()) return density.log_s.front();
    for (const auto& atom : density.atoms)
        if (std::isfinite(atom.log_place)) return atom.log_place;
    return infinity;
}

}  // namespace

Average average(const std::vector<Spectrum>& laws) {
    Average result;
    result.draws = result.requested = result.certified = static_cast<int>(laws.size());
    if (laws.empty()) return result;
    std::vector<Metrics> metrics;
    double lower = infinity, upper = -infinity;
    for (const Spectrum& law : laws) {
        metrics.push_back(law.metrics());
        lower = std::min(lower, lower_end(law));
        if (metrics.back().largest > 0) upper = std::max(upper, std::log(metrics.back().largest));
    }
    std::vector<double> values(laws.size());
    for (const auto& entry : metric_names) {
        const auto metric = entry.member;
        for (std::size_t k = 0; k < laws.size(); ++k) values[k] = metrics[k].*metric;
        const Moments found = moments(values);
        result.mean.*metric = found.mean;
        result.deviation.*metric = found.deviation;
    }
    if (!(lower < infinity) || !(upper > -infinity)) return result;
    // Room for atoms at the ends.
    const double room = 1e-3 + 0.01 * (upper - lower);
    lower -= room;
    upper += room;
    const double width = (upper - lower) / cells;
    for (const Spectrum& law : laws)
        result.mass_below_range += law.cdf(lower) / static_cast<double>(laws.size());
    for (int c = 0; c < cells; ++c) {
        const double left = lower + c * width, right = lower + (c + 1) * width;
        for (std::size_t k = 0; k < laws.size(); ++k)
            values[k] = (laws[k].cdf(right) - laws[k].cdf(left)) / width;
        const Moments found = moments(values);
        result.log_s.push_back(0.5 * (left + right));
        result.density_log_mean.push_back(found.mean);
        result.density_log_deviation.push_back(found.deviation);
    }
    return result;
}

Average average(const std::function<Network(int)>& network_of, int draws, const Options& options,
                const std::function<bool(int)>& proceed) {
    Options own = options;
    own.eta = 0;
    own.grid.reset();
    std::vector<Spectrum> laws;
    int solved = 0;
    for (int k = 0; k < draws && (!proceed || proceed(k)); ++k, ++solved) {
        Theory theory = solve(network_of(k), Method::operator_valued, own);
        if (theory.summary.certified) laws.push_back(std::move(theory.law));
    }
    Average result = average(laws);
    result.draws = solved;
    result.requested = draws;
    return result;
}

}  // namespace spectra::dyson
