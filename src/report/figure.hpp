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
    /// Linear, of what is counted: ticks at whole numbers only.
    whole,
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
    points,        ///< a small disc at y over x
    band,          ///< between `lower` and y over x
};

/// Lines differ in their dashes as well as in their colours, for print in grey.
enum class Dash { solid, dashed, dotted, dash_dotted };

struct Series {
    std::string label;  ///< in the legend; empty: not in it
    Mark mark = Mark::line;
    Dash dash = Dash::solid;
    double width = 2;                ///< of lines, and across of points, in thirds of a point as printed
    std::string colour = "#000000";  ///< "#rrggbb"
    std::vector<double> x, y;
    std::vector<double> lower = {};  ///< of a band
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
    std::string heading = {};  ///< above its upper right corner
    bool absent = false;       ///< an empty place of the grid
};

/// A grid of panels under one title and one legend (the labels of all series, each once), above a caption.
/// Sizes are those of the printed page; the height follows from them.
struct Figure {
    std::string title;
    std::vector<std::string> caption;  ///< lines
    std::vector<Panel> panels;         ///< row by row, from the upper left
    std::size_t columns = 0;           ///< of the grid; 0: all panels in one row
    std::vector<std::string> column_headings = {}, row_headings = {};
    /// Ranges agree along rows and columns: ticks have labels at the outer panels only, and one label of an
    /// axis is for all.
    bool shared_axes = false;
    double width = 160;        ///< mm
    double panel_height = 41;  ///< mm
    double font_size = 7;      ///< points
};

/// Width of a figure in one of two columns of a page, and across the page, in mm.
inline constexpr double column_width = 85, page_width = 176;

/// Two views of one density: ρ(s) over s, and the density per unit ln s over log10 s, which shows all
/// scales. Simulated values are a grey histogram, the theories lines that differ in dash as well as
/// in colour. Curves end in zero at the edges of the support and are not drawn across gaps; atoms
/// are impulses with their mass written beside them. With eta > 0 the smoothed curve is drawn.
///
/// Where mass has collapsed towards zero, ρ(s) is cut at the height it has away from zero. So is a peak too
/// narrow to be seen that has a twentieth of the mass or more, at the height of the rest, with its mass
/// beside it.
Figure density_figure(const Report& report);

/// Reports to be seen side by side.
struct DensityGrid {
    std::string title;
    std::vector<std::string> caption;
    std::vector<std::string> rows, columns;  ///< what they are called
    std::vector<const Report*> cells;        ///< row by row; null: none
};

/// One view of many densities, all on one scale: over s, one frame for all; over log10 s, one frame a column,
/// where the depths differ by many decades. One height for all, that of the operator-valued and simulated
/// densities away from zero; what is higher is cut. The share of collapsed mass is written above every panel,
/// with an exclamation mark where a theory is not certified. As
/// wide as a column of a page while three panels are side by side, else as the page; wider beyond seven.
Figure density_grid(const DensityGrid& grid, Scale scale);

/// As wide as a column of a page: panels below each other, letters of 6.5 points.
void fit_column(Figure& figure);

/// In the greys that print gives the colours.
void turn_grey(Figure& figure);

/// Writes the figure as the extension says: .png, .svg or .pdf. The file appears whole or not at all.
/// Throws std::invalid_argument for another extension, std::runtime_error where drawing fails.
void render(const Figure& figure, const std::filesystem::path& path);

}  // namespace spectra::report
