#pragma once

#include <filesystem>
#include <limits>
#include <string>
#include <vector>

/// A figure as data: the contents, not the drawing (density_figure.hpp describes densities). A renderer draws
/// it.
namespace spectra::plot {

enum class Scale {
    linear,
    /// Positions are log10 of the quantity, so that scales beyond the range of double can be drawn; ticks
    /// show the quantity itself.
    logarithmic,
    /// Linear, for counts: ticks at integers only.
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

/// Lines differ in dashes as well as in colour, for print in grey.
enum class Dash { solid, dashed, dotted, dash_dotted };

struct Series {
    std::string label;  ///< in the legend; empty: not listed
    Mark mark = Mark::line;
    Dash dash = Dash::solid;
    double width = 2;                ///< of lines, and diameter of points, in thirds of a printer's point
    std::string colour = "#000000";  ///< "#rrggbb"
    std::vector<double> x, y;
    std::vector<double> lower = {};  ///< of a band
};

/// Text at a position inside the panel, in the panel's coordinates.
struct Annotation {
    double x = 0, y = 0;
    std::string text;
    bool to_the_left = false;  ///< the text ends at the position instead of beginning there
};

struct Panel {
    Axis x, y;
    std::vector<Series> series;  ///< drawn in this order
    std::vector<Annotation> annotations;
    std::string heading = {};  ///< above the upper right corner
    bool absent = false;       ///< an empty cell of the grid
};

/// A grid of panels under one title and one legend (the distinct labels of all series), above a caption.
/// Sizes are in print; the height follows from them.
struct Figure {
    std::string title;
    std::vector<std::string> caption;  ///< lines
    std::vector<Panel> panels;         ///< row by row, from the upper left
    std::size_t columns = 0;           ///< of the grid; 0: all panels in one row
    std::vector<std::string> column_headings = {}, row_headings = {};
    /// Panels in a row or column have the same ranges: only the outer panels have tick labels, and each axis
    /// is labelled once.
    bool shared_axes = false;
    double width = 160;        ///< mm
    double panel_height = 41;  ///< mm
    double font_size = 7;      ///< points
};

/// Width in mm of a figure in one of two columns, and across the page.
inline constexpr double column_width = 85, page_width = 176;

/// Fits a figure to the width of a column: panels below each other, a font of 6.5 points.
void fit_column(Figure& figure);

/// Replaces colours by the greys they have in print.
void turn_grey(Figure& figure);

/// Writes the figure in the format of the extension: .png, .svg or .pdf. The file appears complete or not at
/// all. Throws std::invalid_argument for another extension, std::runtime_error if drawing fails.
void render(const Figure& figure, const std::filesystem::path& path);

}  // namespace spectra::plot
