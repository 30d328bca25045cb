#pragma once

/// \file
/// A Report as a page for a person, on a terminal or in a file.

#include "report/report.hpp"

#include <string>
#include <utility>
#include <vector>

namespace spectra::report {

/// Whether the locale of the environment (LC_ALL, LC_CTYPE, LANG) is UTF-8.
bool locale_is_utf8();

/// The report as a text page: what was computed, metrics side by side, the agreement of theory and
/// simulation, the density as a small plot, the names of the files.
///
/// No line is wider than `columns` (at least 40), except file names, which are never broken. Escape
/// codes only with `colour`, characters beyond ASCII only with `unicode`.
///
/// In words, two laws "agree" if their Wasserstein-1 distance is at most 1 % of the root mean square
/// singular value and at most 0.1 in ln s; they are "close" up to 3 % and 0.3. Simulation at N = 100
/// is within half of the first.
std::string terminal_page(const Report& report, int columns, bool colour, bool unicode = locale_is_utf8());

/// The result of a search for the deepest network: the depths evaluated, one sentence, the name of the file.
std::string terminal_page(const DepthReport& report, int columns, bool colour,
                          bool unicode = locale_is_utf8());

/// \cond INTERNAL
class Page;
/// Metrics side by side, one column per heading; the mean square of the simulation ("montecarlo") in the given words
/// where there are any.
void add_metrics(Page& page, const std::vector<std::pair<std::string, Metrics>>& columns,
                 const std::string& simulated_mean_square = "");
/// \endcond

}  // namespace spectra::report
