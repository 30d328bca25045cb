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

/// Bytes of host memory that the run will need in this process (the largest std::size_t on overflow); the
/// caller refuses a run that does not fit. If a GPU may be used: the larger of the needs with the GPU and
/// with the CPU, which takes over without one. The backend handles the device's own memory.
std::size_t memory_needed(const Network& network, const Options& options);

/// Draws the samples and their singular values (sampler.hpp), distributed over threads and ranks.
///
/// Samples start in order and are added up in order, and BLAS runs in one thread, so results do not depend on
/// the number of threads. On a GPU (cuda/backend.hpp) the random numbers are the same and the values differ
/// by rounding. An exception from a sample, `progress` or `checkpoint` ends the run and is rethrown on the
/// first rank; if several samples fail, the exception of the first one.
Simulation simulate(const Network& network, const Options& options = {});

}  // namespace spectra::montecarlo
