#pragma once

#include "plot/figure.hpp"
#include "report/report.hpp"

#include <string>
#include <vector>

namespace spectra::report {

/// Two views of one density: ρ(s) over s, and the density per unit ln s over log10 s, which shows all
/// scales. The simulation is a grey histogram; theories are lines that differ in dash as well as
/// in colour. Curves end at zero at the edges of the support and are not drawn across gaps; atoms
/// are impulses labelled with their mass. With eta > 0 the smoothed curve is drawn.
///
/// If mass has collapsed towards zero, ρ(s) is cut at the height it has away from zero. A peak that is too
/// narrow to be seen and has at least a twentieth of the mass is cut at the height of the rest and labelled
/// with its mass.
plot::Figure density_figure(const Report& report);

/// Reports to be shown side by side.
struct DensityGrid {
    std::string title;
    std::vector<std::string> caption;
    std::vector<std::string> rows, columns;  ///< their headings
    std::vector<const Report*> cells;        ///< row by row; null: none
};

/// One view of many densities on a common scale: over s, one frame for all; over log10 s, one frame per
/// column, because depths differ by many decades. All panels have one height, that of the operator-valued and
/// simulated densities away from zero; higher curves are cut. The share of collapsed mass is above every
/// panel, with an exclamation mark if a theory is not certified. The figure is as wide as a column of a page
/// for up to three panels side by side, otherwise as the page; wider beyond seven.
plot::Figure density_grid(const DensityGrid& grid, plot::Scale scale);

}  // namespace spectra::report
