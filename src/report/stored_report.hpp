#pragma once

/// \file
/// Reads a result file back into a Report.

#include "report/report.hpp"

#include <filesystem>

namespace spectra::h5 {
class File;
}

namespace spectra::report {

/// The Report of a result file (result_file.hpp): where it came from, title, mixers and sizes, the theories' curves
/// and laws (without what their tails have below the points), the simulation's law, metrics, distances and
/// expected distances. Enough to draw and to compare, not to go on from; the branch stays empty. Throws
/// std::invalid_argument, in one line that begins with the file's name, where the file cannot be read, is no result
/// file, or is of a newer format.
Report read_result_file(const std::filesystem::path& path);

/// \cond INTERNAL
struct StoredRun;
/// The same of a run of a file of many (runs_file.hpp), without the check of the format.
Report read_report(const StoredRun& stored);
/// The same for an open file; `stored.file` stands for it in messages.
Report read_report(const h5::File& file, const StoredRun& stored);
/// \endcond

}  // namespace spectra::report
