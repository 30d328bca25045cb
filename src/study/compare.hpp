#pragma once

/// \file
/// Compares mixers over depths: two figures and a ranked table.

#include "report/table.hpp"
#include "study/invocation.hpp"
#include "study/sweep.hpp"

#include <string>
#include <vector>

namespace spectra::study {

/// A grid of networks, by default the one of the figure that compared theory with simulation first, and how it is
/// shown.
struct CompareRequest {
    /// Six mixers at three depths.
    CompareRequest();

    SweepRequest grid;  ///< figures: grid.each.plots
    std::vector<std::string> tables{"md", "csv", "tex"};  ///< formats of the ranked table
    bool grey = false;  ///< figures in grey
    bool dark = false;  ///< figures light on a dark page
};

/// A compared grid.
struct Comparison {
    SweepOutcome outcome;  ///< of the grid
    report::Table table;  ///< ranked; empty if the grid was not finished
};

/// A grid of networks (run_grid) as two figures, over s and over ln s, and a ranked table. Networks that are
/// already in the result file are not computed again: another figure or table costs nothing. Throws
/// std::invalid_argument before anything is computed or written.
Comparison compare(const CompareRequest& request, const Invocation& invocation, Observer& observer);

}  // namespace spectra::study
