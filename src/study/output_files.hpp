#pragma once

/// \file
/// Names of the files that a study writes, and checks that it may write them.

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

/// Throws std::invalid_argument where the folder is missing or cannot be written to, or where a file is in
/// the way: a result file of ours, and the figures beside it, are replaced; anything else, and what a symbolic link
/// points to, only with force.
/// Leaves nothing behind.
void check_writable(const OutputFiles& files, bool force);

/// Throws std::invalid_argument where it is one.
void refuse_symbolic_link(const std::filesystem::path& path);

}  // namespace spectra::study
