#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace spectra::montecarlo {

/// Counts of ln s in bins of width 1/128 whose edges are multiples of it. The range lies around the root
/// mean square expected: from e^{−52} of it (below what double precision resolves in a product) to e^{12}.
class LogHistogram {
public:
    static constexpr double bins_per_unit = 128;
    static constexpr double units_below = 52;
    static constexpr double units_above = 12;

    /// −∞ (everything is zero) is taken as 0.
    explicit LogHistogram(double log_mean_square);

    void add(std::span<const double> log_values);

    double below() const { return static_cast<double>(below_); }
    double above() const { return static_cast<double>(above_); }
    /// Edges and counts from the first occupied bin to the last; one empty bin if there is none.
    std::vector<double> edges() const;
    std::vector<double> counts() const;

    /// Bytes that one takes.
    static std::size_t memory();

private:
    struct Range {
        std::size_t begin, end;
    };
    Range occupied() const;

    double first_;  // index of the lowest bin: its lower edge is first_ / bins_per_unit
    std::vector<std::uint64_t> bins_;
    std::uint64_t below_ = 0, above_ = 0;
};

}  // namespace spectra::montecarlo
