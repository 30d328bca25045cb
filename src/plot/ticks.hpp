#pragma once

#include "plot/figure.hpp"

#include <string>
#include <vector>

namespace spectra::plot {

struct Tick {
    double place = 0;
    std::string label;  ///< may be empty
    bool minor = false;
};

/// Ticks at round values along an axis of that length in mm, with labels that do not touch: numbers, or
/// powers of ten and their multiples. No label extends beyond the axis by more than `overhang` mm. Across:
/// labels are side by side; otherwise one above the other.
std::vector<Tick> axis_ticks(const Axis& axis, double length, double points, bool across, double overhang);

}  // namespace spectra::plot
