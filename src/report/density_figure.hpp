#pragma once

/// \file
/// Describes figures of densities: one report, or many in a grid.

#include "plot/figure.hpp"
#include "report/report.hpp"

#include <string>
#include <vector>

namespace spectra::report {

/// Two views of one density: ρ(s) over s, and the density per unit ln s over log10 s, which shows all
/// scales. The simulation is a grey histogram; theories are lines that differ in dash as well as
/// in colour. Curves end at zero at the edges of the support and are not drawn across gaps; atoms
/// are stems as high as their mass, on a second axis. With eta > 0 the smoothed curve is drawn.
///
/// If mass has collapsed towards zero, ρ(s) is cut at the height it has away from zero, and a note says which
/// share lies there; bands over log10 s carry their shares. A peak that is too narrow to be seen and has at
/// least a twentieth of the mass is cut at the height of the rest and labelled with its mass.
plot::Figure density_figure(const Report& report);

/// Reports to be shown side by side.
struct DensityGrid {
    std::string title;                 ///< above all
    std::vector<std::string> caption;  ///< lines below all
    std::vector<std::string> rows;     ///< names of the rows
    std::vector<std::string> columns;  ///< names of the columns
    std::vector<const Report*> cells;  ///< row by row; null: none
};

/// One view of many densities: over s, one frame for all, or one per column where their ends differ by more than
/// a half; over log10 s, one frame per column, where the depths differ by many decades. The height is that of the
/// operator-valued and simulated densities away from zero, and what is higher is cut: one height for all, or one
/// per row where that would flatten a row to less than half. The share of collapsed mass is written inside every
/// panel, with an exclamation mark where a theory is not certified, and so is that the two theories coincide. As
/// wide as a column of a page while
/// three panels are side by side, else as the page; wider beyond seven.
plot::Figure density_grid(const DensityGrid& grid, plot::Scale scale);

}  // namespace spectra::report
