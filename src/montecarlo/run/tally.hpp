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

/// The sum of samples, one after another, in constant memory.
class Tally {
public:
    Tally(double log_mean_square, int size);

    /// ln s, ascending.
    void add(const Drawn& drawn, std::span<const double> log_values);

    int samples() const { return samples_; }
    SamplingErrors errors() const;

    /// Writes everything counted, but not values and law.
    void write(Simulation& out, bool histogram) const;
    /// Restores the state after the samples of `from`. It may come from a file that was changed, so its
    /// consistency is checked, also that of the mean square with the values if they were kept. `precision` is
    /// the relative precision of the values; nothing for the quantiles of a quadrature. Throws
    /// std::invalid_argument if `from` cannot be the sum of samples.
    void restore(const Simulation& from, std::optional<double> precision);

    static std::size_t memory();

private:
    /// Counts the values, but not the running sums that depend on more than the values.
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
