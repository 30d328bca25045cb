#include "montecarlo/run/tally.hpp"

#include "base/special_values.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>
#include <utility>

namespace spectra::montecarlo {
namespace {

std::uint64_t below(std::span<const double> log_values, double log_s) {
    return static_cast<std::uint64_t>(std::lower_bound(log_values.begin(), log_values.end(), log_s) -
                                      log_values.begin());
}

std::uint64_t up_to(std::span<const double> log_values, double log_s) {
    return static_cast<std::uint64_t>(std::upper_bound(log_values.begin(), log_values.end(), log_s) -
                                      log_values.begin());
}

[[noreturn]] void damaged(const std::string& what) {
    throw std::invalid_argument("the saved samples are damaged: " + what);
}

/// Adds Σ s² / N of one sample, of any range.
void add_mean_square(RunningMean& mean, std::span<const double> log_values) {
    const double largest = log_values.back();
    if (largest == -infinity) return mean.add(0, 0);
    const double exponent = std::floor(2 * largest / std::numbers::ln2);
    double sum = 0;
    for (const double x : log_values) sum += std::exp(2 * x - exponent * std::numbers::ln2);
    mean.add(sum / static_cast<double>(log_values.size()),
             static_cast<long>(std::clamp(exponent, -0x1p40, 0x1p40)));
}

}  // namespace

Tally::Tally(double log_mean_square, int size)
    : size_(size), histogram_(log_mean_square), linear_(log_mean_square) {}

void Tally::count(std::span<const double> log_values) {
    static const double log_lower = std::log(window_lower), log_upper = std::log(window_upper),
                        log_tenth = std::log(collapsed_below);
    ++samples_;
    histogram_.add(log_values);
    linear_.add(log_values);
    window_.add(up_to(log_values, log_upper) - below(log_values, log_lower));
    collapsed_.add(below(log_values, log_tenth));
    log_smallest_ = std::min(log_smallest_, log_values.front());
    log_largest_ = std::max(log_largest_, log_values.back());
}

void Tally::add(const Drawn& drawn, std::span<const double> log_values) {
    count(log_values);
    mean_square_.add(drawn.square, drawn.exponent);
    log_floor_ = std::max(log_floor_, drawn.log_floor);
}

SamplingErrors Tally::errors() const {
    const auto samples = static_cast<std::uint64_t>(samples_);
    SamplingErrors out;
    out.mean_square = mean_square_.relative_error();
    out.window = window_.standard_error(samples) / size_;
    out.collapsed = collapsed_.standard_error(samples) / size_;
    out.wasserstein1 = histogram_.wasserstein1_error(samples, static_cast<std::uint64_t>(size_),
                                                     0.5 * mean_square_.log_mean());
    return out;
}

void Tally::write(Simulation& out, bool histogram) const {
    out.samples = samples_;
    out.mean_square_state = mean_square_.state();
    out.log_floor = log_floor_;
    out.log_smallest = log_smallest_;
    out.log_largest = log_largest_;
    out.window = window_;
    out.collapsed = collapsed_;
    out.errors = errors();
    if (samples_ > 0) {
        out.mean_square = mean_square_.mean();
        out.mean_square_error = mean_square_.standard_error();
        out.smallest = std::exp(log_smallest_);
        out.largest = std::exp(log_largest_);
    }
    if (!histogram) return;
    auto counted = histogram_.counts();
    out.log_edges = std::move(counted.edges);
    out.counts = std::move(counted.counts);
    out.count_squares = std::move(counted.count_squares);
    out.cumulative_squares = std::move(counted.cumulative_squares);
    out.below = counted.below;
    out.above = counted.above;
    out.linear = linear_.counts();
}

void Tally::restore(const Simulation& from, std::optional<double> precision) {
    const auto& square = from.mean_square_state;
    constexpr std::int64_t largest_unit = 1 << 30;  // 2^unit of a mean square: enough for any depth
    if (from.samples < 0 || !(from.seconds >= 0 && from.seconds < infinity))
        damaged("the number of samples or seconds is invalid");
    if (square.count != from.samples)
        damaged("the mean square is of " + std::to_string(square.count) + " samples, not " +
                std::to_string(from.samples));
    if (!(square.mean >= 0 && square.mean < infinity) || !(square.squares >= 0 && square.squares < infinity) ||
        std::abs(square.unit) > largest_unit)
        damaged("the mean square or its variance is not a number ≥ 0");
    if (!(from.log_floor < infinity)) damaged("the floor is not a number");
    if (!from.log_values.empty())
        restore_values(from, precision);
    else if (from.samples > 0)
        restore_counts(from);
    mean_square_ = RunningMean(square);
    log_floor_ = from.log_floor;
}

void Tally::restore_values(const Simulation& from, std::optional<double> precision) {
    const auto size = static_cast<std::size_t>(size_);
    const std::size_t total = static_cast<std::size_t>(from.samples) * size;
    if (from.log_values.size() != total)
        damaged(std::to_string(from.log_values.size()) + " values, not " + std::to_string(total));
    RunningMean found;
    for (std::size_t k = 0; k < total; k += size) {
        const auto sample = std::span(from.log_values).subspan(k, size);
        if (std::any_of(sample.begin(), sample.end(), [](double x) { return !(x < infinity); }) ||
            !std::is_sorted(sample.begin(), sample.end()))
            damaged("the values are not ascending numbers");
        count(sample);
        add_mean_square(found, sample);
    }
    if (!precision) return;
    const RunningMean stored(from.mean_square_state);
    const bool zero = stored.state().mean == 0 && found.state().mean == 0;
    // If samples hardly differ, the rounding of values changes the standard error by a few per cent.
    if (!zero && (!(std::abs(stored.log_mean() - found.log_mean()) <= *precision) ||
                  !(std::abs(stored.relative_error() - found.relative_error()) <=
                    *precision + 0.05 * found.relative_error())))
        damaged("the mean square does not match the values");
}

void Tally::restore_counts(const Simulation& from) {
    const auto samples = static_cast<std::uint64_t>(from.samples), size = static_cast<std::uint64_t>(size_);
    const std::uint64_t total = samples * size;
    histogram_.restore(
        {from.log_edges, from.counts, from.count_squares, from.cumulative_squares, from.below, from.above});
    linear_.restore(from.linear);
    if (histogram_.total() != total || linear_.total() != total)
        damaged("the counts do not add up to " + std::to_string(total));
    if (!histogram_.possible(samples, size) || !linear_.possible(samples, size) ||
        !from.window.possible(samples, size) || !from.collapsed.possible(samples, size))
        damaged("the sums of squares do not match the counts");
    if (!(from.log_smallest <= from.log_largest) || !(from.log_largest < infinity))
        damaged("the smallest or the largest value is invalid");
    samples_ = from.samples;
    window_ = from.window;
    collapsed_ = from.collapsed;
    log_smallest_ = from.log_smallest;
    log_largest_ = from.log_largest;
}

std::size_t Tally::memory() {
    return LogHistogram::memory() + LinearHistogram::memory();
}

}  // namespace spectra::montecarlo
