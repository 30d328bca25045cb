#pragma once

/// \file
/// What a user must know about the results of an analysis: what is not certified, and what an interruption left.

#include "report/report.hpp"
#include "study/request.hpp"

#include <string>
#include <vector>

namespace spectra::study {

/// Results that are not certified, a line each. Names of fields are in backquotes.
struct Doubts {
    std::vector<std::string> failures;  ///< what was asked for, or the default operator-valued theory
    std::vector<std::string> notes;     ///< theories that are only compared with, by default
};

/// Of everything in the report.
Doubts doubts(const Request& request, const report::Report& report);

/// What an interrupted analysis has finished: "interrupted: 12 of 100 samples are kept; `resume` continues".
std::string what_is_kept(const Request& request, const report::Report& report);

}  // namespace spectra::study
