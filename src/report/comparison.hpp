#pragma once

#include "report/density_figure.hpp"
#include "report/runs_file.hpp"
#include "report/table.hpp"

#include <filesystem>
#include <vector>

/// Networks side by side, as the command compare draws and prints them.
namespace spectra::report {

/// A network, as a row of the summary and with its curves.
struct Compared {
    Run run;
    Report report;
};

/// The runs of a file (runs_file.hpp), in the given order.
std::vector<Compared> read_compared(const std::filesystem::path& file, const std::vector<Run>& runs);

/// One row per mixer and any other parameter that differs (branch, streams, width, noise, seed); one column
/// per depth. Networks from files with depths of their own, like weight files, share a last column; their
/// rows show the depth. `compared` must outlive the grid.
DensityGrid comparison_grid(const std::vector<Compared>& compared);

/// Networks ranked by the share of singular values in [0.75, 1.25], the largest first, from the
/// operator-valued theory if available, otherwise from simulation; with the distances of theories from the
/// simulation, and the distances expected from finite width and sampling alone.
Table ranked_table(const std::vector<Compared>& compared);

}  // namespace spectra::report
