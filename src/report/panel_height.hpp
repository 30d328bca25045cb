#pragma once

#include "plot/figure.hpp"

#include <vector>

/// How high a panel of densities is drawn.
namespace spectra::report {

/// Mean height of a series between two places; a line's gaps count as nothing.
double mean_height(const plot::Series& series, double from, double to);

/// Where a line is too narrow to be seen, far above the rest of it and has a good part of the mass: nearly an
/// atom.
struct Peak {
    double from, to, mass, height;
};

/// The height of a panel, and the one away from zero where mass has collapsed towards it.
struct Height {
    double full = 0, away = 0;
    std::vector<Peak> peaks;  ///< that go beyond it
    bool collapsed() const { return away > 0 && full > 2.5 * away; }
    double shown() const { return collapsed() ? away : full; }
};

/// The data's, approximations allowed at most `stretch` times the rest, bins that hold one of the `atoms`
/// (places on the axis) apart. `cut`: without peaks.
Height height_of(const plot::Panel& panel, const std::vector<double>& atoms, double stretch, bool cut);

}  // namespace spectra::report
