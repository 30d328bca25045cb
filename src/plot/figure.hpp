#pragma once

/// \file
/// A figure as data: what is drawn, not how (report/density_figure.hpp describes densities). render() draws
/// it.

#include <filesystem>
#include <limits>
#include <string>
#include <vector>

namespace spectra::plot {

/// How an axis maps numbers to places.
enum class Scale {
    linear,  ///< places are the numbers themselves
    /// Places are given as log10 of the quantity, so that scales no double holds can be drawn; ticks
    /// show the quantity itself.
    logarithmic,
    /// Linear, for counts: ticks at integers only.
    whole,
};

/// One axis of a panel.
struct Axis {
    std::string label;            ///< beside it
    Scale scale = Scale::linear;  ///< of its places
    double min = 0;               ///< lowest place
    double max = 1;               ///< highest place
};

/// How a series is drawn.
enum class Mark {
    line,          ///< y at x; NaN in y interrupts the line
    filled_steps,  ///< y[k] between x[k] and x[k+1]: one x more than y
    impulses,      ///< from zero up to y at x
    points,        ///< a small disc at y over x
    band,          ///< between `lower` and y over x
    cells,         ///< a square of side 1 about (x, y), coloured by `value`; NaN has no square
};

/// The colours of numbers from −limit to limit.
struct ColourScale {
    double limit = 1;               ///< of the magnitude
    std::string below = "#b35806";  ///< of −limit
    std::string zero = "#ffffff";   ///< of 0
    std::string above = "#08519c";  ///< of limit
};

/// "#rrggbb" of a number, mixed from those of zero and of its end of the scale; beyond the limit that of the end.
std::string colour_of(const ColourScale& scale, double value);

/// Lines differ in dashes as well as in colour, for print in grey.
enum class Dash { solid, dashed, dotted, dash_dotted };

/// Numbers that are drawn as one line, histogram, or set of points.
struct Series {
    std::string label;  ///< in the legend; empty: not in it
    Mark mark = Mark::line;          ///< how it is drawn
    Dash dash = Dash::solid;         ///< of lines
    double width = 2;                ///< of lines, and across of points, in thirds of a point as printed
    std::string colour = "#000000";  ///< "#rrggbb"
    std::vector<double> x;           ///< places along the horizontal axis
    std::vector<double> y;           ///< places along the vertical axis
    std::vector<double> lower = {};  ///< of a band
    bool on_right = false;           ///< y is a place along the panel's second vertical axis
    std::vector<double> value = {};  ///< of cells
    std::vector<std::string> texts = {};  ///< in the cells, where there is room; none: empty
    ColourScale scale = {};               ///< of cells; series with one label share it
};

/// Text at a position inside the panel, in the panel's coordinates. Text that is too long is broken into lines;
/// what would leave the panel or cover an earlier annotation is moved.
struct Annotation {
    double x = 0;              ///< place
    double y = 0;              ///< place
    std::string text;          ///< what is written there
    bool to_the_left = false;  ///< the text ends at the place instead of beginning there
    bool centred = false;      ///< the middle of the text is at the place
    double room = 1;           ///< share of the panel's width that its lines may take
};

/// One pair of axes with what is drawn on them.
struct Panel {
    Axis x;                               ///< horizontal
    Axis y;                               ///< vertical
    std::vector<Series> series;           ///< drawn in this order
    std::vector<Annotation> annotations;  ///< drawn last
    std::string heading = {};  ///< above its upper right corner; inside of it where axes are shared
    bool absent = false;       ///< an empty place of the grid
    /// A second vertical axis, on the right, for the series that say so; none without a label.
    Axis right = {};
};

/// A grid of panels under one title and one legend (the distinct labels of all series), above a caption.
/// Sizes are in print; the height follows from them.
struct Figure {
    std::string title;                 ///< above all panels
    std::vector<std::string> caption;  ///< lines
    std::vector<Panel> panels;         ///< row by row, from the upper left
    std::size_t columns = 0;           ///< of the grid; 0: all panels in one row
    std::vector<std::string> column_headings = {};  ///< above the columns
    std::vector<std::string> row_headings = {};     ///< beside the rows
    /// Ranges agree along rows and columns: ticks have labels at the outer panels only, and one label of an
    /// axis is for all.
    bool shared_axes = false;
    /// Panels show matrices: as tall as wide, without axes.
    bool matrices = false;
    double width = 120;        ///< mm
    double panel_height = 36;  ///< mm
    double font_size = 8.5;    ///< points: 6 where the figure is shrunk to the width of a column
    bool dark = false;         ///< on a dark page, for screens: every colour is drawn as on_dark() of it
};

/// Width in mm of a figure in one of two columns of a page.
inline constexpr double column_width = 85;
/// Width in mm of a figure across the page.
inline constexpr double page_width = 176;

/// Makes a figure as wide as a column of a page: panels below each other (matrices in pairs), letters of 6.5 points.
void fit_column(Figure& figure);

/// Turns colours into the greys that print gives them.
void turn_grey(Figure& figure);

/// The colour, "#rrggbb", that stands on a dark page for one on a white page: of the same hue. Greys and light tints change
/// places from light to dark, white becoming the page; strong colours become light enough to read.
std::string on_dark(const std::string& colour);

/// Whether white letters on that colour are easier to read than black ones.
bool is_dark(const std::string& colour);

/// Writes the figure in the format of the extension: .png, .svg or .pdf. The file appears complete or not at
/// all. Throws std::invalid_argument for another extension, std::runtime_error if drawing fails.
void render(const Figure& figure, const std::filesystem::path& path);

}  // namespace spectra::plot
