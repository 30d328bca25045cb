#pragma once

/// \file
/// How much the law depends on the random draw of the mixers.

#include "dyson/law/theory.hpp"
#include "network/network.hpp"
#include "spectrum/spectrum.hpp"

#include <functional>
#include <vector>

namespace spectra::dyson {

/// The operator-valued law over draws of the mixers: a theory describes one draw; this measures how much
/// draws differ. Means and sample standard deviations over the certified draws; the standard error of a mean
/// is its deviation over √certified.
struct Average {
    int draws = 0;      ///< solved
    int requested = 0;  ///< asked for
    int certified = 0;  ///< of those solved: the others are left out
    Metrics mean;       ///< over the certified draws
    Metrics deviation;  ///< standard deviation over them

    /// Mass per ln s in cells of one common grid for all draws, atoms at finite positions included.
    std::vector<double> log_s;  ///< middles of the cells
    std::vector<double> density_log_mean;       ///< mean over the certified draws
    std::vector<double> density_log_deviation;  ///< standard deviation over them
    double mass_below_range = 0;  ///< mean mass below the first cell
};

/// network_of(k) is draw k = 0 … draws − 1. `proceed` is called before every draw, with its number; false
/// ends the average.
Average average(const std::function<Network(int)>& network_of, int draws, const Options& options = {},
                const std::function<bool(int)>& proceed = {});

/// The average of given laws.
Average average(const std::vector<Spectrum>& laws);

}  // namespace spectra::dyson
