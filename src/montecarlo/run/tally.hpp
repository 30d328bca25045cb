#pragma once

#include "montecarlo/run/histogram.hpp"
#include "montecarlo/run/simulation.hpp"

#include <optional>
#include <span>

namespace spectra::montecarlo {

/// One sample's statistics, beside its singular values.
struct Drawn {
    double square = 0;  ///< ‖J‖_F² / N = square·2^exponent
    long exponent = 0;
    double log_floor = -std::numeric_limits<double>::infinity();
};

/// What samples add up to, one after another; as large for a million as for one.
class Tally {
public:
    Tally(double log_mean_square, int size);

    /// ln s, ascending.
    void add(const Drawn& drawn, std::span<const double> log_values);

    int samples() const { return samples_; }
    SamplingErrors errors() const;

    /// What it has counted; not values and law.
    void write(Simulation& out, bool histogram) const;
    /// As after the samples of `from`, which may come from a file that someone changed: everything is checked
    /// against everything else it implies, the mean square against the values where they are there. `precision` is
    /// that of the values, relative; of quantiles (a quadrature's) nothing.
    /// Throws std::invalid_argument where `from` cannot be the sum of samples.
    void restore(const Simulation& from, std::optional<double> precision);

    static std::size_t memory();

private:
    /// But for the running sums that depend on more than the values.
    void count(std::span<const double> log_values);
    void restore_values(const Simulation& from, std::optional<double> precision);
    void restore_counts(const Simulation& from);

    int size_;
    int samples_ = 0;
    LogHistogram histogram_;
    LinearHistogram linear_;
    RunningMean mean_square_;
    CountSum window_, collapsed_;
    double log_floor_ = -std::numeric_limits<double>::infinity();
    double log_smallest_ = std::numeric_limits<double>::infinity();
    double log_largest_ = -std::numeric_limits<double>::infinity();
};

}  // namespace spectra::montecarlo
