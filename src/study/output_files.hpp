#pragma once

/// \file
/// Names of the files that a study writes, and checks that it may write them.

#include "study/invocation.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace spectra::study {

/// Where a run writes.
struct OutputFiles {
    std::filesystem::path result;                ///< STEM.h5
    std::vector<std::filesystem::path> figures;  ///< STEM.png, …
};

/// STEM (a trailing .h5 is not doubled) with the formats of figures.
OutputFiles output_files(const std::string& stem, const std::vector<std::string>& formats);

/// Throws std::invalid_argument if the folder is missing or cannot be written to, or if a file is in the way. A result
/// file of the same settings, but for the fields in `except`, is replaced with the figures beside it; results of other
/// settings, other files, and targets of symbolic links only with force. Creates no files.
void check_writable(const OutputFiles& files, const Settings& settings, bool force,
                    const std::vector<std::string>& except = {});

/// Where a result of other settings is about to be replaced: the figures beside it that the new one will not replace.
/// Remove them when it is written.
std::vector<std::filesystem::path> stale_figures(const OutputFiles& files, const Settings& settings);

/// Throws std::invalid_argument if the path is a symbolic link.
void refuse_symbolic_link(const std::filesystem::path& path);

}  // namespace spectra::study
