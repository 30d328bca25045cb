#pragma once

#include "report/report.hpp"
#include "report/runs_file.hpp"

namespace spectra::report {

/// What a result file, or a run of one, says of its network: title, mixers and sizes, the theories' curves
/// and laws (without what their tails have below the points), the simulation's law, metrics, distances and
/// expected distances. Enough to draw and to compare, not to go on from; the branch stays empty. Throws
/// std::runtime_error where the file cannot be read.
Report read_report(const StoredRun& stored);

}  // namespace spectra::report
