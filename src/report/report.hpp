#pragma once

#include "dyson/ask/mixer_average.hpp"
#include "dyson/ask/depth_limit.hpp"
#include "dyson/ask/sensitivity.hpp"
#include "dyson/law/theory.hpp"
#include "montecarlo/finite_size.hpp"
#include "montecarlo/run/simulate.hpp"
#include "network/network.hpp"
#include "report/source.hpp"
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
    std::string description = {};  ///< of everything the numbers depend on, where that is kept
};

/// Everything one run found: the one thing that is written, drawn, printed and serialised.
struct Report {
    Provenance provenance;
    Network network;
    std::vector<dyson::Theory> theories;
    std::optional<dyson::Sensitivities> sensitivity;  ///< of the operator-valued law
    std::optional<dyson::Average> average;            ///< of it over draws of the mixers
    std::optional<dyson::Green> green;
    std::optional<montecarlo::Simulation> simulation;
    std::optional<montecarlo::ExpectedDistance> expected;  ///< of a right theory from this simulation

    SourceMetrics metrics;    ///< of every law; filled by `compare`
    PairAgreement agreement;  ///< of every pair of laws; filled by `compare`

    /// Files written, in order.
    std::vector<std::string> files;
};

/// What a search for the deepest network found.
struct DepthReport {
    Provenance provenance;
    std::string title;  ///< one line: "bistochastic, n = 4, Lσ² = 0.05, seed 1"
    std::string mixer_name;
    int streams = 0;
    double keep = 0, above = 0;
    int max_depth = 0;
    dyson::DepthLimit limit;
    std::vector<dyson::DepthLimit> draws;  ///< of other draws of the mixers, where asked for
    std::vector<std::string> files;
};

/// The place of a share u of the draws' limits, in order: 0 the shallowest, ½ the median, 1 the deepest.
double limit_quantile(const DepthReport& report, double u);

/// Computes metrics of every source and agreement of every pair, in place.
void compare(Report& report);

}  // namespace spectra::report
