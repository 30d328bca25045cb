#pragma once

/// \file
/// A page to look at, from result files that are there.

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

}  // namespace spectra::study
