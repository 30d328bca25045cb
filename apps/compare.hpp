#pragma once

#include "compare_request.hpp"

#include <string>

namespace spectra::cli {

/// The command compare: a grid of networks (run_grid) as two figures, over s and over ln s, and a ranked
/// table. Networks that the file holds of the same description are not computed again: another figure or
/// table costs nothing. Returns the exit status; throws std::invalid_argument before anything is computed or
/// written.
int compare(const CompareRequest& request, const std::string& command);

}  // namespace spectra::cli
