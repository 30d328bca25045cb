#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace spectra::report {

/// Everything a page shows of these result files (any kind, also several of different kinds), as one JSON object in
/// UTF-8. Numbers of a law have nine digits, metrics and distances all of them. What would make a page too large is
/// thinned or cut, and the object says so: singular values beyond 16384 become as many quantiles, curves of more than
/// eight networks keep about 90 points each, matrices the first layers, text the first 4000 characters.
///
/// Throws std::invalid_argument, in one line that begins with the file's name, where a file cannot be read, is no
/// result file, or is of a newer format.
std::string page_data(const std::vector<std::filesystem::path>& files);

}  // namespace spectra::report
