#pragma once

#include "plot/figure.hpp"

#include <filesystem>

namespace spectra::plot {

/// Like plot::render, by Matplot++, if the build found it. That library starts gnuplot too. Its marks do not
/// support dashes, rotated words and sizes in print, so custom objects in its axes draw them, and the
/// picture is the same as gnuplot's. Throws std::runtime_error if gnuplot is missing or nothing was drawn.
void render_with_matplot(const Figure& figure, const std::filesystem::path& path);

/// Whether the build found Matplot++, so that render() uses it.
bool matplot_is_used();

}  // namespace spectra::plot
