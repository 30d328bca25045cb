#pragma once

#include <cstdint>

namespace spectra::montecarlo {

/// Mean and standard error of numbers given as value·2^exponent, in the order they are added (Welford).
/// The unit is the exponent of the first number, so squares beyond the range of double cause no NaN.
class RunningMean {
public:
    /// The complete state: a mean restored from it continues as if uninterrupted.
    struct State {
        std::int64_t count = 0;
        std::int64_t unit = 0;  ///< mean is in units of 2^unit, squares in units of its square
        double mean = 0;
        double squares = 0;  ///< Σ (x − mean)²

        bool operator==(const State&) const = default;
    };

    RunningMean() = default;
    explicit RunningMean(const State& state) : state_(state) {}
    const State& state() const { return state_; }

    void add(double value, long exponent);
    /// May be 0 or ∞ if the number leaves the range of double.
    double mean() const;
    /// Of the mean; 0 with fewer than two numbers.
    double standard_error() const;

    /// For numbers ≥ 0 of any range: ln of the mean, and the relative standard error of the mean
    /// (0 if all are 0; infinite if they contain NaN: then nothing is known).
    double log_mean() const;
    double relative_error() const;

private:
    State state_;
};

/// Sum over samples of a count and of its square. Integers: exact, and the same in any order.
struct CountSum {
    std::uint64_t sum = 0;
    std::uint64_t squares = 0;

    void add(std::uint64_t count) {
        sum += count;
        squares += count * count;
    }
    /// Standard error of the mean over that many samples,
    ///
    ///     √((S Σc² − (Σc)²) / (S² (S − 1))),
    ///
    /// 0 with fewer than two.
    double standard_error(std::uint64_t samples) const;

    /// Can these be the sums of that many counts, each of at most `most`? (Σc)²/S ≤ Σc² ≤ most·Σc.
    bool possible(std::uint64_t samples, std::uint64_t most) const;

    bool operator==(const CountSum&) const = default;
};

}  // namespace spectra::montecarlo
