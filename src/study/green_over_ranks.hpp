#pragma once

#include "dyson/law/theory.hpp"
#include "parallel/ranks.hpp"

#include <complex>
#include <vector>

namespace spectra::study {

/// g at points that are distributed over the ranks, identical to the result of a single rank. On the first rank:
/// all points. Throws std::runtime_error if a rank ends without sending its points.
dyson::Green gather_green(parallel::Ranks& ranks, const Network& network,
                          const std::vector<std::complex<double>>& omega, const dyson::Options& options);

/// On the other ranks: computes this rank's points and sends them.
void send_green(parallel::Ranks& ranks, const Network& network,
                const std::vector<std::complex<double>>& omega, const dyson::Options& options);

}  // namespace spectra::study
