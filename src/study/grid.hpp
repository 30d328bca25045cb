#pragma once

/// \file
/// A grid of networks.

#include "study/request.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace spectra::study {

/// A grid of networks, and what is asked of each. An empty list was not given: the default of the analysis.
struct SweepRequest {
    std::string command = "sweep";  ///< for messages
    Request each;                   ///< all but what the lists set
    std::vector<std::string> mixers;       ///< families or files
    std::vector<std::string> branches;     ///< of branch_names()
    std::vector<std::string> checkpoints;  ///< weight files, networks beside those of the mixers
    std::vector<int> streams;              ///< n
    std::vector<int> widths;               ///< p
    std::vector<int> depths;               ///< L
    std::vector<double> noises;            ///< L·σ²
    std::vector<std::uint64_t> seeds;      ///< of everything random
    /// Fields that results depend on, by name, with the values given; without the lists.
    std::vector<std::pair<std::string, std::string>> given;
};

/// Most networks of one grid.
inline constexpr std::size_t max_networks = 100'000;

/// One network of the grid.
struct GridPoint {
    std::string name;  ///< "cayley-L10-noise0.05-seed1": depends on the network alone, not on the grid
    Request request;  ///< what is asked of it
    std::vector<std::string> unused;  ///< fields given that this network has no use for, taken out
};

/// All of the grid, seeds varying fastest, then noises, depths, widths, streams, branches, mixers; behind
/// them the checkpoints, which have streams, depth and branch of their own. Throws
/// std::invalid_argument where it is empty or too large, where two networks would have one name, and for a
/// field that no network uses.
std::vector<GridPoint> grid_points(const SweepRequest& request);

}  // namespace spectra::study
