#pragma once

#include "output_files.hpp"
#include "report/runs_file.hpp"
#include "sweep_request.hpp"

#include <functional>
#include <string>

namespace spectra::cli {

/// What becomes of a finished grid.
struct GridOutput {
    OutputFiles files;  ///< the result, and all that `write` may write
    /// Beside the result, which is there: tables, figures. Adds to `report.files`.
    std::function<void(report::RunsReport& report)> write;
    /// For a person.
    std::function<std::string(const report::RunsReport& report)> page;
};

/// A grid of networks in one file, each analysed as by the default command. Every finished network is on the
/// disk at once, and the same command goes on where an earlier one ended: what is there of the same
/// description is taken over. `command` is what was typed. Started several times (mpirun, srun) the processes
/// share the networks, and the first brings them together. Returns the exit status; throws
/// std::invalid_argument before anything is computed or written.
int run_grid(const SweepRequest& request, const std::string& command, const GridOutput& output);

/// The command sweep: a grid and a table of it.
int sweep(const SweepRequest& request, const std::string& command);

}  // namespace spectra::cli
