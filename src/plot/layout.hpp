#pragma once

#include "plot/figure.hpp"

#include <cstddef>
#include <string>
#include <vector>

/// Where everything of a figure is on the page: renderers draw what this says, so that all draw the same.
/// In mm from the lower left corner.
namespace spectra::plot {

struct Box {
    double left = 0, bottom = 0, right = 0, top = 0;

    double width() const { return right - left; }
    double height() const { return top - bottom; }
};

/// Words around a place: beside, left of or centred at x; centred at y.
struct Words {
    enum class Align { left, centre, right };

    double x = 0, y = 0;
    std::string text;
    Align align = Align::left;
    double size = 7;  ///< points
    int angle = 0;    ///< degrees: 0, or 90 for upwards
    std::string colour = "#000000";
};

struct Tick {
    double place = 0;
    std::string label;  ///< may be empty
    bool minor = false;
};

struct PlacedPanel {
    Box box;  ///< of the axes
    std::vector<Tick> x_ticks, y_ticks;
    std::vector<Words> notes;  ///< the panel's annotations
};

/// A sample of the legend; its name is among the words.
struct Sample {
    Box box;
    const Series* series = nullptr;
};

struct Layout {
    double width = 0, height = 0;
    double font_size = 7;
    std::vector<PlacedPanel> panels;  ///< as the figure's; empty boxes for absent ones
    std::vector<Words> words;         ///< title, headings, names of axes and of the legend, caption
    std::vector<Sample> samples;
};

/// The figure must outlive it.
Layout lay_out(const Figure& figure);

/// Width of a text in mm, by DejaVu Sans' measures.
double text_width(const std::string& text, double points);

/// The box around words.
Box extent(const Words& words);

/// Round places along an axis of that length in mm, with labels that do not touch: of numbers, or of the
/// powers of ten and their multiples. No label sticks out of the axis by more than `overhang` mm. Across: the
/// labels stand beside each other; else above each other.
std::vector<Tick> axis_ticks(const Axis& axis, double length, double points, bool across, double overhang);

}  // namespace spectra::plot
