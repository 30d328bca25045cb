#include "montecarlo/run/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace spectra::montecarlo {
namespace {

__extension__ using Wide = unsigned __int128;

double scaled(double value, std::int64_t exponent) {
    return std::ldexp(value,
                      static_cast<int>(std::clamp(exponent, std::int64_t{-100000}, std::int64_t{100000})));
}

double error_of_mean(const RunningMean::State& state) {
    if (state.count < 2) return 0;
    const auto count = static_cast<double>(state.count);
    return std::sqrt(state.squares / (count - 1) / count);
}

}  // namespace

void RunningMean::add(double value, long exponent) {
    auto& [count, unit, mean, squares] = state_;
    if (count == 0) unit = exponent;
    const double x = scaled(value, exponent - unit);
    ++count;
    const double before = x - mean;
    mean += before / static_cast<double>(count);
    squares += before * (x - mean);
}

double RunningMean::mean() const {
    return scaled(state_.mean, state_.unit);
}

double RunningMean::standard_error() const {
    return scaled(error_of_mean(state_), state_.unit);
}

double RunningMean::log_mean() const {
    return std::log(state_.mean) + static_cast<double>(state_.unit) * std::numbers::ln2;
}

double RunningMean::relative_error() const {
    if (state_.mean == 0) return 0;
    const double error = error_of_mean(state_) / state_.mean;
    return error >= 0 ? error : std::numeric_limits<double>::infinity();
}

bool CountSum::possible(std::uint64_t samples, std::uint64_t most) const {
    return Wide{sum} <= Wide{samples} * most && Wide{squares} <= Wide{most} * sum &&
           Wide{sum} * sum <= Wide{samples} * squares;
}

double CountSum::standard_error(std::uint64_t samples) const {
    if (samples < 2) return 0;
    const Wide spread = Wide{samples} * squares - Wide{sum} * sum;
    const auto count = static_cast<double>(samples);
    return std::sqrt(static_cast<double>(spread) / (count - 1)) / count;
}

}  // namespace spectra::montecarlo
