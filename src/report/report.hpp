#pragma once

#include "dyson/theory.hpp"
#include "montecarlo/simulate.hpp"
#include "network/network.hpp"
#include "spectrum/spectrum.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace spectra::report {

/// Where a result came from.
struct Provenance {
    std::string program_version;
    std::string git;
    std::string command;
    std::string created;  ///< UTC, ISO 8601
    std::uint64_t seed = 1;
};

/// Everything one run found: the one thing that is written, drawn, printed and serialised.
struct Report {
    Provenance provenance;
    Network network;
    std::vector<dyson::Theory> theories;
    std::optional<dyson::Green> green;
    std::optional<montecarlo::Simulation> simulation;

    /// Filled by `compare`: source ("ov", "scalar", "montecarlo") and its metrics.
    std::vector<std::pair<std::string, Metrics>> metrics;
    /// Filled by `compare`: "<a>_<b>" and their distances.
    std::vector<std::pair<std::string, Agreement>> agreement;

    /// Files written, in order.
    std::vector<std::string> files;
};

/// Computes metrics of every source and agreement of every pair, in place.
void compare(Report& report);

}  // namespace spectra::report
