#pragma once

#include "montecarlo/run/tally.hpp"

#include <exception>
#include <optional>
#include <span>
#include <vector>

namespace spectra::montecarlo {

/// How one sample ended: drawn, failed, or neither if the run was stopped before it.
struct Outcome {
    std::optional<Drawn> drawn;
    std::exception_ptr failure;
    std::vector<double> buffer;          ///< its ln s, if the collector has no room for them
    std::span<const double> log_values;  ///< the values, in the buffer or in the collector's room
};

/// Receives the samples that threads draw.
class Collector {
public:
    virtual ~Collector() = default;

    /// Waits while the `count` samples from this one on are too far ahead of the first unfinished one;
    /// false: the run has ended before them.
    virtual bool may_begin(int sample, int count = 1) = 0;

    /// Whether the run has ended: later samples do not count.
    virtual bool ended() const = 0;

    /// Memory for the values of `count` samples; empty: they go with the outcome.
    virtual std::span<double> room(int sample, int count) = 0;

    /// Called once per sample. log_values must be valid during the call, or refer to room().
    virtual void finish(int sample, Outcome outcome) = 0;

    /// Ends the run for a reason that does not belong to a sample.
    virtual void fail(std::exception_ptr reason) = 0;
};

}  // namespace spectra::montecarlo
