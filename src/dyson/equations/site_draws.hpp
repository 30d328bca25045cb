#pragma once

#include "network/network.hpp"

#include <vector>

namespace spectra::dyson {

/// One draw of φ'(h)² for every stream of every layer.
struct SiteDraw {
    double weight = 1;
    std::vector<double> slope2;  ///< L·n numbers, layer by layer
};

/// The average over a network's activations: every stream of every layer has an independent slope, so
/// the resolvent of the whole chain is averaged over draws of all slopes.
struct SiteDraws {
    std::vector<SiteDraw> draws;  ///< weights sum to one
    bool exact = true;            ///< every combination enumerated; otherwise a reproducible sample
};

/// Exact enumeration if the laws are two-valued and n·L ≤ 12 (or have one value); otherwise a fixed
/// low-discrepancy set of sites, the same for every run and machine. The mean of φ'² of each layer is exact.
SiteDraws site_draws(const Network& network);

/// Every second draw of a sample: the difference between the two halves measures the error of the average.
enum class SiteHalf { both, first, second };
SiteDraws half_of(SiteDraws draws, SiteHalf half);

}  // namespace spectra::dyson
