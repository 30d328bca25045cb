#pragma once

/// \file
/// Estimates how long a simulation takes.

#include "montecarlo/run/simulation.hpp"
#include "network/network.hpp"

namespace spectra::montecarlo {

/// Floating-point operations of one sample, each kind weighted by its time relative to a matrix product's: a number
/// that depends on the network and the method only.
double sample_cost(const Network& network, const Options& options);

/// Operations of that kind per second of one thread, measured here and now (a few milliseconds).
double measured_speed();

/// Seconds that options.samples samples take on the CPU, within a factor of two or three.
double estimated_seconds(const Network& network, const Options& options, double speed);

}  // namespace spectra::montecarlo
