#pragma once

#include <string>
#include <vector>

/// Text as it is set: how wide it is in DejaVu Sans, and where its lines break.
namespace spectra::plot {

/// Of printer's points.
double mm(double points);

/// Distance between the lines of a text, in mm.
double line_height(double points);

/// Width of a text in mm.
double text_width(const std::string& text, double points);

/// Lines no wider than `room` mm if words allow, broken at spaces; `anywhere`: inside words too.
std::vector<std::string> wrapped(const std::string& text, double points, double room, bool anywhere = false);

/// With a minus sign, not a hyphen.
std::string number_label(double value);

}  // namespace spectra::plot
