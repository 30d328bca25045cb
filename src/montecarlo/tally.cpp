#include "montecarlo/tally.hpp"

#include <algorithm>
#include <cmath>
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

void Tally::restore(const Simulation& from) {
    const auto size = static_cast<std::size_t>(size_);
    const std::size_t total = static_cast<std::size_t>(std::max(from.samples, 0)) * size;
    const auto damaged = [](const std::string& what) {
        throw std::invalid_argument("the samples to be continued are damaged: " + what);
    };
    if (from.mean_square_state.count != from.samples)
        damaged("the mean square is of " + std::to_string(from.mean_square_state.count) + " samples, not " +
                std::to_string(from.samples));
    if (!from.log_values.empty()) {
        if (from.log_values.size() != total)
            damaged(std::to_string(from.log_values.size()) + " values, not " + std::to_string(total));
        for (std::size_t k = 0; k < total; k += size) count(std::span(from.log_values).subspan(k, size));
    } else if (from.samples > 0) {
        histogram_.restore({from.log_edges, from.counts, from.count_squares, from.cumulative_squares,
                            from.below, from.above});
        linear_.restore(from.linear);
        if (histogram_.total() != total || linear_.total() != total)
            damaged("the counts do not add up to " + std::to_string(total));
        samples_ = from.samples;
        window_ = from.window;
        collapsed_ = from.collapsed;
        log_smallest_ = from.log_smallest;
        log_largest_ = from.log_largest;
    }
    mean_square_ = RunningMean(from.mean_square_state);
    log_floor_ = from.log_floor;
}

std::size_t Tally::memory() {
    return LogHistogram::memory() + LinearHistogram::memory();
}

}  // namespace spectra::montecarlo
