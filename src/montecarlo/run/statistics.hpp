#pragma once

/// \file
/// Running means, sums of counts and histograms over samples: what a simulation needs to continue.

#include <cstdint>
#include <vector>

namespace spectra::montecarlo {

/// Mean and standard error of numbers given as value·2^exponent, in the order they are added (Welford).
/// The unit is the exponent of the first number, so squares beyond the range of double cause no NaN.
class RunningMean {
public:
    /// The complete state: a mean restored from it continues as if uninterrupted.
    struct State {
        std::int64_t count = 0;  ///< numbers added
        std::int64_t unit = 0;   ///< mean and squares are in 2^unit and its square
        double mean = 0;         ///< of the numbers
        double squares = 0;      ///< Σ (x − mean)²

        /// Equal in all members.
        bool operator==(const State&) const = default;
    };

    /// Of no numbers yet.
    RunningMean() = default;
    /// Continues from a state.
    explicit RunningMean(const State& state) : state_(state) {}
    /// What a later RunningMean can continue from.
    const State& state() const { return state_; }

    /// Adds value·2^exponent.
    void add(double value, long exponent);
    /// The mean. May be 0 or ∞ where the number itself leaves the range of double.
    double mean() const;
    /// Standard error of the mean; 0 with fewer than two numbers.
    double standard_error() const;

    /// ln of the mean of numbers that are not negative, in any range.
    double log_mean() const;
    /// Standard error of that mean relative to it (0 where all numbers are 0; infinite where they are no
    /// numbers: nothing is known then).
    double relative_error() const;

private:
    State state_;
};

/// Sum over samples of a count and of its square. Integers: exact, and the same in any order.
struct CountSum {
    std::uint64_t sum = 0;      ///< Σ c
    std::uint64_t squares = 0;  ///< Σ c²

    /// Adds one sample's count.
    void add(std::uint64_t count) {
        sum += count;
        squares += count * count;
    }
    /// Standard error of the mean count over that many samples,
    ///
    ///     √((S Σc² − (Σc)²) / (S² (S − 1))),
    ///
    /// 0 with fewer than two.
    double standard_error(std::uint64_t samples) const;

    /// Whether these can be the sums of that many counts, each of at most `most`: (Σc)²/S ≤ Σc² ≤ most·Σc.
    bool possible(std::uint64_t samples, std::uint64_t most) const;

    /// Equal in all members.
    bool operator==(const CountSum&) const = default;
};

/// What a histogram has counted, from the first occupied bin to the last (one empty bin if there is none):
/// integers, exact as doubles up to 2^53. Enough to go on counting.
struct Counts {
    std::vector<double> edges;          ///< B + 1
    std::vector<double> counts;         ///< B, of all samples
    std::vector<double> count_squares;  ///< B, Σ over samples of the square of their own count
    /// B + 1, at the edges: Σ over samples of the square of the number of their values below the edge.
    std::vector<double> cumulative_squares;
    double below = 0;  ///< values below the histogram's range
    double above = 0;  ///< values above it

    /// Equal in all members.
    bool operator==(const Counts&) const = default;
};

}  // namespace spectra::montecarlo
