#pragma once

#include "plot/figure.hpp"
#include "plot/lettering.hpp"
#include "plot/ticks.hpp"

#include <cstddef>
#include <string>
#include <vector>

/// The page layout of a figure: the position of every element, in mm from the lower left corner. All
/// renderers use it, so that all draw the same.
namespace spectra::plot {

struct Box {
    double left = 0, bottom = 0, right = 0, top = 0;

    double width() const { return right - left; }
    double height() const { return top - bottom; }
};

/// Text at a position: right of, left of or centred at x; centred at y.
struct Words {
    enum class Align { left, centre, right };

    double x = 0, y = 0;
    std::string text;
    Align align = Align::left;
    double size = 7;  ///< points
    int angle = 0;    ///< degrees: 0, or 90 for upwards
    std::string colour = "#000000";
};

struct PlacedPanel {
    Box box;  ///< of the axes
    std::vector<Tick> x_ticks, y_ticks, right_ticks;
    std::vector<Words> notes;  ///< the panel's annotations
};

/// A line sample of the legend; its name is among the words.
struct Sample {
    Box box;
    const Series* series = nullptr;
};

struct Layout {
    double width = 0, height = 0;
    double font_size = 7;
    std::vector<PlacedPanel> panels;  ///< in the order of the figure; empty boxes for absent ones
    std::vector<Words> words;         ///< title, headings, names of axes and of the legend, caption
    std::vector<Sample> samples;
};

/// The figure must outlive it.
Layout lay_out(const Figure& figure);

/// The box around words.
Box extent(const Words& words);

}  // namespace spectra::plot
