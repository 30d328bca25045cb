#pragma once

/// \file
/// The Report: everything one run found. All output is made from it.

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

/// The origin of a result.
struct Provenance {
    std::string program_version;   ///< of the program that computed it
    std::string git;               ///< commit of that program
    std::string command;           ///< the command line
    std::string created;           ///< UTC, ISO 8601
    std::uint64_t seed = 1;        ///< of everything that was drawn
    std::string description = {};  ///< of everything the numbers depend on, where that is kept
    std::string settings = {};     ///< what was asked and is not the default, as a JSON object
};

/// All results of one run, which are written, drawn, printed and serialised from here.
struct Report {
    Provenance provenance;                            ///< where the result came from
    Network network;                                  ///< what was asked about
    std::vector<dyson::Theory> theories;              ///< one per method
    std::optional<dyson::Sensitivities> sensitivity;  ///< of the operator-valued law
    std::optional<dyson::LargestByTriplet> largest_by_triplet;  ///< the same question to an aligned network
    std::optional<dyson::Average> average;            ///< of it over draws of the mixers
    std::optional<dyson::Green> green;                ///< at points that were asked for
    std::optional<montecarlo::Simulation> simulation;      ///< where one was run
    std::optional<montecarlo::ExpectedDistance> expected;  ///< of a right theory from this simulation

    SourceMetrics metrics;    ///< of every law; filled by `compare`
    PairAgreement agreement;  ///< of every pair of laws; filled by `compare`

    /// Files written, in order.
    std::vector<std::string> files;
};

/// The results of a search for the deepest network.
struct DepthReport {
    Provenance provenance;                 ///< where the result came from
    std::string title;                     ///< one line: "bistochastic, n = 4, Lσ² = 0.05, seed 1"
    std::string mixer_name;                ///< a family or a file
    int streams = 0;                       ///< n
    double keep = 0;                       ///< least share of the singular values …
    double above = 0;                      ///< … that are at least this large
    int max_depth = 0;                     ///< deepest network looked at
    dyson::DepthLimit limit;               ///< what was found
    std::vector<dyson::DepthLimit> draws;  ///< of other draws of the mixers, where asked for
    std::vector<std::string> files;        ///< files written, in order
};

/// The quantile u of the limits of all draws: 0 the shallowest, ½ the median, 1 the deepest.
double limit_quantile(const DepthReport& report, double u);

/// Computes metrics of every source and agreement of every pair, in place.
void compare(Report& report);

}  // namespace spectra::report
