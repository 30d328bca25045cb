#pragma once

#include "dyson/law/theory.hpp"
#include "parallel/ranks.hpp"

#include <complex>
#include <vector>

namespace spectra::study {

/// g at points that are dealt to the ranks in turn, as one rank alone would find it. On the first rank: all
/// of them. Throws std::runtime_error where a rank leaves without its part.
dyson::Green gather_green(parallel::Ranks& ranks, const Network& network,
                          const std::vector<std::complex<double>>& omega, const dyson::Options& options);

/// On the others: finds this rank's and sends them.
void send_green(parallel::Ranks& ranks, const Network& network,
                const std::vector<std::complex<double>>& omega, const dyson::Options& options);

}  // namespace spectra::study
