#pragma once

#include "plot/figure.hpp"

#include <filesystem>
#include <string>
#include <vector>

/// Draws figures with gnuplot, started without a shell. Text is in single quotes, where gnuplot
/// expands nothing. Data and script go to its standard input, the picture comes from its standard output,
/// so no file name is ever part of a script.
namespace spectra::plot {

/// A panel as gnuplot commands, its axes in fractions of the figure.
struct GnuplotPanel {
    double left = 0, bottom = 0, right = 1, top = 1;
    std::string settings;  ///< all commands before the plot, data included
    std::string elements;  ///< after the word plot
};

/// A figure as gnuplot commands, which the renderers combine.
struct GnuplotCommands {
    std::string terminal;              ///< "set terminal …"
    std::vector<GnuplotPanel> panels;  ///< the first also has the text around all of them
};

GnuplotCommands gnuplot_commands(const Figure& figure, const std::string& extension);

/// ".png", ".svg" or ".pdf"; throws std::invalid_argument for another.
std::string figure_extension(const std::filesystem::path& path);

inline constexpr const char* gnuplot_missing = "gnuplot not found: install it to draw figures";

/// The commands that draw the figure as a ".png", ".svg" or ".pdf".
std::string gnuplot_script(const Figure& figure, const std::string& extension);

/// After so many seconds gnuplot is ended: the largest figures take a few.
inline constexpr double gnuplot_seconds = 120;

/// Like plot::render. Throws std::runtime_error if gnuplot is missing, reports an error, leaves the picture incomplete, or
/// has not finished after `seconds`.
void render_with_gnuplot(const Figure& figure, const std::filesystem::path& path, double seconds = gnuplot_seconds);

}  // namespace spectra::plot
