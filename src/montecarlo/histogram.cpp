#include "montecarlo/histogram.hpp"

#include <cmath>

namespace spectra::montecarlo {
namespace {

constexpr auto bin_count = static_cast<std::size_t>((LogHistogram::units_below + LogHistogram::units_above) *
                                                    LogHistogram::bins_per_unit);

}  // namespace

LogHistogram::LogHistogram(double log_mean_square) : bins_(bin_count) {
    const double centre = std::isfinite(log_mean_square) ? 0.5 * log_mean_square : 0.0;
    first_ = std::floor((centre - units_below) * bins_per_unit);
}

void LogHistogram::add(std::span<const double> log_values) {
    for (const double x : log_values) {
        const double bin = std::floor(x * bins_per_unit) - first_;
        if (bin < 0) {
            ++below_;
        } else if (bin < static_cast<double>(bin_count)) {
            ++bins_[static_cast<std::size_t>(bin)];
        } else {
            ++above_;
        }
    }
}

LogHistogram::Range LogHistogram::occupied() const {
    Range range{0, bin_count};
    while (range.begin < bin_count && bins_[range.begin] == 0) ++range.begin;
    if (range.begin == bin_count) return {0, 1};
    while (bins_[range.end - 1] == 0) --range.end;
    return range;
}

std::vector<double> LogHistogram::edges() const {
    const auto [begin, end] = occupied();
    std::vector<double> out;
    for (std::size_t k = begin; k <= end; ++k) {
        out.push_back((first_ + static_cast<double>(k)) / bins_per_unit);
    }
    return out;
}

std::vector<double> LogHistogram::counts() const {
    const auto [begin, end] = occupied();
    std::vector<double> out;
    for (std::size_t k = begin; k < end; ++k) out.push_back(static_cast<double>(bins_[k]));
    return out;
}

std::size_t LogHistogram::memory() {
    return bin_count * sizeof(std::uint64_t);
}

}  // namespace spectra::montecarlo
