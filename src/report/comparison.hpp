#pragma once

#include "report/density_figure.hpp"
#include "report/runs_file.hpp"
#include "report/table.hpp"

#include <filesystem>
#include <vector>

/// Networks side by side: what the command compare draws and prints of a file of many.
namespace spectra::report {

/// A network, as a row of the summary and with its curves.
struct Compared {
    Run run;
    Report report;
};

/// The runs of a file (runs_file.hpp), in the given order.
std::vector<Compared> read_compared(const std::filesystem::path& file, const std::vector<Run>& runs);

/// A row for each mixer, and for whatever else differs (branch, streams, width, noise, seed); a column for
/// each depth. Networks of files that have several depths of their own, as checkpoints do, share a last
/// column; their rows say which. `compared` must outlive the grid.
DensityGrid comparison_grid(const std::vector<Compared>& compared);

/// Networks by the share of singular values in [0.75, 1.25], the largest first, by the operator-valued theory
/// where there is one, else by simulation; with the distances of theories to the simulation, and of those
/// what width and samples explain.
Table ranked_table(const std::vector<Compared>& compared);

}  // namespace spectra::report
