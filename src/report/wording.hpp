#pragma once

#include "report/report.hpp"

#include <string>

/// The wording of results, the same in the figure and on the terminal.
namespace spectra::report {

/// "certified" (and which share lies where rounding hides its density), or "3 of 400 points NOT certified", or
/// "NOT certified: reason".
std::string certificate(const dyson::Summary& summary);

/// "100 samples, N = 100", or "40 of 100 samples, N = 100" for a run that was stopped.
std::string sample_size(const Report& report);

/// A share in percent, rounded to 0 or 100 only if it is exactly that: "0 %", "under 0.1 %", "99.3 %".
std::string percent(double share);

}  // namespace spectra::report
