#pragma once

/// \file
/// The figure of a search for the deepest network.

#include "plot/figure.hpp"
#include "report/report.hpp"

namespace spectra::report {

/// The share of the singular values that stay, against depth: evaluated depths as points, other draws of the mixers as
/// grey lines, the share to keep as a dashed line, and the limit as a vertical line with its depth.
plot::Figure depth_figure(const DepthReport& report);

}  // namespace spectra::report
