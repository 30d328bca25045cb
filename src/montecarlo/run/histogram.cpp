#include "montecarlo/run/histogram.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>

namespace spectra::montecarlo {
namespace {

constexpr auto log_bins = static_cast<std::size_t>((LogHistogram::units_below + LogHistogram::units_above) *
                                                   LogHistogram::bins_per_unit);
constexpr auto linear_bins = static_cast<std::size_t>(LinearHistogram::units)
                             << LinearHistogram::bins_per_unit_exponent;

double log_rms(double log_mean_square) {
    return std::isfinite(log_mean_square) ? 0.5 * log_mean_square : 0.0;
}

std::uint64_t whole(double x) {
    if (!(x >= 0) || x > 0x1p53 || x != std::floor(x))
        throw std::invalid_argument("the saved histogram has a count that is not a whole number");
    return static_cast<std::uint64_t>(x);
}

/// Checks that restored counts have the edges of the saved ones, except for empty bins at the ends.
void check_edges(const Counts& from, const Counts& restored) {
    const auto begin = std::find(from.edges.begin(), from.edges.end(), restored.edges.front());
    if (static_cast<std::size_t>(from.edges.end() - begin) < restored.edges.size() ||
        !std::equal(restored.edges.begin(), restored.edges.end(), begin) ||
        !std::is_sorted(from.edges.begin(), from.edges.end()))
        throw std::invalid_argument("the saved histogram has different edges from this run's");
}

}  // namespace

void Bins::restore(const Counts& counts, double begin) {
    const std::size_t count = counts.counts.size();
    const bool fits = begin >= 0 && begin == std::floor(begin) &&
                      begin + static_cast<double>(count) <= static_cast<double>(bins_.size());
    if (!fits || counts.edges.size() != count + 1 || counts.count_squares.size() != count ||
        counts.cumulative_squares.size() != count + 1)
        throw std::invalid_argument("the saved histogram has different edges from this run's");
    *this = Bins(bins_.size());
    const auto first = static_cast<std::size_t>(begin);
    for (std::size_t b = 0; b < count; ++b) {
        bins_[first + b] = {whole(counts.counts[b]), whole(counts.count_squares[b])};
        rises_[first + b] = whole(counts.cumulative_squares[b + 1] - counts.cumulative_squares[b]);
    }
    below_ = {whole(counts.below), whole(counts.cumulative_squares.front())};
    above_ = whole(counts.above);
}

Bins::Range Bins::occupied() const {
    Range range{0, bins_.size()};
    while (range.begin < bins_.size() && bins_[range.begin].sum == 0) ++range.begin;
    if (range.begin == bins_.size()) return {0, 1};
    while (bins_[range.end - 1].sum == 0) --range.end;
    return range;
}

std::uint64_t Bins::total() const {
    std::uint64_t out = below_.sum + above_;
    for (const auto& bin : bins_) out += bin.sum;
    return out;
}

bool Bins::possible(std::uint64_t samples, std::uint64_t size) const {
    const auto each = [&](const CountSum& count) { return count.possible(samples, size); };
    const auto below = cumulative({0, bins_.size()});
    return std::all_of(bins_.begin(), bins_.end(), each) && std::all_of(below.begin(), below.end(), each);
}

std::vector<CountSum> Bins::cumulative(Range range) const {
    std::vector<CountSum> out = {below_};
    for (std::size_t b = range.begin; b < range.end; ++b)
        out.push_back({out.back().sum + bins_[b].sum, out.back().squares + rises_[b]});
    return out;
}

LogHistogram::LogHistogram(double log_mean_square)
    : first_(std::floor((log_rms(log_mean_square) - units_below) * bins_per_unit)), bins_(log_bins) {}

void LogHistogram::add(std::span<const double> log_values) {
    bins_.add(log_values, [this](double x) { return std::floor(x * bins_per_unit) - first_; });
}

Counts LogHistogram::counts() const {
    return bins_.counts([this](std::size_t k) { return edge(k); });
}

void LogHistogram::restore(const Counts& counts) {
    bins_.restore(counts, counts.edges.empty() ? -1 : counts.edges.front() * bins_per_unit - first_);
    check_edges(counts, this->counts());
}

double LogHistogram::wasserstein1_error(std::uint64_t samples, std::uint64_t size, double log_rms) const {
    if (samples < 2 || log_rms == -std::numeric_limits<double>::infinity()) return 0;
    if (!std::isfinite(log_rms)) return std::numeric_limits<double>::infinity();
    const auto range = bins_.occupied();
    const auto below = bins_.cumulative(range);
    double integral = 0, s = 0, error = 0;
    for (std::size_t k = 0; k < below.size(); ++k) {
        const double next_s = std::exp(edge(range.begin + k) - log_rms);
        const double next_error = below[k].standard_error(samples);
        // Below the first edge F is constant.
        integral += (next_s - s) * (k == 0 ? next_error : 0.5 * (error + next_error));
        s = next_s;
        error = next_error;
    }
    return std::sqrt(2 / std::numbers::pi) * integral / static_cast<double>(size);
}

std::size_t LogHistogram::memory() {
    return Bins::memory(log_bins);
}

LinearHistogram::LinearHistogram(double log_mean_square)
    : exponent_(static_cast<int>(
          std::lround(std::clamp(log_rms(log_mean_square) / std::numbers::ln2, -900.0, 900.0)))),
      bins_(linear_bins) {}

void LinearHistogram::add(std::span<const double> log_values) {
    const double log_width = (exponent_ - bins_per_unit_exponent) * std::numbers::ln2;
    bins_.add(log_values, [log_width](double x) { return std::floor(std::exp(x - log_width)); });
}

Counts LinearHistogram::counts() const {
    return bins_.counts([this](std::size_t k) {
        return std::ldexp(static_cast<double>(k), exponent_ - bins_per_unit_exponent);
    });
}

void LinearHistogram::restore(const Counts& counts) {
    bins_.restore(counts, counts.edges.empty()
                              ? -1
                              : std::ldexp(counts.edges.front(), bins_per_unit_exponent - exponent_));
    check_edges(counts, this->counts());
}

std::size_t LinearHistogram::memory() {
    return Bins::memory(linear_bins);
}

}  // namespace spectra::montecarlo
