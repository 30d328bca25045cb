#include "montecarlo/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace spectra::montecarlo {
namespace {

double scaled(double value, long exponent) {
    return std::ldexp(value, static_cast<int>(std::clamp(exponent, -100000L, 100000L)));
}

}  // namespace

void RunningMean::add(double value, long exponent) {
    if (count_ == 0) unit_ = exponent;
    const double x = scaled(value, exponent - unit_);
    ++count_;
    const double before = x - mean_;
    mean_ += before / static_cast<double>(count_);
    squares_ += before * (x - mean_);
}

double RunningMean::mean() const {
    return scaled(mean_, unit_);
}

double RunningMean::standard_error() const {
    if (count_ < 2) return 0;
    const auto count = static_cast<double>(count_);
    return scaled(std::sqrt(squares_ / (count - 1) / count), unit_);
}

}  // namespace spectra::montecarlo
