#pragma once

/// \file
/// A grid of networks.

#include "study/request.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace spectra::study {

/// A grid of networks, and the options common to all. An empty list stands for the default of the analysis.
struct SweepRequest {
    std::string command = "sweep";  ///< for messages
    Request each;                   ///< everything that the lists do not set
    std::vector<std::string> mixers;       ///< families or files
    std::vector<std::string> branches;     ///< of branch_names()
    std::vector<std::string> checkpoints;  ///< weight files, networks beside those of the mixers
    std::vector<int> streams;              ///< n
    std::vector<int> widths;               ///< p
    std::vector<int> depths;               ///< L
    std::vector<double> noises;            ///< L·σ²
    std::vector<std::uint64_t> seeds;      ///< of everything random
};

/// Largest number of networks in a grid.
inline constexpr std::size_t max_networks = 100'000;

/// One network of the grid.
struct GridPoint {
    std::string name;  ///< "cayley-L10-noise0.05-seed1": depends on the network alone, not on the grid
    Request request;  ///< what is asked of it
    std::vector<std::string> unused;  ///< given fields that do not apply to this network, removed
};

/// All networks of the grid, seeds varying fastest, then noises, depths, widths, streams, branches, mixers;
/// followed by the checkpoints, which have their own streams, depth and branch. Throws std::invalid_argument
/// if the grid is empty or too large, if two networks would have the same name, and for a field that no
/// network uses.
std::vector<GridPoint> grid_points(const SweepRequest& request);

}  // namespace spectra::study
