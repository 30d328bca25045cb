#pragma once

#include "report/report.hpp"

#include <filesystem>
#include <limits>
#include <string>
#include <vector>

/// A figure as data: what is drawn, not how. `density_figure` describes, a renderer draws.
namespace spectra::report {

enum class Scale {
    linear,
    /// Places are given as log10 of the quantity, so that scales no double holds can be drawn; ticks
    /// show the quantity itself.
    logarithmic,
};

struct Axis {
    std::string label;
    Scale scale = Scale::linear;
    double min = 0, max = 1;
};

enum class Mark {
    line,          ///< y at x; NaN in y interrupts the line
    filled_steps,  ///< y[k] between x[k] and x[k+1]: one x more than y
    impulses,      ///< from zero up to y at x
};

enum class Dash { solid, dashed };

struct Series {
    std::string label;  ///< in the legend; empty: not in it
    Mark mark = Mark::line;
    Dash dash = Dash::solid;
    double width = 2;                ///< in points
    std::string colour = "#000000";  ///< "#rrggbb"
    std::vector<double> x, y;
};

/// Text at a place inside the panel, in the panel's coordinates.
struct Annotation {
    double x = 0, y = 0;
    std::string text;
    bool to_the_left = false;  ///< the text ends at the place instead of beginning there
};

struct Panel {
    Axis x, y;
    std::vector<Series> series;  ///< drawn in this order
    std::vector<Annotation> annotations;
};

/// Panels side by side under one title and one legend (that of the first panel), above a caption.
struct Figure {
    std::string title;
    std::vector<std::string> caption;  ///< lines
    std::vector<Panel> panels;
};

/// Two views of one density: ρ(s) over s, and the density per unit ln s over log10 s, which shows all
/// scales. Simulated values are a grey histogram, the theories lines that differ in dash as well as
/// in colour. Curves end in zero at the edges of the support and are not drawn across gaps; atoms
/// are impulses with their mass written beside them. With eta > 0 the smoothed curve is drawn.
///
/// Where mass has collapsed towards zero, ρ(s) is cut at the height it has away from zero.
Figure density_figure(const Report& report);

/// Writes the figure as the extension says: .png, .svg or .pdf. The file appears whole or not at all.
/// Throws std::invalid_argument for another extension, std::runtime_error where drawing fails.
void render(const Figure& figure, const std::filesystem::path& path);

}  // namespace spectra::report
