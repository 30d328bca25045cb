#pragma once

#include "dyson/ask/mixer_average.hpp"
#include "dyson/ask/depth_limit.hpp"
#include "dyson/ask/sensitivity.hpp"
#include "dyson/law/theory.hpp"
#include "montecarlo/finite_size.hpp"
#include "montecarlo/run/simulate.hpp"
#include "network/network.hpp"
#include "spectrum/spectrum.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace spectra::report {

/// The origin of a result.
struct Provenance {
    std::string program_version;
    std::string git;
    std::string command;
    std::string created;  ///< UTC, ISO 8601
    std::uint64_t seed = 1;
    std::string description = {};  ///< of everything the numbers depend on, if that is stored
};

/// All results of one run, which are written, drawn, printed and serialised from here.
struct Report {
    Provenance provenance;
    Network network;
    std::vector<dyson::Theory> theories;
    std::optional<dyson::Sensitivities> sensitivity;  ///< of the operator-valued law
    std::optional<dyson::Average> average;            ///< of that law over draws of the mixers
    std::optional<dyson::Green> green;
    std::optional<montecarlo::Simulation> simulation;
    std::optional<montecarlo::ExpectedDistance> expected;  ///< of a correct theory from this simulation

    /// Filled by `compare`: source ("ov", "scalar", "montecarlo") and its metrics.
    std::vector<std::pair<std::string, Metrics>> metrics;
    /// Filled by `compare`: "<a>_<b>" and their distances.
    std::vector<std::pair<std::string, Agreement>> agreement;

    /// Files written, in order.
    std::vector<std::string> files;
};

/// The results of a search for the deepest network.
struct DepthReport {
    Provenance provenance;
    std::string title;  ///< one line: "bistochastic, n = 4, Lσ² = 0.05, seed 1"
    std::string mixer_name;
    int streams = 0;
    double keep = 0, above = 0;
    int max_depth = 0;
    dyson::DepthLimit limit;
    std::vector<dyson::DepthLimit> draws;  ///< of other draws of the mixers, if requested
    std::vector<std::string> files;
};

/// The quantile u of the limits of all draws: 0 the shallowest, ½ the median, 1 the deepest.
double limit_quantile(const DepthReport& report, double u);

/// Computes metrics of every source and agreement of every pair, in place.
void compare(Report& report);

}  // namespace spectra::report
