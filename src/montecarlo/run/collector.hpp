#pragma once

#include "montecarlo/run/tally.hpp"

#include <exception>
#include <optional>
#include <span>
#include <vector>

namespace spectra::montecarlo {

/// How one sample ended: drawn, failed, or neither where the run was stopped before it.
struct Outcome {
    std::optional<Drawn> drawn;
    std::exception_ptr failure;
    std::vector<double> buffer;          ///< its ln s, where the collector has no room for them
    std::span<const double> log_values;  ///< where they are
};

/// Where threads that draw samples bring them..
class Collector {
public:
    virtual ~Collector() = default;

    /// Waits while `count` samples from this one on are so far ahead of the first unfinished one that too
    /// much would pile up; false: the run has ended before them.
    virtual bool may_begin(int sample, int count = 1) = 0;

    /// Nothing after this will count.
    virtual bool ended() const = 0;

    /// Where the values of so many samples are kept; empty: they go with the outcome.
    virtual std::span<double> room(int sample, int count) = 0;

    /// Every sample ends here once. What log_values refers to lives as long as the call, or as room().
    virtual void finish(int sample, Outcome outcome) = 0;

    /// Ends the run for a reason that is no sample's.
    virtual void fail(std::exception_ptr reason) = 0;
};

}  // namespace spectra::montecarlo
