#pragma once

#include "report/report.hpp"
#include "report/runs_file.hpp"

namespace spectra::report {

/// Reads a network from a result file or from one of its runs: title, mixers and sizes, the curves and laws
/// of theories (without the tails below the points), the law of the simulation, metrics, distances and
/// expected distances. This is enough to draw and to compare, but not to resume; the branch stays empty.
/// Throws std::invalid_argument, in one line that begins with the file's name, if the file cannot be read.
Report read_report(const StoredRun& stored);
/// The same for an open file; `stored.file` stands for it in messages.
Report read_report(const h5::File& file, const StoredRun& stored);

}  // namespace spectra::report
