#pragma once

#include "report/report.hpp"
#include "report/runs_file.hpp"

namespace spectra::report {

/// What a result file, or a run of one, says of its network: title, mixers and sizes, the theories' curves
/// and laws (without what their tails have below the points), the simulation's law, metrics, distances and
/// expected distances. Enough to draw and to compare, not to go on from; the branch stays empty. Throws
/// std::invalid_argument, in one line that begins with the file's name, where the file cannot be read.
Report read_report(const StoredRun& stored);
/// The same of an open file; `stored.file` stands for it in messages.
Report read_report(const h5::File& file, const StoredRun& stored);

}  // namespace spectra::report
