#pragma once

#include "report/figure.hpp"

#include <filesystem>
#include <string>

/// Draws figures with gnuplot, started without a shell. Text reaches it in single quotes, where it
/// expands nothing; data and script come by its standard input, the picture by its standard output,
/// so no file name is ever part of a script.
namespace spectra::report {

/// The commands that draw the figure on a gnuplot terminal ("pngcairo size 1600,700").
std::string gnuplot_script(const Figure& figure, const std::string& terminal);

/// As report::render. Throws std::runtime_error where gnuplot is missing or complains.
void render_with_gnuplot(const Figure& figure, const std::filesystem::path& path);

}  // namespace spectra::report
