#pragma once

#include "montecarlo/run/simulation.hpp"

#include <cstddef>
#include <vector>

namespace spectra::montecarlo {

/// A density with standard errors over samples.
struct DensityEstimate {
    std::vector<double> edges;           ///< B + 1
    std::vector<double> density;         ///< B, with respect to the axis
    std::vector<double> standard_error;  ///< B
};

/// Of ln s in bins of 1/128 (LogHistogram) or of s (LinearHistogram): the same whether values or a histogram
/// were kept. Empty without samples.
DensityEstimate log_density_estimate(const Simulation& simulation);
DensityEstimate linear_density_estimate(const Simulation& simulation);

/// Bytes of this process's memory that the run will need (the largest std::size_t where that overflows); a
/// caller refuses what does not fit. Where a GPU may be used: the larger of what it and the processor, which
/// takes over without one, would take; the device's own memory is the backend's business.
std::size_t memory_needed(const Network& network, const Options& options);

/// Draws the samples and their singular values (sampler.hpp), spread over threads and ranks.
///
/// Samples start in order and are added up in order, and BLAS runs in one thread, so nothing depends on
/// the number of threads. On a GPU (cuda/backend.hpp) the random numbers are the same and the values differ
/// by rounding. An exception of a sample, of `progress` or of `checkpoint` ends the run and is passed on, of
/// several samples' the first one's, on the first rank.
Simulation simulate(const Network& network, const Options& options = {});

}  // namespace spectra::montecarlo
