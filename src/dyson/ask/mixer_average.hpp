#pragma once

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
    int draws = 0;  ///< solved
    int requested = 0;
    int certified = 0;  ///< of those solved; the others are left out
    Metrics mean, deviation;

    /// Mass per ln s in cells of one common grid for all draws, atoms at finite positions included.
    std::vector<double> log_s;  ///< middles of the cells
    std::vector<double> density_log_mean, density_log_deviation;
    double mass_below_range = 0;  ///< mean mass below the first cell
};

/// network_of(k) is draw k = 0 … draws − 1. `proceed` is called before every draw, with its number; false
/// ends the average.
Average average(const std::function<Network(int)>& network_of, int draws, const Options& options = {},
                const std::function<bool(int)>& proceed = {});

/// The average of given laws.
Average average(const std::vector<Spectrum>& laws);

/// The metrics in the order shown to users.
inline constexpr double Metrics::*all_metrics[] = {
    &Metrics::mean_square, &Metrics::log_mean, &Metrics::window,        &Metrics::collapsed,
    &Metrics::smallest,    &Metrics::largest,  &Metrics::effective_rank};

}  // namespace spectra::dyson
