#pragma once

#include "sweep_request.hpp"

#include <string>
#include <vector>

namespace spectra::cli {

/// What was asked of the command compare: a grid as of sweep, by default the one of the figure that set
/// theory against simulation first, and how it is shown.
struct CompareRequest {
    CompareRequest();

    SweepRequest grid;  ///< figures: grid.each.plots
    std::vector<std::string> tables{"md", "csv", "tex"};
    bool grey = false;
};

/// The options of sweep, with other defaults, and those of figures and tables.
void add_options(CLI::App& app, CompareRequest& request);

}  // namespace spectra::cli
