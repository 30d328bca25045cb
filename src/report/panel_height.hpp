#pragma once

#include "plot/figure.hpp"

#include <vector>

/// The height of a panel of densities.
namespace spectra::report {

/// Mean height of a series between two positions; gaps of a line count as zero.
double mean_height(const plot::Series& series, double from, double to);

/// A region where a line is too narrow to be seen, far above the rest, and has a large share of the mass:
/// nearly an atom.
struct Peak {
    double from, to, mass, height;  ///< mass: as the line is drawn; not that of the law
};

/// The height of a panel, and the height away from zero if mass has collapsed towards it. Where all of it has,
/// that is four times the height of the same mass spread over the panel.
struct Height {
    double full = 0, away = 0;
    std::vector<Peak> peaks;  ///< that exceed it
    bool collapsed() const { return away > 0 && full > 2.5 * away; }
    double shown() const { return collapsed() ? away : full; }
};

/// The height of the data, with approximations limited to `stretch` times the rest, without bins that hold
/// one of the `atoms` (positions on the axis). `cut`: without peaks.
Height height_of(const plot::Panel& panel, const std::vector<double>& atoms, double stretch, bool cut);

}  // namespace spectra::report
