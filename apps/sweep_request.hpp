#pragma once

#include "request.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace spectra::cli {

/// What was asked of the command sweep: a grid of networks, and what is asked of each. An empty list was not
/// given: the default of the analysis.
struct SweepRequest {
    std::string command = "sweep";  ///< for which it was asked
    Request each;                   ///< but for what the lists set
    std::vector<std::string> mixers, branches;
    std::vector<std::string> checkpoints;  ///< weight files, networks beside those of the mixers
    std::vector<int> streams, widths, depths;
    std::vector<double> noises;
    std::vector<std::uint64_t> seeds;
    /// Options that results depend on, as they were typed, the lists apart.
    std::vector<std::pair<std::string, std::string>> typed;
};

/// Most networks of one grid.
inline constexpr std::size_t max_networks = 100'000;

/// The options of the analysis, and lists in place of those that the grid varies.
void add_options(CLI::App& app, SweepRequest& request);

/// One network of the grid.
struct GridPoint {
    std::string name;  ///< "cayley-L10-noise0.05-seed1": depends on the network alone, not on the grid
    Request request;
    std::vector<std::string> unread;  ///< options given that this network has no use for, taken out
};

/// All of the grid, seeds varying fastest, then noises, depths, widths, streams, branches, mixers; behind
/// them the checkpoints, which have streams, depth and branch of their own. Throws
/// std::invalid_argument where it is empty or too large, where two networks would have one name, and for an
/// option that no network reads.
std::vector<GridPoint> grid_points(const SweepRequest& request);

}  // namespace spectra::cli
