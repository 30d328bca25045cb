#pragma once

namespace spectra::montecarlo {

/// Mean and standard error of numbers given as value·2^exponent, in the order they are added (Welford).
/// The first number's exponent is the unit, so depths whose squares leave the range of double cause no NaN.
class RunningMean {
public:
    void add(double value, long exponent);
    /// May be 0 or ∞ where the number itself leaves the range of double.
    double mean() const;
    /// Of the mean; 0 with fewer than two numbers.
    double standard_error() const;

private:
    long count_ = 0;
    long unit_ = 0;
    double mean_ = 0;
    double squares_ = 0;
};

}  // namespace spectra::montecarlo
