#pragma once

/// \file
/// Simulates a network: draws Jacobians and finds their singular values. The entry point of montecarlo/.

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

/// The density of ln s in bins of width 1/128: the same whether values or a histogram were kept. Empty
/// without samples.
DensityEstimate log_density_estimate(const Simulation& simulation);
/// The density of s in bins of 1/128 of the power of two nearest the root mean square, as above.
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
