#pragma once

#include "plot/figure.hpp"

#include <filesystem>
#include <string>
#include <vector>

/// Draws figures with gnuplot, started without a shell. Text reaches it in single quotes, where it
/// expands nothing; data and script come by its standard input, the picture by its standard output,
/// so no file name is ever part of a script.
namespace spectra::plot {

/// A panel in gnuplot's words, its axes in fractions of the figure.
struct GnuplotPanel {
    double left = 0, bottom = 0, right = 1, top = 1;
    std::string settings;  ///< all that is set before the plot, data included
    std::string elements;  ///< behind the word plot
};

/// A figure in gnuplot's words: the renderers put them together.
struct GnuplotCommands {
    std::string terminal;              ///< "set terminal …"
    std::vector<GnuplotPanel> panels;  ///< the first has the words around all of them too
};

GnuplotCommands gnuplot_commands(const Figure& figure, const std::string& extension);

/// ".png", ".svg" or ".pdf"; throws std::invalid_argument for another.
std::string figure_extension(const std::filesystem::path& path);

inline constexpr const char* gnuplot_missing = "gnuplot not found: install it to draw figures";

/// The commands that draw the figure as a ".png", ".svg" or ".pdf".
std::string gnuplot_script(const Figure& figure, const std::string& extension);

/// As report::render. Throws std::runtime_error where gnuplot is missing or complains.
void render_with_gnuplot(const Figure& figure, const std::filesystem::path& path);

}  // namespace spectra::plot
