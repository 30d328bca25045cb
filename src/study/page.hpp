#pragma once

/// \file
/// Pages to look at: of result files that are there, and the explorer.

#include <optional>
#include <string>
#include <vector>

namespace spectra::study {

/// Which page.
struct PageRequest {
    std::vector<std::string> files;     ///< result files
    std::optional<std::string> output;  ///< nothing: FILE.html beside the only file, else spectra-report.html
    bool force = false;                 ///< replaces any file
};

/// Writes one HTML file of all of them and returns its name. A page of result files of the same names is replaced,
/// another file only with `force`. Throws std::invalid_argument, before anything is written, where a file is no result
/// file or the page may not be written.
std::string write_page(const PageRequest& request);

/// Where the explorer goes.
struct ExplorerRequest {
    std::optional<std::string> output;  ///< nothing: spectra-explore.html
    bool force = false;                 ///< replaces any file
};

/// Writes the explorer (report/explorer_page.hpp) and returns its name. An explorer is replaced, another file only with
/// `force`. Throws std::invalid_argument, before anything is written, where the page may not be written.
std::string write_explorer(const ExplorerRequest& request);

}  // namespace spectra::study
