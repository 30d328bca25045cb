#pragma once

/// \file
/// Analyses a grid of networks into one result file, and can be stopped and resumed.

#include "report/runs_file.hpp"
#include "study/invocation.hpp"
#include "study/grid.hpp"
#include "study/observer.hpp"
#include "study/output_files.hpp"

#include <cstddef>
#include <functional>
#include <string>

namespace spectra::study {

/// What is written of a finished grid.
struct GridOutput {
    OutputFiles files;  ///< the result, and all that `write` may write
    /// Tables and figures beside the result, which exists by then. Adds to `report.files`.
    std::function<void(report::RunsReport& report)> write;
};

/// How a grid ended.
struct SweepOutcome {
    report::RunsReport report;           ///< of the first process, where the grid was finished
    std::size_t networks = 0;            ///< of the grid
    std::size_t kept = 0;                ///< of these on the disk
    bool stopped = false;                ///< before it was finished: the same request continues from what is kept
    bool first = true;                   ///< of several processes
};

/// A grid of networks in one file, each analysed as by study::analyse. Every finished network is on the disk at
/// once, and the same request resumes where an earlier one ended: networks of the same description are taken over.
/// `invocation` goes into the file. Started several times (mpirun, srun), the processes share the networks, and the
/// first collects them. A network that fails is a warning and a failed run of the report. Throws
/// std::invalid_argument before anything is computed or written.
SweepOutcome run_grid(const SweepRequest& request, const Invocation& invocation, const GridOutput& output,
                      Observer& observer);

/// A grid and a table of it in CSV.
SweepOutcome sweep(const SweepRequest& request, const Invocation& invocation, Observer& observer);

}  // namespace spectra::study
