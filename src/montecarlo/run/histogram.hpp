#pragma once

#include "montecarlo/run/statistics.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace spectra::montecarlo {

/// Counts in bins, sample by sample. With Σc and Σc² of every bin, and the same of the number of values
/// below every edge, come standard errors over samples; memory does not depend on how many there are.
class Bins {
public:
    explicit Bins(std::size_t count) : bins_(count), rises_(count) {}

    /// Adds the values of one sample. `bin_of` returns the bin of a value (an integer, outside the range if
    /// it is in none) and must not decrease along them.
    template <class BinOf>
    void add(std::span<const double> values, BinOf bin_of) {
        const auto outside = static_cast<double>(bins_.size());
        std::uint64_t seen = 0;
        for (std::size_t k = 0; k < values.size();) {
            const double bin = std::clamp(bin_of(values[k]), -1.0, outside);
            std::uint64_t count = 1;
            while (++k < values.size() && std::clamp(bin_of(values[k]), -1.0, outside) == bin) ++count;
            if (bin < 0) {
                below_.add(count);
            } else if (bin < outside) {
                const auto b = static_cast<std::size_t>(bin);
                bins_[b].add(count);
                rises_[b] += count * (2 * seen + count);
            } else {
                above_ += count;
            }
            seen += count;
        }
    }

    /// Edge k of the range is edge(k).
    template <class Edge>
    Counts counts(Edge edge) const {
        const auto [begin, end] = occupied();
        Counts out;
        std::uint64_t squares = below_.squares;
        out.edges.push_back(edge(begin));
        out.cumulative_squares.push_back(static_cast<double>(squares));
        for (std::size_t b = begin; b < end; ++b) {
            squares += rises_[b];
            out.edges.push_back(edge(b + 1));
            out.counts.push_back(static_cast<double>(bins_[b].sum));
            out.count_squares.push_back(static_cast<double>(bins_[b].squares));
            out.cumulative_squares.push_back(static_cast<double>(squares));
        }
        out.below = static_cast<double>(below_.sum);
        out.above = static_cast<double>(above_);
        return out;
    }

    /// Continues from counts with `begin` as their first bin. Throws std::invalid_argument if they cannot be
    /// counts of this histogram: they may come from a file.
    void restore(const Counts& counts, double begin);

    struct Range {
        std::size_t begin, end;
    };
    Range occupied() const;

    std::uint64_t total() const;

    /// Can these be counts of `samples` samples of `size` values?
    bool possible(std::uint64_t samples, std::uint64_t size) const;

    /// Values below every edge of the range, over samples.
    std::vector<CountSum> cumulative(Range range) const;

    static std::size_t memory(std::size_t count) {
        return count * (sizeof(CountSum) + sizeof(std::uint64_t));
    }

private:
    std::vector<CountSum> bins_;
    std::vector<std::uint64_t> rises_;  // Σ over samples of C² at a bin's upper edge minus that at its lower
    CountSum below_;
    std::uint64_t above_ = 0;
};

/// Counts of ln s in bins of width 1/128 with edges at its multiples. The range lies around the expected root
/// mean square: from e^{−52} of it (below the resolution of a product in double precision) to e^{12}.
class LogHistogram {
public:
    static constexpr double bins_per_unit = 128;
    static constexpr double units_below = 52;
    static constexpr double units_above = 12;

    /// −∞ (everything is zero) is replaced by 0.
    explicit LogHistogram(double log_mean_square);

    /// One sample's ln s, ascending.
    void add(std::span<const double> log_values);

    Counts counts() const;
    void restore(const Counts& counts);
    std::uint64_t total() const { return bins_.total(); }
    bool possible(std::uint64_t samples, std::uint64_t size) const { return bins_.possible(samples, size); }

    /// The expected Wasserstein distance ∫ |F_S − F| ds between the law of S samples of N values and that of
    /// infinitely many, relative to the root mean square. At every edge the error of F_S is normal with the
    /// standard error over samples of F there, so its mean size is √(2/π) of that:
    ///
    ///     √(2/π) ∫ se F(s) ds / rms.
    double wasserstein1_error(std::uint64_t samples, std::uint64_t size, double log_rms) const;

    /// Bytes of memory per histogram.
    static std::size_t memory();

private:
    double edge(std::size_t k) const { return (first_ + static_cast<double>(k)) / bins_per_unit; }

    double first_;  // index of the lowest bin: its lower edge is first_ / bins_per_unit
    Bins bins_;
};

/// Counts of s in bins of width 2^{−7} times the power of two nearest to the expected root mean square, from
/// 0 to 16 times it. (The power is limited to 2^{±900}, so that the edges stay in the range of double.)
class LinearHistogram {
public:
    static constexpr int bins_per_unit_exponent = 7;
    static constexpr int units = 16;

    explicit LinearHistogram(double log_mean_square);

    /// One sample's ln s, ascending.
    void add(std::span<const double> log_values);

    Counts counts() const;
    void restore(const Counts& counts);
    std::uint64_t total() const { return bins_.total(); }
    bool possible(std::uint64_t samples, std::uint64_t size) const { return bins_.possible(samples, size); }

    static std::size_t memory();

private:
    int exponent_;
    Bins bins_;
};

}  // namespace spectra::montecarlo
